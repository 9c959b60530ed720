/* Reads the description of a job: lists of files, names of results, options of commands. */
#define _GNU_SOURCE

#include "planner.h"

#include "cli/base/files.h"
#include "common/array.h"

#include <exemplar/author/base.h>
#include <exemplar/author/cache.h>

#include <errno.h>
#include <glob.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

ex_result exi_job_wrong(const exi_planner *p, const char *format, ...) {
    char sentence[2048];
    va_list list;
    va_start(list, format);
    vsnprintf(sentence, sizeof sentence, format, list);
    va_end(list);
    return ex_error_set(p->error, EX_ERROR_DATA, "%s: %s", p->job_path, sentence);
}

static ex_result out_of_memory(const exi_planner *p) {
    return ex_error_memory(p->error, "a plan", 1024);
}

ex_result exi_job_check_keys(const exi_planner *p, const json_t *object, const char *const *keys) {
    const char *key;
    json_t *value;
    int count = 0;
    while (keys[count])
        count++;
    json_object_foreach((json_t *)object, key, value) {
        int i = 0;
        while (i < count && strcmp(key, keys[i]) != 0)
            i++;
        if (i < count)
            continue;
        const char *near = ex_suggest(key, keys, count);
        return near ? exi_job_wrong(p, "there is no \"%s\" here: did you mean \"%s\"?", key, near)
                    : exi_job_wrong(p, "there is no \"%s\" in a job of this kind", key);
    }
    return EX_OK;
}

/* ---- files ---- */

/* Absolute path of one that is relative to the job. Caller frees. */
static char *resolve(const exi_planner *p, const char *path) {
    return path[0] == '/' ? text_copy(path) : exi_path_inside(p->job_folder, path, "");
}

/* True for caches that are no file of this name: NAME.obj for NAME_0001.obj …, FILE.abc:/A/B for a mesh in a file. */
static bool is_cache(const char *path) {
    ex_error error = {.result = EX_OK};
    ex_cache_reader *reader = NULL;
    const bool there = ex_cache_kind_of(path) != EX_CACHE_KIND_COUNT && ex_cache_open(path, &reader, &error) == EX_OK;
    ex_cache_close(reader);
    return there;
}

static ex_result add_path(const exi_planner *p, json_t *paths, const char *path) {
    json_t *text = json_string(path);
    if (!text)
        return exi_job_wrong(p, "the name of '%s' is not UTF-8: give the file another one", path);
    return json_array_append_new(paths, text) == 0 ? EX_OK : out_of_memory(p);
}

static ex_result add_pattern(const exi_planner *p, const char *key, const char *text, json_t *paths) {
    char *path = resolve(p, text);
    glob_t found = {.gl_pathc = 0};
    ex_result result = path ? EX_OK : out_of_memory(p);
    if (result == EX_OK && exi_file_exists(path))
        result = add_path(p, paths, path);
    else if (result == EX_OK) {
        const int failure = glob(path, 0, NULL, &found);
        if (failure == GLOB_NOSPACE)
            result = out_of_memory(p);
        else if (failure && is_cache(path))
            result = add_path(p, paths, path);
        else if (failure)
            result = exi_job_wrong(p, "\"%s\": no file matches '%s'", key, text);
        for (size_t i = 0; result == EX_OK && i < found.gl_pathc; i++)
            result = add_path(p, paths, found.gl_pathv[i]);
        globfree(&found);
    }
    free(path);
    return result;
}

ex_result exi_job_paths(const exi_planner *p, const char *key, bool missing_is_fine, json_t **paths) {
    const json_t *value = json_object_get(p->job, key);
    ex_result result = EX_OK;
    *paths = json_array();
    if (!*paths)
        return out_of_memory(p);
    if (!value && missing_is_fine)
        return EX_OK;
    if (!value)
        return exi_job_wrong(p, "\"%s\" is required: a file, a pattern such as \"caches/*.pc2\", or a list of them",
                             key);
    if (json_is_string(value))
        return add_pattern(p, key, json_string_value(value), *paths);
    if (!json_is_array(value))
        return exi_job_wrong(p, "\"%s\" must be a file, a pattern or a list of them", key);
    for (size_t i = 0; result == EX_OK && i < json_array_size(value); i++)
        result = json_is_string(json_array_get(value, i))
                     ? add_pattern(p, key, json_string_value(json_array_get(value, i)), *paths)
                     : exi_job_wrong(p, "\"%s\" must be a list of files", key);
    if (result == EX_OK && json_array_size(*paths) == 0)
        return exi_job_wrong(p, "\"%s\" names no file", key);
    return result;
}

ex_result exi_job_frames(const exi_planner *p, int there, const char *path, int *offset, int *count) {
    const json_t *value = json_object_get(p->job, "frames");
    const char *text = json_string_value(value), *cursor = text ? text : "", *end = cursor + strlen(cursor);
    int first = 1, last = there;
    if (value) {
        bool good = text && (*cursor == ':' || ex_parse_int(&cursor, end, &first));
        good = good && cursor < end && *cursor++ == ':';
        good = good && (cursor == end || (ex_parse_int(&cursor, end, &last) && cursor == end));
        if (!good || first < 1 || last < first)
            return exi_job_wrong(p, "\"frames\" must be \"A:B\", the first and the last frame counting from 1");
        if (last > there || first > there)
            return exi_job_wrong(p, "'%s' has %d frames: there is no frame %d", path, there,
                                 last > there ? last : first);
    }
    *offset = first - 1;
    *count = last - first + 1;
    return EX_OK;
}

ex_result exi_job_path(const exi_planner *p, const char *key, char **path) {
    const char *text = json_string_value(json_object_get(p->job, key));
    *path = NULL;
    if (!text || !text[0])
        return exi_job_wrong(p, "\"%s\" is required: the name of a file", key);
    *path = resolve(p, text);
    return *path ? EX_OK : out_of_memory(p);
}

/* ---- names ---- */

json_t *exi_job_stem(const char *path) {
    char *stem = exi_path_stem(path);
    json_t *text = stem ? json_string(stem) : NULL;
    free(stem);
    return text;
}

ex_result exi_job_fill(const exi_planner *p, const char *text, const json_t *names, char **filled) {
    size_t size = 0;
    FILE *stream = open_memstream(filled, &size);
    ex_result result = stream ? EX_OK : out_of_memory(p);
    for (const char *c = text; result == EX_OK && *c;) {
        const char *end = *c == '{' ? strchr(c, '}') : NULL;
        if (!end) {
            fputc(*c++, stream);
            continue;
        }
        char key[64];
        snprintf(key, sizeof key, "%.*s", (int)(end - c - 1 < 63 ? end - c - 1 : 63), c + 1);
        const char *value = json_string_value(json_object_get(names, key));
        if (value)
            fputs(value, stream);
        else
            result = exi_job_wrong(p, "'%s' has {%s}, which is not known for this work", text, key);
        c = end + 1;
    }
    if (stream && fclose(stream) != 0 && result == EX_OK)
        result = out_of_memory(p);
    if (result != EX_OK) {
        free(*filled);
        *filled = NULL;
    }
    return result;
}

/* ---- options ---- */

double exi_job_parse(const char *text) {
    const char *cursor = text ? text : "", *end = cursor + strlen(cursor);
    double value = 0;
    return ex_parse_double(&cursor, end, &value) && cursor == end ? value : 0;
}

const char *exi_job_value(const json_t *words, const char *option) {
    const char *found = NULL;
    for (size_t i = 0; i + 1 < json_array_size(words); i++)
        if (strcmp(json_string_value(json_array_get(words, i)), option) == 0)
            found = json_string_value(json_array_get(words, i + 1));
    return found;
}

/* The command of a name with spaces, "drive apply". */
static const ex_command *find_command(const char *name) {
    const ex_command *command = &exi_tool;
    for (const char *word = name; command && word; word = strchr(word, ' ') ? strchr(word, ' ') + 1 : NULL) {
        char part[32];
        snprintf(part, sizeof part, "%.*s", (int)strcspn(word, " "), word);
        command = exi_command_inner(command, part);
    }
    return command;
}

/* True if an option's argument is a file: FILE.csv, CACHE, MESH, BODY.glb. */
static bool names_file(const ex_option *option) {
    static const char *const words[] = {"FILE", "CACHE", "MESH", ".", "RIG"};
    for (size_t i = 0; option->argument && i < sizeof words / sizeof *words; i++)
        if (strstr(option->argument, words[i]))
            return true;
    return false;
}

static ex_result add_value(exi_planner *p, const ex_option *option, const json_t *value, const json_t *names,
                           json_t *words, json_t *inputs) {
    char number[64], *text = NULL, *path = NULL;
    ex_result result = EX_OK;
    snprintf(number, sizeof number, "--%s", option->name);
    if (json_is_false(value))
        return EX_OK;
    if (json_is_true(value) != !option->argument)
        return exi_job_wrong(
            p, option->argument ? "the option \"%s\" needs a value" : "the option \"%s\" is true or false",
            option->name);
    if (json_array_append_new(words, json_string(number)) != 0)
        return out_of_memory(p);
    if (!option->argument)
        return EX_OK;
    if (json_is_number(value)) {
        char digits[32];
        ex_format_double(digits, json_number_value(value));
        return json_array_append_new(words, json_string(digits)) == 0 ? EX_OK : out_of_memory(p);
    }
    if (!json_is_string(value))
        return exi_job_wrong(p, "the option \"%s\" must be a text, a number or true", option->name);
    result = exi_job_fill(p, json_string_value(value), names, &text);
    if (result == EX_OK && names_file(option)) {
        path = resolve(p, text);
        if (path && !exi_file_exists(path) && strchr(text, '/') == NULL && !strchr(text, '.')) {
            free(path); /* a word that the option also takes: group:NAME, none */
            path = NULL;
        } else {
            result = !path                                      ? out_of_memory(p)
                     : !exi_file_exists(path) && is_cache(path) ? exi_planner_add_cache(p, inputs, path)
                                                                : exi_planner_add_input(p, inputs, path);
        }
    }
    if (result == EX_OK && json_array_append_new(words, json_string(path ? path : text)) != 0)
        result = out_of_memory(p);
    free(path);
    free(text);
    return result;
}

ex_result exi_job_options(exi_planner *p, const char *name, const char *const *taken, const json_t *names,
                          json_t *words, json_t *inputs) {
    const ex_command *command = find_command(name);
    const json_t *options = json_object_get(p->job, "options");
    const char *key, *known[EXI_OPTION_MAX];
    json_t *value;
    int known_count = 0;
    if (!command || (options && !json_is_object(options)))
        return exi_job_wrong(p, "\"options\" must be an object, such as {\"fps\": 30}");
    for (int i = 0; i < command->option_count && known_count < EXI_OPTION_MAX; i++) {
        int t = 0;
        while (taken[t] && strcmp(taken[t], command->options[i].name) != 0)
            t++;
        if (!taken[t])
            known[known_count++] = command->options[i].name;
    }
    json_object_foreach((json_t *)options, key, value) {
        const ex_option *option = NULL;
        for (int i = 0; i < command->option_count; i++)
            if (strcmp(command->options[i].name, key) == 0)
                option = &command->options[i];
        int k = 0;
        while (k < known_count && strcmp(known[k], key) != 0)
            k++;
        if (option && k == known_count)
            return exi_job_wrong(p, "the option \"%s\" is set by the plan: leave it out", key);
        if (!option) {
            const char *near = ex_suggest(key, known, known_count);
            return near ? exi_job_wrong(p, "'%s' has no option \"%s\": did you mean \"%s\"?", name, key, near)
                        : exi_job_wrong(p, "'%s' has no option \"%s\" (see 'exemplar %s -h')", name, key, name);
        }
        ex_result result = EX_OK;
        if (!json_is_array(value))
            result = add_value(p, option, value, names, words, inputs);
        for (size_t i = 0; result == EX_OK && i < json_array_size(value); i++)
            result = add_value(p, option, json_array_get(value, i), names, words, inputs);
        if (result != EX_OK)
            return result;
    }
    return EX_OK;
}

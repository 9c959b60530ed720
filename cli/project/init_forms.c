/*
 * Forms for a new project. The first file is the mesh at rest; of a folder, the file whose name says so. In a space
 * with one axis, forms without a place are spread evenly from 0 (the mesh) to 1, in the order given.
 */
#define _POSIX_C_SOURCE 200809L

#include "init_forms.h"

#include "cli/base/files.h"
#include "cli/base/report.h"

#include <exemplar/author/formats.h>

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#define LETTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"

static bool out_of_memory(int *exit_code) {
    *exit_code = exi_failed_memory();
    return false;
}

static bool wrong(int *exit_code, int code) {
    *exit_code = code;
    return false;
}

/* ---- files ---- */

static bool add_path(exi_forms *f, char *path) {
    char **paths = path ? realloc(f->paths, (size_t)(f->path_count + 1) * sizeof *paths) : NULL;
    if (paths)
        f->paths = paths;
    if (paths)
        f->paths[f->path_count++] = path;
    else
        free(path);
    return paths != NULL;
}

/* Compares as people count: pose_9 before pose_10. */
static int by_number(const void *a, const void *b) {
    const char *s = *(const char *const *)a, *t = *(const char *const *)b;
    while (*s && *t) {
        if (strchr("0123456789", *s) && strchr("0123456789", *t)) {
            char *s_end, *t_end;
            const double x = strtod(s, &s_end), y = strtod(t, &t_end);
            if (x != y)
                return x < y ? -1 : 1;
            s = s_end > s ? s_end : s + 1;
            t = t_end > t ? t_end : t + 1;
        } else if (*s != *t) {
            return (unsigned char)*s < (unsigned char)*t ? -1 : 1;
        } else {
            s++, t++;
        }
    }
    return (*s != 0) - (*t != 0);
}

/* 2 for a name such as Rest, 1 for one that has the word in it, such as 00_neutral_head, else 0. */
static int says_rest(const char *name) {
    static const char *const words[] = {"rest", "neutral", "base", "basis", "default", "mean", "mesh"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcasecmp(name, words[i]) == 0)
            return 2;
    for (const char *at = name; *at; at++) {
        const size_t length = strspn(at, LETTERS);
        for (size_t i = 0; i < 2; i++) /* the other words may be parts of a name, as in base_of_nose */
            if (length == strlen(words[i]) && strncasecmp(at, words[i], length) == 0)
                return 1;
        at += length > 0 ? length - 1 : 0;
    }
    return 0;
}

/* Puts the mesh at rest first. */
static void find_rest(exi_forms *f, const char *folder, bool quiet) {
    int rest = 0, best = 0;
    for (int i = 0; i < f->path_count; i++) {
        char *name = exi_path_stem(f->paths[i]);
        const int sure = name ? says_rest(name) : 0;
        if (sure > best) {
            rest = i;
            best = sure;
        }
        free(name);
    }
    char *path = f->paths[rest];
    memmove(f->paths + 1, f->paths, (size_t)rest * sizeof *f->paths);
    f->paths[0] = path;
    if (!quiet && best > 0)
        exi_failed_text("%s: the mesh at rest is '%s'", folder, path);
    else if (!quiet)
        exi_failed_text("%s: no file is called rest or neutral, so the first one, '%s', is taken as the mesh at rest; "
                        "if it is another, call that rest",
                        folder, path);
}

static bool is_form_name(const char *name) {
    const char *ending = strrchr(name, '.');
    return name[0] != '.' && ending &&
           (strcasecmp(ending, ".obj") == 0 || strcasecmp(ending, ".ply") == 0 || strcasecmp(ending, ".off") == 0 ||
            strcasecmp(ending, ".abc") == 0);
}

/* Finds a file of another program in a folder, the first by name; its error says what to do. */
static bool find_foreign(const char *path, ex_error *error) {
    DIR *folder = opendir(path);
    char *found = NULL;
    for (struct dirent *entry; folder && (entry = readdir(folder)) != NULL;) {
        ex_error wrong_file = {.result = EX_OK};
        ex_mesh *mesh = NULL;
        char *file = exi_path_inside(path, entry->d_name, "");
        if (file && entry->d_name[0] != '.' && !is_form_name(entry->d_name))
            ex_mesh_read(file, &mesh, &wrong_file);
        ex_mesh_destroy(mesh);
        const bool first = exi_is_foreign(&wrong_file) && (!found || strcmp(file, found) < 0);
        if (first)
            *error = wrong_file;
        free(first ? found : file);
        found = first ? file : found;
    }
    if (folder)
        closedir(folder);
    free(found);
    return exi_is_foreign(error);
}

/* Too few forms: perhaps the files are of another program. */
static int explain_folder(const exi_forms *f, const char *path) {
    ex_error error = {.result = EX_OK};
    if (find_foreign(path, &error))
        return exi_failed(&error);
    return exi_failed_text("the folder '%s' has %s: a mesh at rest and at least one shape of it are needed", path,
                           f->path_count == 0 ? "no .obj, .ply, .off or .abc files"
                                              : "one .obj, .ply, .off or .abc file");
}

static bool list_folder(exi_forms *f, const char *path, bool quiet, int *exit_code) {
    DIR *folder = opendir(path);
    if (!folder && errno == ENOMEM)
        return out_of_memory(exit_code);
    if (!folder)
        return wrong(exit_code, exi_failed_text("the folder '%s' cannot be read", path));
    bool fits = true;
    for (struct dirent *entry; fits && (entry = readdir(folder)) != NULL;)
        if (is_form_name(entry->d_name))
            fits = add_path(f, exi_path_inside(path, entry->d_name, ""));
    closedir(folder);
    if (!fits)
        return out_of_memory(exit_code);
    if (f->path_count < 2)
        return wrong(exit_code, explain_folder(f, path));
    qsort(f->paths, (size_t)f->path_count, sizeof *f->paths, by_number);
    find_rest(f, path, quiet);
    return true;
}

/* True if two names are of one file. */
static bool is_same_file(const char *a, const char *b) {
    struct stat first, second;
    return stat(a, &first) == 0 && stat(b, &second) == 0 && first.st_dev == second.st_dev &&
           first.st_ino == second.st_ino;
}

static bool list_files(exi_forms *f, const ex_call *call, int *exit_code) {
    if (call->argument_count == 1 && exi_file_is_folder(call->arguments[0])) {
        if (!list_folder(f, call->arguments[0], call->quiet, exit_code))
            return false;
    } else {
        /* 'rest.obj *.obj' has the mesh twice. */
        for (int i = 0; i < call->argument_count; i++)
            if ((i == 0 || !is_same_file(call->arguments[0], call->arguments[i])) &&
                !add_path(f, strdup(call->arguments[i])))
                return out_of_memory(exit_code);
        if (f->path_count < 2)
            return wrong(exit_code,
                         exi_failed_text("'%s' is the mesh at rest: give shapes of it too", call->arguments[0]));
    }
    f->names = calloc((size_t)f->path_count, sizeof *f->names);
    for (int i = 0; f->names && i < f->path_count; i++)
        if (!(f->names[i] = exi_path_stem(f->paths[i])))
            return out_of_memory(exit_code);
    return f->names || out_of_memory(exit_code);
}

/* ---- the space ---- */

/* Splits "bend, thickness" at commas. */
static bool read_axes(exi_forms *f, const ex_command *command, const char *space, int *exit_code) {
    int count = 1;
    for (const char *c = space; *c; c++)
        count += *c == ',';
    f->axis_text = strdup(space);
    f->axes = calloc((size_t)count, sizeof *f->axes);
    if (!f->axis_text || !f->axes)
        return out_of_memory(exit_code);
    for (char *at = f->axis_text; at && f->forms.axis_count < count;) {
        char *comma = strchr(at, ','), *name = at + strspn(at, " ");
        if (comma)
            *comma = '\0';
        if (*name == '\0')
            return wrong(exit_code, exi_wrong_usage(command,
                                                    "--space takes names with commas between, such as "
                                                    "bend,thickness, and '%s' has an empty one",
                                                    space));
        f->axes[f->forms.axis_count++] = name;
        at = comma ? comma + 1 : NULL;
    }
    return true;
}

static int find_name(const exi_forms *f, const char *name, size_t length) {
    for (int i = 0; i < f->path_count; i++)
        if (strlen(f->names[i]) == length && memcmp(f->names[i], name, length) == 0)
            return i;
    return -1;
}

/* Reads "smile:1,0". */
static bool read_place(exi_forms *f, const ex_command *command, const char *word, int *exit_code) {
    const int axes = f->forms.axis_count;
    const char *colon = strrchr(word, ':');
    if (!colon)
        return wrong(exit_code,
                     exi_wrong_usage(command, "--at takes a shape and its place, such as %s:%s, and '%s' has no ':'",
                                     f->names[f->path_count - 1], axes == 1 ? "1" : "1,0", word));
    const int form = find_name(f, word, (size_t)(colon - word));
    if (form < 0) {
        char given[256];
        snprintf(given, sizeof given, "%.*s", (int)(colon - word), word);
        const char *near = ex_suggest(given, (const char *const *)f->names, f->path_count);
        return wrong(exit_code, exi_wrong_usage(command, "--at: no file is called '%s'%s%s%s", given,
                                                near ? "; did you mean '" : "", near ? near : "", near ? "'?" : ""));
    }
    const char *at = colon + 1;
    for (int a = 0; a < axes; a++) {
        char *end;
        const double value = strtod(at, &end);
        if (end == at || !isfinite(value) || *end != (a + 1 < axes ? ',' : '\0'))
            return wrong(exit_code, exi_wrong_usage(command, "--at: '%s' needs %d number%s after the ':', one per axis",
                                                    word, axes, axes == 1 ? "" : "s, with commas between"));
        f->places[(size_t)form * (size_t)axes + (size_t)a] = value;
        at = end + 1;
    }
    return true;
}

static bool spread(exi_forms *f, const ex_command *command, int *exit_code) {
    const int axes = f->forms.axis_count;
    for (int i = 0; i < f->path_count; i++) {
        double *place = f->places + (size_t)i * (size_t)axes;
        if (!isnan(place[0]))
            continue;
        if (i > 0 && axes > 1)
            return wrong(exit_code, exi_wrong_usage(command, "say where '%s' is in the space: --at %s:VALUE,VALUE",
                                                    f->names[i], f->names[i]));
        for (int a = 0; a < axes; a++)
            place[a] = (double)i / (f->path_count - 1);
    }
    return true;
}

static bool read_space(exi_forms *f, const ex_command *command, const char *space, const ex_word_list *places,
                       int *exit_code) {
    if (!space)
        return places->count == 0 ||
               wrong(exit_code, exi_wrong_usage(command, "--at needs --space, which names the axes"));
    if (!read_axes(f, command, space, exit_code))
        return false;
    const size_t count = (size_t)f->path_count * (size_t)f->forms.axis_count;
    f->places = malloc(count * sizeof *f->places);
    if (!f->places)
        return out_of_memory(exit_code);
    for (size_t i = 0; i < count; i++)
        f->places[i] = (double)NAN;
    for (int i = 0; i < places->count; i++)
        if (!read_place(f, command, places->words[i], exit_code))
            return false;
    return spread(f, command, exit_code);
}

/* ---- all of it ---- */

bool exi_forms_read(const ex_call *call, const char *space, const ex_word_list *places, bool trajectory,
                    exi_forms *forms, int *exit_code) {
    *forms = (exi_forms){.forms = {.trajectory = trajectory}};
    if (!list_files(forms, call, exit_code) || forms->path_count < 2 ||
        !read_space(forms, call->command, space, places, exit_code))
        return false;
    const size_t axes = (size_t)forms->forms.axis_count;
    forms->list = calloc((unsigned)forms->path_count, sizeof *forms->list);
    if (!forms->list)
        return out_of_memory(exit_code);
    for (int i = 0; i < forms->path_count; i++)
        forms->list[i] = (ex_init_form){.path = forms->paths[i],
                                        .name = forms->names[i],
                                        .at = forms->places ? forms->places + (size_t)i * axes : NULL};
    forms->forms.rest = forms->list[0];
    forms->forms.forms = forms->list + 1;
    forms->forms.form_count = forms->path_count - 1;
    forms->forms.axes = forms->axes;
    return true;
}

void exi_forms_free(exi_forms *forms) {
    for (int i = 0; i < forms->path_count; i++) {
        free(forms->paths[i]);
        if (forms->names)
            free(forms->names[i]);
    }
    free(forms->paths);
    free(forms->names);
    free(forms->places);
    free(forms->axis_text);
    free(forms->axes);
    free(forms->list);
}

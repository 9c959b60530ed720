/*
 * Measures what frames of a command cost, by making a few of them. A run of n frames takes start + n * each seconds;
 * two runs of different length give both numbers.
 */
#define _GNU_SOURCE

#include "planner.h"

#include "cli/base/files.h"

#include <exemplar/author/base.h>

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE_SIZE = 1024, FEW = 2, FIRST = 16, GROW = 4 };
/* The longer run grows until it takes this long, or until it has all frames. */
#define ENOUGH_SECONDS 1.0

typedef struct sampled {
    double seconds, memory, bytes;
} sampled;

static double size_of_folder(const char *folder) {
    json_t *none = json_object(), *names = exi_farm_room_made(folder, none);
    double bytes = 0;
    for (size_t i = 0; i < json_array_size(names); i++) {
        char *path = exi_path_inside(folder, json_string_value(json_array_get(names, i)), "");
        bytes += path ? exi_file_size(path) : 0;
        free(path);
    }
    json_decref(names);
    json_decref(none);
    return bytes;
}

/* Runs words and more words in a folder of their own, and takes the last line that they say. */
static ex_result try_words(exi_planner *p, const json_t *words, const json_t *more, sampled *made,
                           char line[LINE_SIZE]) {
    const char *local = getenv("TMPDIR");
    char folder[4096], threads[16];
    const json_t *count = json_object_get(p->job, "threads");
    snprintf(folder, sizeof folder, "%s/exemplar-sample-XXXXXX", local && local[0] == '/' ? local : "/tmp");
    snprintf(threads, sizeof threads, "%d", count ? (int)json_integer_value(count) : 1);
    json_t *all = json_deep_copy(words), *last = json_pack("[s, s]", "--threads", threads);
    exi_farm_run run = {.code = 0};
    if (!all || !last || json_array_extend(all, (json_t *)more) != 0 || json_array_extend(all, last) != 0 ||
        !mkdtemp(folder)) {
        json_decref(all);
        json_decref(last);
        return ex_error_set(p->error, EX_ERROR_FILE,
                            "a sample cannot be made in '%s': set TMPDIR, or give --no-sample and --pieces", folder);
    }
    ex_result result = exi_farm_spawn(p->program->path, all, folder, NULL, &run, p->error);
    const size_t lines = json_array_size(run.lines);
    const char *text = lines ? json_string_value(json_array_get(run.lines, lines - 1)) : "it said nothing";
    snprintf(line, LINE_SIZE, "%s", strncmp(text, "exemplar: ", 10) == 0 ? text + 10 : text);
    if (result == EX_OK && run.code != 0)
        result = ex_error_set(p->error, EX_ERROR_DATA, "a sample of the work failed: %s", line);
    *made = (sampled){run.seconds, run.memory, size_of_folder(folder)};
    json_decref(run.lines);
    json_decref(run.notes);
    json_decref(all);
    json_decref(last);
    exi_farm_remove_tree(folder);
    return result;
}

/* Makes the first frames of an item. */
static ex_result run_some(exi_planner *p, const json_t *words, const char *file, int frames, sampled *made) {
    char output[640], range[32], line[LINE_SIZE];
    snprintf(output, sizeof output, "@/%.512s", file);
    snprintf(range, sizeof range, "1:%d", frames);
    json_t *more = json_pack("[s, s, s, s]", "--frames", range, "-o", output);
    const ex_result result = try_words(p, words, more, made, line);
    json_decref(more);
    return result;
}

ex_result exi_planner_ask(exi_planner *p, const json_t *words, const char *word, int *number) {
    char line[LINE_SIZE];
    sampled made;
    json_t *none = json_array();
    ex_result result = try_words(p, words, none, &made, line);
    json_decref(none);
    const char *found = result == EX_OK ? strstr(line, word) : NULL, *end = line + strlen(line);
    if (found)
        found += strlen(word);
    if (result == EX_OK && (!found || !ex_parse_int(&found, end, number)))
        result = ex_error_set(p->error, EX_ERROR_DATA, "a sample of the work said '%s', which tells nothing", line);
    return result;
}

ex_result exi_planner_sample(exi_planner *p, const json_t *words, const char *file, int frames, exi_farm_cost *cost) {
    sampled few, many;
    *cost = (exi_farm_cost){.start = 0};
    if (!p->sample)
        return EX_OK;
    const int least = frames < FEW ? frames : FEW;
    ex_result result = run_some(p, words, file, least, &few);
    int count = least;
    many = few;
    for (int next = FIRST; result == EX_OK && count < frames && many.seconds - few.seconds < ENOUGH_SECONDS;
         next *= GROW) {
        count = next < frames ? next : frames;
        result = run_some(p, words, file, count, &many);
    }
    if (result != EX_OK)
        return result;
    const double more = count - least;
    cost->each = more > 0 && many.seconds > few.seconds ? (many.seconds - few.seconds) / more : many.seconds / count;
    cost->start = many.seconds - count * cost->each;
    cost->start = cost->start > 0 ? cost->start : 0;
    cost->memory = many.memory > few.memory ? many.memory : few.memory;
    cost->disk = many.bytes / count;
    return EX_OK;
}

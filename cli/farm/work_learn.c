/*
 * drive learn: one garment from many simulated sequences. Each sequence is gathered on its own; the rig is learned from
 * what was gathered.
 *
 *   {"work": "drive learn", "sequences": [{"driver": "walk.pc2", "driven": "walk_shirt.pc2", "range": "1:200"}],
 *    "output": "shirt.glb", "options": {"driver-mesh": "body.obj", "driven-mesh": "shirt.obj", "keys": 20}}
 */
#define _GNU_SOURCE

#include "planner.h"

#include "cli/base/files.h"

#include <exemplar/author/cache.h>

#include <stdlib.h>
#include <string.h>

static const char *const sequence_keys[] = {"driver", "driven", "range", "fps", "database", NULL};
static const char *const gather_taken[] = {"driver", "driven", "range", "fps", "database", "at", "output", NULL};
static const char *const learn_taken[] = {"driver", "driven", "range", "fps", "database", "gathered", "output", NULL};

/* Options that gathering needs; those of the second list only with the method "motion", and learning not at all. */
static const char *const for_gathering[] = {"driver-mesh", "driven-mesh", "driver-scale", "driven-scale",
                                            "frame",       "weights",     "force",        NULL};
static const char *const for_motion[] = {"frames", "bind", NULL};
/* Options that both need. */
static const char *const for_both[] = {"method", "keys", "forms", NULL};

static bool is_in(const char *const *list, const char *name) {
    for (; *list; list++)
        if (strcmp(*list, name) == 0)
            return true;
    return false;
}

/* Adds one share of the job's options: for gathering, or for learning. */
static ex_result add_options(exi_planner *p, bool gathering, json_t *words, json_t *inputs) {
    const json_t *options = json_object_get(p->job, "options");
    const bool motion = strcmp(exi_farm_text(options, "method"), "motion") == 0;
    json_t *share = json_object(), *names = json_object(), *value;
    const char *key;
    json_object_foreach((json_t *)options, key, value) {
        const bool first = is_in(for_gathering, key) || (motion && is_in(for_motion, key));
        if (is_in(for_both, key) || first == gathering)
            json_object_set(share, key, value);
    }
    exi_planner one = *p;
    one.job = json_pack("{s:O}", "options", share);
    const ex_result result = exi_job_options(&one, gathering ? "drive gather" : "drive learn",
                                             gathering ? gather_taken : learn_taken, names, words, inputs);
    json_decref(one.job);
    json_decref(share);
    json_decref(names);
    return result;
}

/* Frames that the option "at" names of one sequence: they are counted over all caches, and here within it. */
static ex_result add_given(exi_planner *p, int before, int there, json_t *words) {
    const char *cursor = exi_farm_text(json_object_get(p->job, "options"), "at"), *end = cursor + strlen(cursor);
    char text[8192] = "";
    size_t size = 0;
    for (int frame = 0; cursor < end && ex_parse_int(&cursor, end, &frame); cursor += *cursor == ',') {
        const int here = frame - before;
        if (size + 16 >= sizeof text)
            return exi_job_wrong(p, "the option \"at\" names too many frames");
        if (here >= 1 && here <= there)
            size += (size_t)snprintf(text + size, sizeof text - size, "%s%d", size ? "," : "", here);
    }
    if (size > 0 && (json_array_append_new(words, json_string("--at")) != 0 ||
                     json_array_append_new(words, json_string(text)) != 0))
        return ex_error_memory(p->error, "a plan", 64);
    return EX_OK;
}

/* A path of a sequence, absolute. Caller frees. */
static ex_result find_cache(const exi_planner *p, const json_t *sequence, const char *key, char **path) {
    json_t *paths = NULL;
    exi_planner one = *p;
    one.job = (json_t *)sequence;
    *path = NULL;
    ex_result result = exi_job_paths(&one, key, false, &paths);
    if (result == EX_OK && json_array_size(paths) != 1)
        result = exi_job_wrong(p, "\"%s\" of a sequence must be one cache", key);
    if (result == EX_OK) {
        *path = strdup(json_string_value(json_array_get(paths, 0)));
        result = *path ? EX_OK : ex_error_memory(p->error, "a path", 64);
    }
    json_decref(paths);
    return result;
}

/* Adds the words of one sequence: an option with a number or a text. */
static ex_result add_word(const exi_planner *p, const json_t *sequence, const char *key, json_t *words) {
    const json_t *value = json_object_get(sequence, key);
    char option[32], number[32];
    if (!value)
        return EX_OK;
    if (!json_is_string(value) && !json_is_number(value))
        return exi_job_wrong(p, "\"%s\" of a sequence must be a text or a number", key);
    snprintf(option, sizeof option, "--%s", key);
    ex_format_double(number, json_number_value(value));
    json_t *both = json_pack("[s, s]", option, json_is_string(value) ? json_string_value(value) : number);
    const ex_result result = json_array_extend(words, both) == 0 ? EX_OK : ex_error_memory(p->error, "a plan", 64);
    json_decref(both);
    return result;
}

/* Adds the item that gathers one sequence. before: frames of the sequences before it. */
static ex_result add_sequence(exi_planner *p, const json_t *sequence, int *before, json_t *items) {
    char *driver = NULL, *driven = NULL;
    ex_cache_reader *reader = NULL;
    json_t *inputs = json_array(), *words = json_pack("[s, s]", "drive", "gather");
    ex_result result = json_is_object(sequence)
                           ? exi_job_check_keys(p, sequence, sequence_keys)
                           : exi_job_wrong(p, "a sequence is {\"driver\": CACHE, \"driven\": CACHE}");
    if (result == EX_OK)
        result = find_cache(p, sequence, "driver", &driver);
    if (result == EX_OK)
        result = find_cache(p, sequence, "driven", &driven);
    if (result == EX_OK)
        result = exi_planner_add_cache(p, inputs, driver);
    if (result == EX_OK)
        result = exi_planner_add_cache(p, inputs, driven);
    if (result == EX_OK) {
        json_t *caches = json_pack("[s, s, s, s]", "--driver", driver, "--driven", driven);
        json_array_extend(words, caches);
        json_decref(caches);
        result = add_options(p, true, words, inputs);
    }
    for (int i = 2; result == EX_OK && sequence_keys[i]; i++)
        result = add_word(p, sequence, sequence_keys[i], words);
    if (result == EX_OK)
        result = ex_cache_open(driver, &reader, p->error);
    const int there = result == EX_OK ? ex_cache_get_info(reader).frame_count : 0;
    ex_cache_close(reader);
    if (result == EX_OK)
        result = add_given(p, *before, there, words);
    *before += there;
    char *stem = driver ? exi_path_stem(driver) : NULL;
    json_t *item = result == EX_OK ? exi_planner_add(p, &(exi_farm_item){.name = stem ? stem : "a sequence",
                                                                         .words = words,
                                                                         .inputs = inputs,
                                                                         .file = "sequence.gathered"})
                                   : NULL;
    if (item)
        json_array_append(items, item);
    free(stem);
    free(driver);
    free(driven);
    json_decref(inputs);
    json_decref(words);
    return item ? EX_OK : p->error->result;
}

/* The item that learns from what was gathered. */
static ex_result add_learning(exi_planner *p, const json_t *items, const char *output) {
    json_t *words = json_pack("[s, s]", "drive", "learn"), *inputs = json_array(), *needs = json_array(), *item;
    size_t i;
    json_array_foreach((json_t *)items, i, item) {
        const json_t *part = json_array_get(json_object_get(item, "parts"), 0);
        char path[320];
        snprintf(path, sizeof path, "@/%s", json_string_value(json_array_get(part, 1)));
        json_array_append_new(words, json_string("--gathered"));
        json_array_append_new(words, json_string(path));
        const size_t count = json_array_size(needs);
        if (count == 0 || !json_equal(json_array_get(needs, count - 1), json_array_get(part, 0)))
            json_array_append(needs, json_array_get(part, 0)); /* several may be gathered by one task */
    }
    ex_result result = add_options(p, false, words, inputs);
    const char *slash = strrchr(output, '/');
    json_t *learn = result == EX_OK ? exi_planner_add(p, &(exi_farm_item){.name = slash ? slash + 1 : output,
                                                                          .words = words,
                                                                          .inputs = inputs,
                                                                          .needs = needs,
                                                                          .file = slash ? slash + 1 : output})
                                    : NULL;
    result = learn ? exi_planner_end_stage(p, "learn") : p->error->result;
    if (result == EX_OK)
        result = exi_planner_item_result(p, "file", output, learn, NULL);
    json_decref(words);
    json_decref(inputs);
    json_decref(needs);
    return result;
}

static ex_result plan(exi_planner *p) {
    const json_t *sequences = json_object_get(p->job, "sequences");
    json_t *items = json_array();
    char *output = NULL;
    int before = 0;
    ex_result result = exi_job_path(p, "output", &output);
    if (result == EX_OK && !ex_path_ends_with(output, ".glb"))
        result = exi_job_wrong(p, "\"output\" must end in .glb, not '%s'", output);
    if (result == EX_OK && json_array_size(sequences) == 0)
        result = exi_job_wrong(p, "\"sequences\" is required: a list of {\"driver\": CACHE, \"driven\": CACHE}");
    for (size_t i = 0; result == EX_OK && i < json_array_size(sequences); i++)
        result = add_sequence(p, json_array_get(sequences, i), &before, items);
    if (result == EX_OK)
        result = exi_planner_end_stage(p, "gather");
    if (result == EX_OK)
        result = add_learning(p, items, output);
    json_decref(items);
    free(output);
    return result;
}

const exi_farm_work exi_farm_work_learn = {
    .name = "drive learn",
    .keys = (const char *const[]){"work", "threads", "sequences", "output", "options", NULL},
    .plan = plan,
};

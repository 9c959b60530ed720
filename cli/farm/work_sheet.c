/*
 * sheet: grids of forms of many rigs, cut by cells.
 *
 *   {"work": "sheet", "rigs": "rigs/ *.glb", "output": "sheets/{rig}.png", "at": {"thickness": 0.5},
 *    "options": {"axes": "bend,age", "grid": "30x30"}}
 */
#include "planner.h"

#include <exemplar/author/base.h>

#include <stdlib.h>
#include <string.h>

static const char *const taken[] = {"output", "cells", "join", NULL};
/* Options of the sheet around the cells. */
static const char *const around[] = {"title", "no-marks", NULL};

/* Adds the words for axes that stay at a value: thickness=0.5. */
static ex_result add_settings(const exi_planner *p, json_t *words) {
    const json_t *at = json_object_get(p->job, "at");
    const char *name;
    json_t *value;
    if (at && !json_is_object(at))
        return exi_job_wrong(p, "\"at\" must be an object, {\"thickness\": 0.5}");
    json_object_foreach((json_t *)at, name, value) {
        char number[32], word[512];
        ex_format_double(number, json_number_value(value));
        if (!json_is_number(value) && !json_is_string(value))
            return exi_job_wrong(p, "\"%s\" must be a number, or a text such as \"x20\"", name);
        snprintf(word, sizeof word, "%.400s=%.100s", name, json_is_string(value) ? json_string_value(value) : number);
        json_array_append_new(words, json_string(word));
    }
    return EX_OK;
}

/* The words that cells need, and those that only the sheet needs. */
static ex_result add_options(exi_planner *p, const json_t *names, json_t *words, json_t *more, json_t *inputs) {
    json_t *first = json_object(), *second = json_object(), *value;
    const char *key;
    json_object_foreach(json_object_get(p->job, "options"), key, value) {
        const bool outside = strcmp(key, around[0]) == 0 || strcmp(key, around[1]) == 0;
        json_object_set(outside ? second : first, key, value);
    }
    exi_planner one = *p;
    one.job = json_pack("{s:O}", "options", first);
    ex_result result = exi_job_options(&one, "sheet", taken, names, words, inputs);
    json_decref(one.job);
    one.job = json_pack("{s:O}", "options", second);
    if (result == EX_OK)
        result = exi_job_options(&one, "sheet", taken, names, more, inputs);
    json_decref(one.job);
    json_decref(first);
    json_decref(second);
    return result;
}

/* One rig: its cells, and what its sheet needs besides. */
typedef struct drawing {
    json_t *item, *words, *more, *inputs;
    char *output;
} drawing;

static ex_result add_rig(exi_planner *p, const char *rig, const char *output, drawing *d) {
    json_t *names = json_pack("{s:o}", "rig", exi_job_stem(rig)),
           *one = json_pack("[s, s, s, s]", "--cells", "1:1", "-o", "@/one.png");
    int cells = 0;
    *d = (drawing){.words = json_pack("[s, s]", "sheet", rig), .more = json_array(), .inputs = json_array()};
    ex_result result = exi_planner_add_input(p, d->inputs, rig);
    if (result == EX_OK)
        result = exi_job_fill(p, output, names, &d->output);
    if (result == EX_OK)
        result = add_options(p, names, d->words, d->more, d->inputs);
    if (result == EX_OK)
        result = add_settings(p, d->words);
    if (result == EX_OK) {
        json_t *ask = json_deep_copy(d->words);
        json_array_extend(ask, one);
        result = exi_planner_ask(p, ask, "1 to 1 of ", &cells);
        json_decref(ask);
    }
    if (result == EX_OK)
        d->item = exi_planner_add(p, &(exi_farm_item){.name = exi_farm_text(names, "rig"),
                                                      .words = d->words,
                                                      .inputs = d->inputs,
                                                      .file = "part.png",
                                                      .frames = cells,
                                                      .range = "--cells"});
    json_decref(names);
    json_decref(one);
    return result == EX_OK && !d->item ? p->error->result : result;
}

static ex_result add_join(exi_planner *p, const drawing *d) {
    json_t *words = json_deep_copy(d->words), *needs = json_array(), *part;
    const json_t *parts = json_object_get(d->item, "parts");
    size_t i;
    json_array_append_new(words, json_string("--join"));
    json_array_foreach((json_t *)parts, i, part) {
        char path[320];
        snprintf(path, sizeof path, "@/%.300s", json_string_value(json_array_get(part, 1)));
        json_array_append_new(words, json_string(path));
        json_array_append(needs, json_array_get(part, 0));
    }
    json_array_extend(words, d->more);
    const char *slash = strrchr(d->output, '/');
    json_t *item = exi_planner_add(p, &(exi_farm_item){.name = exi_farm_text(d->item, "name"),
                                                       .words = words,
                                                       .inputs = d->inputs,
                                                       .needs = needs,
                                                       .file = slash ? slash + 1 : d->output});
    json_decref(words);
    json_decref(needs);
    return item ? exi_planner_item_result(p, "file", d->output, item, NULL) : p->error->result;
}

static ex_result plan(exi_planner *p) {
    json_t *rigs = NULL;
    char *output = NULL;
    ex_result result = exi_job_paths(p, "rigs", false, &rigs);
    if (result == EX_OK)
        result = exi_job_path(p, "output", &output);
    if (result == EX_OK && !ex_path_ends_with(output, ".png"))
        result = exi_job_wrong(p, "\"output\" must end in .png, not '%s'", output);
    const size_t count = json_array_size(rigs);
    drawing *drawings = calloc(count + 1, sizeof *drawings);
    if (result == EX_OK && !drawings)
        result = ex_error_memory(p->error, "a plan", 64);
    for (size_t i = 0; result == EX_OK && i < count; i++)
        result = add_rig(p, json_string_value(json_array_get(rigs, i)), output, &drawings[i]);
    if (result == EX_OK)
        result = exi_planner_end_stage(p, "cells");
    for (size_t i = 0; result == EX_OK && i < count; i++)
        result = add_join(p, &drawings[i]);
    if (result == EX_OK)
        result = exi_planner_end_stage(p, "join");
    for (size_t i = 0; drawings && i < count; i++) {
        json_decref(drawings[i].words);
        json_decref(drawings[i].more);
        json_decref(drawings[i].inputs);
        free(drawings[i].output);
    }
    free(drawings);
    json_decref(rigs);
    free(output);
    return result;
}

const exi_farm_work exi_farm_work_sheet = {
    .name = "sheet",
    .keys = (const char *const[]){"work", "threads", "rigs", "output", "at", "options", NULL},
    .plan = plan,
};

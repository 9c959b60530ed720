/*
 * warp: pairs of forms, one rig of trajectories each.
 *
 *   {"work": "warp", "pairs": [["rest.obj", "kick.obj"], ["rest.obj", "bend.obj"]], "output": "made/{to}.glb"}
 *   {"work": "warp", "from": "rest.obj", "to": "poses/ *.obj", "output": "made/{from}-{to}.glb"}
 */
#include "planner.h"

#include <stdlib.h>
#include <string.h>

static const char *const taken[] = {"output", "force", "picture", "rigid", "report", NULL};

/* Lists pairs: those of "pairs", or all of "from" with all of "to". */
static ex_result find_pairs(exi_planner *p, json_t *pairs) {
    const json_t *list = json_object_get(p->job, "pairs");
    json_t *from = NULL, *to = NULL;
    ex_result result = EX_OK;
    if (list && (json_object_get(p->job, "from") || json_object_get(p->job, "to")))
        return exi_job_wrong(p, "give either \"pairs\" or \"from\" and \"to\"");
    for (size_t i = 0; result == EX_OK && list && (i < json_array_size(list) || !json_is_array(list)); i++) {
        json_t *pair = json_array_get(list, i), *whole = NULL;
        if (json_array_size(pair) != 2)
            return exi_job_wrong(p, "\"pairs\" must be a list of pairs of files, [[\"a.obj\", \"b.obj\"]]");
        exi_planner one = *p; /* reads the two files like any other list */
        one.job = json_pack("{s:O}", "pairs", pair);
        result = exi_job_paths(&one, "pairs", false, &whole);
        json_decref(one.job);
        if (result == EX_OK && json_array_size(whole) != 2)
            result = exi_job_wrong(p, "a pair must be two files");
        if (result == EX_OK)
            json_array_append(pairs, whole);
        json_decref(whole);
    }
    if (list)
        return result;
    result = exi_job_paths(p, "from", false, &from);
    if (result == EX_OK)
        result = exi_job_paths(p, "to", false, &to);
    for (size_t i = 0; result == EX_OK && i < json_array_size(from); i++)
        for (size_t k = 0; k < json_array_size(to); k++) {
            const char *a = json_string_value(json_array_get(from, i)), *b = json_string_value(json_array_get(to, k));
            if (strcmp(a, b) != 0)
                json_array_append_new(pairs, json_pack("[s, s]", a, b));
        }
    json_decref(from);
    json_decref(to);
    return result;
}

static ex_result add_pair(exi_planner *p, const char *from, const char *to, const char *output) {
    json_t *names = json_pack("{s:o, s:o}", "from", exi_job_stem(from), "to", exi_job_stem(to)),
           *words = json_pack("[s, s, s]", "warp", from, to), *inputs = json_array();
    char name[640], *path = NULL;
    snprintf(name, sizeof name, "%s to %s", exi_farm_text(names, "from"), exi_farm_text(names, "to"));
    ex_result result = exi_planner_add_input(p, inputs, from);
    if (result == EX_OK)
        result = exi_planner_add_input(p, inputs, to);
    if (result == EX_OK)
        result = exi_job_options(p, "warp", taken, names, words, inputs);
    if (result == EX_OK)
        result = exi_job_fill(p, output, names, &path);
    const char *slash = path ? strrchr(path, '/') : NULL;
    const json_t *item =
        result == EX_OK
            ? exi_planner_add(
                  p, &(exi_farm_item){.name = name, .words = words, .inputs = inputs, .file = slash ? slash + 1 : path})
            : NULL;
    if (result == EX_OK)
        result = item ? exi_planner_item_result(p, "file", path, item, NULL) : p->error->result;
    free(path);
    json_decref(names);
    json_decref(words);
    json_decref(inputs);
    return result;
}

static ex_result plan(exi_planner *p) {
    json_t *pairs = json_array();
    char *output = NULL;
    ex_result result = pairs ? find_pairs(p, pairs) : ex_error_memory(p->error, "a plan", 64);
    if (result == EX_OK)
        result = exi_job_path(p, "output", &output);
    if (result == EX_OK && !ex_path_ends_with(output, ".glb"))
        result = exi_job_wrong(p, "\"output\" must end in .glb, not '%s'", output);
    for (size_t i = 0; result == EX_OK && i < json_array_size(pairs); i++) {
        const json_t *pair = json_array_get(pairs, i);
        result =
            add_pair(p, json_string_value(json_array_get(pair, 0)), json_string_value(json_array_get(pair, 1)), output);
    }
    json_decref(pairs);
    free(output);
    return result == EX_OK ? exi_planner_end_stage(p, "warp") : result;
}

const exi_farm_work exi_farm_work_warp = {
    .name = "warp",
    .keys = (const char *const[]){"work", "threads", "pairs", "from", "to", "output", "options", NULL},
    .plan = plan,
};

/*
 * bake: rigs x motions. Frames of point caches are independent of each other and are cut anywhere; a .glb is made as a
 * whole, since its morph targets are chosen over all frames.
 *
 *   {"work": "bake", "rigs": "rigs/ *.glb", "motions": ["walk.bvh"], "output": "made/{rig}-{motion}.pc2",
 *    "frames": "1:500", "options": {"fps": 60}}
 *
 * Without "motions", the rigs' own clips are baked: the one of the option "clip".
 */
#include "planner.h"

#include "cli/base/files.h"
#include "motion.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const taken[] = {"motion", "output", "frames", "force", "gpu", NULL};

ex_result exi_farm_motion(const char *rig_path, const char *path, const json_t *options, ex_motion **motion,
                          ex_error *error) {
    ex_rig *rig = NULL;
    ex_joint_map *map = NULL;
    const char *map_path = json_string_value(json_object_get(options, "map"));
    ex_motion_options how = {.clip = json_string_value(json_object_get(options, "clip")),
                             .fps = exi_job_parse(json_string_value(json_object_get(options, "fps"))),
                             .start = exi_job_parse(json_string_value(json_object_get(options, "start"))),
                             .end = exi_job_parse(json_string_value(json_object_get(options, "end"))),
                             .rig_name = rig_path};
    if (json_object_get(options, "start") && !json_object_get(options, "end"))
        how.end = INFINITY;
    ex_result result = ex_rig_read(rig_path, &(ex_rig_options){.without_tangents = true}, &rig, error);
    if (result == EX_OK && map_path)
        result = ex_joint_map_read(map_path, &map, error);
    how.map = map;
    if (result == EX_OK)
        result = path ? ex_motion_read(path, rig, &how, motion, error) : ex_rig_motion(rig, &how, motion, error);
    ex_joint_map_destroy(map);
    ex_rig_destroy(rig);
    return result;
}

/* The options that decide about frames, as texts. */
static json_t *frame_options(const json_t *words) {
    static const char *const keys[] = {"clip", "fps", "start", "end", "map"};
    json_t *options = json_object();
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        char word[16];
        snprintf(word, sizeof word, "--%s", keys[i]);
        const char *value = exi_job_value(words, word);
        if (value)
            json_object_set_new(options, keys[i], json_string(value));
    }
    return options;
}

static ex_result add_pair(exi_planner *p, const char *rig, const char *motion, const char *output, exi_farm_cost *cost,
                          bool *measured) {
    ex_motion *poses = NULL;
    int offset = 0, frames = 0;
    json_t *words =
               motion ? json_pack("[s, s, s, s]", "bake", rig, "--motion", motion) : json_pack("[s, s]", "bake", rig),
           *inputs = json_array(),
           *names = json_pack("{s:o, s:o}", "rig", exi_job_stem(rig), "motion",
                              motion ? exi_job_stem(motion) : json_string("clip")),
           *options = NULL;
    char *path = NULL, name[640];
    const bool whole = ex_path_ends_with(output, ".glb");
    snprintf(name, sizeof name, "%s x %s", exi_farm_text(names, "rig"), exi_farm_text(names, "motion"));
    ex_result result = exi_planner_add_input(p, inputs, rig);
    if (result == EX_OK && motion)
        result = exi_planner_add_input(p, inputs, motion);
    if (result == EX_OK)
        result = exi_job_options(p, "bake", taken, names, words, inputs);
    if (result == EX_OK) {
        options = frame_options(words);
        result = exi_farm_motion(rig, motion, options, &poses, p->error);
    }
    if (result == EX_OK)
        result = exi_job_frames(p, poses->pose_count, motion ? motion : rig, &offset, &frames);
    ex_motion_destroy(poses);
    if (result == EX_OK)
        result = exi_job_fill(p, output, names, &path);
    const char *slash = path ? strrchr(path, '/') : NULL, *file = slash ? slash + 1 : path;
    if (result == EX_OK && !*measured) {
        result = exi_planner_sample(p, words, file, frames, cost);
        *measured = true;
    }
    if (result == EX_OK && whole && json_object_get(p->job, "frames")) {
        json_array_append_new(words, json_string("--frames"));
        json_array_append_new(words, json_string(exi_farm_text(p->job, "frames")));
    }
    const json_t *item = result == EX_OK ? exi_planner_add(p, &(exi_farm_item){.name = name,
                                                                               .words = words,
                                                                               .inputs = inputs,
                                                                               .file = file,
                                                                               .frames = frames,
                                                                               .offset = offset,
                                                                               .whole = whole,
                                                                               .cost = *cost})
                                         : NULL;
    if (result == EX_OK)
        result = !item   ? p->error->result
                 : whole ? exi_planner_item_result(p, "file", path, item, NULL)
                         : exi_planner_item_result(p, "cache", path, item,
                                                   json_pack("{s:s, s:s, s:s, s:O, s:i, s:i}", "times", "motion", "rig",
                                                             rig, "motion", motion ? motion : "", "options", options,
                                                             "offset", offset, "frames", frames));
    free(path);
    json_decref(options);
    json_decref(names);
    json_decref(words);
    json_decref(inputs);
    return result;
}

static ex_result plan(exi_planner *p) {
    json_t *rigs = NULL, *motions = NULL;
    char *output = NULL;
    ex_result result = exi_job_paths(p, "rigs", false, &rigs);
    if (result == EX_OK)
        result = exi_job_paths(p, "motions", true, &motions);
    if (result == EX_OK)
        result = exi_job_path(p, "output", &output);
    if (result == EX_OK && ex_cache_kind_of(output) == EX_CACHE_KIND_COUNT && !ex_path_ends_with(output, ".glb"))
        result = exi_job_wrong(p, "\"output\" must end in .glb, .pc2, .mdd, .abc or .obj, not '%s'", output);
    for (size_t i = 0; result == EX_OK && i < json_array_size(rigs); i++) {
        const char *rig = json_string_value(json_array_get(rigs, i));
        exi_farm_cost cost = {.start = 0};
        bool measured = false;
        const size_t count = json_array_size(motions);
        for (size_t k = 0; result == EX_OK && k < (count ? count : 1); k++)
            result = add_pair(p, rig, json_string_value(json_array_get(motions, k)), output, &cost, &measured);
    }
    json_decref(rigs);
    json_decref(motions);
    free(output);
    return result == EX_OK ? exi_planner_end_stage(p, "bake") : result;
}

const exi_farm_work exi_farm_work_bake = {
    .name = "bake",
    .keys = (const char *const[]){"work", "threads", "rigs", "motions", "output", "frames", "options", NULL},
    .plan = plan,
};

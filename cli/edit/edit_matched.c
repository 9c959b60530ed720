/* cli/edit/edit_matched.c - tells which names of a motion file and of the rig belong together: for the message after a
 * motion was loaded. */
#include "edit.h"

#include <exemplar/author/formats.h>

#include <stdlib.h>

/* The clip of a motion file; NULL for a table of poses, and without memory: the lists are then left out. */
static ex_clip *read_clip(const char *path) {
    ex_clip *clip = NULL;
    ex_scene *scene = NULL;
    ex_error ignored = {.result = EX_OK};
    if (ex_path_ends_with(path, ".bvh"))
        ex_bvh_read(path, &clip, &ignored);
    else if (ex_path_ends_with(path, ".glb") || ex_path_ends_with(path, ".gltf")) {
        if (ex_scene_read(path, &scene, &ignored) == EX_OK)
            ex_scene_to_clip(scene, 0, 0, &clip, &ignored);
        ex_scene_destroy(scene);
    }
    return clip;
}

static void emit_sides(exi_emitter *json, const ex_rig *rig, const ex_clip *clip, const int *joints, const int *inputs,
                       bool *used) {
    const int joint_count = ex_rig_joint_count(rig), input_count = ex_rig_input_count(rig);
    exi_emit_open(json, "names", '[');
    for (int j = 0; j < joint_count; j++)
        if (joints[j] >= 0) {
            used[joints[j]] = true;
            exi_emit_text(json, NULL, ex_skeleton_name(ex_rig_skeleton(rig), j));
        }
    for (int i = 0; i < input_count; i++)
        if (inputs[i] >= 0)
            exi_emit_text(json, NULL, ex_rig_input_name(rig, i));
    exi_emit_close(json, ']');
    exi_emit_open(json, "unmoved", '[');
    for (int j = 0; j < joint_count; j++)
        if (joints[j] < 0)
            exi_emit_text(json, NULL, ex_skeleton_name(ex_rig_skeleton(rig), j));
    exi_emit_close(json, ']');
    exi_emit_open(json, "unused", '[');
    for (int k = 0; k < clip->joint_count; k++)
        if (!used[k] && !clip->joints[k].end)
            exi_emit_text(json, NULL, clip->joints[k].name);
    exi_emit_close(json, ']');
}

void exi_edit_emit_matched(exi_emitter *json, const ex_rig *rig, const char *path, const ex_joint_map *map) {
    ex_error ignored = {.result = EX_OK};
    ex_clip *clip = read_clip(path);
    int *joints = malloc(((size_t)ex_rig_joint_count(rig) + 1) * sizeof *joints),
        *inputs = malloc(((size_t)ex_rig_input_count(rig) + 1) * sizeof *inputs);
    bool *used = clip ? calloc((size_t)clip->joint_count + 1, sizeof *used) : NULL;
    if (clip && joints && inputs && used && ex_clip_match(clip, rig, map, joints, inputs, &ignored) == EX_OK)
        emit_sides(json, rig, clip, joints, inputs, used);
    free(joints);
    free(inputs);
    free(used);
    ex_clip_destroy(clip);
}

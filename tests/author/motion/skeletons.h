/* skeletons.h - rigs and clips of a few joints for the tests of motion, and the places of their joints at a pose. */
#ifndef EXEMPLAR_TESTS_SKELETONS_H
#define EXEMPLAR_TESTS_SKELETONS_H

#include "support/check.h"

#include <exemplar/author.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { BONES_MOST = 16 };

/* A joint: name, parent, place at rest relative to the parent, and rest rotation. */
typedef struct bone {
    const char *name;
    int parent;
    float x, y, z;
    float turn[4]; /* all 0: none */
} bone;

static inline ex_transform bone_rest(const bone *b) {
    ex_transform t = ex_transform_identity();
    const float place[3] = {b->x, b->y, b->z};
    memcpy(t.translation, place, sizeof place);
    if (b->turn[0] != 0 || b->turn[1] != 0 || b->turn[2] != 0 || b->turn[3] != 0)
        memcpy(t.rotation, b->turn, sizeof t.rotation);
    return t;
}

/* A rig of a triangle with that skeleton (count 0: none), and the dials smile, from 0 to 1, and turn, a rotation. */
static inline ex_rig *bones_rig(const bone *bones, int count) {
    static const float positions[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0}, none[9] = {0};
    static const uint32_t corners[3] = {0, 1, 2}, size = 3;
    const ex_axis axes[2] = {ex_axis_scalar(0, 1, 0), ex_axis_rotation(EX_AXIS_ROTATION, NULL)};
    const char *const names[2] = {"smile", "turn"}, *const examples[1] = {"only"};
    const double point[5] = {0, 0, 0, 0, 1};
    const float *const deltas[1] = {none};
    ex_layer_def layer = {.name = "layer", .weigh = ex_weigher_def_default(), .axis_names = names};
    layer.example_names = examples;
    layer.form.deltas = deltas;
    layer.weigh.axes = axes;
    layer.weigh.axis_count = 2;
    layer.weigh.example_count = 1;
    layer.weigh.points = point;
    ex_rig_def def = ex_rig_def_default();
    def.mesh = (ex_rig_mesh){.vertex_count = 3,
                             .positions = positions,
                             .split_count = 3,
                             .face_count = 1,
                             .corner_count = 3,
                             .face_sizes = &size,
                             .corners = corners,
                             .triangle_count = 1,
                             .triangles = corners};
    def.layers = &layer;
    def.layer_count = 1;
    int parents[BONES_MOST];
    ex_transform rest[BONES_MOST];
    const char *joint_names[BONES_MOST];
    for (int j = 0; j < count; j++) {
        parents[j] = bones[j].parent;
        joint_names[j] = bones[j].name;
        rest[j] = bone_rest(&bones[j]);
    }
    ex_skeleton *skeleton = NULL;
    ex_rig *rig = NULL;
    ex_error error = {0};
    const ex_skeleton_def skeleton_def = {.joint_count = count, .parents = parents, .rest = rest, .names = joint_names};
    if (count > 0 && ex_skeleton_create(&skeleton_def, NULL, &skeleton, &error) != EX_OK)
        fail_msg("%s", error.text);
    def.skeleton = skeleton;
    if (ex_rig_create(&def, NULL, &rig, &error) != EX_OK)
        fail_msg("%s", error.text);
    ex_skeleton_destroy(skeleton);
    return rig;
}

/* A clip of these joints, at rest in all frames, ten per second; names that begin with '_' are end sites. */
static inline ex_clip *bones_clip(const bone *bones, int count, int frame_count) {
    ex_clip *clip = calloc(1, sizeof *clip);
    assert_non_null(clip);
    *clip = (ex_clip){.joint_count = count, .frame_count = frame_count, .root_moves = true};
    clip->joints = calloc((size_t)count, sizeof *clip->joints);
    clip->times = calloc((size_t)frame_count, sizeof *clip->times);
    clip->locals = calloc((size_t)(frame_count * count), sizeof *clip->locals);
    assert_true(clip->joints && clip->times && clip->locals);
    for (int j = 0; j < count; j++) {
        clip->joints[j] =
            (ex_clip_joint){.parent = bones[j].parent, .rest = bone_rest(&bones[j]), .end = bones[j].name[0] == '_'};
        clip->joints[j].name = malloc(strlen(bones[j].name) + 1);
        assert_non_null(clip->joints[j].name);
        strcpy(clip->joints[j].name, bones[j].name);
    }
    for (int f = 0; f < frame_count; f++) {
        clip->times[f] = f * 0.1;
        for (int j = 0; j < count; j++)
            clip->locals[f * count + j] = clip->joints[j].rest;
    }
    return clip;
}

static inline ex_transform *clip_local(ex_clip *clip, int frame, int joint) {
    return &clip->locals[frame * clip->joint_count + joint];
}

/* Turns a joint about a coordinate axis of its parent, on top of its rest. */
static inline void turn_local(ex_transform *local, int axis, double degrees) {
    const double half = degrees * acos(-1) / 360, s = sin(half), c = cos(half);
    const double q[4] = {local->rotation[0], local->rotation[1], local->rotation[2], local->rotation[3]};
    const int a = (axis + 1) % 3, b = (axis + 2) % 3;
    double out[4];
    out[axis] = c * q[axis] + s * q[3];
    out[a] = c * q[a] - s * q[b];
    out[b] = c * q[b] + s * q[a];
    out[3] = c * q[3] - s * q[axis];
    for (int i = 0; i < 4; i++)
        local->rotation[i] = (float)out[i];
}

static inline ex_motion *bring(const ex_clip *clip, const ex_rig *rig, const ex_joint_map *map) {
    ex_motion *motion = NULL;
    ex_error error = {0};
    if (ex_motion_from_clip(clip, rig, map, &motion, &error) != EX_OK)
        fail_msg("%s", error.text);
    assert_int_equal(motion->pose_count, clip->frame_count);
    return motion;
}

/* World matrices [joint_count][12] of a pose. */
static inline void pose_worlds(const ex_rig *rig, const ex_pose *pose, float (*worlds)[12]) {
    const ex_skeleton *skeleton = ex_rig_skeleton(rig);
    void *scratch = malloc(ex_skeleton_scratch_size(skeleton));
    assert_non_null(scratch);
    ex_skeleton_evaluate(skeleton, &(ex_skeleton_input){.locals = pose->joints},
                         &(ex_skeleton_output){.worlds = &worlds[0][0]}, scratch);
    free(scratch);
}

static inline void check_place(const float world[12], double x, double y, double z) {
    assert_near((double)world[3], x, 1e-5);
    assert_near((double)world[7], y, 1e-5);
    assert_near((double)world[11], z, 1e-5);
}

#endif

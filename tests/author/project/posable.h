/*
 * posable.h - a rig for the tests of poses: three dials of which the second is a rotation (the first is at 20 at rest),
 * and with a skeleton also `bend`, an angle about x of the joint `forearm`, and `aim`, the swing about y of the joint
 * `upper arm`. Rests are turned and moved, so that values relative to them differ.
 */
#ifndef EXEMPLAR_TESTS_POSABLE_H
#define EXEMPLAR_TESTS_POSABLE_H

#include "projects.h"

enum { POSABLE_INPUTS = 6, POSABLE_JOINTS = 4, UPPER_ARM = 0, FOREARM = 1, HAND = 2 };

static inline ex_skeleton *posable_skeleton(void) {
    static const int parents[POSABLE_JOINTS] = {-1, 0, 1, 2};
    static const char *const names[POSABLE_JOINTS] = {"upper arm", "forearm", "hand", NULL};
    static const ex_transform rest[POSABLE_JOINTS] = {
        {.rotation = {0.5f, 0.5f, 0.5f, 0.5f}, .scale = {1, 1, 1}},
        {.translation = {1, 2, 3}, .rotation = {0, 0, 0.6f, 0.8f}, .scale = {1, 2, 1}},
        {.translation = {1, 0, 0}, .rotation = {0, 0.6f, 0, 0.8f}, .scale = {1, 1, 1}},
        {.translation = {1, 0, 0}, .rotation = {0, 0, 0, 1}, .scale = {1, 1, 1}}};
    ex_skeleton *skeleton = NULL;
    ex_error error = {0};
    const ex_skeleton_def def = {.joint_count = POSABLE_JOINTS, .parents = parents, .rest = rest, .names = names};
    if (ex_skeleton_create(&def, NULL, &skeleton, &error) != EX_OK)
        fail_msg("%s", error.text);
    return skeleton;
}

static inline ex_rig *posable_rig(const char *first, const char *second, const char *third, bool posed) {
    static const float positions[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0}, none[9] = {0};
    static const uint32_t corners[3] = {0, 1, 2}, size = 3;
    static const double y[3] = {0, 1, 0};
    const ex_axis axes[5] = {ex_axis_scalar(0, 140, 20), ex_axis_rotation(EX_AXIS_ROTATION, NULL),
                             ex_axis_scalar(0, 1, 0), ex_axis_scalar(-90, 90, 0), ex_axis_rotation(EX_AXIS_SWING, y)};
    const char *const names[5] = {first, second, third, "bend", "aim"};
    const ex_axis_source sources[5] = {
        {.joint = -1},
        {.joint = -1},
        {.joint = -1},
        {.joint = FOREARM, .reading = {.kind = EX_READING_ANGLE, .about = {1, 0, 0}}},
        {.joint = UPPER_ARM, .reading = {.kind = EX_READING_ROTATION, .about = {0, 1, 0}, .part = EX_AXIS_SWING}}};
    const double point[12] = {20, 0, 0, 0, 1, 0, 0, 0, 0, 0, 1};
    const float *const deltas[1] = {none};
    const char *const examples[1] = {"only"};
    ex_layer_def layer = {.name = "layer",
                          .weigh = ex_weigher_def_default(),
                          .axis_names = names,
                          .sources = sources,
                          .example_names = examples,
                          .form.deltas = deltas};
    layer.weigh.axes = axes;
    layer.weigh.axis_count = posed ? 5 : 3;
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
    ex_skeleton *skeleton = posed ? posable_skeleton() : NULL;
    def.skeleton = skeleton;
    ex_rig *rig = NULL;
    ex_error error = {0};
    if (ex_rig_create(&def, NULL, &rig, &error) != EX_OK)
        fail_msg("%s", error.text);
    ex_skeleton_destroy(skeleton);
    return rig;
}

/* Checks the joint's rotation relative to its rest, except for the sign. */
static inline void check_turn(const ex_rig *rig, const ex_pose *pose, int joint, const double expected[4]) {
    const ex_reading whole = {.kind = EX_READING_ROTATION, .part = EX_AXIS_ROTATION};
    const ex_transform rest = ex_skeleton_rest(ex_rig_skeleton(rig), joint);
    double q[4], same = 0, opposite = 0;
    ex_reading_read(&whole, &rest, &pose->joints[joint], q);
    for (int i = 0; i < 4; i++) {
        same = fmax(same, fabs(q[i] - expected[i]));
        opposite = fmax(opposite, fabs(q[i] + expected[i]));
    }
    if (!(same < 1e-6 || opposite < 1e-6))
        fail_msg("joint %d is turned by %g %g %g %g", joint, q[0], q[1], q[2], q[3]);
    /* Only the rotation has changed. */
    assert_memory_equal(pose->joints[joint].translation, rest.translation, sizeof rest.translation);
    assert_memory_equal(pose->joints[joint].scale, rest.scale, sizeof rest.scale);
}

#endif

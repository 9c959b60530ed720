#include "support/dummies.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "support/rigs.h"

const double dummy_centre[3] = {0, 0.5, 0};

static const double pi = 3.14159265358979323846;

/* Poles first and last. */
static void make_positions(int rings, int sides, float *positions) {
    const int count = rings * sides + 2;
    for (int v = 0; v < count; v++) {
        const int ring = (v - 1) / sides, side = (v - 1) % sides;
        const double polar = v == 0           ? 0
                             : v == count - 1 ? pi
                                              : pi * (ring + 1) / (rings + 1),
                     around = 2 * pi * side / sides;
        positions[3 * v] = (float)(dummy_centre[0] + DUMMY_RADIUS * sin(polar) * sin(around));
        positions[3 * v + 1] = (float)(dummy_centre[1] + DUMMY_RADIUS * cos(polar));
        positions[3 * v + 2] = (float)(dummy_centre[2] + DUMMY_RADIUS * sin(polar) * cos(around));
    }
}

static int make_triangles(int rings, int sides, uint32_t *triangles) {
    int count = 0;
    const uint32_t last = (uint32_t)(rings * sides) + 1;
    for (int s = 0; s < sides; s++) {
        const uint32_t a = (uint32_t)s + 1, b = (uint32_t)((s + 1) % sides) + 1;
        memcpy(triangles + 3 * count++, (uint32_t[]){0, a, b}, 12);
        for (int r = 0; r + 1 < rings; r++) {
            const uint32_t row = (uint32_t)(r * sides), next = row + (uint32_t)sides;
            memcpy(triangles + 3 * count++, (uint32_t[]){row + a, next + a, next + b}, 12);
            memcpy(triangles + 3 * count++, (uint32_t[]){row + a, next + b, row + b}, 12);
        }
        const uint32_t row = (uint32_t)((rings - 1) * sides);
        memcpy(triangles + 3 * count++, (uint32_t[]){row + a, last, row + b}, 12);
    }
    return count;
}

static ex_skeleton *make_skeleton(void) {
    static const char *const names[] = {"hips", "arm.L", "arm.R", "tip"};
    static const int parents[] = {-1, 0, 0, 1};
    ex_transform rest[DUMMY_JOINTS];
    ex_skeleton *skeleton = NULL;
    for (int j = 0; j < DUMMY_JOINTS; j++)
        rest[j] = ex_transform_identity();
    rest[DUMMY_HIPS].translation[1] = 0.4F;
    for (int j = DUMMY_LEFT; j <= DUMMY_RIGHT; j++) {
        const float side = j == DUMMY_LEFT ? 1 : -1;
        memcpy(rest[j].translation, (float[]){side * 0.05F, 0.1F, 0}, 12);
        memcpy(rest[j].rotation, (float[]){0, 0, side * 0.6F, 0.8F}, 16); /* 73.74 degrees about z */
    }
    rest[DUMMY_TIP].translation[0] = 0.05F;
    const ex_skeleton_def def = {.joint_count = DUMMY_JOINTS, .parents = parents, .rest = rest, .names = names};
    assert_int_equal(ex_skeleton_create(&def, NULL, &skeleton, NULL), EX_OK);
    return skeleton;
}

/* By thirds from left to right. */
static ex_skin *make_skin(int count, const float *positions) {
    uint32_t *starts = calloc((size_t)count + 1, 4), *joints = calloc((size_t)count, 4);
    float *weights = calloc((size_t)count, 4);
    ex_skin *skin = NULL;
    assert_true(starts && joints && weights);
    for (int v = 0; v < count; v++) {
        const float x = positions[3 * v];
        starts[v + 1] = (uint32_t)v + 1;
        joints[v] = x > 0.04F ? DUMMY_LEFT : x < -0.04F ? DUMMY_RIGHT : DUMMY_HIPS;
        weights[v] = 1;
    }
    const ex_skin_def def = {count, DUMMY_JOINTS, starts, joints, weights};
    assert_int_equal(ex_skin_create(&def, NULL, &skin, NULL), EX_OK);
    free(starts);
    free(joints);
    free(weights);
    return skin;
}

ex_rig *dummy_rig(int rings, int sides) {
    const int count = rings * sides + 2;
    float *positions = calloc(3 * (size_t)count, 4), *delta = calloc(3 * (size_t)count, 4);
    uint32_t *triangles = calloc(6 * (size_t)count, 4), *sizes = calloc(2 * (size_t)count, 4);
    assert_true(positions && delta && triangles && sizes);
    make_positions(rings, sides, positions);
    const int triangle_count = make_triangles(rings, sides, triangles);
    for (int f = 0; f < triangle_count; f++)
        sizes[f] = 3;
    ex_skeleton *skeleton = make_skeleton();
    ex_skin *skin = make_skin(count, positions);
    const char *const axis = "bend", *const example = "bent";
    const float *deltas = delta;
    const ex_axis axes = ex_axis_scalar(-90, 120, 0);
    const ex_axis_source source = {.joint = DUMMY_LEFT,
                                   .reading = {.kind = EX_READING_ANGLE, .about = {0, 2, 0}, .middle = 15}};
    ex_layer_def layer = {.name = "arm",
                          .weigh = ex_weigher_def_default(),
                          .axis_names = &axis,
                          .sources = &source,
                          .example_names = &example,
                          .form.deltas = &deltas};
    layer.weigh.kind = EX_WEIGHER_DIRECT;
    layer.weigh.axes = &axes;
    layer.weigh.axis_count = layer.weigh.example_count = 1;
    ex_rig_def def = ex_rig_def_default();
    def.mesh = (ex_rig_mesh){.vertex_count = count,
                             .positions = positions,
                             .split_count = count,
                             .face_count = triangle_count,
                             .corner_count = 3 * triangle_count,
                             .face_sizes = sizes,
                             .corners = triangles,
                             .triangle_count = triangle_count,
                             .triangles = triangles};
    def.layers = &layer;
    def.layer_count = 1;
    def.skeleton = skeleton;
    def.skin = skin;
    ex_rig *rig = rig_of(&def);
    ex_skeleton_destroy(skeleton);
    ex_skin_destroy(skin);
    free(positions);
    free(delta);
    free(triangles);
    free(sizes);
    return rig;
}

ex_pose dummy_pose(const ex_rig *rig) {
    const ex_pose pose = ex_pose_create(rig);
    assert_non_null(pose.joints);
    return pose;
}

ex_scan_simulation dummy_scanner(const ex_rig *rig, const ex_pose *pose) {
    ex_scan_simulation s = ex_scan_simulation_default();
    s.rig = rig;
    s.poses = pose;
    s.pose_count = 1;
    s.pitch[0] = s.pitch[1] = 0.008;
    s.marker_size = 0.03;
    return s;
}

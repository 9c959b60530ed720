/*
 * Joints that turn by half a turn and beyond: their quaternions, dual quaternion skinning and vectors that turn with
 * the skin move on without a jump, whatever the bind matrices are: rotated, scaled by 0.01, mirrored, sheared, or bound
 * in another pose than rest. The rotations of matrices are checked against the matrices.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/check.h"
#include "support/poses.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { J = 4, V = 60, STEPS = 36000 };

/* A chain of joints: two above each other, and two at the end of the second. */
typedef struct rig {
    const char *name;
    ex_skeleton *skeleton;
    ex_skin *skin;
    ex_transform rest[J];
    float positions[V][3];
    void *scratch, *memory;
    float matrices[J][12], centres[J][3], turns[J][4];
} rig;

static const int parents[J] = {-1, 0, 1, 1};

/* The node above all joints, and whether binds follow from the rest pose. */
typedef struct kind {
    const char *name;
    double degrees, about[3];
    double scale[3];
    bool elsewhere; /* bound in another pose */
} kind;

static const kind kinds[] = {
    {"plain", 0, {1, 0, 0}, {1, 1, 1}, false},
    {"rotated", -90, {1, 0, 0}, {1, 1, 1}, false},
    {"turned round", 180, {0, 1, 0}, {1, 1, 1}, false},
    {"skew", 77, {1, -2, 0.5}, {1, 1, 1}, false},
    {"centimetres", -90, {1, 0, 0}, {0.01, 0.01, 0.01}, false},
    {"mirrored", 30, {0, 0, 1}, {-1, 1, 1}, false},
    {"reflected", 0, {0, 0, 1}, {-0.01, -0.01, -0.01}, false},
    {"half mirrored", 10, {0, 1, 0}, {-1, -1, 1}, false},
    {"flat", 20, {0, 1, 0}, {1, 0.7, 1.2}, false},
    {"bound elsewhere", -90, {1, 0, 0}, {0.01, 0.01, 0.01}, true},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

/* Weights of two or more joints in all proportions, and at last of one each. */
static ex_skin *make_skin(uint64_t *random) {
    uint32_t starts[V + 1] = {0}, joints[V * J];
    float weights[V * J];
    for (int v = 0; v < V; v++) {
        starts[v + 1] = starts[v];
        for (uint32_t j = 0; j < J; j++) {
            const double weight = v < J ? (int)j == v : random_between(random, 0, 1);
            joints[starts[v + 1]] = j;
            weights[starts[v + 1]] = (float)(v % 2 && v >= J && j > 1 ? 0 : weight);
            starts[v + 1] += weights[starts[v + 1]] > 0;
        }
    }
    weights[starts[5]] = weights[starts[5] + 1] = 0.5F; /* exactly in the middle of two joints */
    ex_skin *skin = NULL;
    const ex_skin_def def = {
        .vertex_count = V, .joint_count = J, .starts = starts, .joints = joints, .weights = weights};
    assert_int_equal(ex_skin_create(&def, NULL, &skin, NULL), EX_OK);
    return skin;
}

/* world = rest of the chain, from the top; in double. */
static void place(const ex_transform *locals, double worlds[J][12]) {
    for (int j = 0; j < J; j++) {
        oracle_matrix(&locals[j], worlds[j]);
        if (parents[j] >= 0)
            oracle_multiply(worlds[parents[j]], worlds[j], worlds[j]);
    }
}

/* The mesh is bound in the space below the root's own transform, in metres if that has scale 1. */
static void open_rig(rig *r, const kind *k) {
    uint64_t random = 5;
    const double unit = fabs(k->scale[2]);
    float binds[J][12];
    double worlds[J][12], inverse[12];
    *r = (rig){.name = k->name};
    r->rest[0] = turned(k->degrees, k->about[0], k->about[1], k->about[2]);
    for (int c = 0; c < 3; c++)
        r->rest[0].scale[c] = (float)k->scale[c];
    for (int j = 1; j < J; j++) {
        r->rest[j] = turned(40 * j, 1, j, -1);
        r->rest[j].translation[0] = (float)(0.3 / unit);
        r->rest[j].translation[1] = (float)(0.1 * j / unit);
    }
    ex_transform bound[J];
    memcpy(bound, r->rest, sizeof bound);
    for (int j = 0; k->elsewhere && j < J; j++) {
        const ex_transform other = turned(25 * (j + 1), j, 1, 2);
        memcpy(bound[j].rotation, other.rotation, sizeof other.rotation);
    }
    bound[0].scale[0] = bound[0].scale[1] = bound[0].scale[2] = 1; /* the mesh is as large as below that node */
    if (!k->elsewhere)
        bound[0] = ex_transform_identity();
    place(bound, worlds);
    for (int j = 0; j < J; j++) {
        assert_true(oracle_invert(worlds[j], inverse));
        for (int i = 0; i < 12; i++)
            binds[j][i] = (float)inverse[i];
    }
    ex_error error = {0};
    const ex_skeleton_def def = {.joint_count = J, .parents = parents, .rest = r->rest, .inverse_binds = &binds[0][0]};
    if (ex_skeleton_create(&def, NULL, &r->skeleton, &error) != EX_OK)
        fail_msg("%s: %s", k->name, error.text);
    r->skin = make_skin(&random);
    for (int i = 0; i < 3 * V; i++)
        r->positions[0][i] = (float)(random_between(&random, -0.5, 0.5) / unit);
    r->scratch = malloc(ex_skeleton_scratch_size(r->skeleton));
    r->memory = malloc(ex_palette_size(EX_SKINNING_DUAL_QUATERNION, J));
}

static void close_rig(rig *r) {
    ex_skeleton_destroy(r->skeleton);
    ex_skin_destroy(r->skin);
    free(r->scratch);
    free(r->memory);
}

/* out: the posed vertices, or vectors in their frames. */
static void evaluate(rig *r, const ex_transform *locals, ex_skinning method, float out[V][3]) {
    const ex_skeleton_output output = {.matrices = r->matrices[0], .centres = r->centres[0], .turns = r->turns[0]};
    ex_skeleton_evaluate(r->skeleton, &(ex_skeleton_input){.locals = locals}, &output, r->scratch);
    const ex_palette *palette = ex_palette_make(&(ex_palette_def){.method = method,
                                                                  .joint_count = J,
                                                                  .matrices = r->matrices[0],
                                                                  .centres = r->centres[0],
                                                                  .rotations = true,
                                                                  .turns = r->turns[0],
                                                                  .scale = ex_skeleton_scale(r->skeleton)},
                                                r->memory);
    if (method == EX_SKINNING_DUAL_QUATERNION) {
        ex_skin_apply(r->skin, palette,
                      &(ex_skin_job){.end = V, .positions = r->positions[0], .out_positions = out[0]});
        return;
    }
    float vectors[V][3];
    uint32_t vertices[V];
    for (uint32_t v = 0; v < V; v++) {
        vertices[v] = v;
        for (int c = 0; c < 3; c++) {
            vectors[v][c] = 0.1F * (float)(c + 1);
            out[v][c] = 0;
        }
    }
    ex_skin_turn(r->skin, palette,
                 &(ex_turn_job){.count = V, .vertices = vertices, .vectors = vectors[0], .positions = out[0]});
}

static ex_transform turn_from_rest(const ex_transform *rest, int axis, double degrees) {
    const double half = degrees * 0.5 * 0.017453292519943295, s = sin(half), w = cos(half);
    const double b[3] = {axis == 0 ? s : 0, axis == 1 ? s : 0, axis == 2 ? s : 0};
    const float *q = rest->rotation;
    const double a[4] = {(double)q[0], (double)q[1], (double)q[2], (double)q[3]};
    ex_transform local = *rest;
    local.rotation[0] = (float)(a[3] * b[0] + w * a[0] + a[1] * b[2] - a[2] * b[1]);
    local.rotation[1] = (float)(a[3] * b[1] + w * a[1] + a[2] * b[0] - a[0] * b[2]);
    local.rotation[2] = (float)(a[3] * b[2] + w * a[2] + a[0] * b[1] - a[1] * b[0]);
    local.rotation[3] = (float)(a[3] * w - a[0] * b[0] - a[1] * b[1] - a[2] * b[2]);
    return local;
}

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* The largest step of any vertex in every step of 0.01 degrees, divided by the median of these: at most 3. */
static void sweep(rig *r, const ex_transform *others, ex_skinning method, int joint, int axis, double from, int steps) {
    static float now[V][3], before[V][3];
    static double largest[STEPS + 1], sorted[STEPS + 1];
    ex_transform locals[J];
    memcpy(locals, others, sizeof locals);
    for (int i = 0; i <= steps; i++) {
        locals[joint] = turn_from_rest(&others[joint], axis, from + 0.01 * i);
        evaluate(r, locals, method, now);
        double most_sq = 0;
        for (int v = 0; v < V && i > 0; v++) {
            double sq = 0;
            for (int c = 0; c < 3; c++) {
                const double step = (double)now[v][c] - (double)before[v][c];
                sq += step * step;
            }
            most_sq = fmax(most_sq, sq);
        }
        if (i > 0)
            largest[i - 1] = sorted[i - 1] = sqrt(most_sq);
        memcpy(before, now, sizeof now);
    }
    qsort(sorted, (size_t)steps, sizeof *sorted, compare);
    const double median = sorted[steps / 2];
    assert_true(median > 0);
    for (int i = 0; i < steps; i++)
        if (!(largest[i] <= 3 * median))
            fail_msg("%s, %s, joint %d, axis %d: from %.2f to %.2f degrees a vertex moves by %.3g times the median",
                     r->name, ex_skinning_name(method), joint, axis, from + 0.01 * i, from + 0.01 * (i + 1),
                     largest[i] / median);
}

/* Every joint about every axis. All angles for the first kinds, and those near half turns and rest for all. */
static void steps_are_even(void **state) {
    (void)state;
    rig r;
    for (int k = 0; k < KINDS; k++) {
        open_rig(&r, &kinds[k]);
        for (int method = 0; method < EX_SKINNING_COUNT; method++)
            for (int joint = 0; joint < J; joint++)
                for (int axis = 0; axis < 3; axis++) {
                    sweep(&r, r.rest, (ex_skinning)method, joint, axis, -180, 200);
                    sweep(&r, r.rest, (ex_skinning)method, joint, axis, -1, 200);
                    sweep(&r, r.rest, (ex_skinning)method, joint, axis, 178, 300); /* through a half turn */
                    if (joint == 1 && axis == k % 3)
                        sweep(&r, r.rest, (ex_skinning)method, joint, axis, -180, STEPS);
                }
        close_rig(&r);
    }
}

/* Joints that are turned already: relative to the mesh, a joint can be at any angle when another passes half a turn. */
static void steps_are_even_in_poses(void **state) {
    (void)state;
    rig r;
    for (int k = 0; k < KINDS; k++) {
        open_rig(&r, &kinds[k]);
        ex_transform locals[J];
        for (int j = 0; j < J; j++)
            locals[j] = turn_from_rest(&r.rest[j], j % 3, 70 + 10 * j);
        for (int method = 0; method < EX_SKINNING_COUNT; method++)
            for (int joint = 0; joint < J; joint++) {
                ex_transform others[J];
                memcpy(others, locals, sizeof others);
                others[joint] = r.rest[joint];
                for (int axis = 0; axis < 3; axis++)
                    sweep(&r, others, (ex_skinning)method, joint, axis, 178, 400);
            }
        close_rig(&r);
    }
}

/* The quaternion of a joint is the rotation of its matrix, times its scale, or minus that where it is reflected. */
static void turns_are_rotations_of_matrices(void **state) {
    (void)state;
    rig r;
    uint64_t random = 9;
    float out[V][3];
    for (int k = 0; k < KINDS; k++) {
        if (strcmp(kinds[k].name, "flat") == 0)
            continue; /* a shear has no such scale */
        open_rig(&r, &kinds[k]);
        for (int pose = 0; pose < 50; pose++) {
            ex_transform locals[J];
            for (int j = 0; j < J; j++) {
                const ex_transform any = random_rigid(&random, 1);
                locals[j] = r.rest[j];
                memcpy(locals[j].rotation, any.rotation, sizeof any.rotation);
            }
            evaluate(&r, locals, EX_SKINNING_LINEAR, out);
            for (int j = 0; j < J; j++) {
                ex_transform own = ex_transform_identity();
                double m[12], size = 0;
                memcpy(own.rotation, r.turns[j], sizeof own.rotation);
                oracle_matrix(&own, m);
                for (int i = 0; i < 3; i++)
                    size += (double)r.matrices[j][4 * i] * m[4 * i];
                assert_near(fabs(size), fabs(kinds[k].scale[2]), 1e-6);
                for (int i = 0; i < 12; i++)
                    if (i % 4 != 3 && strcmp(kinds[k].name, "mirrored") != 0)
                        assert_near((double)r.matrices[j][i], size * m[i], 1e-6);
            }
        }
        close_rig(&r);
    }
}

/* Up to 150 degrees from rest, q and -q are the same pose; at 180 they are its two sides. */
static void signs_of_locals_do_not_matter(void **state) {
    (void)state;
    rig r;
    float one[V][3], other[V][3];
    open_rig(&r, &kinds[4]);
    for (int method = 0; method < EX_SKINNING_COUNT; method++)
        for (int degrees = -150; degrees <= 150; degrees += 30) {
            ex_transform locals[J];
            memcpy(locals, r.rest, sizeof locals);
            locals[1] = turn_from_rest(&r.rest[1], 1, degrees);
            evaluate(&r, locals, (ex_skinning)method, one);
            for (int c = 0; c < 4; c++)
                locals[1].rotation[c] = -locals[1].rotation[c];
            evaluate(&r, locals, (ex_skinning)method, other);
            assert_memory_equal(one, other, sizeof one);
        }
    close_rig(&r);
}

/* Two joints a full turn apart, with equal weights: their quaternions cancel, and the vertex follows the heavier, which
 * is listed first. Both methods stay finite and rigid. */
static void sums_that_cancel_follow_one_joint(void **state) {
    (void)state;
    const uint32_t starts[] = {0, 2}, joints[] = {0, 1};
    const float weights[] = {0.5F, 0.5F},
                matrices[24] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
    const float turns[8] = {0, 0, 0, 1, 0, 0, 0, -1}, position[3] = {1, 2, 3};
    ex_skin *skin = NULL;
    const ex_skin_def def = {
        .vertex_count = 1, .joint_count = 2, .starts = starts, .joints = joints, .weights = weights};
    assert_int_equal(ex_skin_create(&def, NULL, &skin, NULL), EX_OK);
    for (int method = 0; method < EX_SKINNING_COUNT; method++) {
        void *memory = malloc(ex_palette_size((ex_skinning)method, 2));
        const ex_palette *palette = ex_palette_make(&(ex_palette_def){.method = (ex_skinning)method,
                                                                      .joint_count = 2,
                                                                      .matrices = matrices,
                                                                      .rotations = true,
                                                                      .turns = turns},
                                                    memory);
        float moved[3];
        double q[4], m[12];
        ex_skin_apply(skin, palette, &(ex_skin_job){.end = 1, .positions = position, .out_positions = moved});
        ex_skin_vertex_rotation(skin, palette, 0, q);
        ex_skin_vertex_matrix(skin, palette, 0, m);
        for (int c = 0; c < 3; c++) {
            assert_near((double)moved[c], (double)position[c], 1e-6);
            assert_near(m[5 * c], 1, 1e-6);
        }
        assert_near(fabs(q[3]), 1, 1e-6);
        free(memory);
    }
    ex_skin_destroy(skin);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_are_even),
        cmocka_unit_test(steps_are_even_in_poses),
        cmocka_unit_test(turns_are_rotations_of_matrices),
        cmocka_unit_test(signs_of_locals_do_not_matter),
        cmocka_unit_test(sums_that_cancel_follow_one_joint),
    };
    return cmocka_run_group_tests_name("runtime/pose/half_turn", tests, NULL, NULL);
}

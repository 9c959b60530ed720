/*
 * Baking rigs that glTF cannot express: the nearest file, its error by the report and by the tests' own viewer, fewer
 * targets and fewer keys on request, and refusals.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "author/bake/bake.h"
#include "author/base/eigen.h"
#include "runtime/base/dense.h"
#include "support/bakes.h"
#include "support/check.h"
#include "support/fail_alloc.h"
#include "support/scratch.h"
#include "support/whole_rigs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static ex_bake_report bake(const ex_rig *rig, const ex_motion *motion, const ex_bake_options *options) {
    ex_error error = {.result = EX_OK};
    ex_bake_report report;
    if (ex_bake_glb(rig, motion, scratch_path("near.glb"), options, &report, &error) != EX_OK)
        fail_msg("%s", error.text);
    return report;
}

/* Error of the file at the frame and vertex that a report names. */
static double miss_at(const ex_rig *rig, const ex_motion *motion, int level, const bool *muted,
                      const ex_bake_error *where) {
    const size_t bytes = (size_t)ex_rig_level_vertex_count(rig, level) * 3 * sizeof(double);
    double *a = malloc(bytes), *b = malloc(bytes), square = 0;
    ex_scene *scene;
    assert_int_equal(ex_scene_read(scratch_path("near.glb"), &scene, NULL), EX_OK);
    bake_truth(rig, motion, where->frame, level, muted, a);
    bake_replay(scene, rig, level, motion->times[where->frame] - motion->times[0], b);
    for (int c = 0; c < 3; c++)
        square += (a[3 * where->vertex + c] - b[3 * where->vertex + c]) *
                  (a[3 * where->vertex + c] - b[3 * where->vertex + c]);
    ex_scene_destroy(scene);
    free(a);
    free(b);
    return sqrt(square);
}

/* Checks that the report agrees with the viewer. */
static ex_bake_report bake_and_play(const ex_rig *rig, const ex_motion *motion, const ex_bake_options *options) {
    const ex_bake_report report = bake(rig, motion, options);
    const ex_bake_error seen = bake_compare(scratch_path("near.glb"), rig, motion, options->level, options->muted);
    assert_near(report.total.largest, seen.largest, 1e-6 * report.size);
    assert_near(report.total.rms, seen.rms, 1e-6 * report.size);
    assert_near(miss_at(rig, motion, options->level, options->muted, &report.total), seen.largest, 1e-6 * report.size);
    return report;
}

/* ---- decomposition ---- */

static void test_dual_quaternions_come_nearer_with_targets(void **state) {
    (void)state;
    ex_rig *rig = bake_arm_rig(9, 6, EX_SKINNING_DUAL_QUATERNION, 0);
    ex_motion *motion = bake_motion(rig, 60, 5, 80);
    double before = INFINITY;
    for (int n = 1; n <= 16; n *= 2) {
        const ex_bake_report report = bake_and_play(rig, motion, &(ex_bake_options){.target_count = n});
        assert_false(report.exact);
        assert_int_equal(report.target_count, n);
        assert_true(report.total.rms < 0.5 * before);
        before = report.total.rms;
    }
    const ex_bake_report chosen = bake_and_play(rig, motion, &(ex_bake_options){.level = 0});
    assert_true(chosen.total.largest <= EX_BAKE_ERROR * chosen.size);
    assert_true(chosen.target_count > 3 && chosen.target_count < 40);
    const ex_bake_report nearer = bake_and_play(rig, motion, &(ex_bake_options){.error_most = 1e-5});
    assert_true(nearer.total.largest <= 1e-5 && nearer.target_count > chosen.target_count);
    bake_motion_free(motion);
    ex_rig_destroy(rig);
}

static void test_offsets_after_posing(void **state) {
    (void)state;
    ex_rig *rig = bake_arm_rig(9, 6, EX_SKINNING_LINEAR, BAKE_SKINNED | BAKE_OFFSETS);
    ex_motion *motion = bake_motion(rig, 40, 5, 80);
    const ex_bake_report report = bake_and_play(rig, motion, &(ex_bake_options){.level = 0});
    assert_false(report.exact);
    assert_true(report.total.largest <= EX_BAKE_ERROR * report.size);
    assert_true(report.target_count > 6); /* the rig's own, and more */
    bake_motion_free(motion);
    ex_rig_destroy(rig);
}

static void test_refined_levels(void **state) {
    (void)state;
    ex_rig *rig = bake_arm_rig(7, 6, EX_SKINNING_LINEAR, 0);
    ex_motion *motion = bake_motion(rig, 30, 5, 80);
    for (int level = EX_LEVEL_LIMIT; level <= 1; level += 2) {
        const ex_bake_report report = bake_and_play(rig, motion, &(ex_bake_options){.level = level});
        assert_false(report.exact);
        assert_true(report.total.largest <= EX_BAKE_ERROR * report.size);
    }
    bake_motion_free(motion);
    ex_rig_destroy(rig);
}

/* Influences of refined vertices are sums of the cage's; and then the heaviest of these. */
static void test_skin_of_a_level(void **state) {
    (void)state;
    whole_rig whole;
    whole_rig_open(&whole, 23, WHOLE_SKELETON | WHOLE_SKIN | WHOLE_LEVELS);
    ex_rig *rig = rig_of(&whole.def);
    const ex_stencils *stencils = ex_rig_stencils(rig);
    const int vertices = ex_rig_level_vertex_count(rig, 1), count = ex_stencils_weight_count(stencils, 1);
    int *offsets = malloc(((size_t)vertices + 1) * sizeof *offsets), *indices = malloc((size_t)count * sizeof *indices);
    double *parts = malloc((size_t)count * sizeof *parts);
    ex_stencils_read(stencils, 1, offsets, indices, parts, NULL);
    for (int most = 1; most <= WHOLE_JOINTS; most += WHOLE_JOINTS - 1) {
        exi_bake b = {.rig = rig,
                      .options = {.influence_most = most},
                      .level = 1,
                      .vertex_count = vertices,
                      .joint_count = WHOLE_JOINTS};
        assert_int_equal(exi_bake_make_skin(&b), EX_OK);
        assert_true((b.full != NULL) == (most == 1));
        for (int v = 0; v < vertices; v++) {
            double expected[WHOLE_JOINTS] = {0}, found[WHOLE_JOINTS] = {0};
            uint32_t joints[WHOLE_JOINTS];
            float weights[WHOLE_JOINTS];
            for (int i = offsets[v]; i < offsets[v + 1]; i++) {
                const int own = ex_skin_influences(ex_rig_skin(rig), indices[i], joints, weights);
                for (int k = 0; k < own; k++)
                    expected[joints[k]] += parts[i] * (double)weights[k];
            }
            double sum = 0; /* the stencils of this rig are arbitrary numbers: negative influences count as none */
            for (int j = 0; j < WHOLE_JOINTS; j++) {
                expected[j] = expected[j] > 0 ? expected[j] : 0;
                sum += expected[j];
            }
            for (int j = 0; j < WHOLE_JOINTS; j++)
                expected[j] /= sum;
            const int kept = ex_skin_influences(b.skin, v, joints, weights);
            assert_true(kept <= most);
            for (int k = 0; k < kept; k++)
                found[joints[k]] = (double)weights[k];
            for (int j = 0; most == 1 && j < WHOLE_JOINTS; j++)
                assert_true(expected[joints[0]] >= expected[j] - 1e-6);
            if (most > 1)
                assert_row_near(found, expected, WHOLE_JOINTS, 1e-6);
        }
        ex_skin_destroy(b.skin);
        ex_skin_destroy(b.full);
    }
    free(offsets);
    free(indices);
    free(parts);
    ex_rig_destroy(rig);
    whole_rig_close(&whole);
}

/* Without a skin the best result of N targets is given by the remaining singular values. */
static void test_against_singular_values(void **state) {
    (void)state;
    enum { FRAMES = 20 };
    ex_rig *rig = bake_arm_rig(5, 4, EX_SKINNING_LINEAR, BAKE_BARE | BAKE_UNUSED | BAKE_SKINNED);
    ex_motion *motion = bake_motion(rig, FRAMES, 5, 80);
    const int numbers = 3 * ex_rig_vertex_count(rig);
    double *columns = malloc((size_t)(FRAMES * numbers) * sizeof *columns), values[FRAMES], v[FRAMES * FRAMES];
    float *rest = malloc((size_t)numbers * sizeof *rest);
    ex_rig_rest_mesh(rig, rest);
    for (int f = 0; f < FRAMES; f++) {
        bake_truth(rig, motion, f, 0, NULL, columns + f * numbers);
        for (int i = 0; i < numbers; i++)
            columns[f * numbers + i] -= (double)rest[i];
    }
    exi_svd(columns, numbers, FRAMES, v, values);
    for (int i = 0; i < FRAMES; i++) /* falling */
        for (int k = i + 1; k < FRAMES; k++)
            if (values[k] > values[i]) {
                const double value = values[i];
                values[i] = values[k];
                values[k] = value;
            }
    for (int n = 1; n <= 3; n++) {
        double left = 0;
        for (int i = n; i < FRAMES; i++)
            left += values[i] * values[i];
        const ex_bake_report report = bake_and_play(rig, motion, &(ex_bake_options){.target_count = n});
        assert_near(report.total.rms, sqrt(left / ((double)FRAMES * numbers / 3)), 1e-7);
    }
    /* No more than it takes. */
    const ex_bake_report all = bake(rig, motion, &(ex_bake_options){.target_count = 64});
    assert_true(all.target_count < 10 && all.total.largest < 1e-6);
    free(columns);
    free(rest);
    bake_motion_free(motion);
    ex_rig_destroy(rig);
}

static void test_eigen(void **state) {
    (void)state;
    double small[4] = {2, 1, 1, 2}, values[12], vectors[144];
    exi_eigen(small, 2, values, vectors);
    assert_row_near(values, ((double[]){3, 1}), 2, 1e-14);
    assert_near(vectors[0] * vectors[1], 0.5, 1e-14); /* along the diagonal */
    uint64_t random = 3;
    double a[144], copy[144];
    for (int i = 0; i < 12; i++)
        for (int k = 0; k <= i; k++)
            a[12 * i + k] = a[12 * k + i] = random_between(&random, -1, 1);
    memcpy(copy, a, sizeof a);
    exi_eigen(copy, 12, values, vectors);
    for (int i = 0; i < 12; i++) {
        assert_true(i == 0 || values[i] <= values[i - 1]);
        for (int r = 0; r < 12; r++) {
            double sum = 0, dot = 0;
            for (int c = 0; c < 12; c++) {
                sum += a[12 * r + c] * vectors[12 * i + c];
                dot += vectors[12 * r + c] * vectors[12 * i + c];
            }
            assert_near(sum, values[i] * vectors[12 * i + r], 1e-13);
            assert_near(dot, r == i, 1e-13);
        }
    }
}

/* ---- keys ---- */

static void test_thinning(void **state) {
    (void)state;
    ex_rig *rig = bake_arm_rig(7, 6, EX_SKINNING_LINEAR, BAKE_OFFSETS);
    ex_motion *motion = bake_motion(rig, 200, 5, 80);
    long before = bake(rig, motion, &(ex_bake_options){.level = 0}).key_count;
    for (double thin = 1e-5; thin < 2e-2; thin *= 10) {
        const ex_bake_report report = bake_and_play(rig, motion, &(ex_bake_options){.thin = thin});
        assert_true(report.exact);
        assert_true(report.total.largest <= thin + 1e-6 * report.size);
        assert_true(report.total.largest > 0.1 * thin); /* the allowed error is used */
        assert_true(report.key_count < before);
        before = report.key_count;
    }
    assert_true(before < 500);
    bake_motion_free(motion);
    ex_rig_destroy(rig);
}

/* A joint that turns steadily needs two keys, one that does not move none. */
static void test_keys_by_hand(void **state) {
    (void)state;
    ex_rig *rig = bake_arm_rig(4, 3, EX_SKINNING_LINEAR, 0);
    bool muted[CHARACTER_LAYERS] = {true, true, true};
    ex_motion *motion = bake_motion(rig, 50, 5, 0);
    for (int f = 0; f < 50; f++) {
        const double half = 0.015 * f;
        ex_rig_rest_pose(rig, &motion->poses[f]);
        motion->poses[f].joints[0].rotation[2] = (float)sin(half);
        motion->poses[f].joints[0].rotation[3] = (float)cos(half);
    }
    ex_bake_report report = bake_and_play(rig, motion, &(ex_bake_options){.muted = muted});
    assert_int_equal(report.key_count, 50);
    report = bake_and_play(rig, motion, &(ex_bake_options){.muted = muted, .thin = 1e-5});
    assert_int_equal(report.key_count, 2);
    bake_motion_free(motion);
    ex_rig_destroy(rig);
}

/* ---- refusals ---- */

static void test_refusals(void **state) {
    (void)state;
    ex_rig *rig = bake_arm_rig(5, 4, EX_SKINNING_DUAL_QUATERNION, 0);
    ex_motion *motion = bake_motion(rig, 20, 5, 80), none = {.pose_count = 0};
    const struct {
        const ex_motion *motion;
        const char *name, *word;
        ex_bake_options options;
        ex_result result;
    } cases[] = {
        {motion, "x.glb", "is allowed", {.target_count = 1, .error_most = 1e-5}, EX_ERROR_DATA},
        {motion,
         "x.glb",
         "influences alone",
         {.target_count = 1, .influence_most = 1, .error_most = 1e-5},
         EX_ERROR_DATA},
        {motion,
         "x.glb",
         "allow more targets, a larger error, or write a point cache",
         {.target_count = 1, .error_most = 1e-5},
         EX_ERROR_DATA},
        {motion, "x.glb", "level 7", {.level = 7}, EX_ERROR_ARGUMENT},
        {motion, "x.glb", "influences", {.influence_most = -1}, EX_ERROR_ARGUMENT},
        {motion, "x.glb", "not be negative", {.target_count = -1}, EX_ERROR_ARGUMENT},
        {motion, "x.glb", "not be negative", {.thin = NAN}, EX_ERROR_ARGUMENT},
        {motion, "x.glb", "not be negative", {.error_most = INFINITY}, EX_ERROR_ARGUMENT},
        {motion, "x.fbx", ".glb", {.level = 0}, EX_ERROR_ARGUMENT},
        {motion, "no/folder/x.glb", "x.glb", {.level = 0}, EX_ERROR_FILE},
        {&none, "x.glb", "no frames", {.level = 0}, EX_ERROR_DATA},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ex_error error = {.result = EX_OK};
        assert_int_equal(
            ex_bake_glb(rig, cases[i].motion, scratch_path(cases[i].name), &cases[i].options, NULL, &error),
            cases[i].result);
        assert_sentence(&error, cases[i].result, cases[i].word);
    }
    ex_error error = {.result = EX_OK};
    motion->times[4] = motion->times[3];
    assert_int_equal(ex_bake_glb(rig, motion, scratch_path("x.glb"), NULL, NULL, &error), EX_ERROR_DATA);
    assert_sentence(&error, EX_ERROR_DATA, "frame 5");
    bake_motion_free(motion);
    ex_rig_destroy(rig);
}

/* ---- memory ---- */

typedef struct attempt {
    ex_rig *rig;
    ex_motion *motion;
    ex_bake_options options;
} attempt;

static ex_result try_baking(void *context) {
    const attempt *a = context;
    ex_error error = {.result = EX_OK};
    const ex_result result = ex_bake_glb(a->rig, a->motion, scratch_path("m.glb"), &a->options, NULL, &error);
    assert_int_equal(error.result, result);
    return result;
}

static void test_memory(void **state) {
    (void)state;
    const struct {
        int parts;
        ex_skinning skinning;
        ex_bake_options options;
    } cases[] = {{BAKE_OFFSETS | BAKE_MOVED, EX_SKINNING_LINEAR, {.thin = 1e-3}},
                 {BAKE_SKINNED, EX_SKINNING_DUAL_QUATERNION, {.level = 1, .influence_most = 1}}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        attempt a = {.rig = bake_arm_rig(4, 3, cases[i].skinning, cases[i].parts), .options = cases[i].options};
        a.motion = bake_motion(a.rig, 3, 5, 60);
        assert_true(fail_alloc_sweep(try_baking, &a) > 100);
        bake_motion_free(a.motion);
        ex_rig_destroy(a.rig);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dual_quaternions_come_nearer_with_targets),
        cmocka_unit_test(test_offsets_after_posing),
        cmocka_unit_test(test_refined_levels),
        cmocka_unit_test(test_skin_of_a_level),
        cmocka_unit_test(test_against_singular_values),
        cmocka_unit_test(test_eigen),
        cmocka_unit_test(test_thinning),
        cmocka_unit_test(test_keys_by_hand),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, scratch_set_up, scratch_tear_down);
}

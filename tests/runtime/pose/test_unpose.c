/*
 * Un-posing: the paper's equation by hand; posed and un-posed again, in double to 1e-12 and through the float skinning;
 * half turns damped and reported, continuously; joints that scale; numbers that are not finite.
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

enum { V = 600, J = 12 };

static float rest[3 * V], posed[3 * V], again[3 * V];
static double out[3 * V];
static ex_damped damped[V];

static ex_skin *one_vertex(int count, const uint32_t *joints, const float *weights) {
    uint32_t starts[2] = {0, (uint32_t)count};
    ex_skin *skin = NULL;
    assert_int_equal(ex_skin_create(&(ex_skin_def){1, 2, starts, joints, weights}, NULL, &skin, NULL), EX_OK);
    return skin;
}

/* The paper's elbow: T0 the identity, T1 a quarter turn about z, alpha a half: M = ((1, -1), (1, 1)) / 2, so that (0,
 * 2) comes from (2, 2). */
static void the_paper_by_hand(void **state) {
    (void)state;
    const float matrices[24] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, -1, 0, 0, 1, 0, 0, 0, 0, 0, 1, 0};
    ex_skin *skin = one_vertex(2, (uint32_t[]){0, 1}, (float[]){0.5f, 0.5f});
    void *memory;
    ex_palette *palette = palette_of(EX_SKINNING_LINEAR, 2, matrices, NULL, &memory);
    const float x[3] = {0, 2, 7}, none[3] = {0};
    double found[3];
    assert_int_equal(ex_skin_unpose(skin, palette, &(ex_unpose_job){.posed = x, .rest = none, .out = found}), 0);
    assert_row_near(found, ((double[]){2, 2, 7}), 3, 1e-15);
    free(memory);
    ex_skin_destroy(skin);
}

/* Joints as in a body: turned by up to 150 degrees and moved; every other one stretched, if requested. */
static void random_matrices(uint64_t *random, bool stretched, float *matrices) {
    for (int j = 0; j < J; j++) {
        ex_transform t = random_rigid(random, 1);
        t.rotation[3] = 0.6f;
        for (int c = 0; stretched && j % 2 && c < 3; c++)
            t.scale[c] = (float)random_between(random, 0.6, 1.6);
        ex_transform_matrix(&t, matrices + 12 * j);
    }
}

static void posed_and_unposed(void **state) {
    (void)state;
    uint64_t random = 111;
    int damped_in_all = 0;
    for (int method = 0; method < EX_SKINNING_COUNT; method++)
        for (int round = 0; round < 24; round++) {
            float matrices[12 * J], centres[3 * J];
            ex_skin *skin = random_skin(&random, V, J, 1 + round % 8);
            void *memory;
            random_matrices(&random, round % 3 == 2, matrices);
            random_rows(&random, centres, J, 3, false);
            ex_palette *palette = palette_of((ex_skinning)method, J, matrices, centres, &memory);
            random_rows(&random, rest, V, 3, false);
            random_rows(&random, posed, V, 3, false); /* sculpts: anywhere */
            ex_unpose_job job = {.posed = posed, .rest = rest, .out = out, .damped = damped, .damped_capacity = V};
            int count = ex_skin_unpose(skin, palette, &job), next = 0;
            assert_true(method == EX_SKINNING_LINEAR || count == 0);
            damped_in_all += count;
            static float found[3 * V];
            for (int i = 0; i < 3 * V; i++)
                found[i] = (float)out[i];
            ex_skin_apply(skin, palette, &(ex_skin_job){.end = V, .positions = found, .out_positions = again});
            for (int v = 0; v < V; v++) {
                double m[12], back[3], off = 0, size = 1;
                ex_skin_vertex_matrix(skin, palette, v, m);
                oracle_apply(m, out + 3 * v, back);
                for (int c = 0; c < 3; c++) {
                    off = fmax(off, fabs(back[c] - (double)posed[3 * v + c]));
                    size = fmax(size, fabs(out[3 * v + c]));
                }
                if (next < count && damped[next].vertex == v) {
                    assert_true(damped[next].stretch < (float)EX_UNPOSE_LIMIT && damped[next].stretch >= 0);
                    assert_true((double)damped[next].residual >= off * (1 - 1e-6));
                    assert_true((double)damped[next].residual <= off * sqrt(3.0) + 1e-6);
                    next++;
                    continue;
                }
                assert_true(off <= 1e-12 * size);
                for (int c = 0; c < 3; c++)
                    assert_near((double)again[3 * v + c], (double)posed[3 * v + c], 4e-6 * size);
            }
            assert_int_equal(next, count);
            /* Rest comes back from its posed form. */
            for (int v = 0; v < V; v++) {
                double m[12], x[3], moved[3];
                ex_skin_vertex_matrix(skin, palette, v, m);
                for (int c = 0; c < 3; c++)
                    x[c] = (double)rest[3 * v + c];
                oracle_apply(m, x, moved);
                for (int c = 0; c < 3; c++)
                    posed[3 * v + c] = (float)moved[c];
            }
            ex_skin_unpose(skin, palette, &job);
            for (int i = 0; i < 3 * V; i++)
                assert_near(out[i], (double)rest[i], 1e-5);
            free(memory);
            ex_skin_destroy(skin);
        }
    assert_true(damped_in_all > 0); /* otherwise the test of the report tests nothing */
}

/* Half a turn about x at equal weights: rank 1. The vertex keeps its place along x exactly and is at rest across; the
 * remainder is the residual. With dual quaternions nothing is damped. */
static void a_half_twist_is_damped(void **state) {
    (void)state;
    const float matrices[24] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, -1, 0, 0, 0, 0, -1, 0};
    ex_skin *skin = one_vertex(2, (uint32_t[]){0, 1}, (float[]){0.5f, 0.5f});
    const float x[3] = {5, 3, 4}, at_rest[3] = {1, 0.5f, 0.25f};
    for (int method = 0; method < EX_SKINNING_COUNT; method++) {
        void *memory;
        ex_palette *palette = palette_of((ex_skinning)method, 2, matrices, NULL, &memory);
        ex_damped report = {0};
        double found[3], m[12], back[3];
        ex_unpose_job job = {.posed = x, .rest = at_rest, .out = found, .damped = &report, .damped_capacity = 1};
        int count = ex_skin_unpose(skin, palette, &job);
        ex_skin_vertex_matrix(skin, palette, 0, m);
        oracle_apply(m, found, back);
        if (method == EX_SKINNING_LINEAR) {
            assert_int_equal(count, 1);
            assert_int_equal(report.vertex, 0);
            assert_near((double)report.stretch, 0, 1e-6);
            assert_near((double)report.residual, 5, 1e-6);
            assert_row_near(found, ((double[]){5, 0.5, 0.25}), 3, 1e-12);
            job.damped = NULL;
            assert_int_equal(ex_skin_unpose(skin, palette, &job), 1);
            job.damped = &report, job.damped_capacity = 0, report.vertex = 77;
            assert_int_equal(ex_skin_unpose(skin, palette, &job), 1);
            assert_int_equal(report.vertex, 77);
        } else {
            assert_int_equal(count, 0);
            assert_row_near(back, ((double[]){5, 3, 4}), 3, 1e-12);
        }
        free(memory);
    }
    ex_skin_destroy(skin);
}

/* Through the limit in small steps of the angle: no jump, exact before, damped beyond, and rest at the end. Also checks
 * the place of the limit: cos(angle / 2) = 0.1 of the result of rigid joints. */
static void damping_is_continuous(void **state) {
    (void)state;
    ex_skin *skin = one_vertex(2, (uint32_t[]){0, 1}, (float[]){0.5f, 0.5f});
    const float x[3] = {0, 1, 0.5f}, at_rest[3] = {0.2f, 0.5f, -0.5f};
    double before[3] = {0}, found[3], step = 0.002;
    bool was_damped = false;
    for (int i = 0; i <= 20000; i++) {
        double angle = 140 + i * step;
        if (angle > 180)
            break;
        ex_transform t = turned(angle, 1, 0, 0);
        float matrices[24] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
        ex_transform_matrix(&t, matrices + 12);
        void *memory;
        ex_palette *palette = palette_of(EX_SKINNING_LINEAR, 2, matrices, NULL, &memory);
        ex_unpose_job job = {.posed = x, .rest = at_rest, .out = found};
        bool is_damped = ex_skin_unpose(skin, palette, &job) == 1;
        assert_true(is_damped == (cos(angle * acos(-1.0) / 360) < 0.1) ||
                    fabs(cos(angle * acos(-1.0) / 360) - 0.1) < 1e-4);
        assert_true(is_damped || !was_damped);
        was_damped = is_damped;
        for (int c = 0; i > 0 && c < 3; c++)
            assert_near(found[c], before[c], 0.02);
        memcpy(before, found, sizeof before);
        free(memory);
    }
    assert_true(was_damped);
    assert_row_near(found, ((double[]){0, 0.5, -0.5}), 3, 1e-3);
    ex_skin_destroy(skin);
}

/* The minimum that the damping promises: no point nearby has a smaller sum. */
static void damping_minimises(void **state) {
    (void)state;
    ex_skin *skin = one_vertex(2, (uint32_t[]){0, 1}, (float[]){0.5f, 0.5f});
    ex_transform t = turned(172, 1, 2, 3);
    t.translation[0] = 1;
    float matrices[24] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
    ex_transform_matrix(&t, matrices + 12);
    void *memory;
    ex_palette *palette = palette_of(EX_SKINNING_LINEAR, 2, matrices, NULL, &memory);
    const float x[3] = {0.3f, 1, -2}, at_rest[3] = {1, -1, 0.5f};
    double found[3], m[12];
    ex_unpose_job job = {.posed = x, .rest = at_rest, .out = found};
    assert_int_equal(ex_skin_unpose(skin, palette, &job), 1);
    ex_skin_vertex_matrix(skin, palette, 0, m);
    const double s = cos(172 * acos(-1.0) / 360), lambda_sq = 0.01 - s * s, axis[3] = {1, 2, 3};
    double least = INFINITY;
    for (int step = 0; step < 27; step++) { /* the first is the place itself */
        double y[3], moved[3], sum = 0, across = 0, along = 0;
        for (int c = 0; c < 3; c++) {
            int digit = (c == 0 ? step : c == 1 ? step / 3 : step / 9) % 3;
            y[c] = found[c] + (digit == 0 ? 0 : digit == 1 ? 1e-4 : -1e-4);
        }
        oracle_apply(m, y, moved);
        for (int c = 0; c < 3; c++) {
            double d = y[c] - (double)at_rest[c];
            sum += (moved[c] - (double)x[c]) * (moved[c] - (double)x[c]);
            across += d * d;
            along += d * axis[c] / sqrt(14.0);
        }
        sum += lambda_sq * (across - along * along); /* the two weak directions are those across the axis */
        if (step == 0)
            least = sum;
        else
            assert_true(sum > least);
    }
    free(memory);
    ex_skin_destroy(skin);
}

/* A character in millimetres is not damped, nor a joint flattened to a fifth; a joint scaled to zero is. */
static void scale_is_no_collapse(void **state) {
    (void)state;
    ex_skin *skin = one_vertex(1, (uint32_t[]){1}, (float[]){1});
    const float x[3] = {1, 2, 3}, at_rest[3] = {4, 5, 6};
    static const float scales[][3] = {{0.001f, 0.001f, 0.001f}, {1000, 1000, 1000}, {1, 1, 0.2f}, {1, 0, 1}, {0, 0, 0}};
    for (int method = 0; method < EX_SKINNING_COUNT; method++)
        for (int i = 0; i < 5; i++) {
            float matrices[24] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
            for (int c = 0; c < 3; c++)
                matrices[12 + 5 * c] = scales[i][c];
            void *memory;
            ex_palette *palette = palette_of((ex_skinning)method, 2, matrices, NULL, &memory);
            double found[3];
            ex_damped report;
            ex_unpose_job job = {.posed = x, .rest = at_rest, .out = found, .damped = &report, .damped_capacity = 1};
            int count = ex_skin_unpose(skin, palette, &job);
            assert_int_equal(count, i >= 3);
            for (int c = 0; c < 3; c++)
                assert_near(found[c], scales[i][c] > 0 ? (double)x[c] / (double)scales[i][c] : (double)at_rest[c],
                            1e-5 * (1 + fabs(found[c])));
            free(memory);
        }
    ex_skin_destroy(skin);
}

/* Joints that only turn leave lengths as they are, so a limit below 1 damps nothing, and one above damps. */
static void turns_do_not_stretch(void **state) {
    (void)state;
    const float x[3] = {1, 2, 3}, at_rest[3] = {4, 5, 6};
    float matrices[24] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
    const ex_transform t = turned(50, 1, 2, 3);
    ex_transform_matrix(&t, matrices + 12);
    ex_skin *skin = one_vertex(1, (uint32_t[]){1}, (float[]){1});
    for (int method = 0; method < EX_SKINNING_COUNT; method++) {
        double found[3];
        void *memory;
        ex_palette *palette = palette_of((ex_skinning)method, 2, matrices, NULL, &memory);
        ex_unpose_job job = {.posed = x, .rest = at_rest, .out = found, .limit = 0.9};
        assert_int_equal(ex_skin_unpose(skin, palette, &job), 0);
        job.limit = 1.1;
        assert_int_equal(ex_skin_unpose(skin, palette, &job), 1);
        free(memory);
    }
    ex_skin_destroy(skin);
}

/* Flattened to 0.07 along one direction, or at 172 degrees with eight influences: below the limit both. */
static void just_below_the_limit(void **state) {
    (void)state;
    const float x[3] = {1, 2, 3}, at_rest[3] = {4, 5, 6};
    float flat[24] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0.07f, 0};
    double found[3];
    void *memory;
    ex_unpose_job job = {.posed = x, .rest = at_rest, .out = found};
    ex_skin *skin = one_vertex(1, (uint32_t[]){1}, (float[]){1});
    ex_palette *palette = palette_of(EX_SKINNING_LINEAR, 2, flat, NULL, &memory);
    assert_int_equal(ex_skin_unpose(skin, palette, &job), 1);
    job.limit = 0.01;
    assert_int_equal(ex_skin_unpose(skin, palette, &job), 0);
    free(memory);
    ex_skin_destroy(skin);
    float matrices[8 * 12], weights[8];
    uint32_t joints[8], starts[2] = {0, 8};
    for (int j = 0; j < 8; j++) {
        ex_transform t = turned(j % 2 ? 172 : 0, 1, 2, 3);
        ex_transform_matrix(&t, matrices + 12 * j);
        joints[j] = (uint32_t)j;
        weights[j] = 1;
    }
    assert_int_equal(ex_skin_create(&(ex_skin_def){1, 8, starts, joints, weights}, NULL, &skin, NULL), EX_OK);
    palette = palette_of(EX_SKINNING_LINEAR, 8, matrices, NULL, &memory);
    job.limit = 0;
    assert_int_equal(ex_skin_unpose(skin, palette, &job), 1);
    free(memory);
    ex_skin_destroy(skin);
}

static void no_numbers_stay_at_rest(void **state) {
    (void)state;
    ex_skin *skin = one_vertex(1, (uint32_t[]){0}, (float[]){1});
    const float matrices[24] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0};
    const float at_rest[3] = {4, 5, 6};
    void *memory;
    ex_palette *palette = palette_of(EX_SKINNING_LINEAR, 2, matrices, NULL, &memory);
    for (int c = 0; c < 3; c++) {
        float x[3] = {1, 2, 3};
        x[c] = c ? NAN : INFINITY;
        double found[3];
        ex_damped report;
        ex_unpose_job job = {.posed = x, .rest = at_rest, .out = found, .damped = &report, .damped_capacity = 1};
        assert_int_equal(ex_skin_unpose(skin, palette, &job), 1);
        assert_true(isinf(report.residual) && report.vertex == 0);
        assert_row_near(found, ((double[]){4, 5, 6}), 3, 0);
    }
    free(memory);
    ex_skin_destroy(skin);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_paper_by_hand),      cmocka_unit_test(posed_and_unposed),
        cmocka_unit_test(a_half_twist_is_damped), cmocka_unit_test(damping_is_continuous),
        cmocka_unit_test(damping_minimises),      cmocka_unit_test(scale_is_no_collapse),
        cmocka_unit_test(just_below_the_limit),   cmocka_unit_test(no_numbers_stay_at_rest),
        cmocka_unit_test(turns_do_not_stretch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

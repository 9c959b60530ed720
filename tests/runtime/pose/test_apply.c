/*
 * Skinning: rigid motions, the sum in double, dual quaternions against the formula on each vertex, half turns,
 * stretches, normals, strides, ranges, boxes; and numbers that could become NaN.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/check.h"
#include "support/poses.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { V = 1003, J = 24 };

static float positions[3 * V], normals[3 * V], tangents[4 * V];
static float out_positions[3 * V], out_normals[3 * V], out_tangents[4 * V];

typedef struct scene {
    ex_skin *skin;
    ex_palette *palette;
    void *memory;
    float matrices[12 * J], centres[3 * J];
} scene;

enum joints { RIGID, STRETCHED, MIRRORED };

/* Runs of about 100 vertices with one influence, with two, with three, and with up to six. */
static ex_skin *regional_skin(uint64_t *random) {
    static uint32_t starts[V + 1], joints[6 * V];
    static float weights[6 * V];
    uint32_t end = 0;
    for (int v = 0; v < V; v++) {
        const int run = v / 97 % 4, count = run < 3 ? 1 + run : 1 + (int)(random_bits(random) % 6);
        for (int i = 0; i < count; i++, end++) {
            joints[end] = (uint32_t)((v / 50 + 5 * i) % J);
            weights[end] = (float)random_between(random, 0.05, 1);
        }
        starts[v + 1] = end;
    }
    ex_skin *skin = NULL;
    assert_int_equal(ex_skin_create(&(ex_skin_def){V, J, starts, joints, weights}, NULL, &skin, NULL), EX_OK);
    return skin;
}

/* most: the most influences of a vertex; 0: as in regional_skin. */
static void open_scene(scene *s, uint64_t random, int most, ex_skinning method, enum joints joints) {
    s->skin = most > 0 ? random_skin(&random, V, J, most) : regional_skin(&random);
    for (int j = 0; j < J; j++) {
        ex_transform t = random_rigid(&random, 1);
        /* Neighbours in a body do not differ by much more than a quarter turn. */
        t.rotation[3] = 2;
        for (int c = 0; joints != RIGID && j % 2 && c < 3; c++)
            t.scale[c] = (float)random_between(&random, 0.5, 1.5);
        if (joints == MIRRORED)
            t.scale[1] = -t.scale[1];
        ex_transform_matrix(&t, s->matrices + 12 * j);
        for (int c = 0; c < 3; c++)
            s->centres[3 * j + c] = (float)random_between(&random, -1, 1);
    }
    s->palette = palette_of(method, J, s->matrices, s->centres, &s->memory);
    random_rows(&random, positions, V, 3, false);
    random_rows(&random, normals, V, 3, true);
    random_rows(&random, tangents, V, 4, true);
}

static void close_scene(scene *s) {
    ex_skin_destroy(s->skin);
    free(s->memory);
}

static ex_skin_job whole_job(void) {
    return (ex_skin_job){.end = V,
                         .positions = positions,
                         .normals = normals,
                         .tangents = tangents,
                         .out_positions = out_positions,
                         .out_normals = out_normals,
                         .out_tangents = out_tangents};
}

static void apply_all(const scene *s) {
    ex_skin_job job = whole_job();
    ex_skin_apply(s->skin, s->palette, &job);
}

static void unit(double v[3]) {
    double length = sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
    for (int c = 0; c < 3; c++)
        v[c] /= length;
}

/* M^-T n, by inverting. */
static void oracle_normal(const double m[12], const float n[3], double out[3]) {
    double inverse[12];
    assert_true(oracle_invert(m, inverse));
    for (int c = 0; c < 3; c++)
        out[c] = inverse[c] * (double)n[0] + inverse[4 + c] * (double)n[1] + inverse[8 + c] * (double)n[2];
    unit(out);
}

static void assert_moved(const double m[12], int v, double tolerance) {
    double x[3], t[3], linear[12], expected[3];
    memcpy(linear, m, sizeof linear);
    linear[3] = linear[7] = linear[11] = 0;
    for (int c = 0; c < 3; c++) {
        x[c] = (double)positions[3 * v + c];
        t[c] = (double)tangents[4 * v + c];
    }
    oracle_apply(m, x, expected);
    for (int c = 0; c < 3; c++)
        assert_near((double)out_positions[3 * v + c], expected[c], tolerance);
    oracle_normal(m, normals + 3 * v, expected);
    for (int c = 0; c < 3; c++)
        assert_near((double)out_normals[3 * v + c], expected[c], 20 * tolerance);
    oracle_apply(linear, t, expected);
    unit(expected);
    for (int c = 0; c < 3; c++)
        assert_near((double)out_tangents[4 * v + c], expected[c], 20 * tolerance);
    assert_true(out_tangents[4 * v + 3] == tangents[4 * v + 3]);
}

/* ---- linear ---- */

static void oracle_linear(const scene *s, int v, double m[12]) {
    uint32_t joints[64];
    float weights[64];
    int count = ex_skin_influences(s->skin, v, joints, weights);
    memset(m, 0, 12 * sizeof *m);
    for (int i = 0; i < count; i++)
        for (int e = 0; e < 12; e++)
            m[e] += (double)weights[i] * (double)s->matrices[12 * joints[i] + (uint32_t)e];
}

static void linear_agrees_with_double(void **state) {
    (void)state;
    static const int most[] = {0, 1, 2, 4, 5, 12};
    for (int i = 0; i < 6; i++)
        for (int joints = RIGID; joints <= MIRRORED; joints++) {
            scene s;
            open_scene(&s, 31 + (uint64_t)i, most[i], EX_SKINNING_LINEAR, (enum joints)joints);
            apply_all(&s);
            for (int v = 0; v < V; v++) {
                double m[12], mine[12];
                oracle_linear(&s, v, m);
                ex_skin_vertex_matrix(s.skin, s.palette, v, mine);
                assert_row_near(mine, m, 12, 1e-14);
                assert_moved(m, v, 2e-6);
            }
            close_scene(&s);
        }
}

/* The identity moves nothing: not a bit for a vertex with one influence, otherwise by rounding of the weights' sum. */
static void identity_moves_nothing(void **state) {
    (void)state;
    for (int method = 0; method < EX_SKINNING_COUNT; method++)
        for (int most = 1; most <= 8; most += 7) {
            scene s;
            open_scene(&s, 41, most, (ex_skinning)method, RIGID);
            free(s.memory);
            for (int i = 0; i < 12 * J; i++)
                s.matrices[i] = i % 12 % 5 == 0;
            s.palette = palette_of((ex_skinning)method, J, s.matrices, s.centres, &s.memory);
            apply_all(&s);
            for (int i = 0; i < 3 * V; i++) {
                assert_near((double)out_positions[i], (double)positions[i], most == 1 ? 0 : 3e-7);
                assert_near((double)out_normals[i], (double)normals[i], 4e-7);
            }
            close_scene(&s);
        }
}

/* All joints moved alike: a body that moves rigidly, whatever the weights. */
static void rigid_motions_stay_rigid(void **state) {
    (void)state;
    uint64_t random = 51;
    for (int method = 0; method < EX_SKINNING_COUNT; method++)
        for (int round = 0; round < 20; round++) {
            scene s;
            open_scene(&s, 52, 7, (ex_skinning)method, RIGID);
            free(s.memory);
            ex_transform t = random_rigid(&random, 5);
            double m[12];
            for (int j = 0; j < J; j++)
                ex_transform_matrix(&t, s.matrices + 12 * j);
            s.palette = palette_of((ex_skinning)method, J, s.matrices, s.centres, &s.memory);
            oracle_matrix(&t, m);
            apply_all(&s);
            for (int v = 0; v < V; v++)
                assert_moved(m, v, 3e-6);
            close_scene(&s);
        }
}

/* ---- dual quaternion ---- */

/* Quaternion product. */
static void times(const double a[4], const double b[4], double out[4]) {
    double r[4] = {
        a[3] * b[0] + a[0] * b[3] + a[1] * b[2] - a[2] * b[1], a[3] * b[1] - a[0] * b[2] + a[1] * b[3] + a[2] * b[0],
        a[3] * b[2] + a[0] * b[1] - a[1] * b[0] + a[2] * b[3], a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2]};
    memcpy(out, r, sizeof r);
}

/* Rigid joints given as transforms: sum of w (q + e t q / 2), signs by the heaviest; then x' = q x q* + 2 d q*. */
static void oracle_dual(const ex_transform *transforms, const uint32_t *joints, const float *weights, int count,
                        const double x[3], double out[3]) {
    double real[4] = {0}, dual[4] = {0}, first[4] = {0}, length = 0;
    for (int i = 0; i < count; i++) {
        const ex_transform *t = &transforms[joints[i]];
        double q[4], d[4], move[4] = {0}, n = 0, side = 0;
        for (int c = 0; c < 4; c++)
            n += (double)t->rotation[c] * (double)t->rotation[c];
        for (int c = 0; c < 4; c++) {
            q[c] = (double)t->rotation[c] / sqrt(n);
            move[c] = c < 3 ? (double)t->translation[c] / 2 : 0;
            first[c] = i == 0 ? q[c] : first[c];
            side += q[c] * first[c];
        }
        times(move, q, d);
        for (int c = 0; c < 4; c++) {
            real[c] += (double)weights[i] * (side < 0 ? -q[c] : q[c]);
            dual[c] += (double)weights[i] * (side < 0 ? -d[c] : d[c]);
        }
    }
    for (int c = 0; c < 4; c++)
        length += real[c] * real[c];
    for (int c = 0; c < 4; c++) {
        real[c] /= sqrt(length);
        dual[c] /= sqrt(length);
    }
    double conjugate[4] = {-real[0], -real[1], -real[2], real[3]}, point[4] = {x[0], x[1], x[2], 0}, r[4], move[4];
    times(real, point, r);
    times(r, conjugate, r);
    times(dual, conjugate, move);
    for (int c = 0; c < 3; c++)
        out[c] = r[c] + 2 * move[c];
}

static void dual_quaternions_agree_with_the_formula(void **state) {
    (void)state;
    static const int most[] = {0, 1, 2, 4, 9};
    for (int i = 0; i < 5; i++) {
        uint64_t random = 61 + (uint64_t)i;
        ex_transform transforms[J];
        scene s;
        open_scene(&s, 60, most[i], EX_SKINNING_DUAL_QUATERNION, RIGID);
        free(s.memory);
        for (int j = 0; j < J; j++) {
            transforms[j] = random_rigid(&random, 1); /* all possible rotations */
            ex_transform_matrix(&transforms[j], s.matrices + 12 * j);
        }
        s.palette = palette_of(EX_SKINNING_DUAL_QUATERNION, J, s.matrices, NULL, &s.memory);
        apply_all(&s);
        for (int v = 0; v < V; v++) {
            uint32_t joints[64];
            float weights[64];
            double x[3], expected[3], m[12], mine[3];
            int count = ex_skin_influences(s.skin, v, joints, weights);
            for (int c = 0; c < 3; c++)
                x[c] = (double)positions[3 * v + c];
            oracle_dual(transforms, joints, weights, count, x, expected);
            ex_skin_vertex_matrix(s.skin, s.palette, v, m);
            oracle_apply(m, x, mine);
            assert_row_near(mine, expected, 3, 2e-6);
            assert_moved(m, v, 5e-6);
            /* A rotation: its inverse is its transpose. */
            for (int a = 0; a < 3; a++)
                for (int b = 0; b < 3; b++)
                    assert_near(m[4 * a] * m[4 * b] + m[4 * a + 1] * m[4 * b + 1] + m[4 * a + 2] * m[4 * b + 2], a == b,
                                1e-12);
        }
        close_scene(&s);
    }
}

/* A single joint moves by its matrix, including stretch and mirroring; blends agree with the matrix in double. */
static void stretches_come_first(void **state) {
    (void)state;
    static const int most[] = {1, 4, 9};
    for (int i = 0; i < 3; i++)
        for (int joints = STRETCHED; joints <= MIRRORED; joints++) {
            scene s;
            open_scene(&s, 71, most[i], EX_SKINNING_DUAL_QUATERNION, (enum joints)joints);
            apply_all(&s);
            for (int v = 0; v < V; v++) {
                double m[12], expected[12];
                ex_skin_vertex_matrix(s.skin, s.palette, v, m);
                oracle_linear(&s, v, expected);
                if (most[i] == 1)
                    assert_row_near(m, expected, 12, 2e-6);
                /* Mirrored joints stretch by negative amounts, which may cancel. */
                double det = m[0] * (m[5] * m[10] - m[6] * m[9]) - m[1] * (m[4] * m[10] - m[6] * m[8]) +
                             m[2] * (m[4] * m[9] - m[5] * m[8]);
                if (fabs(det) > 0.2)
                    assert_moved(m, v, 5e-6);
            }
            close_scene(&s);
        }
}

/* A joint flattened to a line or a plane, or sheared, still moves by its matrix. */
static void flat_joints_are_exact(void **state) {
    (void)state;
    uint64_t random = 75;
    const uint32_t starts[2] = {0, 1}, joint = 0;
    const float weight = 1;
    ex_skin *skin = NULL;
    assert_int_equal(ex_skin_create(&(ex_skin_def){1, 1, starts, &joint, &weight}, NULL, &skin, NULL), EX_OK);
    for (int round = 0; round < 200; round++) {
        float rows[4][3], matrix[12] = {0};
        void *memory;
        double m[12];
        random_rows(&random, &rows[0][0], 4, 3, true);
        for (int i = 0; round % 4 == 0 && i < 6; i++) /* integers: a line to the last bit */
            rows[i / 3][i % 3] = rintf(3 * rows[i / 3][i % 3]);
        for (int i = 0; round % 8 == 0 && i < 3; i++)
            rows[1][i] = -rows[0][i];
        for (int i = 0; i < 12; i++)
            matrix[i] =
                i % 4 == 3 ? 1 : rows[0][i / 4] * rows[1][i % 4] + (round % 2 ? rows[2][i / 4] * rows[3][i % 4] : 0);
        for (int i = 0; round % 16 == 5 && i < 12; i++) /* rows of length 1 that are not perpendicular */
            matrix[i] = i % 4 == 3 ? 1 : rows[i / 4][i % 4];
        ex_palette *palette = palette_of(EX_SKINNING_DUAL_QUATERNION, 1, matrix, NULL, &memory);
        ex_skin_vertex_matrix(skin, palette, 0, m);
        for (int i = 0; i < 12; i++)
            assert_near(m[i], (double)matrix[i], 1e-5);
        free(memory);
    }
    ex_skin_destroy(skin);
}

/* Two joints with a common centre, one turned and scaled about it: the centre stays with any blend. */
static void a_shared_centre_stays(void **state) {
    (void)state;
    const float centre[3] = {0.5f, 3, -1}, centres[6] = {0.5f, 3, -1, 0.5f, 3, -1};
    for (int step = 1; step < 8; step++) {
        ex_transform t = turned(100, 1, 2, 0);
        t.scale[0] = 1.5f, t.scale[1] = 0.5f;
        double m[12], place[3] = {0.5, 3, -1}, moved[3];
        oracle_matrix(&t, m);
        oracle_apply(m, place, moved);
        for (int c = 0; c < 3; c++)
            t.translation[c] = (float)(place[c] - moved[c]);
        float matrices[24] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}, weights[2] = {1 - (float)step / 8, (float)step / 8};
        ex_transform_matrix(&t, matrices + 12);
        const uint32_t starts[2] = {0, 2}, joints[2] = {0, 1};
        ex_skin *skin = NULL;
        assert_int_equal(ex_skin_create(&(ex_skin_def){1, 2, starts, joints, weights}, NULL, &skin, NULL), EX_OK);
        void *memory;
        ex_palette *palette = palette_of(EX_SKINNING_DUAL_QUATERNION, 2, matrices, centres, &memory);
        float out[3];
        ex_skin_apply(skin, palette, &(ex_skin_job){.end = 1, .positions = centre, .out_positions = out});
        for (int c = 0; c < 3; c++)
            assert_near((double)out[c], place[c], 3e-6);
        free(memory);
        ex_skin_destroy(skin);
    }
}

/* Half a turn about x, weights a half each: the linear tube collapses onto its axis, the other keeps its radius. On the
 * collapsed line no normal is NaN. */
static void a_half_twist(void **state) {
    (void)state;
    float matrices[24] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, -1, 0, 0, 0, 0, -1, 0};
    float ring[3 * 8], around[3 * 8], out[3 * 8], out_around[3 * 8], weights[16];
    uint32_t starts[9], joints[16];
    for (int v = 0; v < 8; v++) {
        double angle = v * acos(-1.0) / 4;
        ring[3 * v] = around[3 * v] = 0;
        ring[3 * v + 1] = around[3 * v + 1] = (float)cos(angle);
        ring[3 * v + 2] = around[3 * v + 2] = (float)sin(angle);
        starts[v] = 2 * (uint32_t)v;
        joints[2 * v] = 0, joints[2 * v + 1] = 1;
        weights[2 * v] = weights[2 * v + 1] = 0.5f;
    }
    starts[8] = 16;
    ex_skin *skin = NULL;
    assert_int_equal(ex_skin_create(&(ex_skin_def){8, 2, starts, joints, weights}, NULL, &skin, NULL), EX_OK);
    for (int method = 0; method < EX_SKINNING_COUNT; method++) {
        void *memory;
        ex_palette *palette = palette_of((ex_skinning)method, 2, matrices, NULL, &memory);
        ex_skin_job job = {
            .end = 8, .positions = ring, .normals = around, .out_positions = out, .out_normals = out_around};
        ex_skin_apply(skin, palette, &job);
        for (int v = 0; v < 8; v++) {
            double radius = hypot((double)out[3 * v + 1], (double)out[3 * v + 2]);
            assert_near(radius, method == EX_SKINNING_LINEAR ? 0 : 1, 1e-6);
            double length = 0;
            for (int c = 0; c < 3; c++)
                length += (double)out_around[3 * v + c] * (double)out_around[3 * v + c];
            assert_near(length, 1, 1e-5);
        }
        free(memory);
    }
    ex_skin_destroy(skin);
}

/* ---- normals ---- */

/* A tangent that was perpendicular to a normal is so afterwards. */
static void normals_stay_perpendicular(void **state) {
    (void)state;
    for (int method = 0; method < EX_SKINNING_COUNT; method++)
        for (int joints = RIGID; joints <= STRETCHED; joints++) {
            scene s;
            open_scene(&s, 81, 6, (ex_skinning)method, (enum joints)joints);
            for (int v = 0; v < V; v++) {
                float *t = tangents + 4 * v, *n = normals + 3 * v, along = t[0] * n[0] + t[1] * n[1] + t[2] * n[2];
                for (int c = 0; c < 3; c++)
                    t[c] -= along * n[c];
            }
            apply_all(&s);
            for (int v = 0; v < V; v++) {
                double product = 0, length = 0;
                for (int c = 0; c < 3; c++) {
                    product += (double)out_normals[3 * v + c] * (double)out_tangents[4 * v + c];
                    length += (double)out_normals[3 * v + c] * (double)out_normals[3 * v + c];
                }
                assert_near(product, 0, 4e-6);
                assert_near(length, 1, 1e-6);
            }
            close_scene(&s);
        }
}

/* Joints scaled to zero, or to the largest number; palettes of NaN; normals of length 0. */
static void nothing_comes_out_nan(void **state) {
    (void)state;
    static const float scales[] = {0, 1e-20f, 1e-12f, 1e-6f, 1e6f, 1e12f, 1e13f, 1e30f, NAN, INFINITY};
    for (int method = 0; method < EX_SKINNING_COUNT; method++)
        for (int i = 0; i < 10; i++)
            for (int flat = 0; flat < 2; flat++) {
                scene s;
                open_scene(&s, 91, flat ? 5 : 4, (ex_skinning)method, RIGID);
                free(s.memory);
                for (int e = 0; e < 12 * J; e++)
                    if (!flat || e % 4 == 1)
                        s.matrices[e] *= scales[i];
                s.palette = palette_of((ex_skinning)method, J, s.matrices, s.centres, &s.memory);
                memset(normals + 30, 0, 30 * sizeof *normals);
                memset(tangents + 80, 0, 30 * sizeof *tangents);
                apply_all(&s);
                for (int v = 0; v < V; v++)
                    for (int c = 0; c < 3; c++) {
                        assert_true(isfinite(out_positions[3 * v + c]));
                        assert_true(fabsf(out_normals[3 * v + c]) <= 1.00001f);
                        assert_true(fabsf(out_tangents[4 * v + c]) <= 1.00001f);
                    }
                assert_memory_equal(out_normals + 30, normals + 30, 30 * sizeof *normals);
                ex_skin_job job = whole_job(); /* the usual path too */
                static float same[3 * V];
                job.tangents = NULL;
                memcpy(same, out_normals, sizeof same);
                memset(out_normals, 0xFF, sizeof out_normals);
                ex_skin_apply(s.skin, s.palette, &job);
                assert_memory_equal(out_normals, same, sizeof same);
                if (scales[i] == 0 && !flat)
                    assert_memory_equal(out_normals, normals, sizeof normals);
                close_scene(&s);
            }
}

/* Small scales still have normals. */
static void small_bodies_have_normals(void **state) {
    (void)state;
    for (int method = 0; method < EX_SKINNING_COUNT; method++) {
        scene s;
        open_scene(&s, 92, 4, (ex_skinning)method, RIGID);
        float expected[3 * V];
        ex_skin_job job = whole_job();
        job.tangents = NULL;
        ex_skin_apply(s.skin, s.palette, &job);
        memcpy(expected, out_normals, sizeof expected);
        free(s.memory);
        for (int e = 0; e < 12 * J; e++)
            s.matrices[e] *= 0.001f;
        s.palette = palette_of((ex_skinning)method, J, s.matrices, NULL, &s.memory);
        ex_skin_apply(s.skin, s.palette, &job);
        for (int e = 0; e < 3 * V; e++)
            assert_near((double)out_normals[e], (double)expected[e], 1e-5);
        close_scene(&s);
    }
}

/* ---- streams and ranges ---- */

/* With any division of a range, and with any other outputs, the bits are the same; also in place. */
static void cuts_do_not_matter(void **state) {
    (void)state;
    uint64_t random = 95;
    for (int method = 0; method < EX_SKINNING_COUNT; method++)
        for (int most = 0; most <= 6; most += most < 2 ? 1 : 2)
            for (int joints = RIGID; joints <= MIRRORED; joints++) {
                scene s;
                open_scene(&s, 96, most, (ex_skinning)method, (enum joints)joints);
                static float whole_positions[3 * V], whole_normals[3 * V], whole_tangents[4 * V];
                apply_all(&s);
                memcpy(whole_positions, out_positions, sizeof whole_positions);
                memcpy(whole_normals, out_normals, sizeof whole_normals);
                memcpy(whole_tangents, out_tangents, sizeof whole_tangents);
                for (int round = 0; round < 6; round++) {
                    bool in_place = round >= 4;
                    static float p[3 * V], n[3 * V], t[4 * V];
                    memcpy(p, positions, sizeof p);
                    memcpy(n, normals, sizeof n);
                    memcpy(t, tangents, sizeof t);
                    memset(out_positions, 0, sizeof out_positions);
                    memset(out_normals, 0, sizeof out_normals);
                    memset(out_tangents, 0, sizeof out_tangents);
                    for (int begin = 0, end; begin < V; begin = end) {
                        end = begin + (int)(random_bits(&random) % (round % 2 ? 7 : 90));
                        end = end < V ? end : V;
                        ex_skin_job job = {.begin = begin,
                                           .end = end,
                                           .positions = p + 3 * begin,
                                           .normals = n + 3 * begin,
                                           .out_positions = in_place ? p + 3 * begin : out_positions + 3 * begin,
                                           .out_normals = in_place ? n + 3 * begin : out_normals + 3 * begin};
                        if (round % 3) {
                            job.tangents = t + 4 * begin;
                            job.out_tangents = in_place ? t + 4 * begin : out_tangents + 4 * begin;
                        }
                        ex_skin_apply(s.skin, s.palette, &job);
                    }
                    assert_memory_equal(in_place ? p : out_positions, whole_positions, sizeof p);
                    assert_memory_equal(in_place ? n : out_normals, whole_normals, sizeof n);
                    if (round % 3)
                        assert_memory_equal(in_place ? t : out_tangents, whole_tangents, sizeof t);
                }
                close_scene(&s);
            }
}

/* One stream alone, any stride, gaps unchanged. */
static void strides_leave_gaps_alone(void **state) {
    (void)state;
    static const size_t strides[] = {12, 16, 20, 32, 48};
    static char in[V * 48], out[V * 48];
    scene s;
    open_scene(&s, 97, 6, EX_SKINNING_LINEAR, STRETCHED);
    apply_all(&s);
    for (int a = 0; a < 5; a++)
        for (int b = 0; b < 5; b++)
            for (int kind = 0; kind < 3; kind++) {
                if (kind == 2 && (a == 0 || b == 0))
                    continue;
                size_t width = kind == 2 ? 16 : 12;
                const float *from = kind == 0 ? positions : kind == 1 ? normals : tangents;
                const float *expected = kind == 0 ? out_positions : kind == 1 ? out_normals : out_tangents;
                memset(in, 0x55, sizeof in);
                memset(out, 0x77, sizeof out);
                for (size_t v = 0; v < V; v++)
                    memcpy(in + v * strides[a], (const char *)from + v * width, width);
                ex_skin_job job = {.end = V};
                float *to = (float *)(void *)out;
                const float *source = (const float *)(const void *)in;
                if (kind == 0)
                    job.positions = source, job.out_positions = to;
                else if (kind == 1)
                    job.normals = source, job.out_normals = to;
                else
                    job.tangents = source, job.out_tangents = to;
                job.position_stride = job.normal_stride = job.tangent_stride = strides[a];
                job.out_position_stride = job.out_normal_stride = job.out_tangent_stride = strides[b];
                ex_skin_apply(s.skin, s.palette, &job);
                for (size_t v = 0; v < V; v++) {
                    assert_memory_equal(out + v * strides[b], (const char *)expected + v * width, width);
                    for (size_t i = width; i < strides[b]; i++)
                        assert_int_equal(out[v * strides[b] + i], 0x77);
                }
                for (size_t i = V * strides[b]; i < sizeof out; i++)
                    assert_int_equal(out[i], 0x77);
            }
    close_scene(&s);
}

/* Positions packed and normals not, or the other way round. */
static void streams_have_strides_of_their_own(void **state) {
    (void)state;
    static float wide[4 * V], out_wide[4 * V];
    scene s;
    open_scene(&s, 99, 4, EX_SKINNING_LINEAR, STRETCHED);
    apply_all(&s);
    for (int round = 0; round < 4; round++) {
        static float p[3 * V], n[3 * V];
        bool in = round % 2 == 0, of_normals = round < 2;
        for (int v = 0; v < V; v++)
            memcpy(wide + 4 * v, (of_normals ? normals : positions) + 3 * v, 12);
        ex_skin_job job = {.end = V, .positions = positions, .normals = normals, .out_positions = p, .out_normals = n};
        if (of_normals && in)
            job.normals = wide, job.normal_stride = 16;
        else if (of_normals)
            job.out_normals = out_wide, job.out_normal_stride = 16;
        else if (in)
            job.positions = wide, job.position_stride = 16;
        else
            job.out_positions = out_wide, job.out_position_stride = 16;
        ex_skin_apply(s.skin, s.palette, &job);
        for (int v = 0; !in && v < V; v++)
            memcpy((of_normals ? n : p) + 3 * v, out_wide + 4 * v, 12);
        assert_memory_equal(p, out_positions, sizeof p);
        assert_memory_equal(n, out_normals, sizeof n);
    }
    close_scene(&s);
}

static void boxes_hold_what_was_moved(void **state) {
    (void)state;
    scene s;
    open_scene(&s, 98, 6, EX_SKINNING_LINEAR, RIGID);
    float box[6] = {FLT_MAX, FLT_MAX, FLT_MAX, -FLT_MAX, -FLT_MAX, -FLT_MAX}, expected[6];
    memcpy(expected, box, sizeof box);
    ex_skin_job job = whole_job();
    job.begin = 5, job.end = 700, job.box = box;
    ex_skin_apply(s.skin, s.palette, &job);
    for (int v = 0; v < 695; v++)
        for (int c = 0; c < 3; c++) {
            expected[c] = fminf(expected[c], out_positions[3 * v + c]);
            expected[3 + c] = fmaxf(expected[3 + c], out_positions[3 * v + c]);
        }
    assert_memory_equal(box, expected, sizeof box);
    close_scene(&s);
}

static int misuses;
static void count_misuse(const char *function, const char *what) {
    (void)function;
    (void)what;
    misuses++;
}

/* Nothing is written with a stride or at an address that is not a multiple of four bytes, or with too small a stride.
 */
static void unaligned_rows_are_misuse(void **state) {
    (void)state;
    scene s;
    open_scene(&s, 5, 4, EX_SKINNING_LINEAR, RIGID);
    memset(out_positions, 0x77, sizeof out_positions);
    ex_set_misuse_hook(count_misuse);
    misuses = 0;
    for (int stream = 0; stream < 6; stream++)
        for (int i = 0; i < 3; i++) {
            ex_skin_job job = whole_job();
            size_t *const strides[] = {&job.position_stride,     &job.normal_stride,     &job.tangent_stride,
                                       &job.out_position_stride, &job.out_normal_stride, &job.out_tangent_stride};
            *strides[stream] = (size_t[]){17, 18, 8}[i];
            ex_skin_apply(s.skin, s.palette, &job);
        }
    ex_skin_job job = whole_job();
    job.out_positions = (float *)((uintptr_t)job.out_positions + 2);
    ex_skin_apply(s.skin, s.palette, &job);
    ex_set_misuse_hook(NULL);
    assert_int_equal(misuses, 19);
    for (size_t i = 0; i < sizeof out_positions; i++)
        assert_int_equal(((char *)out_positions)[i], 0x77);
    close_scene(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(linear_agrees_with_double),  cmocka_unit_test(identity_moves_nothing),
        cmocka_unit_test(rigid_motions_stay_rigid),   cmocka_unit_test(dual_quaternions_agree_with_the_formula),
        cmocka_unit_test(stretches_come_first),       cmocka_unit_test(flat_joints_are_exact),
        cmocka_unit_test(a_shared_centre_stays),      cmocka_unit_test(a_half_twist),
        cmocka_unit_test(normals_stay_perpendicular), cmocka_unit_test(nothing_comes_out_nan),
        cmocka_unit_test(small_bodies_have_normals),  cmocka_unit_test(cuts_do_not_matter),
        cmocka_unit_test(strides_leave_gaps_alone),   cmocka_unit_test(streams_have_strides_of_their_own),
        cmocka_unit_test(boxes_hold_what_was_moved),  cmocka_unit_test(unaligned_rows_are_misuse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

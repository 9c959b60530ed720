/*
 * Tangents for normal maps: by hand on a quad in every orientation of its texture and on a mirror seam; against the
 * formulas solved another way on a crumpled sheet; the same under rigid motion and any division of the work; finite for
 * any input.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <exemplar/refine.h>

#include "support/check.h"
#include "support/failing_allocator.h"
#include "support/poses.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static ex_tangents *create(const ex_tangents_def *def) {
    ex_tangents *tangents = NULL;
    ex_error error = {.result = EX_OK};
    if (ex_tangents_create(def, NULL, &tangents, &error))
        fail_msg("%s", error.text);
    assert_int_equal(ex_tangents_split_count(tangents), def->split_count);
    return tangents;
}

static void compute(const ex_tangents *tangents, const float *positions, const float *normals, float *out) {
    void *scratch = malloc(ex_tangents_scratch_size(tangents));
    ex_tangents_compute(tangents, &(ex_tangents_job){.positions = positions, .normals = normals, .out = out}, NULL,
                        scratch);
    free(scratch);
}

static void assert_tangent(const float *t, double x, double y, double z, double sign) {
    const double got[4] = {(double)t[0], (double)t[1], (double)t[2], (double)t[3]}, expected[4] = {x, y, z, sign};
    assert_row_near(got, expected, 4, 1e-6);
}

static const float quad[4][3] = {{0, 0, 0}, {2, 0, 0}, {2, 1, 0}, {0, 1, 0}};
static const float up[4][3] = {{0, 0, 1}, {0, 0, 1}, {0, 0, 1}, {0, 0, 1}};
static const uint32_t quad_triangles[] = {0, 1, 2, 0, 2, 3};

/* A quad that faces z. The image upright on it: u to the right, v down; (1, 0, 0, 1) as glTF has it. Then turned by
 * quarters, and mirrored. */
static void quads_by_hand(void **state) {
    (void)state;
    static const struct {
        float texcoords[4][2];
        double tangent[4];
    } cases[] = {
        {{{0, 1}, {1, 1}, {1, 0}, {0, 0}}, {1, 0, 0, 1}},   {{{0, 0}, {0, 1}, {1, 1}, {1, 0}}, {0, 1, 0, 1}},
        {{{1, 0}, {0, 0}, {0, 1}, {1, 1}}, {-1, 0, 0, 1}},  {{{1, 1}, {1, 0}, {0, 0}, {0, 1}}, {0, -1, 0, 1}},
        {{{1, 1}, {0, 1}, {0, 0}, {1, 0}}, {-1, 0, 0, -1}}, {{{0, 0}, {1, 0}, {1, 1}, {0, 1}}, {1, 0, 0, -1}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        float out[4][4];
        ex_tangents *t = create(&(ex_tangents_def){.vertex_count = 4,
                                                   .split_count = 4,
                                                   .texcoords = cases[i].texcoords[0],
                                                   .triangle_count = 2,
                                                   .triangles = quad_triangles});
        compute(t, quad[0], up[0], out[0]);
        const double *e = cases[i].tangent;
        for (int v = 0; v < 4; v++) {
            assert_tangent(out[v], e[0], e[1], e[2], e[3]);
            /* The bitangent points to smaller v: from the corner with v = 1 to that with v = 0. */
            const double b[2] = {-e[3] * e[1], e[3] * e[0]};
            for (int a = 0; a < 4; a++)
                for (int c = 0; c < 4; c++)
                    if (cases[i].texcoords[a][1] > cases[i].texcoords[c][1])
                        assert_true(
                            b[0] * (double)(quad[c][0] - quad[a][0]) + b[1] * (double)(quad[c][1] - quad[a][1]) >= 0);
        }
        ex_tangents_destroy(t);
    }
    /* Leaning normals: made perpendicular. */
    const float texcoords[4][2] = {{0, 1}, {1, 1}, {1, 0}, {0, 0}};
    float leaning[4][3], out[4][4];
    for (int v = 0; v < 4; v++)
        leaning[v][0] = 0.6f, leaning[v][1] = 0, leaning[v][2] = 0.8f;
    ex_tangents *t = create(&(ex_tangents_def){4, 4, NULL, texcoords[0], 2, quad_triangles});
    compute(t, quad[0], leaning[0], out[0]);
    for (int v = 0; v < 4; v++)
        assert_tangent(out[v], 0.8, 0, -0.6, 1);
    ex_tangents_destroy(t);
}

/* Around vertex 0: 90 degrees with u along x, 45 degrees with u along y. */
static void weighted_by_angle(void **state) {
    (void)state;
    const float points[5][3] = {{0, 0, 0}, {1, 0, 0}, {0, 3, 0}, {-9, 9, 0}};
    const float normals[5][3] = {{0, 0, 1}, {0, 0, 1}, {0, 0, 1}, {0, 0, 1}};
    /* Split vertex 0 is shared by both; 2 and 3 are vertex 2 with either texture. In the second, u = y and v = x. */
    const uint32_t sources[] = {0, 1, 2, 2, 3}, triangles[] = {0, 1, 2, 0, 3, 4};
    const float texcoords[5][2] = {{0, 0}, {1, 0}, {0, -3}, {3, 0}, {9, -9}};
    float out[5][4];
    ex_tangents *t = create(&(ex_tangents_def){4, 5, sources, texcoords[0], 2, triangles});
    compute(t, points[0], normals[0], out[0]);
    assert_tangent(out[1], 1, 0, 0, 1);
    assert_tangent(out[2], 1, 0, 0, 1);
    assert_tangent(out[3], 0, 1, 0, 1);
    assert_tangent(out[4], 0, 1, 0, 1);
    assert_tangent(out[0], 2 / sqrt(5), 1 / sqrt(5), 0, 1);
    ex_tangents_destroy(t);
}

/* Two halves that mirror each other meet at split vertices 0 and 1, as on many faces: u runs outwards on both. Each end
 * of the seam follows the side that has the larger angle there. */
static void mirror_seam(void **state) {
    (void)state;
    const float points[4][3] = {{0, 0, 0}, {0, 1, 0}, {1, 0.25f, 0}, {-1, 0.5f, 0}};
    const uint32_t triangles[] = {0, 2, 1, 0, 1, 3};
    const float texcoords[4][2] = {{0, 0}, {0, -1}, {1, -0.25f}, {1, -0.5f}};
    float out[4][4];
    ex_tangents *t = create(&(ex_tangents_def){4, 4, NULL, texcoords[0], 2, triangles});
    compute(t, points[0], up[0], out[0]);
    assert_tangent(out[2], 1, 0, 0, 1);
    assert_tangent(out[3], -1, 0, 0, -1);
    assert_tangent(out[0], 1, 0, 0, 1);
    assert_tangent(out[1], -1, 0, 0, -1);
    ex_tangents_destroy(t);
}

/* ---- a crumpled sheet with a seam down its middle ---- */

enum { SIDE = 41, VERTICES = SIDE * SIDE, SPLITS = VERTICES + SIDE, TRIANGLES = 2 * (SIDE - 1) * (SIDE - 1) };

typedef struct sheet {
    float positions[VERTICES][3], normals[VERTICES][3], texcoords[SPLITS][2];
    uint32_t sources[SPLITS], triangles[TRIANGLES][3];
    ex_tangents_def def;
} sheet;

static sheet *open_sheet(uint64_t random) {
    sheet *s = calloc(1, sizeof *s);
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++) {
            const int v = y * SIDE + x;
            s->positions[v][0] = (float)(x + random_between(&random, -0.3, 0.3));
            s->positions[v][1] = (float)(y + random_between(&random, -0.3, 0.3));
            s->positions[v][2] = (float)random_between(&random, -0.3, 0.3);
            double n[3] = {random_between(&random, -0.5, 0.5), random_between(&random, -0.5, 0.5), 1};
            const double length = sqrt(n[0] * n[0] + n[1] * n[1] + 1);
            for (int c = 0; c < 3; c++)
                s->normals[v][c] = (float)(n[c] / length);
            s->sources[v] = (uint32_t)v;
            s->texcoords[v][0] = (float)(x + random_between(&random, -0.2, 0.2)) / SIDE;
            s->texcoords[v][1] = -(float)(y + random_between(&random, -0.2, 0.2)) / SIDE;
        }
    /* Right of the seam the texture is reversed. */
    for (int y = 0; y < SIDE; y++) {
        const int v = y * SIDE + SIDE / 2;
        s->sources[VERTICES + y] = (uint32_t)v;
        s->texcoords[VERTICES + y][0] = 1 - s->texcoords[v][0];
        s->texcoords[VERTICES + y][1] = s->texcoords[v][1];
        for (int x = SIDE / 2 + 1; x < SIDE; x++)
            s->texcoords[y * SIDE + x][0] = 1 - s->texcoords[y * SIDE + x][0];
    }
    uint32_t(*to)[3] = s->triangles;
    for (int y = 0; y + 1 < SIDE; y++)
        for (int x = 0; x + 1 < SIDE; x++, to += 2) {
            uint32_t a = (uint32_t)(y * SIDE + x), b = a + 1, c = b + SIDE, d = a + SIDE;
            if (x == SIDE / 2) {
                a = (uint32_t)(VERTICES + y);
                d = a + 1;
            }
            const uint32_t two[2][3] = {{a, b, c}, {c, d, a}};
            memcpy(to, two, sizeof two);
        }
    s->def = (ex_tangents_def){VERTICES, SPLITS, s->sources, s->texcoords[0], TRIANGLES, s->triangles[0]};
    return s;
}

static double dot(const double *a, const double *b) {
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

static void flatten(const double *n, double *v) {
    const double along = dot(n, v);
    for (int c = 0; c < 3; c++)
        v[c] -= along * n[c];
}

/* Both rows of the inverse of the 2 x 2 matrix of texture edges; scattered to the corners; angles by acos. */
static void oracle(const sheet *s, double (*out)[4]) {
    for (int i = 0; i < SPLITS; i++)
        memset(out[i], 0, sizeof out[i]);
    for (int f = 0; f < TRIANGLES; f++) {
        const uint32_t *k = s->triangles[f];
        double e[2][3], w[2][2];
        for (int j = 0; j < 2; j++) {
            for (int c = 0; c < 3; c++)
                e[j][c] = (double)s->positions[s->sources[k[j + 1]]][c] - (double)s->positions[s->sources[k[0]]][c];
            w[j][0] = (double)s->texcoords[k[j + 1]][0] - (double)s->texcoords[k[0]][0];
            w[j][1] = (double)s->texcoords[k[0]][1] - (double)s->texcoords[k[j + 1]][1]; /* upwards */
        }
        const double det = w[0][0] * w[1][1] - w[0][1] * w[1][0];
        double along_u[3];
        for (int c = 0; c < 3; c++)
            along_u[c] = (w[1][1] * e[0][c] - w[0][1] * e[1][c]) / det;
        for (int j = 0; j < 3; j++) {
            double n[3], t[3], a[3], b[3];
            for (int c = 0; c < 3; c++) {
                const double here = (double)s->positions[s->sources[k[j]]][c];
                n[c] = (double)s->normals[s->sources[k[j]]][c];
                t[c] = along_u[c];
                a[c] = (double)s->positions[s->sources[k[(j + 1) % 3]]][c] - here;
                b[c] = (double)s->positions[s->sources[k[(j + 2) % 3]]][c] - here;
            }
            flatten(n, t);
            flatten(n, a);
            flatten(n, b);
            const double angle = acos(dot(a, b) / sqrt(dot(a, a) * dot(b, b))), length = sqrt(dot(t, t));
            for (int c = 0; c < 3; c++)
                out[k[j]][c] += angle * t[c] / length;
            out[k[j]][3] += det > 0 ? angle : -angle;
        }
    }
    for (int i = 0; i < SPLITS; i++) {
        const double length = sqrt(dot(out[i], out[i]));
        for (int c = 0; c < 3; c++)
            out[i][c] /= length;
        out[i][3] = out[i][3] > 0 ? 1 : -1;
    }
}

static void sheet_against_oracle(void **state) {
    (void)state;
    sheet *s = open_sheet(4);
    float(*out)[4] = calloc(SPLITS, sizeof *out);
    double(*expected)[4] = calloc(SPLITS, sizeof *expected);
    ex_tangents *t = create(&s->def);
    compute(t, s->positions[0], s->normals[0], out[0]);
    oracle(s, expected);
    int mirrored = 0;
    for (int i = 0; i < SPLITS; i++) {
        const double got[4] = {(double)out[i][0], (double)out[i][1], (double)out[i][2], (double)out[i][3]};
        assert_row_near(got, expected[i], 4, 1e-6);
        double n[3];
        for (int c = 0; c < 3; c++)
            n[c] = (double)s->normals[s->sources[i]][c];
        assert_near(dot(got, n), 0, 2e-7);
        assert_near(dot(got, got), 1, 3e-7);
        mirrored += got[3] < 0;
    }
    assert_int_equal(mirrored, SIDE * (SIDE / 2 + 1));
    ex_tangents_destroy(t);
    free(out);
    free(expected);
    free(s);
}

/* Turned, moved and resized: the tangents turn along. */
static void rigid_motion(void **state) {
    (void)state;
    sheet *s = open_sheet(8);
    float(*out)[4] = calloc(SPLITS, sizeof *out), (*after)[4] = calloc(SPLITS, sizeof *after);
    ex_tangents *t = create(&s->def);
    compute(t, s->positions[0], s->normals[0], out[0]);
    ex_transform turn = turned(77, 1, -2, 3);
    double m[12];
    oracle_matrix(&turn, m);
    for (int k = 0; k < 3; k++) {
        sheet moved = *s;
        const double size = k == 0 ? 1 : k == 1 ? 1e-15 : 1e15;
        for (int v = 0; v < VERTICES; v++) {
            double p[3], n[3];
            for (int c = 0; c < 3; c++) {
                p[c] = size * ((double)s->positions[v][c] + 5);
                n[c] = (double)s->normals[v][c];
            }
            oracle_apply(m, p, p);
            oracle_apply(m, n, n);
            for (int c = 0; c < 3; c++) {
                moved.positions[v][c] = (float)p[c];
                moved.normals[v][c] = (float)n[c];
            }
        }
        compute(t, moved.positions[0], moved.normals[0], after[0]);
        for (int i = 0; i < SPLITS; i++) {
            double e[3] = {(double)out[i][0], (double)out[i][1], (double)out[i][2]};
            oracle_apply(m, e, e);
            const double got[3] = {(double)after[i][0], (double)after[i][1], (double)after[i][2]};
            assert_row_near(got, e, 3, 2e-4); /* positions in floats, 60 times the size of a triangle */
            assert_true(after[i][3] == out[i][3]);
        }
    }
    ex_tangents_destroy(t);
    free(out);
    free(after);
    free(s);
}

static void run_backwards(void *user, int count, int grain, ex_task_body body, void *context) {
    (void)grain;
    for (int end = count, size = *(int *)user; end > 0; end -= size)
        body(context, end > size ? end - size : 0, end);
}

static void any_cut_and_stride(void **state) {
    (void)state;
    sheet *s = open_sheet(15);
    ex_tangents *t = create(&s->def);
    void *scratch = malloc(ex_tangents_scratch_size(t));
    float(*whole)[4] = calloc(SPLITS, sizeof *whole), (*cut)[6] = calloc(SPLITS, sizeof *cut);
    float(*positions)[5] = calloc(VERTICES, sizeof *positions), (*normals)[4] = calloc(VERTICES, sizeof *normals);
    for (int v = 0; v < VERTICES; v++) {
        memcpy(positions[v], s->positions[v], 12);
        memcpy(normals[v], s->normals[v], 12);
    }
    compute(t, s->positions[0], s->normals[0], whole[0]);
    for (int size = 1; size < 2000; size = size * 3 + 1) {
        memset(cut, 0x55, SPLITS * sizeof *cut);
        const ex_tangents_job job = {positions[0], sizeof *positions, normals[0], sizeof *normals, cut[0], sizeof *cut};
        const ex_tasks tasks = {run_backwards, &size};
        ex_tangents_compute(t, &job, &tasks, scratch);
        uint32_t behind;
        for (int i = 0; i < SPLITS; i++) {
            assert_memory_equal(cut[i], whole[i], 16);
            memcpy(&behind, &cut[i][4], 4);
            assert_int_equal(behind, 0x55555555);
        }
    }
    ex_tangents_destroy(t);
    free(scratch);
    free(whole);
    free(cut);
    free(positions);
    free(normals);
    free(s);
}

/* Every tangent is of length 1, perpendicular to a valid normal, and has a sign. */
static void assert_sound(const float (*out)[4], const float (*normals)[3], const uint32_t *sources, int count) {
    for (int i = 0; i < count; i++) {
        double length = 0, across = 0, normal = 0;
        for (int c = 0; c < 3; c++) {
            const double n = (double)normals[sources ? sources[i] : (uint32_t)i][c];
            length += (double)out[i][c] * (double)out[i][c];
            across += (double)out[i][c] * n;
            normal += n * n;
        }
        assert_near(length, 1, 1e-6);
        assert_true(out[i][3] == 1 || out[i][3] == -1);
        if (isfinite(normal))
            assert_near(across / (normal > 0 ? sqrt(normal) : 1), 0, 1e-6);
    }
}

static void nothing_to_go_by(void **state) {
    (void)state;
    /* Textures at one point, on a line along u, on an oblique line, and NaN. */
    static const float textures[][4][2] = {
        {{0.5f, 0.5f}, {0.5f, 0.5f}, {0.5f, 0.5f}, {0.5f, 0.5f}},    {{0, 0}, {0.1f, 0}, {0.7f, 0}, {0.3f, 0}},
        {{0, 0}, {0.1f, 0.1f}, {0.7f, 0.7f}, {0.3f, 0.3f}},          {{NAN, 0}, {1, INFINITY}, {1, 1}, {0, 1}},
        {{3e38f, -3e38f}, {-3e38f, 0}, {3e38f, 3e38f}, {0, 1e-45f}},
    };
    const float strange[4][3] = {{0, 0, 0}, {NAN, 0, 1}, {INFINITY, 0, 0}, {1e-40f, 0, 0}};
    const float apart[4][3] = {{3e38f, -3e38f, 0}, {-3e38f, 3e38f, 3e38f}, {0, 0, 0}, {1e-45f, 0, 0}};
    float out[4][4];
    for (size_t i = 0; i < sizeof textures / sizeof *textures; i++) {
        ex_tangents *t = create(&(ex_tangents_def){4, 4, NULL, textures[i][0], 2, quad_triangles});
        compute(t, quad[0], up[0], out[0]);
        assert_sound(out, up, NULL, 4);
        for (int v = 0; v < 4 && i < 3; v++)
            assert_true(out[v][3] == 1);
        const float axes[4][3] = {{1, 0, 0}, {0, -1, 0}, {0, 0, 1}, {0.6f, 0.8f, 0}};
        compute(t, quad[0], axes[0], out[0]);
        assert_sound(out, axes, NULL, 4);
        ex_tangents_destroy(t);
    }
    /* u along y, so that no fallback to the first axis looks right. */
    const float texcoords[4][2] = {{0, 0}, {0, 1}, {1, 1}, {1, 0}};
    ex_tangents *t = create(&(ex_tangents_def){4, 4, NULL, texcoords[0], 2, quad_triangles});
    compute(t, quad[0], strange[0], out[0]);
    assert_sound(out, strange, NULL, 4);
    assert_tangent(out[0], 0, 1, 0, 1); /* without a normal: from the triangles */
    assert_tangent(out[3], 0, 1, 0, 1); /* a short one is valid */
    compute(t, apart[0], up[0], out[0]);
    assert_sound(out, up, NULL, 4);
    /* Every number of the positions in turn is NaN: vertices that do not use it are unchanged. */
    for (int i = 0; i < 24; i++) {
        float broken[4][3];
        memcpy(broken, quad, sizeof broken);
        broken[i / 3 % 4][i % 3] = i < 12 ? NAN : -INFINITY;
        compute(t, broken[0], up[0], out[0]);
        assert_sound(out, up, NULL, 4);
        if (i / 3 % 4 == 3)
            for (int v = 0; v < 3; v++)
                assert_tangent(out[v], 0, 1, 0, 1);
    }
    ex_tangents_destroy(t);
    /* A triangle whose texture is a line has no effect on its neighbour. */
    const float folded[4][2] = {{0, 0}, {0, 1}, {1, 1}, {0.3f, 0.3f}};
    t = create(&(ex_tangents_def){4, 4, NULL, folded[0], 2, quad_triangles});
    compute(t, quad[0], up[0], out[0]);
    assert_sound(out, up, NULL, 4);
    assert_tangent(out[0], 0, 1, 0, 1);
    assert_tangent(out[2], 0, 1, 0, 1);
    assert_true(out[3][3] == 1);
    ex_tangents_destroy(t);
    /* u along the normal; positions at one place; no triangles. */
    float points[4][3] = {{0}};
    t = create(&(ex_tangents_def){4, 4, NULL, texcoords[0], 2, quad_triangles});
    compute(t, points[0], up[0], out[0]);
    assert_sound(out, up, NULL, 4);
    const float sideways[4][3] = {{0, 1, 0}, {0, 1, 0}, {0, -1, 0}, {0, 1, 0}};
    compute(t, quad[0], sideways[0], out[0]);
    assert_sound(out, sideways, NULL, 4);
    ex_tangents_destroy(t);
    t = create(&(ex_tangents_def){4, 4, NULL, texcoords[0], 0, NULL});
    compute(t, quad[0], up[0], out[0]);
    assert_sound(out, up, NULL, 4);
    ex_tangents_destroy(t);
    ex_tangents_destroy(create(&(ex_tangents_def){0}));
}

/* Three triangles at vertex 0 whose directions are 120 degrees apart: the sum is rounding, but the tangent is
 * perpendicular to the normal, in any direction. */
static void directions_cancel(void **state) {
    (void)state;
    uint64_t random = 31;
    const double h = sqrt(0.75);
    const uint32_t sources[] = {0, 1, 2, 2, 3, 3, 1}, triangles[] = {0, 1, 2, 0, 3, 4, 0, 5, 6};
    const float texcoords[7][2] = {
        {0, 0}, {1, 0}, {-0.5f, -(float)h}, {1, 0}, {-0.5f, -(float)h}, {1, 0}, {-0.5f, -(float)h}};
    ex_tangents *t = create(&(ex_tangents_def){4, 7, sources, texcoords[0], 3, triangles});
    for (int round = 0; round < 100; round++) {
        const ex_transform turn = random_rigid(&random, 1);
        double m[12], points[4][3] = {{0, 0, 0}, {1, 0, 0}, {-0.5, h, 0}, {-0.5, -h, 0}}, up_there[3] = {0, 0, 1};
        float positions[4][3], normals[4][3], out[7][4];
        oracle_matrix(&turn, m);
        m[3] = m[7] = m[11] = 0;
        oracle_apply(m, up_there, up_there);
        for (int v = 0; v < 4; v++) {
            oracle_apply(m, points[v], points[v]);
            for (int c = 0; c < 3; c++) {
                positions[v][c] = (float)points[v][c];
                normals[v][c] = (float)up_there[c];
            }
        }
        compute(t, positions[0], normals[0], out[0]);
        assert_sound(out, normals, sources, 7);
    }
    ex_tangents_destroy(t);
}

static void bad_definitions(void **state) {
    (void)state;
    for (int i = 0; i < 9; i++) {
        uint32_t sources[] = {0, 1, 2, 3, 0}, triangles[] = {0, 1, 2, 4, 2, 3};
        float texcoords[10] = {0};
        ex_tangents_def def = {4, 5, sources, texcoords, 2, triangles};
        ex_result expected = EX_ERROR_ARGUMENT;
        const char *word = "negative";
        switch (i) {
        case 0:
            def.vertex_count = -1;
            break;
        case 1:
            def.split_count = -1;
            break;
        case 2:
            def.triangle_count = -1;
            break;
        case 3:
            def.split_source = NULL;
            word = "5 texture coordinates for 4 vertices";
            break;
        case 4:
            def.texcoords = NULL;
            word = "missing";
            break;
        case 5:
            def.triangles = NULL;
            word = "missing";
            break;
        case 6:
            def.triangle_count = INT32_MAX / 3 + 1;
            expected = EX_ERROR_LIMIT;
            word = "at most";
            break;
        case 7:
            sources[4] = 4;
            expected = EX_ERROR_DATA;
            word = "split vertex 4 (counting from 0) refers to vertex 4";
            break;
        default:
            triangles[5] = 5;
            expected = EX_ERROR_DATA;
            word = "triangle 1 (counting from 0) refers to split vertex 5";
            break;
        }
        ex_tangents *tangents = (ex_tangents *)1;
        ex_error error = {.result = EX_OK};
        assert_int_equal(ex_tangents_create(&def, NULL, &tangents, &error), expected);
        assert_null(tangents);
        assert_sentence(&error, expected, word);
    }
}

static int misuses;
static void count_misuse(const char *function, const char *what) {
    (void)function;
    (void)what;
    misuses++;
}

static void misuse(void **state) {
    (void)state;
    ex_set_misuse_hook(count_misuse);
    misuses = 0;
    ex_error error;
    assert_int_equal(ex_tangents_create(NULL, NULL, NULL, &error), EX_ERROR_ARGUMENT);
    ex_tangents_compute(NULL, NULL, NULL, NULL);
    assert_int_equal(misuses, 2);
    ex_set_misuse_hook(NULL);
    ex_tangents_destroy(NULL);
}

/* Nothing is written with a stride that is not a multiple of four bytes, or that is too small. */
static void unaligned(void **state) {
    (void)state;
    sheet *s = open_sheet(2);
    ex_tangents *tangents = NULL;
    assert_int_equal(ex_tangents_create(&s->def, NULL, &tangents, NULL), EX_OK);
    char *out = malloc(SPLITS * 20), *scratch = malloc(ex_tangents_scratch_size(tangents) + 4);
    memset(out, 0x77, SPLITS * 20);
    ex_set_misuse_hook(count_misuse);
    misuses = 0;
    for (int i = 0; i < 7; i++) {
        ex_tangents_job job = {
            .positions = s->positions[0], .normals = s->normals[0], .out = (float *)(void *)(out + (i == 5))};
        job.position_stride = i == 0 ? 13 : 0;
        job.normal_stride = i == 1 ? 18 : i == 2 ? 8 : 0;
        job.out_stride = i == 3 ? 17 : i == 4 ? 12 : 0;
        ex_tangents_compute(tangents, &job, NULL, scratch + (i == 6 ? 2 : 0));
        assert_int_equal(misuses, i + 1);
    }
    ex_set_misuse_hook(NULL);
    for (int i = 0; i < SPLITS * 20; i++)
        assert_int_equal(out[i], 0x77);
    free(scratch);
    free(out);
    ex_tangents_destroy(tangents);
    free(s);
}

static ex_result attempt(void *context, const ex_allocator *allocator) {
    const sheet *s = context;
    ex_tangents *tangents = NULL;
    ex_result result = ex_tangents_create(&s->def, allocator, &tangents, NULL);
    if (tangents) {
        float(*out)[4] = calloc(SPLITS, sizeof *out);
        compute(tangents, s->positions[0], s->normals[0], out[0]);
        assert_sound(out, s->normals, s->sources, SPLITS);
        free(out);
    }
    ex_tangents_destroy(tangents);
    return result;
}

static void memory_runs_out(void **state) {
    (void)state;
    sheet *s = open_sheet(2);
    assert_int_equal(failing_allocator_sweep(attempt, s), 1);
    free(s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quads_by_hand),    cmocka_unit_test(weighted_by_angle),
        cmocka_unit_test(mirror_seam),      cmocka_unit_test(sheet_against_oracle),
        cmocka_unit_test(rigid_motion),     cmocka_unit_test(any_cut_and_stride),
        cmocka_unit_test(nothing_to_go_by), cmocka_unit_test(directions_cancel),
        cmocka_unit_test(bad_definitions),  cmocka_unit_test(misuse),
        cmocka_unit_test(unaligned),        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * Settling: signed distances by hand and by the winding number, residuals under rigid motions, pushing out to the gap
 * by brute force, creases, thin limbs, bind sets, and numbers that are not finite.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "dress.h"

/* ---- sides ---- */

static void test_one_triangle(void **state) {
    (void)state;
    surface s = surface_open("one", 3, 1);
    const float corners[9] = {0, 0, 0, 4, 0, 0, 0, 2, 0};
    memcpy(s.positions, corners, sizeof corners);
    s.triangles[1] = 1;
    s.triangles[2] = 2;
    const ex_settler_def def = settler_def(&s, 4);
    ex_settler *settler = settler_of(&def);
    float driven[12] = {1, 0.5f, 3, 1, 0.5f, -0.25f, 7, -4, 0, 1, 0.5f, 0};
    uint32_t triangles[4];
    float places[8], distances[4];
    measure_once(settler, s.positions, driven, triangles, places, distances);
    for (int i = 0; i < 4; i++)
        assert_int_equal(triangles[i], 0);
    assert_true(distances[0] == 3 && distances[1] == -0.25f && distances[2] == 5 && distances[3] == 0);
    assert_near((double)places[2], 0.25, 1e-6);
    assert_near((double)places[3], 0.25, 1e-6);
    const ex_settle_job job = {.driver = s.positions, .driven = driven, .push = true, .thickness = 0.5f};
    const ex_settled settled = settle_once(settler, &job, NULL);
    const float after[12] = {1, 0.5f, 3, 1, 0.5f, 0.5f, 7, -4, 0, 1, 0.5f, 0.5f};
    for (int i = 0; i < 12; i++)
        assert_near((double)driven[i], (double)after[i], 1e-5);
    assert_int_equal(settled.penetrating, 2);
    assert_int_equal(settled.pushed, 2);
    assert_int_equal(settled.left, 0);
    assert_near((double)settled.deepest, -0.25, 1e-6);
    ex_settler_destroy(settler);
    surface_close(&s);
}

/* Beyond an edge or a corner of a cube, the normal of a single side may say "inside". */
static void test_cube(void **state) {
    (void)state;
    surface s = surface_box(1, 2, 2, 2);
    surface_weld(&s);
    const ex_settler_def def = settler_def(&s, 8);
    ex_settler *settler = settler_of(&def);
    const float driven[24] = {1.5f, 1.5f, 0,    1.01f, 1.5f, 0,    1.5f, 1.01f, 0.3f, 2,    2,  2,
                              1.5f, 1.2f, 1.9f, 0.9f,  0.8f, 0.2f, 0,    0,     0,    0.5f, -3, 0.2f};
    const double expected[8] = {sqrt(0.5), sqrt(0.2501), sqrt(0.2501), sqrt(3), sqrt(0.25 + 0.04 + 0.81), -0.1, -1, 2};
    float distances[8];
    measure_once(settler, s.positions, driven, NULL, NULL, distances);
    for (int i = 0; i < 8; i++)
        assert_near((double)distances[i], expected[i], 1e-6);
    ex_settler_destroy(settler);
    surface_close(&s);
}

/* A needle with one side divided into slivers: next to its point, their many normals outweigh the side that faces
 * there, unless they are weighted by their angles. */
static void test_needle(void **state) {
    (void)state;
    enum { SLIVERS = 8, AROUND = SLIVERS + 2 };
    surface s = surface_open("needle", AROUND + 1, AROUND);
    const double ends[3][2] = {{1, 0}, {-0.5, 0.8660254}, {-0.5, -0.8660254}};
    for (int i = 0; i < AROUND; i++) {
        const double t = i < SLIVERS ? i / (double)SLIVERS : 0;
        const double *from = ends[i < SLIVERS ? 0 : i - SLIVERS + 1], *to = ends[i < SLIVERS ? 1 : 2];
        s.positions[3 * i] = (float)(0.5 * (from[0] + t * (to[0] - from[0])));
        s.positions[3 * i + 1] = (float)(0.5 * (from[1] + t * (to[1] - from[1])));
        s.positions[3 * i + 2] = -5;
        s.triangles[3 * i] = AROUND;
        s.triangles[3 * i + 1] = (uint32_t)i;
        s.triangles[3 * i + 2] = (uint32_t)((i + 1) % AROUND);
    }
    const ex_settler_def def = settler_def(&s, 2);
    ex_settler *settler = settler_of(&def);
    /* along the normal of the side between the second and third end, and of the one after */
    const float driven[6] = {-0.9f, 0, 0.2f, 0.45f, -0.78f, 0.2f};
    uint32_t triangles[2];
    float places[4], distances[2];
    measure_once(settler, s.positions, driven, triangles, places, distances);
    for (int i = 0; i < 2; i++) {
        const float *p = driven + 3 * i;
        assert_near((double)(places[2 * i] + places[2 * i + 1]), 0, 1e-6); /* the point of the needle */
        assert_near((double)distances[i], (double)sqrtf(p[0] * p[0] + p[1] * p[1] + p[2] * p[2]), 1e-6);
    }
    ex_settler_destroy(settler);
    surface_close(&s);
}

/* Everywhere around a surface with bumps: the sign is that of the winding number. */
static void test_signs(void **state) {
    (void)state;
    enum { COUNT = 200 };
    uint64_t seed = 3;
    for (int kind = 0; kind < 2; kind++) {
        surface s = kind ? surface_box(2, 1, 0.2, 0.7) : surface_welded_ball(3);
        if (kind)
            surface_weld(&s);
        const ex_settler_def def = settler_def(&s, COUNT);
        ex_settler *settler = settler_of(&def);
        float driven[3 * COUNT], distances[COUNT];
        for (int i = 0; i < 3 * COUNT; i++)
            driven[i] = (float)random_between(&seed, -1.3, 1.3);
        measure_once(settler, s.positions, driven, NULL, NULL, distances);
        for (int i = 0; i < COUNT; i++)
            assert_near((double)distances[i], dress_distance(&s.def, driven + 3 * i, NULL), 2e-6);
        ex_settler_destroy(settler);
        surface_close(&s);
    }
}

/* ---- residuals ---- */

enum { CLOTH = 90 };

/* Points slightly outside, or inside, a surface. */
static void make_cloth(const surface *s, uint64_t seed, double low, double high, float *driven) {
    for (int i = 0; i < CLOTH; i++) {
        const int t = (int)(random_bits(&seed) % (uint64_t)s->def.triangle_count);
        const double u = random_between(&seed, 0, 1), v = random_between(&seed, 0, 1 - u);
        const double off = 1 + random_between(&seed, low, high);
        double p[3][3];
        corners_of(&s->def, t, p);
        for (int c = 0; c < 3; c++)
            driven[3 * i + c] = (float)(off * ((1 - u - v) * p[0][c] + u * p[1][c] + v * p[2][c]));
    }
}

static void test_rigid_motion(void **state) {
    (void)state;
    surface s = surface_welded_ball(4);
    float driven[3 * CLOTH], moved[3 * CLOTH], expected[3 * CLOTH], weights[CLOTH];
    float *driver = malloc((size_t)s.def.vertex_count * 12);
    const double by[3] = {0.4, -1.5, 0.2}, far[3] = {60, -80, 40}, none[3] = {0, 0, 0};
    make_cloth(&s, 8, 0, 0.1, driven);
    ex_settler *settler = settler_with_key(&s, CLOTH, driven, false);
    for (int i = 0; i < CLOTH; i++)
        weights[i] = 1;
    for (int kind = 0; kind < 8; kind++) {
        const double *motion = kind / 2 == 0 ? none : kind / 2 == 3 ? far : by, angle = kind / 2 * 1.2;
        move_rigidly(s.positions, s.def.vertex_count, angle, motion, driver);
        move_rigidly(driven, CLOTH, angle, motion, expected);
        memcpy(moved, driven, sizeof moved);
        const ex_settle_job job = {.blended = s.positions,
                                   .driver = driver,
                                   .driven = moved,
                                   .weights = weights,
                                   .residual = kind % 2 ? EX_RESIDUAL_CLOSEST : EX_RESIDUAL_KEYS};
        settle_once(settler, &job, NULL);
        for (int i = 0; i < 3 * CLOTH; i++)
            assert_near((double)moved[i], (double)expected[i], kind / 2 == 0 ? 1e-6 : kind / 2 == 3 ? 2e-5 : 1e-5);
    }
    free(driver);
    ex_settler_destroy(settler);
    surface_close(&s);
}

/* A plane that is pulled apart: points on it move with it, on any triangle; two keys share. */
static void test_stretch(void **state) {
    (void)state;
    surface s = surface_grid(4);
    float driver[75], driven[6] = {1.3f, 2.6f, 0.5f, 3.2f, 0.4f, 0};
    for (int v = 0; v < 25; v++) {
        driver[3 * v] = 2 * s.positions[3 * v];
        driver[3 * v + 1] = s.positions[3 * v + 1];
        driver[3 * v + 2] = 7;
    }
    ex_settler_def def = settler_def(&s, 2);
    uint32_t triangles[4];
    float places[8];
    ex_settler *bare = settler_of(&def);
    measure_once(bare, s.positions, driven, triangles, places, NULL);
    ex_settler_destroy(bare);
    memcpy(triangles + 2, triangles, 2 * sizeof *triangles);
    memcpy(places + 4, places, 4 * sizeof *places);
    def.key_count = 2;
    def.key_triangles = triangles;
    def.key_places = places;
    ex_settler *settler = settler_of(&def);
    const float weights[4] = {0.25f, 0.75f, 0.5f, 0};
    const ex_settle_job job = {
        .blended = s.positions, .driver = driver, .driven = driven, .weights = weights, .residual = EX_RESIDUAL_KEYS};
    settle_once(settler, &job, NULL);
    const float expected[6] = {2.6f, 2.6f, 7.5f, 4.8f, 0.4f, 3.5f}; /* half of the motion of the second */
    for (int i = 0; i < 6; i++)
        assert_near((double)driven[i], (double)expected[i], 1e-5);
    ex_settler_destroy(settler);
    surface_close(&s);
}

/* ---- pushing out ---- */

static void test_push_by_brute_force(void **state) {
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        surface s = kind == 2 ? surface_box(3, 2, 1, 1) : surface_welded_ball(4);
        if (kind == 2)
            surface_weld(&s);
        const ex_settler_def def = settler_def(&s, CLOTH);
        ex_settler *settler = settler_of(&def);
        float driven[3 * CLOTH], before[3 * CLOTH];
        make_cloth(&s, 20 + (uint64_t)kind, -0.2, 0.2, driven);
        memcpy(before, driven, sizeof before);
        const float thickness = kind == 1 ? 0.1f : 0.02f;
        const ex_settle_job job = {.driver = s.positions, .driven = driven, .push = true, .thickness = thickness};
        const ex_settled settled = settle_once(settler, &job, NULL);
        int penetrating = 0;
        for (int i = 0; i < CLOTH; i++) {
            const double was = dress_distance(&s.def, before + 3 * i, NULL);
            const double is = dress_distance(&s.def, driven + 3 * i, NULL);
            penetrating += was < (double)thickness - 1e-5;
            assert_true(is >= (double)thickness - 2e-5);
            if (was > (double)thickness)
                assert_memory_equal(driven + 3 * i, before + 3 * i, 12);
            else
                assert_true(is <= (double)thickness + 0.03); /* not further than the next bump requires */
        }
        assert_int_equal(settled.penetrating, penetrating);
        assert_int_equal(settled.left, 0);
        assert_true(settled.deepest < -0.05f);
        ex_settler_destroy(settler);
        surface_close(&s);
    }
}

/* Two planes that meet at a right angle, or a narrower one, from x = 0 upwards. */
static surface surface_crease(double half_angle) {
    surface s = surface_open("crease", 6, 4);
    const float x = (float)sin(half_angle), y = (float)cos(half_angle);
    const float positions[18] = {-x, y, -5, 0, 0, -5, x, y, -5, -x, y, 5, 0, 0, 5, x, y, 5};
    const uint32_t triangles[12] = {0, 3, 1, 1, 3, 4, 1, 4, 2, 2, 4, 5};
    memcpy(s.positions, positions, sizeof positions);
    memcpy(s.triangles, triangles, sizeof triangles);
    return s;
}

static void test_creases(void **state) {
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        const double half = (kind == 0 ? 45 : kind == 1 ? 20 : 9) * 3.14159265358979 / 180, gap = 0.05;
        surface s = surface_crease(half);
        const ex_settler_def def = settler_def(&s, 3);
        ex_settler *settler = settler_of(&def);
        float driven[9] = {0.002f, 0.03f, 0, -0.01f, 0.02f, 1, 0.03f, -0.01f, 2};
        const ex_settle_job job = {.driver = s.positions, .driven = driven, .push = true, .thickness = (float)gap};
        const ex_settled settled = settle_once(settler, &job, NULL);
        assert_int_equal(settled.penetrating, 3);
        assert_int_equal(settled.left, 0);
        for (int i = 0; i < 3; i++) {
            /* above both planes by the gap: the nearest such place, so at both limits */
            const double x = (double)driven[3 * i], y = (double)driven[3 * i + 1];
            assert_true(y * sin(half) - fabs(x) * cos(half) >= gap - 1.1e-4);
            assert_near(y, gap / sin(half), kind == 0 ? 1e-4 : 0.06);
            assert_near((double)driven[3 * i + 2], i, 1e-4);
        }
        ex_settler_destroy(settler);
        surface_close(&s);
    }
}

/* Two plates that face one another more closely than two gaps: no room. */
static void test_no_room(void **state) {
    (void)state;
    surface s = surface_open("plates", 8, 4);
    for (int v = 0; v < 8; v++) {
        s.positions[3 * v] = v % 2 ? 1.0f : -1.0f;
        s.positions[3 * v + 1] = v / 2 % 2 ? 1.0f : -1.0f;
        s.positions[3 * v + 2] = v / 4 ? 0.1f : 0;
    }
    const uint32_t triangles[12] = {0, 1, 2, 1, 3, 2, 4, 6, 5, 5, 6, 7};
    memcpy(s.triangles, triangles, sizeof triangles);
    const ex_settler_def def = settler_def(&s, 1);
    ex_settler *settler = settler_of(&def);
    float driven[3] = {0.1f, 0.2f, 0.02f};
    ex_settle_job job = {.driver = s.positions, .driven = driven, .push = true, .thickness = 0.06f};
    ex_settled settled = settle_once(settler, &job, NULL);
    assert_int_equal(settled.left, 1);
    assert_near((double)driven[2], 0.05, 0.0101); /* it is no worse than before */
    driven[2] = 0.05f;                            /* the best possible: it stays there */
    settled = settle_once(settler, &job, NULL);
    assert_int_equal(settled.left, 1);
    assert_near((double)driven[2], 0.05, 1e-6);
    driven[2] = 0.02f;
    job.thickness = 0.04f;
    settled = settle_once(settler, &job, NULL);
    assert_int_equal(settled.left, 0);
    ex_settler_destroy(settler);
    surface_close(&s);
}

/* Deep in a plate, nearer to its back: out at the side where it was in the key. */
static void test_thin_limb(void **state) {
    (void)state;
    surface s = surface_box(4, 1, 0.05, 1);
    surface_weld(&s);
    const float key[6] = {0.1f, 0.03f, 0.2f, -0.3f, -0.03f, 0.1f}, weights[2] = {1, 1};
    const float deep[6] = {0.1f, -0.02f, 0.2f, -0.3f, 0.015f, 0.1f};
    ex_settler *settler = settler_with_key(&s, 2, key, false);
    for (int kind = 0; kind < 2; kind++) {
        float driven[6];
        memcpy(driven, deep, sizeof deep);
        const ex_settle_job job = {.driver = s.positions,
                                   .driven = driven,
                                   .push = true,
                                   .thickness = 0.005f,
                                   .weights = kind ? weights : NULL};
        const ex_settled settled = settle_once(settler, &job, NULL);
        assert_int_equal(settled.left, 0);
        assert_near((double)driven[1], kind ? 0.03 : -0.03, 1e-5);
        assert_near((double)driven[4], kind ? -0.03 : 0.03, 1e-5);
    }
    ex_settler_destroy(settler);
    surface_close(&s);
}

/* Two keys on either side: the heavier one decides. */
static void test_heavier_key(void **state) {
    (void)state;
    surface s = surface_box(4, 1, 0.05, 1);
    surface_weld(&s);
    const float keys[2][3] = {{0.1f, 0.03f, 0.2f}, {0.1f, -0.03f, 0.2f}};
    uint32_t triangles[2];
    float places[4];
    ex_settler_def def = settler_def(&s, 1);
    ex_settler *bare = settler_of(&def);
    for (int k = 0; k < 2; k++)
        measure_once(bare, s.positions, keys[k], triangles + k, places + 2 * k, NULL);
    ex_settler_destroy(bare);
    def.key_count = 2;
    def.key_triangles = triangles;
    def.key_places = places;
    ex_settler *settler = settler_of(&def);
    for (int k = 0; k < 2; k++) {
        const float weights[2] = {k ? 0.3f : 0.7f, k ? 0.7f : 0.3f};
        float driven[3] = {0.1f, k ? 0.01f : -0.01f, 0.2f};
        const ex_settle_job job = {
            .driver = s.positions, .driven = driven, .push = true, .thickness = 0.005f, .weights = weights};
        settle_once(settler, &job, NULL);
        assert_near((double)driven[1], k ? -0.03 : 0.03, 1e-5);
    }
    ex_settler_destroy(settler);
    surface_close(&s);
}

/* Never further out than in the keys, and never inside. */
static void test_gaps(void **state) {
    (void)state;
    surface s = surface_grid(4);
    const float key[9] = {1.3f, 1.2f, 0.01f, 2.3f, 2.2f, 0.5f, 3.3f, 3.2f, -0.2f}, weights[3] = {1, 1, 1};
    float driven[9] = {1.3f, 1.2f, -0.1f, 2.3f, 2.2f, -0.1f, 3.3f, 3.2f, -0.1f};
    ex_settler *settler = settler_with_key(&s, 3, key, true);
    const ex_settle_job job = {
        .driver = s.positions, .driven = driven, .push = true, .thickness = 0.05f, .weights = weights};
    settle_once(settler, &job, NULL);
    assert_near((double)driven[2], 0.01, 1e-5);
    assert_near((double)driven[5], 0.05, 1e-5);
    assert_near((double)driven[8], 0, 1e-5);
    ex_settler_destroy(settler);
    surface_close(&s);
}

/* ---- bind sets ---- */

/* Two legs that cross (figure 4): vertices bound to one ignore the other. */
static void test_binds(void **state) {
    (void)state;
    surface leg = surface_box(2, 0.2, 1, 0.2);
    surface_weld(&leg);
    const int vertices = leg.def.vertex_count, triangles = leg.def.triangle_count;
    surface s = surface_open("legs", 2 * vertices, 2 * triangles);
    for (int i = 0; i < 2; i++) {
        for (int v = 0; v < 3 * vertices; v++)
            s.positions[3 * i * vertices + v] = leg.positions[v] + (v % 3 == 0 ? 0.15f * (float)i : 0);
        for (int t = 0; t < 3 * triangles; t++)
            s.triangles[3 * i * triangles + t] = leg.triangles[t] + (uint32_t)(i * vertices);
    }
    uint32_t numbers[2][200];
    for (int i = 0; i < 2 * triangles; i++)
        numbers[i / triangles][i % triangles] = (uint32_t)i;
    const ex_bind binds[3] = {{triangles, numbers[0]}, {triangles, numbers[1]}, {triangles, numbers[0]}};
    const uint16_t vertex_binds[5] = {0, 1, 2, 3, 0};
    ex_settler_def def = settler_def(&s, 5);
    def.bind_count = 3;
    def.binds = binds;
    def.vertex_binds = vertex_binds;
    ex_settler *settler = settler_of(&def);
    float driven[15] = {0.12f, 0, 0.01f, 0.02f, 0, 0.01f, 0.08f, 0.1f, 0.01f, -0.05f, 0.1f, 0.01f, NAN, 0, 0};
    uint32_t found[5];
    measure_once(settler, s.positions, driven, found, NULL, NULL);
    assert_true(found[0] < (uint32_t)triangles && found[1] >= (uint32_t)triangles && found[2] < (uint32_t)triangles);
    assert_int_equal(found[4], UINT32_MAX);
    const ex_settle_job job = {.driver = s.positions, .driven = driven, .push = true, .thickness = 0.01f};
    const ex_settled settled = settle_once(settler, &job, NULL);
    assert_near((double)driven[0], 0.12, 1e-6); /* outside its own leg, inside the other */
    assert_near((double)driven[3], 0.02, 1e-6);
    assert_near((double)driven[6], 0.11, 1e-5); /* out of its own, into the other */
    assert_int_equal(settled.penetrating, 2);
    assert_true(isnan(driven[12]) && driven[13] == 0 && driven[14] == 0);
    bool seen[200];
    for (int side = 0; side < 2; side++) {
        for (int t = 0; t < 2 * triangles; t++)
            seen[t] = t / triangles == side;
        assert_true(dress_distance(&s.def, driven + 9, seen) >= 0.01 - 2e-5);
    }
    ex_settler_destroy(settler);
    surface_close(&s);
    surface_close(&leg);
}

/* ---- not finite ---- */

static void test_not_finite(void **state) {
    (void)state;
    surface s = surface_grid(4);
    const float key[6] = {0.3f, 0.2f, 0.1f, 3.6f, 3.4f, 0.1f}, weights[2] = {1, 1};
    float driven[6] = {0.3f, 0.2f, -0.1f, 3.6f, 3.4f, -0.1f}, broken[75];
    ex_settler *settler = settler_with_key(&s, 2, key, false);
    memcpy(broken, s.positions, sizeof broken);
    broken[0] = NAN; /* the triangles of the first point */
    ex_settle_job job = {.blended = s.positions,
                         .driver = broken,
                         .driven = driven,
                         .residual = EX_RESIDUAL_KEYS,
                         .weights = weights,
                         .push = true,
                         .thickness = 0.2f};
    for (int v = 0; v < 25; v++)
        broken[3 * v + 2] = 1;
    settle_once(settler, &job, NULL);
    assert_near((double)driven[5], 1.2, 1e-5);
    for (int i = 0; i < 6; i++)
        assert_true(isfinite(driven[i]));
    for (int v = 0; v < 75; v++) /* shrunk to a point, which does not determine its rotation */
        broken[v] = 7;
    float shrunk[6] = {0.3f, 0.2f, 0.1f, 3.6f, 3.4f, 0.1f};
    job.driven = shrunk;
    job.push = false;
    settle_once(settler, &job, NULL);
    for (int i = 0; i < 6; i++)
        assert_near((double)shrunk[i], i % 3 == 2 ? 7.1 : 7, 1e-5);
    job.driven = driven;
    job.push = true;
    for (int v = 0; v < 75; v++)
        broken[v] = NAN;
    float before[6];
    memcpy(before, driven, sizeof before);
    for (int kind = 0; kind < EX_RESIDUAL_COUNT; kind++) {
        job.residual = (ex_residual)kind;
        const ex_settled settled = settle_once(settler, &job, NULL);
        assert_int_equal(settled.penetrating, 0);
        assert_memory_equal(driven, before, sizeof before);
    }
    ex_settler_destroy(settler);
    surface_close(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_triangle), cmocka_unit_test(test_cube),
        cmocka_unit_test(test_signs),        cmocka_unit_test(test_needle),
        cmocka_unit_test(test_heavier_key),  cmocka_unit_test(test_rigid_motion),
        cmocka_unit_test(test_stretch),      cmocka_unit_test(test_push_by_brute_force),
        cmocka_unit_test(test_creases),      cmocka_unit_test(test_no_room),
        cmocka_unit_test(test_thin_limb),    cmocka_unit_test(test_gaps),
        cmocka_unit_test(test_binds),        cmocka_unit_test(test_not_finite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

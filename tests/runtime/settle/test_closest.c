/*
 * Closest points: by hand on one triangle, against every triangle in double on surfaces of all kinds, to the bit the
 * nearest of each triangle's own result, ties, sizes from tiny to huge, and invalid queries.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "surfaces.h"

/* ---- in double ---- */

static double square_to_segment(const double q[3], const double a[3], const double b[3]) {
    double ab[3], aq[3], away = 0;
    between(a, b, ab);
    between(a, q, aq);
    const double length = inner(ab, ab);
    double t = length > 0 ? inner(ab, aq) / length : 0;
    t = t < 0 ? 0 : t > 1 ? 1 : t;
    for (int c = 0; c < 3; c++)
        away += (aq[c] - t * ab[c]) * (aq[c] - t * ab[c]);
    return away;
}

static double square_to_triangle(const double q[3], double p[3][3]) {
    double best = square_to_segment(q, p[0], p[1]);
    for (int i = 1; i < 3; i++) {
        const double edge = square_to_segment(q, p[i], p[(i + 1) % 3]);
        best = edge < best ? edge : best;
    }
    double ab[3], ac[3], n[3], aq[3];
    between(p[0], p[1], ab);
    between(p[0], p[2], ac);
    between(p[0], q, aq);
    outer(ab, ac, n);
    bool inside = inner(n, n) > 0;
    for (int i = 0; i < 3 && inside; i++) {
        double e[3], to[3], side[3];
        between(p[i], p[(i + 1) % 3], e);
        between(p[i], q, to);
        outer(e, to, side);
        inside = inner(side, n) >= 0;
    }
    const double height = inside ? inner(aq, n) : 0, plane = inside ? height * height / inner(n, n) : best;
    return plane < best ? plane : best;
}

static double square_to_all(const ex_tree_def *def, const float q[3]) {
    double best = (double)INFINITY;
    const double point[3] = {(double)q[0], (double)q[1], (double)q[2]};
    for (int t = 0; t < def->triangle_count; t++) {
        double p[3][3];
        corners_of(def, t, p);
        const double one = square_to_triangle(point, p);
        best = one < best ? one : best;
    }
    return best;
}

/* ---- by hand ---- */

static void test_by_hand(void **state) {
    (void)state;
    surface s = surface_open("one", 3, 1);
    const float corners[9] = {0, 0, 0, 4, 0, 0, 0, 2, 0};
    memcpy(s.positions, corners, sizeof corners);
    s.triangles[1] = 1;
    s.triangles[2] = 2;
    void *memory;
    const ex_bounds *fit = fit_whole(&s.def, &memory);
    const struct {
        float q[3], u, v, point[3], distance_sq;
    } cases[] = {
        {{1, 0.5f, 3}, 0.25f, 0.25f, {1, 0.5f, 0}, 9}, /* inside */
        {{-1, -2, 0}, 0, 0, {0, 0, 0}, 5},             /* corners */
        {{7, -4, 0}, 1, 0, {4, 0, 0}, 25},
        {{-1, 3, 1}, 0, 1, {0, 2, 0}, 3},
        {{1, -1, 1}, 0.25f, 0, {1, 0, 0}, 2}, /* edges */
        {{-2, 1, 0}, 0, 0.5f, {0, 1, 0}, 4},
        {{3, 3, 0}, 0.5f, 0.5f, {2, 1, 0}, 5},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ex_closest c;
        assert_true(ex_bounds_closest(fit, cases[i].q, INFINITY, &c));
        assert_int_equal(c.triangle, 0);
        assert_near((double)c.u, (double)cases[i].u, 1e-6);
        assert_near((double)c.v, (double)cases[i].v, 1e-6);
        assert_near((double)c.distance_sq, (double)cases[i].distance_sq, 1e-5);
        for (int k = 0; k < 3; k++)
            assert_near((double)c.point[k], (double)cases[i].point[k], 1e-6);
    }
    /* Reach: a distance equal to it counts. */
    ex_closest c;
    assert_true(ex_bounds_closest(fit, cases[0].q, 3, &c));
    assert_false(ex_bounds_closest(fit, cases[0].q, 2.999f, &c));
    assert_int_equal(c.triangle, -1);
    assert_true(ex_bounds_closest(fit, (float[]){1, 0, 0}, 0, &c));
    free(memory);
    surface_close(&s);
}

/* ---- against everything ---- */

static void draw_point(const surface *s, uint64_t *random, int round, float q[3]) {
    if (round % 3 == 0) { /* anywhere around */
        for (int c = 0; c < 3; c++)
            q[c] = (float)random_between(random, -3, 3);
        return;
    }
    /* near a triangle; exactly a corner now and then */
    const int t = (int)(random_bits(random) % (uint64_t)s->def.triangle_count);
    double p[3][3];
    corners_of(&s->def, t, p);
    const double u = random_between(random, 0, 1), v = random_between(random, 0, 1 - u);
    const double away = round % 12 == 1 ? 0 : pow(10, random_between(random, -5, 0));
    for (int c = 0; c < 3; c++)
        q[c] = round % 15 == 2
                   ? (float)p[1][c]
                   : (float)((1 - u - v) * p[0][c] + u * p[1][c] + v * p[2][c] + away * random_between(random, -1, 1));
}

static void check_answer(const surface *s, const float q[3], const ex_closest *c) {
    const double expected = sqrt(square_to_all(&s->def, q)), found = sqrt((double)c->distance_sq);
    assert_near(found, expected, 2e-6 * (1 + expected));
    assert_true(c->u >= 0 && c->v >= 0 && c->u + c->v <= 1.000001f);
    double p[3][3];
    corners_of(&s->def, c->triangle, p);
    for (int k = 0; k < 3; k++) {
        const double point = p[0][k] + (double)c->u * (p[1][k] - p[0][k]) + (double)c->v * (p[2][k] - p[0][k]);
        assert_near((double)c->point[k], point, 3e-6);
    }
}

static void test_against_all(void **state) {
    (void)state;
    uint64_t random = 5;
    for (int kind = 0; kind < SURFACE_KINDS; kind++) {
        surface s = surface_of_kind(kind);
        void *memory;
        const ex_bounds *fit = fit_whole(&s.def, &memory);
        for (int round = 0; round < 10000; round++) {
            float q[3];
            ex_closest c;
            draw_point(&s, &random, round, q);
            assert_true(ex_bounds_closest(fit, q, INFINITY, &c));
            check_answer(&s, q, &c);
        }
        free(memory);
        surface_close(&s);
    }
    surface s = surface_ball(29);
    void *memory;
    const ex_bounds *fit = fit_whole(&s.def, &memory);
    for (int round = 0; round < 200; round++) {
        float q[3];
        ex_closest c;
        draw_point(&s, &random, round, q);
        assert_true(ex_bounds_closest(fit, q, INFINITY, &c));
        check_answer(&s, q, &c);
    }
    free(memory);
    surface_close(&s);
}

/* To the bit: the least of every triangle's result in a separate tree, of equal ones the first. */
static void test_each_alone(void **state) {
    (void)state;
    uint64_t random = 6;
    for (int kind = 0; kind < SURFACE_KINDS; kind++) {
        surface s = surface_of_kind(kind);
        void *memory, *alone_memory;
        const ex_bounds *fit = fit_whole(&s.def, &memory);
        ex_tree_def alone = s.def;
        alone.triangle_count = 1;
        enum { QUESTIONS = 400 };
        static float q[QUESTIONS][3];
        static ex_closest best[QUESTIONS];
        for (int i = 0; i < QUESTIONS; i++) {
            draw_point(&s, &random, i, q[i]);
            if (kind == 4) /* equally near to many */
                for (int c = 0; c < 3; c++)
                    q[i][c] = rintf(q[i][c]);
            best[i].triangle = -1;
        }
        for (int t = 0; t < s.def.triangle_count; t++) {
            alone.triangles = s.triangles + 3 * t;
            const ex_bounds *one = fit_whole(&alone, &alone_memory);
            for (int i = 0; i < QUESTIONS; i++) {
                ex_closest c;
                assert_true(ex_bounds_closest(one, q[i], INFINITY, &c));
                c.triangle = t;
                if (best[i].triangle < 0 || c.distance_sq < best[i].distance_sq)
                    best[i] = c;
            }
            free(alone_memory);
        }
        for (int i = 0; i < QUESTIONS; i++) {
            ex_closest c;
            assert_true(ex_bounds_closest(fit, q[i], INFINITY, &c));
            assert_memory_equal(&c, &best[i], sizeof c);
            /* Just within reach, and just not. */
            assert_true(ex_bounds_closest(fit, q[i], nextafterf(sqrtf(c.distance_sq), INFINITY), &c));
            assert_memory_equal(&c, &best[i], sizeof c);
            if (c.distance_sq > 1e-12f)
                assert_false(ex_bounds_closest(fit, q[i], 0.999f * sqrtf(c.distance_sq), &c));
        }
        free(memory);
        surface_close(&s);
    }
}

/* All sizes, far from the origin too. */
static void test_sizes(void **state) {
    (void)state;
    const double sizes[] = {1e-15, 1e-6, 1, 1e6, 1e15};
    uint64_t random = 7;
    surface s = surface_ball(4), moved = surface_ball(4);
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++)
        for (int far = 0; far < 2; far++) {
            for (int i = 0; i < 3 * s.def.vertex_count; i++)
                moved.positions[i] = (float)(sizes[k] * ((double)s.positions[i] + 100 * far));
            void *memory;
            const ex_bounds *fit = fit_whole(&moved.def, &memory);
            for (int round = 0; round < 300; round++) {
                float q[3];
                ex_closest c;
                draw_point(&s, &random, round, q);
                for (int i = 0; i < 3; i++)
                    q[i] = (float)(sizes[k] * ((double)q[i] + 100 * far));
                assert_true(ex_bounds_closest(fit, q, INFINITY, &c));
                const double expected = sqrt(square_to_all(&moved.def, q)) / sizes[k];
                assert_near(sqrt((double)c.distance_sq) / sizes[k], expected, 4e-6 * (1 + expected));
            }
            free(memory);
        }
    surface_close(&s);
    surface_close(&moved);
}

/* ---- nothing there ---- */

static int misuses;
static void count_misuse(const char *function, const char *what) {
    (void)function;
    (void)what;
    misuses++;
}

static void test_nothing(void **state) {
    (void)state;
    const float q[3] = {0.1f, 0.2f, 0.3f};
    ex_closest c = {.triangle = 7};
    ex_tree_def none = {0};
    void *memory;
    const ex_bounds *fit = fit_whole(&none, &memory);
    assert_false(ex_bounds_closest(fit, q, INFINITY, &c));
    assert_int_equal(c.triangle, -1);
    free(memory);
    surface s = surface_ball(4);
    fit = fit_whole(&s.def, &memory);
    const float bad[][3] = {{NAN, 0, 0}, {0, INFINITY, 0}, {0, 0, -INFINITY}, {1e19f, 0, 0}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        c.triangle = 7;
        assert_false(ex_bounds_closest(fit, bad[i], INFINITY, &c));
        assert_int_equal(c.triangle, -1);
    }
    assert_false(ex_bounds_closest(fit, q, NAN, &c));
    assert_false(ex_bounds_closest(fit, q, -1, &c));
    ex_set_misuse_hook(count_misuse);
    misuses = 0;
    assert_false(ex_bounds_closest(NULL, q, 1, &c));
    assert_false(ex_bounds_closest(fit, NULL, 1, &c));
    assert_false(ex_bounds_closest(fit, q, 1, NULL));
    assert_int_equal(misuses, 3);
    ex_set_misuse_hook(NULL);
    free(memory);
    surface_close(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand), cmocka_unit_test(test_against_all), cmocka_unit_test(test_each_alone),
        cmocka_unit_test(test_sizes),   cmocka_unit_test(test_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

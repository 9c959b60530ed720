/*
 * Rays: by hand on one triangle, against every triangle in double on surfaces of all kinds, through edges and vertices
 * of a plane, out of a closed surface without a leak, the same from trees of any order, sizes from tiny to huge, and
 * invalid queries.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "surfaces.h"

/* ---- by hand ---- */

static void test_by_hand(void **state) {
    (void)state;
    surface s = surface_open("two", 6, 2);
    const float corners[18] = {0, 0, 0, 4, 0, 0, 0, 2, 0, 0, 0, 3, 4, 0, 3, 0, 2, 3};
    memcpy(s.positions, corners, sizeof corners);
    for (uint32_t i = 0; i < 6; i++)
        s.triangles[i] = i;
    void *memory;
    const ex_bounds *fit = fit_whole(&s.def, &memory);
    const struct {
        ex_ray ray;
        int triangle;
        float u, v, t;
    } cases[] = {
        {{{1, 0.5f, -2}, {0, 0, 1}, 0, INFINITY}, 0, 0.25f, 0.25f, 2},
        {{{1, 0.5f, -2}, {0, 0, 4}, 0, INFINITY}, 0, 0.25f, 0.25f, 0.5f},
        {{{1, 0.5f, 5}, {0, 0, -1}, 0, INFINITY}, 1, 0.25f, 0.25f, 2}, /* from the other side */
        {{{1, 0.5f, 1}, {0, 0, -1}, 0, INFINITY}, 0, 0.25f, 0.25f, 1},
        {{{1, 0.5f, -2}, {0, 0, 1}, 2.5f, INFINITY}, 1, 0.25f, 0.25f, 5}, /* behind near */
        {{{1, 0.5f, -2}, {0, 0, 1}, 2, 2}, 0, 0.25f, 0.25f, 2},           /* both ends count */
        {{{1, 0.5f, -2}, {0, 0, 1}, 0, 1.99f}, -1, 0, 0, 0},
        {{{1, 0.5f, -2}, {0, 0, -1}, 0, INFINITY}, -1, 0, 0, 0},
        {{{1, 0.5f, -2}, {0, 0, -1}, -9, INFINITY}, -1, 0, 0, 0}, /* near counts from 0 */
        {{{3, 1.5f, -2}, {0, 0, 1}, 0, INFINITY}, -1, 0, 0, 0},
        {{{-1, -1, -1}, {2, 1.5f, 1}, 0, INFINITY}, 0, 0.25f, 0.25f, 1}, /* aslant */
        {{{1, 0.5f, 0}, {1, 1, 0}, 0, INFINITY}, -1, 0, 0, 0},           /* in the plane */
        {{{0, 0, -1}, {0, 0, 1e-30f}, 0, INFINITY}, 0, 0, 0, 1e30f},     /* at a corner; short and long */
        {{{0, 0, -1}, {0, 0, 1e30f}, 0, INFINITY}, 0, 0, 0, 1e-30f},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ex_hit hit;
        assert_int_equal(ex_bounds_ray(fit, &cases[i].ray, &hit), cases[i].triangle >= 0);
        assert_int_equal(ex_bounds_blocked(fit, &cases[i].ray), cases[i].triangle >= 0);
        assert_int_equal(hit.triangle, cases[i].triangle);
        assert_near((double)hit.u, (double)cases[i].u, 1e-6);
        assert_near((double)hit.v, (double)cases[i].v, 1e-6);
        assert_near((double)hit.t, (double)cases[i].t, 1e-6 * (double)cases[i].t);
    }
    free(memory);
    surface_close(&s);
}

/* ---- against everything ---- */

/*
 * The nearest t of triangles hit by more than `margin` (negative: missed by less than that), in double. If a triangle
 * is seen along its plane, numbers are only rough: `unsure` grows with the error of t.
 */
static double nearest_of_all(const ex_tree_def *def, const ex_ray *ray, double margin, double *unsure) {
    double best = (double)INFINITY, o[3], d[3];
    for (int c = 0; c < 3; c++) {
        o[c] = (double)ray->origin[c];
        d[c] = (double)ray->direction[c];
    }
    for (int t = 0; t < def->triangle_count; t++) {
        double p[3][3], ab[3], ac[3], n[3], oa[3], cross[3];
        corners_of(def, t, p);
        between(p[0], p[1], ab);
        between(p[0], p[2], ac);
        between(o, p[0], oa);
        outer(ab, ac, n);
        const double area = sqrt(inner(n, n)), length = sqrt(inner(d, d)), slope = inner(n, d);
        if (fabs(slope) <= 1e-4 * area * length) {
            /* Along the plane, or without area: a hit has to be a point of it; see check_hit. */
            if (margin >= 0)
                continue;
        }
        outer(oa, d, cross);
        const double u = inner(ac, cross) / slope, v = -inner(ab, cross) / slope, at = inner(oa, n) / slope;
        /* The margin is a length: coordinates of a small triangle are less certain. */
        const double m = margin * (sqrt(inner(ab, ab)) + sqrt(inner(ac, ac))) * length / (fabs(slope) + 1e-300);
        if (!(u >= m && v >= m && u + v <= 1 - m))
            continue;
        if (at >= (double)ray->t_min && at <= (double)ray->t_max && at < best) {
            best = at;
            *unsure = area / fabs(slope);
        }
    }
    return best;
}

/* Checks that the hit is on the ray and on the triangle. */
static void check_hit(const surface *s, const ex_ray *ray, const ex_hit *hit, double size) {
    double p[3][3], ab[3], ac[3], n[3], d[3] = {0}, off = 0;
    corners_of(&s->def, hit->triangle, p);
    between(p[0], p[1], ab);
    between(p[0], p[2], ac);
    outer(ab, ac, n);
    for (int c = 0; c < 3; c++) {
        d[c] = (double)ray->direction[c];
        const double on = p[0][c] + (double)hit->u * ab[c] + (double)hit->v * ac[c];
        const double at = (double)ray->origin[c] + (double)hit->t * d[c];
        off = fabs(on - at) > off ? fabs(on - at) : off;
    }
    const double slope = fabs(inner(n, d)) / (sqrt(inner(n, n) * inner(d, d)) + 1e-300);
    assert_true(hit->u >= 0 && hit->v >= 0 && hit->u + hit->v <= 1.000001f);
    if (slope > 1e-4)
        assert_near(off, 0, 2e-6 * size / slope);
}

static void draw_ray(const surface *s, uint64_t *random, int round, ex_ray *ray) {
    *ray = (ex_ray){.t_min = 0, .t_max = INFINITY};
    const int t = (int)(random_bits(random) % (uint64_t)s->def.triangle_count);
    double p[3][3];
    corners_of(&s->def, t, p);
    const double u = random_between(random, 0, 1), v = random_between(random, 0, 1 - u);
    for (int c = 0; c < 3; c++) {
        ray->origin[c] = (float)random_between(random, -3, 3);
        const double aim = (1 - u - v) * p[0][c] + u * p[1][c] + v * p[2][c];
        ray->direction[c] = (float)(round % 4 ? aim - (double)ray->origin[c] : random_between(random, -1, 1));
    }
    if (round % 9 == 0) /* along an axis */
        ray->direction[round / 9 % 3] = ray->direction[(round / 9 + 1) % 3] = 0;
    if (round % 5 == 0) {
        ray->t_min = (float)random_between(random, 0, 1);
        ray->t_max = (float)random_between(random, 1, 3);
    }
    if (!(fabsf(ray->direction[0]) + fabsf(ray->direction[1]) + fabsf(ray->direction[2]) > 0))
        ray->direction[0] = 1;
}

static void test_against_all(void **state) {
    (void)state;
    uint64_t random = 5;
    for (int kind = 0; kind < SURFACE_KINDS; kind++) {
        surface s = surface_of_kind(kind);
        void *memory;
        const ex_bounds *fit = fit_whole(&s.def, &memory);
        int hits = 0, sure_hits = 0;
        for (int round = 0; round < 10000; round++) {
            ex_ray ray;
            ex_hit hit;
            draw_ray(&s, &random, round, &ray);
            double unsure = 1, generous_unsure = 1, size = 12;
            const double sure = nearest_of_all(&s.def, &ray, 2e-6, &unsure);
            const bool found = ex_bounds_ray(fit, &ray, &hit);
            assert_int_equal(ex_bounds_blocked(fit, &ray), found);
            hits += found;
            sure_hits += sure < (double)INFINITY;
            if (found) {
                const double generous = nearest_of_all(&s.def, &ray, -1e-5, &generous_unsure);
                const double length =
                    sqrt((double)(ray.direction[0] * ray.direction[0] + ray.direction[1] * ray.direction[1] +
                                  ray.direction[2] * ray.direction[2]));
                check_hit(&s, &ray, &hit, size);
                if (kind != 2) /* there, lines and slivers may be hit first */
                    assert_true((double)hit.t >= generous - 2e-6 * size * (generous_unsure + 1 / length));
                if (sure < (double)INFINITY)
                    assert_true((double)hit.t <= sure + 2e-6 * size * (unsure + 1 / length));
            } else if (sure < (double)INFINITY) {
                /* Only at the very ends of the ray. */
                const double room = fmin(sure - (double)ray.t_min, (double)ray.t_max - sure);
                assert_near(room, 0, 1e-5 * size * unsure);
            }
        }
        /* Uncertain ones are aimed at small triangles and slivers. */
        assert_true(sure_hits > 1500 && hits > sure_hits - 10 && hits < sure_hits + (kind == 2 ? 1200 : 600));
        free(memory);
        surface_close(&s);
    }
}

/* To the bit: the nearest of every triangle's result in a separate tree, of equal ones the first. */
static void test_each_alone(void **state) {
    (void)state;
    enum { RAYS = 1000 };
    static ex_ray rays[RAYS];
    static ex_hit best[RAYS];
    uint64_t random = 6;
    for (int kind = 0; kind < SURFACE_KINDS; kind++) {
        surface s = surface_of_kind(kind);
        void *memory, *alone_memory;
        const ex_bounds *fit = fit_whole(&s.def, &memory);
        ex_tree_def alone = s.def;
        alone.triangle_count = 1;
        for (int i = 0; i < RAYS; i++) {
            draw_ray(&s, &random, i, &rays[i]);
            best[i] = (ex_hit){.triangle = -1};
            if (i % 3 == 0) { /* from one vertex at another, through edges and along planes */
                const float *a = s.positions + 3 * (random_bits(&random) % (uint64_t)s.def.vertex_count);
                const float *b = s.positions + 3 * (random_bits(&random) % (uint64_t)s.def.vertex_count);
                for (int c = 0; c < 3; c++) {
                    rays[i].origin[c] = i % 2 ? a[c] : 2 * a[c] - b[c];
                    rays[i].direction[c] = b[c] - a[c];
                }
            }
        }
        for (int t = 0; t < s.def.triangle_count; t++) {
            alone.triangles = s.triangles + 3 * t;
            const ex_bounds *one = fit_whole(&alone, &alone_memory);
            for (int i = 0; i < RAYS; i++) {
                ex_hit hit;
                if (!ex_bounds_ray(one, &rays[i], &hit) || (best[i].triangle >= 0 && hit.t >= best[i].t))
                    continue;
                best[i] = hit;
                best[i].triangle = t;
            }
            free(alone_memory);
        }
        for (int i = 0; i < RAYS; i++) {
            ex_hit hit;
            ex_bounds_ray(fit, &rays[i], &hit);
            assert_memory_equal(&hit, &best[i], sizeof hit);
            assert_int_equal(ex_bounds_blocked(fit, &rays[i]), hit.triangle >= 0);
        }
        free(memory);
        surface_close(&s);
    }
}

/* ---- edges and vertices ---- */

/* The lowest triangle of the grid that the point of its plane belongs to, exactly. */
static int lowest_at(const ex_tree_def *def, double x, double y) {
    for (int t = 0; t < def->triangle_count; t++) {
        double p[3][3];
        corners_of(def, t, p);
        bool inside = true;
        for (int i = 0; i < 3 && inside; i++) {
            const double *a = p[i], *b = p[(i + 1) % 3];
            inside = (b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0]) >= 0;
        }
        if (inside)
            return t;
    }
    return -1;
}

/* Straight down, and oblique with exact numbers: vertices, edges, the diagonal, the rim. */
static void test_plane(void **state) {
    (void)state;
    surface s = surface_grid(8);
    void *memory;
    const ex_bounds *fit = fit_whole(&s.def, &memory);
    for (int i = -2; i <= 34; i++)
        for (int j = -2; j <= 34; j++)
            for (int k = 0; k < 3; k++) {
                const float x = (float)i / 4, y = (float)j / 4, dx = (float)(k % 2) * 0.5f, dy = (float)(k / 2) * 0.25f;
                const ex_ray ray = {{x - 4 * dx, y - 4 * dy, 4}, {dx, dy, -1}, 0, INFINITY};
                ex_hit hit;
                ex_bounds_ray(fit, &ray, &hit);
                assert_int_equal(hit.triangle, lowest_at(&s.def, (double)x, (double)y));
                if (hit.triangle >= 0)
                    assert_true(hit.t == 4);
                /* Within the plane, along its edges: seen as a line. */
                const ex_ray along = {{-1, y, 0}, {1, 0, 0}, 0, INFINITY};
                assert_false(ex_bounds_ray(fit, &along, &hit));
            }
    free(memory);
    surface_close(&s);
}

/* Out of a closed surface: at random, at vertices, at edges, along axes; at home and far away. */
static void test_watertight(void **state) {
    (void)state;
    uint64_t random = 12;
    for (int far = 0; far < 2; far++) {
        surface s = surface_ball(12);
        const float shift = far ? 37.3f : 0;
        for (int i = 0; i < 3 * s.def.vertex_count; i++)
            s.positions[i] += shift;
        void *memory;
        const ex_bounds *fit = fit_whole(&s.def, &memory);
        for (int round = 0; round < 100000; round++) {
            ex_ray ray = {.t_min = 0, .t_max = INFINITY};
            const uint32_t *t = s.triangles + 3 * (random_bits(&random) % (uint64_t)s.def.triangle_count);
            const float *a = s.positions + 3 * t[0], *b = s.positions + 3 * t[1 + round % 2];
            const double w = random_between(&random, 0, 1);
            for (int c = 0; c < 3; c++) {
                ray.origin[c] = round % 8 == 7 ? shift : (float)(random_between(&random, -0.4, 0.4) + (double)shift);
                double aim = round % 4 < 2 ? (double)a[c] + w * ((double)b[c] - (double)a[c]) : (double)a[c];
                ray.direction[c] =
                    round % 4 == 3 ? (float)random_between(&random, -1, 1) : (float)(aim - (double)ray.origin[c]);
            }
            if (round % 16 == 3)
                ray.direction[0] = ray.direction[1] = 0;
            if (round % 16 == 11)
                ray.direction[1] = 0;
            ex_hit hit;
            assert_true(ex_bounds_ray(fit, &ray, &hit));
            assert_true(ex_bounds_blocked(fit, &ray));
        }
        free(memory);
        surface_close(&s);
    }
}

/* ---- sizes ---- */

static void test_sizes(void **state) {
    (void)state;
    const double sizes[] = {1e-30, 1e-15, 1e-6, 1, 1e6, 1e16};
    uint64_t random = 7;
    surface s = surface_ball(4), moved = surface_ball(4);
    void *memory, *moved_memory;
    const ex_bounds *fit = fit_whole(&s.def, &memory);
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
        for (int i = 0; i < 3 * s.def.vertex_count; i++)
            moved.positions[i] = (float)(sizes[k] * (double)s.positions[i]);
        const ex_bounds *other = fit_whole(&moved.def, &moved_memory);
        for (int round = 0; round < 1000; round++) {
            ex_ray ray;
            ex_hit hit, moved_hit;
            draw_ray(&s, &random, 4 * round + 1, &ray);
            ray.t_min = 0;
            ray.t_max = INFINITY;
            ex_bounds_ray(fit, &ray, &hit);
            for (int c = 0; c < 3; c++) {
                ray.origin[c] = (float)(sizes[k] * (double)ray.origin[c]);
                ray.direction[c] = (float)(sizes[k] * (double)ray.direction[c]);
            }
            ex_bounds_ray(other, &ray, &moved_hit);
            if (hit.triangle >= 0)
                assert_true(moved_hit.triangle >= 0);
            assert_near((double)moved_hit.t, (double)hit.t, 1e-4);
        }
        free(moved_memory);
    }
    free(memory);
    surface_close(&s);
    surface_close(&moved);
}

/* A direction of any length hits the same: also one that is denormal, or nearly too large. */
static void test_lengths(void **state) {
    (void)state;
    surface s = surface_ball(4);
    void *memory;
    const ex_bounds *fit = fit_whole(&s.def, &memory);
    const int exponents[] = {-149, -140, -127, -126, -60, 60, 125, 126, 127};
    for (size_t k = 0; k < sizeof exponents / sizeof exponents[0]; k++) {
        const float length = ldexpf(1, exponents[k]);
        ex_ray ray = {.origin = {0.01f, 0.02f, 3}, .direction = {0, 0, -1}, .t_max = INFINITY};
        ex_hit hit, same;
        assert_true(ex_bounds_ray(fit, &ray, &hit));
        ray.direction[2] = -length;
        assert_true(ex_bounds_ray(fit, &ray, &same));
        assert_int_equal(same.triangle, hit.triangle);
        assert_memory_equal(&same.u, &hit.u, 2 * sizeof same.u);
        if (exponents[k] > -126)
            assert_true(same.t == hit.t / length);
    }
    free(memory);
    surface_close(&s);
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
    surface s = surface_ball(4);
    void *memory, *none_memory;
    const ex_tree_def nothing = {0};
    const ex_bounds *fit = fit_whole(&s.def, &memory), *none = fit_whole(&nothing, &none_memory);
    const ex_ray good = {{0, 0, 0}, {1, 0.1f, 0.2f}, 0, INFINITY};
    ex_hit hit;
    assert_true(ex_bounds_ray(fit, &good, &hit));
    assert_false(ex_bounds_ray(none, &good, &hit) || ex_bounds_blocked(none, &good));
    for (int i = 0; i < 10; i++) {
        ex_ray ray = good;
        switch (i) {
        case 0:
            ray.origin[1] = NAN;
            break;
        case 1:
            ray.origin[2] = INFINITY;
            break;
        case 2:
            ray.origin[0] = -1e19f; /* straight at it */
            ray.direction[1] = ray.direction[2] = 0;
            break;
        case 3:
            ray.direction[0] = NAN;
            break;
        case 4:
            ray.direction[1] = -INFINITY;
            break;
        case 5:
            ray.direction[0] = ray.direction[1] = ray.direction[2] = 0;
            break;
        case 6:
            ray.t_min = NAN;
            break;
        case 7:
            ray.t_max = NAN;
            break;
        case 8:
            ray.t_max = -1;
            break;
        default:
            ray.t_min = 3;
            ray.t_max = 2;
            break;
        }
        hit.triangle = 7;
        assert_false(ex_bounds_ray(fit, &ray, &hit));
        assert_int_equal(hit.triangle, -1);
        assert_false(ex_bounds_blocked(fit, &ray));
    }
    ex_set_misuse_hook(count_misuse);
    misuses = 0;
    assert_false(ex_bounds_ray(NULL, &good, &hit) || ex_bounds_ray(fit, NULL, &hit) || ex_bounds_ray(fit, &good, NULL));
    assert_false(ex_bounds_blocked(NULL, &good) || ex_bounds_blocked(fit, NULL));
    assert_int_equal(misuses, 5);
    ex_set_misuse_hook(NULL);
    free(memory);
    free(none_memory);
    surface_close(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand), cmocka_unit_test(test_against_all), cmocka_unit_test(test_each_alone),
        cmocka_unit_test(test_plane),   cmocka_unit_test(test_watertight),  cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_lengths), cmocka_unit_test(test_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

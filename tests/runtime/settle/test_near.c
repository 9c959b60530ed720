/*
 * Closest points of clusters: to the bit those of single queries, with any earlier knowledge, on surfaces of all kinds,
 * for points near and far, together and apart, and if some are not finite.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "surfaces.h"

#include "runtime/settle/settler.h"

static exi_view view_on(const surface *s, const ex_bounds *fit) {
    float scale = 0;
    for (int c = 0; c < 3; c++) {
        scale = fmaxf(scale, fabsf(fit->low[c]));
        scale = fmaxf(scale, fabsf(fit->high[c]));
    }
    return (exi_view){fit, s->positions, s->triangles, (uint32_t)s->def.triangle_count, scale};
}

static void compare_all(const surface *s, const exi_view *view, float (*points)[3], int count, exi_near *near) {
    exi_near_cluster(view, points, count, near);
    for (int i = 0; i < count; i++) {
        ex_closest one;
        if (!ex_bounds_closest(view->fit, points[i], INFINITY, &one)) {
            assert_true(near->triangle[i] == EXI_NO_TRIANGLE);
            continue;
        }
        if (near->triangle[i] != (uint32_t)one.triangle)
            fail_msg("%s, point %d: triangle %u at %.9g, not %d at %.9g", s->name, i, near->triangle[i],
                     (double)near->distance_sq[i], one.triangle, (double)one.distance_sq);
        assert_true(near->distance_sq[i] == one.distance_sq && near->u[i] == one.u && near->v[i] == one.v);
        for (int c = 0; c < 3; c++)
            assert_true(points[i][c] + near->away[c][i] == one.point[c]);
    }
}

/* A cluster around a corner of the surface: `size` apart, `off` away. */
static void make_cluster(const surface *s, uint64_t *seed, double size, double off, int count, float (*points)[3]) {
    const uint32_t vertex = (uint32_t)(random_bits(seed) % (uint64_t)s->def.vertex_count);
    for (int i = 0; i < count; i++)
        for (int c = 0; c < 3; c++)
            points[i][c] = s->positions[3 * vertex + (uint32_t)c] +
                           (float)(random_between(seed, -size, size) + (c == 1 ? off : 0));
}

static void test_any_hint(void **state) {
    (void)state;
    uint64_t seed = 5;
    for (int kind = 0; kind < SURFACE_KINDS; kind++) {
        surface s = surface_of_kind(kind);
        void *memory;
        const ex_bounds *fit = fit_whole(&s.def, &memory);
        const exi_view view = view_on(&s, fit);
        for (int round = 0; round < 60; round++) {
            float points[EXI_CLUSTER][3];
            exi_near near;
            const int count = 1 + (int)(random_bits(&seed) % EXI_CLUSTER);
            make_cluster(&s, &seed, pow(10, random_between(&seed, -3, 0.5)), round % 3 * 0.02, count, points);
            if (round % 4 == 1) /* on the surface itself, where triangles tie */
                for (int i = 0; i < count; i++)
                    memcpy(points[i], s.positions + 3 * (random_bits(&seed) % (uint64_t)s.def.vertex_count), 12);
            for (int i = 0; i < count; i++)
                near.triangle[i] = (uint32_t)(random_bits(&seed) % (uint64_t)(2 * s.def.triangle_count));
            compare_all(&s, &view, points, count, &near);
            for (int i = 0; i < count; i++) /* and from there a little further */
                for (int c = 0; c < 3; c++)
                    points[i][c] += (float)random_between(&seed, -0.01, 0.01);
            compare_all(&s, &view, points, count, &near);
        }
        surface_close(&s);
        free(memory);
    }
}

/* Far outside, where a cluster has more blocks around it than can be processed at once, and part of it has not;
 * starting from earlier results, some of them wrong. */
static void test_loose(void **state) {
    (void)state;
    uint64_t seed = 7;
    surface s = surface_ball(20);
    void *memory;
    const ex_bounds *fit = fit_whole(&s.def, &memory);
    const exi_view view = view_on(&s, fit);
    for (int round = 0; round < 80; round++) {
        float points[EXI_CLUSTER][3];
        exi_near near;
        const int count = round % 2 ? EXI_CLUSTER : 1 + (int)(random_bits(&seed) % EXI_CLUSTER);
        const uint32_t vertex = (uint32_t)(random_bits(&seed) % (uint64_t)s.def.vertex_count);
        for (int i = 0; i < count; i++) {
            ex_closest one;
            for (int c = 0; c < 3; c++)
                points[i][c] = (1.1f + 0.02f * (float)(round % 16)) * s.positions[3 * vertex + (uint32_t)c] +
                               (float)random_between(&seed, -0.05, 0.05) + 0.1f * (float)(i / 4 == c);
            ex_bounds_closest(fit, points[i], INFINITY, &one);
            near.triangle[i] = (uint32_t)one.triangle ^ (round % 3 == 0 && i % 5 == 0);
        }
        compare_all(&s, &view, points, count, &near);
    }
    surface_close(&s);
    free(memory);
}

/* The same numbers far from the origin, where most of their digits are lost. */
static void test_far_away(void **state) {
    (void)state;
    uint64_t seed = 6;
    surface s = surface_ball(6);
    for (int v = 0; v < 3 * s.def.vertex_count; v++)
        s.positions[v] = 300 + 0.2f * s.positions[v];
    void *memory;
    const ex_bounds *fit = fit_whole(&s.def, &memory);
    const exi_view view = view_on(&s, fit);
    for (int round = 0; round < 100; round++) {
        float points[EXI_CLUSTER][3];
        exi_near near;
        make_cluster(&s, &seed, 0.03, 0, EXI_CLUSTER, points);
        for (int i = 0; i < EXI_CLUSTER; i++)
            near.triangle[i] = (uint32_t)(random_bits(&seed) % (uint64_t)s.def.triangle_count);
        compare_all(&s, &view, points, EXI_CLUSTER, &near);
        make_cluster(&s, &seed, 0.03, 0, EXI_CLUSTER, points);
        compare_all(&s, &view, points, EXI_CLUSTER, &near);
    }
    surface_close(&s);
    free(memory);
}

static void test_not_finite(void **state) {
    (void)state;
    surface s = surface_ball(3);
    s.positions[3 * 5] = NAN;
    for (int i = 0; i < 12; i++) /* all of some blocks */
        s.positions[3 * s.triangles[i]] = INFINITY;
    void *memory;
    const ex_bounds *fit = fit_whole(&s.def, &memory);
    const exi_view view = view_on(&s, fit);
    float points[EXI_CLUSTER][3] = {{0, 0, 1}, {NAN, 0, 0}, {0, 1, 0}, {0, 1e30f, 0}, {1, 0, 0}};
    for (uint32_t hint = 0; hint < 3; hint++) {
        exi_near near;
        for (int i = 0; i < EXI_CLUSTER; i++)
            near.triangle[i] = hint == 0 ? EXI_NO_TRIANGLE : hint;
        compare_all(&s, &view, points, 5, &near);
    }
    for (int v = 0; v < 3 * s.def.vertex_count; v++)
        s.positions[v] = NAN;
    free(memory);
    const exi_view nothing = view_on(&s, fit_whole(&s.def, &memory));
    exi_near near = {.triangle = {1, 2, 3, 4, 5}};
    compare_all(&s, &nothing, points, 5, &near);
    surface_close(&s);
    free(memory);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_any_hint),
        cmocka_unit_test(test_loose),
        cmocka_unit_test(test_far_away),
        cmocka_unit_test(test_not_finite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

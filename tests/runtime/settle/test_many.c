/*
 * Many queries in one call: to the bit the single ones, for packed and strided rows, with tasks cut anyhow, and
 * misuse.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "surfaces.h"

enum { COUNT = 300, ROW = 5 }; /* floats from one row to the next */

/* A hook that cuts a range into single items, last first. */
static void run_backwards(void *user, int count, int grain, ex_task_body body, void *context) {
    (void)grain;
    ++*(int *)user;
    for (int i = count - 1; i >= 0; i--)
        body(context, i, i + 1);
}

typedef struct queries {
    float points[COUNT * ROW], directions[COUNT * ROW], t_min[COUNT], t_max[COUNT];
} queries;

/* Some are not finite, some have no direction. */
static void fill(queries *q, uint64_t seed) {
    for (int i = 0; i < COUNT * ROW; i++) {
        q->points[i] = (float)random_between(&seed, -2, 2);
        q->directions[i] = (float)random_between(&seed, -1, 1);
    }
    for (int i = 0; i < COUNT; i++) {
        q->t_min[i] = (float)random_between(&seed, 0, 1);
        q->t_max[i] = (float)random_between(&seed, 0, 6);
    }
    q->points[7 * ROW] = NAN;
    q->points[8 * ROW + 2] = INFINITY;
    memset(q->directions + 9 * ROW, 0, ROW * sizeof(float));
    q->t_max[10] = NAN;
}

static void check_closest(const ex_bounds *fit, const queries *q, int row, const ex_tasks *tasks) {
    const float reaches[] = {INFINITY, 0.5f, 0, -1, NAN};
    for (size_t r = 0; r < sizeof reaches / sizeof *reaches; r++) {
        ex_closest many[COUNT], one;
        memset(many, 0x55, sizeof many);
        ex_bounds_closest_many(fit, COUNT, q->points, row == 3 ? 0 : (size_t)row * 4, reaches[r], many, tasks);
        for (int i = 0; i < COUNT; i++) {
            ex_bounds_closest(fit, q->points + row * i, reaches[r], &one);
            assert_memory_equal(&many[i], &one, sizeof one);
        }
    }
}

static void check_rays(const ex_bounds *fit, const queries *q, int row, bool ranges, const ex_tasks *tasks) {
    const size_t stride = row == 3 ? 0 : (size_t)row * 4;
    const ex_rays rays = {.count = COUNT,
                          .origins = q->points,
                          .origin_stride = stride,
                          .directions = q->directions,
                          .direction_stride = stride,
                          .t_min = ranges ? q->t_min : NULL,
                          .t_max = ranges ? q->t_max : NULL};
    ex_hit hits[COUNT], one;
    bool blocked[COUNT];
    int found = 0;
    memset(hits, 0x55, sizeof hits);
    ex_bounds_ray_many(fit, &rays, hits, tasks);
    ex_bounds_blocked_many(fit, &rays, blocked, tasks);
    for (int i = 0; i < COUNT; i++) {
        ex_ray ray = {.t_min = ranges ? q->t_min[i] : 0, .t_max = ranges ? q->t_max[i] : INFINITY};
        memcpy(ray.origin, q->points + row * i, 12);
        memcpy(ray.direction, q->directions + row * i, 12);
        found += ex_bounds_ray(fit, &ray, &one);
        assert_memory_equal(&hits[i], &one, sizeof one);
        assert_int_equal(blocked[i], one.triangle >= 0);
    }
    assert_in_range(found, 5, COUNT - 5);
}

static void test_as_single_ones(void **state) {
    (void)state;
    static queries q;
    fill(&q, 11);
    int calls = 0;
    const ex_tasks backwards = {run_backwards, &calls};
    surface surfaces[] = {surface_ball(4), surface_soup(200, 1)};
    for (int s = 0; s < 2; s++) {
        void *memory;
        const ex_bounds *fit = fit_whole(&surfaces[s].def, &memory);
        for (int t = 0; t < 2; t++) {
            check_closest(fit, &q, 3, t ? &backwards : NULL);
            check_closest(fit, &q, ROW, t ? &backwards : NULL);
            check_rays(fit, &q, 3, false, t ? &backwards : NULL);
            check_rays(fit, &q, ROW, true, t ? &backwards : NULL);
        }
        free(memory);
        surface_close(&surfaces[s]);
    }
    assert_int_equal(calls, 2 * (2 * 5 + 2 * 2)); /* the hook was used, once a call */
}

static int misuses;

static void count_misuse(const char *function, const char *what) {
    (void)function;
    assert_true(what && what[0]);
    misuses++;
}

static void test_misuse(void **state) {
    (void)state;
    surface s = surface_ball(2);
    void *memory;
    const ex_bounds *fit = fit_whole(&s.def, &memory);
    float points[8] = {0};
    ex_closest closest[2] = {{.triangle = 77}, {.triangle = 77}};
    ex_hit hits[2] = {{.triangle = 77}, {.triangle = 77}};
    bool blocked[2] = {true, true};
    const ex_rays good = {.count = 2, .origins = points, .directions = points};
    ex_rays wrong[6];
    for (int i = 0; i < 6; i++)
        wrong[i] = good;
    wrong[0].count = -1;
    wrong[1].origins = NULL;
    wrong[2].directions = NULL;
    wrong[3].origin_stride = 8;
    wrong[4].direction_stride = 14;
    wrong[5].t_max = (const float *)(const void *)((const char *)points + 1);
    ex_set_misuse_hook(count_misuse);
    misuses = 0;
    ex_bounds_closest_many(NULL, 2, points, 0, 1, closest, NULL);
    ex_bounds_closest_many(fit, -1, points, 0, 1, closest, NULL);
    ex_bounds_closest_many(fit, 2, NULL, 0, 1, closest, NULL);
    ex_bounds_closest_many(fit, 2, points, 0, 1, NULL, NULL);
    ex_bounds_closest_many(fit, 2, points, 13, 1, closest, NULL);
    assert_int_equal(misuses, 5);
    for (int i = 0; i < 6; i++) {
        ex_bounds_ray_many(fit, &wrong[i], hits, NULL);
        ex_bounds_blocked_many(fit, &wrong[i], blocked, NULL);
    }
    ex_bounds_ray_many(NULL, &good, hits, NULL);
    ex_bounds_ray_many(fit, NULL, hits, NULL);
    ex_bounds_ray_many(fit, &good, NULL, NULL);
    ex_bounds_blocked_many(fit, &good, NULL, NULL);
    assert_int_equal(misuses, 5 + 12 + 4);
    assert_true(closest[0].triangle == 77 && hits[0].triangle == 77 && blocked[0]);
    ex_bounds_closest_many(fit, 0, NULL, 0, 1, NULL, NULL); /* nothing to do is fine */
    ex_bounds_ray_many(fit, &(ex_rays){0}, NULL, NULL);
    assert_int_equal(misuses, 5 + 12 + 4);
    ex_set_misuse_hook(NULL);
    free(memory);
    surface_close(&s);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_as_single_ones), cmocka_unit_test(test_misuse)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

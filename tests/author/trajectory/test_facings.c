/*
 * Local steps: a form that fits pulls at nothing, pulls do not depend on the order of triangles or on the instruction
 * set, and those of triangles that are almost a line stay as small as the triangles.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "author/trajectory/trajectory.h"
#include "support/bars.h"

/* Computes the pull on a form at time t [vertex_count][3], freed by the caller. */
static double *pull_on(const ex_between *b, double t, const double *form) {
    void *facings = malloc(exi_facings_size(b));
    exi_goal *goals = malloc(exi_goals_size(b));
    double *right = calloc(3 * (size_t)b->vertex_count, sizeof *right);
    assert_true(facings && goals && right);
    exi_goals_set(b, t, goals);
    exi_local_step(b, goals, form, facings, right);
    free(facings);
    free(goals);
    return right;
}

static ex_between *must_create(int vertex_count, int triangle_count, const int *triangles, const double *start,
                               const double *end) {
    const ex_between_def def = {.vertex_count = vertex_count,
                                .triangle_count = triangle_count,
                                .triangles = triangles,
                                .start = start,
                                .end = end};
    ex_between *between;
    ex_error error;
    if (ex_between_create(&def, &between, &error) != EX_OK)
        fail_msg("%s", error.text);
    return between;
}

static double largest(const double *values, int count) {
    double most = 0;
    for (int i = 0; i < count; i++) {
        assert_true(isfinite(values[i]));
        most = fmax(most, fabs(values[i]));
    }
    return most;
}

static void what_fits_is_not_pulled(void **state) {
    (void)state;
    bent_bar bar = bar_make(9, 5, 0, 0); /* not a multiple of the lanes */
    double *end = calloc(3 * (size_t)bar.vertex_count, sizeof *end);
    assert_non_null(end);
    bar_bend(&bar, 6, 100, end);
    ex_between *between = must_create(bar.vertex_count, bar.triangle_count, bar.triangles, bar.points, end);
    double *right = pull_on(between, 1, between->aligned);
    assert_true(largest(right, 3 * bar.vertex_count) < 1e-5);
    free(right);
    right = pull_on(between, 0.5, between->aligned);
    assert_true(largest(right, 3 * bar.vertex_count) > 1e-2);
    free(right);
    ex_between_destroy(between);
    free(end);
    bar_free(&bar);
}

static void order_does_not_matter(void **state) {
    (void)state;
    bent_bar bar = bar_make(9, 5, 0, 0);
    double *end = calloc(3 * (size_t)bar.vertex_count, sizeof *end);
    int *turned = calloc(3 * (size_t)bar.triangle_count, sizeof *turned);
    assert_true(end && turned);
    bar_bend(&bar, 6, 100, end);
    for (int t = 0; t < bar.triangle_count; t++)
        memcpy(turned + 3 * t, bar.triangles + 3 * (bar.triangle_count - 1 - t), 3 * sizeof *turned);
    ex_between *one = must_create(bar.vertex_count, bar.triangle_count, bar.triangles, bar.points, end);
    ex_between *other = must_create(bar.vertex_count, bar.triangle_count, turned, bar.points, end);
    double *right = pull_on(one, 0.5, one->aligned), *left = pull_on(other, 0.5, one->aligned);
    for (int i = 0; i < 3 * bar.vertex_count; i++)
        assert_true(fabs(right[i] - left[i]) < 1e-5);
    free(right);
    free(left);
    ex_between_destroy(one);
    ex_between_destroy(other);
    free(turned);
    free(end);
    bar_free(&bar);
}

/* With neighbours far apart, the ring holds all triangles: here every seventh one comes first, then the next, … */
static void distant_neighbours_are_kept(void **state) {
    (void)state;
    enum { STEP = 7 };
    bent_bar bar = bar_make(31, 9, 0, 0);
    double *end = calloc(3 * (size_t)bar.vertex_count, sizeof *end);
    int *spread = calloc(3 * (size_t)bar.triangle_count, sizeof *spread), at = 0;
    assert_true(end && spread);
    bar_bend(&bar, 6, 100, end);
    for (int first = 0; first < STEP; first++)
        for (int t = first; t < bar.triangle_count; t += STEP)
            memcpy(spread + 3 * at++, bar.triangles + 3 * t, 3 * sizeof *spread);
    ex_between *one = must_create(bar.vertex_count, bar.triangle_count, bar.triangles, bar.points, end);
    ex_between *other = must_create(bar.vertex_count, bar.triangle_count, spread, bar.points, end);
    assert_true(one->flats.ring < one->flats.group_count);
    assert_true(other->flats.ring > one->flats.ring);
    double *right = pull_on(one, 0.5, one->aligned), *left = pull_on(other, 0.5, one->aligned);
    for (int i = 0; i < 3 * bar.vertex_count; i++)
        assert_true(fabs(right[i] - left[i]) < 1e-5);
    free(right);
    free(left);
    ex_between_destroy(one);
    ex_between_destroy(other);
    free(spread);
    free(end);
    bar_free(&bar);
}

static void sets_give_the_same_bits(void **state) {
    (void)state;
    static const char *const sets[] = {"sse2", "avx2", "avx512"};
    const char *before = ex_simd_name();
    bent_bar bar = bar_make(31, 9, 0, 0);
    const size_t n = 3 * (size_t)bar.vertex_count;
    double *end = calloc(n, sizeof *end), *form = calloc(n, sizeof *form);
    assert_true(end && form);
    bar_bend(&bar, 6, 100, end);
    ex_between *between = must_create(bar.vertex_count, bar.triangle_count, bar.triangles, bar.points, end);
    for (size_t i = 0; i < n; i++) /* some triangles are folded, and drawn back */
        form[i] = between->aligned[i] + 0.3 * sin(1.7 * (double)i);
    double *wanted = pull_on(between, 0.3, form);
    for (size_t s = 0; s < sizeof sets / sizeof *sets; s++) {
        if (!ex_simd_use(sets[s]))
            continue;
        double *right = pull_on(between, 0.3, form);
        assert_memory_equal(right, wanted, n * sizeof *right);
        free(right);
    }
    ex_simd_use(before);
    free(wanted);
    ex_between_destroy(between);
    free(end);
    free(form);
    bar_free(&bar);
}

/* A triangle is drawn out to a line, five times as long: no pull may be much larger than that, however thin it is. */
static void lines_are_pulled_gently(void **state) {
    (void)state;
    static const double start[] = {0, 0, 0, 1, 0, 0, 0.37, 1, 0};
    static const int triangle[] = {0, 1, 2};
    ex_between *between = must_create(3, 1, triangle, start, start);
    for (int k = 0; k < 400; k++) {
        const double height = pow(10, -k / 40.0), along[3] = {0.36, 0.48, 0.8}, across[3] = {0.8, -0.6, 0};
        double form[9];
        for (int c = 0; c < 3; c++)
            for (int i = 0; i < 3; i++)
                form[3 * c + i] =
                    (start[3 * c] + 5 * start[3 * c + 1]) * along[i] + height * start[3 * c + 1] * across[i];
        double *right = pull_on(between, 0.5, form);
        assert_true(largest(right, 9) < 6);
        free(right);
    }
    ex_between_destroy(between);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_fits_is_not_pulled),     cmocka_unit_test(order_does_not_matter),
        cmocka_unit_test(distant_neighbours_are_kept), cmocka_unit_test(sets_give_the_same_bits),
        cmocka_unit_test(lines_are_pulled_gently),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * Stretch: triangles worked by hand, percentiles by sorting, rigid motions that change nothing, flipped triangles with
 * and without a screw, triangles without area, any division of the work.
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
#include "support/check.h"
#include "support/fail_alloc.h"

static ex_between *must_create(int vertex_count, int triangle_count, const int *triangles, const double *start,
                               const double *end, const ex_tasks *tasks) {
    const ex_between_def def = {.vertex_count = vertex_count,
                                .triangle_count = triangle_count,
                                .triangles = triangles,
                                .start = start,
                                .end = end,
                                .tasks = tasks};
    ex_between *between;
    ex_error error;
    if (ex_between_create(&def, &between, &error) != EX_OK)
        fail_msg("%s", error.text);
    return between;
}

static ex_stretch must_measure(const ex_between *between, double t, const double *positions, double *values) {
    ex_stretch stretch;
    ex_error error;
    if (ex_between_stretch(between, t, positions, &stretch, values, &error) != EX_OK)
        fail_msg("%s", error.text);
    return stretch;
}

/* ---- by hand ---- */

static const int one[3] = {0, 1, 2};
static const double flat[9] = {0, 0, 0, 2, 0, 0, 0, 1, 0};

/* From twice as wide to three times as wide: the triangle alone is stretched by (1 - t) + 1.5 t along x. */
static void one_triangle_by_hand(void **state) {
    (void)state;
    static const double wide[9] = {0, 0, 0, 3, 0, 0, 0, 1, 0}; /* S = diag(1.5, 1, 1) */
    static const double sheared[9] = {0, 0, 0, 2, 0, 0, 1, 1, 0};
    static const double point[9] = {5, 5, 5, 5, 5, 5, 5, 5, 5};
    ex_between *between = must_create(3, 1, one, flat, wide, NULL);
    const struct {
        const double *form;
        double t, expected;
    } cases[] = {
        {flat, 0, 0},
        {wide, 1, 0},
        {wide, 0, 0.5},                     /* 1.5 along x against 1 */
        {flat, 1, 1.0 / 3},                 /* 1 against 1.5: 1 - 2/3 */
        {flat, 0.5, 0.2},                   /* 1 against 1.25 */
        {wide, 0.5, 0.2},                   /* 1.5 against 1.25 */
        {point, 0.5, 1},                    /* squeezed to nothing */
        {sheared, 0, 0.618033988749894848}, /* [1 1; 0 1] has the golden ratio and its inverse as singular values */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        double value;
        const ex_stretch stretch = must_measure(between, cases[i].t, cases[i].form, &value);
        assert_near(value, cases[i].expected, 1e-12);
        for (int p = 0; p < 4; p++)
            assert_near(stretch.percentiles[p], cases[i].expected, 1e-12);
        assert_int_equal(stretch.flipped, 0);
    }
    ex_between_destroy(between);
}

/* Values are the same if requested or not. */
static void values_may_be_left_out(void **state) {
    (void)state;
    static const double wide[9] = {0, 0, 0, 3, 0, 0, 0, 1, 0};
    ex_between *between = must_create(3, 1, one, flat, wide, NULL);
    const ex_stretch stretch = must_measure(between, 0, wide, NULL);
    assert_near(stretch.percentiles[0], 0.5, 1e-12);
    ex_between_destroy(between);
}

/* NaN must not count as unstretched, nor spoil the order of others. */
static void numbers_that_are_none(void **state) {
    (void)state;
    const double broken[9] = {0, 0, 0, NAN, 0, 0, 0, 1, 0};
    double value;
    ex_between *between = must_create(3, 1, one, flat, flat, NULL);
    const ex_stretch stretch = must_measure(between, 0.5, broken, &value);
    assert_true(isinf(value) && isinf(stretch.percentiles[0]) && isinf(stretch.percentiles[3]));
    ex_between_destroy(between);
}

/* ---- meshes ---- */

static int compare_doubles(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double sorted_percentile(const double *sorted, int count, double percent) {
    const double place = percent / 100 * (count - 1);
    const int lower = (int)place, upper = lower + 1 < count ? lower + 1 : lower;
    return sorted[lower] + (place - lower) * (sorted[upper] - sorted[lower]);
}

typedef struct bent {
    bent_bar bar;
    double *end, *form, *other, *values;
    ex_between *between;
} bent;

static bent bend(int pieces, const ex_tasks *tasks) {
    bent b = {.bar = bar_make(pieces, 6, 0, 0)};
    const size_t n = 3 * (size_t)b.bar.vertex_count;
    b.end = calloc(n, sizeof *b.end);
    b.form = calloc(n, sizeof *b.form);
    b.other = calloc(n, sizeof *b.other);
    b.values = calloc((size_t)b.bar.triangle_count, sizeof *b.values);
    assert_true(b.end && b.form && b.other && b.values);
    bar_bend(&b.bar, 6, 110, b.end);
    for (size_t i = 0; i < n; i += 3) { /* and rigidly turned and moved, so that there is a screw */
        const double y = b.end[i + 1];
        b.end[i + 1] = -b.end[i + 2] + 4;
        b.end[i + 2] = y * 1.1;
    }
    b.between = must_create(b.bar.vertex_count, b.bar.triangle_count, b.bar.triangles, b.bar.points, b.end, tasks);
    return b;
}

static void unbend(bent *b) {
    ex_between_destroy(b->between);
    free(b->end);
    free(b->form);
    free(b->other);
    free(b->values);
    bar_free(&b->bar);
}

static void percentiles_are_those_of_the_sorted(void **state) {
    (void)state;
    static const double percents[4] = {50, 90, 99, 99.9};
    uint64_t random = 6;
    for (int pieces = 1; pieces < 40; pieces += 7) {
        bent b = bend(pieces, NULL);
        assert_int_equal(ex_between_form(b.between, EX_BETWEEN_LINEAR, 0.4, b.form, NULL), EX_OK);
        for (int i = 0; i < 3 * b.bar.vertex_count; i++)
            b.form[i] += random_between(&random, -0.02, 0.02);
        const ex_stretch stretch = must_measure(b.between, 0.4, b.form, b.values);
        qsort(b.values, (size_t)b.bar.triangle_count, sizeof *b.values, compare_doubles);
        for (int p = 0; p < 4; p++)
            assert_near(stretch.percentiles[p], sorted_percentile(b.values, b.bar.triangle_count, percents[p]), 1e-14);
        assert_true(stretch.percentiles[0] > 0.01);
        unbend(&b);
    }
}

/* The ends are those of every triangle alone; a rigid motion changes no stretch. */
static void ends_and_motions(void **state) {
    (void)state;
    bent b = bend(12, NULL);
    const double axis[3] = {1, -2, 0.5}, place[3] = {3, 0, 9};
    assert_near(must_measure(b.between, 0, b.bar.points, NULL).percentiles[3], 0, 1e-12);
    assert_near(must_measure(b.between, 1, b.end, NULL).percentiles[3], 0, 1e-12);
    assert_int_equal(must_measure(b.between, 1, b.end, NULL).flipped, 0);
    assert_int_equal(ex_between_form(b.between, EX_BETWEEN_LINEAR, 0.4, b.form, NULL), EX_OK);
    const ex_stretch still = must_measure(b.between, 0.4, b.form, NULL);
    memcpy(b.bar.points, b.form, 3 * (size_t)b.bar.vertex_count * sizeof *b.form);
    bar_screw(&b.bar, axis, place, 77, 2, b.other);
    const ex_stretch moved = must_measure(b.between, 0.4, b.other, NULL);
    assert_row_near(moved.percentiles, still.percentiles, 4, 1e-12);
    unbend(&b);
}

/* A square turned about an edge by 170 degrees, and at t by more or less than a right angle from its right place: all
 * of it is flipped, or nothing. */
static void a_square_turned_over(void **state) {
    (void)state;
    static const int two[6] = {0, 1, 2, 0, 2, 3};
    static const double square[12] = {0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0};
    const double degree = 3.14159265358979323846 / 180;
    double end[12], form[12];
    for (int v = 0; v < 4; v++) {
        end[3 * v] = square[3 * v];
        end[3 * v + 1] = square[3 * v + 1] * cos(170 * degree);
        end[3 * v + 2] = square[3 * v + 1] * sin(170 * degree);
    }
    ex_between *between = must_create(4, 2, two, square, end, NULL);
    for (int k = 0; k <= 10; k++)
        for (int away = -100; away <= 100; away += 20) {
            const double angle = (170 * k / 10.0 + away) * degree;
            for (int v = 0; v < 4; v++) {
                form[3 * v] = square[3 * v];
                form[3 * v + 1] = square[3 * v + 1] * cos(angle);
                form[3 * v + 2] = square[3 * v + 1] * sin(angle);
            }
            const ex_stretch stretch = must_measure(between, k / 10.0, form, NULL);
            assert_int_equal(stretch.flipped, abs(away) > 90 ? 2 : 0);
            assert_near(stretch.percentiles[3], 0, 1e-12);
        }
    ex_between_destroy(between);
}

/* Curled to 260 degrees, its ends are turned by more than a right angle both ways, correctly. */
static void turned_limbs_are_not_flipped(void **state) {
    (void)state;
    bent_bar bar = bar_make(16, 8, 0, 0);
    double *end = calloc(3 * (size_t)bar.vertex_count, sizeof *end);
    assert_non_null(end);
    bar_bend(&bar, 8, 260, end);
    ex_between *between = must_create(bar.vertex_count, bar.triangle_count, bar.triangles, bar.points, end, NULL);
    assert_int_equal(must_measure(between, 1, end, NULL).flipped, 0);
    assert_true(must_measure(between, 0, end, NULL).flipped > 8);
    ex_between_destroy(between);
    free(end);
    bar_free(&bar);
}

static void a_folded_triangle(void **state) {
    (void)state;
    /* One of two is folded over their common edge by 100 degrees, then by 80. */
    static const int two[6] = {0, 1, 2, 0, 2, 3};
    static const double square[12] = {0, 0, 0, 1, -1, 0, 1, 1, 0, 0, 2, 0};
    ex_between *between = must_create(4, 2, two, square, square, NULL);
    for (int k = 0; k < 2; k++) {
        double folded[12], value[2];
        const double angle = (k ? 80 : 100) * 3.14159265358979 / 180, across = sqrt(2.0);
        memcpy(folded, square, sizeof folded);
        /* The edge from 0 0 to 1 1; corner 3 at 0 2 is sqrt 2 away from its foot at 1 1. */
        folded[9] = 1 - across * cos(angle) * sqrt(0.5);
        folded[10] = 1 + across * cos(angle) * sqrt(0.5);
        folded[11] = across * sin(angle);
        const ex_stretch stretch = must_measure(between, 0.5, folded, value);
        assert_int_equal(stretch.flipped, k ? 0 : 1);
        assert_near(value[1], 0, 1e-12);
    }
    ex_between_destroy(between);
}

/* They have no stretch, and do not count in percentiles. */
static void triangles_without_area(void **state) {
    (void)state;
    static const int triangles[12] = {0, 1, 2, 0, 0, 1, 1, 1, 1, 0, 3, 1};
    static const double start[12] = {0, 0, 0, 2, 0, 0, 0, 1, 0, 1, 0, 0}, end[12] = {0, 0, 0, 3, 0, 0, 0, 1, 0, 1.5};
    double values[4];
    ex_between *between = must_create(4, 4, triangles, start, end, NULL);
    const ex_stretch stretch = must_measure(between, 0, end, values);
    const double expected[4] = {0.5, 0, 0, 0};
    assert_row_near(values, expected, 4, 1e-12);
    assert_near(stretch.percentiles[0], 0.5, 1e-12);
    assert_int_equal(stretch.flipped, 0);
    ex_between_destroy(between);
    between = must_create(4, 3, triangles + 3, start, end, NULL); /* nothing but those */
    assert_near(must_measure(between, 0.5, end, values).percentiles[3], 0, 0);
    ex_between_destroy(between);
}

/* ---- tasks and memory ---- */

/* Backwards, in pieces of three. */
static void run_backwards(void *user, int count, int grain, ex_task_body body, void *context) {
    (void)user;
    (void)grain;
    for (int end = count; end > 0; end -= 3)
        body(context, end > 3 ? end - 3 : 0, end);
}

static void any_cut_gives_the_same_bits(void **state) {
    (void)state;
    const ex_tasks tasks = {run_backwards, NULL};
    bent serial = bend(400, NULL), cut = bend(400, &tasks);
    assert_true(serial.bar.triangle_count > 3 * 1024);
    assert_int_equal(ex_between_form(serial.between, EX_BETWEEN_LINEAR, 0.6, serial.form, NULL), EX_OK);
    const ex_stretch a = must_measure(serial.between, 0.6, serial.form, serial.values);
    const ex_stretch b = must_measure(cut.between, 0.6, serial.form, cut.values);
    assert_memory_equal(a.percentiles, b.percentiles, sizeof a.percentiles);
    assert_int_equal(a.flipped, b.flipped);
    assert_memory_equal(serial.values, cut.values, (size_t)serial.bar.triangle_count * sizeof *serial.values);
    unbend(&serial);
    unbend(&cut);
}

static ex_result measure_once(void *context) {
    const bent *b = context;
    ex_stretch stretch;
    return ex_between_stretch(b->between, 0.5, b->bar.points, &stretch, NULL, NULL);
}

static void memory_runs_out(void **state) {
    (void)state;
    bent b = bend(4, NULL);
    assert_int_equal(fail_alloc_sweep(measure_once, &b), 3);
    unbend(&b);
}

static void ignore_misuse(const char *function, const char *what) {
    (void)function;
    (void)what;
}

static void misuse_is_told(void **state) {
    (void)state;
    bent b = bend(2, NULL);
    ex_error error;
    ex_stretch stretch;
    ex_set_misuse_hook(ignore_misuse);
    assert_int_equal(ex_between_stretch(NULL, 0, b.form, &stretch, NULL, &error), EX_ERROR_ARGUMENT);
    assert_int_equal(ex_between_stretch(b.between, 0, NULL, &stretch, NULL, &error), EX_ERROR_ARGUMENT);
    assert_int_equal(ex_between_stretch(b.between, 0, b.form, NULL, NULL, &error), EX_ERROR_ARGUMENT);
    ex_set_misuse_hook(NULL);
    unbend(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_triangle_by_hand),   cmocka_unit_test(values_may_be_left_out),
        cmocka_unit_test(numbers_that_are_none),  cmocka_unit_test(percentiles_are_those_of_the_sorted),
        cmocka_unit_test(ends_and_motions),       cmocka_unit_test(a_square_turned_over),
        cmocka_unit_test(a_folded_triangle),      cmocka_unit_test(turned_limbs_are_not_flipped),
        cmocka_unit_test(triangles_without_area), cmocka_unit_test(any_cut_gives_the_same_bits),
        cmocka_unit_test(memory_runs_out),        cmocka_unit_test(misuse_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

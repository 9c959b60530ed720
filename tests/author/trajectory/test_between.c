/*
 * In-betweens: rigid motions exact at all times, ends to the bit, a bent bar that keeps its length, components and
 * loose vertices that stay with their neighbours, rotations beyond half a turn on one branch.
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
#include "support/fail_alloc.h"

#define CURL (270 * 3.14159265358979323846 / 180)

static void check_near(double a, double b, double tolerance) {
    if (!(fabs(a - b) <= tolerance))
        fail_msg("%.17g is not within %g of %.17g", a, tolerance, b);
}

static ex_between *must_create(const bent_bar *bar, const double *end) {
    const ex_between_def def = {.vertex_count = bar->vertex_count,
                                .triangle_count = bar->triangle_count,
                                .triangles = bar->triangles,
                                .start = bar->points,
                                .end = end};
    ex_between *between;
    ex_error error;
    if (ex_between_create(&def, &between, &error) != EX_OK)
        fail_msg("%s", error.text);
    return between;
}

static void must_form(const ex_between *between, ex_between_method method, double t, double *form) {
    assert_int_equal(ex_between_form(between, method, t, form, NULL), EX_OK);
}

static void rigid_motions_are_exact(void **state) {
    (void)state;
    static const struct {
        double axis[3], place[3], degrees, along;
    } cases[] = {
        {{0, 0, 1}, {2, 0, 0}, 90, 0},  {{1, 2, 3}, {0, 0, 0}, 175, 0},      {{0, 1, 0}, {50, 0, -30}, 175, 0},
        {{1, 0, 0}, {0, 3, 0}, 120, 7}, {{-1, 1, 0.5}, {9, 1, 2}, 1e-4, -2}, {{0, 0, 1}, {0, 0, 0}, 0, 1},
        {{0, 0, 1}, {0, 0, 0}, 0, 0},
    };
    bent_bar bar = bar_make(6, 4, 0, 0);
    double *end = calloc(3 * (size_t)bar.vertex_count, sizeof *end),
           *form = calloc(3 * (size_t)bar.vertex_count, sizeof *form),
           *expected = calloc(3 * (size_t)bar.vertex_count, sizeof *expected);
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        bar_screw(&bar, cases[c].axis, cases[c].place, cases[c].degrees, cases[c].along, end);
        ex_between *between = must_create(&bar, end);
        for (int method = 0; method < EX_BETWEEN_COUNT; method++)
            for (int k = 0; k <= 10; k++) {
                const double t = k / 10.0;
                bar_screw(&bar, cases[c].axis, cases[c].place, t * cases[c].degrees, t * cases[c].along, expected);
                must_form(between, (ex_between_method)method, t, form);
                /* rigid steps are in float */
                const double near = method == EX_BETWEEN_RIGID || method == EX_BETWEEN_POLYNOMIAL ? 1e-6 : 1e-9;
                for (int i = 0; i < 3 * bar.vertex_count; i++)
                    check_near(form[i], expected[i], near);
            }
        ex_between_destroy(between);
    }
    free(end);
    free(form);
    free(expected);
    bar_free(&bar);
}

static double longest_stretch(const ex_between *between, double t, const double *form) {
    double *values = calloc((size_t)between->triangle_count, sizeof *values), most = 0;
    ex_stretch stretch;
    assert_int_equal(ex_between_stretch(between, t, form, &stretch, values, NULL), EX_OK);
    for (int i = 0; i < between->triangle_count; i++)
        most = values[i] > most ? values[i] : most;
    free(values);
    return most;
}

/* Bent into an arc, the in-between is an arc again: straight lines squash it, the rigid form does not. */
static void a_bent_bar_keeps_its_shape(void **state) {
    (void)state;
    bent_bar bar = bar_make(16, 8, 0, 0);
    double *end = calloc(3 * (size_t)bar.vertex_count, sizeof *end),
           *form = calloc(3 * (size_t)bar.vertex_count, sizeof *form);
    bar_bend(&bar, 8, 160, end);
    ex_between *between = must_create(&bar, end);
    for (int k = 1; k < 10; k += 2) {
        const double t = k / 10.0;
        must_form(between, EX_BETWEEN_LINEAR, t, form);
        const double linear = longest_stretch(between, t, form);
        must_form(between, EX_BETWEEN_POISSON, t, form);
        const double poisson = longest_stretch(between, t, form);
        must_form(between, EX_BETWEEN_RIGID, t, form);
        const double rigid = longest_stretch(between, t, form);
        must_form(between, EX_BETWEEN_POLYNOMIAL, t, form);
        const double polynomial = longest_stretch(between, t, form);
        assert_true(linear > 0.08);
        assert_true(poisson < 0.03 && poisson < 0.2 * linear);
        assert_true(rigid < 1.2 * poisson + 1e-3);
        assert_true(polynomial < 0.3 * linear);
    }
    for (int method = 0; method < EX_BETWEEN_COUNT; method++) {
        must_form(between, (ex_between_method)method, 0, form);
        assert_memory_equal(form, bar.points, 3 * (size_t)bar.vertex_count * sizeof *form);
        must_form(between, (ex_between_method)method, 1, form);
        assert_memory_equal(form, end, 3 * (size_t)bar.vertex_count * sizeof *form);
    }
    ex_between_destroy(between);
    free(end);
    free(form);
    bar_free(&bar);
}

/* A long bar whose last third is curled up by 270 degrees: rotations continue those of their neighbours, instead of
 * turning back. */
static void rotations_stay_on_their_branch(void **state) {
    (void)state;
    bent_bar bar = bar_make(60, 30, 0, 0);
    double *end = calloc(3 * (size_t)bar.vertex_count, sizeof *end);
    for (int v = 0; v < bar.vertex_count; v++)
        bar.points[3 * v] -= 20;
    bar_bend(&bar, 10, 270, end);
    for (int v = 0; v < bar.vertex_count; v++)
        if (bar.points[3 * v] < 0)
            memcpy(end + 3 * v, bar.points + 3 * v, 3 * sizeof *end);
    ex_between *between = must_create(&bar, end);
    double low = 0, high = 0;
    for (int t = 0; t < bar.triangle_count; t++) {
        low = between->turns[3 * t + 2] < low ? between->turns[3 * t + 2] : low;
        high = between->turns[3 * t + 2] > high ? between->turns[3 * t + 2] : high;
    }
    check_near(high - low, CURL, 0.3);
    ex_between_destroy(between);
    free(end);
    bar_free(&bar);
}

/* A ring around the curled end turns with it, by more than half a turn, and not back the shorter way. */
static void components_share_a_branch(void **state) {
    (void)state;
    bent_bar one = bar_make(1, 1, 0, 0), bar = bar_make(60, 30, one.vertex_count, one.triangle_count);
    const int first = bar.vertex_count - one.vertex_count, own = bar.triangle_count;
    for (int v = 0; v < one.vertex_count; v++)
        for (int i = 0; i < 3; i++)
            bar.points[3 * (first + v) + i] = 0.3 * one.points[3 * v + i] + (i == 0 ? 29 : i == 1 ? 0.9 : 0);
    for (int i = 0; i < 3 * one.triangle_count; i++)
        bar.triangles[3 * own + i] = first + one.triangles[i];
    bar.triangle_count += one.triangle_count;
    double *end = calloc(3 * (size_t)bar.vertex_count, sizeof *end);
    for (int v = 0; v < bar.vertex_count; v++)
        bar.points[3 * v] -= 20;
    bar_bend(&bar, 10, 270, end);
    for (int v = 0; v < bar.vertex_count; v++)
        if (bar.points[3 * v] < 0)
            memcpy(end + 3 * v, bar.points + 3 * v, 3 * sizeof *end);
    ex_between *between = must_create(&bar, end);
    assert_int_equal(between->component_count, 2);
    double mean = 0, high = 0;
    for (int t = 0; t < own; t++)
        high = between->turns[3 * t + 2] > high ? between->turns[3 * t + 2] : high;
    for (int t = own; t < bar.triangle_count; t++)
        mean += between->turns[3 * t + 2] / one.triangle_count;
    assert_true(high > 3.3);
    check_near(mean, high, 0.6);
    ex_between_destroy(between);
    free(end);
    bar_free(&one);
    bar_free(&bar);
}

/* Two bars, one a copy next to the other's far end, a vertex without triangles, and a triangle without area. */
static void what_is_loose_goes_along(void **state) {
    (void)state;
    bent_bar one = bar_make(12, 8, 0, 0), all = bar_make(12, 8, one.vertex_count + 2, one.triangle_count + 1);
    const int first = one.vertex_count, loose = 2 * first, needle = loose + 1;
    for (int v = 0; v < first; v++)
        for (int i = 0; i < 3; i++)
            all.points[3 * (first + v) + i] = 0.25 * one.points[3 * v + i] + (i == 0 ? 6 : i == 1 ? 1 : 0);
    for (int t = 0; t < one.triangle_count; t++)
        for (int k = 0; k < 3; k++)
            all.triangles[3 * (all.triangle_count + t) + k] = first + one.triangles[3 * t + k];
    all.triangle_count += one.triangle_count;
    const double place[3] = {8.2, 0.1, 0.2}, at[3] = {8, 0.5, 0.5};
    memcpy(all.points + 3 * loose, place, sizeof place);
    memcpy(all.points + 3 * needle, at, sizeof at);
    const int flat[3] = {4 * 12 + 2, needle, needle};
    memcpy(all.triangles + 3 * all.triangle_count++, flat, sizeof flat);
    double *end = calloc(3 * (size_t)all.vertex_count, sizeof *end),
           *form = calloc(3 * (size_t)all.vertex_count, sizeof *form),
           *expected = calloc(3 * (size_t)all.vertex_count, sizeof *expected);
    bar_bend(&all, 8, 150, end);
    bar_bend(&all, 8, 75, expected);
    ex_between *between = must_create(&all, end);
    assert_int_equal(between->component_count, 3);
    assert_true(between->link_count > 0);
    must_form(between, EX_BETWEEN_RIGID, 0.5, form);
    double centre[2][3] = {{0}}; /* of the small bar, from the middle of the large one's end */
    for (int i = 0; i < 3; i++) {
        for (int v = 0; v < first; v++) {
            centre[0][i] += form[3 * (first + v) + i] / first;
            centre[1][i] += expected[3 * (first + v) + i] / first;
        }
    }
    double distance[2] = {0}, hair[2] = {0};
    for (int i = 0; i < 3; i++) {
        distance[0] += pow(centre[0][i] - form[3 * (4 * 10 + 2) + i], 2);
        distance[1] += pow(centre[1][i] - expected[3 * (4 * 10 + 2) + i], 2);
        hair[0] += pow(form[3 * loose + i] - form[3 * (4 * 12) + i], 2);
        hair[1] += pow(expected[3 * loose + i] - expected[3 * (4 * 12) + i], 2);
        check_near(form[3 * needle + i], form[3 * (4 * 12 + 2) + i], 3e-3);
    }
    check_near(sqrt(distance[0]), sqrt(distance[1]), 0.15);
    check_near(sqrt(hair[0]), sqrt(hair[1]), 0.15);
    ex_between_destroy(between);
    free(end);
    free(form);
    free(expected);
    bar_free(&one);
    bar_free(&all);
}

/* Triangles that are flat, or narrower than floats can represent, between vertices that others already hold: one over
 * the length of the bar, one next to the bar's own. They change nothing: no link, no neighbours, no large slopes. */
/* Writes a box: 8 vertices from `first` on, and its 12 triangles. */
static void add_box(const double low[3], const double high[3], int first, double *points, int *triangles) {
    static const int faces[12][3] = {{0, 2, 1}, {1, 2, 3}, {4, 5, 6}, {5, 7, 6}, {0, 1, 4}, {1, 5, 4},
                                     {2, 6, 3}, {3, 6, 7}, {0, 4, 2}, {2, 4, 6}, {1, 3, 5}, {3, 7, 5}};
    for (int v = 0; v < 8; v++)
        for (int i = 0; i < 3; i++)
            points[3 * (first + v) + i] = v >> i & 1 ? high[i] : low[i];
    for (int t = 0; t < 12; t++)
        for (int i = 0; i < 3; i++)
            triangles[3 * t + i] = first + faces[t][i];
}

/* Two feet touch where the legs hang straight, nearer to each other than to the legs. Legs that spread take their feet
 * along: half-way, all of a leg has turned by half the angle. */
static void feet_go_with_their_legs(void **state) {
    (void)state;
    enum { HIPS, LEFT_LEG, RIGHT_LEG, LEFT_FOOT, RIGHT_FOOT, BOXES };
    static const double boxes[BOXES][2][3] = {{{-1, 10.5, -0.2}, {1, 11.5, 0.2}},
                                              {{-0.6, 1, -0.1}, {-0.4, 10, 0.1}},
                                              {{0.4, 1, -0.1}, {0.6, 10, 0.1}},
                                              {{-0.95, -0.5, -0.2}, {-0.05, 0.5, 0.2}},
                                              {{0.05, -0.5, -0.2}, {0.95, 0.5, 0.2}}};
    const double angle = 40 * 3.14159265358979323846 / 180;
    double start[24 * BOXES], end[24 * BOXES], form[24 * BOXES];
    int triangles[36 * BOXES];
    for (int b = 0; b < BOXES; b++)
        add_box(boxes[b][0], boxes[b][1], 8 * b, start, triangles + 36 * b);
    memcpy(end, start, sizeof end);
    for (int v = 8; v < 8 * BOXES; v++) {
        const double side = v / 8 == LEFT_LEG || v / 8 == LEFT_FOOT ? -1 : 1, turn = side * angle;
        const double x = start[3 * v] - 0.5 * side, y = start[3 * v + 1] - 10.5;
        end[3 * v] = 0.5 * side + x * cos(turn) - y * sin(turn);
        end[3 * v + 1] = 10.5 + x * sin(turn) + y * cos(turn);
    }
    const ex_between_def def = {
        .vertex_count = 8 * BOXES, .triangle_count = 12 * BOXES, .triangles = triangles, .start = start, .end = end};
    ex_between *between;
    assert_int_equal(ex_between_create(&def, &between, NULL), EX_OK);
    must_form(between, EX_BETWEEN_RIGID, 0.5, form);
    for (int b = LEFT_FOOT; b <= RIGHT_FOOT; b++) {
        const double side = b == LEFT_FOOT ? -1 : 1;
        double hips[2] = {0}, centre[2] = {0};
        for (int v = 0; v < 8; v++)
            for (int i = 0; i < 2; i++) {
                hips[i] += form[3 * v + i] / 8;
                centre[i] += form[3 * (8 * b + v) + i] / 8;
            }
        check_near(centre[0] - hips[0], side * (0.5 + 10.5 * sin(0.5 * angle)), 0.3);
        check_near(centre[1] - hips[1], -0.5 - 10.5 * cos(0.5 * angle), 0.3);
    }
    ex_between_destroy(between);
}

static void flat_triangles_do_no_harm(void **state) {
    (void)state;
    enum { PIECES = 16, MIDDLE = 4 * PIECES / 2 };
    static const int flat[2][3] = {{0, 4 * PIECES, MIDDLE}, {MIDDLE, MIDDLE + 4, MIDDLE + 8}};
    bent_bar plain = bar_make(PIECES, 8, 0, 0), bar = bar_make(PIECES, 8, 0, 2);
    double *end = calloc(3 * (size_t)bar.vertex_count, sizeof *end),
           *form = calloc(3 * (size_t)bar.vertex_count, sizeof *form),
           *expected = calloc(3 * (size_t)bar.vertex_count, sizeof *expected);
    memmove(bar.triangles + 6, bar.triangles, 3 * (size_t)bar.triangle_count * sizeof *bar.triangles);
    memcpy(bar.triangles, flat, sizeof flat);
    bar.triangle_count += 2;
    bar_bend(&plain, 8, 160, end);
    ex_between *without = must_create(&plain, end);
    must_form(without, EX_BETWEEN_RIGID, 0.5, expected);
    for (int kind = 0; kind < 3; kind++) {
        bar.points[3 * MIDDLE + 2] = plain.points[3 * MIDDLE + 2] + (kind == 0 ? 0 : kind == 1 ? 1e-10 : 1e-8);
        ex_between *between = must_create(&bar, end);
        assert_int_equal(between->link_count, 0);
        for (int i = 0; i < 3 * between->triangle_count; i++)
            assert_true(between->neighbours[i] < 0 || between->areas[between->neighbours[i]] > 0);
        must_form(between, EX_BETWEEN_RIGID, 0.5, form);
        for (int i = 0; i < 3 * bar.vertex_count; i++)
            check_near(form[i], expected[i], 2e-3);
        ex_between_destroy(between);
    }
    ex_between_destroy(without);
    free(end);
    free(form);
    free(expected);
    bar_free(&plain);
    bar_free(&bar);
}

static void refuses(void **state) {
    (void)state;
    bent_bar bar = bar_make(2, 2, 0, 0);
    double bad[36];
    memcpy(bad, bar.points, sizeof bad);
    ex_between *between;
    ex_error error;
    ex_between_def def = {.vertex_count = bar.vertex_count,
                          .triangle_count = bar.triangle_count,
                          .triangles = bar.triangles,
                          .start = bar.points,
                          .end = bad};
    bad[7] = NAN;
    assert_int_equal(ex_between_create(&def, &between, &error), EX_ERROR_DATA);
    assert_string_equal(error.text, "vertex 2 (counting from 0) of the end form is not finite");
    assert_null(between);
    bad[7] = -1e30;
    assert_int_equal(ex_between_create(&def, &between, &error), EX_ERROR_DATA);
    assert_string_equal(error.text, "vertex 2 (counting from 0) of the end form is too far away: coordinates must be "
                                    "below 1e30");
    bad[7] = 0;
    bar.triangles[4] = 12;
    assert_int_equal(ex_between_create(&def, &between, &error), EX_ERROR_DATA);
    assert_string_equal(error.text, "triangle 1 refers to vertex 12, but there are 12 (counting from 0)");
    bar.triangles[4] = 0;
    def.vertex_count = 0;
    assert_int_equal(ex_between_create(&def, &between, &error), EX_ERROR_ARGUMENT);
    bar_free(&bar);
}

static double distance(const double *form, size_t u, size_t v) {
    double square = 0;
    for (size_t i = 0; i < 3; i++)
        square += (form[3 * u + i] - form[3 * v + i]) * (form[3 * u + i] - form[3 * v + i]);
    return sqrt(square);
}

/* A bar ten million times as long as it is thick: its triangles alone do not hold it together in double precision. Its
 * turn about its axis cannot be found from the forms; that it keeps its length can. */
static void needles(void **state) {
    (void)state;
    static const double axis[3] = {1, 2, 3}, place[3] = {0, 5, 0};
    bent_bar bar = bar_make(12, 4, 0, 0);
    const size_t count = (size_t)bar.vertex_count;
    double *end = calloc(3 * count, sizeof *end), *form = calloc(3 * count, sizeof *form);
    for (size_t i = 0; i < 3 * count; i++)
        bar.points[i] *= i % 3 == 0 ? 1 : 1e-7;
    bar_screw(&bar, axis, place, 100, 1, end);
    ex_between *between = must_create(&bar, end);
    for (int method = 0; method < EX_BETWEEN_COUNT; method++) {
        must_form(between, (ex_between_method)method, 0.5, form);
        for (size_t v = 1; v < count; v++)
            check_near(distance(form, 0, v), distance(bar.points, 0, v), 1e-5);
    }
    ex_between_destroy(between);
    free(end);
    free(form);
    bar_free(&bar);
}

/* One point, one triangle, all in one place. */
static void next_to_nothing(void **state) {
    (void)state;
    double points[9] = {1, 2, 3}, end[9] = {4, 5, 6}, form[9];
    int triangle[3] = {0, 1, 2};
    ex_between_def def = {.vertex_count = 1, .triangles = triangle, .start = points, .end = end};
    for (int kind = 0; kind < 3; kind++) {
        ex_between *between;
        assert_int_equal(ex_between_create(&def, &between, NULL), EX_OK);
        must_form(between, EX_BETWEEN_RIGID, 0.5, form);
        check_near(form[0], 2.5, 1e-9);
        ex_between_destroy(between);
        def.vertex_count = 3;
        def.triangle_count = 1;
        for (int i = 0; i < 3; i++)
            for (int k = 1; k < 3; k++) {
                points[3 * k + i] = points[i] + (kind == 1 && k == i + 1);
                end[3 * k + i] = end[i] + (kind == 1 && k == i + 1);
            }
    }
}

typedef struct attempt {
    const ex_between_def *def;
} attempt;

static ex_result create_once(void *context) {
    const attempt *a = context;
    ex_between *between;
    double *form = NULL;
    ex_result result = ex_between_create(a->def, &between, NULL);
    if (result != EX_OK)
        return result;
    double room[3 * 16];
    form = room;
    result = ex_between_form(between, EX_BETWEEN_POLYNOMIAL, 0.3, form, NULL);
    ex_between_destroy(between);
    return result;
}

static void survives_failing_memory(void **state) {
    (void)state;
    bent_bar bar = bar_make(1, 2, 4, 1);
    const double far[12] = {5, 0, 0, 6, 0, 0, 5, 1, 0, 9, 9, 9};
    memcpy(bar.points + 3 * 8, far, sizeof far);
    const int triangle[3] = {8, 9, 10};
    memcpy(bar.triangles + 3 * bar.triangle_count++, triangle, sizeof triangle);
    const ex_between_def def = {.vertex_count = bar.vertex_count,
                                .triangle_count = bar.triangle_count,
                                .triangles = bar.triangles,
                                .start = bar.points,
                                .end = bar.points};
    attempt a = {&def};
    assert_true(fail_alloc_sweep(create_once, &a) > 20);
    bar_free(&bar);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rigid_motions_are_exact),
        cmocka_unit_test(a_bent_bar_keeps_its_shape),
        cmocka_unit_test(rotations_stay_on_their_branch),
        cmocka_unit_test(components_share_a_branch),
        cmocka_unit_test(what_is_loose_goes_along),
        cmocka_unit_test(feet_go_with_their_legs),
        cmocka_unit_test(flat_triangles_do_no_harm),
        cmocka_unit_test(refuses),
        cmocka_unit_test(needles),
        cmocka_unit_test(next_to_nothing),
        cmocka_unit_test(survives_failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

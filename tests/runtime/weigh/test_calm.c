/*
 * The calm weigher and the limits of axes. Their numbers are compared with numpy in tests/oracle (calm_reference.py);
 * here is what they promise.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/check.h"
#include "support/fail_alloc.h"
#include "support/spaces.h"

#include <math.h>
#include <string.h>

/* The elbow of the README with sculpts at 30 to 140 degrees, and rest. */
static const double elbow[] = {30, 60, 80, 100, 140};
static const double rest_row[5];

static ex_weigher_def elbow_def(ex_axis *axis, ex_pseudo *rest, double overshoot) {
    static const double zero[] = {0};
    ex_weigher_def def = ex_weigher_def_default();
    *axis = ex_axis_scalar(0, 150, 0);
    *rest = (ex_pseudo){.at = zero, .weights = rest_row};
    def.kind = EX_WEIGHER_CALM;
    def.axes = axis;
    def.axis_count = 1;
    def.points = elbow;
    def.example_count = 5;
    def.pseudos = rest;
    def.pseudo_count = 1;
    def.overshoot = overshoot;
    return def;
}

static void test_an_elbow_does_not_ring(void **state) {
    (void)state;
    ex_axis axis;
    ex_pseudo rest;
    const ex_weigher_def def = elbow_def(&axis, &rest, 0.1);
    ex_weigher *w = weigher_of(&def);
    double weights[5];
    for (int i = 0; i < 5; i++) {
        ex_weigher_evaluate(w, &elbow[i], weights);
        for (int k = 0; k < 5; k++)
            assert_near(weights[k], i == k, 1e-12);
    }
    ex_weigher_evaluate(w, NULL, weights);
    for (int k = 0; k < 5; k++)
        assert_near(weights[k], 0, 1e-12);
    double lowest = 0, highest = 0;
    for (double x = -60; x <= 200; x += 0.25) {
        ex_weigher_evaluate(w, &x, weights);
        for (int k = 0; k < 5; k++) {
            lowest = fmin(lowest, weights[k]);
            highest = fmax(highest, weights[k]);
            /* far from an example it does nothing */
            if (fabs(x - elbow[k]) > 60)
                assert_near(weights[k], x > 140 && k == 4 ? 1 : 0, 0.03);
        }
    }
    assert_true(lowest > -0.06 && highest < 1.06);
    ex_weigher_destroy(w);
}

/* With no overshoot at all, weights are within 0 to 1, and their slope vanishes at every example. */
static void test_no_overshoot_is_kept_and_flat(void **state) {
    (void)state;
    ex_axis axis;
    ex_pseudo rest;
    const ex_weigher_def def = elbow_def(&axis, &rest, 0);
    ex_weigher *w = weigher_of(&def);
    double weights[5], beside[5];
    for (double x = -60; x <= 200; x += 0.25) {
        ex_weigher_evaluate(w, &x, weights);
        for (int k = 0; k < 5; k++)
            assert_true(weights[k] >= 0 && weights[k] <= 1);
    }
    for (int i = 0; i < 5; i++) {
        const double x = elbow[i] + 1e-4;
        ex_weigher_evaluate(w, &elbow[i], weights);
        ex_weigher_evaluate(w, &x, beside);
        for (int k = 0; k < 5; k++)
            assert_near((beside[k] - weights[k]) / 1e-4, 0, 1e-3);
    }
    ex_weigher_destroy(w);
}

static double random_overshoot(uint64_t *random) {
    static const double some[] = {0, 0.01, 0.05, 0.1, 0.3, 1};
    return some[random_bits(random) % 6];
}

/* Whatever the space and wherever the query: the bound, the sum, and slopes without corners. */
static void test_bounds_in_any_space(void **state) {
    (void)state;
    uint64_t random = 31;
    for (int round = 0; round < 60; round++) {
        sample_space s;
        const int count = 2 + round % 30;
        if (round % 2)
            sample_space_mixed(&s, count, (uint64_t)round);
        else
            sample_space_scalars(&s, 1 + round % 4, count, (uint64_t)round);
        s.def.kind = EX_WEIGHER_CALM;
        s.def.overshoot = random_overshoot(&random);
        ex_weigher *w = weigher_of(&s.def);
        double point[SPACE_NUMBERS], weights[SPACE_POINTS];
        for (int q = 0; q < 200; q++) {
            sample_space_point(&s, q % 4 == 3 ? 100 : 1.5, &random, point);
            ex_weigher_evaluate(w, point, weights);
            for (int k = 0; k < count; k++)
                assert_true(weights[k] >= -s.def.overshoot - 1e-12 && weights[k] <= 1 + s.def.overshoot + 1e-12);
            assert_near(sum_of(weights, count), 1, 1e-9);
        }
        ex_weigher_destroy(w);
    }
}

/* Examples whose values are linear are blended linearly, where no weight comes near the bound. */
static void test_straight_lines_stay_straight(void **state) {
    (void)state;
    ex_axis axis = ex_axis_scalar(0, 1, 0);
    const double points[] = {0, 0.1, 0.45, 0.5, 1};
    ex_weigher_def def = ex_weigher_def_default();
    def.kind = EX_WEIGHER_CALM;
    def.axes = &axis;
    def.axis_count = 1;
    def.points = points;
    def.example_count = 5;
    ex_weigher *w = weigher_of(&def);
    for (double x = 0; x <= 1; x += 0.01) {
        double weights[5], sum = 0;
        ex_weigher_evaluate(w, &x, weights);
        for (int k = 0; k < 5; k++)
            sum += weights[k] * points[k];
        assert_near(sum, x, 1e-12);
    }
    ex_weigher_destroy(w);
}

/* Given weights are met, also beyond the bound and with a bound of 0. */
static void test_given_weights_are_met(void **state) {
    (void)state;
    const double at[] = {45, 120}, rows[2][5] = {{0.3, -0.4, 0.2, 0, 0.7}, {0.1, 0.2, 0, 0.3, 0}};
    const double overshoots[] = {0, 0.03, 0.1};
    for (int i = 0; i < 3; i++)
        for (int first = 0; first < 2; first++) {
            ex_axis axis;
            ex_pseudo rest;
            ex_weigher_def def = elbow_def(&axis, &rest, overshoots[i]);
            const ex_pseudo pseudos[] = {rest, {.at = &at[first], .weights = rows[first]}};
            def.pseudos = pseudos;
            def.pseudo_count = 2;
            ex_weigher *w = weigher_of(&def);
            double weights[5];
            ex_weigher_evaluate(w, &at[first], weights);
            for (int k = 0; k < 5; k++)
                assert_near(weights[k], rows[first][k], 1e-9);
            ex_weigher_destroy(w);
        }
}

/* ---- limits ---- */

static void test_limits(void **state) {
    (void)state;
    static const ex_weigher_kind kinds[] = {EX_WEIGHER_CALM, EX_WEIGHER_CARDINAL, EX_WEIGHER_GAUSSIAN,
                                            EX_WEIGHER_SHEPARD, EX_WEIGHER_NEAREST};
    const double points[] = {10, 20, 50};
    for (int i = 0; i < 5; i++)
        for (int limit = 0; limit < EX_LIMIT_COUNT; limit++) {
            ex_axis axis = ex_axis_scalar(0, 100, 0);
            axis.limit = (ex_limit)limit;
            ex_weigher_def def = ex_weigher_def_default();
            def.kind = kinds[i];
            def.axes = &axis;
            def.axis_count = 1;
            def.points = points;
            def.example_count = 3;
            ex_weigher *w = weigher_of(&def);
            double end[3], far[3], farther[3];
            const double at_end = 50, at_far = 70, at_farther = 2000;
            ex_weigher_evaluate(w, &at_end, end);
            ex_weigher_evaluate(w, &at_far, far);
            ex_weigher_evaluate(w, &at_farther, farther);
            const bool held = limit == EX_LIMIT_HOLD || (limit == EX_LIMIT_KIND && kinds[i] == EX_WEIGHER_CALM);
            for (int k = 0; k < 3; k++) {
                if (held) {
                    assert_near(far[k], end[k], 1e-12);
                    assert_near(farther[k], end[k], 1e-12);
                }
                if (limit == EX_LIMIT_FADE)
                    assert_near(farther[k], 0, 0);
            }
            if (!held && limit != EX_LIMIT_FADE && kinds[i] == EX_WEIGHER_CARDINAL)
                assert_true(fabs(farther[2]) > 10);
            ex_axis again;
            ex_weigher_describe(w, &def, &again, NULL);
            assert_int_equal(again.limit, limit);
            ex_weigher_destroy(w);
        }
}

/* A rotation fades where it is farther from every example than examples are from each other. */
static void test_rotations_fade(void **state) {
    (void)state;
    ex_axis axis = ex_axis_rotation(EX_AXIS_ROTATION, NULL);
    axis.limit = EX_LIMIT_FADE;
    double points[3][4], query[4], weights[3];
    for (int i = 0; i < 3; i++)
        turn_about(1, 0, 0, 30 * i, points[i]);
    ex_weigher_def def = ex_weigher_def_default();
    def.kind = EX_WEIGHER_CALM;
    def.axes = &axis;
    def.axis_count = 1;
    def.points = points[0];
    def.example_count = 3;
    ex_weigher *w = weigher_of(&def);
    turn_about(1, 0, 0, 45, query);
    ex_weigher_evaluate(w, query, weights);
    assert_near(sum_of(weights, 3), 1, 1e-12);
    turn_about(0, 1, 0, 170, query);
    ex_weigher_evaluate(w, query, weights);
    for (int k = 0; k < 3; k++)
        assert_true(weights[k] == 0);
    ex_weigher_destroy(w);
}

static void test_refusals(void **state) {
    (void)state;
    ex_axis axis;
    ex_pseudo rest;
    ex_error error;
    ex_weigher *w;
    ex_weigher_def def = elbow_def(&axis, &rest, -0.1);
    assert_int_equal(ex_weigher_create(&def, NULL, &w, &error), EX_ERROR_ARGUMENT);
    def = elbow_def(&axis, &rest, 1.5);
    assert_int_equal(ex_weigher_create(&def, NULL, &w, &error), EX_ERROR_ARGUMENT);
    def = elbow_def(&axis, &rest, 0.1);
    axis.limit = EX_LIMIT_COUNT;
    assert_int_equal(ex_weigher_create(&def, NULL, &w, &error), EX_ERROR_ARGUMENT);
    axis.limit = EX_LIMIT_KIND;
    static const double twice[] = {30, 60, 60, 100, 140};
    def.points = twice;
    assert_int_equal(ex_weigher_create(&def, NULL, &w, &error), EX_ERROR_SINGULAR);
    assert_non_null(strstr(error.text, "example 2 and example 3 are at the same place"));
}

static ex_result make_and_drop(void *context) {
    ex_weigher *w = NULL;
    ex_error error;
    const ex_result result = ex_weigher_create(context, NULL, &w, &error);
    ex_weigher_destroy(w);
    return result;
}

static void test_memory(void **state) {
    (void)state;
    sample_space s;
    sample_space_mixed(&s, 9, 4);
    double at[SPACE_NUMBERS], from[SPACE_NUMBERS];
    uint64_t random = 8;
    sample_space_point(&s, 1, &random, at);
    sample_space_point(&s, 1, &random, from);
    sample_space_add_pseudo(&s, at, from);
    s.def.kind = EX_WEIGHER_CALM;
    assert_true(fail_alloc_sweep(make_and_drop, &s.def) >= 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_an_elbow_does_not_ring),
        cmocka_unit_test(test_no_overshoot_is_kept_and_flat),
        cmocka_unit_test(test_bounds_in_any_space),
        cmocka_unit_test(test_straight_lines_stay_straight),
        cmocka_unit_test(test_given_weights_are_met),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_rotations_fade),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * The kinds without a system to solve: nearest, shepard and direct, against their formulas and at the points where
 * those are undefined.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/check.h"
#include "support/spaces.h"

#include <math.h>
#include <string.h>

enum { GRID = 27 };

/* A cubic grid of 3 x 3 x 3 examples with unit spacing in scaled units. */
static ex_weigher *make_grid(ex_weigher_kind kind, bool paper_form, int neighbours) {
    static ex_axis axes[3];
    static double points[GRID][3];
    for (int a = 0; a < 3; a++) {
        axes[a] = ex_axis_scalar(0, 2, 0);
        axes[a].scale = 1;
    }
    for (int i = 0; i < GRID; i++)
        for (int a = 0; a < 3; a++)
            points[i][a] = i / (a == 0 ? 1 : a == 1 ? 3 : 9) % 3;
    ex_weigher_def def = ex_weigher_def_default();
    def.kind = kind;
    def.axes = axes;
    def.axis_count = 3;
    def.points = points[0];
    def.example_count = GRID;
    def.neighbours = neighbours;
    def.paper_form = paper_form;
    return weigher_of(&def);
}

static bool in_cell(int i) {
    return i % 3 < 2 && i / 3 % 3 < 2 && i / 9 < 2;
}

static void eight_corners_share_a_cell(void **state) {
    (void)state;
    for (int paper = 0; paper < 2; paper++) {
        ex_weigher *weigher = make_grid(EX_WEIGHER_NEAREST, paper, 8);
        double weights[GRID];
        ex_weigher_evaluate(weigher, (double[]){0.5, 0.5, 0.5}, weights);
        for (int i = 0; i < GRID; i++)
            assert_near(weights[i], in_cell(i) ? 0.125 : 0, 1e-12);
        ex_weigher_destroy(weigher);
    }
}

/* Steps of 1e-4 across the cell and out of it: no weight jumps. */
static void nothing_jumps_on_the_way(void **state) {
    (void)state;
    ex_weigher *weigher = make_grid(EX_WEIGHER_NEAREST, false, 8);
    static const double starts[3][3] = {{0, 0, 0}, {-0.3, 0.5, 0.5}, {0.1, 0.9, 1.4}};
    static const double ends[3][3] = {{1, 1, 1}, {2.3, 0.5, 0.5}, {1.7, 0.8, 0.2}};
    for (int path = 0; path < 3; path++) {
        double last[GRID];
        for (int step = 0; step <= 10000; step++) {
            double point[3], weights[GRID];
            for (int a = 0; a < 3; a++)
                point[a] = starts[path][a] + (ends[path][a] - starts[path][a]) * step / 10000;
            ex_weigher_evaluate(weigher, point, weights);
            assert_near(sum_of(weights, GRID), 1, 1e-12);
            for (int i = 0; i < GRID; i++) {
                assert_true(weights[i] >= 0);
                if (step > 0)
                    assert_near(weights[i], last[i], 5e-3);
            }
            memcpy(last, weights, sizeof last);
        }
    }
    ex_weigher_destroy(weigher);
}

/* Equation 5 by hand, on a line. Distances from 1.2: to 1 0.2, to 2 0.8, to 0 1.2, to 4 2.8. */
static void shares_by_hand(void **state) {
    (void)state;
    ex_axis axis = ex_axis_scalar(0, 1, 0);
    ex_weigher_def def = ex_weigher_def_default();
    def.kind = EX_WEIGHER_NEAREST;
    def.axes = &axis;
    def.axis_count = 1;
    def.points = (double[]){0, 1, 2, 4};
    def.example_count = 4;
    def.neighbours = 2;
    double weights[4], a = 1 / 0.2 - 1 / 1.2, b = 1 / 0.8 - 1 / 1.2;
    ex_weigher *weigher = weigher_of(&def);
    ex_weigher_evaluate(weigher, (double[]){1.2}, weights);
    assert_row_near(weights, ((double[]){0, a / (a + b), b / (a + b), 0}), 4, 1e-12);
    ex_weigher_destroy(weigher);
    def.paper_form = true; /* the threshold at the second: the first takes all */
    weigher = weigher_of(&def);
    ex_weigher_evaluate(weigher, (double[]){1.2}, weights);
    assert_row_near(weights, ((double[]){0, 1, 0, 0}), 4, 1e-12);
    ex_weigher_destroy(weigher);
    def.paper_form = false; /* all four: no threshold */
    def.neighbours = 4;
    weigher = weigher_of(&def);
    ex_weigher_evaluate(weigher, (double[]){1.2}, weights);
    double sum = 1 / 1.2 + 1 / 0.2 + 1 / 0.8 + 1 / 2.8;
    assert_row_near(weights, ((double[]){1 / 1.2 / sum, 1 / 0.2 / sum, 1 / 0.8 / sum, 1 / 2.8 / sum}), 4, 1e-12);
    ex_weigher_destroy(weigher);
    def.neighbours = 1;
    weigher = weigher_of(&def);
    ex_weigher_evaluate(weigher, (double[]){1.2}, weights);
    assert_row_near(weights, ((double[]){0, 1, 0, 0}), 4, 1e-12);
    ex_weigher_evaluate(weigher, (double[]){1.5}, weights); /* a tie: equally, not all to the first */
    assert_row_near(weights, ((double[]){0, 0.5, 0.5, 0}), 4, 1e-12);
    ex_weigher_destroy(weigher);
}

static void shepard_by_hand(void **state) {
    (void)state;
    ex_axis axis = ex_axis_scalar(0, 2, 0); /* scale 1/2 cancels out */
    ex_weigher_def def = ex_weigher_def_default();
    def.kind = EX_WEIGHER_SHEPARD;
    def.axes = &axis;
    def.axis_count = 1;
    def.points = (double[]){0, 1, 4};
    def.example_count = 3;
    static const double powers[] = {0.5, 1, 2, 3.7, 64};
    for (int i = 0; i < 5; i++) {
        def.power = powers[i];
        ex_weigher *weigher = weigher_of(&def);
        double weights[3], expected[3] = {pow(3, -powers[i]), pow(2, -powers[i]), pow(1, -powers[i])};
        double sum = sum_of(expected, 3);
        for (int k = 0; k < 3; k++)
            expected[k] /= sum;
        ex_weigher_evaluate(weigher, (double[]){3}, weights);
        assert_row_near(weights, expected, 3, 1e-13);
        for (int k = 0; k < 3; k++) {
            double unit[3] = {0};
            unit[k] = 1;
            ex_weigher_evaluate(weigher, def.points + k, weights);
            assert_row_near(weights, unit, 3, 0);
            double near = def.points[k] + 1e-300; /* next to it: nothing overflows */
            ex_weigher_evaluate(weigher, &near, weights);
            assert_row_near(weights, unit, 3, 1e-6);
        }
        ex_weigher_evaluate(weigher, (double[]){1e5}, weights);
        assert_near(sum_of(weights, 3), 1, 1e-12);
        for (int k = 0; k < 3; k++)
            assert_true(weights[k] >= 0 && weights[k] <= 1);
        ex_weigher_destroy(weigher);
    }
}

/* Examples reproduced and weights a partition of one, in mixed spaces. */
static void both_reproduce_examples(void **state) {
    (void)state;
    static const ex_weigher_kind kinds[] = {EX_WEIGHER_SHEPARD, EX_WEIGHER_NEAREST, EX_WEIGHER_NEAREST};
    for (int kind = 0; kind < 3; kind++) {
        sample_space s;
        sample_space_mixed(&s, 12, 40);
        s.def.kind = kinds[kind];
        s.def.neighbours = kind == 1 ? 4 : 20;
        s.def.power = 2.5;
        ex_weigher *weigher = weigher_of(&s.def);
        double weights[12];
        for (int i = 0; i < 12; i++) {
            double unit[12] = {0};
            unit[i] = 1;
            ex_weigher_evaluate(weigher, s.points + i * s.dimension, weights);
            assert_row_near(weights, unit, 12, 1e-6);
        }
        uint64_t random = 41;
        for (int i = 0; i < 200; i++) {
            double point[SPACE_NUMBERS];
            sample_space_point(&s, i < 100 ? 1 : 200, &random, point);
            ex_weigher_evaluate(weigher, point, weights);
            assert_near(sum_of(weights, 12), 1, 1e-12);
            int used = 0;
            for (int k = 0; k < 12; k++) {
                assert_true(weights[k] >= 0);
                used += weights[k] > 0;
            }
            assert_true(kind != 1 || used <= 4);
        }
        ex_weigher_destroy(weigher);
    }
}

static void direct_axes_are_the_weights(void **state) {
    (void)state;
    ex_axis axes[300];
    for (int i = 0; i < 300; i++) /* more than the limit of other kinds */
        axes[i] = ex_axis_scalar(0, 1, i == 2 ? 0.25 : 0);
    axes[1].clamp = true;
    ex_weigher_def def = ex_weigher_def_default();
    def.kind = EX_WEIGHER_DIRECT;
    def.axes = axes;
    def.axis_count = def.example_count = 300;
    ex_weigher *weigher = weigher_of(&def);
    double point[300], weights[300];
    for (int i = 0; i < 300; i++)
        point[i] = 0.01 * i - 1;
    point[1] = 7;
    point[2] = NAN;
    ex_weigher_evaluate(weigher, point, weights);
    assert_near(weights[0], -1, 0);
    assert_near(weights[1], 1, 0);
    assert_near(weights[2], 0.25, 0);
    for (int i = 3; i < 300; i++)
        assert_near(weights[i], point[i], 0);
    ex_weigher_evaluate(weigher, NULL, weights);
    for (int i = 0; i < 300; i++)
        assert_near(weights[i], i == 2 ? 0.25 : 0, 0);
    assert_null(ex_weigher_point(weigher, 0));
    assert_near(ex_weigher_distance(weigher, point, point), 0, 0);
    ex_weigher_destroy(weigher);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(eight_corners_share_a_cell),
        cmocka_unit_test(nothing_jumps_on_the_way),
        cmocka_unit_test(shares_by_hand),
        cmocka_unit_test(shepard_by_hand),
        cmocka_unit_test(both_reproduce_examples),
        cmocka_unit_test(direct_axes_are_the_weights),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Pseudo-examples: they reshape the space and need no form. N weights come from more than N points, whatever moves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/check.h"
#include "support/spaces.h"

#include <math.h>
#include <string.h>

enum { EXAMPLES = 6 };

/* The kinds and kernels that take pseudo-examples. */
static const struct {
    ex_weigher_kind kind;
    ex_kernel kernel;
} makes[] = {
    {EX_WEIGHER_CARDINAL, EX_KERNEL_BSPLINE},     {EX_WEIGHER_CARDINAL, EX_KERNEL_GAUSSIAN},
    {EX_WEIGHER_CARDINAL, EX_KERNEL_WENDLAND},    {EX_WEIGHER_CARDINAL, EX_KERNEL_INVERSE_MULTIQUADRIC},
    {EX_WEIGHER_CARDINAL, EX_KERNEL_THIN_PLATE},  {EX_WEIGHER_CARDINAL, EX_KERNEL_BIHARMONIC},
    {EX_WEIGHER_CARDINAL, EX_KERNEL_TRIHARMONIC}, {EX_WEIGHER_CARDINAL, EX_KERNEL_MULTIQUADRIC},
    {EX_WEIGHER_SHEPARD, EX_KERNEL_BSPLINE},      {EX_WEIGHER_NEAREST, EX_KERNEL_BSPLINE},
    {EX_WEIGHER_GAUSSIAN, EX_KERNEL_BSPLINE},
};
enum { MAKES = sizeof makes / sizeof *makes };

static const double at[2] = {6, 9.5}, from[2] = {3, 5};

static void open_space(sample_space *s, int make) {
    sample_space_scalars(s, 2, EXAMPLES, 30);
    s->def.kind = makes[make].kind;
    s->def.kernel = makes[make].kernel;
}

/* At the pseudo-example the weights are those of the real examples alone at the point it borrows from. */
static void its_own_place_gives_its_row(void **state) {
    (void)state;
    for (int make = 0; make < MAKES; make++) {
        sample_space s;
        open_space(&s, make);
        ex_weigher *real = weigher_of(&s.def);
        sample_space_add_pseudo(&s, at, from);
        ex_weigher *weigher = weigher_of(&s.def);
        assert_int_equal(ex_weigher_example_count(weigher), EXAMPLES);
        assert_int_equal(ex_weigher_pseudo_count(weigher), 1);
        double expected[EXAMPLES], weights[EXAMPLES], before[EXAMPLES];
        ex_weigher_evaluate(real, from, expected);
        ex_weigher_evaluate(real, at, before);
        ex_weigher_evaluate(weigher, at, weights);
        assert_row_near(weights, expected, EXAMPLES, 1e-9);
        double change = 0;
        for (int i = 0; i < EXAMPLES; i++)
            change += fabs(before[i] - expected[i]);
        assert_true(change > 1e-2); /* so it did reshape the space */
        ex_weigher_destroy(real);
        ex_weigher_destroy(weigher);
    }
}

static void given_weights_hold_there(void **state) {
    (void)state;
    static const double row[EXAMPLES] = {0.5, 0.25, 0, -0.25, 0.5, 0};
    for (int make = 0; make < MAKES; make++) {
        sample_space s;
        open_space(&s, make);
        s.pseudos[0] = (ex_pseudo){.at = at, .weights = row};
        s.def.pseudo_count = 1;
        ex_weigher *weigher = weigher_of(&s.def);
        double weights[EXAMPLES];
        ex_weigher_evaluate(weigher, at, weights);
        assert_row_near(weights, row, EXAMPLES, 1e-9);
        ex_weigher_destroy(weigher);
    }
}

static void examples_and_sums_stay(void **state) {
    (void)state;
    for (int make = 0; make < MAKES; make++) {
        sample_space s;
        open_space(&s, make);
        sample_space_add_pseudo(&s, at, from);
        sample_space_add_pseudo(&s, (double[]){2, 14}, (double[]){1, 9});
        ex_weigher *weigher = weigher_of(&s.def);
        for (int i = 0; i < EXAMPLES; i++) {
            double weights[EXAMPLES], expected[EXAMPLES] = {0};
            expected[i] = 1;
            ex_weigher_evaluate(weigher, s.points + 2 * i, weights);
            assert_row_near(weights, expected, EXAMPLES, 1e-9);
        }
        uint64_t random = 31;
        for (int i = 0; i < 100; i++) {
            double point[2], weights[EXAMPLES];
            sample_space_point(&s, i < 50 ? 1 : 200, &random, point);
            ex_weigher_evaluate(weigher, point, weights);
            if (makes[make].kind != EX_WEIGHER_GAUSSIAN) /* whose weights fade */
                assert_near(sum_of(weights, EXAMPLES), 1, 1e-6);
        }
        ex_weigher_destroy(weigher);
    }
}

/* Weights beyond the last are not written, and moving the pseudo-example moves the others. */
static void moving_it_changes_weights_and_not_their_number(void **state) {
    (void)state;
    for (int make = 0; make < MAKES; make++) {
        sample_space s;
        open_space(&s, make);
        sample_space_add_pseudo(&s, at, from);
        double last[EXAMPLES + 4] = {0};
        for (int step = 0; step < 5; step++) {
            s.at[0] = 6 + 0.4 * step;
            ex_weigher *weigher = weigher_of(&s.def);
            assert_int_equal(ex_weigher_example_count(weigher), EXAMPLES);
            double weights[EXAMPLES + 4];
            for (int i = 0; i < EXAMPLES + 4; i++)
                weights[i] = -77;
            ex_weigher_evaluate(weigher, (double[]){5.9, 9}, weights);
            for (int i = EXAMPLES; i < EXAMPLES + 4; i++)
                assert_near(weights[i], -77, 0);
            double change = 0;
            for (int i = 0; i < EXAMPLES; i++)
                change += fabs(weights[i] - last[i]);
            assert_true(change > 1e-4);
            memcpy(last, weights, sizeof last);
            ex_weigher_destroy(weigher);
        }
    }
}

/* The row comes from the real examples alone: another pseudo-example in the way does not change it. */
static void pseudo_examples_do_not_see_each_other(void **state) {
    (void)state;
    for (int make = 0; make < MAKES; make++) {
        sample_space s;
        open_space(&s, make);
        ex_weigher *real = weigher_of(&s.def);
        double expected[EXAMPLES], weights[EXAMPLES];
        ex_weigher_evaluate(real, from, expected);
        sample_space_add_pseudo(&s, (double[]){3, 5.05}, (double[]){9, 12});
        sample_space_add_pseudo(&s, at, from);
        ex_weigher *weigher = weigher_of(&s.def);
        ex_weigher_evaluate(weigher, at, weights);
        assert_row_near(weights, expected, EXAMPLES, 1e-8);
        ex_weigher_destroy(real);
        ex_weigher_destroy(weigher);
    }
}

/* Radii shrink if a pseudo-example is nearer than any example. */
static void radii_count_pseudo_examples(void **state) {
    (void)state;
    ex_axis axis = ex_axis_scalar(0, 10, 0);
    const double points[] = {0, 10}, place = 1, source = 2;
    ex_pseudo pseudo = {.at = &place, .from = &source};
    ex_weigher_def def = ex_weigher_def_default();
    def.axes = &axis;
    def.axis_count = 1;
    def.points = points;
    def.example_count = 2;
    def.pseudos = &pseudo;
    def.pseudo_count = 1;
    ex_weigher *weigher = weigher_of(&def);
    /* the radii of 0 and of 1 are 1, so their kernels end at 3 at most; that of 10 is 9 and reaches there linearly
     * added */
    double at_3_5[2], plane[2][2];
    ex_weigher_evaluate(weigher, (double[]){3.5}, at_3_5);
    ex_weigher_evaluate(weigher, (double[]){-1e5}, plane[0]);
    ex_weigher_evaluate(weigher, (double[]){1e5 + 7}, plane[1]);
    double on_plane = 0.5 * (plane[0][1] + plane[1][1]);
    /* contribution of the kernel of 10 at 3.5 over that at 10: (r = 6.5/9) over (r = 0) of the cubic B-spline */
    double r = 6.5 / 9, share = (2.0 / 3 - r * r * (1 - 0.5 * r)) / (2.0 / 3);
    double at_10_plane[2][2], step = 6.5;
    ex_weigher_evaluate(weigher, (double[]){-1e5 + step}, at_10_plane[0]);
    ex_weigher_evaluate(weigher, (double[]){1e5 + 7 + step}, at_10_plane[1]);
    double on_plane_at_10 = 0.5 * (at_10_plane[0][1] + at_10_plane[1][1]);
    assert_near(at_3_5[1] - on_plane, share * (1 - on_plane_at_10), 1e-9);
    ex_weigher_destroy(weigher);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(its_own_place_gives_its_row),
        cmocka_unit_test(given_weights_hold_there),
        cmocka_unit_test(examples_and_sums_stay),
        cmocka_unit_test(moving_it_changes_weights_and_not_their_number),
        cmocka_unit_test(pseudo_examples_do_not_see_each_other),
        cmocka_unit_test(radii_count_pseudo_examples),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

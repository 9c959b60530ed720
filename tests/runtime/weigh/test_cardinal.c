/*
 * The cardinal weigher: figures 2 and 3 of the paper, examples reproduced with every kernel, weights that sum to 1
 * everywhere, spaces of lower dimension than their axes, the ridge and the condition number.
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

#include "figure23.inl"

static bool needs_plane(ex_kernel kernel) {
    return kernel == EX_KERNEL_THIN_PLATE || kernel == EX_KERNEL_TRIHARMONIC;
}

/* Calls check with every kernel, with and without the plane. */
static void for_every_kernel(sample_space *s, void (*check)(const sample_space *s)) {
    for (int kernel = 0; kernel < EX_KERNEL_COUNT; kernel++)
        for (int linear = 0; linear < 2; linear++) {
            s->def.kernel = (ex_kernel)kernel;
            s->def.linear = linear;
            if (linear || !needs_plane(s->def.kernel))
                check(s);
        }
}

/* At example i the weights are 1 for it and 0 for the others. */
static void check_examples(const sample_space *s) {
    ex_weigher *weigher = weigher_of(&s->def);
    for (int i = 0; i < s->def.example_count; i++) {
        double weights[SPACE_POINTS], expected[SPACE_POINTS] = {0};
        expected[i] = 1;
        ex_weigher_evaluate(weigher, s->points + i * s->dimension, weights);
        assert_row_near(weights, expected, s->def.example_count, 1e-8);
    }
    ex_weigher_destroy(weigher);
}

/* Inside, around, and a hundred ranges away. */
static void check_sums(const sample_space *s) {
    ex_weigher *weigher = weigher_of(&s->def);
    uint64_t random = 10;
    static const double ranges[] = {1, 3, 20, 200};
    for (int i = 0; i < 4; i++)
        for (int k = 0; k < 50; k++) {
            double point[SPACE_NUMBERS], weights[SPACE_POINTS];
            sample_space_point(s, ranges[i], &random, point);
            ex_weigher_evaluate(weigher, point, weights);
            double off = fabs(sum_of(weights, s->def.example_count) - 1);
            if (!(off <= 1e-6))
                fail_msg("kernel %s, %s plane, within %g ranges: the sum is off by %g", ex_kernel_name(s->def.kernel),
                         s->def.linear ? "a" : "no", ranges[i], off);
        }
    ex_weigher_destroy(weigher);
}

static void figures_2_and_3(void **state) {
    (void)state;
    ex_axis axis = ex_axis_scalar(0, 1, 0);
    const double points[] = {0.15, 0.30, 0.75};
    ex_weigher_def def = ex_weigher_def_default();
    def.axes = &axis;
    def.axis_count = 1;
    def.points = points;
    def.example_count = 3;
    ex_weigher *weigher = weigher_of(&def);
    for (size_t i = 0; i < sizeof figure23 / sizeof *figure23; i++) {
        double weights[3];
        ex_weigher_evaluate(weigher, figure23[i], weights);
        assert_row_near(weights, figure23[i] + 1, 3, 1e-12);
    }
    ex_weigher_destroy(weigher);
}

static void examples_are_reproduced(void **state) {
    (void)state;
    static const int axes[] = {1, 2, 2, 4, 10}, examples[] = {3, 3, 14, 9, 30};
    for (int i = 0; i < 5; i++) {
        sample_space s;
        sample_space_scalars(&s, axes[i], examples[i], (uint64_t)i);
        for_every_kernel(&s, check_examples);
    }
    sample_space mixed;
    sample_space_mixed(&mixed, 9, 20);
    for_every_kernel(&mixed, check_examples);
}

static void weights_sum_to_one(void **state) {
    (void)state;
    static const int axes[] = {1, 2, 2, 4, 10}, examples[] = {3, 3, 14, 9, 30};
    for (int i = 0; i < 5; i++) {
        sample_space s;
        sample_space_scalars(&s, axes[i], examples[i], (uint64_t)i);
        for_every_kernel(&s, check_sums);
    }
    sample_space mixed;
    sample_space_mixed(&mixed, 9, 20);
    for_every_kernel(&mixed, check_sums);
}

static void one_example_takes_all(void **state) {
    (void)state;
    sample_space s;
    sample_space_scalars(&s, 2, 1, 1);
    for_every_kernel(&s, check_examples);
    for_every_kernel(&s, check_sums);
}

/* No slope along it: the weights do not change with it once the radial parts have vanished, and sum to 1. */
static void an_axis_that_never_varies(void **state) {
    (void)state;
    sample_space s;
    sample_space_scalars(&s, 3, 8, 5);
    for (int k = 0; k < 8; k++)
        s.points[3 * k + 1] = 4;
    for_every_kernel(&s, check_examples);
    for_every_kernel(&s, check_sums);
    s.def.kernel = EX_KERNEL_BSPLINE;
    s.def.linear = true;
    ex_weigher *weigher = weigher_of(&s.def);
    double near[8], far[8];
    ex_weigher_evaluate(weigher, (double[]){3, 4 + 10 * 17, 9}, near);
    ex_weigher_evaluate(weigher, (double[]){3, 4 + 99 * 17, 9}, far);
    assert_row_near(far, near, 8, 1e-12);
    ex_weigher_destroy(weigher);
}

static void all_on_a_line(void **state) {
    (void)state;
    sample_space s;
    sample_space_scalars(&s, 3, 6, 6);
    for (int k = 0; k < 6; k++)
        for (int a = 0; a < 3; a++)
            s.points[3 * k + a] = s.axes[a].min + (s.axes[a].max - s.axes[a].min) * (0.1 + 0.03 * k * k);
    for_every_kernel(&s, check_examples);
    for_every_kernel(&s, check_sums);
}

/* The plane alone is linear: far from compact kernels the weights follow it exactly. */
static void far_away_the_plane_is_left(void **state) {
    (void)state;
    sample_space s;
    sample_space_scalars(&s, 2, 7, 7);
    ex_weigher *weigher = weigher_of(&s.def);
    double a[7], b[7], middle[7];
    ex_weigher_evaluate(weigher, (double[]){100, 300}, a);
    ex_weigher_evaluate(weigher, (double[]){140, 500}, b);
    ex_weigher_evaluate(weigher, (double[]){120, 400}, middle);
    double most = 0;
    for (int i = 0; i < 7; i++) {
        assert_near(middle[i], 0.5 * (a[i] + b[i]), 1e-12);
        most = fmax(most, fabs(a[i] - b[i]));
    }
    assert_true(most > 0.1); /* and it does slope */
    ex_weigher_destroy(weigher);
    s.def.linear = false; /* only a constant: the same everywhere far out */
    weigher = weigher_of(&s.def);
    ex_weigher_evaluate(weigher, (double[]){100, 300}, a);
    for (int i = 0; i < 7; i++)
        assert_near(a[i], 1.0 / 7, 1e-12);
    ex_weigher_destroy(weigher);
}

/* With a ridge examples are approached: not reached, the nearer the smaller it is; sums stay. */
static void a_ridge_smooths(void **state) {
    (void)state;
    sample_space s;
    sample_space_scalars(&s, 2, 9, 8);
    for (int kernel = 0; kernel < EX_KERNEL_COUNT; kernel++) {
        double last = 0;
        static const double ridges[] = {1e-9, 1e-4, 1e-2, 0.3};
        for (int r = 0; r < 4; r++) {
            s.def.kernel = (ex_kernel)kernel;
            s.def.ridge = ridges[r];
            check_sums(&s);
            ex_weigher *weigher = weigher_of(&s.def);
            double own = 0, off = 0;
            for (int i = 0; i < 9; i++) {
                double weights[9];
                ex_weigher_evaluate(weigher, s.points + 2 * i, weights);
                off += fabs(weights[i] - 1);
                own += weights[i];
            }
            ex_weigher_destroy(weigher);
            if (!(off > last) || !(own < 9) || (r == 0 && off > 1e-5))
                fail_msg("kernel %s, ridge %g: off by %g, before %g", ex_kernel_name(s.def.kernel), ridges[r], off,
                         last);
            last = off;
        }
    }
}

/* The radius widens kernels: with a wide one the nearest other point has more weight. */
static void the_radius_counts(void **state) {
    (void)state;
    sample_space s;
    sample_space_scalars(&s, 2, 9, 9);
    double narrow[9], plain[9];
    ex_weigher *weigher = weigher_of(&s.def);
    ex_weigher_evaluate(weigher, (double[]){4, 6}, plain);
    ex_weigher_destroy(weigher);
    s.def.radius = 0.05; /* only the plane between examples */
    weigher = weigher_of(&s.def);
    ex_weigher_evaluate(weigher, (double[]){4, 6}, narrow);
    double far[2][9];
    ex_weigher_evaluate(weigher, (double[]){4 + 1000, 6 + 1000}, far[0]);
    ex_weigher_evaluate(weigher, (double[]){4 - 1000, 6 - 1000}, far[1]);
    ex_weigher_destroy(weigher);
    double difference = 0;
    for (int i = 0; i < 9; i++) {
        assert_near(narrow[i], 0.5 * (far[0][i] + far[1][i]), 1e-10);
        difference += fabs(narrow[i] - plain[i]);
    }
    assert_true(difference > 1e-3);
    s.def.radius = 1.5;
    for_every_kernel(&s, check_examples);
}

/* The kernels again, as defined in the header. */
static double kernel_of(ex_kernel kernel, double r) {
    switch (kernel) {
    case EX_KERNEL_BSPLINE:
        return r < 1 ? 2.0 / 3 - r * r + r * r * r / 2 : r < 2 ? pow(2 - r, 3) / 6 : 0;
    case EX_KERNEL_GAUSSIAN:
        return exp(-r * r / 2);
    case EX_KERNEL_WENDLAND:
        return r < 2 ? pow(1 - r / 2, 4) * (2 * r + 1) : 0;
    case EX_KERNEL_INVERSE_MULTIQUADRIC:
        return 1 / sqrt(1 + r * r);
    case EX_KERNEL_THIN_PLATE:
        return r > 0 ? r * r * log(r) : 0;
    case EX_KERNEL_BIHARMONIC:
        return r;
    case EX_KERNEL_TRIHARMONIC:
        return r * r * r;
    default:
        return sqrt(1 + r * r);
    }
}

/*
 * Examples at 0 and 1 with only a constant: by symmetry w_0 = 1/2 + (R(x) - R(1 - x)) / (2 (R(0) - R(1))). With a
 * plane, at -1, 0 and 1, the middle one of kernels that are solved with it: w = a (R(x + 1) - 2 R(x) + R(x - 1)) + c,
 * where a = 1 / (4 R(1) - 3 R(0) - R(2)) and c = -a (R(0) - 2 R(1) + R(2)).
 */
static void kernels_by_hand(void **state) {
    (void)state;
    static const double places[] = {-1, 0, 1};
    ex_axis axis = ex_axis_scalar(0, 1, 0);
    for (int k = 0; k < EX_KERNEL_COUNT; k++)
        for (double radius = 0.7; radius < 2; radius += 0.6) {
            const ex_kernel kernel = (ex_kernel)k;
            const bool plane = kernel >= EX_KERNEL_THIN_PLATE;
            double at[3];
            for (int i = 0; i < 3; i++)
                at[i] = kernel_of(kernel, i / radius);
            ex_weigher_def def = ex_weigher_def_default();
            def.axes = &axis;
            def.axis_count = 1;
            def.kernel = kernel;
            def.radius = radius;
            def.linear = plane;
            def.points = plane ? places : places + 1;
            def.example_count = plane ? 3 : 2;
            ex_weigher *weigher = weigher_of(&def);
            for (double x = -3; x < 3; x += 0.17) {
                double weights[3], left = kernel_of(kernel, fabs(x + 1) / radius);
                double here = kernel_of(kernel, fabs(x) / radius), right = kernel_of(kernel, fabs(x - 1) / radius);
                double a = 1 / (4 * at[1] - 3 * at[0] - at[2]), c = -a * (at[0] - 2 * at[1] + at[2]);
                double expected =
                    plane ? a * (left - 2 * here + right) + c : 0.5 + (here - right) / (2 * (at[0] - at[1]));
                ex_weigher_evaluate(weigher, &x, weights);
                assert_near(weights[plane ? 1 : 0], expected, 1e-12);
            }
            ex_weigher_destroy(weigher);
        }
}

/* Two points one range apart, bspline without a plane: Q = [[2/3, 1/6], [1/6, 2/3]], norm 5/6, inverse norm 2. */
static void the_condition_number_by_hand(void **state) {
    (void)state;
    ex_axis axis = ex_axis_scalar(0, 1, 0);
    ex_weigher_def def = ex_weigher_def_default();
    def.axes = &axis;
    def.axis_count = 1;
    def.points = (double[]){0, 1};
    def.example_count = 2;
    ex_weigher *weigher = weigher_of(&def);
    double condition = 0;
    assert_int_equal(ex_weigher_condition(weigher, NULL, &condition, NULL), EX_OK);
    assert_near(condition, 5.0 / 3, 1e-14);
    ex_weigher_destroy(weigher);
    /* biharmonic with its constant: [[0, 1, c], [1, 0, c], [c, c, 0]], c = 1/sqrt 2, has norm 1 + c, and its inverse
     * [[-1/2, 1/2, c], [1/2, -1/2, c], [c, c, -1]] has norm 1 + 2c */
    def.kernel = EX_KERNEL_BIHARMONIC;
    def.linear = false;
    weigher = weigher_of(&def);
    assert_int_equal(ex_weigher_condition(weigher, NULL, &condition, NULL), EX_OK);
    assert_near(condition, (1 + sqrt(0.5)) * (1 + sqrt(2)), 1e-14);
    ex_weigher_destroy(weigher);
}

/* Wide kernels are almost the same at two places; kernels with one radius for all, at two places that are near. */
static void the_condition_number_grows(void **state) {
    (void)state;
    for (int kernel = 0; kernel < EX_KERNEL_COUNT; kernel++) {
        double conditions[2];
        for (int i = 0; i < 2; i++) {
            sample_space s;
            sample_space_scalars(&s, 2, 10, 11);
            s.def.kernel = (ex_kernel)kernel;
            if (kernel < EX_KERNEL_THIN_PLATE) {
                s.def.radius = i == 0 ? 0.8 : 4;
            } else {
                s.points[0] = s.points[2] + (i == 0 ? 3 : 1e-4);
                s.points[1] = s.points[3];
            }
            ex_weigher *weigher = weigher_of(&s.def);
            assert_int_equal(ex_weigher_condition(weigher, NULL, &conditions[i], NULL), EX_OK);
            ex_weigher_destroy(weigher);
        }
        if (!(conditions[0] >= 1) || !(conditions[1] > 10 * conditions[0]))
            fail_msg("kernel %s: %g, then %g", ex_kernel_name((ex_kernel)kernel), conditions[0], conditions[1]);
    }
    sample_space s;
    sample_space_scalars(&s, 2, 10, 11);
    s.def.kind = EX_WEIGHER_SHEPARD;
    ex_weigher *weigher = weigher_of(&s.def);
    double condition = 0;
    assert_int_equal(ex_weigher_condition(weigher, NULL, &condition, NULL), EX_OK);
    assert_near(condition, 1, 0);
    ex_weigher_destroy(weigher);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_2_and_3),
        cmocka_unit_test(examples_are_reproduced),
        cmocka_unit_test(weights_sum_to_one),
        cmocka_unit_test(one_example_takes_all),
        cmocka_unit_test(an_axis_that_never_varies),
        cmocka_unit_test(all_on_a_line),
        cmocka_unit_test(far_away_the_plane_is_left),
        cmocka_unit_test(a_ridge_smooths),
        cmocka_unit_test(the_radius_counts),
        cmocka_unit_test(kernels_by_hand),
        cmocka_unit_test(the_condition_number_by_hand),
        cmocka_unit_test(the_condition_number_grows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

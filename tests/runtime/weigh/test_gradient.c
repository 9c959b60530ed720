/*
 * Derivatives of weights (ex_weigher_gradient), of every kind, compared with differences of weights that are
 * extrapolated to a step of 0 (Ridders 1982), and with values worked out by hand.
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

enum { MOST = SPACE_POINTS, NUMBERS = SPACE_NUMBERS + SPACE_POINTS };

static double weight_at(const ex_weigher *w, const double *point, int number, double step, int example) {
    double moved[NUMBERS], weights[MOST];
    memcpy(moved, point, (size_t)ex_weigher_dimension(w) * sizeof *moved);
    moved[number] += step;
    ex_weigher_evaluate(w, moved, weights);
    return weights[example];
}

/* Central differences with steps h, h/1.6, …, and polynomials through them in h^2. The best has the smallest change;
 * that change is its error, which is large across a corner. */
static double extrapolate_from(const ex_weigher *w, const double *point, int number, int example, double h,
                               double *error) {
    enum { ROWS = 7 };
    double table[ROWS][ROWS], best = NAN;
    *error = INFINITY;
    for (int i = 0; i < ROWS; i++, h /= 1.6) {
        table[0][i] = (weight_at(w, point, number, h, example) - weight_at(w, point, number, -h, example)) / (2 * h);
        double factor = 1;
        for (int j = 1; j <= i; j++) {
            factor *= 1.6 * 1.6;
            table[j][i] = (table[j - 1][i] * factor - table[j - 1][i - 1]) / (factor - 1);
            const double change = fmax(fabs(table[j][i] - table[j - 1][i]), fabs(table[j][i] - table[j - 1][i - 1]));
            if (change < *error) {
                *error = change;
                best = table[j][i];
            }
        }
    }
    return best;
}

/* The same from two steps: a corner of some derivative between them makes a difference. */
static double extrapolate(const ex_weigher *w, const double *point, int number, int example, double h, double *error) {
    double errors[2];
    const double wide = extrapolate_from(w, point, number, example, h, &errors[0]);
    const double narrow = extrapolate_from(w, point, number, example, h / 7, &errors[1]);
    *error = fmax(fabs(wide - narrow), errors[0] < errors[1] ? errors[0] : errors[1]);
    return errors[0] < errors[1] ? wide : narrow;
}

/* Size of each number of a point. */
static double size_of(const ex_weigher *w, int number) {
    ex_weigher_def def;
    ex_axis axes[NUMBERS];
    ex_weigher_describe(w, &def, axes, NULL);
    for (int a = 0; a < def.axis_count; number -= ex_axis_width(&axes[a]), a++)
        if (number < ex_axis_width(&axes[a]))
            return axes[a].kind == EX_AXIS_SCALAR ? axes[a].max - axes[a].min : 1;
    return 1;
}

/* Derivatives that were compared, and those that were not, because a corner is near. */
typedef struct tally {
    int compared, skipped;
    double largest;
} tally;

static void compare(const ex_weigher *w, const double *point, double tolerance, tally *t) {
    double weights[MOST], plain[MOST], rows[MOST * NUMBERS];
    const int m = ex_weigher_example_count(w), d = ex_weigher_dimension(w);
    ex_weigher_gradient(w, point, weights, rows);
    ex_weigher_evaluate(w, point, plain);
    assert_row_near(weights, plain, m, 1e-15);
    for (int k = 0; k < d; k++) {
        const double size = size_of(w, k);
        for (int i = 0; i < m; i++) {
            double error;
            const double expected = extrapolate(w, point, k, i, 0.005 * size, &error) * size;
            const double value = rows[i * d + k] * size;
            assert_true(isfinite(value));
            if (!(error * size < 0.1 * tolerance * (1 + fabs(expected)))) {
                t->skipped++;
                continue;
            }
            t->compared++;
            t->largest = fmax(t->largest, fabs(value - expected) / (1 + fabs(expected)));
            assert_near(value, expected, tolerance * (1 + fabs(expected)));
        }
    }
}

static void compare_at_random(const sample_space *s, double ranges, double tolerance) {
    ex_weigher *w = weigher_of(&s->def);
    uint64_t random = 77;
    tally t = {0};
    for (int i = 0; i < 5; i++) {
        double point[SPACE_NUMBERS];
        sample_space_point(s, ranges, &random, point);
        compare(w, point, tolerance, &t);
    }
    if (!(t.compared > 2 * t.skipped))
        fail_msg("%s: %d derivatives compared, %d skipped", ex_weigher_kind_name(s->def.kind), t.compared, t.skipped);
    ex_weigher_destroy(w);
}

/* Pseudo-examples: one that borrows, one with weights of its own that do not sum to 1. */
static void add_pseudos(sample_space *s, double *weights) {
    uint64_t random = 5;
    double at[SPACE_NUMBERS], from[SPACE_NUMBERS];
    sample_space_point(s, 1, &random, at);
    sample_space_point(s, 1, &random, from);
    sample_space_add_pseudo(s, at, from);
    sample_space_point(s, 1, &random, at);
    sample_space_add_pseudo(s, at, from);
    for (int k = 0; k < s->def.example_count; k++)
        weights[k] = k == 1 ? 0.6 : k == 3 ? 0.7 : 0;
    s->pseudos[1].from = NULL;
    s->pseudos[1].weights = weights;
}

static void set_limits(sample_space *s, ex_limit limit, bool clamp) {
    for (int a = 0; a < s->def.axis_count; a++) {
        s->axes[a].limit = limit;
        s->axes[a].clamp = clamp && s->axes[a].kind == EX_AXIS_SCALAR;
    }
}

/* Everything that a kind of weigher with points can be combined with. */
static void compare_kind(const ex_weigher_def *like, double tolerance) {
    static const ex_limit limits[] = {EX_LIMIT_KIND, EX_LIMIT_HOLD, EX_LIMIT_FADE, EX_LIMIT_EXTRAPOLATE};
    for (int space = 0; space < 3; space++)
        for (int with = 0; with < 8; with++) {
            sample_space s;
            double weights[MOST];
            if (space == 2)
                sample_space_mixed(&s, 9, 3);
            else
                sample_space_scalars(&s, 1 + 2 * space, 7, 11);
            ex_weigher_def def = *like;
            def.axes = s.def.axes;
            def.axis_count = s.def.axis_count;
            def.points = s.def.points;
            def.example_count = s.def.example_count;
            def.pseudos = s.def.pseudos;
            s.def = def;
            if (with & 1)
                add_pseudos(&s, weights);
            set_limits(&s, limits[with >> 1], with == 5);
            compare_at_random(&s, 1.6, tolerance);
        }
}

static void test_cardinal(void **state) {
    (void)state;
    ex_weigher_def def = ex_weigher_def_default();
    for (int kernel = 0; kernel < EX_KERNEL_COUNT; kernel++) {
        def.kernel = (ex_kernel)kernel;
        def.linear = kernel % 2 == 0 || kernel == EX_KERNEL_TRIHARMONIC;
        def.radius = kernel == EX_KERNEL_GAUSSIAN ? 0.8 : 1;
        compare_kind(&def, 1e-7);
    }
}

static void test_calm(void **state) {
    (void)state;
    static const double overshoots[] = {0.1, 0.02, 0, 0.5};
    ex_weigher_def def = ex_weigher_def_default();
    def.kind = EX_WEIGHER_CALM;
    for (int i = 0; i < 4; i++) {
        def.overshoot = overshoots[i];
        def.linear = i != 3;
        compare_kind(&def, 1e-7);
    }
}

static void test_gaussian(void **state) {
    (void)state;
    ex_weigher_def def = ex_weigher_def_default();
    def.kind = EX_WEIGHER_GAUSSIAN;
    compare_kind(&def, 1e-7);
    double falloffs[MOST * 4], metrics[MOST * 9];
    uint64_t random = 3;
    sample_space s;
    sample_space_mixed(&s, 9, 3);
    s.def.kind = EX_WEIGHER_GAUSSIAN;
    for (int i = 0; i < 9 * 4; i++)
        falloffs[i] = i % 5 == 0 ? 0 : random_between(&random, 0.3, 0.7);
    s.def.falloffs = falloffs;
    compare_at_random(&s, 1.5, 1e-7);
    sample_space_scalars(&s, 3, 7, 11);
    s.def.kind = EX_WEIGHER_GAUSSIAN;
    for (int k = 0; k < 7; k++) {
        const double slant = random_between(&random, -2, 2);
        const double metric[9] = {12, slant, 1, slant, 9, -slant, 1, -slant, 7};
        memcpy(metrics + 9 * k, metric, sizeof metric);
    }
    s.def.metrics = metrics;
    compare_at_random(&s, 1.5, 1e-7);
}

static void test_shepard(void **state) {
    (void)state;
    static const double powers[] = {2, 1, 3.5, 0.5};
    ex_weigher_def def = ex_weigher_def_default();
    def.kind = EX_WEIGHER_SHEPARD;
    for (int i = 0; i < 4; i++) {
        def.power = powers[i];
        compare_kind(&def, 1e-7);
    }
}

static void test_nearest(void **state) {
    (void)state;
    ex_weigher_def def = ex_weigher_def_default();
    def.kind = EX_WEIGHER_NEAREST;
    for (int form = 0; form < 2; form++)
        for (int k = 2; k <= 12; k += 5) {
            def.neighbours = k;
            def.paper_form = form == 1;
            compare_kind(&def, 1e-7);
        }
}

/* The numbers of a direct weigher's point are its weights, as far as they are not clamped. */
static void test_direct(void **state) {
    (void)state;
    ex_axis axes[3] = {ex_axis_scalar(0, 1, 0), ex_axis_scalar(-1, 1, 0), ex_axis_scalar(0, 1, 0)};
    axes[1].clamp = true;
    const ex_weigher_def def = ex_weigher_def_direct(axes, 3);
    ex_weigher *w = weigher_of(&def);
    const double inside[3] = {3, 1, 0.5}, outside[3] = {0.5, 1.5, NAN};
    double weights[3], rows[9];
    ex_weigher_gradient(w, inside, weights, rows);
    assert_row_near(weights, ((double[]){3, 1, 0.5}), 3, 0);
    assert_row_near(rows, ((double[]){1, 0, 0, 0, 1, 0, 0, 0, 1}), 9, 0);
    ex_weigher_gradient(w, outside, weights, rows);
    assert_row_near(weights, ((double[]){0.5, 1, 0}), 3, 0);
    assert_row_near(rows, ((double[]){1, 0, 0, 0, 0, 0, 0, 0, 0}), 9, 0);
    ex_weigher_destroy(w);
}

static double product(const double *a, const double *b) {
    double sum = 0;
    for (int i = 0; i < 6; i++)
        sum += a[i] * b[i];
    return sum;
}

/* Driver forms of six numbers, measured by products; with a scalar axis, two databases. */
static void test_convex(void **state) {
    (void)state;
    static const double forms[6][6] = {{3, 0, 0, 1, 0, 0}, {0, 4, 0, 0, 1, 0},  {0, 0, 3, 0, 0, 1},
                                       {5, 4, 0, 0, 0, 2}, {-1, 2, 4, 0, 1, 0}, {2, 0, 1, 6, 0, 1}};
    for (int scalar = 0; scalar < 2; scalar++) {
        ex_axis axes[2] = {ex_axis_driver(6), ex_axis_scalar(0, 2, 0)};
        double points[6 * 7];
        const int d = 6 + scalar;
        for (int i = 0; i < 6; i++) {
            for (int j = 0; j < 6; j++)
                points[i * d + j] = product(forms[i], forms[j]);
            if (scalar)
                points[i * d + 6] = i < 3 ? 0 : 2;
        }
        ex_weigher_def def = ex_weigher_def_default();
        def.kind = EX_WEIGHER_CONVEX;
        def.axes = axes;
        def.axis_count = 1 + scalar;
        def.points = points;
        def.example_count = 6;
        ex_weigher *w = weigher_of(&def);
        tally t = {0};
        uint64_t random = 9;
        for (int i = 0; i < 20; i++) {
            double point[7], form[6];
            for (int j = 0; j < 6; j++)
                form[j] = random_between(&random, 0, 3);
            for (int j = 0; j < 6; j++)
                point[j] = product(forms[j], form);
            point[6] = random_between(&random, 0.2, 1.8);
            compare(w, point, 1e-6, &t);
        }
        assert_true(t.compared > 4 * t.skipped);
        ex_weigher_destroy(w);
    }
}

/* Two examples and a plane: weights are 1 - x and x, so slopes are -1 and 1 by the range; held, they are 0. */
static void test_by_hand(void **state) {
    (void)state;
    ex_axis axis = ex_axis_scalar(0, 50, 0);
    const double points[2] = {0, 50};
    ex_weigher_def def = ex_weigher_def_default();
    def.axes = &axis;
    def.axis_count = 1;
    def.points = points;
    def.example_count = 2;
    double weights[2], rows[2], x = 20;
    ex_weigher *w = weigher_of(&def);
    ex_weigher_gradient(w, &x, weights, rows);
    assert_row_near(weights, ((double[]){0.6, 0.4}), 2, 1e-12);
    assert_row_near(rows, ((double[]){-0.02, 0.02}), 2, 1e-12);
    ex_weigher_destroy(w);
    axis.limit = EX_LIMIT_HOLD;
    w = weigher_of(&def);
    x = 60;
    ex_weigher_gradient(w, &x, weights, rows);
    assert_row_near(weights, ((double[]){0, 1}), 2, 1e-12);
    assert_row_near(rows, ((double[]){0, 0}), 2, 0);
    x = NAN;
    ex_weigher_gradient(w, &x, weights, rows);
    assert_row_near(weights, ((double[]){1, 0}), 2, 1e-12);
    assert_row_near(rows, ((double[]){0, 0}), 2, 0);
    ex_weigher_destroy(w);
}

/* Slopes are perpendicular to a quaternion, change with one over its length, and are 0 for one that is no rotation. */
static void test_quaternions(void **state) {
    (void)state;
    sample_space s;
    sample_space_mixed(&s, 9, 4);
    ex_weigher *w = weigher_of(&s.def);
    double point[SPACE_NUMBERS], weights[MOST], rows[MOST * NUMBERS], longer[MOST * NUMBERS];
    uint64_t random = 1;
    sample_space_point(&s, 1, &random, point);
    static const int firsts[] = {0, 5, 9}; /* number 4 is a scalar */
    ex_weigher_gradient(w, point, weights, rows);
    for (int i = 0; i < 9; i++)
        for (int a = 0; a < 3; a++) {
            double along = 0, size = 0;
            for (int k = firsts[a]; k < firsts[a] + 4; k++) {
                along += rows[i * 13 + k] * point[k];
                size += fabs(rows[i * 13 + k]);
            }
            assert_near(along, 0, 1e-13 * (1 + size));
        }
    for (int k = 0; k < 13; k++)
        point[k] *= k == 4 ? 1 : 5;
    ex_weigher_gradient(w, point, weights, longer);
    for (int i = 0; i < 9 * 13; i++)
        assert_near(longer[i], i % 13 == 4 ? rows[i] : rows[i] / 5, 1e-12);
    for (int k = 0; k < 13; k++)
        point[k] = k < 4 ? 0 : k == 4 ? point[k] : k < 9 ? INFINITY : 1e300;
    ex_weigher_gradient(w, point, weights, rows);
    for (int i = 0; i < 9 * 13; i++)
        assert_true(isfinite(rows[i]) && (i % 13 == 4 || fabs(rows[i]) < 1e-290));
    ex_weigher_destroy(w);
}

/* At examples: flat or a corner, but finite; smooth kernels agree with differences there. */
static void test_at_examples(void **state) {
    (void)state;
    for (int kind = 0; kind < ex_weigher_kind_count(); kind++) {
        if (!ex_weigher_kind_info((ex_weigher_kind)kind)->has_points || kind == EX_WEIGHER_CONVEX)
            continue;
        sample_space s;
        sample_space_mixed(&s, 9, 4);
        s.def.kind = (ex_weigher_kind)kind;
        ex_weigher *w = weigher_of(&s.def);
        tally t = {0};
        for (int i = 0; i < 9; i++)
            compare(w, ex_weigher_point(w, i), 1e-6, &t);
        assert_true(t.compared > 9);
        ex_weigher_destroy(w);
    }
}

static void test_many_points(void **state) {
    (void)state;
    enum { COUNT = 5 };
    sample_space s;
    sample_space_mixed(&s, 9, 4);
    s.def.kind = EX_WEIGHER_CALM;
    ex_weigher *w = weigher_of(&s.def);
    double points[COUNT * 13], weights[COUNT * 9], many[COUNT * 9], rows[COUNT * 9 * 13], one[9], row[9 * 13];
    uint64_t random = 2;
    for (int i = 0; i < COUNT; i++)
        sample_space_point(&s, 1, &random, points + 13 * (ptrdiff_t)i);
    ex_weigher_evaluate_many(w, COUNT, points, many);
    ex_weigher_gradient_many(w, COUNT, points, weights, rows);
    assert_memory_equal(many, weights, sizeof many);
    for (ptrdiff_t i = 0; i < COUNT; i++) {
        ex_weigher_evaluate(w, points + 13 * i, one);
        assert_memory_equal(one, many + 9 * i, sizeof one);
        ex_weigher_gradient(w, points + 13 * i, one, row);
        assert_memory_equal(row, rows + 9 * 13 * i, sizeof row);
    }
    ex_weigher_evaluate_many(w, 0, NULL, NULL);
    ex_weigher_gradient_many(w, 0, NULL, NULL, NULL);
    ex_weigher_destroy(w);
}

static int misuses;
static void count_misuse(const char *function, const char *what) {
    (void)function;
    (void)what;
    misuses++;
}

static void test_misuse(void **state) {
    (void)state;
    sample_space s;
    sample_space_scalars(&s, 1, 4, 1);
    ex_weigher *w = weigher_of(&s.def);
    double number = 0, numbers[4];
    ex_set_misuse_hook(count_misuse);
    ex_weigher_gradient(NULL, &number, numbers, numbers);
    ex_weigher_gradient(w, &number, NULL, numbers);
    ex_weigher_gradient(w, &number, numbers, NULL);
    ex_weigher_gradient_many(w, -1, &number, numbers, numbers);
    ex_weigher_gradient_many(w, 1, NULL, numbers, numbers);
    ex_weigher_evaluate_many(w, -1, &number, numbers);
    ex_weigher_evaluate_many(w, 1, &number, NULL);
    ex_weigher_evaluate_many(NULL, 0, NULL, NULL);
    ex_set_misuse_hook(NULL);
    assert_int_equal(misuses, 8);
    ex_weigher_destroy(w);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand),     cmocka_unit_test(test_cardinal), cmocka_unit_test(test_calm),
        cmocka_unit_test(test_gaussian),    cmocka_unit_test(test_shepard),  cmocka_unit_test(test_nearest),
        cmocka_unit_test(test_direct),      cmocka_unit_test(test_convex),   cmocka_unit_test(test_quaternions),
        cmocka_unit_test(test_at_examples), cmocka_unit_test(test_misuse),   cmocka_unit_test(test_many_points),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * The gaussian weigher: cases worked by hand, falloffs and metrics against their equivalents, rotations,
 * pseudo-examples.
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

enum { EXAMPLES = 9 };

static double bell(double distance, double falloff) {
    return exp(-0.5 * (distance / falloff) * (distance / falloff));
}

/* One axis from 0 to 1, so that distances are differences. */
static ex_weigher_def line_of(const double *points, const double *falloffs, int count) {
    static ex_axis axis;
    axis = ex_axis_scalar(0, 1, 0);
    ex_weigher_def def = ex_weigher_def_default();
    def.kind = EX_WEIGHER_GAUSSIAN;
    def.axes = &axis;
    def.axis_count = 1;
    def.points = points;
    def.falloffs = falloffs;
    def.example_count = count;
    return def;
}

static void assert_same_weights(const ex_weigher_def *a, const ex_weigher_def *b, const sample_space *s, double room) {
    ex_weigher *one = weigher_of(a), *other = weigher_of(b);
    uint64_t random = 90;
    for (int i = 0; i < 40; i++) {
        double point[SPACE_NUMBERS], first[SPACE_POINTS], second[SPACE_POINTS];
        sample_space_point(s, 1.5, &random, point);
        ex_weigher_evaluate(one, point, first);
        ex_weigher_evaluate(other, point, second);
        assert_row_near(first, second, a->example_count, room);
    }
    ex_weigher_destroy(one);
    ex_weigher_destroy(other);
}

/* [1 b; a 1] has the inverse [1 -b; -a 1] / (1 - a b), with a the first one's basis at the second, b the other way. */
static void two_points_by_hand(void **state) {
    (void)state;
    static const double cases[][2] = {{0.5, 0.5}, {0.3, 0.9}, {2, 0.1}};
    const double points[] = {0.25, 0.75};
    for (int i = 0; i < 3; i++) {
        const double *falloffs = cases[i], a = bell(0.5, falloffs[0]), b = bell(0.5, falloffs[1]);
        ex_weigher_def def = line_of(points, falloffs, 2);
        ex_weigher *weigher = weigher_of(&def);
        for (int k = -20; k <= 40; k++) {
            const double p = 0.05 * k, first = bell(p - 0.25, falloffs[0]), second = bell(p - 0.75, falloffs[1]);
            double weights[2];
            ex_weigher_evaluate(weigher, &p, weights);
            assert_near(weights[0], (first - a * second) / (1 - a * b), 1e-13);
            assert_near(weights[1], (second - b * first) / (1 - a * b), 1e-13);
        }
        const ex_ridge ridge = ex_weigher_get_ridge(weigher);
        double condition = 0;
        assert_int_equal(ex_weigher_condition(weigher, NULL, &condition, NULL), EX_OK);
        const double norm = 1 + (a > b ? a : b);
        assert_near(condition, norm * norm / (1 - a * b), 1e-12);
        assert_near(ridge.condition, condition, 1e-12);
        assert_true(ridge.ridge == 0 && ridge.point == -1 && ridge.falloff == 0);
        ex_weigher_destroy(weigher);
    }
}

/* Two points that are nearly one: the ridge is the smallest power of ten that brings the condition number, here
 * (1 + r + a) / (1 + r - a), to the limit. */
static void the_ridge_is_the_smallest_that_helps(void **state) {
    (void)state;
    for (int i = 5; i < 9; i++) {
        const double points[] = {0, pow(10, -i)}, falloffs[] = {1, 1}, a = bell(points[1], 1);
        ex_weigher_def def = line_of(points, falloffs, 2);
        ex_weigher *weigher = weigher_of(&def);
        const ex_ridge ridge = ex_weigher_get_ridge(weigher);
        double r = 1e-12;
        while ((1 + r + a) / (1 + r - a) > EX_CONDITION_LIMIT)
            r *= 10;
        assert_near(ridge.ridge / r, 1, 1e-9);
        ex_weigher_destroy(weigher);
    }
}

/* Five points evenly around a circle and one falloff: by symmetry the weights in the middle are equal, and
 * w = bell(radius) / (sum of a row of Phi). */
static void a_ring_by_symmetry(void **state) {
    (void)state;
    enum { COUNT = 5 };
    ex_axis axes[2] = {ex_axis_scalar(0, 1, 0), ex_axis_scalar(0, 1, 0)};
    double points[COUNT][2], falloffs[COUNT][2], weights[COUNT], row = 0;
    for (int i = 0; i < COUNT; i++) {
        const double angle = 2 * 3.14159265358979323846 * i / COUNT;
        points[i][0] = 0.5 * cos(angle);
        points[i][1] = 0.5 * sin(angle);
        falloffs[i][0] = falloffs[i][1] = 0.7;
        row += bell(sin(0.5 * angle), 0.7);
    }
    ex_weigher_def def = line_of(points[0], falloffs[0], COUNT);
    def.axes = axes;
    def.axis_count = 2;
    ex_weigher *weigher = weigher_of(&def);
    ex_weigher_evaluate(weigher, (double[]){0, 0}, weights);
    for (int i = 0; i < COUNT; i++)
        assert_near(weights[i], bell(0.5, 0.7) / row, 1e-12);
    ex_weigher_destroy(weigher);
}

static void the_default_is_the_mean_nearest_distance(void **state) {
    (void)state;
    const double points[] = {0, 0.6, 0.2, 1.7}; /* nearest: 0.2, 0.4, 0.2, 1.1 */
    const double falloffs[] = {0.475, 0.475, 0.475, 0.475}, some[] = {0, 0.3, 0, 0.475},
                 true_some[] = {0.475, 0.3, 0.475, 0};
    sample_space s;
    sample_space_scalars(&s, 1, 2, 91);
    s.axes[0] = ex_axis_scalar(0, 1.7, 0); /* range of the queries */
    ex_weigher_def none = line_of(points, NULL, 4), all = line_of(points, falloffs, 4);
    assert_same_weights(&none, &all, &s, 1e-12);
    none.falloffs = some;
    all.falloffs = true_some;
    assert_same_weights(&none, &all, &s, 1e-12);
    ex_weigher_def lone = line_of(points, NULL, 1);
    ex_weigher *weigher = weigher_of(&lone);
    double weight = 0;
    ex_weigher_evaluate(weigher, (double[]){0.8}, &weight);
    assert_near(weight, bell(0.8, 1), 1e-15);
    ex_weigher_destroy(weigher);
    /* Pseudo-examples are points too: nearest 0.1, 0.2, 0.1 */
    static const double zero[2] = {0, 0}, at = 0.1;
    const ex_pseudo pseudo = {.at = &at, .weights = zero};
    const double pair[] = {0, 0.3}, mean[] = {0.4 / 3, 0.4 / 3, 0.4 / 3};
    none = line_of(pair, NULL, 2);
    none.pseudos = &pseudo;
    none.pseudo_count = 1;
    all = none;
    all.falloffs = mean;
    assert_same_weights(&none, &all, &s, 1e-12);
}

/* A falloff for every point and axis, from a third to three times the default. */
static void strew_falloffs(double *falloffs, int points, int axes, uint64_t seed) {
    for (int i = 0; i < points * axes; i++)
        falloffs[i] = 0.5 * exp(random_between(&seed, -0.7, 0.7));
}

static void exact_at_examples_and_gone_far_away(void **state) {
    (void)state;
    for (int mixed = 0; mixed < 2; mixed++) {
        sample_space s;
        double falloffs[EXAMPLES * SPACE_NUMBERS], weights[EXAMPLES], far[SPACE_NUMBERS];
        if (mixed)
            sample_space_mixed(&s, EXAMPLES, 92);
        else
            sample_space_scalars(&s, 3, EXAMPLES, 92);
        s.def.kind = EX_WEIGHER_GAUSSIAN;
        strew_falloffs(falloffs, EXAMPLES, s.def.axis_count, 93);
        s.def.falloffs = falloffs;
        ex_weigher *weigher = weigher_of(&s.def);
        for (int i = 0; i < EXAMPLES; i++) {
            double expected[EXAMPLES] = {0};
            expected[i] = 1;
            ex_weigher_evaluate(weigher, s.points + i * s.dimension, weights);
            assert_row_near(weights, expected, EXAMPLES, 1e-11);
        }
        memcpy(far, s.points, sizeof far);
        far[mixed ? 4 : 1] += 1e4;
        ex_weigher_evaluate(weigher, far, weights);
        for (int i = 0; i < EXAMPLES; i++)
            assert_true(weights[i] == 0);
        ex_weigher_destroy(weigher);
    }
}

static void the_order_of_examples_does_not_matter(void **state) {
    (void)state;
    sample_space s;
    double falloffs[EXAMPLES * 4], turned[EXAMPLES * 4], points[EXAMPLES * SPACE_NUMBERS];
    sample_space_mixed(&s, EXAMPLES, 94);
    s.def.kind = EX_WEIGHER_GAUSSIAN;
    s.def.falloffs = falloffs;
    strew_falloffs(falloffs, EXAMPLES, 4, 95);
    ex_weigher_def other = s.def;
    other.points = points;
    other.falloffs = turned;
    for (int i = 0; i < EXAMPLES; i++) {
        const int j = (i + 4) % EXAMPLES;
        memcpy(points + j * s.dimension, s.points + i * s.dimension, (size_t)s.dimension * sizeof *points);
        memcpy(turned + j * 4, falloffs + i * 4, 4 * sizeof *turned);
    }
    ex_weigher *a = weigher_of(&s.def), *b = weigher_of(&other);
    uint64_t random = 96;
    for (int i = 0; i < 30; i++) {
        double point[SPACE_NUMBERS], first[EXAMPLES], second[EXAMPLES];
        sample_space_point(&s, 1.2, &random, point);
        ex_weigher_evaluate(a, point, first);
        ex_weigher_evaluate(b, point, second);
        for (int k = 0; k < EXAMPLES; k++)
            assert_near(first[k], second[(k + 4) % EXAMPLES], 1e-11);
    }
    ex_weigher_destroy(a);
    ex_weigher_destroy(b);
}

/* Half the scale is twice the falloff, along scalars and rotations. */
static void a_falloff_is_a_scaled_axis(void **state) {
    (void)state;
    sample_space s, scaled;
    double falloffs[EXAMPLES * 4], others[EXAMPLES * 4];
    sample_space_mixed(&s, EXAMPLES, 97);
    sample_space_mixed(&scaled, EXAMPLES, 97);
    s.def.kind = scaled.def.kind = EX_WEIGHER_GAUSSIAN;
    strew_falloffs(falloffs, EXAMPLES, 4, 98);
    for (int a = 0; a < 4; a++) {
        const double factor = 0.5 + 0.5 * a;
        scaled.axes[a].scale = factor * (a == 1 ? 1.0 / 140 : 0.5);
        for (int i = 0; i < EXAMPLES; i++)
            others[4 * i + a] = factor * falloffs[4 * i + a];
    }
    s.def.falloffs = falloffs;
    scaled.def.falloffs = others;
    assert_same_weights(&s.def, &scaled.def, &s, 1e-11);
}

static void a_diagonal_metric_is_falloffs(void **state) {
    (void)state;
    enum { AXES = 3 };
    sample_space s;
    double falloffs[EXAMPLES * AXES], metrics[EXAMPLES][AXES][AXES] = {{{0}}};
    sample_space_scalars(&s, AXES, EXAMPLES, 99);
    s.def.kind = EX_WEIGHER_GAUSSIAN;
    strew_falloffs(falloffs, EXAMPLES, AXES, 100);
    s.def.falloffs = falloffs;
    ex_weigher_def other = s.def;
    for (int i = 0; i < EXAMPLES; i++) /* every third one has none: its falloffs are used */
        for (int a = 0; a < AXES && i % 3 != 0; a++)
            metrics[i][a][a] = 1 / (falloffs[AXES * i + a] * falloffs[AXES * i + a]);
    double spoilt[EXAMPLES * AXES]; /* with a metric, falloffs are not used */
    for (int i = 0; i < EXAMPLES * AXES; i++)
        spoilt[i] = i / AXES % 3 == 0 ? falloffs[i] : 77;
    other.metrics = metrics[0][0];
    other.falloffs = spoilt;
    assert_same_weights(&s.def, &other, &s, 1e-11);
    memset(metrics, 0, sizeof metrics); /* none at all */
    other.falloffs = falloffs;
    assert_same_weights(&s.def, &other, &s, 0);
}

/* Points turned by an angle, and metrics R M R': the same weights at queries that were turned too. Rotations next to
 * the scalars keep their falloffs. */
static void a_turned_metric_is_turned_data(void **state) {
    (void)state;
    const double c = cos(0.6), sn = sin(0.6);
    const ex_axis axes[3] = {ex_axis_scalar(0, 1, 0), ex_axis_rotation(EX_AXIS_TWIST, NULL), ex_axis_scalar(0, 1, 0)};
    double points[2][EXAMPLES][6], metrics[2][EXAMPLES][2][2], falloffs[EXAMPLES][3];
    uint64_t random = 101;
    for (int i = 0; i < EXAMPLES; i++) {
        const double x = 0.3 * (i % 3) + random_between(&random, 0, 0.1), y = 0.3 * (i / 3),
                     q = random_between(&random, 3, 20), r = random_between(&random, 3, 20),
                     o = random_between(&random, -2, 2);
        const double twist[4] = {0, sin(0.1 * i), 0, cos(0.1 * i)};
        for (int k = 0; k < 2; k++)
            memcpy(points[k][i] + 1, twist, sizeof twist);
        points[0][i][0] = x;
        points[0][i][5] = y;
        points[1][i][0] = c * x - sn * y;
        points[1][i][5] = sn * x + c * y;
        const double turned[2][2] = {
            {c * c * q - 2 * c * sn * o + sn * sn * r, 0},
            {c * sn * (q - r) + (c * c - sn * sn) * o, sn * sn * q + 2 * c * sn * o + c * c * r}};
        memcpy(metrics[0][i], (double[2][2]){{q, o}, {o, r}}, sizeof metrics[0][i]);
        memcpy(metrics[1][i], turned, sizeof turned);
        metrics[1][i][0][1] = metrics[1][i][1][0];
        falloffs[i][0] = falloffs[i][2] = 0;
        falloffs[i][1] = 0.2 + 0.05 * i;
    }
    ex_weigher *weighers[2];
    for (int k = 0; k < 2; k++) {
        ex_weigher_def def = line_of(points[k][0], falloffs[0], EXAMPLES);
        def.axes = axes;
        def.axis_count = 3;
        def.metrics = metrics[k][0][0];
        weighers[k] = weigher_of(&def);
    }
    for (int i = 0; i < 40; i++) {
        const double x = random_between(&random, -0.3, 1), y = random_between(&random, -0.3, 1), t = 0.03 * i;
        double weights[2][EXAMPLES];
        ex_weigher_evaluate(weighers[0], (double[]){x, 0, sin(t), 0, cos(t), y}, weights[0]);
        ex_weigher_evaluate(weighers[1], (double[]){c * x - sn * y, 0, sin(t), 0, cos(t), sn * x + c * y}, weights[1]);
        assert_row_near(weights[0], weights[1], EXAMPLES, 1e-9);
        assert_true(sum_of(weights[0], EXAMPLES) != 0);
    }
    /* By hand: one point, r^2 = d' M d plus the chord's part. */
    ex_weigher_def def = line_of(points[0][0], falloffs[0], 1);
    def.axes = axes;
    def.axis_count = 3;
    def.metrics = metrics[0][0][0];
    ex_weigher *one = weigher_of(&def);
    const double dx = 0.2, dy = -0.1, (*m)[2] = metrics[0][0], chord = 0.5 * 2 * sin(0.25) / 0.2;
    double weight = 0;
    ex_weigher_evaluate(one, (double[]){points[0][0][0] + dx, 0, sin(0.25), 0, cos(0.25), points[0][0][5] + dy},
                        &weight);
    assert_near(weight, exp(-0.5 * (dx * dx * m[0][0] + 2 * dx * dy * m[0][1] + dy * dy * m[1][1] + chord * chord)),
                1e-14);
    ex_weigher_destroy(one);
    ex_weigher_destroy(weighers[0]);
    ex_weigher_destroy(weighers[1]);
}

static void blind_to_the_sign_of_rotations(void **state) {
    (void)state;
    sample_space s;
    double falloffs[EXAMPLES * 4];
    sample_space_mixed(&s, EXAMPLES, 102);
    s.def.kind = EX_WEIGHER_GAUSSIAN;
    s.def.falloffs = falloffs;
    strew_falloffs(falloffs, EXAMPLES, 4, 103);
    ex_weigher *weigher = weigher_of(&s.def);
    for (int i = 0; i < EXAMPLES * s.dimension; i++) /* examples with the other sign: the same weigher */
        if (i % s.dimension != 4)
            s.points[i] *= -1;
    ex_weigher *other = weigher_of(&s.def);
    uint64_t random = 104;
    for (int i = 0; i < 40; i++) {
        double point[SPACE_NUMBERS], weights[3][EXAMPLES];
        sample_space_point(&s, 1, &random, point);
        ex_weigher_evaluate(weigher, point, weights[0]);
        ex_weigher_evaluate(other, point, weights[1]);
        for (int k = 0; k < s.dimension; k++)
            point[k] *= k != 4 ? -1 : 1;
        ex_weigher_evaluate(weigher, point, weights[2]);
        assert_row_near(weights[1], weights[0], EXAMPLES, 1e-12);
        assert_row_near(weights[2], weights[0], EXAMPLES, 1e-12);
    }
    ex_weigher_destroy(weigher);
    ex_weigher_destroy(other);
}

/* Zeros hold the weights down at the rest pose; a row comes from the real examples alone, with the same falloffs. */
static void pseudo_examples_hold(void **state) {
    (void)state;
    static const double zeros[EXAMPLES] = {0};
    sample_space s;
    double falloffs[(EXAMPLES + 2) * 4], weights[EXAMPLES], drawn[EXAMPLES], before[EXAMPLES];
    sample_space_mixed(&s, EXAMPLES, 105);
    s.def.kind = EX_WEIGHER_GAUSSIAN;
    s.def.falloffs = falloffs;
    strew_falloffs(falloffs, EXAMPLES + 2, 4, 106);
    ex_weigher *real = weigher_of(&s.def);
    double from[SPACE_NUMBERS], at[SPACE_NUMBERS], rest[SPACE_NUMBERS];
    uint64_t random = 107;
    sample_space_point(&s, 1, &random, from);
    sample_space_point(&s, 1, &random, at);
    sample_space_point(&s, 1, &random, rest);
    ex_weigher_evaluate(real, from, drawn);
    ex_weigher_evaluate(real, rest, before);
    s.pseudos[0] = (ex_pseudo){.at = rest, .weights = zeros};
    s.pseudos[1] = (ex_pseudo){.at = at, .from = from};
    s.def.pseudo_count = 2;
    ex_weigher *weigher = weigher_of(&s.def);
    ex_weigher_evaluate(weigher, rest, weights);
    assert_row_near(weights, zeros, EXAMPLES, 1e-12);
    assert_true(fabs(sum_of(before, EXAMPLES)) > 1e-3);
    ex_weigher_evaluate(weigher, at, weights);
    assert_row_near(weights, drawn, EXAMPLES, 1e-12);
    for (int i = 0; i < EXAMPLES; i++) {
        ex_weigher_evaluate(weigher, s.points + i * s.dimension, weights);
        assert_near(weights[i], 1, 1e-11);
        assert_near(sum_of(weights, EXAMPLES), 1, 1e-11);
    }
    ex_weigher_destroy(real);
    ex_weigher_destroy(weigher);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_points_by_hand),
        cmocka_unit_test(the_ridge_is_the_smallest_that_helps),
        cmocka_unit_test(a_ring_by_symmetry),
        cmocka_unit_test(the_default_is_the_mean_nearest_distance),
        cmocka_unit_test(exact_at_examples_and_gone_far_away),
        cmocka_unit_test(the_order_of_examples_does_not_matter),
        cmocka_unit_test(a_falloff_is_a_scaled_axis),
        cmocka_unit_test(a_diagonal_metric_is_falloffs),
        cmocka_unit_test(a_turned_metric_is_turned_data),
        cmocka_unit_test(blind_to_the_sign_of_rotations),
        cmocka_unit_test(pseudo_examples_hold),
    };
    return cmocka_run_group_tests_name("runtime.weigh.gaussian", tests, NULL, NULL);
}

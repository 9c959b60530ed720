/*
 * Convex weighers: worked by hand in two dimensions, where the answer can be drawn; then properties that hold
 * everywhere, the optimum against the general solver of quadratic programs, and independence of the start.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/base/quadratic.h"
#include "support/check.h"
#include "support/spaces.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 100, NUMBERS = 40 };

/* Driver forms: points of some dimension, and the Gram matrix relative to `origin`. Points into itself. */
typedef struct keys {
    ex_weigher_def def;
    ex_axis axis;
    int count, dimension;
    double forms[MOST][NUMBERS], origin[NUMBERS];
    double gram[MOST * MOST];
} keys;

static double product(const keys *k, const double *a, const double *b) {
    double sum = 0;
    for (int i = 0; i < k->dimension; i++)
        sum += (a[i] - k->origin[i]) * (b[i] - k->origin[i]);
    return sum;
}

static void measure(const keys *k, const double *form, double *row) {
    for (int i = 0; i < k->count; i++)
        row[i] = product(k, k->forms[i], form);
}

static ex_weigher *weigher_of_keys(keys *k) {
    for (int i = 0; i < k->count; i++)
        measure(k, k->forms[i], k->gram + i * k->count);
    k->def = ex_weigher_def_default();
    k->def.kind = EX_WEIGHER_CONVEX;
    k->axis = ex_axis_driver(k->count);
    k->def.axes = &k->axis;
    k->def.axis_count = 1;
    k->def.points = k->gram;
    k->def.example_count = k->count;
    return weigher_of(&k->def);
}

/* Forms given one after the other. */
static void open_keys(keys *k, int count, int dimension, const double *forms) {
    memset(k, 0, sizeof *k);
    k->count = count;
    k->dimension = dimension;
    for (int i = 0; i < count; i++)
        memcpy(k->forms[i], forms + i * dimension, (size_t)dimension * sizeof *forms);
}

static void strew_keys(keys *k, int count, int dimension, uint64_t *random) {
    memset(k, 0, sizeof *k);
    k->count = count;
    k->dimension = dimension;
    for (int i = 0; i < count * dimension; i++)
        k->forms[i / dimension][i % dimension] = random_between(random, -1, 1);
}

static void weigh(const keys *k, const ex_weigher *weigher, const double *form, double *weights) {
    double row[MOST];
    measure(k, form, row);
    ex_weigher_evaluate(weigher, row, weights);
}

static void expect(const keys *k, const ex_weigher *weigher, const double *form, const double *expected,
                   double distance_sq) {
    double weights[MOST], row[MOST];
    weigh(k, weigher, form, weights);
    assert_row_near(weights, expected, k->count, 1e-8);
    measure(k, form, row);
    assert_near(ex_weigher_hull_distance_sq(weigher, row, product(k, form, form), weights), distance_sq, 1e-8);
}

/* ---- by hand ---- */

static void one_and_two_keys_by_hand(void **state) {
    (void)state;
    keys k;
    open_keys(&k, 1, 2, (double[]){3, 4});
    ex_weigher *weigher = weigher_of_keys(&k);
    expect(&k, weigher, (double[]){0, 0}, (double[]){1}, 25);
    ex_weigher_destroy(weigher);
    open_keys(&k, 2, 1, (double[]){0, 1});
    for (int origin = -1; origin <= 1; origin++) {
        k.origin[0] = origin;
        weigher = weigher_of_keys(&k);
        expect(&k, weigher, (double[]){0.3}, (double[]){0.7, 0.3}, 0);
        expect(&k, weigher, (double[]){-2}, (double[]){1, 0}, 4);
        expect(&k, weigher, (double[]){5}, (double[]){0, 1}, 16);
        expect(&k, weigher, (double[]){1e9}, (double[]){0, 1}, (1e9 - 1) * (1e9 - 1));
        ex_weigher_destroy(weigher);
    }
}

static void a_triangle_by_hand(void **state) {
    (void)state;
    keys k;
    open_keys(&k, 3, 2, (double[]){0, 0, 1, 0, 0, 1});
    ex_weigher *weigher = weigher_of_keys(&k);
    expect(&k, weigher, (double[]){0.25, 0.5}, (double[]){0.25, 0.25, 0.5}, 0);
    expect(&k, weigher, (double[]){1, 1}, (double[]){0, 0.5, 0.5}, 0.5);
    expect(&k, weigher, (double[]){0.4, -2}, (double[]){0.6, 0.4, 0}, 4);
    expect(&k, weigher, (double[]){3, -1}, (double[]){0, 1, 0}, 5);
    expect(&k, weigher, (double[]){-7, -7}, (double[]){1, 0, 0}, 98);
    ex_weigher_destroy(weigher);
}

/* 0, 1, 2 on a line: of the blends that reach a form, that of its neighbours; a square: its corners evenly. */
static void of_equal_blends_the_near_one(void **state) {
    (void)state;
    keys k;
    open_keys(&k, 3, 1, (double[]){0, 1, 2});
    ex_weigher *weigher = weigher_of_keys(&k);
    expect(&k, weigher, (double[]){0.5}, (double[]){0.5, 0.5, 0}, 0);
    expect(&k, weigher, (double[]){1}, (double[]){0, 1, 0}, 0);
    expect(&k, weigher, (double[]){1.75}, (double[]){0, 0.25, 0.75}, 0);
    double last[3], weights[3], before[3] = {1, 0, 0};
    for (int i = 0; i <= 2000; i++) { /* and nothing jumps */
        weigh(&k, weigher, (double[]){i / 1000.0}, weights);
        memcpy(last, i == 0 ? before : last, sizeof last);
        for (int j = 0; j < 3; j++)
            assert_near(weights[j], last[j], 1.001e-3);
        memcpy(last, weights, sizeof last);
    }
    ex_weigher_destroy(weigher);
    open_keys(&k, 4, 2, (double[]){0, 0, 1, 0, 1, 1, 0, 1});
    weigher = weigher_of_keys(&k);
    double square[4];
    weigh(&k, weigher, (double[]){0.5, 0.5}, square);
    assert_row_near(square, ((double[]){0.25, 0.25, 0.25, 0.25}), 4, 1e-5);
    ex_weigher_destroy(weigher);
}

static void keys_at_one_place_are_the_first(void **state) {
    (void)state;
    keys k;
    open_keys(&k, 5, 2, (double[]){0, 0, 1, 0, 1, 0, 0, 0, 0, 1});
    ex_weigher *weigher = weigher_of_keys(&k);
    expect(&k, weigher, (double[]){0.25, 0.25}, (double[]){0.5, 0.25, 0, 0, 0.25}, 0);
    expect(&k, weigher, (double[]){0, 0}, (double[]){1, 0, 0, 0, 0}, 0);
    ex_weigher_destroy(weigher);
    open_keys(&k, 3, 2, (double[]){2, 1, 2, 1, 2, 1});
    weigher = weigher_of_keys(&k);
    expect(&k, weigher, (double[]){4, 1}, (double[]){1, 0, 0}, 4);
    ex_weigher_destroy(weigher);
    open_keys(&k, 3, 2, (double[6]){0}); /* a Gram matrix of zeros */
    weigher = weigher_of_keys(&k);
    expect(&k, weigher, (double[]){1, 0}, (double[]){1, 0, 0}, 1);
    ex_weigher_destroy(weigher);
}

/* ---- everywhere ---- */

static void keys_are_reached(void **state) {
    (void)state;
    uint64_t random = 5;
    static keys k;
    for (int round = 0; round < 40; round++) {
        /* In one to forty dimensions, so that many are in the hull of the others; some almost at one place. */
        strew_keys(&k, 2 + round / 2, 1 + round % 40, &random);
        if (round % 4 == 3) {
            memcpy(k.forms[1], k.forms[0], sizeof k.forms[0]);
            k.forms[1][0] += 1e-5;
        }
        for (int i = 0; i < k.dimension; i++)
            k.origin[i] = round % 3;
        ex_weigher *weigher = weigher_of_keys(&k);
        for (int i = 0; i < k.count; i++) {
            double weights[MOST];
            weigh(&k, weigher, k.forms[i], weights);
            for (int j = 0; j < k.count; j++)
                assert_near(weights[j], i == j, 1e-12);
            double row[MOST]; /* also if rounding changed the last bits */
            measure(&k, k.forms[i], row);
            row[0] = nextafter(row[0], 100);
            ex_weigher_evaluate(weigher, row, weights);
            assert_near(weights[i], 1, round % 4 == 3 && i < 2 ? 0.1 : 1e-12); /* of two almost at one place, mostly */
        }
        ex_weigher_destroy(weigher);
    }
}

static double objective(const keys *k, const double *row, const double *weights) {
    double sum = 0;
    for (int i = 0; i < k->count; i++)
        for (int j = 0; j < k->count; j++)
            sum += weights[i] * weights[j] * (0.5 * k->gram[i * k->count + j] - row[i]);
    return sum;
}

/* The general solver's result without any ridge. */
static double least_objective(const keys *k, const double *row) {
    double linear[MOST], ones[MOST], zeros[MOST] = {0}, x[MOST];
    int active[MOST], count = 0;
    for (int i = 0; i < k->count; i++) {
        linear[i] = -row[i];
        ones[i] = 1;
    }
    exi_quadratic p = {.unknown_count = k->count,
                       .matrix = k->gram,
                       .linear = linear,
                       .equality_count = 1,
                       .equalities = ones,
                       .equality_values = (double[]){1},
                       .bound_lower = zeros};
    void *scratch = malloc(exi_quadratic_scratch_size(&p));
    exi_quadratic_info info;
    assert_int_equal(exi_quadratic_solve(&p, x, active, &count, scratch, &info), EXI_QUADRATIC_SOLVED);
    free(scratch);
    return info.objective;
}

/* Gradient equal where weights are above 0, and not lower elsewhere, except for the ridge's part. */
static void assert_optimal(const keys *k, const double *row, const double *weights) {
    double level = 0, gradient[MOST];
    for (int i = 0; i < k->count; i++) {
        gradient[i] = -row[i];
        for (int j = 0; j < k->count; j++)
            gradient[i] += k->gram[i * k->count + j] * weights[j];
        level += weights[i] * gradient[i];
    }
    for (int i = 0; i < k->count; i++)
        assert_true(gradient[i] - level >= -1e-7 && (weights[i] == 0 || gradient[i] - level <= 1e-7));
}

static void weights_are_those_of_the_nearest_blend(void **state) {
    (void)state;
    uint64_t random = 6;
    static keys k;
    for (int round = 0; round < 60; round++) {
        strew_keys(&k, 1 + (int)(random_bits(&random) % 20), 1 + (int)(random_bits(&random) % 30), &random);
        ex_weigher *weigher = weigher_of_keys(&k);
        for (int query = 0; query < 8; query++) {
            double form[NUMBERS], row[MOST], weights[MOST];
            const double size = query < 4 ? 0.3 : query < 7 ? 1.5 : 1e4;
            for (int i = 0; i < k.dimension; i++)
                form[i] = random_between(&random, -size, size);
            measure(&k, form, row);
            ex_weigher_evaluate(weigher, row, weights);
            assert_near(sum_of(weights, k.count), 1, 1e-15);
            for (int i = 0; i < k.count; i++)
                assert_true(weights[i] >= 0);
            if (query == 7) /* far away: the rest is rounding */
                continue;
            assert_optimal(&k, row, weights);
            assert_near(objective(&k, row, weights), least_objective(&k, row), 1e-8);
        }
        ex_weigher_destroy(weigher);
    }
}

/* In another order, seen from another origin, and turned: the same weights, for keys that do not depend on each other.
 */
static void only_the_forms_count(void **state) {
    (void)state;
    uint64_t random = 7;
    static keys k, other;
    for (int round = 0; round < 20; round++) {
        const int count = 3 + round % 10;
        strew_keys(&k, count, 30, &random);
        other = k;
        double form[NUMBERS], turned[NUMBERS], weights[MOST], same[MOST];
        for (int i = 0; i < 30; i++) {
            form[i] = random_between(&random, -0.4, 0.4);
            other.origin[i] = random_between(&random, -2, 2);
        }
        for (int a = 0; a <= count; a++) {
            const double *from = a < count ? k.forms[a] : form;
            double *to = a < count ? other.forms[count - 1 - a] : turned;
            for (int i = 0; i < 30; i += 2) {
                to[i] = 0.6 * from[i] - 0.8 * from[i + 1] + 0.1;
                to[i + 1] = 0.8 * from[i] + 0.6 * from[i + 1];
            }
        }
        ex_weigher *weigher = weigher_of_keys(&k), *second = weigher_of_keys(&other);
        weigh(&k, weigher, form, weights);
        weigh(&other, second, turned, same);
        for (int i = 0; i < count; i++)
            assert_near(weights[i], same[count - 1 - i], 1e-12);
        ex_weigher_destroy(weigher);
        ex_weigher_destroy(second);
    }
}

/* ---- warm starts ---- */

static void no_start_changes_the_answer(void **state) {
    (void)state;
    uint64_t random = 8;
    static keys k;
    for (int round = 0; round < 12; round++) {
        strew_keys(&k, 2 + 3 * round, round % 3 == 0 ? 2 : round % 3 == 1 ? 8 : 40, &random);
        ex_weigher *weigher = weigher_of_keys(&k);
        const size_t size = ex_weigher_state_size(weigher);
        unsigned char path[64] = {0}, garbage[64];
        void *scratch = malloc(ex_weigher_scratch_size(weigher));
        assert_true(size > 0 && size <= sizeof path && scratch);
        for (int step = 0; step < 100; step++) {
            double form[NUMBERS], row[MOST], cold[MOST], weights[MOST];
            for (int i = 0; i < k.dimension; i++)
                form[i] = 0.7 * sin(0.05 * step * (1 + i % 3) + i);
            measure(&k, form, row);
            ex_weigher_evaluate(weigher, row, cold);
            ex_weigher_evaluate_from(weigher, row, weights, path, scratch);
            assert_row_near(weights, cold, k.count, 1e-9);
            for (size_t i = 0; i < size; i++)
                garbage[i] = (unsigned char)random_bits(&random);
            ex_weigher_evaluate_from(weigher, row, weights, garbage, step % 2 ? scratch : NULL);
            assert_row_near(weights, cold, k.count, 1e-9);
            memset(garbage, 255, sizeof garbage);
            ex_weigher_evaluate_from(weigher, row, weights, garbage, scratch);
            assert_row_near(weights, cold, k.count, 1e-9);
        }
        free(scratch);
        ex_weigher_destroy(weigher);
    }
}

/* On a grid every cell's corners are equally far from its middle, and only the ridge decides, not rounding. */
static void nor_where_rounding_could(void **state) {
    (void)state;
    static keys k;
    memset(&k, 0, sizeof k);
    k.count = 16;
    k.dimension = 2;
    for (int i = 0; i < 16; i++) {
        k.forms[i][0] = 0.3 + 0.71 * (i % 4) - 0.37 * (i / 4); /* oblique, otherwise nothing would be rounded */
        k.forms[i][1] = 0.1 + 0.37 * (i % 4) + 0.71 * (i / 4);
    }
    ex_weigher *weigher = weigher_of_keys(&k);
    unsigned char path[8] = {0}, ahead[8] = {0};
    for (int step = 0; step < 400; step++) {
        const double a = 0.04 * step, b = 0.04 * (step + 5);
        double row[16], cold[16], weights[16];
        measure(&k, (double[]){0.8 + 0.9 * sin(a), 1.7 + 0.8 * cos(1.7 * a)}, row);
        ex_weigher_evaluate(weigher, row, cold);
        assert_near(sum_of(cold, 16), 1, 1e-15);
        ex_weigher_evaluate_from(weigher, row, weights, path, NULL);
        assert_row_near(weights, cold, 16, 1e-9);
        ex_weigher_evaluate_from(weigher, row, weights, ahead, NULL);
        assert_row_near(weights, cold, 16, 1e-9);
        measure(&k, (double[]){0.8 + 0.9 * sin(b), 1.7 + 0.8 * cos(1.7 * b)}, row);
        ex_weigher_evaluate_from(weigher, row, weights, ahead, NULL);
    }
    ex_weigher_destroy(weigher);
}

/* Without scratch memory a large space is blended from fewer examples, and stays a blend. */
static void many_keys(void **state) {
    (void)state;
    uint64_t random = 9;
    static keys k;
    strew_keys(&k, MOST, 40, &random);
    for (int i = 0; i < 30; i++) /* a simplex of 41 corners would do: make all of them needed */
        k.forms[i][i] += 3;
    ex_weigher *weigher = weigher_of_keys(&k);
    double form[NUMBERS] = {0}, row[MOST], weights[MOST], some[MOST];
    void *scratch = malloc(ex_weigher_scratch_size(weigher));
    measure(&k, form, row);
    ex_weigher_evaluate_from(weigher, row, weights, NULL, scratch);
    ex_weigher_evaluate(weigher, row, some);
    assert_row_near(some, weights, MOST, 1e-12);
    free(scratch);
    ex_weigher_destroy(weigher);
    /* Independent keys and their middle: all are needed. */
    double *gram = calloc((size_t)MOST * MOST, sizeof *gram);
    for (int i = 0; i < MOST; i++)
        gram[i * (MOST + 1)] = 1;
    k.def.points = gram;
    weigher = weigher_of(&k.def);
    scratch = malloc(ex_weigher_scratch_size(weigher));
    ex_weigher_evaluate_from(weigher, (double[MOST]){0}, weights, NULL, scratch);
    int above = 0;
    ex_weigher_evaluate(weigher, (double[MOST]){0}, some);
    for (int i = 0; i < MOST; i++) {
        assert_near(weights[i], 1.0 / MOST, 1e-12);
        assert_true(some[i] >= 0);
        above += some[i] > 0;
    }
    assert_int_equal(above, EX_CONVEX_STACK);
    assert_near(sum_of(some, MOST), 1, 1e-14);
    free(scratch);
    free(gram);
    ex_weigher_destroy(weigher);
}

static void odd_numbers_give_weights(void **state) {
    (void)state;
    uint64_t random = 10;
    static keys k;
    strew_keys(&k, 6, 12, &random);
    for (int i = 0; i < 6 * 12; i++)
        k.forms[i / 12][i % 12] *= 1e-4;
    ex_weigher *weigher = weigher_of_keys(&k);
    static const double odd[] = {NAN, INFINITY, -INFINITY, 1e300, -1.7e308, 1e150, 1e-300, 5e15};
    double weights[6], rest[6] = {1, 0, 0, 0, 0, 0};
    for (int i = 0; i < 8; i++) {
        double row[6] = {0.1, odd[i], 0.2, 0.3, 0.1, -odd[i]};
        ex_weigher_evaluate(weigher, row, weights);
        assert_near(sum_of(weights, 6), 1, 1e-15);
        for (int j = 0; j < 6; j++)
            assert_true(weights[j] >= 0);
        if (i < 3)
            assert_row_near(weights, rest, 6, 0);
        else if (fabs(odd[i]) > 1) /* so far away that only one key is left */
            assert_near(weights[odd[i] > 0 ? 1 : 5], 1, 0);
    }
    ex_weigher_evaluate(weigher, NULL, weights); /* the first key */
    assert_row_near(weights, rest, 6, 0);
    ex_weigher_destroy(weigher);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_and_two_keys_by_hand),
        cmocka_unit_test(a_triangle_by_hand),
        cmocka_unit_test(of_equal_blends_the_near_one),
        cmocka_unit_test(keys_at_one_place_are_the_first),
        cmocka_unit_test(keys_are_reached),
        cmocka_unit_test(weights_are_those_of_the_nearest_blend),
        cmocka_unit_test(only_the_forms_count),
        cmocka_unit_test(no_start_changes_the_answer),
        cmocka_unit_test(nor_where_rounding_could),
        cmocka_unit_test(many_keys),
        cmocka_unit_test(odd_numbers_give_weights),
    };
    return cmocka_run_group_tests_name("runtime.weigh.convex", tests, NULL, NULL);
}

/*
 * Quadratic programs: small ones worked by hand, degenerate ones, and random ones whose optimality is checked from the
 * definition. test_quadratic_real.c solves published ones.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/base/quadratic.h"
#include "support/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 40 };

static exi_quadratic_result solve_from(const exi_quadratic *p, double *x, int *active, int *count,
                                       exi_quadratic_info *info) {
    void *scratch = malloc(exi_quadratic_scratch_size(p));
    assert_non_null(scratch);
    exi_quadratic_result result = exi_quadratic_solve(p, x, active, count, scratch, info);
    free(scratch);
    return result;
}

static exi_quadratic_result solve(const exi_quadratic *p, double *x) {
    int active[MOST], count = 0;
    exi_quadratic_info info;
    exi_quadratic_result result = solve_from(p, x, active, &count, &info);
    if (result == EXI_QUADRATIC_SOLVED) {
        assert_true(info.stationarity <= 1e-10);
        assert_true(info.violation <= 1e-10);
    }
    return result;
}

/* The point of a triangle nearest to (2, 1): by hand the foot on the edge x + y = 1 lies at (1, 0). */
static void nearest_points_by_hand(void **state) {
    (void)state;
    double x[2];
    exi_quadratic p = {.unknown_count = 2,
                       .matrix = (double[]){1, 0, 0, 1},
                       .linear = (double[]){-2, -1},
                       .inequality_count = 1,
                       .inequalities = (double[]){1, 1},
                       .upper = (double[]){1},
                       .bound_lower = (double[]){0, 0}};
    assert_int_equal(solve(&p, x), EXI_QUADRATIC_SOLVED);
    assert_row_near(x, ((double[]){1, 0}), 2, 1e-14);
    p.linear = (double[]){-2, -1.5}; /* the foot of (2, 1.5) is (0.75, 0.25) */
    assert_int_equal(solve(&p, x), EXI_QUADRATIC_SOLVED);
    assert_row_near(x, ((double[]){0.75, 0.25}), 2, 1e-14);
    p.linear = (double[]){-0.25, -0.5}; /* inside */
    assert_int_equal(solve(&p, x), EXI_QUADRATIC_SOLVED);
    assert_row_near(x, ((double[]){0.25, 0.5}), 2, 1e-14);
    p.inequality_count = 0; /* the edge itself: of (0.25, 0.5), (0.375, 0.625) */
    p.equality_count = 1;
    p.equalities = (double[]){1, 1};
    p.equality_values = (double[]){1};
    assert_int_equal(solve(&p, x), EXI_QUADRATIC_SOLVED);
    assert_row_near(x, ((double[]){0.375, 0.625}), 2, 1e-14);
    p.bound_upper = (double[]){0.2, INFINITY}; /* and no farther than 0.2 */
    assert_int_equal(solve(&p, x), EXI_QUADRATIC_SOLVED);
    assert_row_near(x, ((double[]){0.2, 0.8}), 2, 1e-14);
}

/* Rows repeated three times, equalities that follow from others, a corner where four constraints meet. */
static void constraints_may_repeat(void **state) {
    (void)state;
    double x[3];
    exi_quadratic p = {.unknown_count = 3,
                       .matrix = (double[]){1, 0, 0, 0, 1, 0, 0, 0, 1},
                       .linear = (double[]){-3, -2, 1},
                       .equality_count = 3,
                       .equalities = (double[]){1, 1, 1, 2, 2, 2, -1, -1, -1},
                       .equality_values = (double[]){1, 2, -1},
                       .inequality_count = 4,
                       .inequalities = (double[]){1, 0, 0, 1, 0, 0, 1, 0, 1, 0, 0, 2},
                       .lower = (double[]){0, 0, -INFINITY, 0},
                       .upper = (double[]){1, 1, 1, INFINITY},
                       .bound_lower = (double[]){0, 0, 0}};
    assert_int_equal(solve(&p, x), EXI_QUADRATIC_SOLVED);
    assert_row_near(x, ((double[]){1, 0, 0}), 3, 1e-14);
}

/* A matrix of rank 1 and of rank 0: a linear program, whose optimum is a corner. */
static void indefinite_matrices(void **state) {
    (void)state;
    double x[3];
    exi_quadratic p = {.unknown_count = 3,
                       .matrix = (double[]){1, 1, 1, 1, 1, 1, 1, 1, 1},
                       .linear = (double[]){-2, -2, -2},
                       .bound_lower = (double[]){0, 0, 0},
                       .bound_upper = (double[]){10, 10, 10}};
    assert_int_equal(solve(&p, x), EXI_QUADRATIC_SOLVED);
    assert_near(x[0] + x[1] + x[2], 2, 1e-9);
    p.matrix = (double[9]){0};
    p.linear = (double[]){-1, 2, 0};
    assert_int_equal(solve(&p, x), EXI_QUADRATIC_SOLVED);
    assert_row_near(x, ((double[]){10, 0}), 2, 1e-12);
    p.linear = (double[3]){0}; /* nothing to minimise: any point inside */
    assert_int_equal(solve(&p, x), EXI_QUADRATIC_SOLVED);
}

static void no_solution_is_said(void **state) {
    (void)state;
    double x[2];
    exi_quadratic p = {.unknown_count = 2,
                       .matrix = (double[]){1, 0, 0, 1},
                       .linear = (double[]){1, 1},
                       .equality_count = 2,
                       .equalities = (double[]){1, 1, 2, 2},
                       .equality_values = (double[]){1, 3}};
    assert_int_equal(solve(&p, x), EXI_QUADRATIC_INFEASIBLE);
    p.equality_count = 1;
    p.bound_lower = (double[]){1, 1};
    assert_int_equal(solve(&p, x), EXI_QUADRATIC_INFEASIBLE);
    p.equality_count = 0;
    p.bound_upper = (double[]){0.5, 2};
    assert_int_equal(solve(&p, x), EXI_QUADRATIC_INFEASIBLE);
    p.bound_upper = NULL;
    p.matrix = (double[]){0, 0, 0, 1};
    p.linear = (double[]){-1, 0};
    assert_int_equal(solve(&p, x), EXI_QUADRATIC_UNBOUNDED);
    p.linear = (double[]){1, 0};
    assert_int_equal(solve(&p, x), EXI_QUADRATIC_SOLVED);
    assert_row_near(x, ((double[]){1, 1}), 2, 1e-12);
}

/* The matrix v v^T of any size, and downhill for ever across v; then along v instead, where there is a lowest point. */
static void falling_for_ever_is_said(void **state) {
    (void)state;
    static const double cases[][2] = {{0.3, 0.7}, {1, 0}, {0, 1}, {0.9, 3e-8}, {3e-8, 0.9}}, sizes[] = {1e-12, 1, 1e9};
    for (int i = 0; i < 5; i++)
        for (int k = 0; k < 3; k++) {
            const double *v = cases[i], size = sizes[k];
            double x[2], linear[2] = {-size * v[1], size * v[0]};
            const exi_quadratic p = {
                .unknown_count = 2,
                .matrix = (double[]){size * v[0] * v[0], size * v[0] * v[1], size * v[0] * v[1], size * v[1] * v[1]},
                .linear = linear};
            assert_int_equal(solve(&p, x), EXI_QUADRATIC_UNBOUNDED);
            linear[0] = -size * v[0];
            linear[1] = -size * v[1];
            assert_int_equal(solve(&p, x), EXI_QUADRATIC_SOLVED);
            assert_near(v[0] * x[0] + v[1] * x[1], 1, 1e-6);
        }
}

/* A linear objective: the matrix is zero. */
static void a_matrix_may_be_zero(void **state) {
    (void)state;
    double x[2];
    const exi_quadratic p = {.unknown_count = 2,
                             .matrix = (double[4]){0},
                             .linear = (double[]){1, 2},
                             .inequality_count = 1,
                             .inequalities = (double[]){1, 1},
                             .lower = (double[]){1},
                             .bound_lower = (double[]){0, 0}};
    assert_int_equal(solve(&p, x), EXI_QUADRATIC_SOLVED);
    assert_row_near(x, ((double[]){1, 0}), 2, 1e-9);
}

/* Multiplying a row and its side by a number changes nothing. */
static void rows_may_have_any_length(void **state) {
    (void)state;
    for (int i = -12; i <= 12; i += 4) {
        const double scale = pow(10, i);
        double x[2];
        const exi_quadratic p = {.unknown_count = 2,
                                 .matrix = (double[]){1, 0, 0, 1},
                                 .linear = (double[]){0, 0},
                                 .inequality_count = 1,
                                 .inequalities = (double[]){scale, scale},
                                 .lower = &scale};
        assert_int_equal(solve(&p, x), EXI_QUADRATIC_SOLVED);
        assert_row_near(x, ((double[]){0.5, 0.5}), 2, 1e-9);
    }
}

typedef struct sample {
    exi_quadratic program;
    double matrix[MOST * MOST], linear[MOST], equalities[MOST * MOST], values[MOST], inequalities[MOST * MOST];
    double lower[MOST], upper[MOST], bound_lower[MOST], bound_upper[MOST];
} sample;

/* n unknowns, a matrix of some rank, constraints that a hidden point satisfies, some of them twice. */
static void fill(sample *s, int n, int rank, uint64_t *random) {
    double hidden[MOST], root[MOST];
    memset(s, 0, sizeof *s);
    for (int r = 0; r < rank; r++) {
        for (int i = 0; i < n; i++)
            root[i] = random_between(random, -1, 1);
        for (int i = 0; i < n * n; i++)
            s->matrix[i] += root[i / n] * root[i % n];
    }
    for (int i = 0; i < n; i++) {
        hidden[i] = random_between(random, -1, 1);
        s->linear[i] = random_between(random, -5, 5);
        s->bound_lower[i] = i % 3 == 0 ? -INFINITY : hidden[i] - (i % 3 == 1 ? 0 : random_between(random, 0, 1));
        s->bound_upper[i] = hidden[i] + 3;
    }
    for (int k = 0; k < n; k++) {
        double at = 0, with = 0;
        for (int i = 0; i < n; i++) {
            s->equalities[k * n + i] = k == 1 ? 2 * s->equalities[i] : random_between(random, -1, 1);
            s->inequalities[k * n + i] = k == 3 ? s->inequalities[2 * n + i] : random_between(random, -1, 1);
            with += s->equalities[k * n + i] * hidden[i];
            at += s->inequalities[k * n + i] * hidden[i];
        }
        s->values[k] = k == 1 ? 2 * s->values[0] : with;
        s->lower[k] = k % 2 == 0 ? at : -1e30;
        s->upper[k] = at + (k % 4 == 1 ? 0 : 2);
    }
    s->program = (exi_quadratic){n,         n / 4,           n,        s->matrix, s->linear,      s->equalities,
                                 s->values, s->inequalities, s->lower, s->upper,  s->bound_lower, s->bound_upper};
}

/* No feasible direction from x leads down: for a convex program, tried towards many feasible points. */
static void assert_optimal(const sample *s, const double *x, const double *other) {
    const int n = s->program.unknown_count;
    double rate = 0, size = 0;
    for (int i = 0; i < n; i++) {
        double gradient = s->linear[i];
        for (int j = 0; j < n; j++)
            gradient += s->matrix[i * n + j] * x[j];
        rate += gradient * (other[i] - x[i]);
        size += fabs(gradient * (other[i] - x[i]));
    }
    assert_true(rate >= -1e-9 * size - 1e-12);
}

static void random_programs(void **state) {
    (void)state;
    static sample s;
    uint64_t random = 11;
    for (int round = 0; round < 60; round++) {
        const int n = 4 + (int)(random_bits(&random) % 14), rank = round % 3 == 0 ? n + 2 : n / 2;
        fill(&s, n, rank, &random);
        double x[MOST], again[MOST], other[MOST];
        int active[MOST], count = 0;
        exi_quadratic_info info, warm;
        assert_int_equal(solve_from(&s.program, x, active, &count, &info), EXI_QUADRATIC_SOLVED);
        assert_true(info.stationarity <= 1e-10 && info.violation <= 1e-10);
        assert_int_equal(solve_from(&s.program, again, active, &count, &warm), EXI_QUADRATIC_SOLVED);
        assert_near(warm.objective, info.objective, 1e-9 * (1 + fabs(info.objective)));
        assert_true(warm.iterations <= 4 + info.iterations / 2);
        for (int i = 0; i < MOST; i++) /* garbage to start with */
            active[i] = (int)(random_bits(&random) % 200) - 100;
        count = n;
        assert_int_equal(solve_from(&s.program, again, active, &count, &warm), EXI_QUADRATIC_SOLVED);
        assert_near(warm.objective, info.objective, 1e-9 * (1 + fabs(info.objective)));
        sample t = s;
        t.program.linear = t.linear;
        for (int k = 0; k < 5; k++) { /* other corners of the same set */
            for (int i = 0; i < n; i++)
                t.linear[i] = random_between(&random, -5, 5);
            assert_int_equal(solve(&t.program, other), EXI_QUADRATIC_SOLVED);
            assert_optimal(&s, x, other);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nearest_points_by_hand),   cmocka_unit_test(constraints_may_repeat),
        cmocka_unit_test(indefinite_matrices),      cmocka_unit_test(no_solution_is_said),
        cmocka_unit_test(falling_for_ever_is_said), cmocka_unit_test(a_matrix_may_be_zero),
        cmocka_unit_test(rows_may_have_any_length), cmocka_unit_test(random_programs),
    };
    return cmocka_run_group_tests_name("runtime.base.quadratic", tests, NULL, NULL);
}

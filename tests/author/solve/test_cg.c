/* Conjugate gradients: a case by hand, the direct solve as an oracle, preconditioners, and failures. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/check.h"
#include "support/matrices.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A matrix to apply, and data of a preconditioner. */
typedef struct problem {
    matrix m;
    exi_factor *factor;
    double *work;
} problem;

static void apply(void *user, const double *x, double *y) {
    const problem *p = user;
    exi_symmetric_apply(&p->m.view, 1, x, y);
}

static void by_diagonal(void *user, const double *r, double *z) {
    const problem *p = user;
    for (int i = 0; i < p->m.view.n; i++)
        z[i] = r[i] / p->m.values[p->m.starts[i]];
}

static void by_factor(void *user, const double *r, double *z) {
    const problem *p = user;
    memcpy(z, r, (size_t)p->m.view.n * sizeof *z);
    exi_factor_solve_1(p->factor, z, p->work);
}

static void open_problem(problem *p, matrix m) {
    *p = (problem){.m = m};
    assert_int_equal(exi_factor_create(&p->m.view, NULL, &p->factor, NULL), EX_OK);
    p->work = malloc(exi_factor_work_size(p->factor));
    assert_non_null(p->work);
}

static void close_problem(problem *p) {
    matrix_free(&p->m);
    exi_factor_destroy(p->factor);
    free(p->work);
}

/* A = (2 1; 1 2), b = (3, 0), from 0: x is (1.5, 0) after one step and (2, -1) after two. */
static void test_by_hand(void **state) {
    (void)state;
    const double dense[2][2] = {{2, 1}, {1, 2}}, b[2] = {3, 0};
    double x[2] = {0, 0}, work[8];
    problem p = {.m = matrix_from_dense(dense[0], 2)};
    assert_int_equal(exi_cg_work_size(2), sizeof work);
    exi_cg_def def = {.n = 2, .apply = apply, .user = &p, .tolerance = 1e-14, .iteration_most = 1};
    exi_cg_result result = exi_cg(&def, b, x, work);
    assert_false(result.converged);
    assert_int_equal(result.iteration_count, 1);
    assert_near(result.residual, 0.5, 1e-15); /* r = (0, -1.5) */
    assert_near(x[0], 1.5, 1e-15);
    assert_near(x[1], 0, 1e-15);
    x[0] = x[1] = 0;
    def.iteration_most = 9;
    result = exi_cg(&def, b, x, work);
    assert_true(result.converged);
    assert_int_equal(result.iteration_count, 2);
    assert_near(x[0], 2, 1e-14);
    assert_near(x[1], -1, 1e-14);
    result = exi_cg(&def, b, x, work); /* from the solution */
    assert_true(result.converged);
    assert_int_equal(result.iteration_count, 0);
    matrix_free(&p.m);
}

static void test_against_direct(void **state) {
    (void)state;
    graph g = graph_sphere(12, 18);
    problem p;
    open_problem(&p, matrix_from_graph(&g, 1, true));
    const int n = p.m.view.n;
    for (int j = 0; j < n; j++) /* a diagonal that is useful for preconditioning */
        p.m.values[p.m.starts[j]] += j % 7 == 0 ? 200 : 0.1;
    assert_int_equal(exi_factor_refactor(p.factor, p.m.values, NULL, NULL), EX_OK);
    double *b = random_numbers(n, 5), *direct = random_numbers(n, 5), *work = malloc(exi_cg_work_size(n));
    double *x = calloc((size_t)n, sizeof *x);
    assert_true(work && x);
    exi_factor_solve_1(p.factor, direct, p.work);
    void (*const ways[])(void *user, const double *r, double *z) = {NULL, by_diagonal, by_factor};
    int counts[3];
    for (int i = 0; i < 3; i++) {
        const exi_cg_def def = {n, apply, ways[i], &p, 1e-12, 10 * n};
        memset(x, 0, (size_t)n * sizeof *x);
        const exi_cg_result result = exi_cg(&def, b, x, work);
        counts[i] = result.iteration_count;
        assert_true(result.converged && result.residual <= 1e-12);
        assert_true(matrix_residual(&p.m, 1, x, b) < 1e-11);
        for (int k = 0; k < n; k++)
            assert_near(x[k], direct[k], 1e-9);
    }
    assert_true(counts[1] < counts[0]);
    assert_in_range(counts[2], 1, 2); /* the inverse itself is the best preconditioner */
    graph_free(&g);
    close_problem(&p);
    free(b);
    free(direct);
    free(work);
    free(x);
}

static void test_giving_up(void **state) {
    (void)state;
    const double saddle[2][2] = {{1, 0}, {0, -1}}, zero[2] = {0, 0}, b[2] = {0, 1};
    double x[2] = {3, 4}, work[8];
    problem p = {.m = matrix_from_dense(saddle[0], 2)};
    const exi_cg_def def = {2, apply, NULL, &p, 1e-10, 50};
    exi_cg_result result = exi_cg(&def, zero, x, work);
    assert_true(result.converged && result.iteration_count == 0 && result.residual == 0);
    assert_true(x[0] == 0 && x[1] == 0);
    result = exi_cg(&def, b, x, work);
    assert_false(result.converged);
    assert_int_equal(result.iteration_count, 0);
    assert_near(result.residual, 1, 1e-15);
    assert_true(x[0] == 0 && x[1] == 0);
    matrix_free(&p.m);
}

static void test_applying(void **state) {
    (void)state;
    const double dense[3][3] = {{1, 2, 0}, {2, -3, 4}, {0, 4, 5}}, x[3][2] = {{1, 0}, {2, 1}, {3, -1}};
    const double expected[6] = {5, 2, 8, -7, 23, -1};
    double y[6];
    matrix m = matrix_from_dense(dense[0], 3);
    exi_symmetric_apply(&m.view, 2, x[0], y);
    assert_row_near(y, expected, 6, 0);
    matrix_free(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_against_direct),
        cmocka_unit_test(test_giving_up),
        cmocka_unit_test(test_applying),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * Errors of the direct solver: matrices that are not positive definite, with the row named; numbers that are not
 * finite; invalid patterns; and failing memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/check.h"
#include "support/fail_alloc.h"
#include "support/matrices.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The row that the sentence names. */
static int refused_row(const matrix *m) {
    exi_factor *f = (exi_factor *)(void *)&f;
    ex_error error = {.result = EX_OK};
    assert_int_equal(exi_factor_create(&m->view, NULL, &f, &error), EX_ERROR_SINGULAR);
    assert_null(f);
    assert_sentence(&error, EX_ERROR_SINGULAR, "not positive definite at row ");
    return atoi(strstr(error.text, "at row ") + 7);
}

static void test_indefinite(void **state) {
    (void)state;
    for (int bad = 0; bad < 6; bad++) {
        double dense[6][6] = {{0}};
        for (int i = 0; i < 6; i++)
            dense[i][i] = i == bad ? -1 : 2;
        matrix m = matrix_from_dense(dense[0], 6);
        assert_int_equal(refused_row(&m), bad);
        m.values[m.starts[bad]] = 0;
        assert_int_equal(refused_row(&m), bad);
        matrix_free(&m);
    }
    /* Without a row a definite matrix stays definite, so that this row alone can be the one that fails. */
    graph sphere = graph_sphere(6, 9);
    for (int bad = 1; bad < sphere.n; bad += 11) {
        matrix m = matrix_from_graph(&sphere, 1, true);
        m.values[m.starts[bad]] = -1;
        assert_int_equal(refused_row(&m), bad);
        matrix_free(&m);
    }
    graph_free(&sphere);
    const double saddle[2][2] = {{1, 2}, {2, 1}};
    matrix m = matrix_from_dense(saddle[0], 2);
    const int row = refused_row(&m);
    assert_true(row == 0 || row == 1);
    matrix_free(&m);
}

/* A Laplacian that is not held anywhere has no inverse, and rounding does not hide it; held ever so slightly, it has
 * one. */
static void test_not_held(void **state) {
    (void)state;
    graph sphere = graph_sphere(25, 40);
    matrix loose = matrix_from_graph(&sphere, 0, true), held = matrix_from_graph(&sphere, 1e-6, true);
    refused_row(&loose);
    exi_factor *f = NULL;
    assert_int_equal(exi_factor_create(&held.view, NULL, &f, NULL), EX_OK);
    exi_factor_destroy(f);
    graph_free(&sphere);
    matrix_free(&loose);
    matrix_free(&held);
}

/* A remainder above 0 from rounding is not a pivot either. */
static void test_nearly_singular(void **state) {
    (void)state;
    const double near[2][2] = {{1, 1}, {1, 1 + 2 * DBL_EPSILON}}, far[2][2] = {{1, 1}, {1, 1 + 100 * DBL_EPSILON}};
    matrix m = matrix_from_dense(near[0], 2), other = matrix_from_dense(far[0], 2);
    refused_row(&m);
    exi_factor *f = NULL;
    assert_int_equal(exi_factor_create(&other.view, NULL, &f, NULL), EX_OK);
    exi_factor_destroy(f);
    matrix_free(&m);
    matrix_free(&other);
}

/* Of two pieces, the row named is in the one that is not held. */
static void test_loose_piece(void **state) {
    (void)state;
    graph g = graph_grid(8, 16);
    int kept = 0;
    for (int e = 0; e < g.edge_count; e++)
        if (g.edges[e][0] / 64 == g.edges[e][1] / 64) {
            memcpy(g.edges[kept], g.edges[e], sizeof *g.edges);
            g.weights[kept++] = g.weights[e];
        }
    g.edge_count = kept;
    matrix m = matrix_from_graph(&g, 1, false);
    assert_in_range(refused_row(&m), 64, 127);
    graph_free(&g);
    matrix_free(&m);
}

static void test_not_finite(void **state) {
    (void)state;
    graph g = graph_grid(4, 4);
    const double bad[] = {(double)NAN, (double)INFINITY, -(double)INFINITY};
    for (int i = 0; i < 3; i++) {
        matrix m = matrix_from_graph(&g, 1, false);
        exi_factor *f = NULL, *none = NULL;
        ex_error error = {.result = EX_OK};
        assert_int_equal(exi_factor_create(&m.view, NULL, &f, &error), EX_OK);
        m.values[m.starts[6] + i] = bad[i];
        assert_int_equal(exi_factor_create(&m.view, NULL, &none, &error), EX_ERROR_DATA);
        assert_null(none);
        assert_sentence(&error, EX_ERROR_DATA, "column 6");
        error = (ex_error){.result = EX_OK};
        assert_int_equal(exi_factor_refactor(f, m.values, NULL, &error), EX_ERROR_DATA);
        assert_sentence(&error, EX_ERROR_DATA, "column 6");
        exi_factor_destroy(f);
        matrix_free(&m);
    }
    graph_free(&g);
}

static int misuse_count;
static void count_misuse(const char *function, const char *what) {
    assert_non_null(function);
    assert_non_null(what);
    misuse_count++;
}

static void test_no_matrix(void **state) {
    (void)state;
    static const int starts[3] = {0, 2, 3}, late[3] = {1, 2, 3}, single[3] = {0, 1, 2}, empty[3] = {0, 3, 3};
    static const int rows[3] = {0, 1, 1}, no_diagonal[3] = {1, 1, 0}, twice[3] = {0, 0, 1}, outside[3] = {0, 2, 1};
    static const double values[3] = {2, 1, 2};
    static const exi_symmetric bad[] = {
        {-1, starts, rows, values},       {2, NULL, rows, values},    {2, starts, NULL, values},
        {2, starts, rows, NULL},          {2, late, rows, values},    {2, empty, rows, values},
        {2, single, no_diagonal, values}, {2, starts, twice, values}, {2, starts, outside, values},
    };
    const exi_symmetric good = {2, starts, rows, values};
    ex_set_misuse_hook(count_misuse);
    exi_factor *f = NULL;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        misuse_count = 0;
        assert_int_equal(exi_factor_create(&bad[i], NULL, &f, NULL), EX_ERROR_ARGUMENT);
        assert_null(f);
        assert_int_equal(misuse_count, 1);
    }
    assert_int_equal(exi_factor_create(NULL, NULL, &f, NULL), EX_ERROR_ARGUMENT);
    assert_int_equal(exi_factor_create(&good, NULL, NULL, NULL), EX_ERROR_ARGUMENT);
    assert_int_equal(exi_factor_create(&good, NULL, &f, NULL), EX_OK);
    assert_int_equal(exi_factor_refactor(f, NULL, NULL, NULL), EX_ERROR_ARGUMENT);
    exi_factor_destroy(f);
    exi_factor_destroy(NULL);
    ex_set_misuse_hook(NULL);
}

/* A factor without values does not solve. */
static void test_solving_after_failure(void **state) {
    (void)state;
    const double dense[2][2] = {{2, 1}, {1, 2}};
    double wrong[3] = {2, 3, 2}, x[6] = {1, 2, 3, 4, 5, 6}, work[8];
    const double before[6] = {1, 2, 3, 4, 5, 6};
    matrix m = matrix_from_dense(dense[0], 2);
    exi_factor *f = NULL;
    assert_int_equal(exi_factor_create(&m.view, NULL, &f, NULL), EX_OK);
    assert_int_equal(exi_factor_refactor(f, wrong, NULL, NULL), EX_ERROR_SINGULAR);
    ex_set_misuse_hook(count_misuse);
    misuse_count = 0;
    exi_factor_solve(f, x, work);
    exi_factor_solve_1(f, x, work);
    assert_int_equal(misuse_count, 2);
    assert_memory_equal(x, before, sizeof x);
    ex_set_misuse_hook(NULL);
    exi_factor_destroy(f);
    matrix_free(&m);
}

static ex_result attempt(void *context) {
    const matrix *m = context;
    exi_factor *f = NULL;
    ex_error error = {.result = EX_OK};
    const ex_result result = exi_factor_create(&m->view, NULL, &f, &error);
    if (result == EX_OK)
        exi_factor_destroy(f);
    else
        assert_null(f);
    return result;
}

static void test_memory(void **state) {
    (void)state;
    graph g = graph_grid(6, 5);
    matrix m = matrix_from_graph(&g, 1, false);
    assert_true(fail_alloc_sweep(attempt, &m) >= 10);
    graph_free(&g);
    matrix_free(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_indefinite),
        cmocka_unit_test(test_not_held),
        cmocka_unit_test(test_nearly_singular),
        cmocka_unit_test(test_loose_piece),
        cmocka_unit_test(test_not_finite),
        cmocka_unit_test(test_no_matrix),
        cmocka_unit_test(test_solving_after_failure),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * The direct solver: a case by hand, random matrices against a dense factorisation, Laplacians of meshes, matrices that
 * are small, in pieces or full, and other values on the same pattern.
 */
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

static exi_factor *factorise(const matrix *m) {
    exi_factor *f = NULL;
    ex_error error = {.result = EX_OK};
    if (exi_factor_create(&m->view, NULL, &f, &error) != EX_OK)
        fail_msg("%s", error.text);
    return f;
}

/* x [n][3] becomes the solutions; the work memory is one number longer, which must not change. */
static void solve(const exi_factor *f, double *x) {
    const size_t size = exi_factor_work_size(f);
    double *work = malloc(size + sizeof *work);
    assert_non_null(work);
    work[size / sizeof *work] = 5;
    exi_factor_solve(f, x, work);
    assert_true(work[size / sizeof *work] == 5);
    free(work);
}

/* Solves for random right-hand sides, three at once and one alone, and checks the residual. */
static void check_solves(const matrix *m) {
    const int n = m->view.n;
    exi_factor *f = factorise(m);
    double *b = random_numbers(3 * n, 3), *x = random_numbers(3 * n, 3);
    double *b_1 = random_numbers(n, 1), *x_1 = random_numbers(n, 1), *work = malloc(exi_factor_work_size(f));
    assert_non_null(work);
    solve(f, x);
    assert_true(matrix_residual(m, 3, x, b) < 1e-12);
    double most = 0;
    for (int i = 0; i < 3 * n; i++)
        most = fabs(x[i]) > most ? fabs(x[i]) : most;
    for (int c = 0; c < 3; c++) {
        for (int i = 0; i < n; i++)
            b_1[i] = x_1[i] = b[3 * i + c];
        exi_factor_solve_1(f, x_1, work);
        assert_true(matrix_residual(m, 1, x_1, b_1) < 1e-12);
        for (int i = 0; i < n; i++)
            assert_near(x_1[i], x[3 * i + c], 1e-9 * most);
    }
    free(b);
    free(x);
    free(b_1);
    free(x_1);
    free(work);
    exi_factor_destroy(f);
}

static void test_by_hand(void **state) {
    (void)state;
    const double dense[3][3] = {{4, 2, 0}, {2, 5, 2}, {0, 2, 6}};
    const double inverse[3][3] = {{26, -12, 4}, {-12, 24, -8}, {4, -8, 16}}; /* times the determinant, 80 */
    double x[3][3] = {{8, 80, 0}, {18, 0, 0}, {22, 0, 80}};                  /* first: A (1, 2, 3) */
    matrix m = matrix_from_dense(dense[0], 3);
    exi_factor *f = factorise(&m);
    solve(f, x[0]);
    for (int i = 0; i < 3; i++) {
        assert_near(x[i][0], i + 1, 1e-14);
        assert_near(x[i][1], inverse[i][0], 1e-13);
        assert_near(x[i][2], inverse[i][2], 1e-13);
    }
    const exi_factor_info info = exi_factor_stats(f);
    assert_int_equal(info.n, 3);
    assert_int_equal(info.supernode_count, 2); /* one end of the path; the other end and the middle */
    assert_int_equal(info.entry_count, 2 + 3);
    assert_true(info.operations == 2 * 2 + 2 * 2 + 1);
    assert_true(info.bytes > 5 * sizeof(double));
    exi_factor_destroy(f);
    matrix_free(&m);
}

/* x = A^-1 b by Cholesky's method, in place, for a dense A [n][n]. */
static void solve_dense(double *a, int n, double *x) {
    for (int j = 0; j < n; j++)
        for (int i = j; i < n; i++) {
            double sum = a[i * n + j];
            for (int k = 0; k < j; k++)
                sum -= a[i * n + k] * a[j * n + k];
            a[i * n + j] = i == j ? sqrt(sum) : sum / a[j * n + j];
        }
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < i; k++)
            x[i] -= a[i * n + k] * x[k];
        x[i] /= a[i * n + i];
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int k = i + 1; k < n; k++)
            x[i] -= a[k * n + i] * x[k];
        x[i] /= a[i * n + i];
    }
}

/* Entries occur with the given probability; the diagonal is larger than the rest of its row. */
static double *random_dense(int n, double chance, uint64_t *seed) {
    double *a = calloc((size_t)(n * n), sizeof *a);
    assert_non_null(a);
    for (int i = 0; i < n; i++)
        for (int j = 0; j < i; j++)
            if (random_between(seed, 0, 1) < chance)
                a[i * n + j] = a[j * n + i] = random_between(seed, -1, 1);
    for (int i = 0; i < n; i++) {
        double sum = 0.1;
        for (int j = 0; j < n; j++)
            sum += fabs(a[i * n + j]);
        a[i * n + i] = sum;
    }
    return a;
}

static void test_random_against_dense(void **state) {
    (void)state;
    static const double chances[] = {0.02, 0.1, 0.3, 1};
    uint64_t seed = 11;
    for (int n = 2; n < 60; n += 3) {
        double *a = random_dense(n, chances[n % 4], &seed), *b = random_numbers(n, seed);
        matrix m = matrix_from_dense(a, n);
        double *x = calloc((size_t)(3 * n), sizeof *x);
        for (int i = 0; i < n; i++)
            x[3 * i + 1] = b[i];
        exi_factor *f = factorise(&m);
        solve(f, x);
        solve_dense(a, n, b);
        for (int i = 0; i < n; i++) {
            assert_near(x[3 * i + 1], b[i], 1e-11);
            assert_true(x[3 * i] == 0 && x[3 * i + 2] == 0);
        }
        exi_factor_destroy(f);
        matrix_free(&m);
        free(a);
        free(b);
        free(x);
    }
}

static void test_meshes(void **state) {
    (void)state;
    for (int shuffle = 0; shuffle < 2; shuffle++) {
        graph grid = graph_grid(31, 27), sphere = graph_sphere(20, 30);
        matrix a = matrix_from_graph(&grid, 1, shuffle), b = matrix_from_graph(&sphere, 1e-3, shuffle);
        check_solves(&a);
        check_solves(&b);
        graph_free(&grid);
        graph_free(&sphere);
        matrix_free(&a);
        matrix_free(&b);
    }
}

/* The purpose of the ordering: on a grid of n vertices L stays far below the n^1.5 of the order of the rows. And
 * columns are merged, which adds some zeros, not many. */
static void test_order_keeps_factor_sparse(void **state) {
    (void)state;
    graph g = graph_grid(40, 40);
    matrix m = matrix_from_graph(&g, 1, false);
    exi_factor *f = factorise(&m);
    const exi_factor_info info = exi_factor_stats(f);
    assert_in_range(info.entry_count, 40 * 40 * 15, 40 * 40 * 21);
    assert_in_range(info.supernode_count, 40, 780); /* 682; 879 of one pattern */
    exi_factor_destroy(f);
    graph_free(&g);
    matrix_free(&m);
}

/* Two grids without an edge between them, and vertices without any. */
static void test_pieces(void **state) {
    (void)state;
    graph g = graph_grid(9, 14);
    int kept = 0;
    for (int e = 0; e < g.edge_count; e++)
        if (g.edges[e][0] / 9 != 6 && g.edges[e][1] / 9 != 6) { /* vertices of row 6 lose all their edges */
            memcpy(g.edges[kept], g.edges[e], sizeof *g.edges);
            g.weights[kept++] = g.weights[e];
        }
    g.edge_count = kept;
    matrix m = matrix_from_graph(&g, 1, false);
    for (int j = 0; j < m.view.n; j++)
        m.values[m.starts[j]] += 0.1;
    check_solves(&m);
    graph none = {.n = 20};
    matrix diagonal = matrix_from_graph(&none, 1, false);
    for (int j = 0; j < 20; j++)
        diagonal.values[j] = j + 1;
    check_solves(&diagonal);
    graph_free(&g);
    matrix_free(&m);
    matrix_free(&diagonal);
}

static void test_smallest(void **state) {
    (void)state;
    const int starts[2] = {0, 1}, row = 0;
    const double value = 4;
    const exi_symmetric empty = {.n = 0, .starts = starts}, one = {1, starts, &row, &value};
    exi_factor *f = NULL;
    double x[3] = {4, 8, -2}, work[4];
    assert_int_equal(exi_factor_create(&empty, NULL, &f, NULL), EX_OK);
    assert_int_equal(exi_factor_stats(f).entry_count, 0);
    exi_factor_solve(f, x, work);
    exi_factor_solve_1(f, x, work);
    assert_true(x[0] == 4 && x[1] == 8);
    exi_factor_destroy(f);
    assert_int_equal(exi_factor_create(&one, NULL, &f, NULL), EX_OK);
    exi_factor_solve(f, x, work);
    assert_true(x[0] == 1 && x[1] == 2 && x[2] == -0.5);
    exi_factor_solve_1(f, x, work);
    assert_true(x[0] == 0.25 && x[1] == 2);
    exi_factor_destroy(f);
}

/* A vertex adjacent to all others: eliminated last, it costs one row. */
static void test_dense_row(void **state) {
    (void)state;
    enum { N = 400 };
    double *dense = calloc(N * N, sizeof *dense);
    assert_non_null(dense);
    for (int i = 0; i < N; i++) {
        dense[i * N + i] = i == 17 ? N : 2 + i % 3;
        if (i != 17)
            dense[i * N + 17] = dense[17 * N + i] = 0.5;
    }
    matrix m = matrix_from_dense(dense, N);
    check_solves(&m);
    exi_factor *f = factorise(&m);
    assert_true(exi_factor_stats(f).entry_count < 4 * N);
    exi_factor_destroy(f);
    matrix_free(&m);
    free(dense);
}

/* Panels that are longer and wider than the kernels' blocks: two full blocks, each next to a third. */
static void test_large_panels(void **state) {
    (void)state;
    enum { A = 261, B = 20, C = 133, N = A + B + C };
    uint64_t seed = 5;
    double *dense = random_dense(N, 1, &seed);
    for (int i = 0; i < A; i++)
        for (int j = A; j < A + B; j++)
            dense[i * N + j] = dense[j * N + i] = 0;
    matrix m = matrix_from_dense(dense, N);
    double *b = random_numbers(3 * N, 3), *x = random_numbers(3 * N, 3);
    exi_factor *f = factorise(&m);
    assert_true(exi_factor_stats(f).supernode_count >= 2);
    solve(f, x);
    assert_true(matrix_residual(&m, 3, x, b) < 1e-12);
    exi_factor_destroy(f);
    matrix_free(&m);
    free(b);
    free(x);
    free(dense);
}

/* Other values on the same pattern give the bits of a new factor made from them, after a failure too. */
static void test_refactor(void **state) {
    (void)state;
    graph g = graph_sphere(9, 14);
    matrix m = matrix_from_graph(&g, 1, true);
    const int n = m.view.n;
    exi_factor *f = factorise(&m);
    ex_error error = {.result = EX_OK};
    m.values[m.starts[40]] = -1;
    assert_int_equal(exi_factor_refactor(f, m.values, NULL, &error), EX_ERROR_SINGULAR);
    for (int j = 0; j < n; j++)
        m.values[m.starts[j]] = 12 + j % 5;
    assert_int_equal(exi_factor_refactor(f, m.values, NULL, &error), EX_OK);
    exi_factor *fresh = factorise(&m);
    double *x = random_numbers(3 * n, 8), *y = random_numbers(3 * n, 8), *b = random_numbers(3 * n, 8);
    solve(f, x);
    solve(fresh, y);
    assert_memory_equal(x, y, (size_t)(3 * n) * sizeof *x);
    assert_true(matrix_residual(&m, 3, x, b) < 1e-12);
    exi_factor_destroy(f);
    exi_factor_destroy(fresh);
    graph_free(&g);
    matrix_free(&m);
    free(x);
    free(y);
    free(b);
}

typedef struct heard {
    int count;
    double last;
} heard;

static bool listen(void *user, const char *what, double fraction) {
    heard *h = user;
    assert_non_null(what);
    assert_true(fraction > h->last && fraction <= 1 + 1e-9);
    h->last = fraction;
    h->count++;
    return true;
}

static void test_progress(void **state) {
    (void)state;
    graph g = graph_grid(25, 25);
    matrix m = matrix_from_graph(&g, 1, false);
    heard h = {0};
    const ex_progress progress = {listen, &h};
    exi_factor *f = NULL;
    assert_int_equal(exi_factor_create(&m.view, &progress, &f, NULL), EX_OK);
    assert_true(h.count > 5 && h.count <= 100);
    assert_near(h.last, 1, 0.02);
    exi_factor_destroy(f);
    graph_free(&g);
    matrix_free(&m);
}

static void test_several_have_the_same_bits(void **state) {
    (void)state;
    enum { COUNT = 3 };
    graph g = graph_sphere(15, 20);
    matrix m = matrix_from_graph(&g, 1, true);
    exi_factor *f = factorise(&m);
    const size_t n = 3 * (size_t)m.view.n;
    double *x[COUNT], *wanted[COUNT], *work[COUNT];
    for (int i = 0; i < COUNT; i++) {
        x[i] = random_numbers((int)n, (uint64_t)(4 + i));
        wanted[i] = random_numbers((int)n, (uint64_t)(4 + i));
        work[i] = malloc(exi_factor_work_size(f));
        assert_non_null(work[i]);
        exi_factor_solve(f, wanted[i], work[i]);
    }
    exi_factor_solve_several(f, COUNT, x, work);
    for (int i = 0; i < COUNT; i++) {
        assert_memory_equal(x[i], wanted[i], n * sizeof(double));
        free(x[i]);
        free(wanted[i]);
        free(work[i]);
    }
    exi_factor_destroy(f);
    graph_free(&g);
    matrix_free(&m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_hand),
        cmocka_unit_test(test_random_against_dense),
        cmocka_unit_test(test_meshes),
        cmocka_unit_test(test_order_keeps_factor_sparse),
        cmocka_unit_test(test_pieces),
        cmocka_unit_test(test_smallest),
        cmocka_unit_test(test_dense_row),
        cmocka_unit_test(test_large_panels),
        cmocka_unit_test(test_refactor),
        cmocka_unit_test(test_progress),
        cmocka_unit_test(test_several_have_the_same_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

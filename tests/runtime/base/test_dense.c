/*
 * Small dense solves: cases worked by hand, residuals and orthogonality of random ones, and matrices of less than full
 * rank.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/base/dense.h"
#include "support/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double *room(size_t count) {
    double *memory = malloc(count * sizeof *memory);
    assert_non_null(memory);
    return memory;
}

static void solves_by_hand(void **state) {
    (void)state;
    /* x + 2y = 5, 3x + 4y = 11 and two more right-hand sides; the pivot is the second row */
    double system[2][5] = {{1, 2, 5, 1, 0}, {3, 4, 11, 0, 1}};
    assert_near(exi_solve(system[0], 2, 3), 2.0 / 3 / 4, 1e-16);
    assert_row_near(system[0] + 2, ((double[]){1, -2, 1}), 3, 1e-15);
    assert_row_near(system[1] + 2, ((double[]){2, 1.5, -0.5}), 3, 1e-15);
    double one[2] = {-4, 2};
    assert_near(exi_solve(one, 1, 1), 1, 0);
    assert_near(one[1], -0.5, 0);
    double swap[3][4] = {{0, 0, 2, 6}, {1, 0, 0, 1}, {0, 4, 0, 8}}; /* zeros on the diagonal */
    assert_near(exi_solve(swap[0], 3, 1), 0.25, 0);
    assert_near(swap[0][3], 1, 0);
    assert_near(swap[1][3], 2, 0);
    assert_near(swap[2][3], 3, 0);
}

static void random_systems_leave_no_residual(void **state) {
    (void)state;
    uint64_t random = 8;
    static const int sizes[] = {1, 2, 3, 5, 8, 17, 30, 64, 95, 96, 97, 150, 161};
    for (int s = 0; s < 13; s++)
        for (int m = 1; m <= 9; m += 4) {
            const int n = sizes[s], width = n + m;
            double *system = room((size_t)(n * width)), *copy = room((size_t)(n * width));
            for (int i = 0; i < n * width; i++)
                copy[i] = system[i] = random_between(&random, -1, 1);
            assert_true(exi_solve(system, n, m) > 0);
            for (int i = 0; i < n; i++)
                for (int j = 0; j < m; j++) {
                    double sum = 0, size = 0;
                    for (int k = 0; k < n; k++) {
                        sum += copy[i * width + k] * system[k * width + n + j];
                        size += fabs(copy[i * width + k] * system[k * width + n + j]);
                    }
                    assert_near(sum, copy[i * width + n + j], 1e-14 * n * (1 + size));
                }
            free(system);
            free(copy);
        }
}

/* A = C' C + 1 with the lower triangle spoilt, which is not read. Right-hand sides of an identity and a full column. */
static void definite_systems_leave_no_residual(void **state) {
    (void)state;
    uint64_t random = 18;
    static const int sizes[] = {1, 2, 3, 4, 5, 9, 31, 32, 95, 96, 97, 128, 135};
    for (int s = 0; s < 13; s++)
        for (int m = 1; m <= sizes[s] + 1; m += sizes[s]) {
            const int n = sizes[s], width = n + m;
            double *system = room((size_t)(n * width)), *copy = room((size_t)(n * width)), *c = room((size_t)(n * n));
            for (int i = 0; i < n * n; i++)
                c[i] = random_between(&random, -1, 1);
            for (int i = 0; i < n; i++) {
                for (int j = 0; j < n; j++) {
                    copy[i * width + j] = i == j;
                    for (int k = 0; k < n; k++)
                        copy[i * width + j] += c[k * n + i] * c[k * n + j];
                    system[i * width + j] = j < i ? NAN : copy[i * width + j];
                }
                for (int j = 0; j < m; j++)
                    copy[i * width + n + j] = system[i * width + n + j] =
                        j == 0 ? random_between(&random, -1, 1) : i == j - 1;
            }
            assert_true(exi_solve_definite(system, n, m));
            for (int i = 0; i < n; i++)
                for (int j = 0; j < m; j++) {
                    double sum = 0;
                    for (int k = 0; k < n; k++)
                        sum += copy[i * width + k] * system[k * width + n + j];
                    assert_near(sum, copy[i * width + n + j], 1e-13 * n);
                }
            free(system);
            free(copy);
            free(c);
        }
}

/* A cyclic shift, scaled: every pivot is far from the diagonal, and each solution is known exactly. */
static void large_systems_swap_rows(void **state) {
    (void)state;
    enum { N = 130, WIDTH = 2 * N };
    double *system = room((size_t)N * WIDTH);
    memset(system, 0, (size_t)N * WIDTH * sizeof *system);
    for (int i = 0; i < N; i++) {
        system[i * WIDTH + (i + 77) % N] = i + 1;
        system[i * WIDTH + N + i] = 1;
    }
    assert_near(exi_solve(system, N, N), 1.0 / N, 1e-16);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            assert_near(system[i * WIDTH + N + j], (j + 77) % N == i ? 1.0 / (j + 1) : 0, 1e-16);
    free(system);
}

static void large_systems_repeat_to_the_bit(void **state) {
    (void)state;
    enum { N = 140, M = 11, WIDTH = N + M, COUNT = N * WIDTH };
    uint64_t random = 71;
    double *memory = room(3 * COUNT + 1), *one = memory, *other = memory + COUNT + 1; /* differently aligned */
    for (int definite = 0; definite < 2; definite++) {
        for (int i = 0; i < COUNT; i++)
            one[i] = random_between(&random, -1, 1) / N + (definite && i % WIDTH == i / WIDTH ? 4 : 0);
        memcpy(other, one, COUNT * sizeof *one);
        if (definite)
            assert_true(exi_solve_definite(one, N, M) && exi_solve_definite(other, N, M));
        else
            assert_true(exi_solve(one, N, M) == exi_solve(other, N, M));
        for (int i = 0; i < N; i++)
            assert_memory_equal(one + i * WIDTH + N, other + i * WIDTH + N, M * sizeof *one);
    }
    free(memory);
}

static void large_singular_systems_are_told(void **state) {
    (void)state;
    enum { N = 120, WIDTH = N + 1 };
    uint64_t random = 72;
    double *system = room((size_t)N * WIDTH);
    for (int round = 0; round < 4; round++) {
        for (int i = 0; i < N * WIDTH; i++)
            system[i] = random_between(&random, -1, 1);
        for (int j = 0; j < N; j++) {
            if (round == 0) /* the last row is the sum of two others */
                system[(N - 1) * WIDTH + j] = system[3 * WIDTH + j] + system[50 * WIDTH + j];
            if (round == 1)
                system[j * WIDTH + 40] = 0;
            if (round == 2)
                system[j * WIDTH + 70] = NAN;
        }
        assert_true((exi_solve(system, N, 1) == 0) == (round < 3));
    }
    for (int round = 0; round < 4; round++) {
        for (int i = 0; i < N; i++)
            for (int j = 0; j < WIDTH; j++)
                system[i * WIDTH + j] = i == j ? 2 : 1.0 / (1 + abs(i - j)) / N;
        if (round == 0)
            system[100 * WIDTH + 100] = -2;
        if (round == 1)
            system[0] = 0;
        if (round == 2)
            system[60 * WIDTH + 60] = NAN;
        assert_true(exi_solve_definite(system, N, 1) == (round == 3));
    }
    free(system);
    double small[2][3] = {{1, 2, 1}, {2, 1, 1}};
    assert_false(exi_solve_definite(small[0], 2, 1));
}

static void scaling_changes_nothing(void **state) {
    (void)state;
    double system[2][3] = {{2e-200, 1e-200, 3e-200}, {1e-200, 3e-200, 4e-200}};
    double plain[2][3] = {{2, 1, 3}, {1, 3, 4}};
    assert_near(exi_solve(system[0], 2, 1), exi_solve(plain[0], 2, 1), 1e-15);
    assert_near(system[0][2], 1, 1e-15);
    assert_near(system[1][2], 1, 1e-15);
}

static void singular_systems_are_told(void **state) {
    (void)state;
    double zero[2][3] = {{0, 0, 1}, {0, 0, 1}};
    double twice[2][3] = {{1, 2, 1}, {2, 4, 1}};
    double dependent[3][4] = {{1, 2, 3, 1}, {4, 5, 6, 1}, {5, 7, 9, 1}};
    double empty_column[3][4] = {{1, 0, 2, 1}, {3, 0, 5, 1}, {7, 0, 1, 1}};
    double not_a_number[2][3] = {{NAN, 1, 1}, {NAN, 2, 1}};
    double endless[2][3] = {{INFINITY, 1, 1}, {1, 2, 1}};
    assert_true(exi_solve(zero[0], 2, 1) == 0);
    assert_true(exi_solve(twice[0], 2, 1) == 0);
    assert_true(exi_solve(dependent[0], 3, 1) == 0);
    assert_true(exi_solve(empty_column[0], 3, 1) == 0);
    assert_true(exi_solve(not_a_number[0], 2, 1) == 0);
    assert_true(exi_solve(endless[0], 2, 1) == 0);
    double nearly[2][3] = {{1, 1, 2}, {1, 1 + 1e-10, 2 + 1e-10}}; /* hard, and not singular */
    assert_true(exi_solve(nearly[0], 2, 1) > 0);
    assert_near(nearly[1][2], 1, 1e-4);
}

/* A = U diag(s) V^T, U^T U = 1 where s is not 0, V^T V = 1. columns [d][n] are A's. */
static void check_svd(const double *columns, int n, int d, double size) {
    double *u = room((size_t)(n * d)), *v = room((size_t)(d * d)), *s = room((size_t)d);
    memcpy(u, columns, (size_t)(n * d) * sizeof *u);
    exi_svd(u, n, d, v, s);
    for (int i = 0; i < d; i++)
        for (int j = 0; j < d; j++) {
            double uu = 0, vv = 0;
            for (int k = 0; k < n; k++)
                uu += u[i * n + k] * u[j * n + k];
            for (int k = 0; k < d; k++)
                vv += v[i * d + k] * v[j * d + k];
            assert_near(uu, i == j ? s[i] * s[i] : 0, 1e-14 * (size * size + s[i] * s[j]));
            assert_near(vv, i == j ? 1 : 0, 1e-14 * d);
        }
    for (int j = 0; j < d; j++)
        for (int k = 0; k < n; k++) {
            double sum = 0;
            for (int i = 0; i < d; i++)
                sum += u[i * n + k] * v[i * d + j];
            assert_near(sum, columns[j * n + k], 1e-14 * d * size);
        }
    free(u);
    free(v);
    free(s);
}

static void decomposes_what_it_gets(void **state) {
    (void)state;
    uint64_t random = 9;
    for (int d = 1; d <= 12; d++)
        for (int n = d; n <= 3 * d + 5; n += 4) {
            double *columns = room((size_t)(n * d));
            for (int i = 0; i < n * d; i++)
                columns[i] = random_between(&random, -1, 1);
            check_svd(columns, n, d, 2 * sqrt(n));
            free(columns);
        }
}

static void singular_values_by_hand(void **state) {
    (void)state;
    double columns[2][2] = {{3, 4}, {0, 5}}, v[4], s[2]; /* [[3, 0], [4, 5]]: sqrt 45 and sqrt 5 */
    exi_svd(columns[0], 2, 2, v, s);
    assert_near(fmax(s[0], s[1]), sqrt(45), 1e-14);
    assert_near(fmin(s[0], s[1]), sqrt(5), 1e-14);
    double tiny[2][2] = {{1, 0}, {1, 1e-12}}; /* sqrt 2 and 1e-12 / sqrt 2: small ones are accurate too */
    exi_svd(tiny[0], 2, 2, v, s);
    assert_near(fmin(s[0], s[1]) / (1e-12 / sqrt(2)), 1, 1e-3);
}

static void missing_rank_gives_zeros(void **state) {
    (void)state;
    /* the third column is the sum of the others, the fourth is zero */
    double columns[4][5] = {{1, 2, 3, 4, 5}, {2, 0, 1, -1, 3}, {3, 2, 4, 3, 8}, {0, 0, 0, 0, 0}};
    check_svd(columns[0], 5, 4, 12);
    double v[16], s[4];
    exi_svd(columns[0], 5, 4, v, s);
    int zeros = 0;
    for (int i = 0; i < 4; i++)
        zeros += s[i] < 1e-13;
    assert_int_equal(zeros, 2);
    double nothing[3][4] = {{0}}, nothing_v[9], nothing_s[3];
    exi_svd(nothing[0], 4, 3, nothing_v, nothing_s);
    for (int i = 0; i < 3; i++)
        assert_near(nothing_s[i], 0, 0);
}

static void condition_by_hand(void **state) {
    (void)state;
    const double diagonal[9] = {2, 0, 0, 0, -8, 0, 0, 0, 0.5};
    double work[18];
    assert_near(exi_condition(diagonal, 3, work), 16, 1e-14);
    const double a[4] = {1, 2, 3, 4}; /* norm 6, inverse [[-2, 1], [1.5, -0.5]] of norm 3.5 */
    assert_near(exi_condition(a, 2, work), 21, 1e-13);
    assert_true(a[0] == 1 && a[3] == 4);
    const double singular[4] = {1, 2, 2, 4};
    assert_true(isinf(exi_condition(singular, 2, work)));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solves_by_hand),
        cmocka_unit_test(random_systems_leave_no_residual),
        cmocka_unit_test(scaling_changes_nothing),
        cmocka_unit_test(singular_systems_are_told),
        cmocka_unit_test(decomposes_what_it_gets),
        cmocka_unit_test(singular_values_by_hand),
        cmocka_unit_test(missing_rank_gives_zeros),
        cmocka_unit_test(condition_by_hand),
        cmocka_unit_test(definite_systems_leave_no_residual),
        cmocka_unit_test(large_systems_swap_rows),
        cmocka_unit_test(large_systems_repeat_to_the_bit),
        cmocka_unit_test(large_singular_systems_are_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The quick orthonormal basis of dense.c: its two defining properties, and its failures. */
#include "runtime/base/dense.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { ROWS = 7, COLUMNS = 3 };

static const double matrix[COLUMNS][ROWS] = {
    {1, 2, 3, 4, 5, 6, 7},
    {1, 1, 2, 3, 5, 8, 13},
    {2, -1, 0.5, 4, -3, 1, 0.25},
};

static double dot(const double *a, const double *b) {
    double sum = 0;
    for (int i = 0; i < ROWS; i++)
        sum += a[i] * b[i];
    return sum;
}

/* (3, 4) and (1, 0): the basis is (0.6, 0.8) and (0.8, -0.6), made of column 0 over 5 and of 1.25 column 1 - 0.15
 * column 0. */
static void works_by_hand(void **state) {
    (void)state;
    double columns[2][2] = {{3, 4}, {1, 0}}, v[2][2];
    assert_true(exi_orthonormalise(columns[0], 2, 2, v[0]));
    const double basis[] = {0.6, 0.8, 0.8, -0.6}, made[] = {0.2, 0, -0.15, 1.25};
    for (int i = 0; i < 4; i++) {
        assert_true(fabs(columns[i / 2][i % 2] - basis[i]) < 1e-15);
        assert_true(fabs(v[i / 2][i % 2] - made[i]) < 1e-15);
    }
}

static void basis_is_orthonormal_and_made_as_said(void **state) {
    (void)state;
    double columns[COLUMNS][ROWS], v[COLUMNS][COLUMNS];
    memcpy(columns, matrix, sizeof columns);
    assert_true(exi_orthonormalise(columns[0], ROWS, COLUMNS, v[0]));
    for (int i = 0; i < COLUMNS; i++) {
        for (int j = 0; j < COLUMNS; j++)
            assert_true(fabs(dot(columns[i], columns[j]) - (i == j)) < 1e-14);
        for (int r = 0; r < ROWS; r++) {
            double made = 0;
            for (int k = 0; k < COLUMNS; k++)
                made += v[i][k] * matrix[k][r];
            assert_true(fabs(made - columns[i][r]) < 1e-14);
        }
    }
}

/* The second column is the first plus a fraction of something else: a hundredth is enough, a ten-thousandth is not. */
static void gives_up_near_dependence(void **state) {
    (void)state;
    const double parts[] = {1e-2, 1e-4, 0};
    for (int p = 0; p < 3; p++) {
        double columns[2][ROWS], v[2][2];
        memcpy(columns[0], matrix[0], sizeof columns[0]);
        for (int r = 0; r < ROWS; r++)
            columns[1][r] = matrix[0][r] + parts[p] * (r % 2 ? 1 : -1) * 4;
        assert_int_equal(exi_orthonormalise(columns[0], ROWS, 2, v[0]), p == 0);
    }
}

/* An axis that never varies, or one much finer than another, is left to the singular values. */
static void gives_up_on_short_columns(void **state) {
    (void)state;
    double columns[2][ROWS] = {{0}}, v[2][2];
    assert_false(exi_orthonormalise(columns[0], ROWS, 2, v[0]));
    for (int short_one = 0; short_one < 2; short_one++) {
        for (int r = 0; r < ROWS; r++) {
            columns[short_one][r] = 1e-5 * matrix[2][r];
            columns[1 - short_one][r] = matrix[0][r];
        }
        assert_false(exi_orthonormalise(columns[0], ROWS, 2, v[0]));
    }
}

static void nothing_is_fine(void **state) {
    (void)state;
    double none = 0;
    assert_true(exi_orthonormalise(&none, ROWS, 0, &none));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(works_by_hand),
        cmocka_unit_test(basis_is_orthonormal_and_made_as_said),
        cmocka_unit_test(gives_up_near_dependence),
        cmocka_unit_test(gives_up_on_short_columns),
        cmocka_unit_test(nothing_is_fine),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

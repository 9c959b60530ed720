/*
 * The rotation nearest to a matrix: by hand, for turned shapes, and where a shape does not determine it, as vertices on
 * a line do not. Its trace product with the matrix is then still the largest possible: the sum of the singular values,
 * the least of them negative for a reflection.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/base/vector.h"
#include "runtime/weigh/driver.h"
#include "support/check.h"

#include <math.h>
#include <string.h>

static void random_rotation(uint64_t *random, double r[3][3]) {
    double q[4];
    for (int i = 0; i < 4; i++)
        q[i] = random_between(random, -1, 1);
    assert_true(exi_normalise(q, 4));
    for (int c = 0; c < 3; c++) {
        double column[3];
        exi_rotate(q, (double[3]){c == 0, c == 1, c == 2}, column);
        for (int i = 0; i < 3; i++)
            r[i][c] = column[i];
    }
}

/* U diag(s) V^T */
static void matrix_of(const double u[3][3], const double s[3], const double v[3][3], double m[3][3]) {
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            m[i][j] = u[i][0] * s[0] * v[j][0] + u[i][1] * s[1] * v[j][1] + u[i][2] * s[2] * v[j][2];
}

/* R is a rotation, and tr(R^T M) is `most`, to a part of it. */
static void assert_best(const double m[3][3], double most, double tolerance) {
    double r[3][3], product = 0, across[3];
    exi_nearest_rotation(m, r);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            assert_near(exi_dot3(r[i], r[j]), i == j, 1e-13);
            product += r[i][j] * m[i][j];
        }
    exi_cross(r[0], r[1], across);
    assert_near(exi_dot3(across, r[2]), 1, 1e-13);
    assert_near(product / most, 1, tolerance);
}

static void a_quarter_turn_by_hand(void **state) {
    (void)state;
    const double m[3][3] = {{0, -2, 0}, {2, 0, 0}, {0, 0, 2}}, zero[3][3] = {{0}};
    double r[3][3];
    exi_nearest_rotation(m, r);
    for (int i = 0; i < 9; i++)
        assert_near(r[i / 3][i % 3], m[i / 3][i % 3] / 2, 1e-15);
    exi_nearest_rotation(zero, r);
    for (int i = 0; i < 9; i++)
        assert_true(r[i / 3][i % 3] == (i % 4 == 0));
}

/* Singular values in falling order, the last with the sign of the determinant, and the precision: double digits do not
 * hold a rotation around a line, nor one of a reflection in which three are equally good. */
static void the_product_is_the_largest(void **state) {
    (void)state;
    static const double cases[][4] = {
        {3, 2, 1, 1e-12},     {3, 2, -1, 1e-12},       {1, 1, 1, 1e-12},       {5, 1e-3, 1e-6, 1e-12},
        {1, 0.5, 0, 1e-12},   {1, 0, 0, 1e-12},        {1, 1e-9, 1e-10, 5e-9}, {1, 1e-9, -1e-9, 5e-9},
        {1, 0.5, -0.5, 1e-3}, {1, 1e-5, -1e-5, 1e-12}, {1, 1, -1, 1e-3},
    };
    uint64_t random = 12;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        for (int round = 0; round < 50; round++) {
            double u[3][3], v[3][3], m[3][3];
            random_rotation(&random, u);
            random_rotation(&random, v);
            matrix_of(u, cases[i], v, m);
            assert_best(m, cases[i][0] + cases[i][1] + cases[i][2], cases[i][3]);
        }
}

/* Along the axes, numbers are exact, and columns of the adjugate vanish exactly. */
static void lines_along_axes(void **state) {
    (void)state;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            for (int sign = -1; sign <= 1; sign += 2) {
                double m[3][3] = {{0}}, r[3][3];
                m[i][j] = sign;
                assert_best(m, 1, 1e-12);
                exi_nearest_rotation(m, r);
                assert_near(r[i][j], sign, 1e-12);
            }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_quarter_turn_by_hand),
        cmocka_unit_test(the_product_is_the_largest),
        cmocka_unit_test(lines_along_axes),
    };
    return cmocka_run_group_tests_name("runtime.weigh.driver", tests, NULL, NULL);
}

/* The polar decomposition of every kind of matrix: full, flat, a line, zero, mirrored; and quaternions of rotations. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/pose/matrix.h"
#include "support/check.h"
#include "support/poses.h"

#include <math.h>
#include <string.h>

static void assert_polar(const double m[12]) {
    double r[3][3], s[3][3], size = 0;
    exi_polar(m, r, s);
    for (int i = 0; i < 12; i++)
        size = fmax(size, i % 4 == 3 ? 0 : fabs(m[i]));
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            double product = 0, turned_back = 0;
            for (int k = 0; k < 3; k++) {
                product += r[i][k] * s[k][j];
                turned_back += r[i][k] * r[j][k];
            }
            assert_near(product, m[4 * i + j], 1e-14 * size);
            assert_near(turned_back, i == j, 1e-14);
            assert_near(s[i][j], s[j][i], 1e-14 * size);
        }
    const double det = r[0][0] * (r[1][1] * r[2][2] - r[1][2] * r[2][1]) -
                       r[0][1] * (r[1][0] * r[2][2] - r[1][2] * r[2][0]) +
                       r[0][2] * (r[1][0] * r[2][1] - r[1][1] * r[2][0]);
    assert_near(det, 1, 1e-14);
    double q[4], turned[12];
    exi_quaternion_of((const double(*)[3])r, q);
    assert_true(q[3] >= 0);
    ex_transform t = ex_transform_identity();
    for (int i = 0; i < 4; i++)
        t.rotation[i] = (float)q[i];
    oracle_matrix(&t, turned);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            assert_near(turned[4 * i + j], r[i][j], 1e-6);
}

static void every_matrix_has_one(void **state) {
    (void)state;
    uint64_t random = 120;
    for (int round = 0; round < 2000; round++) {
        double m[12] = {0};
        for (int rank = 0; rank < round % 4; rank++) {
            float rows[6];
            random_rows(&random, rows, 2, 3, false);
            for (int i = 0; i < 12; i++) /* by eighths, so that the rank is exact */
                m[i] += i % 4 == 3 ? 0 : floor(8 * (double)rows[i / 4]) * floor(8 * (double)rows[3 + i % 4]) / 64;
        }
        assert_polar(m);
        for (int i = 0; i < 12; i++)
            m[i] *= round % 8 < 4 ? 1e-9 : 1e9;
        assert_polar(m);
    }
    const double mirror[12] = {-1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0},
                 inside_out[12] = {-2, 0, 0, 0, 0, -2, 0, 0, 0, 0, -2, 0};
    assert_polar(mirror);
    assert_polar(inside_out);
}

/* Half turns and turns next to them, about every kind of axis. */
static void rotations_have_quaternions(void **state) {
    (void)state;
    uint64_t random = 121;
    for (int round = 0; round < 1000; round++) {
        float axis[3];
        double m[12];
        random_rows(&random, axis, 1, 3, false);
        for (int c = 0; c < 3 && round % 2; c++)
            axis[c] = c == round % 3 ? 1 : 0;
        ex_transform t = turned(180 + (round % 5 - 2) * 1e-3, (double)axis[0], (double)axis[1], (double)axis[2]);
        oracle_matrix(&t, m);
        assert_polar(m);
    }
}

static void inverses(void **state) {
    (void)state;
    uint64_t random = 122;
    for (int round = 0; round < 500; round++) {
        double m[12], inverse[12], expected[12], size = 0;
        for (int i = 0; i < 12; i++)
            m[i] = random_between(&random, -1, 1) * (round % 2 ? 1e6 : 1e-6);
        assert_true(exi_matrix_invert(m, inverse) && oracle_invert(m, expected));
        for (int i = 0; i < 12; i++)
            size = fmax(size, fabs(expected[i]));
        for (int i = 0; i < 12; i++)
            assert_near(inverse[i], expected[i], 1e-9 * size);
    }
    const double flat[12] = {1, 2, 3, 0, 2, 4, 6, 0, 0, 0, 1, 0};
    double out[12];
    assert_false(exi_matrix_invert(flat, out));
    assert_false(exi_matrix_usable((double[12]){NAN}));
    assert_false(exi_matrix_usable((double[12]){1e31}));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_matrix_has_one),
        cmocka_unit_test(rotations_have_quaternions),
        cmocka_unit_test(inverses),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Transforms: to matrices and back, between two of them, and with NaN. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/check.h"
#include "support/poses.h"

#include <math.h>
#include <string.h>

static void matrices_and_back(void **state) {
    (void)state;
    uint64_t random = 11;
    for (int round = 0; round < 500; round++) {
        ex_transform t = random_rigid(&random, 2), back;
        for (int c = 0; c < 3; c++)
            t.scale[c] = (float)random_between(&random, 0.1, 3);
        if (round % 3 == 1)
            t.scale[0] = -t.scale[0];
        if (round % 3 == 2)
            t.scale[0] = t.scale[1] = t.scale[2];
        if (round % 7 == 0)
            memcpy(t.rotation, turned(180, round % 2, 1, round % 3).rotation, sizeof t.rotation);
        float m[12], again[12];
        double expected[12];
        ex_transform_matrix(&t, m);
        oracle_matrix(&t, expected);
        for (int i = 0; i < 12; i++)
            assert_near((double)m[i], expected[i], 1e-6);
        assert_true(ex_transform_from_matrix(m, &back) < 1e-6);
        ex_transform_matrix(&back, again);
        for (int i = 0; i < 12; i++)
            assert_near((double)again[i], (double)m[i], 2e-6);
        for (int c = 0; c < 3; c++)
            assert_near((double)back.scale[c], (double)t.scale[c], 2e-6);
    }
}

/* A shear of 0.5 cannot be represented: half of it and more is lost, and reported. Zero has no direction. */
static void what_is_lost_is_said(void **state) {
    (void)state;
    const float shear[12] = {1, 0.5f, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0}, none[12] = {0}, wrong[12] = {NAN};
    const float flat[12] = {2, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3};
    ex_transform t;
    assert_in_range(1000 * ex_transform_from_matrix(shear, &t), 100, 500);
    assert_true(ex_transform_from_matrix(none, &t) == 0 && t.scale[0] == 0 && t.rotation[3] == 1);
    assert_true(ex_transform_from_matrix(flat, &t) < 1e-6);
    assert_near((double)t.scale[0], 2, 1e-6);
    assert_near((double)t.scale[1], 0, 1e-6);
    assert_near((double)t.translation[2], 3, 0);
    const float line[12] = {0, 0, 0, 0, 3, 0, 0, 0, 0, 0, 0, 0};
    assert_true(ex_transform_from_matrix(line, &t) < 1e-6);
    assert_near((double)t.scale[0], 3, 1e-6);
    float again[12];
    ex_transform_matrix(&t, again);
    for (int i = 0; i < 12; i++)
        assert_near((double)again[i], (double)line[i], 1e-6);
    assert_true(isinf(ex_transform_from_matrix(wrong, &t)) && t.rotation[3] == 1);
}

/* Turning about one axis is linear in the angle, the shorter way, at both signs of either quaternion. */
static void between_two_turns(void **state) {
    (void)state;
    for (int from = -170; from <= 170; from += 34)
        for (int by = -175; by <= 175; by += 35)
            for (int k = -2; k <= 6; k++) {
                double t = k / 4.0;
                ex_transform a = turned(from, 1, 2, 3), b = turned(from + by, 1, 2, 3), c, expected;
                a.translation[0] = 1, b.translation[0] = 3, b.scale[2] = 5;
                if (k % 2)
                    for (int i = 0; i < 4; i++)
                        b.rotation[i] = -b.rotation[i];
                c = ex_transform_interpolate(&a, &b, t);
                expected = turned(from + t * by, 1, 2, 3);
                double product = 0;
                for (int i = 0; i < 4; i++)
                    product += (double)c.rotation[i] * (double)expected.rotation[i];
                assert_near(fabs(product), 1, 1e-6);
                assert_near((double)c.translation[0], 1 + 2 * t, 1e-6);
                assert_near((double)c.scale[2], 1 + 4 * t, 1e-6);
            }
    ex_transform same = turned(40, 1, 0, 0), c = ex_transform_interpolate(&same, &same, 0.3);
    for (int i = 0; i < 4; i++)
        assert_near((double)c.rotation[i], (double)same.rotation[i], 1e-7);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(matrices_and_back),
        cmocka_unit_test(what_is_lost_is_said),
        cmocka_unit_test(between_two_turns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

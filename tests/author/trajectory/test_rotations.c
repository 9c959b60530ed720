/* Rotations and their mean along the path: against hand-worked cases, numerical integration and finite differences. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>

#include "author/trajectory/trajectory.h"

#define PI 3.14159265358979323846

static void check_near(double a, double b, double tolerance) {
    if (!(fabs(a - b) <= tolerance))
        fail_msg("%.17g is not within %g of %.17g", a, tolerance, b);
}

static const double samples[][3] = {{0, 0, 0},          {1e-9, 2e-9, -1e-9}, {3e-3, -4e-3, 2e-3},
                                    {7e-3, 7e-3, 1e-3}, {0.3, 0, 0.4},       {1, -2, 0.5},
                                    {0, 3.1, 0},        {-2, 3, 3.5},        {5.5, 0.4, 0.1}};
#define SAMPLE_COUNT (sizeof samples / sizeof *samples)

static void by_hand(void **state) {
    (void)state;
    const double quarter[3] = {0, 0, PI / 2};
    double r[3][3], w[3];
    exi_turn_matrix(quarter, r);
    const double expected[3][3] = {{0, -1, 0}, {1, 0, 0}, {0, 0, 1}};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            check_near(r[i][j], expected[i][j], 1e-15);
    exi_turn_vector((const double(*)[3])r, w);
    for (int i = 0; i < 3; i++)
        check_near(w[i], quarter[i], 1e-14);
    exi_mean_turn(quarter, r); /* the mean of (cos, sin) over a quarter is 2/pi each */
    check_near(r[0][0], 2 / PI, 1e-14);
    check_near(r[1][0], 2 / PI, 1e-14);
    check_near(r[2][2], 1, 1e-15);
    const ex_screw screw = {{0, 0, PI / 2}, {0, 0, 3}};
    const double centre[3] = {1, 0, 0}, point[3] = {2, 0, 0};
    double moved[3];
    exi_screw_point(&screw, centre, 1, point, moved);
    check_near(moved[0], 1, 1e-14);
    check_near(moved[1], 1, 1e-14);
    check_near(moved[2], 3, 1e-14);
}

static void mean_is_the_integral(void **state) {
    (void)state;
    for (size_t s = 0; s < SAMPLE_COUNT; s++) {
        double mean[3][3], sum[3][3] = {{0}};
        const int steps = 2000;
        for (int k = 0; k < steps; k++) {
            double w[3], r[3][3];
            for (int i = 0; i < 3; i++)
                w[i] = samples[s][i] * (k + 0.5) / steps;
            exi_turn_matrix(w, r);
            for (int i = 0; i < 9; i++)
                (&sum[0][0])[i] += (&r[0][0])[i] / steps;
        }
        exi_mean_turn(samples[s], mean);
        for (int i = 0; i < 9; i++)
            check_near((&mean[0][0])[i], (&sum[0][0])[i], 3e-6);
    }
}

static void inverse_is_exact(void **state) {
    (void)state;
    for (size_t s = 0; s < SAMPLE_COUNT; s++) {
        const double d[3] = {0.3, -1.2, 2};
        double v[3], mean[3][3], back[3];
        exi_mean_turn_invert(samples[s], d, v);
        exi_mean_turn(samples[s], mean);
        exi_apply(mean, v, back);
        for (int i = 0; i < 3; i++)
            check_near(back[i], d[i], 1e-12);
    }
}

static void derivative_is_the_difference(void **state) {
    (void)state;
    for (size_t s = 0; s < SAMPLE_COUNT; s++) {
        const double v[3] = {1.5, 0.2, -0.7};
        double derivative[3][3];
        exi_mean_turn_derivative(samples[s], v, derivative);
        for (int a = 0; a < 3; a++) {
            const double h = 1e-5;
            double up[3], down[3], w[3], mean[3][3];
            for (int sign = -1; sign < 2; sign += 2) {
                for (int i = 0; i < 3; i++)
                    w[i] = samples[s][i] + (i == a ? sign * h : 0);
                exi_mean_turn(w, mean);
                exi_apply(mean, v, sign > 0 ? up : down);
            }
            for (int i = 0; i < 3; i++)
                check_near(derivative[i][a], (up[i] - down[i]) / (2 * h), 2e-9);
        }
    }
}

/* Series and closed form meet. */
static void nothing_jumps_at_small_angles(void **state) {
    (void)state;
    for (int k = 0; k < 3; k++) {
        double low[3] = {0}, high[3] = {0}, a[3][3], b[3][3], d[3] = {1, 2, 3}, u[3], v[3];
        low[k] = 1e-2 * (1 - 1e-12);
        high[k] = 1e-2 * (1 + 1e-12);
        exi_mean_turn(low, a);
        exi_mean_turn(high, b);
        for (int i = 0; i < 9; i++)
            check_near((&a[0][0])[i], (&b[0][0])[i], 1e-13);
        exi_mean_turn_invert(low, d, u);
        exi_mean_turn_invert(high, d, v);
        for (int i = 0; i < 3; i++)
            check_near(u[i], v[i], 1e-11);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_hand),
        cmocka_unit_test(mean_is_the_integral),
        cmocka_unit_test(inverse_is_exact),
        cmocka_unit_test(derivative_is_the_difference),
        cmocka_unit_test(nothing_jumps_at_small_angles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

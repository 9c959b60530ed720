/*
 * The per-vertex maths of trajectories against integrals: the mean of a turn in double and in float, its inverse, from
 * zero angle to many turns; amounts of correctors by hand and at the ends of their range.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/shape/trajectory.inl"
#include "support/check.h"
#include "support/paths.h"

#include <stdio.h>

static const double pi = 3.14159265358979323846;

static double length(const double v[3]) {
    return sqrt(v[0] * v[0] + v[1] * v[1] + v[2] * v[2]);
}

/* A direction, times a length. */
static void draw(uint64_t *random, double size, double v[3]) {
    do {
        for (int c = 0; c < 3; c++)
            v[c] = random_between(random, -1, 1);
    } while (length(v) < 0.1);
    const double factor = size / length(v);
    for (int c = 0; c < 3; c++)
        v[c] *= factor;
}

/* A point at (1, 0, 0) that a quarter turn moves to (0, 1, 0): its velocity is w x p, and halfway it is at 45 degrees
 * on the circle. */
static void a_quarter_turn_by_hand(void **state) {
    (void)state;
    const double w[3] = {0, 0, pi / 2}, d[3] = {-1, 1, 0}, half[3] = {0, 0, pi / 4};
    double u[3], way[3], turned[3];
    exi_turn_mean_inverse(w, d, u);
    assert_row_near(u, ((double[3]){0, pi / 2, 0}), 3, 1e-15);
    exi_turn_mean(half, (double[3]){u[0] / 2, u[1] / 2, u[2] / 2}, way);
    assert_row_near(way, ((double[3]){sqrt(0.5) - 1, sqrt(0.5), 0}), 3, 1e-15);
    exi_turn_apply(w, (double[3]){1, 0, 5}, turned);
    assert_row_near(turned, ((double[3]){0, 1, 5}), 3, 1e-15);
}

static const double angles[] = {0,         1e-300, 1e-20,     1e-9,  1e-5, 1e-3,       0.05,       0.0999999,
                                0.1000001, 0.3,    1,         2,     3,    3.14159265, 3.2,        4.7,
                                5.6,       5.656,  5.6568,    5.657, 5.66, 6.2,        6.28318530, 6.29,
                                7,         9.5,    12.566370, 12.7,  20,   31.4159265, 50};
enum { ANGLES = sizeof angles / sizeof *angles };

static void means_are_integrals(void **state) {
    (void)state;
    uint64_t random = 5;
    double worst_near = 0, worst_far = 0;
    for (int i = 0; i < ANGLES; i++)
        for (int round = 0; round < 8; round++) {
            double w[3], v[3], plain[3], ours[3], back[3];
            draw(&random, angles[i], w);
            draw(&random, 1, v);
            plain_mean(w, v, plain);
            exi_turn_mean(w, v, ours);
            assert_row_near(ours, plain, 3, 1e-12);
            plain_rotate(w, v, plain);
            exi_turn_apply(w, v, ours);
            assert_row_near(ours, plain, 3, 1e-13);
            const float wf[3] = {(float)w[0], (float)w[1], (float)w[2]};
            const float vf[3] = {(float)v[0], (float)v[1], (float)v[2]};
            float out[3];
            exi_turn_mean_float(wf, vf, out);
            plain_mean((double[3]){(double)wf[0], (double)wf[1], (double)wf[2]},
                       (double[3]){(double)vf[0], (double)vf[1], (double)vf[2]}, plain);
            double *worst = angles[i] < 5.65 ? &worst_near : &worst_far;
            const double off =
                length((double[3]){(double)out[0] - plain[0], (double)out[1] - plain[1], (double)out[2] - plain[2]});
            *worst = off > *worst ? off : *worst;
            if (angles[i] > EX_TURN_MAX)
                continue;
            exi_turn_mean_inverse(w, v, ours);
            exi_turn_mean(w, ours, back);
            assert_row_near(back, v, 3, 1e-13);
            plain_mean_inverse(w, v, plain);
            assert_row_near(ours, plain, 3, 1e-11);
        }
    assert_true(worst_near < 4e-7);
    assert_true(worst_far < 1e-6);
}

/* There is no step at the end of the series or of the polynomials. */
static void no_steps(void **state) {
    (void)state;
    const float v[3] = {0.6F, -0.48F, 0.64F};
    for (int i = 0; i < 2; i++) {
        const double at = i ? sqrt((double)EXI_TURN_FAR) : 0.1;
        float below[3], above[3];
        for (int side = 0; side < 2; side++) {
            const float size = (float)(at * (side ? 1 + 1e-6 : 1 - 1e-6));
            const float w[3] = {size * 0.36F, size * 0.48F, size * 0.8F};
            exi_turn_mean_float(w, v, side ? above : below);
        }
        for (int c = 0; c < 3; c++)
            assert_near((double)above[c], (double)below[c], 2e-6);
    }
}

/* Enormous turns still give numbers: the part along them is left. */
static void endless_turns(void **state) {
    (void)state;
    const float w[3] = {0, 0, 1e9F}, v[3] = {1, 2, 3};
    float out[3];
    exi_turn_mean_float(w, v, out);
    assert_near((double)out[0], 0, 1e-5);
    assert_near((double)out[1], 0, 1e-5);
    assert_near((double)out[2], 3, 1e-6);
    const float still[3] = {0, 0, 0};
    exi_turn_mean_float(still, v, out);
    assert_memory_equal(out, v, sizeof v); /* to the bit */
}

static void amounts_by_hand(void **state) {
    (void)state;
    const float constant[EX_CURVE_SIZE] = {2}, linear[EX_CURVE_SIZE] = {0, 1},
                last[EX_CURVE_SIZE] = {0, 0, 0, 0, 0, 0, 1};
    assert_near(exi_corrector_amount(constant, 0), 2, 0);
    assert_near(exi_corrector_amount(constant, 0.25), 1.5, 1e-16);
    assert_near(exi_corrector_amount(constant, 1), 0, 0);
    assert_near(exi_corrector_amount(constant, -3), 2, 0);
    assert_near(exi_corrector_amount(constant, 2), -1, 1e-16);
    assert_near(exi_corrector_amount(linear, 0.75), 0.25 * 0.5, 1e-16);
    assert_near(exi_corrector_amount(last, 0.25), 0.75 / 64, 1e-16);
    uint64_t random = 8;
    for (int round = 0; round < 50; round++) {
        float curve[EX_CURVE_SIZE];
        for (int i = 0; i < EX_CURVE_SIZE; i++)
            curve[i] = (float)random_between(&random, -1, 1);
        for (double s = -1; s < 2; s += 0.09)
            assert_near(exi_corrector_amount(curve, s), plain_amount(curve, s), 1e-14);
        for (int end = 0; end < 2; end++) { /* the slope of s q(s) is the same on both sides of an end */
            const double h = 1e-6;
            const double before =
                (end * exi_corrector_amount(curve, end) - (end - h) * exi_corrector_amount(curve, end - h)) / h;
            const double after =
                ((end + h) * exi_corrector_amount(curve, end + h) - end * exi_corrector_amount(curve, end)) / h;
            assert_near(after, before, 1e-3);
        }
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_quarter_turn_by_hand), cmocka_unit_test(means_are_integrals), cmocka_unit_test(no_steps),
        cmocka_unit_test(endless_turns),          cmocka_unit_test(amounts_by_hand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * Our own exp, log and angle against the C library's, with the errors that functions.inl states. The library is within
 * a few parts in 10^17 where long double is wider than double, and within 1e-16 elsewhere.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/base/functions.inl"
#include "support/check.h"

static const double relative = 4e-16, relative_angle = 1e-15;

static void check_exp(double x) {
    long double expected = expl((long double)x);
    long double off = fabsl(((long double)exi_exp(x) - expected) / expected);
    if (!(off <= (long double)relative))
        fail_msg("exp(%.17g) is %.17g, off by %.3Lg", x, exi_exp(x), off);
}

static void check_log(double x) {
    long double expected = logl((long double)x);
    long double off = fabsl((long double)exi_log(x) - expected);
    /* absolute near 1, where the logarithm vanishes */
    long double allowed = fabsl(expected) < 0.5L ? 2e-16L : (long double)relative * fabsl(expected);
    if (!(off <= allowed))
        fail_msg("log(%.17g) is %.17g, off by %.3Lg", x, exi_log(x), off);
}

static void check_angle(double y, double x) {
    long double expected = atan2l((long double)y, (long double)x);
    long double off = fabsl((long double)exi_angle(y, x) - expected);
    if (!(off <= (long double)relative_angle * expected))
        fail_msg("the angle of (%.17g, %.17g) is %.17g, off by %.3Lg", x, y, exi_angle(y, x), off);
}

static void check_corner(double y, double x) {
    long double expected = atan2l((long double)y, (long double)x);
    long double off = fabsl((long double)exi_corner(y, x) - expected);
    if (!(off <= 3e-9L * expected))
        fail_msg("the corner of (%.17g, %.17g) is %.17g, off by %.3Lg", x, y, exi_corner(y, x), off);
}

static void check_sin_cos(double x) {
    double sine, cosine;
    exi_sin_cos(x, &sine, &cosine);
    long double off_sine = fabsl((long double)sine - sinl((long double)x));
    long double off_cosine = fabsl((long double)cosine - cosl((long double)x));
    if (!(off_sine <= 3e-16L && off_cosine <= 3e-16L))
        fail_msg("sin and cos of %.17g are %.17g and %.17g, off by %.3Lg and %.3Lg", x, sine, cosine, off_sine,
                 off_cosine);
}

static void sin_and_cos_are_within_their_error(void **state) {
    (void)state;
    uint64_t random = 5;
    for (int i = 0; i < 50000; i++) {
        check_sin_cos(random_between(&random, -100, 100));
        check_sin_cos(random_between(&random, -1, 1));
    }
    for (int quarter = -40; quarter <= 40; quarter++)
        for (int step = -2; step <= 2; step++)
            check_sin_cos(quarter * 0.78539816339744830962 + step * 1e-9);
}

static void exp_is_within_its_error(void **state) {
    (void)state;
    uint64_t random = 1;
    for (int i = 0; i < 50000; i++) {
        check_exp(random_between(&random, -700, 700));
        check_exp(random_between(&random, -40, 0));
        check_exp(random_between(&random, -1, 1));
        check_exp(random_between(&random, -1e-8, 1e-8));
    }
    for (double k = -1000; k <= 1000; k++) /* where the reduction changes over */
        if (fabs(k * 0.34657359027997264) < 700)
            check_exp(k * 0.34657359027997264);
    check_exp(700);
    check_exp(-700);
    check_exp(1e-300);
    assert_true(exi_exp(0) == 1);
    assert_true(exi_exp(-0.0) == 1);
}

static void exp_stays_within_bounds(void **state) {
    (void)state;
    assert_true(exi_exp(-700.0000001) == 0);
    assert_true(exi_exp(-1e300) == 0);
    assert_true(exi_exp(-INFINITY) == 0);
    assert_true(exi_exp(NAN) == 0);
    assert_true(exi_exp(701) == exi_exp(700));
    assert_true(exi_exp(INFINITY) == exi_exp(700));
    assert_true(isfinite(exi_exp(700)));
}

static void log_is_within_its_error(void **state) {
    (void)state;
    uint64_t random = 2;
    for (int i = 0; i < 50000; i++) {
        check_log(random_between(&random, 0, 10));
        check_log(random_between(&random, 0.5, 2));
        check_log(random_between(&random, 1 - 1e-6, 1 + 1e-6));
        check_log(exp(random_between(&random, -700, 700)));
    }
    for (int k = -1022; k <= 1023; k++) {
        check_log(ldexp(1, k));
        if (k < 1023)
            check_log(ldexp(1.41421356237309504880, k));
        check_log(ldexp(nextafter(1, 0), k));
    }
    assert_true(exi_log(1) == 0);
}

static void the_angle_is_within_its_error(void **state) {
    (void)state;
    uint64_t random = 3;
    for (int i = 0; i < 50000; i++) {
        check_angle(random_between(&random, 0, 1), random_between(&random, 0, 1));
        check_angle(random_between(&random, 0, 1e-6), random_between(&random, 0, 1));
        check_angle(random_between(&random, 0, 1), random_between(&random, 0, 1e-6));
        double almost = random_between(&random, 1 - 1e-9, 1 + 1e-9);
        check_angle(almost, 1);
    }
    check_angle(1, 1);
    check_angle(1e-300, 1);
    check_angle(1, 1e-300);
    check_angle(1e200, 1e200);
    check_angle(1e-200, 1e-200);
    assert_true(exi_angle(0, 0) == 0);
    assert_true(exi_angle(0, 5) == 0);
    assert_near(exi_angle(5, 0), 1.5707963267948966, 0);
}

static void the_corner_is_within_its_error(void **state) {
    (void)state;
    uint64_t random = 4;
    for (int i = 0; i < 50000; i++) {
        check_corner(random_between(&random, 0, 1), random_between(&random, -1, 1));
        check_corner(random_between(&random, 0, 1e-6), random_between(&random, -1, 1));
        check_corner(random_between(&random, 0, 1), random_between(&random, -1e-6, 1e-6));
    }
    check_corner(1, 1);
    check_corner(1, -1);
    check_corner(1e-300, 1);
    assert_true(exi_corner(0, 0) == 0);
    assert_near(exi_corner(0, -2), 3.14159265358979, 1e-14);
}

static void bits_go_there_and_back(void **state) {
    (void)state;
    assert_true(exi_to_bits(1.0) == 0x3FF0000000000000u);
    assert_true(exi_from_bits(0x4008000000000000u) == 3.0);
    assert_true(exi_to_bits(exi_from_bits(0x123456789ABCDEFu)) == 0x123456789ABCDEFu);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sin_and_cos_are_within_their_error),
        cmocka_unit_test(exp_is_within_its_error),
        cmocka_unit_test(exp_stays_within_bounds),
        cmocka_unit_test(log_is_within_its_error),
        cmocka_unit_test(the_angle_is_within_its_error),
        cmocka_unit_test(the_corner_is_within_its_error),
        cmocka_unit_test(bits_go_there_and_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

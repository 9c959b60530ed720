/* Vectors and quaternions: hand cases, and identities of rotations. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/base/vector.h"
#include "support/check.h"
#include "support/spaces.h"

#include <string.h>

static void random_turn(uint64_t *random, double q[4]) {
    turn_about(random_between(random, -1, 1), random_between(random, -1, 1), random_between(random, 0.1, 1),
               random_between(random, -360, 360), q);
}

static void products_by_hand(void **state) {
    (void)state;
    const double a[3] = {1, 2, 3}, b[3] = {4, -5, 6};
    double c[3] = {1, 2, 3};
    assert_near(exi_dot3(a, b), 12, 0);
    exi_cross(a, b, c);
    assert_row_near(c, ((double[]){27, 6, -13}), 3, 0);
    double d[3] = {1, 2, 3};
    exi_cross(d, b, d); /* into itself */
    assert_row_near(d, c, 3, 0);
}

static void lengths_become_one(void **state) {
    (void)state;
    double v[4] = {3, 0, -4, 0};
    assert_true(exi_normalise(v, 4));
    assert_row_near(v, ((double[]){0.6, 0, -0.8, 0}), 4, 2e-16);
    static const double sizes[] = {1e-320, 1e-300, 1e-160, 1, 1e160, 1e300, 1.7e308};
    for (int i = 0; i < 7; i++) {
        double w[3] = {sizes[i], -sizes[i], sizes[i]};
        assert_true(exi_normalise(w, 3));
        assert_row_near(w, ((double[]){0.57735026918962576, -0.57735026918962576, 0.57735026918962576}), 3, 2e-16);
    }
    double zero[3] = {0, -0.0, 0}, endless[2] = {INFINITY, 1};
    assert_false(exi_normalise(zero, 3));
    assert_false(exi_normalise(endless, 2));
    assert_true(endless[1] == 1);
}

static void turns_by_hand(void **state) {
    (void)state;
    double q[4], out[3];
    turn_about(0, 0, 1, 90, q);
    exi_rotate(q, (double[]){1, 0, 5}, out);
    assert_row_near(out, ((double[]){0, 1, 5}), 3, 1e-15);
    turn_about(1, 1, 1, 120, q); /* x to y to z */
    exi_rotate(q, (double[]){1, 2, 3}, out);
    assert_row_near(out, ((double[]){3, 1, 2}), 3, 2e-15);
}

static void turning_keeps_lengths_and_angles(void **state) {
    (void)state;
    uint64_t random = 4;
    for (int i = 0; i < 1000; i++) {
        double q[4], minus[4], a[3], b[3], turned_a[3], turned_b[3], again[3];
        random_turn(&random, q);
        for (int k = 0; k < 4; k++)
            minus[k] = -q[k];
        for (int k = 0; k < 3; k++) {
            a[k] = random_between(&random, -1, 1);
            b[k] = random_between(&random, -1, 1);
        }
        exi_rotate(q, a, turned_a);
        exi_rotate(q, b, turned_b);
        exi_rotate(minus, a, again);
        assert_near(exi_dot3(turned_a, turned_b), exi_dot3(a, b), 4e-15);
        assert_near(exi_dot3(turned_a, turned_a), exi_dot3(a, a), 4e-15);
        assert_row_near(again, turned_a, 3, 1e-15);
    }
}

/* Turning by a product is turning by its second factor, then by its first. */
static void products_of_turns(void **state) {
    (void)state;
    uint64_t random = 6;
    double a[4], b[4], product[4], in_place[4], once[3], both[3], direct[3];
    turn_about(1, 0, 0, 90, a);
    turn_about(0, 1, 0, 90, b);
    exi_quaternion_multiply(a, b, product);
    exi_rotate(product, (double[]){0, 0, 1}, direct); /* z to x, which stays */
    assert_row_near(direct, ((double[]){1, 0, 0}), 3, 1e-15);
    for (int i = 0; i < 100; i++) {
        const double v[3] = {random_between(&random, -1, 1), random_between(&random, -1, 1), 0.7};
        random_turn(&random, a);
        random_turn(&random, b);
        exi_quaternion_multiply(a, b, product);
        exi_rotate(b, v, once);
        exi_rotate(a, once, both);
        exi_rotate(product, v, direct);
        assert_row_near(direct, both, 3, 4e-15);
        memcpy(in_place, a, sizeof a);
        exi_quaternion_multiply(in_place, b, in_place);
        assert_memory_equal(in_place, product, sizeof product);
        memcpy(in_place, b, sizeof b);
        exi_quaternion_multiply(a, in_place, in_place);
        assert_memory_equal(in_place, product, sizeof product);
    }
}

/* q = swing * twist, and the twist keeps its axis. */
static void a_twist_is_what_turns_about_the_axis(void **state) {
    (void)state;
    uint64_t random = 5;
    for (int i = 0; i < 1000; i++) {
        double q[4], axis[3] = {random_between(&random, -1, 1), random_between(&random, -1, 1), 0.3}, twist[4];
        exi_normalise(axis, 3);
        random_turn(&random, q);
        exi_twist(q, axis, twist);
        double back[3], swung[3], turned[3];
        exi_rotate(twist, axis, back);
        assert_row_near(back, axis, 3, 1e-14);
        assert_near(twist[0] * twist[0] + twist[1] * twist[1] + twist[2] * twist[2] + twist[3] * twist[3], 1, 1e-15);
        /* the remaining swing, q * twist^-1, has no part about the axis and does the rest */
        double inverse[4] = {-twist[0], -twist[1], -twist[2], twist[3]}, swing[4];
        exi_quaternion_multiply(q, inverse, swing);
        assert_near(exi_dot3(swing, axis), 0, 1e-14);
        exi_rotate(swing, axis, swung);
        exi_rotate(q, axis, turned);
        assert_row_near(swung, turned, 3, 1e-14);
    }
}

static void twists_by_hand(void **state) {
    (void)state;
    double q[4], twist[4];
    const double y[3] = {0, 1, 0};
    turn_about(0, 1, 0, 70, q);
    exi_twist(q, y, twist);
    assert_row_near(twist, q, 4, 1e-16);
    turn_about(1, 0, 0, 70, q);
    exi_twist(q, y, twist);
    assert_row_near(twist, ((double[]){0, 0, 0, 1}), 4, 1e-16);
    turn_about(1, 0, 0, 180, q); /* reverses the axis: any twist would do, and the identity is chosen */
    q[3] = 0;
    exi_twist(q, y, twist);
    assert_row_near(twist, ((double[]){0, 0, 0, 1}), 4, 0);
    exi_twist((double[]){1, 1e-13, 0, 0}, y, twist); /* nor do the last digits matter */
    assert_row_near(twist, ((double[]){0, 0, 0, 1}), 4, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(products_by_hand),  cmocka_unit_test(lengths_become_one),
        cmocka_unit_test(turns_by_hand),     cmocka_unit_test(turning_keeps_lengths_and_angles),
        cmocka_unit_test(products_of_turns), cmocka_unit_test(a_twist_is_what_turns_about_the_axis),
        cmocka_unit_test(twists_by_hand),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

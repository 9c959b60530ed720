/*
 * Spaces: input points of a weigher (rest, limits, NaN), distances of rotations, and invariance: the sign of a
 * quaternion, the unit of an axis, the order of the examples.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/check.h"
#include "support/spaces.h"

#include <math.h>
#include <string.h>

enum { EXAMPLES = 8, MAKES = 10 };

/* Every kernel, then shepard and nearest. */
static void choose(sample_space *s, int make) {
    s->def.kind = make < EX_KERNEL_COUNT    ? EX_WEIGHER_CARDINAL
                  : make == EX_KERNEL_COUNT ? EX_WEIGHER_SHEPARD
                                            : EX_WEIGHER_NEAREST;
    s->def.kernel = make < EX_KERNEL_COUNT ? (ex_kernel)make : EX_KERNEL_BSPLINE;
    s->def.neighbours = 5;
}

static void assert_same_weights(const ex_weigher *weigher, const double *point, const double *other, double tolerance) {
    double a[SPACE_POINTS], b[SPACE_POINTS];
    ex_weigher_evaluate(weigher, point, a);
    ex_weigher_evaluate(weigher, other, b);
    assert_row_near(a, b, ex_weigher_example_count(weigher), tolerance);
}

static void the_sign_of_a_quaternion_says_nothing(void **state) {
    (void)state;
    for (int make = 0; make < MAKES; make++) {
        sample_space s;
        sample_space_mixed(&s, EXAMPLES, 50);
        choose(&s, make);
        ex_weigher *weigher = weigher_of(&s.def);
        uint64_t random = 51;
        for (int i = 0; i < 50; i++) {
            double point[SPACE_NUMBERS], other[SPACE_NUMBERS];
            sample_space_point(&s, 1, &random, point);
            for (int k = 0; k < s.dimension; k++)
                other[k] = k == 4 ? point[k] : -point[k]; /* number 4 is the scalar */
            assert_same_weights(weigher, point, other, 1e-9);
            for (int k = 0; k < s.dimension; k++)
                other[k] = k == 4 ? point[k] : 3.5 * point[k]; /* nor does its length */
            assert_same_weights(weigher, point, other, 1e-9);
        }
        ex_weigher_destroy(weigher);
    }
}

/* Once around in steps of 0.01 degrees, each kind of rotation axis: no weight jumps, and the end is the start. */
static void a_full_turn_has_no_jump(void **state) {
    (void)state;
    static const ex_axis_kind kinds[] = {EX_AXIS_ROTATION, EX_AXIS_SWING, EX_AXIS_TWIST};
    for (int make = 0; make < MAKES; make++)
        for (int kind = 0; kind < 3; kind++) {
            sample_space s = {.def = ex_weigher_def_default()};
            s.axes[0] = ex_axis_rotation(kinds[kind], (double[]){0, 0, 1});
            s.def.axes = s.axes;
            s.def.axis_count = 1;
            s.def.points = s.points;
            s.def.example_count = 5;
            choose(&s, make);
            for (int i = 0; i < 5; i++) {
                double q[4];
                if (kinds[kind] == EX_AXIS_SWING)
                    turn_about(1, 0.1 * i, 0, 60 + 65 * i, q);
                else
                    turn_about(0, 0, 1, 10 + 67 * i, q);
                memcpy(s.points + 4 * i, q, sizeof q);
            }
            ex_weigher *weigher = weigher_of(&s.def);
            double first[5], last[5], weights[5];
            for (int step = 0; step <= 36000; step++) {
                double q[4];
                turn_about(kinds[kind] == EX_AXIS_SWING, 0, kinds[kind] != EX_AXIS_SWING, 0.01 * step, q);
                ex_weigher_evaluate(weigher, q, weights);
                for (int i = 0; step > 0 && i < 5; i++)
                    if (!(fabs(weights[i] - last[i]) < 5e-3))
                        fail_msg("make %d, kind %d, weight %d jumps from %g to %g at %g degrees", make, kind, i,
                                 last[i], weights[i], 0.01 * step);
                memcpy(last, weights, sizeof last);
                if (step == 0)
                    memcpy(first, weights, sizeof first);
            }
            assert_row_near(last, first, 5, 1e-9);
            ex_weigher_destroy(weigher);
        }
}

/* Distances by hand: scalars in ranges; rotations by chord in cardinal weighers and by angle in the others. */
static void distances_by_hand(void **state) {
    (void)state;
    sample_space s;
    sample_space_mixed(&s, 3, 52);
    double a[13] = {0, 0, 0, 1, 20, 0, 0, 0, 1, 0, 0, 0, 1}, b[13];
    memcpy(b, a, sizeof b);
    for (int angular = 0; angular < 2; angular++) {
        s.def.kind = angular ? EX_WEIGHER_NEAREST : EX_WEIGHER_CARDINAL;
        ex_weigher *weigher = weigher_of(&s.def);
        for (double degrees = 0; degrees <= 180; degrees += 15) {
            double by_angle = degrees / 180, by_chord = sin(degrees * 3.14159265358979323846 / 360);
            double expected = angular ? by_angle : by_chord;
            memcpy(b, a, sizeof b);
            turn_about(1, 2, 3, degrees, b); /* whole */
            assert_near(ex_weigher_distance(weigher, a, b), expected, 1e-12);
            memcpy(b, a, sizeof b);
            turn_about(2, -1, 0, degrees, b + 5); /* swing, perpendicular to its axis (1, 2, 0) */
            assert_near(ex_weigher_distance(weigher, a, b), expected, 1e-12);
            turn_about(1, 2, 0, degrees, b + 5); /* about it: no swing */
            assert_near(ex_weigher_distance(weigher, a, b), 0, 1e-7);
            memcpy(b, a, sizeof b);
            turn_about(0, 0, 1, degrees, b + 9); /* twist about z */
            assert_near(ex_weigher_distance(weigher, a, b), expected, 1e-12);
            turn_about(1, 0, 0, degrees < 180 ? degrees : 0, b + 9);
            assert_near(ex_weigher_distance(weigher, a, b), 0, 1e-7);
        }
        memcpy(b, a, sizeof b);
        b[4] = 20 + 70;
        assert_near(ex_weigher_distance(weigher, a, b), 0.5, 1e-15);
        turn_about(0, 1, 0, 180, b); /* both: 1/2 and 1 */
        assert_near(ex_weigher_distance(weigher, a, b), sqrt(1.25), 1e-12);
        ex_weigher_destroy(weigher);
    }
    s.axes[1].scale = 0.1;
    s.axes[0].scale = 3;
    ex_weigher *weigher = weigher_of(&s.def);
    memcpy(b, a, sizeof b);
    b[4] = 25;
    turn_about(0, 1, 0, 90, b);
    assert_near(ex_weigher_distance(weigher, a, b), sqrt(0.25 + 2.25), 1e-12);
    ex_weigher_destroy(weigher);
}

/* Invalid numbers of a point read as rest: NULL, numbers that are not finite, a zero quaternion. */
static void what_is_no_number_is_rest(void **state) {
    (void)state;
    for (int make = 0; make < MAKES; make++) {
        sample_space s;
        sample_space_mixed(&s, EXAMPLES, 53);
        choose(&s, make);
        for (int i = 0; i < 4; i++)
            if (s.axes[i].kind != EX_AXIS_SCALAR)
                turn_about(1, 1, 0, 40 + 10 * i, s.axes[i].rest_rotation);
        ex_weigher *weigher = weigher_of(&s.def);
        double rest[13], point[13];
        for (int i = 0, at = 0; i < 4; at += ex_axis_width(&s.axes[i]), i++) {
            if (s.axes[i].kind == EX_AXIS_SCALAR)
                rest[at] = s.axes[i].rest;
            else
                memcpy(rest + at, s.axes[i].rest_rotation, 4 * sizeof *rest);
        }
        assert_same_weights(weigher, rest, NULL, 1e-12);
        static const double bad[] = {NAN, INFINITY, -INFINITY};
        for (int b = 0; b < 3; b++)
            for (int k = 0; k < 13; k++) {
                memcpy(point, rest, sizeof point);
                point[k] = bad[b];
                assert_same_weights(weigher, rest, point, 1e-12);
            }
        static const int rotations[] = {0, 5, 9};
        for (int i = 0; i < 3; i++) {
            double identity[13];
            memcpy(point, rest, sizeof point);
            memcpy(identity, rest, sizeof identity);
            memset(point + rotations[i], 0, 4 * sizeof *point);
            memcpy(identity + rotations[i], ((double[]){0, 0, 0, 1}), 4 * sizeof *identity);
            assert_same_weights(weigher, identity, point, 1e-12);
        }
        ex_weigher_destroy(weigher);
    }
}

static void limits_are_kept_where_asked(void **state) {
    (void)state;
    sample_space s;
    sample_space_scalars(&s, 2, 6, 54);
    s.axes[0].clamp = true; /* [0, 10] */
    ex_weigher *weigher = weigher_of(&s.def);
    assert_same_weights(weigher, (double[]){-50, 3}, (double[]){0, 3}, 0);
    assert_same_weights(weigher, (double[]){11, 3}, (double[]){10, 3}, 0);
    double inside[6], outside[6];
    ex_weigher_evaluate(weigher, (double[]){5, 300}, outside);
    ex_weigher_evaluate(weigher, (double[]){5, 15}, inside);
    assert_true(fabs(inside[0] - outside[0]) > 1e-3); /* the other axis goes on */
    /* a million ranges from rest is the limit, and finite */
    assert_same_weights(weigher, (double[]){5, 1e300}, (double[]){5, 1.5 + 1e6 * 17}, 1e-9);
    assert_same_weights(weigher, (double[]){5, -1e300}, (double[]){5, 1.5 - 1e6 * 17}, 1e-9);
    ex_weigher_destroy(weigher);
    for (int make = 0; make < MAKES; make++) {
        choose(&s, make);
        weigher = weigher_of(&s.def);
        double weights[6];
        ex_weigher_evaluate(weigher, (double[]){5, 1e300}, weights);
        for (int i = 0; i < 6; i++)
            assert_true(isfinite(weights[i]));
        ex_weigher_destroy(weigher);
    }
}

/* Shifting and scaling an axis together with its range, and renaming the examples, changes no weight. */
static void units_do_not_matter(void **state) {
    (void)state;
    for (int make = 0; make < MAKES; make++) {
        sample_space s, t;
        sample_space_scalars(&s, 3, EXAMPLES, 55);
        choose(&s, make);
        t = s;
        t.def.axes = t.axes;
        t.def.points = t.points;
        static const double factor[3] = {1000, 0.125, -1}, shift[3] = {-4, 77, 10};
        for (int a = 0; a < 3; a++) {
            double ends[2] = {s.axes[a].min * factor[a] + shift[a], s.axes[a].max * factor[a] + shift[a]};
            t.axes[a] =
                ex_axis_scalar(fmin(ends[0], ends[1]), fmax(ends[0], ends[1]), s.axes[a].rest * factor[a] + shift[a]);
            for (int i = 0; i < EXAMPLES; i++)
                t.points[3 * i + a] = s.points[3 * i + a] * factor[a] + shift[a];
        }
        ex_weigher *plain = weigher_of(&s.def), *other = weigher_of(&t.def);
        uint64_t random = 56;
        for (int i = 0; i < 100; i++) {
            double point[3], moved[3], a[EXAMPLES], b[EXAMPLES];
            sample_space_point(&s, i < 50 ? 1 : 5, &random, point);
            for (int k = 0; k < 3; k++)
                moved[k] = point[k] * factor[k] + shift[k];
            ex_weigher_evaluate(plain, point, a);
            ex_weigher_evaluate(other, moved, b);
            assert_row_near(b, a, EXAMPLES, 1e-8);
        }
        ex_weigher_destroy(plain);
        ex_weigher_destroy(other);
    }
}

static void the_order_of_examples_does_not_matter(void **state) {
    (void)state;
    static const int order[EXAMPLES] = {3, 7, 0, 5, 1, 6, 2, 4};
    for (int make = 0; make < MAKES; make++) {
        sample_space s, t;
        sample_space_mixed(&s, EXAMPLES, 57);
        choose(&s, make);
        t = s;
        t.def.axes = t.axes;
        t.def.points = t.points;
        const size_t size = (size_t)s.dimension * sizeof(double);
        for (int i = 0; i < EXAMPLES; i++)
            memcpy(t.points + i * s.dimension, s.points + order[i] * s.dimension, size);
        ex_weigher *plain = weigher_of(&s.def), *other = weigher_of(&t.def);
        uint64_t random = 58;
        for (int i = 0; i < 50; i++) {
            double point[SPACE_NUMBERS], a[EXAMPLES], b[EXAMPLES];
            sample_space_point(&s, 1.5, &random, point);
            ex_weigher_evaluate(plain, point, a);
            ex_weigher_evaluate(other, point, b);
            for (int k = 0; k < EXAMPLES; k++)
                assert_near(b[k], a[order[k]], 1e-8);
        }
        ex_weigher_destroy(plain);
        ex_weigher_destroy(other);
    }
}

static void axes_have_their_defaults(void **state) {
    (void)state;
    ex_axis axis = ex_axis_scalar(-1, 3, 2);
    assert_true(axis.kind == EX_AXIS_SCALAR && axis.min == -1 && axis.max == 3 && axis.rest == 2 && axis.scale == 0);
    assert_false(axis.clamp);
    assert_int_equal(ex_axis_width(&axis), 1);
    axis = ex_axis_rotation(EX_AXIS_SWING, NULL);
    assert_true(axis.kind == EX_AXIS_SWING && axis.about[0] == 0 && axis.about[1] == 1 && axis.about[2] == 0);
    assert_row_near(axis.rest_rotation, ((double[]){0, 0, 0, 1}), 4, 0);
    assert_int_equal(ex_axis_width(&axis), 4);
    axis = ex_axis_rotation(EX_AXIS_TWIST, (double[]){5, 6, 7});
    assert_row_near(axis.about, ((double[]){5, 6, 7}), 3, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_sign_of_a_quaternion_says_nothing),
        cmocka_unit_test(a_full_turn_has_no_jump),
        cmocka_unit_test(distances_by_hand),
        cmocka_unit_test(what_is_no_number_is_rest),
        cmocka_unit_test(limits_are_kept_where_asked),
        cmocka_unit_test(units_do_not_matter),
        cmocka_unit_test(the_order_of_examples_does_not_matter),
        cmocka_unit_test(axes_have_their_defaults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

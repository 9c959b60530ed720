/*
 * Readings of joints: by hand, round trips on random joints, parts that writing does not change, continuity over two
 * turns, half turns, and NaN.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <exemplar/pose.h>
#include <exemplar/weigh.h>

#include "support/check.h"
#include "support/poses.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* Floats hold a rotation to 6e-8, which is 7e-6 degrees if the swing is small. */
#define DEGREES 2e-5

static const ex_reading about_x = {.kind = EX_READING_ANGLE, .about = {2, 0, 0}};
static const ex_reading about_y = {.kind = EX_READING_ANGLE, .about = {0, 0.5, 0}};
static const ex_reading whole = {.kind = EX_READING_ROTATION, .part = EX_AXIS_ROTATION};

static double read_one(const ex_reading *reading, const ex_transform *rest, const ex_transform *local) {
    double value = -12345;
    assert_int_equal(ex_reading_width(reading), 1);
    ex_reading_read(reading, rest, local, &value);
    return value;
}

static void write_one(const ex_reading *reading, const ex_transform *rest, double value, ex_transform *local) {
    ex_reading_write(reading, rest, &value, local);
}

static void negate(ex_transform *t, float length) {
    for (int i = 0; i < 4; i++)
        t->rotation[i] *= -length;
}

/* The rotation of a then that of b in its axes, through matrices. */
static void assert_same_rotation(const ex_transform *got, const double expected[12]) {
    double m[12];
    oracle_matrix(got, m);
    for (int i = 0; i < 12; i++)
        if (i % 4 != 3)
            assert_near(m[i], expected[i], 5e-7);
}

static void by_hand(void **state) {
    (void)state;
    ex_transform rest = ex_transform_identity(), local = turned(30, 1, 0, 0);
    assert_near(read_one(&about_x, &rest, &local), 30, DEGREES);
    assert_near(read_one(&about_y, &rest, &local), 0, 0);
    assert_near(read_one(&about_x, &rest, &rest), 0, 0);
    ex_reading down = about_x;
    down.about[0] = -3;
    assert_near(read_one(&down, &rest, &local), -30, DEGREES);

    /* Relative to rest: local = rest * r. The joint is at 90 degrees about z, so its own x is the parent's y. */
    rest = turned(90, 0, 0, 1);
    double r[12], q[12], expected[12], value[4];
    local = turned(40, 0, 1, 0);
    oracle_matrix(&local, r);
    oracle_matrix(&rest, q);
    oracle_multiply(r, q, expected); /* 40 degrees about the parent's y, after rest */
    float floats[12];
    for (int i = 0; i < 12; i++)
        floats[i] = (float)expected[i];
    ex_transform_from_matrix(floats, &local);
    assert_near(read_one(&about_x, &rest, &local), 40, DEGREES);
    assert_near(read_one(&about_y, &rest, &local), 0, DEGREES);
    assert_int_equal(ex_reading_width(&whole), 4);
    ex_reading_read(&whole, &rest, &local, value);
    const double turn[4] = {sin(20 * 3.14159265358979 / 180), 0, 0, cos(20 * 3.14159265358979 / 180)};
    assert_row_near(value, turn, 4, 1e-7);

    /* A slide of 3 along its own x is one of 3 along the parent's y; in units of 2, 1.5. */
    ex_reading slide = {.kind = EX_READING_SLIDE, .about = {7, 0, 0}};
    rest.translation[0] = 10, rest.translation[1] = 20;
    local.translation[0] = 14, local.translation[1] = 23, local.translation[2] = 5;
    assert_near(read_one(&slide, &rest, &local), 3, 1e-6);
    slide.unit = 2;
    assert_near(read_one(&slide, &rest, &local), 1.5, 1e-6);
    write_one(&slide, &rest, -2, &local);
    assert_near((double)local.translation[0], 14, 1e-5);
    assert_near((double)local.translation[1], 16, 1e-5);
    assert_near((double)local.translation[2], 5, 1e-5);

    ex_reading stretch = {.kind = EX_READING_STRETCH, .about = {0, 0, -1}};
    rest.scale[2] = 0.5f, local.scale[2] = 2;
    assert_near(read_one(&stretch, &rest, &local), 4, 0);
    write_one(&stretch, &rest, 3, &local);
    assert_true(local.scale[0] == 1 && local.scale[1] == 1 && local.scale[2] == 1.5f);
    rest.scale[2] = 0;
    assert_near(read_one(&stretch, &rest, &local), 1, 0);
    write_one(&stretch, &rest, 3, &local);
    assert_true(local.scale[2] == 0);
}

/* Angles about x then y are intrinsic turns in that order; both read back. */
static void two_angles(void **state) {
    (void)state;
    uint64_t random = 5;
    for (int round = 0; round < 200; round++) {
        double a = round ? random_between(&random, -170, 170) : 30, b = round ? random_between(&random, -170, 170) : 20;
        ex_transform rest = round ? random_rigid(&random, 1) : ex_transform_identity(), local = rest;
        ex_transform first = turned(a, 1, 0, 0), second = turned(b, 0, 1, 0), frame = rest;
        double m[12], n[12], expected[12];
        write_one(&about_x, &rest, a, &local);
        assert_near(read_one(&about_x, &rest, &local), a, DEGREES);
        assert_near(read_one(&about_y, &rest, &local), 0, 20 * DEGREES);
        write_one(&about_y, &rest, b, &local);
        oracle_matrix(&frame, m);
        oracle_matrix(&first, n);
        oracle_multiply(m, n, expected);
        oracle_matrix(&second, n);
        oracle_multiply(expected, n, expected);
        assert_same_rotation(&local, expected);
        /* Near a half turn of the other, floats hold an angle less well. */
        double room = DEGREES / fabs(cos(a * 3.14159265 / 360) * cos(b * 3.14159265 / 360));
        assert_near(read_one(&about_x, &rest, &local), a, room);
        assert_near(read_one(&about_y, &rest, &local), b, room);
        assert_memory_equal(local.translation, rest.translation, 12);
        assert_memory_equal(local.scale, rest.scale, 12);
    }
}

static ex_transform random_joint(uint64_t *random) {
    ex_transform t = random_rigid(random, 3);
    for (int c = 0; c < 3; c++)
        t.scale[c] = (float)random_between(random, 0.2, 3);
    return t;
}

/* Cosine of half the angle between two rotations. */
static double likeness(const double a[4], const double b[4]) {
    return fabs(a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]);
}

/* Image of n, and the turn about it: the definitions of swing and twist, by independent formulas. */
static void swing_of(const double q[4], const double n[3], double out[3]) {
    ex_transform t = {.rotation = {(float)q[0], (float)q[1], (float)q[2], (float)q[3]}, .scale = {1, 1, 1}};
    double m[12];
    oracle_matrix(&t, m);
    oracle_apply(m, n, out);
}

static void there_and_back(void **state) {
    (void)state;
    uint64_t random = 77;
    for (int round = 0; round < 2000; round++) {
        const ex_transform rest = random_joint(&random), start = random_joint(&random);
        ex_transform local = start, other = start;
        negate(&other, 3.5f);
        ex_reading reading = {.kind = (ex_reading_kind)(1 + round % 4)};
        reading.middle = random_between(&random, -500, 500);
        reading.unit = random_between(&random, 0.1, 4);
        reading.part = EX_AXIS_ROTATION + round / 4 % 3;
        double n[3], length = 0;
        for (int c = 0; c < 3; c++) {
            reading.about[c] = random_between(&random, -5, 5);
            length += reading.about[c] * reading.about[c];
        }
        for (int c = 0; c < 3; c++)
            n[c] = reading.about[c] / sqrt(length);

        /* q and -q, of any length; and writing the value read changes nothing. */
        double value[4], again[4], before[4], after[4];
        const int width = ex_reading_width(&reading);
        ex_reading_read(&reading, &rest, &local, value);
        ex_reading_read(&reading, &rest, &other, again);
        assert_row_near(again, value, width, DEGREES * 50);
        ex_reading_write(&reading, &rest, value, &local);
        for (int c = 0; c < 3; c++) {
            assert_near((double)local.translation[c], (double)start.translation[c], 2e-6);
            assert_near((double)local.scale[c], (double)start.scale[c], 2e-6);
        }
        ex_reading_read(&whole, &rest, &start, before);
        ex_reading_read(&whole, &rest, &local, after);
        assert_near(likeness(before, after), 1, 1e-6);

        /* A new value reads back, and the rest is unchanged. */
        if (width == 4) {
            ex_transform any = random_rigid(&random, 0);
            for (int i = 0; i < 4; i++)
                value[i] = 3 * (double)any.rotation[i];
        } else {
            value[0] = reading.kind == EX_READING_ANGLE ? reading.middle + random_between(&random, -179, 179)
                                                        : random_between(&random, -2, 2);
        }
        local = other;
        ex_reading_write(&reading, &rest, value, &local);
        ex_reading_read(&reading, &rest, &local, again);
        ex_reading_read(&whole, &rest, &local, after);
        if (reading.kind != EX_READING_SLIDE)
            assert_memory_equal(local.translation, other.translation, 12);
        if (reading.kind != EX_READING_STRETCH)
            assert_memory_equal(local.scale, other.scale, 12);
        if (reading.kind == EX_READING_SLIDE || reading.kind == EX_READING_STRETCH)
            assert_memory_equal(local.rotation, other.rotation, 16);
        double unit[4], turn_before[4], turn_given[4], turn_after[4], to_before[3], to_given[3], to_after[3];
        ex_reading twist = {.kind = EX_READING_ANGLE, .about = {n[0], n[1], n[2]}};
        swing_of(before, n, to_before);
        swing_of(after, n, to_after);
        /* Precision of a twist: 0 if n is reversed. */
        double defined = sqrt((1 + to_after[0] * n[0] + to_after[1] * n[1] + to_after[2] * n[2]) / 2);
        turn_before[0] = read_one(&twist, &rest, &other), turn_after[0] = read_one(&twist, &rest, &local);
        switch (reading.kind) {
        case EX_READING_ANGLE:
            assert_row_near(to_after, to_before, 3, 2e-6);
            if (defined > 0.02)
                assert_near(again[0], value[0], DEGREES / defined);
            break;
        case EX_READING_ROTATION:
            length = sqrt(value[0] * value[0] + value[1] * value[1] + value[2] * value[2] + value[3] * value[3]);
            for (int i = 0; i < 4; i++)
                unit[i] = value[i] / length;
            swing_of(unit, n, to_given);
            if (reading.part == EX_AXIS_ROTATION)
                assert_near(likeness(after, unit), 1, 1e-6);
            else
                assert_row_near(to_after, reading.part == EX_AXIS_SWING ? to_given : to_before, 3, 2e-6);
            ex_transform given = rest;
            ex_reading_write(&whole, &rest, unit, &given);
            turn_given[0] = read_one(&twist, &rest, &given);
            double wanted = reading.part == EX_AXIS_SWING ? turn_before[0] : turn_given[0];
            double apart = fabs(turn_after[0] - wanted);
            if (defined > 0.02)
                assert_near(apart < 180 ? apart : 360 - apart, 0, 2 * DEGREES / defined / defined + 1e-3);
            break;
        case EX_READING_SLIDE:
            assert_near(again[0], value[0], 1e-5);
            for (int k = 0; k < 2; k++) { /* nothing across */
                ex_reading across = {.kind = EX_READING_SLIDE, .about = {n[1], -n[0], 0}};
                if (k)
                    across.about[0] = -n[2] * n[0], across.about[1] = -n[2] * n[1], across.about[2] = 1 - n[2] * n[2];
                assert_near(read_one(&across, &rest, &local), read_one(&across, &rest, &other), 3e-6);
            }
            break;
        default:
            assert_near(again[0], value[0], 1e-6);
            int changed = 0;
            for (int c = 0; c < 3; c++)
                changed += local.scale[c] != other.scale[c];
            assert_int_equal(changed, 1);
            break;
        }
    }
}

/* Two turns in steps of a quarter of a degree, with a swing or none: the reading follows, except for one place in each
 * turn, opposite to the middle. */
static void continuous(void **state) {
    (void)state;
    const double middles[] = {0, 70, -400, 1000.5, 180};
    for (size_t k = 0; k < 5; k++)
        for (int swung = 0; swung < 2; swung++) {
            ex_reading reading = about_x;
            reading.middle = middles[k];
            const ex_transform rest = turned(50, 3, 1, 2);
            double last = 0;
            int jumps = 0;
            for (int i = 0; i <= 2880; i++) {
                ex_transform local = rest;
                if (swung)
                    write_one(&about_y, &rest, 75, &local);
                double set = i * 0.25 + 0.1;
                write_one(&reading, &rest, set, &local);
                if (i % 3 == 0)
                    negate(&local, 1);
                double now = read_one(&reading, &rest, &local);
                assert_true(now >= middles[k] - 180 - 1e-9 && now < middles[k] + 180 + 1e-9);
                assert_near(remainder(now - set, 360), 0, 2 * DEGREES);
                if (i > 0 && fabs(now - last - 0.25) > 1e-3) {
                    jumps++;
                    assert_near(now - last, 0.25 - 360, 1e-3);
                    assert_near(now, middles[k] - 180, 0.26);
                }
                last = now;
            }
            assert_int_equal(jumps, 2);
        }
}

static void half_turns(void **state) {
    (void)state;
    const ex_transform rest = ex_transform_identity();
    ex_transform local = rest;
    ex_reading reading = about_x;
    /* A tie goes to the lower, for either quaternion. */
    for (int k = 0; k < 2; k++) {
        write_one(&reading, &rest, k ? -180 : 180, &local);
        assert_true(fabsf(local.rotation[0]) == 1 && local.rotation[3] == 0);
        assert_near(read_one(&reading, &rest, &local), -180, 0);
        reading.middle = 1;
        assert_near(read_one(&reading, &rest, &local), 180, 0);
        reading.middle = 360;
        assert_near(read_one(&reading, &rest, &local), 180, 0);
        reading.middle = 0;
    }
    double a[4], b[4];
    ex_reading_read(&whole, &rest, &local, a);
    negate(&local, 1);
    ex_reading_read(&whole, &rest, &local, b);
    assert_row_near(a, b, 4, 0);
    assert_true(a[0] == 1);

    /* Half a turn about y reverses x: the turn about x is none, and writing it still gives a rotation; the turn about y
     * is then still there. */
    local = turned(180, 0, 1, 0);
    local.rotation[3] = 0;
    assert_near(read_one(&about_x, &rest, &local), 0, 0);
    write_one(&about_x, &rest, 0, &local);
    assert_near(fabs((double)local.rotation[1]), 1, 1e-7);
    write_one(&about_x, &rest, 50, &local);
    double m[12];
    oracle_matrix(&local, m);
    assert_near(m[0], -1, 1e-6);

    /* Any size of angle. */
    local = rest;
    write_one(&about_x, &rest, 3.6e17 + 64, &local);
    assert_near(read_one(&about_x, &rest, &local), 64, DEGREES);
}

static void assert_finite(const ex_transform *t) {
    float m[12];
    memcpy(m, t, 10 * sizeof(float));
    for (int i = 0; i < 10; i++)
        assert_true(isfinite(m[i]));
}

/* Parts of local that are NaN count as rest's, in reading and in writing; so does a zero rotation. */
static void no_numbers(void **state) {
    (void)state;
    uint64_t random = 9;
    const float wrong[] = {NAN, INFINITY, -INFINITY};
    const ex_reading readings[] = {
        {.kind = EX_READING_ANGLE, .about = {1, 2, 3}, .middle = 20},
        {.kind = EX_READING_ROTATION, .about = {1, 2, 3}, .part = EX_AXIS_ROTATION},
        {.kind = EX_READING_ROTATION, .about = {1, 2, 3}, .part = EX_AXIS_SWING},
        {.kind = EX_READING_ROTATION, .about = {1, 2, 3}, .part = EX_AXIS_TWIST},
        {.kind = EX_READING_SLIDE, .about = {1, 2, 3}},
        {.kind = EX_READING_STRETCH, .about = {1, 0, 0}},
    };
    for (size_t r = 0; r < 6; r++)
        for (int i = 0; i < 33; i++) {
            const ex_transform rest = random_joint(&random), sound = random_joint(&random);
            ex_transform broken = sound, expected = sound, written, as_rest;
            float *numbers = i < 9 ? broken.translation : i < 18 ? broken.scale : broken.rotation;
            int part = i < 18 ? i % 9 / 3 : (i - 18) / 3;
            if (i < 30)
                numbers[part] = wrong[i % 3];
            else
                memset(broken.rotation, 0, 16);
            if (i < 9)
                memcpy(expected.translation, rest.translation, 12);
            else if (i < 18)
                memcpy(expected.scale, rest.scale, 12);
            else
                memcpy(expected.rotation, rest.rotation, 16);
            double a[4] = {0}, b[4] = {0}, value[4] = {0.3, 0.2, -0.4, 0.7};
            ex_reading_read(&readings[r], &rest, &broken, a);
            ex_reading_read(&readings[r], &rest, &expected, b);
            assert_memory_equal(a, b, sizeof a);
            /* Values that are NaN or too large: rest. */
            written = as_rest = sound;
            value[i % ex_reading_width(&readings[r])] = (double)wrong[i % 3];
            if (i % 4 == 3)
                value[0] = value[1] = value[2] = value[3] = ex_reading_width(&readings[r]) == 4 ? 0 : 1e300;
            ex_reading_write(&readings[r], &rest, value, &written);
            assert_finite(&written);
            ex_reading_read(&readings[r], &rest, &rest, b);
            ex_reading_write(&readings[r], &rest, b, &as_rest);
            for (int c = 0; c < 3; c++) {
                assert_near((double)written.translation[c], (double)as_rest.translation[c], 1e-6);
                assert_near((double)written.scale[c], (double)as_rest.scale[c], 1e-6);
            }
            if (readings[r].kind != EX_READING_ANGLE || i % 4 != 3)
                for (int c = 0; c < 4; c++)
                    assert_near((double)written.rotation[c], (double)as_rest.rotation[c], 1e-6);
            ex_reading_read(&readings[r], &rest, &written, a);
            if (ex_reading_width(&readings[r]) == 1 && (readings[r].kind != EX_READING_ANGLE || i % 4 != 3))
                assert_near(a[0], b[0], 1e-3);
            /* Writing to NaN leaves a number. */
            written = broken;
            const double half[4] = {0.5, 0.5, 0.5, 0.5};
            ex_reading_write(&readings[r], &rest, half, &written);
            ex_reading_read(&readings[r], &rest, &written, a);
            if (ex_reading_width(&readings[r]) == 1)
                assert_near(a[0], 0.5, 1e-3);
            if (r == (i < 9 ? 4 : i < 18 ? 5 : (unsigned)i % 4))
                assert_finite(&written);
            /* An invalid rest counts as the identity. */
            ex_transform lost = rest;
            lost.rotation[i % 4] = wrong[i % 3];
            ex_reading_read(&readings[r], &lost, &sound, a);
            const ex_transform none = ex_transform_identity();
            ex_reading_read(&readings[r], &none, &sound, b);
            assert_memory_equal(a, b, sizeof(double) * (size_t)ex_reading_width(&readings[r]));
        }
    ex_reading far = readings[0];
    far.middle = NAN;
    const ex_transform rest = ex_transform_identity();
    assert_near(read_one(&far, &rest, &rest), 0, 0);
}

static int misuses;
static void count_misuse(const char *function, const char *what) {
    (void)function;
    (void)what;
    misuses++;
}

static void misuse(void **state) {
    (void)state;
    const ex_transform rest = ex_transform_identity();
    ex_transform local = turned(30, 1, 0, 0), before = local;
    ex_reading none = {.kind = EX_READING_NONE}, unknown = {.kind = EX_READING_KIND_COUNT}, flat = about_x;
    double value = 4;
    flat.about[0] = 0;
    assert_int_equal(ex_reading_width(&none), 1);
    ex_reading_read(&none, &rest, &local, &value);
    ex_reading_write(&none, &rest, &value, &local);
    assert_true(value == 4);
    ex_set_misuse_hook(count_misuse);
    misuses = 0;
    ex_reading_read(NULL, &rest, &local, &value);
    ex_reading_read(&about_x, &rest, &local, NULL);
    ex_reading_write(&about_x, NULL, &value, &local);
    ex_reading_write(&unknown, &rest, &value, &local);
    ex_reading_write(&flat, &rest, &value, &local);
    assert_int_equal(misuses, 5);
    assert_true(value == 4);
    ex_reading_read(&flat, &rest, &local, &value);
    assert_int_equal(misuses, 6);
    assert_true(value == 0);
    assert_memory_equal(&local, &before, sizeof local);
    ex_set_misuse_hook(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_hand),    cmocka_unit_test(two_angles), cmocka_unit_test(there_and_back),
        cmocka_unit_test(continuous), cmocka_unit_test(half_turns), cmocka_unit_test(no_numbers),
        cmocka_unit_test(misuse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * Readings: the values that an axis of a space takes from a joint, and the motion of the joint when such a value is
 * set.
 *
 * Everything is relative to rest: local = rest r, so r = rest^-1 local is a turn in the joint's own axes at rest, and a
 * move d is rest^-1 (t - t_rest). With n the unit direction `about`, r = swing twist: first a turn about n, then one
 * about a direction perpendicular to it. The twist is (n (r.n), r.w) divided by its length, its angle 2 atan2(r.n,
 * r.w). If the swing is a half turn, both are 0 and every twist gives the same readings: the twist then counts as none.
 *
 * Writing an angle keeps the swing and puts the turn before it, so that angles about two axes set one after the other
 * from rest are intrinsic turns in that order; if the axes are perpendicular, both read back.
 */
#include "runtime/pose/reading.inl"
#include "runtime/base/result.h"

#include <float.h>

/* ---- quaternions ---- */

static void identity(double q[4]) {
    q[0] = q[1] = q[2] = 0;
    q[3] = 1;
}

/* r = swing twist. */
static void split(const double r[4], const double n[3], double swing[4], double twist[4]) {
    double back[4];
    exi_twist(r, n, twist);
    exi_conjugate(twist, back);
    exi_quaternion_multiply(r, back, swing);
}

/* ---- angles in degrees ---- */

/* Sine and cosine of half of `degrees`. Quarter turns are subtracted in degrees, which is exact: a half turn has a
 * cosine of 0, and no angle is too large. Whole turns may change the sign of both. */
static void half_angle(double degrees, double *sine, double *cosine) {
    const double half = fmod(degrees, 360.0) / 2;
    const int quarters = (int)(half / 90);
    double s, c;
    exi_sin_cos((half - 90.0 * quarters) * 0.01745329251994329577, &s, &c);
    for (int i = quarters & 3; i > 0; i--) {
        double t = s;
        s = c;
        c = -t;
    }
    *sine = s;
    *cosine = c;
}

static bool is_sound(const ex_reading *reading, const void *a, const void *b, const void *c, const char *function) {
    if (!reading || !a || !b || !c || (unsigned)reading->kind >= EX_READING_KIND_COUNT)
        return exi_misuse(function, "no reading of a known kind, no transforms, or no value");
    return true;
}

/* ---- reading ---- */

int ex_reading_width(const ex_reading *reading) {
    return reading && reading->kind == EX_READING_ROTATION ? 4 : 1;
}

void ex_reading_read(const ex_reading *reading, const ex_transform *rest, const ex_transform *local, double *value) {
    if (!is_sound(reading, rest, local, value, __func__) || reading->kind == EX_READING_NONE)
        return;
    const ex_transform none = ex_transform_identity();
    if (!exi_reading_value(reading, exi_transform_finite(rest) ? rest : &none, local, value))
        exi_misuse(__func__, "a direction to read about that has no length");
}

/* ---- writing ---- */

static void write_turn(const exi_read_joint *j, const double r[4], ex_transform *local) {
    double q[4];
    exi_quaternion_multiply(j->rest.rotation, r, q);
    exi_normalise(q, 4);
    for (int i = 0; i < 4; i++)
        local->rotation[i] = (float)q[i];
}

static void write_angle(const exi_read_joint *j, double degrees, ex_transform *local) {
    double swing[4], twist[4], sine, cosine, r[4];
    split(j->turn, j->n, swing, twist);
    half_angle(isfinite(degrees) ? degrees : 0, &sine, &cosine);
    for (int i = 0; i < 3; i++)
        twist[i] = j->n[i] * sine;
    twist[3] = cosine;
    exi_quaternion_multiply(swing, twist, r);
    write_turn(j, r, local);
}

static void write_rotation(const exi_read_joint *j, int part, const double *value, ex_transform *local) {
    double given[4], r[4], swing[4], twist[4], unused[4];
    bool finite = true;
    for (int i = 0; i < 4; i++) {
        given[i] = value[i];
        finite = finite && isfinite(value[i]);
    }
    if (!finite || !exi_normalise(given, 4))
        identity(given);
    if (part != EX_AXIS_SWING && part != EX_AXIS_TWIST) {
        write_turn(j, given, local);
        return;
    }
    split(part == EX_AXIS_SWING ? given : j->turn, j->n, swing, unused);
    split(part == EX_AXIS_TWIST ? given : j->turn, j->n, unused, twist);
    exi_quaternion_multiply(swing, twist, r);
    write_turn(j, r, local);
}

/* Returns value, or rest if it is not finite or too large for a float. */
static double sound(double value, double rest) {
    return fabs(value) <= (double)FLT_MAX ? value : rest;
}

static void write_slide(const exi_read_joint *j, double value, ex_transform *local) {
    const double further = sound(value * j->unit, 0) - exi_dot3(j->move, j->n);
    double along[3], by[3];
    for (int i = 0; i < 3; i++)
        along[i] = j->n[i] * further;
    exi_rotate(j->rest.rotation, along, by);
    for (int i = 0; i < 3; i++)
        local->translation[i] = (float)sound(j->local.translation[i] + by[i], j->rest.translation[i]);
}

static void write_stretch(const exi_read_joint *j, double value, ex_transform *local) {
    for (int i = 0; i < 3; i++)
        local->scale[i] = (float)j->local.scale[i];
    local->scale[j->own] = (float)sound(j->rest.scale[j->own] * value, j->rest.scale[j->own]);
}

void ex_reading_write(const ex_reading *reading, const ex_transform *rest, const double *value, ex_transform *local) {
    exi_read_joint j;
    if (!is_sound(reading, rest, local, value, __func__) || reading->kind == EX_READING_NONE)
        return;
    const ex_transform none = ex_transform_identity();
    if (!exi_reading_open(reading, exi_transform_finite(rest) ? rest : &none, local, &j)) {
        exi_misuse(__func__, "a direction to write about that has no length");
        return;
    }
    switch (reading->kind) {
    case EX_READING_ANGLE:
        write_angle(&j, *value, local);
        break;
    case EX_READING_ROTATION:
        write_rotation(&j, reading->part, value, local);
        break;
    case EX_READING_SLIDE:
        write_slide(&j, *value, local);
        break;
    default: /* stretch */
        write_stretch(&j, *value, local);
        break;
    }
}

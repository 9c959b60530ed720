/*
 * Readings: the numbers that an axis of a space takes from a joint, and how setting such a number moves the joint.
 *
 * All is relative to rest: local = rest r, so r = rest^-1 local is a turn in the joint's own axes at rest, and a move d
 * is rest^-1 (t - t_rest). With n the unit direction `about`, r = swing twist: first a turn about n, then one about a
 * direction perpendicular to it. The twist is (n (r.n), r.w) over its length, its angle 2 atan2(r.n, r.w). Where the
 * swing is a half turn both are 0 and every twist gives the same readings: it then counts as none.
 *
 * An angle that is written goes behind the swing that is there, so that angles about two axes set one after the other
 * from rest are intrinsic turns in that order; where the axes are perpendicular, both read back.
 */
#include "runtime/base/functions.inl"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"
#include "runtime/pose/transform.h"

#include <exemplar/weigh.h>

#include <float.h>

/* ---- quaternions ---- */

static void conjugate(const double q[4], double out[4]) {
    for (int i = 0; i < 3; i++)
        out[i] = -q[i];
    out[3] = q[3];
}

static void identity(double q[4]) {
    q[0] = q[1] = q[2] = 0;
    q[3] = 1;
}

/* r = swing twist. */
static void split(const double r[4], const double n[3], double swing[4], double twist[4]) {
    double back[4];
    exi_twist(r, n, twist);
    conjugate(twist, back);
    exi_quaternion_multiply(r, back, swing);
}

/* Of q and -q the one with w > 0; where w is 0, with the first of x y z that is not 0 positive. */
static void choose_sign(double q[4]) {
    double first = q[3];
    for (int i = 0; i < 3 && first == 0; i++)
        first = q[i];
    for (int i = 0; i < 4 && first < 0; i++)
        q[i] = -q[i];
}

/* ---- angles in degrees ---- */

/* Twice the angle of (sine, cosine), in [-180, 180]; the opposite pair is the same turn. */
static double degrees_of(double sine, double cosine) {
    const double half = exi_angle(fabs(sine), fabs(cosine)) * 57.29577951308232088;
    return (sine < 0) != (cosine < 0) ? -2 * half : 2 * half;
}

/* Sine and cosine of half of so many degrees. Quarters are taken off in degrees, where that is exact: a half turn has a
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

/* The turn nearest to middle: in [middle - 180, middle + 180). */
static double on_turn(double degrees, double middle) {
    if (!isfinite(middle))
        return degrees;
    return degrees - 360.0 * floor((degrees - middle + 180.0) / 360.0);
}

/* ---- what both directions need ---- */

typedef struct joint {
    exi_local rest, local;
    double n[3];    /* `about`, of length 1 */
    double unit;    /* of a slide */
    int own;        /* the axis of a stretch: where `about` is largest */
    double turn[4]; /* r */
    double move[3]; /* d */
} joint;

/* False where the reading has no direction and needs one. */
static bool open_joint(const ex_reading *reading, const ex_transform *rest, const ex_transform *local, joint *j) {
    const ex_transform none = ex_transform_identity();
    const ex_transform *sound = exi_transform_finite(rest) ? rest : &none;
    exi_local_read(sound, &none, &j->rest);
    exi_local_read(local, sound, &j->local);
    j->own = 0;
    for (int i = 0; i < 3; i++) {
        j->n[i] = reading->about[i];
        j->own = fabs(j->n[i]) > fabs(j->n[j->own]) ? i : j->own;
    }
    j->unit = reading->unit != 0 && isfinite(reading->unit) ? reading->unit : 1;
    double back[4], moved[3];
    conjugate(j->rest.rotation, back);
    exi_quaternion_multiply(back, j->local.rotation, j->turn);
    exi_normalise(j->turn, 4);
    exi_subtract(j->local.translation, j->rest.translation, moved);
    exi_rotate(back, moved, j->move);
    if (exi_normalise(j->n, 3))
        return true;
    j->n[0] = j->n[1] = j->n[2] = 0;
    return reading->kind == EX_READING_ROTATION && reading->part != EX_AXIS_SWING && reading->part != EX_AXIS_TWIST;
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
    joint j;
    double twist[4];
    if (!is_sound(reading, rest, local, value, __func__) || reading->kind == EX_READING_NONE)
        return;
    if (!open_joint(reading, rest, local, &j))
        exi_misuse(__func__, "a direction to read about that has no length");
    switch (reading->kind) {
    case EX_READING_ANGLE:
        exi_twist(j.turn, j.n, twist);
        *value = on_turn(degrees_of(exi_dot3(twist, j.n), twist[3]), reading->middle);
        break;
    case EX_READING_ROTATION:
        for (int i = 0; i < 4; i++)
            value[i] = j.turn[i];
        choose_sign(value);
        break;
    case EX_READING_SLIDE:
        *value = exi_dot3(j.move, j.n) / j.unit;
        break;
    default: /* stretch */
        *value = j.rest.scale[j.own] != 0 ? j.local.scale[j.own] / j.rest.scale[j.own] : 1;
        break;
    }
}

/* ---- writing ---- */

static void write_turn(const joint *j, const double r[4], ex_transform *local) {
    double q[4];
    exi_quaternion_multiply(j->rest.rotation, r, q);
    exi_normalise(q, 4);
    for (int i = 0; i < 4; i++)
        local->rotation[i] = (float)q[i];
}

static void write_angle(const joint *j, double degrees, ex_transform *local) {
    double swing[4], twist[4], sine, cosine, r[4];
    split(j->turn, j->n, swing, twist);
    half_angle(isfinite(degrees) ? degrees : 0, &sine, &cosine);
    for (int i = 0; i < 3; i++)
        twist[i] = j->n[i] * sine;
    twist[3] = cosine;
    exi_quaternion_multiply(swing, twist, r);
    write_turn(j, r, local);
}

static void write_rotation(const joint *j, int part, const double *value, ex_transform *local) {
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

/* A value that is none, or that no float can hold, is that of rest. */
static double sound(double value, double rest) {
    return fabs(value) <= (double)FLT_MAX ? value : rest;
}

static void write_slide(const joint *j, double value, ex_transform *local) {
    const double further = sound(value * j->unit, 0) - exi_dot3(j->move, j->n);
    double along[3], by[3];
    for (int i = 0; i < 3; i++)
        along[i] = j->n[i] * further;
    exi_rotate(j->rest.rotation, along, by);
    for (int i = 0; i < 3; i++)
        local->translation[i] = (float)sound(j->local.translation[i] + by[i], j->rest.translation[i]);
}

static void write_stretch(const joint *j, double value, ex_transform *local) {
    for (int i = 0; i < 3; i++)
        local->scale[i] = (float)j->local.scale[i];
    local->scale[j->own] = (float)sound(j->rest.scale[j->own] * value, j->rest.scale[j->own]);
}

void ex_reading_write(const ex_reading *reading, const ex_transform *rest, const double *value, ex_transform *local) {
    joint j;
    if (!is_sound(reading, rest, local, value, __func__) || reading->kind == EX_READING_NONE)
        return;
    if (!open_joint(reading, rest, local, &j)) {
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

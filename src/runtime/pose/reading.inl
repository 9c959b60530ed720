/*
 * Readings: the values that an axis of a space takes from a joint (reading.c has the equations). Common subset of C and
 * CUDA.
 */
#ifndef EXI_READING_INL
#define EXI_READING_INL

#include "runtime/pose/local.inl"

#include <exemplar/weigh.h>

/* Data of a joint for reading and writing. */
typedef struct exi_read_joint {
    exi_local rest, local;
    double n[3];    /* `about`, of unit length */
    double unit;    /* of a slide */
    int own;        /* index of the stretched axis: the largest component of `about` */
    double turn[4]; /* r */
    double move[3]; /* d */
} exi_read_joint;

/* v[i], without taking an address. */
EXI_INLINE double exi_pick3(const double v[3], int i) {
    return i == 0 ? v[0] : i == 1 ? v[1] : v[2];
}

/* rest must be finite. Returns false if the reading needs a direction and has none. */
EXI_INLINE bool exi_reading_open(const ex_reading *reading, const ex_transform *rest, const ex_transform *local,
                                 exi_read_joint *j) {
    exi_local_read(rest, rest, &j->rest);
    exi_local_read(local, rest, &j->local);
    j->own = 0;
    for (int i = 0; i < 3; i++) {
        j->n[i] = reading->about[i];
        j->own = fabs(j->n[i]) > fabs(exi_pick3(j->n, j->own)) ? i : j->own;
    }
    j->unit = reading->unit != 0 && isfinite(reading->unit) ? reading->unit : 1;
    double back[4], moved[3];
    exi_conjugate(j->rest.rotation, back);
    exi_quaternion_multiply(back, j->local.rotation, j->turn);
    exi_normalise(j->turn, 4);
    exi_subtract(j->local.translation, j->rest.translation, moved);
    exi_rotate(back, moved, j->move);
    if (exi_normalise(j->n, 3))
        return true;
    j->n[0] = j->n[1] = j->n[2] = 0;
    return reading->kind == EX_READING_ROTATION && reading->part != EX_AXIS_SWING && reading->part != EX_AXIS_TWIST;
}

/* Chooses between q and -q: w > 0, or if w is 0, the first of x y z that is not 0 positive. */
EXI_INLINE void exi_choose_sign(double q[4]) {
    double first = q[3];
    for (int i = 0; i < 3; i++)
        first = first == 0 ? q[i] : first;
    for (int i = 0; i < 4; i++)
        q[i] = first < 0 ? -q[i] : q[i];
}

/* Twice the angle of (sine, cosine), in degrees in [-180, 180]; the opposite pair is the same turn. */
EXI_INLINE double exi_degrees_of(double sine, double cosine) {
    const double half = exi_angle(fabs(sine), fabs(cosine)) * 57.29577951308232088;
    return (sine < 0) != (cosine < 0) ? -2 * half : 2 * half;
}

/* The same turn in [middle - 180, middle + 180). */
EXI_INLINE double exi_on_turn(double degrees, double middle) {
    if (!isfinite(middle))
        return degrees;
    return degrees - 360.0 * floor((degrees - middle + 180.0) / 360.0);
}

/* ex_reading_read of a reading that is not NONE; rest must be finite. Returns false if it needs a direction and has
 * none. */
EXI_INLINE bool exi_reading_value(const ex_reading *reading, const ex_transform *rest, const ex_transform *local,
                                  double *value) {
    exi_read_joint j;
    double twist[4], turn[4];
    const bool sound = exi_reading_open(reading, rest, local, &j);
    if (reading->kind == EX_READING_ANGLE) {
        exi_twist(j.turn, j.n, twist);
        *value = exi_on_turn(exi_degrees_of(exi_dot3(twist, j.n), twist[3]), reading->middle);
    } else if (reading->kind == EX_READING_ROTATION) {
        for (int i = 0; i < 4; i++)
            turn[i] = j.turn[i];
        exi_choose_sign(turn);
        for (int i = 0; i < 4; i++)
            value[i] = turn[i];
    } else if (reading->kind == EX_READING_SLIDE) {
        *value = exi_dot3(j.move, j.n) / j.unit;
    } else { /* stretch */
        const double at_rest = exi_pick3(j.rest.scale, j.own);
        *value = at_rest != 0 ? exi_pick3(j.local.scale, j.own) / at_rest : 1;
    }
    return sound;
}

#endif

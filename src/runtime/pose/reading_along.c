/*
 * Derivatives of readings by the product rule. With r = rest^-1 local, n the unit direction, and u = (n/2, 0) as a
 * quaternion: a turn about n by an angle moves r along r u; the angle 2 atan2(s, c), s = r.n, c = r.w, moves along
 * 2 (c ds - s dc) / (s^2 + c^2); a quaternion g scaled to unit length along (dg - g (g.dg)) / |g|.
 */
#include "runtime/pose/reading_along.h"
#include "runtime/pose/reading.inl"

#include <string.h>

static const double radians = 0.01745329251994329577;

/* r = swing twist, and its parts as r moves along dr. A half turn has no twist, and stays so. */
typedef struct parts {
    double swing[4], twist[4], by_swing[4], by_twist[4];
} parts;

static void split(const double r[4], const double dr[4], const double n[3], parts *p) {
    const double s = exi_dot3(r, n), c = r[3], ds = exi_dot3(dr, n), dc = dr[3], length_sq = s * s + c * c;
    double back[4], by_back[4], other[4];
    exi_twist(r, n, p->twist);
    memset(p->by_twist, 0, sizeof p->by_twist);
    if (length_sq >= 1e-24) { /* (s, c) over its length moves across itself */
        const double across = (c * ds - s * dc) / (length_sq * sqrt(length_sq));
        for (int i = 0; i < 3; i++)
            p->by_twist[i] = n[i] * c * across;
        p->by_twist[3] = -s * across;
    }
    exi_conjugate(p->twist, back);
    exi_conjugate(p->by_twist, by_back);
    exi_quaternion_multiply(r, back, p->swing);
    exi_quaternion_multiply(dr, back, p->by_swing);
    exi_quaternion_multiply(r, by_back, other);
    for (int i = 0; i < 4; i++)
        p->by_swing[i] += other[i];
}

/* d(a b) = da b + a db */
static void product_along(const double a[4], const double da[4], const double b[4], const double db[4], double out[4]) {
    double second[4];
    exi_quaternion_multiply(da, b, out);
    exi_quaternion_multiply(a, db, second);
    for (int i = 0; i < 4; i++)
        out[i] += second[i];
}

/* q and -q are the same rotation: derivatives dq of q become those of `other`, which is one of the two. */
static void copy_side(const double q[4], const double other[4], const double dq[4], double out[4]) {
    double side = 0;
    for (int i = 0; i < 4; i++)
        side += q[i] * other[i];
    for (int i = 0; i < 4; i++)
        out[i] = side < 0 ? -dq[i] : dq[i];
}

/* Derivatives of r by number k of a quaternion that replaces it, or its swing or twist. */
static void rotation_along(const exi_read_joint *j, int part, int k, double dr[4]) {
    static const double still[4] = {0, 0, 0, 0};
    double given[4], by[4];
    memcpy(given, j->turn, sizeof given);
    exi_choose_sign(given); /* as it is read */
    for (int i = 0; i < 4; i++)
        by[i] = (i == k) - given[i] * given[k];
    if (part != EX_AXIS_SWING && part != EX_AXIS_TWIST) {
        copy_side(given, j->turn, by, dr);
        return;
    }
    parts moved, kept;
    split(given, by, j->n, &moved);
    split(j->turn, still, j->n, &kept);
    if (part == EX_AXIS_SWING)
        product_along(moved.swing, moved.by_swing, kept.twist, still, dr);
    else
        product_along(kept.swing, still, moved.twist, moved.by_twist, dr);
    double r[4], same[4];
    exi_quaternion_multiply(part == EX_AXIS_SWING ? moved.swing : kept.swing,
                            part == EX_AXIS_SWING ? kept.twist : moved.twist, r);
    copy_side(r, j->turn, dr, same);
    memcpy(dr, same, sizeof same);
}

static bool open_joint(const ex_reading *reading, const ex_transform *rest, const ex_transform *local,
                       exi_read_joint *j) {
    const ex_transform none = ex_transform_identity();
    return reading->kind != EX_READING_NONE &&
           exi_reading_open(reading, exi_transform_finite(rest) ? rest : &none, local, j);
}

void exi_reading_write_along(const ex_reading *reading, const ex_transform *rest, const ex_transform *local, int number,
                             exi_local *along) {
    exi_read_joint j;
    *along = (exi_local){.scale = {0}};
    if (!open_joint(reading, rest, local, &j))
        return;
    if (reading->kind == EX_READING_SLIDE) {
        exi_rotate(j.rest.rotation, j.n, along->translation);
        for (int i = 0; i < 3; i++)
            along->translation[i] *= j.unit;
    } else if (reading->kind == EX_READING_STRETCH) {
        along->scale[j.own] = j.rest.scale[j.own];
    } else {
        double dr[4];
        if (reading->kind == EX_READING_ANGLE) {
            const double u[4] = {0.5 * radians * j.n[0], 0.5 * radians * j.n[1], 0.5 * radians * j.n[2], 0};
            exi_quaternion_multiply(j.turn, u, dr);
        } else {
            rotation_along(&j, reading->part, number, dr);
        }
        exi_quaternion_multiply(j.rest.rotation, dr, along->rotation);
    }
}

void exi_reading_read_along(const ex_reading *reading, const ex_transform *rest, const ex_transform *local,
                            const exi_local *along, double *value) {
    exi_read_joint j;
    memset(value, 0, (reading->kind == EX_READING_ROTATION ? 4 : 1) * sizeof *value);
    if (!open_joint(reading, rest, local, &j))
        return;
    double back[4], dr[4], moved[3];
    exi_conjugate(j.rest.rotation, back);
    exi_quaternion_multiply(back, along->rotation, dr);
    if (reading->kind == EX_READING_ANGLE) {
        const double s = exi_dot3(j.turn, j.n), c = j.turn[3], length_sq = s * s + c * c;
        *value = length_sq >= 1e-24 ? 2 * (c * exi_dot3(dr, j.n) - s * dr[3]) / length_sq / radians : 0;
    } else if (reading->kind == EX_READING_ROTATION) {
        double chosen[4];
        memcpy(chosen, j.turn, sizeof chosen);
        exi_choose_sign(chosen);
        copy_side(j.turn, chosen, dr, value);
    } else if (reading->kind == EX_READING_SLIDE) {
        exi_rotate(back, along->translation, moved);
        *value = exi_dot3(moved, j.n) / j.unit;
    } else { /* stretch */
        const double at_rest = j.rest.scale[j.own];
        *value = at_rest != 0 ? along->scale[j.own] / at_rest : 0;
    }
}

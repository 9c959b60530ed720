/*
 * Finds the pose of a body from markers whose sites are known, with certainty or some probability.
 *
 * A part p is at t_p, turned by R_p; its sites are predicted at t_p + R_p u_s. Minimises over all t_p and R_p:
 *
 *   sum over matches of weight |o_f - t_p - R_p u_s|^2 / variance_s
 *     + |t_c - t_p - R_p d_c|^2 / slack^2          a child's joint where the parent has it
 *     + |R_p a_c x R_c a_c|^2 / tilt^2             a hinge's axis along the parent's
 *     + (beyond the hinge's range)^2 / RANGE^2
 *     + |rotation of a joint from the start|^2 / BEND^2
 *
 * With slack and tilt near 0 this is the articulated body; with the usual values before bones are fitted it tolerates a
 * shoulder that is three centimetres off.
 */
#include "author/scan/label/label.h"

#include "runtime/base/vector.h"

#include <string.h>

#define BEND 0.9 /* radians */
/* Radians. At 0.15, an arm with elbow and wrist turned the wrong way won by seven false markers while the true ones
 * were hidden. */
#define RANGE 0.1
#define TURN  6.283185307179586

/* ---- rotations ---- */

static void conjugate(const double q[4], double out[4]) {
    for (int i = 0; i < 3; i++)
        out[i] = -q[i];
    out[3] = q[3];
}

static void from_vector(const double v[3], double q[4]) {
    const double angle = sqrt(exi_dot3(v, v)), half = angle > 1e-8 ? sin(0.5 * angle) / angle : 0.5;
    for (int i = 0; i < 3; i++)
        q[i] = half * v[i];
    q[3] = cos(0.5 * angle);
}

static void to_vector(const double q[4], double v[3]) {
    const double sine = sqrt(exi_dot3(q, q)), sign = q[3] < 0 ? -1 : 1;
    const double scale = sine > 1e-12 ? 2 * atan2(sine, sign * q[3]) / sine : 2;
    for (int i = 0; i < 3; i++)
        v[i] = sign * scale * q[i];
}

/* ---- springs ---- */

typedef struct springs {
    double centre[3], arm[3]; /* offset of the joint; R_p d */
    double axis[3], off[3];   /* the parent's axis, and the deviation of the child's */
    double beyond;            /* excess over the hinge's range, radians */
    double bend[3];           /* from the start */
} springs;

static void find_springs(const exi_label_body *body, const exi_label_place *start, const exi_label_place *places, int p,
                         springs *s) {
    const exi_label_part *part = &body->parts[p];
    double was[4], expected[4], back[4], turned[4];
    *s = (springs){.beyond = 0};
    exi_label_turn(body, p, start, was);
    if (part->parent < 0) {
        memcpy(expected, was, sizeof was);
    } else {
        const exi_label_place *parent = &places[part->parent];
        exi_rotate(parent->rotation, part->centre, s->arm);
        for (int i = 0; i < 3; i++)
            s->centre[i] = places[p].at[i] - parent->at[i] - s->arm[i];
        exi_quaternion_multiply(parent->rotation, was, expected);
        if (part->freedom == EX_FREEDOM_HINGE) {
            double own[3], turn[4];
            exi_rotate(parent->rotation, part->axis, s->axis);
            exi_rotate(places[p].rotation, part->axis, own);
            exi_cross(s->axis, own, s->off);
            exi_label_turn(body, p, places, turn);
            double angle = 2 * atan2(exi_dot3(turn, part->axis), turn[3]);
            angle -= TURN * nearbyint(angle / (TURN));
            if (part->least < part->most && angle > part->most)
                s->beyond = angle - part->most;
            else if (part->least < part->most && angle < part->least)
                s->beyond = angle - part->least;
        }
    }
    conjugate(expected, back);
    exi_quaternion_multiply(places[p].rotation, back, turned);
    to_vector(turned, s->bend);
}

double exi_label_strain(const exi_label_body *body, const exi_label_place *start, const exi_label_place *places,
                        int part_count) {
    const double slack = body->slack, tilt = body->tilt;
    double sum = 0;
    for (int p = 0; p < part_count; p++) {
        springs s;
        find_springs(body, start, places, p, &s);
        sum += exi_dot3(s.centre, s.centre) / (slack * slack) + exi_dot3(s.off, s.off) / (tilt * tilt) +
               s.beyond * s.beyond / (RANGE * RANGE) + exi_dot3(s.bend, s.bend) / (BEND * BEND);
    }
    return 0.5 * sum;
}

/* ---- the step ---- */

size_t exi_label_step_size(const exi_label_body *body) {
    const size_t n = 6 * (size_t)body->part_count;
    return n * n + n * (n + 1);
}

/* Adds weight J^T J and weight J^T r of three rows over the unknowns of up to two parts. */
typedef struct rows {
    int first[2]; /* unknowns; -1: none */
    double j[2][3][6];
    double r[3];
} rows;

static void add_rows(const rows *k, double weight, int n, double *a) {
    for (int x = 0; x < 2; x++)
        for (int c = 0; k->first[x] >= 0 && c < 6; c++) {
            double *row = a + (size_t)(k->first[x] + c) * (size_t)(n + 1);
            for (int y = 0; y < 2; y++)
                for (int d = 0; k->first[y] >= 0 && d < 6; d++) {
                    double sum = 0;
                    for (int i = 0; i < 3; i++)
                        sum += k->j[x][i][c] * k->j[y][i][d];
                    row[k->first[y] + d] += weight * sum;
                }
            for (int i = 0; i < 3; i++)
                row[n] += weight * k->j[x][i][c] * k->r[i];
        }
}

/* Sets the rows of w x v: minus the cross product matrix of v. */
static void set_turning(double j[3][6], const double v[3], double sign) {
    j[0][1] = sign * v[2];
    j[0][2] = -sign * v[1];
    j[1][0] = -sign * v[2];
    j[1][2] = sign * v[0];
    j[2][0] = sign * v[1];
    j[2][1] = -sign * v[0];
}

static void add_match(const exi_label_body *body, const exi_label_place *place, const exi_label_match *match,
                      double widen, int first, int n, double *a) {
    const exi_label_site *site = &body->sites[match->site];
    rows k = {.first = {first, -1}};
    double arm[3];
    exi_rotate(place->rotation, site->local, arm);
    set_turning(k.j[0], arm, 1);
    for (int i = 0; i < 3; i++) {
        k.j[0][i][3 + i] = 1;
        k.r[i] = body->def->found[match->found].position[i] - place->at[i] - arm[i];
    }
    add_rows(&k, match->weight / (site->variance * widen), n, a);
}

static void add_springs(const exi_label_body *body, const exi_label_place *start, const exi_label_place *places, int p,
                        int n, double *a) {
    const exi_label_part *part = &body->parts[p];
    const double slack = body->slack, tilt = body->tilt;
    const int parent = part->parent < 0 ? -1 : 6 * part->parent;
    springs s;
    find_springs(body, start, places, p, &s);
    rows bend = {.first = {6 * p, parent}};
    for (int i = 0; i < 3; i++) {
        bend.j[0][i][i] = 1;
        bend.j[1][i][i] = -1;
        bend.r[i] = -s.bend[i];
    }
    add_rows(&bend, 1 / (BEND * BEND), n, a);
    if (parent < 0)
        return;
    rows centre = {.first = {6 * p, parent}};
    for (int i = 0; i < 3; i++) {
        centre.j[0][i][3 + i] = 1;
        centre.j[1][i][3 + i] = -1;
        centre.r[i] = -s.centre[i];
    }
    set_turning(centre.j[1], s.arm, -1);
    add_rows(&centre, 1 / (slack * slack), n, a);
    if (part->freedom != EX_FREEDOM_HINGE)
        return;
    rows off = {.first = {6 * p, parent}}, beyond = {.first = {6 * p, parent}};
    for (int i = 0; i < 3; i++) {
        for (int c = 0; c < 3; c++) {
            off.j[0][i][c] = (i == c) - s.axis[i] * s.axis[c];
            off.j[1][i][c] = -off.j[0][i][c];
        }
        off.r[i] = -s.off[i];
        beyond.j[0][0][i] = s.axis[i];
        beyond.j[1][0][i] = -s.axis[i];
    }
    add_rows(&off, 1 / (tilt * tilt), n, a);
    beyond.r[0] = -s.beyond;
    if (s.beyond != 0)
        add_rows(&beyond, 1 / (RANGE * RANGE), n, a);
}

/* Solves in place by Cholesky: a [n][n + 1]; its lower half becomes the factor and its last column the solution. */
static bool solve(double *a, int n) {
    const size_t width = (size_t)n + 1;
    for (int i = 0; i < n; i++) {
        double *row = a + (size_t)i * width;
        for (int j = 0; j <= i; j++) {
            const double *other = a + (size_t)j * width;
            double sum = row[j];
            for (int k = 0; k < j; k++)
                sum -= row[k] * other[k];
            if (i > j)
                row[j] = sum / other[j];
            else if (!(sum > 0))
                return false;
            else
                row[i] = sqrt(sum);
        }
        for (int k = 0; k < i; k++)
            row[n] -= row[k] * a[(size_t)k * width + (size_t)n];
        row[n] /= row[i];
    }
    for (int i = n - 1; i >= 0; i--) {
        for (int k = i + 1; k < n; k++)
            a[(size_t)i * width + (size_t)n] -= a[(size_t)k * width + (size_t)i] * a[(size_t)k * width + (size_t)n];
        a[(size_t)i * width + (size_t)n] /= a[(size_t)i * width + (size_t)i];
    }
    return true;
}

/* Computes the inverse from that factor. */
static void invert(const double *a, int n, double *inverse) {
    const size_t width = (size_t)n + 1;
    for (int c = 0; c < n; c++) {
        double *x = inverse + (size_t)c * (size_t)n; /* a column, and by symmetry a row */
        for (int i = 0; i < n; i++) {
            double sum = i == c;
            for (int k = c; k < i; k++)
                sum -= a[(size_t)i * width + (size_t)k] * x[k];
            x[i] = i < c ? 0 : sum / a[(size_t)i * width + (size_t)i];
        }
        for (int i = n - 1; i >= 0; i--) {
            for (int k = i + 1; k < n; k++)
                x[i] -= a[(size_t)k * width + (size_t)i] * x[k];
            x[i] /= a[(size_t)i * width + (size_t)i];
        }
    }
}

double exi_label_step(const exi_label_body *body, const exi_label_place *start, const exi_label_match *matches,
                      int match_count, double widen, int part_count, exi_label_place *places, bool inverse,
                      double *work) {
    const int n = 6 * part_count;
    double *a = work + (size_t)n * (size_t)n, went = 0;
    memset(a, 0, (size_t)n * ((size_t)n + 1) * sizeof *a);
    for (int i = 3; i < 6; i++)
        a[(size_t)i * (size_t)(n + 1) + (size_t)i] = 0.1; /* three metres: the base is near the markers */
    for (int m = 0; m < match_count; m++) {
        const int part = body->sites[matches[m].site].part;
        if (part < part_count)
            add_match(body, &places[part], &matches[m], widen, 6 * part, n, a);
    }
    for (int p = 0; p < part_count; p++)
        add_springs(body, start, places, p, n, a);
    if (!solve(a, n))
        return -1;
    for (int p = 0; p < part_count; p++) {
        double step[6], turn[4], size = 0;
        for (int i = 0; i < 6; i++) {
            step[i] = a[(size_t)(6 * p + i) * (size_t)(n + 1) + (size_t)n];
            size = fabs(step[i]) > size ? fabs(step[i]) : size;
        }
        went = size > went ? size : went;
        from_vector(step, turn);
        exi_quaternion_multiply(turn, places[p].rotation, places[p].rotation);
        exi_normalise(places[p].rotation, 4);
        for (int i = 0; i < 3; i++)
            places[p].at[i] += step[3 + i];
    }
    if (inverse)
        invert(a, n, work);
    return went;
}

void exi_label_part_step(const exi_label_body *body, int part, const exi_label_place *hung,
                         const exi_label_match *matches, int match_count, double widen, exi_label_place *place) {
    double a[6 * 7] = {0}, turn[4], step[6];
    for (int m = 0; m < match_count; m++)
        add_match(body, place, &matches[m], widen, 0, 6, a);
    for (int i = 0; i < 3; i++) { /* the centre at its attachment; likewise a hinge's axis */
        a[(size_t)(3 + i) * 8] += 1 / (body->slack * body->slack);
        a[(size_t)(3 + i) * 7 + 6] += (hung->at[i] - place->at[i]) / (body->slack * body->slack);
        a[(size_t)i * 8] += 1e-3;
    }
    if (body->parts[part].freedom == EX_FREEDOM_HINGE) {
        rows off = {.first = {0, -1}};
        double axis[3], own[3];
        exi_rotate(hung->rotation, body->parts[part].axis, axis);
        exi_rotate(place->rotation, body->parts[part].axis, own);
        exi_cross(own, axis, off.r);
        for (int i = 0; i < 3; i++)
            for (int c = 0; c < 3; c++)
                off.j[0][i][c] = (i == c) - axis[i] * axis[c];
        add_rows(&off, 1 / (body->tilt * body->tilt), 6, a);
    }
    if (!solve(a, 6))
        return;
    for (int i = 0; i < 6; i++)
        step[i] = a[i * 7 + 6];
    from_vector(step, turn);
    exi_quaternion_multiply(turn, place->rotation, place->rotation);
    exi_normalise(place->rotation, 4);
    for (int i = 0; i < 3; i++)
        place->at[i] += step[3 + i];
}

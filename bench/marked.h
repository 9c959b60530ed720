/*
 * bench/marked.h - a synthetic upper body with painted markers, and the markers seen by scans of it in many poses:
 * shared by the measurement of the fit, its peer, and tests. Common subset of C and C++; plain arrays, metres,
 * quaternions x y z w.
 *
 * Joints as in table 2 of Allen, Curless, Popovic 2002, only the left side: hips, waist, abdomen, clavicle, shoulder,
 * elbow, forearm, wrist. A third of the scans move the arm, a third the shoulder, the rest the torso; other joints stay
 * as in scan 0, the reference, in which none is turned.
 */
#ifndef EXEMPLAR_BENCH_MARKED_H
#define EXEMPLAR_BENCH_MARKED_H

#include <math.h>
#include <string.h>

enum { MARKED_JOINTS = 8, MARKED_SITES = 160, MARKED_SCANS = 128 };

/* Parents; degrees of freedom: 6 base, 3 ball, 1 hinge. */
static const int marked_parents[MARKED_JOINTS] = {-1, 0, 1, 2, 3, 4, 5, 6};
static const int marked_freedoms[MARKED_JOINTS] = {6, 3, 3, 3, 3, 1, 1, 1};

typedef struct marked_body {
    double translations[MARKED_JOINTS][3], axes[MARKED_JOINTS][3]; /* true values */
    double begins[MARKED_JOINTS][3], begin_axes[MARKED_JOINTS][3]; /* initial guesses */
    int site_count;
    int joints[MARKED_SITES];
    double locals[MARKED_SITES][3];
    double along[MARKED_SITES]; /* 0 at its joint to 1 at the next */
    double slides[MARKED_SITES][3];
    int scan_count;
    double bases[MARKED_SCANS][3];
    double turns[MARKED_SCANS][MARKED_JOINTS][4];
    double angles[MARKED_SCANS][MARKED_JOINTS]; /* of hinges, radians */
    int locked[MARKED_SCANS][MARKED_JOINTS];
    double seen[MARKED_SCANS][MARKED_SITES][3];
    int visible[MARKED_SCANS][MARKED_SITES]; /* 0 not, 1 yes, 2 falsely */
    /* Initial poses and local positions, if made by marked_begin. */
    double begin_bases[MARKED_SCANS][3], begin_turns[MARKED_SCANS][MARKED_JOINTS][4];
    double begin_angles[MARKED_SCANS][MARKED_JOINTS], begin_locals[MARKED_SITES][3];
} marked_body;

typedef struct marked_options {
    int scan_count, arm_sites, torso_sites; /* sites per joint: from clavicle to wrist, and from hips to abdomen */
    double noise;                           /* metres, one standard deviation per coordinate */
    double missing, wrong;                  /* fractions of the sightings */
    double soft;                            /* metres that skin slides near a bent joint, at most */
    int still_clavicle;                     /* true if the clavicle is never turned */
    unsigned seed;
} marked_options;

static inline double marked_random(unsigned *seed) {
    *seed = *seed * 1664525u + 1013904223u;
    unsigned x = *seed;
    x ^= x >> 15;
    x *= 0x2C1B3C6Du;
    x ^= x >> 12;
    return (double)(x >> 1) / 2147483648.0;
}

static inline double marked_between(unsigned *seed, double low, double high) {
    return low + (high - low) * marked_random(seed);
}

/* Nearly normal: the sum of twelve uniform numbers. */
static inline double marked_normal(unsigned *seed) {
    double sum = -6;
    for (int i = 0; i < 12; i++)
        sum += marked_random(seed);
    return sum;
}

static inline void marked_turn(const double w[3], double q[4]) {
    const double angle = sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]), s = angle > 0 ? sin(angle / 2) / angle : 0;
    for (int i = 0; i < 3; i++)
        q[i] = s * w[i];
    q[3] = cos(angle / 2);
}

static inline void marked_multiply(const double a[4], const double b[4], double out[4]) {
    const double r[4] = {
        a[3] * b[0] + a[0] * b[3] + a[1] * b[2] - a[2] * b[1], a[3] * b[1] + a[1] * b[3] + a[2] * b[0] - a[0] * b[2],
        a[3] * b[2] + a[2] * b[3] + a[0] * b[1] - a[1] * b[0], a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2]};
    memcpy(out, r, sizeof r);
}

static inline void marked_rotate(const double q[4], const double v[3], double out[3]) {
    const double t[3] = {2 * (q[1] * v[2] - q[2] * v[1]), 2 * (q[2] * v[0] - q[0] * v[2]),
                         2 * (q[0] * v[1] - q[1] * v[0])};
    const double r[3] = {v[0] + q[3] * t[0] + q[1] * t[2] - q[2] * t[1], v[1] + q[3] * t[1] + q[2] * t[0] - q[0] * t[2],
                         v[2] + q[3] * t[2] + q[0] * t[1] - q[1] * t[0]};
    memcpy(out, r, sizeof r);
}

/* World frames of a pose, with the given bones and axes. */
static inline void marked_frames(const double (*translations)[3], const double (*axes)[3], const double base[3],
                                 const double (*turns)[4], const double *angles, double (*rotations)[4],
                                 double (*places)[3]) {
    for (int j = 0; j < MARKED_JOINTS; j++) {
        const int parent = marked_parents[j];
        double q[4], t[3];
        memcpy(q, turns[j], sizeof q);
        if (marked_freedoms[j] == 1) {
            const double w[3] = {angles[j] * axes[j][0], angles[j] * axes[j][1], angles[j] * axes[j][2]};
            marked_turn(w, q);
        }
        if (parent < 0) {
            memcpy(rotations[j], q, sizeof q);
            memcpy(places[j], base, 3 * sizeof *base);
            continue;
        }
        marked_multiply(rotations[parent], q, rotations[j]);
        marked_rotate(rotations[parent], translations[j], t);
        for (int i = 0; i < 3; i++)
            places[j][i] = places[parent][i] + t[i];
    }
}

static inline void marked_bones(marked_body *b, unsigned *seed) {
    static const double bones[MARKED_JOINTS][3] = {{0, 0.95, 0},      {0, 0.12, -0.02}, {0, 0.15, -0.01},
                                                   {0.03, 0.2, 0.02}, {0.15, 0, -0.02}, {0.28, 0, 0},
                                                   {0.0, 0, 0},       {0.25, 0, 0}};
    static const double axes[MARKED_JOINTS][3] = {{0, 0, 0}, {0, 0, 0},  {0, 0, 0}, {0, 0, 0},
                                                  {0, 0, 0}, {0, -1, 0}, {1, 0, 0}, {0, 0, -1}};
    for (int j = 0; j < MARKED_JOINTS; j++) {
        double length = 0;
        for (int i = 0; i < 3; i++) {
            b->begins[j][i] = bones[j][i];
            b->begin_axes[j][i] = axes[j][i];
            b->translations[j][i] = bones[j][i] + (j > 0 ? marked_between(seed, -0.02, 0.02) : 0);
            b->axes[j][i] = marked_freedoms[j] == 1 ? axes[j][i] + marked_between(seed, -0.15, 0.15) : 0;
            length += b->axes[j][i] * b->axes[j][i];
        }
        for (int i = 0; i < 3 && length > 0; i++)
            b->axes[j][i] /= sqrt(length);
    }
    for (int j = 5; j < 8; j++) { /* a translation along the joint's own axis cannot be seen, and is small by
                                   * convention */
        double along = 0;
        for (int i = 0; i < 3; i++)
            along += b->axes[j][i] * b->translations[j][i];
        for (int i = 0; i < 3; i++)
            b->translations[j][i] -= along * b->axes[j][i];
    }
}

static inline void marked_paint(marked_body *b, const marked_options *o, unsigned *seed) {
    static const double ends[3] = {0.17, 0, 0}; /* the hand's */
    static const double radii[MARKED_JOINTS] = {0.14, 0.13, 0.14, 0.06, 0.05, 0.04, 0.035, 0.03};
    b->site_count = 0;
    for (int j = 0; j < MARKED_JOINTS; j++) {
        const double *bone = j + 1 < MARKED_JOINTS ? b->translations[j + 1] : ends;
        double elbow[3];
        if (j == 5) { /* elbow and forearm share the forearm: the first has the half near the elbow */
            for (int i = 0; i < 3; i++)
                elbow[i] = 0.4 * b->translations[7][i];
            bone = elbow;
        }
        for (int k = 0; k < (j < 3 ? o->torso_sites : o->arm_sites) && b->site_count < MARKED_SITES; k++) {
            const int s = b->site_count++;
            const double turn = marked_between(seed, 0, 6.283), r = radii[j];
            double u = marked_between(seed, 0.05, 0.95);
            if (j == 6)
                u = 0.4 + 0.6 * u;
            const int upright = j < 3;
            b->joints[s] = j;
            b->along[s] = u;
            for (int i = 0; i < 3; i++)
                b->locals[s][i] = u * bone[i];
            b->locals[s][upright ? 0 : 1] += r * cos(turn);
            b->locals[s][2] += r * sin(turn) * (upright ? 0.7 : 1);
            for (int i = 0; i < 3; i++)
                b->slides[s][i] = marked_between(seed, -1, 1);
        }
    }
}

static inline void marked_poses(marked_body *b, const marked_options *o, unsigned *seed) {
    static const double most[MARKED_JOINTS] = {0.3, 0.5, 0.5, 0.35, 1.2, 2.3, 1.8, 0.9};
    for (int i = 0; i < b->scan_count; i++) {
        const int group = i % 3; /* arm, shoulder, torso */
        for (int j = 0; j < MARKED_JOINTS; j++) {
            double w[3];
            const int moves = !(j == 3 && o->still_clavicle) && (j == 0 || (group == 2   ? j < 3
                                                                            : group == 1 ? j >= 3
                                                                                         : j >= 4));
            b->locked[i][j] = j > 0 && (i == 0 || (group == 2 ? j >= 3 : j < 3));
            for (int k = 0; k < 3; k++) {
                w[k] = i == 0 || !moves ? 0 : marked_between(seed, -most[j], most[j]) * 0.7;
                b->bases[i][k] = (k == 1 ? 0.95 : 0) + (i == 0 ? 0 : marked_between(seed, -0.2, 0.2));
            }
            b->angles[i][j] = 0;
            marked_turn(w, b->turns[i][j]);
            if (marked_freedoms[j] != 1)
                continue;
            const double zero[3] = {0, 0, 0};
            marked_turn(zero, b->turns[i][j]);
            if (i > 0 && moves)
                b->angles[i][j] = j == 5 ? marked_between(seed, 0, most[j]) : marked_between(seed, -most[j], most[j]);
        }
    }
}

/* Bend of a joint, 0 to 1. */
static inline double marked_bend(const marked_body *b, int scan, int j) {
    if (j <= 0 || j >= MARKED_JOINTS)
        return 0;
    const double c = marked_freedoms[j] == 1 ? cos(b->angles[scan][j] / 2) : b->turns[scan][j][3];
    return 2 * (1 - c * c) < 1 ? 2 * (1 - c * c) : 1;
}

static inline void marked_see(marked_body *b, const marked_options *o, unsigned *seed) {
    for (int i = 0; i < b->scan_count; i++) {
        double rotations[MARKED_JOINTS][4], places[MARKED_JOINTS][3];
        marked_frames((const double(*)[3])b->translations, (const double(*)[3])b->axes, b->bases[i],
                      (const double(*)[4])b->turns[i], b->angles[i], rotations, places);
        for (int s = 0; s < b->site_count; s++) {
            const int j = b->joints[s];
            const double near = b->along[s] < 0.4 ? 1 - b->along[s] / 0.4 : 0;
            const double far = b->along[s] > 0.6 ? (b->along[s] - 0.6) / 0.4 : 0;
            const double slide = o->soft * (near * marked_bend(b, i, j) + far * marked_bend(b, i, j + 1));
            double local[3], at[3];
            for (int k = 0; k < 3; k++)
                local[k] = b->locals[s][k] + slide * b->slides[s][k] / 1.2;
            marked_rotate(rotations[j], local, at);
            for (int k = 0; k < 3; k++)
                b->seen[i][s][k] = places[j][k] + at[k] + o->noise * marked_normal(seed);
            b->visible[i][s] = marked_random(seed) >= o->missing || (i == 0 && o->wrong == 0);
            if (marked_random(seed) < o->wrong && b->visible[i][s]) {
                b->visible[i][s] = 2;
                for (int k = 0; k < 3; k++)
                    b->seen[i][s][k] += marked_between(seed, -0.2, 0.2);
            }
        }
    }
}

static inline void marked_make(marked_body *b, const marked_options *o) {
    unsigned seed = o->seed;
    memset(b, 0, sizeof *b);
    b->scan_count = o->scan_count < MARKED_SCANS ? o->scan_count : MARKED_SCANS;
    marked_bones(b, &seed);
    marked_paint(b, o, &seed);
    marked_poses(b, o, &seed);
    marked_see(b, o, &seed);
}

/* Makes initial poses that are off by about 10 degrees and some centimetres, and sites where the reference shows them
 * with the guessed bones. */
static inline void marked_begin(marked_body *b) {
    unsigned seed = 77;
    for (int i = 0; i < b->scan_count; i++) {
        for (int k = 0; k < 3; k++)
            b->begin_bases[i][k] = b->bases[i][k] + (i == 0 ? 0 : marked_between(&seed, -0.03, 0.03));
        for (int j = 0; j < MARKED_JOINTS; j++) {
            double w[3], q[4];
            for (int k = 0; k < 3; k++)
                w[k] = i == 0 || b->locked[i][j] ? 0 : marked_between(&seed, -0.15, 0.15);
            marked_turn(w, q);
            marked_multiply(q, b->turns[i][j], b->begin_turns[i][j]);
            b->begin_angles[i][j] = b->angles[i][j] + (marked_freedoms[j] == 1 ? w[0] : 0);
        }
    }
    double rotations[MARKED_JOINTS][4], places[MARKED_JOINTS][3];
    marked_frames((const double(*)[3])b->begins, (const double(*)[3])b->begin_axes, b->begin_bases[0],
                  (const double(*)[4])b->begin_turns[0], b->begin_angles[0], rotations, places);
    for (int s = 0; s < b->site_count; s++)
        for (int k = 0; k < 3; k++)
            b->begin_locals[s][k] = b->seen[0][s][k] - places[b->joints[s]][k];
}

/* Options of the measurement: all markers right, a third missing except in the reference. */
static inline marked_options marked_bench(int scans, int arm, int torso) {
    marked_options o;
    memset(&o, 0, sizeof o);
    o.scan_count = scans;
    o.arm_sites = arm;
    o.torso_sites = torso;
    o.noise = 0.001;
    o.missing = 0.33;
    o.soft = 0.008;
    o.seed = 5;
    return o;
}

#endif

#include "support/subjects.h"

#include "support/check.h"

#include "author/base/array.h"
#include "runtime/base/vector.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define PI 3.14159265358979323846

enum { HIPS, WAIST, ABDOMEN, CLAVICLE, SHOULDER, ELBOW, FOREARM, WRIST };

/* A limb: start, direction and width. */
static const struct limb {
    const char *name;
    int parent;
    ex_freedom freedom;
    double translation[3], axis[3], least, most;
    double from[3], along[3], radius[2];
} limbs[SUBJECT_JOINTS] = {
    {"hips", -1, EX_FREEDOM_BASE, {0, 0.95, 0}, {0}, 0, 0, {0, -0.1, 0}, {0, 0.2, 0}, {0.17, 0.11}},
    {"waist", HIPS, EX_FREEDOM_BALL, {0, 0.12, -0.02}, {0}, 0, 0, {0, 0, 0}, {0, 0.15, 0}, {0.15, 0.1}},
    {"abdomen", WAIST, EX_FREEDOM_BALL, {0, 0.15, -0.01}, {0}, 0, 0, {0, 0, 0}, {0, 0.25, 0}, {0.17, 0.11}},
    {"clavicle.L",
     ABDOMEN,
     EX_FREEDOM_BALL,
     {0.03, 0.2, 0.02},
     {0},
     0,
     0,
     {0.06, 0.01, -0.02},
     {0.1, 0, 0},
     {0.06, 0.09}},
    {"shoulder.L", CLAVICLE, EX_FREEDOM_BALL, {0.15, 0, -0.02}, {0}, 0, 0, {0.03, 0, 0}, {0.22, 0, 0}, {0.05, 0.05}},
    {"elbow.L", SHOULDER, EX_FREEDOM_HINGE, {0.28, 0, 0}, {0, -1, 0}, -10, 150, {0, 0, 0}, {0.1, 0, 0}, {0.045, 0.045}},
    {"forearm.L",
     ELBOW,
     EX_FREEDOM_HINGE,
     {0.02, 0, 0},
     {1, 0, 0},
     -100,
     180,
     {0.1, 0, 0},
     {0.13, 0, 0},
     {0.035, 0.03}},
    {"wrist.L",
     FOREARM,
     EX_FREEDOM_HINGE,
     {0.24, 0, 0},
     {0, 0, -1},
     -90,
     90,
     {0.02, 0, 0},
     {0.12, 0, 0},
     {0.02, 0.045}},
};

static const unsigned char palette[8][3] = {{220, 30, 40},  {30, 160, 60},  {30, 70, 200},  {240, 220, 40},
                                            {230, 120, 20}, {120, 40, 150}, {40, 190, 200}, {20, 20, 20}};

subject_def subject_usual(void) {
    return (subject_def){.per_joint = 12,
                         .noise = 0.001,
                         .slide = 0.008,
                         .missing = 1.0 / 3,
                         .stray = 0.02,
                         .paint = 10,
                         .off = 0.02,
                         .tilt = 8,
                         .seed = 1};
}

/* ---- making ---- */

static char *name_of(const char *text) {
    char *copy = exi_text_copy(text, strlen(text));
    assert_non_null(copy);
    return copy;
}

static double normal(uint64_t *random) {
    double sum = 0;
    for (int i = 0; i < 12; i++)
        sum += random_between(random, -0.5, 0.5);
    return sum;
}

static ex_kinematics *make_kinematics(int per_joint) {
    ex_kinematics *k = calloc(1, sizeof *k);
    assert_non_null(k);
    k->name = name_of("somebody");
    k->joint_count = SUBJECT_JOINTS;
    k->joints = calloc(SUBJECT_JOINTS, sizeof *k->joints);
    k->site_count = SUBJECT_JOINTS * per_joint;
    k->sites = calloc((size_t)k->site_count, sizeof *k->sites);
    assert_non_null(k->joints);
    assert_non_null(k->sites);
    for (int j = 0; j < SUBJECT_JOINTS; j++) {
        ex_kin_joint *joint = &k->joints[j];
        *joint = (ex_kin_joint){.name = name_of(limbs[j].name),
                                .parent = limbs[j].parent,
                                .freedom = limbs[j].freedom,
                                .mirror = -1,
                                .least = limbs[j].least,
                                .most = limbs[j].most};
        memcpy(joint->translation, limbs[j].translation, sizeof joint->translation);
        memcpy(joint->axis, limbs[j].axis, sizeof joint->axis);
    }
    return k;
}

/* On the limb's surface, as far from the others as a few tries give. */
static void place_sites(ex_kinematics *k, double (*normals)[3], int per_joint, uint64_t *random) {
    for (int s = 0; s < k->site_count; s++) {
        const int j = s / per_joint, first = j * per_joint;
        const struct limb *limb = &limbs[j];
        ex_site *site = &k->sites[s];
        double along[3], side[3], up[3], best = -1;
        char name[32];
        snprintf(name, sizeof name, "%s_%02d", limb->name, s - first);
        site->name = name_of(name);
        site->joint = j;
        site->placed = true;
        memcpy(along, limb->along, sizeof along);
        exi_unit3(along);
        const double other[3] = {along[0] > 0.5 ? 0 : 1, along[0] > 0.5 ? 1 : 0, 0};
        exi_cross(along, other, up);
        exi_cross(up, along, side);
        for (int tries = 0; tries < 20; tries++) {
            const double t = random_between(random, 0, 1), angle = random_between(random, 0, 2 * PI);
            double at[3], out[3], near = INFINITY;
            for (int i = 0; i < 3; i++) {
                out[i] = cos(angle) * side[i] / limb->radius[0] + sin(angle) * up[i] / limb->radius[1];
                at[i] = limb->from[i] + t * limb->along[i] + cos(angle) * limb->radius[0] * side[i] +
                        sin(angle) * limb->radius[1] * up[i];
            }
            for (int o = first; o < s; o++) {
                double apart[3];
                exi_subtract(at, k->sites[o].local, apart);
                near = exi_dot3(apart, apart) < near ? exi_dot3(apart, apart) : near;
            }
            if (near <= best)
                continue;
            best = near;
            exi_unit3(out);
            memcpy(site->local, at, sizeof at);
            memcpy(normals[s], out, sizeof out);
        }
    }
}

static void rest_place(const ex_kinematics *k, int joint, double at[3]) {
    memset(at, 0, 3 * sizeof *at);
    for (int j = joint; j >= 0; j = k->joints[j].parent)
        for (int i = 0; i < 3; i++)
            at[i] += k->joints[j].translation[i];
}

/* The colour whose nearest other site is the farthest away. */
static void colour_sites(ex_kinematics *k) {
    for (int s = 0; s < k->site_count; s++) {
        double at[3], nearest[8], own[3];
        rest_place(k, k->sites[s].joint, own);
        for (int c = 0; c < 8; c++)
            nearest[c] = 1e9 + c;
        for (int o = 0; o < s; o++) {
            double d[3];
            rest_place(k, k->sites[o].joint, at);
            for (int i = 0; i < 3; i++)
                d[i] = at[i] + k->sites[o].local[i] - own[i] - k->sites[s].local[i];
            for (int c = 0; c < 8; c++)
                if (memcmp(k->sites[o].colour, palette[c], 3) == 0 && exi_dot3(d, d) < nearest[c])
                    nearest[c] = exi_dot3(d, d);
        }
        int best = 0;
        for (int c = 1; c < 8; c++)
            best = nearest[c] > nearest[best] ? c : best;
        memcpy(k->sites[s].colour, palette[best], 3);
    }
}

/* ---- poses ---- */

static void about(const double axis[3], double degrees, double q[4]) {
    for (int i = 0; i < 3; i++)
        q[i] = sin(degrees * PI / 360) * axis[i];
    q[3] = cos(degrees * PI / 360);
}

static void turn(double z, double y, double x, double q[4]) {
    double next[4];
    about((double[3]){0, 0, 1}, z, q);
    about((double[3]){0, 1, 0}, y, next);
    exi_quaternion_multiply(q, next, q);
    about((double[3]){1, 0, 0}, x, next);
    exi_quaternion_multiply(q, next, q);
}

static void pose_scan(subject_scan *scan, int number, uint64_t *random) {
    static const double bends[] = {0, 60, 90, 130}, twists[] = {0, 60, 130}, flexes[] = {-45, 0, 30};
    static const double sides[] = {-25, 0, 60}, fronts[] = {-30, 0, 60}, rolls[] = {-35, 0, 35};
    double angles[SUBJECT_JOINTS][3] = {{0}}; /* about z, y, x; hinges use the first */
    double(*r)[4] = calloc(SUBJECT_JOINTS, sizeof *r);
    assert_non_null(r);
    int n = number - 1;
    memset(scan->solved, 0, sizeof scan->solved);
    if (number == 0) {
        snprintf(scan->name, sizeof scan->name, "reference");
    } else if (n < SUBJECT_ARMS) {
        snprintf(scan->name, sizeof scan->name, "arm_%02d", n);
        angles[SHOULDER][0] = 35;
        angles[SHOULDER][1] = -20;
        angles[ELBOW][0] = bends[n / 9];
        angles[FOREARM][0] = twists[n / 3 % 3];
        angles[WRIST][0] = flexes[n % 3];
        for (int j = SHOULDER; j <= WRIST; j++)
            scan->solved[j] = true;
    } else if ((n -= SUBJECT_ARMS) < SUBJECT_SHOULDERS) {
        snprintf(scan->name, sizeof scan->name, "shoulder_%02d", n);
        angles[SHOULDER][0] = n < 27 ? sides[n % 3] : 0;
        angles[SHOULDER][1] = n < 27 ? -fronts[n / 3 % 3] : 0;
        angles[SHOULDER][2] = n < 27 ? rolls[n / 9] : 0;
        angles[CLAVICLE][0] = n == 27 ? 18 : n == 28 ? -8 : n == 31 ? 15 : 0;
        angles[CLAVICLE][1] = n == 29 ? -18 : n == 30 ? 14 : n == 32 ? -15 : 0;
        scan->solved[CLAVICLE] = scan->solved[SHOULDER] = true;
    } else {
        n -= SUBJECT_SHOULDERS;
        snprintf(scan->name, sizeof scan->name, "torso_%02d", n);
        for (int j = WAIST; j <= ABDOMEN; j++) {
            angles[j][0] = 15 * (n % 3 - 1);
            angles[j][1] = 22 * (n / 3 % 3 - 1);
            angles[j][2] = n / 9 == 0 ? -10 : n / 9 == 1 ? 0 : 20;
            scan->solved[j] = true;
        }
    }
    for (int j = 0; j < SUBJECT_JOINTS; j++) {
        const double off = number == 0 ? 0 : j == HIPS ? 5 : scan->solved[j] ? 2 : 0;
        for (int i = 0; i < 3; i++)
            angles[j][i] += off * random_between(random, -1, 1);
        if (limbs[j].freedom == EX_FREEDOM_HINGE)
            about(limbs[j].axis, angles[j][0], r[j]);
        else
            turn(angles[j][0], angles[j][1], angles[j][2], r[j]);
    }
    scan->pose.rotations = r;
    for (int i = 0; i < 3; i++)
        scan->pose.translation[i] = limbs[HIPS].translation[i] + (number ? random_between(random, -0.05, 0.05) : 0);
}

/* ---- scanning ---- */

static void frames(const ex_kinematics *k, const ex_kin_pose *pose, double (*q)[4], double (*at)[3]) {
    for (int j = 0; j < k->joint_count; j++) {
        const int parent = k->joints[j].parent;
        if (parent < 0) {
            memcpy(at[j], pose->translation, sizeof at[j]);
            memcpy(q[j], pose->rotations[j], sizeof q[j]);
            continue;
        }
        exi_rotate(q[parent], k->joints[j].translation, at[j]);
        for (int i = 0; i < 3; i++)
            at[j][i] += at[parent][i];
        exi_quaternion_multiply(q[parent], pose->rotations[j], q[j]);
    }
}

/* Skin follows the joint at the limb's beginning, and the one at its end, by up to the slide, along the limb. */
static double slide_of(const subject_scan *scan, const ex_site *site, double most) {
    double along[3], sum = 0;
    memcpy(along, limbs[site->joint].along, sizeof along);
    exi_unit3(along);
    for (int j = site->joint; j < SUBJECT_JOINTS && j <= site->joint + 1; j++) {
        double from[3] = {0, 0, 0}, distance;
        if (j > site->joint)
            memcpy(from, limbs[j].translation, sizeof from);
        exi_subtract(site->local, from, from);
        distance = fabs(exi_dot3(from, along));
        const double *q = scan->pose.rotations[j], angle = 2 * acos(fabs(q[3]) < 1 ? fabs(q[3]) : 1);
        if (distance < 0.06 && j != HIPS)
            sum += (1 - distance / 0.06) * (angle < PI / 2 ? angle / (PI / 2) : 1) * (j > site->joint ? -1 : 1);
    }
    return most * sum;
}

static void shoot(const subject_def *def, const ex_kinematics *k, double (*normals)[3], subject_scan *scan, bool whole,
                  uint64_t *random) {
    double q[SUBJECT_JOINTS][4], at[SUBJECT_JOINTS][3];
    const double bright = random_between(random, 0.9, 1.1);
    frames(k, &scan->pose, q, at);
    scan->found = calloc((size_t)k->site_count * 2, sizeof *scan->found);
    scan->truth = calloc((size_t)k->site_count * 2, sizeof *scan->truth);
    assert_non_null(scan->found);
    assert_non_null(scan->truth);
    for (int s = 0; s < k->site_count; s++) {
        const ex_site *site = &k->sites[s];
        double local[3], along[3], out[3];
        ex_found_marker *f = &scan->found[scan->found_count];
        memcpy(along, limbs[site->joint].along, sizeof along);
        exi_unit3(along);
        const double slid = slide_of(scan, site, def->slide);
        for (int i = 0; i < 3; i++)
            local[i] = site->local[i] + slid * along[i];
        exi_rotate(q[site->joint], normals[s], out);
        exi_rotate(q[site->joint], local, f->position);
        /* Views from four sides. */
        const double facing = fmax(fabs(out[0] + out[2]), fabs(out[0] - out[2])) / sqrt(2);
        const bool gone = random_between(random, 0, 1) < def->missing;
        for (int i = 0; i < 3; i++) {
            f->position[i] += at[site->joint][i] + def->noise * normal(random);
            f->colour[i] = bright * site->colour[i] + def->paint * normal(random);
            f->colour[i] = f->colour[i] < 0 ? 0 : f->colour[i] > 255 ? 255 : f->colour[i];
        }
        f->size = 0.012;
        if (!whole && (facing < 0.3 || gone))
            continue;
        scan->truth[scan->found_count++] = s;
    }
    const int real = scan->found_count;
    for (int i = 0; i < real; i++) {
        ex_found_marker *f = &scan->found[scan->found_count];
        if (random_between(random, 0, 1) > def->stray || whole)
            continue;
        *f = scan->found[(int)random_between(random, 0, real)];
        const int colour = (int)random_between(random, 0, 8);
        for (int c = 0; c < 3; c++) {
            f->position[c] += 0.05 * normal(random);
            f->colour[c] = palette[colour][c];
        }
        scan->truth[scan->found_count++] = -1;
    }
    for (int i = scan->found_count - 1; i > 0; i--) { /* in random order */
        const int other = (int)random_between(random, 0, i + 1);
        const ex_found_marker marker = scan->found[i];
        const int truth = scan->truth[i];
        scan->found[i] = scan->found[other];
        scan->truth[i] = scan->truth[other];
        scan->found[other] = marker;
        scan->truth[other] = truth;
    }
}

/* ---- subjects ---- */

subject *subject_create(const subject_def *def) {
    uint64_t random = def->seed;
    subject *s = calloc(1, sizeof *s);
    double(*normals)[3] = calloc((size_t)(SUBJECT_JOINTS * def->per_joint), sizeof *normals);
    assert_non_null(s);
    assert_non_null(normals);
    s->truth = make_kinematics(def->per_joint);
    s->begin = make_kinematics(def->per_joint);
    place_sites(s->truth, normals, def->per_joint, &random);
    colour_sites(s->truth);
    for (int i = 0; i < s->truth->site_count; i++) {
        s->begin->sites[i] = s->truth->sites[i];
        s->begin->sites[i].name = name_of(s->truth->sites[i].name);
        s->begin->sites[i].placed = false;
    }
    for (int j = 1; j < SUBJECT_JOINTS; j++) {
        ex_kin_joint *joint = &s->begin->joints[j];
        double tilt[4], axis[3] = {normal(&random), normal(&random), normal(&random)};
        for (int i = 0; i < 3; i++)
            joint->translation[i] += def->off * random_between(&random, -1, 1);
        exi_unit3(axis);
        about(axis, def->tilt, tilt);
        exi_rotate(tilt, joint->axis, joint->axis);
    }
    for (int i = 0; i < SUBJECT_SCANS; i++) {
        pose_scan(&s->scans[i], i, &random);
        shoot(def, s->truth, normals, &s->scans[i], i == 0 && def->whole_reference, &random);
    }
    free(normals);
    return s;
}

void subject_destroy(subject *s) {
    ex_kinematics_destroy(s->truth);
    ex_kinematics_destroy(s->begin);
    for (int i = 0; i < SUBJECT_SCANS; i++) {
        free(s->scans[i].found);
        free(s->scans[i].truth);
        free(s->scans[i].pose.rotations);
    }
    free(s);
}

ex_labelled *subject_reference(const subject *s, int *count) {
    const subject_scan *scan = &s->scans[0];
    ex_labelled *labelled = calloc((size_t)scan->found_count + 1, sizeof *labelled);
    assert_non_null(labelled);
    *count = 0;
    for (int f = 0; f < scan->found_count; f++) {
        if (scan->truth[f] < 0)
            continue;
        ex_labelled *l = &labelled[(*count)++];
        *l = (ex_labelled){.name = name_of(s->truth->sites[scan->truth[f]].name), .confidence = 1, .by_hand = true};
        memcpy(l->position, scan->found[f].position, sizeof l->position);
    }
    return labelled;
}

ex_kinematics *subject_placed(const subject *s) {
    ex_kinematics *k = ex_kinematics_copy(s->begin);
    const subject_scan *scan = &s->scans[0];
    assert_non_null(k);
    for (int f = 0; f < scan->found_count; f++) {
        double at[3];
        if (scan->truth[f] < 0)
            continue;
        ex_site *site = &k->sites[scan->truth[f]];
        rest_place(k, site->joint, at);
        exi_subtract(scan->found[f].position, at, site->local);
        site->placed = true;
    }
    return k;
}

/*
 * Finds a starting pose joint by joint, from the base on. With a_k the positions of markers relative to a joint, in its
 * frame, b_k their seen positions relative to the joint's present one, R' the parent's rotation and q a likely
 * rotation, the joint's rotation R is the one that maximises
 *
 *     sum_k w_k b_k . R a_k  +  h tr(R^T R' q)
 *
 * This is the rotation in the polar decomposition of sum_k w_k b_k a_k^T + h R' q (Kabsch). h is small, and decides
 * only what the markers leave open: turns about a line of markers, and the choice between two mirrored bends of a
 * chain. Markers of joints farther out count a little, at their likely positions. A hinge turns about its axis alone.
 */
#include "author/scan/capture/capture.h"

#include "runtime/base/functions.inl"
#include "runtime/base/vector.h"
#include "runtime/pose/matrix.h"

#include <math.h>
#include <string.h>

#define OWN     1.0
#define FURTHER 0.1
#define HOLD    4e-4 /* square metres: equals a marker 2 cm from the joint */

#define PI 3.14159265358979323846

typedef struct work {
    const ex_kinematics *kinematics;
    const double (*seen)[3]; /* [site_count], NaN where not seen */
    const ex_kin_pose *likely;
    ex_kin_pose *pose;
    double (*turns)[4];  /* [joint_count]: in the world */
    double (*places)[3]; /* [joint_count] */
} work;

/* True if a joint is `above` or below it; also brings a point of it into the frame of `above`. */
static bool bring_up(const work *w, int joint, int above, double at[3]) {
    while (joint > above) {
        double turned[3];
        exi_rotate(w->likely->rotations[joint], at, turned);
        for (int i = 0; i < 3; i++)
            at[i] = turned[i] + w->kinematics->joints[joint].translation[i];
        joint = w->kinematics->joints[joint].parent;
    }
    return joint == above;
}

/* Sums w b a^T over the markers on a joint and beyond, relative to given middles or to the markers' own. Returns the
 * number on the joint itself. */
static int gather(const work *w, int joint, bool own_only, double model[3], double seen[3], bool centre, double m[12]) {
    int own = 0;
    double sum = 0, means[2][3] = {{0}};
    for (int pass = centre ? 0 : 1; pass < 2; pass++) {
        own = 0;
        memset(m, 0, 12 * sizeof *m);
        for (int s = 0; s < w->kinematics->site_count; s++) {
            const ex_site *site = &w->kinematics->sites[s];
            double a[3];
            memcpy(a, site->local, sizeof a);
            if (isnan(w->seen[s][0]) || (own_only && site->joint != joint) || !bring_up(w, site->joint, joint, a))
                continue;
            const double weight = site->joint == joint ? OWN : FURTHER;
            own += site->joint == joint;
            for (int i = 0; i < 3 && pass == 0; i++) {
                means[0][i] += weight * a[i];
                means[1][i] += weight * w->seen[s][i];
            }
            sum += pass == 0 ? weight : 0;
            for (int i = 0; i < 3 && pass == 1; i++)
                for (int k = 0; k < 3; k++)
                    m[4 * i + k] += weight * (w->seen[s][i] - seen[i]) * (a[k] - model[k]);
        }
        for (int i = 0; i < 3 && pass == 0 && sum > 0; i++) {
            model[i] = means[0][i] / sum;
            seen[i] = means[1][i] / sum;
        }
    }
    return own;
}

static void start_base(const work *w) {
    double m[12], model[3] = {0}, seen[3] = {0}, rotation[3][3], stretch[3][3], turned[3];
    const int own = gather(w, 0, true, model, seen, true, m);
    if (own < 3)
        gather(w, 0, false, model, seen, true, m);
    exi_polar(m, rotation, stretch);
    exi_quaternion_of((const double(*)[3])rotation, w->pose->rotations[0]);
    exi_rotate(w->pose->rotations[0], model, turned);
    for (int i = 0; i < 3; i++)
        w->pose->translation[i] = seen[i] - turned[i];
}

/* Finds the rotation about the axis for the same sum. */
static void turn_hinge(const ex_kin_joint *joint, const double m[12], const double above[4], double q[4]) {
    double columns[3][3], sine = 0, cosine = 0, back[4] = {-above[0], -above[1], -above[2], above[3]};
    for (int k = 0; k < 3; k++) { /* R'^T M: columns are sums of b in the parent's frame by a_k */
        const double column[3] = {m[k], m[4 + k], m[8 + k]};
        exi_rotate(back, column, columns[k]);
    }
    const double *n = joint->axis;
    for (int i = 0; i < 3; i++) {
        cosine += columns[i][i];
        for (int k = 0; k < 3; k++)
            cosine -= n[i] * n[k] * columns[i][k];
        /* n . (a x b) */
        sine += n[i] * (columns[(i + 1) % 3][(i + 2) % 3] - columns[(i + 2) % 3][(i + 1) % 3]);
    }
    double angle = exi_angle(fabs(sine), fabs(cosine));
    angle = (cosine < 0 ? PI - angle : angle) * (sine < 0 ? -1 : 1);
    double half[2];
    exi_sin_cos(angle / 2, &half[0], &half[1]);
    for (int i = 0; i < 4; i++)
        q[i] = i < 3 ? half[0] * n[i] : half[1];
}

static void start_joint(const work *w, int j) {
    const ex_kin_joint *joint = &w->kinematics->joints[j];
    const double *above = w->turns[joint->parent], *likely = w->likely->rotations[j];
    double m[12], model[3] = {0}, rotation[3][3], stretch[3][3], world[4], back[4], *q = w->pose->rotations[j];
    memcpy(q, likely, 4 * sizeof *q);
    if (joint->freedom == EX_FREEDOM_FIXED)
        return;
    gather(w, j, false, model, w->places[j], false, m);
    exi_quaternion_multiply(above, likely, world);
    for (int k = 0; k < 3; k++) {
        double column[3];
        exi_rotate(world, (const double[3]){k == 0, k == 1, k == 2}, column);
        for (int i = 0; i < 3; i++)
            m[4 * i + k] += HOLD * column[i];
    }
    if (joint->freedom == EX_FREEDOM_HINGE) {
        turn_hinge(joint, m, above, q);
        return;
    }
    exi_polar(m, rotation, stretch);
    exi_quaternion_of((const double(*)[3])rotation, world);
    for (int i = 0; i < 4; i++)
        back[i] = i < 3 ? -above[i] : above[i];
    exi_quaternion_multiply(back, world, q);
}

void exi_capture_start(const ex_kinematics *kinematics, const bool *locked, const double (*seen)[3],
                       const ex_kin_pose *likely, ex_kin_pose *pose, double (*turns)[4], double (*places)[3]) {
    const work w = {kinematics, seen, likely, pose, turns, places};
    for (int j = 0; j < kinematics->joint_count; j++) {
        const int parent = kinematics->joints[j].parent;
        double t[3];
        if (j == 0) {
            start_base(&w);
            memcpy(places[0], pose->translation, sizeof *places);
            memcpy(turns[0], pose->rotations[0], sizeof *turns);
            continue;
        }
        exi_rotate(turns[parent], kinematics->joints[j].translation, t);
        for (int i = 0; i < 3; i++)
            places[j][i] = places[parent][i] + t[i];
        if (locked[j])
            memcpy(pose->rotations[j], likely->rotations[j], sizeof *pose->rotations);
        else
            start_joint(&w, j);
        exi_quaternion_multiply(turns[parent], pose->rotations[j], turns[j]);
    }
}

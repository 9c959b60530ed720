/*
 * Places sites by the reference scan, in which no joint is turned: a site's offset from its joint is its label's offset
 * from the joint's position there.
 *
 * The skeleton file gives joints relative to each other, but not the position of the base; and a person with lowered
 * arms may be described by a skeleton that holds them out. A joint belongs between the markers of its own bone and
 * those of its parent's. If the file has it more than FAR from there, it is moved, and its axis turned with the bone
 * that leads to it.
 */
#include "author/scan/label/label_scans.h"

#include "runtime/base/vector.h"

#include <string.h>

#define FAR 0.1 /* metres */
enum { NEAR = 3 };

typedef struct seen {
    exi_label_run *run;
    const double **at; /* [site]: position of its label, or NULL */
    double (*joints)[3];
} seen;

static void place_joints(seen *s, const double base[3]) {
    const ex_kinematics *k = s->run->kinematics;
    for (int j = 0; j < k->joint_count; j++)
        for (int i = 0; i < 3; i++)
            s->joints[j][i] = (j == 0 ? base[i] : s->joints[k->joints[j].parent][i] + k->joints[j].translation[i]);
}

/* Computes the mean of a joint's labels; returns their number. */
static int find_middle(const seen *s, int joint, double middle[3]) {
    int count = 0;
    memset(middle, 0, 3 * sizeof *middle);
    for (int i = 0; i < s->run->kinematics->site_count; i++) {
        if (!s->at[i] || s->run->kinematics->sites[i].joint != joint)
            continue;
        count++;
        for (int c = 0; c < 3; c++)
            middle[c] += s->at[i][c];
    }
    for (int c = 0; c < 3 && count > 0; c++)
        middle[c] /= count;
    return count;
}

/* Adds the offset of a bone's labels from the middle of the bone to `sum`; returns false if it has none. */
static bool add_bone(const seen *s, int joint, double sum[3]) {
    const ex_kinematics *k = s->run->kinematics;
    double middle[3], bone[3] = {0, 0, 0};
    int children = 0;
    if (find_middle(s, joint, middle) == 0)
        return false;
    for (int child = joint + 1; child < k->joint_count; child++)
        if (k->joints[child].parent == joint) {
            children++;
            for (int c = 0; c < 3; c++)
                bone[c] += k->joints[child].translation[c];
        }
    for (int c = 0; c < 3; c++)
        sum[c] += middle[c] - s->joints[joint][c] - (children ? 0.5 * bone[c] / children : 0);
    return true;
}

/* Finds the base at which sites placed by the table of markers, or else the middles of bones, agree with the labels. */
static void find_base(const seen *s, double base[3]) {
    const ex_kinematics *k = s->run->kinematics;
    double sum[3] = {0, 0, 0};
    int count = 0;
    for (int i = 0; i < k->site_count; i++) {
        if (!s->at[i] || !k->sites[i].placed)
            continue;
        count++;
        for (int c = 0; c < 3; c++)
            sum[c] += s->at[i][c] - s->joints[k->sites[i].joint][c] - k->sites[i].local[c];
    }
    const bool placed = count > 0;
    for (int j = 0; j < k->joint_count && !placed; j++)
        count += add_bone(s, j, sum);
    for (int c = 0; c < 3 && count > 0; c++)
        base[c] += sum[c] / count;
}

/* Computes the mean of the few labels of one joint that are nearest to a point. */
static void find_nearest(const seen *s, int joint, const double to[3], double mean[3]) {
    const double *nearest[NEAR];
    double distances[NEAR];
    int count = 0;
    for (int i = 0; i < s->run->kinematics->site_count; i++) {
        if (!s->at[i] || s->run->kinematics->sites[i].joint != joint)
            continue;
        double apart[3];
        exi_subtract(s->at[i], to, apart);
        const double distance = exi_dot3(apart, apart);
        if (count == NEAR && distance >= distances[NEAR - 1])
            continue;
        int at = count < NEAR ? count++ : NEAR - 1;
        for (; at > 0 && distances[at - 1] > distance; at--) {
            distances[at] = distances[at - 1];
            nearest[at] = nearest[at - 1];
        }
        distances[at] = distance;
        nearest[at] = s->at[i];
    }
    memset(mean, 0, 3 * sizeof *mean);
    for (int n = 0; n < count; n++)
        for (int c = 0; c < 3; c++)
            mean[c] += nearest[n][c] / count;
}

/* Turns v by the smallest rotation that takes one direction to another. */
static void turn_along(const double from[3], const double to[3], double v[3]) {
    double a[3], b[3], q[4];
    memcpy(a, from, sizeof a);
    memcpy(b, to, sizeof b);
    if (!exi_unit3(a) || !exi_unit3(b))
        return;
    exi_cross(a, b, q);
    q[3] = 1 + exi_dot3(a, b);
    if (q[3] > 1e-6 && exi_normalise(q, 4))
        exi_rotate(q, v, v);
}

static void move_joints(seen *s) {
    ex_kinematics *k = s->run->kinematics;
    for (int j = 1; j < k->joint_count; j++) {
        ex_kin_joint *joint = &k->joints[j];
        double own[3], other[3], a[3], b[3], apart[3], bone[3];
        if (find_middle(s, j, own) < NEAR || find_middle(s, joint->parent, other) < NEAR)
            continue;
        find_nearest(s, j, other, a);
        find_nearest(s, joint->parent, own, b);
        for (int c = 0; c < 3; c++)
            a[c] = 0.5 * (a[c] + b[c]);
        exi_subtract(a, s->joints[j], apart);
        if (exi_dot3(apart, apart) < FAR * FAR)
            continue;
        exi_subtract(a, s->joints[joint->parent], bone);
        if (joint->freedom == EX_FREEDOM_HINGE)
            turn_along(joint->translation, bone, joint->axis);
        memcpy(joint->translation, bone, sizeof bone);
        place_joints(s, s->joints[0]);
    }
}

void exi_label_place_reference(exi_label_run *run) {
    const ex_label_scan *scan = &run->def->scans[run->def->reference];
    ex_kinematics *k = run->kinematics;
    double base[3];
    seen s = {.run = run, .at = run->seen, .joints = run->joints};
    for (int g = 0; g < scan->given_count; g++)
        if (scan->given[g].confidence >= EX_LABEL_SURE)
            s.at[run->given[run->def->reference][g]] = scan->given[g].position;
    memcpy(base, k->joints[0].translation, sizeof base);
    place_joints(&s, base);
    find_base(&s, base);
    place_joints(&s, base);
    move_joints(&s);
    memcpy(run->still.translation, s.joints[0], sizeof run->still.translation);
    memcpy(run->poses[run->def->reference].translation, s.joints[0], sizeof run->still.translation);
    run->turned[run->def->reference] = true;
    for (int i = 0; i < k->site_count; i++) {
        if (s.at[i]) {
            exi_subtract(s.at[i], s.joints[k->sites[i].joint], k->sites[i].local);
            k->sites[i].placed = true;
        } else if (k->sites[i].placed) {
            run->sigmas[i] = 0.03; /* from the table: the intended place */
        }
    }
}

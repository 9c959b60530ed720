/*
 * Finds the bones of a kinematics, as a surface sees them (Allen, Curless, Popovic 2002, section 4.1): each leads from
 * its joint to the child with the longest limb below it. A hinge whose axis lies along the bone, as in a forearm, has
 * no bone: it turns the bone it lies in, increasingly towards its far end. Joints that are mirror images of each other,
 * by the skeleton or by position, are moved to exactly mirrored positions.
 */
#include "author/scan/template/template.h"

#include "author/base/array.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"

#include <exemplar/author/project.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Least cosine for a hinge to lie along its bone. */
#define TWIST 0.85
/* Largest deviation of siblings from mirror images, in lengths of their translations. */
#define MIRROR_ROOM 0.15
/* Largest distance of the trunk's joints from the plane of symmetry, which is the base's, and of other joints from the
 * mirror images of their partners, in sizes of the skeleton. A raised arm is farther off. */
#define PLANE_ROOM 0.08
/* Length of the flesh beyond the last joint, in lengths of the bone above. */
#define LAST_LIMB 0.65
/* The same for a head, in lengths of the trunk. */
#define LAST_TRUNK 0.38

/* Least cosine between a last bone and the one above for markers to tell its direction: those of a face do not. */
#define AHEAD 0.7

/* A joint is part of the trunk if it is nearer to its axis than this, in distances of its child from it: a clavicle. */
#define YOKE 0.55

static double length_of(const double v[3]) {
    return hypot(hypot(v[0], v[1]), v[2]);
}

static void place_joints(const ex_kinematics *kinematics, exi_bones *bones) {
    double low[3] = {INFINITY, INFINITY, INFINITY}, high[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int j = 0; j < bones->count; j++) {
        const ex_kin_joint *joint = &kinematics->joints[j];
        exi_bone *bone = &bones->all[j];
        *bone = (exi_bone){.parent = joint->parent, .child = -1, .partner = -1, .carrier = j, .twist = -1};
        for (int c = 0; c < 3; c++) {
            bone->place[c] = joint->translation[c] + (joint->parent >= 0 ? bones->all[joint->parent].place[c] : 0);
            low[c] = bone->place[c] < low[c] ? bone->place[c] : low[c];
            high[c] = bone->place[c] > high[c] ? bone->place[c] : high[c];
        }
    }
    bones->size = hypot(hypot(high[0] - low[0], high[1] - low[1]), high[2] - low[2]);
}

/* ---- pairs ---- */

static bool are_mirrored(const ex_kinematics *kinematics, int j, int k) {
    const double *a = kinematics->joints[j].translation, *b = kinematics->joints[k].translation;
    const double room = MIRROR_ROOM * (length_of(a) + length_of(b)) / 2;
    return a[0] * b[0] < 0 && fabs(a[0]) > room && fabs(a[0] + b[0]) <= room && fabs(a[1] - b[1]) <= room &&
           fabs(a[2] - b[2]) <= room;
}

static void pair(exi_bones *bones, int j, int k) {
    bones->all[j].partner = k;
    bones->all[k].partner = j;
}

/* Returns the joint with left and right exchanged in its name; -1: none. */
static int find_named(const ex_kinematics *kinematics, int joint, bool *failed) {
    char *name = kinematics->joints[joint].name ? ex_mirror_name(kinematics->joints[joint].name) : NULL;
    const int found = name ? ex_kinematics_find_joint(kinematics, name) : -1;
    *failed |= kinematics->joints[joint].name && !name;
    free(name);
    return found == joint ? -1 : found;
}

/* Pairs joints that the skeleton calls mirrored, then those with names of both sides, below one joint or below two
 * partners; then children of one joint, or of two partners, in order. */
/* Returns false without memory. */
static bool find_partners(const ex_kinematics *kinematics, exi_bones *bones) {
    exi_bone *all = bones->all;
    bool failed = false;
    for (int j = 1; j < bones->count; j++) {
        const int mirror = kinematics->joints[j].mirror;
        if (mirror > 0 && mirror < j && all[mirror].partner < 0)
            pair(bones, j, mirror);
    }
    for (int j = 1; j < bones->count; j++) {
        const int other = all[j].partner < 0 ? find_named(kinematics, j, &failed) : -1;
        const int above = kinematics->joints[j].parent, beside = other > 0 ? kinematics->joints[other].parent : -1;
        if (other > 0 && all[other].partner < 0 && (above == beside || all[above].partner == beside))
            pair(bones, j, other);
    }
    for (int j = 1; j < bones->count; j++)
        for (int k = 1; k < j && all[j].partner < 0; k++) {
            const int above = kinematics->joints[j].parent, beside = kinematics->joints[k].parent;
            const bool siblings = above == beside && are_mirrored(kinematics, j, k);
            const bool cousins = above != beside && all[above].partner == beside;
            if (all[k].partner < 0 && (siblings || cousins))
                pair(bones, j, k);
        }
    for (int j = 1; j < bones->count; j++)
        all[j].limb = all[j].partner >= 0 || all[kinematics->joints[j].parent].limb;
    return !failed;
}

/* True if there are limbs, each joint of one has a partner below the same joint or below its parent's partner, and the
 * other joints are in the middle. */
static bool is_symmetric(const ex_kinematics *kinematics, const exi_bones *bones) {
    const exi_bone *all = bones->all;
    bool limbs = false;
    for (int j = 0; j < bones->count; j++) {
        const int partner = all[j].partner;
        limbs |= all[j].limb;
        if (!all[j].limb && fabs(all[j].place[0] - bones->plane) > PLANE_ROOM * bones->size)
            return false;
        if (!all[j].limb)
            continue;
        if (partner < 0)
            return false;
        const int above = kinematics->joints[j].parent, beside = kinematics->joints[partner].parent;
        if (above != beside && all[above].partner != beside)
            return false;
        const double *a = all[j].place, *b = all[partner].place;
        const double away[3] = {a[0] + b[0] - 2 * bones->plane, a[1] - b[1], a[2] - b[2]};
        if (length_of(away) > PLANE_ROOM * bones->size)
            return false;
    }
    return limbs;
}

static void make_symmetric(const ex_kinematics *kinematics, exi_bones *bones) {
    exi_bone *all = bones->all;
    bones->plane = all[0].place[0];
    bones->symmetric = is_symmetric(kinematics, bones);
    for (int j = 0; bones->symmetric && j < bones->count; j++) {
        if (!all[j].limb)
            all[j].place[0] = bones->plane;
        else if (all[j].partner > j) {
            double *a = all[j].place, *b = all[all[j].partner].place;
            a[0] = (a[0] + (2 * bones->plane - b[0])) / 2;
            b[0] = 2 * bones->plane - a[0];
            a[1] = b[1] = (a[1] + b[1]) / 2;
            a[2] = b[2] = (a[2] + b[2]) / 2;
        }
    }
}

/* ---- directions of bones ---- */

static void find_reaches(const ex_kinematics *kinematics, exi_bones *bones) {
    for (int j = bones->count - 1; j > 0; j--) {
        exi_bone *above = &bones->all[kinematics->joints[j].parent];
        const double reach = bones->all[j].reach + length_of(kinematics->joints[j].translation);
        above->reach = reach > above->reach ? reach : above->reach;
    }
}

/* Returns the child that reaches farthest, the first if equal: among all children of a limb, else among those that are
 * not limbs. */
static int main_child(const ex_kinematics *kinematics, const exi_bones *bones, int joint) {
    int best = -1;
    double most = -1;
    for (int j = joint + 1; j < bones->count; j++) {
        const double reach = bones->all[j].reach + length_of(kinematics->joints[j].translation);
        if (kinematics->joints[j].parent == joint && bones->all[j].limb == bones->all[joint].limb && reach > most) {
            best = j;
            most = reach;
        }
    }
    return best;
}

static bool is_twist(const ex_kinematics *kinematics, const exi_bones *bones, int joint) {
    const ex_kin_joint *own = &kinematics->joints[joint];
    const int child = main_child(kinematics, bones, joint);
    if (own->freedom != EX_FREEDOM_HINGE || own->parent < 0 || child < 0)
        return false;
    double direction[3], axis[3] = {own->axis[0], own->axis[1], own->axis[2]};
    exi_subtract(bones->all[child].place, bones->all[own->parent].place, direction);
    return exi_unit3(direction) && exi_unit3(axis) && fabs(exi_dot3(direction, axis)) >= TWIST;
}

static void lead(const ex_kinematics *kinematics, exi_bones *bones, int joint) {
    exi_bone *all = bones->all, *bone = &all[joint];
    int child = main_child(kinematics, bones, joint);
    while (child >= 0 && all[child].carrier != child) {
        bone->twist = child;
        child = main_child(kinematics, bones, child);
    }
    bone->child = child;
    double above[3] = {0, 1, 0};
    const double before = bone->parent >= 0 ? all[bone->parent].length : 0;
    if (bone->parent >= 0)
        memcpy(above, all[bone->parent].direction, sizeof above);
    if (child >= 0) {
        exi_subtract(all[child].place, bone->place, bone->direction);
        bone->length = length_of(bone->direction);
        memcpy(bone->end, all[child].place, sizeof bone->end);
        if (!exi_unit3(bone->direction))
            memcpy(bone->direction, above, sizeof above);
        return;
    }
    double direction[3];
    const double reach = exi_sites_reach(kinematics, joint, direction);
    double trunk = 0;
    for (int j = bone->parent; j >= 0 && !bone->limb; j = all[j].parent)
        trunk += all[j].length;
    bone->length = trunk > 0 ? LAST_TRUNK * trunk : before > 0 ? LAST_LIMB * before : 0.3 * bones->size;
    const bool follows = bone->parent >= 0 && all[bone->parent].limb == bone->limb; /* not the first of a limb */
    const bool ahead = reach > 0.5 * bone->length && (!follows || exi_dot3(direction, above) > AHEAD);
    memcpy(bone->direction, ahead ? direction : above, sizeof above);
    bone->length = ahead && reach > bone->length ? reach : bone->length;
    exi_along(bone->place, bone->direction, bone->length, bone->end);
}

static void find_up(exi_bones *bones) {
    int last = 0;
    while (bones->all[last].child >= 0)
        last = bones->all[last].child;
    exi_subtract(last > 0 ? bones->all[last].place : bones->all[0].end, bones->all[0].place, bones->up);
    if (!exi_unit3(bones->up))
        memcpy(bones->up, bones->all[0].direction, sizeof bones->up);
}

int exi_bone_anchor(const exi_bones *bones, int joint) {
    const exi_bone *bone = &bones->all[joint], *trunk = &bones->all[bone->parent];
    double lateral[2] = {0};
    for (int i = 0; i < 2 && bone->child >= 0; i++) {
        double away[3];
        exi_subtract(i ? bones->all[bone->child].place : bone->place, trunk->place, away);
        exi_along(away, bones->up, -exi_dot3(away, bones->up), away);
        lateral[i] = length_of(away);
    }
    return lateral[0] < YOKE * lateral[1] ? bone->child : joint;
}

/* Makes the last bone of a trunk lead to the middle between the limbs attached to it. */
static void lead_between(exi_bones *bones, int joint) {
    exi_bone *bone = &bones->all[joint];
    double sum[3] = {0}, way[3];
    int count = 0;
    for (int j = joint + 1; j < bones->count; j++)
        if (bones->all[j].parent == joint && bones->all[j].carrier == j) {
            for (int c = 0; c < 3; c++)
                sum[c] += bones->all[exi_bone_anchor(bones, j)].place[c];
            count++;
        }
    for (int c = 0; c < 3 && count > 0; c++)
        way[c] = sum[c] / count - bone->place[c];
    if (count == 0 || length_of(way) < 0.02 * bones->size)
        return;
    bone->length = length_of(way);
    exi_along(bone->place, way, 1, bone->end);
    exi_unit3(way);
    memcpy(bone->direction, way, sizeof way);
}

ex_result exi_bones_make(const ex_kinematics *kinematics, exi_bones *bones, ex_error *error) {
    *bones = (exi_bones){.count = kinematics->joint_count};
    if (kinematics->joint_count < 2)
        return ex_error_set(error, EX_ERROR_DATA,
                            "a template needs a skeleton with at least two joints; this one has %d",
                            kinematics->joint_count);
    bones->all = exi_array_allocate((size_t)bones->count, sizeof *bones->all);
    if (!bones->all)
        return ex_error_memory(error, "bones", (size_t)bones->count * sizeof *bones->all);
    place_joints(kinematics, bones);
    if (!(bones->size > 0) || !isfinite(bones->size)) {
        exi_bones_free(bones);
        return ex_error_set(
            error, EX_ERROR_DATA,
            "the joints of the skeleton are all at one place, or not finite: give their translations, or fit it first");
    }
    if (!find_partners(kinematics, bones)) {
        exi_bones_free(bones);
        return ex_error_memory(error, "a name", 0);
    }
    make_symmetric(kinematics, bones);
    find_reaches(kinematics, bones);
    for (int j = 0; j < bones->count; j++) {
        const int partner = bones->all[j].partner; /* both sides alike, even if one of them is known less well */
        if (is_twist(kinematics, bones, j) || (partner >= 0 && is_twist(kinematics, bones, partner)))
            bones->all[j].carrier = bones->all[kinematics->joints[j].parent].carrier;
    }
    for (int j = 1; j < bones->count; j++)
        bones->all[j].parent = bones->all[kinematics->joints[j].parent].carrier;
    for (int j = 0; j < bones->count; j++)
        lead(kinematics, bones, j);
    find_up(bones);
    for (int j = 0; j < bones->count; j++)
        if (!bones->all[j].limb && bones->all[j].child < 0)
            lead_between(bones, j);
    return EX_OK;
}

void exi_bones_free(exi_bones *bones) {
    free(bones->all);
    *bones = (exi_bones){0};
}

/* ---- skin weights ---- */

void exi_share_add(exi_share *share, int joint, double weight) {
    if (!(weight > 0))
        return;
    for (int i = 0; i < share->count; i++)
        if (share->joints[i] == joint) {
            share->weights[i] += weight;
            return;
        }
    if (share->count < EXI_SHARE_MAX) {
        share->joints[share->count] = joint;
        share->weights[share->count++] = weight;
    }
}

void exi_share_add_bone(exi_share *share, const exi_bones *bones, int bone, double fraction, double weight) {
    const int twist = bones->all[bone].twist;
    const double f = twist < 0 || !(fraction > 0) ? 0 : fraction < 1 ? fraction : 1;
    exi_share_add(share, bone, (1 - f) * weight);
    if (twist >= 0)
        exi_share_add(share, twist, f * weight);
}

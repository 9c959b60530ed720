/*
 * Plans a template: a trunk, along the joints in the middle of the body, and limbs that leave it at its sides or, as
 * legs do, share its lower end. Branches of limbs have no surface: the longest path down is the limb. A trunk with
 * nothing below its last joint is closed, as a head is; one with only arms there ends open at the neck.
 */
#include "author/scan/template/template.h"

#include "author/base/array.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Distance beyond the lower end of the trunk, in lengths of it, at which a limb is a leg. */
#define LEG_STATION 0.15
/* Length of the trunk below its first joint, in lengths of it, and beyond its arms, in half distances between them. */
#define BELOW 0.14
#define NECK  0.48
/* Half the width of a trunk without limbs, in lengths of it. */
#define THIN 0.16
/* Radius of a limb at the trunk, in lengths of its first bone. */
#define ROOT_RADIUS 0.21
/* Shorter bones of limbs, in sizes of the skeleton, have no ring. */
#define SHORT 0.015
/* Tolerance for rounding of a position along the trunk, in sizes of the skeleton. */
#define ROUND 1e-9

int exi_plan_spoke(exi_plan *plan, const exi_spoke *spoke) {
    exi_spoke *grown =
        exi_array_grow(plan->spokes, &plan->spoke_capacity, (size_t)plan->spoke_count + 1, sizeof *plan->spokes);
    if (!grown) {
        plan->failed = true;
        return 0;
    }
    plan->spokes = grown;
    plan->spokes[plan->spoke_count] = *spoke;
    return plan->spoke_count++;
}

void exi_plan_face(exi_plan *plan, int a, int b, int c, int d, int joint) {
    exi_face *grown =
        exi_array_grow(plan->faces, &plan->face_capacity, (size_t)plan->face_count + 1, sizeof *plan->faces);
    if (!grown) {
        plan->failed = true;
        return;
    }
    plan->faces = grown;
    plan->faces[plan->face_count++] = (exi_face){{a, b, c, d}, joint};
}

void exi_plan_tip(exi_plan *plan, int bone, int first, int middle) {
    exi_tip *grown = exi_array_grow(plan->tips, &plan->tip_capacity, (size_t)plan->tip_count + 1, sizeof *plan->tips);
    if (!grown) {
        plan->failed = true;
        return;
    }
    plan->tips = grown;
    plan->tips[plan->tip_count++] = (exi_tip){bone, first, plan->spoke_count - first, middle};
}

void exi_plan_free(exi_plan *plan) {
    free(plan->spokes);
    free(plan->faces);
    free(plan->tips);
    *plan = (exi_plan){0};
}

/* ---- along the trunk ---- */

/* Finds the bone at s, as an index into the list, and the fraction along it. Skips bones of no length. */
static int find_bone(const exi_bones *bones, const exi_trunk *trunk, double s, double *into) {
    int i = 0;
    for (; i + 1 < trunk->count && s >= bones->all[trunk->bones[i]].length - ROUND * bones->size; i++)
        s -= bones->all[trunk->bones[i]].length;
    *into = i > 0 && s < 0 ? 0 : s;
    return i;
}

int exi_trunk_bone(const exi_bones *bones, const exi_trunk *trunk, double s) {
    double into;
    return trunk->bones[find_bone(bones, trunk, s, &into)];
}

void exi_trunk_at(const exi_bones *bones, const exi_trunk *trunk, double s, double place[3], double direction[3]) {
    double into;
    const int i = find_bone(bones, trunk, s, &into);
    const exi_bone *bone = &bones->all[trunk->bones[i]];
    exi_along(bone->place, bone->direction, into, place);
    memcpy(direction, bone->direction, 3 * sizeof *direction);
    if (i > 0 && into <= ROUND * bones->size) {
        exi_along(direction, bones->all[trunk->bones[i - 1]].direction, 1, direction);
        exi_unit3(direction);
    }
}

double exi_trunk_station(const exi_bones *bones, const exi_trunk *trunk, const double p[3]) {
    double best = 0, nearest = INFINITY, start = 0;
    for (int i = 0; i < trunk->count; i++) {
        const exi_bone *bone = &bones->all[trunk->bones[i]];
        double away[3];
        exi_subtract(p, bone->place, away);
        double along = exi_dot3(away, bone->direction);
        along = along < 0 && i > 0 ? 0 : along > bone->length && i + 1 < trunk->count ? bone->length : along;
        exi_along(away, bone->direction, -along, away);
        const double distance = exi_dot3(away, away);
        if (distance < nearest) {
            nearest = distance;
            best = start + along;
        }
        start += bone->length;
    }
    return best;
}

/* Returns the length of a bone of the trunk, including the base's downwards. */
static double extent(const exi_bones *bones, const exi_trunk *trunk, int i) {
    return bones->all[trunk->bones[i]].length - (i == 0 && trunk->begin < 0 ? trunk->begin : 0);
}

/* Returns the next bone upwards or downwards that has a length; -1: none. */
static int beside(const exi_bones *bones, const exi_trunk *trunk, int i, int step) {
    for (i += step; i >= 0 && i < trunk->count; i += step)
        if (extent(bones, trunk, i) > ROUND * bones->size)
            return i;
    return -1;
}

/* Half of each bone at a joint, all of one at the middle between joints, linear in between. */
exi_share exi_trunk_share(const exi_bones *bones, const exi_trunk *trunk, double s) {
    exi_share share = {0};
    double into, sides[2] = {0};
    const int i = find_bone(bones, trunk, s, &into);
    const double length = bones->all[trunk->bones[i]].length, own = extent(bones, trunk, i);
    for (int side = 0; side < 2; side++) {
        const int other = beside(bones, trunk, i, side ? 1 : -1);
        const double away = side ? length - into : into;
        if (other < 0)
            continue;
        const double zone = (extent(bones, trunk, other) < own ? extent(bones, trunk, other) : own) / 2;
        sides[side] = away < zone ? (1 - away / zone) / 2 : 0;
        exi_share_add_bone(&share, bones, trunk->bones[other], side ? 0 : 1, sides[side]);
    }
    exi_share_add_bone(&share, bones, trunk->bones[i], length > 0 ? into / length : 1, 1 - sides[0] - sides[1]);
    return share;
}

/* ---- trunk and limbs ---- */

static bool open_trunk(const exi_bones *bones, exi_trunk *trunk) {
    *trunk = (exi_trunk){.bones = exi_array_allocate((size_t)bones->count, sizeof *trunk->bones),
                         .limbs = calloc((size_t)bones->count, sizeof *trunk->limbs)};
    for (int j = 0; trunk->bones && j >= 0; j = bones->all[j].child) {
        trunk->bones[trunk->count++] = j;
        trunk->end += bones->all[j].length;
    }
    return trunk->bones && trunk->limbs;
}

static void close_trunk(exi_trunk *trunk) {
    for (int i = 0; trunk->limbs && i < trunk->limb_count; i++) {
        free(trunk->limbs[i].bones);
        free(trunk->limbs[i].heads);
    }
    free(trunk->limbs);
    free(trunk->bones);
}

/* True if a limb is attached to the joint of the trunk. */
static bool begins_limb(const exi_bones *bones, const exi_trunk *trunk, int joint) {
    bool on_trunk = false;
    for (int i = 0; i < trunk->count; i++) {
        if (trunk->bones[i] == joint)
            return false;
        on_trunk |= trunk->bones[i] == bones->all[joint].parent;
    }
    return on_trunk && bones->all[joint].carrier == joint;
}

static bool add_limb(const exi_bones *bones, exi_trunk *trunk, int joint) {
    const int anchor = exi_bone_anchor(bones, joint);
    exi_chain *limb = &trunk->limbs[trunk->limb_count];
    double middle[3], direction[3];
    *limb = (exi_chain){.above = bones->all[anchor].parent,
                        .bones = exi_array_allocate((size_t)bones->count, sizeof *limb->bones),
                        .heads = exi_array_allocate((size_t)bones->count, sizeof *limb->heads)};
    trunk->limb_count++;
    if (!limb->bones || !limb->heads)
        return false;
    int head = -1;
    for (int j = anchor; j >= 0; j = bones->all[j].child)
        if (bones->all[j].child < 0 || bones->all[j].length > SHORT * bones->size) {
            limb->heads[limb->count] = head < 0 ? j : head;
            limb->bones[limb->count++] = j;
            head = -1;
        } else if (head < 0) {
            head = j;
        }
    limb->station = exi_trunk_station(bones, trunk, bones->all[anchor].place);
    exi_trunk_at(bones, trunk, limb->station, middle, direction);
    const double away = bones->all[anchor].place[0] - middle[0];
    limb->side = away > 0 || (away == 0 && bones->all[anchor].direction[0] >= 0) ? 1 : -1;
    limb->radius = ROOT_RADIUS * bones->all[limb->bones[0]].length;
    limb->split = limb->station < LEG_STATION * trunk->end && exi_dot3(bones->all[anchor].direction, bones->up) < -0.5;
    return true;
}

/* The lower end has room for one leg per side, and a single leg is an ordinary limb. On each side, limbs follow each
 * other along the trunk with space between; else the two that are too close are named. */
static ex_result sort_limbs(const ex_kinematics *kinematics, exi_trunk *trunk, ex_error *error) {
    int legs[2] = {0};
    for (int i = 0; i < trunk->limb_count; i++) {
        int *side = &legs[trunk->limbs[i].side > 0];
        trunk->limbs[i].split &= *side == 0;
        *side += trunk->limbs[i].split;
    }
    for (int i = 0; i < trunk->limb_count; i++)
        trunk->limbs[i].split &= legs[0] == 1 && legs[1] == 1;
    for (int i = 1; i < trunk->limb_count; i++)
        for (int k = 0; k < i; k++) {
            const exi_chain *a = &trunk->limbs[i], *b = &trunk->limbs[k];
            if (a->side == b->side && fabs(a->station - b->station) < 2 * (a->radius + b->radius))
                return ex_error_set(error, EX_ERROR_DATA,
                                    "the cage has no room for a limb at '%s' beside that at '%s', on the same side of "
                                    "the body: correct the skeleton's own pose, or give a \"cage\"",
                                    kinematics->joints[a->bones[0]].name, kinematics->joints[b->bones[0]].name);
        }
    return EX_OK;
}

static void measure_trunk(const ex_kinematics *kinematics, const exi_bones *bones, exi_trunk *trunk) {
    const exi_bone *last = &bones->all[trunk->bones[trunk->count - 1]], *first = &bones->all[0];
    double beyond = 0, sum = 0, low = 0;
    int arms = 0, legs = 0;
    trunk->closed = true;
    for (int i = 0; i < trunk->limb_count; i++) {
        const exi_chain *limb = &trunk->limbs[i];
        double middle[3], direction[3];
        if (limb->split) {
            low += limb->station / 2;
            legs++;
            continue;
        }
        exi_trunk_at(bones, trunk, limb->station, middle, direction);
        sum += hypot(bones->all[limb->bones[0]].place[0] - middle[0], bones->all[limb->bones[0]].place[2] - middle[2]);
        arms++;
        beyond = limb->station > beyond ? limb->station : beyond;
    }
    for (int j = 0; j < bones->count; j++)
        trunk->closed &= bones->all[j].parent != trunk->bones[trunk->count - 1];
    trunk->wide = arms > 0 ? sum / arms : THIN * trunk->end;
    trunk->begin = -BELOW * trunk->end;
    for (int i = 0; i < kinematics->site_count; i++)
        if (kinematics->sites[i].joint == 0 && kinematics->sites[i].placed) {
            const double along = exi_dot3(kinematics->sites[i].local, first->direction);
            trunk->begin = along < trunk->begin && along > -0.5 * trunk->end ? along : trunk->begin;
        }
    if (legs > 0)
        trunk->begin = low;
    if (last->child < 0 && !trunk->closed)
        trunk->end = beyond + NECK * trunk->wide > trunk->end ? beyond + NECK * trunk->wide : trunk->end;
}

ex_result exi_plan_make(const ex_kinematics *kinematics, const exi_bones *bones, exi_plan *plan, ex_error *error) {
    *plan = (exi_plan){.kinematics = kinematics, .bones = bones};
    exi_trunk trunk;
    bool good = open_trunk(bones, &trunk);
    for (int j = 1; good && j < bones->count; j++)
        if (begins_limb(bones, &trunk, j))
            good = add_limb(bones, &trunk, j);
    ex_result result = good ? sort_limbs(kinematics, &trunk, error) : EX_OK;
    if (good && result == EX_OK) {
        measure_trunk(kinematics, bones, &trunk);
        exi_plan_rings(plan, &trunk);
    }
    close_trunk(&trunk);
    if (good && !plan->failed && result == EX_OK)
        return EX_OK;
    exi_plan_free(plan);
    return result != EX_OK ? result : ex_error_memory(error, "the template", (size_t)bones->count * sizeof(exi_spoke));
}

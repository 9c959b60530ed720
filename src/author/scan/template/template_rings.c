/*
 * Makes rings of control points (Allen, Curless, Popovic 2002, section 4.1). There is one at every joint, perpendicular
 * to the direction half-way between the bones that meet there, with half the weight on each; dual quaternions blend
 * these to the half-way rotation about the joint. Rings between joints belong to one bone. A ring of the trunk has
 * eight points,
 *
 *     0 1 left front, inner left front, 2 3 the same on the right, 4 5 right back, 6 7 left back,
 *
 * one of a limb four: outer or upper front, back, inner or lower back, front. At a limb, a quadrangle of the trunk's
 * side is left out, and its corners are the limb's first ring. At two legs, points 0 1 6 7 of the trunk's lower end are
 * the first ring of the left one, and a quadrangle between the legs remains.
 */
#include "author/scan/template/template.h"

#include "author/base/array.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Half widths of a trunk, across and from front to back, in half distances between its limbs; likewise of the neck and
 * the head. */
#define CHEST_WIDE 0.85
#define CHEST_DEEP 0.60
#define NECK_WIDE  0.36
#define HEAD_WIDE  0.50
/* Radius of a limb at both ends of a bone, in lengths of it; and the least radius of a bone, in radii of the one above,
 * and at its lower end in its own upper ones: hands and feet are short for their width. */
#define LIMB_UPPER 0.17
#define LIMB_LOWER 0.12
#define LIMB_LEAST 0.75
#define LIMB_TAPER 0.70
/* Width of the last ring of a limb, relative to usual. */
#define TIP_WIDE 0.75

/* ---- usual widths ---- */

typedef struct usual {
    const exi_bones *bones;
    const exi_trunk *trunk;
    int bone;
} usual;

/* Computes half width and half depth at s. */
static void trunk_widths(const usual *u, double s, double widths[2]) {
    double neck = INFINITY;
    bool arms = false;
    for (int i = 0; i < u->trunk->limb_count; i++)
        if (!u->trunk->limbs[i].split) {
            const double top = u->trunk->limbs[i].station + 1.5 * u->trunk->limbs[i].radius;
            neck = !arms || top > neck ? top : neck;
            arms = true;
        }
    const bool head =
        s > neck && u->trunk->closed && exi_trunk_bone(u->bones, u->trunk, s) == u->trunk->bones[u->trunk->count - 1];
    widths[0] = u->trunk->wide * (!arms ? 1 : head ? HEAD_WIDE : s > neck ? NECK_WIDE : CHEST_WIDE);
    widths[1] = u->trunk->wide * (!arms ? 1 : head ? HEAD_WIDE : s > neck ? NECK_WIDE : CHEST_DEEP);
}

/* Computes directions across the trunk at s: to the left, to the front. */
static void trunk_axes(const exi_bones *bones, const exi_trunk *trunk, double s, double place[3], double along[3],
                       double left[3], double front[3]) {
    static const double axes[2][3] = {{1, 0, 0}, {0, 0, 1}};
    exi_trunk_at(bones, trunk, s, place, along);
    for (int i = 0; i < 2; i++) { /* a trunk along x has another left */
        exi_along(axes[i], along, -exi_dot3(axes[i], along), left);
        if (exi_dot3(left, left) > 0.1)
            break;
    }
    exi_unit3(left);
    exi_cross(left, along, front);
}

static double usual_of_trunk(const void *context, const double p[3]) {
    const usual *u = context;
    const double s = exi_trunk_station(u->bones, u->trunk, p);
    double place[3], along[3], left[3], front[3], widths[2], away[3];
    trunk_axes(u->bones, u->trunk, s, place, along, left, front);
    trunk_widths(u, s, widths);
    exi_subtract(p, place, away);
    const double x = exi_dot3(away, left), z = exi_dot3(away, front), r = hypot(x, z);
    return r > 0 ? 1 / hypot(x / r / widths[0], z / r / widths[1]) : widths[1];
}

/* Computes the radii at both ends of a bone. */
static void limb_radii(const exi_bones *bones, int bone, double radii[2]) {
    const exi_bone *own = &bones->all[bone];
    double above[2] = {0};
    if (own->parent >= 0 && bones->all[own->parent].limb)
        limb_radii(bones, own->parent, above);
    radii[0] = LIMB_UPPER * own->length > LIMB_LEAST * above[1] ? LIMB_UPPER * own->length : LIMB_LEAST * above[1];
    radii[1] = LIMB_LOWER * own->length > LIMB_TAPER * radii[0] ? LIMB_LOWER * own->length : LIMB_TAPER * radii[0];
    radii[1] = own->child < 0 ? radii[0] : radii[1];
}

static double limb_radius(const exi_bones *bones, int bone, double fraction) {
    double radii[2];
    limb_radii(bones, bone, radii);
    return radii[0] + (radii[1] - radii[0]) * fraction;
}

static double usual_of_limb(const void *context, const double p[3]) {
    const usual *u = context;
    const exi_bone *bone = &u->bones->all[u->bone];
    double away[3];
    exi_subtract(p, bone->place, away);
    const double fraction = exi_dot3(away, bone->direction) / bone->length;
    return limb_radius(u->bones, u->bone, fraction < 0 ? 0 : fraction > 1 ? 1 : fraction);
}

/* ---- a ring ---- */

static int next_point(exi_plan *plan, const double centre[3], const double across[3], double radius,
                      const exi_share *share) {
    exi_spoke spoke = {.radius = radius, .most = INFINITY, .ratio = NAN, .ring = plan->ring_count, .mirror = -1};
    memcpy(spoke.centre, centre, sizeof spoke.centre);
    memcpy(spoke.direction, across, sizeof spoke.direction);
    exi_unit3(spoke.direction);
    spoke.share = *share;
    return exi_plan_spoke(plan, &spoke);
}

/* Makes the points of a ring that are still -1. */
void exi_trunk_ring(exi_plan *plan, const exi_trunk *trunk, double s, double narrow, int ring[EXI_TRUNK_POINTS]) {
    const usual u = {plan->bones, trunk, exi_trunk_bone(plan->bones, trunk, s)};
    const exi_share share = exi_trunk_share(plan->bones, trunk, s);
    const double scale = narrow * exi_width_by_sites(plan->kinematics, plan->bones, u.bone, usual_of_trunk, &u);
    double place[3], along[3], left[3], front[3], widths[2];
    trunk_axes(plan->bones, trunk, s, place, along, left, front);
    trunk_widths(&u, s, widths);
    for (int m = 0; m < EXI_TRUNK_POINTS; m++) {
        const double angle = 0.39269908169872414 * (2 * m + 1); /* an eighth of half a turn */
        const double x = scale * widths[0] * cos(angle), z = scale * widths[1] * sin(angle);
        double across[3];
        for (int c = 0; c < 3; c++)
            across[c] = x * left[c] + z * front[c];
        if (ring[m] < 0)
            ring[m] = next_point(plan, place, across, hypot(x, z), &share);
    }
    plan->ring_count++;
}

/* Turns the frame to another direction with the least twist. */
static void turn_frame(exi_frame *f, const double along[3], int side) {
    memcpy(f->along, along, sizeof f->along);
    exi_along(f->front, along, -exi_dot3(f->front, along), f->front);
    if (exi_dot3(f->front, f->front) < 1e-4) {
        memcpy(f->front, f->up, sizeof f->front);
        exi_along(f->front, along, -exi_dot3(f->front, along), f->front);
    }
    exi_unit3(f->front);
    exi_cross(f->front, along, f->up);
    for (int c = 0; c < 3; c++)
        f->up[c] *= side;
}

static const int corner_signs[EXI_LIMB_POINTS][2] = {{1, 1}, {1, -1}, {-1, -1}, {-1, 1}}; /* up, front */

static void limb_ring(exi_plan *plan, const double centre[3], const exi_frame *f, double radius, const exi_share *share,
                      int ring[EXI_LIMB_POINTS]) {
    for (int k = 0; k < EXI_LIMB_POINTS; k++) {
        double across[3];
        for (int c = 0; c < 3; c++)
            across[c] = corner_signs[k][0] * f->up[c] + corner_signs[k][1] * f->front[c];
        ring[k] = next_point(plan, centre, across, radius, share);
    }
    plan->ring_count++;
}

/* ---- first rings of limbs ---- */

/* Makes legs begin in a plane that slopes down inwards; their inner points do not cross the middle, and move less. */
static void lower_inner_points(exi_plan *plan, const exi_trunk *trunk, const exi_chain *limb, double radius,
                               const int ring[EXI_LIMB_POINTS]) {
    const exi_bone *bone = &plan->bones->all[limb->bones[0]];
    double middle[3], along[3];
    exi_trunk_at(plan->bones, trunk, trunk->begin, middle, along);
    for (int k = 0; k < EXI_LIMB_POINTS && !plan->failed; k++) {
        exi_spoke *spoke = &plan->spokes[ring[k]];
        const bool inner = corner_signs[k][0] < 0;
        exi_along(spoke->centre, bone->direction, (inner ? 0.5 : -0.2) * radius, spoke->centre);
        if (!inner)
            continue;
        const double room = fabs(spoke->centre[0] - middle[0]) - 0.35 * radius, sideways = fabs(spoke->direction[0]);
        spoke->most = room > 0.2 * radius && sideways > 0 ? room / sideways : 0.3 * radius;
        spoke->radius = spoke->radius < spoke->most ? spoke->radius : spoke->most;
        exi_share share = {0};
        for (int i = 0; i < spoke->share.count; i++)
            exi_share_add(&share, spoke->share.joints[i], spoke->share.weights[i] / 2);
        const exi_share still = exi_trunk_share(plan->bones, trunk, trunk->begin);
        for (int i = 0; i < still.count; i++)
            exi_share_add(&share, still.joints[i], still.weights[i] / 2);
        spoke->share = share;
    }
}

void exi_limb_begin(exi_plan *plan, const exi_trunk *trunk, const exi_chain *limb, exi_frame *f,
                    int ring[EXI_LIMB_POINTS]) {
    const int first = limb->bones[0];
    const exi_bone *bone = &plan->bones->all[first];
    const usual u = {plan->bones, trunk, first};
    double place[3], along[3], left[3], across[3];
    trunk_axes(plan->bones, trunk, limb->station, place, along, left, f->front);
    memcpy(f->up, along, sizeof along);
    for (int c = 0; c < 3; c++)
        across[c] = bone->direction[c] + (limb->split ? -along[c] : limb->side * left[c]);
    if (!exi_unit3(across))
        memcpy(across, bone->direction, sizeof across);
    turn_frame(f, across, limb->side);
    exi_share share = {0};
    exi_share_add_bone(&share, plan->bones, limb->above, 1, 0.5);
    exi_share_add_bone(&share, plan->bones, first, 0, 0.5);
    const double radius = limb->radius * exi_width_by_sites(plan->kinematics, plan->bones, first, usual_of_limb, &u);
    limb_ring(plan, bone->place, f, radius, &share, ring);
    if (limb->split)
        lower_inner_points(plan, trunk, limb, radius, ring);
}

/* ---- limbs ---- */

static void join_rings(exi_plan *plan, const int *above, const int *below, int side, int joint) {
    for (int k = 0; k < EXI_LIMB_POINTS; k++) {
        const int n = (k + 1) % EXI_LIMB_POINTS;
        if (side > 0)
            exi_plan_face(plan, above[k], below[k], below[n], above[n], joint);
        else
            exi_plan_face(plan, above[k], above[n], below[n], below[k], joint);
    }
}

/* Returns the joint that a face with its middle at that fraction of the bone belongs to: the bone's own, or its
 * twist. */
static int joint_at(const exi_bones *bones, int bone, double fraction) {
    return bones->all[bone].twist >= 0 && fraction > 0.5 ? bones->all[bone].twist : bone;
}

void exi_limb_rings(exi_plan *plan, const exi_trunk *trunk, const exi_chain *limb, exi_frame f,
                    const int first[EXI_LIMB_POINTS]) {
    const exi_bones *bones = plan->bones;
    int above[EXI_LIMB_POINTS], ring[EXI_LIMB_POINTS];
    memcpy(above, first, sizeof above);
    for (int i = 0; i < limb->count; i++) {
        const int own = limb->bones[i], next = i + 1 < limb->count ? limb->bones[i + 1] : -1;
        const exi_bone *bone = &bones->all[own];
        const usual u = {bones, trunk, own}, v = {bones, trunk, next};
        const double scale = exi_width_by_sites(plan->kinematics, bones, own, usual_of_limb, &u);
        double place[3], along[3];
        exi_share share = {0};
        memcpy(along, bone->direction, sizeof along);
        turn_frame(&f, along, limb->side);
        if (next >= 0) {
            exi_along(bone->place, bone->direction, bone->length / 2, place);
            exi_share_add_bone(&share, bones, own, 0.5, 1);
            limb_ring(plan, place, &f, scale * limb_radius(bones, own, 0.5), &share, ring);
            join_rings(plan, above, ring, limb->side, limb->heads[i]);
            memcpy(above, ring, sizeof above);
            const exi_bone *below = &bones->all[next];
            const double other = exi_width_by_sites(plan->kinematics, bones, next, usual_of_limb, &v);
            exi_along(along, below->direction, 1, along);
            if (exi_unit3(along))
                turn_frame(&f, along, limb->side);
            share = (exi_share){0};
            exi_share_add_bone(&share, bones, own, 1, 0.5);
            exi_share_add_bone(&share, bones, next, 0, 0.5);
            limb_ring(plan, below->place, &f,
                      (scale * limb_radius(bones, own, 1) + other * limb_radius(bones, next, 0)) / 2, &share, ring);
        } else {
            exi_along(bone->place, bone->direction, EXI_TIP * bone->length, place);
            exi_share_add_bone(&share, bones, own, EXI_TIP, 1);
            limb_ring(plan, place, &f, scale * TIP_WIDE * limb_radius(bones, own, EXI_TIP), &share, ring);
            exi_plan_tip(plan, own, plan->spoke_count - EXI_LIMB_POINTS, -1);
        }
        join_rings(plan, above, ring, limb->side, joint_at(bones, own, 0.75));
        memcpy(above, ring, sizeof above);
    }
    const int last = joint_at(bones, limb->bones[limb->count - 1], 1);
    if (limb->side > 0)
        exi_plan_face(plan, above[0], above[3], above[2], above[1], last);
    else
        exi_plan_face(plan, above[0], above[1], above[2], above[3], last);
}

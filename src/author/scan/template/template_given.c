/*
 * Skin weights of a template that was given as a mesh: each vertex follows its nearest bone. Near a joint, across the
 * plane half-way between the bones that meet there, weights change over from one bone to the other, half each in the
 * plane itself. Since this depends only on the distance from that plane, it does not matter which of the two bones is
 * nearer.
 */
#include "author/scan/template/template.h"

#include "runtime/base/vector.h"

#include <math.h>

/* Distance from a joint within which both bones count, in lengths of the shorter. */
#define ZONE 0.4

/* Distance to the segment from a joint to one of its children, or to the end of its flesh. */
static double distance_to(const double p[3], const double from[3], const double to[3], double *fraction) {
    double along[3], away[3];
    exi_subtract(to, from, along);
    exi_subtract(p, from, away);
    const double length = exi_dot3(along, along), f = length > 0 ? exi_dot3(along, away) / length : 0;
    *fraction = f < 0 ? 0 : f > 1 ? 1 : f;
    exi_along(away, along, -*fraction, away);
    return sqrt(exi_dot3(away, away));
}

/* Returns a point's weight of the bone below a joint: 0 above, 1/2 at the plane through it, 1 below. */
static double part_below(const exi_bones *bones, int above, int below, const double p[3]) {
    const exi_bone *a = &bones->all[above], *b = &bones->all[below];
    double normal[3], into[3], away[3];
    exi_subtract(b->place, a->place, into);
    const double reach = sqrt(exi_dot3(into, into)), zone = ZONE * (reach < b->length ? reach : b->length);
    if (!exi_unit3(into))
        return 1;
    exi_along(into, b->direction, 1, normal);
    if (!exi_unit3(normal) || !(zone > 0))
        return 1;
    exi_subtract(p, b->place, away);
    const double t = exi_dot3(away, normal) / zone;
    const double x = t < -1 ? 0 : t > 1 ? 1 : (t + 1) / 2;
    return x * x * (3 - 2 * x);
}

/* Returns the nearest bone; *child: the bone it leads to there, or -1. */
static int find_bone(const exi_bones *bones, const double p[3], int *child, double *fraction) {
    int best = 0;
    double nearest = INFINITY;
    for (int j = 0; j < bones->count; j++) {
        const exi_bone *bone = &bones->all[j];
        if (bone->carrier != j)
            continue;
        for (int side = 0; side < 2; side++) { /* its own bone, and the segment to it from the joint above */
            double f;
            if (side && (bone->parent < 0 || bones->all[bone->parent].child == j))
                continue;
            const double d = side ? distance_to(p, bones->all[bone->parent].place, bone->place, &f)
                                  : distance_to(p, bone->place, bone->end, &f);
            if (d < nearest) {
                nearest = d;
                best = side ? bone->parent : j;
                *child = side ? j : bone->child;
                *fraction = f;
            }
        }
    }
    return best;
}

void exi_template_given(const exi_bones *bones, const ex_mesh *mesh, exi_share *shares) {
    for (int v = 0; v < mesh->vertex_count; v++) {
        const double *p = mesh->positions + 3 * (size_t)v;
        int child = -1;
        double fraction = 0, above = 0, below = 0;
        const int bone = find_bone(bones, p, &child, &fraction), parent = bones->all[bone].parent;
        shares[v] = (exi_share){0};
        if (child >= 0)
            below = part_below(bones, bone, child, p);
        if (parent >= 0)
            above = 1 - part_below(bones, parent, bone, p);
        const double sum = above + below > 1 ? above + below : 1;
        if (above > 0)
            exi_share_add_bone(&shares[v], bones, parent, 1, above / sum);
        if (below > 0)
            exi_share_add_bone(&shares[v], bones, child, 0, below / sum);
        exi_share_add_bone(&shares[v], bones, bone, fraction, 1 - (above + below) / sum);
    }
}

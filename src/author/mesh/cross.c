/*
 * Tests whether two triangles cross, by the intervals they cut out of the line their planes share (T. Möller, "A fast
 * triangle-triangle intersection test", 1997); if they lie in one plane, by separating directions.
 *
 * Distances from planes are compared with a tolerance, not with zero: positions are floats that went through rotations
 * and sums, and two triangles along a seam are neighbours, not a fold, whatever their last bits.
 */
#include "author/mesh/cross.h"

#include "runtime/base/vector.h"

#include <math.h>

/* The plane normal · x = offset, |normal| = 1. */
typedef struct plane {
    double normal[3];
    double offset;
} plane;

/* False for a triangle no wider than the tolerance, whose plane is noise. */
static bool plane_of(double t[3][3], double tolerance, plane *out) {
    double edges[3][3], longest_sq = 0;
    for (int i = 0; i < 3; i++) {
        exi_subtract(t[(i + 1) % 3], t[i], edges[i]);
        longest_sq = fmax(longest_sq, exi_dot3(edges[i], edges[i]));
    }
    exi_cross(edges[0], edges[1], out->normal);
    double length = sqrt(exi_dot3(out->normal, out->normal)); /* longest edge · width */
    if (!(length > tolerance * sqrt(longest_sq)) || !(length > 0))
        return false;
    for (int i = 0; i < 3; i++)
        out->normal[i] /= length;
    double centre[3];
    for (int i = 0; i < 3; i++)
        centre[i] = (t[0][i] + t[1][i] + t[2][i]) / 3;
    out->offset = exi_dot3(out->normal, centre);
    return true;
}

/* Signed distances of the corners from a plane; those within the tolerance are 0. */
typedef struct sides {
    double distance[3];
    bool above, below;
} sides;

static sides sides_of(double t[3][3], const plane *p, double tolerance) {
    sides s = {.above = false, .below = false};
    for (int i = 0; i < 3; i++) {
        double d = exi_dot3(p->normal, t[i]) - p->offset;
        s.distance[i] = fabs(d) <= tolerance ? 0 : d;
        s.above = s.above || s.distance[i] > 0;
        s.below = s.below || s.distance[i] < 0;
    }
    return s;
}

/* Intersects a plane with a triangle that has corners on both sides. Returns the extent along `direction`. */
static void extent_on_line(double t[3][3], const sides *s, const double direction[3], double *low, double *high) {
    *low = INFINITY;
    *high = -INFINITY;
    for (int i = 0; i < 3; i++) {
        int j = (i + 1) % 3;
        double di = s->distance[i], dj = s->distance[j];
        double at;
        if (di == 0)
            at = exi_dot3(direction, t[i]);
        else if ((di > 0) != (dj > 0) && dj != 0) {
            double ti = exi_dot3(direction, t[i]), tj = exi_dot3(direction, t[j]);
            at = ti + (tj - ti) * (di / (di - dj));
        } else
            continue;
        *low = fmin(*low, at);
        *high = fmax(*high, at);
    }
}

/* For triangles in one plane with this normal: true if no edge of `a` has all of `b` outside it or touching it. */
static bool no_edge_parts(double a[3][3], double b[3][3], const double normal[3], double tolerance) {
    for (int i = 0; i < 3; i++) {
        double edge[3], outward[3];
        exi_subtract(a[(i + 1) % 3], a[i], edge);
        exi_cross(edge, normal, outward);
        double length = sqrt(exi_dot3(outward, outward));
        double a_high = -INFINITY, a_low = INFINITY, b_high = -INFINITY, b_low = INFINITY;
        for (int k = 0; k < 3; k++) {
            double at = exi_dot3(outward, a[k]) / length, bt = exi_dot3(outward, b[k]) / length;
            a_high = fmax(a_high, at);
            a_low = fmin(a_low, at);
            b_high = fmax(b_high, bt);
            b_low = fmin(b_low, bt);
        }
        if (fmin(a_high, b_high) - fmax(a_low, b_low) <= tolerance)
            return false;
    }
    return true;
}

bool exi_triangles_cross(double a[3][3], double b[3][3], double tolerance) {
    plane plane_a, plane_b;
    if (!plane_of(a, tolerance, &plane_a) || !plane_of(b, tolerance, &plane_b))
        return false;
    sides a_sides = sides_of(a, &plane_b, tolerance), b_sides = sides_of(b, &plane_a, tolerance);
    bool a_lies_in_b = !a_sides.above && !a_sides.below, b_lies_in_a = !b_sides.above && !b_sides.below;
    if (a_lies_in_b || b_lies_in_a) {
        const double *normal = a_lies_in_b ? plane_b.normal : plane_a.normal;
        return no_edge_parts(a, b, normal, tolerance) && no_edge_parts(b, a, normal, tolerance);
    }
    if (!(a_sides.above && a_sides.below && b_sides.above && b_sides.below))
        return false;
    double direction[3];
    exi_cross(plane_a.normal, plane_b.normal, direction);
    double length = sqrt(exi_dot3(direction, direction));
    if (!(length > 0))
        return false;
    for (int i = 0; i < 3; i++)
        direction[i] /= length;
    double a_low, a_high, b_low, b_high;
    extent_on_line(a, &a_sides, direction, &a_low, &a_high);
    extent_on_line(b, &b_sides, direction, &b_low, &b_high);
    return fmin(a_high, b_high) - fmax(a_low, b_low) > tolerance;
}

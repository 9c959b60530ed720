/*
 * The side of a driver on which a point lies: that of the pseudo-normal at its closest point (J. A. Baerentzen and H.
 * Aanaes, "Signed distance computation using the angle weighted pseudonormal", 2005): within a triangle its normal, on
 * an edge the sum of the unit normals that meet there, at a vertex their sum weighted by the angles. For a closed
 * surface it correctly separates inside and outside, wherever the point is.
 *
 * Normals are computed on demand: nearly all closest points lie within a triangle. All triangles of the driver count,
 * also for points that do not see them: the side of a surface does not depend on the bind set. Triangles that are not
 * finite, or have no area, do not count.
 */
#include "runtime/base/functions.inl"
#include "runtime/base/vector.h"
#include "runtime/settle/settler.h"

/* Coordinates below this are 0: the point is on an edge, within rounding. */
#define ON_EDGE 1e-6f

static const uint32_t *corners_of(const exi_driver *driver, uint32_t triangle) {
    return (const uint32_t *)exi_tree_at(driver->settler, driver->settler->triangles) + 3 * (size_t)triangle;
}

static bool corners(const exi_driver *driver, const uint32_t corner[3], double p[3][3]) {
    for (int i = 0; i < 3; i++) {
        const float *at = driver->positions + 3 * (size_t)corner[i];
        if (!exi_finite3(at))
            return false;
        for (int c = 0; c < 3; c++)
            p[i][c] = (double)at[c];
    }
    return true;
}

static bool normal_of(const double p[3][3], double normal[3]) {
    double ab[3], ac[3];
    exi_subtract(p[1], p[0], ab);
    exi_subtract(p[2], p[0], ac);
    exi_cross(ab, ac, normal);
    return exi_unit3(normal);
}

/* The angle at corner i. */
static double angle_at(const double p[3][3], int i) {
    double e[3], f[3], n[3];
    exi_subtract(p[(i + 1) % 3], p[i], e);
    exi_subtract(p[(i + 2) % 3], p[i], f);
    exi_cross(e, f, n);
    return exi_corner(sqrt(exi_dot3(n, n)), exi_dot3(e, f));
}

/* Sums over the triangles around vertex a: those that also have corner b, equally weighted, or if b is a, all of them,
 * weighted by angle. */
static void sum_around(const exi_driver *driver, uint32_t a, uint32_t b, float normal[3]) {
    const ex_settler *s = driver->settler;
    const uint32_t *triangles = exi_tree_at(s, s->triangles), *first = exi_tree_at(s, s->incident);
    const uint32_t *list = exi_tree_at(s, s->incidences);
    double sum[3] = {0, 0, 0};
    for (uint32_t k = first[a]; k < first[a + 1]; k++) {
        const uint32_t *corner = triangles + 3 * (size_t)list[k];
        const int i = corner[0] == a ? 0 : corner[1] == a ? 1 : 2;
        double p[3][3], n[3];
        if ((corner[0] != b && corner[1] != b && corner[2] != b) || !corners(driver, corner, p) || !normal_of(p, n))
            continue;
        const double weight = a == b ? angle_at(p, i) : 1;
        for (int c = 0; c < 3; c++)
            sum[c] += weight * n[c];
    }
    for (int c = 0; c < 3; c++)
        normal[c] = (float)sum[c];
}

bool exi_driver_normal(const exi_driver *driver, const uint32_t corner[3], float normal[3]) {
    double p[3][3], n[3] = {0, 0, 0};
    const bool known = corners(driver, corner, p) && normal_of(p, n);
    for (int c = 0; c < 3; c++)
        normal[c] = known ? (float)n[c] : 0;
    return known;
}

/* Gets the corners with a non-zero coordinate, and returns their number. */
static int parts(float u, float v, int at[3]) {
    const float part[3] = {1 - u - v, u, v};
    int count = 0;
    for (int i = 0; i < 3; i++)
        if (part[i] > ON_EDGE)
            at[count++] = i;
    return count;
}

void exi_driver_side(const exi_driver *driver, uint32_t triangle, float u, float v, float normal[3]) {
    const uint32_t *corner = corners_of(driver, triangle);
    int at[3] = {0, 0, 0};
    const int count = parts(u, v, at);
    if (count < 3)
        sum_around(driver, corner[at[0]], corner[at[count > 1]], normal);
    else
        exi_driver_normal(driver, corner, normal);
}

/* True if vertices a and b are corners of one triangle only. */
static bool is_boundary(const exi_driver *driver, uint32_t a, uint32_t b) {
    const ex_settler *s = driver->settler;
    const uint32_t *triangles = exi_tree_at(s, s->triangles), *first = exi_tree_at(s, s->incident);
    const uint32_t *list = exi_tree_at(s, s->incidences);
    int count = 0;
    for (uint32_t k = first[a]; k < first[a + 1]; k++) {
        const uint32_t *corner = triangles + 3 * (size_t)list[k];
        count += corner[0] == b || corner[1] == b || corner[2] == b;
    }
    return count == 1;
}

bool exi_driver_ends(const exi_driver *driver, uint32_t triangle, float u, float v) {
    const ex_settler *s = driver->settler;
    const uint32_t *corner = corners_of(driver, triangle), *first = exi_tree_at(s, s->incident);
    const uint32_t *triangles = exi_tree_at(s, s->triangles), *list = exi_tree_at(s, s->incidences);
    int at[3] = {0, 0, 0};
    const int count = parts(u, v, at);
    if (count != 1)
        return count == 2 && is_boundary(driver, corner[at[0]], corner[at[1]]);
    /* A vertex: some edge there has no other triangle. */
    const uint32_t a = corner[at[0]];
    for (uint32_t k = first[a]; k < first[a + 1]; k++)
        for (size_t i = 0; i < 3; i++) {
            const uint32_t b = triangles[3 * (size_t)list[k] + i];
            if (b != a && is_boundary(driver, a, b))
                return true;
        }
    return false;
}

float exi_side_distance(const exi_driver *driver, uint32_t triangle, const exi_near *near, int i) {
    const float u = near->u[i], v = near->v[i], distance = sqrtf(near->distance_sq[i]);
    float behind = near->along[i];
    if (!(u > ON_EDGE && v > ON_EDGE && 1 - u - v > ON_EDGE)) {
        float normal[3];
        exi_driver_side(driver, triangle, u, v, normal);
        behind = near->away[0][i] * normal[0] + near->away[1][i] * normal[1] + near->away[2][i] * normal[2];
    }
    return behind > 0 ? -distance : distance;
}

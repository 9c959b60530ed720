/*
 * The surface between two forms: alignment, and the rotation and stretch of every triangle.
 *
 * Alignment is the rigid motion that takes the start onto the end with the least sum of squared distances, weighted by
 * the start's areas; as a screw, x(t) = c + R(t w)(x - c) + t R~(t w) m, so that R~(w) m is the displacement of the
 * centroid. Everything else happens in the frame of the start. There a triangle's deformation D takes edges to edges
 * and the unit normal to the unit normal; D = R S, S being the identity along the normal. In the triangle's plane, with
 * coordinates (u, v) and T = [dx/du dx/dv] (3 x 2), G = T^T T: R restricted to the plane is T G^(-1/2), and S is
 * G^(1/2), both by the closed form for 2 x 2 matrices: with s = sqrt(det G) and q = sqrt(trace G + 2 s), G^(1/2) = (G +
 * s I) / q. branches.c chooses among the vectors of a rotation.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "author/base/array.h"
#include "author/trajectory/surface.h"
#include "runtime/base/memory.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"
#include "runtime/pose/matrix.h"

/* ---- alignment ---- */

void exi_surface_fit(int count, const double *weights, const double *from, const double *to, double rotation[3][3],
                     double from_centre[3], double to_centre[3]) {
    double total = 0, m[12] = {0}, stretch[3][3];
    for (int i = 0; i < 3; i++)
        from_centre[i] = to_centre[i] = 0;
    for (int v = 0; v < count; v++) {
        total += weights[v];
        for (int i = 0; i < 3; i++) {
            from_centre[i] += weights[v] * from[3 * v + i];
            to_centre[i] += weights[v] * to[3 * v + i];
        }
    }
    for (int i = 0; i < 3; i++) {
        from_centre[i] = total > 0 ? from_centre[i] / total : 0;
        to_centre[i] = total > 0 ? to_centre[i] / total : 0;
    }
    for (int v = 0; v < count; v++)
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 3; j++)
                m[4 * i + j] += weights[v] * (to[3 * v + i] - to_centre[i]) * (from[3 * v + j] - from_centre[j]);
    exi_polar(m, rotation, stretch);
}

static void align(ex_between *b, const double *weights) {
    double rotation[3][3], shift[3];
    double end_centre[3];
    exi_surface_fit(b->vertex_count, weights, b->start, b->end, rotation, b->centre, end_centre);
    exi_turn_vector(rotation, b->screw.turn);
    exi_subtract(end_centre, b->centre, shift);
    exi_mean_turn_invert(b->screw.turn, shift, b->screw.move);
    for (int v = 0; v < b->vertex_count; v++) {
        double arm[3];
        exi_subtract(b->end + 3 * v, end_centre, arm);
        exi_apply_transpose(rotation, arm, arm);
        for (int i = 0; i < 3; i++)
            b->aligned[3 * v + i] = b->centre[i] + arm[i];
    }
}

/* ---- triangles ---- */

void exi_surface_frame(const ex_between *b, int triangle, double e1[3], double e2[3]) {
    const int *corners = b->triangles + 3 * triangle;
    exi_subtract(b->start + 3 * corners[1], b->start + 3 * corners[0], e1);
    exi_unit3(e1);
    exi_cross(b->normals + 3 * triangle, e1, e2);
}

/* A triangle narrower than this fraction of its longest side, below the precision of floats, counts as having no area:
 * its slopes would be so large that the others would be lost in rounding. */
#define NARROW 1e-7

/* Computes area, normal and slopes of a triangle at the start; all zero if it has too little area, or is too thin. */
static void measure(ex_between *b, int triangle, double least) {
    const int *c = b->triangles + 3 * triangle;
    double e1[3], e2[3], third[3], n[3];
    exi_subtract(b->start + 3 * c[1], b->start + 3 * c[0], e1);
    exi_subtract(b->start + 3 * c[2], b->start + 3 * c[0], e2);
    exi_cross(e1, e2, n);
    const double area = 0.5 * sqrt(exi_dot3(n, n));
    double *slopes = b->slopes + 9 * triangle;
    memset(slopes, 0, 9 * sizeof *slopes);
    exi_subtract(e2, e1, third);
    const double sides[3] = {exi_dot3(e1, e1), exi_dot3(e2, e2), exi_dot3(third, third)};
    const double two = sides[0] > sides[1] ? sides[0] : sides[1], long_sq = two > sides[2] ? two : sides[2];
    if (!(area > least && area > 0.5 * NARROW * long_sq && area >= b->thin * long_sq))
        return;
    b->areas[triangle] = area;
    for (int i = 0; i < 3; i++)
        b->normals[3 * triangle + i] = n[i] /= 2 * area;
    double a[3], d[3]; /* the slope of corner 1 is perpendicular to edge 2, and vice versa */
    exi_cross(e2, n, a);
    exi_cross(n, e1, d);
    for (int i = 0; i < 3; i++) {
        slopes[3 + i] = a[i] / (2 * area);
        slopes[6 + i] = d[i] / (2 * area);
        slopes[i] = -slopes[3 + i] - slopes[6 + i];
    }
}

/* Computes the derivative of a form along the plane's direction e. */
static void derive(const ex_between *b, int triangle, const double *form, const double e[3], double out[3]) {
    const double *slopes = b->slopes + 9 * triangle;
    out[0] = out[1] = out[2] = 0;
    for (int k = 0; k < 3; k++) {
        const double along = exi_dot3(slopes + 3 * k, e);
        for (int i = 0; i < 3; i++)
            out[i] += along * form[3 * b->triangles[3 * triangle + k] + i];
    }
}

/* Computes rotation and stretch from the start to the aligned end. False if the end has no area. */
static bool decompose(ex_between *b, int triangle, double rotation[3][3]) {
    double e1[3], e2[3], p[3], q[3];
    exi_surface_frame(b, triangle, e1, e2);
    derive(b, triangle, b->aligned, e1, p);
    derive(b, triangle, b->aligned, e2, q);
    const double xx = exi_dot3(p, p), xy = exi_dot3(p, q), yy = exi_dot3(q, q);
    const double s = sqrt(fmax(xx * yy - xy * xy, 0)), r = sqrt(xx + yy + 2 * s);
    double *stretch = b->stretches + 6 * triangle;
    const double root[3] = {r > 0 ? (xx + s) / r : 0, r > 0 ? xy / r : 0, r > 0 ? (yy + s) / r : 0};
    const double *n = b->normals + 3 * triangle;
    static const int rows[6] = {0, 1, 2, 0, 0, 1}, columns[6] = {0, 1, 2, 1, 2, 2};
    for (int k = 0; k < 6; k++) {
        const int i = rows[k], j = columns[k];
        stretch[k] =
            root[0] * e1[i] * e1[j] + root[1] * (e1[i] * e2[j] + e2[i] * e1[j]) + root[2] * e2[i] * e2[j] + n[i] * n[j];
    }
    if (!(s > 1e-12 * (xx + yy)))
        return false;
    const double factor = 1 / (s * r), c1 = (yy + s) * factor, c2 = -xy * factor, c3 = (xx + s) * factor;
    double f1[3], f2[3], f3[3];
    for (int i = 0; i < 3; i++) {
        f1[i] = c1 * p[i] + c2 * q[i];
        f2[i] = c2 * p[i] + c3 * q[i];
    }
    exi_cross(f1, f2, f3);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            rotation[i][j] = f1[i] * e1[j] + f2[i] * e2[j] + f3[i] * n[j];
    return true;
}

/* ---- entry points ---- */

static void list_triangles(ex_between *b) {
    for (int i = 0; i < 3 * b->triangle_count; i++)
        b->triangle_starts[b->triangles[i] + 1]++;
    for (int v = 0; v < b->vertex_count; v++)
        b->triangle_starts[v + 1] += b->triangle_starts[v];
    for (int i = 0; i < 3 * b->triangle_count; i++)
        b->triangle_list[b->triangle_starts[b->triangles[i]]++] = i;
    for (int v = b->vertex_count; v > 0; v--)
        b->triangle_starts[v] = b->triangle_starts[v - 1];
    b->triangle_starts[0] = 0;
}

static double box_diagonal(int count, const double *points) {
    double square = 0;
    for (int i = 0; i < 3 && count; i++) {
        double low = points[i], high = points[i];
        for (int v = 1; v < count; v++) {
            low = points[3 * v + i] < low ? points[3 * v + i] : low;
            high = points[3 * v + i] > high ? points[3 * v + i] : high;
        }
        square += (high - low) * (high - low);
    }
    return sqrt(square);
}

enum { GRAIN = 1024 }; /* triangles that a task takes at least */

static void measure_range(void *context, int begin, int end) {
    ex_between *b = context;
    for (int t = begin; t < end; t++)
        measure(b, t, 1e-12 * b->size * b->size);
}

static void decompose_range(void *context, int begin, int end) {
    ex_between *b = context;
    for (int t = begin; t < end; t++) {
        double rotation[3][3];
        b->stretches[6 * t] = b->stretches[6 * t + 1] = b->stretches[6 * t + 2] = 1;
        if (b->areas[t] > 0 && decompose(b, t, rotation))
            exi_turn_vector(rotation, b->turns + 3 * t);
        else
            b->turns[3 * t] = NAN;
    }
}

ex_result exi_surface_measure(ex_between *b, ex_error *error) {
    b->size = box_diagonal(b->vertex_count, b->start);
    list_triangles(b);
    exi_run(b->tasks, b->triangle_count, GRAIN, measure_range, b);
    for (int t = 0; t < b->triangle_count; t++)
        for (int k = 0; k < 3; k++)
            b->vertex_areas[b->triangles[3 * t + k]] += b->areas[t] / 3;
    double total = 0;
    for (int v = 0; v < b->vertex_count; v++)
        total += b->vertex_areas[v];
    if (total > 0) {
        align(b, b->vertex_areas);
    } else { /* points, or only triangles without area: equal weights */
        double *ones = exi_array_allocate((size_t)b->vertex_count, sizeof *ones);
        if (!ones)
            return ex_error_memory(error, "weights of vertices", (size_t)b->vertex_count * sizeof *ones);
        for (int v = 0; v < b->vertex_count; v++)
            ones[v] = 1;
        align(b, ones);
        free(ones);
    }
    exi_run(b->tasks, b->triangle_count, GRAIN, decompose_range, b);
    return EX_OK;
}

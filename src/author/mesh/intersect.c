/*
 * How many pairs of triangles of a mesh cross each other.
 *
 * Boxes around the triangles are sorted by their lower end along the longest side of the mesh and swept: only boxes
 * that overlap there are compared. On a surface of n triangles of like size that leaves about n^1.5 comparisons, half a
 * second of them for 80,000 triangles; a tree would win only far above that.
 */
#include "author/formats/array.h"
#include "author/mesh/cross.h"
#include "runtime/base/result.h"

#include <exemplar/author/mesh.h>

#include <limits.h>
#include <math.h>
#include <stdlib.h>

/* What rotations and sums in float leave uncertain, as a part of the form's size. */
#define TOUCHING 2e-7

typedef struct boxed_triangle {
    double low[3], high[3]; /* index 0 is the axis of the sweep */
    int vertices[3];
} boxed_triangle;

typedef struct sweep {
    const ex_mesh *mesh;
    const float *positions; /* or NULL: the mesh's own */
    boxed_triangle *triangles;
    int count;
    double tolerance;
} sweep;

static double coordinate(const sweep *s, int vertex, int axis) {
    size_t at = 3 * (size_t)vertex + (size_t)axis;
    return s->positions ? (double)s->positions[at] : s->mesh->positions[at];
}

/* Chooses the tolerance and returns the axis of the sweep. */
static int measure(sweep *s) {
    int axis = 0;
    double longest = 0, sum_sq = 0, farthest = 0;
    for (int k = 0; k < 3; k++) {
        double low = INFINITY, high = -INFINITY;
        for (int v = 0; v < s->mesh->vertex_count; v++) {
            /* Not fmin and fmax: gcc 12 fails with an internal error when it vectorises them here. */
            double x = coordinate(s, v, k);
            low = x < low ? x : low;
            high = x > high ? x : high;
        }
        double side = high > low ? high - low : 0;
        if (side > longest) {
            longest = side;
            axis = k;
        }
        sum_sq += side * side;
        farthest = fmax(farthest, fmax(fabs(low), fabs(high)));
    }
    /* Far from the origin the rounding of a coordinate is what counts, not the size of the form. */
    s->tolerance = TOUCHING * fmax(sqrt(sum_sq), s->positions ? farthest : 0);
    return axis;
}

static void box_triangles(sweep *s, const int *corners, int axis) {
    for (int t = 0; t < s->count; t++) {
        boxed_triangle *triangle = &s->triangles[t];
        for (int i = 0; i < 3; i++)
            triangle->vertices[i] = s->mesh->corners[corners[3 * (size_t)t + (size_t)i]];
        for (int k = 0; k < 3; k++) {
            int from = (axis + k) % 3;
            double x = coordinate(s, triangle->vertices[0], from), y = coordinate(s, triangle->vertices[1], from);
            double z = coordinate(s, triangle->vertices[2], from);
            triangle->low[k] = fmin(x, fmin(y, z));
            triangle->high[k] = fmax(x, fmax(y, z));
        }
    }
}

static int by_lower_end(const void *a, const void *b) {
    double x = ((const boxed_triangle *)a)->low[0], y = ((const boxed_triangle *)b)->low[0];
    return (x > y) - (x < y);
}

static bool share_vertex(const boxed_triangle *a, const boxed_triangle *b) {
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            if (a->vertices[i] == b->vertices[j])
                return true;
    return false;
}

static bool boxes_apart(const boxed_triangle *a, const boxed_triangle *b, int axis) {
    return a->high[axis] < b->low[axis] || b->high[axis] < a->low[axis];
}

static bool pair_crosses(const sweep *s, const boxed_triangle *a, const boxed_triangle *b) {
    if (boxes_apart(a, b, 1) || boxes_apart(a, b, 2) || share_vertex(a, b))
        return false;
    double p[3][3], q[3][3];
    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 3; k++) {
            p[i][k] = coordinate(s, a->vertices[i], k);
            q[i][k] = coordinate(s, b->vertices[i], k);
        }
    return exi_triangles_cross(p, q, s->tolerance);
}

static ex_result count_pairs(const sweep *s, int *pair_count, ex_error *error) {
    int count = 0;
    for (int i = 0; i < s->count; i++) {
        const boxed_triangle *a = &s->triangles[i];
        for (int j = i + 1; j < s->count && s->triangles[j].low[0] <= a->high[0]; j++) {
            if (!pair_crosses(s, a, &s->triangles[j]))
                continue;
            if (count == INT_MAX)
                return exi_error(error, EX_ERROR_LIMIT, "more than %d pairs of triangles cross each other", INT_MAX);
            count++;
        }
    }
    *pair_count = count;
    return EX_OK;
}

ex_result ex_mesh_count_self_intersections(const ex_mesh *mesh, const float *positions, int *pair_count,
                                           ex_error *error) {
    *pair_count = 0;
    int *corners, count;
    ex_result result = ex_mesh_triangulate(mesh, &corners, &count, error);
    if (result != EX_OK)
        return result;
    sweep s = {.mesh = mesh, .positions = positions, .count = count};
    s.triangles = exi_array_allocate((size_t)count, sizeof *s.triangles);
    if (!s.triangles) {
        free(corners);
        return exi_error(error, EX_ERROR_MEMORY, "there is not enough memory to look for crossings of %d triangles",
                         count);
    }
    box_triangles(&s, corners, measure(&s));
    qsort(s.triangles, (size_t)count, sizeof *s.triangles, by_lower_end);
    result = count_pairs(&s, pair_count, error);
    free(s.triangles);
    free(corners);
    return result;
}

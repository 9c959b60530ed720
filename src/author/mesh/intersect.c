/*
 * Counts the pairs of triangles of a mesh that cross each other: cuts polygons into triangles, chooses the tolerance
 * from the form's numbers, and searches (crossings.c).
 */
#include "author/base/array.h"
#include "author/mesh/crossings.h"
#include "runtime/base/result.h"

#include <exemplar/author/mesh.h>

#include <math.h>
#include <stdlib.h>

/* Uncertainty left by rotations and sums in float, as a fraction of the form's size. */
#define TOUCHING 2e-7

double exi_crossings_tolerance(int vertex_count, const double *positions, bool rounded) {
    double sum_sq = 0, farthest = 0;
    for (int k = 0; k < 3; k++) {
        double low = INFINITY, high = -INFINITY;
        for (int v = 0; v < vertex_count; v++) {
            /* Not fmin and fmax: gcc 12 fails with an internal error when it vectorises them here. */
            double x = positions[3 * (size_t)v + (size_t)k];
            low = x < low ? x : low;
            high = x > high ? x : high;
        }
        double side = high > low ? high - low : 0;
        sum_sq += side * side;
        farthest = fmax(farthest, fmax(fabs(low), fabs(high)));
    }
    /* Far from the origin, the rounding of coordinates matters more than the size of the form. */
    return TOUCHING * fmax(sqrt(sum_sq), rounded ? farthest : 0);
}

static ex_result count_pairs(const ex_mesh *mesh, const float *given, int triangle_count, int *triangles,
                             double *positions, int *pair_count, ex_error *error) {
    for (size_t i = 0; i < 3 * (size_t)triangle_count; i++)
        triangles[i] = mesh->corners[triangles[i]];
    for (size_t i = 0; i < 3 * (size_t)mesh->vertex_count; i++)
        positions[i] = given ? (double)given[i] : mesh->positions[i];
    exi_crossings *crossings;
    ex_result result =
        exi_crossings_create(mesh->vertex_count, positions, triangle_count, triangles, &crossings, error);
    if (result == EX_OK) {
        double tolerance = exi_crossings_tolerance(mesh->vertex_count, positions, given != NULL);
        result = exi_crossings_count(crossings, positions, tolerance, NULL, pair_count, error);
    }
    exi_crossings_destroy(crossings);
    return result;
}

ex_result ex_mesh_count_self_intersections(const ex_mesh *mesh, const float *positions, int *pair_count,
                                           ex_error *error) {
    *pair_count = 0;
    int *triangles, count;
    ex_result result = ex_mesh_triangulate(mesh, &triangles, &count, error);
    if (result != EX_OK)
        return result;
    double *exact = exi_array_allocate(3 * (size_t)mesh->vertex_count, sizeof *exact);
    if (exact)
        result = count_pairs(mesh, positions, count, triangles, exact, pair_count, error);
    else
        result = ex_error_set(error, EX_ERROR_MEMORY, "not enough memory to look for crossings of %d triangles", count);
    free(exact);
    free(triangles);
    return result;
}

/*
 * Sections of surfaces: every triangle that a plane cuts gives a segment between two of its edges, directed so that the
 * inside is on its left; segments that meet at an edge belong to one piece, whose area is half the sum of the cross
 * products of their ends.
 */
#include "sections.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct segment {
    int edges[2][2];   /* vertices of the edges at its start and its end, lower first */
    double ends[2][3]; /* relative to the point of the plane */
    int piece;
} segment;

static void cut_edge(const float *a, const float *b, double from, double to, const double point[3], double out[3]) {
    for (int c = 0; c < 3; c++)
        out[c] = (double)a[c] + from / (from - to) * ((double)b[c] - (double)a[c]) - point[c];
}

/* The segment of a triangle; false if the plane misses it. */
static bool cut_triangle(const int v[3], const float *positions, const double point[3], const double normal[3],
                         segment *s) {
    double heights[3];
    int found = 0;
    for (int i = 0; i < 3; i++) {
        heights[i] = 0;
        for (int c = 0; c < 3; c++)
            heights[i] += ((double)positions[3 * v[i] + c] - point[c]) * normal[c];
    }
    for (int i = 0; i < 3; i++) {
        const int k = (i + 1) % 3;
        if ((heights[i] < 0) == (heights[k] < 0))
            continue;
        /* Up through one edge, and down through another. */
        const int end = heights[i] < 0 ? 0 : 1;
        s->edges[end][0] = v[i] < v[k] ? v[i] : v[k];
        s->edges[end][1] = v[i] < v[k] ? v[k] : v[i];
        cut_edge(positions + 3 * v[i], positions + 3 * v[k], heights[i], heights[k], point, s->ends[end]);
        found++;
    }
    return found == 2;
}

/* Gives connected segments the same number. */
static void find_pieces(segment *segments, int count) {
    for (int i = 0; i < count; i++)
        segments[i].piece = i;
    for (bool changed = true; changed;) {
        changed = false;
        for (int i = 0; i < count; i++)
            for (int k = 0; k < count; k++)
                if (memcmp(segments[i].edges[1], segments[k].edges[0], sizeof segments[i].edges[1]) == 0 &&
                    segments[i].piece != segments[k].piece) {
                    int *larger = segments[i].piece > segments[k].piece ? &segments[i].piece : &segments[k].piece;
                    *larger = segments[i].piece + segments[k].piece - *larger;
                    changed = true;
                }
    }
}

/* Area of one piece, and the distance of its middle from the point. */
static double measure(const segment *segments, int count, int piece, const double normal[3], double *area) {
    double middle[3] = {0}, sum = 0, length = 0;
    int members = 0;
    for (int i = 0; i < count; i++) {
        const double *a = segments[i].ends[0], *b = segments[i].ends[1];
        for (int c = 0; segments[i].piece == piece && c < 3; c++) {
            sum += normal[c] * (a[(c + 1) % 3] * b[(c + 2) % 3] - a[(c + 2) % 3] * b[(c + 1) % 3]);
            middle[c] += a[c];
        }
        members += segments[i].piece == piece;
    }
    for (int c = 0; c < 3; c++)
        length += normal[c] * normal[c];
    *area = fabs(sum) / 2 / sqrt(length);
    return sqrt(middle[0] * middle[0] + middle[1] * middle[1] + middle[2] * middle[2]) / members;
}

double section_area(const ex_mesh *mesh, const float *positions, const double point[3], const double normal[3]) {
    int *triangles = NULL, triangle_count = 0, count = 0;
    assert_int_equal(ex_mesh_triangulate(mesh, &triangles, &triangle_count, NULL), EX_OK);
    segment *segments = calloc((size_t)triangle_count + 1, sizeof *segments);
    assert_non_null(segments);
    for (int t = 0; t < triangle_count; t++) {
        const int *corners = triangles + 3 * t;
        const int v[3] = {mesh->corners[corners[0]], mesh->corners[corners[1]], mesh->corners[corners[2]]};
        count += cut_triangle(v, positions, point, normal, &segments[count]);
    }
    find_pieces(segments, count);
    double nearest = INFINITY, area = 0;
    for (int i = 0; i < count; i++)
        if (segments[i].piece == i) {
            double this_area;
            const double distance = measure(segments, count, i, normal, &this_area);
            if (distance < nearest) {
                nearest = distance;
                area = this_area;
            }
        }
    free(segments);
    free(triangles);
    return area;
}

/*
 * Constraints of cloth: edges that resist stretching, pairs of triangles that resist bending, and the masses of
 * vertices.
 *
 * Edges are springs with stiffness (area of both triangles) / length^2 times that of the cloth, which for even
 * triangles is that of a sheet. The bend over an edge is the sum of its four vertices times weights made of the
 * cotangents of the angles at the edge: linear in positions, zero for flat triangles in any orientation, and with the
 * energy 3 bend^2 / (2 area) that of a thin plate for forms that are stretched little ("discrete isometric
 * bending").
 */
#include "cloth_parts.h"

#include "common/array.h"
#include "demos/vector.h"

#include <math.h>
#include <stdlib.h>

/* A side of a triangle, from its lower vertex to the higher. */
typedef struct side {
    int low, high, opposite, triangle;
} side;

static int compare_sides(const void *a, const void *b) {
    const side *s = a, *t = b;
    if (s->low != t->low)
        return s->low < t->low ? -1 : 1;
    if (s->high != t->high)
        return s->high < t->high ? -1 : 1;
    return s->triangle < t->triangle ? -1 : s->triangle > t->triangle;
}

static double area_of(const ex_mesh *mesh, int triangle) {
    const int *v = mesh->corners + 3 * (size_t)triangle;
    double a[3], b[3], n[3];
    subtract(mesh->positions + 3 * (size_t)v[1], mesh->positions + 3 * (size_t)v[0], a);
    subtract(mesh->positions + 3 * (size_t)v[2], mesh->positions + 3 * (size_t)v[0], b);
    cross(a, b, n);
    return sqrt(dot3(n, n)) / 2;
}

/* Cotangent of the angle at `corner` between the directions to a and b. */
static double cotangent(const ex_mesh *mesh, int corner, int a, int b) {
    double u[3], v[3], n[3];
    subtract(mesh->positions + 3 * (size_t)a, mesh->positions + 3 * (size_t)corner, u);
    subtract(mesh->positions + 3 * (size_t)b, mesh->positions + 3 * (size_t)corner, v);
    cross(u, v, n);
    return dot3(u, v) / sqrt(dot3(n, n));
}

/* Compliance over the square of a substep's time. */
static double softness(const exi_cloth_def *def, double stiffness) {
    const double time = def->frame_time / def->substeps;
    return 1 / (stiffness * time * time);
}

static void add_edge(const exi_cloth_def *def, exi_cloth_parts *parts, const side *s, double area) {
    double along[3];
    subtract(def->cloth->positions + 3 * (size_t)s->high, def->cloth->positions + 3 * (size_t)s->low, along);
    const double squared = dot3(along, along), stiffness = def->stretch * area / squared;
    const double both = parts->lightness[s->low] + parts->lightness[s->high];
    parts->edges[parts->edge_count++] =
        (exi_cloth_edge){s->low, s->high, sqrt(squared), 1 / (both + softness(def, stiffness)),
                         1 / (both + softness(def, stiffness * def->compress))};
}

static void add_hinge(const exi_cloth_def *def, exi_cloth_parts *parts, const side *s, const side *t, double area) {
    const ex_mesh *mesh = def->cloth;
    const double low_s = cotangent(mesh, s->low, s->high, s->opposite);
    const double low_t = cotangent(mesh, s->low, s->high, t->opposite);
    const double high_s = cotangent(mesh, s->high, s->low, s->opposite);
    const double high_t = cotangent(mesh, s->high, s->low, t->opposite);
    exi_cloth_hinge hinge = {.vertices = {s->low, s->high, s->opposite, t->opposite},
                             .weights = {high_s + high_t, low_s + low_t, -low_s - high_s, -low_t - high_t}};
    double sum[3] = {0, 0, 0}, all = softness(def, 3 * def->bend / area);
    for (int i = 0; i < 4; i++) {
        all += parts->lightness[hinge.vertices[i]] * hinge.weights[i] * hinge.weights[i];
        for (int c = 0; c < 3; c++)
            sum[c] += hinge.weights[i] * mesh->positions[3 * (size_t)hinge.vertices[i] + (size_t)c];
    }
    for (int i = 0; i < 4; i++)
        hinge.moves[i] = parts->lightness[hinge.vertices[i]] * hinge.weights[i] / all;
    hinge.bent = def->bent * sqrt(dot3(sum, sum));
    parts->hinges[parts->hinge_count++] = hinge;
}

/* An edge with one triangle, or with more than two, is not a hinge. */
static void add_parts(const exi_cloth_def *def, exi_cloth_parts *parts, const side *sides, int count,
                      const double *areas) {
    for (int i = 0, next = 0; i < count; i = next) {
        double area = 0;
        for (next = i; next < count && sides[next].low == sides[i].low && sides[next].high == sides[i].high; next++)
            area += areas[sides[next].triangle];
        add_edge(def, parts, &sides[i], area);
        if (next - i == 2 && def->bend > 0)
            add_hinge(def, parts, &sides[i], &sides[i + 1], area);
    }
}

ex_result exi_cloth_parts_make(const exi_cloth_def *def, exi_cloth_parts *parts, ex_error *error) {
    const ex_mesh *mesh = def->cloth;
    const size_t corners = (size_t)mesh->corner_count, faces = (size_t)mesh->face_count;
    *parts = (exi_cloth_parts){.edges = array_allocate(corners, sizeof *parts->edges),
                               .hinges = array_allocate(corners, sizeof *parts->hinges),
                               .lightness = array_allocate((size_t)mesh->vertex_count, sizeof(double))};
    side *sides = array_allocate(corners, sizeof *sides);
    double *areas = array_allocate(faces, sizeof *areas);
    ex_result result = parts->edges && parts->hinges && parts->lightness && sides && areas
                           ? EX_OK
                           : ex_error_memory(error, "cloth", corners * sizeof *parts->hinges);
    for (int v = 0; result == EX_OK && v < mesh->vertex_count; v++)
        parts->lightness[v] = 0;
    for (int t = 0; result == EX_OK && t < mesh->face_count; t++) {
        areas[t] = area_of(mesh, t);
        if (!(areas[t] > 0))
            result = ex_error_set(error, EX_ERROR_DATA, "triangle %d of the cloth has no area", t);
        for (int i = 0; i < 3; i++) {
            const int a = mesh->corners[3 * t + i], b = mesh->corners[3 * t + (i + 1) % 3];
            sides[3 * t + i] = (side){a < b ? a : b, a < b ? b : a, mesh->corners[3 * t + (i + 2) % 3], t};
            parts->lightness[a] += areas[t] * def->density / 3;
        }
    }
    for (int v = 0; result == EX_OK && v < mesh->vertex_count; v++) { /* a vertex without triangles is fixed */
        const bool held = (def->pinned && def->pinned[v]) || !(parts->lightness[v] > 0);
        parts->lightness[v] = held ? 0 : 1 / parts->lightness[v];
    }
    if (result == EX_OK) {
        qsort(sides, corners, sizeof *sides, compare_sides);
        add_parts(def, parts, sides, mesh->corner_count, areas);
    }
    free(sides);
    free(areas);
    if (result != EX_OK)
        exi_cloth_parts_free(parts);
    return result;
}

void exi_cloth_parts_free(exi_cloth_parts *parts) {
    free(parts->edges);
    free(parts->hinges);
    free(parts->lightness);
    *parts = (exi_cloth_parts){0};
}

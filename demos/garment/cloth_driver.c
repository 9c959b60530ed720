/*
 * The driver of a cloth: a mesh moving from one frame to the next, and the side of it that a point is on.
 *
 * If the closest point is inside a triangle, the triangle's normal gives the side. On an edge it is the sum of both
 * normals, at a vertex the sum of those around it, weighted by their angles: with these the side is right for every
 * point of a closed mesh, which is not true of a single triangle's normal.
 */
#include "cloth_parts.h"

#include "common/array.h"
#include "demos/vector.h"

#include <exemplar/maths.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ON_EDGE 1e-6 /* a coordinate in the triangle below this counts as 0 */

/* ---- connectivity ---- */

/* Finds the triangle across every edge: the first other one around the edge's beginning that has both ends. */
static void connect(exi_cloth_driver *d) {
    for (int t = 0; t < d->triangle_count; t++)
        for (int i = 0; i < 3; i++) {
            const uint32_t a = d->triangles[3 * t + i], b = d->triangles[3 * t + (i + 1) % 3];
            d->across[3 * t + i] = -1;
            for (int r = d->ring_starts[a]; r < d->ring_starts[a + 1] && d->across[3 * t + i] < 0; r++) {
                const uint32_t *v = d->triangles + 3 * (size_t)d->ring[r];
                if (d->ring[r] != t && (v[0] == b || v[1] == b || v[2] == b))
                    d->across[3 * t + i] = d->ring[r];
            }
        }
}

static void fill_rings(exi_cloth_driver *d) {
    memset(d->ring_starts, 0, ((size_t)d->vertex_count + 1) * sizeof *d->ring_starts);
    for (int c = 0; c < 3 * d->triangle_count; c++)
        d->ring_starts[d->triangles[c] + 1]++;
    for (int v = 0; v < d->vertex_count; v++)
        d->ring_starts[v + 1] += d->ring_starts[v];
    for (int c = 3 * d->triangle_count - 1; c >= 0; c--) /* backwards, filling each from its end, which avoids a second
                                                          * array */
        d->ring[--d->ring_starts[d->triangles[c] + 1]] = c / 3;
    for (int v = 0; v < d->vertex_count; v++) /* every start is now at the first of its triangles */
        d->ring_starts[v] = d->ring_starts[v + 1];
    d->ring_starts[d->vertex_count] = 3 * d->triangle_count;
}

/* ---- normals ---- */

static void corner(const exi_cloth_driver *d, uint32_t v, double p[3]) {
    for (int c = 0; c < 3; c++)
        p[c] = (double)d->now[3 * (size_t)v + (size_t)c];
}

/* The normal, of length 1, times the angle at a vertex (no_vertex: times 1). */
enum { no_vertex = -1 };
static void add_normal(const exi_cloth_driver *d, int triangle, int vertex, double sum[3]) {
    const uint32_t *v = d->triangles + 3 * (size_t)triangle;
    const int at = vertex == (int)v[1] ? 1 : vertex == (int)v[2] ? 2 : 0;
    double p[3][3], a[3], b[3], n[3];
    for (int i = 0; i < 3; i++)
        corner(d, v[(at + i) % 3], p[i]);
    subtract(p[1], p[0], a);
    subtract(p[2], p[0], b);
    cross(a, b, n);
    const double length = sqrt(dot3(n, n));
    const double weight = vertex == no_vertex ? 1 : ex_corner(length, dot3(a, b));
    for (int c = 0; length > 0 && c < 3; c++)
        sum[c] += weight / length * n[c];
}

/* Normal, of any length, of the corner, the edge or the inside of the triangle that has the closest point. */
static void normal_at(const exi_cloth_driver *d, const ex_closest *closest, double normal[3]) {
    const int t = closest->triangle;
    const double part[3] = {1 - (double)closest->u - (double)closest->v, (double)closest->u, (double)closest->v};
    int zero_count = 0, zero = 0, full = 0;
    for (int i = 0; i < 3; i++) {
        if (part[i] < ON_EDGE) {
            zero_count++;
            zero = i;
        } else {
            full = i;
        }
    }
    normal[0] = normal[1] = normal[2] = 0;
    if (zero_count >= 2) {
        const int v = (int)d->triangles[3 * t + full];
        for (int r = d->ring_starts[v]; r < d->ring_starts[v + 1]; r++)
            add_normal(d, d->ring[r], v, normal);
        return;
    }
    add_normal(d, t, no_vertex, normal);
    const int other = zero_count == 1 ? d->across[3 * t + (zero + 1) % 3] : -1;
    if (other >= 0)
        add_normal(d, other, no_vertex, normal);
}

/* ---- contact ---- */

bool exi_cloth_driver_touch(const exi_cloth_driver *d, const double point[3], double reach,
                            exi_cloth_contact *contact) {
    const float p[3] = {(float)point[0], (float)point[1], (float)point[2]};
    ex_closest closest;
    if (!ex_bounds_closest(d->fit, p, (float)reach, &closest))
        return false;
    double outwards[3], away[3];
    normal_at(d, &closest, outwards);
    const double part[3] = {1 - (double)closest.u - (double)closest.v, (double)closest.u, (double)closest.v};
    memset(contact, 0, sizeof *contact);
    for (int i = 0; i < 3; i++) {
        const size_t v = d->triangles[3 * closest.triangle + i];
        for (size_t c = 0; c < 3; c++) {
            contact->point[c] += part[i] * (double)d->now[3 * v + c];
            contact->velocity[c] += part[i] * (d->to[3 * v + c] - d->from[3 * v + c]);
        }
    }
    subtract(point, contact->point, away);
    const double distance = sqrt(dot3(away, away));
    const bool inside = dot3(away, outwards) < 0;
    /* On the surface itself, to the accuracy of floats, the vector from it has no direction. */
    if (distance > 1e-6) {
        for (int c = 0; c < 3; c++)
            contact->normal[c] = (inside ? -away[c] : away[c]) / distance;
    } else {
        memcpy(contact->normal, outwards, sizeof outwards);
        unit3(contact->normal);
    }
    contact->distance = inside ? -distance : distance;
    return true;
}

/* ---- pins ---- */

/* The first corner, two sides and the normal, of length 1. */
static bool axes_of(const exi_cloth_driver *d, const double *positions, int triangle, double origin[3],
                    double axes[3][3]) {
    const double *p[3];
    for (int i = 0; i < 3; i++)
        p[i] = positions + 3 * (size_t)d->triangles[3 * triangle + i];
    memcpy(origin, p[0], 3 * sizeof *origin);
    subtract(p[1], p[0], axes[0]);
    subtract(p[2], p[0], axes[1]);
    cross(axes[0], axes[1], axes[2]);
    return unit3(axes[2]);
}

bool exi_cloth_driver_pin(const exi_cloth_driver *d, const double point[3], exi_cloth_pin *pin) {
    const float p[3] = {(float)point[0], (float)point[1], (float)point[2]};
    ex_closest closest;
    double origin[3], axes[3][3], away[3];
    if (!ex_bounds_closest(d->fit, p, INFINITY, &closest) || !axes_of(d, d->to, closest.triangle, origin, axes))
        return false;
    subtract(point, origin, away);
    const double aa = dot3(axes[0], axes[0]), ab = dot3(axes[0], axes[1]), bb = dot3(axes[1], axes[1]);
    const double a = dot3(away, axes[0]), b = dot3(away, axes[1]), area_sq = aa * bb - ab * ab;
    pin->triangle = closest.triangle;
    pin->parts[0] = (bb * a - ab * b) / area_sq;
    pin->parts[1] = (aa * b - ab * a) / area_sq;
    pin->parts[2] = dot3(away, axes[2]);
    return area_sq > 0;
}

void exi_cloth_driver_carry(const exi_cloth_driver *d, const exi_cloth_pin *pin, double place[3]) {
    double axes[3][3];
    axes_of(d, d->to, pin->triangle, place, axes);
    for (int i = 0; i < 3; i++)
        for (int c = 0; c < 3; c++)
            place[c] += pin->parts[i] * axes[i][c];
}

/* ---- motion ---- */

void exi_cloth_driver_next(exi_cloth_driver *d, const double *positions) {
    double *const before = d->from;
    d->from = d->to;
    d->to = before;
    memcpy(d->to, positions, 3 * (size_t)d->vertex_count * sizeof *positions);
    memset(d->mean, 0, sizeof d->mean);
    for (size_t i = 0; i < 3 * (size_t)d->vertex_count; i++)
        d->mean[i % 3] += (d->to[i] - d->from[i]) / d->vertex_count;
}

void exi_cloth_driver_move(exi_cloth_driver *d, double part) {
    for (size_t i = 0; i < 3 * (size_t)d->vertex_count; i++)
        d->now[i] = (float)(d->from[i] + part * (d->to[i] - d->from[i]));
    d->fit = ex_bounds_fit(d->tree, d->now, 0, d->memory, NULL);
}

ex_result exi_cloth_driver_make(const ex_mesh *mesh, exi_cloth_driver *d, ex_error *error) {
    const size_t vertices = (size_t)mesh->vertex_count, corners = (size_t)mesh->corner_count;
    *d = (exi_cloth_driver){.vertex_count = mesh->vertex_count,
                            .triangle_count = mesh->face_count,
                            .triangles = array_allocate(corners, sizeof *d->triangles),
                            .across = array_allocate(corners, sizeof *d->across),
                            .ring_starts = array_allocate(vertices + 1, sizeof *d->ring_starts),
                            .ring = array_allocate(corners, sizeof *d->ring),
                            .from = array_copy(mesh->positions, 3 * vertices, sizeof(double)),
                            .to = array_copy(mesh->positions, 3 * vertices, sizeof(double)),
                            .now = array_allocate(3 * vertices, sizeof(float))};
    ex_result result = EX_OK;
    if (!d->triangles || !d->across || !d->ring_starts || !d->ring || !d->from || !d->to || !d->now)
        result = ex_error_memory(error, "the driver of a cloth", 3 * vertices * sizeof(double));
    if (result == EX_OK) {
        for (size_t c = 0; c < corners; c++)
            d->triangles[c] = (uint32_t)mesh->corners[c];
        for (size_t i = 0; i < 3 * vertices; i++)
            d->now[i] = (float)mesh->positions[i];
        fill_rings(d);
        connect(d);
        const ex_tree_def def = {.vertex_count = mesh->vertex_count,
                                 .positions = d->now,
                                 .triangle_count = mesh->face_count,
                                 .triangles = d->triangles};
        result = ex_tree_create(&def, NULL, &d->tree, error);
    }
    if (result == EX_OK) {
        d->memory = malloc(ex_bounds_size(d->tree));
        if (!d->memory)
            result = ex_error_memory(error, "the driver of a cloth", ex_bounds_size(d->tree));
    }
    if (result != EX_OK)
        exi_cloth_driver_free(d);
    return result;
}

void exi_cloth_driver_free(exi_cloth_driver *d) {
    free(d->triangles);
    free(d->across);
    free(d->ring_starts);
    free(d->ring);
    free(d->from);
    free(d->to);
    free(d->now);
    ex_tree_destroy(d->tree);
    free(d->memory);
    *d = (exi_cloth_driver){0};
}

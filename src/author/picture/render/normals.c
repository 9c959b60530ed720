/*
 * Normals at the corners of a form: given ones, the mesh's, or computed from the faces. A computed normal is the sum of
 * the normals of the faces around the vertex that meet the corner's own face at less than 60 degrees, each times its
 * angle at the vertex (G. Thuermer, C. A. Wuethrich, "Computing vertex normals from polygonal facets", 1998). A cube
 * keeps its edges, and a sphere is round however it was cut.
 *
 * That takes the square of the number of faces around a vertex. Around a vertex of very many, faces that point the same
 * way are added up first, and each corner looks at those sums.
 */
#include "author/picture/render/render.h"

#include "author/base/array.h"
#include "runtime/base/result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CREASE_COSINE 0.5f /* of 60 degrees */

/* Faces around a vertex up to which each corner looks at all; and directions beyond: squares on the sides of a cube. */
enum { RING_MOST = 1024, SIDE = 8, DIRECTION_COUNT = 6 * SIDE * SIDE };

/* The faces around each vertex: corners [starts[v], starts[v + 1]) of around. */
typedef struct ring {
    int *starts, *around;
    exi_v3 *faces; /* [corner_count] normal of the corner's face */
    float *angles; /* [corner_count] angle at the corner */
} ring;

static exi_v3 position(const float *positions, int vertex) {
    return exi_v3_at(positions + 3 * (size_t)vertex);
}

/* Newell's sum, which is also right for polygons that are not flat. */
static exi_v3 face_normal(const ex_mesh *mesh, const float *positions, int face) {
    int first = mesh->face_offsets[face], end = mesh->face_offsets[face + 1];
    exi_v3 origin = position(positions, mesh->corners[first]), sum = {0, 0, 0};
    for (int c = first + 1; c + 1 < end; c++)
        sum = exi_v3_add(sum, exi_v3_cross(exi_v3_subtract(position(positions, mesh->corners[c]), origin),
                                           exi_v3_subtract(position(positions, mesh->corners[c + 1]), origin)));
    return exi_v3_unit(sum);
}

static float corner_angle(const ex_mesh *mesh, const float *positions, int first, int count, int i) {
    exi_v3 at = position(positions, mesh->corners[first + i]);
    exi_v3 next = position(positions, mesh->corners[first + (i + 1) % count]);
    exi_v3 previous = position(positions, mesh->corners[first + (i + count - 1) % count]);
    exi_v3 a = exi_v3_unit(exi_v3_subtract(next, at)), b = exi_v3_unit(exi_v3_subtract(previous, at));
    float cosine = exi_v3_dot(a, b);
    return acosf(cosine < -1 ? -1 : cosine > 1 ? 1 : cosine);
}

static void measure_corners(const ex_mesh *mesh, const float *positions, ring *r) {
    for (int f = 0; f < mesh->face_count; f++) {
        int first = mesh->face_offsets[f], count = mesh->face_offsets[f + 1] - first;
        exi_v3 normal = face_normal(mesh, positions, f);
        for (int i = 0; i < count; i++) {
            r->faces[first + i] = normal;
            r->angles[first + i] = corner_angle(mesh, positions, first, count, i);
        }
    }
}

static void sort_corners(const ex_mesh *mesh, ring *r) {
    memset(r->starts, 0, ((size_t)mesh->vertex_count + 2) * sizeof *r->starts);
    for (int c = 0; c < mesh->corner_count; c++)
        r->starts[mesh->corners[c] + 2]++;
    for (int v = 0; v < mesh->vertex_count; v++)
        r->starts[v + 2] += r->starts[v + 1];
    for (int c = 0; c < mesh->corner_count; c++)
        r->around[r->starts[mesh->corners[c] + 1]++] = c;
}

static exi_v3 smooth_normal(const ring *r, int vertex, int corner, bool smooth) {
    exi_v3 own = r->faces[corner], sum = {0, 0, 0};
    for (int i = r->starts[vertex]; i < r->starts[vertex + 1]; i++) {
        int other = r->around[i];
        if (smooth || exi_v3_dot(own, r->faces[other]) > CREASE_COSINE)
            sum = exi_v3_along(sum, r->angles[other], r->faces[other]);
    }
    return exi_v3_unit(sum);
}

/* Returns the square of a cube's surface that a unit vector points to. */
static int direction_of(exi_v3 n) {
    const float v[3] = {n.x, n.y, n.z};
    int axis = fabsf(v[0]) < fabsf(v[1]) ? 1 : 0;
    axis = fabsf(v[axis]) < fabsf(v[2]) ? 2 : axis;
    const float reach = fabsf(v[axis]);
    int square = 2 * axis + (v[axis] < 0);
    for (int k = 1; k < 3; k++) {
        const float part = reach > 0 ? v[(axis + k) % 3] / reach : 0;
        const int at = (int)((part + 1) / 2 * SIDE);
        square = SIDE * square + (at < 0 ? 0 : at >= SIDE ? SIDE - 1 : at);
    }
    return square;
}

/* The normals of all corners of a vertex of very many faces. */
static void crowded_normals(const ring *r, int vertex, bool smooth, float *normals) {
    exi_v3 sums[DIRECTION_COUNT] = {{0, 0, 0}}, means[DIRECTION_COUNT];
    for (int i = r->starts[vertex]; i < r->starts[vertex + 1]; i++) {
        const int corner = r->around[i], direction = direction_of(r->faces[corner]);
        sums[direction] = exi_v3_along(sums[direction], r->angles[corner], r->faces[corner]);
    }
    for (int d = 0; d < DIRECTION_COUNT; d++)
        means[d] = exi_v3_unit(sums[d]);
    for (int i = r->starts[vertex]; i < r->starts[vertex + 1]; i++) {
        const int corner = r->around[i];
        exi_v3 sum = {0, 0, 0};
        for (int d = 0; d < DIRECTION_COUNT; d++)
            if (smooth || exi_v3_dot(r->faces[corner], means[d]) > CREASE_COSINE)
                sum = exi_v3_add(sum, sums[d]);
        sum = exi_v3_unit(sum);
        memcpy(normals + 3 * (size_t)corner, &sum, sizeof sum);
    }
}

static ex_result make_normals(const ex_mesh *mesh, const float *positions, bool smooth, float *normals,
                              ex_error *error) {
    size_t corners = (size_t)mesh->corner_count;
    ring r = {.starts = exi_array_allocate((size_t)mesh->vertex_count + 2, sizeof *r.starts),
              .around = exi_array_allocate(corners, sizeof *r.around),
              .faces = exi_array_allocate(corners, sizeof *r.faces),
              .angles = exi_array_allocate(corners, sizeof *r.angles)};
    ex_result result = EX_OK;
    if (r.starts && r.around && r.faces && r.angles) {
        measure_corners(mesh, positions, &r);
        sort_corners(mesh, &r);
        for (int c = 0; c < mesh->corner_count; c++) {
            const int vertex = mesh->corners[c];
            if (r.starts[vertex + 1] - r.starts[vertex] > RING_MOST)
                continue;
            exi_v3 normal = smooth_normal(&r, vertex, c, smooth);
            memcpy(normals + 3 * (size_t)c, &normal, sizeof normal);
        }
        for (int v = 0; v < mesh->vertex_count; v++)
            if (r.starts[v + 1] - r.starts[v] > RING_MOST)
                crowded_normals(&r, v, smooth, normals);
    } else {
        result = ex_error_memory(error, "normals", corners * 24);
    }
    free(r.starts);
    free(r.around);
    free(r.faces);
    free(r.angles);
    return result;
}

ex_result exi_corner_normals(const ex_render_item *item, const float *positions, bool smooth, float *normals,
                             ex_error *error) {
    const ex_mesh *mesh = item->mesh;
    /* The mesh's normals belong to its own positions only. */
    bool own = !item->normals && !item->positions && mesh->corner_normals && mesh->normals;
    if (!item->normals && !own)
        return make_normals(mesh, positions, smooth, normals, error);
    for (int c = 0; c < mesh->corner_count; c++) {
        exi_v3 normal = {0, 0, 0};
        if (item->normals) {
            normal = exi_v3_at(item->normals + 3 * (size_t)mesh->corners[c]);
        } else if (mesh->corner_normals[c] >= 0) {
            const double *n = mesh->normals + 3 * (size_t)mesh->corner_normals[c];
            normal = (exi_v3){(float)n[0], (float)n[1], (float)n[2]};
        }
        normal = exi_v3_unit(normal);
        memcpy(normals + 3 * (size_t)c, &normal, sizeof normal);
    }
    return EX_OK;
}

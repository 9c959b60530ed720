/*
 * Normals of a posed rig with the hard edges of its mesh. Evaluation gives one normal per vertex. Where the rig's mesh
 * has several at rest, a vertex is on a hard edge; each of them is then the mean of the faces that share it, by area.
 * On a refined level there are no such normals, and evaluation's stay.
 */
#include "author/picture/render/render.h"

#include "author/base/array.h"
#include "author/picture/render/creases.h"
#include "runtime/base/result.h"

#include <stdlib.h>
#include <string.h>

/* Cosine of two normals that count as one. */
#define SAME 0.999

/* The normals of the posed mesh: one for each different normal of a vertex at rest. */
typedef struct groups {
    int *of;      /* [corner_count] */
    double *rest; /* [count][3] */
    int *next;    /* [count] the vertex's next one, or -1 */
    int *first;   /* [vertex_count], or -1 */
    int count;
    bool hard; /* true if a vertex has several */
} groups;

static int find(groups *g, int vertex, const double *normal) {
    int last = -1;
    for (int i = g->first[vertex]; i >= 0; last = i, i = g->next[i]) {
        const double *r = g->rest + 3 * (size_t)i;
        if (r[0] * normal[0] + r[1] * normal[1] + r[2] * normal[2] > SAME)
            return i;
    }
    const int made = g->count++;
    memcpy(g->rest + 3 * (size_t)made, normal, 3 * sizeof *normal);
    g->next[made] = -1;
    g->hard = g->hard || last >= 0;
    if (last >= 0)
        g->next[last] = made;
    else
        g->first[vertex] = made;
    return made;
}

static void sum_faces(const ex_mesh *mesh, const groups *g, double *sums) {
    for (int f = 0; f < mesh->face_count; f++) {
        const int first = mesh->face_offsets[f], end = mesh->face_offsets[f + 1];
        const double *o = mesh->positions + 3 * (size_t)mesh->corners[first];
        double n[3] = {0, 0, 0};
        for (int c = first + 1; c + 1 < end; c++) {
            const double *a = mesh->positions + 3 * (size_t)mesh->corners[c],
                         *b = mesh->positions + 3 * (size_t)mesh->corners[c + 1];
            const double u[3] = {a[0] - o[0], a[1] - o[1], a[2] - o[2]}, v[3] = {b[0] - o[0], b[1] - o[1], b[2] - o[2]};
            n[0] += u[1] * v[2] - u[2] * v[1];
            n[1] += u[2] * v[0] - u[0] * v[2];
            n[2] += u[0] * v[1] - u[1] * v[0];
        }
        for (int c = first; c < end; c++)
            for (size_t k = 0; k < 3; k++)
                sums[3 * (size_t)g->of[c] + k] += n[k];
    }
}

/* Gives the mesh the normals of its groups. */
static bool take(const groups *g, ex_mesh *mesh) {
    double *sums = calloc(3 * (size_t)g->count + 1, sizeof *sums);
    int *corners = exi_array_allocate((size_t)mesh->corner_count, sizeof *corners);
    if (!sums || !corners) {
        free(sums);
        free(corners);
        return false;
    }
    sum_faces(mesh, g, sums);
    memcpy(corners, g->of, (size_t)mesh->corner_count * sizeof *corners);
    for (size_t i = 0; i < (size_t)g->count; i++) {
        double *n = sums + 3 * i;
        const double length = sqrt(n[0] * n[0] + n[1] * n[1] + n[2] * n[2]);
        for (size_t k = 0; k < 3; k++)
            n[k] = length > 0 ? n[k] / length : 0;
    }
    free(mesh->normals);
    free(mesh->corner_normals);
    mesh->normals = sums;
    mesh->corner_normals = corners;
    mesh->normal_count = g->count;
    return true;
}

ex_result exi_keep_creases(const ex_mesh *rest, ex_mesh *posed, bool *hard, ex_error *error) {
    *hard = false;
    if (!rest->normals || !rest->corner_normals || rest->corner_count != posed->corner_count ||
        rest->vertex_count != posed->vertex_count)
        return EX_OK;
    const size_t corners = (size_t)rest->corner_count, vertices = (size_t)rest->vertex_count;
    groups g = {.of = exi_array_allocate(corners, sizeof *g.of),
                .rest = exi_array_allocate(3 * corners, sizeof *g.rest),
                .next = exi_array_allocate(corners, sizeof *g.next),
                .first = exi_array_allocate(vertices, sizeof *g.first)};
    bool good = g.of && g.rest && g.next && g.first;
    for (size_t v = 0; good && v < vertices; v++)
        g.first[v] = -1;
    for (int c = 0; good && c < rest->corner_count; c++) {
        static const double none[3] = {0, 0, 0};
        const int normal = rest->corner_normals[c];
        g.of[c] = find(&g, rest->corners[c], normal < 0 ? none : rest->normals + 3 * (size_t)normal);
    }
    if (good && g.hard)
        good = take(&g, posed);
    *hard = good && g.hard;
    free(g.of);
    free(g.rest);
    free(g.next);
    free(g.first);
    return good ? EX_OK : ex_error_memory(error, "normals", 24 * corners);
}

ex_result ex_rig_to_sharp_mesh(const ex_rig *rig, const ex_surface *surface, ex_mesh **mesh, ex_error *error) {
    ex_mesh *rest = NULL;
    bool hard = false;
    ex_result result = ex_rig_to_mesh(rig, surface, mesh, error);
    if (result == EX_OK && surface && surface->level == 0)
        result = ex_rig_to_mesh(rig, NULL, &rest, error);
    if (result == EX_OK && rest)
        result = exi_keep_creases(rest, *mesh, &hard, error);
    ex_mesh_destroy(rest);
    if (result != EX_OK) {
        ex_mesh_destroy(*mesh);
        *mesh = NULL;
    }
    return result;
}

/*
 * Normals of the file. At rest they are the mesh's own, with its hard edges: a vertex that has several normals is split
 * for display. Without any, and on a refined level, they are those of the faces, smooth.
 *
 * A target changes them as it changes the faces. Splits of a vertex with about the same normal make a group, and
 * f(form) is the normal of the faces that meet in it, by area. R(a, b) is the smallest rotation from a to b. A form
 * gets
 *
 *     n(form) = R(f(mesh), f(form)) n(mesh).
 *
 * So normals that are not those of the faces, by weights or by hand, keep their angle to them.
 */
#include "author/bake/bake.h"

#include "author/base/array.h"
#include "runtime/base/vector.h"

#include <stdlib.h>
#include <string.h>

/* Cosine of two normals that count as one. */
#define SAME 0.999

static ex_result no_memory(const exi_bake *bake) {
    return ex_error_memory(bake->error, "the normals", (size_t)bake->vertex_count * 48);
}

/* ---- groups ---- */

static void widen(const float *from, double to[3]) {
    for (int c = 0; c < 3; c++)
        to[c] = (double)from[c];
}

/* Puts each split vertex into a group of its vertex. own [split_count][3]: of unit length or 0 0 0; NULL: one group per
 * vertex. */
static void group_splits(exi_bake_normals *n, const ex_rig_mesh *mesh, const float *own) {
    n->group_count = 0;
    for (int s = 0, first = 0; s < mesh->split_count; s++) {
        const int vertex = mesh->split_source ? (int)mesh->split_source[s] : s;
        if (s == 0 || vertex != n->vertices[n->group_count - 1])
            first = n->group_count;
        int found = own || first == n->group_count ? -1 : first;
        for (int g = first; own && g < n->group_count && found < 0; g++) {
            const float *a = own + 3 * (size_t)s, *b = own + 3 * (size_t)n->splits[g];
            if ((double)(a[0] * b[0] + a[1] * b[1] + a[2] * b[2]) > SAME)
                found = g;
        }
        if (found < 0) {
            found = n->group_count++;
            n->vertices[found] = vertex;
            n->splits[found] = s;
        }
        n->groups[s] = found;
    }
}

static ex_result make_tables(exi_bake_normals *n, const ex_rig_mesh *mesh) {
    int *offsets = exi_array_allocate((size_t)mesh->face_count + 1, sizeof *offsets);
    int *corners = exi_array_allocate((size_t)mesh->corner_count, sizeof *corners);
    ex_result result = offsets && corners ? EX_OK : no_memory(n->bake);
    if (result == EX_OK) {
        offsets[0] = 0;
        for (int f = 0; f < mesh->face_count; f++)
            offsets[f + 1] = offsets[f] + (int)mesh->face_sizes[f];
        for (int c = 0; c < mesh->corner_count; c++)
            corners[c] = n->groups[mesh->corners[c]];
        const ex_normals_def def = {.vertex_count = n->group_count,
                                    .face_count = mesh->face_count,
                                    .face_offsets = offsets,
                                    .corners = corners,
                                    .weighting = EX_NORMAL_BY_AREA};
        result = ex_normals_create(&def, NULL, &n->tables, n->bake->error);
    }
    free(offsets);
    free(corners);
    return result;
}

/* Computes f of a form [vertex_count][3], into out [group_count][3]. */
static void compute(exi_bake_normals *n, const float *form, float *out) {
    for (size_t g = 0; g < (size_t)n->group_count; g++)
        memcpy(n->positions + 3 * g, form + 3 * (size_t)n->vertices[g], 3 * sizeof *form);
    ex_normals_compute(n->tables, n->positions, 0, out, 0, n->bake->options.tasks, n->scratch);
}

/* ---- rotations ---- */

/* out = R(a, b) v for unit vectors; b if they are opposite, v if one is 0 0 0. */
static void turn(const double a[3], const double b[3], const double v[3], double out[3]) {
    double q[4];
    exi_cross(a, b, q);
    q[3] = 1 + exi_dot3(a, b);
    memcpy(out, v, 3 * sizeof *out);
    if (exi_dot3(a, a) < 0.5 || exi_dot3(b, b) < 0.5)
        return;
    if (q[3] > 1e-6 && exi_normalise(q, 4))
        exi_rotate(q, v, out);
    else
        memcpy(out, b, 3 * sizeof *out);
}

/* ---- the whole ---- */

/* Reads the mesh's own normals to n->rest, of unit length, and 0 0 0 where it has none. */
static void read_own(exi_bake_normals *n, const ex_rig_mesh *mesh) {
    for (size_t s = 0; s < (size_t)n->split_count; s++) {
        double v[3];
        widen(mesh->normals + 3 * s, v);
        const bool good = exi_unit3(v);
        for (size_t c = 0; c < 3; c++)
            n->rest[3 * s + c] = good ? (float)v[c] : 0;
    }
}

/* Turns the mesh's own normals with its faces, from the mesh itself to the form that the file has at rest; f is in
 * n->from. A split without a normal gets that of the faces. */
static ex_result turn_own(exi_bake_normals *n) {
    const exi_bake *bake = n->bake;
    const size_t numbers = 3 * (size_t)bake->vertex_count;
    float *mesh = exi_array_allocate(numbers, sizeof *mesh);
    if (!mesh)
        return no_memory(bake);
    ex_rig_rest_mesh(bake->rig, mesh);
    compute(n, mesh, n->to);
    for (size_t s = 0; s < (size_t)n->split_count; s++) {
        float *own = n->rest + 3 * s;
        const size_t g = 3 * (size_t)n->groups[s];
        double v[3], a[3], b[3], out[3];
        widen(own, v);
        widen(n->to + g, a);
        widen(n->from + g, b);
        turn(a, b, exi_dot3(v, v) < 0.5 ? a : v, out);
        for (int c = 0; c < 3; c++)
            own[c] = (float)out[c];
    }
    free(mesh);
    return EX_OK;
}

ex_result exi_bake_normals_open(exi_bake_normals *n, const exi_bake *bake) {
    const ex_rig_mesh mesh = bake->level == 0 ? ex_rig_get_mesh(bake->rig) : ex_rig_level_mesh(bake->rig, bake->level);
    const size_t splits = (size_t)mesh.split_count;
    const bool own = mesh.normals != NULL;
    *n = (exi_bake_normals){.bake = bake, .split_count = mesh.split_count};
    if (mesh.face_count == 0)
        return EX_OK;
    n->groups = exi_array_allocate(splits, sizeof *n->groups);
    n->vertices = exi_array_allocate(splits, sizeof *n->vertices);
    n->splits = exi_array_allocate(splits, sizeof *n->splits);
    float **const arrays[] = {&n->rest, &n->positions, &n->from, &n->to};
    bool good = n->groups && n->vertices && n->splits;
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        *arrays[i] = exi_array_allocate(3 * splits, sizeof(float));
        good = good && *arrays[i];
    }
    if (!good)
        return no_memory(bake);
    if (own)
        read_own(n, &mesh);
    group_splits(n, &mesh, own ? n->rest : NULL);
    const ex_result result = make_tables(n, &mesh);
    n->scratch = result == EX_OK ? exi_array_allocate(ex_normals_scratch_size(n->tables), 1) : NULL;
    if (!n->scratch)
        return result == EX_OK ? no_memory(bake) : result;
    compute(n, bake->rest, n->from);
    if (own)
        return turn_own(n);
    for (size_t s = 0; s < splits; s++)
        memcpy(n->rest + 3 * s, n->from + 3 * (size_t)n->groups[s], 3 * sizeof *n->rest);
    return EX_OK;
}

void exi_bake_normals_close(exi_bake_normals *n) {
    ex_normals_destroy(n->tables);
    free(n->scratch);
    free(n->groups);
    free(n->vertices);
    free(n->splits);
    free(n->rest);
    free(n->positions);
    free(n->from);
    free(n->to);
}

ex_result exi_bake_normals_give(const exi_bake_normals *n, ex_mesh *mesh) {
    const ex_rig_mesh level = ex_rig_level_mesh(n->bake->rig, n->bake->level);
    if (!n->tables)
        return EX_OK;
    double *normals = exi_array_allocate(3 * (size_t)n->split_count, sizeof *normals);
    int *corners = exi_array_allocate((size_t)level.corner_count, sizeof *corners);
    if (!normals || !corners) {
        free(normals);
        free(corners);
        return no_memory(n->bake);
    }
    for (size_t i = 0; i < 3 * (size_t)n->split_count; i++)
        normals[i] = (double)n->rest[i];
    for (int c = 0; c < level.corner_count; c++)
        corners[c] = (int)level.corners[c];
    free(mesh->normals);
    free(mesh->corner_normals);
    mesh->normals = normals;
    mesh->corner_normals = corners;
    mesh->normal_count = n->split_count;
    return EX_OK;
}

void exi_bake_normals_take(exi_bake_normals *n, const float *form) {
    if (n->tables)
        compute(n, form, n->to);
}

/* Finds the group of a vertex of the file: that of the split with this normal. Groups are sorted by their vertex. */
static int find_group(const exi_bake_normals *n, int vertex, const float *normal) {
    int low = 0, high = n->group_count;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (n->vertices[middle] < vertex)
            low = middle + 1;
        else
            high = middle;
    }
    int best = low;
    float most = -2;
    for (int g = low; g < n->group_count && n->vertices[g] == vertex; g++) {
        const float *r = n->rest + 3 * (size_t)n->splits[g];
        const float dot = r[0] * normal[0] + r[1] * normal[1] + r[2] * normal[2];
        best = dot > most ? g : best;
        most = dot > most ? dot : most;
    }
    return best;
}

float *exi_bake_normals_changes(const exi_bake_normals *n, const ex_scene_primitive *p) {
    float *changes = exi_array_allocate((size_t)p->vertex_count, 3 * sizeof *changes);
    for (size_t v = 0; changes && v < (size_t)p->vertex_count; v++) {
        const float *normal = p->normals + 3 * v;
        const size_t g = 3 * (size_t)find_group(n, p->sources[v], normal);
        double own[3], a[3], b[3], out[3];
        widen(normal, own);
        widen(n->from + g, a);
        widen(n->to + g, b);
        turn(a, b, own, out);
        for (size_t c = 0; c < 3; c++)
            changes[3 * v + c] = (float)(out[c] - own[c]);
    }
    return changes;
}

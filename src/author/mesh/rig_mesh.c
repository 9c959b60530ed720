/*
 * Splits vertices at seams: from a mesh whose corners choose position, texture coordinate and normal separately, to one
 * whose vertices carry all three, as glTF and GPUs need.
 */
#include "author/mesh/rig_mesh.h"

#include "author/base/array.h"
#include "author/mesh/mesh_check.h"
#include "author/mesh/notes.h"
#include "runtime/base/result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Attributes of a split vertex: texture coordinate and normal. */
typedef struct look {
    float texcoord[2];
    float normal[3];
} look;

/* Split vertices found so far: a list per source vertex, in order of appearance. */
typedef struct splitter {
    const ex_mesh *mesh;
    bool has_texcoords, has_normals;
    int *first, *last; /* [vertex_count], -1 for none */
    int count;
    size_t capacity, next_capacity;
    look *looks;
    int *next;
    int *corner_splits; /* [corner_count], numbered in order of appearance */
} splitter;

/* Returns a corner's attributes. The file's texture coordinates start at the bottom, glTF's at the top. Normals are
 * scaled to length 1; those that nearly have it stay unchanged, so that a second pass changes nothing. */
static look corner_look(const splitter *s, int corner) {
    const ex_mesh *m = s->mesh;
    look l = {{0, 1}, {0, 1, 0}};
    int t = s->has_texcoords && corner >= 0 ? m->corner_texcoords[corner] : -1;
    int n = s->has_normals && corner >= 0 ? m->corner_normals[corner] : -1;
    if (t >= 0) {
        l.texcoord[0] = (float)m->texcoords[2 * (size_t)t];
        l.texcoord[1] = (float)(1.0 - m->texcoords[2 * (size_t)t + 1]);
    }
    if (n >= 0) {
        /* Squares may overflow a double, so the largest of the three is scaled to 1 first. */
        const double *v = m->normals + 3 * (size_t)n;
        double largest = fmax(fabs(v[0]), fmax(fabs(v[1]), fabs(v[2])));
        double u[3] = {v[0] / largest, v[1] / largest, v[2] / largest};
        double length = sqrt(u[0] * u[0] + u[1] * u[1] + u[2] * u[2]);
        bool unit = fabs(largest * length - 1) < 1e-5;
        for (int c = 0; largest > 0 && c < 3; c++)
            l.normal[c] = (float)(unit ? v[c] : u[c] / length);
    }
    return l;
}

static ex_result add_split(splitter *s, int vertex, const look *l, int *split, ex_error *error) {
    size_t needed = (size_t)s->count + 1;
    look *looks = exi_array_grow(s->looks, &s->capacity, needed, sizeof *looks);
    if (looks)
        s->looks = looks;
    int *next = exi_array_grow(s->next, &s->next_capacity, needed, sizeof *next);
    if (next)
        s->next = next;
    if (!looks || !next)
        return ex_error_memory(error, "splitting the mesh at its seams", needed * (sizeof *looks + sizeof *next));
    s->looks[s->count] = *l;
    s->next[s->count] = -1;
    if (s->first[vertex] < 0)
        s->first[vertex] = s->count;
    else
        s->next[s->last[vertex]] = s->count;
    s->last[vertex] = s->count;
    *split = s->count++;
    return EX_OK;
}

static ex_result find_splits(splitter *s, ex_error *error) {
    const ex_mesh *m = s->mesh;
    for (int v = 0; v < m->vertex_count; v++)
        s->first[v] = s->last[v] = -1;
    for (int c = 0; c < m->corner_count; c++) {
        int vertex = m->corners[c], split = s->first[vertex];
        look l = corner_look(s, c);
        while (split >= 0 && memcmp(&s->looks[split], &l, sizeof l) != 0)
            split = s->next[split];
        if (split < 0) {
            ex_result result = add_split(s, vertex, &l, &split, error);
            if (result != EX_OK)
                return result;
        }
        s->corner_splits[c] = split;
    }
    look none = corner_look(s, -1);
    for (int v = 0; v < m->vertex_count; v++) {
        int split;
        if (s->first[v] < 0 && add_split(s, v, &none, &split, error) != EX_OK)
            return EX_ERROR_MEMORY;
    }
    return EX_OK;
}

/* Numbers split vertices by source, and copies their attributes in that order. order [count]. */
static void number_splits(const splitter *s, int *order, exi_rig_mesh *made) {
    int number = 0;
    for (int v = 0; v < s->mesh->vertex_count; v++)
        for (int split = s->first[v]; split >= 0; split = s->next[split]) {
            size_t at = (size_t)number;
            made->split_source[at] = (uint32_t)v;
            if (made->texcoords)
                memcpy(made->texcoords + 2 * at, s->looks[split].texcoord, 2 * sizeof(float));
            if (made->normals)
                memcpy(made->normals + 3 * at, s->looks[split].normal, 3 * sizeof(float));
            order[split] = number++;
        }
}

static ex_result make_splits(const ex_mesh *mesh, splitter *s, exi_rig_mesh *made, ex_error *error) {
    ex_result result = find_splits(s, error);
    if (result != EX_OK)
        return result;
    size_t count = (size_t)s->count;
    int *order = exi_array_allocate(count, sizeof *order);
    made->split_source = exi_array_allocate(count, sizeof *made->split_source);
    made->texcoords = s->has_texcoords ? exi_array_allocate(2 * count, sizeof(float)) : NULL;
    made->normals = s->has_normals ? exi_array_allocate(3 * count, sizeof(float)) : NULL;
    if (!order || !made->split_source || (s->has_texcoords && !made->texcoords) || (s->has_normals && !made->normals))
        result = ex_error_memory(error, "splitting the mesh at its seams", 36 * count);
    if (result == EX_OK) {
        number_splits(s, order, made);
        for (int c = 0; c < mesh->corner_count; c++)
            made->corners[c] = (uint32_t)order[s->corner_splits[c]];
        made->mesh.split_count = s->count;
    }
    free(order);
    return result;
}

static ex_result split(const ex_mesh *mesh, exi_rig_mesh *made, ex_error *error) {
    splitter s = {.mesh = mesh,
                  .has_texcoords = mesh->corner_texcoords != NULL,
                  .has_normals = mesh->corner_normals != NULL,
                  .first = exi_array_allocate((size_t)mesh->vertex_count, sizeof(int)),
                  .last = exi_array_allocate((size_t)mesh->vertex_count, sizeof(int)),
                  .corner_splits = exi_array_allocate((size_t)mesh->corner_count, sizeof(int))};
    made->corners = exi_array_allocate((size_t)mesh->corner_count, sizeof *made->corners);
    ex_result result = s.first && s.last && s.corner_splits && made->corners
                           ? make_splits(mesh, &s, made, error)
                           : ex_error_memory(error, "splitting the mesh at its seams", (size_t)mesh->corner_count * 8);
    free(s.first);
    free(s.last);
    free(s.corner_splits);
    free(s.looks);
    free(s.next);
    return result;
}

static ex_result make_faces(const ex_mesh *mesh, exi_rig_mesh *made, ex_error *error) {
    made->face_sizes = exi_array_allocate((size_t)mesh->face_count, sizeof *made->face_sizes);
    int *triangles = NULL, count = 0;
    ex_result result = ex_mesh_triangulate(mesh, &triangles, &count, error);
    if (result != EX_OK)
        return result;
    made->triangles = exi_array_allocate(3 * (size_t)count, sizeof *made->triangles);
    if (!made->face_sizes || !made->triangles) {
        free(triangles);
        return ex_error_memory(error, "the mesh's faces", 12 * (size_t)count);
    }
    for (int f = 0; f < mesh->face_count; f++)
        made->face_sizes[f] = (uint32_t)(mesh->face_offsets[f + 1] - mesh->face_offsets[f]);
    for (size_t i = 0; i < 3 * (size_t)count; i++)
        made->triangles[i] = made->corners[triangles[i]];
    made->mesh.triangle_count = count;
    free(triangles);
    return EX_OK;
}

static ex_result round_positions(ex_mesh *mesh, exi_rig_mesh *made, ex_error *error) {
    size_t count = 3 * (size_t)mesh->vertex_count;
    made->positions = exi_array_allocate(count, sizeof *made->positions);
    if (!made->positions)
        return ex_error_memory(error, "the mesh", count * sizeof(float));
    for (size_t i = 0; i < count; i++) {
        made->positions[i] = (float)mesh->positions[i];
        mesh->positions[i] = made->positions[i];
        if (!isfinite(made->positions[i]))
            return ex_error_set(error, EX_ERROR_DATA, "vertex %zu is too far away for a float", i / 3);
    }
    return EX_OK;
}

ex_result exi_rig_mesh_make(ex_mesh *mesh, exi_rig_mesh *made, ex_error *error) {
    memset(made, 0, sizeof *made);
    ex_result result = exi_mesh_check_faces(mesh, error);
    if (result == EX_OK)
        result = round_positions(mesh, made, error);
    if (result == EX_OK)
        result = split(mesh, made, error);
    if (result == EX_OK)
        result = make_faces(mesh, made, error);
    if (result == EX_OK)
        result = exi_notes_write(mesh, made, error);
    if (result != EX_OK) {
        exi_rig_mesh_free(made);
        return result;
    }
    made->mesh.vertex_count = mesh->vertex_count;
    made->mesh.positions = made->positions;
    made->mesh.split_source = made->mesh.split_count == mesh->vertex_count ? NULL : made->split_source;
    made->mesh.texcoords = made->texcoords;
    made->mesh.normals = made->normals;
    made->mesh.face_count = mesh->face_count;
    made->mesh.corner_count = mesh->corner_count;
    made->mesh.face_sizes = made->face_sizes;
    made->mesh.corners = made->corners;
    made->mesh.triangles = made->triangles;
    return EX_OK;
}

void exi_rig_mesh_free(exi_rig_mesh *made) {
    free(made->positions);
    free(made->texcoords);
    free(made->normals);
    free(made->split_source);
    free(made->face_sizes);
    free(made->corners);
    free(made->triangles);
    for (int i = 0; i < EXI_RIG_MESH_NOTES; i++)
        free(made->note_data[i]);
    memset(made, 0, sizeof *made);
}

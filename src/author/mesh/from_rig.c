/*
 * A mesh for people from the one in a rig: the inverse of splitting at seams.
 */
#include "author/formats/array.h"
#include "author/mesh/notes.h"
#include "runtime/base/result.h"

#include <exemplar/author/formats.h>

#include <stdlib.h>
#include <string.h>

static ex_result no_memory(const ex_rig_mesh *m, ex_error *error) {
    return exi_error_memory(error, "the rig's mesh", (size_t)m->corner_count * 12 + (size_t)m->split_count * 48);
}

static ex_result copy_positions(const ex_rig *rig, const float *positions, ex_mesh *mesh, ex_error *error) {
    size_t count = 3 * (size_t)mesh->vertex_count;
    float *own = positions ? NULL : exi_array_allocate(count, sizeof *own);
    mesh->positions = exi_array_allocate(count, sizeof *mesh->positions);
    if (!mesh->positions || (!positions && !own)) {
        free(own);
        return exi_error_memory(error, "the rig's mesh", count * sizeof(double));
    }
    if (own)
        ex_rig_rest_mesh(rig, own);
    for (size_t i = 0; i < count; i++)
        mesh->positions[i] = (double)(positions ? positions : own)[i];
    free(own);
    return EX_OK;
}

static ex_result copy_faces(const ex_rig_mesh *m, ex_mesh *mesh, ex_error *error) {
    size_t corners = (size_t)m->corner_count;
    mesh->face_offsets = exi_array_allocate((size_t)m->face_count + 1, sizeof(int));
    mesh->corners = exi_array_allocate(corners, sizeof(int));
    mesh->corner_texcoords = m->texcoords ? exi_array_allocate(corners, sizeof(int)) : NULL;
    mesh->corner_normals = m->normals ? exi_array_allocate(corners, sizeof(int)) : NULL;
    if (!mesh->face_offsets || !mesh->corners || (m->texcoords && !mesh->corner_texcoords) ||
        (m->normals && !mesh->corner_normals))
        return no_memory(m, error);
    mesh->face_offsets[0] = 0;
    for (int f = 0; f < m->face_count; f++)
        mesh->face_offsets[f + 1] = mesh->face_offsets[f] + (int)m->face_sizes[f];
    for (size_t c = 0; c < corners; c++) {
        int split = (int)m->corners[c];
        mesh->corners[c] = m->split_source ? (int)m->split_source[split] : split;
        if (mesh->corner_texcoords)
            mesh->corner_texcoords[c] = split;
        if (mesh->corner_normals)
            mesh->corner_normals[c] = split;
    }
    mesh->face_count = m->face_count;
    mesh->corner_count = m->corner_count;
    return EX_OK;
}

/* Doubles keep 1 - v exact, so that turning the texture coordinate over twice gives the rig's own again. */
static ex_result copy_looks(const ex_rig_mesh *m, ex_mesh *mesh, ex_error *error) {
    size_t splits = (size_t)m->split_count;
    mesh->texcoords = m->texcoords ? exi_array_allocate(2 * splits, sizeof(double)) : NULL;
    mesh->normals = m->normals ? exi_array_allocate(3 * splits, sizeof(double)) : NULL;
    if ((m->texcoords && !mesh->texcoords) || (m->normals && !mesh->normals))
        return no_memory(m, error);
    for (size_t i = 0; m->texcoords && i < splits; i++) {
        mesh->texcoords[2 * i] = (double)m->texcoords[2 * i];
        mesh->texcoords[2 * i + 1] = 1.0 - (double)m->texcoords[2 * i + 1];
    }
    for (size_t i = 0; m->normals && i < 3 * splits; i++)
        mesh->normals[i] = (double)m->normals[i];
    mesh->texcoord_count = m->texcoords ? m->split_count : 0;
    mesh->normal_count = m->normals ? m->split_count : 0;
    return EX_OK;
}

ex_result ex_rig_to_mesh(const ex_rig *rig, const float *positions, ex_mesh **mesh, ex_error *error) {
    *mesh = NULL;
    ex_rig_mesh m = ex_rig_get_mesh(rig);
    if (positions)
        m.normals = NULL; /* they are those of the mesh at rest */
    ex_mesh *made = ex_mesh_create();
    if (!made)
        return no_memory(&m, error);
    made->vertex_count = m.vertex_count;
    ex_result result = copy_positions(rig, positions, made, error);
    if (result == EX_OK)
        result = copy_faces(&m, made, error);
    if (result == EX_OK)
        result = copy_looks(&m, made, error);
    if (result == EX_OK)
        result = exi_notes_read(rig, made, error);
    if (result == EX_OK)
        *mesh = made;
    else
        ex_mesh_destroy(made);
    return result;
}

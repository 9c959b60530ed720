/*
 * Makes an editable mesh from the mesh of a rig, or from one of its refined levels: the inverse of splitting at seams.
 */
#include "author/base/array.h"
#include "author/mesh/notes.h"
#include "runtime/base/result.h"

#include <exemplar/author/mesh.h>

#include <stdlib.h>
#include <string.h>

static ex_result no_memory(const ex_rig_mesh *m, ex_error *error) {
    return ex_error_memory(error, "the rig's mesh", (size_t)m->corner_count * 12 + (size_t)m->split_count * 48);
}

static ex_result copy_positions(const ex_rig *rig, const float *positions, ex_mesh *mesh, ex_error *error) {
    size_t count = 3 * (size_t)mesh->vertex_count;
    float *own = positions ? NULL : exi_array_allocate(count, sizeof *own);
    mesh->positions = exi_array_allocate(count, sizeof *mesh->positions);
    if (!mesh->positions || (!positions && !own)) {
        free(own);
        return ex_error_memory(error, "the rig's mesh", count * sizeof(double));
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

/* Doubles keep 1 - v exact, so that flipping the texture coordinate twice gives the rig's own again. */
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

/* Copies the normals of an evaluation, one per vertex. */
static ex_result copy_normals(const float *normals, ex_mesh *mesh, ex_error *error) {
    const size_t count = 3 * (size_t)mesh->vertex_count;
    mesh->normals = exi_array_allocate(count, sizeof *mesh->normals);
    mesh->corner_normals = exi_array_allocate((size_t)mesh->corner_count, sizeof *mesh->corner_normals);
    if (!mesh->normals || !mesh->corner_normals)
        return ex_error_memory(error, "the normals", count * sizeof(double));
    for (size_t i = 0; i < count; i++)
        mesh->normals[i] = (double)normals[i];
    memcpy(mesh->corner_normals, mesh->corners, (size_t)mesh->corner_count * sizeof *mesh->corners);
    mesh->normal_count = mesh->vertex_count;
    return EX_OK;
}

/* ---- groups and materials of a refined level ---- */

/* Number of parts of a face with that many corners at a level: a quadrilateral for each corner, then four of each
 * (Catmull-Clark, bilinear), or four of each of its triangles (Loop). Level 0 is that of a limit without levels. */
static int64_t part_count(int64_t corners, int level, bool loop) {
    int64_t parts = level == 0 ? 1 : loop ? (corners - 2) * 4 : corners;
    for (int i = 1; i < level; i++)
        parts *= 4;
    return parts;
}

/* Finds the cage face that each face of a level is part of [face_count]: parts are consecutive, in the order of the
 * faces. False if the counts do not match, because faces were left out as holes or at a boundary. */
static bool find_sources(const ex_rig *rig, int level, int *sources, int face_count) {
    const ex_rig_mesh cage = ex_rig_level_mesh(rig, 0);
    for (int loop = 0; loop < 2; loop++) {
        int64_t total = 0;
        for (int f = 0; f < cage.face_count; f++)
            total += part_count(cage.face_sizes[f], level, loop == 1);
        if (total != face_count)
            continue;
        for (int f = 0, at = 0; f < cage.face_count; f++)
            for (int64_t i = 0, parts = part_count(cage.face_sizes[f], level, loop == 1); i < parts; i++)
                sources[at++] = f;
        return true;
    }
    return false;
}

/* Copies face values of the cage to the faces of the level. */
static bool spread_faces(int **values, const int *sources, int face_count) {
    if (!*values)
        return true;
    int *spread = exi_array_allocate((size_t)face_count, sizeof *spread);
    for (int f = 0; spread && f < face_count; f++)
        spread[f] = (*values)[sources[f]];
    free(*values);
    *values = spread;
    return spread != NULL;
}

/* Reads the notes of the cage, into a mesh without vertices and faces. */
static ex_result read_cage_notes(const ex_rig *rig, ex_mesh *cage, ex_error *error) {
    cage->vertex_count = ex_rig_vertex_count(rig);
    cage->face_count = ex_rig_level_mesh(rig, 0).face_count;
    const ex_result result = exi_notes_read(rig, cage, error);
    cage->face_count = cage->vertex_count = 0;
    return result;
}

/* Refines the cage's colours as its points are, and clamps them where weights overshoot. */
static ex_result refine_colours(const ex_rig *rig, int level, const ex_mesh *cage, ex_mesh *mesh, ex_error *error) {
    const ex_stencils *stencils = ex_rig_stencils(rig);
    if (!cage->colours || !stencils)
        return EX_OK;
    const size_t count = 3 * (size_t)mesh->vertex_count;
    void *scratch = malloc(ex_stencils_scratch_size(stencils) + 1);
    mesh->colours = exi_array_allocate(count, sizeof *mesh->colours);
    if (!scratch || !mesh->colours) {
        free(scratch);
        return ex_error_memory(error, "the colours", count * sizeof *mesh->colours);
    }
    ex_stencils_apply(stencils, &(ex_refine){.level = level, .control = cage->colours, .positions = mesh->colours},
                      NULL, scratch);
    for (size_t i = 0; i < count; i++)
        mesh->colours[i] = mesh->colours[i] < 0 ? 0 : mesh->colours[i] > 1 ? 1 : mesh->colours[i];
    free(scratch);
    return EX_OK;
}

/* Takes groups and materials from the cage and spreads them over the level's faces. */
static ex_result spread_notes(ex_mesh *cage, const int *sources, ex_mesh *mesh, ex_error *error) {
    mesh->group_count = cage->group_count;
    mesh->group_names = cage->group_names;
    mesh->face_groups = cage->face_groups;
    mesh->material_count = cage->material_count;
    mesh->material_names = cage->material_names;
    mesh->face_materials = cage->face_materials;
    mesh->material_library = cage->material_library;
    cage->group_count = cage->material_count = 0;
    cage->group_names = cage->material_names = NULL;
    cage->face_groups = cage->face_materials = NULL;
    cage->material_library = NULL;
    return spread_faces(&mesh->face_groups, sources, mesh->face_count) &&
                   spread_faces(&mesh->face_materials, sources, mesh->face_count)
               ? EX_OK
               : ex_error_memory(error, "groups and materials", (size_t)mesh->face_count * sizeof(int));
}

static ex_result read_level_notes(const ex_rig *rig, int level, ex_mesh *mesh, ex_error *error) {
    int *sources = exi_array_allocate((size_t)mesh->face_count, sizeof *sources);
    ex_mesh *cage = ex_mesh_create();
    ex_result result = sources && cage
                           ? EX_OK
                           : ex_error_memory(error, "groups and materials", (size_t)mesh->face_count * sizeof *sources);
    const int refined = level == EX_LEVEL_LIMIT ? ex_rig_level_count(rig) : level;
    if (result == EX_OK)
        result = read_cage_notes(rig, cage, error);
    if (result == EX_OK)
        result = refine_colours(rig, level, cage, mesh, error);
    if (result == EX_OK && find_sources(rig, refined, sources, mesh->face_count))
        result = spread_notes(cage, sources, mesh, error);
    ex_mesh_destroy(cage);
    free(sources);
    return result;
}

/* ---- the entry point ---- */

ex_result ex_rig_to_mesh(const ex_rig *rig, const ex_surface *surface, ex_mesh **mesh, ex_error *error) {
    *mesh = NULL;
    const int level = surface ? surface->level : 0;
    ex_rig_mesh m = surface ? ex_rig_level_mesh(rig, level) : ex_rig_get_mesh(rig);
    ex_mesh *made = ex_mesh_create();
    if (!made)
        return no_memory(&m, error);
    made->vertex_count = m.vertex_count;
    ex_result result = copy_positions(rig, surface ? surface->positions : NULL, made, error);
    if (result == EX_OK)
        result = copy_faces(&m, made, error);
    if (result == EX_OK)
        result = copy_looks(&m, made, error);
    if (result == EX_OK && surface && surface->normals)
        result = copy_normals(surface->normals, made, error);
    if (result == EX_OK)
        result = level == 0 ? exi_notes_read(rig, made, error) : read_level_notes(rig, level, made, error);
    if (result == EX_OK)
        *mesh = made;
    else
        ex_mesh_destroy(made);
    return result;
}

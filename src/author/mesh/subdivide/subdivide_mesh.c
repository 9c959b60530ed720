/*
 * Makes a mesh from a level of a subdivision, to be written to files and displayed.
 */
#include "author/base/array.h"
#include "runtime/base/result.h"

#include <exemplar/author/mesh.h>

#include <stdlib.h>

/* Applies the stencils to triples of the cage: points, or colours. normals: NULL, or room for them. */
static bool apply(const ex_stencils *stencils, int level, const double *doubles, const float *floats, float *out,
                  float *normals) {
    const size_t count = 3 * (size_t)ex_stencils_control_count(stencils);
    float *control = exi_array_allocate(count, sizeof *control);
    void *scratch = exi_array_allocate(ex_stencils_scratch_size(stencils), 1);
    for (size_t i = 0; i < count && control; i++)
        control[i] = doubles ? (float)doubles[i] : floats[i];
    if (control && scratch)
        ex_stencils_apply(stencils,
                          &(ex_refine){.level = level, .control = control, .positions = out, .normals = normals}, NULL,
                          scratch);
    free(scratch);
    bool good = control && scratch;
    free(control);
    return good;
}

static double *to_doubles(const float *floats, size_t count) {
    double *doubles = exi_array_allocate(count, sizeof *doubles);
    for (size_t i = 0; i < count && doubles; i++)
        doubles[i] = (double)floats[i];
    return doubles;
}

static bool make_points(const ex_subdivision *s, const ex_mesh *mesh, int level, int vertex_count, ex_mesh *out) {
    const size_t count = 3 * (size_t)vertex_count;
    const bool with_normals = ex_stencils_has_tangents(s->stencils, level);
    float *points = exi_array_allocate(count, sizeof *points), *normals = exi_array_allocate(count, sizeof *normals);
    bool good =
        points && normals && apply(s->stencils, level, mesh->positions, NULL, points, with_normals ? normals : NULL);
    out->vertex_count = vertex_count;
    if (good)
        out->positions = to_doubles(points, count);
    good = good && out->positions;
    if (good && with_normals) {
        out->normals = to_doubles(normals, count);
        out->normal_count = vertex_count;
        good = out->normals != NULL;
    }
    if (good && mesh->colours) {
        out->colours = exi_array_allocate(count, sizeof *out->colours);
        good = out->colours && apply(s->stencils, level, NULL, mesh->colours, out->colours, NULL);
        for (size_t i = 0; i < count && good; i++) /* clamps colours where weights overshoot */
            out->colours[i] = out->colours[i] < 0 ? 0 : out->colours[i] > 1 ? 1 : out->colours[i];
    }
    free(points);
    free(normals);
    return good;
}

/* Copies an attribute of faces from the faces they came from. True if there is none. */
static bool inherit(int **out, const int *values, const ex_refined_level *level) {
    if (!values)
        return true;
    *out = exi_array_allocate((size_t)level->face_count, sizeof **out);
    for (int f = 0; f < level->face_count && *out; f++)
        (*out)[f] = values[level->face_sources[f]];
    return *out != NULL;
}

static bool make_faces(const ex_refined_level *level, const ex_mesh *mesh, ex_mesh *out) {
    const size_t corners = (size_t)level->corner_count;
    out->face_count = level->face_count;
    out->corner_count = level->corner_count;
    out->texcoord_count = level->texcoord_count;
    out->face_offsets = exi_array_copy(level->face_offsets, (size_t)level->face_count + 1, sizeof *out->face_offsets);
    out->corners = exi_array_copy(level->corners, corners, sizeof *out->corners);
    bool good = out->face_offsets && out->corners && inherit(&out->face_groups, mesh->face_groups, level) &&
                inherit(&out->face_materials, mesh->face_materials, level);
    if (good && out->normals) {
        out->corner_normals = exi_array_copy(level->corners, corners, sizeof *out->corner_normals);
        good = out->corner_normals != NULL;
    }
    if (good && level->corner_texcoords) {
        out->texcoords = exi_array_copy(level->texcoords, (size_t)level->texcoord_count, 2 * sizeof *out->texcoords);
        out->corner_texcoords = exi_array_copy(level->corner_texcoords, corners, sizeof *out->corner_texcoords);
        good = out->texcoords && out->corner_texcoords;
    }
    return good;
}

ex_result ex_subdivision_mesh(const ex_subdivision *subdivision, const ex_mesh *mesh, int level, ex_mesh **refined,
                              ex_error *error) {
    if (!subdivision || !mesh || !refined || !ex_stencils_has(subdivision->stencils, level) ||
        mesh->vertex_count != ex_stencils_control_count(subdivision->stencils)) {
        exi_misuse(__func__, "no subdivision, a mesh that it was not made from, or a level that does not exist");
        return EX_ERROR_ARGUMENT;
    }
    const ex_mesh names = {.group_count = mesh->group_count,
                           .group_names = mesh->group_names,
                           .material_count = mesh->material_count,
                           .material_names = mesh->material_names,
                           .material_library = mesh->material_library};
    const int faces_of = level == EX_LEVEL_LIMIT ? subdivision->level_count : level;
    *refined = NULL;
    ex_mesh *out = ex_mesh_copy(&names);
    if (out && make_points(subdivision, mesh, level, ex_stencils_vertex_count(subdivision->stencils, level), out) &&
        make_faces(&subdivision->levels[faces_of], mesh, out)) {
        *refined = out;
        return EX_OK;
    }
    ex_mesh_destroy(out);
    return ex_error_set(error, EX_ERROR_MEMORY, "not enough memory for level %d of %d faces", faces_of,
                        mesh->face_count);
}

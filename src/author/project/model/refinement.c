/*
 * Refined levels for a rig: stencils, and the faces of every level, split at seams like those of the mesh.
 */
#include "author/project/model/refinement.h"

#include "author/base/array.h"
#include "runtime/base/result.h"

#include <stdlib.h>
#include <string.h>

/* Replaces texture coordinates by those that the rig holds, rounded and one per split vertex, which are what an
 * unpacked mesh will have. Its levels are then identical, whatever digits the first file had. The rest of the mesh is
 * shared. */
static bool share_mesh(const ex_mesh *mesh, const exi_rig_mesh *rig_mesh, ex_mesh *shared) {
    *shared = *mesh;
    shared->texcoords = NULL;
    shared->corner_texcoords = NULL;
    shared->texcoord_count = 0;
    if (!rig_mesh->texcoords)
        return true;
    const size_t splits = (size_t)rig_mesh->mesh.split_count, corners = (size_t)mesh->corner_count;
    shared->texcoord_count = rig_mesh->mesh.split_count;
    shared->texcoords = exi_array_allocate(splits, 2 * sizeof *shared->texcoords);
    shared->corner_texcoords = exi_array_allocate(corners, sizeof *shared->corner_texcoords);
    if (!shared->texcoords || !shared->corner_texcoords)
        return false;
    for (size_t i = 0; i < splits; i++) {
        shared->texcoords[2 * i] = (double)rig_mesh->texcoords[2 * i];
        shared->texcoords[2 * i + 1] = 1.0 - (double)rig_mesh->texcoords[2 * i + 1];
    }
    for (size_t c = 0; c < corners; c++)
        shared->corner_texcoords[c] = (int)rig_mesh->corners[c];
    return true;
}

static ex_result make_level(const exi_refinement *r, const ex_mesh *mesh, int level, ex_error *error) {
    ex_mesh *refined = NULL;
    ex_result result = ex_subdivision_mesh(r->subdivision, mesh, level, &refined, error);
    if (result == EX_OK)
        result = exi_rig_mesh_make(refined, &r->made[level - 1], error);
    if (result == EX_OK) {
        r->levels[level - 1] = r->made[level - 1].mesh;
        r->levels[level - 1].positions = NULL;
        r->levels[level - 1].normals = NULL;
    }
    ex_mesh_destroy(refined);
    return result;
}

static ex_result make_levels(exi_refinement *r, const ex_mesh *mesh, ex_error *error) {
    const size_t count = (size_t)r->subdivision->level_count;
    r->made = calloc(count + 1, sizeof *r->made);
    r->levels = calloc(count + 1, sizeof *r->levels);
    if (!r->made || !r->levels)
        return ex_error_memory(error, "the levels", count * sizeof *r->made);
    r->level_count = (int)count;
    ex_result result = EX_OK;
    for (int level = 1; result == EX_OK && level <= r->level_count; level++)
        result = make_level(r, mesh, level, error);
    return result;
}

ex_result exi_refinement_make(const ex_mesh *mesh, const exi_rig_mesh *rig_mesh, const ex_subdivide_def *def,
                              exi_refinement *made, ex_error *error) {
    *made = (exi_refinement){0};
    ex_mesh shared;
    ex_result result = share_mesh(mesh, rig_mesh, &shared)
                           ? ex_mesh_subdivide(&shared, def, &made->subdivision, error)
                           : ex_error_memory(error, "subdividing", (size_t)mesh->corner_count * 4);
    if (result == EX_OK)
        result = make_levels(made, &shared, error);
    free(shared.texcoords);
    free(shared.corner_texcoords);
    if (result != EX_OK)
        exi_refinement_free(made);
    return result;
}

void exi_refinement_free(exi_refinement *made) {
    for (int i = 0; made->made && i < made->level_count; i++)
        exi_rig_mesh_free(&made->made[i]);
    free(made->made);
    free(made->levels);
    ex_subdivision_destroy(made->subdivision);
    *made = (exi_refinement){0};
}

ex_result exi_refinement_describe(const ex_subdivide_def *def, exi_text *text, ex_error *error) {
    static const char *const schemes[] = {"catmull_clark", "loop", "bilinear"};
    static const char *const boundaries[] = {"tags", "none", "edges", "edges_and_corners"};
    *text = (exi_text){0};
    json_t *limit = def->all ? json_string("all") : json_boolean(def->limit);
    json_t *object = json_pack("{s:s, s:i, s:o, s:s}", "scheme", schemes[def->scheme], "levels", def->levels, "limit",
                               limit, "boundary", boundaries[def->boundary]);
    if (object)
        exi_json_print(object, false, text);
    const bool good = object && !text->failed;
    json_decref(object);
    return good ? EX_OK : ex_error_memory(error, "a note", text->size);
}

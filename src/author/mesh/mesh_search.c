/*
 * Triangles of several meshes in one tree.
 */
#include "author/mesh/mesh_search.h"
#include "author/base/array.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"

#include <stdlib.h>

void exi_search_free(exi_search *s) {
    ex_tree_destroy(s->tree);
    free(s->memory);
    free(s->positions);
    free(s->triangles);
    *s = (exi_search){0};
}

ex_result exi_search_make(exi_search *s, const ex_mesh *const *meshes, int count, ex_error *error) {
    size_t vertices = 0, triangles = 0, first = 0, corner = 0;
    ex_result result = EX_OK;
    for (int i = 0; i < count; i++) {
        vertices += (size_t)meshes[i]->vertex_count;
        triangles += (size_t)(meshes[i]->corner_count - 2 * meshes[i]->face_count);
    }
    *s = (exi_search){.positions = exi_array_allocate(3 * vertices, sizeof *s->positions),
                      .triangles = exi_array_allocate(3 * triangles, sizeof *s->triangles)};
    if (!s->positions || !s->triangles)
        return ex_error_memory(error, "a scan", 3 * vertices * sizeof *s->positions);
    for (int i = 0; i < count && result == EX_OK; i++) {
        const ex_mesh *mesh = meshes[i];
        int *own = NULL, own_count = 0;
        result = ex_mesh_triangulate(mesh, &own, &own_count, error);
        for (size_t v = 0; v < 3 * (size_t)mesh->vertex_count; v++)
            s->positions[3 * first + v] = (float)mesh->positions[v];
        for (int c = 0; result == EX_OK && c < 3 * own_count; c++)
            s->triangles[corner++] = (uint32_t)(first + (size_t)mesh->corners[own[c]]);
        first += (size_t)mesh->vertex_count;
        free(own);
    }
    if (result != EX_OK)
        return result;
    s->triangle_count = (int)(corner / 3);
    const ex_tree_def def = {.vertex_count = (int)vertices,
                             .positions = s->positions,
                             .triangle_count = s->triangle_count,
                             .triangles = s->triangles};
    result = ex_tree_create(&def, NULL, &s->tree, error);
    if (result != EX_OK)
        return result;
    s->memory = exi_array_allocate(ex_bounds_size(s->tree), 1);
    s->bounds = s->memory ? ex_bounds_fit(s->tree, s->positions, 0, s->memory, NULL) : NULL;
    return s->bounds ? EX_OK : ex_error_memory(error, "a scan", ex_bounds_size(s->tree));
}

bool exi_search_normal(const exi_search *s, int triangle, double normal[3]) {
    double p[3][3], a[3], b[3];
    for (int k = 0; k < 3; k++)
        for (int c = 0; c < 3; c++)
            p[k][c] = (double)s->positions[3 * (size_t)s->triangles[3 * (size_t)triangle + (size_t)k] + (size_t)c];
    exi_subtract(p[1], p[0], a);
    exi_subtract(p[2], p[0], b);
    exi_cross(a, b, normal);
    return exi_unit3(normal);
}

/*
 * Computes control points from points of the surface: the limit surface of a cage lies inside it, and should pass
 * through the rings' points V. M A = V (Allen, Curless, Popovic 2002, section 4.3; M: limit masks) is not solved fully
 * but by
 *
 *     A <- A + (V - M A),
 *
 * a few times from A = V. Differences between neighbouring rings and points, where M is weakest, come more from single
 * rays than from the body, and a full solution would amplify them several times.
 */
#include "author/scan/template/template.h"

#include "author/base/array.h"
#include "runtime/base/result.h"

#include <stdlib.h>
#include <string.h>

#define ROUNDS 8

typedef struct masks {
    int *offsets, *indices;
    double *weights;
    double *wanted, *limits;
} masks;

static bool open_masks(masks *m, const ex_stencils *stencils, const ex_mesh *mesh) {
    const size_t count = (size_t)ex_stencils_weight_count(stencils, EX_LEVEL_LIMIT);
    const size_t vertices = (size_t)mesh->vertex_count;
    *m = (masks){.offsets = exi_array_allocate(vertices + 1, sizeof *m->offsets),
                 .indices = exi_array_allocate(count, sizeof *m->indices),
                 .weights = exi_array_allocate(count, sizeof *m->weights),
                 .wanted = exi_array_copy(mesh->positions, 3 * vertices, sizeof *m->wanted),
                 .limits = exi_array_allocate(3 * vertices, sizeof *m->limits)};
    if (!m->offsets || !m->indices || !m->weights || !m->wanted || !m->limits)
        return false;
    ex_stencils_read(stencils, EX_LEVEL_LIMIT, m->offsets, m->indices, m->weights, NULL);
    return true;
}

static void close_masks(masks *m) {
    free(m->offsets);
    free(m->indices);
    free(m->weights);
    free(m->wanted);
    free(m->limits);
}

static void improve(const masks *m, ex_mesh *mesh) {
    const size_t count = 3 * (size_t)mesh->vertex_count;
    memset(m->limits, 0, count * sizeof *m->limits);
    for (int v = 0; v < mesh->vertex_count; v++)
        for (int i = m->offsets[v]; i < m->offsets[v + 1]; i++)
            for (size_t c = 0; c < 3; c++)
                m->limits[3 * (size_t)v + c] += m->weights[i] * mesh->positions[3 * (size_t)m->indices[i] + c];
    for (size_t i = 0; i < count; i++)
        mesh->positions[i] += m->wanted[i] - m->limits[i];
}

ex_result exi_template_meet(ex_mesh *mesh, ex_error *error) {
    const ex_subdivide_def def = {.scheme = EX_SCHEME_CATMULL_CLARK, .levels = 0, .limit = true};
    ex_subdivision *subdivision = NULL;
    ex_result result = ex_mesh_subdivide(mesh, &def, &subdivision, error);
    if (result != EX_OK)
        return result;
    masks m;
    if (open_masks(&m, subdivision->stencils, mesh))
        for (int round = 0; round < ROUNDS; round++)
            improve(&m, mesh);
    else
        result = ex_error_memory(error, "the template", (size_t)mesh->vertex_count * sizeof(double));
    close_masks(&m);
    ex_subdivision_destroy(subdivision);
    return result;
}

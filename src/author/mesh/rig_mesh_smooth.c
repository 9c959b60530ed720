/*
 * Adds smooth normals to a rig's mesh that has none: weighted by angle, over source vertices, so that seams do not
 * show.
 */
#include "author/base/array.h"
#include "author/mesh/rig_mesh.h"
#include "runtime/base/result.h"

#include <stdlib.h>
#include <string.h>

static uint32_t source_of(const ex_rig_mesh *m, uint32_t split) {
    return m->split_source ? m->split_source[split] : split;
}

/* A vertex without faces, or whose faces cancel out, gets the same normal as a corner without one. */
static void fill_splits(const ex_rig_mesh *m, const float *sources, float *normals) {
    for (size_t i = 0; i < (size_t)m->split_count; i++) {
        const float *n = sources + 3 * (size_t)source_of(m, (uint32_t)i);
        const bool none = n[0] == 0 && n[1] == 0 && n[2] == 0;
        for (size_t c = 0; c < 3; c++)
            normals[3 * i + c] = none ? (c == 1 ? 1.0F : 0.0F) : n[c];
    }
}

static ex_result compute(const ex_rig_mesh *m, const int *offsets, const int *corners, float *sources,
                         ex_error *error) {
    ex_normals *normals = NULL;
    ex_result result = ex_normals_create(&(ex_normals_def){.vertex_count = m->vertex_count,
                                                           .face_count = m->face_count,
                                                           .face_offsets = offsets,
                                                           .corners = corners,
                                                           .weighting = EX_NORMAL_BY_ANGLE},
                                         NULL, &normals, error);
    if (result != EX_OK)
        return result;
    void *scratch = exi_array_allocate(ex_normals_scratch_size(normals), 1);
    if (scratch)
        ex_normals_compute(normals, m->positions, 0, sources, 0, NULL, scratch);
    else
        result = ex_error_memory(error, "the mesh's normals", ex_normals_scratch_size(normals));
    free(scratch);
    ex_normals_destroy(normals);
    return result;
}

ex_result exi_rig_mesh_smooth(exi_rig_mesh *made, ex_error *error) {
    const ex_rig_mesh *m = &made->mesh;
    if (m->normals || m->face_count == 0)
        return EX_OK;
    int *offsets = exi_array_allocate((size_t)m->face_count + 1, sizeof *offsets);
    int *corners = exi_array_allocate((size_t)m->corner_count, sizeof *corners);
    float *sources = exi_array_allocate((size_t)m->vertex_count, 3 * sizeof *sources);
    float *normals = exi_array_allocate((size_t)m->split_count, 3 * sizeof *normals);
    ex_result result = offsets && corners && sources && normals
                           ? EX_OK
                           : ex_error_memory(error, "the mesh's normals", (size_t)m->split_count * 24);
    if (result == EX_OK) {
        offsets[0] = 0;
        for (int f = 0; f < m->face_count; f++)
            offsets[f + 1] = offsets[f] + (int)m->face_sizes[f];
        for (int c = 0; c < m->corner_count; c++)
            corners[c] = (int)source_of(m, m->corners[c]);
        result = compute(m, offsets, corners, sources, error);
    }
    if (result == EX_OK) {
        fill_splits(m, sources, normals);
        made->normals = normals;
        made->mesh.normals = normals;
        normals = NULL;
    }
    free(offsets);
    free(corners);
    free(sources);
    free(normals);
    return result;
}

/*
 * Finds the segments of a mesh, from its examples' rotations to joints: runs the steps listed in segments.h.
 */
#include "author/base/array.h"
#include "author/trajectory/segments/segments.h"
#include "runtime/base/result.h"

#include <stdlib.h>

void exi_segments_free(exi_segmentation *s) {
    free(s->triangles);
    free(s->vertices);
    free(s->parents);
    free(s->order);
    free(s->areas);
    free(s->joints);
    free(s->loose);
    *s = (exi_segmentation){.count = 0};
}

static bool all_given(const exi_segments_input *in) {
    const int *given = in->options->segments;
    for (int t = 0; given && t < in->any->triangle_count; t++)
        if (given[t] < 0)
            return false;
    return given != NULL;
}

ex_result exi_segments_find(const exi_segments_input *in, exi_segmentation *s, ex_error *error) {
    size_t triangles = (size_t)in->any->triangle_count, vertices = (size_t)in->any->vertex_count;
    *s = (exi_segmentation){.count = 0};
    int *clusters = exi_array_allocate(triangles, sizeof *clusters);
    s->triangles = exi_array_allocate(triangles, sizeof *s->triangles);
    s->vertices = exi_array_allocate(vertices, sizeof *s->vertices);
    ex_result result = EX_OK;
    if (!clusters || !s->triangles || !s->vertices)
        result = ex_error_memory(error, "segments", triangles * 2 * sizeof *clusters);
    for (size_t t = 0; t < triangles && result == EX_OK; t++)
        clusters[t] = -1;
    if (result == EX_OK && !all_given(in))
        result = exi_segments_cluster(in, clusters, error);
    if (result == EX_OK)
        result = exi_segments_parts(in, clusters, s, error);
    if (result == EX_OK)
        result = exi_segments_tree(in, s, error);
    if (result == EX_OK)
        result = exi_segments_joints(in, s, error);
    free(clusters);
    if (result != EX_OK)
        exi_segments_free(s);
    return result;
}

/*
 * Displacement maps of a project: files in the project's unit, with one number for each vertex of the last refined
 * level.
 */
#include "author/project/model/maps.h"

#include "author/base/array.h"
#include "runtime/base/result.h"

#include <exemplar/author/displacement.h>
#include <exemplar/author/files.h>
#include <exemplar/author/formats.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

ex_result exi_project_read_map(const ex_project_view *view, const char *relative, int vertex_count, float **values,
                               ex_error *error) {
    *values = NULL;
    char *path = ex_path_join(view->path, relative);
    if (!path)
        return ex_error_memory(error, "a path", strlen(relative));
    ex_displacement_map *map = NULL;
    ex_result result = ex_displacement_map_read(path, &map, error);
    free(path);
    if (result == EX_OK && map->vertex_count != vertex_count)
        result = ex_error_set(error, EX_ERROR_DATA, "%s has %d vertices, but level %d of '%s' has %d", relative,
                              map->vertex_count, view->subdivision.levels, view->mesh, vertex_count);
    for (int v = 0; result == EX_OK && v < vertex_count; v++) {
        map->displacements[v] = (float)((double)map->displacements[v] * view->unit);
        if (!isfinite(map->displacements[v]))
            result = ex_error_set(error, EX_ERROR_DATA, "%s: the displacement of vertex %d is too large in metres",
                                  relative, v);
    }
    if (result == EX_OK) {
        *values = map->displacements;
        map->displacements = NULL;
    }
    ex_displacement_map_destroy(map);
    return result;
}

ex_result exi_project_read_map_mask(const ex_project_view *view, const ex_project_layer *layer, int vertex_count,
                                    float **mask, ex_error *error) {
    *mask = NULL;
    if (layer->mask.kind == EX_MASK_NONE)
        return EX_OK;
    const size_t count = (size_t)vertex_count;
    char *path = ex_path_join(view->path, layer->mask.source);
    float *values = exi_array_allocate(count, sizeof *values);
    ex_result result = path && values ? EX_OK : ex_error_memory(error, "a mask", count * sizeof *values);
    if (result == EX_OK) {
        memset(values, 0, count * sizeof *values);
        result = ex_mask_read(path, vertex_count, 1, values, error);
    }
    free(path);
    if (result == EX_OK)
        *mask = values;
    else
        free(values);
    return ex_error_within(error, result, "layer '%s', mask", layer->name);
}

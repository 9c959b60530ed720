/*
 * maps.h - displacement maps of a project's examples; private to authoring.
 */
#ifndef EXEMPLAR_AUTHOR_PROJECT_MODEL_MAPS_H
#define EXEMPLAR_AUTHOR_PROJECT_MODEL_MAPS_H

#include "author/project/model/project.h"

/* Reads a map's displacements [vertex_count], in metres; release with free. vertex_count: of the last level. Fails with
 * DATA, and both numbers, if the map has a different count. */
ex_result exi_project_read_map(const ex_project_view *view, const char *relative, int vertex_count, float **values,
                               ex_error *error);

/* Reads the mask of a layer of displacements [vertex_count], NULL if it has none; release with free. */
ex_result exi_project_read_map_mask(const ex_project_view *view, const ex_project_layer *layer, int vertex_count,
                                    float **mask, ex_error *error);

#endif

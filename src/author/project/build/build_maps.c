/*
 * Layers of displacements on their way into a rig: maps are read as they are. They act on what has been posed and
 * refined, so nothing is measured against them.
 */
#include "author/project/build/build.h"
#include "author/project/model/maps.h"
#include "runtime/base/result.h"

#include <stdlib.h>

ex_result exi_build_maps(exi_building *b, int index, ex_layer_def *layer, ex_error *error) {
    const ex_project_layer *source = &b->view->layers[index];
    if (!b->refinement.subdivision) { /* a rig without its levels is not displaced either */
        b->example_done += source->example_count;
        return EX_OK;
    }
    const int vertices = b->refinement.levels[b->refinement.level_count - 1].vertex_count;
    const float **maps = calloc((size_t)source->example_count, sizeof *maps);
    float *mask = NULL;
    layer->displacement.maps = maps;
    ex_result result = maps ? EX_OK : exi_error_memory(error, "a layer", (size_t)source->example_count * sizeof *maps);
    if (result == EX_OK)
        result = exi_project_read_map_mask(b->view, source, vertices, &mask, error);
    layer->mask = mask;
    for (int k = 0; result == EX_OK && k < source->example_count; k++) {
        float *values = NULL;
        exi_build_report(b, source->examples[k].name);
        result = exi_error_within(
            error, exi_project_read_map(b->view, source->examples[k].map, vertices, &values, error),
            "layers[%d].examples[%d] '%s'", index, source->examples[k].place, source->examples[k].name);
        maps[k] = values;
        b->example_done++;
    }
    if (result == EX_OK)
        result = exi_error_within(error, exi_build_falloffs(b, index, layer, error), "layer '%s'", source->name);
    return result;
}

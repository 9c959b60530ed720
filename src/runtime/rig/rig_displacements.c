/*
 * Displacements on their way into a rig, which creation and unpacking share, and what a rig tells about them.
 */
#include "runtime/base/memory.h"
#include "runtime/base/result.h"
#include "runtime/rig/rig.h"

#include <string.h>

ex_result exi_rig_displacements_open(exi_rig_displacements *p, const exi_rig_counts *counts,
                                     const ex_allocator *allocator, ex_error *error) {
    *p = (exi_rig_displacements){.layer_count = counts->layers, .allocator = allocator};
    if (counts->displacements == 0 || counts->levels == 0) /* where the levels are left out, nothing is displaced */
        return EX_OK;
    p->size = (size_t)counts->layers * sizeof *p->layers;
    p->layers = exi_allocate(allocator, p->size);
    if (!p->layers)
        return exi_error_memory(error, "the displacements", p->size);
    memset(p->layers, 0, p->size);
    return EX_OK;
}

/* The list of displaced vertices is made twice: counted, and written into the block. */
ex_result exi_rig_displacements_add(exi_rig_displacements *p, int layer, const ex_layer_def *from, int vertex_count,
                                    ex_storage storage, ex_error *error) {
    const int examples = from->weigh.example_count;
    exi_displacements_def def = {.vertex_count = vertex_count, .example_count = examples, .storage = storage};
    def.listed_count = exi_displacements_list(from->displacement.maps, examples, vertex_count, from->mask, NULL);
    ex_result result = exi_displacements_create(&def, p->allocator, &p->layers[layer], error);
    if (result != EX_OK)
        return result;
    exi_displacements *made = p->layers[layer];
    exi_displacements_list(from->displacement.maps, examples, vertex_count, from->mask,
                           (uint32_t *)((uintptr_t)made + (uintptr_t)made->vertices));
    for (int k = 0; k < examples; k++) {
        uint32_t bad = 0;
        if (!exi_displacements_set(made, k, from->displacement.maps[k], true, from->mask, &bad))
            return exi_error(error, EX_ERROR_DATA, "example '%s': the displacement of refined vertex %u is not finite",
                             from->example_names[k], (unsigned)bad);
    }
    return EX_OK;
}

void exi_rig_displacements_close(exi_rig_displacements *p) {
    for (int l = 0; p->layers && l < p->layer_count; l++)
        exi_block_destroy(p->layers[l]);
    exi_release(p->allocator, p->layers, p->size);
}

/* ---- what a rig tells ---- */

const exi_displacements *exi_rig_displacements_of(const ex_rig *rig, int layer) {
    const uint64_t *places = exi_rig_at(rig, rig->displacements);
    return rig->displaced_layers > 0 ? exi_rig_part(rig, places[layer]) : NULL;
}

void exi_rig_displacements_measure(ex_rig *rig) {
    const uint64_t *places = exi_rig_at(rig, rig->displacements);
    rig->displaced_layers = 0;
    for (int l = 0; rig->counts.displacements > 0 && l < rig->counts.layers; l++)
        rig->displaced_layers += places[l] != 0;
}

static const exi_displacements *layer_of(const ex_rig *rig, int layer, const char *function) {
    if (layer < 0 || layer >= rig->counts.layers) {
        exi_misuse(function, "no such layer");
        return NULL;
    }
    return exi_rig_displacements_of(rig, layer);
}

int ex_rig_layer_displaced(const ex_rig *rig, int layer, uint32_t *vertices) {
    const exi_displacements *d = layer_of(rig, layer, __func__);
    if (d && vertices && d->listed_count > 0)
        memcpy(vertices, exi_displacements_vertices(d), (size_t)d->listed_count * sizeof *vertices);
    return d ? d->listed_count : 0;
}

void ex_rig_example_displacements(const ex_rig *rig, int layer, int example, float *values) {
    const exi_displacements *d = layer_of(rig, layer, __func__);
    if (!d)
        return;
    if (example < 0 || example >= d->example_count || !values)
        exi_misuse(__func__, "no such example, or nowhere to put its displacements");
    else
        exi_displacements_get(d, example, values);
}

/*
 * Trajectories on their way into a rig. Creation and unpacking share it.
 */
#include "runtime/base/memory.h"
#include "runtime/base/result.h"
#include "runtime/rig/rig.h"

#include <string.h>

ex_result exi_rig_paths_open(exi_rig_paths *p, const exi_rig_counts *counts, const ex_allocator *allocator,
                             ex_error *error) {
    *p = (exi_rig_paths){.layer_count = counts->layers, .allocator = allocator};
    if (counts->trajectories == 0)
        return EX_OK;
    p->size = (size_t)counts->layers * sizeof *p->layers;
    p->memory = exi_allocate(allocator, p->size);
    if (!p->memory)
        return exi_error_memory(error, "the trajectories", p->size);
    memset(p->memory, 0, p->size);
    p->layers = p->memory;
    p->room_size = exi_paths_room_size(counts->vertices);
    p->room = exi_allocate(allocator, p->room_size);
    return p->room ? EX_OK : exi_error_memory(error, "the trajectories", p->room_size);
}

ex_result exi_rig_paths_add(exi_rig_paths *p, int layer, const exi_paths_def *def, int first_form, ex_error *error) {
    ex_result result = exi_paths_create(def, p->allocator, &p->layers[layer], error);
    if (result != EX_OK)
        return result;
    if ((int64_t)first_form + p->form_count + p->layers[layer]->form_count > EXI_FORM_MAX)
        return exi_error(error, EX_ERROR_LIMIT, "forms, turns and correctors are more than %d", EXI_FORM_MAX);
    p->layers[layer]->first_form = first_form + p->form_count;
    p->form_count += p->layers[layer]->form_count;
    return EX_OK;
}

void exi_rig_paths_close(exi_rig_paths *p) {
    for (int l = 0; p->layers && l < p->layer_count; l++)
        exi_block_destroy(p->layers[l]);
    exi_release(p->allocator, p->entries, p->entries_size);
    exi_release(p->allocator, p->room, p->room_size);
    exi_release(p->allocator, p->memory, p->size);
}

void exi_rig_paths_measure(ex_rig *rig) {
    rig->path_layers = rig->segments = rig->most_segments = 0;
    for (int l = 0; l < rig->counts.layers; l++) {
        const exi_paths *paths = exi_rig_paths_of(rig, l);
        if (!paths)
            continue;
        rig->path_layers++;
        rig->segments += paths->segment_count;
        rig->most_segments = paths->segment_count > rig->most_segments ? paths->segment_count : rig->most_segments;
    }
}

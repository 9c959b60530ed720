/*
 * Offsets on their way into a rig: sets of examples and patches of all layers, and the tables that tell which weight
 * belongs to which example. Creation and unpacking share it.
 */
#include "runtime/base/memory.h"
#include "runtime/base/result.h"
#include "runtime/rig/rig.h"

#include <string.h>

ex_result exi_rig_offsets_open(exi_rig_offsets *o, int layer_count, const ex_allocator *allocator, ex_error *error) {
    *o = (exi_rig_offsets){.layer_count = layer_count, .allocator = allocator};
    exi_size total = {0};
    const size_t layers = exi_size_add(&total, (size_t)layer_count, sizeof *o->layers, 8);
    const size_t sets = exi_size_add(&total, (size_t)layer_count, sizeof *o->sets, 8);
    o->size = total.bytes;
    o->memory = total.overflow ? NULL : exi_allocate(allocator, total.bytes);
    if (!o->memory)
        return exi_error_memory(error, "the offsets", total.bytes);
    memset(o->memory, 0, total.bytes);
    o->layers = (exi_offset_layer *)(void *)((char *)o->memory + layers);
    o->sets = (exi_incidence *)(void *)((char *)o->memory + sets);
    return EX_OK;
}

ex_result exi_rig_offsets_find_sets(exi_rig_offsets *o, int mesh_count, ex_error *error) {
    int64_t weights = 0;
    for (int l = 0; l < o->layer_count; l++) {
        exi_offset_layer *layer = &o->layers[l];
        if (layer->example_count == 0)
            continue;
        o->at = l;
        ex_result result = exi_incidence_open(layer, mesh_count, o->allocator, &o->sets[l], error);
        if (result != EX_OK)
            return result;
        const size_t words = exi_set_words(layer->example_count);
        const size_t bits = (size_t)o->sets[l].set_count * words * sizeof *o->bits;
        if (layer->moved && bits > o->bits_size)
            o->bits_size = bits;
        layer->first_weight = (int)weights;
        weights += layer->moved ? o->sets[l].weight_of[o->sets[l].set_count] : (uint32_t)layer->example_count;
        if (weights > INT32_MAX)
            return exi_error(error, EX_ERROR_LIMIT, "the offsets need more than %d weights", INT32_MAX);
    }
    o->weights = (int)weights;
    o->bits = o->bits_size > 0 ? exi_allocate(o->allocator, o->bits_size) : NULL;
    return o->bits_size > 0 && !o->bits ? exi_error_memory(error, "the offsets", o->bits_size) : EX_OK;
}

ex_result exi_rig_offsets_lay(exi_rig_offsets *o, int mesh_count, ex_error *error) {
    ex_result result = EX_OK;
    for (int part = 0; result == EX_OK && part < EX_FRAME_COUNT; part++)
        result = exi_patches_create(o->layers, o->sets, o->layer_count, part, mesh_count, o->allocator,
                                    &o->patches[part], error);
    return result;
}

void exi_rig_offsets_close(exi_rig_offsets *o) {
    for (int l = 0; o->memory && l < o->layer_count; l++)
        exi_incidence_close(&o->sets[l]);
    for (int part = 0; part < EX_FRAME_COUNT; part++)
        exi_block_destroy(o->patches[part]);
    exi_release(o->allocator, o->bits, o->bits_size);
    exi_release(o->allocator, o->entries, o->entries_size);
    exi_release(o->allocator, o->memory, o->size);
}

const uint32_t *exi_rig_offsets_bits(exi_rig_offsets *o, int layer) {
    exi_incidence_bits(&o->sets[layer], o->layers[layer].example_count, o->bits);
    return o->bits;
}

uint32_t exi_rig_splits(const ex_rig *rig, uint32_t vertex, uint32_t *count) {
    *count = 1;
    if (!(rig->counts.flags & EXI_RIG_SEAMS))
        return vertex;
    const uint32_t *sources = exi_rig_at(rig, exi_rig_levels(rig)[0].sources);
    const uint32_t splits = (uint32_t)rig->counts.splits;
    uint32_t low = 0, high = splits;
    while (low < high) {
        const uint32_t middle = low + (high - low) / 2;
        if (sources[middle] < vertex)
            low = middle + 1;
        else
            high = middle;
    }
    while (low + *count < splits && sources[low + *count] == vertex)
        ++*count;
    return low;
}

static void count_entries(const exi_incidence *s, const ex_rig *rig, exi_offset_count *counts) {
    for (uint32_t v = 0; v < (uint32_t)s->vertex_count; v++) {
        uint32_t splits = 0;
        exi_rig_splits(rig, s->vertices[v], &splits);
        for (uint32_t i = s->starts[v]; i < s->starts[v + 1]; i++) {
            counts[s->examples[i]].vertices++;
            counts[s->examples[i]].splits += splits;
        }
    }
}

void exi_rig_offsets_fill(const exi_rig_offsets *o, ex_rig *rig) {
    exi_layer_record *layers = exi_rig_at_mut(rig, rig->layers);
    uint32_t *examples = exi_rig_at_mut(rig, rig->weight_examples);
    exi_offset_count *counts = exi_rig_at_mut(rig, rig->offset_counts);
    rig->most_weights = 0;
    for (int l = 0; l < o->layer_count; l++) {
        const exi_offset_layer *layer = &o->layers[l];
        const exi_incidence *s = &o->sets[l];
        if (layer->example_count == 0)
            continue;
        layers[l].first_weight = layer->first_weight;
        layers[l].weight_count = layer->moved ? (int32_t)s->weight_of[s->set_count] : layer->example_count;
        rig->most_weights = layers[l].weight_count > rig->most_weights ? layers[l].weight_count : rig->most_weights;
        for (int k = 0; !layer->moved && k < layer->example_count; k++)
            *examples++ = (uint32_t)k;
        for (int i = 0; layer->moved && i < s->set_count; i++)
            for (uint32_t k = s->starts[s->first_of[i]]; k < s->starts[s->first_of[i] + 1]; k++)
                *examples++ = s->examples[k];
        count_entries(s, rig, counts + layers[l].first_example);
    }
}

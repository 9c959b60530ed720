/*
 * Layers of offsets from a file, where they stand for split vertices, as glTF wants them: of each vertex all of its
 * split vertices or none, with the same offset. What is not so was not written by us.
 */
#include "runtime/base/memory.h"
#include "runtime/base/result.h"
#include "runtime/rig/pack/unpack.h"

#include <string.h>

static ex_result unsound(ex_error *error) {
    return exi_unpack_unsound(error, "offsets");
}

/* One example: vertices and deltas have room for every entry of the section. */
static ex_result read_example(const exi_unpack *u, int n, const uint32_t *gather, const uint32_t *sources,
                              uint32_t *vertices, float *deltas, ex_offsets *out, ex_error *error) {
    exi_pack_entry entry;
    const char *places = exi_unpack_section(u, EX_SECTION_OFFSET_PLACES, n, &entry);
    const char *values = exi_unpack_section(u, EX_SECTION_OFFSET_VALUES, n, NULL);
    const uint32_t entries = (uint32_t)(entry.size / sizeof(uint32_t)), splits = (uint32_t)u->counts.splits;
    *out = (ex_offsets){.vertices = vertices, .deltas = deltas};
    for (uint32_t i = 0; i < entries;) {
        uint32_t split;
        memcpy(&split, places + 4 * (size_t)i, sizeof split);
        if (split >= splits)
            return unsound(error);
        const uint32_t vertex = sources ? sources[split] : split;
        if ((gather && gather[vertex] != split) || (out->count > 0 && vertices[out->count - 1] >= vertex))
            return unsound(error);
        vertices[out->count] = vertex;
        memcpy(deltas + 3 * (size_t)out->count, values + 12 * (size_t)i, 3 * sizeof *deltas);
        for (uint32_t k = 1; sources && split + k < splits && sources[split + k] == vertex; k++) {
            uint32_t next = 0;
            if (i + k < entries)
                memcpy(&next, places + 4 * (size_t)(i + k), sizeof next);
            if (next != split + k || memcmp(values + 12 * (size_t)(i + k), values + 12 * (size_t)i, 12) != 0)
                return unsound(error);
        }
        uint32_t step = 1;
        while (sources && split + step < splits && sources[split + step] == vertex)
            step++;
        out->count++;
        i += step;
    }
    return EX_OK;
}

ex_result exi_unpack_offsets(const exi_unpack *u, const uint32_t *gather, const uint32_t *sources,
                             const ex_allocator *allocator, exi_rig_offsets *o, ex_error *error) {
    ex_result result = exi_rig_offsets_open(o, u->counts.layers, allocator, error);
    uint64_t entries = 0;
    for (int n = 0; n < u->counts.offsets; n++) {
        exi_pack_entry entry;
        exi_unpack_section(u, EX_SECTION_OFFSET_PLACES, n, &entry);
        entries += entry.size / sizeof(uint32_t);
    }
    exi_size total = {0};
    const size_t examples = exi_size_add(&total, (size_t)u->counts.offsets, sizeof(ex_offsets), 8);
    const size_t vertices = exi_size_add(&total, (size_t)entries, sizeof(uint32_t), 8);
    const size_t deltas = exi_size_add(&total, (size_t)entries, 3 * sizeof(float), 8);
    if (result != EX_OK || u->counts.offsets == 0)
        return result;
    o->entries_size = total.bytes;
    o->entries = total.overflow ? NULL : exi_allocate(allocator, total.bytes);
    if (!o->entries)
        return exi_error_memory(error, "the rig's offsets", total.bytes);
    char *memory = o->entries;
    ex_offsets *list = (ex_offsets *)(void *)(memory + examples);
    uint32_t *next_vertices = (uint32_t *)(void *)(memory + vertices);
    float *next_deltas = (float *)(void *)(memory + deltas);
    for (int l = 0, n = 0; result == EX_OK && l < u->counts.layers; l++) {
        const exi_layer_record layer = exi_unpack_layer(u, l);
        if (layer.domain != EX_DOMAIN_OFFSETS)
            continue;
        o->layers[l] = (exi_offset_layer){.examples = list + n,
                                          .example_count = layer.example_count,
                                          .moved = (layer.flags & EXI_LAYER_MOVED) != 0,
                                          .part = layer.frame};
        for (int k = 0; result == EX_OK && k < layer.example_count; k++, n++) {
            result = read_example(u, n, gather, sources, next_vertices, next_deltas, &list[n], error);
            next_vertices += list[n].count;
            next_deltas += 3 * (size_t)list[n].count;
        }
    }
    if (result == EX_OK)
        result = exi_rig_offsets_find_sets(o, u->counts.vertices, error);
    return result == EX_OK ? exi_rig_offsets_lay(o, u->counts.vertices, error) : result;
}

ex_result exi_unpack_check_sets(const ex_rig *rig, exi_rig_offsets *o, ex_error *error) {
    for (int l = 0; l < o->layer_count; l++) {
        const exi_offset_layer *layer = &o->layers[l];
        ex_weigher_def def;
        ex_weigher_describe(ex_rig_weigher(rig, l), &def, NULL, NULL);
        const int sets = layer->moved ? o->sets[l].set_count : 0;
        const size_t size = (size_t)sets * exi_set_words(layer->example_count) * sizeof(uint32_t);
        if (def.set_count != sets || (sets > 0 && memcmp(def.sets, exi_rig_offsets_bits(o, l), size) != 0))
            return exi_unpack_unsound(error, "layers and their sets of examples");
    }
    return EX_OK;
}

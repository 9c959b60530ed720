/*
 * Layers of displacements from a file: lists of refined vertices, and as many numbers for every example.
 */
#include "runtime/base/result.h"
#include "runtime/rig/pack/unpack.h"

/* Of every layer the vertices, then of every example as many numbers. */
bool exi_unpack_take_displacements(exi_unpack *u, ex_error *error) {
    for (int list = 0; list < 2; list++)
        for (int l = 0, n = 0; l < u->counts.layers; l++) {
            const exi_layer_record layer = exi_unpack_layer(u, l);
            exi_pack_entry entry;
            if (layer.domain != EX_DOMAIN_DISPLACEMENT)
                continue;
            if (list == 0 && !exi_unpack_take_least(u, EX_SECTION_DISPLACED, l, 0, error))
                return false;
            exi_unpack_section(u, EX_SECTION_DISPLACED, n++, &entry);
            const int last = exi_unpack_level(u, u->counts.levels).vertices;
            if (list == 0 && (entry.size % 4 != 0 || entry.size > (uint64_t)last * 4)) {
                exi_unpack_damaged(error, "a list of displaced vertices is longer than the last level");
                return false;
            }
            for (int k = 0; list == 1 && k < layer.example_count; k++)
                if (!exi_unpack_take(u, EX_SECTION_DISPLACEMENTS, layer.first_example + k, entry.size, error))
                    return false;
        }
    return true;
}

static ex_result read_layer(const exi_unpack *u, int l, int n, int first, ex_storage storage,
                            exi_rig_displacements *out, ex_error *error) {
    exi_pack_entry entry;
    const uint32_t *vertices = (const void *)exi_unpack_section(u, EX_SECTION_DISPLACED, n, &entry);
    exi_displacements_def def = {.vertex_count = exi_unpack_level(u, u->counts.levels).vertices,
                                 .example_count = exi_unpack_layer(u, l).example_count,
                                 .listed_count = (int)(entry.size / 4),
                                 .vertices = vertices,
                                 .storage = storage};
    for (int i = 0; i < def.listed_count; i++)
        if (vertices[i] >= (uint32_t)def.vertex_count || (i > 0 && vertices[i] <= vertices[i - 1]))
            return exi_unpack_unsound(error, "levels and displaced vertices");
    ex_result result = exi_displacements_create(&def, out->allocator, &out->layers[l], error);
    for (int k = 0; result == EX_OK && k < def.example_count; k++) {
        uint32_t bad = 0;
        const float *values = (const void *)exi_unpack_section(u, EX_SECTION_DISPLACEMENTS, first + k, NULL);
        if (!exi_displacements_set(out->layers[l], k, values, false, NULL, &bad))
            result = exi_error(error, EX_ERROR_DATA,
                               "example %d of the rig: the displacement of refined vertex %u is not finite",
                               exi_unpack_layer(u, l).first_example + k, (unsigned)bad);
    }
    return result;
}

ex_result exi_unpack_displacements(const exi_unpack *u, const exi_rig_counts *counts, const ex_stencils *stencils,
                                   ex_storage storage, const ex_allocator *allocator,
                                   exi_rig_displacements *displacements, ex_error *error) {
    ex_result result = exi_rig_displacements_open(displacements, counts, allocator, error);
    if (result != EX_OK || !displacements->layers)
        return result;
    if (!ex_stencils_on_limit(stencils))
        return exi_unpack_unsound(error, "levels and displacements");
    for (int l = 0, n = 0, first = 0; result == EX_OK && l < u->counts.layers; l++) {
        const exi_layer_record layer = exi_unpack_layer(u, l);
        if (layer.domain != EX_DOMAIN_DISPLACEMENT)
            continue;
        result = read_layer(u, l, n++, first, storage, displacements, error);
        first += layer.example_count;
    }
    return result;
}

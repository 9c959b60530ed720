/*
 * Layers of trajectories in the form in which a pack has them: what they were made from. Displacement velocities are
 * found again when the rig is loaded.
 */
#include "runtime/rig/pack/pack.h"

#include <string.h>

uint64_t exi_pack_paths_size(const exi_paths *p) {
    const uint64_t examples = (uint64_t)p->example_count, segments = (uint64_t)p->segment_count;
    uint64_t size = sizeof(exi_pack_paths) + examples * sizeof(exi_pack_path);
    size += p->overlaps ? examples * examples * sizeof(float) : 0;
    size += (uint64_t)p->corrector_count * EX_CURVE_SIZE * sizeof(float);
    size += (uint64_t)p->based_count * segments * 6 * sizeof(float);
    size += segments * sizeof(int32_t);
    return size + (segments > 0 ? (uint64_t)p->vertex_count * sizeof(uint16_t) : 0);
}

static char *append(char *out, const void *from, size_t count, size_t size) {
    if (count > 0)
        memcpy(out, from, count * size);
    return out + count * size;
}

void exi_pack_paths_write(const exi_paths *p, void *out) {
    const size_t examples = (size_t)p->example_count, segments = (size_t)p->segment_count;
    exi_pack_paths head = {
        .reference = p->reference,
        .segments = p->segment_count,
        .flags = (p->overlaps ? EXI_PACK_OVERLAPS : 0u) | (p->mask ? EXI_PACK_MASK : 0u),
    };
    memcpy(head.centre, p->centre, sizeof head.centre);
    char *to = append(out, &head, 1, sizeof head);
    for (size_t k = 0; k < examples; k++) {
        const exi_path_example *e = &exi_paths_examples(p)[k];
        const exi_pack_path path = {.screw = e->screw,
                                    .correctors = e->corrector_count,
                                    .flags = e->flags & (EXI_PATHS_TURNS | EXI_PATHS_BASES)};
        to = append(to, &path, 1, sizeof path);
    }
    to = append(to, exi_paths_at(p, p->overlaps), p->overlaps ? examples * examples : 0, sizeof(float));
    to = append(to, exi_paths_at(p, p->curves), (size_t)p->corrector_count, EX_CURVE_SIZE * sizeof(float));
    to = append(to, exi_paths_at(p, p->bases), (size_t)p->based_count * segments, 6 * sizeof(float));
    to = append(to, exi_paths_at(p, p->parents), segments, sizeof(int32_t));
    append(to, exi_paths_at(p, p->segments), segments > 0 ? (size_t)p->vertex_count : 0, sizeof(uint16_t));
}

void exi_pack_correctors(const ex_rig *rig, const exi_paths *p, int example, float *out) {
    for (int j = 0; j < exi_paths_examples(p)[example].corrector_count; j++)
        exi_paths_get_corrector(p, exi_rig_forms(rig), example, j, out + (size_t)j * 3 * (size_t)p->vertex_count);
}

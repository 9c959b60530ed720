/*
 * Trajectory layers in files: the data they were made from. Displacement velocities are computed again when the rig is
 * loaded. Sizes follow from the head of a layer, which is checked when it is taken; everything else is checked when
 * trajectories are laid out and filled (shape/trajectory_create.c).
 */
#include "runtime/base/result.h"
#include "runtime/rig/domains/domain.h"

#include <string.h>

/* ---- writing ---- */

static bool size_layer(const ex_rig *rig, int layer, int example, uint64_t *size) {
    (void)example;
    const exi_trajectories *p = exi_rig_trajectories_of(rig, layer);
    const uint64_t examples = (uint64_t)p->example_count, segments = (uint64_t)p->segment_count;
    *size = sizeof(exi_pack_trajectories) + examples * sizeof(exi_pack_trajectory);
    *size += p->overlaps ? examples * examples * sizeof(float) : 0;
    *size += (uint64_t)p->corrector_count * EX_CURVE_SIZE * sizeof(float);
    *size += (uint64_t)p->based_count * segments * 6 * sizeof(float);
    *size += segments * sizeof(int32_t) + (segments > 0 ? (uint64_t)p->vertex_count * sizeof(uint16_t) : 0);
    return true;
}

static char *append(char *out, const void *from, size_t count, size_t size) {
    if (count > 0)
        memcpy(out, from, count * size);
    return out + count * size;
}

static void write_layer(const ex_rig *rig, int layer, int example, void *out) {
    (void)example;
    const exi_trajectories *p = exi_rig_trajectories_of(rig, layer);
    const size_t examples = (size_t)p->example_count, segments = (size_t)p->segment_count;
    exi_pack_trajectories head = {
        .reference = p->reference,
        .segments = p->segment_count,
        .flags = (p->overlaps ? EXI_PACK_OVERLAPS : 0u) | (p->mask ? EXI_PACK_MASK : 0u),
    };
    memcpy(head.centre, p->centre, sizeof head.centre);
    char *to = append(out, &head, 1, sizeof head);
    for (size_t k = 0; k < examples; k++) {
        const exi_trajectory_example *e = &exi_trajectories_examples(p)[k];
        const exi_pack_trajectory path = {.screw = e->screw,
                                          .correctors = e->corrector_count,
                                          .flags = e->flags & (EXI_PATHS_TURNS | EXI_PATHS_BASES)};
        to = append(to, &path, 1, sizeof path);
    }
    to = append(to, exi_trajectories_at(p, p->overlaps), p->overlaps ? examples * examples : 0, sizeof(float));
    to = append(to, exi_trajectories_at(p, p->curves), (size_t)p->corrector_count, EX_CURVE_SIZE * sizeof(float));
    to = append(to, exi_trajectories_at(p, p->bases), (size_t)p->based_count * segments, 6 * sizeof(float));
    to = append(to, exi_trajectories_at(p, p->parents), segments, sizeof(int32_t));
    append(to, exi_trajectories_at(p, p->segments), segments > 0 ? (size_t)p->vertex_count : 0, sizeof(uint16_t));
}

static bool size_turns(const ex_rig *rig, int layer, int example, uint64_t *size) {
    *size = (uint64_t)rig->counts.vertices * 3 * sizeof(float);
    return exi_trajectories_examples(exi_rig_trajectories_of(rig, layer))[example].turns >= 0;
}

static void write_turns(const ex_rig *rig, int layer, int example, void *out) {
    ex_rig_example_turns(rig, layer, example, out);
}

static bool size_correctors(const ex_rig *rig, int layer, int example, uint64_t *size) {
    const int count = exi_trajectories_examples(exi_rig_trajectories_of(rig, layer))[example].corrector_count;
    *size = (uint64_t)count * (uint64_t)rig->counts.vertices * 3 * sizeof(float);
    return count > 0;
}

static void write_correctors(const ex_rig *rig, int layer, int example, void *out) {
    const exi_trajectories *p = exi_rig_trajectories_of(rig, layer);
    for (int j = 0; j < exi_trajectories_examples(p)[example].corrector_count; j++)
        exi_trajectories_get_corrector(p, exi_rig_forms(rig), example, j,
                                       (float *)out + (size_t)j * 3 * (size_t)p->vertex_count);
}

static bool size_mask(const ex_rig *rig, int layer, int example, uint64_t *size) {
    (void)example;
    *size = (uint64_t)rig->counts.vertices * sizeof(float);
    return exi_rig_trajectories_of(rig, layer)->mask != 0;
}

static void write_mask(const ex_rig *rig, int layer, int example, void *out) {
    (void)example;
    ex_rig_layer_mask(rig, layer, out);
}

/* ---- taking sections ---- */

static exi_pack_trajectories read_head(const exi_unpack *u, int layer) {
    exi_pack_trajectories head;
    memcpy(&head, exi_unpack_find(u, EX_SECTION_TRAJECTORIES, layer, NULL), sizeof head);
    return head;
}

static exi_pack_trajectory read_path(const exi_unpack *u, int layer, int example) {
    exi_pack_trajectory path;
    memcpy(&path,
           exi_unpack_find(u, EX_SECTION_TRAJECTORIES, layer, NULL) + sizeof(exi_pack_trajectories) +
               (size_t)example * sizeof path,
           sizeof path);
    return path;
}

/* True if counts and flags are valid, and the section has the size that they require. */
static bool sound_layer(const exi_unpack *u, int layer, int example_count) {
    const exi_pack_trajectories head = read_head(u, layer);
    if (head.segments < 0 || head.segments > EX_SEGMENT_MAX || head.flags > (EXI_PACK_OVERLAPS | EXI_PACK_MASK) ||
        head.reserved != 0 || head.reference < -1 || head.reference >= example_count)
        return false;
    const uint64_t examples = (uint64_t)example_count, segments = (uint64_t)head.segments;
    uint64_t size = sizeof head + examples * sizeof(exi_pack_trajectory);
    size += head.flags & EXI_PACK_OVERLAPS ? examples * examples * sizeof(float) : 0;
    size += segments * sizeof(int32_t) + (segments > 0 ? (uint64_t)u->counts.vertices * sizeof(uint16_t) : 0);
    for (int k = 0; k < example_count; k++) {
        const exi_pack_trajectory path = read_path(u, layer, k);
        if (path.correctors < 0 || path.correctors > EX_CORRECTOR_MAX ||
            path.flags > (EXI_PATHS_TURNS | EXI_PATHS_BASES) ||
            (k == head.reference && (path.correctors > 0 || path.flags != 0)))
            return false;
        size += (uint64_t)path.correctors * EX_CURVE_SIZE * sizeof(float);
        size += path.flags & EXI_PATHS_BASES ? segments * 6 * sizeof(float) : 0;
    }
    exi_pack_entry entry;
    exi_unpack_find(u, EX_SECTION_TRAJECTORIES, layer, &entry);
    return entry.size == size;
}

static bool take_layer(exi_unpack *u, int layer, int example, int index, ex_error *error) {
    (void)example;
    const int examples = exi_unpack_layer(u, layer).example_count;
    if (!exi_unpack_take_least(u, EX_SECTION_TRAJECTORIES, index,
                               sizeof(exi_pack_trajectories) + (uint64_t)examples * sizeof(exi_pack_trajectory), error))
        return false;
    if (sound_layer(u, layer, examples))
        return true;
    exi_unpack_unsound(error, "trajectories");
    return false;
}

/* Takes `count` triples for every vertex; with 0, there is no section. */
static bool take_triples(exi_unpack *u, ex_section_kind kind, int index, int count, ex_error *error) {
    const uint64_t triples = (uint64_t)u->counts.vertices * 3 * sizeof(float);
    return count == 0 || exi_unpack_take(u, kind, index, (uint64_t)count * triples, error);
}

static bool take_turns(exi_unpack *u, int layer, int example, int index, ex_error *error) {
    return take_triples(u, EX_SECTION_TURNS, index, (read_path(u, layer, example).flags & EXI_PATHS_TURNS) != 0, error);
}

static bool take_correctors(exi_unpack *u, int layer, int example, int index, ex_error *error) {
    return take_triples(u, EX_SECTION_CORRECTORS, index, read_path(u, layer, example).correctors, error);
}

static bool take_mask(exi_unpack *u, int layer, int example, int index, ex_error *error) {
    (void)example;
    return !(read_head(u, layer).flags & EXI_PACK_MASK) ||
           exi_unpack_take(u, EX_SECTION_MASK, index, (uint64_t)u->counts.vertices * sizeof(float), error);
}

const exi_domain_section exi_trajectory_sections[EXI_TRAJECTORY_SECTIONS] = {
    {EX_SECTION_TARGET, false, exi_target_size, exi_target_write, exi_target_take},
    {EX_SECTION_TRAJECTORIES, true, size_layer, write_layer, take_layer},
    {EX_SECTION_TURNS, false, size_turns, write_turns, take_turns},
    {EX_SECTION_CORRECTORS, false, size_correctors, write_correctors, take_correctors},
    {EX_SECTION_MASK, true, size_mask, write_mask, take_mask},
};

/* ---- reading ---- */

/* Reads the example's trajectory; pointers has room for its correctors. */
static ex_trajectory read_example(const exi_unpack *u, const exi_pack_trajectory *path, int index,
                                  const float **pointers) {
    ex_trajectory out = {.screw = path->screw, .corrector_count = path->correctors, .correctors = pointers};
    if (path->flags & EXI_PATHS_TURNS)
        out.turns = (const void *)exi_unpack_find(u, EX_SECTION_TURNS, index, NULL);
    const float *numbers = (const void *)exi_unpack_find(u, EX_SECTION_CORRECTORS, index, NULL);
    for (int j = 0; j < path->correctors; j++)
        pointers[j] = numbers + (size_t)j * 3 * (size_t)u->counts.vertices;
    return out;
}

ex_result exi_trajectory_read(exi_making *m, int layer, exi_trajectories_def *def, ex_error *error) {
    const exi_unpack *u = m->file;
    const exi_layer_record *record = &m->layers[layer];
    const exi_pack_trajectories head = read_head(u, layer);
    const size_t examples = (size_t)record->example_count;
    ex_trajectory *entries = exi_making_keep(m, examples, sizeof *entries);
    const float **pointers = exi_making_keep(m, examples, EX_CORRECTOR_MAX * sizeof *pointers);
    if (!entries || !pointers)
        return ex_error_memory(error, "the rig's trajectories", examples * EX_CORRECTOR_MAX * sizeof *pointers);
    const char *from =
        exi_unpack_find(u, EX_SECTION_TRAJECTORIES, layer, NULL) + sizeof head + examples * sizeof(exi_pack_trajectory);
    def->vertex_count = u->counts.vertices;
    def->example_count = record->example_count;
    def->trajectories = entries;
    def->reference = head.reference;
    memcpy(def->centre, head.centre, sizeof def->centre);
    if (head.flags & EXI_PACK_OVERLAPS) {
        def->overlaps = (const void *)from;
        from += examples * examples * sizeof(float);
    }
    for (size_t k = 0; k < examples; k++) {
        const exi_pack_trajectory path = read_path(u, layer, (int)k);
        entries[k] = read_example(u, &path, exi_example_index(record, (int)k), pointers + k * EX_CORRECTOR_MAX);
        entries[k].curves = (const void *)from;
        from += (size_t)path.correctors * EX_CURVE_SIZE * sizeof(float);
    }
    for (size_t k = 0; k < examples; k++)
        if (read_path(u, layer, (int)k).flags & EXI_PATHS_BASES) {
            entries[k].bases = (const void *)from;
            from += (size_t)head.segments * 6 * sizeof(float);
        }
    if (head.segments > 0)
        def->segments = (ex_segments){.count = head.segments,
                                      .parents = (const void *)from,
                                      .vertices = (const void *)(from + (size_t)head.segments * sizeof(int32_t))};
    if (head.flags & EXI_PACK_MASK)
        def->mask = (const void *)exi_unpack_find(u, EX_SECTION_MASK, layer, NULL);
    return EX_OK;
}

/*
 * Layers of trajectories from a file. Sizes follow from the heads of the layers, which are looked at when they are
 * taken; everything else is checked where trajectories are laid out and filled (shape/trajectory_create.c).
 */
#include "runtime/base/memory.h"
#include "runtime/base/result.h"
#include "runtime/rig/pack/unpack.h"

#include <string.h>

/* ---- taking sections ---- */

/* The n-th layer of trajectories. */
static exi_pack_paths read_head(const exi_unpack *u, int n) {
    exi_pack_paths head;
    memcpy(&head, exi_unpack_section(u, EX_SECTION_TRAJECTORIES, n, NULL), sizeof head);
    return head;
}

static exi_pack_path read_path(const exi_unpack *u, int n, int example) {
    exi_pack_path path;
    memcpy(&path,
           exi_unpack_section(u, EX_SECTION_TRAJECTORIES, n, NULL) + sizeof(exi_pack_paths) +
               (size_t)example * sizeof path,
           sizeof path);
    return path;
}

/* Whether counts and flags can be, and the section has the size that they ask for. */
static bool sound_layer(const exi_unpack *u, int n, int example_count) {
    const exi_pack_paths head = read_head(u, n);
    if (head.segments < 0 || head.segments > EX_SEGMENT_MAX || head.flags > (EXI_PACK_OVERLAPS | EXI_PACK_MASK) ||
        head.reserved != 0 || head.reference < -1 || head.reference >= example_count)
        return false;
    const uint64_t examples = (uint64_t)example_count, segments = (uint64_t)head.segments;
    uint64_t size = sizeof head + examples * sizeof(exi_pack_path);
    size += head.flags & EXI_PACK_OVERLAPS ? examples * examples * sizeof(float) : 0;
    size += segments * sizeof(int32_t) + (segments > 0 ? (uint64_t)u->counts.vertices * sizeof(uint16_t) : 0);
    for (int k = 0; k < example_count; k++) {
        const exi_pack_path path = read_path(u, n, k);
        if (path.correctors < 0 || path.correctors > EX_CORRECTOR_MAX ||
            path.flags > (EXI_PATHS_TURNS | EXI_PATHS_BASES) ||
            (k == head.reference && (path.correctors > 0 || path.flags != 0)))
            return false;
        size += (uint64_t)path.correctors * EX_CURVE_SIZE * sizeof(float);
        size += path.flags & EXI_PATHS_BASES ? segments * 6 * sizeof(float) : 0;
    }
    exi_pack_entry entry;
    exi_unpack_section(u, EX_SECTION_TRAJECTORIES, n, &entry);
    return entry.size == size;
}

static bool take_layers(exi_unpack *u, ex_error *error) {
    for (int l = 0, n = 0; l < u->counts.layers; l++) {
        const exi_layer_record layer = exi_unpack_layer(u, l);
        if (layer.domain != EX_DOMAIN_TRAJECTORY)
            continue;
        if (!exi_unpack_take_least(u, EX_SECTION_TRAJECTORIES, l,
                                   sizeof(exi_pack_paths) + (uint64_t)layer.example_count * sizeof(exi_pack_path),
                                   error))
            return false;
        if (!sound_layer(u, n++, layer.example_count)) {
            exi_unpack_unsound(error, "trajectories");
            return false;
        }
    }
    return true;
}

/* Turns, correctors or masks of all layers. */
static bool take_kind(exi_unpack *u, ex_section_kind kind, ex_error *error) {
    const uint64_t triples = (uint64_t)u->counts.vertices * 3 * sizeof(float);
    for (int l = 0, n = 0; l < u->counts.layers; l++) {
        const exi_layer_record layer = exi_unpack_layer(u, l);
        if (layer.domain != EX_DOMAIN_TRAJECTORY)
            continue;
        const bool masked = (read_head(u, n).flags & EXI_PACK_MASK) != 0;
        if (kind == EX_SECTION_MASK && masked && !exi_unpack_take(u, kind, l, triples / 3, error))
            return false;
        for (int k = 0; kind != EX_SECTION_MASK && k < layer.example_count; k++) {
            const exi_pack_path path = read_path(u, n, k);
            const uint64_t count =
                kind == EX_SECTION_TURNS ? (path.flags & EXI_PATHS_TURNS) != 0 : (uint64_t)path.correctors;
            if (count > 0 && !exi_unpack_take(u, kind, layer.first_example + k, count * triples, error))
                return false;
        }
        n++;
    }
    return true;
}

bool exi_unpack_take_paths(exi_unpack *u, ex_error *error) {
    return take_layers(u, error) && take_kind(u, EX_SECTION_TURNS, error) &&
           take_kind(u, EX_SECTION_CORRECTORS, error) && take_kind(u, EX_SECTION_MASK, error);
}

/* ---- laying out ---- */

/* Where the next section of each kind is. */
typedef struct cursor {
    int layers, turns, correctors, masks;
} cursor;

/* The example's trajectory; pointers has room for its correctors. */
static ex_trajectory read_example(const exi_unpack *u, const exi_pack_path *path, cursor *next,
                                  const float **pointers) {
    ex_trajectory out = {.screw = path->screw, .corrector_count = path->correctors, .correctors = pointers};
    if (path->flags & EXI_PATHS_TURNS)
        out.turns = (const void *)exi_unpack_section(u, EX_SECTION_TURNS, next->turns++, NULL);
    if (path->correctors > 0) {
        const char *numbers = exi_unpack_section(u, EX_SECTION_CORRECTORS, next->correctors++, NULL);
        for (int j = 0; j < path->correctors; j++)
            pointers[j] = (const float *)(const void *)numbers + (size_t)j * 3 * (size_t)u->counts.vertices;
    }
    return out;
}

static ex_result read_layer(const exi_unpack *u, int l, ex_storage storage, cursor *next, ex_trajectory *entries,
                            const float **pointers, exi_rig_paths *paths, ex_error *error) {
    const exi_layer_record layer = exi_unpack_layer(u, l);
    const int n = next->layers++;
    const exi_pack_paths head = read_head(u, n);
    const size_t examples = (size_t)layer.example_count;
    const char *from =
        exi_unpack_section(u, EX_SECTION_TRAJECTORIES, n, NULL) + sizeof head + examples * sizeof(exi_pack_path);
    exi_paths_def def = {.vertex_count = u->counts.vertices,
                         .example_count = layer.example_count,
                         .storage = storage,
                         .trajectories = entries,
                         .reference = head.reference};
    memcpy(def.centre, head.centre, sizeof def.centre);
    if (head.flags & EXI_PACK_OVERLAPS) {
        def.overlaps = (const void *)from;
        from += examples * examples * sizeof(float);
    }
    for (size_t k = 0; k < examples; k++) {
        const exi_pack_path path = read_path(u, n, (int)k);
        entries[k] = read_example(u, &path, next, pointers + k * EX_CORRECTOR_MAX);
        entries[k].curves = (const void *)from;
        from += (size_t)path.correctors * EX_CURVE_SIZE * sizeof(float);
    }
    for (size_t k = 0; k < examples; k++)
        if (read_path(u, n, (int)k).flags & EXI_PATHS_BASES) {
            entries[k].bases = (const void *)from;
            from += (size_t)head.segments * 6 * sizeof(float);
        }
    if (head.segments > 0)
        def.segments = (ex_segments){.count = head.segments,
                                     .parents = (const void *)from,
                                     .vertices = (const void *)(from + (size_t)head.segments * sizeof(int32_t))};
    if (head.flags & EXI_PACK_MASK)
        def.mask = (const void *)exi_unpack_section(u, EX_SECTION_MASK, next->masks++, NULL);
    return exi_error_within(error, exi_rig_paths_add(paths, l, &def, u->counts.forms, error), "the rig's layer %d", l);
}

ex_result exi_unpack_paths(const exi_unpack *u, ex_storage storage, const ex_allocator *allocator, exi_rig_paths *paths,
                           ex_error *error) {
    ex_result result = exi_rig_paths_open(paths, &u->counts, allocator, error);
    const size_t examples = (size_t)u->counts.trajectories;
    if (result != EX_OK || examples == 0)
        return result;
    exi_size total = {0};
    exi_size_add(&total, examples, sizeof(ex_trajectory), 8);
    const size_t pointers = exi_size_add(&total, examples, EX_CORRECTOR_MAX * sizeof(float *), 8);
    paths->entries_size = total.bytes;
    paths->entries = total.overflow ? NULL : exi_allocate(allocator, total.bytes);
    if (!paths->entries)
        return exi_error_memory(error, "the rig's trajectories", total.bytes);
    const float **next_pointers = (const float **)(void *)((char *)paths->entries + pointers);
    cursor next = {0};
    for (int l = 0, first = 0; result == EX_OK && l < u->counts.layers; l++) {
        const exi_layer_record layer = exi_unpack_layer(u, l);
        if (layer.domain != EX_DOMAIN_TRAJECTORY)
            continue;
        result = read_layer(u, l, storage, &next, paths->entries + first,
                            next_pointers + (size_t)first * EX_CORRECTOR_MAX, paths, error);
        first += layer.example_count;
    }
    return result;
}

/* ---- filling ---- */

ex_result exi_unpack_fill_paths(const exi_unpack *u, const exi_rig_paths *p, int layer, int target,
                                const uint32_t *gather, ex_rig *rig, ex_error *error) {
    const exi_layer_record *layers = exi_rig_layers(rig);
    exi_paths *paths = exi_rig_at_mut(rig, ((const uint64_t *)exi_rig_at(rig, rig->paths))[layer]);
    int first = 0;
    for (int l = 0; l < layer; l++)
        first += layers[l].domain == EX_DOMAIN_TRAJECTORY ? layers[l].example_count : 0;
    for (int k = 0; k < layers[layer].example_count; k++) {
        const exi_path_numbers numbers = {.turns = p->entries[first + k].turns,
                                          .correctors = p->entries[first + k].correctors,
                                          .delta =
                                              (const void *)exi_unpack_section(u, EX_SECTION_TARGET, target + k, NULL),
                                          .gather = gather};
        ex_result result = exi_paths_fill(paths, exi_rig_at_mut(rig, rig->forms), k, &numbers, p->room, error);
        if (result != EX_OK)
            return exi_error_within(error, result, "example %d of the rig", layers[layer].first_example + k);
    }
    return EX_OK;
}

/*
 * Laying sparse offsets out. First, for every layer, which examples move which vertices: lists turned round from
 * example by example to vertex by vertex, and the different sets among them. Then chunk by chunk and layer by layer,
 * vertices of one set become a patch. Where all examples of a layer have one weight for every vertex, sets of fewer
 * vertices than a tile are joined, with zeros where an example does not move a vertex: half-empty tiles cost more.
 */
#include "runtime/base/memory.h"
#include "runtime/base/result.h"
#include "runtime/shape/patches.h"

#include <math.h>
#include <string.h>

/* ---- sets ---- */

/* What entry `place` of an example is worth once the mask is on it. */
static void masked(const exi_offset_layer *layer, int example, uint32_t place, float delta[3]) {
    const ex_offsets *from = &layer->examples[example];
    const float mask = layer->mask ? layer->mask[from->vertices[place]] : 1;
    for (int c = 0; c < 3; c++)
        delta[c] = layer->mask ? from->deltas[3 * (size_t)place + (size_t)c] * mask
                               : from->deltas[3 * (size_t)place + (size_t)c];
}

static bool counts(const exi_offset_layer *layer, int example, uint32_t place) {
    float delta[3];
    masked(layer, example, place, delta);
    return delta[0] != 0 || delta[1] != 0 || delta[2] != 0;
}

static ex_result check_example(const exi_offset_layer *layer, int example, int mesh_count, ex_error *error) {
    const ex_offsets *from = &layer->examples[example];
    if (from->count < 0 || (from->count > 0 && (!from->vertices || !from->deltas)))
        return exi_error(error, EX_ERROR_ARGUMENT, "example %d lacks vertices or offsets", example);
    int64_t last = -1;
    for (int i = 0; i < from->count; i++) {
        const float *delta = from->deltas + 3 * (size_t)i;
        if (from->vertices[i] <= last || from->vertices[i] >= (uint32_t)mesh_count)
            return exi_error(error, EX_ERROR_DATA,
                             "example %d: vertex %lld stands out of order or is not in the mesh of %d", example,
                             (long long)from->vertices[i], mesh_count);
        if (!isfinite(delta[0]) || !isfinite(delta[1]) || !isfinite(delta[2]))
            return exi_error(error, EX_ERROR_DATA, "example %d: vertex %u is not finite", example,
                             (unsigned)from->vertices[i]);
        last = from->vertices[i];
    }
    return EX_OK;
}

/* Entries by vertex: counts first, then their places. counters [mesh_count + 1] are 0. */
static void turn_round(const exi_offset_layer *layer, int mesh_count, uint32_t *counters, exi_incidence *s) {
    for (int k = 0; k < layer->example_count; k++)
        for (uint32_t i = 0; i < (uint32_t)layer->examples[k].count; i++)
            counters[layer->examples[k].vertices[i]] += counts(layer, k, i);
    uint32_t sum = 0;
    s->vertex_count = 0;
    for (int v = 0; v < mesh_count; v++) {
        const uint32_t own = counters[v];
        if (own > 0) {
            s->vertices[s->vertex_count] = (uint32_t)v;
            s->starts[s->vertex_count++] = sum;
        }
        counters[v] = sum;
        sum += own;
    }
    s->starts[s->vertex_count] = sum;
    for (int k = 0; k < layer->example_count; k++)
        for (uint32_t i = 0; i < (uint32_t)layer->examples[k].count; i++) {
            if (!counts(layer, k, i))
                continue;
            const uint32_t at = counters[layer->examples[k].vertices[i]]++;
            s->examples[at] = (uint32_t)k;
            s->places[at] = i;
        }
}

static uint32_t length_of(const exi_incidence *s, uint32_t vertex) {
    return s->starts[vertex + 1] - s->starts[vertex];
}

static bool same_set(const exi_incidence *s, uint32_t a, uint32_t b) {
    return length_of(s, a) == length_of(s, b) &&
           memcmp(s->examples + s->starts[a], s->examples + s->starts[b], length_of(s, a) * sizeof *s->examples) == 0;
}

/* buckets [mask + 1] are 0: the number of a set plus 1. */
static void find_sets(exi_incidence *s, uint32_t *buckets, uint32_t mask) {
    s->set_count = 0;
    uint32_t weights = 0;
    for (uint32_t v = 0; v < (uint32_t)s->vertex_count; v++) {
        uint64_t h = 0x9E3779B97F4A7C15U;
        for (uint32_t i = s->starts[v]; i < s->starts[v + 1]; i++)
            h = (h ^ s->examples[i]) * 0xBF58476D1CE4E5B9U, h ^= h >> 29;
        uint32_t at = (uint32_t)h & mask;
        while (buckets[at] > 0 && !same_set(s, s->first_of[buckets[at] - 1], v))
            at = (at + 1) & mask;
        if (buckets[at] == 0) {
            s->first_of[s->set_count] = v;
            s->weight_of[s->set_count++] = weights;
            weights += length_of(s, v);
            buckets[at] = (uint32_t)s->set_count;
        }
        s->set_of[v] = buckets[at] - 1;
    }
    s->weight_of[s->set_count] = weights;
}

ex_result exi_incidence_open(const exi_offset_layer *layer, int mesh_count, const ex_allocator *allocator, exi_incidence *s,
                        ex_error *error) {
    *s = (exi_incidence){.allocator = allocator};
    size_t entries = 0;
    for (int k = 0; k < layer->example_count; k++) {
        ex_result result = check_example(layer, k, mesh_count, error);
        if (result != EX_OK)
            return result;
        entries += (size_t)layer->examples[k].count;
    }
    if (entries > UINT32_MAX / 2)
        return exi_error(error, EX_ERROR_LIMIT, "a layer has at most %u offsets", (unsigned)(UINT32_MAX / 2));
    const size_t most = entries < (size_t)mesh_count ? entries : (size_t)mesh_count;
    uint32_t mask = 15;
    while (mask < 2 * most)
        mask = 2 * mask + 1;
    exi_size total = {0}, work = {0};
    const size_t word = sizeof(uint32_t);
    const size_t vertices = exi_size_add(&total, most, word, 8), starts = exi_size_add(&total, most + 1, word, 8);
    const size_t examples = exi_size_add(&total, entries, word, 8), places = exi_size_add(&total, entries, word, 8);
    const size_t set_of = exi_size_add(&total, most, word, 8), first_of = exi_size_add(&total, most, word, 8);
    const size_t weight_of = exi_size_add(&total, most + 1, word, 8);
    const size_t counters = exi_size_add(&work, (size_t)mesh_count + 1, word, 8);
    const size_t buckets = exi_size_add(&work, (size_t)mask + 1, word, 8);
    s->size = total.bytes;
    s->memory = total.overflow ? NULL : exi_allocate(allocator, total.bytes);
    char *memory = s->memory, *scratch = work.overflow ? NULL : exi_allocate(allocator, work.bytes);
    if (!memory || !scratch) {
        exi_release(allocator, scratch, work.bytes);
        return exi_error_memory(error, "the offsets", total.bytes + work.bytes);
    }
    memset(scratch, 0, work.bytes);
    s->vertices = (uint32_t *)(void *)(memory + vertices);
    s->starts = (uint32_t *)(void *)(memory + starts);
    s->examples = (uint32_t *)(void *)(memory + examples);
    s->places = (uint32_t *)(void *)(memory + places);
    s->set_of = (uint32_t *)(void *)(memory + set_of);
    s->first_of = (uint32_t *)(void *)(memory + first_of);
    s->weight_of = (uint32_t *)(void *)(memory + weight_of);
    turn_round(layer, mesh_count, (uint32_t *)(void *)(scratch + counters), s);
    find_sets(s, (uint32_t *)(void *)(scratch + buckets), mask);
    exi_release(allocator, scratch, work.bytes);
    return EX_OK;
}

void exi_incidence_close(exi_incidence *s) {
    exi_release(s->allocator, s->memory, s->size);
    s->memory = NULL;
}

void exi_incidence_bits(const exi_incidence *s, int example_count, uint32_t *bits) {
    const size_t words = ((size_t)example_count + 31) / 32;
    memset(bits, 0, (size_t)s->set_count * words * sizeof *bits);
    for (int i = 0; i < s->set_count; i++)
        for (uint32_t k = s->starts[s->first_of[i]]; k < s->starts[s->first_of[i] + 1]; k++)
            bits[(size_t)i * words + s->examples[k] / 32] |= (uint32_t)1 << s->examples[k] % 32;
}

/* ---- patches ---- */

/* Everything is placed twice by the same functions: once to count, with patches NULL, and once to write. */
typedef struct laying {
    const exi_offset_layer *layers;
    const exi_incidence *sets;
    int layer_count, part;
    uint32_t *cursors;    /* [layer_count]: the first vertex of a layer's that is not before the chunk */
    uint32_t *terms;      /* [most examples of a layer] of the patch at hand */
    uint32_t *members;    /* [EXI_CHUNK] vertices of the patch at hand, by their number in the sets */
    uint32_t *next;       /* [EXI_CHUNK]: of the chunk's vertices, which have a patch */
    exi_patches *patches; /* NULL: only count */
    uint64_t patch_count, place_count, term_count, number_count;
} laying;

static inline void *table(exi_patches *p, uint64_t offset) {
    return (void *)((uintptr_t)p + (uintptr_t)offset);
}

static void write_patch(laying *l, int layer, int chunk, int count, int term_count) {
    const exi_incidence *s = &l->sets[layer];
    const exi_offset_layer *from = &l->layers[layer];
    exi_patch *patch = (exi_patch *)table(l->patches, l->patches->patches) + l->patch_count;
    uint32_t *terms = (uint32_t *)table(l->patches, l->patches->terms) + l->term_count;
    uint16_t *places = (uint16_t *)table(l->patches, l->patches->places) + l->place_count;
    float *tiles = (float *)table(l->patches, l->patches->tiles) + l->number_count;
    *patch = (exi_patch){.tiles = l->number_count,
                         .places = l->place_count,
                         .terms = (uint32_t)l->term_count,
                         .count = count,
                         .term_count = term_count,
                         .layer = layer};
    const uint32_t set_first = from->moved ? s->weight_of[s->set_of[l->members[0]]] : 0;
    for (int k = 0; k < term_count; k++)
        terms[k] = (uint32_t)from->first_weight + (from->moved ? set_first + (uint32_t)k : l->terms[k]);
    for (int v = 0; v < count; v++) {
        const uint32_t member = l->members[v];
        places[v] = (uint16_t)(s->vertices[member] - (uint32_t)chunk * EXI_CHUNK);
        int k = 0;
        for (uint32_t i = s->starts[member]; i < s->starts[member + 1]; i++) {
            float delta[3];
            while (l->terms[k] != s->examples[i])
                k++;
            masked(from, (int)s->examples[i], s->places[i], delta);
            float *tile = tiles + ((size_t)(v / EXI_TILE) * (size_t)term_count + (size_t)k) * EXI_TILE_FLOATS;
            for (int c = 0; c < 3; c++)
                tile[c * EXI_TILE + v % EXI_TILE] = delta[c];
        }
    }
}

/* A patch of the members at hand, whose examples are the terms at hand. */
static void lay_patch(laying *l, int layer, int chunk, int count, int term_count) {
    const uint64_t tiles = ((uint64_t)count + EXI_TILE - 1) / EXI_TILE;
    if (l->patches)
        write_patch(l, layer, chunk, count, term_count);
    l->patch_count++;
    l->place_count += tiles * EXI_TILE;
    l->term_count += (uint64_t)term_count;
    l->number_count += tiles * (uint64_t)term_count * EXI_TILE_FLOATS;
}

/* The terms of the set of a vertex. */
static int take_terms(laying *l, const exi_incidence *s, uint32_t vertex) {
    memcpy(l->terms, s->examples + s->starts[vertex], length_of(s, vertex) * sizeof *l->terms);
    return (int)length_of(s, vertex);
}

/* The terms of all members at hand: lists that rise, joined. */
static int join_terms(laying *l, const exi_incidence *s, int count, int example_count) {
    int found = 0;
    for (int v = 0; v < count; v++)
        for (uint32_t i = s->starts[l->members[v]]; i < s->starts[l->members[v] + 1]; i++) {
            int at = found;
            while (at > 0 && l->terms[at - 1] > s->examples[i])
                at--;
            if ((at > 0 && l->terms[at - 1] == s->examples[i]) || found == example_count)
                continue;
            memmove(l->terms + at + 1, l->terms + at, (size_t)(found - at) * sizeof *l->terms);
            l->terms[at] = s->examples[i];
            found++;
        }
    return found;
}

/* Vertices begin to end of a layer, all of one chunk. */
static void lay_layer(laying *l, int layer, int chunk, uint32_t begin, uint32_t end) {
    const exi_incidence *s = &l->sets[layer];
    memset(l->next, 0, (size_t)(end - begin) * sizeof *l->next);
    int rest = 0;
    uint32_t left[EXI_CHUNK]; /* of sets that are too small */
    for (uint32_t first = begin; first < end; first++) {
        if (l->next[first - begin])
            continue;
        int count = 0;
        for (uint32_t v = first; v < end; v++)
            if (s->set_of[v] == s->set_of[first]) {
                l->next[v - begin] = 1;
                l->members[count++] = v;
            }
        if (!l->layers[layer].moved && count < EXI_TILE) {
            memcpy(left + rest, l->members, (size_t)count * sizeof *left);
            rest += count;
        } else {
            lay_patch(l, layer, chunk, count, take_terms(l, s, first));
        }
    }
    if (rest == 0)
        return;
    memcpy(l->members, left, (size_t)rest * sizeof *left);
    lay_patch(l, layer, chunk, rest, join_terms(l, s, rest, l->layers[layer].example_count));
}

static void lay_all(laying *l, int chunk_count) {
    l->patch_count = l->place_count = l->term_count = l->number_count = 0;
    for (int i = 0; i < l->layer_count; i++)
        l->cursors[i] = 0;
    uint32_t *starts = l->patches ? table(l->patches, l->patches->starts) : NULL;
    for (int chunk = 0; chunk < chunk_count; chunk++) {
        const uint64_t limit = (uint64_t)(chunk + 1) * EXI_CHUNK;
        for (int i = 0; i < l->layer_count; i++) {
            const exi_incidence *s = &l->sets[i];
            const uint32_t begin = l->cursors[i];
            uint32_t end = begin;
            while (l->layers[i].part == l->part && end < (uint32_t)s->vertex_count && s->vertices[end] < limit)
                end++;
            if (end > begin)
                lay_layer(l, i, chunk, begin, end);
            l->cursors[i] = end;
        }
        if (starts)
            starts[chunk + 1] = (uint32_t)l->patch_count;
    }
}

static exi_patches lay_out(const laying *l, int mesh_count, int chunk_count, bool *fits) {
    exi_patches head = {.vertex_count = mesh_count, .chunk_count = chunk_count};
    exi_size total = {.bytes = sizeof head};
    head.starts = exi_size_add(&total, (size_t)chunk_count + 1, sizeof(uint32_t), 16);
    head.patches = exi_size_add(&total, (size_t)l->patch_count, sizeof(exi_patch), 16);
    head.places = exi_size_add(&total, (size_t)l->place_count, sizeof(uint16_t), 16);
    head.terms = exi_size_add(&total, (size_t)l->term_count, sizeof(uint32_t), 16);
    head.tiles = exi_size_add(&total, (size_t)l->number_count, sizeof(float), EXI_ALIGN);
    head.size = total.bytes;
    *fits = !total.overflow && l->patch_count < UINT32_MAX && l->term_count < UINT32_MAX;
    return head;
}

ex_result exi_patches_create(const exi_offset_layer *layers, const exi_incidence *sets, int layer_count, int part,
                             int mesh_count, const ex_allocator *allocator, exi_patches **patches, ex_error *error) {
    *patches = NULL;
    size_t most = 1;
    for (int i = 0; i < layer_count; i++)
        most = (size_t)layers[i].example_count > most ? (size_t)layers[i].example_count : most;
    exi_size total = {0};
    const size_t cursors = exi_size_add(&total, (size_t)layer_count, sizeof(uint32_t), 8);
    const size_t terms = exi_size_add(&total, most + 1, sizeof(uint32_t), 8);
    const size_t members = exi_size_add(&total, EXI_CHUNK, sizeof(uint32_t), 8);
    const size_t next = exi_size_add(&total, EXI_CHUNK, sizeof(uint32_t), 8);
    char *memory = exi_allocate(allocator, total.bytes);
    if (!memory)
        return exi_error_memory(error, "the offsets", total.bytes);
    laying l = {.layers = layers,
                .sets = sets,
                .layer_count = layer_count,
                .part = part,
                .cursors = (uint32_t *)(void *)(memory + cursors),
                .terms = (uint32_t *)(void *)(memory + terms),
                .members = (uint32_t *)(void *)(memory + members),
                .next = (uint32_t *)(void *)(memory + next)};
    const int chunk_count = mesh_count / EXI_CHUNK + (mesh_count % EXI_CHUNK != 0);
    bool fits = false;
    ex_result result = EX_OK;
    lay_all(&l, chunk_count);
    if (l.patch_count == 0) {
        exi_release(allocator, memory, total.bytes);
        return EX_OK;
    }
    const exi_patches head = lay_out(&l, mesh_count, chunk_count, &fits);
    exi_patches *made = fits ? exi_block_create(allocator, (size_t)head.size) : NULL;
    if (made) {
        *made = head;
        l.patches = made;
        lay_all(&l, chunk_count);
        *patches = made;
    } else {
        result = exi_error_memory(error, "the offsets", (size_t)head.size);
    }
    exi_release(allocator, memory, total.bytes);
    return result;
}

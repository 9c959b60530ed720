/*
 * Layout of sparse offsets. First, for every layer, the lists are inverted from the vertices of each example to the
 * examples of each vertex, and the distinct sets among them are found. Then, chunk by chunk and layer by layer,
 * vertices of one set become a patch. If a layer has one weight per example for all vertices, a set with so few
 * vertices that its own patch would cost more is distributed to patches of one example each.
 */
#include "runtime/base/memory.h"
#include "runtime/base/result.h"
#include "runtime/shape/patches.h"
#include "runtime/weigh/weigher.h"

#include <math.h>
#include <string.h>

/* ---- sets ---- */

/* Gets entry `place` of an example, times the mask. */
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

/* Adds the example to an error, by its name if it has one. */
static ex_result blame(const exi_offset_layer *layer, int example, ex_result result, ex_error *error) {
    return layer->names ? ex_error_within(error, result, "example '%s'", layer->names[example])
                        : ex_error_within(error, result, "example %d", example + 1);
}

static ex_result check_example(const ex_offsets *from, int mesh_count, ex_error *error) {
    if (from->count < 0 || (from->count > 0 && (!from->vertices || !from->deltas)))
        return ex_error_set(error, EX_ERROR_ARGUMENT, "it lacks vertices or offsets");
    int64_t last = -1;
    for (int i = 0; i < from->count; i++) {
        const float *delta = from->deltas + 3 * (size_t)i;
        if (from->vertices[i] <= last || from->vertices[i] >= (uint32_t)mesh_count)
            return ex_error_set(error, EX_ERROR_DATA, "vertex %u is out of order, or beyond the mesh's %d vertices",
                                (unsigned)from->vertices[i], mesh_count);
        if (!isfinite(delta[0]) || !isfinite(delta[1]) || !isfinite(delta[2]))
            return ex_error_set(error, EX_ERROR_DATA, "vertex %u is not finite, or too far away for a float",
                                (unsigned)from->vertices[i]);
        last = from->vertices[i];
    }
    return EX_OK;
}

/* Inverts the entries to lists by vertex: counts first, then places. counters [mesh_count + 1] are 0. */
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

/* buckets [mask + 1] are 0; they hold the number of a set plus 1. */
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

ex_result exi_incidence_open(const exi_offset_layer *layer, int mesh_count, const ex_allocator *allocator,
                             exi_incidence *s, ex_error *error) {
    *s = (exi_incidence){.allocator = allocator};
    size_t entries = 0;
    for (int k = 0; k < layer->example_count; k++) {
        ex_result result = check_example(&layer->examples[k], mesh_count, error);
        if (result != EX_OK)
            return blame(layer, k, result, error);
        entries += (size_t)layer->examples[k].count;
    }
    if (entries > UINT32_MAX / 2)
        return ex_error_set(error, EX_ERROR_LIMIT, "a layer has at most %u offsets", (unsigned)(UINT32_MAX / 2));
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
        return ex_error_memory(error, "the offsets", total.bytes + work.bytes);
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
    const size_t words = exi_set_words(example_count);
    memset(bits, 0, (size_t)s->set_count * words * sizeof *bits);
    for (int i = 0; i < s->set_count; i++)
        for (uint32_t k = s->starts[s->first_of[i]]; k < s->starts[s->first_of[i] + 1]; k++)
            bits[(size_t)i * words + s->examples[k] / 32] |= (uint32_t)1 << s->examples[k] % 32;
}

/* ---- patches ---- */

/* State of a vertex: waiting for a patch, in a patch with its set, or distributed to those of its examples. */
enum { WAITS, DONE, DEALT };

/* Everything is placed twice by the same functions: once to count, with patches NULL, and once to write. */
typedef struct laying {
    const exi_offset_layer *layers;
    const exi_incidence *sets;
    int layer_count, part;
    uint32_t *cursors;    /* [layer_count]: first vertex of each layer that is not before the chunk */
    uint32_t *members;    /* [EXI_CHUNK] vertices of the current patch, by their index in the sets */
    unsigned char *marks; /* [EXI_CHUNK]: states of the layer's vertices in the chunk */
    bool *touched;        /* [EXI_CHUNK]: true for vertices of the chunk with any offsets */
    exi_patches *patches; /* NULL: count only */
    uint64_t patch_count, place_count, term_count, number_count, touched_count;
} laying;

static inline void *table(exi_patches *p, uint64_t offset) {
    return (void *)((uintptr_t)p + (uintptr_t)offset);
}

/* Opens a patch: its record, and room for its places, terms and numbers, which are written if there is memory. */
static void open_patch(laying *l, int layer, int count, int term_count, uint16_t **places, uint32_t **terms,
                       float **numbers) {
    if (l->patches) {
        exi_patch *patch = (exi_patch *)table(l->patches, l->patches->patches) + l->patch_count;
        *patch = (exi_patch){.numbers = l->number_count,
                             .places = l->place_count,
                             .terms = (uint32_t)l->term_count,
                             .count = count,
                             .term_count = term_count,
                             .layer = layer};
        *places = (uint16_t *)table(l->patches, l->patches->places) + l->place_count;
        *terms = (uint32_t *)table(l->patches, l->patches->terms) + l->term_count;
        *numbers = (float *)table(l->patches, l->patches->numbers) + l->number_count;
    }
    l->patch_count++;
    l->place_count += (uint64_t)count;
    l->term_count += (uint64_t)term_count;
    l->number_count += 3 * (uint64_t)count * (uint64_t)term_count;
}

static uint16_t place_of(const exi_incidence *s, uint32_t member, int chunk) {
    return (uint16_t)(s->vertices[member] - (uint32_t)chunk * EXI_CHUNK);
}

/* Lays out a patch of `count` members, all of one set. */
static void lay_set(laying *l, int layer, int chunk, int count) {
    const exi_incidence *s = &l->sets[layer];
    const exi_offset_layer *from = &l->layers[layer];
    const uint32_t first = s->starts[l->members[0]], length = length_of(s, l->members[0]);
    uint16_t *places = NULL;
    uint32_t *terms = NULL;
    float *numbers = NULL;
    open_patch(l, layer, count, (int)length, &places, &terms, &numbers);
    for (uint32_t k = 0; terms && k < length; k++)
        terms[k] = (uint32_t)from->first_weight +
                   (from->moved ? s->weight_of[s->set_of[l->members[0]]] + k : s->examples[first + k]);
    for (int v = 0; places && v < count; v++) {
        places[v] = place_of(s, l->members[v], chunk);
        for (uint32_t i = s->starts[l->members[v]]; i < s->starts[l->members[v] + 1]; i++, numbers += 3)
            masked(from, (int)s->examples[i], s->places[i], numbers);
    }
}

/* Lays out a patch of one example, with those of `count` members that it moves. */
static void lay_example(laying *l, int layer, int chunk, uint32_t example, int count) {
    const exi_incidence *s = &l->sets[layer];
    const exi_offset_layer *from = &l->layers[layer];
    int found = 0;
    for (int pass = 0; pass < 2; pass++) {
        uint16_t *places = NULL;
        uint32_t *terms = NULL;
        float *numbers = NULL;
        if (pass == 1 && found > 0)
            open_patch(l, layer, found, 1, &places, &terms, &numbers);
        if (pass == 1 && !places)
            return;
        if (pass == 1)
            *terms = (uint32_t)from->first_weight + example;
        for (int v = 0; v < count; v++)
            for (uint32_t i = s->starts[l->members[v]]; i < s->starts[l->members[v] + 1]; i++) {
                if (s->examples[i] != example)
                    continue;
                found += pass == 0;
                if (pass == 0)
                    continue;
                *places++ = place_of(s, l->members[v], chunk);
                masked(from, (int)example, s->places[i], numbers);
                numbers += 3;
            }
    }
}

/*
 * True if vertices of one set are worth a patch. A patch costs about 8 ns, plus 0.5 per vertex and 0.3 for each of its
 * offsets; an offset in a patch of one example costs 0.8.
 */
static bool is_worth_a_patch(int count, uint32_t length) {
    return 80 + count * (5 + 3 * (int)length) < 8 * count * (int)length;
}

/* Lays out vertices begin to end of a layer, all of one chunk. */
static void lay_layer(laying *l, int layer, int chunk, uint32_t begin, uint32_t end) {
    const exi_incidence *s = &l->sets[layer];
    memset(l->marks, WAITS, (size_t)(end - begin));
    for (uint32_t first = begin; first < end; first++) {
        l->touched[place_of(s, first, chunk)] = true;
        if (l->marks[first - begin] != WAITS)
            continue;
        int count = 0;
        for (uint32_t v = first; v < end; v++)
            if (s->set_of[v] == s->set_of[first])
                l->members[count++] = v;
        const bool worth = l->layers[layer].moved || is_worth_a_patch(count, length_of(s, first));
        for (int i = 0; i < count; i++)
            l->marks[l->members[i] - begin] = worth ? DONE : DEALT;
        if (worth)
            lay_set(l, layer, chunk, count);
    }
    int dealt = 0;
    for (uint32_t v = begin; v < end; v++)
        if (l->marks[v - begin] == DEALT)
            l->members[dealt++] = v;
    for (uint32_t k = 0; dealt > 0 && k < (uint32_t)l->layers[layer].example_count; k++)
        lay_example(l, layer, chunk, k, dealt);
}

static void note_touched(laying *l, int chunk) {
    uint16_t *touched = l->patches ? (uint16_t *)table(l->patches, l->patches->touched) + l->touched_count : NULL;
    for (uint32_t v = 0; v < EXI_CHUNK; v++) {
        l->touched_count += l->touched[v];
        if (touched && l->touched[v])
            *touched++ = (uint16_t)v;
    }
    if (!l->patches)
        return;
    ((uint32_t *)table(l->patches, l->patches->starts))[chunk + 1] = (uint32_t)l->patch_count;
    ((uint32_t *)table(l->patches, l->patches->touched_starts))[chunk + 1] = (uint32_t)l->touched_count;
}

static void lay_all(laying *l, int chunk_count) {
    l->patch_count = l->place_count = l->term_count = l->number_count = l->touched_count = 0;
    for (int i = 0; i < l->layer_count; i++)
        l->cursors[i] = 0;
    for (int chunk = 0; chunk < chunk_count; chunk++) {
        const uint64_t limit = (uint64_t)(chunk + 1) * EXI_CHUNK;
        memset(l->touched, 0, EXI_CHUNK * sizeof *l->touched);
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
        note_touched(l, chunk);
    }
}

static exi_patches lay_out(const laying *l, int mesh_count, int chunk_count, bool *fits) {
    exi_patches head = {.vertex_count = mesh_count, .chunk_count = chunk_count};
    exi_size total = {.bytes = sizeof head};
    head.starts = exi_size_add(&total, (size_t)chunk_count + 1, sizeof(uint32_t), 16);
    head.touched_starts = exi_size_add(&total, (size_t)chunk_count + 1, sizeof(uint32_t), 16);
    head.touched = exi_size_add(&total, (size_t)l->touched_count, sizeof(uint16_t), 16);
    head.patches = exi_size_add(&total, (size_t)l->patch_count, sizeof(exi_patch), 16);
    head.places = exi_size_add(&total, (size_t)l->place_count, sizeof(uint16_t), 16);
    head.terms = exi_size_add(&total, (size_t)l->term_count, sizeof(uint32_t), 16);
    head.numbers = exi_size_add(&total, (size_t)l->number_count + 1, sizeof(float), EXI_ALIGN);
    head.size = total.bytes;
    *fits = !total.overflow && l->patch_count < UINT32_MAX && l->term_count < UINT32_MAX;
    return head;
}

ex_result exi_patches_create(const exi_offset_layer *layers, const exi_incidence *sets, int layer_count, int part,
                             int mesh_count, const ex_allocator *allocator, exi_patches **patches, ex_error *error) {
    *patches = NULL;
    exi_size total = {0};
    const size_t cursors = exi_size_add(&total, (size_t)layer_count, sizeof(uint32_t), 8);
    const size_t members = exi_size_add(&total, EXI_CHUNK, sizeof(uint32_t), 8);
    const size_t marks = exi_size_add(&total, EXI_CHUNK, 1, 8);
    const size_t touched = exi_size_add(&total, EXI_CHUNK, sizeof(bool), 8);
    char *memory = exi_allocate(allocator, total.bytes);
    if (!memory)
        return ex_error_memory(error, "the offsets", total.bytes);
    laying l = {.layers = layers,
                .sets = sets,
                .layer_count = layer_count,
                .part = part,
                .cursors = (uint32_t *)(void *)(memory + cursors),
                .members = (uint32_t *)(void *)(memory + members),
                .marks = (unsigned char *)memory + marks,
                .touched = (bool *)(memory + touched)};
    const int chunk_count = mesh_count / EXI_CHUNK + (mesh_count % EXI_CHUNK != 0);
    bool fits = false;
    ex_result result = EX_OK;
    lay_all(&l, chunk_count);
    const exi_patches head = lay_out(&l, mesh_count, chunk_count, &fits);
    exi_patches *made = fits && l.patch_count > 0 ? exi_block_create(allocator, (size_t)head.size) : NULL;
    if (made) {
        *made = head;
        l.patches = made;
        lay_all(&l, chunk_count);
        *patches = made;
    } else if (l.patch_count > 0) {
        result = ex_error_memory(error, "the offsets", (size_t)head.size);
    }
    exi_release(allocator, memory, total.bytes);
    return result;
}

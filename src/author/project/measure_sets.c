/*
 * Sets of examples: a vertex of a layer whose participation is `moved` is weighed among the examples that move it (Pose
 * Space Deformation, section 3.3), and vertices that the same ones move share one solve. Sets are numbered in the order
 * in which the first vertex of each comes.
 */
#include "author/formats/array.h"
#include "author/formats/rows.h"
#include "author/project/measure.h"

#include <stdlib.h>
#include <string.h>

/* Sets by their words, in open addresses that stay at most half full. */
typedef struct finder {
    exi_sets *sets;
    int *slots; /* [slot_count], -1 for empty */
    size_t slot_count, set_capacity;
} finder;

static size_t find_slot(const finder *f, const uint32_t *words) {
    const size_t count = f->sets->word_count;
    uint64_t hash = 0;
    for (size_t i = 0; i < count; i++)
        hash = exi_mix(hash, words[i]);
    size_t slot = (size_t)hash & (f->slot_count - 1);
    while (f->slots[slot] >= 0 &&
           memcmp(f->sets->words + (size_t)f->slots[slot] * count, words, count * sizeof *words) != 0)
        slot = (slot + 1) & (f->slot_count - 1);
    return slot;
}

static bool widen(finder *f) {
    const size_t wanted = f->slot_count ? 2 * f->slot_count : 64;
    int *slots = exi_array_allocate(wanted, sizeof *slots);
    if (!slots)
        return false;
    free(f->slots);
    f->slots = slots;
    f->slot_count = wanted;
    for (size_t i = 0; i < wanted; i++)
        slots[i] = -1;
    for (int s = 0; s < f->sets->set_count; s++)
        slots[find_slot(f, f->sets->words + (size_t)s * f->sets->word_count)] = s;
    return true;
}

/* The number of a set, which is added where it is new; -1 without memory. */
static int number_of(finder *f, const uint32_t *words) {
    exi_sets *sets = f->sets;
    if (2 * ((size_t)sets->set_count + 1) > f->slot_count && !widen(f))
        return -1;
    const size_t slot = find_slot(f, words), size = sets->word_count * sizeof *words;
    if (f->slots[slot] >= 0)
        return f->slots[slot];
    uint32_t *grown = exi_array_grow(sets->words, &f->set_capacity, (size_t)sets->set_count + 1, size);
    if (!grown)
        return -1;
    sets->words = grown;
    memcpy(grown + (size_t)sets->set_count * sets->word_count, words, size);
    f->slots[slot] = sets->set_count;
    return sets->set_count++;
}

static int count_bits(uint32_t word) {
    int count = 0;
    for (; word; word &= word - 1)
        count++;
    return count;
}

static bool number_starts(exi_sets *sets) {
    sets->starts = exi_array_allocate((size_t)sets->set_count, sizeof *sets->starts);
    for (int s = 0; sets->starts && s < sets->set_count; s++) {
        sets->starts[s] = sets->weight_count;
        for (size_t w = 0; w < sets->word_count; w++)
            sets->weight_count += count_bits(sets->words[(size_t)s * sets->word_count + w]);
    }
    return sets->starts != NULL;
}

/* Lists are ascending: one cursor in each walks along with the vertices. */
static bool mark(exi_sets *sets, const ex_offsets *offsets, int count, int vertex_count) {
    const size_t width = sets->word_count;
    uint32_t *words = exi_array_allocate(width, sizeof *words);
    int *cursors = calloc((size_t)count + 1, sizeof *cursors);
    finder f = {.sets = sets};
    bool good = words && cursors;
    for (int v = 0; good && v < vertex_count; v++) {
        bool any = false;
        memset(words, 0, width * sizeof *words);
        for (int k = 0; k < count; k++)
            if (cursors[k] < offsets[k].count && offsets[k].vertices[cursors[k]] == (uint32_t)v) {
                words[k / 32] |= (uint32_t)1 << (k % 32);
                cursors[k]++;
                any = true;
            }
        sets->vertices[v] = any ? number_of(&f, words) : -1;
        good = !any || sets->vertices[v] >= 0;
    }
    free(f.slots);
    free(words);
    free(cursors);
    return good;
}

bool exi_sets_make(exi_sets *sets, const ex_offsets *offsets, int count, int vertex_count) {
    *sets = (exi_sets){.word_count = ((size_t)count + 31) / 32,
                       .vertices = exi_array_allocate((size_t)vertex_count, sizeof *sets->vertices)};
    return sets->vertices && mark(sets, offsets, count, vertex_count) && number_starts(sets);
}

void exi_sets_free(exi_sets *sets) {
    free(sets->words);
    free(sets->starts);
    free(sets->vertices);
    free(sets->weights);
    *sets = (exi_sets){0};
}

int exi_sets_place(const exi_sets *sets, int vertex, int example) {
    const int set = sets->vertices[vertex];
    const uint32_t *words = sets->words + (size_t)set * sets->word_count;
    int place = sets->starts[set];
    for (int w = 0; w < example / 32; w++)
        place += count_bits(words[w]);
    return place + count_bits(words[example / 32] & (((uint32_t)1 << (example % 32)) - 1));
}

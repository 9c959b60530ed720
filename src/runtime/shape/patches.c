/*
 * The sparse blend: position(v) += sum over k of w_k d_k(v), for the vertices that a layer moves (Lewis, Cordner, Fong:
 * Pose Space Deformation, 2000, equation 1, with one weight per example in place of one per vertex and basis).
 *
 * It must read 12 bytes a vertex and example that moves it, once, and read and write the position of a vertex once a
 * layer. Two tiles go side by side, as in the dense blend: six sums alone would wait for each other.
 */
#include "runtime/shape/patches.h"

#include <string.h>

enum { AXIS_WIDES = EXI_TILE / EXI_WIDTH, TILE_WIDES = 3 * AXIS_WIDES };

/* A weight that counts, and where its numbers start within a tile's. */
typedef struct term {
    uint32_t start;
    float weight;
} term;

/* Terms that are gone through at a time. */
enum { TERMS = 64 };

static inline const void *table(const exi_patches *p, uint64_t offset) {
    return (const void *)((uintptr_t)p + (uintptr_t)offset);
}

bool exi_patches_has(const exi_patches *p, int chunk) {
    if (!p)
        return false;
    const uint32_t *starts = table(p, p->starts);
    return starts[chunk + 1] > starts[chunk];
}

static inline void add_tile(const float *numbers, exi_wide weight, exi_wide sums[TILE_WIDES]) {
    EXI_WRITE_OUT
    for (int i = 0; i < TILE_WIDES; i++)
        sums[i] = exi_madd(exi_load(numbers + i * EXI_WIDTH), weight, sums[i]);
}

/* To a tile's vertices, `count` of them, at their places. */
static inline void scatter(const exi_wide sums[TILE_WIDES], const uint16_t *places, int count, float *position,
                           size_t stride) {
    float values[EXI_TILE_FLOATS];
    EXI_WRITE_OUT
    for (int i = 0; i < TILE_WIDES; i++)
        exi_store(values + i * EXI_WIDTH, sums[i]);
    for (int v = 0; v < count; v++) {
        char *at = (char *)position + stride * places[v]; /* which need not be aligned */
        float triple[3];
        memcpy(triple, at, sizeof triple);
        triple[0] += values[v];
        triple[1] += values[EXI_TILE + v];
        triple[2] += values[2 * EXI_TILE + v];
        memcpy(at, triple, sizeof triple);
    }
}

/* Terms of a patch from its `first` on whose weight is not 0, at most TERMS; *next is where to go on. */
static int find_terms(const uint32_t *numbers, int first, int count, const float *weights, term *terms, int *next) {
    int found = 0, k = first;
    for (; k < count && found < TERMS; k++)
        if (weights[numbers[k]] != 0)
            terms[found++] = (term){(uint32_t)k * EXI_TILE_FLOATS, weights[numbers[k]]};
    *next = k;
    return found;
}

static void add_patch(const float *tiles, const uint16_t *places, const exi_patch *patch, const term *terms,
                      int term_count, float *position, size_t stride) {
    const size_t step = (size_t)patch->term_count * EXI_TILE_FLOATS;
    int v = 0;
    for (; v + EXI_TILE < patch->count; v += 2 * EXI_TILE, tiles += 2 * step) {
        exi_wide a[TILE_WIDES], b[TILE_WIDES];
        EXI_WRITE_OUT
        for (int i = 0; i < TILE_WIDES; i++)
            a[i] = b[i] = exi_splat(0);
        for (int k = 0; k < term_count; k++) {
            const exi_wide weight = exi_splat(terms[k].weight);
            add_tile(tiles + terms[k].start, weight, a);
            add_tile(tiles + step + terms[k].start, weight, b);
        }
        const int left = patch->count - v - EXI_TILE;
        scatter(a, places + v, EXI_TILE, position, stride);
        scatter(b, places + v + EXI_TILE, left < EXI_TILE ? left : EXI_TILE, position, stride);
    }
    if (v >= patch->count)
        return;
    exi_wide a[TILE_WIDES];
    EXI_WRITE_OUT
    for (int i = 0; i < TILE_WIDES; i++)
        a[i] = exi_splat(0);
    for (int k = 0; k < term_count; k++)
        add_tile(tiles + terms[k].start, exi_splat(terms[k].weight), a);
    scatter(a, places + v, patch->count - v, position, stride);
}

void exi_patches_add(const exi_patches *p, int chunk, const float *weights, float *position, size_t stride) {
    const uint32_t *starts = table(p, p->starts), *numbers = table(p, p->terms);
    const exi_patch *patches = table(p, p->patches);
    const uint16_t *places = table(p, p->places);
    const float *tiles = table(p, p->tiles);
    for (uint32_t i = starts[chunk]; i < starts[chunk + 1]; i++) {
        const exi_patch patch = patches[i];
        term terms[TERMS];
        for (int first = 0; first < patch.term_count;) {
            const int count = find_terms(numbers + patch.terms, first, patch.term_count, weights, terms, &first);
            if (count > 0)
                add_patch(tiles + patch.tiles, places + patch.places, &patch, terms, count, position, stride);
        }
    }
}

/* ---- reading back ---- */

/* What one term of a patch says, to the places of its vertices. */
static void read_term(const exi_patches *p, const exi_patch *patch, int k, float (*deltas)[3]) {
    const uint16_t *places = (const uint16_t *)table(p, p->places) + patch->places;
    const float *tiles = (const float *)table(p, p->tiles) + patch->tiles;
    for (int v = 0; v < patch->count; v++) {
        const size_t tile = (size_t)(v / EXI_TILE) * (size_t)patch->term_count + (size_t)k;
        for (int c = 0; c < 3; c++)
            deltas[places[v]][c] = tiles[tile * EXI_TILE_FLOATS + (size_t)(c * EXI_TILE + v % EXI_TILE)];
    }
}

void exi_patches_visit(const exi_patches *p, int layer, uint32_t example, const uint32_t *weight_examples,
                       exi_offset_visit visit, void *context) {
    const uint32_t *starts = table(p, p->starts), *numbers = table(p, p->terms);
    const exi_patch *patches = table(p, p->patches);
    float deltas[EXI_CHUNK][3];
    for (int chunk = 0; chunk < p->chunk_count; chunk++) {
        bool any = false;
        for (uint32_t i = starts[chunk]; i < starts[chunk + 1]; i++)
            for (int k = 0; patches[i].layer == layer && k < patches[i].term_count; k++) {
                if (weight_examples[numbers[patches[i].terms + (uint32_t)k]] != example)
                    continue;
                if (!any)
                    memset(deltas, 0, sizeof deltas);
                any = true;
                read_term(p, &patches[i], k, deltas);
            }
        for (uint32_t v = 0; any && v < EXI_CHUNK; v++)
            if (deltas[v][0] != 0 || deltas[v][1] != 0 || deltas[v][2] != 0)
                visit(context, (uint32_t)chunk * EXI_CHUNK + v, deltas[v]);
    }
}

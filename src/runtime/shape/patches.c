/*
 * The sparse blend: position(v) += sum over k of w_k d_k(v), for the vertices that a layer moves (Lewis, Cordner, Fong:
 * Pose Space Deformation, 2000, equation 1, with one weight per example in place of one per vertex and basis).
 *
 * It must read 12 bytes per vertex and example that moves it, and its place, once. Sums of a chunk are four numbers per
 * vertex, the fourth meaningless, so that an offset is one load and one multiply-add; they stay in the first-level
 * cache while all layers stream past. Four vertices are processed side by side, since the additions of one wait for
 * each other. Tiles of vertices as in the dense blend were tried: adding a tile's vertices to scattered places took
 * longer than summing them, and sets of few vertices left most of a tile empty.
 */
#include "runtime/shape/patches.h"
#include "runtime/base/simd.h"

#include <string.h>

/* A non-zero weight, and the start of its offset among those of a vertex. */
typedef struct term {
    uint32_t start;
    float weight;
} term;

/* TERMS: terms processed at a time. */
enum { TERMS = 64, SIDE_BY_SIDE = 4 };

static inline const void *table(const exi_patches *p, uint64_t offset) {
    return (const void *)((uintptr_t)p + (uintptr_t)offset);
}

bool exi_patches_has(const exi_patches *p, int chunk) {
    if (!p)
        return false;
    const uint32_t *starts = table(p, p->starts);
    return starts[chunk + 1] > starts[chunk];
}

/* Finds the terms of a patch from `first` on with non-zero weights, at most TERMS; *next is where to continue. */
static int find_terms(const uint32_t *numbers, int first, int count, const float *weights, term *terms, int *next) {
    int found = 0, k = first;
    for (; k < count && found < TERMS; k++)
        if (weights[numbers[k]] != 0)
            terms[found++] = (term){3 * (uint32_t)k, weights[numbers[k]]};
    *next = k;
    return found;
}

/* A patch with one example needs no list of terms. No place occurs twice. */
static void add_single(const float *numbers, const uint16_t *places, int count, float weight, float (*sums)[4]) {
    const exi_quad w = exi_quad_splat(weight);
    int v = 0;
    for (; v + SIDE_BY_SIDE <= count; v += SIDE_BY_SIDE, numbers += 3 * SIDE_BY_SIDE) {
        /* Places are read once, since the compiler must assume that sums may overwrite them. */
        float *const at[SIDE_BY_SIDE] = {sums[places[v]], sums[places[v + 1]], sums[places[v + 2]],
                                         sums[places[v + 3]]};
        exi_quad sum[SIDE_BY_SIDE];
        EXI_WRITE_OUT
        for (int i = 0; i < SIDE_BY_SIDE; i++)
            sum[i] = exi_quad_madd(exi_quad_load(numbers + 3 * i), w, exi_quad_load(at[i]));
        EXI_WRITE_OUT
        for (int i = 0; i < SIDE_BY_SIDE; i++)
            exi_quad_store(at[i], sum[i]);
    }
    for (; v < count; v++, numbers += 3) {
        float *sum = sums[places[v]];
        exi_quad_store(sum, exi_quad_madd(exi_quad_load(numbers), w, exi_quad_load(sum)));
    }
}

static void add_several(const float *numbers, const uint16_t *places, const exi_patch *patch, const term *terms,
                        int term_count, float (*sums)[4]) {
    const size_t step = 3 * (size_t)patch->term_count;
    int v = 0;
    for (; v + SIDE_BY_SIDE <= patch->count; v += SIDE_BY_SIDE, numbers += SIDE_BY_SIDE * step) {
        exi_quad sum[SIDE_BY_SIDE];
        EXI_WRITE_OUT
        for (int i = 0; i < SIDE_BY_SIDE; i++)
            sum[i] = exi_quad_load(sums[places[v + i]]);
        for (int k = 0; k < term_count; k++) {
            const exi_quad w = exi_quad_splat(terms[k].weight);
            EXI_WRITE_OUT
            for (int i = 0; i < SIDE_BY_SIDE; i++)
                sum[i] = exi_quad_madd(exi_quad_load(numbers + (size_t)i * step + terms[k].start), w, sum[i]);
        }
        EXI_WRITE_OUT
        for (int i = 0; i < SIDE_BY_SIDE; i++)
            exi_quad_store(sums[places[v + i]], sum[i]);
    }
    for (; v < patch->count; v++, numbers += step) {
        exi_quad sum = exi_quad_load(sums[places[v]]);
        for (int k = 0; k < term_count; k++)
            sum = exi_quad_madd(exi_quad_load(numbers + terms[k].start), exi_quad_splat(terms[k].weight), sum);
        exi_quad_store(sums[places[v]], sum);
    }
}

void exi_patches_sum(const exi_patches *p, int chunk, const float *weights, exi_patch_sums *out) {
    const uint32_t *starts = table(p, p->starts), *terms_of = table(p, p->terms);
    const uint32_t *touched_starts = table(p, p->touched_starts);
    const exi_patch *patches = table(p, p->patches);
    const uint16_t *places = table(p, p->places);
    const float *numbers = table(p, p->numbers);
    out->touched = (const uint16_t *)table(p, p->touched) + touched_starts[chunk];
    out->touched_count = (int)(touched_starts[chunk + 1] - touched_starts[chunk]);
    for (int i = 0; i < out->touched_count; i++)
        exi_quad_store(out->sums[out->touched[i]], exi_quad_splat(0));
    for (uint32_t i = starts[chunk]; i < starts[chunk + 1]; i++) {
        const exi_patch patch = patches[i];
        const float single = weights[terms_of[patch.terms]];
        if (patch.term_count == 1) {
            if (single != 0)
                add_single(numbers + patch.numbers, places + patch.places, patch.count, single, out->sums);
            continue;
        }
        term terms[TERMS];
        for (int first = 0; first < patch.term_count;) {
            const int count = find_terms(terms_of + patch.terms, first, patch.term_count, weights, terms, &first);
            if (count > 0)
                add_several(numbers + patch.numbers, places + patch.places, &patch, terms, count, out->sums);
        }
    }
}

void exi_patches_add(const exi_patches *p, int chunk, const float *weights, float *position, size_t stride) {
    exi_patch_sums sums;
    exi_patches_sum(p, chunk, weights, &sums);
    for (int i = 0; i < sums.touched_count; i++) {
        char *at = (char *)position + stride * sums.touched[i]; /* need not be aligned */
        const float *sum = sums.sums[sums.touched[i]];
        float triple[3];
        memcpy(triple, at, sizeof triple);
        for (int c = 0; c < 3; c++)
            triple[c] += sum[c];
        memcpy(at, triple, sizeof triple);
    }
}

/* ---- reading back ---- */

/* Writes the offsets of one term of a patch to the places of its vertices. */
static void read_term(const exi_patches *p, const exi_patch *patch, int k, float (*deltas)[3]) {
    const uint16_t *places = (const uint16_t *)table(p, p->places) + patch->places;
    const float *numbers = (const float *)table(p, p->numbers) + patch->numbers;
    for (int v = 0; v < patch->count; v++)
        memcpy(deltas[places[v]], numbers + 3 * ((size_t)v * (size_t)patch->term_count + (size_t)k), sizeof *deltas);
}

void exi_patches_visit(const exi_patches *p, int layer, uint32_t example, const uint32_t *weight_examples,
                       exi_offset_visit visit, void *context) {
    const uint32_t *starts = table(p, p->starts), *terms = table(p, p->terms);
    const exi_patch *patches = table(p, p->patches);
    float deltas[EXI_CHUNK][3];
    for (int chunk = 0; chunk < p->chunk_count; chunk++) {
        bool any = false;
        for (uint32_t i = starts[chunk]; i < starts[chunk + 1]; i++)
            for (int k = 0; patches[i].layer == layer && k < patches[i].term_count; k++) {
                if (weight_examples[terms[patches[i].terms + (uint32_t)k]] != example)
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

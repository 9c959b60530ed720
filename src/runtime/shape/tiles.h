/*
 * Shared by the kernels over tiles of forms: sums of a tile's examples in registers, and their output. Private to the
 * room; blend_kernel.c explains the design.
 */
#ifndef EXI_TILES_H
#define EXI_TILES_H

#include "runtime/base/simd.h"
#include "runtime/shape/forms.h"

#include <string.h>

enum { EXI_AXIS_WIDES = EXI_TILE / EXI_WIDTH, EXI_TILE_WIDES = 3 * EXI_AXIS_WIDES, EXI_SIDE_BY_SIDE = 2 };
enum { EXI_TILE_SHORTS = EXI_TILE_FLOATS / EXI_SHORTS };

_Static_assert(EXI_TILE % EXI_WIDTH == 0 && EXI_TILE_FLOATS % EXI_SHORTS == 0, "a tile is made of whole registers");

/* Tiles whose sums fit the registers: two, or with many sums per tile (SSE2) one. */
enum { EXI_TILES_AT_ONCE = EXI_TILE_WIDES > 6 ? 1 : 2 };

/* Numbers are addressed backwards from their end: if one load uses the pointer itself as its address, gcc addresses it
 * by two registers and joins the others to pairs that cross cache lines. */
static inline void exi_tile_add_floats(const float *end, exi_wide factor, exi_wide sums[EXI_TILE_WIDES]) {
    EXI_WRITE_OUT
    for (int i = 0; i < EXI_TILE_WIDES; i++)
        sums[i] = exi_madd(exi_load(end - EXI_TILE_FLOATS + i * EXI_WIDTH), factor, sums[i]);
}

static inline void exi_tile_add_shorts(const int16_t *end, exi_ints factor, exi_ints sums[EXI_TILE_WIDES]) {
    EXI_WRITE_OUT
    for (int i = 0; i < EXI_TILE_SHORTS; i++)
        exi_add_products(end - EXI_TILE_FLOATS + i * EXI_SHORTS, factor, sums + i * (EXI_SHORTS / EXI_WIDTH));
}

/* Sums tile `a` and, if `both` (a constant at the call), tile b. */
static inline void exi_tile_sum_floats(const float *a, const float *b, bool both, const exi_sum *sum,
                                       exi_wide sums[EXI_SIDE_BY_SIDE][EXI_TILE_WIDES]) {
    const exi_term *term = sum->terms, *end = term + sum->term_count;
    for (; term < end; term++) {
        exi_tile_add_floats(a + term->end, exi_splat(term->factor), sums[0]);
        if (both)
            exi_tile_add_floats(b + term->end, exi_splat(term->factor), sums[1]);
    }
}

static inline void exi_tile_add_shares(const int16_t *start, exi_shorts factor, exi_shorts sums[EXI_TILE_SHORTS]) {
    EXI_WRITE_OUT
    for (int i = 0; i < EXI_TILE_SHORTS; i++)
        sums[i] = exi_add_shares(start + i * EXI_SHORTS, factor, sums[i]);
}

static inline void exi_tile_finish_shares(const exi_shorts shares[EXI_TILE_SHORTS], exi_wide unit,
                                          exi_wide sums[EXI_TILE_WIDES]) {
    EXI_WRITE_OUT
    for (int i = 0; i < EXI_TILE_SHORTS; i++) {
        enum { WIDES = EXI_SHORTS / EXI_WIDTH };
        exi_ints ints[WIDES];
        exi_shorts_widen(shares[i], ints);
        EXI_WRITE_OUT
        for (int k = 0; k < WIDES; k++)
            sums[WIDES * i + k] = exi_madd(exi_from_ints(ints[k]), unit, sums[WIDES * i + k]);
    }
}

/* Adds minor examples, summed in 16 bits: half of the instructions of 32. */
static inline void exi_tile_sum_minors(const int16_t *a, const int16_t *b, bool both, const exi_minors *minors,
                                       exi_wide sums[EXI_SIDE_BY_SIDE][EXI_TILE_WIDES]) {
    const exi_wide unit = exi_splat(minors->unit);
    const int16_t *factors = minors->factors, *end = factors + (size_t)minors->count * EXI_TILE;
    exi_shorts shares[EXI_SIDE_BY_SIDE][EXI_TILE_SHORTS];
    EXI_WRITE_OUT
    for (int i = 0; i < EXI_TILE_SHORTS; i++)
        shares[0][i] = shares[1][i] = exi_shorts_splat(0);
    a += minors->start;
    b += minors->start;
    for (; factors < end; factors += EXI_MINOR_STEP * EXI_TILE) {
        EXI_WRITE_OUT
        for (int k = 0; k < EXI_MINOR_STEP; k++) {
            const exi_shorts factor = exi_shorts_load(factors + k * EXI_TILE);
            exi_tile_add_shares(a + k * EXI_TILE_FLOATS, factor, shares[0]);
            if (both)
                exi_tile_add_shares(b + k * EXI_TILE_FLOATS, factor, shares[1]);
        }
        a += EXI_MINOR_STEP * EXI_TILE_FLOATS;
        b += EXI_MINOR_STEP * EXI_TILE_FLOATS;
        EXI_KEEP(a);
        EXI_KEEP(b);
    }
    exi_tile_finish_shares(shares[0], unit, sums[0]);
    if (both)
        exi_tile_finish_shares(shares[1], unit, sums[1]);
}

/* Sums integers as such, which takes a third of the instructions of converting each to float, and converts once: sums
 * += unit * integers. exi_forms_set_terms prevents overflow. */
static inline void exi_tile_sum_shorts(const int16_t *a, const int16_t *b, bool both, const exi_sum *sum,
                                       exi_wide sums[EXI_SIDE_BY_SIDE][EXI_TILE_WIDES]) {
    const exi_term *term = sum->terms, *end = term + sum->term_count;
    const exi_wide unit = exi_splat(sum->unit);
    exi_ints whole[EXI_SIDE_BY_SIDE][EXI_TILE_WIDES];
    EXI_WRITE_OUT
    for (int i = 0; i < EXI_TILE_WIDES; i++)
        whole[0][i] = whole[1][i] = exi_zero_ints();
    for (; term < end; term++) {
        const exi_ints factor = exi_splat_short((int16_t)term->whole);
        exi_tile_add_shorts(a + term->end, factor, whole[0]);
        if (both)
            exi_tile_add_shorts(b + term->end, factor, whole[1]);
    }
    EXI_WRITE_OUT
    for (int i = 0; i < EXI_TILE_WIDES; i++) {
        sums[0][i] = exi_madd(exi_from_ints(whole[0][i]), unit, sums[0][i]);
        if (both)
            sums[1][i] = exi_madd(exi_from_ints(whole[1][i]), unit, sums[1][i]);
    }
    for (int g = sum->group_count - 1; g >= 0; g--) /* in the order of memory */
        exi_tile_sum_minors(a, b, both, &sum->groups[g], sums);
}

/* ---- output of the sums ---- */

static inline void exi_tile_grow_box(const float values[EXI_TILE_FLOATS], int count, float box[6]) {
    for (int c = 0; c < 3; c++)
        for (int v = 0; v < count; v++) {
            float x = values[c * EXI_TILE + v];
            box[c] = x < box[c] ? x : box[c];
            box[3 + c] = x > box[3 + c] ? x : box[3 + c];
        }
}

/* The general case: any stride, incomplete tiles, boxes. */
static inline void exi_tile_finish_any(const float values[EXI_TILE_FLOATS], const exi_blend *blend, int tile,
                                       int count) {
    const size_t first = (size_t)tile * EXI_TILE;
    for (int v = 0; blend->positions && v < count; v++) {
        float triple[3] = {values[v], values[EXI_TILE + v], values[2 * EXI_TILE + v]};
        memcpy((char *)blend->positions + (first + (size_t)v) * blend->stride, triple, sizeof triple);
    }
    if (blend->box)
        exi_tile_grow_box(values, count, blend->box);
}

static inline void exi_tile_finish(const exi_wide sums[EXI_TILE_WIDES], const exi_blend *blend, int tile,
                                   int vertex_count) {
    const int left = vertex_count - tile * EXI_TILE;
    if (left < EXI_TILE || blend->stride != 3 * sizeof(float) || !blend->positions || blend->box) {
        float values[EXI_TILE_FLOATS];
        EXI_WRITE_OUT
        for (int i = 0; i < EXI_TILE_WIDES; i++)
            exi_store(values + i * EXI_WIDTH, sums[i]);
        exi_tile_finish_any(values, blend, tile, left < EXI_TILE ? left : EXI_TILE);
        return;
    }
    float *out = blend->positions + (size_t)tile * EXI_TILE_FLOATS;
    EXI_WRITE_OUT
    for (int i = 0; i < EXI_AXIS_WIDES; i++)
        exi_store_triples(out + i * 3 * EXI_WIDTH, sums[i], sums[EXI_AXIS_WIDES + i], sums[2 * EXI_AXIS_WIDES + i]);
}

/* ---- the tables ---- */

static inline void exi_tile_load_base(const float *base, exi_wide sums[EXI_TILE_WIDES]) {
    EXI_WRITE_OUT
    for (int i = 0; i < EXI_TILE_WIDES; i++)
        sums[i] = exi_load(base + i * EXI_WIDTH);
}

/* Addresses of the tables of the forms. Separate from ex_forms, since the compiler must assume that positions may
 * overwrite ex_forms. */
typedef struct exi_forms_tables {
    const float *base;
    const float *floats; /* or */
    const int16_t *shorts;
    size_t step; /* numbers from a tile's examples to the next tile's */
    int vertex_count;
} exi_forms_tables;

static inline exi_forms_tables exi_forms_tables_of(const ex_forms *forms) {
    const uintptr_t block = (uintptr_t)forms;
    return (exi_forms_tables){.base = (const float *)(block + (uintptr_t)forms->base),
                              .floats = (const float *)(block + (uintptr_t)forms->tiles),
                              .shorts = (const int16_t *)(block + (uintptr_t)forms->tiles),
                              .step = (size_t)forms->example_count * EXI_TILE_FLOATS,
                              .vertex_count = forms->vertex_count};
}

/* Adds the sums of tile a and, if `both`, of tile b; `both` and `is_float` are constants at the call. */
static inline void exi_tile_sum(const exi_forms_tables *t, const exi_sum *sum, int a, int b, bool both, bool is_float,
                                exi_wide sums[EXI_SIDE_BY_SIDE][EXI_TILE_WIDES]) {
    if (is_float)
        exi_tile_sum_floats(t->floats + (size_t)a * t->step, t->floats + (size_t)b * t->step, both, sum, sums);
    else
        exi_tile_sum_shorts(t->shorts + (size_t)a * t->step, t->shorts + (size_t)b * t->step, both, sum, sums);
}

#endif

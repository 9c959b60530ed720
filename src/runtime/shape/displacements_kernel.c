/*
 * The sum of displacement maps: sum over k of w_k d_k(v), with d_k in float or in 16 bit times a scale.
 *
 * Sums of a tile, or of four, stay in registers while the examples stream past.
 */
#include "runtime/base/simd.h"
#include "runtime/shape/displacements.h"

/* Registers of a tile, and tiles at a time. */
enum { TILE_WIDES = EXI_DISPLACED_TILE / EXI_WIDTH, TILES = EXI_WIDTH > 4 ? 4 : 1, SUMS = TILES * TILE_WIDES };

/* Sums `count` registers of numbers from `first` on; count and is_float are constants at the call. */
EXI_KERNEL void sum_tiles(const exi_displacement_sum *s, size_t first, int count, bool is_float, float *out) {
    exi_wide sums[SUMS];
    EXI_WRITE_OUT
    for (int i = 0; i < count; i++)
        sums[i] = exi_splat(0);
    for (int k = 0; k < s->term_count; k++) {
        const exi_displacement_term term = s->terms[k];
        const size_t begin = term.example * s->stride + first;
        if (is_float) {
            const exi_wide weight = exi_splat(term.weight);
            EXI_WRITE_OUT
            for (int i = 0; i < count; i++)
                sums[i] = exi_madd(exi_load(s->floats + begin + (size_t)i * EXI_WIDTH), weight, sums[i]);
        } else {
            enum { WIDES = EXI_SHORTS / EXI_WIDTH };
            const exi_wide weight = exi_splat(term.weight * s->scales[term.example]);
            EXI_WRITE_OUT
            for (int i = 0; i < count; i += WIDES) {
                exi_ints ints[WIDES];
                exi_shorts_widen(exi_shorts_load(s->shorts + begin + (size_t)i * EXI_WIDTH), ints);
                EXI_WRITE_OUT
                for (int j = 0; j < WIDES; j++)
                    sums[i + j] = exi_madd(exi_from_ints(ints[j]), weight, sums[i + j]);
            }
        }
    }
    EXI_WRITE_OUT
    for (int i = 0; i < count; i++)
        exi_store(out + i * EXI_WIDTH, sums[i]);
}

EXI_KERNEL void sum_all(const exi_displacement_sum *s, size_t first, int tile_count, bool is_float, float *out) {
    int t = 0;
    for (; t + TILES <= tile_count; t += TILES)
        sum_tiles(s, first + (size_t)t * EXI_DISPLACED_TILE, SUMS, is_float, out + t * EXI_DISPLACED_TILE);
    for (; t < tile_count; t++)
        sum_tiles(s, first + (size_t)t * EXI_DISPLACED_TILE, TILE_WIDES, is_float, out + t * EXI_DISPLACED_TILE);
}

EXI_ENTRY(exi_displacements_sum, (const exi_displacement_sum *sum, size_t first, int tile_count, float *out),
          (sum, first, tile_count, out)) {
    if (sum->floats)
        sum_all(sum, first, tile_count, true, out);
    else
        sum_all(sum, first, tile_count, false, out);
}

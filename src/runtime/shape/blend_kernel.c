/*
 * The dense blend: position(v) = base(v) + sum over k of w_k delta_k(v) (Shape by Example, equation 3).
 *
 * It must read 12 bytes per vertex and example (6 in 16 bit), once, and does two operations for every four bytes, so
 * memory bandwidth decides: the sums of a tile stay in registers while the tile's examples stream past. Two tiles, from
 * the two halves of the range, are processed side by side: two streams use more of the memory system than one (19
 * instead of 27 ns per vertex at 64 examples out of cache), also more than one stream with prefetch instructions (21).
 * Four streams are no better, and unrolling over examples was slower. A caller with several blends makes them one after
 * the other over a short range, which is then in a cache for all but the first.
 */
#include "runtime/shape/tiles.h"
#include "runtime/shape/trajectory.h"

/* Blends tile a and, if `both`, tile b; `both` and `is_float` are constants at the call. */
static inline void blend_pair(const exi_forms_tables *t, const exi_blend *blend, int a, int b, bool both,
                              bool is_float) {
    exi_wide sums[EXI_SIDE_BY_SIDE][EXI_TILE_WIDES];
    exi_tile_load_base(t->base + (size_t)a * EXI_TILE_FLOATS, sums[0]);
    exi_tile_load_base(t->base + (size_t)b * EXI_TILE_FLOATS, sums[1]);
    exi_tile_sum(t, &blend->sum, a, b, both, is_float, sums);
    exi_tile_finish(sums[0], blend, a, t->vertex_count);
    if (both)
        exi_tile_finish(sums[1], blend, b, t->vertex_count);
}

static inline void blend_all(const exi_forms_tables *t, const exi_blend *blend, int begin, int end, bool is_float) {
    const int half = EXI_TILES_AT_ONCE == 2 ? (end - begin) / 2 : 0;
    for (int tile = begin; tile < begin + half; tile++)
        blend_pair(t, blend, tile, tile + half, true, is_float);
    for (int tile = begin + 2 * half; tile < end; tile++)
        blend_pair(t, blend, tile, tile, false, is_float);
}

EXI_ENTRY(exi_forms_blend_tiles, (const ex_forms *forms, const exi_blend *blend, int begin, int end),
          (forms, blend, begin, end)) {
    const exi_forms_tables t = exi_forms_tables_of(forms);
    const exi_blend copy = *blend;
    if (copy.path_count > 0)
        exi_trajectories_blend_tiles(forms, &copy, begin, end);
    else if (forms->storage == EX_STORAGE_FLOAT)
        blend_all(&t, &copy, begin, end, true);
    else
        blend_all(&t, &copy, begin, end, false);
}

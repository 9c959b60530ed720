/*
 * The regional blend: position(v) += sum over k of w_k(v) delta_k(v), where w(v) = sum over v's regions r of s_r(v)
 * w_r.
 *
 * Weights of the vertices of a tile are made first, all examples of a vertex side by side; then the tile's examples
 * pass by as in the dense blend, each with a weight a lane. Convex weights are mostly 0, and so is what an example adds
 * to a whole tile: those are skipped. Examples come in blocks, so that the weights stay on the stack however many there
 * are.
 */
#include "runtime/shape/regions.h"

#include "runtime/shape/tiles.h"

#include <string.h>

/* Examples whose weights are made at a time. */
enum { BLOCK = 32 };

static const float *row_of(const exi_regions *r, uint32_t entry, float *share) {
    *share = r->influences.weights[entry];
    return r->weights + (size_t)r->influences.places[entry] * (size_t)r->width;
}

/* Weights first to first + count, a multiple of 4, of a vertex. */
static void weigh_vertex(const exi_regions *r, int vertex, int first, int count, float *out) {
    if (!r->influences.starts) {
        memcpy(out, r->weights + first, (size_t)count * sizeof *out);
        return;
    }
    const uint32_t begin = r->influences.starts[vertex], end = r->influences.starts[vertex + 1];
    for (int k = 0; k < count; k += 4) {
        exi_quad sum = exi_quad_splat(0);
        for (uint32_t i = begin; i < end; i++) {
            float share;
            const float *row = row_of(r, i, &share) + first;
            sum = exi_quad_madd(exi_quad_splat(share), exi_quad_load(row + k), sum);
        }
        exi_quad_store(out + k, sum);
    }
}

void exi_regions_vertex(const exi_regions *r, int vertex, float *out) {
    weigh_vertex(r, vertex, 0, r->width, out);
}

typedef struct tile_sum {
    exi_wide sums[EXI_TILE_WIDES];
} tile_sum;

/* One example of a tile, times a weight a lane. */
static inline void add_example(const ex_forms *forms, int tile, int example, const float weights[EXI_TILE],
                               tile_sum *sum) {
    const size_t at = ((size_t)tile * (size_t)forms->example_count + (size_t)example) * EXI_TILE_FLOATS;
    const void *tiles = (const void *)((uintptr_t)forms + (uintptr_t)forms->tiles);
    float wide[EXI_TILE_FLOATS];
    const float *values = (const float *)tiles + at;
    if (forms->storage != EX_STORAGE_FLOAT) {
        const float *scales = (const float *)((uintptr_t)forms + (uintptr_t)forms->scales);
        const int16_t *shorts = (const int16_t *)tiles + at;
        for (int i = 0; i < EXI_TILE_FLOATS; i++)
            wide[i] = (float)shorts[i] * scales[example];
        values = wide;
    }
    for (int half = 0; half < 2; half++) {
        const exi_wide w = exi_load(weights + half * EXI_WIDTH);
        for (int c = 0; c < 3; c++) {
            exi_wide *s = &sum->sums[2 * c + half];
            *s = exi_madd(w, exi_load(values + c * EXI_TILE + half * EXI_WIDTH), *s);
        }
    }
}

static void add_block(const exi_regions *r, const ex_forms *forms, int first, int tile, int block, int lanes,
                      tile_sum *sum, float *omegas) {
    float weights[EXI_TILE][BLOCK], lane[EXI_TILE] = {0};
    const int count = r->width - block < BLOCK ? r->width - block : BLOCK;
    for (int v = 0; v < lanes; v++) {
        weigh_vertex(r, tile * EXI_TILE + v, block, count, weights[v]);
        if (omegas)
            memcpy(omegas + (size_t)(tile * EXI_TILE + v) * (size_t)r->width + (size_t)block, weights[v],
                   (size_t)count * sizeof(float));
    }
    for (int k = 0; k < count && block + k < r->count; k++) {
        bool any = false;
        for (int v = 0; v < lanes; v++) {
            lane[v] = weights[v][k];
            any |= lane[v] != 0;
        }
        if (any)
            add_example(forms, tile, first + block + k, lane, sum);
    }
}

void exi_regions_add(const exi_regions *r, const ex_forms *forms, int first, int begin, int end, float *positions,
                     size_t stride, float *omegas) {
    for (int tile = begin / EXI_TILE; tile * EXI_TILE < end; tile++) {
        const int lanes = end - tile * EXI_TILE < EXI_TILE ? end - tile * EXI_TILE : EXI_TILE;
        tile_sum sum;
        for (int i = 0; i < EXI_TILE_WIDES; i++)
            sum.sums[i] = exi_splat(0);
        for (int block = 0; block < r->width; block += BLOCK)
            add_block(r, forms, first, tile, block, lanes, &sum, omegas);
        float values[EXI_TILE_FLOATS];
        for (int i = 0; i < EXI_TILE_WIDES; i++)
            exi_store(values + i * EXI_WIDTH, sum.sums[i]);
        for (int v = 0; v < lanes; v++) {
            float *p = (float *)((uintptr_t)positions + (uintptr_t)(tile * EXI_TILE + v) * stride);
            for (int c = 0; c < 3; c++)
                p[c] += values[c * EXI_TILE + v];
        }
    }
}

/*
 * The regional blend: position(v) += sum over k of w_k(v) delta_k(v), where w(v) = sum over v's regions r of s_r(v)
 * w_r.
 *
 * The weights of a tile's vertices are computed first, all examples of a vertex side by side; then the tile's examples
 * are added as in the dense blend, each with one weight per lane. Convex weights are mostly 0, often for a whole tile:
 * such examples are skipped. Examples are processed in blocks, so that the weights fit on the stack for any number of
 * examples.
 */
#include "runtime/shape/regions.h"

#include "runtime/shape/tiles.h"

#include <string.h>

/* Number of examples whose weights are computed at a time. */
enum { BLOCK = 16 };

static const float *row_of(const exi_regions *r, uint32_t entry, float *share) {
    *share = r->influences.weights[entry];
    return r->weights + (size_t)r->influences.places[entry] * (size_t)r->width;
}

/* Computes `quads` times four weights of a vertex from `first` on; quads is a constant at the call. */
EXI_KERNEL void weigh_quads(const exi_regions *r, uint32_t begin, uint32_t end, int first, int quads, float *out) {
    exi_quad sum[BLOCK / 4];
    for (int q = 0; q < quads; q++)
        sum[q] = exi_quad_splat(0);
    for (uint32_t i = begin; i < end; i++) {
        float share;
        const float *row = row_of(r, i, &share) + first;
        for (int q = 0; q < quads; q++)
            sum[q] = exi_quad_madd(exi_quad_splat(share), exi_quad_load(row + 4 * q), sum[q]);
    }
    for (int q = 0; q < quads; q++)
        exi_quad_store(out + 4 * q, sum[q]);
}

/* Computes a whole block. */
static inline void weigh_block(const exi_regions *r, uint32_t begin, uint32_t end, int first, float *out) {
    enum { WIDES = BLOCK / EXI_WIDTH };
    exi_wide sum[WIDES];
    EXI_WRITE_OUT
    for (int w = 0; w < WIDES; w++)
        sum[w] = exi_splat(0);
    for (uint32_t i = begin; i < end; i++) {
        float share;
        const float *row = row_of(r, i, &share) + first;
        EXI_WRITE_OUT
        for (int w = 0; w < WIDES; w++)
            sum[w] = exi_madd(exi_splat(share), exi_load(row + w * EXI_WIDTH), sum[w]);
    }
    EXI_WRITE_OUT
    for (int w = 0; w < WIDES; w++)
        exi_store(out + w * EXI_WIDTH, sum[w]);
}

/* Computes the weights first to first + count of a vertex; count is a multiple of 4 and at most BLOCK. */
static void weigh_vertex(const exi_regions *r, int vertex, int first, int count, float *out) {
    if (!r->influences.starts) {
        memcpy(out, r->weights + first, (size_t)count * sizeof *out);
        return;
    }
    const uint32_t begin = r->influences.starts[vertex], end = r->influences.starts[vertex + 1];
    switch (count / 4) {
    case 1:
        weigh_quads(r, begin, end, first, 1, out);
        break;
    case 2:
        weigh_quads(r, begin, end, first, 2, out);
        break;
    case 3:
        weigh_quads(r, begin, end, first, 3, out);
        break;
    default:
        weigh_block(r, begin, end, first, out);
        break;
    }
}

EXI_ENTRY(exi_regions_vertex, (const exi_regions *r, int vertex, float *out), (r, vertex, out)) {
    for (int k = 0; k < r->width; k += BLOCK)
        weigh_vertex(r, vertex, k, r->width - k < BLOCK ? r->width - k : BLOCK, out + k);
}

typedef struct tile_sum {
    exi_wide sums[EXI_TILE_WIDES];
} tile_sum;

/* Returns an example's numbers of a tile, as floats: in place, or in `room`. */
static inline const float *tile_of(const ex_forms *forms, int tile, int example, float *room) {
    const size_t at = ((size_t)tile * (size_t)forms->example_count + (size_t)example) * EXI_TILE_FLOATS;
    const void *tiles = (const void *)((uintptr_t)forms + (uintptr_t)forms->tiles);
    if (forms->storage == EX_STORAGE_FLOAT)
        return (const float *)tiles + at;
    const float scale = ((const float *)((uintptr_t)forms + (uintptr_t)forms->scales))[example];
    const int16_t *shorts = (const int16_t *)tiles + at;
    for (int i = 0; i < EXI_TILE_FLOATS; i++)
        room[i] = (float)shorts[i] * scale;
    return room;
}

/* Adds one example of a tile, with one weight per lane. */
static inline void add_example(const float *values, const float weights[EXI_TILE], tile_sum *sum) {
    for (int i = 0; i < EXI_AXIS_WIDES; i++) {
        const exi_wide w = exi_load(weights + i * EXI_WIDTH);
        for (int c = 0; c < 3; c++) {
            exi_wide *s = &sum->sums[EXI_AXIS_WIDES * c + i];
            *s = exi_madd(w, exi_load(values + c * EXI_TILE + i * EXI_WIDTH), *s);
        }
    }
}

/* Transposes the weights of a tile's vertices, [vertex][key], four by four. */
static inline void turn_round(const float (*weights)[BLOCK], int count, float (*lanes)[EXI_TILE]) {
    for (int v = 0; v < EXI_TILE; v += 4)
        for (int k = 0; k < count; k += 4) {
            exi_quad m[4];
            for (int i = 0; i < 4; i++)
                m[i] = exi_quad_load(weights[v + i] + k);
            exi_quad_transpose(m);
            for (int i = 0; i < 4; i++)
                exi_quad_store(lanes[k + i] + v, m[i]);
        }
}

static inline bool any_weight(const float weights[EXI_TILE]) {
    exi_wide sum = exi_load(weights);
    for (int i = 1; i < EXI_AXIS_WIDES; i++)
        sum = exi_add(sum, exi_load(weights + i * EXI_WIDTH));
    return exi_any_above(sum, exi_splat(0));
}

static void add_block(const exi_regions *r, const ex_forms *forms, int first, int tile, int block, int lanes,
                      tile_sum *sum, float *omegas) {
    float weights[EXI_TILE][BLOCK], turned[BLOCK][EXI_TILE], room[EXI_TILE_FLOATS];
    const int count = r->width - block < BLOCK ? r->width - block : BLOCK;
    for (int v = 0; v < lanes; v++) {
        weigh_vertex(r, tile * EXI_TILE + v, block, count, weights[v]);
        if (omegas)
            memcpy(omegas + (size_t)(tile * EXI_TILE + v) * (size_t)r->width + (size_t)block, weights[v],
                   (size_t)count * sizeof(float));
    }
    for (int v = lanes; v < EXI_TILE; v++)
        memset(weights[v], 0, sizeof weights[v]);
    turn_round((const float(*)[BLOCK])weights, count, turned);
    for (int k = 0; k < count && block + k < r->count; k++)
        if (any_weight(turned[k]))
            add_example(tile_of(forms, tile, first + block + k, room), turned[k], sum);
}

/* Adds the sums to the positions of a tile. */
static inline void add_positions(const tile_sum *sum, int lanes, float *positions, size_t stride) {
    if (lanes == EXI_TILE && stride == 3 * sizeof(float)) {
        EXI_WRITE_OUT
        for (int i = 0; i < EXI_AXIS_WIDES; i++, positions += 3 * EXI_WIDTH) {
            exi_wide p[3];
            exi_load_triples(positions, p);
            EXI_WRITE_OUT
            for (int c = 0; c < 3; c++)
                p[c] = exi_add(p[c], sum->sums[EXI_AXIS_WIDES * c + i]);
            exi_store_triples(positions, p[0], p[1], p[2]);
        }
        return;
    }
    float values[EXI_TILE_FLOATS];
    for (int i = 0; i < EXI_TILE_WIDES; i++)
        exi_store(values + i * EXI_WIDTH, sum->sums[i]);
    for (int v = 0; v < lanes; v++) {
        float *p = (float *)((uintptr_t)positions + (uintptr_t)v * stride);
        for (int c = 0; c < 3; c++)
            p[c] += values[c * EXI_TILE + v];
    }
}

EXI_ENTRY(exi_regions_add,
          (const exi_regions *r, const ex_forms *forms, int first, int begin, int end, float *positions, size_t stride,
           float *omegas),
          (r, forms, first, begin, end, positions, stride, omegas)) {
    for (int tile = begin / EXI_TILE; tile * EXI_TILE < end; tile++) {
        const int lanes = end - tile * EXI_TILE < EXI_TILE ? end - tile * EXI_TILE : EXI_TILE;
        tile_sum sum;
        for (int i = 0; i < EXI_TILE_WIDES; i++)
            sum.sums[i] = exi_splat(0);
        for (int block = 0; block < r->width; block += BLOCK)
            add_block(r, forms, first, tile, block, lanes, &sum, omegas);
        add_positions(&sum, lanes, (float *)((uintptr_t)positions + (uintptr_t)(tile * EXI_TILE) * stride), stride);
    }
}

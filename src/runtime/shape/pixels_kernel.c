/*
 * Sums of images, as Shape by Example blends textures (its equation 3, on pixels): per channel
 *
 *   out = encode(sum over k of w_k decode(image_k))
 *
 * where decode and encode are those of sRGB for colours, and do nothing for alpha and data images.
 *
 * It must read 4 bytes per pixel and image and write 4, but for colours the lookups dominate, three for each of those
 * reads. So each weight is multiplied into its own table, once, and a lookup is followed by an addition only; pixels
 * are read two at a time, and eight images are added to sums in registers (pixels.c; docs/performance.md). With
 * AVX-512, the whole table in registers and sixteen codes looked up at a time took as long. The sums of a block of
 * pixels stay in the first-level cache. Terms are added one after the other, with product and sum rounded each, so the
 * bytes do not depend on the instruction set or on where a range is cut. Little-endian, as packs are.
 */
#include "runtime/shape/pixels.h"

#include "runtime/base/simd.h"
#include "runtime/shape/srgb.h"

#include <math.h>
#include <string.h>

/* TILE: pixels that kernels process at a time. */
enum { BLOCK = 512, TILE = EXI_WIDTH, GROUP = 8, FOUR_WIDES = 16 / EXI_WIDTH };

/* Limit of weights: larger ones act like this one, and give black or white; sums of a million such terms stay
 * finite. */
#define LARGEST_WEIGHT 1e25f

/* At this size a float has no room for a fraction: adding it rounds to an integer, which is in the low byte. */
#define INTEGERS 12582912.0f

/* Terms added in one pass over a block. */
typedef struct group {
    int count;
    const unsigned char *images[GROUP];
    float weights[GROUP];
    float linear[GROUP][EXI_PIXELS_CODES]; /* sRGB: weight times decoded code */
} group;

/* The sums of a block. Kernels work on whole tiles. */
typedef union block {
    struct {
        float colours[BLOCK][3], alphas[BLOCK];
    } srgb;
    float data[BLOCK][4];
} block;

/* ---- terms ---- */

/* Collects the next terms with non-zero weights, from `next` on; returns where to continue. */
static int fill_group(const exi_pixels_term *terms, int next, int term_count, bool srgb, group *g) {
    for (g->count = 0; next < term_count && g->count < GROUP; next++) {
        float weight = terms[next].weight;
        if (weight == 0 || !isfinite(weight))
            continue;
        weight = weight > LARGEST_WEIGHT ? LARGEST_WEIGHT : weight < -LARGEST_WEIGHT ? -LARGEST_WEIGHT : weight;
        g->images[g->count] = terms[next].image;
        g->weights[g->count] = weight;
        for (int code = 0; srgb && code < EXI_PIXELS_CODES; code++)
            g->linear[g->count][code] = weight * exi_srgb_linear[code];
        g->count++;
    }
    return next;
}

/* ---- sums; `count`, of terms, is a constant at the calls ---- */

EXI_KERNEL void add_alphas(const unsigned char *const *images, const float *weights, int count, int pixel_count,
                           float *sums) {
    const unsigned char *at[GROUP];
    exi_wide factors[GROUP];
    EXI_WRITE_OUT
    for (int t = 0; t < count; t++) {
        at[t] = images[t];
        factors[t] = exi_splat(weights[t]);
    }
    for (int i = 0; i < pixel_count; i += TILE) {
        exi_wide sum = exi_load(sums + i);
        EXI_WRITE_OUT
        for (int t = 0; t < count; t++)
            sum = exi_add(sum, exi_mul(factors[t], exi_load_fourth_bytes(at[t] + 4 * i)));
        exi_store(sums + i, sum);
    }
}

EXI_KERNEL void add_data(const unsigned char *const *images, const float *weights, int count, int pixel_count,
                         float (*sums)[4]) {
    const unsigned char *at[GROUP];
    exi_wide factors[GROUP];
    EXI_WRITE_OUT
    for (int t = 0; t < count; t++) {
        at[t] = images[t];
        factors[t] = exi_splat(weights[t]);
    }
    for (int i = 0; i < pixel_count; i += 4) {
        exi_wide four[FOUR_WIDES], bytes[FOUR_WIDES];
        EXI_WRITE_OUT
        for (int k = 0; k < FOUR_WIDES; k++)
            four[k] = exi_load(sums[i] + k * EXI_WIDTH);
        EXI_WRITE_OUT
        for (int t = 0; t < count; t++) {
            exi_load_bytes(at[t] + 4 * i, bytes);
            EXI_WRITE_OUT
            for (int k = 0; k < FOUR_WIDES; k++)
                four[k] = exi_add(four[k], exi_mul(factors[t], bytes[k]));
        }
        EXI_WRITE_OUT
        for (int k = 0; k < FOUR_WIDES; k++)
            exi_store(sums[i] + k * EXI_WIDTH, four[k]);
    }
}

EXI_KERNEL void add_terms(const group *g, const unsigned char *const *images, int first_term, int count, bool srgb,
                          int first, int pixel_count, block *b) {
    images += first_term;
    const float *weights = g->weights + first_term;
    if (srgb) {
        exi_pixels_add_colours(images, g->linear + first_term, count, pixel_count, b->srgb.colours + first);
        add_alphas(images, weights, count, pixel_count, b->srgb.alphas + first);
    } else {
        add_data(images, weights, count, pixel_count, b->data + first);
    }
}

/* Adds whole tiles of the block from pixel `first` on, whose bytes are at `images`. */
static void add_tiles(const group *g, const unsigned char *const *images, bool srgb, int first, int pixel_count,
                      block *b) {
    int t = 0;
    for (; t + 8 <= g->count; t += 8)
        add_terms(g, images, t, 8, srgb, first, pixel_count, b);
    for (; t + 4 <= g->count; t += 4)
        add_terms(g, images, t, 4, srgb, first, pixel_count, b);
    for (; t < g->count; t++)
        add_terms(g, images, t, 1, srgb, first, pixel_count, b);
}

static void add_group(const group *g, bool srgb, size_t begin, int pixel_count, block *b) {
    const int whole = pixel_count / TILE * TILE, left = pixel_count - whole;
    const unsigned char *images[GROUP];
    for (int t = 0; t < g->count; t++)
        images[t] = g->images[t] + 4 * begin;
    add_tiles(g, images, srgb, 0, whole, b);
    if (left == 0)
        return;
    /* The last tile is incomplete: work on a padded copy. */
    unsigned char copies[GROUP][4 * TILE] = {{0}};
    for (int t = 0; t < g->count; t++) {
        memcpy(copies[t], images[t] + 4 * whole, 4 * (size_t)left);
        images[t] = copies[t];
    }
    add_tiles(g, images, srgb, whole, TILE, b);
}

/* ---- back to 8 bits ---- */

static inline exi_wide clamp(exi_wide a, float low, float high) {
    return exi_min(exi_max(a, exi_splat(low)), exi_splat(high));
}

/* Clamps colours to the range of the encoder and rounds alphas to integers, to the end of the last tile. */
static void prepare(block *b, int pixel_count) {
    for (int i = 0; i < pixel_count; i += TILE) {
        float *colours = b->srgb.colours[i], *alphas = b->srgb.alphas + i;
        for (int k = 0; k < 3 * TILE; k += EXI_WIDTH)
            exi_store(colours + k, clamp(exi_load(colours + k), EXI_SRGB_LOWEST, EXI_SRGB_HIGHEST));
        exi_store(alphas, exi_add(clamp(exi_load(alphas), 0, 255), exi_splat(INTEGERS)));
    }
}

/* A pixel is put together as one number: from single bytes, gcc builds a vector one element at a time. It is kept in
 * its register: where there are gathers, gcc builds vectors of several pixels with them, which takes longer. */
static inline void finish_tile_srgb(const float colours[TILE][3], const float alphas[TILE], unsigned char *out) {
    for (int k = 0; k < TILE; k++) {
        uint32_t alpha;
        memcpy(&alpha, alphas + k, sizeof alpha);
        uint32_t pixel = exi_srgb_encode(colours[k][0]) | exi_srgb_encode(colours[k][1]) << 8 |
                         exi_srgb_encode(colours[k][2]) << 16 | alpha << 24;
        if (EXI_WIDTH > 4)
            EXI_KEEP(pixel);
        memcpy(out + 4 * k, &pixel, sizeof pixel);
    }
}

static inline void finish_tile_data(const float sums[TILE][4], unsigned char *out) {
    for (int i = 0; i < TILE; i += 4) {
        exi_wide four[FOUR_WIDES];
        EXI_WRITE_OUT
        for (int k = 0; k < FOUR_WIDES; k++)
            four[k] = clamp(exi_load(sums[i] + k * EXI_WIDTH), 0, 255);
        exi_store_bytes(out + 4 * i, four);
    }
}

static inline void finish_tile(const block *b, bool srgb, int first, unsigned char *out) {
    if (srgb)
        finish_tile_srgb(b->srgb.colours + first, b->srgb.alphas + first, out);
    else
        finish_tile_data(b->data + first, out);
}

static void finish(block *b, bool srgb, int pixel_count, unsigned char *out) {
    int i = 0;
    if (srgb)
        prepare(b, pixel_count);
    for (; i + TILE <= pixel_count; i += TILE)
        finish_tile(b, srgb, i, out + 4 * i);
    if (i < pixel_count) {
        unsigned char tile[4 * TILE];
        finish_tile(b, srgb, i, tile);
        memcpy(out + 4 * i, tile, 4 * (size_t)(pixel_count - i));
    }
}

/* ---- entry point ---- */

EXI_ENTRY(exi_pixels_blend,
          (const exi_pixels_term *terms, int term_count, bool srgb, size_t begin, size_t end, unsigned char *out),
          (terms, term_count, srgb, begin, end, out)) {
    group g;
    block b;
    int next = fill_group(terms, 0, term_count, srgb, &g);
    const bool one_group = next >= term_count; /* the usual case; made only once then */
    for (size_t first = begin; first < end; first += BLOCK) {
        const int pixel_count = end - first < BLOCK ? (int)(end - first) : BLOCK;
        memset(&b, 0, sizeof b);
        if (!one_group && first != begin)
            next = fill_group(terms, 0, term_count, srgb, &g);
        add_group(&g, srgb, first, pixel_count, &b);
        while (next < term_count) {
            next = fill_group(terms, next, term_count, srgb, &g);
            add_group(&g, srgb, first, pixel_count, &b);
        }
        finish(&b, srgb, pixel_count, out + 4 * first);
    }
}

/*
 * The inside of ex_forms: one block, a head and tables behind it at offsets, no pointers. Vertices stand in tiles of 8
 * (16 with AVX2), x of all, then y, then z. A tile of the base comes alone; tiles of the examples come one example
 * after the other for the first tile, then for the second, and so on, so that a blend reads streams. The layout belongs
 * to the build, not to a file. What fills up the last tile means nothing.
 *
 * 16-bit tiles hold differences as integers in [-32767, 32767], times a scale per example.
 */
#ifndef EXI_FORMS_H
#define EXI_FORMS_H

#include "runtime/base/simd.h"

#include <exemplar/shape.h>

/* Two wides a coordinate: 16-bit numbers come out of their load as two, and two tiles of six sums leave registers free
 * even where there are only sixteen. */
#define EXI_TILE        (2 * EXI_WIDTH)
#define EXI_TILE_FLOATS (3 * EXI_TILE)

struct ex_forms {
    uint64_t size;
    int32_t vertex_count, example_count, tile_count, storage;
    uint64_t base;   /* [tile_count][EXI_TILE_FLOATS] float */
    uint64_t scales; /* [example_count] float, 16-bit storage: difference = integer * scale */
    uint64_t tiles;  /* [tile_count][example_count][EXI_TILE_FLOATS] float or int16_t */
};

/* An example that takes part in a blend. */
typedef struct exi_term {
    uint32_t end; /* where the example's numbers end, counted from the start of a tile's examples */
    union {
        float factor;  /* float storage: the weight */
        int32_t whole; /* 16-bit storage: weight times scale, in units of exi_sum.unit, within [-32767, 32767] */
    };
} exi_term;

/* Counts are set; fills in offsets and size. False where the size overflows. */
bool exi_forms_layout(ex_forms *forms);

/*
 * Writes base positions or an example's difference into its tiles. values [..][3] are read at `gather[v]`, or at v
 * where gather is NULL, times mask[v] where there is a mask. False and the vertex where a number is not finite.
 */
bool exi_forms_set_base(ex_forms *forms, const float *positions, const uint32_t *gather, int *bad_vertex);
bool exi_forms_set_example(ex_forms *forms, int example, const float *deltas, const uint32_t *gather, const float *mask,
                           int *bad_vertex);

/* Reads them back: one vertex, or all [vertex_count][3]. */
void exi_forms_get_base_vertex(const ex_forms *forms, int vertex, float position[3]);
void exi_forms_get_vertex(const ex_forms *forms, int example, int vertex, float delta[3]);
void exi_forms_get_base(const ex_forms *forms, float *positions);
void exi_forms_get_example(const ex_forms *forms, int example, float *delta);

/* Which examples are summed. */
typedef struct exi_sum {
    const exi_term *terms;
    int term_count;
    float unit; /* 16-bit storage: what a unit of the integer sum is worth */
} exi_sum;

/* A blend: which examples, and where it goes. */
typedef struct exi_blend {
    exi_sum sum;
    const struct exi_trajectory *paths; /* trajectories that are added (trajectory.h) */
    int path_count;
    float *positions; /* or NULL */
    size_t stride;
    float *box; /* [6], grown; or NULL */
} exi_blend;

/* Sets the terms of a sum over `count` examples from the first on: those whose weight is not 0. weights are those of
 * all examples; terms has room for `count`. */
void exi_forms_set_terms(const ex_forms *forms, const float *weights, int first, int count, exi_term *terms,
                         exi_sum *sum);

/* Tiles begin to end of a blend. */
void exi_forms_blend_tiles(const ex_forms *forms, const exi_blend *blend, int begin, int end);

#endif

/*
 * Layout of ex_forms: one block with a head and tables at offsets, without pointers. Vertices are in tiles of 8 (16 on
 * x86-64): x of all, then y, then z. The base has its own table of tiles. The tiles of the examples come one example
 * after the other for the first tile, then for the second, and so on, so that a blend reads streams. The layout belongs
 * to the build, not to a file. Padding of the last tile is meaningless.
 *
 * 16-bit tiles hold differences as integers in [-32767, 32767], times a scale per example.
 */
#ifndef EXI_FORMS_H
#define EXI_FORMS_H

#include <exemplar/shape.h>

/* The same for all instruction sets of a build. With lanes of 4 on Arm and of 8 with AVX2, these are two registers per
 * coordinate: two tiles of six sums leave some registers free even if there are only sixteen. */
#if defined(__x86_64__) || defined(_M_X64)
#define EXI_TILE 16
#else
#define EXI_TILE 8
#endif
#define EXI_TILE_FLOATS (3 * EXI_TILE)

/* Minor examples summed at a time: four take 0.8 of the time of four single ones. */
enum { EXI_MINOR_STEP = 4, EXI_MINOR_GROUPS = 4 };

struct ex_forms {
    uint64_t size;
    int32_t vertex_count, example_count, tile_count, storage;
    uint64_t base;   /* [tile_count][EXI_TILE_FLOATS] float */
    uint64_t scales; /* [example_count] float, 16-bit storage: difference = integer * scale */
    uint64_t tiles;  /* [tile_count][example_count][EXI_TILE_FLOATS] float or int16_t */
};

/* An example with a non-zero weight in a blend. */
typedef struct exi_term {
    uint32_t end; /* end of the example's numbers, counted from the start of a tile's examples */
    union {
        float factor;  /* float storage: the weight */
        int32_t whole; /* 16-bit storage: weight times scale, in units of exi_sum.unit, within [-32767, 32767] */
    };
    int16_t room[EXI_TILE]; /* for the factors of a minor example, which follow the terms */
} exi_term;

/* Sets offsets and size from the counts. Returns false if the size overflows. */
bool exi_forms_layout(ex_forms *forms);

/*
 * Write base positions or an example's difference into its tiles. values [..][3] are read at `gather[v]`, or at v if
 * gather is NULL, times mask[v] if there is a mask. They return false, with the vertex, if a number is not finite.
 */
bool exi_forms_set_base(ex_forms *forms, const float *positions, const uint32_t *gather, int *bad_vertex);
bool exi_forms_set_example(ex_forms *forms, int example, const float *deltas, const uint32_t *gather, const float *mask,
                           int *bad_vertex);

/* Read them back: one vertex, or all [vertex_count][3]. */
void exi_forms_get_base_vertex(const ex_forms *forms, int vertex, float position[3]);
void exi_forms_get_vertex(const ex_forms *forms, int example, int vertex, float delta[3]);
void exi_forms_get_base(const ex_forms *forms, float *positions);
void exi_forms_get_example(const ex_forms *forms, int example, float *delta);

/* Minor examples: examples side by side that are small beside the others, summed in 16 bits. */
typedef struct exi_minors {
    int count;              /* a multiple of EXI_MINOR_STEP */
    uint32_t start;         /* of their numbers, counted from the start of a tile's examples */
    float unit;             /* value of one unit of the sum */
    const int16_t *factors; /* [count][EXI_TILE]: weight times scale in units of unit / 32768, in every lane */
} exi_minors;

/* The examples of a sum. In 16-bit storage, the last ones may be in groups of minor examples; groups are at most 0.71
 * of the sum of sizes, so a sum that has them has terms too. */
typedef struct exi_sum {
    const exi_term *terms;
    int term_count, group_count;
    float unit; /* 16-bit storage: value of one unit of the integer sum of terms */
    exi_minors groups[EXI_MINOR_GROUPS];
} exi_sum;

/* A blend: its examples and its output. */
typedef struct exi_blend {
    exi_sum sum;
    const struct exi_trajectory *paths; /* trajectories that are added (trajectory.h) */
    int path_count;
    float *positions; /* or NULL */
    size_t stride;
    float *box; /* [6], grown; or NULL */
} exi_blend;

/* Sets the terms of a sum: those of the `count` examples from `first` on whose weight is not 0. weights are those of
 * all examples; terms has room for `count`. minors: true to look for minor examples. A rig that a GPU may evaluate has
 * none, so that both round alike. */
void exi_forms_set_terms(const ex_forms *forms, const float *weights, int first, int count, bool minors,
                         exi_term *terms, exi_sum *sum);

/* Blends tiles begin to end. */
void exi_forms_blend_tiles(const ex_forms *forms, const exi_blend *blend, int begin, int end);

#endif

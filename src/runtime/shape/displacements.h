/*
 * Layout of a displacement layer: numbers along the normals of a refined surface, a few hundred examples of which blend
 * to one number per vertex. One block with a head and tables at offsets, without pointers.
 *
 * Only vertices that some example displaces are listed, ascending. Numbers are stored one example after the other, so
 * that examples of weight 0 are not read. Refined vertices keep their numbers from level to level: the vertices of a
 * level before the last are the beginning of the list. 16-bit numbers are integers in [-32767, 32767], times a scale
 * per example.
 */
#ifndef EXI_DISPLACEMENTS_H
#define EXI_DISPLACEMENTS_H

#include <exemplar/base.h>
#include <exemplar/shape.h>

/* Vertices displaced at a time: a piece whose sums stay in the cache, and a task. */
#define EXI_DISPLACED 1024

/* Numbers summed at a time, to which examples are padded: a whole number of registers in all sets. */
#define EXI_DISPLACED_TILE 16

typedef struct exi_displacements {
    uint64_t size;
    int32_t vertex_count; /* of the refined surface */
    int32_t listed_count, example_count, storage;
    uint64_t stride;   /* numbers from one example to the next: listed_count, padded with zeros */
    uint64_t vertices; /* [listed_count] uint32_t, ascending */
    uint64_t scales;   /* [example_count] float, 16-bit storage: displacement = integer * scale */
    uint64_t peaks;    /* [example_count] float: largest absolute displacement */
    uint64_t values;   /* [example_count][stride] float or int16_t */
} exi_displacements;

typedef struct exi_displacements_def {
    int vertex_count, example_count, listed_count;
    const uint32_t *vertices; /* [listed_count] ascending; NULL: to be filled in later */
    ex_storage storage;
} exi_displacements_def;

/* An example with a non-zero weight. */
typedef struct exi_displacement_term {
    uint32_t example;
    float weight;
} exi_displacement_term;

/* Lists the vertices that any of maps [example_count] of [vertex_count] displaces where the mask (or NULL) is not 0,
 * and returns their number; vertices may be NULL. Values that are not finite are listed. */
int exi_displacements_list(const float *const *maps, int example_count, int vertex_count, const float *mask,
                           uint32_t *vertices);

/* Makes the block, with all displacements 0. Release with exi_block_destroy. */
ex_result exi_displacements_create(const exi_displacements_def *def, const ex_allocator *allocator,
                                   exi_displacements **made, ex_error *error);

/* Sets an example from values, one per vertex (dense) or one per listed vertex, times mask (one per vertex, or NULL).
 * Returns false, with the vertex, if a number is not finite. */
bool exi_displacements_set(exi_displacements *d, int example, const float *values, bool dense, const float *mask,
                           uint32_t *bad_vertex);

/* Gets an example's values: one per listed vertex. */
void exi_displacements_get(const exi_displacements *d, int example, float *values);

static inline const uint32_t *exi_displacements_vertices(const exi_displacements *d) {
    return (const uint32_t *)((uintptr_t)d + (uintptr_t)d->vertices);
}

/* Adds the sum over terms of weight times displacement to out [end - begin], for vertices begin to end, at most
 * EXI_DISPLACED. */
void exi_displacements_add(const exi_displacements *d, const exi_displacement_term *terms, int term_count, int begin,
                           int end, float *out);

/* Inputs of a sum. Separate from the block, since the compiler must assume that outputs may overwrite the block. */
typedef struct exi_displacement_sum {
    const float *floats; /* or NULL, and */
    const int16_t *shorts;
    const float *scales;
    size_t stride;
    const exi_displacement_term *terms;
    int term_count;
} exi_displacement_sum;

/* Sums numbers `first` to first + tile_count * EXI_DISPLACED_TILE. */
void exi_displacements_sum(const exi_displacement_sum *sum, size_t first, int tile_count, float *out);

/* Returns an upper bound of any vertex's displacement: sum over terms of |weight| times peak. */
double exi_displacements_bound(const exi_displacements *d, const exi_displacement_term *terms, int term_count);

#endif

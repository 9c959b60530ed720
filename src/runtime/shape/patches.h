/*
 * Sparse offsets laid out for the sum. A patch is a few vertices of one chunk and the examples of one layer that move
 * them: vertex after vertex, and for each its offsets, example after example. Vertices that no example moves are not
 * stored and cost nothing.
 *
 * However vertices are cut into patches, a vertex gets its offsets one by one in the order of layers and examples, each
 * with one multiply-add: vertices that coincide and move alike stay together to the bit.
 *
 * One block with a head and tables at offsets, without pointers. The layout belongs to the build, not to a file.
 */
#ifndef EXI_PATCHES_H
#define EXI_PATCHES_H

#include "runtime/shape/forms.h"

/* Size of a chunk in tiles: a chunk is blended, offset and posed before the next one starts. */
#define EXI_CHUNK_TILES 128
#define EXI_CHUNK       (EXI_CHUNK_TILES * EXI_TILE)

typedef struct exi_patches {
    uint64_t size;
    int32_t vertex_count, chunk_count;
    uint64_t starts;         /* [chunk_count + 1] uint32_t: the patches of each chunk */
    uint64_t touched_starts; /* [chunk_count + 1] uint32_t: the part of `touched` of each chunk */
    uint64_t touched;        /* uint16_t: all vertices of a chunk that are in any patch, ascending */
    uint64_t patches;        /* exi_patch */
    uint64_t places;         /* uint16_t: vertices within their chunk */
    uint64_t terms;          /* uint32_t: indices of weights */
    uint64_t numbers; /* float: of each patch [count][term_count][3]; one more at the end, which is read but not used */
} exi_patches;

typedef struct exi_patch {
    uint64_t numbers; /* its first number */
    uint64_t places;  /* its first place */
    uint32_t terms;   /* its first term */
    int32_t count, term_count;
    int32_t layer; /* index of the layer it was made from */
} exi_patch;

/* A layer to be put into patches. */
typedef struct exi_offset_layer {
    const ex_offsets *examples; /* [example_count]; vertices of the mesh, ascending */
    int example_count;
    const char *const *names; /* [example_count] for errors, or NULL */
    const float *mask;        /* [vertex_count] or NULL */
    bool moved;               /* true: one weight for every set of examples that moves a vertex and every example in it;
                                 false: one per example */
    int first_weight;         /* index of its first weight */
    int part;                 /* the part whose patches it goes into */
} exi_offset_layer;

/* The examples that move each vertex. Entries of 0 0 0 do not count. */
typedef struct exi_incidence {
    int vertex_count;    /* number of vertices that are moved */
    uint32_t *vertices;  /* [vertex_count], ascending */
    uint32_t *starts;    /* [vertex_count + 1] */
    uint32_t *examples;  /* ascending for each vertex */
    uint32_t *places;    /* index of each in its example's list */
    uint32_t *set_of;    /* [vertex_count] */
    int set_count;       /* different sets, in order of first appearance */
    uint32_t *first_of;  /* [set_count]: first vertex (its index here) of each set */
    uint32_t *weight_of; /* [set_count + 1]: number of examples of the sets before it */
    const ex_allocator *allocator;
    void *memory;
    size_t size;
} exi_incidence;

/* mesh_count: vertices of the mesh. Results: DATA (a vertex out of range or order, or a number that is not finite;
 * gives the numbers of example and entry), MEMORY, LIMIT. Close it even after failure. */
ex_result exi_incidence_open(const exi_offset_layer *layer, int mesh_count, const ex_allocator *allocator,
                             exi_incidence *sets, ex_error *error);
void exi_incidence_close(exi_incidence *sets);
/* Gets the sets in the layout of ex_weigher_def: [set_count][(example_count + 31) / 32]. */
void exi_incidence_bits(const exi_incidence *sets, int example_count, uint32_t *bits);

/* Lays out the layers of one part; sets [layer_count] are theirs. Makes a block, to be released with exi_block_destroy;
 * NULL if there is nothing to lay out. */
ex_result exi_patches_create(const exi_offset_layer *layers, const exi_incidence *sets, int layer_count, int part,
                             int mesh_count, const ex_allocator *allocator, exi_patches **patches, ex_error *error);

/* True if a chunk has any patches; patches may be NULL. */
bool exi_patches_has(const exi_patches *patches, int chunk);

/* Sums of a chunk's vertices: x y z and a meaningless fourth number. */
typedef struct exi_patch_sums {
    float sums[EXI_CHUNK][4];
    const uint16_t *touched; /* [touched_count]: the places that have a sum; other sums are not set */
    int touched_count;
} exi_patch_sums;

/* Sum over terms of weight * offset, for the chunk's vertices. Weights of 0 cost nothing. */
void exi_patches_sum(const exi_patches *patches, int chunk, const float *weights, exi_patch_sums *out);

/* position += sum, for the chunk's vertices; position points to the entry of the chunk's first vertex. */
void exi_patches_add(const exi_patches *patches, int chunk, const float *weights, float *position, size_t stride);

/* Reads an example back: calls visit for every vertex that it moves, in ascending order. weight_examples: the example
 * that each weight, of all layers, belongs to. */
typedef void (*exi_offset_visit)(void *context, uint32_t vertex, const float delta[3]);
void exi_patches_visit(const exi_patches *patches, int layer, uint32_t example, const uint32_t *weight_examples,
                       exi_offset_visit visit, void *context);

#endif

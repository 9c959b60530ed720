/*
 * Layout of ex_stencils: one block with a head, one table per level and one for the limit, without pointers; offsets
 * count from the start of the block. A table is a sequence of batches of two kinds:
 *
 *   shared   up to EXI_BATCH_SHARED vertices that gather from the same control vertices: these are stored once.
 *            Vertices are in blocks of EXI_STENCIL_BLOCK, the last padded to whole quads. The weights of a block
 *            follow one control vertex after the other, those of all its vertices side by side:
 *            weights [block][support][width], tangents [block][support][width / 4][2][4]
 *   loose    vertices with the same number of control vertices, each with its own list:
 *            support [vertices][support], weights the same, tangents [vertices][support][2]
 *
 * All vertices that a refined face of the cage encloses gather from the same control vertices, so nearly everything is
 * shared from level 3 on, and nearly everything loose at level 1. The layout belongs to the build, not to a file, and
 * is one for all instruction sets.
 */
#ifndef EXI_STENCILS_H
#define EXI_STENCILS_H

#include <exemplar/refine.h>

/* Vertices of a batch and of a block. Sums are in twelve registers, three for each register of weights: a block has
 * four of the narrowest, so that its weights are read in one stream; wide sets read several blocks side by side. */
enum { EXI_STENCIL_BLOCK = 16, EXI_STENCIL_PAD = 4, EXI_BATCH_LOOSE = 64 };
#if defined(__x86_64__) || defined(_M_X64)
#define EXI_BATCH_SHARED (4 * EXI_STENCIL_BLOCK)
#else
#define EXI_BATCH_SHARED EXI_STENCIL_BLOCK
#endif

typedef struct exi_stencil_batch {
    uint32_t support_count; /* control vertices per vertex */
    uint16_t vertex_count;
    uint16_t width;    /* vertex_count with padding; 0: a loose batch */
    uint32_t vertices; /* start of its part of each array */
    uint32_t support;
    uint64_t weights; /* tangents: twice that */
} exi_stencil_batch;

typedef struct exi_stencil_table {
    int32_t vertex_count, batch_count;
    int32_t weight_count; /* in the rows, without the padding of tiles */
    int32_t has_tangents;
    uint64_t batches;  /* exi_stencil_batch */
    uint64_t vertices; /* uint32_t: vertex of the level; ascending within a batch */
    uint64_t support;  /* uint32_t: control vertex */
    uint64_t weights;  /* float */
    uint64_t tangents; /* float */
} exi_stencil_table;

struct ex_stencils {
    uint64_t size;
    int32_t control_count, level_count, has_limit, table_count;
    uint64_t tables; /* exi_stencil_table: levels 1 to level_count, then the limit */
};

/* Returns NULL if the level does not exist, or is 0. */
const exi_stencil_table *exi_stencils_table(const ex_stencils *stencils, int level);

/* ex_stencils_read of an existing level, in float, which loses nothing. */
void exi_stencils_read_floats(const ex_stencils *stencils, int level, int *offsets, int *indices, float *weights,
                              float *tangents);

/* Data for a run of batches. control [control_count][4]: x y z and padding. Separate from the block, since the compiler
 * must assume that outputs may overwrite the block. */
typedef struct exi_stencil_pass {
    const exi_stencil_batch *batches;
    const uint32_t *vertices, *support;
    const float *weights, *tangents;
    const float *control;
    float *positions, *normals; /* either may be NULL */
    size_t position_stride, normal_stride;
} exi_stencil_pass;

/* Computes the vertices of some batches. */
void exi_stencils_run(const exi_stencil_pass *pass, int begin, int end);

/*
 * Assignment of a table's vertices to batches. `shared` lists the vertices of the shared batches, grouped by support
 * and cut at shared_ends; `loose` lists the others, by the size of their support and then by index.
 */
typedef struct exi_stencil_plan {
    int *shared, shared_count;
    int *ends, end_count; /* ends of the batches of `shared` */
    int *loose, loose_count;
} exi_stencil_plan;

/* Returns the number of ints of work that planning needs, including the plan's own arrays. */
size_t exi_stencil_plan_size(const ex_stencil_rows *rows, int control_count);

/* Plans a table from checked rows. */
void exi_stencil_plan_make(const ex_stencil_rows *rows, int control_count, int *work, exi_stencil_plan *plan);

#endif

/*
 * Laying a rig out for the GPU (block.h), on the host. Goes through everything twice: first to measure, with no memory,
 * then to fill; so every part says what it takes in one place.
 */
#ifndef EXI_CUDA_LAY_H
#define EXI_CUDA_LAY_H

#include "cuda/block.h"

/* Tables begin at multiples of so many bytes. */
#define EXI_LAY_ALIGN 256

typedef struct exi_lay {
    char *memory;   /* the host's block, zero at first; NULL: measuring */
    uintptr_t base; /* where the block will be when it is used: the device's address, or `memory` itself */
    size_t used;
    bool overflow;
    const ex_allocator *allocator; /* for what a part needs while it works */
} exi_lay;

/* Room for a table: *at is where it will be when it is used (NULL where count is 0). Returns where to write it now;
 * NULL while measuring, and where count is 0. */
void *exi_lay_take(exi_lay *lay, size_t count, size_t size, const void **at);
/* The same for bytes that are there already, such as blocks of the runtime. */
void exi_lay_copy(exi_lay *lay, const void *bytes, size_t size, const void **at);
/* The offset in the block of what *at points to. */
static inline uint64_t exi_lay_offset(const exi_lay *lay, const void *at) {
    return (uint64_t)((uintptr_t)at - lay->base);
}

/* The levels of a rig: 0 is the cage, then as the rig has them; last, where it has one beside them, the limit. */
#define EXI_GPU_LEVEL_MAX 16
typedef struct exi_gpu_levels {
    exi_gpu_level levels[EXI_GPU_LEVEL_MAX];
    int count;
    int numbered; /* the first so many can be asked for by their number */
    int limit;    /* which is EX_LEVEL_LIMIT; 0: none */
} exi_gpu_levels;

/*
 * Makes the block: *memory of *size bytes from the allocator, to be given back with exi_release. place says where
 * it will be used once its size is known: NULL: where it is made. Results: ARGUMENT (a driver), MEMORY, LIMIT, what
 * place gives.
 */
typedef ex_result (*exi_lay_place)(void *user, size_t size, uintptr_t *base, ex_error *error);
ex_result exi_gpu_lay(const ex_rig *rig, exi_lay_place place, void *user, const ex_allocator *allocator, void **memory,
                      size_t *size, exi_gpu *head, exi_gpu_levels *levels, ex_error *error);

/* lay_rings.c: the rings of a level's vertices, from its faces. Results: MEMORY, LIMIT. */
ex_result exi_lay_rings(const ex_rig_mesh *mesh, exi_lay *lay, exi_gpu_level *level, ex_error *error);

/* Bytes that a weigher would take with EXI_GPU_MORE_POINTS pseudo-examples more: so many it has in the block. */
size_t exi_gpu_weigher_room(const ex_weigher *weigher);
/* The EXI_GPU_… that a weigher needs. */
int exi_gpu_weigher_has(const ex_weigher *weigher);

/* lay_shape.c: what prepare reads of layers of trajectories. */
void exi_lay_trajectories(const ex_rig *rig, exi_lay *lay, exi_gpu *head);
/* Its parts. lay_shape.c: forms, paths, offsets, skin. lay_surface.c: stencils, rings, split vertices, displacements.
 * lay_crowd.c: patches. Fill in their part of the head. Results: MEMORY, LIMIT. */
ex_result exi_lay_shape(const ex_rig *rig, exi_lay *lay, exi_gpu *head, ex_error *error);
ex_result exi_lay_surface(const ex_rig *rig, exi_lay *lay, exi_gpu *head, exi_gpu_levels *levels, ex_error *error);
ex_result exi_lay_crowd(const ex_rig *rig, exi_lay *lay, exi_gpu *head, ex_error *error);

#endif

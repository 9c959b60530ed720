/*
 * Layout of a rig for the GPU (block.h), on the host. Everything runs twice: first to measure, without memory, then to
 * fill; so every part states its size in one place.
 */
#ifndef EXI_CUDA_LAY_H
#define EXI_CUDA_LAY_H

#include "cuda/block.h"
#include "runtime/shape/trajectories.h"

/* Alignment of tables in bytes. */
#define EXI_LAY_ALIGN 256

typedef struct exi_lay {
    char *memory;   /* host block, zeroed; NULL: measuring */
    uintptr_t base; /* address at which the block will be used: the device's, or `memory` itself */
    size_t used;
    bool overflow;
    const ex_allocator *allocator; /* for temporary memory of a part */
} exi_lay;

/* Reserves room for a table: *at is its address in use (NULL if count is 0). Returns the address to write it to now;
 * NULL while measuring, and if count is 0. */
void *exi_lay_take(exi_lay *lay, size_t count, size_t size, const void **at);
/* The same for existing bytes, such as blocks of the runtime. */
void exi_lay_copy(exi_lay *lay, const void *bytes, size_t size, const void **at);
/* Returns the offset in the block of what *at points to. */
static inline uint64_t exi_lay_offset(const exi_lay *lay, const void *at) {
    return (uint64_t)((uintptr_t)at - lay->base);
}

/* The levels of a rig: 0 is the cage, then the rig's levels; last the limit, if it is separate. */
#define EXI_GPU_LEVEL_MAX 16
typedef struct exi_gpu_levels {
    exi_gpu_level levels[EXI_GPU_LEVEL_MAX];
    int count;
    int numbered; /* number of levels that have a number; they come first */
    int limit;    /* index of EX_LEVEL_LIMIT; 0: none */
} exi_gpu_levels;

/*
 * Makes the block: *memory of *size bytes from the allocator, to be released with exi_release. place returns the
 * address at which it will be used, once its size is known; NULL: where it is made. Results: ARGUMENT (a driver),
 * MEMORY, LIMIT, those of place.
 */
typedef ex_result (*exi_lay_place)(void *user, size_t size, uintptr_t *base, ex_error *error);
ex_result exi_gpu_lay(const ex_rig *rig, exi_lay_place place, void *user, const ex_allocator *allocator, void **memory,
                      size_t *size, exi_gpu *head, exi_gpu_levels *levels, ex_error *error);

/* lay_rings.c: makes the rings of a level's vertices from its faces. Results: MEMORY, LIMIT. */
ex_result exi_lay_rings(const ex_rig_mesh *mesh, exi_lay *lay, exi_gpu_level *level, ex_error *error);

/* Returns the bytes of a weigher with EXI_GPU_MORE_POINTS more pseudo-examples: its room in the block. */
size_t exi_gpu_weigher_room(const ex_weigher *weigher);
/* Returns the EXI_GPU_… features that a weigher needs. */
int exi_gpu_weigher_has(const ex_weigher *weigher);

/* lay_shape.c: data of trajectory layers that prepare reads. */
void exi_lay_trajectories(const ex_rig *rig, exi_lay *lay, exi_gpu *head);
/* lay_mixture.c: a layer's mixture, if it has one, and the head's numbers of nodes. */
void exi_lay_mixture(const exi_trajectories *paths, exi_lay *lay, exi_gpu *head, exi_gpu_mixture *mixture);
/* Parts of the block. lay_shape.c: forms, paths, offsets, skin. lay_surface.c: stencils, rings, split vertices,
 * displacements. lay_crowd.c: patches. Each fills in its part of the head. Results: MEMORY, LIMIT. */
ex_result exi_lay_shape(const ex_rig *rig, exi_lay *lay, exi_gpu *head, ex_error *error);
ex_result exi_lay_surface(const ex_rig *rig, exi_lay *lay, exi_gpu *head, exi_gpu_levels *levels, ex_error *error);
ex_result exi_lay_crowd(const ex_rig *rig, exi_lay *lay, exi_gpu *head, ex_error *error);

#endif

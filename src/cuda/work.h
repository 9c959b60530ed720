/*
 * Layout of the data that a call's stages pass on (exi_gpu_work): in scratch for all instances of a call, or in a
 * block's shared memory for one. The same on the host and on the GPU.
 */
#ifndef EXI_CUDA_WORK_H
#define EXI_CUDA_WORK_H

#include "cuda/block.h"
#include "runtime/base/functions.inl"

/* Reserves room for count * each items of `size` bytes from *used on; NULL while measuring, and if there are none. */
EXI_INLINE void *exi_gpu_work_take(char *memory, size_t *used, size_t count, int32_t each, size_t size) {
    const size_t bytes = (count * (size_t)each * size + 15) / 16 * 16;
    char *const at = memory && bytes > 0 ? memory + *used : NULL;
    *used += bytes;
    return at;
}

/* Floats that the stage of nodes needs for one instance, if `parts` threads share a product: of each corner its weight
 * and share; of each node its rotation (9), place (3) and pull (4); then the edges' ways, in whose place the parts of
 * the product are later. */
EXI_INLINE size_t exi_gpu_mix_room(const exi_gpu *g, int parts) {
    const size_t nodes = (size_t)g->most_mixed_nodes, ways = 3 * (size_t)g->most_mixed_edges;
    const size_t sums = 3 * (size_t)parts * nodes;
    return (2 * (size_t)g->most_mixed_corners + 3) / 4 * 4 + 16 * nodes + ((ways > sums ? ways : sums) + 3) / 4 * 4;
}
/* Bytes of shared memory for it, and the parts of those that do not fit, which use scratch. */
enum { EXI_GPU_MIX_BYTES = 44 * 1024, EXI_GPU_MIX_PARTS = 8 };
EXI_INLINE bool exi_gpu_mix_is_near(const exi_gpu *g) {
    return exi_gpu_mix_room(g, EXI_GPU_MIX_PARTS) * sizeof(float) <= EXI_GPU_MIX_BYTES;
}

/* Data that the threads of a team exchange and that is not read later: of weighing, of posing. */
EXI_INLINE void exi_gpu_work_lay_weigh(const exi_gpu *g, size_t n, char *memory, size_t *used, exi_gpu_work *work) {
    work->points = (double *)exi_gpu_work_take(memory, used, n, g->features, sizeof(double));
    work->kernels = (double *)exi_gpu_work_take(memory, used, n, g->points, sizeof(double));
    work->doubles = (double *)exi_gpu_work_take(memory, used, n, g->examples, sizeof(double));
    work->bases = (double *)exi_gpu_work_take(memory, used, n, g->segments, 3 * sizeof(double));
    work->terms = (double *)exi_gpu_work_take(memory, used, n, g->mixed_terms, sizeof(double));
}

/* True if a call needs the rotations of joints. */
EXI_INLINE bool exi_gpu_work_turns(const exi_gpu *g) {
    return g->skinning == EX_SKINNING_DUAL_QUATERNION || g->offset_starts[EX_OFFSET_FRAME_SKINNED];
}

EXI_INLINE void exi_gpu_work_lay_pose(const exi_gpu *g, size_t n, char *memory, size_t *used, exi_gpu_work *work) {
    const int32_t joints = g->skin_joints ? g->joints : 0;
    work->worlds = (double *)exi_gpu_work_take(memory, used, n, joints, 12 * sizeof(double));
    work->turns = (double *)exi_gpu_work_take(memory, used, n, exi_gpu_work_turns(g) ? joints : 0, 4 * sizeof(double));
    work->shifts = (float *)exi_gpu_work_take(memory, used, n, g->shift_count > 0 ? joints : 0, 3 * sizeof(float));
}

/* Lays out the work of `count` instances; memory, aligned to 16 bytes, may be NULL to measure. Every array starts at a
 * multiple of 16 bytes; unused ones are NULL. Returns the size in bytes. */
EXI_INLINE size_t exi_gpu_work_lay(const exi_gpu *g, int count, char *memory, exi_gpu_work *work) {
    const size_t n = (size_t)(count > 0 ? count : 0);
    const int32_t joints = g->skin_joints ? g->joints : 0;
    const bool turns = exi_gpu_work_turns(g);
    size_t used = 0;
    exi_gpu_work_lay_weigh(g, n, memory, &used, work);
    exi_gpu_work_lay_pose(g, n, memory, &used, work);
    work->weights = (float *)exi_gpu_work_take(memory, &used, n, g->examples, sizeof(float));
    work->factors = (float *)exi_gpu_work_take(memory, &used, n, g->forms, sizeof(float));
    work->offset_weights = (float *)exi_gpu_work_take(memory, &used, n, g->offset_weights, sizeof(float));
    work->motions = (exi_gpu_motion *)exi_gpu_work_take(memory, &used, n, g->path_count, sizeof(exi_gpu_motion));
    work->appended = (float *)exi_gpu_work_take(memory, &used, n, g->segments, 3 * sizeof(float));
    work->mixed = (double *)exi_gpu_work_take(memory, &used, n, g->mixed_nodes > 0 ? g->examples : 0, sizeof(double));
    work->shares = (double *)exi_gpu_work_take(memory, &used, n, g->mixed_corners, 2 * sizeof(double));
    work->matrices = (float *)exi_gpu_work_take(memory, &used, n, g->mixed_nodes, 12 * sizeof(float));
    work->node_rooms = (float *)exi_gpu_work_take(memory, &used, n, g->mixed_nodes > 0 && !exi_gpu_mix_is_near(g),
                                                  exi_gpu_mix_room(g, EXI_GPU_MIX_PARTS) * sizeof(float));
    work->palette = (float *)exi_gpu_work_take(memory, &used, n, joints, 12 * sizeof(float));
    work->duals = (float *)exi_gpu_work_take(memory, &used, n, turns ? joints : 0, 8 * sizeof(float));
    work->stretched = (int32_t *)exi_gpu_work_take(memory, &used, n, joints > 0, sizeof(int32_t));
    return used;
}

/* Returns the bytes of the work of one instance. */
EXI_INLINE size_t exi_gpu_work_size(const exi_gpu *g) {
    exi_gpu_work unused;
    return exi_gpu_work_lay(g, 1, NULL, &unused);
}

#endif

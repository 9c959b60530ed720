/*
 * Preparation in shared memory: the front of the rig's block, and the data that a team's threads exchange, are in a
 * block's shared memory. The front is copied at once; then every table is only a few cycles away, however many offsets
 * lead to it. The host computes the layout (exi_near), so that a kernel has nothing to compute before it starts.
 */
#ifndef EXI_CUDA_KERNELS_PREPARE_NEAR_INL
#define EXI_CUDA_KERNELS_PREPARE_NEAR_INL

#include "cuda/kernels/kernels_fetch.inl"
#include "cuda/stages/prepare.inl"
#include "cuda/work.h"

/* Shared memory that every device gives a block by default, less the kernels' other use. */
enum { EXI_NEAR_BYTES = 48 * 1024 - 4 * 1024 };
/* Start of the work's layout: not 0, since NULL means absent. */
enum { EXI_NEAR_BASE = 16 };

/* Copies a table, 16 bytes at a time; all threads of a block must call it. */
static __device__ inline void exi_near_copy(const char *from, char *to, int bytes) {
    for (int i = 16 * (int)threadIdx.x; i < bytes; i += 16 * (int)blockDim.x)
        exi_fetch_16(to + i, from + i);
}

/* The same, 4 at a time. */
static __device__ inline void exi_near_copy_floats(const float *from, float *to, int count) {
    for (int i = (int)threadIdx.x; i < count; i += (int)blockDim.x)
        exi_fetch_4(to + i, from + i);
}

/* Waits until all threads see the copies. */
static __device__ inline void exi_near_wait(void) {
    exi_fetch_wait();
    __syncthreads();
}

/* The compiler assumes that pointers from a kernel's arguments are to global memory; this hides their origin. */
template <typename T> static __device__ inline const T *exi_near_moved(const T *at, ptrdiff_t by) {
    unsigned long long moved = (unsigned long long)at + (unsigned long long)by;
    asm volatile("" : "+l"(moved));
    return (const T *)moved;
}

/* Makes the head for a kernel compiled for `has`, with the front moved by `by` bytes. Nothing here has its address
 * taken, so that everything stays in registers or among the kernel's arguments. */
static __device__ inline void exi_near_head(exi_gpu *own, int has, ptrdiff_t by) {
    const bool skin = (has & EXI_GPU_SKIN) != 0, offsets = (has & EXI_GPU_OFFSETS) != 0;
    own->lacks = EXI_GPU_ALL & ~has;
    own->front = exi_near_moved(own->front, by);
    own->layers = exi_near_moved(own->layers, by);
    own->inputs = exi_near_moved(own->inputs, by);
    own->axis_inputs = exi_near_moved(own->axis_inputs, by);
    own->set_weights = has & EXI_GPU_SETS && own->set_weights ? exi_near_moved(own->set_weights, by) : NULL;
    own->paths = exi_near_moved(own->paths, by);
    own->path_count = has & EXI_GPU_PATHS ? own->path_count : 0;
    own->skeleton = exi_near_moved(own->skeleton, by);
    own->depth_starts = exi_near_moved(own->depth_starts, by);
    own->depth_joints = exi_near_moved(own->depth_joints, by);
    own->shift_examples = exi_near_moved(own->shift_examples, by);
    own->shifts = exi_near_moved(own->shifts, by);
    own->storage = has & EXI_GPU_SHORTS ? own->storage : EX_STORAGE_FLOAT;
    own->skin_joints = skin ? own->skin_joints : NULL;
    own->skinning = has & EXI_GPU_TURNS ? own->skinning : EX_SKINNING_LINEAR;
    own->offset_starts[EX_OFFSET_FRAME_REST] = offsets ? own->offset_starts[EX_OFFSET_FRAME_REST] : NULL;
    own->offset_starts[EX_OFFSET_FRAME_SKINNED] = offsets ? own->offset_starts[EX_OFFSET_FRAME_SKINNED] : NULL;
}

template <typename T> static __device__ inline void exi_near_place(T **at, char *memory) {
    *at = (T *)(memory + ((uintptr_t)*at - EXI_NEAR_BASE));
}

/* Moves the work that was laid out at EXI_NEAR_BASE to this memory. */
static __device__ inline void exi_near_work(exi_gpu_work *work, char *memory) {
    exi_near_place(&work->points, memory);
    exi_near_place(&work->kernels, memory);
    exi_near_place(&work->doubles, memory);
    exi_near_place(&work->bases, memory);
    exi_near_place(&work->terms, memory);
    exi_near_place(&work->worlds, memory);
    exi_near_place(&work->turns, memory);
    exi_near_place(&work->shifts, memory);
    exi_near_place(&work->weights, memory);
    exi_near_place(&work->factors, memory);
    exi_near_place(&work->offset_weights, memory);
    exi_near_place(&work->motions, memory);
    exi_near_place(&work->appended, memory);
    exi_near_place(&work->palette, memory);
    exi_near_place(&work->duals, memory);
    exi_near_place(&work->stretched, memory);
}

/* ---- host ---- */

/* Returns the features that a call needs. */
static inline int exi_near_need(const exi_gpu *g, const exi_gpu_job *j) {
    const int posing = EXI_GPU_SKIN | EXI_GPU_TURNS | EXI_GPU_SHIFTS;
    return EXI_GPU_ALL & ~g->lacks & ~(j->skinned && g->skin_joints ? 0 : posing);
}

#endif

/*
 * Machine layer of the stages, for GPU or host: reading memory, roots, and teams. A team is the threads that work on
 * one instance: a warp, a block, or a single thread on the host. EXI_TEAM_SYNC separates two phases of a team's work:
 * everything written before it is visible to the whole team after it.
 */
#ifndef EXI_CUDA_MACHINE_H
#define EXI_CUDA_MACHINE_H

#include "runtime/base/functions.inl"

/* ---- reading ---- */

/* Reads data that never changes while a kernel runs, through the read-only cache. */
#if defined(__CUDA_ARCH__)
#define EXI_GPU_READ(place) __ldg(place)
#else
#define EXI_GPU_READ(place) (*(place))
#endif

/* Four floats at a multiple of 16 bytes, in one load. */
EXI_INLINE void exi_gpu_load4(const float *from, float to[4]) {
#if defined(__CUDA_ARCH__)
    const float4 four = *(const float4 *)from;
    to[0] = four.x;
    to[1] = four.y;
    to[2] = four.z;
    to[3] = four.w;
#else
    memcpy(to, from, 4 * sizeof *to);
#endif
}

/* 1 / sqrt of a number that is neither tiny nor huge. */
EXI_INLINE float exi_gpu_over_root(float square) {
#if defined(__CUDA_ARCH__)
    return rsqrtf(square);
#else
    return 1.0f / sqrtf(square);
#endif
}

/* Before a loop whose loads should be under way together. */
#if defined(__CUDA_ARCH__)
#define EXI_BY_FOUR _Pragma("unroll 4")
#else
#define EXI_BY_FOUR
#endif

/* ---- teams ---- */

typedef struct exi_team {
    int lane, lanes; /* up to 32 lanes, a power of 2: a part of a warp, whose other parts do the same with other
                        instances; otherwise all threads of a block; 1 on the host */
} exi_team;

#if defined(__CUDA_ARCH__)
#define EXI_TEAM_SYNC(team)                                                                                            \
    do {                                                                                                               \
        if ((team).lanes <= 32)                                                                                        \
            __syncwarp();                                                                                              \
        else                                                                                                           \
            __syncthreads();                                                                                           \
    } while (0)
/* True, for the whole team, if `says` is true for any thread; others in its warp may also make it true. */
#define EXI_TEAM_ANY(team, says) ((team).lanes <= 32 ? __any_sync(0xFFFFFFFFu, (says)) : __syncthreads_or(says))
#else
#define EXI_TEAM_SYNC(team)      ((void)(team))
#define EXI_TEAM_ANY(team, says) ((void)(team), (says))
#endif

/* Sets a flag to 1; several threads of a team may do so at once. */
#define EXI_TEAM_MARK(flag) (*(volatile int32_t *)(flag) = 1)

/*
 * A team's warps, which can work on different things between two EXI_TEAM_SYNC. A team has whole warps, or is a part of
 * one. On the host, the single thread. Reductions over the lanes of a warp return the result to all of them, and all
 * must call.
 */
typedef struct exi_warp {
    int lane, lanes, index, count;
} exi_warp;

EXI_INLINE exi_warp exi_team_warp(exi_team team) {
    const bool several = team.lanes > 32;
    exi_warp warp;
    warp.lanes = several ? 32 : team.lanes;
    warp.lane = several ? team.lane % 32 : team.lane;
    warp.index = several ? team.lane / 32 : 0;
    warp.count = several ? team.lanes / 32 : 1;
    return warp;
}

EXI_INLINE double exi_warp_sum(exi_warp warp, double value) {
#if defined(__CUDA_ARCH__)
    EXI_ROLLED for (int step = warp.lanes / 2; step > 0; step /= 2) value += __shfl_xor_sync(0xFFFFFFFFu, value, step);
#else
    (void)warp;
#endif
    return value;
}

/* The sum over every width-th lane: lanes i, i + width, … get the same. width is a power of 2, at most lanes. */
EXI_INLINE double exi_warp_sum_apart(exi_warp warp, double value, int width) {
#if defined(__CUDA_ARCH__)
    EXI_ROLLED for (int step = width; step < warp.lanes; step *= 2) value += __shfl_xor_sync(0xFFFFFFFFu, value, step);
#else
    (void)warp;
    (void)width;
#endif
    return value;
}

EXI_INLINE double exi_warp_largest(exi_warp warp, double value) {
#if defined(__CUDA_ARCH__)
    EXI_ROLLED for (int step = warp.lanes / 2; step > 0; step /= 2) {
        const double other = __shfl_xor_sync(0xFFFFFFFFu, value, step);
        value = other > value ? other : value;
    }
#else
    (void)warp;
#endif
    return value;
}

/* Finds the minimum and its index; among equal values, the first. */
EXI_INLINE void exi_warp_least(exi_warp warp, double *value, int *index) {
#if defined(__CUDA_ARCH__)
    EXI_ROLLED for (int step = warp.lanes / 2; step > 0; step /= 2) {
        const double other = __shfl_xor_sync(0xFFFFFFFFu, *value, step);
        const int at = __shfl_xor_sync(0xFFFFFFFFu, *index, step);
        if (other < *value || (other == *value && at < *index)) {
            *value = other;
            *index = at;
        }
    }
#else
    (void)warp;
    (void)value;
    (void)index;
#endif
}

#endif

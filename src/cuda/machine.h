/*
 * What the stages need of the machine they run on, GPU or host: how memory is read, roots, and teams. A team is the
 * threads that work on one instance: a warp, a block, or on the host one thread alone. Between two phases of a team's
 * work stands EXI_TEAM_SYNC: everything that was written before it by one is there for all after it.
 */
#ifndef EXI_CUDA_MACHINE_H
#define EXI_CUDA_MACHINE_H

#include "runtime/base/functions.inl"

/* ---- reading ---- */

/* What never changes while a kernel runs, through the cache for that. */
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

/* 1 over the root of what is neither tiny nor huge. */
EXI_INLINE float exi_gpu_over_root(float square) {
#if defined(__CUDA_ARCH__)
    return rsqrtf(square);
#else
    return 1.0f / sqrtf(square);
#endif
}

/* ---- teams ---- */

typedef struct exi_team {
    int lane, lanes; /* up to 32 lanes, a power of 2: a part of a warp, whose other parts do the same with other
                      * instances; else all threads of a block; on the host 1 */
} exi_team;

#if defined(__CUDA_ARCH__)
#define EXI_TEAM_SYNC(team)                                                                                            \
    do {                                                                                                               \
        if ((team).lanes <= 32)                                                                                        \
            __syncwarp();                                                                                              \
        else                                                                                                           \
            __syncthreads();                                                                                           \
    } while (0)
/* Whether any of a team says so, to all of them; those who share its warp may speak for it. */
#define EXI_TEAM_ANY(team, says) ((team).lanes <= 32 ? __any_sync(0xFFFFFFFFu, (says)) : __syncthreads_or(says))
#else
#define EXI_TEAM_SYNC(team)      ((void)(team))
#define EXI_TEAM_ANY(team, says) ((void)(team), (says))
#endif

/* Sets a flag to 1, which several of a team may do at once. */
#define EXI_TEAM_MARK(flag) (*(volatile int32_t *)(flag) = 1)

/*
 * A team's warps, which can work on different things between two EXI_TEAM_SYNC; a team has whole ones, or is a part of
 * one. On the host, the one thread. Sums and the like over the lanes of a warp come to all of them, and all must ask.
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

/* The least value and its index; of equal ones, the first. */
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

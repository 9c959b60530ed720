/*
 * What the stages need of the machine they run on. A team is the threads that work on one instance: a warp, a block, or
 * on the host one thread alone. Between two phases of a team's work stands EXI_TEAM_SYNC: everything that was written
 * before it by one is there for all after it.
 */
#ifndef EXI_CUDA_TEAM_H
#define EXI_CUDA_TEAM_H

#include "runtime/base/functions.inl"

typedef struct exi_team {
    int lane, lanes; /* 32 lanes: a warp; else all threads of a block; on the host 1 */
} exi_team;

#if defined(__CUDA_ARCH__)
#define EXI_TEAM_SYNC(team)                                                                                            \
    do {                                                                                                               \
        if ((team).lanes == 32)                                                                                        \
            __syncwarp();                                                                                              \
        else                                                                                                           \
            __syncthreads();                                                                                           \
    } while (0)
#else
#define EXI_TEAM_SYNC(team) ((void)(team))
#endif

#endif

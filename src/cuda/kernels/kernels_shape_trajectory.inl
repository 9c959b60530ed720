/*
 * Many instances of one trajectory layer (shape_trajectory.inl). A thread keeps a vertex in registers and processes a
 * run of instances, a few side by side, so that none waits for another; a block first computes the instances' data into
 * shared memory. One example with turns takes about 35 instructions per vertex and instance, and writes 12 bytes: these
 * must be written in whole cache lines.
 */
#ifndef EXI_CUDA_KERNELS_SHAPE_PATH_INL
#define EXI_CUDA_KERNELS_SHAPE_PATH_INL

#include "cuda/kernels/kernels.h"
#include "cuda/kernels/kernels_launch.inl"
#include "cuda/kernels/kernels_store.inl"
#include "cuda/stages/shape_trajectory.inl"

enum {
    EXI_PATH_THREADS = 256,
    EXI_PATH_WARPS = EXI_PATH_THREADS / 32,
    EXI_PATH_RUN_MOST = 96, /* instances for which every block has room */
    EXI_PATH_WAVES = 2,     /* number of times the multiprocessors should be filled, so that all end together */
    EXI_PATH_COUNT = 8,     /* number of instances from which this is faster */
    EXI_PATH_COUNT_MOST = EXI_LAUNCH_ROWS_MOST * EXI_PATH_RUN_MOST
};

/* Instances side by side, and blocks per multiprocessor, as the registers for these examples and correctors allow. */
template <int examples, int correctors> struct exi_trajectory_shares {
    static constexpr int NUMBERS = 6 * (examples > 1 ? examples : 2) + 3 * correctors;
    static constexpr int SIDE = NUMBERS <= 12 ? 8 : examples > 5 ? 2 : 4;
    static constexpr int RESIDENT = NUMBERS > 12 && NUMBERS <= 21 ? 3 : 2;
    static constexpr int RUN_MOST = SIDE == 8 ? EXI_PATH_RUN_MOST : 2 * EXI_PATH_RUN_MOST; /* in shared memory */
};

/* A vertex in `side` instances. */
template <int examples, int correctors, int side>
static __device__ inline void exi_trajectory_place(const exi_trajectory_vertex *vertex,
                                                   const exi_trajectory_record *records, float positions[side][3]) {
    exi_trajectory_site sites[side];
#pragma unroll
    for (int i = 0; i < side; i++)
        exi_trajectory_begin(vertex, &records[i], examples, correctors, &sites[i]);
    if (examples > 0) {
        exi_trajectory_factors factors[side];
        float longest = 0.0f;
#pragma unroll
        for (int i = 0; i < side; i++) {
            factors[i] = exi_trajectory_near(sites[i].t);
            longest = fmaxf(longest, sites[i].t);
        }
        if (longest > 1.0f) {
#pragma unroll
            for (int i = 0; i < side; i++)
                if (sites[i].t > 1.0f)
                    factors[i] = exi_trajectory_far(sites[i].t);
        }
#pragma unroll
        for (int i = 0; i < side; i++)
            exi_trajectory_turn(&sites[i], factors[i]);
    }
#pragma unroll
    for (int i = 0; i < side; i++)
        for (int c = 0; c < 3; c++)
            positions[i][c] = sites[i].out[c];
}

/* Shifts of segments, the screw and the mask, for layers with more than the screw: one instance after the other, in the
 * room where each lane has put its vertex, so that this rare case takes no registers. */
static __device__ inline void exi_trajectory_finish(const exi_gpu &g, const exi_gpu_job &j,
                                                    const exi_trajectory_vertex &v,
                                                    const exi_trajectory_record *records, int count, int instance,
                                                    int vertex, bool moves, float *own) {
#pragma unroll 1
    for (int i = 0; i < count; i++, own += EXI_STORE_FLOATS) {
        float x[3] = {own[0], own[1], own[2]};
        if (g.alone.segments)
            exi_trajectory_shift(&g, vertex, &records[i],
                                 j.work.appended + 3 * (size_t)(instance + i) * (size_t)g.segments, x);
        if (moves)
            exi_trajectory_move(&records[i], x);
        if (g.alone.mask)
            exi_trajectory_mask(&g, vertex, &v, x);
        for (int c = 0; c < 3; c++)
            own[c] = x[c];
    }
}

template <int examples, int correctors>
static __global__ void __launch_bounds__(EXI_PATH_THREADS, exi_trajectory_shares<examples, correctors>::RESIDENT)
    exi_trajectory_kernel(const __grid_constant__ exi_gpu g, const __grid_constant__ exi_gpu_job j, int run) {
    constexpr int side = exi_trajectory_shares<examples, correctors>::SIDE;
    __shared__ __align__(16) float rooms[EXI_PATH_WARPS][side * EXI_STORE_FLOATS];
    __shared__ __align__(16) exi_trajectory_record records[exi_trajectory_shares<examples, correctors>::RUN_MOST];
    const exi_gpu_place_out out = exi_gpu_out(&g, &j);
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    const int begin = (int)blockIdx.y * run, count = min(run, j.count - begin);
    const int tile = (int)blockIdx.x * EXI_PATH_WARPS + warp, left = g.vertices - tile * EXI_GPU_TILE;
    const int vertex = min(tile * EXI_GPU_TILE + lane, g.vertices - 1);
    float *const room = rooms[warp];
    const bool more = g.alone.segments != 0 || g.alone.mask != 0;
    bool moves = false;
    exi_trajectory_vertex v;
    exi_trajectory_read_vertex(&g, vertex, examples, correctors, &v);
    /* The last group is completed by repeating the last instance. */
    for (int k = (int)threadIdx.x; k < (count + side - 1) / side * side; k += EXI_PATH_THREADS)
        moves |= exi_trajectory_open(&g, &j.work, begin + min(k, count - 1), examples, correctors, &records[k]);
    moves = __syncthreads_or(moves);
    if (left <= 0)
        return;
    const bool close = left >= EXI_GPU_TILE && exi_gpu_targets<side>::suit(out);
    int full = close ? count : 0;  /* instances written in whole cache lines */
    asm volatile("" : "+r"(full)); /* keeps the compiler from computing it again in every round */
    float *to = out.data + (size_t)begin * out.instance;
    exi_gpu_targets<side> targets;
    targets.open(tile, out.instance, lane);
#pragma unroll 1
    for (int k = 0; k < count; k += side) {
        float positions[side][3];
        exi_trajectory_place<examples, correctors, side>(&v, &records[k], positions);
        if (moves && !more) {
#pragma unroll
            for (int i = 0; i < side; i++)
                exi_trajectory_move(&records[k + i], positions[i]);
        }
        __syncwarp(); /* the old contents have been read */
#pragma unroll
        for (int i = 0; i < side; i++)
            for (int c = 0; c < 3; c++)
                room[i * EXI_STORE_FLOATS + 3 * lane + c] = positions[i][c];
        if (more)
            exi_trajectory_finish(g, j, v, &records[k], min(side, count - k), begin + k, vertex, moves,
                                  room + 3 * lane);
        __syncwarp();
        if (k + side <= full) {
            targets.store(to, room, lane);
            to += side * out.instance;
        } else {
#pragma unroll 1
            for (int i = 0; i < min(side, count - k); i++)
                exi_gpu_store_room(&out, begin + k + i, tile, min(left, EXI_GPU_TILE), lane,
                                   room + i * EXI_STORE_FLOATS);
        }
    }
}

/* ---- host ---- */

static inline bool exi_gpu_is_trajectory(const exi_gpu *g, const exi_gpu_job *j) {
    return j->count >= EXI_PATH_COUNT && j->count <= EXI_PATH_COUNT_MOST && exi_gpu_is_alone(g, j);
}

/* A block takes a group of vertices and a run of instances. */
template <int examples, int correctors>
static inline void exi_gpu_launch_trajectory_of(const exi_gpu *g, const exi_gpu_job *j, int processors,
                                                ex_cuda_stream stream) {
    const int groups = (g->tiles + EXI_PATH_WARPS - 1) / EXI_PATH_WARPS;
    const int blocks = processors * exi_trajectory_shares<examples, correctors>::RESIDENT * EXI_PATH_WAVES;
    const int even = exi_launch_choose_run(groups, blocks, j->count, exi_trajectory_shares<examples, correctors>::SIDE);
    const int most = exi_trajectory_shares<examples, correctors>::RUN_MOST, run = even < most ? even : most;
    const dim3 grid((unsigned)groups, (unsigned)((j->count + run - 1) / run));
    exi_trajectory_kernel<examples, correctors><<<grid, EXI_PATH_THREADS, 0, stream>>>(*g, *j, run);
}

/* Surplus examples and correctors of a kernel do nothing. */
static inline void exi_gpu_launch_trajectory(const exi_gpu *g, const exi_gpu_job *j, int processors,
                                             ex_cuda_stream stream) {
    typedef void (*launch)(const exi_gpu *, const exi_gpu_job *, int, ex_cuda_stream);
    static const int examples[] = {0, 1, 3, 5, EXI_PATH_EXAMPLES}, correctors[] = {0, 3, EXI_PATH_CORRECTORS};
    static const launch launches[5][3] = {{exi_gpu_launch_trajectory_of<0, 0>, exi_gpu_launch_trajectory_of<0, 3>,
                                           exi_gpu_launch_trajectory_of<0, EXI_PATH_CORRECTORS>},
                                          {exi_gpu_launch_trajectory_of<1, 0>, exi_gpu_launch_trajectory_of<1, 3>,
                                           exi_gpu_launch_trajectory_of<1, EXI_PATH_CORRECTORS>},
                                          {exi_gpu_launch_trajectory_of<3, 0>, exi_gpu_launch_trajectory_of<3, 3>,
                                           exi_gpu_launch_trajectory_of<3, EXI_PATH_CORRECTORS>},
                                          {exi_gpu_launch_trajectory_of<5, 0>, exi_gpu_launch_trajectory_of<5, 3>,
                                           exi_gpu_launch_trajectory_of<5, EXI_PATH_CORRECTORS>},
                                          {exi_gpu_launch_trajectory_of<8, 0>, exi_gpu_launch_trajectory_of<8, 3>,
                                           exi_gpu_launch_trajectory_of<8, EXI_PATH_CORRECTORS>}};
    int e = 0, c = 0;
    while (examples[e] < exi_trajectory_examples(&g->alone))
        e++;
    while (correctors[c] < g->alone.corrector_count)
        c++;
    launches[e][c](g, j, processors, stream);
}

#endif

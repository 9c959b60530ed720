/*
 * Many instances of one trajectory between two forms (shape_path.inl). A thread keeps two vertices in registers and
 * goes through a run of instances, of which a block works out what it needs into shared memory, a batch at a time.
 * Takes about 50 instructions a vertex and instance, and writes 12 bytes.
 */
#ifndef EXI_CUDA_KERNELS_PATH_INL
#define EXI_CUDA_KERNELS_PATH_INL

#include "cuda/kernels.h"
#include "cuda/kernels_store.inl"
#include "cuda/shape_path.inl"

enum {
    EXI_PATH_THREADS = 128,
    EXI_PATH_WARPS = EXI_PATH_THREADS / 32,
    EXI_PATH_EACH = 2, /* vertices of a thread */
    EXI_PATH_TILES = EXI_PATH_EACH * EXI_PATH_WARPS,
    EXI_PATH_BATCH = 32,   /* instances whose records are there at a time */
    EXI_PATH_RESIDENT = 5, /* blocks of a multiprocessor: then all is in registers */
    EXI_PATH_COUNT = 8     /* instances from which on this is the better way */
};

/* The vertices of a lane at an instance, side by side: nothing in one waits for the other. */
template <bool turned, int correctors, bool appends>
static __device__ inline void exi_path_place_all(const exi_path_vertex vertices[EXI_PATH_EACH],
                                                 const exi_path_record *record, const float *appended,
                                                 const int segments[EXI_PATH_EACH], float positions[EXI_PATH_EACH][3]) {
#pragma unroll
    for (int i = 0; i < EXI_PATH_EACH; i++)
        exi_path_place(&vertices[i], record, correctors, appends ? appended + segments[i] : NULL, positions[i]);
    if (turned) {
        exi_path_factors factors[EXI_PATH_EACH];
        float turns[EXI_PATH_EACH], longest = 0.0f;
#pragma unroll
        for (int i = 0; i < EXI_PATH_EACH; i++) {
            turns[i] = exi_path_turn(&vertices[i], record);
            factors[i] = exi_path_near(turns[i]);
            longest = turns[i] > longest ? turns[i] : longest;
        }
        for (int i = 0; longest > 1.0f && i < EXI_PATH_EACH; i++)
            if (turns[i] > 1.0f)
                factors[i] = exi_path_far(turns[i]);
#pragma unroll
        for (int i = 0; i < EXI_PATH_EACH; i++)
            exi_path_add_turn(&vertices[i], record, factors[i], positions[i]);
    }
    if (record->moves > 0.0f) {
#pragma unroll
        for (int i = 0; i < EXI_PATH_EACH; i++)
            exi_path_move(record, positions[i]);
    }
}

/* As exi_gpu_store_tile, for the tiles of a warp that are all full, to a place at a multiple of 16 bytes. */
static __device__ inline void exi_path_store_full(float *to, int lane, const float positions[EXI_PATH_EACH][3],
                                                  float room[EXI_PATH_EACH * EXI_STORE_FLOATS]) {
    enum { FOURS = EXI_PATH_EACH * EXI_STORE_FLOATS / 4 };
    __syncwarp(); /* what was there has been read */
#pragma unroll
    for (int i = 0; i < EXI_PATH_EACH; i++)
        for (int c = 0; c < 3; c++)
            room[i * EXI_STORE_FLOATS + 3 * lane + c] = positions[i][c];
    __syncwarp();
#pragma unroll
    for (int i = 0; i < FOURS; i += 32)
        if (i + 32 <= FOURS || lane < FOURS - i)
            ((float4 *)to)[i + lane] = ((const float4 *)room)[i + lane];
}

template <bool turned, int correctors, bool appends>
static __global__ void __launch_bounds__(EXI_PATH_THREADS, EXI_PATH_RESIDENT)
    exi_path_kernel(const __grid_constant__ exi_gpu g, const __grid_constant__ exi_gpu_job j, int run) {
    __shared__ __align__(16) float rooms[EXI_PATH_TILES * EXI_STORE_FLOATS];
    __shared__ __align__(16) exi_path_record records[EXI_PATH_BATCH];
    const exi_gpu_place_out out = exi_gpu_out(&g, &j);
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    const int begin = (int)blockIdx.y * run, end = begin + run < j.count ? begin + run : j.count;
    const int tile = (int)blockIdx.x * EXI_PATH_TILES + EXI_PATH_EACH * warp;
    const int left = g.vertices - tile * EXI_GPU_TILE;
    float *const room = rooms + EXI_PATH_EACH * warp * EXI_STORE_FLOATS;
    float *to = out.data + (size_t)begin * out.instance + (size_t)tile * EXI_STORE_FLOATS; /* where they are close */
    const bool full = left >= EXI_PATH_EACH * EXI_GPU_TILE && out.stride == 3 && out.instance % 4 == 0 &&
                      (uintptr_t)out.data % 16 == 0;
    exi_path_vertex vertices[EXI_PATH_EACH];
    int segments[EXI_PATH_EACH];
#pragma unroll
    for (int i = 0; i < EXI_PATH_EACH; i++) {
        const int own = (tile + i) * EXI_GPU_TILE + lane, vertex = own < g.vertices ? own : g.vertices - 1;
        exi_path_read_vertex(&g, vertex, turned, correctors, &vertices[i]);
        segments[i] =
            appends ? 3 * (g.alone.first_segment + (int)__ldg((const uint16_t *)(g.block + g.alone.segments) + vertex))
                    : 0;
    }
    for (int first = begin; first < end; first += EXI_PATH_BATCH) {
        const int count = end - first < EXI_PATH_BATCH ? end - first : EXI_PATH_BATCH;
        __syncthreads(); /* records have been read */
        if ((int)threadIdx.x < count)
            exi_path_open(&g, &j.work, first + (int)threadIdx.x, &records[threadIdx.x]);
        __syncthreads();
        for (int k = 0; k < count; k++, to += out.instance) {
            float positions[EXI_PATH_EACH][3];
            exi_path_place_all<turned, correctors, appends>(
                vertices, &records[k], j.work.appended + 3 * (size_t)(first + k) * (size_t)g.segments, segments,
                positions);
            if (full) {
                exi_path_store_full(to, lane, positions, room);
                continue;
            }
#pragma unroll
            for (int i = 0; i < EXI_PATH_EACH; i++) {
                const int here = left - i * EXI_GPU_TILE;
                if (here > 0)
                    exi_gpu_store_tile(&out, first + k, tile + i, here < EXI_GPU_TILE ? here : EXI_GPU_TILE, lane,
                                       positions[i], room);
            }
        }
    }
}

/* ---- the host's side ---- */

static inline bool exi_gpu_is_path(const exi_gpu *g, const exi_gpu_job *j) {
    return j->count >= EXI_PATH_COUNT && exi_gpu_is_alone(g, j);
}

static inline int exi_gpu_path_groups(const exi_gpu *g) {
    return (g->tiles + EXI_PATH_TILES - 1) / EXI_PATH_TILES;
}

template <bool turned, int correctors>
static inline void exi_gpu_launch_path_of(const exi_gpu *g, const exi_gpu_job *j, dim3 grid, int run,
                                          ex_cuda_stream stream) {
    if (g->alone.segments)
        exi_path_kernel<turned, correctors, true><<<grid, EXI_PATH_THREADS, 0, stream>>>(*g, *j, run);
    else
        exi_path_kernel<turned, correctors, false><<<grid, EXI_PATH_THREADS, 0, stream>>>(*g, *j, run);
}

/* A block takes a group of vertices and a run of instances. Correctors that a kernel has beyond the path's do nothing.
 */
static inline void exi_gpu_launch_path(const exi_gpu *g, const exi_gpu_job *j, int groups, int run,
                                       ex_cuda_stream stream) {
    const dim3 grid((unsigned)groups, (unsigned)((j->count + run - 1) / run));
    const int correctors = g->alone.corrector_count;
    const bool turned = g->alone.turn_count > 0;
    if (turned && correctors == 0)
        exi_gpu_launch_path_of<true, 0>(g, j, grid, run, stream);
    else if (turned && correctors == 1)
        exi_gpu_launch_path_of<true, 1>(g, j, grid, run, stream);
    else if (turned)
        exi_gpu_launch_path_of<true, EXI_PATH_TURNED_CORRECTORS>(g, j, grid, run, stream);
    else if (correctors <= 2)
        exi_gpu_launch_path_of<false, 2>(g, j, grid, run, stream);
    else if (correctors <= 4)
        exi_gpu_launch_path_of<false, 4>(g, j, grid, run, stream);
    else
        exi_gpu_launch_path_of<false, EXI_PATH_CORRECTORS>(g, j, grid, run, stream);
}

#endif

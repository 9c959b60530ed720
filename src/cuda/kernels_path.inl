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

template <int correctors, bool appends>
static __global__ void __launch_bounds__(EXI_PATH_THREADS, EXI_PATH_RESIDENT)
    exi_path_kernel(const __grid_constant__ exi_gpu g, const __grid_constant__ exi_gpu_job j, int run) {
    __shared__ __align__(16) float room[EXI_PATH_TILES * EXI_STORE_FLOATS];
    __shared__ __align__(16) exi_path_record records[EXI_PATH_BATCH];
    const exi_gpu_place_out out = exi_gpu_out(&g, &j);
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    const int begin = (int)blockIdx.y * run, end = begin + run < j.count ? begin + run : j.count;
    int tiles[EXI_PATH_EACH], counts[EXI_PATH_EACH], segments[EXI_PATH_EACH];
    exi_path_vertex vertices[EXI_PATH_EACH];
#pragma unroll
    for (int i = 0; i < EXI_PATH_EACH; i++) {
        tiles[i] = (int)blockIdx.x * EXI_PATH_TILES + EXI_PATH_EACH * warp + i;
        const int left = g.vertices - tiles[i] * EXI_GPU_TILE;
        counts[i] = left < EXI_GPU_TILE ? left : EXI_GPU_TILE;
        const int vertex = lane < counts[i] ? tiles[i] * EXI_GPU_TILE + lane : g.vertices - 1;
        exi_path_read_vertex(&g, vertex, correctors, &vertices[i]);
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
        for (int k = 0; k < count; k++) {
            const float *appended = j.work.appended + 3 * (size_t)(first + k) * (size_t)g.segments;
#pragma unroll
            for (int i = 0; i < EXI_PATH_EACH; i++) {
                float position[3];
                exi_path_place(&vertices[i], &records[k], correctors, appends ? appended + segments[i] : NULL,
                               position);
                if (counts[i] > 0)
                    exi_gpu_store_tile(&out, first + k, tiles[i], counts[i], lane, position,
                                       room + (EXI_PATH_EACH * warp + i) * EXI_STORE_FLOATS);
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

template <int correctors>
static inline void exi_gpu_launch_path_of(const exi_gpu *g, const exi_gpu_job *j, dim3 grid, int run,
                                          ex_cuda_stream stream) {
    if (g->alone.segments)
        exi_path_kernel<correctors, true><<<grid, EXI_PATH_THREADS, 0, stream>>>(*g, *j, run);
    else
        exi_path_kernel<correctors, false><<<grid, EXI_PATH_THREADS, 0, stream>>>(*g, *j, run);
}

/* A block takes a group of vertices and a run of instances. */
static inline void exi_gpu_launch_path(const exi_gpu *g, const exi_gpu_job *j, int groups, int run,
                                       ex_cuda_stream stream) {
    const dim3 grid((unsigned)groups, (unsigned)((j->count + run - 1) / run));
    switch (g->alone.corrector_count) {
    case 0:
        exi_gpu_launch_path_of<0>(g, j, grid, run, stream);
        break;
    case 1:
        exi_gpu_launch_path_of<1>(g, j, grid, run, stream);
        break;
    case 2:
        exi_gpu_launch_path_of<2>(g, j, grid, run, stream);
        break;
    default:
        exi_gpu_launch_path_of<3>(g, j, grid, run, stream);
        break;
    }
}

#endif

/*
 * A few instances: every block prepares the instance whose vertices it shapes, in its own shared memory, which takes no
 * longer than one block doing it, and saves a launch. Only latency matters here: of the front of the rig, which is
 * fetched at once with the pose; of instructions, so kernels have as few as possible; and, if a rig consists of one
 * trajectory layer, of the vertex's own numbers, which are fetched while the block prepares.
 */
#ifndef EXI_CUDA_KERNELS_SHAPE_FUSED_INL
#define EXI_CUDA_KERNELS_SHAPE_FUSED_INL

#include "cuda/kernels/kernels.h"
#include "cuda/kernels/kernels_prepare_near.inl"
#include "cuda/kernels/kernels_store.inl"
#include "cuda/stages/shape.inl"
#include "cuda/stages/shape_trajectory.inl"

enum { EXI_FUSED_CORRECTORS = 3 };
enum { EXI_FUSED_THREADS = 128, EXI_FUSED_WARPS = EXI_FUSED_THREADS / 32 };
/* Maximum number of instances for preparing in every block; blocks per multiprocessor. */
enum { EXI_FUSED_COUNT = 4, EXI_FUSED_RESIDENT = 4 };

/* Layout of shared memory: the front, the pose, the work. */
typedef struct exi_fused {
    int near, pose;    /* bytes of the front and of dials that are copied; 0: they stay in place */
    exi_gpu_work work; /* laid out at EXI_NEAR_BASE */
} exi_fused;

/* ---- kernels ---- */

static __device__ inline void exi_gpu_shape_group(const exi_gpu *g, const exi_gpu_job *j, int instance, int group,
                                                  const exi_gpu_place_out *out, int to_instance, float *room) {
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32, tile = group * EXI_FUSED_WARPS + warp;
    const int left = g->vertices - tile * EXI_GPU_TILE, count = left < EXI_GPU_TILE ? left : EXI_GPU_TILE;
    if (count <= 0)
        return;
    float position[3];
    exi_gpu_shape(g, j, instance, tile * EXI_GPU_TILE + (lane < count ? lane : count - 1), position);
    exi_gpu_store_tile(out, to_instance, tile, count, lane, position, room + warp * EXI_STORE_FLOATS);
}

/* Starts all fetches, and sets up what they will fill: a job of one instance, and the head of a rig in shared
 * memory. */
static __device__ inline void exi_fused_open(const exi_fused *f, int has, int instance, char *memory, exi_gpu *g,
                                             exi_gpu_job *j) {
    const float *dials = j->inputs ? j->inputs + (size_t)instance * (size_t)g->pose_size : NULL;
    float *near_dials = (float *)(memory + f->near);
    exi_near_copy(g->front, memory, f->near);
    if (dials && f->pose > 0) {
        exi_near_copy_floats(dials, near_dials, g->pose_size);
        dials = near_dials;
    }
    exi_near_head(g, has, f->near > 0 ? memory - g->front : 0);
    j->inputs = dials;
    j->joints = j->joints ? j->joints + (size_t)instance * (size_t)g->joints : NULL;
    j->work = f->work;
    exi_near_work(&j->work, memory + f->near + f->pose);
}

/* Prepares; then writes the weights to the caller's array. */
static __device__ inline void exi_fused_prepare(const exi_gpu *g, const exi_gpu_job *j, int instance, float *weights) {
    exi_team team;
    team.lane = (int)threadIdx.x;
    team.lanes = EXI_FUSED_THREADS;
    exi_near_wait();
    exi_gpu_prepare(g, j, 0, team); /* ends with a barrier */
    if (blockIdx.x == 0 && weights)
        for (int k = (int)threadIdx.x; k < g->examples; k += EXI_FUSED_THREADS)
            weights[(size_t)instance * (size_t)g->examples + (size_t)k] = j->work.weights[k];
}

template <int has>
static __global__ void __launch_bounds__(EXI_FUSED_THREADS, EXI_FUSED_RESIDENT)
    exi_fused_kernel(const __grid_constant__ exi_gpu g, const __grid_constant__ exi_gpu_job j,
                     const __grid_constant__ exi_fused f) {
    extern __shared__ __align__(16) char memory[];
    __shared__ __align__(16) float room[EXI_FUSED_WARPS * EXI_STORE_FLOATS];
    const int instance = (int)blockIdx.y, groups = (g.tiles + EXI_FUSED_WARPS - 1) / EXI_FUSED_WARPS;
    const exi_gpu_place_out out = exi_gpu_out(&g, &j);
    exi_gpu head = g;
    exi_gpu_job job = j;
    exi_fused_open(&f, has, instance, memory, &head, &job);
    exi_fused_prepare(&head, &job, instance, j.work.weights);
    for (int group = (int)blockIdx.x; group < groups; group += (int)gridDim.x)
        exi_gpu_shape_group(&head, &job, 0, group, &out, instance, room);
}

/* A rig with exi_gpu_is_alone and one example: a block takes one group of vertices. */
template <int has>
static __global__ void __launch_bounds__(EXI_FUSED_THREADS, EXI_FUSED_RESIDENT)
    exi_fused_trajectory_kernel(const __grid_constant__ exi_gpu g, const __grid_constant__ exi_gpu_job j,
                                const __grid_constant__ exi_fused f) {
    extern __shared__ __align__(16) char memory[];
    __shared__ __align__(16) float room[EXI_FUSED_WARPS * EXI_STORE_FLOATS];
    enum { CORRECTORS = has & EXI_GPU_CORRECTORS ? EXI_FUSED_CORRECTORS : 0 };
    const int instance = (int)blockIdx.y, warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    const int tile = (int)blockIdx.x * EXI_FUSED_WARPS + warp, vertex = tile * EXI_GPU_TILE + lane;
    const int left = g.vertices - tile * EXI_GPU_TILE, own = vertex < g.vertices ? vertex : g.vertices - 1;
    const bool appends = (has & EXI_GPU_BASES) && g.alone.segments;
    exi_gpu head = g;
    exi_gpu_job job = j;
    exi_fused_open(&f, has, instance, memory, &head, &job);
    exi_trajectory_vertex v;
    exi_trajectory_read_vertex(&head, own, 1, CORRECTORS, &v);
    const int segment = appends ? (int)__ldg((const uint16_t *)(g.block + g.alone.segments) + own) : 0;
    exi_fused_prepare(&head, &job, instance, j.work.weights);
    if (left <= 0)
        return;
    exi_trajectory_record record;
    exi_trajectory_site site;
    const bool moves = exi_trajectory_open(&head, &job.work, 0, 1, CORRECTORS, &record);
    exi_trajectory_begin(&v, &record, 1, CORRECTORS, &site);
    exi_trajectory_turn(&site, site.t > 1.0f ? exi_trajectory_far(site.t) : exi_trajectory_near(site.t));
    if (appends && record.active != 0.0f)
        for (int c = 0; c < 3; c++)
            site.out[c] += job.work.appended[3 * (g.alone.first_segment + segment) + c];
    if ((has & EXI_GPU_SCREWS) && moves)
        exi_trajectory_move(&record, site.out);
    const exi_gpu_place_out out = exi_gpu_out(&g, &j);
    exi_gpu_store_tile(&out, instance, tile, left < EXI_GPU_TILE ? left : EXI_GPU_TILE, lane, site.out,
                       room + warp * EXI_STORE_FLOATS);
}

/* ---- host ---- */

static inline bool exi_fused_fits(const exi_gpu *g) {
    return exi_gpu_work_size(g) <= EXI_NEAR_BYTES;
}

/* Lays out shared memory; returns its size. */
static inline size_t exi_fused_lay(const exi_gpu *g, int need, exi_fused *f) {
    size_t bytes = exi_gpu_work_lay(g, 1, (char *)EXI_NEAR_BASE, &f->work);
    const size_t pose = ((size_t)g->pose_size * sizeof(float) + 15) / 16 * 16;
    const size_t front = (size_t)(need & (EXI_GPU_SKIN | EXI_GPU_READINGS) ? g->front_bytes : g->weigh_bytes);
    f->pose = bytes + pose <= EXI_NEAR_BYTES ? (int)pose : 0;
    bytes += (size_t)f->pose;
    f->near = bytes + front <= EXI_NEAR_BYTES ? (int)front : 0;
    return bytes + (size_t)f->near;
}

typedef void (*exi_fused_function)(exi_gpu, exi_gpu_job, exi_fused);

/* Returns the smallest kernel with the needed features. */
static inline exi_fused_function exi_fused_choose(const exi_gpu *g, const exi_gpu_job *j, bool *alone) {
    enum {
        PATH = EXI_GPU_PATHS,
        BASES = EXI_GPU_PATHS | EXI_GPU_BASES,
        PATHS = EXI_GPU_PATHS | EXI_GPU_CORRECTORS | EXI_GPU_SCREWS | EXI_GPU_BASES,
        CHARACTER = EXI_GPU_CARDINAL | EXI_GPU_OFFSETS | EXI_GPU_SKIN,
        POSE_SPACE = CHARACTER | EXI_GPU_KERNELS | EXI_GPU_GAUSSIAN | EXI_GPU_CALM | EXI_GPU_READINGS | EXI_GPU_TURNS
    };
    const int need = exi_near_need(g, j);
    *alone = exi_gpu_is_alone(g, j) && exi_trajectory_examples(&g->alone) <= 1 && !g->alone.mask &&
             g->alone.corrector_count <= EXI_FUSED_CORRECTORS && !(need & ~PATHS);
    if (*alone)
        return !(need & ~PATH)    ? exi_fused_trajectory_kernel<PATH>
               : !(need & ~BASES) ? exi_fused_trajectory_kernel<BASES>
                                  : exi_fused_trajectory_kernel<PATHS>;
    if (!(need & ~CHARACTER))
        return exi_fused_kernel<CHARACTER>;
    if (!(need & ~POSE_SPACE))
        return exi_fused_kernel<POSE_SPACE>;
    return exi_fused_kernel<EXI_GPU_ALL & ~EXI_GPU_MIXTURES>; /* exi_gpu_can_fuse */
}

static inline void exi_gpu_launch_fused(const exi_gpu *g, const exi_gpu_job *j, int multiprocessors,
                                        ex_cuda_stream stream) {
    const int groups = (g->tiles + EXI_FUSED_WARPS - 1) / EXI_FUSED_WARPS;
    const int most = multiprocessors * EXI_FUSED_RESIDENT / j->count;
    bool alone;
    exi_fused f;
    const exi_fused_function kernel = exi_fused_choose(g, j, &alone);
    const size_t bytes = exi_fused_lay(g, exi_near_need(g, j), &f);
    const dim3 grid((unsigned)(alone || groups < most ? groups : most), (unsigned)j->count);
    kernel<<<grid, EXI_FUSED_THREADS, bytes, stream>>>(*g, *j, f);
}

#endif

/*
 * The shape stage on the GPU. The general kernel takes four tiles of vertices, a warp each, and a run of instances,
 * which it goes through one after the other: what the tiles have in tables is then read from memory once and stays near
 * for the rest of the run. For one instance, or a few, it also prepares: every block does, in its own shared memory,
 * which takes no longer than one doing it, and saves a launch.
 *
 * Three cases have kernels of their own: one sum of many forms (kernels_blend.inl), many instances of one layer of
 * trajectories (kernels_path.inl), and many of forms and skin (kernels_posed.inl).
 */
#include "cuda/kernels.h"
#include "cuda/kernels_blend.inl"
#include "cuda/kernels_path.inl"
#include "cuda/kernels_posed.inl"
#include "cuda/kernels_store.inl"
#include "cuda/prepare.inl"
#include "cuda/shape.inl"
#include "cuda/work.h"

enum { THREADS = 128, WARPS = THREADS / 32 };
/* Blocks of a multiprocessor at a time, and how often over it should be filled so that it ends evenly. */
enum { RESIDENT = 5, WAVES = 4 };
/* Shared memory that every device gives a block without being asked, less what the kernel has beside. */
enum { FUSED_BYTES = 48 * 1024 - 4 * 1024 };
/* Instances for which preparing in every block is worth it. */
enum { FUSED_COUNT = 8, FUSED_RESIDENT = 4 };

/* ---- kernels ---- */

static __device__ inline void shape_group(const exi_gpu *g, const exi_gpu_job *j, int instance, int group,
                                          const exi_gpu_place_out *out, int to_instance, float *room) {
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32, tile = group * WARPS + warp;
    const int left = g->vertices - tile * EXI_GPU_TILE, count = left < EXI_GPU_TILE ? left : EXI_GPU_TILE;
    if (count <= 0)
        return;
    float position[3];
    exi_gpu_shape(g, j, instance, tile * EXI_GPU_TILE + (lane < count ? lane : count - 1), position);
    exi_gpu_store_tile(out, to_instance, tile, count, lane, position, room + warp * EXI_STORE_FLOATS);
}

/* What a rig or a call does not have is left out where the kernel is made: registers are then left for more blocks. */
template <bool paths, bool offsets, bool posed>
static __global__ void __launch_bounds__(THREADS, RESIDENT)
    shape_kernel(const __grid_constant__ exi_gpu g, const __grid_constant__ exi_gpu_job j, int run) {
    __shared__ __align__(16) float room[WARPS * EXI_STORE_FLOATS];
    const exi_gpu_place_out out = exi_gpu_out(&g, &j);
    const int begin = (int)blockIdx.y * run, end = begin + run < j.count ? begin + run : j.count;
    exi_gpu own = g;
    own.path_count = paths ? g.path_count : 0;
    own.offset_starts[EX_FRAME_REST] = offsets ? g.offset_starts[EX_FRAME_REST] : NULL;
    own.offset_starts[EX_FRAME_SKINNED] = offsets ? g.offset_starts[EX_FRAME_SKINNED] : NULL;
    own.skin_joints = posed ? g.skin_joints : NULL;
    for (int instance = begin; instance < end; instance++)
        shape_group(&own, &j, instance, (int)blockIdx.x, &out, instance, room);
}

/* The job of one instance alone, with its work in shared memory. */
static __device__ inline void open_own(const exi_gpu *g, const exi_gpu_job *j, int instance, char *memory,
                                       exi_gpu_job *own) {
    *own = *j;
    own->count = 1;
    own->inputs = j->inputs ? j->inputs + (size_t)instance * (size_t)g->pose_size : NULL;
    own->joints = j->joints ? j->joints + (size_t)instance * (size_t)g->joints : NULL;
    exi_gpu_work_lay(g, 1, memory, &own->work);
}

static __global__ void __launch_bounds__(THREADS, FUSED_RESIDENT)
    fused_kernel(const __grid_constant__ exi_gpu g, const __grid_constant__ exi_gpu_job j) {
    extern __shared__ __align__(16) char memory[];
    __shared__ __align__(16) float room[WARPS * EXI_STORE_FLOATS];
    __shared__ exi_gpu_job own;
    const int instance = (int)blockIdx.y, groups = (g.tiles + WARPS - 1) / WARPS;
    const exi_gpu_place_out out = exi_gpu_out(&g, &j);
    exi_team team;
    team.lane = (int)threadIdx.x;
    team.lanes = THREADS;
    if (threadIdx.x == 0)
        open_own(&g, &j, instance, memory, &own);
    __syncthreads();
    exi_gpu_prepare(&g, &own, 0, team);
    __syncthreads();
    if (blockIdx.x == 0 && j.work.weights)
        for (int k = (int)threadIdx.x; k < g.examples; k += THREADS)
            j.work.weights[(size_t)instance * (size_t)g.examples + (size_t)k] = own.work.weights[k];
    for (int group = (int)blockIdx.x; group < groups; group += (int)gridDim.x)
        shape_group(&g, &own, 0, group, &out, instance, room);
}

/* ---- launches ---- */

static int multiprocessors(void) {
    int device = 0, count = 0;
    if (cudaGetDevice(&device) != cudaSuccess ||
        cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device) != cudaSuccess || count < 1)
        return 128;
    return count;
}

bool exi_gpu_can_fuse(const exi_gpu *gpu, const exi_gpu_job *job) {
    return job->count <= FUSED_COUNT && !exi_gpu_is_blend(gpu, job) && exi_gpu_work_size(gpu) <= FUSED_BYTES;
}

static void run_fused(const exi_gpu *gpu, const exi_gpu_job *job, ex_cuda_stream stream) {
    const int groups = (gpu->tiles + WARPS - 1) / WARPS, most = multiprocessors() * FUSED_RESIDENT / job->count;
    const dim3 grid((unsigned)(groups < most ? groups : most), (unsigned)job->count);
    fused_kernel<<<grid, THREADS, exi_gpu_work_size(gpu), stream>>>(*gpu, *job);
}

static void run_general(const exi_gpu *gpu, const exi_gpu_job *job, ex_cuda_stream stream) {
    const int groups = (gpu->tiles + WARPS - 1) / WARPS;
    const int run = exi_gpu_choose_run(groups, multiprocessors() * RESIDENT * WAVES, job->count, 1);
    const dim3 grid((unsigned)groups, (unsigned)((job->count + run - 1) / run));
    static void (*const kernels[2][2][2])(exi_gpu, exi_gpu_job, int) = {
        {{shape_kernel<false, false, false>, shape_kernel<false, false, true>},
         {shape_kernel<false, true, false>, shape_kernel<false, true, true>}},
        {{shape_kernel<true, false, false>, shape_kernel<true, false, true>},
         {shape_kernel<true, true, false>, shape_kernel<true, true, true>}}};
    const bool offsets = gpu->offset_starts[EX_FRAME_REST] || gpu->offset_starts[EX_FRAME_SKINNED];
    kernels[gpu->path_count > 0][offsets][job->skinned && gpu->skin_joints]<<<grid, THREADS, 0, stream>>>(*gpu, *job,
                                                                                                          run);
}

int exi_gpu_run_shape(const exi_gpu *gpu, const exi_gpu_job *job, bool prepared, ex_cuda_stream stream) {
    if (job->count <= 0 || gpu->vertices <= 0)
        return 0;
    if (!prepared)
        run_fused(gpu, job, stream);
    else if (exi_gpu_is_blend(gpu, job))
        exi_gpu_launch_blend(gpu, job, stream);
    else if (exi_gpu_is_path(gpu, job))
        exi_gpu_launch_path(gpu, job, multiprocessors(), stream);
    else if (exi_gpu_is_posed(gpu, job))
        exi_gpu_launch_posed(gpu, job, multiprocessors(), stream);
    else
        run_general(gpu, job, stream);
    return (int)cudaGetLastError();
}

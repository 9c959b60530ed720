/*
 * The shape stage on the GPU. A block of the general kernel takes four tiles of vertices, a warp each, and a run of
 * instances, one after the other: the tables of the tiles are read from memory once and stay in the cache for the rest
 * of the run.
 *
 * Five cases have their own kernels: one sum of many forms (kernels_shape_blend.inl), many instances of one trajectory
 * layer (kernels_shape_trajectory.inl), one layer with a mixture (kernels_shape_mixture.inl), many of forms and skin
 * (kernels_shape_posed.inl), and a few instances of anything without mixtures (kernels_shape_fused.inl).
 */
#include "cuda/kernels/kernels.h"
#include "cuda/kernels/kernels_launch.inl"
#include "cuda/kernels/kernels_shape_blend.inl"
#include "cuda/kernels/kernels_shape_fused.inl"
#include "cuda/kernels/kernels_shape_mixture.inl"
#include "cuda/kernels/kernels_shape_posed.inl"
#include "cuda/kernels/kernels_shape_trajectory.inl"
#include "cuda/kernels/kernels_store.inl"
#include "cuda/stages/shape.inl"

enum { THREADS = EXI_FUSED_THREADS, WARPS = EXI_FUSED_WARPS };
/* Blocks per multiprocessor at a time, and the number of times it should be filled so that all end together. */
enum { RESIDENT = 5, WAVES = 4 };

/* ---- kernels ---- */

/* Kernels are compiled without the features that a rig or a call does not have: this leaves registers for more blocks.
 * paths: NO_PATHS, PATHS or, with mixtures, MIXTURES. */
enum { NO_PATHS, PATHS, MIXTURES };
template <int paths, bool offsets, bool posed>
static __global__ void __launch_bounds__(THREADS, RESIDENT)
    shape_kernel(const __grid_constant__ exi_gpu g, const __grid_constant__ exi_gpu_job j, int run) {
    __shared__ __align__(16) float room[WARPS * EXI_STORE_FLOATS];
    const exi_gpu_place_out out = exi_gpu_out(&g, &j);
    const int begin = (int)blockIdx.y * run, end = begin + run < j.count ? begin + run : j.count;
    exi_gpu own = g;
    own.path_count = paths != NO_PATHS ? g.path_count : 0;
    own.lacks = paths == MIXTURES ? g.lacks & ~EXI_GPU_MIXTURES : g.lacks | EXI_GPU_MIXTURES;
    own.offset_starts[EX_OFFSET_FRAME_REST] = offsets ? g.offset_starts[EX_OFFSET_FRAME_REST] : NULL;
    own.offset_starts[EX_OFFSET_FRAME_SKINNED] = offsets ? g.offset_starts[EX_OFFSET_FRAME_SKINNED] : NULL;
    own.skin_joints = posed ? g.skin_joints : NULL;
    for (int instance = begin; instance < end; instance++)
        exi_gpu_shape_group(&own, &j, instance, (int)blockIdx.x, &out, instance, room);
}

/* ---- launches ---- */

bool exi_gpu_can_fuse(const exi_gpu *gpu, const exi_gpu_job *job) {
    return job->count <= EXI_FUSED_COUNT && gpu->mixed_nodes == 0 && !exi_gpu_is_blend(gpu, job) && exi_fused_fits(gpu);
}

static void run_general(const exi_gpu *gpu, const exi_gpu_job *job, ex_cuda_stream stream) {
    const int groups = (gpu->tiles + WARPS - 1) / WARPS;
    const int run = exi_launch_choose_run(groups, exi_launch_multiprocessors() * RESIDENT * WAVES, job->count, 1);
    const dim3 grid((unsigned)groups, (unsigned)((job->count + run - 1) / run));
    static void (*const kernels[3][2][2])(exi_gpu, exi_gpu_job, int) = {
        {{shape_kernel<NO_PATHS, false, false>, shape_kernel<NO_PATHS, false, true>},
         {shape_kernel<NO_PATHS, true, false>, shape_kernel<NO_PATHS, true, true>}},
        {{shape_kernel<PATHS, false, false>, shape_kernel<PATHS, false, true>},
         {shape_kernel<PATHS, true, false>, shape_kernel<PATHS, true, true>}},
        {{shape_kernel<MIXTURES, false, false>, shape_kernel<MIXTURES, false, true>},
         {shape_kernel<MIXTURES, true, false>, shape_kernel<MIXTURES, true, true>}}};
    const int paths = gpu->mixed_nodes > 0 ? MIXTURES : gpu->path_count > 0 ? PATHS : NO_PATHS;
    const bool offsets = gpu->offset_starts[EX_OFFSET_FRAME_REST] || gpu->offset_starts[EX_OFFSET_FRAME_SKINNED];
    kernels[paths][offsets][job->skinned && gpu->skin_joints]<<<grid, THREADS, 0, stream>>>(*gpu, *job, run);
}

int exi_gpu_run_shape(const exi_gpu *gpu, const exi_gpu_job *job, bool prepared, ex_cuda_stream stream) {
    if (job->count <= 0 || gpu->vertices <= 0)
        return 0;
    bool done = false;
    if (exi_gpu_is_mixture(gpu, job)) {
        const cudaError_t status = exi_gpu_launch_mixture(gpu, job, exi_launch_multiprocessors(), stream, &done);
        if (status != cudaSuccess)
            return (int)status;
    }
    if (done)
        return (int)cudaGetLastError();
    if (!prepared)
        exi_gpu_launch_fused(gpu, job, exi_launch_multiprocessors(), stream);
    else if (exi_gpu_is_blend(gpu, job))
        exi_gpu_launch_blend(gpu, job, stream);
    else if (exi_gpu_is_trajectory(gpu, job))
        exi_gpu_launch_trajectory(gpu, job, exi_launch_multiprocessors(), stream);
    else if (exi_gpu_is_posed(gpu, job))
        exi_gpu_launch_posed(gpu, job, exi_launch_multiprocessors(), stream);
    else
        run_general(gpu, job, stream);
    return (int)cudaGetLastError();
}

/*
 * Preparing instances on the GPU: a warp each, or, where there are few, a block each. What is read is the rig's small
 * tables and a pose, what is written some hundred numbers a joint and example: nothing beside a surface's vertices.
 */
#include "cuda/kernels.h"
#include "cuda/prepare.inl"

enum { THREADS = 128, WARP = 32 };

static __global__ void __launch_bounds__(THREADS)
    prepare_kernel(const __grid_constant__ exi_gpu g, const __grid_constant__ exi_gpu_job j, int lanes) {
    const int thread = (int)threadIdx.x, instance = (int)blockIdx.x * (THREADS / lanes) + thread / lanes;
    exi_team team;
    team.lane = thread % lanes;
    team.lanes = lanes;
    if (instance < j.count) /* the same for all of a team */
        exi_gpu_prepare(&g, &j, instance, team);
}

int exi_gpu_run_prepare(const exi_gpu *gpu, const exi_gpu_job *job, ex_cuda_stream stream) {
    const int lanes = job->count < 256 ? THREADS : WARP, teams = THREADS / lanes;
    prepare_kernel<<<(unsigned)((job->count + teams - 1) / teams), THREADS, 0, stream>>>(*gpu, *job, lanes);
    return (int)cudaGetLastError();
}

/*
 * The nodes of mixtures on the GPU (prepare_mixture.inl): a block takes one instance, if there are few, or four, which
 * then share the tables. These, about 230 KB for 150 nodes and 8 examples, come from the second-level cache; what the
 * threads exchange is in shared memory.
 */
#include "cuda/kernels/kernels.h"
#include "cuda/kernels/kernels_launch.inl"
#include "cuda/stages/prepare_mixture.inl"

enum { FEW_THREADS = 512, MANY_THREADS = 256 };
/* Instances per multiprocessor from which a block takes several, and the parts of a product then. */
enum { MANY_COUNT = 2, MANY_PARTS = 6 };

template <int side, int threads>
static __global__ void __launch_bounds__(threads, side > 1 ? 2 : 1)
    nodes_kernel(const __grid_constant__ exi_gpu g, const __grid_constant__ exi_gpu_job j, int parts, bool near) {
    extern __shared__ __align__(16) float memory[];
    exi_gpu_mixes all;
    exi_team team;
    all.first = (int)blockIdx.x * side;
    all.last = j.count - 1;
    all.side = side;
    all.path = (int)blockIdx.y;
    all.parts = parts;
    all.room = near ? memory : j.work.node_rooms + (size_t)all.first * exi_gpu_mix_room(&g, parts);
    team.lane = (int)threadIdx.x;
    team.lanes = threads;
    if (g.paths[all.path].mixture.node_count > 0)
        exi_gpu_mix_nodes(&g, &j, &all, team);
}

/* Shared memory that a block may have. */
static size_t most_shared(void) {
    int device = 0, bytes = 0;
    if (cudaGetDevice(&device) != cudaSuccess ||
        cudaDeviceGetAttribute(&bytes, cudaDevAttrMaxSharedMemoryPerBlockOptin, device) != cudaSuccess)
        return EXI_GPU_MIX_BYTES;
    return (size_t)bytes;
}

int exi_gpu_run_nodes(const exi_gpu *gpu, const exi_gpu_job *job, ex_cuda_stream stream) {
    const size_t few = exi_gpu_mix_room(gpu, EXI_GPU_MIX_PARTS) * sizeof(float);
    const size_t many = EXI_MIX_SIDE * exi_gpu_mix_room(gpu, MANY_PARTS) * sizeof(float);
    const bool near = exi_gpu_mix_is_near(gpu);
    cudaError_t status = cudaSuccess;
    if (job->count >= MANY_COUNT * exi_launch_multiprocessors() && near && many <= most_shared()) {
        const dim3 grid((unsigned)((job->count + EXI_MIX_SIDE - 1) / EXI_MIX_SIDE), (unsigned)gpu->path_count);
        status = cudaFuncSetAttribute(nodes_kernel<EXI_MIX_SIDE, MANY_THREADS>,
                                      cudaFuncAttributeMaxDynamicSharedMemorySize, (int)many);
        if (status == cudaSuccess)
            nodes_kernel<EXI_MIX_SIDE, MANY_THREADS>
                <<<grid, MANY_THREADS, many, stream>>>(*gpu, *job, MANY_PARTS, true);
    } else {
        const dim3 grid((unsigned)job->count, (unsigned)gpu->path_count);
        nodes_kernel<1, FEW_THREADS>
            <<<grid, FEW_THREADS, near ? few : 0, stream>>>(*gpu, *job, EXI_GPU_MIX_PARTS, near);
    }
    return status == cudaSuccess ? (int)cudaGetLastError() : (int)status;
}

/*
 * Kernels of the surface: refined vertices, normals from rings, entries of output arrays, boxes (surface.inl,
 * write.inl). A thread is a vertex; a block of 128 takes four tiles of vertices through a run of instances, so that the
 * tables it reads stay in the first-level cache. Runs are short enough to fill the GPU: one instance of 80 000 vertices
 * is 625 blocks.
 */
#include "cuda/kernels/kernels.h"
#include "cuda/kernels/kernels_launch.inl"
#include "cuda/kernels/kernels_store.inl"
#include "cuda/kernels/kernels_surface_normals.inl"
#include "cuda/stages/surface.inl"
#include "cuda/stages/write.inl"

#include <cfloat>

namespace {

enum { BLOCK = 128, WARP = EXI_GPU_TILE, WARPS = BLOCK / WARP };

/* ---- launches ---- */

/* Grid for `items` times `count` instances: enough blocks for a few rounds of all multiprocessors, which have room for
 * 16 blocks each, but at most one run per instance. */
dim3 grid_of(int items, int count) {
    const long long wide = ((long long)items + BLOCK - 1) / BLOCK, wanted = 64LL * exi_launch_multiprocessors();
    long long runs = (wanted + wide - 1) / wide;
    runs = runs < count ? runs : count;
    runs = runs < EXI_LAUNCH_ROWS_MOST ? runs : EXI_LAUNCH_ROWS_MOST;
    return dim3((unsigned)wide, (unsigned)runs);
}

/* Place of a warp: its tile of items, and the number of its lanes with an item. */
struct place {
    int lane, tile, count;
    __device__ place(int items) {
        lane = (int)threadIdx.x % WARP;
        tile = (int)blockIdx.x * WARPS + (int)threadIdx.x / WARP;
        const int left = items - tile * WARP;
        count = left < WARP ? left : WARP;
    }
    __device__ int item() const { return tile * WARP + lane; }
};

/* ---- refine ---- */

/* full: with limit normals, which displacement needs too. */
template <bool full>
__global__ void __launch_bounds__(BLOCK)
    refine(const __grid_constant__ exi_gpu gpu, const __grid_constant__ exi_gpu_job job) {
    __shared__ alignas(16) float rooms[WARPS][EXI_STORE_FLOATS];
    const place at(job.level.vertices);
    float *room = rooms[threadIdx.x / WARP];
    const exi_gpu_place_out positions = {job.positions, job.position_stride, job.position_instance};
    const exi_gpu_place_out normals = {job.normals, job.normal_stride, job.normal_instance};
    if (at.count <= 0)
        return;
    for (int instance = (int)blockIdx.y; instance < job.count; instance += (int)gridDim.y) {
        float position[3] = {0, 0, 0}, normal[3] = {0, 0, 0};
        if (at.lane < at.count) {
            if (full)
                exi_gpu_refine_full(&gpu, &job, instance, at.item(), position, normal);
            else
                exi_gpu_refine_position(&gpu, &job, instance, at.item(), position);
        }
        if (job.positions)
            exi_gpu_store_tile(&positions, instance, at.tile, at.count, at.lane, position, room);
        if (full && job.limit_normals && job.normals)
            exi_gpu_store_tile(&normals, instance, at.tile, at.count, at.lane, normal, room);
    }
}

/* ---- normals ---- */

__global__ void __launch_bounds__(BLOCK) ring_normals(const __grid_constant__ exi_gpu_job job) {
    __shared__ alignas(16) float rooms[WARPS][EXI_STORE_FLOATS];
    const place at(job.level.vertices);
    float *room = rooms[threadIdx.x / WARP];
    const exi_gpu_place_out normals = {job.normals, job.normal_stride, job.normal_instance};
    if (at.count <= 0)
        return;
    for (int instance = (int)blockIdx.y; instance < job.count; instance += (int)gridDim.y) {
        float normal[3] = {0, 0, 0};
        if (at.lane < at.count)
            exi_gpu_normal(&job, instance, at.item(), normal);
        exi_gpu_store_tile(&normals, instance, at.tile, at.count, at.lane, normal, room);
    }
}

/* ---- write ---- */

__global__ void __launch_bounds__(BLOCK)
    write_entries(const __grid_constant__ exi_gpu_job job, const __grid_constant__ exi_gpu_writing writing) {
    __shared__ alignas(16) float rooms[WARPS][EXI_STORE_FLOATS];
    const place at(exi_gpu_write_count(&job, &writing));
    float *room = rooms[threadIdx.x / WARP];
    const bool floats = writing.to.number == EX_CUDA_FLOAT;
    const exi_gpu_place_out out = {(float *)writing.to.data, writing.to.stride / sizeof(float),
                                   writing.to.instance_stride / sizeof(float)};
    if (at.count <= 0)
        return;
    for (int instance = (int)blockIdx.y; instance < job.count; instance += (int)gridDim.y) {
        float value[3] = {0, 0, 0};
        if (at.lane < at.count && !floats)
            exi_gpu_write(&job, &writing, instance, at.item());
        if (at.lane < at.count && floats) {
            const float *from = exi_gpu_write_from(&job, &writing, instance, at.item());
            for (int c = 0; c < 3; c++)
                value[c] = from[c];
        }
        if (floats)
            exi_gpu_store_tile(&out, instance, at.tile, at.count, at.lane, value, room);
    }
}

/* ---- boxes ---- */

enum { BOX_BLOCK = 256, BOX_WARPS = BOX_BLOCK / WARP };

/* Updates a number of a box with the minimum, or with `most` the maximum, of itself and value. The bits of floats are
 * ordered like integers, those of negative ones in reverse. */
__device__ inline void grow(float *number, float value, bool most) {
    const int bits = __float_as_int(value);
    if ((bits >= 0) != most)
        bits >= 0 ? atomicMin((int *)number, bits) : atomicMin((unsigned *)number, (unsigned)bits);
    else
        bits >= 0 ? atomicMax((int *)number, bits) : atomicMax((unsigned *)number, (unsigned)bits);
}

__global__ void empty_boxes(float *boxes, int count) {
    const int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    if (i < 6 * count)
        boxes[i] = i % 6 < 3 ? FLT_MAX : -FLT_MAX;
}

/* A block takes a part of an instance's vertices; if it is the only one it writes the box, else it merges with the
 * others. */
__global__ void __launch_bounds__(BOX_BLOCK) grow_boxes(const __grid_constant__ exi_gpu_job job, float *boxes) {
    __shared__ float found[BOX_WARPS][6];
    const int lane = (int)threadIdx.x % WARP, warp = (int)threadIdx.x / WARP;
    for (int instance = (int)blockIdx.y; instance < job.count; instance += (int)gridDim.y) {
        const float *positions = job.positions + (size_t)instance * job.position_instance;
        float box[6] = {FLT_MAX, FLT_MAX, FLT_MAX, -FLT_MAX, -FLT_MAX, -FLT_MAX};
        for (int v = (int)(blockIdx.x * BOX_BLOCK + threadIdx.x); v < job.level.vertices;
             v += (int)(gridDim.x * BOX_BLOCK)) {
            const float *p = positions + (size_t)v * job.position_stride;
            for (int c = 0; c < 3; c++) {
                const float value = p[c];
                box[c] = value < box[c] ? value : box[c];
                box[3 + c] = value > box[3 + c] ? value : box[3 + c];
            }
        }
        for (int step = WARP / 2; step > 0; step /= 2)
            for (int c = 0; c < 6; c++) {
                const float other = __shfl_xor_sync(0xFFFFFFFFu, box[c], step);
                box[c] = (c < 3 ? other < box[c] : other > box[c]) ? other : box[c];
            }
        for (int c = 0; c < 6 && lane == 0; c++)
            found[warp][c] = box[c];
        __syncthreads();
        if (threadIdx.x < 6) {
            const int c = (int)threadIdx.x;
            float most = found[0][c];
            for (int w = 1; w < BOX_WARPS; w++)
                most = (c < 3 ? found[w][c] < most : found[w][c] > most) ? found[w][c] : most;
            if (gridDim.x == 1)
                boxes[6 * (size_t)instance + c] = most;
            else
                grow(boxes + 6 * (size_t)instance + c, most, c >= 3);
        }
        __syncthreads();
    }
}

} // namespace

int exi_gpu_run_refine(const exi_gpu *gpu, const exi_gpu_job *job, ex_cuda_stream stream) {
    if (job->count == 0 || job->level.vertices == 0)
        return 0;
    const dim3 grid = grid_of(job->level.vertices, job->count);
    if (job->displaced || (job->limit_normals && job->normals))
        refine<true><<<grid, BLOCK, 0, stream>>>(*gpu, *job);
    else
        refine<false><<<grid, BLOCK, 0, stream>>>(*gpu, *job);
    return (int)cudaGetLastError();
}

int exi_gpu_run_normals(const exi_gpu_job *job, ex_cuda_stream stream) {
    if (job->count == 0 || job->level.vertices == 0)
        return 0;
    if (exi_gpu_is_rings(job))
        exi_gpu_launch_rings(job, exi_launch_multiprocessors(), stream);
    else
        ring_normals<<<grid_of(job->level.vertices, job->count), BLOCK, 0, stream>>>(*job);
    return (int)cudaGetLastError();
}

int exi_gpu_run_write(const exi_gpu_job *job, const exi_gpu_writing *writing, ex_cuda_stream stream) {
    const int entries = exi_gpu_write_count(job, writing);
    if (job->count == 0 || entries == 0)
        return 0;
    write_entries<<<grid_of(entries, job->count), BLOCK, 0, stream>>>(*job, *writing);
    return (int)cudaGetLastError();
}

int exi_gpu_run_boxes(const exi_gpu_job *job, float *boxes, ex_cuda_stream stream) {
    const int count = job->count;
    if (count == 0)
        return 0;
    /* One block per instance, or per part of one if instances are few: at least eight vertices per thread. */
    const int parts = (job->level.vertices + 8 * BOX_BLOCK - 1) / (8 * BOX_BLOCK);
    const int wide = count >= 256 || parts < 1 ? 1 : parts < 1024 ? parts : 1024;
    if (wide > 1)
        empty_boxes<<<(unsigned)((6 * count + 127) / 128), 128, 0, stream>>>(boxes, count);
    grow_boxes<<<dim3((unsigned)wide, (unsigned)(count < EXI_LAUNCH_ROWS_MOST ? count : EXI_LAUNCH_ROWS_MOST)),
                 BOX_BLOCK, 0, stream>>>(*job, boxes);
    return (int)cudaGetLastError();
}

/*
 * Many instances of forms and skin that the crowd's kernel does not take: mainly dual quaternions. A thread keeps a
 * vertex, its first forms and its influences in registers and processes a run of instances, whose factors and palettes
 * are in shared memory, a batch at a time. Takes about 150 instructions per vertex and instance with 8 forms and 4
 * influences of dual quaternions, and reads 32 bytes of shared memory per influence.
 */
#ifndef EXI_CUDA_KERNELS_SHAPE_POSED_INL
#define EXI_CUDA_KERNELS_SHAPE_POSED_INL

#include "cuda/kernels/kernels.h"
#include "cuda/kernels/kernels_launch.inl"
#include "cuda/kernels/kernels_store.inl"
#include "cuda/stages/shape.inl"

enum {
    EXI_POSED_THREADS = 128,
    EXI_POSED_WARPS = EXI_POSED_THREADS / 32,
    EXI_POSED_RESIDENT = 5,
    EXI_POSED_WAVES = 4,
    EXI_POSED_FORMS = 8, /* in registers */
    EXI_POSED_BATCH = 16,
    EXI_POSED_BYTES = 40 * 1024, /* of shared memory, besides the warps' output room */
    EXI_POSED_COUNT = 8          /* number of instances from which this is faster */
};

/* A batch in shared memory. */
typedef struct exi_posed_batch {
    float *palettes, *factors; /* [batch][joints][8 or 12], [batch][factor_stride] */
    int *stretched;            /* [batch]: true if dual quaternions are not enough */
    int palette_stride, factor_stride;
} exi_posed_batch;

static __host__ __device__ inline int exi_posed_factor_stride(const exi_gpu *g) {
    return (g->sum_forms > EXI_POSED_FORMS ? g->sum_forms : EXI_POSED_FORMS) + 3 & ~3;
}

static __host__ __device__ inline int exi_posed_palette_stride(const exi_gpu *g) {
    return (g->skinning == EX_SKINNING_DUAL_QUATERNION ? 8 : 12) * g->joints;
}

static __device__ inline void exi_posed_stage(const exi_gpu &g, const exi_gpu_job &j, int first, int count,
                                              const exi_posed_batch &batch) {
    const float *palettes = g.skinning == EX_SKINNING_DUAL_QUATERNION ? j.work.duals : j.work.palette;
    const float4 *from = (const float4 *)(palettes + (size_t)first * (size_t)batch.palette_stride);
    for (int i = (int)threadIdx.x; i < count * batch.palette_stride / 4; i += EXI_POSED_THREADS)
        ((float4 *)batch.palettes)[i] = from[i];
    const float *factors = j.work.factors + (size_t)first * (size_t)g.forms;
#pragma unroll 1
    for (int i = (int)threadIdx.x; i < count * batch.factor_stride; i += EXI_POSED_THREADS) {
        const int instance = i / batch.factor_stride, form = i % batch.factor_stride;
        batch.factors[i] = form < g.sum_forms ? factors[instance * g.forms + form] : 0.0f;
    }
    if ((int)threadIdx.x < count)
        batch.stretched[threadIdx.x] =
            g.skinning == EX_SKINNING_DUAL_QUATERNION ? j.work.stretched[first + (int)threadIdx.x] : 0;
}

/* Base and forms of a vertex; missing ones are 0. */
typedef struct exi_posed_vertex {
    float base[3], forms[EXI_POSED_FORMS][3];
    exi_gpu_influences in;
} exi_posed_vertex;

static __device__ inline void exi_posed_read(const exi_gpu &g, int vertex, exi_posed_vertex &v) {
    const bool is_float = g.storage == EX_STORAGE_FLOAT;
    const size_t at = exi_gpu_place(vertex, g.forms, 0);
#pragma unroll
    for (int c = 0; c < 3; c++)
        v.base[c] = __ldg(g.base + exi_gpu_place(vertex, 1, 0) + c * EXI_GPU_TILE);
#pragma unroll
    for (int k = 0; k < EXI_POSED_FORMS; k++)
#pragma unroll
        for (int c = 0; c < 3; c++)
            v.forms[k][c] =
                k < g.sum_forms
                    ? exi_gpu_number(&g, at + (size_t)(k * EXI_GPU_TILE_NUMBERS + c * EXI_GPU_TILE), is_float)
                    : 0.0f;
    exi_gpu_read_influences(&g, vertex, &v.in);
    /* The largest number in the warp, so that lanes do not diverge. */
    v.in.count = 1;
    for (int i = 1; i < 4; i++)
        v.in.count += __any_sync(0xFFFFFFFFu, v.in.weights[i] != 0.0f) != 0;
}

/* factors: in shared memory. */
static __device__ inline void exi_posed_blend(const exi_gpu &g, const exi_posed_vertex &v, const float *factors,
                                              int vertex, float x[3]) {
#pragma unroll
    for (int c = 0; c < 3; c++)
        x[c] = v.base[c];
#pragma unroll
    for (int k = 0; k < EXI_POSED_FORMS; k += 4) {
        float factor[4];
        exi_gpu_load4(factors + k, factor);
#pragma unroll
        for (int i = 0; i < 4; i++)
#pragma unroll
            for (int c = 0; c < 3; c++)
                x[c] += factor[i] * v.forms[k + i][c];
    }
    if (g.sum_forms > EXI_POSED_FORMS)
        exi_gpu_sum_forms(&g, factors, EXI_POSED_FORMS, g.sum_forms - EXI_POSED_FORMS, vertex, x);
}

template <bool dual>
static __global__ void __launch_bounds__(EXI_POSED_THREADS, EXI_POSED_RESIDENT)
    exi_posed_kernel(const __grid_constant__ exi_gpu g, const __grid_constant__ exi_gpu_job j, int run,
                     int batch_size) {
    extern __shared__ __align__(16) float posed_memory[];
    __shared__ __align__(16) float rooms[EXI_POSED_WARPS][EXI_STORE_FLOATS];
    __shared__ int stretched[EXI_POSED_BATCH];
    const exi_gpu_place_out out = exi_gpu_out(&g, &j);
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    const int begin = (int)blockIdx.y * run, end = min(begin + run, j.count);
    const int tile = (int)blockIdx.x * EXI_POSED_WARPS + warp, left = g.vertices - tile * EXI_GPU_TILE;
    const int vertex = min(tile * EXI_GPU_TILE + lane, g.vertices - 1);
    exi_posed_batch batch;
    batch.palette_stride = exi_posed_palette_stride(&g);
    batch.factor_stride = exi_posed_factor_stride(&g);
    batch.stretched = stretched;
    batch.palettes = posed_memory;
    batch.factors = posed_memory + batch_size * batch.palette_stride;
    exi_posed_vertex v;
    exi_posed_read(g, vertex, v);
    exi_gpu_targets<1> targets;
    targets.open(tile, out.instance, lane);
    int full = left >= EXI_GPU_TILE && exi_gpu_targets<1>::suit(out);
    asm volatile("" : "+r"(full)); /* keeps the compiler from computing it again in every round */
    for (int first = begin; first < end; first += batch_size) {
        const int count = min(batch_size, end - first);
        __syncthreads(); /* the previous batch has been read */
        exi_posed_stage(g, j, first, count, batch);
        __syncthreads();
        float *to = out.data + (size_t)first * out.instance;
        if (left <= 0)
            continue;
#pragma unroll 1
        for (int k = 0; k < count; k++, to += out.instance) {
            const float *palette = batch.palettes + k * batch.palette_stride;
            float x[3];
            exi_posed_blend(g, v, batch.factors + k * batch.factor_stride, vertex, x);
            if (!dual) {
                exi_gpu_move_linear(&g, palette, &v.in, x);
            } else {
                if (stretched[k])
                    exi_gpu_move_linear(&g, j.work.palette + 12 * (size_t)(first + k) * (size_t)g.joints, &v.in, x);
                exi_gpu_move_dual(&g, palette, &v.in, x);
            }
            __syncwarp(); /* the old contents have been read */
#pragma unroll
            for (int c = 0; c < 3; c++)
                rooms[warp][3 * lane + c] = x[c];
            __syncwarp();
            if (full)
                targets.store(to, rooms[warp], lane);
            else
                exi_gpu_store_room(&out, first + k, tile, min(left, EXI_GPU_TILE), lane, rooms[warp]);
        }
    }
}

/* ---- host ---- */

/* Returns the number of instances per batch. */
static inline int exi_gpu_posed_batch(const exi_gpu *g) {
    const size_t bytes = ((size_t)exi_posed_palette_stride(g) + (size_t)exi_posed_factor_stride(g)) * sizeof(float);
    const size_t most = EXI_POSED_BYTES / bytes;
    return most < EXI_POSED_BATCH ? (int)most : EXI_POSED_BATCH;
}

static inline bool exi_gpu_is_posed(const exi_gpu *g, const exi_gpu_job *j) {
    return j->count >= EXI_POSED_COUNT && j->skinned && g->skin_joints && g->path_count == 0 &&
           !g->offset_starts[EX_OFFSET_FRAME_REST] && !g->offset_starts[EX_OFFSET_FRAME_SKINNED] &&
           exi_gpu_posed_batch(g) > 0;
}

static inline void exi_gpu_launch_posed(const exi_gpu *g, const exi_gpu_job *j, int processors, ex_cuda_stream stream) {
    const int groups = (g->tiles + EXI_POSED_WARPS - 1) / EXI_POSED_WARPS, batch = exi_gpu_posed_batch(g);
    const int run = exi_launch_choose_run(groups, processors * EXI_POSED_RESIDENT * EXI_POSED_WAVES, j->count, 1);
    const dim3 grid((unsigned)groups, (unsigned)((j->count + run - 1) / run));
    const size_t bytes =
        (size_t)batch * (size_t)(exi_posed_palette_stride(g) + exi_posed_factor_stride(g)) * sizeof(float);
    if (g->skinning == EX_SKINNING_DUAL_QUATERNION)
        exi_posed_kernel<true><<<grid, EXI_POSED_THREADS, bytes, stream>>>(*g, *j, run, batch);
    else
        exi_posed_kernel<false><<<grid, EXI_POSED_THREADS, bytes, stream>>>(*g, *j, run, batch);
}

#endif

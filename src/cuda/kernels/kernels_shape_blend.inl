/*
 * One instance of a rig that is just a sum of forms. It reads everything once, 12 bytes per vertex and form (6 in 16
 * bit), so the number of loads in flight decides. A tile of a form is 24 pieces of 16 bytes (8 in 16 bit); a thread has
 * one of these pieces, in every form, and sums four numbers. The forms with non-zero factors are found once per block.
 * The sums are turned into triples through shared memory.
 */
#ifndef EXI_CUDA_KERNELS_SHAPE_BLEND_INL
#define EXI_CUDA_KERNELS_SHAPE_BLEND_INL

#include "cuda/kernels/kernels.h"
#include "cuda/kernels/kernels_store.inl"

enum {
    EXI_BLEND_TILES = 8,
    EXI_BLEND_PIECES = EXI_STORE_FLOATS / 4, /* of a tile */
    EXI_BLEND_THREADS = EXI_BLEND_TILES * EXI_BLEND_PIECES,
    EXI_BLEND_AT_ONCE = 8,
    EXI_BLEND_LEAST = 1 << 20, /* vertices times forms; below, preparing in the same launch is faster */
    EXI_BLEND_FORMS_MOST = 4096,
    EXI_BLEND_COUNT = 2 /* maximum number of instances; with more, kernels that keep tables in the cache are faster */
};

/* A form with a non-zero factor. */
typedef struct exi_blend_term {
    int form;
    float factor;
} exi_blend_term;

/* Lists the forms with non-zero factors, in order, by the first warp. Returns their number, to all threads. */
static __device__ inline int exi_blend_find_terms(const float *factors, int forms, exi_blend_term *terms, int *found) {
    if (threadIdx.x < 32) {
        int count = 0;
        for (int first = 0; first < forms; first += 32) {
            const int form = first + (int)threadIdx.x;
            const float factor = form < forms ? factors[form] : 0.0f;
            const unsigned takes_part = __ballot_sync(0xffffffffu, factor != 0.0f);
            if (factor != 0.0f) {
                exi_blend_term *term = &terms[count + __popc(takes_part & ((1u << threadIdx.x) - 1u))];
                term->form = form;
                term->factor = factor;
            }
            count += __popc(takes_part);
        }
        if (threadIdx.x == 0)
            *found = count;
    }
    __syncthreads();
    return *found;
}

static __device__ inline float4 exi_blend_read(const float4 *numbers, size_t at) {
    return __ldcs(numbers + at);
}

/* 16-bit numbers, two to a word. */
static __device__ inline float4 exi_blend_read(const uint2 *numbers, size_t at) {
    const uint2 words = __ldcs(numbers + at);
    return make_float4((float)(int16_t)words.x, (float)((int32_t)words.x >> 16), (float)(int16_t)words.y,
                       (float)((int32_t)words.y >> 16));
}

static __device__ inline void exi_blend_add(float4 number, float factor, float4 *sum) {
    sum->x += factor * number.x;
    sum->y += factor * number.y;
    sum->z += factor * number.z;
    sum->w += factor * number.w;
}

/* number is float4 or uint2: four numbers. */
template <typename number>
static __global__ void __launch_bounds__(EXI_BLEND_THREADS)
    exi_blend_kernel(const __grid_constant__ exi_gpu g, const __grid_constant__ exi_gpu_job j) {
    extern __shared__ exi_blend_term terms[];
    __shared__ __align__(16) float room[EXI_BLEND_TILES * EXI_STORE_FLOATS];
    __shared__ int found;
    const int instance = (int)blockIdx.y, of_block = (int)threadIdx.x / EXI_BLEND_PIECES;
    const int piece = (int)threadIdx.x % EXI_BLEND_PIECES, first = (int)blockIdx.x * EXI_BLEND_TILES;
    const int tile = first + of_block < g.tiles ? first + of_block : g.tiles - 1;
    const int count =
        exi_blend_find_terms(j.work.factors + (size_t)instance * (size_t)g.forms, g.sum_forms, terms, &found);
    const number *numbers =
        (const number *)g.numbers + (size_t)tile * (size_t)g.forms * EXI_BLEND_PIECES + (size_t)piece;
    float4 sum = __ldcs((const float4 *)g.base + (size_t)tile * EXI_BLEND_PIECES + (size_t)piece);
    int k = 0;
    for (; k + EXI_BLEND_AT_ONCE <= count; k += EXI_BLEND_AT_ONCE) {
        float4 read[EXI_BLEND_AT_ONCE];
#pragma unroll
        for (int i = 0; i < EXI_BLEND_AT_ONCE; i++)
            read[i] = exi_blend_read(numbers, (size_t)terms[k + i].form * EXI_BLEND_PIECES);
#pragma unroll
        for (int i = 0; i < EXI_BLEND_AT_ONCE; i++)
            exi_blend_add(read[i], terms[k + i].factor, &sum);
    }
    for (; k < count; k++)
        exi_blend_add(exi_blend_read(numbers, (size_t)terms[k].form * EXI_BLEND_PIECES), terms[k].factor, &sum);
    ((float4 *)room)[threadIdx.x] = sum;
    __syncthreads();
    /* Tile by tile, a warp each: reads its part of the room back as triples, through the same part. */
    const exi_gpu_place_out out = exi_gpu_out(&g, &j);
    const int lane = (int)threadIdx.x % 32;
    for (int own = (int)threadIdx.x / 32; own < EXI_BLEND_TILES; own += EXI_BLEND_THREADS / 32) {
        const int left = g.vertices - (first + own) * EXI_GPU_TILE;
        float *from = room + own * EXI_STORE_FLOATS;
        const float position[3] = {from[lane], from[EXI_GPU_TILE + lane], from[2 * EXI_GPU_TILE + lane]};
        if (left > 0)
            exi_gpu_store_tile(&out, instance, first + own, left < EXI_GPU_TILE ? left : EXI_GPU_TILE, lane, position,
                               from);
    }
}

/* ---- host ---- */

static inline bool exi_gpu_is_blend(const exi_gpu *g, const exi_gpu_job *j) {
    return j->count <= EXI_BLEND_COUNT && g->path_count == 0 && !(j->skinned && g->skin_joints) &&
           !g->offset_starts[EX_OFFSET_FRAME_REST] && !g->offset_starts[EX_OFFSET_FRAME_SKINNED] &&
           (int64_t)g->vertices * g->sum_forms >= EXI_BLEND_LEAST && g->sum_forms <= EXI_BLEND_FORMS_MOST;
}

static inline void exi_gpu_launch_blend(const exi_gpu *g, const exi_gpu_job *j, ex_cuda_stream stream) {
    const dim3 grid((unsigned)((g->tiles + EXI_BLEND_TILES - 1) / EXI_BLEND_TILES), (unsigned)j->count);
    const size_t bytes = (size_t)g->sum_forms * sizeof(exi_blend_term);
    if (g->storage == EX_STORAGE_FLOAT)
        exi_blend_kernel<float4><<<grid, EXI_BLEND_THREADS, bytes, stream>>>(*g, *j);
    else
        exi_blend_kernel<uint2><<<grid, EXI_BLEND_THREADS, bytes, stream>>>(*g, *j);
}

#endif

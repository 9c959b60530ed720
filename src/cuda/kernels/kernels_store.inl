/*
 * Writes the positions of a tile by a warp: 32 triples, packed in most outputs. Three numbers per lane would touch
 * every cache line three times, so triples go through shared memory and are written 16 bytes per lane. Outputs that do
 * not start at a multiple of 16 bytes get 4 bytes per lane, in order; outputs that are not packed get triples.
 */
#ifndef EXI_CUDA_KERNELS_STORE_INL
#define EXI_CUDA_KERNELS_STORE_INL

#include "cuda/block.h"

enum { EXI_STORE_FLOATS = 3 * EXI_GPU_TILE };

/* Destination of the cage's positions. */
typedef struct exi_gpu_place_out {
    float *data;
    uint64_t stride, instance; /* floats */
} exi_gpu_place_out;

static __device__ inline exi_gpu_place_out exi_gpu_out(const exi_gpu *g, const exi_gpu_job *j) {
    exi_gpu_place_out out;
    out.data = j->cage ? j->cage : j->positions;
    out.stride = j->cage ? 3 : j->position_stride;
    out.instance = j->cage ? 3 * (uint64_t)g->vertices : j->position_instance;
    return out;
}

/* Writes a tile from shared memory, where all lanes of the warp have finished writing its triples. All lanes must call
 * it. count: number of vertices in the tile. */
static __device__ inline void exi_gpu_store_room(const exi_gpu_place_out *out, int instance, int tile, int count,
                                                 int lane, const float room[EXI_STORE_FLOATS]) {
    float *to = out->data + (size_t)instance * out->instance + (size_t)tile * EXI_GPU_TILE * out->stride;
    if (out->stride != 3) {
        for (int c = 0; c < 3 && lane < count; c++)
            to[(size_t)lane * out->stride + (size_t)c] = room[3 * lane + c];
        return;
    }
    if (count == EXI_GPU_TILE && ((uintptr_t)to & 15) == 0) {
        if (lane < EXI_STORE_FLOATS / 4)
            ((float4 *)to)[lane] = ((const float4 *)room)[lane];
        return;
    }
    for (int i = 0; i < 3; i++)
        if (lane + i * EXI_GPU_TILE < 3 * count)
            to[lane + i * EXI_GPU_TILE] = room[lane + i * EXI_GPU_TILE];
}

/* The same from the lanes. room belongs to the warp. */
static __device__ inline void exi_gpu_store_tile(const exi_gpu_place_out *out, int instance, int tile, int count,
                                                 int lane, const float position[3], float room[EXI_STORE_FLOATS]) {
    __syncwarp(); /* the old contents have been read */
    for (int c = 0; c < 3; c++)
        room[3 * lane + c] = position[c];
    __syncwarp();
    exi_gpu_store_room(out, instance, tile, count, lane, room);
}

/* Destinations of the 16 bytes that a lane writes at a time, for the tiles of `side` instances one after the other:
 * bytes from the start of the first instance, so that this start is the same for all lanes. */
template <int side> struct exi_gpu_targets {
    static constexpr int PIECES = EXI_STORE_FLOATS / 4, ALL = side * PIECES, TIMES = (ALL + 31) / 32;
    uint32_t bytes[TIMES];
    static __device__ bool suit(const exi_gpu_place_out &out) {
        return out.stride == 3 && out.instance % 4 == 0 && (uintptr_t)out.data % 16 == 0 &&
               out.instance < (1u << 30) / side;
    }
    __device__ void open(int tile, uint64_t instance, int lane) {
#pragma unroll
        for (int i = 0; i < TIMES; i++) {
            const uint32_t piece = (uint32_t)(32 * i + lane);
            bytes[i] =
                4 * (piece / PIECES * (uint32_t)instance + (uint32_t)tile * EXI_STORE_FLOATS) + 16 * (piece % PIECES);
        }
    }
    __device__ void store(float *instance, const float *room, int lane) const {
#pragma unroll
        for (int i = 0; i < TIMES; i++)
            if (32 * i + 32 <= ALL || 32 * i + lane < ALL)
                __stcs((float4 *)((char *)instance + bytes[i]), ((const float4 *)room)[32 * i + lane]);
    }
};

#endif

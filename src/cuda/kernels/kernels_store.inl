/*
 * How a warp writes the positions of a tile: 32 triples, close together in most outputs. Written as they are, three
 * numbers a lane, every line of memory would be touched three times; so they go through shared memory and leave it 16
 * bytes a lane. Outputs that do not begin at a multiple of 16 bytes get 4 bytes a lane, in order; those that are not
 * close together, triples.
 */
#ifndef EXI_CUDA_KERNELS_STORE_INL
#define EXI_CUDA_KERNELS_STORE_INL

#include "cuda/block.h"

enum { EXI_STORE_FLOATS = 3 * EXI_GPU_TILE };

/* Where positions of the cage go. */
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

/* The tile of a warp whose lanes all come here, from shared memory, where they have put its triples and are done with
 * it. count: how many of its vertices there are. */
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

/* The same from the lanes. room: the warp's own. */
static __device__ inline void exi_gpu_store_tile(const exi_gpu_place_out *out, int instance, int tile, int count,
                                                 int lane, const float position[3], float room[EXI_STORE_FLOATS]) {
    __syncwarp(); /* what was there has been read */
    for (int c = 0; c < 3; c++)
        room[3 * lane + c] = position[c];
    __syncwarp();
    exi_gpu_store_room(out, instance, tile, count, lane, room);
}

/* Where the 16 bytes that a lane writes at a time go, of the tiles of `side` instances one after the other: bytes from
 * the start of the first instance, so that where that is stays the same for all lanes. */
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

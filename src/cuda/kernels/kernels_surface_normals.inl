/*
 * Normals from rings (surface.inl) of many instances. A block takes 256 vertices through a run of instances. It fetches
 * the vertices around them in mesh order, where most neighbours are, into shared memory, one instance ahead, and each
 * thread keeps the places of its neighbours there. Reading through the first-level cache, with three numbers 12 bytes
 * apart from lane to lane, takes three times as long. Warps with a vertex that has more neighbours, several chains, or
 * neighbours outside the window use the general path.
 */
#ifndef EXI_CUDA_KERNELS_SURFACE_NORMALS_INL
#define EXI_CUDA_KERNELS_SURFACE_NORMALS_INL

#include "cuda/kernels/kernels_fetch.inl"
#include "cuda/kernels/kernels_launch.inl"
#include "cuda/kernels/kernels_store.inl"
#include "cuda/stages/surface.inl"

enum {
    EXI_RINGS_THREADS = 256,
    EXI_RINGS_WARPS = EXI_RINGS_THREADS / 32,
    EXI_RINGS_AROUND = 128, /* vertices before and after */
    EXI_RINGS_WINDOW = EXI_RINGS_THREADS + 2 * EXI_RINGS_AROUND,
    EXI_RINGS_PIECES = 3 * EXI_RINGS_WINDOW / 4, /* of 16 bytes */
    EXI_RINGS_KEPT = 8,
    EXI_RINGS_RESIDENT = 3,
    EXI_RINGS_WAVES = 4,
    EXI_RINGS_COUNT = 8 /* number of instances from which this is faster */
};

/* Places of a ring's vertices in the window, as floats: one chain, with the last repeated, which adds nothing. */
typedef struct exi_rings_own {
    int here, count, places[EXI_RINGS_KEPT];
    bool fits;
} exi_rings_own;

static __device__ inline void exi_rings_read(const exi_gpu_level &level, int vertex, int first, int size,
                                             exi_rings_own &own) {
    const uint32_t begin = level.ring_starts[vertex], end = level.ring_starts[vertex + 1];
    own.here = 3 * (vertex - first);
    own.count = (int)min(end - begin, (uint32_t)EXI_RINGS_KEPT);
    own.fits = end - begin <= EXI_RINGS_KEPT && vertex - first < size;
    int last = own.here;
#pragma unroll
    for (int i = 0; i < EXI_RINGS_KEPT; i++) {
        if (i < own.count) {
            const uint32_t entry = level.rings[begin + (uint32_t)i];
            const int place = (int)(entry & ~EXI_GPU_RING_START) - first;
            own.fits = own.fits && place >= 0 && place < size && (i == 0 || !(entry & EXI_GPU_RING_START));
            last = own.fits ? 3 * place : last;
        }
        own.places[i] = last;
    }
}

/* window: of the instance; most: of the warp's counts. */
static __device__ inline exi_gpu_ring_sum exi_rings_sum(const exi_rings_own &own, int most, const float *window) {
    const float hx = window[own.here], hy = window[own.here + 1], hz = window[own.here + 2];
    exi_gpu_ring_sum sum = {0, 0, 0, 0};
    float before[3] = {0, 0, 0};
#pragma unroll
    for (int i = 0; i < EXI_RINGS_KEPT; i++)
        if (i < EXI_RINGS_KEPT - 4 || i < most) {
            const float *there = window + own.places[i];
            exi_gpu_ring_add(&sum, before, there[0] - hx, there[1] - hy, there[2] - hz);
        }
    return sum;
}

/* For warps and vertices that the window does not cover: a call, so that it takes no registers from the others. */
static __device__ __noinline__ float3 exi_rings_apart(const exi_gpu_job *j, int instance, int vertex) {
    float normal[3];
    exi_gpu_normal(j, instance, vertex, normal);
    return make_float3(normal[0], normal[1], normal[2]);
}

static __device__ inline float3 exi_rings_normal(const exi_gpu_job &j, const exi_rings_own &own, bool fits, int most,
                                                 const float *window, int instance, int vertex) {
    if (fits) {
        const exi_gpu_ring_sum sum = exi_rings_sum(own, most, window);
        float normal[3];
        if (exi_gpu_ring_end(&sum, normal))
            return make_float3(normal[0], normal[1], normal[2]);
    }
    return exi_rings_apart(&j, instance, vertex);
}

static __global__ void __launch_bounds__(EXI_RINGS_THREADS, EXI_RINGS_RESIDENT)
    exi_rings_kernel(const __grid_constant__ exi_gpu_job j, int run) {
    __shared__ __align__(16) float4 windows[2][EXI_RINGS_PIECES];
    __shared__ __align__(16) float rooms[EXI_RINGS_WARPS][EXI_STORE_FLOATS];
    const exi_gpu_place_out out = {j.normals, j.normal_stride, j.normal_instance};
    const int thread = (int)threadIdx.x, warp = thread / 32, lane = thread % 32, vertices = j.level.vertices;
    const int begin = (int)blockIdx.y * run, end = min(begin + run, j.count);
    const int tile = (int)blockIdx.x * EXI_RINGS_WARPS + warp, left = vertices - tile * EXI_GPU_TILE;
    const int vertex = min(tile * EXI_GPU_TILE + lane, vertices - 1);
    /* The window starts at a multiple of four vertices, and has only pieces that belong to the instance. */
    const int first =
        max(0, min((int)blockIdx.x * EXI_RINGS_THREADS - EXI_RINGS_AROUND, vertices - EXI_RINGS_WINDOW)) & ~3;
    const int pieces = min(EXI_RINGS_PIECES, 3 * (vertices - first) / 4), size = 4 * pieces / 3;
    const float *from = j.positions + (size_t)begin * j.position_instance + 3 * (size_t)first;
    float *const room = rooms[warp];
    exi_rings_own own;
    exi_rings_read(j.level, vertex, first, size, own);
    int most = 4;
    for (int i = 4; i < EXI_RINGS_KEPT; i++)
        most = __any_sync(0xFFFFFFFFu, own.count > i) ? i + 1 : most;
    const bool fits = __all_sync(0xFFFFFFFFu, own.fits) != 0;
    exi_gpu_targets<1> targets;
    targets.open(tile, out.instance, lane);
    int full = left >= EXI_GPU_TILE && exi_gpu_targets<1>::suit(out);
    asm volatile("" : "+r"(full)); /* keeps the compiler from computing it again in every round */
    float *to = out.data + (size_t)begin * out.instance;
#pragma unroll 1
    for (int k = begin - 1; k < end; k++) {
        if (k + 1 < end) { /* fetch the next one */
            float4 *next = windows[(k + 1) & 1];
#pragma unroll
            for (int i = 0; i < EXI_RINGS_PIECES; i += EXI_RINGS_THREADS)
                if (i + thread < pieces)
                    exi_fetch_16(next + i + thread, (const float4 *)from + i + thread);
            from += j.position_instance;
        }
        if (k >= begin && left > 0) {
            const float3 normal = exi_rings_normal(j, own, fits, most, (const float *)windows[k & 1], k, vertex);
            __syncwarp(); /* the old contents have been read */
            room[3 * lane] = normal.x;
            room[3 * lane + 1] = normal.y;
            room[3 * lane + 2] = normal.z;
            __syncwarp();
            if (full)
                targets.store(to, room, lane);
            else
                exi_gpu_store_room(&out, k, tile, min(left, EXI_GPU_TILE), lane, room);
            to += out.instance;
        }
        exi_fetch_wait();
        __syncthreads();
    }
}

/* ---- host ---- */

static inline bool exi_gpu_is_rings(const exi_gpu_job *j) {
    return j->count >= EXI_RINGS_COUNT && j->position_stride == 3 && j->position_instance % 4 == 0 &&
           (uintptr_t)j->positions % 16 == 0;
}

static inline void exi_gpu_launch_rings(const exi_gpu_job *j, int processors, ex_cuda_stream stream) {
    const int groups = (j->level.vertices + EXI_RINGS_THREADS - 1) / EXI_RINGS_THREADS;
    const int run = exi_launch_choose_run(groups, processors * EXI_RINGS_RESIDENT * EXI_RINGS_WAVES, j->count, 1);
    const dim3 grid((unsigned)groups, (unsigned)((j->count + run - 1) / run));
    exi_rings_kernel<<<grid, EXI_RINGS_THREADS, 0, stream>>>(*j, run);
}

#endif

/*
 * Many instances of one trajectory between two forms: a vertex's path is mesh + R~(x w) x u, with correctors, what its
 * segment appends, and the screw of the whole (trajectory.c). With one example the cross products are the vertex's own
 * (without_weight of trajectory_blend.c):
 *
 *   R~(x w) y u = y u + a(x^2 z) x y (w x u) + b(x^2 z) x^2 y (w x (w x u)),   z = |w|^2
 *
 * So a thread keeps two vertices in registers and goes through a run of instances, of which a block reads what it needs
 * into shared memory, a batch at a time. About 50 instructions and 12 bytes written a vertex and instance. x and y
 * differ only in 16-bit storage, where weights are rounded form by form.
 *
 * Which polynomial serves depends on x^2 z alone, as in exi_turn_mean_float: vertices that coincide stay together.
 */
#ifndef EXI_CUDA_KERNELS_PATH_INL
#define EXI_CUDA_KERNELS_PATH_INL

#include "cuda/kernels.h"
#include "cuda/kernels_store.inl"
#include "cuda/shape.inl"

enum {
    EXI_PATH_THREADS = 128,
    EXI_PATH_WARPS = EXI_PATH_THREADS / 32,
    EXI_PATH_TILES = 2 * EXI_PATH_WARPS, /* of a block: two vertices a thread */
    EXI_PATH_BATCH = 32,                 /* instances whose records are there at a time */
    EXI_PATH_RESIDENT = 5,               /* blocks of a multiprocessor: then all is in registers */
    EXI_PATH_CORRECTORS = 3,
    EXI_PATH_COUNT = 8 /* instances from which on this is the better way */
};

/* An instance, in four-number loads. */
typedef struct exi_path_record {
    float slope, velocity, first, second; /* x^2 / 16, y, x y, x^2 y */
    float correctors[EXI_PATH_CORRECTORS], moves;
    float rows[3][4]; /* the screw: rotation and offset */
} exi_path_record;

/* A vertex, without any weight: w x u, w x (w x u), z; times the numbers' scales in 16-bit storage. */
template <int correctors> struct exi_path_vertex {
    float mesh[3], u[3], c[3], d[3], z, form[correctors > 0 ? correctors : 1][3];
};

static __device__ inline void exi_path_read_form(const exi_gpu *g, int form, int vertex, float out[3]) {
    const size_t at = exi_gpu_place(vertex, g->forms, form);
    const bool is_float = g->storage == EX_STORAGE_FLOAT;
    const float scale = is_float ? 1.0f : __ldg(g->scales + form);
    for (int c = 0; c < 3; c++)
        out[c] = scale * exi_gpu_number(g, at + (size_t)(c * EXI_GPU_TILE), is_float);
}

template <int correctors>
static __device__ inline void exi_path_read_vertex(const exi_gpu *g, int vertex, exi_path_vertex<correctors> *v) {
    const int velocity = g->alone.first_form + g->alone.turn_count;
    float w[3] = {0.0f, 0.0f, 0.0f};
    for (int c = 0; c < 3; c++)
        v->mesh[c] = __ldg(g->base + exi_gpu_place(vertex, 1, 0) + c * EXI_GPU_TILE);
    exi_path_read_form(g, velocity, vertex, v->u);
    if (g->alone.turn_count > 0)
        exi_path_read_form(g, g->alone.first_form, vertex, w);
#pragma unroll
    for (int k = 0; k < correctors; k++)
        exi_path_read_form(g, velocity + 1 + k, vertex, v->form[k]);
    v->z = w[0] * w[0] + w[1] * w[1] + w[2] * w[2];
    for (int c = 0; c < 3; c++) {
        const int n = (c + 1) % 3, m = (c + 2) % 3;
        v->c[c] = w[n] * v->u[m] - w[m] * v->u[n];
    }
    for (int c = 0; c < 3; c++) {
        const int n = (c + 1) % 3, m = (c + 2) % 3;
        v->d[c] = w[n] * v->c[m] - w[m] * v->c[n];
    }
}

/* The weight of a form: its factor without the scale of its numbers. */
static __device__ inline float exi_path_weight(const exi_gpu *g, const float *factors, int form) {
    const float scale = g->storage == EX_STORAGE_FLOAT ? 1.0f : __ldg(g->scales + form);
    return scale != 0.0f ? factors[form] / scale : 0.0f;
}

/* The record of an instance; one that does nothing stays at the mesh. */
template <int correctors>
static __device__ inline void exi_path_open(const exi_gpu *g, const exi_gpu_work *work, int instance,
                                            exi_path_record *record) {
    const float *factors = work->factors + (size_t)instance * (size_t)g->forms;
    const exi_gpu_motion *motion = work->motions + instance;
    const int velocity = g->alone.first_form + g->alone.turn_count;
    const bool active = motion->active != 0, turns = active && g->alone.turn_count > 0;
    const float x = turns ? exi_path_weight(g, factors, g->alone.first_form) : 0.0f;
    const float y = active ? exi_path_weight(g, factors, velocity) : 0.0f;
    record->slope = x * x * (2.0f / EXI_TURN_FAR);
    record->velocity = y;
    record->first = x * y;
    record->second = x * x * y;
#pragma unroll
    for (int k = 0; k < correctors; k++)
        record->correctors[k] = active ? exi_path_weight(g, factors, velocity + 1 + k) : 0.0f;
    record->moves = active && motion->moves ? 1.0f : active ? 0.0f : -1.0f;
    for (int r = 0; r < 3 && record->moves > 0.0f; r++) {
        const float *turn = motion->turn + 3 * r, *centre = motion->centre;
        for (int c = 0; c < 3; c++)
            record->rows[r][c] = turn[c] + (r == c ? 1.0f : 0.0f);
        record->rows[r][3] = motion->move[r] - (turn[0] * centre[0] + (turn[1] * centre[1] + turn[2] * centre[2]));
    }
}

/* Turns beyond the polynomials, which are rare: apart, so that the registers it takes are not taken from all. */
static __device__ __noinline__ float2 exi_path_far_factors(float z) {
    float2 factors;
    exi_turn_factors_far(z, &factors.x, &factors.y);
    return factors;
}

/* a and b of trajectory.inl at t = z / 16 - 1. */
static __device__ inline void exi_path_factors(float t, float *a, float *b) {
    const float as[] = EXI_TURN_A, bs[] = EXI_TURN_B;
    *a = as[EXI_TURN_DEGREE];
    *b = bs[EXI_TURN_DEGREE];
#pragma unroll
    for (int i = EXI_TURN_DEGREE - 1; i >= 0; i--) {
        *a = *a * t + as[i];
        *b = *b * t + bs[i];
    }
    if (t > 1.0f) {
        const float2 far = exi_path_far_factors((t + 1.0f) * (EXI_TURN_FAR / 2.0f));
        *a = far.x;
        *b = far.y;
    }
}

template <int correctors, bool appends>
static __device__ inline void exi_path_place(const exi_path_vertex<correctors> *v, const exi_path_record *record,
                                             const float *shift, float out[3]) {
    float a, b;
    exi_path_factors(v->z * record->slope - 1.0f, &a, &b);
    a *= record->first;
    b *= record->second;
    for (int c = 0; c < 3; c++) {
        out[c] = v->mesh[c] + (record->velocity * v->u[c] + (a * v->c[c] + b * v->d[c]));
#pragma unroll
        for (int k = 0; k < correctors; k++)
            out[c] += record->correctors[k] * v->form[k][c];
    }
    if (appends && record->moves >= 0.0f)
        for (int c = 0; c < 3; c++)
            out[c] += __ldg(shift + c);
    if (record->moves > 0.0f) {
        const float x = out[0], y = out[1], z = out[2];
        for (int r = 0; r < 3; r++) {
            const float *row = record->rows[r];
            out[r] = row[0] * x + (row[1] * y + (row[2] * z + row[3]));
        }
    }
}

template <int correctors, bool appends>
static __global__ void __launch_bounds__(EXI_PATH_THREADS, EXI_PATH_RESIDENT)
    exi_path_kernel(const __grid_constant__ exi_gpu g, const __grid_constant__ exi_gpu_job j, int run) {
    __shared__ __align__(16) float room[EXI_PATH_TILES * EXI_STORE_FLOATS];
    __shared__ __align__(16) exi_path_record records[EXI_PATH_BATCH];
    const exi_gpu_place_out out = exi_gpu_out(&g, &j);
    const int warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    const int begin = (int)blockIdx.y * run, end = begin + run < j.count ? begin + run : j.count;
    int tiles[2], counts[2], segments[2] = {0, 0};
    exi_path_vertex<correctors> vertices[2];
#pragma unroll
    for (int i = 0; i < 2; i++) {
        tiles[i] = (int)blockIdx.x * EXI_PATH_TILES + 2 * warp + i;
        const int left = g.vertices - tiles[i] * EXI_GPU_TILE;
        counts[i] = left < EXI_GPU_TILE ? left : EXI_GPU_TILE;
        const int vertex = lane < counts[i] ? tiles[i] * EXI_GPU_TILE + lane : g.vertices - 1;
        exi_path_read_vertex(&g, vertex, &vertices[i]);
        if (appends)
            segments[i] = 3 * (g.alone.first_segment + __ldg((const uint16_t *)(g.block + g.alone.segments) + vertex));
    }
    for (int first = begin; first < end; first += EXI_PATH_BATCH) {
        const int count = end - first < EXI_PATH_BATCH ? end - first : EXI_PATH_BATCH;
        __syncthreads(); /* records have been read */
        if ((int)threadIdx.x < count)
            exi_path_open<correctors>(&g, &j.work, first + (int)threadIdx.x, &records[threadIdx.x]);
        __syncthreads();
        for (int k = 0; k < count; k++) {
            const exi_path_record *record = &records[k];
            const float *appended = j.work.appended + 3 * (size_t)(first + k) * (size_t)g.segments;
#pragma unroll
            for (int i = 0; i < 2; i++) {
                float position[3];
                exi_path_place<correctors, appends>(&vertices[i], record, appended + segments[i], position);
                if (counts[i] > 0)
                    exi_gpu_store_tile(&out, first + k, tiles[i], counts[i], lane, position,
                                       room + (2 * warp + i) * EXI_STORE_FLOATS);
            }
        }
    }
}

/* ---- the host's side ---- */

static inline bool exi_gpu_is_path(const exi_gpu *g, const exi_gpu_job *j) {
    const exi_gpu_path *path = &g->alone;
    return j->count >= EXI_PATH_COUNT && g->path_count == 1 && g->sum_forms == 0 && !path->sum && !path->mask &&
           path->turn_count <= 1 && path->velocity_count == 1 && path->corrector_count <= EXI_PATH_CORRECTORS &&
           !(j->skinned && g->skin_joints) && !g->offset_starts[EX_FRAME_REST] && !g->offset_starts[EX_FRAME_SKINNED];
}

static inline int exi_gpu_path_groups(const exi_gpu *g) {
    return (g->tiles + EXI_PATH_TILES - 1) / EXI_PATH_TILES;
}

template <int correctors>
static inline void exi_gpu_launch_path_of(const exi_gpu *g, const exi_gpu_job *j, dim3 grid, int run,
                                          ex_cuda_stream stream) {
    if (g->alone.segments)
        exi_path_kernel<correctors, true><<<grid, EXI_PATH_THREADS, 0, stream>>>(*g, *j, run);
    else
        exi_path_kernel<correctors, false><<<grid, EXI_PATH_THREADS, 0, stream>>>(*g, *j, run);
}

/* A block takes a group of vertices and a run of instances. */
static inline void exi_gpu_launch_path(const exi_gpu *g, const exi_gpu_job *j, int groups, int run,
                                       ex_cuda_stream stream) {
    const dim3 grid((unsigned)groups, (unsigned)((j->count + run - 1) / run));
    switch (g->alone.corrector_count) {
    case 0:
        exi_gpu_launch_path_of<0>(g, j, grid, run, stream);
        break;
    case 1:
        exi_gpu_launch_path_of<1>(g, j, grid, run, stream);
        break;
    case 2:
        exi_gpu_launch_path_of<2>(g, j, grid, run, stream);
        break;
    default:
        exi_gpu_launch_path_of<3>(g, j, grid, run, stream);
        break;
    }
}

#endif

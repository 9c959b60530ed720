/*
 * One layer with a mixture and nothing else: mesh + mask (screw(A (mesh + sum of x_k d_k) + t + sum of b_j c_j) -
 * mesh), where A and t are the sum of the matrices of a vertex's nodes (shape.inl).
 *
 * A few instances: the forms must be read once, 12 bytes per vertex and form, and only loads under way matter. Four
 * threads share a vertex, each with a quarter of its forms.
 *
 * Many: a block takes a group of vertices, whose forms it keeps in shared memory, and a run of instances. Its two
 * halves take batches of `side` instances in turn: they stage the factors, and the matrices of those nodes that move
 * the group's vertices, then a thread has a vertex in all instances of the batch. Takes 57 multiplications and
 * additions per vertex and instance for the nodes, and 3 per form; and 192 bytes of shared memory for the nodes.
 */
#ifndef EXI_CUDA_KERNELS_SHAPE_MIXTURE_INL
#define EXI_CUDA_KERNELS_SHAPE_MIXTURE_INL

#include "cuda/kernels/kernels.h"
#include "cuda/kernels/kernels_launch.inl"
#include "cuda/kernels/kernels_store.inl"
#include "cuda/stages/shape_trajectory.inl"

enum {
    EXI_MIXED_COUNT = 8,                /* number of instances from which a block takes a run */
    EXI_MIXED_HALF = EXI_GPU_MIX_GROUP, /* threads of a half */
    EXI_MIXED_THREADS = 2 * EXI_MIXED_HALF,
    EXI_MIXED_TILES = EXI_GPU_MIX_GROUP / EXI_GPU_TILE,
    EXI_MIXED_STORE = 4, /* instances that are stored together */
    EXI_MIXED_RESIDENT = 2,
    EXI_MIXED_WAVES = 3,
    EXI_MIXED_PARTS = 4, /* threads per vertex, for a few instances */
    EXI_MIXED_FEW_THREADS = EXI_GPU_TILE * EXI_MIXED_PARTS,
    EXI_MIXED_AT_ONCE = 12
};

/* ---- a few instances ---- */

/* Adds the forms part, part + EXI_MIXED_PARTS, … of the path: the first `velocities` to d, the others to more. at: of
 * its first form. */
static __device__ inline void exi_mixed_sum(const exi_gpu &g, const float *factors, size_t at, int part, int velocities,
                                            int all, float d[3], float more[3]) {
    const bool is_float = g.storage == EX_STORAGE_FLOAT;
#pragma unroll 1
    for (int k = part; k < all; k += EXI_MIXED_PARTS * EXI_MIXED_AT_ONCE) {
        float numbers[EXI_MIXED_AT_ONCE][3];
#pragma unroll
        for (int i = 0; i < EXI_MIXED_AT_ONCE; i++) {
            const int form = k + i * EXI_MIXED_PARTS;
#pragma unroll
            for (int c = 0; c < 3; c++)
                numbers[i][c] =
                    form < all && factors[form] != 0.0f
                        ? exi_gpu_number(&g, at + (size_t)form * EXI_GPU_TILE_NUMBERS + (size_t)(c * EXI_GPU_TILE),
                                         is_float)
                        : 0.0f;
        }
#pragma unroll
        for (int i = 0; i < EXI_MIXED_AT_ONCE; i++) {
            const int form = k + i * EXI_MIXED_PARTS;
            const float factor = form < all ? factors[form] : 0.0f;
#pragma unroll
            for (int c = 0; c < 3; c++) {
                d[c] += (form < velocities ? factor : 0.0f) * numbers[i][c];
                more[c] += (form < velocities ? 0.0f : factor) * numbers[i][c];
            }
        }
    }
}

static __global__ void __launch_bounds__(EXI_MIXED_FEW_THREADS)
    exi_mixed_few_kernel(const __grid_constant__ exi_gpu g, const __grid_constant__ exi_gpu_job j) {
    __shared__ float sums[EXI_MIXED_PARTS - 1][6][EXI_GPU_TILE];
    __shared__ __align__(16) float room[EXI_STORE_FLOATS];
    extern __shared__ float few_factors[];
    const exi_gpu_trajectory &path = g.alone;
    const int tile = (int)blockIdx.x, instance = (int)blockIdx.y;
    const int part = (int)threadIdx.x / EXI_GPU_TILE, lane = (int)threadIdx.x % EXI_GPU_TILE;
    const int left = g.vertices - tile * EXI_GPU_TILE, vertex = min(tile * EXI_GPU_TILE + lane, g.vertices - 1);
    const float *factors = j.work.factors + (size_t)instance * (size_t)g.forms + path.first_form;
    const exi_gpu_motion *motion = j.work.motions + instance;
    const size_t at = exi_gpu_place(vertex, g.forms, path.first_form);
    const int velocities = path.velocity_count, all = velocities + path.corrector_count;
    float d[3] = {0.0f, 0.0f, 0.0f}, more[3] = {0.0f, 0.0f, 0.0f}, mesh[3] = {0.0f, 0.0f, 0.0f};
    exi_gpu_nodes in = {{0, 0, 0, 0}, {0.0f, 0.0f, 0.0f, 0.0f}};
    float mask = 1.0f;
    if (part == 0) { /* early, for the end */
        in = exi_gpu_read_nodes(&g, path.mixture.nodes, path.mixture.shares, vertex);
        mask = path.mask ? __ldg((const float *)(g.block + path.mask) + vertex) : 1.0f;
#pragma unroll
        for (int c = 0; c < 3; c++)
            mesh[c] = __ldg(g.base + exi_gpu_place(vertex, 1, 0) + c * EXI_GPU_TILE);
    }
    const bool active = motion->active != 0;
    for (int k = (int)threadIdx.x; k < all; k += EXI_MIXED_FEW_THREADS)
        few_factors[k] = factors[k];
    __syncthreads();
    if (active)
        exi_mixed_sum(g, few_factors, at, part, velocities, all, d, more);
    if (part > 0) {
#pragma unroll
        for (int c = 0; c < 3; c++) {
            sums[part - 1][c][lane] = d[c];
            sums[part - 1][3 + c][lane] = more[c];
        }
    }
    __syncthreads();
    if (part > 0)
        return;
#pragma unroll
    for (int i = 0; i < EXI_MIXED_PARTS - 1; i++)
#pragma unroll
        for (int c = 0; c < 3; c++) {
            d[c] += sums[i][c][lane];
            more[c] += sums[i][3 + c][lane];
        }
    if (active) {
        exi_gpu_mix_move(j.work.matrices + 12 * (size_t)instance * (size_t)g.mixed_nodes, &in, mesh, d);
#pragma unroll
        for (int c = 0; c < 3; c++)
            d[c] += more[c];
        if (motion->moves)
            exi_gpu_screw(motion, mesh, d);
    }
    const float position[3] = {mesh[0] + mask * d[0], mesh[1] + mask * d[1], mesh[2] + mask * d[2]};
    const exi_gpu_place_out out = exi_gpu_out(&g, &j);
    exi_gpu_store_tile(&out, instance, tile, min(left, EXI_GPU_TILE), lane, position, room);
}

/* ---- many instances ---- */

/* Shared memory, in floats: forms of the group [tiles][forms][96] if `near`; then each half's [rows of screws]
 * [factors][matrices]; the list of these; then the warps' output. */
typedef struct exi_mixed_plan {
    int run;   /* instances per block */
    int forms; /* number of the path's forms */
    int nodes; /* most of a group */
} exi_mixed_plan;

/* Floats of a half. */
static __host__ __device__ inline int exi_mixed_half(const exi_mixed_plan *p, int side) {
    return side * (12 + p->forms + 12 * p->nodes);
}

/* Waits for the threads of a half. */
static __device__ inline void exi_mixed_wait(int half) {
    asm volatile("bar.sync %0, %1;" ::"r"(half + 1), "r"((int)EXI_MIXED_HALF) : "memory");
}

/* Copies the forms of a group, in float. */
static __device__ inline void exi_mixed_fetch_forms(const exi_gpu &g, int group, int forms, float *to) {
    const int each = forms * EXI_GPU_TILE_NUMBERS;
    for (int tile = 0; tile < EXI_MIXED_TILES; tile++) {
        const int own = min(group * EXI_MIXED_TILES + tile, g.tiles - 1);
        const size_t from = ((size_t)own * (size_t)g.forms + (size_t)g.alone.first_form) * EXI_GPU_TILE_NUMBERS;
        for (int i = 4 * (int)threadIdx.x; i < each; i += 4 * EXI_MIXED_THREADS) {
            float4 four;
            if (g.storage == EX_STORAGE_FLOAT) {
                four = __ldg((const float4 *)((const float *)g.numbers + from + (size_t)i));
            } else {
                const short4 numbers = __ldg((const short4 *)((const int16_t *)g.numbers + from + (size_t)i));
                four = make_float4((float)numbers.x, (float)numbers.y, (float)numbers.z, (float)numbers.w);
            }
            *(float4 *)(to + tile * each + i) = four;
        }
    }
}

/* A piece of 16 bytes of a batch's matrices: the instance within the batch, and its place among the instance's. */
typedef struct exi_mixed_piece {
    int instance, place;
} exi_mixed_piece;

/* Lists the pieces that a group needs, [side][nodes][3]. Returns their number. */
static __device__ inline int exi_mixed_list(const exi_gpu &g, int side, int group, exi_mixed_piece *pieces) {
    const exi_gpu_mixture &m = g.alone.mixture;
    const uint32_t *starts = (const uint32_t *)(g.block + m.group_starts) + group;
    const uint16_t *list = (const uint16_t *)(g.block + m.group_nodes) + __ldg(starts);
    const int each = 3 * (int)(__ldg(starts + 1) - __ldg(starts));
    for (int i = (int)threadIdx.x; i < each * side; i += EXI_MIXED_THREADS) {
        const int of = i % each;
        pieces[i].instance = i / each;
        pieces[i].place = 3 * (int)__ldg(list + of / 3) + of % 3;
    }
    return each;
}

/* The data of a batch, by the threads of a half; missing instances repeat the last. */
static __device__ inline void exi_mixed_stage(const exi_gpu &g, const exi_gpu_job &j, const exi_mixed_plan &p, int side,
                                              int first, int last, const exi_mixed_piece *pieces, int each,
                                              float *half) {
    const int lane = (int)threadIdx.x % EXI_MIXED_HALF;
    float *factors = half + 12 * side, *matrices = factors + p.forms * side;
    const float4 *from = (const float4 *)j.work.matrices;
    for (int i = lane; i < each * side; i += EXI_MIXED_HALF) {
        const exi_mixed_piece piece = pieces[i];
        ((float4 *)matrices)[i] =
            from[3 * (size_t)min(first + piece.instance, last) * (size_t)g.mixed_nodes + (size_t)piece.place];
    }
    for (int i = lane; i < p.forms * side; i += EXI_MIXED_HALF)
        factors[i] = j.work.factors[(size_t)min(first + i % side, last) * (size_t)g.forms +
                                    (size_t)(g.alone.first_form + i / side)];
    if (!(g.lacks & EXI_GPU_SCREWS) && lane < 3 * side) {
        const exi_gpu_motion *motion = &j.work.motions[min(first + lane / 3, last)];
        const int r = lane % 3;
        const bool moves = motion->active && motion->moves;
        const float *row = motion->turn + 3 * r, *centre = motion->centre;
        float *to = half + 4 * lane;
        for (int c = 0; c < 3; c++)
            to[c] = (moves ? row[c] : 0.0f) + (r == c ? 1.0f : 0.0f);
        to[3] = moves ? motion->move[r] - (row[0] * centre[0] + (row[1] * centre[1] + row[2] * centre[2])) : 0.0f;
    }
}

/* x += sum of factor * form, for forms begin to end of all instances of a batch. */
template <int side, bool near>
static __device__ inline void exi_mixed_add(const exi_gpu &g, const float *forms, size_t at, const float *factors,
                                            int begin, int end, float x[side][3]) {
#pragma unroll 2
    for (int k = begin; k < end; k++) {
        float number[3], factor[side];
#pragma unroll
        for (int c = 0; c < 3; c++)
            number[c] = near ? forms[k * EXI_GPU_TILE_NUMBERS + c * EXI_GPU_TILE]
                             : exi_gpu_number(&g, at + (size_t)(k * EXI_GPU_TILE_NUMBERS + c * EXI_GPU_TILE),
                                              g.storage == EX_STORAGE_FLOAT);
#pragma unroll
        for (int s = 0; s < side; s += 4)
            exi_gpu_load4(factors + k * side + s, factor + s);
#pragma unroll
        for (int s = 0; s < side; s++)
#pragma unroll
            for (int c = 0; c < 3; c++)
                x[s][c] += factor[s] * number[c];
    }
}

/* x = x + A x + t */
static __device__ inline void exi_mixed_move(const float *matrices, const int nodes[EX_NODE_SHARES],
                                             const float shares[EX_NODE_SHARES], float x[3]) {
    float m[12];
#pragma unroll
    for (int i = 0; i < EX_NODE_SHARES; i++)
#pragma unroll
        for (int r = 0; r < 3; r++) {
            float row[4];
            exi_gpu_load4(matrices + nodes[i] + 4 * r, row);
#pragma unroll
            for (int c = 0; c < 4; c++)
                m[4 * r + c] = i == 0 ? shares[0] * row[c] : m[4 * r + c] + shares[i] * row[c];
        }
    const float y[3] = {x[0], x[1], x[2]};
#pragma unroll
    for (int r = 0; r < 3; r++)
        x[r] += m[4 * r] * y[0] + (m[4 * r + 1] * y[1] + (m[4 * r + 2] * y[2] + m[4 * r + 3]));
}

template <int side, bool near>
static __global__ void __launch_bounds__(EXI_MIXED_THREADS, EXI_MIXED_RESIDENT)
    exi_mixed_kernel(const __grid_constant__ exi_gpu g, const __grid_constant__ exi_gpu_job j,
                     const __grid_constant__ exi_mixed_plan p) {
    extern __shared__ __align__(16) float mixed_memory[];
    const int half = (int)threadIdx.x / EXI_MIXED_HALF, warp = (int)threadIdx.x / 32, lane = (int)threadIdx.x % 32;
    const int group = (int)blockIdx.x, own_tile = warp % EXI_MIXED_TILES, tile = group * EXI_MIXED_TILES + own_tile;
    const int left = g.vertices - tile * EXI_GPU_TILE, vertex = min(tile * EXI_GPU_TILE + lane, g.vertices - 1);
    const int begin = (int)blockIdx.y * p.run, end = min(begin + p.run, j.count);
    const int velocities = g.alone.velocity_count;
    const bool screws = !(g.lacks & EXI_GPU_SCREWS);
    float *const all = mixed_memory, *const halves =
                                         all + (near ? EXI_MIXED_TILES * p.forms * EXI_GPU_TILE_NUMBERS : 0);
    float *const own = halves + half * exi_mixed_half(&p, side), *const factors = own + 12 * side;
    const float *const matrices = factors + p.forms * side;
    exi_mixed_piece *const pieces = (exi_mixed_piece *)(halves + 2 * exi_mixed_half(&p, side));
    float *const room = (float *)(pieces + 3 * side * p.nodes) + warp * (EXI_MIXED_STORE * EXI_STORE_FLOATS);
    const float *const forms = all + own_tile * p.forms * EXI_GPU_TILE_NUMBERS + lane;
    const size_t at = exi_gpu_place(vertex, g.forms, g.alone.first_form);
    const exi_gpu_place_out out = exi_gpu_out(&g, &j);
    const exi_gpu_nodes in = exi_gpu_read_nodes(&g, g.alone.mixture.places_in_group, g.alone.mixture.shares, vertex);
    int nodes[EX_NODE_SHARES];
    float mesh[3];
#pragma unroll
    for (int i = 0; i < EX_NODE_SHARES; i++)
        nodes[i] = 12 * (int)in.nodes[i];
#pragma unroll
    for (int c = 0; c < 3; c++)
        mesh[c] = __ldg(g.base + exi_gpu_place(vertex, 1, 0) + c * EXI_GPU_TILE);
    const float mask = g.alone.mask ? __ldg((const float *)(g.block + g.alone.mask) + vertex) : 1.0f;
    if (near)
        exi_mixed_fetch_forms(g, group, p.forms, all);
    const int each = exi_mixed_list(g, side, group, pieces);
    exi_gpu_targets<EXI_MIXED_STORE> targets;
    targets.open(tile, out.instance, lane);
    int full = left >= EXI_GPU_TILE && exi_gpu_targets<EXI_MIXED_STORE>::suit(out);
    asm volatile("" : "+r"(full)); /* keeps the compiler from computing it again in every round */
    __syncthreads();
#pragma unroll 1
    for (int first = begin + half * side; first < end; first += 2 * side) {
        exi_mixed_wait(half); /* the previous batch has been read */
        exi_mixed_stage(g, j, p, side, first, end - 1, pieces, each, own);
        exi_mixed_wait(half);
        if (left <= 0)
            continue;
        float x[side][3];
#pragma unroll
        for (int s = 0; s < side; s++)
#pragma unroll
            for (int c = 0; c < 3; c++)
                x[s][c] = mesh[c];
        exi_mixed_add<side, near>(g, forms, at, factors, 0, velocities, x);
#pragma unroll
        for (int s = 0; s < side; s++)
            exi_mixed_move(matrices + 4 * each * s, nodes, in.shares, x[s]);
        exi_mixed_add<side, near>(g, forms, at, factors, velocities, p.forms, x);
        if (screws) {
#pragma unroll
            for (int s = 0; s < side; s++) {
                float moved[3];
#pragma unroll
                for (int r = 0; r < 3; r++) {
                    float row[4];
                    exi_gpu_load4(own + 12 * s + 4 * r, row);
                    moved[r] = row[0] * x[s][0] + (row[1] * x[s][1] + (row[2] * x[s][2] + row[3]));
                }
#pragma unroll
                for (int r = 0; r < 3; r++)
                    x[s][r] = moved[r];
            }
        }
        if (g.alone.mask) {
#pragma unroll
            for (int s = 0; s < side; s++)
#pragma unroll
                for (int c = 0; c < 3; c++)
                    x[s][c] = mesh[c] + mask * (x[s][c] - mesh[c]);
        }
#pragma unroll
        for (int s = 0; s < side; s += EXI_MIXED_STORE) {
            __syncwarp(); /* the old contents have been read */
#pragma unroll
            for (int i = 0; i < EXI_MIXED_STORE; i++)
#pragma unroll
                for (int c = 0; c < 3; c++)
                    room[i * EXI_STORE_FLOATS + 3 * lane + c] = x[s + i][c];
            __syncwarp();
            if (full && first + s + EXI_MIXED_STORE <= end) {
                targets.store(out.data + (size_t)(first + s) * out.instance, room, lane);
            } else {
#pragma unroll 1
                for (int i = 0; i < min(EXI_MIXED_STORE, end - first - s); i++)
                    exi_gpu_store_room(&out, first + s + i, tile, min(left, EXI_GPU_TILE), lane,
                                       room + i * EXI_STORE_FLOATS);
            }
        }
    }
}

/* ---- host ---- */

/* True if the rig consists of this only. */
static inline bool exi_gpu_is_mixture(const exi_gpu *g, const exi_gpu_job *j) {
    return g->path_count == 1 && g->sum_forms == 0 && g->alone.mixture.node_count > 0 &&
           !(j->skinned && g->skin_joints) && !g->offset_starts[EX_OFFSET_FRAME_REST] &&
           !g->offset_starts[EX_OFFSET_FRAME_SKINNED];
}

static inline size_t exi_mixed_bytes(const exi_mixed_plan *p, int side, bool near) {
    const size_t forms = near ? (size_t)EXI_MIXED_TILES * (size_t)p->forms * EXI_GPU_TILE_NUMBERS : 0;
    return (forms + 2 * (size_t)exi_mixed_half(p, side) + 6 * (size_t)side * (size_t)p->nodes +
            EXI_MIXED_THREADS / 32 * EXI_MIXED_STORE * (size_t)EXI_STORE_FLOATS) *
           sizeof(float);
}

template <int side, bool near>
static inline cudaError_t exi_mixed_launch(const exi_gpu *g, const exi_gpu_job *j, exi_mixed_plan p, int processors,
                                           ex_cuda_stream stream) {
    const size_t bytes = exi_mixed_bytes(&p, side, near);
    const int groups = (g->tiles + EXI_MIXED_TILES - 1) / EXI_MIXED_TILES;
    p.run = exi_launch_choose_run(groups, processors * EXI_MIXED_RESIDENT * EXI_MIXED_WAVES, j->count, 2 * side);
    const dim3 grid((unsigned)groups, (unsigned)((j->count + p.run - 1) / p.run));
    const cudaError_t status =
        cudaFuncSetAttribute(exi_mixed_kernel<side, near>, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
    if (status == cudaSuccess)
        exi_mixed_kernel<side, near><<<grid, EXI_MIXED_THREADS, bytes, stream>>>(*g, *j, p);
    return status;
}

/* Launches the kernel for this many instances; *done is false if none suits, for lack of shared memory. */
static inline cudaError_t exi_gpu_launch_mixture(const exi_gpu *g, const exi_gpu_job *j, int processors,
                                                 ex_cuda_stream stream, bool *done) {
    int device = 0, each = 0, whole = 0;
    *done = true;
    if (j->count < EXI_MIXED_COUNT) {
        const dim3 grid((unsigned)g->tiles, (unsigned)j->count);
        const size_t bytes = (size_t)(g->alone.velocity_count + g->alone.corrector_count) * sizeof(float);
        exi_mixed_few_kernel<<<grid, EXI_MIXED_FEW_THREADS, bytes, stream>>>(*g, *j);
        return cudaSuccess;
    }
    exi_mixed_plan p = {0, g->alone.velocity_count + g->alone.corrector_count, g->alone.mixture.most_nodes};
    cudaError_t status = cudaGetDevice(&device);
    if (status == cudaSuccess)
        status = cudaDeviceGetAttribute(&each, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
    if (status == cudaSuccess)
        status = cudaDeviceGetAttribute(&whole, cudaDevAttrMaxSharedMemoryPerMultiprocessor, device);
    if (status != cudaSuccess)
        return status;
    const size_t reserved = 1024, half = (size_t)whole / EXI_MIXED_RESIDENT - reserved, most = (size_t)each;
    if (exi_mixed_bytes(&p, 8, true) <= (half < most ? half : most))
        return exi_mixed_launch<8, true>(g, j, p, processors, stream);
    if (exi_mixed_bytes(&p, 8, false) <= (half < most ? half : most))
        return exi_mixed_launch<8, false>(g, j, p, processors, stream);
    if (exi_mixed_bytes(&p, 4, false) <= most)
        return exi_mixed_launch<4, false>(g, j, p, processors, stream);
    *done = false;
    return cudaSuccess;
}

#endif

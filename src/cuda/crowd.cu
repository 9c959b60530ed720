/*
 * Crowds: many instances of a rig that is forms and linear skinning, from factors and palettes to positions and normals
 * in one kernel. A block keeps a patch of the cage (exi_crowd in block.h) on its multiprocessor and lets the instances
 * pass by, eight at a time. What must travel is the result, 12 or 24 bytes a vertex and instance, and the palettes.
 *
 * With x seen from the patch's centre c, and the reference joint r,
 *
 *     x = base + sum over k of f_k delta_k,     position = M_r c + M' x + t',
 *     M' = R_r + sum over j of w_j (R_j - R_r),     t' = sum over j of w_j (M_j c - M_r c):
 *
 * the sums over k and over j are products of matrices, whose rows are vertices and whose columns are instances, and go
 * through the tensor cores: 16 vertices by 8 instances at a time, 8 forms or joints deep. Their operands have 11 bits;
 * a number is taken as two of those, a product as three (high high, high low, low high), which leaves 2^-21 of the
 * term. As all terms are of the patch's size, that is less than what adding M_r c to them rounds. On usual cores the
 * sums take 72 multiply-adds a vertex and 192 bytes of palette out of shared memory, which is more than can be had
 * while 24 bytes are written at the memory's full speed.
 *
 * Normals: a vertex's ring is a closed loop s_0 … s_(2m-1) of rows of the patch (block.h), and its area vector half the
 * sum over even i of s_i x (s_(i+1) - s_(i-1)), whatever the origin. Positions stand in shared memory, three floats
 * each, eight instances one after the other.
 *
 * Eight instances are shaped while normals of the eight before them are made and written; half of the warps begin with
 * the one, half with the other, so that tensor cores, shared memory and stores are busy at the same time.
 */
#include "cuda/kernels.h"

#include <stdint.h>

enum {
    THREADS = EXI_CROWD_ROWS, /* in the second half a thread has a vertex */
    WARPS = THREADS / 32,
    WARP_TILES = EXI_CROWD_TILES / WARPS,
    BATCH = 8,
    /* Floats from an instance's positions to the next one's: 4 more than a multiple of 16, so that the 32 numbers that
     * a warp stores at once, of 8 rows and 4 instances, are in 32 banks. */
    INSTANCE = 3 * EXI_CROWD_ROWS + 4,
    ENTRIES = 12, /* of a joint's matrix */
    ORIGINS = 4   /* batches whose origins are kept */
};
#define NOWHERE 0xFFFFFFFFu

/* What a block works on. */
typedef struct shared_tables {
    float *positions;          /* [buffers][BATCH][INSTANCE] */
    float4 *joints;            /* [2][steps][ENTRIES][32 lanes]: both columns' high parts, then their low parts */
    float4 *forms;             /* [2][steps][32 lanes] */
    float4 *origins;           /* [ORIGINS][BATCH] */
    int joint_step, form_step; /* lanes' float4 from a buffer to the next */
} shared_tables;

/* What a thread keeps of a patch. */
typedef struct own_tables {
    float base[WARP_TILES][6];
    float4 forms[WARP_TILES][3]; /* the first step; further ones are read again for every batch */
    float4 skin_high[WARP_TILES], skin_low[WARP_TILES]; /* likewise */
    uint32_t ring[EXI_CROWD_RING];                      /* bytes */
    uint32_t long_begin, long_end;
    uint32_t words[3]; /* where the floats that it writes go, from the instance's first on */
} own_tables;

/* ---- numbers in two parts ---- */

static __device__ __forceinline__ float high_part(float x) {
    uint32_t bits = 0;
#if __CUDA_ARCH__ >= 800
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
#endif
    return __uint_as_float(bits);
}

static __device__ __forceinline__ void split(const float4 &x, float4 &high, float4 &low) {
    high = make_float4(high_part(x.x), high_part(x.y), high_part(x.z), high_part(x.w));
    low =
        make_float4(high_part(x.x - high.x), high_part(x.y - high.y), high_part(x.z - high.z), high_part(x.w - high.w));
}

/* The two numbers of a column, ready to be multiplied with. */
static __device__ __forceinline__ float4 split_pair(float a, float b) {
    const float ha = high_part(a), hb = high_part(b);
    return make_float4(ha, hb, high_part(a - ha), high_part(b - hb));
}

static __device__ __forceinline__ void multiply(float d[4], const float4 &a, float b0, float b1) {
#if __CUDA_ARCH__ >= 800
    asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3])
        : "r"(__float_as_uint(a.x)), "r"(__float_as_uint(a.y)), "r"(__float_as_uint(a.z)), "r"(__float_as_uint(a.w)),
          "r"(__float_as_uint(b0)), "r"(__float_as_uint(b1)));
#endif
}

/* d += a b, small terms first. */
static __device__ __forceinline__ void multiply_parts(float d[4], const float4 &high, const float4 &low,
                                                      const float4 &b) {
    multiply(d, low, b.x, b.y);
    multiply(d, high, b.z, b.w);
    multiply(d, high, b.x, b.y);
}

/* ---- a batch's columns ---- */

/* A row of a joint's matrix: its linear part, and where it takes the centre. */
static __device__ __forceinline__ float4 joint_row(const exi_gpu &g, const exi_gpu_job &j, int instance, int joint,
                                                   int row, const float *centre) {
    const float *m = j.work.palette + ((size_t)instance * (size_t)g.joints + (size_t)joint) * 12 + 4 * row;
    float4 r = *reinterpret_cast<const float4 *>(m);
    r.w = fmaf(r.x, centre[0], fmaf(r.y, centre[1], fmaf(r.z, centre[2], r.w)));
    return r;
}

/* The row as it is summed: the difference from the reference, which stands for itself. */
static __device__ __forceinline__ float4 summed_row(const exi_gpu &g, const exi_gpu_job &j, const exi_crowd_patch &p,
                                                    const uint16_t *joints, int place, int instance, int row,
                                                    const float4 &reference) {
    if (place >= p.joint_count)
        return make_float4(0, 0, 0, 0);
    if (place == 0)
        return make_float4(reference.x, reference.y, reference.z, 0);
    const float4 own = joint_row(g, j, instance, joints[place], row, p.centre);
    return make_float4(own.x - reference.x, own.y - reference.y, own.z - reference.z, own.w - reference.w);
}

/* One row of the matrices of one step of joints, by a warp: lane 4 n + t has instance n, joints t and t + 4. */
static __device__ void stage_joints(const exi_gpu &g, const exi_gpu_job &j, const exi_crowd_patch &p,
                                    const uint16_t *joints, const shared_tables &s, int batch, int step, int row) {
    const int lane = (int)threadIdx.x % 32, n = lane / 4, t = lane % 4;
    const int instance = min(BATCH * batch + n, j.count - 1), place = 8 * step + t;
    const float4 reference = joint_row(g, j, instance, joints[0], row, p.centre);
    const float4 a = summed_row(g, j, p, joints, place, instance, row, reference);
    const float4 b = summed_row(g, j, p, joints, place + 4, instance, row, reference);
    float4 *to = s.joints + (batch & 1) * s.joint_step + (step * ENTRIES + 4 * row) * 32 + lane;
    to[0] = split_pair(a.x, b.x);
    to[32] = split_pair(a.y, b.y);
    to[64] = split_pair(a.z, b.z);
    to[96] = split_pair(a.w, b.w);
    if (place == 0)
        reinterpret_cast<float *>(s.origins + (batch & (ORIGINS - 1)) * BATCH + n)[row] = reference.w;
}

static __device__ void stage_forms(const exi_gpu &g, const exi_gpu_job &j, const shared_tables &s, int batch,
                                   int step) {
    const int lane = (int)threadIdx.x % 32, n = lane / 4, form = 8 * step + lane % 4;
    const int instance = min(BATCH * batch + n, j.count - 1);
    const float *factors = j.work.factors + (size_t)instance * (size_t)g.forms;
    s.forms[(batch & 1) * s.form_step + step * 32 + lane] =
        split_pair(form < g.sum_forms ? factors[form] : 0.0f, form + 4 < g.sum_forms ? factors[form + 4] : 0.0f);
}

static __device__ void stage(const exi_gpu &g, const exi_gpu_job &j, const exi_crowd_patch &p, const uint16_t *joints,
                             int steps, const shared_tables &s, int batch) {
    const int warp = (int)threadIdx.x / 32;
    for (int task = warp; task < 3 * steps + g.crowd.form_steps; task += WARPS) {
        if (task < 3 * steps)
            stage_joints(g, j, p, joints, s, batch, task / 3, task % 3);
        else
            stage_forms(g, j, s, batch, task - 3 * steps);
    }
    if (steps == 0 && threadIdx.x < BATCH)
        s.origins[(batch & (ORIGINS - 1)) * BATCH + threadIdx.x] =
            make_float4(p.centre[0], p.centre[1], p.centre[2], 0);
}

/* ---- positions ---- */

/* 16 rows of the patch for the 8 instances. */
static __device__ __forceinline__ void shape_tile(const exi_gpu &g, const exi_crowd_patch &p, int patch, int steps,
                                                  const own_tables &own, const shared_tables &s, int batch, int which,
                                                  float *positions) {
    const int lane = (int)threadIdx.x % 32, tile = (int)threadIdx.x / 32 * WARP_TILES + which;
    float x[3][4];
#pragma unroll
    for (int c = 0; c < 3; c++) {
        x[c][0] = x[c][1] = own.base[which][c];
        x[c][2] = x[c][3] = own.base[which][3 + c];
    }
    const float4 *factors = s.forms + (batch & 1) * s.form_step + lane;
    for (int k = 0; k < g.crowd.form_steps; k++) {
        const float4 b = factors[32 * k];
        const float4 *more =
            reinterpret_cast<const float4 *>(g.crowd.forms) +
            (((size_t)patch * EXI_CROWD_TILES + (size_t)tile) * (size_t)g.crowd.form_steps + (size_t)k) * 96 +
            (size_t)lane;
#pragma unroll
        for (int c = 0; c < 3; c++) {
            float4 high, low;
            split(k == 0 ? own.forms[which][c] : __ldg(more + 32 * c), high, low);
            multiply_parts(x[c], high, low, b);
        }
    }
    const int g_row = lane / 4, t = lane % 4;
    float *to = positions + (size_t)(2 * t) * INSTANCE + 3 * (16 * tile + g_row);
    const float4 *columns = s.joints + (batch & 1) * s.joint_step + lane;
#pragma unroll
    for (int r = 0; r < 3; r++) {
        float y[4] = {x[r][0], x[r][1], x[r][2], x[r][3]};
        if (steps > 0) {
            float m[4][4] = {};
            for (int k = 0; k < steps; k++) {
                float4 high = own.skin_high[which], low = own.skin_low[which];
                if (k > 0)
                    split(__ldg(reinterpret_cast<const float4 *>(g.crowd.skin) +
                                ((size_t)p.skin + (size_t)tile * (size_t)steps + (size_t)k) * 32 + (size_t)lane),
                          high, low);
#pragma unroll
                for (int e = 0; e < 4; e++)
                    multiply_parts(m[e], high, low, columns[(k * ENTRIES + 4 * r + e) * 32]);
            }
#pragma unroll
            for (int i = 0; i < 4; i++)
                y[i] = fmaf(m[0][i], x[0][i], fmaf(m[1][i], x[1][i], fmaf(m[2][i], x[2][i], m[3][i])));
        }
        to[r] = y[0];
        to[INSTANCE + r] = y[1];
        to[3 * 8 + r] = y[2];
        to[INSTANCE + 3 * 8 + r] = y[3];
    }
}

static __device__ __forceinline__ void shape(const exi_gpu &g, const exi_crowd_patch &p, int patch, int steps,
                                             const own_tables &own, const shared_tables &s, int batch,
                                             float *positions) {
#pragma unroll
    for (int i = 0; i < WARP_TILES; i++)
        if (16 * ((int)threadIdx.x / 32 * WARP_TILES + i) < p.rows)
            shape_tile(g, p, patch, steps, own, s, batch, i, positions);
}

/* ---- normals, and out ---- */

static __device__ __forceinline__ float3 row_at(const float *positions, uint32_t bytes) {
    const float *p = reinterpret_cast<const float *>(reinterpret_cast<const char *>(positions) + bytes);
    return make_float3(p[0], p[1], p[2]);
}

/* sum += a x (b - previous) */
static __device__ __forceinline__ void add_pair(float3 &sum, const float3 &a, const float3 &b, const float3 &previous) {
    const float x = b.x - previous.x, y = b.y - previous.y, z = b.z - previous.z;
    sum.x = fmaf(a.y, z, fmaf(-a.z, y, sum.x));
    sum.y = fmaf(a.z, x, fmaf(-a.x, z, sum.y));
    sum.z = fmaf(a.x, y, fmaf(-a.y, x, sum.z));
}

/* The ring's sum where all of it is in registers; `four`: the fourth pair is more than the end of the third. */
static __device__ __forceinline__ float3 sum_ring(const own_tables &own, const float *positions, bool four) {
    float3 sum = make_float3(0, 0, 0);
    const float3 last = row_at(positions, own.ring[7]);
    float3 previous = last;
#pragma unroll
    for (int m = 0; m < 2; m++) {
        const float3 b = row_at(positions, own.ring[2 * m + 1]);
        add_pair(sum, row_at(positions, own.ring[2 * m]), b, previous);
        previous = b;
    }
    if (four) {
        const float3 b = row_at(positions, own.ring[5]);
        add_pair(sum, row_at(positions, own.ring[4]), b, previous);
        add_pair(sum, row_at(positions, own.ring[6]), last, b);
    } else {
        add_pair(sum, row_at(positions, own.ring[4]), last, previous);
    }
    return sum;
}

static __device__ float3 sum_long_ring(const exi_crowd &crowd, const own_tables &own, const float *positions) {
    const bool is_long = own.long_end > own.long_begin;
    float3 sum = make_float3(0, 0, 0);
    float3 previous = row_at(positions, is_long ? crowd.long_rings[own.long_end - 1] : own.ring[7]);
#pragma unroll
    for (int m = 0; m < 4; m++) {
        const float3 b = row_at(positions, own.ring[2 * m + 1]);
        add_pair(sum, row_at(positions, own.ring[2 * m]), b, previous);
        previous = b;
    }
    for (uint32_t i = own.long_begin; i < own.long_end; i += 2) {
        const float3 b = row_at(positions, crowd.long_rings[i + 1]);
        add_pair(sum, row_at(positions, crowd.long_rings[i]), b, previous);
        previous = b;
    }
    return sum;
}

static __device__ __forceinline__ float3 unit(float3 v) {
    float square = fmaf(v.x, v.x, fmaf(v.y, v.y, v.z * v.z));
    if (!(square > 1e-30f && square < 1e30f)) { /* tiny, huge, or none */
        const float largest = fmaxf(fabsf(v.x), fmaxf(fabsf(v.y), fabsf(v.z)));
        if (!(largest > 0.0f && largest < 3e38f))
            return make_float3(0, 0, 0);
        const float scale = 1.0f / fmaxf(largest, 1.2e-38f);
        v = make_float3(v.x * scale, v.y * scale, v.z * scale);
        square = fmaf(v.x, v.x, fmaf(v.y, v.y, v.z * v.z));
    }
    const float scale = rsqrtf(square);
    return make_float3(v.x * scale, v.y * scale, v.z * scale);
}

/* Which of x y z comes first for lanes 0, 1, 2: a warp's 32 triples are 96 floats, of which lane l has l, l + 32 and
 * l + 64: the components l, l + 2 and l + 1 modulo 3. */
static __device__ __forceinline__ float3 turn(const float3 &v, int first) {
    return first == 0   ? make_float3(v.x, v.z, v.y)
           : first == 1 ? make_float3(v.y, v.x, v.z)
                        : make_float3(v.z, v.y, v.x);
}

/* A triple of each lane, as the floats that the lanes write. */
static __device__ __forceinline__ float3 spread(const float3 &v, int lane) {
    float parts[3];
    const float from[3] = {v.x, v.y, v.z};
#pragma unroll
    for (int c = 0; c < 3; c++) {
        const int k = 2 * (c + 3 - lane % 3) % 3; /* which of the lane's three is component c */
        parts[c] = __shfl_sync(0xFFFFFFFFu, from[c], (32 * k + lane) / 3);
    }
    return turn(make_float3(parts[0], parts[1], parts[2]), lane % 3);
}

static __device__ __forceinline__ void store(float *to, const own_tables &own, const float3 &v) {
    if (own.words[0] != NOWHERE)
        __stcs(to + own.words[0], v.x);
    if (own.words[1] != NOWHERE)
        __stcs(to + own.words[1], v.y);
    if (own.words[2] != NOWHERE)
        __stcs(to + own.words[2], v.z);
}

template <bool NORMALS>
static __device__ __forceinline__ void write_batch(const exi_gpu &g, const exi_gpu_job &j, const exi_crowd_patch &p,
                                                   const own_tables &own, const shared_tables &s, int batch,
                                                   const float *positions, bool four) {
    const int lane = (int)threadIdx.x % 32, word = (int)threadIdx.x / 32 * 96 + lane;
    const int left = j.count - BATCH * batch;
#pragma unroll 4
    for (int i = 0; i < BATCH; i++) {
        if (i >= left)
            break;
        const float *here = positions + i * INSTANCE;
        const size_t instance = (size_t)(BATCH * batch + i);
        const float4 o = s.origins[(batch & (ORIGINS - 1)) * BATCH + i];
        const float3 origin = turn(make_float3(o.x, o.y, o.z), lane % 3);
        store(j.positions + instance * j.position_instance, own,
              make_float3(here[word] + origin.x, here[word + 32] + origin.y, here[word + 64] + origin.z));
        if (NORMALS) {
            const float3 sum = p.has_long_rings ? sum_long_ring(g.crowd, own, here) : sum_ring(own, here, four);
            store(j.normals + instance * j.normal_instance, own, spread(unit(sum), lane));
        }
    }
}

/* ---- a patch ---- */

static __device__ void load_own(const exi_gpu &g, const exi_gpu_job &j, const exi_crowd_patch &p, int patch, int steps,
                                bool normals, own_tables &own) {
    const int thread = (int)threadIdx.x, lane = thread % 32, warp = thread / 32;
#pragma unroll
    for (int i = 0; i < WARP_TILES; i++) {
        const size_t tile = (size_t)patch * EXI_CROWD_TILES + (size_t)(warp * WARP_TILES + i);
#pragma unroll
        for (int c = 0; c < 6; c++)
            own.base[i][c] = g.crowd.base[(tile * 6 + (size_t)c) * 32 + (size_t)lane];
#pragma unroll
        for (int c = 0; c < 3; c++)
            own.forms[i][c] =
                g.crowd.form_steps > 0
                    ? reinterpret_cast<const float4 *>(
                          g.crowd.forms)[(tile * (size_t)g.crowd.form_steps * 3 + (size_t)c) * 32 + (size_t)lane]
                    : make_float4(0, 0, 0, 0);
        own.skin_high[i] = own.skin_low[i] = make_float4(0, 0, 0, 0);
        if (steps > 0)
            split(reinterpret_cast<const float4 *>(
                      g.crowd.skin)[((size_t)p.skin + (size_t)((warp * WARP_TILES + i) * steps)) * 32 + (size_t)lane],
                  own.skin_high[i], own.skin_low[i]);
    }
    const uint32_t *sources = g.crowd.sources + (size_t)patch * EXI_CROWD_ROWS;
#pragma unroll
    for (int k = 0; k < 3; k++) {
        const int word = 96 * warp + 32 * k + lane;
        own.words[k] =
            word / 3 < p.owned ? (uint32_t)(sources[word / 3] * j.position_stride) + (uint32_t)(word % 3) : NOWHERE;
    }
    own.long_begin = own.long_end = 0;
    if (!normals)
        return;
    const uint4 packed =
        reinterpret_cast<const uint4 *>(g.crowd.rings)[(size_t)patch * EXI_CROWD_ROWS + (size_t)thread];
    const uint32_t pairs[4] = {packed.x, packed.y, packed.z, packed.w};
#pragma unroll
    for (int k = 0; k < EXI_CROWD_RING; k++)
        own.ring[k] = k % 2 == 0 ? pairs[k / 2] & 0xFFFFu : pairs[k / 2] >> 16;
    if (p.has_long_rings) {
        const uint32_t *starts = g.crowd.long_starts + (size_t)patch * (EXI_CROWD_ROWS + 1) + (size_t)thread;
        own.long_begin = starts[0];
        own.long_end = starts[1];
    }
}

/* Batches begin to end of a patch; PIPED: with room for the positions of two of them. */
template <bool PIPED, bool NORMALS>
static __device__ void run_patch(const exi_gpu &g, const exi_gpu_job &j, int patch, int begin, int end,
                                 const shared_tables &s) {
    const exi_crowd_patch p = g.crowd.patches[patch];
    const uint16_t *joints = g.crowd.joints + (size_t)patch * 8 * (size_t)g.crowd.most_joint_steps;
    const int steps = j.skinned ? p.joint_steps : 0;
    own_tables own;
    load_own(g, j, p, patch, steps, NORMALS, own);
    const bool four = NORMALS && __any_sync(0xFFFFFFFFu, own.ring[7] != own.ring[5] || own.ring[6] != own.ring[5]);
    const bool writes_first = ((int)threadIdx.x / 32) % 2 != 0;
    stage(g, j, p, joints, steps, s, begin);
    __syncthreads();
    if constexpr (!PIPED) {
        for (int batch = begin; batch < end; batch++) {
            shape(g, p, patch, steps, own, s, batch, s.positions);
            __syncthreads();
            if (batch + 1 < end)
                stage(g, j, p, joints, steps, s, batch + 1);
            write_batch<NORMALS>(g, j, p, own, s, batch, s.positions, four);
            __syncthreads();
        }
    } else {
        for (int batch = begin; batch <= end; batch++) {
            float *now = s.positions + (batch & 1) * BATCH * INSTANCE,
                  *past = s.positions + (~batch & 1) * BATCH * INSTANCE;
            if (batch + 1 < end)
                stage(g, j, p, joints, steps, s, batch + 1);
            if (batch > begin && writes_first)
                write_batch<NORMALS>(g, j, p, own, s, batch - 1, past, four);
            if (batch < end)
                shape(g, p, patch, steps, own, s, batch, now);
            if (batch > begin && !writes_first)
                write_batch<NORMALS>(g, j, p, own, s, batch - 1, past, four);
            __syncthreads();
        }
    }
}

static __device__ __forceinline__ shared_tables lay_shared(const exi_gpu &g, float4 *memory, int buffers) {
    shared_tables s;
    s.joint_step = g.crowd.most_joint_steps * ENTRIES * 32;
    s.form_step = g.crowd.form_steps * 32;
    s.positions = reinterpret_cast<float *>(memory);
    s.joints = memory + buffers * BATCH * INSTANCE / 4;
    s.forms = s.joints + 2 * s.joint_step;
    s.origins = s.forms + 2 * s.form_step;
    return s;
}

/* Patches times batches are spread evenly over the blocks, those of one patch next to each other. */
template <bool PIPED, bool NORMALS>
static __global__ void __launch_bounds__(THREADS, 1)
    crowd_kernel(const __grid_constant__ exi_gpu g, const __grid_constant__ exi_gpu_job j) {
    extern __shared__ float4 shared_memory[];
    const shared_tables s = lay_shared(g, shared_memory, PIPED ? 2 : 1);
    const int batches = (j.count + BATCH - 1) / BATCH;
    const long long all = (long long)g.crowd.patch_count * batches;
    const long long first = all * blockIdx.x / gridDim.x, last = all * (blockIdx.x + 1) / gridDim.x;
    for (long long at = first; at < last;) {
        const int patch = (int)(at / batches), begin = (int)(at - (long long)patch * batches);
        const int end = (int)min((long long)batches, last - (long long)patch * batches);
        run_patch<PIPED, NORMALS>(g, j, patch, begin, end, s);
        at = (long long)patch * batches + end;
    }
}

/* ---- the host's side ---- */

static size_t shared_size(const exi_gpu *g, int buffers) {
    return (size_t)buffers * BATCH * INSTANCE * sizeof(float) +
           (size_t)(2 * g->crowd.most_joint_steps * ENTRIES * 32 + 2 * g->crowd.form_steps * 32 + ORIGINS * BATCH) *
               sizeof(float4);
}

typedef void (*kernel)(exi_gpu, exi_gpu_job);

static int attribute(enum cudaDeviceAttr which) {
    int device = 0, value = 0;
    if (cudaGetDevice(&device) != cudaSuccess || cudaDeviceGetAttribute(&value, which, device) != cudaSuccess)
        return 0;
    return value;
}

bool exi_crowd_suits(const exi_gpu *gpu, const exi_gpu_job *job) {
    const bool normals = job->normals != NULL;
    return gpu->crowd.patch_count > 0 && job->positions && !job->cage && (!normals || gpu->crowd.has_rings) &&
           (!normals || job->normal_stride == job->position_stride) &&
           (uint64_t)gpu->vertices * job->position_stride < NOWHERE &&
           attribute(cudaDevAttrComputeCapabilityMajor) >= 8 &&
           shared_size(gpu, 1) <= (size_t)attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
}

int exi_crowd_run(const exi_gpu *gpu, const exi_gpu_job *job, bool normals, ex_cuda_stream stream) {
    const size_t most = (size_t)attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
    const bool piped = shared_size(gpu, 2) <= most;
    const kernel run = piped ? (normals ? crowd_kernel<true, true> : crowd_kernel<true, false>)
                             : (normals ? crowd_kernel<false, true> : crowd_kernel<false, false>);
    const size_t size = shared_size(gpu, piped ? 2 : 1);
    const cudaError_t set = cudaFuncSetAttribute(reinterpret_cast<const void *>(run),
                                                 cudaFuncAttributeMaxDynamicSharedMemorySize, (int)size);
    if (set != cudaSuccess)
        return (int)set;
    const long long work = (long long)gpu->crowd.patch_count * ((job->count + BATCH - 1) / BATCH);
    const long long processors = attribute(cudaDevAttrMultiProcessorCount);
    run<<<(unsigned)(work < processors ? work : processors), THREADS, size, stream>>>(*gpu, *job);
    return (int)cudaGetLastError();
}

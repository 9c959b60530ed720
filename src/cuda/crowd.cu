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
 * the one, half with the other, so that tensor cores, shared memory and stores are busy at the same time. Palettes come
 * two batches ahead of their use. Threads past the patch's own vertices repeat the last one, the same value to the same
 * place, so that nothing is asked in the inner loop; and that loop is kept short: unrolled further it was bound by
 * fetching instructions.
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
    ORIGINS = 4,  /* batches whose origins are kept */
    FETCHED = 96  /* float4 that a warp fetches at a time */
};

/* What a block works on. */
typedef struct shared_tables {
    float *positions; /* [buffers][BATCH][INSTANCE] */
    float4 *fetched;  /* [2][tasks][3][32 lanes]: rows of palettes and factors as they come */
    float4 *joints;   /* [2][steps][ENTRIES][32 lanes]: both columns' high parts, then their low parts */
    float4 *forms;    /* [2][steps][32 lanes] */
    float4 *origins;  /* [ORIGINS][BATCH][3]: x y z as lanes 0, 1, 2 want them */
    uint4 *rings;     /* [THREADS] */
    float4 *base;     /* [3][THREADS]: x y z of a thread's rows */
    uint32_t *words;  /* [6][THREADS]: where a thread's three floats are, in bytes, and where they go in an instance */
    int joint_step, form_step, tasks;
} shared_tables;

/* What a thread keeps of a patch; of several steps the first: others are read again for every batch. */
typedef struct own_tables {
    float4 forms[WARP_TILES][3], skin_high[WARP_TILES], skin_low[WARP_TILES];
} own_tables;

/* The patch at hand. */
typedef struct patch_tables {
    exi_crowd_patch p;
    const uint16_t *joints;
    int number, steps; /* of the skin; 0: none */
} patch_tables;

/* ---- numbers in two parts ---- */

/* x rounded to 11 bits, but for what stands below them, which the tensor cores do not look at. */
static __device__ __forceinline__ float rounded(float x) {
    return __uint_as_float(__float_as_uint(x) + 0x1000u);
}

/* What rounding to 11 bits left of x. */
static __device__ __forceinline__ float rest(float x, float rounded_x) {
    return x - __uint_as_float(__float_as_uint(rounded_x) & 0xFFFFE000u);
}

static __device__ __forceinline__ void split(const float4 &x, float4 &high, float4 &low) {
    high = make_float4(rounded(x.x), rounded(x.y), rounded(x.z), rounded(x.w));
    low = make_float4(rounded(rest(x.x, high.x)), rounded(rest(x.y, high.y)), rounded(rest(x.z, high.z)),
                      rounded(rest(x.w, high.w)));
}

/* The two numbers of a column, ready to be multiplied with. */
static __device__ __forceinline__ float4 split_pair(float a, float b) {
    const float ha = rounded(a), hb = rounded(b);
    return make_float4(ha, hb, rounded(rest(a, ha)), rounded(rest(b, hb)));
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

/* Copies into shared memory that do not hold up the thread; it waits for its own before it reads them. */
static __device__ __forceinline__ void fetch_16(void *to, const void *from) {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((uint32_t)__cvta_generic_to_shared(to)), "l"(from));
#endif
}

static __device__ __forceinline__ void fetch_4(void *to, const void *from) {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"((uint32_t)__cvta_generic_to_shared(to)), "l"(from));
#endif
}

static __device__ __forceinline__ void wait_for_fetches(void) {
#if __CUDA_ARCH__ >= 800
    asm volatile("cp.async.wait_all;" ::: "memory");
#endif
}

/*
 * A warp's tasks of a batch: row `task % 3` of the matrices of step `task / 3` of joints, then steps of forms. Lane
 * 4 n + t has instance n and columns t and t + 4. First what they need is fetched: the reference's row and both
 * joints', or both factors.
 */
static __device__ __forceinline__ void fetch(const exi_gpu &g, const exi_gpu_job &j, const patch_tables &t,
                                             const shared_tables &s, int batch) {
    const int lane = (int)threadIdx.x % 32, column = lane % 4;
    const size_t instance = (size_t)min(BATCH * batch + lane / 4, j.count - 1);
#pragma unroll 1
    for (int task = (int)threadIdx.x / 32; task < 3 * t.steps + g.crowd.form_steps; task += WARPS) {
        float4 *to = s.fetched + ((batch & 1) * s.tasks + task) * FETCHED + lane;
        if (task < 3 * t.steps) {
            const float *row = j.work.palette + instance * (size_t)g.joints * 12 + 4 * (size_t)(task % 3);
            const int place = 8 * (task / 3) + column, last = t.p.joint_count - 1;
            fetch_16(to, row + 12 * t.joints[0]);
            fetch_16(to + 32, row + 12 * t.joints[min(place, last)]);
            fetch_16(to + 64, row + 12 * t.joints[min(place + 4, last)]);
        } else {
            const float *factors = j.work.factors + instance * (size_t)g.forms;
            const int form = 8 * (task - 3 * t.steps) + column, last = g.sum_forms - 1;
            fetch_4(&to->x, factors + min(form, last));
            fetch_4(&to->y, factors + min(form + 4, last));
        }
    }
}

/* A row: its linear part, and where it takes the centre. */
static __device__ __forceinline__ float4 from_centre(const float4 &r, const float *centre) {
    return make_float4(r.x, r.y, r.z, fmaf(r.x, centre[0], fmaf(r.y, centre[1], fmaf(r.z, centre[2], r.w))));
}

/* The row as it is summed: the difference from the reference, which stands for itself. */
static __device__ __forceinline__ float4 summed(const float4 &fetched, const float4 &reference, int place,
                                                const exi_crowd_patch &p) {
    const float4 own = from_centre(fetched, p.centre);
    const float from = place == 0 ? 0.0f : 1.0f;
    if (place >= p.joint_count)
        return make_float4(0, 0, 0, 0);
    return make_float4(fmaf(-from, reference.x, own.x), fmaf(-from, reference.y, own.y),
                       fmaf(-from, reference.z, own.z), own.w - reference.w);
}

/* Which of a lane's three floats is component c: a warp's 32 triples are 96 floats, of which lane l has l, l + 32 and
 * l + 64: the components l, l + 2 and l + 1 modulo 3. */
static __device__ __forceinline__ int float_of(int component, int lane) {
    return 2 * (component + 3 - lane % 3) % 3;
}

static __device__ __forceinline__ void stage(const exi_gpu &g, const patch_tables &t, const shared_tables &s,
                                             int batch) {
    const int lane = (int)threadIdx.x % 32, column = lane % 4;
    float *origins = reinterpret_cast<float *>(s.origins + ((batch & (ORIGINS - 1)) * BATCH + lane / 4) * 3);
    wait_for_fetches();
#pragma unroll 1
    for (int task = (int)threadIdx.x / 32; task < 3 * t.steps + g.crowd.form_steps; task += WARPS) {
        const float4 *from = s.fetched + ((batch & 1) * s.tasks + task) * FETCHED + lane;
        if (task < 3 * t.steps) {
            const int row = task % 3, place = 8 * (task / 3) + column;
            const float4 reference = from_centre(from[0], t.p.centre);
            const float4 a = summed(from[32], reference, place, t.p), b = summed(from[64], reference, place + 4, t.p);
            float4 *to = s.joints + (batch & 1) * s.joint_step + (task / 3 * ENTRIES + 4 * row) * 32 + lane;
            to[0] = split_pair(a.x, b.x);
            to[32] = split_pair(a.y, b.y);
            to[64] = split_pair(a.z, b.z);
            to[96] = split_pair(a.w, b.w);
            if (place < 3) /* one of the three ways each; the place of the reference is 0 */
                origins[4 * place + float_of(row, place)] = reference.w;
        } else {
            const int step = task - 3 * t.steps, form = 8 * step + column;
            s.forms[(batch & 1) * s.form_step + step * 32 + lane] =
                split_pair(form < g.sum_forms ? from->x : 0.0f, form + 4 < g.sum_forms ? from->y : 0.0f);
        }
    }
    if (t.steps == 0 && threadIdx.x < 32 && column < 3)
#pragma unroll
        for (int c = 0; c < 3; c++)
            origins[4 * column + float_of(c, column)] = t.p.centre[c];
}

/* ---- positions ---- */

/* x += the forms of a step, for both tiles of the warp. */
static __device__ __forceinline__ void add_forms(float x[WARP_TILES][3][4], const float4 forms[WARP_TILES][3],
                                                 const float4 &factors) {
#pragma unroll
    for (int i = 0; i < WARP_TILES; i++)
#pragma unroll
        for (int c = 0; c < 3; c++) {
            float4 high, low;
            split(forms[i][c], high, low);
            multiply_parts(x[i][c], high, low, factors);
        }
}

/* ONE: one step of forms and one of joints at most. */
template <bool ONE>
static __device__ __forceinline__ void shape(const exi_gpu &g, const patch_tables &t, const own_tables &own,
                                             const shared_tables &s, int batch, float *positions) {
    const int lane = (int)threadIdx.x % 32, tile = (int)threadIdx.x / 32 * WARP_TILES;
    if (16 * tile >= t.p.rows)
        return;
    const float4 b0 = s.base[threadIdx.x], b1 = s.base[THREADS + threadIdx.x], b2 = s.base[2 * THREADS + threadIdx.x];
    const float base[WARP_TILES][6] = {{b0.x, b0.y, b0.z, b0.w, b1.x, b1.y}, {b1.z, b1.w, b2.x, b2.y, b2.z, b2.w}};
    float x[WARP_TILES][3][4];
#pragma unroll
    for (int i = 0; i < WARP_TILES; i++)
#pragma unroll
        for (int c = 0; c < 3; c++) {
            x[i][c][0] = x[i][c][1] = base[i][c];
            x[i][c][2] = x[i][c][3] = base[i][3 + c];
        }
    const float4 *factors = s.forms + (batch & 1) * s.form_step + lane;
    if (g.crowd.form_steps > 0)
        add_forms(x, own.forms, factors[0]);
    if (!ONE) {
#pragma unroll 1
        for (int k = 1; k < g.crowd.form_steps; k++) {
            float4 more[WARP_TILES][3];
#pragma unroll
            for (int i = 0; i < WARP_TILES; i++)
#pragma unroll
                for (int c = 0; c < 3; c++)
                    more[i][c] =
                        __ldg(reinterpret_cast<const float4 *>(g.crowd.forms) +
                              ((((size_t)t.number * EXI_CROWD_TILES + (size_t)(tile + i)) * (size_t)g.crowd.form_steps +
                                (size_t)k) *
                                   3 +
                               (size_t)c) *
                                  32 +
                              (size_t)lane);
            add_forms(x, more, factors[32 * k]);
        }
    }
    float *to = positions + (size_t)(2 * (lane % 4)) * INSTANCE + 3 * (16 * tile + lane / 4);
    const float4 *columns = s.joints + (batch & 1) * s.joint_step + lane;
#pragma unroll
    for (int r = 0; r < 3; r++) {
        float y[WARP_TILES][4];
#pragma unroll
        for (int e = 3; e >= 0 && t.steps > 0; e--) {
            float m[WARP_TILES][4] = {};
            const float4 b = columns[(4 * r + e) * 32];
#pragma unroll
            for (int i = 0; i < WARP_TILES; i++)
                multiply_parts(m[i], own.skin_high[i], own.skin_low[i], b);
            if (!ONE) {
#pragma unroll 1
                for (int k = 1; k < t.steps; k++)
#pragma unroll
                    for (int i = 0; i < WARP_TILES; i++) {
                        float4 high, low;
                        split(__ldg(reinterpret_cast<const float4 *>(g.crowd.skin) +
                                    ((size_t)t.p.skin + (size_t)((tile + i) * t.steps + k)) * 32 + (size_t)lane),
                              high, low);
                        multiply_parts(m[i], high, low, columns[(k * ENTRIES + 4 * r + e) * 32]);
                    }
            }
#pragma unroll
            for (int i = 0; i < WARP_TILES; i++)
#pragma unroll
                for (int k = 0; k < 4; k++)
                    y[i][k] = e == 3 ? m[i][k] : fmaf(m[i][k], x[i][e][k], y[i][k]);
        }
#pragma unroll
        for (int i = 0; i < WARP_TILES; i++)
#pragma unroll
            for (int k = 0; k < 4; k++)
                to[(k & 1) * INSTANCE + 3 * (16 * i + 8 * (k >> 1)) + r] = t.steps > 0 ? y[i][k] : x[i][r][k];
    }
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

/* The sum of a loop of eight; `four`: some of the warp's have more than six neighbours. */
static __device__ __forceinline__ float3 sum_ring(const uint32_t ring[EXI_CROWD_RING], const float *positions,
                                                  bool four) {
    float3 sum = make_float3(0, 0, 0);
    const float3 last = row_at(positions, ring[7]);
    float3 previous = last;
#pragma unroll
    for (int m = 0; m < 2; m++) {
        const float3 b = row_at(positions, ring[2 * m + 1]);
        add_pair(sum, row_at(positions, ring[2 * m]), b, previous);
        previous = b;
    }
    float3 end = row_at(positions, ring[4]);
    if (four) {
        const float3 b = row_at(positions, ring[5]);
        add_pair(sum, end, b, previous);
        previous = b;
        end = row_at(positions, ring[6]);
    }
    add_pair(sum, end, last, previous);
    return sum;
}

/* A long ring's sum: what its first eight neighbours came to when they were closed up, and the rest of the loop. */
static __device__ __noinline__ float3 add_long_rest(const exi_crowd &crowd, int patch, int row, uint32_t first,
                                                    uint32_t eighth, const float *positions, float3 sum) {
    const uint32_t *starts = crowd.long_starts + (size_t)patch * (EXI_CROWD_ROWS + 1) + (size_t)row;
    const uint32_t begin = starts[0], end = starts[1];
    const float3 s0 = row_at(positions, first), s7 = row_at(positions, eighth);
    float3 previous = s7;
    for (uint32_t i = begin; i < end; i += 2) {
        const float3 b = row_at(positions, crowd.long_rings[i + 1]);
        add_pair(sum, row_at(positions, crowd.long_rings[i]), b, previous);
        previous = b;
    }
    add_pair(sum, s0, s7, previous); /* s_0 x (s_1 - s_7) was taken, s_0 x (s_1 - the last) is due */
    return sum;
}

static __device__ __forceinline__ float inverse_root(float x) {
    float y;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

/* A scale and a square for sums that are tiny, huge, or nothing. */
static __device__ __noinline__ float2 rescale(float x, float y, float z) {
    const float largest = fmaxf(fabsf(x), fmaxf(fabsf(y), fabsf(z)));
    if (!(largest > 1e-37f && largest < 3e38f))
        return make_float2(0.0f, 1.0f);
    const float s = 1.0f / largest;
    return make_float2(s, (s * x) * (s * x) + (s * y) * (s * y) + (s * z) * (s * z));
}

static __device__ __forceinline__ float3 unit(const float3 &v) {
    float square = fmaf(v.x, v.x, fmaf(v.y, v.y, v.z * v.z)), scale = 1.0f;
    if (!(square > 1e-30f && square < 1e30f)) {
        const float2 again = rescale(v.x, v.y, v.z);
        scale = again.x;
        square = again.y;
    }
    scale *= inverse_root(square);
    return make_float3(v.x * scale, v.y * scale, v.z * scale);
}

/* A triple of each lane, as the floats that the lanes write (float_of). */
static __device__ __forceinline__ float3 spread(const float3 &v, int lane, const int from[3]) {
    const float x = __shfl_sync(0xFFFFFFFFu, v.x, from[0]), y = __shfl_sync(0xFFFFFFFFu, v.y, from[1]),
                z = __shfl_sync(0xFFFFFFFFu, v.z, from[2]);
    const int first = lane % 3;
    return make_float3(first == 0   ? x
                       : first == 1 ? y
                                    : z,
                       first == 0   ? z
                       : first == 1 ? x
                                    : y,
                       first == 0   ? y
                       : first == 1 ? z
                                    : x);
}

static __device__ __forceinline__ void put(char *to, uint32_t bytes, float value) {
    *reinterpret_cast<float *>(to + bytes) = value;
}

template <bool NORMALS>
static __device__ __forceinline__ void write_batch(const exi_gpu &g, const exi_gpu_job &j, const patch_tables &t,
                                                   const shared_tables &s, int batch, const float *positions,
                                                   bool four) {
    const int thread = (int)threadIdx.x, lane = thread % 32;
    if (thread - lane >= t.p.owned)
        return;
    uint32_t at[3], to[3], ring[EXI_CROWD_RING];
    int from[3];
#pragma unroll
    for (int k = 0; k < 3; k++) {
        at[k] = s.words[k * THREADS + thread];
        to[k] = s.words[(3 + k) * THREADS + thread];
        from[k] = (32 * float_of(k, lane) + lane) / 3;
    }
    if (NORMALS) {
        const uint4 packed = s.rings[thread];
        const uint32_t pairs[4] = {packed.x, packed.y, packed.z, packed.w};
#pragma unroll
        for (int k = 0; k < EXI_CROWD_RING; k++)
            ring[k] = k % 2 == 0 ? pairs[k / 2] & 0xFFFFu : pairs[k / 2] >> 16;
    }
    const float4 *origin = s.origins + (batch & (ORIGINS - 1)) * BATCH * 3 + lane % 3;
    const bool long_rings = NORMALS && t.p.has_long_rings != 0;
    const int last = j.count - 1;
#pragma unroll 4
    for (int i = 0; i < BATCH; i++) { /* instances past the last were shaped as the last, and go there again */
        const size_t instance = (size_t)min(BATCH * batch + i, last);
        char *out = reinterpret_cast<char *>(j.positions + instance * j.position_instance);
        const float4 o = origin[3 * i];
        const float *here = positions + i * INSTANCE;
        put(out, to[0], row_at(here, at[0]).x + o.x);
        put(out, to[1], row_at(here, at[1]).x + o.y);
        put(out, to[2], row_at(here, at[2]).x + o.z);
        if (NORMALS) {
            char *out_normals = reinterpret_cast<char *>(j.normals + instance * j.normal_instance);
            float3 sum = sum_ring(ring, here, four);
            if (long_rings)
                sum = add_long_rest(g.crowd, t.number, min(thread, t.p.owned - 1), ring[0], ring[7], here, sum);
            const float3 n = spread(unit(sum), lane, from);
            put(out_normals, to[0], n.x);
            put(out_normals, to[1], n.y);
            put(out_normals, to[2], n.z);
        }
    }
}

/* ---- a patch ---- */

static __device__ void load_own(const exi_gpu &g, const patch_tables &t, own_tables &own) {
    const int lane = (int)threadIdx.x % 32, first = (int)threadIdx.x / 32 * WARP_TILES;
#pragma unroll
    for (int i = 0; i < WARP_TILES; i++) {
        const size_t tile = (size_t)t.number * EXI_CROWD_TILES + (size_t)(first + i);
#pragma unroll
        for (int c = 0; c < 3; c++)
            own.forms[i][c] =
                g.crowd.form_steps > 0
                    ? reinterpret_cast<const float4 *>(
                          g.crowd.forms)[(tile * (size_t)g.crowd.form_steps * 3 + (size_t)c) * 32 + (size_t)lane]
                    : make_float4(0, 0, 0, 0);
        own.skin_high[i] = own.skin_low[i] = make_float4(0, 0, 0, 0);
        if (t.steps > 0)
            split(reinterpret_cast<const float4 *>(
                      g.crowd.skin)[((size_t)t.p.skin + (size_t)((first + i) * t.steps)) * 32 + (size_t)lane],
                  own.skin_high[i], own.skin_low[i]);
    }
}

/* Where a thread's floats are and go, and its ring; threads past the last vertex have those of the last. */
static __device__ void load_shared(const exi_gpu &g, const exi_gpu_job &j, const patch_tables &t,
                                   const shared_tables &s, bool normals) {
    const int thread = (int)threadIdx.x, lane = thread % 32, last = t.p.owned - 1;
    const uint32_t *sources = g.crowd.sources + (size_t)t.number * EXI_CROWD_ROWS;
    for (int k = 0; k < 3; k++) {
        const int word = 96 * (thread / 32) + 32 * k + lane, row = min(word / 3, last);
        s.words[k * THREADS + thread] = (uint32_t)(12 * row + 4 * (word % 3));
        s.words[(3 + k) * THREADS + thread] = (uint32_t)(4 * (sources[row] * j.position_stride + (uint64_t)(word % 3)));
    }
    const float *from = g.crowd.base +
                        ((size_t)t.number * EXI_CROWD_TILES + (size_t)(thread / 32 * WARP_TILES)) * 6 * 32 +
                        (size_t)lane;
    for (int k = 0; k < 3; k++)
        s.base[k * THREADS + thread] =
            make_float4(from[128 * k], from[128 * k + 32], from[128 * k + 64], from[128 * k + 96]);
    if (normals)
        s.rings[thread] = reinterpret_cast<const uint4 *>(
            g.crowd.rings)[(size_t)t.number * EXI_CROWD_ROWS + (size_t)min(thread, last)];
}

/* Batches begin to end of a patch; PIPED: with room for the positions of two of them. */
template <bool ONE, bool PIPED, bool NORMALS>
static __device__ void run_patch(const exi_gpu &g, const exi_gpu_job &j, int number, int begin, int end,
                                 const shared_tables &s) {
    __shared__ patch_tables t; /* not in registers, which are short */
    own_tables own;
    if (threadIdx.x == 0) {
        t.p = g.crowd.patches[number];
        t.number = number;
        t.joints = g.crowd.joints + (size_t)number * 8 * (size_t)g.crowd.most_joint_steps;
        t.steps = j.skinned ? t.p.joint_steps : 0;
    }
    __syncthreads();
    fetch(g, j, t, s, begin);
    load_own(g, t, own);
    load_shared(g, j, t, s, NORMALS);
    const uint4 ring = NORMALS ? s.rings[threadIdx.x] : make_uint4(0, 0, 0, 0);
    const bool four = NORMALS && __any_sync(0xFFFFFFFFu, ring.w != (ring.z >> 16) * 0x10001u);
    stage(g, t, s, begin);
    if (begin + 1 < end)
        fetch(g, j, t, s, begin + 1);
    __syncthreads();
    if constexpr (!PIPED) {
#pragma unroll 1
        for (int batch = begin; batch < end; batch++) {
            shape<ONE>(g, t, own, s, batch, s.positions);
            __syncthreads();
            if (batch + 1 < end)
                stage(g, t, s, batch + 1);
            if (batch + 2 < end)
                fetch(g, j, t, s, batch + 2);
            write_batch<NORMALS>(g, j, t, s, batch, s.positions, four);
            __syncthreads();
        }
    } else {
        const int odd = (int)threadIdx.x / 32 % 2;
#pragma unroll 1
        for (int batch = begin; batch <= end; batch++) {
            float *now = s.positions + (batch & 1) * BATCH * INSTANCE;
            const float *past = s.positions + (~batch & 1) * BATCH * INSTANCE;
#pragma unroll 1
            for (int half = 0; half < 2; half++) {
                if (half == odd && batch < end)
                    shape<ONE>(g, t, own, s, batch, now);
                if (half != odd && batch > begin)
                    write_batch<NORMALS>(g, j, t, s, batch - 1, past, four);
            }
            if (batch + 1 < end)
                stage(g, t, s, batch + 1);
            if (batch + 2 < end)
                fetch(g, j, t, s, batch + 2);
            __syncthreads();
        }
    }
}

static __device__ __forceinline__ shared_tables lay_shared(const exi_gpu &g, float4 *memory, int buffers) {
    shared_tables s;
    s.tasks = 3 * g.crowd.most_joint_steps + g.crowd.form_steps;
    s.joint_step = g.crowd.most_joint_steps * ENTRIES * 32;
    s.form_step = g.crowd.form_steps * 32;
    s.positions = reinterpret_cast<float *>(memory);
    s.fetched = memory + buffers * BATCH * INSTANCE / 4;
    s.joints = s.fetched + 2 * s.tasks * FETCHED;
    s.forms = s.joints + 2 * s.joint_step;
    s.origins = s.forms + 2 * s.form_step;
    s.rings = reinterpret_cast<uint4 *>(s.origins + ORIGINS * BATCH * 3);
    s.base = reinterpret_cast<float4 *>(s.rings + THREADS);
    s.words = reinterpret_cast<uint32_t *>(s.base + 3 * THREADS);
    return s;
}

/* Patches times batches are spread evenly over the blocks, those of one patch next to each other. */
template <bool ONE, bool PIPED, bool NORMALS>
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
        run_patch<ONE, PIPED, NORMALS>(g, j, patch, begin, end, s);
        at = (long long)patch * batches + end;
    }
}

/* ---- the host's side ---- */

static size_t shared_size(const exi_gpu *g, int buffers) {
    const size_t steps = (size_t)g->crowd.most_joint_steps, forms = (size_t)g->crowd.form_steps;
    return (size_t)buffers * BATCH * INSTANCE * sizeof(float) +
           (2 * (3 * steps + forms) * FETCHED + 2 * steps * ENTRIES * 32 + 2 * forms * 32 + ORIGINS * BATCH * 3 +
            4 * THREADS) *
               sizeof(float4) +
           6 * THREADS * sizeof(uint32_t);
}

typedef void (*kernel)(exi_gpu, exi_gpu_job);

static kernel choose(const exi_gpu *g, bool piped, bool normals) {
    if (!piped)
        return normals ? crowd_kernel<false, false, true> : crowd_kernel<false, false, false>;
    if (g->crowd.most_joint_steps <= 1 && g->crowd.form_steps <= 1)
        return normals ? crowd_kernel<true, true, true> : crowd_kernel<true, true, false>;
    return normals ? crowd_kernel<false, true, true> : crowd_kernel<false, true, false>;
}

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
           (uint64_t)gpu->vertices * job->position_stride * sizeof(float) < UINT32_MAX &&
           attribute(cudaDevAttrComputeCapabilityMajor) >= 8 &&
           shared_size(gpu, 1) <= (size_t)attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
}

int exi_crowd_run(const exi_gpu *gpu, const exi_gpu_job *job, bool normals, ex_cuda_stream stream) {
    const bool piped = shared_size(gpu, 2) <= (size_t)attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
    const kernel run = choose(gpu, piped, normals);
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

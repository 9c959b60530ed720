/*
 * Crowds: many instances of a rig with forms and linear skinning, from factors and palettes to positions and normals in
 * one kernel. A block keeps a patch of the cage (exi_crowd in block.h) on its multiprocessor and processes all
 * instances, eight at a time. Memory traffic is the result, 12 or 24 bytes per vertex and instance, and the palettes.
 *
 * With x relative to the patch's centre c, and the reference joint r,
 *
 *     x = base + sum over k of f_k delta_k,     position = M' x + t' + M_r c,
 *     M' = R_r + sum over j of w_j (R_j - R_r),     t' = sum over j of w_j (M_j c - M_r c):
 *
 * The sums over k and over j are matrix products, with vertices as rows and instances as columns, and run on the tensor
 * cores: 16 vertices by 8 instances at a time, 8 forms or joints deep. Their operands have 11 bits; a number is split
 * into two of those, a product into three (high high, high low, low high), with an error of 2^-21 of the term. As all
 * terms are of the patch's size, that is less than the rounding error of adding M_r c. On the normal cores the sums
 * take 72 multiply-adds per vertex and 192 bytes of palette from shared memory, which is more than fits into the time
 * of writing 24 bytes at full memory speed.
 *
 * Normals: a vertex's ring is a closed loop s_0 … s_(2m-1) of rows of the patch (block.h), and its area vector is half
 * the sum over even i of s_i x (s_(i+1) - s_(i-1)), for any origin. Positions are in shared memory, three floats each,
 * eight instances one after the other.
 *
 * Eight instances are shaped while the normals of the previous eight are computed and written. Half of the warps start
 * with one task, half with the other, so that tensor cores, shared memory and stores are busy at the same time.
 * Palettes are fetched two batches ahead. Without normals, patches have no neighbours and 256 rows: two blocks then
 * share a multiprocessor, and one works while the other waits.
 *
 * The limit is latency: the forms take registers, so there are only 16 warps, and about 200 instructions per warp of
 * vertices and instance. So results are written by bulk copies (from compute capability 9.0 on), without the threads,
 * if a patch is a run of vertices and everything is at multiples of 16 bytes. Otherwise a warp writes 32 floats at a
 * time; threads past the patch's own vertices repeat the last one, the same value to the same address. The inner loops
 * are kept short: unrolled further, they were bound by instruction fetch, or by registers that spilled to memory and,
 * with so much shared memory in use, missed the first-level cache.
 */
#include "cuda/kernels/crowd_parts.inl"
#include "cuda/kernels/kernels.h"
#include "cuda/kernels/kernels_launch.inl"

/* Instances processed side by side: the columns of a product. */
enum { BATCH = 8 };

/* Words of shared memory per row for output: normals for bulk copies; otherwise the source and destination of
 * floats. */
static constexpr __host__ __device__ int words_of(bool bulk, bool normals) {
    return !bulk ? 6 : normals ? 3 * BATCH : 0;
}

/* Sizes of a block's work on patches of ROWS rows. */
template <int ROWS> struct crowd_of {
    enum {
        THREADS = ROWS, /* when results are written, one thread per vertex */
        WARPS = THREADS / 32,
        TILES = ROWS / 16,
        WARP_TILES = TILES / WARPS,
        /* Floats from one instance's positions to the next: a multiple of 16 plus 4, so that the 32 numbers that a warp
         * stores at once, of 8 rows and 4 instances, are in 32 banks. */
        INSTANCE = 3 * ROWS + 4,
        ENTRIES = 12, /* of a joint's matrix */
        ORIGINS = 4,  /* batches whose origins are kept */
        FETCHED = 96  /* float4 that a warp fetches at a time */
    };

    /* Shared memory of a block. */
    typedef struct shared_tables {
        float *positions;  /* [buffers][BATCH][INSTANCE] */
        float4 *fetched;   /* [2][tasks][3][32 lanes]: fetched rows of palettes and factors */
        float4 *joints;    /* [2][steps][ENTRIES][32 lanes]: high parts of both columns, then their low parts */
        float4 *forms;     /* [2][steps][32 lanes] */
        float4 *origins;   /* [ORIGINS][BATCH]: M_r c */
        float *base;       /* [TILES][6][32 lanes]: x y z of row g, then of row g + 8 */
        uint4 *rings;      /* [ROWS] */
        float *normals;    /* [BATCH][3 * ROWS], for bulk copies; otherwise */
        uint32_t *words;   /* [6][ROWS]: offsets of a thread's three floats in the positions, and of their
                              destination; bytes */
        uint16_t *columns; /* [8 * steps]: joints */
        int joint_step, form_step, tasks;
    } shared_tables;

    /* Data of a patch that a thread keeps; only the first of several steps: others are read again for every batch. */
    typedef struct own_tables {
        float4 forms[WARP_TILES][3], skin_high[WARP_TILES], skin_low[WARP_TILES];
    } own_tables;

    /* The current patch. */
    typedef struct patch_tables {
        exi_crowd_patch p;
        int number, steps; /* of the skin; 0: none */
        uint32_t first;    /* vertex */
    } patch_tables;

    /* ---- a batch's columns ---- */

    /*
     * A warp's tasks of a batch. The last warps, which have no vertices to write, come first. A task is row `task % 3`
     * of the matrices of step `task / 3` of joints; then come steps of forms. Lane 4 n + t has instance n and columns t
     * and t + 4. Their data is fetched first: the reference's row and those of both joints, or both factors.
     */
    static __device__ __forceinline__ void fetch(const exi_gpu &g, const exi_gpu_job &j, const patch_tables &t,
                                                 const shared_tables &s, int batch) {
        const int lane = (int)threadIdx.x % 32, column = lane % 4;
        const size_t instance = (size_t)min(BATCH * batch + lane / 4, j.count - 1);
#pragma unroll 1
        for (int task = WARPS - 1 - (int)threadIdx.x / 32; task < 3 * t.steps + g.crowd.form_steps; task += WARPS) {
            float4 *to = s.fetched + ((batch & 1) * s.tasks + task) * FETCHED + lane;
            if (task < 3 * t.steps) {
                const float *row = j.work.palette + instance * (size_t)g.joints * 12 + 4 * (size_t)(task % 3);
                const int place = 8 * (task / 3) + column, last = t.p.joint_count - 1;
                exi_fetch_16(to, row + 12 * s.columns[0]);
                exi_fetch_16(to + 32, row + 12 * s.columns[min(place, last)]);
                exi_fetch_16(to + 64, row + 12 * s.columns[min(place + 4, last)]);
            } else {
                const float *factors = j.work.factors + instance * (size_t)g.forms;
                const int form = 8 * (task - 3 * t.steps) + column, last = g.sum_forms - 1;
                exi_fetch_4(&to->x, factors + min(form, last));
                exi_fetch_4(&to->y, factors + min(form + 4, last));
            }
        }
    }

    static __device__ __forceinline__ void stage(const exi_gpu &g, const patch_tables &t, const shared_tables &s,
                                                 int batch) {
        const int lane = (int)threadIdx.x % 32, column = lane % 4;
        float *origin = reinterpret_cast<float *>(s.origins + (batch & (ORIGINS - 1)) * BATCH + lane / 4);
        exi_fetch_wait();
#pragma unroll 1
        for (int task = WARPS - 1 - (int)threadIdx.x / 32; task < 3 * t.steps + g.crowd.form_steps; task += WARPS) {
            const float4 *from = s.fetched + ((batch & 1) * s.tasks + task) * FETCHED + lane;
            if (task < 3 * t.steps) {
                const int row = task % 3, place = 8 * (task / 3) + column;
                const float4 reference = from_centre(from[0], t.p.centre);
                const float4 a = summed(from[32], reference, place, t.p),
                             b = summed(from[64], reference, place + 4, t.p);
                float4 *to = s.joints + (batch & 1) * s.joint_step + (task / 3 * ENTRIES + 4 * row) * 32 + lane;
                to[0] = split_pair(a.x, b.x);
                to[32] = split_pair(a.y, b.y);
                to[64] = split_pair(a.z, b.z);
                to[96] = split_pair(a.w, b.w);
                if (place == 0)
                    origin[row] = reference.w;
            } else {
                const int step = task - 3 * t.steps, form = 8 * step + column;
                s.forms[(batch & 1) * s.form_step + step * 32 + lane] =
                    split_pair(form < g.sum_forms ? from->x : 0.0f, form + 4 < g.sum_forms ? from->y : 0.0f);
            }
        }
        if (t.steps == 0 && threadIdx.x < 32 && column < 3)
            origin[column] = t.p.centre[column];
    }

    /* ---- positions ---- */

    /* x += the forms of a step, for both tiles of the warp. */
    static __device__ __forceinline__ void add_forms(float x[WARP_TILES][3][4], const float4 forms[WARP_TILES][3],
                                                     const float4 &factors) {
#pragma unroll
        for (int c = 0; c < 3; c++) {
            float4 high[WARP_TILES], low[WARP_TILES];
#pragma unroll
            for (int i = 0; i < WARP_TILES; i++)
                split_short(forms[i][c], high[i], low[i]);
#pragma unroll
            for (int i = 0; i < WARP_TILES; i++)
                multiply(x[i][c], low[i], factors.x, factors.y);
#pragma unroll
            for (int i = 0; i < WARP_TILES; i++)
                multiply(x[i][c], high[i], factors.z, factors.w);
#pragma unroll
            for (int i = 0; i < WARP_TILES; i++)
                multiply(x[i][c], high[i], factors.x, factors.y);
        }
    }

    /* ONE: at most one step of forms and one of joints, and no long rings. */
    template <bool ONE>
    static __device__ __forceinline__ void shape(const exi_gpu &g, const patch_tables &t, const own_tables &own,
                                                 const shared_tables &s, int batch, int rows, float *positions) {
        const int lane = (int)threadIdx.x % 32, tile = (int)threadIdx.x / 32 * WARP_TILES;
        if (16 * tile >= rows)
            return;
        float x[WARP_TILES][3][4];
#pragma unroll
        for (int i = 0; i < WARP_TILES; i++)
#pragma unroll
            for (int c = 0; c < 3; c++) {
                const float *base = s.base + ((tile + i) * 6 + c) * 32 + lane;
                x[i][c][0] = x[i][c][1] = base[0];
                x[i][c][2] = x[i][c][3] = base[3 * 32];
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
                                  ((((size_t)t.number * TILES + (size_t)(tile + i)) * (size_t)g.crowd.form_steps +
                                    (size_t)k) *
                                       3 +
                                   (size_t)c) *
                                      32 +
                                  (size_t)lane);
                add_forms(x, more, factors[32 * k]);
            }
        }
        float *to = positions + (size_t)(2 * (lane % 4)) * INSTANCE + 3 * (16 * tile + lane / 4);
        const float *origin =
            reinterpret_cast<const float *>(s.origins + (batch & (ORIGINS - 1)) * BATCH + 2 * (lane % 4));
        const float4 *columns = s.joints + (batch & 1) * s.joint_step + lane;
        if (t.steps == 0) {
#pragma unroll
            for (int r = 0; r < 3; r++)
#pragma unroll
                for (int i = 0; i < WARP_TILES; i++)
#pragma unroll
                    for (int k = 0; k < 4; k++)
                        to[(k & 1) * INSTANCE + 3 * (16 * i + 8 * (k >> 1)) + r] = x[i][r][k] + origin[4 * (k & 1) + r];
            return;
        }
#pragma unroll 1
        for (int r = 0; r < 3;
             r++, columns += 4 * 32, to++, origin++) { /* unrolled, it takes more registers than there are */
            float y[WARP_TILES][4];
#pragma unroll
            for (int pair = 1; pair >= 0; pair--) { /* two entries side by side, to wait less */
                float m[2][WARP_TILES][4] = {};
                const float4 b[2] = {columns[2 * pair * 32], columns[(2 * pair + 1) * 32]};
#pragma unroll
                for (int part = 0; part < 3; part++) /* small terms first */
#pragma unroll
                    for (int e = 0; e < 2; e++)
#pragma unroll
                        for (int i = 0; i < WARP_TILES; i++)
                            multiply(m[e][i], part == 0 ? own.skin_low[i] : own.skin_high[i],
                                     part == 1 ? b[e].z : b[e].x, part == 1 ? b[e].w : b[e].y);
                if (!ONE) {
#pragma unroll 1
                    for (int k = 1; k < t.steps; k++)
#pragma unroll
                        for (int i = 0; i < WARP_TILES; i++) {
                            float4 high, low;
                            split(__ldg(reinterpret_cast<const float4 *>(g.crowd.skin) +
                                        ((size_t)t.p.skin + (size_t)((tile + i) * t.steps + k)) * 32 + (size_t)lane),
                                  high, low);
#pragma unroll
                            for (int e = 0; e < 2; e++)
                                multiply_parts(m[e][i], high, low, columns[(k * ENTRIES + 2 * pair + e) * 32]);
                        }
                }
#pragma unroll
                for (int i = 0; i < WARP_TILES; i++)
#pragma unroll
                    for (int k = 0; k < 4; k++)
                        y[i][k] = pair == 1 ? fmaf(m[0][i][k], x[i][2][k], m[1][i][k])
                                            : fmaf(m[0][i][k], x[i][0][k], fmaf(m[1][i][k], x[i][1][k], y[i][k]));
            }
            const float at[2] = {origin[0], origin[4]};
#pragma unroll
            for (int i = 0; i < WARP_TILES; i++)
#pragma unroll
                for (int k = 0; k < 4; k++)
                    to[(k & 1) * INSTANCE + 3 * (16 * i + 8 * (k >> 1))] = y[i][k] + at[k & 1];
        }
    }

    /* ---- normals and output ---- */

    /* Returns the sum of a long ring: the sum of its first eight neighbours as a closed loop, corrected by the rest. */
    static __device__ __noinline__ float3 add_long_rest(const exi_crowd &crowd, int patch, int row, uint32_t first,
                                                        uint32_t eighth, const float *positions, const float4 &o,
                                                        float3 sum) {
        const uint32_t *starts = crowd.long_starts + (size_t)patch * (ROWS + 1) + (size_t)row;
        const uint32_t begin = starts[0], end = starts[1];
        const float3 s0 = row_at(positions, first), s7 = row_at(positions, eighth);
        float3 previous = s7;
        for (uint32_t i = begin; i < end; i += 2) {
            const float3 b = row_at(positions, crowd.long_rings[i + 1]);
            add_pair(sum, row_at(positions, crowd.long_rings[i]), b, previous, o);
            previous = b;
        }
        add_pair(sum, s0, s7, previous, o); /* s_0 x (s_1 - s_7) was added, s_0 x (s_1 - the last) is needed */
        return sum;
    }

    /* ---- output by bulk copies ---- */

    /* The lanes that start copies: for normals one lane per instance, for positions the next one. A thread waits only
     * for its own copies, so both can be waited for at different times. */
    enum { POSITION_LANE = BATCH };

    /* Copies the positions of instance w, by warp w. */
    static __device__ __forceinline__ void copy_positions(const exi_gpu_job &j, const patch_tables &t, int batch,
                                                          const float *positions) {
        const int lane = (int)threadIdx.x % 32, warp = (int)threadIdx.x / 32;
        const int instance = BATCH * batch + warp;
        if (lane == POSITION_LANE && warp < BATCH && instance < j.count)
            copy_out(j.positions + (size_t)instance * j.position_instance + 3 * (size_t)t.first,
                     positions + warp * INSTANCE, 12u * (uint32_t)t.p.owned);
    }

    /* Normals of a batch: 32 vertices of each of the warp's instances. ONE: no ring is long. */
    template <bool ONE>
    static __device__ __forceinline__ void copy_normals(const exi_gpu &g, const exi_gpu_job &j, const patch_tables &t,
                                                        const shared_tables &s, int batch, const float *positions,
                                                        bool four) {
        const int row = (int)threadIdx.x, lane = row % 32;
        const int rows = min(32, t.p.owned - (row - lane));
        if (rows <= 0)
            return;
        const uint4 packed = s.rings[row];
        const uint32_t ring[EXI_CROWD_RING] = {packed.x & 0xFFFFu, packed.x >> 16, packed.y & 0xFFFFu, packed.y >> 16,
                                               packed.z & 0xFFFFu, packed.z >> 16, packed.w & 0xFFFFu, packed.w >> 16};
        const bool long_rings = !ONE && t.p.has_long_rings != 0;
        const float4 *origin = s.origins + (batch & (ORIGINS - 1)) * BATCH;
        float *normals = s.normals;
        if (lane < BATCH)
            wait_for_copies(); /* those of the previous batch */
        __syncwarp();
#pragma unroll 1
        for (int i = 0; i < BATCH; i++) { /* instances past the last were computed like the last */
            const float4 o = origin[i];
            const float *here = positions + i * INSTANCE;
            float3 n = sum_ring(ring, here, o, four);
            if (long_rings)
                n = add_long_rest(g.crowd, t.number, min(row, t.p.owned - 1), ring[0], ring[7], here, o, n);
            n = unit(n, g.crowd.area);
            float *to = normals + i * 3 * ROWS + 3 * row;
            to[0] = n.x;
            to[1] = n.y;
            to[2] = n.z;
        }
        show_to_copies();
        __syncwarp();
        const int instance = BATCH * batch + lane;
        if (lane < BATCH && instance < j.count)
            copy_out(j.normals + (size_t)instance * j.normal_instance + 3 * (size_t)(t.first + (uint32_t)(row - lane)),
                     normals + lane * 3 * ROWS + 3 * (row - lane), 12u * (uint32_t)rows);
    }

    /* ---- output by threads ---- */

    template <bool ONE, bool NORMALS>
    static __device__ __forceinline__ void write_batch(const exi_gpu &g, const exi_gpu_job &j, const patch_tables &t,
                                                       const shared_tables &s, int batch, const float *positions,
                                                       bool four) {
        const int row = (int)threadIdx.x, lane = row % 32;
        if (row - lane >= t.p.owned)
            return;
        uint32_t at[3], to[3], ring[EXI_CROWD_RING];
        int from[3];
#pragma unroll
        for (int k = 0; k < 3; k++) {
            at[k] = s.words[k * ROWS + row];
            to[k] = s.words[(3 + k) * ROWS + row];
            from[k] = (32 * float_of(k, lane) + lane) / 3;
        }
        if (NORMALS) {
            const uint4 packed = s.rings[row];
            const uint32_t pairs[4] = {packed.x, packed.y, packed.z, packed.w};
#pragma unroll
            for (int k = 0; k < EXI_CROWD_RING; k++)
                ring[k] = k % 2 == 0 ? pairs[k / 2] & 0xFFFFu : pairs[k / 2] >> 16;
        }
        const float4 *origin = s.origins + (batch & (ORIGINS - 1)) * BATCH;
        const bool long_rings = !ONE && NORMALS && t.p.has_long_rings != 0;
        const int last = j.count - 1;
#pragma unroll 1
        for (int i = 0; i < BATCH; i++) { /* instances past the last were computed like the last, and are written to
                                             the same place */
            const size_t instance = (size_t)min(BATCH * batch + i, last);
            char *out = reinterpret_cast<char *>(j.positions + instance * j.position_instance);
            const float *here = positions + i * INSTANCE;
            put(out, to[0], row_at(here, at[0]).x);
            put(out, to[1], row_at(here, at[1]).x);
            put(out, to[2], row_at(here, at[2]).x);
            if (NORMALS) {
                char *out_normals = reinterpret_cast<char *>(j.normals + instance * j.normal_instance);
                const float4 o = origin[i];
                float3 sum = sum_ring(ring, here, o, four);
                if (long_rings)
                    sum = add_long_rest(g.crowd, t.number, min(row, t.p.owned - 1), ring[0], ring[7], here, o, sum);
                const float3 n = spread(unit(sum, g.crowd.area), lane, from);
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
            const size_t tile = (size_t)t.number * TILES + (size_t)(first + i);
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

    /* Writes a thread's tables to shared memory; threads past the last vertex repeat it. */
    template <bool BULK>
    static __device__ void load_shared(const exi_gpu &g, const exi_gpu_job &j, const patch_tables &t,
                                       const shared_tables &s, bool normals) {
        const int thread = (int)threadIdx.x, lane = thread % 32, last = t.p.owned - 1;
        const uint32_t *sources = g.crowd.sources + (size_t)t.number * ROWS;
        for (int k = 0; !BULK && k < 3 && thread < ROWS; k++) {
            const int word = 96 * (thread / 32) + 32 * k + lane, row = min(word / 3, last);
            s.words[k * ROWS + thread] = (uint32_t)(12 * row + 4 * (word % 3));
            s.words[(3 + k) * ROWS + thread] =
                (uint32_t)(4 * (sources[row] * j.position_stride + (uint64_t)(word % 3)));
        }
        const float *base = g.crowd.base + (size_t)t.number * TILES * 6 * 32;
        for (int k = thread; k < TILES * 6 * 32; k += THREADS)
            s.base[k] = base[k];
        if (normals && thread < ROWS)
            s.rings[thread] =
                reinterpret_cast<const uint4 *>(g.crowd.rings)[(size_t)t.number * ROWS + (size_t)min(thread, last)];
    }

    /* Batches begin to end of a patch. PIPED: with room for the positions of two of them. */
    template <bool ONE, bool PIPED, bool BULK, bool NORMALS>
    static __device__ void run_patch(const exi_gpu &g, const exi_gpu_job &j, int number, int begin, int end,
                                     const shared_tables &s) {
        __shared__ patch_tables t; /* not in registers, which are scarce */
        own_tables own;
        if (threadIdx.x == 0) {
            t.p = g.crowd.patches[number];
            t.number = number;
            t.steps = j.skinned ? t.p.joint_steps : 0;
            t.first = g.crowd.sources[(size_t)number * ROWS];
        }
        if ((int)threadIdx.x < 8 * g.crowd.most_joint_steps)
            s.columns[threadIdx.x] =
                g.crowd.joints[(size_t)number * 8 * (size_t)g.crowd.most_joint_steps + threadIdx.x];
        __syncthreads();
        fetch(g, j, t, s, begin);
        load_own(g, t, own);
        load_shared<BULK>(g, j, t, s, NORMALS);
        stage(g, t, s, begin);
        if (begin + 1 < end)
            fetch(g, j, t, s, begin + 1);
        __syncthreads();
        const uint4 ring = NORMALS ? s.rings[threadIdx.x] : make_uint4(0, 0, 0, 0);
        const bool four = NORMALS && __any_sync(0xFFFFFFFFu, ring.w != (ring.z >> 16) * 0x10001u);
        if constexpr (!PIPED) {
#pragma unroll 1
            for (int batch = begin; batch < end; batch++) {
                shape<ONE>(g, t, own, s, batch, NORMALS ? t.p.rows : t.p.owned, s.positions);
                __syncthreads();
                if (batch + 1 < end)
                    stage(g, t, s, batch + 1);
                if (batch + 2 < end)
                    fetch(g, j, t, s, batch + 2);
                write_batch<ONE, NORMALS>(g, j, t, s, batch, s.positions, four);
                __syncthreads();
            }
        } else {
            const int odd = (int)threadIdx.x / 32 % 2;
#pragma unroll 1
            for (int batch = begin; batch <= end; batch++) {
                float *now = s.positions + (batch & 1) * BATCH * INSTANCE;
                const float *past = s.positions + (~batch & 1) * BATCH * INSTANCE;
                if (BULK && batch > begin)
                    copy_positions(j, t, batch - 1, past);
                if (batch + 1 < end)
                    stage(g, t, s, batch + 1);
                if (batch + 2 < end)
                    fetch(g, j, t, s, batch + 2);
                if (BULK && !NORMALS) {
                    if (batch < end) {
                        shape<ONE>(g, t, own, s, batch, t.p.owned, now);
                        show_to_copies();
                    }
                } else {
#pragma unroll 1
                    for (int half = 0; half < 2; half++) {
                        if (half == odd && batch < end) {
                            shape<ONE>(g, t, own, s, batch, NORMALS ? t.p.rows : t.p.owned, now);
                            if (BULK)
                                show_to_copies();
                        }
                        if (half != odd && batch > begin) {
                            if (!BULK)
                                write_batch<ONE, NORMALS>(g, j, t, s, batch - 1, past, four);
                            else
                                copy_normals<ONE>(g, j, t, s, batch - 1, past, four);
                        }
                    }
                }
                if (BULK && (int)threadIdx.x % 32 == POSITION_LANE)
                    wait_for_copies(); /* before their source is overwritten */
                __syncthreads();
            }
            if (BULK && NORMALS) /* before the normals of another patch */
                wait_for_copies();
        }
    }

    /* With ONE, all offsets are known to the compiler: there is always room for one step. */
    template <bool ONE>
    static __device__ __forceinline__ shared_tables lay_shared(const exi_gpu &g, float4 *memory, int buffers,
                                                               int words) {
        const int steps = ONE ? 1 : g.crowd.most_joint_steps, forms = ONE ? 1 : g.crowd.form_steps;
        shared_tables s;
        s.tasks = 3 * steps + forms;
        s.joint_step = steps * ENTRIES * 32;
        s.form_step = forms * 32;
        s.positions = reinterpret_cast<float *>(memory);
        s.fetched = memory + buffers * BATCH * INSTANCE / 4;
        s.joints = s.fetched + 2 * s.tasks * FETCHED;
        s.forms = s.joints + 2 * s.joint_step;
        s.origins = s.forms + 2 * s.form_step;
        s.rings = reinterpret_cast<uint4 *>(s.origins + ORIGINS * BATCH);
        s.base = reinterpret_cast<float *>(s.rings + ROWS);
        s.normals = s.base + TILES * 6 * 32;
        s.words = reinterpret_cast<uint32_t *>(s.normals);
        s.columns = reinterpret_cast<uint16_t *>(s.words + words * ROWS);
        return s;
    }
};

/* Patches times batches are spread evenly over the blocks, with those of one patch next to each other. */
template <int ROWS, bool ONE, bool PIPED, bool BULK, bool NORMALS>
static __global__ void __launch_bounds__(ROWS, EXI_CROWD_ROWS / ROWS)
    crowd_kernel(const __grid_constant__ exi_gpu g, const __grid_constant__ exi_gpu_job j) {
    extern __shared__ float4 shared_memory[];
    typedef crowd_of<ROWS> crowd;
    const typename crowd::shared_tables s =
        crowd::template lay_shared<ONE>(g, shared_memory, PIPED ? 2 : 1, words_of(BULK, NORMALS));
    const int batches = (j.count + BATCH - 1) / BATCH;
    const long long all = (long long)g.crowd.patch_count * batches;
    const long long first = all * blockIdx.x / gridDim.x, last = all * (blockIdx.x + 1) / gridDim.x;
    for (long long at = first; at < last;) {
        const int patch = (int)(at / batches), begin = (int)(at - (long long)patch * batches);
        const int end = (int)min((long long)batches, last - (long long)patch * batches);
        crowd::template run_patch<ONE, PIPED, BULK, NORMALS>(g, j, patch, begin, end, s);
        at = (long long)patch * batches + end;
    }
}

/* ---- host ---- */

template <int ROWS> static size_t shared_size(const exi_gpu *g, int buffers, int words) {
    typedef crowd_of<ROWS> c;
    const size_t steps = (size_t)(g->crowd.most_joint_steps > 1 ? g->crowd.most_joint_steps : 1);
    const size_t forms = (size_t)(g->crowd.form_steps > 1 ? g->crowd.form_steps : 1);
    return ((size_t)buffers * BATCH * c::INSTANCE + c::TILES * 6 * 32 + (size_t)words * ROWS) * sizeof(float) +
           (2 * (3 * steps + forms) * c::FETCHED + 2 * steps * c::ENTRIES * 32 + 2 * forms * 32 + c::ORIGINS * BATCH +
            ROWS) *
               sizeof(float4) +
           8 * steps * sizeof(uint16_t);
}

typedef void (*kernel)(exi_gpu, exi_gpu_job);

template <int ROWS, bool NORMALS> static kernel choose(const exi_gpu *g, bool piped, bool bulk) {
    const bool one = g->crowd.most_joint_steps <= 1 && g->crowd.form_steps <= 1 && !g->crowd.long_rings;
    if (!piped)
        return crowd_kernel<ROWS, false, false, false, NORMALS>;
    if (bulk)
        return one ? crowd_kernel<ROWS, true, true, true, NORMALS> : crowd_kernel<ROWS, false, true, true, NORMALS>;
    return one ? crowd_kernel<ROWS, true, true, false, NORMALS> : crowd_kernel<ROWS, false, true, false, NORMALS>;
}

static int attribute(enum cudaDeviceAttr which) {
    int device = 0, value = 0;
    if (cudaGetDevice(&device) != cudaSuccess || cudaDeviceGetAttribute(&value, which, device) != cudaSuccess)
        return 0;
    return value;
}

/* True if everything that a bulk copy reads or writes is at multiples of 16 bytes. */
static bool is_even(const float *data, uint64_t stride, uint64_t instance) {
    return stride == 3 && (uintptr_t)data % 16 == 0 && instance % 4 == 0;
}

static bool can_copy(const exi_gpu *g, const exi_gpu_job *j, bool normals) {
    return g->crowd.runs && g->vertices % 4 == 0 && is_even(j->positions, j->position_stride, j->position_instance) &&
           (!normals || is_even(j->normals, j->normal_stride, j->normal_instance)) &&
           attribute(cudaDevAttrComputeCapabilityMajor) >= 9;
}

/* The shared memory of a multiprocessor is divided among its blocks. */
template <int ROWS> static size_t most_shared(void) {
    const size_t all = (size_t)attribute(cudaDevAttrMaxSharedMemoryPerMultiprocessor) * ROWS / EXI_CROWD_ROWS - 1024;
    const size_t block = (size_t)attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
    return all < block ? all : block;
}

template <int ROWS, bool NORMALS>
static int run_cut(const exi_gpu *gpu, const exi_gpu_job *job, ex_cuda_stream stream) {
    const size_t most = most_shared<ROWS>();
    const bool bulk = can_copy(gpu, job, NORMALS) && shared_size<ROWS>(gpu, 2, words_of(true, NORMALS)) <= most;
    const bool piped = bulk || shared_size<ROWS>(gpu, 2, words_of(false, NORMALS)) <= most;
    const kernel run = choose<ROWS, NORMALS>(gpu, piped, bulk);
    const size_t size = shared_size<ROWS>(gpu, piped ? 2 : 1, words_of(bulk, NORMALS));
    const cudaError_t set = cudaFuncSetAttribute(reinterpret_cast<const void *>(run),
                                                 cudaFuncAttributeMaxDynamicSharedMemorySize, (int)size);
    if (set != cudaSuccess)
        return (int)set;
    const long long work = (long long)gpu->crowd.patch_count * ((job->count + BATCH - 1) / BATCH);
    const long long blocks = (long long)exi_launch_multiprocessors() * (EXI_CROWD_ROWS / ROWS);
    run<<<(unsigned)(work < blocks ? work : blocks), ROWS, size, stream>>>(*gpu, *job);
    return (int)cudaGetLastError();
}

/* Returns the rig with the right patches: with neighbours only if there are normals. */
static exi_gpu with_patches(const exi_gpu *gpu, bool normals) {
    exi_gpu own = *gpu;
    if (!normals)
        own.crowd = gpu->bare;
    return own;
}

bool exi_crowd_suits(const exi_gpu *gpu, const exi_gpu_job *job) {
    const bool normals = job->normals != NULL;
    const exi_gpu own = with_patches(gpu, normals);
    return own.crowd.patch_count > 0 && job->positions && !job->cage &&
           (!normals || job->normal_stride == job->position_stride) &&
           (uint64_t)gpu->vertices * job->position_stride * sizeof(float) < UINT32_MAX &&
           attribute(cudaDevAttrComputeCapabilityMajor) >= 8 &&
           (normals ? shared_size<EXI_CROWD_ROWS>(&own, 1, words_of(false, true))
                    : shared_size<EXI_CROWD_BARE>(&own, 1, words_of(false, false))) <=
               (size_t)attribute(cudaDevAttrMaxSharedMemoryPerBlockOptin);
}

int exi_crowd_run(const exi_gpu *gpu, const exi_gpu_job *job, bool normals, ex_cuda_stream stream) {
    const exi_gpu own = with_patches(gpu, normals);
    return normals ? run_cut<EXI_CROWD_ROWS, true>(&own, job, stream)
                   : run_cut<EXI_CROWD_BARE, false>(&own, job, stream);
}

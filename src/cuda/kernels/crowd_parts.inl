/*
 * Parts of the crowd's kernel (crowd.cu), for a thread or a warp: numbers in two parts and their products on the tensor
 * cores, copies in and out, sums over rings.
 */
#ifndef EXI_CUDA_CROWD_PARTS_INL
#define EXI_CUDA_CROWD_PARTS_INL

#include "cuda/block.h"
#include "cuda/kernels/kernels_fetch.inl"

#include <stdint.h>

/* ---- numbers in two parts ---- */

/* x rounded to 11 bits; lower bits remain, but the tensor cores ignore them. */
static __device__ __forceinline__ float rounded(float x) {
    return __uint_as_float(__float_as_uint(x) + 0x1000u);
}

/* The remainder of x after rounding to 11 bits. */
static __device__ __forceinline__ float rest(float x, float rounded_x) {
    return x - __uint_as_float(__float_as_uint(rounded_x) & 0xFFFFE000u);
}

/* The same with a low part that is truncated, not rounded: for forms, which are small compared with the patch. */
static __device__ __forceinline__ void split_short(const float4 &x, float4 &high, float4 &low) {
    high = make_float4(rounded(x.x), rounded(x.y), rounded(x.z), rounded(x.w));
    low = make_float4(rest(x.x, high.x), rest(x.y, high.y), rest(x.z, high.z), rest(x.w, high.w));
}

static __device__ __forceinline__ void split(const float4 &x, float4 &high, float4 &low) {
    high = make_float4(rounded(x.x), rounded(x.y), rounded(x.z), rounded(x.w));
    low = make_float4(rounded(rest(x.x, high.x)), rounded(rest(x.y, high.y)), rounded(rest(x.z, high.z)),
                      rounded(rest(x.w, high.w)));
}

/* The two numbers of a column, split for multiplication. */
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

/* ---- rows of palettes ---- */

/* A row: its linear part, and the image of the centre. */
static __device__ __forceinline__ float4 from_centre(const float4 &r, const float *centre) {
    return make_float4(r.x, r.y, r.z, fmaf(r.x, centre[0], fmaf(r.y, centre[1], fmaf(r.z, centre[2], r.w))));
}

/* The row as summed: the difference from the reference; the reference itself is unchanged. */
static __device__ __forceinline__ float4 summed(const float4 &fetched, const float4 &reference, int place,
                                                const exi_crowd_patch &p) {
    const float4 own = from_centre(fetched, p.centre);
    const float from = place == 0 ? 0.0f : 1.0f;
    if (place >= p.joint_count)
        return make_float4(0, 0, 0, 0);
    return make_float4(fmaf(-from, reference.x, own.x), fmaf(-from, reference.y, own.y),
                       fmaf(-from, reference.z, own.z), own.w - reference.w);
}

/* ---- asynchronous copies ---- */

/* Makes this thread's writes to shared memory visible to bulk copies, after the next barrier. */
static __device__ __forceinline__ void show_to_copies(void) {
#if __CUDA_ARCH__ >= 900
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
}

static __device__ __forceinline__ void copy_out(void *to, const void *from, uint32_t bytes) {
#if __CUDA_ARCH__ >= 900
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to),
                 "r"((uint32_t)__cvta_generic_to_shared(from)), "r"(bytes)
                 : "memory");
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
#endif
}

/* Waits until this thread's copies have read their source. */
static __device__ __forceinline__ void wait_for_copies(void) {
#if __CUDA_ARCH__ >= 900
    asm volatile("cp.async.bulk.wait_group.read 0;" ::: "memory");
#endif
}

/* ---- rings ---- */

static __device__ __forceinline__ float3 row_at(const float *positions, uint32_t bytes) {
    const float *p = reinterpret_cast<const float *>(reinterpret_cast<const char *>(positions) + bytes);
    return make_float3(p[0], p[1], p[2]);
}

/* sum += (a - o) x (b - previous), for any o; the nearer it is, the smaller the rounding error */
static __device__ __forceinline__ void add_pair(float3 &sum, const float3 &a, const float3 &b, const float3 &previous,
                                                const float4 &o) {
    const float x = b.x - previous.x, y = b.y - previous.y, z = b.z - previous.z;
    const float ax = a.x - o.x, ay = a.y - o.y, az = a.z - o.z;
    sum.x = fmaf(ay, z, fmaf(-az, y, sum.x));
    sum.y = fmaf(az, x, fmaf(-ax, z, sum.y));
    sum.z = fmaf(ax, y, fmaf(-ay, x, sum.z));
}

/* Returns the sum of a loop of eight; `four` is true if some ring of the warp has more than six neighbours. */
static __device__ __forceinline__ float3 sum_ring(const uint32_t ring[EXI_CROWD_RING], const float *positions,
                                                  const float4 &o, bool four) {
    float3 sum = make_float3(0, 0, 0);
    const float3 last = row_at(positions, ring[7]);
    float3 previous = last;
#pragma unroll
    for (int m = 0; m < 2; m++) {
        const float3 b = row_at(positions, ring[2 * m + 1]);
        add_pair(sum, row_at(positions, ring[2 * m]), b, previous, o);
        previous = b;
    }
    float3 end = row_at(positions, ring[4]);
    if (four) {
        const float3 b = row_at(positions, ring[5]);
        add_pair(sum, end, b, previous, o);
        previous = b;
        end = row_at(positions, ring[6]);
    }
    add_pair(sum, end, last, previous, o);
    return sum;
}

static __device__ __forceinline__ float inverse_root(float x) {
    float y;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}

/* Areas are in units of the cage's own (exi_crowd.area), so that squares stay in the range of float. Sums 1e15 times
 * smaller than usual count as 0. */
static __device__ __forceinline__ float3 unit(const float3 &sum, float area) {
    const float x = area * sum.x, y = area * sum.y, z = area * sum.z;
    const float square = fmaf(x, x, fmaf(y, y, z * z)),
                scale = square > 1e-30f && square < 1e38f ? inverse_root(square) : 0.0f;
    return make_float3(x * scale, y * scale, z * scale);
}

/* ---- floats that the lanes of a warp write ---- */

/* Index of component c among a lane's three floats: a warp's 32 triples are 96 floats, of which lane l has l, l + 32
 * and l + 64: the components l, l + 2 and l + 1 modulo 3. */
static __device__ __forceinline__ int float_of(int component, int lane) {
    return 2 * (component + 3 - lane % 3) % 3;
}

/* Converts a triple per lane to the floats that the lanes write. */
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

#endif

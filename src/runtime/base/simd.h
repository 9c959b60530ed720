/*
 * Portable SIMD: exi_wide holds EXI_WIDTH floats, 4 (NEON, SSE2, wasm simd128, scalar) or 8 (AVX2). The instruction set
 * is chosen at compile time. Multiply-add is fused if the machine has it (NEON, AVX2 + FMA) and has two roundings
 * otherwise, which is the only difference between the versions. Pointers need no alignment.
 */
#ifndef EXI_SIMD_H
#define EXI_SIMD_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#if defined(EX_SIMD_SCALAR)
#define EXI_SIMD_NAME "scalar"
#elif defined(__ARM_NEON) && defined(__aarch64__)
#define EXI_SIMD_NAME "neon"
#define EXI_SIMD_NEON
#include <arm_neon.h>
#elif defined(__AVX2__) && defined(__FMA__)
#define EXI_SIMD_NAME "avx2"
#define EXI_SIMD_AVX2
#include <immintrin.h>
#elif defined(__SSE2__)
#define EXI_SIMD_NAME "sse2"
#define EXI_SIMD_SSE2
#include <emmintrin.h>
#elif defined(__wasm_simd128__)
#define EXI_SIMD_NAME "wasm"
#define EXI_SIMD_WASM
#include <wasm_simd128.h>
#else
#define EXI_SIMD_NAME "scalar"
#endif

/* Put before a loop over the registers of a tile. They are registers only if the loop is unrolled, which compilers do
 * not do automatically below -O3. */
#if defined(__GNUC__)
#define EXI_WRITE_OUT _Pragma("GCC unroll 16")
#else
#define EXI_WRITE_OUT
#endif

/* For kernels with constant arguments: without it, gcc makes one body that tests them at every step. */
#if defined(__GNUC__)
#define EXI_KERNEL static inline __attribute__((always_inline))
#else
#define EXI_KERNEL static inline
#endif

/*
 * Operations: load, store, splat, add, sub, mul, madd (a * b + c), msub (c - a * b), any_above (true if a > b in any
 * lane), store_triples. store_triples(p, x, y, z) writes x0 y0 z0 x1 y1 z1 …
 *
 * exi_ints holds EXI_WIDTH integers of 32 bits. add_products(p, factor, low, high) reads 2 * EXI_WIDTH integers of 16
 * bits and adds each times the factor, the first EXI_WIDTH to low, the others to high; splat_short makes the factor
 * from an integer of 16 bits. Exact, so all versions agree to the bit.
 */
#if defined(EXI_SIMD_NEON)

#define EXI_WIDTH 4
typedef float32x4_t exi_wide;
static inline exi_wide exi_load(const float *p) {
    return vld1q_f32(p);
}
static inline void exi_store(float *p, exi_wide a) {
    vst1q_f32(p, a);
}
static inline exi_wide exi_splat(float a) {
    return vdupq_n_f32(a);
}
static inline exi_wide exi_madd(exi_wide a, exi_wide b, exi_wide c) {
    return vfmaq_f32(c, a, b);
}
static inline exi_wide exi_add(exi_wide a, exi_wide b) {
    return vaddq_f32(a, b);
}
static inline exi_wide exi_sub(exi_wide a, exi_wide b) {
    return vsubq_f32(a, b);
}
static inline exi_wide exi_mul(exi_wide a, exi_wide b) {
    return vmulq_f32(a, b);
}
static inline exi_wide exi_msub(exi_wide a, exi_wide b, exi_wide c) {
    return vfmsq_f32(c, a, b);
}
static inline bool exi_any_above(exi_wide a, exi_wide b) {
    return vmaxvq_u32(vcgtq_f32(a, b)) != 0;
}
typedef int32x4_t exi_ints;
static inline exi_ints exi_zero_ints(void) {
    return vdupq_n_s32(0);
}
static inline exi_ints exi_splat_short(int16_t a) {
    return vreinterpretq_s32_s16(vdupq_n_s16(a));
}
static inline void exi_add_products(const int16_t *p, exi_ints factor, exi_ints *low, exi_ints *high) {
    int16x8_t shorts = vld1q_s16(p), factors = vreinterpretq_s16_s32(factor);
    *low = vmlal_s16(*low, vget_low_s16(shorts), vget_low_s16(factors));
    *high = vmlal_high_s16(*high, shorts, factors);
}
static inline exi_wide exi_from_ints(exi_ints a) {
    return vcvtq_f32_s32(a);
}
static inline void exi_store_triples(float *p, exi_wide x, exi_wide y, exi_wide z) {
    float32x4x3_t triples = {{x, y, z}};
    vst3q_f32(p, triples);
}

#elif defined(EXI_SIMD_AVX2)

#define EXI_WIDTH 8
typedef __m256 exi_wide;
static inline exi_wide exi_load(const float *p) {
    return _mm256_loadu_ps(p);
}
static inline void exi_store(float *p, exi_wide a) {
    _mm256_storeu_ps(p, a);
}
static inline exi_wide exi_splat(float a) {
    return _mm256_set1_ps(a);
}
static inline exi_wide exi_madd(exi_wide a, exi_wide b, exi_wide c) {
    return _mm256_fmadd_ps(a, b, c);
}
static inline exi_wide exi_add(exi_wide a, exi_wide b) {
    return _mm256_add_ps(a, b);
}
static inline exi_wide exi_sub(exi_wide a, exi_wide b) {
    return _mm256_sub_ps(a, b);
}
static inline exi_wide exi_mul(exi_wide a, exi_wide b) {
    return _mm256_mul_ps(a, b);
}
static inline exi_wide exi_msub(exi_wide a, exi_wide b, exi_wide c) {
    return _mm256_fnmadd_ps(a, b, c);
}
static inline bool exi_any_above(exi_wide a, exi_wide b) {
    return _mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_GT_OQ)) != 0;
}
typedef __m256i exi_ints;
static inline exi_ints exi_zero_ints(void) {
    return _mm256_setzero_si256();
}
/* Pairs (a, 0): a widened number x is the pair (x, its sign), and the sum of the pair's products is x times a. */
static inline exi_ints exi_splat_short(int16_t a) {
    return _mm256_set1_epi32((uint16_t)a);
}
static inline void exi_add_products(const int16_t *p, exi_ints factor, exi_ints *low, exi_ints *high) {
    __m256i first = _mm256_cvtepi16_epi32(_mm_loadu_si128((const __m128i *)(const void *)p));
    __m256i second = _mm256_cvtepi16_epi32(_mm_loadu_si128((const __m128i *)(const void *)(p + 8)));
    *low = _mm256_add_epi32(*low, _mm256_madd_epi16(first, factor));
    *high = _mm256_add_epi32(*high, _mm256_madd_epi16(second, factor));
}
static inline exi_wide exi_from_ints(exi_ints a) {
    return _mm256_cvtepi32_ps(a);
}

#elif defined(EXI_SIMD_SSE2)

#define EXI_WIDTH 4
typedef __m128 exi_wide;
static inline exi_wide exi_load(const float *p) {
    return _mm_loadu_ps(p);
}
static inline void exi_store(float *p, exi_wide a) {
    _mm_storeu_ps(p, a);
}
static inline exi_wide exi_splat(float a) {
    return _mm_set1_ps(a);
}
static inline exi_wide exi_madd(exi_wide a, exi_wide b, exi_wide c) {
    return _mm_add_ps(_mm_mul_ps(a, b), c);
}
static inline exi_wide exi_add(exi_wide a, exi_wide b) {
    return _mm_add_ps(a, b);
}
static inline exi_wide exi_sub(exi_wide a, exi_wide b) {
    return _mm_sub_ps(a, b);
}
static inline exi_wide exi_mul(exi_wide a, exi_wide b) {
    return _mm_mul_ps(a, b);
}
static inline exi_wide exi_msub(exi_wide a, exi_wide b, exi_wide c) {
    return _mm_sub_ps(c, _mm_mul_ps(a, b));
}
static inline bool exi_any_above(exi_wide a, exi_wide b) {
    return _mm_movemask_ps(_mm_cmpgt_ps(a, b)) != 0;
}
typedef __m128i exi_ints;
static inline exi_ints exi_zero_ints(void) {
    return _mm_setzero_si128();
}
/* Pairs (a, 0), against pairs (x, 0): the sum of a pair's products is x times a. */
static inline exi_ints exi_splat_short(int16_t a) {
    return _mm_set1_epi32((uint16_t)a);
}
static inline void exi_add_products(const int16_t *p, exi_ints factor, exi_ints *low, exi_ints *high) {
    __m128i shorts = _mm_loadu_si128((const __m128i *)(const void *)p), zero = _mm_setzero_si128();
    *low = _mm_add_epi32(*low, _mm_madd_epi16(_mm_unpacklo_epi16(shorts, zero), factor));
    *high = _mm_add_epi32(*high, _mm_madd_epi16(_mm_unpackhi_epi16(shorts, zero), factor));
}
static inline exi_wide exi_from_ints(exi_ints a) {
    return _mm_cvtepi32_ps(a);
}

#elif defined(EXI_SIMD_WASM)

#define EXI_WIDTH 4
typedef v128_t exi_wide;
static inline exi_wide exi_load(const float *p) {
    return wasm_v128_load(p);
}
static inline void exi_store(float *p, exi_wide a) {
    wasm_v128_store(p, a);
}
static inline exi_wide exi_splat(float a) {
    return wasm_f32x4_splat(a);
}
static inline exi_wide exi_madd(exi_wide a, exi_wide b, exi_wide c) {
    return wasm_f32x4_add(wasm_f32x4_mul(a, b), c);
}
static inline exi_wide exi_add(exi_wide a, exi_wide b) {
    return wasm_f32x4_add(a, b);
}
static inline exi_wide exi_sub(exi_wide a, exi_wide b) {
    return wasm_f32x4_sub(a, b);
}
static inline exi_wide exi_mul(exi_wide a, exi_wide b) {
    return wasm_f32x4_mul(a, b);
}
static inline exi_wide exi_msub(exi_wide a, exi_wide b, exi_wide c) {
    return wasm_f32x4_sub(c, wasm_f32x4_mul(a, b));
}
static inline bool exi_any_above(exi_wide a, exi_wide b) {
    return wasm_v128_any_true(wasm_f32x4_gt(a, b));
}
typedef v128_t exi_ints;
static inline exi_ints exi_zero_ints(void) {
    return wasm_i32x4_splat(0);
}
static inline exi_ints exi_splat_short(int16_t a) {
    return wasm_i16x8_splat(a);
}
static inline void exi_add_products(const int16_t *p, exi_ints factor, exi_ints *low, exi_ints *high) {
    v128_t shorts = wasm_v128_load(p);
    *low = wasm_i32x4_add(*low, wasm_i32x4_extmul_low_i16x8(shorts, factor));
    *high = wasm_i32x4_add(*high, wasm_i32x4_extmul_high_i16x8(shorts, factor));
}
static inline exi_wide exi_from_ints(exi_ints a) {
    return wasm_f32x4_convert_i32x4(a);
}

#else

#define EXI_WIDTH 4
typedef struct exi_wide {
    float lane[4];
} exi_wide;
static inline exi_wide exi_load(const float *p) {
    return (exi_wide){{p[0], p[1], p[2], p[3]}};
}
static inline void exi_store(float *p, exi_wide a) {
    memcpy(p, a.lane, sizeof a.lane);
}
static inline exi_wide exi_splat(float a) {
    return (exi_wide){{a, a, a, a}};
}
static inline exi_wide exi_madd(exi_wide a, exi_wide b, exi_wide c) {
    for (int i = 0; i < 4; i++)
        c.lane[i] = a.lane[i] * b.lane[i] + c.lane[i];
    return c;
}
static inline exi_wide exi_add(exi_wide a, exi_wide b) {
    for (int i = 0; i < 4; i++)
        a.lane[i] += b.lane[i];
    return a;
}
static inline exi_wide exi_sub(exi_wide a, exi_wide b) {
    for (int i = 0; i < 4; i++)
        a.lane[i] -= b.lane[i];
    return a;
}
static inline exi_wide exi_mul(exi_wide a, exi_wide b) {
    for (int i = 0; i < 4; i++)
        a.lane[i] *= b.lane[i];
    return a;
}
static inline exi_wide exi_msub(exi_wide a, exi_wide b, exi_wide c) {
    for (int i = 0; i < 4; i++)
        c.lane[i] = c.lane[i] - a.lane[i] * b.lane[i];
    return c;
}
static inline bool exi_any_above(exi_wide a, exi_wide b) {
    bool any = false;
    for (int i = 0; i < 4; i++)
        any = any || a.lane[i] > b.lane[i];
    return any;
}
typedef struct exi_ints {
    int32_t lane[4];
} exi_ints;
static inline exi_ints exi_zero_ints(void) {
    return (exi_ints){{0, 0, 0, 0}};
}
static inline exi_ints exi_splat_short(int16_t a) {
    return (exi_ints){{a, a, a, a}};
}
static inline void exi_add_products(const int16_t *p, exi_ints factor, exi_ints *low, exi_ints *high) {
    for (int i = 0; i < 4; i++) {
        low->lane[i] += p[i] * factor.lane[i];
        high->lane[i] += p[4 + i] * factor.lane[i];
    }
}
static inline exi_wide exi_from_ints(exi_ints a) {
    return (exi_wide){{(float)a.lane[0], (float)a.lane[1], (float)a.lane[2], (float)a.lane[3]}};
}

#endif

#if !defined(EXI_SIMD_NEON)
static inline void exi_store_triples(float *p, exi_wide x, exi_wide y, exi_wide z) {
    float lanes[3][EXI_WIDTH];
    exi_store(lanes[0], x);
    exi_store(lanes[1], y);
    exi_store(lanes[2], z);
    for (int i = 0; i < EXI_WIDTH; i++)
        for (int c = 0; c < 3; c++)
            p[3 * i + c] = lanes[c][i];
}
#endif

/*
 * exi_quad holds four floats on every machine, for data in fours such as the rows of joint matrices. Operations: load,
 * load_three (p0 p1 p2 and 0), store, splat, lane 0 to 3 in all lanes, add, sub, mul, div, min, max, madd (a * b + c),
 * msub (c - a * b), inverse_root (1/sqrt, relative error below 3e-7), with_sign (the size of a, the sign of b), pick (x
 * where a > b, else y; y too where one is not a number), at_most (bit i set where a <= b in lane i; not where one is
 * not a number), keys (for each lane the bits of a before those of a number, as one integer of 64 bits, where a <= b,
 * else 0), transpose, load_triples and store_triples (x0 y0 z0 x1 y1 z1 …), load_bytes and store_bytes (16 bytes as
 * four quads; numbers from 0 to 255 are stored, rounded to the nearest, ties to even), load_fourth_bytes (the alphas of
 * four pixels).
 */
enum { EXI_QUAD_LANES = 4 };
#if defined(EXI_SIMD_NEON)

typedef float32x4_t exi_quad;
static inline exi_quad exi_quad_load(const float *p) {
    return vld1q_f32(p);
}
static inline exi_quad exi_quad_load_three(const float *p) {
    return vcombine_f32(vld1_f32(p), vld1_lane_f32(p + 2, vdup_n_f32(0), 0));
}
static inline void exi_quad_store(float *p, exi_quad a) {
    vst1q_f32(p, a);
}
static inline exi_quad exi_quad_splat(float a) {
    return vdupq_n_f32(a);
}
static inline exi_quad exi_quad_lane0(exi_quad a) {
    return vdupq_laneq_f32(a, 0);
}
static inline exi_quad exi_quad_lane1(exi_quad a) {
    return vdupq_laneq_f32(a, 1);
}
static inline exi_quad exi_quad_lane2(exi_quad a) {
    return vdupq_laneq_f32(a, 2);
}
static inline exi_quad exi_quad_lane3(exi_quad a) {
    return vdupq_laneq_f32(a, 3);
}
static inline exi_quad exi_quad_add(exi_quad a, exi_quad b) {
    return vaddq_f32(a, b);
}
static inline exi_quad exi_quad_sub(exi_quad a, exi_quad b) {
    return vsubq_f32(a, b);
}
static inline exi_quad exi_quad_mul(exi_quad a, exi_quad b) {
    return vmulq_f32(a, b);
}
static inline exi_quad exi_quad_div(exi_quad a, exi_quad b) {
    return vdivq_f32(a, b);
}
static inline exi_quad exi_quad_min(exi_quad a, exi_quad b) {
    return vminq_f32(a, b);
}
static inline exi_quad exi_quad_max(exi_quad a, exi_quad b) {
    return vmaxq_f32(a, b);
}
static inline exi_quad exi_quad_madd(exi_quad a, exi_quad b, exi_quad c) {
    return vfmaq_f32(c, a, b);
}
static inline exi_quad exi_quad_msub(exi_quad a, exi_quad b, exi_quad c) {
    return vfmsq_f32(c, a, b);
}
/* The estimate is defined to the bit by the architecture and has 8 bits; each step doubles them. */
static inline exi_quad exi_quad_inverse_root(exi_quad a) {
    float32x4_t x = vrsqrteq_f32(a);
    x = vmulq_f32(x, vrsqrtsq_f32(vmulq_f32(a, x), x));
    return vmulq_f32(x, vrsqrtsq_f32(vmulq_f32(a, x), x));
}
static inline exi_quad exi_quad_with_sign(exi_quad a, exi_quad b) {
    return vbslq_f32(vdupq_n_u32(0x80000000u), b, a);
}
static inline exi_quad exi_quad_pick(exi_quad a, exi_quad b, exi_quad x, exi_quad y) {
    return vbslq_f32(vcgtq_f32(a, b), x, y);
}
static inline unsigned exi_quad_at_most(exi_quad a, exi_quad b) {
    static const uint32_t bits[4] = {1, 2, 4, 8};
    return vaddvq_u32(vandq_u32(vcleq_f32(a, b), vld1q_u32(bits)));
}
static inline void exi_quad_keys(exi_quad a, exi_quad b, const uint32_t *numbers, uint64_t keys[4]) {
    const uint32x4_t taken = vcleq_f32(a, b), high = vandq_u32(taken, vreinterpretq_u32_f32(a));
    const uint32x4_t low = vandq_u32(taken, vld1q_u32(numbers));
    const uint64x2_t first = vreinterpretq_u64_u32(vzip1q_u32(low, high));
    const uint64x2_t second = vreinterpretq_u64_u32(vzip2q_u32(low, high));
    keys[0] = vgetq_lane_u64(first, 0);
    keys[1] = vgetq_lane_u64(first, 1);
    keys[2] = vgetq_lane_u64(second, 0);
    keys[3] = vgetq_lane_u64(second, 1);
}
static inline void exi_quad_transpose(exi_quad m[4]) {
    float32x4_t a = vzip1q_f32(m[0], m[2]), b = vzip2q_f32(m[0], m[2]);
    float32x4_t c = vzip1q_f32(m[1], m[3]), d = vzip2q_f32(m[1], m[3]);
    m[0] = vzip1q_f32(a, c);
    m[1] = vzip2q_f32(a, c);
    m[2] = vzip1q_f32(b, d);
    m[3] = vzip2q_f32(b, d);
}
static inline void exi_quad_load_bytes(const unsigned char *p, exi_quad v[4]) {
    uint8x16_t bytes = vld1q_u8(p);
    uint16x8_t low = vmovl_u8(vget_low_u8(bytes)), high = vmovl_high_u8(bytes);
    v[0] = vcvtq_f32_u32(vmovl_u16(vget_low_u16(low)));
    v[1] = vcvtq_f32_u32(vmovl_high_u16(low));
    v[2] = vcvtq_f32_u32(vmovl_u16(vget_low_u16(high)));
    v[3] = vcvtq_f32_u32(vmovl_high_u16(high));
}
static inline exi_quad exi_quad_load_fourth_bytes(const unsigned char *p) {
    return vcvtq_f32_u32(vshrq_n_u32(vreinterpretq_u32_u8(vld1q_u8(p)), 24));
}
static inline void exi_quad_store_bytes(unsigned char *p, const exi_quad v[4]) {
    uint16x8_t low = vcombine_u16(vmovn_u32(vcvtnq_u32_f32(v[0])), vmovn_u32(vcvtnq_u32_f32(v[1])));
    uint16x8_t high = vcombine_u16(vmovn_u32(vcvtnq_u32_f32(v[2])), vmovn_u32(vcvtnq_u32_f32(v[3])));
    vst1q_u8(p, vcombine_u8(vmovn_u16(low), vmovn_u16(high)));
}
static inline void exi_quad_load_triples(const float *p, exi_quad v[3]) {
    float32x4x3_t triples = vld3q_f32(p);
    for (int i = 0; i < 3; i++)
        v[i] = triples.val[i];
}
static inline void exi_quad_store_triples(float *p, const exi_quad v[3]) {
    float32x4x3_t triples = {{v[0], v[1], v[2]}};
    vst3q_f32(p, triples);
}

#elif defined(EXI_SIMD_AVX2) || defined(EXI_SIMD_SSE2)

typedef __m128 exi_quad;
static inline exi_quad exi_quad_load(const float *p) {
    return _mm_loadu_ps(p);
}
static inline exi_quad exi_quad_load_three(const float *p) {
    const __m128i two = _mm_loadl_epi64((const __m128i *)(const void *)p);
    return _mm_movelh_ps(_mm_castsi128_ps(two), _mm_load_ss(p + 2));
}
static inline void exi_quad_store(float *p, exi_quad a) {
    _mm_storeu_ps(p, a);
}
static inline exi_quad exi_quad_splat(float a) {
    return _mm_set1_ps(a);
}
static inline exi_quad exi_quad_lane0(exi_quad a) {
    return _mm_shuffle_ps(a, a, 0x00);
}
static inline exi_quad exi_quad_lane1(exi_quad a) {
    return _mm_shuffle_ps(a, a, 0x55);
}
static inline exi_quad exi_quad_lane2(exi_quad a) {
    return _mm_shuffle_ps(a, a, 0xAA);
}
static inline exi_quad exi_quad_lane3(exi_quad a) {
    return _mm_shuffle_ps(a, a, 0xFF);
}
static inline exi_quad exi_quad_add(exi_quad a, exi_quad b) {
    return _mm_add_ps(a, b);
}
static inline exi_quad exi_quad_sub(exi_quad a, exi_quad b) {
    return _mm_sub_ps(a, b);
}
static inline exi_quad exi_quad_mul(exi_quad a, exi_quad b) {
    return _mm_mul_ps(a, b);
}
static inline exi_quad exi_quad_div(exi_quad a, exi_quad b) {
    return _mm_div_ps(a, b);
}
static inline exi_quad exi_quad_min(exi_quad a, exi_quad b) {
    return _mm_min_ps(a, b);
}
static inline exi_quad exi_quad_max(exi_quad a, exi_quad b) {
    return _mm_max_ps(a, b);
}
#if defined(EXI_SIMD_AVX2)
static inline exi_quad exi_quad_madd(exi_quad a, exi_quad b, exi_quad c) {
    return _mm_fmadd_ps(a, b, c);
}
static inline exi_quad exi_quad_msub(exi_quad a, exi_quad b, exi_quad c) {
    return _mm_fnmadd_ps(a, b, c);
}
#else
static inline exi_quad exi_quad_madd(exi_quad a, exi_quad b, exi_quad c) {
    return _mm_add_ps(_mm_mul_ps(a, b), c);
}
static inline exi_quad exi_quad_msub(exi_quad a, exi_quad b, exi_quad c) {
    return _mm_sub_ps(c, _mm_mul_ps(a, b));
}
#endif
/* No estimate instruction: it differs between processor vendors. */
static inline exi_quad exi_quad_inverse_root(exi_quad a) {
    return _mm_div_ps(_mm_set1_ps(1.0f), _mm_sqrt_ps(a));
}
static inline exi_quad exi_quad_with_sign(exi_quad a, exi_quad b) {
    const __m128 sign = _mm_set1_ps(-0.0f);
    return _mm_or_ps(_mm_andnot_ps(sign, a), _mm_and_ps(sign, b));
}
static inline exi_quad exi_quad_pick(exi_quad a, exi_quad b, exi_quad x, exi_quad y) {
    const __m128 greater = _mm_cmpgt_ps(a, b);
    return _mm_or_ps(_mm_and_ps(greater, x), _mm_andnot_ps(greater, y));
}
static inline unsigned exi_quad_at_most(exi_quad a, exi_quad b) {
    return (unsigned)_mm_movemask_ps(_mm_cmple_ps(a, b));
}
static inline void exi_quad_keys(exi_quad a, exi_quad b, const uint32_t *numbers, uint64_t keys[4]) {
    const __m128i taken = _mm_castps_si128(_mm_cmple_ps(a, b)), high = _mm_and_si128(taken, _mm_castps_si128(a));
    const __m128i low = _mm_and_si128(taken, _mm_loadu_si128((const __m128i *)(const void *)numbers));
    _mm_storeu_si128((__m128i *)(void *)keys, _mm_unpacklo_epi32(low, high));
    _mm_storeu_si128((__m128i *)(void *)(keys + 2), _mm_unpackhi_epi32(low, high));
}
static inline void exi_quad_transpose(exi_quad m[4]) {
    __m128 a = _mm_unpacklo_ps(m[0], m[1]), b = _mm_unpackhi_ps(m[0], m[1]);
    __m128 c = _mm_unpacklo_ps(m[2], m[3]), d = _mm_unpackhi_ps(m[2], m[3]);
    m[0] = _mm_movelh_ps(a, c);
    m[1] = _mm_movehl_ps(c, a);
    m[2] = _mm_movelh_ps(b, d);
    m[3] = _mm_movehl_ps(d, b);
}
static inline void exi_quad_load_bytes(const unsigned char *p, exi_quad v[4]) {
    const __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)p), zero = _mm_setzero_si128();
    const __m128i low = _mm_unpacklo_epi8(bytes, zero), high = _mm_unpackhi_epi8(bytes, zero);
    v[0] = _mm_cvtepi32_ps(_mm_unpacklo_epi16(low, zero));
    v[1] = _mm_cvtepi32_ps(_mm_unpackhi_epi16(low, zero));
    v[2] = _mm_cvtepi32_ps(_mm_unpacklo_epi16(high, zero));
    v[3] = _mm_cvtepi32_ps(_mm_unpackhi_epi16(high, zero));
}
static inline exi_quad exi_quad_load_fourth_bytes(const unsigned char *p) {
    return _mm_cvtepi32_ps(_mm_srli_epi32(_mm_loadu_si128((const __m128i *)(const void *)p), 24));
}
static inline void exi_quad_store_bytes(unsigned char *p, const exi_quad v[4]) {
    const __m128i low = _mm_packs_epi32(_mm_cvtps_epi32(v[0]), _mm_cvtps_epi32(v[1]));
    const __m128i high = _mm_packs_epi32(_mm_cvtps_epi32(v[2]), _mm_cvtps_epi32(v[3]));
    _mm_storeu_si128((__m128i *)(void *)p, _mm_packus_epi16(low, high));
}
static inline void exi_quad_load_triples(const float *p, exi_quad v[3]) {
    __m128 a = _mm_loadu_ps(p), b = _mm_loadu_ps(p + 4), c = _mm_loadu_ps(p + 8); /* xyzx yzxy zxyz */
    __m128 x = _mm_shuffle_ps(b, c, _MM_SHUFFLE(1, 1, 2, 2)), z = _mm_shuffle_ps(a, b, _MM_SHUFFLE(1, 1, 2, 2));
    __m128 y0 = _mm_shuffle_ps(a, b, _MM_SHUFFLE(0, 0, 1, 1)), y2 = _mm_shuffle_ps(b, c, _MM_SHUFFLE(2, 2, 3, 3));
    v[0] = _mm_shuffle_ps(a, x, _MM_SHUFFLE(2, 0, 3, 0));
    v[1] = _mm_shuffle_ps(y0, y2, _MM_SHUFFLE(2, 0, 2, 0));
    v[2] = _mm_shuffle_ps(z, c, _MM_SHUFFLE(3, 0, 2, 0));
}
static inline void exi_quad_store_triples(float *p, const exi_quad v[3]) {
    __m128 low = _mm_unpacklo_ps(v[0], v[1]), high = _mm_unpackhi_ps(v[0], v[1]); /* x0 y0 x1 y1, x2 y2 x3 y3 */
    __m128 a = _mm_shuffle_ps(v[2], v[0], _MM_SHUFFLE(1, 1, 0, 0)), b = _mm_shuffle_ps(v[1], v[2], 0x55);
    __m128 c = _mm_shuffle_ps(v[2], high, _MM_SHUFFLE(2, 2, 2, 2)), d = _mm_shuffle_ps(high, v[2], 0xFF);
    _mm_storeu_ps(p, _mm_shuffle_ps(low, a, _MM_SHUFFLE(2, 0, 1, 0)));
    _mm_storeu_ps(p + 4, _mm_shuffle_ps(b, high, _MM_SHUFFLE(1, 0, 2, 0)));
    _mm_storeu_ps(p + 8, _mm_shuffle_ps(c, d, _MM_SHUFFLE(2, 0, 2, 0)));
}

#elif defined(EXI_SIMD_WASM)

typedef v128_t exi_quad;
static inline exi_quad exi_quad_load(const float *p) {
    return wasm_v128_load(p);
}
static inline exi_quad exi_quad_load_three(const float *p) {
    return wasm_v128_load32_lane(p + 2, wasm_v128_load64_zero(p), 2);
}
static inline void exi_quad_store(float *p, exi_quad a) {
    wasm_v128_store(p, a);
}
static inline exi_quad exi_quad_splat(float a) {
    return wasm_f32x4_splat(a);
}
static inline exi_quad exi_quad_lane0(exi_quad a) {
    return wasm_i32x4_shuffle(a, a, 0, 0, 0, 0);
}
static inline exi_quad exi_quad_lane1(exi_quad a) {
    return wasm_i32x4_shuffle(a, a, 1, 1, 1, 1);
}
static inline exi_quad exi_quad_lane2(exi_quad a) {
    return wasm_i32x4_shuffle(a, a, 2, 2, 2, 2);
}
static inline exi_quad exi_quad_lane3(exi_quad a) {
    return wasm_i32x4_shuffle(a, a, 3, 3, 3, 3);
}
static inline exi_quad exi_quad_add(exi_quad a, exi_quad b) {
    return wasm_f32x4_add(a, b);
}
static inline exi_quad exi_quad_sub(exi_quad a, exi_quad b) {
    return wasm_f32x4_sub(a, b);
}
static inline exi_quad exi_quad_mul(exi_quad a, exi_quad b) {
    return wasm_f32x4_mul(a, b);
}
static inline exi_quad exi_quad_div(exi_quad a, exi_quad b) {
    return wasm_f32x4_div(a, b);
}
static inline exi_quad exi_quad_min(exi_quad a, exi_quad b) {
    return wasm_f32x4_pmin(a, b);
}
static inline exi_quad exi_quad_max(exi_quad a, exi_quad b) {
    return wasm_f32x4_pmax(a, b);
}
static inline exi_quad exi_quad_madd(exi_quad a, exi_quad b, exi_quad c) {
    return wasm_f32x4_add(wasm_f32x4_mul(a, b), c);
}
static inline exi_quad exi_quad_msub(exi_quad a, exi_quad b, exi_quad c) {
    return wasm_f32x4_sub(c, wasm_f32x4_mul(a, b));
}
static inline exi_quad exi_quad_inverse_root(exi_quad a) {
    return wasm_f32x4_div(wasm_f32x4_splat(1.0f), wasm_f32x4_sqrt(a));
}
static inline exi_quad exi_quad_with_sign(exi_quad a, exi_quad b) {
    return wasm_v128_bitselect(b, a, wasm_i32x4_splat((int32_t)0x80000000u));
}
static inline exi_quad exi_quad_pick(exi_quad a, exi_quad b, exi_quad x, exi_quad y) {
    return wasm_v128_bitselect(x, y, wasm_f32x4_gt(a, b));
}
static inline unsigned exi_quad_at_most(exi_quad a, exi_quad b) {
    return (unsigned)wasm_i32x4_bitmask(wasm_f32x4_le(a, b));
}
static inline void exi_quad_keys(exi_quad a, exi_quad b, const uint32_t *numbers, uint64_t keys[4]) {
    const v128_t taken = wasm_f32x4_le(a, b), high = wasm_v128_and(taken, a);
    const v128_t low = wasm_v128_and(taken, wasm_v128_load(numbers));
    wasm_v128_store(keys, wasm_i32x4_shuffle(low, high, 0, 4, 1, 5));
    wasm_v128_store(keys + 2, wasm_i32x4_shuffle(low, high, 2, 6, 3, 7));
}
static inline void exi_quad_transpose(exi_quad m[4]) {
    v128_t a = wasm_i32x4_shuffle(m[0], m[1], 0, 4, 1, 5), b = wasm_i32x4_shuffle(m[0], m[1], 2, 6, 3, 7);
    v128_t c = wasm_i32x4_shuffle(m[2], m[3], 0, 4, 1, 5), d = wasm_i32x4_shuffle(m[2], m[3], 2, 6, 3, 7);
    m[0] = wasm_i32x4_shuffle(a, c, 0, 1, 4, 5);
    m[1] = wasm_i32x4_shuffle(a, c, 2, 3, 6, 7);
    m[2] = wasm_i32x4_shuffle(b, d, 0, 1, 4, 5);
    m[3] = wasm_i32x4_shuffle(b, d, 2, 3, 6, 7);
}
static inline void exi_quad_load_bytes(const unsigned char *p, exi_quad v[4]) {
    v128_t bytes = wasm_v128_load(p);
    v128_t low = wasm_u16x8_extend_low_u8x16(bytes), high = wasm_u16x8_extend_high_u8x16(bytes);
    v[0] = wasm_f32x4_convert_i32x4(wasm_u32x4_extend_low_u16x8(low));
    v[1] = wasm_f32x4_convert_i32x4(wasm_u32x4_extend_high_u16x8(low));
    v[2] = wasm_f32x4_convert_i32x4(wasm_u32x4_extend_low_u16x8(high));
    v[3] = wasm_f32x4_convert_i32x4(wasm_u32x4_extend_high_u16x8(high));
}
static inline exi_quad exi_quad_load_fourth_bytes(const unsigned char *p) {
    return wasm_f32x4_convert_i32x4(wasm_u32x4_shr(wasm_v128_load(p), 24));
}
static inline void exi_quad_store_bytes(unsigned char *p, const exi_quad v[4]) {
    v128_t whole[4];
    for (int i = 0; i < 4; i++)
        whole[i] = wasm_i32x4_trunc_sat_f32x4(wasm_f32x4_nearest(v[i]));
    v128_t low = wasm_i16x8_narrow_i32x4(whole[0], whole[1]), high = wasm_i16x8_narrow_i32x4(whole[2], whole[3]);
    wasm_v128_store(p, wasm_u8x16_narrow_i16x8(low, high));
}

#else

typedef struct exi_quad {
    float lane[4];
} exi_quad;
static inline exi_quad exi_quad_load(const float *p) {
    return (exi_quad){{p[0], p[1], p[2], p[3]}};
}
static inline exi_quad exi_quad_load_three(const float *p) {
    return (exi_quad){{p[0], p[1], p[2], 0}};
}
static inline void exi_quad_store(float *p, exi_quad a) {
    memcpy(p, a.lane, sizeof a.lane);
}
static inline exi_quad exi_quad_splat(float a) {
    return (exi_quad){{a, a, a, a}};
}
static inline exi_quad exi_quad_lane0(exi_quad a) {
    return exi_quad_splat(a.lane[0]);
}
static inline exi_quad exi_quad_lane1(exi_quad a) {
    return exi_quad_splat(a.lane[1]);
}
static inline exi_quad exi_quad_lane2(exi_quad a) {
    return exi_quad_splat(a.lane[2]);
}
static inline exi_quad exi_quad_lane3(exi_quad a) {
    return exi_quad_splat(a.lane[3]);
}
static inline exi_quad exi_quad_add(exi_quad a, exi_quad b) {
    for (int i = 0; i < 4; i++)
        a.lane[i] += b.lane[i];
    return a;
}
static inline exi_quad exi_quad_sub(exi_quad a, exi_quad b) {
    for (int i = 0; i < 4; i++)
        a.lane[i] -= b.lane[i];
    return a;
}
static inline exi_quad exi_quad_mul(exi_quad a, exi_quad b) {
    for (int i = 0; i < 4; i++)
        a.lane[i] *= b.lane[i];
    return a;
}
static inline exi_quad exi_quad_div(exi_quad a, exi_quad b) {
    for (int i = 0; i < 4; i++)
        a.lane[i] /= b.lane[i];
    return a;
}
static inline exi_quad exi_quad_min(exi_quad a, exi_quad b) {
    for (int i = 0; i < 4; i++)
        a.lane[i] = a.lane[i] < b.lane[i] ? a.lane[i] : b.lane[i];
    return a;
}
static inline exi_quad exi_quad_max(exi_quad a, exi_quad b) {
    for (int i = 0; i < 4; i++)
        a.lane[i] = a.lane[i] > b.lane[i] ? a.lane[i] : b.lane[i];
    return a;
}
static inline exi_quad exi_quad_madd(exi_quad a, exi_quad b, exi_quad c) {
    for (int i = 0; i < 4; i++)
        c.lane[i] = a.lane[i] * b.lane[i] + c.lane[i];
    return c;
}
static inline exi_quad exi_quad_msub(exi_quad a, exi_quad b, exi_quad c) {
    for (int i = 0; i < 4; i++)
        c.lane[i] = c.lane[i] - a.lane[i] * b.lane[i];
    return c;
}
static inline exi_quad exi_quad_inverse_root(exi_quad a) {
    for (int i = 0; i < 4; i++)
        a.lane[i] = 1.0f / sqrtf(a.lane[i]);
    return a;
}
static inline exi_quad exi_quad_with_sign(exi_quad a, exi_quad b) {
    for (int i = 0; i < 4; i++) {
        float size = a.lane[i] < 0 ? -a.lane[i] : a.lane[i];
        a.lane[i] = signbit(b.lane[i]) ? -size : size;
    }
    return a;
}
static inline exi_quad exi_quad_pick(exi_quad a, exi_quad b, exi_quad x, exi_quad y) {
    for (int i = 0; i < 4; i++)
        y.lane[i] = a.lane[i] > b.lane[i] ? x.lane[i] : y.lane[i];
    return y;
}
static inline unsigned exi_quad_at_most(exi_quad a, exi_quad b) {
    unsigned bits = 0;
    for (int i = 0; i < 4; i++)
        bits |= (unsigned)(a.lane[i] <= b.lane[i]) << i;
    return bits;
}
static inline void exi_quad_keys(exi_quad a, exi_quad b, const uint32_t *numbers, uint64_t keys[4]) {
    for (int i = 0; i < 4; i++) {
        uint32_t bits;
        memcpy(&bits, &a.lane[i], sizeof bits);
        keys[i] = a.lane[i] <= b.lane[i] ? (uint64_t)bits << 32 | numbers[i] : 0;
    }
}
static inline void exi_quad_transpose(exi_quad m[4]) {
    for (int r = 0; r < 4; r++)
        for (int c = 0; c < r; c++) {
            float t = m[r].lane[c];
            m[r].lane[c] = m[c].lane[r];
            m[c].lane[r] = t;
        }
}
static inline void exi_quad_load_bytes(const unsigned char *p, exi_quad v[4]) {
    for (int i = 0; i < 16; i++)
        v[i / 4].lane[i % 4] = (float)p[i];
}
static inline exi_quad exi_quad_load_fourth_bytes(const unsigned char *p) {
    return (exi_quad){{(float)p[3], (float)p[7], (float)p[11], (float)p[15]}};
}
/* After adding 1.5 * 2^23, a float has no room for a fraction, and its low byte is that of the integer. */
static inline void exi_quad_store_bytes(unsigned char *p, const exi_quad v[4]) {
    for (int i = 0; i < 16; i++) {
        float beside = v[i / 4].lane[i % 4] + 12582912.0f;
        uint32_t bits;
        memcpy(&bits, &beside, sizeof bits);
        p[i] = (unsigned char)(bits & 255);
    }
}

#endif

#if !defined(EXI_SIMD_NEON) && !defined(EXI_SIMD_AVX2) && !defined(EXI_SIMD_SSE2)
static inline void exi_quad_load_triples(const float *p, exi_quad v[3]) {
    float lanes[3][4];
    for (int i = 0; i < 4; i++)
        for (int c = 0; c < 3; c++)
            lanes[c][i] = p[3 * i + c];
    for (int c = 0; c < 3; c++)
        v[c] = exi_quad_load(lanes[c]);
}
static inline void exi_quad_store_triples(float *p, const exi_quad v[3]) {
    float lanes[3][4];
    for (int c = 0; c < 3; c++)
        exi_quad_store(lanes[c], v[c]);
    for (int i = 0; i < 4; i++)
        for (int c = 0; c < 3; c++)
            p[3 * i + c] = lanes[c][i];
}
#endif

#endif

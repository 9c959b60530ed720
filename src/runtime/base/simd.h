/*
 * The one wide type: exi_wide holds EXI_WIDTH floats, 4 (NEON, SSE2, wasm simd128, scalar) or 8 (AVX2). The set is
 * chosen when compiling. Multiply-add is fused where the machine has it (NEON, AVX2 + FMA) and two roundings elsewhere,
 * which is the only difference between the bodies. Pointers need no alignment.
 */
#ifndef EXI_SIMD_H
#define EXI_SIMD_H

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

/* Before a loop over the registers of a tile: they are registers only where the loop is written out, which compilers do
 * not do by themselves below -O3. */
#if defined(__GNUC__)
#define EXI_WRITE_OUT _Pragma("GCC unroll 16")
#else
#define EXI_WRITE_OUT
#endif

/*
 * Operations: load, store, splat, madd (a * b + c), store_triples.
 * store_triples(p, x, y, z) writes x0 y0 z0 x1 y1 z1 …
 *
 * exi_ints holds EXI_WIDTH integers of 32 bits. add_products(p, factor, low, high) reads 2 * EXI_WIDTH integers of 16 bits
 * and adds each times the factor, the first EXI_WIDTH to low, the others to high; splat_short makes the factor from an
 * integer of 16 bits. Exact, so the bodies agree to the bit.
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

/*
 * Four lanes whatever EXI_WIDTH is, for x, y, z and nothing: exi_quad with load, store, splat, madd. The wide type itself
 * where that has four.
 */
#if defined(EXI_SIMD_AVX2)
typedef __m128 exi_quad;
static inline exi_quad exi_quad_load(const float *p) {
    return _mm_loadu_ps(p);
}
static inline void exi_quad_store(float *p, exi_quad a) {
    _mm_storeu_ps(p, a);
}
static inline exi_quad exi_quad_splat(float a) {
    return _mm_set1_ps(a);
}
static inline exi_quad exi_quad_madd(exi_quad a, exi_quad b, exi_quad c) {
    return _mm_fmadd_ps(a, b, c);
}
#else
typedef exi_wide exi_quad;
static inline exi_quad exi_quad_load(const float *p) {
    return exi_load(p);
}
static inline void exi_quad_store(float *p, exi_quad a) {
    exi_store(p, a);
}
static inline exi_quad exi_quad_splat(float a) {
    return exi_splat(a);
}
static inline exi_quad exi_quad_madd(exi_quad a, exi_quad b, exi_quad c) {
    return exi_madd(a, b, c);
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

#endif

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
 * Operations: load, store, splat, madd (a * b + c), load_halves, store_triples.
 * load_halves(p, low, high) reads 2 * EXI_WIDTH integers of 16 bits and gives each minus 32768, the first EXI_WIDTH in
 * low. Put below 0x4B00, such an integer u is the float 2^23 + u: an interleave and an exact subtraction, which on the
 * machines measured is faster than widening and converting.
 * store_triples(p, x, y, z) writes x0 y0 z0 x1 y1 z1 …
 */
#define EXI_HALF_MIDDLE 8421376.0f /* 2^23 + 32768 */
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
static inline void exi_load_halves(const uint16_t *p, exi_wide *low, exi_wide *high) {
    uint16x8_t halves = vld1q_u16(p), top = vdupq_n_u16(0x4B00);
    float32x4_t middle = vdupq_n_f32(EXI_HALF_MIDDLE);
    *low = vsubq_f32(vreinterpretq_f32_u16(vzip1q_u16(halves, top)), middle);
    *high = vsubq_f32(vreinterpretq_f32_u16(vzip2q_u16(halves, top)), middle);
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
/* The interleave works within halves of the register, so the middle quarters change places first. */
static inline void exi_load_halves(const uint16_t *p, exi_wide *low, exi_wide *high) {
    __m256i halves = _mm256_permute4x64_epi64(_mm256_loadu_si256((const __m256i *)(const void *)p), 0xD8);
    __m256i top = _mm256_set1_epi16(0x4B00);
    __m256 middle = _mm256_set1_ps(EXI_HALF_MIDDLE);
    *low = _mm256_sub_ps(_mm256_castsi256_ps(_mm256_unpacklo_epi16(halves, top)), middle);
    *high = _mm256_sub_ps(_mm256_castsi256_ps(_mm256_unpackhi_epi16(halves, top)), middle);
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
static inline void exi_load_halves(const uint16_t *p, exi_wide *low, exi_wide *high) {
    __m128i halves = _mm_loadu_si128((const __m128i *)(const void *)p), top = _mm_set1_epi16(0x4B00);
    __m128 middle = _mm_set1_ps(EXI_HALF_MIDDLE);
    *low = _mm_sub_ps(_mm_castsi128_ps(_mm_unpacklo_epi16(halves, top)), middle);
    *high = _mm_sub_ps(_mm_castsi128_ps(_mm_unpackhi_epi16(halves, top)), middle);
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
static inline void exi_load_halves(const uint16_t *p, exi_wide *low, exi_wide *high) {
    v128_t halves = wasm_v128_load(p), top = wasm_i16x8_splat(0x4B00), middle = wasm_f32x4_splat(EXI_HALF_MIDDLE);
    *low = wasm_f32x4_sub(wasm_i16x8_shuffle(halves, top, 0, 8, 1, 9, 2, 10, 3, 11), middle);
    *high = wasm_f32x4_sub(wasm_i16x8_shuffle(halves, top, 4, 12, 5, 13, 6, 14, 7, 15), middle);
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
static inline void exi_load_halves(const uint16_t *p, exi_wide *low, exi_wide *high) {
    for (int i = 0; i < 4; i++) {
        low->lane[i] = (float)(p[i] - 32768);
        high->lane[i] = (float)(p[4 + i] - 32768);
    }
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

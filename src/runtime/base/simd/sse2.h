/*
 * SSE2, which every x86-64 machine has: four floats in a register, products and sums not fused.
 */
#ifndef EXI_SIMD_SSE2_H
#define EXI_SIMD_SSE2_H

#include <emmintrin.h>

#define EXI_SIMD_NAME "sse2"
#include "runtime/base/simd/quad_x86.inl"

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
static inline void exi_add_products(const int16_t *p, exi_ints factor, exi_ints *sums) {
    __m128i shorts = _mm_loadu_si128((const __m128i *)(const void *)p), zero = _mm_setzero_si128();
    sums[0] = _mm_add_epi32(sums[0], _mm_madd_epi16(_mm_unpacklo_epi16(shorts, zero), factor));
    sums[1] = _mm_add_epi32(sums[1], _mm_madd_epi16(_mm_unpackhi_epi16(shorts, zero), factor));
}
static inline exi_wide exi_from_ints(exi_ints a) {
    return _mm_cvtepi32_ps(a);
}
typedef __m128i exi_shorts;
#define EXI_SHORTS 8
static inline exi_shorts exi_shorts_load(const int16_t *p) {
    return _mm_loadu_si128((const __m128i *)(const void *)p);
}
static inline exi_shorts exi_shorts_splat(int16_t a) {
    return _mm_set1_epi16(a);
}
/* A product is 65536 h + l. Divided by 32768 and rounded, it is 2 h plus the upper two bits of l, rounded to one. */
static inline exi_shorts exi_add_shares(const int16_t *p, exi_shorts factor, exi_shorts sum) {
    const __m128i x = _mm_loadu_si128((const __m128i *)(const void *)p);
    const __m128i high = _mm_mulhi_epi16(x, factor), rest = _mm_srli_epi16(_mm_mullo_epi16(x, factor), 14);
    return _mm_add_epi16(_mm_add_epi16(sum, _mm_add_epi16(high, high)), _mm_avg_epu16(rest, _mm_setzero_si128()));
}
static inline void exi_shorts_widen(exi_shorts a, exi_ints *wides) {
    wides[0] = _mm_srai_epi32(_mm_unpacklo_epi16(a, a), 16);
    wides[1] = _mm_srai_epi32(_mm_unpackhi_epi16(a, a), 16);
}

#endif

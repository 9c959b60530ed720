/*
 * AVX-512 (F, VL, DQ, BW): sixteen floats in a register, products and sums fused.
 */
#ifndef EXI_SIMD_AVX512_H
#define EXI_SIMD_AVX512_H

#include <immintrin.h>

#define EXI_SIMD_NAME "avx512"
#define EXI_FUSED
#include "runtime/base/simd/quad_x86.inl"

/* ---- wide ---- */

#define EXI_WIDTH 16
typedef __m512 exi_wide;
static inline exi_wide exi_load(const float *p) {
    return _mm512_loadu_ps(p);
}
static inline void exi_store(float *p, exi_wide a) {
    _mm512_storeu_ps(p, a);
}
static inline exi_wide exi_splat(float a) {
    return _mm512_set1_ps(a);
}
static inline exi_wide exi_madd(exi_wide a, exi_wide b, exi_wide c) {
    return _mm512_fmadd_ps(a, b, c);
}
static inline exi_wide exi_add(exi_wide a, exi_wide b) {
    return _mm512_add_ps(a, b);
}
static inline exi_wide exi_sub(exi_wide a, exi_wide b) {
    return _mm512_sub_ps(a, b);
}
static inline exi_wide exi_mul(exi_wide a, exi_wide b) {
    return _mm512_mul_ps(a, b);
}
static inline exi_wide exi_msub(exi_wide a, exi_wide b, exi_wide c) {
    return _mm512_fnmadd_ps(a, b, c);
}
static inline bool exi_any_above(exi_wide a, exi_wide b) {
    return _mm512_cmp_ps_mask(a, b, _CMP_GT_OQ) != 0;
}
static inline exi_wide exi_min(exi_wide a, exi_wide b) {
    return _mm512_min_ps(a, b);
}
static inline exi_wide exi_max(exi_wide a, exi_wide b) {
    return _mm512_max_ps(a, b);
}
static inline exi_wide exi_even_quads(exi_wide a, exi_wide b) {
    return _mm512_shuffle_f32x4(a, b, _MM_SHUFFLE(2, 0, 2, 0));
}
static inline exi_wide exi_odd_quads(exi_wide a, exi_wide b) {
    return _mm512_shuffle_f32x4(a, b, _MM_SHUFFLE(3, 1, 3, 1));
}
static inline exi_wide exi_pick(exi_wide a, exi_wide b, exi_wide x, exi_wide y) {
    return _mm512_mask_blend_ps(_mm512_cmp_ps_mask(a, b, _CMP_GT_OQ), y, x);
}
/* As with AVX2, and the same bits. */
static inline exi_wide exi_inverse_root(exi_wide a) {
    const __m512i guess = _mm512_sub_epi32(_mm512_set1_epi32(0x5F375A86), _mm512_srli_epi32(_mm512_castps_si512(a), 1));
    const __m512 half = _mm512_mul_ps(a, _mm512_set1_ps(0.5f)), more = _mm512_set1_ps(1.5f);
    __m512 x = _mm512_castsi512_ps(guess);
    for (int i = 0; i < 3; i++)
        x = _mm512_mul_ps(x, _mm512_fnmadd_ps(_mm512_mul_ps(half, x), x, more));
    return x;
}
static inline void exi_load_bytes(const unsigned char *p, exi_wide v[1]) {
    v[0] = _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)(const void *)p)));
}
static inline void exi_store_bytes(unsigned char *p, const exi_wide v[1]) {
    _mm_storeu_si128((__m128i *)(void *)p, _mm512_cvtepi32_epi8(_mm512_cvtps_epi32(v[0])));
}
static inline exi_wide exi_load_fourth_bytes(const unsigned char *p) {
    return _mm512_cvtepi32_ps(_mm512_srli_epi32(_mm512_loadu_si512((const void *)p), 24));
}
static inline void exi_load_triples(const float *p, exi_wide v[3]) {
    const __m512 a = _mm512_loadu_ps(p), b = _mm512_loadu_ps(p + 16), c = _mm512_loadu_ps(p + 32);
    /* For each coordinate: its numbers in a and b (16 and more), then those in c. */
    const __m512i x = _mm512_setr_epi32(0, 3, 6, 9, 12, 15, 18, 21, 24, 27, 30, 0, 0, 0, 0, 0);
    const __m512i y = _mm512_setr_epi32(1, 4, 7, 10, 13, 16, 19, 22, 25, 28, 31, 0, 0, 0, 0, 0);
    const __m512i z = _mm512_setr_epi32(2, 5, 8, 11, 14, 17, 20, 23, 26, 29, 0, 0, 0, 0, 0, 0);
    const __m512i last = _mm512_setr_epi32(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 4, 7, 10, 13);
    const __m512i one = _mm512_set1_epi32(1);
    const __m512i last_z = _mm512_setr_epi32(0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3, 6, 9, 12, 15);
    v[0] = _mm512_mask_permutexvar_ps(_mm512_permutex2var_ps(a, x, b), 0xF800, last, c);
    v[1] = _mm512_mask_permutexvar_ps(_mm512_permutex2var_ps(a, y, b), 0xF800, _mm512_add_epi32(last, one), c);
    v[2] = _mm512_mask_permutexvar_ps(_mm512_permutex2var_ps(a, z, b), 0xFC00, last_z, c);
}
/* An insertion from memory needs no shuffle. */
static inline exi_wide exi_load_blocks(const float *const p[4]) {
    const __m512 a = _mm512_insertf32x4(_mm512_castps128_ps512(_mm_loadu_ps(p[0])), _mm_loadu_ps(p[1]), 1);
    return _mm512_insertf32x4(_mm512_insertf32x4(a, _mm_loadu_ps(p[2]), 2), _mm_loadu_ps(p[3]), 3);
}
static inline exi_wide exi_of_quads(const exi_quad q[4]) {
    const __m512 a = _mm512_insertf32x4(_mm512_castps128_ps512(q[0]), q[1], 1);
    return _mm512_insertf32x4(_mm512_insertf32x4(a, q[2], 2), q[3], 3);
}
static inline void exi_transpose_blocks(exi_wide m[4]) {
    const __m512 a = _mm512_unpacklo_ps(m[0], m[1]), b = _mm512_unpackhi_ps(m[0], m[1]);
    const __m512 c = _mm512_unpacklo_ps(m[2], m[3]), d = _mm512_unpackhi_ps(m[2], m[3]);
    m[0] = _mm512_shuffle_ps(a, c, 0x44);
    m[1] = _mm512_shuffle_ps(a, c, 0xEE);
    m[2] = _mm512_shuffle_ps(b, d, 0x44);
    m[3] = _mm512_shuffle_ps(b, d, 0xEE);
}
typedef __m512i exi_ints;
static inline exi_ints exi_zero_ints(void) {
    return _mm512_setzero_si512();
}
/* Pairs (a, 0): a widened number x is the pair (x, its sign), and the sum of the pair's products is x times a. */
static inline exi_ints exi_splat_short(int16_t a) {
    return _mm512_set1_epi32((uint16_t)a);
}
static inline void exi_add_products(const int16_t *p, exi_ints factor, exi_ints *sums) {
    const __m512i wide = _mm512_cvtepi16_epi32(_mm256_loadu_si256((const __m256i *)(const void *)p));
    sums[0] = _mm512_add_epi32(sums[0], _mm512_madd_epi16(wide, factor));
}
static inline exi_wide exi_from_ints(exi_ints a) {
    return _mm512_cvtepi32_ps(a);
}
typedef __m256i exi_shorts;
#define EXI_SHORTS 16
static inline exi_shorts exi_shorts_load(const int16_t *p) {
    return _mm256_loadu_si256((const __m256i *)(const void *)p);
}
static inline exi_shorts exi_shorts_splat(int16_t a) {
    return _mm256_set1_epi16(a);
}
static inline exi_shorts exi_add_shares(const int16_t *p, exi_shorts factor, exi_shorts sum) {
    return _mm256_add_epi16(sum, _mm256_mulhrs_epi16(_mm256_loadu_si256((const __m256i *)(const void *)p), factor));
}
static inline void exi_shorts_widen(exi_shorts a, exi_ints *wides) {
    wides[0] = _mm512_cvtepi16_epi32(a);
}
static inline void exi_store_triples(float *p, exi_wide x, exi_wide y, exi_wide z) {
    /* For each of the three registers: x and y (16 and more) in their places, then z in its own. */
    const __m512i xy0 = _mm512_setr_epi32(0, 16, 0, 1, 17, 0, 2, 18, 0, 3, 19, 0, 4, 20, 0, 5);
    const __m512i xy1 = _mm512_setr_epi32(21, 0, 6, 22, 0, 7, 23, 0, 8, 24, 0, 9, 25, 0, 10, 26);
    const __m512i xy2 = _mm512_setr_epi32(0, 11, 27, 0, 12, 28, 0, 13, 29, 0, 14, 30, 0, 15, 31, 0);
    const __m512i z0 = _mm512_setr_epi32(0, 0, 0, 0, 0, 1, 0, 0, 2, 0, 0, 3, 0, 0, 4, 0);
    const __m512i z1 = _mm512_setr_epi32(0, 5, 0, 0, 6, 0, 0, 7, 0, 0, 8, 0, 0, 9, 0, 0);
    const __m512i z2 = _mm512_setr_epi32(10, 0, 0, 11, 0, 0, 12, 0, 0, 13, 0, 0, 14, 0, 0, 15);
    _mm512_storeu_ps(p, _mm512_mask_permutexvar_ps(_mm512_permutex2var_ps(x, xy0, y), 0x4924, z0, z));
    _mm512_storeu_ps(p + 16, _mm512_mask_permutexvar_ps(_mm512_permutex2var_ps(x, xy1, y), 0x2492, z1, z));
    _mm512_storeu_ps(p + 32, _mm512_mask_permutexvar_ps(_mm512_permutex2var_ps(x, xy2, y), 0x9249, z2, z));
}

/* ---- three ---- */

typedef __m512 exi_three; /* the fourth block is not used */
static inline exi_three exi_three_load(const float *p) {
    return _mm512_maskz_loadu_ps(0x0FFF, p);
}
static inline exi_three exi_three_of(const exi_quad q[3]) {
    const __m512 a = _mm512_insertf32x4(_mm512_castps128_ps512(q[0]), q[1], 1);
    return _mm512_insertf32x4(a, q[2], 2);
}
static inline void exi_three_quads(exi_three a, exi_quad q[3]) {
    q[0] = _mm512_castps512_ps128(a);
    q[1] = _mm512_extractf32x4_ps(a, 1);
    q[2] = _mm512_extractf32x4_ps(a, 2);
}
static inline exi_three exi_three_mul(exi_three a, exi_three b) {
    return _mm512_mul_ps(a, b);
}
static inline exi_three exi_three_madd(exi_three a, exi_three b, exi_three c) {
    return _mm512_fmadd_ps(a, b, c);
}
static inline exi_three exi_three_msub(exi_three a, exi_three b, exi_three c) {
    return _mm512_fnmadd_ps(a, b, c);
}
static inline exi_three exi_three_next(exi_three a) {
    return _mm512_shuffle_f32x4(a, a, _MM_SHUFFLE(3, 0, 2, 1));
}
static inline void exi_three_transpose(exi_three m[4]) {
    exi_transpose_blocks(m);
}
EXI_KERNEL exi_three exi_three_sum(const float *const m[4], const float *weights, int count) {
    __m512 sum = _mm512_mul_ps(_mm512_loadu_ps(m[0]), _mm512_set1_ps(weights[0]));
    EXI_WRITE_OUT
    for (int i = 1; i < count; i++)
        sum = _mm512_fmadd_ps(_mm512_loadu_ps(m[i]), _mm512_set1_ps(weights[i]), sum);
    return sum;
}
static inline exi_three exi_three_added(const float *m, float weight, exi_three to) {
    return _mm512_fmadd_ps(_mm512_loadu_ps(m), _mm512_set1_ps(weight), to);
}
static inline void exi_three_load_triples(const float *p, exi_three v[3]) {
    const __m512 all = _mm512_maskz_loadu_ps(0x0FFF, p);
    v[0] = _mm512_permutexvar_ps(_mm512_set4_epi32(9, 6, 3, 0), all);
    v[1] = _mm512_permutexvar_ps(_mm512_set4_epi32(10, 7, 4, 1), all);
    v[2] = _mm512_permutexvar_ps(_mm512_set4_epi32(11, 8, 5, 2), all);
}
static inline void exi_three_store_triples(float *p, exi_three a) {
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11, 0, 0, 0, 0);
    const __m512 triples = _mm512_permutexvar_ps(order, a);
    /* Not one masked store: a load of what follows it in memory would wait for it. */
    _mm256_storeu_ps(p, _mm512_castps512_ps256(triples));
    _mm_storeu_ps(p + 8, _mm512_extractf32x4_ps(triples, 2));
}

#include "runtime/base/simd/two_x86.inl"

#endif

/*
 * AVX2 with FMA: eight floats in a register, products and sums fused.
 */
#ifndef EXI_SIMD_AVX2_H
#define EXI_SIMD_AVX2_H

#include <immintrin.h>

#define EXI_SIMD_NAME "avx2"
#define EXI_FUSED
#include "runtime/base/simd/quad_x86.inl"

/* ---- wide ---- */

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
static inline exi_wide exi_min(exi_wide a, exi_wide b) {
    return _mm256_min_ps(a, b);
}
static inline exi_wide exi_max(exi_wide a, exi_wide b) {
    return _mm256_max_ps(a, b);
}
static inline exi_wide exi_even_quads(exi_wide a, exi_wide b) {
    return _mm256_permute2f128_ps(a, b, 0x20);
}
static inline exi_wide exi_odd_quads(exi_wide a, exi_wide b) {
    return _mm256_permute2f128_ps(a, b, 0x31);
}
static inline exi_wide exi_pick(exi_wide a, exi_wide b, exi_wide x, exi_wide y) {
    return _mm256_blendv_ps(y, x, _mm256_cmp_ps(a, b, _CMP_GT_OQ));
}
/* Newton's method from half the exponent: faster than a root and a division, and the same on all processors, which the
 * estimate of the machine is not. */
static inline exi_wide exi_inverse_root(exi_wide a) {
    const __m256i guess = _mm256_sub_epi32(_mm256_set1_epi32(0x5F375A86), _mm256_srli_epi32(_mm256_castps_si256(a), 1));
    const __m256 half = _mm256_mul_ps(a, _mm256_set1_ps(0.5f)), more = _mm256_set1_ps(1.5f);
    __m256 x = _mm256_castsi256_ps(guess);
    for (int i = 0; i < 3; i++)
        x = _mm256_mul_ps(x, _mm256_fnmadd_ps(_mm256_mul_ps(half, x), x, more));
    return x;
}
static inline void exi_load_bytes(const unsigned char *p, exi_wide v[2]) {
    const __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)p);
    v[0] = _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(bytes));
    v[1] = _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_srli_si128(bytes, 8)));
}
static inline void exi_store_bytes(unsigned char *p, const exi_wide v[2]) {
    const __m256i shorts = _mm256_packs_epi32(_mm256_cvtps_epi32(v[0]), _mm256_cvtps_epi32(v[1]));
    const __m256i fours = _mm256_packus_epi16(shorts, shorts); /* 0 2 0 2, 1 3 1 3 */
    const __m256i sorted = _mm256_permutevar8x32_epi32(fours, _mm256_setr_epi32(0, 4, 1, 5, 0, 4, 1, 5));
    _mm_storeu_si128((__m128i *)(void *)p, _mm256_castsi256_si128(sorted));
}
static inline exi_wide exi_load_fourth_bytes(const unsigned char *p) {
    return _mm256_cvtepi32_ps(_mm256_srli_epi32(_mm256_loadu_si256((const __m256i *)(const void *)p), 24));
}
static inline void exi_load_triples(const float *p, exi_wide v[3]) {
    const __m256 a = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(p)), _mm_loadu_ps(p + 12), 1);
    const __m256 b = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(p + 4)), _mm_loadu_ps(p + 16), 1);
    const __m256 c = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(p + 8)), _mm_loadu_ps(p + 20), 1);
    const __m256 x = _mm256_shuffle_ps(b, c, _MM_SHUFFLE(1, 1, 2, 2)),
                 z = _mm256_shuffle_ps(a, b, _MM_SHUFFLE(1, 1, 2, 2));
    const __m256 y0 = _mm256_shuffle_ps(a, b, _MM_SHUFFLE(0, 0, 1, 1)),
                 y2 = _mm256_shuffle_ps(b, c, _MM_SHUFFLE(2, 2, 3, 3));
    v[0] = _mm256_shuffle_ps(a, x, _MM_SHUFFLE(2, 0, 3, 0));
    v[1] = _mm256_shuffle_ps(y0, y2, _MM_SHUFFLE(2, 0, 2, 0));
    v[2] = _mm256_shuffle_ps(z, c, _MM_SHUFFLE(3, 0, 2, 0));
}
/* An insertion from memory needs no shuffle. */
static inline exi_wide exi_load_blocks(const float *const p[2]) {
    return _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(p[0])), _mm_loadu_ps(p[1]), 1);
}
static inline exi_wide exi_of_quads(const exi_quad q[2]) {
    return _mm256_insertf128_ps(_mm256_castps128_ps256(q[0]), q[1], 1);
}
static inline void exi_transpose_blocks(exi_wide m[4]) {
    const __m256 a = _mm256_unpacklo_ps(m[0], m[1]), b = _mm256_unpackhi_ps(m[0], m[1]);
    const __m256 c = _mm256_unpacklo_ps(m[2], m[3]), d = _mm256_unpackhi_ps(m[2], m[3]);
    m[0] = _mm256_shuffle_ps(a, c, 0x44);
    m[1] = _mm256_shuffle_ps(a, c, 0xEE);
    m[2] = _mm256_shuffle_ps(b, d, 0x44);
    m[3] = _mm256_shuffle_ps(b, d, 0xEE);
}
typedef __m256i exi_ints;
static inline exi_ints exi_zero_ints(void) {
    return _mm256_setzero_si256();
}
/* Pairs (a, 0): a widened number x is the pair (x, its sign), and the sum of the pair's products is x times a. */
static inline exi_ints exi_splat_short(int16_t a) {
    return _mm256_set1_epi32((uint16_t)a);
}
static inline void exi_add_products(const int16_t *p, exi_ints factor, exi_ints *sums) {
    __m256i first = _mm256_cvtepi16_epi32(_mm_loadu_si128((const __m128i *)(const void *)p));
    __m256i second = _mm256_cvtepi16_epi32(_mm_loadu_si128((const __m128i *)(const void *)(p + 8)));
    sums[0] = _mm256_add_epi32(sums[0], _mm256_madd_epi16(first, factor));
    sums[1] = _mm256_add_epi32(sums[1], _mm256_madd_epi16(second, factor));
}
static inline exi_wide exi_from_ints(exi_ints a) {
    return _mm256_cvtepi32_ps(a);
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
    wides[0] = _mm256_cvtepi16_epi32(_mm256_castsi256_si128(a));
    wides[1] = _mm256_cvtepi16_epi32(_mm256_extracti128_si256(a, 1));
}
/* In each half of the registers as exi_quad_store_triples does; then the halves are put in order. */
static inline void exi_store_triples(float *p, exi_wide x, exi_wide y, exi_wide z) {
    const __m256 low = _mm256_unpacklo_ps(x, y), high = _mm256_unpackhi_ps(x, y);
    const __m256 a = _mm256_shuffle_ps(z, x, _MM_SHUFFLE(1, 1, 0, 0)), b = _mm256_shuffle_ps(y, z, 0x55);
    const __m256 c = _mm256_shuffle_ps(z, high, _MM_SHUFFLE(2, 2, 2, 2)), d = _mm256_shuffle_ps(high, z, 0xFF);
    const __m256 first = _mm256_shuffle_ps(low, a, _MM_SHUFFLE(2, 0, 1, 0));
    const __m256 second = _mm256_shuffle_ps(b, high, _MM_SHUFFLE(1, 0, 2, 0));
    const __m256 third = _mm256_shuffle_ps(c, d, _MM_SHUFFLE(2, 0, 2, 0));
    _mm256_storeu_ps(p, _mm256_permute2f128_ps(first, second, 0x20));
    _mm256_storeu_ps(p + 8, _mm256_permute2f128_ps(third, first, 0x30));
    _mm256_storeu_ps(p + 16, _mm256_permute2f128_ps(second, third, 0x31));
}

/* ---- three ---- */

typedef struct exi_three {
    __m256 ab, c; /* blocks 0 and 1; block 2, and one that is not used */
} exi_three;
static inline exi_three exi_three_load(const float *p) {
    return (exi_three){_mm256_loadu_ps(p), _mm256_castps128_ps256(_mm_loadu_ps(p + 8))};
}
static inline exi_three exi_three_of(const exi_quad q[3]) {
    return (exi_three){_mm256_insertf128_ps(_mm256_castps128_ps256(q[0]), q[1], 1), _mm256_castps128_ps256(q[2])};
}
static inline void exi_three_quads(exi_three a, exi_quad q[3]) {
    q[0] = _mm256_castps256_ps128(a.ab);
    q[1] = _mm256_extractf128_ps(a.ab, 1);
    q[2] = _mm256_castps256_ps128(a.c);
}
static inline exi_three exi_three_mul(exi_three a, exi_three b) {
    return (exi_three){_mm256_mul_ps(a.ab, b.ab), _mm256_mul_ps(a.c, b.c)};
}
static inline exi_three exi_three_madd(exi_three a, exi_three b, exi_three c) {
    return (exi_three){_mm256_fmadd_ps(a.ab, b.ab, c.ab), _mm256_fmadd_ps(a.c, b.c, c.c)};
}
static inline exi_three exi_three_msub(exi_three a, exi_three b, exi_three c) {
    return (exi_three){_mm256_fnmadd_ps(a.ab, b.ab, c.ab), _mm256_fnmadd_ps(a.c, b.c, c.c)};
}
static inline exi_three exi_three_next(exi_three a) {
    return (exi_three){_mm256_permute2f128_ps(a.ab, a.c, 0x21), a.ab};
}
static inline void exi_three_transpose(exi_three m[4]) {
    __m256 a = _mm256_unpacklo_ps(m[0].ab, m[1].ab), b = _mm256_unpackhi_ps(m[0].ab, m[1].ab);
    __m256 c = _mm256_unpacklo_ps(m[2].ab, m[3].ab), d = _mm256_unpackhi_ps(m[2].ab, m[3].ab);
    __m128 e[4] = {_mm256_castps256_ps128(m[0].c), _mm256_castps256_ps128(m[1].c), _mm256_castps256_ps128(m[2].c),
                   _mm256_castps256_ps128(m[3].c)};
    exi_quad_transpose(e);
    m[0] = (exi_three){_mm256_shuffle_ps(a, c, 0x44), _mm256_castps128_ps256(e[0])};
    m[1] = (exi_three){_mm256_shuffle_ps(a, c, 0xEE), _mm256_castps128_ps256(e[1])};
    m[2] = (exi_three){_mm256_shuffle_ps(b, d, 0x44), _mm256_castps128_ps256(e[2])};
    m[3] = (exi_three){_mm256_shuffle_ps(b, d, 0xEE), _mm256_castps128_ps256(e[3])};
}
EXI_KERNEL exi_three exi_three_sum(const float *const m[4], const float *weights, int count) {
    exi_three sum = {_mm256_setzero_ps(), _mm256_setzero_ps()};
    EXI_WRITE_OUT
    for (int i = 0; i < count; i++) {
        const __m256 weight = _mm256_broadcast_ss(weights + i), ab = _mm256_loadu_ps(m[i]);
        const __m128 c = _mm_loadu_ps(m[i] + 8);
        sum.ab = i ? _mm256_fmadd_ps(ab, weight, sum.ab) : _mm256_mul_ps(ab, weight);
        sum.c =
            _mm256_castps128_ps256(i ? _mm_fmadd_ps(c, _mm256_castps256_ps128(weight), _mm256_castps256_ps128(sum.c))
                                     : _mm_mul_ps(c, _mm256_castps256_ps128(weight)));
    }
    return sum;
}
static inline exi_three exi_three_added(const float *m, float weight, exi_three to) {
    const __m256 w = _mm256_set1_ps(weight);
    return (exi_three){_mm256_fmadd_ps(_mm256_loadu_ps(m), w, to.ab), _mm256_fmadd_ps(_mm256_loadu_ps(m + 8), w, to.c)};
}
static inline void exi_three_load_triples(const float *p, exi_three v[3]) {
    const __m256 a = _mm256_broadcast_ps((const __m128 *)(const void *)p);
    const __m256 b = _mm256_broadcast_ps((const __m128 *)(const void *)(p + 4));
    const __m256 c = _mm256_broadcast_ps((const __m128 *)(const void *)(p + 8)); /* xyzx yzxy zxyz */
    const __m256 x = _mm256_shuffle_ps(b, c, _MM_SHUFFLE(1, 1, 2, 2)),
                 z = _mm256_shuffle_ps(a, b, _MM_SHUFFLE(1, 1, 2, 2));
    const __m256 y0 = _mm256_shuffle_ps(a, b, _MM_SHUFFLE(0, 0, 1, 1)),
                 y2 = _mm256_shuffle_ps(b, c, _MM_SHUFFLE(2, 2, 3, 3));
    const __m256 all[3] = {_mm256_shuffle_ps(a, x, _MM_SHUFFLE(2, 0, 3, 0)),
                           _mm256_shuffle_ps(y0, y2, _MM_SHUFFLE(2, 0, 2, 0)),
                           _mm256_shuffle_ps(z, c, _MM_SHUFFLE(3, 0, 2, 0))};
    for (int i = 0; i < 3; i++)
        v[i] = (exi_three){all[i], all[i]};
}
static inline void exi_three_store_triples(float *p, exi_three a) {
    exi_quad q[3];
    exi_three_quads(a, q);
    exi_quad_store_triples(p, q);
}

#include "runtime/base/simd/two_x86.inl"

#endif

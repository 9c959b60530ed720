/*
 * exi_two in a register of eight floats, included by AVX2 and AVX-512.
 */
typedef __m256 exi_two;
static inline exi_two exi_two_load(const float *p) {
    return _mm256_loadu_ps(p);
}
static inline exi_quad exi_two_first(exi_two a) {
    return _mm256_castps256_ps128(a);
}
static inline exi_quad exi_two_second(exi_two a) {
    return _mm256_extractf128_ps(a, 1);
}
static inline __m256 exi_two_same(exi_quad a) {
    return _mm256_insertf128_ps(_mm256_castps128_ps256(a), a, 1);
}
static inline exi_two exi_two_mul(exi_two a, exi_quad b) {
    return _mm256_mul_ps(a, exi_two_same(b));
}
static inline exi_two exi_two_madd(exi_two a, exi_quad b, exi_two c) {
    return _mm256_fmadd_ps(a, exi_two_same(b), c);
}
static inline void exi_two_transpose(exi_two m[4]) {
    const __m256 a = _mm256_unpacklo_ps(m[0], m[1]), b = _mm256_unpackhi_ps(m[0], m[1]);
    const __m256 c = _mm256_unpacklo_ps(m[2], m[3]), d = _mm256_unpackhi_ps(m[2], m[3]);
    m[0] = _mm256_shuffle_ps(a, c, 0x44);
    m[1] = _mm256_shuffle_ps(a, c, 0xEE);
    m[2] = _mm256_shuffle_ps(b, d, 0x44);
    m[3] = _mm256_shuffle_ps(b, d, 0xEE);
}

/*
 * exi_quad on x86-64, included by each of its sets: four floats in a register, products and sums fused if the set has
 * it.
 */
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
#if defined(EXI_FUSED)
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

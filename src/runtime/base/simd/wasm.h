/*
 * WebAssembly simd128: four floats in a register, products and sums not fused.
 */
#ifndef EXI_SIMD_WASM_H
#define EXI_SIMD_WASM_H

#include <wasm_simd128.h>

#define EXI_SIMD_NAME "wasm"
#define EXI_TRIPLES_BY_LANES

/* ---- wide ---- */

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
static inline void exi_add_products(const int16_t *p, exi_ints factor, exi_ints *sums) {
    v128_t shorts = wasm_v128_load(p);
    sums[0] = wasm_i32x4_add(sums[0], wasm_i32x4_extmul_low_i16x8(shorts, factor));
    sums[1] = wasm_i32x4_add(sums[1], wasm_i32x4_extmul_high_i16x8(shorts, factor));
}
static inline exi_wide exi_from_ints(exi_ints a) {
    return wasm_f32x4_convert_i32x4(a);
}
typedef v128_t exi_shorts;
#define EXI_SHORTS 8
static inline exi_shorts exi_shorts_load(const int16_t *p) {
    return wasm_v128_load(p);
}
static inline exi_shorts exi_shorts_splat(int16_t a) {
    return wasm_i16x8_splat(a);
}
static inline exi_shorts exi_add_shares(const int16_t *p, exi_shorts factor, exi_shorts sum) {
    return wasm_i16x8_add(sum, wasm_i16x8_q15mulr_sat(wasm_v128_load(p), factor));
}
static inline void exi_shorts_widen(exi_shorts a, exi_ints *wides) {
    wides[0] = wasm_i32x4_extend_low_i16x8(a);
    wides[1] = wasm_i32x4_extend_high_i16x8(a);
}

/* ---- quad ---- */

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

#endif

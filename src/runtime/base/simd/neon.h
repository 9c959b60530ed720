/*
 * NEON: four floats in a register, products and sums fused.
 */
#ifndef EXI_SIMD_NEON_H
#define EXI_SIMD_NEON_H

#include <arm_neon.h>

#define EXI_SIMD_NAME "neon"

/* ---- wide ---- */

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
static inline void exi_add_products(const int16_t *p, exi_ints factor, exi_ints *sums) {
    int16x8_t shorts = vld1q_s16(p), factors = vreinterpretq_s16_s32(factor);
    sums[0] = vmlal_s16(sums[0], vget_low_s16(shorts), vget_low_s16(factors));
    sums[1] = vmlal_high_s16(sums[1], shorts, factors);
}
static inline exi_wide exi_from_ints(exi_ints a) {
    return vcvtq_f32_s32(a);
}
typedef int16x8_t exi_shorts;
#define EXI_SHORTS 8
static inline exi_shorts exi_shorts_load(const int16_t *p) {
    return vld1q_s16(p);
}
static inline exi_shorts exi_shorts_splat(int16_t a) {
    return vdupq_n_s16(a);
}
static inline exi_shorts exi_add_shares(const int16_t *p, exi_shorts factor, exi_shorts sum) {
    return vaddq_s16(sum, vqrdmulhq_s16(vld1q_s16(p), factor));
}
static inline void exi_shorts_widen(exi_shorts a, exi_ints *wides) {
    wides[0] = vmovl_s16(vget_low_s16(a));
    wides[1] = vmovl_high_s16(a);
}

/* ---- quad ---- */

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

#endif

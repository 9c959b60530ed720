/*
 * pair.h - two doubles in a register: NEON, SSE2 and scalar code. On x86-64 products are rounded before they are added,
 * in every set and build, so that what authoring computes does not depend on the machine; on Arm they are fused. Lanes
 * of float are in runtime/base/simd.h, more doubles in lanes.h. Private to authoring.
 */
#ifndef EXEMPLAR_AUTHOR_BASE_PAIR_H
#define EXEMPLAR_AUTHOR_BASE_PAIR_H

#include "runtime/base/simd.h"

#include <math.h>

/* a b + c, rounded once if the machine does that as fast as rounding twice, and is not x86-64. */
static inline double exi_multiply_add(double a, double b, double c) {
#if defined(FP_FAST_FMA) && !defined(__x86_64__)
    return fma(a, b, c);
#else
    return a * b + c;
#endif
}

/*
 * Operations: load, store, load_one (and 0) and store_one, fill, first and second (one of the numbers, twice), add,
 * subtract, multiply, divide, root, pick (x where a > b, else y), add_product (c + a b), subtract_product (c - a b),
 * low and high (two of four floats), round (two pairs to four floats).
 */
#if defined(__ARM_NEON) && defined(__aarch64__) && !defined(EX_SIMD_SCALAR)
typedef float64x2_t exi_pair;

static inline exi_pair exi_pair_load(const double *p) {
    return vld1q_f64(p);
}
static inline exi_pair exi_pair_load_one(const double *p) {
    return vsetq_lane_f64(*p, vdupq_n_f64(0), 0);
}
static inline void exi_pair_store(double *p, exi_pair a) {
    vst1q_f64(p, a);
}
static inline void exi_pair_store_one(double *p, exi_pair a) {
    vst1q_lane_f64(p, a, 0);
}
static inline exi_pair exi_pair_fill(double a) {
    return vdupq_n_f64(a);
}
static inline exi_pair exi_pair_first(exi_pair a) {
    return vdupq_laneq_f64(a, 0);
}
static inline exi_pair exi_pair_second(exi_pair a) {
    return vdupq_laneq_f64(a, 1);
}
static inline exi_pair exi_pair_add(exi_pair a, exi_pair b) {
    return vaddq_f64(a, b);
}
static inline exi_pair exi_pair_subtract(exi_pair a, exi_pair b) {
    return vsubq_f64(a, b);
}
static inline exi_pair exi_pair_multiply(exi_pair a, exi_pair b) {
    return vmulq_f64(a, b);
}
static inline exi_pair exi_pair_divide(exi_pair a, exi_pair b) {
    return vdivq_f64(a, b);
}
static inline exi_pair exi_pair_root(exi_pair a) {
    return vsqrtq_f64(a);
}
static inline exi_pair exi_pair_pick(exi_pair a, exi_pair b, exi_pair x, exi_pair y) {
    return vbslq_f64(vcgtq_f64(a, b), x, y);
}
static inline exi_pair exi_pair_add_product(exi_pair c, exi_pair a, exi_pair b) {
    return vfmaq_f64(c, a, b);
}
static inline exi_pair exi_pair_subtract_product(exi_pair c, exi_pair a, exi_pair b) {
    return vfmsq_f64(c, a, b);
}
static inline exi_pair exi_pair_low(exi_quad a) {
    return vcvt_f64_f32(vget_low_f32(a));
}
static inline exi_pair exi_pair_high(exi_quad a) {
    return vcvt_high_f64_f32(a);
}
static inline exi_quad exi_pair_round(exi_pair a, exi_pair b) {
    return vcvt_high_f32_f64(vcvt_f32_f64(a), b);
}

#elif defined(EXI_SET_SSE2) || defined(EXI_SET_AVX2) || defined(EXI_SET_AVX512)
typedef __m128d exi_pair;

static inline exi_pair exi_pair_load(const double *p) {
    return _mm_loadu_pd(p);
}
static inline exi_pair exi_pair_load_one(const double *p) {
    return _mm_load_sd(p);
}
static inline void exi_pair_store(double *p, exi_pair a) {
    _mm_storeu_pd(p, a);
}
static inline void exi_pair_store_one(double *p, exi_pair a) {
    _mm_store_sd(p, a);
}
static inline exi_pair exi_pair_fill(double a) {
    return _mm_set1_pd(a);
}
static inline exi_pair exi_pair_first(exi_pair a) {
    return _mm_unpacklo_pd(a, a);
}
static inline exi_pair exi_pair_second(exi_pair a) {
    return _mm_unpackhi_pd(a, a);
}
static inline exi_pair exi_pair_add(exi_pair a, exi_pair b) {
    return _mm_add_pd(a, b);
}
static inline exi_pair exi_pair_subtract(exi_pair a, exi_pair b) {
    return _mm_sub_pd(a, b);
}
static inline exi_pair exi_pair_multiply(exi_pair a, exi_pair b) {
    return _mm_mul_pd(a, b);
}
static inline exi_pair exi_pair_divide(exi_pair a, exi_pair b) {
    return _mm_div_pd(a, b);
}
static inline exi_pair exi_pair_root(exi_pair a) {
    return _mm_sqrt_pd(a);
}
static inline exi_pair exi_pair_pick(exi_pair a, exi_pair b, exi_pair x, exi_pair y) {
    const __m128d above = _mm_cmpgt_pd(a, b);
    return _mm_or_pd(_mm_and_pd(above, x), _mm_andnot_pd(above, y));
}
static inline exi_pair exi_pair_add_product(exi_pair c, exi_pair a, exi_pair b) {
    return _mm_add_pd(c, _mm_mul_pd(a, b));
}
static inline exi_pair exi_pair_subtract_product(exi_pair c, exi_pair a, exi_pair b) {
    return _mm_sub_pd(c, _mm_mul_pd(a, b));
}
static inline exi_pair exi_pair_low(exi_quad a) {
    return _mm_cvtps_pd(a);
}
static inline exi_pair exi_pair_high(exi_quad a) {
    return _mm_cvtps_pd(_mm_movehl_ps(a, a));
}
static inline exi_quad exi_pair_round(exi_pair a, exi_pair b) {
    return _mm_movelh_ps(_mm_cvtpd_ps(a), _mm_cvtpd_ps(b));
}

#else
typedef struct exi_pair {
    double first, second;
} exi_pair;

static inline exi_pair exi_pair_load(const double *p) {
    return (exi_pair){p[0], p[1]};
}
static inline exi_pair exi_pair_load_one(const double *p) {
    return (exi_pair){p[0], 0};
}
static inline void exi_pair_store(double *p, exi_pair a) {
    p[0] = a.first;
    p[1] = a.second;
}
static inline void exi_pair_store_one(double *p, exi_pair a) {
    p[0] = a.first;
}
static inline exi_pair exi_pair_fill(double a) {
    return (exi_pair){a, a};
}
static inline exi_pair exi_pair_first(exi_pair a) {
    return (exi_pair){a.first, a.first};
}
static inline exi_pair exi_pair_second(exi_pair a) {
    return (exi_pair){a.second, a.second};
}
static inline exi_pair exi_pair_add(exi_pair a, exi_pair b) {
    return (exi_pair){a.first + b.first, a.second + b.second};
}
static inline exi_pair exi_pair_subtract(exi_pair a, exi_pair b) {
    return (exi_pair){a.first - b.first, a.second - b.second};
}
static inline exi_pair exi_pair_multiply(exi_pair a, exi_pair b) {
    return (exi_pair){a.first * b.first, a.second * b.second};
}
static inline exi_pair exi_pair_divide(exi_pair a, exi_pair b) {
    return (exi_pair){a.first / b.first, a.second / b.second};
}
static inline exi_pair exi_pair_root(exi_pair a) {
    return (exi_pair){sqrt(a.first), sqrt(a.second)};
}
static inline exi_pair exi_pair_pick(exi_pair a, exi_pair b, exi_pair x, exi_pair y) {
    return (exi_pair){a.first > b.first ? x.first : y.first, a.second > b.second ? x.second : y.second};
}
static inline exi_pair exi_pair_add_product(exi_pair c, exi_pair a, exi_pair b) {
    return (exi_pair){exi_multiply_add(a.first, b.first, c.first), exi_multiply_add(a.second, b.second, c.second)};
}
static inline exi_pair exi_pair_subtract_product(exi_pair c, exi_pair a, exi_pair b) {
    return (exi_pair){exi_multiply_add(-a.first, b.first, c.first), exi_multiply_add(-a.second, b.second, c.second)};
}
static inline exi_pair exi_pair_low(exi_quad a) {
    float lanes[4];
    exi_quad_store(lanes, a);
    return (exi_pair){(double)lanes[0], (double)lanes[1]};
}
static inline exi_pair exi_pair_high(exi_quad a) {
    float lanes[4];
    exi_quad_store(lanes, a);
    return (exi_pair){(double)lanes[2], (double)lanes[3]};
}
static inline exi_quad exi_pair_round(exi_pair a, exi_pair b) {
    const float lanes[4] = {(float)a.first, (float)a.second, (float)b.first, (float)b.second};
    return exi_quad_load(lanes);
}
#endif

#endif

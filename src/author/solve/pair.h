/*
 * pair.h - two doubles in a register, for the kernels of the direct solver: NEON, SSE2 (with FMA in a build for one set
 * that has it), and scalar code. Without it gcc does not keep tiles of sums in registers, and loses two thirds of the
 * speed. Private to src/author/solve; lanes of float are in runtime/base/simd.h.
 */
#ifndef EXEMPLAR_AUTHOR_SOLVE_PAIR_H
#define EXEMPLAR_AUTHOR_SOLVE_PAIR_H

#include "runtime/base/simd.h"

#include <math.h>

/* a b + c, rounded once if the machine does that as fast as rounding twice. */
static inline double exi_multiply_add(double a, double b, double c) {
#if defined(FP_FAST_FMA) && (!defined(__x86_64__) || defined(EXI_FUSED))
    return fma(a, b, c);
#else
    return a * b + c;
#endif
}

#if defined(__ARM_NEON) && defined(__aarch64__) && !defined(EX_SIMD_SCALAR)
typedef float64x2_t exi_pair;

static inline exi_pair exi_pair_load(const double *p) {
    return vld1q_f64(p);
}
static inline void exi_pair_store(double *p, exi_pair a) {
    vst1q_f64(p, a);
}
static inline exi_pair exi_pair_fill(double a) {
    return vdupq_n_f64(a);
}
/* The first or the second number, twice. */
static inline exi_pair exi_pair_first(exi_pair a) {
    return vdupq_laneq_f64(a, 0);
}
static inline exi_pair exi_pair_second(exi_pair a) {
    return vdupq_laneq_f64(a, 1);
}
static inline exi_pair exi_pair_subtract(exi_pair a, exi_pair b) {
    return vsubq_f64(a, b);
}
static inline exi_pair exi_pair_multiply(exi_pair a, exi_pair b) {
    return vmulq_f64(a, b);
}
/* c + a b and c - a b */
static inline exi_pair exi_pair_add_product(exi_pair c, exi_pair a, exi_pair b) {
    return vfmaq_f64(c, a, b);
}
static inline exi_pair exi_pair_subtract_product(exi_pair c, exi_pair a, exi_pair b) {
    return vfmsq_f64(c, a, b);
}

#elif defined(EXI_SET_SSE2) || defined(EXI_SET_AVX2) || defined(EXI_SET_AVX512)
typedef __m128d exi_pair;

static inline exi_pair exi_pair_load(const double *p) {
    return _mm_loadu_pd(p);
}
static inline void exi_pair_store(double *p, exi_pair a) {
    _mm_storeu_pd(p, a);
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
static inline exi_pair exi_pair_subtract(exi_pair a, exi_pair b) {
    return _mm_sub_pd(a, b);
}
static inline exi_pair exi_pair_multiply(exi_pair a, exi_pair b) {
    return _mm_mul_pd(a, b);
}
static inline exi_pair exi_pair_add_product(exi_pair c, exi_pair a, exi_pair b) {
#ifdef EXI_FUSED
    return _mm_fmadd_pd(a, b, c);
#else
    return _mm_add_pd(c, _mm_mul_pd(a, b));
#endif
}
static inline exi_pair exi_pair_subtract_product(exi_pair c, exi_pair a, exi_pair b) {
#ifdef EXI_FUSED
    return _mm_fnmadd_pd(a, b, c);
#else
    return _mm_sub_pd(c, _mm_mul_pd(a, b));
#endif
}

#else
typedef struct exi_pair {
    double first, second;
} exi_pair;

static inline exi_pair exi_pair_load(const double *p) {
    return (exi_pair){p[0], p[1]};
}
static inline void exi_pair_store(double *p, exi_pair a) {
    p[0] = a.first;
    p[1] = a.second;
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
static inline exi_pair exi_pair_subtract(exi_pair a, exi_pair b) {
    return (exi_pair){a.first - b.first, a.second - b.second};
}
static inline exi_pair exi_pair_multiply(exi_pair a, exi_pair b) {
    return (exi_pair){a.first * b.first, a.second * b.second};
}
static inline exi_pair exi_pair_add_product(exi_pair c, exi_pair a, exi_pair b) {
    return (exi_pair){exi_multiply_add(a.first, b.first, c.first), exi_multiply_add(a.second, b.second, c.second)};
}
static inline exi_pair exi_pair_subtract_product(exi_pair c, exi_pair a, exi_pair b) {
    return (exi_pair){exi_multiply_add(-a.first, b.first, c.first), exi_multiply_add(-a.second, b.second, c.second)};
}
#endif
#endif

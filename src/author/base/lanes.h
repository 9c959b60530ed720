/*
 * lanes.h - four and eight doubles, and eight floats, on every machine: one register where the set has it, two or more
 * otherwise. Sums and products of all of them have the same bits in all sets of x86-64 (pair.h). Private to authoring.
 *
 * exi_four: load, load_three (and 0), store, store_three, fill, add, subtract, multiply, divide, root, pick (x where
 * a > b, else y), add_product, subtract_product (c - a b), widen (four floats), round (to four floats).
 * exi_eight: load, store, fill, add, subtract, multiply, divide, root, pick, add_product.
 * exi_oct: eight floats: load, store, fill, add, sub, mul, pick, of (two quads), low and high (back), widen and round
 * (to and from exi_eight).
 */
#ifndef EXEMPLAR_AUTHOR_BASE_LANES_H
#define EXEMPLAR_AUTHOR_BASE_LANES_H

#include "author/base/pair.h"

/* ---- four doubles ---- */

#if defined(EXI_SET_AVX2) || defined(EXI_SET_AVX512)
typedef __m256d exi_four;

static inline exi_four exi_four_load(const double *p) {
    return _mm256_loadu_pd(p);
}
static inline exi_four exi_four_load_three(const double *p) {
    return _mm256_insertf128_pd(_mm256_castpd128_pd256(_mm_loadu_pd(p)), _mm_load_sd(p + 2), 1);
}
static inline void exi_four_store(double *p, exi_four a) {
    _mm256_storeu_pd(p, a);
}
static inline void exi_four_store_three(double *p, exi_four a) {
    _mm_storeu_pd(p, _mm256_castpd256_pd128(a));
    _mm_store_sd(p + 2, _mm256_extractf128_pd(a, 1));
}
static inline exi_four exi_four_fill(double a) {
    return _mm256_set1_pd(a);
}
static inline exi_four exi_four_add(exi_four a, exi_four b) {
    return _mm256_add_pd(a, b);
}
static inline exi_four exi_four_subtract(exi_four a, exi_four b) {
    return _mm256_sub_pd(a, b);
}
static inline exi_four exi_four_multiply(exi_four a, exi_four b) {
    return _mm256_mul_pd(a, b);
}
static inline exi_four exi_four_divide(exi_four a, exi_four b) {
    return _mm256_div_pd(a, b);
}
static inline exi_four exi_four_root(exi_four a) {
    return _mm256_sqrt_pd(a);
}
static inline exi_four exi_four_pick(exi_four a, exi_four b, exi_four x, exi_four y) {
    return _mm256_blendv_pd(y, x, _mm256_cmp_pd(a, b, _CMP_GT_OQ));
}
static inline exi_four exi_four_add_product(exi_four c, exi_four a, exi_four b) {
    return _mm256_add_pd(c, _mm256_mul_pd(a, b));
}
static inline exi_four exi_four_subtract_product(exi_four c, exi_four a, exi_four b) {
    return _mm256_sub_pd(c, _mm256_mul_pd(a, b));
}
static inline exi_four exi_four_widen(exi_quad a) {
    return _mm256_cvtps_pd(a);
}
static inline exi_quad exi_four_round(exi_four a) {
    return _mm256_cvtpd_ps(a);
}
#else
typedef struct exi_four {
    exi_pair a, b;
} exi_four;

static inline exi_four exi_four_load(const double *p) {
    return (exi_four){exi_pair_load(p), exi_pair_load(p + 2)};
}
static inline exi_four exi_four_load_three(const double *p) {
    return (exi_four){exi_pair_load(p), exi_pair_load_one(p + 2)};
}
static inline void exi_four_store(double *p, exi_four a) {
    exi_pair_store(p, a.a);
    exi_pair_store(p + 2, a.b);
}
static inline void exi_four_store_three(double *p, exi_four a) {
    exi_pair_store(p, a.a);
    exi_pair_store_one(p + 2, a.b);
}
static inline exi_four exi_four_fill(double a) {
    return (exi_four){exi_pair_fill(a), exi_pair_fill(a)};
}
static inline exi_four exi_four_add(exi_four a, exi_four b) {
    return (exi_four){exi_pair_add(a.a, b.a), exi_pair_add(a.b, b.b)};
}
static inline exi_four exi_four_subtract(exi_four a, exi_four b) {
    return (exi_four){exi_pair_subtract(a.a, b.a), exi_pair_subtract(a.b, b.b)};
}
static inline exi_four exi_four_multiply(exi_four a, exi_four b) {
    return (exi_four){exi_pair_multiply(a.a, b.a), exi_pair_multiply(a.b, b.b)};
}
static inline exi_four exi_four_divide(exi_four a, exi_four b) {
    return (exi_four){exi_pair_divide(a.a, b.a), exi_pair_divide(a.b, b.b)};
}
static inline exi_four exi_four_root(exi_four a) {
    return (exi_four){exi_pair_root(a.a), exi_pair_root(a.b)};
}
static inline exi_four exi_four_pick(exi_four a, exi_four b, exi_four x, exi_four y) {
    return (exi_four){exi_pair_pick(a.a, b.a, x.a, y.a), exi_pair_pick(a.b, b.b, x.b, y.b)};
}
static inline exi_four exi_four_add_product(exi_four c, exi_four a, exi_four b) {
    return (exi_four){exi_pair_add_product(c.a, a.a, b.a), exi_pair_add_product(c.b, a.b, b.b)};
}
static inline exi_four exi_four_subtract_product(exi_four c, exi_four a, exi_four b) {
    return (exi_four){exi_pair_subtract_product(c.a, a.a, b.a), exi_pair_subtract_product(c.b, a.b, b.b)};
}
static inline exi_four exi_four_widen(exi_quad a) {
    return (exi_four){exi_pair_low(a), exi_pair_high(a)};
}
static inline exi_quad exi_four_round(exi_four a) {
    return exi_pair_round(a.a, a.b);
}
#endif

/* ---- eight doubles ---- */

#if defined(EXI_SET_AVX512)
typedef __m512d exi_eight;

static inline exi_eight exi_eight_load(const double *p) {
    return _mm512_loadu_pd(p);
}
static inline void exi_eight_store(double *p, exi_eight a) {
    _mm512_storeu_pd(p, a);
}
static inline exi_eight exi_eight_fill(double a) {
    return _mm512_set1_pd(a);
}
static inline exi_eight exi_eight_add(exi_eight a, exi_eight b) {
    return _mm512_add_pd(a, b);
}
static inline exi_eight exi_eight_subtract(exi_eight a, exi_eight b) {
    return _mm512_sub_pd(a, b);
}
static inline exi_eight exi_eight_multiply(exi_eight a, exi_eight b) {
    return _mm512_mul_pd(a, b);
}
static inline exi_eight exi_eight_divide(exi_eight a, exi_eight b) {
    return _mm512_div_pd(a, b);
}
static inline exi_eight exi_eight_root(exi_eight a) {
    return _mm512_sqrt_pd(a);
}
static inline exi_eight exi_eight_pick(exi_eight a, exi_eight b, exi_eight x, exi_eight y) {
    return _mm512_mask_blend_pd(_mm512_cmp_pd_mask(a, b, _CMP_GT_OQ), y, x);
}
static inline exi_eight exi_eight_add_product(exi_eight c, exi_eight a, exi_eight b) {
    return _mm512_add_pd(c, _mm512_mul_pd(a, b));
}
#else
typedef struct exi_eight {
    exi_four a, b;
} exi_eight;

static inline exi_eight exi_eight_load(const double *p) {
    return (exi_eight){exi_four_load(p), exi_four_load(p + 4)};
}
static inline void exi_eight_store(double *p, exi_eight a) {
    exi_four_store(p, a.a);
    exi_four_store(p + 4, a.b);
}
static inline exi_eight exi_eight_fill(double a) {
    return (exi_eight){exi_four_fill(a), exi_four_fill(a)};
}
static inline exi_eight exi_eight_add(exi_eight a, exi_eight b) {
    return (exi_eight){exi_four_add(a.a, b.a), exi_four_add(a.b, b.b)};
}
static inline exi_eight exi_eight_subtract(exi_eight a, exi_eight b) {
    return (exi_eight){exi_four_subtract(a.a, b.a), exi_four_subtract(a.b, b.b)};
}
static inline exi_eight exi_eight_multiply(exi_eight a, exi_eight b) {
    return (exi_eight){exi_four_multiply(a.a, b.a), exi_four_multiply(a.b, b.b)};
}
static inline exi_eight exi_eight_divide(exi_eight a, exi_eight b) {
    return (exi_eight){exi_four_divide(a.a, b.a), exi_four_divide(a.b, b.b)};
}
static inline exi_eight exi_eight_root(exi_eight a) {
    return (exi_eight){exi_four_root(a.a), exi_four_root(a.b)};
}
static inline exi_eight exi_eight_pick(exi_eight a, exi_eight b, exi_eight x, exi_eight y) {
    return (exi_eight){exi_four_pick(a.a, b.a, x.a, y.a), exi_four_pick(a.b, b.b, x.b, y.b)};
}
static inline exi_eight exi_eight_add_product(exi_eight c, exi_eight a, exi_eight b) {
    return (exi_eight){exi_four_add_product(c.a, a.a, b.a), exi_four_add_product(c.b, a.b, b.b)};
}
#endif

/* ---- eight floats ---- */

#if defined(EXI_SET_AVX2) || defined(EXI_SET_AVX512)
typedef __m256 exi_oct;

static inline exi_oct exi_oct_load(const float *p) {
    return _mm256_loadu_ps(p);
}
static inline void exi_oct_store(float *p, exi_oct a) {
    _mm256_storeu_ps(p, a);
}
static inline exi_oct exi_oct_fill(float a) {
    return _mm256_set1_ps(a);
}
static inline exi_oct exi_oct_add(exi_oct a, exi_oct b) {
    return _mm256_add_ps(a, b);
}
static inline exi_oct exi_oct_sub(exi_oct a, exi_oct b) {
    return _mm256_sub_ps(a, b);
}
static inline exi_oct exi_oct_mul(exi_oct a, exi_oct b) {
    return _mm256_mul_ps(a, b);
}
static inline exi_oct exi_oct_pick(exi_oct a, exi_oct b, exi_oct x, exi_oct y) {
    return _mm256_blendv_ps(y, x, _mm256_cmp_ps(a, b, _CMP_GT_OQ));
}
static inline exi_oct exi_oct_of(exi_quad low, exi_quad high) {
    return _mm256_insertf128_ps(_mm256_castps128_ps256(low), high, 1);
}
static inline exi_quad exi_oct_low(exi_oct a) {
    return _mm256_castps256_ps128(a);
}
static inline exi_quad exi_oct_high(exi_oct a) {
    return _mm256_extractf128_ps(a, 1);
}
#else
typedef struct exi_oct {
    exi_quad a, b;
} exi_oct;

static inline exi_oct exi_oct_load(const float *p) {
    return (exi_oct){exi_quad_load(p), exi_quad_load(p + 4)};
}
static inline void exi_oct_store(float *p, exi_oct a) {
    exi_quad_store(p, a.a);
    exi_quad_store(p + 4, a.b);
}
static inline exi_oct exi_oct_fill(float a) {
    return (exi_oct){exi_quad_splat(a), exi_quad_splat(a)};
}
static inline exi_oct exi_oct_add(exi_oct a, exi_oct b) {
    return (exi_oct){exi_quad_add(a.a, b.a), exi_quad_add(a.b, b.b)};
}
static inline exi_oct exi_oct_sub(exi_oct a, exi_oct b) {
    return (exi_oct){exi_quad_sub(a.a, b.a), exi_quad_sub(a.b, b.b)};
}
static inline exi_oct exi_oct_mul(exi_oct a, exi_oct b) {
    return (exi_oct){exi_quad_mul(a.a, b.a), exi_quad_mul(a.b, b.b)};
}
static inline exi_oct exi_oct_pick(exi_oct a, exi_oct b, exi_oct x, exi_oct y) {
    return (exi_oct){exi_quad_pick(a.a, b.a, x.a, y.a), exi_quad_pick(a.b, b.b, x.b, y.b)};
}
static inline exi_oct exi_oct_of(exi_quad low, exi_quad high) {
    return (exi_oct){low, high};
}
static inline exi_quad exi_oct_low(exi_oct a) {
    return a.a;
}
static inline exi_quad exi_oct_high(exi_oct a) {
    return a.b;
}
#endif

#if defined(EXI_SET_AVX512)
static inline exi_eight exi_oct_widen(exi_oct a) {
    return _mm512_cvtps_pd(a);
}
static inline exi_oct exi_oct_round(exi_eight a) {
    return _mm512_cvtpd_ps(a);
}
#else
static inline exi_eight exi_oct_widen(exi_oct a) {
    return (exi_eight){exi_four_widen(exi_oct_low(a)), exi_four_widen(exi_oct_high(a))};
}
static inline exi_oct exi_oct_round(exi_eight a) {
    return exi_oct_of(exi_four_round(a.a), exi_four_round(a.b));
}
#endif

#endif

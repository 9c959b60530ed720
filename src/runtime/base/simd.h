/*
 * Portable SIMD: exi_wide holds EXI_WIDTH floats, 4 (NEON, SSE2, wasm simd128, scalar), 8 (AVX2) or 16 (AVX-512). A
 * file is compiled for one instruction set; set.h says how kernels are compiled for several. Multiply-add is fused if
 * the set has it (NEON, AVX2, AVX-512) and has two roundings otherwise, and 1/sqrt has its own last bits in each set:
 * the only differences between them. Pointers need no alignment. The bodies are in simd/, a file for each set.
 */
#ifndef EXI_SIMD_H
#define EXI_SIMD_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "runtime/base/set.h"

/* Put before a loop over the registers of a tile. They are registers only if the loop is unrolled, which compilers do
 * not do automatically below -O3. */
#if defined(__GNUC__)
#define EXI_WRITE_OUT _Pragma("GCC unroll 16")
#else
#define EXI_WRITE_OUT
#endif

/* For kernels with constant arguments: without it, gcc makes one body that tests them at every step. */
#if defined(__GNUC__)
#define EXI_KERNEL static inline __attribute__((always_inline))
#else
#define EXI_KERNEL static inline
#endif

/* For the rare cases of a kernel, which would take its registers. */
#if defined(__GNUC__)
#define EXI_APART __attribute__((noinline))
#else
#define EXI_APART
#endif

/* Keeps an address in one register. Otherwise gcc adds the offset of every load anew, to share it between streams. */
#if defined(__GNUC__)
#define EXI_KEEP(pointer) __asm__("" : "+r"(pointer))
#else
#define EXI_KEEP(pointer) (void)(pointer)
#endif

/* Keeps a number apart from others. Otherwise gcc for x86-64 gathers numbers that are added one by one into registers,
 * which takes longer than adding them one by one. For Arm it does so with profit. */
#if defined(__GNUC__) && defined(__x86_64__)
#define EXI_KEEP_FLOAT(number) __asm__("" : "+x"(number))
#else
#define EXI_KEEP_FLOAT(number) (void)(number)
#endif

/*
 * Operations on exi_wide: load, store, splat, add, sub, mul, min, max, madd (a * b + c), msub (c - a * b), pick (x
 * where a > b, else y), inverse_root (1/sqrt of a positive number, relative error below 3e-7), any_above (true if a > b
 * in any lane), even_quads and odd_quads (of the quads of a and then of b: the first, third, …, or the second, …),
 * load_triples and store_triples (x0 y0 z0 x1 y1 z1 …), load_bytes and store_bytes (16 bytes as 16 / EXI_WIDTH
 * registers; numbers from 0 to 255 are stored, rounded to the nearest, ties to even), load_fourth_bytes (the alphas of
 * EXI_WIDTH pixels). Also as EXI_WIDTH / 4 blocks of four lanes: load_blocks (four floats from an address for each
 * block), of_quads, transpose_blocks (four of them, within each block).
 *
 * exi_ints holds EXI_WIDTH integers of 32 bits, exi_shorts EXI_SHORTS integers of 16 bits, 8 or 16. add_products(p,
 * factor, sums) reads EXI_SHORTS integers of 16 bits and adds each times the factor to sums [EXI_SHORTS / EXI_WIDTH];
 * splat_short makes the factor from an integer of 16 bits. add_shares(p, factor, sum) reads as many, multiplies each by
 * the factor / 32768, rounds to the nearest (halves up) and adds. It wraps around, so only the final sum must fit;
 * -32768 times itself is not allowed. shorts_widen makes integers of 32 bits [EXI_SHORTS / EXI_WIDTH]. All are exact,
 * so all sets agree to the bit.
 *
 * exi_quad holds four floats on every machine, for data in fours such as the rows of joint matrices. Operations: load,
 * load_three (p0 p1 p2 and 0), store, splat, lane 0 to 3 in all lanes, add, sub, mul, div, min, max, madd (a * b + c),
 * msub (c - a * b), inverse_root (1/sqrt, relative error below 3e-7), with_sign (the size of a, the sign of b), pick (x
 * where a > b, else y; y too where one is not a number), at_most (bit i set where a <= b in lane i; not where one is
 * not a number), keys (for each lane the bits of a before those of a number, as one integer of 64 bits, where a <= b,
 * else 0), transpose, load_triples and store_triples (x0 y0 z0 x1 y1 z1 …), load_bytes and store_bytes (16 bytes as
 * four quads; numbers from 0 to 255 are stored, rounded to the nearest, ties to even), load_fourth_bytes (the alphas of
 * four pixels).
 *
 * exi_three holds three quads, "blocks": the rows of a 3 x 4 matrix, or x, y and z of four points. It is one register
 * with AVX-512, two with AVX2, three elsewhere. Operations: load (12 floats), of and quads (from quads and back), mul,
 * madd, msub, next (block i is block (i + 1) % 3), transpose (four of them, within each block: four matrices become
 * four columns, whose blocks are rows and whose lanes are the matrices), sum (of up to four matrices of 16 floats,
 * which all may be read, each times its weight; the count is a constant at the call, and four weights are read),
 * load_triples (v[c] has coordinate c of four points in all its blocks), added (to + such a matrix times a weight),
 * store_triples (block c is coordinate c of four points).
 *
 * exi_two holds two quads, the two parts of a dual quaternion: load, first, second, mul and madd by a quad, transpose.
 */
enum { EXI_QUAD_LANES = 4 };

#if defined(__ARM_NEON) && defined(__aarch64__) && !defined(EX_SIMD_SCALAR)
#include "runtime/base/simd/neon.h"
#elif defined(EXI_SET_AVX512)
#include "runtime/base/simd/avx512.h"
#elif defined(EXI_SET_AVX2)
#include "runtime/base/simd/avx2.h"
#elif defined(EXI_SET_SSE2)
#include "runtime/base/simd/sse2.h"
#elif defined(__wasm_simd128__) && !defined(EX_SIMD_SCALAR)
#include "runtime/base/simd/wasm.h"
#else
#include "runtime/base/simd/scalar.h"
#endif

/* ---- what the sets of four lanes share ---- */

#if defined(EXI_TRIPLES_BY_LANES)
static inline void exi_quad_load_triples(const float *p, exi_quad v[3]) {
    float lanes[3][4];
    for (int i = 0; i < 4; i++)
        for (int c = 0; c < 3; c++)
            lanes[c][i] = p[3 * i + c];
    for (int c = 0; c < 3; c++)
        v[c] = exi_quad_load(lanes[c]);
}
static inline void exi_quad_store_triples(float *p, const exi_quad v[3]) {
    float lanes[3][4];
    for (int c = 0; c < 3; c++)
        exi_quad_store(lanes[c], v[c]);
    for (int i = 0; i < 4; i++)
        for (int c = 0; c < 3; c++)
            p[3 * i + c] = lanes[c][i];
}
#endif

#if EXI_WIDTH == 4
static inline exi_wide exi_even_quads(exi_wide a, exi_wide b) {
    (void)b;
    return a;
}
static inline exi_wide exi_odd_quads(exi_wide a, exi_wide b) {
    (void)a;
    return b;
}
static inline exi_wide exi_min(exi_wide a, exi_wide b) {
    return exi_quad_min(a, b);
}
static inline exi_wide exi_max(exi_wide a, exi_wide b) {
    return exi_quad_max(a, b);
}
static inline exi_wide exi_pick(exi_wide a, exi_wide b, exi_wide x, exi_wide y) {
    return exi_quad_pick(a, b, x, y);
}
static inline exi_wide exi_inverse_root(exi_wide a) {
    return exi_quad_inverse_root(a);
}
static inline void exi_load_triples(const float *p, exi_wide v[3]) {
    exi_quad_load_triples(p, v);
}
static inline void exi_load_bytes(const unsigned char *p, exi_wide v[4]) {
    exi_quad_load_bytes(p, v);
}
static inline void exi_store_bytes(unsigned char *p, const exi_wide v[4]) {
    exi_quad_store_bytes(p, v);
}
static inline exi_wide exi_load_fourth_bytes(const unsigned char *p) {
    return exi_quad_load_fourth_bytes(p);
}
static inline void exi_store_triples(float *p, exi_wide x, exi_wide y, exi_wide z) {
    const exi_quad v[3] = {x, y, z};
    exi_quad_store_triples(p, v);
}

static inline exi_wide exi_load_blocks(const float *const p[1]) {
    return exi_load(p[0]);
}
static inline exi_wide exi_of_quads(const exi_quad q[1]) {
    return q[0];
}
static inline void exi_transpose_blocks(exi_wide m[4]) {
    exi_quad_transpose(m);
}

typedef struct exi_three {
    exi_quad a, b, c;
} exi_three;
static inline exi_three exi_three_load(const float *p) {
    return (exi_three){exi_quad_load(p), exi_quad_load(p + 4), exi_quad_load(p + 8)};
}
static inline exi_three exi_three_of(const exi_quad q[3]) {
    return (exi_three){q[0], q[1], q[2]};
}
static inline void exi_three_quads(exi_three a, exi_quad q[3]) {
    q[0] = a.a;
    q[1] = a.b;
    q[2] = a.c;
}
static inline exi_three exi_three_mul(exi_three a, exi_three b) {
    return (exi_three){exi_quad_mul(a.a, b.a), exi_quad_mul(a.b, b.b), exi_quad_mul(a.c, b.c)};
}
static inline exi_three exi_three_madd(exi_three a, exi_three b, exi_three c) {
    return (exi_three){exi_quad_madd(a.a, b.a, c.a), exi_quad_madd(a.b, b.b, c.b), exi_quad_madd(a.c, b.c, c.c)};
}
static inline exi_three exi_three_msub(exi_three a, exi_three b, exi_three c) {
    return (exi_three){exi_quad_msub(a.a, b.a, c.a), exi_quad_msub(a.b, b.b, c.b), exi_quad_msub(a.c, b.c, c.c)};
}
static inline exi_three exi_three_next(exi_three a) {
    return (exi_three){a.b, a.c, a.a};
}
static inline void exi_three_transpose(exi_three m[4]) {
    exi_quad a[4] = {m[0].a, m[1].a, m[2].a, m[3].a}, b[4] = {m[0].b, m[1].b, m[2].b, m[3].b};
    exi_quad c[4] = {m[0].c, m[1].c, m[2].c, m[3].c};
    exi_quad_transpose(a);
    exi_quad_transpose(b);
    exi_quad_transpose(c);
    EXI_WRITE_OUT
    for (int i = 0; i < 4; i++)
        m[i] = (exi_three){a[i], b[i], c[i]};
}
static inline exi_three exi_three_by(const float *m, exi_quad weight, exi_three to) {
    return (exi_three){exi_quad_madd(exi_quad_load(m), weight, to.a), exi_quad_madd(exi_quad_load(m + 4), weight, to.b),
                       exi_quad_madd(exi_quad_load(m + 8), weight, to.c)};
}
static inline exi_three exi_three_added(const float *m, float weight, exi_three to) {
    return exi_three_by(m, exi_quad_splat(weight), to);
}
EXI_KERNEL exi_three exi_three_sum(const float *const m[4], const float *weights, int count) {
    const exi_quad w = exi_quad_load(weights);
    const exi_quad first = exi_quad_lane0(w);
    exi_three sum = {exi_quad_mul(exi_quad_load(m[0]), first), exi_quad_mul(exi_quad_load(m[0] + 4), first),
                     exi_quad_mul(exi_quad_load(m[0] + 8), first)};
    sum = count > 1 ? exi_three_by(m[1], exi_quad_lane1(w), sum) : sum;
    sum = count > 2 ? exi_three_by(m[2], exi_quad_lane2(w), sum) : sum;
    return count > 3 ? exi_three_by(m[3], exi_quad_lane3(w), sum) : sum;
}
static inline void exi_three_load_triples(const float *p, exi_three v[3]) {
    exi_quad x[3];
    exi_quad_load_triples(p, x);
    EXI_WRITE_OUT
    for (int i = 0; i < 3; i++)
        v[i] = (exi_three){x[i], x[i], x[i]};
}
static inline void exi_three_store_triples(float *p, exi_three a) {
    const exi_quad v[3] = {a.a, a.b, a.c};
    exi_quad_store_triples(p, v);
}

typedef struct exi_two {
    exi_quad a, b;
} exi_two;
static inline exi_two exi_two_load(const float *p) {
    return (exi_two){exi_quad_load(p), exi_quad_load(p + 4)};
}
static inline exi_quad exi_two_first(exi_two a) {
    return a.a;
}
static inline exi_quad exi_two_second(exi_two a) {
    return a.b;
}
static inline exi_two exi_two_mul(exi_two a, exi_quad b) {
    return (exi_two){exi_quad_mul(a.a, b), exi_quad_mul(a.b, b)};
}
static inline exi_two exi_two_madd(exi_two a, exi_quad b, exi_two c) {
    return (exi_two){exi_quad_madd(a.a, b, c.a), exi_quad_madd(a.b, b, c.b)};
}
static inline void exi_two_transpose(exi_two m[4]) {
    exi_quad a[4] = {m[0].a, m[1].a, m[2].a, m[3].a}, b[4] = {m[0].b, m[1].b, m[2].b, m[3].b};
    exi_quad_transpose(a);
    exi_quad_transpose(b);
    EXI_WRITE_OUT
    for (int i = 0; i < 4; i++)
        m[i] = (exi_two){a[i], b[i]};
}
#endif

#endif

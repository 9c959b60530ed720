/*
 * Sums of the motions of a driver's vertices (carry.c), a row of four numbers in a register.
 */
#ifndef EXI_SETTLE_CARRY_H
#define EXI_SETTLE_CARRY_H

#include "runtime/base/simd.h"
#include "runtime/settle/settler.h"

/* Adds weight times the motion of a point at (u, v) of a triangle. point: relative to the origin, then 1. Each row of
 * the sum still has to be summed over its four columns. */
EXI_KERNEL void exi_carry_add(const exi_motions *motions, const uint32_t corner[3], float u, float v, float weight,
                              exi_quad point, exi_quad sum[3]) {
    const exi_motion *a = &motions->of[corner[0]], *b = &motions->of[corner[1]], *c = &motions->of[corner[2]];
    const float w = 1 - u - v;
    exi_quad at = exi_quad_mul(exi_quad_splat(w), exi_quad_load(a->row[0]));
    at = exi_quad_madd(exi_quad_splat(u), exi_quad_load(b->row[0]), at);
    at = exi_quad_madd(exi_quad_splat(v), exi_quad_load(c->row[0]), at);
    const exi_quad e = exi_quad_mul(exi_quad_splat(weight), exi_quad_sub(point, at));
    EXI_WRITE_OUT
    for (int k = 0; k < 3; k++) {
        exi_quad row = exi_quad_mul(exi_quad_splat(w), exi_quad_load(a->row[1 + k]));
        row = exi_quad_madd(exi_quad_splat(u), exi_quad_load(b->row[1 + k]), row);
        row = exi_quad_madd(exi_quad_splat(v), exi_quad_load(c->row[1 + k]), row);
        sum[k] = exi_quad_madd(e, row, sum[k]);
    }
}
static inline exi_quad exi_carry_from(const exi_motions *motions, const float point[3]) {
    const float from[4] = {point[0] - motions->origin[0], point[1] - motions->origin[1], point[2] - motions->origin[2],
                           1};
    return exi_quad_load(from);
}
/* Moves the point by a sum of motions. */
static inline void exi_carry_apply(const exi_quad sum[3], float point[3]) {
    exi_quad m[4] = {sum[0], sum[1], sum[2], exi_quad_splat(0)};
    float moved[4];
    exi_quad_transpose(m);
    exi_quad_store(moved, exi_quad_add(exi_quad_add(m[0], m[1]), exi_quad_add(m[2], m[3])));
    for (int c = 0; c < 3; c++)
        point[c] += moved[c];
}

#endif

/*
 * Shared parts of the two skinning paths, so that both give the same bits: sums of matrices and the transform of four
 * positions (base/affine.h), and that of four tangents or normals.
 */
#ifndef EXI_KERNELS_H
#define EXI_KERNELS_H

#include "runtime/pose/skin.h"

static inline exi_quad exi_quad_dot(const exi_quad a[3], const exi_quad b[3]) {
    return exi_quad_madd(a[2], b[2], exi_quad_madd(a[1], b[1], exi_quad_mul(a[0], b[0])));
}

static inline void exi_quad_cross(const exi_quad a[3], const exi_quad b[3], exi_quad out[3]) {
    out[0] = exi_quad_msub(a[2], b[1], exi_quad_mul(a[1], b[2]));
    out[1] = exi_quad_msub(a[0], b[2], exi_quad_mul(a[2], b[0]));
    out[2] = exi_quad_msub(a[1], b[0], exi_quad_mul(a[0], b[1]));
}

EXI_KERNEL void exi_move_tangent(const exi_quad m[12], const exi_quad x[3], exi_quad out[3]) {
    EXI_WRITE_OUT
    for (int r = 0; r < 3; r++)
        out[r] = exi_quad_dot(m + 4 * r, x);
}

/* Transforms normals by the cofactors; if `mirrored`, a constant at the call, with the sign of the determinant. */
EXI_KERNEL void exi_move_normal(const exi_quad m[12], const exi_quad x[3], bool mirrored, exi_quad out[3]) {
    exi_quad cofactors[3][3];
    exi_quad_cross(m + 4, m + 8, cofactors[0]);
    exi_quad_cross(m + 8, m, cofactors[1]);
    exi_quad_cross(m, m + 4, cofactors[2]);
    EXI_WRITE_OUT
    for (int r = 0; r < 3; r++)
        out[r] = exi_quad_dot(cofactors[r], x);
    if (!mirrored)
        return;
    const exi_quad hand = exi_quad_with_sign(exi_quad_splat(1), exi_quad_dot(m, cofactors[0]));
    EXI_WRITE_OUT
    for (int r = 0; r < 3; r++)
        out[r] = exi_quad_mul(out[r], hand);
}

#endif

/*
 * Shared parts of the two skinning paths, so that both give the same bits: sums of matrices, and the transform of four
 * positions or normals by four matrices.
 *
 * A sum is computed one vertex after the other, with a row in a register: three loads and three multiply-adds per
 * influence. Four vertices are then transposed, so that a register holds the same entry for all four; the rest is
 * arithmetic without shuffles. Entries of four matrices are m[4 * row + column].
 */
#ifndef EXI_KERNELS_H
#define EXI_KERNELS_H

#include "runtime/pose/skin.h"

static inline void exi_add_matrix(const float *m, exi_quad weight, exi_quad rows[3]) {
    EXI_WRITE_OUT
    for (int r = 0; r < 3; r++)
        rows[r] = exi_quad_madd(exi_quad_load(m + 4 * r), weight, rows[r]);
}

/* Sums the first four influences of a vertex. */
static inline void exi_sum_four(const float *affine, const uint16_t *joints, const float *weights, exi_quad rows[3]) {
    const exi_quad w = exi_quad_load(weights);
    const float *m = affine + EXI_MATRIX_FLOATS * (size_t)joints[0];
    EXI_WRITE_OUT
    for (int r = 0; r < 3; r++)
        rows[r] = exi_quad_mul(exi_quad_load(m + 4 * r), exi_quad_lane0(w));
    exi_add_matrix(affine + EXI_MATRIX_FLOATS * (size_t)joints[1], exi_quad_lane1(w), rows);
    exi_add_matrix(affine + EXI_MATRIX_FLOATS * (size_t)joints[2], exi_quad_lane2(w), rows);
    exi_add_matrix(affine + EXI_MATRIX_FLOATS * (size_t)joints[3], exi_quad_lane3(w), rows);
}

static inline void exi_turn_round(exi_quad rows[EXI_QUAD_LANES][3], exi_quad m[12]) {
    EXI_WRITE_OUT
    for (int r = 0; r < 3; r++) {
        exi_quad entries[4] = {rows[0][r], rows[1][r], rows[2][r], rows[3][r]};
        exi_quad_transpose(entries);
        EXI_WRITE_OUT
        for (int c = 0; c < 4; c++)
            m[4 * r + c] = entries[c];
    }
}

/* Sums four vertices with four influences each. */
EXI_KERNEL void exi_sum_group(const float *affine, const uint16_t *joints, const float *weights, exi_quad m[12]) {
    exi_quad rows[EXI_QUAD_LANES][3];
    EXI_WRITE_OUT
    for (int lane = 0; lane < EXI_QUAD_LANES; lane++)
        exi_sum_four(affine, joints + EXI_SHORT * lane, weights + EXI_SHORT * lane, rows[lane]);
    exi_turn_round(rows, m);
}

static inline exi_quad exi_quad_dot(const exi_quad a[3], const exi_quad b[3]) {
    return exi_quad_madd(a[2], b[2], exi_quad_madd(a[1], b[1], exi_quad_mul(a[0], b[0])));
}

static inline void exi_quad_cross(const exi_quad a[3], const exi_quad b[3], exi_quad out[3]) {
    out[0] = exi_quad_msub(a[2], b[1], exi_quad_mul(a[1], b[2]));
    out[1] = exi_quad_msub(a[0], b[2], exi_quad_mul(a[2], b[0]));
    out[2] = exi_quad_msub(a[1], b[0], exi_quad_mul(a[0], b[1]));
}

EXI_KERNEL void exi_move_position(const exi_quad m[12], const exi_quad x[3], exi_quad out[3]) {
    EXI_WRITE_OUT
    for (int r = 0; r < 3; r++) {
        const exi_quad *row = m + 4 * r;
        out[r] = exi_quad_madd(row[2], x[2], exi_quad_madd(row[1], x[1], exi_quad_madd(row[0], x[0], row[3])));
    }
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

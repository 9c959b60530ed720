/*
 * Weighted sums of affine matrices, and the transform of four positions by four such sums, for skins and mixtures of
 * paths.
 *
 * A sum is computed one vertex after the other, with a row in a register: three loads and three multiply-adds per
 * influence. Four vertices are then transposed, so that a register holds the same entry for all four; the rest is
 * arithmetic without shuffles. Entries of four matrices are m[4 * row + column]. A matrix is three rows of four floats,
 * padded to four rows: its address is one shift away from its index, and it lies in one cache line.
 */
#ifndef EXI_AFFINE_H
#define EXI_AFFINE_H

#include "runtime/base/influence.h"
#include "runtime/base/simd.h"

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

EXI_KERNEL void exi_move_position(const exi_quad m[12], const exi_quad x[3], exi_quad out[3]) {
    EXI_WRITE_OUT
    for (int r = 0; r < 3; r++) {
        const exi_quad *row = m + 4 * r;
        out[r] = exi_quad_madd(row[2], x[2], exi_quad_madd(row[1], x[1], exi_quad_madd(row[0], x[0], row[3])));
    }
}

#endif

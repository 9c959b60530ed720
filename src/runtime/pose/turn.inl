/*
 * Rotations of a vertex, blended as quaternions and applied to a vector, in float (Kavan et al. 2008, the real half of
 * dual.inl; turn.c explains their use). Common subset of C and CUDA.
 */
#ifndef EXI_TURN_INL
#define EXI_TURN_INL

#include "runtime/pose/dual.inl"

/* sum += weight * q, with a sign as in exi_dual_add. */
EXI_INLINE void exi_rotation_add(const float q[4], const float pivot[4], float least, float weight, float sum[4]) {
    const float side = q[0] * pivot[0] + q[1] * pivot[1] + q[2] * pivot[2] + q[3] * pivot[3];
    const float signed_weight = side > least ? weight : -weight;
    for (int i = 0; i < 4; i++)
        sum[i] += signed_weight * q[i];
}

/* Replaces a sum of `count` numbers, the first four a rotation, by the pivot if it has cancelled. */
EXI_INLINE void exi_rotation_settle(const float *pivot, int count, float *sum) {
    const float length_sq = sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2] + sum[3] * sum[3];
    for (int i = 0; i < count; i++)
        sum[i] = length_sq > EXI_DUAL_LEAST ? sum[i] : pivot[i];
}

/* x + 2 (w u x x + u x (u x x)) / |q|^2, with u the vector part of q, which need not have unit length. */
EXI_INLINE void exi_rotation_turn(const float q[4], const float x[3], float out[3]) {
    const float s = 2.0F / (q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
    const float a[3] = {q[1] * x[2] - q[2] * x[1], q[2] * x[0] - q[0] * x[2], q[0] * x[1] - q[1] * x[0]};
    out[0] = x[0] + s * (q[3] * a[0] + q[1] * a[2] - q[2] * a[1]);
    out[1] = x[1] + s * (q[3] * a[1] + q[2] * a[0] - q[0] * a[2]);
    out[2] = x[2] + s * (q[3] * a[2] + q[0] * a[1] - q[1] * a[0]);
}

#endif

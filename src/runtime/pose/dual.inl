/*
 * Dual quaternions, one vertex at a time: rigid motions q + e d, blended by summing and scaling to unit length (Kavan,
 * Collins, Žára, O'Sullivan: Geometric Skinning with Approximate Dual Quaternion Blending, 2008). d = t q / 2 with t
 * the translation. Common subset of C and CUDA, in double.
 */
#ifndef EXI_DUAL_INL
#define EXI_DUAL_INL

#include "runtime/base/functions.inl"

/* The dual part of the motion that turns by the unit quaternion q and then moves by t. */
EXI_INLINE void exi_dual_part(const double q[4], const double t[3], double d[4]) {
    d[0] = 0.5 * (t[0] * q[3] + t[1] * q[2] - t[2] * q[1]);
    d[1] = 0.5 * (t[1] * q[3] + t[2] * q[0] - t[0] * q[2]);
    d[2] = 0.5 * (t[2] * q[3] + t[0] * q[1] - t[1] * q[0]);
    d[3] = -0.5 * (t[0] * q[0] + t[1] * q[1] + t[2] * q[2]);
}

/*
 * q and -q are the same rotation, but have different sums. If the pose gives signs (skeleton_turns.c), or neighbours do
 * (frame_tree.c), they are kept: EXI_DUAL_KEPT is below all products of unit quaternions. Otherwise each rotation is
 * put on the side of a pivot, the heaviest influence. At half turns, a blend then has to choose a side; the choice must
 * not depend on the last bit, so products above EXI_DUAL_SIDE count as the same side, and the choice changes at 180.01
 * degrees.
 */
#define EXI_DUAL_SIDE (-1e-4f)
#define EXI_DUAL_KEPT (-4.0f)

/* Sums whose rotation has a squared length below this have cancelled: the pivot takes the place of the sum. With signs
 * of the pose, that takes two joints with the same weight a full turn apart; with sides, it cannot happen. */
#define EXI_DUAL_LEAST 1e-10f

/* sum += weight * dual, or -weight * dual if its product with the pivot is not above `least`. */
EXI_INLINE void exi_dual_add(const float dual[8], const float pivot[4], float least, double weight, double sum[8]) {
    double side = 0;
    for (int i = 0; i < 4; i++)
        side += (double)dual[i] * (double)pivot[i];
    if (!(side > (double)least))
        weight = -weight;
    for (int i = 0; i < 8; i++)
        sum[i] += weight * (double)dual[i];
}

/* Replaces a sum that has cancelled by the pivot. */
EXI_INLINE void exi_dual_settle(const float pivot[8], double sum[8]) {
    const double length_sq = sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2] + sum[3] * sum[3];
    for (int i = 0; i < 8 && !(length_sq > (double)EXI_DUAL_LEAST); i++)
        sum[i] = (double)pivot[i];
}

/* The matrix of a sum, after scaling its rotation to unit length. The part of d along q, which no rigid motion has,
 * cancels in the translation 2 d q*. */
EXI_INLINE void exi_dual_matrix(const double sum[8], double m[12]) {
    const double *q = sum, *d = sum + 4;
    double length_sq = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
    double s = 2.0 / length_sq;
    double xx = s * q[0] * q[0], yy = s * q[1] * q[1], zz = s * q[2] * q[2];
    double xy = s * q[0] * q[1], xz = s * q[0] * q[2], yz = s * q[1] * q[2];
    double xw = s * q[0] * q[3], yw = s * q[1] * q[3], zw = s * q[2] * q[3];
    m[0] = 1.0 - yy - zz;
    m[1] = xy - zw;
    m[2] = xz + yw;
    m[3] = s * (q[3] * d[0] - d[3] * q[0] + q[1] * d[2] - q[2] * d[1]);
    m[4] = xy + zw;
    m[5] = 1.0 - xx - zz;
    m[6] = yz - xw;
    m[7] = s * (q[3] * d[1] - d[3] * q[1] + q[2] * d[0] - q[0] * d[2]);
    m[8] = xz - yw;
    m[9] = yz + xw;
    m[10] = 1.0 - xx - yy;
    m[11] = s * (q[3] * d[2] - d[3] * q[2] + q[0] * d[1] - q[1] * d[0]);
}

#endif

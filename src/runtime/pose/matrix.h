/*
 * Matrices in double (matrix.inl), and what takes them apart.
 */
#ifndef EXI_MATRIX_H
#define EXI_MATRIX_H

#include "runtime/pose/matrix.inl"

#include <exemplar/pose.h>

/* out = m^-1; false where the determinant is below 1e-12 of the product of the rows' lengths. */
bool exi_matrix_invert(const double m[12], double out[12]);

/*
 * The linear part as R S, R a rotation and S symmetric: S stretches along perpendicular directions, R turns what comes
 * out. Where the matrix mirrors, the smallest stretch is negative. Always exists; where stretches vanish, R completes
 * what is left, and is the identity for a zero matrix.
 */
void exi_polar(const double m[12], double rotation[3][3], double stretch[3][3]);

#endif

/*
 * Matrices in double (matrix.inl): inversion and polar decomposition.
 */
#ifndef EXI_MATRIX_H
#define EXI_MATRIX_H

#include "runtime/pose/matrix.inl"

#include <exemplar/pose.h>

/* Computes out = m^-1. Returns false if the determinant is below 1e-12 of the product of the rows' lengths. */
bool exi_matrix_invert(const double m[12], double out[12]);

/*
 * Splits the linear part into R S, with R a rotation and S symmetric: S stretches along perpendicular directions, then
 * R turns the result. If the matrix mirrors, the smallest stretch is negative. Always exists; if stretches vanish, R
 * completes the remaining directions, and is the identity for a zero matrix.
 */
void exi_polar(const double m[12], double rotation[3][3], double stretch[3][3]);

#endif

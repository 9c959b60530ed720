/*
 * Matrices of three rows and four columns in double, the fourth column being the translation; rotations as matrices and
 * quaternions; and the polar decomposition that takes a joint's rotation and stretch apart.
 */
#ifndef EXI_MATRIX_H
#define EXI_MATRIX_H

#include <exemplar/pose.h>

/* Numbers beyond this are refused or read as rest: their products would leave what a float holds. */
#define EXI_MATRIX_MOST 1e30

/* The determinant of the linear part. */
double exi_matrix_determinant(const double m[12]);

/* out = a b. out may be a or b. */
void exi_matrix_multiply(const double a[12], const double b[12], double out[12]);

/* out = m^-1; false where the determinant is below 1e-12 of the product of the rows' lengths. */
bool exi_matrix_invert(const double m[12], double out[12]);

/* out = m x, the linear part alone; and with the translation. */
void exi_matrix_turn(const double m[12], const double x[3], double out[3]);
void exi_matrix_move(const double m[12], const double x[3], double out[3]);

/* Every number within +-EXI_MATRIX_MOST. */
bool exi_matrix_usable(const double m[12]);

void exi_matrix_from_floats(const float from[12], double m[12]);
/* Numbers that no float holds become the largest ones. */
void exi_matrix_to_floats(const double m[12], float to[12]);

/* Scale, unit quaternion, translation. */
void exi_matrix_compose(const double translation[3], const double q[4], const double scale[3], double m[12]);

/* The unit quaternion of a rotation, w not negative. */
void exi_quaternion_of(const double rotation[3][3], double q[4]);

/*
 * The linear part as R S, R a rotation and S symmetric: S stretches along perpendicular directions, R turns what comes
 * out. Where the matrix mirrors, the smallest stretch is negative. Always exists; where stretches vanish, R completes
 * what is left, and is the identity for a zero matrix.
 */
void exi_polar(const double m[12], double rotation[3][3], double stretch[3][3]);

#endif

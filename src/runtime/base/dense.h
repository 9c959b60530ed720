/*
 * Small dense solvers in double: linear systems with many right-hand sides, thin singular value decomposition,
 * condition number. Row-major. Matrices belong to the caller and are overwritten where stated. No allocation.
 */
#ifndef EXI_DENSE_H
#define EXI_DENSE_H

#include <stdbool.h>

/*
 * Solves A X = B by elimination with partial pivoting. system [n][n + m] holds A | B and is overwritten; X replaces B.
 * Returns the smallest pivot divided by the largest entry of A; 0 if A is singular to working precision (X is then
 * meaningless). About n^3/3 + n^2 m multiplications.
 */
double exi_solve(double *system, int n, int m);

/*
 * Solves A X = B for a symmetric positive definite A, by Cholesky's method. system [n][n + m] holds A | B, of which the
 * upper triangle of A is read; it is overwritten, and X replaces B. Returns false if A is not positive definite to
 * working precision. About n^3/6 + n^2 m multiplications.
 */
bool exi_solve_definite(double *system, int n, int m);

/*
 * Thin singular value decomposition A = U diag(s) V^T by one-sided Jacobi rotations, accurate for small singular values
 * too. columns [d][n] holds A's columns and becomes U's columns times s; v [d][d] holds V's columns as rows; s [d], not
 * sorted.
 */
void exi_svd(double *columns, int n, int d, double *v, double *s);

/*
 * Finds an orthonormal basis of A's columns faster than exi_svd, by Gram-Schmidt done twice. columns [d][n] becomes
 * that basis, and v [d][d] expresses it: basis i = sum over k of v[i][k] * column k. Returns false, with both
 * destroyed, if a column without its part along the earlier ones is shorter than a thousandth of the longest: use
 * exi_svd then.
 */
bool exi_orthonormalise(double *columns, int n, int d, double *v);

/* Returns |A|_1 |A^-1|_1 for a [n][n]; infinity if A is singular. work [n][2n]; its right half becomes A^-1. */
double exi_condition(const double *a, int n, double *work);

#endif

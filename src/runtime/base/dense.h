/*
 * Small dense solves in double: linear systems with many right-hand sides, thin singular value decomposition, condition
 * number. Row-major; matrices are the caller's and are overwritten where said. No allocation.
 */
#ifndef EXI_DENSE_H
#define EXI_DENSE_H

#include <stdbool.h>

/*
 * Solves A X = B by elimination with partial pivoting. system [n][n + m] holds A | B and is overwritten; X ends up
 * where B was. Returns the smallest pivot over the largest entry of A, 0 where A is singular to working precision (X is
 * then meaningless). About n^3/3 + n^2 m multiplications.
 */
double exi_solve(double *system, int n, int m);

/*
 * Thin singular value decomposition A = U diag(s) V^T by one-sided Jacobi rotations, accurate for small singular values
 * too. columns [d][n] holds A's columns and becomes U's columns times s; v [d][d] holds V's columns as rows; s [d], not
 * sorted.
 */
void exi_svd(double *columns, int n, int d, double *v, double *s);

/*
 * The quick way to an orthonormal basis of A's columns, by Gram-Schmidt done twice: columns [d][n] becomes that basis,
 * and v [d][d] says how it came about: basis i = sum over k of v[i][k] * column k. False, with both spoilt, where a
 * column beside those before it is shorter than a thousandth of the longest: that is work for exi_svd.
 */
bool exi_orthonormalise(double *columns, int n, int d, double *v);

/* |A|_1 |A^-1|_1 for a [n][n], with work [n][2n], whose right half then is A^-1; infinity where A is singular. */
double exi_condition(const double *a, int n, double *work);

#endif

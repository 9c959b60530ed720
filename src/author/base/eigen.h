/*
 * eigen.h - eigenvalues of small symmetric matrices; private to authoring.
 */
#ifndef EXEMPLAR_AUTHOR_BASE_EIGEN_H
#define EXEMPLAR_AUTHOR_BASE_EIGEN_H

/* Eigenvalues, falling, and eigenvectors as rows of a symmetric matrix [n][n], which is spoilt; by Jacobi's rotations.
 */
void exi_eigen(double *matrix, int n, double *values, double *vectors);

#endif

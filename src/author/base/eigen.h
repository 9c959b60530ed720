/*
 * eigen.h - eigenvalues of small symmetric matrices; private to authoring.
 */
#ifndef EXEMPLAR_AUTHOR_BASE_EIGEN_H
#define EXEMPLAR_AUTHOR_BASE_EIGEN_H

/* Computes the eigenvalues, descending, and the eigenvectors, as rows, of a symmetric matrix [n][n], which is
 * overwritten. Uses Jacobi rotations. */
void exi_eigen(double *matrix, int n, double *values, double *vectors);

#endif

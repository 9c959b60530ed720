/*
 * The plane under radial bases (cardinal.c, calm_solve.c): a constant, and slopes over the scalar axes.
 *
 * The plane is in coordinates relative to the points' mean and has minimum norm (vanishing singular values are left
 * out), so an axis that never varies gets no slope, the constant is reproduced, and weights sum to 1 everywhere.
 */
#ifndef EXI_PLANE_H
#define EXI_PLANE_H

#include "runtime/weigh/cardinal.inl"

/* An orthonormal basis of the centred scalar features, without the constant. If they are nearly dependent, it consists
 * of their left singular vectors that do not vanish. */
typedef struct exi_plane_basis {
    int rank;
    double *u;     /* [rank][n], of unit length */
    double *slope; /* [rank][s]: slopes over the features that give the values u at the points */
} exi_plane_basis;

/* Computes the mean of the points' scalar features, [s]. */
void exi_plane_mean(const ex_weigher *w, double *mean);
/* Returns the basis, of rank 0 for a weigher that is not linear. It is in work, exi_plane_work doubles. */
exi_plane_basis exi_plane_find(const ex_weigher *w, const double *mean, double *work);
size_t exi_plane_work(const ex_weigher *w);
/* Sets the plane of t: the constant row [m], and the slopes from coefficients of the basis [rank][m]. */
void exi_plane_set(const ex_weigher *w, const exi_cardinal *t, const exi_plane_basis *basis, const double *constant,
                   const double *coefficients);
/* Writes row j of F [m]: the required weights at point j. */
void exi_plane_row(const ex_weigher *w, int j, double *row);

#endif

/*
 * Parts of gradients of weights (gradient.c) that kinds share.
 */
#ifndef EXI_GRADIENT_H
#define EXI_GRADIENT_H

#include "runtime/weigh/weigher.h"

/* Returns the distance of a row of features from those of a point, and computes half of the derivatives of its square
 * by the features, [feature_count]. Unlike the distance itself, the square has no corner where the distance is 0. */
double exi_distance_slopes(const ex_weigher *w, const double *features, int point, double *half);
/* The same for one rotation, of `width` features, with no scale. */
double exi_rotation_slopes(const double *a, const double *b, int width, bool angular, double *half);

/* The derivative of a kernel by r, divided by r (kernels.inl). 0 at corners. */
double exi_kernel_slope(int kernel, double r);

/* rows[i][f] += weights[i] * factor * slopes[f], for m rows and `count` slopes. */
void exi_gradient_add(double *rows, size_t stride, const double *weights, int m, double factor, const double *slopes,
                      int count);
/* Adds share slopes of a point to the rows of all examples: that of an example is its own, that of a pseudo-example is
 * spread by its row. */
void exi_gradient_spread(const ex_weigher *w, int point, double factor, const double *slopes, double *rows,
                         size_t stride);
/* Sets the first feature_count numbers of all rows to 0. */
void exi_gradient_clear(const ex_weigher *w, double *rows, size_t stride);

/* True if the numbers of a point are the weights: derivatives are 0 or 1, and need no matrix. The next function gives
 * those along a direction [dimension] of the point. */
bool exi_weigher_passes(const ex_weigher *w);
void exi_weigher_pass_along(const ex_weigher *w, const double *point, const double *direction, double *along);

/* The derivatives of the weights in all sets along a direction [dimension] of the point; has_sets only. */
void exi_weigher_sets_along(const ex_weigher *w, const double *point, const double *direction, double *set_weights,
                            double *along);

#endif

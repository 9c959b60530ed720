/*
 * Parts of the calm weigher: evaluation without a bound, the bound, the solve, and edits. calm.inl has its kernel.
 */
#ifndef EXI_CALM_H
#define EXI_CALM_H

#include "runtime/weigh/weigher.h"

/* Computes the weights v at a row of features, before the bound is kept. */
void exi_calm_evaluate_free(const ex_weigher *w, const double *features, double *weights);
/* Changes weights [count] so that they keep the bound. Together with the remainder, 1 - (their sum), they still sum to
 * 1. */
void exi_calm_keep_bound(double *weights, int count, double bound);

/* weights [m] += rows [count][m] times their kernels [count]. */
void exi_calm_add_rows(double *restrict weights, const double *restrict rows, const double *restrict kernels, int count,
                       int m);

/* calm_solve.c. The share is the radius of rounding over the distance to the nearest other point, before any halving.
 */
double exi_calm_share(double overshoot);
ex_result exi_calm_solve(ex_weigher *w, const char *const *names, const ex_allocator *allocator, ex_error *error);
ex_result exi_calm_condition(const ex_weigher *w, const ex_allocator *allocator, double *condition, ex_error *error);

/* calm_edit.c: see resolve in weigher.h. */
ex_result exi_calm_resolve(ex_weigher *w, const ex_weigher *old, const int *origins, const ex_allocator *allocator,
                           bool *done, ex_error *error);

#endif

/*
 * Parts of the calm weigher: evaluation without a bound, the bound, and the solve. calm.inl has its kernel.
 */
#ifndef EXI_CALM_H
#define EXI_CALM_H

#include "runtime/weigh/weigher.h"

/* Computes the weights v at a row of features, before the bound is kept. */
void exi_calm_evaluate_free(const ex_weigher *w, const double *features, double *weights);
/* Changes weights [count] so that they keep the bound. Together with the remainder, 1 - (their sum), they still sum to
 * 1. */
void exi_calm_keep_bound(double *weights, int count, double bound);

/* calm_solve.c */
ex_result exi_calm_solve(ex_weigher *w, const char *const *names, const ex_allocator *allocator, ex_error *error);
ex_result exi_calm_condition(const ex_weigher *w, const ex_allocator *allocator, double *condition, ex_error *error);

#endif

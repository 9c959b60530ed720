/*
 * The gaussian weigher across its files: gaussian.inl has its tables and its kernel.
 */
#ifndef EXI_GAUSSIAN_H
#define EXI_GAUSSIAN_H

#include "runtime/weigh/gaussian.inl"
#include "runtime/weigh/weigher.h"

/* gaussian_solve.c: solves the kind's systems. */
ex_result exi_gaussian_solve(ex_weigher *w, const char *const *names, const ex_allocator *allocator, ex_error *error);
void exi_gaussian_draw_sets(ex_weigher *w, int pseudo, const double *set_weights);
ex_result exi_gaussian_condition(const ex_weigher *w, const ex_allocator *allocator, double *condition,
                                 ex_error *error);

#endif

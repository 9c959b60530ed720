/*
 * The gaussian weigher across its files: gaussian.inl has its tables and its kernel.
 */
#ifndef EXI_GAUSSIAN_H
#define EXI_GAUSSIAN_H

#include "runtime/weigh/gaussian.inl"
#include "runtime/weigh/weigher.h"

/* gaussian_solve.c: the kind's solve. */
ex_result exi_gaussian_solve(ex_weigher *w, const char *const *names, const ex_allocator *allocator, ex_error *error);

#endif

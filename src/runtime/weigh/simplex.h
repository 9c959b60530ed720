/*
 * The quadratic program that a convex weigher solves every frame: minimise 1/2 w'Hw + h'w over weights that are not
 * negative and sum to 1. Small and dense, usually with the same few examples from frame to frame. Tests compare it with
 * the general solver, base/quadratic.h.
 */
#ifndef EXI_SIMPLEX_H
#define EXI_SIMPLEX_H

#include <stddef.h>
#include <stdint.h>

typedef struct exi_simplex {
    int count;            /* n, the number of weights, at least 1 */
    size_t stride;        /* numbers from row to row, at least n */
    const double *matrix; /* H: [n][stride], symmetric, positive definite */
} exi_simplex;

/* Returns the bytes of scratch for n weights of which at most `room` are above 0 at once. */
size_t exi_simplex_scratch_size(int count, int room);

/*
 * Computes the weights [n] for the linear term h [n], which may be the same array; all numbers finite. At most `room`
 * weights (at least 1) end up above 0: with room for n the result is the optimum. support [(n + 31) / 32]: on input,
 * the weights to start with, any bits; on output, those above 0; NULL for none. The result does not depend on it: if
 * the answer is not clear-cut, the search starts again without it. scratch: exi_simplex_scratch_size bytes, aligned to
 * 8. Weights are exactly 0 or above, and sum to 1 within rounding. Returns the number of steps. Cost with a correct
 * start of s weights: s^3/6 + s n multiplications.
 */
int exi_simplex_solve(const exi_simplex *problem, const double *linear, int room, uint32_t *support, void *scratch,
                      double *weights);

#endif

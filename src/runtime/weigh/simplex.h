/*
 * The quadratic program that a convex weigher solves every frame: the least of 1/2 w'Hw + h'w over the weights that are
 * not negative and sum to 1. Small, dense, usually the same few examples from frame to frame; base/quadratic.h is the
 * general program, and what this one is tested against.
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

/* Bytes of scratch memory for n weights of which at most `room` are above 0 at once. */
size_t exi_simplex_scratch_size(int count, int room);

/*
 * Weights [n] for the linear term h [n], which may be the same array; all numbers finite. No more than `room` weights
 * (at least 1) end up above 0: with room for n the result is the optimum. support [(n + 31) / 32]: in, the weights to
 * start with, whatever it holds; out, those above 0; NULL for none. The result does not depend on it: where the answer
 * is not clear-cut it is found from the beginning. scratch: exi_simplex_scratch_size bytes, aligned to 8. Weights are 0
 * or above, exactly, and sum to 1 within rounding. Returns the number of steps. Cost with a right start of s weights:
 * s^3/6 + s n multiplications.
 */
int exi_simplex_solve(const exi_simplex *problem, const double *linear, int room, uint32_t *support, void *scratch,
                      double *weights);

#endif

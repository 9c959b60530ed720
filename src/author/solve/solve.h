/*
 * solve.h - sparse linear systems with a symmetric positive definite matrix: a direct solver (A = L L^T in an order
 * that keeps L sparse) for what is solved many times with one matrix, and conjugate gradients for matrices that are
 * only applied. Private to authoring.
 *
 * A factor is made and refilled by one thread at a time; solving changes nothing in it, so that several threads may
 * solve with one factor at once, each with work memory of its own. Results depend on the input alone, bit for bit.
 */
#ifndef EXEMPLAR_AUTHOR_SOLVE_SOLVE_H
#define EXEMPLAR_AUTHOR_SOLVE_SOLVE_H

#include <exemplar/author/base.h>

/*
 * The lower triangle of a symmetric matrix, by columns; all arrays are the caller's. Column j holds entries starts[j]
 * to starts[j + 1]: the first is the diagonal (row j), which is there even where it is 0; rows rise.
 */
typedef struct exi_symmetric {
    int n;
    const int *starts;    /* [n + 1], from 0 */
    const int *rows;      /* [starts[n]] */
    const double *values; /* [starts[n]] */
} exi_symmetric;

/* y = A x, for x and y [n][width]; about 2 width operations an entry of the triangle and its mirror. */
void exi_symmetric_apply(const exi_symmetric *a, int width, const double *x, double *y);

typedef struct exi_factor exi_factor;

/*
 * Orders, analyses and factorises; a is not needed afterwards. progress may be NULL. On a 2-manifold mesh of n vertices
 * L has about 4 n log2 n entries, and the work grows as n^1.7.
 * EX_ERROR_SINGULAR: A is not positive definite to working precision; the sentence names the row at which that shows
 * first: elimination leaves less than 4 n DBL_EPSILON of its diagonal entry. (Of the Laplacian of a torus that is held
 * nowhere, -0.65 n DBL_EPSILON were left at the last row, for n from 600 to 500 thousand.) EX_ERROR_DATA: an entry is
 * not finite; EX_ERROR_ARGUMENT: the arrays are not what exi_symmetric says; EX_ERROR_LIMIT: more entries than can be
 * counted; EX_ERROR_MEMORY. *factor is NULL then.
 */
ex_result exi_factor_create(const exi_symmetric *a, const ex_progress *progress, exi_factor **factor, ex_error *error);

/*
 * Factorises other values [starts[n]] on the same pattern; allocates nothing. EX_ERROR_SINGULAR or EX_ERROR_DATA: the
 * factor then holds nothing to solve with, until another call succeeds.
 */
ex_result exi_factor_refactor(exi_factor *factor, const double *values, const ex_progress *progress, ex_error *error);

/* NULL is allowed. */
void exi_factor_destroy(exi_factor *factor);

/* The bytes of work that a solve needs: 32 a row. */
size_t exi_factor_work_size(const exi_factor *factor);

/*
 * Solves A x = b in place: x [n][3] holds three right-hand sides, interleaved, and becomes the three solutions. work is
 * the caller's, of exi_factor_work_size bytes. Reads L twice and does 12 operations an entry; allocates nothing.
 */
void exi_factor_solve(const exi_factor *factor, double *x, double *work);

/* The same for one right-hand side [n]. */
void exi_factor_solve_1(const exi_factor *factor, double *x, double *work);

typedef struct exi_factor_info {
    int n;
    int supernode_count;
    size_t entry_count; /* of L, with the zeros that joining columns to supernodes brought in */
    double operations;  /* additions and multiplications of a factorisation */
    size_t bytes;       /* that the factor holds */
} exi_factor_info;

exi_factor_info exi_factor_stats(const exi_factor *factor);

/* ---- conjugate gradients ---- */

typedef struct exi_cg_def {
    int n;
    void (*apply)(void *user, const double *x, double *y);        /* y = A x */
    void (*precondition)(void *user, const double *r, double *z); /* z = M^-1 r, M positive definite; or NULL: z = r */
    void *user;
    double tolerance;   /* of |b - A x| / |b| */
    int iteration_most; /* at least 0 */
} exi_cg_def;

typedef struct exi_cg_result {
    bool converged;
    int iteration_count;
    double residual; /* |b - A x| / |b|, as the recurrence has it; 0 where b is 0, and x too then */
} exi_cg_result;

/* Bytes of work memory for n unknowns. */
size_t exi_cg_work_size(int n);

/*
 * Solves A x = b, A positive definite: x [n] holds a first guess and becomes the solution; work is the caller's. Stops
 * without convergence at the limit, or where p^T A p is not positive: A or M is not definite, or holds no more digits.
 */
exi_cg_result exi_cg(const exi_cg_def *def, const double *b, double *x, double *work);

#endif

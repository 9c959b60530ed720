/*
 * solve.h - sparse linear systems with a symmetric positive definite matrix: a direct solver (A = L L^T in an order
 * that keeps L sparse) for solving many times with one matrix, and conjugate gradients for matrices known only by their
 * products. Private to authoring.
 *
 * Create and refill a factor from one thread at a time. Solving does not change it, so that several threads may solve
 * with one factor at once, each with separate work memory. Results depend only on the input, bit for bit.
 */
#ifndef EXEMPLAR_AUTHOR_SOLVE_SOLVE_H
#define EXEMPLAR_AUTHOR_SOLVE_SOLVE_H

#include <exemplar/author/base.h>

/*
 * The lower triangle of a symmetric matrix, by columns; the caller owns all arrays. Column j holds entries starts[j] to
 * starts[j + 1] - 1: the first is the diagonal (row j), which is present even if it is 0; rows ascend.
 */
typedef struct exi_symmetric {
    int n;
    const int *starts;    /* [n + 1], from 0 */
    const int *rows;      /* [starts[n]] */
    const double *values; /* [starts[n]] */
} exi_symmetric;

/* y = A x, for x and y [n][width]; about 2 width operations per entry of the triangle and its mirror image. */
void exi_symmetric_apply(const exi_symmetric *a, int width, const double *x, double *y);

typedef struct exi_factor exi_factor;

/*
 * Orders, analyses and factorises; a is not needed afterwards. progress may be NULL. On a 2-manifold mesh of n vertices
 * L has about 4 n log2 n entries, and the work grows as n^1.7.
 *
 * EX_ERROR_SINGULAR: A is not positive definite to working precision; the sentence names the first row at which that
 * shows: elimination leaves less than 4 n DBL_EPSILON of its diagonal entry. (For the Laplacian of a torus without
 * constraints, -0.65 n DBL_EPSILON were left at the last row, for n from 600 to 500 thousand.) EX_ERROR_DATA: an entry
 * is not finite; EX_ERROR_ARGUMENT: the arrays are not as exi_symmetric requires; EX_ERROR_LIMIT: too many entries to
 * count; EX_ERROR_MEMORY. *factor is NULL then.
 */
ex_result exi_factor_create(const exi_symmetric *a, const ex_progress *progress, exi_factor **factor, ex_error *error);

/*
 * Factorises other values [starts[n]] of the same pattern; allocates nothing. After EX_ERROR_SINGULAR or EX_ERROR_DATA
 * the factor cannot be used to solve until another call succeeds.
 */
ex_result exi_factor_refactor(exi_factor *factor, const double *values, const ex_progress *progress, ex_error *error);

/* NULL is allowed. */
void exi_factor_destroy(exi_factor *factor);

/* Returns the bytes of work memory that a solve needs: 32 per row. */
size_t exi_factor_work_size(const exi_factor *factor);

/*
 * Solves A x = b in place: x [n][3] holds three right-hand sides, interleaved, and becomes the three solutions. work is
 * the caller's, of exi_factor_work_size bytes. Reads L twice and does 12 operations per entry; allocates nothing.
 */
void exi_factor_solve(const exi_factor *factor, double *x, double *work);

/* The same for `count` times three right-hand sides: x and work [count]. Reads L twice for all of them,
 * and gives each the same bits as alone. */
void exi_factor_solve_several(const exi_factor *factor, int count, double *const *x, double *const *work);

/* The same for one right-hand side [n]. */
void exi_factor_solve_1(const exi_factor *factor, double *x, double *work);

typedef struct exi_factor_info {
    int n;
    int supernode_count;
    size_t entry_count; /* of L, including the zeros from joining columns to supernodes */
    double operations;  /* additions and multiplications of a factorisation */
    size_t bytes;       /* held by the factor */
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
    double residual; /* |b - A x| / |b|, by the recurrence; 0 if b is 0, and then x is 0 too */
} exi_cg_result;

/* Bytes of work memory for n unknowns. */
size_t exi_cg_work_size(int n);

/*
 * Solves A x = b, A positive definite: x [n] holds a first guess and becomes the solution; work is the caller's. Stops
 * without convergence at the limit, or if p^T A p is not positive: A or M is not definite, or precision is exhausted.
 */
exi_cg_result exi_cg(const exi_cg_def *def, const double *b, double *x, double *work);

#endif

/*
 * General convex quadratic programs: minimise 1/2 x'Gx + g'x subject to equalities, two-sided inequalities and bounds.
 * Dense, in double, for up to a few hundred unknowns; no allocation. The program that is solved every frame, with one
 * row (the simplex), has its own solver (weigh/simplex.h).
 */
#ifndef EXI_QUADRATIC_H
#define EXI_QUADRATIC_H

#include <stddef.h>

typedef enum exi_quadratic_result {
    EXI_QUADRATIC_SOLVED,
    EXI_QUADRATIC_INFEASIBLE, /* no x satisfies the constraints */
    EXI_QUADRATIC_UNBOUNDED,  /* the objective decreases without bound */
    EXI_QUADRATIC_LIMIT       /* the iterations ran out, or rounding leaves too large a residual */
} exi_quadratic_result;

/* A program with n unknowns. Constraints are numbered: equalities, inequalities, bounds. A side beyond +-1e20 is no
 * constraint. */
typedef struct exi_quadratic {
    int unknown_count, equality_count, inequality_count;
    const double *matrix;                    /* G: [n][n], symmetric, positive semi-definite */
    const double *linear;                    /* g: [n] */
    const double *equalities;                /* [equality_count][n] */
    const double *equality_values;           /* [equality_count] */
    const double *inequalities;              /* [inequality_count][n] */
    const double *lower, *upper;             /* [inequality_count]; NULL for none */
    const double *bound_lower, *bound_upper; /* [n]; NULL for none */
} exi_quadratic;

/* Report on a solution. Residuals are those of the original program, whatever was added to G: the distance of the
 * gradient from a sum of the active constraints' normals, relative to its parts; and the largest violation of a
 * constraint, relative to its value and |x|, per unit of its normal. */
typedef struct exi_quadratic_info {
    double objective, stationarity, violation;
    int iterations; /* number of constraints added and removed */
    int rounds;     /* rounds of the proximal iteration; 1 if G is definite */
} exi_quadratic_info;

size_t exi_quadratic_scratch_size(const exi_quadratic *program);

/*
 * Solves a program for x [n]. active [n] and active_count: on input, constraints to start with (any, 0 for none); on
 * output, those that hold with equality: number + 1 if it holds from below or is an equality, -(number + 1) if from
 * above. scratch: exi_quadratic_scratch_size bytes, aligned to 8. info may be NULL. Solved means residuals of at most
 * 1e-10.
 */
exi_quadratic_result exi_quadratic_solve(const exi_quadratic *program, double *x, int *active, int *active_count,
                                         void *scratch, exi_quadratic_info *info);

#endif

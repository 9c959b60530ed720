/*
 * Convex quadratic programs in general: the least of 1/2 x'Gx + g'x where equalities, inequalities from both sides and
 * bounds hold. Dense, in double, for up to some hundred unknowns; no allocation. A program of one row, the simplex,
 * that is solved every frame has a solver of its own (weigh/simplex.h).
 */
#ifndef EXI_QUADRATIC_H
#define EXI_QUADRATIC_H

#include <stddef.h>

typedef enum exi_quadratic_result {
    EXI_QUADRATIC_SOLVED,
    EXI_QUADRATIC_INFEASIBLE, /* no x satisfies the constraints */
    EXI_QUADRATIC_UNBOUNDED,  /* the objective falls without end */
    EXI_QUADRATIC_LIMIT       /* the iterations ran out, or rounding leaves a larger residual than wanted */
} exi_quadratic_result;

/* n unknowns; constraints are numbered: equalities, inequalities, bounds. Infinite sides (beyond 1e20 either way) are
 * none. */
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

/* What came out. Residuals are those of the true program, whatever was added to G on the way: how far the gradient is
 * from a sum of the active constraints' normals, relative to its parts; and how far any constraint is violated,
 * relative to its value and |x|, per unit of its normal. */
typedef struct exi_quadratic_info {
    double objective, stationarity, violation;
    int iterations; /* constraints taken in and out */
    int rounds;     /* of the proximal iteration; 1 where G is definite */
} exi_quadratic_info;

size_t exi_quadratic_scratch_size(const exi_quadratic *program);

/*
 * x [n]. active [n] and active_count: in, constraints to start with (any, 0 for none); out, those that hold with
 * equality: number + 1 where it is from below or an equality, -(number + 1) where from above. scratch:
 * exi_quadratic_scratch_size bytes, aligned to 8. info may be NULL. Solved means residuals of at most 1e-10.
 */
exi_quadratic_result exi_quadratic_solve(const exi_quadratic *program, double *x, int *active, int *active_count,
                                         void *scratch, exi_quadratic_info *info);

#endif

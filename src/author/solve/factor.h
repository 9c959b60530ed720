/*
 * factor.h - shared by the files of the direct solver; private to src/author/solve.
 *
 *   order.c         an order of the rows that keeps L sparse, and the elimination tree
 *   supernodes.c    columns of L of (nearly) the same pattern, joined; the rows of each; targets of A's entries
 *   panel_kernel.c  dense kernels on the values of a supernode
 *   factor.c        the factorisation, and the function that runs all steps
 *   factor_solve_kernel.c  forward and back substitution
 *   factor_solve.c  the same for right-hand sides in any order
 *
 * All sets of x86-64 give the same bits: nothing is fused, and each sum has one order.
 *
 * A supernode is a run of columns of L that are stored together as one dense panel [columns][rows], column by column:
 * first the rows of its own columns (a triangle, whose other half is never read), then the rows below.
 */
#ifndef EXEMPLAR_AUTHOR_SOLVE_FACTOR_H
#define EXEMPLAR_AUTHOR_SOLVE_FACTOR_H

#include "author/solve/solve.h"

/* Results of the symbolic analysis: everything that follows from the pattern alone. By exi_array_allocate. */
typedef struct exi_elimination {
    int n;
    int *order;   /* [n] the row of A that is eliminated k-th */
    int *places;  /* [n] step at which a row of A is eliminated */
    int *parents; /* [n] parents in the elimination tree: the first row below the diagonal in a column of L; -1: none */
    int *starts;  /* [n + 1] A's rows in that order, left of the diagonal: */
    int *columns; /* [starts[n]] */
} exi_elimination;

ex_result exi_eliminate(const exi_symmetric *a, exi_elimination *e, ex_error *error);
void exi_elimination_free(exi_elimination *e);

struct exi_factor {
    int n;
    int supernode_count;
    int entry_count;      /* of A's lower triangle */
    int *order;           /* [n] */
    int *firsts;          /* [supernode_count + 1] first column of each */
    size_t *row_starts;   /* [supernode_count + 1] offsets into rows */
    int *rows;            /* rows below each supernode's own columns, ascending */
    size_t *value_starts; /* [supernode_count + 1] offsets of the panels in values */
    double *values;       /* the diagonal holds 1 / L_jj */
    size_t *targets;      /* [entry_count] index in values of each entry of A */
    int *diagonals;       /* [n] indices of diagonal entries of A */
    double *floors;       /* [n] lower bounds of pivots */
    /* While factorising: */
    int *supernodes; /* [n] supernode of each column */
    int *local;      /* [n] index of a row in the present panel */
    int *list;       /* [supernode_count] first of the supernodes that contribute to the next row of this one */
    int *next;       /* [supernode_count] next one in the same list */
    int *reached;    /* [supernode_count] number of rows below that are done */
    int *landing;    /* [most rows of a supernode] */
    double *packed;  /* [EXI_PACKED] */
    size_t bytes;
    size_t held; /* entries of L, see exi_factor_info */
    double operations;
    bool good; /* true if there are values to solve with */
};

/* Builds the supernodes of L, in one block with room for everything that factorising needs. */
ex_result exi_supernodes(const exi_symmetric *a, const exi_elimination *e, exi_factor **factor, ex_error *error);

/* ---- panels ---- */

/* Number of a supernode's own columns (and rows), and of rows of its panel. */
static inline int exi_column_count(const exi_factor *f, int s) {
    return f->firsts[s + 1] - f->firsts[s];
}
static inline int exi_below_count(const exi_factor *f, int s) {
    return (int)(f->row_starts[s + 1] - f->row_starts[s]);
}

/* Kernels process eight rows at a time; they may read, but never write, that many values past a panel. */
enum { EXI_ROWS_AT_ONCE = 8, EXI_PACK_DEPTH = 256, EXI_PACK_WIDTH = 128 };
#define EXI_PACKED (EXI_PACK_DEPTH * (EXI_PACK_WIDTH + EXI_ROWS_AT_ONCE))

/*
 * C -= A B^T for A [depth][m] with lda values between columns, B the first k rows of A. Column q of C begins at
 * c + columns[q] * ldc, and its row i is landing[i] further; what lands above C's diagonal is meaningless. columns
 * NULL: q; landing NULL: i. packed [EXI_PACKED].
 */
typedef struct exi_panel_product {
    int m, k, depth;
    const double *a;
    size_t lda;
    double *c;
    size_t ldc;
    const int *columns, *landing;
    double *packed;
} exi_panel_product;
void exi_panel_subtract(const exi_panel_product *p);

/* Factorises a panel of m rows and k columns in place. floors [k]: lower bounds of pivots. Returns the column whose
 * pivot is too small, or -1. */
int exi_panel_factorise(double *panel, int m, int k, const double *floors, double *packed);

/* Forward and back substitution of y [count][n][4], or [n], in the order of elimination. */
void exi_factor_substitute(const exi_factor *f, double *const *y, int count);
void exi_factor_substitute_1(const exi_factor *f, double *y);

#endif

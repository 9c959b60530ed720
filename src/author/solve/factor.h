/*
 * factor.h - what the files of the direct solver share; private to src/author/solve.
 *
 *   order.c         an order of the rows that keeps L sparse, and the elimination tree
 *   supernodes.c    columns of L of (nearly) one pattern, joined; the rows of each; where A's entries go
 *   panel.c         dense kernels on the values of a supernode
 *   factor.c        the factorisation, and the way through all of them
 *   factor_solve.c  forward and back substitution
 *
 * A supernode is a run of columns of L that are stored together as one dense panel [columns][rows], rows running
 * fastest: first the rows of its own columns (a triangle, whose other half is never read), then the rows below.
 */
#ifndef EXEMPLAR_AUTHOR_SOLVE_FACTOR_H
#define EXEMPLAR_AUTHOR_SOLVE_FACTOR_H

#include "author/solve/solve.h"

/* What the pattern decides before anything is known about L. By exi_array_allocate. */
typedef struct exi_elimination {
    int n;
    int *order;   /* [n] the row of A that is eliminated k-th */
    int *places;  /* [n] when a row of A is eliminated */
    int *parents; /* [n] of the elimination tree: the first row below the diagonal in a column of L; -1: none */
    int *starts;  /* [n + 1] of A's rows in that order, left of the diagonal: */
    int *columns; /* [starts[n]] */
} exi_elimination;

ex_result exi_eliminate(const exi_symmetric *a, exi_elimination *e, ex_error *error);
void exi_elimination_free(exi_elimination *e);

struct exi_factor {
    int n;
    int supernode_count;
    int entry_count;      /* of A's triangle */
    int *order;           /* [n] */
    int *firsts;          /* [supernode_count + 1] first column of each */
    size_t *row_starts;   /* [supernode_count + 1] into rows */
    int *rows;            /* those below each supernode's own columns, rising */
    size_t *value_starts; /* [supernode_count + 1] into values: the panels */
    double *values;       /* the diagonal holds 1 / L_jj */
    size_t *targets;      /* [entry_count] where an entry of A goes in values */
    int *diagonals;       /* [n] entries of A */
    double *floors;       /* [n] what pivots have to exceed */
    /* While factorising: */
    int *supernodes; /* [n] of each column */
    int *local;      /* [n] where a row stands in the panel at work */
    int *list;       /* [supernode_count] first of the supernodes that go into the next row of this one */
    int *next;       /* [supernode_count] the others of the same list */
    int *reached;    /* [supernode_count] rows below that have been dealt with */
    int *landing;    /* [most rows of a supernode] */
    double *packed;  /* [EXI_PACKED] */
    size_t bytes;
    size_t held; /* entries of L, see exi_factor_info */
    double operations;
    bool good; /* there are values to solve with */
};

/* The supernodes of L, in one block with room for all that factorising takes. */
ex_result exi_supernodes(const exi_symmetric *a, const exi_elimination *e, exi_factor **factor, ex_error *error);

/* ---- panels ---- */

/* Rows and columns of a supernode's own, rows of its panel. */
static inline int exi_column_count(const exi_factor *f, int s) {
    return f->firsts[s + 1] - f->firsts[s];
}
static inline int exi_below_count(const exi_factor *f, int s) {
    return (int)(f->row_starts[s + 1] - f->row_starts[s]);
}

/* Kernels take rows eight at a time and may read, never write, so many values behind a panel. */
enum { EXI_ROWS_AT_ONCE = 8, EXI_COLUMNS_AT_ONCE = 4, EXI_PACK_DEPTH = 256, EXI_PACK_WIDTH = 128 };
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

/* L of a panel of m rows and k columns, in place. floors [k]: what pivots have to exceed. Returns the column whose
 * pivot is too small, or -1. */
int exi_panel_factorise(double *panel, int m, int k, const double *floors, double *packed);

#endif

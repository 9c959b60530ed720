/* matrices.h - sparse symmetric matrices for tests: graph Laplacians, and conversions from and to dense ones. */
#ifndef EXEMPLAR_TESTS_MATRICES_H
#define EXEMPLAR_TESTS_MATRICES_H

#include "author/solve/solve.h"

/* A matrix that owns its memory; view is the solver's input. */
typedef struct matrix {
    exi_symmetric view;
    int *starts, *rows;
    double *values;
} matrix;

/* The lower triangle of a dense matrix [n][n], without its zeros off the diagonal. */
matrix matrix_from_dense(const double *dense, int n);

/* The Laplacian of a graph with weighted edges, and `ground` added to the diagonal of vertex 0. An edge may occur
 * twice; shuffle: vertices are numbered at random, except vertex 0. */
typedef struct graph {
    int n, edge_count;
    int (*edges)[2];
    double *weights;
} graph;
matrix matrix_from_graph(const graph *g, double ground, bool shuffle);
void graph_free(graph *g);

/* Triangles over a rectangle, split along one diagonal; and a sphere of rings and segments closed by two poles. Weights
 * are between 0.5 and 1.5. */
graph graph_grid(int width, int height);
graph graph_sphere(int rings, int segments);

void matrix_free(matrix *m);

/* Dense [n][n], caller frees. */
double *matrix_to_dense(const matrix *m);

/* The largest |b - A x|, relative to what rounding may leave: the largest |b| plus the largest row sum of |A| times the
 * largest |x|. x, b [n][width]. */
double matrix_residual(const matrix *m, int width, const double *x, const double *b);

/* [count] numbers between -1 and 1, caller frees. */
double *random_numbers(int count, uint64_t seed);

#endif

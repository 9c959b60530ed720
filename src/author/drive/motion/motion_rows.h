/*
 * motion_rows.h - rows of numbers and their principal directions. Private to authoring.
 */
#ifndef EXEMPLAR_AUTHOR_DRIVE_MOTION_MOTION_ROWS_H
#define EXEMPLAR_AUTHOR_DRIVE_MOTION_MOTION_ROWS_H

#include <exemplar/base.h>
#include <stddef.h>

/* Rows that are made one by one. get: the row, centred, in `room` or elsewhere; called by one thread. */
typedef struct exi_motion_rows {
    size_t count, length;
    const float *(*get)(const void *user, size_t row, float *room);
    const void *user;
} exi_motion_rows;

/* Rows of a table, minus a mean. */
typedef struct exi_motion_table {
    const float *data, *mean; /* [rows][length], [length] */
    size_t length;
} exi_motion_table;
exi_motion_rows exi_motion_rows_of(const exi_motion_table *table, size_t count);

/* Called with the part that is done, now and then; may ask to stop by returning false. */
typedef struct exi_motion_watch {
    bool (*go_on)(void *user, double part);
    void *user;
} exi_motion_watch;

/* Finds `count` orthonormal rows [count][length] that span the directions of most variance of the rows, by subspace
 * iteration. watch and tasks are optional. The result does not depend on tasks. Returns false without memory, and if
 * stopped. */
bool exi_motion_principal_rows(const exi_motion_rows *rows, int iterations, int count, float *basis,
                               const exi_motion_watch *watch, const ex_tasks *tasks);
/* The same for rows of data minus mean, with the usual number of iterations. */
bool exi_motion_principal(const float *data, size_t rows, size_t length, const float *mean, int count, float *basis,
                          const exi_motion_watch *watch);
/* Makes rows orthonormal by Gram-Schmidt done twice; rows that depend on earlier ones become 0. */
void exi_motion_orthonormal(float *rows, int count, size_t length);
/* Sum of products. */
double exi_motion_dot(const float *a, const float *b, size_t count);
/* Adds a multiple of a row. */
void exi_motion_add(float *to, const float *row, double factor, size_t count);
/* Products of a row with all rows of a basis, products [rows]. */
void exi_motion_project(const float *basis, size_t rows, const float *row, size_t length, double *products,
                        const ex_tasks *tasks);
/* Eigenvectors of a symmetric matrix [n][n], as rows of vectors; it becomes diagonal. */
void exi_motion_diagonalise(double *matrix, int n, double *vectors);
/* Turns rows so that their coefficients, whose products [count][count] are given, are uncorrelated and fall in size;
 * coefficients [frames][count] are turned alike. False without memory. */
bool exi_motion_align(double *products, int count, float *rows, size_t length, double *coefficients, size_t frames);

#endif

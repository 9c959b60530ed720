/*
 * Factors of the active constraints in a dual active-set method (Goldfarb and Idnani: A numerically stable dual method
 * for solving strictly convex quadratic programs, 1983): with the matrix H = L L' and the active constraints' normals
 * as columns of N, a square matrix J = [J1 J2] and a triangle R with
 *
 *   J'HJ = 1,   J1'N = R,   J2'N = 0
 *
 * so that J2 spans the directions along which no active constraint changes.
 */
#ifndef EXI_QUADRATIC_FACTOR_H
#define EXI_QUADRATIC_FACTOR_H

#include <stdbool.h>
#include <stddef.h>

typedef struct exi_active_factor {
    int n, count;      /* unknowns; active constraints, at most n */
    double *columns;   /* J's columns, as rows: [n][n] */
    double *triangle;  /* R's columns, one after the other, i + 1 numbers in column i */
    double *direction; /* [n]: J'a of the last constraint passed to exi_active_factor_look */
} exi_active_factor;

/* Returns the number of doubles in a factor of n unknowns. */
size_t exi_active_factor_size(int n);
void exi_active_factor_open(exi_active_factor *f, int n, double *memory);

/* Starts without active constraints, for H [n][n] plus `ridge` on its diagonal. Returns false if a pivot is below
 * `least` times its diagonal entry. */
bool exi_active_factor_begin(exi_active_factor *f, const double *matrix, double ridge, double least);

/* Prepares a constraint with normal a [n]: sets direction, and returns |J2'a|^2 / |J'a|^2, which is 0 if a depends on
 * the active constraints. */
double exi_active_factor_look(exi_active_factor *f, const double *normal);
/* Computes step [n] = J2 J2'a, the direction of x, and rates [count] = R^-1 J1'a, the rates at which multipliers
 * fall. */
void exi_active_factor_step(const exi_active_factor *f, double *step, double *rates);
/* Add the constraint that was prepared last; remove active constraint k. */
void exi_active_factor_add(exi_active_factor *f);
void exi_active_factor_drop(exi_active_factor *f, int k);

/* Solves H dx - N du = a, N'dx = b: adds dx to x [n] and du to u [count]. b [count] and a [n] are overwritten. */
void exi_active_factor_correct(const exi_active_factor *f, double *a, double *b, double *x, double *u);

#endif

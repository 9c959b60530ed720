/*
 * matrix.h - 3x3 matrices as nine numbers, row by row, for loops over many of them; private to authoring.
 */
#ifndef EXEMPLAR_AUTHOR_TRAJECTORY_MATRIX_H
#define EXEMPLAR_AUTHOR_TRAJECTORY_MATRIX_H

#include <math.h>
#include <string.h>

#include "runtime/base/vector.h"

/* y += s m x */
static inline void exi_m3_add(const double m[9], const double x[3], double s, double y[3]) {
    for (int i = 0; i < 3; i++)
        y[i] += s * (m[3 * i] * x[0] + m[3 * i + 1] * x[1] + m[3 * i + 2] * x[2]);
}

/* y += s m^T x */
static inline void exi_m3_add_transposed(const double m[9], const double x[3], double s, double y[3]) {
    for (int i = 0; i < 3; i++)
        y[i] += s * (m[i] * x[0] + m[3 + i] * x[1] + m[6 + i] * x[2]);
}

/* c += s a b */
static inline void exi_m3_multiply(const double a[9], const double b[9], double s, double c[9]) {
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            c[3 * i + j] += s * (a[3 * i] * b[j] + a[3 * i + 1] * b[3 + j] + a[3 * i + 2] * b[6 + j]);
}

/* c += s a^T b */
static inline void exi_m3_multiply_transposed(const double a[9], const double b[9], double s, double c[9]) {
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            c[3 * i + j] += s * (a[i] * b[j] + a[3 + i] * b[3 + j] + a[6 + i] * b[6 + j]);
}

/* y = m x, m symmetric as xx yy zz xy xz yz */
static inline void exi_s3_apply(const double m[6], const double x[3], double y[3]) {
    double a = m[0] * x[0] + m[3] * x[1] + m[4] * x[2], b = m[3] * x[0] + m[1] * x[1] + m[5] * x[2];
    y[2] = m[4] * x[0] + m[5] * x[1] + m[2] * x[2];
    y[0] = a;
    y[1] = b;
}

/* Inverts m by cofactors; zero if m is singular. */
static inline void exi_m3_invert(const double m[9], double inverse[9]) {
    double c[9] = {m[4] * m[8] - m[5] * m[7], m[2] * m[7] - m[1] * m[8], m[1] * m[5] - m[2] * m[4],
                   m[5] * m[6] - m[3] * m[8], m[0] * m[8] - m[2] * m[6], m[2] * m[3] - m[0] * m[5],
                   m[3] * m[7] - m[4] * m[6], m[1] * m[6] - m[0] * m[7], m[0] * m[4] - m[1] * m[3]};
    double determinant = m[0] * c[0] + m[1] * c[3] + m[2] * c[6];
    for (int k = 0; k < 9; k++)
        inverse[k] = determinant != 0 ? c[k] / determinant : 0;
}

#endif

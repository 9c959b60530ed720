/*
 * J^T J of a dense matrix of derivatives; and the Cholesky factor of a dense symmetric matrix, A = U^T U, in place in
 * the upper triangle, rows first. Four pivots at a time, so that the rest of the matrix is read and written a quarter
 * as often. Sums run in a fixed order.
 */
#include "author/scan/fit/fit.h"

#include <math.h>
#include <string.h>

#define DROPPED 1e150

static void take_four(double *restrict to, const double *restrict a, const double *restrict b, const double *restrict c,
                      const double *restrict d, const double k[4], int n) {
    const double ka = k[0], kb = k[1], kc = k[2], kd = k[3];
    for (int i = 0; i < n; i++)
        to[i] -= (ka * a[i] + kb * b[i]) + (kc * c[i] + kd * d[i]);
}

static void take_one(double *restrict to, const double *restrict a, double k, int n) {
    for (int i = 0; i < n; i++)
        to[i] -= k * a[i];
}

/* Finishes the row of a pivot, from which the rows above have been subtracted. */
static void close_row(double *row, int k, int n, double least) {
    const double pivot = row[k];
    if (!(pivot > least)) {
        memset(row + k, 0, (size_t)(n - k) * sizeof *row);
        row[k] = DROPPED;
        return;
    }
    const double root = sqrt(pivot), inverse = 1 / root;
    row[k] = root;
    for (int i = k + 1; i < n; i++)
        row[i] *= inverse;
}

void exi_fit_squares(const double *jacobian, size_t stride, int n, int rows, double *a) {
    for (int i = 0; i < n; i++) {
        const double *from = jacobian + (size_t)i * stride;
        double *to = a + (size_t)i * (size_t)n;
        int k = i;
        for (; k + 4 <= n; k += 4) { /* four sums that do not wait for each other */
            const double *p = jacobian + (size_t)k * stride, *q = p + stride, *s = q + stride, *t = s + stride;
            double sums[4] = {0, 0, 0, 0};
            for (int r = 0; r < rows; r++) {
                sums[0] += from[r] * p[r];
                sums[1] += from[r] * q[r];
                sums[2] += from[r] * s[r];
                sums[3] += from[r] * t[r];
            }
            memcpy(to + k, sums, sizeof sums);
        }
        for (; k < n; k++) {
            const double *p = jacobian + (size_t)k * stride;
            double sum = 0;
            for (int r = 0; r < rows; r++)
                sum += from[r] * p[r];
            to[k] = sum;
        }
    }
}

void exi_cholesky(double *a, int n, const double *diagonal, double least) {
    const size_t stride = (size_t)n;
    for (int k = 0; k < n; k += 4) {
        const int width = n - k < 4 ? n - k : 4;
        double *rows[4];
        double floors[4];
        for (int r = 0; r < width; r++) {
            rows[r] = a + (size_t)(k + r) * stride;
            floors[r] = least * diagonal[k + r];
        }
        for (int r = 0; r < width; r++) {
            for (int q = 0; q < r; q++)
                take_one(rows[r] + k + r, rows[q] + k + r, rows[q][k + r], n - k - r);
            close_row(rows[r], k + r, n, floors[r]);
        }
        for (int i = k + width; width == 4 && i < n; i++) {
            const double factors[4] = {rows[0][i], rows[1][i], rows[2][i], rows[3][i]};
            if (factors[0] != 0 || factors[1] != 0 || factors[2] != 0 || factors[3] != 0)
                take_four(a + (size_t)i * stride + i, rows[0] + i, rows[1] + i, rows[2] + i, rows[3] + i, factors,
                          n - i);
        }
    }
}

void exi_cholesky_forward(const double *u, int n, double *x) {
    for (int k = 0; k < n; k++) {
        const double *row = u + (size_t)k * (size_t)n;
        x[k] /= row[k];
        take_one(x + k + 1, row + k + 1, x[k], n - k - 1);
    }
}

void exi_cholesky_backward(const double *u, int n, double *x) {
    for (int k = n - 1; k >= 0; k--) {
        const double *row = u + (size_t)k * (size_t)n;
        double sum = x[k];
        for (int i = k + 1; i < n; i++)
            sum -= row[i] * x[i];
        x[k] = sum / row[k];
    }
}

void exi_cholesky_solve(const double *u, int n, double *x) {
    exi_cholesky_forward(u, n, x);
    exi_cholesky_backward(u, n, x);
}

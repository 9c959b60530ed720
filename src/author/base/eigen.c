/*
 * Eigenvalues and eigenvectors of a symmetric matrix by Jacobi rotations: each zeroes one pair of entries, and sweeps
 * over all pairs make the matrix diagonal. Slower than other methods from a few hundred rows on, but as accurate as
 * possible: vectors are perpendicular to the last digits, whatever the matrix.
 */
#include "author/base/eigen.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { SWEEPS_MOST = 60 };

/* Replaces rows p and q of an array [..][n] by c p - s q and s p + c q. */
static void turn_rows(double *restrict p, double *restrict q, int n, double c, double s) {
    for (int i = 0; i < n; i++) {
        const double a = p[i], b = q[i];
        p[i] = c * a - s * b;
        q[i] = s * a + c * b;
    }
}

static void rotate(double *matrix, int n, double *vectors, int p, int q) {
    double *row_p = matrix + (size_t)p * (size_t)n, *row_q = matrix + (size_t)q * (size_t)n;
    const double pp = row_p[p], qq = row_q[q], pq = row_p[q];
    const double theta = (qq - pp) / (2 * pq);
    const double t = (theta < 0 ? -1 : 1) / (fabs(theta) + sqrt(theta * theta + 1));
    const double c = 1 / sqrt(t * t + 1), s = t * c;
    turn_rows(row_p, row_q, n, c, s);
    row_p[p] = pp - t * pq;
    row_q[q] = qq + t * pq;
    row_p[q] = row_q[p] = 0;
    for (int i = 0; i < n; i++) { /* copies rows to columns */
        matrix[(size_t)i * (size_t)n + (size_t)p] = row_p[i];
        matrix[(size_t)i * (size_t)n + (size_t)q] = row_q[i];
    }
    turn_rows(vectors + (size_t)p * (size_t)n, vectors + (size_t)q * (size_t)n, n, c, s);
}

/* One sweep over all pairs. False if there was nothing left to do. */
static bool sweep(double *matrix, int n, double *vectors, double least) {
    bool any = false;
    for (int p = 0; p < n; p++)
        for (int q = p + 1; q < n; q++) {
            const double pq = fabs(matrix[(size_t)p * (size_t)n + (size_t)q]);
            const double pp = fabs(matrix[(size_t)p * (size_t)n + (size_t)p]);
            const double qq = fabs(matrix[(size_t)q * (size_t)n + (size_t)q]);
            if (pq <= least || pq <= DBL_EPSILON * sqrt(pp) * sqrt(qq))
                continue;
            rotate(matrix, n, vectors, p, q);
            any = true;
        }
    return any;
}

static void sort_falling(double *values, double *vectors, int n) {
    for (int i = 0; i < n; i++) {
        int best = i;
        for (int k = i + 1; k < n; k++)
            if (values[k] > values[best])
                best = k;
        const double value = values[i];
        values[i] = values[best];
        values[best] = value;
        for (int c = 0; best != i && c < n; c++) {
            const double entry = vectors[(size_t)i * (size_t)n + (size_t)c];
            vectors[(size_t)i * (size_t)n + (size_t)c] = vectors[(size_t)best * (size_t)n + (size_t)c];
            vectors[(size_t)best * (size_t)n + (size_t)c] = entry;
        }
    }
}

void exi_eigen(double *matrix, int n, double *values, double *vectors) {
    double trace = 0;
    memset(vectors, 0, (size_t)n * (size_t)n * sizeof *vectors);
    for (int i = 0; i < n; i++) {
        vectors[(size_t)i * (size_t)n + (size_t)i] = 1;
        trace += fabs(matrix[(size_t)i * (size_t)n + (size_t)i]);
    }
    for (int i = 0; i < SWEEPS_MOST && sweep(matrix, n, vectors, 1e-18 * trace); i++)
        continue;
    for (int i = 0; i < n; i++)
        values[i] = matrix[(size_t)i * (size_t)n + (size_t)i];
    sort_falling(values, vectors, n);
}

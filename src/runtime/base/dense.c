/*
 * Small dense solvers. Systems here have as many unknowns as a space has points, usually below thirty, at most a few
 * thousand. Rows hold the matrix and the right-hand sides side by side, so that the inner loop of elimination is one
 * contiguous multiply-subtract, which compilers vectorise best.
 */
#include "runtime/base/dense.h"

#include "runtime/base/svd.inl"

#include <float.h>
#include <math.h>
#include <string.h>

/* target -= factor * source */
static inline void subtract_row(double *restrict target, const double *restrict source, double factor, int count) {
    for (int j = 0; j < count; j++)
        target[j] -= factor * source[j];
}

static double largest_entry(const double *system, int n, int width) {
    double largest = 0;
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++)
            largest = fmax(largest, fabs(system[(size_t)i * (size_t)width + (size_t)j]));
    return largest;
}

static void swap_rows(double *restrict a, double *restrict b, int count) {
    for (int j = 0; j < count; j++) {
        double t = a[j];
        a[j] = b[j];
        b[j] = t;
    }
}

double exi_solve(double *system, int n, int m) {
    const size_t width = (size_t)n + (size_t)m;
    double largest = largest_entry(system, n, n + m), smallest_pivot = DBL_MAX;
    if (!(largest > 0) || !isfinite(largest))
        return 0;
    for (int k = 0; k < n; k++) {
        int pivot = k;
        for (int i = k + 1; i < n; i++)
            if (fabs(system[(size_t)i * width + (size_t)k]) > fabs(system[(size_t)pivot * width + (size_t)k]))
                pivot = i;
        double *row = system + (size_t)k * width;
        if (pivot != k)
            swap_rows(row + k, system + (size_t)pivot * width + k, n + m - k);
        double size = fabs(row[k]);
        if (!(size > largest * 1e-14))
            return 0;
        smallest_pivot = fmin(smallest_pivot, size);
        double inverse = 1.0 / row[k];
        for (int i = k + 1; i < n; i++) {
            double *other = system + (size_t)i * width;
            double factor = other[k] * inverse;
            if (factor != 0)
                subtract_row(other + k + 1, row + k + 1, factor, n + m - k - 1);
        }
    }
    for (int k = n - 1; k >= 0; k--) {
        double *x = system + (size_t)k * width + n;
        for (int i = k + 1; i < n; i++)
            subtract_row(x, system + (size_t)i * width + n, system[(size_t)k * width + (size_t)i], m);
        double inverse = 1.0 / system[(size_t)k * width + (size_t)k];
        for (int j = 0; j < m; j++)
            x[j] *= inverse;
    }
    return smallest_pivot / largest;
}

bool exi_orthonormalise(double *columns, int n, int d, double *v) {
    const size_t rows = (size_t)n, dimension = (size_t)d;
    double longest = 0;
    for (size_t i = 0; i < dimension; i++)
        longest = fmax(longest, exi_svd_dot(columns + i * rows, columns + i * rows, n));
    memset(v, 0, dimension * dimension * sizeof *v);
    for (size_t i = 0; i < dimension; i++) {
        double *a = columns + i * rows, *made = v + i * dimension;
        made[i] = 1;
        for (size_t pass = 0; pass < 2; pass++)
            for (size_t j = 0; j < i; j++) {
                double along = exi_svd_dot(a, columns + j * rows, n);
                subtract_row(a, columns + j * rows, along, n);
                subtract_row(made, v + j * dimension, along, (int)i);
            }
        double left = exi_svd_dot(a, a, n);
        if (!(left > 1e-6 * longest))
            return false;
        double inverse = 1.0 / sqrt(left);
        for (size_t k = 0; k < rows; k++)
            a[k] *= inverse;
        for (size_t k = 0; k <= i; k++)
            made[k] *= inverse;
    }
    return true;
}

void exi_svd(double *columns, int n, int d, double *v, double *s) {
    exi_svd_of(columns, n, d, v, s);
}

static double norm_1(const double *a, int n, size_t width) {
    double largest = 0;
    for (int j = 0; j < n; j++) {
        double sum = 0;
        for (int i = 0; i < n; i++)
            sum += fabs(a[(size_t)i * width + (size_t)j]);
        largest = fmax(largest, sum);
    }
    return largest;
}

double exi_condition(const double *a, int n, double *work) {
    const size_t width = 2 * (size_t)n;
    for (int i = 0; i < n; i++) {
        double *row = work + (size_t)i * width;
        memcpy(row, a + (size_t)i * (size_t)n, (size_t)n * sizeof *row);
        memset(row + n, 0, (size_t)n * sizeof *row);
        row[n + i] = 1;
    }
    if (exi_solve(work, n, n) == 0)
        return INFINITY;
    return norm_1(a, n, (size_t)n) * norm_1(work + n, n, width);
}

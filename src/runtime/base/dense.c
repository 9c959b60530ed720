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

/* target -= the sum of four rows times factors. One pass over target instead of four. */
static inline void subtract_rows(double *restrict target, const double *restrict a, const double *restrict b,
                                 const double *restrict c, const double *restrict d, const double factors[4],
                                 int count) {
    for (int j = 0; j < count; j++)
        target[j] -= (factors[0] * a[j] + factors[1] * b[j]) + (factors[2] * c[j] + factors[3] * d[j]);
}

/*
 * Rows of the factor U, with A = U' U, replace those of A, and the right-hand sides go along, which is U'^-1 B. Four
 * rows at a time are finished among themselves and then subtracted from all rows below.
 */
static bool factor_definite(double *system, int n, int m) {
    const size_t width = (size_t)n + (size_t)m;
    const int length = n + m;
    double largest = 0;
    for (int k = 0; k < n; k++)
        largest = fmax(largest, system[(size_t)k * width + (size_t)k]);
    for (int first = 0; first < n; first += 4) {
        const int last = first + 4 < n ? first + 4 : n;
        for (int k = first; k < last; k++) {
            double *row = system + (size_t)k * width;
            for (int i = first; i < k; i++) {
                const double *done = system + (size_t)i * width;
                subtract_row(row + k, done + k, done[k], length - k);
            }
            if (!(row[k] > 1e-14 * largest))
                return false;
            const double inverse = 1 / sqrt(row[k]);
            for (int j = k; j < length; j++)
                row[j] *= inverse;
        }
        const double *a = system + (size_t)first * width, *b = a + width, *c = b + width, *d = c + width;
        for (int i = last; i < n; i++) {
            const double factors[4] = {a[i], b[i], c[i], d[i]};
            subtract_rows(system + (size_t)i * width + i, a + i, b + i, c + i, d + i, factors, length - i);
        }
    }
    return true;
}

bool exi_solve_definite(double *system, int n, int m) {
    const size_t width = (size_t)n + (size_t)m;
    if (!factor_definite(system, n, m))
        return false;
    for (int k = n - 1; k >= 0; k--) {
        double *x = system + (size_t)k * width + n;
        const double *u = system + (size_t)k * width;
        int i = k + 1;
        for (; i + 4 <= n; i += 4) {
            const double *a = system + (size_t)i * width + n;
            subtract_rows(x, a, a + width, a + 2 * width, a + 3 * width, u + i, m);
        }
        for (; i < n; i++)
            subtract_row(x, system + (size_t)i * width + n, u[i], m);
        const double inverse = 1 / u[k];
        for (int j = 0; j < m; j++)
            x[j] *= inverse;
    }
    return true;
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

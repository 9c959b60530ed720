/*
 * Small dense solvers. Systems here have as many unknowns as a space has points, usually below thirty, at most a few
 * thousand. Rows hold the matrix and the right-hand sides side by side, so that the inner loop of elimination is one
 * contiguous multiply-subtract, which compilers vectorise best.
 *
 * Large systems are solved in blocks of rows: those of a block are finished among themselves, then all of them are
 * subtracted from the other rows by one product of matrices, which is done tile by tile in the caches. Every sum is
 * made in the same order whatever the machine does beside it.
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

/* ---- products for large systems ---- */

/* Rows of a block; columns that are packed together; the tile that is kept in registers; systems from this size on are
 * solved in blocks. */
enum { BLOCK = 32, CHUNK = 64, TILE_ROWS = 4, TILE_COLUMNS = 8, LARGE = 96 };

/* target [rows][columns] -= left' right, at most a tile. left [depth][TILE_ROWS], right [depth][TILE_COLUMNS]. */
static inline void subtract_tile(double *restrict target, size_t width, const double *restrict left,
                                 const double *restrict right, int depth, int rows, int columns) {
    double sum[TILE_ROWS][TILE_COLUMNS] = {{0}};
    for (int k = 0; k < depth; k++, left += TILE_ROWS, right += TILE_COLUMNS)
        for (int i = 0; i < TILE_ROWS; i++)
            for (int j = 0; j < TILE_COLUMNS; j++)
                sum[i][j] += left[i] * right[j];
    if (rows == TILE_ROWS && columns == TILE_COLUMNS) {
        for (int i = 0; i < TILE_ROWS; i++)
            for (int j = 0; j < TILE_COLUMNS; j++)
                target[(size_t)i * width + (size_t)j] -= sum[i][j];
        return;
    }
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < columns; j++)
            target[(size_t)i * width + (size_t)j] -= sum[i][j];
}

/* A factor of a product: entry (i, k) of the left one is at[i * row + k * depth]. */
typedef struct factor_view {
    const double *at;
    size_t row, depth;
} factor_view;

/* packed [depth][TILE_ROWS]: rows of the left factor from `first` on, with zeros after the last of `rows`. */
static void pack_left(double *restrict packed, const factor_view *left, int first, int rows, int depth) {
    for (int k = 0; k < depth; k++)
        for (int i = 0; i < TILE_ROWS; i++)
            *packed++ = first + i < rows ? left->at[(size_t)(first + i) * left->row + (size_t)k * left->depth] : 0;
}

/* packed [columns / TILE_COLUMNS, rounded up][depth][TILE_COLUMNS], with zeros after the last column. */
static void pack_right(double *restrict packed, const double *right, size_t width, int depth, int columns) {
    for (int first = 0; first < columns; first += TILE_COLUMNS)
        for (int k = 0; k < depth; k++)
            for (int j = first; j < first + TILE_COLUMNS; j++)
                *packed++ = j < columns ? right[(size_t)k * width + (size_t)j] : 0;
}

/*
 * target [rows][columns] -= left [rows][depth] right [depth][columns], depth at most BLOCK. Rows of target and right
 * are `width` apart. upper: only what is on and above the diagonal of target matters.
 */
static void subtract_product(double *target, const double *right, size_t width, factor_view left, int rows, int depth,
                             int columns, bool upper) {
    double packed_left[BLOCK * TILE_ROWS], packed_right[BLOCK * CHUNK];
    for (int first = 0; first < columns; first += CHUNK) {
        const int count = columns - first < CHUNK ? columns - first : CHUNK;
        pack_right(packed_right, right + first, width, depth, count);
        for (int i = 0; i < rows && !(upper && i >= first + count); i += TILE_ROWS) {
            const int tile_rows = rows - i < TILE_ROWS ? rows - i : TILE_ROWS;
            pack_left(packed_left, &left, i, rows, depth);
            for (int j = 0; j < count; j += TILE_COLUMNS)
                subtract_tile(target + (size_t)i * width + first + j, width, packed_left,
                              packed_right + (size_t)j * (size_t)depth, depth, tile_rows,
                              count - j < TILE_COLUMNS ? count - j : TILE_COLUMNS);
        }
    }
}

/* Right-hand sides after the last one that is not 0 in these rows need no work yet: those of an identity fill up
 * slowly. Returns the number of those that do, at least `used`. */
static int used_sides(const double *system, int n, int m, int first, int last, int used) {
    const size_t width = (size_t)n + (size_t)m;
    for (int i = first; i < last; i++) {
        const double *side = system + (size_t)i * width + n;
        int end = m;
        while (end > used && side[end - 1] == 0)
            end--;
        used = end;
    }
    return used;
}

/* X from U X = B, in place of B. U is above the diagonal, and on it. */
static void substitute_back(double *system, int n, int m) {
    const size_t width = (size_t)n + (size_t)m;
    for (int first = (n - 1) / BLOCK * BLOCK; first >= 0; first -= BLOCK) {
        const int last = first + BLOCK < n ? first + BLOCK : n;
        for (int k = last - 1; k >= first; k--) {
            double *x = system + (size_t)k * width + n;
            const double *u = system + (size_t)k * width;
            for (int i = k + 1; i < last; i++)
                subtract_row(x, system + (size_t)i * width + n, u[i], m);
            const double inverse = 1 / u[k];
            for (int j = 0; j < m; j++)
                x[j] *= inverse;
        }
        const factor_view left = {system + first, width, 1};
        subtract_product(system + n, system + (size_t)first * width + n, width, left, first, last - first, m, false);
    }
}

/* ---- elimination with pivots ---- */

/* Eliminates columns first to last from the rows below, in these columns alone; factors stay where zeros would be.
 * Returns the smallest pivot, or 0 if one is not above `least`. */
static double factor_panel(double *system, int n, int m, int first, int last, double least) {
    const size_t width = (size_t)n + (size_t)m;
    double smallest = DBL_MAX;
    for (int k = first; k < last; k++) {
        int pivot = k;
        for (int i = k + 1; i < n; i++)
            if (fabs(system[(size_t)i * width + (size_t)k]) > fabs(system[(size_t)pivot * width + (size_t)k]))
                pivot = i;
        double *row = system + (size_t)k * width;
        if (pivot != k)
            swap_rows(row + first, system + (size_t)pivot * width + first, n + m - first);
        const double size = fabs(row[k]);
        if (!(size > least))
            return 0;
        smallest = fmin(smallest, size);
        const double inverse = 1 / row[k];
        for (int i = k + 1; i < n; i++) {
            double *other = system + (size_t)i * width;
            other[k] *= inverse;
            subtract_row(other + k + 1, row + k + 1, other[k], last - k - 1);
        }
    }
    return smallest;
}

static double solve_large(double *system, int n, int m, double largest) {
    const size_t width = (size_t)n + (size_t)m;
    double smallest = DBL_MAX;
    for (int first = 0, used = 0; first < n; first += BLOCK) {
        const int last = first + BLOCK < n ? first + BLOCK : n;
        const double pivot = factor_panel(system, n, m, first, last, largest * 1e-14);
        if (pivot == 0)
            return 0;
        smallest = fmin(smallest, pivot);
        used = used_sides(system, n, m, first, last, used);
        const int columns = n + used - last;
        double *top = system + (size_t)first * width + last;
        for (int k = first + 1; k < last; k++)
            for (int i = first; i < k; i++)
                subtract_row(system + (size_t)k * width + last, system + (size_t)i * width + last,
                             system[(size_t)k * width + (size_t)i], columns);
        const factor_view left = {system + (size_t)last * width + first, width, 1};
        subtract_product(system + (size_t)last * width + last, top, width, left, n - last, last - first, columns,
                         false);
    }
    substitute_back(system, n, m);
    return smallest / largest;
}

double exi_solve(double *system, int n, int m) {
    const size_t width = (size_t)n + (size_t)m;
    double largest = largest_entry(system, n, n + m), smallest_pivot = DBL_MAX;
    if (!(largest > 0) || !isfinite(largest))
        return 0;
    if (n >= LARGE)
        return solve_large(system, n, m, largest);
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

/* ---- Cholesky's method ---- */

/* target -= the sum of four rows times factors. One pass over target instead of four. */
static inline void subtract_rows(double *restrict target, const double *restrict a, const double *restrict b,
                                 const double *restrict c, const double *restrict d, const double factors[4],
                                 int count) {
    for (int j = 0; j < count; j++)
        target[j] -= (factors[0] * a[j] + factors[1] * b[j]) + (factors[2] * c[j] + factors[3] * d[j]);
}

static double largest_on_diagonal(const double *system, int n, size_t width) {
    double largest = 0;
    for (int k = 0; k < n; k++)
        largest = fmax(largest, system[(size_t)k * width + (size_t)k]);
    return largest;
}

/* Finishes rows [first, last) of the factor among themselves. False if a pivot vanishes. */
static bool factor_rows(double *system, size_t width, int first, int last, int length, double largest) {
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
    return true;
}

/*
 * Rows of the factor U, with A = U' U, replace those of A, and the right-hand sides go along, which is U'^-1 B. Four
 * rows at a time are finished among themselves and then subtracted from all rows below.
 */
static bool factor_definite(double *system, int n, int m) {
    const size_t width = (size_t)n + (size_t)m;
    const int length = n + m;
    const double largest = largest_on_diagonal(system, n, width);
    for (int first = 0; first < n; first += 4) {
        const int last = first + 4 < n ? first + 4 : n;
        if (!factor_rows(system, width, first, last, length, largest))
            return false;
        for (int i = last; i < n; i++) {
            const double *a = system + (size_t)first * width, *b = a + width, *c = b + width, *d = c + width;
            const double factors[4] = {a[i], b[i], c[i], d[i]};
            subtract_rows(system + (size_t)i * width + i, a + i, b + i, c + i, d + i, factors, length - i);
        }
    }
    return true;
}

/* The same in blocks. */
static bool factor_large(double *system, int n, int m) {
    const size_t width = (size_t)n + (size_t)m;
    const double largest = largest_on_diagonal(system, n, width);
    for (int first = 0, used = 0; first < n; first += BLOCK) {
        const int last = first + BLOCK < n ? first + BLOCK : n;
        used = used_sides(system, n, m, first, last, used);
        const int length = n + used;
        if (!factor_rows(system, width, first, last, length, largest))
            return false;
        const double *right = system + (size_t)first * width + last;
        const factor_view left = {right, 1, width};
        subtract_product(system + (size_t)last * width + last, right, width, left, n - last, last - first,
                         length - last, true);
    }
    return true;
}

bool exi_solve_definite(double *system, int n, int m) {
    const size_t width = (size_t)n + (size_t)m;
    if (n >= LARGE) {
        if (!factor_large(system, n, m))
            return false;
        substitute_back(system, n, m);
        return true;
    }
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

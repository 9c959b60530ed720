/*
 * J and R of a dual active-set method (quadratic_factor.h), updated by plane rotations: adding a constraint rotates
 * J2'a into its first entry, removing one makes R triangular again.
 */
#include "runtime/base/quadratic_factor.h"

#include <math.h>
#include <string.h>

size_t exi_active_factor_size(int n) {
    const size_t m = (size_t)n;
    return m * m + m * (m + 1) / 2 + m;
}

void exi_active_factor_open(exi_active_factor *f, int n, double *memory) {
    const size_t m = (size_t)n;
    f->n = n;
    f->count = 0;
    f->columns = memory;
    f->triangle = f->columns + m * m;
    f->direction = f->triangle + m * (m + 1) / 2;
}

static double *column(const exi_active_factor *f, int k) {
    return f->columns + (size_t)k * (size_t)f->n;
}
static double *triangle(const exi_active_factor *f, int k) {
    return f->triangle + (size_t)k * ((size_t)k + 1) / 2;
}

static double dot(const double *a, const double *b, int count) {
    double sum[4] = {0, 0, 0, 0};
    int i = 0;
    for (; i + 3 < count; i += 4)
        for (int k = 0; k < 4; k++)
            sum[k] += a[i + k] * b[i + k];
    for (; i < count; i++)
        sum[0] += a[i] * b[i];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

static void add_scaled(double *restrict target, const double *restrict source, double factor, int count) {
    for (int i = 0; i < count; i++)
        target[i] += factor * source[i];
}

static void rotate(double *restrict a, double *restrict b, double c, double s, int count) {
    for (int i = 0; i < count; i++) {
        const double x = a[i], y = b[i];
        a[i] = c * x + s * y;
        b[i] = c * y - s * x;
    }
}

/* J = L^-T; column k is the solution of L' j = e_k. L is computed in the same place, row by row. */
bool exi_active_factor_begin(exi_active_factor *f, const double *matrix, double ridge, double least) {
    const int n = f->n;
    f->count = 0;
    for (int i = 0; i < n; i++) {
        double *row = column(f, i);
        for (int j = 0; j < i; j++)
            row[j] = (matrix[(size_t)i * (size_t)n + (size_t)j] - dot(row, column(f, j), j)) / column(f, j)[j];
        const double diagonal = matrix[(size_t)i * (size_t)n + (size_t)i] + ridge;
        const double left = diagonal - dot(row, row, i);
        if (!(left > least * diagonal))
            return false;
        row[i] = sqrt(left);
    }
    /* Row i of L^-1 = (e_i - sum over j < i of L_ij row j of L^-1) / L_ii, from the top down. */
    for (int i = 0; i < n; i++) {
        double *row = column(f, i), *own = f->direction;
        memcpy(own, row, ((size_t)i + 1) * sizeof *own);
        memset(row, 0, (size_t)n * sizeof *row);
        for (int j = 0; j < i; j++)
            add_scaled(row, column(f, j), -own[j] / own[i], j + 1);
        row[i] = 1 / own[i];
    }
    return true; /* row k of L^-1 is column k of L^-T */
}

double exi_active_factor_look(exi_active_factor *f, const double *normal) {
    double held = 0, open = 0;
    for (int k = 0; k < f->n; k++) {
        f->direction[k] = dot(column(f, k), normal, f->n);
        *(k < f->count ? &held : &open) += f->direction[k] * f->direction[k];
    }
    return open > 0 ? open / (held + open) : 0;
}

/* R y = y */
static void solve_triangle(const exi_active_factor *f, double *y) {
    for (int k = f->count - 1; k >= 0; k--) {
        const double *r = triangle(f, k);
        y[k] /= r[k];
        add_scaled(y, r, -y[k], k);
    }
}

/* R' y = y */
static void solve_transposed(const exi_active_factor *f, double *y) {
    for (int k = 0; k < f->count; k++) {
        const double *r = triangle(f, k);
        y[k] = (y[k] - dot(r, y, k)) / r[k];
    }
}

void exi_active_factor_step(const exi_active_factor *f, double *step, double *rates) {
    memset(step, 0, (size_t)f->n * sizeof *step);
    for (int k = f->count; k < f->n; k++)
        add_scaled(step, column(f, k), f->direction[k], f->n);
    memcpy(rates, f->direction, (size_t)f->count * sizeof *rates);
    solve_triangle(f, rates);
}

void exi_active_factor_add(exi_active_factor *f) {
    double *d = f->direction;
    for (int k = f->n - 1; k > f->count; k--) {
        if (d[k] == 0)
            continue;
        const double length = sqrt(d[k - 1] * d[k - 1] + d[k] * d[k]);
        rotate(column(f, k - 1), column(f, k), d[k - 1] / length, d[k] / length, f->n);
        d[k - 1] = length;
        d[k] = 0;
    }
    memcpy(triangle(f, f->count), d, ((size_t)f->count + 1) * sizeof *d);
    f->count++;
}

/* R without column k has one number below the diagonal in each later column; rotations of rows remove it. */
void exi_active_factor_drop(exi_active_factor *f, int k) {
    for (int i = k; i + 1 < f->count; i++) {
        const double *pair = triangle(f, i + 1) + i;
        const double length = sqrt(pair[0] * pair[0] + pair[1] * pair[1]);
        const double cosine = pair[0] / length, sine = pair[1] / length;
        for (int c = i + 1; c < f->count; c++)
            rotate(triangle(f, c) + i, triangle(f, c) + i + 1, cosine, sine, 1);
        rotate(column(f, i), column(f, i + 1), cosine, sine, f->n);
    }
    for (int c = k + 1; c < f->count; c++)
        memmove(triangle(f, c - 1), triangle(f, c), (size_t)c * sizeof(double));
    f->count--;
}

void exi_active_factor_correct(const exi_active_factor *f, double *a, double *b, double *x, double *u) {
    solve_transposed(f, b);
    for (int k = 0; k < f->n; k++) {
        const double along = dot(column(f, k), a, f->n);
        add_scaled(x, column(f, k), k < f->count ? b[k] : along, f->n);
        if (k < f->count)
            b[k] -= along;
    }
    solve_triangle(f, b);
    for (int k = 0; k < f->count; k++)
        u[k] += b[k];
}

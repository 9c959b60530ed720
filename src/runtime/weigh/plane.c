/*
 * The plane under radial bases: see plane.h.
 */
#include "runtime/weigh/plane.h"
#include "runtime/base/dense.h"

#include <math.h>
#include <string.h>

/* Directions in which the points vary less than this fraction of their largest variation count as flat. */
static const double flat = 1e-9;

size_t exi_plane_work(const ex_weigher *w) {
    const size_t n = (size_t)exi_point_count(w), s = (size_t)w->scalar_count;
    return s * n + s * s + s;
}

void exi_plane_mean(const ex_weigher *w, double *mean) {
    const int n = exi_point_count(w);
    for (int a = 0; a < w->scalar_count; a++) {
        double sum = 0;
        for (int j = 0; j < n; j++)
            sum += exi_features(w, j)[a];
        mean[a] = sum / n;
    }
}

static void set_columns(const ex_weigher *w, const double *mean, double *columns) {
    const int n = exi_point_count(w);
    for (int a = 0; a < w->scalar_count; a++)
        for (int j = 0; j < n; j++)
            *columns++ = exi_features(w, j)[a] - mean[a];
}

exi_plane_basis exi_plane_find(const ex_weigher *w, const double *mean, double *work) {
    const int n = exi_point_count(w), s = w->scalar_count;
    exi_plane_basis b = {.u = work, .slope = work + (size_t)s * (size_t)n};
    double *values = b.slope + (size_t)s * (size_t)s;
    if (!(w->flags & EXI_WEIGHER_LINEAR))
        return b;
    set_columns(w, mean, b.u);
    if (exi_orthonormalise(b.u, n, s, b.slope)) {
        b.rank = s;
        return b;
    }
    set_columns(w, mean, b.u);
    exi_svd(b.u, n, s, b.slope, values);
    double largest = 0;
    for (int a = 0; a < s; a++)
        largest = fmax(largest, values[a]);
    for (int a = 0; a < s; a++) {
        if (!(values[a] > flat * largest))
            continue;
        double inverse = 1.0 / values[a];
        for (int j = 0; j < n; j++)
            b.u[(size_t)b.rank * (size_t)n + (size_t)j] = b.u[(size_t)a * (size_t)n + (size_t)j] * inverse;
        for (int k = 0; k < s; k++)
            b.slope[(size_t)b.rank * (size_t)s + (size_t)k] = b.slope[(size_t)a * (size_t)s + (size_t)k] * inverse;
        b.rank++;
    }
    return b;
}

/* plane[0] = constant row; plane[1 + k] = sum over basis functions of slope times coefficients [rank][m]. */
void exi_plane_set(const ex_weigher *w, const exi_cardinal *t, const exi_plane_basis *b, const double *constant,
                   const double *coefficients) {
    const size_t m = (size_t)w->example_count, s = (size_t)w->scalar_count;
    memcpy(t->plane, constant, m * sizeof *t->plane);
    memset(t->plane + m, 0, s * m * sizeof *t->plane);
    for (size_t a = 0; a < (size_t)b->rank; a++)
        for (size_t k = 0; k < s; k++)
            for (size_t i = 0; i < m; i++)
                t->plane[(1 + k) * m + i] += b->slope[a * s + k] * coefficients[a * m + i];
}

void exi_plane_row(const ex_weigher *w, int j, double *row) {
    const size_t m = (size_t)w->example_count;
    if (j >= w->example_count) {
        memcpy(row, exi_table(w, w->pseudo_rows) + (size_t)(j - w->example_count) * m, m * sizeof *row);
        return;
    }
    memset(row, 0, m * sizeof *row);
    row[j] = 1;
}

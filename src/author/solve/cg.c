/*
 * Conjugate gradients with a preconditioner (Hestenes and Stiefel, 1952), and the product with a symmetric matrix given
 * by its lower triangle. Sums use eight lanes that are added in a fixed order, so that they do not depend on the
 * compiler.
 */
#include "author/base/pair.h"
#include "author/solve/solve.h"

#include <string.h>

enum { LANES = 8 };

static double dot(const double *a, const double *b, int n) {
    double lanes[LANES] = {0};
    int i = 0;
    for (; i + LANES <= n; i += LANES)
        for (int l = 0; l < LANES; l++)
            lanes[l] = exi_multiply_add(a[i + l], b[i + l], lanes[l]);
    for (int l = 0; i < n; i++, l++)
        lanes[l] = exi_multiply_add(a[i], b[i], lanes[l]);
    return ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
}

static const double *precondition(const exi_cg_def *def, const double *r, double *z) {
    if (!def->precondition)
        return r;
    def->precondition(def->user, r, z);
    return z;
}

void exi_symmetric_apply(const exi_symmetric *a, int width, const double *x, double *y) {
    const size_t w = (size_t)width;
    memset(y, 0, (size_t)a->n * w * sizeof *y);
    for (int j = 0; j < a->n; j++)
        for (int i = a->starts[j]; i < a->starts[j + 1]; i++) {
            const size_t row = (size_t)a->rows[i] * w, column = (size_t)j * w;
            for (size_t c = 0; c < w; c++) {
                y[row + c] += a->values[i] * x[column + c];
                if (row != column)
                    y[column + c] += a->values[i] * x[row + c];
            }
        }
}

size_t exi_cg_work_size(int n) {
    return (n > 0 ? (size_t)n : 1) * 4 * sizeof(double);
}

exi_cg_result exi_cg(const exi_cg_def *def, const double *b, double *x, double *work) {
    const int n = def->n;
    exi_cg_result result = {.converged = true};
    double *r = work, *z = r + n, *p = z + n, *q = p + n;
    const double scale = sqrt(dot(b, b, n));
    if (scale == 0) {
        for (int i = 0; i < n; i++)
            x[i] = 0;
        return result;
    }
    def->apply(def->user, x, q);
    for (int i = 0; i < n; i++)
        r[i] = b[i] - q[i];
    const double *d = precondition(def, r, z);
    memcpy(p, d, (size_t)n * sizeof *p);
    double rho = dot(r, d, n);
    for (;; result.iteration_count++) {
        result.residual = sqrt(dot(r, r, n)) / scale;
        result.converged = result.residual <= def->tolerance;
        if (result.converged || result.iteration_count >= def->iteration_most)
            return result;
        def->apply(def->user, p, q);
        const double curvature = dot(p, q, n);
        if (!(curvature > 0) || !(rho > 0))
            return result;
        const double alpha = rho / curvature;
        for (int i = 0; i < n; i++) {
            x[i] = exi_multiply_add(alpha, p[i], x[i]);
            r[i] = exi_multiply_add(-alpha, q[i], r[i]);
        }
        d = precondition(def, r, z);
        const double before = rho;
        rho = dot(r, d, n);
        for (int i = 0; i < n; i++)
            p[i] = exi_multiply_add(rho / before, p[i], d[i]);
    }
}

/*
 * Solves with a factor: brings right-hand sides into the order of elimination, and back.
 */
#include "author/solve/factor.h"

#include "runtime/base/result.h"

size_t exi_factor_work_size(const exi_factor *factor) {
    return (factor->n > 0 ? (size_t)factor->n : 1) * 4 * sizeof(double);
}

static void reorder(const exi_factor *factor, const double *x, double *y) {
    for (int k = 0; k < factor->n; k++) {
        const double *from = x + 3 * (size_t)factor->order[k];
        double *to = y + 4 * (size_t)k;
        to[0] = from[0];
        to[1] = from[1];
        to[2] = from[2];
        to[3] = 0;
    }
}

static void put_back(const exi_factor *factor, const double *y, double *x) {
    for (int k = 0; k < factor->n; k++)
        for (int c = 0; c < 3; c++)
            x[3 * (size_t)factor->order[k] + (size_t)c] = y[4 * (size_t)k + (size_t)c];
}

void exi_factor_solve_several(const exi_factor *factor, int count, double *const *x, double *const *work) {
    if (!factor || !factor->good || !x || !work) {
        exi_misuse(__func__, "no factor, one that was not factorised, or no numbers");
        return;
    }
    for (int i = 0; i < count; i++)
        reorder(factor, x[i], work[i]);
    exi_factor_substitute(factor, work, count);
    for (int i = 0; i < count; i++)
        put_back(factor, work[i], x[i]);
}

void exi_factor_solve(const exi_factor *factor, double *x, double *work) {
    if (!factor || !factor->good || !x || !work)
        exi_misuse(__func__, "no factor, one that was not factorised, or no numbers");
    else
        exi_factor_solve_several(factor, 1, &x, &work);
}

void exi_factor_solve_1(const exi_factor *factor, double *x, double *work) {
    if (!factor || !factor->good || !x || !work) {
        exi_misuse(__func__, "no factor, one that was not factorised, or no numbers");
        return;
    }
    for (int k = 0; k < factor->n; k++)
        work[k] = x[factor->order[k]];
    exi_factor_substitute_1(factor, work);
    for (int k = 0; k < factor->n; k++)
        x[factor->order[k]] = work[k];
}

/*
 * Factorisation A = L L^T, one supernode at a time, left-looking (Ng and Peyton, 1993): a supernode's panel starts as
 * its columns of A, the products of all earlier supernodes that have rows among its columns are subtracted, and a dense
 * factorisation finishes it. Lists keep track of those supernodes: a finished one is in the list of the supernode that
 * its next row belongs to. The order of the lists depends only on the pattern.
 */
#include "author/solve/factor.h"

#include "author/base/progress.h"

#include "runtime/base/memory.h"
#include "runtime/base/result.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* ---- input ---- */

static ex_result check_pattern(const exi_symmetric *a, ex_error *error) {
    static const char function[] = "exi_factor_create";
    if (!a || a->n < 0 || !a->starts || a->starts[0] != 0)
        return exi_misuse_error(error, function, "the matrix has no columns that start at 0");
    if (a->n > 0 && (!a->rows || !a->values))
        return exi_misuse_error(error, function, "the matrix has no rows or no values");
    for (int j = 0; j < a->n; j++) {
        if (a->starts[j + 1] <= a->starts[j] || a->rows[a->starts[j]] != j)
            return exi_misuse_error(error, function, "a column does not begin with the diagonal");
        for (int i = a->starts[j] + 1; i < a->starts[j + 1]; i++)
            if (a->rows[i] <= a->rows[i - 1] || a->rows[i] >= a->n)
                return exi_misuse_error(error, function, "the rows of a column do not rise, or leave the matrix");
    }
    return EX_OK;
}

/* Reports an entry that is not finite. Its column is the last whose diagonal does not come after it. */
static ex_result refuse_entry(const exi_factor *f, int entry, ex_error *error) {
    int column = 0, start = -1;
    for (int k = 0; k < f->n; k++)
        if (f->diagonals[k] <= entry && f->diagonals[k] > start) {
            start = f->diagonals[k];
            column = f->order[k];
        }
    return ex_error_set(error, EX_ERROR_DATA, "an entry of the matrix is not a finite number: number %d of column %d",
                        entry - start, column);
}

/* Copies A's values into the panels, which must hold zeros. */
static ex_result fill_panels(exi_factor *f, const double *values, ex_error *error) {
    for (int k = 0; k < f->n; k++)
        f->floors[k] = 4 * DBL_EPSILON * f->n * fabs(values[f->diagonals[k]]);
    for (int i = 0; i < f->entry_count; i++) {
        if (!isfinite(values[i]))
            return refuse_entry(f, i, error);
        f->values[f->targets[i]] = values[i];
    }
    return EX_OK;
}

/* ---- supernodes into supernodes ---- */

/* Moves supernode s to the list of the supernode that its next row belongs to. */
static void hand_on(exi_factor *f, int s) {
    if (f->reached[s] == exi_below_count(f, s))
        return;
    const int row = f->rows[f->row_starts[s] + (size_t)f->reached[s]], to = f->supernodes[row];
    f->next[s] = f->list[to];
    f->list[to] = s;
}

/* Subtracts the contribution of the finished supernode d from supernode s. f->local holds the indices of rows in s. */
static void subtract_supernode(exi_factor *f, int d, int s) {
    const int columns = exi_column_count(f, d), below = exi_below_count(f, d), from = f->reached[d];
    const int *rows = f->rows + f->row_starts[d] + from;
    int within = 0;
    for (; from + within < below && rows[within] < f->firsts[s + 1]; within++)
        continue;
    for (int i = 0; i < below - from; i++)
        f->landing[i] = f->local[rows[i]];
    const exi_panel_product product = {.m = below - from,
                                       .k = within,
                                       .depth = columns,
                                       .a = f->values + f->value_starts[d] + columns + from,
                                       .lda = (size_t)(columns + below),
                                       .c = f->values + f->value_starts[s],
                                       .ldc = (size_t)(exi_column_count(f, s) + exi_below_count(f, s)),
                                       .columns = f->landing,
                                       .landing = f->landing,
                                       .packed = f->packed};
    exi_panel_subtract(&product);
    f->reached[d] = from + within;
    hand_on(f, d);
}

/* Returns the column whose pivot is too small, or -1. */
static int factorise_supernode(exi_factor *f, int s) {
    const int first = f->firsts[s], columns = exi_column_count(f, s), below = exi_below_count(f, s);
    const int *rows = f->rows + f->row_starts[s];
    for (int j = 0; j < columns; j++)
        f->local[first + j] = j;
    for (int i = 0; i < below; i++)
        f->local[rows[i]] = columns + i;
    for (int d = f->list[s]; d != -1;) {
        const int next = f->next[d];
        subtract_supernode(f, d, s);
        d = next;
    }
    const int bad =
        exi_panel_factorise(f->values + f->value_starts[s], columns + below, columns, f->floors + first, f->packed);
    f->reached[s] = 0;
    hand_on(f, s);
    return bad == -1 ? -1 : first + bad;
}

static double operations_of(const exi_factor *f, int s) {
    const double c = exi_column_count(f, s), m = c + exi_below_count(f, s);
    return c * (m * (m - c + 1) + (c - 1) * (2 * c - 1) / 6); /* sum of (m - j)^2 */
}

static ex_result factorise(exi_factor *f, const ex_progress *progress, ex_error *error) {
    double done = 0, said = 0;
    for (int s = 0; s < f->supernode_count; s++)
        f->list[s] = -1;
    for (int s = 0; s < f->supernode_count; s++) {
        const int bad = factorise_supernode(f, s);
        if (bad != -1)
            return ex_error_set(
                error, EX_ERROR_SINGULAR,
                "the matrix is not positive definite at row %d: elimination leaves nothing of its diagonal "
                "entry but rounding",
                f->order[bad]);
        done += operations_of(f, s);
        if (done > said + 0.01 * f->operations) {
            if (!exi_progress_tell(progress, "factorising", done / f->operations))
                return exi_progress_stopped(error);
            said = done;
        }
    }
    f->good = true;
    return EX_OK;
}

/* ---- entry points ---- */

ex_result exi_factor_refactor(exi_factor *factor, const double *values, const ex_progress *progress, ex_error *error) {
    if (!factor || !values)
        return exi_misuse_error(error, __func__, "no factor or no values");
    factor->good = false;
    memset(factor->values, 0, factor->value_starts[factor->supernode_count] * sizeof *factor->values);
    const ex_result result = fill_panels(factor, values, error);
    return result == EX_OK ? factorise(factor, progress, error) : result;
}

ex_result exi_factor_create(const exi_symmetric *a, const ex_progress *progress, exi_factor **factor, ex_error *error) {
    if (!factor)
        return exi_misuse_error(error, __func__, "no pointer for the factor");
    *factor = NULL;
    exi_elimination e = {0};
    exi_factor *f = NULL;
    ex_result result = check_pattern(a, error);
    if (result == EX_OK)
        result = exi_eliminate(a, &e, error);
    if (result == EX_OK)
        result = exi_supernodes(a, &e, &f, error);
    exi_elimination_free(&e);
    if (result == EX_OK)
        result = fill_panels(f, a->values, error); /* a new block is zeroed */
    if (result == EX_OK)
        result = factorise(f, progress, error);
    if (result == EX_OK)
        *factor = f;
    else
        exi_factor_destroy(f);
    return result;
}

void exi_factor_destroy(exi_factor *factor) {
    exi_block_destroy(factor);
}

exi_factor_info exi_factor_stats(const exi_factor *factor) {
    return (exi_factor_info){factor->n, factor->supernode_count, factor->held, factor->operations, factor->bytes};
}

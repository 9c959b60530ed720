/*
 * The order of elimination and the elimination tree. The order is AMD's (approximate minimum degree, Amestoy, Davis and
 * Duff, 1996), then made a postorder of the tree, which only renumbers L, and makes columns of the same pattern
 * adjacent. The tree is built row by row (Liu, 1990): an entry a_kj, j < k, makes k an ancestor of j, and shortcuts to
 * the oldest known ancestor keep the walks short.
 */
#include "author/solve/factor.h"

#include "author/base/array.h"
#include "runtime/base/result.h"

#include <amd.h>
#include <limits.h>
#include <stdlib.h>

/* Rows of A left of the diagonal, in the order of elimination. work [n]. */
static void permute_rows(const exi_symmetric *a, exi_elimination *e, int *work) {
    for (int k = 0; k < e->n; k++)
        e->places[e->order[k]] = k;
    for (int k = 0; k <= e->n; k++)
        e->starts[k] = 0;
    for (int j = 0; j < a->n; j++)
        for (int i = a->starts[j] + 1; i < a->starts[j + 1]; i++) {
            const int p = e->places[a->rows[i]], q = e->places[j];
            e->starts[(p > q ? p : q) + 1]++;
        }
    for (int k = 0; k < e->n; k++) {
        e->starts[k + 1] += e->starts[k];
        work[k] = e->starts[k];
    }
    for (int j = 0; j < a->n; j++)
        for (int i = a->starts[j] + 1; i < a->starts[j + 1]; i++) {
            const int p = e->places[a->rows[i]], q = e->places[j];
            e->columns[work[p > q ? p : q]++] = p > q ? q : p;
        }
}

static void grow_tree(exi_elimination *e, int *ancestors) {
    for (int k = 0; k < e->n; k++) {
        e->parents[k] = ancestors[k] = -1;
        for (int i = e->starts[k]; i < e->starts[k + 1]; i++)
            for (int j = e->columns[i]; j != -1 && j < k;) {
                const int up = ancestors[j];
                ancestors[j] = k;
                if (up == -1)
                    e->parents[j] = k;
                j = up;
            }
    }
}

/* post[k]: the k-th node in postorder, children before parents. heads, nexts, stack [n]. */
static void walk_tree(const int *parents, int n, int *post, int *heads, int *nexts, int *stack) {
    int count = 0;
    for (int k = 0; k < n; k++)
        heads[k] = -1;
    for (int k = n - 1; k >= 0; k--)
        if (parents[k] != -1) {
            nexts[k] = heads[parents[k]];
            heads[parents[k]] = k;
        }
    for (int root = 0; root < n; root++) {
        if (parents[root] != -1)
            continue;
        int depth = 0;
        stack[depth++] = root;
        while (depth > 0) {
            const int k = stack[depth - 1], child = heads[k];
            if (child == -1) {
                post[count++] = k;
                depth--;
            } else {
                heads[k] = nexts[child];
                stack[depth++] = child;
            }
        }
    }
}

static ex_result order_rows(const exi_symmetric *a, int *order, ex_error *error) {
    const double entries = (double)a->starts[a->n];
    if (a->n == 0) /* AMD requires arrays */
        return EX_OK;
    if (2.4 * entries + 8.0 * (double)a->n >= INT_MAX)
        return ex_error_set(error, EX_ERROR_LIMIT, "a matrix of %d rows and %.0f entries is too large to be ordered",
                            a->n, entries);
    const int status = amd_order(a->n, a->starts, a->rows, order, NULL, NULL);
    if (status == AMD_OUT_OF_MEMORY)
        return ex_error_memory(error, "the order of elimination", (size_t)entries * 3 * sizeof(int));
    if (status == AMD_INVALID)
        return exi_misuse_error(error, __func__, "the pattern of the matrix is not valid");
    return EX_OK;
}

/* work [4][n] */
static void settle_order(const exi_symmetric *a, exi_elimination *e, int *work) {
    const size_t n = (size_t)e->n;
    int *post = work, *heads = work + n, *nexts = work + 2 * n, *stack = work + 3 * n;
    permute_rows(a, e, post);
    grow_tree(e, post);
    walk_tree(e->parents, e->n, post, heads, nexts, stack);
    int *order = heads, *places = nexts, *parents = stack;
    for (int k = 0; k < e->n; k++) {
        order[k] = e->order[post[k]];
        places[post[k]] = k;
    }
    for (int k = 0; k < e->n; k++)
        parents[k] = e->parents[post[k]] == -1 ? -1 : places[e->parents[post[k]]];
    for (int k = 0; k < e->n; k++) {
        e->order[k] = order[k];
        e->parents[k] = parents[k];
    }
    permute_rows(a, e, post);
}

void exi_elimination_free(exi_elimination *e) {
    free(e->order);
    free(e->places);
    free(e->parents);
    free(e->starts);
    free(e->columns);
    *e = (exi_elimination){0};
}

ex_result exi_eliminate(const exi_symmetric *a, exi_elimination *e, ex_error *error) {
    const size_t n = (size_t)a->n, entries = (size_t)a->starts[a->n];
    *e = (exi_elimination){.n = a->n};
    e->order = exi_array_allocate(n, sizeof *e->order);
    e->places = exi_array_allocate(n, sizeof *e->places);
    e->parents = exi_array_allocate(n, sizeof *e->parents);
    e->starts = exi_array_allocate(n + 1, sizeof *e->starts);
    e->columns = exi_array_allocate(entries, sizeof *e->columns);
    int *work = exi_array_allocate(n, 4 * sizeof *work);
    const bool room = e->order && e->places && e->parents && e->starts && e->columns && work;
    ex_result result = room ? order_rows(a, e->order, error)
                            : ex_error_memory(error, "the elimination tree", (8 * n + entries) * sizeof(int));
    if (result == EX_OK)
        settle_order(a, e, work);
    else
        exi_elimination_free(e);
    free(work);
    return result;
}

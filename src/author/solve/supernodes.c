/*
 * Supernodes: from the elimination tree to the pattern of L. Row k of L holds every j from which a path up the tree,
 * starting at an entry of A's row k, leads to k (Liu, 1990); counting these gives the length of each column. Columns j
 * and j + 1 have the same pattern if j + 1 is j's parent and is one entry shorter. These runs are then joined to their
 * parents if that adds few zeros: dense kernels lose more on short panels than on some zeros.
 */
#include "author/solve/factor.h"

#include "author/base/array.h"
#include "runtime/base/memory.h"
#include "runtime/base/result.h"

#include <stdlib.h>

/* True if a joined supernode of that many columns has few enough zeros, as a fraction of its entries. On a torus of 20
 * thousand vertices this hardly matters: joining none costs 2 % of a factorisation; twice as many zeros cost it and
 * solving 10 %. */
static bool is_worth_joining(int columns, double zeros, double entries) {
    return zeros < entries * (columns <= 16 ? 0.2 : columns <= 48 ? 0.1 : 0.05);
}

/* A run of columns while supernodes are being joined. */
typedef struct run {
    int columns, rows; /* rows of its panel, including those of its columns */
    double zeros;
} run;

static double trapezoid(double columns, double rows) {
    return columns * rows - columns * (columns - 1) / 2;
}

/* lengths [n] of the columns of L, with the diagonal; marks [n] is scratch memory */
static void count_columns(const exi_elimination *e, int *lengths, int *marks) {
    for (int k = 0; k < e->n; k++) {
        lengths[k] = 1;
        marks[k] = k;
        for (int i = e->starts[k]; i < e->starts[k + 1]; i++)
            for (int j = e->columns[i]; marks[j] != k; j = e->parents[j]) {
                lengths[j]++;
                marks[j] = k;
            }
    }
}

/* Splits columns into runs of the same pattern, the last run first, so that a parent has its final size before its
 * child comes. Returns their number. */
static int find_runs(const exi_elimination *e, const int *lengths, run *runs) {
    int count = 0;
    for (int k = e->n - 1; k >= 0; k--) {
        if (count > 0 && e->parents[k] == k + 1 && lengths[k] == lengths[k + 1] + 1) {
            runs[count - 1].columns++;
            runs[count - 1].rows++;
        } else {
            runs[count++] = (run){1, lengths[k], 0};
        }
    }
    return count;
}

/* Joins runs to their parents, in place, if the parent follows immediately. Returns the number of runs left. */
static int join_runs(const exi_elimination *e, run *runs, int count) {
    int joined = 0, end = e->n; /* end: of the present run, counting from the last */
    for (int r = 0; r < count; r++) {
        const run child = runs[r];
        run *parent = joined > 0 ? &runs[joined - 1] : NULL;
        if (parent && e->parents[end - 1] == end) {
            const double below = child.rows - child.columns;
            const run both = {child.columns + parent->columns, child.columns + parent->rows,
                              child.zeros + parent->zeros + child.columns * (parent->rows - below)};
            if (is_worth_joining(both.columns, both.zeros, trapezoid(both.columns, both.rows))) {
                *parent = both;
                end -= child.columns;
                continue;
            }
        }
        runs[joined++] = child;
        end -= child.columns;
    }
    return joined;
}

/* Allocates the factor's arrays, in one block. */
static ex_result allocate_factor(const exi_symmetric *a, const run *runs, int count, exi_factor **out,
                                 ex_error *error) {
    const size_t n = (size_t)a->n, s = (size_t)count, entries = (size_t)a->starts[a->n];
    exi_factor sizes = {.n = a->n, .supernode_count = count, .entry_count = a->starts[a->n]};
    size_t rows = 0, most = 0;
    exi_size values = {0};
    for (int r = 0; r < count; r++) {
        const double c = runs[r].columns, m = runs[r].rows;
        rows += (size_t)(runs[r].rows - runs[r].columns);
        most = (size_t)runs[r].rows > most ? (size_t)runs[r].rows : most;
        exi_size_add(&values, (size_t)runs[r].columns * (size_t)runs[r].rows, sizeof(double), 1);
        sizes.held += (size_t)trapezoid(c, m);
        for (double j = 0; j < c; j++) /* a column of length l takes l^2 operations */
            sizes.operations += (m - j) * (m - j);
    }
    exi_size total = {.overflow = values.overflow};
    exi_size_add(&total, 1, sizeof(exi_factor), EXI_ALIGN);
    const size_t order = exi_size_add(&total, n, sizeof(int), EXI_ALIGN);
    const size_t firsts = exi_size_add(&total, s + 1, sizeof(int), EXI_ALIGN);
    const size_t row_starts = exi_size_add(&total, s + 1, sizeof(size_t), EXI_ALIGN);
    const size_t below = exi_size_add(&total, rows, sizeof(int), EXI_ALIGN);
    const size_t value_starts = exi_size_add(&total, s + 1, sizeof(size_t), EXI_ALIGN);
    const size_t targets = exi_size_add(&total, entries, sizeof(size_t), EXI_ALIGN);
    const size_t diagonals = exi_size_add(&total, n, sizeof(int), EXI_ALIGN);
    const size_t floors = exi_size_add(&total, n, sizeof(double), EXI_ALIGN);
    const size_t supernodes = exi_size_add(&total, n, sizeof(int), EXI_ALIGN);
    const size_t local = exi_size_add(&total, n, sizeof(int), EXI_ALIGN);
    const size_t list = exi_size_add(&total, s, sizeof(int), EXI_ALIGN);
    const size_t next = exi_size_add(&total, s, sizeof(int), EXI_ALIGN);
    const size_t reached = exi_size_add(&total, s, sizeof(int), EXI_ALIGN);
    const size_t landing = exi_size_add(&total, most, sizeof(int), EXI_ALIGN);
    const size_t packed = exi_size_add(&total, EXI_PACKED, sizeof(double), EXI_ALIGN);
    const size_t panels = exi_size_add(&total, values.bytes, 1, EXI_ALIGN);
    exi_size_add(&total, EXI_ROWS_AT_ONCE, sizeof(double), sizeof(double));
    if (total.overflow)
        return ex_error_set(error, EX_ERROR_LIMIT, "the factor of a matrix of %d rows is larger than can be addressed",
                            a->n);
    char *block = exi_block_create(NULL, total.bytes);
    if (!block)
        return ex_error_memory(error, "the factor of a sparse matrix", total.bytes);
    exi_factor *f = (exi_factor *)(void *)block;
    *f = sizes;
    f->bytes = total.bytes;
    f->order = (int *)(void *)(block + order);
    f->firsts = (int *)(void *)(block + firsts);
    f->row_starts = (size_t *)(void *)(block + row_starts);
    f->rows = (int *)(void *)(block + below);
    f->value_starts = (size_t *)(void *)(block + value_starts);
    f->targets = (size_t *)(void *)(block + targets);
    f->diagonals = (int *)(void *)(block + diagonals);
    f->floors = (double *)(void *)(block + floors);
    f->supernodes = (int *)(void *)(block + supernodes);
    f->local = (int *)(void *)(block + local);
    f->list = (int *)(void *)(block + list);
    f->next = (int *)(void *)(block + next);
    f->reached = (int *)(void *)(block + reached);
    f->landing = (int *)(void *)(block + landing);
    f->packed = (double *)(void *)(block + packed);
    f->values = (double *)(void *)(block + panels);
    *out = f;
    return EX_OK;
}

static void number_supernodes(exi_factor *f, const exi_elimination *e, const run *runs) {
    const int count = f->supernode_count;
    for (int s = 0; s < count; s++) {
        const run *r = &runs[count - 1 - s];
        f->firsts[s + 1] = f->firsts[s] + r->columns;
        f->row_starts[s + 1] = f->row_starts[s] + (size_t)(r->rows - r->columns);
        f->value_starts[s + 1] = f->value_starts[s] + (size_t)r->columns * (size_t)r->rows;
        for (int j = f->firsts[s]; j < f->firsts[s + 1]; j++)
            f->supernodes[j] = s;
    }
    for (int k = 0; k < f->n; k++)
        f->order[k] = e->order[k];
}

/* Repeats the walks of count_columns, a supernode per step; rows come in ascending order. */
static void fill_rows(exi_factor *f, const exi_elimination *e) {
    int *marks = f->list, *filled = f->reached; /* not in use yet */
    for (int s = 0; s < f->supernode_count; s++) {
        marks[s] = -1;
        filled[s] = 0;
    }
    for (int k = 0; k < f->n; k++) {
        marks[f->supernodes[k]] = k;
        for (int i = e->starts[k]; i < e->starts[k + 1]; i++)
            for (int s = f->supernodes[e->columns[i]]; marks[s] != k;) {
                f->rows[f->row_starts[s] + (size_t)filled[s]++] = k;
                marks[s] = k;
                s = f->supernodes[e->parents[f->firsts[s + 1] - 1]];
            }
    }
}

static int find_row(const int *rows, int count, int row) {
    int low = 0, high = count;
    while (low < high) {
        const int middle = low + (high - low) / 2;
        if (rows[middle] < row)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void find_targets(exi_factor *f, const exi_symmetric *a, const exi_elimination *e) {
    for (int j = 0; j < a->n; j++)
        for (int i = a->starts[j]; i < a->starts[j + 1]; i++) {
            const int p = e->places[a->rows[i]], q = e->places[j];
            const int column = p > q ? q : p, row = p > q ? p : q;
            const int s = f->supernodes[column], columns = exi_column_count(f, s), below = exi_below_count(f, s);
            const int at = row < f->firsts[s + 1] ? row - f->firsts[s]
                                                  : columns + find_row(f->rows + f->row_starts[s], below, row);
            f->targets[i] =
                f->value_starts[s] + (size_t)(column - f->firsts[s]) * (size_t)(columns + below) + (size_t)at;
            if (p == q)
                f->diagonals[p] = i;
        }
}

ex_result exi_supernodes(const exi_symmetric *a, const exi_elimination *e, exi_factor **factor, ex_error *error) {
    const size_t n = (size_t)e->n;
    int *lengths = exi_array_allocate(n, sizeof *lengths), *marks = exi_array_allocate(n, sizeof *marks);
    run *runs = exi_array_allocate(n, sizeof *runs);
    ex_result result = EX_OK;
    if (!lengths || !marks || !runs) {
        result = ex_error_memory(error, "the pattern of a factor", n * (2 * sizeof *lengths + sizeof *runs));
    } else {
        count_columns(e, lengths, marks);
        const int count = join_runs(e, runs, find_runs(e, lengths, runs));
        result = allocate_factor(a, runs, count, factor, error);
        if (result == EX_OK) {
            number_supernodes(*factor, e, runs);
            fill_rows(*factor, e);
            find_targets(*factor, a, e);
        }
    }
    free(lengths);
    free(marks);
    free(runs);
    return result;
}

/*
 * bench/inside/sparse.c - the direct solver on the Laplacian of a closed mesh (a torus of triangles, held at one
 * vertex): a first factor, another one on the same pattern, and solves for three right-hand sides and for one. A solve
 * must read every entry of L twice. The solver is private to authoring: this group is part of a tool built together
 * with the libraries, not of one built against installed ones.
 */
#include "bench/bench.h"

#include "author/solve/solve.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct torus {
    exi_symmetric matrix;
    int *starts, *rows;
    double *values;
    exi_factor *factor;
    double *x, *work;
    ex_error *error;
    bool failed;
} torus;

static void run_create(void *context) {
    torus *t = context;
    exi_factor_destroy(t->factor);
    t->failed |= exi_factor_create(&t->matrix, NULL, &t->factor, t->error) != EX_OK;
}

static void run_refactor(void *context) {
    torus *t = context;
    t->failed |= exi_factor_refactor(t->factor, t->values, NULL, t->error) != EX_OK;
}

/* Solves in place, so the right-hand sides are written again every time. */
static void run_solve(void *context) {
    torus *t = context;
    for (int i = 0; i < 3 * t->matrix.n; i++)
        t->x[i] = i % 7;
    exi_factor_solve(t->factor, t->x, t->work);
}

static void run_solve_1(void *context) {
    torus *t = context;
    for (int i = 0; i < t->matrix.n; i++)
        t->x[i] = i % 7;
    exi_factor_solve_1(t->factor, t->x, t->work);
}

/* Column v: the diagonal, then the later ones of six neighbours, in ascending order. */
static int fill_column(torus *t, int side, int v, int at) {
    const int x = v % side, y = v / side, right = (x + 1) % side, left = (x + side - 1) % side;
    const int down = (y + 1) % side, up = (y + side - 1) % side;
    const int beside[6] = {y * side + right, y * side + left,     down * side + x,
                           up * side + x,    down * side + right, up * side + left};
    const int first = at;
    t->rows[at] = v;
    t->values[at++] = v == 0 ? 7 : 6;
    for (int i = 0; i < 6; i++) {
        if (beside[i] < v)
            continue;
        int to = at++;
        for (; to > first + 1 && t->rows[to - 1] > beside[i]; to--)
            t->rows[to] = t->rows[to - 1];
        t->rows[to] = beside[i];
        t->values[at - 1] = -1;
    }
    return at;
}

static bool open_torus(torus *t, int side) {
    const int n = side * side;
    t->starts = malloc(((size_t)n + 1) * sizeof *t->starts);
    t->rows = malloc((size_t)n * 7 * sizeof *t->rows);
    t->values = malloc((size_t)n * 7 * sizeof *t->values);
    t->x = malloc((size_t)n * 3 * sizeof *t->x);
    if (!t->starts || !t->rows || !t->values || !t->x)
        return false;
    t->starts[0] = 0;
    for (int v = 0; v < n; v++)
        t->starts[v + 1] = fill_column(t, side, v, t->starts[v]);
    t->matrix = (exi_symmetric){n, t->starts, t->rows, t->values};
    run_create(t);
    t->work = t->failed ? NULL : malloc(exi_factor_work_size(t->factor));
    return t->work != NULL;
}

static void close_torus(torus *t) {
    exi_factor_destroy(t->factor);
    free(t->starts);
    free(t->rows);
    free(t->values);
    free(t->x);
    free(t->work);
}

static void report(const exi_bench *bench, torus *t, const char *what, void (*run)(void *context), bool reads) {
    exi_work work = {run, t};
    exi_row row = {.group = "sparse", .vertex_count = t->matrix.n, .ns = exi_measure_alone(&work, bench->repeat)};
    snprintf(row.work, sizeof row.work, "%s, %d vertices", what, t->matrix.n);
    if (reads) {
        row.bytes = 16.0 * (double)exi_factor_stats(t->factor).entry_count;
        row.read_speed = exi_read_speed((size_t)row.bytes / 2, 1, bench->repeat);
    }
    bench->report(bench->user, &row);
}

bool exi_bench_sparse(const exi_bench *bench) {
    torus t = {.error = bench->error};
    const bool good = open_torus(&t, 141);
    if (good) {
        report(bench, &t, "factorise", run_create, false);
        report(bench, &t, "factorise again", run_refactor, false);
        report(bench, &t, "solve 3", run_solve, true);
        report(bench, &t, "solve 1", run_solve_1, true);
    }
    close_torus(&t);
    return good && !t.failed;
}

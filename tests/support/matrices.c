/*
 * Sparse matrices for tests; see matrices.h.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/check.h"
#include "support/matrices.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static matrix allocate(int n, int entries) {
    matrix m = {.starts = calloc((size_t)n + 1, sizeof *m.starts),
                .rows = calloc((size_t)entries + 1, sizeof *m.rows),
                .values = calloc((size_t)entries + 1, sizeof *m.values)};
    assert_true(m.starts && m.rows && m.values);
    m.view = (exi_symmetric){n, m.starts, m.rows, m.values};
    return m;
}

void matrix_free(matrix *m) {
    free(m->starts);
    free(m->rows);
    free(m->values);
    *m = (matrix){0};
}

matrix matrix_from_dense(const double *dense, int n) {
    matrix m = allocate(n, n * (n + 1) / 2);
    int count = 0;
    for (int j = 0; j < n; j++) {
        for (int i = j; i < n; i++)
            if (i == j || dense[(size_t)i * (size_t)n + (size_t)j] != 0) {
                m.rows[count] = i;
                m.values[count++] = dense[(size_t)i * (size_t)n + (size_t)j];
            }
        m.starts[j + 1] = count;
    }
    return m;
}

double *matrix_to_dense(const matrix *m) {
    const size_t n = (size_t)m->view.n;
    double *dense = calloc(n * n + 1, sizeof *dense);
    assert_non_null(dense);
    for (size_t j = 0; j < n; j++)
        for (int i = m->starts[j]; i < m->starts[j + 1]; i++)
            dense[(size_t)m->rows[i] * n + j] = dense[j * n + (size_t)m->rows[i]] = m->values[i];
    return dense;
}

typedef struct entry {
    int column, row;
    double value;
} entry;

static int compare_entries(const void *a, const void *b) {
    const entry *p = a, *q = b;
    return p->column != q->column ? (p->column > q->column) - (p->column < q->column)
                                  : (p->row > q->row) - (p->row < q->row);
}

matrix matrix_from_graph(const graph *g, double ground, bool shuffle) {
    const int entry_count = g->n + g->edge_count;
    entry *entries = calloc((size_t)entry_count + 1, sizeof *entries);
    int *numbers = calloc((size_t)g->n + 1, sizeof *numbers);
    assert_true(entries && numbers);
    uint64_t seed = 7;
    for (int v = 0; v < g->n; v++) {
        const int other = v > 1 && shuffle ? 1 + (int)(random_bits(&seed) % (uint64_t)v) : v;
        numbers[v] = numbers[other];
        numbers[other] = v;
        entries[v] = (entry){v, v, v == 0 ? ground : 0};
    }
    for (int e = 0; e < g->edge_count; e++) {
        const int a = numbers[g->edges[e][0]], b = numbers[g->edges[e][1]];
        entries[a].value += g->weights[e];
        entries[b].value += g->weights[e];
        entries[g->n + e] = (entry){a < b ? a : b, a < b ? b : a, -g->weights[e]};
    }
    qsort(entries, (size_t)entry_count, sizeof *entries, compare_entries);
    matrix m = allocate(g->n, entry_count);
    int count = 0;
    for (int i = 0; i < entry_count; i++) {
        if (i > 0 && compare_entries(&entries[i - 1], &entries[i]) == 0) {
            m.values[count - 1] += entries[i].value;
            continue;
        }
        m.rows[count] = entries[i].row;
        m.values[count++] = entries[i].value;
        m.starts[entries[i].column + 1] = count;
    }
    free(entries);
    free(numbers);
    return m;
}

static graph graph_open(int n, int edge_most) {
    graph g = {.n = n};
    g.edges = calloc((size_t)edge_most, sizeof *g.edges);
    g.weights = calloc((size_t)edge_most, sizeof *g.weights);
    assert_true(g.edges && g.weights);
    return g;
}

static void add_edge(graph *g, int a, int b, uint64_t *seed) {
    g->edges[g->edge_count][0] = a;
    g->edges[g->edge_count][1] = b;
    g->weights[g->edge_count++] = random_between(seed, 0.5, 1.5);
}

graph graph_grid(int width, int height) {
    graph g = graph_open(width * height, 3 * width * height);
    uint64_t seed = 1;
    for (int y = 0; y < height; y++)
        for (int x = 0; x < width; x++) {
            const int v = y * width + x;
            if (x + 1 < width)
                add_edge(&g, v, v + 1, &seed);
            if (y + 1 < height)
                add_edge(&g, v, v + width, &seed);
            if (x + 1 < width && y + 1 < height)
                add_edge(&g, v, v + width + 1, &seed);
        }
    return g;
}

graph graph_sphere(int rings, int segments) {
    const int n = rings * segments + 2;
    graph g = graph_open(n, 3 * n);
    uint64_t seed = 2;
    for (int s = 0; s < segments; s++) {
        add_edge(&g, n - 2, s, &seed);
        add_edge(&g, n - 1, (rings - 1) * segments + s, &seed);
        for (int r = 0; r < rings; r++) {
            const int v = r * segments + s, beside = r * segments + (s + 1) % segments;
            add_edge(&g, v, beside, &seed);
            if (r + 1 < rings) {
                add_edge(&g, v, v + segments, &seed);
                add_edge(&g, v, beside + segments, &seed);
            }
        }
    }
    return g;
}

void graph_free(graph *g) {
    free(g->edges);
    free(g->weights);
    *g = (graph){0};
}

double matrix_residual(const matrix *m, int width, const double *x, const double *b) {
    const int n = m->view.n;
    double *product = calloc((size_t)(n * width) + 1, sizeof *product), *sums = calloc((size_t)n + 1, sizeof *sums);
    assert_true(product && sums);
    exi_symmetric_apply(&m->view, width, x, product);
    for (int j = 0; j < n; j++)
        for (int i = m->starts[j]; i < m->starts[j + 1]; i++) {
            sums[m->rows[i]] += fabs(m->values[i]);
            sums[j] += fabs(m->values[i]);
        }
    double worst = 0, most_b = 0, most_x = 0, most_sum = 0;
    for (int i = 0; i < n * width; i++) {
        const double off = fabs(b[i] - product[i]);
        worst = off <= worst ? worst : off; /* keeps NaN */
        most_b = fabs(b[i]) > most_b ? fabs(b[i]) : most_b;
        most_x = fabs(x[i]) > most_x ? fabs(x[i]) : most_x;
    }
    for (int i = 0; i < n; i++)
        most_sum = sums[i] > most_sum ? sums[i] : most_sum;
    free(product);
    free(sums);
    return worst == 0 ? 0 : worst / (most_b + most_sum * most_x);
}

double *random_numbers(int count, uint64_t seed) {
    double *numbers = calloc((size_t)count + 1, sizeof *numbers);
    assert_non_null(numbers);
    for (int i = 0; i < count; i++)
        numbers[i] = random_between(&seed, -1, 1);
    return numbers;
}

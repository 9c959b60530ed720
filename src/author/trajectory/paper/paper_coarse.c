/*
 * A coarse space for the steps of paper mode. On fine meshes, blocks of the diagonal cannot see errors that are smooth
 * over many triangles, and conjugate gradients would need steps in proportion to the vertices across.
 *
 * With the miss z as an unknown (paper.h) the pose term fixes z, and the smooth, cheap changes are those of w alone,
 * with the velocities following. So w = sum over seeds j of P_j c_j, with P_j falling from 1 at a seed to 0 some edges
 * away, and summing to 1; the distance between seeds makes a fixed fraction of the vertices seeds. The preconditioner
 * adds Q (Q^T A Q)^-1 Q^T, Q being P on w and 0 on the rest, to the blocks' inverses; the small matrix is factorised.
 * In it the curl is taken per triangle, not averaged per vertex. That is the same where w is smooth, and makes the
 * matrix a sum over triangles.
 */
#include "author/base/array.h"
#include "author/trajectory/matrix.h"
#include "author/trajectory/paper/paper.h"
#include "runtime/base/result.h"

#include <limits.h>
#include <stdlib.h>

#define FEWEST 100 /* vertices; with fewer, the blocks are enough */
#define NEAR   4   /* every vertex is at most this many edges from a seed */
#define REACH  6   /* a function ends this many edges from its seed */
#define MOST   16  /* seeds that a triangle may see */

typedef struct entry {
    int vertex, seed;
    double weight;
} entry;

struct exi_coarse {
    int count;          /* number of seeds */
    int *entry_starts;  /* [vertex_count + 1] */
    entry *entries;     /* by vertex */
    int *block_starts;  /* [count + 1]: the lower triangle in blocks of 3x3, by columns */
    int *block_rows;    /* the diagonal first, then ascending */
    double *blocks;     /* [..][9] */
    int *starts, *rows; /* the same for scalars */
    double *values;
    exi_factor *factor;
    double *right, *work;
};

void exi_coarse_free(struct exi_coarse *coarse) {
    if (!coarse)
        return;
    free(coarse->entry_starts);
    free(coarse->entries);
    free(coarse->block_starts);
    free(coarse->block_rows);
    free(coarse->blocks);
    free(coarse->starts);
    free(coarse->rows);
    free(coarse->values);
    exi_factor_destroy(coarse->factor);
    free(coarse->right);
    free(coarse->work);
    free(coarse);
}

/* ---- seeds ---- */

typedef struct search {
    const exi_paper *paper;
    int *steps;  /* [vertex_count]: from the present seed, -1: not reached */
    bool *near;  /* [vertex_count]: true if there is a seed near */
    int *queue;  /* [vertex_count] */
    entry *list; /* in the order of seeds */
    size_t count, capacity;
} search;

/* Adds an entry for every vertex within REACH edges of a seed. */
static bool spread(search *s, int from, int seed) {
    const ex_between *b = s->paper->between;
    int count = 1;
    s->queue[0] = from;
    s->steps[from] = 0;
    for (int head = 0; head < count; head++) {
        int v = s->queue[head], step = s->steps[v] + 1;
        for (int k = b->triangle_starts[v]; k < b->triangle_starts[v + 1] && step <= REACH; k++)
            for (int c = 0; c < 3; c++) {
                int other = b->triangles[3 * (size_t)(b->triangle_list[k] / 3) + (size_t)c];
                if (s->steps[other] >= 0 || s->paper->shares[other] == 0)
                    continue;
                s->steps[other] = step;
                s->queue[count++] = other;
            }
    }
    entry *grown = exi_array_grow(s->list, &s->capacity, s->count + (size_t)count, sizeof *s->list);
    if (!grown)
        return false;
    s->list = grown;
    for (int i = 0; i < count; i++) {
        int v = s->queue[i], step = s->steps[v];
        s->list[s->count++] = (entry){v, seed, 1 - step / (REACH + 1.0)};
        s->near[v] = s->near[v] || step <= NEAR;
        s->steps[v] = -1;
    }
    return true;
}

/* Sorts entries by vertex and scales their weights to sum to 1; keeps the nearest MOST / 3 seeds of a vertex. */
static bool sort_entries(search *s, struct exi_coarse *coarse) {
    int n = s->paper->between->vertex_count, kept = 0;
    coarse->entry_starts = calloc((size_t)n + 2, sizeof *coarse->entry_starts);
    coarse->entries = exi_array_allocate(s->count, sizeof *coarse->entries);
    if (!coarse->entry_starts || !coarse->entries || s->count > INT_MAX)
        return false;
    int *starts = coarse->entry_starts;
    for (size_t k = 0; k < s->count; k++)
        starts[s->list[k].vertex + 2]++;
    for (int v = 0; v < n; v++)
        starts[v + 2] += starts[v + 1];
    for (size_t k = 0; k < s->count; k++)
        coarse->entries[starts[s->list[k].vertex + 1]++] = s->list[k];
    for (int v = 0; v < n; v++) {
        int first = kept;
        double sum = 0;
        for (int k = starts[v]; k < starts[v + 1]; k++) {
            entry own = coarse->entries[k];
            int at = kept;
            for (; at > first && coarse->entries[at - 1].weight < own.weight; at--)
                if (at - first < MOST / 3)
                    coarse->entries[at] = coarse->entries[at - 1];
            if (at - first < MOST / 3) {
                coarse->entries[at] = own;
                kept += kept - first < MOST / 3;
            }
        }
        starts[v] = first;
        for (int k = first; k < kept; k++)
            sum += coarse->entries[k].weight;
        for (int k = first; k < kept; k++)
            coarse->entries[k].weight /= sum;
    }
    starts[n] = kept;
    return true;
}

static bool find_seeds(const exi_paper *paper, struct exi_coarse *coarse) {
    size_t n = (size_t)paper->between->vertex_count;
    search s = {.paper = paper};
    s.steps = exi_array_allocate(n, sizeof *s.steps);
    s.near = calloc(n, sizeof *s.near);
    s.queue = exi_array_allocate(n, sizeof *s.queue);
    bool done = s.steps && s.near && s.queue;
    for (size_t v = 0; v < n && done; v++)
        s.steps[v] = -1;
    for (int v = 0; v < (int)n && done; v++)
        if (!s.near[v] && paper->shares[v] != 0)
            done = spread(&s, v, coarse->count++);
    done = done && sort_entries(&s, coarse);
    free(s.steps);
    free(s.near);
    free(s.queue);
    free(s.list);
    return done;
}

/* ---- the matrix ---- */

/* Finds the seeds that a triangle sees, ascending, and the weight of each at each corner. */
static int seeds_of(const exi_paper *paper, int t, int seeds[MOST], double weights[MOST][3]) {
    const struct exi_coarse *coarse = paper->coarse;
    int count = 0;
    for (int c = 0; c < 3; c++) {
        int v = paper->between->triangles[3 * (size_t)t + (size_t)c];
        for (int k = coarse->entry_starts[v]; k < coarse->entry_starts[v + 1]; k++) {
            int seed = coarse->entries[k].seed, at = count;
            while (at > 0 && seeds[at - 1] > seed)
                at--;
            if (at == 0 || seeds[at - 1] != seed) {
                for (int i = count++; i > at; i--) {
                    seeds[i] = seeds[i - 1];
                    memcpy(weights[i], weights[i - 1], sizeof weights[i]);
                }
                seeds[at] = seed;
                memset(weights[at], 0, sizeof weights[at]);
                at++;
            }
            weights[at - 1][c] = coarse->entries[k].weight;
        }
    }
    return count;
}

static int *find_block(const struct exi_coarse *coarse, int row, int column) {
    int low = coarse->block_starts[column], high = coarse->block_starts[column + 1] - 1;
    while (low < high) {
        int middle = (low + high) / 2;
        if (coarse->block_rows[middle] < row)
            low = middle + 1;
        else
            high = middle;
    }
    return &coarse->block_rows[low];
}

typedef struct pair {
    int column, row;
} pair;

static int compare_pairs(const void *a, const void *b) {
    const pair *p = a, *q = b;
    return p->column != q->column ? (p->column < q->column ? -1 : 1) : (p->row > q->row) - (p->row < q->row);
}

static size_t drop_doubles(pair *pairs, size_t count) {
    size_t kept = 0;
    if (count)
        qsort(pairs, count, sizeof *pairs, compare_pairs);
    for (size_t k = 0; k < count; k++)
        if (kept == 0 || compare_pairs(&pairs[kept - 1], &pairs[k]) != 0)
            pairs[kept++] = pairs[k];
    return kept;
}

/* Finds the pairs of seeds that meet in a triangle. */
static bool find_pattern(const exi_paper *paper, struct exi_coarse *coarse) {
    const ex_between *b = paper->between;
    pair *pairs = NULL;
    size_t count = 0, capacity = 0, limit = 1 << 16;
    bool done = true;
    for (int t = 0; t <= b->triangle_count && done; t++) {
        int seeds[MOST];
        double weights[MOST][3];
        int seen = t < b->triangle_count && b->areas[t] != 0 ? seeds_of(paper, t, seeds, weights) : 0;
        pair *grown = exi_array_grow(pairs, &capacity, count + MOST * MOST, sizeof *pairs);
        done = grown != NULL;
        pairs = done ? grown : pairs;
        for (int i = 0; i < seen && done; i++)
            for (int k = 0; k <= i; k++)
                pairs[count++] = (pair){seeds[k], seeds[i]};
        if (done && (count > limit || t == b->triangle_count)) {
            count = drop_doubles(pairs, count);
            limit = 2 * count + (1 << 16);
        }
    }
    coarse->block_starts = calloc((size_t)coarse->count + 1, sizeof *coarse->block_starts);
    coarse->block_rows = exi_array_allocate(count, sizeof *coarse->block_rows);
    coarse->blocks = exi_array_allocate(count, 9 * sizeof *coarse->blocks);
    done = done && coarse->block_starts && coarse->block_rows && coarse->blocks && 9 * count < INT_MAX;
    for (size_t k = 0; k < count && done; k++) {
        coarse->block_starts[pairs[k].column + 1]++;
        coarse->block_rows[k] = pairs[k].row;
    }
    for (int i = 0; i < coarse->count && done; i++)
        coarse->block_starts[i + 1] += coarse->block_starts[i];
    free(pairs);
    return done;
}

/* Finds the pattern of the scalar matrix: of a diagonal block, the lower triangle. */
static bool find_places(struct exi_coarse *coarse) {
    size_t most = 9 * (size_t)coarse->block_starts[coarse->count];
    coarse->starts = exi_array_allocate(3 * (size_t)coarse->count + 1, sizeof *coarse->starts);
    coarse->rows = exi_array_allocate(most, sizeof *coarse->rows);
    coarse->values = exi_array_allocate(most, sizeof *coarse->values);
    if (!coarse->starts || !coarse->rows || !coarse->values)
        return false;
    int at = 0;
    for (int column = 0; column < 3 * coarse->count; column++) {
        coarse->starts[column] = at;
        for (int k = coarse->block_starts[column / 3]; k < coarse->block_starts[column / 3 + 1]; k++)
            for (int i = 0; i < 3; i++)
                if (3 * coarse->block_rows[k] + i >= column)
                    coarse->rows[at++] = 3 * coarse->block_rows[k] + i;
    }
    coarse->starts[3 * coarse->count] = at;
    return true;
}

/* A triangle's part of the matrix of w at its corners, as [3][3] blocks: gradients from C w, curls from -B w. */
static void triangle_matrix(const exi_paper *paper, int t, double k[3][3][9]) {
    const ex_between *b = paper->between;
    const int *corners = &b->triangles[3 * (size_t)t];
    const double *slopes = &b->slopes[9 * (size_t)t];
    double gamma = paper->weights[EXI_PAPER_GRADIENT] * b->size * b->size, curls[3][9];
    memset(k, 0, 81 * sizeof(double));
    for (int a = 0; a < 3; a++) {
        double curl[9];
        exi_paper_curl(paper, t, a, curl);
        memset(curls[a], 0, sizeof curls[a]);
        exi_m3_multiply(curl, &paper->maps[36 * (size_t)corners[a] + 9], 1, curls[a]);
        for (int c = 0; c < 3; c++)
            exi_m3_multiply_transposed(&paper->maps[36 * (size_t)corners[a] + 27],
                                       &paper->maps[36 * (size_t)corners[c] + 27],
                                       gamma * exi_dot3(slopes + 3 * a, slopes + 3 * c), k[a][c]);
    }
    for (int i = 0; i < 3; i++) {
        double share = paper->weights[EXI_PAPER_ROTATION] * paper->shares[corners[i]];
        if (!exi_paper_counts(paper, t, i))
            continue;
        for (int m = 0; m < 9; m += 4)
            curls[i][m] += 1; /* the corner's own w */
        for (int a = 0; a < 3; a++)
            for (int c = 0; c < 3; c++)
                exi_m3_multiply_transposed(curls[a], curls[c], share, k[a][c]);
        for (int m = 0; m < 9; m += 4) {
            curls[i][m] -= 1;
            k[i][i][m] += paper->damping[1] * paper->shares[corners[i]];
        }
    }
}

static void add_triangle(const exi_paper *paper, int t) {
    struct exi_coarse *coarse = paper->coarse;
    int seeds[MOST];
    double weights[MOST][3], k[3][3][9];
    int count = seeds_of(paper, t, seeds, weights);
    triangle_matrix(paper, t, k);
    for (int v = 0; v < count; v++) {
        double part[3][9] = {{0}};
        for (int a = 0; a < 3; a++)
            for (int c = 0; c < 3; c++)
                for (int m = 0; m < 9; m++)
                    part[a][m] += weights[v][c] * k[a][c][m];
        for (int u = v; u < count; u++) {
            double *block = &coarse->blocks[9 * (find_block(coarse, seeds[u], seeds[v]) - coarse->block_rows)];
            for (int a = 0; a < 3; a++)
                for (int m = 0; m < 9; m++)
                    block[m] += weights[u][a] * part[a][m];
        }
    }
}

ex_result exi_coarse_refill(exi_paper *paper, ex_error *error) {
    struct exi_coarse *coarse = paper->coarse;
    if (!coarse)
        return EX_OK;
    memset(coarse->blocks, 0, 9 * (size_t)coarse->block_starts[coarse->count] * sizeof *coarse->blocks);
    for (int t = 0; t < paper->between->triangle_count; t++)
        if (paper->between->areas[t] != 0)
            add_triangle(paper, t);
    int at = 0;
    for (int column = 0; column < 3 * coarse->count; column++) {
        int first = at;
        for (int k = coarse->block_starts[column / 3]; k < coarse->block_starts[column / 3 + 1]; k++)
            for (int i = 0; i < 3; i++)
                if (3 * coarse->block_rows[k] + i >= column)
                    coarse->values[at++] = coarse->blocks[9 * (size_t)k + (size_t)(3 * i + column % 3)];
        /* If nothing moves, w is determined only by a curl of zero, or not at all. */
        coarse->values[first] = coarse->values[first] * (1 + 1e-9) + 1e-200;
    }
    exi_symmetric a = {3 * coarse->count, coarse->starts, coarse->rows, coarse->values};
    ex_result result = coarse->factor ? exi_factor_refactor(coarse->factor, coarse->values, NULL, error)
                                      : exi_factor_create(&a, NULL, &coarse->factor, error);
    if (result == EX_ERROR_SINGULAR) {
        /* The coarse space only speeds up the steps; the blocks alone work without it. */
        exi_coarse_free(coarse);
        paper->coarse = NULL;
        return EX_OK;
    }
    if (result == EX_OK && !coarse->work)
        coarse->work = malloc(exi_factor_work_size(coarse->factor));
    return result != EX_OK || coarse->work
               ? result
               : ex_error_memory(error, "a coarse space", exi_factor_work_size(coarse->factor));
}

void exi_coarse_correct(exi_paper *paper, const double *r, double *z) {
    struct exi_coarse *coarse = paper->coarse;
    memset(coarse->right, 0, 3 * (size_t)coarse->count * sizeof *coarse->right);
    for (int v = 0; v < paper->between->vertex_count; v++)
        for (int k = coarse->entry_starts[v]; k < coarse->entry_starts[v + 1]; k++)
            for (int m = 0; m < 3; m++)
                coarse->right[3 * coarse->entries[k].seed + m] +=
                    coarse->entries[k].weight * r[6 * (size_t)v + 3 + (size_t)m];
    exi_factor_solve_1(coarse->factor, coarse->right, coarse->work);
    for (int v = 0; v < paper->between->vertex_count; v++)
        for (int k = coarse->entry_starts[v]; k < coarse->entry_starts[v + 1]; k++)
            for (int m = 0; m < 3; m++)
                z[6 * (size_t)v + 3 + (size_t)m] +=
                    coarse->entries[k].weight * coarse->right[3 * coarse->entries[k].seed + m];
}

ex_result exi_coarse_create(exi_paper *paper, ex_error *error) {
    if (paper->between->vertex_count < FEWEST)
        return EX_OK;
    struct exi_coarse *coarse = calloc(1, sizeof *coarse);
    paper->coarse = coarse;
    bool done = coarse && find_seeds(paper, coarse) && find_pattern(paper, coarse) && find_places(coarse);
    if (done) {
        coarse->right = exi_array_allocate(3 * (size_t)coarse->count, sizeof *coarse->right);
        done = coarse->right != NULL;
    }
    return done ? EX_OK : ex_error_memory(error, "a coarse space", 16 * (size_t)paper->between->vertex_count);
}

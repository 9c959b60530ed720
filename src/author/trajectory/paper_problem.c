/*
 * What the energies of the trajectory-warping paper need to know of a mesh and an example: K^-1 of equation 11, the
 * right side of equation 18 with the target R^(1/2) ((I + S) / 2), start values (equations 21, 22) and weights.
 *
 * Weights. Terms are balanced so that their Hessians 2 J^T J at the start, in the unknowns v and w of the vertices,
 * have the same Frobenius norm; the options scale alpha, beta and gamma, which enter squared. Bases do not take part in
 * the balance: the block of a basis is a sum over all vertices below it, and would let the pose count the less the
 * finer the mesh is. With W the curl matrix and J_i = (R~, d R~ v / d w) of a vertex, once at time 1 and once halved at
 * 1/2:
 *
 *   pose      |J^T J|^2 = sum over i of |J_i^T J_i|^2
 *   rotation  |J^T J|^2 = |W W^T|^2 + 2 |W|^2 + |I|^2
 *   gradient  |J^T J|^2 = sum over i, j of L_ij^2 |J_i^T J_j|^2, L_ij = sum over triangles of slope_i slope_j
 */
#include "author/formats/array.h"
#include "author/trajectory/matrix.h"
#include "author/trajectory/paper.h"
#include "runtime/base/memory.h"
#include "runtime/base/result.h"

#include <limits.h>
#include <stdlib.h>

bool exi_paper_counts(const exi_paper *paper, int triangle, int corner) {
    const ex_between *b = paper->between;
    if (b->areas[triangle] == 0)
        return false;
    return !paper->segment_count || paper->segments->triangles[triangle] ==
                                        paper->segments->vertices[b->triangles[3 * (size_t)triangle + (size_t)corner]];
}

void exi_paper_curl(const exi_paper *paper, int triangle, int corner, double w[9]) {
    const ex_between *b = paper->between;
    const int *corners = &b->triangles[3 * (size_t)triangle];
    const double *k = &paper->inertias[6 * (size_t)triangle];
    double q[3];
    for (int i = 0; i < 3; i++) {
        double middle = 0;
        for (int c = 0; c < 3; c++)
            middle += b->start[3 * (size_t)corners[c] + (size_t)i] / 3;
        q[i] = (b->start[3 * (size_t)corners[corner] + (size_t)i] - middle) * paper->scale;
    }
    double qx[9] = {0, q[2], -q[1], -q[2], 0, q[0], q[1], -q[0], 0}; /* -[q]_x */
    double m[9] = {k[0], k[3], k[4], k[3], k[1], k[5], k[4], k[5], k[2]};
    memset(w, 0, 9 * sizeof *w);
    exi_m3_multiply(m, qx, 1, w);
}

/* ---- constants ---- */

static void set_inertia(exi_paper *paper, int t) {
    const ex_between *b = paper->between;
    const int *corners = &b->triangles[3 * (size_t)t];
    double k[9] = {0}, inverse[9], middle[3] = {0, 0, 0};
    for (int c = 0; c < 3; c++)
        for (int i = 0; i < 3; i++)
            middle[i] += b->start[3 * (size_t)corners[c] + (size_t)i] / 3;
    for (int c = 0; c < 3; c++) {
        double q[3];
        for (int i = 0; i < 3; i++)
            q[i] = (b->start[3 * (size_t)corners[c] + (size_t)i] - middle[i]) * paper->scale;
        for (int i = 0; i < 3; i++) {
            k[4 * i] -= exi_dot3(q, q);
            for (int m = 0; m < 3; m++)
                k[3 * i + m] += q[i] * q[m];
        }
    }
    exi_m3_invert(k, inverse);
    double *out = &paper->inertias[6 * (size_t)t];
    out[0] = inverse[0], out[1] = inverse[4], out[2] = inverse[8];
    out[3] = inverse[1], out[4] = inverse[2], out[5] = inverse[5];
}

static void set_goal(exi_paper *paper, int t) {
    const ex_between *b = paper->between;
    const double *s = &b->stretches[6 * (size_t)t], *w = &b->turns[3 * (size_t)t], *n = &b->normals[3 * (size_t)t];
    double half[3] = {w[0] / 2, w[1] / 2, w[2] / 2}, r[9], g[9] = {0}, flat[9];
    double middle[9] = {(1 + s[0]) / 2, s[3] / 2, s[4] / 2, s[3] / 2,      (1 + s[1]) / 2,
                        s[5] / 2,       s[4] / 2, s[5] / 2, (1 + s[2]) / 2};
    exi_turn_matrix(half, (double(*)[3])r);
    exi_m3_multiply(r, middle, 1, g);
    for (int i = 0; i < 3; i++)
        g[4 * i] -= 1;
    for (int i = 0; i < 9; i++)
        flat[i] = (i % 4 == 0 ? 1 : 0) - n[i / 3] * n[i % 3];
    double *out = &paper->goals[9 * (size_t)t];
    memset(out, 0, 9 * sizeof *out);
    exi_m3_multiply(g, flat, 1, out);
}

static void set_triangles(void *context, int begin, int end) {
    exi_paper *paper = context;
    for (int t = begin; t < end; t++)
        if (paper->between->areas[t] != 0) {
            set_inertia(paper, t);
            set_goal(paper, t);
        }
}

/* Shares, targets and turns; a vertex without triangles goes straight. */
static void set_vertices(void *context, int begin, int end) {
    exi_paper *paper = context;
    const ex_between *b = paper->between;
    for (int i = begin; i < end; i++) {
        size_t at = 3 * (size_t)i;
        double sum[3] = {0, 0, 0};
        int count = 0;
        for (int k = b->triangle_starts[i]; k < b->triangle_starts[i + 1]; k++) {
            int t = b->triangle_list[k] / 3;
            if (!exi_paper_counts(paper, t, b->triangle_list[k] % 3))
                continue;
            count++;
            for (int m = 0; m < 3; m++)
                sum[m] += b->turns[3 * (size_t)t + (size_t)m];
        }
        paper->shares[i] = count ? 1.0 / count : 0;
        for (size_t m = 0; m < 3; m++) {
            paper->targets[at + m] = (b->aligned[at + m] - b->start[at + m]) * paper->scale;
            paper->states[0].turns[at + m] = count ? sum[m] / count : 0;
            paper->states[0].misses[at + m] = 0;
        }
    }
}

/* ---- weights ---- */

/* Rows of the curl matrix: of a vertex that counts triangles, over their corners. */
typedef struct curl_rows {
    int *starts, *columns;
    double *values; /* [..][9] */
    int *slots;     /* [vertex_count]: where a column stands in the row being made; -1 */
} curl_rows;

static void free_rows(curl_rows *rows) {
    free(rows->starts);
    free(rows->columns);
    free(rows->values);
    free(rows->slots);
}

static bool make_rows(const exi_paper *paper, curl_rows *rows) {
    const ex_between *b = paper->between;
    size_t n = (size_t)b->vertex_count, most = 0;
    for (int k = 0; k < 3 * b->triangle_count; k++)
        most += exi_paper_counts(paper, b->triangle_list[k] / 3, b->triangle_list[k] % 3) ? 2 : 0;
    /* A vertex with m triangles has at most 2 m neighbours, on a closed surface half as many. */
    most += n;
    rows->starts = exi_array_allocate(n + 1, sizeof *rows->starts);
    rows->columns = exi_array_allocate(most, sizeof *rows->columns);
    rows->values = exi_array_allocate(most, 9 * sizeof *rows->values);
    rows->slots = exi_array_allocate(n, sizeof *rows->slots);
    if (!rows->starts || !rows->columns || !rows->values || !rows->slots || most > INT_MAX)
        return false;
    for (size_t i = 0; i < n; i++)
        rows->slots[i] = -1;
    int count = 0;
    for (int i = 0; i < b->vertex_count; i++) {
        rows->starts[i] = count;
        for (int k = b->triangle_starts[i]; k < b->triangle_starts[i + 1]; k++) {
            int t = b->triangle_list[k] / 3;
            for (int c = 0; c < 3 && exi_paper_counts(paper, t, b->triangle_list[k] % 3); c++) {
                int j = b->triangles[3 * (size_t)t + (size_t)c];
                double w[9];
                if (rows->slots[j] < 0) {
                    memset(&rows->values[9 * (size_t)count], 0, sizeof w);
                    rows->columns[count] = j;
                    rows->slots[j] = count++;
                }
                exi_paper_curl(paper, t, c, w);
                for (size_t m = 0; m < 9; m++)
                    rows->values[9 * (size_t)rows->slots[j] + m] += paper->shares[i] * w[m];
            }
        }
        for (int k = rows->starts[i]; k < count; k++)
            rows->slots[rows->columns[k]] = -1;
    }
    rows->starts[b->vertex_count] = count;
    return true;
}

/* |W W^T|^2 + 2 |W|^2 + |I|^2; also W_ii and the sums of W_ki^T W_ki, for blocks of the diagonal. */
static double rotation_norm_sq(exi_paper *paper, curl_rows *rows) {
    const ex_between *b = paper->between;
    double sum = 0;
    memset(paper->curl_self, 0, 9 * (size_t)b->vertex_count * sizeof(double));
    memset(paper->curl_sq, 0, 6 * (size_t)b->vertex_count * sizeof(double));
    for (int i = 0; i < b->vertex_count; i++) {
        double whole = 0, own = 0;
        if (paper->shares[i] == 0)
            continue;
        for (int k = rows->starts[i]; k < rows->starts[i + 1]; k++) {
            const double *m = &rows->values[9 * (size_t)k];
            int column = rows->columns[k];
            double *sq = &paper->curl_sq[6 * (size_t)column];
            rows->slots[column] = k;
            for (int a = 0; a < 9; a++)
                own += m[a] * m[a];
            for (int a = 0; a < 3; a++) {
                sq[a] += m[a] * m[a] + m[3 + a] * m[3 + a] + m[6 + a] * m[6 + a];
                int p = a < 2 ? 0 : 1, q = a == 0 ? 1 : 2;
                sq[3 + a] += m[p] * m[q] + m[3 + p] * m[3 + q] + m[6 + p] * m[6 + q];
            }
            if (column == i)
                memcpy(&paper->curl_self[9 * (size_t)i], m, 9 * sizeof *m);
        }
        /* Rows that may share a column with this one: those of the corners of its columns' triangles. Each pair once.
         */
        for (int k = rows->starts[i]; k < rows->starts[i + 1]; k++) {
            int j = rows->columns[k];
            for (int u = b->triangle_starts[j]; u < b->triangle_starts[j + 1]; u++)
                for (int c = 0; c < 3; c++) {
                    int other = b->triangles[3 * (size_t)(b->triangle_list[u] / 3) + (size_t)c];
                    if (other > i || paper->shares[other] == 0 || paper->states[1].gradients[other] == i + 1)
                        continue;
                    paper->states[1].gradients[other] = i + 1; /* borrowed: the last row that met this one */
                    double m[9] = {0};
                    for (int l = rows->starts[other]; l < rows->starts[other + 1]; l++) {
                        int slot = rows->slots[rows->columns[l]];
                        if (slot < 0)
                            continue;
                        const double *x = &rows->values[9 * (size_t)slot], *y = &rows->values[9 * (size_t)l];
                        for (int p = 0; p < 3; p++)
                            for (int q = 0; q < 3; q++)
                                m[3 * p + q] += exi_dot3(x + 3 * p, y + 3 * q);
                    }
                    double square = 0;
                    for (int p = 0; p < 9; p++)
                        square += m[p] * m[p];
                    whole += other == i ? square : 2 * square;
                }
        }
        for (int k = rows->starts[i]; k < rows->starts[i + 1]; k++)
            rows->slots[rows->columns[k]] = -1;
        sum += whole + 2 * own + 3;
    }
    return sum;
}

/* J_i^T J_j in norm, squared: both are [3][6], as (R~ | derivative). */
static double product_norm_sq(const double *a, const double *b) {
    double sum = 0;
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 6; j++) {
            double x = a[i] * b[j] + a[6 + i] * b[6 + j] + a[12 + i] * b[12 + j];
            sum += x * x;
        }
    return sum;
}

static void vertex_rows(const exi_paper *paper, int i, double t, double rows[18]) {
    const double *w = &paper->states[0].turns[3 * (size_t)i], *v = &paper->states[0].velocities[3 * (size_t)i];
    double part[3] = {t * w[0], t * w[1], t * w[2]}, r[3][3], d[3][3];
    exi_mean_turn(part, r);
    exi_mean_turn_derivative(part, v, d);
    for (int a = 0; a < 3; a++)
        for (int c = 0; c < 3; c++) {
            rows[6 * a + c] = t * r[a][c];
            rows[6 * a + 3 + c] = t * t * d[a][c];
        }
}

static double pose_norm_sq(const exi_paper *paper) {
    double sum = 0, rows[18];
    for (int i = 0; i < paper->between->vertex_count; i++)
        if (paper->shares[i] != 0) {
            vertex_rows(paper, i, 1, rows);
            sum += product_norm_sq(rows, rows);
        }
    return sum;
}

/* Also the sums of squared slopes, for blocks of the diagonal. slots [vertex_count] are -1. */
static double gradient_norm_sq(exi_paper *paper, int *slots, double *values, int *columns) {
    const ex_between *b = paper->between;
    double sum = 0, unit = b->size * b->size;
    for (int i = 0; i < b->vertex_count; i++) {
        int count = 0;
        double own[18], other[18];
        paper->slope_sq[i] = 0;
        for (int k = b->triangle_starts[i]; k < b->triangle_starts[i + 1]; k++) {
            size_t t = (size_t)(b->triangle_list[k] / 3);
            const double *slopes = &b->slopes[9 * t];
            for (int c = 0; c < 3 && b->areas[t] != 0; c++) {
                int j = b->triangles[3 * t + (size_t)c];
                if (slots[j] < 0) {
                    columns[count] = j;
                    values[count] = 0;
                    slots[j] = count++;
                }
                values[slots[j]] += unit * exi_dot3(slopes + 3 * (b->triangle_list[k] % 3), slopes + 3 * c);
            }
        }
        if (count)
            vertex_rows(paper, i, 0.5, own);
        for (int k = 0; k < count; k++) {
            vertex_rows(paper, columns[k], 0.5, other);
            sum += values[k] * values[k] * product_norm_sq(own, other);
            if (columns[k] == i)
                paper->slope_sq[i] = values[k];
            slots[columns[k]] = -1;
        }
    }
    return sum;
}

static ex_result balance(exi_paper *paper, const ex_trajectory_options *options, ex_error *error) {
    const bool without[] = {options->without_pose, options->without_rotation, options->without_gradient};
    const double asked[] = {options->pose_weight, options->rotation_weight, options->gradient_weight};
    const double usual[] = {1, 0.1, 0.05};
    curl_rows rows = {.starts = NULL};
    double norms[EXI_PAPER_TERM_COUNT] = {0, 0, 0};
    bool made = make_rows(paper, &rows);
    if (made) {
        norms[EXI_PAPER_POSE] = sqrt(pose_norm_sq(paper));
        norms[EXI_PAPER_ROTATION] = sqrt(rotation_norm_sq(paper, &rows));
        norms[EXI_PAPER_GRADIENT] = sqrt(gradient_norm_sq(paper, rows.slots, rows.values, rows.columns));
    }
    free_rows(&rows);
    if (!made)
        return exi_error_memory(error, "the weights of the energies", 72 * (size_t)paper->between->vertex_count);
    for (int k = 0; k < EXI_PAPER_TERM_COUNT; k++) {
        double x = asked[k] > 0 ? asked[k] : usual[k];
        /* Measured against the pose, whose base weight is 1. */
        paper->weights[k] = without[k] || !(norms[k] > 0) ? 0 : x * x * norms[EXI_PAPER_POSE] / norms[k];
    }
    return EX_OK;
}

/* ---- the whole ---- */

/* All arrays are doubles: one list of where and how many. */
static ex_result allocate(exi_paper *paper, ex_error *error) {
    size_t n = (size_t)paper->between->vertex_count, m = (size_t)paper->between->triangle_count;
    size_t s = (size_t)paper->segment_count, blocks = (n > m ? n : m) / 512 + 4;
    exi_paper_state *a = &paper->states[0], *b = &paper->states[1];
    struct {
        double **at;
        size_t count, each;
    } const list[] = {
        {&paper->targets, n, 3},
        {&paper->inertias, m, 6},
        {&paper->goals, m, 9},
        {&paper->shares, n, 1},
        {&a->turns, n, 3},
        {&a->misses, n, 3},
        {&a->bases, s, 6},
        {&a->sums, s, 9},
        {&a->velocities, n, 3},
        {&a->halves, n, 3},
        {&a->gradients, m, 9},
        {&a->spins, n, 3},
        {&b->turns, n, 3},
        {&b->misses, n, 3},
        {&b->bases, s, 6},
        {&b->sums, s, 9},
        {&b->velocities, n, 3},
        {&b->halves, n, 3},
        {&b->gradients, m > n ? m : n, 9},
        {&b->spins, n, 3},
        {&paper->maps, n, 36},
        {&paper->base_maps, s, 36},
        {&paper->curl_self, n, 9},
        {&paper->curl_sq, n, 6},
        {&paper->slope_sq, n, 1},
        {&paper->blocks, n, 21},
        {&paper->base_blocks, s, 36},
        {&paper->moves, n, 3},
        {&paper->triangle_work, m, 12},
        {&paper->vertex_work, n, 6},
        {&paper->segment_work, s, 9},
        {&paper->partial, blocks, 2},
    };
    for (size_t k = 0; k < sizeof list / sizeof *list; k++) {
        *list[k].at = exi_array_allocate(list[k].count, list[k].each * sizeof(double));
        if (!*list[k].at)
            return exi_error_memory(error, "the energies of trajectories",
                                    list[k].count * list[k].each * sizeof(double));
        memset(*list[k].at, 0, list[k].count * list[k].each * sizeof(double));
    }
    return EX_OK;
}

void exi_paper_free(exi_paper *paper) {
    for (int k = 0; k < 2; k++) {
        exi_paper_state *s = &paper->states[k];
        double *const arrays[] = {s->turns,      s->misses, s->bases,     s->sums,
                                  s->velocities, s->halves, s->gradients, s->spins};
        for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
            free(arrays[i]);
    }
    double *const arrays[] = {paper->targets,       paper->inertias,    paper->goals,        paper->shares,
                              paper->maps,          paper->base_maps,   paper->curl_self,    paper->curl_sq,
                              paper->slope_sq,      paper->blocks,      paper->base_blocks,  paper->moves,
                              paper->triangle_work, paper->vertex_work, paper->segment_work, paper->partial};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        free(arrays[i]);
    exi_coarse_free(paper->coarse);
    *paper = (exi_paper){.between = NULL};
}

ex_result exi_paper_create(exi_paper *paper, const ex_trajectory_options *options, const ex_between *between,
                           const exi_segmentation *segments, ex_error *error) {
    *paper = (exi_paper){.between = between, .segments = segments, .scale = between->size > 0 ? 1 / between->size : 1};
    paper->segment_count = segments ? segments->count : 0;
    ex_result result = allocate(paper, error);
    if (result == EX_OK) {
        exi_run(between->tasks, between->triangle_count, 1024, set_triangles, paper);
        exi_run(between->tasks, between->vertex_count, 1024, set_vertices, paper);
        if (segments) {
            exi_segments_bases(between, segments, paper->states[0].bases, paper->segment_work);
            for (int k = 0; k < 6 * segments->count; k++)
                if (k % 6 > 2)
                    paper->states[0].bases[k] *= paper->scale;
        }
        exi_paper_limit(paper, &paper->states[0]);
        exi_paper_evaluate(paper, &paper->states[0]);
        result = balance(paper, options, error);
    }
    if (result == EX_OK)
        result = exi_coarse_create(paper, error);
    if (result != EX_OK)
        exi_paper_free(paper);
    else
        exi_paper_evaluate(paper, &paper->states[0]); /* once more: weighted now */
    return result;
}

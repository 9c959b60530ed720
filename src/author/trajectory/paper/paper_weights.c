/*
 * Weights of the energies (trajectory warping, section 4). Terms are balanced so that their Hessians 2 J^T J at the
 * start, in the unknowns v and w of the vertices, have the same Frobenius norm; the options scale alpha, beta and
 * gamma, which enter squared. Bases are not part of the balance: the block of a basis is a sum over all vertices below
 * it, and would give the pose less weight on finer meshes. With W the curl matrix and J_i = (R~, d R~ v / d w) of a
 * vertex, once at time 1 and once halved at 1/2:
 *
 *   pose      |J^T J|^2 = sum over i of |J_i^T J_i|^2
 *   rotation  |J^T J|^2 = |W W^T|^2 + 2 |W|^2 + |I|^2
 *   gradient  |J^T J|^2 = sum over i, j of L_ij^2 |J_i^T J_j|^2, L_ij = sum over triangles of slope_i slope_j
 */
#include "author/base/array.h"
#include "author/trajectory/matrix.h"
#include "author/trajectory/paper/paper.h"
#include "runtime/base/result.h"

#include <limits.h>
#include <stdlib.h>

/* Rows of the curl matrix: one per vertex that averages triangles, over their corners. */
typedef struct curl_rows {
    int *starts, *columns;
    double *values; /* [..][9] */
    int *slots;     /* [vertex_count]: index of a column in the present row; -1: none */
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
    /* A vertex with m triangles has at most 2 m neighbours; on a closed surface, half as many. */
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

/* |W W^T|^2 + 2 |W|^2 + |I|^2; also computes W_ii and the sums of W_ki^T W_ki, for blocks of the diagonal. */
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
        /* Rows that may share a column with this one: those of the corners of its columns' triangles. Each pair
         * once. */
        for (int k = rows->starts[i]; k < rows->starts[i + 1]; k++) {
            int j = rows->columns[k];
            for (int u = b->triangle_starts[j]; u < b->triangle_starts[j + 1]; u++)
                for (int c = 0; c < 3; c++) {
                    int other = b->triangles[3 * (size_t)(b->triangle_list[u] / 3) + (size_t)c];
                    if (other > i || paper->shares[other] == 0 || paper->states[1].gradients[other] == i + 1)
                        continue;
                    paper->states[1].gradients[other] = i + 1; /* borrowed memory: the last row that met this one */
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

/* Squared norm of J_i^T J_j: both are [3][6], as (R~ | derivative). */
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

/* Also computes the sums of squared slopes, for blocks of the diagonal. slots [vertex_count] must be -1. */
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

ex_result exi_paper_balance(exi_paper *paper, const ex_trajectory_options *options, ex_error *error) {
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
        return ex_error_memory(error, "the weights of the energies", 72 * (size_t)paper->between->vertex_count);
    for (int k = 0; k < EXI_PAPER_TERM_COUNT; k++) {
        double x = asked[k] > 0 ? asked[k] : usual[k];
        /* Relative to the pose, whose base weight is 1. */
        paper->weights[k] = without[k] || !(norms[k] > 0) ? 0 : x * x * norms[EXI_PAPER_POSE] / norms[k];
    }
    return EX_OK;
}

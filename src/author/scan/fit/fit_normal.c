/*
 * Normal equations with the poses eliminated. With V_i the block of scan i's pose, W_i the block between it and the
 * shared unknowns, H the block of the shared unknowns, b on the right, and everything damped by D = (1 + lambda) on
 * diagonals:
 *
 *     (H - sum_i W_i^T V_i^-1 W_i) g = b - sum_i W_i^T V_i^-1 b_i,     V_i p_i = b_i - W_i g
 *
 * V_i = U^T U, Y = U^-T W_i, so that each scan subtracts Y^T Y. A mark adds w J^T J, where w is its weight under the
 * loss (iteratively reweighted least squares). Scans are summed in chunks that depend only on their number.
 */
#include "author/scan/fit/fit.h"

#include "runtime/base/memory.h"
#include "runtime/base/vector.h"

#include <math.h>
#include <string.h>

/* A pivot of a pose below this fraction of its diagonal is rounding. */
#define LEAST_PIVOT 1e-13

/* Clears the upper triangle of a matrix, which is all of it that counts. */
static void clear_upper(double *a, size_t n) {
    for (size_t i = 0; i < n; i++)
        memset(a + i * n + i, 0, (n - i) * sizeof *a);
}

/* ---- a mark ---- */

static double mark_loss(const exi_fit *f, const exi_fit_mark *mark, const double r[3], double *weight) {
    double k;
    const double cost = exi_loss(exi_dot3(r, r), f->site_widths[mark->site], &k);
    const double scale = mark->weight * f->site_weights[mark->site];
    *weight = scale * k;
    return scale * cost;
}

/* ---- one pose ---- */

static void add_pose(double *v, double *b, int n, const exi_fit_rows *rows, double w, const double r[3]) {
    for (int a = 0; a < rows->pose_count; a++) {
        const double *ja = rows->pose[a], x = w * ja[0], y = w * ja[1], z = w * ja[2];
        const int ca = rows->pose_columns[a];
        b[ca] -= x * r[0] + y * r[1] + z * r[2];
        for (int k = a; k < rows->pose_count; k++) {
            const double *jk = rows->pose[k];
            const int ck = rows->pose_columns[k];
            v[ca <= ck ? (size_t)ca * (size_t)n + (size_t)ck : (size_t)ck * (size_t)n + (size_t)ca] +=
                x * jk[0] + y * jk[1] + z * jk[2];
        }
    }
}

static void factor_pose(double *v, int n, double lambda, double *diagonal) {
    for (int k = 0; k < n; k++) {
        double *entry = &v[(size_t)k * (size_t)(n + 1)];
        diagonal[k] = *entry;
        *entry *= 1 + lambda;
    }
    exi_cholesky(v, n, diagonal, LEAST_PIVOT);
}

double exi_fit_pose_normal(exi_fit *f, exi_fit_chunk *chunk, int scan, double lambda) {
    const exi_fit_scan *s = &f->scans[scan];
    const int n = s->pose_count;
    double *v = f->factors + (size_t)scan * (size_t)f->pose_most * (size_t)f->pose_most;
    double *b = f->rights + (size_t)scan * (size_t)f->pose_most, cost = exi_fit_hold_cost(f, &f->now, scan);
    memset(v, 0, (size_t)n * (size_t)n * sizeof *v);
    memset(b, 0, (size_t)n * sizeof *b);
    exi_fit_frame(f, &f->now, scan, &chunk->frames);
    for (int m = s->begin; m < s->end; m++) {
        const exi_fit_mark *mark = &f->marks[m];
        double at[3], r[3], w;
        if (!mark->active)
            continue;
        exi_fit_predict(f, &f->now, &chunk->frames, mark->site, at);
        exi_subtract(at, mark->at, r);
        cost += mark_loss(f, mark, r, &w);
        exi_fit_derive(f, &f->now, &chunk->frames, scan, mark->site, at, false, &chunk->rows);
        add_pose(v, b, n, &chunk->rows, w, r);
    }
    exi_fit_add_holds(f, scan, v, b, n);
    if (lambda >= 0)
        factor_pose(v, n, lambda, chunk->step + f->pose_most);
    return cost;
}

/* ---- all unknowns ---- */

/* Adds a mark to the shared block and to the block between it and the pose. site: its first local column, or -1. */
static void add_shared(exi_fit_chunk *k, int width, int site, int kin, double w, const double r[3],
                       const double *turn) {
    const exi_fit_rows *rows = &k->rows;
    for (int a = 0; a < rows->pose_count; a++) {
        double *row = k->coupled + (size_t)rows->pose_columns[a] * (size_t)width;
        const double *j = rows->pose[a], x = w * j[0], y = w * j[1], z = w * j[2];
        for (int c = 0; site >= 0 && c < 3; c++)
            row[site + c] += x * turn[c] + y * turn[3 + c] + z * turn[6 + c];
        for (int c = 0; c < rows->kin_count; c++)
            row[kin + rows->kin_columns[c]] += x * rows->kin[c][0] + y * rows->kin[c][1] + z * rows->kin[c][2];
    }
    for (int c = 0; site >= 0 && c < 3; c++) {
        double *row = k->product + (size_t)(site + c) * (size_t)width;
        row[site + c] += w;
        k->local_right[site + c] -= w * (turn[c] * r[0] + turn[3 + c] * r[1] + turn[6 + c] * r[2]);
        for (int q = 0; q < rows->kin_count; q++)
            row[kin + rows->kin_columns[q]] +=
                w * (turn[c] * rows->kin[q][0] + turn[3 + c] * rows->kin[q][1] + turn[6 + c] * rows->kin[q][2]);
    }
    for (int a = 0; a < rows->kin_count; a++) {
        const double *j = rows->kin[a], x = w * j[0], y = w * j[1], z = w * j[2];
        const int ca = kin + rows->kin_columns[a];
        k->local_right[ca] -= x * r[0] + y * r[1] + z * r[2];
        for (int q = a; q < rows->kin_count; q++) {
            const int cq = kin + rows->kin_columns[q];
            k->product[ca <= cq ? (size_t)ca * (size_t)width + (size_t)cq : (size_t)cq * (size_t)width + (size_t)ca] +=
                x * rows->kin[q][0] + y * rows->kin[q][1] + z * rows->kin[q][2];
        }
    }
}

/* Local columns: three for each site seen, in the order of the walk, then all of the kinematics. Returns the number of
 * sites' columns. */
static int lay_out_locals(const exi_fit *f, exi_fit_chunk *k, const exi_fit_scan *s) {
    int count = 0, last = -1;
    for (int m = s->begin; m < s->end; m++) {
        const int site = f->marks[m].site;
        if (!f->marks[m].active || f->site_columns[site] < 0 || site == last)
            continue;
        for (int c = 0; c < 3; c++)
            k->locals[count++] = f->site_columns[site] + c;
        last = site;
    }
    for (int c = 0; c < f->kin_count; c++)
        k->locals[count + c] = f->shared_count - f->kin_count + c;
    return count;
}

/* Finds the range of sites' local columns in each row of the pose: those beyond its joint. */
static void find_ranges(const exi_fit *f, exi_fit_chunk *k, int scan, int site_columns) {
    const exi_fit_scan *s = &f->scans[scan];
    const int *columns = f->pose_columns + (size_t)scan * (size_t)f->joint_count;
    for (int c = 0; s->base_column >= 0 && c < 3; c++) {
        k->range_begins[s->base_column + c] = 0;
        k->range_ends[s->base_column + c] = site_columns;
    }
    for (int j = 0; j < f->joint_count; j++) {
        if (columns[j] < 0)
            continue;
        int begin = 0, end = 0, at = 0, last = -1;
        for (int m = s->begin; m < s->end; m++) {
            const exi_fit_mark *mark = &f->marks[m];
            if (!mark->active || f->site_columns[mark->site] < 0 || mark->site == last)
                continue;
            last = mark->site;
            at += 3;
            if (f->walk[mark->joint] < f->walk[j])
                begin = at;
            if (f->walk[mark->joint] < f->walk_end[j])
                end = at;
        }
        const int rows = f->kinematics->joints[j].freedom == EX_FREEDOM_HINGE ? 1 : 3;
        for (int r = 0; r < rows; r++) {
            k->range_begins[columns[j] + r] = begin;
            k->range_ends[columns[j] + r] = end > begin ? end : begin;
        }
    }
}

static void take(double *restrict to, const double *restrict from, double factor, int begin, int end) {
    for (int i = begin; i < end; i++)
        to[i] -= factor * from[i];
}

static void take_three(double *restrict to, const double *restrict a, const double *restrict b,
                       const double *restrict c, double ka, double kb, double kc, int begin, int end) {
    for (int i = begin; i < end; i++)
        to[i] -= (ka * a[i] + kb * b[i]) + kc * c[i];
}

/* Y = U^-T W in place, and the product minus Y^T Y. */
static void eliminate(exi_fit_chunk *k, const double *u, int n, int width, int sites, const double *y) {
    for (int r = 0; r < n; r++) {
        double *row = k->coupled + (size_t)r * (size_t)width;
        for (int c = 0; c < r; c++) {
            const double factor = u[(size_t)c * (size_t)n + (size_t)r];
            if (factor == 0)
                continue;
            const double *above = k->coupled + (size_t)c * (size_t)width;
            take(row, above, factor, k->range_begins[c], k->range_ends[c]);
            take(row, above, factor, sites, width);
        }
        const double inverse = 1 / u[(size_t)r * (size_t)(n + 1)];
        for (int i = k->range_begins[r]; i < k->range_ends[r]; i++)
            row[i] *= inverse;
        for (int i = sites; i < width; i++)
            row[i] *= inverse;
    }
    for (int r = 0; r < n;) { /* three rows at a time, as long as each covers the one before */
        int rows = 1;
        while (rows < 3 && r + rows < n && k->range_begins[r + rows] <= k->range_begins[r + rows - 1] &&
               k->range_ends[r + rows] >= k->range_ends[r + rows - 1])
            rows++;
        const int begin = k->range_begins[r + rows - 1], end = k->range_ends[r + rows - 1];
        const double *a = k->coupled + (size_t)r * (size_t)width, *b = a + width, *c = b + width;
        for (int i = begin < end ? begin : sites; i < width; i = i + 1 == end ? sites : i + 1) {
            double *to = k->product + (size_t)i * (size_t)width;
            if (rows == 3) {
                if (a[i] == 0 && b[i] == 0 && c[i] == 0)
                    continue;
                if (i < end)
                    take_three(to, a, b, c, a[i], b[i], c[i], i, end);
                take_three(to, a, b, c, a[i], b[i], c[i], i < sites ? sites : i, width);
                k->local_right[i] -= (a[i] * y[r] + b[i] * y[r + 1]) + c[i] * y[r + 2];
                continue;
            }
            for (int q = 0; q < rows; q++) {
                const double *from = a + (size_t)q * (size_t)width;
                if (from[i] == 0)
                    continue;
                if (i < end)
                    take(to, from, from[i], i, end);
                take(to, from, from[i], i < sites ? sites : i, width);
                k->local_right[i] -= from[i] * y[r + q];
            }
        }
        r += rows;
    }
}

static void reduce_scan(exi_fit *f, exi_fit_chunk *k, int scan) {
    const exi_fit_scan *s = &f->scans[scan];
    const int n = s->pose_count, sites = lay_out_locals(f, k, s), width = sites + f->kin_count;
    double *v = f->factors + (size_t)scan * (size_t)f->pose_most * (size_t)f->pose_most;
    double *b = f->rights + (size_t)scan * (size_t)f->pose_most;
    memset(v, 0, (size_t)n * (size_t)n * sizeof *v);
    memset(b, 0, (size_t)n * sizeof *b);
    memset(k->coupled, 0, (size_t)n * (size_t)width * sizeof *k->coupled);
    clear_upper(k->product, (size_t)width);
    memset(k->local_right, 0, (size_t)width * sizeof *k->local_right);
    exi_fit_frame(f, &f->now, scan, &k->frames);
    int column = -3, last = -1;
    for (int m = s->begin; m < s->end; m++) {
        const exi_fit_mark *mark = &f->marks[m];
        double at[3], r[3], w;
        if (!mark->active)
            continue;
        const bool free_site = f->site_columns[mark->site] >= 0;
        if (free_site && mark->site != last) {
            column += 3;
            last = mark->site;
        }
        exi_fit_predict(f, &f->now, &k->frames, mark->site, at);
        exi_subtract(at, mark->at, r);
        mark_loss(f, mark, r, &w);
        exi_fit_derive(f, &f->now, &k->frames, scan, mark->site, at, f->kin_count > 0, &k->rows);
        add_pose(v, b, n, &k->rows, w, r);
        add_shared(k, width, free_site ? column : -1, sites, w, r, k->frames.rotations[mark->joint]);
    }
    exi_fit_add_holds(f, scan, v, b, n);
    for (int i = 0; i < width; i++)
        k->diagonal[k->locals[i]] += k->product[(size_t)i * (size_t)(width + 1)];
    if (n > 0) {
        factor_pose(v, n, f->lambda, k->step + f->pose_most);
        find_ranges(f, k, scan, sites);
        memcpy(k->step, b, (size_t)n * sizeof *b);
        exi_cholesky_forward(v, n, k->step);
        eliminate(k, v, n, width, sites, k->step);
    }
    const int first = f->shared_count - f->kin_count; /* of the kinematics, which are in their order */
    for (int i = 0; i < width; i++) {
        const double *from = k->product + (size_t)i * (size_t)width;
        double *to = k->matrix + (size_t)k->locals[i] * (size_t)f->shared_count;
        k->right[k->locals[i]] += k->local_right[i];
        for (int c = i; c < sites; c++)
            to[k->locals[c]] += from[c];
        for (int c = i < sites ? sites : i; c < width; c++)
            to[first - sites + c] += from[c];
    }
}

static void reduce_chunks(void *context, int begin, int end) {
    exi_fit *f = context;
    const size_t n = (size_t)f->shared_count;
    for (int c = begin; c < end; c++) {
        exi_fit_chunk *k = &f->chunks[c];
        clear_upper(k->matrix, n);
        memset(k->right, 0, n * sizeof *k->right);
        memset(k->diagonal, 0, n * sizeof *k->diagonal);
        for (int scan = c; scan < f->scan_count; scan += f->chunk_count)
            if (!f->scans[scan].hopeless && !f->scans[scan].waiting)
                reduce_scan(f, k, scan);
    }
}

/* ---- the sum ---- */

void exi_fit_sum(exi_fit *f) {
    const size_t n = (size_t)f->shared_count;
    if (f->def->reference >= 0) {
        exi_fit_frame(f, &f->now, f->def->reference, &f->chunks[0].frames);
        memcpy(f->reference_turns, f->chunks[0].frames.rotations, (size_t)f->joint_count * sizeof *f->reference_turns);
    }
    exi_run(f->def->tasks, f->chunk_count, 1, reduce_chunks, f);
    memset(f->shared_matrix, 0, n * n * sizeof(double));
    for (size_t i = 0; i < n; i++)
        memcpy(f->shared_matrix + i * n + i, f->chunks[0].matrix + i * n + i, (n - i) * sizeof(double));
    memcpy(f->shared_right, f->chunks[0].right, n * sizeof(double));
    memcpy(f->shared_diagonal, f->chunks[0].diagonal, n * sizeof(double));
    for (int c = 1; c < f->chunk_count; c++) {
        const exi_fit_chunk *k = &f->chunks[c];
        for (size_t i = 0; i < n; i++)
            for (size_t j = i * n + i; j < i * n + n; j++)
                f->shared_matrix[j] += k->matrix[j];
        for (size_t i = 0; i < n; i++) {
            f->shared_right[i] += k->right[i];
            f->shared_diagonal[i] += k->diagonal[i];
        }
    }
}

void exi_fit_reduce(exi_fit *f) {
    exi_fit_sum(f);
    exi_fit_add_priors(f);
}

/* ---- steps and costs ---- */

static void advance_chunks(void *context, int begin, int end) {
    exi_fit *f = context;
    const double *step = f->shared_right;
    const int sites = f->shared_count - f->kin_count;
    for (int c = begin; c < end; c++) {
        exi_fit_chunk *k = &f->chunks[c];
        for (int scan = c; scan < f->scan_count; scan += f->chunk_count) {
            const exi_fit_scan *s = &f->scans[scan];
            const double *u = f->factors + (size_t)scan * (size_t)f->pose_most * (size_t)f->pose_most;
            double *p = k->step;
            if (s->waiting) {
                exi_fit_step_pose(f, scan, NULL);
                continue;
            }
            memcpy(p, f->rights + (size_t)scan * (size_t)f->pose_most, (size_t)s->pose_count * sizeof *p);
            if (s->pose_count > 0)
                exi_fit_frame(f, &f->now, scan, &k->frames);
            for (int m = s->begin; s->pose_count > 0 && m < s->end; m++) {
                const exi_fit_mark *mark = &f->marks[m];
                double at[3], r[3], w, d[3] = {0};
                if (!mark->active)
                    continue;
                exi_fit_predict(f, &f->now, &k->frames, mark->site, at);
                exi_subtract(at, mark->at, r);
                mark_loss(f, mark, r, &w);
                exi_fit_derive(f, &f->now, &k->frames, scan, mark->site, at, f->kin_count > 0, &k->rows);
                const double *turn = k->frames.rotations[mark->joint];
                if (f->site_columns[mark->site] >= 0)
                    for (int i = 0; i < 3; i++)
                        d[i] = exi_dot3(turn + 3 * i, step + f->site_columns[mark->site]);
                for (int q = 0; q < k->rows.kin_count; q++)
                    for (int i = 0; i < 3; i++)
                        d[i] += k->rows.kin[q][i] * step[sites + k->rows.kin_columns[q]];
                for (int q = 0; q < k->rows.pose_count; q++)
                    p[k->rows.pose_columns[q]] -= w * exi_dot3(k->rows.pose[q], d);
            }
            exi_cholesky_solve(u, s->pose_count, p);
            exi_fit_step_pose(f, scan, p);
        }
    }
}

void exi_fit_advance(exi_fit *f) {
    const int n = f->shared_count;
    for (int i = 0; i < n; i++)
        f->shared_matrix[(size_t)i * (size_t)(n + 1)] += f->lambda * f->shared_diagonal[i];
    exi_cholesky(f->shared_matrix, n, f->shared_diagonal, LEAST_PIVOT);
    exi_cholesky_solve(f->shared_matrix, n, f->shared_right);
    exi_fit_step_shared(f, f->shared_right);
    exi_run(f->def->tasks, f->chunk_count, 1, advance_chunks, f);
}

double exi_fit_scan_cost(exi_fit *f, const exi_fit_state *state, exi_fit_chunk *chunk, int scan) {
    const exi_fit_scan *s = &f->scans[scan];
    double cost = exi_fit_hold_cost(f, state, scan);
    exi_fit_frame(f, state, scan, &chunk->frames);
    for (int m = s->begin; m < s->end; m++) {
        double at[3], r[3], w;
        if (!f->marks[m].active)
            continue;
        exi_fit_predict(f, state, &chunk->frames, f->marks[m].site, at);
        exi_subtract(at, f->marks[m].at, r);
        cost += mark_loss(f, &f->marks[m], r, &w);
    }
    return cost;
}

typedef struct costing {
    exi_fit *fit;
    const exi_fit_state *state;
} costing;

static void cost_chunks(void *context, int begin, int end) {
    const costing *g = context;
    exi_fit *f = g->fit;
    for (int c = begin; c < end; c++)
        for (int scan = c; scan < f->scan_count; scan += f->chunk_count) {
            exi_fit_scan *s = &f->scans[scan];
            s->cost = s->hopeless || s->waiting ? 0 : exi_fit_scan_cost(f, g->state, &f->chunks[c], scan);
        }
}

double exi_fit_cost(exi_fit *f, const exi_fit_state *state) {
    costing g = {f, state};
    double cost = 0;
    exi_run(f->def->tasks, f->chunk_count, 1, cost_chunks, &g);
    for (int i = 0; i < f->scan_count; i++)
        cost += f->scans[i].cost;
    return cost + exi_fit_prior_cost(f, state);
}

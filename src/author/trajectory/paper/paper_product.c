/*
 * Products with J^T J, and J^T F, without the matrix: forward from the unknowns to half-way places and velocities (maps
 * of paper_linear.c), to gradients and curls of triangles, to residuals of vertices; then the transposed steps
 * backward, gathering over the triangles of a vertex, so that no sum depends on the tasks.
 */
#include "author/trajectory/matrix.h"
#include "author/trajectory/paper/paper.h"
#include "runtime/base/memory.h"

#define GRAIN 1024

typedef struct job {
    exi_paper *paper;
    const double *x; /* unknowns, or NULL: the residuals of the state are used */
    double *y;
} job;

int exi_paper_size(const exi_paper *paper) {
    return 6 * (paper->between->vertex_count + paper->segment_count);
}

/* Computes the contribution of a change of bases to each segment: s1, sh, su. */
static void bases_forward(const exi_paper *paper, const double *x) {
    for (int k = 0; k < paper->segment_count; k++) {
        int s = paper->segments->order[k], parent = paper->segments->parents[s];
        double *sums = &paper->segment_work[9 * s];
        const double *w = x + 6 * s, *v = w + 3, *maps = &paper->base_maps[36 * (size_t)s];
        memset(sums, 0, 9 * sizeof *sums);
        if (parent >= 0)
            memcpy(sums, &paper->segment_work[9 * parent], 9 * sizeof *sums);
        if (!exi_paper_solved(paper, s))
            continue;
        exi_m3_add(maps, v, 1, sums);
        exi_m3_add(maps + 9, w, 1, sums);
        exi_m3_add(maps + 18, v, 1, sums + 3);
        exi_m3_add(maps + 27, w, 1, sums + 3);
        for (int i = 0; i < 3; i++)
            sums[6 + i] += v[i];
    }
}

/* vertex_work: h, then v + su. */
static void vertices_forward(void *context, int begin, int end) {
    static const double none[9];
    job *j = context;
    const exi_paper *paper = j->paper;
    for (int i = begin; i < end; i++) {
        const double *z = j->x + 6 * (size_t)i, *maps = &paper->maps[36 * (size_t)i];
        const double *sums = paper->segment_count ? &paper->segment_work[9 * paper->segments->vertices[i]] : none;
        double *out = &paper->vertex_work[6 * (size_t)i], held = paper->shares[i] != 0 ? 1 : 0;
        double d[3], w[3];
        for (int k = 0; k < 3; k++) {
            d[k] = held * z[k] - sums[k];
            w[k] = held * z[3 + k];
            out[k] = sums[3 + k];
            out[3 + k] = sums[6 + k];
        }
        exi_m3_add(maps + 18, d, 1, out);
        exi_m3_add(maps + 27, w, 1, out);
        exi_m3_add(maps, d, 1, out + 3);
        exi_m3_add(maps + 9, w, -1, out + 3);
    }
}

/* triangle_work: the gradient, then the curl. */
static void triangles_forward(void *context, int begin, int end) {
    const exi_paper *paper = ((job *)context)->paper;
    const ex_between *b = paper->between;
    for (int t = begin; t < end; t++) {
        double *g = &paper->triangle_work[12 * (size_t)t], spin[3] = {0, 0, 0}, middle[3] = {0, 0, 0};
        memset(g, 0, 12 * sizeof *g);
        if (b->areas[t] == 0)
            continue;
        const int *corners = &b->triangles[3 * (size_t)t];
        for (int c = 0; c < 3; c++)
            for (int i = 0; i < 3; i++)
                middle[i] += b->start[3 * (size_t)corners[c] + (size_t)i] / 3;
        for (int c = 0; c < 3; c++) {
            const double *slope = &b->slopes[9 * (size_t)t + 3 * (size_t)c];
            const double *h = &paper->vertex_work[6 * (size_t)corners[c]];
            double q[3], qv[3];
            for (int i = 0; i < 3; i++) {
                q[i] = (b->start[3 * (size_t)corners[c] + (size_t)i] - middle[i]) * paper->scale;
                for (int k = 0; k < 3; k++)
                    g[3 * i + k] += h[i] * slope[k] * b->size;
            }
            exi_cross(q, h + 3, qv);
            for (int i = 0; i < 3; i++)
                spin[i] -= qv[i];
        }
        exi_s3_apply(&paper->inertias[6 * (size_t)t], spin, g + 9);
    }
}

/* moves: the rotation's residual of each vertex. */
static void spins_forward(void *context, int begin, int end) {
    job *j = context;
    const exi_paper *paper = j->paper;
    const ex_between *b = paper->between;
    for (int i = begin; i < end; i++) {
        double *spin = &paper->moves[3 * (size_t)i];
        for (int m = 0; m < 3; m++)
            spin[m] = paper->shares[i] != 0 ? j->x[6 * (size_t)i + 3 + (size_t)m] : 0;
        for (int k = b->triangle_starts[i]; k < b->triangle_starts[i + 1] && paper->shares[i] != 0; k++) {
            int t = b->triangle_list[k] / 3;
            if (exi_paper_counts(paper, t, b->triangle_list[k] % 3))
                for (int m = 0; m < 3; m++)
                    spin[m] -= paper->shares[i] * paper->triangle_work[12 * (size_t)t + 9 + (size_t)m];
        }
    }
}

/* Backward from vertices to triangles: the curl's entry becomes K^-1 times the sum of its vertices' residuals. */
static void triangles_back(void *context, int begin, int end) {
    const job *j = context;
    const exi_paper *paper = j->paper;
    const double *spins = j->x ? paper->moves : exi_paper_present(paper)->spins;
    for (int t = begin; t < end; t++) {
        double pull[3] = {0, 0, 0};
        for (int c = 0; c < 3; c++) {
            int i = paper->between->triangles[3 * (size_t)t + (size_t)c];
            if (exi_paper_counts(paper, t, c))
                for (int m = 0; m < 3; m++)
                    pull[m] += paper->shares[i] * spins[3 * (size_t)i + (size_t)m];
        }
        exi_s3_apply(&paper->inertias[6 * (size_t)t], pull, &paper->triangle_work[12 * (size_t)t + 9]);
    }
}

/* Computes y of a vertex; vertex_work: the pull on h, and on v + su. */
static void vertices_back(void *context, int begin, int end) {
    job *j = context;
    const exi_paper *paper = j->paper;
    const ex_between *b = paper->between;
    const double beta = paper->weights[EXI_PAPER_ROTATION], gamma = paper->weights[EXI_PAPER_GRADIENT];
    for (int i = begin; i < end; i++) {
        double *pull = &paper->vertex_work[6 * (size_t)i], *y = j->y + 6 * (size_t)i;
        const double *maps = &paper->maps[36 * (size_t)i];
        memset(pull, 0, 6 * sizeof *pull);
        for (int k = b->triangle_starts[i]; k < b->triangle_starts[i + 1]; k++) {
            size_t t = (size_t)(b->triangle_list[k] / 3), c = (size_t)(b->triangle_list[k] % 3);
            if (b->areas[t] == 0)
                continue;
            const double *g = j->x ? &paper->triangle_work[12 * t] : &exi_paper_present(paper)->gradients[9 * t];
            const int *corners = &b->triangles[3 * t];
            double q[3], qp[3];
            exi_m3_add(g, &b->slopes[9 * t + 3 * c], gamma * b->size, pull);
            for (size_t m = 0; m < 3; m++)
                q[m] = paper->scale * (b->start[3 * (size_t)corners[c] + m] -
                                       (b->start[3 * (size_t)corners[0] + m] + b->start[3 * (size_t)corners[1] + m] +
                                        b->start[3 * (size_t)corners[2] + m]) /
                                           3);
            /* -W_c^T with W_c = -K^-1 [q]_x: -[q]_x K^-1 */
            exi_cross(q, &paper->triangle_work[12 * t + 9], qp);
            for (int m = 0; m < 3; m++)
                pull[3 + m] -= beta * qp[m];
        }
        const double *z = j->x ? j->x + 6 * (size_t)i : &exi_paper_present(paper)->misses[3 * (size_t)i];
        const double *spin = j->x ? &paper->moves[3 * (size_t)i] : &exi_paper_present(paper)->spins[3 * (size_t)i];
        bool held = paper->shares[i] == 0;
        for (int m = 0; m < 3; m++) {
            y[m] = held ? 0 : paper->weights[EXI_PAPER_POSE] * z[m];
            y[3 + m] = held ? 0 : beta * spin[m];
        }
        if (held)
            continue;
        exi_m3_add_transposed(maps, pull + 3, 1, y);
        exi_m3_add_transposed(maps + 18, pull, 1, y);
        exi_m3_add_transposed(maps + 9, pull + 3, -1, y + 3);
        exi_m3_add_transposed(maps + 27, pull, 1, y + 3);
    }
}

/* Sums the pull on a segment's s1, sh and su over its vertices and those below; applies it to the segment's basis. */
static void bases_back(const exi_paper *paper, const double *x, double *y) {
    int n = paper->between->vertex_count;
    double *sums = paper->segment_work, alpha = paper->weights[EXI_PAPER_POSE];
    memset(sums, 0, 9 * (size_t)paper->segment_count * sizeof *sums);
    for (int i = 0; i < n; i++) {
        double *sum = &sums[9 * paper->segments->vertices[i]];
        const double *z = x ? x + 6 * (size_t)i : &exi_paper_present(paper)->misses[3 * (size_t)i];
        const double *pull = &paper->vertex_work[6 * (size_t)i];
        for (int m = 0; m < 3 && paper->shares[i] != 0; m++) {
            sum[m] -= y[6 * (size_t)i + (size_t)m] - alpha * z[m];
            sum[3 + m] += pull[m];
            sum[6 + m] += pull[3 + m];
        }
    }
    for (int k = paper->segment_count - 1; k >= 0; k--) {
        int s = paper->segments->order[k], parent = paper->segments->parents[s];
        double *out = y + 6 * (size_t)(n + s);
        const double *maps = &paper->base_maps[36 * (size_t)s];
        memset(out, 0, 6 * sizeof *out);
        for (int m = 0; m < 9 && parent >= 0; m++)
            sums[9 * parent + m] += sums[9 * s + m];
        if (!exi_paper_solved(paper, s))
            continue;
        exi_m3_add_transposed(maps + 9, &sums[9 * s], 1, out);
        exi_m3_add_transposed(maps + 27, &sums[9 * s + 3], 1, out);
        exi_m3_add_transposed(maps, &sums[9 * s], 1, out + 3);
        exi_m3_add_transposed(maps + 18, &sums[9 * s + 3], 1, out + 3);
        for (int m = 0; m < 3; m++)
            out[3 + m] += sums[9 * s + 6 + m];
    }
}

static void back(job *j) {
    const ex_between *b = j->paper->between;
    exi_run(b->tasks, b->triangle_count, GRAIN, triangles_back, j);
    exi_run(b->tasks, b->vertex_count, GRAIN, vertices_back, j);
    if (j->paper->segment_count)
        bases_back(j->paper, j->x, j->y);
}

void exi_paper_gradient(exi_paper *paper, double *gradient) {
    job j = {.paper = paper, .y = gradient};
    back(&j);
}

void exi_paper_apply(void *user, const double *x, double *y) {
    exi_paper *paper = user;
    const ex_between *b = paper->between;
    job j = {.paper = paper, .x = x, .y = y};
    if (paper->segment_count)
        bases_forward(paper, x + 6 * (size_t)b->vertex_count);
    exi_run(b->tasks, b->vertex_count, GRAIN, vertices_forward, &j);
    exi_run(b->tasks, b->triangle_count, GRAIN, triangles_forward, &j);
    exi_run(b->tasks, b->vertex_count, GRAIN, spins_forward, &j);
    back(&j);
    for (size_t k = 0; k < 6 * (size_t)b->vertex_count; k++)
        y[k] += paper->damping[k % 6 / 3] * x[k];
    for (size_t k = 0; k < 6 * (size_t)paper->segment_count; k++)
        y[6 * (size_t)b->vertex_count + k] += paper->damping[2] * x[6 * (size_t)b->vertex_count + k];
}

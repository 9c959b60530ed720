/*
 * The energies of a state (trajectory warping, equations 9, 12, 18; with bases 26 and 27).
 *
 * Displacement velocities follow from turns and misses (paper.h). The displacement of a vertex at time 1/2 is
 *   h_i = 1/2 R~(w_i / 2) v_i + 1/2 sum over its bases of R~(w_a / 2) v_a,
 * and the residuals are
 *   pose      z_i
 *   rotation  w_i - mean over its triangles A of W_A (v + sum of v_a)_A
 *   gradient  sum over corners of h_c slope_c^T - (g_A - (I - n n^T)),   g_A = R_A^(1/2) (I + S_A) / 2 (I - n n^T)
 * With segments, a vertex averages only the triangles of its own segment: a link's triangles rotate like the link,
 * while those across a hinge have another rotation.
 *
 * The contribution of the bases depends only on the segment: one sum each, from the root down.
 */
#include "author/trajectory/matrix.h"
#include "author/trajectory/paper/paper.h"
#include "runtime/base/memory.h"

/* Items per block: sums run over blocks, so that they do not depend on the tasks. */
#define BLOCK 1024

typedef struct job {
    exi_paper *paper;
    exi_paper_state *state;
    double *partial; /* [blocks][2] */
} job;

static void sum_bases(const exi_paper *paper, exi_paper_state *state) {
    for (int k = 0; k < paper->segment_count; k++) {
        int s = paper->segments->order[k], parent = paper->segments->parents[s];
        double *sums = &state->sums[9 * s];
        memset(sums, 0, 9 * sizeof *sums);
        if (parent < 0)
            continue;
        const double *w = &state->bases[6 * s], *v = w + 3;
        double half[3] = {w[0] / 2, w[1] / 2, w[2] / 2}, r[9];
        memcpy(sums, &state->sums[9 * parent], 9 * sizeof *sums);
        exi_mean_turn(w, (double(*)[3])r);
        exi_m3_add(r, v, 1, sums);
        exi_mean_turn(half, (double(*)[3])r);
        exi_m3_add(r, v, 0.5, sums + 3);
        for (int i = 0; i < 3; i++)
            sums[6 + i] += v[i];
    }
}

static void place_vertices(void *context, int begin, int end) {
    static const double none[9];
    job *j = context;
    const exi_paper *paper = j->paper;
    for (int i = begin; i < end; i++) {
        size_t at = 3 * (size_t)i;
        const double *sums = paper->segment_count ? &j->state->sums[9 * paper->segments->vertices[i]] : none;
        const double *w = &j->state->turns[at];
        double d[3], half[3], r[9], *h = &j->state->halves[at], *v = &j->state->velocities[at];
        for (int k = 0; k < 3; k++) {
            d[k] = paper->targets[at + (size_t)k] + j->state->misses[at + (size_t)k] - sums[k];
            half[k] = w[k] / 2;
            h[k] = sums[3 + k];
        }
        exi_mean_turn_invert(w, d, v);
        exi_mean_turn(half, (double(*)[3])r);
        exi_m3_add(r, v, 0.5, h);
    }
}

/* Computes a triangle's gradient residual, and its curl in triangle_work. */
static void measure_triangles(void *context, int begin, int end) {
    job *j = context;
    const exi_paper *paper = j->paper;
    const ex_between *b = paper->between;
    for (int block = begin; block < end; block++) {
        int last = BLOCK * (block + 1) < b->triangle_count ? BLOCK * (block + 1) : b->triangle_count;
        double sum = 0;
        for (int t = BLOCK * block; t < last; t++) {
            double *g = &j->state->gradients[9 * (size_t)t], *curl = &paper->triangle_work[12 * (size_t)t];
            double spin[3] = {0, 0, 0}, middle[3] = {0, 0, 0};
            memset(g, 0, 9 * sizeof *g);
            memset(curl, 0, 3 * sizeof *curl);
            if (b->areas[t] == 0)
                continue;
            const int *corners = &b->triangles[3 * (size_t)t];
            for (int k = 0; k < 9; k++)
                g[k] = -paper->goals[9 * (size_t)t + (size_t)k];
            for (int c = 0; c < 3; c++)
                for (int i = 0; i < 3; i++)
                    middle[i] += b->start[3 * (size_t)corners[c] + (size_t)i] / 3;
            for (int c = 0; c < 3; c++) {
                size_t at = 3 * (size_t)corners[c];
                const double *slope = &b->slopes[9 * (size_t)t + 3 * (size_t)c], *h = &j->state->halves[at];
                double q[3], v[3], qv[3];
                for (int i = 0; i < 3; i++) {
                    q[i] = (b->start[at + (size_t)i] - middle[i]) * paper->scale;
                    v[i] = j->state->velocities[at + (size_t)i];
                    if (paper->segment_count)
                        v[i] += j->state->sums[9 * paper->segments->vertices[corners[c]] + 6 + i];
                    for (int k = 0; k < 3; k++)
                        g[3 * i + k] += h[i] * slope[k] * b->size;
                }
                exi_cross(q, v, qv);
                for (int i = 0; i < 3; i++)
                    spin[i] -= qv[i];
            }
            exi_s3_apply(&paper->inertias[6 * (size_t)t], spin, curl);
            for (int k = 0; k < 9; k++)
                sum += g[k] * g[k];
        }
        j->partial[2 * (size_t)block] = sum;
    }
}

static void measure_vertices(void *context, int begin, int end) {
    job *j = context;
    const exi_paper *paper = j->paper;
    const ex_between *b = paper->between;
    for (int block = begin; block < end; block++) {
        int last = BLOCK * (block + 1) < b->vertex_count ? BLOCK * (block + 1) : b->vertex_count;
        double pose = 0, rotation = 0;
        for (int i = BLOCK * block; i < last; i++) {
            size_t at = 3 * (size_t)i;
            double *spin = &j->state->spins[at];
            memset(spin, 0, 3 * sizeof *spin);
            if (paper->shares[i] == 0)
                continue;
            for (int k = b->triangle_starts[i]; k < b->triangle_starts[i + 1]; k++) {
                int t = b->triangle_list[k] / 3;
                if (exi_paper_counts(paper, t, b->triangle_list[k] % 3))
                    for (int m = 0; m < 3; m++)
                        spin[m] -= paper->shares[i] * paper->triangle_work[12 * (size_t)t + (size_t)m];
            }
            for (int m = 0; m < 3; m++) {
                double z = j->state->misses[at + (size_t)m];
                spin[m] += j->state->turns[at + (size_t)m];
                pose += z * z;
                rotation += spin[m] * spin[m];
            }
        }
        j->partial[2 * (size_t)block] = pose;
        j->partial[2 * (size_t)block + 1] = rotation;
    }
}

static double total(const double *partial, int count, int column) {
    double sum = 0;
    for (int k = 0; k < count; k++)
        sum += partial[2 * (size_t)k + (size_t)column];
    return sum;
}

void exi_paper_limit(const exi_paper *paper, exi_paper_state *state) {
    int count = paper->between->vertex_count;
    for (int i = 0; i < count + paper->segment_count; i++) {
        double *w = i < count ? &state->turns[3 * (size_t)i] : &state->bases[6 * (size_t)(i - count)];
        double length = sqrt(exi_dot3(w, w));
        for (int k = 0; length > EX_TURN_MAX && k < 3; k++)
            w[k] *= EX_TURN_MAX / length;
    }
}

void exi_paper_evaluate(exi_paper *paper, exi_paper_state *state) {
    const ex_between *b = paper->between;
    job j = {.paper = paper, .state = state, .partial = paper->partial};
    int triangle_blocks = (b->triangle_count + BLOCK - 1) / BLOCK,
        vertex_blocks = (b->vertex_count + BLOCK - 1) / BLOCK;
    sum_bases(paper, state);
    exi_run(b->tasks, b->vertex_count, BLOCK, place_vertices, &j);
    exi_run(b->tasks, triangle_blocks, 1, measure_triangles, &j);
    state->energy[EXI_PAPER_GRADIENT] = total(j.partial, triangle_blocks, 0);
    exi_run(b->tasks, vertex_blocks, 1, measure_vertices, &j);
    state->energy[EXI_PAPER_POSE] = total(j.partial, vertex_blocks, 0);
    state->energy[EXI_PAPER_ROTATION] = total(j.partial, vertex_blocks, 1);
    state->total = 0;
    for (int k = 0; k < EXI_PAPER_TERM_COUNT; k++)
        state->total += paper->weights[k] * state->energy[k];
}

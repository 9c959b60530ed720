/*
 * Constants that the energies of the trajectory-warping paper need of a mesh and an example: K^-1 of equation 11, the
 * right-hand side of equation 18 with the target R^(1/2) ((I + S) / 2), and start values (equations 21, 22).
 */
#include "author/base/array.h"
#include "author/trajectory/matrix.h"
#include "author/trajectory/paper/paper.h"
#include "runtime/base/memory.h"
#include "runtime/base/result.h"

#include <stdlib.h>

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

/* Sets shares, targets and turns; a vertex without triangles moves along a straight line. */
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

/* ---- entry points ---- */

/* Allocates all arrays, which are all of doubles, from one list of pointers and sizes. */
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
            return ex_error_memory(error, "the energies of trajectories",
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
        result = exi_paper_balance(paper, options, error);
    }
    if (result == EX_OK)
        result = exi_coarse_create(paper, error);
    if (result != EX_OK)
        exi_paper_free(paper);
    else
        exi_paper_evaluate(paper, &paper->states[0]); /* again, now with weights */
    return result;
}

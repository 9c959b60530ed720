/*
 * Nodes of a mixture at a pose (exemplar/shape.h, steps 1 to 4):
 *
 *   R_n = R(sum of x'_k w_kn)            l = y_0 + sum of x'_k (y_k - y_0)
 *   r_e = 1/2 (R_i sum of s_k R_ik^T (y_jk - y_ik) + R_j sum of s_k R_jk^T (y_jk - y_ik)) - (l_j - l_i)
 *   y   = l + M B^T W r
 *
 * Sums over examples, and the product with M, are loops over rows of a coordinate of all nodes or edges. At an example
 * r is 0 except for rounding. About 14 microseconds for 150 nodes, 450 edges and 8 examples (docs/performance.md).
 */
#include "runtime/shape/mixture.h"

#include "runtime/base/influence.h"
#include "runtime/base/simd.h"
#include "runtime/shape/mixture_pose.inl"

#include <string.h>

/* Registers of nodes that are solved at a time. */
enum { SOLVED = 4 };
_Static_assert(EXI_MIXTURE_PAD % EXI_WIDTH == 0, "rows are made of whole registers");

/* ---- sums over examples ---- */

/* sums += sum of factors[k] * rows[k][count]; count is a multiple of EXI_MIXTURE_PAD. Four rows at a time, without
 * those whose factor is 0. */
static void add_rows(const float *rows, size_t count, const double *factors, size_t row_count, double scale,
                     float *sums) {
    enum { SIDE = 4 };
    for (size_t k = 0; k < row_count;) {
        const float *row[SIDE];
        exi_wide factor[SIDE];
        size_t side = 0;
        for (; side < SIDE && k < row_count; k++)
            if (factors[k] != 0) {
                row[side] = rows + k * count;
                factor[side++] = exi_splat((float)(scale * factors[k]));
            }
        if (side == 0)
            return;
        for (; side < SIDE; side++) {
            row[side] = row[0];
            factor[side] = exi_splat(0);
        }
        for (size_t i = 0; i < count; i += EXI_WIDTH) {
            exi_wide sum = exi_madd(exi_load(row[0] + i), factor[0], exi_load(sums + i));
            sum = exi_madd(exi_load(row[1] + i), factor[1], sum);
            sum = exi_madd(exi_load(row[2] + i), factor[2], sum);
            exi_store(sums + i, exi_madd(exi_load(row[3] + i), factor[3], sum));
        }
    }
}

static void sum_examples(const exi_trajectories *p, const exi_mixture_rooms *r) {
    const exi_mixture *m = &p->mixture;
    const size_t nodes = 3 * (size_t)m->node_stride, edges = 6 * (size_t)m->edge_stride;
    const float *turns = exi_trajectories_at(p, m->turns), *places = exi_trajectories_at(p, m->places);
    const float *steps = exi_trajectories_at(p, m->steps);
    memset(r->turns, 0, nodes * sizeof(float));
    memcpy(r->places, places, nodes * sizeof(float));
    memset(r->steps, 0, edges * sizeof(float));
    add_rows(turns, nodes, r->weights, (size_t)p->example_count, 1, r->turns);
    add_rows(places + nodes, nodes, r->weights, (size_t)p->example_count, 1, r->places);
    add_rows(steps, edges, r->shares, (size_t)m->corner_count, 0.5, r->steps);
}

/* ---- rotations ---- */

/* Several nodes are computed at a time. */
static void find_factors(const float *restrict turns, size_t stride, double *restrict factors) {
    for (size_t n = 0; n < stride; n++) {
        const double x = (double)turns[n], y = (double)turns[stride + n], z = (double)turns[2 * stride + n];
        double a, sinc;
        exi_mixture_factors(x * x + y * y + z * z, &a, &sinc);
        factors[n] = a;
        factors[stride + n] = sinc;
    }
}

/* Writes R to rotations and R - I to the matrices. */
static void turn_nodes(const exi_mixture *m, const exi_mixture_rooms *r) {
    const size_t stride = (size_t)m->node_stride;
    find_factors(r->turns, stride, r->factors);
    for (size_t n = 0; n < (size_t)m->node_count; n++) {
        const double w[3] = {(double)r->turns[n], (double)r->turns[stride + n], (double)r->turns[2 * stride + n]};
        double turn[9];
        if (exi_turn_square(w) <= EXI_MIXTURE_NEAR)
            exi_mixture_rotation_of(w, r->factors[n], r->factors[stride + n], turn);
        else
            exi_mixture_rotation(w, turn);
        float *columns = r->rotations + 12 * n, *rows = r->matrices + EXI_MATRIX_FLOATS * n;
        for (int i = 0; i < 3; i++) {
            for (int c = 0; c < 3; c++) {
                rows[4 * i + c] = (float)turn[3 * i + c];
                columns[4 * c + i] = (float)(turn[3 * i + c] + (i == c));
            }
            columns[4 * i + 3] = 0;
            r->spots[4 * n + (size_t)i] = r->places[(size_t)i * stride + n];
        }
        r->spots[4 * n + 3] = 0;
    }
}

/* ---- places ---- */

static inline exi_quad turned(const float columns[12], const float *steps, size_t stride, exi_quad to) {
    to = exi_quad_madd(exi_quad_load(columns), exi_quad_splat(steps[0]), to);
    to = exi_quad_madd(exi_quad_load(columns + 4), exi_quad_splat(steps[stride]), to);
    return exi_quad_madd(exi_quad_load(columns + 8), exi_quad_splat(steps[2 * stride]), to);
}

/* pulls = B^T W r */
static void pull_nodes(const exi_trajectories *p, const exi_mixture_rooms *r) {
    const exi_mixture *m = &p->mixture;
    const uint16_t *edges = exi_trajectories_at(p, m->edges);
    const float *weights = exi_trajectories_at(p, m->pulls);
    const size_t stride = (size_t)m->edge_stride;
    memset(r->pulls, 0, 4 * (size_t)m->node_stride * sizeof(float));
    for (size_t e = 0; e < (size_t)m->edge_count; e++) {
        const size_t i = edges[2 * e], j = edges[2 * e + 1];
        exi_quad way = exi_quad_sub(exi_quad_load(r->spots + 4 * i), exi_quad_load(r->spots + 4 * j));
        way = turned(r->rotations + 12 * i, r->steps + e, stride, way);
        way = turned(r->rotations + 12 * j, r->steps + 3 * stride + e, stride, way);
        way = exi_quad_mul(way, exi_quad_splat(weights[e]));
        exi_quad_store(r->pulls + 4 * i, exi_quad_sub(exi_quad_load(r->pulls + 4 * i), way));
        exi_quad_store(r->pulls + 4 * j, exi_quad_add(exi_quad_load(r->pulls + 4 * j), way));
    }
}

/* y = l + M pulls, for `wides` registers of nodes from `first` on: column after column, acc[i] += M[j][i] pull[j].
 * wides is a constant at the call. */
EXI_KERNEL void solve_some(const float *column, size_t stride, const float *pull, const float *end, int wides,
                           float *places) {
    exi_wide sums[3][SOLVED];
    EXI_WRITE_OUT
    for (int c = 0; c < 3; c++)
        EXI_WRITE_OUT
    for (int s = 0; s < wides; s++)
        sums[c][s] = exi_load(places + (size_t)c * stride + s * EXI_WIDTH);
    for (; pull < end; pull += 4, column += stride) {
        const exi_wide x = exi_splat(pull[0]), y = exi_splat(pull[1]), z = exi_splat(pull[2]);
        EXI_WRITE_OUT
        for (int s = 0; s < wides; s++) {
            const exi_wide entries = exi_load(column + s * EXI_WIDTH);
            sums[0][s] = exi_madd(entries, x, sums[0][s]);
            sums[1][s] = exi_madd(entries, y, sums[1][s]);
            sums[2][s] = exi_madd(entries, z, sums[2][s]);
        }
    }
    EXI_WRITE_OUT
    for (int c = 0; c < 3; c++)
        EXI_WRITE_OUT
    for (int s = 0; s < wides; s++)
        exi_store(places + (size_t)c * stride + s * EXI_WIDTH, sums[c][s]);
}

static void solve_places(const exi_trajectories *p, const exi_mixture_rooms *r) {
    const exi_mixture *m = &p->mixture;
    const size_t stride = (size_t)m->node_stride, step = SOLVED * EXI_WIDTH;
    const float *solve = exi_trajectories_at(p, m->solve), *end = r->pulls + 4 * (size_t)m->node_count;
    size_t i = 0;
    for (; i + step <= stride; i += step)
        solve_some(solve + i, stride, r->pulls, end, SOLVED, r->places + i);
    for (; i < stride; i += EXI_WIDTH)
        solve_some(solve + i, stride, r->pulls, end, 1, r->places + i);
}

/* Adds the offsets to the matrices. */
static void place_matrices(const exi_trajectories *p, const exi_mixture_rooms *r) {
    const exi_mixture *m = &p->mixture;
    const size_t stride = (size_t)m->node_stride;
    const float *start = exi_trajectories_at(p, m->places);
    for (size_t n = 0; n < (size_t)m->node_count; n++) {
        float *rows = r->matrices + EXI_MATRIX_FLOATS * n, turn[9];
        for (int i = 0; i < 9; i++)
            turn[i] = rows[4 * (i / 3) + i % 3];
        exi_mixture_affine(turn, (float[3]){start[n], start[stride + n], start[2 * stride + n]},
                           (float[3]){r->places[n], r->places[stride + n], r->places[2 * stride + n]}, rows);
    }
}

EXI_ENTRY(exi_mixture_place, (const exi_trajectories *p, const exi_mixture_rooms *r), (p, r)) {
    sum_examples(p, r);
    turn_nodes(&p->mixture, r);
    pull_nodes(p, r);
    solve_places(p, r);
    place_matrices(p, r);
}

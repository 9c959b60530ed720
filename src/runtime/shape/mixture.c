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

#include "runtime/base/affine.h"
#include "runtime/shape/mixture_pose.inl"

#include <string.h>

/* ---- the room ---- */

typedef struct rooms {
    double *weights, *shares, *bounded; /* x' [example_count], s and s' [corner_count] */
    double *factors;                    /* [2][node_stride]: a and sinc of the turns */
    float *turns;                       /* [3][node_stride]: sum of x'_k w_k */
    float *places;                      /* [3][node_stride]: l, then y */
    float *steps;                       /* [6][edge_stride]: sums of the steps */
    float *rotations;                   /* [node_count][12]: columns of R, each padded to four */
    float *spots;                       /* [node_count][4]: l */
    float *pulls;                       /* [node_stride][4]: B^T W r */
    float *matrices;                    /* [node_count][EXI_MATRIX_FLOATS] */
} rooms;

static void *take(uintptr_t *cursor, size_t count, size_t size) {
    void *place = (void *)*cursor;
    *cursor += (count * size + EXI_ALIGN - 1) / EXI_ALIGN * EXI_ALIGN;
    return place;
}

static rooms rooms_of(const exi_trajectories *p, uintptr_t *cursor) {
    const exi_mixture *m = &p->mixture;
    const size_t nodes = (size_t)m->node_stride, corners = (size_t)m->corner_count;
    return (rooms){.weights = take(cursor, (size_t)p->example_count, sizeof(double)),
                   .shares = take(cursor, corners, sizeof(double)),
                   .bounded = take(cursor, corners, sizeof(double)),
                   .factors = take(cursor, 2 * nodes, sizeof(double)),
                   .turns = take(cursor, 3 * nodes, sizeof(float)),
                   .places = take(cursor, 3 * nodes, sizeof(float)),
                   .steps = take(cursor, 6 * (size_t)m->edge_stride, sizeof(float)),
                   .rotations = take(cursor, 12 * nodes, sizeof(float)),
                   .spots = take(cursor, 4 * nodes, sizeof(float)),
                   .pulls = take(cursor, 4 * nodes, sizeof(float)),
                   .matrices = take(cursor, EXI_MATRIX_FLOATS * nodes, sizeof(float))};
}

size_t exi_mixture_room_size(const exi_trajectories *p) {
    uintptr_t cursor = 0;
    if (p->mixture.node_count > 0)
        rooms_of(p, &cursor);
    return (size_t)cursor;
}

static rooms open_rooms(const exi_trajectories *p, void *room) {
    uintptr_t cursor = (uintptr_t)room;
    return rooms_of(p, &cursor);
}

/* ---- weights ---- */

const double *exi_mixture_weigh(const exi_trajectories *p, const double *weights, void *room, float *floats) {
    const exi_mixture *m = &p->mixture;
    const rooms r = open_rooms(p, room);
    for (int k = 0; k < p->example_count; k++)
        r.weights[k] = exi_mixture_weight(p, weights, k);
    const double fade = exi_mixture_shares(p, r.weights, r.shares, r.bounded);
    const ex_mixture_term *terms = exi_trajectories_at(p, m->terms);
    const float *curves = exi_trajectories_at(p, m->curves);
    double amounts[EX_MIXTURE_CORRECTOR_MAX] = {0};
    for (int t = 0; t < m->term_count; t++) { /* most terms are 0 in a space of many examples */
        const double value = exi_mixture_term(&terms[t], r.bounded);
        for (int j = 0; value != 0 && j < m->corrector_count; j++)
            amounts[j] += value * (double)curves[(size_t)j * (size_t)m->term_count + (size_t)t];
    }
    for (int j = 0; j < m->corrector_count; j++)
        floats[p->form_count - m->corrector_count + j] = (float)(fade * amounts[j]);
    return r.weights;
}

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

static void sum_examples(const exi_trajectories *p, const rooms *r) {
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
static void turn_nodes(const exi_mixture *m, const rooms *r) {
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
static void pull_nodes(const exi_trajectories *p, const rooms *r) {
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

/* y = l + M pulls, for EXI_MIXTURE_PAD nodes at a time, which stay in registers: column after column, acc[i] += M[j][i]
 * pull[j]. */
static void solve_places(const exi_trajectories *p, const rooms *r) {
    enum { WIDES = EXI_MIXTURE_PAD / EXI_WIDTH };
    const exi_mixture *m = &p->mixture;
    const size_t stride = (size_t)m->node_stride;
    const float *end = r->pulls + 4 * (size_t)m->node_count;
    for (size_t i = 0; i < stride; i += EXI_MIXTURE_PAD) {
        const float *column = (const float *)exi_trajectories_at(p, m->solve) + i;
        float *places = r->places + i;
        exi_wide sums[3][WIDES];
        EXI_WRITE_OUT
        for (int s = 0; s < 3 * WIDES; s++)
            sums[s / WIDES][s % WIDES] = exi_load(places + (size_t)(s / WIDES) * stride + s % WIDES * EXI_WIDTH);
        for (const float *pull = r->pulls; pull < end; pull += 4, column += stride) {
            const exi_wide x = exi_splat(pull[0]), y = exi_splat(pull[1]), z = exi_splat(pull[2]);
            EXI_WRITE_OUT
            for (int s = 0; s < WIDES; s++) {
                const exi_wide entries = exi_load(column + s * EXI_WIDTH);
                sums[0][s] = exi_madd(entries, x, sums[0][s]);
                sums[1][s] = exi_madd(entries, y, sums[1][s]);
                sums[2][s] = exi_madd(entries, z, sums[2][s]);
            }
        }
        EXI_WRITE_OUT
        for (int s = 0; s < 3 * WIDES; s++)
            exi_store(places + (size_t)(s / WIDES) * stride + s % WIDES * EXI_WIDTH, sums[s / WIDES][s % WIDES]);
    }
}

/* Adds the offsets to the matrices. */
static void place_matrices(const exi_trajectories *p, const rooms *r) {
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

static void place_nodes(const exi_trajectories *p, const rooms *r) {
    sum_examples(p, r);
    turn_nodes(&p->mixture, r);
    pull_nodes(p, r);
    solve_places(p, r);
    place_matrices(p, r);
}

void exi_mixture_open(const exi_trajectories *p, void *room, exi_trajectory *path) {
    const rooms r = open_rooms(p, room);
    place_nodes(p, &r);
    path->matrices = r.matrices;
    path->nodes = exi_trajectories_at(p, p->mixture.nodes);
    path->shares = exi_trajectories_at(p, p->mixture.shares);
}

/* ---- at an example ---- */

const float *exi_mixture_at_example(const exi_trajectories *p, int example, void *room) {
    const rooms r = open_rooms(p, room);
    memset(r.weights, 0, (size_t)p->example_count * sizeof *r.weights);
    memset(r.shares, 0, (size_t)p->mixture.corner_count * sizeof *r.shares);
    r.weights[example] = r.shares[1 + example] = 1;
    place_nodes(p, &r);
    return r.matrices;
}

void exi_mixture_matrix(const exi_trajectories *p, const float *matrices, int vertex, double m[12]) {
    const uint16_t *nodes = exi_trajectories_at(p, p->mixture.nodes);
    const float *shares = exi_trajectories_at(p, p->mixture.shares);
    memset(m, 0, 12 * sizeof *m);
    for (size_t i = EX_NODE_SHARES * (size_t)vertex; i < EX_NODE_SHARES * ((size_t)vertex + 1); i++)
        for (size_t c = 0; c < 12; c++)
            m[c] += (double)shares[i] * (double)matrices[EXI_MATRIX_FLOATS * (size_t)nodes[i] + c];
}

void exi_mixture_matrix_at(const exi_trajectories *p, int example, int vertex, double m[12]) {
    const exi_mixture *x = &p->mixture;
    const uint16_t *nodes = exi_trajectories_at(p, x->nodes);
    const float *shares = exi_trajectories_at(p, x->shares), *starts = exi_trajectories_at(p, x->given_places);
    const size_t row = (size_t)x->node_count * 3;
    const float *turns = (const float *)exi_trajectories_at(p, x->given_turns) + (size_t)example * row;
    const float *places = starts + (1 + (size_t)example) * row;
    memset(m, 0, 12 * sizeof *m);
    for (size_t i = EX_NODE_SHARES * (size_t)vertex; i < EX_NODE_SHARES * ((size_t)vertex + 1); i++) {
        const size_t n = 3 * (size_t)nodes[i];
        const double share = (double)shares[i];
        double turn[9];
        exi_mixture_rotation((double[3]){(double)turns[n], (double)turns[n + 1], (double)turns[n + 2]}, turn);
        for (size_t c = 0; c < 3; c++) {
            m[4 * c + 3] += share * ((double)places[n + c] - (double)starts[n + c]);
            for (size_t d = 0; d < 3; d++) {
                m[4 * c + d] += share * turn[3 * c + d];
                m[4 * c + 3] -= share * turn[3 * c + d] * (double)starts[n + d];
            }
        }
    }
}

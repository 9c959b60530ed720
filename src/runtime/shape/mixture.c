/*
 * Mixtures at a pose (exemplar/shape.h): weights, and the room of the nodes, which mixture_kernel.c places.
 */
#include "runtime/shape/mixture.h"

#include "runtime/base/influence.h"
#include "runtime/shape/mixture_pose.inl"

#include <string.h>

/* ---- the room ---- */

static void *take(uintptr_t *cursor, size_t count, size_t size) {
    void *place = (void *)*cursor;
    *cursor += (count * size + EXI_ALIGN - 1) / EXI_ALIGN * EXI_ALIGN;
    return place;
}

static exi_mixture_rooms rooms_of(const exi_trajectories *p, uintptr_t *cursor) {
    const exi_mixture *m = &p->mixture;
    const size_t nodes = (size_t)m->node_stride, corners = (size_t)m->corner_count;
    return (exi_mixture_rooms){.weights = take(cursor, (size_t)p->example_count, sizeof(double)),
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

static exi_mixture_rooms open_rooms(const exi_trajectories *p, void *room) {
    uintptr_t cursor = (uintptr_t)room;
    return rooms_of(p, &cursor);
}

/* ---- weights ---- */

const double *exi_mixture_weigh(const exi_trajectories *p, const double *weights, void *room, float *floats) {
    const exi_mixture *m = &p->mixture;
    const exi_mixture_rooms r = open_rooms(p, room);
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

/* ---- nodes ---- */

void exi_mixture_open(const exi_trajectories *p, void *room, exi_trajectory *path) {
    const exi_mixture_rooms r = open_rooms(p, room);
    exi_mixture_place(p, &r);
    path->matrices = r.matrices;
    path->nodes = exi_trajectories_at(p, p->mixture.nodes);
    path->shares = exi_trajectories_at(p, p->mixture.shares);
}

/* ---- at an example ---- */

const float *exi_mixture_at_example(const exi_trajectories *p, int example, void *room) {
    const exi_mixture_rooms r = open_rooms(p, room);
    memset(r.weights, 0, (size_t)p->example_count * sizeof *r.weights);
    memset(r.shares, 0, (size_t)p->mixture.corner_count * sizeof *r.shares);
    r.weights[example] = r.shares[1 + example] = 1;
    exi_mixture_place(p, &r);
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

/*
 * Creation of mixtures: checks, and tables that do not depend on the pose. M, the pseudo-inverse of L = B^T W B, is
 * (L + 11^T / N)^-1 - 11^T / N, since the edges connect all nodes.
 */
#include "runtime/base/dense.h"
#include "runtime/base/result.h"
#include "runtime/shape/mixture.h"
#include "runtime/shape/mixture_pose.inl"

#include <math.h>
#include <string.h>

/* Limit of a node's turn, as of a screw's (trajectory_create.c). */
static const double turn_most = 1000;
/* The shares of a vertex sum to 1 within this. */
static const double share_slack = 1e-4;

/* ---- checks ---- */

static ex_result within_example(const exi_trajectories_def *def, int k, ex_result result, ex_error *error) {
    return def->names ? ex_error_within(error, result, "example '%s'", def->names[k])
                      : ex_error_within(error, result, "example %d", k + 1);
}

static ex_result check_counts(const ex_mixture *m, ex_error *error) {
    if (m->node_count < 0 || m->node_count > EX_NODE_MAX)
        return ex_error_set(error, EX_ERROR_LIMIT, "a mixture has at most %d nodes, not %d", EX_NODE_MAX,
                            m->node_count);
    if (m->edge_count < 0 || m->edge_count > EX_NODE_EDGE_MAX)
        return ex_error_set(error, EX_ERROR_LIMIT, "a mixture has at most %d edges, not %d", EX_NODE_EDGE_MAX,
                            m->edge_count);
    if (m->corrector_count < 0 || m->corrector_count > EX_MIXTURE_CORRECTOR_MAX)
        return ex_error_set(error, EX_ERROR_LIMIT, "a mixture has at most %d correctors, not %d",
                            EX_MIXTURE_CORRECTOR_MAX, m->corrector_count);
    if (m->term_count < 0 || m->term_count > EX_MIXTURE_TERM_MAX)
        return ex_error_set(error, EX_ERROR_LIMIT, "a mixture has at most %d terms, not %d", EX_MIXTURE_TERM_MAX,
                            m->term_count);
    if (!m->places || !m->turns || !m->nodes || !m->shares || (m->edge_count > 0 && (!m->edges || !m->edge_weights)) ||
        (m->corrector_count > 0 && !m->correctors) || (m->term_count > 0 && !m->terms) ||
        (m->corrector_count > 0 && m->term_count > 0 && !m->curves))
        return ex_error_set(error, EX_ERROR_ARGUMENT,
                            "a mixture needs places, turns, edges, shares, correctors, terms and curves, as many as it "
                            "says");
    for (int j = 0; j < m->corrector_count; j++)
        if (!m->correctors[j])
            return ex_error_set(error, EX_ERROR_ARGUMENT, "corrector %d of the mixture is missing", j);
    return EX_OK;
}

static ex_result check_place(const float *place, int node, ex_error *error) {
    if (isfinite(place[0]) && isfinite(place[1]) && isfinite(place[2]))
        return EX_OK;
    return ex_error_set(error, EX_ERROR_DATA, "the place of node %d is not finite", node);
}

static ex_result check_nodes(const exi_trajectories_def *def, ex_error *error) {
    const ex_mixture *m = &def->mixture;
    const size_t row = 3 * (size_t)m->node_count;
    ex_result result = EX_OK;
    for (int n = 0; result == EX_OK && n < m->node_count; n++)
        result = check_place(m->places + 3 * n, n, error);
    if (result != EX_OK)
        return ex_error_within(error, result, "the mesh");
    for (int k = 0; k < def->example_count; k++) {
        const float *places = m->places + (1 + (size_t)k) * row, *turns = m->turns + (size_t)k * row;
        for (int n = 0; k != def->reference && result == EX_OK && n < m->node_count; n++) {
            const float *w = turns + 3 * n;
            const double w_sq = (double)w[0] * (double)w[0] + (double)w[1] * (double)w[1] + (double)w[2] * (double)w[2];
            result = check_place(places + 3 * n, n, error);
            if (result == EX_OK && !(w_sq <= turn_most * turn_most))
                result = ex_error_set(error, EX_ERROR_DATA, "the turn of node %d is not finite, or above %g radians", n,
                                      turn_most);
        }
        if (result != EX_OK)
            return within_example(def, k, result, error);
    }
    return EX_OK;
}

static int root_of(const uint16_t *above, int node) {
    while (above[node] != node)
        node = above[node];
    return node;
}

static ex_result check_edges(const ex_mixture *m, ex_error *error) {
    uint16_t above[EX_NODE_MAX];
    int pieces = m->node_count;
    for (int n = 0; n < m->node_count; n++)
        above[n] = (uint16_t)n;
    for (int e = 0; e < m->edge_count; e++) {
        const int i = m->edges[2 * e], j = m->edges[2 * e + 1];
        if (i >= m->node_count || j >= m->node_count || i == j)
            return ex_error_set(error, EX_ERROR_DATA,
                                "edge %d joins nodes %d and %d: it must join two different ones of the %d nodes", e, i,
                                j, m->node_count);
        if (!(m->edge_weights[e] > 0) || !isfinite(m->edge_weights[e]))
            return ex_error_set(error, EX_ERROR_DATA, "the weight of edge %d is %g; it must be above 0", e,
                                (double)m->edge_weights[e]);
        const int a = root_of(above, i), b = root_of(above, j);
        pieces -= a != b;
        above[a] = (uint16_t)b;
    }
    if (pieces > 1)
        return ex_error_set(error, EX_ERROR_DATA,
                            "the nodes are in %d groups that no edge connects: add edges until all are connected",
                            pieces);
    return EX_OK;
}

static ex_result check_shares(const exi_trajectories_def *def, ex_error *error) {
    const ex_mixture *m = &def->mixture;
    for (int v = 0; v < def->vertex_count; v++) {
        const uint16_t *nodes = m->nodes + EX_NODE_SHARES * (size_t)v;
        const float *shares = m->shares + EX_NODE_SHARES * (size_t)v;
        double sum = 0;
        for (int i = 0; i < EX_NODE_SHARES; i++) {
            if (nodes[i] >= m->node_count)
                return ex_error_set(error, EX_ERROR_DATA, "vertex %d is moved by node %d, which does not exist", v,
                                    nodes[i]);
            if (!(shares[i] >= 0))
                return ex_error_set(error, EX_ERROR_DATA,
                                    "a share of vertex %d is %g: shares are not negative and sum to 1", v,
                                    (double)shares[i]);
            sum += (double)shares[i];
        }
        if (!(fabs(sum - 1) <= share_slack))
            return ex_error_set(error, EX_ERROR_DATA, "the shares of vertex %d sum to %.6g, not to 1", v, sum);
    }
    return EX_OK;
}

static ex_result check_terms(const exi_trajectories_def *def, ex_error *error) {
    const ex_mixture *m = &def->mixture;
    for (int t = 0; t < m->term_count; t++) {
        const ex_mixture_term *term = &m->terms[t];
        const int a = term->corners[0], b = term->corners[1], c = term->corners[2];
        if (a < 0 || b <= a || (c != -1 && c <= b) || (c == -1 ? b : c) > def->example_count)
            return ex_error_set(error, EX_ERROR_DATA,
                                "term %d is for the corners %d, %d and %d: they must ascend from 0 to at most %d, and "
                                "the third is -1 for a pair",
                                t, a, b, c, def->example_count);
        if (term->power < 0 || term->power > 7 || (c >= 0 && term->power != 0))
            return ex_error_set(error, EX_ERROR_DATA,
                                "term %d has the power %d: 0 to 7 are allowed for a pair, and 0 for three corners", t,
                                term->power);
    }
    for (int j = 0; j < m->corrector_count; j++)
        for (int t = 0; t < m->term_count; t++)
            if (!isfinite(m->curves[(size_t)j * (size_t)m->term_count + (size_t)t]))
                return ex_error_set(error, EX_ERROR_DATA, "the curve of corrector %d of the mixture is not finite", j);
    return EX_OK;
}

ex_result exi_mixture_check(const exi_trajectories_def *def, ex_error *error) {
    if (def->mixture.node_count == 0)
        return EX_OK;
    for (int k = 0; k < def->example_count; k++) {
        const ex_trajectory *path = &def->trajectories[k];
        if (k != def->reference && (path->turns || path->corrector_count > 0 || path->bases))
            return within_example(def, k,
                                  ex_error_set(error, EX_ERROR_ARGUMENT,
                                               "it has turns, correctors or bases of its own, but the layer has a "
                                               "mixture: leave them out"),
                                  error);
    }
    ex_result result = check_counts(&def->mixture, error);
    if (result == EX_OK)
        result = check_nodes(def, error);
    if (result == EX_OK)
        result = check_edges(&def->mixture, error);
    if (result == EX_OK)
        result = check_shares(def, error);
    return result == EX_OK ? check_terms(def, error) : result;
}

/* ---- layout ---- */

static int32_t padded(int count) {
    return (count + EXI_MIXTURE_PAD - 1) / EXI_MIXTURE_PAD * EXI_MIXTURE_PAD;
}

void exi_mixture_lay(const exi_trajectories_def *def, exi_mixture *m, exi_size *total) {
    const ex_mixture *from = &def->mixture;
    *m = (exi_mixture){0};
    if (from->node_count == 0)
        return;
    *m = (exi_mixture){.node_count = from->node_count,
                       .edge_count = from->edge_count,
                       .corner_count = def->example_count + 1,
                       .corrector_count = from->corrector_count,
                       .term_count = from->term_count,
                       .node_stride = padded(from->node_count),
                       .edge_stride = padded(from->edge_count)};
    const size_t nodes = (size_t)m->node_count, edges = (size_t)m->edge_count, stride = (size_t)m->node_stride;
    const size_t corners = (size_t)m->corner_count, examples = corners - 1, terms = (size_t)m->term_count;
    m->given_places = exi_size_add(total, corners, nodes * 3 * sizeof(float), EXI_ALIGN);
    m->given_turns = exi_size_add(total, examples, nodes * 3 * sizeof(float), EXI_ALIGN);
    m->edges = exi_size_add(total, edges, 2 * sizeof(uint16_t), EXI_ALIGN);
    m->edge_weights = exi_size_add(total, edges, sizeof(float), EXI_ALIGN);
    m->terms = exi_size_add(total, terms, sizeof(ex_mixture_term), EXI_ALIGN);
    m->curves = exi_size_add(total, (size_t)m->corrector_count * terms, sizeof(float), EXI_ALIGN);
    m->turns = exi_size_add(total, examples, 3 * stride * sizeof(float), EXI_ALIGN);
    m->places = exi_size_add(total, corners, 3 * stride * sizeof(float), EXI_ALIGN);
    m->steps = exi_size_add(total, corners, 6 * (size_t)m->edge_stride * sizeof(float), EXI_ALIGN);
    m->pulls = exi_size_add(total, edges, sizeof(float), EXI_ALIGN);
    m->solve = exi_size_add(total, nodes, stride * sizeof(float), EXI_ALIGN);
}

void exi_mixture_lay_vertices(const exi_trajectories_def *def, exi_mixture *m, size_t padded_count, exi_size *total) {
    if (def->mixture.node_count == 0)
        return;
    m->nodes = exi_size_add(total, padded_count, EX_NODE_SHARES * sizeof(uint16_t), EXI_ALIGN);
    m->shares = exi_size_add(total, padded_count, EX_NODE_SHARES * sizeof(float), EXI_ALIGN);
}

/* ---- tables ---- */

static void *at(exi_trajectories *p, uint64_t offset) {
    return (char *)p + offset;
}

static void copy(exi_trajectories *p, uint64_t offset, const void *from, size_t size) {
    if (size > 0)
        memcpy(at(p, offset), from, size);
}

static void copy_given(const exi_trajectories_def *def, exi_trajectories *p) {
    const ex_mixture *from = &def->mixture;
    const exi_mixture *m = &p->mixture;
    const size_t row = (size_t)m->node_count * 3, edges = (size_t)m->edge_count, terms = (size_t)m->term_count;
    const size_t entries = (size_t)def->vertex_count * EX_NODE_SHARES, size = row * sizeof(float);
    copy(p, m->given_places, from->places, size);
    for (size_t k = 0; k < (size_t)def->example_count; k++)
        if ((int)k != def->reference) {
            copy(p, m->given_places + (1 + k) * size, from->places + (1 + k) * row, size);
            copy(p, m->given_turns + k * size, from->turns + k * row, size);
        }
    copy(p, m->edges, from->edges, edges * 2 * sizeof(uint16_t));
    copy(p, m->edge_weights, from->edge_weights, edges * sizeof(float));
    copy(p, m->terms, from->terms, terms * sizeof(ex_mixture_term));
    copy(p, m->curves, from->curves, (size_t)m->corrector_count * terms * sizeof(float));
    copy(p, m->nodes, from->nodes, entries * sizeof(uint16_t));
    copy(p, m->shares, from->shares, entries * sizeof(float));
}

/* Writes the tables that have a coordinate of all nodes in a row. */
static void fill_nodes(exi_trajectories *p) {
    const exi_mixture *m = &p->mixture;
    const size_t stride = (size_t)m->node_stride, nodes = (size_t)m->node_count;
    const float *given = exi_trajectories_at(p, m->given_places), *turns = exi_trajectories_at(p, m->given_turns);
    float *places = at(p, m->places), *rows = at(p, m->turns);
    for (size_t i = 0; i < (size_t)m->corner_count; i++)
        for (size_t n = 0; n < (p->reference >= 0 && (int)i == p->reference + 1 ? 0 : nodes); n++)
            for (size_t c = 0; c < 3; c++) {
                const double place = (double)given[(i * nodes + n) * 3 + c];
                const double start = i > 0 ? (double)given[n * 3 + c] : 0;
                places[(i * 3 + c) * stride + n] = (float)(place - start);
                if (i > 0)
                    rows[((i - 1) * 3 + c) * stride + n] = turns[((i - 1) * nodes + n) * 3 + c];
            }
}

/* R_k^T (y_jk - y_ik) for the rotations of both ends of every edge. */
static void fill_steps(exi_trajectories *p) {
    const exi_mixture *m = &p->mixture;
    const size_t stride = (size_t)m->edge_stride, nodes = (size_t)m->node_count;
    const uint16_t *edges = exi_trajectories_at(p, m->edges);
    const float *places = exi_trajectories_at(p, m->given_places), *turns = exi_trajectories_at(p, m->given_turns);
    float *steps = at(p, m->steps);
    for (size_t corner = 0; corner < (size_t)m->corner_count; corner++)
        for (size_t e = 0; e < (size_t)m->edge_count; e++)
            for (size_t end = 0; end < 2; end++) {
                const float *from = places + (corner * nodes + edges[2 * e]) * 3;
                const float *to = places + (corner * nodes + edges[2 * e + 1]) * 3;
                double step[3], back[3] = {0};
                for (size_t c = 0; c < 3; c++) {
                    step[c] = (double)to[c] - (double)from[c];
                    if (corner > 0)
                        back[c] = -(double)turns[((corner - 1) * nodes + edges[2 * e + end]) * 3 + c];
                }
                exi_turn_apply(back, step, step);
                for (size_t c = 0; c < 3; c++)
                    steps[(corner * 6 + end * 3 + c) * stride + e] = (float)step[c];
            }
}

/* Sets the pulls, and M from the system [n][2n]. Weights below `least` are raised to it. Returns the largest entry of
 * M; infinity if there is no M. */
static double try_solve(exi_trajectories *p, double mean, double least, double *system) {
    const exi_mixture *m = &p->mixture;
    const size_t n = (size_t)m->node_count;
    const uint16_t *edges = exi_trajectories_at(p, m->edges);
    const float *weights = exi_trajectories_at(p, m->edge_weights);
    float *pulls = at(p, m->pulls), *solve = at(p, m->solve);
    double largest = 0;
    for (size_t i = 0; i < n; i++) /* 11^T / N, and the identity matrix */
        for (size_t j = 0; j < 2 * n; j++)
            system[i * 2 * n + j] = j < n ? 1 / (double)n : j == n + i;
    for (size_t e = 0; e < (size_t)m->edge_count; e++) {
        const size_t i = edges[2 * e], j = edges[2 * e + 1];
        const double weight = fmax((double)weights[e] / mean, least);
        pulls[e] = (float)weight;
        system[i * 2 * n + i] += weight;
        system[j * 2 * n + j] += weight;
        system[i * 2 * n + j] -= weight;
        system[j * 2 * n + i] -= weight;
    }
    if (!exi_solve_definite(system, (int)n, (int)n))
        return INFINITY;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++) {
            const double entry = system[i * 2 * n + n + j] - 1 / (double)n;
            solve[i * (size_t)m->node_stride + j] = (float)entry;
            largest = fabs(entry) <= largest ? largest : fabs(entry);
        }
    return largest;
}

/*
 * Weights are divided by the mean of L's diagonal: M W does not change, and numbers stay near 1. If parts of the nodes
 * hang on each other by very weak edges, M is so large that its product in float is wrong by more than a thousandth of
 * r. Weak edges are then raised, as little as helps.
 */
static ex_result fill_solve(exi_trajectories *p, const ex_allocator *allocator, ex_error *error) {
    static const double largest = 1e4, least[] = {0, 1e-8, 1e-7, 1e-6, 1e-5, 1e-4};
    const exi_mixture *m = &p->mixture;
    const size_t n = (size_t)m->node_count, size = 2 * n * n * sizeof(double);
    const float *weights = exi_trajectories_at(p, m->edge_weights);
    double *system = exi_allocate(allocator, size), mean = 0;
    if (!system)
        return ex_error_memory(error, "the nodes of a mixture", size);
    for (size_t e = 0; e < (size_t)m->edge_count; e++)
        mean += 2 * (double)weights[e] / (double)n;
    for (size_t i = 0; i < sizeof least / sizeof *least && !(try_solve(p, mean, least[i], system) <= largest); i++) {
    }
    exi_release(allocator, system, size);
    return EX_OK;
}

ex_result exi_mixture_fill(const exi_trajectories_def *def, exi_trajectories *p, const ex_allocator *allocator,
                           ex_error *error) {
    if (p->mixture.node_count == 0)
        return EX_OK;
    copy_given(def, p);
    fill_nodes(p);
    fill_steps(p);
    return fill_solve(p, allocator, error);
}

/*
 * Forms of a mixture at given weights, in double (exemplar/shape.h has the formula): the reference that fits, reports
 * and tests of the runtime compare with.
 *
 * Places of nodes: with l the places blended in straight lines, an edge from i to j should have the difference
 *
 *   g = 1/2 (R_i sum over corners of s R_i^T (y_j - y_i) + R_j the same with R_j^T)
 *
 * so y = l + L^+ B^T W (g - (l_j - l_i)), B being the edges' incidence, W their weights and L = B^T W B. At a corner g
 * is the edge itself. A mixture without nodes adds up straight lines.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "author/base/array.h"
#include "author/trajectory/matrix.h"
#include "author/trajectory/mixture/mixture.h"
#include "runtime/base/dense.h"
#include "runtime/base/vector.h"

struct exi_mixer {
    ex_mixture mixture;
    int vertex_count, example_count, reference; /* reference: the example without a form, or -1 */
    const double *points;
    float *overlaps;  /* or NULL */
    double *inverse;  /* [node_count] squared: L^+ */
    double *edges[2]; /* [1 + example_count][edge_count][3]: of each corner, in the frame of the first node; of the
                         second */
    double *deltas;   /* [example_count][vertex_count][3] */
};

/* ---- weights ---- */

/* Divisor of weights that are more than 1 together: 1 up to 1, then growing, without a corner. */
static double excess(double sum) {
    const double more = sum - 1;
    return more > 0 ? 1 + more * more / (more + 0.25) : 1;
}

static double above(double share) {
    return share >= 0 ? share : share / (1 - 4 * share);
}

/* A weight above 0, and 0 below, without a corner. */
static double positive(double weight) {
    return weight > 0 ? weight * weight / (weight + 0.05) : 0;
}

static void count_weights(const exi_mixer *m, const double *weights, double *counted) {
    for (int k = 0; k < m->example_count; k++) {
        double sum = 0;
        for (int l = 0; l < m->example_count; l++) {
            const double overlap =
                m->overlaps ? (double)m->overlaps[(size_t)k * (size_t)m->example_count + (size_t)l] : l == k;
            sum += l != m->reference ? overlap * positive(weights[l]) : 0;
        }
        counted[k] = k == m->reference ? 0 : weights[k] / excess(sum);
    }
}

void exi_mixer_weigh(const exi_mixer *m, const double *weights, double *counted, double *correctors, double *shares) {
    const ex_mixture *x = &m->mixture;
    double sum = 0, whole = 0;
    count_weights(m, weights, counted);
    for (int k = 0; k < m->example_count; k++)
        sum += counted[k];
    shares[0] = above(1 - sum);
    whole = shares[0];
    for (int k = 0; k < m->example_count; k++)
        whole += shares[1 + k] = above(counted[k]);
    for (int k = 0; k <= m->example_count; k++)
        shares[k] /= whole;
    const double more = sum > 1 ? sum - 1 : 0, fade = 1 / (1 + 8 * more * more);
    for (int j = 0; j < x->corrector_count; j++)
        correctors[j] = 0;
    for (int t = 0; t < x->term_count; t++) {
        const double value = fade * exi_term_value(&x->terms[t], shares);
        for (int j = 0; value != 0 && j < x->corrector_count; j++)
            correctors[j] += value * (double)x->curves[(size_t)j * (size_t)x->term_count + (size_t)t];
    }
}

/* ---- nodes ---- */

typedef struct frame {
    double turn[3][3], place[3];
} frame;

static void place_at(const exi_mixer *m, int corner, int node, double place[3]) {
    const float *from = m->mixture.places + 3 * ((size_t)corner * (size_t)m->mixture.node_count + (size_t)node);
    for (int c = 0; c < 3; c++)
        place[c] = (double)from[c];
}

static void turn_nodes(const exi_mixer *m, const double *counted, frame *frames) {
    const ex_mixture *x = &m->mixture;
    for (int n = 0; n < x->node_count; n++) {
        double w[3] = {0}, at[3], rest[3];
        place_at(m, 0, n, rest);
        memcpy(frames[n].place, rest, sizeof rest);
        for (int k = 0; k < m->example_count; k++) {
            if (counted[k] == 0)
                continue;
            const float *turn = x->turns + 3 * ((size_t)k * (size_t)x->node_count + (size_t)n);
            place_at(m, 1 + k, n, at);
            for (int c = 0; c < 3; c++) {
                w[c] += counted[k] * (double)turn[c];
                frames[n].place[c] += counted[k] * (at[c] - rest[c]);
            }
        }
        exi_turn_matrix(w, frames[n].turn);
    }
}

static void move_nodes(const exi_mixer *m, const double *counted, frame *frames) {
    const ex_mixture *x = &m->mixture;
    double pulls[EX_NODE_MAX][3] = {{0}}, rest = 1;
    const size_t edges = (size_t)x->edge_count;
    for (int k = 0; k < m->example_count; k++)
        rest -= counted[k];
    for (size_t e = 0; e < edges; e++) {
        const int ends[2] = {x->edges[2 * e], x->edges[2 * e + 1]};
        double want[3] = {0};
        for (int side = 0; side < 2; side++) {
            double local[3], turned[3];
            for (int c = 0; c < 3; c++)
                local[c] = rest * m->edges[side][3 * e + (size_t)c];
            for (int k = 0; k < m->example_count; k++)
                for (int c = 0; counted[k] != 0 && c < 3; c++)
                    local[c] += counted[k] * m->edges[side][3 * ((size_t)(1 + k) * edges + e) + (size_t)c];
            exi_apply(frames[ends[side]].turn, local, turned);
            for (int c = 0; c < 3; c++)
                want[c] += 0.5 * turned[c];
        }
        for (int c = 0; c < 3; c++) {
            const double pull =
                (double)x->edge_weights[e] * (want[c] - (frames[ends[1]].place[c] - frames[ends[0]].place[c]));
            pulls[ends[1]][c] += pull;
            pulls[ends[0]][c] -= pull;
        }
    }
    for (int n = 0; n < x->node_count; n++)
        for (int i = 0; i < x->node_count; i++)
            for (int c = 0; c < 3; c++)
                frames[n].place[c] += m->inverse[(size_t)n * (size_t)x->node_count + (size_t)i] * pulls[i][c];
}

/* The blended motion of a vertex: x + matrix [9] x + shift. Less the identity, since shares sum to 1 only as floats
 * do. */
static void blend(const exi_mixer *m, const frame *frames, const double (*shifts)[3], size_t v, double out[12]) {
    memset(out, 0, 12 * sizeof *out);
    for (size_t i = v * EX_NODE_SHARES; i < (v + 1) * EX_NODE_SHARES; i++) {
        const double share = (double)m->mixture.shares[i];
        const frame *f = &frames[m->mixture.nodes[i]];
        for (int c = 0; c < 9; c++)
            out[c] += share * (f->turn[c / 3][c % 3] - (c % 4 == 0));
        for (int c = 0; c < 3; c++)
            out[9 + c] += share * shifts[m->mixture.nodes[i]][c];
    }
}

/* y - R y_0 of every node. */
static void find_shifts(const exi_mixer *m, frame *frames, double (*shifts)[3]) {
    for (int n = 0; n < m->mixture.node_count; n++) {
        double rest[3], turned[3];
        place_at(m, 0, n, rest);
        exi_apply(frames[n].turn, rest, turned);
        exi_subtract(frames[n].place, turned, shifts[n]);
    }
}

size_t exi_mixer_work_size(const exi_mixer *m) {
    return (size_t)m->mixture.node_count * (sizeof(frame) / sizeof(double) + 3);
}

/* ---- forms ---- */

static void open_pose(const exi_mixer *m, const double *counted, double *work, frame **frames, double (**shifts)[3]) {
    *frames = (frame *)(void *)work;
    *shifts = (double(*)[3])(void *)(*frames + m->mixture.node_count);
    turn_nodes(m, counted, *frames);
    move_nodes(m, counted, *frames);
    find_shifts(m, *frames, *shifts);
}

void exi_mixer_form(const exi_mixer *m, const double *counted, double *positions, double *work) {
    const size_t n = (size_t)m->vertex_count;
    frame *frames = NULL;
    double(*shifts)[3] = NULL;
    if (m->mixture.node_count > 0)
        open_pose(m, counted, work, &frames, &shifts);
    memcpy(positions, m->points, 3 * n * sizeof *positions);
    for (int k = 0; k < m->example_count; k++) {
        const double *delta = m->deltas + 3 * (size_t)k * n;
        for (size_t i = 0; counted[k] != 0 && i < 3 * n; i++)
            positions[i] += counted[k] * delta[i];
    }
    for (size_t v = 0; frames && v < n; v++) {
        double t[12], p[3];
        blend(m, frames, (const double(*)[3])shifts, v, t);
        memcpy(p, positions + 3 * v, sizeof p);
        exi_m3_add(t, p, 1, positions + 3 * v);
        for (size_t c = 0; c < 3; c++)
            positions[3 * v + c] += t[9 + c];
    }
}

/* ---- creating ---- */

static bool find_inverse(exi_mixer *m) {
    const ex_mixture *x = &m->mixture;
    const size_t n = (size_t)x->node_count;
    double *system = calloc(n * 2 * n, sizeof *system);
    m->inverse = exi_array_allocate(n * n, sizeof *m->inverse);
    if (!system || !m->inverse) {
        free(system);
        return false;
    }
    for (int e = 0; e < x->edge_count; e++) {
        const size_t i = x->edges[2 * e], k = x->edges[2 * e + 1];
        const double weight = (double)x->edge_weights[e];
        system[i * 2 * n + i] += weight;
        system[k * 2 * n + k] += weight;
        system[i * 2 * n + k] -= weight;
        system[k * 2 * n + i] -= weight;
    }
    for (size_t i = 0; i < n; i++) {
        for (size_t k = 0; k < n; k++)
            system[i * 2 * n + k] += 1 / (double)n;
        system[i * 2 * n + n + i] = 1;
    }
    exi_solve_definite(system, (int)n, (int)n);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < n; k++)
            m->inverse[i * n + k] = system[i * 2 * n + n + k] - 1 / (double)n;
    free(system);
    return true;
}

static void find_edges(exi_mixer *m) {
    const ex_mixture *x = &m->mixture;
    for (int corner = 0; corner <= m->example_count; corner++)
        for (size_t e = 0; e < (size_t)x->edge_count; e++) {
            double a[3], b[3], d[3];
            place_at(m, corner, x->edges[2 * e], a);
            place_at(m, corner, x->edges[2 * e + 1], b);
            exi_subtract(b, a, d);
            for (size_t side = 0; side < 2; side++) {
                const size_t at = (size_t)corner * (size_t)x->node_count + x->edges[2 * e + side];
                double w[3] = {0}, r[3][3];
                for (int c = 0; corner > 0 && c < 3; c++)
                    w[c] = (double)x->turns[3 * (at - (size_t)x->node_count) + (size_t)c];
                exi_turn_matrix(w, r);
                exi_apply_transpose(r, d, m->edges[side] + 3 * ((size_t)corner * (size_t)x->edge_count + e));
            }
        }
}

/* Without nodes, vertices go in straight lines. */
static void find_straight_deltas(exi_mixer *m, const double *const *examples) {
    const size_t numbers = 3 * (size_t)m->vertex_count;
    for (size_t k = 0; k < (size_t)m->example_count; k++)
        for (size_t i = 0; examples[k] && i < numbers; i++)
            m->deltas[k * numbers + i] = examples[k][i] - m->points[i];
}

/* Finds what each vertex adds to be at its place in the example: T^-1 (place - shift) - mesh. */
static bool find_deltas(exi_mixer *m, const double *const *examples) {
    if (m->mixture.node_count == 0) {
        find_straight_deltas(m, examples);
        return true;
    }
    const size_t n = (size_t)m->vertex_count;
    double *work = exi_array_allocate(exi_mixer_work_size(m) + (size_t)m->example_count, sizeof *work);
    if (!work)
        return false;
    double *counted = work + exi_mixer_work_size(m);
    memset(counted, 0, (size_t)m->example_count * sizeof *counted);
    for (int k = 0; k < m->example_count; k++) {
        double *delta = m->deltas + 3 * (size_t)k * n;
        frame *frames;
        double(*shifts)[3];
        if (!examples[k])
            continue;
        counted[k] = 1;
        open_pose(m, counted, work, &frames, &shifts);
        counted[k] = 0;
        for (size_t v = 0; v < n; v++) {
            double t[12], inverse[9], d[3], p[3] = {0, 0, 0};
            blend(m, frames, (const double(*)[3])shifts, v, t);
            exi_subtract(examples[k] + 3 * v, t + 9, d);
            for (int c = 0; c < 9; c += 4)
                t[c] += 1;
            exi_m3_invert(t, inverse);
            exi_m3_add(inverse, d, 1, p);
            exi_subtract(p, m->points + 3 * v, delta + 3 * v);
        }
    }
    free(work);
    return true;
}

bool exi_mixer_create(const exi_mixer_def *def, exi_mixer **mixer) {
    exi_mixer *m = calloc(1, sizeof *m);
    *mixer = m;
    if (!m)
        return false;
    const size_t examples = (size_t)def->example_count, edges = (size_t)def->mixture->edge_count;
    m->mixture = *def->mixture;
    m->vertex_count = def->vertex_count;
    m->example_count = def->example_count;
    m->points = def->reference;
    m->reference = -1;
    for (int k = 0; k < def->example_count; k++)
        m->reference = def->examples[k] ? m->reference : k;
    m->overlaps = def->overlaps ? exi_array_copy(def->overlaps, examples * examples, sizeof *m->overlaps) : NULL;
    m->deltas = calloc(3 * examples * (size_t)def->vertex_count, sizeof *m->deltas);
    for (int side = 0; side < 2; side++)
        m->edges[side] = exi_array_allocate(3 * (1 + examples) * edges, sizeof **m->edges);
    bool done = m->deltas && m->edges[0] && m->edges[1] && (m->overlaps || !def->overlaps) && find_inverse(m);
    if (done) {
        find_edges(m);
        done = find_deltas(m, def->examples);
    }
    if (!done) {
        exi_mixer_destroy(m);
        *mixer = NULL;
    }
    return done;
}

void exi_mixer_destroy(exi_mixer *m) {
    if (!m)
        return;
    free(m->overlaps);
    free(m->inverse);
    free(m->edges[0]);
    free(m->edges[1]);
    free(m->deltas);
    free(m);
}

/*
 * Layers with a mixture; see mixtures.h.
 */
#include "support/mixtures.h"
#include "support/paths.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- a layer ---- */

static const char *const names[MIXED_EXAMPLES] = {"a", "b", "c", "d"};
static const uint16_t edge_list[MIXED_EDGES][2] = {{0, 1}, {2, 1}, {2, 3}, {4, 3}, {0, 4}, {1, 3}, {4, 1}};
/* Pairs with powers, the mesh and without it, and three corners. */
static const ex_mixture_term term_list[MIXED_TERMS] = {{{0, 1, -1}, 0}, {{0, 3, -1}, 1}, {{1, 3, -1}, 0},
                                                       {{1, 4, -1}, 3}, {{3, 4, -1}, 7}, {{0, 1, 3}, 0},
                                                       {{1, 3, 4}, 0}};

static double between(uint64_t *random, double low, double high) {
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    return low + (high - low) * (double)(*random >> 33) / 2147483648.0;
}

static void fill(float *values, size_t count, double size, uint64_t *random) {
    for (size_t i = 0; i < count; i++)
        values[i] = (float)between(random, -size, size);
}

static void draw_nodes(mixed_layer *m, uint64_t *random) {
    fill(m->places[0][0], (size_t)3 * MIXED_NODES, 1, random);
    for (int k = 0; k < MIXED_EXAMPLES; k++) {
        double turn[3], move[3];
        for (int c = 0; c < 3; c++) {
            turn[c] = between(random, -1.2, 1.2);
            move[c] = between(random, -0.3, 0.3);
        }
        for (int n = 0; n < MIXED_NODES; n++) {
            double place[3];
            for (int c = 0; c < 3; c++) {
                m->turns[k][n][c] = (float)(turn[c] + between(random, -0.4, 0.4));
                place[c] = (double)m->places[0][n][c];
            }
            plain_rotate(turn, place, place);
            for (int c = 0; c < 3; c++)
                m->places[1 + k][n][c] = (float)(place[c] + move[c] + between(random, -0.1, 0.1));
        }
    }
    memcpy(m->edges, edge_list, sizeof m->edges);
    memcpy(m->terms, term_list, sizeof m->terms);
    for (int e = 0; e < MIXED_EDGES; e++)
        m->edge_weights[e] = (float)between(random, 0.1, 2);
    fill(m->curves[0], (size_t)MIXED_COUNT * MIXED_TERMS, 1, random);
}

static void draw_shares(mixed_layer *m, size_t vertices, uint64_t *random) {
    for (size_t v = 0; v < vertices; v++) {
        float sum = 0;
        for (size_t i = 4 * v; i < 4 * v + 4; i++) {
            m->nodes[i] = (uint16_t)(between(random, 0, MIXED_NODES - 0.001));
            m->shares[i] = i == 4 * v + 3 && v % 3 == 0 ? 0 : (float)between(random, 0.05, 1);
            sum += m->shares[i];
        }
        for (size_t i = 4 * v; i < 4 * v + 4; i++)
            m->shares[i] /= sum;
    }
}

/* Examples follow the first node of each vertex, roughly. */
static void draw_deltas(mixed_layer *m, float *deltas, size_t vertices, uint64_t *random) {
    for (int k = 0; k < MIXED_EXAMPLES; k++, deltas += 3 * vertices) {
        m->delta_list[k] = deltas;
        for (size_t v = 0; v < vertices; v++) {
            const int n = m->nodes[4 * v];
            double w[3], x[3];
            for (int c = 0; c < 3; c++) {
                w[c] = (double)m->turns[k][n][c];
                x[c] = (double)m->mesh[3 * v + (size_t)c] - (double)m->places[0][n][c];
            }
            plain_rotate(w, x, x);
            for (size_t c = 0; c < 3; c++)
                deltas[3 * v + c] = (float)(x[c] + (double)m->places[1 + k][n][c] - (double)m->mesh[3 * v + c] +
                                            between(random, -0.05, 0.05));
        }
    }
}

void mixed_layer_open(mixed_layer *m, const float *mesh, int vertex_count, int more, int parts, uint64_t seed) {
    uint64_t random = seed;
    const size_t vertices = (size_t)vertex_count, all = vertices + (size_t)more;
    memset(m, 0, sizeof *m);
    m->vertex_count = vertex_count;
    m->mesh = mesh;
    m->memory = malloc((3 * MIXED_EXAMPLES * vertices + 3 * MIXED_COUNT * all + vertices + 4 * all) * sizeof(float));
    m->nodes = malloc(4 * all * sizeof *m->nodes);
    m->mask = m->memory + 3 * MIXED_EXAMPLES * vertices + 3 * MIXED_COUNT * all;
    m->shares = m->mask + vertices;
    draw_nodes(m, &random);
    draw_shares(m, all, &random);
    draw_deltas(m, m->memory, vertices, &random);
    for (size_t j = 0; j < MIXED_COUNT; j++) {
        float *corrector = m->memory + 3 * MIXED_EXAMPLES * vertices + 3 * j * all;
        fill(corrector, 3 * all, 0.2, &random);
        m->corrector_list[j] = corrector;
    }
    for (size_t v = 0; v < vertices; v++)
        m->mask[v] = (float)between(&random, 0, 1);
    for (int k = 0; k < MIXED_EXAMPLES; k++) {
        m->axes[k] = ex_axis_scalar(0, 1, 0);
        for (int c = 0; parts & MIXED_SCREWS && k != 3 && c < 3; c++) {
            m->trajectories[k].screw.turn[c] = between(&random, -1, 1);
            m->trajectories[k].screw.move[c] = between(&random, -1, 1);
        }
        for (int l = 0; l < MIXED_EXAMPLES; l++)
            m->overlaps[k][l] = k == l ? 1 : (float)between(&random, 0.3, 1);
    }
    m->def = (ex_layer_def){.name = "mixed",
                            .domain = EX_DOMAIN_TRAJECTORY,
                            .weigh = ex_weigher_def_direct(m->axes, MIXED_EXAMPLES),
                            .axis_names = names,
                            .example_names = names,
                            .mask = parts & MIXED_MASK ? m->mask : NULL,
                            .form.deltas = m->delta_list};
    ex_layer_trajectory *t = &m->def.trajectory;
    t->examples = m->trajectories;
    t->reference = parts & MIXED_REFERENCE ? 1 : -1;
    t->centre[0] = 0.3;
    t->centre[2] = -0.2;
    t->overlaps = parts & MIXED_OVERLAPS ? m->overlaps[0] : NULL;
    t->mixture = (ex_mixture){.node_count = MIXED_NODES,
                              .places = m->places[0][0],
                              .turns = m->turns[0][0],
                              .edge_count = MIXED_EDGES,
                              .edges = m->edges[0],
                              .edge_weights = m->edge_weights,
                              .nodes = m->nodes,
                              .shares = m->shares,
                              .corrector_count = parts & MIXED_CORRECTORS ? MIXED_COUNT : 0,
                              .correctors = m->corrector_list,
                              .term_count = parts & MIXED_CORRECTORS ? MIXED_TERMS : 0,
                              .terms = m->terms,
                              .curves = m->curves[0]};
}

void mixed_layer_close(mixed_layer *m) {
    free(m->memory);
    free(m->nodes);
}

/* ---- simple formulas ---- */

/* Solves a [n][n + m] by elimination; the last m columns become the solution. */
static void eliminate(double *a, int n, int m) {
    const int width = n + m;
    for (int i = 0; i < n; i++) {
        int best = i;
        for (int r = i + 1; r < n; r++)
            best = fabs(a[r * width + i]) > fabs(a[best * width + i]) ? r : best;
        for (int c = 0; c < width; c++) {
            const double swap = a[i * width + c];
            a[i * width + c] = a[best * width + c];
            a[best * width + c] = swap;
        }
        for (int r = 0; r < n; r++) {
            const double factor = a[r * width + i] / a[i * width + i];
            for (int c = i; r != i && c < width; c++)
                a[r * width + c] -= factor * a[i * width + c];
        }
    }
    for (int i = 0; i < n; i++)
        for (int c = n; c < width; c++)
            a[i * width + c] /= a[i * width + i];
}

/* The matrix that plain_rotate applies. */
static void rotation_of(const double w[3], double r[9]) {
    for (int c = 0; c < 3; c++) {
        double image[3];
        plain_rotate(w, (double[3]){c == 0, c == 1, c == 2}, image);
        for (int i = 0; i < 3; i++)
            r[3 * i + c] = image[i];
    }
}

static void apply(const double r[9], const double x[3], double out[3]) {
    double result[3];
    for (int i = 0; i < 3; i++)
        result[i] = r[3 * i] * x[0] + r[3 * i + 1] * x[1] + r[3 * i + 2] * x[2];
    memcpy(out, result, sizeof result);
}

double plain_mixture_weights(const ex_layer_def *layer, const double *weights, double *back, double *shares,
                             double *bounded) {
    const int count = layer->weigh.example_count, reference = layer->trajectory.reference;
    double total = 0, sum = 0;
    for (int k = 0; k < count; k++) {
        double over = 0;
        for (int l = 0; l < count; l++) {
            const double overlap =
                layer->trajectory.overlaps ? (double)layer->trajectory.overlaps[k * count + l] : k == l;
            const double x = fmax(weights[l], 0);
            over += l == reference ? 0 : overlap * x * x / (x + 0.05);
        }
        const double d = fmax(over - 1, 0);
        back[k] = k == reference ? 0 : weights[k] / (1 + d * d / (d + 0.25));
        total += back[k];
        shares[1 + k] = back[k];
    }
    shares[0] = 1 - total;
    for (int i = 0; i <= count; i++) {
        bounded[i] = shares[i] >= 0 ? shares[i] : shares[i] / (1 - 4 * shares[i]);
        sum += bounded[i];
    }
    for (int i = 0; i <= count; i++)
        bounded[i] /= sum;
    return 1 / (1 + 8 * pow(fmax(0, total - 1), 2));
}

/* Rotation of node n at a corner. */
static void corner_rotation(const ex_layer_def *layer, int corner, int n, double r[9]) {
    const ex_mixture *m = &layer->trajectory.mixture;
    double w[3] = {0};
    for (int c = 0; corner > 0 && c < 3; c++)
        w[c] = (double)m->turns[((corner - 1) * m->node_count + n) * 3 + c];
    rotation_of(w, r);
}

static double place_of(const ex_layer_def *layer, int corner, int n, int c) {
    const ex_mixture *m = &layer->trajectory.mixture;
    return (double)m->places[(corner * m->node_count + n) * 3 + c];
}

/* The way along an edge: half from each end. */
static void edge_of(const ex_layer_def *layer, const double *shares, double (*turns)[9], int e, double g[3]) {
    const ex_mixture *m = &layer->trajectory.mixture;
    const int ends[2] = {m->edges[2 * e], m->edges[2 * e + 1]};
    g[0] = g[1] = g[2] = 0;
    for (int end = 0; end < 2; end++) {
        double sum[3] = {0};
        for (int k = 0; k <= layer->weigh.example_count; k++) {
            double r[9], transposed[9], step[3];
            if (k > 0 && k - 1 == layer->trajectory.reference)
                continue;
            corner_rotation(layer, k, ends[end], r);
            for (int c = 0; c < 3; c++)
                step[c] = place_of(layer, k, ends[1], c) - place_of(layer, k, ends[0], c);
            for (int i = 0; i < 9; i++)
                transposed[i] = r[3 * (i % 3) + i / 3];
            apply(transposed, step, step);
            for (int c = 0; c < 3; c++)
                sum[c] += shares[k] * step[c];
        }
        apply(turns[ends[end]], sum, sum);
        for (int c = 0; c < 3; c++)
            g[c] += 0.5 * sum[c];
    }
}

/* Normal equations of the edges, of which the first is replaced by the mean place. */
void plain_mixture_nodes(const ex_layer_def *layer, const double *back, const double *shares, double (*turns)[9],
                         double (*places)[3]) {
    const ex_mixture *m = &layer->trajectory.mixture;
    enum { WIDTH = MIXED_NODES + 3 };
    double system[MIXED_NODES * WIDTH] = {0}, mean[3] = {0};
    for (int n = 0; n < m->node_count; n++) {
        double w[3] = {0};
        for (int k = 0; k < layer->weigh.example_count; k++)
            for (int c = 0; k != layer->trajectory.reference && c < 3; c++) {
                w[c] += back[k] * (double)m->turns[(k * m->node_count + n) * 3 + c];
                mean[c] += back[k] * (place_of(layer, 1 + k, n, c) - place_of(layer, 0, n, c)) / m->node_count;
            }
        for (int c = 0; c < 3; c++)
            mean[c] += place_of(layer, 0, n, c) / m->node_count;
        rotation_of(w, turns[n]);
    }
    for (int e = 0; e < m->edge_count; e++) {
        const int i = m->edges[2 * e], j = m->edges[2 * e + 1];
        const double weight = (double)m->edge_weights[e];
        double g[3];
        edge_of(layer, shares, turns, e, g);
        system[i * WIDTH + i] += weight;
        system[j * WIDTH + j] += weight;
        system[i * WIDTH + j] -= weight;
        system[j * WIDTH + i] -= weight;
        for (int c = 0; c < 3; c++) {
            system[j * WIDTH + MIXED_NODES + c] += weight * g[c];
            system[i * WIDTH + MIXED_NODES + c] -= weight * g[c];
        }
    }
    for (int c = 0; c < WIDTH; c++)
        system[c] = c < MIXED_NODES ? 1.0 / MIXED_NODES : mean[c - MIXED_NODES];
    eliminate(system, MIXED_NODES, 3);
    for (int n = 0; n < m->node_count; n++)
        memcpy(places[n], system + n * WIDTH + MIXED_NODES, 3 * sizeof(double));
}

/* The vertex's matrix and offset: x = a p + t. */
static void blend_nodes(const ex_layer_def *layer, int vertex, double (*turns)[9], double (*places)[3], double a[9],
                        double t[3]) {
    const ex_mixture *m = &layer->trajectory.mixture;
    memset(a, 0, 9 * sizeof *a);
    memset(t, 0, 3 * sizeof *t);
    for (int i = 4 * vertex; i < 4 * vertex + 4; i++) {
        const int n = m->nodes[i];
        double start[3] = {place_of(layer, 0, n, 0), place_of(layer, 0, n, 1), place_of(layer, 0, n, 2)};
        apply(turns[n], start, start);
        for (int c = 0; c < 9; c++)
            a[c] += (double)m->shares[i] * turns[n][c];
        for (int c = 0; c < 3; c++)
            t[c] += (double)m->shares[i] * (places[n][c] - start[c]);
    }
}

/* mesh + d_k of a vertex. */
static void plain_start(const ex_layer_def *layer, const float *mesh, int k, int vertex, double out[3]) {
    const ex_screw *screw = &layer->trajectory.examples[k].screw;
    double turns[MIXED_NODES][9], places[MIXED_NODES][3], a[9], t[3], move[3], system[12];
    const double back[3] = {-screw->turn[0], -screw->turn[1], -screw->turn[2]};
    for (int n = 0; n < MIXED_NODES; n++) {
        corner_rotation(layer, 1 + k, n, turns[n]);
        for (int c = 0; c < 3; c++)
            places[n][c] = place_of(layer, 1 + k, n, c);
    }
    blend_nodes(layer, vertex, turns, places, a, t);
    plain_mean(screw->turn, screw->move, move);
    for (int c = 0; c < 3; c++)
        out[c] = (double)mesh[3 * vertex + c] + (double)layer->form.deltas[k][3 * vertex + c] -
                 layer->trajectory.centre[c] - move[c];
    plain_rotate(back, out, out);
    for (int r = 0; r < 3; r++) {
        memcpy(system + 4 * r, a + 3 * r, 3 * sizeof *a);
        system[4 * r + 3] = out[r] + layer->trajectory.centre[r] - t[r];
    }
    eliminate(system, 3, 1);
    for (int c = 0; c < 3; c++)
        out[c] = system[4 * c + 3];
}

static double term_value(const ex_mixture_term *term, const double *s) {
    const double a = s[term->corners[0]], b = s[term->corners[1]];
    return term->corners[2] < 0 ? 4 * a * b * pow(a - b, term->power) : 27 * a * b * s[term->corners[2]];
}

void plain_mixture(const ex_layer_def *layer, const float *mesh, const double *weights, int vertex, double out[3]) {
    const ex_mixture *m = &layer->trajectory.mixture;
    double back[MIXED_EXAMPLES], shares[MIXED_EXAMPLES + 1], bounded[MIXED_EXAMPLES + 1];
    double turns[MIXED_NODES][9], places[MIXED_NODES][3], a[9], t[3], p[3], move[3];
    const double fade = plain_mixture_weights(layer, weights, back, shares, bounded);
    ex_screw screw = {{0}, {0}};
    plain_mixture_nodes(layer, back, shares, turns, places);
    blend_nodes(layer, vertex, turns, places, a, t);
    for (int c = 0; c < 3; c++)
        p[c] = (double)mesh[3 * vertex + c];
    for (int k = 0; k < layer->weigh.example_count; k++) {
        double start[3];
        if (k == layer->trajectory.reference)
            continue;
        plain_start(layer, mesh, k, vertex, start);
        for (int c = 0; c < 3; c++) {
            p[c] += back[k] * (start[c] - (double)mesh[3 * vertex + c]);
            screw.turn[c] += back[k] * layer->trajectory.examples[k].screw.turn[c];
            screw.move[c] += back[k] * layer->trajectory.examples[k].screw.move[c];
        }
    }
    apply(a, p, out);
    for (int c = 0; c < 3; c++) {
        out[c] += t[c] - layer->trajectory.centre[c];
        for (int j = 0; j < m->corrector_count; j++)
            for (int i = 0; i < m->term_count; i++)
                out[c] += fade * (double)m->curves[j * m->term_count + i] * term_value(&m->terms[i], bounded) *
                          (double)m->correctors[j][3 * vertex + c];
    }
    plain_rotate(screw.turn, out, out);
    plain_mean(screw.turn, screw.move, move);
    for (int c = 0; c < 3; c++)
        out[c] = (out[c] + layer->trajectory.centre[c] + move[c] - (double)mesh[3 * vertex + c]) *
                 (double)(layer->mask ? layer->mask[vertex] : 1);
}

/*
 * Layers with a mixture for random rigs; see cuda_rigs.h. Examples turn the mesh, by more from one place to the next,
 * and move it at random; nodes are vertices of the mesh, each joined to a few before it. Few nodes, many near each
 * vertex and many far from it take different ways on the GPU; an odd number of vertices has more.
 */
#include "cuda/cuda_rigs.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { EXAMPLES_MOST = 8, NODES_MOST = 150, EDGES_MOST = 3 * NODES_MOST, CORRECTORS_MOST = 40, TERMS_MOST = 256 };

struct mixture_layer {
    ex_layer_def def;
    int examples, nodes, edges, correctors, terms;
    int reach; /* a vertex has nodes of that many in a row */
    float *deltas[EXAMPLES_MOST], *corrections[CORRECTORS_MOST], *shares, *mask;
    uint16_t *vertex_nodes;
    float places[1 + EXAMPLES_MOST][NODES_MOST][3], turns[EXAMPLES_MOST][NODES_MOST][3]; /* as if close together */
    float edge_weights[EDGES_MOST], curves[CORRECTORS_MOST * TERMS_MOST], overlaps[EXAMPLES_MOST * EXAMPLES_MOST];
    uint16_t ends[EDGES_MOST][2];
    ex_mixture_term term_list[TERMS_MOST];
    ex_trajectory paths[EXAMPLES_MOST];
    ex_axis axes[EXAMPLES_MOST];
    char names[EXAMPLES_MOST][16];
    const char *name_list[EXAMPLES_MOST];
};

ex_layer_def *mixture_def(mixture_layer *m) {
    return &m->def;
}

void close_mixture(mixture_layer *m) {
    for (int k = 0; m && k < EXAMPLES_MOST; k++)
        free(m->deltas[k]);
    for (int k = 0; m && k < CORRECTORS_MOST; k++)
        free(m->corrections[k]);
    if (m) {
        free(m->shares);
        free(m->mask);
        free(m->vertex_nodes);
    }
    free(m);
}

/* Moves a point of the mesh as example k does, without what is random. */
static void move_point(int k, const float from[3], double turn[3], double to[3]) {
    turn[0] = 0.3 * sin(3 * (double)from[0] + k);
    turn[1] = 0.5 * cos(2 * (double)from[1] + k);
    turn[2] = 0.1 * k;
    for (int c = 0; c < 3; c++)
        to[c] = (double)from[c];
    ex_turn_apply(turn, to, to);
}

static void draw_nodes(mixture_layer *m, const float *mesh, int vertex_count, uint64_t *random) {
    float *places = m->places[0][0], *turns = m->turns[0][0];
    for (int n = 0; n < m->nodes; n++) {
        float start[3];
        for (int c = 0; c < 3; c++) { /* more nodes than vertices would coincide */
            const int vertex = (int)((int64_t)n * vertex_count / m->nodes);
            start[c] = mesh[3 * vertex + c] + (float)draw(random, -0.01, 0.01);
            places[3 * n + c] = start[c];
        }
        for (int k = 0; k < m->examples; k++) {
            double turn[3], to[3];
            move_point(k, start, turn, to);
            for (int c = 0; c < 3; c++) {
                turns[(k * m->nodes + n) * 3 + c] = (float)(turn[c] + draw(random, -0.1, 0.1));
                places[((1 + k) * m->nodes + n) * 3 + c] = (float)(to[c] + draw(random, -0.02, 0.02));
            }
        }
        for (int i = 1; i <= 3 && i <= n; i++) {
            m->ends[m->edges][0] = (uint16_t)(i == 1 ? n - 1 : (int)draw(random, 0, n));
            m->ends[m->edges][1] = (uint16_t)n;
            m->edge_weights[m->edges++] = (float)draw(random, 0.2, 2);
        }
    }
}

static void draw_vertices(mixture_layer *m, const float *mesh, int vertex_count, uint64_t *random) {
    const size_t vertices = (size_t)vertex_count;
    m->shares = must_allocate(vertices * EX_NODE_SHARES, sizeof *m->shares);
    m->vertex_nodes = must_allocate(vertices * EX_NODE_SHARES, sizeof *m->vertex_nodes);
    m->mask = must_allocate(vertices, sizeof *m->mask);
    for (size_t v = 0; v < vertices; v++) {
        float *shares = m->shares + EX_NODE_SHARES * v, sum = 0;
        const int near = (int)((int64_t)v * m->nodes / vertex_count);
        m->mask[v] = (float)draw(random, 0, 1);
        for (int i = 0; i < EX_NODE_SHARES; i++) {
            m->vertex_nodes[EX_NODE_SHARES * v + (size_t)i] =
                (uint16_t)((near + (i > 0 ? (int)draw(random, 0, m->reach) : 0)) % m->nodes);
            shares[i] = i == 0 ? 1 : v % 4 == 1 ? 0 : (float)draw(random, 0.02, 0.2); /* far nodes are not rough then */
            sum += shares[i];
        }
        for (int i = 0; i < EX_NODE_SHARES; i++)
            shares[i] /= sum;
    }
    for (int k = 0; k < m->examples; k++) {
        m->deltas[k] = must_allocate(vertices, 12);
        for (size_t v = 0; v < vertices; v++) {
            double turn[3], to[3];
            move_point(k, mesh + 3 * v, turn, to);
            for (size_t c = 0; c < 3; c++)
                m->deltas[k][3 * v + c] = (float)(to[c] - (double)mesh[3 * v + c] + 0.02 * sin((double)(v + c)));
        }
    }
    for (int j = 0; j < m->correctors; j++) {
        m->corrections[j] = must_allocate(vertices, 12);
        for (size_t i = 0; i < 3 * vertices; i++)
            m->corrections[j][i] = (float)(0.02 * sin((double)i * (1 + j)));
    }
}

static void list_terms(mixture_layer *m) {
    for (int16_t a = 0; a <= m->examples; a++)
        for (int16_t b = (int16_t)(a + 1); b <= m->examples; b++) {
            m->term_list[m->terms++] = (ex_mixture_term){{a, b, -1}, (int16_t)(a % 3)};
            for (int16_t c = (int16_t)(b + 1); c <= m->examples; c++)
                m->term_list[m->terms++] = (ex_mixture_term){{a, b, c}, 0};
        }
}

mixture_layer *open_mixture(const float *mesh, int vertex_count, int part, uint64_t seed) {
    mixture_layer *m = must_allocate(1, sizeof *m);
    m->examples = part == RIG_MIXED ? 4 : part == RIG_MIXED_FEW ? 3 : 8;
    m->nodes = part == RIG_MIXED ? 12 : part == RIG_MIXED_FEW && vertex_count % 2 == 0 ? 1 : NODES_MOST;
    m->reach = part == RIG_MIXED_FEW ? m->nodes : part == RIG_MIXED ? 12 : vertex_count % 2 == 0 ? 8 : 45;
    m->correctors = part == RIG_MIXED ? 6 : part == RIG_MIXED_FEW ? 0 : CORRECTORS_MOST;
    draw_nodes(m, mesh, vertex_count, &seed);
    draw_vertices(m, mesh, vertex_count, &seed);
    if (m->correctors > 0)
        list_terms(m);
    for (int i = 0; i < m->correctors * m->terms; i++)
        m->curves[i] = (float)draw(&seed, -1, 1);
    for (int k = 0; k < m->examples; k++) {
        snprintf(m->names[k], sizeof m->names[k], "mixed %d %d", m->examples % 10, k % 10);
        m->name_list[k] = m->names[k];
        m->axes[k] = ex_axis_scalar(0, 1, 0);
        for (int l = 0; l < m->examples; l++)
            m->overlaps[k * m->examples + l] = k == l ? 1 : (float)draw(&seed, 0.3, 1);
        if (part == RIG_MIXED)
            for (int c = 0; c < 3; c++) {
                m->paths[k].screw.turn[c] = draw(&seed, -0.5, 0.5);
                m->paths[k].screw.move[c] = draw(&seed, -0.2, 0.2);
            }
    }
    m->def = (ex_layer_def){.name = m->names[0],
                            .domain = EX_DOMAIN_TRAJECTORY,
                            .weigh = ex_weigher_def_direct(m->axes, m->examples),
                            .axis_names = m->name_list,
                            .example_names = m->name_list,
                            .mask = m->mask,
                            .form.deltas = (const float *const *)m->deltas};
    m->def.trajectory = (ex_layer_trajectory){.examples = m->paths,
                                              .reference = part == RIG_MIXED ? 2 : -1,
                                              .overlaps = part == RIG_MIXED_FEW ? NULL : m->overlaps};
    m->def.trajectory.mixture = (ex_mixture){.node_count = m->nodes,
                                             .places = m->places[0][0],
                                             .turns = m->turns[0][0],
                                             .edge_count = m->edges,
                                             .edges = m->ends[0],
                                             .edge_weights = m->edge_weights,
                                             .nodes = m->vertex_nodes,
                                             .shares = m->shares,
                                             .corrector_count = m->correctors,
                                             .correctors = (const float *const *)m->corrections,
                                             .term_count = m->terms,
                                             .terms = m->term_list,
                                             .curves = m->curves};
    return m;
}

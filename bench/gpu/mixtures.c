/*
 * bench/gpu/mixtures.c - rigs with a mixture for measurements. The mesh is the ring of rigs.c, its nodes are a coarser
 * ring: 25 along it times 6 about it, with three edges each. Examples turn the ring by another angle at every place
 * along it. Correctors have all pairs of corners, in two powers, and all triples.
 */
#include "bench/gpu/gpu.h"

#include <exemplar/rig_create.h>

#include <math.h>
#include <stdlib.h>

enum { ALONG = 25, ABOUT = 6, NODES = ALONG * ABOUT, EDGES = 3 * NODES, EXAMPLES = 8, CORRECTORS = 40, TERMS = 256 };

static const double two_pi = 6.283185307179586, radius = 1, thickness = 0.25;

/* Everything that a definition points to. */
typedef struct parts {
    int vertices;
    float *mesh, *deltas[EXAMPLES], *correctors[CORRECTORS], *shares;
    uint16_t *nodes;
    float places[1 + EXAMPLES][NODES][3], turns[EXAMPLES][NODES][3], weights[EDGES], curves[CORRECTORS][TERMS];
    uint16_t edges[EDGES][2];
    ex_mixture_term terms[TERMS];
    ex_trajectory paths[EXAMPLES];
    ex_axis axes[EXAMPLES];
} parts;

static void close_parts(parts *p) {
    for (int k = 0; k < EXAMPLES; k++)
        free(p->deltas[k]);
    for (int i = 0; i < CORRECTORS; i++)
        free(p->correctors[i]);
    free(p->mesh);
    free(p->shares);
    free(p->nodes);
    free(p);
}

static bool allocate(parts *p, const exi_gpu_bench_case *c) {
    const size_t vertices = (size_t)p->vertices, size = vertices * 3 * sizeof(float);
    p->mesh = malloc(size);
    p->shares = malloc(vertices * EX_NODE_SHARES * sizeof *p->shares);
    p->nodes = malloc(vertices * EX_NODE_SHARES * sizeof *p->nodes);
    bool good = p->mesh && p->shares && p->nodes;
    for (int k = 0; k < c->examples; k++)
        good = (p->deltas[k] = malloc(size)) && good;
    for (int i = 0; i < c->correctors; i++)
        good = (p->correctors[i] = malloc(size)) && good;
    return good;
}

/* The turn of example k at u along the ring. */
static void turn_at(int k, double u, double turn[3]) {
    turn[0] = 0.3 * sin(two_pi * u + k);
    turn[1] = 0.1 * (1 + k);
    turn[2] = 0.4 * cos(two_pi * u + 2 * k);
}

/* A point of the mesh (k = -1), or of an example. */
static void place(int k, double u, double v, float out[3]) {
    const double away = radius + thickness * cos(two_pi * v);
    double at[3] = {away * cos(two_pi * u), thickness * sin(two_pi * v), away * sin(two_pi * u)}, turn[3];
    if (k >= 0) {
        turn_at(k, u, turn);
        ex_turn_apply(turn, at, at);
    }
    for (int c = 0; c < 3; c++)
        out[c] = (float)at[c];
}

static void fill_vertices(parts *p, const exi_gpu_bench_case *c) {
    for (int i = 0; i < p->vertices; i++) {
        const double u = (double)(i / c->around) / c->across, v = (double)(i % c->around) / c->around;
        const double a = u * ALONG, b = v * ABOUT;
        const int low = (int)a, left = (int)b;
        place(-1, u, v, p->mesh + 3 * (size_t)i);
        for (int s = 0; s < EX_NODE_SHARES; s++) {
            const double along = s < 2 ? low + 1 - a : a - low, about = s % 2 ? b - left : left + 1 - b;
            p->nodes[EX_NODE_SHARES * i + s] = (uint16_t)((low + s / 2) % ALONG * ABOUT + (left + s % 2) % ABOUT);
            p->shares[EX_NODE_SHARES * i + s] = (float)(along * about);
        }
        for (int k = 0; k < c->examples; k++) {
            float *delta = p->deltas[k] + 3 * (size_t)i;
            place(k, u, v, delta);
            for (int axis = 0; axis < 3; axis++)
                delta[axis] -= p->mesh[3 * (size_t)i + (size_t)axis];
        }
        for (int k = 0; k < c->correctors; k++)
            for (int axis = 0; axis < 3; axis++)
                p->correctors[k][3 * (size_t)i + (size_t)axis] = (float)(0.01 * sin((k + 1) * 20 * u + axis));
    }
}

static void fill_nodes(parts *p) {
    for (int n = 0; n < NODES; n++) {
        const int along = n / ABOUT, about = n % ABOUT, next = (along + 1) % ALONG * ABOUT,
                  beside = (about + 1) % ABOUT;
        const int ends[3] = {along * ABOUT + beside, next + about, next + beside};
        const double u = (double)along / ALONG, v = (double)about / ABOUT;
        for (int k = -1; k < EXAMPLES; k++) {
            double turn[3];
            place(k, u, v, p->places[1 + k][n]);
            if (k >= 0)
                turn_at(k, u, turn);
            for (int c = 0; k >= 0 && c < 3; c++)
                p->turns[k][n][c] = (float)turn[c];
        }
        for (int i = 0; i < 3; i++) {
            p->edges[3 * n + i][0] = (uint16_t)n;
            p->edges[3 * n + i][1] = (uint16_t)ends[i];
            p->weights[3 * n + i] = 1 + 0.1F * (float)(n % 7);
        }
    }
}

static int make_terms(parts *p, int examples) {
    int count = 0;
    for (int16_t a = 0; a <= examples; a++)
        for (int16_t b = (int16_t)(a + 1); b <= examples; b++) {
            p->terms[count++] = (ex_mixture_term){{a, b, -1}, 0};
            p->terms[count++] = (ex_mixture_term){{a, b, -1}, 1};
            for (int16_t c = (int16_t)(b + 1); c <= examples; c++)
                p->terms[count++] = (ex_mixture_term){{a, b, c}, 0};
        }
    return count;
}

static ex_result make(parts *p, const exi_gpu_bench_case *c, exi_gpu_bench_subject *subject, ex_error *error) {
    static const char *const names[EXAMPLES] = {"1", "2", "3", "4", "5", "6", "7", "8"};
    const int terms = make_terms(p, c->examples);
    for (int k = 0; k < EXAMPLES; k++)
        p->axes[k] = ex_axis_scalar(0, 1, 0);
    for (int j = 0; j < c->correctors; j++) /* curves are [corrector_count][term_count], close together */
        for (int t = 0; t < terms; t++)
            p->curves[0][j * terms + t] = (float)cos(j + 0.7 * t);
    fill_vertices(p, c);
    fill_nodes(p);
    const ex_layer_def layer = {.name = "l",
                                .domain = EX_DOMAIN_TRAJECTORY,
                                .weigh = ex_weigher_def_direct(p->axes, c->examples),
                                .axis_names = names,
                                .example_names = names,
                                .form.deltas = (const float *const *)p->deltas,
                                .trajectory = {.examples = p->paths,
                                               .reference = -1,
                                               .mixture = {.node_count = NODES,
                                                           .places = p->places[0][0],
                                                           .turns = p->turns[0][0],
                                                           .edge_count = EDGES,
                                                           .edges = p->edges[0],
                                                           .edge_weights = p->weights,
                                                           .nodes = p->nodes,
                                                           .shares = p->shares,
                                                           .corrector_count = c->correctors,
                                                           .correctors = (const float *const *)p->correctors,
                                                           .term_count = terms,
                                                           .terms = p->terms,
                                                           .curves = p->curves[0]}}};
    ex_rig_def def = ex_rig_def_default();
    def.mesh = (ex_rig_mesh){.vertex_count = p->vertices, .split_count = p->vertices, .positions = p->mesh};
    def.layers = &layer;
    def.layer_count = 1;
    def.options = (ex_rig_options){.storage = c->storage, .without_normals = true};
    /* The mesh, four nodes and shares, the forms; and for each node its row of the inverse. */
    subject->table_bytes =
        (double)p->vertices * (36 + 12 * (c->examples + c->correctors)) + 4.0 * NODES * NODES + 24.0 * 9 * EDGES;
    return ex_rig_create(&def, NULL, &subject->rig, error);
}

ex_result exi_gpu_bench_make_mixture(const exi_gpu_bench_case *c, exi_gpu_bench_subject *subject, ex_error *error) {
    parts *p = calloc(1, sizeof *p);
    if (!p)
        return ex_error_memory(error, "a rig to measure", sizeof *p);
    p->vertices = c->across * c->around;
    const ex_result result = allocate(p, c) ? make(p, c, subject, error)
                                            : ex_error_memory(error, "a rig to measure", (size_t)p->vertices * 12);
    close_parts(p);
    return result;
}

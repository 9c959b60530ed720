/*
 * bench/mixture.c - mixtures of 3, 5 and 8 examples with 6, 12 and 24 correctors next to the same number of examples
 * without one, each with turns and 4 correctors, all at equal weights. Each is in a separate rig, and they are measured
 * in turn. A tube of 13380 vertices with 150 nodes and 450 edges; the last rows have almost no vertices and so measure
 * the nodes. A run must read base, forms, nodes and shares and write positions: 48 bytes per vertex, and 12 (or 6) per
 * vertex and form. Goal, with at most as many correctors: a mixture takes at most one and a half times as long.
 */
#include "bench/bench.h"

#include <exemplar/rig_inspect.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    ALONG = 223,
    AROUND = 60,
    NODES_ALONG = 25,
    NODES_AROUND = 6,
    NODES = NODES_ALONG * NODES_AROUND,
    EDGES = 450,
    MOST = 8,
    OWN = 4,
    MOST_CORRECTORS = 32,
    MOST_TERMS = 256
};

/* A tube whose examples bend and twist it. */
typedef struct tube {
    int vertex_count;
    float *mesh, *deltas[MOST], *turns[MOST], *correctors[MOST_CORRECTORS], *shares;
    uint16_t *nodes;
    float places[1 + MOST][NODES][3], node_turns[MOST][NODES][3], weights[EDGES], curves[MOST_CORRECTORS][MOST_TERMS];
    float own_curves[OWN][EX_CURVE_SIZE];
    uint16_t edges[EDGES][2];
    ex_mixture_term terms[MOST_TERMS];
} tube;

static void close_tube(tube *t) {
    free(t->mesh);
    free(t->shares);
    free(t->nodes);
    for (int k = 0; k < MOST; k++) {
        free(t->deltas[k]);
        free(t->turns[k]);
    }
    for (int j = 0; j < MOST_CORRECTORS; j++)
        free(t->correctors[j]);
    free(t);
}

/* A point of the tube in the mesh (k = 0) or an example, at u along and v around. */
static void place(int k, double u, double v, float out[3]) {
    const double bend = 0.35 * k * u, angle = 6.283185307179586 * v + 0.2 * k * u;
    const double y = 0.2 * cos(angle), x = bend == 0 ? u : sin(bend) / (0.35 * k),
                 up = bend == 0 ? 0 : (1 - cos(bend)) / (0.35 * k);
    out[0] = (float)(x - y * sin(bend));
    out[1] = (float)(up + y * cos(bend));
    out[2] = (float)(0.2 * sin(angle));
}

static bool allocate(tube *t) {
    const size_t vertices = (size_t)t->vertex_count, size = vertices * 3 * sizeof(float);
    t->mesh = malloc(size);
    t->shares = malloc(vertices * EX_NODE_SHARES * sizeof *t->shares);
    t->nodes = malloc(vertices * EX_NODE_SHARES * sizeof *t->nodes);
    bool good = t->mesh && t->shares && t->nodes;
    for (int k = 0; k < MOST; k++) {
        t->deltas[k] = malloc(size);
        t->turns[k] = malloc(size);
        good = good && t->deltas[k] && t->turns[k];
    }
    for (int j = 0; j < MOST_CORRECTORS; j++) {
        t->correctors[j] = malloc(size);
        good = good && t->correctors[j];
    }
    return good;
}

static void fill_vertices(tube *t) {
    unsigned seed = 1;
    for (int i = 0; i < t->vertex_count; i++) {
        const double u = (double)(i / AROUND) / (ALONG - 1), v = (double)(i % AROUND) / AROUND;
        const double a = u * (NODES_ALONG - 1), b = v * NODES_AROUND;
        const int low = a < NODES_ALONG - 2 ? (int)a : NODES_ALONG - 2, left = (int)b;
        place(0, u, v, t->mesh + 3 * (size_t)i);
        for (int s = 0; s < EX_NODE_SHARES; s++) {
            const double along = s < 2 ? low + 1 - a : a - low, around = s % 2 ? b - left : left + 1 - b;
            t->nodes[EX_NODE_SHARES * i + s] = (uint16_t)((low + s / 2) * NODES_AROUND + (left + s % 2) % NODES_AROUND);
            t->shares[EX_NODE_SHARES * i + s] = (float)(along * around);
        }
        for (int k = 0; k < MOST; k++) {
            float *delta = t->deltas[k] + 3 * (size_t)i, *turn = t->turns[k] + 3 * (size_t)i;
            place(k + 1, u, v, delta);
            for (int c = 0; c < 3; c++)
                delta[c] -= t->mesh[3 * (size_t)i + (size_t)c];
            turn[0] = (float)(0.2 * (k + 1) * u);
            turn[1] = 0;
            turn[2] = (float)(0.35 * (k + 1) * u);
        }
        for (int j = 0; j < MOST_CORRECTORS; j++)
            for (int c = 0; c < 3; c++)
                t->correctors[j][3 * (size_t)i + (size_t)c] = (float)(0.01 * exi_made_up(&seed));
    }
}

static void fill_nodes(tube *t) {
    int edges = 0;
    for (int n = 0; n < NODES; n++) {
        const double u = (double)(n / NODES_AROUND) / (NODES_ALONG - 1), v = (double)(n % NODES_AROUND) / NODES_AROUND;
        const int next = n / NODES_AROUND * NODES_AROUND + (n + 1) % NODES_AROUND;
        const int ends[3] = {next, n + NODES_AROUND, next + NODES_AROUND};
        for (int k = 0; k <= MOST; k++) {
            place(k, u, v, t->places[k][n]);
            if (k > 0) {
                t->node_turns[k - 1][n][0] = (float)(0.2 * k * u);
                t->node_turns[k - 1][n][2] = (float)(0.35 * k * u);
            }
        }
        for (int i = 0; i < 3; i++)
            if (ends[i] < NODES) {
                t->edges[edges][0] = (uint16_t)n;
                t->edges[edges++][1] = (uint16_t)ends[i];
            }
    }
    for (int n = 0; edges < EDGES; n++) {
        t->edges[edges][0] = (uint16_t)n;
        t->edges[edges++][1] = (uint16_t)(n + 2 * NODES_AROUND);
    }
    for (int e = 0; e < EDGES; e++)
        t->weights[e] = 1;
}

static tube *open_tube(int vertex_count) {
    tube *t = calloc(1, sizeof *t);
    unsigned seed = 2;
    if (!t)
        return NULL;
    t->vertex_count = vertex_count;
    if (!allocate(t)) {
        close_tube(t);
        return NULL;
    }
    fill_vertices(t);
    fill_nodes(t);
    for (int j = 0; j < MOST_CORRECTORS; j++)
        for (int i = 0; i < MOST_TERMS; i++)
            t->curves[j][i] = (float)exi_made_up(&seed);
    for (int j = 0; j < OWN; j++)
        t->own_curves[j][j] = 1;
    return t;
}

/* All pairs of corners, with two powers, and all triples. */
static int make_terms(tube *t, int examples) {
    int count = 0;
    for (int16_t a = 0; a <= examples; a++)
        for (int16_t b = (int16_t)(a + 1); b <= examples; b++) {
            t->terms[count++] = (ex_mixture_term){{a, b, -1}, 0};
            t->terms[count++] = (ex_mixture_term){{a, b, -1}, 1};
            for (int16_t c = (int16_t)(b + 1); c <= examples; c++)
                t->terms[count++] = (ex_mixture_term){{a, b, c}, 0};
        }
    return count;
}

static ex_rig *make_rig(tube *t, int examples, int correctors, ex_storage storage) {
    static const char *const names[MOST] = {"1", "2", "3", "4", "5", "6", "7", "8"};
    static const ex_axis axes[MOST] = {{.max = 1}, {.max = 1}, {.max = 1}, {.max = 1},
                                       {.max = 1}, {.max = 1}, {.max = 1}, {.max = 1}};
    ex_trajectory paths[MOST] = {0};
    const bool mixed = correctors >= 0;
    for (int k = 0; !mixed && k < examples; k++)
        paths[k] = (ex_trajectory){.turns = t->turns[k],
                                   .corrector_count = OWN,
                                   .correctors = (const float *const *)t->correctors + k * OWN,
                                   .curves = t->own_curves[0]};
    ex_layer_def layer = {.name = "l",
                          .domain = EX_DOMAIN_TRAJECTORY,
                          .weigh = ex_weigher_def_direct(axes, examples),
                          .axis_names = names,
                          .example_names = names,
                          .form.deltas = (const float *const *)t->deltas,
                          .trajectory.examples = paths,
                          .trajectory.reference = -1};
    if (mixed)
        layer.trajectory.mixture = (ex_mixture){.node_count = NODES,
                                                .places = t->places[0][0],
                                                .turns = t->node_turns[0][0],
                                                .edge_count = EDGES,
                                                .edges = t->edges[0],
                                                .edge_weights = t->weights,
                                                .nodes = t->nodes,
                                                .shares = t->shares,
                                                .corrector_count = correctors,
                                                .correctors = (const float *const *)t->correctors,
                                                .term_count = make_terms(t, examples),
                                                .terms = t->terms,
                                                .curves = t->curves[0]};
    ex_rig_def def = ex_rig_def_default();
    def.mesh = (ex_rig_mesh){.vertex_count = t->vertex_count, .split_count = t->vertex_count, .positions = t->mesh};
    def.layers = &layer;
    def.layer_count = 1;
    def.options.storage = storage;
    ex_rig *rig = NULL;
    ex_rig_create(&def, NULL, &rig, NULL);
    return rig;
}

typedef struct posing {
    ex_rig *rig;
    float *positions;
    void *scratch;
    double weights[MOST];
} posing;

static bool open_posing(posing *p, ex_rig *rig, int examples) {
    *p = (posing){.rig = rig};
    if (!rig)
        return false;
    for (int k = 0; k < examples; k++)
        p->weights[k] = 1.0 / (examples + 1);
    p->positions = malloc((size_t)ex_rig_vertex_count(rig) * 3 * sizeof *p->positions);
    p->scratch = malloc(ex_rig_scratch_size(rig, NULL, 1));
    return p->positions && p->scratch;
}

static void close_posing(posing *p) {
    ex_rig_destroy(p->rig);
    free(p->positions);
    free(p->scratch);
}

static void run(void *context) {
    posing *p = context;
    ex_rig_evaluate(p->rig, &(ex_pose){.inputs = p->weights}, &(ex_output){.positions = p->positions}, NULL,
                    p->scratch);
}

static bool measure(const exi_bench *bench, tube *t, int examples, int correctors, ex_storage storage) {
    posing mixed, apart;
    bool good = open_posing(&mixed, make_rig(t, examples, correctors, storage), examples);
    good = open_posing(&apart, make_rig(t, examples, -1, storage), examples) && good;
    if (good) {
        const exi_work ours = {run, &mixed}, theirs = {run, &apart};
        const double number = storage == EX_STORAGE_FLOAT ? 12 : 6;
        const bool few = t->vertex_count < NODES;
        exi_row row = {.group = "mixture",
                       .vertex_count = few ? NODES : t->vertex_count,
                       .unit = few ? "node" : NULL,
                       .bytes = (double)t->vertex_count * (48 + (examples + correctors) * number),
                       .peer = "without a mixture, ours",
                       .goal_ratio = few || correctors > OWN * examples ? 0 : 1 / 1.5};
        for (int i = 0; i < 3; i++) { /* in turn, so that disturbances of the machine affect both */
            const double mine = exi_measure_alone(&ours, bench->repeat);
            const double other = exi_measure_alone(&theirs, bench->repeat);
            row.ns = i == 0 || mine < row.ns ? mine : row.ns;
            row.peer_ns = i == 0 || other < row.peer_ns ? other : row.peer_ns;
        }
        row.peer = few ? NULL : row.peer;
        row.peer_ns = few ? 0 : row.peer_ns;
        if (few)
            snprintf(row.work, sizeof row.work, "%d examples, nodes alone", examples);
        else
            snprintf(row.work, sizeof row.work, "%d examples, %d correctors, %s", examples, correctors,
                     storage == EX_STORAGE_FLOAT ? "float" : "16 bit");
        row.read_speed = exi_read_speed((size_t)row.bytes, 1, bench->repeat);
        row.read_speed_two = exi_read_speed((size_t)row.bytes, 2, bench->repeat);
        bench->report(bench->user, &row);
    }
    close_posing(&mixed);
    close_posing(&apart);
    return good;
}

bool exi_bench_mixture(const exi_bench *bench) {
    static const int examples[] = {3, 5, 8}, correctors[] = {6, 12, 24};
    tube *t = open_tube(ALONG * AROUND), *few = open_tube(16);
    bool good = t && few;
    for (int storage = 0; good && storage < EX_STORAGE_COUNT; storage++)
        for (int i = 0; good && i < 9; i++)
            good = measure(bench, t, examples[i / 3], correctors[i % 3], (ex_storage)storage);
    for (int i = 0; good && i < 3; i++)
        good = measure(bench, few, examples[i], 6, EX_STORAGE_FLOAT);
    if (t)
        close_tube(t);
    if (few)
        close_tube(few);
    return good;
}

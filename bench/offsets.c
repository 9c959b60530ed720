/*
 * bench/offsets.c - pose space deformation at production size: layers of ten examples over two axes with a Gaussian
 * each and a zero at rest, on 20000 vertices of which every layer moves 5 %. Next to it the paper's comparison (Lewis,
 * Cordner and Fong 2000, section 4.2): plain shape interpolation of the same sparse offsets with given weights. The
 * paper claims that interpolating in pose space does not cost much more.
 */
#include "bench/bench.h"

#include <exemplar/rig_inspect.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VERTICES = 20000, MOVED = VERTICES / 20, EXAMPLES = 10, AXES = 2, LAYERS_MOST = 100, NAME = 16 };

/* Everything that a rig is made of; one at a time, because it is large. */
typedef struct sculpts {
    int layer_count;
    float *positions, *deltas; /* all examples use parts of one pseudo-random list */
    uint32_t *vertices;        /* [layer_count][EXAMPLES][MOVED] */
    double points[LAYERS_MOST][EXAMPLES][AXES];
    ex_offsets offsets[LAYERS_MOST][EXAMPLES];
    ex_layer_def layers[LAYERS_MOST];
    ex_axis axes[EXAMPLES];
    ex_pseudo zero;
    char names[LAYERS_MOST * EXAMPLES][NAME]; /* of axes; the first ones also of layers and examples */
    const char *axis_names[LAYERS_MOST][EXAMPLES], *example_names[EXAMPLES];
} sculpts;

static const double rest_point[AXES] = {0, 0}, nothing[EXAMPLES];

static int compare(const void *a, const void *b) {
    const uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    return (x > y) - (x < y);
}

/* Chooses distinct vertices, ascending: one out of every twenty. */
static void choose(uint32_t *vertices, unsigned *seed) {
    for (uint32_t i = 0; i < MOVED; i++)
        vertices[i] = 20 * i + (uint32_t)(exi_made_up(seed) * 20);
    qsort(vertices, MOVED, sizeof *vertices, compare);
}

/* each: every example moves its own vertices, not those of its layer. */
static sculpts *open_sculpts(int layer_count, bool each) {
    sculpts *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    const size_t numbers = 3 * (size_t)VERTICES + 3 * (size_t)MOVED;
    s->layer_count = layer_count;
    s->positions = malloc(numbers * sizeof *s->positions);
    s->deltas = malloc(numbers * sizeof *s->deltas);
    s->vertices = malloc((size_t)layer_count * EXAMPLES * MOVED * sizeof *s->vertices);
    if (!s->positions || !s->deltas || !s->vertices)
        return s;
    unsigned seed = 7;
    for (size_t i = 0; i < numbers; i++) {
        s->positions[i] = (float)exi_made_up(&seed);
        s->deltas[i] = (float)(0.01 * exi_made_up(&seed) + 0.001);
    }
    for (int i = 0; i < LAYERS_MOST * EXAMPLES; i++)
        snprintf(s->names[i], NAME, "n%d", i);
    for (int l = 0; l < layer_count; l++)
        for (int k = 0; k < EXAMPLES; k++) {
            uint32_t *own = s->vertices + ((size_t)l * EXAMPLES + (size_t)k) * MOVED;
            if (k == 0 || each)
                choose(own, &seed);
            else
                memcpy(own, own - MOVED, MOVED * sizeof *own);
            s->offsets[l][k] = (ex_offsets){MOVED, own, s->deltas + 3 * ((size_t)(l * EXAMPLES + k) * 37 % VERTICES)};
            s->points[l][k][0] = 0.1 + 0.2 * (k % 5) + 0.05 * exi_made_up(&seed);
            s->points[l][k][1] = 0.3 + 0.5 * (k / 5) + 0.05 * exi_made_up(&seed);
            s->example_names[k] = s->names[k];
        }
    s->zero = (ex_pseudo){.at = rest_point, .weights = nothing};
    for (int k = 0; k < EXAMPLES; k++)
        s->axes[k] = ex_axis_scalar(0, 1, 0);
    return s;
}

static void close_sculpts(sculpts *s) {
    if (s) {
        free(s->positions);
        free(s->deltas);
        free(s->vertices);
    }
    free(s);
}

static ex_rig *make_rig(sculpts *s, bool plain) {
    if (!s || !s->positions || !s->deltas || !s->vertices)
        return NULL;
    for (int l = 0; l < s->layer_count; l++) {
        const int axes = plain ? EXAMPLES : AXES;
        for (int a = 0; a < axes; a++)
            s->axis_names[l][a] = s->names[l * EXAMPLES + a];
        s->layers[l] = (ex_layer_def){.name = s->names[l],
                                      .domain = EX_DOMAIN_OFFSETS,
                                      .weigh = ex_weigher_def_direct(s->axes, EXAMPLES),
                                      .axis_names = s->axis_names[l],
                                      .example_names = s->example_names,
                                      .offsets.examples = s->offsets[l]};
        if (plain)
            continue;
        ex_weigher_def *weigh = &s->layers[l].weigh;
        weigh->kind = EX_WEIGHER_GAUSSIAN;
        weigh->axis_count = AXES;
        weigh->points = &s->points[l][0][0];
        weigh->pseudos = &s->zero;
        weigh->pseudo_count = 1;
    }
    ex_rig_def def = ex_rig_def_default();
    def.mesh = (ex_rig_mesh){.vertex_count = VERTICES, .positions = s->positions, .split_count = VERTICES};
    def.layers = s->layers;
    def.layer_count = s->layer_count;
    ex_rig *rig = NULL;
    ex_rig_create(&def, NULL, &rig, NULL);
    return rig;
}

typedef struct posing {
    ex_rig *rig;
    double *inputs;
    float *positions;
    void *scratch;
} posing;

static bool open_posing(posing *p, ex_rig *rig) {
    *p = (posing){.rig = rig};
    if (!rig)
        return false;
    p->inputs = malloc((size_t)ex_rig_pose_size(rig) * sizeof *p->inputs);
    p->positions = malloc((size_t)VERTICES * 3 * sizeof *p->positions);
    p->scratch = malloc(ex_rig_scratch_size(rig, NULL, 1));
    for (int i = 0; p->inputs && i < ex_rig_pose_size(rig); i++)
        p->inputs[i] = 0.2 + 0.001 * (i % 400);
    return p->inputs && p->positions && p->scratch;
}

static void close_posing(posing *p) {
    ex_rig_destroy(p->rig);
    free(p->inputs);
    free(p->positions);
    free(p->scratch);
}

static void run(void *context) {
    posing *p = context;
    ex_rig_evaluate(p->rig, &(ex_pose){.inputs = p->inputs}, &(ex_output){.positions = p->positions}, NULL, p->scratch);
}

static bool measure(const exi_bench *bench, int layers, bool each, double goal_rate) {
    sculpts *s = open_sculpts(layers, each);
    posing psd, plain;
    bool good = open_posing(&psd, make_rig(s, false));
    good = open_posing(&plain, make_rig(s, true)) && good;
    close_sculpts(s);
    if (good) {
        /* In turn, so that disturbances of the machine affect both. */
        const exi_work ours = {run, &psd}, theirs = {run, &plain};
        exi_row row = {.group = "offsets",
                       .vertex_count = VERTICES,
                       .bytes =
                           (double)layers * EXAMPLES * MOVED * 12 + (double)layers * MOVED * 24 + (double)VERTICES * 24,
                       .peer = "given weights",
                       .goal_ratio = 1 / 1.5,
                       .goal_rate = goal_rate};
        for (int i = 0; i < 3; i++) {
            const double a = exi_measure_alone(&ours, bench->repeat), b = exi_measure_alone(&theirs, bench->repeat);
            row.ns = i == 0 || a < row.ns ? a : row.ns;
            row.peer_ns = i == 0 || b < row.peer_ns ? b : row.peer_ns;
        }
        snprintf(row.work, sizeof row.work, "%d layer%s of 10, 5 %% moved%s", layers, layers == 1 ? "" : "s",
                 each ? ", each its own" : "");
        bench->report(bench->user, &row);
    }
    close_posing(&psd);
    close_posing(&plain);
    return good;
}

bool exi_bench_offsets(const exi_bench *bench) {
    return measure(bench, 1, false, 0) && measure(bench, LAYERS_MOST, false, 1000) &&
           measure(bench, LAYERS_MOST, true, 1000);
}

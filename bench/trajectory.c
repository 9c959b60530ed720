/*
 * bench/trajectory.c - trajectories with one example next to the linear blend of the same example, each in a separate
 * rig and measured in turn. A run must read base and forms and write positions: 24 bytes per vertex, and 12 (or 6) per
 * vertex and form. Goal: a trajectory takes at most four times as long as the blend.
 */
#include "bench/bench.h"

#include <exemplar/rig_inspect.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { CORRECTORS = 3 };

/* A form that bends: turns of up to a right angle, and the resulting example. */
typedef struct bending {
    int vertex_count;
    float *mesh, *delta, *turns, *correctors[CORRECTORS], curves[CORRECTORS][EX_CURVE_SIZE];
} bending;

static void close_bending(bending *b) {
    free(b->mesh);
    free(b->delta);
    free(b->turns);
    for (int j = 0; j < CORRECTORS; j++)
        free(b->correctors[j]);
}

static bool open_bending(bending *b, int vertex_count) {
    const size_t size = (size_t)vertex_count * 3 * sizeof(float);
    unsigned seed = 1;
    *b = (bending){.vertex_count = vertex_count, .mesh = malloc(size), .delta = malloc(size), .turns = malloc(size)};
    bool good = b->mesh && b->delta && b->turns;
    for (int j = 0; j < CORRECTORS; j++) {
        b->correctors[j] = malloc(size);
        b->curves[j][j] = 1;
        good = good && b->correctors[j];
    }
    for (int i = 0; good && i < 3 * vertex_count; i++) {
        b->mesh[i] = (float)exi_made_up(&seed);
        b->delta[i] = (float)exi_made_up(&seed);
        b->turns[i] = (float)exi_made_up(&seed);
        for (int j = 0; j < CORRECTORS; j++)
            b->correctors[j][i] = (float)(0.1 * exi_made_up(&seed));
    }
    return good;
}

/* Definition of a row. */
typedef struct path_case {
    const char *name;
    bool turns, screw;
    int correctors;
} path_case;

static ex_rig *make_rig(const bending *b, const path_case *c, ex_storage storage) {
    static const char *const names[1] = {"t"};
    static const ex_axis axis = {.kind = EX_AXIS_SCALAR, .max = 1};
    const float *deltas[1] = {b->delta};
    ex_trajectory path = {0};
    if (c) {
        path.turns = c->turns ? b->turns : NULL;
        path.corrector_count = c->correctors;
        path.correctors = (const float *const *)b->correctors;
        path.curves = b->curves[0];
        path.screw.turn[1] = c->screw ? 0.7 : 0;
    }
    ex_layer_def layer = {.name = "l",
                          .domain = c ? EX_DOMAIN_TRAJECTORY : EX_DOMAIN_FORM,
                          .weigh = ex_weigher_def_direct(&axis, 1),
                          .axis_names = names,
                          .example_names = names,
                          .form.deltas = deltas,
                          .trajectory.examples = &path,
                          .trajectory.reference = -1};
    ex_rig_def def = ex_rig_def_default();
    def.mesh = (ex_rig_mesh){.vertex_count = b->vertex_count, .split_count = b->vertex_count, .positions = b->mesh};
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
} posing;

static bool open_posing(posing *p, ex_rig *rig) {
    *p = (posing){.rig = rig};
    if (!rig)
        return false;
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
    double t = 0.4;
    ex_rig_evaluate(p->rig, &(ex_pose){.inputs = &t}, &(ex_output){.positions = p->positions}, NULL, p->scratch);
}

static bool measure(const exi_bench *bench, const bending *b, const path_case *c, ex_storage storage) {
    posing path, line;
    bool good = open_posing(&path, make_rig(b, c, storage));
    good = open_posing(&line, make_rig(b, NULL, storage)) && good;
    if (good) {
        const exi_work ours = {run, &path}, theirs = {run, &line};
        const double forms = 1 + c->turns + c->correctors, number = storage == EX_STORAGE_FLOAT ? 12 : 6;
        exi_row row = {.group = "trajectory",
                       .vertex_count = b->vertex_count,
                       .bytes = (double)b->vertex_count * (24 + forms * number),
                       .peer = "linear blend, ours",
                       .goal_ratio = 1.0 / 4};
        for (int i = 0; i < 3; i++) { /* in turn, so that disturbances of the machine affect both */
            const double mine = exi_measure_alone(&ours, bench->repeat);
            const double other = exi_measure_alone(&theirs, bench->repeat);
            row.ns = i == 0 || mine < row.ns ? mine : row.ns;
            row.peer_ns = i == 0 || other < row.peer_ns ? other : row.peer_ns;
        }
        snprintf(row.work, sizeof row.work, "%s, %d, %s", c->name, b->vertex_count,
                 storage == EX_STORAGE_FLOAT ? "float" : "16 bit");
        row.read_speed = exi_read_speed((size_t)row.bytes, 1, bench->repeat);
        row.read_speed_two = exi_read_speed((size_t)row.bytes, 2, bench->repeat);
        bench->report(bench->user, &row);
    }
    close_posing(&path);
    close_posing(&line);
    return good;
}

bool exi_bench_trajectory(const exi_bench *bench) {
    static const path_case cases[] = {{"3 correctors", false, false, CORRECTORS},
                                      {"3 correctors, screw", false, true, CORRECTORS},
                                      {"turns", true, false, 0},
                                      {"turns, 3 correctors", true, false, CORRECTORS},
                                      {"turns, 3 correctors, screw", true, true, CORRECTORS}};
    static const int sizes[] = {20000, 500000};
    bool good = true;
    for (int i = 0; good && i < 2; i++) {
        bending b;
        good = open_bending(&b, sizes[i]);
        for (int storage = 0; storage < EX_STORAGE_COUNT; storage++)
            for (size_t k = 0; good && k < sizeof cases / sizeof *cases; k++)
                good = measure(bench, &b, &cases[k], (ex_storage)storage);
        close_bending(&b);
    }
    return good;
}

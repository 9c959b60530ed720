/*
 * bench/spaces.c - solves a space and evaluates a rig in it, next to scipy's RBFInterpolator. Two rows for a solve:
 * scipy asked for the weights of the points, which is the same work as ours, and for the 4005 coordinates that a rig
 * multiplies by its weights, which is how scipy is used. Kernels differ, so the times are comparable and the values are
 * not. Also measures the wait of an artist who drags a pseudo-example, a new weigher and a pose with it, against the 30
 * per second of the paper (Shape by Example, section 5).
 */
#include "bench/bench.h"
#include "bench/peer.h"
#include "bench/scene.h"

#include <stdio.h>
#include <stdlib.h>

static double arm_pose[] = {0.3, 0.4, 0.5, 0.6};

static exi_peer *start_scipy(const char **why) {
    return exi_peer_start("/usr/bin/python3", "exemplar_peer_scipy.py", why);
}

static void note_peer(exi_row *row, const exi_peer *peer, const char *why) {
    if (!(row->peer_ns > 0))
        row->peer_note = peer ? "scipy is missing" : why;
}

/* ---- solve ---- */

static void run_solve(void *context) {
    const exi_scene *scene = context;
    ex_weigher *weigher = NULL;
    ex_weigher_create(&scene->weigh, NULL, &weigher, NULL);
    ex_weigher_destroy(weigher);
}

bool exi_bench_solve(const exi_bench *bench) {
    exi_scene scene;
    exi_scene_arm(&scene);
    exi_work work = {run_solve, &scene};
    exi_row rows[] = {{.peer = "scipy RBFInterpolator, the weights"},
                      {.peer = "scipy RBFInterpolator, 4005 outputs", .goal_ratio = 100}};
    static const char *const questions[] = {"run weights", "run outputs"};
    const char *why = NULL;
    exi_peer *peer = start_scipy(&why);
    for (int i = 0; i < 2; i++) {
        rows[i].group = "solve";
        snprintf(rows[i].work, sizeof rows[i].work, "solve 14 points, 4 axes");
        rows[i].ns = exi_measure_beside(&work, peer, questions[i], bench->repeat, &rows[i].peer_ns);
        note_peer(&rows[i], peer, why);
        bench->report(bench->user, &rows[i]);
    }
    exi_peer_stop(peer);
    return true;
}

/* ---- evaluate and edit ---- */

typedef struct posing {
    exi_scene scene;
    ex_rig *rig;
    float *positions;
    void *scratch;
    bool moved; /* true if the pseudo-example has moved */
} posing;

static bool open_posing(posing *p) {
    p->rig = exi_scene_rig(&p->scene);
    p->positions = malloc((size_t)p->scene.vertex_count * 3 * sizeof *p->positions);
    p->scratch = p->rig ? malloc(ex_rig_scratch_size(p->rig, NULL, 1)) : NULL;
    return p->rig && p->positions && p->scratch;
}

static void close_posing(posing *p) {
    ex_rig_destroy(p->rig);
    free(p->positions);
    free(p->scratch);
}

static void run_evaluate(void *context) {
    posing *p = context;
    ex_rig_evaluate(p->rig, &(ex_pose){.inputs = arm_pose}, &(ex_output){.positions = p->positions}, NULL, p->scratch);
}

bool exi_bench_evaluate(const exi_bench *bench) {
    posing p = {0};
    exi_scene_arm(&p.scene);
    bool good = open_posing(&p);
    if (good) {
        exi_work work = {run_evaluate, &p};
        exi_row row = {.group = "evaluate",
                       .work = "weights, and blend 8 x 1335",
                       .peer = "scipy RBFInterpolator",
                       .vertex_count = p.scene.vertex_count,
                       .bytes = (double)p.scene.vertex_count * (12 * p.scene.example_count + 24),
                       .goal_ratio = 9};
        const char *why = NULL;
        exi_peer *peer = start_scipy(&why);
        row.ns = exi_measure_beside(&work, peer, "run evaluate", bench->repeat, &row.peer_ns);
        note_peer(&row, peer, why);
        exi_peer_stop(peer);
        bench->report(bench->user, &row);
    }
    close_posing(&p);
    return good;
}

static void run_edit(void *context) {
    posing *p = context;
    double at[4];
    p->moved = !p->moved;
    for (int a = 0; a < p->scene.axis_count; a++)
        at[a] = p->scene.at[a] + (p->moved ? 0.01 : 0);
    ex_edit edit = {.kind = EX_EDIT_MOVE_PSEUDO, .index = 0, .at = at};
    ex_weigher *edited = NULL;
    ex_weigher_edit(ex_rig_weigher(p->rig, 0), &edit, 1, NULL, &edited, NULL);
    const ex_weigher *weighers[] = {edited};
    ex_rig_evaluate(p->rig, &(ex_pose){.inputs = arm_pose}, &(ex_output){.positions = p->positions},
                    &(ex_evaluation){.weighers = weighers}, p->scratch);
    ex_weigher_destroy(edited);
}

static bool edit_row(const exi_bench *bench, void (*make)(exi_scene *scene)) {
    posing p = {0};
    make(&p.scene);
    bool good = open_posing(&p);
    if (good) {
        exi_work work = {run_edit, &p};
        exi_row row = {.group = "edit",
                       .peer = "the paper, 2001",
                       .peer_note = "as printed",
                       .peer_ns = 1e9 / 30,
                       .goal_rate = 2000};
        snprintf(row.work, sizeof row.work, "edit and evaluate, %s (%d points, %d vertices)", p.scene.name,
                 p.scene.example_count + p.scene.pseudo_count, p.scene.vertex_count);
        row.ns = exi_measure_alone(&work, bench->repeat);
        bench->report(bench->user, &row);
    }
    close_posing(&p);
    return good;
}

/* Moving one of many examples of a calm weigher, beside a solve of all of them. */
typedef struct crowd {
    ex_weigher_def def;
    ex_axis axes[4];
    ex_weigher *weigher;
    bool moved;
} crowd;

static void run_move(void *context) {
    crowd *c = context;
    const double places[2][4] = {{0.31, 0.42, 0.53, 0.64}, {0.32, 0.41, 0.55, 0.62}};
    const ex_edit edit = {.kind = EX_EDIT_MOVE_EXAMPLE, .index = 5, .at = places[c->moved]};
    ex_weigher *edited = NULL;
    c->moved = !c->moved;
    ex_weigher_edit(c->weigher, &edit, 1, NULL, &edited, NULL);
    ex_weigher_destroy(edited);
}

static void run_solve_crowd(void *context) {
    const crowd *c = context;
    ex_weigher *weigher = NULL;
    ex_weigher_create(&c->def, NULL, &weigher, NULL);
    ex_weigher_destroy(weigher);
}

static bool crowd_row(const exi_bench *bench, int count) {
    crowd c = {.def = ex_weigher_def_default()};
    unsigned seed = 7;
    double *points = malloc((size_t)count * 4 * sizeof *points);
    if (!points)
        return false;
    for (int i = 0; i < 4 * count; i++)
        points[i] = exi_made_up(&seed);
    for (int a = 0; a < 4; a++)
        c.axes[a] = ex_axis_scalar(0, 1, 0);
    c.def.kind = EX_WEIGHER_CALM;
    c.def.axes = c.axes;
    c.def.axis_count = 4;
    c.def.points = points;
    c.def.example_count = count;
    const bool good = ex_weigher_create(&c.def, NULL, &c.weigher, NULL) == EX_OK;
    if (good) {
        const exi_work work = {run_move, &c}, solve = {run_solve_crowd, &c};
        exi_row row = {.group = "edit", .peer = "our own solve of all", .goal_rate = 1000.0 / 16};
        snprintf(row.work, sizeof row.work, "move one of %d examples, calm, 4 axes", count);
        row.peer_ns = exi_measure_alone(&solve, bench->repeat < 5 ? bench->repeat : 5);
        row.ns = exi_measure_alone(&work, bench->repeat);
        bench->report(bench->user, &row);
    }
    ex_weigher_destroy(c.weigher);
    free(points);
    return good;
}

bool exi_bench_edit(const exi_bench *bench) {
    return edit_row(bench, exi_scene_blob) && edit_row(bench, exi_scene_arm) && crowd_row(bench, 60) &&
           crowd_row(bench, 1000);
}

/*
 * bench/warp.c - finds trajectories: one step towards the as-rigid-as-possible form next to libigl's (built only if
 * CMake is told where its sources are, EX_BENCH_LIBIGL), one frame by Poisson's equation (right-hand side and
 * back-substitution) next to the same frame from a trajectory, and the complete search for one, guided and by the
 * paper's energies, on a tube at finer and finer resolutions that is bent by 120 degrees and wound by 60. One thread.
 */
#include "bench/bench.h"
#include "bench/peer.h"
#include "bench/tube.h"

#include <exemplar/author/trajectory.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

typedef struct tube {
    int vertex_count, triangle_count;
    int *triangles;
    double *start, *end;
    ex_between *between;
    double *form;
    ex_rig *rig;
    void *scratch;
    float *positions;
    ex_trajectory_mode mode;
    ex_error *error;
    bool failed;
} tube;

static bool open_tube(tube *t, int around, int along) {
    t->vertex_count = around * along;
    t->triangle_count = 2 * around * (along - 1);
    t->triangles = malloc(3 * (size_t)t->triangle_count * sizeof *t->triangles);
    t->start = malloc(6 * (size_t)t->vertex_count * sizeof *t->start);
    if (!t->triangles || !t->start)
        return false;
    t->end = t->start + 3 * (size_t)t->vertex_count;
    exi_tube_forms(around, along, t->start, t->end);
    exi_tube_triangles(around, along, t->triangles);
    return true;
}

static void close_tube(tube *t) {
    ex_between_destroy(t->between);
    ex_rig_destroy(t->rig);
    free(t->triangles);
    free(t->start);
    free(t->form);
    free(t->scratch);
    free(t->positions);
    *t = (tube){.error = t->error, .failed = t->failed};
}

static ex_trajectories_def definition(const tube *t, const double *const *examples) {
    ex_trajectories_def def = {.vertex_count = t->vertex_count,
                               .triangle_count = t->triangle_count,
                               .triangles = t->triangles,
                               .reference = t->start,
                               .example_count = 1,
                               .examples = examples,
                               .options = ex_trajectory_options_default()};
    def.options.mode = t->mode;
    return def;
}

static void run_find(void *context) {
    tube *t = context;
    const double *examples[1] = {t->end};
    const ex_trajectories_def def = definition(t, examples);
    ex_trajectories *found = NULL;
    t->failed |= ex_trajectories_create(&def, &found, t->error) != EX_OK;
    ex_trajectories_destroy(found);
}

/* A step is a thirtieth of thirty; this includes Poisson's form, from which they start. */
#define STEPS 30
static void run_rigid(void *context) {
    tube *t = context;
    t->failed |= ex_between_form(t->between, EX_BETWEEN_RIGID, 0.5, t->form, t->error) != EX_OK;
}

static void run_poisson(void *context) {
    tube *t = context;
    t->failed |= ex_between_form(t->between, EX_BETWEEN_POISSON, 0.5, t->form, t->error) != EX_OK;
}

static void run_path(void *context) {
    tube *t = context;
    double amount = 0.5;
    const ex_pose pose = {.inputs = &amount};
    const ex_output output = {.positions = t->positions};
    ex_rig_evaluate(t->rig, &pose, &output, NULL, t->scratch);
}

static bool open_between(tube *t) {
    const ex_between_def def = {.vertex_count = t->vertex_count,
                                .triangle_count = t->triangle_count,
                                .triangles = t->triangles,
                                .start = t->start,
                                .end = t->end,
                                .iterations = STEPS};
    t->failed |= ex_between_create(&def, &t->between, t->error) != EX_OK;
    if (t->failed)
        return false;
    t->form = malloc(3 * (size_t)t->vertex_count * sizeof *t->form);
    return t->form;
}

/* A rig with only the trajectory; its mesh has one face, since only positions are evaluated. */
static bool open_rig(tube *t) {
    const size_t n = 3 * (size_t)t->vertex_count;
    const double *examples[1] = {t->end};
    const ex_trajectories_def find = definition(t, examples);
    ex_trajectories *found = NULL;
    float *mesh = malloc(n * sizeof *mesh), *delta = malloc(n * sizeof *delta);
    t->positions = malloc(n * sizeof *t->positions);
    t->failed |= ex_trajectories_create(&find, &found, t->error) != EX_OK;
    if (mesh && delta && t->positions && found) {
        for (size_t i = 0; i < n; i++) {
            mesh[i] = (float)t->start[i];
            delta[i] = (float)(t->end[i] - t->start[i]);
        }
        const float *deltas[1] = {delta};
        const ex_axis axis = ex_axis_scalar(0, 1, 0);
        const char *axis_names[1] = {"t"}, *names[1] = {"end"};
        const uint32_t sizes[1] = {3}, corners[3] = {0, 1, 2};
        ex_layer_def layer = {.name = "tube",
                              .domain = EX_DOMAIN_TRAJECTORY,
                              .weigh = ex_weigher_def_direct(&axis, 1),
                              .axis_names = axis_names,
                              .example_names = names,
                              .form.deltas = deltas,
                              .trajectory.examples = found->trajectories,
                              .trajectory.reference = -1,
                              .trajectory.centre = {found->centre[0], found->centre[1], found->centre[2]},
                              .trajectory.mixture = found->mixture};
        ex_rig_def def = ex_rig_def_default();
        def.mesh = (ex_rig_mesh){.vertex_count = t->vertex_count,
                                 .positions = mesh,
                                 .split_count = t->vertex_count,
                                 .face_count = 1,
                                 .corner_count = 3,
                                 .face_sizes = sizes,
                                 .corners = corners,
                                 .triangle_count = 1,
                                 .triangles = corners};
        def.layers = &layer;
        def.layer_count = 1;
        def.options.without_normals = true;
        t->failed |= ex_rig_create(&def, NULL, &t->rig, t->error) != EX_OK;
        t->scratch = t->failed ? NULL : malloc(ex_rig_scratch_size(t->rig, NULL, 1) + 1);
    }
    free(mesh);
    free(delta);
    ex_trajectories_destroy(found);
    return t->scratch != NULL;
}

static void measure_rigid(const exi_bench *bench, tube *t, int few, int around, int along) {
    const char *why = NULL;
    exi_peer *peer = exi_peer_start(NULL, "exemplar_peer_libigl", &why);
    const exi_work rigid = {run_rigid, t};
    exi_row row = {.group = "warp", .vertex_count = t->vertex_count, .peer = "libigl, arap_solve", .goal_ratio = 4};
    char question[64];
    snprintf(question, sizeof question, "run rigid %d %d", around, along);
    row.ns = exi_measure_beside(&rigid, peer, question, few, &row.peer_ns) / STEPS;
    if (!(row.peer_ns > 0))
        row.peer_note = peer ? "does not answer" : "not built: cmake -DEX_BENCH_LIBIGL=FOLDER, with its sources";
    snprintf(row.work, sizeof row.work, "rigid, a step, %d vertices", t->vertex_count);
    bench->report(bench->user, &row);
    exi_peer_stop(peer);
}

static bool measure_frames(const exi_bench *bench) {
    enum { AROUND = 100, ALONG = 200 };
    tube t = {.error = bench->error};
    const bool good = open_tube(&t, AROUND, ALONG) && open_between(&t) && open_rig(&t);
    const int few = bench->repeat < 5 ? bench->repeat : 5;
    if (good) {
        const exi_work poisson = {run_poisson, &t}, path = {run_path, &t};
        measure_rigid(bench, &t, few, AROUND, ALONG);
        exi_row row = {.group = "warp", .vertex_count = t.vertex_count, .goal_ratio = 100};
        row.ns = exi_measure_alone(&path, bench->repeat);
        row.peer = "Poisson";
        row.peer_note = "ours, right-hand side and back-substitution";
        row.peer_ns = exi_measure_alone(&poisson, few);
        snprintf(row.work, sizeof row.work, "a frame, %d vertices", t.vertex_count);
        bench->report(bench->user, &row);
    }
    close_tube(&t);
    return good && !t.failed;
}

static double now_ns(void) {
    struct timespec t;
    timespec_get(&t, TIME_UTC);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

/* Once and without a warm-up, because it takes seconds. */
static bool measure_finding(const exi_bench *bench, ex_trajectory_mode mode, int around, int along) {
    tube t = {.mode = mode, .error = bench->error};
    const bool good = open_tube(&t, around, along);
    if (good) {
        exi_row row = {.group = "warp", .vertex_count = t.triangle_count, .unit = "triangle"};
        const double begun = now_ns();
        run_find(&t);
        row.ns = now_ns() - begun;
        snprintf(row.work, sizeof row.work, "find, %s, %d triangles", ex_trajectory_mode_name(mode), t.triangle_count);
        bench->report(bench->user, &row);
    }
    close_tube(&t);
    return good && !t.failed;
}

bool exi_bench_warp(const exi_bench *bench) {
    static const int sizes[][2] = {{50, 101}, {100, 201}, {200, 401}};
    if (!measure_frames(bench))
        return false;
    for (int mode = 0; mode < EX_TRAJECTORY_MODE_COUNT; mode++)
        for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
            if (!measure_finding(bench, (ex_trajectory_mode)mode, sizes[i][0], sizes[i][1]))
                return false;
    return true;
}

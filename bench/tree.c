/*
 * bench/tree.c - closest points and rays next to Embree's, one query at a time, on a ball with bumps (ball.h): points
 * within 2 % of the surface, the rays of a picture, and refitting the boxes to a form that has moved. The sums of the
 * distances found are compared too.
 */
#include "bench/ball.h"
#include "bench/bench.h"
#include "bench/peer.h"

#include <exemplar/settle.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct asking {
    int size, count;
    ex_tree_def def;
    float *positions;
    uint32_t *triangles;
    ex_tree *tree;
    void *memory;
    const ex_bounds *fit;
    float (*points)[3];
    ex_ray *rays;
    double sum;
} asking;

static void run_closest(void *context) {
    asking *a = context;
    ex_closest closest;
    a->sum = 0;
    for (int i = 0; i < a->count; i++) {
        ex_bounds_closest(a->fit, a->points[i], INFINITY, &closest);
        a->sum += (double)closest.distance_sq;
    }
}

static void run_rays(void *context) {
    asking *a = context;
    ex_hit hit;
    a->sum = 0;
    for (int i = 0; i < a->count; i++) {
        ex_bounds_ray(a->fit, &a->rays[i], &hit);
        a->sum += (double)hit.t;
    }
}

static void run_blocked(void *context) {
    asking *a = context;
    a->sum = 0;
    for (int i = 0; i < a->count; i++)
        a->sum += ex_bounds_blocked(a->fit, &a->rays[i]);
}

static void run_fit(void *context) {
    asking *a = context;
    a->fit = ex_bounds_fit(a->tree, a->positions, 0, a->memory, NULL);
}

static void run_create(void *context) {
    asking *a = context;
    ex_tree_destroy(a->tree);
    a->tree = NULL;
    ex_tree_create(&a->def, NULL, &a->tree, NULL);
}

static bool open_asking(asking *a, int size, int count) {
    const int vertices = exi_ball_vertex_count(size), triangles = exi_ball_triangle_count(size);
    unsigned seed = 1;
    a->size = size;
    a->count = count;
    a->positions = malloc((size_t)vertices * 3 * sizeof *a->positions);
    a->triangles = malloc((size_t)triangles * 3 * sizeof *a->triangles);
    a->points = malloc((size_t)count * sizeof *a->points);
    a->rays = malloc((size_t)count * sizeof *a->rays);
    if (!a->positions || !a->triangles || !a->points || !a->rays)
        return false;
    exi_ball_vertices(size, a->positions);
    exi_ball_triangles(size, a->triangles);
    a->def = (ex_tree_def){
        .vertex_count = vertices, .positions = a->positions, .triangle_count = triangles, .triangles = a->triangles};
    for (int i = 0; i < count; i++) {
        exi_ball_point(a->positions, a->triangles, triangles, &seed, a->points[i]);
        a->rays[i] = (ex_ray){.t_min = 0, .t_max = INFINITY};
        exi_ball_ray((int)(sqrt(count) + 0.5), i, a->rays[i].origin, a->rays[i].direction);
    }
    if (ex_tree_create(&a->def, NULL, &a->tree, NULL) != EX_OK)
        return false;
    a->memory = malloc(ex_bounds_size(a->tree));
    if (a->memory)
        run_fit(a);
    return a->memory != NULL;
}

static void close_asking(asking *a) {
    ex_tree_destroy(a->tree);
    free(a->memory);
    free(a->positions);
    free(a->triangles);
    free(a->points);
    free(a->rays);
}

typedef struct tree_case {
    const char *work, *question; /* question NULL: without the peer */
    void (*run)(void *context);
    int size, count;
    const char *unit;
    bool compared;
    double goal_ratio;
} tree_case;

static bool tree_row(const exi_bench *bench, const tree_case *c, exi_peer *peer, const char *why) {
    asking a = {0};
    bool good = open_asking(&a, c->size, c->count);
    if (good) {
        exi_row row = {.group = "tree",
                       .vertex_count = c->unit ? c->count : 0,
                       .unit = c->unit,
                       .peer = c->question ? "Embree 3" : NULL,
                       .goal_ratio = c->goal_ratio};
        snprintf(row.work, sizeof row.work, "%s, %d triangles", c->work, exi_ball_triangle_count(c->size));
        char question[64], note[64];
        snprintf(question, sizeof question, "run %s %d %d", c->question ? c->question : "", c->size, c->count);
        exi_work work = {c->run, &a};
        row.ns = exi_measure_beside(&work, c->question ? peer : NULL, question, bench->repeat, &row.peer_ns);
        row.peer_note = !c->question || row.peer_ns > 0 ? NULL : peer ? "does not answer" : why;
        snprintf(question, sizeof question, "answer %s %d %d", c->question ? c->question : "", c->size, c->count);
        double sum = 0;
        if (c->compared && row.peer_ns > 0 && exi_peer_ask(peer, question, &sum)) {
            snprintf(note, sizeof note, "answers differ by %.1g", fabs(a.sum / sum - 1));
            row.peer_note = note;
        }
        bench->report(bench->user, &row);
    }
    close_asking(&a);
    return good;
}

bool exi_bench_tree(const exi_bench *bench) {
    static const tree_case cases[] = {
        {"closest point", "closest", run_closest, 29, 4096, "query", true, 1.5},
        {"closest point", "closest", run_closest, 77, 4096, "query", true, 0},
        {"camera rays", "ray", run_rays, 76, 65536, "query", true, 0.667},
        {"whether camera rays hit", "blocked", run_blocked, 76, 65536, "query", true, 0},
        {"refit", "refit", run_fit, 29, 1, NULL, false, 1},
        {"refit", "refit", run_fit, 76, 1, NULL, false, 0},
        {"build", NULL, run_create, 29, 1, NULL, false, 0},
        {"build", NULL, run_create, 76, 1, NULL, false, 0},
    };
    const char *why = NULL;
    exi_peer *peer = exi_peer_start(NULL, "exemplar_peer_embree", &why);
    bool good = true;
    for (size_t i = 0; good && i < sizeof cases / sizeof cases[0]; i++)
        good = tree_row(bench, &cases[i], peer, why);
    exi_peer_stop(peer);
    return good;
}

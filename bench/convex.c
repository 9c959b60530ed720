/*
 * bench/convex.c - the weights of a driver's form among keys, along a smooth path, with and without a warm start from
 * the last frame's support. Peer: DAQP, a dual active-set solver, on problems of the same size and form with a warm
 * start; its number is for the same kind of core, it is not run here.
 */
#include "bench/bench.h"

#include <exemplar/weigh.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { FRAMES = 600, FORM = 60, KEYS_MAX = 64 };

typedef struct walk {
    ex_weigher *weigher;
    int count, frame;
    double *rows; /* [FRAMES][count] */
    void *state, *scratch;
    double weights[KEYS_MAX];
} walk;

/* Makes keys in many dimensions, and a path that circles among them, slightly outside their hull: half of them have
 * weight. */
static bool open_walk(walk *w, int count) {
    static double keys[KEYS_MAX][FORM], gram[KEYS_MAX * KEYS_MAX];
    unsigned seed = 1;
    w->count = count;
    w->rows = malloc((size_t)(FRAMES * count) * sizeof *w->rows);
    for (int i = 0; i < count * FORM; i++)
        keys[i / FORM][i % FORM] = 2 * exi_made_up(&seed) - 1;
    for (int i = 0; i < count * count; i++) {
        gram[i] = 0;
        for (int k = 0; k < FORM; k++)
            gram[i] += keys[i / count][k] * keys[i % count][k];
    }
    for (int f = 0; w->rows && f < FRAMES; f++) {
        double form[FORM], sum = 0, share[KEYS_MAX];
        for (int i = 0; i < count; i++) {
            const double wave = cos(6.283185307179586 * f / FRAMES + 2.4 * i) - 0.2;
            share[i] = wave > 0 ? wave : 0;
            sum += share[i];
        }
        for (int k = 0; k < FORM; k++) {
            form[k] = 0.05 * cos(3.1 * k + 6.283185307179586 * f / FRAMES);
            for (int i = 0; i < count; i++)
                form[k] += share[i] / sum * keys[i][k];
        }
        for (int i = 0; i < count; i++) {
            double *product = &w->rows[f * count + i];
            *product = 0;
            for (int k = 0; k < FORM; k++)
                *product += keys[i][k] * form[k];
        }
    }
    ex_axis axis = ex_axis_driver(count);
    ex_weigher_def def = ex_weigher_def_default();
    def.kind = EX_WEIGHER_CONVEX;
    def.axes = &axis;
    def.axis_count = 1;
    def.points = gram;
    def.example_count = count;
    if (!w->rows || ex_weigher_create(&def, NULL, &w->weigher, NULL) != EX_OK)
        return false;
    w->state = calloc(1, ex_weigher_state_size(w->weigher));
    w->scratch = malloc(ex_weigher_scratch_size(w->weigher));
    return w->state && w->scratch;
}

static void close_walk(walk *w) {
    ex_weigher_destroy(w->weigher);
    free(w->rows);
    free(w->state);
    free(w->scratch);
}

static void run_warm(void *context) {
    walk *w = context;
    w->frame = (w->frame + 1) % FRAMES;
    ex_weigher_evaluate_from(w->weigher, w->rows + w->frame * w->count, w->weights, w->state, w->scratch);
}

static void run_cold(void *context) {
    walk *w = context;
    w->frame = (w->frame + 1) % FRAMES;
    ex_weigher_evaluate_from(w->weigher, w->rows + w->frame * w->count, w->weights, NULL, w->scratch);
}

bool exi_bench_convex(const exi_bench *bench) {
    static const struct {
        int count;
        double peer_ns;
    } sizes[] = {{12, 1100}, {20, 3300}, {64, 0}};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        walk w = {0};
        const bool good = open_walk(&w, sizes[i].count);
        for (int cold = 0; good && cold < 2; cold++) {
            exi_work work = {cold ? run_cold : run_warm, &w};
            exi_row row = {.group = "convex"};
            snprintf(row.work, sizeof row.work, "weights of a driver among %d keys, %s", sizes[i].count,
                     cold ? "cold" : "warm");
            if (!cold && sizes[i].peer_ns > 0) {
                row.peer = "DAQP";
                row.peer_note = "as measured on a Neoverse-V1";
                row.peer_ns = sizes[i].peer_ns;
                row.goal_ratio = 1;
            }
            row.ns = exi_measure_alone(&work, bench->repeat);
            bench->report(bench->user, &row);
        }
        close_walk(&w);
        if (!good)
            return false;
    }
    return true;
}

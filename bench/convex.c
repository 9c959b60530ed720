/*
 * bench/convex.c - the weights of a driver's form among keys, along a smooth path (walk.h), with and without a warm
 * start from the last frame's support. Peer: DAQP, a dual active-set solver, on the same problems with its warm start.
 * It is no Debian package, so it is built only if CMake is told where its sources are (EX_BENCH_DAQP).
 */
#include "bench/bench.h"
#include "bench/peer.h"
#include "bench/walk.h"

#include <exemplar/weigh.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { FRAMES = EXI_WALK_FRAMES, KEYS_MAX = EXI_WALK_KEYS_MAX };

typedef struct walk {
    ex_weigher *weigher;
    int count, frame;
    double *rows; /* [FRAMES][count] */
    void *state, *scratch;
    double weights[KEYS_MAX];
} walk;

static bool open_walk(walk *w, int count) {
    static double gram[KEYS_MAX * KEYS_MAX];
    w->count = count;
    w->rows = malloc((size_t)(FRAMES * count) * sizeof *w->rows);
    if (w->rows)
        exi_walk(count, gram, w->rows);
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

/* The distance of the sum of the squares of all weights of all frames from the peer's, as a part of it. */
static bool differs(walk *w, exi_peer *peer, double *by) {
    char question[64];
    double theirs = 0, ours = 0;
    snprintf(question, sizeof question, "answer %d", w->count);
    if (!exi_peer_ask(peer, question, &theirs) || !(theirs > 0))
        return false;
    for (int f = 0; f < FRAMES; f++) {
        run_warm(w);
        for (int i = 0; i < w->count; i++)
            ours += w->weights[i] * w->weights[i];
    }
    *by = fabs(ours / theirs - 1);
    return true;
}

static bool walk_rows(const exi_bench *bench, int count, bool compared, exi_peer *peer, const char *why) {
    walk w = {0};
    const bool good = open_walk(&w, count);
    for (int cold = 0; good && cold < 2; cold++) {
        exi_work work = {cold ? run_cold : run_warm, &w};
        exi_row row = {.group = "convex"};
        char question[64], note[64];
        double by = 0;
        const bool asked = compared && !cold;
        snprintf(question, sizeof question, "run %d", count);
        snprintf(row.work, sizeof row.work, "weights of a driver among %d keys, %s", count, cold ? "cold" : "warm");
        row.ns = exi_measure_beside(&work, asked ? peer : NULL, question, bench->repeat, &row.peer_ns);
        if (asked) {
            row.peer = "DAQP";
            row.peer_note = row.peer_ns > 0 ? NULL : peer ? "does not answer" : why;
            row.goal_ratio = 1;
        }
        if (row.peer_ns > 0 && differs(&w, peer, &by)) {
            snprintf(note, sizeof note, "weights differ by %.1g", by);
            row.peer_note = note;
        }
        bench->report(bench->user, &row);
    }
    close_walk(&w);
    return good;
}

bool exi_bench_convex(const exi_bench *bench) {
    const char *why = NULL;
    exi_peer *peer = exi_peer_start(NULL, "exemplar_peer_daqp", &why);
    if (!peer)
        why = "not built: cmake -DEX_BENCH_DAQP=FOLDER, with its sources";
    const bool good = walk_rows(bench, 12, true, peer, why) && walk_rows(bench, 20, true, peer, why) &&
                      walk_rows(bench, 64, false, peer, why);
    exi_peer_stop(peer);
    return good;
}

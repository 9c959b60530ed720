/*
 * bench/settle.c - settles cloth on a body, frame by frame: a torso of 10080 triangles that bends, twists, breathes and
 * sways, moving on by some centimetres per frame, 25 frames per step, and 5000 vertices of cloth with folds a few
 * millimetres outside, or three centimetres. Twelve keys around the cycle, four of which have weight at any time. Cold:
 * every frame independently; warm: with the state of the frame before.
 */
#include "bench/bench.h"
#include "bench/torso.h"

#include <exemplar/settle.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEYS = 12, FRAMES = 25 };

static const double turn = 6.283185307179586;

typedef struct dressing {
    ex_settler *settler;
    float *keys, *cloth_keys;         /* [KEYS][TORSO_BODY][3], [KEYS][TORSO_CLOTH][3] */
    float *blended, *driver, *draped; /* [FRAMES][TORSO_BODY][3], …, [FRAMES][TORSO_CLOTH][3] */
    float *weights;                   /* [FRAMES][KEYS] */
    float *now_blended, *now_driver, *now_weights;
    float *driven; /* [TORSO_CLOTH][3] */
    void *scratch, *state;
    ex_residual residual;
    bool push, warm;
    int frame;
    ex_settled settled;
} dressing;

/* Writes the input that the rest of a frame would just have written, so that it is in the cache. */
static void run_input(void *context) {
    dressing *d = context;
    const size_t f = (size_t)d->frame;
    memcpy(d->now_blended, d->blended + f * 3 * TORSO_BODY, 3 * TORSO_BODY * sizeof(float));
    memcpy(d->now_driver, d->driver + f * 3 * TORSO_BODY, 3 * TORSO_BODY * sizeof(float));
    memcpy(d->driven, d->draped + f * 3 * TORSO_CLOTH, 3 * TORSO_CLOTH * sizeof(float));
    for (size_t v = 0; v < TORSO_CLOTH; v++)
        memcpy(d->now_weights + v * KEYS, d->weights + f * KEYS, KEYS * sizeof(float));
    d->frame = (d->frame + 1) % FRAMES;
}

static void run_frame(void *context) {
    dressing *d = context;
    run_input(d);
    const ex_settle_job job = {.blended = d->now_blended,
                               .driver = d->now_driver,
                               .driven = d->driven,
                               .residual = d->residual,
                               .weights = d->now_weights,
                               .push = d->push,
                               .thickness = 0.003f,
                               .settled = &d->settled};
    ex_settle(d->settler, &job, d->warm ? d->state : NULL, d->scratch);
}

/* The keys' weights at a phase: a cubic B-spline around the cycle. */
static void weights_at(double phase, double *weights) {
    memset(weights, 0, KEYS * sizeof *weights);
    const double at = phase * KEYS - floor(phase) * KEYS;
    const int first = (int)at;
    const double t = at - first, s = 1 - t;
    const double w[4] = {s * s * s / 6, (3 * t * t * t - 6 * t * t + 4) / 6, (3 * s * s * s - 6 * s * s + 4) / 6,
                         t * t * t / 6};
    for (int i = 0; i < 4; i++)
        weights[(first + i + KEYS - 1) % KEYS] += w[i];
}

static void blend(const float *keys, const double *weights, int count, double walked, float *out) {
    for (int i = 0; i < count; i++) {
        double sum = i % 3 == 2 ? walked : 0;
        for (int k = 0; k < KEYS; k++)
            sum += weights[k] * (double)keys[(size_t)k * (size_t)count + (size_t)i];
        out[i] = (float)sum;
    }
}

static bool bind_keys(dressing *d, const uint32_t *triangles) {
    const size_t count = (size_t)KEYS * TORSO_CLOTH;
    uint32_t *key_triangles = malloc(count * sizeof *key_triangles);
    float *places = malloc(2 * count * sizeof *places), *gaps = malloc(count * sizeof *gaps);
    ex_settler_def def = {.driver_count = TORSO_BODY,
                          .driver_positions = d->keys,
                          .triangle_count = TORSO_TRIANGLES,
                          .triangles = triangles,
                          .vertex_count = TORSO_CLOTH};
    ex_settler *bare = NULL;
    void *scratch = NULL;
    bool good = key_triangles && places && gaps && ex_settler_create(&def, NULL, &bare, NULL) == EX_OK &&
                (scratch = malloc(ex_settler_scratch_size(bare)));
    for (size_t k = 0; good && k < KEYS; k++)
        ex_settler_measure(bare, d->keys + k * 3 * TORSO_BODY, d->cloth_keys + k * 3 * TORSO_CLOTH, 0,
                           key_triangles + k * TORSO_CLOTH, places + 2 * k * TORSO_CLOTH, gaps + k * TORSO_CLOTH, NULL,
                           scratch);
    def.key_count = KEYS;
    def.key_triangles = key_triangles;
    def.key_places = places;
    def.key_gaps = gaps;
    good = good && ex_settler_create(&def, NULL, &d->settler, NULL) == EX_OK;
    ex_settler_destroy(bare);
    free(scratch);
    free(key_triangles);
    free(places);
    free(gaps);
    return good;
}

static void make_frames(dressing *d) {
    for (int f = 0; f < FRAMES; f++) {
        const double phase = (f + 0.3) / FRAMES, walked = 0.15 * sin(turn * phase);
        const size_t at = (size_t)f;
        double weights[KEYS];
        weights_at(phase, weights);
        blend(d->keys, weights, 3 * TORSO_BODY, walked, d->blended + at * 3 * TORSO_BODY);
        blend(d->cloth_keys, weights, 3 * TORSO_CLOTH, walked, d->draped + at * 3 * TORSO_CLOTH);
        torso_body(phase, walked, d->driver + at * 3 * TORSO_BODY);
        for (size_t k = 0; k < KEYS; k++)
            d->weights[at * KEYS + k] = (float)weights[k];
    }
}

/* off: distance of the cloth, in metres. */
static bool open_dressing(dressing *d, double off) {
    *d = (dressing){0};
    uint32_t *triangles = malloc(3 * TORSO_TRIANGLES * sizeof *triangles);
    d->keys = malloc((size_t)KEYS * 3 * TORSO_BODY * sizeof(float));
    d->cloth_keys = malloc((size_t)KEYS * 3 * TORSO_CLOTH * sizeof(float));
    d->blended = malloc((size_t)FRAMES * 3 * TORSO_BODY * sizeof(float));
    d->driver = malloc((size_t)FRAMES * 3 * TORSO_BODY * sizeof(float));
    d->draped = malloc((size_t)FRAMES * 3 * TORSO_CLOTH * sizeof(float));
    d->weights = malloc((size_t)FRAMES * KEYS * sizeof(float));
    d->now_blended = malloc(3 * TORSO_BODY * sizeof(float));
    d->now_driver = malloc(3 * TORSO_BODY * sizeof(float));
    d->now_weights = malloc((size_t)TORSO_CLOTH * KEYS * sizeof(float));
    d->driven = malloc(3 * TORSO_CLOTH * sizeof(float));
    bool good = triangles && d->keys && d->cloth_keys && d->blended && d->driver && d->draped && d->weights &&
                d->driven && d->now_blended && d->now_driver && d->now_weights;
    if (good) {
        torso_triangles(triangles);
        for (size_t k = 0; k < KEYS; k++) {
            torso_body((double)k / KEYS, 0, d->keys + k * 3 * TORSO_BODY);
            torso_cloth((double)k / KEYS, 0, off, d->cloth_keys + k * 3 * TORSO_CLOTH);
        }
        make_frames(d);
        good = bind_keys(d, triangles);
    }
    free(triangles);
    d->scratch = good ? malloc(ex_settler_scratch_size(d->settler)) : NULL;
    d->state = good ? calloc(1, ex_settler_state_size(d->settler) + 1) : NULL;
    return good && d->scratch && d->state;
}

static void close_dressing(dressing *d) {
    ex_settler_destroy(d->settler);
    float *blocks[] = {d->keys,    d->cloth_keys, d->blended,     d->driver,     d->draped,
                       d->weights, d->driven,     d->now_blended, d->now_driver, d->now_weights};
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++)
        free(blocks[i]);
    free(d->scratch);
    free(d->state);
}

typedef struct settle_case {
    const char *work;
    ex_residual residual;
    bool push, warm;
    double goal_rate;
} settle_case;

static bool run_cases(const exi_bench *bench, double off, const settle_case *cases, size_t count) {
    dressing d;
    const bool good = open_dressing(&d, off);
    exi_work input = {run_input, &d};
    const double input_ns = good ? exi_measure_alone(&input, bench->repeat) : 0;
    for (size_t i = 0; good && i < count; i++) {
        exi_row row = {.group = "settle", .vertex_count = TORSO_CLOTH, .goal_rate = cases[i].goal_rate, .frames = true};
        snprintf(row.work, sizeof row.work, "%s", cases[i].work);
        d.residual = cases[i].residual;
        d.push = cases[i].push;
        d.warm = cases[i].warm;
        exi_work work = {run_frame, &d};
        row.ns = exi_measure_alone(&work, bench->repeat) - input_ns;
        bench->report(bench->user, &row);
    }
    close_dressing(&d);
    return good;
}

bool exi_bench_settle(const exi_bench *bench) {
    static const settle_case tight[] = {
        {"residual by keys", EX_RESIDUAL_KEYS, false, false, 0},
        {"push out, cold", EX_RESIDUAL_NONE, true, false, 0},
        {"push out, warm", EX_RESIDUAL_NONE, true, true, 0},
        {"residual by keys and push out, cold", EX_RESIDUAL_KEYS, true, false, 500},
        {"residual by keys and push out, warm", EX_RESIDUAL_KEYS, true, true, 3333},
        {"residual by closest triangle and push out, cold", EX_RESIDUAL_CLOSEST, true, false, 0},
        {"residual by closest triangle and push out, warm", EX_RESIDUAL_CLOSEST, true, true, 0},
    };
    static const settle_case loose[] = {
        {"push out of what is 3 cm off, cold", EX_RESIDUAL_NONE, true, false, 0},
        {"push out of what is 3 cm off, warm", EX_RESIDUAL_NONE, true, true, 0},
    };
    return run_cases(bench, 0.004, tight, sizeof tight / sizeof tight[0]) &&
           run_cases(bench, 0.03, loose, sizeof loose / sizeof loose[0]) && exi_bench_wear(bench);
}

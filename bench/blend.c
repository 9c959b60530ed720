/*
 * bench/blend.c - the dense blend next to Eigen: a form of base and examples, all weights other than 0. A run must read
 * base and examples and write positions: 24 bytes per vertex, and 12 (or 6) per vertex and example.
 */
#include "bench/bench.h"
#include "bench/peer.h"

#include <exemplar/shape.h>

#include <stdio.h>
#include <stdlib.h>

typedef struct blending {
    ex_forms *forms;
    float *weights, *positions;
    void *scratch;
} blending;

static void run_blend(void *context) {
    blending *b = context;
    ex_forms_blend(b->forms, b->weights, b->positions, 0, NULL, b->scratch);
}

static float *made_up_form(int vertex_count, unsigned *seed) {
    float *form = malloc((size_t)vertex_count * 3 * sizeof *form);
    for (int i = 0; form && i < 3 * vertex_count; i++)
        form[i] = (float)exi_made_up(seed);
    return form;
}

static ex_forms *make_forms(int example_count, int vertex_count, ex_storage storage) {
    unsigned seed = 1;
    float **deltas = calloc((size_t)example_count, sizeof *deltas);
    float *base = made_up_form(vertex_count, &seed);
    bool good = deltas && base;
    for (int k = 0; good && k < example_count; k++) {
        deltas[k] = made_up_form(vertex_count, &seed);
        good = deltas[k] != NULL;
    }
    ex_forms *forms = NULL;
    ex_forms_def def = {vertex_count, example_count, base, (const float *const *)deltas, storage};
    if (good)
        ex_forms_create(&def, NULL, &forms, NULL);
    for (int k = 0; deltas && k < example_count; k++)
        free(deltas[k]);
    free(deltas);
    free(base);
    return forms;
}

static bool open_blending(blending *b, int example_count, int vertex_count, ex_storage storage) {
    b->forms = make_forms(example_count, vertex_count, storage);
    b->weights = calloc((size_t)example_count, sizeof *b->weights);
    b->positions = malloc((size_t)vertex_count * 3 * sizeof *b->positions);
    b->scratch = b->forms ? malloc(ex_forms_scratch_size(b->forms)) : NULL;
    if (!b->forms || !b->weights || !b->positions || !b->scratch)
        return false;
    for (int k = 0; k < example_count; k++)
        b->weights[k] = 1.0f / (float)(k + 2);
    return true;
}

static void close_blending(blending *b) {
    ex_forms_destroy(b->forms);
    free(b->weights);
    free(b->positions);
    free(b->scratch);
}

typedef struct blend_case {
    int example_count, vertex_count;
    ex_storage storage;
    const char *layout; /* Eigen's fastest at this size */
    double goal_ratio, goal_read;
} blend_case;

static bool blend_row(const exi_bench *bench, const blend_case *c, exi_peer *peer, const char *note) {
    blending b = {0};
    if (!open_blending(&b, c->example_count, c->vertex_count, c->storage)) {
        close_blending(&b);
        return false;
    }
    const bool is_float = c->storage == EX_STORAGE_FLOAT;
    const double examples = (double)c->example_count * (is_float ? 12 : 6);
    exi_row row = {.group = "blend",
                   .vertex_count = c->vertex_count,
                   .bytes = (double)c->vertex_count * (examples + 24),
                   .multiply_adds = is_float ? 3.0 * c->vertex_count * c->example_count : 0,
                   .peer = c->layout,
                   .goal_ratio = c->goal_ratio,
                   .goal_read = c->goal_read};
    snprintf(row.work, sizeof row.work, "blend %d x %d, %s", c->example_count, c->vertex_count,
             is_float ? "float" : "16 bit");
    char question[64];
    snprintf(question, sizeof question, "run blend %d %d %s", c->example_count, c->vertex_count, c->layout);
    exi_work work = {run_blend, &b};
    row.ns = exi_measure_beside(&work, peer, question, bench->repeat, &row.peer_ns);
    row.peer_note = row.peer_ns > 0 ? NULL : peer ? "does not answer" : note;
    row.peer = c->layout[0] == 'e' ? "Eigen, example-major" : "Eigen, interleaved";
    row.read_speed = exi_read_speed((size_t)row.bytes, 1, bench->repeat);
    row.read_speed_two = exi_read_speed((size_t)row.bytes, 2, bench->repeat);
    bench->report(bench->user, &row);
    close_blending(&b);
    return true;
}

bool exi_bench_blend(const exi_bench *bench) {
    static const blend_case cases[] = {
        {8, 1335, EX_STORAGE_FLOAT, "example-major", 1, 0.9},
        {16, 7000, EX_STORAGE_FLOAT, "example-major", 1, 0.9},
        {64, 70000, EX_STORAGE_FLOAT, "interleaved", 1.1, 0},
        {64, 70000, EX_STORAGE_16_BIT, "interleaved", 2, 0},
    };
    const char *why = NULL;
    exi_peer *peer = exi_peer_start(NULL, "exemplar_peer_eigen", &why);
    bool good = true;
    for (size_t i = 0; good && i < sizeof cases / sizeof cases[0]; i++)
        good = blend_row(bench, &cases[i], peer, why);
    exi_peer_stop(peer);
    return good;
}

/*
 * bench/wear.c - what is done to a garment after settling: 5000 vertices of cloth with folds, 9800 triangles, on the
 * torso of bench/settle.c. Counts the triangles that go through each other; removes them where a part of the cloth is
 * pulled through another; and puts the cloth over another garment, a
 * millimetre below, that reaches through it in places.
 */
#include "bench/bench.h"
#include "bench/torso.h"

#include <exemplar/settle.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES = 25 };

typedef struct wearing {
    float *cloth, *tangled, *below; /* [FRAMES][TORSO_CLOTH][3] */
    float *form;
    uint32_t *triangles;
    ex_untangler *untangler;
    ex_settler *settler;
    void *scratch, *settler_scratch, *state;
    int frame;
} wearing;

static const float *next_form(wearing *w, const float *forms) {
    const float *form = forms + (size_t)w->frame * 3 * TORSO_CLOTH;
    w->frame = (w->frame + 1) % FRAMES;
    return form;
}

static void run_count(void *context) {
    wearing *w = context;
    ex_untangler_count(w->untangler, next_form(w, w->cloth), 0, NULL, w->scratch);
}

static void run_untangle(void *context) {
    wearing *w = context;
    memcpy(w->form, next_form(w, w->tangled), 3 * TORSO_CLOTH * sizeof *w->form);
    ex_untangle(w->untangler, &(ex_untangle_job){.positions = w->form}, w->scratch);
}

static void run_over(void *context) {
    wearing *w = context;
    const float *below = w->below + (size_t)w->frame * 3 * TORSO_CLOTH;
    memcpy(w->form, next_form(w, w->cloth), 3 * TORSO_CLOTH * sizeof *w->form);
    const ex_settle_job job = {.driver = below, .driven = w->form, .push = true, .thickness = 0.002f, .reach = 0.05f};
    ex_settle(w->settler, &job, w->state, w->settler_scratch);
}

/* Pulls some vertices through the cloth: towards others, a few rings away. */
static void tangle(float *form) {
    for (int i = 0; i < 6; i++) {
        const int v = (10 + 5 * i) * TORSO_CLOTH_AROUND + 15 * i, to = v + 2 * TORSO_CLOTH_AROUND;
        for (int c = 0; c < 3; c++) {
            const float kept = form[3 * v + c];
            form[3 * v + c] = form[3 * to + c];
            form[3 * to + c] = kept;
        }
    }
}

static bool open_wearing(wearing *w) {
    const size_t size = 3 * TORSO_CLOTH;
    *w = (wearing){.cloth = malloc(FRAMES * size * sizeof(float)),
                   .tangled = malloc(FRAMES * size * sizeof(float)),
                   .below = malloc(FRAMES * size * sizeof(float)),
                   .form = malloc(size * sizeof(float)),
                   .triangles = malloc(3 * TORSO_CLOTH_TRIANGLES * sizeof(uint32_t))};
    if (!w->cloth || !w->tangled || !w->below || !w->form || !w->triangles)
        return false;
    torso_cloth_triangles(w->triangles);
    for (size_t f = 0; f < FRAMES; f++) {
        torso_cloth(((double)f + 0.3) / FRAMES, 0, 0.005, w->cloth + f * size);
        torso_cloth(((double)f + 0.3) / FRAMES, 0, 0.004, w->below + f * size);
        for (size_t v = 0; v < TORSO_CLOTH; v++) /* folds of another phase reach outside */
            w->below[f * size + 3 * v] += 0.002f * (float)sin(0.9 * (double)v);
        memcpy(w->tangled + f * size, w->cloth + f * size, size * sizeof(float));
        tangle(w->tangled + f * size);
    }
    const ex_untangler_def untangler = {TORSO_CLOTH, w->cloth, TORSO_CLOTH_TRIANGLES, w->triangles};
    const ex_settler_def settler = {.driver_count = TORSO_CLOTH,
                                    .driver_positions = w->below,
                                    .triangle_count = TORSO_CLOTH_TRIANGLES,
                                    .triangles = w->triangles,
                                    .vertex_count = TORSO_CLOTH,
                                    .open = true};
    if (ex_untangler_create(&untangler, NULL, &w->untangler, NULL) != EX_OK ||
        ex_settler_create(&settler, NULL, &w->settler, NULL) != EX_OK)
        return false;
    w->scratch = malloc(ex_untangler_scratch_size(w->untangler));
    w->settler_scratch = malloc(ex_settler_scratch_size(w->settler));
    w->state = calloc(1, ex_settler_state_size(w->settler));
    return w->scratch && w->settler_scratch && w->state;
}

bool exi_bench_wear(const exi_bench *bench) {
    static const struct {
        const char *work;
        void (*run)(void *);
    } cases[] = {{"count crossings of the cloth with itself", run_count},
                 {"untangle six knots of the cloth", run_untangle},
                 {"put over another garment, warm", run_over}};
    wearing w;
    const bool good = open_wearing(&w);
    for (size_t i = 0; good && i < sizeof cases / sizeof *cases; i++) {
        exi_row row = {.group = "settle", .vertex_count = TORSO_CLOTH, .frames = true};
        snprintf(row.work, sizeof row.work, "%s", cases[i].work);
        exi_work work = {cases[i].run, &w};
        row.ns = exi_measure_alone(&work, bench->repeat);
        bench->report(bench->user, &row);
    }
    ex_untangler_destroy(w.untangler);
    ex_settler_destroy(w.settler);
    float *blocks[] = {w.cloth, w.tangled, w.below, w.form};
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++)
        free(blocks[i]);
    free(w.triangles);
    free(w.scratch);
    free(w.settler_scratch);
    free(w.state);
    return good;
}

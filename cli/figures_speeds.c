/*
 * cli/figures_speeds.c - the speeds of Shape by Example, section 6: blending alone, frames a second, beside what this
 * machine does now. A few short samples: 'exemplar bench' measures with more care.
 */
#include "figures.h"

#include "bench/harness.h"
#include "runtime/base/result.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { REPEAT = 5 };

typedef struct run {
    const ex_rig *rig;
    ex_pose pose;
    float *positions;
    void *scratch;
    bool moved;
} run;

/* Weights and blend; no skinning, no subdivision. */
static void blend(void *context) {
    const run *r = context;
    ex_rig_evaluate(r->rig, &r->pose, &(ex_output){.positions = r->positions}, &(ex_evaluation){.unskinned = true},
                    r->scratch);
}

/* The same after a pseudo-example was moved. */
static void solve_and_blend(void *context) {
    run *r = context;
    const ex_weigher *old = ex_rig_weigher(r->rig, 0);
    const double *from = ex_weigher_point(old, ex_weigher_example_count(old));
    double at[8] = {0};
    r->moved = !r->moved;
    for (int i = 0; i < ex_weigher_dimension(old) && i < 8; i++)
        at[i] = from[i] + (r->moved ? 0.01 : 0);
    ex_weigher *edited = NULL;
    ex_weigher_edit(old, &(ex_edit){.kind = EX_EDIT_MOVE_PSEUDO, .at = at}, 1, NULL, &edited, NULL);
    ex_rig_evaluate(r->rig, &r->pose, &(ex_output){.positions = r->positions},
                    &(ex_evaluation){.weighers = (const ex_weigher *[]){edited}, .unskinned = true}, r->scratch);
    ex_weigher_destroy(edited);
}

static bool open_run(run *r, const ex_rig *rig) {
    *r = (run){.rig = rig, .pose = ex_pose_create(rig)};
    r->positions = malloc(((size_t)ex_rig_vertex_count(rig) + 1) * 3 * sizeof *r->positions);
    r->scratch = malloc(ex_rig_scratch_size(rig, NULL, 1) + 1);
    for (int i = 0; r->pose.inputs && i < ex_rig_input_count(rig); i++) {
        const ex_axis axis = ex_rig_input_axis(rig, i);
        const double value = axis.min + 0.4 * (axis.max - axis.min);
        ex_rig_set_input(rig, i, &value, &r->pose);
    }
    return r->pose.inputs && r->positions && r->scratch;
}

static void close_run(run *r) {
    free(r->pose.inputs);
    free(r->positions);
    free(r->scratch);
}

/* 1 234 567, to three digits. */
static const char *grouped(char text[32], double rate) {
    const double grain = rate > 0 ? pow(10, floor(log10(rate)) - 2) : 1;
    const long rounded = lround(rate / grain) * lround(grain > 1 ? grain : 1);
    if (rounded >= 1000000)
        snprintf(text, 32, "%ld %03ld %03ld", rounded / 1000000, rounded / 1000 % 1000, rounded % 1000);
    else if (rounded >= 1000)
        snprintf(text, 32, "%ld %03ld", rounded / 1000, rounded % 1000);
    else
        snprintf(text, 32, "%.0f", rate);
    return text;
}

static ex_result measure(exi_figures *f, const ex_rig *rig, void (*work)(void *), const char *what,
                         const char *theirs) {
    run r;
    if (!rig)
        return f->error->result;
    ex_result result = open_run(&r, rig) ? EX_OK : exi_error_memory(f->error, "a measurement", 0);
    if (result == EX_OK) {
        const double rate = 1e9 / exi_measure_alone(&(exi_work){work, &r}, REPEAT);
        char text[32];
        exi_figures_fact(f, what, theirs, "%s", grouped(text, rate));
    }
    close_run(&r);
    return result;
}

ex_result exi_figure_speeds(exi_figures *f, const char *path) {
    (void)path;
    ex_result result = measure(f, exi_figures_rig(f, "blob"), blend,
                               "blob, 5 examples and 2 pseudo-examples: frames a second", "5500");
    if (result == EX_OK)
        result = measure(f, exi_figures_rig_instead(f, "blob", "barrel.obj"), blend,
                         "blob, 7 real examples: frames a second", "about 4000");
    if (result == EX_OK)
        result = measure(f, exi_figures_rig(f, "arm"), blend, "arm, 8 examples and 6 pseudo-examples: frames a second",
                         "2074");
    if (result == EX_OK)
        result =
            measure(f, exi_figures_rig(f, "blob"), solve_and_blend, "blob, solved anew for each frame", "more than 30");
    return result == EX_OK ? measure(f, exi_figures_rig(f, "arm"), solve_and_blend, "arm, solved anew for each frame",
                                     "within the interactive loop")
                           : result;
}

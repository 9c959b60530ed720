/*
 * Notes on choices and additions made by building: mended faces, falloffs, ridges, with the pose that causes them,
 * weights that swing far between examples, and trajectories that do not follow well.
 */
#include "author/mesh/subdivide/subdivide.h"
#include "author/project/build/build.h"
#include "author/project/build/falloff.h"
#include "author/project/build/swing.h"
#include "runtime/base/result.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* Weights are sampled at so many places, and named if one is beyond this. */
enum { SWING_SAMPLES = 1024 };
static const double SWING_MOST = 2;

static void note(const exi_building *b, const char *format, ...) EX_PRINTF(2, 3);
static void note(const exi_building *b, const char *format, ...) {
    char text[EX_ERROR_SIZE];
    va_list arguments;
    if (!b->options.note)
        return;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    b->options.note(b->options.note_user, text);
}

void exi_build_note_mends(const exi_building *b) {
    char text[EXI_MEND_SIZE];
    for (int i = 0; i < EXI_MEND_KINDS; i++)
        if (exi_mend_describe(&b->refinement.subdivision->mends, (exi_mend)i, text))
            note(b, "%s: %s", b->view->mesh, text);
}

static void note_falloffs(const exi_building *b, const char *layer, const exi_falloff_choice *choice) {
    const exi_falloff_worth *worth = &choice->worth, *usual = &choice->worth_usual;
    char chosen[120], other[120] = "the default would need a ridge";
    if (choice->own)
        snprintf(chosen, sizeof chosen, "falloffs of %.2f times each point's distance to its nearest neighbour",
                 choice->factor);
    else
        snprintf(chosen, sizeof chosen, "a falloff of %.3g in distances of the space, %.2f times the default",
                 choice->factor * choice->usual, choice->factor);
    if (isfinite(usual->error))
        snprintf(other, sizeof other, "with the default: %.2f to %.2f, %.3g %%", usual->low, usual->high,
                 100 * usual->error);
    note(b,
         "layer '%s': \"auto\" chose %s: weights are from %.2f to %.2f inside the range, leave-one-out error %.3g %% "
         "(%s)%s",
         layer, chosen, worth->low, worth->high, 100 * worth->error, other,
         fmax(-worth->low, worth->high - 1) > EXI_FALLOFF_SWING
             ? "; no falloff is calmer, but \"kind\": \"calm\" may be: 'exemplar check' tries it"
             : "");
}

ex_result exi_build_falloffs(const exi_building *b, int index, ex_layer_def *layer, ex_error *error) {
    const ex_project_layer *source = &b->view->layers[index];
    const float *const *rows = layer->displacement.maps ? layer->displacement.maps : layer->form.deltas;
    const size_t numbers = layer->displacement.maps
                               ? (size_t)b->refinement.levels[b->refinement.level_count - 1].vertex_count
                               : 3 * (size_t)b->mesh->vertex_count;
    if (!source->auto_falloff)
        return EX_OK;
    double *gram = layer->offsets.examples ? exi_gram_of_offsets(layer->offsets.examples, source->example_count)
                                           : exi_gram_of_rows(rows, source->example_count, numbers);
    exi_falloff_choice choice = {0};
    ex_result result = gram ? exi_falloff_choose(&source->weigh, gram, &choice, error)
                            : ex_error_memory(error, "choosing falloffs", 0);
    free(gram);
    if (result != EX_OK)
        return result;
    if (choice.falloffs) {
        layer->weigh.falloffs = choice.falloffs;
        note_falloffs(b, source->name, &choice);
    } else {
        const int points = source->example_count + source->weigh.pseudo_count;
        note(b,
             points > EXI_FALLOFF_POINTS ? "layer '%s': %d points are too many to choose a falloff "
                                           "(at most %d); the default is used, the usual distance of neighbours"
                                         : "layer '%s': %d points are too few to choose a falloff; "
                                           "the default is used, the usual distance of neighbours",
             source->name, points, EXI_FALLOFF_POINTS);
    }
    return EX_OK;
}

void exi_build_note_ridges(const exi_building *b, const ex_rig *rig) {
    for (int l = 0; b->options.note && l < b->view->layer_count; l++) {
        const ex_weigher *weigher = ex_rig_weigher(rig, l);
        const ex_ridge ridge = ex_weigher_get_ridge(weigher);
        const ex_project_layer *layer = &b->view->layers[l];
        exi_point_words text;
        double cost = 0;
        int missed = 0;
        if (!ex_weigher_get_info(weigher)->raises_ridge || !(ridge.ridge > 0) ||
            !exi_ridge_cost(weigher, &cost, &missed))
            continue;
        if (ridge.point >= 0)
            note(b,
                 "layer '%s': its points can hardly be told apart (condition %.2g), so a ridge of %.2g was added; the "
                 "cause is %s, with a falloff of %.3g: lower it, or spread the poses; example '%s' is missed most, by "
                 "%.2g %%",
                 layer->name, ridge.condition, ridge.ridge, exi_point_name(b->view, l, ridge.point, &text),
                 ridge.falloff, layer->examples[missed].name, 100 * cost);
        else
            note(b, "layer '%s': with a ridge of %.2g, example '%s' is missed most, by %.2g %%", layer->name,
                 ridge.ridge, layer->examples[missed].name, 100 * cost);
    }
}

void exi_build_note_swings(const exi_building *b, const ex_rig *rig) {
    for (int l = 0; b->options.note && l < b->view->layer_count; l++) {
        const ex_project_layer *layer = &b->view->layers[l];
        exi_extent extent;
        if (!exi_measure_extent(layer, ex_rig_weigher(rig, l), SWING_SAMPLES, &extent))
            return;
        const exi_swing *worst = exi_extent_worst(&extent);
        if (fabs(worst->weight) > SWING_MOST)
            note(b,
                 "layer '%s': the weight of '%s' reaches %.1f inside the range, at %s; 'exemplar check' says more, and "
                 "with --mend makes the layer calm",
                 layer->name, layer->examples[worst->example].name, worst->weight, worst->place);
    }
}

void exi_build_note_trajectories(const exi_building *b, int index) {
    const ex_project_layer *layer = &b->view->layers[index];
    const ex_trajectories *found = b->paths[index].found;
    for (int k = 0; k < layer->example_count && layer->trajectory.options->mode == EX_TRAJECTORY_PAPER; k++)
        if (!layer->examples[k].reference && !found->fits[k].converged)
            note(b, "layer '%s': the trajectory to '%s' was still changing after %d steps: more iterations may help",
                 layer->name, layer->examples[k].name, found->fits[k].iterations);
}

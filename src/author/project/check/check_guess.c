/*
 * Examples predicted from the others (leave-one-out): the size of each form's difference from its prediction by the
 * space; and falloffs that are left to the build.
 */
#include "author/base/array.h"
#include "author/project/build/falloff.h"
#include "author/project/check/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* With more examples than this, leave-one-out is too slow for every check: it solves the space once for each. */
enum { LEAVE_ONE_OUT_MOST = 256 };

static size_t width_of(const exi_guessed *guessed) {
    return guessed->width > 0 ? (size_t)guessed->width : 3;
}

/* sum [count][width] += weight * example. */
static void add_example(const exi_guessed *guessed, int example, double weight, double *sum) {
    if (guessed->rows) {
        exi_measure_sum(sum, width_of(guessed) * guessed->count, weight, guessed->rows[example]);
        return;
    }
    const ex_offsets *offsets = &guessed->offsets[example];
    for (int i = 0; i < offsets->count; i++)
        for (size_t c = 0; c < 3; c++)
            sum[3 * (size_t)offsets->vertices[i] + c] += weight * (double)offsets->deltas[3 * (size_t)i + c];
}

/* Returns the largest distance of a point between example k and the sum of the others with `weights` [count - 1]; sum
 * is scratch. */
static double guess_error(const exi_guessed *guessed, int count, int k, const double *weights, double *sum) {
    const size_t width = width_of(guessed);
    double largest = 0;
    memset(sum, 0, width * guessed->count * sizeof *sum);
    for (int j = 0; j < count; j++)
        add_example(guessed, j, j == k ? -1 : weights[j < k ? j : j - 1], sum);
    for (size_t v = 0; v < guessed->count; v++) {
        double sq = 0;
        for (size_t c = 0; c < width; c++)
            sq += sum[width * v + c] * sum[width * v + c];
        largest = sq > largest ? sq : largest;
    }
    return sqrt(largest);
}

static void guess_one(exi_checker *c, int layer, const ex_weigher *weigher, const exi_guessed *guessed, int k,
                      double *weights, double *sum) {
    const ex_project_layer *source = &c->view->layers[layer];
    ex_weigher *without = NULL;
    const ex_edit edit = {.kind = EX_EDIT_REMOVE_EXAMPLE, .index = k};
    const ex_result result = ex_weigher_edit(weigher, &edit, 1, NULL, &without, NULL);
    c->failed = c->failed || result == EX_ERROR_MEMORY;
    if (result != EX_OK)
        return;
    ex_weigher_evaluate(without, ex_weigher_point(weigher, k), weights);
    ex_weigher_destroy(without);
    const double error = guess_error(guessed, source->example_count, k, weights, sum) / guessed->size;
    char where[128];
    snprintf(where, sizeof where, "layers[%d].examples[%d]", layer, source->examples[k].place);
    exi_check_add(c, EX_SEVERITY_NOTE, "leave_one_out", where, error,
                  "without '%s', its %s would be predicted with an error of up to %.2f %% of %s",
                  source->examples[k].name, guessed->what, 100 * error, guessed->of);
}

void exi_check_guess(exi_checker *c, int layer, const ex_weigher *weigher, const exi_guessed *guessed) {
    const ex_project_layer *source = &c->view->layers[layer];
    const int n = source->example_count;
    char where[64];
    if (!ex_weigher_kind_info(source->weigh.kind)->has_points || n + source->zero_count < 3 || n < 2)
        return;
    if (n > LEAVE_ONE_OUT_MOST) {
        snprintf(where, sizeof where, "layers[%d]", layer);
        exi_check_add(c, EX_SEVERITY_NOTE, "leave_one_out", where, 0,
                      "leave-one-out errors are measured for at most %d examples; this layer has %d",
                      LEAVE_ONE_OUT_MOST, n);
        return;
    }
    double *weights = exi_array_allocate((size_t)n, sizeof *weights);
    double *sum = exi_array_allocate(guessed->count, 3 * sizeof *sum);
    c->failed = c->failed || !weights || !sum;
    for (int k = 0; !c->failed && k < n; k++)
        guess_one(c, layer, weigher, guessed, k, weights, sum);
    free(weights);
    free(sum);
}

void exi_check_falloffs(exi_checker *c, int layer, const exi_guessed *guessed) {
    const ex_project_layer *source = &c->view->layers[layer];
    exi_falloff_choice choice = {0};
    char where[64];
    if (!source->auto_falloff)
        return;
    double *gram = guessed->rows
                       ? exi_gram_of_rows(guessed->rows, source->example_count, width_of(guessed) * guessed->count)
                       : exi_gram_of_offsets(guessed->offsets, source->example_count);
    c->failed = c->failed || !gram || exi_falloff_choose(&source->weigh, gram, &choice, NULL) != EX_OK;
    free(gram);
    snprintf(where, sizeof where, "layers[%d].weigh.falloff", layer);
    if (!choice.falloffs)
        return;
    c->falloffs[layer] = choice.falloffs;
    c->weighs[layer].falloffs = choice.falloffs;
    if (choice.own)
        exi_check_add(c, EX_SEVERITY_NOTE, "falloff", where, choice.factor * choice.usual,
                      "\"auto\" chose %.2f times each point's distance to its nearest neighbour, %.3g on average",
                      choice.factor, choice.factor * choice.usual);
    else
        exi_check_add(c, EX_SEVERITY_NOTE, "falloff", where, choice.factor * choice.usual,
                      "\"auto\" chose %.3g in distances of the space, %.2f times the default",
                      choice.factor * choice.usual, choice.factor);
}

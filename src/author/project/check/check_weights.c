/*
 * Checks the weights of a layer: how far they leave 0 to 1 inside the range, how far an example acts beyond its
 * neighbours, and how far away it changes the others' weights by being there. A remedy is tried before it is advised.
 */
#include "author/base/array.h"
#include "author/project/build/swing.h"
#include "author/project/check/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Examples up to which each of them is left out in turn, and samples for each. */
enum { LEFT_OUT_MAX = 64, LEFT_OUT_SAMPLES = 512 };

typedef struct weights_check {
    exi_checker *c;
    int index;
    const ex_project_layer *layer;
    const char *where;
    const ex_weigher *weigher;
    double *weights; /* [example_count] */
    bool mendable;   /* calm weights would be better */
    exi_check_text remedy;
} weights_check;

/* ---- the range ---- */

/* Reports the extent, and tries calm weights where it is large. */
static void check_extent(weights_check *s) {
    const int samples = s->c->sample_count;
    exi_extent extent, calm;
    bool possible = false;
    if (!exi_measure_extent(s->layer, s->weigher, samples, &extent) ||
        !exi_measure_calm(s->layer, &s->c->weighs[s->index], samples, &calm, &possible)) {
        s->c->failed = true;
        return;
    }
    const exi_swing *worst = exi_extent_worst(&extent);
    const double beyond = fmax(-extent.low.weight, extent.high.weight - 1);
    exi_check_text where = {.size = 0};
    if (beyond > 0)
        exi_check_append(&where, "; '%s' is farthest out, at %s", s->layer->examples[worst->example].name,
                         worst->place);
    exi_check_add(s->c, EX_SEVERITY_NOTE, "weights", s->where, beyond,
                  "weights are from %.2f to %.2f inside the range%s", extent.low.weight, extent.high.weight,
                  where.text);
    s->mendable = possible && s->layer->weigh.kind != EX_WEIGHER_CALM &&
                  fmax(-calm.low.weight, calm.high.weight - 1) < 0.5 * beyond;
    if (s->mendable)
        exi_check_append(&s->remedy, "calm weights (\"kind\": \"calm\") would stay from %.2f to %.2f", calm.low.weight,
                         calm.high.weight);
    else
        exi_check_append(&s->remedy, "an example or pseudo-example near there would reduce it");
}

/* Reports for each example the weight farthest outside [-0.5, 1.5] inside the range, and its place. */
static void check_range(weights_check *s) {
    const size_t n = (size_t)s->layer->example_count, dimension = (size_t)s->layer->dimension;
    double *point = malloc(dimension * sizeof *point), *worst = calloc(n, sizeof *worst);
    int *worst_sample = calloc(n, sizeof *worst_sample), outside = 0;
    if (!point || !worst || !worst_sample)
        s->c->failed = true;
    for (int i = 0; !s->c->failed && i < s->c->sample_count; i++) {
        bool wild = false;
        exi_space_sample(s->layer, i, point);
        ex_weigher_evaluate(s->weigher, point, s->weights);
        for (size_t k = 0; k < n; k++) {
            double beyond = s->weights[k] < -0.5 ? s->weights[k] + 0.5 : s->weights[k] > 1.5 ? s->weights[k] - 1.5 : 0;
            wild = wild || beyond != 0;
            if (fabs(beyond) > fabs(worst[k])) {
                worst[k] = beyond;
                worst_sample[k] = i;
            }
        }
        outside += wild;
    }
    for (size_t k = 0; !s->c->failed && k < n; k++) {
        if (worst[k] == 0)
            continue;
        char where[128], place[256];
        exi_space_sample(s->layer, worst_sample[k], point);
        exi_space_words(s->layer, point, place, sizeof place);
        snprintf(where, sizeof where, "%s.examples[%d]", s->where, s->layer->examples[k].place);
        double weight = worst[k] < 0 ? worst[k] - 0.5 : worst[k] + 1.5;
        exi_check_add(s->c, EX_SEVERITY_WARNING, "weight_range", where, weight,
                      "the weight of '%s' reaches %.2f inside the range, at %s: %s", s->layer->examples[k].name, weight,
                      place, s->remedy.text);
        s->c->check->findings[s->c->check->finding_count - 1].remedy = s->mendable ? "calm" : NULL;
    }
    if (!s->c->failed && outside > 0)
        exi_check_add(s->c, EX_SEVERITY_NOTE, "weight_range", s->where, (double)outside / s->c->sample_count,
                      "weights leave [-0.5, 1.5] in %.1f %% of the range", 100.0 * outside / s->c->sample_count);
    free(point);
    free(worst);
    free(worst_sample);
}

/* ---- beyond the neighbours ---- */

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Returns the distance within which an example has its ring of neighbours: as many as there are directions in the
 * space. work [points]. */
static double ring_of(const weights_check *s, int example, double *work) {
    const int n = ex_weigher_example_count(s->weigher) + ex_weigher_pseudo_count(s->weigher);
    int directions = 0, count = 0;
    for (int a = 0; a < s->layer->axis_count; a++)
        directions += s->layer->axes[a].axis.kind == EX_AXIS_SCALAR ? 2 : 6;
    for (int j = 0; j < n; j++)
        if (j != example)
            work[count++] =
                ex_weigher_distance(s->weigher, ex_weigher_point(s->weigher, example), ex_weigher_point(s->weigher, j));
    qsort(work, (size_t)count, sizeof *work, compare_doubles);
    return count == 0 ? INFINITY : work[directions < count ? directions - 1 : count - 1];
}

/* Makes the layer's weigher without one of its examples. NULL if that cannot be solved; memory: c->failed. */
static ex_weigher *without(const weights_check *s, int example) {
    ex_weigher *less = NULL;
    const ex_edit edit = {.kind = EX_EDIT_REMOVE_EXAMPLE, .index = example};
    if (ex_weigher_edit(s->weigher, &edit, 1, NULL, &less, NULL) == EX_ERROR_MEMORY)
        s->c->failed = true;
    return less;
}

typedef struct reach_found {
    exi_swing acts, moves; /* the example that acts, and the one whose presence moves others, the farthest */
} reach_found;

static void measure_example(const weights_check *s, int example, double *point, double *others, double *work,
                            reach_found *found) {
    const int n = s->layer->example_count;
    const double ring = ring_of(s, example, work);
    ex_weigher *less = n > 2 ? without(s, example) : NULL;
    for (int i = 0; i < LEFT_OUT_SAMPLES && !s->c->failed; i++) {
        exi_space_sample(s->layer, i, point);
        if (ex_weigher_distance(s->weigher, point, ex_weigher_point(s->weigher, example)) <= ring)
            continue;
        ex_weigher_evaluate(s->weigher, point, s->weights);
        exi_swing *acts = &found->acts, *moves = &found->moves;
        if (fabs(s->weights[example]) > fabs(acts->weight)) {
            *acts = (exi_swing){.example = example, .weight = s->weights[example]};
            exi_space_words(s->layer, point, acts->place, sizeof acts->place);
        }
        if (!less)
            continue;
        ex_weigher_evaluate(less, point, others);
        for (int k = 0; k < n - 1; k++) {
            const double change = s->weights[k < example ? k : k + 1] - others[k];
            if (fabs(change) > fabs(moves->weight)) {
                *moves = (exi_swing){.example = example, .weight = change};
                exi_space_words(s->layer, point, moves->place, sizeof moves->place);
            }
        }
    }
    ex_weigher_destroy(less);
}

/* Reports both for the layer's worst example. */
static void check_reach(weights_check *s) {
    const int n = s->layer->example_count;
    double *point = exi_array_allocate((size_t)s->layer->dimension, sizeof *point);
    double *others = exi_array_allocate((size_t)n, sizeof *others);
    double *work = exi_array_allocate((size_t)n + (size_t)ex_weigher_pseudo_count(s->weigher), sizeof *work);
    reach_found found = {.acts.weight = 0};
    s->c->failed = s->c->failed || !point || !others || !work;
    for (int k = 0; k < n && n <= LEFT_OUT_MAX && !s->c->failed; k++)
        measure_example(s, k, point, others, work, &found);
    if (!s->c->failed && found.acts.weight != 0)
        exi_check_add(s->c, EX_SEVERITY_NOTE, "influence", s->where, found.acts.weight,
                      "beyond its neighbours, '%s' still has a weight of %.2f, at %s",
                      s->layer->examples[found.acts.example].name, found.acts.weight, found.acts.place);
    if (!s->c->failed && found.moves.weight != 0)
        exi_check_add(s->c, EX_SEVERITY_NOTE, "added", s->where, found.moves.weight,
                      "having '%s' changes another weight beyond its neighbours by %.2f, at %s",
                      s->layer->examples[found.moves.example].name, found.moves.weight, found.moves.place);
    free(point);
    free(others);
    free(work);
}

void exi_check_weights(exi_checker *c, int layer, const char *where, const ex_weigher *weigher) {
    weights_check s = {.c = c, .index = layer, .layer = &c->view->layers[layer], .where = where, .weigher = weigher};
    if (!ex_weigher_get_info(weigher)->has_points || s.layer->driven)
        return;
    s.weights = exi_array_allocate((size_t)s.layer->example_count, sizeof *s.weights);
    c->failed = c->failed || !s.weights;
    if (!c->failed)
        check_extent(&s);
    if (!c->failed)
        check_range(&s);
    if (!c->failed)
        check_reach(&s);
    free(s.weights);
}

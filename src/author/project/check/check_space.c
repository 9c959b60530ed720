/*
 * Checks a space: points at or nearly at one place, the condition of the solve, a ridge that it needed, and weights far
 * out of bounds inside the range.
 */
#include "author/project/check/check.h"

#include "author/base/array.h"
#include "author/project/build/falloff.h"
#include "author/project/sculpt/sculpt.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Closer than this fraction of the typical distance between neighbours: probably a mistake. */
static const double nearly = 0.02;
/* Condition above which results in float suffer. */
static const double condition_limit = 1e8;

typedef struct space_check {
    exi_checker *c;
    int index;
    const ex_project_layer *layer;
    char where[64];
    ex_weigher *weigher;
    double *weights; /* [example_count] */
} space_check;

/* Makes a weigher of one point, which every space allows; it measures distances as the layer's own does. */
static ex_weigher *measuring_weigher(space_check *s) {
    ex_weigher_def def = s->c->weighs[s->index];
    ex_weigher *weigher = NULL;
    def.example_count = 1;
    def.pseudo_count = 0;
    if (ex_weigher_create(&def, NULL, &weigher, NULL) == EX_ERROR_MEMORY)
        s->c->failed = true;
    return weigher;
}

static const double *point_at(const ex_project_layer *layer, int point) {
    return point < layer->example_count ? layer->examples[point].at
                                        : layer->weigh.pseudos[point - layer->example_count].at;
}

static int compare_doubles(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

/* Reports every pair of points closer than `nearly` of the median distance to the nearest neighbour. */
static void check_near_points(space_check *s) {
    ex_weigher *w = measuring_weigher(s);
    int count = s->layer->example_count + s->layer->weigh.pseudo_count;
    double *nearest = malloc((size_t)count * sizeof *nearest);
    if (!w || !nearest) {
        s->c->failed = s->c->failed || !nearest;
        ex_weigher_destroy(w);
        free(nearest);
        return;
    }
    for (int i = 0; i < count; i++) {
        nearest[i] = INFINITY;
        for (int j = 0; j < count; j++)
            if (j != i) {
                const double d = ex_weigher_distance(w, point_at(s->layer, i), point_at(s->layer, j));
                nearest[i] = d < nearest[i] ? d : nearest[i];
            }
    }
    qsort(nearest, (size_t)count, sizeof *nearest, compare_doubles);
    double typical = nearest[count / 2], largest = 0;
    for (int i = 1; i < count; i++) {
        double d = ex_weigher_distance(w, point_at(s->layer, 0), point_at(s->layer, i));
        largest = d > largest ? d : largest;
    }
    for (int i = 0; i < count; i++)
        for (int j = i + 1; j < count; j++) {
            double d = ex_weigher_distance(w, point_at(s->layer, i), point_at(s->layer, j));
            exi_point_words first, second;
            if (d <= 1e-9 * largest)
                exi_check_add(s->c, EX_SEVERITY_ERROR, "same_place", s->where, d,
                              "%s and %s are at the same place: move or remove one of them",
                              exi_point_name(s->c->view, s->index, i, &first),
                              exi_point_name(s->c->view, s->index, j, &second));
            else if (count > 2 && d < nearly * typical)
                exi_check_add(s->c, EX_SEVERITY_WARNING, "close_examples", s->where, d / typical,
                              "%s and %s are nearly at the same place (%.2g of the usual distance): forms will change "
                              "abruptly between them",
                              exi_point_name(s->c->view, s->index, i, &first),
                              exi_point_name(s->c->view, s->index, j, &second), d / typical);
        }
    free(nearest);
    ex_weigher_destroy(w);
}

/* Reports a ridge that the weigher added, with the points that cause it and its cost. A measured layer also has its
 * sets of examples, which are what is solved for; a muted layer, or one that could not be measured, has none. */
static void check_ridge(space_check *s) {
    const ex_weigher *measured = s->c->measure.weighers ? s->c->measure.weighers[s->index] : NULL;
    const ex_weigher *weigher = measured ? measured : s->weigher;
    const ex_ridge ridge = ex_weigher_get_ridge(weigher);
    exi_point_words words;
    double cost = 0;
    int missed = 0;
    exi_check_add(s->c, EX_SEVERITY_NOTE, "condition", s->where, ridge.condition,
                  "the condition number of the solve is %.2g", ridge.condition);
    if (!(ridge.ridge > 0))
        return;
    if (!exi_ridge_cost(weigher, &cost, &missed)) {
        s->c->failed = true;
        return;
    }
    exi_check_text blame = {.size = 0};
    if (ridge.point >= 0)
        exi_check_append(&blame, "; the cause is %s, with a falloff of %.3g: lower it, or spread the poses",
                         exi_point_name(s->c->view, s->index, ridge.point, &words), ridge.falloff);
    exi_check_add(s->c, EX_SEVERITY_WARNING, "ridge", s->where, ridge.ridge,
                  "a ridge of %.2g %s, and '%s' is missed by %.2g %% of what it adds%s", ridge.ridge,
                  ridge.point >= 0 ? "had to be added, because the points can hardly be told apart" : "is added",
                  s->layer->examples[missed].name, 100 * cost, blame.text);
}

static void check_condition(space_check *s) {
    double condition = 1;
    const ex_weigher_info *info = ex_weigher_get_info(s->weigher);
    if (info->raises_ridge)
        check_ridge(s);
    if (info->raises_ridge || !info->has_condition)
        return;
    ex_result result = ex_weigher_condition(s->weigher, NULL, &condition, NULL);
    s->c->failed = s->c->failed || result == EX_ERROR_MEMORY;
    if (result != EX_OK)
        return;
    bool bad = condition > condition_limit;
    exi_check_add(s->c, bad ? EX_SEVERITY_WARNING : EX_SEVERITY_NOTE, "condition", s->where, condition,
                  bad ? "the condition number of the solve is %.2g: results lose digits; spread the examples, lower "
                        "\"radius\", or set a small \"ridge\""
                      : "the condition number of the solve is %.2g",
                  condition);
}

/* ---- samples of the space ---- */

/* Returns numbers in [0, 1) that fill space evenly: the fractional parts of multiples of powers of 1/g, g the root of
 * x^(d+1) = x + 1 (Roberts' R-sequence), for coordinate `coordinate` of `dimension`. */
static double even_number(int sample, int coordinate, int dimension) {
    double g = 2;
    for (int i = 0; i < 40; i++)
        g = pow(1 + g, 1.0 / (dimension + 1));
    double x = 0.5 + (sample + 1) * pow(1 / g, coordinate + 1);
    return x - floor(x);
}

static void sample_point(const ex_project_layer *layer, int sample, double *point) {
    int coordinate = 0;
    for (int i = 0; i < layer->axis_count; i++) {
        const ex_axis *axis = &layer->axes[i].axis;
        if (axis->kind == EX_AXIS_SCALAR) {
            *point++ = axis->min + (axis->max - axis->min) * even_number(sample, coordinate++, layer->dimension);
            continue;
        }
        /* Uniform rotation from three numbers (Shoemake). */
        double u = even_number(sample, coordinate, layer->dimension);
        double a = 6.283185307179586 * even_number(sample, coordinate + 1, layer->dimension);
        double b = 6.283185307179586 * even_number(sample, coordinate + 2, layer->dimension);
        coordinate += 4;
        *point++ = sqrt(1 - u) * sin(a);
        *point++ = sqrt(1 - u) * cos(a);
        *point++ = sqrt(u) * sin(b);
        *point++ = sqrt(u) * cos(b);
    }
}

static void describe_point(const ex_project_layer *layer, const double *point, char *text, size_t size) {
    size_t used = 0;
    for (int i = 0; i < layer->axis_count && used < size; i++) {
        const bool scalar = layer->axes[i].axis.kind == EX_AXIS_SCALAR;
        int length = scalar ? snprintf(text + used, size - used, "%s%s=%.3g", i ? " " : "", layer->axes[i].name, *point)
                            : snprintf(text + used, size - used, "%s%s=q:%.3g,%.3g,%.3g,%.3g", i ? " " : "",
                                       layer->axes[i].name, point[0], point[1], point[2], point[3]);
        used += (size_t)length;
        point += scalar ? 1 : 4;
    }
}

bool exi_worst_weight(const ex_project_layer *layer, const ex_weigher *weigher, int samples, exi_swing *swing) {
    const size_t n = (size_t)layer->example_count;
    double *point = exi_array_allocate((size_t)layer->dimension, sizeof *point);
    double *weights = exi_array_allocate(n, sizeof *weights), most = 0;
    const bool good = point && weights;
    *swing = (exi_swing){.weight = 0};
    for (int i = 0; good && i < samples && ex_weigher_kind_info(layer->weigh.kind)->has_points && !layer->driven; i++) {
        sample_point(layer, i, point);
        ex_weigher_evaluate(weigher, point, weights);
        for (size_t k = 0; k < n; k++) {
            const double beyond = weights[k] < 0 ? -weights[k] : weights[k] - 1;
            if (!(beyond > most))
                continue;
            most = beyond;
            swing->example = (int)k;
            swing->weight = weights[k];
            describe_point(layer, point, swing->place, sizeof swing->place);
        }
    }
    free(point);
    free(weights);
    return good;
}

/* Reports for each example the weight farthest outside [-0.5, 1.5] inside the range, and its place. */
static void check_weight_range(space_check *s) {
    if (!ex_weigher_kind_info(s->layer->weigh.kind)->has_points)
        return;
    const size_t n = (size_t)s->layer->example_count, dimension = (size_t)s->layer->dimension;
    double *point = malloc(dimension * sizeof *point), *worst = calloc(n, sizeof *worst);
    int *worst_sample = calloc(n, sizeof *worst_sample), outside = 0;
    if (!point || !worst || !worst_sample)
        s->c->failed = true;
    for (int i = 0; !s->c->failed && i < s->c->sample_count; i++) {
        bool wild = false;
        sample_point(s->layer, i, point);
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
        sample_point(s->layer, worst_sample[k], point);
        describe_point(s->layer, point, place, sizeof place);
        snprintf(where, sizeof where, "%s.examples[%d]", s->where, s->layer->examples[k].place);
        double weight = worst[k] < 0 ? worst[k] - 0.5 : worst[k] + 1.5;
        exi_check_add(s->c, EX_SEVERITY_WARNING, "weight_range", where, weight,
                      "the weight of '%s' reaches %.2f inside the range, at %s: an example or pseudo-example near "
                      "there would reduce it",
                      s->layer->examples[k].name, weight, place);
    }
    if (!s->c->failed && outside > 0)
        exi_check_add(s->c, EX_SEVERITY_NOTE, "weight_range", s->where, (double)outside / s->c->sample_count,
                      "weights leave [-0.5, 1.5] in %.1f %% of the range", 100.0 * outside / s->c->sample_count);
    free(point);
    free(worst);
    free(worst_sample);
}

void exi_check_space(exi_checker *c, int layer, const exi_guessed *guessed) {
    space_check s = {.c = c, .index = layer, .layer = &c->view->layers[layer]};
    snprintf(s.where, sizeof s.where, "layers[%d]", layer);
    int before = c->check->error_count;
    if (ex_weigher_kind_info(s.layer->weigh.kind)->has_points)
        check_near_points(&s);
    ex_error error = {0};
    if (ex_weigher_create(&c->weighs[layer], NULL, &s.weigher, &error) != EX_OK) {
        if (c->check->error_count == before)
            exi_check_failure(c, "unsolvable", s.where, &error);
        return;
    }
    s.weights = malloc((size_t)s.layer->example_count * sizeof *s.weights);
    if (s.weights) {
        check_condition(&s);
        check_weight_range(&s);
        if (guessed)
            exi_check_guess(c, layer, s.weigher, guessed);
    } else {
        c->failed = true;
    }
    free(s.weights);
    ex_weigher_destroy(s.weigher);
}

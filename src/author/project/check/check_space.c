/*
 * Checks a space: points at or nearly at one place, the condition of the solve, and a ridge that it needed.
 */
#include "author/project/check/check.h"

#include "author/project/build/falloff.h"

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
    check_condition(&s);
    exi_check_weights(c, layer, s.where, s.weigher);
    if (guessed)
        exi_check_guess(c, layer, s.weigher, guessed);
    ex_weigher_destroy(s.weigher);
}

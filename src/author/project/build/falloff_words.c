/*
 * Names of a gaussian layer's points, and the cost of a ridge. With a ridge, weights are no longer exact at the points:
 * an example has less than 1 at its own place, and is not 0 at the others'.
 */
#include "author/project/build/falloff.h"

#include "author/base/array.h"
#include "runtime/base/text.h"
#include "runtime/weigh/weigher.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- the cost of a ridge ---- */

/* Returns the largest error of the weights of the set's examples: 1 is expected at example `own` and 0 elsewhere. A set
 * without it has no error there. */
static double miss_of(const uint32_t *set, int count, int own, const double *weights) {
    double worst = 0;
    if (set && !exi_set_has(set, own))
        return 0;
    for (int k = 0; k < count; k++) {
        if (set && !exi_set_has(set, k))
            continue;
        const double off = fabs(*weights++ - (k == own));
        worst = off > worst ? off : worst;
    }
    return worst;
}

static int members(const uint32_t *set, int count) {
    int sum = 0;
    for (int k = 0; k < count; k++)
        sum += exi_set_has(set, k);
    return sum;
}

bool exi_ridge_cost(const ex_weigher *weigher, double *cost, int *example) {
    const int count = ex_weigher_example_count(weigher), set_weights = ex_weigher_set_weight_count(weigher);
    const size_t words = exi_set_words(count);
    ex_axis *axes = exi_array_allocate((size_t)ex_weigher_axis_count(weigher), sizeof *axes);
    ex_pseudo *pseudos = exi_array_allocate((size_t)ex_weigher_pseudo_count(weigher), sizeof *pseudos);
    double *weights = exi_array_allocate((size_t)count, sizeof *weights);
    double *of_sets = exi_array_allocate((size_t)set_weights, sizeof *of_sets);
    const bool good = axes && pseudos && weights && of_sets;
    ex_weigher_def def;
    *cost = 0;
    *example = 0;
    if (good)
        ex_weigher_describe(weigher, &def, axes, pseudos);
    for (int k = 0; good && k < count; k++) {
        ex_weigher_evaluate_sets(weigher, ex_weigher_point(weigher, k), weights, of_sets);
        double worst = set_weights > 0 ? 0 : miss_of(NULL, count, k, weights);
        const double *at = of_sets;
        for (int i = 0; set_weights > 0 && i < def.set_count; i++) {
            const uint32_t *set = def.sets + (size_t)i * words;
            const double off = miss_of(set, count, k, at);
            worst = off > worst ? off : worst;
            at += members(set, count);
        }
        *example = worst > *cost ? k : *example;
        *cost = worst > *cost ? worst : *cost;
    }
    free(axes);
    free(pseudos);
    free(weights);
    free(of_sets);
    return good;
}

/* ---- names ---- */

const char *exi_point_name(const ex_project_view *view, int layer, int point, exi_point_words *text) {
    const ex_project_layer *own = &view->layers[layer];
    const int pseudo = point - own->example_count;
    if (pseudo < 0) {
        snprintf(text->text, sizeof text->text, "example '%s'", own->examples[point].name);
        return text->text;
    }
    snprintf(text->text, sizeof text->text, "pseudo-example %d", pseudo + 1);
    if (pseudo < own->pseudo_count)
        return text->text;
    snprintf(text->text, sizeof text->text, "the zero at rest");
    for (int l = 0; l < layer; l++)
        for (int k = 0; k < view->layers[l].example_count; k++) {
            const ex_project_example *earlier = &view->layers[l].examples[k];
            if (earlier->points[layer] == own->weigh.pseudos[pseudo].at)
                snprintf(text->text, sizeof text->text, "the zero at the pose of '%.*s' of layer '%.*s'",
                         exi_text_cut(earlier->name, 100), earlier->name, exi_text_cut(view->layers[l].name, 100),
                         view->layers[l].name);
        }
    return text->text;
}

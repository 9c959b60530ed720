/*
 * In-betweens of several forms. A mixture with weights x_k behaves as the end of an in-between of two forms: every
 * triangle's rotation vector is the sum of x_k w_k, its stretch I + sum of x_k (S_k - I), and links have the blended
 * difference of their ends. So rigid forms and their stretch are those of an in-between at time 1.
 */
#include "author/trajectory/betweens.h"

#include "author/base/array.h"
#include "runtime/base/result.h"

#include <stdlib.h>
#include <string.h>

/* ---- one mixture ---- */

bool exi_mixed_create(const ex_betweens *betweens, exi_mixed *mixed) {
    const ex_between *first = betweens->first;
    const size_t n = 3 * (size_t)first->vertex_count, m = (size_t)first->triangle_count;
    ex_between *b = &mixed->between;
    *b = *first;
    b->borrowed = true;
    b->aligned = exi_array_allocate(n, sizeof *b->aligned);
    b->turns = exi_array_allocate(3 * m, sizeof *b->turns);
    b->stretches = exi_array_allocate(6 * m, sizeof *b->stretches);
    b->strains = exi_array_allocate(3 * m, sizeof *b->strains);
    b->links = exi_array_copy(first->links, (size_t)first->link_count, sizeof *b->links);
    return b->aligned && b->turns && b->stretches && b->strains && b->links;
}

void exi_mixed_release(exi_mixed *mixed) {
    ex_between *b = &mixed->between;
    free(b->aligned);
    free(b->turns);
    free(b->stretches);
    free(b->strains);
    free(b->links);
}

/* ---- what local steps need ---- */

void exi_mixed_set_links(const ex_betweens *betweens, const double *weights, exi_mixed *mixed) {
    ex_between *b = &mixed->between;
    for (int i = 0; i < b->link_count; i++)
        memcpy(b->links[i].end, betweens->first->links[i].start, sizeof b->links[i].end);
    for (int k = 0; k < betweens->example_count; k++) {
        const ex_between *from = betweens->items[k];
        for (int l = 0; from && weights[k] != 0 && l < b->link_count; l++)
            for (int i = 0; i < 3; i++)
                b->links[l].end[i] += weights[k] * (from->links[l].end[i] - from->links[l].start[i]);
    }
}

static void begin_steps(ex_between *b) {
    const size_t m = (size_t)b->triangle_count;
    memset(b->turns, 0, 3 * m * sizeof *b->turns);
    for (size_t i = 0; i < 3 * m; i++)
        b->strains[i] = i % 3 != 1;
}

static void add_steps(const ex_between *from, double x, ex_between *b) {
    const size_t m = (size_t)b->triangle_count;
    for (size_t i = 0; i < 3 * m; i++) {
        b->turns[i] += x * from->turns[i];
        b->strains[i] += x * (from->strains[i] - (i % 3 != 1));
    }
}

void exi_mixed_set_steps(const ex_betweens *betweens, const double *weights, exi_mixed *mixed) {
    begin_steps(&mixed->between);
    for (int k = 0; k < betweens->example_count; k++)
        if (betweens->items[k] && weights[k] != 0)
            add_steps(betweens->items[k], weights[k], &mixed->between);
    exi_mixed_set_links(betweens, weights, mixed);
}

/* ---- all of it ---- */

static void begin(ex_between *b) {
    memcpy(b->aligned, b->start, 3 * (size_t)b->vertex_count * sizeof *b->aligned);
    for (size_t i = 0; i < 6 * (size_t)b->triangle_count; i++)
        b->stretches[i] = i % 6 < 3;
    b->screw = (ex_screw){{0}, {0}};
}

static void add(const ex_between *from, double x, ex_between *b) {
    for (size_t i = 0; i < 3 * (size_t)b->vertex_count; i++)
        b->aligned[i] += x * (from->aligned[i] - from->start[i]);
    for (size_t i = 0; i < 6 * (size_t)b->triangle_count; i++)
        b->stretches[i] += x * (from->stretches[i] - (i % 6 < 3));
    for (int i = 0; i < 3; i++) {
        b->screw.turn[i] += x * from->screw.turn[i];
        b->screw.move[i] += x * from->screw.move[i];
    }
}

void exi_mixed_set(const ex_betweens *betweens, const double *weights, exi_mixed *mixed) {
    exi_mixed_set_steps(betweens, weights, mixed);
    begin(&mixed->between);
    for (int k = 0; k < betweens->example_count; k++)
        if (betweens->items[k] && weights[k] != 0)
            add(betweens->items[k], weights[k], &mixed->between);
}

/* ---- creating ---- */

static ex_result make_item(const ex_betweens_def *def, int example, const ex_between *like, ex_between **item,
                           ex_error *error) {
    const ex_between_def one = {
        .vertex_count = def->vertex_count,
        .triangle_count = def->triangle_count,
        .triangles = def->triangles,
        .start = def->reference,
        .end = def->examples[example],
        .iterations = def->iterations,
        .tasks = def->tasks,
        .progress = def->progress,
    };
    const ex_result result = like ? exi_between_create_like(&one, like, item, error)
                                  : exi_between_create_among(&one, def->examples, def->example_count, item, error);
    return ex_error_within(error, result, "%s", def->names && def->names[example] ? def->names[example] : "an example");
}

ex_result ex_betweens_create(const ex_betweens_def *def, ex_betweens **betweens, ex_error *error) {
    if (!def || !betweens || !def->examples || def->example_count < 1)
        return exi_misuse_error(error, __func__, "no examples, or no pointer for the in-betweens");
    *betweens = NULL;
    ex_betweens *made = calloc(1, sizeof *made);
    if (made)
        made->items = calloc((size_t)def->example_count, sizeof(ex_between *));
    ex_result result = made && made->items ? EX_OK : ex_error_memory(error, "in-betweens", sizeof *made);
    if (result == EX_OK)
        made->example_count = def->example_count;
    for (int k = 0; result == EX_OK && k < def->example_count; k++) {
        if (!def->examples[k])
            continue;
        result = make_item(def, k, made->first, &made->items[k], error);
        made->first = made->first ? made->first : made->items[k];
    }
    if (result == EX_OK && !made->first)
        result = ex_error_set(error, EX_ERROR_ARGUMENT, "in-betweens need an example besides the reference");
    if (result != EX_OK) {
        ex_betweens_destroy(made);
        return result;
    }
    *betweens = made;
    return EX_OK;
}

void ex_betweens_destroy(ex_betweens *betweens) {
    if (!betweens)
        return;
    for (int k = betweens->example_count; k-- > 0;) /* the first one last: it owns the factor */
        ex_between_destroy(betweens->items[k]);
    free(betweens->items);
    free(betweens);
}

/* ---- forms ---- */

static ex_result open_mixed(const ex_betweens *betweens, const double *weights, exi_mixed *mixed, ex_error *error) {
    if (!exi_mixed_create(betweens, mixed))
        return ex_error_memory(error, "a mixture", 20 * (size_t)betweens->first->triangle_count * sizeof(double));
    exi_mixed_set(betweens, weights, mixed);
    return EX_OK;
}

ex_result ex_betweens_form(const ex_betweens *betweens, ex_between_method method, const double *weights,
                           double *positions, ex_error *error) {
    if (!betweens || !weights || !positions || method < 0 || method >= EX_BETWEEN_POLYNOMIAL)
        return exi_misuse_error(error, __func__, "no in-betweens, weights or positions, or a method for two forms");
    exi_mixed mixed;
    ex_result result = open_mixed(betweens, weights, &mixed, error);
    const ex_between *b = &mixed.between;
    double *work = result == EX_OK ? exi_array_allocate(exi_between_work_size(b), sizeof *work) : NULL;
    if (result == EX_OK && !work)
        result = ex_error_memory(error, "a mixture", exi_between_work_size(b) * sizeof *work);
    if (result == EX_OK) {
        if (method == EX_BETWEEN_POISSON)
            exi_between_poisson(b, 1, positions, work);
        else if (method == EX_BETWEEN_RIGID)
            exi_between_rigid(b, 1, b->iterations, positions, work);
        else
            memcpy(positions, b->aligned, 3 * (size_t)b->vertex_count * sizeof *positions);
        exi_between_move(b, 1, positions);
    }
    free(work);
    exi_mixed_release(&mixed);
    return result;
}

ex_result ex_betweens_stretch(const ex_betweens *betweens, const double *weights, const double *positions,
                              ex_stretch *stretch, double *values, ex_error *error) {
    if (!betweens || !weights)
        return exi_misuse_error(error, __func__, "no in-betweens or no weights");
    exi_mixed mixed;
    ex_result result = open_mixed(betweens, weights, &mixed, error);
    if (result == EX_OK)
        result = ex_between_stretch(&mixed.between, 1, positions, stretch, values, error);
    exi_mixed_release(&mixed);
    return result;
}

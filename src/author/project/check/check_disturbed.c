/*
 * Checks how layers affect each other. Later layers add to the sculpts of earlier ones. If one does so at an earlier
 * example's pose, all layers and the skin are evaluated there and compared with the sculpt. A layer of offsets should
 * be zero at rest.
 */
#include "author/base/array.h"
#include "author/project/domains/project_domain.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Largest contribution of a layer, in sizes of the mesh, that does not show. */
static const double disturbance_limit = 1e-4;
/* Points of a space closer than this, in ranges, coincide. */
static const double at_one_place = 1e-6;
/* More sets of examples than this, each with its own solve and weights, are worth a note. */
enum { SETS_MOST = 64 };

/* Returns the longest of count vectors, among vertices that the mask does not leave out; -1 if all are 0. mask may be
 * NULL. */
static int find_longest(const double *vectors, size_t count, const float *mask, double *length) {
    double largest_sq = 0;
    int longest = -1;
    for (size_t v = 0; v < count; v++) {
        const double *d = vectors + 3 * v, sq = d[0] * d[0] + d[1] * d[1] + d[2] * d[2];
        if (sq <= largest_sq || (mask && mask[v] == 0))
            continue; /* the earlier layer did not sculpt masked vertices */
        largest_sq = sq;
        longest = (int)v;
    }
    *length = sqrt(largest_sq);
    return longest;
}

/* ---- sculpts against results ---- */

/* Evaluates all layers where the example's sculpt was made: at its pose, or at rest. A sculpt that its file accounts
 * for is at its pose. positions [vertex_count][3]. */
static bool evaluate(exi_checker *c, int layer, const ex_project_example *example, float *positions) {
    exi_measure *m = &c->measure;
    exi_posing posing = {0};
    const ex_project_layer *source = &c->view->layers[layer];
    const bool posed = exi_measure_is_posed(m, source) || ((source->driven || example->sculpt) && exi_measure_moves(m));
    if (!exi_measure_layers(m, c->view->layer_count, example))
        return false;
    const bool at_rest = source->driven ? !exi_measure_unposes(source, example)
                                        : exi_project_domains[source->domain]->targets && !source->unposed;
    if (at_rest && !example->sculpt) {
        for (size_t i = 0; i < 3 * (size_t)m->mesh->vertex_count; i++)
            positions[i] = (float)m->base[i];
        return true;
    }
    const bool done = (!posed || exi_posing_open(&posing, m, example, NULL)) &&
                      exi_posing_apply(posed ? &posing : NULL, m, positions);
    exi_posing_close(&posing);
    return done;
}

/* Returns the vertex that is farthest from its sculpted position, and the distance; -1 if that is unknown. */
static int find_missed(exi_checker *c, int layer, int k, double *distance) {
    const ex_project_example *example = &c->view->layers[layer].examples[k];
    const size_t vertices = (size_t)c->mesh->vertex_count;
    ex_mesh *form = NULL;
    ex_error error = {0};
    float *positions = exi_array_allocate(3 * vertices, sizeof *positions);
    double *off = exi_array_allocate(3 * vertices, sizeof *off);
    int vertex = -1;
    c->failed = c->failed || !positions || !off || !evaluate(c, layer, example, positions);
    const ex_result result =
        c->failed ? EX_OK
                  : exi_project_read_mesh(c->view, example->sculpt ? example->sculpt : example->mesh, &form, &error);
    c->failed = c->failed || result == EX_ERROR_MEMORY;
    if (form && form->vertex_count == c->mesh->vertex_count) {
        for (size_t i = 0; i < 3 * vertices; i++)
            off[i] = (double)positions[i] - form->positions[i];
        vertex = find_longest(off, vertices, c->masks[layer], distance);
    }
    ex_mesh_destroy(form);
    free(positions);
    free(off);
    return vertex;
}

/* Returns the name of the layer's example at that point of its space, or NULL. */
static const char *name_at(const exi_checker *c, int layer, const double *point) {
    const ex_project_layer *source = &c->view->layers[layer];
    for (int k = 0; k < source->example_count; k++)
        if (source->examples[k].at &&
            ex_weigher_distance(c->measure.weighers[layer], point, source->examples[k].at) <= at_one_place)
            return source->examples[k].name;
    return NULL;
}

/* Suggests a remedy against a layer that disturbs. */
static void advise(const exi_checker *c, int later, const double *point, exi_check_text *text) {
    const ex_project_layer *source = &c->view->layers[later];
    const char *there = name_at(c, later, point);
    if (exi_project_domain_of(source)->targets || !ex_weigher_kind_info(source->weigh.kind)->has_points)
        return;
    if (there)
        exi_check_append(text, ": in its space, '%s' is at the same place; an axis that tells them apart is missing",
                         there);
    else if (!source->offsets.protect)
        exi_check_append(text, ": \"protect\": true in that layer would prevent this");
}

/* Returns the later layer that moves the sculpt most, and how far; -1 if none does. vectors [vertex_count][3] is
 * scratch. */
static int find_disturber(exi_checker *c, int layer, const ex_project_example *at, double *vectors, double *most) {
    const size_t vertices = (size_t)c->mesh->vertex_count;
    int worst = -1;
    *most = 0;
    for (int later = layer + 1; later < c->view->layer_count; later++) {
        double moved = 0;
        if (!exi_measure_counts(&c->measure, later))
            continue;
        memset(vectors, 0, 3 * vertices * sizeof *vectors);
        c->failed = !exi_measure_add_up(&c->measure, later, at, vectors) || c->failed;
        find_longest(vectors, vertices, c->masks[layer], &moved);
        worst = moved > *most ? later : worst;
        *most = moved > *most ? moved : *most;
    }
    return worst;
}

static void check_sculpt(exi_checker *c, int layer, int k, double *vectors) {
    const ex_project_example *example = &c->view->layers[layer].examples[k];
    double most = 0, off = 0;
    char where[64];
    exi_check_text advice = {.size = 0};
    if (example->reference)
        return; /* it is the mesh, whatever earlier layers do */
    const int later = find_disturber(c, layer, example, vectors, &most);
    if (later < 0 || most / c->size <= disturbance_limit)
        return;
    const int vertex = find_missed(c, layer, k, &off);
    const double size = c->size * (exi_measure_is_posed(&c->measure, &c->view->layers[layer]) ? c->measure.scale : 1);
    if (vertex < 0 || off / size <= disturbance_limit)
        return;
    advise(c, later, example->points[later], &advice);
    snprintf(where, sizeof where, "layers[%d].examples[%d]", layer, example->place);
    exi_check_add(
        c, EX_SEVERITY_WARNING, "disturbed", where, off / size,
        "layer '%s' moves the form of '%s' by up to %.2g m, %.2g %% of the mesh's size (vertex %d), at its own "
        "pose%s",
        c->view->layers[later].name, example->name, off, 100 * off / size, vertex, advice.text);
}

/* ---- joints ---- */

static void check_bones(exi_checker *c, int layer, int k, int later) {
    const ex_project_example *example = &c->view->layers[layer].examples[k];
    exi_measure *m = &c->measure;
    double off = 0;
    char where[64];
    if (!m->weighers[later] || !m->shifts[later])
        return;
    memset(m->shift, 0, 3 * m->joint_count * sizeof *m->shift);
    ex_weigher_evaluate(m->weighers[later], example->points[later], m->weights);
    for (int e = 0; e < c->view->layers[later].example_count; e++)
        if (m->shifts[later][e])
            exi_measure_sum(m->shift, 3 * m->joint_count, m->weights[e], m->shifts[later][e]);
    const int joint = find_longest(m->shift, m->joint_count, NULL, &off);
    snprintf(where, sizeof where, "layers[%d].examples[%d]", layer, example->place);
    if (joint >= 0 && off / c->size > disturbance_limit)
        exi_check_add(c, EX_SEVERITY_WARNING, "disturbed", where, off / c->size,
                      "layer '%s' moves the bones of '%s' by up to %.2g %% of the mesh's size (joint '%s') at its own "
                      "pose",
                      c->view->layers[later].name, example->name, 100 * off / c->size,
                      ex_skeleton_name(c->skeleton, joint));
}

/* ---- layers of offsets ---- */

static void check_rest(exi_checker *c, int layer, double *vectors) {
    const ex_project_layer *source = &c->view->layers[layer];
    const size_t vertices = (size_t)c->mesh->vertex_count;
    double off = 0;
    char where[64];
    snprintf(where, sizeof where, "layers[%d]", layer);
    memset(vectors, 0, 3 * vertices * sizeof *vectors);
    c->failed = !exi_measure_add_up(&c->measure, layer, NULL, vectors) || c->failed;
    const int vertex = find_longest(vectors, vertices, NULL, &off);
    if (vertex < 0 || off / c->size <= disturbance_limit || source->offsets.rest ||
        !ex_weigher_kind_info(source->weigh.kind)->has_points)
        return; /* with a zero, or an example in its place, this is intended */
    exi_check_add(c, EX_SEVERITY_WARNING, "at_rest", where, off / c->size,
                  "'%s' moves vertex %d (counting from 0) by %.2g m, %.2g %% of the mesh's size, at rest: \"rest\": "
                  "true would hold it there",
                  source->name, vertex, off * c->measure.scale, 100 * off / c->size);
}

static void check_sets(exi_checker *c, int layer) {
    const int count = c->measure.moved[layer].sets.set_count;
    char where[64];
    snprintf(where, sizeof where, "layers[%d]", layer);
    if (c->measure.moved[layer].weights && count > SETS_MOST)
        exi_check_add(c, EX_SEVERITY_WARNING, "sets", where, count,
                      "'%s' has %d sets of examples that move different vertices, and each set is weighed separately "
                      "at every frame: a larger \"tolerance\" or \"participation\": \"layer\" would be faster",
                      c->view->layers[layer].name, count);
}

void exi_check_disturbed(exi_checker *c) {
    if (!c->mesh || c->failed)
        return;
    double *vectors = exi_array_allocate((size_t)c->mesh->vertex_count, 3 * sizeof *vectors);
    c->failed = !vectors;
    for (int l = 0; !c->failed && l < c->view->layer_count; l++) {
        const ex_project_layer *layer = &c->view->layers[l];
        if (layer->domain == EX_DOMAIN_OFFSETS && c->measure.weighers[l]) {
            check_rest(c, l, vectors);
            check_sets(c, l);
        }
        /* Forms of a layer that follows motion have no pose of their own. */
        const bool forms = exi_project_domain_of(layer)->masked == EXI_MASKED_MESH && !layer->predictor;
        for (int k = 0; forms && !layer->muted && k < layer->example_count && !c->failed; k++) {
            check_sculpt(c, l, k, vectors);
            for (int later = l + 1; later < c->view->layer_count && !c->failed; later++)
                check_bones(c, l, k, later);
        }
    }
    free(vectors);
}

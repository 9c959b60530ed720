/*
 * Measuring examples (DESIGN, "Layers"): d_lk = mask_l (x_lk - base_lk), where base_lk = mesh + sum over layers m
 * before l of sum over j of w_mj d_mj, at the whole pose of example lk. base is rounded to float, so that an unpacked
 * example, base + d in double, gives d again to the bit.
 */
#include "author/project/measure.h"

#include "author/formats/array.h"
#include "runtime/base/result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

ex_result exi_measure_open(exi_measure *m, const ex_project_view *view, const ex_mesh *mesh, ex_error *error) {
    size_t layers = (size_t)view->layer_count + 1, count = 3 * (size_t)mesh->vertex_count, most = 1;
    for (int l = 0; l < view->layer_count; l++)
        most = (size_t)view->layers[l].example_count > most ? (size_t)view->layers[l].example_count : most;
    *m = (exi_measure){.view = view,
                       .mesh = mesh,
                       .weighers = calloc(layers, sizeof *m->weighers),
                       .deltas = calloc(layers, sizeof *m->deltas),
                       .base = exi_array_allocate(count, sizeof *m->base),
                       .weights = exi_array_allocate(most, sizeof *m->weights)};
    if (m->weighers && m->deltas && m->base && m->weights)
        return EX_OK;
    exi_measure_close(m);
    return exi_error_memory(error, "measuring the examples", count * sizeof(double));
}

void exi_measure_close(exi_measure *m) {
    for (int l = 0; m->weighers && l < m->view->layer_count; l++)
        ex_weigher_destroy(m->weighers[l]);
    free(m->weighers);
    free(m->deltas);
    free(m->base);
    free(m->weights);
    *m = (exi_measure){0};
}

ex_result exi_measure_add_layer(exi_measure *m, int layer, const float *const *deltas, ex_error *error) {
    m->deltas[layer] = deltas;
    return ex_weigher_create(&m->view->layers[layer].weigh, NULL, &m->weighers[layer], error);
}

void exi_measure_sum(double *sum, size_t count, double weight, const float *delta) {
    if (fabs(weight) < 1e-12)
        return;
    for (size_t i = 0; i < count; i++)
        sum[i] += weight * (double)delta[i];
}

const double *exi_measure_base(exi_measure *m, int layer, int example) {
    const size_t count = 3 * (size_t)m->mesh->vertex_count;
    const double *const *points = m->view->layers[layer].examples[example].points;
    memcpy(m->base, m->mesh->positions, count * sizeof *m->base);
    for (int l = 0; l < layer; l++) {
        if (!m->weighers[l])
            continue;
        ex_weigher_evaluate(m->weighers[l], points[l], m->weights);
        for (int k = 0; k < m->view->layers[l].example_count; k++)
            exi_measure_sum(m->base, count, m->weights[k], m->deltas[l][k]);
    }
    for (size_t i = 0; layer > 0 && i < count; i++)
        m->base[i] = (double)(float)m->base[i];
    return m->base;
}

/* A masked vertex is first placed where the mask leaves it, in double: then a difference is always one between two
 * positions in double, and unpacking, which writes positions, loses none of it. + 0 turns -0, which no pair of
 * positions has as its difference, into 0. A difference that leaves the float where it was is none: digits of the file
 * that a float does not keep would otherwise move every vertex of an example that equals the mesh. */
float *exi_measure_delta(const double *base, const ex_mesh *example, const float *mask) {
    size_t count = 3 * (size_t)example->vertex_count;
    float *delta = exi_array_allocate(count, sizeof *delta);
    for (size_t i = 0; delta && i < count; i++) {
        const double from = base[i], to = example->positions[i];
        const double masked = mask ? from + (double)mask[i / 3] * (to - from) : to;
        delta[i] = (float)(masked - from) + 0.0F;
        if ((float)(from + (double)delta[i]) == (float)from)
            delta[i] = 0;
    }
    return delta;
}

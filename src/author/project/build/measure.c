/*
 * Measures examples (docs/design.md, "Layers"): d_lk = mask_l (U(x_lk) - base_lk), where base_lk = mesh + sum over
 * layers m before l of sum over j of w_mj d_mj, at the whole pose of example lk, and U un-poses if the layer says so.
 * Layers in the frame `skinned` are summed separately, since they are added after posing. A layer of trajectories adds
 * its paths at the weights; its mask is not in d. base is rounded to float, so that an unpacked example, base + d in
 * double, gives d again to the bit. Joints are measured in the same way, without mask or U.
 */
#include "author/project/build/measure.h"

#include "author/base/array.h"
#include "author/project/skeleton/skeleton.h"
#include "runtime/base/result.h"
#include "runtime/weigh/weigher.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* True if any layer is of offsets; with `skinned`, if any of them is added after skinning. */
static bool has_offsets(const ex_project_view *view, bool skinned) {
    for (int l = 0; l < view->layer_count; l++)
        if (view->layers[l].domain == EX_DOMAIN_OFFSETS &&
            (!skinned || view->layers[l].offsets.frame == EX_OFFSET_FRAME_SKINNED))
            return true;
    return false;
}

static double largest_coordinate(const ex_mesh *mesh) {
    double largest = 0;
    for (size_t i = 0; i < 3 * (size_t)mesh->vertex_count; i++)
        largest = fabs(mesh->positions[i]) > largest ? fabs(mesh->positions[i]) : largest;
    return largest;
}

ex_result exi_measure_open(exi_measure *m, const ex_project_view *view, const ex_mesh *mesh,
                           const ex_skeleton *skeleton, const ex_skin *skin, const exi_project_driver *driver,
                           ex_error *error) {
    const bool carried = !skin && driver && driver->carry;
    size_t layers = (size_t)view->layer_count + 1, count = 3 * (size_t)mesh->vertex_count, most = 1;
    size_t joints = skeleton ? (size_t)ex_skeleton_joint_count(skeleton) : 0;
    const bool turned = has_offsets(view, true);
    for (int l = 0; l < view->layer_count; l++)
        most = (size_t)view->layers[l].example_count > most ? (size_t)view->layers[l].example_count : most;
    *m = (exi_measure){.view = view,
                       .mesh = mesh,
                       .skeleton = skeleton,
                       .skin = carried ? driver->carry : skin,
                       .driver = driver,
                       .carried = carried,
                       .joint_count = joints,
                       .weighers = calloc(layers, sizeof *m->weighers),
                       .deltas = calloc(layers, sizeof *m->deltas),
                       .shifts = calloc(layers, sizeof *m->shifts),
                       .offsets = calloc(layers, sizeof *m->offsets),
                       .moved = calloc(layers, sizeof *m->moved),
                       .paths = calloc(layers, sizeof *m->paths),
                       .masks = calloc(layers, sizeof *m->masks),
                       .weighed = calloc(layers, sizeof *m->weighed),
                       .weights = exi_array_allocate(most, sizeof *m->weights),
                       .centres = exi_array_allocate(3 * joints, sizeof *m->centres),
                       .size = ex_mesh_size(mesh),
                       .scale = skin && !carried ? exi_skeleton_scale(skeleton) : 1,
                       .least = ldexp(largest_coordinate(mesh), -26),
                       .base = exi_array_allocate(count, sizeof *m->base),
                       .turned = turned ? exi_array_allocate(count, sizeof *m->turned) : NULL,
                       .joints = exi_array_allocate(3 * joints, sizeof *m->joints),
                       .shift = exi_array_allocate(3 * joints, sizeof *m->shift)};
    if (m->weighers && m->deltas && m->shifts && m->offsets && m->moved && m->paths && m->masks && m->weighed &&
        m->weights && m->centres && m->base && (m->turned || !turned) && m->joints && m->shift &&
        (!skeleton || exi_skeleton_centres(skeleton, m->centres)) &&
        (!has_offsets(view, false) || exi_measure_find_firsts(m)))
        return EX_OK;
    exi_measure_close(m);
    return ex_error_memory(error, "measuring the examples", count * sizeof(double));
}

void exi_measure_close(exi_measure *m) {
    for (int l = 0; m->weighers && l < m->view->layer_count; l++)
        ex_weigher_destroy(m->weighers[l]);
    for (int l = 0; m->moved && l < m->view->layer_count; l++) {
        exi_incidence_close(&m->moved[l].sets);
        free(m->moved[l].weights);
    }
    for (int l = 0; m->weighed && l < m->view->layer_count; l++)
        ex_rig_destroy(m->weighed[l].own);
    free(m->weighed);
    free(m->weighers);
    free(m->deltas);
    free(m->shifts);
    free(m->offsets);
    free(m->moved);
    free(m->paths);
    free(m->masks);
    free(m->weights);
    free(m->centres);
    free(m->firsts);
    free(m->base);
    free(m->turned);
    free(m->joints);
    free(m->shift);
    *m = (exi_measure){0};
}

/* ---- layers that count ---- */

ex_result exi_measure_add_layer(exi_measure *m, int layer, const ex_weigher_def *weigh, const float *const *deltas,
                                const float *const *shifts, ex_error *error) {
    if (m->view->layers[layer].muted)
        return EX_OK;
    m->deltas[layer] = deltas;
    m->shifts[layer] = shifts;
    return ex_weigher_create(weigh, NULL, &m->weighers[layer], error);
}

/* Finds the layer's sets, as the rig will have them, and makes its weigher with them. */
static ex_result weigh_moved(exi_measure *m, int layer, const ex_weigher_def *weigh, const ex_offsets *offsets,
                             ex_error *error) {
    const exi_offset_layer source = {.examples = offsets, .example_count = weigh->example_count, .moved = true};
    exi_moved *moved = &m->moved[layer];
    ex_weigher_def def = *weigh;
    ex_result result = exi_incidence_open(&source, m->mesh->vertex_count, NULL, &moved->sets, error);
    if (result != EX_OK)
        return result;
    const size_t count = (size_t)moved->sets.set_count, words = exi_set_words(weigh->example_count);
    uint32_t *bits = exi_array_allocate(count * words, sizeof *bits);
    moved->weights = exi_array_allocate(count > 0 ? moved->sets.weight_of[count] : 0, sizeof *moved->weights);
    if (bits && moved->weights) {
        exi_incidence_bits(&moved->sets, weigh->example_count, bits);
        def.sets = count > 0 ? bits : NULL;
        def.set_count = (int)count;
        result = ex_weigher_create(&def, NULL, &m->weighers[layer], error);
    } else {
        result = ex_error_memory(error, "a layer", count * words * sizeof *bits);
    }
    free(bits);
    return result;
}

ex_result exi_measure_add_offsets(exi_measure *m, int layer, const ex_weigher_def *weigh, const ex_offsets *offsets,
                                  ex_error *error) {
    if (m->view->layers[layer].muted)
        return EX_OK;
    m->offsets[layer] = offsets;
    return m->view->layers[layer].offsets.participation == EX_PARTICIPATION_MOVED
               ? weigh_moved(m, layer, weigh, offsets, error)
               : ex_weigher_create(weigh, NULL, &m->weighers[layer], error);
}

ex_result exi_measure_add_trajectories(exi_measure *m, int layer, const ex_weigher_def *weigh,
                                       const exi_project_trajectories *paths, const float *mask,
                                       const float *const *shifts, ex_error *error) {
    if (m->view->layers[layer].muted)
        return EX_OK;
    m->paths[layer] = paths;
    m->masks[layer] = mask;
    m->shifts[layer] = shifts;
    return ex_weigher_create(weigh, NULL, &m->weighers[layer], error);
}

/* ---- their contribution at a pose ---- */

void exi_measure_sum(double *sum, size_t count, double weight, const float *delta) {
    if (fabs(weight) < 1e-12)
        return;
    for (size_t i = 0; i < count; i++)
        sum[i] += weight * (double)delta[i];
}

static void add_offset(double *sum, double weight, const ex_offsets *offsets, size_t i) {
    for (size_t c = 0; c < 3; c++)
        sum[3 * (size_t)offsets->vertices[i] + c] += weight * (double)offsets->deltas[3 * i + c];
}

/* Adds each vertex by the weights of its own set. */
static void add_moved(const exi_measure *m, int layer, const double *point, double *sum) {
    const exi_moved *moved = &m->moved[layer];
    const exi_incidence *sets = &moved->sets;
    if (sets->set_count == 0)
        return;
    ex_weigher_evaluate_sets(m->weighers[layer], point, NULL, moved->weights);
    for (int v = 0; v < sets->vertex_count; v++) {
        const double *weights = moved->weights + sets->weight_of[sets->set_of[v]];
        for (uint32_t i = sets->starts[v]; i < sets->starts[v + 1]; i++)
            add_offset(sum, weights[i - sets->starts[v]], &m->offsets[layer][sets->examples[i]], sets->places[i]);
    }
}

bool exi_measure_counts(const exi_measure *m, int layer) {
    return m->weighers[layer] || m->weighed[layer].rig;
}

bool exi_measure_add_up(const exi_measure *m, int layer, const ex_project_example *at, double *sum) {
    const int count = m->view->layers[layer].example_count;
    const double *point = at ? at->points[layer] : NULL;
    if (m->weighed[layer].rig)
        return exi_measure_add_weighed(m, layer, &m->weighed[layer], at, sum);
    if (m->moved[layer].weights) {
        add_moved(m, layer, point, sum);
        return true;
    }
    ex_weigher_evaluate(m->weighers[layer], point, m->weights);
    if (m->paths[layer])
        return exi_project_trajectories_add(m->paths[layer], m->weights, m->masks[layer], sum);
    for (int k = 0; k < count; k++) {
        if (!m->offsets[layer]) {
            exi_measure_sum(sum, 3 * (size_t)m->mesh->vertex_count, m->weights[k], m->deltas[layer][k]);
            continue;
        }
        const ex_offsets *offsets = &m->offsets[layer][k];
        for (int i = 0; fabs(m->weights[k]) >= 1e-12 && i < offsets->count; i++)
            add_offset(sum, m->weights[k], offsets, (size_t)i);
    }
    return true;
}

bool exi_measure_layers(exi_measure *m, int end, const ex_project_example *at) {
    const size_t count = 3 * (size_t)m->mesh->vertex_count, joints = 3 * m->joint_count;
    memcpy(m->base, m->mesh->positions, count * sizeof *m->base);
    for (size_t i = 0; m->turned && i < count; i++)
        m->turned[i] = 0;
    for (size_t i = 0; i < joints; i++)
        m->shift[i] = 0;
    for (int l = 0; l < end; l++) {
        if (!exi_measure_counts(m, l))
            continue;
        const bool skinned = m->offsets[l] && m->view->layers[l].offsets.frame == EX_OFFSET_FRAME_SKINNED;
        if (!exi_measure_add_up(m, l, at, skinned ? m->turned : m->base))
            return false;
        for (int k = 0; m->shifts[l] && k < m->view->layers[l].example_count; k++)
            if (m->shifts[l][k])
                exi_measure_sum(m->shift, joints, m->weights[k], m->shifts[l][k]);
    }
    for (size_t i = 0; end > 0 && i < count; i++)
        m->base[i] = (double)(float)m->base[i];
    for (size_t i = 0; i < joints; i++)
        m->joints[i] = (double)(float)(m->centres[i] + m->shift[i]);
    return true;
}

bool exi_measure_base(exi_measure *m, int layer, int example) {
    return exi_measure_layers(m, layer, &m->view->layers[layer].examples[example]);
}

/* A masked vertex is first placed at its masked position, in double. A difference is then always one between two
 * positions in double, and unpacking, which writes positions, loses nothing. + 0 turns -0, which is not the difference
 * of any two positions, into 0. A difference that does not change the float position counts as 0: otherwise digits of
 * the file that a float does not keep would move every vertex of an example that equals the mesh. */
static float *measure(const double *base, const double *to, const float *mask, size_t count, bool all) {
    float *difference = exi_array_allocate(count, sizeof *difference);
    for (size_t i = 0; difference && i < count; i++) {
        const double masked = mask ? base[i] + (double)mask[i / 3] * (to[i] - base[i]) : to[i];
        difference[i] = (float)(masked - base[i]) + 0.0F;
        if (!all && (float)(base[i] + (double)difference[i]) == (float)base[i])
            difference[i] = 0;
    }
    return difference;
}

float *exi_measure_difference(const double *base, const double *to, const float *mask, size_t count) {
    return measure(base, to, mask, count, false);
}

/* ---- one example ---- */

/* Measures the joint positions that an example brings. */
static ex_result measure_shifts(const exi_measure *m, const ex_project_example *example, float **shifts,
                                ex_error *error) {
    const size_t count = 3 * m->joint_count;
    double *centres = exi_array_allocate(count, sizeof *centres);
    ex_result result = centres ? exi_skeleton_read_centres(m->view, example->skeleton, m->skeleton, centres, error)
                               : ex_error_memory(error, "a skeleton", count * sizeof *centres);
    if (result == EX_OK) {
        *shifts = exi_measure_difference(m->joints, centres, NULL, count);
        if (!*shifts)
            result = ex_error_memory(error, "a skeleton", count * sizeof **shifts);
    }
    free(centres);
    return result;
}

ex_result exi_measure_joints(exi_measure *m, int layer, int example, exi_measured *out, ex_error *error) {
    const ex_project_example *source = &m->view->layers[layer].examples[example];
    *out = (exi_measured){0};
    if (!exi_measure_base(m, layer, example))
        return ex_error_memory(error, "an example", 24 * (size_t)m->mesh->vertex_count);
    return source->skeleton && m->skeleton ? measure_shifts(m, source, &out->shifts, error) : EX_OK;
}

/* Removes masked vertices from the list: they did not have to be reproduced. */
static int leave_out_masked(const float *mask, ex_damped *list, int count) {
    int kept = 0;
    for (int i = 0; i < count; i++)
        if (mask[list[i].vertex] > 0)
            list[kept++] = list[i];
    return kept;
}

/* Un-poses a form that was sculpted at its pose. */
static ex_result unpose(const exi_measure *m, const ex_project_example *example, const ex_mesh *form, const float *mask,
                        double *rest, exi_measured *out, ex_error *error) {
    exi_posing posing = {0};
    ex_result result = exi_measure_moves(m) ? EX_OK : exi_measure_no_skin(error);
    if (result == EX_OK && !exi_posing_open(&posing, m, example, out->shifts))
        result = ex_error_memory(error, "un-posing", m->joint_count * 200);
    if (result == EX_OK)
        result = exi_measure_unpose(m, &posing, form, rest, out, error);
    if (result == EX_OK && mask) {
        out->damped_count = leave_out_masked(mask, out->damped, out->damped_count);
        out->near_count = leave_out_masked(mask, out->near, out->near_count);
    }
    exi_posing_close(&posing);
    return result;
}

ex_result exi_measure_form(const exi_measure *m, int layer, int example, const ex_mesh *form, const float *mask,
                           exi_measured *out, ex_error *error) {
    const ex_project_layer *source = &m->view->layers[layer];
    const size_t count = 3 * (size_t)m->mesh->vertex_count;
    double *rest = NULL;
    ex_result result = EX_OK;
    if (source->domain == EX_DOMAIN_OFFSETS)
        return exi_measure_offsets(m, layer, example, form, mask, out, error);
    if (exi_measure_unposes(source, &source->examples[example])) {
        rest = exi_array_allocate(count, sizeof *rest);
        result = rest ? unpose(m, &source->examples[example], form, mask, rest, out, error)
                      : ex_error_memory(error, "un-posing", count * sizeof *rest);
    }
    if (result == EX_OK) {
        /* Keeps every difference of a layer that a driver weighs: its forms, posed again, are then the same floats, and
         * a rig of keys can be opened and built again (author/drive). */
        out->delta = measure(m->base, rest ? rest : form->positions, mask, count, source->driven);
        if (!out->delta)
            result = ex_error_memory(error, "an example", count * sizeof *out->delta);
    }
    free(rest);
    return result;
}

ex_result exi_measure_example(exi_measure *m, int layer, int example, const ex_mesh *form, const float *mask,
                              exi_measured *out, ex_error *error) {
    ex_result result = exi_measure_joints(m, layer, example, out, error);
    if (result == EX_OK)
        result = exi_measure_form(m, layer, example, form, mask, out, error);
    if (result != EX_OK)
        exi_measured_free(out);
    return result;
}

ex_result exi_measure_reference(const exi_measure *m, exi_measured *out, ex_error *error) {
    const size_t count = 3 * (size_t)m->mesh->vertex_count;
    *out = (exi_measured){.delta = exi_array_allocate(count, sizeof *out->delta)};
    if (!out->delta)
        return ex_error_memory(error, "an example", count * sizeof *out->delta);
    memset(out->delta, 0, count * sizeof *out->delta);
    return EX_OK;
}

void exi_offsets_free(ex_offsets *offsets) {
    free((void *)(uintptr_t)offsets->vertices);
    free((void *)(uintptr_t)offsets->deltas);
    *offsets = (ex_offsets){0};
}

void exi_measured_free(exi_measured *measured) {
    free(measured->delta);
    exi_offsets_free(&measured->offsets);
    free(measured->shifts);
    free(measured->damped);
    free(measured->near);
    *measured = (exi_measured){0};
}

/*
 * Checks layers of forms and of offsets: reads and measures examples as building does, and reports the losses, and the
 * joints that examples bring or should bring.
 */
#include "author/project/domains/project_domain.h"
#include "author/project/skeleton/skeleton.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Stretches below this, above the damping limit, are worth a note: a sculpt is at least 5 times as large at rest
 * there. */
static const double near_limit = 2 * EX_UNPOSE_LIMIT;

/* ---- un-posing ---- */

static int compare_residuals(const void *a, const void *b) {
    const ex_damped *x = a, *y = b;
    if (x->residual != y->residual)
        return x->residual > y->residual ? -1 : 1;
    return (x->vertex > y->vertex) - (x->vertex < y->vertex);
}

/* Reports the worst first; sorts the list. */
static void report_damped(exi_checker *c, const char *name, exi_measured *m, const char *where) {
    enum { MOST = 6 };
    exi_check_text list = {.size = 0};
    if (m->damped_count == 0)
        return;
    qsort(m->damped, (size_t)m->damped_count, sizeof *m->damped, compare_residuals);
    for (int i = 0; i < m->damped_count && i < MOST; i++)
        exi_check_append(&list, "%s%d by %.2g %%", i ? ", " : "", m->damped[i].vertex,
                         100 * (double)m->damped[i].residual / (c->size * c->measure.scale));
    if (m->damped_count > MOST)
        exi_check_append(&list, " and %d more by less", m->damped_count - MOST);
    exi_check_add(
        c, EX_SEVERITY_WARNING, "damped", where, m->damped_count,
        "'%s': %d %s cannot be un-posed safely, because skinning flattens the surface there at this pose, "
        "and %s not reproduced: %s %s of the mesh's size (counting from 0); \"skinning\": \"dual_quaternion\" "
        "or a turn spread over more joints would keep %s",
        name, m->damped_count, m->damped_count == 1 ? "vertex" : "vertices", m->damped_count == 1 ? "is" : "are",
        m->damped_count == 1 ? "vertex" : "vertices", list.text, m->damped_count == 1 ? "it" : "them");
}

static void report_near(exi_checker *c, const char *name, const exi_measured *m, const char *where) {
    int worst = 0;
    for (int i = 1; i < m->near_count; i++)
        worst = m->near[i].stretch < m->near[worst].stretch ? i : worst;
    if (m->near_count > 0)
        exi_check_add(c, EX_SEVERITY_NOTE, "nearly_damped", where, (double)m->near[worst].stretch,
                      "'%s': %d %s nearly flattened at this pose, most of all vertex %d (counting from 0), to %.2g of "
                      "its size: a sculpt there is %.2g times as large at rest",
                      name, m->near_count, m->near_count == 1 ? "vertex is" : "vertices are", m->near[worst].vertex,
                      (double)m->near[worst].stretch, 1 / (double)m->near[worst].stretch);
}

/* ---- one example ---- */

static bool is_finite(exi_checker *c, const ex_project_example *example, const float *delta, const char *where) {
    for (size_t i = 0; delta && i < 3 * (size_t)c->mesh->vertex_count; i++)
        if (!isfinite(delta[i])) {
            exi_check_add(c, EX_SEVERITY_ERROR, "not_finite", where, (double)(i / 3),
                          "'%s': vertex %zu (counting from 0) is too far away for a float once it is measured",
                          example->name, i / 3);
            return false;
        }
    return true;
}

/* Measures an example into c->deltas and c->shifts, or c->offsets. True if it could be measured. */
static bool measure(exi_checker *c, int layer, int k, const ex_mesh *form, const char *where) {
    const ex_project_example *example = &c->view->layers[layer].examples[k];
    const bool paths = c->view->layers[layer].trajectory.options != NULL;
    exi_measured m;
    ex_error error = {0};
    char here[80];
    bool done = false;
    snprintf(here, sizeof here, "%s.skeleton", where);
    if (example->reference) {
        done = exi_measure_reference(&c->measure, &m, &error) == EX_OK;
        c->failed = c->failed || !done;
    } else if (exi_measure_joints(&c->measure, layer, k, &m, &error) != EX_OK) {
        exi_check_failure(c, "skeleton", here, &error);
    } else if (exi_measure_form(&c->measure, layer, k, form, paths ? NULL : c->masks[layer], &m, &error) != EX_OK) {
        exi_check_failure(c, "unmeasured", where, &error);
    } else {
        report_damped(c, example->name, &m, where);
        report_near(c, example->name, &m, where);
        if (!paths && !c->view->layers[layer].driven) /* a trajectory may turn its form over, and cloth may fold */
            exi_check_misread(c, layer, k, form, m.shifts, where);
        done = is_finite(c, example, m.delta, where);
        c->shifts[layer][k] = m.shifts;
        m.shifts = NULL;
    }
    if (done && !exi_project_domain_of(&c->view->layers[layer])->targets) {
        c->offsets[layer][k] = m.offsets;
        m.offsets = (ex_offsets){0};
    } else if (done) {
        c->deltas[layer][k] = m.delta;
        m.delta = NULL;
    }
    exi_measured_free(&m);
    return done;
}

/* ---- skeletons of examples ---- */

static double root_mean_square(const float *delta, size_t count) {
    double sum = 0;
    for (size_t i = 0; i < count; i++)
        sum += (double)delta[i] * (double)delta[i];
    return sqrt(sum / (double)count);
}

static bool moves_joints(const exi_checker *c, const float *shifts) {
    double largest = 0;
    for (size_t i = 0; shifts && i < 3 * c->measure.joint_count; i++)
        largest = fabs((double)shifts[i]) > largest ? fabs((double)shifts[i]) : largest;
    return largest > 1e-3 * c->size;
}

/* Reports an example that brings no bones although it is as far from the mesh as those that do; it was perhaps meant
 * to. */
static void check_own_skeletons(exi_checker *c, int index) {
    const ex_project_layer *layer = &c->view->layers[index];
    const size_t count = 3 * (size_t)c->mesh->vertex_count;
    double least = INFINITY;
    int model = -1;
    for (int k = 0; k < layer->example_count; k++) {
        if (!moves_joints(c, c->shifts[index][k]))
            continue;
        const double off = root_mean_square(c->deltas[index][k], count);
        model = off < least ? k : model;
        least = off < least ? off : least;
    }
    for (int k = 0; model >= 0 && k < layer->example_count; k++) {
        char where[64];
        const double off = root_mean_square(c->deltas[index][k], count);
        snprintf(where, sizeof where, "layers[%d].examples[%d]", index, layer->examples[k].place);
        if (!layer->examples[k].skeleton && off > 0.5 * least)
            exi_check_add(c, EX_SEVERITY_WARNING, "no_skeleton", where, off / c->size,
                          "'%s' has no skeleton of its own, although its form differs from the mesh as much as that of "
                          "'%s', which has one: it will be posed with the project's bones",
                          layer->examples[k].name, layer->examples[model].name);
    }
}

/* If its joints cannot be measured, at least reports if the file is missing. */
static void check_skeleton_file(exi_checker *c, const ex_project_example *example, const char *where) {
    ex_scene *scene = NULL;
    ex_error error = {0};
    char here[80];
    snprintf(here, sizeof here, "%s.skeleton", where);
    if (exi_skeleton_read_scene(c->view, example->skeleton, &scene, &error) != EX_OK)
        exi_check_failure(c, "skeleton", here, &error);
    ex_scene_destroy(scene);
}

/* ---- a layer ---- */

static void read_mask(exi_checker *c, int index, const char *where) {
    const ex_project_layer *layer = &c->view->layers[index];
    ex_error error = {0};
    if (!c->mesh || (layer->mask.kind == EX_MASK_JOINTS && c->lame))
        return;
    if (exi_project_read_mask(c->view, layer, c->mesh, c->skeleton, c->skin, &c->masks[index], &error) != EX_OK)
        exi_check_failure(c, "mask", where, &error);
}

/* True if the layer's forms can be measured; otherwise the reason has been reported. */
static bool is_measurable(exi_checker *c, const ex_project_layer *layer, const char *where) {
    const bool turned = layer->offsets.frame == EX_OFFSET_FRAME_SKINNED;
    const bool posed = layer->unposed || layer->offsets.posed;
    bool brings_skeletons = false;
    for (int k = 0; k < layer->example_count; k++)
        brings_skeletons = brings_skeletons || layer->examples[k].skeleton;
    const bool moved = c->measure.carried && !turned;
    if (!c->mesh || (c->lame && (posed || turned || brings_skeletons)) || (c->undriven && (posed || layer->driven)))
        return false;
    if ((!layer->unposed && !turned) || c->skin || moved)
        return true;
    if (turned)
        exi_check_add(c, EX_SEVERITY_ERROR, "unmeasured", where, 0,
                      "the offsets of '%s' cannot turn with the skin, because no joint moves the mesh: name a "
                      "\"skeleton\" with a skin, or set the layer's \"frame\" to \"rest\"",
                      layer->name);
    else
        exi_check_add(c, EX_SEVERITY_ERROR, "unmeasured", where, 0,
                      "the forms of '%s' cannot be un-posed, because no joint moves the mesh: name a \"skeleton\" with "
                      "a skin, or set the layer's \"shape\" to \"positions\"",
                      layer->name);
    return false;
}

static bool open_layer(exi_checker *c, int index) {
    const size_t count = (size_t)c->view->layers[index].example_count + 1;
    c->deltas[index] = calloc(count, sizeof **c->deltas);
    c->shifts[index] = calloc(count, sizeof **c->shifts);
    c->offsets[index] = calloc(count, sizeof **c->offsets);
    return c->deltas[index] && c->shifts[index] && c->offsets[index];
}

/* Reports sculpts that move nothing. They may be intended, to hold the plain form there: only a note. */
static void check_unmoved(exi_checker *c, int index) {
    const ex_project_layer *layer = &c->view->layers[index];
    for (int k = 0; k < layer->example_count; k++) {
        char where[64];
        snprintf(where, sizeof where, "layers[%d].examples[%d]", index, layer->examples[k].place);
        if (c->offsets[index][k].count == 0)
            exi_check_add(c, EX_SEVERITY_NOTE, "unmoved", where, 0,
                          "'%s' moves no vertex farther than the layer's tolerance of %.3g m, so it only holds the "
                          "layer at zero there",
                          layer->examples[k].name, exi_measure_tolerance(&c->measure, layer));
    }
}

/* Makes the layer count for later layers, and then checks its space: if vertices are weighed in sets, those are known
 * by now. */
static void finish_layer(exi_checker *c, int index) {
    const ex_project_layer *layer = &c->view->layers[index];
    const bool sparse = !exi_project_domain_of(layer)->targets;
    const float *const *deltas = (const float *const *)c->deltas[index];
    const size_t vertices = (size_t)c->mesh->vertex_count;
    const exi_guessed guessed = {.rows = sparse ? NULL : deltas,
                                 .offsets = sparse ? c->offsets[index] : NULL,
                                 .count = vertices,
                                 .size = c->size,
                                 .what = sparse ? "offsets" : "form",
                                 .of = "the mesh's size"};
    ex_error error = {0};
    exi_check_falloffs(c, index, &guessed);
    if (c->failed)
        return;
    const float *const *shifts = (const float *const *)c->shifts[index];
    ex_result result = EX_OK;
    if (layer->driven) {
        exi_check_driven(c, index);
        return;
    }
    if (sparse)
        result = exi_measure_add_offsets(&c->measure, index, &c->weighs[index], c->offsets[index], &error);
    else if (!layer->trajectory.options)
        result = exi_measure_add_layer(&c->measure, index, &c->weighs[index], deltas, shifts, &error);
    else if (exi_check_trajectories(c, index))
        result = exi_measure_add_trajectories(&c->measure, index, &c->weighs[index], &c->paths[index], c->masks[index],
                                              shifts, &error);
    c->failed = c->failed || result == EX_ERROR_MEMORY;
    if (!c->failed) /* a prediction along straight lines says nothing about trajectories */
        exi_check_space(c, index, layer->trajectory.options ? NULL : &guessed);
    if (!c->failed && sparse)
        check_unmoved(c, index);
    else if (!c->failed)
        check_own_skeletons(c, index);
}

void exi_check_forms(exi_checker *c, int index) {
    const ex_project_layer *layer = &c->view->layers[index];
    char where[64];
    snprintf(where, sizeof where, "layers[%d]", index);
    c->failed = c->failed || !open_layer(c, index);
    if (c->failed)
        return;
    c->measure.near_limit = near_limit;
    read_mask(c, index, where);
    const bool measurable = is_measurable(c, layer, where);
    bool complete = measurable;
    for (int k = 0; !c->failed && k < layer->example_count; k++) {
        char here[64];
        snprintf(here, sizeof here, "layers[%d].examples[%d]", index, layer->examples[k].place);
        if (!exi_check_progress(c, layer->examples[k].name))
            return;
        ex_mesh *form = exi_check_read_form(c, &layer->examples[k], here);
        const bool measured = form && measurable && !c->failed && measure(c, index, k, form, here);
        if (!measured && !(form && measurable) && layer->examples[k].skeleton)
            check_skeleton_file(c, &layer->examples[k], here);
        complete = complete && measured;
        ex_mesh_destroy(form);
        c->done++;
    }
    if (!c->failed && complete)
        finish_layer(c, index);
    else if (!c->failed && !layer->driven)
        exi_check_space(c, index, NULL);
}

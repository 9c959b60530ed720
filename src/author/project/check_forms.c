/*
 * Checking layers of forms: examples are read and measured as building does it, and what that loses is reported, with
 * the joints that examples bring or should bring. Later layers add to what earlier ones were sculpted to be: how much,
 * is measured at the earlier examples' poses.
 */
#include "author/project/check.h"
#include "author/project/skeleton.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Stretches below this, above what is damped, are worth a note: a sculpt is at least 5 times as large at rest there. */
static const double near_limit = 2 * EX_UNPOSE_LIMIT;
/* What a later layer may add, in sizes of the mesh, before it shows. */
static const double disturbance_limit = 1e-4;

/* ---- un-posing ---- */

static int compare_residuals(const void *a, const void *b) {
    const ex_damped *x = a, *y = b;
    if (x->residual != y->residual)
        return x->residual > y->residual ? -1 : 1;
    return (x->vertex > y->vertex) - (x->vertex < y->vertex);
}

/* The worst first; sorts the list. */
static void report_damped(exi_checker *c, const char *name, exi_measured *m, const char *where) {
    enum { MOST = 6 };
    exi_check_text list = {.size = 0};
    if (m->damped_count == 0)
        return;
    qsort(m->damped, (size_t)m->damped_count, sizeof *m->damped, compare_residuals);
    for (int i = 0; i < m->damped_count && i < MOST; i++)
        exi_check_append(&list, "%s%d by %.2g %%", i ? ", " : "", m->damped[i].vertex,
                         100 * (double)m->damped[i].residual / c->size);
    if (m->damped_count > MOST)
        exi_check_append(&list, " and %d more by less", m->damped_count - MOST);
    exi_check_add(c, EX_SEVERITY_WARNING, "damped", where, m->damped_count,
                  "'%s': %d %s cannot be un-posed safely, since skinning flattens the surface there at this pose, and "
                  "%s not come back: %s %s of the mesh's size (counting from 0); \"skinning\": \"dual_quaternion\" or "
                  "a turn spread over more joints would keep %s",
                  name, m->damped_count, m->damped_count == 1 ? "vertex" : "vertices",
                  m->damped_count == 1 ? "does" : "do", m->damped_count == 1 ? "vertex" : "vertices", list.text,
                  m->damped_count == 1 ? "it" : "them");
}

static void report_near(exi_checker *c, const char *name, const exi_measured *m, const char *where) {
    int worst = 0;
    for (int i = 1; i < m->near_count; i++)
        worst = m->near[i].stretch < m->near[worst].stretch ? i : worst;
    if (m->near_count > 0)
        exi_check_add(c, EX_SEVERITY_NOTE, "nearly_damped", where, (double)m->near[worst].stretch,
                      "'%s': %d %s nearly flattened at this pose, most of all vertex %d (counting from 0), to %.2g of "
                      "its size: what was sculpted there is %.2g times as large at rest",
                      name, m->near_count, m->near_count == 1 ? "vertex is" : "vertices are", m->near[worst].vertex,
                      (double)m->near[worst].stretch, 1 / (double)m->near[worst].stretch);
}

/* ---- one example ---- */

/* Its difference, or NULL; its shifts stay in c->shifts. */
static float *measure(exi_checker *c, int layer, int k, const ex_mesh *form, const char *where) {
    const ex_project_example *example = &c->view->layers[layer].examples[k];
    exi_measured m;
    ex_error error = {0};
    float *delta = NULL;
    char here[80];
    snprintf(here, sizeof here, "%s.skeleton", where);
    if (exi_measure_joints(&c->measure, layer, k, &m, &error) != EX_OK) {
        exi_check_failure(c, "skeleton", here, &error);
    } else if (exi_measure_form(&c->measure, layer, k, form, c->masks[layer], &m, &error) != EX_OK) {
        exi_check_failure(c, "unmeasured", where, &error);
    } else {
        report_damped(c, example->name, &m, where);
        report_near(c, example->name, &m, where);
        exi_check_misread(c, layer, k, form, m.shifts, where);
        delta = m.delta;
        c->shifts[layer][k] = m.shifts;
        m.delta = m.shifts = NULL;
    }
    exi_measured_free(&m);
    for (size_t i = 0; delta && i < 3 * (size_t)c->mesh->vertex_count; i++)
        if (!isfinite(delta[i])) {
            exi_check_add(c, EX_SEVERITY_ERROR, "not_finite", where, (double)(i / 3),
                          "'%s': vertex %zu (counting from 0) is too far away for a float once it is measured",
                          example->name, i / 3);
            free(delta);
            delta = NULL;
        }
    return delta;
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

/* An example that is as far from the mesh as those that bring bones of their own, but brings none, was perhaps meant
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
                          "'%s' brings no skeleton of its own, though its form is as different from the mesh as that "
                          "of '%s', which does: it will be posed with the project's bones",
                          layer->examples[k].name, layer->examples[model].name);
    }
}

/* Where its joints cannot be measured, whether there is such a file can still be said. */
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
    if (!c->mesh || (layer->mask == EX_MASK_JOINTS && c->lame))
        return;
    if (exi_project_read_mask(c->view, layer, c->mesh, c->skeleton, c->skin, &c->masks[index], &error) != EX_OK)
        exi_check_failure(c, "mask", where, &error);
}

/* Whether the layer's forms can be measured; what keeps them from it has been reported. */
static bool is_measurable(exi_checker *c, const ex_project_layer *layer, const char *where) {
    bool brings_skeletons = false;
    for (int k = 0; k < layer->example_count; k++)
        brings_skeletons = brings_skeletons || layer->examples[k].skeleton;
    if (!c->mesh || (c->lame && (layer->shape == EX_SHAPE_UNPOSED || brings_skeletons)))
        return false;
    if (layer->shape != EX_SHAPE_UNPOSED || c->skin)
        return true;
    exi_check_add(c, EX_SEVERITY_ERROR, "unmeasured", where, 0,
                  "the forms of '%s' cannot be un-posed, because no joint moves the mesh: name a \"skeleton\" with a "
                  "skin, or let the layer's \"shape\" be \"positions\"",
                  layer->name);
    return false;
}

void exi_check_forms(exi_checker *c, int index) {
    const ex_project_layer *layer = &c->view->layers[index];
    char where[64];
    ex_error error = {0};
    snprintf(where, sizeof where, "layers[%d]", index);
    c->deltas[index] = calloc((size_t)layer->example_count + 1, sizeof **c->deltas);
    c->shifts[index] = calloc((size_t)layer->example_count + 1, sizeof **c->shifts);
    c->failed = c->failed || !c->deltas[index] || !c->shifts[index];
    if (c->failed)
        return;
    c->measure.near_limit = near_limit;
    read_mask(c, index, where);
    const bool measurable = is_measurable(c, layer, where);
    bool complete = measurable;
    for (int k = 0; !c->failed && k < layer->example_count; k++) {
        char here[64];
        snprintf(here, sizeof here, "layers[%d].examples[%d]", index, layer->examples[k].place);
        exi_check_progress(c, layer->examples[k].name);
        ex_mesh *form = exi_check_read_form(c, &layer->examples[k], here);
        if (form && measurable && !c->failed)
            c->deltas[index][k] = measure(c, index, k, form, here);
        else if (layer->examples[k].skeleton)
            check_skeleton_file(c, &layer->examples[k], here);
        complete = complete && c->deltas[index][k];
        ex_mesh_destroy(form);
        c->done++;
    }
    if (c->failed)
        return;
    const float *const *deltas = (const float *const *)c->deltas[index];
    const exi_guessed guessed = {.rows = deltas,
                                 .count = c->mesh ? (size_t)c->mesh->vertex_count : 0,
                                 .size = c->size,
                                 .what = "form",
                                 .of = "the mesh's size"};
    exi_check_space(c, index, complete ? &guessed : NULL);
    if (!complete || c->failed)
        return;
    check_own_skeletons(c, index);
    if (exi_measure_add_layer(&c->measure, index, &layer->weigh, deltas, (const float *const *)c->shifts[index],
                              &error) == EX_ERROR_MEMORY)
        c->failed = true;
}

/* ---- layers that disturb each other ---- */

/* The vertex of an earlier layer that a later one moves most at a pose, and how far; -1 where it moves none. */
static int find_moved(exi_checker *c, int earlier, int later, const double *const *points, double *distance) {
    const size_t count = 3 * (size_t)c->mesh->vertex_count;
    exi_measure *m = &c->measure;
    double largest_sq = 0;
    int vertex = -1;
    memset(m->base, 0, count * sizeof *m->base);
    ex_weigher_evaluate(m->weighers[later], points[later], m->weights);
    for (int k = 0; k < c->view->layers[later].example_count; k++)
        exi_measure_sum(m->base, count, m->weights[k], m->deltas[later][k]);
    for (size_t i = 0; i < count; i += 3) {
        const double sq = m->base[i] * m->base[i] + m->base[i + 1] * m->base[i + 1] + m->base[i + 2] * m->base[i + 2];
        if (sq <= largest_sq || (c->masks[earlier] && c->masks[earlier][i / 3] == 0))
            continue; /* what the earlier layer leaves alone was not sculpted in it */
        largest_sq = sq;
        vertex = (int)(i / 3);
    }
    *distance = sqrt(largest_sq);
    return vertex;
}

/* The same of joints, with m->weights as find_moved left them. */
static int find_moved_joint(exi_checker *c, int later, double *distance) {
    exi_measure *m = &c->measure;
    double largest_sq = 0;
    int joint = -1;
    memset(m->shift, 0, 3 * m->joint_count * sizeof *m->shift);
    for (int k = 0; m->shifts[later] && k < c->view->layers[later].example_count; k++)
        if (m->shifts[later][k])
            exi_measure_sum(m->shift, 3 * m->joint_count, m->weights[k], m->shifts[later][k]);
    for (size_t j = 0; j < m->joint_count; j++) {
        const double *s = m->shift + 3 * j, sq = s[0] * s[0] + s[1] * s[1] + s[2] * s[2];
        joint = sq > largest_sq ? (int)j : joint;
        largest_sq = sq > largest_sq ? sq : largest_sq;
    }
    *distance = sqrt(largest_sq);
    return joint;
}

static void check_sculpt(exi_checker *c, int earlier, int k, int later) {
    const ex_project_example *example = &c->view->layers[earlier].examples[k];
    const char *name = c->view->layers[later].name;
    double off = 0, joint_off = 0;
    char where[64];
    const int vertex = find_moved(c, earlier, later, example->points, &off);
    const int joint = find_moved_joint(c, later, &joint_off);
    snprintf(where, sizeof where, "layers[%d].examples[%d]", earlier, example->place);
    if (vertex >= 0 && off / c->size > disturbance_limit)
        exi_check_add(c, EX_SEVERITY_WARNING, "disturbed", where, off / c->size,
                      "layer '%s' moves the form of '%s' by up to %.2g %% of the mesh's size (vertex %d) at its own "
                      "pose",
                      name, example->name, 100 * off / c->size, vertex);
    if (joint >= 0 && joint_off / c->size > disturbance_limit)
        exi_check_add(c, EX_SEVERITY_WARNING, "disturbed", where, joint_off / c->size,
                      "layer '%s' moves the bones of '%s' by up to %.2g %% of the mesh's size (joint '%s') at its own "
                      "pose",
                      name, example->name, 100 * joint_off / c->size, ex_skeleton_name(c->skeleton, joint));
}

void exi_check_disturbed(exi_checker *c) {
    for (int l = 0; c->mesh && l < c->view->layer_count; l++)
        for (int later = l + 1; later < c->view->layer_count; later++)
            for (int k = 0; c->measure.weighers[later] && c->view->layers[l].shape != EX_SHAPE_PIXELS &&
                            k < c->view->layers[l].example_count && !c->failed;
                 k++)
                check_sculpt(c, l, k, later);
}

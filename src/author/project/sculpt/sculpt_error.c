/*
 * Measures how well an example is reproduced: compares the rig at the example's whole pose, through all layers and the
 * skin, with its sculpt. Also finds an example of a layer at the same place as another.
 */
#include "author/base/array.h"
#include "author/project/build/measure.h"
#include "author/project/build/swing.h"
#include "author/project/sculpt/sculpt.h"
#include "author/project/skeleton/skeleton.h"
#include "runtime/base/vector.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* In sizes of the mesh: a larger offset is hardly intended; or is that of another pose or another mesh. */
#define SUSPICIOUS 0.25
#define WRONG      0.75
/* An object that was moved or turned before its export: least part of the vertices that are moved, largest part of the
 * movement that is left without the shift, and largest distance that is left after a turn. */
#define ALL        0.95
#define SHIFT_LEFT 0.5
#define TURN_LEFT  0.25
/* Distance of a weight from [0, 1] that is worth a note, and the number of places where it is evaluated. */
#define SWING 0.75
enum { SWING_SAMPLES = 500 };

/* ---- poses ---- */

/* Sets the dials of a layer; layers that share one agree. */
static void set_dials(const ex_rig *rig, const ex_project_layer *layer, const double *point, const ex_pose *pose) {
    for (int i = 0; i < layer->axis_count; i++) {
        const bool dial = !layer->axes[i].joint && layer->axes[i].axis.kind != EX_AXIS_DRIVER;
        const int input = dial ? ex_rig_input_find(rig, layer->axes[i].name) : -1;
        if (input >= 0)
            ex_rig_set_input(rig, input, point, pose);
        point += ex_axis_width(&layer->axes[i].axis);
    }
}

/* Reads the driver's form into the pose. The build has refused files that cannot be read. */
static void set_driver(const ex_rig *rig, const ex_project_view *view, const char *path, const ex_pose *pose) {
    ex_rig_driver driver;
    ex_mesh *form = NULL;
    ex_error error;
    float *room = (float *)(uintptr_t)pose->driver;
    if (room && ex_rig_get_driver(rig, &driver, NULL) && exi_project_read_mesh(view, path, &form, &error) == EX_OK &&
        form->vertex_count == driver.driver.vertex_count)
        for (size_t i = 0; i < 3 * (size_t)form->vertex_count; i++)
            room[i] = (float)form->positions[i];
    ex_mesh_destroy(form);
}

ex_pose exi_example_pose(const ex_rig *rig, const ex_project_view *view, const ex_project_example *example) {
    const ex_pose pose = ex_pose_create(rig);
    const ex_skeleton *skeleton = ex_rig_skeleton(rig);
    for (int l = 0; pose.inputs && example->points && l < view->layer_count; l++)
        set_dials(rig, &view->layers[l], example->points[l], &pose);
    if (pose.inputs && example->driver)
        set_driver(rig, view, example->driver, &pose);
    for (int i = 0; pose.inputs && skeleton && i < example->joint_count; i++) {
        const int joint = ex_skeleton_find(skeleton, example->joints[i].name);
        if (joint < 0)
            continue;
        const ex_transform rest = ex_skeleton_rest(skeleton, joint);
        pose.joints[joint] = exi_pose_compose(&rest, &example->joints[i].relative);
    }
    return pose;
}

ex_result exi_example_evaluate(const ex_rig *rig, const ex_project_view *view, const ex_project_example *example,
                               const exi_counted *counted, float *positions, ex_error *error) {
    const int layers = ex_rig_layer_count(rig);
    bool *muted = exi_array_allocate((size_t)layers, sizeof *muted);
    void *scratch = malloc(ex_rig_scratch_size(rig, NULL, 1) + 1);
    ex_pose pose = exi_example_pose(rig, view, example);
    const bool fits = muted && scratch && pose.inputs;
    for (int l = 0; fits && l < layers; l++)
        muted[l] = (ex_rig_layer_muted(rig, l) && l != counted->shown) || l >= counted->end || l == counted->without ||
                   (counted->before_skin && ex_rig_layer_domain(rig, l) == EX_DOMAIN_OFFSETS &&
                    ex_rig_layer_frame(rig, l) == EX_OFFSET_FRAME_SKINNED);
    if (fits)
        ex_rig_evaluate(rig, &pose, &(ex_output){.positions = positions},
                        &(ex_evaluation){.muted = muted, .unsettled = true}, scratch);
    free(pose.inputs);
    free(scratch);
    free(muted);
    return fits ? EX_OK : ex_error_memory(error, "evaluating the example", 0);
}

ex_result exi_example_form(const ex_rig *rig, const ex_project_view *view, const ex_project_example *example, int shown,
                           float *positions, ex_error *error) {
    const exi_counted counted = {.shown = shown, .end = INT_MAX, .without = -1};
    return exi_example_evaluate(rig, view, example, &counted, positions, error);
}

/* ---- figures ---- */

/* Returns the index of the example among those that are built. */
static int built_number(const ex_project_layer *layer, int place) {
    for (int k = 0; k < layer->example_count; k++)
        if (layer->examples[k].place == place)
            return k;
    return -1;
}

static double length_of(const float v[3]) {
    return hypot(hypot((double)v[0], (double)v[1]), (double)v[2]);
}

static double distance_of(const float p[3], const double q[3]) {
    return hypot(hypot((double)p[0] - q[0], (double)p[1] - q[1]), (double)p[2] - q[2]);
}

/* Counts moved vertices, and finds the longest offset as the skin scales it at rest. delta: of all vertices. */
static void measure_offsets(const ex_rig *rig, int layer, int example, double scale, const float *delta,
                            ex_sculpted *made) {
    made->moved_count = 0;
    made->largest = 0;
    for (size_t i = 0; i < 3 * (size_t)made->vertex_count; i += 3) {
        made->moved_count += length_of(delta + i) > 0;
        made->largest = fmax(made->largest, scale * length_of(delta + i));
    }
    const int listed = ex_rig_example_offset_count(rig, layer, example);
    made->moved_count = listed > 0 ? listed : made->moved_count;
}

/* Compares the rig at the example's pose with its sculpt: with all layers, how well it comes back; with only the
 * earlier ones, how far it moves the vertices that it moves. That is the length people see: an offset at rest is longer
 * where skinning shortens it. */
static ex_result measure_posed(const exi_amendment *a, int layer, const ex_project_example *example, const float *delta,
                               ex_sculpted *made, ex_error *error) {
    const ex_project_view *view = &a->trial.view;
    ex_mesh *sculpt = NULL;
    const size_t count = 3 * (size_t)made->vertex_count;
    float *positions = exi_array_allocate(count, sizeof *positions);
    ex_result result = positions ? EX_OK : ex_error_memory(error, "a form", count * sizeof *positions);
    if (result == EX_OK && !a->wanted)
        result = exi_project_read_mesh(view, example->mesh, &sculpt, error);
    const double *wanted = a->wanted ? a->wanted : sculpt ? sculpt->positions : NULL;
    if (result == EX_OK)
        result = exi_example_form(a->rig, view, example, layer, positions, error);
    for (size_t i = 0; result == EX_OK && i < count; i += 3) {
        const double d = distance_of(positions + i, wanted + i);
        if (d > made->error) {
            made->error = d;
            made->farthest = (int)(i / 3);
        }
    }
    if (result == EX_OK)
        result = exi_example_evaluate(a->rig, view, example, &(exi_counted){.shown = -1, .end = layer, .without = -1},
                                      positions, error);
    made->largest = result == EX_OK ? 0 : made->largest;
    for (size_t i = 0; result == EX_OK && i < count; i += 3)
        if (length_of(delta + i) > 0)
            made->largest = fmax(made->largest, distance_of(positions + i, wanted + i));
    ex_mesh_destroy(sculpt);
    free(positions);
    return result;
}

ex_result exi_sculpt_measure(const exi_amendment *a, int layer, int place, ex_sculpted *made, ex_error *error) {
    const ex_project_layer *view = &a->trial.view.layers[layer];
    const int number = built_number(view, place);
    made->layer = layer;
    made->example = number;
    made->vertex_count = ex_rig_vertex_count(a->rig);
    made->damped_count = a->damped_count;
    ex_mesh *mesh = NULL;
    ex_result result = ex_rig_to_mesh(a->rig, NULL, &mesh, error);
    if (result != EX_OK)
        return result;
    const double scale = ex_rig_skin(a->rig) ? exi_skeleton_scale(ex_rig_skeleton(a->rig)) : 1;
    made->size = ex_mesh_size(mesh) * scale;
    made->error = 0;
    made->farthest = 0;
    ex_mesh_destroy(mesh);
    if (number < 0)
        return EX_OK;
    float *delta = exi_array_allocate((size_t)made->vertex_count, 3 * sizeof *delta);
    if (!delta)
        return ex_error_memory(error, "an example", (size_t)made->vertex_count * 3 * sizeof *delta);
    ex_rig_example_delta(a->rig, layer, number, delta);
    measure_offsets(a->rig, layer, number, scale, delta, made);
    const bool posed = a->wanted || exi_measure_unposes(view, &view->examples[number]) || view->offsets.posed;
    if (posed)
        result = measure_posed(a, layer, &view->examples[number], delta, made, error);
    free(delta);
    return result;
}

static int compare_doubles(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* True if nearly all vertices moved by about one shift, the median of every coordinate. sorted: [count] scratch. */
static bool find_shift(const float *form, const double *wanted, int count, double least, double *sorted,
                       double shift[3]) {
    double whole = 0, left = 0;
    int moved = 0;
    for (int v = 0; v < count; v++)
        moved += distance_of(form + 3 * (size_t)v, wanted + 3 * (size_t)v) > least;
    if (moved <= ALL * count)
        return false;
    for (size_t c = 0; c < 3; c++) {
        for (size_t v = 0; v < (size_t)count; v++)
            sorted[v] = wanted[3 * v + c] - (double)form[3 * v + c];
        qsort(sorted, (size_t)count, sizeof *sorted, compare_doubles);
        shift[c] = sorted[count / 2];
        for (int v = 0; v < count; v++) {
            whole += sorted[v] * sorted[v];
            left += (sorted[v] - shift[c]) * (sorted[v] - shift[c]);
        }
    }
    return left < SHIFT_LEFT * SHIFT_LEFT * whole;
}

/* True if a turn of the sculpt by 90 degrees about x, either way, brings it near the form, of which it is up to
 * `distance` away. */
static bool lies_on_its_side(const float *form, const double *wanted, int count, double distance) {
    for (int way = -1; way <= 1; way += 2) {
        double most = 0;
        for (size_t i = 0; i < 3 * (size_t)count; i += 3)
            most = fmax(most, distance_of(form + i, (double[]){wanted[i], -way * wanted[i + 2], way * wanted[i + 1]}));
        if (most < TURN_LEFT * distance)
            return true;
    }
    return false;
}

/* The form at the example's pose without the sculpt's layer and later ones, on which it was sculpted. */
static ex_result find_form(const exi_amendment *a, const ex_sculpted *made, float *form, ex_error *error) {
    const ex_project_view *view = &a->trial.view;
    return exi_example_evaluate(a->rig, view, &view->layers[made->layer].examples[made->example],
                                &(exi_counted){.shown = -1, .end = made->layer, .without = -1}, form, error);
}

/* Writes the likely mistake with the whole object into text, or "". *shifted: it was moved. */
static ex_result tell_object(const exi_amendment *a, const ex_sculpted *made, char *text, size_t size, bool *shifted,
                             ex_error *error) {
    const int count = made->vertex_count;
    const bool far_off = made->largest > SUSPICIOUS * made->size;
    *shifted = false;
    text[0] = '\0';
    if (!a->wanted || (!far_off && made->moved_count <= ALL * count))
        return EX_OK;
    float *form = exi_array_allocate((size_t)count, 3 * sizeof *form);
    double *sorted = exi_array_allocate((size_t)count, sizeof *sorted), shift[3];
    ex_result result = form && sorted ? find_form(a, made, form, error)
                                      : ex_error_memory(error, "a form", (size_t)count * 3 * sizeof *form);
    if (result == EX_OK && far_off && lies_on_its_side(form, a->wanted, count, made->largest)) {
        snprintf(text, size, "it lies on its side: export it with Up Axis %c", a->trial.view.z_up ? 'Z' : 'Y');
    } else if (result == EX_OK && find_shift(form, a->wanted, count, 1e-6 * made->size, sorted, shift)) {
        *shifted = true;
        const double unit = a->trial.view.unit, least = 1e-3 * made->size;
        for (int c = 0; c < 3; c++) /* as the file has it, without noise */
            shift[c] = fabs(shift[c]) < least ? 0 : shift[c] / unit;
        if (a->trial.view.z_up) {
            const double y = shift[1];
            shift[1] = 0.0 - shift[2];
            shift[2] = y;
        }
        snprintf(text, size,
                 "all vertices moved by about (%.2g, %.2g, %.2g): was the object moved? Clear its location before you "
                 "export",
                 shift[0] + 0.0, shift[1] + 0.0, shift[2] + 0.0);
    }
    free(form);
    free(sorted);
    return result;
}

/* Reports what a sculptor would otherwise only see: a file in another unit or of another pose, and weights that swing
 * between poses. Offsets at rest are larger than they look if the skin nearly collapses, but not that large. */
static ex_result tell_doubts(const exi_amendment *a, const ex_sculpted *made, ex_error *error) {
    const ex_project_layer *layer = &a->trial.view.layers[made->layer];
    exi_extent extent;
    char object[200] = "";
    bool shifted = false;
    if (made->example < 0)
        return EX_OK;
    const ex_result looked =
        exi_layer_at_rest(layer) ? EX_OK : tell_object(a, made, object, sizeof object, &shifted, error);
    if (looked != EX_OK)
        return looked;
    if (!exi_layer_at_rest(layer) && a->refuse_far && made->largest > WRONG * made->size)
        return ex_error_kind(
            error,
            ex_error_set(
                error, EX_ERROR_DATA,
                "'%s' is up to %.0f %% of the mesh's size away from the form at its pose: sculpt on what 'pose' "
                "writes at that pose, in the project's unit and with its up axis%s%s",
                layer->examples[made->example].name, 100 * made->largest / made->size, object[0] ? "; " : "", object),
            "far_sculpt");
    if (shifted)
        exi_amend_note(a, "%s", object);
    else if (!exi_layer_at_rest(layer) && made->largest > SUSPICIOUS * made->size)
        exi_amend_note(a,
                       "'%s' is up to %.0f %% of the mesh's size away from the form at its pose: is it in the "
                       "project's unit, with its up axis, and was it sculpted at that pose?%s%s",
                       layer->examples[made->example].name, 100 * made->largest / made->size,
                       object[0] ? " Perhaps " : "", object);
    if (a->wanted && made->moved_count == 0)
        exi_amend_note(a,
                       "'%s' moves no vertex: is this the form that you sculpted? As it is, it only holds the layer at "
                       "zero there",
                       layer->examples[made->example].name);
    if (!exi_measure_extent(layer, ex_rig_weigher(a->rig, made->layer), SWING_SAMPLES, &extent))
        return ex_error_memory(error, "the weights", 0);
    const exi_swing *swing = exi_extent_worst(&extent);
    if (swing->weight < -SWING || swing->weight > 1 + SWING)
        exi_amend_note(a,
                       "layer '%s' swings between its poses: the weight of '%s' reaches %.1f at %s; 'check --mend' "
                       "makes it calm",
                       layer->name, layer->examples[swing->example].name, swing->weight, swing->place);
    return EX_OK;
}

ex_result exi_amend_try(exi_amendment *a, int layer, int place, ex_error *error) {
    a->damped_layer = layer;
    a->damped_example = built_number(&a->trial.view.layers[layer], place);
    return exi_amend_build(a, error);
}

ex_result exi_amend_measure(exi_amendment *a, int layer, int place, ex_sculpted *made, ex_error *error) {
    const ex_result result = exi_sculpt_measure(a, layer, place, made, error);
    return result == EX_OK ? tell_doubts(a, made, error) : result;
}

ex_result exi_amend_finish(exi_amendment *a, int layer, int place, ex_sculpted *made, ex_error *error) {
    ex_result result = exi_amend_try(a, layer, place, error);
    if (result == EX_OK)
        result = exi_amend_measure(a, layer, place, made, error);
    return result == EX_OK ? exi_amend_save(a, error) : result;
}

/* ---- places ---- */

/* True if the driver, if any, has the same file at both. */
static bool same_driver(const ex_project_layer *layer, const ex_project_example *a, const ex_project_example *b) {
    return !layer->driven || strcmp(a->driver, b->driver) == 0;
}

/* True if two points coincide: numbers within 1e-6 of the range, rotations likewise regardless of sign. */
static bool same_point(const ex_project_layer *layer, const double *a, const double *b) {
    bool same = true;
    for (int i = 0; i < layer->axis_count; i++) {
        const ex_axis *axis = &layer->axes[i].axis;
        if (axis->kind == EX_AXIS_DRIVER)
            continue;
        if (axis->kind == EX_AXIS_SCALAR) {
            same = same && fabs(*a - *b) <= 1e-6 * (axis->max - axis->min);
        } else {
            double p[4], q[4], dot = 0;
            memcpy(p, a, sizeof p);
            memcpy(q, b, sizeof q);
            exi_normalise(p, 4);
            exi_normalise(q, 4);
            for (int c = 0; c < 4; c++)
                dot += p[c] * q[c];
            same = same && fabs(dot) >= 1 - 1e-12;
        }
        a += ex_axis_width(axis);
        b += ex_axis_width(axis);
    }
    return same;
}

const ex_project_example *exi_example_at(const ex_project_layer *layer, int place) {
    for (int k = 0; k < layer->example_count; k++)
        if (layer->examples[k].place == place)
            return &layer->examples[k];
    for (int k = 0; k < layer->muted_count; k++)
        if (layer->muted_examples[k].place == place)
            return &layer->muted_examples[k];
    return NULL;
}

const ex_project_example *exi_example_in_the_way(const ex_project_layer *layer, int place) {
    const ex_project_example *example = exi_example_at(layer, place);
    for (int k = 0; example && example->at && k < layer->example_count; k++) {
        const ex_project_example *other = &layer->examples[k];
        if (other->place != place && other->at && same_driver(layer, other, example) &&
            same_point(layer, other->at, example->at))
            return other;
    }
    return NULL;
}

int exi_pseudo_in_the_way(const ex_project_layer *layer, int place) {
    const ex_project_example *example = exi_example_at(layer, place);
    for (int i = 0; example && example->at && i < layer->pseudo_count; i++)
        if (same_point(layer, layer->weigh.pseudos[i].at, example->at))
            return i;
    return -1;
}

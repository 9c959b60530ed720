/*
 * Builds layers. Layers of forms are measured in order, each from the mesh with the earlier ones applied (measure.h);
 * other layers are read by their domain (domains/).
 */
#include "author/base/array.h"
#include "author/project/domains/project_domain.h"
#include "runtime/base/result.h"
#include <exemplar/author/files.h>

#include <exemplar/author/files.h>

#include <stdlib.h>
#include <string.h>

/* ---- spaces ---- */

static ex_result open_layer(const exi_building *b, const ex_project_layer *source, ex_layer_def *layer,
                            ex_error *error) {
    size_t axes = (size_t)source->axis_count;
    const char **names = calloc(axes, sizeof *names), **units = calloc(axes, sizeof *units);
    ex_axis_source *sources = calloc(axes, sizeof *sources);
    layer->name = source->name;
    layer->domain = source->domain;
    layer->trajectory.reference = exi_layer_reference(source);
    layer->weigh = source->weigh;
    layer->muted = source->muted;
    layer->offsets.frame = source->offsets.frame;
    layer->offsets.moved = source->offsets.participation == EX_PARTICIPATION_MOVED;
    layer->example_names = source->weigh.names;
    layer->axis_names = names;
    layer->axis_units = units;
    layer->sources = sources;
    if (!names || !units || !sources)
        return ex_error_memory(error, "a layer", axes * sizeof *sources);
    for (size_t i = 0; i < axes; i++) {
        const ex_project_axis *axis = &source->axes[i];
        names[i] = axis->name;
        units[i] = axis->unit;
        sources[i] = (ex_axis_source){.joint = axis->joint ? ex_skeleton_find(b->skeleton, axis->joint) : -1,
                                      .reading = axis->reading};
    }
    return EX_OK;
}

/* ---- forms ---- */

/* Reads an example's mesh and measures it. */
static ex_result measure_form(exi_building *b, int layer, int index, const float *mask, exi_measured *measured,
                              ex_error *error) {
    const ex_project_example *source = &b->view->layers[layer].examples[index];
    const ex_damped_report *report = b->options.damped;
    ex_mesh *form = NULL;
    if (source->reference)
        return exi_measure_reference(&b->measure, measured, error);
    ex_result result = exi_build_read_form(b, index, source->mesh, &form, error);
    if (result != EX_OK)
        return result;
    ex_error difference = {0};
    result = ex_mesh_compare_connectivity(b->mesh, form, &difference);
    if (result == EX_ERROR_DATA)
        ex_error_kind(
            error,
            ex_error_set(error, result, "%s: not the form of '%s': %s", source->mesh, b->view->mesh, difference.text),
            "other_connectivity");
    else if (result != EX_OK)
        ex_error_set(error, result, "%s: %s", source->mesh, difference.text);
    if (result == EX_OK)
        result = exi_measure_example(&b->measure, layer, index, form, mask, measured, error);
    if (result == EX_OK && report && report->report && measured->damped_count > 0)
        report->report(report->user, layer, index, measured->damped, measured->damped_count);
    ex_mesh_destroy(form);
    return b->unwritten ? ex_error_within(error, result, "%s '%s'", b->unwritten->word, source->name) : result;
}

/* Measured examples: rows of whole forms, or offsets. */
typedef struct row_lists {
    const float **deltas, **shifts; /* [example_count] */
    ex_offsets *offsets;            /* [example_count], or NULL */
} row_lists;

static bool open_rows(const ex_project_layer *source, ex_layer_def *layer, row_lists *r) {
    const size_t count = (size_t)source->example_count;
    *r = (row_lists){0};
    if (!exi_project_domain_of(source)->targets) {
        layer->offsets.examples = r->offsets = calloc(count, sizeof *r->offsets);
        return r->offsets != NULL;
    }
    layer->form.deltas = r->deltas = calloc(count, sizeof *r->deltas);
    if (!source->driven) /* keys of a driver move no joints */
        layer->form.shifts = r->shifts = calloc(count, sizeof *r->shifts);
    return r->deltas && (r->shifts || source->driven);
}

static void take(const row_lists *r, int k, exi_measured *measured) {
    if (r->offsets) {
        r->offsets[k] = measured->offsets;
        measured->offsets = (ex_offsets){0};
        return;
    }
    r->deltas[k] = measured->delta;
    if (r->shifts)
        r->shifts[k] = measured->shifts;
    measured->delta = measured->shifts = NULL;
}

/* Completes the layer after its examples are measured, and makes it count for later layers. */
static ex_result finish_forms(exi_building *b, int index, ex_layer_def *layer, ex_error *error) {
    exi_measure *m = &b->measure;
    const bool driven = b->view->layers[index].driven;
    ex_result result = exi_build_falloffs(b, index, layer, error);
    if (result == EX_OK && driven)
        result = exi_build_driven(b, index, layer, error);
    else if (result == EX_OK && b->view->layers[index].trajectory.options)
        result = exi_build_trajectories(b, index, layer, error);
    if (result != EX_OK || index + 1 == b->view->layer_count)
        return result; /* no layer comes after the last */
    if (driven)
        return exi_measure_add_driven(m, index, layer, error);
    if (layer->trajectory.examples)
        return exi_measure_add_trajectories(m, index, &layer->weigh, &b->paths[index], layer->mask, layer->form.shifts,
                                            error);
    return layer->offsets.examples
               ? exi_measure_add_offsets(m, index, &layer->weigh, layer->offsets.examples, error)
               : exi_measure_add_layer(m, index, &layer->weigh, layer->form.deltas, layer->form.shifts, error);
}

/* The mask is applied to the differences, except for trajectories, which follow their whole path and are masked during
 * evaluation. */
ex_result exi_build_forms(exi_building *b, int index, ex_layer_def *layer, ex_error *error) {
    const ex_project_layer *source = &b->view->layers[index];
    const bool paths = source->trajectory.options != NULL;
    float *mask = NULL;
    row_lists r;
    ex_result result = open_rows(source, layer, &r)
                           ? EX_OK
                           : ex_error_memory(error, "a layer", (size_t)source->example_count * sizeof *r.offsets);
    if (result == EX_OK)
        result = exi_project_read_mask(b->view, source, b->mesh, b->skeleton, b->skin, &mask, error);
    for (int k = 0; result == EX_OK && k < source->example_count; k++) {
        exi_measured measured = {0};
        result = exi_build_report(b, source->examples[k].name, error);
        if (result != EX_OK)
            break;
        result = measure_form(b, index, k, paths ? NULL : mask, &measured, error);
        if (!b->unwritten)
            ex_error_within(error, result, "layers[%d].examples[%d] '%s'", index, source->examples[k].place,
                            source->examples[k].name);
        if (result == EX_OK)
            take(&r, k, &measured);
        exi_measured_free(&measured);
        b->example_done++;
    }
    if (paths)
        layer->mask = mask;
    else
        free(mask);
    if (result == EX_OK)
        result = ex_error_within(error, finish_forms(b, index, layer, error), "layer '%s'", source->name);
    return result;
}

/* ---- all of them ---- */

ex_result exi_build_layers(exi_building *b, ex_error *error) {
    const size_t count = (size_t)b->view->layer_count;
    b->layers = calloc(count + 1, sizeof *b->layers);
    b->own = calloc(count + 1, sizeof *b->own);
    b->paths = calloc(count + 1, sizeof *b->paths);
    if (!b->layers || !b->own || !b->paths)
        return ex_error_memory(error, "the layers", count * sizeof *b->layers);
    ex_result result = EX_OK;
    for (int l = 0; result == EX_OK && l < b->view->layer_count; l++) {
        result = open_layer(b, &b->view->layers[l], &b->layers[l], error);
        if (result == EX_OK)
            result = exi_project_domain_of(&b->view->layers[l])->build(b, l, &b->layers[l], error);
    }
    return result;
}

void exi_build_free_rows(const float *const *rows, int count) {
    for (int k = 0; rows && k < count; k++)
        free((void *)(uintptr_t)rows[k]);
    free((void *)(uintptr_t)rows);
}

void exi_build_free_form(exi_building *b, int index, ex_layer_def *layer) {
    (void)b, (void)index;
    exi_build_free_rows(layer->form.deltas, layer->weigh.example_count);
    exi_build_free_rows(layer->form.shifts, layer->weigh.example_count);
}

void exi_build_free_layers(exi_building *b) {
    for (int l = 0; b->layers && l < b->view->layer_count; l++) {
        ex_layer_def *layer = &b->layers[l];
        if (b->own && b->paths)
            exi_project_domain_of(&b->view->layers[l])->free(b, l, layer);
        if (b->view->layers[l].auto_falloff && layer->weigh.falloffs != b->view->layers[l].weigh.falloffs)
            free((void *)(uintptr_t)layer->weigh.falloffs);
        free((void *)(uintptr_t)layer->axis_names);
        free((void *)(uintptr_t)layer->axis_units);
        free((void *)(uintptr_t)layer->sources);
        exi_build_free_driven(layer);
    }
    free(b->layers);
    free(b->own);
    free(b->paths);
    json_decref(b->path_note);
    ex_trajectories_destroy(b->driven_paths);
}

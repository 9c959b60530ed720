/*
 * Building: from a project to a rig. Layers are read and measured in their order, each from the mesh with the earlier
 * ones on it (measure.h).
 */
#include "author/formats/array.h"
#include "author/formats/file.h"
#include "author/mesh/rig_mesh.h"
#include "author/project/measure.h"
#include "runtime/base/result.h"

#include <exemplar/author/formats.h>

#include <stdlib.h>
#include <string.h>

/* ---- meshes of a project ---- */

static void convert(const ex_project_view *view, ex_mesh *mesh) {
    for (int v = 0; v < mesh->vertex_count; v++) {
        double *p = mesh->positions + 3 * (size_t)v;
        double y = view->z_up ? p[2] : p[1], z = view->z_up ? -p[1] : p[2];
        p[0] *= view->unit;
        p[1] = y * view->unit;
        p[2] = z * view->unit;
    }
    for (int n = 0; view->z_up && n < mesh->normal_count; n++) {
        double *p = mesh->normals + 3 * (size_t)n, y = p[1];
        p[1] = p[2];
        p[2] = -y;
    }
}

ex_result exi_project_read_mesh(const ex_project_view *view, const char *relative, ex_mesh **mesh, ex_error *error) {
    *mesh = NULL;
    char *path = exi_path_join(view->path, relative);
    if (!path)
        return exi_error_memory(error, "a path", strlen(relative));
    ex_result result = ex_mesh_read(path, mesh, error);
    if (result == EX_OK)
        convert(view, *mesh);
    free(path);
    return result;
}

/* ---- the work ---- */

/* What lives while a rig is being built. */
typedef struct building {
    const ex_project_view *view;
    const ex_progress *progress;
    ex_mesh *mesh;
    exi_rig_mesh rig_mesh;
    exi_measure measure;
    ex_layer_def *layers; /* [layer_count]; masks go into the differences here, not there */
    int example_total, example_done;
} building;

static void report(building *b, const char *what) {
    if (b->progress && b->progress->report)
        b->progress->report(b->progress->user, what, (double)b->example_done / (b->example_total + 1));
}

static ex_result open_layer(const ex_project_layer *source, ex_layer_def *layer, ex_error *error) {
    size_t axes = (size_t)source->axis_count, examples = (size_t)source->example_count;
    const char **axis_names = calloc(axes, sizeof *axis_names), **axis_units = calloc(axes, sizeof *axis_units);
    const float **deltas = calloc(examples, sizeof *deltas);
    layer->name = source->name;
    layer->weigh = source->weigh;
    layer->example_names = source->weigh.names;
    layer->axis_names = axis_names;
    layer->axis_units = axis_units;
    layer->deltas = deltas;
    if (!axis_names || !axis_units || !deltas)
        return exi_error_memory(error, "a layer", examples * sizeof *deltas);
    for (size_t i = 0; i < axes; i++) {
        axis_names[i] = source->axes[i].name;
        axis_units[i] = source->axes[i].unit;
    }
    return EX_OK;
}

static ex_result read_example(building *b, int layer, int index, const float *mask, const float **delta,
                              ex_error *error) {
    const ex_project_example *source = &b->view->layers[layer].examples[index];
    ex_mesh *example = NULL;
    ex_result result = exi_project_read_mesh(b->view, source->mesh, &example, error);
    if (result != EX_OK)
        return result;
    result = exi_error_within(error, ex_mesh_compare_connectivity(b->mesh, example, error), "%s: not the form of '%s'",
                              source->mesh, b->view->mesh);
    if (result == EX_OK) {
        *delta = exi_measure_delta(exi_measure_base(&b->measure, layer, index), example, mask);
        if (!*delta)
            result = exi_error_memory(error, source->mesh, 12 * (size_t)b->mesh->vertex_count);
    }
    ex_mesh_destroy(example);
    return result;
}

static ex_result read_layer(building *b, int index, ex_error *error) {
    const ex_project_layer *source = &b->view->layers[index];
    ex_layer_def *layer = &b->layers[index];
    ex_result result = open_layer(source, layer, error);
    float *mask = NULL;
    if (result == EX_OK)
        result = exi_project_read_mask(b->view, source, b->mesh, &mask, error);
    const float **deltas = (const float **)(uintptr_t)layer->deltas;
    for (int k = 0; result == EX_OK && k < source->example_count; k++) {
        report(b, source->examples[k].name);
        result = exi_error_within(error, read_example(b, index, k, mask, &deltas[k], error),
                                  "layers[%d].examples[%d] '%s'", index, k, source->examples[k].name);
        b->example_done++;
    }
    free(mask);
    /* The last layer has none after it. */
    if (result == EX_OK && index + 1 < b->view->layer_count)
        result = exi_error_within(error, exi_measure_add_layer(&b->measure, index, deltas, error), "layer '%s'",
                                  source->name);
    return result;
}

static void free_layer(ex_layer_def *layer) {
    for (int k = 0; layer->deltas && k < layer->weigh.example_count; k++)
        free((void *)(uintptr_t)layer->deltas[k]);
    free((void *)(uintptr_t)layer->deltas);
    free((void *)(uintptr_t)layer->axis_names);
    free((void *)(uintptr_t)layer->axis_units);
}

static ex_result build(building *b, ex_storage storage, ex_rig **rig, ex_error *error) {
    report(b, "mesh");
    ex_result result = exi_project_read_mesh(b->view, b->view->mesh, &b->mesh, error);
    if (result == EX_OK)
        result = exi_error_within(error, exi_rig_mesh_make(b->mesh, &b->rig_mesh, error), "%s", b->view->mesh);
    b->layers = calloc((size_t)b->view->layer_count + 1, sizeof *b->layers);
    if (result == EX_OK && !b->layers)
        result = exi_error_memory(error, "the layers", (size_t)b->view->layer_count * sizeof *b->layers);
    if (result == EX_OK)
        result = exi_measure_open(&b->measure, b->view, b->mesh, error);
    for (int l = 0; result == EX_OK && l < b->view->layer_count; l++)
        result = read_layer(b, l, error);
    if (result != EX_OK)
        return result;
    report(b, "solving");
    ex_rig_def def = ex_rig_def_default();
    def.mesh = b->rig_mesh.mesh;
    def.layers = b->layers;
    def.layer_count = b->view->layer_count;
    def.notes = b->rig_mesh.notes;
    def.note_count = b->rig_mesh.note_count;
    def.storage = storage;
    return ex_rig_create(&def, NULL, rig, error);
}

ex_result ex_project_build(const ex_project *project, const ex_build_options *options, ex_rig **rig, ex_error *error) {
    *rig = NULL;
    ex_error local = {0};
    error = error ? error : &local;
    building b = {.view = &project->view, .progress = options ? options->progress : NULL};
    for (int l = 0; l < b.view->layer_count; l++)
        b.example_total += b.view->layers[l].example_count;
    ex_result result = build(&b, options ? options->storage : EX_STORAGE_FLOAT, rig, error);
    exi_measure_close(&b.measure);
    for (int l = 0; b.layers && l < b.view->layer_count; l++)
        free_layer(&b.layers[l]);
    free(b.layers);
    exi_rig_mesh_free(&b.rig_mesh);
    ex_mesh_destroy(b.mesh);
    return exi_error_within(error, result, "%s", project->path);
}

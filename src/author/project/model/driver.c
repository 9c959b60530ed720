/*
 * Prepares the driver of a project: reads mesh, masks and binds, spreads the moving frames over the part that the
 * project's mesh lies on (DrivenShape, 2.7), and reads each of the driver's forms at the examples once.
 */
#include "author/project/model/driver.h"

#include "author/base/array.h"
#include "author/project/build/measure.h"
#include "runtime/base/result.h"
#include "runtime/pose/frame_tree.h"

#include <exemplar/author/files.h>
#include <exemplar/author/formats.h>

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- masks and binds ---- */

static const ex_project_layer *driven_layer(const ex_project_view *view) {
    int l = 0;
    while (l < view->layer_count && !view->layers[l].driven)
        l++;
    return &view->layers[l]; /* reading checked that there is one */
}

static ex_result read_regions(exi_project_driver *d, const ex_project_layer *layer, const ex_mesh *mesh,
                              const ex_skeleton *skeleton, const ex_skin *skin, ex_error *error) {
    const int number = (int)(layer - d->view->layers);
    d->regions = calloc((size_t)layer->region_count + 1, sizeof *d->regions);
    if (!d->regions)
        return ex_error_memory(error, "the regions", (size_t)layer->region_count * sizeof *d->regions);
    for (int i = 0; i < layer->region_count; i++) {
        float *look = NULL, *mask = NULL;
        ex_result result = ex_error_within(
            error,
            exi_project_read_values(d->view, &layer->regions[i].look, FLT_MAX, d->mesh, NULL, NULL, &look, error),
            "layers[%d].weigh.regions[%d].look", number, i);
        d->regions[i].look = look;
        if (result == EX_OK)
            result = ex_error_within(
                error,
                exi_project_read_values(d->view, &layer->regions[i].mask, FLT_MAX, mesh, skeleton, skin, &mask, error),
                "layers[%d].weigh.regions[%d].mask", number, i);
        d->regions[i].mask = mask;
        d->options.region_count = i + 1;
        if (result != EX_OK)
            return result;
    }
    d->options.regions = layer->region_count > 0 ? d->regions : NULL;
    return EX_OK;
}

static ex_result read_binds(exi_project_driver *d, const ex_mesh *mesh, ex_error *error) {
    char *path = d->view->driver.bind ? ex_path_join(d->view->path, d->view->driver.bind) : NULL;
    if (!d->view->driver.bind)
        return EX_OK;
    if (!path)
        return ex_error_memory(error, "a path", strlen(d->view->driver.bind));
    const ex_result result = ex_drive_read_binds(path, d->mesh, mesh, &d->binds, error);
    free(path);
    if (result != EX_OK)
        return ex_error_within(error, result, "settle.bind");
    d->options.bind_count = d->binds->bind_count;
    d->options.binds = d->binds->binds;
    d->options.vertex_binds = d->binds->vertex_binds;
    return EX_OK;
}

/* Reads the options from the layer and from other files. */
static ex_result read_options(exi_project_driver *d, const ex_mesh *mesh, const ex_skeleton *skeleton,
                              const ex_skin *skin, ex_error *error) {
    const ex_project_layer *layer = driven_layer(d->view);
    const ex_project_driver *source = &d->view->driver;
    d->options = source->options;
    d->options.one_region = layer->one_region || layer->predictor;
    if (layer->predictor)
        d->options.residual = EX_RESIDUAL_NONE;
    d->options.ridge = layer->weigh.ridge;
    d->options.paths = layer->trajectory.options != NULL;
    if (source->joint && skeleton)
        d->options.frame_joint = ex_skeleton_find(skeleton, source->joint);
    ex_result result = ex_error_within(error,
                                       exi_project_read_values(d->view, &layer->driver_weights, FLT_MAX, d->mesh, NULL,
                                                               NULL, &d->driver_weights, error),
                                       "layers[%d].weigh.driver_weights", (int)(layer - d->view->layers));
    d->options.driver_weights = d->driver_weights;
    if (result == EX_OK)
        result = read_regions(d, layer, mesh, skeleton, skin, error);
    return result == EX_OK ? read_binds(d, mesh, error) : result;
}

/* ---- moving frames ---- */

/* Makes the skin by which the moving frames carry the project's mesh; its vertices come before the driver's in the
 * influences. */
static ex_result make_carry(exi_project_driver *d, int vertex_count, ex_error *error) {
    const ex_influences *carry = &d->driving.driver.carry;
    const size_t vertices = (size_t)vertex_count, entries = carry->starts ? carry->starts[vertices] : vertices;
    uint32_t *starts = exi_array_allocate(vertices + 1, sizeof *starts), *frames = calloc(entries + 1, sizeof *frames);
    float *weights = exi_array_allocate(entries, sizeof *weights);
    const bool fits = starts && frames && weights;
    for (size_t v = 0; fits && v <= vertices; v++)
        starts[v] = carry->starts ? carry->starts[v] : (uint32_t)v;
    for (size_t i = 0; fits && i < entries; i++) {
        frames[i] = carry->starts ? carry->places[i] : 0;
        weights[i] = carry->starts ? carry->weights[i] : 1;
    }
    const ex_result result = fits ? ex_skin_create(&(ex_skin_def){.vertex_count = vertex_count,
                                                                  .joint_count = d->driving.driver.driver.frame_count,
                                                                  .starts = starts,
                                                                  .joints = frames,
                                                                  .weights = weights},
                                                   NULL, &d->carry, error)
                                  : ex_error_memory(error, "the moving frames", 12 * entries);
    free(starts);
    free(frames);
    free(weights);
    return result;
}

static ex_result make_links(exi_project_driver *d, int vertex_count, ex_error *error) {
    const ex_rig_driver *driver = &d->driving.driver;
    const int frames = driver->driver.frame_count;
    const size_t rows = (size_t)vertex_count + (size_t)driver->driver.vertex_count, size = exi_frame_tree_room(frames);
    void *room = malloc(size);
    d->links = exi_array_allocate((size_t)frames, sizeof *d->links);
    if (room && d->links)
        exi_frame_tree_make(&driver->carry, rows, frames, d->links, room);
    free(room);
    return room && d->links ? EX_OK : ex_error_memory(error, "the moving frames", size);
}

static ex_result make_frames(exi_project_driver *d, const ex_mesh *mesh, const ex_skeleton *skeleton,
                             const ex_skin *skin, ex_error *error) {
    const int joints = skeleton ? ex_skeleton_joint_count(skeleton) : 0;
    ex_result result = exi_drive_plan_make(d->mesh, mesh, &d->options, joints, &d->driving, error);
    d->driving.driver.name = d->view->driver.name;
    if (result == EX_OK && skin)
        d->driving.driver.residual = EX_RESIDUAL_NONE;
    if (result == EX_OK)
        result = ex_driver_create(&d->driving.driver.driver, NULL, &d->driver, error);
    if (result == EX_OK && !skin)
        result = make_carry(d, mesh->vertex_count, error);
    if (result == EX_OK && !skin)
        result = make_links(d, mesh->vertex_count, error);
    return ex_error_within(error, result, "driver");
}

/* Reads the predictor of a layer that follows motion, and compares it with the layer. */
static ex_result read_predictor(exi_project_driver *d, ex_error *error) {
    const ex_project_layer *layer = driven_layer(d->view);
    char *path = layer->predictor ? ex_path_join(d->view->path, layer->predictor) : NULL;
    if (!layer->predictor)
        return EX_OK;
    if (!path)
        return ex_error_memory(error, "a path", strlen(layer->predictor));
    ex_result result = ex_predictor_read(path, &d->predictor, error);
    free(path);
    ex_predictor_def def = {0};
    if (result == EX_OK)
        ex_predictor_describe(d->predictor, NULL, &def);
    const int frames = d->driving.driver.driver.frame_count;
    if (result == EX_OK && def.weight_count != layer->example_count)
        result = ex_error_set(error, EX_ERROR_DATA,
                              "%s: this predictor weighs %d examples, but the layer has %d: each of those that were "
                              "learned is needed, in their order",
                              layer->predictor, def.weight_count, layer->example_count);
    if (result == EX_OK && def.frame_count != frames)
        result = ex_error_set(error, EX_ERROR_DATA,
                              "%s: this predictor looks at %d moving frames, but the driver has %d: the driver's mesh "
                              "and \"frames\" must be those that were learned with",
                              layer->predictor, def.frame_count - 1, frames - 1);
    return ex_error_within(error, result, "layers[%d].weigh.predictor", (int)(layer - d->view->layers));
}

static ex_result check_residual(const exi_project_driver *d, const ex_skin *skin, ex_error *error) {
    if (!skin || !d->view->driver.residual || d->options.residual == EX_RESIDUAL_NONE)
        return EX_OK;
    return ex_error_set(error, EX_ERROR_DATA,
                        "settle.residual: a mesh with its own skin is posed by its skeleton, so the driver's motion is "
                        "not carried to it: \"none\" is needed here");
}

ex_result exi_project_driver_open(exi_project_driver *d, const ex_project_view *view, const ex_mesh *mesh,
                                  const ex_skeleton *skeleton, const ex_skin *skin, ex_error *error) {
    *d = (exi_project_driver){.view = view};
    if (!view->driver.mesh)
        return EX_OK;
    ex_result result =
        ex_error_within(error, exi_project_read_mesh(view, view->driver.mesh, &d->mesh, error), "driver.mesh");
    if (result == EX_OK)
        result = read_options(d, mesh, skeleton, skin, error);
    if (result == EX_OK)
        result = check_residual(d, skin, error);
    if (result == EX_OK)
        result = make_frames(d, mesh, skeleton, skin, error);
    return result == EX_OK ? read_predictor(d, error) : result;
}

ex_result exi_project_driver_take(exi_project_driver *d, const ex_project_view *view, ex_mesh *of_driver,
                                  const ex_drive_options *options, const ex_mesh *mesh, const ex_skeleton *skeleton,
                                  const ex_skin *skin, ex_error *error) {
    *d = (exi_project_driver){.view = view, .mesh = of_driver, .options = *options};
    return make_frames(d, mesh, skeleton, skin, error);
}

void exi_project_driver_close(exi_project_driver *d) {
    for (int i = 0; i < d->form_count; i++)
        free(d->forms[i].form);
    free(d->forms);
    for (int i = 0; d->regions && i < d->options.region_count; i++) {
        free((void *)(uintptr_t)d->regions[i].look);
        free((void *)(uintptr_t)d->regions[i].mask);
    }
    free(d->regions);
    free(d->driver_weights);
    ex_drive_free_binds(d->binds);
    ex_predictor_destroy(d->predictor);
    ex_skin_destroy(d->carry);
    free(d->links);
    ex_driver_destroy(d->driver);
    exi_drive_plan_free(&d->driving);
    ex_mesh_destroy(d->mesh);
    *d = (exi_project_driver){0};
}

/* ---- forms ---- */

static const float *find(const exi_project_driver *d, const char *path) {
    for (int i = 0; i < d->form_count; i++)
        if (strcmp(d->forms[i].path, path) == 0)
            return d->forms[i].form;
    return NULL;
}

static ex_result keep(exi_project_driver *d, const char *path, float *form, ex_error *error) {
    exi_driver_form *forms = exi_array_grow(d->forms, &d->form_capacity, (size_t)d->form_count + 1, sizeof *forms);
    if (forms)
        d->forms = forms;
    if (!form || !forms) {
        free(form);
        return ex_error_memory(error, "a form of the driver", 12 * (size_t)d->mesh->vertex_count);
    }
    d->forms[d->form_count++] = (exi_driver_form){.path = path, .form = form};
    return EX_OK;
}

static ex_result round_form(const ex_mesh *mesh, const char *path, float *form, ex_error *error) {
    for (size_t i = 0; i < 3 * (size_t)mesh->vertex_count; i++) {
        form[i] = (float)mesh->positions[i];
        if (!isfinite(form[i]) || fabsf(form[i]) > 1e18F)
            return ex_error_set(error, EX_ERROR_DATA, "%s: vertex %zu is not finite, or too far away", path, i / 3);
    }
    return EX_OK;
}

ex_result exi_project_driver_read_form(exi_project_driver *d, const char *path, ex_error *error) {
    ex_mesh *mesh = NULL;
    ex_error difference = {0};
    if (find(d, path))
        return EX_OK;
    ex_result result = exi_project_read_mesh(d->view, path, &mesh, error);
    if (result != EX_OK)
        return result;
    result = ex_mesh_compare_connectivity(d->mesh, mesh, &difference);
    if (result != EX_OK)
        ex_error_set(error, result, "%s: not a form of the driver '%s': %s", path, d->view->driver.mesh,
                     difference.text);
    float *form = result == EX_OK ? exi_array_allocate(3 * (size_t)mesh->vertex_count, sizeof *form) : NULL;
    if (form)
        result = round_form(mesh, path, form, error);
    if (result == EX_OK)
        result = keep(d, path, form, error);
    else
        free(form);
    ex_mesh_destroy(mesh);
    return result;
}

ex_result exi_project_driver_add_form(exi_project_driver *d, const char *path, const float *form, ex_error *error) {
    const size_t count = 3 * (size_t)d->mesh->vertex_count;
    float *copy = exi_array_allocate(count, sizeof *copy);
    if (copy)
        memcpy(copy, form, count * sizeof *copy);
    return keep(d, path, copy, error);
}

const float *exi_project_driver_form(const exi_project_driver *d, const ex_project_example *example) {
    return example->driver ? find(d, example->driver) : NULL;
}

void exi_project_driver_fill(const exi_project_driver *d, const ex_project_layer *source, const float **keys,
                             ex_layer_def *layer) {
    if (source->dimension == 0)
        layer->weigh.points = NULL;
    layer->driven.joints = NULL;
    layer->driven.predictor = d->predictor;
    if (d->predictor)
        return;
    for (int k = 0; k < source->example_count; k++)
        keys[k] = exi_project_driver_form(d, &source->examples[k]);
    layer->driven.keys = keys;
    layer->driven.view_count = d->driving.view_count;
    layer->driven.views = d->driving.views;
    layer->driven.regions = d->driving.regions;
}

/* ---- joints ---- */

void exi_example_joints(const ex_skeleton *skeleton, const ex_project_example *example, ex_transform *locals) {
    for (int j = 0; j < ex_skeleton_joint_count(skeleton); j++)
        locals[j] = ex_skeleton_rest(skeleton, j);
    for (int i = 0; i < example->joint_count; i++) {
        const int joint = ex_skeleton_find(skeleton, example->joints[i].name);
        if (joint >= 0)
            locals[joint] = exi_pose_compose(&locals[joint], &example->joints[i].relative);
    }
    for (int i = 0; i < example->local_count; i++) {
        const int joint = ex_skeleton_find(skeleton, example->locals[i].name);
        if (joint >= 0)
            locals[joint] = example->locals[i].relative;
    }
}

ex_result exi_project_driver_joints(const exi_project_driver *d, const ex_project_layer *source,
                                    const ex_skeleton *skeleton, const ex_transform *const **joints, ex_error *error) {
    const size_t count = (size_t)source->example_count;
    *joints = NULL;
    if (d->options.frame != EX_WHOLE_FRAME_JOINT || !skeleton)
        return EX_OK;
    const size_t joint_count = (size_t)ex_skeleton_joint_count(skeleton);
    const ex_transform **list = calloc(count + 1, sizeof *list); /* ends with NULL */
    *joints = list;
    for (size_t k = 0; list && k < count; k++) {
        ex_transform *locals = exi_array_allocate(joint_count, sizeof *locals);
        list[k] = locals;
        if (!locals)
            return ex_error_memory(error, "the skeleton", joint_count * sizeof *locals);
        exi_example_joints(skeleton, &source->examples[k], locals);
    }
    return list ? EX_OK : ex_error_memory(error, "the skeleton", count * sizeof *list);
}

void exi_project_driver_free_joints(const ex_transform *const *joints) {
    for (int k = 0; joints && joints[k]; k++)
        free((void *)(uintptr_t)joints[k]);
    free((void *)(uintptr_t)joints);
}

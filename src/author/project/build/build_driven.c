/*
 * Builds the layer that a driver weighs: the driver's forms at its examples, the skeleton there if any, the regions
 * that weigh it, and paths of driver and driven mesh together. The result equals that of ex_drive_build for keys. A
 * layer that follows motion has a predictor instead.
 */
#include "author/base/array.h"
#include "author/drive/drive_build.h"
#include "author/project/build/build.h"
#include "runtime/base/result.h"

#include <stdlib.h>
#include <string.h>

/* ---- the driver ---- */

ex_result exi_build_driver(exi_building *b, ex_error *error) {
    ex_result result = b->view->driver.mesh ? exi_build_report(b, "driver", error) : EX_OK;
    if (result == EX_OK)
        result = exi_project_driver_open(&b->driver, b->view, b->mesh, b->skeleton, b->skin, error);
    for (int l = 0; l < b->view->layer_count; l++)
        for (int k = 0; result == EX_OK && k < b->view->layers[l].example_count; k++) {
            const ex_project_example *example = &b->view->layers[l].examples[k];
            if (example->driver)
                result = ex_error_within(error, exi_project_driver_read_form(&b->driver, example->driver, error),
                                         "layers[%d].examples[%d] '%s', %s", l, example->place, example->name,
                                         b->view->driver.name);
        }
    return result;
}

/* ---- the layer ---- */

/* Refuses keys at which the driver has the same form: they cannot be told apart. */
static ex_result check_different(const exi_building *b, const ex_project_layer *source, const ex_layer_def *layer,
                                 ex_error *error) {
    const size_t size = 3 * (size_t)b->driver.mesh->vertex_count * sizeof(float);
    for (int k = 1; k < source->example_count; k++)
        for (int i = 0; i < k; i++)
            if ((source->dimension == 0 || source->weigh.points[i] == source->weigh.points[k]) &&
                memcmp(layer->driven.keys[i], layer->driven.keys[k], size) == 0)
                return ex_error_set(error, EX_ERROR_DATA,
                                    "the driver has the same form at examples '%s' and '%s': leave one of them out",
                                    source->examples[i].name, source->examples[k].name);
    return EX_OK;
}

/* ---- paths ---- */

/* Un-poses the driver's forms from their moving frames, and places them after room for the mesh's; one list
 * [example_count]. */
static ex_result unpose_drivers(const exi_building *b, int index, exi_drive_building *d, ex_error *error) {
    const ex_project_layer *source = &b->view->layers[index];
    const size_t driven = 3 * (size_t)b->mesh->vertex_count, all = driven + 3 * (size_t)b->driver.mesh->vertex_count;
    ex_result result =
        exi_moving_frames_open(&d->carrier, &d->driving.driver, b->rig_mesh.positions, b->mesh->vertex_count, error);
    d->unposed = exi_arena_allocate(&d->arena, (size_t)source->example_count, sizeof *d->unposed);
    if (result == EX_OK && !d->unposed)
        result = ex_error_memory(error, "the trajectories", all * sizeof **d->unposed);
    for (int k = 0; result == EX_OK && k < source->example_count; k++) {
        const float *form = exi_project_driver_form(&b->driver, &source->examples[k]);
        exi_posing posing;
        d->unposed[k] = exi_arena_allocate(&d->arena, all, sizeof **d->unposed);
        const bool fits = d->unposed[k] && exi_posing_open_carried(&posing, &b->measure, &source->examples[k]);
        if (fits) {
            exi_moving_frames_place(&d->carrier, form, posing.matrices, d->driving.driver.joints);
            exi_moving_frames_unpose(&d->carrier, d->carrier.rest, form);
            memcpy(d->unposed[k], d->carrier.unposed, all * sizeof **d->unposed);
        } else {
            result = ex_error_memory(error, "the trajectories", all * sizeof **d->unposed);
        }
        if (d->unposed[k])
            exi_posing_close(&posing);
    }
    return result;
}

static ex_result find_paths(exi_building *b, int index, ex_layer_def *layer, ex_error *error) {
    const ex_project_layer *source = &b->view->layers[index];
    const ex_drive_def def = {
        .driver = b->driver.mesh, .key_count = source->example_count, .options = b->driver.options};
    exi_drive_building d = {.def = &def,
                            .driving = b->driver.driving,
                            .driven = b->mesh,
                            .names = (const char **)(uintptr_t)source->weigh.names,
                            .deltas = (const float **)(uintptr_t)layer->form.deltas,
                            .layer = *layer};
    ex_result result = unpose_drivers(b, index, &d, error);
    if (result == EX_OK)
        result = exi_drive_build_trajectories(&d, error);
    b->driven_paths = d.paths;
    *layer = d.layer;
    b->example_done += EXI_BUILD_PATH_COST * source->example_count;
    exi_moving_frames_close(&d.carrier);
    exi_arena_free(&d.arena);
    return result;
}

ex_result exi_build_driven(exi_building *b, int index, ex_layer_def *layer, ex_error *error) {
    const ex_project_layer *source = &b->view->layers[index];
    if (source->predictor) {
        exi_project_driver_fill(&b->driver, source, NULL, layer);
        return EX_OK;
    }
    const float **keys = calloc((size_t)source->example_count, sizeof *keys);
    if (!keys)
        return ex_error_memory(error, "a layer", (size_t)source->example_count * sizeof *keys);
    exi_project_driver_fill(&b->driver, source, keys, layer);
    ex_result result = check_different(b, source, layer, error);
    if (result == EX_OK)
        result = exi_project_driver_joints(&b->driver, source, b->skeleton, &layer->driven.joints, error);
    if (result == EX_OK && source->trajectory.options)
        result = find_paths(b, index, layer, error);
    return result;
}

void exi_build_free_driven(ex_layer_def *layer) {
    exi_project_driver_free_joints(layer->driven.joints);
    free((void *)(uintptr_t)layer->driven.keys);
}

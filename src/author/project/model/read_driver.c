/*
 * Reads a project's settings of the mesh that drives it: "driver" and "settle" of the project, the layer that the
 * driver weighs, and the driver's form at an example (DrivenShape).
 */
#include "author/drive/drive.h"
#include "author/project/model/reader.h"
#include "runtime/base/result.h"

#include <string.h>

/* ---- the moving frames ---- */

static ex_result read_frame(exi_project_reader *r, const json_t *value, const exi_place *place,
                            ex_project_driver *driver) {
    static const char *const words[] = {"fit", "none"};
    static const char *const keys[] = {"joint", "group", NULL};
    int choice = 0;
    if (!value || json_is_string(value)) {
        ex_result result = value ? exi_choose(&r->keys, value, place, words, 2, &choice) : EX_OK;
        driver->options.frame = choice == 0 ? EX_WHOLE_FRAME_FIT : EX_WHOLE_FRAME_NONE;
        return result;
    }
    if (json_object_size(value) != 1)
        return ex_error_set(
            r->keys.error, EX_ERROR_DATA,
            "%s: one of \"fit\", \"none\", {\"joint\": \"NAME\"} and {\"group\": \"NAME\"} is needed here",
            place->text);
    ex_result result = exi_check_keys(&r->keys, value, place, keys);
    if (result == EX_OK && json_object_get(value, "joint") && !r->view->skeleton)
        result = ex_error_set(r->keys.error, EX_ERROR_DATA,
                              "%s.joint: the project has no joints: add \"skeleton\": \"FILE.glb\" to the project",
                              place->text);
    if (result == EX_OK)
        result = exi_get_text(&r->keys, value, place, "joint", false, &driver->joint);
    if (result == EX_OK)
        result = exi_get_text(&r->keys, value, place, "group", false, &driver->options.frame_group);
    driver->options.frame = driver->joint ? EX_WHOLE_FRAME_JOINT : EX_WHOLE_FRAME_FIT;
    return result;
}

/* Reads a number above 0, or not below 0. */
static ex_result get_width(exi_project_reader *r, const json_t *object, const exi_place *place, const char *key,
                           bool zero, double *value) {
    ex_result result = exi_get_number(&r->keys, object, place, key, value);
    if (result == EX_OK && !(*value > 0 || (zero && *value == 0)))
        result = ex_error_set(r->keys.error, EX_ERROR_DATA, "%s.%s: must %s", place->text, key,
                              zero ? "not be negative" : "be above 0");
    return result;
}

/* "auto": the default number; 0 and 1: one frame for the whole driver. */
static ex_result read_count(exi_project_reader *r, const json_t *object, const exi_place *place, const char *key,
                            ex_drive_options *o) {
    const char *word = json_string_value(json_object_get(object, key));
    if (word && strcmp(word, "auto") == 0) {
        o->frames = -1;
        return EX_OK;
    }
    return exi_get_range(&r->keys, object, place, key, 0, EX_DRIVER_FRAME_MAX, &o->frames);
}

static ex_result read_frames(exi_project_reader *r, const json_t *driver, const exi_place *place, ex_drive_options *o) {
    static const char *const keys[] = {"count", "fit", "look", "whole", "influences", NULL};
    const json_t *frames = json_object_get(driver, "frames");
    exi_place at = exi_place_key(place, "frames");
    o->frames = 1;
    if (!frames)
        return EX_OK;
    if (!json_is_object(frames))
        return read_count(r, driver, place, "frames", o);
    ex_result result = exi_check_keys(&r->keys, frames, &at, keys);
    if (result == EX_OK)
        result = read_count(r, frames, &at, "count", o);
    if (result == EX_OK)
        result = get_width(r, frames, &at, "fit", false, &o->fit);
    if (result == EX_OK)
        result = get_width(r, frames, &at, "look", false, &o->look);
    if (result == EX_OK)
        result = get_width(r, frames, &at, "whole", true, &o->whole);
    return result == EX_OK ? exi_get_range(&r->keys, frames, &at, "influences", 1, EX_INFLUENCE_MAX, &o->influences)
                           : result;
}

/* ---- settling ---- */

static ex_result read_residual(exi_project_reader *r, const json_t *settle, const exi_place *place,
                               ex_project_driver *driver) {
    static const char *const words[] = {
#define NAME(id, text) text,
        EX_RESIDUAL_LIST(NAME)
#undef NAME
    };
    const json_t *residual = json_object_get(settle, "residual");
    exi_place at = exi_place_key(place, "residual");
    int choice = 0;
    driver->residual = residual != NULL;
    if (json_is_boolean(residual))
        driver->options.residual = json_is_true(residual) ? EX_RESIDUAL_KEYS : EX_RESIDUAL_NONE;
    if (!residual || json_is_boolean(residual))
        return EX_OK;
    ex_result result = exi_choose(&r->keys, residual, &at, words, EX_RESIDUAL_COUNT, &choice);
    driver->options.residual = (ex_residual)choice;
    return result;
}

static ex_result read_settle(exi_project_reader *r, const json_t *root, ex_project_driver *driver) {
    static const char *const keys[] = {"residual", "thickness", "push", "bind", NULL};
    const json_t *settle = json_object_get(root, "settle");
    exi_place top = {""}, at = exi_place_key(&top, "settle");
    ex_drive_options *o = &driver->options;
    if (!settle)
        return EX_OK;
    if (!driver->mesh)
        return ex_error_set(r->keys.error, EX_ERROR_DATA,
                            "%s: there is nothing to settle on: add \"driver\": {\"mesh\": \"FILE.obj\"}", at.text);
    ex_result result = exi_check_keys(&r->keys, settle, &at, keys);
    if (result == EX_OK)
        result = read_residual(r, settle, &at, driver);
    double thickness = o->thickness / r->view->unit;
    if (result == EX_OK)
        result = get_width(r, settle, &at, "thickness", true, &thickness);
    if (json_object_get(settle, "thickness"))
        o->thickness = thickness * r->view->unit;
    if (result == EX_OK)
        result = exi_get_bool(&r->keys, settle, &at, "push", &o->push);
    return result == EX_OK ? exi_get_text(&r->keys, settle, &at, "bind", false, &driver->bind) : result;
}

ex_result exi_read_driver(exi_project_reader *r, const json_t *root) {
    static const char *const keys[] = {"mesh", "frame", "frames", NULL};
    const json_t *object = json_object_get(root, "driver");
    exi_place top = {""}, at = exi_place_key(&top, "driver"), frame_at = exi_place_key(&at, "frame");
    ex_project_driver *driver = &r->view->driver;
    driver->options = ex_drive_options_default();
    ex_result result = EX_OK;
    if (object) {
        result = exi_check_keys(&r->keys, object, &at, keys);
        if (result == EX_OK)
            result = exi_get_text(&r->keys, object, &at, "mesh", true, &driver->mesh);
        if (result == EX_OK)
            result = read_frame(r, json_object_get(object, "frame"), &frame_at, driver);
        if (result == EX_OK)
            result = read_frames(r, object, &at, &driver->options);
        if (result == EX_OK && driver->options.frame == EX_WHOLE_FRAME_NONE && driver->options.frames > 1)
            result = ex_error_set(r->keys.error, EX_ERROR_DATA,
                                  "%s: %d frames move with the driver, so the frame of the whole driver cannot be "
                                  "\"none\": leave one of the two out",
                                  frame_at.text, driver->options.frames);
    }
    return result == EX_OK ? read_settle(r, root, driver) : result;
}

/* ---- the layer ---- */

/* A space with a driver axis is convex, or follows motion. */
static ex_result check_space(exi_project_reader *r, const exi_place *place, ex_project_layer *layer) {
    const ex_weigher_info *info = ex_weigher_kind_info(layer->weigh.kind);
    const bool driven = info->is_driven;
    exi_place space = exi_place_key(place, "space");
    int scalars = 0;
    const char *name = NULL;
    for (int i = 0; i < layer->axis_count; i++) {
        const ex_project_axis *axis = &layer->axes[i];
        exi_place at = exi_place_index(&space, (size_t)i);
        if (axis->axis.kind == EX_AXIS_DRIVER && !driven)
            return ex_error_set(r->keys.error, EX_ERROR_DATA,
                                "%s.driver: a driver axis needs \"weigh\": {\"kind\": \"convex\"}", at.text);
        if (axis->axis.kind == EX_AXIS_DRIVER && !r->view->driver.mesh)
            return ex_error_set(
                r->keys.error, EX_ERROR_DATA,
                "%s.driver: the project has no driver: add \"driver\": {\"mesh\": \"FILE.obj\"} to the project",
                at.text);
        if (axis->axis.kind == EX_AXIS_DRIVER && name)
            return ex_error_set(r->keys.error, EX_ERROR_DATA, "%s.driver: '%s' is already the driver axis", at.text,
                                name);
        if (axis->axis.kind == EX_AXIS_DRIVER)
            name = axis->name;
        else if (info->is_predicted)
            return ex_error_set(r->keys.error, EX_ERROR_DATA,
                                "%s: a space that follows motion has no axis besides that of the driver", at.text);
        else if (driven && (axis->axis.kind != EX_AXIS_SCALAR || scalars++ > 0))
            return ex_error_set(r->keys.error, EX_ERROR_DATA,
                                "%s: besides the driver axis, a convex space has at most one scalar axis", at.text);
    }
    if (driven && !name)
        return ex_error_set(r->keys.error, EX_ERROR_DATA,
                            "%s: \"kind\": \"%s\" needs a driver axis: add {\"name\": \"body\", \"driver\": true}",
                            space.text, ex_weigher_kind_name(layer->weigh.kind));
    if (driven && r->view->driver.name)
        return ex_error_set(r->keys.error, EX_ERROR_DATA, "%s: another layer already follows the driver: only one can",
                            space.text);
    layer->driven = driven;
    if (driven)
        r->view->driver.name = name;
    return EX_OK;
}

static ex_result read_regions(exi_project_reader *r, const json_t *list, const exi_place *place,
                              ex_project_layer *layer) {
    static const char *const keys[] = {"look", "mask", NULL};
    const size_t count = json_array_size(list);
    if (count == 0 || count > EX_DRIVER_FRAME_MAX)
        return ex_error_set(r->keys.error, EX_ERROR_DATA, "%s: a list of 1 to %d regions is needed here", place->text,
                            EX_DRIVER_FRAME_MAX);
    ex_project_region *regions = exi_arena_allocate(r->keys.arena, count, sizeof *regions);
    if (!regions)
        return ex_error_memory(r->keys.error, "the project", count * sizeof *regions);
    for (size_t i = 0; i < count; i++) {
        const json_t *region = json_array_get(list, i);
        exi_place at = exi_place_index(place, i), look = exi_place_key(&at, "look"), mask = exi_place_key(&at, "mask");
        ex_result result = exi_check_keys(&r->keys, region, &at, keys);
        if (result == EX_OK)
            result = exi_require_keys(&r->keys, region, &at, keys);
        if (result == EX_OK)
            result = exi_read_mask(r, json_object_get(region, "look"), &look, false, &regions[i].look);
        if (result == EX_OK)
            result = exi_read_mask(r, json_object_get(region, "mask"), &mask, true, &regions[i].mask);
        if (result != EX_OK)
            return result;
    }
    layer->regions = regions;
    layer->region_count = (int)count;
    return EX_OK;
}

/* Reads what a layer that follows motion has instead of regions. */
static ex_result read_predicted(exi_project_reader *r, const json_t *weigh, const exi_place *place,
                                ex_project_layer *layer) {
    const ex_project_driver *driver = &r->view->driver;
    if (driver->residual && driver->options.residual != EX_RESIDUAL_NONE)
        return ex_error_set(r->keys.error, EX_ERROR_DATA,
                            "settle.residual: a layer that follows motion has no keys that could carry a residual: "
                            "\"none\" is needed here");
    if (!json_object_get(weigh, "predictor"))
        return ex_error_set(
            r->keys.error, EX_ERROR_DATA,
            "%s.predictor: missing: name the file of the predictor, which 'exemplar unpack' writes from "
            "a rig that follows motion",
            place->text);
    return exi_get_text(&r->keys, weigh, place, "predictor", true, &layer->predictor);
}

ex_result exi_read_driven(exi_project_reader *r, const json_t *object, const exi_place *place,
                          ex_project_layer *layer) {
    const json_t *weigh = json_object_get(object, "weigh"), *weights = json_object_get(weigh, "driver_weights"),
                 *regions = json_object_get(weigh, "regions");
    exi_place at = exi_place_key(place, "weigh"), weights_at = exi_place_key(&at, "driver_weights"),
              regions_at = exi_place_key(&at, "regions");
    ex_result result = check_space(r, place, layer);
    if (result != EX_OK || !layer->driven)
        return result;
    if (ex_weigher_kind_info(layer->weigh.kind)->is_predicted)
        result = read_predicted(r, weigh, &at, layer);
    else
        result = exi_get_bool(&r->keys, weigh, &at, "one_region", &layer->one_region);
    if (result == EX_OK && weights)
        result = exi_read_mask(r, weights, &weights_at, false, &layer->driver_weights);
    if (result == EX_OK && regions && layer->one_region)
        return ex_error_set(r->keys.error, EX_ERROR_DATA,
                            "%s: \"one_region\" means that there is one: leave one of the two out", regions_at.text);
    if (result == EX_OK && regions)
        result = read_regions(r, regions, &regions_at, layer);
    ex_drive_options with_paths = r->view->driver.options;
    with_paths.paths = layer->trajectory.options != NULL;
    const int count = layer->region_count > 0 ? layer->region_count
                      : layer->one_region     ? 1
                                              : exi_drive_frame_count(&with_paths);
    if (result == EX_OK && layer->trajectory.options && count > 1)
        result = ex_error_set(
            r->keys.error, EX_ERROR_DATA,
            "%s.shape: trajectories allow only one region, but there are %d: add \"one_region\": true to \"weigh\"",
            place->text, count);
    return result;
}

ex_result exi_check_followed(exi_project_reader *r) {
    if (r->view->driver.mesh && !r->view->driver.name)
        return ex_error_set(r->keys.error, EX_ERROR_DATA,
                            "driver: no layer follows it: add one with \"weigh\": {\"kind\": \"convex\"} and an axis "
                            "{\"name\": \"body\", \"driver\": true}");
    return EX_OK;
}

/* Reads "locals", which unpacking writes so that building places a moving frame at a joint identically to the bit:
 * translation, rotation and scale of the joint. */
static ex_result read_locals(exi_project_reader *r, const json_t *object, const exi_place *place,
                             ex_project_example *example) {
    const json_t *locals = json_object_get(object, "locals");
    exi_place at = exi_place_key(place, "locals");
    ex_project_joint *list = exi_arena_allocate(r->keys.arena, json_object_size(locals), sizeof *list);
    const char *name;
    json_t *value;
    int count = 0;
    if (!list)
        return ex_error_memory(r->keys.error, "the project", json_object_size(locals) * sizeof *list);
    if (locals && (!json_is_object(locals) || r->view->driver.options.frame != EX_WHOLE_FRAME_JOINT))
        return ex_error_set(r->keys.error, EX_ERROR_DATA,
                            "%s: an object of joint names and lists of ten numbers is needed here, and only if the "
                            "driver's frame follows a joint",
                            at.text);
    json_object_foreach((json_t *)locals, name, value) {
        exi_place here = exi_place_key(&at, name);
        double n[10];
        if (json_array_size(value) != 10)
            return ex_error_set(r->keys.error, EX_ERROR_DATA,
                                "%s: ten numbers are needed here: translation, rotation x y z w, scale", here.text);
        for (size_t i = 0; i < 10; i++) {
            exi_place number = exi_place_index(&here, i);
            ex_result result = exi_json_number(json_array_get(value, i), &number, &n[i], r->keys.error);
            if (result != EX_OK)
                return result;
        }
        list[count].name = exi_arena_text(r->keys.arena, name);
        if (!list[count].name)
            return ex_error_memory(r->keys.error, "the project", strlen(name));
        for (int i = 0; i < 4; i++) {
            list[count].relative.rotation[i] = (float)n[3 + i];
            if (i < 3) {
                list[count].relative.translation[i] = (float)n[i];
                list[count].relative.scale[i] = (float)n[7 + i];
            }
        }
        count++;
    }
    example->locals = list;
    example->local_count = count;
    return EX_OK;
}

ex_result exi_read_driver_form(exi_project_reader *r, const json_t *object, const exi_place *place,
                               const ex_project_layer *layer, ex_project_example *example) {
    const char *name = r->view->driver.name;
    const json_t *at = json_object_get(object, "at"), *posed = json_object_get(object, "posed");
    exi_place at_place = exi_place_key(place, "at");
    bool stands = true;
    if (posed && (!layer->driven || (!layer->unposed && !layer->trajectory.options)))
        return ex_error_set(r->keys.error, EX_ERROR_DATA,
                            "%s.posed: only forms that a driver carries have this, in a layer of \"unposed\" forms or "
                            "trajectories weighed by it",
                            place->text);
    if (json_object_get(object, "locals") && !layer->driven)
        return ex_error_set(r->keys.error, EX_ERROR_DATA, "%s.locals: only examples weighed by a driver have this",
                            place->text);
    ex_result result = exi_get_bool(&r->keys, object, place, "posed", &stands);
    if (result == EX_OK && layer->predictor && posed && stands)
        return ex_error_set(r->keys.error, EX_ERROR_DATA,
                            "%s.posed: forms of a layer that follows motion are at rest: false is needed here",
                            place->text);
    if (result == EX_OK)
        result = read_locals(r, object, place, example);
    example->rest = layer->driven && (!stands || layer->predictor || (!layer->unposed && !layer->trajectory.options));
    if (result == EX_OK && layer->predictor && json_object_get(at, name))
        return ex_error_set(r->keys.error, EX_ERROR_DATA,
                            "%s.%s: forms of a layer that follows motion belong to no form of the driver: leave this "
                            "out",
                            at_place.text, name);
    if (result == EX_OK && name && json_object_get(at, name))
        result = exi_get_text(&r->keys, at, &at_place, name, true, &example->driver);
    if (result == EX_OK && layer->driven && !layer->predictor && !example->driver)
        result = ex_error_set(r->keys.error, EX_ERROR_DATA, "%s.%s: missing: name the file of the driver's form",
                              at_place.text, name);
    return result;
}

/*
 * Points of spaces, from objects of axis names and values. A named axis has the written value; others are read from
 * their joint, or are at rest.
 */
#include "author/project/model/reader.h"
#include "runtime/base/result.h"

#include <string.h>

/* ---- names and values ---- */

const ex_project_axis *exi_find_axis(const exi_project_reader *r, const ex_project_layer *layer, const char *name) {
    for (int i = 0; i < layer->axis_count; i++)
        if (strcmp(layer->axes[i].name, name) == 0)
            return &layer->axes[i];
    for (int l = 0; l < r->view->layer_count; l++)
        for (int i = 0; i < r->view->layers[l].axis_count; i++)
            if (strcmp(r->view->layers[l].axes[i].name, name) == 0)
                return &r->view->layers[l].axes[i];
    return NULL;
}

ex_result exi_read_value(exi_project_reader *r, const json_t *value, const exi_place *place,
                         const ex_project_axis *axis, double *numbers) {
    if (axis->axis.kind == EX_AXIS_DRIVER) /* a file, which has no numbers */
        return json_string_length(value) > 0
                   ? EX_OK
                   : ex_error_set(r->keys.error, EX_ERROR_DATA, "%s: the file of a form of the driver is needed here",
                                  place->text);
    return axis->axis.kind == EX_AXIS_SCALAR ? exi_json_number(value, place, numbers, r->keys.error)
                                             : exi_json_rotation(value, place, numbers, r->keys.error);
}

/* Suggests the nearest name of the layer first, then of the others. */
static ex_result unknown_axis(exi_project_reader *r, const ex_project_layer *layer, const exi_place *place,
                              const char *name) {
    const char *names[EX_AXIS_MAX];
    int count = 0;
    for (int l = -1; l < r->view->layer_count; l++) {
        const ex_project_layer *from = l < 0 ? layer : &r->view->layers[l];
        for (int i = 0; i < from->axis_count && count < EX_AXIS_MAX; i++)
            names[count++] = from->axes[i].name;
    }
    const char *near = ex_suggest(name, names, count);
    if (near)
        return ex_error_set(r->keys.error, EX_ERROR_DATA, "%s: there is no axis '%s'; did you mean '%s'?", place->text,
                            name, near);
    return ex_error_set(r->keys.error, EX_ERROR_DATA, "%s: there is no axis '%s' in this project", place->text, name);
}

ex_result exi_check_axes(exi_project_reader *r, const json_t *object, const exi_place *place,
                         const ex_project_layer *layer) {
    if (!json_is_object(object))
        return ex_error_set(r->keys.error, EX_ERROR_DATA, "%s: an object of axis names and values is needed here",
                            place->text);
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)object, key, value) {
        exi_place at = exi_place_key(place, key);
        const ex_project_axis *axis = exi_find_axis(r, layer, key);
        double unused[4];
        ex_result result = axis ? exi_read_value(r, value, &at, axis, unused) : unknown_axis(r, layer, &at, key);
        if (result != EX_OK)
            return result;
    }
    return EX_OK;
}

/* ---- points ---- */

const ex_transform *exi_find_joint(const ex_project_joint *joints, int count, const char *name) {
    for (int i = 0; i < count; i++)
        if (strcmp(joints[i].name, name) == 0)
            return &joints[i].relative;
    return NULL;
}

/* Reads the value of an axis that is not named. */
static void read_unnamed(const ex_project_axis *axis, const ex_transform *joint, double *out) {
    const ex_transform rest = ex_transform_identity();
    if (axis->axis.kind == EX_AXIS_DRIVER)
        return;
    if (joint)
        ex_reading_read(&axis->reading, &rest, joint, out);
    else if (axis->axis.kind == EX_AXIS_SCALAR)
        *out = axis->axis.rest;
    else
        memcpy(out, axis->axis.rest_rotation, 4 * sizeof *out);
}

double *exi_point_in(exi_project_reader *r, const json_t *object, const ex_project_joint *joints, int joint_count,
                     const ex_project_layer *layer) {
    double *values = exi_arena_allocate(r->keys.arena, (size_t)layer->dimension, sizeof *values), *out = values;
    exi_project_reader quiet = {.keys.arena = r->keys.arena, .view = r->view};
    exi_place nowhere = {""};
    for (int i = 0; values && i < layer->axis_count; i++) {
        const ex_project_axis *axis = &layer->axes[i];
        const json_t *given = json_object_get(object, axis->name);
        if (!given || exi_read_value(&quiet, given, &nowhere, axis, out) != EX_OK)
            read_unnamed(axis, axis->joint ? exi_find_joint(joints, joint_count, axis->joint) : NULL, out);
        out += ex_axis_width(&axis->axis);
    }
    return values;
}

ex_result exi_read_point(exi_project_reader *r, const json_t *object, const exi_place *place,
                         const ex_project_layer *layer, const double **point) {
    ex_result result = exi_check_axes(r, object, place, layer);
    if (result != EX_OK)
        return result;
    *point = exi_point_in(r, object, NULL, 0, layer);
    return *point ? EX_OK : ex_error_memory(r->keys.error, "the project", (size_t)layer->dimension * sizeof **point);
}

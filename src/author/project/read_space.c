/*
 * Reading a layer's space and its weigher: axes (scalars and rotations), kinds, kernels and their parameters.
 */
#include "author/project/keys.h"
#include "runtime/base/result.h"
#include "runtime/base/text.h"

#include <string.h>

/* ---- the space ---- */

static bool usable_axis_name(const char *name) {
    return exi_is_name(name) && !strpbrk(name, "=,\"") && strncmp(name, "joint:", 6) != 0 && strcmp(name, "time") != 0;
}

static ex_result read_scalar_axis(exi_reader *r, const json_t *object, const exi_place *place, ex_axis *axis) {
    static const char *const needed[] = {"min", "max", NULL};
    ex_result result = exi_require_keys(r, object, place, needed);
    if (result == EX_OK)
        result = exi_get_number(r, object, place, "min", &axis->min);
    if (result == EX_OK)
        result = exi_get_number(r, object, place, "max", &axis->max);
    if (result != EX_OK)
        return result;
    if (!(axis->max > axis->min))
        return exi_error(r->error, EX_ERROR_DATA, "%s: max (%g) must be greater than min (%g)", place->text, axis->max,
                         axis->min);
    axis->rest = 0 < axis->min ? axis->min : 0 > axis->max ? axis->max : 0;
    result = exi_get_number(r, object, place, "rest", &axis->rest);
    return result == EX_OK ? exi_get_bool(r, object, place, "clamp", &axis->clamp) : result;
}

static ex_result read_about(exi_reader *r, const json_t *value, const exi_place *place, double about[3]) {
    static const char *const axes[] = {"x", "y", "z"};
    if (json_is_string(value)) {
        int axis = 0;
        ex_result result = exi_choose(r, value, place, axes, 3, &axis);
        about[0] = axis == 0;
        about[1] = axis == 1;
        about[2] = axis == 2;
        return result;
    }
    if (json_array_size(value) != 3)
        return exi_error(r->error, EX_ERROR_DATA, "%s: a direction is \"x\", \"y\", \"z\" or a list of three numbers",
                         place->text);
    double length = 0;
    for (size_t i = 0; i < 3; i++) {
        exi_place at = exi_place_index(place, i);
        ex_result result = exi_json_number(json_array_get(value, i), &at, &about[i], r->error);
        if (result != EX_OK)
            return result;
        length += about[i] * about[i];
    }
    return length > 0 ? EX_OK : exi_error(r->error, EX_ERROR_DATA, "%s: this direction is zero", place->text);
}

static ex_result read_rotation_axis(exi_reader *r, const json_t *object, const exi_place *place, ex_axis *axis) {
    static const char *const kinds[] = {"full", "swing", "twist"};
    exi_place at = exi_place_key(place, "rotation");
    int kind = 0;
    ex_result result = exi_choose(r, json_object_get(object, "rotation"), &at, kinds, 3, &kind);
    if (result != EX_OK)
        return result;
    *axis = ex_axis_rotation((ex_axis_kind)(EX_AXIS_ROTATION + kind), NULL);
    const json_t *about = json_object_get(object, "about"), *rest = json_object_get(object, "rest");
    at = exi_place_key(place, "about");
    if (kind == 0 && about)
        return exi_error(r->error, EX_ERROR_DATA, "%s: a full rotation is about no axis in particular", at.text);
    if (kind != 0 && !about)
        return exi_error(r->error, EX_ERROR_DATA, "%s: a swing or twist needs \"about\"", place->text);
    if (about)
        result = read_about(r, about, &at, axis->about);
    at = exi_place_key(place, "rest");
    if (result == EX_OK && rest)
        result = exi_json_rotation(rest, &at, axis->rest_rotation, r->error);
    return result;
}

static ex_result read_axis(exi_reader *r, const json_t *object, const exi_place *place, ex_project_axis *axis) {
    static const char *const scalar_keys[] = {"name", "unit", "min", "max", "rest", "scale", "clamp", NULL};
    static const char *const rotation_keys[] = {"name", "unit", "rotation", "about", "rest", "scale", NULL};
    const bool rotation = json_object_get(object, "rotation") != NULL;
    ex_result result = exi_check_keys(r, object, place, rotation ? rotation_keys : scalar_keys);
    axis->axis = ex_axis_scalar(0, 1, 0);
    if (result == EX_OK)
        result = exi_get_text(r, object, place, "name", true, &axis->name);
    if (result == EX_OK && !usable_axis_name(axis->name))
        result =
            exi_error(r->error, EX_ERROR_DATA,
                      "%s.name: an axis name has 1 to %d bytes, no '=', ',' or '\"', and is not 'time' or 'joint:…'",
                      place->text, EXI_NAME_MAX);
    if (result == EX_OK)
        result = exi_get_text(r, object, place, "unit", false, &axis->unit);
    if (result == EX_OK)
        result = rotation ? read_rotation_axis(r, object, place, &axis->axis)
                          : read_scalar_axis(r, object, place, &axis->axis);
    if (result == EX_OK)
        result = exi_get_number(r, object, place, "scale", &axis->axis.scale);
    if (result == EX_OK && json_object_get(object, "scale") && !(axis->axis.scale > 0))
        result = exi_error(r->error, EX_ERROR_DATA, "%s.scale: must be above 0", place->text);
    return result;
}

ex_result exi_read_space(exi_reader *r, const json_t *layer, const exi_place *place, ex_project_layer *out) {
    const json_t *space = json_object_get(layer, "space");
    exi_place at = exi_place_key(place, "space");
    if (json_array_size(space) == 0)
        return exi_error(r->error, EX_ERROR_DATA, "%s: a list of at least one axis is needed here", at.text);
    size_t count = json_array_size(space);
    ex_project_axis *axes = exi_arena_allocate(r->arena, count, sizeof *axes);
    ex_axis *plain = exi_arena_allocate(r->arena, count, sizeof *plain);
    if (!axes || !plain)
        return exi_error_memory(r->error, "the project", count * sizeof *axes);
    for (size_t i = 0; i < count; i++) {
        exi_place here = exi_place_index(&at, i);
        ex_result result = read_axis(r, json_array_get(space, i), &here, &axes[i]);
        if (result != EX_OK)
            return result;
        for (size_t k = 0; k < i; k++)
            if (strcmp(axes[k].name, axes[i].name) == 0)
                return exi_error(r->error, EX_ERROR_DATA, "%s.name: this space has an axis '%s' already", here.text,
                                 axes[i].name);
        plain[i] = axes[i].axis;
        out->dimension += ex_axis_width(&plain[i]);
    }
    out->axes = axes;
    out->axis_count = (int)count;
    out->weigh.axes = plain;
    out->weigh.axis_count = (int)count;
    return EX_OK;
}

/* ---- the weigher ---- */

static ex_result check_weigh(exi_reader *r, const exi_place *place, const ex_weigher_def *def) {
    const bool second_order = def->kernel == EX_KERNEL_THIN_PLATE || def->kernel == EX_KERNEL_TRIHARMONIC;
    if (!(def->radius > 0))
        return exi_error(r->error, EX_ERROR_DATA, "%s.radius: must be above 0", place->text);
    if (!(def->ridge >= 0))
        return exi_error(r->error, EX_ERROR_DATA, "%s.ridge: must not be negative", place->text);
    if (!(def->power > 0 && def->power <= 64))
        return exi_error(r->error, EX_ERROR_DATA, "%s.power: must be above 0 and at most 64", place->text);
    if (def->neighbours > EX_NEIGHBOUR_MAX)
        return exi_error(r->error, EX_ERROR_DATA, "%s.k: must be at most %d", place->text, EX_NEIGHBOUR_MAX);
    if (!def->linear && second_order)
        return exi_error(r->error, EX_ERROR_DATA, "%s.linear: kernel \"%s\" needs the linear part", place->text,
                         ex_kernel_name(def->kernel));
    return EX_OK;
}

ex_result exi_read_weigh(exi_reader *r, const json_t *layer, const exi_place *place, ex_weigher_def *def) {
    static const char *const kind_names[] = {
#define NAME(id, text) text,
        EX_WEIGHER_LIST(NAME)
#undef NAME
    };
    static const char *const kernel_names[] = {
#define NAME(id, text) text,
        EX_KERNEL_LIST(NAME)
#undef NAME
    };
    static const char *const keys[EX_WEIGHER_COUNT][6] = {
        [EX_WEIGHER_CARDINAL] = {"kind", "kernel", "linear", "radius", "ridge", NULL},
        [EX_WEIGHER_DIRECT] = {"kind", NULL},
        [EX_WEIGHER_SHEPARD] = {"kind", "power", NULL},
        [EX_WEIGHER_NEAREST] = {"kind", "k", "form", NULL},
    };
    static const char *const forms[] = {"paper", "next"};
    *def = ex_weigher_def_default();
    const json_t *weigh = json_object_get(layer, "weigh");
    exi_place at = exi_place_key(place, "weigh"), here = exi_place_key(&at, "kind");
    if (!weigh)
        return EX_OK;
    if (!json_is_object(weigh))
        return exi_error(r->error, EX_ERROR_DATA, "%s: an object such as {\"kind\": \"cardinal\"} is needed here",
                         at.text);
    int choice = EX_WEIGHER_CARDINAL;
    ex_result result = EX_OK;
    if (json_object_get(weigh, "kind"))
        result = exi_choose(r, json_object_get(weigh, "kind"), &here, kind_names, EX_WEIGHER_COUNT, &choice);
    if (result != EX_OK)
        return result;
    def->kind = (ex_weigher_kind)choice;
    result = exi_check_keys(r, weigh, &at, keys[choice]);
    here = exi_place_key(&at, "kernel");
    choice = (int)def->kernel;
    if (result == EX_OK && json_object_get(weigh, "kernel"))
        result = exi_choose(r, json_object_get(weigh, "kernel"), &here, kernel_names, EX_KERNEL_COUNT, &choice);
    def->kernel = (ex_kernel)choice;
    if (result == EX_OK)
        result = exi_get_bool(r, weigh, &at, "linear", &def->linear);
    if (result == EX_OK)
        result = exi_get_number(r, weigh, &at, "radius", &def->radius);
    if (result == EX_OK)
        result = exi_get_number(r, weigh, &at, "ridge", &def->ridge);
    if (result == EX_OK)
        result = exi_get_number(r, weigh, &at, "power", &def->power);
    if (result == EX_OK)
        result = exi_get_count(r, weigh, &at, "k", &def->neighbours);
    here = exi_place_key(&at, "form");
    choice = 1;
    if (result == EX_OK && json_object_get(weigh, "form"))
        result = exi_choose(r, json_object_get(weigh, "form"), &here, forms, 2, &choice);
    def->paper_form = choice == 0;
    return result == EX_OK ? check_weigh(r, &at, def) : result;
}

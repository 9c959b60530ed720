/*
 * Converts places to the JSON of a project file. Input is kept as given: degrees stay degrees, and axes keep the order
 * in which they were named.
 */
#include "author/base/array.h"
#include "author/base/json.h"
#include "author/project/sculpt/sculpt.h"
#include "runtime/base/text.h"
#include "runtime/base/vector.h"

#include <exemplar/author/base.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char letters[] = "xyz";

/* ---- values ---- */

static bool has_axis_twice(const ex_setting *setting) {
    for (int i = 0; i < setting->turn_count; i++)
        for (int j = 0; j < i; j++)
            if (setting->turns[i].axis == setting->turns[j].axis)
                return true;
    return false;
}

/* Returns {"x": 30, "y": -10}; NULL without memory. No axis may be named twice. */
static json_t *make_turns(const ex_setting *setting) {
    json_t *turns = json_object();
    for (int i = 0; turns && i < setting->turn_count; i++) {
        const char letter[2] = {letters[setting->turns[i].axis], 0};
        if (json_object_set_new(turns, letter, exi_json_make_number(setting->turns[i].degrees)) != 0) {
            json_decref(turns);
            return NULL;
        }
    }
    return turns;
}

json_t *exi_json_make_rotation(const double q[4]) {
    double unit[4];
    memcpy(unit, q, sizeof unit);
    exi_normalise(unit, 4);
    for (int i = 0; i < 3; i++)
        if (fabs(unit[(i + 1) % 3]) < 1e-9 && fabs(unit[(i + 2) % 3]) < 1e-9) {
            const char letter[2] = {letters[i], 0};
            double degrees = 2 * atan2(unit[i], unit[3]) * (180 / 3.14159265358979323846);
            degrees -= 360 * round(degrees / 360);
            /* Restore a number that was typed as a whole number. */
            const double rounded = round(degrees * 1e6) / 1e6;
            return json_pack("{s:o}", letter, exi_json_make_number(fabs(rounded - degrees) < 1e-9 ? rounded : degrees));
        }
    return exi_json_make_numbers(unit, 4);
}

/* A setting of a joint: its rotation, and, if it is about a single axis of the joint, that axis and the angle. */
typedef struct turn {
    json_t *value;
    int axis; /* 0, 1, 2, or -1 */
    double degrees;
} turn;

static ex_result read_rotation(const ex_setting *setting, turn *out, ex_error *error) {
    double q[4];
    *out = (turn){.axis = -1};
    if (!exi_setting_rotation(setting, q))
        return exi_setting_mismatch(setting, EX_AXIS_ROTATION, error);
    const bool turns = setting->kind == EX_SETTING_TURNS && !has_axis_twice(setting);
    out->value = turns ? make_turns(setting) : exi_json_make_numbers(q, 4);
    if (turns && setting->turn_count == 1) {
        out->axis = setting->turns[0].axis;
        out->degrees = setting->turns[0].degrees;
    }
    return out->value ? EX_OK : ex_error_memory(error, "a rotation", sizeof q);
}

/* ---- axes ---- */

const ex_project_axis *exi_view_axis(const ex_project_view *view, const char *name) {
    for (int l = 0; l < view->layer_count; l++)
        for (int i = 0; i < view->layers[l].axis_count; i++)
            if (strcmp(view->layers[l].axes[i].name, name) == 0)
                return &view->layers[l].axes[i];
    return NULL;
}

ex_result exi_unknown_axis(const ex_project_view *view, const char *name, ex_error *error) {
    const char *names[EX_AXIS_MAX] = {NULL}, *near;
    char list[200] = "";
    int count = 0;
    for (int l = 0; l < view->layer_count; l++)
        for (int i = 0; i < view->layers[l].axis_count && count < EX_AXIS_MAX; i++)
            if (exi_view_axis(view, view->layers[l].axes[i].name) == &view->layers[l].axes[i]) /* each name once */
                names[count++] = view->layers[l].axes[i].name;
    near = ex_suggest(name, names, count);
    if (near)
        return ex_error_set(error, EX_ERROR_DATA, "this project has no axis '%s'; did you mean '%s'?", name, near);
    for (int i = 0; i < count && strlen(list) + strlen(names[i]) + 3 < sizeof list; i++) {
        strcat(list, i ? ", " : "");
        strcat(list, names[i]);
    }
    ex_error_set(error, EX_ERROR_DATA,
                 count ? "this project has no axis '%s'; its axes are: %s"
                       : "this project has no axis '%s', and no others%s",
                 name, list);
    return ex_error_kind(error, EX_ERROR_DATA, "unknown_axis");
}

static bool is_own_axis(const double about[3], int axis) {
    return about[axis] > 0 && about[(axis + 1) % 3] == 0 && about[(axis + 2) % 3] == 0;
}

/* Returns the axis of the project that can hold this turn of the joint; prefers an angle. */
static const ex_project_axis *axis_of_joint(const ex_project_view *view, const char *joint, const turn *t) {
    const ex_project_axis *whole = NULL;
    for (int l = 0; l < view->layer_count; l++)
        for (int i = 0; i < view->layers[l].axis_count; i++) {
            const ex_project_axis *axis = &view->layers[l].axes[i];
            if (!axis->joint || strcmp(axis->joint, joint) != 0)
                continue;
            if (axis->reading.kind == EX_READING_ANGLE && t->axis >= 0 && is_own_axis(axis->reading.about, t->axis))
                return axis;
            if (axis->reading.kind == EX_READING_ROTATION && axis->axis.kind == EX_AXIS_ROTATION && !whole)
                whole = axis;
        }
    return whole;
}

static bool name_is_taken(const ex_project_view *view, const json_t *axes, const char *name) {
    bool taken = exi_view_axis(view, name) != NULL;
    for (size_t i = 0; i < json_array_size(axes); i++)
        taken = taken || strcmp(json_string_value(json_object_get(json_array_get(axes, i), "name")), name) == 0;
    return taken;
}

/* Makes "forearm.x" or "forearm", without characters that axis names cannot have. */
static void name_axis(const ex_project_view *view, const json_t *axes, const char *joint, int axis, char name[256]) {
    char stem[200];
    const size_t length = (size_t)exi_text_cut(joint, sizeof stem - 1);
    for (size_t i = 0; i < length; i++)
        stem[i] = strchr("=,\"", joint[i]) ? '_' : joint[i];
    stem[length] = 0;
    snprintf(name, 256, axis < 0 ? "%s" : "%s.%c", stem, axis < 0 ? 0 : letters[axis]);
    for (int number = 2; name_is_taken(view, axes, name); number++)
        snprintf(name, 256, "%s %d", stem, number);
}

/* An angle ranges from rest to its first value, so the layer's distances are fractions of that. */
static json_t *make_axis(const char *name, const char *joint, const turn *t) {
    if (t->axis < 0)
        return json_pack("{s:s, s:s, s:s}", "name", name, "joint", joint, "rotation", "full");
    const char letter[2] = {letters[t->axis], 0};
    return json_pack("{s:s, s:s, s:s, s:s, s:o, s:o}", "name", name, "unit", "°", "joint", joint, "angle", letter,
                     "min", exi_json_make_number(t->degrees < 0 ? t->degrees : 0), "max",
                     exi_json_make_number(t->degrees < 0 ? 0 : t->degrees));
}

/* ---- settings ---- */

static ex_result set(json_t *object, const char *name, json_t *value, ex_error *error) {
    if (json_object_get(object, name)) {
        json_decref(value);
        return ex_error_set(error, EX_ERROR_DATA, "'%s' is given twice", name);
    }
    return json_object_set_new(object, name, value) == 0 ? EX_OK : ex_error_memory(error, "a place", strlen(name));
}

static ex_result say_joint(const ex_project_view *view, const ex_setting *setting, bool new_axes, exi_spoken *spoken,
                           ex_error *error) {
    const char *joint = setting->name;
    turn t;
    ex_result result = read_rotation(setting, &t, error);
    if (result != EX_OK)
        return result;
    const ex_project_axis *axis = axis_of_joint(view, joint, &t);
    if (axis && axis->reading.kind == EX_READING_ANGLE) {
        json_decref(t.value);
        return set(spoken->at, axis->name, exi_json_make_number(t.degrees), error);
    }
    if (axis)
        return set(spoken->at, axis->name, t.value, error);
    if (t.axis >= 0 && t.degrees == 0)
        t.axis = -1;
    if (!new_axes || !view->skeleton) {
        json_decref(t.value);
        return view->skeleton ? ex_error_kind(error,
                                              ex_error_set(error, EX_ERROR_DATA,
                                                           "no axis of the project reads joint '%s' that way", joint),
                                              "joint_without_axis")
                              : ex_error_set(error, EX_ERROR_DATA,
                                             "the project has no \"skeleton\", so it has no joint '%s'", joint);
    }
    char name[256];
    name_axis(view, spoken->axes, joint, t.axis, name);
    json_t *made = make_axis(name, joint, &t), *value = t.axis < 0 ? t.value : exi_json_make_number(t.degrees);
    if (t.axis >= 0)
        json_decref(t.value);
    if (!made || json_array_append_new(spoken->axes, made) != 0) {
        json_decref(value);
        return ex_error_memory(error, "an axis", sizeof name);
    }
    return set(spoken->at, name, value, error);
}

/* Sets the form of a driver: a file in the project's folder, relative to it. */
static ex_result say_driver(const ex_project_view *view, const char *name, const char *path, exi_spoken *spoken,
                            ex_error *error) {
    char *relative = NULL;
    ex_result result = exi_path_below_project(view, path, &relative, error);
    if (result == EX_OK && !relative)
        result = ex_error_set(error, EX_ERROR_DATA,
                              "%s=%s: a form of the driver must be in the project's folder: copy it there first", name,
                              path);
    if (result == EX_OK)
        result = set(spoken->at, name, json_string(relative), error);
    free(relative);
    return result;
}

static ex_result say_axis(const ex_project_view *view, const ex_setting *setting, exi_spoken *spoken, ex_error *error) {
    const char *name = setting->name;
    const ex_project_axis *axis = exi_view_axis(view, name);
    const ex_axis_kind kind = axis ? axis->axis.kind : EX_AXIS_SCALAR;
    turn t;
    if (!axis)
        return exi_unknown_axis(view, name, error);
    if ((kind == EX_AXIS_DRIVER && setting->kind != EX_SETTING_FILE) ||
        (kind == EX_AXIS_SCALAR && setting->kind != EX_SETTING_NUMBER))
        return exi_setting_mismatch(setting, kind, error);
    if (kind == EX_AXIS_DRIVER)
        return say_driver(view, name, setting->file, spoken, error);
    if (kind == EX_AXIS_SCALAR)
        return set(spoken->at, name, exi_json_make_number(setting->number), error);
    const ex_result result = read_rotation(setting, &t, error);
    return result == EX_OK ? set(spoken->at, name, t.value, error) : result;
}

static ex_result check_name(const ex_setting *setting, ex_error *error) {
    return setting->name && exi_is_text(setting->name)
               ? EX_OK
               : ex_error_set(error, EX_ERROR_DATA, "a name is not valid UTF-8 text");
}

static ex_result say_turned(const ex_project_view *view, const ex_setting *setting, exi_spoken *spoken,
                            ex_error *error) {
    turn t;
    if (!view->skeleton)
        return ex_error_set(error, EX_ERROR_DATA, "%s: the project has no \"skeleton\", so it has no joints",
                            setting->name);
    const ex_result result = read_rotation(setting, &t, error);
    return result == EX_OK ? set(spoken->joints, setting->name, t.value, error) : result;
}

ex_result exi_spoken_read(const ex_project_view *view, ex_place at, ex_place joints, bool new_axes, exi_spoken *spoken,
                          ex_error *error) {
    *spoken = (exi_spoken){.at = json_object(), .joints = json_object(), .axes = json_array()};
    ex_result result =
        spoken->at && spoken->joints && spoken->axes ? EX_OK : ex_error_memory(error, "a place", sizeof *spoken);
    for (int i = 0; result == EX_OK && i < at.count; i++) {
        const ex_setting *setting = &at.settings[i];
        result = check_name(setting, error);
        if (result == EX_OK)
            result = setting->joint ? say_joint(view, setting, new_axes, spoken, error)
                                    : say_axis(view, setting, spoken, error);
    }
    for (int i = 0; result == EX_OK && i < joints.count; i++) {
        result = check_name(&joints.settings[i], error);
        if (result == EX_OK)
            result = say_turned(view, &joints.settings[i], spoken, error);
    }
    if (result != EX_OK)
        exi_spoken_free(spoken);
    return result;
}

void exi_spoken_free(exi_spoken *spoken) {
    json_decref(spoken->at);
    json_decref(spoken->joints);
    json_decref(spoken->axes);
    *spoken = (exi_spoken){0};
}

/* ---- numbers by name ---- */

ex_result exi_named_numbers(ex_place place, json_t **numbers, ex_error *error) {
    *numbers = json_object();
    ex_result result = *numbers ? EX_OK : ex_error_memory(error, "numbers", 0);
    for (int i = 0; result == EX_OK && i < place.count; i++) {
        const ex_setting *setting = &place.settings[i];
        result = check_name(setting, error);
        if (result == EX_OK)
            result = setting->kind == EX_SETTING_NUMBER
                         ? set(*numbers, setting->name, exi_json_make_number(setting->number), error)
                         : exi_setting_mismatch(setting, EX_AXIS_SCALAR, error);
    }
    if (result != EX_OK) {
        json_decref(*numbers);
        *numbers = NULL;
    }
    return result;
}

ex_result exi_falloff_json(ex_place place, json_t **falloff, ex_error *error) {
    if (place.count != 1 || place.settings[0].name)
        return ex_error_within(error, exi_named_numbers(place, falloff, error), "falloff");
    *falloff = exi_json_make_number(place.settings[0].number);
    return *falloff ? EX_OK : ex_error_memory(error, "a falloff", 0);
}

ex_result exi_falloff_check(const ex_project_layer *layer, ex_error *error) {
    return ex_weigher_kind_info(layer->weigh.kind)->has_falloffs
               ? EX_OK
               : ex_error_set(
                     error, EX_ERROR_ARGUMENT,
                     "layer '%s' is %s: its examples have no falloff. Leave the falloff out, or set \"weigh\": "
                     "{\"kind\": \"gaussian\"} in the project",
                     layer->name, ex_weigher_kind_name(layer->weigh.kind));
}

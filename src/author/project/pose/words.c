/*
 * Places as people type them - elbow=90, shoulder=x30y-10, joint:wrist=x20 - as the JSON that a project file has for
 * them. What was typed is kept: degrees stay degrees, and axes come in the order in which they were named.
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

static const char joint_mark[] = "joint:";
enum { MARK = sizeof joint_mark - 1 };
static const char letters[] = "xyz";

/* ---- values ---- */

/* Whether the text is turns such as x30y-10; then the object of them in *turns, or NULL there where an axis is named
 * twice. */
static bool read_turns(const char *text, json_t **turns) {
    const char *at = text, *end = text + strlen(text);
    bool once = true;
    *turns = json_object();
    while (at < end) {
        const char letter[2] = {*at++, 0};
        double degrees = 0;
        if (!strchr(letters, letter[0]) || !ex_parse_double(&at, end, &degrees)) {
            json_decref(*turns);
            *turns = NULL;
            return false;
        }
        once = once && !json_object_get(*turns, letter);
        json_object_set_new(*turns, letter, exi_json_make_number(degrees));
    }
    if (!once) {
        json_decref(*turns);
        *turns = NULL;
    }
    return end > text;
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
            /* What was typed as a whole number comes back as one. */
            const double rounded = round(degrees * 1e6) / 1e6;
            return json_pack("{s:o}", letter, exi_json_make_number(fabs(rounded - degrees) < 1e-9 ? rounded : degrees));
        }
    return exi_json_make_numbers(unit, 4);
}

/* What a word says of a joint: its rotation, and where it is about one of the joint's axes alone, which and how far. */
typedef struct turn {
    json_t *value;
    int axis; /* 0, 1, 2, or -1 */
    double degrees;
} turn;

static ex_result read_rotation(const char *name, const char *text, turn *out, ex_error *error) {
    double q[4];
    *out = (turn){.axis = -1};
    if (!exi_parse_rotation(text, q))
        return exi_error(error, EX_ERROR_DATA,
                         "%s=%s: a rotation is written q:0,0,0.38,0.92 (x y z w) or x30y-10z5 (degrees)", name, text);
    if (text[0] == 'q' || !read_turns(text, &out->value) || !out->value)
        out->value = exi_json_make_numbers(q, 4);
    if (json_is_object(out->value) && json_object_size(out->value) == 1) {
        out->axis = text[0] - 'x';
        out->degrees = json_number_value(json_object_iter_value(json_object_iter(out->value)));
    }
    return out->value ? EX_OK : exi_error_memory(error, "a rotation", sizeof q);
}

static ex_result read_number(const char *word, const char *text, double *value, ex_error *error) {
    const char *at = text, *end = text + strlen(text);
    if (!ex_parse_double(&at, end, value) || at != end)
        return exi_error(error, EX_ERROR_DATA, "%s: a number is needed after '='", word);
    return EX_OK;
}

/* ---- axes ---- */

const ex_project_axis *exi_view_axis(const ex_project_view *view, const char *name) {
    for (int l = 0; l < view->layer_count; l++)
        for (int i = 0; i < view->layers[l].axis_count; i++)
            if (strcmp(view->layers[l].axes[i].name, name) == 0)
                return &view->layers[l].axes[i];
    return NULL;
}

static ex_result unknown_axis(const ex_project_view *view, const char *name, ex_error *error) {
    const char *names[EX_AXIS_MAX] = {NULL}, *near;
    char list[200] = "";
    int count = 0;
    for (int l = 0; l < view->layer_count; l++)
        for (int i = 0; i < view->layers[l].axis_count && count < EX_AXIS_MAX; i++)
            if (exi_view_axis(view, view->layers[l].axes[i].name) == &view->layers[l].axes[i]) /* each name once */
                names[count++] = view->layers[l].axes[i].name;
    near = ex_suggest(name, names, count);
    if (near)
        return exi_error(error, EX_ERROR_DATA, "this project has no axis '%s'; did you mean '%s'?", name, near);
    for (int i = 0; i < count && strlen(list) + strlen(names[i]) + 3 < sizeof list; i++) {
        strcat(list, i ? ", " : "");
        strcat(list, names[i]);
    }
    return count
               ? exi_error(error, EX_ERROR_DATA,
                           "this project has no axis '%s'; its axes are: %s; a joint is written joint:%s=x20", name,
                           list, name)
               : exi_error(error, EX_ERROR_DATA,
                           "this project has no axis '%s', nor any other: a joint is written joint:%s=x20", name, name);
}

static bool is_own_axis(const double about[3], int axis) {
    return about[axis] > 0 && about[(axis + 1) % 3] == 0 && about[(axis + 2) % 3] == 0;
}

/* The axis of the project that can hold this turn of the joint; an angle is preferred. */
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

/* "forearm.x" or "forearm", without what names of axes cannot have. */
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

/* An angle ranges from rest to where it was first wanted: so the layer's distances are in parts of that. */
static json_t *make_axis(const char *name, const char *joint, const turn *t) {
    if (t->axis < 0)
        return json_pack("{s:s, s:s, s:s}", "name", name, "joint", joint, "rotation", "full");
    const char letter[2] = {letters[t->axis], 0};
    return json_pack("{s:s, s:s, s:s, s:s, s:o, s:o}", "name", name, "unit", "°", "joint", joint, "angle", letter,
                     "min", exi_json_make_number(t->degrees < 0 ? t->degrees : 0), "max",
                     exi_json_make_number(t->degrees < 0 ? 0 : t->degrees));
}

/* ---- words ---- */

static ex_result set(json_t *object, const char *name, json_t *value, ex_error *error) {
    if (json_object_get(object, name)) {
        json_decref(value);
        return exi_error(error, EX_ERROR_DATA, "'%s' is given twice", name);
    }
    return json_object_set_new(object, name, value) == 0 ? EX_OK : exi_error_memory(error, "a place", strlen(name));
}

static ex_result say_joint(const ex_project_view *view, const char *joint, const char *text, bool new_axes,
                           exi_spoken *spoken, ex_error *error) {
    turn t;
    ex_result result = read_rotation(joint, text, &t, error);
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
        return view->skeleton
                   ? exi_error(
                         error, EX_ERROR_DATA,
                         "no axis of the project reads joint '%s' so: give it with --joint, or add a sculpt without "
                         "--layer to start one that does",
                         joint)
                   : exi_error(error, EX_ERROR_DATA, "the project has no \"skeleton\", and so no joint '%s'", joint);
    }
    char name[256];
    name_axis(view, spoken->axes, joint, t.axis, name);
    json_t *made = make_axis(name, joint, &t), *value = t.axis < 0 ? t.value : exi_json_make_number(t.degrees);
    if (t.axis >= 0)
        json_decref(t.value);
    if (!made || json_array_append_new(spoken->axes, made) != 0) {
        json_decref(value);
        return exi_error_memory(error, "an axis", sizeof name);
    }
    return set(spoken->at, name, value, error);
}

/* The form of a driver: a file in the project's folder, as seen from there. */
static ex_result say_driver(const ex_project_view *view, const char *name, const char *path, exi_spoken *spoken,
                            ex_error *error) {
    char *relative = NULL;
    ex_result result = exi_path_below_project(view, path, &relative, error);
    if (result == EX_OK && !relative)
        result =
            exi_error(error, EX_ERROR_DATA,
                      "%s=%s: a form of the driver must lie in the project's folder: copy it there first", name, path);
    if (result == EX_OK)
        result = set(spoken->at, name, json_string(relative), error);
    free(relative);
    return result;
}

static ex_result say_axis(const ex_project_view *view, const char *name, const char *word, const char *text,
                          exi_spoken *spoken, ex_error *error) {
    const ex_project_axis *axis = exi_view_axis(view, name);
    double number = 0;
    turn t;
    if (!axis)
        return unknown_axis(view, name, error);
    if (axis->axis.kind == EX_AXIS_DRIVER)
        return say_driver(view, name, text, spoken, error);
    ex_result result = axis->axis.kind == EX_AXIS_SCALAR ? read_number(word, text, &number, error)
                                                         : read_rotation(name, text, &t, error);
    if (result != EX_OK)
        return result;
    return set(spoken->at, name, axis->axis.kind == EX_AXIS_SCALAR ? exi_json_make_number(number) : t.value, error);
}

/* The name before '=' as a copy, and what stands behind it. */
static ex_result split(const char *word, const char *example, char **name, const char **text, ex_error *error) {
    const char *equals = strchr(word, '=');
    *name = NULL;
    *text = "";
    if (!exi_is_text(word))
        return exi_error(error, EX_ERROR_DATA, "a word of those given is not readable UTF-8 text");
    if (!equals || equals == word)
        return exi_error(error, EX_ERROR_DATA, "'%s': this is given as %s", word, example);
    *name = exi_text_copy(word, (size_t)(equals - word));
    *text = equals + 1;
    return *name ? EX_OK : exi_error_memory(error, "a name", strlen(word));
}

static ex_result read_word(const ex_project_view *view, const char *word, bool new_axes, exi_spoken *spoken,
                           ex_error *error) {
    char *name;
    const char *text;
    ex_result result = split(word, "axis=value", &name, &text, error);
    if (result == EX_OK)
        result = strncmp(name, joint_mark, MARK) == 0 && name[MARK]
                     ? say_joint(view, name + MARK, text, new_axes, spoken, error)
                     : say_axis(view, name, word, text, spoken, error);
    free(name);
    return result;
}

static ex_result read_joint_word(const ex_project_view *view, const char *word, exi_spoken *spoken, ex_error *error) {
    char *name;
    const char *text;
    turn t;
    ex_result result = split(word, "joint:NAME=x20", &name, &text, error);
    if (result == EX_OK && !view->skeleton)
        result = exi_error(error, EX_ERROR_DATA, "%s: the project has no \"skeleton\", and so no joints", word);
    const char *joint = name && strncmp(name, joint_mark, MARK) == 0 && name[MARK] ? name + MARK : name;
    if (result == EX_OK)
        result = read_rotation(joint, text, &t, error);
    if (result == EX_OK)
        result = set(spoken->joints, joint, t.value, error);
    free(name);
    return result;
}

ex_result exi_words_read(const ex_project_view *view, ex_words at, ex_words joints, bool new_axes, exi_spoken *spoken,
                         ex_error *error) {
    *spoken = (exi_spoken){.at = json_object(), .joints = json_object(), .axes = json_array()};
    ex_result result =
        spoken->at && spoken->joints && spoken->axes ? EX_OK : exi_error_memory(error, "a place", sizeof *spoken);
    for (int i = 0; result == EX_OK && i < at.count; i++)
        result = read_word(view, at.words[i], new_axes, spoken, error);
    for (int i = 0; result == EX_OK && i < joints.count; i++)
        result = read_joint_word(view, joints.words[i], spoken, error);
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

/* One name=number into the object. */
static ex_result read_named_number(const char *word, const char *example, json_t *object, ex_error *error) {
    char *name;
    const char *text;
    double number = 0;
    ex_result result = split(word, example, &name, &text, error);
    if (result == EX_OK)
        result = read_number(word, text, &number, error);
    if (result == EX_OK)
        result = set(object, name, exi_json_make_number(number), error);
    free(name);
    return result;
}

/* Parts between commas, each name=number. */
static ex_result read_list(const char *text, const char *example, json_t *object, ex_error *error) {
    ex_result result = EX_OK;
    while (result == EX_OK && *text) {
        const size_t length = strcspn(text, ",");
        char *part = exi_text_copy(text, length);
        result = part ? read_named_number(part, example, object, error) : exi_error_memory(error, "a list", length);
        free(part);
        text += length;
        text += *text == ',';
    }
    return result;
}

ex_result exi_words_falloff(const char *text, json_t **falloff, ex_error *error) {
    const char *at = text, *end = text + strlen(text);
    double number = 0;
    if (ex_parse_double(&at, end, &number) && at == end) {
        *falloff = exi_json_make_number(number);
        return *falloff ? EX_OK : exi_error_memory(error, "a falloff", 0);
    }
    *falloff = json_object();
    ex_result result = *falloff ? read_list(text, "a number, or axis=number,axis=number", *falloff, error)
                                : exi_error_memory(error, "a falloff", 0);
    if (result == EX_OK)
        return EX_OK;
    json_decref(*falloff);
    *falloff = NULL;
    return exi_error_within(error, result, "falloff");
}

ex_result exi_words_weights(ex_words words, json_t **weights, ex_error *error) {
    *weights = json_object();
    ex_result result = *weights ? EX_OK : exi_error_memory(error, "weights", 0);
    for (int i = 0; result == EX_OK && i < words.count; i++)
        result = read_list(words.words[i], "example=weight", *weights, error);
    if (result == EX_OK)
        return EX_OK;
    json_decref(*weights);
    *weights = NULL;
    return result;
}

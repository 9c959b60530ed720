/*
 * Reads a layer's space: axes that are dials, axes that are read from a joint, and the driver's form. The same name in
 * two layers is one input, so all spaces are compared after each was read.
 */
#include "author/project/model/reader.h"
#include "runtime/base/result.h"
#include "runtime/base/text.h"
#include "runtime/base/vector.h"

#include <stdio.h>
#include <string.h>

/* ---- axes ---- */

/* Sources of an axis, by key; a dial has none of these keys, a driver's form has "driver". */
enum { ANGLE, ROTATION, SLIDE, STRETCH, DIAL, DRIVER };
static const char *const sources[] = {"angle", "rotation", "slide", "stretch"};

/* Chooses the source by the axis's keys, and refuses too few or too many of them. */
static ex_result choose_source(exi_project_reader *r, const json_t *object, const exi_place *place, int *source) {
    const bool joint = json_object_get(object, "joint") != NULL;
    int given = 0;
    *source = DRIVER;
    if (json_object_get(object, "driver"))
        return EX_OK;
    *source = DIAL;
    for (int i = DIAL - 1; i >= 0; i--)
        if (json_object_get(object, sources[i])) {
            *source = i;
            given++;
        }
    if (joint && !r->view->skeleton)
        return ex_error_set(r->keys.error, EX_ERROR_DATA,
                            "%s.joint: the project has no joints: add \"skeleton\": \"FILE.glb\" to the project",
                            place->text);
    if (joint && given != 1)
        return ex_error_set(
            r->keys.error, EX_ERROR_DATA,
            "%s: an axis with a joint needs one of \"angle\", \"rotation\", \"slide\" and \"stretch\", but here %s",
            place->text, given == 0 ? "is none" : "are several");
    if (!joint && *source != DIAL && (*source != ROTATION || given > 1)) {
        const int which = *source != ROTATION ? *source : json_object_get(object, sources[SLIDE]) ? SLIDE : STRETCH;
        return ex_error_set(r->keys.error, EX_ERROR_DATA,
                            "%s.%s: this is read from a joint: name it with \"joint\": \"NAME\"", place->text,
                            sources[which]);
    }
    return EX_OK;
}

static ex_result read_scalar_axis(exi_project_reader *r, const json_t *object, const exi_place *place, ex_axis *axis) {
    static const char *const needed[] = {"min", "max", NULL};
    ex_result result = exi_require_keys(&r->keys, object, place, needed);
    if (result == EX_OK)
        result = exi_get_number(&r->keys, object, place, "min", &axis->min);
    if (result == EX_OK)
        result = exi_get_number(&r->keys, object, place, "max", &axis->max);
    if (result != EX_OK)
        return result;
    if (!(axis->max > axis->min))
        return ex_error_set(r->keys.error, EX_ERROR_DATA, "%s: max (%g) must be greater than min (%g)", place->text,
                            axis->max, axis->min);
    axis->rest = 0 < axis->min ? axis->min : 0 > axis->max ? axis->max : 0;
    result = exi_get_number(&r->keys, object, place, "rest", &axis->rest);
    return result == EX_OK ? exi_get_bool(&r->keys, object, place, "clamp", &axis->clamp) : result;
}

static ex_result read_own_axis(exi_project_reader *r, const json_t *value, const exi_place *place, double about[3]) {
    static const char *const axes[] = {"x", "y", "z"};
    int axis = 0;
    ex_result result = exi_choose(&r->keys, value, place, axes, 3, &axis);
    about[0] = axis == 0;
    about[1] = axis == 1;
    about[2] = axis == 2;
    return result;
}

static ex_result read_about(exi_project_reader *r, const json_t *value, const exi_place *place, double about[3]) {
    const char *word = json_string_value(value);
    if (word && strlen(word) == 1 && strchr("xyz", word[0]))
        return read_own_axis(r, value, place, about);
    if (json_array_size(value) != 3)
        return ex_error_set(r->keys.error, EX_ERROR_DATA,
                            "%s: a direction is \"x\", \"y\", \"z\" or a list of three numbers", place->text);
    double length = 0;
    for (size_t i = 0; i < 3; i++) {
        exi_place at = exi_place_index(place, i);
        ex_result result = exi_json_number(json_array_get(value, i), &at, &about[i], r->keys.error);
        if (result != EX_OK)
            return result;
        length += about[i] * about[i];
    }
    return length > 0 ? EX_OK : ex_error_set(r->keys.error, EX_ERROR_DATA, "%s: this direction is zero", place->text);
}

static ex_result read_rotation_axis(exi_project_reader *r, const json_t *object, const exi_place *place,
                                    ex_axis *axis) {
    static const char *const kinds[] = {"full", "swing", "twist"};
    exi_place at = exi_place_key(place, "rotation");
    int kind = 0;
    ex_result result = exi_choose(&r->keys, json_object_get(object, "rotation"), &at, kinds, 3, &kind);
    if (result != EX_OK)
        return result;
    *axis = ex_axis_rotation((ex_axis_kind)(EX_AXIS_ROTATION + kind), NULL);
    const json_t *about = json_object_get(object, "about"), *rest = json_object_get(object, "rest");
    at = exi_place_key(place, "about");
    if (kind == 0 && about)
        return ex_error_set(r->keys.error, EX_ERROR_DATA, "%s: a full rotation has no axis: leave it out", at.text);
    if (kind != 0 && !about)
        return ex_error_set(r->keys.error, EX_ERROR_DATA, "%s: a swing or twist needs \"about\"", place->text);
    if (about)
        result = read_about(r, about, &at, axis->about);
    at = exi_place_key(place, "rest");
    if (result == EX_OK && rest)
        result = exi_json_rotation(rest, &at, axis->rest_rotation, r->keys.error);
    return result;
}

/* Reads the reading of a joint; its rest value is known after all layers are read (link_axis). */
static ex_result read_reading(exi_project_reader *r, const json_t *object, const exi_place *place, int source,
                              ex_project_axis *axis) {
    static const ex_reading_kind kinds[] = {EX_READING_ANGLE, EX_READING_ROTATION, EX_READING_SLIDE,
                                            EX_READING_STRETCH};
    ex_reading *reading = &axis->reading;
    ex_result result = exi_get_text(&r->keys, object, place, "joint", true, &axis->joint);
    *reading = (ex_reading){.kind = kinds[source], .about = {0, 1, 0}};
    const json_t *value = json_object_get(object, sources[source]);
    exi_place at = exi_place_key(place, sources[source]);
    if (source == ROTATION) {
        reading->part = (int)axis->axis.kind;
        memcpy(reading->about, axis->axis.about, sizeof reading->about);
    } else if (result == EX_OK)
        result = source == STRETCH ? read_own_axis(r, value, &at, reading->about)
                                   : read_about(r, value, &at, reading->about);
    if (source == ANGLE)
        reading->middle = axis->axis.min + (axis->axis.max - axis->axis.min) / 2;
    if (source == SLIDE) {
        reading->unit = r->view->unit;
        if (result == EX_OK)
            result = exi_get_number(&r->keys, object, place, "metres", &reading->unit);
        if (result == EX_OK && !(reading->unit >= EX_UNIT_LEAST && reading->unit <= EX_UNIT_MOST))
            result = ex_error_set(r->keys.error, EX_ERROR_DATA, "%s.metres: must be from 1e-15 to 1e15", place->text);
    }
    return result;
}

/* "limit" is a word of EX_LIMIT_LIST after the first, which is what leaving it out means. */
static ex_result read_limit(exi_project_reader *r, const json_t *object, const exi_place *place, ex_axis *axis) {
    static const char *const words[] = {
#define NAME(id, text) text,
        EX_LIMIT_LIST(NAME)
#undef NAME
    };
    const json_t *value = json_object_get(object, "limit");
    exi_place at = exi_place_key(place, "limit");
    int word = 0;
    if (!value)
        return EX_OK;
    ex_result result = exi_choose(&r->keys, value, &at, words + 1, EX_LIMIT_COUNT - 1, &word);
    axis->limit = result == EX_OK ? (ex_limit)(word + 1) : EX_LIMIT_KIND;
    return result;
}

static ex_result read_axis(exi_project_reader *r, const json_t *object, const exi_place *place, ex_project_axis *axis) {
    static const char *const keys[][12] = {
        [ANGLE] = {"name", "unit", "joint", "angle", "min", "max", "rest", "scale", "clamp", "limit", NULL},
        [ROTATION] = {"name", "unit", "joint", "rotation", "about", "rest", "scale", "limit", NULL},
        [SLIDE] = {"name", "unit", "joint", "slide", "metres", "min", "max", "rest", "scale", "clamp", "limit", NULL},
        [STRETCH] = {"name", "unit", "joint", "stretch", "min", "max", "rest", "scale", "clamp", "limit", NULL},
        [DIAL] = {"name", "unit", "joint", "min", "max", "rest", "scale", "clamp", "limit", NULL},
        [DRIVER] = {"name", "driver", NULL},
    };
    int source = DIAL;
    ex_result result = choose_source(r, object, place, &source);
    if (result == EX_OK)
        result = exi_check_keys(&r->keys, object, place, keys[source]);
    axis->axis = ex_axis_scalar(0, 1, 0);
    if (result == EX_OK)
        result = exi_get_text(&r->keys, object, place, "name", true, &axis->name);
    if (result == EX_OK && !exi_is_axis_name(axis->name))
        result = ex_error_set(r->keys.error, EX_ERROR_DATA,
                              "%s.name: the name of an axis needs 1 to %d bytes, without '=', ',' or '\"', and other "
                              "than 'time' or 'joint:…'",
                              place->text, EXI_NAME_MAX);
    if (result == EX_OK)
        result = exi_get_text(&r->keys, object, place, "unit", false, &axis->unit);
    if (result == EX_OK && source == DRIVER) {
        axis->axis = (ex_axis){.kind = EX_AXIS_DRIVER};
        return json_is_true(json_object_get(object, "driver"))
                   ? EX_OK
                   : ex_error_set(r->keys.error, EX_ERROR_DATA, "%s.driver: true is needed here", place->text);
    }
    if (result == EX_OK)
        result = source == ROTATION ? read_rotation_axis(r, object, place, &axis->axis)
                                    : read_scalar_axis(r, object, place, &axis->axis);
    if (result == EX_OK && json_object_get(object, "joint"))
        result = read_reading(r, object, place, source, axis);
    if (result == EX_OK)
        result = exi_get_number(&r->keys, object, place, "scale", &axis->axis.scale);
    if (result == EX_OK && json_object_get(object, "scale") && !(axis->axis.scale > 0))
        result = ex_error_set(r->keys.error, EX_ERROR_DATA, "%s.scale: must be above 0", place->text);
    return result == EX_OK ? read_limit(r, object, place, &axis->axis) : result;
}

ex_result exi_read_space(exi_project_reader *r, const json_t *layer, const exi_place *place, ex_project_layer *out) {
    const json_t *space = json_object_get(layer, "space");
    exi_place at = exi_place_key(place, "space");
    if (json_array_size(space) == 0)
        return ex_error_set(r->keys.error, EX_ERROR_DATA, "%s: a list of at least one axis is needed here", at.text);
    size_t count = json_array_size(space);
    ex_project_axis *axes = exi_arena_allocate(r->keys.arena, count, sizeof *axes);
    ex_axis *plain = exi_arena_allocate(r->keys.arena, count, sizeof *plain);
    if (!axes || !plain)
        return ex_error_memory(r->keys.error, "the project", count * sizeof *axes);
    for (size_t i = 0; i < count; i++) {
        exi_place here = exi_place_index(&at, i);
        ex_result result = read_axis(r, json_array_get(space, i), &here, &axes[i]);
        if (result != EX_OK)
            return result;
        for (size_t k = 0; k < i; k++)
            if (strcmp(axes[k].name, axes[i].name) == 0)
                return ex_error_set(r->keys.error, EX_ERROR_DATA, "%s.name: this space already has an axis '%s'",
                                    here.text, axes[i].name);
        plain[i] = axes[i].axis;
        out->dimension += ex_axis_width(&plain[i]);
    }
    out->axes = axes;
    out->axis_count = (int)count;
    out->weigh.axes = plain;
    out->weigh.axis_count = (int)count;
    return EX_OK;
}

/* ---- one name, one input ---- */

static bool same_direction(const double a[3], const double b[3]) {
    double u[3] = {a[0], a[1], a[2]}, v[3] = {b[0], b[1], b[2]}, off[3];
    exi_normalise(u, 3);
    exi_normalise(v, 3);
    exi_subtract(u, v, off);
    return exi_dot3(off, off) < 1e-24;
}

static bool same_source(const ex_project_axis *a, const ex_project_axis *b) {
    if (a->axis.kind == EX_AXIS_DRIVER || b->axis.kind == EX_AXIS_DRIVER)
        return a->axis.kind == b->axis.kind;
    if (!a->joint || !b->joint)
        return a->joint == b->joint;
    return strcmp(a->joint, b->joint) == 0 && a->reading.kind == b->reading.kind &&
           a->reading.unit == b->reading.unit &&
           (a->reading.kind == EX_READING_ROTATION || same_direction(a->reading.about, b->reading.about));
}

/* "the angle of joint 'forearm' about 1 0 0" */
static void describe(const ex_project_axis *axis, char *text, size_t size) {
    static const char *const what[] = {"", "angle", "rotation", "slide", "stretch"};
    const double *n = axis->reading.about;
    char unit[40] = "";
    if (axis->reading.kind == EX_READING_SLIDE)
        snprintf(unit, sizeof unit, " in units of %g metres", axis->reading.unit);
    if (axis->axis.kind == EX_AXIS_DRIVER)
        snprintf(text, size, "the driver");
    else if (!axis->joint)
        snprintf(text, size, "a dial");
    else if (axis->reading.kind == EX_READING_ROTATION)
        snprintf(text, size, "the rotation of joint '%.60s'", axis->joint);
    else
        snprintf(text, size, "the %s of joint '%.60s' %s %g %g %g%s", what[axis->reading.kind], axis->joint,
                 axis->reading.kind == EX_READING_ANGLE ? "about" : "along", n[0], n[1], n[2], unit);
}

static ex_result refuse_source(exi_project_reader *r, const ex_project_axis *first, const ex_project_axis *axis,
                               const exi_place *first_place, const exi_place *place) {
    char a[160], b[160];
    describe(first, a, sizeof a);
    describe(axis, b, sizeof b);
    return ex_error_set(r->keys.error, EX_ERROR_DATA,
                        "%s: '%s' is %s, but in %s it is %s: axes of the same name must agree, so rename one",
                        place->text, axis->name, b, first_place->text, a);
}

/* Sets the rest value of an axis with a joint: the joint's reading at rest. */
static ex_result set_rest(exi_project_reader *r, const json_t *object, const exi_place *place, ex_project_axis *axis) {
    const ex_transform rest = ex_transform_identity();
    double read[4];
    ex_reading_read(&axis->reading, &rest, &rest, read);
    const bool rotation = axis->reading.kind == EX_READING_ROTATION;
    const double *given = rotation ? axis->axis.rest_rotation : &axis->axis.rest;
    char value[32] = "no rotation";
    if (!rotation)
        snprintf(value, sizeof value, "%g", read[0]);
    if (json_object_get(object, "rest") && !exi_reading_agrees(&axis->reading, &rest, given, read))
        return ex_error_set(r->keys.error, EX_ERROR_DATA,
                            "%s.rest: joint '%s' is at %s in the rest pose: leave \"rest\" out, or change the rest "
                            "pose in the skeleton",
                            place->text, axis->joint, value);
    if (rotation)
        memcpy(axis->axis.rest_rotation, read, sizeof axis->axis.rest_rotation);
    else
        axis->axis.rest = read[0];
    return EX_OK;
}

/* Returns the axis of that name in earlier layers, and its place; NULL if there is none. */
static ex_project_axis *find_before(const exi_project_reader *r, int layer, const char *name, exi_place *place) {
    exi_place root = {""}, layers = exi_place_key(&root, "layers");
    for (int l = 0; l < layer; l++)
        for (int i = 0; i < r->view->layers[l].axis_count; i++)
            if (strcmp(r->view->layers[l].axes[i].name, name) == 0) {
                exi_place at = exi_place_index(&layers, (size_t)l);
                at = exi_place_key(&at, "space");
                *place = exi_place_index(&at, (size_t)i);
                return (ex_project_axis *)&r->view->layers[l].axes[i]; /* in our arena, and not handed out yet */
            }
    return NULL;
}

/* Calls `visit` for all axes of the layers, first to last. */
typedef ex_result (*axis_visitor)(exi_project_reader *r, const json_t *object, const exi_place *place, int layer,
                                  ex_project_axis *axis);
static ex_result visit_axes(exi_project_reader *r, const json_t *layers, axis_visitor visit) {
    exi_place root = {""}, top = exi_place_key(&root, "layers");
    ex_result result = EX_OK;
    for (int l = 0; l < r->view->layer_count; l++) {
        const json_t *space = json_object_get(json_array_get(layers, (size_t)l), "space");
        exi_place at = exi_place_index(&top, (size_t)l);
        at = exi_place_key(&at, "space");
        for (int i = 0; result == EX_OK && i < r->view->layers[l].axis_count; i++) {
            exi_place here = exi_place_index(&at, (size_t)i);
            result =
                visit(r, json_array_get(space, (size_t)i), &here, l, (ex_project_axis *)&r->view->layers[l].axes[i]);
        }
    }
    return result;
}

/* If layers use different parts of a rotation, the input is the whole rotation: writing it writes all parts. */
static ex_result compare_axis(exi_project_reader *r, const json_t *object, const exi_place *place, int layer,
                              ex_project_axis *axis) {
    (void)object;
    exi_place first_place;
    ex_project_axis *first = find_before(r, layer, axis->name, &first_place);
    if (!first)
        return EX_OK;
    if (!same_source(first, axis))
        return refuse_source(r, first, axis, &first_place, place);
    if (axis->reading.kind == EX_READING_ROTATION &&
        (first->reading.part != axis->reading.part || !same_direction(first->reading.about, axis->reading.about))) {
        first->reading.part = EX_AXIS_ROTATION;
        memcpy(first->reading.about, (double[]){0, 1, 0}, sizeof first->reading.about);
    }
    return EX_OK;
}

/* Later layers read the same as the first: on the turn nearest to the middle of its range. */
static ex_result settle_axis(exi_project_reader *r, const json_t *object, const exi_place *place, int layer,
                             ex_project_axis *axis) {
    exi_place unused;
    const ex_project_axis *first = find_before(r, layer, axis->name, &unused);
    if (!axis->joint)
        return EX_OK;
    if (first)
        axis->reading = first->reading;
    ex_result result = set_rest(r, object, place, axis);
    const ex_project_layer *owner = &r->view->layers[layer];
    ((ex_axis *)owner->weigh.axes)[axis - owner->axes] = axis->axis;
    return result;
}

ex_result exi_link_spaces(exi_project_reader *r, const json_t *layers) {
    ex_result result = visit_axes(r, layers, compare_axis);
    return result == EX_OK ? visit_axes(r, layers, settle_axis) : result;
}

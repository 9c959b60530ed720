/*
 * Reads an example's whole pose: a motion of every joint relative to its rest, and a value for every dial. "joints"
 * moves joints first; then the axes with a joint that "at" names, in the order written. Axes with a joint are then read
 * from that, in every layer, as evaluation will read them. The reading must therefore agree with the value that "at"
 * writes, which is then used to the bit.
 */
#include "author/project/model/reader.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- written values against readings ---- */

static double off(const double *a, const double *b, int count, double sign) {
    double largest = 0;
    for (int i = 0; i < count; i++) {
        double d = fabs(a[i] - sign * b[i]);
        largest = d > largest ? d : largest;
    }
    return largest;
}

/* Compares the part of the rotations that writing changes. */
static bool rotations_agree(const ex_reading *reading, const double *written, const double *read) {
    const double tolerance = 1e-6;
    double a[4], b[4], n[3], part_a[4], part_b[4];
    memcpy(a, written, sizeof a);
    memcpy(b, read, sizeof b);
    memcpy(n, reading->about, sizeof n);
    exi_normalise(a, 4);
    exi_normalise(b, 4);
    exi_normalise(n, 3);
    if (reading->part == EX_AXIS_SWING) {
        exi_rotate(a, n, part_a);
        exi_rotate(b, n, part_b);
        return off(part_a, part_b, 3, 1) <= tolerance;
    }
    if (reading->part == EX_AXIS_TWIST) {
        exi_twist(a, n, part_a);
        exi_twist(b, n, part_b);
        return off(part_a, part_b, 4, 1) <= tolerance || off(part_a, part_b, 4, -1) <= tolerance;
    }
    return off(a, b, 4, 1) <= tolerance || off(a, b, 4, -1) <= tolerance;
}

/* Joints are moved in float: about 1e-5 degrees. A slide has the rounding of the whole move. */
bool exi_reading_agrees(const ex_reading *reading, const ex_transform *joint, const double *written,
                        const double *read) {
    const float *t = joint->translation;
    const double moved = fabs((double)t[0]) + fabs((double)t[1]) + fabs((double)t[2]);
    switch (reading->kind) {
    case EX_READING_ANGLE:
        return fabs(*written - *read) <= 1e-4;
    case EX_READING_ROTATION:
        return rotations_agree(reading, written, read);
    case EX_READING_SLIDE:
        return fabs(*written - *read) <= 1e-6 * (fabs(*written) + moved / reading->unit);
    default:
        return fabs(*written - *read) <= 1e-6 * fabs(*written);
    }
}

/* Returns the axis that "at" names after `name` and that moves the same joint, or NULL. */
static const ex_project_axis *find_disturber(const exi_project_reader *r, const json_t *at,
                                             const ex_project_layer *layer, const ex_project_axis *axis) {
    const ex_project_axis *found = NULL;
    const char *key;
    json_t *value;
    bool after = false;
    json_object_foreach((json_t *)at, key, value) {
        const ex_project_axis *other = exi_find_axis(r, layer, key);
        if (after && other && other->joint && strcmp(other->joint, axis->joint) == 0)
            found = other;
        after = after || strcmp(key, axis->name) == 0;
    }
    return found;
}

static ex_result refuse_turn(exi_project_reader *r, const exi_place *place, const ex_project_axis *axis, double written,
                             double same) {
    const double middle = axis->reading.middle;
    if (fabs(written - middle) > fabs(same - middle) + 1e-4)
        return ex_error_set(
            r->keys.error, EX_ERROR_DATA,
            "%s: %.10g degrees is the same turn as %.10g, which is nearer the middle of the range: write %.10g",
            place->text, written, same, same);
    return ex_error_set(r->keys.error, EX_ERROR_DATA,
                        "%s: %.10g degrees is the same turn as %.10g, which the joint reads: write %.10g", place->text,
                        written, same, same);
}

/* Fails with the reason why the reading differs from the written value. */
static ex_result refuse_value(exi_project_reader *r, const json_t *at, const exi_place *place,
                              const ex_project_layer *layer, const ex_project_axis *axis, const double *written,
                              const double *read) {
    const ex_project_axis *other = find_disturber(r, at, layer, axis);
    const double turns = round((*written - *read) / 360);
    char what[80] = "another rotation";
    if (axis->reading.kind == EX_READING_ANGLE && turns != 0 && fabs(*written - *read - 360 * turns) <= 1e-4)
        return refuse_turn(r, place, axis, *written, *written - 360 * turns);
    if (axis->reading.kind != EX_READING_ROTATION)
        snprintf(what, sizeof what, "%g, not %g", *read, *written);
    if (other)
        return ex_error_set(
            r->keys.error, EX_ERROR_DATA,
            "%s: '%s' and '%s' both move joint '%s' and disturb each other: '%s' then reads %s; give the "
            "joint's rotation in \"joints\", or by one axis with \"rotation\"",
            place->text, axis->name, other->name, axis->joint, axis->name, what);
    return ex_error_set(r->keys.error, EX_ERROR_DATA, "%s: joint '%s' cannot be moved there: it then reads %s",
                        place->text, axis->joint, what);
}

static ex_result check_readings(exi_project_reader *r, const json_t *at, const exi_place *place,
                                const ex_project_layer *layer, const ex_project_example *example) {
    const ex_transform rest = ex_transform_identity();
    exi_project_reader quiet = {.keys.arena = r->keys.arena, .view = r->view};
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)at, key, value) {
        const ex_project_axis *axis = exi_find_axis(r, layer, key);
        const ex_transform *joint =
            axis && axis->joint ? exi_find_joint(example->joints, example->joint_count, axis->joint) : NULL;
        exi_place at_place = exi_place_key(place, "at"), here = exi_place_key(&at_place, key);
        double written[4], read[4];
        if (!joint || exi_read_value(&quiet, value, &here, axis, written) != EX_OK)
            continue;
        ex_reading_read(&axis->reading, &rest, joint, read);
        if (!exi_reading_reaches(&axis->reading, written))
            return ex_error_set(r->keys.error, EX_ERROR_DATA, "%s: joint '%s' cannot be moved there: %g is too far",
                                here.text, axis->joint, *written);
        if (exi_reading_agrees(&axis->reading, joint, written, read))
            continue;
        if (exi_layer_is_direct(layer))
            return ex_error_set(r->keys.error, EX_ERROR_DATA,
                                "%s: in a direct layer this example is where '%s' is 1, but joint '%s' reads %g there",
                                place->text, axis->name, axis->joint, *read);
        return refuse_value(r, at, &here, layer, axis, written, read);
    }
    return EX_OK;
}

/* ---- the whole pose ---- */

/* Returns the joint of that name among those moved so far; adds it at rest if missing, for which there is room. */
static ex_transform *move_joint(ex_project_joint *joints, int *count, const char *name) {
    for (int i = 0; i < *count; i++)
        if (strcmp(joints[i].name, name) == 0)
            return &joints[i].relative;
    joints[*count] = (ex_project_joint){.name = name, .relative = ex_transform_identity()};
    return &joints[(*count)++].relative;
}

static ex_result read_joints(exi_project_reader *r, const json_t *object, const exi_place *place,
                             ex_project_joint *joints, int *count) {
    const ex_reading whole = {.kind = EX_READING_ROTATION, .part = EX_AXIS_ROTATION};
    const ex_transform rest = ex_transform_identity();
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)object, key, value) {
        exi_place at = exi_place_key(place, key);
        double q[4];
        ex_result result = exi_json_rotation(value, &at, q, r->keys.error);
        const char *name = result == EX_OK ? exi_arena_text(r->keys.arena, key) : NULL;
        if (result != EX_OK)
            return result;
        if (!name)
            return ex_error_memory(r->keys.error, "the project", strlen(key) + 1);
        ex_reading_write(&whole, &rest, q, move_joint(joints, count, name));
    }
    return EX_OK;
}

static void write_axes(exi_project_reader *r, const json_t *at, const ex_project_layer *layer, ex_project_joint *joints,
                       int *count) {
    const ex_transform rest = ex_transform_identity();
    exi_project_reader quiet = {.keys.arena = r->keys.arena, .view = r->view};
    exi_place nowhere = {""};
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)at, key, value) {
        const ex_project_axis *axis = exi_find_axis(r, layer, key);
        double numbers[4];
        if (axis && axis->joint && exi_read_value(&quiet, value, &nowhere, axis, numbers) == EX_OK)
            ex_reading_write(&axis->reading, &rest, numbers, move_joint(joints, count, axis->joint));
    }
}

static bool is_at_rest(const ex_transform *t) {
    for (int i = 0; i < 3; i++)
        if (t->translation[i] != 0 || t->rotation[i] != 0 || t->scale[i] != 1)
            return false;
    return true;
}

/* Reads "joints", applies the axes of `at` over them, and checks the readings. */
static ex_result move_joints(exi_project_reader *r, const json_t *object, const json_t *at, const exi_place *place,
                             const ex_project_layer *layer, ex_project_example *example) {
    const json_t *given = json_object_get(object, "joints");
    exi_place here = exi_place_key(place, "joints");
    if (given && !json_is_object(given))
        return ex_error_set(r->keys.error, EX_ERROR_DATA, "%s: an object of joint names and rotations is needed here",
                            here.text);
    if (given && !r->view->skeleton)
        return ex_error_set(r->keys.error, EX_ERROR_DATA,
                            "%s: the project has no joints: add \"skeleton\": \"FILE.glb\" to the project", here.text);
    if (!r->view->skeleton)
        return EX_OK;
    size_t most = json_object_size(given) + json_object_size(at);
    ex_project_joint *joints = exi_arena_allocate(r->keys.arena, most, sizeof *joints);
    if (!joints)
        return ex_error_memory(r->keys.error, "the project", most * sizeof *joints);
    int count = 0;
    ex_result result = read_joints(r, given, &here, joints, &count);
    if (result != EX_OK)
        return result;
    write_axes(r, at, layer, joints, &count);
    example->joints = joints;
    example->joint_count = count;
    return check_readings(r, at, place, layer, example);
}

/* Drops joints that stay at rest; only reading needed them. */
static void drop_rest(ex_project_example *example) {
    ex_project_joint *joints = (ex_project_joint *)example->joints;
    int count = 0;
    for (int i = 0; i < example->joint_count; i++)
        if (!is_at_rest(&joints[i].relative))
            joints[count++] = joints[i];
    example->joint_count = count;
    example->joints = count ? joints : NULL;
}

static ex_result read_points(exi_project_reader *r, const json_t *at, ex_project_example *example) {
    size_t count = (size_t)r->view->layer_count;
    const double **points = exi_arena_allocate(r->keys.arena, count, sizeof *points);
    bool done = points != NULL;
    for (size_t l = 0; done && l < count; l++) {
        points[l] = exi_point_in(r, at, example->joints, example->joint_count, &r->view->layers[l]);
        done = points[l] != NULL;
    }
    example->points = points;
    return done ? EX_OK : ex_error_memory(r->keys.error, "the project", count * sizeof *points);
}

ex_result exi_read_pose(exi_project_reader *r, const json_t *object, const exi_place *place,
                        const ex_project_layer *layer, int index, ex_project_example *example) {
    const bool direct = exi_layer_is_direct(layer) || (layer->predictor && !json_object_get(object, "at"));
    exi_place here = exi_place_key(place, "at");
    if (layer->predictor)
        index = -1; /* there is no axis that an example is the end of */
    json_t *at = !direct     ? json_object_get(object, "at")
                 : index < 0 ? json_object()
                             : json_pack("{s:i}", layer->axes[index].name, 1);
    if (!at)
        return ex_error_memory(r->keys.error, "the project", 0);
    ex_result result = direct ? EX_OK : exi_check_axes(r, at, &here, layer);
    if (result == EX_OK)
        result = exi_read_driver_form(r, object, place, layer, example);
    if (result == EX_OK)
        result = move_joints(r, object, at, place, layer, example);
    if (result == EX_OK)
        result = read_points(r, at, example);
    if (result == EX_OK && !direct)
        example->at = example->points[layer - r->view->layers];
    drop_rest(example);
    if (direct)
        json_decref(at);
    return result;
}

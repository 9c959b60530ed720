/*
 * Reads values of JSON files: places for errors, numbers, rotations.
 */
#include "author/base/values.h"

#include "runtime/base/functions.inl"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

exi_place exi_place_key(const exi_place *parent, const char *key) {
    exi_place place;
    int length = snprintf(place.text, sizeof place.text, "%s%s%s", parent->text, parent->text[0] ? "." : "", key);
    return length < (int)sizeof place.text ? place : *parent;
}

exi_place exi_place_index(const exi_place *parent, size_t index) {
    exi_place place;
    int length = snprintf(place.text, sizeof place.text, "%s[%zu]", parent->text, index);
    return length < (int)sizeof place.text ? place : *parent;
}

ex_result exi_json_number(const json_t *value, const exi_place *place, double *number, ex_error *error) {
    if (!json_is_number(value))
        return ex_error_set(error, EX_ERROR_DATA, "%s: a number is needed here", place->text);
    *number = json_number_value(value);
    return EX_OK;
}

void exi_turn(double q[4], int axis, double degrees) {
    double turn[4] = {0}, half = fmod(degrees, 720.0) * (3.14159265358979323846 / 360.0);
    exi_sin_cos(half, &turn[axis], &turn[3]);
    exi_quaternion_multiply(q, turn, q);
}

static ex_result read_quaternion(const json_t *value, const exi_place *place, double q[4], ex_error *error) {
    double length = 0;
    if (json_array_size(value) != 4)
        return ex_error_set(error, EX_ERROR_DATA, "%s: a rotation as a list has four numbers, x y z w", place->text);
    for (size_t i = 0; i < 4; i++) {
        exi_place at = exi_place_index(place, i);
        ex_result result = exi_json_number(json_array_get(value, i), &at, &q[i], error);
        if (result != EX_OK)
            return result;
        length += q[i] * q[i];
    }
    if (!(length > 1e-20))
        return ex_error_set(error, EX_ERROR_DATA, "%s: a rotation cannot be four zeros", place->text);
    return EX_OK;
}

ex_result exi_json_rotation(const json_t *value, const exi_place *place, double q[4], ex_error *error) {
    if (json_is_array(value))
        return read_quaternion(value, place, q, error);
    if (!json_is_object(value))
        return ex_error_set(error, EX_ERROR_DATA,
                            "%s: a rotation is written as [x, y, z, w] or as {\"x\": 30, \"y\": -10} in degrees",
                            place->text);
    q[0] = q[1] = q[2] = 0;
    q[3] = 1;
    const char *key;
    json_t *angle;
    json_object_foreach((json_t *)value, key, angle) {
        exi_place at = exi_place_key(place, key);
        double degrees = 0;
        int axis = key[0] - 'x';
        if (axis < 0 || axis > 2 || key[1] != 0)
            return ex_error_set(error, EX_ERROR_DATA, "%s: the turns of a rotation are called x, y and z", at.text);
        ex_result result = exi_json_number(angle, &at, &degrees, error);
        if (result != EX_OK)
            return result;
        exi_turn(q, axis, degrees);
    }
    return EX_OK;
}

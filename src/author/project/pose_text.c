/*
 * Poses in words, as people type them: elbow=75, shoulder=q:0,0,.38,.92, shoulder=x30y-10z5.
 */
#include "author/formats/number.h"
#include "author/project/project.h"
#include "runtime/base/result.h"

#include <stdlib.h>
#include <string.h>

ex_result exi_unknown_input(const ex_rig *rig, const char *name, ex_error *error) {
    int count = ex_rig_input_count(rig);
    const char **names = malloc(((size_t)count + 1) * sizeof *names);
    if (!names)
        return exi_error_memory(error, "the axes' names", (size_t)count * sizeof *names);
    for (int i = 0; i < count; i++)
        names[i] = ex_rig_input_name(rig, i);
    const char *near = ex_suggest(name, names, count);
    free(names);
    if (near)
        return exi_error(error, EX_ERROR_DATA, "this rig has no axis '%s'; did you mean '%s'?", name, near);
    char list[256] = "";
    for (int i = 0; i < count && strlen(list) + strlen(ex_rig_input_name(rig, i)) + 3 < sizeof list; i++) {
        strcat(list, i ? ", " : "");
        strcat(list, ex_rig_input_name(rig, i));
    }
    return exi_error(error, EX_ERROR_DATA, "this rig has no axis '%s'; its axes are: %s", name, list);
}

/* q:x,y,z,w */
static bool parse_quaternion(const char *text, double q[4]) {
    const char *at = text, *end = text + strlen(text);
    double sum = 0;
    for (int i = 0; i < 4; i++) {
        if ((i > 0 && *at++ != ',') || !exi_parse_double(&at, end, &q[i]))
            return false;
        sum += q[i] * q[i];
    }
    return at == end && sum > 1e-20;
}

/* x30y-10z5: turns in degrees, each about the axis as the ones before it left it. */
static bool parse_turns(const char *text, double q[4]) {
    const char *at = text, *end = text + strlen(text);
    q[0] = q[1] = q[2] = 0;
    q[3] = 1;
    while (at < end) {
        int axis = *at++ - 'x';
        double degrees = 0;
        if (axis < 0 || axis > 2 || !exi_parse_double(&at, end, &degrees))
            return false;
        exi_turn(q, axis, degrees);
    }
    return end > text;
}

static ex_result set_value(const ex_rig *rig, int input, const char *text, double *inputs, ex_error *error) {
    ex_axis axis = ex_rig_input_axis(rig, input);
    double *out = inputs + ex_rig_input_offset(rig, input);
    const char *name = ex_rig_input_name(rig, input);
    if (axis.kind == EX_AXIS_SCALAR) {
        const char *at = text, *end = text + strlen(text);
        double value = 0;
        if (!exi_parse_double(&at, end, &value) || at != end)
            return exi_error(error, EX_ERROR_DATA, "%s=%s: a number is needed here", name, text);
        *out = value;
        return EX_OK;
    }
    double q[4];
    bool sound = strncmp(text, "q:", 2) == 0 ? parse_quaternion(text + 2, q) : parse_turns(text, q);
    if (!sound)
        return exi_error(error, EX_ERROR_DATA,
                         "%s=%s: a rotation is written q:0,0,0.38,0.92 (x y z w) or x30y-10z5 (degrees)", name, text);
    memcpy(out, q, sizeof q);
    return EX_OK;
}

ex_result ex_pose_set(const ex_rig *rig, const char *assignment, double *inputs, ex_error *error) {
    const char *equals = strchr(assignment, '=');
    if (!equals || equals == assignment)
        return exi_error(error, EX_ERROR_DATA, "'%s': a pose is given as axis=value", assignment);
    size_t length = (size_t)(equals - assignment);
    char *name = malloc(length + 1);
    if (!name)
        return exi_error_memory(error, "an axis name", length);
    memcpy(name, assignment, length);
    name[length] = 0;
    int input = ex_rig_input_find(rig, name);
    ex_result result =
        input < 0 ? exi_unknown_input(rig, name, error) : set_value(rig, input, equals + 1, inputs, error);
    free(name);
    return result;
}

/*
 * Checks axes. An input is a number or a rotation and has one rest value, in whichever layers name it. Two inputs of
 * one joint should not disturb each other: writing one after the others must not change another's reading. That is
 * tried at a few values of each. (Two angles about different axes are compatible, three are not.) A range of degrees
 * that looks like radians is reported too.
 */
#include "author/base/array.h"
#include "author/base/keys.h"
#include "author/project/check/check.h"
#include "author/project/model/reader.h"
#include "runtime/weigh/weigher.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct axis_place {
    const ex_project_axis *axis;
    char where[64];
} axis_place;

static axis_place place_of(const exi_checker *c, int layer, int axis) {
    axis_place place = {.axis = &c->view->layers[layer].axes[axis]};
    snprintf(place.where, sizeof place.where, "layers[%d].space[%d]", layer, axis);
    return place;
}

/* ---- two inputs of one joint ---- */

enum { VALUES = 3 };

static void test_value(const ex_project_axis *axis, int number, double value[4]) {
    static const double rotations[VALUES][4] = {{0.3, 0, 0, 0.95}, {0, 0.5, 0.2, 0.84}, {0.2, -0.3, 0.5, 0.79}};
    if (axis->reading.kind == EX_READING_ROTATION)
        memcpy(value, rotations[number], sizeof rotations[number]);
    else
        *value = axis->axis.min + (axis->axis.max - axis->axis.min) * (0.15 + 0.33 * number);
}

/* The axes of a joint, one for each name, in the project's order. */
typedef struct joint_axes {
    const ex_project_axis **axes;
    int count;
} joint_axes;

/* Sets all axes but the last, then the last. Returns the axis whose reading that changes, with the readings before and
 * after; -1 if none. */
static int find_disturbed(const joint_axes *j, int number, double *before, double *after) {
    const ex_transform rest = ex_transform_identity();
    ex_transform joint = rest, moved;
    double value[4];
    for (int i = 0; i + 1 < j->count; i++) {
        test_value(j->axes[i], (i + number) % VALUES, value);
        ex_reading_write(&j->axes[i]->reading, &rest, value, &joint);
    }
    moved = joint;
    test_value(j->axes[j->count - 1], (2 * number + 1) % VALUES, value);
    ex_reading_write(&j->axes[j->count - 1]->reading, &rest, value, &moved);
    for (int i = 0; i + 1 < j->count; i++) {
        ex_reading_read(&j->axes[i]->reading, &rest, &joint, before);
        ex_reading_read(&j->axes[i]->reading, &rest, &moved, after);
        if (!exi_reading_agrees(&j->axes[i]->reading, &moved, before, after))
            return i;
    }
    return -1;
}

static void check_last(exi_checker *c, const joint_axes *j, const char *where) {
    double before[4], after[4];
    int disturbed = -1;
    for (int i = 0; i < VALUES && disturbed < 0; i++)
        disturbed = find_disturbed(j, i, before, after);
    if (disturbed < 0)
        return;
    const ex_project_axis *a = j->axes[disturbed], *b = j->axes[j->count - 1];
    char what[80] = "to another rotation";
    if (a->reading.kind != EX_READING_ROTATION)
        snprintf(what, sizeof what, "from %.4g to %.4g, for one", *before, *after);
    exi_check_add(c, EX_SEVERITY_WARNING, "overlap", where, 0,
                  "'%s' and '%s' overlap: setting '%s' changes what '%s' reads from joint '%s' (%s), so some pairs of "
                  "values are impossible; one axis with \"rotation\" would hold the whole turn",
                  a->name, b->name, b->name, a->name, a->joint, what);
}

/* ---- units ---- */

/* Reports a range no wider than a full turn in radians, where degrees are expected. */
static void check_degrees(exi_checker *c, const axis_place *here) {
    static const double full_turn = 6.2832;
    const double width = here->axis->axis.max - here->axis->axis.min;
    if (here->axis->joint && here->axis->reading.kind == EX_READING_ANGLE && width <= full_turn)
        exi_check_add(c, EX_SEVERITY_WARNING, "radians", here->where, width,
                      "the range of '%s', from %g to %g, is only %g degrees wide: angles are in degrees, here and in "
                      "\"at\"; is it in radians?",
                      here->axis->name, here->axis->axis.min, here->axis->axis.max, width);
}

/* ---- all of them ---- */

static void compare(exi_checker *c, const ex_project_axis *b, const axis_place *later, int layer) {
    const ex_project_axis *a = later->axis;
    if (strcmp(a->name, b->name) == 0 && !exi_axis_is_same_input(&a->axis, &b->axis))
        exi_check_add(c, EX_SEVERITY_ERROR, "axis", later->where, 0,
                      "axis '%s' has another kind or rest value here than in layers[%d]", a->name, layer);
}

static bool is_first_of_its_name(const exi_checker *c, int layer, int axis) {
    const char *name = c->view->layers[layer].axes[axis].name;
    for (int l = 0; l < layer; l++)
        for (int i = 0; i < c->view->layers[l].axis_count; i++)
            if (strcmp(c->view->layers[l].axes[i].name, name) == 0)
                return false;
    return true;
}

/* Checks axis i of layer l against earlier axes of its joint; axes [number of axes before it] is scratch. */
static void check_joint(exi_checker *c, int layer, int axis, const ex_project_axis **axes) {
    const axis_place here = place_of(c, layer, axis);
    joint_axes j = {.axes = axes};
    if (!here.axis->joint || !is_first_of_its_name(c, layer, axis))
        return;
    for (int m = 0; m <= layer; m++)
        for (int k = 0; k < (m < layer ? c->view->layers[m].axis_count : axis + 1); k++) {
            const ex_project_axis *other = &c->view->layers[m].axes[k];
            if (other->joint && strcmp(other->joint, here.axis->joint) == 0 && is_first_of_its_name(c, m, k))
                axes[j.count++] = other;
        }
    check_last(c, &j, here.where);
}

void exi_check_inputs(exi_checker *c) {
    const ex_project_layer *layers = c->view->layers;
    size_t count = 0;
    for (int l = 0; l < c->view->layer_count; l++)
        count += (size_t)layers[l].axis_count;
    const ex_project_axis **axes = exi_array_allocate(count, sizeof *axes);
    c->failed = c->failed || !axes;
    for (int l = 0; axes && l < c->view->layer_count; l++)
        for (int i = 0; i < layers[l].axis_count; i++) {
            const axis_place here = place_of(c, l, i);
            for (int m = 0; m < l; m++)
                for (int k = 0; k < layers[m].axis_count; k++)
                    compare(c, layers[m].axes + k, &here, m);
            check_joint(c, l, i, axes);
            check_degrees(c, &here);
        }
    free(axes);
}

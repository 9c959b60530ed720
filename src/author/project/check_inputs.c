/*
 * Checking axes: one input is a number or a rotation and has one rest value, whichever layer names it; and two inputs
 * of one joint should not disturb each other. They do where one, written after the other, changes what the other reads:
 * that is tried, at a few values of each.
 */
#include "author/project/check.h"
#include "author/project/keys.h"
#include "runtime/weigh/weigher.h"

#include <stdio.h>
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

/* Whether `first`, set to a value and followed by `second`, reads something else; and what. */
static bool is_disturbed(const ex_project_axis *first, const ex_project_axis *second, double *written, double *read) {
    const ex_transform rest = ex_transform_identity();
    for (int i = 0; i < VALUES * VALUES; i++) {
        double value[4];
        ex_transform joint = rest;
        test_value(first, i / VALUES, written);
        ex_reading_write(&first->reading, &rest, written, &joint);
        ex_reading_read(&first->reading, &rest, &joint, read);
        if (!exi_reading_agrees(&first->reading, &joint, written, read))
            continue; /* it cannot be moved there, even alone */
        test_value(second, i % VALUES, value);
        ex_reading_write(&second->reading, &rest, value, &joint);
        ex_reading_read(&first->reading, &rest, &joint, read);
        if (!exi_reading_agrees(&first->reading, &joint, written, read))
            return true;
    }
    return false;
}

static void check_pair(exi_checker *c, const axis_place *first, const axis_place *second) {
    const ex_project_axis *a = first->axis, *b = second->axis;
    double written[4], read[4];
    char what[80] = "it then reads another rotation than the one it was set to";
    if (!a->joint || !b->joint || strcmp(a->joint, b->joint) != 0)
        return;
    if (!is_disturbed(a, b, written, read)) {
        if (!is_disturbed(b, a, written, read))
            return;
        a = second->axis;
        b = first->axis;
    }
    if (a->reading.kind != EX_READING_ROTATION)
        snprintf(what, sizeof what, "set to %.4g, it then reads %.4g", *written, *read);
    exi_check_add(c, EX_SEVERITY_WARNING, "overlap", second->where, 0,
                  "'%s' and '%s' both move joint '%s', and setting '%s' changes '%s' (%s): one axis with \"rotation\" "
                  "would hold both, or give one of them a joint of its own",
                  first->axis->name, second->axis->name, a->joint, b->name, a->name, what);
}

/* ---- all of them ---- */

static void compare(exi_checker *c, const axis_place *earlier, const axis_place *later, int layer) {
    const ex_project_axis *a = later->axis, *b = earlier->axis;
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

void exi_check_inputs(exi_checker *c) {
    const ex_project_layer *layers = c->view->layers;
    for (int l = 0; l < c->view->layer_count; l++)
        for (int i = 0; i < layers[l].axis_count; i++) {
            const axis_place here = place_of(c, l, i);
            const bool first = layers[l].axes[i].joint && is_first_of_its_name(c, l, i);
            for (int m = 0; m <= l; m++)
                for (int k = 0; k < (m < l ? layers[m].axis_count : i); k++) {
                    const axis_place there = place_of(c, m, k);
                    if (m < l)
                        compare(c, &there, &here, m);
                    if (first && layers[m].axes[k].joint && is_first_of_its_name(c, m, k))
                        check_pair(c, &there, &here);
                }
        }
}

/*
 * Widens the range of axes until it holds a place. Pictures, sliders and checks go over the range, and a clamped axis
 * reads everything outside it as its end. Distances count in ranges unless the axis has a "scale". So an axis that is
 * widened gets the scale that it had, and everything between earlier examples stays.
 */
#include "author/base/json.h"
#include "author/project/sculpt/sculpt.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Widens one axis of the tree; false without memory. */
static bool widen(json_t *axis, double value, bool *widened) {
    const double min = json_number_value(json_object_get(axis, "min"));
    const double max = json_number_value(json_object_get(axis, "max"));
    if (!json_is_number(json_object_get(axis, "min")) || (value >= min && value <= max))
        return true;
    *widened = true;
    if (!json_object_get(axis, "scale") &&
        json_object_set_new(axis, "scale", exi_json_make_number(1 / (max - min))) != 0)
        return false;
    return json_object_set_new(axis, value < min ? "min" : "max", exi_json_make_number(value)) == 0;
}

/* Widens the axis of that name in all layers, which must agree. */
static bool widen_all(const exi_amendment *a, const char *name, double value) {
    const json_t *layers = json_object_get(a->trial.root, "layers"), *last = NULL;
    bool done = true, widened = false;
    for (size_t l = 0; l < json_array_size(layers); l++) {
        const json_t *space = json_object_get(json_array_get(layers, l), "space");
        for (size_t i = 0; i < json_array_size(space); i++) {
            json_t *axis = json_array_get(space, i);
            const char *own = json_string_value(json_object_get(axis, "name"));
            if (!own || strcmp(own, name) != 0)
                continue;
            bool here = false;
            done = widen(axis, value, &here) && done;
            widened = widened || here;
            last = here ? axis : last;
        }
    }
    if (widened)
        exi_amend_note(a, "the range of '%s' is now %g to %g, to hold it", name,
                       json_number_value(json_object_get(last, "min")),
                       json_number_value(json_object_get(last, "max")));
    return done;
}

ex_result exi_widen_axes(const exi_amendment *a, const json_t *at, ex_error *error) {
    const char *name;
    json_t *value;
    bool done = true;
    json_object_foreach((json_t *)at, name, value) {
        if (json_is_number(value) && isfinite(json_number_value(value)))
            done = widen_all(a, name, json_number_value(value)) && done;
    }
    return done ? EX_OK : ex_error_memory(error, "an axis", 0);
}

/*
 * Chooses the layer of a place. A sculpt belongs into the space that has its place ("Shape by Example", section 4):
 *
 *   - a slider of a direct layer, alone at 1: it is a better form for that slider's example;
 *   - a layer of offsets over exactly the axes that the place moves away from rest. With fewer axes, the layer would
 *     not know the pose; with more, a correction of the elbow would fade as the wrist turns;
 *   - a layer of whole forms, at rest or un-posed, whose space has all these axes: one more example of that space.
 *
 * Otherwise a layer of offsets is added with those axes, copied from other layers.
 */
#include "author/base/array.h"
#include "author/base/json.h"
#include "author/project/domains/project_domain.h"
#include "author/project/sculpt/sculpt.h"
#include "runtime/base/text.h"
#include "runtime/base/vector.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- layers by name ---- */

int exi_find_layer(const ex_project_view *view, const char *name, ex_error *error) {
    for (int l = 0; l < view->layer_count; l++)
        if (strcmp(view->layers[l].name, name) == 0)
            return l;
    const char **names = exi_array_allocate((size_t)view->layer_count, sizeof *names);
    for (int l = 0; names && l < view->layer_count; l++)
        names[l] = view->layers[l].name;
    const char *near = names ? ex_suggest(name, names, view->layer_count) : NULL;
    if (near)
        ex_error_set(error, EX_ERROR_DATA, "this project has no layer '%s'; did you mean '%s'?", name, near);
    else
        ex_error_kind(error, ex_error_set(error, EX_ERROR_DATA, "this project has no layer '%s'", name),
                      "unknown_layer");
    free(names);
    return -1;
}

char *exi_new_layer_name(const ex_project_view *view, const char *wish) {
    const int length = exi_text_cut(wish, EXI_NAME_MAX - 12); /* room for a number */
    char *name = exi_array_allocate(EXI_NAME_MAX + 1, 1);
    bool taken = true;
    if (name)
        sprintf(name, "%.*s", length, wish);
    for (int number = 2; name && taken; number++) {
        taken = false;
        for (int l = 0; l < view->layer_count; l++)
            taken = taken || strcmp(view->layers[l].name, name) == 0;
        if (taken)
            sprintf(name, "%.*s %d", length, wish, number);
    }
    return name;
}

/* ---- examples by name ---- */

static int find_in_layer(const ex_project_layer *layer, const char *name) {
    for (int k = 0; k < layer->example_count; k++)
        if (strcmp(layer->examples[k].name, name) == 0)
            return layer->examples[k].place;
    for (int k = 0; k < layer->muted_count; k++)
        if (strcmp(layer->muted_examples[k].name, name) == 0)
            return layer->muted_examples[k].place;
    return -1;
}

static int unknown_example(const ex_project_view *view, int layer, const char *name, ex_error *error) {
    const char *near = NULL;
    for (int l = 0; l < view->layer_count && !near; l++)
        if (layer < 0 || l == layer)
            near = ex_suggest(name, view->layers[l].weigh.names, view->layers[l].example_count);
    if (layer >= 0 && near)
        ex_error_set(error, EX_ERROR_DATA, "layer '%s' has no example '%s'; did you mean '%s'?",
                     view->layers[layer].name, name, near);
    else if (near)
        ex_error_set(error, EX_ERROR_DATA, "no layer has an example '%s'; did you mean '%s'?", name, near);
    else if (layer >= 0)
        ex_error_kind(
            error, ex_error_set(error, EX_ERROR_DATA, "layer '%s' has no example '%s'", view->layers[layer].name, name),
            "unknown_example");
    else
        ex_error_kind(error, ex_error_set(error, EX_ERROR_DATA, "no layer has an example '%s'", name),
                      "unknown_example");
    return -1;
}

int exi_find_example(const ex_project_view *view, ex_example_ref which, int *layer, ex_error *error) {
    int place = -1, wanted = -1;
    *layer = -1;
    if (!which.name) {
        ex_error_set(error, EX_ERROR_ARGUMENT, "name an example");
        return -1;
    }
    if (which.layer && (wanted = exi_find_layer(view, which.layer, error)) < 0)
        return -1;
    for (int l = 0; l < view->layer_count; l++) {
        const int here = wanted >= 0 && l != wanted ? -1 : find_in_layer(&view->layers[l], which.name);
        if (here >= 0 && place >= 0) {
            ex_error_kind(error,
                          ex_error_set(error, EX_ERROR_DATA, "layers '%s' and '%s' both have an example '%s'",
                                       view->layers[*layer].name, view->layers[l].name, which.name),
                          "several_layers");
            return -1;
        }
        if (here >= 0) {
            place = here;
            *layer = l;
        }
    }
    return place >= 0 ? place : unknown_example(view, wanted, which.name, error);
}

/* ---- layers by axes ---- */

int exi_layer_over(const ex_project_view *view, const json_t *axes) {
    int found = -1;
    for (int l = 0; l < view->layer_count; l++) {
        const ex_project_layer *layer = &view->layers[l];
        bool same = layer->domain == EX_DOMAIN_OFFSETS && ex_weigher_kind_info(layer->weigh.kind)->has_points &&
                    (size_t)layer->axis_count == json_object_size(axes);
        for (int i = 0; same && i < layer->axis_count; i++)
            same = json_object_get(axes, layer->axes[i].name) != NULL;
        if (same && found >= 0)
            return -2;
        if (same)
            found = l;
    }
    return found;
}

bool exi_layer_at_rest(const ex_project_layer *layer) {
    return exi_project_domain_of(layer)->targets ? !layer->unposed && !(layer->trajectory.options && layer->driven)
                                                 : layer->domain == EX_DOMAIN_OFFSETS && !layer->offsets.posed;
}

static bool has_axis(const ex_project_layer *layer, const char *name) {
    for (int i = 0; i < layer->axis_count; i++)
        if (strcmp(layer->axes[i].name, name) == 0)
            return true;
    return false;
}

/* True for a space of whole forms, or of offsets from forms at rest, with all axes of the place. */
static bool is_space_of(const ex_project_layer *layer, const json_t *axes) {
    const char *name;
    json_t *value;
    bool all = exi_project_domain_of(layer)->masked == EXI_MASKED_MESH && !layer->driven &&
               (exi_project_domain_of(layer)->targets || exi_layer_at_rest(layer)) && !exi_layer_is_direct(layer);
    json_object_foreach((json_t *)axes, name, value) all = all && has_axis(layer, name);
    return all;
}

/* Returns the one layer whose space has all axes of the place, preferably no others; -1 for none, -2 for several. */
static int form_layer_over(const ex_project_view *view, const json_t *axes) {
    int found = -1, exact = -1, count = 0, exact_count = 0;
    for (int l = 0; l < view->layer_count; l++) {
        if (!is_space_of(&view->layers[l], axes))
            continue;
        found = l;
        count++;
        if ((size_t)view->layers[l].axis_count == json_object_size(axes)) {
            exact = l;
            exact_count++;
        }
    }
    return exact_count == 1 ? exact : count > 1 ? -2 : found;
}

/* Returns the direct layer whose slider is the only moved axis, and at 1, or -1; and the example's index in its list.
 */
static int find_slider(const ex_project_view *view, const exi_spoken *spoken, const json_t *axes, int *target) {
    const char *name = json_object_iter_key(json_object_iter((json_t *)axes));
    *target = -1;
    if (json_object_size(axes) != 1 || json_number_value(json_object_get(spoken->at, name)) != 1)
        return -1;
    for (int l = 0; l < view->layer_count; l++) {
        const ex_project_layer *layer = &view->layers[l];
        const bool forms = exi_layer_is_direct(layer) && exi_project_domain_of(layer)->masked == EXI_MASKED_MESH;
        for (int i = 0; forms && i < layer->axis_count && i < layer->example_count; i++)
            if (strcmp(layer->axes[i].name, name) == 0) {
                *target = layer->examples[i].place;
                return l;
            }
    }
    return -1;
}

/* True if the value is the axis's rest value. */
static bool is_rest(const ex_project_axis *axis, const json_t *value) {
    const exi_place nowhere = {""};
    double q[4], dot = 0;
    if (axis->axis.kind == EX_AXIS_SCALAR)
        return json_number_value(value) == axis->axis.rest;
    if (exi_json_rotation(value, &nowhere, q, NULL) != EX_OK)
        return false;
    exi_normalise(q, 4);
    for (int i = 0; i < 4; i++)
        dot += q[i] * axis->axis.rest_rotation[i];
    return fabs(dot) >= 1 - 1e-12;
}

/* Returns the names of the axes, old and new, that the place moves away from rest, as keys; NULL without memory. */
static json_t *moved_axes(const ex_project_view *view, const exi_spoken *spoken) {
    json_t *moved = json_object(), *value;
    const char *name;
    json_object_foreach(spoken->at, name, value) {
        const ex_project_axis *axis = exi_view_axis(view, name);
        if (moved && (!axis || !is_rest(axis, value)) && json_object_set_new(moved, name, json_true()) != 0) {
            json_decref(moved);
            return NULL;
        }
    }
    return moved;
}

/* Copies the axis from the tree: from the first layer that has it or from the new ones. */
static json_t *copy_axis(const exi_amendment *a, const exi_spoken *spoken, const char *name) {
    const json_t *layers = json_object_get(a->trial.root, "layers");
    for (size_t l = 0; l <= json_array_size(layers); l++) {
        const json_t *list =
            l < json_array_size(layers) ? json_object_get(json_array_get(layers, l), "space") : spoken->axes;
        for (size_t i = 0; i < json_array_size(list); i++) {
            const json_t *axis = json_array_get(list, i);
            if (strcmp(json_string_value(json_object_get(axis, "name")), name) == 0)
                return json_deep_copy(axis);
        }
    }
    return NULL;
}

/* Returns "elbow_shoulder", or "elbow, shoulder and load". */
static char *join_names(const json_t *axes, const char *between, const char *last) {
    size_t size = 1 + strlen(last), left = json_object_size(axes);
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)axes, name, value) size += strlen(name) + strlen(between);
    char *joined = exi_array_allocate(size, 1);
    if (joined)
        joined[0] = 0;
    json_object_foreach((json_t *)axes, name, value) if (joined) {
        left--;
        strcat(joined, !joined[0] ? "" : left > 0 ? between : last);
        strcat(joined, name);
    }
    return joined;
}

/* The layer protects the sculpts of layers before it: it is zero at their places in its space, unless it has an example
 * there itself. */
static bool append_layer(exi_amendment *a, const exi_spoken *spoken, const json_t *axes, const char *name) {
    json_t *space = json_array(), *value;
    const char *axis;
    bool done = space != NULL;
    json_object_foreach((json_t *)axes, axis, value) {
        done = done && json_array_append_new(space, copy_axis(a, spoken, axis)) == 0;
    }
    json_t *layer = json_pack("{s:s, s:s, s:b, s:o, s:{s:s}, s:[]}", "name", name, "shape", "offsets", "protect", 1,
                              "space", space, "weigh", "kind", spoken->falloff ? "gaussian" : "calm", "examples");
    return layer && json_array_append_new(json_object_get(a->trial.root, "layers"), layer) == 0 && done;
}

static int start_layer(exi_amendment *a, const exi_spoken *spoken, const json_t *axes, ex_error *error) {
    const ex_project_view *view = &a->project->view;
    char *wish = join_names(axes, "_", "_"), *words = join_names(axes, ", ", " and ");
    char *name = wish ? exi_new_layer_name(view, wish) : NULL;
    const bool done = name && words && append_layer(a, spoken, axes, name);
    if (done)
        exi_amend_note(a, "no layer of offsets has just the %s %s: layer '%s' is added",
                       json_object_size(axes) > 1 ? "axes" : "axis", words, name);
    else
        ex_error_memory(error, "a layer", 0);
    free(wish);
    free(words);
    free(name);
    return done ? view->layer_count : -1;
}

int exi_choose_layer(exi_amendment *a, const exi_spoken *spoken, bool *made, int *target, ex_error *error) {
    const ex_project_view *view = &a->project->view;
    json_t *axes = moved_axes(view, spoken);
    int layer = axes ? find_slider(view, spoken, axes, target) : -1;
    if (axes && layer == -1)
        layer = exi_layer_over(view, axes);
    if (axes && layer == -1 && json_object_size(axes) > 0)
        layer = form_layer_over(view, axes);
    char *names = axes ? join_names(axes, ", ", " and ") : NULL;
    *made = false;
    if (!names) {
        ex_error_memory(error, "a layer", 0);
        layer = -1;
    } else if (json_object_size(axes) == 0) {
        ex_error_set(error, EX_ERROR_DATA,
                     "every axis of that place is at rest, where the form is the mesh itself: give the pose at which "
                     "it was sculpted");
        layer = -1;
    } else if (layer == -2) {
        ex_error_kind(error, ex_error_set(error, EX_ERROR_DATA, "several layers are over %s", names), "several_layers");
        layer = -1;
    } else if (layer < 0) {
        layer = start_layer(a, spoken, axes, error);
        *made = layer >= 0;
    } else if (*target < 0) {
        exi_amend_note(a, "it goes to layer '%s', whose space has %s", view->layers[layer].name, names);
    }
    free(names);
    json_decref(axes);
    return layer;
}

/*
 * Renames examples, layers and axes, with everything in the project that refers to them: weights of pseudo-examples,
 * places, falloffs per axis, and the same axis in other layers. Files keep their names. The slider of an example of a
 * direct layer that has the example's name is renamed with it.
 */
#include "author/base/json.h"
#include "author/project/sculpt/sculpt.h"
#include "runtime/base/text.h"

#include <stdio.h>
#include <string.h>

static const char *const words[] = {"example", "layer", "axis"};

/* ---- keys ---- */

/* Renames a key of an object, which keeps its position; other values are left alone. False without memory. */
static bool rename_key(json_t *object, const char *from, const char *to) {
    const char *name;
    json_t *value;
    if (!json_is_object(object) || !json_object_get(object, from))
        return true;
    json_t *renamed = json_object();
    bool done = renamed != NULL;
    json_object_foreach(object, name, value) done =
        done && json_object_set(renamed, strcmp(name, from) == 0 ? to : name, value) == 0;
    done = done && json_object_clear(object) == 0 && json_object_update(object, renamed) == 0;
    json_decref(renamed);
    return done;
}

/* Renames such a key in an object of every element of a list. */
static bool rename_keys(const json_t *list, const char *key, const char *from, const char *to) {
    bool done = true;
    for (size_t i = 0; i < json_array_size(list); i++)
        done = rename_key(json_object_get(json_array_get(list, i), key), from, to) && done;
    return done;
}

/* Sets the name of every element of a list that is called so. */
static bool rename_elements(const json_t *list, const char *from, const char *to) {
    bool done = true;
    for (size_t i = 0; i < json_array_size(list); i++) {
        json_t *element = json_array_get(list, i);
        const char *name = json_string_value(json_object_get(element, "name"));
        if (name && strcmp(name, from) == 0)
            done = json_object_set_new(element, "name", json_string(to)) == 0 && done;
    }
    return done;
}

static bool rename_axis(const exi_amendment *a, const char *from, const char *to) {
    const json_t *layers = json_object_get(a->trial.root, "layers");
    bool done = true;
    for (size_t l = 0; l < json_array_size(layers); l++) {
        const json_t *layer = json_array_get(layers, l), *examples = json_object_get(layer, "examples"),
                     *pseudos = json_object_get(layer, "pseudo");
        done = rename_elements(json_object_get(layer, "space"), from, to) && rename_keys(examples, "at", from, to) &&
               rename_keys(examples, "falloff", from, to) && rename_keys(pseudos, "at", from, to) &&
               rename_keys(pseudos, "from", from, to) && rename_keys(pseudos, "falloff", from, to) &&
               rename_key(json_object_get(json_object_get(layer, "weigh"), "falloff"), from, to) && done;
    }
    return done;
}

/* ---- names ---- */

static ex_result check_to(const ex_rename *rename, ex_error *error) {
    if (!rename->name || !rename->to)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "give the present name and the new one");
    if (rename->kind == EX_RENAME_AXIS && !exi_is_axis_name(rename->to))
        return ex_error_set(error, EX_ERROR_DATA,
                            "the new name is not valid: the name of an axis needs 1 to %d bytes, without '=', ',' or "
                            "'\"', and other than 'time' or 'joint:…'",
                            EXI_NAME_MAX);
    if (!exi_is_name(rename->to))
        return ex_error_set(error, EX_ERROR_DATA,
                            "the new name is not valid: 1 to %d bytes of readable text are needed", EXI_NAME_MAX);
    if (strcmp(rename->name, rename->to) == 0)
        return ex_error_set(error, EX_ERROR_DATA, "the %s is called '%s' already", words[rename->kind], rename->to);
    return EX_OK;
}

static ex_result refuse_taken(const char *to, const char *owner, const char *word, ex_error *error) {
    return ex_error_set(error, EX_ERROR_DATA, "%s already has an %s '%s': give another name", owner, word, to);
}

static bool has_name(const json_t *list, const char *name) {
    bool found = false;
    for (size_t i = 0; i < json_array_size(list); i++) {
        const char *own = json_string_value(json_object_get(json_array_get(list, i), "name"));
        found = found || (own && strcmp(own, name) == 0);
    }
    return found;
}

/* ---- the three kinds ---- */

static ex_result rename_example(exi_amendment *a, const ex_rename *rename, ex_error *error) {
    const ex_project_view *view = &a->project->view;
    int index = -1;
    const int place =
        exi_find_example(view, (ex_example_ref){.layer = rename->layer, .name = rename->name}, &index, error);
    if (place < 0)
        return error->result;
    json_t *layer = exi_amend_layer(a, index);
    const json_t *examples = json_object_get(layer, "examples"), *space = json_object_get(layer, "space");
    char owner[EXI_NAME_MAX + 16];
    snprintf(owner, sizeof owner, "layer '%s'", view->layers[index].name);
    if (has_name(examples, rename->to))
        return refuse_taken(rename->to, owner, "example", error);
    const char *slider = exi_layer_is_direct(&view->layers[index])
                             ? json_string_value(json_object_get(json_array_get(space, (size_t)place), "name"))
                             : NULL;
    const bool both = slider && strcmp(slider, rename->name) == 0;
    if (both && !exi_is_axis_name(rename->to))
        return ex_error_set(error, EX_ERROR_DATA,
                            "'%s' is also a slider, and the new name is not valid for one: it needs 1 to %d bytes, "
                            "without '=', ',' or '\"'",
                            rename->name, EXI_NAME_MAX);
    if (both && exi_view_axis(view, rename->to))
        return refuse_taken(rename->to, "the project", "axis", error);
    bool done = rename_elements(examples, rename->name, rename->to) &&
                rename_keys(json_object_get(layer, "pseudo"), "weights", rename->name, rename->to);
    if (both) {
        exi_amend_note(a, "its slider is now called '%s' too", rename->to);
        done = rename_axis(a, rename->name, rename->to) && done;
    }
    return done ? EX_OK : ex_error_memory(error, "the names", 0);
}

static ex_result rename_layer(const exi_amendment *a, const ex_rename *rename, ex_error *error) {
    const json_t *layers = json_object_get(a->trial.root, "layers");
    if (exi_find_layer(&a->project->view, rename->name, error) < 0)
        return EX_ERROR_DATA;
    if (has_name(layers, rename->to))
        return ex_error_set(error, EX_ERROR_DATA, "the project already has a layer '%s': give another name",
                            rename->to);
    return rename_elements(layers, rename->name, rename->to) ? EX_OK : ex_error_memory(error, "the names", 0);
}

static ex_result rename_one_axis(const exi_amendment *a, const ex_rename *rename, ex_error *error) {
    if (!exi_view_axis(&a->project->view, rename->name))
        return exi_unknown_axis(&a->project->view, rename->name, error);
    if (exi_view_axis(&a->project->view, rename->to))
        return refuse_taken(rename->to, "the project", "axis", error);
    return rename_axis(a, rename->name, rename->to) ? EX_OK : ex_error_memory(error, "the names", 0);
}

ex_result ex_project_rename(ex_project *project, const ex_rename *rename, const ex_build_options *options,
                            ex_error *error) {
    ex_error local = {0};
    error = error ? error : &local;
    exi_amendment a;
    ex_result result = check_to(rename, error);
    if (result != EX_OK)
        return result;
    result = exi_amend_open(&a, project, options, error);
    if (result == EX_OK)
        result = rename->kind == EX_RENAME_EXAMPLE ? rename_example(&a, rename, error)
                 : rename->kind == EX_RENAME_LAYER ? rename_layer(&a, rename, error)
                                                   : rename_one_axis(&a, rename, error);
    exi_amend_name(&a, "%s '%s' renamed to '%s'", words[rename->kind], rename->name, rename->to);
    return exi_amend_end(&a, result, error);
}

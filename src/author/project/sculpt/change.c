/*
 * Moves, removes and mutes examples, and changes pseudo-examples: changes of the tree alone. Each is built before it is
 * saved, so that a valid project stays valid.
 */
#include "author/base/array.h"
#include "author/base/json.h"
#include "author/project/sculpt/sculpt.h"

#include <stdlib.h>
#include <string.h>

static json_t *examples_of(const exi_amendment *a, int layer) {
    return json_object_get(exi_amend_layer(a, layer), "examples");
}

/* ---- examples ---- */

/* Copies values of `from` into `to`; existing keys keep their position. */
static bool set_values(json_t *to, const json_t *from) {
    return json_object_update(to, (json_t *)from) == 0;
}

static ex_result check_space(const ex_project_layer *layer, ex_error *error) {
    if (layer->predictor)
        return ex_error_set(error, EX_ERROR_DATA, "layer '%s' follows motion: it has no space to place anything in",
                            layer->name);
    return exi_layer_is_direct(layer)
               ? ex_error_set(error, EX_ERROR_DATA, "layer '%s' is direct: it has no space to place anything in",
                              layer->name)
               : EX_OK;
}

/* Removes the example's metric, which would take precedence over the falloff. */
static ex_result set_falloff(json_t *entry, const ex_example_move *move, ex_error *error) {
    json_t *falloff = NULL;
    json_object_del(entry, "falloff");
    json_object_del(entry, "metric");
    if (move->layer_falloff)
        return EX_OK;
    const ex_result result = exi_falloff_json(move->falloff, &falloff, error);
    return result == EX_OK && json_object_set_new(entry, "falloff", falloff) != 0
               ? ex_error_memory(error, "an example", 0)
               : result;
}

static ex_result put(exi_amendment *a, int layer, int place, const exi_spoken *spoken, ex_error *error) {
    json_t *entry = json_array_get(examples_of(a, layer), (size_t)place);
    bool done = set_values(json_object_get(entry, "at"), spoken->at);
    if (json_object_size(spoken->at) + json_object_size(spoken->joints) > 0)
        json_object_del(entry, "sculpt"); /* it was at another place */
    if (json_object_size(spoken->joints) > 0)
        done = done && json_object_set(entry, "joints", spoken->joints) == 0;
    ex_result result = done ? exi_widen_axes(a, spoken->at, error) : ex_error_memory(error, "an example", 0);
    if (result == EX_OK)
        result = exi_amend_read(a, error);
    const ex_project_layer *view = &a->trial.view.layers[layer];
    const ex_project_example *other = result == EX_OK ? exi_example_in_the_way(view, place) : NULL;
    if (other)
        result = ex_error_set(error, EX_ERROR_DATA, "example '%s' of layer '%s' is already at that place", other->name,
                              view->name);
    return result;
}

ex_result ex_project_move_example(ex_project *project, ex_example_ref which, const ex_example_move *move,
                                  const ex_build_options *options, ex_error *error) {
    ex_error local = {0};
    error = error ? error : &local;
    exi_amendment a;
    exi_spoken spoken = {0};
    int layer = -1;
    const int place = exi_find_example(&project->view, which, &layer, error);
    ex_result result = place < 0 ? error->result : check_space(&project->view.layers[layer], error);
    if (result != EX_OK)
        return result;
    result = exi_amend_open(&a, project, options, error);
    if (result == EX_OK)
        result = exi_spoken_read(&project->view, move->at, move->joints, false, &spoken, error);
    if (result == EX_OK && move->falloff.count > 0)
        result = exi_falloff_check(&project->view.layers[layer], error);
    if (result == EX_OK && (move->falloff.count > 0 || move->layer_falloff))
        result = set_falloff(json_array_get(examples_of(&a, layer), (size_t)place), move, error);
    if (result == EX_OK)
        result = put(&a, layer, place, &spoken, error);
    exi_spoken_free(&spoken);
    exi_amend_name(&a, "example '%s' moved", which.name);
    return exi_amend_end(&a, result, error);
}

ex_result ex_project_remove_example(ex_project *project, ex_example_ref which, const ex_build_options *options,
                                    ex_error *error) {
    ex_error local = {0};
    error = error ? error : &local;
    exi_amendment a;
    int layer = -1;
    const int place = exi_find_example(&project->view, which, &layer, error);
    if (place < 0)
        return error->result;
    const ex_project_layer *view = &project->view.layers[layer];
    const bool last = view->example_count + view->muted_count == 1;
    if (!last && view->example_count == 1 && view->examples[0].place == place)
        return ex_error_set(error, EX_ERROR_DATA,
                            "'%s' is the only example of layer '%s' that is not muted: unmute another one first",
                            which.name, view->name);
    if (exi_example_at(view, place)->reference)
        return ex_error_set(error, EX_ERROR_DATA,
                            "'%s' is the reference of layer '%s', which all others start from, so it cannot be removed",
                            which.name, view->name);
    if (view->predictor)
        return ex_error_set(error, EX_ERROR_DATA,
                            "layer '%s' follows motion: its predictor weighs all of its examples, so none can be "
                            "removed",
                            view->name);
    if (exi_layer_is_direct(view))
        return ex_error_set(
            error, EX_ERROR_DATA,
            "layer '%s' is direct: its examples and axes belong together; remove both in the project file", view->name);
    ex_result result = exi_amend_open(&a, project, options, error);
    if (result == EX_OK && last) {
        exi_amend_note(&a, "'%s' was the last example of layer '%s', which is removed too", which.name, view->name);
        json_array_remove(json_object_get(a.trial.root, "layers"), (size_t)layer);
    } else if (result == EX_OK) {
        const bool done = exi_drop_weights(exi_amend_layer(&a, layer), which.name) &&
                          json_array_remove(examples_of(&a, layer), (size_t)place) == 0;
        result = done ? EX_OK : ex_error_memory(error, "the example", 0);
    }
    exi_amend_name(&a, "example '%s' removed", which.name);
    return exi_amend_end(&a, result, error);
}

ex_result ex_project_mute(ex_project *project, ex_example_ref which, bool muted, const ex_build_options *options,
                          ex_error *error) {
    ex_error local = {0};
    error = error ? error : &local;
    exi_amendment a;
    int layer = -1, place = 0;
    if (which.name)
        place = exi_find_example(&project->view, which, &layer, error);
    else if (which.layer)
        layer = exi_find_layer(&project->view, which.layer, error);
    else
        return ex_error_set(error, EX_ERROR_ARGUMENT, "name an example or a layer");
    if (layer < 0 || place < 0)
        return EX_ERROR_DATA;
    const ex_project_layer *view = &project->view.layers[layer];
    if (which.name && muted && view->example_count == 1 && view->examples[0].place == place)
        return ex_error_set(error, EX_ERROR_DATA,
                            "'%s' is the only example of layer '%s' that is not muted: mute the layer instead",
                            which.name, view->name);
    ex_result result = exi_amend_open(&a, project, options, error);
    if (result == EX_OK) {
        json_t *object =
            which.name ? json_array_get(examples_of(&a, layer), (size_t)place) : exi_amend_layer(&a, layer);
        if (!muted)
            json_object_del(object, "muted");
        else if (json_object_set_new(object, "muted", json_true()) != 0)
            result = ex_error_memory(error, "the project", 0);
    }
    exi_amend_name(&a, "%s '%s' %s", which.name ? "example" : "layer", which.name ? which.name : which.layer,
                   muted ? "muted" : "unmuted");
    return exi_amend_end(&a, result, error);
}

/* ---- pseudo-examples ---- */

/* Refuses axes that are not in the layer's space. */
static ex_result check_axes(const ex_project_layer *layer, const json_t *at, ex_error *error) {
    const char *name;
    json_t *value;
    json_object_foreach((json_t *)at, name, value) {
        bool own = false;
        for (int i = 0; i < layer->axis_count; i++)
            own = own || strcmp(layer->axes[i].name, name) == 0;
        if (!own)
            return ex_error_set(error, EX_ERROR_DATA, "layer '%s' has no axis '%s'", layer->name, name);
    }
    return EX_OK;
}

/* Reads a place of the layer's space; *at is NULL if nothing is given. */
static ex_result read_place(const ex_project_view *view, const ex_project_layer *layer, ex_place place, json_t **at,
                            ex_error *error) {
    exi_spoken spoken;
    *at = NULL;
    if (place.count == 0)
        return EX_OK;
    ex_result result = exi_spoken_read(view, place, (ex_place){0}, false, &spoken, error);
    if (result != EX_OK)
        return result;
    result = check_axes(layer, spoken.at, error);
    if (result == EX_OK)
        *at = json_incref(spoken.at);
    exi_spoken_free(&spoken);
    return result;
}

/* Sets the given values of the pseudo-example. */
static ex_result fill_pseudo(const ex_project_view *view, const ex_project_layer *layer, const ex_pseudo_place *given,
                             json_t *pseudo, ex_error *error) {
    json_t *at = NULL, *from = NULL, *weights = NULL;
    ex_result result = read_place(view, layer, given->at, &at, error);
    if (result == EX_OK)
        result = read_place(view, layer, given->from, &from, error);
    if (result == EX_OK && given->weights.count > 0)
        result = exi_named_numbers(given->weights, &weights, error);
    bool done = true;
    if (result == EX_OK && (from || weights)) {
        json_object_del(pseudo, from ? "weights" : "from");
        done = json_object_set(pseudo, from ? "from" : "weights", from ? from : weights) == 0;
    }
    if (result == EX_OK && at)
        done = (json_object_get(pseudo, "at") ? set_values(json_object_get(pseudo, "at"), at)
                                              : json_object_set(pseudo, "at", at) == 0) &&
               done;
    json_decref(at);
    json_decref(from);
    json_decref(weights);
    return result == EX_OK && !done ? ex_error_memory(error, "a pseudo-example", 0) : result;
}

/* index: of an existing one, or NULL. */
static ex_result open_pseudo(exi_amendment *a, ex_project *project, const char *name, const int *index,
                             const ex_build_options *options, int *layer, ex_error *error) {
    *layer = name ? exi_find_layer(&project->view, name, error) : -1;
    if (!name)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "name the layer of the pseudo-example");
    if (*layer < 0)
        return EX_ERROR_DATA;
    const ex_project_layer *view = &project->view.layers[*layer];
    ex_result result = check_space(view, error);
    if (result == EX_OK && index && (*index < 0 || *index >= view->pseudo_count))
        result = ex_error_set(error, EX_ERROR_DATA, "layer '%s' has no pseudo-example %d: it has %d", view->name,
                              *index + 1, view->pseudo_count);
    return result == EX_OK ? exi_amend_open(a, project, options, error) : result;
}

ex_result ex_project_add_pseudo(ex_project *project, const ex_pseudo_place *pseudo, const ex_build_options *options,
                                ex_error *error) {
    ex_error local = {0};
    error = error ? error : &local;
    exi_amendment a;
    int layer;
    if (pseudo->at.count == 0 || (pseudo->from.count == 0) == (pseudo->weights.count == 0))
        return ex_error_set(error, EX_ERROR_ARGUMENT,
                            "a pseudo-example needs a place, and either a place to borrow weights from, or weights");
    ex_result result = open_pseudo(&a, project, pseudo->layer, NULL, options, &layer, error);
    if (result != EX_OK)
        return result;
    json_t *object = exi_amend_layer(&a, layer), *made = json_object();
    if (!json_object_get(object, "pseudo"))
        json_object_set_new(object, "pseudo", json_array());
    result = made ? fill_pseudo(&project->view, &project->view.layers[layer], pseudo, made, error)
                  : ex_error_memory(error, "a pseudo-example", 0);
    if (json_array_append_new(json_object_get(object, "pseudo"), made) != 0 && result == EX_OK)
        result = ex_error_memory(error, "a pseudo-example", 0);
    exi_amend_name(&a, "pseudo-example added to layer '%s'", pseudo->layer);
    return exi_amend_end(&a, result, error);
}

ex_result ex_project_move_pseudo(ex_project *project, const ex_pseudo_place *pseudo, int index,
                                 const ex_build_options *options, ex_error *error) {
    ex_error local = {0};
    error = error ? error : &local;
    exi_amendment a;
    int layer;
    if (pseudo->from.count > 0 && pseudo->weights.count > 0)
        return ex_error_set(error, EX_ERROR_ARGUMENT,
                            "a pseudo-example borrows the weights of a place or is given weights, not both");
    ex_result result = open_pseudo(&a, project, pseudo->layer, &index, options, &layer, error);
    if (result != EX_OK)
        return result;
    json_t *entry = json_array_get(json_object_get(exi_amend_layer(&a, layer), "pseudo"), (size_t)index);
    result = fill_pseudo(&project->view, &project->view.layers[layer], pseudo, entry, error);
    exi_amend_name(&a, "pseudo-example %d of layer '%s' moved", index + 1, pseudo->layer);
    return exi_amend_end(&a, result, error);
}

ex_result ex_project_remove_pseudo(ex_project *project, const char *layer, int index, const ex_build_options *options,
                                   ex_error *error) {
    ex_error local = {0};
    error = error ? error : &local;
    exi_amendment a;
    int number;
    ex_result result = open_pseudo(&a, project, layer, &index, options, &number, error);
    if (result != EX_OK)
        return result;
    json_array_remove(json_object_get(exi_amend_layer(&a, number), "pseudo"), (size_t)index);
    exi_amend_name(&a, "pseudo-example %d of layer '%s' removed", index + 1, layer);
    return exi_amend_end(&a, result, error);
}

/*
 * Edits and writes a project. Edits are made on a copy of the JSON tree, which is read again as if it came from a file;
 * it replaces the old tree only if it is valid. So the order of keys survives, and nothing half-done does.
 */
#include "author/base/json.h"
#include "author/project/domains/project_domain.h"
#include "author/project/model/project.h"
#include "runtime/base/result.h"
#include "runtime/base/text.h"

#include <exemplar/author/files.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Sets the layer's axes in an object of axis names, and leaves other axes in it alone. "joints" stays as it is: axes
 * take precedence over it. */
static bool set_point(json_t *object, const ex_project_layer *layer, const double *point) {
    for (int i = 0; i < layer->axis_count; i++) {
        if (layer->axes[i].axis.kind == EX_AXIS_DRIVER)
            continue; /* its file is kept */
        const bool scalar = layer->axes[i].axis.kind == EX_AXIS_SCALAR;
        json_t *value = scalar ? exi_json_make_number(*point) : exi_json_make_numbers(point, 4);
        if (json_object_set_new(object, layer->axes[i].name, value) != 0)
            return false;
        point += scalar ? 1 : 4;
    }
    return true;
}

static json_t *make_point(const ex_project_layer *layer, const double *point) {
    json_t *object = json_object();
    if (object && !set_point(object, layer, point)) {
        json_decref(object);
        return NULL;
    }
    return object;
}

static json_t *make_weights(const ex_project_layer *layer, const double *weights) {
    json_t *object = json_object();
    for (int k = 0; k < layer->example_count; k++)
        if (weights[k] != 0 &&
            json_object_set_new(object, layer->examples[k].name, exi_json_make_number(weights[k])) != 0) {
            json_decref(object);
            return NULL;
        }
    return object;
}

/* Returns the list under a key of the layer; adds it if missing. */
static json_t *list_of(json_t *layer, const char *key) {
    if (!json_object_get(layer, key))
        json_object_set_new(layer, key, json_array());
    return json_object_get(layer, key);
}

static bool set_source(json_t *pseudo, const ex_project_layer *layer, const ex_edit *edit) {
    if (!edit->from && !edit->weights)
        return true;
    json_object_del(pseudo, edit->from ? "weights" : "from");
    return json_object_set_new(pseudo, edit->from ? "from" : "weights",
                               edit->from ? make_point(layer, edit->from) : make_weights(layer, edit->weights)) == 0;
}

bool exi_drop_weights(json_t *layer, const char *name) {
    bool done = true;
    size_t i;
    json_t *pseudo;
    json_array_foreach(json_object_get(layer, "pseudo"), i, pseudo) {
        json_t *weights = json_object_get(pseudo, "weights"), *value;
        const char *key;
        double sum = 0, left = 0;
        json_object_foreach(weights, key, value) sum += json_number_value(value);
        left = sum - json_number_value(json_object_get(weights, name));
        json_object_del(weights, name);
        if (fabs(left) > 1e-12 && left != sum)
            json_object_foreach(weights, key, value) done =
                json_object_set_new(weights, key, exi_json_make_number(json_number_value(value) * sum / left)) == 0 &&
                done;
    }
    return done;
}

/* Sets the point's falloff if the edit gives one; removes its metric, which would take precedence. */
static bool set_falloff(json_t *point, const ex_project_layer *layer, const ex_edit *edit) {
    if (!edit->falloff)
        return true;
    json_object_del(point, "metric");
    return json_object_set_new(point, "falloff", exi_json_make_numbers(edit->falloff, layer->axis_count)) == 0;
}

static bool change_example(json_t *json, const ex_project_layer *layer, const ex_edit *edit, const char *name,
                           const char *mesh) {
    json_t *examples = list_of(json, "examples");
    const ex_project_example *old = edit->kind == EX_EDIT_ADD_EXAMPLE ? NULL : &layer->examples[edit->index];
    if (edit->kind == EX_EDIT_REMOVE_EXAMPLE)
        return exi_drop_weights(json, old->name) && json_array_remove(examples, (size_t)old->place) == 0;
    if (edit->kind == EX_EDIT_MOVE_EXAMPLE)
        return set_point(json_object_get(json_array_get(examples, (size_t)old->place), "at"), layer, edit->at);
    const char *file = exi_project_domain_of(layer)->file;
    json_t *at = make_point(layer, edit->at);
    json_t *example = json_pack("{s:s, s:s, s:o}", "name", name, file, mesh, "at", at);
    const bool done = example && set_falloff(example, layer, edit);
    return json_array_append_new(examples, example) == 0 && done;
}

static bool change_pseudo(json_t *json, const ex_project_layer *layer, const ex_edit *edit) {
    json_t *pseudos = list_of(json, "pseudo");
    size_t index = (size_t)edit->index;
    if (edit->kind == EX_EDIT_REMOVE_PSEUDO)
        return json_array_remove(pseudos, index) == 0;
    if (edit->kind == EX_EDIT_MOVE_PSEUDO) {
        json_t *pseudo = json_array_get(pseudos, index);
        return set_point(json_object_get(pseudo, "at"), layer, edit->at) && set_source(pseudo, layer, edit);
    }
    json_t *pseudo = json_object();
    bool done = set_source(pseudo, layer, edit) &&
                json_object_set_new(pseudo, "at", make_point(layer, edit->at)) == 0 && set_falloff(pseudo, layer, edit);
    return json_array_append_new(pseudos, pseudo) == 0 && done;
}

static bool change_falloff(json_t *json, const ex_project_layer *layer, const ex_edit *edit) {
    const bool example = edit->index < layer->example_count;
    const int place = example ? layer->examples[edit->index].place : edit->index - layer->example_count;
    return set_falloff(json_array_get(list_of(json, example ? "examples" : "pseudo"), (size_t)place), layer, edit);
}

static bool all_finite(const double *values, int count) {
    for (int i = 0; values && i < count; i++)
        if (!isfinite(values[i]))
            return false;
    return true;
}

static ex_result check_falloff(const ex_project_layer *layer, const ex_edit *edit, ex_error *error) {
    if (!edit->falloff && edit->kind == EX_EDIT_FALLOFF)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "the edit gives no falloff");
    if (edit->falloff && !ex_weigher_kind_info(layer->weigh.kind)->has_falloffs)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "layer '%s' is not gaussian: its points have no falloff",
                            layer->name);
    if (!all_finite(edit->falloff, layer->axis_count))
        return ex_error_set(error, EX_ERROR_DATA, "a number of the edit is not finite");
    const int count = layer->example_count + layer->pseudo_count;
    if (edit->kind == EX_EDIT_FALLOFF && (edit->index < 0 || edit->index >= count))
        return ex_error_set(error, EX_ERROR_ARGUMENT,
                            "layer '%s' has no point %d in its file: it has %d examples and pseudo-examples",
                            layer->name, edit->index, count);
    return EX_OK;
}

static ex_result check_sources(const ex_project_layer *layer, const ex_edit *edit, const char *name, const char *mesh,
                               ex_error *error) {
    if (edit->kind == EX_EDIT_ADD_EXAMPLE && (!name || !mesh))
        return ex_error_set(error, EX_ERROR_ARGUMENT, "a new example needs a name and a mesh or image");
    if (edit->kind == EX_EDIT_ADD_EXAMPLE && (!exi_is_text(name) || !exi_is_text(mesh)))
        return ex_error_set(error, EX_ERROR_ARGUMENT,
                            "the name or the file of the new example is not valid UTF-8 text");
    if (edit->kind == EX_EDIT_MOVE_PSEUDO && edit->from && edit->weights)
        return ex_error_set(error, EX_ERROR_ARGUMENT,
                            "a pseudo-example borrows the weights of a place or is given weights, not both");
    if (edit->kind == EX_EDIT_ADD_PSEUDO && !edit->from == !edit->weights)
        return ex_error_set(error, EX_ERROR_ARGUMENT,
                            "a new pseudo-example needs either a place to borrow weights from, or weights");
    if (!(all_finite(edit->at, layer->dimension) && all_finite(edit->from, layer->dimension) &&
          all_finite(edit->weights, layer->example_count)))
        return ex_error_set(error, EX_ERROR_DATA, "a number of the edit is not finite");
    return EX_OK;
}

static ex_result check_edit(const ex_project_layer *layer, const ex_edit *edit, const char *name, const char *mesh,
                            ex_error *error) {
    const bool pseudo = edit->kind >= EX_EDIT_MOVE_PSEUDO, falloff = edit->kind == EX_EDIT_FALLOFF;
    const bool add = edit->kind == EX_EDIT_ADD_EXAMPLE || edit->kind == EX_EDIT_ADD_PSEUDO;
    const bool remove = edit->kind == EX_EDIT_REMOVE_EXAMPLE || edit->kind == EX_EDIT_REMOVE_PSEUDO;
    const int count = pseudo ? layer->pseudo_count : layer->example_count;
    if ((unsigned)edit->kind > EX_EDIT_FALLOFF || (!remove && !falloff && !edit->at))
        return ex_error_set(error, EX_ERROR_ARGUMENT, "the edit gives no place, or its kind is unknown");
    if (layer->predictor)
        return ex_error_set(error, EX_ERROR_ARGUMENT,
                            "layer '%s' follows motion: its examples have no places, and none can be added or removed",
                            layer->name);
    if (exi_layer_is_direct(layer))
        return ex_error_set(error, EX_ERROR_ARGUMENT, "layer '%s' is direct: it has no space to edit", layer->name);
    if (layer->driven && (add || pseudo))
        return ex_error_set(error, EX_ERROR_ARGUMENT,
                            "layer '%s' is weighed by a driver: its examples are added with the driver's form, and it "
                            "has no pseudo-examples",
                            layer->name);
    if (!add && !falloff && (edit->index < 0 || edit->index >= count))
        return ex_error_set(error, EX_ERROR_ARGUMENT, "layer '%s' has no %s %d: it has %d", layer->name,
                            pseudo ? "pseudo-example" : "example", edit->index, count);
    if (add || falloff) {
        ex_result result = check_falloff(layer, edit, error);
        if (result != EX_OK)
            return result;
    }
    return remove || falloff ? EX_OK : check_sources(layer, edit, name, mesh, error);
}

/* Reads the changed tree and, if it is valid, replaces the old one with it. */
static ex_result replace_root(ex_project *project, json_t *root, ex_error *error) {
    exi_arena arena = {0};
    ex_project_view view;
    ex_result result = exi_project_interpret(root, project->path, &arena, &view, error);
    if (result != EX_OK) {
        exi_arena_free(&arena);
        json_decref(root);
        return result;
    }
    exi_arena_free(&project->arena);
    json_decref(project->root);
    project->arena = arena;
    project->view = view;
    project->root = root;
    return EX_OK;
}

ex_result ex_project_edit(ex_project *project, int layer, const ex_edit *edit, const char *name, const char *mesh,
                          ex_error *error) {
    if (layer < 0 || layer >= project->view.layer_count)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "there is no layer %d: the project has %d", layer,
                            project->view.layer_count);
    const ex_project_layer *view = &project->view.layers[layer];
    ex_result result = check_edit(view, edit, name, mesh, error);
    if (result != EX_OK)
        return result;
    json_t *root = json_deep_copy(project->root);
    json_t *json = json_array_get(json_object_get(root, "layers"), (size_t)layer);
    bool done = json && (edit->kind == EX_EDIT_FALLOFF       ? change_falloff(json, view, edit)
                         : edit->kind >= EX_EDIT_MOVE_PSEUDO ? change_pseudo(json, view, edit)
                                                             : change_example(json, view, edit, name, mesh));
    if (!done) {
        json_decref(root);
        return ex_error_memory(error, "the edit", 0);
    }
    return replace_root(project, root, error);
}

ex_result ex_project_write(const ex_project *project, const char *path, ex_error *error) {
    return exi_json_write(path ? path : project->path, project->root, error);
}

/*
 * Turns a sculpt into an example: finds or adds the layer, puts the example into the tree, puts the form into the
 * mesh's order and next to the project; then builds everything, which un-poses the sculpt through the layers and the
 * skin, and poses it again to measure how well it is reproduced, and what other examples lose by it.
 */
#include "author/project/sculpt/sculpt.h"
#include "author/base/array.h"
#include "author/base/json.h"
#include "author/project/domains/project_domain.h"
#include "runtime/base/text.h"

#include <stdlib.h>
#include <string.h>

/* Placeholder for a name or a file until they are known. */
static const char unknown[] = "\xE2\x80\xA6";

/* State of one sculpt. */
typedef struct sculpting {
    const ex_sculpt *sculpt;
    exi_amendment amendment;
    exi_spoken spoken;
    int layer;
    int place;      /* index of the example in the layer's list */
    json_t *entry;  /* the example, in the tree */
    bool new_layer; /* true if the layer was added for it */
    int target;     /* index of the example of a direct layer whose slider is at its place; or -1 */
    ex_mesh *form;  /* the content of the example's file */
} sculpting;

/* True if the layer holds forms at rest, so that a sculpt must be un-posed before it is written. */
static bool is_unposed_here(const ex_project_view *view, const ex_project_layer *layer) {
    return view->skeleton && exi_layer_at_rest(layer);
}

/* Refuses layers that cannot have a sculpt as an example. */
static ex_result check_layer(const ex_project_view *view, const ex_project_layer *layer, ex_error *error) {
    const exi_project_domain *domain = exi_project_domain_of(layer);
    if (layer->predictor)
        return ex_error_set(
            error, EX_ERROR_DATA,
            "layer '%s' follows motion: its predictor weighs the examples that were learned, so none can "
            "be added; learn it again with the new take, or add a layer of offsets",
            layer->name);
    if (domain->masked != EXI_MASKED_MESH)
        return ex_error_set(error, EX_ERROR_DATA, "layer '%s' is a layer of %s: it has %sno forms", layer->name,
                            domain->examples,
                            domain->masked == EXI_MASKED_LEVEL ? "maps of the refined surface, and " : "");
    const bool turned = layer->domain == EX_DOMAIN_OFFSETS && layer->offsets.frame == EX_OFFSET_FRAME_SKINNED;
    if (is_unposed_here(view, layer) && (layer->driven || turned))
        return ex_error_kind(error,
                             ex_error_set(error, EX_ERROR_DATA,
                                          "layer '%s' holds forms at rest, but a sculpt has the pose of its skeleton",
                                          layer->name),
                             "layer_at_rest");
    return EX_OK;
}

/* Finds the one direct layer of forms, for a shape that has no place. */
static ex_result find_direct_layer(sculpting *s, ex_error *error) {
    const ex_project_view *view = &s->amendment.project->view;
    s->layer = -1;
    for (int l = 0; l < view->layer_count; l++)
        if (exi_layer_is_direct(&view->layers[l]) &&
            exi_project_domain_of(&view->layers[l])->masked == EXI_MASKED_MESH) {
            if (s->layer >= 0)
                return ex_error_kind(error,
                                     ex_error_set(error, EX_ERROR_DATA, "layers '%s' and '%s' are both direct",
                                                  view->layers[s->layer].name, view->layers[l].name),
                                     "several_layers");
            s->layer = l;
        }
    return s->layer >= 0 ? check_layer(view, &view->layers[s->layer], error)
                         : ex_error_set(error, EX_ERROR_ARGUMENT, "give the pose at which it was sculpted");
}

static ex_result find_layer(sculpting *s, ex_error *error) {
    const ex_project_view *view = &s->amendment.project->view;
    if (s->sculpt->layer) {
        s->layer = exi_find_layer(view, s->sculpt->layer, error);
        return s->layer < 0 ? EX_ERROR_DATA : check_layer(view, &view->layers[s->layer], error);
    }
    if (s->sculpt->at.count == 0)
        return find_direct_layer(s, error);
    s->spoken.falloff = s->sculpt->falloff.count > 0;
    s->layer = exi_choose_layer(&s->amendment, &s->spoken, &s->new_layer, &s->target, error);
    if (s->layer < 0)
        return error->result;
    return s->new_layer ? EX_OK : check_layer(view, &view->layers[s->layer], error);
}

static const ex_project_layer *layer_of(const sculpting *s) {
    return &s->amendment.trial.view.layers[s->layer];
}

/* ---- a new example ---- */

/* Completes the place of an example of a layer at rest, which has a value for every axis. */
static bool fill_place(const sculpting *s, json_t *at) {
    const ex_project_layer *layer = &s->amendment.project->view.layers[s->layer];
    bool done = true;
    for (int i = 0; exi_layer_at_rest(layer) && i < layer->axis_count; i++)
        if (layer->axes[i].axis.kind == EX_AXIS_SCALAR && !json_object_get(at, layer->axes[i].name))
            done = json_object_set_new(at, layer->axes[i].name, exi_json_make_number(layer->axes[i].axis.rest)) == 0 &&
                   done;
    return done;
}

/* Its file is set once it is known (put_form). */
static json_t *make_entry(const sculpting *s, const char *name, json_t *falloff) {
    json_t *entry = json_pack("{s:s, s:s}", "name", name, "mesh", unknown);
    bool done = entry != NULL;
    if (done && s->sculpt->at.count > 0)
        done = (s->new_layer || fill_place(s, s->spoken.at)) && json_object_set(entry, "at", s->spoken.at) == 0;
    if (done && json_object_size(s->spoken.joints) > 0)
        done = json_object_set(entry, "joints", s->spoken.joints) == 0;
    if (done && falloff)
        done = json_object_set(entry, "falloff", falloff) == 0;
    if (done)
        return entry;
    json_decref(entry);
    return NULL;
}

static ex_result append_example(sculpting *s, const char *name, ex_error *error) {
    json_t *falloff = NULL, *list = json_object_get(exi_amend_layer(&s->amendment, s->layer), "examples");
    ex_result result = s->sculpt->falloff.count > 0 ? exi_falloff_json(s->sculpt->falloff, &falloff, error) : EX_OK;
    if (result == EX_OK && falloff && !s->new_layer)
        result = exi_falloff_check(&s->amendment.project->view.layers[s->layer], error);
    if (result != EX_OK) {
        json_decref(falloff);
        return result;
    }
    s->place = (int)json_array_size(list);
    s->entry = make_entry(s, name, falloff);
    json_decref(falloff);
    if (!s->entry || json_array_append_new(list, s->entry) != 0)
        return ex_error_memory(error, "an example", 0);
    return exi_widen_axes(&s->amendment, s->spoken.at, error);
}

static ex_result check_name(const sculpting *s, ex_error *error) {
    const ex_project_view *view = &s->amendment.project->view;
    const json_t *list = json_object_get(exi_amend_layer(&s->amendment, s->layer), "examples");
    if (!exi_is_name(s->sculpt->name))
        return ex_error_set(error, EX_ERROR_DATA,
                            "the name of the example is not valid: 1 to %d bytes of readable text are needed",
                            EXI_NAME_MAX);
    for (size_t i = 0; i < json_array_size(list); i++)
        if (strcmp(json_string_value(json_object_get(json_array_get(list, i), "name")), s->sculpt->name) == 0)
            return ex_error_kind(error,
                                 ex_error_set(error, EX_ERROR_DATA, "layer '%s' already has an example '%s'",
                                              view->layers[s->layer].name, s->sculpt->name),
                                 "name_taken");
    return EX_OK;
}

/* Adds the axis of a new example of a direct layer: from 0 to 1, with its name. */
static ex_result append_axis(const sculpting *s, ex_error *error) {
    const ex_project_layer *layer = &s->amendment.project->view.layers[s->layer];
    if (s->sculpt->at.count > 0)
        return ex_error_set(error, EX_ERROR_DATA,
                            "layer '%s' is direct: a new shape gets a slider of its own, and no place (leave --at out)",
                            layer->name);
    if (exi_view_axis(&s->amendment.project->view, s->sculpt->name))
        return ex_error_set(error, EX_ERROR_DATA, "the project has an axis '%s' already: give another name",
                            s->sculpt->name);
    json_t *space = json_object_get(exi_amend_layer(&s->amendment, s->layer), "space");
    json_t *axis = json_pack("{s:s, s:i, s:i, s:i}", "name", s->sculpt->name, "min", 0, "max", 1, "rest", 0);
    return json_array_append_new(space, axis) == 0 ? EX_OK : ex_error_memory(error, "an axis", 0);
}

static ex_result refuse_taken(const char *example, const ex_project_layer *layer, ex_error *error) {
    return ex_error_kind(
        error,
        ex_error_set(error, EX_ERROR_DATA, "example '%s' of layer '%s' is already at that place", example, layer->name),
        "place_taken");
}

/* A sculpt takes the place of a pseudo-example, which stood for a form that was missing there. */
static ex_result remove_pseudo(sculpting *s, ex_error *error) {
    exi_amendment *a = &s->amendment;
    json_t *layer = exi_amend_layer(a, s->layer), *list = json_object_get(layer, "pseudo");
    const int index = exi_pseudo_in_the_way(layer_of(s), s->place);
    if (index < 0)
        return EX_OK;
    exi_amend_note(a, "it takes the place of pseudo-example %d, which is removed", index + 1);
    json_array_remove(list, (size_t)index);
    if (json_array_size(list) == 0)
        json_object_del(layer, "pseudo");
    return exi_amend_read(a, error);
}

static ex_result add_new(sculpting *s, ex_error *error) {
    const ex_project_view *view = &s->amendment.project->view;
    ex_result result = find_layer(s, error);
    if (result == EX_OK && s->target >= 0)
        return ex_error_kind(
            error,
            refuse_taken(exi_example_at(&view->layers[s->layer], s->target)->name, &view->layers[s->layer], error),
            "slider_taken");
    if (result == EX_OK)
        result = check_name(s, error);
    const bool direct = result == EX_OK && !s->new_layer && exi_layer_is_direct(&view->layers[s->layer]);
    if (direct)
        result = append_axis(s, error);
    else if (result == EX_OK && s->sculpt->at.count == 0)
        result = ex_error_set(error, EX_ERROR_ARGUMENT, "give the pose at which it was sculpted");
    if (result == EX_OK)
        result = append_example(s, s->sculpt->name, error);
    if (result == EX_OK)
        result = exi_amend_read(&s->amendment, error);
    const ex_project_example *other = result == EX_OK && !direct ? exi_example_in_the_way(layer_of(s), s->place) : NULL;
    if (other)
        return refuse_taken(other->name, layer_of(s), error);
    return result == EX_OK && !direct ? remove_pseudo(s, error) : result;
}

/* ---- an example that gets another form ---- */

/* Adds the example, finds the one at the same place, and removes it again. */
static ex_result find_by_place(sculpting *s, ex_error *error) {
    ex_result result = find_layer(s, error);
    if (result == EX_OK && s->new_layer)
        return ex_error_set(error, EX_ERROR_DATA, "there is nothing to replace: no layer has a space with those axes");
    if (result == EX_OK && s->target >= 0) {
        s->place = s->target;
        return EX_OK;
    }
    /* Its name must not be taken. */
    if (result == EX_OK)
        result = append_example(s, unknown, error);
    if (result == EX_OK)
        result = exi_amend_read(&s->amendment, error);
    if (result != EX_OK)
        return result;
    const ex_project_example *other = exi_example_in_the_way(layer_of(s), s->place);
    if (!other)
        return ex_error_set(error, EX_ERROR_DATA,
                            "there is nothing to replace: no example of layer '%s' is at that place",
                            layer_of(s)->name);
    json_t *list = json_object_get(exi_amend_layer(&s->amendment, s->layer), "examples");
    json_array_remove(list, json_array_size(list) - 1);
    s->place = other->place;
    s->entry = NULL;
    if (s->sculpt->name && strcmp(s->sculpt->name, other->name) != 0)
        exi_amend_note(&s->amendment, "the example at that place is called '%s' and keeps its name", other->name);
    return EX_OK;
}

static ex_result replace_form(sculpting *s, ex_error *error) {
    ex_result result = EX_OK;
    if (s->sculpt->at.count > 0) {
        result = find_by_place(s, error);
    } else {
        const ex_example_ref which = {.layer = s->sculpt->layer, .name = s->sculpt->name};
        s->place = exi_find_example(&s->amendment.project->view, which, &s->layer, error);
        result = s->place < 0
                     ? EX_ERROR_DATA
                     : check_layer(&s->amendment.project->view, &s->amendment.project->view.layers[s->layer], error);
    }
    if (result == EX_OK)
        s->entry =
            json_array_get(json_object_get(exi_amend_layer(&s->amendment, s->layer), "examples"), (size_t)s->place);
    if (result == EX_OK && json_object_size(s->spoken.joints) > 0 &&
        json_object_set(s->entry, "joints", s->spoken.joints) != 0)
        result = ex_error_memory(error, "an example", 0);
    return result == EX_OK ? exi_amend_read(&s->amendment, error) : result;
}

/* ---- its form ---- */

/* Chooses the file to refer to: the sculpt's file itself, or a new file, which is written. */
static ex_result choose_file(sculpting *s, const exi_sculpt_form *form, char **file, ex_error *error) {
    exi_amendment *a = &s->amendment;
    const bool changed = form->reordered || form->scaled;
    ex_result result = changed ? EX_OK : exi_path_below_project(&a->trial.view, s->sculpt->form, file, error);
    if (result != EX_OK || *file)
        return result;
    *file =
        exi_sculpt_free_file(&a->trial.view, layer_of(s)->name, json_string_value(json_object_get(s->entry, "name")));
    return *file ? exi_sculpt_write(a, *file, form->mesh, error) : ex_error_memory(error, "a path", 0);
}

static exi_fit fit_of(sculpting *s) {
    return (exi_fit){.amendment = &s->amendment,
                     .layer = s->layer,
                     .place = s->place,
                     .at_rest = is_unposed_here(&s->amendment.trial.view, layer_of(s)),
                     .mesh = s->form};
}

/* Un-poses the form, for a layer of forms at rest. Needs a rig with the example, for which any form will do. */
static ex_result unpose_form(sculpting *s, ex_error *error) {
    exi_amendment *a = &s->amendment;
    if (json_object_set_new(s->entry, "mesh", json_string(a->trial.view.mesh)) != 0)
        return ex_error_memory(error, "an example", 0);
    ex_result result = exi_amend_read(a, error);
    if (result == EX_OK)
        result = exi_amend_build(a, error);
    if (result != EX_OK)
        return result;
    const exi_fit fit = fit_of(s);
    return exi_fit_form(&fit, a->wanted, error);
}

static ex_result put_form(sculpting *s, ex_sculpted *made, ex_error *error) {
    exi_amendment *a = &s->amendment;
    exi_sculpt_form form;
    char *file = NULL;
    const ex_project_example *example = exi_example_at(layer_of(s), s->place);
    ex_result result = exi_sculpt_read(a, s->sculpt, example, &form, error);
    if (result != EX_OK)
        return result;
    s->form = form.mesh;
    json_object_del(s->entry, "sculpt"); /* of the form that it had */
    made->reordered = form.reordered;
    a->wanted = exi_array_allocate(3 * (size_t)form.mesh->vertex_count, sizeof *a->wanted);
    if (!a->wanted)
        return ex_error_memory(error, "a form", 0);
    exi_form_to_metres(&a->trial.view, form.mesh, a->wanted);
    if (form.reordered)
        exi_amend_note(a, "%s: its vertices are in another order than the mesh's; they were matched by %s",
                       s->sculpt->form, form.how);
    if (is_unposed_here(&a->trial.view, layer_of(s))) {
        result = unpose_form(s, error);
        form.scaled = true; /* its positions are not those of the file */
    }
    if (result == EX_OK)
        result = choose_file(s, &form, &file, error);
    if (result == EX_OK && json_object_set_new(s->entry, "mesh", json_string(file)) != 0)
        result = ex_error_memory(error, "an example", 0);
    free(file);
    return result == EX_OK ? exi_amend_read(a, error) : result;
}

/* Builds with the form, corrects it, measures what came of it, and saves. */
static ex_result finish(sculpting *s, ex_sculpted *made, ex_error *error) {
    exi_amendment *a = &s->amendment;
    const exi_fit fit = fit_of(s);
    ex_result result = exi_amend_try(a, s->layer, s->place, error);
    if (result == EX_OK && !layer_of(s)->driven)
        result = exi_fit_later(&fit, error);
    if (result == EX_OK)
        result = exi_amend_measure(a, s->layer, s->place, made, error);
    if (result == EX_OK)
        result = exi_sculpt_loss(a, s->layer, s->place, s->new_layer, made, error);
    if (result != EX_OK)
        return result;
    exi_amend_name(a, "example '%s' of layer '%s' %s", json_string_value(json_object_get(s->entry, "name")),
                   layer_of(s)->name, s->sculpt->replace ? "sculpted again" : "added");
    return exi_amend_save(a, error);
}

/* ---- the whole ---- */

static ex_result check_sculpt(const ex_sculpt *sculpt, ex_error *error) {
    if (!sculpt->form || (!sculpt->name && !sculpt->replace))
        return ex_error_set(error, EX_ERROR_ARGUMENT, "a sculpt needs a file and a name");
    if (sculpt->replace && !sculpt->name && sculpt->at.count == 0)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "give the name or the place of the example to replace");
    if (sculpt->replace && sculpt->falloff.count > 0)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "an example that gets another form keeps its falloff");
    return EX_OK;
}

ex_result ex_project_add_sculpt(ex_project *project, const ex_sculpt *sculpt, const ex_build_options *options,
                                ex_sculpted *made, ex_error *error) {
    ex_error local = {0};
    ex_sculpted unused;
    error = error ? error : &local;
    made = made ? made : &unused;
    *made = (ex_sculpted){.layer = -1, .example = -1};
    sculpting s = {.sculpt = sculpt, .target = -1};
    ex_result result = check_sculpt(sculpt, error);
    if (result != EX_OK)
        return result;
    result = exi_amend_open(&s.amendment, project, options, error);
    s.amendment.refuse_far = !sculpt->any_size;
    if (result == EX_OK)
        result = exi_spoken_read(&project->view, sculpt->at, sculpt->joints, !sculpt->layer, &s.spoken, error);
    if (result == EX_OK)
        result = sculpt->replace ? replace_form(&s, error) : add_new(&s, error);
    if (result == EX_OK)
        result = put_form(&s, made, error);
    if (result == EX_OK)
        result = finish(&s, made, error);
    made->new_layer = s.new_layer;
    ex_mesh_destroy(s.form);
    exi_spoken_free(&s.spoken);
    exi_amend_close(&s.amendment);
    return result;
}

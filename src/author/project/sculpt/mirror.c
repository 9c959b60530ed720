/*
 * Mirrors examples, layers and sides: a sculpt on the left also holds on the right. The form is mirrored as offsets
 * (mirror_form.c), the place by the counterparts of joints and axes (mirror_pose.c). The mirrored example goes to the
 * layer over the mirrored axes (mirror_layer.c); in a direct layer, whose axes are its weights, to an axis of its own.
 *
 * Several examples are mirrored one after the other, in the order of the layers, into one changed tree. If the image of
 * one has to be measured on top of the image of another, a rig is built in between. An example whose place names an
 * axis that a later layer mirrors comes last.
 */
#include "author/project/sculpt/mirror.h"
#include "author/base/array.h"
#include "author/base/json.h"
#include "runtime/base/text.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *ex_match_name(ex_match match) {
    static const char *const names[] = {
#define NAME(name, text) text,
        EX_MATCH_LIST(NAME)
#undef NAME
    };
    return match >= 0 && match < EX_MATCH_COUNT ? names[match] : "";
}

/* ---- what to mirror ---- */

/* Says why the examples of a layer cannot be mirrored, after "layer 'x' "; NULL if they can. */
static const char *why_not(const ex_project_layer *layer) {
    if (layer->driven)
        return "follows the forms of a driver, which have no mirror images";
    if (layer->domain == EX_DOMAIN_TRAJECTORY)
        return "has paths, and only sculpts and forms can be mirrored";
    if (layer->domain == EX_DOMAIN_DISPLACEMENT)
        return "has displacement maps of the refined surface, and only forms of the mesh itself can be mirrored";
    if (layer->domain == EX_DOMAIN_PIXELS)
        return "has images, which only an image editor can mirror";
    return NULL;
}

static ex_result set_source(exi_mirroring *m, int layer, int place, ex_error *error) {
    const ex_project *project = m->amendment.project;
    m->from = layer;
    m->from_place = place;
    m->source = &project->view.layers[layer];
    m->entry = json_array_get(
        json_object_get(json_array_get(json_object_get(project->root, "layers"), (size_t)layer), "examples"),
        (size_t)place);
    if (why_not(m->source))
        return ex_error_set(error, EX_ERROR_DATA, "layer '%s' %s", m->source->name, why_not(m->source));
    if (json_object_get(m->entry, "skeleton") && !m->many)
        return ex_error_set(error, EX_ERROR_DATA, "example '%s' has a skeleton of its own, which cannot be mirrored",
                            exi_example_at(m->source, place)->name);
    return EX_OK;
}

/* Returns the side of an example: of the joints and dials of its layer if they agree, else of its name. */
static ex_side side_of(const exi_mirroring *m, const ex_project_layer *layer, const ex_project_example *example) {
    ex_side side = EX_SIDE_NONE;
    bool agree = true;
    const int first = exi_layer_is_direct(layer) ? example->place : 0,
              end = exi_layer_is_direct(layer) ? first + 1 : layer->axis_count;
    for (int i = first; i < end; i++) {
        const ex_project_axis *axis = &layer->axes[i];
        const ex_side one = axis->joint ? exi_mirror_joint_side(&m->mirror, axis->joint) : exi_side_of_name(axis->name);
        agree = agree && (one == EX_SIDE_NONE || side == EX_SIDE_NONE || one == side);
        side = one != EX_SIDE_NONE ? one : side;
    }
    return agree && side != EX_SIDE_NONE ? side : exi_side_of_name(example->name);
}

/* ---- the space ---- */

static void free_axes(exi_mirroring *m) {
    for (int i = 0; m->axes && i < m->axis_count; i++)
        json_decref(m->axes[i].made);
    free(m->axes);
    m->axes = NULL;
    m->axis_count = 0;
}

static ex_result mirror_axes(exi_mirroring *m, ex_error *error) {
    const json_t *space = json_object_get(
        json_array_get(json_object_get(m->amendment.project->root, "layers"), (size_t)m->from), "space");
    const size_t count = (size_t)m->source->axis_count;
    free_axes(m);
    m->axes = calloc(count + 1, sizeof *m->axes);
    ex_result result = m->axes ? EX_OK : ex_error_memory(error, "the axes", count * sizeof *m->axes);
    for (size_t i = 0; result == EX_OK && i < count; i++) {
        result = exi_mirror_axis(&m->mirror, &m->source->axes[i], json_array_get(space, i), m->axes, (int)i,
                                 &m->axes[i], error);
        m->axis_count = (int)i + 1;
    }
    return result;
}

/* ---- the example ---- */

ex_result exi_mirroring_place(const exi_mirroring *m, const json_t *at, json_t **out, ex_error *error) {
    const char *name;
    json_t *value;
    *out = json_object();
    ex_result result = *out ? EX_OK : ex_error_memory(error, "a place", 0);
    json_object_foreach((json_t *)at, name, value) {
        const exi_mirrored_axis *axis = exi_mirroring_axis(m, name);
        const ex_project_axis *other = axis ? NULL : exi_view_axis(m->mirror.view, name);
        exi_mirrored_axis mirrored = {0};
        json_t *made = NULL;
        if (result == EX_OK && other)
            result = exi_mirror_axis(&m->mirror, other, NULL, NULL, 0, &mirrored, error);
        if (result == EX_OK && other && !mirrored.to)
            result = ex_error_set(error, EX_ERROR_DATA,
                                  "its place names the axis '%s' of another layer, but no axis of the project is the "
                                  "mirror image of that",
                                  name);
        if (result == EX_OK)
            result = exi_mirror_value(&m->mirror, axis ? axis : &mirrored, value, &made, error);
        if (result == EX_OK && json_object_set_new(*out, axis ? axis->name : mirrored.name, made) != 0)
            result = ex_error_memory(error, "a place", 0);
        json_decref(mirrored.made);
    }
    if (result == EX_OK)
        return EX_OK;
    json_decref(*out);
    *out = NULL;
    return result;
}

static ex_result make_entry(const exi_mirroring *m, const char *name, json_t **out, ex_error *error) {
    json_t *at = NULL, *joints = NULL, *value, *made = json_object();
    const char *key;
    ex_result result = made ? exi_mirroring_place(m, json_object_get(m->entry, "at"), &at, error)
                            : ex_error_memory(error, "an example", 0);
    if (result == EX_OK)
        result = exi_mirror_joints(&m->mirror, json_object_get(m->entry, "joints"), &joints, error);
    bool done = true;
    json_object_foreach((json_t *)m->entry, key, value) {
        const bool falloff = strcmp(key, "falloff") == 0;
        if (result == EX_OK)
            result = exi_mirroring_check_list(m, key, value, error);
        if (result != EX_OK || strcmp(key, "muted") == 0)
            continue;
        json_t *copy = strcmp(key, "name") == 0     ? json_string(name)
                       : strcmp(key, "at") == 0     ? json_incref(at)
                       : strcmp(key, "joints") == 0 ? json_incref(joints)
                       : falloff                    ? exi_mirroring_falloff(m, value)
                                                    : json_deep_copy(value);
        done = json_object_set_new(made, key, copy) == 0 && done;
    }
    json_decref(at);
    json_decref(joints);
    if (result == EX_OK && !done)
        result = ex_error_memory(error, "an example", 0);
    if (result != EX_OK)
        json_decref(made);
    *out = result == EX_OK ? made : NULL;
    return result;
}

static const char *name_at(const json_t *list, size_t i) {
    return json_string_value(json_object_get(json_array_get(list, i), "name"));
}

static int find_name(const json_t *list, const char *name) {
    for (size_t i = 0; i < json_array_size(list); i++)
        if (strcmp(name_at(list, i), name) == 0)
            return (int)i;
    return -1;
}

/* Remembers an example that is in the way; of many, all are named at the end. */
static void note_taken(exi_mirroring *m, const char *name) {
    const size_t length = strlen(m->taken);
    if (m->taken_count++ < 8 && length + strlen(name) + 8 < sizeof m->taken)
        snprintf(m->taken + length, sizeof m->taken - length, "%s'%s'", length > 0 ? ", " : "", name);
    m->skipped = true;
}

/* A layer that has both sides cannot say which of them is right. */
static ex_result refuse_both(const char *one, const char *other, const char *layer, ex_error *error) {
    return ex_error_kind(error,
                         ex_error_set(error, EX_ERROR_DATA,
                                      "examples '%s' and '%s' of layer '%s' are mirror images of each other: name the "
                                      "one to mirror",
                                      one, other, layer),
                         "mirrored_both");
}

/* If an example is at the mirrored place, replaces its form and removes the new example; or refuses. */
static ex_result make_way(exi_mirroring *m, json_t *list, ex_error *error) {
    const ex_project_layer *layer = &m->amendment.trial.view.layers[m->to];
    const ex_project_example *other = exi_example_in_the_way(layer, m->place);
    const char *own = exi_example_at(m->source, m->from_place)->name;
    if (!other)
        return EX_OK;
    const bool itself = m->to == m->from && other->place == m->from_place;
    if (itself && !m->many)
        return ex_error_set(error, EX_ERROR_DATA,
                            "the pose of '%s' is its own mirror image: there is nothing to mirror", own);
    if (!itself && m->many && m->to == m->from && m->def->from == EX_SIDE_NONE && m->def->replace)
        return refuse_both(own, other->name, layer->name, error);
    if (!itself && !m->many && !m->def->replace)
        return ex_error_kind(error,
                             ex_error_set(error, EX_ERROR_DATA,
                                          "example '%s' of layer '%s' is already at the mirrored place", other->name,
                                          layer->name),
                             "mirrored_place_taken");
    if (itself || (m->many && m->to == m->from && m->def->from == EX_SIDE_NONE))
        m->skipped = true; /* both sides are there */
    else if (!m->def->replace)
        note_taken(m, other->name);
    else
        m->place = other->place;
    json_array_remove(list, json_array_size(list) - 1);
    return EX_OK;
}

/* Puts the entry into the layer m->to, under a name that may be taken there by the example to be replaced. */
static ex_result put_example(exi_mirroring *m, const char *name, ex_error *error) {
    json_t *made = NULL, *list = json_object_get(exi_amend_layer(&m->amendment, m->to), "examples");
    char other[EXI_NAME_MAX + 1];
    if (m->many && m->to == m->from && strcmp(name, exi_example_at(m->source, m->from_place)->name) == 0) {
        snprintf(other, sizeof other, "%.*s mirrored", exi_text_cut(name, EXI_NAME_MAX - 10), name);
        name = other;
    }
    const bool taken = find_name(list, name) >= 0;
    if (taken && !m->def->replace && !m->many)
        return ex_error_kind(
            error,
            ex_error_set(error, EX_ERROR_DATA, "the layer of the mirrored example already has an example '%s'", name),
            "mirrored_name_taken");
    ex_result result = make_entry(m, taken ? "\xE2\x80\xA6" : name, &made, error);
    if (result == EX_OK) {
        m->place = (int)json_array_size(list);
        result = json_array_append_new(list, made) == 0 ? exi_amend_read(&m->amendment, error)
                                                        : ex_error_memory(error, "an example", 0);
    }
    const int added = m->place;
    if (result == EX_OK)
        result = make_way(m, list, error);
    if (result == EX_OK && taken && !m->skipped && m->place == added) {
        if (m->many && !m->def->replace) {
            note_taken(m, name);
            json_array_remove(list, json_array_size(list) - 1);
            return EX_OK;
        }
        result = ex_error_kind(
            error,
            ex_error_set(error, EX_ERROR_DATA, "'%s' has the name of the mirrored example but is elsewhere", name),
            "mirrored_name_elsewhere");
    }
    return result;
}

/* ---- direct layers ---- */

/* Builds the tree as it is so far, if the base of the next image depends on a layer that has changed. */
static ex_result keep_up(exi_mirroring *m, ex_error *error) {
    if (m->changed >= m->to)
        return EX_OK;
    m->changed = INT_MAX;
    return exi_amend_build(&m->amendment, error);
}

/* Finds the direct layer of the same kind that has the axis, and its index there. False if there is none. */
static bool find_direct_axis(exi_mirroring *m, const char *name) {
    for (int l = 0; l < m->mirror.view->layer_count; l++) {
        const ex_project_layer *layer = &m->mirror.view->layers[l];
        for (int i = 0; exi_layer_is_direct(layer) && layer->domain == m->source->domain && i < layer->axis_count; i++)
            if (strcmp(layer->axes[i].name, name) == 0) {
                m->to = l;
                m->place = i;
                return true;
            }
    }
    return false;
}

/* Chooses the layer of a new axis: that of the mirrored name if the name has a side, else the same one. */
static ex_result choose_direct_layer(exi_mirroring *m, ex_error *error) {
    char *name = ex_mirror_name(m->source->name);
    if (!name)
        return ex_error_memory(error, "a layer", 0);
    m->to = strcmp(name, m->source->name) == 0 ? m->from : m->mirror.view->layer_count;
    for (int l = 0; l < m->mirror.view->layer_count; l++)
        if (strcmp(m->mirror.view->layers[l].name, name) == 0 && exi_layer_is_direct(&m->mirror.view->layers[l]) &&
            m->mirror.view->layers[l].domain == m->source->domain)
            m->to = l;
    m->new_layer = m->to == m->mirror.view->layer_count;
    free(name);
    return keep_up(m, error);
}

/* Adds the axis and the entry. A new layer has no other axes. */
static ex_result append_direct(exi_mirroring *m, const exi_mirrored_axis *axis, const char *axis_name, const char *name,
                               ex_error *error) {
    json_t *made = NULL;
    const int count = m->axis_count;
    ex_result result = choose_direct_layer(m, error);
    if (result == EX_OK && m->new_layer) {
        m->axis_count = 0;
        result = exi_mirroring_start_layer(m, error);
        m->axis_count = count;
    }
    if (result != EX_OK)
        return result;
    json_t *layer = exi_amend_layer(&m->amendment, m->to), *list = json_object_get(layer, "examples");
    const json_t *space = json_object_get(exi_amend_layer(&m->amendment, m->from), "space");
    json_t *one = json_deep_copy(axis->made ? axis->made : json_array_get(space, (size_t)m->from_place));
    bool done = one && json_object_set_new(one, "name", json_string(axis_name)) == 0;
    done = json_array_append_new(json_object_get(layer, "space"), one) == 0 && done;
    if (find_name(list, name) >= 0)
        return ex_error_kind(error,
                             ex_error_set(error, EX_ERROR_DATA, "layer '%s' already has an example '%s'",
                                          json_string_value(json_object_get(layer, "name")), name),
                             "mirrored_name_taken");
    result = done ? make_entry(m, name, &made, error) : ex_error_memory(error, "an axis", 0);
    m->place = (int)json_array_size(list);
    if (result == EX_OK && json_array_append_new(list, made) != 0)
        result = ex_error_memory(error, "an example", 0);
    return result == EX_OK ? exi_amend_read(&m->amendment, error) : result;
}

static ex_result put_direct(exi_mirroring *m, const char *name, ex_error *error) {
    const exi_mirrored_axis *axis = &m->axes[m->from_place];
    const char *own = exi_example_at(m->source, m->from_place)->name;
    const bool named = m->def->as && strcmp(axis->from->name, own) == 0;
    const char *axis_name = named ? m->def->as : axis->name;
    if (strcmp(axis_name, axis->from->name) == 0) {
        if (m->many) {
            m->skipped = true;
            return EX_OK;
        }
        return ex_error_kind(error,
                             ex_error_set(error, EX_ERROR_DATA,
                                          "morph target '%s' has no left or right in its name, so its mirror image "
                                          "would have the same one",
                                          own),
                             "mirrored_name_same");
    }
    if (!find_direct_axis(m, axis_name))
        return append_direct(m, axis, axis_name, name, error);
    const ex_project_example *there = exi_example_at(&m->mirror.view->layers[m->to], m->place);
    if (m->many && m->to == m->from && m->def->from == EX_SIDE_NONE && !m->def->replace) {
        m->skipped = true; /* both sides are there */
        return EX_OK;
    }
    if (m->many && m->to == m->from && m->def->from == EX_SIDE_NONE)
        return refuse_both(own, there->name, m->source->name, error);
    if (m->def->replace)
        return keep_up(m, error);
    if (m->many) {
        note_taken(m, there->name);
        return EX_OK;
    }
    return ex_error_kind(error,
                         ex_error_set(error, EX_ERROR_DATA, "layer '%s' already has an example '%s'",
                                      m->mirror.view->layers[m->to].name, there->name),
                         "mirrored_name_taken");
}

/* ---- one example ---- */

static ex_result put_image(exi_mirroring *m, ex_error *error) {
    const char *own = exi_example_at(m->source, m->from_place)->name;
    char *name = m->def->as ? exi_text_copy(m->def->as, strlen(m->def->as)) : ex_mirror_name(own);
    ex_result result = name ? mirror_axes(m, error) : ex_error_memory(error, "a name", 0);
    if (result == EX_OK && exi_layer_is_direct(m->source)) {
        result = put_direct(m, name, error);
    } else if (result == EX_OK) {
        result = exi_mirroring_find_layer(m, error);
        if (result == EX_OK)
            result = keep_up(m, error);
        if (result == EX_OK && m->new_layer)
            result = exi_mirroring_start_layer(m, error);
        if (result == EX_OK)
            result = put_example(m, name, error);
    }
    free(name);
    return result;
}

static ex_result mirror_one(exi_mirroring *m, int layer, int place, ex_error *error) {
    ex_result result = set_source(m, layer, place, error);
    if (result == EX_OK)
        result = exi_amend_read(&m->amendment, error);
    m->mirror.view = &m->amendment.trial.view;
    m->skipped = m->new_layer = false;
    if (result == EX_OK)
        result = put_image(m, error);
    if (result != EX_OK || m->skipped)
        return result;
    exi_image *images = exi_array_grow(m->images, &m->image_capacity, m->image_count + 1, sizeof *images);
    if (!images)
        return ex_error_memory(error, "an example", sizeof *images);
    m->images = images;
    exi_image *image = &images[m->image_count];
    *image = (exi_image){.from = layer, .from_place = place, .to = m->to, .place = m->place, .new_layer = m->new_layer};
    m->image_count++;
    result = exi_mirroring_form(m, image, error);
    m->changed = m->changed < m->to ? m->changed : m->to;
    return result;
}

/* ---- several ---- */

/* Mirrors the pseudo-examples of a layer whose examples all were mirrored, or that mirrors to itself. */
static ex_result mirror_pseudos(exi_mirroring *m, int layer, ex_error *error) {
    const exi_image *last = m->image_count > 0 ? &m->images[m->image_count - 1] : NULL;
    if (!last || last->from != layer || m->source->pseudo_count == 0)
        return EX_OK;
    ex_result result = exi_amend_read(&m->amendment, error);
    if (result == EX_OK)
        result = mirror_axes(m, error);
    m->to = last->to;
    m->new_layer = false;
    return result == EX_OK ? exi_mirroring_pseudos(m, error) : result;
}

/* Counts the examples of a layer on the side to mirror, without muted ones. */
static int count_side(const exi_mirroring *m, const ex_project_layer *layer) {
    int count = 0;
    for (int k = 0; k < layer->example_count; k++)
        count += side_of(m, layer, &layer->examples[k]) == m->def->from;
    return count;
}

/* Says what is left out, and why. The first one is kept for an error. */
static void note_left_out(exi_mirroring *m, int count, const char *text) {
    if (m->left_out == 0)
        snprintf(m->left_text, sizeof m->left_text, "%s", text);
    m->left_out += count;
    exi_amend_note(&m->amendment, "%s", text);
}

/* Leaves out a layer, if it has examples of the side. */
static void leave_layer_out(exi_mirroring *m, const ex_project_layer *layer) {
    char text[sizeof m->left_text];
    const int count = count_side(m, layer);
    snprintf(text, sizeof text, "%d example%s of layer '%s' %s not mirrored: the layer %s", count, count > 1 ? "s" : "",
             layer->name, count > 1 ? "are" : "is", why_not(layer));
    if (count > 0)
        note_left_out(m, count, text);
}

/* True if one example of many is left out. */
static bool leaves_out(exi_mirroring *m, int layer, int place) {
    const ex_project *project = m->amendment.project;
    const json_t *entry = json_array_get(
        json_object_get(json_array_get(json_object_get(project->root, "layers"), (size_t)layer), "examples"),
        (size_t)place);
    char text[sizeof m->left_text];
    if (!json_object_get(entry, "skeleton"))
        return false;
    snprintf(text, sizeof text, "example '%s' is not mirrored: it has a skeleton of its own, which cannot be",
             json_string_value(json_object_get(entry, "name")));
    note_left_out(m, 1, text);
    return true;
}

/* True if the example's place names an axis of another layer whose mirror image is not there yet: a later layer brings
 * it. */
static bool must_wait(exi_mirroring *m, const json_t *entry, const ex_project_layer *source) {
    const char *name;
    json_t *value;
    bool wait = false;
    json_object_foreach(json_object_get(entry, "at"), name, value) {
        bool own = false;
        for (int i = 0; i < source->axis_count; i++)
            own = own || strcmp(source->axes[i].name, name) == 0;
        const ex_project_axis *axis = own ? NULL : exi_view_axis(m->mirror.view, name);
        exi_mirrored_axis mirrored = {0};
        ex_error error = {0};
        wait = wait ||
               (axis && exi_mirror_axis(&m->mirror, axis, NULL, NULL, 0, &mirrored, &error) == EX_OK && !mirrored.to);
        json_decref(mirrored.made);
    }
    return wait;
}

static ex_result put_off(exi_mirroring *m, int layer, int place, ex_error *error) {
    exi_put_off *more = exi_array_grow(m->put_off, &m->put_off_capacity, m->put_off_count + 1, sizeof *more);
    if (!more)
        return ex_error_memory(error, "an example", sizeof *more);
    m->put_off = more;
    more[m->put_off_count++] = (exi_put_off){.layer = layer, .place = place};
    return EX_OK;
}

/* Puts examples off that must wait; then the layer's pseudo-examples wait too, as they may name any example. */
static ex_result mirror_layer(exi_mirroring *m, int layer, int *without_side, ex_error *error) {
    const ex_project_layer *source = &m->amendment.project->view.layers[layer];
    const json_t *entries = json_object_get(
        json_array_get(json_object_get(m->amendment.project->root, "layers"), (size_t)layer), "examples");
    ex_result result = EX_OK;
    bool any = false, waiting = false;
    for (int place = 0; result == EX_OK && place < source->example_count + source->muted_count; place++) {
        const ex_project_example *example = exi_example_at(source, place);
        bool muted = false;
        for (int k = 0; k < source->muted_count; k++)
            muted = muted || &source->muted_examples[k] == example;
        const ex_side side = m->def->from != EX_SIDE_NONE ? side_of(m, source, example) : EX_SIDE_NONE;
        *without_side += m->def->from != EX_SIDE_NONE && side == EX_SIDE_NONE && !muted;
        if (muted || side != m->def->from || leaves_out(m, layer, place))
            continue;
        const bool later = must_wait(m, json_array_get(entries, (size_t)place), source);
        any = any || !later;
        waiting = waiting || later;
        result = later ? put_off(m, layer, place, error) : mirror_one(m, layer, place, error);
    }
    return result == EX_OK && any && !waiting ? mirror_pseudos(m, layer, error) : result;
}

/* Mirrors what was put off. */
static ex_result mirror_rest(exi_mirroring *m, ex_error *error) {
    ex_result result = EX_OK;
    for (size_t i = 0; result == EX_OK && i < m->put_off_count; i++) {
        const int layer = m->put_off[i].layer;
        result = mirror_one(m, layer, m->put_off[i].place, error);
        if (result == EX_OK && (i + 1 == m->put_off_count || m->put_off[i + 1].layer != layer))
            result = mirror_pseudos(m, layer, error);
    }
    return result;
}

static ex_result nothing_to_mirror(const exi_mirroring *m, ex_error *error) {
    if (m->left_out > 0)
        return ex_error_set(error, EX_ERROR_DATA, "there is nothing to mirror: %s", m->left_text);
    if (m->def->from == EX_SIDE_NONE)
        return ex_error_set(error, EX_ERROR_DATA,
                            "nothing in layer '%s' is left to mirror: its examples are their own mirror images, or "
                            "those are there already",
                            m->def->layer);
    return ex_error_set(error, EX_ERROR_DATA,
                        "there is nothing to mirror: no joint, dial or example of the sculpts has a name of the %s "
                        "side",
                        m->def->from == EX_SIDE_LEFT ? "left" : "right");
}

static ex_result mirror_many(exi_mirroring *m, ex_error *error) {
    const ex_project_view *view = &m->amendment.project->view;
    int without_side = 0;
    const int only = m->def->layer ? m->from : -1;
    ex_result result = EX_OK;
    for (int l = 0; result == EX_OK && l < view->layer_count; l++)
        if (only < 0 && why_not(&view->layers[l]))
            leave_layer_out(m, &view->layers[l]);
        else if (only < 0 || l == only)
            result = mirror_layer(m, l, &without_side, error);
    if (result == EX_OK)
        result = mirror_rest(m, error);
    if (result == EX_OK && m->taken_count > 0)
        return ex_error_kind(error,
                             ex_error_set(error, EX_ERROR_DATA,
                                          "%d example%s already where a mirror image would go: %s%s", m->taken_count,
                                          m->taken_count > 1 ? "s are" : " is", m->taken,
                                          m->taken_count > 8 ? " and others" : ""),
                             "mirrored_places_taken");
    if (result == EX_OK && m->image_count == 0)
        return nothing_to_mirror(m, error);
    if (result == EX_OK && without_side > 0)
        exi_amend_note(&m->amendment, "%d example%s no left or right in joints, dials or names, and %s not mirrored",
                       without_side, without_side > 1 ? "s have" : " has", without_side > 1 ? "are" : "is");
    return result;
}

/* ---- the whole ---- */

/* Finds the layer, or the example, before anything that takes time. */
static ex_result find_sources(exi_mirroring *m, ex_error *error) {
    const ex_project_view *view = &m->amendment.project->view;
    const ex_example_ref which = {.layer = m->def->layer, .name = m->def->name};
    int layer = -1, place = 0;
    if (m->def->name)
        place = exi_find_example(view, which, &layer, error);
    else if (m->def->layer)
        layer = exi_find_layer(view, m->def->layer, error);
    else
        return EX_OK;
    return layer < 0 || place < 0 ? error->result : set_source(m, layer, place, error);
}

/* Counts the damped vertices of images, and passes all of them on. */
typedef struct damped_counter {
    exi_mirroring *m;
    const ex_damped_report *next;
} damped_counter;

static void count_damped(void *user, int layer, int example, const ex_damped *list, int count) {
    const damped_counter *counter = user;
    exi_mirroring *m = counter->m;
    const int place = m->amendment.trial.view.layers[layer].examples[example].place;
    for (size_t i = 0; i < m->image_count; i++)
        if (m->images[i].to == layer && m->images[i].place == place)
            m->images[i].damped_count = count;
    if (counter->next && counter->next->report)
        counter->next->report(counter->next->user, layer, example, list, count);
}

/* Fits the images of examples that have a sculpt beside their file, from the last layer to the first: such a file
 * depends on the layers after it, and its own layer does not change what those give at the poses of their examples. */
static ex_result fit_sculpts(exi_mirroring *m, ex_error *error) {
    ex_result result = EX_OK;
    for (int layer = m->amendment.trial.view.layer_count - 1; layer >= 0; layer--)
        for (size_t i = 0; result == EX_OK && i < m->image_count; i++)
            if (m->images[i].to == layer && m->images[i].wanted)
                result = exi_mirroring_fit(m, &m->images[i], error);
    return result;
}

/* Builds the whole and measures all images. Doubts about a layer are told once. */
static ex_result measure(exi_mirroring *m, ex_error *error) {
    exi_amendment *a = &m->amendment;
    for (size_t i = 0; i < m->image_count; i++)
        m->images[i].damped_count = 0;
    ex_result result = exi_amend_read(a, error);
    if (result == EX_OK)
        result = exi_amend_build(a, error);
    if (result == EX_OK)
        result = fit_sculpts(m, error);
    for (size_t i = 0; result == EX_OK && i < m->image_count; i++) {
        exi_image *image = &m->images[i];
        ex_sculpted *made = &image->mirrored.sculpted;
        const bool first = i == 0 || m->images[i - 1].to != image->to;
        a->wanted = image->wanted;
        result = first ? exi_amend_measure(a, image->to, image->place, made, error)
                       : exi_sculpt_measure(a, image->to, image->place, made, error);
        made->new_layer = image->new_layer;
        made->damped_count = image->damped_count;
        a->wanted = NULL;
    }
    return result;
}

/* Hands the result over. */
static ex_result give_images(exi_mirroring *m, ex_mirrored **made, int *made_count, ex_error *error) {
    if (!made)
        return EX_OK;
    *made = exi_array_allocate(m->image_count, sizeof **made);
    for (size_t i = 0; *made && i < m->image_count; i++)
        (*made)[i] = m->images[i].mirrored;
    if (made_count)
        *made_count = (int)m->image_count;
    return *made ? EX_OK : ex_error_memory(error, "the result", m->image_count * sizeof **made);
}

static ex_result check_mirroring(const ex_mirroring *def, ex_error *error) {
    if ((!def->name && !def->layer && def->from == EX_SIDE_NONE) || (def->plane && !strchr("xyz", def->plane)))
        return ex_error_set(error, EX_ERROR_ARGUMENT,
                            "name an example, a layer or a side, and mirror x, y or z if a plane is given");
    if (def->as && !def->name)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "only a single example can get a new name");
    if (def->as && !exi_is_name(def->as))
        return ex_error_set(error, EX_ERROR_DATA,
                            "the new name is not valid: 1 to %d bytes of readable text are needed", EXI_NAME_MAX);
    return EX_OK;
}

ex_result ex_project_mirror(ex_project *project, const ex_mirroring *def, const ex_build_options *options,
                            ex_mirrored **made, int *made_count, ex_error *error) {
    ex_error local = {0};
    error = error ? error : &local;
    if (made)
        *made = NULL;
    if (made_count)
        *made_count = 0;
    ex_result result = check_mirroring(def, error);
    if (result != EX_OK)
        return result;
    exi_mirroring m = {.def = def, .many = !def->name, .changed = INT_MAX, .mirror = {.view = &project->view}};
    damped_counter counter = {.m = &m, .next = options ? options->damped : NULL};
    const ex_damped_report damped = {.report = count_damped, .user = &counter};
    m.options = options ? *options : (ex_build_options){0};
    m.options.damped = &damped;
    result = exi_amend_open(&m.amendment, project, &m.options, error);
    if (result == EX_OK)
        result = find_sources(&m, error);
    if (result == EX_OK)
        result = exi_mirroring_prepare(&m, error);
    if (result == EX_OK)
        result = m.many ? mirror_many(&m, error) : mirror_one(&m, m.from, m.from_place, error);
    if (result == EX_OK)
        result = measure(&m, error);
    if (result == EX_OK)
        result = give_images(&m, made, made_count, error);
    if (result == EX_OK)
        exi_amend_name(&m.amendment, "%s '%s' mirrored", def->name ? "example" : "layer",
                       def->name ? def->name : "all");
    if (result == EX_OK)
        result = exi_amend_save(&m.amendment, error);
    if (result != EX_OK && made) {
        free(*made);
        *made = NULL;
    }
    if (result != EX_OK && made_count)
        *made_count = 0;
    free_axes(&m);
    for (size_t i = 0; i < m.image_count; i++)
        free(m.images[i].wanted);
    free(m.images);
    free(m.put_off);
    exi_mirroring_release(&m);
    exi_amend_close(&m.amendment);
    return result;
}

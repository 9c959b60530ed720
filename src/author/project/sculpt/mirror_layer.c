/*
 * Finds the layer of a mirrored example: the same layer if its axes mirror to themselves, another of its kind over
 * exactly the mirrored axes, or a copy of the layer over them, in which everything that names axes, joints or vertices
 * is mirrored too. Also mirrors pseudo-examples.
 */
#include "author/project/sculpt/mirror.h"

#include "author/base/array.h"
#include "author/base/json.h"
#include "runtime/base/text.h"

#include <exemplar/author/files.h>
#include <exemplar/author/formats.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const exi_mirrored_axis *exi_mirroring_axis(const exi_mirroring *m, const char *name) {
    for (int i = 0; i < m->axis_count; i++)
        if (strcmp(m->axes[i].from->name, name) == 0)
            return &m->axes[i];
    return NULL;
}

ex_result exi_mirroring_check_list(const exi_mirroring *m, const char *key, const json_t *value, ex_error *error) {
    const bool metric = strcmp(key, "metric") == 0;
    bool same = true;
    if (!metric && !(strcmp(key, "falloff") == 0 && json_is_array(value)))
        return EX_OK;
    for (int i = 0; i < m->axis_count; i++) {
        const ex_project_axis *there = m->new_layer ? NULL : &m->mirror.view->layers[m->to].axes[i];
        same = same && !(metric && m->axes[i].factor != 1) && (!there || strcmp(there->name, m->axes[i].name) == 0);
    }
    return same ? EX_OK
                : ex_error_set(error, EX_ERROR_DATA,
                               "a \"%s\" is a list over the axes of layer '%s', but their mirror images are in another "
                               "order or direction: give the falloff by the names of the axes",
                               key, m->source->name);
}

json_t *exi_mirroring_falloff(const exi_mirroring *m, const json_t *falloff) {
    if (!json_is_object(falloff))
        return json_deep_copy(falloff);
    json_t *out = json_object(), *value;
    const char *name;
    json_object_foreach((json_t *)falloff, name, value) {
        const exi_mirrored_axis *axis = exi_mirroring_axis(m, name);
        const double factor = axis ? fabs(axis->factor) : 1;
        json_t *number = factor == 1 ? json_incref(value) : exi_json_make_number(json_number_value(value) * factor);
        if (json_object_set_new(out, axis ? axis->name : name, number) != 0) {
            json_decref(out);
            return NULL;
        }
    }
    return out;
}

/* ---- masks ---- */

/* Returns {"joints": [...]} with the counterparts. */
static ex_result mirror_joints_mask(const exi_mirroring *m, json_t **mask, ex_error *error) {
    json_t *list = json_array();
    ex_result result = list ? EX_OK : ex_error_memory(error, "a mask", 0);
    for (int i = 0; result == EX_OK && i < m->source->mask.joint_count; i++) {
        char *joint = exi_mirror_joint(&m->mirror, m->source->mask.joints[i], error);
        if (!joint)
            result = error->result;
        else if (json_array_append_new(list, json_string(joint)) != 0)
            result = ex_error_memory(error, "a mask", 0);
        free(joint);
    }
    *mask = result == EX_OK ? json_pack("{s:O}", "joints", list) : NULL;
    json_decref(list);
    return result == EX_OK && !*mask ? ex_error_memory(error, "a mask", 0) : result;
}

/* Returns {"group": NAME} if the mesh has a group of the mirrored name; otherwise *mask is NULL. */
static ex_result mirror_group(const exi_mirroring *m, json_t **mask, ex_error *error) {
    char *name = ex_mirror_name(m->source->mask.source);
    float *values = exi_array_allocate((size_t)m->mesh->vertex_count, sizeof *values);
    ex_result result = name && values ? EX_OK : ex_error_memory(error, "a mask", 0);
    const bool other = result == EX_OK && strcmp(name, m->source->mask.source) != 0;
    const ex_result found = other ? ex_mask_from_group(m->mesh, name, values, NULL) : EX_ERROR_DATA;
    *mask = found == EX_OK ? json_pack("{s:s}", "group", name) : NULL;
    if (found == EX_ERROR_MEMORY || (found == EX_OK && !*mask))
        result = ex_error_memory(error, "a mask", 0);
    free(name);
    free(values);
    return result;
}

static ex_result write_mask(exi_mirroring *m, const char *relative, const float *values, ex_error *error) {
    char *path, number[32];
    ex_file_writer writer;
    ex_result result = exi_amend_make_room(&m->amendment, relative, &path, error);
    if (result != EX_OK)
        return result;
    result = ex_file_open(&writer, path, error);
    if (result == EX_OK) {
        for (int v = 0; v < m->mesh->vertex_count; v++)
            if (values[v] > 0) {
                ex_format_float(number, values[v]);
                ex_file_printf(&writer, "%d %s\n", v, number);
            }
        result = ex_file_commit(&writer, error);
    }
    if (result == EX_OK)
        return exi_amend_made(&m->amendment, path, error);
    free(path);
    return result;
}

/* Mirrors the values of a mask into a file, and returns {"file": PATH}. */
static ex_result mirror_values(exi_mirroring *m, const char *layer, json_t **mask, ex_error *error) {
    float *values = NULL, *images = NULL;
    const ex_project_view *view = &m->amendment.project->view;
    char *file = NULL;
    ex_result result = exi_project_read_mask(view, m->source, m->mesh, NULL, NULL, &values, error);
    if (result == EX_OK) {
        images = exi_mirroring_values(m, values);
        file = exi_layer_free_file(view, layer, "mask", ".txt");
        result = images && file ? write_mask(m, file, images, error) : ex_error_memory(error, "a mask", 0);
    }
    *mask = result == EX_OK ? json_pack("{s:s}", "file", file) : NULL;
    if (result == EX_OK && !*mask)
        result = ex_error_memory(error, "a mask", 0);
    free(values);
    free(images);
    free(file);
    return result;
}

/* layer: the copy, and its name. */
static ex_result mirror_mask(exi_mirroring *m, json_t *layer, const char *name, ex_error *error) {
    const ex_mask_kind kind = m->source->mask.kind;
    json_t *mask = NULL;
    ex_result result = EX_OK;
    if (kind == EX_MASK_NONE)
        return EX_OK;
    if (kind == EX_MASK_JOINTS)
        result = mirror_joints_mask(m, &mask, error);
    else if (kind == EX_MASK_GROUP)
        result = mirror_group(m, &mask, error);
    if (result == EX_OK && !mask)
        result = mirror_values(m, name, &mask, error);
    if (result == EX_OK && json_object_set(layer, "mask", mask) != 0)
        result = ex_error_memory(error, "a mask", 0);
    json_decref(mask);
    return result;
}

/* ---- layers ---- */

/* Returns the name of the mirrored layer: with the names of mirrored axes if the layer is called after its axes, as new
 * layers are; else with left and right exchanged. NULL without memory. */
static char *mirror_layer_name(const exi_mirroring *m) {
    size_t size = 1, at = 0, length = 0;
    for (int i = 0; i < m->axis_count; i++)
        size += strlen(m->axes[i].name) + 1;
    char *name = exi_array_allocate(size, 1);
    const char *own = m->source->name;
    bool called = name && m->axis_count > 0;
    for (int i = 0; called && i < m->axis_count; i++) {
        const char *axis = m->axes[i].from->name;
        called = (i == 0 || own[at++] == '_') && strncmp(own + at, axis, strlen(axis)) == 0;
        at += called ? strlen(axis) : 0;
        length += (size_t)sprintf(name + length, i == 0 ? "%s" : "_%s", m->axes[i].name);
    }
    if (!name || (called && own[at] == 0))
        return name;
    free(name);
    return ex_mirror_name(own);
}

ex_result exi_mirroring_start_layer(exi_mirroring *m, ex_error *error) {
    const json_t *metric = json_object_get(json_object_get(exi_amend_layer(&m->amendment, m->from), "weigh"), "metric");
    ex_result result = metric ? exi_mirroring_check_list(m, "metric", metric, error) : EX_OK;
    if (result != EX_OK)
        return result;
    json_t *layer = json_deep_copy(exi_amend_layer(&m->amendment, m->from)), *space = json_array();
    char *wish = mirror_layer_name(m);
    char *name = wish ? exi_new_layer_name(m->mirror.view, wish) : NULL;
    bool done = layer && space && name && json_object_set_new(layer, "name", json_string(name)) == 0;
    for (int i = 0; done && i < m->axis_count; i++) {
        json_t *made = m->axes[i].made, *old = NULL;
        if (!made) { /* copy it from the layer that has it */
            for (int l = 0; !old && l < m->mirror.view->layer_count; l++)
                for (int k = 0; k < m->mirror.view->layers[l].axis_count; k++)
                    if (&m->mirror.view->layers[l].axes[k] == m->axes[i].to)
                        old = json_array_get(json_object_get(exi_amend_layer(&m->amendment, l), "space"), (size_t)k);
        }
        done = json_array_append_new(space, json_deep_copy(made ? made : old)) == 0;
    }
    done = done && json_object_set(layer, "space", space) == 0;
    done = done && json_object_set_new(layer, "examples", json_array()) == 0;
    json_t *weigh = json_object_get(layer, "weigh"), *falloff = json_object_get(weigh, "falloff");
    if (done && falloff)
        done = json_object_set_new(weigh, "falloff", exi_mirroring_falloff(m, falloff)) == 0;
    result = done ? mirror_mask(m, layer, name, error) : ex_error_memory(error, "a layer", 0);
    if (result == EX_OK && json_object_get(layer, "pseudo")) {
        json_object_del(layer, "pseudo");
        if (!m->many)
            exi_amend_note(&m->amendment, "the pseudo-examples of layer '%s' are mirrored only with the whole layer",
                           m->source->name);
    }
    if (result == EX_OK && json_array_append(json_object_get(m->amendment.trial.root, "layers"), layer) != 0)
        result = ex_error_memory(error, "a layer", 0);
    if (result == EX_OK)
        exi_amend_note(&m->amendment, "no layer has the mirrored axes: layer '%s' is added", name);
    json_decref(space);
    json_decref(layer);
    free(wish);
    free(name);
    return result;
}

/* True if an example of one layer may be an example of the other. */
static bool same_kind(const ex_project_layer *a, const ex_project_layer *b) {
    return a->domain == b->domain && a->unposed == b->unposed && a->offsets.posed == b->offsets.posed &&
           ex_weigher_kind_info(a->weigh.kind)->has_points == ex_weigher_kind_info(b->weigh.kind)->has_points &&
           !b->driven;
}

/* Returns the layer over exactly the mirrored axes; -1: none; -2: several, and none with the mirrored name. */
static int find_over(const exi_mirroring *m, const char *name) {
    int found = -1;
    for (int l = 0; l < m->mirror.view->layer_count; l++) {
        const ex_project_layer *layer = &m->mirror.view->layers[l];
        bool same = same_kind(m->source, layer) && layer->axis_count == m->axis_count;
        for (int i = 0; same && i < m->axis_count; i++) {
            bool has = false;
            for (int k = 0; k < layer->axis_count; k++)
                has = has || strcmp(layer->axes[k].name, m->axes[i].name) == 0;
            same = has;
        }
        if (same && strcmp(layer->name, name) == 0)
            return l;
        found = !same ? found : found == -1 ? l : -2;
    }
    return found;
}

ex_result exi_mirroring_find_layer(exi_mirroring *m, ex_error *error) {
    bool known = true, own = true;
    for (int i = 0; i < m->axis_count; i++) {
        known = known && m->axes[i].to;
        own = own && exi_mirroring_axis(m, m->axes[i].name);
    }
    char *name = mirror_layer_name(m);
    if (!name)
        return ex_error_memory(error, "a layer", 0);
    m->to = !known ? -1 : own ? m->from : find_over(m, name);
    free(name);
    if (m->to == -2)
        return ex_error_set(error, EX_ERROR_DATA,
                            "several layers have the mirrored axes of layer '%s', so the right one cannot be chosen: "
                            "give one of them its name with left and right exchanged",
                            m->source->name);
    m->new_layer = m->to < 0;
    if (m->new_layer)
        m->to = m->mirror.view->layer_count;
    return EX_OK;
}

/* ---- pseudo-examples ---- */

/* True if two trees agree, numbers within 1e-6. */
static bool is_near(const json_t *a, const json_t *b) {
    const char *key;
    json_t *value;
    bool near = true;
    if (json_is_number(a) && json_is_number(b))
        return fabs(json_number_value(a) - json_number_value(b)) <= 1e-6 * (1 + fabs(json_number_value(a)));
    if (json_is_array(a) && json_is_array(b)) {
        for (size_t i = 0; i < json_array_size(a); i++)
            near = near && is_near(json_array_get(a, i), json_array_get(b, i));
        return near && json_array_size(a) == json_array_size(b);
    }
    if (!json_is_object(a) || !json_is_object(b))
        return json_equal((json_t *)a, (json_t *)b);
    json_object_foreach((json_t *)a, key, value) near = near && is_near(value, json_object_get(b, key));
    return near && json_object_size(a) == json_object_size(b);
}

/* Returns the name of the image of an example of m->from, or NULL if it has none. */
static const char *image_name(const exi_mirroring *m, const char *name) {
    const json_t *examples = json_object_get(exi_amend_layer(&m->amendment, m->from), "examples");
    for (size_t i = 0; i < m->image_count; i++) {
        const exi_image *image = &m->images[i];
        const json_t *from = json_array_get(examples, (size_t)image->from_place);
        if (image->from == m->from && strcmp(json_string_value(json_object_get(from, "name")), name) == 0)
            return json_string_value(
                json_object_get(json_array_get(json_object_get(exi_amend_layer(&m->amendment, image->to), "examples"),
                                               (size_t)image->place),
                                "name"));
    }
    return NULL;
}

/* *out is NULL if an example with a weight has no image. */
static ex_result mirror_weights(const exi_mirroring *m, const json_t *weights, json_t **out, ex_error *error) {
    const char *name;
    json_t *value;
    bool done = (*out = json_object()) != NULL, known = true;
    json_object_foreach((json_t *)weights, name, value) {
        const char *image = image_name(m, name);
        known = known && image;
        done = done && (!image || json_object_set(*out, image, value) == 0);
    }
    if (!done || !known) {
        json_decref(*out);
        *out = NULL;
    }
    return done ? EX_OK : ex_error_memory(error, "a pseudo-example", 0);
}

/* Mirrors the value of a key of a pseudo-example; *out is NULL if an example in it has no image. */
static ex_result mirror_key(const exi_mirroring *m, const char *key, const json_t *value, json_t **out,
                            ex_error *error) {
    ex_result result = exi_mirroring_check_list(m, key, value, error);
    *out = NULL;
    if (result != EX_OK)
        return result;
    if (strcmp(key, "at") == 0 || strcmp(key, "from") == 0)
        return exi_mirroring_place(m, value, out, error);
    if (strcmp(key, "weights") == 0)
        return mirror_weights(m, value, out, error);
    char *name = strcmp(key, "name") == 0 ? ex_mirror_name(json_string_value(value)) : NULL;
    *out = name                          ? json_string(name)
           : strcmp(key, "name") == 0    ? NULL
           : strcmp(key, "falloff") == 0 ? exi_mirroring_falloff(m, value)
                                         : json_deep_copy(value);
    free(name);
    return *out ? EX_OK : ex_error_memory(error, "a pseudo-example", 0);
}

/* Mirrors one pseudo-example; *out is NULL if an example in it has no image. */
static ex_result mirror_pseudo(const exi_mirroring *m, const json_t *pseudo, json_t **out, ex_error *error) {
    const char *key;
    json_t *value;
    ex_result result = EX_OK;
    bool known = true;
    *out = json_object();
    if (!*out)
        return ex_error_memory(error, "a pseudo-example", 0);
    json_object_foreach((json_t *)pseudo, key, value) {
        json_t *made = NULL;
        if (result == EX_OK && known)
            result = mirror_key(m, key, value, &made, error);
        known = known && (made || result != EX_OK);
        if (made && json_object_set_new(*out, key, made) != 0)
            result = ex_error_memory(error, "a pseudo-example", 0);
    }
    if (result == EX_OK && known)
        return EX_OK;
    json_decref(*out);
    *out = NULL;
    return result;
}

/* Returns the pseudo-example of the list at that place; the size of the list if there is none. */
static size_t find_pseudo(const json_t *list, const json_t *at) {
    size_t i = 0;
    while (i < json_array_size(list) && !is_near(json_object_get(json_array_get(list, i), "at"), at))
        i++;
    return i;
}

ex_result exi_mirroring_pseudos(exi_mirroring *m, ex_error *error) {
    const json_t *source = json_object_get(
        json_array_get(json_object_get(m->amendment.project->root, "layers"), (size_t)m->from), "pseudo");
    json_t *layer = exi_amend_layer(&m->amendment, m->to);
    ex_result result = EX_OK;
    int left = 0;
    for (size_t i = 0; result == EX_OK && i < json_array_size(source); i++) {
        json_t *made = NULL, *list = json_object_get(layer, "pseudo");
        result = mirror_pseudo(m, json_array_get(source, i), &made, error);
        left += result == EX_OK && !made;
        if (!made)
            continue;
        if (!list && json_object_set_new(layer, "pseudo", json_array()) == 0)
            list = json_object_get(layer, "pseudo");
        const size_t there = find_pseudo(list, json_object_get(made, "at"));
        bool done = list != NULL;
        if (done && there == json_array_size(list))
            done = json_array_append(list, made) == 0;
        else if (done && m->to != m->from && m->def->replace)
            done = json_array_set(list, there, made) == 0;
        json_decref(made);
        result = done ? EX_OK : ex_error_memory(error, "a pseudo-example", 0);
    }
    if (result == EX_OK && left > 0)
        exi_amend_note(&m->amendment,
                       "%d pseudo-example%s of layer '%s' name%s an example that was not mirrored: left out", left,
                       left > 1 ? "s" : "", m->source->name, left > 1 ? "" : "s");
    return result;
}

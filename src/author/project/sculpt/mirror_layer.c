/*
 * Finds the layer of a mirrored example: the same layer if its axes mirror to themselves, another over exactly the
 * mirrored axes, or a copy of the layer over them, in which everything that names axes and joints is mirrored too.
 */
#include "author/project/sculpt/mirror.h"

#include "author/base/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const exi_mirrored_axis *exi_mirroring_axis(const exi_mirroring *m, const char *name) {
    for (int i = 0; i < m->source->axis_count; i++)
        if (strcmp(m->source->axes[i].name, name) == 0)
            return &m->axes[i];
    return NULL;
}

ex_result exi_mirroring_check_list(const exi_mirroring *m, const char *key, const json_t *value, ex_error *error) {
    const bool metric = strcmp(key, "metric") == 0;
    bool same = true;
    if (!metric && !(strcmp(key, "falloff") == 0 && json_is_array(value)))
        return EX_OK;
    for (int i = 0; i < m->source->axis_count; i++) {
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

static ex_result mirror_mask(const exi_mirroring *m, json_t *layer, ex_error *error) {
    json_t *list = json_array();
    ex_result result = list ? EX_OK : ex_error_memory(error, "a mask", 0);
    if (result == EX_OK && m->source->mask.kind != EX_MASK_NONE && m->source->mask.kind != EX_MASK_JOINTS)
        result =
            ex_error_set(error, EX_ERROR_DATA,
                         "layer '%s' has a mask by %s, which cannot be mirrored: make the mirrored layer with its own "
                         "mask first, or mask by \"joints\"",
                         m->source->name, m->source->mask.kind == EX_MASK_FILE ? "a file" : m->source->mask.source);
    for (int i = 0; result == EX_OK && i < m->source->mask.joint_count; i++) {
        char *joint = exi_mirror_joint(&m->mirror, m->source->mask.joints[i], error);
        if (!joint)
            result = error->result;
        else if (json_array_append_new(list, json_string(joint)) != 0)
            result = ex_error_memory(error, "a mask", 0);
        free(joint);
    }
    if (result == EX_OK && m->source->mask.kind == EX_MASK_JOINTS &&
        json_object_set(json_object_get(layer, "mask"), "joints", list) != 0)
        result = ex_error_memory(error, "a mask", 0);
    json_decref(list);
    return result;
}

/* Adds a copy of the layer over the mirrored axes, without examples. */
static ex_result start_layer(exi_mirroring *m, ex_error *error) {
    const json_t *metric = json_object_get(json_object_get(exi_amend_layer(&m->amendment, m->from), "weigh"), "metric");
    ex_result result = metric ? exi_mirroring_check_list(m, "metric", metric, error) : EX_OK;
    if (result != EX_OK)
        return result;
    json_t *layer = json_deep_copy(exi_amend_layer(&m->amendment, m->from)), *space = json_array();
    char *wish = ex_mirror_name(m->source->name);
    char *name = wish ? exi_new_layer_name(m->mirror.view, wish) : NULL;
    bool done = layer && space && name && json_object_set_new(layer, "name", json_string(name)) == 0;
    for (int i = 0; done && i < m->source->axis_count; i++) {
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
    result = done ? mirror_mask(m, layer, error) : ex_error_memory(error, "a layer", 0);
    if (result == EX_OK && json_object_get(layer, "pseudo")) {
        json_object_del(layer, "pseudo");
        exi_amend_note(&m->amendment, "the pseudo-examples of layer '%s' are not mirrored", m->source->name);
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

ex_result exi_mirroring_layer(exi_mirroring *m, ex_error *error) {
    json_t *names = json_object();
    bool known = true, own = true, done = names != NULL;
    for (int i = 0; i < m->source->axis_count; i++) {
        known = known && m->axes[i].to;
        own = own && exi_mirroring_axis(m, m->axes[i].name);
        done = done && json_object_set_new(names, m->axes[i].name, json_true()) == 0;
    }
    if (!done) {
        json_decref(names);
        return ex_error_memory(error, "a layer", 0);
    }
    m->to = !known ? -1 : own ? m->from : exi_layer_over(m->mirror.view, names);
    json_decref(names);
    if (m->to == -2)
        return ex_error_set(error, EX_ERROR_DATA,
                            "several layers of offsets have the mirrored axes, so the right one cannot be chosen");
    if (m->to >= 0)
        return EX_OK;
    m->new_layer = true;
    m->to = m->mirror.view->layer_count;
    return start_layer(m, error);
}

/*
 * Joints by their names: those that a project names must be in its skeleton.
 */
#include "author/formats/array.h"
#include "author/project/skeleton.h"
#include "runtime/base/result.h"

#include <stdio.h>
#include <stdlib.h>

const char *exi_joint_name(const ex_skeleton *skeleton, int joint, exi_joint_text *text) {
    const char *name = ex_skeleton_name(skeleton, joint);
    if (name[0])
        return name;
    snprintf(text->text, sizeof text->text, "joint %d", joint);
    return text->text;
}

static ex_result unknown_joint(const ex_skeleton *skeleton, const char *place, const char *name, ex_error *error) {
    const int count = skeleton ? ex_skeleton_joint_count(skeleton) : 0;
    const char **names = exi_array_allocate((size_t)count, sizeof *names);
    if (!names)
        return exi_error_memory(error, "the names of joints", (size_t)count * sizeof *names);
    for (int j = 0; j < count; j++)
        names[j] = ex_skeleton_name(skeleton, j);
    const char *near = ex_suggest(name, names, count);
    free(names);
    if (!skeleton)
        return exi_error(error, EX_ERROR_DATA, "%s: '%s' is a joint, and the project has no \"skeleton\" to find it in",
                         place, name);
    if (near)
        return exi_error(error, EX_ERROR_DATA, "%s: the skeleton has no joint '%s'; did you mean '%s'?", place, name,
                         near);
    return exi_error(error, EX_ERROR_DATA, "%s: the skeleton has no joint '%s'", place, name);
}

static bool has_joint(const ex_skeleton *skeleton, const char *name) {
    return skeleton && ex_skeleton_find(skeleton, name) >= 0;
}

static ex_result check_axes(const ex_project_layer *layer, int number, const ex_skeleton *skeleton, ex_error *error) {
    for (int i = 0; i < layer->axis_count; i++)
        if (layer->axes[i].joint && !has_joint(skeleton, layer->axes[i].joint)) {
            char place[64];
            snprintf(place, sizeof place, "layers[%d].space[%d].joint", number, i);
            return unknown_joint(skeleton, place, layer->axes[i].joint, error);
        }
    return EX_OK;
}

static ex_result check_examples(const ex_project_layer *layer, int number, const ex_skeleton *skeleton,
                                ex_error *error) {
    for (int k = 0; k < layer->example_count; k++) {
        const ex_project_example *example = &layer->examples[k];
        exi_place place;
        snprintf(place.text, sizeof place.text, "layers[%d].examples[%d]", number, k);
        if (example->skeleton && !skeleton)
            return exi_error(error, EX_ERROR_DATA,
                             "%s.skeleton: an example can bring a skeleton only where the project has a \"skeleton\"",
                             place.text);
        place = exi_place_key(&place, "joints");
        for (int i = 0; i < example->joint_count; i++)
            if (!has_joint(skeleton, example->joints[i].name)) {
                place = exi_place_key(&place, example->joints[i].name);
                return unknown_joint(skeleton, place.text, example->joints[i].name, error);
            }
    }
    return EX_OK;
}

static ex_result check_mask(const ex_project_layer *layer, int number, const ex_skeleton *skeleton, ex_error *error) {
    for (int i = 0; i < layer->mask_joint_count; i++)
        if (!has_joint(skeleton, layer->mask_joints[i])) {
            char place[64];
            snprintf(place, sizeof place, "layers[%d].mask.joints[%d]", number, i);
            return unknown_joint(skeleton, place, layer->mask_joints[i], error);
        }
    return EX_OK;
}

/* Axes first, in all layers: a place in a space moves joints by way of them. */
ex_result exi_project_check_joints(const ex_project_view *view, const ex_skeleton *skeleton, ex_error *error) {
    ex_result result = EX_OK;
    for (int l = 0; result == EX_OK && l < view->layer_count; l++)
        result = check_axes(&view->layers[l], l, skeleton, error);
    for (int l = 0; result == EX_OK && l < view->layer_count; l++) {
        result = check_examples(&view->layers[l], l, skeleton, error);
        if (result == EX_OK)
            result = check_mask(&view->layers[l], l, skeleton, error);
    }
    return result;
}

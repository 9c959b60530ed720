/*
 * Writes the dials for the figure (figure 8): a layer of forms with direct weights. `girth` is the relative thickening,
 * 0.44 for 44 %; NAME.length is the lengthening of the bone that ends at that joint, in metres, left and right
 * together.
 */
#include "author/base/array.h"
#include "author/base/json.h"
#include "author/project/skeleton/skeleton.h"
#include "author/scan/template/figure.h"
#include "runtime/base/result.h"

#include <exemplar/author/formats.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool put(json_t *object, const char *key, json_t *value) {
    return value && json_object_set_new(object, key, value) == 0;
}

/* "girth", "wrist.length" */
static void dial_name(const ex_template_dial *dial, char name[128]) {
    snprintf(name, 128, dial->joint < 0 ? "%s" : "%s.length", dial->name);
}

/* Writes figure/NAME.obj and figure/NAME.glb: the cage and the joints at dial value 1. */
static ex_result write_example(const exi_body *body, const ex_template_dial *dial, const char *name) {
    const ex_skeleton *skeleton = ex_rig_skeleton(body->rig);
    const size_t joints = (size_t)ex_skeleton_joint_count(skeleton);
    char relative[2][160];
    snprintf(relative[0], sizeof relative[0], "figure/%s.obj", name);
    snprintf(relative[1], sizeof relative[1], "figure/%s.glb", name);
    char *form = exi_body_path(body, relative[0]), *centres_path = exi_body_path(body, relative[1]);
    ex_mesh *cage = ex_mesh_copy(body->template.cage);
    double *centres = exi_array_allocate(3 * joints, sizeof *centres);
    ex_result result = EX_OK;
    if (!form || !centres_path || !cage || !centres || !exi_skeleton_centres(skeleton, centres)) {
        result = ex_error_memory(body->error, "a form", 3 * joints * sizeof *centres);
    } else {
        for (int i = 0; i < 3 * cage->vertex_count; i++)
            cage->positions[i] = (double)(float)(cage->positions[i] + dial->deltas[i / 3][i % 3]);
        for (size_t i = 0; i < 3 * joints; i++)
            centres[i] = (double)(float)(centres[i] + dial->shifts[i / 3][i % 3]);
        result = ex_obj_write(form, cage, body->error);
    }
    if (result == EX_OK)
        result = exi_skeleton_write_centres(centres_path, skeleton, centres, body->error);
    ex_mesh_destroy(cage);
    free(centres);
    free(form);
    free(centres_path);
    return result;
}

static json_t *axis_json(const ex_template_dial *dial, const char *name) {
    json_t *axis = json_object();
    const double most = dial->joint < 0 ? 0.5 : 0.1;
    bool good = axis && put(axis, "name", json_string(name)) && put(axis, "min", exi_json_make_number(-most)) &&
                put(axis, "max", exi_json_make_number(most)) && put(axis, "rest", json_integer(0));
    if (good && dial->joint >= 0)
        good = put(axis, "unit", json_string("m"));
    if (good)
        return axis;
    json_decref(axis);
    return NULL;
}

static json_t *example_json(const ex_template_dial *dial, const char *name) {
    json_t *example = json_object();
    char file[160];
    snprintf(file, sizeof file, "figure/%s.obj", name);
    bool good = example && put(example, "name", json_string(name)) && put(example, "mesh", json_string(file));
    snprintf(file, sizeof file, "figure/%s.glb", name);
    if (good && dial->joint >= 0)
        good = put(example, "skeleton", json_string(file));
    if (good)
        return example;
    json_decref(example);
    return NULL;
}

static ex_result add_dials(const exi_body *body, const ex_template_dials *dials, json_t *layers) {
    json_t *layer = json_object(), *space = json_array(), *examples = json_array(), *weigh = json_object();
    ex_result result = EX_OK;
    bool good = layer && space && examples && weigh && put(layer, "name", json_string("figure")) &&
                put(weigh, "kind", json_string("direct"));
    for (int i = 0; i < dials->count && good && result == EX_OK; i++) {
        char name[128];
        dial_name(&dials->dials[i], name);
        result = write_example(body, &dials->dials[i], name);
        good = json_array_append_new(space, axis_json(&dials->dials[i], name)) == 0 &&
               json_array_append_new(examples, example_json(&dials->dials[i], name)) == 0;
    }
    good = good && json_object_set(layer, "space", space) == 0 && json_object_set(layer, "weigh", weigh) == 0 &&
           put(layer, "shape", json_string("positions")) && json_object_set(layer, "examples", examples) == 0 &&
           json_array_append(layers, layer) == 0;
    json_decref(layer);
    json_decref(space);
    json_decref(examples);
    json_decref(weigh);
    return result == EX_OK && !good ? ex_error_memory(body->error, "the project", 0) : result;
}

ex_result exi_body_add_figure(exi_body *body, json_t *layers) {
    ex_template_dials *dials = NULL;
    ex_result result = ex_template_dials_create(body->fitted->kinematics, &body->template, &dials, body->error);
    if (result == EX_OK && dials->count > 0)
        result = add_dials(body, dials, layers);
    ex_template_dials_destroy(dials);
    return result;
}

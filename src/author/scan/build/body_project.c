/*
 * Writes body.json: a layer of displacements for every part, weighed by the nearest scans (equation 5) with the
 * distances of section 5.1: degrees of hinges and great arcs of rotations, both as fractions of half a turn. Before
 * them comes the body in the reference, which they change (body_changes.c).
 */
#include "author/base/json.h"
#include "author/scan/build/body_build.h"
#include "author/scan/template/figure.h"
#include "runtime/base/result.h"

#include <exemplar/author/base.h>
#include <exemplar/author/files.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Takes ownership of the value. Returns false without memory. */
static bool put(json_t *object, const char *key, json_t *value) {
    return value && json_object_set_new(object, key, value) == 0;
}

static bool append(json_t *list, json_t *value) {
    return value && json_array_append_new(list, value) == 0;
}

/* ---- masks ---- */

/* Writes lines `vertex value`, without zeros. */
static ex_result write_mask(const exi_body *body, const exi_body_part *part, const char *name) {
    char *path = exi_body_path(body, name), number[32];
    ex_file_writer writer;
    ex_result result = path ? ex_file_open(&writer, path, body->error) : ex_error_memory(body->error, "a path", 0);
    if (result == EX_OK) {
        for (int v = 0; v < body->vertex_count; v++) {
            if (part->mask[v] == 0)
                continue;
            ex_format_float(number, body->session->add ? (float)exi_body_change((double)part->mask[v]) : part->mask[v]);
            ex_file_printf(&writer, "%d %s\n", v, number);
        }
        result = ex_file_commit(&writer, body->error);
    }
    free(path);
    return result;
}

/* ---- the space of a part ---- */

/* Returns the joint that an axis of the part is read from: the other side's if the part is a mirror image. */
static int axis_joint(const exi_body *body, const exi_body_part *part, int axis) {
    const ex_kinematics *kinematics = body->fitted->kinematics;
    const int joint = ex_kinematics_find_joint(kinematics, part->part->joints[axis]);
    return part->mirrored ? exi_body_other_joint(body, joint) : joint;
}

/* Computes the rotation of a joint of the session's part in a scan; of a mirror image, that of the joint on the other
 * side. */
static void rotation_of(const exi_body *body, const exi_body_part *part, int scan, int joint, double q[4]) {
    const double *own = body->fitted->poses[body->poses[scan]].rotations[joint];
    if (part->mirrored)
        exi_body_mirror_joint(body, joint, own, q);
    else
        memcpy(q, own, 4 * sizeof *q);
}

/* Rounds the range to multiples of ten degrees around all scans of the part, and around 0. */
static void hinge_range(const exi_body *body, const exi_body_part *part, int axis, double range[2]) {
    const ex_kinematics *kinematics = body->fitted->kinematics;
    const int joint = ex_kinematics_find_joint(kinematics, part->part->joints[axis]);
    range[0] = range[1] = 0;
    for (int i = 0; i < body->example_count; i++) {
        double q[4];
        if (body->examples[i].part < 0 || &body->session->parts[body->examples[i].part] != part->part)
            continue;
        rotation_of(body, part, body->examples[i].scan, joint, q);
        const double degrees = ex_kin_angle(&kinematics->joints[axis_joint(body, part, axis)], q);
        range[0] = degrees < range[0] ? degrees : range[0];
        range[1] = degrees > range[1] ? degrees : range[1];
    }
    range[0] = 10 * floor(range[0] / 10);
    range[1] = 10 * ceil(range[1] / 10);
    if (range[1] <= range[0])
        range[1] = range[0] + 10;
}

static json_t *axis_json(const exi_body *body, const exi_body_part *part, int axis) {
    const ex_kin_joint *joint = &body->fitted->kinematics->joints[axis_joint(body, part, axis)];
    json_t *object = json_object();
    bool good =
        object && put(object, "name", json_string(joint->name)) && put(object, "joint", json_string(joint->name));
    if (good && joint->freedom == EX_FREEDOM_HINGE) {
        double range[2];
        hinge_range(body, part, axis, range);
        good = put(object, "angle", exi_json_make_numbers(joint->axis, 3)) &&
               put(object, "min", exi_json_make_number(range[0])) &&
               put(object, "max", exi_json_make_number(range[1])) &&
               put(object, "scale", exi_json_make_number(1.0 / 180));
    } else if (good) {
        good = put(object, "rotation", json_string("full"));
    }
    if (good)
        return object;
    json_decref(object);
    return NULL;
}

/* ---- examples ---- */

static json_t *value_json(const exi_body *body, const exi_body_part *part, int scan, int axis) {
    const ex_kinematics *kinematics = body->fitted->kinematics;
    const int joint = ex_kinematics_find_joint(kinematics, part->part->joints[axis]);
    double q[4];
    rotation_of(body, part, scan, joint, q);
    if (kinematics->joints[joint].freedom == EX_FREEDOM_HINGE)
        return exi_json_make_number(ex_kin_angle(&kinematics->joints[axis_joint(body, part, axis)], q));
    return exi_json_make_numbers(q, 4);
}

static json_t *example_json(const exi_body *body, const exi_body_part *part, int scan) {
    const ex_scan_entry *entry = &body->session->scans[scan];
    json_t *object = json_object(), *at = json_object();
    char *map = exi_body_map_name(part, "changes", entry);
    bool good =
        object && at && map && put(object, "name", json_string(entry->name)) && put(object, "map", json_string(map));
    for (int a = 0; a < part->part->joint_count && good; a++)
        good =
            put(at, body->fitted->kinematics->joints[axis_joint(body, part, a)].name, value_json(body, part, scan, a));
    good = good && json_object_set(object, "at", at) == 0;
    free(map);
    json_decref(at);
    if (good)
        return object;
    json_decref(object);
    return NULL;
}

/* ---- layers ---- */

static json_t *weigh_json(const exi_body *body, int example_count) {
    json_t *object = json_object();
    const int k = body->session->neighbours < example_count ? body->session->neighbours : example_count;
    if (object && put(object, "kind", json_string("nearest")) && put(object, "k", json_integer(k)))
        return object;
    json_decref(object);
    return NULL;
}

static json_t *layer_json(const exi_body *body, const exi_body_part *part, const char *mask) {
    json_t *layer = json_object(), *space = json_array(), *examples = json_array(), *named = json_object();
    bool good = layer && space && examples && named && put(layer, "name", json_string(part->name)) &&
                put(named, "file", json_string(mask));
    for (int a = 0; a < part->part->joint_count && good; a++)
        good = append(space, axis_json(body, part, a));
    for (int i = 0; i < body->example_count && good; i++) {
        if (body->examples[i].part >= 0 && &body->session->parts[body->examples[i].part] == part->part)
            good = append(examples, example_json(body, part, body->examples[i].scan));
    }
    good = good && json_object_set(layer, "space", space) == 0 &&
           put(layer, "weigh", weigh_json(body, (int)json_array_size(examples))) &&
           put(layer, "shape", json_string("displacement")) && json_object_set(layer, "mask", named) == 0 &&
           json_object_set(layer, "examples", examples) == 0;
    json_decref(space);
    json_decref(examples);
    json_decref(named);
    if (good)
        return layer;
    json_decref(layer);
    return NULL;
}

static ex_result add_layer(exi_body *body, const exi_body_part *part, json_t *layers) {
    char mask[200];
    snprintf(mask, sizeof mask, "masks/%s.txt", part->name);
    ex_result result = write_mask(body, part, mask);
    if (result == EX_OK && !append(layers, layer_json(body, part, mask)))
        result = ex_error_memory(body->error, "the project", 0);
    return result;
}

/* The body in the reference: one example, with constant weight 1. */
static json_t *base_json(const exi_body *body) {
    json_t *layer = json_object(), *space = json_array(), *examples = json_array(), *example = json_object(),
           *at = json_object();
    const exi_body_part *part = &body->parts[0];
    const ex_kin_joint *joint = &body->fitted->kinematics->joints[axis_joint(body, part, 0)];
    const double none[4] = {0, 0, 0, 1};
    bool good =
        layer && space && examples && example && at && put(layer, "name", json_string("base")) &&
        append(space, axis_json(body, part, 0)) && put(example, "name", json_string("base")) &&
        put(example, "map", json_string("base.ply")) &&
        put(at, joint->name, joint->freedom == EX_FREEDOM_HINGE ? json_integer(0) : exi_json_make_numbers(none, 4)) &&
        json_object_set(example, "at", at) == 0 && json_array_append(examples, example) == 0 &&
        json_object_set(layer, "space", space) == 0 && put(layer, "weigh", weigh_json(body, 1)) &&
        put(layer, "shape", json_string("displacement")) && json_object_set(layer, "examples", examples) == 0;
    json_decref(space);
    json_decref(examples);
    json_decref(example);
    json_decref(at);
    if (good)
        return layer;
    json_decref(layer);
    return NULL;
}

/* ---- the project ---- */

static json_t *subdivide_json(const exi_body *body) {
    json_t *object = json_object();
    if (object && put(object, "scheme", json_string("catmull_clark")) &&
        put(object, "levels", json_integer(body->level)) && put(object, "limit", json_string("all")))
        return object;
    json_decref(object);
    return NULL;
}

ex_result exi_body_write_project(exi_body *body) {
    json_t *root = json_object(), *layers = json_array();
    char *path = exi_body_path(body, "body.json");
    ex_result result = EX_OK;
    if (!root || !layers || !path || !put(root, "exemplar", json_integer(1)) ||
        !put(root, "mesh", json_string("cage.obj")) || !put(root, "skeleton", json_string("skeleton.glb")) ||
        !put(root, "skinning", json_string("dual_quaternion")))
        result = ex_error_memory(body->error, "the project", 0);
    if (result == EX_OK && body->session->add && !append(layers, base_json(body)))
        result = ex_error_memory(body->error, "the project", 0);
    for (int p = 0; p < body->part_count && result == EX_OK; p++)
        result = add_layer(body, &body->parts[p], layers);
    if (result == EX_OK)
        result = exi_body_add_figure(body, layers);
    if (result == EX_OK &&
        (json_object_set(root, "layers", layers) != 0 || !put(root, "subdivide", subdivide_json(body))))
        result = ex_error_memory(body->error, "the project", 0);
    if (result == EX_OK)
        result = exi_json_write(path, root, body->error);
    json_decref(root);
    json_decref(layers);
    free(path);
    return result;
}

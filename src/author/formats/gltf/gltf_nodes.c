/*
 * Reads nodes, their hierarchy, and skins (glTF 2.0, sections 3.5 and 3.7.3).
 */
#include "author/formats/gltf/gltf_reader.h"

#include "author/base/array.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A matrix shears if its transform misses it by more than this. Files hold matrices as floats, and multiply them. */
#define SHEAR_LIMIT 1e-4

/* ---- nodes ---- */

static ex_result read_matrix(exi_gltf *g, const json_t *json, ex_scene_node *node, const char *where, bool *present) {
    double matrix[16];
    ex_result result = exi_gltf_get_numbers(g, json, "matrix", 16, where, matrix, present);
    if (result != EX_OK || !*present)
        return result;
    if (fabs(matrix[3]) + fabs(matrix[7]) + fabs(matrix[11]) + fabs(matrix[15] - 1) > 1e-6)
        return exi_gltf_fail(g, EX_ERROR_DATA, where, "matrix does not end with the row 0 0 0 1");
    double shear = exi_scene_matrix_to_transform(matrix, &node->transform);
    if (shear > SHEAR_LIMIT && !exi_scene_note(g->scene,
                                               "%s: the matrix shears, which translation, rotation and scale cannot "
                                               "express: the closest fit is off by %.3g of its size",
                                               where, shear))
        return exi_gltf_no_memory(g);
    return EX_OK;
}

static ex_result read_transform(exi_gltf *g, const json_t *json, ex_scene_node *node, const char *where) {
    bool present = false;
    ex_scene_transform *t = &node->transform;
    *t = (ex_scene_transform){.rotation = {0, 0, 0, 1}, .scale = {1, 1, 1}};
    ex_result result = read_matrix(g, json, node, where, &present);
    if (result != EX_OK || present)
        return result;
    result = exi_gltf_get_numbers(g, json, "translation", 3, where, t->translation, NULL);
    if (result == EX_OK)
        result = exi_gltf_get_numbers(g, json, "scale", 3, where, t->scale, NULL);
    if (result == EX_OK)
        result = exi_gltf_get_numbers(g, json, "rotation", 4, where, t->rotation, NULL);
    if (result != EX_OK)
        return result;
    double length_sq = 0, *q = t->rotation;
    for (int i = 0; i < 4; i++)
        length_sq += q[i] * q[i];
    if (!(length_sq > 0) || !isfinite(length_sq))
        return exi_gltf_fail(g, EX_ERROR_DATA, where, "rotation is a zero quaternion, or not finite");
    if (fabs(length_sq - 1) > 1e-3)
        for (int i = 0; i < 4; i++)
            q[i] /= sqrt(length_sq);
    return EX_OK;
}

static ex_result read_weights(exi_gltf *g, const json_t *json, ex_scene_node *node, const char *where) {
    json_t *weights;
    int count;
    void *memory;
    ex_result result = exi_gltf_get_array(g, json, "weights", false, where, &weights, &count);
    if (result != EX_OK || count == 0)
        return result;
    int targets = node->mesh >= 0 ? g->scene->meshes[node->mesh].target_count : 0;
    if (count != targets)
        return exi_gltf_fail(g, EX_ERROR_DATA, where, "has %d weight%s, but its mesh has %d morph target%s", count,
                             count == 1 ? "" : "s", targets, targets == 1 ? "" : "s");
    result = exi_gltf_allocate(g, count, sizeof *node->weights, &memory);
    node->weights = memory;
    node->weight_count = count;
    return result == EX_OK ? exi_gltf_get_numbers(g, json, "weights", count, where, node->weights, NULL) : result;
}

static ex_result read_node(exi_gltf *g, const json_t *json, int number, int skin_count) {
    ex_scene_node *node = &g->scene->nodes[number];
    char where[EXI_WHERE_SIZE];
    snprintf(where, sizeof where, "nodes[%d]", number);
    node->mesh = node->skin = -1;
    ex_result result = exi_gltf_get_text(g, json, "name", where, &node->name);
    if (result == EX_OK)
        result = read_transform(g, json, node, where);
    if (result == EX_OK)
        result = exi_gltf_get_reference(g, json, "mesh", g->scene->mesh_count, "mesh", where, &node->mesh);
    if (result == EX_OK)
        result = exi_gltf_get_reference(g, json, "skin", skin_count, "skin", where, &node->skin);
    return result == EX_OK ? read_weights(g, json, node, where) : result;
}

static ex_result read_children(exi_gltf *g, const json_t *json, int number) {
    ex_scene *scene = g->scene;
    json_t *children;
    int count;
    char where[EXI_WHERE_SIZE];
    snprintf(where, sizeof where, "nodes[%d]", number);
    ex_result result = exi_gltf_get_array(g, json, "children", false, where, &children, &count);
    for (int i = 0; i < count && result == EX_OK; i++) {
        const json_t *child = json_array_get(children, (size_t)i);
        json_int_t at = json_is_integer(child) ? json_integer_value(child) : -1;
        if (at < 0 || at >= scene->node_count)
            return exi_gltf_fail(g, EX_ERROR_DATA, where,
                                 "child %d (counting from 0) is not one of the file's %d nodes", i, scene->node_count);
        if (scene->nodes[at].parent >= 0)
            return exi_gltf_fail(g, EX_ERROR_DATA, where,
                                 "has nodes[%d] as a child, but so has nodes[%d]: a node can have only one parent",
                                 (int)at, scene->nodes[at].parent);
        scene->nodes[at].parent = number;
    }
    return result;
}

/* Hides roots that the shown scene does not list. Without any scene everything is shown. */
static ex_result read_shown(exi_gltf *g) {
    ex_scene *scene = g->scene;
    json_t *scenes, *roots;
    int count, root_count, shown = 0;
    ex_result result = exi_gltf_get_array(g, g->root, "scenes", true, "", &scenes, &count);
    if (result == EX_OK)
        result = exi_gltf_get_reference(g, g->root, "scene", count, "scene", "", &shown);
    if (result != EX_OK || count == 0)
        return result;
    if (count > 1 && !exi_scene_note(scene, "the file has %d scenes: the roots of all but one are hidden", count))
        return exi_gltf_no_memory(g);
    result =
        exi_gltf_get_array(g, json_array_get(scenes, (size_t)shown), "nodes", false, "scenes", &roots, &root_count);
    if (result != EX_OK)
        return result;
    for (int n = 0; n < scene->node_count; n++)
        scene->nodes[n].hidden = scene->nodes[n].parent < 0;
    for (int i = 0; i < root_count; i++) {
        const json_t *root = json_array_get(roots, (size_t)i);
        json_int_t at = json_is_integer(root) ? json_integer_value(root) : -1;
        if (at < 0 || at >= scene->node_count)
            return exi_gltf_fail(g, EX_ERROR_DATA, "scenes",
                                 "root %d (counting from 0) is not one of the file's %d nodes", i, scene->node_count);
        scene->nodes[at].hidden = false;
    }
    return EX_OK;
}

static ex_result note_cameras(exi_gltf *g, json_t *nodes) {
    int cameras = 0, lights = 0, skins = 0;
    size_t i;
    json_t *node;
    json_array_foreach(nodes, i, node) {
        cameras += json_object_get(node, "camera") != NULL;
        lights += json_object_get(json_object_get(node, "extensions"), "KHR_lights_punctual") != NULL;
        skins += g->scene->nodes[i].skin >= 0 && g->scene->nodes[i].mesh < 0;
    }
    const char *many[] = {cameras == 1 ? " is" : "s are", lights == 1 ? " is" : "s are"};
    if (cameras > 0 && lights > 0
            ? !exi_scene_note(g->scene, "%d camera%s and %d light%s are ignored", cameras, cameras == 1 ? "" : "s",
                              lights, lights == 1 ? "" : "s")
            : (cameras > 0 && !exi_scene_note(g->scene, "%d camera%s ignored", cameras, many[0])) ||
                  (lights > 0 && !exi_scene_note(g->scene, "%d light%s ignored", lights, many[1])))
        return exi_gltf_no_memory(g);
    return skins > 0 && !exi_scene_note(g->scene, "%d node%s a skin but no mesh", skins, skins == 1 ? " has" : "s have")
               ? exi_gltf_no_memory(g)
               : EX_OK;
}

ex_result exi_gltf_read_nodes(exi_gltf *g) {
    json_t *nodes, *skins;
    int count, skin_count;
    void *memory;
    ex_result result = exi_gltf_get_array(g, g->root, "nodes", true, "", &nodes, &count);
    if (result == EX_OK)
        result = exi_gltf_get_array(g, g->root, "skins", true, "", &skins, &skin_count);
    if (result != EX_OK || count == 0)
        return result == EX_OK ? read_shown(g) : result;
    result = exi_gltf_allocate(g, count, sizeof *g->scene->nodes, &memory);
    g->scene->nodes = memory;
    if (result != EX_OK)
        return result;
    g->scene->node_count = count;
    for (int i = 0; i < count; i++)
        g->scene->nodes[i].parent = -1;
    for (int i = 0; i < count && result == EX_OK; i++)
        result = read_node(g, json_array_get(nodes, (size_t)i), i, skin_count);
    for (int i = 0; i < count && result == EX_OK; i++)
        result = read_children(g, json_array_get(nodes, (size_t)i), i);
    if (result == EX_OK)
        result = read_shown(g);
    return result == EX_OK ? note_cameras(g, nodes) : result;
}

/* ---- skins ---- */

static ex_result read_joints(exi_gltf *g, const json_t *json, ex_scene_skin *skin, const char *where) {
    json_t *joints;
    int count;
    void *memory;
    ex_result result = exi_gltf_get_array(g, json, "joints", false, where, &joints, &count);
    if (result == EX_OK && count == 0)
        result = exi_gltf_fail(g, EX_ERROR_DATA, where, "has no joints");
    if (result != EX_OK)
        return result;
    result = exi_gltf_allocate(g, count, sizeof *skin->joints, &memory);
    skin->joints = memory;
    skin->joint_count = count;
    for (int j = 0; j < count && result == EX_OK; j++) {
        const json_t *joint = json_array_get(joints, (size_t)j);
        json_int_t at = json_is_integer(joint) ? json_integer_value(joint) : -1;
        if (at < 0 || at >= g->scene->node_count)
            return exi_gltf_fail(g, EX_ERROR_DATA, where,
                                 "joint %d (counting from 0) is not one of the file's %d nodes", j,
                                 g->scene->node_count);
        skin->joints[j] = (int)at;
    }
    return result;
}

static ex_result read_inverse_binds(exi_gltf *g, const json_t *json, ex_scene_skin *skin, const char *where) {
    int accessor = -1, count = 0;
    ex_result result =
        exi_gltf_get_reference(g, json, "inverseBindMatrices", g->accessor_count, "accessor", where, &accessor);
    if (result != EX_OK)
        return result;
    if (accessor < 0)
        return exi_scene_note(
                   g->scene, "%s: has no inverse bind matrices, so each joint is taken to be at the origin of the mesh",
                   where)
                   ? EX_OK
                   : exi_gltf_no_memory(g);
    result = exi_gltf_floats(g, accessor, 16, -1, where, &skin->inverse_binds, &count);
    if (result == EX_OK && count < skin->joint_count)
        result =
            exi_gltf_fail(g, EX_ERROR_DATA, where, "has %d joint%s, but only %d inverse bind %s", skin->joint_count,
                          skin->joint_count == 1 ? "" : "s", count, count == 1 ? "matrix" : "matrices");
    return result;
}

ex_result exi_gltf_read_skins(exi_gltf *g) {
    json_t *skins;
    int count;
    void *memory;
    ex_result result = exi_gltf_get_array(g, g->root, "skins", true, "", &skins, &count);
    if (result != EX_OK || count == 0)
        return result;
    result = exi_gltf_allocate(g, count, sizeof *g->scene->skins, &memory);
    g->scene->skins = memory;
    for (int i = 0; i < count && result == EX_OK; i++) {
        const json_t *json = json_array_get(skins, (size_t)i);
        ex_scene_skin *skin = &g->scene->skins[i];
        char where[EXI_WHERE_SIZE];
        snprintf(where, sizeof where, "skins[%d]", i);
        g->scene->skin_count = i + 1;
        skin->skeleton = -1;
        result = exi_gltf_get_text(g, json, "name", where, &skin->name);
        if (result == EX_OK)
            result = exi_gltf_get_reference(g, json, "skeleton", g->scene->node_count, "node", where, &skin->skeleton);
        if (result == EX_OK)
            result = read_joints(g, json, skin, where);
        if (result == EX_OK)
            result = read_inverse_binds(g, json, skin, where);
    }
    return result;
}

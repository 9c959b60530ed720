/*
 * Writes meshes: every attribute as a separate array, normals and tangents of length 1 as glTF requires.
 */
#include "author/formats/gltf/gltf_writer.h"

#include "author/base/array.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Vectors whose length is off by more than this are scaled to length 1; others stay unchanged, bit for bit. */
#define LENGTH_ROOM 1e-3

static void make_unit(float *v) {
    double length = sqrt((double)v[0] * (double)v[0] + (double)v[1] * (double)v[1] + (double)v[2] * (double)v[2]);
    if (fabs(length - 1) <= LENGTH_ROOM)
        return;
    if (!(length > 0)) {
        v[2] = 1;
        return;
    }
    for (int i = 0; i < 3; i++)
        v[i] = (float)((double)v[i] / length);
}

/* Adds rows whose first three numbers are a direction, and the optional fourth 1 or -1. */
static int add_directions(exi_gltf_writer *w, const float *values, int count, int width) {
    float *copy = exi_array_copy(values, (size_t)count * (size_t)width, sizeof *copy);
    if (!copy) {
        w->failed = true;
        return 0;
    }
    for (size_t i = 0; i < (size_t)count; i++) {
        float *row = copy + i * (size_t)width;
        make_unit(row);
        if (width == 4)
            row[3] = row[3] < 0 ? -1.0f : 1.0f;
    }
    int accessor = exi_gltf_add_floats(w, copy, count, width, EXI_GLTF_VERTICES, false);
    free(copy);
    return accessor;
}

static int add_colours(exi_gltf_writer *w, const float *values, int count) {
    float *copy = exi_array_copy(values, 4 * (size_t)count, sizeof *copy);
    if (!copy) {
        w->failed = true;
        return 0;
    }
    for (size_t i = 0; i < 4 * (size_t)count; i++)
        copy[i] = copy[i] < 0 ? 0 : copy[i] > 1 ? 1 : copy[i];
    int accessor = exi_gltf_add_floats(w, copy, count, 4, EXI_GLTF_VERTICES, false);
    free(copy);
    return accessor;
}

/* Adds a set of four influences; the last set is padded with zeros. */
static void add_set(exi_gltf_writer *w, const ex_scene_primitive *p, const uint16_t *joints, const float *weights,
                    size_t set, uint16_t *joint_rows, float *weight_rows, json_t *attributes) {
    size_t influences = (size_t)p->influence_count;
    for (size_t v = 0; v < (size_t)p->vertex_count; v++)
        for (size_t k = 0; k < 4; k++) {
            size_t at = 4 * set + k, from = v * influences + at;
            joint_rows[4 * v + k] = at < influences ? joints[from] : 0;
            weight_rows[4 * v + k] = at < influences ? weights[from] : 0;
        }
    char key[32];
    snprintf(key, sizeof key, "JOINTS_%zu", set);
    exi_gltf_set(w, attributes, key, json_integer(exi_gltf_add_joints(w, joint_rows, p->vertex_count)));
    snprintf(key, sizeof key, "WEIGHTS_%zu", set);
    exi_gltf_set(w, attributes, key,
                 json_integer(exi_gltf_add_floats(w, weight_rows, p->vertex_count, 4, EXI_GLTF_VERTICES, false)));
}

static void add_influences(exi_gltf_writer *w, const ex_scene_primitive *p, json_t *attributes) {
    size_t n = (size_t)p->vertex_count, influences = (size_t)p->influence_count;
    uint16_t *joints = exi_array_copy(p->joints, n * influences, sizeof *joints);
    float *weights = exi_array_copy(p->weights, n * influences, sizeof *weights);
    uint16_t *joint_rows = exi_array_allocate(4 * n, sizeof *joint_rows);
    float *weight_rows = exi_array_allocate(4 * n, sizeof *weight_rows);
    bool good = joints && weights && joint_rows && weight_rows;
    for (size_t v = 0; good && v < n; v++)
        exi_scene_tidy_influences(joints + v * influences, weights + v * influences, p->influence_count);
    for (size_t set = 0; good && 4 * set < influences; set++)
        add_set(w, p, joints, weights, set, joint_rows, weight_rows, attributes);
    w->failed = w->failed || !good;
    free(weight_rows);
    free(joint_rows);
    free(weights);
    free(joints);
}

static json_t *make_attributes(exi_gltf_writer *w, const ex_scene_primitive *p) {
    json_t *attributes = json_object();
    int n = p->vertex_count;
    exi_gltf_set(w, attributes, "POSITION",
                 json_integer(exi_gltf_add_floats(w, p->positions, n, 3, EXI_GLTF_VERTICES, true)));
    if (p->normals)
        exi_gltf_set(w, attributes, "NORMAL", json_integer(add_directions(w, p->normals, n, 3)));
    if (p->tangents)
        exi_gltf_set(w, attributes, "TANGENT", json_integer(add_directions(w, p->tangents, n, 4)));
    for (int set = 0; set < 2; set++)
        if (p->texcoords[set])
            exi_gltf_set(w, attributes, set == 0 ? "TEXCOORD_0" : "TEXCOORD_1",
                         json_integer(exi_gltf_add_floats(w, p->texcoords[set], n, 2, EXI_GLTF_VERTICES, false)));
    if (p->colours)
        exi_gltf_set(w, attributes, "COLOR_0", json_integer(add_colours(w, p->colours, n)));
    if (p->influence_count > 0)
        add_influences(w, p, attributes);
    return attributes;
}

/* A target must have an attribute: if nothing changes, it gets position changes of zero, which need no bytes. */
static int add_zeros(exi_gltf_writer *w, int count) {
    exi_gltf_append(w, w->accessors,
                    json_pack("{s:i, s:i, s:s, s:[i,i,i], s:[i,i,i]}", "componentType", 5126, "count", count, "type",
                              "VEC3", "min", 0, 0, 0, "max", 0, 0, 0));
    return (int)json_array_size(w->accessors) - 1;
}

static json_t *make_target(exi_gltf_writer *w, const ex_scene_primitive *p, const ex_scene_target *target) {
    json_t *out = json_object();
    int n = p->vertex_count;
    if (target->positions)
        exi_gltf_set(w, out, "POSITION", json_integer(exi_gltf_add_differences(w, target->positions, n, true)));
    if (target->normals && p->normals)
        exi_gltf_set(w, out, "NORMAL", json_integer(exi_gltf_add_differences(w, target->normals, n, false)));
    if (target->tangents && p->tangents)
        exi_gltf_set(w, out, "TANGENT", json_integer(exi_gltf_add_differences(w, target->tangents, n, false)));
    if (json_object_size(out) == 0)
        exi_gltf_set(w, out, "POSITION", json_integer(add_zeros(w, n)));
    return out;
}

static json_t *make_primitive(exi_gltf_writer *w, const ex_scene_mesh *mesh, const ex_scene_primitive *p) {
    json_t *primitive = json_object();
    exi_gltf_set(w, primitive, "attributes", make_attributes(w, p));
    if (p->indices)
        exi_gltf_set(w, primitive, "indices",
                     json_integer(exi_gltf_add_indices(w, p->indices, p->index_count, p->vertex_count)));
    if (p->mode != EX_SCENE_TRIANGLES)
        exi_gltf_set(w, primitive, "mode", json_integer((json_int_t)p->mode));
    if (p->material >= 0)
        exi_gltf_set(w, primitive, "material", json_integer(p->material));
    if (mesh->target_count > 0) {
        json_t *targets = json_array();
        for (int t = 0; t < mesh->target_count; t++)
            exi_gltf_append(w, targets, make_target(w, p, &p->targets[t]));
        exi_gltf_set(w, primitive, "targets", targets);
    }
    return primitive;
}

static json_t *make_mesh(exi_gltf_writer *w, const ex_scene_mesh *mesh) {
    json_t *out = json_object(), *primitives = json_array();
    exi_gltf_set_name(w, out, mesh->name);
    for (int p = 0; p < mesh->primitive_count; p++)
        exi_gltf_append(w, primitives, make_primitive(w, mesh, &mesh->primitives[p]));
    exi_gltf_set(w, out, "primitives", primitives);
    if (mesh->target_count > 0 && mesh->weights)
        exi_gltf_set(w, out, "weights", exi_gltf_numbers(w, mesh->weights, mesh->target_count));
    if (mesh->target_count > 0 && mesh->target_names) {
        json_t *names = json_array();
        for (int t = 0; t < mesh->target_count; t++) {
            json_t *holder = json_object();
            exi_gltf_set_name(w, holder, mesh->target_names[t] ? mesh->target_names[t] : "");
            exi_gltf_append(w, names, json_incref(json_object_get(holder, "name")));
            json_decref(holder);
        }
        exi_gltf_set(w, out, "extras", json_pack("{s:o}", "targetNames", names));
    }
    return out;
}

void exi_gltf_write_meshes(exi_gltf_writer *w) {
    if (w->scene->mesh_count == 0)
        return;
    json_t *meshes = json_array();
    for (int i = 0; i < w->scene->mesh_count; i++)
        exi_gltf_append(w, meshes, make_mesh(w, &w->scene->meshes[i]));
    exi_gltf_set(w, w->root, "meshes", meshes);
}

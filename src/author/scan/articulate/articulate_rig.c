/*
 * The rig of an articulated body: the rest form with the mesh's faces, the skeleton with parallel frames, linear
 * skinning, and a layer of offsets before posing for each layer.
 */
#include "author/base/array.h"
#include "author/mesh/rig_mesh.h"
#include "author/scan/articulate/articulation.h"

#include <exemplar/rig_create.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Arrays that a layer definition points to. */
typedef struct layer_parts {
    ex_axis *axes;
    ex_axis_source *sources;
    const char **names;
    double *points, *falloffs;
    uint32_t *vertices;
    float **deltas;
    ex_offsets *examples;
} layer_parts;

static void free_parts(layer_parts *p, int form_count) {
    for (int f = 0; p->deltas && f < form_count; f++)
        free(p->deltas[f]);
    free(p->axes);
    free(p->sources);
    free(p->names);
    free(p->points);
    free(p->falloffs);
    free(p->vertices);
    free(p->deltas);
    free(p->examples);
}

/* Offsets of the vertices with a mask above 0. */
static bool make_examples(const ex_articulated_layers *layers, const ex_articulated_layer *layer, layer_parts *p) {
    size_t count = 0;
    p->vertices = exi_array_allocate((size_t)layers->vertex_count, sizeof *p->vertices);
    p->deltas = calloc((size_t)layers->form_count, sizeof *p->deltas);
    p->examples = calloc((size_t)layers->form_count, sizeof *p->examples);
    if (!p->vertices || !p->deltas || !p->examples)
        return false;
    for (int v = 0; v < layers->vertex_count; v++)
        if (layer->mask[v] > 0)
            p->vertices[count++] = (uint32_t)v;
    for (int f = 0; f < layers->form_count; f++) {
        float *deltas = p->deltas[f] = exi_array_allocate(3 * count, sizeof *deltas);
        if (!deltas)
            return false;
        for (size_t i = 0; i < count; i++)
            memcpy(deltas + 3 * i, layers->deltas[f] + 3 * (size_t)p->vertices[i], 3 * sizeof *deltas);
        p->examples[f] = (ex_offsets){.count = (int)count, .vertices = p->vertices, .deltas = deltas};
    }
    return true;
}

static bool make_layer(const ex_articulated *articulated, const ex_articulated_layers *layers,
                       const ex_articulated_layer *layer, const char *const *example_names, layer_parts *p,
                       ex_layer_def *def) {
    const size_t axes = (size_t)layer->axis_count, forms = (size_t)layers->form_count;
    p->axes = exi_array_allocate(axes, sizeof *p->axes);
    p->sources = calloc(axes, sizeof *p->sources);
    p->names = exi_array_allocate(axes, sizeof *p->names);
    p->points = exi_array_allocate(4 * axes * forms, sizeof *p->points);
    p->falloffs = exi_array_allocate(axes * forms, sizeof *p->falloffs);
    if (!p->axes || !p->sources || !p->names || !p->points || !p->falloffs || !make_examples(layers, layer, p))
        return false;
    for (size_t i = 0; i < axes; i++) {
        p->axes[i] = ex_axis_rotation(EX_AXIS_ROTATION, NULL);
        p->sources[i] =
            (ex_axis_source){.joint = layer->axes[i],
                             .reading = {.kind = EX_READING_ROTATION, .about = {0, 1, 0}, .part = EX_AXIS_ROTATION}};
        p->names[i] = articulated->kinematics->joints[layer->axes[i]].name;
        for (size_t f = 0; f < forms; f++) {
            memcpy(p->points + 4 * (f * axes + i), articulated->poses[f].rotations[layer->axes[i]], 4 * sizeof(double));
            p->falloffs[f * axes + i] = layer->falloff;
        }
    }
    def->name = articulated->kinematics->joints[layer->joint].name;
    def->domain = EX_DOMAIN_OFFSETS;
    def->weigh = ex_weigher_def_default();
    def->weigh.kind = EX_WEIGHER_GAUSSIAN;
    def->weigh.axes = p->axes;
    def->weigh.axis_count = layer->axis_count;
    def->weigh.example_count = layers->form_count;
    def->weigh.points = p->points;
    def->weigh.falloffs = p->falloffs;
    def->weigh.ridge = layer->ridge;
    def->axis_names = p->names;
    def->sources = p->sources;
    def->example_names = example_names;
    def->mask = layer->mask;
    def->offsets = (ex_layer_offsets){.examples = p->examples, .frame = EX_OFFSET_FRAME_REST};
    return true;
}

/* Arrays that the layer of dials points to. */
typedef struct dial_parts {
    ex_axis *axes;
    const char **names, **units;
    const float **deltas, **shifts;
} dial_parts;

static void free_dials(dial_parts *p) {
    free(p->axes);
    free((void *)p->names);
    free((void *)p->units);
    free((void *)p->deltas);
    free((void *)p->shifts);
}

/* Dials are forms with direct weights. */
static bool make_dials(const ex_articulate_def *from, dial_parts *p, ex_layer_def *def) {
    const size_t count = (size_t)from->dial_count;
    p->axes = exi_array_allocate(count, sizeof *p->axes);
    p->names = exi_array_allocate(count, sizeof *p->names);
    p->units = exi_array_allocate(count, sizeof *p->units);
    p->deltas = exi_array_allocate(count, sizeof *p->deltas);
    p->shifts = exi_array_allocate(count, sizeof *p->shifts);
    if (!p->axes || !p->names || !p->units || !p->deltas || !p->shifts)
        return false;
    for (size_t i = 0; i < count; i++) {
        p->axes[i] = ex_axis_scalar(from->dials[i].least, from->dials[i].most, 0);
        p->names[i] = from->dials[i].name;
        p->units[i] = from->dials[i].unit;
        p->deltas[i] = from->dials[i].deltas;
        p->shifts[i] = from->dials[i].shifts;
    }
    def->name = "figure";
    def->domain = EX_DOMAIN_FORM;
    def->weigh = ex_weigher_def_direct(p->axes, from->dial_count);
    def->axis_names = p->names;
    def->axis_units = p->units;
    def->example_names = p->names;
    def->form = (ex_layer_form){.deltas = p->deltas, .shifts = p->shifts};
    return true;
}

static ex_result make_skeleton(const ex_kinematics *kinematics, ex_skeleton **skeleton, ex_error *error) {
    const size_t count = (size_t)kinematics->joint_count;
    int *parents = exi_array_allocate(count, sizeof *parents);
    ex_transform *rest = exi_array_allocate(count, sizeof *rest);
    const char **names = exi_array_allocate(count, sizeof *names);
    ex_result result = parents && rest && names ? EX_OK : ex_error_memory(error, "the skeleton", count * sizeof *rest);
    for (size_t b = 0; result == EX_OK && b < count; b++) {
        parents[b] = kinematics->joints[b].parent;
        names[b] = kinematics->joints[b].name;
        rest[b] = ex_transform_identity();
        for (int i = 0; i < 3; i++)
            rest[b].translation[i] = (float)kinematics->joints[b].translation[i];
    }
    if (result == EX_OK)
        result = ex_skeleton_create(
            &(ex_skeleton_def){.joint_count = (int)count, .parents = parents, .rest = rest, .names = names}, NULL,
            skeleton, error);
    free(parents);
    free(rest);
    free(names);
    return result;
}

static ex_result make_skin(const ex_articulated *articulated, ex_skin **skin, ex_error *error) {
    const size_t most = (size_t)articulated->influence_count, vertices = (size_t)articulated->vertex_count;
    uint32_t *starts = exi_array_allocate(vertices + 1, sizeof *starts);
    uint32_t *joints = exi_array_allocate(vertices * most, sizeof *joints);
    float *weights = exi_array_allocate(vertices * most, sizeof *weights);
    ex_result result = starts && joints && weights ? EX_OK : ex_error_memory(error, "the skin", vertices * most * 8);
    uint32_t count = 0;
    for (size_t v = 0; result == EX_OK && v < vertices; v++) {
        starts[v] = count;
        for (size_t i = v * most; i < (v + 1) * most; i++)
            if (articulated->weights[i] > 0) {
                joints[count] = articulated->joints[i];
                weights[count++] = articulated->weights[i];
            }
    }
    if (result == EX_OK) {
        starts[vertices] = count;
        result = ex_skin_create(&(ex_skin_def){.vertex_count = articulated->vertex_count,
                                               .joint_count = articulated->kinematics->joint_count,
                                               .starts = starts,
                                               .joints = joints,
                                               .weights = weights},
                                NULL, skin, error);
    }
    free(starts);
    free(joints);
    free(weights);
    return result;
}

/* The mesh at rest; normals of files belong to other poses. */
static ex_result make_mesh(const ex_articulate_def *def, const ex_articulated *articulated, ex_mesh **mesh,
                           exi_rig_mesh *made, ex_error *error) {
    *mesh = ex_mesh_copy(def->mesh);
    if (!*mesh)
        return ex_error_memory(error, "the mesh", (size_t)def->mesh->vertex_count * 24);
    memcpy((*mesh)->positions, articulated->rest, 3 * (size_t)articulated->vertex_count * sizeof *articulated->rest);
    free((*mesh)->normals);
    free((*mesh)->corner_normals);
    (*mesh)->normals = NULL;
    (*mesh)->corner_normals = NULL;
    (*mesh)->normal_count = 0;
    ex_result result = exi_rig_mesh_make(*mesh, made, error);
    return result == EX_OK ? exi_rig_mesh_smooth(made, error) : result;
}

ex_result ex_articulated_rig(const ex_articulate_def *def, const ex_articulated *articulated,
                             const ex_articulated_layers *layers, ex_rig **rig, ex_error *error) {
    const int count = layers ? layers->count : 0, dialled = def->dial_count > 0;
    const size_t forms = (size_t)articulated->form_count;
    layer_parts *parts = calloc((size_t)count + 1, sizeof *parts);
    ex_layer_def *layer_defs = calloc((size_t)count + 1, sizeof *layer_defs); /* dials first */
    dial_parts dials = {0};
    const char **names = exi_array_allocate(forms, sizeof *names);
    char(*numbered)[32] = exi_array_allocate(forms, sizeof *numbered);
    ex_mesh *mesh = NULL;
    exi_rig_mesh rig_mesh = {0};
    ex_skeleton *skeleton = NULL;
    ex_skin *skin = NULL;
    *rig = NULL;
    bool good = parts && layer_defs && names && numbered;
    for (size_t f = 0; good && f < forms; f++) {
        snprintf(numbered[f], sizeof numbered[f], "form_%zu", f + 1);
        names[f] = def->names && def->names[f] ? def->names[f] : numbered[f];
    }
    for (int i = 0; good && i < count; i++)
        good = make_layer(articulated, layers, &layers->layers[i], names, &parts[i], &layer_defs[dialled + i]);
    if (good && dialled)
        good = make_dials(def, &dials, &layer_defs[0]);
    ex_result result = good ? make_mesh(def, articulated, &mesh, &rig_mesh, error)
                            : ex_error_memory(error, "the rig", (size_t)articulated->vertex_count * forms * 12);
    if (result == EX_OK)
        result = make_skeleton(articulated->kinematics, &skeleton, error);
    if (result == EX_OK)
        result = make_skin(articulated, &skin, error);
    if (result == EX_OK) {
        ex_rig_def rig_def = ex_rig_def_default();
        rig_def.mesh = rig_mesh.mesh;
        rig_def.notes = rig_mesh.notes;
        rig_def.note_count = rig_mesh.note_count;
        rig_def.layers = layer_defs;
        rig_def.layer_count = dialled + count;
        rig_def.skeleton = skeleton;
        rig_def.skin = skin;
        rig_def.skinning = EX_SKINNING_LINEAR;
        result = ex_rig_create(&rig_def, NULL, rig, error);
    }
    for (int i = 0; parts && i < count; i++)
        free_parts(&parts[i], (int)forms);
    free(parts);
    free_dials(&dials);
    free(layer_defs);
    free(names);
    free(numbered);
    ex_skin_destroy(skin);
    ex_skeleton_destroy(skeleton);
    exi_rig_mesh_free(&rig_mesh);
    ex_mesh_destroy(mesh);
    return result;
}

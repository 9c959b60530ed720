/*
 * Scenes as plain data: create, release and order them.
 */
#include "author/formats/scene/scene.h"

#include "author/base/array.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

ex_scene *ex_scene_create(void) {
    ex_scene *scene = malloc(sizeof *scene);
    if (scene)
        *scene = (ex_scene){0};
    return scene;
}

static void free_texts(char **texts, int count) {
    for (int i = 0; texts && i < count; i++)
        free(texts[i]);
    free(texts);
}

void exi_scene_free_primitive(ex_scene_primitive *primitive, int target_count) {
    free(primitive->positions);
    free(primitive->normals);
    free(primitive->tangents);
    free(primitive->texcoords[0]);
    free(primitive->texcoords[1]);
    free(primitive->colours);
    free(primitive->joints);
    free(primitive->weights);
    free(primitive->indices);
    free(primitive->sources);
    for (int t = 0; primitive->targets && t < target_count; t++) {
        free(primitive->targets[t].positions);
        free(primitive->targets[t].normals);
        free(primitive->targets[t].tangents);
    }
    free(primitive->targets);
}

void exi_scene_free_mesh(ex_scene_mesh *mesh) {
    free(mesh->name);
    for (int p = 0; p < mesh->primitive_count; p++)
        exi_scene_free_primitive(&mesh->primitives[p], mesh->target_count);
    free(mesh->primitives);
    free_texts(mesh->target_names, mesh->target_count);
    free(mesh->weights);
}

static void free_motion(ex_scene *scene) {
    for (int i = 0; i < scene->skin_count; i++) {
        free(scene->skins[i].name);
        free(scene->skins[i].joints);
        free(scene->skins[i].inverse_binds);
    }
    for (int i = 0; i < scene->animation_count; i++) {
        ex_scene_animation *animation = &scene->animations[i];
        for (int c = 0; c < animation->channel_count; c++) {
            free(animation->channels[c].times);
            free(animation->channels[c].values);
        }
        free(animation->channels);
        free(animation->name);
    }
    free(scene->skins);
    free(scene->animations);
}

static void free_looks(ex_scene *scene) {
    for (int i = 0; i < scene->material_count; i++) {
        free(scene->materials[i].name);
        free(scene->materials[i].rest);
    }
    for (int i = 0; i < scene->texture_count; i++) {
        free(scene->textures[i].name);
        free(scene->textures[i].rest);
    }
    for (int i = 0; i < scene->image_count; i++) {
        free(scene->images[i].name);
        free(scene->images[i].path);
        free(scene->images[i].mime_type);
        free(scene->images[i].bytes);
    }
    free(scene->materials);
    free(scene->textures);
    free(scene->images);
}

void ex_scene_destroy(ex_scene *scene) {
    if (!scene)
        return;
    for (int i = 0; i < scene->node_count; i++) {
        free(scene->nodes[i].name);
        free(scene->nodes[i].weights);
    }
    free(scene->nodes);
    for (int i = 0; i < scene->mesh_count; i++)
        exi_scene_free_mesh(&scene->meshes[i]);
    free(scene->meshes);
    free_motion(scene);
    free_looks(scene);
    free_texts(scene->required, scene->required_count);
    free_texts(scene->notes, scene->note_count);
    free(scene->path);
    free(scene->copyright);
    free(scene);
}

bool exi_scene_note(ex_scene *scene, const char *format, ...) {
    char sentence[EX_ERROR_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    char **notes = realloc(scene->notes, ((size_t)scene->note_count + 1) * sizeof *notes);
    if (!notes)
        return false;
    scene->notes = notes;
    notes[scene->note_count] = exi_text_copy(sentence, strlen(sentence));
    if (!notes[scene->note_count])
        return false;
    scene->note_count++;
    return true;
}

double exi_scene_tidy_influences(uint16_t *joints, float *weights, int count) {
    double sum = 0;
    for (int k = 0; k < count; k++) {
        for (int before = 0; before < k && weights[k] > 0; before++)
            if (joints[before] == joints[k] && weights[before] > 0) {
                weights[before] += weights[k];
                weights[k] = 0;
            }
        if (!(weights[k] > 0))
            joints[k] = 0;
    }
    for (int k = 0; k < count; k++)
        sum += (double)weights[k];
    if (sum > 0 && fabs(sum - 1) > 5e-8 * (double)(count + 1))
        for (int k = 0; k < count; k++)
            weights[k] = (float)((double)weights[k] / sum);
    return sum;
}

/* Both kinds of slash separate folders, and a letter before a colon is a drive: elsewhere, if not on this machine. */
bool exi_scene_path_leaves(const char *path) {
    static const char slashes[] = "/\\";
    if (path[0] == 0 || strchr(slashes, path[0]) || (isalpha((unsigned char)path[0]) && path[1] == ':'))
        return true;
    for (int depth = 0; *path; path += strspn(path, slashes)) {
        const size_t size = strcspn(path, slashes);
        const bool up = size == 2 && memcmp(path, "..", 2) == 0, stays = size == 1 && path[0] == '.';
        depth += up ? -1 : stays ? 0 : 1;
        if (depth < 0)
            return true;
        path += size;
    }
    return false;
}

ex_scene_material exi_scene_default_material(void) {
    return (ex_scene_material){
        .base_colour = {1, 1, 1, 1}, .base_texture = -1, .metallic = 1, .roughness = 1, .alpha_cutoff = 0.5};
}

int ex_scene_add_node(ex_scene *scene, const char *name, int parent, int mesh) {
    char *copy = name ? exi_text_copy(name, strlen(name)) : NULL;
    ex_scene_node *nodes = realloc(scene->nodes, ((size_t)scene->node_count + 1) * sizeof *nodes);
    if (nodes)
        scene->nodes = nodes;
    if (!nodes || (name && !copy)) {
        free(copy);
        return -1;
    }
    nodes[scene->node_count] = (ex_scene_node){.name = copy,
                                               .parent = parent,
                                               .transform = {.rotation = {0, 0, 0, 1}, .scale = {1, 1, 1}},
                                               .mesh = mesh,
                                               .skin = -1};
    return scene->node_count++;
}

/* ---- orders and triangles ---- */

/* Computes the number of nodes above each, plus one. False if parents form a cycle. Visits every node once: a walk
 * upwards ends at the first node whose depth is known. */
static bool find_depths(const ex_scene *scene, int *depths) {
    for (int n = 0; n < scene->node_count; n++)
        depths[n] = 0;
    for (int n = 0; n < scene->node_count; n++) {
        int steps = 0, top = n;
        for (; top >= 0 && depths[top] == 0; steps++) {
            if (steps == scene->node_count)
                return false;
            top = scene->nodes[top].parent;
        }
        int depth = steps + (top >= 0 ? depths[top] : 0);
        for (int m = n; m != top; m = scene->nodes[m].parent)
            depths[m] = depth--;
    }
    return true;
}

bool exi_scene_order(const ex_scene *scene, int *order, int *scratch) {
    int *depths = scratch, *starts = scratch + scene->node_count;
    if (!find_depths(scene, depths))
        return false;
    for (int d = 0; d <= scene->node_count; d++)
        starts[d] = 0;
    for (int n = 0; n < scene->node_count; n++)
        starts[depths[n]]++;
    for (int d = 1; d <= scene->node_count; d++)
        starts[d] += starts[d - 1];
    for (int n = 0; n < scene->node_count; n++)
        order[starts[depths[n] - 1]++] = n;
    return true;
}

int exi_scene_path_width(const ex_scene *scene, int node, ex_scene_path path) {
    if (path != EX_SCENE_WEIGHTS)
        return path == EX_SCENE_ROTATION ? 4 : 3;
    int mesh = scene->nodes[node].mesh;
    return mesh >= 0 ? scene->meshes[mesh].target_count : 0;
}

int exi_scene_triangle_count(const ex_scene_primitive *primitive) {
    int count = primitive->indices ? primitive->index_count : primitive->vertex_count;
    switch (primitive->mode) {
    case EX_SCENE_TRIANGLES:
        return count / 3;
    case EX_SCENE_TRIANGLE_STRIP:
    case EX_SCENE_TRIANGLE_FAN:
        return count > 2 ? count - 2 : 0;
    default:
        return 0;
    }
}

bool exi_scene_triangle(const ex_scene_primitive *primitive, int i, int triangle[3]) {
    int places[3] = {i, i + 1, i + 2};
    if (primitive->mode == EX_SCENE_TRIANGLES) {
        for (int k = 0; k < 3; k++)
            places[k] = 3 * i + k;
    } else if (primitive->mode == EX_SCENE_TRIANGLE_FAN) {
        /* The order of the specification: the shared vertex last. */
        places[0] = i + 1;
        places[1] = i + 2;
        places[2] = 0;
    } else if (i % 2 == 1) {
        places[1] = i + 2;
        places[2] = i + 1;
    }
    for (int k = 0; k < 3; k++)
        triangle[k] = primitive->indices ? primitive->indices[places[k]] : places[k];
    return triangle[0] != triangle[1] && triangle[1] != triangle[2] && triangle[2] != triangle[0];
}

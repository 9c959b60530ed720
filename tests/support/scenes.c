/*
 * Scenes for tests; see scenes.h.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/scenes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- a scene with everything ---- */

static void *copy_of(const void *items, size_t size) {
    void *copy = malloc(size);
    assert_non_null(copy);
    return memcpy(copy, items, size);
}

#define COPY(type, ...) copy_of((type[]){__VA_ARGS__}, sizeof((type[]){__VA_ARGS__}))

static char *text(const char *words) {
    return copy_of(words, strlen(words) + 1);
}

static void *several(int count, size_t size) {
    void *items = calloc((size_t)count, size);
    assert_non_null(items);
    return items;
}

static void fill_first_mesh(ex_scene_mesh *mesh) {
    mesh->name = text("größe \"quoted\" \\ \n");
    mesh->primitive_count = 2;
    mesh->primitives = several(2, sizeof *mesh->primitives);
    mesh->target_count = 2;
    mesh->target_names = several(2, sizeof *mesh->target_names);
    mesh->target_names[0] = text("smile");
    mesh->target_names[1] = text("");
    mesh->weights = COPY(double, 0.1, -2);
    ex_scene_primitive *p = &mesh->primitives[0];
    p->mode = EX_SCENE_TRIANGLE_STRIP;
    p->material = 1;
    p->vertex_count = 4;
    p->positions = COPY(float, 0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 1, 0.1f);
    p->normals = COPY(float, 0, 0, 1, 0, 0, 1, 0, 1, 0, -1, 0, 0);
    p->tangents = COPY(float, 1, 0, 0, 1, 1, 0, 0, -1, 1, 0, 0, 1, 0, 1, 0, 1);
    p->texcoords[0] = COPY(float, 0, 0, 1, 0, 0, 1, 0.3f, 7);
    p->texcoords[1] = COPY(float, 0, 0.25f, 1, 0, 0, 1, -1, 1);
    p->colours = COPY(float, 1, 0, 0, 1, 0, 1, 0, 0.5f, 0, 0, 1, 1, 0.1f, 0.2f, 0.3f, 0);
    p->influence_count = 8;
    p->joints = several(32, sizeof *p->joints);
    p->weights = several(32, sizeof *p->weights);
    for (int v = 0; v < 4; v++) {
        p->joints[8 * v + 1] = 1;
        p->joints[8 * v + 6] = 2;
        p->weights[8 * v] = 0.5f;
        p->weights[8 * v + 1] = 0.25f;
        p->weights[8 * v + 6] = 0.25f;
    }
    p->targets = several(2, sizeof *p->targets);
    p->targets[0].positions = COPY(float, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1e-7f);
    p->targets[0].normals = COPY(float, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, -1);
    p->targets[1].tangents = COPY(float, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, -1);
    p = &mesh->primitives[1];
    p->mode = EX_SCENE_TRIANGLES;
    p->material = -1;
    p->vertex_count = 3;
    p->positions = COPY(float, 5, 0, 0, 6, 0, 0, 5, 1, 0);
    p->index_count = 6;
    p->indices = COPY(int, 0, 1, 2, 2, 1, 0);
    p->influence_count = 4;
    p->joints = COPY(uint16_t, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0);
    p->weights = COPY(float, 1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0);
    p->targets = several(2, sizeof *p->targets);
    p->targets[0].positions = COPY(float, 1, 2, 3, 4, 5, 6, 7, 8, 9);
    p->targets[1].positions = COPY(float, 0, 0, 0, 0, 0, 0, 0, 0, 0.125f);
}

static void fill_nodes(ex_scene *scene) {
    assert_int_equal(ex_scene_add_node(scene, "child before parent", 1, -1), 0);
    assert_int_equal(ex_scene_add_node(scene, "root", -1, -1), 1);
    assert_int_equal(ex_scene_add_node(scene, NULL, 0, -1), 2);
    assert_int_equal(ex_scene_add_node(scene, "body", -1, 0), 3);
    assert_int_equal(ex_scene_add_node(scene, "points", 1, 1), 4);
    assert_int_equal(ex_scene_add_node(scene, "hidden", -1, 1), 5);
    scene->nodes[0].transform = (ex_scene_transform){{1, 2, 0.1}, {0, 0.6, 0, 0.8}, {1, 1, 2}};
    scene->nodes[3].skin = 0;
    scene->nodes[3].weight_count = 2;
    scene->nodes[3].weights = COPY(double, 0.3, 0);
    scene->nodes[5].hidden = true;
    scene->skin_count = 1;
    scene->skins = several(1, sizeof *scene->skins);
    scene->skins[0] = (ex_scene_skin){.name = text("skin"), .joint_count = 3, .skeleton = 1};
    scene->skins[0].joints = COPY(int, 1, 0, 2);
    scene->skins[0].inverse_binds = several(48, sizeof(float));
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 4; i++)
            scene->skins[0].inverse_binds[16 * j + 5 * i] = 1;
    scene->skins[0].inverse_binds[12] = -0.5f;
}

static void fill_animations(ex_scene *scene) {
    scene->animation_count = 2;
    scene->animations = several(2, sizeof *scene->animations);
    scene->animations[0].name = text("walk");
    scene->animations[0].channel_count = 3;
    scene->animations[0].channels = several(3, sizeof(ex_scene_channel));
    ex_scene_channel *c = scene->animations[0].channels;
    c[0] = (ex_scene_channel){
        .node = 0, .path = EX_SCENE_ROTATION, .interpolation = EX_SCENE_LINEAR, .key_count = 2, .width = 4};
    c[0].times = COPY(float, 0.5f, 1.5f);
    c[0].values = COPY(float, 0, 0, 0, 1, 0, 0, 1, 0);
    c[1] = (ex_scene_channel){
        .node = 2, .path = EX_SCENE_TRANSLATION, .interpolation = EX_SCENE_CUBICSPLINE, .key_count = 2, .width = 3};
    c[1].times = COPY(float, 0.5f, 1.5f);
    c[1].values = COPY(float, 9, 9, 9, 0, 0, 0, 1, 0, 0, 0, 2, 0, 1, 1, 1, 9, 9, 9);
    c[2] = (ex_scene_channel){
        .node = 3, .path = EX_SCENE_WEIGHTS, .interpolation = EX_SCENE_STEP, .key_count = 3, .width = 2};
    c[2].times = COPY(float, 0, 1, 2);
    c[2].values = COPY(float, 0, 1, 0.5f, 0.25f, 1, 0);
    scene->animations[1].channel_count = 1;
    scene->animations[1].channels = several(1, sizeof(ex_scene_channel));
    c = scene->animations[1].channels;
    c[0] = (ex_scene_channel){
        .node = 1, .path = EX_SCENE_SCALE, .interpolation = EX_SCENE_LINEAR, .key_count = 1, .width = 3};
    c[0].times = COPY(float, 0);
    c[0].values = COPY(float, 2, 2, 2);
}

static void fill_looks(ex_scene *scene) {
    scene->image_count = 1;
    scene->images = several(1, sizeof *scene->images);
    scene->images[0] = (ex_scene_image){.name = text("picture"), .mime_type = text("image/png"), .size = 9};
    scene->images[0].bytes = copy_of("\x89PNG\r\n\x1A\nx", 9);
    scene->texture_count = 2;
    scene->textures = several(2, sizeof *scene->textures);
    scene->textures[0] = (ex_scene_texture){.image = 0, .mag_filter = 9729, .wrap_s = 33071};
    scene->textures[1] = (ex_scene_texture){.name = text("plain"), .image = 0, .rest = text("{\"extras\":{\"a\":1}}")};
    scene->material_count = 2;
    scene->materials = several(2, sizeof *scene->materials);
    scene->materials[0] = (ex_scene_material){
        .base_colour = {1, 1, 1, 1}, .base_texture = -1, .metallic = 1, .roughness = 1, .alpha_cutoff = 0.5};
    scene->materials[1] = (ex_scene_material){.name = text("cloth"),
                                              .base_colour = {0.5, 0.1, 1, 1},
                                              .base_texture = 1,
                                              .base_texcoord = 1,
                                              .metallic = 0,
                                              .roughness = 0.3,
                                              .double_sided = true,
                                              .alpha = EX_SCENE_MASK,
                                              .alpha_cutoff = 0.75};
    scene->materials[1].rest = text("{\"pbrMetallicRoughness\":{\"baseColorTexture\":{\"extensions\":"
                                    "{\"KHR_texture_transform\":{\"scale\":[2,2]}}}},\"emissiveFactor\":[0.1,0.2,1]}");
    scene->required_count = 1;
    scene->required = several(1, sizeof *scene->required);
    scene->required[0] = text("KHR_texture_transform");
}

ex_scene *scene_with_everything(void) {
    ex_scene *scene = ex_scene_create();
    assert_non_null(scene);
    scene->copyright = text("nobody");
    scene->mesh_count = 2;
    scene->meshes = several(2, sizeof *scene->meshes);
    fill_first_mesh(&scene->meshes[0]);
    ex_scene_mesh *points = &scene->meshes[1];
    points->primitive_count = 1;
    points->primitives = several(1, sizeof *points->primitives);
    points->primitives[0] = (ex_scene_primitive){.mode = EX_SCENE_POINTS, .material = 0, .vertex_count = 2};
    points->primitives[0].positions = COPY(float, 0, 0, 0, 1, 2, 3);
    fill_nodes(scene);
    fill_animations(scene);
    fill_looks(scene);
    return scene;
}

/* ---- comparing ---- */

static bool differ(const char *what, int number) {
    fprintf(stderr, "the scenes differ in %s %d\n", what, number);
    return false;
}

static bool same_bytes(const void *a, const void *b, size_t size) {
    return (a == NULL) == (b == NULL) && (!a || memcmp(a, b, size) == 0);
}

/* Compares values: −0 equals 0, for example if a target that moves few vertices was written sparsely. */
static bool same_values(const float *a, const float *b, size_t count) {
    if (!a || !b)
        return a == b;
    for (size_t i = 0; i < count; i++)
        if (a[i] != b[i])
            return false;
    return true;
}

static bool same_text(const char *a, const char *b) {
    return (a == NULL) == (b == NULL) && (!a || strcmp(a, b) == 0);
}

static bool same_primitive(const ex_scene_primitive *a, const ex_scene_primitive *b, int target_count) {
    const size_t count = (size_t)a->vertex_count;
    size_t n = count * sizeof(float), influences = (size_t)a->influence_count;
    if (a->mode != b->mode || a->material != b->material || a->vertex_count != b->vertex_count ||
        a->influence_count != b->influence_count || a->index_count != b->index_count ||
        !same_bytes(a->positions, b->positions, 3 * n) || !same_bytes(a->normals, b->normals, 3 * n) ||
        !same_bytes(a->tangents, b->tangents, 4 * n) || !same_bytes(a->texcoords[0], b->texcoords[0], 2 * n) ||
        !same_bytes(a->texcoords[1], b->texcoords[1], 2 * n) || !same_bytes(a->colours, b->colours, 4 * n) ||
        !same_bytes(a->joints, b->joints, influences * n / 2) || !same_bytes(a->weights, b->weights, influences * n) ||
        !same_bytes(a->indices, b->indices, (size_t)a->index_count * sizeof(int)))
        return false;
    for (int t = 0; t < target_count; t++)
        if (!same_values(a->targets[t].positions, b->targets[t].positions, 3 * count) ||
            !same_values(a->targets[t].normals, b->targets[t].normals, 3 * count) ||
            !same_values(a->targets[t].tangents, b->targets[t].tangents, 3 * count))
            return false;
    return true;
}

static bool same_mesh(const ex_scene_mesh *a, const ex_scene_mesh *b) {
    if (!same_text(a->name, b->name) || a->primitive_count != b->primitive_count ||
        a->target_count != b->target_count ||
        !same_bytes(a->weights, b->weights, (size_t)a->target_count * sizeof(double)) ||
        (a->target_names == NULL) != (b->target_names == NULL))
        return false;
    for (int t = 0; a->target_names && t < a->target_count; t++)
        if (!same_text(a->target_names[t], b->target_names[t]))
            return false;
    for (int p = 0; p < a->primitive_count; p++)
        if (!same_primitive(&a->primitives[p], &b->primitives[p], a->target_count))
            return differ("primitive", p);
    return true;
}

static bool same_node(const ex_scene_node *a, const ex_scene_node *b) {
    return same_text(a->name, b->name) && a->parent == b->parent && a->mesh == b->mesh && a->skin == b->skin &&
           memcmp(&a->transform, &b->transform, sizeof a->transform) == 0 && a->hidden == b->hidden &&
           a->weight_count == b->weight_count &&
           same_bytes(a->weights, b->weights, (size_t)a->weight_count * sizeof(double));
}

static bool same_skin(const ex_scene_skin *a, const ex_scene_skin *b) {
    return same_text(a->name, b->name) && a->joint_count == b->joint_count && a->skeleton == b->skeleton &&
           same_bytes(a->joints, b->joints, (size_t)a->joint_count * sizeof(int)) &&
           same_bytes(a->inverse_binds, b->inverse_binds, (size_t)a->joint_count * 16 * sizeof(float));
}

static bool same_animation(const ex_scene_animation *a, const ex_scene_animation *b) {
    if (!same_text(a->name, b->name) || a->channel_count != b->channel_count)
        return false;
    for (int i = 0; i < a->channel_count; i++) {
        const ex_scene_channel *c = &a->channels[i], *d = &b->channels[i];
        size_t keys = (size_t)c->key_count * sizeof(float);
        if (c->node != d->node || c->path != d->path || c->interpolation != d->interpolation ||
            c->key_count != d->key_count || c->width != d->width || !same_bytes(c->times, d->times, keys) ||
            !same_bytes(c->values, d->values,
                        keys * (size_t)c->width * (c->interpolation == EX_SCENE_CUBICSPLINE ? 3 : 1)))
            return false;
    }
    return true;
}

static bool same_material(const ex_scene_material *a, const ex_scene_material *b) {
    return same_text(a->name, b->name) && memcmp(a->base_colour, b->base_colour, sizeof a->base_colour) == 0 &&
           a->base_texture == b->base_texture && a->base_texcoord == b->base_texcoord && a->metallic == b->metallic &&
           a->roughness == b->roughness && a->double_sided == b->double_sided && a->alpha == b->alpha &&
           a->alpha_cutoff == b->alpha_cutoff && same_text(a->rest, b->rest);
}

static bool same_texture(const ex_scene_texture *a, const ex_scene_texture *b) {
    return same_text(a->name, b->name) && a->image == b->image && a->mag_filter == b->mag_filter &&
           a->min_filter == b->min_filter && a->wrap_s == b->wrap_s && a->wrap_t == b->wrap_t &&
           same_text(a->rest, b->rest);
}

static bool same_image(const ex_scene_image *a, const ex_scene_image *b) {
    return same_text(a->name, b->name) && same_text(a->path, b->path) && same_text(a->mime_type, b->mime_type) &&
           a->size == b->size && same_bytes(a->bytes, b->bytes, a->size);
}

bool scenes_are_same(const ex_scene *a, const ex_scene *b) {
    if (!same_text(a->copyright, b->copyright) || a->node_count != b->node_count || a->mesh_count != b->mesh_count ||
        a->skin_count != b->skin_count || a->animation_count != b->animation_count ||
        a->material_count != b->material_count || a->texture_count != b->texture_count ||
        a->image_count != b->image_count || a->required_count != b->required_count)
        return differ("counts", 0);
    for (int i = 0; i < a->node_count; i++)
        if (!same_node(&a->nodes[i], &b->nodes[i]))
            return differ("node", i);
    for (int i = 0; i < a->mesh_count; i++)
        if (!same_mesh(&a->meshes[i], &b->meshes[i]))
            return differ("mesh", i);
    for (int i = 0; i < a->skin_count; i++)
        if (!same_skin(&a->skins[i], &b->skins[i]))
            return differ("skin", i);
    for (int i = 0; i < a->animation_count; i++)
        if (!same_animation(&a->animations[i], &b->animations[i]))
            return differ("animation", i);
    for (int i = 0; i < a->material_count; i++)
        if (!same_material(&a->materials[i], &b->materials[i]))
            return differ("material", i);
    for (int i = 0; i < a->texture_count; i++)
        if (!same_texture(&a->textures[i], &b->textures[i]))
            return differ("texture", i);
    for (int i = 0; i < a->image_count; i++)
        if (!same_image(&a->images[i], &b->images[i]))
            return differ("image", i);
    for (int i = 0; i < a->required_count; i++)
        if (!same_text(a->required[i], b->required[i]))
            return differ("required extension", i);
    return true;
}

/* ---- a small file ---- */

const char little_json[] =
    "{\"asset\":{\"version\":\"2.0\"},\"scene\":0,\"scenes\":[{\"nodes\":[0,1]}],"
    "\"nodes\":[{\"mesh\":0,\"skin\":0,\"name\":\"skin\"},{\"children\":[2],\"translation\":[0,1,0]},"
    "{\"rotation\":[0,0,0,1],\"scale\":[1,2,1]}],"
    "\"skins\":[{\"joints\":[1,2],\"inverseBindMatrices\":6}],"
    "\"meshes\":[{\"weights\":[0.5],\"primitives\":[{\"attributes\":{\"POSITION\":0,\"JOINTS_0\":2,\"WEIGHTS_0\":3},"
    "\"indices\":1,\"targets\":[{\"POSITION\":7}]}]}],"
    "\"animations\":[{\"channels\":[{\"sampler\":0,\"target\":{\"node\":2,\"path\":\"rotation\"}}],"
    "\"samplers\":[{\"input\":4,\"output\":5,\"interpolation\":\"LINEAR\"}]}],"
    "\"accessors\":["
    "{\"bufferView\":0,\"componentType\":5126,\"count\":3,\"type\":\"VEC3\"},"
    "{\"bufferView\":1,\"componentType\":5123,\"count\":3,\"type\":\"SCALAR\"},"
    "{\"bufferView\":2,\"componentType\":5121,\"count\":3,\"type\":\"VEC4\"},"
    "{\"bufferView\":3,\"componentType\":5126,\"count\":3,\"type\":\"VEC4\"},"
    "{\"bufferView\":5,\"componentType\":5126,\"count\":2,\"type\":\"SCALAR\"},"
    "{\"bufferView\":6,\"componentType\":5126,\"count\":2,\"type\":\"VEC4\"},"
    "{\"bufferView\":7,\"componentType\":5126,\"count\":2,\"type\":\"MAT4\"},"
    "{\"bufferView\":4,\"componentType\":5126,\"count\":3,\"type\":\"VEC3\",\"sparse\":{\"count\":1,"
    "\"indices\":{\"bufferView\":8,\"componentType\":5123},\"values\":{\"bufferView\":9}}}],"
    "\"bufferViews\":["
    "{\"buffer\":0,\"byteOffset\":0,\"byteLength\":36},{\"buffer\":0,\"byteOffset\":36,\"byteLength\":6},"
    "{\"buffer\":0,\"byteOffset\":44,\"byteLength\":12},{\"buffer\":0,\"byteOffset\":56,\"byteLength\":48},"
    "{\"buffer\":0,\"byteOffset\":104,\"byteLength\":36},{\"buffer\":0,\"byteOffset\":140,\"byteLength\":8},"
    "{\"buffer\":0,\"byteOffset\":148,\"byteLength\":32},{\"buffer\":0,\"byteOffset\":180,\"byteLength\":128},"
    "{\"buffer\":0,\"byteOffset\":308,\"byteLength\":2},{\"buffer\":0,\"byteOffset\":312,\"byteLength\":12}],"
    "\"buffers\":[{\"byteLength\":324}]}";

void little_buffer(unsigned char buffer[LITTLE_SIZE]) {
    static const float positions[9] = {0, 0, 0, 1, 0, 0, 0, 1, 0}, times[2] = {0, 2}, sparse[3] = {7, 8, 9};
    static const float weights[12] = {1, 0, 0, 0, 0.5f, 0.5f, 0, 0, 0.25f, 0.75f, 0, 0};
    static const float target[9] = {0, 0, 1, 0, 0, 2, 0, 0, 3}, rotations[8] = {0, 0, 0, 1, 0, 0, 1, 0};
    static const uint16_t indices[3] = {0, 1, 2}, sparse_index = 1;
    static const uint8_t joints[12] = {0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0};
    float binds[32] = {0};
    for (int i = 0; i < 8; i++)
        binds[i / 4 * 16 + i % 4 * 5] = 1;
    memset(buffer, 0, LITTLE_SIZE);
    memcpy(buffer, positions, sizeof positions);
    memcpy(buffer + 36, indices, sizeof indices);
    memcpy(buffer + 44, joints, sizeof joints);
    memcpy(buffer + 56, weights, sizeof weights);
    memcpy(buffer + 104, target, sizeof target);
    memcpy(buffer + 140, times, sizeof times);
    memcpy(buffer + 148, rotations, sizeof rotations);
    memcpy(buffer + 180, binds, sizeof binds);
    memcpy(buffer + 308, &sparse_index, sizeof sparse_index);
    memcpy(buffer + 312, sparse, sizeof sparse);
}

static void put_u32(char *at, size_t value) {
    uint32_t number = (uint32_t)value;
    memcpy(at, &number, sizeof number);
}

char *make_glb(const char *json, const void *bin, size_t bin_size, size_t *size) {
    size_t json_size = (strlen(json) + 3) / 4 * 4;
    *size = 12 + 8 + json_size + (bin ? 8 + bin_size : 0);
    char *glb = malloc(*size);
    assert_non_null(glb);
    memcpy(glb, "glTF\2\0\0\0", 8);
    put_u32(glb + 8, *size);
    put_u32(glb + 12, json_size);
    memcpy(glb + 16, "JSON", 4);
    memset(glb + 20, ' ', json_size);
    memcpy(glb + 20, json, strlen(json));
    if (bin) {
        put_u32(glb + 20 + json_size, bin_size);
        memcpy(glb + 24 + json_size, "BIN\0", 4);
        memcpy(glb + 28 + json_size, bin, bin_size);
    }
    return glb;
}

char *replace_text(const char *whole, const char *find, const char *by) {
    const char *at = strstr(whole, find);
    if (!at)
        fail_msg("'%s' is not in the text", find);
    char *made = malloc(strlen(whole) - strlen(find) + strlen(by) + 1);
    assert_non_null(made);
    memcpy(made, whole, (size_t)(at - whole));
    strcpy(made + (at - whole), by);
    strcat(made, at + strlen(find));
    return made;
}

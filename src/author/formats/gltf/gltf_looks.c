/*
 * Reads materials, textures and images: the parts that Exemplar uses as values, the rest as the original JSON.
 */
#define _XOPEN_SOURCE 700

#include "author/formats/gltf/gltf_reader.h"

#include "author/base/array.h"
#include "author/base/json.h"

#include <exemplar/author/files.h>

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Prints the remaining keys of an object as text; NULL if there are none. */
static ex_result print_rest(const exi_gltf *g, const json_t *object, char **rest) {
    *rest = NULL;
    if (json_object_size(object) == 0)
        return EX_OK;
    exi_text text = {0};
    exi_json_print(object, false, &text);
    if (text.failed) {
        free(text.bytes);
        return exi_gltf_no_memory(g);
    }
    *rest = text.bytes;
    return EX_OK;
}

static void remove_empty(json_t *object, const char *key) {
    json_t *value = json_object_get(object, key);
    if (value && json_object_size(value) == 0)
        json_object_del(object, key);
}

/* ---- materials ---- */

static ex_result read_alpha(const exi_gltf *g, const json_t *json, ex_scene_material *material, const char *where) {
    static const char *const words[] = {"OPAQUE", "MASK", "BLEND"};
    const json_t *mode = json_object_get(json, "alphaMode");
    if (!mode)
        return EX_OK;
    for (int i = 0; i < 3; i++)
        if (json_is_string(mode) && strcmp(json_string_value(mode), words[i]) == 0) {
            material->alpha = (ex_scene_alpha)i;
            return EX_OK;
        }
    return exi_gltf_fail(g, EX_ERROR_DATA, where, "alphaMode is not OPAQUE, MASK or BLEND");
}

static ex_result read_surface(const exi_gltf *g, const json_t *surface, ex_scene_material *material,
                              const char *where) {
    json_t *texture = NULL;
    ex_result result = exi_gltf_get_numbers(g, surface, "baseColorFactor", 4, where, material->base_colour, NULL);
    if (result == EX_OK)
        result = exi_gltf_get_number(g, surface, "metallicFactor", where, &material->metallic);
    if (result == EX_OK)
        result = exi_gltf_get_number(g, surface, "roughnessFactor", where, &material->roughness);
    if (result == EX_OK)
        result = exi_gltf_get_object(g, surface, "baseColorTexture", where, &texture);
    if (result == EX_OK && texture)
        result = exi_gltf_get_reference(g, texture, "index", g->scene->texture_count, "texture", where,
                                        &material->base_texture);
    return result == EX_OK && texture
               ? exi_gltf_get_int(g, texture, "texCoord", 0, 255, where, &material->base_texcoord)
               : result;
}

static ex_result keep_rest(const exi_gltf *g, const json_t *json, ex_scene_material *material) {
    static const char *const taken[] = {"name", "alphaMode", "alphaCutoff", "doubleSided"};
    static const char *const surface_taken[] = {"baseColorFactor", "metallicFactor", "roughnessFactor"};
    json_t *rest = json_deep_copy(json);
    if (!rest)
        return exi_gltf_no_memory(g);
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
        json_object_del(rest, taken[i]);
    json_t *surface = json_object_get(rest, "pbrMetallicRoughness");
    json_t *texture = json_object_get(surface, "baseColorTexture");
    for (size_t i = 0; i < sizeof surface_taken / sizeof *surface_taken; i++)
        json_object_del(surface, surface_taken[i]);
    json_object_del(texture, "index");
    json_object_del(texture, "texCoord");
    remove_empty(surface, "baseColorTexture");
    remove_empty(rest, "pbrMetallicRoughness");
    ex_result result = print_rest(g, rest, &material->rest);
    json_decref(rest);
    return result;
}

/* Materials of older programs have their colours in an extension alone. Adds the base colour and roughness that are
 * nearest to them, so that all programs show them; *made is NULL if that is not needed. */
static ex_result add_core(exi_gltf *g, const json_t *json, const char *where, json_t **made) {
    const json_t *old = json_object_get(json_object_get(json, "extensions"), "KHR_materials_pbrSpecularGlossiness");
    *made = NULL;
    if (!json_is_object(old) || json_object_get(json, "pbrMetallicRoughness"))
        return EX_OK;
    const json_t *gloss = json_object_get(old, "glossinessFactor");
    const double roughness = json_is_number(gloss) ? fmin(fmax(1 - json_number_value(gloss), 0), 1) : 0;
    json_t *core = json_object(), *colour = json_object_get(old, "diffuseFactor"),
           *texture = json_object_get(old, "diffuseTexture");
    bool good = exi_json_set(core, "metallicFactor", json_integer(0)) &&
                exi_json_set(core, "roughnessFactor", json_real(roughness)) &&
                (!colour || exi_json_set(core, "baseColorFactor", json_deep_copy(colour))) &&
                (!texture || exi_json_set(core, "baseColorTexture", json_deep_copy(texture)));
    *made = json_deep_copy(json);
    good = good && *made && json_object_set(*made, "pbrMetallicRoughness", core) == 0;
    json_decref(core);
    good = good && exi_scene_note(g->scene,
                                  "%s: its diffuse colour and glossiness (KHR_materials_pbrSpecularGlossiness) are "
                                  "taken as base colour and roughness",
                                  where);
    return good ? EX_OK : exi_gltf_no_memory(g);
}

static ex_result read_core_material(exi_gltf *g, const json_t *json, ex_scene_material *material, const char *where) {
    json_t *surface = NULL;
    ex_result result = exi_gltf_get_text(g, json, "name", where, &material->name);
    if (result == EX_OK)
        result = exi_gltf_get_object(g, json, "pbrMetallicRoughness", where, &surface);
    if (result == EX_OK)
        result = read_surface(g, surface, material, where);
    if (result == EX_OK)
        result = exi_gltf_get_bool(g, json, "doubleSided", where, &material->double_sided);
    if (result == EX_OK)
        result = read_alpha(g, json, material, where);
    if (result == EX_OK)
        result = exi_gltf_get_number(g, json, "alphaCutoff", where, &material->alpha_cutoff);
    return result == EX_OK ? keep_rest(g, json, material) : result;
}

static ex_result read_material(exi_gltf *g, const json_t *json, ex_scene_material *material, int number) {
    char where[EXI_WHERE_SIZE];
    json_t *made = NULL;
    snprintf(where, sizeof where, "materials[%d]", number);
    *material = exi_scene_default_material();
    ex_result result = add_core(g, json, where, &made);
    if (result == EX_OK)
        result = read_core_material(g, made ? made : json, material, where);
    json_decref(made);
    return result;
}

/* ---- textures ---- */

static ex_result read_texture(exi_gltf *g, const json_t *json, ex_scene_texture *texture, int number) {
    static const struct {
        const char *key;
        size_t offset;
    } settings[] = {{"magFilter", offsetof(ex_scene_texture, mag_filter)},
                    {"minFilter", offsetof(ex_scene_texture, min_filter)},
                    {"wrapS", offsetof(ex_scene_texture, wrap_s)},
                    {"wrapT", offsetof(ex_scene_texture, wrap_t)}};
    char where[EXI_WHERE_SIZE];
    json_t *samplers;
    int sampler = -1, sampler_count;
    snprintf(where, sizeof where, "textures[%d]", number);
    texture->image = -1;
    ex_result result = exi_gltf_get_text(g, json, "name", where, &texture->name);
    if (result == EX_OK)
        result = exi_gltf_get_reference(g, json, "source", g->scene->image_count, "image", where, &texture->image);
    if (result == EX_OK)
        result = exi_gltf_get_array(g, g->root, "samplers", true, "", &samplers, &sampler_count);
    if (result == EX_OK)
        result = exi_gltf_get_reference(g, json, "sampler", sampler_count, "sampler", where, &sampler);
    if (texture->image >= 0 && g->lost_images[texture->image])
        texture->image = -1;
    const json_t *chosen = result == EX_OK && sampler >= 0 ? json_array_get(samplers, (size_t)sampler) : NULL;
    for (size_t i = 0; i < sizeof settings / sizeof *settings && result == EX_OK; i++)
        result = exi_gltf_get_int(g, chosen, settings[i].key, 9728, 33648, where,
                                  (int *)((char *)texture + settings[i].offset));
    if (result != EX_OK)
        return result;
    json_t *rest = json_deep_copy(json);
    if (!rest)
        return exi_gltf_no_memory(g);
    json_object_del(rest, "name");
    json_object_del(rest, "source");
    json_object_del(rest, "sampler");
    result = print_rest(g, rest, &texture->rest);
    json_decref(rest);
    return result;
}

/* ---- images ---- */

static ex_result copy_view(exi_gltf *g, int view, ex_scene_image *image, const char *where) {
    const unsigned char *bytes = NULL;
    size_t stride;
    ex_result result = exi_gltf_view(g, view, &bytes, &image->size, &stride);
    if (result != EX_OK)
        return result;
    result = exi_gltf_unfold(g, image->size, where);
    if (result != EX_OK)
        return result;
    image->bytes = exi_array_copy(bytes, image->size, 1);
    return image->bytes ? EX_OK : exi_gltf_no_memory(g);
}

/* Puts a white pixel in place of a picture that cannot be had: a file without a picture is better than none, and the
 * numbers of the others must stay. Textures do not use it (read_texture). */
static ex_result lose(exi_gltf *g, ex_scene_image *image, const char *uri, const char *why, const char *where) {
    unsigned char white[4] = {255, 255, 255, 255};
    const ex_image pixel = {.width = 1, .height = 1, .pixels = white};
    free(image->path);
    image->path = NULL;
    free(image->mime_type);
    image->mime_type = exi_text_copy("image/png", 9);
    const ex_result result = ex_image_encode(&pixel, &image->bytes, &image->size, NULL);
    return image->mime_type && result == EX_OK &&
                   exi_scene_note(g->scene, "%s: the picture '%.80s' %s, and is left out", where, uri, why)
               ? EX_OK
               : exi_gltf_no_memory(g);
}

/* A picture in a file of its own, beside this one. */
static ex_result find_file(exi_gltf *g, const char *uri, ex_scene_image *image, bool *lost, const char *where) {
    exi_gltf silent = *g; /* no error follows from this name */
    silent.error = NULL;
    ex_result result = exi_gltf_uri_to_path(&silent, uri, where, &image->path);
    if (result == EX_ERROR_DATA) {
        *lost = true;
        return lose(g, image, uri, "is not beside this file", where);
    }
    if (result != EX_OK)
        return exi_gltf_no_memory(g);
    if (!g->open_files)
        return EX_OK;
    struct stat status;
    char *path = ex_path_join(g->path, image->path);
    if (!path)
        return exi_gltf_no_memory(g);
    *lost = stat(path, &status) != 0 || !S_ISREG(status.st_mode);
    free(path);
    return *lost ? lose(g, image, uri, "cannot be found", where) : EX_OK;
}

static ex_result read_image(exi_gltf *g, const json_t *json, ex_scene_image *image, int number) {
    char where[EXI_WHERE_SIZE], *kind = NULL;
    int view = -1;
    snprintf(where, sizeof where, "images[%d]", number);
    ex_result result = exi_gltf_get_text(g, json, "name", where, &image->name);
    if (result == EX_OK)
        result = exi_gltf_get_text(g, json, "mimeType", where, &image->mime_type);
    if (result == EX_OK)
        result = exi_gltf_get_reference(g, json, "bufferView", g->view_count, "bufferView", where, &view);
    if (result != EX_OK)
        return result;
    const json_t *uri = json_object_get(json, "uri");
    if (view >= 0) {
        if (!image->mime_type)
            return exi_gltf_fail(g, EX_ERROR_DATA, where, "mimeType is missing");
        return copy_view(g, view, image, where);
    }
    if (!json_is_string(uri))
        return exi_gltf_fail(g, EX_ERROR_DATA, where, "has neither a bufferView nor a uri");
    if (!exi_gltf_is_data_uri(json_string_value(uri), &kind))
        return find_file(g, json_string_value(uri), image, &g->lost_images[number], where);
    if (!kind)
        return exi_gltf_no_memory(g);
    free(image->mime_type);
    image->mime_type = kind;
    return exi_gltf_open_uri(g, json_string_value(uri), where, &image->bytes, &image->size);
}

/* ---- reading all ---- */

typedef ex_result (*read_one)(exi_gltf *g, const json_t *json, void *item, int number);

static ex_result read_image_item(exi_gltf *g, const json_t *json, void *item, int number) {
    return read_image(g, json, item, number);
}

static ex_result read_texture_item(exi_gltf *g, const json_t *json, void *item, int number) {
    return read_texture(g, json, item, number);
}

static ex_result read_material_item(exi_gltf *g, const json_t *json, void *item, int number) {
    return read_material(g, json, item, number);
}

static ex_result read_list(exi_gltf *g, const char *key, size_t size, read_one read, void **items, int *item_count) {
    json_t *list;
    int count;
    ex_result result = exi_gltf_get_array(g, g->root, key, true, "", &list, &count);
    if (result != EX_OK || count == 0)
        return result;
    result = exi_gltf_allocate(g, count, size, items);
    for (int i = 0; i < count && result == EX_OK; i++) {
        *item_count = i + 1;
        result = read(g, json_array_get(list, (size_t)i), (char *)*items + (size_t)i * size, i);
    }
    return result;
}

ex_result exi_gltf_read_looks(exi_gltf *g) {
    ex_scene *scene = g->scene;
    void *items = NULL;
    const size_t most = json_array_size(json_object_get(g->root, "images"));
    ex_result result = exi_gltf_allocate(g, most < INT_MAX / 4 ? (int)most : 0, sizeof *g->lost_images, &items);
    g->lost_images = items;
    items = NULL;
    if (result == EX_OK)
        result = read_list(g, "images", sizeof *scene->images, read_image_item, &items, &scene->image_count);
    scene->images = items;
    items = NULL;
    if (result == EX_OK)
        result = read_list(g, "textures", sizeof *scene->textures, read_texture_item, &items, &scene->texture_count);
    scene->textures = items;
    items = NULL;
    if (result == EX_OK)
        result =
            read_list(g, "materials", sizeof *scene->materials, read_material_item, &items, &scene->material_count);
    scene->materials = items;
    return result;
}

/*
 * Writes materials, textures and images: values merged into the kept JSON, and the list of extensions that it uses.
 */
#include "author/base/array.h"
#include "author/base/json.h"
#include "author/formats/gltf/gltf_writer.h"

#include <exemplar/author/files.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- kept JSON ---- */

/* Collects names of extensions anywhere in a tree, each once, in order of appearance. */
static void note_extensions(exi_gltf_writer *w, json_t *value) {
    const char *key, *name;
    json_t *child, *extension;
    size_t index;
    if (json_is_array(value))
        json_array_foreach(value, index, child) note_extensions(w, child);
    if (!json_is_object(value))
        return;
    json_object_foreach(value, key, child) {
        if (strcmp(key, "extensions") == 0 && json_is_object(child))
            json_object_foreach(child, name, extension) if (!json_object_get(w->used, name))
                exi_gltf_set(w, w->used, name, json_true());
        note_extensions(w, child);
    }
}

static ex_result parse_rest(exi_gltf_writer *w, const char *rest, const char *what, int number, json_t **tree) {
    if (!rest)
        *tree = json_object();
    const ex_result result = rest ? exi_json_load(rest, strlen(rest), tree, NULL) : EX_OK;
    if (*tree && !json_is_object(*tree)) {
        json_decref(*tree);
        *tree = NULL;
    }
    if (!*tree && rest && result != EX_ERROR_MEMORY)
        return ex_error_set(w->error, EX_ERROR_DATA, "cannot write '%s': the rest of %s[%d] is not a JSON object",
                            w->path, what, number);
    if (!*tree)
        w->failed = true;
    else
        note_extensions(w, *tree);
    return EX_OK;
}

/* Adds the entries that the object lacks. jansson's json_object_update_missing drops some if memory runs out. */
static void add_missing(exi_gltf_writer *w, json_t *object, json_t *rest) {
    const char *key;
    json_t *value;
    json_object_foreach(rest, key, value) if (!json_object_get(object, key))
        exi_gltf_set(w, object, key, json_incref(value));
}

/* ---- materials ---- */

static void set_unless(exi_gltf_writer *w, json_t *object, const char *key, double value, double usual) {
    if (value != usual)
        exi_gltf_set(w, object, key, exi_gltf_number(value));
}

/* Takes a child object out of the kept tree, or makes a new one. */
static json_t *take(json_t *tree, const char *key) {
    json_t *child = json_object_get(tree, key);
    if (!json_is_object(child))
        return json_object();
    json_incref(child);
    json_object_del(tree, key);
    return child;
}

static json_t *make_surface(exi_gltf_writer *w, const ex_scene_material *material, json_t *rest) {
    json_t *surface = take(rest, "pbrMetallicRoughness"), *texture = take(surface, "baseColorTexture");
    w->failed = w->failed || !surface || !texture;
    const double *c = material->base_colour;
    if (c[0] != 1 || c[1] != 1 || c[2] != 1 || c[3] != 1)
        exi_gltf_set(w, surface, "baseColorFactor", exi_gltf_numbers(w, c, 4));
    if (material->base_texture >= 0) {
        exi_gltf_set(w, texture, "index", json_integer(material->base_texture));
        if (material->base_texcoord != 0)
            exi_gltf_set(w, texture, "texCoord", json_integer(material->base_texcoord));
        exi_gltf_set(w, surface, "baseColorTexture", texture);
    } else {
        json_decref(texture);
    }
    set_unless(w, surface, "metallicFactor", material->metallic, 1);
    set_unless(w, surface, "roughnessFactor", material->roughness, 1);
    return surface;
}

static ex_result write_material(exi_gltf_writer *w, int number, json_t *materials) {
    static const char *const modes[] = {"OPAQUE", "MASK", "BLEND"};
    const ex_scene_material *material = &w->scene->materials[number];
    json_t *rest, *out = json_object();
    ex_result result = parse_rest(w, material->rest, "materials", number, &rest);
    if (result != EX_OK || !rest) {
        json_decref(out);
        return result;
    }
    exi_gltf_set_name(w, out, material->name);
    exi_gltf_set_filled(w, out, "pbrMetallicRoughness", make_surface(w, material, rest));
    if (material->alpha != EX_SCENE_OPAQUE)
        exi_gltf_set(w, out, "alphaMode", json_string(modes[material->alpha]));
    if (material->alpha == EX_SCENE_MASK)
        set_unless(w, out, "alphaCutoff", material->alpha_cutoff, 0.5);
    if (material->double_sided)
        exi_gltf_set(w, out, "doubleSided", json_true());
    add_missing(w, out, rest);
    json_decref(rest);
    exi_gltf_append(w, materials, out);
    return EX_OK;
}

/* ---- textures ---- */

/* Returns the index of a sampler with these settings, adding it if necessary; -1 if there are no settings. */
static int find_sampler(exi_gltf_writer *w, const ex_scene_texture *texture, json_t *samplers) {
    const struct {
        const char *key;
        int value;
    } settings[] = {{"magFilter", texture->mag_filter},
                    {"minFilter", texture->min_filter},
                    {"wrapS", texture->wrap_s},
                    {"wrapT", texture->wrap_t}};
    json_t *sampler = json_object(), *other;
    size_t index;
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        if (settings[i].value != 0)
            exi_gltf_set(w, sampler, settings[i].key, json_integer(settings[i].value));
    w->failed = w->failed || !sampler;
    if (json_object_size(sampler) == 0) {
        json_decref(sampler);
        return -1;
    }
    json_array_foreach(samplers, index, other) {
        if (json_equal(sampler, other)) {
            json_decref(sampler);
            return (int)index;
        }
    }
    exi_gltf_append(w, samplers, sampler);
    return (int)json_array_size(samplers) - 1;
}

static ex_result write_texture(exi_gltf_writer *w, int number, json_t *textures, json_t *samplers) {
    const ex_scene_texture *texture = &w->scene->textures[number];
    json_t *rest;
    ex_result result = parse_rest(w, texture->rest, "textures", number, &rest);
    if (result != EX_OK || !rest)
        return result;
    json_t *out = json_object();
    exi_gltf_set_name(w, out, texture->name);
    int sampler = find_sampler(w, texture, samplers);
    if (sampler >= 0)
        exi_gltf_set(w, out, "sampler", json_integer(sampler));
    if (texture->image >= 0)
        exi_gltf_set(w, out, "source", json_integer(texture->image));
    add_missing(w, out, rest);
    json_decref(rest);
    exi_gltf_append(w, textures, out);
    return EX_OK;
}

/* ---- images ---- */

static bool is_unreserved(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || strchr("-._~/", c);
}

char *exi_gltf_path_to_uri(const char *path) {
    static const char digits[] = "0123456789ABCDEF";
    char *uri = exi_array_allocate(3 * strlen(path) + 1, 1), *out = uri;
    if (!uri)
        return NULL;
    for (const char *c = path; *c; c++) {
        if (is_unreserved(*c)) {
            *out++ = *c;
            continue;
        }
        *out++ = '%';
        *out++ = digits[(unsigned char)*c >> 4];
        *out++ = digits[(unsigned char)*c & 15];
    }
    *out = 0;
    return uri;
}

static ex_result embed_file(exi_gltf_writer *w, const ex_scene_image *image, int number, json_t *out) {
    char *path = ex_path_join(w->scene->path ? w->scene->path : "", image->path), *bytes = NULL;
    size_t size = 0;
    if (!path)
        return ex_error_memory(w->error, "an image", 0);
    ex_result result =
        ex_error_within(w->error, ex_file_read(path, &bytes, &size, w->error), "%s: images[%d]", w->path, number);
    const char *kind = result == EX_OK ? exi_image_type((const unsigned char *)bytes, size) : NULL;
    if (result == EX_OK && !kind)
        result =
            ex_error_set(w->error, EX_ERROR_DATA,
                         "%s: '%s' is not a PNG or JPEG picture, and glTF holds no others: convert it", w->path, path);
    if (result == EX_OK) {
        exi_gltf_set(w, out, "bufferView", json_integer(exi_gltf_add_view(w, bytes, size, EXI_GLTF_DATA)));
        exi_gltf_set(w, out, "mimeType", json_string(kind));
    }
    free(bytes);
    free(path);
    return result;
}

static ex_result write_image(exi_gltf_writer *w, int number, json_t *images) {
    const ex_scene_image *image = &w->scene->images[number];
    json_t *out = json_object();
    ex_result result = EX_OK;
    exi_gltf_set_name(w, out, image->name);
    if (image->bytes) {
        exi_gltf_set(w, out, "bufferView",
                     json_integer(exi_gltf_add_view(w, image->bytes, image->size, EXI_GLTF_DATA)));
        exi_gltf_set(w, out, "mimeType", json_string(image->mime_type));
    } else if (w->embed_files) {
        result = embed_file(w, image, number, out);
    } else if (exi_scene_path_leaves(image->path)) {
        result =
            ex_error_set(w->error, EX_ERROR_DATA,
                         "cannot write '%s': images[%d] is '%s', which is not beside it: write a .glb, which holds "
                         "its pictures, or copy them",
                         w->path, number, image->path);
    } else {
        char *uri = exi_gltf_path_to_uri(image->path);
        exi_gltf_set(w, out, "uri", uri ? json_string(uri) : NULL);
        if (image->mime_type)
            exi_gltf_set(w, out, "mimeType", json_string(image->mime_type));
        free(uri);
    }
    exi_gltf_append(w, images, out);
    return result;
}

ex_result exi_gltf_write_looks(exi_gltf_writer *w) {
    json_t *materials = json_array(), *textures = json_array(), *samplers = json_array(), *images = json_array();
    ex_result result = EX_OK;
    for (int i = 0; i < w->scene->material_count && result == EX_OK; i++)
        result = write_material(w, i, materials);
    for (int i = 0; i < w->scene->texture_count && result == EX_OK; i++)
        result = write_texture(w, i, textures, samplers);
    for (int i = 0; i < w->scene->image_count && result == EX_OK; i++)
        result = write_image(w, i, images);
    exi_gltf_set_filled(w, w->root, "materials", materials);
    exi_gltf_set_filled(w, w->root, "textures", textures);
    exi_gltf_set_filled(w, w->root, "samplers", samplers);
    exi_gltf_set_filled(w, w->root, "images", images);
    return result;
}

/*
 * Looks from the materials of a glTF scene. The scene has the common properties as values and keeps all others as JSON,
 * which is read here: further maps, factors and extensions. A texture without a sampler repeats (glTF 2.0, 5.26).
 */
#include "author/base/array.h"
#include "author/base/json.h"
#include "author/formats/scene/scene.h"
#include "runtime/base/result.h"

#include <exemplar/author/files.h>
#include <exemplar/author/formats.h>
#include <exemplar/author/looks.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Numbers that glTF uses for wrapping and filters. */
enum { GLTF_NEAREST = 9728, GLTF_CLAMP = 33071, GLTF_MIRROR = 33648 };

ex_material ex_material_default(void) {
    const ex_material_map map = {.scale = {1, 1}};
    return (ex_material){.colour = {1, 1, 1, 1},
                         .colour_map = map,
                         .roughness = 1,
                         .metallic_map = map,
                         .normal_scale = 1,
                         .normal_map = map,
                         .occlusion = 1,
                         .occlusion_map = map,
                         .emissive_map = map,
                         .alpha_cutoff = 0.5};
}

/* ---- images ---- */

typedef struct reading {
    const ex_scene *scene;
    ex_looks *looks;
    bool *tried; /* [image_count] */
    ex_error *error;
} reading;

static ex_result add_note(reading *r, const char *sentence) {
    char **grown = realloc(r->looks->notes, ((size_t)r->looks->note_count + 1) * sizeof *grown);
    char *copy = grown ? malloc(strlen(sentence) + 1) : NULL;
    r->looks->notes = grown ? grown : r->looks->notes;
    if (!copy)
        return ex_error_memory(r->error, "the looks", strlen(sentence));
    strcpy(copy, sentence);
    r->looks->notes[r->looks->note_count++] = copy;
    return EX_OK;
}

static ex_result decode(reading *r, int number) {
    const ex_scene_image *image = &r->scene->images[number];
    ex_error error = {.result = EX_OK};
    char name[160];
    snprintf(name, sizeof name, "the image %.100s",
             image->name   ? image->name
             : image->path ? image->path
                           : "of a material");
    ex_result result;
    if (image->bytes) {
        result = ex_image_parse(image->bytes, image->size, name, &r->looks->images[number], &error);
    } else {
        char *path = image->path && r->scene->path ? ex_path_join(r->scene->path, image->path) : NULL;
        result = path ? ex_image_read(path, &r->looks->images[number], &error)
                      : ex_error_set(&error, EX_ERROR_DATA, "%s has neither bytes nor a file", name);
        free(path);
    }
    if (result == EX_ERROR_MEMORY)
        return ex_error_memory(r->error, "an image of a material", image->size);
    return result == EX_OK ? EX_OK : add_note(r, error.text);
}

/* ---- maps ---- */

static double number_of(const json_t *object, const char *key, double usual) {
    const json_t *value = json_object_get(object, key);
    const double number = json_is_number(value) ? json_number_value(value) : usual;
    return isfinite(number) ? number : usual;
}

static void pair_of(const json_t *object, const char *key, double pair[2]) {
    const json_t *list = json_object_get(object, key);
    for (size_t i = 0; json_is_array(list) && json_array_size(list) == 2 && i < 2; i++) {
        const double number = json_number_value(json_array_get(list, i));
        pair[i] = isfinite(number) ? number : pair[i];
    }
}

static ex_wrap wrap_of(int gltf) {
    return gltf == GLTF_CLAMP ? EX_WRAP_CLAMP : gltf == GLTF_MIRROR ? EX_WRAP_MIRROR : EX_WRAP_REPEAT;
}

/* Returns the image of a texture, or that of an extension such as EXT_texture_webp if it has none that any program
 * reads; -1 without one. */
static int image_of(const reading *r, const ex_scene_texture *texture) {
    json_t *rest = NULL, *extension;
    const char *key;
    int image = texture->image;
    if (image < 0 && texture->rest && exi_json_load(texture->rest, strlen(texture->rest), &rest, NULL) == EX_OK)
        json_object_foreach(json_object_get(rest, "extensions"), key, extension) {
            const json_t *source = json_object_get(extension, "source");
            if (json_is_integer(source) && json_integer_value(source) < r->scene->image_count)
                image = (int)json_integer_value(source);
        }
    json_decref(rest);
    return image < r->scene->image_count ? image : -1;
}

/* Reads a map: the texture of that number, placed as the texture's own JSON says. */
static ex_result read_map(reading *r, int texture, const json_t *json, ex_material_map *map) {
    if (texture < 0 || texture >= r->scene->texture_count)
        return EX_OK;
    const ex_scene_texture *t = &r->scene->textures[texture];
    const json_t *moved = json_object_get(json_object_get(json, "extensions"), "KHR_texture_transform");
    map->wrap[0] = wrap_of(t->wrap_s);
    map->wrap[1] = wrap_of(t->wrap_t);
    map->nearest = t->mag_filter == GLTF_NEAREST;
    pair_of(moved, "offset", map->offset);
    pair_of(moved, "scale", map->scale);
    map->rotation = number_of(moved, "rotation", 0);
    const int image = image_of(r, t);
    if (image < 0)
        return EX_OK;
    ex_result result = EX_OK;
    if (!r->tried[image]) {
        r->tried[image] = true;
        result = decode(r, image);
    }
    map->image = r->looks->images[image];
    return result;
}

static ex_result read_named_map(reading *r, const json_t *object, const char *key, ex_material_map *map) {
    const json_t *json = json_object_get(object, key), *index = json_object_get(json, "index");
    return json_is_integer(index) ? read_map(r, (int)json_integer_value(index), json, map) : EX_OK;
}

/* ---- materials ---- */

/* Reads a colour of an extension, each number from 0 to 1; `usual` without one. */
static void colour_of(const json_t *object, const char *key, double usual, double colour[3]) {
    const json_t *list = json_object_get(object, key);
    for (size_t k = 0; k < 3; k++) {
        const json_t *value = json_is_array(list) ? json_array_get(list, k) : NULL;
        const double number = json_is_number(value) ? json_number_value(value) : usual;
        colour[k] = number > 0 ? number < 1 ? number : 1 : 0;
    }
}

/* Reads how a material scatters light, and the sheen of cloth; their images are not used. */
static void read_softness(const json_t *extensions, ex_material *look) {
    const json_t *skin = json_object_get(extensions, "KHR_materials_diffuse_transmission");
    const json_t *cloth = json_object_get(extensions, "KHR_materials_sheen");
    const double factor = number_of(skin, "diffuseTransmissionFactor", 0);
    if (skin)
        colour_of(skin, "diffuseTransmissionColorFactor", 1, look->scatter);
    for (int k = 0; k < 3; k++)
        look->scatter[k] *= factor > 0 ? factor < 1 ? factor : 1 : 0;
    if (cloth)
        colour_of(cloth, "sheenColorFactor", 0, look->sheen);
    look->sheen_roughness = number_of(cloth, "sheenRoughnessFactor", 0);
}

static ex_result read_rest(reading *r, const json_t *rest, ex_material *look) {
    const json_t *extensions = json_object_get(rest, "extensions");
    const json_t *list = json_object_get(rest, "emissiveFactor");
    const double strength =
        number_of(json_object_get(extensions, "KHR_materials_emissive_strength"), "emissiveStrength", 1);
    for (size_t k = 0; k < 3; k++) {
        const double factor = json_is_array(list) ? json_number_value(json_array_get(list, k)) : 0;
        look->emissive[k] = isfinite(factor * strength) && factor * strength > 0 ? factor * strength : 0;
    }
    look->unlit = json_object_get(extensions, "KHR_materials_unlit") != NULL;
    read_softness(extensions, look);
    look->normal_scale = number_of(json_object_get(rest, "normalTexture"), "scale", 1);
    look->occlusion = number_of(json_object_get(rest, "occlusionTexture"), "strength", 1);
    ex_result result = read_named_map(r, json_object_get(rest, "pbrMetallicRoughness"), "metallicRoughnessTexture",
                                      &look->metallic_map);
    if (result == EX_OK)
        result = read_named_map(r, rest, "normalTexture", &look->normal_map);
    if (result == EX_OK)
        result = read_named_map(r, rest, "occlusionTexture", &look->occlusion_map);
    return result == EX_OK ? read_named_map(r, rest, "emissiveTexture", &look->emissive_map) : result;
}

static ex_result read_look(reading *r, const ex_scene_material *material, ex_material *look) {
    json_t *rest = NULL;
    *look = ex_material_default();
    memcpy(look->colour, material->base_colour, sizeof look->colour);
    look->metallic = material->metallic;
    look->roughness = material->roughness;
    look->alpha = material->alpha;
    look->alpha_cutoff = material->alpha_cutoff;
    look->double_sided = material->double_sided;
    ex_result result =
        material->rest ? exi_json_parse(material->rest, strlen(material->rest), "a material", &rest, r->error) : EX_OK;
    if (result == EX_OK)
        result = read_map(r, material->base_texture,
                          json_object_get(json_object_get(rest, "pbrMetallicRoughness"), "baseColorTexture"),
                          &look->colour_map);
    if (result == EX_OK && rest)
        result = read_rest(r, rest, look);
    json_decref(rest);
    return result;
}

/* Reads a material without the transform of texture coordinates that forms of the scene already have. */
static ex_result read_settled(reading *r, const ex_scene_material *material, ex_material *look) {
    ex_scene_material settled = *material;
    int removed = 0;
    *look = ex_material_default();
    settled.rest = material->rest ? exi_text_copy(material->rest, strlen(material->rest)) : NULL;
    const bool good = (settled.rest || !material->rest) && exi_scene_settle_texcoords(&settled, &removed);
    const ex_result result = good ? read_look(r, &settled, look) : ex_error_memory(r->error, "the looks", 1);
    free(settled.rest);
    return result;
}

void ex_looks_destroy(ex_looks *looks) {
    if (!looks)
        return;
    for (int i = 0; looks->looks && i < looks->look_count; i++)
        free(looks->looks[i].name);
    for (int i = 0; looks->images && i < looks->image_count; i++)
        ex_image_destroy(looks->images[i]);
    for (int i = 0; i < looks->note_count; i++)
        free(looks->notes[i]);
    free(looks->looks);
    free(looks->images);
    free(looks->notes);
    free(looks);
}

ex_result ex_looks_from_scene(const ex_scene *scene, ex_looks **looks, ex_error *error) {
    if (!scene || !looks)
        return exi_misuse_error(error, "ex_looks_from_scene", "scene or looks is NULL");
    ex_looks *made = calloc(1, sizeof *made);
    reading r = {.scene = scene,
                 .looks = made,
                 .tried = calloc((size_t)scene->image_count + 1, sizeof *r.tried),
                 .error = error};
    *looks = NULL;
    if (made) {
        made->image_count = scene->image_count;
        made->images = calloc((size_t)scene->image_count + 1, sizeof *made->images);
        made->looks = calloc((size_t)scene->material_count + 1, sizeof *made->looks);
    }
    ex_result result = made && made->images && made->looks && r.tried ? EX_OK : ex_error_memory(error, "the looks", 0);
    char **names = result == EX_OK ? exi_scene_material_names(scene) : NULL;
    if (result == EX_OK && !names)
        result = ex_error_memory(error, "the looks", 0);
    for (int i = 0; names && i < scene->material_count; i++) {
        made->look_count = i + 1;
        if (result == EX_OK)
            result = ex_error_within(error, read_settled(&r, &scene->materials[i], &made->looks[i]), "material %d", i);
        made->looks[i].name = names[i];
    }
    free(names);
    free(r.tried);
    if (result == EX_OK)
        *looks = made;
    else
        ex_looks_destroy(made);
    return result;
}

int ex_looks_find(const ex_looks *looks, const char *name) {
    for (int i = 0; looks && name && i < looks->look_count; i++)
        if (strcmp(looks->looks[i].name, name) == 0)
            return i;
    return -1;
}

ex_result ex_looks_from_rig(const ex_rig *rig, ex_looks **looks, ex_error *error) {
    ex_scene *scene = NULL;
    if (!rig || !looks)
        return exi_misuse_error(error, "ex_looks_from_rig", "rig or looks is NULL");
    *looks = NULL;
    ex_result result = ex_rig_looks(rig, &scene, error);
    if (result == EX_OK && scene)
        result = ex_looks_from_scene(scene, looks, error);
    ex_scene_destroy(scene);
    return result;
}

ex_looks *ex_looks_share(const ex_looks *looks) {
    ex_looks *copy = calloc(1, sizeof *copy);
    ex_material *list = calloc((size_t)looks->look_count + 1, sizeof *list);
    bool good = copy && list;
    if (good)
        copy->looks = list;
    for (int i = 0; good && i < looks->look_count; i++) {
        char *name = malloc(strlen(looks->looks[i].name) + 1);
        list[i] = looks->looks[i];
        list[i].name = name;
        copy->look_count = i + 1;
        good = name != NULL;
        if (good)
            strcpy(name, looks->looks[i].name);
    }
    if (good)
        return copy;
    if (!copy)
        free(list);
    ex_looks_destroy(copy);
    return NULL;
}

int ex_looks_paint(ex_looks *looks, const char *texture, const ex_image *image) {
    static const char all[] = "base_color", one[] = "/base_color";
    const size_t size = strlen(texture), end = sizeof one - 1;
    const bool named = size > end && strcmp(texture + size - end, one) == 0;
    int count = 0;
    for (int i = 0; looks && i < looks->look_count; i++) {
        const char *name = looks->looks[i].name;
        if (strcmp(texture, all) != 0 &&
            !(named && strlen(name) == size - end && strncmp(name, texture, size - end) == 0))
            continue;
        looks->looks[i].colour_map.image = image;
        count++;
    }
    return count;
}

/*
 * Textures added to the materials of a scene, by their names in rigs: "base_color", or "MATERIAL/base_color".
 */
#include "author/formats/scene/scene.h"

#include "author/base/array.h"
#include "author/base/json.h"

#include <stdlib.h>
#include <string.h>

static const exi_texture_use uses[] = {{"base_color", "baseColorTexture", true},
                                       {"metallic_roughness", "metallicRoughnessTexture", true},
                                       {"normal", "normalTexture", false},
                                       {"occlusion", "occlusionTexture", false},
                                       {"emissive", "emissiveTexture", false}};

const exi_texture_use *exi_texture_use_of(const char *texture) {
    const char *slash = strrchr(texture, '/');
    for (size_t i = 0; i < sizeof uses / sizeof *uses; i++)
        if (strcmp(slash ? slash + 1 : texture, uses[i].texture) == 0)
            return &uses[i];
    return NULL;
}

bool exi_texture_is_for(const char *texture, const char *material) {
    const char *slash = strrchr(texture, '/');
    const size_t size = slash ? (size_t)(slash - texture) : 0;
    return !slash || (material && strlen(material) == size && memcmp(texture, material, size) == 0);
}

/* ---- adding ---- */

/* Adds a material for everything to a scene without any. */
static bool make_material(ex_scene *scene) {
    scene->materials = malloc(sizeof *scene->materials);
    if (!scene->materials)
        return false;
    scene->materials[0] = exi_scene_default_material();
    scene->materials[0].metallic = 0;
    scene->material_count = 1;
    for (int m = 0; m < scene->mesh_count; m++)
        for (int i = 0; i < scene->meshes[m].primitive_count; i++)
            scene->meshes[m].primitives[i].material = 0;
    return true;
}

/* Takes the bytes over, also on failure. */
static bool add_image(ex_scene *scene, unsigned char *bytes, size_t size) {
    ex_scene_image *images = realloc(scene->images, ((size_t)scene->image_count + 1) * sizeof *images);
    if (images)
        scene->images = images;
    ex_scene_texture *textures = realloc(scene->textures, ((size_t)scene->texture_count + 1) * sizeof *textures);
    if (textures)
        scene->textures = textures;
    char *type = exi_text_copy("image/png", 9);
    if (!images || !textures || !type) {
        free(bytes);
        free(type);
        return false;
    }
    images[scene->image_count] = (ex_scene_image){.mime_type = type, .size = size, .bytes = bytes};
    textures[scene->texture_count++] = (ex_scene_texture){.image = scene->image_count++};
    return true;
}

static bool set_index(json_t *object, const char *key, int texture) {
    json_t *info = json_object_get(object, key);
    if (!info && !exi_json_set(object, key, json_object()))
        return false;
    return exi_json_set(json_object_get(object, key), "index", json_integer(texture));
}

/* Sets a texture among the properties that are kept as JSON text. */
static bool set_rest(ex_scene_material *material, const exi_texture_use *use, int texture) {
    exi_text text = {0};
    json_t *rest = NULL, *object;
    if (!material->rest)
        rest = json_object();
    else if (exi_json_load(material->rest, strlen(material->rest), &rest, NULL) != EX_OK)
        return false;
    object = rest;
    bool good = rest != NULL;
    if (good && use->within_pbr) {
        if (!json_object_get(rest, "pbrMetallicRoughness"))
            good = exi_json_set(rest, "pbrMetallicRoughness", json_object());
        object = json_object_get(rest, "pbrMetallicRoughness");
    }
    good = good && set_index(object, use->key, texture);
    if (good && use == &uses[4] && !json_object_get(rest, "emissiveFactor"))
        good = exi_json_set(rest, "emissiveFactor", json_pack("[i, i, i]", 1, 1, 1));
    if (good)
        exi_json_print(rest, false, &text);
    json_decref(rest);
    if (!good || text.failed) {
        free(text.bytes);
        return false;
    }
    free(material->rest);
    material->rest = text.bytes;
    return true;
}

ex_result exi_scene_add_texture(ex_scene *scene, const char *name, const ex_image *image, ex_error *error) {
    const exi_texture_use *use = exi_texture_use_of(name);
    unsigned char *bytes = NULL;
    size_t size = 0;
    if (!use)
        return EX_OK;
    ex_result result = ex_image_encode(image, &bytes, &size, error);
    if (result != EX_OK)
        return result;
    bool good = add_image(scene, bytes, size) && (scene->material_count > 0 || make_material(scene));
    for (int i = 0; good && i < scene->material_count; i++) {
        ex_scene_material *material = &scene->materials[i];
        if (!exi_texture_is_for(name, material->name))
            continue;
        if (use == &uses[0])
            material->base_texture = scene->texture_count - 1;
        else
            good = set_rest(material, use, scene->texture_count - 1);
        if (use == &uses[1] && material->metallic == 0)
            material->metallic = material->roughness = 1;
    }
    return good ? EX_OK : ex_error_memory(error, "a texture", size);
}

/*
 * Texture coordinates as a material uses them: KHR_texture_transform turns, scales and moves them, and may choose the
 * other set. Quantised files need it: their coordinates are integers, which the material scales back.
 *
 *   u' = u0 + c su u + s sv v        c, s: cosine and sine of the rotation
 *   v' = v0 − s su u + c sv v
 */
#include "author/formats/scene/scene.h"

#include "author/base/json.h"

#include <math.h>
#include <string.h>

static void get_pair(const json_t *object, const char *key, double pair[2]) {
    const json_t *list = json_object_get(object, key);
    for (size_t i = 0; i < 2; i++)
        if (json_is_number(json_array_get(list, i)))
            pair[i] = json_number_value(json_array_get(list, i));
}

static void apply_transform(const json_t *transform, exi_scene_texcoords *use) {
    double offset[2] = {0, 0}, scale[2] = {1, 1};
    const json_t *set = json_object_get(transform, "texCoord");
    get_pair(transform, "offset", offset);
    get_pair(transform, "scale", scale);
    const double angle = json_number_value(json_object_get(transform, "rotation"));
    const double c = cos(angle), s = sin(angle);
    *use = (exi_scene_texcoords){
        .set = json_is_integer(set) ? (int)json_integer_value(set) : use->set,
        .matrix = {{c * scale[0], s * scale[1], offset[0]}, {-s * scale[0], c * scale[1], offset[1]}}};
}

bool exi_scene_find_texcoords(const ex_scene_material *material, exi_scene_texcoords *use) {
    *use = (exi_scene_texcoords){.set = 0, .matrix = {{1, 0, 0}, {0, 1, 0}}};
    if (!material || material->base_texture < 0)
        return true;
    use->set = material->base_texcoord;
    if (!material->rest || !strstr(material->rest, "KHR_texture_transform"))
        return true;
    json_t *root;
    if (exi_json_load(material->rest, strlen(material->rest), &root, NULL) == EX_ERROR_MEMORY)
        return false;
    const json_t *texture = json_object_get(json_object_get(root, "pbrMetallicRoughness"), "baseColorTexture");
    const json_t *transform = json_object_get(json_object_get(texture, "extensions"), "KHR_texture_transform");
    if (json_is_object(transform))
        apply_transform(transform, use);
    json_decref(root);
    return true;
}

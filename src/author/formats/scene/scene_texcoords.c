/*
 * Texture coordinates as a material uses them. A texture may use the second set, and KHR_texture_transform turns,
 * scales and moves them. Quantised files need it: their coordinates are integers, which the material scales back.
 *
 *   u' = u0 + c su u + s sv v        c, s: cosine and sine of the rotation
 *   v' = v0 − s su u + c sv v
 *
 * A mesh has one set. It takes the one of the material's base colour, or else of its first texture. If all textures of
 * the material share one transform, the mesh has its result, so that other programs see the coordinates that pictures
 * are painted for. Otherwise transforms stay in the material.
 */
#include "author/formats/scene/scene.h"

#include "author/base/json.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Texture coordinates that differ by less are the same: by a sixtieth of a pixel in a picture 16384 pixels wide. */
#define SAME 1e-6F

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

/* ---- uses of textures in a material ---- */

/* True for the value of a key that is a use of a texture. */
static bool is_use(const char *key, const json_t *value) {
    const size_t size = strlen(key);
    return json_is_object(value) && size >= 7 && strcmp(key + size - 7, "Texture") == 0;
}

static const json_t *transform_of(const json_t *use) {
    return json_object_get(json_object_get(use, "extensions"), "KHR_texture_transform");
}

static int set_of(const json_t *use) {
    const json_t *moved = json_object_get(transform_of(use), "texCoord");
    return (int)json_integer_value(moved ? moved : json_object_get(use, "texCoord"));
}

/* The set and the transform that all uses have in common. */
typedef struct common {
    int set;
    const json_t *transform; /* or NULL */
    bool any, same;
} common;

static void add_use(common *c, int set, const json_t *transform) {
    if (!c->any)
        *c = (common){.set = set, .transform = transform, .any = true, .same = true};
    else
        c->same = c->same && set == c->set && (transform == c->transform || json_equal(transform, c->transform));
}

static void add_uses(common *c, const json_t *object, const json_t *base) {
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)object, key, value) {
        if (value != base && is_use(key, value))
            add_use(c, set_of(value), transform_of(value));
        else if (json_is_object(value))
            add_uses(c, value, base);
    }
}

/* The base colour, whose set is kept as a number, comes first. */
static common find_common(const ex_scene_material *material, const json_t *root) {
    const json_t *base = json_object_get(json_object_get(root, "pbrMetallicRoughness"), "baseColorTexture");
    const json_t *moved = json_object_get(transform_of(base), "texCoord");
    common c = {0};
    if (material->base_texture >= 0)
        add_use(&c, moved ? (int)json_integer_value(moved) : material->base_texcoord, transform_of(base));
    add_uses(&c, root, base);
    return c;
}

static bool load_rest(const ex_scene_material *material, json_t **root) {
    *root = NULL;
    return !material->rest || exi_json_load(material->rest, strlen(material->rest), root, NULL) != EX_ERROR_MEMORY;
}

/* Makes an object, which it releases, the rest of a material; NULL if it is empty. False without memory. */
static bool store_rest(ex_scene_material *material, json_t *root) {
    exi_text text = {0};
    if (json_object_size(root) > 0)
        exi_json_print(root, false, &text);
    json_decref(root);
    if (text.failed) {
        free(text.bytes);
        return false;
    }
    free(material->rest);
    material->rest = text.bytes;
    return true;
}

/* ---- a second set that is a copy ---- */

/* True if primitives have the material, and each of them the same coordinates in both sets. */
static bool has_copies(const ex_scene *scene, int material) {
    bool any = false;
    for (int m = 0; m < scene->mesh_count; m++)
        for (int i = 0; i < scene->meshes[m].primitive_count; i++) {
            const ex_scene_primitive *p = &scene->meshes[m].primitives[i];
            if (p->material != material)
                continue;
            any = true;
            if (!p->texcoords[0] || !p->texcoords[1])
                return false;
            for (size_t k = 0; k < 2 * (size_t)p->vertex_count; k++)
                if (!(fabsf(p->texcoords[0][k] - p->texcoords[1][k]) <= SAME))
                    return false;
        }
    return any;
}

/* Sets every use of the second set to the first. */
static void use_first(json_t *object) {
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value) {
        if (is_use(key, value) && set_of(value) == 1) {
            json_object_del(value, "texCoord");
            json_object_del(json_object_get(json_object_get(value, "extensions"), "KHR_texture_transform"), "texCoord");
        } else if (json_is_object(value)) {
            use_first(value);
        }
    }
}

bool exi_scene_merge_texcoords(ex_scene *scene) {
    for (int i = 0; i < scene->material_count; i++) {
        ex_scene_material *material = &scene->materials[i];
        json_t *root;
        if (!has_copies(scene, i))
            continue;
        material->base_texcoord = material->base_texcoord == 1 ? 0 : material->base_texcoord;
        if (!load_rest(material, &root))
            return false;
        if (!root)
            continue;
        use_first(root);
        if (!store_rest(material, root))
            return false;
    }
    return true;
}

/* ---- the set that a mesh gets ---- */

bool exi_scene_find_texcoords(const ex_scene_material *material, exi_scene_texcoords *use) {
    json_t *root;
    *use = (exi_scene_texcoords){.set = 0, .matrix = {{1, 0, 0}, {0, 1, 0}}};
    if (!material)
        return true;
    if (!load_rest(material, &root))
        return false;
    const common c = find_common(material, root);
    use->set = c.set;
    if (c.any && c.same && json_is_object(c.transform)) {
        apply_transform(c.transform, use);
        use->set = c.set;
    }
    json_decref(root);
    return true;
}

/* ---- after the mesh has them ---- */

static void drop_empty(json_t *object, const char *key) {
    const json_t *value = json_object_get(object, key);
    if (json_is_object(value) && json_object_size(value) == 0)
        json_object_del(object, key);
}

/* Returns the number of uses of other sets, which are removed. */
static int settle_uses(json_t *object, const json_t *base, int set, bool applied) {
    const char *key;
    json_t *value;
    void *next;
    int removed = 0;
    json_object_foreach_safe(object, next, key, value) {
        if (!is_use(key, value)) {
            removed += json_is_object(value) ? settle_uses(value, base, set, applied) : 0;
            continue;
        }
        if (value != base && set_of(value) != set) {
            json_object_del(object, key);
            removed++;
            continue;
        }
        json_t *extensions = json_object_get(value, "extensions");
        json_object_del(value, "texCoord");
        json_object_del(json_object_get(extensions, "KHR_texture_transform"), "texCoord");
        if (applied && extensions) {
            json_object_del(extensions, "KHR_texture_transform");
            drop_empty(value, "extensions");
        }
        drop_empty(object, key);
    }
    return removed;
}

bool exi_scene_settle_texcoords(ex_scene_material *material, int *removed) {
    json_t *root;
    *removed = 0;
    if (!load_rest(material, &root))
        return false;
    const common c = find_common(material, root);
    material->base_texcoord = 0;
    if (!root)
        return true;
    json_t *base = json_object_get(json_object_get(root, "pbrMetallicRoughness"), "baseColorTexture");
    *removed = settle_uses(root, base, c.set, c.same);
    drop_empty(root, "pbrMetallicRoughness");
    return store_rest(material, root);
}

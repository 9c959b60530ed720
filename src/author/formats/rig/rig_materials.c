/*
 * Materials of a rig file as viewers see them. The rig's looks are a .glb file among its attachments, so its images are
 * already in the binary part: the tree takes over the JSON of that file, with views that point there. Textures of pixel
 * layers replace the images of the materials, as they are at rest.
 */
#include "author/formats/rig/rig_tree.h"

#include "author/base/json.h"
#include "author/formats/scene/scene.h"

#include <string.h>

bool exi_rig_gltf_shows(const char *texture) {
    return exi_texture_use_of(texture) != NULL;
}

/* ---- the rig's looks ---- */

static size_t load_u32(const unsigned char *bytes) {
    return (size_t)bytes[0] | (size_t)bytes[1] << 8 | (size_t)bytes[2] << 16 | (size_t)bytes[3] << 24;
}

/* Returns the offset of the note's bytes in the binary part, and its section in *section. */
static size_t find_note(const exi_rig_tree *g, const char *kind, size_t *section) {
    for (int i = 0; i < g->section_count; i++) {
        const ex_section s = ex_pack_section(g->from->pack, i);
        if (s.kind != EX_SECTION_NOTE)
            continue;
        const ex_attachment note = ex_rig_attachment(g->from->rig, s.index);
        if (strcmp(note.kind, kind) == 0) {
            *section = s.offset;
            return s.offset + s.size - note.size;
        }
    }
    return 0;
}

/* Points the images of the file's tree at their bytes, which start at `bin` in the binary part and end at `end`. */
static void place_images(exi_rig_tree *g, json_t *looks, size_t bin, size_t end) {
    json_t *images = json_object_get(looks, "images"), *image;
    const json_t *views = json_object_get(looks, "bufferViews");
    size_t i;
    json_array_foreach(images, i, image) {
        const json_t *number = json_object_get(image, "bufferView");
        const json_t *view = json_array_get(views, (size_t)json_integer_value(number));
        const size_t offset = (size_t)json_integer_value(json_object_get(view, "byteOffset"));
        const size_t size = (size_t)json_integer_value(json_object_get(view, "byteLength"));
        if (number && view && size > 0 && bin <= end && offset <= end - bin && size <= end - bin - offset)
            exi_rig_tree_set(g, image, "bufferView", json_integer(exi_rig_tree_add_view(g, bin + offset, size, 0)));
    }
}

static void add_extensions(exi_rig_tree *g, const json_t *looks, const char *key) {
    json_t *names = json_object_get(looks, key), *own = json_object_get(g->root, key), *name;
    size_t i;
    if (json_array_size(names) == 0)
        return;
    if (!own) {
        exi_rig_tree_set(g, g->root, key, json_array());
        own = json_object_get(g->root, key);
    }
    json_array_foreach(names, i, name) exi_rig_tree_append(g, own, json_incref(name));
}

/* Takes over the looks, unless they are damaged: viewers then see none. */
static void add_looks(exi_rig_tree *g, const ex_attachment *note) {
    static const char *const lists[] = {"materials", "textures", "samplers", "images"};
    const unsigned char *bytes = note->data;
    size_t section = 0;
    const size_t offset = find_note(g, EXI_LOOKS_NOTE, &section),
                 json_size = note->size >= 20 ? load_u32(bytes + 12) : 0;
    json_t *looks = NULL;
    if (json_size == 0 || json_size > note->size - 20)
        return;
    const ex_result result = exi_json_load((const char *)bytes + 20, json_size, &looks, NULL);
    g->failed = g->failed || result == EX_ERROR_MEMORY;
    if (result != EX_OK)
        return;
    g->looks_offset = section;
    place_images(g, looks, offset + 20 + json_size + 8, offset + note->size);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        if (json_object_get(looks, lists[i]))
            exi_rig_tree_set(g, g->root, lists[i], json_incref(json_object_get(looks, lists[i])));
    add_extensions(g, looks, "extensionsUsed");
    add_extensions(g, looks, "extensionsRequired");
    json_decref(looks);
}

/* ---- pixel layers ---- */

/* Returns the list of that key in an object, made if it is missing. */
static json_t *list_of(exi_rig_tree *g, const char *key) {
    if (!json_object_get(g->root, key))
        exi_rig_tree_set(g, g->root, key, json_array());
    return json_object_get(g->root, key);
}

static json_t *object_of(exi_rig_tree *g, json_t *object, const char *key) {
    if (!json_object_get(object, key))
        exi_rig_tree_set(g, object, key, json_object());
    return json_object_get(object, key);
}

/* Without looks: a material for each that a face has, or one for all faces. Unless a texture says otherwise, skin and
 * cloth are not metallic. */
static void make_materials(exi_rig_tree *g) {
    json_t *materials = list_of(g, "materials");
    for (int i = 0; i < g->from->piece_count; i++)
        exi_rig_tree_append(g, materials,
                            g->from->pieces[i].material ? json_pack("{s:s}", "name", g->from->pieces[i].material)
                                                        : json_object());
    if (g->from->piece_count == 0)
        exi_rig_tree_append(g, materials, json_object());
    json_t *material;
    size_t i;
    json_array_foreach(materials, i, material) exi_rig_tree_set(
        g, material, "pbrMetallicRoughness", json_pack("{s:i, s:i}", "metallicFactor", 0, "roughnessFactor", 1));
}

/* Shows a texture on a material. With `bare` the material has only what its textures say. */
static void show(exi_rig_tree *g, json_t *material, const exi_texture_use *use, int texture, bool opaque, bool bare) {
    json_t *pbr = object_of(g, material, "pbrMetallicRoughness");
    json_t *info = object_of(g, use->within_pbr ? pbr : material, use->key);
    exi_rig_tree_set(g, info, "index", json_integer(texture));
    if (!bare)
        return;
    if (strcmp(use->texture, "metallic_roughness") == 0) {
        json_object_del(pbr, "metallicFactor");
        json_object_del(pbr, "roughnessFactor");
    }
    if (strcmp(use->texture, "emissive") == 0)
        exi_rig_tree_set(g, material, "emissiveFactor", json_pack("[i, i, i]", 1, 1, 1));
    if (strcmp(use->texture, "base_color") == 0 && !opaque)
        exi_rig_tree_set(g, material, "alphaMode", json_string("BLEND"));
}

static void add_picture(exi_rig_tree *g, const char *name, const exi_rig_picture *picture, bool bare) {
    const exi_texture_use *use = exi_texture_use_of(name);
    if (picture->size == 0 || !use)
        return;
    json_t *images = list_of(g, "images"), *textures = list_of(g, "textures");
    exi_rig_tree_append(g, images,
                        json_pack("{s:i, s:s}", "bufferView",
                                  exi_rig_tree_add_view(g, picture->offset, picture->size, 0), "mimeType",
                                  "image/png"));
    exi_rig_tree_append(g, textures, json_pack("{s:i}", "source", (int)json_array_size(images) - 1));
    json_t *materials = json_object_get(g->root, "materials"), *material;
    size_t i;
    json_array_foreach(materials, i,
                       material) if (exi_texture_is_for(name, json_string_value(json_object_get(material, "name"))))
        show(g, material, use, (int)json_array_size(textures) - 1, picture->opaque, bare);
}

void exi_rig_tree_add_materials(exi_rig_tree *g) {
    const ex_rig *rig = g->from->rig;
    const ex_attachment looks = exi_rig_find_attachment(rig, EXI_LOOKS_NOTE);
    bool shown = false;
    for (int i = 0; i < ex_rig_texture_count(rig); i++)
        shown = shown || (g->from->pictures[i].size > 0 && exi_texture_use_of(ex_rig_texture(rig, i).name));
    if (looks.data)
        add_looks(g, &looks);
    else if (shown)
        make_materials(g);
    for (int i = 0; i < ex_rig_texture_count(rig); i++)
        add_picture(g, ex_rig_texture(rig, i).name, &g->from->pictures[i], !looks.data);
}

int exi_rig_tree_find_material(const exi_rig_tree *g, const char *name) {
    json_t *materials = json_object_get(g->root, "materials"), *material;
    size_t i;
    json_array_foreach(materials, i, material) {
        const char *own = json_string_value(json_object_get(material, "name"));
        if (name ? own && strcmp(own, name) == 0 : !own)
            return (int)i;
    }
    return -1;
}

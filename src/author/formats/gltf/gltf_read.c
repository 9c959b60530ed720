/*
 * Reads glTF 2.0: the two containers (plain JSON, and GLB: section 4.4), the asset's version, extensions, and then
 * every part in the order in which parts refer to each other.
 */
#include "author/base/array.h"
#include "author/base/json.h"
#include "author/formats/foreign.h"
#include "author/formats/gltf/gltf_reader.h"

#include <exemplar/author/files.h>
#include <exemplar/author/formats.h>

#include <stdlib.h>
#include <string.h>

/* ---- the container ---- */

static size_t load_u32(const unsigned char *bytes) {
    return (size_t)bytes[0] | (size_t)bytes[1] << 8 | (size_t)bytes[2] << 16 | (size_t)bytes[3] << 24;
}

/* Finds the JSON chunk, which is the first, and the optional binary chunk, which is the second. */
static ex_result open_glb(exi_gltf *g, const unsigned char *bytes, size_t size, const unsigned char **json,
                          size_t *json_size) {
    if (size < 12)
        return exi_gltf_fail(g, EX_ERROR_FORMAT, NULL, "the file ends within its first 12 bytes");
    if (load_u32(bytes + 4) != 2)
        return exi_gltf_fail(g, EX_ERROR_VERSION, NULL, "is binary glTF of version %zu; only version 2 is supported",
                             load_u32(bytes + 4));
    size_t length = load_u32(bytes + 8), at = 12;
    if (length > size)
        return exi_gltf_fail(g, EX_ERROR_FORMAT, NULL, "is cut short: it should have %zu bytes and has %zu", length,
                             size);
    for (int chunk = 0; at + 8 <= length; chunk++) {
        size_t chunk_size = load_u32(bytes + at);
        const unsigned char *content = bytes + at + 8;
        if (chunk_size > length - at - 8)
            return exi_gltf_fail(g, EX_ERROR_FORMAT, NULL,
                                 "part %d (counting from 0) reaches beyond the end of the file", chunk);
        if (chunk == 0) {
            if (memcmp(bytes + at + 4, "JSON", 4) != 0)
                return exi_gltf_fail(g, EX_ERROR_FORMAT, NULL, "its first part is not the JSON part");
            *json = content;
            *json_size = chunk_size;
        } else if (chunk == 1 && memcmp(bytes + at + 4, "BIN", 4) == 0) {
            g->bin = content;
            g->bin_size = chunk_size;
        }
        at += 8 + chunk_size;
        at = at % 4 == 0 ? at : at + 4 - at % 4;
    }
    return *json ? EX_OK : exi_gltf_fail(g, EX_ERROR_FORMAT, NULL, "has no JSON part");
}

static ex_result open_container(exi_gltf *g, const unsigned char *bytes, size_t size) {
    const unsigned char *json = NULL;
    size_t json_size = 0;
    ex_result result = EX_OK;
    if (size == 0)
        return ex_error_set(g->error, EX_ERROR_FORMAT, "%s is empty", g->path);
    if (size >= 4 && memcmp(bytes, "glTF", 4) == 0) {
        result = open_glb(g, bytes, size, &json, &json_size);
    } else {
        json = bytes;
        json_size = size;
        if (size >= 3 && memcmp(bytes, "\xEF\xBB\xBF", 3) == 0) {
            json += 3;
            json_size -= 3;
        }
    }
    if (result != EX_OK)
        return result;
    json_error_t problem;
    result = exi_json_load((const char *)json, json_size, &g->root, &problem);
    if (result == EX_ERROR_MEMORY)
        return exi_gltf_no_memory(g);
    if (result != EX_OK)
        return ex_error_set(g->error, EX_ERROR_FORMAT, "%s:%d: %s", g->path, problem.line, problem.text);
    if (!json_is_object(g->root))
        return exi_gltf_fail(g, EX_ERROR_FORMAT, NULL, "is not a glTF file: its JSON is not an object");
    return EX_OK;
}

/* ---- asset and extensions ---- */

static ex_result read_asset(exi_gltf *g) {
    json_t *asset;
    ex_result result = exi_gltf_get_object(g, g->root, "asset", "", &asset);
    if (result != EX_OK)
        return result;
    const char *version = json_string_value(json_object_get(asset, "version"));
    const char *least = json_string_value(json_object_get(asset, "minVersion"));
    if (!version)
        return exi_gltf_fail(g, EX_ERROR_FORMAT, NULL, "is not a glTF file: asset.version is missing");
    if (strncmp(version, "2.", 2) != 0 || (least && strcmp(least, "2.0") != 0))
        return exi_gltf_fail(g, EX_ERROR_VERSION, NULL, "is glTF %.20s; only 2.0 is supported",
                             least ? least : version);
    return exi_gltf_get_text(g, asset, "copyright", "asset", &g->scene->copyright);
}

/* True for extensions that a file may require: those that do not affect meshes, nodes and motion, quantisation, which
 * only allows accessors that are read anyway, and compression. */
static bool can_read(const char *extension) {
    static const char *const names[] = {"EXT_meshopt_compression", "KHR_meshopt_compression",
                                        "KHR_mesh_quantization",   "KHR_texture_transform",
                                        "KHR_texture_basisu",      "EXT_texture_webp",
                                        "EXT_texture_avif",        "KHR_lights_punctual",
                                        "KHR_xmp_json_ld",         "EXEMPLAR_rig"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(extension, names[i]) == 0)
            return true;
    return strncmp(extension, "KHR_materials_", 14) == 0;
}

static ex_result read_extensions(exi_gltf *g) {
    ex_scene *scene = g->scene;
    json_t *required;
    int count;
    void *memory;
    ex_result result = exi_gltf_get_array(g, g->root, "extensionsRequired", false, "", &required, &count);
    if (result != EX_OK || count == 0)
        return result;
    result = exi_gltf_allocate(g, count, sizeof *scene->required, &memory);
    scene->required = memory;
    for (int i = 0; i < count && result == EX_OK; i++) {
        const char *name = json_string_value(json_array_get(required, (size_t)i));
        if (!name || !can_read(name))
            return exi_gltf_fail(g, EX_ERROR_DATA, NULL,
                                 "needs the extension %.60s, which is not supported: export without it",
                                 name ? name : "(not a text)");
        scene->required[i] = exi_text_copy(name, strlen(name));
        if (!scene->required[i])
            return exi_gltf_no_memory(g);
        scene->required_count = i + 1;
    }
    return result;
}

/* ---- the file ---- */

static ex_result read_arrays(exi_gltf *g) {
    void *memory = NULL;
    ex_result result = exi_gltf_get_array(g, g->root, "buffers", true, "", &g->buffer_list, &g->buffer_count);
    if (result == EX_OK)
        result = exi_gltf_get_array(g, g->root, "bufferViews", true, "", &g->view_list, &g->view_count);
    if (result == EX_OK)
        result = exi_gltf_get_array(g, g->root, "accessors", true, "", &g->accessor_list, &g->accessor_count);
    if (result == EX_OK)
        result = exi_gltf_allocate(g, g->buffer_count, sizeof *g->buffers, &memory);
    g->buffers = memory;
    memory = NULL;
    if (result == EX_OK)
        result = exi_gltf_allocate(g, g->view_count, sizeof *g->unpacked, &memory);
    g->unpacked = memory;
    return result;
}

static ex_result read_parts(exi_gltf *g, const unsigned char *bytes, size_t size) {
    static ex_result (*const parts[])(exi_gltf *) = {read_asset,          read_extensions,         read_arrays,
                                                     exi_gltf_read_looks, exi_gltf_read_meshes,    exi_gltf_read_nodes,
                                                     exi_gltf_read_skins, exi_gltf_read_animations};
    ex_result result = open_container(g, bytes, size);
    for (size_t i = 0; i < sizeof parts / sizeof *parts && result == EX_OK; i++)
        result = parts[i](g);
    return result == EX_OK ? ex_error_within(g->error, ex_scene_check(g->scene, g->error), "%s", g->path) : result;
}

ex_result ex_scene_parse(const void *bytes, size_t size, const char *name, bool open_files, ex_scene **scene,
                         ex_error *error) {
    *scene = NULL;
    exi_gltf g = {.path = name, .open_files = open_files, .error = error, .file_size = size};
    g.budget = size < SIZE_MAX / 2 / EXI_GLTF_UNFOLDED_PER_BYTE
                   ? EXI_GLTF_UNFOLDED_SURE + EXI_GLTF_UNFOLDED_PER_BYTE * size
                   : SIZE_MAX / 2;
    g.scene = ex_scene_create();
    ex_result result = g.scene ? EX_OK : exi_gltf_no_memory(&g);
    if (result == EX_OK && open_files) {
        g.scene->path = exi_text_copy(name, strlen(name));
        if (!g.scene->path)
            result = exi_gltf_no_memory(&g);
    }
    if (result == EX_OK)
        result = read_parts(&g, bytes, size);
    for (int i = 0; g.buffers && i < g.buffer_count; i++)
        free(g.buffers[i].owned);
    for (int i = 0; g.unpacked && i < g.view_count; i++)
        free(g.unpacked[i].owned);
    free(g.buffers);
    free(g.unpacked);
    free(g.lost_images);
    json_decref(g.root);
    if (result == EX_OK)
        *scene = g.scene;
    else
        ex_scene_destroy(g.scene);
    return exi_foreign_explain(error, result, EXI_CONTENT_SCENE, name, ".glb", bytes, size);
}

ex_result ex_scene_read(const char *path, ex_scene **scene, ex_error *error) {
    *scene = NULL;
    char *bytes;
    size_t size;
    ex_result result = ex_file_read(path, &bytes, &size, error);
    if (result != EX_OK)
        return result;
    result = ex_scene_parse(bytes, size, path, true, scene, error);
    free(bytes);
    return result;
}

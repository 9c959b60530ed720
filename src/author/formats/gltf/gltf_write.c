/*
 * Writes glTF 2.0: a scene as one tree and one buffer, then as .glb or as .gltf with .bin. The same scene gives the
 * same bytes.
 */
#include "author/formats/gltf/gltf_writer.h"

#include "author/base/array.h"
#include "author/formats/gltf/glb.h"

#include <exemplar/author/files.h>
#include <exemplar/author/formats.h>

#include <stdlib.h>
#include <string.h>

/* ---- nodes ---- */

/* children[n] is the list of n's children, or NULL; NULL without memory. */
static json_t **make_children(exi_gltf_writer *w) {
    const ex_scene *scene = w->scene;
    json_t **children = exi_array_allocate((size_t)scene->node_count, sizeof *children);
    for (int n = 0; children && n < scene->node_count; n++)
        children[n] = NULL;
    for (int n = 0; children && n < scene->node_count; n++) {
        int parent = scene->nodes[n].parent;
        if (parent < 0)
            continue;
        if (!children[parent])
            children[parent] = json_array();
        exi_gltf_append(w, children[parent], json_integer(n));
    }
    return children;
}

static bool all_equal(const double *values, const double *usual, int count) {
    for (int i = 0; i < count; i++)
        if (values[i] != usual[i])
            return false;
    return true;
}

static json_t *make_node(exi_gltf_writer *w, const ex_scene_node *node, json_t *children) {
    static const double zero[3] = {0, 0, 0}, one[3] = {1, 1, 1}, identity[4] = {0, 0, 0, 1};
    const ex_scene_transform *t = &node->transform;
    json_t *out = json_object();
    exi_gltf_set_name(w, out, node->name);
    if (children)
        exi_gltf_set(w, out, "children", children);
    if (!all_equal(t->translation, zero, 3))
        exi_gltf_set(w, out, "translation", exi_gltf_numbers(w, t->translation, 3));
    if (!all_equal(t->rotation, identity, 4) && !all_equal(t->rotation, (double[4]){0}, 4))
        exi_gltf_set(w, out, "rotation", exi_gltf_numbers(w, t->rotation, 4));
    if (!all_equal(t->scale, one, 3))
        exi_gltf_set(w, out, "scale", exi_gltf_numbers(w, t->scale, 3));
    if (node->mesh >= 0) {
        exi_gltf_set(w, out, "mesh", json_integer(node->mesh));
        if (node->skin >= 0)
            exi_gltf_set(w, out, "skin", json_integer(node->skin));
        if (node->weights)
            exi_gltf_set(w, out, "weights", exi_gltf_numbers(w, node->weights, node->weight_count));
    }
    return out;
}

static void write_nodes(exi_gltf_writer *w) {
    const ex_scene *scene = w->scene;
    if (scene->node_count == 0)
        return;
    json_t *nodes = json_array(), *roots = json_array(), *shown = json_object();
    json_t **children = make_children(w);
    for (int n = 0; children && n < scene->node_count; n++) {
        exi_gltf_append(w, nodes, make_node(w, &scene->nodes[n], children[n]));
        if (scene->nodes[n].parent < 0 && !scene->nodes[n].hidden)
            exi_gltf_append(w, roots, json_integer(n));
    }
    w->failed = w->failed || !children;
    free(children);
    exi_gltf_set_filled(w, shown, "nodes", roots);
    exi_gltf_set(w, w->root, "scene", json_integer(0));
    exi_gltf_set(w, w->root, "scenes", json_pack("[o]", shown));
    exi_gltf_set(w, w->root, "nodes", nodes);
}

/* ---- skins and animations ---- */

static void write_skins(exi_gltf_writer *w) {
    if (w->scene->skin_count == 0)
        return;
    json_t *skins = json_array();
    for (int i = 0; i < w->scene->skin_count; i++) {
        const ex_scene_skin *skin = &w->scene->skins[i];
        json_t *out = json_object(), *joints = json_array();
        exi_gltf_set_name(w, out, skin->name);
        for (int j = 0; j < skin->joint_count; j++)
            exi_gltf_append(w, joints, json_integer(skin->joints[j]));
        exi_gltf_set(w, out, "joints", joints);
        if (skin->inverse_binds)
            exi_gltf_set(
                w, out, "inverseBindMatrices",
                json_integer(exi_gltf_add_floats(w, skin->inverse_binds, skin->joint_count, 16, EXI_GLTF_DATA, false)));
        if (skin->skeleton >= 0)
            exi_gltf_set(w, out, "skeleton", json_integer(skin->skeleton));
        exi_gltf_append(w, skins, out);
    }
    exi_gltf_set(w, w->root, "skins", skins);
}

static void add_channel(exi_gltf_writer *w, const ex_scene_channel *channel, json_t *channels, json_t *samplers) {
    static const char *const paths[] = {"translation", "rotation", "scale", "weights"};
    static const char *const words[] = {"STEP", "LINEAR", "CUBICSPLINE"};
    int rows = channel->key_count * (channel->interpolation == EX_SCENE_CUBICSPLINE ? 3 : 1);
    int times = exi_gltf_add_floats(w, channel->times, channel->key_count, 1, EXI_GLTF_DATA, true);
    int values = channel->path == EX_SCENE_WEIGHTS
                     ? exi_gltf_add_floats(w, channel->values, rows * channel->width, 1, EXI_GLTF_DATA, false)
                     : exi_gltf_add_floats(w, channel->values, rows, channel->width, EXI_GLTF_DATA, false);
    json_t *sampler = json_pack("{s:i, s:i}", "input", times, "output", values);
    if (channel->interpolation != EX_SCENE_LINEAR)
        exi_gltf_set(w, sampler, "interpolation", json_string(words[channel->interpolation]));
    exi_gltf_append(w, samplers, sampler);
    exi_gltf_append(w, channels,
                    json_pack("{s:i, s:{s:i, s:s}}", "sampler", (int)json_array_size(samplers) - 1, "target", "node",
                              channel->node, "path", paths[channel->path]));
}

static void write_animations(exi_gltf_writer *w) {
    json_t *animations = json_array();
    for (int i = 0; i < w->scene->animation_count; i++) {
        const ex_scene_animation *animation = &w->scene->animations[i];
        if (animation->channel_count == 0)
            continue; /* glTF cannot express an animation that moves nothing */
        json_t *out = json_object(), *channels = json_array(), *samplers = json_array();
        exi_gltf_set_name(w, out, animation->name);
        for (int c = 0; c < animation->channel_count; c++)
            add_channel(w, &animation->channels[c], channels, samplers);
        exi_gltf_set(w, out, "channels", channels);
        exi_gltf_set(w, out, "samplers", samplers);
        exi_gltf_append(w, animations, out);
    }
    exi_gltf_set_filled(w, w->root, "animations", animations);
}

/* ---- the tree ---- */

static void write_extensions(exi_gltf_writer *w) {
    json_t *used = json_array(), *required = json_array(), *value;
    const char *name;
    json_object_foreach(w->used, name, value) {
        exi_gltf_append(w, used, json_string(name));
    }
    for (int i = 0; i < w->scene->required_count; i++)
        if (json_object_get(w->used, w->scene->required[i]))
            exi_gltf_append(w, required, json_string(w->scene->required[i]));
    exi_gltf_set_filled(w, w->root, "extensionsUsed", used);
    exi_gltf_set_filled(w, w->root, "extensionsRequired", required);
}

/* buffer_uri is NULL for a .glb file. */
static ex_result make_tree(exi_gltf_writer *w, const char *buffer_uri) {
    json_t *asset = json_pack("{s:s, s:s}", "version", "2.0", "generator", EXI_GENERATOR);
    if (w->scene->copyright)
        exi_gltf_set(w, asset, "copyright", json_string(w->scene->copyright));
    exi_gltf_set(w, w->root, "asset", asset);
    write_nodes(w);
    exi_gltf_write_meshes(w);
    write_skins(w);
    write_animations(w);
    ex_result result = exi_gltf_write_looks(w);
    if (result != EX_OK)
        return result;
    write_extensions(w);
    if (json_array_size(w->accessors) > 0)
        exi_gltf_set(w, w->root, "accessors", json_incref(w->accessors));
    if (json_array_size(w->views) > 0) {
        json_t *buffer = json_pack("{s:I}", "byteLength", (json_int_t)w->bin.size);
        if (buffer_uri)
            exi_gltf_set(w, buffer, "uri", json_string(buffer_uri));
        exi_gltf_set(w, w->root, "bufferViews", json_incref(w->views));
        exi_gltf_set(w, w->root, "buffers", json_pack("[o]", buffer));
    }
    return w->failed || w->bin.failed ? ex_error_memory(w->error, "the file", w->bin.size) : EX_OK;
}

/* ---- the files ---- */

static size_t folder_size(const char *path) {
    const char *slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

static bool same_folder(const char *a, const char *b) {
    return b && folder_size(a) == folder_size(b) && memcmp(a, b, folder_size(a)) == 0;
}

static ex_result write_bytes(const char *path, const char *bytes, size_t size, ex_error *error) {
    ex_file_writer writer;
    ex_result result = ex_file_open(&writer, path, error);
    if (result != EX_OK)
        return result;
    ex_file_write(&writer, bytes, size);
    return ex_file_commit(&writer, error);
}

/* Writes a file into a set, under the name that the path has. */
static ex_result write_hidden(const ex_file_set *set, const char *path, const char *bytes, size_t size,
                              ex_error *error) {
    const char *folder = ex_file_set_folder(set), *name = path + folder_size(path);
    const size_t length = strlen(folder) + strlen(name) + 2;
    char *hidden = malloc(length);
    if (!hidden)
        return ex_error_memory(error, "the file", length);
    snprintf(hidden, length, "%s/%s", folder, name);
    const ex_result result = write_bytes(hidden, bytes, size, error);
    free(hidden);
    return result;
}

/* Writes both files or none: each is useless without the other. */
static ex_result write_set(exi_gltf_writer *w, const char *bin_path, const exi_text *text) {
    ex_file_set *set = NULL;
    char *folder = exi_text_copy(w->path, folder_size(w->path));
    ex_result result =
        folder ? ex_file_set_open(folder, false, &set, w->error) : ex_error_memory(w->error, "a path", 0);
    free(folder);
    if (result == EX_OK)
        result = write_hidden(set, bin_path, w->bin.bytes, w->bin.size, w->error);
    if (result == EX_OK)
        result = write_hidden(set, w->path, text->bytes, text->size, w->error);
    if (result == EX_OK)
        return ex_file_set_commit(set, w->path + folder_size(w->path), w->error);
    ex_file_set_abandon(set, w->error);
    return result;
}

/* Returns NAME.bin for NAME.gltf. */
static char *buffer_path(const char *path) {
    size_t size = strlen(path) - 5;
    char *copy = exi_text_copy(path, size + 5);
    if (copy)
        memcpy(copy + size, ".bin", 5);
    return copy;
}

static ex_result write_pair(exi_gltf_writer *w) {
    char *bin_path = buffer_path(w->path),
         *uri = bin_path ? exi_gltf_path_to_uri(bin_path + folder_size(bin_path)) : NULL;
    exi_text text = {0};
    ex_result result = uri ? make_tree(w, uri) : ex_error_memory(w->error, "the file", 0);
    if (result == EX_OK) {
        exi_json_print(w->root, true, &text);
        if (text.failed)
            result = ex_error_memory(w->error, "the file", text.size);
    }
    if (result == EX_OK)
        result =
            w->bin.size > 0 ? write_set(w, bin_path, &text) : write_bytes(w->path, text.bytes, text.size, w->error);
    free(text.bytes);
    free(uri);
    free(bin_path);
    return result;
}

static ex_result write_glb(exi_gltf_writer *w) {
    exi_text text = {0};
    ex_result result = make_tree(w, NULL);
    if (result == EX_OK) {
        exi_json_print(w->root, false, &text);
        result = exi_glb_write(w->path, &text, w->bin.bytes, w->bin.size, "write it as .gltf, or in pieces", w->error);
    }
    free(text.bytes);
    return result;
}

static exi_gltf_writer open_writer(const ex_scene *scene, const char *path, bool embed_files, ex_error *error) {
    exi_gltf_writer w = {.scene = scene,
                         .path = path,
                         .embed_files = embed_files,
                         .error = error,
                         .root = json_object(),
                         .views = json_array(),
                         .accessors = json_array(),
                         .used = json_object()};
    w.failed = !w.root || !w.views || !w.accessors || !w.used;
    return w;
}

static void close_writer(exi_gltf_writer *w) {
    free(w->known);
    free(w->known_first);
    free(w->bin.bytes);
    json_decref(w->used);
    json_decref(w->accessors);
    json_decref(w->views);
    json_decref(w->root);
}

ex_result ex_scene_write(const char *path, const ex_scene *scene, ex_error *error) {
    bool glb = ex_path_ends_with(path, ".glb");
    if (!glb && !ex_path_ends_with(path, ".gltf"))
        return ex_error_set(error, EX_ERROR_ARGUMENT, "cannot write '%s': scenes are written as .glb or .gltf", path);
    ex_result result = ex_error_within(error, ex_scene_check(scene, error), "cannot write '%s'", path);
    if (result != EX_OK)
        return result;
    exi_gltf_writer w = open_writer(scene, path, glb || !same_folder(path, scene->path), error);
    result = glb ? write_glb(&w) : write_pair(&w);
    close_writer(&w);
    return result;
}

ex_result ex_scene_encode(const ex_scene *scene, unsigned char **bytes, size_t *size, ex_error *error) {
    *bytes = NULL;
    *size = 0;
    ex_result result = ex_scene_check(scene, error);
    if (result != EX_OK)
        return result;
    exi_gltf_writer w = open_writer(scene, scene->path ? scene->path : "the scene", true, error);
    exi_text text = {0}, out = {0};
    result = make_tree(&w, NULL);
    if (result == EX_OK) {
        exi_json_print(w.root, false, &text);
        exi_glb_print(&text, w.bin.bytes, w.bin.size, &out);
        if (out.failed)
            result = ex_error_memory(error, "the scene", text.size + w.bin.size);
    }
    free(text.bytes);
    close_writer(&w);
    if (result == EX_OK) {
        *bytes = (unsigned char *)out.bytes;
        *size = out.size;
    } else {
        free(out.bytes);
    }
    return result;
}

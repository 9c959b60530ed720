/*
 * Rig files: glTF 2.0 in its binary form. The BIN chunk is the rig's pack; the JSON chunk tells viewers that know
 * nothing of Exemplar where in it they find a mesh, and its examples as morph targets. Nothing is stored twice, and our
 * own reader never looks at the JSON (docs/rig-format.md).
 */
#include "author/formats/array.h"
#include "author/formats/file.h"
#include "author/formats/glb.h"
#include "author/formats/json.h"
#include "runtime/base/result.h"

#include <exemplar/author/formats.h>

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ARRAY_BUFFER = 34962, ELEMENT_BUFFER = 34963, FLOAT = 5126, UNSIGNED_INT = 5125 };

/* The JSON being written. Failures of jansson for lack of memory are all caught at the end: a NULL never reaches a
 * finished tree. */
typedef struct gltf {
    const char *pack;
    int section_count;
    json_t *views, *accessors;
    bool failed;
} gltf;

static void set(gltf *g, json_t *object, const char *key, json_t *value) {
    if (json_object_set_new(object, key, value) != 0)
        g->failed = true;
}

static void append(gltf *g, json_t *array, json_t *value) {
    if (json_array_append_new(array, value) != 0)
        g->failed = true;
}

static int find_section(const gltf *g, ex_section_kind kind, int index) {
    for (int i = 0; i < g->section_count; i++) {
        ex_section section = ex_pack_section(g->pack, i);
        if (section.kind == kind && section.index == index)
            return i;
    }
    return -1;
}

static int add_view(gltf *g, size_t offset, size_t size, int target) {
    json_t *view =
        json_pack("{s:i, s:I, s:I}", "buffer", 0, "byteOffset", (json_int_t)offset, "byteLength", (json_int_t)size);
    if (target && view)
        set(g, view, "target", json_integer(target));
    append(g, g->views, view);
    return (int)json_array_size(g->views) - 1;
}

/* Smallest and largest of each of three columns, as glTF wants them for positions. */
static void add_bounds(gltf *g, json_t *accessor, const char *bytes, size_t count) {
    float low[3] = {FLT_MAX, FLT_MAX, FLT_MAX}, high[3] = {-FLT_MAX, -FLT_MAX, -FLT_MAX};
    for (size_t i = 0; i < count; i++) {
        float v[3];
        memcpy(v, bytes + i * sizeof v, sizeof v);
        for (int c = 0; c < 3; c++) {
            low[c] = v[c] < low[c] ? v[c] : low[c];
            high[c] = v[c] > high[c] ? v[c] : high[c];
        }
    }
    set(g, accessor, "min", json_pack("[f, f, f]", (double)low[0], (double)low[1], (double)low[2]));
    set(g, accessor, "max", json_pack("[f, f, f]", (double)high[0], (double)high[1], (double)high[2]));
}

/* An accessor over a whole section; its number, or -1 where the rig has no such section. */
static int add_accessor(gltf *g, ex_section_kind kind, int index) {
    int at = find_section(g, kind, index);
    if (at < 0)
        return -1;
    ex_section section = ex_pack_section(g->pack, at);
    const bool triangles = kind == EX_SECTION_TRIANGLES;
    const char *type = triangles ? "SCALAR" : kind == EX_SECTION_TEXCOORDS ? "VEC2" : "VEC3";
    size_t element = triangles ? 4 : kind == EX_SECTION_TEXCOORDS ? 8 : 12;
    if (section.size == 0)
        return -1;
    int view = add_view(g, section.offset, section.size, triangles ? ELEMENT_BUFFER : ARRAY_BUFFER);
    json_t *accessor =
        json_pack("{s:i, s:i, s:I, s:s}", "bufferView", view, "componentType", triangles ? UNSIGNED_INT : FLOAT,
                  "count", (json_int_t)(section.size / element), "type", type);
    if (accessor && (kind == EX_SECTION_POSITIONS || kind == EX_SECTION_TARGET))
        add_bounds(g, accessor, g->pack + section.offset, section.size / element);
    append(g, g->accessors, accessor);
    return (int)json_array_size(g->accessors) - 1;
}

static json_t *make_primitive(gltf *g, const ex_rig *rig) {
    json_t *attributes = json_object(), *primitive = json_object();
    const struct {
        const char *name;
        ex_section_kind kind;
    } kinds[] = {
        {"POSITION", EX_SECTION_POSITIONS}, {"NORMAL", EX_SECTION_NORMALS}, {"TEXCOORD_0", EX_SECTION_TEXCOORDS}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        int accessor = add_accessor(g, kinds[i].kind, 0);
        if (accessor >= 0)
            set(g, attributes, kinds[i].name, json_integer(accessor));
    }
    set(g, primitive, "attributes", attributes);
    int indices = add_accessor(g, EX_SECTION_TRIANGLES, 0);
    if (indices >= 0)
        set(g, primitive, "indices", json_integer(indices));
    set(g, primitive, "mode", json_integer(indices >= 0 ? 4 : 0));
    if (ex_rig_example_count(rig) == 0)
        return primitive;
    json_t *targets = json_array();
    for (int k = 0; k < ex_rig_example_count(rig); k++)
        append(g, targets, json_pack("{s:i}", "POSITION", add_accessor(g, EX_SECTION_TARGET, k)));
    set(g, primitive, "targets", targets);
    return primitive;
}

/* Weights at rest, so that a viewer shows the form at rest; names as "example", or "layer/example" with several layers.
 */
static void add_targets(gltf *g, const ex_rig *rig, json_t *mesh, void *scratch, double *weights) {
    ex_rig_evaluate(rig, &(ex_pose){0}, &(ex_output){.weights = weights}, NULL, scratch);
    json_t *values = json_array(), *names = json_array();
    for (int l = 0; l < ex_rig_layer_count(rig); l++) {
        int count = ex_weigher_example_count(ex_rig_weigher(rig, l)), first = ex_rig_first_example(rig, l);
        for (int k = 0; k < count; k++) {
            double weight = (double)(float)weights[first + k];
            append(g, values, json_real(isfinite(weight) ? weight : 0));
            append(g, names,
                   ex_rig_layer_count(rig) == 1
                       ? json_string(ex_rig_example_name(rig, l, k))
                       : json_sprintf("%s/%s", ex_rig_layer_name(rig, l), ex_rig_example_name(rig, l, k)));
        }
    }
    set(g, mesh, "weights", values);
    set(g, mesh, "extras", json_pack("{s:o}", "targetNames", names));
}

static json_t *make_json(const ex_rig *rig, const void *pack, size_t size, void *scratch, double *weights) {
    gltf g = {
        .pack = pack, .section_count = ex_pack_section_count(pack), .views = json_array(), .accessors = json_array()};
    json_t *root = json_pack("{s:{s:s, s:s}, s:[s], s:{s:{s:i, s:i}}, s:i, s:[{s:[i]}], s:[{s:i}]}", "asset", "version",
                             "2.0", "generator", "Exemplar " EX_VERSION_TEXT, "extensionsUsed", "EXEMPLAR_rig",
                             "extensions", "EXEMPLAR_rig", "format", EX_FORMAT, "bufferView", 0, "scene", 0, "scenes",
                             "nodes", 0, "nodes", "mesh", 0);
    json_t *mesh = json_object();
    if (!root)
        g.failed = true;
    add_view(&g, 0, ex_pack_header_size(pack), 0);
    set(&g, mesh, "primitives", json_pack("[o]", make_primitive(&g, rig)));
    if (ex_rig_example_count(rig) > 0)
        add_targets(&g, rig, mesh, scratch, weights);
    for (int i = 0; i < g.section_count; i++) {
        ex_section section = ex_pack_section(pack, i);
        if (section.kind < EX_SECTION_TRIANGLES && section.size > 0)
            add_view(&g, section.offset, section.size, 0);
    }
    set(&g, root, "meshes", json_pack("[o]", mesh));
    set(&g, root, "accessors", g.accessors);
    set(&g, root, "bufferViews", g.views);
    set(&g, root, "buffers", json_pack("[{s:I}]", "byteLength", (json_int_t)size));
    if (g.failed) {
        json_decref(root);
        return NULL;
    }
    return root;
}

/* ---- the file ---- */

ex_result ex_rig_write(const char *path, const ex_rig *rig, ex_error *error) {
    size_t size = ex_rig_pack_size(rig), scratch_size = ex_rig_scratch_size(rig, 1);
    if (size == 0)
        return exi_error(error, EX_ERROR_ARGUMENT, "%s: a rig in 16-bit storage cannot be written: files are float",
                         path);
    char *pack = malloc(size);
    void *scratch = malloc(scratch_size);
    double *weights = exi_array_allocate((size_t)ex_rig_example_count(rig), sizeof *weights);
    exi_text json = {0};
    ex_result result = pack && scratch && weights ? ex_rig_pack(rig, pack, size, error)
                                                  : exi_error_memory(error, "the rig file", size);
    if (result == EX_OK) {
        json_t *root = make_json(rig, pack, size, scratch, weights);
        if (root)
            exi_json_print(root, false, &json);
        else
            json.failed = true;
        json_decref(root);
        result = exi_glb_write(path, &json, pack, size, "use fewer or smaller examples", error);
    }
    free(json.bytes);
    free(weights);
    free(scratch);
    free(pack);
    return result;
}

ex_result ex_rig_read(const char *path, ex_storage storage, ex_rig **rig, ex_error *error) {
    *rig = NULL;
    char *bytes = NULL;
    size_t size = 0;
    ex_result result = exi_file_read(path, &bytes, &size, error);
    if (result != EX_OK)
        return result;
    result = exi_error_within(error, ex_rig_unpack(bytes, size, storage, NULL, rig, error), "%s", path);
    free(bytes);
    return result;
}

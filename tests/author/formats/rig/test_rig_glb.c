/*
 * Rig files: their contents for a viewer without Exemplar, reading them back, and errors for files that are damaged,
 * truncated or something else. The framing is parsed here by hand.
 */
#include "author/project/projects.h"

#include "support/fail_alloc.h"
#include "support/whole_rigs.h"

#include <exemplar/author/image.h>
#include <jansson.h>

static const char project[] =
    "{'exemplar': 1, 'mesh': 'cube.obj', 'layers': [\n"
    " {'name': 'size', 'space': [{'name': 'a', 'min': 0, 'max': 1, 'rest': 0.25}],\n"
    "  'examples': [{'name': 'rest', 'mesh': 'cube.obj', 'at': {'a': 0}}, {'name': 'tall', 'mesh': 'tall.obj', 'at': "
    "{'a': "
    "1}}]},\n"
    " {'name': 'lean', 'space': [{'name': 'b', 'min': 0, 'max': 1}], 'weigh': {'kind': 'direct'},\n"
    "  'examples': [{'name': 'ü/\\\\', 'mesh': 'lean.obj'}], 'mask': {'group': 'top'}}]}";

static int set_up(void **state) {
    if (scratch_set_up(state) != 0)
        return -1;
    write_cube("cube.obj", 1, 0);
    write_cube("tall.obj", 2.5, 0);
    write_cube("lean.obj", 1, 0.75);
    write_text("points.obj", "v 0 0 0\nv 1 2 3\n");
    return 0;
}

/* A .glb in pieces. */
typedef struct glb {
    char *bytes;
    size_t size;
    json_t *json;
    const char *bin;
    uint32_t json_size, bin_size;
} glb;

static uint32_t u32(const char *bytes) {
    const unsigned char *b = (const unsigned char *)bytes;
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static glb open_glb(const char *name) {
    glb g = {0};
    g.bytes = scratch_read(name, &g.size);
    assert_true(g.size > 28);
    assert_memory_equal(g.bytes, "glTF\2\0\0\0", 8);
    assert_int_equal(u32(g.bytes + 8), g.size);
    g.json_size = u32(g.bytes + 12);
    assert_memory_equal(g.bytes + 16, "JSON", 4);
    assert_int_equal(g.json_size % 4, 0);
    json_error_t error;
    g.json = json_loadb(g.bytes + 20, g.json_size, JSON_REJECT_DUPLICATES, &error);
    if (!g.json)
        fail_msg("%s", error.text);
    const char *chunk = g.bytes + 20 + g.json_size;
    g.bin_size = u32(chunk);
    assert_memory_equal(chunk + 4, "BIN\0", 4);
    assert_int_equal(g.bin_size % 4, 0);
    assert_int_equal(20 + g.json_size + 8 + g.bin_size, g.size);
    g.bin = chunk + 8;
    return g;
}

static void close_glb(glb *g) {
    json_decref(g->json);
    free(g->bytes);
}

static json_t *item(json_t *object, const char *key, size_t index) {
    json_t *value = json_array_get(json_object_get(object, key), index);
    assert_non_null(value);
    return value;
}

static long long number(json_t *object, const char *key) {
    assert_true(json_is_integer(json_object_get(object, key)));
    return json_integer_value(json_object_get(object, key));
}

/* The bytes of an accessor, which must be of this kind. */
static const char *accessor_data(const glb *g, long long index, int component, const char *type, long long count) {
    json_t *accessor = item(g->json, "accessors", (size_t)index);
    assert_int_equal(number(accessor, "componentType"), component);
    assert_string_equal(json_string_value(json_object_get(accessor, "type")), type);
    assert_int_equal(number(accessor, "count"), count);
    json_t *view = item(g->json, "bufferViews", (size_t)number(accessor, "bufferView"));
    assert_int_equal(number(view, "buffer"), 0);
    assert_int_equal(number(view, "byteOffset") % 4, 0);
    assert_true(number(view, "byteOffset") + number(view, "byteLength") <= (long long)g->bin_size);
    if (strcmp(type, "MAT4") == 0)
        assert_null(json_object_get(view, "target"));
    else
        assert_int_equal(number(view, "target"), component == 5125 ? 34963 : 34962);
    return g->bin + number(view, "byteOffset");
}

/* Accessors of positions have their smallest and largest numbers. */
static void check_bounds(const glb *g, long long index, const float *values, int count) {
    json_t *accessor = item(g->json, "accessors", (size_t)index);
    for (int c = 0; c < 3; c++) {
        float low = values[c], high = values[c];
        for (int i = 1; i < count; i++) {
            low = fminf(low, values[3 * i + c]);
            high = fmaxf(high, values[3 * i + c]);
        }
        assert_true(json_number_value(item(accessor, "min", (size_t)c)) == (double)low);
        assert_true(json_number_value(item(accessor, "max", (size_t)c)) == (double)high);
    }
}

static ex_rig *write_rig(const char *text, const char *name) {
    ex_rig *rig = build_text(text);
    ex_error error;
    if (ex_rig_write(scratch_path(name), rig, &error) != EX_OK)
        fail_msg("%s", error.text);
    return rig;
}

static void viewers_find_a_mesh_with_morph_targets(void **state) {
    (void)state;
    ex_rig *rig = write_rig(project, "r.glb");
    glb g = open_glb("r.glb");
    json_t *primitive = item(item(g.json, "meshes", 0), "primitives", 0);
    assert_int_equal(number(primitive, "mode"), 4);
    json_t *attributes = json_object_get(primitive, "attributes");
    assert_int_equal(json_object_size(attributes), 4); /* colours too */
    const ex_rig_mesh m = ex_rig_get_mesh(rig);
    const float *positions =
        (const float *)(const void *)accessor_data(&g, number(attributes, "POSITION"), 5126, "VEC3", 24);
    check_bounds(&g, number(attributes, "POSITION"), positions, 24);
    float rest[24], delta[24];
    ex_rig_rest_mesh(rig, rest);
    for (int s = 0; s < 24; s++)
        assert_memory_equal(positions + 3 * s, rest + 3 * m.split_source[s], 12);
    assert_memory_equal(accessor_data(&g, number(attributes, "NORMAL"), 5126, "VEC3", 24), m.normals, 24 * 12);
    assert_memory_equal(accessor_data(&g, number(attributes, "TEXCOORD_0"), 5126, "VEC2", 24), m.texcoords, 24 * 8);
    assert_memory_equal(accessor_data(&g, number(primitive, "indices"), 5125, "SCALAR", 36), m.triangles, 36 * 4);
    assert_int_equal(json_array_size(json_object_get(primitive, "targets")), 3);
    for (int k = 0; k < 3; k++) {
        long long accessor = number(item(primitive, "targets", (size_t)k), "POSITION");
        const float *target = (const float *)(const void *)accessor_data(&g, accessor, 5126, "VEC3", 24);
        check_bounds(&g, accessor, target, 24);
        ex_rig_example_delta(rig, k < 2 ? 0 : 1, k < 2 ? k : 0, delta);
        for (int s = 0; s < 24; s++)
            assert_memory_equal(target + 3 * s, delta + 3 * m.split_source[s], 12);
    }
    ex_rig_destroy(rig);
    close_glb(&g);
}

static void viewers_see_the_rest_pose(void **state) {
    (void)state;
    ex_rig *rig = write_rig(project, "r.glb");
    glb g = open_glb("r.glb");
    json_t *mesh = item(g.json, "meshes", 0), *names = json_object_get(mesh, "extras");
    double weights[3];
    evaluate(rig, NULL, NULL, weights);
    check_near(weights[1], 0.25, 1e-12);
    const char *expected[3] = {"size/rest", "size/tall", "lean/ü/\\"};
    assert_int_equal(json_array_size(json_object_get(mesh, "weights")), 3);
    for (size_t k = 0; k < 3; k++) {
        assert_true(json_number_value(item(mesh, "weights", k)) == (double)(float)weights[k]);
        assert_string_equal(json_string_value(item(names, "targetNames", k)), expected[k]);
    }
    json_t *root = g.json, *scene = item(root, "scenes", 0);
    assert_int_equal(number(root, "scene"), 0);
    assert_int_equal(json_integer_value(item(scene, "nodes", 0)), 0);
    assert_int_equal(number(item(root, "nodes", 0), "mesh"), 0);
    assert_string_equal(json_string_value(json_object_get(json_object_get(root, "asset"), "version")), "2.0");
    ex_rig_destroy(rig);
    close_glb(&g);
}

/* Checks that every section of the pack has exactly one view; returns the number of views, including the header's. */
static int check_views(const glb *g, const char *pack) {
    int filled = 1;
    for (int i = 0; i < ex_pack_section_count(pack); i++) {
        ex_section section = ex_pack_section(pack, i);
        int found = 0;
        for (size_t v = 1; v < json_array_size(json_object_get(g->json, "bufferViews")); v++)
            found += number(item(g->json, "bufferViews", v), "byteOffset") == (long long)section.offset &&
                     number(item(g->json, "bufferViews", v), "byteLength") == (long long)section.size;
        assert_int_equal(found, section.size > 0);
        filled += found;
    }
    return filled;
}

static void the_pack_is_the_binary_chunk(void **state) {
    (void)state;
    ex_rig *rig = write_rig(project, "r.glb");
    glb g = open_glb("r.glb");
    size_t size;
    char *pack = pack_of(rig, &size);
    assert_true(g.bin_size > size); /* colours come after it */
    assert_memory_equal(g.bin, pack, size);
    assert_int_equal((g.bin - g.bytes) % 16, 0);
    assert_in_range(number(item(g.json, "buffers", 0), "byteLength"), g.bin_size - 3, g.bin_size);
    assert_int_equal(json_array_size(json_object_get(g.json, "buffers")), 1);
    assert_string_equal(json_string_value(item(g.json, "extensionsUsed", 0)), "EXEMPLAR_rig");
    assert_null(json_object_get(g.json, "extensionsRequired"));
    json_t *extension = json_object_get(json_object_get(g.json, "extensions"), "EXEMPLAR_rig");
    assert_int_equal(number(extension, "bufferView"), 0);
    assert_int_equal(number(extension, "format"), EX_FORMAT);
    json_t *view = item(g.json, "bufferViews", 0);
    assert_int_equal(number(view, "byteOffset"), 0);
    assert_int_equal(number(view, "byteLength"), ex_pack_header_size(pack));
    assert_int_equal(check_views(&g, pack) + 1, json_array_size(json_object_get(g.json, "bufferViews")));
    free(pack);
    ex_rig_destroy(rig);
    close_glb(&g);
}

static void reads_back_what_it_wrote(void **state) {
    (void)state;
    ex_rig *rig = write_rig(project, "r.glb"), *again = NULL, *small = NULL;
    assert_int_equal(ex_rig_read(scratch_path("r.glb"), NULL, &again, NULL), EX_OK);
    check_same_rig(rig, again);
    assert_int_equal(ex_rig_read(scratch_path("r.glb"), &(ex_rig_options){.storage = EX_STORAGE_16_BIT}, &small, NULL),
                     EX_OK);
    assert_int_equal(ex_rig_storage(small), EX_STORAGE_16_BIT);
    assert_int_equal(ex_rig_write(scratch_path("again.glb"), again, NULL), EX_OK);
    size_t size_a, size_b;
    char *a = scratch_read("r.glb", &size_a), *b = scratch_read("again.glb", &size_b);
    assert_int_equal(size_a, size_b);
    assert_memory_equal(a, b, size_a);
    free(a);
    free(b);
    ex_rig_destroy(small);
    ex_rig_destroy(again);
    ex_rig_destroy(rig);
}

static void points_and_no_layers(void **state) {
    (void)state;
    ex_rig *rig = write_rig("{'exemplar': 1, 'mesh': 'points.obj', 'layers': []}", "p.glb");
    glb g = open_glb("p.glb");
    json_t *mesh = item(g.json, "meshes", 0), *primitive = item(mesh, "primitives", 0);
    assert_int_equal(number(primitive, "mode"), 0);
    assert_null(json_object_get(primitive, "indices"));
    assert_null(json_object_get(primitive, "targets"));
    assert_null(json_object_get(mesh, "weights"));
    assert_null(json_object_get(mesh, "extras"));
    close_glb(&g);
    ex_rig_destroy(rig);
    /* With one layer, targets have the names of their examples. */
    rig = write_rig(
        "{'exemplar': 1, 'mesh': 'points.obj', 'layers': [{'name': 'l', 'space': [{'name': 'a', 'min': 0, 'max': "
        "1}], 'examples': [{'name': 'e', 'mesh': 'points.obj', 'at': {}}]}]}",
        "p.glb");
    g = open_glb("p.glb");
    json_t *names = json_object_get(item(g.json, "meshes", 0), "extras");
    assert_string_equal(json_string_value(item(names, "targetNames", 0)), "e");
    close_glb(&g);
    ex_rig_destroy(rig);
}

/* ---- rigs with everything ---- */

static ex_rig *write_whole(whole_rig *w, int parts, const char *name) {
    whole_rig_open(w, 9, parts);
    ex_rig *rig = rig_of(&w->def);
    ex_error error;
    if (ex_rig_write(scratch_path(name), rig, &error) != EX_OK)
        fail_msg("%s", error.text);
    return rig;
}

/* Numbers of a node, or glTF's defaults. */
static void check_node_numbers(json_t *node, const char *key, const float *expected, int count, double usual) {
    json_t *array = json_object_get(node, key);
    for (int i = 0; i < count; i++) {
        const double value = array ? json_number_value(json_array_get(array, (size_t)i)) : i < 3 ? usual : 1;
        assert_true(value == (double)expected[i]);
    }
}

static void viewers_find_a_skin(void **state) {
    (void)state;
    whole_rig w;
    ex_rig *rig = write_whole(&w, WHOLE_ALL, "w.glb");
    glb g = open_glb("w.glb");
    json_t *nodes = json_object_get(g.json, "nodes"), *skin = item(g.json, "skins", 0);
    assert_int_equal(json_array_size(nodes), 1 + WHOLE_JOINTS + 1);
    assert_int_equal(number(json_array_get(nodes, 0), "skin"), 0);
    assert_int_equal(number(json_array_get(nodes, 0), "mesh"), 0);
    int parents[1 + WHOLE_JOINTS + 1];
    memset(parents, -1, sizeof parents);
    for (size_t n = 0; n < json_array_size(nodes); n++) {
        json_t *children = json_object_get(json_array_get(nodes, n), "children");
        for (size_t c = 0; c < json_array_size(children); c++)
            parents[json_integer_value(json_array_get(children, c))] = (int)n;
    }
    const ex_skeleton *skeleton = ex_rig_skeleton(rig);
    const float *binds =
        (const float *)(const void *)accessor_data(&g, number(skin, "inverseBindMatrices"), 5126, "MAT4", WHOLE_JOINTS);
    for (int j = 0; j < WHOLE_JOINTS; j++) {
        json_t *node = json_array_get(nodes, (size_t)(1 + j)), *name = json_object_get(node, "name");
        const ex_transform rest = ex_skeleton_rest(skeleton, j);
        assert_string_equal(name ? json_string_value(name) : "", ex_skeleton_name(skeleton, j));
        check_node_numbers(node, "translation", rest.translation, 3, 0);
        check_node_numbers(node, "rotation", rest.rotation, 4, 0);
        check_node_numbers(node, "scale", rest.scale, 3, 1);
        const int parent = ex_skeleton_parent(skeleton, j);
        assert_int_equal(parents[1 + j], parent < 0 ? 1 + WHOLE_JOINTS : 1 + parent);
        assert_int_equal(json_integer_value(item(skin, "joints", (size_t)j)), 1 + j);
        float rows[12];
        ex_skeleton_inverse_bind(skeleton, j, rows);
        for (int k = 0; k < 12; k++)
            assert_true(binds[16 * j + 4 * (k % 4) + k / 4] == rows[k]);
    }
    json_t *scene = item(g.json, "scenes", 0);
    assert_int_equal(json_array_size(json_object_get(scene, "nodes")), 2);
    assert_int_equal(json_integer_value(item(scene, "nodes", 1)), 1 + WHOLE_JOINTS);
    json_t *attributes = json_object_get(item(item(g.json, "meshes", 0), "primitives", 0), "attributes");
    static const char *const names[2][2] = {{"JOINTS_0", "WEIGHTS_0"}, {"JOINTS_1", "WEIGHTS_1"}};
    const ex_rig_mesh mesh = ex_rig_get_mesh(rig);
    for (int set = 0; set < 2; set++) {
        const uint16_t *joints = (const uint16_t *)(const void *)accessor_data(&g, number(attributes, names[set][0]),
                                                                               5123, "VEC4", mesh.split_count);
        const float *weights = (const float *)(const void *)accessor_data(&g, number(attributes, names[set][1]), 5126,
                                                                          "VEC4", mesh.split_count);
        for (int s = 0; s < mesh.split_count; s++) {
            uint32_t own[WHOLE_JOINTS];
            float own_weights[WHOLE_JOINTS];
            const int count = ex_skin_influences(ex_rig_skin(rig), (int)mesh.split_source[s], own, own_weights);
            for (int k = 0; k < 4; k++) {
                assert_int_equal(joints[4 * s + k], 4 * set + k < count ? own[4 * set + k] : 0);
                assert_true(weights[4 * s + k] == (4 * set + k < count ? own_weights[4 * set + k] : 0));
            }
        }
    }
    assert_int_equal(json_object_size(attributes), 7);
    close_glb(&g);
    ex_rig_destroy(rig);
    whole_rig_close(&w);
}

/* A single root needs no node above it; a skeleton without a skin is only nodes. */
static void skeletons_without_skin(void **state) {
    (void)state;
    whole_rig w;
    ex_rig *rig = write_whole(&w, WHOLE_SKELETON, "w.glb");
    glb g = open_glb("w.glb");
    assert_null(json_object_get(g.json, "skins"));
    assert_null(json_object_get(item(g.json, "nodes", 0), "skin"));
    assert_int_equal(json_array_size(json_object_get(g.json, "nodes")), 1 + WHOLE_JOINTS + 1);
    size_t size;
    char *pack = pack_of(rig, &size);
    assert_int_equal(check_views(&g, pack), json_array_size(json_object_get(g.json, "bufferViews")));
    free(pack);
    close_glb(&g);
    ex_rig_destroy(rig);
    static const int parents[2] = {1, -1};
    const ex_transform still[2] = {ex_transform_identity(), ex_transform_identity()};
    ex_skeleton *one = NULL;
    assert_int_equal(ex_skeleton_create(&(ex_skeleton_def){2, parents, still, NULL, NULL}, NULL, &one, NULL), EX_OK);
    w.base.def.skeleton = one;
    rig = rig_of(&w.base.def);
    assert_int_equal(ex_rig_write(scratch_path("w.glb"), rig, NULL), EX_OK);
    g = open_glb("w.glb");
    assert_int_equal(json_array_size(json_object_get(g.json, "nodes")), 3);
    assert_int_equal(json_integer_value(item(item(g.json, "scenes", 0), "nodes", 1)), 2);
    assert_int_equal(json_object_size(item(g.json, "nodes", 1)), 0); /* everything it has is the default */
    close_glb(&g);
    ex_rig_destroy(rig);
    ex_skeleton_destroy(one);
    whole_rig_close(&w);
}

/* Images come after the pack and show the textures at rest. */
static void viewers_find_textures_at_rest(void **state) {
    (void)state;
    whole_rig w;
    ex_rig *rig = write_whole(&w, WHOLE_PIXELS, "w.glb");
    glb g = open_glb("w.glb");
    json_t *primitive = item(item(g.json, "meshes", 0), "primitives", 0), *material = item(g.json, "materials", 0);
    assert_int_equal(number(primitive, "material"), 0);
    json_t *uses[2] = {json_object_get(json_object_get(material, "pbrMetallicRoughness"), "baseColorTexture"),
                       json_object_get(material, "normalTexture")};
    assert_string_equal(json_string_value(json_object_get(material, "alphaMode")), "BLEND");
    unsigned char rest[2][WHOLE_HEIGHT * WHOLE_WIDTH * 4];
    unsigned char *outputs[2] = {rest[0], rest[1]};
    void *scratch = malloc(ex_rig_scratch_size(rig, NULL, 1));
    ex_rig_evaluate(rig, NULL, &(ex_output){.textures = outputs}, NULL, scratch);
    free(scratch);
    size_t pack_size;
    char *pack = pack_of(rig, &pack_size);
    assert_memory_equal(g.bin, pack, pack_size);
    for (size_t i = 0; i < 2; i++) {
        json_t *texture = item(g.json, "textures", (size_t)number(uses[i], "index"));
        json_t *source = item(g.json, "images", (size_t)number(texture, "source"));
        assert_string_equal(json_string_value(json_object_get(source, "mimeType")), "image/png");
        json_t *view = item(g.json, "bufferViews", (size_t)number(source, "bufferView"));
        const long long offset = number(view, "byteOffset"), size = number(view, "byteLength");
        assert_true(offset >= (long long)pack_size && offset % 16 == 0 && offset + size <= (long long)g.bin_size);
        ex_image *image = NULL;
        assert_int_equal(ex_image_parse(g.bin + offset, (size_t)size, "picture", &image, NULL), EX_OK);
        assert_int_equal(image->width, WHOLE_WIDTH);
        assert_int_equal(image->height, i == 0 ? WHOLE_HEIGHT : 1);
        assert_memory_equal(image->pixels, rest[i], (size_t)image->width * (size_t)image->height * 4);
        ex_image_destroy(image);
    }
    const long long length = number(item(g.json, "buffers", 0), "byteLength");
    assert_true(length <= (long long)g.bin_size && length + 3 >= (long long)g.bin_size);
    assert_int_equal(check_views(&g, pack) + 2, json_array_size(json_object_get(g.json, "bufferViews")));
    free(pack);
    close_glb(&g);
    ex_rig_destroy(rig);
    for (size_t i = 0; i < 4; i++) /* opaque ones need no blending; others are shown only if glTF knows their name */
        for (size_t k = 3; k < sizeof w.pixels[i]; k += 4)
            w.pixels[i][k] = 255;
    w.layers[3].pixels.texture = "detail";
    rig = rig_of(&w.def);
    assert_int_equal(ex_rig_write(scratch_path("w.glb"), rig, NULL), EX_OK);
    g = open_glb("w.glb");
    material = item(g.json, "materials", 0);
    assert_null(json_object_get(material, "alphaMode"));
    assert_null(json_object_get(material, "normalTexture"));
    assert_int_equal(json_array_size(json_object_get(g.json, "images")), 1);
    close_glb(&g);
    ex_rig_destroy(rig);
    w.def.mesh.texcoords = NULL; /* nothing to put a texture on */
    rig = rig_of(&w.def);
    assert_int_equal(ex_rig_write(scratch_path("w.glb"), rig, NULL), EX_OK);
    g = open_glb("w.glb");
    assert_null(json_object_get(g.json, "materials"));
    assert_null(json_object_get(g.json, "images"));
    close_glb(&g);
    ex_rig_destroy(rig);
    whole_rig_close(&w);
}

/* Images are not morph targets, but the ends of trajectories are; the levels are only for Exemplar. */
static void only_forms_are_morph_targets(void **state) {
    (void)state;
    whole_rig w;
    ex_rig *rig = write_whole(&w, WHOLE_ALL & ~WHOLE_OFFSETS, "w.glb");
    glb g = open_glb("w.glb");
    json_t *mesh = item(g.json, "meshes", 0), *primitive = item(mesh, "primitives", 0);
    json_t *names = json_object_get(json_object_get(mesh, "extras"), "targetNames");
    assert_int_equal(json_array_size(json_object_get(primitive, "targets")), 13);
    assert_int_equal(json_array_size(names), 13);
    assert_int_equal(json_array_size(json_object_get(mesh, "weights")), 13);
    assert_string_equal(json_string_value(json_array_get(names, 3)), "belly/thin");
    assert_string_equal(json_string_value(json_array_get(names, 6)), "joints / \"moved\"/moved");
    assert_string_equal(json_string_value(json_array_get(names, 11)), "paths/corrected");
    double weights[17];
    void *scratch = malloc(ex_rig_scratch_size(rig, NULL, 1));
    ex_rig_evaluate(rig, NULL, &(ex_output){.weights = weights}, NULL, scratch);
    free(scratch);
    static const int examples[13] = {0, 1, 2, 5, 6, 7, 8, 11, 12, 13, 14, 15, 16};
    const ex_rig_mesh m = ex_rig_get_mesh(rig);
    for (int k = 0; k < 13; k++) {
        assert_true(json_number_value(item(mesh, "weights", (size_t)k)) == (double)(float)weights[examples[k]]);
        const long long accessor = number(item(primitive, "targets", (size_t)k), "POSITION");
        const float *target = (const float *)(const void *)accessor_data(&g, accessor, 5126, "VEC3", m.split_count);
        check_bounds(&g, accessor, target, m.split_count);
        float delta[27];
        if (k < 9)
            ex_rig_example_delta(rig, k < 3 ? 0 : k < 5 ? 2 : k < 7 ? 3 : 5, k < 3 ? k : (k - 3) % 2, delta);
        else
            ex_rig_example_delta(rig, 6, k - 9, delta);
        for (int s = 0; s < m.split_count; s++)
            assert_memory_equal(target + 3 * s, delta + 3 * m.split_source[s], 12);
    }
    accessor_data(&g, number(primitive, "indices"), 5125, "SCALAR", 3 * m.triangle_count); /* the cage's */
    close_glb(&g);
    ex_rig_destroy(rig);
    whole_rig_close(&w);
}

/* Offsets are sparse targets behind the forms, as any reader of glTF finds them. */
static void offsets_are_sparse_targets(void **state) {
    (void)state;
    whole_rig w;
    ex_rig *rig = write_whole(&w, WHOLE_ALL, "w.glb");
    ex_scene *scene = NULL;
    ex_error error;
    if (ex_scene_read(scratch_path("w.glb"), &scene, &error) != EX_OK)
        fail_msg("%s", error.text);
    const ex_rig_mesh m = ex_rig_get_mesh(rig);
    assert_int_equal(scene->meshes[0].target_count, 22);
    assert_string_equal(scene->meshes[0].target_names[13], "sparse/one");
    for (int k = 0; k < 9; k++) {
        float delta[27];
        ex_rig_example_delta(rig, 6 + k / 3, k % 3, delta);
        for (int s = 0; s < m.split_count; s++)
            assert_memory_equal(scene->meshes[0].primitives[0].targets[13 + k].positions + 3 * s,
                                delta + 3 * m.split_source[s], 12);
    }
    ex_scene_destroy(scene);
    glb g = open_glb("w.glb");
    json_t *primitive = item(item(g.json, "meshes", 0), "primitives", 0);
    const json_t *accessor = item(g.json, "accessors", (size_t)number(item(primitive, "targets", 13), "POSITION"));
    assert_non_null(json_object_get(accessor, "sparse"));
    close_glb(&g);
    ex_rig_destroy(rig);
    whole_rig_close(&w);
}

static void whole_rigs_read_back(void **state) {
    (void)state;
    whole_rig w;
    ex_rig *rig = write_whole(&w, WHOLE_ALL, "w.glb"), *again = NULL, *cage = NULL;
    ex_error error;
    if (ex_rig_read(scratch_path("w.glb"), NULL, &again, &error) != EX_OK)
        fail_msg("%s", error.text);
    assert_same_evaluation(rig, again, 5);
    assert_int_equal(ex_rig_write(scratch_path("again.glb"), again, NULL), EX_OK);
    size_t size_a, size_b;
    char *a = scratch_read("w.glb", &size_a), *b = scratch_read("again.glb", &size_b);
    assert_int_equal(size_a, size_b);
    assert_memory_equal(a, b, size_a);
    free(a);
    free(b);
    assert_int_equal(ex_rig_read(scratch_path("w.glb"), &(ex_rig_options){.without_levels = true}, &cage, NULL), EX_OK);
    assert_int_equal(ex_rig_level_count(cage), 0);
    assert_int_equal(ex_rig_write(scratch_path("cage.glb"), cage, &error), EX_ERROR_ARGUMENT);
    assert_non_null(strstr(error.text, "cage.glb"));
    assert_non_null(strstr(error.text, "levels"));
    ex_rig_destroy(cage);
    ex_rig_destroy(again);
    ex_rig_destroy(rig);
    whole_rig_close(&w);
}

static ex_result write_once(void *context) {
    return ex_rig_write(scratch_path("sweep.glb"), context, NULL);
}

static void memory_runs_out(void **state) {
    (void)state;
    whole_rig w;
    ex_rig *rig = write_whole(&w, WHOLE_ALL, "w.glb");
    assert_true(fail_alloc_sweep(write_once, rig) > 8);
    ex_rig_destroy(rig);
    whole_rig_close(&w);
}

/* Unpacks a block of exactly this size, so that the sanitizer and valgrind see reads beyond it. */
static ex_result unpack_exactly(const char *bytes, size_t size, ex_rig **rig) {
    char *exact = malloc(size > 0 ? size : 1);
    assert_non_null(exact);
    memcpy(exact, bytes, size);
    ex_result result = ex_rig_unpack(exact, size, NULL, NULL, rig, NULL);
    free(exact);
    return result;
}

static void every_cut_is_an_error(void **state) {
    (void)state;
    ex_rig *rig = write_rig("{'exemplar': 1, 'mesh': 'points.obj', 'layers': []}", "p.glb"), *cut = NULL;
    size_t size;
    char *bytes = scratch_read("p.glb", &size);
    for (size_t length = 0; length < size; length++)
        if (unpack_exactly(bytes, length, &cut) == EX_OK)
            fail_msg("%zu of %zu bytes were enough", length, size);
    free(bytes);
    ex_rig_destroy(rig);
}

/* True if the byte at `at` of a pack belongs to its header or to a section, and not to the padding between them. */
static bool means_something(const char *pack, size_t at) {
    for (int i = 0; i < ex_pack_section_count(pack); i++) {
        ex_section section = ex_pack_section(pack, i);
        if (at >= section.offset && at - section.offset < section.size)
            return true;
    }
    return at < ex_pack_header_size(pack);
}

static void every_flipped_byte_is_an_error_or_the_same_rig(void **state) {
    (void)state;
    ex_rig *rig =
        write_rig("{'exemplar': 1, 'mesh': 'points.obj', 'layers': [{'name': 'l', 'space': [{'name': 'a', 'min': 0, "
                  "'max': 1}], 'examples': [{'name': 'e', 'mesh': 'points.obj', 'at': {}}]}]}",
                  "p.glb");
    size_t size;
    char *bytes = scratch_read("p.glb", &size);
    uint32_t json_size = u32(bytes + 12);
    size_t pack_size;
    char *pack = pack_of(rig, &pack_size);
    int same = 0;
    for (size_t i = 0; i < size; i++) {
        ex_rig *flipped = NULL;
        bytes[i] = (char)(bytes[i] ^ 0x55);
        if (unpack_exactly(bytes, size, &flipped) == EX_OK) {
            check_same_rig(rig, flipped);
            same++;
            if (i >= 28 + json_size && means_something(pack, i - 28 - json_size))
                fail_msg("byte %zu of the pack is not looked at", i - 28 - json_size);
        }
        ex_rig_destroy(flipped);
        bytes[i] = (char)(bytes[i] ^ 0x55);
    }
    assert_true(same >= (int)json_size);
    free(pack);
    free(bytes);
    ex_rig_destroy(rig);
}

/* Makes a rig of the same mesh with one note, of arbitrary bytes, and converts it back to a mesh. */
static ex_result mesh_with_note(const ex_rig *rig, const ex_attachment *note) {
    ex_rig_def def = ex_rig_def_default();
    float positions[24];
    ex_rig *made = NULL;
    ex_mesh *mesh = NULL;
    ex_error error;
    ex_rig_rest_mesh(rig, positions);
    def.mesh = ex_rig_get_mesh(rig);
    def.mesh.positions = positions;
    def.notes = note;
    def.note_count = 1;
    if (ex_rig_create(&def, NULL, &made, &error) != EX_OK)
        fail_msg("%s", error.text);
    ex_result result = ex_rig_to_mesh(made, NULL, &mesh, &error);
    if (result == EX_OK && mesh->face_groups)
        for (int f = 0; f < mesh->face_count; f++)
            assert_in_range(mesh->face_groups[f] + 1, 0, mesh->group_count);
    else if (result != EX_OK)
        assert_non_null(strstr(error.text, note->kind));
    ex_mesh_destroy(mesh);
    ex_rig_destroy(made);
    return result;
}

/* Groups, materials, colours and tags that are cut short are an error; with any byte changed they are a mesh or an
 * error. */
static void notes_may_be_hostile(void **state) {
    (void)state;
    ex_rig *rig = build_text(project);
    assert_int_equal(ex_rig_attachment_count(rig), 4);
    for (int n = 0; n < 4; n++) {
        ex_attachment note = ex_rig_attachment(rig, n);
        char *bytes = malloc(note.size);
        assert_non_null(bytes);
        memcpy(bytes, note.data, note.size);
        note.data = bytes;
        assert_int_equal(mesh_with_note(rig, &note), EX_OK);
        for (size_t i = 0; i < note.size; i++) {
            assert_int_equal(mesh_with_note(rig, &(ex_attachment){note.kind, bytes, i}), EX_ERROR_DATA);
            for (int bit = 0; bit < 8; bit += 7) {
                bytes[i] = (char)(bytes[i] ^ 1 << bit);
                ex_result result = mesh_with_note(rig, &note);
                assert_true(result == EX_OK || result == EX_ERROR_DATA);
                bytes[i] = (char)(bytes[i] ^ 1 << bit);
            }
        }
        free(bytes);
    }
    ex_rig_destroy(rig);
}

static void names_the_file(void **state) {
    (void)state;
    ex_rig *rig = write_rig(project, "r.glb"), *read = NULL;
    ex_error error;
    size_t size;
    const size_t pack = ex_rig_pack_size(rig);
    char *bytes = scratch_read("r.glb", &size);
    glb g = open_glb("r.glb");
    bytes[(size_t)(g.bin - g.bytes) + pack - 40] ^= 1;
    close_glb(&g);
    scratch_write("bad.glb", bytes, size);
    assert_int_equal(ex_rig_read(scratch_path("bad.glb"), NULL, &read, &error), EX_ERROR_CHECKSUM);
    assert_ptr_equal(strstr(error.text, scratch_path("bad.glb")), error.text);
    write_text("text.glb", "no rig at all, but long enough to be one, or so it seems to me\n");
    assert_int_equal(ex_rig_read(scratch_path("text.glb"), NULL, &read, &error), EX_ERROR_FORMAT);
    assert_ptr_equal(strstr(error.text, scratch_path("text.glb")), error.text);
    assert_int_equal(ex_rig_read(scratch_path("none.glb"), NULL, &read, &error), EX_ERROR_FILE);
    int before = scratch_entry_count();
    assert_int_equal(ex_rig_write(scratch_path("no/r.glb"), rig, &error), EX_ERROR_FILE);
    assert_non_null(strstr(error.text, "no/r.glb"));
    assert_int_equal(ex_rig_write("/dev/full", rig, &error), EX_ERROR_FILE);
    assert_int_equal(scratch_entry_count(), before);
    assert_null(read);
    free(bytes);
    ex_rig_destroy(rig);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(viewers_find_a_mesh_with_morph_targets),
        cmocka_unit_test(viewers_see_the_rest_pose),
        cmocka_unit_test(the_pack_is_the_binary_chunk),
        cmocka_unit_test(reads_back_what_it_wrote),
        cmocka_unit_test(points_and_no_layers),
        cmocka_unit_test(every_cut_is_an_error),
        cmocka_unit_test(every_flipped_byte_is_an_error_or_the_same_rig),
        cmocka_unit_test(notes_may_be_hostile),
        cmocka_unit_test(names_the_file),
        cmocka_unit_test(viewers_find_a_skin),
        cmocka_unit_test(skeletons_without_skin),
        cmocka_unit_test(viewers_find_textures_at_rest),
        cmocka_unit_test(only_forms_are_morph_targets),
        cmocka_unit_test(offsets_are_sparse_targets),
        cmocka_unit_test(whole_rigs_read_back),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests_name("author.formats.rig_glb", tests, set_up, scratch_tear_down);
}

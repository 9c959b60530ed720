/*
 * Rig files: what a viewer that knows nothing of Exemplar finds in them, what we read back, and what is said of files
 * that are damaged, cut or something else. The framing is taken apart here by hand.
 */
#include "author/project/projects.h"

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

/* The bytes of an accessor, whose kind must be as told. */
static const char *accessor_data(const glb *g, long long index, int component, const char *type, long long count) {
    json_t *accessor = item(g->json, "accessors", (size_t)index);
    assert_int_equal(number(accessor, "componentType"), component);
    assert_string_equal(json_string_value(json_object_get(accessor, "type")), type);
    assert_int_equal(number(accessor, "count"), count);
    json_t *view = item(g->json, "bufferViews", (size_t)number(accessor, "bufferView"));
    assert_int_equal(number(view, "buffer"), 0);
    assert_int_equal(number(view, "byteOffset") % 4, 0);
    assert_true(number(view, "byteOffset") + number(view, "byteLength") <= (long long)g->bin_size);
    assert_int_equal(number(view, "target"), component == 5125 ? 34963 : 34962);
    return g->bin + number(view, "byteOffset");
}

/* Accessors over positions say their smallest and largest numbers. */
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
    assert_int_equal(json_object_size(attributes), 3);
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

static void the_pack_is_the_binary_chunk(void **state) {
    (void)state;
    ex_rig *rig = write_rig(project, "r.glb");
    glb g = open_glb("r.glb");
    size_t size;
    char *pack = pack_of(rig, &size);
    assert_in_range(g.bin_size, size, size + 3);
    assert_memory_equal(g.bin, pack, size);
    assert_int_equal((g.bin - g.bytes) % 16, 0);
    assert_int_equal(number(item(g.json, "buffers", 0), "byteLength"), size);
    assert_int_equal(json_array_size(json_object_get(g.json, "buffers")), 1);
    assert_string_equal(json_string_value(item(g.json, "extensionsUsed", 0)), "EXEMPLAR_rig");
    assert_null(json_object_get(g.json, "extensionsRequired"));
    json_t *extension = json_object_get(json_object_get(g.json, "extensions"), "EXEMPLAR_rig");
    assert_int_equal(number(extension, "bufferView"), 0);
    assert_int_equal(number(extension, "format"), EX_FORMAT);
    json_t *view = item(g.json, "bufferViews", 0);
    assert_int_equal(number(view, "byteOffset"), 0);
    assert_int_equal(number(view, "byteLength"), ex_pack_header_size(pack));
    /* Every section of the pack has a view of its own. */
    int found = 0, filled = 0;
    for (int i = 0; i < ex_pack_section_count(pack); i++) {
        ex_section section = ex_pack_section(pack, i);
        filled += section.size > 0;
        for (size_t v = 1; v < json_array_size(json_object_get(g.json, "bufferViews")); v++)
            found += section.size > 0 &&
                     number(item(g.json, "bufferViews", v), "byteOffset") == (long long)section.offset &&
                     number(item(g.json, "bufferViews", v), "byteLength") == (long long)section.size;
    }
    assert_int_equal(found, filled);
    free(pack);
    ex_rig_destroy(rig);
    close_glb(&g);
}

static void reads_back_what_it_wrote(void **state) {
    (void)state;
    ex_rig *rig = write_rig(project, "r.glb"), *again = NULL, *small = NULL;
    assert_int_equal(ex_rig_read(scratch_path("r.glb"), EX_STORAGE_FLOAT, &again, NULL), EX_OK);
    check_same_rig(rig, again);
    assert_int_equal(ex_rig_read(scratch_path("r.glb"), EX_STORAGE_16_BIT, &small, NULL), EX_OK);
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
    /* With one layer, targets are called as their examples are. */
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

/* From a block of exactly this size, so that reading beyond it is seen by the sanitizer and by valgrind. */
static ex_result unpack_exactly(const char *bytes, size_t size, ex_rig **rig) {
    char *exact = malloc(size > 0 ? size : 1);
    assert_non_null(exact);
    memcpy(exact, bytes, size);
    ex_result result = ex_rig_unpack(exact, size, EX_STORAGE_FLOAT, NULL, rig, NULL);
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

/* Whether the byte at `at` of a pack belongs to its header or to a section, and not to the padding between them. */
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

/* A rig of the same mesh with one note, from bytes that may be anything, back to a mesh. */
static ex_result mesh_with_note(const ex_rig *rig, const ex_note *note) {
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

/* Groups, materials, colours and tags that end too early are an error; with any byte changed they are something. */
static void notes_may_be_hostile(void **state) {
    (void)state;
    ex_rig *rig = build_text(project);
    assert_int_equal(ex_rig_note_count(rig), 4);
    for (int n = 0; n < 4; n++) {
        ex_note note = ex_rig_note(rig, n);
        char *bytes = malloc(note.size);
        assert_non_null(bytes);
        memcpy(bytes, note.data, note.size);
        note.data = bytes;
        assert_int_equal(mesh_with_note(rig, &note), EX_OK);
        for (size_t i = 0; i < note.size; i++) {
            assert_int_equal(mesh_with_note(rig, &(ex_note){note.kind, bytes, i}), EX_ERROR_DATA);
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
    char *bytes = scratch_read("r.glb", &size);
    bytes[size - 40] ^= 1;
    scratch_write("bad.glb", bytes, size);
    assert_int_equal(ex_rig_read(scratch_path("bad.glb"), EX_STORAGE_FLOAT, &read, &error), EX_ERROR_CHECKSUM);
    assert_ptr_equal(strstr(error.text, scratch_path("bad.glb")), error.text);
    write_text("text.glb", "no rig at all, but long enough to be one, or so it seems to me\n");
    assert_int_equal(ex_rig_read(scratch_path("text.glb"), EX_STORAGE_FLOAT, &read, &error), EX_ERROR_FORMAT);
    assert_ptr_equal(strstr(error.text, scratch_path("text.glb")), error.text);
    assert_int_equal(ex_rig_read(scratch_path("none.glb"), EX_STORAGE_FLOAT, &read, &error), EX_ERROR_FILE);
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
    };
    return cmocka_run_group_tests_name("author.formats.rig_glb", tests, set_up, scratch_tear_down);
}

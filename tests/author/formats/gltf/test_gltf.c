/*
 * Reading glTF: a small file by hand, every component type, containers and URIs, every error with its sentence, damage,
 * failing memory. Writing is in test_gltf_write.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <exemplar/author/formats.h>

#include "support/check.h"
#include "support/fail_alloc.h"
#include "support/scenes.h"
#include "support/scratch.h"

/* Parses a block of exactly this size, so that the sanitizer and valgrind see reads beyond it. */
static ex_result parse_exactly(const char *bytes, size_t size, ex_scene **scene, ex_error *error) {
    char *exact = malloc(size > 0 ? size : 1);
    assert_non_null(exact);
    memcpy(exact, bytes, size);
    ex_result result = ex_scene_parse(exact, size, "x.glb", false, scene, error);
    free(exact);
    return result;
}

static ex_result parse_json(const char *json, ex_scene **scene, ex_error *error) {
    unsigned char buffer[LITTLE_SIZE];
    size_t size;
    little_buffer(buffer);
    char *glb = make_glb(json, buffer, sizeof buffer, &size);
    ex_result result = parse_exactly(glb, size, scene, error);
    free(glb);
    return result;
}

static ex_scene *must_parse(const char *json) {
    ex_scene *scene;
    ex_error error;
    if (parse_json(json, &scene, &error) != EX_OK)
        fail_msg("%s", error.text);
    return scene;
}

/* The little file with one thing changed. */
static ex_scene *must_parse_with(const char *find, const char *by) {
    char *json = replace_text(little_json, find, by);
    ex_scene *scene = must_parse(json);
    free(json);
    return scene;
}

/* ---- by hand ---- */

static void check_little(const ex_scene *scene) {
    assert_int_equal(scene->node_count, 3);
    assert_string_equal(scene->nodes[0].name, "skin");
    assert_int_equal(scene->nodes[1].parent, -1);
    assert_int_equal(scene->nodes[2].parent, 1);
    assert_true(scene->nodes[1].transform.translation[1] == 1 && scene->nodes[2].transform.scale[1] == 2);
    assert_int_equal(scene->mesh_count, 1);
    const ex_scene_mesh *mesh = &scene->meshes[0];
    assert_int_equal(mesh->target_count, 1);
    assert_true(mesh->weights[0] == 0.5);
    const ex_scene_primitive *p = &mesh->primitives[0];
    assert_int_equal(p->mode, EX_SCENE_TRIANGLES);
    assert_int_equal(p->vertex_count, 3);
    assert_true(p->positions[3] == 1 && p->positions[7] == 1);
    assert_int_equal(p->index_count, 3);
    assert_int_equal(p->indices[2], 2);
    assert_int_equal(p->influence_count, 4);
    assert_int_equal(p->joints[5], 1);
    assert_true(p->weights[5] == 0.5f && p->weights[9] == 0.75f);
    /* The second element is the sparse one. */
    const float target[9] = {0, 0, 1, 7, 8, 9, 0, 0, 3};
    assert_memory_equal(p->targets[0].positions, target, sizeof target);
    assert_int_equal(scene->skins[0].joint_count, 2);
    assert_int_equal(scene->skins[0].joints[1], 2);
    assert_true(scene->skins[0].inverse_binds[16] == 1);
    const ex_scene_channel *channel = &scene->animations[0].channels[0];
    assert_int_equal(channel->key_count, 2);
    assert_true(channel->times[1] == 2 && channel->values[6] == 1);
    assert_int_equal(scene->note_count, 0);
}

static void reads_by_hand(void **state) {
    (void)state;
    ex_scene *scene = must_parse(little_json);
    check_little(scene);
    ex_scene_destroy(scene);
}

/* The same file in every container. */
static void reads_every_container(void **state) {
    (void)state;
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    unsigned char buffer[LITTLE_SIZE];
    char uri[LITTLE_SIZE * 2 + 64] = "\"byteLength\":324,\"uri\":\"data:application/gltf-buffer;base64,";
    little_buffer(buffer);
    char *at = uri + strlen(uri);
    for (int i = 0; i < LITTLE_SIZE; i += 3) { /* 324 is a multiple of 3 */
        unsigned bits = (unsigned)buffer[i] << 16 | (unsigned)buffer[i + 1] << 8 | buffer[i + 2];
        for (int k = 0; k < 4; k++)
            *at++ = digits[bits >> (18 - 6 * k) & 63];
    }
    strcpy(at, "\"");
    char *json = replace_text(little_json, "\"byteLength\":324", uri);
    ex_scene *scene;
    assert_int_equal(ex_scene_parse(json, strlen(json), "x.gltf", false, &scene, NULL), EX_OK);
    check_little(scene);
    ex_scene_destroy(scene);
    free(json);
    /* A file next to it, with a name that must be decoded; the text begins with a byte-order mark. */
    scratch_write("b \xC3\xBC.bin", buffer, sizeof buffer);
    json = replace_text(little_json, "\"byteLength\":324", "\"byteLength\":324,\"uri\":\"./b%20%c3%BC.bin\"");
    char *marked = malloc(strlen(json) + 4);
    assert_non_null(marked);
    sprintf(marked, "\xEF\xBB\xBF%s", json);
    scratch_write("x.gltf", marked, strlen(marked));
    assert_int_equal(ex_scene_read(scratch_path("x.gltf"), &scene, NULL), EX_OK);
    check_little(scene);
    assert_string_equal(scene->path, scratch_path("x.gltf"));
    ex_scene_destroy(scene);
    /* Not opened if no file may be, and a sentence if there is none. */
    ex_error error;
    assert_int_equal(ex_scene_parse(json, strlen(json), scratch_path("x.gltf"), false, &scene, &error), EX_ERROR_FILE);
    remove(scratch_path("b \xC3\xBC.bin"));
    assert_int_equal(ex_scene_read(scratch_path("x.gltf"), &scene, &error), EX_ERROR_FILE);
    assert_non_null(strstr(error.text, "buffers[0]: cannot read"));
    free(marked);
    free(json);
}

/* Unknown parts of a GLB and bytes after its length are skipped. */
static void passes_over_unknown_parts(void **state) {
    (void)state;
    unsigned char buffer[LITTLE_SIZE];
    size_t size;
    little_buffer(buffer);
    char *glb = make_glb(little_json, buffer, sizeof buffer, &size);
    char *longer = calloc(1, size + 24);
    assert_non_null(longer);
    memcpy(longer, glb, size);
    memcpy(longer + size, "\4\0\0\0WHATabcdtail", 16);
    uint32_t length = (uint32_t)size + 12;
    memcpy(longer + 8, &length, 4);
    ex_scene *scene;
    assert_int_equal(parse_exactly(longer, size + 24, &scene, NULL), EX_OK);
    check_little(scene);
    ex_scene_destroy(scene);
    free(longer);
    free(glb);
}

/* ---- numbers ---- */

/* One accessor of a kind as texture coordinates; the buffer's first bytes are given. */
static float *decode(int component, bool normalised, int stride, const void *bytes, size_t size, int count) {
    unsigned char buffer[LITTLE_SIZE];
    char json[1024];
    little_buffer(buffer);
    memcpy(buffer + 104, bytes, size);
    snprintf(
        json, sizeof json,
        "{\"asset\":{\"version\":\"2.0\"},\"meshes\":[{\"primitives\":[{\"attributes\":{\"POSITION\":0,\"TEXCOORD_0\":"
        "1}}]}],"
        "\"accessors\":[{\"componentType\":5126,\"count\":%d,\"type\":\"VEC3\"},"
        "{\"bufferView\":0,\"byteOffset\":4,\"componentType\":%d,\"normalized\":%s,\"count\":%d,\"type\":\"VEC2\"}],"
        "\"bufferViews\":[{\"buffer\":0,\"byteOffset\":100,\"byteLength\":%zu%s%.*d}],\"buffers\":[{\"byteLength\":324}"
        "]}",
        count, component, normalised ? "true" : "false", count, size + 4, stride ? ",\"byteStride\":" : "",
        stride ? 1 : 0, stride);
    size_t glb_size;
    char *glb = make_glb(json, buffer, sizeof buffer, &glb_size);
    ex_scene *scene;
    ex_error error;
    if (parse_exactly(glb, glb_size, &scene, &error) != EX_OK)
        fail_msg("%s", error.text);
    assert_true(scene->meshes[0].primitives[0].positions[3 * count - 1] == 0); /* no view: zeros */
    float *values = scene->meshes[0].primitives[0].texcoords[0];
    scene->meshes[0].primitives[0].texcoords[0] = NULL;
    ex_scene_destroy(scene);
    free(glb);
    return values;
}

static void check_floats(float *values, int count, const float *expected) {
    for (int i = 0; i < count; i++)
        if (values[i] != expected[i])
            fail_msg("number %d is %.9g and not %.9g", i, (double)values[i], (double)expected[i]);
    free(values);
}

static void reads_every_component(void **state) {
    (void)state;
    const int8_t i8[4] = {127, -128, -127, 1};
    const uint8_t u8[4] = {255, 0, 51, 128};
    const int16_t i16[4] = {32767, -32768, -1, 2};
    const uint16_t u16[4] = {65535, 0, 1, 32768};
    const uint32_t u32[4] = {4294967295u, 0, 1, 7};
    const float f32[4] = {1.5f, -0.0f, 3e38f, 1e-40f};
    check_floats(decode(5120, false, 0, i8, 4, 2), 4, (float[]){127, -128, -127, 1});
    check_floats(decode(5120, true, 0, i8, 4, 2), 4, (float[]){1, -1, -1, (float)(1 / 127.0)});
    check_floats(decode(5121, false, 0, u8, 4, 2), 4, (float[]){255, 0, 51, 128});
    check_floats(decode(5121, true, 0, u8, 4, 2), 4, (float[]){1, 0, 0.2f, (float)(128 / 255.0)});
    check_floats(decode(5122, false, 0, i16, 8, 2), 4, (float[]){32767, -32768, -1, 2});
    check_floats(decode(5122, true, 0, i16, 8, 2), 4, (float[]){1, -1, (float)(-1 / 32767.0), (float)(2 / 32767.0)});
    check_floats(decode(5123, false, 0, u16, 8, 2), 4, (float[]){65535, 0, 1, 32768});
    check_floats(decode(5123, true, 0, u16, 8, 2), 4, (float[]){1, 0, (float)(1 / 65535.0), (float)(32768 / 65535.0)});
    check_floats(decode(5125, false, 0, u32, 16, 2), 4, (float[]){4294967296.0f, 0, 1, 7});
    check_floats(decode(5126, false, 0, f32, 16, 2), 4, f32);
    /* Elements eight bytes apart. */
    const uint8_t spread[10] = {1, 2, 99, 99, 99, 99, 99, 99, 3, 4};
    check_floats(decode(5121, false, 8, spread, 10, 2), 4, (float[]){1, 2, 3, 4});
}

static void reads_colours_of_three(void **state) {
    (void)state;
    ex_scene *scene = must_parse_with("\"JOINTS_0\":2", "\"COLOR_0\":7,\"JOINTS_0\":2");
    const float expected[12] = {0, 0, 1, 1, 7, 8, 9, 1, 0, 0, 3, 1};
    assert_memory_equal(scene->meshes[0].primitives[0].colours, expected, sizeof expected);
    ex_scene_destroy(scene);
}

/* ---- cases that the specification leaves to the reader ---- */

static bool has_note(const ex_scene *scene, const char *words) {
    for (int i = 0; i < scene->note_count; i++)
        if (strstr(scene->notes[i], words))
            return true;
    return false;
}

static const struct {
    const char *find, *by, *note;
} lenient[] = {
    {",\"inverseBindMatrices\":6", "", "skins[0]: has no inverse bind matrices"},
    {"\"JOINTS_0\":2", "\"TEXCOORD_2\":0,\"JOINTS_0\":2", "TEXCOORD_2 is ignored"},
    {"\"name\":\"skin\"", "\"camera\":0", "1 camera is ignored"},
    {"\"mesh\":0,\"skin\":0,\"name\":\"skin\"", "\"skin\":0", "1 node has a skin but no mesh"},
    {"\"node\":2,\"path\":\"rotation\"", "\"path\":\"pointer\"", "names no node, and is ignored"},
    {"\"node\":2,\"path\":\"rotation\"", "\"node\":2,\"path\":\"weights\"", "no morph targets, and is ignored"},
    {"\"node\":2,\"path\":\"rotation\"", "\"node\":2,\"path\":\"colour\"", "unknown path, and is ignored"},
    {"{\"weights\":[0.5],", "{\"weights\":[0.5],\"extras\":{\"targetNames\":[1]},",
     "targetNames is not a list of 1 names"},
    {"\"scale\":[1,2,1]", "\"matrix\":[1,0,0,0,1,1,0,0,0,0,1,0,0,0,0,1]", "the matrix shears"},
    {"\"scenes\":[{\"nodes\":[0,1]}]", "\"scenes\":[{\"nodes\":[0]},{\"nodes\":[1]}]", "the file has 2 scenes"},
};

static void notes_what_it_passes_over(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof lenient / sizeof *lenient; i++) {
        ex_scene *scene = must_parse_with(lenient[i].find, lenient[i].by);
        if (!has_note(scene, lenient[i].note))
            fail_msg("no note '%s', but '%s'", lenient[i].note, scene->note_count ? scene->notes[0] : "none");
        ex_scene_destroy(scene);
    }
}

static void reads_matrices(void **state) {
    (void)state;
    /* A quarter turn about z, scaled by 2, 3, -4, moved. */
    ex_scene *scene = must_parse_with("\"scale\":[1,2,1]", "\"matrix\":[0,2,0,0,-3,0,0,0,0,0,-4,0,5,6,7,1]");
    ex_scene_transform *t = &scene->nodes[2].transform;
    double worlds[48];
    assert_int_equal(ex_scene_worlds(scene, NULL, worlds, NULL), EX_OK);
    const double expected[16] = {0, 2, 0, 0, -3, 0, 0, 0, 0, 0, -4, 0, 5, 7, 7, 1};
    assert_row_near(worlds + 32, expected, 16, 1e-14);
    assert_near(fabs(t->scale[0] * t->scale[1] * t->scale[2]), 24, 1e-13);
    assert_int_equal(scene->note_count, 0);
    ex_scene_destroy(scene);
    /* A column of zeros. */
    scene = must_parse_with("\"scale\":[1,2,1]", "\"matrix\":[0,1,0,0,0,0,0,0,0,0,1,0,0,0,0,1]");
    assert_int_equal(ex_scene_worlds(scene, NULL, worlds, NULL), EX_OK);
    const double flat[16] = {0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0, 1};
    assert_row_near(worlds + 32, flat, 16, 1e-14);
    assert_int_equal(scene->note_count, 0);
    ex_scene_destroy(scene);
}

/* Any rotation and scale, mirrored or not, comes back; a sheared one is approximated halfway. */
static void takes_matrices_apart(void **state) {
    (void)state;
    uint64_t random = 9;
    for (int round = 0; round < 300; round++) {
        double q[4], scale[3], m[16] = {[15] = 1}, worlds[48];
        char text[512] = "\"matrix\":[";
        for (int k = 0; k < 4; k++)
            q[k] = random_between(&random, -1, 1) + (round % 5 == k ? 5 : 0);
        for (int k = 0; k < 3; k++)
            scale[k] = random_between(&random, 0.1, 3) * (round % 7 == k ? -1 : 1);
        double n = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
        for (int c = 0; c < 3; c++)
            for (int r = 0; r < 3; r++) {
                int other = 3 - c - r; /* the axis that is neither, where the two differ */
                double turn = r == c ? q[3] * q[3] + 2 * q[c] * q[c] - (n - q[3] * q[3])
                                     : 2 * q[c] * q[r] + 2 * q[3] * q[other] * ((c + 1) % 3 == r ? 1 : -1);
                m[4 * c + r] = turn / n * scale[c];
            }
        m[13] = -1; /* the parent is one up */
        for (int k = 0; k < 16; k++)
            sprintf(text + strlen(text), "%s%.17g", k ? "," : "", m[k]);
        strcat(text, "]");
        ex_scene *scene = must_parse_with("\"scale\":[1,2,1]", text);
        assert_int_equal(scene->note_count, 0);
        assert_int_equal(ex_scene_worlds(scene, NULL, worlds, NULL), EX_OK);
        m[13] = 0;
        assert_row_near(worlds + 32, m, 16, 1e-13);
        ex_scene_destroy(scene);
    }
    /* Columns at 0 and 45 degrees: the rotation by -22.5 is equally far from both. */
    ex_scene *scene = must_parse_with("\"scale\":[1,2,1]", "\"matrix\":[1,0,0,0,1,1,0,0,0,0,1,0,0,0,0,1]");
    double half = acos(-1) / 16;
    assert_row_near(scene->nodes[2].transform.rotation, ((double[]){0, 0, -sin(half), cos(half)}), 4, 1e-14);
    assert_near(scene->nodes[2].transform.scale[1], sqrt(2), 1e-14);
    ex_scene_destroy(scene);
}

/* Weights: of sum 2, all 0, one joint twice. */
static void puts_weights_right(void **state) {
    (void)state;
    unsigned char buffer[LITTLE_SIZE];
    const float weights[12] = {2, 0, 0, 0, 0, 0, 0, 0, 0.25f, 0.5f, 0.25f, 0};
    const uint8_t joints[12] = {1, 99, 0, 0, 99, 99, 99, 99, 1, 0, 1, 7};
    little_buffer(buffer);
    memcpy(buffer + 56, weights, sizeof weights);
    memcpy(buffer + 44, joints, sizeof joints);
    size_t size;
    char *glb = make_glb(little_json, buffer, sizeof buffer, &size);
    ex_scene *scene;
    ex_error error;
    if (parse_exactly(glb, size, &scene, &error) != EX_OK)
        fail_msg("%s", error.text);
    const float expected[12] = {1, 0, 0, 0, 1, 0, 0, 0, 0.5f, 0.5f, 0, 0};
    const uint16_t kept[12] = {1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0};
    assert_memory_equal(scene->meshes[0].primitives[0].weights, expected, sizeof expected);
    assert_memory_equal(scene->meshes[0].primitives[0].joints, kept, sizeof kept);
    assert_true(has_note(scene, "of 1 vertex, the first of them 1 (counting from 0), sum to 0"));
    assert_true(has_note(scene, "of 1 vertex, the first of them 0 (counting from 0), sum to 1 only within 1"));
    ex_scene_destroy(scene);
    free(glb);
}

/* ---- errors ---- */

static const struct {
    const char *find, *by;
    ex_result result;
    const char *sentence;
} wrong[] = {
    {"{\"asset\"", "[{\"asset\"", EX_ERROR_FORMAT, "x.glb:1:"},
    {"\"asset\":{\"version\":\"2.0\"}", "\"a\":1,\"a\":2", EX_ERROR_FORMAT, "duplicate"},
    {"\"asset\":{\"version\":\"2.0\"},", "", EX_ERROR_FORMAT, "asset.version is missing"},
    {"\"version\":\"2.0\"", "\"version\":\"1.0\"", EX_ERROR_VERSION, "is glTF 1.0; only 2.0 is supported"},
    {"\"version\":\"2.0\"", "\"version\":\"2.1\",\"minVersion\":\"2.1\"", EX_ERROR_VERSION, "is glTF 2.1"},
    {"\"scene\":0", "\"extensionsRequired\":[\"KHR_draco_mesh_compression\"]", EX_ERROR_DATA,
     "needs the extension KHR_draco_mesh_compression, which is not supported"},
    {"\"indices\":1", "\"extensions\":{\"KHR_draco_mesh_compression\":{}}", EX_ERROR_DATA, "compressed with Draco"},
    {"{\"buffer\":0,\"byteOffset\":0,", "{\"extensions\":{\"EXT_meshopt_compression\":{}},\"buffer\":0,", EX_ERROR_DATA,
     "buffer or mode is missing"},
    {"\"scene\":0", "\"scene\":1", EX_ERROR_DATA, "scene is scene 1, but the file has 1"},
    {"\"nodes\":[0,1]}", "\"nodes\":[0,9]}", EX_ERROR_DATA,
     "root 1 (counting from 0) is not one of the file's 3 nodes"},
    {"\"mesh\":0", "\"mesh\":1", EX_ERROR_DATA, "nodes[0]: mesh is mesh 1, but the file has 1"},
    {"\"mesh\":0", "\"mesh\":-1", EX_ERROR_DATA, "nodes[0]: mesh must be the number of a mesh"},
    {"\"mesh\":0", "\"mesh\":0.5", EX_ERROR_DATA, "nodes[0]: mesh must be the number of a mesh"},
    {"\"skin\":0", "\"skin\":3", EX_ERROR_DATA, "nodes[0]: skin is skin 3, but the file has 1"},
    {"\"children\":[2]", "\"children\":[3]", EX_ERROR_DATA,
     "child 0 (counting from 0) is not one of the file's 3 nodes"},
    {"\"children\":[2]", "\"children\":[1]", EX_ERROR_DATA, "is its own ancestor"},
    {"\"scale\":[1,2,1]", "\"children\":[1]", EX_ERROR_DATA, "is its own ancestor"},
    {"\"name\":\"skin\"", "\"children\":[2]", EX_ERROR_DATA, "nodes[1]: has nodes[2] as a child, but so has nodes[0]"},
    {"\"translation\":[0,1,0]", "\"translation\":[0,1]", EX_ERROR_DATA, "translation must be a list of 3 numbers"},
    {"\"rotation\":[0,0,0,1]", "\"rotation\":[0,0,0,0]", EX_ERROR_DATA, "rotation is a zero quaternion"},
    {"\"scale\":[1,2,1]", "\"matrix\":[1,0,0,1,0,1,0,0,0,0,1,0,0,0,0,1]", EX_ERROR_DATA, "the row 0 0 0 1"},
    {"\"name\":\"skin\"", "\"name\":7", EX_ERROR_DATA, "nodes[0]: name must be text"},
    {"\"name\":\"skin\"", "\"weights\":[1,2]", EX_ERROR_DATA, "has 2 weights, but its mesh has 1 morph target"},
    {"\"joints\":[1,2]", "\"joints\":[]", EX_ERROR_DATA, "skins[0]: has no joints"},
    {"\"joints\":[1,2]", "\"joints\":[1,1]", EX_ERROR_DATA, "joint 1 is node 1, which is already one of its joints"},
    {"\"joints\":[1,2]", "\"joints\":[1,3]", EX_ERROR_DATA, "skins[0]: joint 1 (counting from 0) is not one"},
    {"\"joints\":[1,2]", "\"joints\":[1,2,0]", EX_ERROR_DATA, "has 3 joints, but only 2 inverse bind matrices"},
    {"\"joints\":[1,2]", "\"joints\":[1]", EX_ERROR_DATA,
     "nodes[0]: vertex 1 of meshes[0].primitives[0] refers to joint 1, but skins[0] has 1 joints"},
    {"\"joints\":[1,2]", "\"joints\":[1,2],\"skeleton\":5", EX_ERROR_DATA, "skeleton is node 5"},
    {"\"inverseBindMatrices\":6", "\"inverseBindMatrices\":3", EX_ERROR_DATA, "it needs 16"},
    {"\"JOINTS_0\":2,\"WEIGHTS_0\":3", "\"NORMAL\":0", EX_ERROR_DATA, "has a skin, but meshes[0].primitives[0] has no"},
    {"\"JOINTS_0\":2,", "", EX_ERROR_DATA, "has 0 sets of joints and 1 of weights"},
    {"\"JOINTS_0\":2", "\"JOINTS_0\":3", EX_ERROR_DATA, "accessor 3 does not hold unsigned whole numbers"},
    {"\"POSITION\":0,", "", EX_ERROR_DATA, "meshes[0].primitives[0]: has no POSITION"},
    {"\"POSITION\":0", "\"POSITION\":8", EX_ERROR_DATA, "POSITION is accessor 8, but the file has 8"},
    {"\"POSITION\":0", "\"POSITION\":3", EX_ERROR_DATA, "has 4 numbers per element; it needs 3"},
    {"\"POSITION\":0", "\"POSITION\":0,\"NORMAL\":5", EX_ERROR_DATA, "accessor 5 has 2 elements, but 3 are needed"},
    {"\"indices\":1", "\"indices\":0", EX_ERROR_DATA, "accessor 0 has 3 numbers per element; it needs 1"},
    {"\"indices\":1", "\"indices\":1,\"mode\":7", EX_ERROR_DATA, "mode must be a whole number from 0 to 6"},
    {"\"indices\":1", "\"indices\":1,\"material\":0", EX_ERROR_DATA, "material is material 0, but the file has 0"},
    {"\"primitives\":[", "\"primitives\":[7,", EX_ERROR_DATA, "primitives[0] must be an object"},
    {"\"targets\":[{\"POSITION\":7}]}]", "\"targets\":[{\"POSITION\":7}]},{\"attributes\":{\"POSITION\":0}}]",
     EX_ERROR_DATA, "meshes[0].primitives[1]: has 0 morph targets, but the first primitive has 1"},
    {"\"targets\":[{\"POSITION\":7}]}]",
     "\"targets\":[{\"POSITION\":7}]},{\"attributes\":{\"POSITION\":0},\"targets\":[{},{}]}]", EX_ERROR_DATA,
     "meshes[0].primitives[1]: has 2 morph targets, but the first primitive has 1"},
    {"\"weights\":[0.5]", "\"weights\":[0.5,1]", EX_ERROR_DATA, "meshes[0]: weights must be a list of 1 numbers"},
    {"\"componentType\":5126,\"count\":3,", "\"componentType\":5124,\"count\":3,", EX_ERROR_DATA,
     "componentType is not one"},
    {"\"componentType\":5126,\"count\":3,", "\"componentType\":1,\"count\":3,", EX_ERROR_DATA,
     "accessors[0]: componentType"},
    {"\"count\":3,\"type\":\"VEC3\"}", "\"count\":4,\"type\":\"VEC3\"}", EX_ERROR_DATA,
     "4 elements from byte 0 on do not fit into the 36 bytes of bufferViews[0]"},
    {"\"count\":3,\"type\":\"VEC3\"}", "\"count\":0,\"type\":\"VEC3\"}", EX_ERROR_DATA, "accessors[0]: count must be"},
    {"\"count\":3,\"type\":\"VEC3\"}", "\"count\":1e300,\"type\":\"VEC3\"}", EX_ERROR_DATA,
     "accessors[0]: count must be"},
    {"\"count\":3,\"type\":\"VEC3\"}", "\"type\":\"VEC3\"}", EX_ERROR_DATA, "accessors[0]: count is missing"},
    {"\"count\":3,\"type\":\"VEC3\"}", "\"count\":3,\"type\":\"MAT3\"}", EX_ERROR_DATA, "type 'MAT3' cannot"},
    {"\"count\":3,\"type\":\"VEC3\"}", "\"count\":3,\"byteOffset\":1,\"type\":\"VEC3\"}", EX_ERROR_DATA, "do not fit"},
    {"{\"bufferView\":0,\"componentType\":5126,\"count\":3", "{\"componentType\":5126,\"count\":500000000",
     EX_ERROR_LIMIT, "would expand to more than 34 MB, the most for its size (34 MB, and 64 times the file): export"},
    {"{\"bufferView\":0,\"componentType\":5126,\"count\":3", "{\"componentType\":5126,\"count\":3000000",
     EX_ERROR_LIMIT, "would expand to more than 34 MB"},
    {"\"byteOffset\":0,\"byteLength\":36", "\"byteLength\":36,\"byteStride\":8", EX_ERROR_DATA,
     "has a byteStride of 8, but an element takes 12"},
    {"\"byteOffset\":0,\"byteLength\":36", "\"byteOffset\":300,\"byteLength\":36", EX_ERROR_DATA,
     "bufferViews[0]: reaches to byte 336, but buffer 0 has 324"},
    {"\"byteOffset\":0,\"byteLength\":36", "\"byteOffset\":9007199254740991,\"byteLength\":36", EX_ERROR_DATA,
     "bufferViews[0]: reaches"},
    {"{\"buffer\":0,\"byteOffset\":0", "{\"buffer\":1,\"byteOffset\":0", EX_ERROR_DATA,
     "buffer is buffer 1, but the file has 1"},
    {"{\"buffer\":0,\"byteOffset\":0", "{\"byteOffset\":0", EX_ERROR_DATA, "bufferViews[0]: buffer is missing"},
    {"\"byteLength\":324", "\"byteLength\":328", EX_ERROR_DATA, "byteLength is 328, but there are only 324 bytes"},
    {"\"byteLength\":324", "\"x\":1", EX_ERROR_DATA, "buffers[0]: byteLength is missing"},
    {"\"byteLength\":324", "\"byteLength\":324,\"uri\":\"http://x.org/b.bin\"", EX_ERROR_DATA,
     "only relative names and data:"},
    {"\"byteLength\":324", "\"byteLength\":324,\"uri\":\"/etc/passwd\"", EX_ERROR_DATA,
     "only relative names and data:"},
    {"\"byteLength\":324", "\"byteLength\":324,\"uri\":\"%2Fetc/passwd\"", EX_ERROR_DATA,
     "does not name a file beside this one"},
    {"\"byteLength\":324", "\"byteLength\":324,\"uri\":\"..\"", EX_ERROR_DATA, "copy it into the folder of this file"},
    {"\"byteLength\":324", "\"byteLength\":324,\"uri\":\"../b.bin\"", EX_ERROR_DATA,
     "copy it into the folder of this file"},
    {"\"byteLength\":324", "\"byteLength\":324,\"uri\":\"%2E%2e/b.bin\"", EX_ERROR_DATA,
     "copy it into the folder of this file"},
    {"\"byteLength\":324", "\"byteLength\":324,\"uri\":\"a/../../b.bin\"", EX_ERROR_DATA,
     "copy it into the folder of this file"},
    {"\"byteLength\":324", "\"byteLength\":324,\"uri\":\"./../b.bin\"", EX_ERROR_DATA,
     "copy it into the folder of this file"},
    {"\"byteLength\":324", "\"byteLength\":324,\"uri\":\"a%2F..%2F..%2Fb.bin\"", EX_ERROR_DATA,
     "copy it into the folder of this file"},
    {"\"byteLength\":324", "\"byteLength\":324,\"uri\":\"%2E.%5Cb.bin\"", EX_ERROR_DATA,
     "copy it into the folder of this file"},
    {"\"byteLength\":324", "\"byteLength\":324,\"uri\":\"a/..%5C../b.bin\"", EX_ERROR_DATA,
     "copy it into the folder of this file"},
    {"\"byteLength\":324", "\"byteLength\":324,\"uri\":\"c%3A/b.bin\"", EX_ERROR_DATA,
     "copy it into the folder of this file"},
    {"\"byteLength\":324", "\"byteLength\":324,\"uri\":\"%5Cb.bin\"", EX_ERROR_DATA,
     "copy it into the folder of this file"},
    {"\"byteLength\":324", "\"byteLength\":324,\"uri\":\"file:///etc/passwd\"", EX_ERROR_DATA,
     "only relative names and data:"},
    {"\"byteLength\":324", "\"byteLength\":324,\"uri\":\"file:b.bin\"", EX_ERROR_DATA, "only relative names and data:"},
    {"\"byteLength\":324", "\"byteLength\":324,\"uri\":\"a%00b\"", EX_ERROR_DATA, "has a zero byte"},
    {"\"byteLength\":324", "\"byteLength\":324,\"uri\":\"data:,abc\"", EX_ERROR_DATA, "the data: URI is not base64"},
    {"\"byteLength\":324", "\"byteLength\":324,\"uri\":\"data:x;base64,AA*A\"", EX_ERROR_DATA,
     "at 2 that is not base64"},
    {"\"byteLength\":324", "\"byteLength\":324,\"uri\":\"data:x;base64,AAAAA\"", EX_ERROR_DATA, "is cut short"},
    {"\"byteLength\":324", "\"byteLength\":324,\"uri\":\"b.bin\"", EX_ERROR_FILE, "cannot be opened here"},
    {"{\"count\":1,", "{\"count\":4,", EX_ERROR_DATA, "accessors[7]: count must be a whole number from 1 to 3"},
    {"\"bufferView\":8,\"componentType\":5123", "\"bufferView\":8,\"componentType\":5122", EX_ERROR_DATA,
     "sparse indices"},
    {"\"bufferView\":8,\"componentType\":5123", "\"bufferView\":0,\"componentType\":5125,\"byteOffset\":12",
     EX_ERROR_DATA, "sparse index 0 (counting from 0) is out of order, or beyond the 3 elements"},
    {"{\"count\":1,\"indices\":{\"bufferView\":8,\"componentType\":5123},\"values\":{\"bufferView\":9}}",
     "{\"count\":2,\"indices\":{\"bufferView\":0,\"componentType\":5121},\"values\":{\"bufferView\":0}}", EX_ERROR_DATA,
     "sparse index 1 (counting from 0) is out of order"},
    {"\"componentType\":5123,\"count\":3,\"type\":\"SCALAR\"}",
     "\"componentType\":5123,\"count\":3,\"type\":\"SCALAR\",\"sparse\":{\"count\":2,\"indices\":{\"bufferView\":0,"
     "\"componentType\":5121},\"values\":{\"bufferView\":1}}}",
     EX_ERROR_DATA, "accessors[1]: sparse index 1 (counting from 0) is out of order"},
    {",\"values\":{\"bufferView\":9}", "", EX_ERROR_DATA, "sparse lacks its count, indices or values"},
    {"{\"bufferView\":9}", "{}", EX_ERROR_DATA, "sparse lacks a bufferView"},
    {"\"interpolation\":\"LINEAR\"", "\"interpolation\":\"CUBIC\"", EX_ERROR_DATA, "not STEP, LINEAR or CUBICSPLINE"},
    {"\"interpolation\":\"LINEAR\"", "\"interpolation\":\"CUBICSPLINE\"", EX_ERROR_DATA,
     "has 2 elements, but 6 are needed for 2 keys"},
    {"\"path\":\"rotation\"", "\"path\":\"scale\"", EX_ERROR_DATA, "accessor 5 has 4 numbers per element; it needs 3"},
    {"\"path\":\"rotation\"", "\"x\":1", EX_ERROR_DATA, "target.path is missing"},
    {"\"sampler\":0", "\"sampler\":1", EX_ERROR_DATA, "sampler is sampler 1, but the file has 1"},
    {"\"input\":4,", "", EX_ERROR_DATA, "its sampler, or the sampler's input or output, is missing"},
    {"\"input\":4", "\"input\":1", EX_ERROR_DATA, "but 3 are needed for 3 keys"},
    {"\"scene\":0", "\"images\":[{}]", EX_ERROR_DATA, "images[0]: has neither a bufferView nor a uri"},
    {"\"scene\":0", "\"images\":[{\"bufferView\":0}]", EX_ERROR_DATA, "images[0]: mimeType is missing"},
    {"\"scene\":0", "\"textures\":[{\"source\":0}]", EX_ERROR_DATA, "source is image 0, but the file has 0"},
    {"\"scene\":0", "\"materials\":[{\"alphaMode\":\"X\"}]", EX_ERROR_DATA, "alphaMode is not"},
    {"\"scene\":0", "\"materials\":[{\"pbrMetallicRoughness\":{\"baseColorTexture\":{\"index\":0}}}]", EX_ERROR_DATA,
     "index is texture 0, but the file has 0"},
    {"\"scene\":0", "\"materials\":[{\"pbrMetallicRoughness\":7}]", EX_ERROR_DATA, "must be an object"},
    {"\"scene\":0", "\"materials\":7", EX_ERROR_DATA, "materials must be a list"},
};

static void says_what_is_wrong(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char *json = replace_text(little_json, wrong[i].find, wrong[i].by);
        ex_scene *scene = (ex_scene *)&scene;
        ex_error error = {.text = "no error"};
        ex_result result = parse_json(json, &scene, &error);
        if (result != wrong[i].result || error.result != result || scene || !strstr(error.text, wrong[i].sentence) ||
            strncmp(error.text, "x.glb", 5) != 0)
            fail_msg("row %d (%s): %d '%s'", (int)i, wrong[i].by, (int)result, error.text);
        free(json);
    }
}

/* Bytes of the buffer that no file should hold. */
static void says_which_number_is_wrong(void **state) {
    (void)state;
    static const struct {
        size_t at;
        float value;
        const char *sentence;
    } rows[] = {
        {12, NAN, "accessors[0]: element 1 (counting from 0) is not finite"},
        {60, -INFINITY, "accessors[3]: element 0 (counting from 0) is not finite"},
        {56, -1, "vertex 0 (counting from 0) has a weight of -1"},
        {56, 3e38F, "vertex 0 (counting from 0) has a weight of 3e+38"},
        {316, INFINITY, "accessors[7]: sparse value 0 (counting from 0) is not finite"},
        {56, -0.01F, "vertex 0 (counting from 0) has a weight of -0.01"},
        {140, -1, "the times of keys must increase from 0"},
        {160, 0, "animations[0].channels[0]: key 0 (counting from 0) is a zero quaternion"},
        {184, NAN, "accessors[6]: element 0"},
        {36, 0x1.0003p-133f, /* the index 3 */
         "meshes[0].primitives[0].indices: element 0 (counting from 0) of accessor 1 is larger than 2"},
        {36, 3e38f, "meshes[0].primitives[0].indices: element 0 (counting from 0) of accessor 1 is larger than 2"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        unsigned char buffer[LITTLE_SIZE];
        size_t size;
        little_buffer(buffer);
        memcpy(buffer + rows[i].at, &rows[i].value, 4);
        char *glb = make_glb(little_json, buffer, sizeof buffer, &size);
        ex_scene *scene;
        ex_error error = {.text = "no error"};
        assert_int_equal(parse_exactly(glb, size, &scene, &error), EX_ERROR_DATA);
        if (!strstr(error.text, rows[i].sentence))
            fail_msg("'%s' and not '%s'", error.text, rows[i].sentence);
        free(glb);
    }
}

static ex_scene *must_parse_number(size_t at, float value) {
    unsigned char buffer[LITTLE_SIZE];
    size_t size;
    ex_scene *scene;
    ex_error error = {.text = "no error"};
    little_buffer(buffer);
    memcpy(buffer + at, &value, 4);
    char *glb = make_glb(little_json, buffer, sizeof buffer, &size);
    if (parse_exactly(glb, size, &scene, &error) != EX_OK)
        fail_msg("%s", error.text);
    free(glb);
    return scene;
}

/* Programs write a jump as two keys at one time, and weights that are rounded to below 0. */
static void puts_small_faults_right(void **state) {
    (void)state;
    ex_scene *scene = must_parse_number(144, 0);
    const float *times = scene->animations[0].channels[0].times;
    assert_true(times[0] == 0 && times[1] > 0 && times[1] < 1e-30F);
    assert_true(has_note(scene, "animations[0]: 1 key is at the time of the key before, and comes right after it"));
    ex_scene_destroy(scene);
    scene = must_parse_number(56, -1e-6F);
    const ex_scene_primitive *p = &scene->meshes[0].primitives[0];
    double sum = 0;
    for (int k = 0; k < p->influence_count; k++) {
        assert_true(p->weights[k] >= 0);
        sum += (double)p->weights[k];
    }
    assert_float_equal(sum, 1, 1e-6);
    ex_scene_destroy(scene);
}

static void refuses_other_containers(void **state) {
    (void)state;
    static const struct {
        const char *bytes;
        size_t size;
        ex_result result;
        const char *sentence;
    } rows[] = {{"", 0, EX_ERROR_FORMAT, "x.glb is empty"},
                {"glTF\2\0\0", 7, EX_ERROR_FORMAT, "ends within its first 12 bytes"},
                {"glTF\1\0\0\0\14\0\0\0", 12, EX_ERROR_VERSION, "of version 1"},
                {"glTF\2\0\0\0\15\0\0\0", 12, EX_ERROR_FORMAT, "should have 13 bytes and has 12"},
                {"glTF\2\0\0\0\14\0\0\0", 12, EX_ERROR_FORMAT, "has no JSON part"},
                {"glTF\2\0\0\0\24\0\0\0\1\0\0\0JSON", 20, EX_ERROR_FORMAT, "part 0 (counting from 0) reaches beyond"},
                {"glTF\2\0\0\0\24\0\0\0\0\0\0\0BIN\0", 20, EX_ERROR_FORMAT, "first part is not the JSON part"},
                {"what", 4, EX_ERROR_FORMAT, "x.glb:1:"},
                {"[\"\\u0000\"]", 10, EX_ERROR_FORMAT, "x.glb:1: a text has the character NUL (\\u0000) in it"},
                {"ply\n", 4, EX_ERROR_FORMAT, "x.glb: this is a PLY file; a scene is read from"},
                {"[]", 2, EX_ERROR_FORMAT, "its JSON is not an object"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        ex_scene *scene;
        ex_error error = {.text = "no error"};
        assert_int_equal(parse_exactly(rows[i].bytes, rows[i].size, &scene, &error), rows[i].result);
        assert_non_null(strstr(error.text, rows[i].sentence));
        assert_null(scene);
    }
    ex_scene *scene;
    assert_int_equal(ex_scene_read("/nowhere.glb", &scene, NULL), EX_ERROR_FILE);
}

/* Reading a device would never end. */
static void refuses_devices(void **state) {
    (void)state;
    static const char *const uris[] = {".", "./."};
    for (size_t i = 0; i < 2; i++) {
        char buffer[128];
        snprintf(buffer, sizeof buffer, "\"byteLength\":324,\"uri\":\"%s\"", uris[i]);
        char *json = replace_text(little_json, "\"byteLength\":324", buffer);
        scratch_write("x.gltf", json, strlen(json));
        ex_scene *scene;
        ex_error error;
        assert_int_equal(ex_scene_read(scratch_path("x.gltf"), &scene, &error), EX_ERROR_FILE);
        assert_sentence(&error, EX_ERROR_FILE, "is not a file");
        free(json);
    }
}

/* ---- damage and failing memory ---- */

static void survives_damage(void **state) {
    (void)state;
    unsigned char buffer[LITTLE_SIZE];
    size_t size;
    little_buffer(buffer);
    char *glb = make_glb(little_json, buffer, sizeof buffer, &size);
    for (size_t cut = 0; cut < size; cut++) {
        ex_scene *scene;
        ex_error error;
        assert_int_not_equal(parse_exactly(glb, cut, &scene, &error), EX_OK);
        assert_null(scene);
        assert_true(strlen(error.text) > 10);
    }
    for (size_t at = 0; at < size; at++)
        for (int bit = 0; bit < 8; bit += at < size - LITTLE_SIZE ? 3 : 1) {
            ex_scene *scene;
            glb[at] = (char)(glb[at] ^ (1 << bit));
            ex_result result = parse_exactly(glb, size, &scene, NULL);
            assert_int_equal(result == EX_OK, scene != NULL);
            if (scene)
                assert_int_equal(ex_scene_check(scene, NULL), EX_OK);
            ex_scene_destroy(scene);
            glb[at] = (char)(glb[at] ^ (1 << bit));
        }
    free(glb);
}

static ex_result read_with_little_memory(void *context) {
    ex_scene *scene;
    ex_error error = {.result = EX_OK};
    ex_result result = ex_scene_read(context, &scene, &error);
    if ((result == EX_OK) != (scene != NULL) || error.result != result)
        return EX_ERROR_DATA;
    ex_scene_destroy(scene);
    return result;
}

static void survives_failing_memory(void **state) {
    (void)state;
    unsigned char buffer[LITTLE_SIZE];
    little_buffer(buffer);
    scratch_write("b.bin", buffer, sizeof buffer);
    char *json =
        replace_text(little_json, "\"byteLength\":324",
                     "\"byteLength\":324,\"uri\":\"b.bin\"}],\"images\":[{\"uri\":\"data:image/png;base64,AAAA\"},"
                     "{\"bufferView\":0,\"mimeType\":\"image/png\",\"name\":\"x\"},{\"uri\":\"a.png\"}],"
                     "\"textures\":[{\"source\":0,\"extras\":{}}],\"materials\":[{\"name\":\"m\",\"extras\":{\"a\":1},"
                     "\"extensions\":{\"KHR_materials_pbrSpecularGlossiness\":{\"diffuseFactor\":[1,1,1,1]}}");
    char *more = replace_text(json, "{\"weights\":[0.5],", "{\"weights\":[0.5],\"extras\":{\"targetNames\":[\"a\"]},");
    char *noted = replace_text(more, ",\"inverseBindMatrices\":6", "");
    scratch_write("x.gltf", noted, strlen(noted));
    char path[512];
    snprintf(path, sizeof path, "%s", scratch_path("x.gltf"));
    assert_true(fail_alloc_sweep(read_with_little_memory, path) >= 40);
    free(noted);
    free(more);
    free(json);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_set_up, scratch_tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_by_hand),
        TEST(reads_every_container),
        cmocka_unit_test(passes_over_unknown_parts),
        cmocka_unit_test(reads_every_component),
        cmocka_unit_test(reads_colours_of_three),
        cmocka_unit_test(notes_what_it_passes_over),
        cmocka_unit_test(reads_matrices),
        cmocka_unit_test(puts_weights_right),
        cmocka_unit_test(says_what_is_wrong),
        cmocka_unit_test(says_which_number_is_wrong),
        cmocka_unit_test(puts_small_faults_right),
        cmocka_unit_test(refuses_other_containers),
        TEST(refuses_devices),
        cmocka_unit_test(takes_matrices_apart),
        cmocka_unit_test(survives_damage),
        TEST(survives_failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

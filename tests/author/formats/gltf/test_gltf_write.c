/*
 * Writing glTF: the output reads back as the same scene, in both containers and for real files; the same bytes each
 * time; scenes that cannot be written are refused before anything is written.
 */
#define _XOPEN_SOURCE 700

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <ftw.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <exemplar/author/formats.h>

#include "author/formats/gltf/glb.h"
#include "support/fail_alloc.h"
#include "support/scenes.h"
#include "support/scratch.h"
#include "support/skip.h"

static ex_scene *must_read(const char *path) {
    ex_scene *scene;
    ex_error error;
    if (ex_scene_read(path, &scene, &error) != EX_OK)
        fail_msg("%s", error.text);
    return scene;
}

static void must_write(const char *path, const ex_scene *scene) {
    ex_error error;
    if (ex_scene_write(path, scene, &error) != EX_OK)
        fail_msg("%s", error.text);
}

static void check_round_trip(const ex_scene *scene, const char *name) {
    must_write(scratch_path(name), scene);
    ex_scene *again = must_read(scratch_path(name));
    assert_true(scenes_are_same(scene, again));
    ex_scene_destroy(again);
}

static void writes_what_it_reads(void **state) {
    (void)state;
    ex_scene *scene = scene_with_everything();
    check_round_trip(scene, "out.glb");
    check_round_trip(scene, "o ut%.gltf");
    assert_int_equal(scratch_entry_count(), 3);
    ex_scene_destroy(scene);
    scene = ex_scene_create();
    check_round_trip(scene, "empty.glb");
    check_round_trip(scene, "empty.gltf");
    assert_int_equal(scratch_entry_count(), 5);
    ex_scene_destroy(scene);
}

static void writes_the_same_bytes(void **state) {
    (void)state;
    size_t size[2];
    char *bytes[2];
    for (int i = 0; i < 2; i++) {
        ex_scene *scene = scene_with_everything();
        must_write(scratch_path("out.glb"), scene);
        bytes[i] = scratch_read("out.glb", &size[i]);
        ex_scene_destroy(scene);
    }
    assert_int_equal(size[0], size[1]);
    assert_memory_equal(bytes[0], bytes[1], size[0]);
    free(bytes[0]);
    free(bytes[1]);
}

/* By hand: one triangle, down to the last byte of its JSON. */
static void writes_by_hand(void **state) {
    (void)state;
    ex_scene *scene = ex_scene_create();
    ex_mesh *mesh;
    const char obj[] = "v 0 0 0\nv 1 0 0\nv 0 0.1 0\nf 1 2 3\n";
    assert_int_equal(ex_obj_parse(obj, sizeof obj - 1, "x", &mesh, NULL), EX_OK);
    assert_int_equal(ex_scene_add_mesh(scene, mesh, "t", NULL, NULL), EX_OK);
    assert_int_equal(ex_scene_add_node(scene, NULL, -1, 0), 0);
    scene->nodes[0].transform.translation[0] = 0.1;
    must_write(scratch_path("out.glb"), scene);
    size_t size;
    char *bytes = scratch_read("out.glb", &size);
    char expected[1024];
    snprintf(expected, sizeof expected,
             "{\"asset\":{\"version\":\"2.0\",\"generator\":\"%s\"},\"scene\":0,\"scenes\":[{\"nodes\":[0]}],"
             "\"nodes\":[{\"translation\":[0.1,0,0],\"mesh\":0}],\"meshes\":[{\"name\":\"t\",\"primitives\":[{"
             "\"attributes\":"
             "{\"POSITION\":0},\"indices\":1}]}],\"accessors\":[{\"bufferView\":0,\"componentType\":5126,\"count\":3,"
             "\"type\":\"VEC3\",\"min\":[0,0,0],\"max\":[1,0.10000000149011612,0]},{\"bufferView\":1,"
             "\"componentType\":5123,\"count\":3,\"type\":\"SCALAR\"}],\"bufferViews\":[{\"buffer\":0,\"byteOffset\":0,"
             "\"byteLength\":36,\"target\":34962},{\"buffer\":0,\"byteOffset\":36,\"byteLength\":6,\"target\":34963}],"
             "\"buffers\":[{\"byteLength\":42}]}",
             EXI_GENERATOR);
    assert_memory_equal(bytes, "glTF\2\0\0\0", 8);
    assert_memory_equal(bytes + 16, "JSON", 4);
    assert_memory_equal(bytes + 20, expected, strlen(expected));
    uint32_t json_size, bin_size, total;
    memcpy(&total, bytes + 8, 4);
    memcpy(&json_size, bytes + 12, 4);
    memcpy(&bin_size, bytes + 20 + json_size, 4);
    assert_int_equal(total, size);
    assert_int_equal(bin_size, 44);
    assert_int_equal((28 + json_size) % 16, 0);
    assert_memory_equal(bytes + 28 + json_size + 36, "\0\0\1\0\2\0\0\0", 8);
    free(bytes);
    ex_mesh_destroy(mesh);
    ex_scene_destroy(scene);
}

/* Arrays with the same content are in the file once. */
static void writes_arrays_once(void **state) {
    (void)state;
    ex_scene *scene = scene_with_everything();
    must_write(scratch_path("out.gltf"), scene);
    char *text = scratch_read("out.gltf", NULL);
    int inputs = 0;
    for (const char *at = text; (at = strstr(at, "\"input\": ")); at += 9)
        inputs++;
    assert_int_equal(inputs, 4);
    const char *first = strstr(text, "\"input\": "), *second = strstr(first + 9, "\"input\": ");
    assert_int_equal(atoi(first + 9), atoi(second + 9));
    free(text);
    ex_scene_destroy(scene);
}

/* Every array begins at a multiple of four, whatever precedes it; arrays of the same bytes but another shape are two
 * arrays; vertex indices that exceed two bytes are written in four. */
static void writes_arrays_apart(void **state) {
    (void)state;
    enum { MANY = 70000 };
    ex_scene *scene = scene_with_everything();
    ex_scene_primitive *p = &scene->meshes[0].primitives[1];
    p->index_count = 3; /* six bytes */
    ex_scene_primitive *points = &scene->meshes[1].primitives[0];
    free(points->positions);
    points->vertex_count = MANY;
    points->positions = calloc(MANY, 3 * sizeof(float));
    points->texcoords[0] = calloc(MANY, 2 * sizeof(float));
    points->index_count = 2;
    points->indices = malloc(2 * sizeof(int));
    assert_true(points->positions && points->texcoords[0] && points->indices);
    points->indices[0] = MANY - 1;
    points->indices[1] = 1;
    /* Six numbers each. */
    ex_scene_channel *c = scene->animations[0].channels;
    memset(c[2].values, 0, 6 * sizeof(float));
    c[0].path = EX_SCENE_SCALE;
    c[0].width = 3;
    memset(c[0].values, 0, 6 * sizeof(float));
    check_round_trip(scene, "out.glb");
    must_write(scratch_path("out.gltf"), scene);
    char *text = scratch_read("out.gltf", NULL);
    int offsets = 0;
    for (const char *at = text; (at = strstr(at, "\"byteOffset\": ")); at += 14, offsets++)
        assert_int_equal(atoi(at + 14) % 4, 0);
    assert_true(offsets > 10);
    free(text);
    ex_scene_destroy(scene);
}

/* Images next to the file: kept as files next to it, embedded elsewhere. */
static void takes_images_along(void **state) {
    (void)state;
    const char json[] =
        "{\"asset\":{\"version\":\"2.0\"},\"images\":[{\"uri\":\"a%20b.png\"}],\"textures\":[{\"source\":0}]}";
    const char png[] = "\x89PNG\r\n\x1A\nrest";
    scratch_write("in.gltf", json, sizeof json - 1);
    scratch_write("a b.png", png, sizeof png - 1);
    ex_scene *scene = must_read(scratch_path("in.gltf"));
    assert_string_equal(scene->images[0].path, "a b.png");
    check_round_trip(scene, "out.gltf");
    ex_error error;
    assert_int_equal(remove(scratch_path("a b.png")), 0);
    assert_int_equal(ex_scene_write(scratch_path("out.glb"), scene, &error), EX_ERROR_FILE);
    assert_non_null(strstr(error.text, "images[0]: cannot read"));
    scratch_write("a b.png", "GIF89a..............", 20);
    assert_int_equal(ex_scene_write(scratch_path("out.glb"), scene, &error), EX_ERROR_DATA);
    assert_non_null(strstr(error.text, "not a PNG or JPEG"));
    scratch_write("a b.png", png, sizeof png - 1);
    must_write(scratch_path("out.glb"), scene);
    ex_scene *again = must_read(scratch_path("out.glb"));
    assert_null(again->images[0].path);
    assert_string_equal(again->images[0].mime_type, "image/png");
    assert_int_equal(again->images[0].size, sizeof png - 1);
    assert_memory_equal(again->images[0].bytes, png, sizeof png - 1);
    ex_scene_destroy(again);
    /* A .gltf in another folder holds the picture: its old name would lead nowhere. */
    assert_int_equal(mkdir(scratch_path("other"), 0755), 0);
    must_write(scratch_path("other/out.gltf"), scene);
    again = must_read(scratch_path("other/out.gltf"));
    assert_null(again->images[0].path);
    assert_int_equal(again->images[0].size, sizeof png - 1);
    ex_scene_destroy(again);
    ex_scene_destroy(scene);
}

/* Pictures that cannot be had are left out, with a note; the rest of the file stays. */
static void loses_only_pictures(void **state) {
    (void)state;
    static const struct {
        const char *uri, *why;
    } cases[] = {{"../skin.png", "is not beside this file"},
                 {"/skin.png", "is not beside this file"},
                 {"https://example.com/skin.png", "is not beside this file"},
                 {"skin.png", "cannot be found"},
                 {".", "cannot be found"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char json[512];
        snprintf(json, sizeof json,
                 "{\"asset\":{\"version\":\"2.0\"},\"nodes\":[{\"name\":\"kept\"}],\"images\":[{\"uri\":\"%s\","
                 "\"mimeType\":\"image/jpeg\",\"name\":\"skin\"},{\"uri\":\"data:image/png;base64,iVBORw0KGgo=\"}],"
                 "\"textures\":[{\"source\":0},{\"source\":1}]}",
                 cases[i].uri);
        scratch_write("in.gltf", json, strlen(json));
        ex_scene *scene = NULL;
        ex_error error = {.text = ""};
        assert_int_equal(ex_scene_read(scratch_path("in.gltf"), &scene, &error), EX_OK);
        assert_string_equal(error.text, "");
        assert_int_equal(scene->note_count, 1);
        if (!strstr(scene->notes[0], cases[i].uri) || !strstr(scene->notes[0], cases[i].why))
            fail_msg("%s", scene->notes[0]);
        assert_int_equal(scene->textures[0].image, -1);
        assert_int_equal(scene->textures[1].image, 1);
        assert_string_equal(scene->nodes[0].name, "kept");
        assert_string_equal(scene->images[0].name, "skin");
        /* It can be written, and the numbers of other pictures stay. */
        check_round_trip(scene, "out.glb");
        check_round_trip(scene, "out.gltf");
        ex_scene_destroy(scene);
    }
}

/* Content that validators call errors is corrected when written. */
static void puts_directions_right(void **state) {
    (void)state;
    ex_scene *scene = scene_with_everything();
    ex_scene_primitive *p = &scene->meshes[0].primitives[0];
    p->normals[2] = 5;
    memset(p->normals + 3, 0, 3 * sizeof(float));
    p->tangents[3] = 0.5f;
    p->colours[0] = 2;
    p->weights[0] = 2.5f;
    must_write(scratch_path("out.glb"), scene);
    ex_scene *again = must_read(scratch_path("out.glb"));
    const ex_scene_primitive *q = &again->meshes[0].primitives[0];
    assert_true(q->normals[2] == 1 && q->normals[5] == 1 && q->tangents[3] == 1 && q->colours[0] == 1);
    assert_true(fabsf(q->weights[0] - 2.5f / 3) < 1e-7f && fabsf(q->weights[1] - 0.25f / 3) < 1e-7f);
    assert_int_equal(again->note_count, 0);
    ex_scene_destroy(again);
    ex_scene_destroy(scene);
}

/* ---- errors ---- */

static void break_scene(ex_scene *scene, int way) {
    ex_scene_primitive *p = &scene->meshes[0].primitives[0], *q = &scene->meshes[0].primitives[1];
    ex_scene_channel *c = scene->animations[0].channels;
    switch (way) {
    case 0:
        scene->nodes[1].parent = 0;
        return;
    case 1:
        scene->nodes[1].parent = 9;
        return;
    case 2:
        scene->nodes[0].mesh = 2;
        return;
    case 3:
        scene->nodes[0].transform.scale[1] = NAN;
        return;
    case 4:
        scene->nodes[3].skin = 1;
        return;
    case 5:
        scene->nodes[3].weight_count = 1;
        return;
    case 6:
        scene->skins[0].joints[1] = 6;
        return;
    case 7:
        scene->skins[0].inverse_binds[7] = INFINITY;
        return;
    case 8:
        p->positions[4] = NAN;
        return;
    case 9:
        p->material = 2;
        return;
    case 10:
        q->indices[5] = 3;
        return;
    case 11:
        q->indices[5] = -1;
        return;
    case 12:
        q->joints[4] = 3;
        return;
    case 13:
        q->weights[4] = 0;
        return;
    case 14:
        q->weights[4] = -1;
        return;
    case 15:
        p->targets[1].tangents[0] = NAN;
        return;
    case 16:
        scene->meshes[0].weights[0] = NAN;
        return;
    case 17:
        c[0].times[1] = 0.5f;
        return;
    case 18:
        c[1].values[17] = NAN;
        return;
    case 19:
        c[2].width = 3;
        return;
    case 20:
        c[2].node = 4;
        return;
    case 21:
        scene->materials[1].base_texture = 2;
        return;
    case 22:
        scene->textures[0].image = 1;
        return;
    case 23:
        scene->images[0].size = 0;
        return;
    case 24:
        strcpy(scene->materials[1].rest, "[1]");
        return;
    case 25:
        scene->skins[0].skeleton = 6;
        return;
    case 26:
        p->vertex_count = 0;
        return;
    case 27:
        p->mode = (ex_scene_mode)7;
        return;
    case 28:
        c[0].key_count = 0;
        return;
    case 29:
        scene->nodes[2].parent = 2;
        return;
    case 30:
        p->normals[0] = INFINITY;
        return;
    case 31:
        scene->materials[0].roughness = NAN;
        return;
    }
}

static void refuses_what_does_not_fit(void **state) {
    (void)state;
    static const char *const sentences[] = {"is its own ancestor",
                                            "nodes[1]: refers to node 9, but there are 6",
                                            "nodes[0]: refers to mesh 2",
                                            "nodes[0]: the scale is not finite",
                                            "nodes[3]: refers to skin 1",
                                            "nodes[3]: has 1 weight, but its mesh has 2",
                                            "skins[0]: joint 1 is node 6",
                                            "skins[0]: inverse bind matrix 0",
                                            "position 1 (counting from 0) is not finite",
                                            "primitives[0]: refers to material 2",
                                            "primitives[1]: index 5",
                                            "primitives[1]: index 5 (counting from 0) is vertex -1",
                                            "vertex 1 of meshes[0].primitives[1] refers to joint 3",
                                            "the joint weights of vertex 1 (counting from 0) sum to 0",
                                            "vertex 1 (counting from 0) has a joint weight of -1",
                                            "tangent of a morph target 0",
                                            "meshes[0]: a weight is not finite",
                                            "key 1 (counting from 0) is at 0.5 s",
                                            "channels[1]: value 5",
                                            "has 3 numbers per value, but 2",
                                            "has 2 numbers per value, but 0",
                                            "materials[1]: refers to texture 2",
                                            "textures[0]: refers to image 1",
                                            "images[0]: has neither",
                                            "the rest of materials[1] is not a JSON object",
                                            "skins[0]: refers to node 6",
                                            "primitives[0]: has no vertices",
                                            "mode 7",
                                            "channels[0]: has no keys",
                                            "nodes[2] is its own ancestor",
                                            "normal 0 (counting from 0) is not finite",
                                            "materials[0]: a factor is not finite"};
    for (int way = 0; way < (int)(sizeof sentences / sizeof *sentences); way++) {
        ex_scene *scene = scene_with_everything();
        ex_error error = {.text = "no error"};
        break_scene(scene, way);
        ex_result result = ex_scene_write(scratch_path("out.glb"), scene, &error);
        if (result != EX_ERROR_DATA || !strstr(error.text, sentences[way]) || !strstr(error.text, "cannot write '"))
            fail_msg("way %d: %d '%s'", way, (int)result, error.text);
        if (way == 26)
            scene->meshes[0].primitives[0].vertex_count = 4;
        ex_scene_destroy(scene);
    }
    assert_int_equal(scratch_entry_count(), 0);
    ex_scene *scene = scene_with_everything();
    ex_error error;
    assert_int_equal(ex_scene_write(scratch_path("out.obj"), scene, &error), EX_ERROR_ARGUMENT);
    assert_int_equal(ex_scene_write("/nowhere/out.glb", scene, &error), EX_ERROR_FILE);
    assert_int_equal(ex_scene_write("/nowhere/out.gltf", scene, &error), EX_ERROR_FILE);
    ex_scene_destroy(scene);
}

/* ---- real files, memory ---- */

static int real_file_count;

static int check_real_file(const char *path, const struct stat *status, int kind, struct FTW *where) {
    (void)status;
    (void)where;
    size_t size = strlen(path);
    if (kind != FTW_F || size < 5 || (strcmp(path + size - 4, ".glb") != 0 && strcmp(path + size - 5, ".gltf") != 0))
        return 0;
    ex_scene *scene = must_read(path);
    check_round_trip(scene, "out.glb");
    check_round_trip(scene, "out.gltf");
    ex_mesh *mesh;
    ex_error error;
    if (ex_mesh_read(path, &mesh, &error) != EX_OK)
        fail_msg("%s", error.text);
    assert_true(mesh->vertex_count > 0 && mesh->face_count > 0);
    ex_mesh_destroy(mesh);
    ex_scene_destroy(scene);
    real_file_count++;
    return 0;
}

static void writes_real_files(void **state) {
    (void)state;
    static const char *const folders[] = {"gltf", "hand"};
    real_file_count = 0;
    for (size_t i = 0; i < 2; i++)
        assert_int_equal(nftw(need_data(folders[i]), check_real_file, 16, FTW_PHYS), 0);
    assert_true(real_file_count >= 14);
}

static ex_result write_with_little_memory(void *context) {
    ex_scene *scene = ((ex_scene **)context)[0];
    ex_error error = {.result = EX_OK};
    ex_result result = ex_scene_write(scratch_path("out.gltf"), scene, &error);
    return error.result == result ? result : EX_ERROR_DATA;
}

static void survives_failing_memory(void **state) {
    (void)state;
    ex_scene *scene = scene_with_everything();
    assert_true(fail_alloc_sweep(write_with_little_memory, &scene) >= 20);
    ex_scene_destroy(scene);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_set_up, scratch_tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(writes_what_it_reads),      TEST(writes_the_same_bytes),   TEST(writes_by_hand),
        TEST(writes_arrays_once),        TEST(takes_images_along),      TEST(loses_only_pictures),
        TEST(writes_arrays_apart),       TEST(puts_directions_right),   TEST(writes_real_files),
        TEST(refuses_what_does_not_fit), TEST(survives_failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

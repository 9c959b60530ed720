/*
 * Odd numbers and names through every writer: it refuses them with a sentence, or the reader takes what was written.
 * BVH has such a test of its own.
 */
#define _XOPEN_SOURCE 700

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <exemplar/author.h>

#include "support/check.h"
#include "support/scratch.h"

static const double numbers[] = {INFINITY, -INFINITY, NAN,   1e300, 1e39,   3.5e38, 1e38, 1e20, 1e15,
                                 1e7,      1e-30,     1e-38, 1e-45, 1e-300, 5e-324, -0.0, 0.1};
static char *const names[] = {"",   " ",  "a b", " a",  "a ",   "a\nb", "a\rb", "a\tb", "a#b",  "#a",   "a\\",
                              "\\", "\"", "a,b", "'a'", "\xFF", "é",    "{",    "a:b",  "\x01", "\x7F", "default"};
enum { NUMBERS = sizeof numbers / sizeof *numbers, NAMES = sizeof names / sizeof *names };

static int written, refused;

static bool is_written(ex_result result, const ex_error *error) {
    if (result == EX_OK) {
        written++;
        return true;
    }
    assert_sentence(error, result, "");
    assert_null(strstr(error->text, "memory"));
    refused++;
    return false;
}

static void must_read(ex_result result, const ex_error *error, int number) {
    if (result != EX_OK)
        fail_msg("case %d: %s", number, error->text);
}

static void assert_counts(int was_written, int was_refused) {
    assert_int_equal(written, was_written);
    assert_int_equal(refused, was_refused);
    written = refused = 0;
}

/* ---- meshes ---- */

/* A quadrangle. */
typedef struct quad {
    double positions[12], texcoords[8], normals[12];
    float colours[12];
    int offsets[2], corners[4], zero[1];
    ex_mesh mesh;
} quad;

static void open_quad(quad *q) {
    *q = (quad){.positions = {0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0},
                .texcoords = {0, 0, 1, 0, 1, 1, 0, 1},
                .normals = {0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0, 1},
                .offsets = {0, 4},
                .corners = {0, 1, 2, 3}};
    q->mesh = (ex_mesh){.vertex_count = 4,
                        .positions = q->positions,
                        .face_count = 1,
                        .face_offsets = q->offsets,
                        .corner_count = 4,
                        .corners = q->corners};
}

static void check_mesh(const char *name, const ex_mesh *mesh, int number) {
    ex_mesh *again = NULL;
    ex_error error = {0};
    if (!is_written(ex_mesh_write(scratch_path(name), mesh, &error), &error))
        return;
    must_read(ex_mesh_read(scratch_path(name), &again, &error), &error, number);
    assert_int_equal(again->vertex_count, mesh->vertex_count);
    ex_mesh_destroy(again);
}

static void check_meshes(const char *name) {
    quad q;
    for (int i = 0; i < NUMBERS; i++) {
        open_quad(&q);
        q.positions[4] = numbers[i];
        check_mesh(name, &q.mesh, i);
        open_quad(&q);
        q.texcoords[3] = numbers[i];
        q.mesh.texcoord_count = 4;
        q.mesh.texcoords = q.texcoords;
        q.mesh.corner_texcoords = q.corners;
        check_mesh(name, &q.mesh, i);
        open_quad(&q);
        q.normals[5] = numbers[i];
        q.mesh.normal_count = 4;
        q.mesh.normals = q.normals;
        q.mesh.corner_normals = q.corners;
        check_mesh(name, &q.mesh, i);
        open_quad(&q);
        q.colours[4] = (float)numbers[i];
        q.mesh.colours = q.colours;
        check_mesh(name, &q.mesh, i);
    }
    for (int i = 0; i < NAMES; i++) {
        char *own[1] = {names[i]};
        open_quad(&q);
        q.mesh.group_count = q.mesh.material_count = 1;
        q.mesh.group_names = q.mesh.material_names = own;
        q.mesh.face_groups = q.mesh.face_materials = q.zero;
        check_mesh(name, &q.mesh, i);
    }
    open_quad(&q);
    q.mesh.face_count = q.mesh.corner_count = q.mesh.vertex_count = 0;
    check_mesh(name, &q.mesh, 0);
}

static void obj(void **state) {
    (void)state;
    check_meshes("m.obj");
    assert_counts(79, 12);
}

static void ply(void **state) {
    (void)state;
    check_meshes("m.ply");
    assert_counts(75, 16);
}

static void gltf(void **state) {
    (void)state;
    check_meshes("m.glb");
    assert_true(written > 50 && refused > 10);
    written = refused = 0;
}

/* A face with a vertex twice in a row keeps its number and its corners. */
static void degenerate_faces(void **state) {
    (void)state;
    static const char *const files[] = {"m.obj", "m.ply"};
    for (int i = 0; i < 8; i++) {
        quad q;
        open_quad(&q);
        q.corners[(i / 2 + 1) % 4] = q.corners[i / 2];
        check_mesh(files[i % 2], &q.mesh, i);
    }
    assert_counts(8, 0);
}

/* ---- caches, tables and skeletons ---- */

static void check_cache(const char *name, const double *times, int frames, float number, int at) {
    const float positions[6] = {0, 1, number, 3, 4, 5};
    float back[6];
    ex_cache_writer *writer = NULL;
    ex_cache_reader *reader = NULL;
    ex_error error = {0};
    ex_result result = ex_cache_create(scratch_path(name), 2, frames, times, NULL, &writer, &error);
    for (int f = 0; result == EX_OK && f < frames; f++)
        result = ex_cache_write(writer, positions, &error);
    const ex_result finished = ex_cache_finish(writer, result == EX_OK, result == EX_OK ? &error : NULL);
    if (!is_written(result == EX_OK ? finished : result, &error))
        return;
    must_read(ex_cache_open(scratch_path(name), &reader, &error), &error, at);
    must_read(ex_cache_read(reader, frames - 1, back, &error), &error, at);
    assert_memory_equal(positions, back, sizeof back);
    ex_cache_close(reader);
}

static void caches(void **state) {
    (void)state;
    for (int kind = 0; kind < 2; kind++)
        for (int i = 0; i < NUMBERS; i++) {
            const char *name = kind ? "c.mdd" : "c.pc2";
            check_cache(name, (double[]){0, 1}, 2, (float)numbers[i], i);
            for (int k = i < 12 ? NUMBERS - 2 : 0; k < NUMBERS; k++) {
                const double times[3] = {numbers[i], numbers[k], 2 * numbers[k] + 1};
                check_cache(name, times, 1 + (i + k) % 3, 7, k);
            }
        }
    assert_true(written > 50 && refused > 50);
    written = refused = 0;
}

static void label_tables(void **state) {
    (void)state;
    for (int i = 0; i < 2 * NUMBERS + NAMES; i++) {
        ex_labelled label = {.name = "m", .position = {1, 2, 3}, .confidence = 0.5}, *again = NULL;
        ex_error error = {0};
        int count = 0;
        if (i < NUMBERS)
            label.position[1] = numbers[i];
        else if (i < 2 * NUMBERS)
            label.confidence = numbers[i - NUMBERS];
        else
            label.name = names[i - 2 * NUMBERS];
        if (!is_written(ex_labels_write(scratch_path("l.csv"), &label, 1, &error), &error))
            continue;
        must_read(ex_labels_read(scratch_path("l.csv"), &again, &count, &error), &error, i);
        assert_int_equal(count, 1);
        assert_string_equal(again->name, label.name);
        ex_labels_free(again, count);
    }
    assert_true(written > 25 && refused > 15);
    written = refused = 0;
}

static void skeletons(void **state) {
    (void)state;
    for (int i = 0; i < 4 * NUMBERS + 2 * NAMES + 2; i++) {
        ex_kinematics *k = NULL, *again = NULL;
        ex_error error = {0};
        assert_int_equal(ex_kinematics_read("full", &k, &error), EX_OK);
        char **named = i % 2 ? &k->joints[3].name : &k->sites[3].name;
        if (i < 4 * NUMBERS) {
            double *const places[] = {&k->joints[3].translation[1], &k->joints[7].axis[1], &k->sites[2].local[1],
                                      &k->joints[7].most};
            *places[i % 4] = numbers[i / 4];
        } else if (i < 4 * NUMBERS + 2 * NAMES) {
            free(*named);
            *named = strdup(names[(i - 4 * NUMBERS) / 2]);
        } else if (i % 2) {
            free(*named);
            *named = strdup(k->joints[2].name);
        } else {
            k->joints[20].mirror = 2; /* of another kind */
        }
        if (is_written(ex_kinematics_write(scratch_path("k.json"), k, &error), &error))
            must_read(ex_kinematics_read(scratch_path("k.json"), &again, &error), &error, i);
        ex_kinematics_destroy(again);
        ex_kinematics_destroy(k);
    }
    assert_true(written > 40 && refused > 40);
    written = refused = 0;
}

/* No bytes at all are no file of any kind. */
static void nothing_to_parse(void **state) {
    (void)state;
    ex_error error = {0};
    ex_mesh *mesh = NULL;
    ex_image *image = NULL;
    ex_clip *clip = NULL;
    ex_scene *scene = NULL;
    ex_kinematics *kinematics = NULL;
    assert_int_not_equal(ex_obj_parse(NULL, 0, "x", &mesh, &error), EX_OK);
    assert_int_not_equal(ex_ply_parse(NULL, 0, "x", &mesh, &error), EX_OK);
    assert_int_not_equal(ex_image_parse(NULL, 0, "x", &image, &error), EX_OK);
    assert_int_not_equal(ex_bvh_parse(NULL, 0, "x", &clip, &error), EX_OK);
    assert_int_not_equal(ex_scene_parse(NULL, 0, "x", false, &scene, &error), EX_OK);
    assert_int_not_equal(ex_kinematics_parse(NULL, 0, "x", &kinematics, &error), EX_OK);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_set_up, scratch_tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(obj),          TEST(ply),
        TEST(gltf),         TEST(caches),
        TEST(skeletons),    TEST(degenerate_faces),
        TEST(label_tables), TEST(nothing_to_parse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * Writing OBJ: the output reads back as the same mesh, by hand and for real files, and meshes that cannot be written
 * are refused before anything is written.
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
#include <unistd.h>

#include <exemplar/author/formats.h>

#include "support/fail_alloc.h"
#include "support/meshes.h"
#include "support/scratch.h"
#include "support/skip.h"

#define SQUARE "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n"

static ex_mesh *parse(const char *text) {
    ex_mesh *mesh;
    ex_error error;
    if (ex_obj_parse(text, strlen(text), "x.obj", &mesh, &error) != EX_OK)
        fail_msg("%s", error.text);
    return mesh;
}

static void check_round_trip(const ex_mesh *mesh) {
    ex_error error;
    if (ex_obj_write(scratch_path("out.obj"), mesh, &error) != EX_OK)
        fail_msg("%s", error.text);
    ex_mesh *again;
    if (ex_obj_read(scratch_path("out.obj"), &again, &error) != EX_OK)
        fail_msg("%s", error.text);
    assert_true(meshes_are_same(mesh, again));
    ex_mesh_destroy(again);
}

static void writes_the_fewest_decimals(void **state) {
    (void)state;
    ex_mesh *mesh = parse(obj_with_everything);
    assert_int_equal(ex_obj_write(scratch_path("out.obj"), mesh, NULL), EX_OK);
    char *text = scratch_read("out.obj", NULL);
    assert_string_equal(text, "mtllib cloth.mtl\n"
                              "v 0 0 0\nv 1 0 0.1\nv 1 1 -0.0025\nv 0 1 1e300\nv 0.5 0.5 0.3333333333333333\n"
                              "vt 0 0\nvt 1 0\nvt 0.25 0\nvn 0 0 1\nvn 0 1 0\n"
                              "f 1 2 3\ng shirt left\nusemtl cotton\nf 1/1 2/2 3/3 4/1\nf 1//1 2//2 3//1\n"
                              "g default\nf 1/1/1 2/2/2 3/3/1 4/1/1 5/2/2\ng shirt left\nusemtl linen\nf 3 4 5\n"
                              "t crease 2/1/0 0 1 2.5\nt mark 0/0/2 one two \n");
    free(text);
    check_round_trip(mesh);
    ex_mesh_destroy(mesh);
}

static void writes_what_it_reads(void **state) {
    (void)state;
    static const char *const texts[] = {
        "v 0 0 0\n",
        "v 0 0 0 0.1 0.2 0.3\nv 1e-7 -0 123456789.125 1 0.333333343 0\n",
        SQUARE "g a\\ \nf 1 2 3\nusemtl b\\ c\\ \nf 1 2 4\nt x\\ 0/0/1 y\\ \nt z 0/0/0\n",
        SQUARE "usemtl m\nf 1 2 3\nusemtl\nf 2 3 4\n",
        SQUARE "f 1 2 1 3\nf 1 2 3 4\n",
    };
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        ex_mesh *mesh = parse(texts[i]);
        check_round_trip(mesh);
        ex_mesh_destroy(mesh);
    }
}

static void refuses_to_write_what_cannot_be_read(void **state) {
    (void)state;
    ex_mesh *mesh = parse(obj_with_everything);
    ex_error error;
    const char *path = scratch_path("out.obj");
    double kept = mesh->positions[7];
    mesh->positions[7] = NAN;
    assert_int_equal(ex_obj_write(path, mesh, &error), EX_ERROR_DATA);
    assert_non_null(strstr(error.text, "out.obj': vertex 2 (counting from 0) is not finite"));
    mesh->positions[7] = kept;
    mesh->normals[0] = INFINITY;
    assert_int_equal(ex_obj_write(path, mesh, &error), EX_ERROR_DATA);
    assert_non_null(strstr(error.text, "normal 0"));
    mesh->normals[0] = 0;
    mesh->corners[4] = 5;
    assert_int_equal(ex_obj_write(path, mesh, &error), EX_ERROR_DATA);
    assert_string_equal(error.text, "face 1 of the mesh (counting from 0) refers to vertex 5, but there are 5");
    mesh->corners[4] = 1;
    mesh->face_groups[3] = 2;
    assert_int_equal(ex_obj_write(path, mesh, &error), EX_ERROR_DATA);
    assert_non_null(strstr(error.text, "face 3"));
    mesh->face_groups[3] = 1;
    mesh->group_names[1][2] = '\n';
    assert_int_equal(ex_obj_write(path, mesh, &error), EX_ERROR_DATA);
    mesh->group_names[1][2] = 'f';
    assert_int_equal(scratch_entry_count(), 0);
    assert_int_equal(ex_obj_write("/nowhere/out.obj", mesh, &error), EX_ERROR_FILE);
    if (access("/dev/full", W_OK) == 0) {
        assert_int_equal(ex_obj_write("/dev/full", mesh, &error), EX_ERROR_FILE);
        assert_string_equal(error.text, "cannot write '/dev/full': No space left on device");
    }
    check_round_trip(mesh);
    ex_mesh_destroy(mesh);
}

/* ---- real files ---- */

static int real_file_count;

static int check_real_file(const char *path, const struct stat *status, int kind, struct FTW *where) {
    (void)status;
    (void)where;
    size_t size = strlen(path);
    if (kind != FTW_F || size < 4 || strcmp(path + size - 4, ".obj") != 0)
        return 0;
    ex_mesh *mesh;
    ex_error error;
    if (ex_obj_read(path, &mesh, &error) != EX_OK)
        fail_msg("%s", error.text);
    check_round_trip(mesh);
    ex_mesh_destroy(mesh);
    real_file_count++;
    return 0;
}

static void writes_real_files_as_it_read_them(void **state) {
    (void)state;
    real_file_count = 0;
    nftw(need_data(""), check_real_file, 16, FTW_PHYS);
    assert_true(real_file_count > 0);
    print_message("%d files read, written and read again\n", real_file_count);
}

static void knows_real_counts(void **state) {
    (void)state;
    ex_mesh *mesh;
    assert_int_equal(ex_obj_read(need_data("makehuman/3dobjs/base.obj"), &mesh, NULL), EX_OK);
    assert_int_equal(mesh->vertex_count, 19158);
    assert_int_equal(mesh->texcoord_count, 21334);
    assert_int_equal(mesh->face_count, 18486);
    assert_int_equal(mesh->corner_count, 4 * 18486);
    assert_in_range(mesh->group_count, 100, 172);
    ex_mesh_destroy(mesh);
}

static ex_result write_with_little_memory(void *context) {
    return ex_obj_write(scratch_path("out.obj"), context, NULL);
}

static void writes_with_failing_memory(void **state) {
    (void)state;
    ex_mesh *mesh = parse(obj_with_everything);
    assert_true(fail_alloc_sweep(write_with_little_memory, mesh) >= 2);
    assert_int_equal(scratch_entry_count(), 1);
    ex_mesh_destroy(mesh);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_set_up, scratch_tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        TEST(writes_the_fewest_decimals),           TEST(writes_what_it_reads),
        TEST(refuses_to_write_what_cannot_be_read), TEST(writes_real_files_as_it_read_them),
        cmocka_unit_test(knows_real_counts),        TEST(writes_with_failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

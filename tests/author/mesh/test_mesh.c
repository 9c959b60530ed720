/* Meshes as plain data: copied completely, measured, compared with a sentence that names the first difference. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <exemplar/author/formats.h>

#include "author/base/array.h"
#include "author/mesh/mesh_check.h"
#include "support/fail_alloc.h"

static const char tower[] = "mtllib a.mtl\n"
                            "v 0 0 0 1 0 0\nv 3 0 0 0 1 0\nv 3 4 0 0 0 1\nv 0 4 0\nv 0 0 12\n"
                            "vt 0 0\nvt 1 1\nvn 0 0 1\n"
                            "g base\nusemtl stone\nf 1/1/1 2/2/1 3/1/1 4/2/1\n"
                            "g side\nusemtl wood\nf 1 2 5\nf 2 3 5\n"
                            "t crease 2/1/0 0 1 2.5\nt mark 0/0/2 one two\n";

static ex_mesh *parse(const char *text) {
    ex_mesh *mesh;
    ex_error error;
    if (ex_obj_parse(text, strlen(text), "x.obj", &mesh, &error) != EX_OK)
        fail_msg("%s", error.text);
    return mesh;
}

static void starts_empty(void **state) {
    (void)state;
    ex_mesh *mesh = ex_mesh_create();
    assert_non_null(mesh);
    assert_int_equal(mesh->vertex_count, 0);
    assert_null(mesh->positions);
    assert_true(ex_mesh_size(mesh) == 0);
    int *triangles, count = 7;
    assert_int_equal(ex_mesh_triangulate(mesh, &triangles, &count, NULL), EX_OK);
    assert_int_equal(count, 0);
    free(triangles);
    assert_int_equal(ex_mesh_count_self_intersections(mesh, NULL, &count, NULL), EX_OK);
    assert_int_equal(count, 0);
    ex_mesh *copy = ex_mesh_copy(mesh);
    assert_int_equal(ex_mesh_compare_connectivity(mesh, copy, NULL), EX_OK);
    ex_mesh_destroy(copy);
    ex_mesh_destroy(mesh);
    ex_mesh_destroy(NULL);
}

static void measures_the_diagonal(void **state) {
    (void)state;
    ex_mesh *mesh = parse(tower);
    assert_true(ex_mesh_size(mesh) == 13); /* 3, 4, 12 */
    ex_mesh_destroy(mesh);
}

/* The copy is complete, and nothing in it is shared with the original. */
static void copies_everything(void **state) {
    (void)state;
    ex_mesh *mesh = parse(tower), *copy = ex_mesh_copy(mesh);
    assert_non_null(copy);
    assert_int_equal(copy->vertex_count, 5);
    assert_memory_equal(copy->positions, mesh->positions, 15 * sizeof(double));
    assert_memory_equal(copy->colours, mesh->colours, 15 * sizeof(float));
    assert_int_equal(copy->texcoord_count, 2);
    assert_memory_equal(copy->texcoords, mesh->texcoords, 4 * sizeof(double));
    assert_int_equal(copy->normal_count, 1);
    assert_memory_equal(copy->normals, mesh->normals, 3 * sizeof(double));
    assert_int_equal(copy->face_count, 3);
    assert_memory_equal(copy->face_offsets, mesh->face_offsets, 4 * sizeof(int));
    assert_int_equal(copy->corner_count, 10);
    assert_memory_equal(copy->corners, mesh->corners, 10 * sizeof(int));
    assert_memory_equal(copy->corner_texcoords, mesh->corner_texcoords, 10 * sizeof(int));
    assert_memory_equal(copy->corner_normals, mesh->corner_normals, 10 * sizeof(int));
    assert_memory_equal(copy->face_groups, mesh->face_groups, 3 * sizeof(int));
    assert_memory_equal(copy->face_materials, mesh->face_materials, 3 * sizeof(int));
    assert_int_equal(copy->group_count, 2);
    assert_int_equal(copy->material_count, 2);
    assert_int_equal(copy->tag_count, 2);
    ex_mesh_destroy(mesh); /* anything that the copy shared with it would now be gone */
    assert_string_equal(copy->group_names[1], "side");
    assert_string_equal(copy->material_names[0], "stone");
    assert_string_equal(copy->material_library, "a.mtl");
    assert_string_equal(copy->tags[0].name, "crease");
    assert_int_equal(copy->tags[0].ints[1], 1);
    assert_true(copy->tags[0].floats[0] == 2.5);
    assert_string_equal(copy->tags[1].strings[1], "two");
    ex_mesh_destroy(copy);
}

#define CORNERS "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n"

static void names_the_first_difference(void **state) {
    (void)state;
    static const struct {
        const char *other, *sentence;
    } cases[] = {
        {"v 0 0 0\nv 1 0 0\nv 1 1 0\nf 1 2 3\n", "3 vertices here and 4 in the mesh"},
        {CORNERS "f 1 2 3\nf 1 2 4\n", "face 1 has corners 0 1 3 here and 0 2 3 in the mesh (counting from 0)"},
        {CORNERS "f 3 2 1\nf 3 1 4\n",
         "its faces are wound the other way round: flip their normals in the program that wrote it"},
        {CORNERS "f 2 3 1\nf 1 3 4\n", "face 0 has corners 1 2 0 here and 0 1 2 in the mesh (counting from 0)"},
        {CORNERS "f 1 2 3 4\n", "face 0 has corners 0 1 2 3 here and 0 1 2 in the mesh (counting from 0)"},
        {CORNERS "f 1 2 3\n",
         "1 faces here and 2 in the mesh: face 1 (counting from 0) is the first that only one has"},
    };
    ex_mesh *mesh = parse(CORNERS "f 1 2 3\nf 1 3 4\n");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        ex_mesh *other = parse(cases[i].other);
        ex_error error;
        assert_int_equal(ex_mesh_compare_connectivity(mesh, other, &error), EX_ERROR_DATA);
        assert_string_equal(error.text, cases[i].sentence);
        assert_int_equal(ex_mesh_compare_connectivity(mesh, other, NULL), EX_ERROR_DATA);
        ex_mesh_destroy(other);
    }
    /* Half of the faces may be reversed, but no more. */
    ex_mesh *half = parse(CORNERS "f 1 2 3\nf 1 4 3\n");
    assert_int_equal(ex_mesh_compare_connectivity(mesh, half, NULL), EX_OK);
    assert_int_equal(ex_mesh_compare_connectivity(half, mesh, NULL), EX_OK);
    ex_mesh *three = parse(CORNERS "f 1 2 3\nf 1 3 4\nf 2 3 4\n"), *most = parse(CORNERS "f 1 2 3\nf 4 3 1\nf 3 2 4\n");
    ex_error error;
    assert_int_equal(ex_mesh_compare_connectivity(three, most, &error), EX_ERROR_DATA);
    assert_string_equal(error.text,
                        "face 1 has corners 3 2 0 here and 0 2 3 in the mesh (counting from 0): it runs the "
                        "other way round, as most faces do");
    ex_mesh_destroy(three);
    ex_mesh_destroy(most);
    ex_mesh_destroy(half);
    /* Positions and texture coordinates may differ. */
    ex_mesh *same = parse("v 5 0 0\nv 6 0 0\nv 1 7 0\nv 0 1 9\nvt 0 0\nf 1/1 2/1 3/1\nf 1 3 4\n");
    assert_int_equal(ex_mesh_compare_connectivity(mesh, same, NULL), EX_OK);
    ex_mesh_destroy(same);
    ex_mesh_destroy(mesh);
}

/* A sentence is one sentence, however many corners a face has. */
static void cuts_long_lists(void **state) {
    (void)state;
    ex_mesh *meshes[2];
    for (int k = 0; k < 2; k++) {
        char text[16384];
        size_t size = 0;
        for (int i = 0; i < 500; i++)
            size += (size_t)snprintf(text + size, sizeof text - size, "v %d 0 0\n", i);
        size += (size_t)snprintf(text + size, sizeof text - size, "f");
        for (int i = 0; i < 500; i++)
            size += (size_t)snprintf(text + size, sizeof text - size, " %d", (i + k) % 500 + 1);
        meshes[k] = parse(text);
    }
    ex_error error;
    assert_int_equal(ex_mesh_compare_connectivity(meshes[0], meshes[1], &error), EX_ERROR_DATA);
    assert_non_null(strstr(error.text, "face 0 has corners 1 2 3 4"));
    assert_non_null(strstr(error.text, " … here and 0 1 2 3"));
    assert_non_null(strstr(error.text, " … in the mesh"));
    ex_mesh_destroy(meshes[0]);
    ex_mesh_destroy(meshes[1]);
}

static void finds_faces_that_do_not_hold_together(void **state) {
    (void)state;
    ex_mesh *mesh = parse(tower);
    int *const places[] = {&mesh->face_offsets[0], &mesh->face_offsets[1],     &mesh->face_offsets[1],
                           &mesh->face_offsets[2], &mesh->face_offsets[3],     &mesh->corners[9],
                           &mesh->corners[0],      &mesh->corner_texcoords[1], &mesh->corner_normals[0]};
    static const int values[] = {1, 2, 1000000, -5, 9, 5, -1, 2, 1};
    assert_int_equal(exi_mesh_check_faces(mesh, NULL), EX_OK);
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        int kept = *places[i];
        *places[i] = values[i];
        ex_error error = {.text = ""};
        assert_int_equal(exi_mesh_check_faces(mesh, &error), EX_ERROR_DATA);
        assert_true(strlen(error.text) > 0);
        int *triangles, count;
        assert_int_equal(ex_mesh_triangulate(mesh, &triangles, &count, NULL), EX_ERROR_DATA);
        assert_null(triangles);
        *places[i] = kept;
    }
    assert_int_equal(exi_mesh_check_faces(mesh, NULL), EX_OK);
    ex_mesh_destroy(mesh);
}

static void refuses_sizes_that_overflow(void **state) {
    (void)state;
    assert_null(exi_array_allocate(SIZE_MAX / 2 + 1, 2)); /* the product wraps round to 0 */
    size_t capacity = 0;
    assert_null(exi_array_grow(NULL, &capacity, SIZE_MAX / 8 + 1, 8));
    assert_int_equal(capacity, 0);
    int *array = exi_array_grow(NULL, &capacity, 1, sizeof *array);
    assert_non_null(array);
    array[0] = 42;
    assert_true(capacity >= 1);
    size_t before = capacity;
    assert_null(exi_array_grow(array, &capacity, SIZE_MAX / 2, sizeof *array));
    assert_int_equal(capacity, before);
    int *moved = exi_array_grow(array, &capacity, before + 1, sizeof *array);
    assert_non_null(moved);
    assert_true(capacity >= 2 * before);
    assert_int_equal(moved[0], 42);
    free(moved);
}

static ex_result copy_and_cut(void *context) {
    ex_mesh *copy = ex_mesh_copy(context);
    if (!copy)
        return EX_ERROR_MEMORY;
    int *triangles = NULL, count;
    ex_result result = ex_mesh_triangulate(copy, &triangles, &count, NULL);
    free(triangles);
    if (result == EX_OK)
        result = ex_mesh_count_self_intersections(copy, NULL, &count, NULL);
    ex_mesh_destroy(copy);
    return result;
}

static void survives_failing_memory(void **state) {
    (void)state;
    ex_mesh *mesh = parse("v 0 0 0 1 0 0\nv 2 0 0\nv 3 1 0\nv 1 2 0\nv -1 1 0\nvt 0 0\nvn 0 0 1\ng a\nusemtl b\n"
                          "mtllib c\nf 1/1/1 2/1/1 3/1/1 4/1/1 5/1/1\nt crease 2/1/1 0 1 2 x\n");
    assert_true(fail_alloc_sweep(copy_and_cut, mesh) >= 25);
    fail_alloc_arm(1);
    ex_mesh *none = ex_mesh_create();
    fail_alloc_arm(0);
    assert_null(none);
    ex_mesh_destroy(mesh);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(starts_empty),
        cmocka_unit_test(measures_the_diagonal),
        cmocka_unit_test(copies_everything),
        cmocka_unit_test(names_the_first_difference),
        cmocka_unit_test(cuts_long_lists),
        cmocka_unit_test(finds_faces_that_do_not_hold_together),
        cmocka_unit_test(refuses_sizes_that_overflow),
        cmocka_unit_test(survives_failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

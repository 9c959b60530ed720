/*
 * Range grids in PLY: by hand, holes and jumps in depth, the outer side, every error with its sentence, truncation at
 * every byte, flipped bits, failing memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <exemplar/author/formats.h>

#include "support/check.h"
#include "support/fail_alloc.h"
#include "support/meshes.h"

/* Parses a block of exactly this size, so that the sanitizer and valgrind see reads beyond it. */
static ex_result parse_exactly(const void *bytes, size_t size, ex_mesh **mesh, ex_error *error) {
    char *exact = malloc(size > 0 ? size : 1);
    assert_non_null(exact);
    memcpy(exact, bytes, size);
    ex_result result = ex_ply_parse(exact, size, "x.ply", mesh, error);
    free(exact);
    return result;
}

static ex_mesh *must_parse(const char *text) {
    ex_mesh *mesh;
    ex_error error;
    if (parse_exactly(text, strlen(text), &mesh, &error) != EX_OK)
        fail_msg("%s", error.text);
    return mesh;
}

static void check_faces(const ex_mesh *mesh, int count, const int *corners) {
    assert_int_equal(mesh->face_count, count);
    assert_int_equal(mesh->corner_count, 3 * count);
    for (int f = 0; f <= count; f++)
        assert_int_equal(mesh->face_offsets[f], 3 * f);
    assert_memory_equal(mesh->corners, corners, (size_t)(3 * count) * sizeof *corners);
}

#define HEAD(vertices) "ply\nformat ascii 1.0\nobj_info num_cols 3\nobj_info num_rows 2\nelement vertex " vertices "\n"
#define PLACE          "property float x\nproperty float y\nproperty float z\n"
#define CELLS          "element range_grid 6\nproperty list uchar int vertex_indices\nend_header\n"

/* ---- by hand ---- */

/* Two squares: the left one's rising diagonal is shorter, the right one's falling one. */
static const char whole[] = HEAD("6") PLACE CELLS "0 0 0\n1 0 .1\n2 0 0\n0 1 .1\n1 1 0\n2.2 1 .1\n"
                                                  "1 0\n1 1\n1 2\n1 3\n1 4\n1 5\n";

static void makes_triangles_of_cells(void **state) {
    (void)state;
    ex_mesh *mesh = must_parse(whole);
    check_faces(mesh, 4, (int[]){0, 1, 4, 0, 4, 3, 1, 2, 4, 2, 5, 4});
    assert_null(mesh->corner_normals);
    ex_mesh_destroy(mesh);
}

static void leaves_out_what_was_not_seen(void **state) {
    (void)state;
    /* Without the vertex between both squares a triangle of each is left. */
    ex_mesh *mesh = must_parse(HEAD("5") PLACE CELLS "0 0 0\n1 0 0\n2 0 0\n0 1 0\n2 1 0\n"
                                                     "1 0\n1 1\n1 2\n1 3\n0\n1 4\n");
    check_faces(mesh, 2, (int[]){0, 1, 3, 1, 2, 4});
    ex_mesh_destroy(mesh);
    /* None at all. */
    mesh = must_parse(HEAD("1") PLACE CELLS "0 0 0\n0\n0\n0\n0\n1 0\n0\n");
    assert_int_equal(mesh->face_count, 0);
    ex_mesh_destroy(mesh);
    /* A vertex in two cells makes no triangle with itself. */
    mesh = must_parse(HEAD("5") PLACE CELLS "0 0 0\n1 0 0\n2 0 0\n0 1 0\n1 1 0\n1 0\n1 1\n1 1\n1 3\n1 4\n1 4\n");
    check_faces(mesh, 2, (int[]){0, 1, 4, 0, 4, 3});
    ex_mesh_destroy(mesh);
}

/* Lengths of 1 are usual: a depth of up to four of them is still one surface, more is another. */
static void leaves_out_jumps_in_depth(void **state) {
    (void)state;
    static const struct {
        const char *text;
        int count;
    } rows[] = {{"0 0 0\n1 0 0\n2 0 3.8\n0 1 0\n1 1 0\n2 1 3.8\n", 4},
                {"0 0 0\n1 0 0\n2 0 9\n0 1 0\n1 1 0\n2 1 9\n", 2}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[1024];
        snprintf(text, sizeof text,
                 "ply\nformat ascii 1.0\nobj_info num_cols 4\nobj_info num_rows 2\nelement vertex 8\n" PLACE
                 "element range_grid 8\nproperty list uchar int vertex_indices\nend_header\n-1 0 0\n-1 1 0\n%s"
                 "1 0\n1 2\n1 3\n1 4\n1 1\n1 5\n1 6\n1 7\n",
                 rows[i].text);
        ex_mesh *mesh = must_parse(text);
        assert_int_equal(mesh->face_count, rows[i].count + 2);
        ex_mesh_destroy(mesh);
    }
}

/* Normals determine the outer side; they and colours stay with their vertices. */
static void turns_faces_to_the_normals(void **state) {
    (void)state;
    char text[1024];
    for (int sign = -1; sign <= 1; sign += 2) {
        snprintf(text, sizeof text,
                 HEAD("6") PLACE "property float nx\nproperty float ny\nproperty float nz\nproperty uchar red\n"
                                 "property uchar green\nproperty uchar blue\n" CELLS
                                 "0 0 0 0 0 %d 255 0 0\n1 0 0 0 0 %d 0 0 0\n2 0 0 0 0 %d 0 0 0\n0 1 0 0 0 %d 0 0 0\n"
                                 "1 1 0 0 0 %d 0 0 0\n2 1 0 0 0 %d 0 0 0\n1 0\n1 1\n1 2\n1 3\n1 4\n1 5\n",
                 sign, sign, sign, sign, sign, sign);
        ex_mesh *mesh = must_parse(text);
        assert_int_equal(mesh->face_count, 4);
        assert_int_equal(mesh->corners[1], sign > 0 ? 1 : 4);
        assert_memory_equal(mesh->corner_normals, mesh->corners, 12 * sizeof(int));
        assert_true(mesh->colours[0] == 1);
        ex_mesh_destroy(mesh);
    }
}

/* Existing faces take precedence over those of a grid; and a grid may precede the vertices. */
static void keeps_faces_that_are_there(void **state) {
    (void)state;
    ex_mesh *mesh =
        must_parse(HEAD("3") PLACE
                   "element range_grid 6\nproperty int other\nproperty list uchar int vertex_indices\nelement face "
                   "1\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n1 0 0\n0 1 0\n"
                   "9 1 0\n9 1 1\n9 0\n9 1 2\n9 0\n9 0\n3 2 1 0\n");
    check_faces(mesh, 1, (int[]){2, 1, 0});
    ex_mesh_destroy(mesh);
    mesh = must_parse("ply\nformat ascii 1.0\nobj_info num_rows 2\nobj_info num_cols 2\nobj_info num_cols many\n"
                      "element range_grid 4\nproperty list uchar int vertex_indices\nelement vertex 3\n" PLACE
                      "end_header\n1 0\n1 1\n1 2\n0\n0 0 0\n1 0 0\n0 1 0\n");
    check_faces(mesh, 1, (int[]){0, 1, 2});
    ex_mesh_destroy(mesh);
}

/* ---- errors ---- */

#define THREE "0 0 0\n1 0 0\n0 1 0\n"

static const struct {
    const char *text;
    ex_result result;
    const char *sentence;
} wrong[] = {
    {"ply\nformat ascii 1.0\nelement vertex 3\n" PLACE CELLS THREE "0\n0\n0\n0\n0\n0\n", EX_ERROR_DATA,
     "x.ply has a range grid and no faces, but no obj_info num_cols and num_rows that give the size of the "
     "grid"},
    {"ply\nformat ascii 1.0\nobj_info num_cols 0\nobj_info num_rows 6\nelement vertex 3\n" PLACE CELLS THREE
     "0\n0\n0\n0\n0\n0\n",
     EX_ERROR_DATA,
     "x.ply has a range grid and no faces, but no obj_info num_cols and num_rows that give the size of the "
     "grid"},
    {"ply\nformat ascii 1.0\nobj_info num_cols 4\nobj_info num_rows 2\nelement vertex 3\n" PLACE CELLS THREE
     "0\n0\n0\n0\n0\n0\n",
     EX_ERROR_DATA, "x.ply: the range grid has 6 cells, but num_cols and num_rows are 4 times 2"},
    {"ply\nformat ascii 1.0\nobj_info num_cols 3\nobj_info num_rows 800000000000000002\nelement vertex 3\n" PLACE CELLS
         THREE "0\n0\n0\n0\n0\n0\n",
     EX_ERROR_DATA, "x.ply: the range grid has 6 cells, but num_cols and num_rows are 3 times 800000000000000002"},
    {HEAD("3") PLACE CELLS THREE "1 0\n1 1\n1 2\n1 3\n0\n0\n", EX_ERROR_DATA,
     "x.ply: cell 3 of the range grid (counting from 0) refers to vertex 3, but there are 3"},
    {HEAD("3") PLACE CELLS THREE "1 0\n1 -1\n0\n0\n0\n0\n", EX_ERROR_DATA,
     "x.ply:16: cell 1 of the range grid (counting from 0) refers to vertex -1, which does not exist"},
    {HEAD("3") PLACE CELLS THREE "2 0 1\n0\n0\n0\n0\n0\n", EX_ERROR_DATA,
     "x.ply:15: cell 0 of the range grid (counting from 0) has 2 vertices; it can have at most one"},
    {HEAD("3") PLACE CELLS THREE "200 0 1\n0\n0\n0\n0\n0\n", EX_ERROR_FORMAT,
     "x.ply:15: the file ends too early: copy or export it again"},
    {HEAD("3") PLACE CELLS THREE "1 0\n1 1\n1 2\n", EX_ERROR_FORMAT,
     "x.ply:18: the file ends too early: copy or export it again"},
    {HEAD("3") PLACE "element range_grid 4000000000\nproperty list uchar int vertex_indices\nend_header\n" THREE,
     EX_ERROR_FORMAT, "x.ply:14: the file ends too early: the header states 4000000000 of 'range_grid'"},
    {HEAD("3") PLACE "element range_grid 6\nproperty list uchar int cells\nend_header\n" THREE "0\n0\n0\n0\n0\n0\n",
     EX_ERROR_DATA, "x.ply:14: the range grid has no list called vertex_indices, or several, or appears twice"},
    {HEAD("3") PLACE "element range_grid 1000000000000\nend_header\n" THREE, EX_ERROR_DATA,
     "x.ply:13: the range grid has no list called vertex_indices, or several, or appears twice"},
};

static void says_what_is_wrong(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ex_mesh *mesh = (ex_mesh *)&mesh;
        ex_error error = {.text = "no error"};
        const ex_result result = parse_exactly(wrong[i].text, strlen(wrong[i].text), &mesh, &error);
        assert_null(mesh);
        assert_string_equal(error.text, wrong[i].sentence);
        assert_int_equal(result, wrong[i].result);
    }
}

/* ---- damage and failing memory ---- */

static void survives_damage(void **state) {
    (void)state;
    const char head[] =
        "ply\nformat binary_little_endian 1.0\nobj_info num_cols 2\nobj_info num_rows 2\nelement vertex "
        "3\nproperty uchar x\nproperty uchar y\nproperty uchar z\nelement range_grid 4\nproperty list "
        "uchar short vertex_indices\nend_header\n";
    const unsigned char body[] = {0, 0, 0, 1, 0, 0, 0, 1, 0, 1, 0, 0, 1, 1, 0, 1, 2, 0, 0};
    char bytes[sizeof head + sizeof body];
    const size_t size = sizeof head - 1 + sizeof body;
    memcpy(bytes, head, sizeof head - 1);
    memcpy(bytes + sizeof head - 1, body, sizeof body);
    ex_mesh *mesh;
    assert_int_equal(parse_exactly(bytes, size, &mesh, NULL), EX_OK);
    check_faces(mesh, 1, (int[]){0, 1, 2});
    ex_mesh_destroy(mesh);
    for (size_t cut = 0; cut < size; cut++) {
        ex_error error = {.text = ""};
        assert_true(parse_exactly(bytes, cut, &mesh, &error) != EX_OK);
        assert_true(strlen(error.text) > 10);
    }
    for (size_t at = 0; at < size; at++)
        for (int bit = 0; bit < 8; bit++) {
            bytes[at] = (char)(bytes[at] ^ (1 << bit));
            const ex_result result = parse_exactly(bytes, size, &mesh, NULL);
            assert_int_equal(result == EX_OK, mesh != NULL);
            ex_mesh_destroy(mesh);
            bytes[at] = (char)(bytes[at] ^ (1 << bit));
        }
}

static ex_result read_with_little_memory(void *context) {
    (void)context;
    ex_mesh *mesh;
    ex_error error = {.result = EX_OK};
    const ex_result result = ex_ply_parse(whole, sizeof whole - 1, "x.ply", &mesh, &error);
    if ((result == EX_OK) != (mesh != NULL) || error.result != result)
        return EX_ERROR_DATA;
    ex_mesh_destroy(mesh);
    return result;
}

static void survives_failing_memory(void **state) {
    (void)state;
    assert_true(fail_alloc_sweep(read_with_little_memory, NULL) >= 7);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(makes_triangles_of_cells),
        cmocka_unit_test(leaves_out_what_was_not_seen),
        cmocka_unit_test(leaves_out_jumps_in_depth),
        cmocka_unit_test(turns_faces_to_the_normals),
        cmocka_unit_test(keeps_faces_that_are_there),
        cmocka_unit_test(says_what_is_wrong),
        cmocka_unit_test(survives_damage),
        cmocka_unit_test(survives_failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * OFF: every header, the variants that programs write, binary data by hand, every error with its sentence, truncation
 * and damage at every byte, failing memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include <exemplar/author/formats.h>

#include "support/check.h"
#include "support/fail_alloc.h"
#include "support/meshes.h"
#include "support/scratch.h"

/* Parses a block of exactly this size, so that the sanitizer and valgrind see reads beyond it. */
static ex_result parse_exactly(const void *bytes, size_t size, ex_mesh **mesh, ex_error *error) {
    char *exact = malloc(size > 0 ? size : 1);
    assert_non_null(exact);
    memcpy(exact, bytes, size);
    ex_result result = ex_off_parse(exact, size, "x.off", mesh, error);
    free(exact);
    return result;
}

static ex_mesh *must_parse(const void *bytes, size_t size) {
    ex_mesh *mesh;
    ex_error error;
    if (parse_exactly(bytes, size, &mesh, &error) != EX_OK)
        fail_msg("%s", error.text);
    return mesh;
}

static void check_ints(const int *items, int count, const int *expected) {
    assert_non_null(items);
    for (int i = 0; i < count; i++)
        assert_int_equal(items[i], expected[i]);
}

/* ---- text ---- */

static const char house[] = "OFF\n5 2 6\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n0.5 1.5 -1e-1\n4 0 1 2 3\n3 3 2 4\n";

static void reads_polygons(void **state) {
    (void)state;
    ex_mesh *mesh = must_parse(house, sizeof house - 1);
    assert_int_equal(mesh->vertex_count, 5);
    assert_row_near(mesh->positions, ((double[]){0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0.5, 1.5, -0.1}), 15, 0);
    assert_int_equal(mesh->face_count, 2);
    check_ints(mesh->face_offsets, 3, (int[]){0, 4, 7});
    check_ints(mesh->corners, 7, (int[]){0, 1, 2, 3, 3, 2, 4});
    assert_true(!mesh->colours && !mesh->normals && !mesh->texcoords && !mesh->corner_normals);
    ex_mesh_destroy(mesh);
}

/* The same house as other programs write it. */
static const char *const variants[] = {
    "OFF 5 2 6\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n0.5 1.5 -0.1\n4 0 1 2 3\n3 3 2 4\n",
    "OFF5 2 6\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n0.5 1.5 -0.1\n4 0 1 2 3\n3 3 2 4\n",
    "off\n5 2\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n0.5 1.5 -0.1\n4 0 1 2 3\n3 3 2 4",
    "5 2 6\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n0.5 1.5 -0.1\n4 0 1 2 3\n3 3 2 4\n",
    "OFF\n5\n2\n6\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n0.5 1.5 -0.1\n4 0 1 2 3\n3 3 2 4\n",
    "OFF\n5\n2\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n0.5 1.5 -0.1\n4 0 1 2 3\n3 3 2 4\n",
    "# by hand\n\nOFF # a house\n# counts\n5 2 6 # all\n\n0 0 0\n  1\t0 0 # second\n1 1 0\n\n0 1 0\n0.5 1.5 -0.1\n"
    "# faces\n4  0 1 2 3\n\n3  3 2 4\n# end",
    "\xEF\xBB\xBFOFF\r\n5 2 6\r\n0 0 0\r\n1 0 0\r\n1 1 0\r\n0 1 0\r\n0.5 1.5 -0.1\r\n4 0 1 2 3\r\n3 3 2 4\r\n",
    "OFF\r5 2 6\r0 0 0\r1 0 0\r1 1 0\r0 1 0\r0.5 1.5 -0.1\r4 0 1 2 3\r3 3 2 4\r",
    "OFF\n5 2 6\n0 0 0\n1 0\n0\n1 1 0\n0 1 0\n0.5\n1.5\n-0.1\n4 0 1\n2 3\n3\n3 2 4\n",
    /* colours of faces: a place in a list, bytes, numbers to 1, with opacity */
    "OFF\n5 2 6\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n0.5 1.5 -0.1\n4 0 1 2 3 7\n3 3 2 4 255 0 0\n",
    "OFF\n5 2 6\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n0.5 1.5 -0.1\n4 0 1 2 3 0.5 0.5 0.5 1 # grey\n3 3 2 4\n",
    /* a point, a line and an empty face between the others */
    "OFF\n5 5 6\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n0.5 1.5 -0.1\n1 4\n4 0 1 2 3\n2 0 1\n0\n3 3 2 4\n",
    /* numbers after a vertex that are no colour, or a place in a list of colours */
    "OFF\n5 2 6\n0 0 0 0 0 1\n1 0 0 0 -1 0\n1 1 0 0 0 1\n0 1 0 0 0 1\n0.5 1.5 -0.1 0 0 1\n4 0 1 2 3\n3 3 2 4\n",
    "OFF\n5 2 6\n0 0 0 4\n1 0 0 4\n1 1 0 4\n0 1 0 4\n0.5 1.5 -0.1 4\n4 0 1 2 3\n3 3 2 4\n",
};

static void reads_what_programs_write(void **state) {
    (void)state;
    ex_mesh *expected = must_parse(house, sizeof house - 1);
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
        ex_mesh *mesh = must_parse(variants[i], strlen(variants[i]));
        if (!meshes_are_same(expected, mesh))
            fail_msg("variant %zu differs", i);
        ex_mesh_destroy(mesh);
    }
    ex_mesh_destroy(expected);
}

static void reads_colours(void **state) {
    (void)state;
    static const char *const texts[] = {
        "COFF\n3 1 0\n0 0 0 51 0 255 255\n1 0 0 0 255 0 255\n0 1 0 0 0 0 255\n3 0 1 2\n",
        "COFF\n3 1 0\n0 0 0 0.2 0 1 1\n1 0 0 0 1 0 1\n0 1 0 0 0 0 1\n3 0 1 2\n",
        "OFF\n3 1 0\n0 0 0 51 0 255\n1 0 0 0 255 0\n0 1 0 0 0 0\n3 0 1 2\n",
    };
    const float colours[9] = {0.2f, 0, 1, 0, 1, 0, 0, 0, 0};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        ex_mesh *mesh = must_parse(texts[i], strlen(texts[i]));
        assert_non_null(mesh->colours);
        assert_memory_equal(mesh->colours, colours, sizeof colours);
        ex_mesh_destroy(mesh);
    }
    /* Dark colours are bytes if the opacity is; a vertex without a colour is white. */
    static const char dark[] = "COFF\n3 0 0\n0 0 0 1 0 0 255\n1 0 0\n0 1 0 0 1 0 255\n";
    const float some[9] = {1 / 255.0f, 0, 0, 1, 1, 1, 0, 1 / 255.0f, 0};
    ex_mesh *mesh = must_parse(dark, sizeof dark - 1);
    assert_memory_equal(mesh->colours, some, sizeof some);
    ex_mesh_destroy(mesh);
}

static const char everything[] = "STCNOFF\n3 1 3\n0 0 0  0 0 1  255 0 0 255  0.25 0.5\n1 0 0  0 0 1  0 255 0 255  1 0\n"
                                 "0 1 0  0 1 0  0 0 255 255  0 1\n3 0 1 2\n";

static void reads_normals_and_texture_coordinates(void **state) {
    (void)state;
    ex_mesh *mesh = must_parse(everything, sizeof everything - 1);
    assert_row_near(mesh->positions, ((double[]){0, 0, 0, 1, 0, 0, 0, 1, 0}), 9, 0);
    assert_row_near(mesh->normals, ((double[]){0, 0, 1, 0, 0, 1, 0, 1, 0}), 9, 0);
    assert_row_near(mesh->texcoords, ((double[]){0.25, 0.5, 1, 0, 0, 1}), 6, 0);
    const float colours[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1};
    assert_memory_equal(mesh->colours, colours, sizeof colours);
    check_ints(mesh->corner_normals, 3, (int[]){0, 1, 2});
    check_ints(mesh->corner_texcoords, 3, (int[]){0, 1, 2});
    ex_mesh_destroy(mesh);
    static const char *const texts[] = {"NOFF\n1 0 0\n1 2 3 0 0 1\n", "STOFF\n1 0 0\n1 2 3 0.5 1\n",
                                        "CNOFF\n1 0 0\n1 2 3 0 0 1 255 0 0\n", "STNOFF 1 0 0\n1 2 3 0 0 1 0.5 1\n"};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        mesh = must_parse(texts[i], strlen(texts[i]));
        assert_row_near(mesh->positions, ((double[]){1, 2, 3}), 3, 0);
        assert_int_equal(mesh->normal_count, i != 1);
        assert_int_equal(mesh->texcoord_count, i % 2);
        assert_int_equal(mesh->colours != NULL, i == 2);
        ex_mesh_destroy(mesh);
    }
}

/* ---- binary ---- */

#define ONE  "\x3f\x80\0\0"
#define ZERO "\0\0\0\0"

/* Two triangles, the second with a colour of 3 parts. */
static const char binary[] =
    "OFF BINARY\n\0\0\0\4\0\0\0\2\0\0\0\0" ZERO ZERO ZERO ONE ZERO ZERO ONE ONE ZERO ZERO ONE ZERO
    "\0\0\0\3\0\0\0\0\0\0\0\1\0\0\0\2\0\0\0\0"
    "\0\0\0\3\0\0\0\0\0\0\0\2\0\0\0\3\0\0\0\3" ONE ZERO ZERO;

static void reads_binary(void **state) {
    (void)state;
    ex_mesh *mesh = must_parse(binary, sizeof binary - 1);
    assert_int_equal(mesh->vertex_count, 4);
    assert_row_near(mesh->positions, ((double[]){0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0}), 12, 0);
    assert_int_equal(mesh->face_count, 2);
    check_ints(mesh->corners, 6, (int[]){0, 1, 2, 0, 2, 3});
    ex_mesh_destroy(mesh);
    static const char full[] =
        "STCNOFF BINARY\r\n\0\0\0\1\0\0\0\0\0\0\0\0" ZERO ZERO ONE ZERO ONE ZERO ONE ZERO ZERO ONE "\x3f\0\0\0" ONE;
    mesh = must_parse(full, sizeof full - 1);
    assert_row_near(mesh->positions, ((double[]){0, 0, 1}), 3, 0);
    assert_row_near(mesh->normals, ((double[]){0, 1, 0}), 3, 0);
    assert_row_near(mesh->texcoords, ((double[]){0.5, 1}), 2, 0);
    assert_true(mesh->colours[0] == 1 && mesh->colours[1] == 0 && mesh->colours[2] == 0);
    ex_mesh_destroy(mesh);
}

/* ---- errors ---- */

static const struct {
    const char *text;
    ex_result result;
    const char *sentence;
} wrong[] = {
    {"", EX_ERROR_FORMAT, "x.off is empty"},
    {"# nothing\n", EX_ERROR_FORMAT, "x.off:2: the file ends too early: copy or export it again"},
    {"solid cube\n", EX_ERROR_FORMAT, "x.off:1: does not begin with 'OFF': this is not an OFF file"},
    {"OFF\n", EX_ERROR_FORMAT, "x.off:2: the file ends too early: copy or export it again"},
    {"OFFSET 3\n", EX_ERROR_FORMAT, "x.off:1: cannot read 'SET' as the number of vertices"},
    {"4OFF\n1 0 0\n0 0 0 1\n", EX_ERROR_DATA,
     "x.off:1: the vertices have another number of coordinates than 3: export the mesh with x, y and z"},
    {"nOFF 5\n1 0 0\n", EX_ERROR_DATA,
     "x.off:1: the vertices have another number of coordinates than 3: export the mesh with x, y and z"},
    {"OFF\n3 x 0\n", EX_ERROR_FORMAT, "x.off:2: cannot read 'x' as the number of faces"},
    {"OFF\n-3 1 0\n", EX_ERROR_DATA, "x.off:2: the number of vertices or of faces is below 0"},
    {"OFF\n0 0 0\n", EX_ERROR_FORMAT, "x.off:2: has no vertices"},
    {"OFF\n600000000 1 0\n", EX_ERROR_LIMIT, "x.off:2: a mesh can have at most 536870911 vertices and as many faces"},
    {"OFF\n500000000 1 0\n0 0 0\n", EX_ERROR_FORMAT, "x.off:2: the file ends too early: copy or export it again"},
    {"OFF\n1 500000000 0\n0 0 0\n", EX_ERROR_FORMAT, "x.off:2: the file ends too early: copy or export it again"},
    {"OFF\n2 0 0\n0 0 0\n0 0,5 0\n", EX_ERROR_FORMAT, "x.off:4: cannot read '0,5' as a coordinate"},
    {"OFF\n2 0 0\n0 0 0\n0 nan 0\n", EX_ERROR_FORMAT, "x.off:4: cannot read 'nan' as a coordinate"},
    {"OFF\n2 0 0\n0 0 0\n0 0\n", EX_ERROR_FORMAT, "x.off:5: the file ends too early: copy or export it again"},
    {"OFF\n1 0 0\n0 0 0 1 1\n", EX_ERROR_FORMAT,
     "x.off:3: the vertex needs 3 numbers, or 6 or 7 with a colour, on a line of its own"},
    {"STOFF\n1 0 0\n0 0 0 1\n", EX_ERROR_FORMAT,
     "x.off:3: the vertex needs x, y, z, and at the end 2 texture coordinates"},
    {"COFF\n1 0 0\n0 0 0 1 1 300\n", EX_ERROR_DATA,
     "x.off:3: a vertex has a colour outside 0 to 1, and outside 0 to 255"},
    {"OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 3\n", EX_ERROR_DATA,
     "x.off:6: face 0 refers to vertex 3, but there are 3 (counting from 0)"},
    {"OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 -1\n", EX_ERROR_DATA,
     "x.off:6: face 0 refers to vertex -1, but there are 3 (counting from 0)"},
    {"OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1.5 2\n", EX_ERROR_FORMAT,
     "x.off:6: cannot read '1.5' as a vertex of a face"},
    {"OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n2000 0 1 2\n", EX_ERROR_FORMAT,
     "x.off:6: the file ends too early: copy or export it again"},
    {"OFF\n3 2 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n", EX_ERROR_FORMAT,
     "x.off:7: the file ends too early: copy or export it again"},
    {"OFF BINARY\n", EX_ERROR_FORMAT, "x.off: the file ends too early: copy or export it again"},
    {"ply\nformat ascii 1.0\n", EX_ERROR_FORMAT, "x.off: this is a PLY file: rename it to end in .ply"},
};

static void says_what_is_wrong(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        ex_mesh *mesh = (ex_mesh *)&mesh;
        ex_error error = {.text = "no error"};
        ex_result result = parse_exactly(wrong[i].text, strlen(wrong[i].text), &mesh, &error);
        assert_null(mesh);
        assert_string_equal(error.text, wrong[i].sentence);
        assert_int_equal(result, wrong[i].result);
        assert_int_equal(error.result, wrong[i].result);
    }
    static const char infinite[] = "OFF BINARY\n\0\0\0\1\0\0\0\0\0\0\0\0" ZERO ZERO "\x7f\x80\0\0";
    ex_mesh *mesh;
    ex_error error;
    assert_int_equal(parse_exactly(infinite, sizeof infinite - 1, &mesh, &error), EX_ERROR_DATA);
    assert_string_equal(error.text, "x.off: holds a number that is not finite");
    assert_int_equal(ex_off_read("/nowhere.off", &mesh, NULL), EX_ERROR_FILE);
}

/* By its ending in every case; an OFF file of another name is told apart; none is written. */
static void is_chosen_by_its_ending(void **state) {
    (void)state;
    ex_mesh *mesh;
    ex_error error;
    scratch_write("House.OFF", house, sizeof house - 1);
    scratch_write("house.obj", house, sizeof house - 1);
    assert_int_equal(ex_mesh_read(scratch_path("house.obj"), &mesh, &error), EX_ERROR_FORMAT);
    assert_sentence(&error, EX_ERROR_FORMAT, "this is an OFF file: rename it to end in .off");
    assert_int_equal(ex_mesh_read(scratch_path("House.OFF"), &mesh, &error), EX_OK);
    assert_int_equal(mesh->face_count, 2);
    assert_int_equal(ex_mesh_write(scratch_path("out.off"), mesh, &error), EX_ERROR_ARGUMENT);
    assert_sentence(&error, EX_ERROR_ARGUMENT, "meshes are written as .obj, .ply, .gltf or .glb");
    ex_mesh_destroy(mesh);
}

/* ---- damage and failing memory ---- */

static void damage(const char *original, size_t size, bool text) {
    char *bytes = malloc(size);
    ex_mesh *mesh;
    assert_non_null(bytes);
    memcpy(bytes, original, size);
    for (size_t cut = 0; cut < size; cut++) {
        ex_error error = {.text = ""};
        ex_result result = parse_exactly(bytes, cut, &mesh, &error);
        /* Text may lack its last line end. */
        assert_true(text && cut == size - 1 ? result == EX_OK : result != EX_OK);
        assert_true(result == EX_OK || strlen(error.text) > 10);
        ex_mesh_destroy(mesh);
    }
    for (size_t at = 0; at < size; at++)
        for (int bit = 0; bit < 8; bit++) {
            bytes[at] = (char)(bytes[at] ^ (1 << bit));
            ex_result result = parse_exactly(bytes, size, &mesh, NULL);
            assert_int_equal(result == EX_OK, mesh != NULL);
            ex_mesh_destroy(mesh);
            bytes[at] = (char)(bytes[at] ^ (1 << bit));
        }
    free(bytes);
}

static void survives_damage(void **state) {
    (void)state;
    damage(house, sizeof house - 1, true);
    damage(everything, sizeof everything - 1, true);
    damage(binary, sizeof binary - 1, false);
}

static ex_result read_with_little_memory(void *context) {
    (void)context;
    ex_mesh *mesh;
    ex_error error = {.result = EX_OK};
    ex_result result = ex_off_read(scratch_path("in.off"), &mesh, &error);
    if ((result == EX_OK) != (mesh != NULL) || error.result != result)
        return EX_ERROR_DATA;
    ex_mesh_destroy(mesh);
    return result;
}

static void survives_failing_memory(void **state) {
    (void)state;
    scratch_write("in.off", everything, sizeof everything - 1);
    assert_true(fail_alloc_sweep(read_with_little_memory, NULL) >= 9);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_set_up, scratch_tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_polygons), cmocka_unit_test(reads_what_programs_write),
        cmocka_unit_test(reads_colours),  cmocka_unit_test(reads_normals_and_texture_coordinates),
        cmocka_unit_test(reads_binary),   cmocka_unit_test(says_what_is_wrong),
        TEST(is_chosen_by_its_ending),    cmocka_unit_test(survives_damage),
        TEST(survives_failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

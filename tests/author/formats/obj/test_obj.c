/*
 * Reading OBJ: each kind of line by hand, every error with its sentence, damage, failing memory. Real files and writing
 * are in test_obj_write.c.
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

#include "support/fail_alloc.h"
#include "support/meshes.h"
#include "support/scratch.h"

/* Parses a block of exactly this size, so that the sanitizer and valgrind see reads beyond it. */
static ex_result parse_exactly(const char *text, size_t size, ex_mesh **mesh, ex_error *error) {
    char *exact = malloc(size > 0 ? size : 1);
    assert_non_null(exact);
    memcpy(exact, text, size);
    ex_result result = ex_obj_parse(exact, size, "x.obj", mesh, error);
    free(exact);
    return result;
}

static ex_mesh *parse(const char *text) {
    ex_mesh *mesh;
    ex_error error;
    if (parse_exactly(text, strlen(text), &mesh, &error) != EX_OK)
        fail_msg("%s", error.text);
    return mesh;
}

static void check_ints(const int *items, int count, const int *expected) {
    assert_non_null(items);
    for (int i = 0; i < count; i++)
        assert_int_equal(items[i], expected[i]);
}

/* ---- reading, by hand ---- */

static void reads_everything(void **state) {
    (void)state;
    ex_mesh *mesh = parse(obj_with_everything);
    assert_int_equal(mesh->vertex_count, 5);
    assert_true(mesh->positions[5] == 0.1 && mesh->positions[8] == -0.0025 && mesh->positions[11] == 1e300);
    assert_null(mesh->colours);
    assert_int_equal(mesh->texcoord_count, 3);
    assert_true(mesh->texcoords[2] == 1 && mesh->texcoords[4] == 0.25 && mesh->texcoords[5] == 0);
    assert_int_equal(mesh->normal_count, 2);
    assert_true(mesh->normals[2] == 1 && mesh->normals[4] == 1);
    assert_int_equal(mesh->face_count, 5);
    assert_int_equal(mesh->corner_count, 18);
    check_ints(mesh->face_offsets, 6, (int[]){0, 3, 7, 10, 15, 18});
    check_ints(mesh->corners, 18, (int[]){0, 1, 2, 0, 1, 2, 3, 0, 1, 2, 0, 1, 2, 3, 4, 2, 3, 4});
    check_ints(mesh->corner_texcoords, 18, (int[]){-1, -1, -1, 0, 1, 2, 0, -1, -1, -1, 0, 1, 2, 0, 1, -1, -1, -1});
    check_ints(mesh->corner_normals, 18, (int[]){-1, -1, -1, -1, -1, -1, -1, 0, 1, 0, 0, 1, 0, 0, 1, -1, -1, -1});
    assert_int_equal(mesh->group_count, 2);
    assert_string_equal(mesh->group_names[0], "shirt left");
    assert_string_equal(mesh->group_names[1], "default");
    check_ints(mesh->face_groups, 5, (int[]){-1, 0, 0, 1, 0});
    assert_int_equal(mesh->material_count, 2);
    assert_string_equal(mesh->material_names[1], "linen");
    check_ints(mesh->face_materials, 5, (int[]){-1, 0, 0, 0, 1});
    assert_string_equal(mesh->material_library, "cloth.mtl");
    assert_int_equal(mesh->tag_count, 2);
    assert_string_equal(mesh->tags[0].name, "crease");
    check_ints(mesh->tags[0].ints, 2, (int[]){0, 1});
    assert_true(mesh->tags[0].floats[0] == 2.5);
    assert_int_equal(mesh->tags[1].string_count, 2);
    assert_string_equal(mesh->tags[1].strings[1], "two");
    ex_mesh_destroy(mesh);
}

/* The same triangle, however its lines are cut. */
static void reads_every_kind_of_line_end(void **state) {
    (void)state;
    static const char *const texts[] = {"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n",
                                        "v 0 0 0\r\nv 1 0 0\r\nv 0 1 0\r\nf 1 2 3\r\n",
                                        "v 0 0 0\rv 1 0 0\rv 0 1 0\rf 1 2 3",
                                        "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3",
                                        "\xEF\xBB\xBFv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3",
                                        "\n\n  v  0\t0 0  \n\tv 1 0 0 # right\n#\nv 0 1 0\nf 1 2 3 #4\n",
                                        "v 0 0 \\\n0\nv 1 0 0\nv 0 1\\\r\n0\nf \\\n1 \\\n2 \\\r3\\\n\n",
                                        "f 1 2 3\nv 0 0 0\nv 1 0 0\nv 0 1 0\n",
                                        "# C:\\shapes\\\nv 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n",
                                        "v 0 0 0\nv 1 0 0\nv 0 1 0\ncurv 0 1 \\\n1 2 3\nf 1/ 2/ 3/\n",
                                        "v 0 0 0 1\nv 1 0 0 1.0\nv 0 1 0\nvp 1 2\nxyz_1 what is this\nf 1// 2// 3//"};
    ex_mesh *first = parse(texts[0]);
    for (size_t i = 1; i < sizeof texts / sizeof texts[0]; i++) {
        ex_mesh *mesh = parse(texts[i]);
        if (!meshes_are_same(first, mesh))
            fail_msg("text %d gives another mesh", (int)i);
        ex_mesh_destroy(mesh);
    }
    ex_mesh_destroy(first);
}

static void reads_colours(void **state) {
    (void)state;
    ex_mesh *mesh = parse("v 0 0 0\nv 1 0 0 0.5 0.25 0\nv 0 1 0 1 0 1 0.75\n");
    assert_int_equal(mesh->face_count, 0);
    assert_int_equal(mesh->face_offsets[0], 0);
    const float expected[9] = {1, 1, 1, 0.5f, 0.25f, 0, 0, 1, 0.75f};
    assert_memory_equal(mesh->colours, expected, sizeof expected);
    ex_mesh_destroy(mesh);
    /* Colours in bytes. */
    mesh = parse("v 0 0 0\nv 1 0 0 255 51 0\n");
    const float bytes[6] = {1, 1, 1, 1, 0.2f, 0};
    assert_memory_equal(mesh->colours, bytes, sizeof bytes);
    ex_mesh_destroy(mesh);
}

static void reads_names(void **state) {
    (void)state;
    ex_mesh *mesh = parse("v 0 0 0\nv 1 0 0\nv 0 1 0\n"
                          "o body\nf 1 2 3\n"            /* an object is a group */
                          "o coat\ng sleeve\nf 1 2 3\n"  /* a group is finer */
                          "g collar\no shirt\nf 1 2 3\n" /* also the other way round */
                          "o shoe # left\nf 1 2 3\n"
                          "g unused\ng #1\nusemtl a b\nf 1 2 3\n"
                          "usemtl\nf 1 2 3\n"
                          "mtllib a.mtl\nmtllib b.mtl c.mtl\n");
    assert_int_equal(mesh->group_count, 5);
    static const char *const names[] = {"body", "sleeve", "collar", "shoe", "#1"};
    for (int i = 0; i < 5; i++)
        assert_string_equal(mesh->group_names[i], names[i]);
    check_ints(mesh->face_groups, 6, (int[]){0, 1, 2, 3, 4, 4});
    assert_int_equal(mesh->material_count, 1);
    assert_string_equal(mesh->material_names[0], "a b");
    check_ints(mesh->face_materials, 6, (int[]){-1, -1, -1, -1, 0, -1});
    assert_string_equal(mesh->material_library, "a.mtl b.mtl c.mtl");
    ex_mesh_destroy(mesh);
}

/* Enough names to make the table grow again and again, each used twice. */
static void reads_many_names(void **state) {
    (void)state;
    enum { NAMES = 3000 };
    char *text = malloc(NAMES * 64 + 64);
    assert_non_null(text);
    char *at = text + sprintf(text, "v 0 0 0\nv 1 0 0\nv 0 1 0\n");
    for (int i = 0; i < 2 * NAMES; i++)
        at += sprintf(at, "g n%d\nf 1 2 3\n", i * 7 % NAMES);
    ex_mesh *mesh = parse(text);
    assert_int_equal(mesh->group_count, NAMES);
    for (int i = 0; i < 2 * NAMES; i++) {
        char name[16];
        sprintf(name, "n%d", i * 7 % NAMES);
        assert_string_equal(mesh->group_names[mesh->face_groups[i]], name);
    }
    ex_mesh_destroy(mesh);
    free(text);
}

static void reads_very_long_lines(void **state) {
    (void)state;
    enum { CORNERS = 20000 };
    size_t size = 0;
    char *text = malloc(CORNERS * 48);
    assert_non_null(text);
    for (int i = 0; i < CORNERS; i++)
        size += (size_t)sprintf(text + size, "v %d 0 %d.5\n", i, i);
    size += (size_t)sprintf(text + size, "f");
    for (int i = 0; i < CORNERS; i++)
        size += (size_t)sprintf(text + size, " %d", i + 1);
    ex_mesh *mesh = parse(text);
    assert_int_equal(mesh->face_count, 1);
    assert_int_equal(mesh->corner_count, CORNERS);
    assert_int_equal(mesh->corners[CORNERS - 1], CORNERS - 1);
    ex_mesh_destroy(mesh);
    free(text);
}

/* ---- errors ---- */

#define SQUARE "v 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\n"

static const struct {
    const char *text;
    ex_result result;
    const char *sentence;
} wrong[] = {
    {"", EX_ERROR_FORMAT, "x.obj is empty"},
    {"# nothing\n", EX_ERROR_FORMAT, "x.obj has no vertices: is it an OBJ file?"},
    {"solid cube\n", EX_ERROR_FORMAT, "x.obj has no vertices: is it an OBJ file?"},
    {"{ \"asset\": 1 }", EX_ERROR_FORMAT, "x.obj:1: cannot read '{' as a keyword of an OBJ file"},
    {"\x01\x02\xff\n", EX_ERROR_FORMAT, "x.obj:1: cannot read '\?\?\?' as a keyword of an OBJ file"},
    {"v 0 0 0\nv 1 nan 0\n", EX_ERROR_FORMAT, "x.obj:2: cannot read 'nan' as a coordinate"},
    {"v 0 0 -inf\n", EX_ERROR_FORMAT, "x.obj:1: cannot read '-inf' as a coordinate"},
    {"v 0 0 1e999\n", EX_ERROR_FORMAT, "x.obj:1: cannot read '1e999' as a coordinate"},
    {"v 0 0,5 0\n", EX_ERROR_FORMAT, "x.obj:1: cannot read '0,5' as a coordinate"},
    {"v 0 0 \\\n\\\nx\n", EX_ERROR_FORMAT, "x.obj:3: cannot read 'x' as a coordinate"},
    {"v 0 0 0123456789012345678901234567890123456789x\n", EX_ERROR_FORMAT,
     "x.obj:1: cannot read '0123456789012345678901234567890123456789...' as a coordinate"},
    {"v 0 0\n", EX_ERROR_FORMAT, "x.obj:1: the vertex has 2 numbers; it needs 3, or 6 with a colour"},
    {"v\n", EX_ERROR_FORMAT, "x.obj:1: the vertex has 0 numbers; it needs 3, or 6 with a colour"},
    {"v 1 2 3 4 5 6 7 8\n", EX_ERROR_FORMAT, "x.obj:1: cannot read '8' as anything: the line should end here"},
    {"v 1 2 3 1 5\n", EX_ERROR_FORMAT, "x.obj:1: the vertex has 5 numbers; it needs 3, or 6 with a colour"},
    {"v 0 0 0 0.5\n", EX_ERROR_DATA,
     "x.obj:1: the vertex has weight 0.5: rational vertices belong to curved surfaces, which are not supported"},
    {"v 0 0 0 1 -1 0\n", EX_ERROR_DATA, "x.obj:1: the vertex has a colour outside 0 to 1, and outside 0 to 255"},
    {"v 0 0 0 300 1 0\n", EX_ERROR_DATA, "x.obj:1: the vertex has a colour outside 0 to 1, and outside 0 to 255"},
    {"vt\n", EX_ERROR_FORMAT, "x.obj:1: the texture coordinate has no numbers"},
    {"vt a\n", EX_ERROR_FORMAT, "x.obj:1: cannot read 'a' as a texture coordinate"},
    {"vn 0 1\n", EX_ERROR_FORMAT, "x.obj:1: the normal has 2 numbers; it needs 3"},
    {SQUARE "f 1 2 x\n", EX_ERROR_FORMAT, "x.obj:5: cannot read 'x' as a corner"},
    {SQUARE "f 1 2 3.5\n", EX_ERROR_FORMAT, "x.obj:5: cannot read '3.5' as a corner"},
    {SQUARE "f 1 2 3/1/1/1\n", EX_ERROR_FORMAT, "x.obj:5: cannot read '3/1/1/1' as a corner"},
    {SQUARE "f 1 2 /3\n", EX_ERROR_FORMAT, "x.obj:5: cannot read '/3' as a corner"},
    {SQUARE "f 1 2 99999999999\n", EX_ERROR_FORMAT, "x.obj:5: cannot read '99999999999' as a corner"},
    {SQUARE "f 1 2 0\n", EX_ERROR_DATA, "x.obj:5: the face refers to vertex 0, but OBJ files count from 1"},
    {SQUARE "f 1 2 -5\n", EX_ERROR_DATA, "x.obj:5: the face refers to vertex -5, but there are only 4 so far"},
    {SQUARE "f 1 2 -2147483648\n", EX_ERROR_DATA,
     "x.obj:5: the face refers to vertex -2147483648, but there are only 4 so far"},
    {SQUARE "f 1 2 3\n\nf 1 2 5\ng x\n", EX_ERROR_DATA,
     "x.obj:7: the face refers to vertex 5, but the file has 4 vertices"},
    {SQUARE "f 1 2 2147483647\n", EX_ERROR_DATA,
     "x.obj:5: the face refers to vertex 2147483647, but the file has 4 vertices"},
    {SQUARE "vt 0 0\nf 1/1 2/1 3/2\n", EX_ERROR_DATA,
     "x.obj:6: the face refers to texture coordinate 2, but the file has 1 texture coordinates"},
    {SQUARE "f 1//1 2//1 3//1\n", EX_ERROR_DATA, "x.obj:5: the face refers to normal 1, but the file has 0 normals"},
    {SQUARE "vt 0 0\nf 1/1 2/1 3\n", EX_ERROR_FORMAT,
     "x.obj:6: some corners of the face have texture coordinates or normals and others do not"},
    {SQUARE "f 1 2\n", EX_ERROR_DATA, "x.obj:5: the face has 2 corners; it needs at least 3"},
    {SQUARE "f 1\n", EX_ERROR_DATA, "x.obj:5: the face has 1 corner; it needs at least 3"},
    {SQUARE "f\n", EX_ERROR_DATA, "x.obj:5: the face has 0 corners; it needs at least 3"},
    {SQUARE "t\n", EX_ERROR_FORMAT, "x.obj:5: the line ends where a tag's word is needed"},
    {SQUARE "t crease\n", EX_ERROR_FORMAT, "x.obj:5: the tag lacks its counts, as in 2/1/0"},
    {SQUARE "t crease 2/1\n", EX_ERROR_FORMAT, "x.obj:5: cannot read '2/1' as a tag's counts, as in 2/1/0"},
    {SQUARE "t crease -2/1/0 1\n", EX_ERROR_FORMAT, "x.obj:5: cannot read '-2/1/0' as a tag's counts, as in 2/1/0"},
    {SQUARE "t crease 2000000000/1/0 1\n", EX_ERROR_DATA,
     "x.obj:5: the file ends too early: the tag states 2000000000 values"},
    {SQUARE "t crease 2/1/0 0 1\n", EX_ERROR_FORMAT, "x.obj:5: the line ends where a tag's number is needed"},
    {SQUARE "t crease 2/0/0 0 1.5\n", EX_ERROR_FORMAT, "x.obj:5: cannot read '1.5' as a tag's whole number"},
    {SQUARE "t crease 2/1/0 0 1 2 3\n", EX_ERROR_FORMAT,
     "x.obj:5: cannot read '3' as anything: the line should end here"},
    {SQUARE "t crease 2/1/0 0 4 2\n", EX_ERROR_DATA,
     "x.obj:5: the crease refers to vertex 4 (tags count from 0), but the file has 4 vertices"},
    {SQUARE "t corner 1/1/0 -1 2\n", EX_ERROR_DATA,
     "x.obj:5: the corner refers to vertex -1 (tags count from 0), but the file has 4 vertices"},
};

static void says_what_is_wrong(void **state) {
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        ex_mesh *mesh = (ex_mesh *)&mesh;
        ex_error error = {.text = "no error"};
        ex_result result = parse_exactly(wrong[i].text, strlen(wrong[i].text), &mesh, &error);
        assert_null(mesh);
        assert_string_equal(error.text, wrong[i].sentence);
        assert_int_equal(result, wrong[i].result);
        assert_int_equal(error.result, wrong[i].result);
    }
    ex_mesh *mesh;
    ex_error error;
    assert_int_equal(parse_exactly("v 0 0 0\nv 1\0 0", 14, &mesh, &error), EX_ERROR_FORMAT);
    assert_string_equal(error.text, "x.obj:2: a zero byte: this is not an OBJ file, or not one in UTF-8");
    assert_int_equal(ex_obj_read("/nowhere.obj", &mesh, &error), EX_ERROR_FILE);
    assert_null(mesh);
}

/* A truncated file is a mesh or an error; so is one with a byte changed. For sanitizers and valgrind. */
static void survives_damage(void **state) {
    (void)state;
    size_t size = strlen(obj_with_everything);
    char *text = malloc(size);
    assert_non_null(text);
    memcpy(text, obj_with_everything, size);
    int good = 0;
    for (size_t cut = 0; cut < size; cut++) {
        ex_mesh *mesh;
        ex_result result = parse_exactly(text, cut, &mesh, NULL);
        assert_int_equal(result == EX_OK, mesh != NULL);
        good += result == EX_OK;
        ex_mesh_destroy(mesh);
    }
    assert_in_range(good, 1, size - 1);
    for (size_t at = 0; at < size; at++)
        for (int bit = 0; bit < 8; bit++) {
            ex_mesh *mesh;
            text[at] = (char)(text[at] ^ (1 << bit));
            ex_result result = parse_exactly(text, size, &mesh, NULL);
            assert_int_equal(result == EX_OK, mesh != NULL);
            ex_mesh_destroy(mesh);
            text[at] = obj_with_everything[at];
        }
    free(text);
}

/* ---- memory ---- */

static ex_result read_with_little_memory(void *context) {
    (void)context;
    ex_mesh *mesh;
    ex_error error = {.result = EX_OK};
    ex_result result = ex_obj_read(scratch_path("in.obj"), &mesh, &error);
    if ((result == EX_OK) != (mesh != NULL) || error.result != result)
        return EX_ERROR_DATA;
    ex_mesh_destroy(mesh);
    return result;
}

static void survives_failing_memory(void **state) {
    (void)state;
    scratch_write("in.obj", obj_with_everything, strlen(obj_with_everything));
    assert_true(fail_alloc_sweep(read_with_little_memory, NULL) >= 30);
    const char coloured[] = "v 0 0 0\nv 0 1 0 0 1 0\nmtllib a\nmtllib b\n";
    scratch_write("in.obj", coloured, sizeof coloured - 1);
    assert_true(fail_alloc_sweep(read_with_little_memory, NULL) >= 7);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, scratch_set_up, scratch_tear_down)

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_everything),   cmocka_unit_test(reads_every_kind_of_line_end),
        cmocka_unit_test(reads_colours),      cmocka_unit_test(reads_names),
        cmocka_unit_test(reads_many_names),   cmocka_unit_test(reads_very_long_lines),
        cmocka_unit_test(says_what_is_wrong), cmocka_unit_test(survives_damage),
        TEST(survives_failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

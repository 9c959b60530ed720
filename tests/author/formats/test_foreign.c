/*
 * Formats that cannot be read: recognised by first bytes and by ending, and only after a parser has failed.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "author/formats/foreign.h"
#include "support/scratch.h"

static const char *explain(exi_content wanted, const char *path, const char *parsed, const char *bytes) {
    static ex_error error;
    ex_error_set(&error, EX_ERROR_FORMAT, "as before");
    assert_int_equal(exi_foreign_explain(&error, EX_ERROR_FORMAT, wanted, path, parsed, bytes, strlen(bytes)),
                     EX_ERROR_FORMAT);
    assert_int_equal(error.kind != NULL, strcmp(error.text, "as before") != 0);
    return error.text;
}

static void check(const char *text, const char *fragment) {
    if (!strstr(text, fragment))
        fail_msg("'%s' does not have '%s'", text, fragment);
}

static void by_start_and_ending(void **state) {
    (void)state;
    check(explain(EXI_CONTENT_MESH, "a.obj", ".obj", "Kaydara FBX Binary"), "a.obj: this is an FBX file; a mesh is");
    check(explain(EXI_CONTENT_SCENE, "A.FBX", ".glb", ""), "this is an FBX file; a scene is read from .glb or .gltf");
    /* A zip archive with the ending of a format that is one. */
    check(explain(EXI_CONTENT_SCENE, "a.usdz", ".glb", "PK\x03\x04"), "a USD file");
    check(explain(EXI_CONTENT_SCENE, "a.glb", ".glb", "PK\x03\x04"), "an archive");
    /* The first bytes count for more than another format's ending. */
    check(explain(EXI_CONTENT_MESH, "a.stl", ".obj", "BLENDER-v300"), "a Blender file");
}

/* The advice fits the content. */
static void advice(void **state) {
    (void)state;
    check(explain(EXI_CONTENT_IMAGE, "a.webp", ".png", "RIFF....WEBP"), "Save it as PNG or JPEG");
    assert_null(strstr(explain(EXI_CONTENT_MESH, "a.webp", ".obj", "RIFF....WEBP"), "Save"));
    assert_null(strstr(explain(EXI_CONTENT_IMAGE, "a.fbx", ".png", ""), "Blender"));
    check(explain(EXI_CONTENT_POSES, "a.xlsx", ".csv", "PK\x03\x04"), "a spreadsheet");
    check(explain(EXI_CONTENT_POSES, "a.xlsx", ".csv", "PK\x03\x04"), "Save it as CSV with commas");
    check(explain(EXI_CONTENT_MOTION, "a.ods", ".bvh", "PK\x03\x04"), "Save it as CSV with commas");
    assert_null(strstr(explain(EXI_CONTENT_MESH, "a.xls", ".obj", ""), "CSV"));
    check(explain(EXI_CONTENT_CACHE, "a.usda", ".pc2", "#usda"), "Wavefront (.obj), with Animation ticked");
}

static void own_formats(void **state) {
    (void)state;
    check(explain(EXI_CONTENT_MESH, "a.obj", ".obj", "glTF"), "this is a glTF file: rename it to end in .glb");
    check(explain(EXI_CONTENT_MESH, "a.obj", ".obj", "\x89PNG"), "this is a PNG image; a mesh is read from");
    assert_string_equal(explain(EXI_CONTENT_MESH, "a.ply", ".ply", "ply\nformat"), "as before");
    /* A pipe has no ending, and its parser knew the format. */
    assert_string_equal(explain(EXI_CONTENT_SCENE, "/dev/fd/5", ".glb", "glTF"), "as before");
    assert_string_equal(explain(EXI_CONTENT_MESH, "a.obj", ".obj", "v 1 2"), "as before");
}

static void other_results_stay(void **state) {
    (void)state;
    ex_error error;
    ex_error_set(&error, EX_ERROR_MEMORY, "as before");
    assert_int_equal(exi_foreign_explain(&error, EX_OK, EXI_CONTENT_MESH, "a.fbx", ".obj", "", 0), EX_OK);
    assert_int_equal(exi_foreign_explain(&error, EX_ERROR_MEMORY, EXI_CONTENT_MESH, "a.fbx", ".obj", "", 0),
                     EX_ERROR_MEMORY);
    assert_string_equal(error.text, "as before");
    assert_int_equal(exi_foreign_explain(NULL, EX_ERROR_FORMAT, EXI_CONTENT_MESH, "a.fbx", ".obj", "", 0),
                     EX_ERROR_FORMAT);
}

static void endings(void **state) {
    (void)state;
    ex_error error;
    assert_int_equal(exi_foreign_ending(&error, EXI_CONTENT_MESH, scratch_path("none.txt")), EX_ERROR_FILE);
    scratch_write("a.txt", "hello", 5);
    assert_int_equal(exi_foreign_ending(&error, EXI_CONTENT_MESH, scratch_path("a.txt")), EX_ERROR_FORMAT);
    check(error.text, "a.txt: a mesh is read from .obj, .ply, .off, .abc, .glb or .gltf; export it as one of them");
    scratch_write("a.data", "Kaydara FBX Binary", 18);
    assert_int_equal(exi_foreign_ending(&error, EXI_CONTENT_MOTION, scratch_path("a.data")), EX_ERROR_FORMAT);
    check(error.text, "an FBX file; motion is read from");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_start_and_ending), cmocka_unit_test(advice),  cmocka_unit_test(own_formats),
        cmocka_unit_test(other_results_stay),  cmocka_unit_test(endings),
    };
    return cmocka_run_group_tests(tests, scratch_set_up, scratch_tear_down);
}

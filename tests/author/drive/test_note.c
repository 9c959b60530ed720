/* The note of a driven rig: a written note is read back, and a note from another program is refused, not trusted. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "author/base/json.h"
#include "author/drive/drive.h"

#include "support/check.h"

static const float square[] = {0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0};
static const uint32_t halves[] = {0, 1, 2, 0, 2, 3};

/* A rig of a triangle with this note. */
static ex_rig *rig_with(const char *kind, const char *text) {
    static const uint32_t size = 3;
    const ex_attachment note = {.kind = kind, .data = text, .size = strlen(text)};
    ex_rig_def def = ex_rig_def_default();
    def.mesh = (ex_rig_mesh){.vertex_count = 3,
                             .positions = square,
                             .split_count = 3,
                             .face_count = 1,
                             .corner_count = 3,
                             .face_sizes = &size,
                             .corners = halves,
                             .triangle_count = 1,
                             .triangles = halves};
    def.notes = &note;
    def.note_count = 1;
    ex_rig *rig = NULL;
    ex_error error = {0};
    if (ex_rig_create(&def, NULL, &rig, &error) != EX_OK)
        fail_msg("%s", error.text);
    return rig;
}

static ex_result read(const char *kind, const char *text, exi_arena *arena, ex_drive_options *options, ex_mesh **mesh,
                      ex_error *error) {
    const ex_rig_driver driver = {
        .driver = {.vertex_count = 4, .reference = square}, .triangle_count = 2, .triangles = halves};
    ex_rig *rig = rig_with(kind, text);
    const ex_result result = exi_drive_note_read(rig, &driver, arena, options, mesh, error);
    ex_rig_destroy(rig);
    return result;
}

#define OPTIONS                                                                                                        \
    "\"frame\":\"fit\",\"frames\":16,\"fit\":0.75,\"look\":1.2,\"whole\":0.02,\"influences\":4,\"one_region\":false"

static void test_written(void **state) {
    (void)state;
    double places[12];
    int offsets[] = {0, 4}, corners[] = {0, 1, 2, 3}, groups[] = {0};
    char name[] = "left leg";
    char *names[] = {name};
    for (int i = 0; i < 12; i++)
        places[i] = (double)square[i];
    const ex_mesh mesh = {.vertex_count = 4,
                          .positions = places,
                          .face_count = 1,
                          .face_offsets = offsets,
                          .corner_count = 4,
                          .corners = corners,
                          .group_count = 1,
                          .group_names = names,
                          .face_groups = groups};
    const float weights[] = {0.1F, 0.1F, 0.3F, 0};
    ex_drive_options o = ex_drive_options_default(), got;
    o.frames = 16;
    o.driver_weights = weights;
    exi_text text = {0};
    ex_error error = {0};
    assert_int_equal(exi_drive_note_write(&o, &mesh, &text, &error), EX_OK);
    assert_string_equal(text.bytes, "{" OPTIONS ",\"driver_weights\":[2,0.10000000149011612,1,0.30000001192092896,1,0],"
                                    "\"driver\":{\"face_sizes\":[1,4],\"corners\":[0,1,2,3],\"groups\":[\"left leg\"],"
                                    "\"face_groups\":[1,0]}}");
    exi_arena arena = {0};
    ex_mesh *made = NULL;
    assert_int_equal(read("drive", text.bytes, &arena, &got, &made, &error), EX_OK);
    assert_int_equal(got.frames, 16);
    assert_memory_equal(got.driver_weights, weights, sizeof weights);
    assert_int_equal(made->face_count, 1);
    assert_memory_equal(made->corners, corners, sizeof corners);
    assert_string_equal(made->group_names[0], "left leg");
    ex_mesh_destroy(made);
    exi_arena_free(&arena);
    free(text.bytes);
}

static void test_damaged(void **state) {
    (void)state;
    static const char *const notes[] = {
        "",
        "[]",
        "{",
        "{}",
        "{" OPTIONS "}",
        "{" OPTIONS ",\"driver\":3}",
        "{" OPTIONS ",\"driver\":{},\"driver_weights\":[3,1]}",
        "{" OPTIONS ",\"driver\":{},\"driver_weights\":[5,1]}",
        "{" OPTIONS ",\"driver\":{},\"driver_weights\":[4]}",
        "{" OPTIONS ",\"driver\":{},\"driver_weights\":[4,\"x\"]}",
        "{" OPTIONS ",\"driver\":{},\"driver_weights\":[-4,1]}",
        "{" OPTIONS ",\"driver\":{},\"regions\":[[3,1]]}",
        "{" OPTIONS ",\"driver\":{},\"frame_group\":7}",
        "{" OPTIONS ",\"driver\":{\"corners\":[0,1,2,3]}}",
        "{" OPTIONS ",\"driver\":{\"face_sizes\":[1,4],\"corners\":[0,1,2,4]}}",
        "{" OPTIONS ",\"driver\":{\"face_sizes\":[1,4],\"corners\":[0,1,2]}}",
        "{" OPTIONS ",\"driver\":{\"face_sizes\":[1,3],\"corners\":[0,1,2,3]}}",
        "{" OPTIONS ",\"driver\":{\"face_sizes\":[2,2],\"corners\":[0,1,2,3,0,1]}}",
        "{" OPTIONS ",\"driver\":{\"face_sizes\":[2000000000,3],\"corners\":[0,1,2,3]}}",
        "{" OPTIONS ",\"driver\":{\"groups\":[\"a\"],\"face_groups\":[2,1]}}",
        "{" OPTIONS ",\"driver\":{\"groups\":[1],\"face_groups\":[2,0]}}",
        "{" OPTIONS ",\"driver\":{\"groups\":[\"a\"],\"face_groups\":[1,0]}}",
        "{\"frame\":\"fitt\",\"frames\":16,\"fit\":0.75,\"look\":1.2,\"whole\":0.02,\"influences\":4,\"driver\":{}}",
        "{\"frame\":\"fit\",\"frames\":\"x\",\"fit\":0.75,\"look\":1.2,\"whole\":0.02,\"influences\":4,\"driver\":{}}",
        "{\"frame\":\"joint\",\"frames\":0,\"fit\":0.75,\"look\":1.2,\"whole\":0.02,\"influences\":4,\"driver\":{}}",
    };
    exi_arena arena = {0};
    ex_drive_options o;
    ex_mesh *mesh = NULL;
    ex_error error = {0};
    for (size_t i = 0; i < sizeof notes / sizeof *notes; i++) {
        if (read("drive", notes[i], &arena, &o, &mesh, &error) != EX_ERROR_DATA)
            fail_msg("note %zu is believed: %s", i, notes[i]);
        assert_sentence(&error, EX_ERROR_DATA, "damaged");
        assert_null(mesh);
    }
    assert_int_equal(read("drive", "{" OPTIONS ",\"driver\":{}}", &arena, &o, &mesh, &error), EX_OK);
    assert_int_equal(mesh->face_count, 2);
    ex_mesh_destroy(mesh);
    assert_int_equal(read("other", "{}", &arena, &o, &mesh, &error), EX_ERROR_DATA);
    assert_sentence(&error, EX_ERROR_DATA, "learn it again");
    exi_arena_free(&arena);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_written),
        cmocka_unit_test(test_damaged),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * Gathered files that are cut short, edited, of another version, or no such files: each is refused with one sentence,
 * and nothing is read beyond the end. A file whose checksum was made anew after a byte was changed is read without
 * harm: it is refused, or gives a rig.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/check.h"
#include "support/scratch.h"
#include "support/swings.h"

#include <stdlib.h>
#include <string.h>

static ex_result open_bytes(const char *bytes, size_t size, ex_error *error) {
    ex_gathered *opened = NULL;
    scratch_write("x.gathered", bytes, size);
    const ex_result result = ex_gathered_open(scratch_path("x.gathered"), &opened, error);
    assert_true((result == EX_OK) == (opened != NULL));
    ex_gathered_close(opened);
    return result;
}

/* A gathered file of a few frames; release with free. */
static char *make_file(ex_learn_method method, size_t *size) {
    static const int counts[1] = {20};
    swing_lesson l;
    ex_error error = {.result = EX_OK};
    swing_open(&l, 1, counts);
    const ex_gather_def def = {.driver = l.def.driver,
                               .driven = l.def.driven,
                               .reference = l.references[0],
                               .method = method,
                               .form_count = 4,
                               .options = l.def.options};
    assert_int_equal(ex_drive_gather(&def, scratch_path("a.gathered"), &error), EX_OK);
    swing_close(&l);
    return scratch_read("a.gathered", size);
}

static uint64_t mix(uint64_t state, uint64_t word) {
    state = (state ^ word) * 0xD6E8FEB86659FD93u;
    return state ^ state >> 32;
}

/* Makes the checksum of a file anew, as someone who edits it on purpose. */
static void sign(char *bytes, size_t size) {
    uint64_t state = 0x9E3779B97F4A7C15u, word;
    for (size_t i = 0; i + 16 < size; i += 8) {
        memcpy(&word, bytes + i, 8);
        state = mix(state, word);
    }
    state = mix(state, size - 16);
    memcpy(bytes + size - 8, &state, 8);
}

static void files_of_every_length_are_refused(void **context) {
    (void)context;
    for (int m = 0; m < 2; m++) {
        size_t size;
        char *bytes = make_file(m ? EX_LEARN_MOTION : EX_LEARN_KEYS, &size);
        ex_error error = {.result = EX_OK};
        assert_int_equal(open_bytes(bytes, size, &error), EX_OK);
        for (size_t cut = 0; cut < size; cut += cut < 400 ? 1 : 997) {
            const ex_result result = open_bytes(bytes, cut, &error);
            assert_int_equal(result, cut < 16 ? EX_ERROR_FORMAT : EX_ERROR_DATA);
            assert_sentence(&error, result, cut < 16 ? "this is no gathered file" : "damaged or cut short");
        }
        free(bytes);
    }
}

static void every_byte_counts(void **context) {
    (void)context;
    for (int m = 0; m < 2; m++) {
        size_t size;
        char *bytes = make_file(m ? EX_LEARN_MOTION : EX_LEARN_KEYS, &size);
        for (size_t i = 0; i < size; i += i < 600 ? 1 : 499) {
            ex_error error = {.result = EX_OK};
            bytes[i] ^= 4;
            assert_int_not_equal(open_bytes(bytes, size, &error), EX_OK);
            assert_true(error.text[0] != 0);
            bytes[i] ^= 4;
        }
        free(bytes);
    }
}

static void another_version_is_named(void **context) {
    (void)context;
    size_t size;
    char *bytes = make_file(EX_LEARN_KEYS, &size);
    ex_error error = {.result = EX_OK};
    bytes[8] = 7;
    sign(bytes, size);
    assert_int_equal(open_bytes(bytes, size, &error), EX_ERROR_FORMAT);
    assert_sentence(&error, EX_ERROR_FORMAT, "version 7 of its format, and this program reads version 1");
    free(bytes);
}

/* Bytes that were changed on purpose, with a checksum that fits: counts, places, numbers. */
static void signed_edits_do_no_harm(void **context) {
    (void)context;
    static const unsigned char values[] = {0x00, 0x01, 0x7f, 0x80, 0xff};
    for (int m = 0; m < 2; m++) {
        size_t size;
        char *bytes = make_file(m ? EX_LEARN_MOTION : EX_LEARN_KEYS, &size), *copy = malloc(size);
        int refused = 0;
        for (size_t i = 16; i + 16 < size; i += i < 1200 ? 1 : size / 400 + 1) {
            ex_error error = {.result = EX_OK};
            ex_rig *rig = NULL;
            memcpy(copy, bytes, size);
            copy[i] = (char)values[i % sizeof values];
            copy[i + 1 < size - 16 ? i + 1 : i] ^= (char)(i % 3 ? 0 : 0x40);
            sign(copy, size);
            scratch_write("x.gathered", copy, size);
            const char *path = scratch_path("x.gathered");
            const ex_learn_def def = {.gathered_count = 1,
                                      .gathered = &path,
                                      .method = m ? EX_LEARN_MOTION : EX_LEARN_KEYS,
                                      .key_count = 2,
                                      .form_count = 3,
                                      .landmark_count = 8,
                                      .options = {.frames = 1,
                                                  .fit = 0.75,
                                                  .look = 1.2,
                                                  .influences = 4,
                                                  .residual = EX_RESIDUAL_NONE,
                                                  .thickness = 0.002}};
            refused += ex_drive_learn(&def, &rig, NULL, &error) != EX_OK;
            ex_rig_destroy(rig);
        }
        assert_true(refused > 100);
        free(bytes);
        free(copy);
    }
}

static void other_files_are_no_gathered_files(void **context) {
    (void)context;
    ex_error error = {.result = EX_OK};
    ex_gathered *opened = NULL;
    assert_int_equal(open_bytes("", 0, &error), EX_ERROR_FORMAT);
    assert_int_equal(open_bytes("o cube\nv 0 0 0\nv 1 0 0\n", 23, &error), EX_ERROR_FORMAT);
    assert_sentence(&error, EX_ERROR_FORMAT, "exemplar drive gather");
    assert_int_equal(ex_gathered_open(scratch_path("none.gathered"), &opened, &error), EX_ERROR_FILE);
    assert_null(opened);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_of_every_length_are_refused), cmocka_unit_test(every_byte_counts),
        cmocka_unit_test(another_version_is_named),          cmocka_unit_test(signed_edits_do_no_harm),
        cmocka_unit_test(other_files_are_no_gathered_files),
    };
    return cmocka_run_group_tests(tests, scratch_set_up, scratch_tear_down);
}

/*
 * Files of predictors: they come back to the byte; cut short, changed, of another version or of another kind they are
 * refused with a sentence; and no memory is lost if there is none.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/base/checksum.h"
#include "runtime/weigh/predictor.h"
#include "support/check.h"
#include "support/scratch.h"
#include "support/tubes.h"

#include <exemplar/author.h>

#include <stdlib.h>
#include <string.h>

static char *bytes;
static size_t size;
static ex_predictor *predictor;

static int set_up(void **state) {
    (void)state;
    driven_tube *d = driven_tube_make(TUBE_FRAMES, EX_RESIDUAL_NONE, true);
    predictor = driven_tube_follow(d);
    free(d);
    assert_int_equal(ex_predictor_write(scratch_path("p.predictor"), predictor, NULL), EX_OK);
    assert_int_equal(ex_file_read(scratch_path("p.predictor"), &bytes, &size, NULL), EX_OK);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    ex_predictor_destroy(predictor);
    free(bytes);
    return 0;
}

static ex_result parse(const char *from, size_t count, ex_error *error) {
    char *copy = malloc(count + (count == 0)); /* so that a read past the end is seen */
    ex_predictor *made = NULL;
    memcpy(copy, from, count);
    *error = (ex_error){0};
    const ex_result result = ex_predictor_parse(copy, count, "p.predictor", &made, error);
    assert_true((result == EX_OK) == (made != NULL));
    if (result != EX_OK)
        assert_sentence(error, result, "p.predictor: this ");
    ex_predictor_destroy(made);
    free(copy);
    return result;
}

static void it_comes_back(void **state) {
    (void)state;
    ex_predictor *made = NULL;
    assert_int_equal(size, 24 + predictor->size);
    assert_int_equal(ex_predictor_read(scratch_path("p.predictor"), &made, NULL), EX_OK);
    assert_memory_equal(made, predictor, (size_t)predictor->size);
    ex_predictor_destroy(made);
    ex_error error = {0};
    assert_int_equal(ex_predictor_read(scratch_path("none.predictor"), &made, &error), EX_ERROR_FILE);
    assert_null(made);
}

static void every_truncation_is_told(void **state) {
    (void)state;
    ex_error error;
    for (size_t i = 0; i < size; i++)
        assert_int_not_equal(parse(bytes, i, &error), EX_OK);
    assert_int_equal(parse(bytes, size, &error), EX_OK);
}

static void every_changed_byte_is_told(void **state) {
    (void)state;
    ex_error error;
    for (size_t i = 0; i < size; i++)
        for (int bit = 0; bit < 8; bit++) {
            bytes[i] = (char)(bytes[i] ^ 1 << bit);
            assert_int_not_equal(parse(bytes, size, &error), EX_OK);
            bytes[i] = (char)(bytes[i] ^ 1 << bit);
        }
    const uint32_t version = 2;
    memcpy(bytes + 8, &version, sizeof version);
    assert_int_equal(parse(bytes, size, &error), EX_ERROR_FORMAT);
    assert_non_null(strstr(error.text, "version 2"));
}

/* Counts and sizes with right checksums. */
static void lies_are_told(void **state) {
    (void)state;
    static const uint32_t values[] = {0, 1, 4, 17, 1 << 20, UINT32_MAX};
    ex_error error;
    for (size_t at = 24; at < 24 + 32; at += 4)
        for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
            uint32_t before;
            memcpy(&before, bytes + at, 4);
            memcpy(bytes + at, &values[i], 4);
            const uint64_t checksum = exi_checksum(bytes + 24, size - 24);
            memcpy(bytes + 16, &checksum, sizeof checksum);
            const bool same = before == values[i] || at == 24 + 24; /* the sizes count: 0 or 1 */
            if (!same)
                assert_int_equal(parse(bytes, size, &error), EX_ERROR_DATA);
            memcpy(bytes + at, &before, 4);
        }
}

static void other_files_are_told_apart(void **state) {
    (void)state;
    ex_error error;
    assert_int_equal(parse("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", 32, &error), EX_ERROR_FORMAT);
    assert_non_null(strstr(error.text, "exemplar unpack"));
    assert_int_equal(parse("", 0, &error), EX_ERROR_FORMAT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(it_comes_back, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_truncation_is_told, set_up, tear_down),
        cmocka_unit_test_setup_teardown(every_changed_byte_is_told, set_up, tear_down),
        cmocka_unit_test_setup_teardown(lies_are_told, set_up, tear_down),
        cmocka_unit_test_setup_teardown(other_files_are_told_apart, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, scratch_set_up, scratch_tear_down);
}

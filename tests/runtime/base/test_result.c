/*
 * Results and sentences: every result has a text, a sentence that is too long keeps its beginning and its end, and
 * callers can add the place.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/base/result.h"
#include "support/check.h"

#include <string.h>

static void every_result_has_its_text(void **state) {
    (void)state;
    for (int i = 0; i < EX_RESULT_COUNT; i++) {
        const char *text = ex_result_text((ex_result)i);
        assert_true(strlen(text) >= 4);
        assert_string_not_equal(text, "unknown result");
        for (int j = 0; j < i; j++)
            assert_string_not_equal(text, ex_result_text((ex_result)j));
    }
    assert_string_equal(ex_result_text(EX_OK), "done");
    assert_string_equal(ex_result_text(EX_ERROR_MEMORY), "not enough memory");
    assert_string_equal(ex_result_text(EX_ERROR_FILE), "a file cannot be read or written");
    assert_string_equal(ex_result_text(EX_RESULT_COUNT), "unknown result");
    assert_string_equal(ex_result_text((ex_result)-1), "unknown result");
    assert_string_equal(ex_result_text((ex_result)1000000), "unknown result");
}

static void an_error_carries_result_and_sentence(void **state) {
    (void)state;
    ex_error error;
    assert_int_equal(ex_error_set(&error, EX_ERROR_DATA, "vertex %d of '%s'", 7, "x"), EX_ERROR_DATA);
    assert_int_equal(error.result, EX_ERROR_DATA);
    assert_string_equal(error.text, "vertex 7 of 'x'");
    assert_int_equal(ex_error_set(NULL, EX_ERROR_LIMIT, "nobody asked"), EX_ERROR_LIMIT);
    assert_int_equal(ex_error_memory(&error, "a rig", 2500000), EX_ERROR_MEMORY);
    assert_sentence(&error, EX_ERROR_MEMORY, "a rig (2.5 MB)");
}

/* Characters of 1 to 4 bytes, shifted so that the cuts fall on each of their bytes: the middle is left out, and no
 * character is cut. */
static void long_sentences_lose_their_middle(void **state) {
    (void)state;
    static const char *const characters[] = {"a", "\xC3\xA4", "\xE2\x82\xAC", "\xF0\x9F\x98\x80"};
    for (size_t c = 0; c < 4; c++)
        for (size_t shift = 0; shift < 4; shift++) {
            char text[1000] = "";
            memset(text, '.', shift);
            const size_t width = strlen(characters[c]);
            while (strlen(text) < 900)
                strcat(text, characters[c]);
            strcat(text, "the end");
            ex_error error;
            memset(error.text, 0x7F, sizeof error.text);
            ex_error_set(&error, EX_ERROR_FILE, "%s", text);
            const char *gap = strstr(error.text, " ... ");
            assert_non_null(gap);
            const size_t head = (size_t)(gap - error.text), tail = strlen(gap + 5);
            assert_true(head + 5 + tail < EX_ERROR_SIZE && head + 5 + tail + 2 * width >= EX_ERROR_SIZE - 1);
            assert_memory_equal(error.text, text, head);
            assert_int_equal((head - shift) % width, 0);
            assert_memory_equal(gap + 5, text + strlen(text) - tail, tail);
            assert_int_equal((tail - strlen("the end")) % width, 0);
        }
}

static void short_sentences_are_left_alone(void **state) {
    (void)state;
    ex_error error;
    ex_error_set(&error, EX_ERROR_DATA, "gr\xC3\xBC\xC3\x9F");
    assert_string_equal(error.text, "gr\xC3\xBC\xC3\x9F");
    ex_error_set(&error, EX_ERROR_DATA, "%s", "");
    assert_string_equal(error.text, "");
}

static void callers_say_where(void **state) {
    (void)state;
    ex_error error;
    ex_error_set(&error, EX_ERROR_DATA, "vertex %d", 3);
    assert_int_equal(ex_error_within(&error, EX_ERROR_DATA, "layer '%s'", "arm"), EX_ERROR_DATA);
    assert_string_equal(error.text, "layer 'arm': vertex 3");
    assert_int_equal(error.result, EX_ERROR_DATA);
    assert_int_equal(ex_error_within(&error, EX_OK, "layer"), EX_OK);
    assert_string_equal(error.text, "layer 'arm': vertex 3");
    assert_int_equal(ex_error_within(NULL, EX_ERROR_FILE, "layer"), EX_ERROR_FILE);
}

static void a_long_where_leaves_readable_text(void **state) {
    (void)state;
    char where[800] = "x";
    while (strlen(where) < 700)
        strcat(where, "\xC3\xA4");
    ex_error error;
    ex_error_set(&error, EX_ERROR_DATA, "vertex 3");
    ex_error_within(&error, EX_ERROR_DATA, "%s", where);
    assert_sentence(&error, EX_ERROR_DATA, "x\xC3\xA4");
    assert_sentence(&error, EX_ERROR_DATA, ": vertex 3");
    assert_true(strlen(error.text) > EX_ERROR_SIZE - 8);
    ex_error_within(&error, EX_ERROR_DATA, "%.20s", "short");
    assert_sentence(&error, EX_ERROR_DATA, "short: x");
}

static const char *told_function, *told_what;

static void listen(const char *function, const char *what) {
    told_function = function;
    told_what = what;
}

static void misuse_is_told(void **state) {
    (void)state;
    ex_set_misuse_hook(listen);
    assert_false(exi_misuse("f", "no rig"));
    assert_string_equal(told_function, "f");
    assert_string_equal(told_what, "no rig");
    told_what = NULL;
#ifdef NDEBUG /* without it the default aborts */
    ex_set_misuse_hook(NULL);
    assert_false(exi_misuse("f", "no rig"));
    assert_null(told_what);
#endif
}

static void the_version_is_the_headers(void **state) {
    (void)state;
    ex_version_info version = ex_version();
    assert_int_equal(version.major, EX_VERSION_MAJOR);
    assert_int_equal(version.minor, EX_VERSION_MINOR);
    assert_int_equal(version.patch, EX_VERSION_PATCH);
    assert_int_equal(version.abi, EX_ABI);
    assert_int_equal(version.format, EX_FORMAT);
    assert_string_equal(version.text, EX_VERSION_TEXT);
    static const char *const simd[] = {"neon", "sse2", "avx2", "avx512", "wasm", "scalar"};
    int known = 0;
    for (int i = 0; i < 6; i++)
        known += strcmp(version.simd, simd[i]) == 0;
    assert_int_equal(known, 1);
#ifdef EX_SIMD_SCALAR
    assert_string_equal(version.simd, "scalar");
#endif
}

/* A set is used once it was asked for, and nothing changes when it is not to be had. */
static void a_set_is_chosen_by_name(void **state) {
    (void)state;
    static const char *const simd[] = {"neon", "sse2", "avx2", "avx512", "wasm", "scalar"};
    const char *asked = ex_simd_name(); /* by EX_SIMD, or the widest */
    assert_true(ex_simd_use(NULL));
    const char *widest = ex_simd_name();
    int to_be_had = 0;
    for (int i = 0; i < 6; i++) {
        const char *before = ex_simd_name();
        if (ex_simd_use(simd[i])) {
            assert_string_equal(ex_simd_name(), simd[i]);
            assert_string_equal(ex_version().simd, simd[i]);
            to_be_had++;
        } else {
            assert_string_equal(ex_simd_name(), before);
        }
    }
    assert_true(to_be_had >= 1);
    assert_false(ex_simd_use("sse9"));
    assert_false(ex_simd_use(""));
    assert_true(ex_simd_use(NULL));
    assert_string_equal(ex_simd_name(), widest);
    assert_true(ex_simd_use(asked));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_set_is_chosen_by_name),
        cmocka_unit_test(every_result_has_its_text),
        cmocka_unit_test(an_error_carries_result_and_sentence),
        cmocka_unit_test(long_sentences_lose_their_middle),
        cmocka_unit_test(short_sentences_are_left_alone),
        cmocka_unit_test(callers_say_where),
        cmocka_unit_test(a_long_where_leaves_readable_text),
        cmocka_unit_test(misuse_is_told),
        cmocka_unit_test(the_version_is_the_headers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

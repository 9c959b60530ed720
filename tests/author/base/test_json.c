/* Writing JSON: each kind of value by hand, line breaks, and text that jansson reads back as the same tree. Reading:
 * lack of memory is told from errors of syntax. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "author/base/json.h"
#include "support/fail_alloc.h"

/* Reads, writes, and compares. */
static void check_text(const char *json, bool pretty, const char *expected) {
    json_t *value = json_loads(json, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    assert_non_null(value);
    exi_text text = {0};
    exi_json_print(value, pretty, &text);
    assert_false(text.failed);
    assert_string_equal(text.bytes, expected);
    assert_int_equal(strlen(text.bytes), text.size);
    json_t *again = json_loads(text.bytes, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
    assert_true(json_equal(value, again));
    json_decref(value);
    json_decref(again);
    free(text.bytes);
}

static void writes_values(void **state) {
    (void)state;
    const struct {
        const char *given, *written;
    } cases[] = {
        {"true", "true"},
        {"false", "false"},
        {"null", "null"},
        {"0", "0"},
        {"-7", "-7"},
        {"9223372036854775807", "9223372036854775807"},
        {"-9223372036854775808", "-9223372036854775808"},
        {"0.1", "0.1"},
        {"3.0", "3.0"},
        {"-0.0", "-0.0"},
        {"0.30000000000000004", "0.30000000000000004"},
        {"1e22", "1e22"},
        {"1E-10", "1e-10"},
        {"5e-324", "5e-324"},
        {"1.7976931348623157e308", "1.7976931348623157e308"},
        {"123456.5", "123456.5"},
        {"\"\"", "\"\""},
        {"\"a\\\"b\\\\c\\/d\"", "\"a\\\"b\\\\c/d\""},
        {"\"\\n\\t\\r\\b\\u0001\\u007f\\u0000z\"", "\"\\n\\t\\u000d\\u0008\\u0001\\u007f\\u0000z\""},
        {"\"\\u00e9\\ud83d\\ude00\"", "\"é😀\""},
        {"[]", "[]"},
        {"{}", "{}"},
        {"[1, 2.5, [\"x\"], {}]", "[1,2.5,[\"x\"],{}]"},
        {"{\"b\": 1, \"a\": [true, null]}", "{\"b\":1,\"a\":[true,null]}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_text(cases[i].given, false, cases[i].written);
}

static void writes_short_things_on_one_line(void **state) {
    (void)state;
    check_text("{\"b\":1,\"a\":[true,null,{}]}", true, "{\"b\": 1, \"a\": [true, null, {}]}\n");
    check_text("7", true, "7\n");
}

/* The library's output for [["LLL…"]] with that many letters, in a buffer that the next call reuses. */
static const char *print_letters(int count, bool nested) {
    static char printed[400];
    char json[300], letters[200];
    memset(letters, 'L', sizeof letters);
    snprintf(json, sizeof json, nested ? "{\"k\": [\"%.*s\"], \"m\": 0}" : "[\"%.*s\"]", count, letters);
    json_t *value = json_loads(json, 0, NULL);
    exi_text text = {0};
    exi_json_print(value, true, &text);
    assert_true(text.size < sizeof printed);
    memcpy(printed, text.bytes, text.size + 1);
    free(text.bytes);
    json_decref(value);
    return printed;
}

/* Brackets and quotes take four columns: with 96 letters it is a hundred, and fits. */
static void breaks_lines_at_a_hundred(void **state) {
    (void)state;
    assert_int_equal(strncmp(print_letters(96, false), "[\"LLL", 5), 0);
    assert_int_equal(strcmp(print_letters(96, false) + 96, "LL\"]\n"), 0);
    assert_int_equal(strncmp(print_letters(97, false), "[\n  \"LLL", 8), 0);
    assert_int_equal(strcmp(print_letters(97, false) + 101, "L\"\n]\n"), 0);
    /* Two deep, two columns less; keys in their order, one a line. */
    assert_int_equal(strncmp(print_letters(94, true), "{\n  \"k\": [\"LLL", 14), 0);
    assert_non_null(strstr(print_letters(94, true), "LLL\"],\n  \"m\": 0\n}\n"));
    assert_int_equal(strncmp(print_letters(95, true), "{\n  \"k\": [\n    \"LLL", 18), 0);
    assert_non_null(strstr(print_letters(95, true), "LLL\"\n  ],\n  \"m\": 0\n}\n"));
}

static void adds_text(void **state) {
    (void)state;
    exi_text text = {0};
    char expected[1001];
    for (int i = 0; i < 1000; i++) {
        expected[i] = (char)('a' + i % 26);
        exi_text_add(&text, &expected[i], 1);
    }
    expected[1000] = 0;
    assert_int_equal(text.size, 1000);
    assert_string_equal(text.bytes, expected);
    exi_text_add(&text, "", 0);
    assert_int_equal(text.size, 1000);
    free(text.bytes);
}

static ex_result print_once(void *context) {
    exi_text text = {0};
    exi_json_print(context, true, &text);
    ex_result result = text.failed ? EX_ERROR_MEMORY : EX_OK;
    if (result == EX_OK)
        assert_string_equal(text.bytes, "[\"a\", {\"b\": [0.5, 1, null]}]\n");
    free(text.bytes);
    return result;
}

static void without_memory_it_says_so(void **state) {
    (void)state;
    json_t *value = json_loads("[\"a\", {\"b\": [0.5, 1, null]}]", 0, NULL);
    assert_true(fail_alloc_sweep(print_once, value) > 3);
    json_decref(value);
}

static ex_result parse_once(void *context) {
    json_t *value = NULL;
    json_error_t problem;
    const ex_result result = exi_json_load(context, strlen(context), &value, &problem);
    assert_true((result == EX_OK) == (value != NULL));
    json_decref(value);
    return result;
}

/* jansson says "string or '}' expected" or "invalid token" at most of these allocations. */
static void lack_of_memory_is_no_error_of_syntax(void **state) {
    (void)state;
    char text[] = "{\"name\": [\"some text\", {\"at\": 1.25, \"b\": [true, null, -3]}], \"more\": \"\\u00e9\"}";
    assert_true(fail_alloc_sweep(parse_once, text) > 20);
    /* Errors of syntax remain, also after lack of memory. */
    char wrong[] = "{\"name\": [1, 2}", twice[] = "{\"a\": 1, \"a\": 2}", empty[] = "";
    assert_int_equal(parse_once(wrong), EX_ERROR_FORMAT);
    assert_int_equal(parse_once(twice), EX_ERROR_FORMAT);
    assert_int_equal(parse_once(empty), EX_ERROR_FORMAT);
    json_t *value = NULL;
    assert_int_equal(exi_json_load(wrong, strlen(wrong), &value, NULL), EX_ERROR_FORMAT);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_values),
        cmocka_unit_test(writes_short_things_on_one_line),
        cmocka_unit_test(breaks_lines_at_a_hundred),
        cmocka_unit_test(adds_text),
        cmocka_unit_test(without_memory_it_says_so),
        cmocka_unit_test(lack_of_memory_is_no_error_of_syntax),
    };
    return cmocka_run_group_tests_name("author.formats.json", tests, NULL, NULL);
}

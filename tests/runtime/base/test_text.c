/*
 * Names: UTF-8 in its shortest forms, without control characters, of at most 255 bytes. And the checksum of stored
 * data: it detects every change of a single byte.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/base/checksum.h"
#include "runtime/base/text.h"

static void tells_text_from_other_bytes(void **state) {
    (void)state;
    static const struct {
        const char *bytes;
        bool is_text;
    } cases[] = {
        {"a", true},
        {" ~", true},
        {"\xC2\x80", true},         /* U+0080, the first of two bytes */
        {"\xDF\xBF", true},         /* U+07FF */
        {"\xE0\xA0\x80", true},     /* U+0800 */
        {"\xED\x9F\xBF", true},     /* U+D7FF, before the surrogates */
        {"\xEE\x80\x80", true},     /* U+E000, after them */
        {"\xEF\xBF\xBF", true},     /* U+FFFF */
        {"\xF0\x90\x80\x80", true}, /* U+10000 */
        {"\xF4\x8F\xBF\xBF", true}, /* U+10FFFF, the last */
        {"\x1F", false},            /* control characters */
        {"a\nb", false},
        {"\t", false},
        {"\x7F", false},
        {"\x80", false}, /* a continuation alone */
        {"a\xBF", false},
        {"\xC0\x80", false}, /* longer than necessary */
        {"\xC1\xBF", false},
        {"\xE0\x9F\xBF", false},
        {"\xF0\x8F\xBF\xBF", false},
        {"\xED\xA0\x80", false}, /* a surrogate */
        {"\xED\xBF\xBF", false},
        {"\xF4\x90\x80\x80", false}, /* above the last */
        {"\xF5\x80\x80\x80", false},
        {"\xFE", false},
        {"\xFF", false},
        {"\xC3", false}, /* cut off */
        {"\xE2\x82", false},
        {"\xE2", false},
        {"\xF0\x9F\x98", false},
        {"\xC3(", false}, /* interrupted */
        {"\xE2\x82(", false},
        {"\xE2(\xAC", false},
        {"\xF0\x9F(\x80", false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (exi_is_text(cases[i].bytes) != cases[i].is_text || exi_is_name(cases[i].bytes) != cases[i].is_text)
            fail_msg("case %zu", i);
    assert_true(exi_is_text(""));
    assert_false(exi_is_name(""));
}

static void names_have_a_limit(void **state) {
    (void)state;
    char name[300];
    memset(name, 'a', sizeof name);
    name[EXI_NAME_MAX + 1] = 0;
    assert_true(exi_is_text(name));
    assert_false(exi_is_name(name));
    name[EXI_NAME_MAX] = 0;
    assert_true(exi_is_name(name));
}

/* Every byte to every other value, at sizes that end within a group of eight and with one. */
static void a_changed_byte_changes_the_checksum(void **state) {
    (void)state;
    unsigned char bytes[80];
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)(i * i * 7);
    for (size_t size = 1; size <= sizeof bytes; size += size < 24 ? 1 : 7) {
        uint64_t whole = exi_checksum(bytes, size);
        for (size_t i = 0; i < size; i++)
            for (unsigned mask = 1; mask < 256; mask++) {
                bytes[i] ^= (unsigned char)mask;
                if (exi_checksum(bytes, size) == whole)
                    fail_msg("byte %zu of %zu, mask %u", i, size, mask);
                bytes[i] ^= (unsigned char)mask;
            }
        assert_true(exi_checksum(bytes, size) == whole);
    }
}

static void the_size_counts(void **state) {
    (void)state;
    unsigned char zeros[64] = {0};
    for (size_t size = 0; size < sizeof zeros; size++)
        for (size_t other = 0; other < size; other++)
            assert_true(exi_checksum(zeros, size) != exi_checksum(zeros, other));
}

static void the_order_counts(void **state) {
    (void)state;
    uint64_t words[4] = {1, 2, 3, 4}, swapped[4] = {1, 3, 2, 4};
    assert_true(exi_checksum(words, sizeof words) != exi_checksum(swapped, sizeof swapped));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tells_text_from_other_bytes),
        cmocka_unit_test(names_have_a_limit),
        cmocka_unit_test(a_changed_byte_changes_the_checksum),
        cmocka_unit_test(the_size_counts),
        cmocka_unit_test(the_order_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

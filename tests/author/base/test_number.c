/*
 * Numbers in text: read with correct rounding, written with the fewest digits, in any locale. The oracle for reading is
 * strtod, for writing a search through all lengths.
 */
#include <exemplar/author/base.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <float.h>
#include <limits.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/skip.h"

static uint64_t random_state = 88172645463325252u;

static uint64_t random_bits(void) {
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static double random_double(void) {
    for (;;) {
        uint64_t bits = random_bits();
        double value;
        memcpy(&value, &bits, sizeof value);
        if (isfinite(value))
            return value;
    }
}

/* Reads the entire text, or fails the test. */
static double read_double(const char *text) {
    const char *cursor = text;
    double value = 12345;
    if (!ex_parse_double(&cursor, text + strlen(text), &value))
        fail_msg("'%s' was not read", text);
    if (*cursor)
        fail_msg("'%s' was read up to '%s'", text, cursor);
    return value;
}

static bool same_bits(double a, double b) {
    return memcmp(&a, &b, sizeof a) == 0;
}

static void reads_what_strtod_reads(void **state) {
    (void)state;
    static const char *const texts[] = {"0",
                                        "-0",
                                        "+1",
                                        "1.",
                                        ".5",
                                        "-.25e1",
                                        "1e22",
                                        "1e23",
                                        "9007199254740993",
                                        "9007199254740993.0000000000000000000001",
                                        "0.1",
                                        "0.30000000000000004",
                                        "123456789012345678901234567890",
                                        "1.7976931348623157e308",
                                        "2.2250738585072011e-308",
                                        "4.9e-324",
                                        "2.4703282292062327e-324",
                                        "1e-400",
                                        "0e999999999999",
                                        "0.000000000000000000000000000000000000000000012345678901234567890123",
                                        "100000000000000000000000000000000000000000000e-44",
                                        "1E+5",
                                        "00000000000000000000000000000000012.5"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
        if (!same_bits(read_double(texts[i]), strtod(texts[i], NULL)))
            fail_msg("'%s' was read as %.17g", texts[i], read_double(texts[i]));
    char text[64];
    for (int i = 0; i < 40000; i++) {
        double value = random_double();
        snprintf(text, sizeof text, "%.*e", (int)(random_bits() % 20), value);
        if (isfinite(strtod(text, NULL)) && !same_bits(read_double(text), strtod(text, NULL)))
            fail_msg("'%s' was read as %.17g", text, read_double(text));
        /* The numbers of real files: a few digits around a point. */
        snprintf(text, sizeof text, "%.*f", (int)(random_bits() % 18), (double)(int64_t)random_bits() * 0x1p-60);
        assert_true(same_bits(read_double(text), strtod(text, NULL)));
    }
}

/* A number just above the middle of two doubles rounds up, however far after the point the excess is. */
static void reads_thousands_of_digits(void **state) {
    (void)state;
    static char text[4000];
    strcpy(text, "9007199254740993.");
    size_t start = strlen(text);
    memset(text + start, '0', 3000);
    text[start + 3000] = '\0';
    assert_true(read_double(text) == 9007199254740992.0);
    text[start + 2999] = '1';
    assert_true(read_double(text) == 9007199254740994.0);
    /* Long zeros on either side cancel against the exponent. */
    memset(text, '0', 3000);
    text[1] = '.';
    strcpy(text + 3000, "25e2999");
    assert_true(read_double(text) == 2.5);
    memset(text, '0', 3001);
    text[0] = '1';
    strcpy(text + 3001, "e-3000");
    assert_true(read_double(text) == 1.0);
}

static void refuses_what_is_no_number(void **state) {
    (void)state;
    static const char *const texts[] = {"",
                                        "-",
                                        "+",
                                        ".",
                                        "-.",
                                        "e5",
                                        "inf",
                                        "nan",
                                        "-inf",
                                        "abc",
                                        ".e1",
                                        "--1",
                                        "1e999",
                                        "-1e400",
                                        " 1",
                                        "1e309",
                                        "1e99999999999999999999",
                                        "17976931348623159e292"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        const char *cursor = texts[i];
        double value = 7;
        if (ex_parse_double(&cursor, cursor + strlen(cursor), &value))
            fail_msg("'%s' was read", texts[i]);
        assert_ptr_equal(cursor, texts[i]);
        assert_true(value == 7);
    }
}

static void stops_behind_the_number(void **state) {
    (void)state;
    static const struct {
        const char *text;
        double value;
        int size;
    } cases[] = {{"0x10", 0, 1}, {"1e", 1, 1},      {"1e+", 1, 1}, {"1.5/2", 1.5, 3},
                 {"1,5", 1, 1},  {"1.2.3", 1.2, 3}, {"5-3", 5, 1}, {"2e3e4", 2000, 3}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *cursor = cases[i].text;
        double value;
        assert_true(ex_parse_double(&cursor, cursor + strlen(cursor), &value));
        assert_true(value == cases[i].value);
        assert_int_equal(cursor - cases[i].text, cases[i].size);
    }
    /* Reading stops at the end, whatever follows it. */
    const char *text = "123.456", *cursor = text;
    double value;
    assert_true(ex_parse_double(&cursor, text + 2, &value));
    assert_true(value == 12);
    int integer;
    cursor = text;
    assert_true(ex_parse_int(&cursor, text + 2, &integer));
    assert_int_equal(integer, 12);
}

static void reads_integers(void **state) {
    (void)state;
    static const struct {
        const char *text;
        bool good;
        int value, size;
    } cases[] = {{"0", true, 0, 1},
                 {"-17/3", true, -17, 3},
                 {"+5", true, 5, 2},
                 {"007", true, 7, 3},
                 {"2147483647", true, INT_MAX, 10},
                 {"-2147483648", true, INT_MIN, 11},
                 {"2147483648", false, 0, 0},
                 {"-2147483649", false, 0, 0},
                 {"99999999999999999999999999", false, 0, 0},
                 {"", false, 0, 0},
                 {"-", false, 0, 0},
                 {"x", false, 0, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        const char *cursor = cases[i].text;
        int value = 0;
        assert_int_equal(ex_parse_int(&cursor, cursor + strlen(cursor), &value), cases[i].good);
        assert_int_equal(value, cases[i].value);
        assert_int_equal(cursor - cases[i].text, cases[i].size);
    }
}

static void writes_as_people_do(void **state) {
    (void)state;
    static const struct {
        double value;
        const char *text;
    } cases[] = {{0, "0"},
                 {-0.0, "-0"},
                 {1, "1"},
                 {-1.5, "-1.5"},
                 {0.1, "0.1"},
                 {0.1 + 0.2, "0.30000000000000004"},
                 {100000, "100000"},
                 {123456789, "123456789"},
                 {1e15, "1000000000000000"},
                 {1e16, "1e16"},
                 {1e20, "1e20"},
                 {12345678901234567000.0, "12345678901234567000"},
                 {0.001, "0.001"},
                 {0.00001, "0.00001"},
                 {0.000001, "1e-6"},
                 {0.00000125, "1.25e-6"},
                 {1.0 / 3, "0.3333333333333333"},
                 {5e-324, "5e-324"},
                 {DBL_MAX, "1.7976931348623157e308"},
                 {0x1p-44, "5.684341886080802e-14"},
                 {9007199254740993.0, "9007199254740992"}};
    char buffer[32];
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int size = ex_format_double(buffer, cases[i].value);
        assert_string_equal(buffer, cases[i].text);
        assert_int_equal(size, strlen(cases[i].text));
    }
    ex_format_float(buffer, 0.1f);
    assert_string_equal(buffer, "0.1");
    ex_format_float(buffer, 16777216.0f);
    assert_string_equal(buffer, "16777216");
    ex_format_float(buffer, FLT_TRUE_MIN);
    assert_string_equal(buffer, "1e-45");
    ex_format_float(buffer, -FLT_MAX);
    assert_string_equal(buffer, "-3.40282347e38");
}

static int significant_digits(const char *text) {
    int count = 0, zeros = 0;
    for (; *text && *text != 'e'; text++) {
        if (*text < '0' || *text > '9' || (count == 0 && *text == '0'))
            continue;
        zeros = *text == '0' ? zeros + 1 : 0;
        count++;
    }
    return count - zeros;
}

/* The nearest decimals of each length, and their neighbours, tried from short to long. */
static int fewest_digits(double value, bool single) {
    for (int digits = 1; digits < 17; digits++) {
        char text[40];
        snprintf(text, sizeof text, "%.*e", digits - 1, value);
        double nearest = strtod(text, NULL);
        double unit = pow(10, floor(log10(fabs(value))) - digits + 1);
        for (int step = -1; step <= 1; step++) {
            double read = nearest;
            if (step != 0) {
                snprintf(text, sizeof text, "%.*e", digits - 1, value + step * unit);
                read = strtod(text, NULL);
            }
            if (single ? (float)read == (float)value : read == value)
                return digits;
        }
    }
    return 17;
}

static void writes_the_fewest_digits_that_read_back(void **state) {
    (void)state;
    char buffer[32];
    for (int i = 0; i < 15000; i++) {
        double value = random_double();
        if (i % 3 == 1)
            value = ldexp(1, (int)(random_bits() % 2040) - 1020);
        if (i % 3 == 2)
            value = (double)(int64_t)(random_bits() % 2000000000) / 1e7;
        int size = ex_format_double(buffer, value);
        assert_in_range(size, 1, 31);
        assert_int_equal(size, strlen(buffer));
        assert_true(same_bits(read_double(buffer), value));
        if (value != 0 && significant_digits(buffer) > fewest_digits(value, false))
            fail_msg("%.17g was written as %s", value, buffer);
        float single = (float)ldexp((double)(random_bits() % (1 << 24)), (int)(random_bits() % 270) - 170);
        if (i % 5 == 0)
            single = (float)ldexp(1, (int)(random_bits() % 270) - 148);
        if (!isfinite(single))
            continue;
        size = ex_format_float(buffer, single);
        assert_int_equal(size, strlen(buffer));
        assert_true((float)read_double(buffer) == single);
        if (single != 0 && significant_digits(buffer) > fewest_digits((double)single, true))
            fail_msg("%.9g was written as %s", (double)single, buffer);
    }
}

static void ignores_the_locale(void **state) {
    (void)state;
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "ps_AF.UTF-8", "nl_NL.UTF-8"};
    bool found = false;
    for (size_t i = 0; i < sizeof names / sizeof names[0] && !found; i++)
        found = setlocale(LC_NUMERIC, names[i]) && localeconv()->decimal_point[0] != '.';
    if (!found)
        skip_case("no locale with a decimal comma");
    char buffer[32];
    ex_format_double(buffer, 0.1 + 0.2);
    double read = read_double("0.30000000000000004441"), quick = read_double("2.5");
    setlocale(LC_NUMERIC, "C");
    assert_string_equal(buffer, "0.30000000000000004");
    assert_true(same_bits(read, 0.1 + 0.2));
    assert_true(quick == 2.5);
}

/* Not specified, but does no damage. */
static void values_that_are_not_finite_damage_nothing(void **state) {
    (void)state;
    static const double values[] = {INFINITY, -INFINITY, NAN};
    static const char *const doubles[] = {"1.7976931348623157e308", "-1.7976931348623157e308", "0"};
    static const char *const floats[] = {"3.40282347e38", "-3.40282347e38", "0"};
    for (int i = 0; i < 3; i++) {
        char text[32];
        assert_int_equal(ex_format_double(text, values[i]), strlen(doubles[i]));
        assert_string_equal(text, doubles[i]);
        assert_int_equal(ex_format_float(text, (float)values[i]), strlen(floats[i]));
        assert_string_equal(text, floats[i]);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_what_strtod_reads),
        cmocka_unit_test(reads_thousands_of_digits),
        cmocka_unit_test(refuses_what_is_no_number),
        cmocka_unit_test(stops_behind_the_number),
        cmocka_unit_test(reads_integers),
        cmocka_unit_test(writes_as_people_do),
        cmocka_unit_test(writes_the_fewest_digits_that_read_back),
        cmocka_unit_test(ignores_the_locale),
        cmocka_unit_test(values_that_are_not_finite_damage_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

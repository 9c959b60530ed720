/*
 * The tool's messages: numbers for people, and progress that waits for its time, is silent if requested and leaves no
 * trace on a terminal. No test waits: a progress is made older by hand.
 */
#include "../../cli/base/report.c"

#include "../../cli/base/hints.c"
#include "../../cli/base/plain.c"

#include <setjmp.h>
#include <stdlib.h>

#include <cmocka.h>

static int noted; /* the signal */

int exi_interrupted(void) {
    return noted;
}

static void figures(void **state) {
    (void)state;
    char text[EXI_TEXT_SIZE];
    static const struct {
        double bytes;
        const char *text;
    } sizes[] = {{0, "0 bytes"},  {999, "999 bytes"}, {1000, "1.0 kB"},   {9940, "9.9 kB"},
                 {9960, "10 kB"}, {87096, "87 kB"},   {999600, "1.0 MB"}, {123456789, "123 MB"},
                 {3e9, "3.0 GB"}, {4.2e12, "4.2 TB"}, {5e15, "5000 TB"}};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
        assert_string_equal(exi_text_bytes(text, sizes[i].bytes), sizes[i].text);
    assert_string_equal(exi_text_seconds(text, 0.0041), "4.1 ms");
    assert_string_equal(exi_text_seconds(text, 0.123), "123 ms");
    assert_string_equal(exi_text_seconds(text, 0.9996), "1.0 s");
    assert_string_equal(exi_text_seconds(text, 75), "75.0 s");
    assert_string_equal(exi_text_count(text, 1, "layer"), "1 layer");
    assert_string_equal(exi_text_count(text, 0, "layer"), "0 layers");
    assert_string_equal(exi_text_count(text, 1, "vertex"), "1 vertex");
    assert_string_equal(exi_text_count(text, 642, "vertex"), "642 vertices");
    assert_string_equal(exi_text_count(text, 2, "axis"), "2 axes");
}

/* Runs one step of a progress that began that long ago, and returns the output on stderr. */
static void step(char *said, size_t size, bool quiet, bool terminal, double age, bool end) {
    FILE *file = tmpfile();
    assert_non_null(file);
    fflush(stderr);
    int kept = dup(STDERR_FILENO);
    dup2(fileno(file), STDERR_FILENO);
    ex_call call = {.quiet = quiet};
    exi_progress progress;
    exi_progress_start(&progress, &call);
    progress.terminal = terminal;
    progress.start -= age;
    progress.last -= age;
    assert_true(progress.hook.report(progress.hook.user, "solving", 0.5));
    if (end)
        exi_progress_end(&progress);
    fflush(stderr);
    dup2(kept, STDERR_FILENO);
    close(kept);
    rewind(file);
    said[fread(said, 1, size - 1, file)] = '\0';
    fclose(file);
}

static void progress_on_a_terminal(void **state) {
    (void)state;
    char said[512];
    step(said, sizeof said, false, true, 0.5, false);
    assert_string_equal(said, "");
    step(said, sizeof said, false, true, 2, false);
    assert_non_null(strstr(said, "solving"));
    assert_non_null(strstr(said, "[############............]  50%"));
    assert_null(strchr(said, '\n'));
    size_t drawn = strlen(said);
    bar_shown = 0;
    step(said, sizeof said, false, true, 2, true);
    /* Removing the bar covers all of it with blanks and goes back to the start of the line. */
    assert_true(strlen(said) - drawn >= drawn);
    assert_int_equal(said[strlen(said) - 1], '\r');
    assert_int_equal(strspn(said + drawn + 1, " "), strlen(said) - drawn - 2);
}

static void progress_elsewhere_is_a_line_now_and_then(void **state) {
    (void)state;
    char said[512];
    step(said, sizeof said, false, false, 2, true);
    assert_string_equal(said, "");
    step(said, sizeof said, false, false, 6, true);
    assert_string_equal(said, "exemplar: solving, 50% done\n");
}

static void progress_tells_the_time_left(void **state) {
    (void)state;
    char said[512];
    static const struct {
        double age;
        const char *left;
    } cases[] = {{12, "50% done, 12 s left\n"}, {600, "50% done, 10 min left\n"}, {7200, "50% done, 2 h left\n"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        step(said, sizeof said, false, false, cases[i].age, true);
        assert_non_null(strstr(said, cases[i].left));
    }
    step(said, sizeof said, false, true, 600, false);
    assert_non_null(strstr(said, "50%, 10 min left"));
    bar_shown = 0;
}

static void quiet_is_quiet(void **state) {
    (void)state;
    char said[512];
    step(said, sizeof said, true, true, 60, true);
    assert_string_equal(said, "");
    step(said, sizeof said, true, false, 60, true);
    assert_string_equal(said, "");
}

static void a_signal_asks_the_library_to_stop(void **state) {
    (void)state;
    const ex_call call = {.quiet = true};
    exi_progress progress;
    exi_progress_start(&progress, &call);
    noted = 130;
    assert_false(progress.hook.report(progress.hook.user, "solving", 0.5));
    noted = 0;
}

/* Prints to a file, and compares what it then has. */
static char said_last[512];
#define assert_prints(expected, ...)                                                                                   \
    do {                                                                                                               \
        FILE *file = tmpfile();                                                                                        \
        assert_non_null(file);                                                                                         \
        exi_print_to(file, __VA_ARGS__);                                                                               \
        rewind(file);                                                                                                  \
        said_last[fread(said_last, 1, sizeof said_last - 1, file)] = '\0';                                             \
        fclose(file);                                                                                                  \
        assert_string_equal(said_last, expected);                                                                      \
    } while (0)

static void text_stays_on_its_line(void **state) {
    (void)state;
    assert_prints("a\\nb\\tc\\r\\x1b[1m\\x7f \xc3\xa9", "%s", "a\nb\tc\r\x1b[1m\x7f \xc3\xa9");
    assert_prints("\\u{202e}x\\u{9b}\\u{feff}\\u{2028}", "%s", "\xe2\x80\xaex\xc2\x9b\xef\xbb\xbf\xe2\x80\xa8");
    assert_prints("\\xff\\xc3\\xed\\xa0\\x80\\xc0\\x80\\xf4\\x90\\x80\\x80 \xf0\x9f\x98\x80", "%s",
                  "\xff\xc3\xed\xa0\x80\xc0\x80\xf4\x90\x80\x80 \xf0\x9f\x98\x80");
    assert_prints("\ttab, 'a', '\\x07', 5 %\n", "\ttab, '%c', '%c', %d %%\n", 'a', '\a', 5);
    assert_int_equal(exi_plain_width("\xc3\xa9\x1b\xff"), 9);
    assert_true(exi_is_plain("\xc3\xa9 \xf0\x9f\x98\x80"));
    assert_false(exi_is_plain("a\xe2\x80\x8b"));
    assert_false(exi_is_plain("a\xc3"));
}

static void widths_count_characters(void **state) {
    (void)state;
    assert_prints("[\xc3\xa9   ][   \xc3\xa9]", "[%-4s][%4s]", "\xc3\xa9", "\xc3\xa9");
    assert_prints("[\\x07 ][abcdef]", "[%-*s][%*s]", 5, "\a", 3, "abcdef");
    assert_prints("[ab  ][\xc3\xa9]", "[%*.*s][%.3s]", -4, 2, "abc", "\xc3\xa9\xc3\xa9");
    assert_prints("[]", "[%.0s]", "abc");
}

/* Numbers are those of printf. */
static void numbers_are_as_ever(void **state) {
    (void)state;
    char expected[256];
#define FORMAT "%d|%5d|%-5d|%05d|%+d|%3.2f|%8.3f|%-8.1f|%g|%.4g|%ld|%zu|%lld|%x|%5.1f|%*d|%.*f|%e"
#define NUMBERS                                                                                                        \
    -7, 42, 42, 42, 42, 2.5, -2.5, 2.5, 0.1, 1e-9, -123456789L, (size_t)77, -5LL, 0xbeefu, 99.96, 6, 9, 3, 1.5, 12345.0
    snprintf(expected, sizeof expected, FORMAT, NUMBERS);
    assert_prints(expected, FORMAT, NUMBERS);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures),
        cmocka_unit_test(progress_on_a_terminal),
        cmocka_unit_test(progress_elsewhere_is_a_line_now_and_then),
        cmocka_unit_test(progress_tells_the_time_left),
        cmocka_unit_test(quiet_is_quiet),
        cmocka_unit_test(a_signal_asks_the_library_to_stop),
        cmocka_unit_test(text_stays_on_its_line),
        cmocka_unit_test(widths_count_characters),
        cmocka_unit_test(numbers_are_as_ever),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

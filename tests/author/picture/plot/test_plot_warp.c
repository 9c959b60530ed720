/* The picture of a warp's report: both formats, with any values, the same bytes every time; failing memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <exemplar/author/picture.h>

#include "support/check.h"
#include "support/fail_alloc.h"
#include "support/scratch.h"

enum { METHODS = 5 };

static ex_warp_report make_report(ex_warp_row rows[METHODS * EX_WARP_TIME_COUNT], double scale) {
    static const char *const names[METHODS] = {"linear", "poisson", "rigid", "polynomial", "guided"};
    for (int m = 0; m < METHODS; m++)
        for (int k = 0; k < EX_WARP_TIME_COUNT; k++) {
            const double t = 0.1 + 0.2 * k, value = scale * t * (1 - t) / (m + 1);
            rows[m * EX_WARP_TIME_COUNT + k] = (ex_warp_row){.method = names[m],
                                                             .t = t,
                                                             .stretch = {{value / 9, value / 3, value, 2 * value}, 77},
                                                             .crossing = 123 * m};
        }
    return (ex_warp_report){METHODS * EX_WARP_TIME_COUNT, rows, 4, 5, 2, 36};
}

static void draw(const ex_warp_report *report, const char *name) {
    ex_error error;
    if (ex_warp_report_draw(report, scratch_path(name), &error) != EX_OK)
        fail_msg("%s", error.text);
}

static void draws_both_formats(void **state) {
    (void)state;
    ex_warp_row rows[METHODS * EX_WARP_TIME_COUNT];
    const ex_warp_report report = make_report(rows, 1);
    size_t size, again_size;
    draw(&report, "a.svg");
    char *text = scratch_read("a.svg", &size);
    static const char *const words[] = {"guided", "poisson", "99.9th percentile", "flipped", "123", "77", "36 bytes"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strstr(text, words[i]))
            fail_msg("the picture does not say %s", words[i]);
    draw(&report, "b.svg");
    char *again = scratch_read("b.svg", &again_size);
    assert_int_equal(size, again_size);
    assert_memory_equal(text, again, size);
    free(text);
    free(again);
    draw(&report, "a.png");
    ex_image *image;
    assert_int_equal(ex_image_read(scratch_path("a.png"), &image, NULL), EX_OK);
    assert_true(image->width > 1000 && image->height > 600);
    ex_image_destroy(image);
}

/* Curves stay inside their frame with any values; a single method has a picture too. */
static void any_values(void **state) {
    (void)state;
    static const double scales[] = {0, 1e-12, 1e-3, 1, 1e9, INFINITY};
    ex_warp_row rows[METHODS * EX_WARP_TIME_COUNT];
    for (size_t i = 0; i < sizeof scales / sizeof *scales; i++) {
        ex_warp_report report = make_report(rows, scales[i]);
        draw(&report, "c.svg");
        size_t size;
        char *text = scratch_read("c.svg", &size);
        assert_null(strstr(text, "nan"));
        assert_null(strstr(text, "inf"));
        free(text);
        report.row_count = EX_WARP_TIME_COUNT;
        draw(&report, "d.svg");
    }
}

static ex_result draw_once(void *context) {
    return ex_warp_report_draw(context, scratch_path("e.svg"), NULL);
}

static void memory_runs_out(void **state) {
    (void)state;
    ex_warp_row rows[METHODS * EX_WARP_TIME_COUNT];
    ex_warp_report report = make_report(rows, 1);
    assert_true(fail_alloc_sweep(draw_once, &report) > 2);
}

static void ignore_misuse(const char *function, const char *what) {
    (void)function;
    (void)what;
}

static void errors_are_told(void **state) {
    (void)state;
    ex_warp_row rows[METHODS * EX_WARP_TIME_COUNT];
    ex_warp_report report = make_report(rows, 1);
    ex_error error;
    assert_int_equal(ex_warp_report_draw(&report, scratch_path("no/folder.svg"), &error), EX_ERROR_FILE);
    assert_sentence(&error, EX_ERROR_FILE, "folder.svg");
    ex_set_misuse_hook(ignore_misuse);
    assert_int_equal(ex_warp_report_draw(NULL, "x.svg", &error), EX_ERROR_ARGUMENT);
    assert_int_equal(ex_warp_report_draw(&report, NULL, &error), EX_ERROR_ARGUMENT);
    report.row_count = 0;
    assert_int_equal(ex_warp_report_draw(&report, "x.svg", &error), EX_ERROR_ARGUMENT);
    ex_set_misuse_hook(NULL);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(draws_both_formats),
        cmocka_unit_test(any_values),
        cmocka_unit_test(memory_runs_out),
        cmocka_unit_test(errors_are_told),
    };
    return cmocka_run_group_tests(tests, scratch_set_up, scratch_tear_down);
}

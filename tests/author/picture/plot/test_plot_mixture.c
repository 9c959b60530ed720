/* The picture of a mixture: both formats, what it says, the same bytes every time; failing memory and files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <exemplar/author/picture.h>

#include "support/bars.h"
#include "support/check.h"
#include "support/fail_alloc.h"
#include "support/scratch.h"

enum { NUMBERS = 300 };

/* Half of a bend by 150 degrees on straight lines. */
typedef struct half_bend {
    bent_bar bar;
    double form[NUMBERS];
    const double *examples[1];
    ex_trajectory line;
    float overlap;
    ex_trajectories_def def;
    ex_trajectories found;
    ex_mixture_report *report;
} half_bend;

static const double half[1] = {0.5};

static void half_bend_open(half_bend *b) {
    ex_error error;
    *b = (half_bend){.bar = bar_make(6, 4, 0, 0), .overlap = 1};
    assert_true(3 * b->bar.vertex_count <= NUMBERS);
    bar_bend(&b->bar, 4, 150, b->form);
    b->examples[0] = b->form;
    b->def = (ex_trajectories_def){.vertex_count = b->bar.vertex_count,
                                   .triangle_count = b->bar.triangle_count,
                                   .triangles = b->bar.triangles,
                                   .reference = b->bar.points,
                                   .example_count = 1,
                                   .examples = b->examples,
                                   .options = ex_trajectory_options_default()};
    b->found = (ex_trajectories){.example_count = 1, .trajectories = &b->line, .overlaps = &b->overlap};
    if (ex_mixture_report_create(&b->def, &b->found, &(ex_mixture_options){.given = half, .given_count = 1}, &b->report,
                                 &error) != EX_OK)
        fail_msg("%s", error.text);
}

static void half_bend_close(half_bend *b) {
    ex_mixture_report_destroy(b->report);
    bar_free(&b->bar);
}

static ex_result draw(const half_bend *b, const char *name, ex_error *error) {
    return ex_mixture_draw(&b->def, &b->found, &b->report->mixtures[0], "0.5 bent + 0.5 straight", scratch_path(name),
                           error);
}

/* Counts pixels of the left or the right half that are neither grey nor white. */
static int count_coloured(const ex_image *image, int side) {
    int count = 0;
    for (int y = 180; y < image->height - 130; y++) /* between the words and the legend */
        for (int x = side * image->width / 2; x < (side + 1) * image->width / 2; x++) {
            const unsigned char *p = image->pixels + 4 * ((size_t)y * (size_t)image->width + (size_t)x);
            count += p[1] > p[0] + 30;
        }
    return count;
}

static void draws_both_formats(void **state) {
    (void)state;
    half_bend b;
    half_bend_open(&b);
    size_t size, again_size;
    char wanted[32];
    ex_error error;
    for (int i = 0; i < 2; i++)
        if (draw(&b, i == 0 ? "a.svg" : "b.svg", &error) != EX_OK)
            fail_msg("%s", error.text);
    char *text = scratch_read("a.svg", &size), *again = scratch_read("b.svg", &again_size);
    assert_int_equal(size, again_size);
    assert_memory_equal(text, again, size);
    const ex_measured_mixture *m = &b.report->mixtures[0];
    snprintf(wanted, sizeof wanted, "99 %%: %.4f", m->rigid.percentiles[2]);
    const char *const words[] = {"0.5 bent + 0.5 straight", "on the paths", "as rigid as possible", wanted,
                                 "folded: 0"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strstr(text, words[i]))
            fail_msg("the picture does not say %s", words[i]);
    assert_null(strstr(text, ": nan")); /* letters of the pictures may be any */
    assert_null(strstr(text, "=\"nan"));
    free(text);
    free(again);
    assert_int_equal(draw(&b, "a.png", NULL), EX_OK);
    ex_image *image;
    assert_int_equal(ex_image_read(scratch_path("a.png"), &image, NULL), EX_OK);
    assert_true(image->width > 800 && image->height > 400);
    /* the form on the left is stretched, that on the right is not */
    assert_true(count_coloured(image, 0) > 2000);
    assert_true(count_coloured(image, 1) < 50);
    ex_image_destroy(image);
    half_bend_close(&b);
}

/* Each attempt draws two forms, so only some of the allocations fail. */
static void memory_runs_out(void **state) {
    (void)state;
    half_bend b;
    half_bend_open(&b);
    bool reached = true;
    int failures = 0;
    for (int n = 1; reached; n += n < 60 ? 1 : 100) {
        fail_alloc_arm(n);
        const ex_result result = draw(&b, "c.svg", NULL);
        reached = fail_alloc_reached();
        fail_alloc_arm(0);
        assert_int_equal(result, reached ? EX_ERROR_MEMORY : EX_OK);
        failures += reached;
    }
    assert_true(failures >= 60);
    half_bend_close(&b);
}

static void ignore_misuse(const char *function, const char *what) {
    (void)function;
    (void)what;
}

static void errors_are_told(void **state) {
    (void)state;
    half_bend b;
    half_bend_open(&b);
    ex_error error;
    assert_int_equal(draw(&b, "no/folder.svg", &error), EX_ERROR_FILE);
    assert_sentence(&error, EX_ERROR_FILE, "folder.svg");
    ex_set_misuse_hook(ignore_misuse);
    assert_int_equal(ex_mixture_draw(&b.def, &b.found, NULL, "x", "x.svg", &error), EX_ERROR_ARGUMENT);
    assert_int_equal(ex_mixture_draw(&b.def, &b.found, b.report->mixtures, NULL, "x.svg", &error), EX_ERROR_ARGUMENT);
    assert_int_equal(ex_mixture_draw(&b.def, &b.found, b.report->mixtures, "x", NULL, &error), EX_ERROR_ARGUMENT);
    ex_set_misuse_hook(NULL);
    half_bend_close(&b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(draws_both_formats),
        cmocka_unit_test(memory_runs_out),
        cmocka_unit_test(errors_are_told),
    };
    return cmocka_run_group_tests(tests, scratch_set_up, scratch_tear_down);
}

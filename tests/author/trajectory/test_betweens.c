/*
 * In-betweens of several forms: with one example those of two forms, at a corner the example itself, mixtures of bends
 * that are the mean bend, a stretch that rigid forms have less of than straight lines, wrong input refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <string.h>

#include <exemplar/author/trajectory.h>

#include "support/bars.h"
#include "support/fail_alloc.h"

enum { MOST = 600 /* numbers of a form */ };

static ex_betweens_def definition(const bent_bar *bar, const double *const *examples, int count) {
    return (ex_betweens_def){.vertex_count = bar->vertex_count,
                             .triangle_count = bar->triangle_count,
                             .triangles = bar->triangles,
                             .reference = bar->points,
                             .example_count = count,
                             .examples = examples};
}

static ex_betweens *must_create(const ex_betweens_def *def) {
    ex_betweens *made;
    ex_error error;
    if (ex_betweens_create(def, &made, &error) != EX_OK)
        fail_msg("%s", error.text);
    return made;
}

static double farthest(const double *a, const double *b, int vertex_count) {
    double most = 0;
    for (int i = 0; i < 3 * vertex_count; i++)
        most = fmax(most, fabs(a[i] - b[i]));
    return most;
}

static void one_example_is_an_in_between(void **state) {
    (void)state;
    bent_bar bar = bar_make(4, 4, 0, 0);
    double bent[MOST];
    bar_bend(&bar, 4, 140, bent);
    const double *examples[2] = {NULL, bent}, weights[2] = {0.7, 0.35};
    const ex_betweens_def def = definition(&bar, examples, 2);
    const ex_between_def pair = {.vertex_count = bar.vertex_count,
                                 .triangle_count = bar.triangle_count,
                                 .triangles = bar.triangles,
                                 .start = bar.points,
                                 .end = bent};
    ex_betweens *several = must_create(&def);
    ex_between *two;
    assert_int_equal(ex_between_create(&pair, &two, NULL), EX_OK);
    for (ex_between_method m = EX_BETWEEN_LINEAR; m < EX_BETWEEN_POLYNOMIAL; m++) {
        double expected[MOST], form[MOST];
        ex_stretch wanted, found;
        assert_int_equal(ex_between_form(two, m, weights[1], expected, NULL), EX_OK);
        assert_int_equal(ex_betweens_form(several, m, weights, form, NULL), EX_OK);
        assert_true(farthest(form, expected, bar.vertex_count) < 1e-12);
        assert_int_equal(ex_between_stretch(two, weights[1], expected, &wanted, NULL, NULL), EX_OK);
        assert_int_equal(ex_betweens_stretch(several, weights, form, &found, NULL, NULL), EX_OK);
        for (int i = 0; i < 4; i++)
            assert_true(fabs(wanted.percentiles[i] - found.percentiles[i]) < 1e-9);
    }
    ex_between_destroy(two);
    ex_betweens_destroy(several);
    bar_free(&bar);
}

/* Bends add up: a third of 30, 60 and 120 degrees is 70. */
static void bends_are_mixed(void **state) {
    (void)state;
    bent_bar bar = bar_make(8, 3, 0, 0);
    double mean[MOST], bent[3][MOST];
    const double degrees[3] = {30, 60, 120}, *examples[3] = {bent[0], bent[1], bent[2]};
    for (int k = 0; k < 3; k++)
        bar_bend(&bar, 3, degrees[k], bent[k]);
    bar_bend(&bar, 3, 70, mean);
    const double thirds[3] = {1.0 / 3, 1.0 / 3, 1.0 / 3}, second[3] = {0, 1, 0};
    const ex_betweens_def def = definition(&bar, examples, 3);
    ex_betweens *several = must_create(&def);
    double form[MOST], straight[MOST];
    ex_stretch rigid, linear;
    assert_int_equal(ex_betweens_form(several, EX_BETWEEN_LINEAR, second, form, NULL), EX_OK);
    assert_true(farthest(form, examples[1], bar.vertex_count) < 1e-12);
    assert_int_equal(ex_betweens_form(several, EX_BETWEEN_RIGID, thirds, form, NULL), EX_OK);
    assert_int_equal(ex_betweens_form(several, EX_BETWEEN_LINEAR, thirds, straight, NULL), EX_OK);
    assert_int_equal(ex_betweens_stretch(several, thirds, form, &rigid, NULL, NULL), EX_OK);
    assert_int_equal(ex_betweens_stretch(several, thirds, straight, &linear, NULL, NULL), EX_OK);
    assert_true(rigid.percentiles[2] < 0.2 * linear.percentiles[2]);
    /* the same bend as a bar of 70 degrees, up to where it lies: compare lengths across it */
    for (int a = 0; a < bar.vertex_count; a++) {
        const int b = bar.vertex_count - 1 - a;
        double found = 0, wanted = 0;
        for (int i = 0; i < 3; i++) {
            found += pow(form[3 * a + i] - form[3 * b + i], 2);
            wanted += pow(mean[3 * a + i] - mean[3 * b + i], 2);
        }
        assert_true(fabs(sqrt(found) - sqrt(wanted)) < 0.02 * sqrt(wanted) + 0.02);
    }
    ex_betweens_destroy(several);
    bar_free(&bar);
}

static void wrong_input_is_refused(void **state) {
    (void)state;
    bent_bar bar = bar_make(4, 3, 0, 0);
    double bad[MOST];
    const double *none[1] = {NULL}, *examples[2] = {bad, NULL};
    bar_bend(&bar, 3, 50, bad);
    const char *names[2] = {"the bent one", "rest"};
    ex_betweens *made;
    ex_error error;
    ex_betweens_def def = definition(&bar, none, 1);
    assert_int_equal(ex_betweens_create(&def, &made, &error), EX_ERROR_ARGUMENT);
    assert_null(made);
    def = definition(&bar, examples, 2);
    def.names = names;
    bad[4] = NAN;
    assert_int_equal(ex_betweens_create(&def, &made, &error), EX_ERROR_DATA);
    assert_non_null(strstr(error.text, "the bent one"));
    bar_free(&bar);
}

static ex_result measure_once(void *context) {
    const double weights[2] = {0.5, 0.25};
    double form[MOST];
    ex_stretch stretch;
    ex_betweens *made;
    ex_result result = ex_betweens_create(context, &made, NULL);
    if (result == EX_OK)
        result = ex_betweens_form(made, EX_BETWEEN_RIGID, weights, form, NULL);
    if (result == EX_OK)
        result = ex_betweens_stretch(made, weights, form, &stretch, NULL, NULL);
    ex_betweens_destroy(made);
    return result;
}

static void survives_failing_memory(void **state) {
    (void)state;
    bent_bar bar = bar_make(2, 2, 0, 0);
    double bent[MOST];
    const double *examples[2] = {bent, bent};
    bar_bend(&bar, 2, 60, bent);
    ex_betweens_def def = definition(&bar, examples, 2);
    assert_true(fail_alloc_sweep(measure_once, &def) > 30);
    bar_free(&bar);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_example_is_an_in_between),
        cmocka_unit_test(bends_are_mixed),
        cmocka_unit_test(wrong_input_is_refused),
        cmocka_unit_test(survives_failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

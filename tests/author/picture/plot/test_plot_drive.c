/* The picture of a driven rig's report: every key is named or counted, and all measurements are drawn. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/check.h"
#include "support/fail_alloc.h"
#include "support/scratch.h"

#include <exemplar/author.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES = 30, KEYS = 20 };

typedef struct made_up {
    ex_drive_report report;
    ex_drive_frame frames[FRAMES];
    double weights[FRAMES * KEYS];
    char texts[KEYS][24];
    const char *names[KEYS];
    char path[300];
} made_up;

static void make_up(made_up *m, int frames, int keys, bool truth) {
    memset(m, 0, sizeof *m);
    m->report = (ex_drive_report){.frame_count = frames,
                                  .key_count = keys,
                                  .frames = m->frames,
                                  .weights = m->weights,
                                  .mean = truth ? 0.01 : -1,
                                  .p95 = truth ? 0.03 : -1,
                                  .nearest_mean = truth ? 0.05 : -1,
                                  .nearest_p95 = truth ? 0.1 : -1,
                                  .blend_mean = truth ? 0.02 : -1,
                                  .blend_p95 = truth ? 0.05 : -1,
                                  .key_spread = 0.04,
                                  .far_count = 3};
    for (int f = 0; f < frames; f++) {
        m->frames[f] = (ex_drive_frame){.time = f / 25.0,
                                        .hull_distance = f > 10 && f < 14 ? 0.06 : 0.01,
                                        .mean = truth ? 0.01 + 0.004 * sin(f) : -1,
                                        .nearest_mean = truth ? 0.05 : -1,
                                        .blend_mean = truth ? 0.02 : -1};
        for (int k = 0; k < keys; k++)
            m->weights[f * keys + k] = 1.0 / keys;
    }
    for (int k = 0; k < keys; k++) {
        snprintf(m->texts[k], sizeof m->texts[k], "frame_%03d", 7 * k);
        m->names[k] = m->texts[k];
    }
    snprintf(m->path, sizeof m->path, "%s", scratch_path("p.svg"));
}

static void draw(const made_up *m) {
    ex_error error = {.result = EX_OK};
    if (ex_drive_report_draw(&m->report, m->names, m->path, &error) != EX_OK)
        fail_msg("%s", error.text);
}

static bool shows(const char *word) {
    size_t size;
    char *text = scratch_read("p.svg", &size), *whole = realloc(text, size + 1);
    assert_non_null(whole);
    whole[size] = 0;
    const bool found = strstr(whole, word) != NULL;
    free(whole);
    return found;
}

static void test_what_is_shown(void **state) {
    (void)state;
    static made_up m;
    make_up(&m, FRAMES, 6, true);
    draw(&m);
    for (int k = 0; k < 6; k++)
        assert_true(shows(m.names[k]));
    assert_true(shows("nearest key") && shows("before settling") && shows("this rig"));
    assert_true(shows("mean error 10.0 mm") && shows("seconds"));
    assert_false(shows("keys apart"));
    make_up(&m, FRAMES, KEYS, false);
    draw(&m);
    assert_true(shows(m.names[14]) && shows("and 5 more") && !shows(m.names[15]));
    assert_true(shows("from the keys") && shows("keys apart") && !shows("this rig"));
    make_up(&m, 1, 1, true); /* a single frame is a dot */
    draw(&m);
    assert_true(shows("frame_000"));
}

static void test_refusals(void **state) {
    (void)state;
    static made_up m;
    ex_error error = {.result = EX_OK};
    make_up(&m, FRAMES, 3, true);
    assert_int_equal(ex_drive_report_draw(&m.report, m.names, "no/folder/p.svg", &error), EX_ERROR_FILE);
    assert_sentence(&error, EX_ERROR_FILE, "p.svg");
}

static ex_result attempt(void *context) {
    const made_up *m = context;
    ex_error error;
    return ex_drive_report_draw(&m->report, m->names, m->path, &error);
}

static void test_memory_runs_out(void **state) {
    (void)state;
    static made_up m;
    make_up(&m, 3, 2, true);
    assert_true(fail_alloc_sweep(attempt, &m) > 3);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_is_shown),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_memory_runs_out),
    };
    return cmocka_run_group_tests(tests, scratch_set_up, scratch_tear_down);
}

/*
 * Frames to simulate next: those that are farthest from what a rig knows, as its own report says; the first frame has a
 * past, as in applying; and everything that cannot be looked at is refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/check.h"
#include "support/fail_alloc.h"
#include "support/scratch.h"
#include "support/swings.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES = 60, NEW = 40 };

static ex_rig *learn_motion(void) {
    const int counts[SWING_TAKES] = {FRAMES, FRAMES, FRAMES, FRAMES};
    swing_lesson l;
    ex_error error = {.result = EX_OK};
    ex_rig *rig = NULL;
    swing_open(&l, SWING_TAKES, counts);
    if (ex_drive_learn(&l.def, &rig, NULL, &error) != EX_OK)
        fail_msg("%s", error.text);
    swing_close(&l);
    return rig;
}

/* A motion of the bar that was not learned, from a time on. */
static void write_new(const char *name, double from) {
    drive_pose poses[NEW];
    for (int f = 0; f < NEW; f++)
        poses[f] = swing_at(9, from + f / 25.0);
    drive_write(name, NULL, poses, NEW);
}

static double unfamiliar_of(const ex_rig *rig, const char *driver, int frame) {
    ex_error error = {.result = EX_OK};
    ex_drive_report *report = NULL;
    const ex_apply_def def = {.rig = rig, .driver = driver, .rate = 25, .database = NAN, .brief = true};
    if (ex_drive_apply(&def, &report, &error) != EX_OK)
        fail_msg("%s", error.text);
    double most = 0;
    for (int f = 0; f < report->frame_count; f++)
        if ((f == frame || frame < 0) && report->frames[f].unfamiliar > most)
            most = report->frames[f].unfamiliar;
    ex_drive_report_free(report);
    return most;
}

static ex_suggestions *suggest(const ex_suggest_def *def) {
    ex_error error = {.result = EX_OK};
    ex_suggestions *made = NULL;
    if (ex_drive_suggest(def, &made, &error) != EX_OK)
        fail_msg("%s", error.text);
    return made;
}

/* Distance of the farthest frame from what is known. */
static double farthest(const ex_suggestions *s) {
    return s->count > 0 ? s->frames[0].distance : s->left;
}

/* The farthest frame is the one that the report says, also if it is the first one: a motion goes on there. It is then
 * nearer to what it is in a longer take than a frame that stands still. */
static void first_frame(void **context) {
    (void)context;
    ex_rig *rig = learn_motion();
    char driver[300], longer[300];
    double off = 0, still_off = 0;
    snprintf(driver, sizeof driver, "%s", scratch_path("new.pc2"));
    snprintf(longer, sizeof longer, "%s", scratch_path("longer.pc2"));
    for (int i = 0; i < 12; i++) {
        write_new("new.pc2", 0.4 + 0.2 * i);
        write_new("longer.pc2", 0.2 * i);
        ex_suggest_def def = {.rig = rig, .driver = driver, .rate = 25, .most = 3};
        ex_suggestions *s = suggest(&def);
        const double most = unfamiliar_of(rig, driver, -1), right = unfamiliar_of(rig, longer, 10);
        assert_true(s->by_motion && s->enough == 1);
        assert_true(fabs(farthest(s) - most) < 1e-4 * most);
        if (s->count > 0)
            assert_true(fabs(unfamiliar_of(rig, driver, s->frames[0].frame) - most) < 1e-9);
        ex_suggestions_free(s);
        off += fabs(unfamiliar_of(rig, driver, 0) - right);
        def.count = 1; /* too short to tell how it moves: it stands still */
        s = suggest(&def);
        still_off += fabs(farthest(s) - right);
        ex_suggestions_free(s);
    }
    assert_true(off < 0.5 * still_off);
    ex_rig_destroy(rig);
}

/* Every frame that is named is the farthest from all that are known by then. */
static void farthest_first(void **context) {
    (void)context;
    ex_rig *rig = learn_motion();
    char driver[300];
    snprintf(driver, sizeof driver, "%s", scratch_path("new.pc2"));
    drive_write_motion("new.pc2", NULL, 5, NEW);
    const ex_suggest_def def = {.rig = rig, .driver = driver, .first = 4, .count = 30, .rate = 25, .most = 6};
    ex_suggestions *s = suggest(&def);
    assert_int_equal(s->count, 6);
    for (int i = 0; i < s->count; i++) {
        assert_in_range(s->frames[i].frame, 4, 33);
        assert_true(fabs(s->frames[i].time - s->frames[i].frame / 25.0) < 1e-9);
        assert_true(s->frames[i].distance > s->enough);
        assert_true(s->frames[i].distance >= (i + 1 < s->count ? s->frames[i + 1].distance : s->left));
    }
    ex_suggestions_free(s);
    ex_rig_destroy(rig);
}

/* ---- refusals, memory ---- */

static ex_result attempt(void *context) {
    ex_suggestions *made = NULL;
    ex_error error;
    const ex_result result = ex_drive_suggest(context, &made, &error);
    ex_suggestions_free(made);
    return result;
}

static void refusals(void **context) {
    (void)context;
    ex_rig *rig = learn_motion();
    char driver[300], other[300];
    ex_error error = {.result = EX_OK};
    ex_suggestions *made = NULL;
    drive_write_motion("b.pc2", "s.pc2", 0, 12);
    snprintf(driver, sizeof driver, "%s", scratch_path("b.pc2"));
    snprintf(other, sizeof other, "%s", scratch_path("s.pc2"));
    ex_suggest_def def = {.rig = rig, .driver = other, .most = 1};
    assert_int_equal(ex_drive_suggest(&def, &made, &error), EX_ERROR_DATA);
    assert_sentence(&error, EX_ERROR_DATA, "108"); /* vertices of the sleeve */
    def.driver = driver;
    def.first = 12;
    assert_int_equal(ex_drive_suggest(&def, &made, &error), EX_ERROR_ARGUMENT);
    assert_sentence(&error, EX_ERROR_ARGUMENT, "frame 13");
    def.first = 0;
    assert_true(fail_alloc_sweep(attempt, &def) > 10);
    ex_rig_destroy(rig);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_frame),
        cmocka_unit_test(farthest_first),
        cmocka_unit_test(refusals),
    };
    return cmocka_run_group_tests(tests, scratch_set_up, scratch_tear_down);
}

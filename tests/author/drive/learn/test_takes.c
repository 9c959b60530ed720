/*
 * Takes: ranges of frames, frame rates and units of the caches that a rig is learned from and applied to. Frames are
 * compared with caches that have only those frames, times with numbers worked out by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/check.h"
#include "support/drives.h"
#include "support/scratch.h"

#include "author/drive/learn/references.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { FRAMES = 24, NAME_SIZE = 300 };

/* Two takes, of 24 frames each: of the first, frames 5 to 16 are used, of the second those from 20 on. */
typedef struct takes {
    ex_learn_def def;
    ex_drive_reference references[2];
    char paths[4][NAME_SIZE];
} takes;

static void open_takes(takes *t) {
    static const char *const names[4] = {"b.pc2", "s.pc2", "c.pc2", "t.pc2"};
    memset(t, 0, sizeof *t);
    drive_write_motion(names[0], names[1], 0, FRAMES);
    drive_write_motion(names[2], names[3], 1, FRAMES);
    for (int i = 0; i < 4; i++)
        snprintf(t->paths[i], NAME_SIZE, "%s", scratch_path(names[i]));
    t->references[0] =
        (ex_drive_reference){.driver = t->paths[0], .driven = t->paths[1], .first = 4, .count = 12, .rate = 30};
    t->references[1] = (ex_drive_reference){.driver = t->paths[2], .driven = t->paths[3], .first = 19};
    t->def = (ex_learn_def){.driver = drive_driver_mesh(),
                            .driven = drive_driven_mesh(),
                            .driver_name = "body",
                            .reference_count = 2,
                            .references = t->references,
                            .key_count = 4,
                            .options = ex_drive_options_default()};
    t->def.options.frames = 1;
}

static void close_takes(takes *t) {
    ex_mesh_destroy((ex_mesh *)(uintptr_t)t->def.driver);
    ex_mesh_destroy((ex_mesh *)(uintptr_t)t->def.driven);
}

static void refuse(const takes *t, ex_result result, const char *word) {
    ex_error error = {.result = EX_OK};
    ex_rig *rig = NULL;
    assert_int_equal(ex_drive_learn(&t->def, &rig, NULL, &error), result);
    assert_sentence(&error, result, word);
    assert_null(rig);
}

/* The form of a frame of a motion, counting from 0. */
static void check_frame(const exi_references *refs, int frame, int seed, int in_motion) {
    ex_error error = {.result = EX_OK};
    float made[2][3 * DRIVE_DRIVEN_COUNT], right[2][3 * DRIVE_DRIVEN_COUNT];
    const drive_pose pose = drive_motion(seed, in_motion, FRAMES);
    drive_form(&pose, right[0], right[1]);
    assert_int_equal(exi_references_read(refs, frame, made[0], made[1], &error), EX_OK);
    assert_true(drive_apart(made[0], right[0], DRIVE_DRIVER_COUNT) < 1e-6);
    assert_true(drive_apart(made[1], right[1], DRIVE_DRIVEN_COUNT) < 1e-6);
}

static void test_frames_numbers_and_times(void **state) {
    (void)state;
    takes t;
    exi_references refs;
    ex_error error = {.result = EX_OK};
    open_takes(&t);
    assert_int_equal(exi_references_open(&refs, &t.def, &error), EX_OK);
    assert_int_equal(refs.frame_count, 12 + 5);
    assert_int_equal(refs.number_count, 2 * FRAMES);
    check_frame(&refs, 0, 0, 4);
    check_frame(&refs, 11, 0, 15);
    check_frame(&refs, 12, 1, 19);
    check_frame(&refs, 16, 1, 23);
    assert_ptr_equal(exi_references_of(&refs, 11), &refs.items[0]);
    assert_ptr_equal(exi_references_of(&refs, 12), &refs.items[1]);
    /* numbers count all frames of all caches */
    for (int f = 0; f < refs.frame_count; f++) {
        const int number = f < 12 ? 4 + f : FRAMES + 19 + f - 12;
        assert_int_equal(exi_references_number(&refs, f), number);
        assert_int_equal(exi_references_find(&refs, number), f);
    }
    assert_int_equal(exi_references_find(&refs, 3), -1);
    assert_int_equal(exi_references_find(&refs, 16), -1);
    assert_int_equal(exi_references_find(&refs, FRAMES + 18), -1);
    assert_int_equal(exi_references_find(&refs, 2 * FRAMES), -1);
    /* times start anew in each take: at 30 frames per second, and as the cache has them */
    const double step = ex_cache_get_info(refs.items[1].driver).step;
    assert_near(exi_references_time(&refs, 0), 0, 1e-12);
    assert_near(exi_references_time(&refs, 11), 11 / 30.0, 1e-12);
    assert_near(exi_references_time(&refs, 12), 0, 1e-12);
    assert_near(exi_references_time(&refs, 16), 4 * step, 1e-6);
    exi_references_close(&refs);
    close_takes(&t);
}

/* The rig is that of caches with only the used frames; names and numbers are those of all frames. */
static void test_a_range_is_learned_as_its_frames_alone(void **state) {
    (void)state;
    takes t;
    ex_error error = {.result = EX_OK};
    ex_rig *rigs[2] = {NULL, NULL};
    ex_learned *learned[2] = {NULL, NULL};
    drive_pose poses[12];
    char name[64];
    open_takes(&t);
    t.def.reference_count = 1;
    assert_int_equal(ex_drive_learn(&t.def, &rigs[0], &learned[0], &error), EX_OK);
    for (int f = 0; f < 12; f++)
        poses[f] = drive_motion(0, 4 + f, FRAMES);
    drive_write("c.pc2", "t.pc2", poses, 12);
    t.references[0] = (ex_drive_reference){.driver = t.paths[2], .driven = t.paths[3]};
    assert_int_equal(ex_drive_learn(&t.def, &rigs[1], &learned[1], &error), EX_OK);
    assert_int_equal(learned[0]->key_count, learned[1]->key_count);
    for (int k = 0; k < learned[0]->key_count; k++) {
        assert_int_equal(learned[0]->frames[k], 4 + learned[1]->frames[k]);
        snprintf(name, sizeof name, "frame_%03d", learned[0]->frames[k] + 1);
        assert_string_equal(ex_rig_example_name(rigs[0], 0, k), name);
    }
    assert_near(learned[0]->error, learned[1]->error, 1e-9);
    for (int i = 0; i < 2; i++) {
        ex_learned_free(learned[i]);
        ex_rig_destroy(rigs[i]);
    }
    close_takes(&t);
}

static void test_given_frames_are_numbers(void **state) {
    (void)state;
    takes t;
    ex_error error = {.result = EX_OK};
    ex_rig *rig = NULL;
    ex_learned *learned = NULL;
    int given[2] = {FRAMES + 21, 9};
    open_takes(&t);
    t.def.given = given;
    t.def.given_count = 2;
    t.def.key_count = 2;
    assert_int_equal(ex_drive_learn(&t.def, &rig, &learned, &error), EX_OK);
    assert_int_equal(learned->frames[0], FRAMES + 21);
    assert_int_equal(learned->frames[1], 9);
    ex_learned_free(learned);
    ex_rig_destroy(rig);
    given[1] = 3;
    refuse(&t, EX_ERROR_ARGUMENT, "frame 4 cannot become a key: the range of its caches leaves it out");
    given[1] = 2 * FRAMES;
    refuse(&t, EX_ERROR_ARGUMENT, "there is no frame 49: the references have frames 1 to 48");
    given[1] = FRAMES + 21;
    refuse(&t, EX_ERROR_DATA, "frame 46 is given twice");
    close_takes(&t);
}

static void test_wrong_ranges_and_rates(void **state) {
    (void)state;
    takes t;
    open_takes(&t);
    ex_drive_reference *r = &t.references[0];
    const ex_drive_reference right = *r;
    r->first = FRAMES;
    r->count = 0;
    refuse(&t, EX_ERROR_ARGUMENT, "b.pc2' has frames 1 to 24: there is no frame 25");
    *r = right;
    r->count = 21;
    refuse(&t, EX_ERROR_ARGUMENT, "b.pc2' has frames 1 to 24: there is no frame 25");
    r->count = INT32_MAX;
    refuse(&t, EX_ERROR_ARGUMENT, "there is no frame 2147483651");
    *r = right;
    r->first = -1;
    refuse(&t, EX_ERROR_ARGUMENT, "neither may be negative");
    *r = right;
    r->rate = -1;
    refuse(&t, EX_ERROR_ARGUMENT, "the rate of");
    r->rate = NAN;
    refuse(&t, EX_ERROR_ARGUMENT, "it must be above 0");
    *r = right;
    t.def.driver_scale = -1;
    refuse(&t, EX_ERROR_ARGUMENT, "the scale of driver forms is -1: it must be above 0");
    close_takes(&t);
}

/* Caches of different lengths can be used together as far as both go. */
static void test_a_range_of_caches_of_different_lengths(void **state) {
    (void)state;
    takes t;
    ex_error error = {.result = EX_OK};
    ex_rig *rig = NULL;
    open_takes(&t);
    t.def.reference_count = 1;
    drive_write_motion(NULL, "s.pc2", 0, FRAMES); /* the same motion, cut short below */
    drive_pose poses[16];
    for (int f = 0; f < 16; f++)
        poses[f] = drive_motion(0, f, FRAMES);
    drive_write(NULL, "s.pc2", poses, 16);
    assert_int_equal(ex_drive_learn(&t.def, &rig, NULL, &error), EX_OK);
    ex_rig_destroy(rig);
    rig = NULL;
    t.references[0].count = 13;
    refuse(&t, EX_ERROR_ARGUMENT, "s.pc2' has frames 1 to 16: there is no frame 17");
    t.references[0].count = 0;
    refuse(&t, EX_ERROR_DATA, "has 24 frames but");
    close_takes(&t);
}

/* Numbered files outside the range need no partner; those inside do. */
static void test_numbers_in_a_range(void **state) {
    (void)state;
    static const char text[] = "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
    static const int numbers[2][4] = {{1, 2, 3, 9}, {1, 2, 3, 4}};
    ex_error error = {.result = EX_OK};
    ex_cache_reader *readers[2];
    for (int i = 0; i < 2; i++) {
        char name[32];
        for (int k = 0; k < 4; k++) {
            snprintf(name, sizeof name, "n%c_%04d.obj", 'a' + i, numbers[i][k]);
            scratch_write(name, text, strlen(text));
        }
        snprintf(name, sizeof name, "n%c.obj", 'a' + i);
        assert_int_equal(ex_cache_open(scratch_path(name), &readers[i], &error), EX_OK);
    }
    assert_int_equal(exi_take_check_pair(readers[0], "na.obj", readers[1], "nb.obj", 0, 3, &error), EX_OK);
    assert_int_equal(exi_take_check_pair(readers[0], "na.obj", readers[1], "nb.obj", 1, 3, &error), EX_ERROR_DATA);
    assert_sentence(&error, EX_ERROR_DATA, "nb_0004.obj' has no partner, because 'na.obj' has no frame 4");
    ex_cache_close(readers[0]);
    ex_cache_close(readers[1]);
}

/* ---- units ---- */

static void write_scaled(const char *driver, const char *driven, double scale, int count) {
    static const double times[2] = {0, 1};
    ex_error error = {.result = EX_OK};
    for (int i = 0; i < 2; i++) {
        ex_cache_writer *writer = NULL;
        float forms[2][3 * DRIVE_DRIVEN_COUNT];
        const int vertices = i ? DRIVE_DRIVEN_COUNT : DRIVE_DRIVER_COUNT;
        assert_int_equal(
            ex_cache_create(scratch_path(i ? driven : driver), vertices, count, times, NULL, &writer, &error), EX_OK);
        for (int f = 0; f < count; f++) {
            const drive_pose pose = drive_motion(0, 8 * f, FRAMES);
            drive_form(&pose, forms[0], forms[1]);
            for (int v = 0; v < 3 * vertices; v++)
                forms[i][v] = (float)(scale * (double)forms[i][v]);
            assert_int_equal(ex_cache_write(writer, forms[i], &error), EX_OK);
        }
        assert_int_equal(ex_cache_finish(writer, true, &error), EX_OK);
    }
}

/* Positions are checked in the unit of the rig: caches far outside the range of distances are fine if their scale
 * brings them back, and those inside it are not if theirs takes them out. */
static void test_positions_are_checked_after_scaling(void **state) {
    (void)state;
    takes t;
    ex_error error = {.result = EX_OK};
    ex_rig *rig = NULL;
    ex_drive_report *report = NULL;
    open_takes(&t);
    t.def.reference_count = 1;
    t.references[0] = (ex_drive_reference){.driver = t.paths[0], .driven = t.paths[1]};
    write_scaled("b.pc2", "s.pc2", 1e24, 2);
    t.def.driver_scale = t.def.driven_scale = 1e-24;
    t.def.key_count = 2;
    if (ex_drive_learn(&t.def, &rig, NULL, &error) != EX_OK)
        fail_msg("%s", error.text);
    ex_apply_def apply = {.rig = rig,
                          .driver = t.paths[0],
                          .truth = t.paths[1],
                          .database = NAN,
                          .driver_scale = 1e-24,
                          .driven_scale = 1e-24};
    if (ex_drive_apply(&apply, &report, &error) != EX_OK)
        fail_msg("%s", error.text);
    assert_true(report->mean < 1e-3);
    ex_drive_report_free(report);
    apply.driver_scale = 1;
    assert_int_equal(ex_drive_apply(&apply, &report, &error), EX_ERROR_DATA);
    assert_sentence(&error, EX_ERROR_DATA, "b.pc2: in frame 1, vertex");
    ex_rig_destroy(rig);
    write_scaled("b.pc2", "s.pc2", 1, 2);
    t.def.driver_scale = t.def.driven_scale = 1e30;
    refuse(&t, EX_ERROR_DATA, "is too far away");
    close_takes(&t);
}

/* ---- applying ---- */

static void test_applying_a_range(void **state) {
    (void)state;
    takes t;
    ex_error error = {.result = EX_OK};
    ex_rig *rig = NULL;
    ex_drive_report *all = NULL, *part = NULL;
    ex_cache_reader *reader = NULL;
    char output[NAME_SIZE];
    snprintf(output, sizeof output, "%s", scratch_path("o.mdd"));
    open_takes(&t);
    t.def.reference_count = 1;
    t.references[0].first = t.references[0].count = 0;
    assert_int_equal(ex_drive_learn(&t.def, &rig, NULL, &error), EX_OK);
    ex_apply_def def = {.rig = rig, .driver = t.paths[2], .truth = t.paths[3], .database = NAN};
    assert_int_equal(ex_drive_apply(&def, &all, &error), EX_OK);
    def.first = 10;
    def.count = 6;
    def.rate = 50;
    def.output = output;
    assert_int_equal(ex_drive_apply(&def, &part, &error), EX_OK);
    assert_int_equal(part->first, 10);
    assert_int_equal(part->frame_count, 6);
    assert_int_equal(ex_cache_open(output, &reader, &error), EX_OK);
    assert_int_equal(ex_cache_get_info(reader).frame_count, 6);
    for (int f = 0; f < 6; f++) {
        assert_near(part->frames[f].mean, all->frames[10 + f].mean, 1e-6);
        assert_near(part->frames[f].time, (10 + f) / 50.0, 1e-12);
        assert_near(ex_cache_time(reader, f), (10 + f) / 50.0, 1e-6);
    }
    ex_cache_close(reader);
    ex_drive_report_free(part);
    def.count = 15;
    assert_int_equal(ex_drive_apply(&def, &part, &error), EX_ERROR_ARGUMENT);
    assert_sentence(&error, EX_ERROR_ARGUMENT, "c.pc2' has frames 1 to 24: there is no frame 25");
    def.count = 0;
    def.rate = -3;
    assert_int_equal(ex_drive_apply(&def, &part, &error), EX_ERROR_ARGUMENT);
    assert_sentence(&error, EX_ERROR_ARGUMENT, "it must be above 0");
    ex_drive_report_free(all);
    ex_rig_destroy(rig);
    close_takes(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_frames_numbers_and_times),
        cmocka_unit_test(test_a_range_is_learned_as_its_frames_alone),
        cmocka_unit_test(test_given_frames_are_numbers),
        cmocka_unit_test(test_wrong_ranges_and_rates),
        cmocka_unit_test(test_a_range_of_caches_of_different_lengths),
        cmocka_unit_test(test_numbers_in_a_range),
        cmocka_unit_test(test_positions_are_checked_after_scaling),
        cmocka_unit_test(test_applying_a_range),
    };
    return cmocka_run_group_tests(tests, scratch_set_up, scratch_tear_down);
}

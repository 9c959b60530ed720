/*
 * Learning from the motion of a bar whose sleeve wrinkles by how fast it bends: what counts is found, whole takes are
 * left out, frames in memory and frames read again give the same, and everything that cannot be learned from is
 * refused.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "author/drive/motion/learn_motion.h"
#include "support/check.h"
#include "support/fail_alloc.h"
#include "support/scratch.h"
#include "support/swings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES = 60 };
static const int four[SWING_TAKES] = {FRAMES, FRAMES, FRAMES, FRAMES};

static ex_learned *learn_within(const swing_lesson *l, size_t memory, ex_rig **rig) {
    ex_error error = {.result = EX_OK};
    ex_learned *learned = NULL;
    *rig = NULL;
    if (exi_learn_motion(&l->def, NULL, memory, rig, &learned, &error) != EX_OK)
        fail_msg("%s", error.text);
    return learned;
}

static ex_learned *learn(const swing_lesson *l, ex_rig **rig) {
    ex_error error = {.result = EX_OK};
    ex_learned *learned = NULL;
    if (ex_drive_learn(&l->def, rig, &learned, &error) != EX_OK)
        fail_msg("%s", error.text);
    return learned;
}

/* Mean distance from the truth of a motion that was not learned, and the forms [frames][driven vertices][3] if wanted.
 */
static double run(const ex_rig *rig, double rate, int frames, float *forms) {
    const ex_evaluation how = {.unsettled = true};
    void *scratch = malloc(ex_rig_scratch_size(rig, &how, 1)), *state = calloc(ex_rig_state_size(rig), 1);
    double total = 0;
    for (int f = 0; f < frames; f++) {
        float bar[3 * DRIVE_DRIVER_COUNT], right[3 * DRIVE_DRIVEN_COUNT], made[3 * DRIVE_DRIVEN_COUNT];
        const drive_pose at = swing_at(9, f / rate);
        const ex_pose pose = {.driver = bar, .elapsed = f > 0 ? 1 / rate : 0};
        const ex_output output = {.positions = made};
        const ex_evaluation with = {.unsettled = true, .states = &state};
        drive_form(&at, bar, right);
        ex_rig_evaluate(rig, &pose, &output, &with, scratch);
        for (int v = 0; v < DRIVE_DRIVEN_COUNT; v++)
            total += drive_apart(made + 3 * v, right + 3 * v, 1) / DRIVE_DRIVEN_COUNT / frames;
        if (forms)
            memcpy(forms + (size_t)f * 3 * DRIVE_DRIVEN_COUNT, made, sizeof made);
    }
    free(scratch);
    free(state);
    return total;
}

/* ---- what is learned ---- */

static void motion_counts(void **context) {
    (void)context;
    swing_lesson l;
    ex_rig *rig = NULL;
    swing_open(&l, 4, four);
    ex_learned *learned = learn(&l, &rig);
    assert_int_equal(learned->form_count, 8);
    assert_int_equal(learned->learned_count, 4 * (FRAMES - 2));
    assert_int_equal(learned->landmark_count, 4 * (FRAMES - 2));
    assert_true(learned->motion > 0);
    assert_true(learned->error > 0 && learned->error < 1e-3);
    assert_true(learned->left_out > learned->form_error && learned->left_out < 2e-3);
    /* Wrinkles are up to 40 mm high, and half of that is due to motion. */
    assert_true(run(rig, 25, FRAMES, NULL) < 1e-3);
    const ex_predictor *predictor = ex_rig_layer_predictor(rig, 0);
    ex_predictor_def def;
    assert_non_null(predictor);
    ex_predictor_describe(predictor, NULL, &def);
    assert_near(def.step, 0.04, 1e-6);
    ex_learned_free(learned);
    ex_rig_destroy(rig);
    swing_close(&l);
}

/* The same motion at another rate gives nearly the same forms at the same times. */
static void rates_agree(void **context) {
    (void)context;
    enum { SHORT = 30 };
    static float slow[SHORT * 3 * DRIVE_DRIVEN_COUNT], quick[2 * SHORT * 3 * DRIVE_DRIVEN_COUNT];
    swing_lesson l;
    ex_rig *rig = NULL;
    swing_open(&l, 4, four);
    ex_learned *learned = learn(&l, &rig);
    run(rig, 25, SHORT, slow);
    run(rig, 50, 2 * SHORT, quick);
    for (int f = 2; f < SHORT; f++)
        assert_true(drive_apart(slow + (size_t)f * 3 * DRIVE_DRIVEN_COUNT, quick + (size_t)f * 6 * DRIVE_DRIVEN_COUNT,
                                DRIVE_DRIVEN_COUNT) < 1e-3);
    ex_learned_free(learned);
    ex_rig_destroy(rig);
    swing_close(&l);
}

static void more_forms_hold_more(void **context) {
    (void)context;
    swing_lesson l;
    double before = 1;
    swing_open(&l, 3, four);
    for (int forms = 1; forms <= 9; forms += 2) {
        ex_rig *rig = NULL;
        l.def.form_count = forms;
        ex_learned *learned = learn(&l, &rig);
        assert_true(learned->form_error < before);
        before = learned->form_error;
        ex_learned_free(learned);
        ex_rig_destroy(rig);
    }
    assert_true(before < 2e-4);
    swing_close(&l);
}

/* Each take has wrinkles of its own, which nothing tells but its neighbours in time. Leaving out whole takes finds
 * errors of their size; leaving out single frames would find none. */
static void whole_takes_are_left_out(void **context) {
    (void)context;
    swing_lesson l;
    ex_rig *rig = NULL;
    swing_open(&l, 4, four);
    for (int t = 0; t < 4; t++)
        swing_rewrite(&l, t, FRAMES, t % 2 ? 0.3 : 1.7);
    ex_learned *learned = learn(&l, &rig);
    assert_true(learned->left_out > 4e-3);
    ex_learned_free(learned);
    ex_rig_destroy(rig);
    swing_close(&l);
}

/* Fewer landmarks than frames. */
static void few_landmarks_do_nearly_as_well(void **context) {
    (void)context;
    swing_lesson l;
    ex_rig *rig = NULL;
    swing_open(&l, 4, four);
    l.def.landmark_count = 77;
    ex_learned *learned = learn(&l, &rig);
    assert_int_equal(learned->landmark_count, 77);
    assert_true(learned->error < 1.5e-3);
    assert_true(run(rig, 25, FRAMES, NULL) < 1.5e-3);
    ex_learned_free(learned);
    ex_rig_destroy(rig);
    swing_close(&l);
}

/* Room for twenty frames only: the others are read again. */
static void frames_in_memory_and_frames_read_again_agree(void **context) {
    (void)context;
    static float forms[2][FRAMES * 3 * DRIVE_DRIVEN_COUNT];
    swing_lesson l;
    ex_learned *learned[2];
    swing_open(&l, 4, four);
    for (int i = 0; i < 2; i++) {
        ex_rig *rig = NULL;
        learned[i] = learn_within(&l, i ? (size_t)20 * DRIVE_DRIVEN_COUNT * 12 : EXI_MOTION_MEMORY, &rig);
        run(rig, 25, FRAMES, forms[i]);
        ex_rig_destroy(rig);
    }
    assert_near(learned[1]->form_error, learned[0]->form_error, 0.1 * learned[0]->form_error);
    assert_near(learned[1]->left_out, learned[0]->left_out, 0.05 * learned[0]->left_out);
    assert_true(drive_apart(forms[0], forms[1], FRAMES * DRIVE_DRIVEN_COUNT) < 5e-4);
    ex_learned_free(learned[0]);
    ex_learned_free(learned[1]);
    swing_close(&l);
}

static void learning_twice_gives_the_same_bytes(void **context) {
    (void)context;
    swing_lesson l;
    void *bytes[2];
    size_t sizes[2];
    swing_open(&l, 3, four);
    for (int i = 0; i < 2; i++) {
        ex_rig *rig = NULL;
        ex_error error = {.result = EX_OK};
        ex_learned_free(learn(&l, &rig));
        sizes[i] = ex_rig_pack_size(rig);
        bytes[i] = malloc(sizes[i]);
        assert_int_equal(ex_rig_pack(rig, bytes[i], sizes[i], &error), EX_OK);
        ex_rig_destroy(rig);
    }
    assert_int_equal(sizes[0], sizes[1]);
    assert_memory_equal(bytes[0], bytes[1], sizes[0]);
    free(bytes[0]);
    free(bytes[1]);
    swing_close(&l);
}

/* One take, two, and takes that are too short beside a long one: pieces are left out. */
static void few_takes_are_cut_into_pieces(void **context) {
    (void)context;
    static const int lengths[][4] = {{FRAMES}, {FRAMES, 30}, {2, FRAMES, 1}, {1, 2, 2, FRAMES}, {FRAMES, 1, 20, 2}};
    static const int counts[] = {1, 2, 3, 4, 4};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        swing_lesson l;
        ex_rig *rig = NULL;
        swing_open(&l, counts[i], lengths[i]);
        ex_learned *learned = learn(&l, &rig);
        assert_true(isfinite(learned->left_out) && learned->left_out > 0 && learned->left_out < 0.01);
        assert_true(run(rig, 25, FRAMES, NULL) < 0.01);
        ex_learned_free(learned);
        ex_rig_destroy(rig);
        swing_close(&l);
    }
}

/* ---- refusals ---- */

static void refuse(const swing_lesson *l, ex_result result, const char *words) {
    ex_error error = {.result = EX_OK};
    ex_rig *rig = (ex_rig *)(uintptr_t)8;
    ex_learned *learned = (ex_learned *)(uintptr_t)8;
    assert_int_equal(ex_drive_learn(&l->def, &rig, &learned, &error), result);
    assert_sentence(&error, result, words);
    assert_null(rig);
    assert_null(learned);
}

static void too_few_frames_are_refused(void **context) {
    (void)context;
    static const int lengths[3] = {7, 7, 6}, enough[3] = {7, 7, 7};
    swing_lesson l;
    ex_rig *rig = NULL;
    swing_open(&l, 3, lengths);
    refuse(&l, EX_ERROR_DATA,
           "needs at least 15 frames after the first two of each take; there are 14: add takes, or use --method keys");
    swing_close(&l);
    swing_open(&l, 3, enough);
    ex_learned_free(learn(&l, &rig));
    ex_rig_destroy(rig);
    swing_close(&l);
}

/* One frame a second, or times that are counted in frames. */
static void times_in_frames_are_refused(void **context) {
    (void)context;
    swing_lesson l;
    ex_rig *rig = NULL;
    swing_open(&l, 3, four);
    for (int t = 0; t < 3; t++)
        l.references[t].rate = 1;
    refuse(&l, EX_ERROR_DATA, "frames are 1 s apart, which shows no motion");
    for (int t = 0; t < 3; t++)
        l.references[t].rate = 12;
    ex_learned_free(learn(&l, &rig));
    ex_rig_destroy(rig);
    swing_close(&l);
}

static void wrong_settings_are_refused(void **context) {
    (void)context;
    static const int given[1] = {3};
    swing_lesson l;
    swing_open(&l, 3, four);
    const ex_learn_def right = l.def;
    l.def.database_axis = "gender";
    refuse(&l, EX_ERROR_ARGUMENT, "databases");
    l.def = right;
    l.def.given = given;
    l.def.given_count = 1;
    refuse(&l, EX_ERROR_ARGUMENT, "frames given as keys");
    l.def = right;
    l.def.until = 0.001;
    refuse(&l, EX_ERROR_ARGUMENT, "an error to reach");
    l.def = right;
    l.def.form_count = 0;
    refuse(&l, EX_ERROR_ARGUMENT, "1 to 1023 forms can be learned, not 0");
    l.def.form_count = 1024;
    refuse(&l, EX_ERROR_ARGUMENT, "1 to 1023 forms can be learned, not 1024");
    l.def = right;
    l.def.landmark_count = 0;
    refuse(&l, EX_ERROR_ARGUMENT, "landmarks can be learned, not 0");
    l.def.landmark_count = EX_PREDICTOR_LANDMARK_MAX + 1;
    refuse(&l, EX_ERROR_ARGUMENT, "landmarks can be learned, not 16385");
    l.def = right;
    l.def.up[1] = NAN;
    refuse(&l, EX_ERROR_ARGUMENT, "up is not finite");
    l.def = right;
    l.def.options.frames = 1;
    refuse(&l, EX_ERROR_ARGUMENT, "2 to 255 moving frames of parts, not 1");
    swing_close(&l);
}

/* ---- up ---- */

/* Turns a cache about an axis, by 2.5 rad a second. */
static void turn_cache(const char *path, int axis, int vertex_count) {
    ex_error error = {.result = EX_OK};
    ex_cache_reader *reader = NULL;
    ex_cache_writer *writer = NULL;
    if (ex_cache_open(path, &reader, &error) != EX_OK)
        fail_msg("%s", error.text);
    const int frames = ex_cache_get_info(reader).frame_count, a = (axis + 1) % 3, b = (axis + 2) % 3;
    const size_t numbers = 3 * (size_t)vertex_count;
    float *forms = malloc((size_t)frames * numbers * sizeof *forms);
    double *times = malloc((size_t)frames * sizeof *times);
    for (int f = 0; f < frames; f++) {
        float *form = forms + (size_t)f * numbers;
        times[f] = ex_cache_time(reader, f);
        assert_int_equal(ex_cache_read(reader, f, form, &error), EX_OK);
        const float c = (float)cos(1 + 2.5 * times[f]), s = (float)sin(1 + 2.5 * times[f]);
        for (size_t v = 0; v < numbers; v += 3) {
            const float x = form[v + (size_t)a], y = form[v + (size_t)b];
            form[v + (size_t)a] = c * x - s * y;
            form[v + (size_t)b] = s * x + c * y;
        }
    }
    ex_cache_close(reader);
    assert_int_equal(ex_cache_create(path, vertex_count, frames, times, NULL, &writer, &error), EX_OK);
    for (int f = 0; f < frames; f++)
        assert_int_equal(ex_cache_write(writer, forms + (size_t)f * numbers, &error), EX_OK);
    assert_int_equal(ex_cache_finish(writer, true, &error), EX_OK);
    free(forms);
    free(times);
}

static void up_is_what_the_driver_turns_about(void **context) {
    (void)context;
    for (int axis = 0; axis < 3; axis++) {
        swing_lesson l;
        swing_open(&l, 3, four);
        for (int t = 0; t < 3; t++) {
            turn_cache(l.references[t].driver, axis, DRIVE_DRIVER_COUNT);
            turn_cache(l.references[t].driven, axis, DRIVE_DRIVEN_COUNT);
        }
        l.def.any_fit = true;
        l.def.up[0] = l.def.up[1] = l.def.up[2] = 0;
        ex_rig *rig = NULL;
        ex_learned *learned = learn(&l, &rig);
        for (int c = 0; c < 3; c++)
            assert_float_equal(learned->up[c], c == axis, 1e-6);
        ex_predictor_def def;
        ex_predictor_describe(ex_rig_layer_predictor(rig, 0), NULL, &def);
        assert_float_equal(def.up[axis], 1, 1e-6);
        ex_learned_free(learned);
        ex_rig_destroy(rig);
        swing_close(&l);
    }
}

/* ---- stops ---- */

typedef struct stop {
    int calls, at;
    double last;
} stop;

static bool count(void *user, const char *what, double fraction) {
    stop *s = user;
    assert_non_null(what);
    assert_true(fraction >= s->last && fraction <= 1 + 1e-9);
    s->last = fraction;
    return s->calls++ != s->at;
}

static void a_stop_leaves_nothing(void **context) {
    (void)context;
    static const int lengths[3] = {12, 12, 12};
    stop s = {.at = -1};
    const ex_progress progress = {count, &s};
    swing_lesson l;
    ex_rig *rig = NULL;
    swing_open(&l, 3, lengths);
    l.def.progress = &progress;
    ex_learned_free(learn(&l, &rig));
    ex_rig_destroy(rig);
    assert_near(s.last, 1, 1e-6);
    const int calls = s.calls;
    assert_true(calls > 100);
    for (int at = 0; at < calls; at += at < calls - 4 && at + 37 > calls - 4 ? calls - 4 - at
                                       : at < calls - 4                      ? 37
                                                                             : 1) {
        s = (stop){.at = at};
        refuse(&l, EX_ERROR_FILE, "stopped");
    }
    swing_close(&l);
}

static ex_result attempt(void *context) {
    ex_error error = {.result = EX_OK};
    ex_rig *rig = NULL;
    ex_learned *learned = NULL;
    const ex_result result = ex_drive_learn(&((swing_lesson *)context)->def, &rig, &learned, &error);
    assert_true((result == EX_OK) == (rig != NULL) && (result == EX_OK) == (learned != NULL));
    ex_rig_destroy(rig);
    ex_learned_free(learned);
    return result;
}

static void every_allocation_may_fail(void **context) {
    (void)context;
    static const int lengths[1] = {17};
    swing_lesson l;
    swing_open(&l, 1, lengths);
    l.def.form_count = 3;
    l.def.landmark_count = 10;
    assert_true(fail_alloc_sweep(attempt, &l) > 50);
    swing_close(&l);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(motion_counts),
        cmocka_unit_test(rates_agree),
        cmocka_unit_test(more_forms_hold_more),
        cmocka_unit_test(whole_takes_are_left_out),
        cmocka_unit_test(few_landmarks_do_nearly_as_well),
        cmocka_unit_test(frames_in_memory_and_frames_read_again_agree),
        cmocka_unit_test(learning_twice_gives_the_same_bytes),
        cmocka_unit_test(few_takes_are_cut_into_pieces),
        cmocka_unit_test(too_few_frames_are_refused),
        cmocka_unit_test(times_in_frames_are_refused),
        cmocka_unit_test(wrong_settings_are_refused),
        cmocka_unit_test(up_is_what_the_driver_turns_about),
        cmocka_unit_test(a_stop_leaves_nothing),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, scratch_set_up, scratch_tear_down);
}

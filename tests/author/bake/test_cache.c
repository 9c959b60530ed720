/* Baked point caches hold the results of evaluation, at every level, with one thread or many. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/bakes.h"
#include "support/check.h"
#include "support/fail_alloc.h"
#include "support/scratch.h"

#include "runtime/base/result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void assert_same_frames(const char *path, const ex_rig *rig, const ex_motion *motion, int level,
                               const bool *muted) {
    const int vertices = ex_rig_level_vertex_count(rig, level);
    float *read = malloc((size_t)vertices * 12);
    double *truth = malloc((size_t)vertices * 24);
    ex_error error = {.result = EX_OK};
    ex_cache_reader *reader;
    if (ex_cache_open(path, &reader, &error) != EX_OK)
        fail_msg("%s", error.text);
    const ex_cache_info info = ex_cache_get_info(reader);
    assert_int_equal(info.vertex_count, vertices);
    assert_int_equal(info.frame_count, motion->pose_count);
    for (int f = 0; f < motion->pose_count; f++) {
        assert_int_equal(ex_cache_read(reader, f, read, &error), EX_OK);
        bake_truth(rig, motion, f, level, muted, truth);
        for (int i = 0; i < 3 * vertices; i++)
            assert_true((double)read[i] == truth[i]);
        if (info.kind != EX_CACHE_OBJ)
            assert_near(ex_cache_time(reader, f), motion->times[f], 1e-5);
    }
    ex_cache_close(reader);
    free(read);
    free(truth);
}

static void test_every_kind_and_level(void **state) {
    (void)state;
    static const char *const names[] = {"a.pc2", "a.mdd", "a.obj"};
    ex_rig *rig = bake_arm_rig(5, 4, EX_SKINNING_DUAL_QUATERNION, BAKE_SKINNED | BAKE_MOVED);
    ex_motion *motion = bake_motion(rig, 35, 9, 70); /* more than a batch */
    bool muted[BAKE_LAYERS] = {true};
    for (int level = EX_LEVEL_LIMIT; level <= 1; level++)
        for (int i = 0; i < 3; i++) {
            const ex_bake_options options = {.level = level, .muted = level == 0 ? muted : NULL};
            ex_error error = {.result = EX_OK};
            if (ex_bake_cache(rig, motion, scratch_path(names[i]), &options, &error) != EX_OK)
                fail_msg("%s", error.text);
            assert_same_frames(scratch_path(i == 2 ? "a_0001.obj" : names[i]), rig, motion, level, options.muted);
        }
    bake_motion_free(motion);
    ex_rig_destroy(rig);
}

/* An evaluator that calls the runtime, frame by frame, and fails at a given frame. */
typedef struct other {
    const ex_rig *rig;
    float *positions;
    int level, calls, frames, most, fails_at;
    void *scratch;
} other;

static ex_result evaluate_otherwise(void *user, int count, const ex_pose *poses, const float **positions,
                                    ex_error *error) {
    other *o = user;
    const size_t numbers = 3 * (size_t)ex_rig_level_vertex_count(o->rig, o->level);
    o->most = count > o->most ? count : o->most;
    o->frames += count;
    if (o->calls++ == o->fails_at)
        return ex_error_set(error, EX_ERROR_DEVICE, "the device is on fire");
    for (int i = 0; i < count; i++)
        ex_rig_evaluate(o->rig, &poses[i], &(ex_output){.positions = o->positions + (size_t)i * numbers},
                        &(ex_evaluation){.level = o->level}, o->scratch);
    *positions = o->positions;
    return EX_OK;
}

static void test_an_evaluator(void **state) {
    (void)state;
    static const char *const names[] = {"e.pc2", "e.mdd", "e.obj"};
    ex_rig *rig = bake_arm_rig(5, 4, EX_SKINNING_LINEAR, BAKE_SKINNED);
    ex_motion *motion = bake_motion(rig, 11, 9, 70);
    other o = {.rig = rig, .level = 1, .fails_at = -1};
    o.positions = malloc((size_t)ex_rig_level_vertex_count(rig, 1) * 12 * 4);
    o.scratch = malloc(ex_rig_scratch_size(rig, &(ex_evaluation){.level = 1}, 1));
    const ex_bake_evaluator evaluator = {evaluate_otherwise, &o, 4};
    const ex_bake_options options = {.level = 1, .evaluator = &evaluator};
    for (int i = 0; i < 3; i++) {
        assert_int_equal(ex_bake_cache(rig, motion, scratch_path(names[i]), &options, NULL), EX_OK);
        assert_same_frames(scratch_path(i == 2 ? "e_0001.obj" : names[i]), rig, motion, 1, NULL);
        assert_int_equal(o.most, 4);
        assert_int_equal(o.frames, 11 * (i + 1));
    }
    const int before = scratch_entry_count();
    for (int i = 0; i < 3; i++) {
        ex_error error = {.result = EX_OK};
        o.fails_at = o.calls + i;
        assert_int_equal(ex_bake_cache(rig, motion, scratch_path("f.pc2"), &options, &error), EX_ERROR_DEVICE);
        assert_sentence(&error, EX_ERROR_DEVICE, "on fire");
    }
    assert_int_equal(scratch_entry_count(), before);
    free(o.positions);
    free(o.scratch);
    bake_motion_free(motion);
    ex_rig_destroy(rig);
}

static void test_refusals(void **state) {
    (void)state;
    ex_rig *rig = bake_arm_rig(4, 3, EX_SKINNING_LINEAR, 0);
    ex_motion *motion = bake_motion(rig, 3, 9, 70), none = {.pose_count = 0};
    const int before = scratch_entry_count();
    const struct {
        const ex_motion *motion;
        const char *name, *word;
        int level;
        ex_result result;
    } cases[] = {
        {motion, "x.usd", "x.usd", 0, EX_ERROR_ARGUMENT},
        {motion, "x.pc2", "level 9", 9, EX_ERROR_ARGUMENT},
        {&none, "x.pc2", "no frames", 0, EX_ERROR_DATA},
        {motion, "no/folder/x.mdd", "x.mdd", 0, EX_ERROR_FILE},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ex_error error = {.result = EX_OK};
        const ex_bake_options options = {.level = cases[i].level};
        assert_int_equal(ex_bake_cache(rig, cases[i].motion, scratch_path(cases[i].name), &options, &error),
                         cases[i].result);
        assert_sentence(&error, cases[i].result, cases[i].word);
    }
    assert_int_equal(scratch_entry_count(), before);
    bake_motion_free(motion);
    ex_rig_destroy(rig);
}

/* Stops at the given report. */
typedef struct stopper {
    int count, at;
} stopper;

static bool report_until(void *user, const char *what, double fraction) {
    stopper *s = user;
    assert_true(what && fraction >= 0 && fraction <= 1);
    return s->count++ != s->at;
}

static void test_stopping(void **state) {
    (void)state;
    static const char *const names[] = {"s.pc2", "s.mdd", "s.abc", "s.obj", "s.glb"};
    ex_rig *rig = bake_arm_rig(5, 4, EX_SKINNING_DUAL_QUATERNION, BAKE_SKINNED); /* not exact: all steps of a .glb */
    ex_motion *motion = bake_motion(rig, 9, 9, 70);
    const int before = scratch_entry_count();
    int steps = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const bool glb = i == 4;
        for (int at = 0;; at++) {
            stopper s = {0, at};
            const ex_progress progress = {report_until, &s};
            const ex_bake_options options = {.progress = &progress, .thin = 1e-3};
            ex_error error = {.result = EX_OK};
            const ex_result result = glb ? ex_bake_glb(rig, motion, scratch_path(names[i]), &options, NULL, &error)
                                         : ex_bake_cache(rig, motion, scratch_path(names[i]), &options, &error);
            if (result == EX_OK) {
                assert_int_equal(s.count, at); /* it was never stopped */
                steps += at;
                break;
            }
            assert_int_equal(s.count, at + 1); /* nothing was reported afterwards */
            assert_sentence(&error, EX_ERROR_FILE, "nothing was written");
            assert_true(i > 0 || scratch_entry_count() == before);
        }
    }
    assert_true(steps > 8);
    bake_motion_free(motion);
    ex_rig_destroy(rig);
}

typedef struct attempt {
    ex_rig *rig;
    ex_motion *motion;
} attempt;

static ex_result try_baking(void *context) {
    const attempt *a = context;
    return ex_bake_cache(a->rig, a->motion, scratch_path("m.pc2"), NULL, NULL);
}

static void test_memory(void **state) {
    (void)state;
    attempt a = {.rig = bake_arm_rig(4, 3, EX_SKINNING_LINEAR, 0)};
    a.motion = bake_motion(a.rig, 3, 9, 70);
    assert_true(fail_alloc_sweep(try_baking, &a) > 3);
    bake_motion_free(a.motion);
    ex_rig_destroy(a.rig);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_kind_and_level),
        cmocka_unit_test(test_an_evaluator),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_stopping),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, scratch_set_up, scratch_tear_down);
}

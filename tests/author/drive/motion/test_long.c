/*
 * A rig learned from motion through ten thousand frames: from states that are empty or no states, through teleports,
 * frames that are missing and frames that are not numbers. Nothing that is not a number comes out, ten frames after
 * each disturbance all is as in a run without them, and a second run gives the same bytes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/check.h"
#include "support/scratch.h"
#include "support/swings.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES = 10000, NUMBERS = 3 * DRIVE_DRIVEN_COUNT, EVERY = 50, AFTER = 10 };
static const double rate = 25;

static ex_rig *rig;

static int set_up(void **context) {
    static const int counts[3] = {60, 60, 60};
    swing_lesson l;
    ex_error error = {.result = EX_OK};
    scratch_set_up(context);
    swing_open(&l, 3, counts);
    if (ex_drive_learn(&l.def, &rig, NULL, &error) != EX_OK)
        fail_msg("%s", error.text);
    swing_close(&l);
    return 0;
}

static int tear_down(void **context) {
    ex_rig_destroy(rig);
    return scratch_tear_down(context);
}

typedef struct runner {
    void *scratch, *state;
    bool unsettled;
} runner;

static runner open_runner(bool unsettled) {
    const ex_evaluation how = {.unsettled = unsettled};
    return (runner){malloc(ex_rig_scratch_size(rig, &how, 1)), calloc(ex_rig_state_size(rig), 1), unsettled};
}

static void close_runner(runner *r) {
    free(r->scratch);
    free(r->state);
}

static double step(runner *r, const float *bar, double elapsed, float *out) {
    ex_driven driven = {0};
    const ex_pose pose = {.driver = bar, .elapsed = elapsed};
    const ex_output output = {.positions = out, .driven = &driven};
    const ex_evaluation how = {.unsettled = r->unsettled, .states = &r->state};
    ex_rig_evaluate(rig, &pose, &output, &how, r->scratch);
    return driven.unfamiliar;
}

/* The motion comes round every eight seconds. */
static void bar_at(int frame, float *bar) {
    const double t = fmod(frame / rate, 8);
    const drive_pose pose = swing_at(1, t < 4 ? t : 8 - t);
    drive_form(&pose, bar, NULL);
}

/* Disturbs a frame. Returns false if it is dropped. */
static bool disturb(int kind, uint64_t *random, runner *r, float *bar) {
    const size_t size = ex_rig_state_size(rig);
    switch (kind) {
    case 0: /* the garment's state is lost */
        memset(r->state, 0, size);
        return true;
    case 1: /* a teleport, for this frame */
        for (int i = 0; i < 3 * DRIVE_DRIVER_COUNT; i++)
            bar[i] += 300;
        return true;
    case 2:
        return false;
    case 3: /* no numbers at all */
        for (int i = 0; i < 3 * DRIVE_DRIVER_COUNT; i++)
            bar[i] = NAN;
        return true;
    case 4: /* some that are not */
        for (int i = 0; i < 20; i++)
            bar[random_bits(random) % (3 * DRIVE_DRIVER_COUNT)] = i % 2 ? NAN : INFINITY;
        return true;
    default: /* numbers beyond measure */
        for (int i = 0; i < 3 * DRIVE_DRIVER_COUNT; i++)
            bar[i] *= 1e30F;
        return true;
    }
}

static void assert_finite(const float *numbers, int count, int frame) {
    for (int i = 0; i < count; i++)
        if (!isfinite(numbers[i]))
            fail_msg("frame %d: number %d of the garment is not finite", frame, i);
}

/* Runs all frames; returns a sum that depends on every byte. `worst` is the largest distance from an undisturbed run,
 * ten frames and more after a disturbance. */
static uint64_t run_disturbed(bool unsettled, int frames, double *worst) {
    runner calm = open_runner(unsettled), wild = open_runner(unsettled);
    uint64_t sum = 14695981039346656037u, random = 7;
    int since = 0, dropped = 0;
    for (int f = 0; f < frames; f++, since++) {
        float bar[3 * DRIVE_DRIVER_COUNT], right[NUMBERS], made[NUMBERS];
        bool here = true;
        bar_at(f, bar);
        if (worst)
            step(&calm, bar, f > 0 ? 1 / rate : 0, right);
        const int kind = f / EVERY % 6, place = f % EVERY;
        if (place == 0 || (kind == 2 && place < 5)) {
            since = 0;
            here = disturb(kind, &random, &wild, bar);
        }
        dropped = here ? dropped : dropped + 1;
        if (!here)
            continue;
        const double unfamiliar = step(&wild, bar, (1 + dropped) / rate, made);
        dropped = 0;
        assert_true(isfinite(unfamiliar));
        assert_finite(made, NUMBERS, f);
        if (worst && since >= AFTER)
            *worst = fmax(*worst, drive_apart(made, right, DRIVE_DRIVEN_COUNT));
        for (size_t i = 0; i < sizeof made; i++)
            sum = (sum ^ ((const unsigned char *)made)[i]) * 1099511628211u;
    }
    close_runner(&calm);
    close_runner(&wild);
    return sum;
}

static void ten_thousand_disturbed_frames(void **context) {
    (void)context;
    double worst = 0;
    const uint64_t one = run_disturbed(true, FRAMES, &worst), other = run_disturbed(true, FRAMES, NULL);
    assert_true(one == other);
    assert_true(worst < 1e-5);
}

static void disturbed_frames_that_settle(void **context) {
    (void)context;
    double worst = 0;
    const uint64_t one = run_disturbed(false, FRAMES / 10, &worst), other = run_disturbed(false, FRAMES / 10, NULL);
    assert_true(one == other);
    assert_true(worst < 1e-5);
}

/* A state of random bytes, as memory that nobody cleared. */
static void random_states_do_no_harm(void **context) {
    (void)context;
    uint64_t random = 8;
    for (int round = 0; round < 20; round++) {
        runner calm = open_runner(true), wild = open_runner(true);
        for (size_t i = 0; i < ex_rig_state_size(rig); i++)
            ((unsigned char *)wild.state)[i] = (unsigned char)random_bits(&random);
        for (int f = 0; f < 30; f++) {
            float bar[3 * DRIVE_DRIVER_COUNT], right[NUMBERS], made[NUMBERS];
            bar_at(f, bar);
            step(&calm, bar, 1 / rate, right);
            step(&wild, bar, 1 / rate, made);
            assert_finite(made, NUMBERS, f);
            if (f >= AFTER)
                assert_true(drive_apart(made, right, DRIVE_DRIVEN_COUNT) < 1e-5);
        }
        close_runner(&calm);
        close_runner(&wild);
    }
}

/* Without a state, and with a cut in every frame, the driver stands still: the same bytes. */
static void no_state_is_a_driver_that_stands(void **context) {
    (void)context;
    runner none = open_runner(false), cut = open_runner(false);
    free(none.state);
    none.state = NULL;
    for (int f = 0; f < 20; f++) {
        float bar[3 * DRIVE_DRIVER_COUNT], forms[2][NUMBERS];
        bar_at(f, bar);
        step(&none, bar, 1 / rate, forms[0]);
        step(&cut, bar, 0, forms[1]);
        assert_finite(forms[0], NUMBERS, f);
        assert_true(drive_apart(forms[0], forms[1], DRIVE_DRIVEN_COUNT) < 1e-6);
    }
    close_runner(&none);
    close_runner(&cut);
}

/* A motion that was learned is familiar, another is not. */
static void strange_motion_is_unfamiliar(void **context) {
    (void)context;
    runner r = open_runner(true);
    float bar[3 * DRIVE_DRIVER_COUNT], made[NUMBERS];
    double known = 0, strange = 0;
    for (int f = 0; f < 100; f++) {
        bar_at(f, bar);
        const double far = step(&r, bar, f > 0 ? 1 / rate : 0, made);
        known = f > 2 && far > known ? far : known;
    }
    for (int f = 0; f < 100; f++) {
        const drive_pose pose = {.bend = -100, .twist = 170, .wrinkle = 1, .turn = 90 * f};
        drive_form(&pose, bar, NULL);
        const double far = step(&r, bar, f > 0 ? 1 / rate : 0, made);
        strange = far > strange ? far : strange;
        assert_finite(made, NUMBERS, f);
    }
    assert_true(known < 1.5);
    assert_true(strange > 1.5);
    close_runner(&r);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ten_thousand_disturbed_frames), cmocka_unit_test(disturbed_frames_that_settle),
        cmocka_unit_test(random_states_do_no_harm),      cmocka_unit_test(no_state_is_a_driver_that_stands),
        cmocka_unit_test(strange_motion_is_unfamiliar),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

/*
 * Histories: states of motions by formula, at many frame rates and at uneven times; their invariance; what begins a
 * history anew; and histories of random bytes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "runtime/weigh/predictor.h"
#include "support/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES = 3, LENGTH = 66, WHOLE = FRAMES - 1 };
static const double step = 0.04, fastest = 40;
static const float centres[FRAMES * 3] = {0.3F, 0.1F, 0, -0.2F, 0.5F, 0.1F, 0, 0.3F, 0};

/* ---- an observer ---- */

typedef struct observer {
    ex_predictor *predictor;
    void *history;
    size_t size;
} observer;

static observer open_observer(void) {
    static float zeros[LENGTH];
    const ex_predictor_def def = {.frame_count = FRAMES,
                                  .centres = centres,
                                  .up = {0, 1, 0},
                                  .step = step,
                                  .fastest = fastest,
                                  .sizes = true,
                                  .component_count = 1,
                                  .landmark_count = 1,
                                  .weight_count = 1,
                                  .mean = zeros,
                                  .scales = zeros,
                                  .components = zeros,
                                  .landmarks = zeros,
                                  .base = zeros,
                                  .slopes = zeros,
                                  .pulls = zeros,
                                  .known = zeros,
                                  .width = 1,
                                  .familiar = 1};
    observer o = {0};
    ex_error error = {.result = EX_OK};
    if (ex_predictor_create(&def, NULL, &o.predictor, &error) != EX_OK)
        fail_msg("%s", error.text);
    o.size = ex_predictor_history_size(o.predictor);
    o.history = calloc(o.size, 1);
    return o;
}

static void close_observer(observer *o) {
    ex_predictor_destroy(o->predictor);
    free(o->history);
}

/* ---- motions ---- */

/* Rotation around an axis through the middle, of angular velocity `turn`, and position `from + speed t + pull t^2 / 2`,
 * plus a circle of a radius in the plane of x and z. */
typedef struct path {
    double axis[3], turn, from[3], speed[3], pull[3], radius, round;
} path;

static const path standing[FRAMES] = {
    {.axis = {0, 1, 0}, .from = {0.3, 1, 0}}, {.axis = {0, 1, 0}, .from = {0, 1.5, 0}}, {.axis = {0, 1, 0}}};
static const path straight[FRAMES] = {{.axis = {0, 1, 0}, .from = {0.3, 1, 0}, .speed = {1, 0.2, -0.5}},
                                      {.axis = {1, 0, 0}, .speed = {0, -2, 0.3}},
                                      {.axis = {0, 0, 1}, .speed = {1, 0, -0.5}}};
static const path turning[FRAMES] = {
    {.axis = {0.6, 0, 0.8}, .turn = 3}, {.axis = {1, 0, 0}, .turn = -5}, {.axis = {0, 1, 0}, .turn = 1.5}};
static const path thrown[FRAMES] = {{.axis = {0, 1, 0}, .speed = {1, 4, 0}, .pull = {0, -9.81, 0}},
                                    {.axis = {0, 1, 0}, .speed = {0, 1, 0}, .pull = {2, -3, 1}},
                                    {.axis = {0, 1, 0}, .speed = {1, 4, 0}, .pull = {0, -9.81, 0}}};
static const path circling[FRAMES] = {{.axis = {0, 1, 0}, .turn = -2, .radius = 1.2, .round = 2},
                                      {.axis = {0, 0.6, 0.8}, .turn = 4, .radius = 0.3, .round = 5},
                                      {.axis = {0, 1, 0}, .turn = -2, .radius = 1, .round = 2}};
static const path *const motions[] = {straight, turning, thrown, circling};
enum { MOTIONS = sizeof motions / sizeof *motions };

typedef struct pose {
    double r[3][3], p[3];
} pose;

static void turn_by(const double axis[3], double angle, double r[3][3]) {
    const double c = cos(angle), s = sin(angle);
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            r[i][j] = (i == j ? c : 0) + (1 - c) * axis[i] * axis[j];
    for (int i = 0; i < 3; i++) {
        r[(i + 2) % 3][(i + 1) % 3] += s * axis[i];
        r[(i + 1) % 3][(i + 2) % 3] -= s * axis[i];
    }
}

static pose pose_at(const path *m, double t) {
    pose out;
    turn_by(m->axis, m->turn * t, out.r);
    for (int c = 0; c < 3; c++)
        out.p[c] = m->from[c] + m->speed[c] * t + m->pull[c] * t * t / 2;
    out.p[0] += m->radius * cos(m->round * t);
    out.p[2] += m->radius * sin(m->round * t);
    return out;
}

static void to_matrix(const pose *at, const float centre[3], float matrix[12]) {
    for (int r = 0; r < 3; r++) {
        double shift = at->p[r];
        for (int c = 0; c < 3; c++) {
            matrix[4 * r + c] = (float)at->r[r][c];
            shift -= at->r[r][c] * (double)centre[c];
        }
        matrix[4 * r + 3] = (float)shift;
    }
}

/* The frames of a motion, in a world that is turned around y and moved. */
static void place(const path *motion, double t, double heading, const double by[3], float matrices[FRAMES * 12]) {
    double world[3][3];
    turn_by((const double[3]){0, 1, 0}, heading, world);
    for (int f = 0; f < FRAMES; f++) {
        const pose at = pose_at(&motion[f], t);
        pose moved;
        for (int i = 0; i < 3; i++) {
            moved.p[i] = by ? by[i] : 0;
            for (int k = 0; k < 3; k++) {
                moved.p[i] += world[i][k] * at.p[k];
                moved.r[i][k] = world[i][0] * at.r[0][k] + world[i][1] * at.r[1][k] + world[i][2] * at.r[2][k];
            }
        }
        to_matrix(&moved, centres + 3 * f, matrices + 12 * f);
    }
}

static void see(observer *o, const path *motion, double t, double elapsed, float *state) {
    float matrices[FRAMES * 12];
    place(motion, t, 0, NULL, matrices);
    ex_predictor_observe(o->predictor, matrices, NULL, elapsed, o->history, state);
}

/* ---- what a state must be ---- */

static void axis_between(const pose *a, const pose *b, double out[3]) {
    double m[3][3];
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            m[i][j] = a->r[i][0] * b->r[j][0] + a->r[i][1] * b->r[j][1] + a->r[i][2] * b->r[j][2];
    for (int i = 0; i < 3; i++)
        out[i] = (m[(i + 2) % 3][(i + 1) % 3] - m[(i + 1) % 3][(i + 2) % 3]) / 2;
}

/* In the frame of the whole. */
static void assert_kind(const float *state, ex_state_kind kind, int f, const pose *whole, const double expected[3],
                        double tolerance) {
    const float *at = state + ex_state_start(FRAMES, kind) + 3 * f;
    for (int c = 0; c < 3; c++) {
        const double right = whole->r[0][c] * expected[0] + whole->r[1][c] * expected[1] + whole->r[2][c] * expected[2];
        if (!(fabs((double)at[c] - right) <= tolerance))
            fail_msg("%s of frame %d, number %d: %g, not %g (within %g)", ex_state_kind_name(kind), f, c, (double)at[c],
                     right, tolerance);
    }
}

/* off: largest error of a past position and rotation, over the second derivative, from interpolation. */
static void assert_state(const float *state, const path *motion, double t, double off) {
    const pose whole = pose_at(&motion[WHOLE], t);
    for (int f = 0; f < FRAMES; f++) {
        const path *m = &motion[f];
        const pose now = pose_at(m, t), one = pose_at(m, t - step), two = pose_at(m, t - 2 * step);
        const double pull = sqrt(m->pull[0] * m->pull[0] + m->pull[1] * m->pull[1] + m->pull[2] * m->pull[2]);
        const double bent = off * (pull + m->radius * m->round * m->round) + 2e-6, turned = off * m->turn * m->turn;
        double v[3], a[3], spin[3], before[3], whirl[3];
        axis_between(&now, &one, spin);
        axis_between(&one, &two, before);
        for (int c = 0; c < 3; c++) {
            v[c] = (now.p[c] - one.p[c]) / step;
            a[c] = (now.p[c] - 2 * one.p[c] + two.p[c]) / step / step;
            spin[c] /= step;
            whirl[c] = (spin[c] - before[c] / step) / step;
        }
        assert_kind(state, EX_STATE_VELOCITY, f, &whole, v, bent / step);
        assert_kind(state, EX_STATE_ACCELERATION, f, &whole, a, 3 * bent / step / step);
        assert_kind(state, EX_STATE_SPIN, f, &whole, spin, (2 * turned + 1e-6) / step);
        assert_kind(state, EX_STATE_WHIRL, f, &whole, whirl, (6 * turned + 2e-6) / step / step);
        if (f == WHOLE)
            break;
        const double from[3] = {now.p[0] - whole.p[0], now.p[1] - whole.p[1], now.p[2] - whole.p[2]};
        assert_kind(state, EX_STATE_PLACE, f, &whole, from, 1e-5);
        for (int i = 0; i < 9; i++) {
            double right = 0;
            for (int k = 0; k < 3; k++)
                right += whole.r[k][i / 3] * now.r[k][i % 3];
            assert_near((double)state[9 * f + i], right, 1e-5);
        }
    }
    assert_kind(state, EX_STATE_UP, 0, &whole, (const double[3]){0, 1, 0}, 1e-5);
}

/* Error of interpolation at a time between two frames, over the second derivative. */
static double between(double back, double gap) {
    const double part = back / gap - floor(back / gap + 1e-9);
    return part * (1 - part) * gap * gap / 2 + 1e-9;
}

static void any_frame_rate_gives_the_same_state(void **context) {
    (void)context;
    static const int rates[] = {24, 25, 30, 48, 60, 120, 240, 1000};
    const double thinned = step * step / 64 / 8;
    for (int m = 0; m < MOTIONS; m++)
        for (size_t r = 0; r < sizeof rates / sizeof *rates; r++) {
            observer o = open_observer();
            const double gap = 1.0 / rates[r];
            double off = fmax(between(step, gap), between(2 * step, gap));
            off = gap < step / 8 ? thinned : off; /* frames nearer to each other are not all kept */
            for (int f = 0; f <= rates[r]; f++) {
                float state[LENGTH];
                see(&o, motions[m], f * gap, f > 0 ? gap : 0, state);
                if (f * gap >= 2 * step)
                    assert_state(state, motions[m], f * gap, off);
            }
            close_observer(&o);
        }
}

static void uneven_times_give_the_same_state(void **context) {
    (void)context;
    uint64_t random = 1;
    for (int m = 0; m < MOTIONS; m++) {
        observer o = open_observer();
        double t = 0, elapsed = 0;
        for (int f = 0; f < 300; f++, t += elapsed) {
            float state[LENGTH];
            see(&o, motions[m], t, elapsed, state);
            if (t >= 2 * step)
                assert_state(state, motions[m], t, 0.02 * 0.02 / 8);
            elapsed = f % 7 == 0 ? 1e-6 : random_between(&random, 1e-4, 0.02);
        }
        close_observer(&o);
    }
}

/* A driver that moves evenly keeps its velocity, whichever frames are missing. */
static void dropped_frames_keep_the_velocity(void **context) {
    (void)context;
    observer o = open_observer();
    uint64_t random = 2;
    double t = 0, elapsed = 0;
    for (int f = 0; f < 20; f++, t += elapsed) {
        float state[LENGTH];
        see(&o, straight, t, elapsed, state);
        if (t >= 2 * step)
            assert_state(state, straight, t, 0);
        elapsed = (double)(1 + random_bits(&random) % 9) / 24;
    }
    close_observer(&o);
}

static void the_place_in_the_world_is_no_matter(void **context) {
    (void)context;
    static const double by[3] = {7, -3, 11};
    for (int m = 0; m < MOTIONS; m++)
        for (int h = 1; h < 6; h++) {
            observer here = open_observer(), there = open_observer();
            for (int f = 0; f < 30; f++) {
                float matrices[FRAMES * 12], states[2][LENGTH];
                const double elapsed = f > 0 ? 1.0 / 30 : 0;
                place(motions[m], f / 30.0, 0, NULL, matrices);
                ex_predictor_observe(here.predictor, matrices, NULL, elapsed, here.history, states[0]);
                place(motions[m], f / 30.0, 1.1 * h, by, matrices);
                ex_predictor_observe(there.predictor, matrices, NULL, elapsed, there.history, states[1]);
                for (int i = 0; i < LENGTH; i++)
                    assert_near((double)states[1][i], (double)states[0][i], i < 27 ? 1e-5 : 2e-2);
            }
            close_observer(&here);
            close_observer(&there);
        }
}

/* ---- beginnings ---- */

static void assert_at_rest(const float *state) {
    for (int i = ex_state_start(FRAMES, EX_STATE_VELOCITY); i < ex_state_start(FRAMES, EX_STATE_SIZE); i++)
        assert_true(state[i] == 0);
    for (int f = 0; f < FRAMES; f++)
        assert_true(state[ex_state_start(FRAMES, EX_STATE_SIZE) + f] == 1);
}

static void the_first_frames_of_a_motion(void **context) {
    (void)context;
    observer o = open_observer();
    float state[LENGTH];
    for (int f = 0; f < 8; f++) {
        see(&o, straight, f * 0.01, f > 0 ? 0.01 : 0, state);
        const pose whole = pose_at(&straight[WHOLE], f * 0.01);
        for (int k = 0; f > 0 && k < FRAMES; k++) {
            assert_kind(state, EX_STATE_VELOCITY, k, &whole, straight[k].speed, 1e-4);
            assert_kind(state, EX_STATE_ACCELERATION, k, &whole, (const double[3]){0}, 0);
        }
        if (f == 0)
            assert_at_rest(state);
    }
    close_observer(&o);
}

static void cuts_begin_anew(void **context) {
    (void)context;
    static const double cuts[] = {0, -0.04, NAN, 1.01, INFINITY};
    observer o = open_observer();
    for (size_t i = 0; i < sizeof cuts / sizeof *cuts; i++) {
        float state[LENGTH];
        for (int f = 0; f < 10; f++)
            see(&o, circling, f * step, f > 0 ? step : 0, state);
        see(&o, circling, 2, cuts[i], state);
        assert_at_rest(state);
        see(&o, circling, 2 + step, step, state);
        assert_true(state[ex_state_start(FRAMES, EX_STATE_VELOCITY)] != 0);
    }
    close_observer(&o);
}

static void no_history_stands_still(void **context) {
    (void)context;
    observer o = open_observer();
    float matrices[FRAMES * 12], state[LENGTH];
    for (int f = 0; f < 5; f++) {
        place(circling, f * step, 0, NULL, matrices);
        ex_predictor_observe(o.predictor, matrices, NULL, step, NULL, state);
        assert_at_rest(state);
    }
    close_observer(&o);
}

/* A teleported driver stands still, and then moves as one that began there, to the last bit. */
static void teleports_begin_anew(void **context) {
    (void)context;
    observer o = open_observer(), fresh = open_observer();
    float matrices[FRAMES * 12], states[2][LENGTH];
    const double near[3] = {0.9 * fastest * step, 0, 0}, far[3] = {1.1 * fastest * step, 0, 0};
    for (int f = 0; f < 10; f++)
        see(&o, standing, f * step, f > 0 ? step : 0, states[0]);
    place(standing, 0, 0, near, matrices);
    ex_predictor_observe(o.predictor, matrices, NULL, step, o.history, states[0]);
    assert_near((double)states[0][ex_state_start(FRAMES, EX_STATE_VELOCITY)], 0.9 * fastest, 1e-3);
    for (int f = 0; f < 10; f++) {
        const double by[3] = {near[0] + far[0], 0, 0};
        place(circling, f * step, 0, by, matrices);
        ex_predictor_observe(o.predictor, matrices, NULL, step, o.history, states[0]);
        ex_predictor_observe(fresh.predictor, matrices, NULL, f > 0 ? step : 0, fresh.history, states[1]);
        assert_memory_equal(states[0], states[1], sizeof states[0]);
        if (f == 0)
            assert_at_rest(states[0]);
    }
    close_observer(&o);
    close_observer(&fresh);
}

/* Rounding errors of a driver far away are no teleports, however short the time. */
static void short_times_are_no_cuts(void **context) {
    (void)context;
    observer o = open_observer();
    float matrices[FRAMES * 12], state[LENGTH];
    for (int f = 0; f < 20; f++) {
        const double by[3] = {50 + f * step, 0, 0}, beside[3] = {50 + f * step + 1e-4, 0, 0};
        place(standing, 0, 0, by, matrices);
        ex_predictor_observe(o.predictor, matrices, NULL, f > 0 ? step : 0, o.history, state);
        place(standing, 0, 0, beside, matrices);
        ex_predictor_observe(o.predictor, matrices, NULL, 1e-9, o.history, state);
        if (f > 2)
            assert_near((double)state[ex_state_start(FRAMES, EX_STATE_VELOCITY)], 1, 0.01);
    }
    close_observer(&o);
}

static void sizes_are_passed_on(void **context) {
    (void)context;
    observer o = open_observer();
    const float sizes[FRAMES] = {0.5F, 2, NAN};
    float matrices[FRAMES * 12], state[LENGTH];
    place(standing, 0, 0, NULL, matrices);
    ex_predictor_observe(o.predictor, matrices, sizes, 0, o.history, state);
    assert_true(state[63] == 0.5F && state[64] == 2 && state[65] == 0);
    close_observer(&o);
}

/* ---- what no caller should pass ---- */

static void assert_finite(const float *state) {
    for (int i = 0; i < LENGTH; i++)
        assert_true(isfinite(state[i]));
}

/* After ten frames, all is as if the history had been empty. */
static void random_bytes_do_no_harm(void **context) {
    (void)context;
    observer o = open_observer(), fresh = open_observer();
    uint64_t random = 3;
    for (int round = 0; round < 400; round++) {
        float states[2][LENGTH];
        for (size_t i = 0; i < o.size; i++)
            ((unsigned char *)o.history)[i] = (unsigned char)random_bits(&random);
        if (round % 2) { /* a head that looks sound */
            const double clock = random_between(&random, 0, 100);
            const uint32_t slots[2] = {(uint32_t)(random_bits(&random) % 41), (uint32_t)(random_bits(&random) % 40)};
            memcpy(o.history, &clock, sizeof clock);
            memcpy((char *)o.history + 8, slots, sizeof slots);
            memcpy((char *)o.history + 16 + 8 * slots[1], &clock, sizeof clock);
        }
        memset(fresh.history, 0, fresh.size);
        for (int f = 0; f < 10; f++) {
            see(&o, circling, f * step, step, states[0]);
            see(&fresh, circling, f * step, step, states[1]);
            assert_finite(states[0]);
        }
        for (int i = 0; i < LENGTH; i++)
            assert_near((double)states[0][i], (double)states[1][i], 1e-2);
    }
    close_observer(&o);
    close_observer(&fresh);
}

static void wild_matrices_do_no_harm(void **context) {
    (void)context;
    static const float wild[] = {NAN, INFINITY, -INFINITY, 3e38F, -3e38F, 1e19F, 0, 1};
    observer o = open_observer(), fresh = open_observer();
    uint64_t random = 4;
    float matrices[FRAMES * 12], states[2][LENGTH];
    for (int round = 0; round < 300; round++) {
        for (int i = 0; i < FRAMES * 12; i++)
            matrices[i] = wild[random_bits(&random) % 8];
        ex_predictor_observe(o.predictor, matrices, NULL, step, o.history, states[0]);
        assert_finite(states[0]);
    }
    for (int f = 0; f < 10; f++) {
        see(&o, circling, f * step, step, states[0]);
        see(&fresh, circling, f * step, step, states[1]);
        assert_finite(states[0]);
    }
    assert_memory_equal(states[0], states[1], sizeof states[0]);
    close_observer(&o);
    close_observer(&fresh);
}

/* The past before a cut leaves no trace. */
static void equal_motions_give_equal_bytes(void **context) {
    (void)context;
    observer o = open_observer(), other = open_observer();
    uint64_t random = 5;
    float states[2][LENGTH];
    for (int f = 0; f < 77; f++)
        see(&other, turning, f * 0.013, 0.013, states[0]);
    double t = 0, elapsed = 0;
    for (int f = 0; f < 500; f++, t += elapsed) {
        see(&o, circling, t, elapsed, states[0]);
        see(&other, circling, t, elapsed, states[1]);
        assert_memory_equal(states[0], states[1], sizeof states[0]);
        elapsed = random_between(&random, 1e-4, 0.06);
    }
    close_observer(&o);
    close_observer(&other);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_frame_rate_gives_the_same_state),
        cmocka_unit_test(uneven_times_give_the_same_state),
        cmocka_unit_test(dropped_frames_keep_the_velocity),
        cmocka_unit_test(the_place_in_the_world_is_no_matter),
        cmocka_unit_test(the_first_frames_of_a_motion),
        cmocka_unit_test(cuts_begin_anew),
        cmocka_unit_test(no_history_stands_still),
        cmocka_unit_test(teleports_begin_anew),
        cmocka_unit_test(short_times_are_no_cuts),
        cmocka_unit_test(sizes_are_passed_on),
        cmocka_unit_test(random_bytes_do_no_harm),
        cmocka_unit_test(wild_matrices_do_no_harm),
        cmocka_unit_test(equal_motions_give_equal_bytes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

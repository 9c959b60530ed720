/*
 * A trial of motion capture (41 markers, walking): distance of its markers from those of the fitted skeleton, also of
 * those left out of the fit; and agreement of the bones found from its two halves. Every sixth frame, to be quick.
 */
#include "support/check.h"
#include "support/skip.h"

#include <exemplar/author.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { STRIDE = 6, FRAMES = 14 };

static ex_markers *trial;

/* Reads the trial once; skips the case if it is missing. */
static void need_trial(void) {
    if (trial)
        return;
    ex_error error = {0};
    if (ex_markers_read(need_data("mocap/c3d/02_01.c3d"), &trial, &error) != EX_OK)
        fail_msg("%s", error.text);
    const size_t row = 3 * (size_t)trial->marker_count;
    trial->frame_count = (trial->frame_count + STRIDE - 1) / STRIDE;
    for (int f = 0; f < trial->frame_count; f++)
        memmove(trial->positions + (size_t)f * row, trial->positions + (size_t)(f * STRIDE) * row,
                row * sizeof *trial->positions);
    trial->rate /= STRIDE;
}

static int tear_down(void **state) {
    (void)state;
    ex_markers_destroy(trial);
    return 0;
}

static ex_capture *fit(const ex_markers *markers, const bool *left_out) {
    const ex_capture_options options = {.frames = FRAMES, .left_out = left_out};
    ex_capture *capture = NULL;
    ex_error error = {0};
    if (ex_capture_fit(markers, &options, &capture, &error) != EX_OK)
        fail_msg("%s", error.text);
    return capture;
}

/* The distance between a joint and its parent, at rest. */
static double bone(const ex_kinematics *kinematics, const char *from, const char *to) {
    const int top = ex_kinematics_find_joint(kinematics, from);
    double sum[3] = {0};
    for (int j = ex_kinematics_find_joint(kinematics, to); j != top; j = kinematics->joints[j].parent)
        for (int i = 0; i < 3; i++)
            sum[i] += kinematics->joints[j].translation[i];
    return sqrt(sum[0] * sum[0] + sum[1] * sum[1] + sum[2] * sum[2]);
}

static void near_its_markers(void **state) {
    (void)state;
    need_trial();
    ex_capture *capture = fit(trial, NULL);
    assert_true(capture->error < 0.005); /* goal: 0.02 */
    assert_int_equal(capture->sighting_count, trial->marker_count * trial->frame_count);
    for (int m = 0; m < trial->marker_count; m++)
        assert_string_equal(capture->kinematics->sites[capture->sites[m]].name, trial->names[m]);
    assert_int_equal(capture->open_count, 0);
    /* Lengths of the database's own skeleton of this person, except for the middles of joints. */
    assert_near(bone(capture->kinematics, "hip.L", "knee.L"), 0.428, 0.02);
    assert_near(bone(capture->kinematics, "knee.R", "ankle.R"), 0.41, 0.025);
    assert_near(bone(capture->kinematics, "shoulder.L", "elbow.L"), 0.279, 0.025);
    /* Knees bend forwards, elbows backwards, and nobody walks on the head. */
    const int knee = ex_kinematics_find_joint(capture->kinematics, "knee.L");
    for (int f = 0; f < capture->frame_count; f++) {
        const ex_kin_pose *pose = &capture->poses[f];
        const double angle = ex_kin_angle(&capture->kinematics->joints[knee], pose->rotations[knee]);
        assert_true(angle > -15 && angle < 90);
        assert_near(pose->translation[1], 0.93, 0.1);
    }
    ex_capture_destroy(capture);
}

static void halves_agree(void **state) {
    (void)state;
    static const char *const bones[][2] = {{"hip.L", "knee.L"},       {"knee.L", "ankle.L"}, {"shoulder.L", "elbow.L"},
                                           {"elbow.L", "wrist.L"},    {"hip.R", "knee.R"},   {"knee.R", "ankle.R"},
                                           {"shoulder.R", "elbow.R"}, {"elbow.R", "wrist.R"}};
    need_trial();
    ex_capture *halves[2];
    for (int h = 0; h < 2; h++) {
        ex_markers half = *trial;
        half.frame_count = trial->frame_count / 2;
        half.positions += h * 3 * (trial->frame_count - half.frame_count) * trial->marker_count;
        halves[h] = fit(&half, NULL);
    }
    for (size_t i = 0; i < sizeof bones / sizeof *bones; i++)
        assert_near(bone(halves[0]->kinematics, bones[i][0], bones[i][1]),
                    bone(halves[1]->kinematics, bones[i][0], bones[i][1]), 0.015);
    ex_capture_destroy(halves[0]);
    ex_capture_destroy(halves[1]);
}

static void rotate(const double q[4], const double v[3], double out[3]) {
    double t[3];
    for (int i = 0; i < 3; i++)
        t[i] = 2 * (q[(i + 1) % 3] * v[(i + 2) % 3] - q[(i + 2) % 3] * v[(i + 1) % 3]);
    for (int i = 0; i < 3; i++)
        out[i] = v[i] + q[3] * t[i] + q[(i + 1) % 3] * t[(i + 2) % 3] - q[(i + 2) % 3] * t[(i + 1) % 3];
}

/* RMS distance of a marker that the fit did not use: every third frame gives its place on its bone, which predicts it
 * in the others. */
static double predict(const ex_capture *capture, int marker, int joint) {
    double rotations[64][4], places[64][3], local[3] = {0}, sum = 0;
    int counts[2] = {0};
    assert_true(capture->kinematics->joint_count <= 64);
    for (int pass = 0; pass < 2; pass++)
        for (int f = 0; f < trial->frame_count; f++) {
            if ((f % 3 == 0) != (pass == 0))
                continue;
            const float *seen = trial->positions + 3 * (f * trial->marker_count + marker);
            ex_kin_frames(capture->kinematics, &capture->poses[f], rotations, places);
            const double *q = rotations[joint], back[4] = {-q[0], -q[1], -q[2], q[3]};
            double at[3], turned[3];
            for (int i = 0; i < 3; i++)
                at[i] = (double)seen[i] - places[joint][i];
            rotate(back, at, turned);
            for (int i = 0; i < 3; i++)
                if (pass == 0)
                    local[i] += turned[i];
                else
                    sum += (turned[i] - local[i] / counts[0]) * (turned[i] - local[i] / counts[0]);
            counts[pass]++;
        }
    return sqrt(sum / counts[1]);
}

static void left_out(void **state) {
    (void)state;
    static const char *const groups[] = {"LUPA RKNE T10 RTOE LFHD RWRB", "RUPA LMT5 LWRB RFWT CLAV"};
    ex_kinematics *full = NULL;
    need_trial();
    assert_int_equal(ex_kinematics_read("full", &full, NULL), EX_OK);
    for (size_t g = 0; g < sizeof groups / sizeof *groups; g++) {
        bool *hidden = calloc((size_t)trial->marker_count, sizeof *hidden);
        assert_non_null(hidden);
        for (int m = 0; m < trial->marker_count; m++)
            hidden[m] = strstr(groups[g], trial->names[m]) != NULL;
        ex_capture *capture = fit(trial, hidden);
        for (int m = 0; m < trial->marker_count; m++) {
            assert_true((capture->sites[m] < 0) == hidden[m]);
            if (!hidden[m])
                continue;
            const int site = ex_kinematics_find_site(full, trial->names[m]);
            const double off = predict(capture, m, full->sites[site].joint);
            if (!(off < 0.04))
                fail_msg("%s is off by %g mm", trial->names[m], 1000 * off);
        }
        ex_capture_destroy(capture);
        free(hidden);
    }
    ex_kinematics_destroy(full);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(near_its_markers),
        cmocka_unit_test(halves_agree),
        cmocka_unit_test(left_out),
    };
    return cmocka_run_group_tests(tests, NULL, tear_down);
}

/*
 * Motion capture of a small synthetic skeleton: names of markers, bones and poses found in spite of gaps, the results
 * as a clip and as a fit, and errors.
 */
#define _XOPEN_SOURCE 700

#include "author/scan/capture/capture.h"
#include "support/check.h"
#include "support/fail_alloc.h"

#include <exemplar/author.h>

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* ---- names ---- */

static void names(void **state) {
    (void)state;
    static const struct {
        const char *marker, *site;
    } cases[] = {
        {"LFHD", "LFHD"},      {"l_fhd", "LFHD"},      {"LASI", "LFWT"},   {"R.ASIS", "RFWT"}, {"LeftPSIS", "LBWT"},
        {"PSIS_R", "RBWT"},    {"RTIB", "RSHN"},       {"L.Heel", "LHEE"}, {"C7", "C7"},       {"STERNUM", "STRN"},
        {"RBAK", "RBAC"},      {"Right Knee", "RKNE"}, {"LFRA", "LFRM"},   {"LMT2", "LTOE"},   {"IJ", "CLAV"},
        {"L.Hip", NULL},       {"*27", NULL},          {"L", NULL},        {"RFT1", NULL},     {"R.Ankle", "RANK"},
        {"LSHOULDER", "LSHO"},
    };
    enum { COUNT = (int)(sizeof cases / sizeof *cases) };
    char *texts[COUNT];
    int sites[COUNT], matched = 0;
    ex_kinematics *full = NULL;
    assert_int_equal(ex_kinematics_read("full", &full, NULL), EX_OK);
    for (int i = 0; i < COUNT; i++)
        texts[i] = strdup(cases[i].marker);
    texts[1][0] = 'R'; /* r_fhd, otherwise LFHD would occur twice */
    const ex_markers markers = {.marker_count = COUNT, .names = texts};
    const int count = ex_capture_match(full, &markers, sites);
    for (int i = 0; i < COUNT; i++) {
        const char *expected = i == 1 ? "RFHD" : cases[i].site;
        if (!expected ? sites[i] >= 0 : sites[i] < 0 || strcmp(full->sites[sites[i]].name, expected) != 0)
            fail_msg("%s is taken as %s", texts[i], sites[i] < 0 ? "nothing" : full->sites[sites[i]].name);
        matched += expected != NULL;
        free(texts[i]);
    }
    assert_int_equal(count, matched);
    ex_kinematics_destroy(full);
}

/* ---- a trial ---- */

static const char skeleton[] =
    "{\"exemplar_skeleton\": 1, \"name\": \"bird\", \"joints\": ["
    "{\"name\": \"trunk\", \"joint\": \"base\", \"translation\": [0, 1, 0]},"
    "{\"name\": \"wing\", \"parent\": \"trunk\", \"joint\": \"ball\", \"translation\": [0.2, 0.1, 0]},"
    "{\"name\": \"tip\", \"parent\": \"wing\", \"joint\": \"hinge\", \"translation\": [0.3, 0, 0], \"axis\": [0, 0, 1]}"
    "], \"markers\": ["
    "{\"name\": \"A\", \"joint\": \"trunk\", \"at\": [0.1, 0, 0.1]}, {\"name\": \"B\", \"joint\": \"trunk\", \"at\": "
    "[-0.1, 0, 0.1]}, {\"name\": \"C\", \"joint\": \"trunk\", \"at\": [0, 0.2, -0.1]},"
    "{\"name\": \"D\", \"joint\": \"wing\", \"at\": [0.1, 0.05, 0]}, {\"name\": \"E\", \"joint\": \"wing\", \"at\": "
    "[0.25, 0, 0.05]},"
    "{\"name\": \"F\", \"joint\": \"tip\", \"at\": [0.1, 0, 0]}, {\"name\": \"G\", \"joint\": \"tip\", \"at\": "
    "[0.2, 0, 0.05]}]}";

enum { MARKERS = 8, FRAMES = 10, EMPTY = 7 };
#define SIZE 1.3 /* of the one who moves */

typedef struct trial {
    ex_kinematics *truth;
    ex_kinematics *begin;
    double turns[FRAMES][3][4];
    ex_kin_pose poses[FRAMES];
    char names[MARKERS][8];
    char *name_list[MARKERS];
    float positions[FRAMES][MARKERS][3];
    ex_markers markers;
} trial;

static void turn(double q[4], const double axis[3], double angle) {
    for (int i = 0; i < 4; i++)
        q[i] = i < 3 ? axis[i] * sin(angle / 2) : cos(angle / 2);
}

static void rotate(const double q[4], const double v[3], double out[3]) {
    double t[3];
    for (int i = 0; i < 3; i++)
        t[i] = 2 * (q[(i + 1) % 3] * v[(i + 2) % 3] - q[(i + 2) % 3] * v[(i + 1) % 3]);
    for (int i = 0; i < 3; i++)
        out[i] = v[i] + q[3] * t[i] + q[(i + 1) % 3] * t[(i + 2) % 3] - q[(i + 2) % 3] * t[(i + 1) % 3];
}

static void see(trial *t, int frame) {
    double rotations[3][4], places[3][3];
    ex_kin_frames(t->truth, &t->poses[frame], rotations, places);
    for (int m = 0; m < MARKERS; m++) {
        double at[3] = {frame, 1, 1}; /* the last is not of the skeleton */
        if (m < t->truth->site_count) {
            const ex_site *site = &t->truth->sites[m];
            rotate(rotations[site->joint], site->local, at);
            for (int i = 0; i < 3; i++)
                at[i] += places[site->joint][i];
        }
        const bool hidden = frame == EMPTY || (frame % 5 == 2 && m == 3) || (frame == 4 && m % 2);
        for (int i = 0; i < 3; i++)
            t->positions[frame][m][i] = hidden ? NAN : (float)at[i];
    }
}

/* Another size, and also a longer wing. */
static trial *make_trial(void) {
    trial *t = calloc(1, sizeof *t);
    assert_non_null(t);
    assert_int_equal(ex_kinematics_parse(skeleton, sizeof skeleton - 1, "bird.json", &t->begin, NULL), EX_OK);
    t->truth = ex_kinematics_copy(t->begin);
    assert_non_null(t->truth);
    for (int j = 0; j < 3; j++)
        for (int i = 0; i < 3; i++)
            t->truth->joints[j].translation[i] *= j == 2 ? 1.1 * SIZE : SIZE;
    for (int s = 0; s < t->truth->site_count; s++)
        for (int i = 0; i < 3; i++)
            t->truth->sites[s].local[i] *= SIZE;
    for (int f = 0; f < FRAMES; f++) {
        const double p = 0.4 * f, h = sqrt(0.5);
        turn(t->turns[f][0], (const double[3]){0, 1, 0}, 1 + 0.3 * f);
        turn(t->turns[f][1], (const double[3]){h * sin(1.7 * p), h * cos(1.7 * p), h}, 0.9 * sin(p) - 0.4);
        turn(t->turns[f][2], (const double[3]){0, 0, 1}, 0.8 * cos(p) + 0.5);
        t->poses[f] = (ex_kin_pose){.translation = {0.1 * f, 1.2, 0.3}, .rotations = t->turns[f]};
        see(t, f);
    }
    for (int m = 0; m < MARKERS; m++) {
        snprintf(t->names[m], sizeof t->names[m], "%c", m < 7 ? 'a' + m : 'x');
        t->name_list[m] = t->names[m];
    }
    t->markers = (ex_markers){.marker_count = MARKERS,
                              .names = t->name_list,
                              .frame_count = FRAMES,
                              .first_frame = 11,
                              .rate = 50,
                              .positions = &t->positions[0][0][0]};
    return t;
}

static void destroy(trial *t) {
    ex_kinematics_destroy(t->truth);
    ex_kinematics_destroy(t->begin);
    free(t);
}

/* Shared by several tests. */
static trial *shared;
static ex_capture *capture;

static int set_up(void **state) {
    (void)state;
    shared = make_trial();
    const ex_capture_options options = {.kinematics = shared->begin};
    return ex_capture_fit(&shared->markers, &options, &capture, NULL) == EX_OK ? 0 : -1;
}

static int tear_down(void **state) {
    (void)state;
    ex_capture_destroy(capture);
    destroy(shared);
    return 0;
}

static void finds_it(void **state) {
    (void)state;
    const trial *t = shared;
    assert_near(capture->scale, SIZE, 0.01);
    assert_true(capture->error < 0.001);
    assert_int_equal(capture->sites[0], 0);
    assert_int_equal(capture->sites[7], -1);
    assert_int_equal(capture->kinematics->site_count, 7);
    for (int j = 1; j < 3; j++)
        assert_row_near(capture->kinematics->joints[j].translation, t->truth->joints[j].translation, 3, 0.006);
    double most = 0, sum = 0;
    for (int f = 0; f < FRAMES; f++) {
        for (int m = 0; m < 7; m++)
            sum += isnan(t->positions[f][m][0]) ? 0 : capture->rms[f] * capture->rms[f];
        double found[3][3], places[3][3];
        if (f == EMPTY) {
            assert_true(isnan(capture->rms[f]));
            assert_memory_equal(capture->poses[f].translation, capture->poses[f - 1].translation, 24);
            continue;
        }
        assert_true(capture->rms[f] < 0.002);
        ex_kin_frames(capture->kinematics, &capture->poses[f], NULL, found);
        ex_kin_frames(t->truth, &t->poses[f], NULL, places);
        for (int k = 0; k < 9; k++)
            most = fmax(most, fabs(found[k / 3][k % 3] - places[k / 3][k % 3]));
    }
    assert_true(most < 0.012);
    assert_near(sum, capture->error * capture->error * capture->sighting_count, 1e-12);
}

/* A hinge that is bent far, which was unlikely: it is found nevertheless, and the joint before it hardly moves. */
static void begins_near(void **state) {
    (void)state;
    trial *t = make_trial();
    double seen[7][3], rest[3][4], found[3][4], turns[3][4], places[3][3];
    const bool locked[3] = {false};
    turn(t->turns[3][2], (const double[3]){0, 0, 1}, 2.6);
    see(t, 3);
    for (int s = 0; s < 7; s++)
        for (int i = 0; i < 3; i++)
            seen[s][i] = (double)t->positions[3][s][i];
    for (int j = 0; j < 3; j++)
        turn(rest[j], (const double[3]){1, 0, 0}, 0);
    const ex_kin_pose likely = {.rotations = rest};
    ex_kin_pose pose = {.rotations = found};
    exi_capture_start(t->truth, locked, (const double(*)[3])seen, &likely, &pose, turns, places);
    assert_row_near(pose.translation, t->poses[3].translation, 3, 1e-6);
    for (int j = 0; j < 3; j++) {
        double along = 0;
        for (int i = 0; i < 4; i++)
            along += found[j][i] * t->turns[3][j][i];
        const double degrees = 2 * acos(fmin(1, fabs(along))) * 180 / acos(-1);
        assert_true(degrees < (j == 0 ? 0.01 : 20));
    }
    destroy(t);
}

static void as_clip_and_fit(void **state) {
    (void)state;
    ex_clip *clip = NULL;
    ex_scan_fitted *fitted = NULL;
    assert_int_equal(ex_capture_to_clip(capture, &clip, NULL), EX_OK);
    assert_int_equal(clip->joint_count, 4);
    assert_string_equal(clip->joints[3].name, "tip_end");
    assert_true(clip->joints[3].end && clip->joints[3].parent == 2);
    assert_int_equal(clip->frame_count, FRAMES);
    assert_near(clip->times[5], 0.1, 1e-12);
    for (int f = 0; f < FRAMES; f++)
        for (int j = 0; j < 3; j++) {
            const ex_transform *local = &clip->locals[4 * f + j];
            double along = 0;
            for (int i = 0; i < 4; i++)
                along += (double)local->rotation[i] * capture->poses[f].rotations[j][i];
            assert_near(fabs(along), 1, 1e-6);
            const double *at = j == 0 ? capture->poses[f].translation : capture->kinematics->joints[j].translation;
            for (int i = 0; i < 3; i++)
                assert_near((double)local->translation[i], at[i], 1e-6);
        }
    assert_int_equal(ex_capture_to_fitted(capture, &fitted, NULL), EX_OK);
    assert_int_equal(fitted->scan_count, FRAMES);
    assert_string_equal(fitted->names[3], "frame_14");
    assert_true(fitted->rms[EMPTY] == 0 && fitted->rms[0] == capture->rms[0]);
    assert_memory_equal(fitted->poses[6].rotations, capture->poses[6].rotations, 3 * 4 * sizeof(double));
    ex_scan_fitted_destroy(fitted);
    ex_clip_destroy(clip);
}

static void refuses(void **state) {
    (void)state;
    trial *t = make_trial();
    ex_capture_options options = {.kinematics = t->begin};
    ex_capture *none = NULL;
    ex_error error = {0};
    strcpy(t->names[1], "unlike");
    strcpy(t->names[2], "other");
    assert_int_equal(ex_capture_fit(&t->markers, &options, &none, &error), EX_ERROR_DATA);
    assert_sentence(&error, EX_ERROR_DATA, "5 of the markers (a, unlike, other, d, e, f and 2 more)");
    assert_sentence(&error, EX_ERROR_DATA, "of the skeleton 'bird' (A, B, C, D, E, F and 1 more), but 6 are needed");
    strcpy(t->names[1], "b");
    for (int f = 0; f < FRAMES; f++)
        for (int m = 0; m < MARKERS; m++)
            t->positions[f][m][0] = m != f % 7 ? NAN : t->positions[f][m][0];
    assert_int_equal(ex_capture_fit(&t->markers, &options, &none, &error), EX_ERROR_DATA);
    assert_sentence(&error, EX_ERROR_DATA, "no frame shows more than 1 markers of the skeleton, but a pose needs 4");
    assert_null(none);
    ex_capture_destroy(NULL);
    destroy(t);
}

static ex_result attempt(void *context) {
    trial *t = context;
    const ex_capture_options options = {.kinematics = t->begin, .frames = 2};
    ex_markers markers = t->markers;
    ex_capture *made = NULL;
    ex_clip *clip = NULL;
    ex_scan_fitted *fitted = NULL;
    markers.frame_count = 2;
    ex_result result = ex_capture_fit(&markers, &options, &made, NULL);
    if (result == EX_OK)
        result = ex_capture_to_clip(made, &clip, NULL);
    if (result == EX_OK)
        result = ex_capture_to_fitted(made, &fitted, NULL);
    ex_scan_fitted_destroy(fitted);
    ex_clip_destroy(clip);
    ex_capture_destroy(made);
    return result;
}

static void memory(void **state) {
    (void)state;
    trial *t = make_trial();
    assert_in_range(fail_alloc_sweep(attempt, t), 40, 1000);
    destroy(t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names),           cmocka_unit_test(begins_near), cmocka_unit_test(finds_it),
        cmocka_unit_test(as_clip_and_fit), cmocka_unit_test(refuses),     cmocka_unit_test(memory),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

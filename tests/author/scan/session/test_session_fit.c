/*
 * The fit of a session: labels become sightings, joints that a part does not solve for stay, a skeleton at another
 * place is moved to its markers, and errors in labels are reported.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <exemplar/author/files.h>
#include <exemplar/author/scan.h>

#include "support/check.h"
#include "support/fail_alloc.h"
#include "support/scratch.h"

enum { JOINTS = 3, BONE_SITES = 5, SITES = JOINTS * BONE_SITES, SCANS = 5 };

static const double bones[JOINTS][3] = {{0, 1, 0}, {0.2, 0.25, 0}, {0.3, 0, 0}};
/* Degrees of shoulder and elbow: the elbow about y, the shoulder about z, and in the last scan x. */
static const double turns[SCANS][2] = {{0, 0}, {0, 50}, {0, 100}, {40, 0}, {-30, 20}};
static const char *const names[SCANS] = {"stand", "arm_1", "arm_2", "all_1", "all_2"};

static double locals[SITES][3];

static void write_text(const char *name, const char *text) {
    scratch_write(name, text, strlen(text));
}

/* A skeleton of that size, at that distance. */
static void write_skeleton(double size, double away) {
    char text[900];
    snprintf(text, sizeof text,
             "{\"exemplar_skeleton\": 1, \"name\": \"limb\", \"joints\": ["
             "{\"name\": \"trunk\", \"joint\": \"base\", \"translation\": [%d.0e-3, 1.0, 0]},"
             "{\"name\": \"shoulder\", \"parent\": \"trunk\", \"joint\": \"ball\", \"translation\": [%d.0e-4, %d.0e-4, "
             "0]},"
             "{\"name\": \"elbow\", \"parent\": \"shoulder\", \"joint\": \"hinge\", \"translation\": [%d.0e-4, 0, 0],"
             " \"axis\": [0, 1, 0]}]}",
             (int)(1000 * away), (int)(2000 * size), (int)(2500 * size), (int)(3000 * size));
    write_text("limb.json", text);
}

static void turn(int axis, double degrees, double v[3]) {
    const double a = degrees * 3.14159265358979323846 / 180;
    const int i = (axis + 1) % 3, k = (axis + 2) % 3;
    const double x = cos(a) * v[i] - sin(a) * v[k], y = sin(a) * v[i] + cos(a) * v[k];
    v[i] = x;
    v[k] = y;
}

static void place(int scan, int site, double at[3]) {
    memcpy(at, locals[site], 3 * sizeof *at);
    for (int j = site / BONE_SITES; j >= 0; j--) {
        if (j == 2)
            turn(1, turns[scan][1], at);
        if (j == 1)
            turn(scan == SCANS - 1 ? 0 : 2, turns[scan][0], at);
        for (int c = 0; c < 3; c++)
            at[c] += bones[j][c];
    }
}

static void site_name(int site, char name[8]) {
    snprintf(name, 8, "m_%d", site);
}

/* The scan's labels with that confidence; also: one more line. */
static void write_labels(int scan, double confidence, const char *also) {
    ex_labelled labelled[SITES + 1] = {{0}};
    char texts[SITES + 1][8], path[40];
    ex_error error = {0};
    int count = SITES;
    for (int s = 0; s < SITES; s++) {
        site_name(s, texts[s]);
        labelled[s] = (ex_labelled){.name = texts[s], .confidence = confidence};
        place(scan, s, labelled[s].position);
    }
    if (also) {
        snprintf(texts[SITES], sizeof texts[SITES], "%s", also);
        labelled[count++] = (ex_labelled){.name = texts[SITES], .confidence = 0.1};
    }
    snprintf(path, sizeof path, "labels/%s.csv", names[scan]);
    assert_int_equal(ex_make_directory(scratch_path("labels"), &error), EX_OK);
    if (ex_labels_write(scratch_path(path), labelled, count, &error) != EX_OK)
        fail_msg("%s", error.text);
}

static ex_scan_session *write_session(void) {
    static const char *const joints[JOINTS] = {"trunk", "shoulder", "elbow"};
    char text[2000] = "marker,joint\n";
    uint64_t random = 3;
    ex_scan_session *session = NULL;
    ex_error error = {0};
    for (int s = 0; s < SITES; s++) {
        const double *end = bones[s / BONE_SITES + 1 < JOINTS ? s / BONE_SITES + 1 : JOINTS - 1];
        char name[8];
        site_name(s, name);
        snprintf(text + strlen(text), sizeof text - strlen(text), "%s,%s\n", name, joints[s / BONE_SITES]);
        for (int c = 0; c < 3; c++)
            locals[s][c] = (s % BONE_SITES + 0.5) / BONE_SITES * end[c] + random_between(&random, -0.05, 0.05);
    }
    write_text("markers.csv", text);
    strcpy(text, "{\"exemplar_scan\": 1, \"skeleton\": \"limb.json\", \"markers\": \"markers.csv\", \"reference\": "
                 "\"stand\", \"parts\": ["
                 "{\"name\": \"arm\", \"joints\": [\"elbow\"], \"covers\": [\"elbow\"]},"
                 "{\"name\": \"all\", \"joints\": [\"elbow\"], \"solve\": [\"shoulder\", \"elbow\"], \"covers\": "
                 "[\"elbow\"]}], \"scans\": [");
    for (int i = 0; i < SCANS; i++)
        snprintf(text + strlen(text), sizeof text - strlen(text),
                 "%s{\"name\": \"%s\", \"part\": \"%s\", \"files\": [\"x.ply\"]}", i > 0 ? "," : "", names[i],
                 i < 3 ? "arm" : "all");
    strcat(text, "]}");
    write_text("scan.json", text);
    if (ex_scan_session_read(scratch_path("."), &session, &error) != EX_OK)
        fail_msg("%s", error.text);
    for (int i = 0; i < SCANS; i++)
        write_labels(i, 1, NULL);
    return session;
}

/* Fits, and checks the result against the truth. */
static void check_fit(const ex_scan_session *session) {
    ex_scan_fitted *fitted = NULL;
    ex_kin_fit *fit = NULL;
    ex_error error = {0};
    if (ex_scan_fit(session, NULL, &fitted, &fit, &error) != EX_OK)
        fail_msg("%s", error.text);
    assert_int_equal(fitted->scan_count, SCANS);
    assert_int_equal(fit->scan_count, SCANS);
    for (int j = 1; j < JOINTS; j++) /* along its axis the elbow's place is undetermined */
        for (int c = 0; c < 3; c++) {
            const double off = fitted->kinematics->joints[j].translation[c] - bones[j][c] +
                               (j == 1 ? fitted->kinematics->joints[0].translation[c] - bones[0][c] : 0);
            if (!(j == 2 && c == 1))
                assert_near(off, 0, 1e-3);
        }
    for (int i = 0; i < SCANS; i++) {
        assert_string_equal(fitted->names[i], names[i]);
        assert_near(fitted->rms[i], 0, 1e-3);
        const double elbow = ex_kin_angle(&fitted->kinematics->joints[2], fitted->poses[i].rotations[2]);
        assert_near(elbow, turns[i][1], 0.3);
        const double *q = fitted->poses[i].rotations[1];
        const double half = turns[i][0] * 3.14159265358979323846 / 360;
        assert_near(fabs(q[i == SCANS - 1 ? 0 : 2] * sin(half) + q[3] * cos(half)), 1, 1e-5);
        if (i < 3) /* not solved for, so that it is as in the reference to the last bit */
            assert_row_near(q, ((const double[4]){0, 0, 0, 1}), 4, 0);
    }
    ex_scan_fitted_destroy(fitted);
    ex_kin_fit_destroy(fit);
}

static void test_found(void **state) {
    (void)state;
    write_skeleton(1.05, 0.01);
    ex_scan_session *session = write_session();
    check_fit(session);
    ex_scan_session_destroy(session);
}

/* At another place and too small. */
static void test_brought(void **state) {
    (void)state;
    write_skeleton(0.6, 3);
    ex_scan_session *session = write_session();
    const double before = session->kinematics->joints[0].translation[0];
    check_fit(session);
    assert_near(session->kinematics->joints[0].translation[0], before, 0); /* the session's own is unchanged */
    ex_scan_session_destroy(session);
}

static void refuse(const ex_scan_session *session, ex_result result, const char *word, const char *second) {
    ex_scan_fitted *fitted = (ex_scan_fitted *)&fitted;
    ex_kin_fit *fit = (ex_kin_fit *)&fit;
    ex_error error = {0};
    assert_int_equal(ex_scan_fit(session, NULL, &fitted, &fit, &error), result);
    assert_sentence(&error, result, word);
    assert_sentence(&error, result, second);
    assert_null(fitted);
    assert_null(fit);
}

static void test_labels(void **state) {
    (void)state;
    ex_scan_fitted *fitted = NULL;
    ex_kin_fit *fit = NULL;
    ex_error error = {0};
    write_skeleton(1, 0);
    ex_scan_session *session = write_session();
    /* Uncertain labels are ignored, unless a lower confidence is requested. */
    write_labels(2, 0.6, NULL);
    assert_int_equal(ex_scan_fit(session, NULL, &fitted, &fit, &error), EX_OK);
    assert_int_equal(fitted->scan_count, SCANS - 1);
    assert_string_equal(fitted->names[2], "all_1");
    ex_scan_fitted_destroy(fitted);
    ex_kin_fit_destroy(fit);
    assert_int_equal(ex_scan_fit(session, &(ex_scan_fit_options){.sure = 0.5}, &fitted, &fit, &error), EX_OK);
    assert_int_equal(fitted->scan_count, SCANS);
    ex_scan_fitted_destroy(fitted);
    ex_kin_fit_destroy(fit);
    /* Names that the session does not know, however uncertain. */
    write_labels(2, 1, "m_2x");
    refuse(session, EX_ERROR_DATA, "arm_2.csv", "'m_2x': did you mean 'm_2'");
    write_labels(2, 1, NULL);
    /* Nothing in the reference. */
    write_labels(0, 0.3, NULL);
    refuse(session, EX_ERROR_DATA, "'stand'", "labels/stand.csv");
    assert_int_equal(remove(scratch_path("labels/stand.csv")), 0);
    refuse(session, EX_ERROR_DATA, "'stand'", "by hand");
    ex_scan_session_destroy(session);
}

static ex_result attempt(void *context) {
    ex_scan_fitted *fitted = NULL;
    ex_kin_fit *fit = NULL;
    const ex_result result = ex_scan_fit(context, NULL, &fitted, &fit, NULL);
    ex_scan_fitted_destroy(fitted);
    ex_kin_fit_destroy(fit);
    return result;
}

/* The first allocations, and some of those of the fit itself (which has separate tests). */
static void test_memory(void **state) {
    (void)state;
    write_skeleton(1, 0);
    ex_scan_session *session = write_session();
    for (int n = 1;; n += n < 60 ? 1 : 53) {
        fail_alloc_arm(n);
        const ex_result result = attempt(session);
        const bool reached = fail_alloc_reached();
        fail_alloc_arm(0);
        assert_int_equal(result, reached ? EX_ERROR_MEMORY : EX_OK);
        if (!reached)
            break;
    }
    ex_scan_session_destroy(session);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_found, scratch_set_up, scratch_tear_down),
        cmocka_unit_test_setup_teardown(test_brought, scratch_set_up, scratch_tear_down),
        cmocka_unit_test_setup_teardown(test_labels, scratch_set_up, scratch_tear_down),
        cmocka_unit_test_setup_teardown(test_memory, scratch_set_up, scratch_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

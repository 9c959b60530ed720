/*
 * Finding bones, axes, markers and poses: exactly from exact sightings; within a scanner's needs with noise, missing
 * and false markers and sliding skin; mirrored bodies; locked values stay; undetermined values are named, and errors
 * have sentences.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "author/scan/marked.h"
#include "runtime/base/vector.h"
#include "support/check.h"
#include "support/fail_alloc.h"

#include <string.h>

static ex_kin_fit *fit_scene(const marked_scene *m) {
    ex_kin_fit *fit = NULL;
    ex_error error = {0};
    if (ex_kinematics_fit(&m->def, &fit, &error) != EX_OK)
        fail_msg("%s", error.text);
    return fit;
}

static const marked_options exact = {.scan_count = 18, .arm_sites = 5, .torso_sites = 6, .seed = 3};

static void test_exact(void **state) {
    (void)state;
    marked_scene *m = marked_scene_make(&exact);
    m->scans[0].locked = NULL; /* the reference needs no locks */
    ex_kin_fit *fit = fit_scene(m);
    const marked_errors e = marked_compare(&m->body, fit);
    assert_near(e.worst, 0, 0.1);
    assert_near(e.across, 0, 1e-4);
    assert_near(e.directions, 0, 0.1);
    assert_near(fit->rms, 0, 1e-4);
    assert_int_equal(fit->open_count, 0);
    assert_int_equal(fit->outlier_count, 0);
    for (int i = 0; i < m->def.sighting_count; i++)
        assert_near(fit->errors[i], 0, 1e-3);
    for (int s = 0; s < m->body.site_count; s++) {
        assert_true(fit->kinematics->sites[s].placed);
        if (m->body.joints[s] < 5) /* beyond a hinge, the place along its axis is a convention */
            assert_row_near(fit->kinematics->sites[s].local, m->body.locals[s], 3, 1e-3);
    }
    /* The reference is unchanged, and the kinematics' base is at its place. */
    for (int j = 0; j < MARKED_JOINTS; j++)
        assert_near(fit->poses[0].rotations[j][3], 1, 0);
    assert_row_near(fit->kinematics->joints[0].translation, m->body.bases[0], 3, 0);
    /* 18 scans of 6 unknowns for the base (the reference none) and those of their part; bones, axes, markers. */
    int unknowns = 7 * 3 + 3 * 2 + 3 * m->body.site_count;
    for (int i = 1; i < m->body.scan_count; i++)
        for (int j = 0; j < MARKED_JOINTS; j++)
            unknowns += m->locked[i][j] ? 0 : marked_freedoms[j];
    assert_int_equal(fit->unknown_count, unknowns);
    ex_kin_fit_destroy(fit);
    free(m);
}

/* The translation along a hinge's axis is as small as possible, and 0 here. */
static void test_preference(void **state) {
    (void)state;
    marked_scene *m = marked_scene_make(&exact);
    ex_kin_fit *fit = fit_scene(m);
    for (int j = 5; j < 8; j++)
        assert_near(exi_dot3(fit->kinematics->joints[j].axis, fit->kinematics->joints[j].translation), 0, 5e-4);
    ex_kin_fit_destroy(fit);
    /* Without the preference nothing else is worse. */
    m->def.preference = -1;
    fit = fit_scene(m);
    const marked_errors e = marked_compare(&m->body, fit);
    assert_near(e.worst, 0, 0.1);
    assert_near(e.directions, 0, 0.1);
    ex_kin_fit_destroy(fit);
    free(m);
}

static void test_scanner(void **state) {
    (void)state;
    const marked_options o = {.scan_count = 36,
                              .arm_sites = 8,
                              .torso_sites = 12,
                              .noise = 0.001,
                              .missing = 0.33,
                              .wrong = 0.02,
                              .soft = 0.008,
                              .seed = 2};
    marked_scene *m = marked_scene_make(&o);
    ex_kin_fit *fit = fit_scene(m);
    const marked_errors e = marked_compare(&m->body, fit);
    print_message("angles %.2f degrees RMS, bones %.2f mm, axes %.2f degrees\n", e.angles, 1000 * e.across,
                  e.directions);
    assert_true(e.angles < 1.5);
    assert_true(e.across < 0.003);
    assert_true(e.directions < 2);
    assert_true(fit->rms > 0.001 && fit->rms < 0.004);
    /* Every false marker is clearly different from all that are right. */
    int wrong = 0, found = 0;
    for (int i = 0; i < m->def.sighting_count; i++) {
        const ex_sighting *s = &m->sightings[i];
        const bool is_wrong = m->body.visible[s->scan][s->site] == 2;
        wrong += is_wrong;
        found += is_wrong && fit->errors[i] > 0.02;
        if (!is_wrong && fit->errors[i] > 0.02)
            fail_msg("sighting %d is right, and %.1f mm off", i, 1000 * fit->errors[i]);
    }
    assert_true(wrong > 10);
    assert_int_equal(found, wrong);
    ex_kin_fit_destroy(fit);
    /* Least squares as in the paper cannot reject them. */
    m->def.loss = INFINITY;
    m->def.even = true;
    fit = fit_scene(m);
    assert_true(marked_compare(&m->body, fit).angles > 2 * e.angles);
    ex_kin_fit_destroy(fit);
    free(m);
}

/* Skin that slides far near joints counts less, unless all are to count the same. */
static void test_sliding(void **state) {
    (void)state;
    const marked_options o = {
        .scan_count = 24, .arm_sites = 8, .torso_sites = 8, .noise = 0.001, .soft = 0.025, .seed = 8};
    marked_scene *m = marked_scene_make(&o);
    ex_kin_fit *fit = fit_scene(m);
    const marked_errors weighed = marked_compare(&m->body, fit);
    /* Sites in the middle of bones stay; those at the ends slide. */
    double still = 0, sliding = 0;
    for (int s = 0; s < m->body.site_count; s++) {
        double *most = m->body.along[s] > 0.4 && m->body.along[s] < 0.6 ? &still : &sliding;
        *most = fit->site_sigmas[s] > *most ? fit->site_sigmas[s] : *most;
    }
    assert_true(sliding > 2 * still);
    ex_kin_fit_destroy(fit);
    m->def.even = true;
    fit = fit_scene(m);
    const marked_errors even = marked_compare(&m->body, fit);
    assert_true(weighed.angles < even.angles);
    ex_kin_fit_destroy(fit);
    free(m);
}

/* Scans far from their start: elbows bent by 150 degrees, forearms turned almost over, the body turned around and
 * elsewhere. */
static void test_far(void **state) {
    (void)state;
    marked_scene *m = marked_scene_make(&exact);
    unsigned seed = 1;
    for (int i = 3; i < m->body.scan_count; i += 3) {
        m->body.angles[i][5] = 2.6;
        m->body.angles[i][6] = i % 2 ? 2.9 : -2.9;
        m->body.turns[i][4][3] = -0.2; /* the upper arm turned by 200 degrees about some axis */
        double length = 0;
        for (int k = 0; k < 3; k++)
            length += m->body.turns[i][4][k] * m->body.turns[i][4][k];
        for (int k = 0; k < 3; k++)
            m->body.turns[i][4][k] *= sqrt(0.96 / length);
    }
    marked_see(&m->body, &exact, &seed);
    const double around[4] = {0, 0.966, 0, -0.258};
    for (int i = 1; i < m->body.scan_count; i++)
        for (int s = 0; s < m->body.site_count; s++) {
            double at[3];
            marked_rotate(around, m->body.seen[i][s], at);
            for (int k = 0; k < 3; k++)
                m->body.seen[i][s][k] = at[k] + 3;
        }
    marked_scene_look(m);
    ex_kin_fit *fit = fit_scene(m);
    double worst = 0;
    for (int i = 1; i < m->body.scan_count; i++)
        for (int j = 1; j < MARKED_JOINTS; j++)
            worst = fmax(worst, m->locked[i][j] ? 0 : marked_turn_error(&m->body, fit, i, j));
    assert_near(worst, 0, 0.1);
    ex_kin_fit_destroy(fit);
    free(m);
}

/* Locked values stay to the bit, and the rest is found around them. */
static void test_locks(void **state) {
    (void)state;
    marked_scene *m = marked_scene_make(&exact);
    m->joints[5].lock_axis = true;
    memcpy(m->joints[5].axis, m->body.axes[5], sizeof m->joints[5].axis);
    m->joints[4].lock_translation = true;
    memcpy(m->joints[4].translation, m->body.translations[4], sizeof m->joints[4].translation);
    ex_kin_fit *fit = fit_scene(m);
    assert_memory_equal(fit->kinematics->joints[5].axis, m->joints[5].axis, sizeof m->joints[5].axis);
    assert_memory_equal(fit->kinematics->joints[4].translation, m->joints[4].translation, 24);
    assert_near(marked_compare(&m->body, fit).worst, 0, 0.1);
    /* Only poses, with the result so far. */
    ex_kin_fit_def def = m->def;
    ex_kin_fit *poses = NULL;
    ex_error error = {0};
    def.kinematics = fit->kinematics;
    def.lock_kinematics = def.lock_sites = true;
    assert_int_equal(ex_kinematics_fit(&def, &poses, &error), EX_OK);
    for (int j = 0; j < MARKED_JOINTS; j++)
        assert_memory_equal(poses->kinematics->joints[j].translation, fit->kinematics->joints[j].translation, 24);
    for (int s = 0; s < m->body.site_count; s++)
        assert_memory_equal(poses->kinematics->sites[s].local, fit->kinematics->sites[s].local, 24);
    assert_near(marked_compare(&m->body, poses).worst, 0, 0.1);
    ex_kin_fit_destroy(poses);
    ex_kin_fit_destroy(fit);
    free(m);
}

/* Sightings without weight do not move anything, and are measured. */
static void test_left_out(void **state) {
    (void)state;
    marked_scene *m = marked_scene_make(&exact);
    for (int i = 5; i < m->def.sighting_count; i += 7) {
        m->sightings[i].weight = 0;
        m->sightings[i].position[1] += 0.5;
    }
    ex_kin_fit *fit = fit_scene(m);
    assert_near(marked_compare(&m->body, fit).worst, 0, 0.1);
    for (int i = 0; i < m->def.sighting_count; i++)
        assert_near(fit->errors[i], m->sightings[i].weight > 0 ? 0 : 0.5, 2e-3);
    ex_kin_fit_destroy(fit);
    free(m);
}

/* ---- undetermined values ---- */

static bool named(const ex_kin_fit *fit, int joint, int scan, const char *words) {
    for (int i = 0; i < fit->open_count; i++)
        if (fit->opens[i].joint == joint && fit->opens[i].scan == scan && strstr(fit->opens[i].text, words))
            return true;
    return false;
}

static void test_open(void **state) {
    (void)state;
    marked_options still = exact;
    still.still_clavicle = 1;
    marked_scene *m = marked_scene_make(&still);
    /* The hand has no markers; scan 3 sees one beyond the shoulder; the clavicle never turns. */
    bool first = true;
    for (int i = 0; i < m->body.scan_count; i++)
        for (int s = 0; s < m->body.site_count; s++) {
            if (m->body.joints[s] == 7)
                m->body.visible[i][s] = 0;
            if (i == 3 && m->body.joints[s] > 4) {
                m->body.visible[i][s] = first;
                first = false;
            }
        }
    marked_scene_look(m);
    ex_kin_fit *fit = fit_scene(m);
    assert_true(named(fit, 7, -1, "wrist has no markers in any scan"));
    assert_true(named(fit, 6, 3, "forearm cannot be found in scan scan_3: 0 markers are seen beyond it"));
    assert_true(named(fit, 3, -1, "the centre of clavicle is not determined: it hardly turned"));
    assert_row_near(fit->kinematics->joints[7].translation, m->joints[7].translation, 3, 1e-6);
    assert_row_near(fit->kinematics->joints[3].translation, m->joints[3].translation, 3, 2e-3);
    assert_near(fit->poses[3].rotations[6][3], 1, 1e-9);
    /* The elbow, which one marker shows, is found. */
    assert_false(named(fit, 5, 3, "cannot be found"));
    assert_near(marked_turn_error(&m->body, fit, 3, 5), 0, 3);
    for (int i = 1; i < m->body.scan_count; i++)
        if (i % 3 != 2 && i != 3)
            assert_near(marked_turn_error(&m->body, fit, i, 5), 0, 0.5);
    int sites = 0;
    for (int i = 0; i < fit->open_count; i++)
        sites += fit->opens[i].site >= 0 && m->body.joints[fit->opens[i].site] == 7;
    assert_int_equal(sites, exact.arm_sites);
    ex_kin_fit_destroy(fit);
    free(m);
}

/* A marker that the reference does not show is placed by scans that do, and so is one that it shows falsely. */
static void test_not_in_reference(void **state) {
    (void)state;
    marked_scene *m = marked_scene_make(&exact);
    for (int s = 0; s < m->body.site_count; s += 4)
        m->body.visible[0][s] = 0;
    m->body.seen[0][2][0] += 0.3;
    marked_scene_look(m);
    ex_kin_fit *fit = fit_scene(m);
    assert_near(marked_compare(&m->body, fit).worst, 0, 0.2);
    for (int s = 0; s < m->body.site_count; s += 2)
        if (m->body.joints[s] < 5)
            assert_row_near(fit->kinematics->sites[s].local, m->body.locals[s], 3, 2e-3);
    ex_kin_fit_destroy(fit);
    free(m);
}

/* ---- errors ---- */

static void refuse(marked_scene *m, ex_result expected, const char *word) {
    ex_kin_fit *fit = (ex_kin_fit *)m;
    ex_error error = {0};
    assert_int_equal(ex_kinematics_fit(&m->def, &fit, &error), expected);
    assert_sentence(&error, expected, word);
    assert_null(fit);
}

static int misuses;
static void count_misuse(const char *function, const char *what) {
    assert_string_equal(function, "ex_kinematics_fit");
    assert_non_null(what);
    misuses++;
}

static void test_refused(void **state) {
    (void)state;
    marked_scene *m = marked_scene_make(&exact);
    for (int s = 0; s < m->body.site_count; s++) {
        m->body.visible[4][s] = s >= 20 && s < 26;
        for (int i = 0; i < m->body.scan_count; i++)
            m->body.visible[i][s] = i == 4 || s < 20 || s >= 26 ? m->body.visible[i][s] : 0;
    }
    marked_scene_look(m);
    refuse(m, EX_ERROR_DATA, "scan 'scan_4' has no marker in common with the reference scan 'scan_0'");
    for (int s = 0; s < m->body.site_count; s++)
        m->body.visible[4][s] = s < 2 || (s >= 20 && s < 26);
    marked_scene_look(m);
    refuse(m, EX_ERROR_DATA, "scan 'scan_4' has 2 markers in common");
    for (int s = 0; s < m->body.site_count; s++)
        m->body.visible[4][s] = s < 1;
    marked_scene_look(m);
    refuse(m, EX_ERROR_DATA, "scan 'scan_4' shows 1 named marker");
    m->sightings[7].position[2] = NAN;
    refuse(m, EX_ERROR_DATA, "scan 'scan_0': the position of marker 'm7' is not finite");
    ex_set_misuse_hook(count_misuse);
    m->sightings[7].site = 9999;
    refuse(m, EX_ERROR_ARGUMENT, "a sighting of no scan");
    m->def.reference = m->def.scan_count;
    refuse(m, EX_ERROR_ARGUMENT, "a reference that is none of them");
    m->joints[3].parent = 6;
    refuse(m, EX_ERROR_ARGUMENT, "parents after their children");
    ex_set_misuse_hook(NULL);
    assert_int_equal(misuses, 3);
    free(m);
}

static ex_result attempt(void *context) {
    const marked_scene *m = context;
    ex_kin_fit *fit = NULL;
    ex_error error = {0};
    const ex_result result = ex_kinematics_fit(&m->def, &fit, &error);
    ex_kin_fit_destroy(fit);
    return result;
}

static void test_memory(void **state) {
    (void)state;
    const marked_options small = {.scan_count = 4, .arm_sites = 3, .torso_sites = 3, .seed = 4};
    marked_scene *m = marked_scene_make(&small);
    for (int s = 0; s < m->body.site_count; s++) /* so that something is undetermined */
        m->body.visible[2][s] = m->body.joints[s] < 6;
    marked_scene_look(m);
    m->def.iterations = 1;
    assert_true(fail_alloc_sweep(attempt, m) > 80);
    free(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_exact),    cmocka_unit_test(test_preference), cmocka_unit_test(test_scanner),
        cmocka_unit_test(test_sliding),  cmocka_unit_test(test_far),        cmocka_unit_test(test_locks),
        cmocka_unit_test(test_left_out), cmocka_unit_test(test_open),       cmocka_unit_test(test_not_in_reference),
        cmocka_unit_test(test_refused),  cmocka_unit_test(test_memory)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

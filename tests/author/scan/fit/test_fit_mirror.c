/*
 * Bodies with two sides, which share bones and axes: a reference that is tilted and elsewhere, motion capture without
 * any reference, and sides that only one scan shows.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "author/scan/fit/fit.h"
#include "runtime/base/vector.h"
#include "support/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SCANS = 10, JOINTS = 13, SITES = 5 * JOINTS };

/* The upper body, its bones changed, painted and posed; and a plausible start. */
typedef struct sides {
    ex_kinematics *truth, *guess;
    double turns[SCANS][JOINTS][4];
    ex_kin_pose poses[SCANS];
    ex_kin_scan scans[SCANS];
    ex_sighting sightings[SCANS * SITES];
    ex_kin_fit_def def;
} sides;

static void paint(ex_kinematics *k, uint64_t *seed) {
    free(k->sites);
    k->site_count = SITES;
    k->sites = calloc(SITES, sizeof *k->sites);
    assert_non_null(k->sites);
    for (int s = 0; s < SITES; s++) {
        const int j = s / 5;
        k->sites[s].joint = j;
        k->sites[s].name = calloc(1, 8);
        for (int i = 0; i < 3; i++)
            k->sites[s].local[i] = random_between(seed, -0.08, 0.08);
        if (j > 3 && j != 8) /* along the arm */
            k->sites[s].local[0] = (j < 9 ? 1 : -1) * random_between(seed, 0, 0.2);
    }
}

static void open_sides(sides *d, bool mirrored) {
    uint64_t seed = 21;
    ex_error error = {0};
    memset(d, 0, sizeof *d);
    assert_int_equal(ex_kinematics_read("upper", &d->truth, &error), EX_OK);
    paint(d->truth, &seed);
    d->guess = ex_kinematics_copy(d->truth);
    assert_non_null(d->guess);
    for (int j = 1; j < JOINTS; j++) {
        ex_kin_joint *joint = &d->truth->joints[j];
        for (int i = 0; i < 3; i++) {
            if (j > 2 || i > 0) /* the spine stays in the middle */
                joint->translation[i] += random_between(&seed, -0.02, 0.02);
            joint->axis[i] += random_between(&seed, -0.15, 0.15);
        }
        exi_normalise(joint->axis, 3);
        const double along = joint->freedom == EX_FREEDOM_HINGE ? exi_dot3(joint->axis, joint->translation) : 0;
        for (int i = 0; i < 3; i++)
            joint->translation[i] -= along * joint->axis[i];
        if (!mirrored)
            d->guess->joints[j].mirror = -1;
    }
    exi_kinematics_mirror(d->truth);
    for (int i = 0; i < SCANS; i++) {
        for (int j = 0; j < JOINTS; j++) {
            const ex_kin_joint *joint = &d->truth->joints[j];
            const double angle = i == 0 ? 0 : random_between(&seed, -0.2, 1.2);
            double w[3];
            for (int c = 0; c < 3; c++)
                w[c] = joint->freedom == EX_FREEDOM_HINGE ? angle * joint->axis[c]
                       : i == 0                           ? 0
                                                          : random_between(&seed, -0.5, 0.5);
            exi_fit_turn(w, d->turns[i][j]);
        }
        d->poses[i] = (ex_kin_pose){.translation = {0, 0.95, 0}, .rotations = d->turns[i]};
        d->scans[i].name = "s";
    }
    d->def = (ex_kin_fit_def){.kinematics = d->guess,
                              .free_bones = true,
                              .scan_count = SCANS,
                              .scans = d->scans,
                              .sightings = d->sightings,
                              .sighting_count = SCANS * SITES,
                              .rigid = true};
}

static void look(sides *d) {
    for (int i = 0; i < SCANS; i++) {
        double rotations[JOINTS][4], places[JOINTS][3];
        ex_kin_frames(d->truth, &d->poses[i], rotations, places);
        for (int s = 0; s < SITES; s++) {
            ex_sighting *g = &d->sightings[SITES * i + s];
            const int j = d->truth->sites[s].joint;
            *g = (ex_sighting){.scan = i, .site = s, .weight = 1};
            exi_rotate(rotations[j], d->truth->sites[s].local, g->position);
            for (int c = 0; c < 3; c++)
                g->position[c] += places[j][c];
        }
    }
}

static void close_sides(sides *d) {
    ex_kinematics_destroy(d->truth);
    ex_kinematics_destroy(d->guess);
}

static ex_kin_fit *fit_sides(const sides *d) {
    ex_kin_fit *fit = NULL;
    ex_error error = {0};
    if (ex_kinematics_fit(&d->def, &fit, &error) != EX_OK)
        fail_msg("%s", error.text);
    return fit;
}

static double angle_between(const double a[4], const double b[4]) {
    const double dot = fabs(a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3]);
    return 2 * acos(dot < 1 ? dot : 1) * (180 / 3.14159265358979);
}

/* The body is tilted in the reference; the symmetry of its sides determines by how much. */
static void test_askew(void **state) {
    (void)state;
    static sides d;
    open_sides(&d, true);
    const double w[3] = {0, 0.08, 0};
    exi_fit_turn(w, d.turns[0][0]);
    look(&d);
    ex_kin_fit *fit = fit_sides(&d);
    assert_near(angle_between(fit->poses[0].rotations[0], d.turns[0][0]), 0, 0.1);
    for (int j = 3; j < JOINTS; j++) {
        const ex_kin_joint *left = &fit->kinematics->joints[j < 8 ? j : j - 5], *own = &fit->kinematics->joints[j];
        assert_near(own->translation[0], (j < 8 ? 1 : -1) * left->translation[0], 0);
        assert_row_near(own->translation + 1, left->translation + 1, 2, 0);
        if (own->freedom == EX_FREEDOM_HINGE)
            assert_true(exi_dot3(own->axis, d.truth->joints[j].axis) > cos(0.2 * 3.14159 / 180));
        if (j != 3 && j != 8) /* the first bone of an arm begins in a spine whose height is undetermined */
            assert_row_near(own->translation, d.truth->joints[j].translation, 3, 1e-3);
    }
    for (int i = 1; i < SCANS; i++)
        for (int j = 1; j < JOINTS; j++)
            assert_near(angle_between(fit->poses[i].rotations[j], d.turns[i][j]), 0, 0.3);
    assert_int_equal(fit->unknown_count, SCANS * (6 + 6 * 3 + 6) - (6 * 3 + 6) + 7 * 3 + 3 * 2 + 3 * SITES);
    ex_kin_fit_destroy(fit);
    close_sides(&d);
}

/* The reference is metres away from the skeleton, and only the joints of sites are known. */
static void test_elsewhere(void **state) {
    (void)state;
    static sides d;
    open_sides(&d, false);
    for (int i = 0; i < SCANS; i++) {
        d.poses[i].translation[0] += 4;
        d.poses[i].translation[2] -= 2;
    }
    look(&d);
    ex_kin_fit *fit = fit_sides(&d);
    assert_near(fit->rms, 0, 1e-3);
    assert_near(fit->poses[0].translation[0], 4, 0.2);
    for (int i = 1; i < SCANS; i++)
        for (int j = 1; j < JOINTS; j++)
            assert_near(angle_between(fit->poses[i].rotations[j], d.turns[i][j]), 0, 0.5);
    ex_kin_fit_destroy(fit);
    close_sides(&d);
}

/* Motion capture: no reference, sites roughly known. Angles and bones are then relative to the skeleton's; predictions
 * are right. */
static void test_capture(void **state) {
    (void)state;
    static sides d;
    uint64_t seed = 4;
    open_sides(&d, true);
    look(&d);
    for (int s = 0; s < SITES; s++) {
        d.guess->sites[s].placed = true;
        for (int i = 0; i < 3; i++)
            d.guess->sites[s].local[i] = d.truth->sites[s].local[i] + random_between(&seed, -0.02, 0.02);
    }
    for (int i = 3; i < SCANS * SITES; i += 17)
        d.sightings[i].weight = 0;
    d.def.reference = -1;
    for (int s = 2; s < SITES; s++) /* a frame that shows almost nothing */
        d.sightings[SITES * 5 + s].weight = 0;
    ex_kin_fit *fit = fit_sides(&d);
    assert_near(fit->rms, 0, 3e-3);
    for (int i = 0; i < SCANS * SITES; i++)
        if (d.sightings[i].scan != 5)
            assert_near(fit->errors[i], 0, 0.015);
    for (int j = 4; j < 8; j++) {
        double length[2] = {0};
        for (int c = 0; c < 3; c++) {
            length[0] += pow(fit->kinematics->joints[j].translation[c], 2);
            length[1] += pow(d.truth->joints[j].translation[c], 2);
        }
        assert_near(sqrt(length[0]), sqrt(length[1]), 0.01);
    }
    bool told = false;
    for (int i = 0; i < fit->open_count; i++)
        told = told || (fit->opens[i].scan == 5 && fit->opens[i].joint < 0 && strstr(fit->opens[i].text, "too few"));
    assert_true(told);
    ex_kin_fit_destroy(fit);
    close_sides(&d);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_askew), cmocka_unit_test(test_elsewhere),
                                       cmocka_unit_test(test_capture)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * Skin near joints that follows two bones: if it does, by the formula at the top of fit_skin.c (implemented here again,
 * with matrices), the fit with shares is several times better than the rigid one; if it does not, the fit is hardly
 * worse.
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

#include <exemplar/author/kinematics.h>

#include "support/check.h"
#include "support/fail_alloc.h"

#define DEGREES (180 / 3.14159265358979323846)

enum { JOINTS = 3, BONE_SITES = 10, SITES = JOINTS * BONE_SITES, SCANS = 12 };

/* A trunk, an upper arm on a ball joint, and a forearm on a hinge. */
static const double bones[JOINTS][3] = {{0, 1, 0}, {0.2, 0.25, 0}, {0.3, 0, 0}}, axis[3] = {0, 0.6, -0.8};

typedef struct skin_case {
    ex_kin_joint joints[JOINTS];
    ex_site sites[SITES];
    char names[SITES][8];
    ex_kinematics kinematics;
    double locals[SITES][3], shares[SITES][2];
    ex_kin_scan scans[SCANS];
    double turns[SCANS][JOINTS][3]; /* rotation vectors */
    bool false_ones[SCANS * SITES];
    ex_sighting sightings[SCANS * SITES];
    ex_kin_fit_def def;
} skin_case;

/* ---- the truth ---- */

/* out = exp(part w) v, by Rodrigues' formula. */
static void turn(const double w[3], double part, const double v[3], double out[3]) {
    const double angle = sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
    double n[3] = {0}, along = 0, result[3];
    for (int c = 0; c < 3 && angle > 0; c++)
        n[c] = w[c] / angle;
    for (int c = 0; c < 3; c++)
        along += n[c] * v[c];
    for (int c = 0; c < 3; c++) {
        const int d = (c + 1) % 3, e = (c + 2) % 3;
        result[c] = cos(part * angle) * v[c] + sin(part * angle) * (n[d] * v[e] - n[e] * v[d]) +
                    (1 - cos(part * angle)) * along * n[c];
    }
    memcpy(out, result, sizeof result);
}

/* Down the chain: from the marker to the world. */
static void place(const skin_case *c, int scan, int site, double at[3]) {
    const int j = site / BONE_SITES, below = j + 1 < JOINTS ? j + 1 : -1;
    memcpy(at, c->locals[site], 3 * sizeof *at);
    if (below >= 0) {
        for (int k = 0; k < 3; k++)
            at[k] -= bones[below][k];
        turn(c->turns[scan][below], c->shares[site][1], at, at);
        for (int k = 0; k < 3; k++)
            at[k] += bones[below][k];
    }
    for (int i = j; i >= 0; i--) {
        turn(c->turns[scan][i], i == j ? 1 - c->shares[site][0] : 1, at, at);
        for (int k = 0; k < 3; k++)
            at[k] += bones[i][k];
    }
}

static double normal(uint64_t *random) {
    double sum = 0;
    for (int i = 0; i < 12; i++)
        sum += random_between(random, -0.5, 0.5);
    return sum;
}

/* Markers around the middles of bones, and near joints; follow: the share of those at a joint. */
static void make_sites(skin_case *c, double follow, uint64_t *random) {
    for (int s = 0; s < SITES; s++) {
        const int j = s / BONE_SITES;
        const double t = (s % BONE_SITES) / (double)(BONE_SITES - 1), around = 2.4 * s;
        const double *end = j + 1 < JOINTS ? bones[j + 1] : bones[JOINTS - 1];
        const double above = t < 0.35 ? follow * (1 - t / 0.35) : 0;
        const double below = t > 0.65 ? follow * (t - 0.65) / 0.35 : 0;
        snprintf(c->names[s], sizeof c->names[s], "m%d", s);
        c->sites[s] = (ex_site){.name = c->names[s], .joint = j};
        for (int k = 0; k < 3; k++)
            c->locals[s][k] = t * end[k] +
                              0.05 * (k == 1   ? cos(around)
                                      : k == 2 ? sin(around)
                                               : 0) +
                              random_between(random, -0.01, 0.01);
        c->shares[s][0] = j > 0 ? above : 0;
        c->shares[s][1] = j + 1 < JOINTS ? below : 0;
    }
}

static void make_joints(skin_case *c, uint64_t *random) {
    static char names[JOINTS][8] = {"trunk", "upper", "fore"};
    static const ex_freedom freedoms[JOINTS] = {EX_FREEDOM_BASE, EX_FREEDOM_BALL, EX_FREEDOM_HINGE};
    for (int j = 0; j < JOINTS; j++) {
        c->joints[j] = (ex_kin_joint){.name = names[j], .parent = j - 1, .freedom = freedoms[j], .mirror = -1};
        for (int k = 0; k < 3; k++)
            c->joints[j].translation[k] = bones[j][k] + (j > 0 ? random_between(random, -0.02, 0.02) : 0);
    }
    memcpy(c->joints[2].axis, (const double[3]){0.1, 0.55, -0.8292}, sizeof c->joints[2].axis);
    c->kinematics = (ex_kinematics){
        .name = names[0], .joint_count = JOINTS, .joints = c->joints, .site_count = SITES, .sites = c->sites};
}

static skin_case *make(double follow, double wrong, double noise) {
    skin_case *c = calloc(1, sizeof *c);
    uint64_t random = 11;
    assert_non_null(c);
    make_joints(c, &random);
    make_sites(c, follow, &random);
    for (int i = 0; i < SCANS; i++) {
        c->scans[i] = (ex_kin_scan){.name = "scan"};
        for (int k = 0; k < 3 && i > 0; k++) {
            c->turns[i][0][k] = random_between(&random, -0.3, 0.3);
            c->turns[i][1][k] = random_between(&random, -0.8, 0.8);
        }
        const double angle = i > 0 ? random_between(&random, 0, 1.9) : 0;
        for (int k = 0; k < 3; k++)
            c->turns[i][2][k] = angle * axis[k];
        for (int s = 0; s < SITES; s++) {
            ex_sighting *seen = &c->sightings[i * SITES + s];
            *seen = (ex_sighting){.scan = i, .site = s, .weight = 1};
            place(c, i, s, seen->position);
            c->false_ones[i * SITES + s] = i > 0 && random_between(&random, 0, 1) < wrong;
            for (int k = 0; k < 3; k++) {
                seen->position[k] += noise * normal(&random);
                if (c->false_ones[i * SITES + s])
                    seen->position[k] += random_between(&random, -0.2, 0.2);
            }
        }
    }
    c->def = (ex_kin_fit_def){.kinematics = &c->kinematics,
                              .free_bones = true,
                              .scan_count = SCANS,
                              .scans = c->scans,
                              .sighting_count = SCANS * SITES,
                              .sightings = c->sightings,
                              .even = true};
    return c;
}

/* ---- errors of a fit ---- */

typedef struct errors {
    double angle;     /* degrees, RMS over all joints of all scans */
    double place;     /* metres: of a joint, across the hinge's axis; the largest */
    double direction; /* degrees, of the axis */
} errors;

static errors compare(const skin_case *c, const ex_kin_fit *fit) {
    errors e = {0};
    double dot = 0;
    for (int i = 1; i < SCANS; i++)
        for (int j = 0; j < JOINTS; j++) {
            const double *w = c->turns[i][j], *q = fit->poses[i].rotations[j];
            const double angle = sqrt(w[0] * w[0] + w[1] * w[1] + w[2] * w[2]);
            const double scale = angle > 0 ? sin(angle / 2) / angle : 0;
            double cosine = fabs(scale * (w[0] * q[0] + w[1] * q[1] + w[2] * q[2]) + cos(angle / 2) * q[3]);
            cosine = cosine < 1 ? cosine : 1;
            e.angle += pow(2 * acos(cosine) * DEGREES, 2) / ((SCANS - 1) * JOINTS);
        }
    e.angle = sqrt(e.angle);
    for (int j = 1; j < JOINTS; j++) {
        double off[3], along = 0, square = 0;
        for (int k = 0; k < 3; k++) {
            off[k] = fit->kinematics->joints[j].translation[k] - bones[j][k];
            along += off[k] * axis[k];
        }
        for (int k = 0; k < 3; k++)
            square += pow(off[k] - (j == 2 ? along * axis[k] : 0), 2);
        e.place = sqrt(square) > e.place ? sqrt(square) : e.place;
    }
    for (int k = 0; k < 3; k++)
        dot += fit->kinematics->joints[2].axis[k] * axis[k];
    e.direction = acos(dot < 1 ? dot : 1) * DEGREES;
    return e;
}

static errors fit_case(skin_case *c, bool rigid) {
    ex_kin_fit *fit = NULL;
    ex_error error = {0};
    c->def.rigid = rigid;
    if (ex_kinematics_fit(&c->def, &fit, &error) != EX_OK)
        fail_msg("%s", error.text);
    const errors e = compare(c, fit);
    print_message("%s: angles %.3f degrees, joints %.2f mm, axis %.2f degrees, rms %.2f mm, %d iterations\n",
                  rigid ? "rigid" : "skin", e.angle, 1000 * e.place, e.direction, 1000 * fit->rms,
                  fit->iteration_count);
    ex_kin_fit_destroy(fit);
    return e;
}

static void test_shares(void **state) {
    (void)state;
    skin_case *c = make(0.5, 0, 0.0005);
    const errors rigid = fit_case(c, true), skin = fit_case(c, false);
    assert_true(skin.angle < 0.35);
    assert_true(skin.place < 0.001);
    assert_true(skin.direction < 0.3);
    assert_true(rigid.angle > 4 * skin.angle);
    assert_true(rigid.place > 4 * skin.place);
    free(c);
}

/* Without noise, nearly no error remains. */
static void test_exact(void **state) {
    (void)state;
    skin_case *c = make(0.4, 0, 0);
    const errors skin = fit_case(c, false);
    assert_true(skin.angle < 0.03);
    assert_true(skin.place < 0.0001);
    free(c);
}

static void test_no_shares(void **state) {
    (void)state;
    skin_case *c = make(0, 0, 0.0005);
    const errors rigid = fit_case(c, true), skin = fit_case(c, false);
    assert_true(skin.angle < 1.5 * rigid.angle);
    assert_true(skin.place < 2 * rigid.place);
    assert_true(skin.place < 0.001);
    free(c);
}

static void test_false_ones(void **state) {
    (void)state;
    skin_case *c = make(0.5, 0.03, 0.0005);
    int count = 0;
    for (int i = 0; i < SCANS * SITES; i++)
        count += c->false_ones[i];
    assert_true(count > 4);
    const errors skin = fit_case(c, false);
    assert_true(skin.angle < 0.4);
    assert_true(skin.place < 0.0012);
    free(c);
}

/* Without a reference markers stay at their start, and shares are not fitted. */
static void test_without_reference(void **state) {
    (void)state;
    skin_case *c = make(0.3, 0, 0.0005);
    ex_kin_fit *fits[2] = {NULL, NULL};
    ex_error error = {0};
    c->def.reference = -1;
    for (int s = 0; s < SITES; s++) {
        memcpy(c->sites[s].local, c->locals[s], sizeof c->locals[s]);
        c->sites[s].placed = true;
    }
    for (int i = 0; i < 2; i++) {
        c->def.rigid = i == 1;
        if (ex_kinematics_fit(&c->def, &fits[i], &error) != EX_OK)
            fail_msg("%s", error.text);
    }
    assert_memory_equal(fits[0]->errors, fits[1]->errors, SCANS * SITES * sizeof(double));
    ex_kin_fit_destroy(fits[0]);
    ex_kin_fit_destroy(fits[1]);
    free(c);
}

static void run_backwards(void *user, int count, int grain, ex_task_body body, void *context) {
    (void)user;
    (void)grain;
    for (int i = count - 1; i >= 0; i--)
        body(context, i, i + 1);
}

static void test_same_bytes(void **state) {
    (void)state;
    skin_case *c = make(0.5, 0, 0.0005);
    const ex_tasks backwards = {.run = run_backwards};
    c->def.scan_count = 6;
    c->def.sighting_count = 6 * SITES;
    ex_kin_fit *fits[2] = {NULL, NULL};
    ex_error error = {0};
    for (int i = 0; i < 2; i++) {
        c->def.tasks = i == 1 ? &backwards : NULL;
        if (ex_kinematics_fit(&c->def, &fits[i], &error) != EX_OK)
            fail_msg("%s", error.text);
    }
    assert_memory_equal(fits[0]->errors, fits[1]->errors, 6 * SITES * sizeof(double));
    for (int i = 0; i < 6; i++)
        assert_memory_equal(fits[0]->poses[i].rotations, fits[1]->poses[i].rotations, JOINTS * 4 * sizeof(double));
    /* The reference and the given values are unchanged. */
    for (int j = 0; j < JOINTS; j++)
        assert_row_near(fits[0]->poses[0].rotations[j], ((const double[4]){0, 0, 0, 1}), 4, 0);
    assert_false(c->sites[0].placed);
    assert_null(c->scans[1].start);
    ex_kin_fit_destroy(fits[0]);
    ex_kin_fit_destroy(fits[1]);
    free(c);
}

static ex_result attempt(void *context) {
    ex_kin_fit *fit = NULL;
    const ex_result result = ex_kinematics_fit(context, &fit, NULL);
    ex_kin_fit_destroy(fit);
    return result;
}

/* The first allocations of skin come after all of the rigid fit's: a failed one there must not leave half a result. */
static void test_memory(void **state) {
    (void)state;
    skin_case *c = make(0.5, 0, 0.0005);
    c->def.iterations = 1;
    c->def.scan_count = 2;
    c->def.sighting_count = 2 * SITES;
    c->def.rigid = true;
    const int rigid = fail_alloc_sweep(attempt, &c->def);
    c->def.rigid = false;
    for (int n = rigid + 1; n < rigid + 24; n++) {
        fail_alloc_arm(n);
        const ex_result result = attempt(&c->def);
        const bool reached = fail_alloc_reached();
        fail_alloc_arm(0);
        assert_true(reached);
        assert_int_equal(result, EX_ERROR_MEMORY);
    }
    free(c);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shares),
        cmocka_unit_test(test_exact),
        cmocka_unit_test(test_no_shares),
        cmocka_unit_test(test_false_ones),
        cmocka_unit_test(test_without_reference),
        cmocka_unit_test(test_same_bytes),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

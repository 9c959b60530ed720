/*
 * Figures: girth moves vertices that only one bone moves straight away from it, and a longer bone spreads its rings and
 * carries what is beyond.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <exemplar/author/scan_body.h>

#include "runtime/base/vector.h"
#include "support/check.h"
#include "support/fail_alloc.h"
#include "support/skeletons.h"

typedef struct figure {
    ex_kinematics *kinematics;
    ex_template *made;
    ex_template_dials *dials;
} figure;

static figure open_figure(const char *name) {
    figure f = {0};
    ex_error error = {0};
    if (ex_kinematics_read(name, &f.kinematics, &error) != EX_OK ||
        ex_template_create(f.kinematics, NULL, &f.made, &error) != EX_OK ||
        ex_template_dials_create(f.kinematics, f.made, &f.dials, &error) != EX_OK)
        fail_msg("%s", error.text);
    return f;
}

static void close_figure(figure *f) {
    ex_template_dials_destroy(f->dials);
    ex_template_destroy(f->made);
    ex_kinematics_destroy(f->kinematics);
}

static const ex_template_dial *find(const figure *f, const char *name) {
    for (int i = 0; i < f->dials->count; i++)
        if (strcmp(f->dials->dials[i].name, name) == 0)
            return &f->dials->dials[i];
    fail_msg("no dial '%s'", name);
    return NULL;
}

static double weight_of(const figure *f, int vertex, const char *name) {
    const ex_scene_primitive *p = f->made->scene->meshes[0].primitives;
    const int joint = skeleton_find(f->kinematics, name);
    double sum = 0;
    for (int i = 0; i < p->influence_count; i++)
        if (p->joints[vertex * p->influence_count + i] == joint)
            sum += (double)p->weights[vertex * p->influence_count + i];
    return sum;
}

static void names(void **state) {
    (void)state;
    static const char *const expected[] = {"girth", "waist", "abdomen", "clavicle", "shoulder", "elbow", "wrist"};
    figure f = open_figure("upper");
    assert_int_equal(f.dials->count, 7); /* a forearm's twist has no bone */
    for (int i = 0; i < 7; i++)
        find(&f, expected[i]);
    assert_int_equal(f.dials->dials[0].joint, -1);
    close_figure(&f);
}

/* Upper arms are along x at y 1.42, z -0.03: vertices that only they move go away from there; nothing else moves in
 * x. */
static void girth(void **state) {
    (void)state;
    figure f = open_figure("upper");
    const ex_template_dial *dial = find(&f, "girth");
    int seen = 0;
    for (int v = 0; v < f.made->cage->vertex_count; v++) {
        const double *p = f.made->cage->positions + 3 * v;
        if (weight_of(&f, v, "shoulder.L") < 1 - 1e-6)
            continue;
        assert_row_near(dial->deltas[v], ((double[]){0, p[1] - 1.42, p[2] + 0.03}), 3, 1e-6);
        seen++;
    }
    assert_int_equal(seen, 4);
    for (int j = 0; j < f.kinematics->joint_count; j++)
        assert_row_near(dial->shifts[j], ((double[]){0, 0, 0}), 3, 0);
    close_figure(&f);
}

/* The forearm, along x from 0.46 to 0.72: its ring in the middle goes half as far as the hand, the upper arm stays. */
static void length(void **state) {
    (void)state;
    static const char *const sides[] = {"L", "R"};
    figure f = open_figure("upper");
    const ex_template_dial *dial = find(&f, "wrist");
    for (int side = 0; side < 2; side++) {
        const double sign = side ? -1 : 1;
        char hand[16] = "wrist.", arm[16] = "shoulder.", twist[16] = "forearm.", elbow[16] = "elbow.";
        strcat(hand, sides[side]);
        strcat(arm, sides[side]);
        strcat(twist, sides[side]);
        strcat(elbow, sides[side]);
        assert_row_near(dial->shifts[skeleton_find(f.kinematics, hand)], ((double[]){sign, 0, 0}), 3, 1e-12);
        assert_row_near(dial->shifts[skeleton_find(f.kinematics, twist)], ((double[]){sign * 0.02 / 0.26, 0, 0}), 3,
                        1e-9);
        assert_row_near(dial->shifts[skeleton_find(f.kinematics, elbow)], ((double[]){0, 0, 0}), 3, 0);
        int seen = 0;
        for (int v = 0; v < f.made->cage->vertex_count; v++) {
            const double x = sign * f.made->cage->positions[3 * v];
            if (weight_of(&f, v, hand) > 1 - 1e-6) {
                assert_row_near(dial->deltas[v], ((double[]){sign, 0, 0}), 3, 1e-6);
                seen++;
            } else if (weight_of(&f, v, arm) > 1 - 1e-6) {
                assert_row_near(dial->deltas[v], ((double[]){0, 0, 0}), 3, 0);
                seen++;
            } else if (weight_of(&f, v, twist) > 0.4 && weight_of(&f, v, elbow) > 0.4) {
                assert_row_near(dial->deltas[v], ((double[]){sign * (x - 0.46) / 0.26, 0, 0}), 3, 1e-6);
                seen++;
            }
        }
        assert_int_equal(seen, 12);
    }
    close_figure(&f);
}

/* A longer waist moves everything above; clavicles higher up, both sides at once, move the spine by their mean. */
static void trunk(void **state) {
    (void)state;
    figure f = open_figure("upper");
    const ex_template_dial *abdomen = find(&f, "abdomen"), *clavicle = find(&f, "clavicle");
    double up[3] = {0, 0.15, -0.01}, none[3] = {0};
    assert_true(exi_unit3(up));
    for (int j = 0; j < f.kinematics->joint_count; j++)
        assert_row_near(abdomen->shifts[j], j < 2 ? none : up, 3, 1e-12);
    const int left = skeleton_find(f.kinematics, "shoulder.L"), right = skeleton_find(f.kinematics, "shoulder.R");
    assert_near(clavicle->shifts[left][0], -clavicle->shifts[right][0], 1e-12);
    assert_near(clavicle->shifts[left][0], 0.03 / sqrt(0.03 * 0.03 + 0.2 * 0.2 + 0.02 * 0.02), 1e-9);
    for (int v = 0; v < f.made->cage->vertex_count; v++)
        if (weight_of(&f, v, "abdomen") > 1 - 1e-6) {
            assert_near(clavicle->deltas[v][1] <= 1 + 1e-9, 1, 0);
            assert_near(fabs(clavicle->deltas[v][0]) < 0.16, 1, 0);
        }
    close_figure(&f);
}

static void sides_of_names(void **state) {
    (void)state;
    static const skeleton_joint table[] = {{"Hips", NULL, EX_FREEDOM_BASE, {0, 1, 0}, {0}},
                                           {"Spine", "Hips", EX_FREEDOM_BALL, {0, 1.3, 0}, {0}},
                                           {"LeftArm", "Spine", EX_FREEDOM_BALL, {0.2, 1.5, 0}, {0}},
                                           {"RightArm", "Spine", EX_FREEDOM_BALL, {-0.2, 1.5, 0}, {0}},
                                           {"l_hand", "LeftArm", EX_FREEDOM_BALL, {0.5, 1.5, 0}, {0}},
                                           {"r_hand", "RightArm", EX_FREEDOM_BALL, {-0.5, 1.5, 0}, {0}}};
    figure f = {.kinematics = skeleton_make(table, 6)};
    ex_error error = {0};
    assert_int_equal(ex_template_create(f.kinematics, NULL, &f.made, &error), EX_OK);
    assert_int_equal(ex_template_dials_create(f.kinematics, f.made, &f.dials, &error), EX_OK);
    assert_int_equal(f.dials->count, 4);
    find(&f, "Arm");
    find(&f, "hand");
    ex_template_dials_destroy(f.dials);
    f.kinematics->joint_count--;
    assert_int_equal(ex_template_dials_create(f.kinematics, f.made, &f.dials, &error), EX_ERROR_DATA);
    assert_sentence(&error, EX_ERROR_DATA, "5 joints");
    assert_null(f.dials);
    f.kinematics->joint_count++;
    ex_template_destroy(f.made);
    skeleton_destroy(f.kinematics);
}

static ex_result attempt(void *context) {
    const figure *f = context;
    ex_template_dials *dials = NULL;
    ex_error error = {0};
    const ex_result result = ex_template_dials_create(f->kinematics, f->made, &dials, &error);
    ex_template_dials_destroy(dials);
    return result;
}

static void memory(void **state) {
    (void)state;
    figure f = open_figure("upper");
    assert_true(fail_alloc_sweep(attempt, &f) > 20);
    close_figure(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names), cmocka_unit_test(girth),          cmocka_unit_test(length),
        cmocka_unit_test(trunk), cmocka_unit_test(sides_of_names), cmocka_unit_test(memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

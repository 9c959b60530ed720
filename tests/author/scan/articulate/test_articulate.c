/*
 * Registered meshes of a bent tube whose joints, poses and weights are known: with a disturbed skeleton and without
 * one, with vertices that were not seen, split into tasks; derivatives against differences; the rig against the body;
 * wrong input; failing memory.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "author/scan/articulate/articulation.h"
#include "runtime/base/vector.h"
#include "support/check.h"
#include "support/fail_alloc.h"
#include "support/jointed_tubes.h"

#include <exemplar/author/articulate.h>
#include <exemplar/rig.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- with a skeleton ---- */

static void finds_joints_of_a_disturbed_skeleton(void **state) {
    (void)state;
    jointed_tube t;
    jointed_open(&t, 0);
    jointed_add_skeleton(&t);
    t.joints[1].translation[0] += 0.02; /* in its place, the tip follows */
    t.joints[1].translation[2] += 0.015;
    t.joints[2].translation[1] -= 0.02;
    ex_articulated *body = jointed_articulate(&t.def);
    double places[JOINTS][3];
    for (int b = 0; b < JOINTS; b++)
        for (int i = 0; i < 3; i++)
            places[b][i] = body->kinematics->joints[b].translation[i] + (b > 0 ? places[b - 1][i] : 0);
    for (int b = 1; b < JOINTS; b++) {
        const double error[3] = {places[b][0] - jointed_at[b], places[b][1], places[b][2]};
        assert_true(sqrt(exi_dot3(error, error)) < 0.007); /* disturbed by 20 to 35 mm, in a tube 120 mm wide */
        assert_false(body->open[b]);
    }
    for (int f = 0; f < FORMS; f++) {
        assert_true(body->rms[f] < 0.0015);
        assert_true(fabs(jointed_distance(&t, body, f) - body->rms[f]) < 1e-6); /* floats of weights */
        for (int b = 1; b < JOINTS; b++) {
            double back[4], off[4];
            exi_conjugate(t.turns[f][b], back);
            exi_quaternion_multiply(back, body->poses[f].rotations[b], off);
            assert_true(2 * asin(fmin(1, sqrt(exi_dot3(off, off)))) < 0.03); /* 1.7 degrees */
        }
    }
    ex_articulated_destroy(body);
    jointed_close(&t);
}

/* Forms that the model can make exactly, with everything to find it, stay as they are. */
static void keeps_the_truth(void **state) {
    (void)state;
    jointed_tube t;
    jointed_open(&t, 0);
    jointed_add_skeleton(&t);
    ex_articulated *body = jointed_articulate(&t.def);
    assert_true(body->all_rms < 2e-5);
    for (int v = 0; v < VERTICES; v++) {
        double sum = 0;
        for (int i = 0; i < body->influence_count; i++)
            sum += (double)body->weights[v * body->influence_count + i];
        assert_true(fabs(sum - 1) < 1e-5);
    }
    ex_articulated_destroy(body);
    jointed_close(&t);
}

/* Starting weights with a jump at the joint become the smooth ones that the forms have. */
static void finds_weights(void **state) {
    (void)state;
    jointed_tube t;
    jointed_open(&t, 0);
    jointed_add_skeleton(&t);
    for (int v = 0; v < VERTICES; v++)
        for (int b = 0; b < JOINTS; b++) {
            const double *w = t.weights[v];
            t.start_weights[v][b] = w[b] >= w[(b + 1) % 3] && w[b] > w[(b + 2) % 3] ? 1 : 0;
        }
    for (int v = 0; v < VERTICES; v++) { /* ties */
        float sum = t.start_weights[v][0] + t.start_weights[v][1] + t.start_weights[v][2];
        if (sum != 1) {
            memset(t.start_weights[v], 0, sizeof t.start_weights[v]);
            t.start_weights[v][t.rest[v][0] > 0.6 ? 2 : 1] = 1;
        }
    }
    double before = 0, after = 0;
    ex_articulated *body = jointed_articulate(&t.def);
    for (int v = 0; v < VERTICES; v++)
        for (int b = 0; b < JOINTS; b++) {
            double w = 0;
            for (int i = 0; i < body->influence_count; i++)
                if (body->joints[v * body->influence_count + i] == b)
                    w += (double)body->weights[v * body->influence_count + i];
            before += pow((double)t.start_weights[v][b] - t.weights[v][b], 2);
            after += pow(w - t.weights[v][b], 2);
        }
    assert_true(after < 0.15 * before);
    ex_articulated_destroy(body);

    t.def.lock_weights = true; /* and stay if they must */
    body = jointed_articulate(&t.def);
    for (int v = 0; v < VERTICES; v++)
        assert_true(body->weights[v * body->influence_count] == 1);
    ex_articulated_destroy(body);
    jointed_close(&t);
}

/* Another, larger body as the rest form: bones get the lengths of the forms. */
static void takes_another_person_s_rest_form(void **state) {
    (void)state;
    jointed_tube t;
    jointed_open(&t, 0);
    jointed_add_skeleton(&t);
    double(*other)[3] = malloc(sizeof t.rest);
    for (int v = 0; v < VERTICES; v++) {
        other[v][0] = 1.25 * t.rest[v][0];
        other[v][1] = 1.4 * t.rest[v][1];
        other[v][2] = 1.3 * t.rest[v][2];
    }
    for (int b = 0; b < JOINTS; b++)
        t.joints[b].translation[0] *= 1.25;
    t.def.rest = &other[0][0];
    ex_articulated *body = jointed_articulate(&t.def);
    assert_true(body->all_rms < 0.002);
    for (int b = 1; b < JOINTS; b++) {
        const double *bone = body->kinematics->joints[b].translation;
        assert_true(fabs(sqrt(exi_dot3(bone, bone)) - 0.35) < 0.01);
    }
    ex_articulated_destroy(body);
    free(other);
    jointed_close(&t);
}

static void hinge_keeps_its_axis(void **state) {
    (void)state;
    jointed_tube t;
    jointed_open(&t, 0.02);
    jointed_add_skeleton(&t);
    t.joints[1].freedom = EX_FREEDOM_HINGE;
    t.joints[1].axis[2] = 1;
    for (int f = 0; f < FORMS; f++) {
        jointed_turn(t.turns[f][1], 0, 0, 1, 20.0 * f);
        jointed_pose(&t, f, 0.02, t.forms[f]);
    }
    ex_articulated *body = jointed_articulate(&t.def);
    for (int f = 0; f < FORMS; f++) {
        const double *q = body->poses[f].rotations[1];
        assert_true(2 * hypot(q[0], q[1]) < 0.01);
        assert_true(fabs(ex_kin_angle(&body->kinematics->joints[1], q) -
                         ex_kin_angle(&body->kinematics->joints[1], body->poses[0].rotations[1]) - 20.0 * f) < 3);
    }
    ex_articulated_destroy(body);
    jointed_close(&t);
}

/* ---- without ---- */

static void finds_bones(void **state) {
    (void)state;
    jointed_tube t;
    jointed_open(&t, 0);
    t.def.bone_count = 3;
    ex_articulated *body = jointed_articulate(&t.def);
    assert_int_equal(body->kinematics->joint_count, 3);
    assert_string_equal(body->kinematics->joints[0].name, "bone_1");
    assert_true(body->all_rms < 0.004);
    /* The middle bone is the root, and both others hang on it; joints are where they were bent. */
    double places[3][3];
    for (int b = 0; b < 3; b++) {
        const ex_kin_joint *joint = &body->kinematics->joints[b];
        assert_int_equal(joint->parent, b > 0 ? 0 : -1);
        for (int i = 0; i < 3; i++)
            places[b][i] = joint->translation[i] + (b > 0 ? places[0][i] : 0);
    }
    const bool swapped = places[1][0] > places[2][0];
    for (int b = 1; b < 3; b++) {
        const double expected = jointed_at[swapped ? 3 - b : b];
        const double error[3] = {places[b][0] - expected, places[b][1], places[b][2]};
        assert_true(sqrt(exi_dot3(error, error)) < 0.03);
    }
    for (int v = TUBE; v < VERTICES; v++) { /* the separate piece moves with the tip */
        int tip = swapped ? 1 : 2;
        double w = 0;
        for (int i = 0; i < body->influence_count; i++)
            w += body->joints[v * body->influence_count + i] == tip
                     ? (double)body->weights[v * body->influence_count + i]
                     : 0;
        assert_true(w > 0.95);
    }
    ex_articulated_destroy(body);

    t.def.bone_count = 0; /* as many as help */
    body = jointed_articulate(&t.def);
    assert_in_range(body->kinematics->joint_count, 3, 16);
    assert_true(body->all_rms < 0.004);
    ex_articulated_destroy(body);
    jointed_close(&t);
}

/* ---- what was not seen ---- */

static void ignores_what_was_not_seen(void **state) {
    (void)state;
    jointed_tube t;
    jointed_open(&t, 0);
    jointed_add_skeleton(&t);
    float *confidence[FORMS] = {NULL};
    confidence[1] = malloc(VERTICES * sizeof **confidence);
    confidence[3] = malloc(VERTICES * sizeof **confidence);
    for (int v = 0; v < VERTICES; v++) {
        confidence[1][v] = v % 3 == 0 ? 0 : 1;
        confidence[3][v] = v % AROUND < 3 ? 0 : 0.5f;
        for (int i = 0; i < 3; i++) {
            t.forms[1][v][i] = confidence[1][v] == 0 ? NAN : t.forms[1][v][i];
            t.forms[3][v][i] += confidence[3][v] == 0 ? 100 : 0;
        }
    }
    t.def.confidences = (const float *const *)confidence;
    ex_articulated *body = jointed_articulate(&t.def);
    assert_true(body->all_rms < 1e-4);
    for (int v = 0; v < VERTICES; v++)
        assert_true(isfinite(body->rest[3 * v]));
    ex_articulated_destroy(body);

    /* A patch that no form shows moves with its neighbours: a body that starts too thick becomes thin there, too. */
    jointed_close(&t);
    jointed_open(&t, 0);
    jointed_add_skeleton(&t);
    enum { FROM = 4 * AROUND, TO = 8 * AROUND };
    for (int v = 0; v < VERTICES; v++)
        t.rest[v][1] += v < TUBE ? 0.3 * t.rest[v][1] : 0;
    for (int f = 0; f < FORMS; f++) {
        confidence[f] = confidence[f] ? confidence[f] : malloc(VERTICES * sizeof **confidence);
        for (int v = 0; v < VERTICES; v++) {
            confidence[f][v] = v >= FROM && v < TO ? 0 : 1;
            for (int i = 0; i < 3; i++)
                t.forms[f][v][i] = confidence[f][v] == 0 ? NAN : t.forms[f][v][i];
        }
    }
    t.def.confidences = (const float *const *)confidence;
    body = jointed_articulate(&t.def);
    for (int v = FROM; v < TO; v += AROUND) /* across: 120 mm, and 156 at the start */
        assert_near(body->rest[3 * v + 1] - body->rest[3 * (v + AROUND / 2) + 1], 2 * jointed_radius, 0.006);
    ex_articulated_destroy(body);
    for (int f = 0; f < FORMS; f++)
        free(confidence[f]);
    jointed_close(&t);
}

/* ---- tasks ---- */

static void run_backwards(void *user, int count, int grain, ex_task_body body, void *context) {
    (void)user;
    (void)grain;
    for (int end = count; end > 0; end -= 37)
        body(context, end > 37 ? end - 37 : 0, end);
}

static void tasks_change_nothing(void **state) {
    (void)state;
    jointed_tube t;
    jointed_open(&t, 0.02);
    jointed_add_skeleton(&t);
    ex_articulated *one = jointed_articulate(&t.def);
    const ex_tasks tasks = {.run = run_backwards};
    t.def.tasks = &tasks;
    ex_articulated *two = jointed_articulate(&t.def);
    assert_memory_equal(one->rest, two->rest, 3 * VERTICES * sizeof *one->rest);
    assert_memory_equal(one->weights, two->weights, (size_t)(VERTICES * one->influence_count) * sizeof *one->weights);
    ex_articulated_destroy(one);
    ex_articulated_destroy(two);
    jointed_close(&t);
}

/* ---- moments ---- */

/* A pose fitted by moments is where no small turn or move lowers the distance. */
static void poses_are_minima(void **state) {
    (void)state;
    jointed_tube t;
    jointed_open(&t, 0.03);
    jointed_add_skeleton(&t);
    ex_articulated *body = jointed_articulate(&t.def);
    exi_articulation a;
    assert_int_equal(exi_art_open(&t.def, body, &a, NULL), EX_OK);
    const int form = 3;
    exi_art_moments m;
    double turns[JOINTS][4], base[3] = {0}, now;
    for (int b = 0; b < JOINTS; b++) /* from far away */
        jointed_turn(turns[b], 1, 0, 0, 0);
    assert_int_equal(exi_art_moments_make(&a, form, NULL, &m, NULL), EX_OK);
    assert_int_equal(exi_art_fit_pose(&a, &m, 100, turns, base, NULL), EX_OK);
    assert_int_equal(exi_art_distance(&a, form, turns, base, NULL, &now, NULL, NULL), EX_OK);
    assert_true(now < 0.005);
    for (int i = 0; i < 3 * JOINTS + 3; i++)
        for (int sign = -1; sign <= 1; sign += 2) {
            double moved[JOINTS][4], moved_base[3], then;
            memcpy(moved, turns, sizeof moved);
            memcpy(moved_base, base, sizeof base);
            if (i < 3 * JOINTS) {
                double small[4];
                jointed_turn(small, i % 3 == 0, i % 3 == 1, i % 3 == 2, sign * 0.5);
                exi_quaternion_multiply(small, moved[i / 3], moved[i / 3]);
            } else {
                moved_base[i - 3 * JOINTS] += sign * 0.003;
            }
            assert_int_equal(exi_art_distance(&a, form, moved, moved_base, NULL, &then, NULL, NULL), EX_OK);
            assert_true(then > now - 1e-6);
        }
    exi_art_moments_free(&m);
    exi_art_free(&a);
    ex_articulated_destroy(body);
    jointed_close(&t);
}

/* ---- the rig ---- */

static void rig_moves_as_the_body(void **state) {
    (void)state;
    jointed_tube t;
    ex_rig *rig = NULL;
    ex_articulated_layers *layers = NULL;
    jointed_open(&t, 0.05);
    jointed_add_skeleton(&t);
    for (int f = 0; f < FORMS; f++) { /* so that the bulge follows the middle joint */
        jointed_turn(t.turns[f][1], 0, 0, 1, 25.0 * f);
        jointed_pose(&t, f, 0.05, t.forms[f]);
    }
    ex_articulated *body = jointed_articulate(&t.def);
    ex_error error = {0};
    assert_int_equal(ex_articulated_find_layers(&t.def, body, &layers, &error), EX_OK);
    assert_true(layers->count > 0);
    assert_int_equal(ex_articulated_rig(&t.def, body, layers, &rig, &error), EX_OK);
    double *deltas = malloc(3 * VERTICES * sizeof *deltas), *positions = malloc(3 * VERTICES * sizeof *positions);
    ex_transform locals[JOINTS];
    float *out = malloc(3 * VERTICES * sizeof *out);
    void *memory = malloc(ex_rig_scratch_size(rig, NULL, 1));
    for (int f = 0; f < FORMS; f++) {
        double turned[JOINTS][4];
        ex_kin_pose pose = body->poses[f];
        memcpy(turned, pose.rotations, sizeof turned);
        pose.rotations = turned;
        pose.rotations[2][0] += 0.1; /* not at an example */
        exi_normalise(pose.rotations[2], 4);
        assert_int_equal(ex_articulated_layers_evaluate(body, layers, &pose, deltas, &error), EX_OK);
        assert_int_equal(ex_articulated_pose(body, &pose, deltas, positions, &error), EX_OK);
        for (int b = 0; b < JOINTS; b++) {
            locals[b] = ex_transform_identity();
            for (int i = 0; i < 3; i++)
                locals[b].translation[i] =
                    (float)(b > 0 ? body->kinematics->joints[b].translation[i] : pose.translation[i]);
            for (int i = 0; i < 4; i++)
                locals[b].rotation[i] = (float)pose.rotations[b][i];
        }
        ex_rig_evaluate(rig, &(ex_pose){.joints = locals}, &(ex_output){.positions = out}, NULL, memory);
        for (int i = 0; i < 3 * VERTICES; i++)
            assert_true(fabs((double)out[i] - positions[i]) < 2e-6);
    }
    free(deltas);
    free(positions);
    free(out);
    free(memory);
    ex_rig_destroy(rig);
    ex_articulated_layers_destroy(layers);
    ex_articulated_destroy(body);
    jointed_close(&t);
}

/* ---- wrong input ---- */

static void refuse(const ex_articulate_def *def, ex_result expected, const char *word) {
    ex_articulated *made = NULL;
    ex_error error = {0};
    assert_int_equal(ex_articulate(def, &made, &error), expected);
    assert_null(made);
    assert_sentence(&error, expected, word);
}

static void refuses_wrong_input(void **state) {
    (void)state;
    jointed_tube t;
    jointed_open(&t, 0);
    t.def.form_count = 1;
    refuse(&t.def, EX_ERROR_DATA, "one form alone");
    t.def.form_count = FORMS;
    const double *same[FORMS] = {t.form_list[0], t.form_list[0], t.form_list[0], t.form_list[0], t.form_list[0]};
    t.def.forms = same;
    refuse(&t.def, EX_ERROR_DATA, "nothing moves");
    t.def.forms = t.form_list;
    t.forms[2][17][1] = NAN;
    refuse(&t.def, EX_ERROR_DATA, "kicked: the position of vertex 17");
    t.def.names = NULL;
    refuse(&t.def, EX_ERROR_DATA, "form 3: the position of vertex 17");
    t.forms[2][17][1] = 0;
    t.def.skeleton = &t.skeleton;
    refuse(&t.def, EX_ERROR_DATA, "skin weights to start from");
    jointed_add_skeleton(&t);
    t.start_weights[9][0] += 0.5f;
    refuse(&t.def, EX_ERROR_DATA, "vertex 9 sum to 1.5");
    t.start_weights[9][0] -= 0.5f;
    t.start_joints[3][0] = 7;
    refuse(&t.def, EX_ERROR_DATA, "vertex 3 has a weight");
    t.start_joints[3][0] = 0;
    t.def.form_count = 2;
    ex_articulated *body = jointed_articulate(&t.def); /* two are enough, but none can be left out */
    ex_left_outs *report = NULL;
    ex_error error = {0};
    assert_int_equal(ex_articulate_leave_out(&t.def, body, &report, &error), EX_ERROR_DATA);
    assert_sentence(&error, EX_ERROR_DATA, "at least 3");
    ex_articulated_destroy(body);
    jointed_close(&t);
}

static bool stop(void *user, const char *what, double fraction) {
    (void)user;
    (void)what;
    return fraction < 0.3;
}

static void stops_when_asked(void **state) {
    (void)state;
    jointed_tube t;
    jointed_open(&t, 0.05);
    jointed_add_skeleton(&t);
    const ex_progress progress = {.report = stop};
    t.def.progress = &progress;
    t.def.round_most = 3;
    refuse(&t.def, EX_ERROR_FILE, "stopped");
    jointed_close(&t);
}

/* ---- memory ---- */

static ex_result everything(void *context) {
    const jointed_tube *t = context;
    ex_articulated *body = NULL;
    ex_articulated_layers *layers = NULL;
    ex_left_outs *report = NULL;
    ex_rig *rig = NULL;
    ex_error error;
    ex_result result = ex_articulate(&t->def, &body, &error);
    if (result == EX_OK)
        result = ex_articulated_find_layers(&t->def, body, &layers, &error);
    if (result == EX_OK)
        result = ex_articulated_rig(&t->def, body, layers, &rig, &error);
    if (result == EX_OK)
        result = ex_articulate_leave_out(&t->def, body, &report, &error);
    ex_left_outs_destroy(report);
    report = NULL;
    if (result == EX_OK)
        result = ex_articulated_measure(&t->def, body, layers, &report, &error);
    ex_left_outs_destroy(report);
    ex_rig_destroy(rig);
    ex_articulated_layers_destroy(layers);
    ex_articulated_destroy(body);
    return result;
}

static void survives_failing_memory(void **state) {
    (void)state;
    jointed_tube t;
    jointed_open(&t, 0.05);
    t.def.round_most = 1;
    t.def.form_count = 3;
    t.def.bone_count = 2;
    assert_true(fail_alloc_sweep(everything, &t) > 200);
    jointed_add_skeleton(&t);
    assert_true(fail_alloc_sweep(everything, &t) > 200);
    jointed_close(&t);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_joints_of_a_disturbed_skeleton),
        cmocka_unit_test(keeps_the_truth),
        cmocka_unit_test(finds_weights),
        cmocka_unit_test(takes_another_person_s_rest_form),
        cmocka_unit_test(hinge_keeps_its_axis),
        cmocka_unit_test(finds_bones),
        cmocka_unit_test(ignores_what_was_not_seen),
        cmocka_unit_test(tasks_change_nothing),
        cmocka_unit_test(poses_are_minima),
        cmocka_unit_test(rig_moves_as_the_body),
        cmocka_unit_test(refuses_wrong_input),
        cmocka_unit_test(stops_when_asked),
        cmocka_unit_test(survives_failing_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

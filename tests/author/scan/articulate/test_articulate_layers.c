/*
 * Layers of registered meshes: they help with forms that are left out, noise makes none, and the error of guesses is
 * that of each form taken away. Forms left out, and forms that a body has never seen; dials.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/check.h"
#include "support/jointed_tubes.h"

#include <exemplar/author/articulate.h>
#include <exemplar/rig.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MANY = 9 };

/* The tube bends at its middle joint by eight angles and bulges by formula; the first form is straight. */
typedef struct bends {
    jointed_tube t;
    double forms[MANY][VERTICES][3];
    const double *list[MANY];
} bends;

static void open_bends(bends *b, double bulge) {
    jointed_open(&b->t, bulge);
    jointed_add_skeleton(&b->t);
    for (int f = 0; f < MANY; f++) {
        jointed_turn(b->t.turns[0][0], 0.2, 1, 0.3, 5.0 * f);
        jointed_turn(b->t.turns[0][1], 0, 0, 1, 14.0 * f);
        jointed_turn(b->t.turns[0][2], 0.1, 1, 0, 10.0 * (f % 4));
        jointed_pose(&b->t, 0, bulge, b->forms[f]);
        b->list[f] = &b->forms[f][0][0];
    }
    b->t.def.form_count = MANY;
    b->t.def.forms = b->list;
    b->t.def.names = NULL;
}

static void layers_help_with_forms_left_out(void **state) {
    (void)state;
    bends *b = malloc(sizeof *b);
    ex_left_outs *report = NULL;
    ex_error error = {0};
    open_bends(b, 0.08);
    ex_articulated *body = jointed_articulate(&b->t.def);
    assert_int_equal(ex_articulate_leave_out(&b->t.def, body, &report, &error), EX_OK);
    assert_int_equal(report->group_count, MANY);
    assert_true(report->all.rms < 0.6 * report->all.skinned_rms);
    assert_true(report->all.rms < 0.5 * report->all.one_rms);
    for (int f = 0; f < MANY; f++) {
        assert_true(report->forms[f].rms > 0 && report->forms[f].high >= report->forms[f].rms);
        assert_true(report->forms[f].one_high > 0);
    }
    ex_left_outs_destroy(report);
    ex_articulated_destroy(body);
    jointed_close(&b->t);
    free(b);
}

/* Nothing of a form that is left out is in what it is compared with: a dent that only it has is missing entirely. The
 * mean of nine forms would have a ninth of it. */
static void left_out_is_left_out(void **state) {
    (void)state;
    enum { ODD = 4, EVERY = 9 };
    bends *b = malloc(sizeof *b);
    ex_left_outs *report = NULL;
    open_bends(b, 0);
    double sum = 0;
    for (int v = 0; v < TUBE; v += EVERY) { /* spread, so that no pose explains it */
        const double dent = v % 2 == 0 ? 0.03 : -0.03;
        b->forms[ODD][v][2] += dent;
        sum += dent * dent;
    }
    const double whole = sqrt(sum / VERTICES);
    ex_articulated *body = jointed_articulate(&b->t.def);
    assert_true(body->rms[ODD] < 0.93 * whole); /* not left out: the rest form has its share */
    assert_int_equal(ex_articulate_leave_out(&b->t.def, body, &report, NULL), EX_OK);
    assert_true(report->forms[ODD].skinned_rms > 0.97 * whole);
    assert_true(report->forms[ODD].rms > 0.97 * whole);
    ex_left_outs_destroy(report);
    ex_articulated_destroy(body);
    jointed_close(&b->t);
    free(b);
}

/* A finished body is measured on a form that it has never seen: its pose is found, and its dent is missing. The other
 * forms are as the body poses them. */
static void measures_forms_never_seen(void **state) {
    (void)state;
    enum { ODD = MANY - 1, EVERY = 9 };
    bends *b = malloc(sizeof *b);
    double *positions = malloc(3 * VERTICES * sizeof *positions), sum = 0;
    ex_left_outs *report = NULL;
    ex_error error = {0};
    open_bends(b, 0);
    for (int v = 0; v < TUBE; v += EVERY) {
        const double dent = v % 2 == 0 ? 0.03 : -0.03;
        b->forms[ODD][v][2] += dent;
        sum += dent * dent;
    }
    const double whole = sqrt(sum / VERTICES);
    ex_articulate_def def = b->t.def;
    def.form_count = MANY - 1;
    ex_articulated *body = jointed_articulate(&def);
    assert_int_equal(ex_articulated_measure(&b->t.def, body, NULL, &report, &error), EX_OK);
    assert_int_equal(report->form_count, MANY);
    assert_true(report->forms[ODD].rms > 0.97 * whole && report->forms[ODD].rms < 1.03 * whole);
    for (int f = 0; f < MANY; f++) {
        double squares = 0;
        assert_int_equal(ex_articulated_pose(body, &report->poses[f], NULL, positions, &error), EX_OK);
        for (int v = 0; v < VERTICES; v++) {
            double square = 0;
            for (int i = 0; i < 3; i++) {
                const double off = positions[3 * v + i] - b->forms[f][v][i];
                assert_true(fabs((double)report->positions[f][3 * v + i] - positions[3 * v + i]) < 1e-6);
                square += off * off;
            }
            assert_true(fabs((double)report->distances[f][v] - sqrt(square)) < 1e-6);
            squares += square / VERTICES;
        }
        assert_true(fabs(sqrt(squares) - report->forms[f].rms) < 1e-6);
    }
    const ex_left_out two = ex_left_outs_sum(report, 0, 2);
    assert_true(fabs(2 * two.rms * two.rms - report->forms[0].rms * report->forms[0].rms -
                     report->forms[1].rms * report->forms[1].rms) < 1e-12);
    ex_left_outs_destroy(report);
    def.form_count = MANY - 2; /* fewer than it was made from */
    assert_int_equal(ex_articulated_measure(&def, body, NULL, &report, &error), EX_ERROR_ARGUMENT);
    ex_articulated_destroy(body);
    jointed_close(&b->t);
    free(positions);
    free(b);
}

/* A dial moves the rest form and the joints. */
static void rig_has_dials(void **state) {
    (void)state;
    jointed_tube t;
    ex_rig *rig = NULL;
    ex_error error = {0};
    float deltas[3 * VERTICES], shifts[3 * JOINTS];
    jointed_open(&t, 0);
    jointed_add_skeleton(&t);
    ex_articulated *body = jointed_articulate(&t.def);
    for (int i = 0; i < 3 * VERTICES; i++)
        deltas[i] = i % 3 == 1 ? 0.5F : 0;
    for (int i = 0; i < 3 * JOINTS; i++)
        shifts[i] = i % 3 == 1 ? 0.5F : 0;
    const ex_articulated_dial dial = {
        .name = "up", .unit = "m", .least = -1, .most = 1, .deltas = deltas, .shifts = shifts};
    t.def.dial_count = 1;
    t.def.dials = &dial;
    assert_int_equal(ex_articulated_rig(&t.def, body, NULL, &rig, &error), EX_OK);
    assert_int_equal(ex_rig_layer_count(rig), 1);
    const int input = ex_rig_input_find(rig, "up");
    assert_true(input >= 0);
    double values[64] = {0};
    assert_true(ex_rig_pose_size(rig) <= 64);
    float *out = malloc(6 * VERTICES * sizeof *out);
    void *memory = malloc(ex_rig_scratch_size(rig, NULL, 1));
    ex_rig_evaluate(rig, NULL, &(ex_output){.positions = out}, NULL, memory);
    ex_pose pose = {.inputs = values};
    ex_rig_set_input(rig, input, &(double){0.5}, &pose);
    ex_rig_evaluate(rig, &pose, &(ex_output){.positions = out + 3 * VERTICES}, NULL, memory);
    for (int i = 0; i < 3 * VERTICES; i++)
        assert_true(fabs((double)(out[3 * VERTICES + i] - out[i]) - (i % 3 == 1 ? 0.25 : 0)) < 1e-6);
    free(out);
    free(memory);
    ex_rig_destroy(rig);
    ex_articulated_destroy(body);
    jointed_close(&t);
}

/* Rests that do not follow the pose are no layer: with noise alone, guesses are no better than none. */
static void noise_makes_no_layers(void **state) {
    (void)state;
    bends *b = malloc(sizeof *b);
    ex_articulated_layers *layers = NULL;
    uint64_t seed = 5;
    open_bends(b, 0);
    for (int f = 0; f < MANY; f++)
        for (int v = 0; v < VERTICES; v++)
            for (int i = 0; i < 3; i++)
                b->forms[f][v][i] += random_between(&seed, -0.003, 0.003);
    ex_articulated *body = jointed_articulate(&b->t.def);
    assert_int_equal(ex_articulated_find_layers(&b->t.def, body, &layers, NULL), EX_OK);
    assert_int_equal(layers->count, 0);
    ex_articulated_layers_destroy(layers);
    ex_articulated_destroy(body);
    jointed_close(&b->t);
    free(b);
}

/* The closed form of the error of guesses against guesses: each form taken away, and the layer's own weights. */
static void guesses_are_those_without_the_form(void **state) {
    (void)state;
    bends *b = malloc(sizeof *b);
    ex_articulated_layers *layers = NULL;
    open_bends(b, 0.08);
    ex_articulated *body = jointed_articulate(&b->t.def);
    assert_int_equal(ex_articulated_find_layers(&b->t.def, body, &layers, NULL), EX_OK);
    assert_true(layers->count > 0);
    const ex_articulated_layer *layer = &layers->layers[0];
    double after = 0, before = 0;
    for (int f = 0; f < MANY; f++) {
        ex_axis axes[8];
        double points[MANY * 8 * 4], falloffs[MANY * 8], at_form[8 * 4], weights[MANY];
        int count = 0, others[MANY];
        for (int k = 0; k < MANY; k++)
            for (int a = 0; a < layer->axis_count && k != f; a++) {
                memcpy(points + 4 * (count * layer->axis_count + a), body->poses[k].rotations[layer->axes[a]], 32);
                falloffs[count * layer->axis_count + a] = layer->falloff;
                others[count] = k;
                count += a == layer->axis_count - 1;
            }
        for (int a = 0; a < layer->axis_count; a++) {
            axes[a] = ex_axis_rotation(EX_AXIS_ROTATION, NULL);
            memcpy(at_form + 4 * a, body->poses[f].rotations[layer->axes[a]], 32);
        }
        ex_weigher_def def = ex_weigher_def_default();
        def.kind = EX_WEIGHER_GAUSSIAN;
        def.axes = axes;
        def.axis_count = layer->axis_count;
        def.example_count = count;
        def.points = points;
        def.falloffs = falloffs;
        def.ridge = layer->ridge;
        ex_weigher *weigher = NULL;
        ex_error error = {0};
        if (ex_weigher_create(&def, NULL, &weigher, &error) != EX_OK)
            fail_msg("%s", error.text);
        ex_weigher_evaluate(weigher, at_form, weights);
        for (int i = 0; i < 3 * VERTICES; i++) {
            double rest = (double)layers->deltas[f][i];
            before += (double)layer->mask[i / 3] * rest * rest;
            for (int k = 0; k < count; k++)
                rest -= weights[k] * (double)layers->deltas[others[k]][i];
            after += (double)layer->mask[i / 3] * rest * rest;
        }
        ex_weigher_destroy(weigher);
    }
    assert_near(layer->before / before, 1, 1e-3);
    assert_near(layer->after / after, 1, 1e-3);
    ex_articulated_layers_destroy(layers);
    ex_articulated_destroy(body);
    jointed_close(&b->t);
    free(b);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(layers_help_with_forms_left_out), cmocka_unit_test(left_out_is_left_out),
        cmocka_unit_test(measures_forms_never_seen),       cmocka_unit_test(rig_has_dials),
        cmocka_unit_test(noise_makes_no_layers),           cmocka_unit_test(guesses_are_those_without_the_form),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Evaluating a rig against the same sums done directly: weighers made separately, differences added in double. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/check.h"
#include "support/rigs.h"
#include "support/spaces.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { VERTICES = 701 }; /* several of the chunks that evaluation works in, and a tile that is not full */

/* A rig, its definition, weighers of its layers made separately, and memory to evaluate. */
typedef struct fixture {
    sample_rig sample;
    ex_rig *rig;
    ex_weigher *weighers[RIG_LAYERS];
    void *scratch;
} fixture;

static int set_up(void **state) {
    fixture *f = malloc(sizeof *f);
    sample_rig_open(&f->sample, VERTICES);
    f->rig = rig_of(&f->sample.def);
    for (int l = 0; l < RIG_LAYERS; l++)
        f->weighers[l] = weigher_of(&f->sample.layers[l].weigh);
    f->scratch = malloc(ex_rig_scratch_size(f->rig, NULL, 1));
    *state = f;
    return 0;
}

static int tear_down(void **state) {
    fixture *f = *state;
    free(f->scratch);
    for (int l = 0; l < RIG_LAYERS; l++)
        ex_weigher_destroy(f->weighers[l]);
    ex_rig_destroy(f->rig);
    sample_rig_close(&f->sample);
    free(f);
    return 0;
}

/* The layers' own points from a pose: bend, turn | weight, bend | smile, frown. */
static void expected_weights(const fixture *f, const double *inputs, const bool *muted, double *weights) {
    const double *x = inputs;
    const double points[RIG_LAYERS][5] = {{x[0], x[1], x[2], x[3], x[4]}, {x[5], x[0]}, {x[6], x[7]}};
    for (int l = 0, first = 0; l < RIG_LAYERS; first += f->sample.layers[l].weigh.example_count, l++) {
        ex_weigher_evaluate(f->weighers[l], points[l], weights + first);
        for (int k = 0; muted && muted[l] && k < f->sample.layers[l].weigh.example_count; k++)
            weights[first + k] = 0;
    }
}

static void assert_positions(const sample_rig *s, const float *positions, const double *weights, double allowed) {
    for (int v = 0; v < VERTICES; v++)
        for (int c = 0; c < 3; c++) {
            double sum = (double)s->positions[3 * v + c];
            for (int k = 0; k < RIG_EXAMPLES; k++)
                sum += weights[k] * (double)s->deltas[k][3 * v + c] * (k == 3 || k == 4 ? (double)s->mask[v] : 1);
            assert_near((double)positions[3 * v + c], sum, allowed);
        }
}

static void results_are_the_formulas(void **state) {
    fixture *f = *state;
    uint64_t random = 91;
    for (int i = 0; i < 200; i++) {
        double inputs[RIG_POSE], weights[RIG_EXAMPLES], expected[RIG_EXAMPLES];
        float positions[3 * VERTICES];
        sample_rig_pose(&random, i < 100 ? 1 : 3, inputs);
        expected_weights(f, inputs, NULL, expected);
        ex_rig_evaluate(f->rig, &(ex_pose){.inputs = inputs}, &(ex_output){.positions = positions, .weights = weights},
                        NULL, f->scratch);
        assert_memory_equal(weights, expected, sizeof weights);
        assert_positions(&f->sample, positions, weights, 2e-5);
    }
}

/* At an example the result is that example, plus the other layers' contribution there. */
static void examples_come_out(void **state) {
    fixture *f = *state;
    const bool muted[RIG_LAYERS] = {false, true, true};
    const double *points = f->sample.layers[0].weigh.points;
    for (int k = 0; k < 3; k++) {
        double inputs[RIG_POSE] = {0};
        memcpy(inputs, points + 5 * k, 5 * sizeof *inputs);
        float positions[3 * VERTICES];
        ex_rig_evaluate(f->rig, &(ex_pose){.inputs = inputs}, &(ex_output){.positions = positions},
                        &(ex_evaluation){.muted = muted}, f->scratch);
        for (int i = 0; i < 3 * VERTICES; i++)
            assert_near((double)positions[i], (double)f->sample.positions[i] + (double)f->sample.deltas[k][i], 4e-6);
    }
}

static void muted_layers_are_left_out(void **state) {
    fixture *f = *state;
    uint64_t random = 92;
    for (int set = 0; set < 8; set++) {
        const bool muted[RIG_LAYERS] = {set & 1, set & 2, set & 4};
        double inputs[RIG_POSE], weights[RIG_EXAMPLES], expected[RIG_EXAMPLES];
        float positions[3 * VERTICES];
        sample_rig_pose(&random, 1, inputs);
        expected_weights(f, inputs, muted, expected);
        ex_rig_evaluate(f->rig, &(ex_pose){.inputs = inputs}, &(ex_output){.positions = positions, .weights = weights},
                        &(ex_evaluation){.muted = muted}, f->scratch);
        assert_memory_equal(weights, expected, sizeof weights);
        assert_positions(&f->sample, positions, weights, 2e-5);
        if (set == 7)
            assert_memory_equal(positions, f->sample.positions, sizeof positions);
    }
}

static int misuses;
static void count_misuse(const char *function, const char *what) {
    (void)function;
    (void)what;
    misuses++;
}

static void weighers_can_be_replaced(void **state) {
    fixture *f = *state;
    static const double at[5] = {100, 0, 0, 0, 1};
    ex_weigher *edited = NULL;
    ex_edit edit = {.kind = EX_EDIT_MOVE_EXAMPLE, .index = 1, .at = at};
    assert_int_equal(ex_weigher_edit(ex_rig_weigher(f->rig, 0), &edit, 1, NULL, &edited, NULL), EX_OK);
    const ex_weigher *weighers[RIG_LAYERS] = {edited, NULL, NULL};
    double inputs[RIG_POSE] = {100, 0, 0, 0, 1, 0.5, 0, 0}, weights[RIG_EXAMPLES], own[RIG_EXAMPLES];
    float positions[3 * VERTICES];
    const ex_output output = {.positions = positions, .weights = weights};
    ex_rig_evaluate(f->rig, &(ex_pose){.inputs = inputs}, &(ex_output){.weights = own}, NULL, f->scratch);
    ex_rig_evaluate(f->rig, &(ex_pose){.inputs = inputs}, &output, &(ex_evaluation){.weighers = weighers}, f->scratch);
    assert_row_near(weights, ((double[]){0, 1, 0}), 3, 1e-9); /* the example's new place */
    assert_true(fabs(own[1] - 1) > 0.01);
    assert_memory_equal(weights + 3, own + 3, 4 * sizeof *own);
    assert_positions(&f->sample, positions, weights, 2e-5);
    /* another number of examples is misuse: reported, and the rig's own is used */
    const ex_weigher *wrong[RIG_LAYERS] = {f->weighers[1], f->weighers[0], f->weighers[0]};
    misuses = 0;
    ex_set_misuse_hook(count_misuse);
    ex_rig_evaluate(f->rig, &(ex_pose){.inputs = inputs}, &output, &(ex_evaluation){.weighers = wrong}, f->scratch);
    ex_set_misuse_hook(NULL);
    assert_int_equal(misuses, 3);
    assert_memory_equal(weights, own, sizeof own);
    ex_weigher_destroy(edited);
}

static void the_box_is_the_positions_own(void **state) {
    fixture *f = *state;
    uint64_t random = 93;
    for (int i = 0; i < 50; i++) {
        double inputs[RIG_POSE];
        float positions[3 * VERTICES], plain[3 * VERTICES], box[7] = {0}, alone[6];
        box[6] = 77;
        sample_rig_pose(&random, 2, inputs);
        ex_rig_evaluate(f->rig, &(ex_pose){.inputs = inputs}, &(ex_output){.positions = positions, .box = box}, NULL,
                        f->scratch);
        float expected[6] = {FLT_MAX, FLT_MAX, FLT_MAX, -FLT_MAX, -FLT_MAX, -FLT_MAX};
        for (int k = 0; k < 3 * VERTICES; k++) {
            expected[k % 3] = fminf(expected[k % 3], positions[k]);
            expected[3 + k % 3] = fmaxf(expected[3 + k % 3], positions[k]);
        }
        assert_memory_equal(box, expected, sizeof expected);
        assert_true(box[6] == 77);
        ex_rig_evaluate(f->rig, &(ex_pose){.inputs = inputs}, &(ex_output){.box = alone}, NULL, f->scratch);
        assert_memory_equal(alone, expected, sizeof expected);
        ex_rig_evaluate(f->rig, &(ex_pose){.inputs = inputs}, &(ex_output){.positions = plain}, NULL, f->scratch);
        assert_memory_equal(plain, positions, sizeof plain);
        ex_rig_evaluate(f->rig, &(ex_pose){.inputs = inputs}, &(ex_output){0}, NULL, f->scratch);
    }
}

static void strides_leave_gaps_alone(void **state) {
    fixture *f = *state;
    float dense[3 * VERTICES], wide[5 * VERTICES];
    double inputs[RIG_POSE] = {33, 0.1, 0.2, 0.3, 0.9, 0.7, 0.2, 0.4};
    for (int i = 0; i < 5 * VERTICES; i++)
        wide[i] = -7;
    ex_rig_evaluate(f->rig, &(ex_pose){.inputs = inputs}, &(ex_output){.positions = dense}, NULL, f->scratch);
    ex_rig_evaluate(f->rig, &(ex_pose){.inputs = inputs},
                    &(ex_output){.positions = wide, .position_stride = 5 * sizeof(float)}, NULL, f->scratch);
    for (int i = 0; i < 5 * VERTICES; i++)
        assert_true(wide[i] == (i % 5 < 3 ? dense[i / 5 * 3 + i % 5] : -7));
}

/* Nothing is written with a stride or at an address that is not a multiple of four bytes, or with too small a stride.
 */
static void unaligned_rows_are_misuse(void **state) {
    fixture *f = *state;
    float rows[5 * VERTICES + 1];
    misuses = 0;
    for (int i = 0; i < 5 * VERTICES + 1; i++)
        rows[i] = -7;
    ex_set_misuse_hook(count_misuse);
    for (int i = 0; i < 12; i++) {
        ex_output output = {.positions = rows, .normals = rows, .tangents = rows};
        size_t *strides[] = {&output.position_stride, &output.normal_stride, &output.tangent_stride};
        float **arrays[] = {&output.positions, &output.normals, &output.tangents};
        if (i % 4 < 3)
            *strides[i / 4] = (size_t[]){17, 18, 8}[i % 4];
        else
            *arrays[i / 4] = (float *)((uintptr_t)rows + 1);
        ex_rig_evaluate(f->rig, NULL, &output, NULL, f->scratch);
        assert_int_equal(misuses, i + 1);
    }
    ex_set_misuse_hook(NULL);
    for (int i = 0; i < 5 * VERTICES + 1; i++)
        assert_true(rows[i] == -7);
}

static void rest_is_the_default(void **state) {
    fixture *f = *state;
    double inputs[RIG_POSE], weights[RIG_EXAMPLES], same[RIG_EXAMPLES];
    ex_rig_rest_pose(f->rig, &(ex_pose){.inputs = inputs});
    assert_row_near(inputs, ((double[]){10, 0, 0, 0, 1, 0.5, 0, 0}), RIG_POSE, 0);
    ex_rig_evaluate(f->rig, &(ex_pose){.inputs = inputs}, &(ex_output){.weights = weights}, NULL, f->scratch);
    ex_rig_evaluate(f->rig, &(ex_pose){.inputs = NULL}, &(ex_output){.weights = same}, NULL, f->scratch);
    assert_memory_equal(same, weights, sizeof same);
    ex_rig_evaluate(f->rig, NULL, &(ex_output){.weights = same}, NULL, f->scratch);
    assert_memory_equal(same, weights, sizeof same);
    static const double bad[] = {NAN, INFINITY, -INFINITY};
    for (int b = 0; b < 3; b++)
        for (int i = 0; i < RIG_POSE; i++) {
            ex_rig_rest_pose(f->rig, &(ex_pose){.inputs = inputs});
            inputs[i] = bad[b];
            ex_rig_evaluate(f->rig, &(ex_pose){.inputs = inputs}, &(ex_output){.weights = same}, NULL, f->scratch);
            assert_row_near(same, weights, RIG_EXAMPLES, 1e-12);
        }
}

/* Different outputs requested for each pose; the same bits as one at a time. */
static void many_are_the_same_as_one_by_one(void **state) {
    fixture *f = *state;
    enum { POSES = 37 };
    static double inputs[POSES][RIG_POSE], weights[POSES][RIG_EXAMPLES], one_weights[RIG_EXAMPLES];
    static float positions[POSES][4 * VERTICES], boxes[POSES][6], one[4 * VERTICES], one_box[6];
    ex_pose poses[POSES];
    ex_output outputs[POSES];
    uint64_t random = 94;
    for (int i = 0; i < POSES; i++) {
        sample_rig_pose(&random, 1.5, inputs[i]);
        poses[i] = (ex_pose){.inputs = i % 9 == 4 ? NULL : inputs[i]};
        outputs[i] = (ex_output){.positions = i % 5 == 3 ? NULL : positions[i],
                                 .position_stride = i % 4 == 1 ? 16 : 0,
                                 .box = i % 3 == 0 ? boxes[i] : NULL,
                                 .weights = i % 2 ? weights[i] : NULL};
    }
    const bool muted[RIG_LAYERS] = {false, false, true};
    const ex_evaluation evaluation = {.muted = muted};
    void *scratch = malloc(ex_rig_scratch_size(f->rig, NULL, POSES));
    ex_rig_evaluate_many(f->rig, POSES, poses, outputs, &evaluation, scratch);
    for (int i = 0; i < POSES; i++) {
        memset(one, 0, sizeof one);
        ex_rig_evaluate(f->rig, &poses[i],
                        &(ex_output){.positions = one,
                                     .position_stride = outputs[i].position_stride,
                                     .box = one_box,
                                     .weights = one_weights},
                        &evaluation, scratch);
        if (outputs[i].positions)
            assert_memory_equal(positions[i], one, sizeof one);
        if (outputs[i].box)
            assert_memory_equal(boxes[i], one_box, sizeof one_box);
        if (outputs[i].weights)
            assert_memory_equal(weights[i], one_weights, sizeof one_weights);
    }
    ex_rig_evaluate_many(f->rig, 0, NULL, NULL, NULL, NULL);
    free(scratch);
}

/* 16 bit: within the stated error of each example. */
static void sixteen_bits_are_near(void **state) {
    fixture *f = *state;
    f->sample.def.options.storage = EX_STORAGE_16_BIT;
    ex_rig *rig = rig_of(&f->sample.def);
    assert_int_equal(ex_rig_storage(rig), EX_STORAGE_16_BIT);
    uint64_t random = 95;
    for (int i = 0; i < 50; i++) {
        double inputs[RIG_POSE], weights[RIG_EXAMPLES], allowed = 2e-5;
        float positions[3 * VERTICES];
        sample_rig_pose(&random, 1, inputs);
        ex_rig_evaluate(rig, &(ex_pose){.inputs = inputs}, &(ex_output){.positions = positions, .weights = weights},
                        NULL, f->scratch);
        for (int k = 0; k < RIG_EXAMPLES; k++)
            allowed += 1.6e-5 * (1 + RIG_EXAMPLES) * fabs(weights[k]);
        assert_positions(&f->sample, positions, weights, allowed);
    }
    ex_rig_destroy(rig);
}

static void a_mesh_without_layers(void **state) {
    fixture *f = *state;
    ex_rig_def def = f->sample.def;
    def.layer_count = 0;
    ex_rig *rig = rig_of(&def);
    float positions[3 * VERTICES];
    assert_int_equal(ex_rig_pose_size(rig), 0);
    ex_rig_evaluate(rig, NULL, &(ex_output){.positions = positions}, NULL, f->scratch);
    assert_memory_equal(positions, f->sample.positions, sizeof positions);
    ex_rig_destroy(rig);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(results_are_the_formulas, set_up, tear_down),
        cmocka_unit_test_setup_teardown(examples_come_out, set_up, tear_down),
        cmocka_unit_test_setup_teardown(muted_layers_are_left_out, set_up, tear_down),
        cmocka_unit_test_setup_teardown(weighers_can_be_replaced, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_box_is_the_positions_own, set_up, tear_down),
        cmocka_unit_test_setup_teardown(strides_leave_gaps_alone, set_up, tear_down),
        cmocka_unit_test_setup_teardown(unaligned_rows_are_misuse, set_up, tear_down),
        cmocka_unit_test_setup_teardown(rest_is_the_default, set_up, tear_down),
        cmocka_unit_test_setup_teardown(many_are_the_same_as_one_by_one, set_up, tear_down),
        cmocka_unit_test_setup_teardown(sixteen_bits_are_near, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_mesh_without_layers, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

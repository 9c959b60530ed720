/* The GPU's posing, run on the host: palettes and inputs equal the runtime's to the bit. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "cuda/lay/lay.h"
#include "cuda/stages/prepare_pose.inl"
#include "runtime/base/memory.h"
#include "support/check.h"
#include "support/gpu_poses.h"
#include "support/poses.h"
#include "support/whole_rigs.h"

#include <string.h>

static void pose_all(const exi_gpu *g, const exi_gpu_job *j) {
    const exi_team alone = {.lane = 0, .lanes = 1};
    for (int i = 0; i < j->count; i++)
        exi_gpu_pose(g, j, i, alone);
}

static void test_palettes(void **state) {
    (void)state;
    uint64_t random = 5;
    int stretched = 0, rigid = 0;
    for (int round = 0; round < 48; round++) {
        gpu_pose p;
        gpu_pose_open(&p, &random,
                      (gpu_pose_options){.skinning = round % 2 ? EX_SKINNING_DUAL_QUATERNION : EX_SKINNING_LINEAR,
                                         .turns = round / 2 % 2,
                                         .shifted = round / 4 % 2,
                                         .posed = round / 8 % 3 > 0,
                                         .rigid = round / 24});
        pose_all(&p.head, &p.job);
        assert_gpu_pose(&p);
        for (int i = 0; i < p.job.count; i++) {
            stretched += round % 2 && p.stretched[i] == 1;
            rigid += round % 2 && p.stretched[i] == 0;
        }
        gpu_pose_close(&p);
    }
    assert_true(stretched > 10 && rigid > 10); /* both paths were taken */
}

static void test_not_skinned(void **state) {
    (void)state;
    uint64_t random = 6;
    gpu_pose p, before;
    gpu_pose_open(&p, &random, (gpu_pose_options){.posed = true, .shifted = true});
    p.job.skinned = 0;
    before = p;
    pose_all(&p.head, &p.job);
    p.job.skinned = 1;
    p.head.skin_joints = NULL;
    pose_all(&p.head, &p.job);
    assert_memory_equal(p.palette, before.palette, sizeof p.palette);
    assert_memory_equal(p.summed, before.summed, sizeof p.summed);
    gpu_pose_close(&p);
}

/* ---- a rig ---- */

typedef struct laid {
    whole_rig w;
    ex_rig *rig;
    void *memory;
    size_t size;
    exi_gpu head;
    exi_gpu_levels levels;
} laid;

static void open_laid(laid *l) {
    ex_error error = {.result = EX_OK};
    whole_rig_open(&l->w, 40, WHOLE_ALL);
    for (int i = 0; i < 2; i++) { /* turned at rest, so that no turn is a different number */
        l->w.base.arm_axes[i].rest_rotation[0] = 0.6;
        l->w.base.arm_axes[i].rest_rotation[3] = 0.8;
    }
    l->rig = rig_of(&l->w.def);
    if (exi_gpu_lay(l->rig, NULL, NULL, NULL, &l->memory, &l->size, &l->head, &l->levels, &error) != EX_OK)
        fail_msg("%s", error.text);
}

static void close_laid(laid *l) {
    exi_release(NULL, l->memory, l->size);
    ex_rig_destroy(l->rig);
    whole_rig_close(&l->w);
}

static void assert_inputs(const laid *l, const exi_gpu_job *job, const ex_pose *pose, int instance) {
    for (int i = 0; i < ex_rig_input_count(l->rig); i++) {
        double value[4] = {7, 7, 7, 7}, expected[4] = {7, 7, 7, 7};
        ex_rig_get_input(l->rig, i, pose, expected);
        exi_gpu_input(&l->head, job, instance, i, value);
        assert_memory_equal(value, expected, sizeof value);
    }
}

static void test_inputs(void **state) {
    (void)state;
    enum { COUNT = 40, ROOM = 64 };
    laid l;
    open_laid(&l);
    const int size = ex_rig_pose_size(l.rig), joints = ex_rig_joint_count(l.rig);
    float inputs[COUNT][ROOM];
    ex_transform locals[COUNT][WHOLE_JOINTS];
    double numbers[ROOM];
    uint64_t random = 8;
    assert_true(size <= ROOM && joints == WHOLE_JOINTS);
    float *dials = &inputs[0][0];
    exi_gpu_job job = {.count = COUNT, .inputs = dials, .joints = locals[0]};
    for (int i = 0; i < COUNT; i++) {
        for (int k = 0; k < size; k++)
            dials[i * size + k] = i == 3 ? NAN : (float)random_between(&random, -2, 2);
        for (int j = 0; j < joints; j++) {
            locals[i][j] = random_rigid(&random, 1);
            locals[i][j].scale[j % 3] = (float)random_between(&random, -1, 2);
            if (i % 7 == 1)
                locals[i][j].rotation[j % 4] = NAN;
            else if (i % 7 == 2)
                memset(locals[i][j].rotation, 0, sizeof locals[i][j].rotation);
            else if (i % 7 == 3)
                locals[i][j].translation[j % 3] = INFINITY;
        }
    }
    for (int i = 0; i < COUNT; i++) {
        for (int k = 0; k < size; k++)
            numbers[k] = (double)dials[i * size + k];
        const ex_pose pose = {.inputs = numbers, .joints = locals[i]};
        assert_inputs(&l, &job, &pose, i);
    }
    job.inputs = NULL;
    job.joints = NULL;
    assert_inputs(&l, &job, NULL, 3);
    close_laid(&l);
}

/* Depths and shifts as they are laid out. */
static void test_laid_skeleton(void **state) {
    (void)state;
    laid l;
    open_laid(&l);
    const exi_gpu *g = &l.head;
    uint64_t random = 9;
    float weights[64], summed[WHOLE_JOINTS][3], shifts[WHOLE_JOINTS][3] = {{0}}, centres[WHOLE_JOINTS][3];
    float palette[WHOLE_JOINTS][12], duals[WHOLE_JOINTS][8], matrices[WHOLE_JOINTS][12];
    double worlds[WHOLE_JOINTS][12], turns[WHOLE_JOINTS][4], scratch[WHOLE_JOINTS][16];
    ex_transform locals[WHOLE_JOINTS];
    int32_t stretched;
    assert_true(g->examples <= 64 && g->shift_count > 0 && g->depth_count > 1);
    for (int e = 0; e < g->examples; e++)
        weights[e] = (float)random_between(&random, -1, 1);
    for (int j = 0; j < WHOLE_JOINTS; j++)
        locals[j] = random_rigid(&random, 1);
    const exi_gpu_job job = {.count = 1,
                             .skinned = 1,
                             .joints = locals,
                             .work = {.weights = weights,
                                      .worlds = worlds[0],
                                      .turns = turns[0],
                                      .shifts = summed[0],
                                      .palette = palette[0],
                                      .duals = duals[0],
                                      .stretched = &stretched}};
    pose_all(g, &job);
    for (int layer = 0, example = 0; layer < ex_rig_layer_count(l.rig); layer++)
        for (int k = 0; k < ex_weigher_example_count(ex_rig_weigher(l.rig, layer)); k++, example++) {
            float own[WHOLE_JOINTS][3];
            if (ex_rig_example_shifts(l.rig, layer, k, own[0]))
                for (int i = 0; i < 3 * WHOLE_JOINTS; i++)
                    shifts[i / 3][i % 3] += weights[example] * own[i / 3][i % 3];
        }
    const ex_skeleton_input input = {.locals = locals, .shifts = shifts[0]};
    const ex_skeleton_output output = {.matrices = matrices[0], .centres = centres[0]};
    ex_skeleton_evaluate(ex_rig_skeleton(l.rig), &input, &output, scratch);
    if (g->skinning == EX_SKINNING_LINEAR)
        assert_memory_equal(palette, matrices, sizeof palette);
    assert_memory_equal(summed, shifts, sizeof summed);
    close_laid(&l);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_palettes),
        cmocka_unit_test(test_not_skinned),
        cmocka_unit_test(test_inputs),
        cmocka_unit_test(test_laid_skeleton),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

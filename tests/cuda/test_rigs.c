/*
 * The rigs of exemplar_cuda_test (cuda_rigs.h) can be made, and their weights as the GPU computes them
 * (cuda/prepare_weigh.inl), by a team of one thread, are the runtime's. Needs no GPU: exemplar_cuda_test compares the
 * same rigs on one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/check.h"

#include "cuda/cuda_rigs.h"
#include "cuda/lay/lay.h"
#include "cuda/stages/prepare_weigh.inl"
#include "cuda/work.h"
#include "runtime/base/memory.h"
#include "runtime/rig/rig.h"

#include <math.h>
#include <stdlib.h>

enum { INSTANCES = 50, VERTICES = 31 };

/* calm: all layers are, and weights keep to their bound, since the given ones are 0. */
static void weigh(const rig_kind *kind, bool calm) {
    ex_rig *rig = make_rig(kind, VERTICES, 1 + VERTICES);
    ex_error error;
    exi_gpu head;
    exi_gpu_levels levels;
    exi_gpu_job job = {.count = INSTANCES};
    void *memory = NULL;
    size_t size = 0;
    if (exi_gpu_lay(rig, NULL, NULL, NULL, &memory, &size, &head, &levels, &error) != EX_OK)
        fail_msg("%s: %s", kind->name, error.text);
    void *work = malloc(exi_gpu_work_lay(&head, INSTANCES, NULL, &job.work));
    exi_gpu_work_lay(&head, INSTANCES, work, &job.work);
    pose_set poses;
    make_poses(rig, kind->parts, INSTANCES, 7, &poses);
    job.inputs = poses.inputs;
    job.joints = head.joints > 0 ? poses.joints : NULL;

    const ex_evaluation evaluation = {0};
    const size_t examples = (size_t)head.examples;
    double *weights = malloc(examples * sizeof *weights), largest = 0;
    void *scratch = malloc(ex_rig_scratch_size(rig, &evaluation, 1));
    for (int i = 0; i < INSTANCES; i++) {
        ex_rig_evaluate(rig, &poses.poses[i], &(ex_output){.weights = weights}, &evaluation, scratch);
        exi_gpu_weigh(&head, &job, i, (exi_team){.lane = 0, .lanes = 1});
        for (size_t k = 0; k < examples; k++) {
            const double here = job.work.doubles[(size_t)i * examples + k];
            assert_near(here, weights[k], 1e-12 * fmax(1, fabs(weights[k])));
            assert_true(!calm || (here > -0.1 - 1e-12 && here < 1.1 + 1e-12));
            largest = fmax(largest, fabs(here));
        }
    }
    assert_true(largest > 0.5); /* poses come near examples */
    free(scratch);
    free(weights);
    free_poses(&poses);
    free(work);
    exi_release(NULL, memory, size);
    ex_rig_destroy(rig);
}

static void test_every_weigher(void **state) {
    (void)state;
    weigh(&(rig_kind){"dials", RIG_WEIGHERS, 0, 0, EX_STORAGE_FLOAT, EX_SKINNING_LINEAR}, false);
    weigh(&(rig_kind){"rotations", RIG_TURNS, 0, 0, EX_STORAGE_FLOAT, EX_SKINNING_LINEAR}, false);
    weigh(&(rig_kind){"both", RIG_WEIGHERS | RIG_TURNS, 0, 0, EX_STORAGE_16_BIT, EX_SKINNING_LINEAR}, false);
}

static void test_mixtures(void **state) {
    (void)state;
    weigh(&(rig_kind){"mixtures", RIG_MIXED_ANY, 0, 0, EX_STORAGE_FLOAT, EX_SKINNING_LINEAR}, false);
    weigh(&(rig_kind){"16 bit", RIG_MIXED_ANY | RIG_FORMS, -1, 0, EX_STORAGE_16_BIT, EX_SKINNING_LINEAR}, false);
}

static void test_offsets(void **state) {
    (void)state;
    weigh(&(rig_kind){"gaussian", RIG_OFFSETS | RIG_SKIN, 0, 5, EX_STORAGE_FLOAT, EX_SKINNING_LINEAR}, false);
    weigh(&(rig_kind){"calm", RIG_CALM, 0, 0, EX_STORAGE_FLOAT, EX_SKINNING_LINEAR}, true);
    weigh(&(rig_kind){"a skin", RIG_CALM | RIG_SKIN | RIG_MASKS, 0, 4, EX_STORAGE_16_BIT, EX_SKINNING_LINEAR}, true);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_every_weigher), cmocka_unit_test(test_mixtures),
                                       cmocka_unit_test(test_offsets)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

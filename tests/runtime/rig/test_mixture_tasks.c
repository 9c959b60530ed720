/* Mixtures: the same bits with any division of the work among threads, and if several threads use one rig. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/check.h"
#include "support/mixtures.h"
#include "support/rigs.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { VERTICES = 5003, POSES = 6, THREADS = 3 };

static float mesh[3 * VERTICES];
static double inputs[POSES][MIXED_EXAMPLES];
static ex_rig *rig;

static void evaluate(const ex_tasks *tasks, float *positions) {
    ex_pose poses[POSES];
    ex_output outputs[POSES];
    for (size_t i = 0; i < POSES; i++) {
        poses[i] = (ex_pose){.inputs = inputs[i]};
        outputs[i] = (ex_output){.positions = positions + i * 3 * VERTICES};
    }
    const ex_evaluation evaluation = {.tasks = tasks};
    void *scratch = malloc(ex_rig_scratch_size(rig, &evaluation, POSES));
    ex_rig_evaluate_many(rig, POSES, poses, outputs, &evaluation, scratch);
    free(scratch);
}

/* A thread's part of a task: every THREADS-th piece. */
typedef struct part {
    ex_task_body body;
    void *context;
    int first, count;
} part;

static void *run_part(void *argument) {
    const part *p = argument;
    for (int i = p->first; i < p->count; i += THREADS)
        p->body(p->context, i, i + 1);
    return NULL;
}

static void run_parts(void *user, int count, int grain, ex_task_body body, void *context) {
    (void)user;
    (void)grain;
    pthread_t threads[THREADS];
    part parts[THREADS];
    for (int t = 0; t < THREADS; t++) {
        parts[t] = (part){body, context, t, count};
        assert_int_equal(pthread_create(&threads[t], NULL, run_part, &parts[t]), 0);
    }
    for (int t = 0; t < THREADS; t++)
        pthread_join(threads[t], NULL);
}

static void *evaluate_alone(void *positions) {
    evaluate(NULL, positions);
    return NULL;
}

static void threads_do_not_matter(void **state) {
    (void)state;
    const size_t size = sizeof mesh * POSES;
    float *one = malloc(size), *others[THREADS];
    mixed_layer m;
    uint64_t random = 3;
    for (int i = 0; i < 3 * VERTICES; i++)
        mesh[i] = (float)random_between(&random, -1, 1);
    for (int i = 0; i < POSES * MIXED_EXAMPLES; i++)
        inputs[i / MIXED_EXAMPLES][i % MIXED_EXAMPLES] = random_between(&random, -0.2, 1);
    mixed_layer_open(&m, mesh, VERTICES, 0, MIXED_ALL, 4);
    for (int storage = 0; storage < EX_STORAGE_COUNT; storage++) {
        ex_rig_def def = ex_rig_def_default();
        def.mesh = (ex_rig_mesh){.vertex_count = VERTICES, .split_count = VERTICES, .positions = mesh};
        def.layers = &m.def;
        def.layer_count = 1;
        def.options.storage = (ex_storage)storage;
        rig = rig_of(&def);
        evaluate(NULL, one);
        pthread_t threads[THREADS];
        for (int t = 0; t < THREADS; t++) {
            others[t] = malloc(size);
            assert_int_equal(pthread_create(&threads[t], NULL, evaluate_alone, others[t]), 0);
        }
        for (int t = 0; t < THREADS; t++) {
            pthread_join(threads[t], NULL);
            assert_memory_equal(one, others[t], size);
        }
        memset(others[0], 0, size);
        evaluate(&(ex_tasks){run_parts, NULL}, others[0]);
        assert_memory_equal(one, others[0], size);
        for (int t = 0; t < THREADS; t++)
            free(others[t]);
        ex_rig_destroy(rig);
    }
    mixed_layer_close(&m);
    free(one);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(threads_do_not_matter)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The same bits with any division of the work among any threads. And one rig, evaluated by several threads at once. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/check.h"
#include "support/rigs.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { VERTICES = 12345, POSES = 20, THREADS = 4 };

typedef struct result {
    float *positions; /* [POSES][VERTICES][3] */
    float boxes[POSES][6];
    double weights[POSES][RIG_EXAMPLES];
} result;

static sample_rig sample;
static ex_rig *rigs[EX_STORAGE_COUNT];
static double inputs[POSES][RIG_POSE];
static const size_t positions_size = (size_t)POSES * VERTICES * 3 * sizeof(float);

static int set_up(void **state) {
    (void)state;
    sample_rig_open(&sample, VERTICES);
    for (int i = 0; i < EX_STORAGE_COUNT; i++) {
        sample.def.options.storage = (ex_storage)i;
        rigs[i] = rig_of(&sample.def);
    }
    uint64_t random = 96;
    for (int i = 0; i < POSES; i++)
        sample_rig_pose(&random, 1.2, inputs[i]);
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    for (int i = 0; i < EX_STORAGE_COUNT; i++)
        ex_rig_destroy(rigs[i]);
    sample_rig_close(&sample);
    return 0;
}

static result *evaluate(const ex_rig *rig, int pose_count, const ex_tasks *tasks) {
    result *made = malloc(sizeof *made);
    memset(made, 0, sizeof *made);
    made->positions = malloc(positions_size);
    memset(made->positions, 0, positions_size);
    ex_pose poses[POSES];
    ex_output outputs[POSES];
    for (int i = 0; i < POSES; i++) {
        poses[i] = (ex_pose){.inputs = inputs[i]};
        outputs[i] = (ex_output){.positions = made->positions + (size_t)i * VERTICES * 3,
                                 .box = made->boxes[i],
                                 .weights = made->weights[i]};
    }
    void *scratch = malloc(ex_rig_scratch_size(rig, NULL, pose_count));
    const ex_evaluation evaluation = {.tasks = tasks};
    for (int first = 0; first < POSES; first += pose_count) {
        int count = POSES - first < pose_count ? POSES - first : pose_count;
        ex_rig_evaluate_many(rig, count, poses + first, outputs + first, &evaluation, scratch);
    }
    free(scratch);
    return made;
}

static void assert_same(const result *a, const result *b) {
    assert_memory_equal(a->positions, b->positions, positions_size);
    assert_memory_equal(a->boxes, b->boxes, sizeof a->boxes);
    assert_memory_equal(a->weights, b->weights, sizeof a->weights);
}

static void release(result *made) {
    free(made->positions);
    free(made);
}

/* Pieces of odd sizes, from the back, with empty ones among them. */
typedef struct cutter {
    int step, calls;
} cutter;
static void cut_oddly(void *user, int count, int grain, ex_task_body body, void *context) {
    cutter *c = user;
    (void)grain;
    for (int end = count, size = c->step; end > 0; end -= size, size = size % 5 + c->step) {
        size = size < end ? size : end;
        body(context, end, end);
        body(context, end - size, end);
        c->calls++;
    }
}

static void cuts_do_not_matter(void **state) {
    (void)state;
    for (int storage = 0; storage < EX_STORAGE_COUNT; storage++) {
        result *serial = evaluate(rigs[storage], 1, NULL);
        for (int pose_count = 1; pose_count <= POSES; pose_count = 3 * pose_count + 5)
            for (int step = 1; step < 20; step += 6) {
                cutter c = {.step = step};
                const ex_tasks tasks = {cut_oddly, &c};
                result *cut = evaluate(rigs[storage], pose_count, &tasks);
                assert_true(c.calls > 1);
                assert_same(cut, serial);
                release(cut);
            }
        release(serial);
    }
}

/* A hook with threads: each takes every THREADS-th piece. */
typedef struct share {
    int first, count, grain;
    ex_task_body body;
    void *context;
} share;

static void *work(void *argument) {
    share *s = argument;
    for (int begin = s->first * s->grain; begin < s->count; begin += THREADS * s->grain)
        s->body(s->context, begin, begin + s->grain < s->count ? begin + s->grain : s->count);
    return NULL;
}

static void run_in_threads(void *user, int count, int grain, ex_task_body body, void *context) {
    (void)user;
    pthread_t threads[THREADS];
    share shares[THREADS];
    for (int i = 0; i < THREADS; i++) {
        shares[i] = (share){i, count, grain, body, context};
        assert_int_equal(pthread_create(&threads[i], NULL, work, &shares[i]), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}

static void threads_do_not_matter(void **state) {
    (void)state;
    const ex_tasks tasks = {run_in_threads, NULL};
    for (int storage = 0; storage < EX_STORAGE_COUNT; storage++) {
        result *serial = evaluate(rigs[storage], POSES, NULL), *threaded = evaluate(rigs[storage], POSES, &tasks);
        result *single = evaluate(rigs[storage], 1, &tasks);
        assert_same(threaded, serial);
        assert_same(single, serial);
        release(serial);
        release(threaded);
        release(single);
    }
}

static void *evaluate_all(void *argument) {
    (void)argument;
    return evaluate(rigs[0], 7, NULL);
}

static void one_rig_serves_several_threads(void **state) {
    (void)state;
    result *serial = evaluate(rigs[0], 1, NULL);
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, evaluate_all, NULL), 0);
    for (int i = 0; i < THREADS; i++) {
        void *made = NULL;
        pthread_join(threads[i], &made);
        assert_same(made, serial);
        release(made);
    }
    release(serial);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(cuts_do_not_matter),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(one_rig_serves_several_threads),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

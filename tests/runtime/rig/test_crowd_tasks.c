/*
 * Many poses in one call: a handful of calls of the task hook, however many poses, each with pieces for many threads;
 * the same bits as one pose at a time with any division of the work; and scratch that is enough and no more.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/characters.h"
#include "support/check.h"
#include "support/rigs.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum {
    POSES = 70,
    RINGS = 36,
    SIDES = 40,
    LARGE = 6,
    THREADS = 4,
    PIXELS = CHARACTER_WIDTH * CHARACTER_HEIGHT * 4,
    GUARD = 64
};

/* A rig whose poses are small, and one with LARGE times as many vertices; the one in use. */
static character made[2];
static ex_rig *rigs[2], *rig;
static double inputs[POSES][CHARACTER_POSE];
static ex_transform joints[POSES][CHARACTER_JOINTS];

static int set_up(void **state) {
    (void)state;
    uint64_t random = 4;
    for (int i = 0; i < 2; i++) {
        character_open(&made[i], RINGS, i ? LARGE * SIDES : SIDES, EX_SKINNING_LINEAR);
        rigs[i] = rig_of(&made[i].def);
    }
    rig = rigs[0];
    for (int i = 0; i < POSES; i++) {
        ex_rig_rest_pose(rig, &(ex_pose){.inputs = inputs[i], .joints = joints[i]});
        for (int k = 0; k < CHARACTER_POSE; k++)
            inputs[i][k] = random_between(&random, 0, 1);
        for (int k = 0; k < CHARACTER_JOINTS; k++)
            joints[i][k].rotation[k] = (float)random_between(&random, -0.5, 0.5);
    }
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    for (int i = 0; i < 2; i++) {
        ex_rig_destroy(rigs[i]);
        character_close(&made[i]);
    }
    return 0;
}

/* ---- results of all poses ---- */

typedef struct results {
    float *positions, *normals, *tangents;
    unsigned char (*pixels)[PIXELS];
    float boxes[POSES][6];
    size_t count; /* vertices of a pose */
} results;

static results *open_results(int level) {
    results *r = calloc(1, sizeof *r);
    r->count = (size_t)ex_rig_level_vertex_count(rig, level);
    r->positions = calloc(POSES * r->count, 3 * sizeof(float));
    r->normals = calloc(POSES * r->count, 3 * sizeof(float));
    r->tangents = calloc(POSES * r->count, 4 * sizeof(float));
    r->pixels = calloc(POSES, sizeof *r->pixels);
    return r;
}

static void close_results(results *r) {
    free(r->positions);
    free(r->normals);
    free(r->tangents);
    free(r->pixels);
    free(r);
}

static void assert_same(const results *a, const results *b) {
    assert_memory_equal(a->positions, b->positions, POSES * a->count * 12);
    assert_memory_equal(a->normals, b->normals, POSES * a->count * 12);
    assert_memory_equal(a->tangents, b->tangents, POSES * a->count * 16);
    assert_memory_equal(a->pixels, b->pixels, POSES * sizeof *a->pixels);
    assert_memory_equal(a->boxes, b->boxes, sizeof a->boxes);
}

/* Evaluates all poses, `batch` in a call. Level 0 has texture coordinates, so it has tangents. */
static results *evaluate(int level, int batch, const ex_tasks *tasks) {
    results *r = open_results(level);
    static ex_pose poses[POSES];
    static ex_output outputs[POSES];
    static unsigned char *lists[POSES][1];
    for (int i = 0; i < POSES; i++) {
        lists[i][0] = r->pixels[i];
        poses[i] = (ex_pose){.inputs = inputs[i], .joints = joints[i]};
        outputs[i] = (ex_output){.positions = r->positions + 3 * r->count * (size_t)i,
                                 .normals = r->normals + 3 * r->count * (size_t)i,
                                 .tangents = level == 0 ? r->tangents + 4 * r->count * (size_t)i : NULL,
                                 .box = r->boxes[i],
                                 .textures = lists[i]};
    }
    const ex_evaluation how = {.level = level, .tasks = tasks};
    const size_t size = ex_rig_scratch_size(rig, &how, batch);
    char *scratch = malloc(size + GUARD);
    memset(scratch, 0x5A, size + GUARD);
    for (int first = 0; first < POSES; first += batch) {
        const int count = POSES - first < batch ? POSES - first : batch;
        ex_rig_evaluate_many(rig, count, poses + first, outputs + first, &how, scratch);
    }
    for (size_t i = 0; i < GUARD; i++)
        assert_int_equal(scratch[size + i], 0x5A);
    free(scratch);
    return r;
}

/* ---- tests ---- */

typedef struct counter {
    int calls, fewest_pieces;
} counter;

static void count_calls(void *user, int count, int grain, ex_task_body body, void *context) {
    counter *c = user;
    const int pieces = (count + grain - 1) / grain;
    c->calls++;
    c->fewest_pieces = pieces < c->fewest_pieces ? pieces : c->fewest_pieces;
    for (int end = count; end > 0; end -= grain)
        body(context, end > grain ? end - grain : 0, end);
}

/* Weigh; shape and pose; finish: each for all poses together, and all in one if poses are small. */
static void calls_are_a_handful(void **state) {
    (void)state;
    static const int levels[] = {0, 1, EX_LEVEL_LIMIT}, batches[] = {14, 35, POSES};
    for (int large = 0; large < 2; large++)
        for (int l = 0; l < 3; l++)
            for (int b = large; b < 3; b++) {
                counter c = {.fewest_pieces = 1000};
                const ex_tasks tasks = {count_calls, &c};
                rig = rigs[large];
                close_results(evaluate(levels[l], batches[b], &tasks));
                assert_int_equal(c.calls, (large ? 3 : 1) * (POSES / batches[b]));
                assert_true(c.fewest_pieces >= 14);
            }
}

static void count_first_calls(void *user, int count, int grain, ex_task_body body, void *context) {
    counter *c = user, later = {0};
    count_calls(c->calls < 3 ? c : &later, count, grain, body, context);
}

/* Sixteen large poses or a few more have pieces for 16 threads in every stage. */
static void threads_are_fed(void **state) {
    (void)state;
    static const int batches[] = {16, 17, 31, 35};
    rig = rigs[1];
    for (int b = 0; b < 4; b++) {
        counter c = {.fewest_pieces = 1000};
        const ex_tasks tasks = {count_first_calls, &c};
        close_results(evaluate(0, batches[b], &tasks));
        assert_true(c.fewest_pieces >= 16);
    }
}

typedef struct cutter {
    int step;
} cutter;
static void cut_oddly(void *user, int count, int grain, ex_task_body body, void *context) {
    (void)grain;
    for (int end = count, size = ((cutter *)user)->step; end > 0; end -= size, size = size % 5 + 1) {
        size = size < end ? size : end;
        body(context, end, end);
        body(context, end - size, end);
    }
}

static void cuts_do_not_matter(void **state) {
    (void)state;
    static const int levels[] = {0, 1, EX_LEVEL_LIMIT}, batches[] = {5, POSES};
    for (int l = 0; l < 4; l++) { /* of the large rig only the cage, which takes long enough */
        const int level = levels[l % 3];
        const bool large = l >= 3;
        rig = rigs[large];
        results *serial = evaluate(level, 1, NULL), *together = evaluate(level, POSES, NULL);
        assert_same(together, serial);
        close_results(together);
        for (int b = large; b < 2; b++)
            for (int step = 1; step < 20; step += 18) {
                cutter c = {step};
                const ex_tasks tasks = {cut_oddly, &c};
                results *cut = evaluate(level, batches[b], &tasks);
                assert_same(cut, serial);
                close_results(cut);
            }
        close_results(serial);
    }
}

/* A hook that starts threads in every call: each takes every THREADS-th piece. */
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
    for (int i = 0; i < 3; i++) {
        const int level = i % 2;
        rig = rigs[i / 2];
        results *serial = evaluate(level, 1, NULL), *threaded = evaluate(level, 50, &tasks);
        assert_same(threaded, serial);
        close_results(serial);
        close_results(threaded);
    }
}

/* Enough for fewer poses; at most 64 poses are finished at a time. */
static void scratch_grows_slowly(void **state) {
    (void)state;
    const ex_evaluation how = {.level = EX_LEVEL_LIMIT};
    size_t last = 0;
    rig = rigs[1];
    for (int count = 0; count <= 200; count++) {
        const size_t size = ex_rig_scratch_size(rig, &how, count);
        assert_true(size >= last);
        last = size;
    }
    assert_int_equal(ex_rig_scratch_size(rig, &how, 1001) - ex_rig_scratch_size(rig, &how, 1000),
                     ex_rig_scratch_size(rig, &how, 2) - ex_rig_scratch_size(rig, &how, 1));
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(calls_are_a_handful),  cmocka_unit_test(threads_are_fed),
        cmocka_unit_test(cuts_do_not_matter),   cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(scratch_grows_slowly),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

/*
 * Baking by several threads gives the same bytes as by one.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/bakes.h"
#include "support/scratch.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 4 };

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

static char *bake(const ex_rig *rig, const ex_motion *motion, const char *name, const ex_bake_options *options,
                  size_t *size) {
    ex_error error = {.result = EX_OK};
    const ex_result result = strstr(name, ".glb") ? ex_bake_glb(rig, motion, scratch_path(name), options, NULL, &error)
                                                  : ex_bake_cache(rig, motion, scratch_path(name), options, &error);
    if (result != EX_OK)
        fail_msg("%s", error.text);
    return scratch_read(name, size);
}

static void test_threads_do_not_matter(void **state) {
    (void)state;
    static const char *const names[] = {"a.glb", "a.mdd"};
    const ex_tasks tasks = {run_in_threads, NULL};
    ex_rig *rig = bake_arm_rig(9, 6, EX_SKINNING_DUAL_QUATERNION, BAKE_SKINNED | BAKE_OFFSETS);
    ex_motion *motion = bake_motion(rig, 45, 5, 80);
    for (int i = 0; i < 2; i++) {
        size_t size, other_size;
        ex_bake_options options = {.level = 1, .influence_most = 1, .thin = 1e-3};
        char *serial = bake(rig, motion, names[i], &options, &size);
        options.tasks = &tasks;
        char *threaded = bake(rig, motion, names[i], &options, &other_size);
        assert_int_equal(size, other_size);
        assert_memory_equal(serial, threaded, size);
        free(serial);
        free(threaded);
    }
    bake_motion_free(motion);
    ex_rig_destroy(rig);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_threads_do_not_matter),
    };
    return cmocka_run_group_tests(tests, scratch_set_up, scratch_tear_down);
}

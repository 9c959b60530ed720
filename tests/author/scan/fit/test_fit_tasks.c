/* The same bones, poses and errors, bit for bit, with any division of scans among threads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "author/scan/marked.h"

#include <pthread.h>
#include <string.h>

enum { THREADS = 3 };

static void run_backwards(void *user, int count, int grain, ex_task_body body, void *context) {
    (void)user;
    (void)grain;
    for (int i = count - 1; i >= 0; i--)
        body(context, i, i + 1);
}

typedef struct share {
    int begin, end;
    ex_task_body body;
    void *context;
    pthread_t thread;
} share;

static void *run_share(void *user) {
    share *s = user;
    s->body(s->context, s->begin, s->end);
    return NULL;
}

static void run_threads(void *user, int count, int grain, ex_task_body body, void *context) {
    (void)user;
    (void)grain;
    share shares[THREADS];
    for (int i = 0; i < THREADS; i++) {
        shares[i] = (share){count * i / THREADS, count * (i + 1) / THREADS, body, context, 0};
        if (i > 0)
            assert_int_equal(pthread_create(&shares[i].thread, NULL, run_share, &shares[i]), 0);
    }
    run_share(&shares[0]);
    for (int i = 1; i < THREADS; i++)
        pthread_join(shares[i].thread, NULL);
}

static void test_same_bytes(void **state) {
    (void)state;
    const marked_options o = {.scan_count = 20,
                              .arm_sites = 4,
                              .torso_sites = 4,
                              .noise = 0.001,
                              .missing = 0.2,
                              .wrong = 0.02,
                              .soft = 0.005,
                              .seed = 6};
    const ex_tasks ways[2] = {{.run = run_backwards}, {.run = run_threads}};
    marked_scene *m = marked_scene_make(&o);
    ex_kin_fit *alone = NULL, *fit = NULL;
    ex_error error = {0};
    assert_int_equal(ex_kinematics_fit(&m->def, &alone, &error), EX_OK);
    for (int w = 0; w < 2; w++) {
        m->def.tasks = &ways[w];
        assert_int_equal(ex_kinematics_fit(&m->def, &fit, &error), EX_OK);
        assert_memory_equal(fit->errors, alone->errors, (size_t)m->def.sighting_count * sizeof(double));
        assert_memory_equal(fit->site_sigmas, alone->site_sigmas, (size_t)m->body.site_count * sizeof(double));
        for (int i = 0; i < m->body.scan_count; i++) {
            assert_memory_equal(fit->poses[i].translation, alone->poses[i].translation, 3 * sizeof(double));
            assert_memory_equal(fit->poses[i].rotations, alone->poses[i].rotations, MARKED_JOINTS * 4 * sizeof(double));
        }
        for (int j = 0; j < MARKED_JOINTS; j++)
            assert_memory_equal(fit->kinematics->joints[j].translation, alone->kinematics->joints[j].translation,
                                3 * sizeof(double));
        assert_int_equal(fit->iteration_count, alone->iteration_count);
        ex_kin_fit_destroy(fit);
    }
    ex_kin_fit_destroy(alone);
    free(m);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_same_bytes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

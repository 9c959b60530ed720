/* A registration has the same result, bit for bit, however its work is cut, and with threads. */
#include "author/scan/register/limb.h"

#include <exemplar/author/register.h>

#include <pthread.h>

enum { PIECE = 97, THREADS = 3 };

typedef struct piece {
    ex_task_body body;
    void *context;
    int begin, end;
} piece;

static void *work(void *argument) {
    const piece *p = argument;
    p->body(p->context, p->begin, p->end);
    return NULL;
}

/* Threads, THREADS at a time, from the end. */
static void run_threads(void *user, int count, int grain, ex_task_body body, void *context) {
    (void)user;
    (void)grain;
    int end = count;
    while (end > 0) {
        pthread_t threads[THREADS];
        piece pieces[THREADS];
        int started = 0;
        for (; started < THREADS && end > 0; started++) {
            const int size = (end + THREADS - 1) / THREADS > PIECE ? (end + THREADS - 1) / THREADS : PIECE;
            pieces[started] = (piece){body, context, end > size ? end - size : 0, end};
            end = pieces[started].begin;
            assert_int_equal(pthread_create(&threads[started], NULL, work, &pieces[started]), 0);
        }
        for (int i = 0; i < started; i++)
            pthread_join(threads[i], NULL);
    }
}

static void same(void **state) {
    (void)state;
    ex_mesh *mesh = limb_mesh(16, 14, 0, 1), *scan = limb_mesh(50, 40, 0.4, 1.05);
    const ex_mesh *scans[1] = {scan};
    const ex_tasks tasks = {.run = run_threads};
    ex_register_def def = {.mesh = mesh, .scans = scans, .scan_count = 1};
    ex_registered *alone = NULL, *many = NULL;
    assert_int_equal(ex_register(&def, &alone, NULL), EX_OK);
    def.tasks = &tasks;
    assert_int_equal(ex_register(&def, &many, NULL), EX_OK);
    const size_t n = (size_t)mesh->vertex_count;
    assert_memory_equal(alone->vertices, many->vertices, n * sizeof *alone->vertices);
    assert_memory_equal(alone->confidences, many->confidences, n * sizeof *alone->confidences);
    assert_true(alone->rms == many->rms && alone->covered == many->covered);
    ex_registered_destroy(alone);
    ex_registered_destroy(many);
    ex_mesh_destroy(mesh);
    ex_mesh_destroy(scan);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(same)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The same bytes with any division of tiles among any threads. Progress comes only from the calling thread. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/pictures.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { THREADS = 3 };

/* One by one, from the last to the first. */
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

typedef struct watcher {
    pthread_t thread;
    atomic_int calls, strangers; /* from other threads */
    double last;
} watcher;

static bool watch(void *user, const char *what, double fraction) {
    watcher *w = user;
    /* No assertions: in another thread they would jump into this one. */
    if (!pthread_equal(pthread_self(), w->thread) || strcmp(what, "rendering") != 0 ||
        !(fraction >= 0 && fraction <= 1))
        atomic_fetch_add(&w->strangers, 1);
    else
        w->last = fraction;
    atomic_fetch_add(&w->calls, 1);
    return true;
}

static void the_bytes_are_the_same(void **state) {
    (void)state;
    ex_mesh *meshes[2] = {ball_mesh(1, 0, 0.3, 0, 32), box_mesh((double[]){0.5, -1, -0.5}, (double[]){1.6, 0, 0.9})};
    ex_render_item items[2] = {item_of(meshes[0]), item_of(meshes[1])};
    items[1].stripes = 0.5;
    ex_render_def def = ex_render_def_default();
    def.items = items;
    def.item_count = 2;
    def.width = 230;
    def.height = 310;
    def.occlusion = 3;
    def.wireframe = 0.8;
    ex_image *expected = picture_of(&def);
    for (int y = 0; y < def.height; y++)
        for (int x = 0; x < def.width; x++)
            assert_int_equal(channel_at(expected, x, y, 3), 255); /* no tile was left out */
    const ex_tasks ways[2] = {{.run = run_backwards}, {.run = run_threads}};
    for (int i = 0; i < 2; i++) {
        watcher w = {.thread = pthread_self()};
        ex_progress progress = {.report = watch, .user = &w};
        def.tasks = &ways[i];
        def.progress = &progress;
        ex_image *image = picture_of(&def);
        assert_memory_equal(image->pixels, expected->pixels, (size_t)def.width * (size_t)def.height * 4);
        ex_image_destroy(image);
        assert_true(atomic_load(&w.calls) > 0);
        assert_int_equal(atomic_load(&w.strangers), 0);
        if (i == 0)
            assert_true(w.last == 1);
    }
    ex_image_destroy(expected);
    for (int i = 0; i < 2; i++)
        ex_mesh_destroy(meshes[i]);
}

static bool stop_soon(void *user, const char *what, double fraction) {
    (void)what, (void)fraction;
    return ++*(int *)user < 3;
}

static void work_stops_when_asked(void **state) {
    (void)state;
    ex_mesh *mesh = ball_mesh(1, 0, 0.3, 0, 32);
    const ex_render_item item = item_of(mesh);
    const ex_tasks ways[2] = {{.run = run_backwards}, {.run = run_threads}};
    ex_render_def def = ex_render_def_default();
    def.items = &item;
    def.item_count = 1;
    for (int i = 0; i < 3; i++) {
        int calls = 0;
        const ex_progress progress = {.report = stop_soon, .user = &calls};
        ex_image *image = NULL;
        def.tasks = i < 2 ? &ways[i] : NULL;
        def.progress = &progress;
        assert_int_equal(ex_render(&def, &image, NULL), EX_ERROR_FILE);
        assert_null(image);
        assert_int_equal(calls, 3);
    }
    ex_mesh_destroy(mesh);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_bytes_are_the_same),
                                       cmocka_unit_test(work_stops_when_asked)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/*
 * The tool's thread pool: every index is done exactly once for any count, grain and number of threads, a hook called
 * from inside a job works, and any number of pools can be made and ended. Run under the thread sanitizer too.
 */
#include "../../common/pool.c"

#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#define COUNT_MAX 5000

typedef struct job {
    atomic_int done[COUNT_MAX];
    atomic_int pieces;
    atomic_int shortest; /* of all pieces but the last of the range */
    int count;
    const ex_tasks *inner; /* or NULL: called again from inside */
    atomic_llong inner_sum;
} job;

static void add_range(void *context, int begin, int end) {
    job *work = context;
    for (int i = begin; i < end; i++)
        atomic_fetch_add(&work->inner_sum, i);
}

static void mark(void *context, int begin, int end) {
    job *work = context;
    atomic_fetch_add(&work->pieces, 1);
    int shortest = atomic_load(&work->shortest);
    while (end < work->count && end - begin < shortest &&
           !atomic_compare_exchange_weak(&work->shortest, &shortest, end - begin)) {
    }
    for (int i = begin; i < end; i++)
        atomic_fetch_add(&work->done[i], 1);
    if (work->inner)
        work->inner->run(work->inner->user, 100, 1, add_range, work);
}

static void run_job(const ex_tasks *tasks, job *work, int count, int grain) {
    for (int i = 0; i < COUNT_MAX; i++)
        atomic_store(&work->done[i], 0);
    atomic_store(&work->pieces, 0);
    atomic_store(&work->shortest, COUNT_MAX);
    atomic_store(&work->inner_sum, 0);
    work->count = count;
    tasks->run(tasks->user, count, grain, mark, work);
}

static job shared;

static void every_index_once(void **state) {
    (void)state;
    static const int counts[] = {0, 1, 2, 3, 7, 64, 999, COUNT_MAX};
    static const int grains[] = {0, 1, 2, 5, 64, 1000};
    for (int threads = 2; threads <= 5; threads++) {
        exi_pool *pool = exi_pool_create(threads);
        assert_non_null(pool);
        shared.inner = NULL;
        for (int c = 0; c < 8; c++)
            for (int g = 0; g < 6; g++) {
                run_job(exi_pool_tasks(pool), &shared, counts[c], grains[g]);
                for (int i = 0; i < COUNT_MAX; i++)
                    assert_int_equal(atomic_load(&shared.done[i]), i < counts[c] ? 1 : 0);
                if (atomic_load(&shared.pieces) > 1)
                    assert_true(atomic_load(&shared.shortest) >= grains[g]);
            }
        exi_pool_destroy(pool);
    }
}

static void work_is_divided(void **state) {
    (void)state;
    exi_pool *pool = exi_pool_create(4);
    shared.inner = NULL;
    run_job(exi_pool_tasks(pool), &shared, COUNT_MAX, 1);
    assert_in_range(atomic_load(&shared.pieces), 16, 17);
    run_job(exi_pool_tasks(pool), &shared, 100, 100);
    assert_int_equal(atomic_load(&shared.pieces), 1);
    exi_pool_destroy(pool);
}

static void a_job_may_call_the_hook(void **state) {
    (void)state;
    exi_pool *pool = exi_pool_create(3);
    shared.inner = exi_pool_tasks(pool);
    run_job(exi_pool_tasks(pool), &shared, 1000, 1);
    assert_int_equal(atomic_load(&shared.inner_sum), 4950LL * atomic_load(&shared.pieces));
    exi_pool_destroy(pool);
}

static void many_short_jobs(void **state) {
    (void)state;
    exi_pool *pool = exi_pool_create(4);
    shared.inner = NULL;
    for (int i = 0; i < 300; i++) {
        run_job(exi_pool_tasks(pool), &shared, 40, 1);
        for (int k = 0; k < 40; k++)
            assert_int_equal(atomic_load(&shared.done[k]), 1);
    }
    exi_pool_destroy(pool);
}

static void *second_caller(void *user) {
    const ex_tasks *tasks = user;
    static job other;
    for (int i = 0; i < 100; i++) {
        run_job(tasks, &other, 500, 1);
        for (int k = 0; k < 500; k++)
            if (atomic_load(&other.done[k]) != 1)
                return &other;
    }
    return NULL;
}

static void two_callers(void **state) {
    (void)state;
    exi_pool *pool = exi_pool_create(3);
    ex_tasks tasks = *exi_pool_tasks(pool);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, second_caller, &tasks), 0);
    shared.inner = NULL;
    for (int i = 0; i < 100; i++) {
        run_job(&tasks, &shared, 500, 1);
        for (int k = 0; k < 500; k++)
            assert_int_equal(atomic_load(&shared.done[k]), 1);
    }
    void *failed = &shared;
    pthread_join(thread, &failed);
    assert_null(failed);
    exi_pool_destroy(pool);
}

/* Holds the caller until a worker has reported if it could be interrupted: 1 yes, 2 no. */
typedef struct mask_job {
    pthread_t caller;
    atomic_int verdict;
} mask_job;

static void look_at_mask(void *context, int begin, int end) {
    (void)begin;
    (void)end;
    mask_job *work = context;
    if (!pthread_equal(pthread_self(), work->caller)) {
        sigset_t mask;
        pthread_sigmask(SIG_SETMASK, NULL, &mask);
        atomic_store(&work->verdict, sigismember(&mask, SIGINT) && sigismember(&mask, SIGTERM) ? 2 : 1);
    }
    while (atomic_load(&work->verdict) == 0)
        sched_yield();
}

static void signals_are_for_the_caller(void **state) {
    (void)state;
    exi_pool *pool = exi_pool_create(2);
    mask_job work = {.caller = pthread_self()};
    pool->tasks.run(pool->tasks.user, 8, 1, look_at_mask, &work);
    assert_int_equal(atomic_load(&work.verdict), 2);
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    assert_false(sigismember(&mask, SIGINT));
    exi_pool_destroy(pool);
}

static void one_thread_is_no_pool(void **state) {
    (void)state;
    assert_null(exi_pool_create(1));
    assert_null(exi_pool_create(0));
    assert_null(exi_pool_tasks(NULL));
    exi_pool_destroy(NULL);
    assert_true(exi_core_count() >= 1);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_index_once),
        cmocka_unit_test(work_is_divided),
        cmocka_unit_test(a_job_may_call_the_hook),
        cmocka_unit_test(many_short_jobs),
        cmocka_unit_test(two_callers),
        cmocka_unit_test(signals_are_for_the_caller),
        cmocka_unit_test(one_thread_is_no_pool),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

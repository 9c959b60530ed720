/*
 * common/pool.c - runs a range [0, count) in chunks; workers and the caller take the next chunk from one atomic
 * counter until none is left. A chunk is a quarter of an even share, so that a delayed thread does not delay the rest.
 *
 * A worker joins a job under the lock while the job is open, and leaves it under the lock; the caller closes the job
 * when the counter has run out and waits for those that joined. So no worker can look at a job that has ended.
 */
#define _POSIX_C_SOURCE 200809L

#include "pool.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

struct exi_pool {
    ex_tasks tasks;
    pthread_mutex_t caller; /* held while a job runs */
    pthread_mutex_t lock;   /* guards the fields below, except the atomic counter */
    pthread_cond_t wake;    /* signals that a job was opened or the pool ends */
    pthread_cond_t done;    /* signals that the last worker left the job */
    bool ending;
    bool open;         /* true if workers may join the job */
    unsigned serial;   /* number of the job: a worker joins each job once */
    int joined;        /* number of workers inside the job */
    atomic_llong next; /* first index not yet taken */
    int count, chunk;
    ex_task_body body;
    void *context;
    int worker_count;
    pthread_t workers[];
};

int exi_core_count(void) {
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count < 1 ? 1 : count > EXI_THREAD_MAX ? EXI_THREAD_MAX : (int)count;
}

static void work(exi_pool *pool) {
    for (;;) {
        long long begin = atomic_fetch_add_explicit(&pool->next, pool->chunk, memory_order_relaxed);
        if (begin >= pool->count)
            return;
        long long end = begin + pool->chunk;
        pool->body(pool->context, (int)begin, end > pool->count ? pool->count : (int)end);
    }
}

static void *worker_main(void *user) {
    exi_pool *pool = user;
    unsigned last = 0;
    pthread_mutex_lock(&pool->lock);
    for (;;) {
        while (!pool->ending && !(pool->open && pool->serial != last))
            pthread_cond_wait(&pool->wake, &pool->lock);
        if (pool->ending)
            break;
        last = pool->serial;
        pool->joined++;
        pthread_mutex_unlock(&pool->lock);
        work(pool);
        pthread_mutex_lock(&pool->lock);
        if (--pool->joined == 0)
            pthread_cond_signal(&pool->done);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

static int chunk_size(const exi_pool *pool, int count, int grain) {
    int share = count / (4 * (pool->worker_count + 1));
    if (share <= grain)
        return grain;
    return share - share % grain;
}

static void run(void *user, int count, int grain, ex_task_body body, void *context) {
    exi_pool *pool = user;
    grain = grain < 1 ? 1 : grain;
    if (count <= 0)
        return;
    if (count <= grain || pthread_mutex_trylock(&pool->caller) != 0) {
        body(context, 0, count);
        return;
    }
    pthread_mutex_lock(&pool->lock);
    atomic_store_explicit(&pool->next, 0, memory_order_relaxed);
    pool->count = count;
    pool->chunk = chunk_size(pool, count, grain);
    pool->body = body;
    pool->context = context;
    pool->serial++;
    pool->open = true;
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->lock);

    work(pool);

    pthread_mutex_lock(&pool->lock);
    pool->open = false;
    while (pool->joined > 0)
        pthread_cond_wait(&pool->done, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
    pthread_mutex_unlock(&pool->caller);
}

exi_pool *exi_pool_create(int threads) {
    if (threads <= 1)
        return NULL;
    threads = threads > EXI_THREAD_MAX ? EXI_THREAD_MAX : threads;
    exi_pool *pool = calloc(1, sizeof *pool + (size_t)(threads - 1) * sizeof pool->workers[0]);
    if (!pool)
        return NULL;
    pthread_mutex_init(&pool->caller, NULL);
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->wake, NULL);
    pthread_cond_init(&pool->done, NULL);
    atomic_init(&pool->next, 0);
    pool->tasks = (ex_tasks){.run = run, .user = pool};
    /* Workers inherit a mask that blocks signals, because the handler needs the main thread (interrupt.h). */
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    /* Continue with fewer threads than requested: a limit on processes should not stop the work. worker_count is final
     * before the first job, so no lock is needed to read it. */
    while (pool->worker_count < threads - 1 &&
           pthread_create(&pool->workers[pool->worker_count], NULL, worker_main, pool) == 0)
        pool->worker_count++;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (pool->worker_count == 0) {
        exi_pool_destroy(pool);
        return NULL;
    }
    return pool;
}

void exi_pool_destroy(exi_pool *pool) {
    if (!pool)
        return;
    pthread_mutex_lock(&pool->lock);
    pool->ending = true;
    pthread_cond_broadcast(&pool->wake);
    pthread_mutex_unlock(&pool->lock);
    for (int i = 0; i < pool->worker_count; i++)
        pthread_join(pool->workers[i], NULL);
    pthread_cond_destroy(&pool->done);
    pthread_cond_destroy(&pool->wake);
    pthread_mutex_destroy(&pool->lock);
    pthread_mutex_destroy(&pool->caller);
    free(pool);
}

const ex_tasks *exi_pool_tasks(const exi_pool *pool) {
    return pool ? &pool->tasks : NULL;
}

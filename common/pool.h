/*
 * common/pool.h - threads for clients of the library: a pool of pthreads behind the library's task hook.
 *
 * Workers start with the pool and sleep between jobs. One job runs at a time: a call of the hook from inside a job, or
 * from a second thread meanwhile, runs serially in its caller.
 */
#ifndef EXEMPLAR_COMMON_POOL_H
#define EXEMPLAR_COMMON_POOL_H

#include <exemplar/base.h>

/* Limit on threads: more do not help and are probably a typing error. */
#define EXI_THREAD_MAX 1024

typedef struct exi_pool exi_pool;

/* Number of threads that can run at once on this machine, at least 1. */
int exi_core_count(void);

/*
 * Creates a pool of `threads` threads, including the caller's. NULL for 1, and if no thread can be started (the work is
 * then done serially, with the same result).
 */
exi_pool *exi_pool_create(int threads);
/* NULL is fine. */
void exi_pool_destroy(exi_pool *pool);

/* The hook, owned by the pool; NULL if there is no pool. */
const ex_tasks *exi_pool_tasks(const exi_pool *pool);

#endif

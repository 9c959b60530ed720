/*
 * cli/pool.h - the tool's threads: a pool of pthreads behind the library's task hook.
 *
 * Workers start with the pool and sleep between jobs. One job runs at a time: a call of the hook from inside a job, or
 * from a second thread meanwhile, is done serially by its caller.
 */
#ifndef EXEMPLAR_CLI_POOL_H
#define EXEMPLAR_CLI_POOL_H

#include <exemplar/base.h>

/* More threads than this help nobody and are more likely a slip of the hand. */
#define EXI_THREAD_MAX 1024

typedef struct exi_pool exi_pool;

/* Threads that can run at once on this machine, at least 1. */
int exi_core_count(void);

/*
 * A pool of so many threads, the caller's included. NULL for 1, and where no thread can be started (the work is then
 * done serially, with the same result).
 */
exi_pool *exi_pool_create(int threads);
/* NULL is fine. */
void exi_pool_destroy(exi_pool *pool);

/* The hook, owned by the pool; NULL for no pool. */
const ex_tasks *exi_pool_tasks(const exi_pool *pool);

#endif

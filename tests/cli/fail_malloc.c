/*
 * A library for LD_PRELOAD that makes allocations of a program fail, including those inside libc and other libraries.
 * Reads its orders from the environment:
 *
 *   FAIL_AT      the number of the allocation that fails, counted from 1; without it none does
 *   FAIL_ALL     if set, all later ones fail too
 *   FAIL_COUNT   a descriptor that gets the number of allocations as text when the program ends
 *   FAIL_TRACE   a descriptor that gets the addresses of the callers when the first one fails
 *
 * The names with __libc_ are glibc's, for this purpose.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <execinfo.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void *__libc_memalign(size_t alignment, size_t size);

static atomic_long made;
static long fail_at; /* 0: none */
static bool fail_all;
static int count_to = -1, trace_to = -1;

static long get_number(const char *name, long otherwise) {
    const char *text = getenv(name);
    return text ? strtol(text, NULL, 10) : otherwise;
}

__attribute__((constructor)) static void open_orders(void) {
    count_to = (int)get_number("FAIL_COUNT", -1);
    trace_to = (int)get_number("FAIL_TRACE", -1);
    fail_all = getenv("FAIL_ALL") != NULL;
    void *callers[1];
    if (trace_to >= 0)
        backtrace(callers, 1); /* which allocates the first time */
    atomic_store(&made, 0);
    fail_at = get_number("FAIL_AT", 0);
}

__attribute__((destructor)) static void tell_count(void) {
    if (count_to >= 0)
        dprintf(count_to, "%ld\n", atomic_load(&made));
}

static bool fails_now(void) {
    const long number = atomic_fetch_add(&made, 1) + 1;
    if (fail_at == 0 || number < fail_at || (number > fail_at && !fail_all))
        return false;
    if (trace_to >= 0 && number == fail_at) {
        void *callers[40];
        const int count = backtrace(callers, 40);
        backtrace_symbols_fd(callers, count, trace_to);
    }
    errno = ENOMEM;
    return true;
}

void *malloc(size_t size) {
    return fails_now() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    return fails_now() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size) {
    return fails_now() ? NULL : __libc_realloc(memory, size);
}

void *memalign(size_t alignment, size_t size) {
    return fails_now() ? NULL : __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
    return memalign(alignment, size);
}

int posix_memalign(void **memory, size_t alignment, size_t size) {
    *memory = memalign(alignment, size);
    return *memory ? 0 : ENOMEM;
}

/*
 * fail_alloc.h - makes the n-th allocation of the code under test fail.
 *
 * The test program is linked with -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=free, which catches the calls
 * of the test and of the static libraries in it, and those of jansson; others inside libc and shared libraries go
 * through. One thread only.
 */
#ifndef EXEMPLAR_TESTS_FAIL_ALLOC_H
#define EXEMPLAR_TESTS_FAIL_ALLOC_H

#include <exemplar/base.h>

/* Makes only the n-th allocation from now on fail (counting from 1); 0 lets all succeed. */
void fail_alloc_arm(int n);

/* True if that allocation was reached since then. */
bool fail_alloc_reached(void);

/*
 * The allocation to fail after the n-th: the next one, unless EX_SPARSE is in the environment, as it is below
 * sanitizers and valgrind. Then the first 48 fail, and fewer and fewer of those behind them: 116 of 1000.
 */
int fail_alloc_next(int n);

/*
 * Runs attempt(context) with its first, then its second, … allocation failing (fail_alloc_next), until it succeeds
 * without reaching the failing one. Fails the test if an attempt with a failed allocation returns anything but
 * EX_ERROR_MEMORY, or the last one anything but EX_OK. Returns the number of allocations of an attempt.
 */
int fail_alloc_sweep(ex_result (*attempt)(void *context), void *context);

#endif

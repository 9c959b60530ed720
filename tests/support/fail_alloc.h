/*
 * fail_alloc.h - tests in which memory runs out: the n-th allocation of the code under test fails.
 *
 * The test program is linked with -Wl,--wrap=malloc,--wrap=calloc,--wrap=realloc,--wrap=free, which catches the calls
 * of the test and of the static libraries in it; those inside libc and other shared libraries go through. One thread
 * only.
 */
#ifndef EXEMPLAR_TESTS_FAIL_ALLOC_H
#define EXEMPLAR_TESTS_FAIL_ALLOC_H

#include <exemplar/base.h>

/* From now on the n-th allocation fails (counting from 1), and that one only; 0 lets all succeed. */
void fail_alloc_arm(int n);

/* Whether the allocation that was to fail was reached since then. */
bool fail_alloc_reached(void);

/*
 * Runs attempt(context) with its first, then its second, … allocation failing, until it gets through without reaching
 * the one that was to fail. Fails the test where an attempt with a failed allocation returns anything but
 * EX_ERROR_MEMORY, or the last one anything but EX_OK. Returns how many allocations an attempt makes.
 */
int fail_alloc_sweep(ex_result (*attempt)(void *context), void *context);

#endif

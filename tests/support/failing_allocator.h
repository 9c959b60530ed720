/*
 * failing_allocator.h - an ex_allocator for tests: it fails at a chosen allocation and checks what is released. Memory
 * is aligned to 64 bytes, holds garbage at first and has a guard after it; releasing with a size other than the
 * allocated one, or with a damaged guard, fails the test. One thread only.
 */
#ifndef EXEMPLAR_TESTS_FAILING_ALLOCATOR_H
#define EXEMPLAR_TESTS_FAILING_ALLOCATOR_H

#include <exemplar/base.h>

typedef struct failing_allocator {
    ex_allocator allocator; /* for the code under test; it points back here, so do not move this struct */
    int live;               /* number of allocations held */
    int made;               /* number of allocations requested since the last arming, including failed ones */
    size_t largest;         /* bytes of the largest one requested since then */
    size_t limit;           /* larger ones fail, as on a machine with little memory; default 1 GB */
    int until_failure;      /* 0: none */
    bool reached;           /* true if the failing one was requested */
} failing_allocator;

void failing_allocator_open(failing_allocator *f);

/* Makes only the n-th allocation from now on fail (counting from 1); 0 lets all succeed. */
void failing_allocator_arm(failing_allocator *f, int n);

/* Fails the test if an allocation is still held. */
void failing_allocator_close(failing_allocator *f);

/*
 * Runs attempt(context, allocator) with its first, then its second, … allocation failing (fail_alloc_next), until it
 * succeeds. An attempt destroys what it made. Fails the test if an attempt with a failed allocation returns anything
 * but EX_ERROR_MEMORY, if the last one returns anything but EX_OK, or if any leaves an allocation held. Returns the
 * number of allocations of an attempt.
 */
int failing_allocator_sweep(ex_result (*attempt)(void *context, const ex_allocator *allocator), void *context);

#endif

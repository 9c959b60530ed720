/*
 * failing_allocator.h - an ex_allocator for tests: it fails at a chosen allocation and watches what it gives and gets
 * back. Memory is aligned to 64 bytes, holds garbage at first and has a guard behind it; a release with another size
 * than was asked for, or with a damaged guard, fails the test. One thread only.
 */
#ifndef EXEMPLAR_TESTS_FAILING_ALLOCATOR_H
#define EXEMPLAR_TESTS_FAILING_ALLOCATOR_H

#include <exemplar/base.h>

typedef struct failing_allocator {
    ex_allocator allocator; /* for the code under test; it points back here, so this struct must stay where it is */
    int live;               /* allocations that are held */
    int made;               /* allocations asked for since the last arming, failed ones included */
    size_t largest;         /* bytes of the largest one asked for since then */
    size_t limit;           /* larger ones fail, as on a machine with little memory; 1 GB at first */
    int until_failure;      /* 0: none */
    bool reached;           /* whether the one that was to fail was asked for */
} failing_allocator;

void failing_allocator_open(failing_allocator *f);

/* From now on the n-th allocation fails (counting from 1), and that one only; 0 lets all succeed. */
void failing_allocator_arm(failing_allocator *f, int n);

/* Fails the test where something is still held. */
void failing_allocator_close(failing_allocator *f);

/*
 * Runs attempt(context, allocator) with its first, then its second, … allocation failing, until it gets through. An
 * attempt destroys what it made. Fails the test where an attempt with a failed allocation returns anything but
 * EX_ERROR_MEMORY, where the last one returns anything but EX_OK, or where any leaves something held. Returns how many
 * allocations an attempt makes.
 */
int failing_allocator_sweep(ex_result (*attempt)(void *context, const ex_allocator *allocator), void *context);

#endif

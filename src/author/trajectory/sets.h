/*
 * sets.h - disjoint sets of numbers, as parents [count] that begin with every number its own; private to the room.
 */
#ifndef EXEMPLAR_AUTHOR_TRAJECTORY_SETS_H
#define EXEMPLAR_AUTHOR_TRAJECTORY_SETS_H

/* The number that stands for the set of i. */
static inline int exi_set_of(int *parents, int i) {
    while (parents[i] != i)
        i = parents[i] = parents[parents[i]];
    return i;
}

/* Makes one set of two; the smaller number stands for it. */
static inline void exi_sets_join(int *parents, int a, int b) {
    a = exi_set_of(parents, a);
    b = exi_set_of(parents, b);
    parents[a > b ? a : b] = a < b ? a : b;
}

#endif

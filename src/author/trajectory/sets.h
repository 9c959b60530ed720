/*
 * sets.h - disjoint sets of numbers, as parents [count]; initially every number is its own parent. Private to the room.
 */
#ifndef EXEMPLAR_AUTHOR_TRAJECTORY_SETS_H
#define EXEMPLAR_AUTHOR_TRAJECTORY_SETS_H

/* Returns the representative of the set that contains i. */
static inline int exi_set_of(int *parents, int i) {
    while (parents[i] != i)
        i = parents[i] = parents[parents[i]];
    return i;
}

/* Merges two sets; the smaller number represents the result. */
static inline void exi_sets_join(int *parents, int a, int b) {
    a = exi_set_of(parents, a);
    b = exi_set_of(parents, b);
    parents[a > b ? a : b] = a < b ? a : b;
}

#endif

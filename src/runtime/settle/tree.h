/*
 * Memory layout of the bounding-volume tree and its fits, both without pointers.
 *
 * A node has up to four children: later nodes, or blocks of up to four triangles. Nodes are stored level by level, root
 * first, so that a fit is made from the last level to the first. Unused lanes of a block repeat one of its triangles;
 * missing children have an empty box (from infinity to minus infinity).
 */
#ifndef EXI_SETTLE_TREE_H
#define EXI_SETTLE_TREE_H

#include "runtime/base/simd.h"

#include <exemplar/settle.h>

#include <float.h>

enum {
    EXI_TREE_LEAF = 4,          /* triangles per block */
    EXI_TREE_DEPTH_SORTED = 24, /* levels split by surface area; below them, halves, which bounds the depth */
    EXI_TREE_DEPTH = EXI_TREE_DEPTH_SORTED + 16,
    EXI_TREE_STACK = 3 * EXI_TREE_DEPTH + 4 /* a query postpones at most three children per level */
};

/* A child is the index of a node, or of a block with this bit. */
#define EXI_TREE_BLOCK 0x80000000u

/* Larger numbers count as not finite: squares of their differences stay below FLT_MAX. */
#define EXI_TREE_LARGEST 1e18f

typedef struct exi_tree_block {
    uint32_t vertex[3][4]; /* [corner][lane] */
    uint32_t triangle[4];
} exi_tree_block;

struct ex_tree {
    uint64_t size;
    int32_t vertex_count, triangle_count, node_count, block_count, level_count;
    int32_t levels[EXI_TREE_DEPTH + 1]; /* [level_count + 1] first nodes */
    uint64_t children;                  /* [node_count][4] uint32_t */
    uint64_t blocks;                    /* [block_count] exi_tree_block */
};

/* Two cache lines. */
typedef struct exi_fit_node {
    float box[6][4]; /* low x y z, high x y z */
    uint32_t child[4];
    uint32_t unused[4];
} exi_fit_node;

typedef struct exi_fit_block {
    float corner[3][3][4]; /* [corner][axis][lane] */
    uint32_t triangle[4];
} exi_fit_block;

struct ex_bounds {
    uint64_t nodes;  /* [node_count] exi_fit_node */
    uint64_t blocks; /* [block_count] exi_fit_block */
    int32_t node_count, block_count;
    float low[3], high[3]; /* of all triangles; low > high if there are none */
};

static inline void *exi_tree_at(const void *block, uint64_t offset) {
    return (void *)((uintptr_t)block + (uintptr_t)offset);
}

/* Returns the index of the lowest set bit; bits must not be 0. */
static inline int exi_lowest_bit(uint64_t bits) {
#if defined(__GNUC__)
    return __builtin_ctzll(bits);
#else
    int bit = 0;
    for (; !(bits & 1); bits >>= 1)
        bit++;
    return bit;
#endif
}

/*
 * Key of a pending child in a query: the smallest possible distance, as the bits of a float that is not negative, which
 * sort like integers; then the child. No key is 0, since no child is the root.
 */
static inline float exi_tree_key_near(uint64_t key) {
    const uint32_t bits = (uint32_t)(key >> 32);
    float near;
    memcpy(&near, &bits, sizeof near);
    return near;
}

/* Sorts two keys, larger first. */
static inline void exi_tree_sort_two(uint64_t *a, uint64_t *b) {
    const uint64_t high = *a > *b ? *a : *b, low = *a > *b ? *b : *a;
    *a = high;
    *b = low;
}

static inline uint64_t exi_tree_lower(uint64_t a, uint64_t b) {
    return a < b ? a : b;
}

/*
 * Sorts a node's four keys (0: skip): gets the nearest, or 0, and pushes the others on the stack, nearest last. It has
 * no branch that depends on the keys, since their number is unpredictable. Returns the new height; the stack needs room
 * for three more than are counted.
 */
static inline int exi_tree_push(uint64_t *stack, int height, uint64_t keys[4], uint64_t *nearest) {
    uint64_t a = keys[0], b = keys[1], c = keys[2], d = keys[3];
    *nearest = exi_tree_lower(exi_tree_lower(a - 1, b - 1), exi_tree_lower(c - 1, d - 1)) + 1;
    exi_tree_sort_two(&a, &b);
    exi_tree_sort_two(&c, &d);
    exi_tree_sort_two(&a, &c);
    exi_tree_sort_two(&b, &d);
    exi_tree_sort_two(&b, &c);
    stack[height] = a;
    stack[height + 1] = b;
    stack[height + 2] = c;
    return height + (b != 0) + (c != 0) + (d != 0);
}

#endif

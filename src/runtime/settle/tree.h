/*
 * Memory layout of the bounding-volume tree and its fits, both without pointers.
 *
 * A node has up to EXI_TREE_FAN children: later nodes, or blocks of up to four triangles. Nodes are stored level by
 * level, root first, so that a fit is made from the last level to the first. Unused lanes of a block repeat one of its
 * triangles; missing children have an empty box (from infinity to minus infinity).
 */
#ifndef EXI_SETTLE_TREE_H
#define EXI_SETTLE_TREE_H

#include <exemplar/settle.h>

#include <float.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* Children of a node: as many as the registers of most machines of this kind have lanes. */
#if (defined(__x86_64__) || defined(_M_X64)) && !defined(EX_SIMD_SCALAR)
#define EXI_TREE_FAN 8
#else
#define EXI_TREE_FAN 4
#endif

enum {
    EXI_TREE_LEAF = 4,          /* triangles per block */
    EXI_TREE_DEPTH_SORTED = 24, /* levels split by surface area; below them, halves, which bounds the depth */
    EXI_TREE_DEPTH = EXI_TREE_DEPTH_SORTED + 16,
    /* A query postpones all children but one per level, and writes whole nodes. */
    EXI_TREE_STACK = (EXI_TREE_FAN - 1) * EXI_TREE_DEPTH + EXI_TREE_FAN
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
    uint64_t children;                  /* [node_count][EXI_TREE_FAN] uint32_t */
    uint64_t blocks;                    /* [block_count] exi_tree_block */
};

/* Whole cache lines. */
typedef struct exi_fit_node {
    float box[6][EXI_TREE_FAN]; /* low x y z, high x y z */
    uint32_t child[EXI_TREE_FAN];
    uint32_t unused[EXI_TREE_FAN];
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

/* ---- closest_kernel.c ---- */

/* Searches the tree for a triangle nearer to q than best, and sets its block if it finds one. best->distance_sq bounds
 * the search and is never infinite; the point stays relative to q. */
void exi_fit_search(const ex_bounds *fit, const float q[3], ex_closest *best, uint32_t *block);

/* ---- ray_kernel.c ---- */

/* Finds the nearest hit of a ray, or any: only true or false counts then. */
bool exi_ray_find(const ex_bounds *fit, const ex_ray *ray, bool any, ex_hit *hit);

#endif

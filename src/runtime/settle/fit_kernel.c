/*
 * The nodes of a fit (fit.c): the corners of every block's triangles, four in a register, and the boxes around them.
 */
#include "runtime/base/simd.h"
#include "runtime/settle/fit.h"

/* x y z in the first three lanes. */
typedef struct box {
    exi_quad low, high;
} box;

static inline box empty_box(void) {
    return (box){exi_quad_splat(INFINITY), exi_quad_splat(-INFINITY)};
}

/* Minimum, or maximum, of four lanes for three quads at once: x y z in the first three lanes. */
static inline exi_quad smallest(exi_quad x, exi_quad y, exi_quad z) {
    exi_quad m[4] = {x, y, z, z};
    exi_quad_transpose(m);
    return exi_quad_min(exi_quad_min(m[0], m[1]), exi_quad_min(m[2], m[3]));
}

static inline exi_quad largest(exi_quad x, exi_quad y, exi_quad z) {
    exi_quad m[4] = {x, y, z, z};
    exi_quad_transpose(m);
    return exi_quad_max(exi_quad_max(m[0], m[1]), exi_quad_max(m[2], m[3]));
}

/* ---- blocks ---- */

/* Lanes that are not finite repeat one that is. Returns false if none is; everything in the block is then NaN, so that
 * a query that reads it without testing its box finds nothing either. */
static bool repair(exi_fit_block *block, unsigned good) {
    if (good == 0) {
        for (int i = 0; i < 9 * EXI_TREE_LEAF; i++)
            block->corner[i / 12][i / 4 % 3][i % 4] = NAN;
        return false;
    }
    int from = 0;
    while (!(good >> from & 1))
        from++;
    for (int lane = 0; lane < EXI_TREE_LEAF; lane++) {
        if (good >> lane & 1)
            continue;
        for (int i = 0; i < 9; i++)
            block->corner[i / 3][i % 3][lane] = block->corner[i / 3][i % 3][from];
        block->triangle[lane] = block->triangle[from];
    }
    return true;
}

static box block_box(const exi_fit_block *block) {
    exi_quad low[3], high[3];
    for (int c = 0; c < 3; c++) {
        const exi_quad p0 = exi_quad_load(block->corner[0][c]), p1 = exi_quad_load(block->corner[1][c]),
                       p2 = exi_quad_load(block->corner[2][c]);
        low[c] = exi_quad_min(exi_quad_min(p0, p1), p2);
        high[c] = exi_quad_max(exi_quad_max(p0, p1), p2);
    }
    return (box){smallest(low[0], low[1], low[2]), largest(high[0], high[1], high[2])};
}

static inline box fit_block(const exi_fit_pass *p, uint32_t number) {
    const exi_tree_block *from = &p->tree_blocks[number];
    exi_fit_block *to = &p->blocks[number];
    const exi_quad limit = exi_quad_splat(EXI_TREE_LARGEST), zero = exi_quad_splat(0), one = exi_quad_splat(1);
    exi_quad low[3], high[3], bad = zero;
    memcpy(to->triangle, from->triangle, sizeof to->triangle);
    EXI_WRITE_OUT
    for (int i = 0; i < 3; i++) {
        exi_quad m[4];
        for (int lane = 0; lane < 4; lane++)
            m[lane] = exi_quad_load_three(
                (const float *)(const void *)(p->positions + (size_t)from->vertex[i][lane] * p->stride));
        exi_quad_transpose(m);
        for (int c = 0; c < 3; c++) {
            exi_quad_store(to->corner[i][c], m[c]);
            low[c] = i ? exi_quad_min(low[c], m[c]) : m[c];
            high[c] = i ? exi_quad_max(high[c], m[c]) : m[c];
            bad = exi_quad_pick(limit, exi_quad_with_sign(m[c], zero), bad, one); /* too large, or NaN */
        }
    }
    const unsigned good = exi_quad_at_most(bad, zero);
    if (good == 15)
        return (box){smallest(low[0], low[1], low[2]), largest(high[0], high[1], high[2])};
    return repair(to, good) ? block_box(to) : empty_box();
}

/* ---- nodes ---- */

/* The box around a node's children, which are fours of lanes. */
static inline box node_box(const exi_fit_node *node) {
    exi_quad ends[6];
    EXI_WRITE_OUT
    for (int c = 0; c < 6; c++) {
        ends[c] = exi_quad_load(node->box[c]);
#if EXI_TREE_FAN == 8
        const exi_quad more = exi_quad_load(node->box[c] + 4);
        ends[c] = c < 3 ? exi_quad_min(ends[c], more) : exi_quad_max(ends[c], more);
#endif
    }
    return (box){smallest(ends[0], ends[1], ends[2]), largest(ends[3], ends[4], ends[5])};
}

EXI_ENTRY(exi_fit_nodes, (const exi_fit_pass *p, int begin, int end), (p, begin, end)) {
    for (int n = p->first + begin; n < p->first + end; n++) {
        exi_fit_node *node = &p->nodes[n];
        memcpy(node->child, p->children + EXI_TREE_FAN * (size_t)n, sizeof node->child);
        for (int four = 0; four < EXI_TREE_FAN; four += 4) {
            exi_quad low[4], high[4];
            for (int i = 0; i < 4; i++) {
                const uint32_t child = node->child[four + i];
                const box b = child & EXI_TREE_BLOCK ? fit_block(p, child & ~EXI_TREE_BLOCK)
                              : child                ? node_box(&p->nodes[child])
                                                     : empty_box();
                low[i] = b.low;
                high[i] = b.high;
            }
            exi_quad_transpose(low);
            exi_quad_transpose(high);
            for (int c = 0; c < 3; c++) {
                exi_quad_store(node->box[c] + four, low[c]);
                exi_quad_store(node->box[3 + c] + four, high[c]);
            }
        }
    }
}

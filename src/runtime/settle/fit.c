/*
 * Fits a tree around a form: the corners of every block's triangles, four in a register, and the boxes around them.
 * Nodes are made from the last level to the first, those of a level in any order: boxes are minima and maxima, which do
 * not depend on it. Nothing is allocated. Everything that a query needs is copied, so that it reads the fit only.
 */
#include "runtime/base/memory.h"
#include "runtime/base/result.h"
#include "runtime/base/rows.h"
#include "runtime/settle/tree.h"

#include <string.h>

typedef struct pass {
    const char *positions;
    size_t stride;
    const uint32_t *children;
    const exi_tree_block *tree_blocks;
    exi_fit_node *nodes;
    exi_fit_block *blocks;
    int first; /* first node of the level */
} pass;

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

static inline box fit_block(const pass *p, uint32_t number) {
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

static inline box node_box(const exi_fit_node *node) {
    const exi_quad x = exi_quad_load(node->box[0]), y = exi_quad_load(node->box[1]), z = exi_quad_load(node->box[2]);
    const exi_quad u = exi_quad_load(node->box[3]), v = exi_quad_load(node->box[4]), w = exi_quad_load(node->box[5]);
    return (box){smallest(x, y, z), largest(u, v, w)};
}

static void fit_nodes(void *context, int begin, int end) {
    const pass *p = context;
    for (int n = p->first + begin; n < p->first + end; n++) {
        exi_fit_node *node = &p->nodes[n];
        exi_quad low[4], high[4];
        memcpy(node->child, p->children + 4 * (size_t)n, sizeof node->child);
        for (int i = 0; i < 4; i++) {
            const uint32_t child = node->child[i];
            const box b = child & EXI_TREE_BLOCK ? fit_block(p, child & ~EXI_TREE_BLOCK)
                          : child                ? node_box(&p->nodes[child])
                                                 : empty_box();
            low[i] = b.low;
            high[i] = b.high;
        }
        exi_quad_transpose(low);
        exi_quad_transpose(high);
        for (int c = 0; c < 3; c++) {
            exi_quad_store(node->box[c], low[c]);
            exi_quad_store(node->box[3 + c], high[c]);
        }
    }
}

/* ---- fit ---- */

static size_t lay_out(const ex_tree *tree, ex_bounds *head) {
    exi_size total = {.bytes = sizeof *head};
    head->node_count = tree->node_count;
    head->block_count = tree->block_count;
    head->nodes = exi_size_add(&total, (size_t)tree->node_count, sizeof(exi_fit_node), EXI_ALIGN);
    head->blocks = exi_size_add(&total, (size_t)tree->block_count, sizeof(exi_fit_block), EXI_ALIGN);
    return total.overflow ? SIZE_MAX : total.bytes;
}

size_t ex_bounds_size(const ex_tree *tree) {
    ex_bounds head;
    if (!tree) {
        exi_misuse(__func__, "no tree");
        return 0;
    }
    const size_t size = lay_out(tree, &head);
    return size < SIZE_MAX - EXI_ALIGN ? size + EXI_ALIGN : SIZE_MAX; /* the memory may start at any address */
}

const ex_bounds *ex_bounds_fit(const ex_tree *tree, const float *positions, size_t stride, void *memory,
                               const ex_tasks *tasks) {
    if (!tree || !memory || (tree->triangle_count > 0 && !positions)) {
        exi_misuse(__func__, "no tree, positions or memory");
        return NULL;
    }
    if (!exi_rows_fit(positions, stride, 12)) {
        exi_misuse(__func__, EXI_ROWS_MISUSE);
        return NULL;
    }
    ex_bounds head = {0};
    lay_out(tree, &head);
    ex_bounds *fit = (ex_bounds *)(void *)((char *)memory + (EXI_ALIGN - (uintptr_t)memory % EXI_ALIGN) % EXI_ALIGN);
    pass p = {.positions = (const char *)positions,
              .stride = stride ? stride : 3 * sizeof(float),
              .children = exi_tree_at(tree, tree->children),
              .tree_blocks = exi_tree_at(tree, tree->blocks),
              .nodes = exi_tree_at(fit, head.nodes),
              .blocks = exi_tree_at(fit, head.blocks)};
    for (int level = tree->level_count - 1; level >= 0; level--) {
        p.first = tree->levels[level];
        exi_run(tasks, tree->levels[level + 1] - p.first, 32, fit_nodes, &p);
    }
    const box whole = node_box(&p.nodes[0]);
    float low[4], high[4];
    exi_quad_store(low, whole.low);
    exi_quad_store(high, whole.high);
    memcpy(head.low, low, sizeof head.low);
    memcpy(head.high, high, sizeof head.high);
    *fit = head;
    return fit;
}

/*
 * Fits a tree around a form. Nodes are made from the last level to the first, those of a level in any order: boxes are
 * minima and maxima, which do not depend on it. Nothing is allocated. Everything that a query needs is copied, so that
 * it reads the fit only.
 */
#include "runtime/settle/fit.h"

#include "runtime/base/memory.h"
#include "runtime/base/result.h"
#include "runtime/base/rows.h"

static void fit_nodes(void *context, int begin, int end) {
    exi_fit_nodes(context, begin, end);
}

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
    exi_fit_pass p = {.positions = (const char *)positions,
                      .stride = stride ? stride : 3 * sizeof(float),
                      .children = exi_tree_at(tree, tree->children),
                      .tree_blocks = exi_tree_at(tree, tree->blocks),
                      .nodes = exi_tree_at(fit, head.nodes),
                      .blocks = exi_tree_at(fit, head.blocks)};
    for (int level = tree->level_count - 1; level >= 0; level--) {
        p.first = tree->levels[level];
        exi_run(tasks, tree->levels[level + 1] - p.first, 32, fit_nodes, &p);
    }
    for (int c = 0; c < 3; c++) {
        head.low[c] = INFINITY;
        head.high[c] = -INFINITY;
        for (int i = 0; i < EXI_TREE_FAN; i++) {
            const float low = p.nodes[0].box[c][i], high = p.nodes[0].box[3 + c][i];
            head.low[c] = low < head.low[c] ? low : head.low[c];
            head.high[c] = high > head.high[c] ? high : head.high[c];
        }
    }
    *fit = head;
    return fit;
}

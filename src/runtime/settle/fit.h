/*
 * One pass over the nodes of a level. Private to fit.c and fit_kernel.c.
 */
#ifndef EXI_SETTLE_FIT_H
#define EXI_SETTLE_FIT_H

#include "runtime/settle/tree.h"

typedef struct exi_fit_pass {
    const char *positions;
    size_t stride;
    const uint32_t *children;
    const exi_tree_block *tree_blocks;
    exi_fit_node *nodes;
    exi_fit_block *blocks;
    int first; /* first node of the level */
} exi_fit_pass;

/* Makes nodes first + begin to first + end - 1. */
void exi_fit_nodes(const exi_fit_pass *p, int begin, int end);

#endif

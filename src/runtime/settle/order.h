/* How driven vertices are put into clusters of neighbours. */
#ifndef EXI_SETTLE_ORDER_H
#define EXI_SETTLE_ORDER_H

#include "runtime/settle/settler.h"

/* Sorts order[begin … end) so that every EXI_CLUSTER from begin on are neighbours, and every four; points by driven
 * vertex. */
void exi_order_cluster(const float (*points)[3], uint32_t *order, int begin, int end);

#endif

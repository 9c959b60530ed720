/* Grouping of driven vertices into clusters of neighbours. */
#ifndef EXI_SETTLE_ORDER_H
#define EXI_SETTLE_ORDER_H

#include "runtime/settle/settler.h"

/* Sorts order[begin … end) so that each run of EXI_CLUSTER from begin on contains neighbours, and each run of four too.
 * points are indexed by driven vertex. */
void exi_order_cluster(const float (*points)[3], uint32_t *order, int begin, int end);

#endif

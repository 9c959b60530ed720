/* Half-edges sorted by their ends: those of an edge are then next to each other. */
#include "author/mesh/half_edges.h"

#include <stdlib.h>

exi_half_edge exi_half_edge_of(int v, int w, int side) {
    return (exi_half_edge){v < w ? v : w, v < w ? w : v, side};
}

static int compare(const void *a, const void *b) {
    const exi_half_edge *x = a, *y = b;
    if (x->low != y->low)
        return x->low < y->low ? -1 : 1;
    if (x->high != y->high)
        return x->high < y->high ? -1 : 1;
    return (x->side > y->side) - (x->side < y->side);
}

void exi_half_edges_sort(exi_half_edge *edges, int count) {
    if (count > 1)
        qsort(edges, (size_t)count, sizeof *edges, compare);
}

int exi_half_edges_end(const exi_half_edge *edges, int begin, int count) {
    int end = begin + 1;
    while (end < count && edges[end].low == edges[begin].low && edges[end].high == edges[begin].high)
        end++;
    return end;
}

/*
 * half_edges.h - edges of a mesh, found by sorting its half-edges by their ends. Private to authoring.
 */
#ifndef EXEMPLAR_AUTHOR_MESH_HALF_EDGES_H
#define EXEMPLAR_AUTHOR_MESH_HALF_EDGES_H

#include <stddef.h>

/* A side of a face. */
typedef struct exi_half_edge {
    int low, high; /* its ends */
    int side;      /* a number of the caller's: of its corner, or of its face */
} exi_half_edge;

exi_half_edge exi_half_edge_of(int v, int w, int side);

/* Sorts by ends, then by side. */
void exi_half_edges_sort(exi_half_edge *edges, int count);

/* Returns the end of the sorted half-edges that have the same ends as the one at `begin`. */
int exi_half_edges_end(const exi_half_edge *edges, int begin, int count);

#endif

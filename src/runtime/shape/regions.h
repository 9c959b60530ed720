/*
 * Blends whose weights vary from vertex to vertex: each vertex has a few regions, each region its own weights.
 */
#ifndef EXI_SHAPE_REGIONS_H
#define EXI_SHAPE_REGIONS_H

#include "runtime/shape/forms.h"

/* Weights of the examples of a layer by region. */
typedef struct exi_regions {
    ex_influences influences; /* of the vertices; starts NULL: region 0 has all of them */
    const float *weights;     /* [regions][width] */
    int count;                /* examples */
    int width;                /* length of a row: a multiple of 4; padding is 0 */
} exi_regions;

/* Computes the weights [width] of the examples at a vertex. out is aligned for floats. */
void exi_regions_vertex(const exi_regions *regions, int vertex, float *out);

/* positions(v) += sum over k of weight_k(v) * example first + k (v), for vertices begin to end; begin is the first of a
 * tile. positions points to vertex 0. omegas: [..][width] from vertex 0 on, receives each vertex's weights; or NULL. */
void exi_regions_add(const exi_regions *regions, const ex_forms *forms, int first, int begin, int end, float *positions,
                     size_t stride, float *omegas);

#endif

/*
 * measure.h - how an example's difference is measured: from the mesh with every earlier layer on it, as that layer
 * stands at the example's whole pose. Private to authoring.
 */
#ifndef EXEMPLAR_AUTHOR_PROJECT_MEASURE_H
#define EXEMPLAR_AUTHOR_PROJECT_MEASURE_H

#include "author/project/project.h"

/* Layers measured so far. A layer's deltas belong to whoever measured them, and must stay. */
typedef struct exi_measure {
    const ex_project_view *view;
    const ex_mesh *mesh;         /* positions rounded to float */
    ex_weigher **weighers;       /* [layer_count], NULL where a layer is not there to count */
    const float *const **deltas; /* [layer_count] of [example_count] of [vertex_count][3] */
    double *base;                /* [vertex_count][3] */
    double *weights;             /* of the layer with the most examples */
} exi_measure;

ex_result exi_measure_open(exi_measure *m, const ex_project_view *view, const ex_mesh *mesh, ex_error *error);
void exi_measure_close(exi_measure *m);

/* Lets a layer, whose examples are all measured, count for those after it. */
ex_result exi_measure_add_layer(exi_measure *m, int layer, const float *const *deltas, ex_error *error);

/* The form [vertex_count][3] that the example of a layer is measured from, in m->base; every number is a float. */
const double *exi_measure_base(exi_measure *m, int layer, int example);

/* sum += weight * delta, for count numbers; weights that are rounding alone are left out. */
void exi_measure_sum(double *sum, size_t count, double weight, const float *delta);

/* mask times example minus base, rounded to float once: [vertex_count][3]. mask [vertex_count] or NULL for 1
 * everywhere. Release with free; NULL without memory. */
float *exi_measure_delta(const double *base, const ex_mesh *example, const float *mask);

#endif

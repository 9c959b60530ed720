/*
 * measure.h - how an example's difference is measured: from the mesh with every earlier layer on it, as that layer
 * stands at the example's whole pose; un-posed first where it was sculpted at that pose. Joint positions that an
 * example brings are measured in the same way. Private to authoring.
 *
 *   measure.c         what an example is measured from, and the difference
 *   measure_unpose.c  the example's pose, and its form without it
 */
#ifndef EXEMPLAR_AUTHOR_PROJECT_MEASURE_H
#define EXEMPLAR_AUTHOR_PROJECT_MEASURE_H

#include "author/project/project.h"

/* Layers measured so far. A layer's deltas and shifts belong to whoever measured them, and must stay. */
typedef struct exi_measure {
    const ex_project_view *view;
    const ex_mesh *mesh;         /* positions rounded to float */
    const ex_skeleton *skeleton; /* or NULL */
    const ex_skin *skin;         /* or NULL */
    double near_limit;           /* of stretches that are looked for besides what is damped; 0: none are */
    size_t joint_count;
    ex_weigher **weighers;       /* [layer_count], NULL where a layer is not there to count */
    const float *const **deltas; /* [layer_count] of [example_count] of [vertex_count][3] */
    const float *const **shifts; /* [layer_count], each may be NULL, of [example_count], too, of [joint_count][3] */
    double *weights;             /* of the layer with the most examples */
    double *centres;             /* [joint_count][3]: where the joints are in the mesh; every number is a float */

    /* what the example at hand is measured from; exi_measure_base fills it in */
    double *base;   /* [vertex_count][3]; every number is a float */
    double *joints; /* [joint_count][3]: where the joints are in it; every number is a float */
    double *shift;  /* [joint_count][3]: by how much that is elsewhere than in the mesh, not rounded */
} exi_measure;

/* skeleton and skin may be NULL, and must stay. */
ex_result exi_measure_open(exi_measure *m, const ex_project_view *view, const ex_mesh *mesh,
                           const ex_skeleton *skeleton, const ex_skin *skin, ex_error *error);
void exi_measure_close(exi_measure *m);

/* Lets a layer of forms, whose examples are all measured, count for those after it. shifts may be NULL. */
ex_result exi_measure_add_layer(exi_measure *m, int layer, const float *const *deltas, const float *const *shifts,
                                ex_error *error);

/* Sets m->base, m->joints and m->shift for an example of a layer. */
void exi_measure_base(exi_measure *m, int layer, int example);

/* sum += weight * delta, for count numbers; weights that are rounding alone are left out. */
void exi_measure_sum(double *sum, size_t count, double weight, const float *delta);

/* mask times `to` minus base, rounded to float once, for count numbers; mask has one for every three, or is NULL for 1
 * everywhere. Release with free; NULL without memory. */
float *exi_measure_difference(const double *base, const double *to, const float *mask, size_t count);

/* An example, measured. */
typedef struct exi_measured {
    float *delta;      /* [vertex_count][3] */
    float *shifts;     /* [joint_count][3], or NULL where the example brings no skeleton */
    ex_damped *damped; /* [damped_count] vertices that will not come back exactly, ascending */
    int damped_count;
    ex_damped *near; /* [near_count] vertices that were not damped, but shrink to less than near_limit; or NULL */
    int near_count;
} exi_measured;

/* In two steps: what the example is measured from and the joints that it brings; then its form. On failure *out is to
 * be freed as after success. */
ex_result exi_measure_joints(exi_measure *m, int layer, int example, exi_measured *out, ex_error *error);
ex_result exi_measure_form(const exi_measure *m, int layer, int example, const ex_mesh *form, const float *mask,
                           exi_measured *out, ex_error *error);

/* Both. form: the example's own mesh. On failure *out holds nothing. */
ex_result exi_measure_example(exi_measure *m, int layer, int example, const ex_mesh *form, const float *mask,
                              exi_measured *out, ex_error *error);
void exi_measured_free(exi_measured *measured);

/* The form [vertex_count][3] without the example's pose, in rest [vertex_count][3]; fills in what is damped. shifts:
 * the example's own beyond m->shift, or NULL. Asks for a skin. */
ex_result exi_measure_unpose(const exi_measure *m, const ex_project_example *example, const ex_mesh *form,
                             const float *shifts, double *rest, exi_measured *out, ex_error *error);

#endif

/*
 * mixture.h - shared by the files that fit mixtures; private to the room.
 *
 *   mixture_nodes.c   nodes on the surface: where they are, how they turn, which vertices they carry
 *   mixture_plan.c    the mixtures at which paths are fitted, and the terms of curves
 *   mixture_form.c    forms at given weights, in double
 *   mixture_curves.c  curves over the simplex, from what nodes leave at the samples
 *   mixture_fit.c     correctors
 */
#ifndef EXEMPLAR_AUTHOR_TRAJECTORY_MIXTURE_H
#define EXEMPLAR_AUTHOR_TRAJECTORY_MIXTURE_H

#include "author/trajectory/betweens.h"

/* ---- nodes ---- */

/* Chooses nodes, and sets those fields of the mixture; arrays of malloc that exi_mixture_release frees. */
ex_result exi_nodes_find(const ex_betweens *betweens, ex_mixture *mixture, ex_error *error);
void exi_mixture_release(ex_mixture *mixture);

/* ---- plan ---- */

/* Mixtures at which paths are fitted, and the terms of curves. */
typedef struct exi_plan {
    int example_count;
    int sample_count;
    double *samples; /* [sample_count][example_count] weights */
    int term_count;
    ex_mixture_term *terms;
} exi_plan;

ex_result exi_plan_create(const ex_betweens *betweens, exi_plan *plan, ex_error *error);
void exi_plan_release(exi_plan *plan);

/* Value of a term at shares [1 + example_count]. */
double exi_term_value(const ex_mixture_term *term, const double *shares);

/* ---- mixer ---- */

typedef struct exi_mixer_def {
    const ex_mixture *mixture;
    int vertex_count, example_count;
    const double *reference;       /* [vertex_count][3]; needed while the mixer lives */
    const double *const *examples; /* [example_count] of [vertex_count][3] without their screws; NULL for the
                                      reference; not needed later */
    const float *overlaps;         /* [example_count] squared, or NULL */
} exi_mixer_def;

typedef struct exi_mixer exi_mixer;

bool exi_mixer_create(const exi_mixer_def *def, exi_mixer **mixer);
void exi_mixer_destroy(exi_mixer *mixer);

/* Weights as they count: brought back where they are beyond the simplex (exemplar/rig_create.h), the factors of
 * correctors [corrector_count], and the shares of corners [1 + example_count] that curves see. Any but weights may be
 * NULL. */
void exi_mixer_weigh(const exi_mixer *mixer, const double *weights, double *counted, double *correctors,
                     double *shares);

/* Computes the form without the screw, without correctors; work: exi_mixer_work_size doubles. */
size_t exi_mixer_work_size(const exi_mixer *mixer);
void exi_mixer_form(const exi_mixer *mixer, const double *counted, double *positions, double *work);

/* ---- curves ---- */

/* Residuals of the nodes at the samples, and the curves that express most of them. */
typedef struct exi_curves {
    const exi_plan *plan;
    const double *weights; /* [sample_count]: W */
    int width;             /* numbers of a gradient */
    float *gradients;      /* [sample_count][width] of r, over some of the triangles */
    int most;              /* curves at most */
    double enough;         /* squared, of W r over all samples: so much may be left; below 0: take `most` */

    int count;      /* curves */
    double *basis;  /* [count][sample_count]: B */
    double *curves; /* [count][term_count] */
} exi_curves;

/* Finds count, basis and curves; arrays of malloc. */
ex_result exi_curves_find(exi_curves *curves, const ex_tasks *tasks, ex_error *error);

/* ---- fitting ---- */

/* Fits the mixture of all examples. With one example besides the reference it has no nodes. Results: MEMORY, ARGUMENT
 * if it was stopped. */
ex_result exi_mixture_fit(const ex_trajectories_def *def, const ex_betweens *betweens, ex_mixture *mixture,
                          double ratios[4], ex_error *error);

#endif

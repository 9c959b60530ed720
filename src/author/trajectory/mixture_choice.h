/*
 * mixture_choice.h - chooses mixtures of poses to measure, and judges them; private to this room.
 */
#ifndef EXEMPLAR_AUTHOR_TRAJECTORY_MIXTURE_CHOICE_H
#define EXEMPLAR_AUTHOR_TRAJECTORY_MIXTURE_CHOICE_H

#include "author/trajectory/betweens.h"

/* Mixtures that were chosen. */
typedef struct exi_mixture_choice {
    int count;
    double *weights;        /* [count][example_count] */
    ex_mixture_kind *kinds; /* [count] */
    int candidate_count;
} exi_mixture_choice;

/* Chooses as ex_mixture_report_create says. Release with exi_mixture_choice_release, also after a failure. Returns
 * false without memory. */
bool exi_mixture_choose(const ex_trajectories_def *def, const ex_trajectories *trajectories,
                        const ex_mixture_options *options, exi_mixture_choice *choice);
void exi_mixture_choice_release(exi_mixture_choice *choice);

/* Sets the remedy and the turn of the report's worst mixture. Returns false without memory. */
bool exi_mixture_advise(const ex_trajectories_def *def, const ex_trajectories *trajectories,
                        const ex_betweens *betweens, ex_mixture_report *report);

#endif

/*
 * betweens.h - in-betweens of several forms at given weights, in the shape of an in-between of two; private to
 * authoring.
 */
#ifndef EXEMPLAR_AUTHOR_TRAJECTORY_BETWEENS_H
#define EXEMPLAR_AUTHOR_TRAJECTORY_BETWEENS_H

#include "author/trajectory/trajectory.h"

struct ex_betweens {
    int example_count;
    ex_between **items;      /* [example_count], NULL for the reference; they share the first one's factor */
    const ex_between *first; /* the first that is not NULL */
};

/* An in-between whose end is a mixture: used at time 1, it stands for the mixture. Its turns, stretches, strains, links
 * and aligned end are its own, the rest belongs to the in-betweens. */
typedef struct exi_mixed {
    ex_between between;
} exi_mixed;

/* Allocates one; release it with exi_mixed_release even then. Returns false without memory. */
bool exi_mixed_create(const ex_betweens *betweens, exi_mixed *mixed);
/* Sets the weights [example_count]; those of the reference do not count. */
void exi_mixed_set(const ex_betweens *betweens, const double *weights, exi_mixed *mixed);
/* The same of what local steps and links need, turns, strains and links; and of links alone. */
void exi_mixed_set_steps(const ex_betweens *betweens, const double *weights, exi_mixed *mixed);
void exi_mixed_set_links(const ex_betweens *betweens, const double *weights, exi_mixed *mixed);
void exi_mixed_release(exi_mixed *mixed);

#endif

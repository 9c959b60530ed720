/*
 * tube.h - bars and cylinders of the demos `bar`, `cylinder` and `stretch`: closed tubes of triangles along a middle
 * line that bends in the plane of x and y. Private to demos.
 */
#ifndef EXEMPLAR_DEMOS_TUBE_H
#define EXEMPLAR_DEMOS_TUBE_H

#include "demos.h"

/* Where a middle line turns: by so many degrees, spread around a place on it. In ascending order. */
typedef struct exi_tube_bend {
    double at, width; /* metres along the line */
    double degrees;
} exi_tube_bend;

typedef struct exi_tube {
    int rings, around;   /* vertices along, but for the ends, and across */
    double length, half; /* metres; half is half of what it measures across */
    bool square;         /* with round edges; else round */
    const exi_tube_bend *bends;
    int bend_count;
    bool hinges;  /* bends are hinges, `width` metres of which have no rings; the place that is held is then 0 */
    double hold;  /* the place on the middle line, metres, that stays where it is */
    double bulge; /* how much thicker it is in its middle than at its ends, as part of half */
} exi_tube;

/* Along x, from 0 to its length, where it is not bent. NULL without memory. */
ex_mesh *exi_tube_create(const exi_tube *tube);
/* The same triangles with other measures: positions [vertex_count][3]. */
void exi_tube_shape(const exi_tube *tube, double *positions);

#endif

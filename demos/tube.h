/*
 * tube.h - bars and cylinders of the demos `bar`, `cylinder` and `stretch`: closed tubes of triangles along a centre
 * line that bends in the plane of x and y. Private to demos.
 */
#ifndef EXEMPLAR_DEMOS_TUBE_H
#define EXEMPLAR_DEMOS_TUBE_H

#include "demos.h"

/* A bend of the centre line: its angle in degrees, spread around a place on the line. In ascending order. */
typedef struct exi_tube_bend {
    double at, width; /* metres along the line */
    double degrees;
} exi_tube_bend;

typedef struct exi_tube {
    int rings, around;   /* number of vertices along, without the ends, and around */
    double length, half; /* metres; half is half the width */
    bool square;         /* true: square with round edges; false: round */
    const exi_tube_bend *bends;
    int bend_count;
    bool hinges;  /* true: bends are hinges, of which `width` metres have no rings; the fixed place is then 0 */
    double hold;  /* the place on the centre line, in metres, that stays fixed */
    double bulge; /* extra thickness in the middle compared with the ends, as a fraction of half */
} exi_tube;

/* Makes a tube along x, from 0 to its length, if it has no bends. NULL if out of memory. */
ex_mesh *exi_tube_create(const exi_tube *tube);
/* Computes the same triangles with other measures: positions [vertex_count][3]. */
void exi_tube_shape(const exi_tube *tube, double *positions);

#endif

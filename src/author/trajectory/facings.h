/*
 * facings.h - triangles of an in-between as the local step reads them, EXI_LANES at a time; shared by facings.c and
 * facings_kernel.c.
 */
#ifndef EXEMPLAR_AUTHOR_TRAJECTORY_FACINGS_H
#define EXEMPLAR_AUTHOR_TRAJECTORY_FACINGS_H

#include <stddef.h>

#define EXI_LANES    8
#define EXI_COUPLING 0.01F /* how far rotations lean towards each neighbour's */

/* Constants, of the start. Lanes beyond the last triangle repeat it, with area 0. */
typedef struct exi_flat {
    float slopes[4][EXI_LANES]; /* of corners 1 and 2 in the triangles' planes */
    float area[EXI_LANES];
    float scale[EXI_LANES];    /* 1 / (1 + EXI_COUPLING times the number of neighbours) */
    int corners[EXI_LANES][3]; /* offsets into a form: 3 times the vertex */
    int others[EXI_LANES][3];  /* neighbours, or -1 */
} exi_flat;

/* Goals of triangles at a time, or of a mixture. */
typedef struct exi_goal {
    float frame[3][3][EXI_LANES]; /* their planes' two directions and normal at the start, rotated by R^t */
    float s[3][EXI_LANES];        /* S_t in the plane: xx, xy, yy */
} exi_goal;

/* A local step in progress: rotations relative to the goal's frames, with 0 after each row; and what else the second
 * stage needs of the first. */
typedef struct exi_facing {
    float turns[EXI_LANES][12];
} exi_facing;

typedef struct exi_slope {
    float p[3][EXI_LANES], q[3][EXI_LANES], du[3][EXI_LANES], dv[3][EXI_LANES];
} exi_slope;

/*
 * A step has two stages: rotations of triangles, and pulls, which need those of the neighbours. Each goes through the
 * mesh in order, the second as soon as the first has done what it needs, so that only the last groups are kept, in
 * rings that fit the first-level cache. In an order in which neighbours are far apart, the rings hold all.
 */
typedef struct exi_flats {
    int group_count;
    int ring, slope_ring; /* facings and slopes that are kept: powers of two */
    exi_flat *groups;     /* [group_count] */
    int *pulled;          /* [group_count]: groups whose pulls can be computed when the rotations of group g are */
    int *reached;         /* [group_count]: vertices up to the last that groups up to g have */
} exi_flats;

/* One step, see exi_local_step. */
typedef struct exi_facings_step {
    const exi_flats *flats;
    int vertex_count;
    const exi_goal *goals; /* [group_count] */
    const double *form;    /* [vertex_count][3] */
    exi_facing *facings;   /* [ring] */
    exi_slope *slopes;     /* [slope_ring] */
    double *right;         /* [vertex_count][3]: replaced */
} exi_facings_step;
void exi_facings_run(const exi_facings_step *step);

#endif

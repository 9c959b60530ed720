/*
 * far.h - the farthest of many frames from a growing set of keys, without reading all frames for each key. Private to
 * authoring.
 */
#ifndef EXEMPLAR_AUTHOR_DRIVE_GATHER_FAR_H
#define EXEMPLAR_AUTHOR_DRIVE_GATHER_FAR_H

#include "author/drive/learn/references.h"

/* Frames, each with a sketch: a few numbers that bound its distance from every other one. */
typedef struct exi_far {
    int vertex_count, group_count;
    const float *weights; /* [vertex_count], of sum 1 */
    float *reference;     /* [vertex_count][3]: the driver's mesh */
    int *groups;          /* [vertex_count]: groups of neighbouring vertices */
    float *functions;     /* [vertex_count][4]: affine functions of its group at a vertex */
    double *sums;         /* [group_count][4][3]: room */

    int frame_count;
    float *rows;       /* [frame_count][group_count][4][3]: coefficients of the functions */
    float *rests;      /* [frame_count]: length of what the functions do not hold */
    double *from_mesh; /* [frame_count]: squared distance from the driver's mesh */
    double *high;      /* [frame_count]: squared distance from the nearest key, or a bound that is not below it */
    double *low;       /* the same, not above it */
    int *sure;         /* [frame_count]: number of keys for which `high` is that distance itself; 0: a bound */
    int *nearest;      /* [frame_count]: the nearest key, if sure; -1: none */
} exi_far;

/* Opens for frames of a driver, compared by these weights. Close it even after a failure. */
ex_result exi_far_open(exi_far *far, const ex_mesh *driver, const float *weights, int frame_count, ex_error *error);
void exi_far_close(exi_far *far);

/* Sketches a frame from its form in the moving frame of the whole. */
void exi_far_sketch(exi_far *far, int frame, const float *home);

/* Frames that are compared: some ranges, all at one value of the databases. */
typedef struct exi_far_range {
    int first, count;
} exi_far_range;

/* Bounds distances from a key, which is one of the frames. before: number of keys before it. fresh: none of those is of
 * these ranges. */
void exi_far_look(exi_far *far, const exi_far_range *ranges, int range_count, int key, int before, bool fresh);

/* Measures the distance of a frame from all keys: the square, and the nearest. */
typedef struct exi_far_measure {
    ex_result (*measure)(void *user, int frame, double *square, int *nearest);
    void *user;
    int key_count; /* keys so far */
    int left;      /* frames that may still be measured; then bounds decide */
} exi_far_measure;

/* Finds the frame that is farthest from its nearest key, the first of several. Measures the few frames whose bounds
 * leave it open. */
ex_result exi_far_find(exi_far *far, const exi_far_range *ranges, int range_count, exi_far_measure *by, int *farthest);
/* Makes sure of one frame. */
ex_result exi_far_settle(exi_far *far, int frame, exi_far_measure *by);

#endif

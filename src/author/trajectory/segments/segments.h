/*
 * segments.h - splits a mesh into parts that move rigidly, or nearly so, and arranges them in a tree; private to
 * authoring.
 *
 *   segments_cluster.c  mean shift over the triangles' rotations
 *   segments_parts.c    connected parts of the clusters, small ones merged, given segments kept
 *   segments_tree.c     neighbours, root, parents, the segment of each vertex
 *   segments_joints.c   mean motions, joints, and the bases with which a solve begins
 *   segments_frame.c    an example relative to the root
 */
#ifndef EXEMPLAR_AUTHOR_TRAJECTORY_SEGMENTS_SEGMENTS_H
#define EXEMPLAR_AUTHOR_TRAJECTORY_SEGMENTS_SEGMENTS_H

#include "author/trajectory/trajectory.h"

/* All arrays by malloc. */
typedef struct exi_segmentation {
    int count;
    int *triangles;     /* [triangle_count] */
    uint16_t *vertices; /* [vertex_count] */
    int *parents;       /* [count], -1: a root */
    int *order;         /* [count]: parents before their children */
    double *areas;      /* [count] */
    double *joints;     /* [count][3]: the joint between a segment and its parent, in the reference; 0 0 0 for roots */
    bool *loose;        /* [count]: true if it shares no vertex with its parent: no energy determines its joint */
} exi_segmentation;

/* The examples, as all files use them: betweens [example_count], NULL for the reference. */
typedef struct exi_segments_input {
    const ex_trajectory_options *options;
    int example_count;
    ex_between *const *betweens;
    const ex_between *any; /* the first one present: mesh, areas and links are the same in all */
} exi_segments_input;

/* Finds the cluster of each triangle, -1 for those without area; clusters [triangle_count]. */
ex_result exi_segments_cluster(const exi_segments_input *in, int *clusters, ex_error *error);

/* Turns clusters into segments: triangles, count and areas. */
ex_result exi_segments_parts(const exi_segments_input *in, const int *clusters, exi_segmentation *s, ex_error *error);

/* Fills parents, order, vertices, loose. */
ex_result exi_segments_tree(const exi_segments_input *in, exi_segmentation *s, ex_error *error);

/* Finds the joints: points at which the rigid motions of a segment and its parent agree, in all examples. */
ex_result exi_segments_joints(const exi_segments_input *in, exi_segmentation *s, ex_error *error);

/* Runs all steps. Results: ARGUMENT, DATA, MEMORY, LIMIT. */
ex_result exi_segments_find(const exi_segments_input *in, exi_segmentation *s, ex_error *error);
void exi_segments_free(exi_segmentation *s);

/*
 * Makes the first root of an example stand still. framed is a copy of between that shares everything except aligned,
 * turns and screw. Free it only with exi_segments_frame_free.
 */
ex_result exi_segments_frame(const ex_between *between, const exi_segmentation *s, ex_between *framed, ex_error *error);
void exi_segments_frame_free(ex_between *framed);

/* True if a segment has a basis: it has a parent, and that moves. */
bool exi_segments_carried(const exi_segmentation *s, int segment);

/*
 * Computes the bases of one example that carry rigid segments exactly, bases [count][6]: w_a is the mean rotation of
 * a's parent, v_a the velocity of a's joint on it; those of roots and their children are zero. work [count][9].
 */
void exi_segments_bases(const ex_between *between, const exi_segmentation *s, double *bases, double *work);

#endif

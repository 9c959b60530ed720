/*
 * surface.h - measures the triangles of an ex_between; private to the room.
 *
 *   surface.c   alignment, areas, slopes, rotations and stretches
 *   links.c     components, and the links between them
 *   branches.c  neighbours, and rotations on one branch
 */
#ifndef EXEMPLAR_AUTHOR_TRAJECTORY_SURFACE_H
#define EXEMPLAR_AUTHOR_TRAJECTORY_SURFACE_H

#include "author/trajectory/trajectory.h"

/* Fills screw, centre, size, aligned, areas, slopes, normals, turns, stretches, vertex_areas and triangle lists, which
 * must be allocated and zero, from start, end and triangles. */
ex_result exi_surface_measure(ex_between *between, ex_error *error);

/* Fits the rotation that takes `from` onto `to` [count][3], and both centroids, by weighted least squares. */
void exi_surface_fit(int count, const double *weights, const double *from, const double *to, double rotation[3][3],
                     double from_centre[3], double to_centre[3]);

/* Returns two perpendicular directions in a triangle's plane at the start; right-handed with the normal. */
void exi_surface_frame(const ex_between *between, int triangle, double e1[3], double e2[3]);

/* Finds neighbours [triangle_count][3]: across the edge that starts at corner k, or -1. False without memory. */
bool exi_surface_neighbours(int triangle_count, const int *triangles, int *neighbours);

/* Finds components and links them to their neighbours at the start and in other forms, [other_count], of which some may
 * be NULL (links.c); then, with the turns, computes the links' goals. */
ex_result exi_surface_link(ex_between *between, const double *const *others, int other_count, ex_error *error);
void exi_surface_link_ends(ex_between *between);

/* Brings the turns onto one branch; needs the links. Sets neighbours. */
ex_result exi_surface_branch(ex_between *between, ex_error *error);

#endif

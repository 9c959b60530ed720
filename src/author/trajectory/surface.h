/*
 * surface.h - what an ex_between holds of its triangles; private to the room.
 *
 *   surface.c   alignment, areas, slopes, rotations and stretches
 *   links.c     components, and what holds them together
 *   branches.c  neighbours, and rotations on one branch
 */
#ifndef EXEMPLAR_AUTHOR_TRAJECTORY_SURFACE_H
#define EXEMPLAR_AUTHOR_TRAJECTORY_SURFACE_H

#include "author/trajectory/trajectory.h"

/* Fills screw, centre, size, aligned, areas, slopes, normals, turns, stretches, vertex_areas and triangle lists, which
 * are allocated and zero, from start, end and triangles. */
ex_result exi_surface_measure(ex_between *between, ex_error *error);

/* The rotation that takes `from` onto `to` [count][3], and both centroids, by weighted least squares. */
void exi_surface_fit(int count, const double *weights, const double *from, const double *to, double rotation[3][3],
                     double from_centre[3], double to_centre[3]);

/* Two perpendicular directions in a triangle's plane at the start; with the normal a right-handed frame. */
void exi_surface_frame(const ex_between *between, int triangle, double e1[3], double e2[3]);

/* neighbours [triangle_count][3]: across the edge that starts at corner k, or -1. false without memory. */
bool exi_surface_neighbours(int triangle_count, const int *triangles, int *neighbours);

/* Finds components and links them to their neighbours (links.c); then, with the turns, what the links want. */
ex_result exi_surface_link(ex_between *between, ex_error *error);
void exi_surface_link_ends(ex_between *between);

/* Brings the turns onto one branch; needs the links. Sets neighbours. */
ex_result exi_surface_branch(ex_between *between, ex_error *error);

#endif

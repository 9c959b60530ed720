/*
 * crossings.h - counts crossing pairs of triangles, for many forms of one mesh; private to authoring.
 */
#ifndef EXEMPLAR_AUTHOR_MESH_CROSSINGS_H
#define EXEMPLAR_AUTHOR_MESH_CROSSINGS_H

#include <exemplar/base.h>

/* Triangles of a mesh, ordered for a fast search of crossings, and memory for it. Use from one thread at a time. */
typedef struct exi_crossings exi_crossings;

/*
 * Copies triangles [triangle_count][3] of vertices. The order comes from positions [vertex_count][3]; forms that differ
 * much from these only take longer. About 100 bytes per triangle. Results: DATA (names the triangle), MEMORY, LIMIT.
 */
ex_result exi_crossings_create(int vertex_count, const double *positions, int triangle_count, const int *triangles,
                               exi_crossings **crossings, ex_error *error);
void exi_crossings_destroy(exi_crossings *crossings);

/*
 * Counts the pairs of triangles that cross each other by more than the tolerance (a length), without pairs that share a
 * vertex. Triangles with a corner that is not finite cross nothing. About 1 µs per triangle on surfaces; allocates
 * nothing. Results: LIMIT (more pairs than an int can count).
 */
ex_result exi_crossings_count(exi_crossings *crossings, const double *positions, double tolerance,
                              const ex_tasks *tasks, int *pair_count, ex_error *error);

/* Returns the tolerance for a form, from its size. If its numbers come from floats (rounded), also from its distance to
 * the origin. */
double exi_crossings_tolerance(int vertex_count, const double *positions, bool rounded);

#endif

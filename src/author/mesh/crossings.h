/*
 * crossings.h - how many pairs of triangles cross, of many forms of one mesh; private to authoring.
 */
#ifndef EXEMPLAR_AUTHOR_MESH_CROSSINGS_H
#define EXEMPLAR_AUTHOR_MESH_CROSSINGS_H

#include <exemplar/base.h>

/* The triangles of a mesh in an order in which crossing ones are found quickly, and memory for looking. Used by one
 * thread at a time. */
typedef struct exi_crossings exi_crossings;

/*
 * triangles [triangle_count][3] vertices, copied. The order is that of the positions [vertex_count][3]: forms that
 * differ from these much only take longer. About 100 bytes a triangle. Results: DATA (triangle named), MEMORY, LIMIT.
 */
ex_result exi_crossings_create(int vertex_count, const double *positions, int triangle_count, const int *triangles,
                               exi_crossings **crossings, ex_error *error);
void exi_crossings_destroy(exi_crossings *crossings);

/*
 * Counts the pairs of triangles that cross each other by more than the tolerance (a length), without those that share a
 * vertex; triangles with a corner that is not finite cross nothing. About a microsecond a triangle on surfaces;
 * allocates nothing. Results: LIMIT (more pairs than an int counts).
 */
ex_result exi_crossings_count(exi_crossings *crossings, const double *positions, double tolerance,
                              const ex_tasks *tasks, int *pair_count, ex_error *error);

/* The tolerance that a form asks for: by its size; where its numbers come from floats (rounded), also by how far from
 * the origin it stands. */
double exi_crossings_tolerance(int vertex_count, const double *positions, bool rounded);

#endif

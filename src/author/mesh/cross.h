/*
 * cross.h - test whether two triangles cross; private to authoring.
 */
#ifndef EXEMPLAR_AUTHOR_MESH_CROSS_H
#define EXEMPLAR_AUTHOR_MESH_CROSS_H

#include <stdbool.h>

/*
 * True if the triangles a and b [3][3] pass through each other, or lie in one plane and overlap. Touching with a corner
 * or an edge does not count, nor do crossings no longer or deeper than `tolerance` (a length), nor triangles that are
 * no wider than that. The order of the two, and of their corners, does not matter.
 */
bool exi_triangles_cross(double a[3][3], double b[3][3], double tolerance);

#endif

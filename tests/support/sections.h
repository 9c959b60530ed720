/* sections.h - measures the section of a closed surface with a plane. */
#ifndef EXEMPLAR_TESTS_SECTIONS_H
#define EXEMPLAR_TESTS_SECTIONS_H

#include <exemplar/author/mesh.h>

/* Area of the section with the plane through a point; if it has several pieces, of the one whose middle is nearest to
 * the point. positions [vertex_count][3] replace the mesh's. 0 if the plane misses the surface. */
double section_area(const ex_mesh *mesh, const float *positions, const double point[3], const double normal[3]);

#endif

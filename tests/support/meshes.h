/* meshes.h - meshes for tests: one with everything in it, and a comparison. */
#ifndef EXEMPLAR_TESTS_MESHES_H
#define EXEMPLAR_TESTS_MESHES_H

#include <exemplar/author/mesh.h>

/* An OBJ text with every kind of line that is read. */
extern const char obj_with_everything[];

/* True if two meshes are equal to the bit, including names and tags. */
bool meshes_are_same(const ex_mesh *a, const ex_mesh *b);

#endif

/*
 * mesh_check.h - whether an ex_mesh, which its holder may change, still holds together; private to authoring.
 */
#ifndef EXEMPLAR_AUTHOR_MESH_MESH_CHECK_H
#define EXEMPLAR_AUTHOR_MESH_MESH_CHECK_H

#include <exemplar/author/mesh.h>

/* Offsets rise by at least 3, corners and their attributes are in range: what every loop over faces relies on.
 * EX_ERROR_DATA names the first face that is wrong. Costs one pass over the corners. */
ex_result exi_mesh_check_faces(const ex_mesh *mesh, ex_error *error);

#endif

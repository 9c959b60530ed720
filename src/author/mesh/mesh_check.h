/*
 * mesh_check.h - checks the faces of an ex_mesh, which its owner may have changed; private to authoring.
 */
#ifndef EXEMPLAR_AUTHOR_MESH_MESH_CHECK_H
#define EXEMPLAR_AUTHOR_MESH_MESH_CHECK_H

#include <exemplar/author/mesh.h>

/* Checks what every loop over faces relies on: offsets rise by at least 3, corners and their attributes are in range.
 * EX_ERROR_DATA names the first bad face. Costs one pass over the corners. */
ex_result exi_mesh_check_faces(const ex_mesh *mesh, ex_error *error);

/* Checks what readers of files refuse besides: a mesh without vertices. */
ex_result exi_mesh_check_writable(const char *path, const ex_mesh *mesh, ex_error *error);

#endif

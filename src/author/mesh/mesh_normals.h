/*
 * mesh_normals.h - normals that belong to one form of a mesh; private to authoring.
 */
#ifndef EXEMPLAR_AUTHOR_MESH_MESH_NORMALS_H
#define EXEMPLAR_AUTHOR_MESH_MESH_NORMALS_H

#include <exemplar/author/mesh.h>

/* Removes the normals, before the mesh gets other positions. */
void exi_mesh_drop_normals(ex_mesh *mesh);

#endif

/* group.h - groups of faces by name; private to authoring. */
#ifndef EXEMPLAR_AUTHOR_MESH_GROUP_H
#define EXEMPLAR_AUTHOR_MESH_GROUP_H

#include <exemplar/author/mesh.h>

/* Whether one of the names on a `g` line is the one asked for. */
bool exi_group_is_named(const char *line, const char *name);

/* Writes 1 for the vertices of the group's faces and leaves the others alone; DATA, and the nearest name, where there
 * is no such group. mask [vertex_count] may be NULL: then it is only looked for. */
ex_result exi_mesh_group_mask(const ex_mesh *mesh, const char *name, float *mask, ex_error *error);

#endif

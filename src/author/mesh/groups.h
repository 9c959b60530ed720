/*
 * groups.h - groups of faces by name; private to authoring.
 */
#ifndef EXEMPLAR_AUTHOR_MESH_GROUPS_H
#define EXEMPLAR_AUTHOR_MESH_GROUPS_H

#include <exemplar/author/mesh.h>

/* True if `name` is one of the names on a `g` line. */
bool exi_names_group(const char *line, const char *name);

/* Writes 1 for the vertices of the group's faces and leaves the others alone; DATA, and the nearest name, where there
 * is no such group. */
ex_result exi_mask_from_group(const ex_mesh *mesh, const char *name, float *mask, ex_error *error);

#endif

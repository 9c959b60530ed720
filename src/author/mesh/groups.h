/*
 * groups.h - groups of faces by name; private to authoring.
 */
#ifndef EXEMPLAR_AUTHOR_MESH_GROUPS_H
#define EXEMPLAR_AUTHOR_MESH_GROUPS_H

#include <exemplar/author/mesh.h>

/* True if `name` is one of the names on a `g` line. */
bool exi_names_group(const char *line, const char *name);

#endif

/*
 * creases.h - normals of a posed mesh that keep the hard edges of its rest. Private to authoring.
 */
#ifndef EXEMPLAR_AUTHOR_PICTURE_RENDER_CREASES_H
#define EXEMPLAR_AUTHOR_PICTURE_RENDER_CREASES_H

#include <exemplar/author/mesh.h>

/* Replaces the normals of a posed mesh, if its rest, a mesh with the same faces, has hard edges (*hard). Results:
 * MEMORY. */
ex_result exi_keep_creases(const ex_mesh *rest, ex_mesh *posed, bool *hard, ex_error *error);

#endif

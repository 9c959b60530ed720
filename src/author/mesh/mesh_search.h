/*
 * mesh_search.h - the triangles of meshes, ready for nearest points and rays. Private to authoring.
 */
#ifndef EXEMPLAR_AUTHOR_MESH_MESH_SEARCH_H
#define EXEMPLAR_AUTHOR_MESH_MESH_SEARCH_H

#include <exemplar/author/mesh.h>
#include <exemplar/settle.h>

/* All triangles of some meshes. */
typedef struct exi_search {
    float *positions;
    uint32_t *triangles; /* [triangle_count][3] */
    int triangle_count;
    ex_tree *tree;
    void *memory;
    const ex_bounds *bounds;
} exi_search;

/* Release s with exi_search_free, also after an error. Results: MEMORY, and those of ex_mesh_triangulate and
 * ex_tree_create. */
ex_result exi_search_make(exi_search *s, const ex_mesh *const *meshes, int count, ex_error *error);
void exi_search_free(exi_search *s);
/* Computes the unit normal of a triangle; false if it has none. */
bool exi_search_normal(const exi_search *s, int triangle, double normal[3]);

#endif

/*
 * reorder.h - matches vertices if a form has the mesh's vertices in another order; private to authoring.
 */
#ifndef EXEMPLAR_AUTHOR_PROJECT_SCULPT_REORDER_H
#define EXEMPLAR_AUTHOR_PROJECT_SCULPT_REORDER_H

#include <exemplar/author/mesh.h>

/* Relation between the vertices and faces of two meshes. */
typedef enum exi_order {
    EXI_ORDER_OTHER,     /* they do not match, or it is ambiguous */
    EXI_ORDER_FACES,     /* vertices are in the same order; only faces are not, or start at another corner */
    EXI_ORDER_TEXCOORDS, /* matching by texture coordinates repairs it */
    EXI_ORDER_POSITIONS  /* matching by positions repairs it */
} exi_order;

/* Finds for each vertex of `other` the matching vertex of the mesh, into to [vertex_count of the mesh], which may be
 * NULL. `to` is not written if the result is EXI_ORDER_OTHER. Sets *failed if memory ran out. */
exi_order exi_find_order(const ex_mesh *mesh, const ex_mesh *other, int *to, bool *failed);

/* Does the same by positions alone; vertices that did not move are within `room` of each other. False if it is
 * ambiguous. */
bool exi_find_order_by_position(const ex_mesh *mesh, const ex_mesh *other, double room, int *to, bool *failed);

/* Returns the place [vertex_count], from 0, of each vertex, and the number of places; NULL without memory. Vertices at
 * the same position share a place. */
int *exi_vertex_places(const ex_mesh *mesh, int *count, bool *failed);
/* Returns the number of distinct vertex positions of a mesh. */
int exi_place_count(const ex_mesh *mesh, bool *failed);

#endif

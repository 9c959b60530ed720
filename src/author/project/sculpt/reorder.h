/*
 * reorder.h - which vertex is which where a form has the mesh's vertices in another order; private to authoring.
 */
#ifndef EXEMPLAR_AUTHOR_PROJECT_SCULPT_REORDER_H
#define EXEMPLAR_AUTHOR_PROJECT_SCULPT_REORDER_H

#include <exemplar/author/mesh.h>

/* Whether the faces of one mesh are those of another once its vertices are put in another order. */
typedef enum exi_order {
    EXI_ORDER_OTHER,     /* they are not, or it cannot be told */
    EXI_ORDER_FACES,     /* vertices are in the same order, only faces are not or start at another corner */
    EXI_ORDER_TEXCOORDS, /* matching by texture coordinates repairs it */
    EXI_ORDER_POSITIONS  /* matching by positions repairs it */
} exi_order;

/* The mesh's vertex that each vertex of `other` is, in to [vertex_count of the mesh], which may be NULL and is written
 * to unless the answer is EXI_ORDER_OTHER. *failed is set where memory ran out. */
exi_order exi_find_order(const ex_mesh *mesh, const ex_mesh *other, int *to, bool *failed);

/* The same by positions alone, which are within `room` of each other where vertices did not move. False where it cannot
 * be told. */
bool exi_find_order_by_position(const ex_mesh *mesh, const ex_mesh *other, double room, int *to, bool *failed);

/* The place [vertex_count], from 0, that each vertex stands at, and how many there are; NULL without memory. */
int *exi_vertex_places(const ex_mesh *mesh, int *count, bool *failed);
/* How many places the vertices of a mesh stand at. */
int exi_place_count(const ex_mesh *mesh, bool *failed);

#endif

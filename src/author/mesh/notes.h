/*
 * notes.h - mesh data that a rig stores without interpreting it: groups, materials, vertex colours, subdivision tags;
 * private to authoring. docs/reference/rig.md describes the bytes.
 */
#ifndef EXEMPLAR_AUTHOR_MESH_NOTES_H
#define EXEMPLAR_AUTHOR_MESH_NOTES_H

#include "author/mesh/rig_mesh.h"

/* Adds the mesh's data to made->notes. */
ex_result exi_notes_write(const ex_mesh *mesh, exi_rig_mesh *made, ex_error *error);

/* Fills the mesh from the rig's notes. Skips unknown kinds; damaged notes are EX_ERROR_DATA. */
ex_result exi_notes_read(const ex_rig *rig, ex_mesh *mesh, ex_error *error);

#endif

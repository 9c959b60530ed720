/*
 * notes.h - what a rig carries of a mesh without looking into it: groups, materials, vertex colours, subdivision tags;
 * private to authoring. docs/rig-format.md describes the bytes.
 */
#ifndef EXEMPLAR_AUTHOR_MESH_NOTES_H
#define EXEMPLAR_AUTHOR_MESH_NOTES_H

#include "author/mesh/rig_mesh.h"

/* Adds to made->notes what the mesh has. */
ex_result exi_notes_write(const ex_mesh *mesh, exi_rig_mesh *made, ex_error *error);

/* Fills in what the rig's notes hold; unknown kinds are passed over, damaged ones are EX_ERROR_DATA. */
ex_result exi_notes_read(const ex_rig *rig, ex_mesh *mesh, ex_error *error);

#endif

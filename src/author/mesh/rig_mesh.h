/*
 * rig_mesh.h - between meshes as people edit them and meshes as rigs hold them; private to authoring.
 */
#ifndef EXEMPLAR_AUTHOR_MESH_RIG_MESH_H
#define EXEMPLAR_AUTHOR_MESH_RIG_MESH_H

#include <exemplar/author/mesh.h>
#include <exemplar/rig_inspect.h>

/* A rig's mesh and the notes (groups, materials, colours, tags) that go with it. Everything belongs to this struct. */
#define EXI_RIG_MESH_NOTES 4
typedef struct exi_rig_mesh {
    ex_rig_mesh mesh;
    ex_attachment notes[EXI_RIG_MESH_NOTES];
    int note_count;
    float *positions, *texcoords, *normals;
    uint32_t *split_source, *face_sizes, *corners, *triangles;
    void *note_data[EXI_RIG_MESH_NOTES];
} exi_rig_mesh;

/*
 * Splits vertices at seams: one split vertex for every different pair of texture coordinate and normal at a vertex, in
 * the order in which faces mention them. Positions are rounded to float first, here and in `mesh` itself, so that
 * nothing that follows depends on digits that the rig does not keep.
 */
ex_result exi_rig_mesh_make(ex_mesh *mesh, exi_rig_mesh *made, ex_error *error);

/* Where it has faces and no normals: smooth ones at rest, one a source vertex, so that viewers need not make up flat
 * ones. Written to a file and read again they split nothing. */
ex_result exi_rig_mesh_smooth(exi_rig_mesh *made, ex_error *error);

void exi_rig_mesh_free(exi_rig_mesh *made);

#endif

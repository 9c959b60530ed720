/*
 * rig_mesh.h - converts meshes as people edit them to meshes as rigs hold them; private to authoring.
 */
#ifndef EXEMPLAR_AUTHOR_MESH_RIG_MESH_H
#define EXEMPLAR_AUTHOR_MESH_RIG_MESH_H

#include <exemplar/author/mesh.h>
#include <exemplar/rig_inspect.h>

/* A rig's mesh and its notes (groups, materials, colours, tags). The struct owns everything. */
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
 * the order in which faces mention them. First rounds positions to float, here and in `mesh`, so that nothing later
 * depends on digits that the rig does not keep.
 */
ex_result exi_rig_mesh_make(ex_mesh *mesh, exi_rig_mesh *made, ex_error *error);

/* Adds smooth normals at rest to a mesh that has faces and no normals, one per source vertex, so that viewers need not
 * make up flat ones. After writing and reading a file they split nothing. */
ex_result exi_rig_mesh_smooth(exi_rig_mesh *made, ex_error *error);

void exi_rig_mesh_free(exi_rig_mesh *made);

#endif

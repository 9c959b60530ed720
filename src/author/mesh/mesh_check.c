/*
 * Checks that a mesh's faces are consistent, as writing a file, triangulating and subdividing require.
 */
#include "author/mesh/mesh_check.h"

#include "runtime/base/result.h"

ex_result exi_mesh_check_faces(const ex_mesh *mesh, ex_error *error) {
    if (mesh->face_count == 0)
        return EX_OK;
    if (mesh->face_offsets[0] != 0 || mesh->face_offsets[mesh->face_count] != mesh->corner_count)
        return ex_error_set(error, EX_ERROR_DATA, "the mesh's faces do not cover its %d corners", mesh->corner_count);
    for (int f = 0; f < mesh->face_count; f++) {
        int begin = mesh->face_offsets[f], end = mesh->face_offsets[f + 1];
        if (begin > mesh->corner_count - 3 || end < begin + 3 || end > mesh->corner_count)
            return ex_error_set(error, EX_ERROR_DATA, "face %d of the mesh (counting from 0) has fewer than 3 corners",
                                f);
        for (int c = begin; c < end; c++) {
            if (mesh->corners[c] < 0 || mesh->corners[c] >= mesh->vertex_count)
                return ex_error_set(error, EX_ERROR_DATA,
                                    "face %d of the mesh (counting from 0) refers to vertex %d, but there are %d", f,
                                    mesh->corners[c], mesh->vertex_count);
            if ((mesh->corner_texcoords && mesh->corner_texcoords[c] >= mesh->texcoord_count) ||
                (mesh->corner_normals && mesh->corner_normals[c] >= mesh->normal_count))
                return ex_error_set(error, EX_ERROR_DATA,
                                    "face %d of the mesh (counting from 0) refers to a texture coordinate or a normal "
                                    "that does not exist",
                                    f);
        }
    }
    return EX_OK;
}

ex_result exi_mesh_check_writable(const char *path, const ex_mesh *mesh, ex_error *error) {
    ex_result result = exi_mesh_check_faces(mesh, error);
    if (result == EX_OK && mesh->vertex_count == 0)
        result = ex_error_set(error, EX_ERROR_DATA, "cannot write '%s': the mesh has no vertices", path);
    return result;
}

/*
 * Fuzzes the OBJ reader (clang -fsanitize=fuzzer,address,undefined): any bytes are a mesh or an error, and a mesh can
 * be copied, triangulated and searched for self-intersections.
 */
#include <exemplar/author.h>

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    ex_mesh *mesh;
    ex_error error;
    ex_result result = ex_obj_parse((const char *)data, size, "fuzz.obj", &mesh, &error);
    if ((result == EX_OK) != (mesh != NULL))
        abort();
    if (!mesh)
        return 0;
    ex_mesh *copy = ex_mesh_copy(mesh);
    int *triangles, count;
    if (ex_mesh_compare_connectivity(mesh, copy, &error) != EX_OK ||
        ex_mesh_triangulate(copy, &triangles, &count, &error) != EX_OK)
        abort();
    if (count != mesh->corner_count - 2 * mesh->face_count)
        abort();
    free(triangles);
    if (ex_mesh_count_self_intersections(copy, NULL, &count, &error) != EX_OK || count < 0)
        abort();
    ex_mesh_destroy(copy);
    ex_mesh_destroy(mesh);
    return 0;
}

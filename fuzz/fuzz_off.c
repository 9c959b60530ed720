/*
 * Fuzzes the OFF reader (clang -fsanitize=fuzzer,address,undefined): any bytes are a mesh or an error, and a mesh can
 * be triangulated, written as PLY, and read again.
 */
#include <exemplar/author.h>

#include "fuzz/scratch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    ex_mesh *mesh, *again;
    ex_error error;
    ex_result result = ex_off_parse(data, size, "fuzz.off", &mesh, &error);
    if ((result == EX_OK) != (mesh != NULL))
        abort();
    if (!mesh)
        return 0;
    int *triangles, count;
    if (ex_mesh_triangulate(mesh, &triangles, &count, &error) != EX_OK)
        abort();
    free(triangles);
    const scratch_path path = scratch_name("form.ply");
    if (ex_ply_write(path.text, mesh, EX_PLY_ASCII, &error) != EX_OK ||
        ex_ply_read(path.text, &again, &error) != EX_OK) {
        puts(error.text);
        abort();
    }
    if (ex_mesh_compare_connectivity(mesh, again, &error) != EX_OK)
        abort();
    remove(path.text);
    ex_mesh_destroy(again);
    ex_mesh_destroy(mesh);
    return 0;
}

/*
 * Fuzzes small files that go with projects and motion (clang -fsanitize=fuzzer,address,undefined). The first byte
 * chooses the kind: a mask (a), a displacement map (d), a map of joints (i), binds (b), segments (g). Any bytes after
 * it are such a file or an error with a sentence; their values are in range.
 */
#include <exemplar/author.h>

#include "author/project/build/project_trajectories.h"
#include "fuzz/scratch.h"

#include <math.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { VERTICES = 12, FACES = 4 };

static bool came_through(ex_result result, const ex_error *error) {
    if (result != EX_OK && error->text[0] == 0)
        abort();
    return result == EX_OK;
}

static void fuzz_mask(const char *path) {
    float mask[VERTICES] = {0};
    ex_error error = {0};
    if (came_through(ex_mask_read(path, VERTICES, 1, mask, &error), &error))
        for (int v = 0; v < VERTICES; v++)
            if (!(mask[v] >= 0 && mask[v] <= 1))
                abort();
}

static void fuzz_map(const char *path) {
    ex_displacement_map *map = NULL, *again = NULL;
    ex_error error = {0};
    if (came_through(ex_displacement_map_read(path, &map, &error), &error)) {
        for (int v = 0; v < map->vertex_count; v++)
            if (!isfinite(map->displacements[v]) || map->states[v] >= EX_DISPLACEMENT_MAP_STATE_COUNT)
                abort();
        if (ex_displacement_map_write(path, map, &error) != EX_OK ||
            ex_displacement_map_read(path, &again, &error) != EX_OK || again->vertex_count != map->vertex_count)
            abort();
    }
    ex_displacement_map_destroy(again);
    ex_displacement_map_destroy(map);
}

static void fuzz_joints(const char *path) {
    ex_joint_map *map = NULL;
    ex_error error = {0};
    if (came_through(ex_joint_map_read(path, &map, &error), &error))
        for (int i = 0; i < map->pair_count; i++)
            for (int k = 0; k < 3; k++)
                if (!map->pairs[i].joint || !map->pairs[i].from || !isfinite(map->pairs[i].hinge[k]))
                    abort();
    ex_joint_map_destroy(map);
}

static ex_mesh *make_mesh(void) {
    static const char text[] = "v 0 0 0 1 0 0\nv 1 0 0 0 1 0\nv 0 1 0 0 0 1\nv 0 0 1 1 1 0\n"
                               "g left\nf 1 2 3\nf 1 3 4\ng right\nf 1 4 2\nf 2 4 3\n";
    ex_mesh *mesh = NULL;
    if (ex_obj_parse(text, sizeof text - 1, "mesh.obj", &mesh, NULL) != EX_OK)
        abort();
    return mesh;
}

static void fuzz_binds(const char *path) {
    ex_mesh *mesh = make_mesh();
    ex_drive_binds *binds = NULL;
    ex_error error = {0};
    if (came_through(ex_drive_read_binds(path, mesh, mesh, &binds, &error), &error))
        for (int v = 0; v < mesh->vertex_count; v++)
            if (binds->vertex_binds && binds->vertex_binds[v] > binds->bind_count)
                abort();
    ex_drive_free_binds(binds);
    ex_mesh_destroy(mesh);
}

static void fuzz_segments(const char *path) {
    int segments[FACES];
    ex_error error = {0};
    if (came_through(exi_segments_read(path, FACES, segments, &error), &error))
        for (int f = 0; f < FACES; f++)
            if (segments[f] < -1)
                abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    if (size == 0 || size > 50000)
        return 0;
    const scratch_path path = scratch_name("side");
    scratch_write(path.text, data + 1, size - 1);
    if (data[0] == 'a')
        fuzz_mask(path.text);
    else if (data[0] == 'd')
        fuzz_map(path.text);
    else if (data[0] == 'i')
        fuzz_joints(path.text);
    else if (data[0] == 'b')
        fuzz_binds(path.text);
    else if (data[0] == 'g')
        fuzz_segments(path.text);
    remove(path.text);
    return 0;
}

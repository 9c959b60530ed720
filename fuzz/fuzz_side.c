/*
 * Fuzzes small files that go with projects and motion (clang -fsanitize=fuzzer,address,undefined). The first byte
 * chooses the kind: a mask (a), a displacement map (d), a map of joints (i), binds (b), segments (g), a predictor (p).
 * Any bytes after it are such a file or an error with a sentence; their values are in range. The checksum of a
 * predictor is corrected first.
 */
#include <exemplar/author.h>

#include "author/project/build/project_trajectories.h"
#include "fuzz/scratch.h"
#include "runtime/base/checksum.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

/* A predictor gives finite weights for any motion of the driver. */
static void use_predictor(const ex_predictor *predictor) {
    ex_predictor_def def;
    ex_predictor_describe(predictor, NULL, &def);
    const size_t frames = (size_t)def.frame_count;
    float *matrices = calloc(12 * frames, sizeof *matrices);
    float *state = calloc((size_t)ex_state_start(def.frame_count, EX_STATE_KIND_COUNT), sizeof *state);
    double *weights = calloc((size_t)def.weight_count, sizeof *weights);
    void *history = calloc(ex_predictor_history_size(predictor), 1),
         *room = malloc(ex_predictor_scratch_size(predictor));
    for (int i = 0; i < 3; i++) {
        for (size_t f = 0; f < frames; f++) {
            matrices[12 * f] = matrices[12 * f + 5] = matrices[12 * f + 10] = 1;
            matrices[12 * f + 3] = (float)i * (float)f;
        }
        ex_predictor_observe(predictor, matrices, NULL, i == 0 ? 0 : 0.01, history, state);
        if (!(ex_predictor_evaluate(predictor, state, weights, room) >= 0))
            abort();
    }
    free(matrices);
    free(state);
    free(weights);
    free(history);
    free(room);
}

static void fuzz_predictor(const char *path, const uint8_t *data, size_t size) {
    ex_predictor *predictor = NULL, *again = NULL;
    ex_error error = {0};
    uint8_t *bytes = malloc(size + 1);
    memcpy(bytes, data, size);
    if (size >= 24) {
        const uint64_t checksum = exi_checksum(bytes + 24, size - 24);
        memcpy(bytes + 16, &checksum, sizeof checksum);
    }
    if (came_through(ex_predictor_parse(bytes, size, path, &predictor, &error), &error)) {
        use_predictor(predictor);
        if (ex_predictor_write(path, predictor, &error) != EX_OK || ex_predictor_read(path, &again, &error) != EX_OK)
            abort();
    }
    ex_predictor_destroy(again);
    ex_predictor_destroy(predictor);
    free(bytes);
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
    else if (data[0] == 'p')
        fuzz_predictor(path.text, data + 1, size - 1);
    remove(path.text);
    return 0;
}

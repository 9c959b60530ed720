/*
 * Fuzzes the glTF reader (clang -fsanitize=fuzzer,address,undefined): any bytes are a scene or an error, and a scene is
 * consistent and can be posed, turned into a mesh, written, and read again.
 */
#include <exemplar/author.h>

#include "fuzz/scratch.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void pose(const ex_scene *scene) {
    ex_error error;
    ex_scene_transform *transforms = malloc(((size_t)scene->node_count + 1) * sizeof *transforms);
    double *worlds = malloc(((size_t)scene->node_count + 1) * 16 * sizeof *worlds);
    if (!transforms || !worlds)
        abort();
    for (int animation = -1; animation < scene->animation_count && animation < 3; animation++) {
        ex_scene_sample(scene, animation, 0.3, transforms);
        if (ex_scene_worlds(scene, transforms, worlds, &error) != EX_OK)
            abort();
    }
    for (int skin = 0; skin < scene->skin_count && skin < 3; skin++) {
        double *matrices = malloc((size_t)scene->skins[skin].joint_count * 16 * sizeof *matrices);
        if (!matrices)
            abort();
        ex_scene_skin_matrices(scene, skin, worlds, matrices);
        free(matrices);
    }
    free(worlds);
    free(transforms);
}

static void write_again(const ex_scene *scene) {
    const scratch_path path = scratch_name("scene.glb");
    ex_error error;
    ex_scene *again;
    ex_result result = ex_scene_write(path.text, scene, &error);
    if (result == EX_OK) {
        if (ex_scene_read(path.text, &again, &error) != EX_OK) {
            puts(error.text);
            abort();
        }
        ex_scene_destroy(again);
        remove(path.text);
    } else if (result != EX_ERROR_FILE) { /* an image in a missing file */
        puts(error.text);
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    ex_scene *scene;
    ex_error error;
    ex_mesh *mesh;
    ex_result result = ex_scene_parse(data, size, "fuzz.glb", false, &scene, &error);
    if ((result == EX_OK) != (scene != NULL))
        abort();
    if (!scene)
        return 0;
    if (ex_scene_check(scene, &error) != EX_OK)
        abort();
    pose(scene);
    long vertices = 0;
    for (int m = 0; m < scene->mesh_count; m++)
        for (int p = 0; p < scene->meshes[m].primitive_count; p++)
            vertices += scene->meshes[m].primitives[p].vertex_count;
    if (vertices < 10000) {
        if (ex_scene_to_form(scene, &mesh, &error) == EX_OK) {
            if (ex_scene_add_mesh(scene, mesh, "again", NULL, &error) != EX_OK && error.result != EX_ERROR_DATA)
                abort();
            ex_mesh_destroy(mesh);
        }
        write_again(scene);
    }
    ex_scene_destroy(scene);
    return 0;
}

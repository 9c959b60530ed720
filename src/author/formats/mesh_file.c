/*
 * Reads and writes meshes in every format that Exemplar knows, chosen by the file name's extension.
 */
#include "author/formats/cache/alembic/alembic.h"
#include "author/formats/foreign.h"
#include "author/formats/scene/scene.h"
#include "runtime/base/result.h"

#include <exemplar/author/files.h>
#include <exemplar/author/formats.h>

#include <stdlib.h>
#include <string.h>

static ex_result read_scene(const char *path, ex_mesh **mesh, ex_error *error) {
    ex_scene *scene;
    ex_result result = ex_scene_read(path, &scene, error);
    if (result != EX_OK)
        return result;
    result = ex_error_within(error, ex_scene_to_form(scene, mesh, error), "%s", path);
    ex_scene_destroy(scene);
    return result;
}

/* Reads the first frame of an Alembic file. */
static ex_result read_alembic(const char *path, ex_mesh **mesh, ex_error *error) {
    exi_alembic_reader reader;
    const ex_result result = exi_alembic_reader_open(&reader, path, error);
    if (result != EX_OK)
        return result;
    *mesh = reader.mesh;
    reader.mesh = NULL;
    exi_alembic_reader_close(&reader);
    return EX_OK;
}

static ex_result write_scene(const char *path, const ex_mesh *mesh, const ex_image *image, ex_error *error) {
    ex_scene *scene = ex_scene_create();
    if (!scene)
        return ex_error_memory(error, "the file", sizeof *scene);
    ex_result result =
        ex_error_within(error, ex_scene_add_mesh(scene, mesh, NULL, NULL, error), "cannot write '%s'", path);
    if (result == EX_OK && ex_scene_add_node(scene, NULL, -1, 0) < 0)
        result = ex_error_memory(error, "the file", sizeof(ex_scene_node));
    if (result == EX_OK && image)
        result = exi_scene_add_texture(scene, "base_color", image, error);
    if (result == EX_OK)
        result = ex_scene_write(path, scene, error);
    ex_scene_destroy(scene);
    return result;
}

static ex_result write_obj(const char *path, const ex_mesh *mesh, const ex_image *image, ex_error *error) {
    (void)image;
    return ex_obj_write(path, mesh, error);
}

static ex_result write_ply(const char *path, const ex_mesh *mesh, const ex_image *image, ex_error *error) {
    (void)image;
    return ex_ply_write(path, mesh, EX_PLY_LITTLE_ENDIAN, error);
}

typedef struct kind {
    const char *ending;
    ex_result (*read)(const char *path, ex_mesh **mesh, ex_error *error);
    ex_result (*write)(const char *path, const ex_mesh *mesh, const ex_image *image, ex_error *error); /* or NULL */
} kind;

static const kind kinds[] = {
    {".obj", ex_obj_read, write_obj},   {".ply", ex_ply_read, write_ply},  {".off", ex_off_read, NULL},
    {".gltf", read_scene, write_scene}, {".glb", read_scene, write_scene}, {".abc", read_alembic, NULL},
};

static const kind *find_kind(const char *path) {
    const char *name;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (ex_path_ends_with(path, kinds[i].ending))
            return &kinds[i];
    return exi_alembic_split(path, &name) > 0 ? &kinds[sizeof kinds / sizeof *kinds - 1] : NULL;
}

ex_result ex_mesh_read(const char *path, ex_mesh **mesh, ex_error *error) {
    *mesh = NULL;
    const kind *found = find_kind(path);
    return found ? found->read(path, mesh, error) : exi_foreign_ending(error, EXI_CONTENT_MESH, path);
}

ex_result ex_mesh_write_textured(const char *path, const ex_mesh *mesh, const ex_image *base_colour, ex_error *error) {
    const kind *found = find_kind(path);
    return found && found->write
               ? found->write(path, mesh, base_colour, error)
               : ex_error_set(error, EX_ERROR_ARGUMENT,
                              "cannot write '%s': meshes are written as .obj, .ply, .gltf or .glb", path);
}

ex_result ex_mesh_write(const char *path, const ex_mesh *mesh, ex_error *error) {
    return ex_mesh_write_textured(path, mesh, NULL, error);
}

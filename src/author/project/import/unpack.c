/*
 * Makes a project from a rig: the mesh and every example as OBJ or PNG, the skeleton as glTF, the spaces as JSON.
 * Building it again gives the same bytes; numbers are written with enough decimals.
 */
#include "author/project/import/unpack.h"

#include "author/base/array.h"
#include "author/base/json.h"
#include "author/formats/rig/rig_gltf.h"
#include "author/project/build/project_trajectories.h"
#include "author/project/skeleton/skeleton.h"
#include "runtime/base/result.h"

#include <exemplar/author/files.h>
#include <exemplar/author/formats.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

/* ---- the folder ---- */

static char *join(const char *directory, const char *name) {
    size_t size = strlen(directory) + strlen(name) + 2;
    char *path = malloc(size);
    if (path)
        snprintf(path, size, "%s/%s", directory, name);
    return path;
}

ex_result exi_new_folder_open(exi_new_folder *f, ex_error *error) {
    const ex_result result = ex_make_directory(f->path, error);
    return result == EX_OK ? ex_file_set_open(f->path, false, &f->set, error) : result;
}

const char *exi_new_folder_add(exi_new_folder *f, const char *name, ex_error *error) {
    char *path = join(ex_file_set_folder(f->set), name);
    char **made = exi_array_grow(f->made, &f->made_capacity, (size_t)f->made_count + 1, sizeof *made);
    if (made)
        f->made = made;
    if (!path || !made) {
        free(path);
        ex_error_memory(error, "a path", strlen(f->path));
        return NULL;
    }
    f->made[f->made_count++] = path;
    return path;
}

/* True if the project is called as a .glb file is, on any disk. */
static bool is_project_of(const char *project, const char *file) {
    const size_t size = strlen(file) - 3;
    return strncasecmp(project, file, size) == 0 && strcasecmp(project + size, "json") == 0;
}

const char *exi_unpacked_skeleton(const char *project) {
    return is_project_of(project, EXI_UNPACKED_SKELETON) ? EXI_UNPACKED_OTHER_SKELETON : EXI_UNPACKED_SKELETON;
}

const char *exi_unpacked_clips(const char *project) {
    return is_project_of(project, EXI_UNPACKED_CLIPS) ? EXI_UNPACKED_OTHER_CLIPS : EXI_UNPACKED_CLIPS;
}

static bool exists(const char *path) {
    struct stat status;
    return stat(path, &status) == 0;
}

ex_result exi_new_folder_check_free(const exi_new_folder *f, const char *name, ex_error *error) {
    char *path = join(f->path, name);
    ex_result result = EX_OK;
    if (!path)
        result = ex_error_memory(error, "a path", strlen(f->path));
    else if (exists(path))
        result = ex_error_kind(error, ex_error_set(error, EX_ERROR_FILE, "%s exists already", path), "folder_in_use");
    free(path);
    return result;
}

static ex_result check_all_free(const ex_rig *rig, const json_t *paths, const exi_unpacked_driver *driver,
                                const ex_scene *looks, const exi_new_folder *f, const char *project, ex_error *error) {
    if (f->overwrite)
        return EX_OK;
    float *shifts = exi_array_allocate(3 * (size_t)ex_rig_joint_count(rig), sizeof *shifts);
    ex_result result =
        shifts ? exi_new_folder_check_free(f, project, error) : ex_error_memory(error, "the skeleton", 0);
    if (result == EX_OK)
        result = exi_new_folder_check_free(f, EXI_UNPACKED_MESH, error);
    if (result == EX_OK && ex_rig_skeleton(rig))
        result = exi_new_folder_check_free(f, exi_unpacked_skeleton(project), error);
    if (result == EX_OK)
        result = exi_looks_check_free(looks, f, error);
    if (result == EX_OK && exi_rig_find_attachment(rig, EXI_CLIPS_NOTE).data)
        result = exi_new_folder_check_free(f, exi_unpacked_clips(project), error);
    if (result == EX_OK)
        result = exi_unpack_check_driver(driver, rig, f, error);
    for (int l = 0; result == EX_OK && l < ex_rig_layer_count(rig); l++)
        result = exi_unpack_check_trajectories(rig, l, paths, f, error);
    for (int l = 0; l < ex_rig_layer_count(rig); l++)
        for (int k = 0; k < ex_weigher_example_count(ex_rig_weigher(rig, l)); k++)
            for (int kind = 0; result == EX_OK && kind < EXI_UNPACKED_KIND_COUNT; kind++)
                if (exi_unpacked_has(rig, l, k, (exi_unpacked_kind)kind, shifts))
                    result =
                        exi_new_folder_check_free(f, exi_unpacked_name(rig, l, k, (exi_unpacked_kind)kind).text, error);
    free(shifts);
    return result;
}

ex_result exi_new_folder_close(exi_new_folder *f, const char *project, ex_result result, ex_error *error) {
    for (int i = 0; i < f->made_count; i++)
        free(f->made[i]);
    free(f->made);
    if (result == EX_OK)
        return ex_file_set_commit(f->set, project, error);
    ex_file_set_abandon(f->set, error);
    return result;
}

/* ---- the files ---- */

/* The clips of a rig are a file already. */
static ex_result write_clips(const ex_rig *rig, const char *project, exi_new_folder *f, ex_error *error) {
    const ex_attachment clips = exi_rig_find_attachment(rig, EXI_CLIPS_NOTE);
    const char *path = clips.data ? exi_new_folder_add(f, exi_unpacked_clips(project), error) : NULL;
    ex_file_writer writer;
    if (!clips.data || !path)
        return clips.data ? EX_ERROR_MEMORY : EX_OK;
    ex_result result = ex_file_open(&writer, path, error);
    if (result != EX_OK)
        return result;
    ex_file_write(&writer, clips.data, clips.size);
    return ex_file_commit(&writer, error);
}

static ex_result write_body(const ex_rig *rig, const ex_mesh *mesh, const char *skeleton, exi_new_folder *f,
                            ex_error *error) {
    const char *path = exi_new_folder_add(f, EXI_UNPACKED_MESH, error);
    ex_result result = path ? ex_obj_write(path, mesh, error) : EX_ERROR_MEMORY;
    if (result == EX_OK && ex_rig_skeleton(rig)) {
        path = exi_new_folder_add(f, skeleton, error);
        result = path ? ex_skeleton_write(path, rig, error) : EX_ERROR_MEMORY;
    }
    return result;
}

static ex_result write_files(const ex_rig *rig, const json_t *paths, const exi_unpacked_driver *driver,
                             const ex_mesh *mesh, ex_scene *looks, json_t *root, exi_new_folder *f, const char *project,
                             ex_error *error) {
    exi_arena arena = {0};
    ex_project_view view;
    ex_result result = exi_project_interpret(root, "", &arena, &view, error);
    if (result == EX_OK)
        result = write_body(rig, mesh, exi_unpacked_skeleton(project), f, error);
    if (result == EX_OK)
        result = exi_looks_write(looks, f, error);
    if (result == EX_OK)
        result = write_clips(rig, project, f, error);
    if (result == EX_OK)
        result = exi_unpack_write_driver(driver, rig, f, error);
    if (result == EX_OK)
        result = exi_unpack_layers(rig, &view, mesh, driver, f, error);
    for (int l = 0; result == EX_OK && l < ex_rig_layer_count(rig); l++)
        result = exi_unpack_write_trajectories(rig, l, paths, mesh, f, error);
    exi_arena_free(&arena);
    for (int i = 0; result == EX_OK && i < f->made_count; i++)
        if (strcasecmp(strrchr(f->made[i], '/') + 1, project) == 0)
            result = ex_error_set(error, EX_ERROR_DATA,
                                  "a part of the rig is called '%s', as its project would be: give the rig's file "
                                  "another name",
                                  project);
    const char *path = result == EX_OK ? exi_new_folder_add(f, project, error) : NULL;
    if (result == EX_OK)
        result = path ? exi_json_write(path, root, error) : EX_ERROR_MEMORY;
    return result;
}

static ex_result write_all(const ex_rig *rig, exi_new_folder *f, const char *project, ex_error *error) {
    ex_mesh *mesh = NULL;
    json_t *root = NULL, *paths = NULL;
    ex_scene *looks = NULL;
    exi_unpacked_driver driver = {0};
    ex_result result = exi_project_trajectories_note_read(rig, &paths, error);
    if (result == EX_OK)
        result = ex_rig_looks(rig, &looks, error);
    if (result == EX_OK)
        result = exi_unpack_driver_open(&driver, rig, error);
    if (result == EX_OK)
        result = check_all_free(rig, paths, &driver, looks, f, project, error);
    if (result == EX_OK)
        result = exi_unpack_describe(rig, paths, &driver, project, &root, error);
    if (result == EX_OK)
        result = ex_rig_to_mesh(rig, NULL, &mesh, error);
    if (result == EX_OK)
        result = write_files(rig, paths, &driver, mesh, looks, root, f, project, error);
    exi_unpack_driver_close(&driver);
    ex_scene_destroy(looks);
    json_decref(root);
    json_decref(paths);
    ex_mesh_destroy(mesh);
    return result;
}

ex_result ex_project_unpack(const ex_rig *rig, const char *directory, const char *name, bool overwrite,
                            ex_error *error) {
    if (ex_rig_storage(rig) != EX_STORAGE_FLOAT)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "a rig in 16-bit storage cannot be unpacked without loss");
    size_t size = strlen(name) + 6;
    char *project = malloc(size);
    if (!project)
        return ex_error_memory(error, "a path", size);
    snprintf(project, size, "%s.json", name);
    exi_new_folder f = {.path = directory, .overwrite = overwrite};
    ex_result result = exi_new_folder_open(&f, error);
    if (result == EX_OK)
        result = write_all(rig, &f, project, error);
    result = exi_new_folder_close(&f, project, result, error);
    free(project);
    return result;
}

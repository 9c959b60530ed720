/*
 * Makes a project from a glTF scene: chooses the content, and makes the folder and the project file. All of it is made
 * in memory first and built there, so that a scene which cannot become a rig is refused and leaves nothing behind.
 */
#include "author/project/import/init.h"

#include "author/base/array.h"
#include "author/base/json.h"
#include "author/project/build/build.h"
#include "author/project/import/unpack.h"

#include <exemplar/author/files.h>
#include <exemplar/author/formats.h>

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LAYER_NAME "targets"

void exi_init_note(const exi_init *init, const char *format, ...) {
    char text[EX_ERROR_SIZE];
    va_list list;
    va_start(list, format);
    vsnprintf(text, sizeof text, format, list);
    va_end(list);
    if (init->report && init->report->note)
        init->report->note(init->report->user, text);
}

/* ---- choosing the content ---- */

static int64_t vertices_of(const ex_scene *scene, int mesh) {
    int64_t count = 0;
    for (int p = 0; p < scene->meshes[mesh].primitive_count; p++)
        count += scene->meshes[mesh].primitives[p].vertex_count;
    return count;
}

/* Returns the skin whose shown meshes have the most vertices, or -1. */
static int choose_skin(const ex_scene *scene, const bool *shown) {
    int best = -1;
    int64_t most = -1;
    for (int s = 0; s < scene->skin_count; s++) {
        int64_t vertices = 0;
        bool used = false;
        for (int n = 0; n < scene->node_count; n++)
            if (shown[n] && scene->nodes[n].skin == s && scene->nodes[n].mesh >= 0) {
                vertices += vertices_of(scene, scene->nodes[n].mesh);
                used = true;
            }
        if (used && vertices > most) {
            most = vertices;
            best = s;
        }
    }
    return best;
}

/* Chooses the nodes whose meshes are kept: all that the file shows. */
static ex_result choose_nodes(exi_init *init, ex_error *error) {
    const ex_scene *scene = init->given;
    init->wanted = exi_scene_find_shown(scene);
    if (!init->wanted)
        return ex_error_memory(error, "the nodes", (size_t)scene->node_count);
    for (int n = 0; n < scene->node_count; n++)
        if (scene->nodes[n].mesh >= 0 && !init->wanted[n])
            exi_init_note(
                init, "node %d ('%s') is left out, with %lld vertices: it is not in the scene that the file shows", n,
                scene->nodes[n].name ? scene->nodes[n].name : "", (long long)vertices_of(scene, scene->nodes[n].mesh));
    for (int m = 0; m < scene->mesh_count; m++) {
        int64_t vertices = 0;
        for (int i = 0; i < scene->meshes[m].primitive_count; i++)
            if (scene->meshes[m].primitives[i].mode < EX_SCENE_TRIANGLES)
                vertices += scene->meshes[m].primitives[i].vertex_count;
        if (vertices > 0)
            exi_init_note(init, "mesh %d ('%s') has points or lines, with %lld vertices, which are not drawn", m,
                          scene->meshes[m].name ? scene->meshes[m].name : "", (long long)vertices);
    }
    return EX_OK;
}

/* Second joints come after the file's nodes; they have no meshes. */
static ex_result want_added(exi_init *init, ex_error *error) {
    const size_t before = (size_t)init->given->node_count, after = (size_t)init->scene->node_count;
    bool *wanted = realloc(init->wanted, after + 1);
    if (!wanted)
        return ex_error_memory(error, "the nodes", after);
    init->wanted = wanted;
    for (size_t n = before; n < after; n++)
        wanted[n] = false;
    return EX_OK;
}

/* Makes one scene with one skin of the file. */
static ex_result unify(exi_init *init, ex_error *error) {
    const size_t nodes = (size_t)init->given->node_count;
    ex_result result = choose_nodes(init, error);
    init->worlds = exi_array_allocate(16 * nodes, sizeof *init->worlds);
    if (result == EX_OK && !init->worlds)
        result = ex_error_memory(error, "the nodes", nodes * 16 * sizeof *init->worlds);
    if (result == EX_OK)
        result = ex_scene_worlds(init->given, NULL, init->worlds, error);
    if (result == EX_OK)
        result = exi_init_unify(init, init->given, choose_skin(init->given, init->wanted), error);
    if (result == EX_OK)
        result = want_added(init, error);
    if (result == EX_OK && !exi_init_name_joints(init))
        result = ex_error_memory(error, "the skeleton", nodes * EXI_NAME_MAX);
    return result;
}

/* Says how many triangles of the wanted nodes have a vertex twice, and so are no faces. Strips have such triangles on
 * purpose. */
static void note_flat(const exi_init *init) {
    int count = 0, triangle[3];
    for (int n = 0; n < init->given->node_count; n++) {
        const int number = init->wanted[n] ? init->given->nodes[n].mesh : -1;
        const ex_scene_mesh *mesh = number >= 0 ? &init->given->meshes[number] : NULL;
        for (int i = 0; mesh && i < mesh->primitive_count; i++) {
            const ex_scene_primitive *p = &mesh->primitives[i];
            for (int t = 0; p->mode == EX_SCENE_TRIANGLES && t < exi_scene_triangle_count(p); t++)
                count += !exi_scene_triangle(p, t, triangle);
        }
    }
    if (count > 0)
        exi_init_note(init, "%d triangle%s left out, with the same vertex at two corners", count,
                      count == 1 ? " is" : "s are");
}

static ex_result gather(exi_init *init, bool keep_seams, ex_error *error) {
    ex_result result = ex_scene_check(init->given, error);
    if (result == EX_OK)
        result = unify(init, error);
    if (result == EX_OK)
        result = exi_scene_merge_texcoords(init->scene) ? EX_OK : ex_error_memory(error, "the materials", 1000);
    if (result == EX_OK)
        result = exi_scene_join(init->scene, init->wanted, &init->mesh, &init->parts, &init->part_count, error);
    if (result == EX_OK)
        note_flat(init);
    if (result == EX_OK)
        result = exi_init_find_targets(init, error);
    if (result == EX_OK && !keep_seams)
        result = exi_init_join_seams(init, error);
    if (result == EX_OK && init->scene->skin_count > 0)
        result = exi_init_make_skeleton(init, error);
    if (result == EX_OK)
        result = exi_init_make_clips(init, error);
    if (result == EX_OK)
        result = exi_init_make_looks(init, error);
    return result;
}

static void let_go(exi_init *init) {
    free(init->wanted);
    free(init->worlds);
    ex_mesh_destroy(init->mesh);
    free(init->parts);
    free(init->joined);
    free(init->axes);
    free(init->part_axes);
    free(init->target_axes);
    ex_scene_destroy(init->skeleton);
    ex_scene_destroy(init->clips);
    ex_scene_destroy(init->looks);
    ex_scene_destroy(init->scene);
    json_decref(init->root);
}

/* ---- the project file ---- */

static exi_file_name file_of(const exi_init *init, int axis) {
    return exi_file_name_make("target", axis, init->axes[axis].name, ".obj");
}

json_t *exi_init_make_axis(const char *name, double min, double max, double rest) {
    json_t *object = json_object();
    if (exi_json_set(object, "name", json_string(name)) && exi_json_set(object, "min", exi_json_make_number(min)) &&
        exi_json_set(object, "max", exi_json_make_number(max)) &&
        exi_json_set(object, "rest", exi_json_make_number(rest)))
        return object;
    json_decref(object);
    return NULL;
}

static json_t *make_axis(const exi_init_axis *axis) {
    return exi_init_make_axis(axis->name, axis->rest < 0 ? axis->rest : 0, axis->rest > 1 ? axis->rest : 1, axis->rest);
}

static json_t *make_layer(const exi_init *init) {
    json_t *layer = json_object(), *space = json_array(), *examples = json_array();
    bool done = layer && space && examples;
    for (int a = 0; done && a < init->axis_count; a++) {
        const exi_file_name file = file_of(init, a);
        done = json_array_append_new(space, make_axis(&init->axes[a])) == 0 &&
               json_array_append_new(examples,
                                     json_pack("{s:s, s:s}", "name", init->axes[a].name, "mesh", file.text)) == 0;
    }
    done = exi_json_set(layer, "name", json_string(LAYER_NAME)) && done;
    done = exi_json_set(layer, "space", space) && done;
    done = exi_json_set(layer, "weigh", json_pack("{s:s}", "kind", "direct")) && done;
    done = exi_json_set(layer, "shape", json_string("positions")) && done;
    done = exi_json_set(layer, "examples", examples) && done;
    if (!done) {
        json_decref(layer);
        return NULL;
    }
    return layer;
}

static json_t *describe(const exi_init *init) {
    json_t *root = json_object(), *layers = json_array();
    bool done = root && layers && exi_json_set(root, "exemplar", json_integer(1)) &&
                exi_json_set(root, "mesh", json_string(EXI_UNPACKED_MESH)) &&
                (!init->skeleton || exi_json_set(root, "skeleton", json_string(init->skeleton_file))) &&
                (!init->looks || exi_json_set(root, "materials", json_string(EXI_UNPACKED_MATERIALS))) &&
                (!init->clips || exi_json_set(root, "clips", json_string(init->clips_file)));
    if (init->axis_count > 0)
        done = done && json_array_append_new(layers, make_layer(init)) == 0;
    done = exi_json_set(root, "layers", layers) && done;
    if (!done) {
        json_decref(root);
        return NULL;
    }
    return root;
}

static ex_result make_form(const void *user, int example, ex_mesh **mesh, ex_error *error) {
    const exi_init *init = user;
    *mesh = ex_mesh_copy(init->mesh);
    if (!*mesh)
        return ex_error_memory(error, "a form", 3 * (size_t)init->mesh->vertex_count * sizeof *init->mesh->positions);
    if (example >= 0)
        exi_init_target_form(init, example, (*mesh)->positions);
    return EX_OK;
}

/* Makes the project file, and builds it from what is in memory. */
static ex_result make_project(exi_init *init, ex_error *error) {
    const exi_unwritten files = {
        .make_form = make_form, .user = init, .skeleton = init->skeleton, .word = "morph target"};
    init->root = describe(init);
    return init->root ? exi_project_try(init->root, &files, error)
                      : ex_error_memory(error, "the project", (size_t)init->axis_count * 200);
}

/* ---- the files ---- */

static ex_result check_free(const exi_init *init, const exi_new_folder *folder, const char *project, ex_error *error) {
    if (folder->overwrite)
        return EX_OK;
    ex_result result = exi_new_folder_check_free(folder, project, error);
    if (result == EX_OK)
        result = exi_new_folder_check_free(folder, EXI_UNPACKED_MESH, error);
    if (result == EX_OK && init->skeleton)
        result = exi_new_folder_check_free(folder, init->skeleton_file, error);
    if (result == EX_OK)
        result = exi_looks_check_free(init->looks, folder, error);
    if (result == EX_OK && init->clips)
        result = exi_new_folder_check_free(folder, init->clips_file, error);
    for (int a = 0; result == EX_OK && a < init->axis_count; a++)
        result = exi_new_folder_check_free(folder, file_of(init, a).text, error);
    return result;
}

static ex_result write_body(const exi_init *init, exi_new_folder *folder, ex_error *error) {
    const char *path = exi_new_folder_add(folder, EXI_UNPACKED_MESH, error);
    ex_result result = path ? ex_obj_write(path, init->mesh, error) : EX_ERROR_MEMORY;
    if (result == EX_OK && init->skeleton) {
        path = exi_new_folder_add(folder, init->skeleton_file, error);
        result = path ? ex_scene_write(path, init->skeleton, error) : EX_ERROR_MEMORY;
    }
    if (result == EX_OK)
        result = exi_looks_write(init->looks, folder, error);
    if (result == EX_OK && init->clips) {
        path = exi_new_folder_add(folder, init->clips_file, error);
        result = path ? ex_scene_write(path, init->clips, error) : EX_ERROR_MEMORY;
    }
    return result;
}

static ex_result write_targets(const exi_init *init, exi_new_folder *folder, ex_error *error) {
    const ex_mesh *mesh = init->mesh;
    const size_t count = 3 * (size_t)mesh->vertex_count;
    ex_mesh form = {.vertex_count = mesh->vertex_count,
                    .positions = exi_array_allocate(count, sizeof *form.positions),
                    .face_count = mesh->face_count,
                    .face_offsets = mesh->face_offsets,
                    .corner_count = mesh->corner_count,
                    .corners = mesh->corners};
    ex_result result = form.positions ? EX_OK : ex_error_memory(error, "a target", count * sizeof *form.positions);
    for (int a = 0; result == EX_OK && a < init->axis_count; a++) {
        const char *path = exi_new_folder_add(folder, file_of(init, a).text, error);
        exi_init_target_form(init, a, form.positions);
        result = path ? ex_obj_write(path, &form, error) : EX_ERROR_MEMORY;
    }
    free(form.positions);
    return result;
}

static ex_result write_all(const exi_init *init, const char *project, exi_new_folder *folder, ex_error *error) {
    ex_result result = exi_new_folder_open(folder, error);
    if (result == EX_OK)
        result = check_free(init, folder, project, error);
    if (result == EX_OK)
        result = write_body(init, folder, error);
    if (result == EX_OK)
        result = write_targets(init, folder, error);
    const char *path = result == EX_OK ? exi_new_folder_add(folder, project, error) : NULL;
    if (result == EX_OK)
        result = path ? exi_json_write(path, init->root, error) : EX_ERROR_MEMORY;
    return result;
}

ex_result ex_project_init(const ex_scene *scene, const char *directory, const char *name,
                          const ex_init_options *options, const ex_init_report *report, ex_error *error) {
    ex_error local = {0};
    error = error ? error : &local;
    exi_init init = {.given = scene, .report = report};
    exi_new_folder folder = {.path = directory, .overwrite = options && options->overwrite};
    const size_t size = strlen(name) + sizeof ".json";
    char *project = malloc(size);
    ex_result result =
        project ? gather(&init, options && options->keep_seams, error) : ex_error_memory(error, "a path", size);
    if (result == EX_OK) {
        snprintf(project, size, "%s.json", name);
        init.skeleton_file = exi_unpacked_skeleton(project);
        init.clips_file = exi_unpacked_clips(project);
        result = make_project(&init, error);
    }
    if (result != EX_OK && scene->path)
        ex_error_within(error, result, "%s", scene->path);
    if (result == EX_OK) {
        result = write_all(&init, project, &folder, error);
        result = exi_new_folder_close(&folder, project, result, error);
    }
    let_go(&init);
    free(project);
    return result;
}

/*
 * The form of a sculpt. Its positions are copied into the project's mesh, so that faces, texture coordinates and groups
 * are the mesh's whatever the other program did to them. If the connectivity differs, vertices are matched (reorder.h):
 * by texture coordinates, by their positions at rest, or by their positions at the sculpt's pose, where most of them
 * were not moved.
 */
#define _POSIX_C_SOURCE 200809L
#define _XOPEN_SOURCE   700

#include "author/base/array.h"
#include "author/mesh/mesh_normals.h"
#include "author/project/sculpt/reorder.h"
#include "author/project/sculpt/sculpt.h"
#include "runtime/base/text.h"

#include <exemplar/author/files.h>
#include <exemplar/author/formats.h>

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- reading ---- */

ex_result exi_read_raw_mesh(const ex_project_view *view, ex_mesh **mesh, ex_error *error) {
    *mesh = NULL;
    char *path = ex_path_join(view->path, view->mesh);
    ex_result result = path ? ex_mesh_read(path, mesh, error) : ex_error_memory(error, "a path", strlen(view->mesh));
    free(path);
    if (result != EX_OK)
        return ex_error_within(error, result, "%s: mesh", view->path);
    exi_mesh_drop_normals(*mesh);
    return EX_OK;
}

/* Poses the mesh of the project, without the sculpt, at the sculpt's pose, in the project's unit and with its up
 * axis. */
static ex_result pose_mesh(const exi_amendment *a, const ex_project_example *example, ex_mesh *mesh, ex_error *error) {
    ex_rig *rig = NULL;
    const size_t count = 3 * (size_t)mesh->vertex_count;
    const ex_project_view *view = &a->trial.view;
    float *positions = exi_array_allocate(count, sizeof *positions);
    const ex_build_options options = {
        .rig = {.without_levels = true, .without_normals = true, .without_tangents = true}};
    ex_result result = positions ? ex_project_build(a->project, &options, &rig, error)
                                 : ex_error_memory(error, "a form", count * sizeof *positions);
    if (result == EX_OK)
        result = exi_example_form(rig, view, example, -1, positions, error);
    for (size_t i = 0; result == EX_OK && i < count; i += 3)
        exi_project_unconvert(view, positions + i, mesh->positions + i);
    ex_rig_destroy(rig);
    free(positions);
    return result;
}

/* True if all faces are triangles, in the number that triangulating the mesh's faces gives. */
static bool is_triangulated(const ex_mesh *mesh, const ex_mesh *sculpt) {
    return sculpt->face_count > mesh->face_count && sculpt->corner_count == 3 * sculpt->face_count &&
           sculpt->face_count == mesh->corner_count - 2 * mesh->face_count;
}

/* mesh_name: the file of the mesh; refined: the form may be a refined surface. */
static ex_result refuse(const char *path, const char *mesh_name, bool refined, const ex_mesh *mesh,
                        const ex_mesh *sculpt, const char *difference, ex_error *error) {
    bool failed = false;
    const char *kind = NULL;
    const char *advice =
        "export the sculpt of the project's own mesh with the vertex order kept, without triangulating "
        "and without merging or splitting vertices";
    if (is_triangulated(mesh, sculpt))
        advice = "it was triangulated on export: export it again with its polygons and the vertex order kept";
    else if (sculpt->vertex_count > mesh->vertex_count && exi_place_count(sculpt, &failed) == mesh->vertex_count)
        advice = "its vertices were split on export, as happens at seams of textures and normals: export it as OBJ, "
                 "with the vertex order kept";
    else if (sculpt->vertex_count > mesh->vertex_count && refined)
        advice = "it may be a refined surface: a sculpt is a form of the mesh itself, the cage",
        kind = "refined_sculpt";
    else if (sculpt->vertex_count < mesh->vertex_count)
        advice = "vertices were merged or deleted: export it again with the vertex order kept and without merging";
    else if (sculpt->vertex_count == mesh->vertex_count && sculpt->face_count == mesh->face_count)
        advice =
            "no other order of its vertices, by texture coordinates or by position, gives the mesh's faces: export "
            "it again with the vertex order kept, without triangulating and without merging";
    return failed ? ex_error_memory(error, "matching vertices", 0)
                  : ex_error_kind(error,
                                  ex_error_set(error, EX_ERROR_DATA, "%s: not a sculpt of '%s': %s; %s", path,
                                               mesh_name, difference, advice),
                                  kind);
}

/* Finds `to` from the mesh at rest; *how is NULL if that is not possible. */
static ex_result match_at_rest(const ex_mesh *sculpt, const ex_mesh *mesh, int *to, const char **how, ex_error *error) {
    bool failed = false;
    *how = NULL;
    switch (exi_find_order(mesh, sculpt, to, &failed)) {
    case EXI_ORDER_FACES:
        *how = "their numbers; only the faces were in another order";
        break;
    case EXI_ORDER_TEXCOORDS:
        *how = "texture coordinates";
        break;
    case EXI_ORDER_POSITIONS:
        *how = "rest positions";
        break;
    default:
        break;
    }
    return failed ? ex_error_memory(error, "matching vertices", 0) : EX_OK;
}

/* Finds `to` from the mesh at rest, or at the sculpt's pose. */
static ex_result match(const exi_amendment *a, const ex_project_example *example, const ex_mesh *sculpt,
                       const ex_mesh *mesh, int *to, const char **how, ex_error *error) {
    bool failed = false;
    ex_result result = match_at_rest(sculpt, mesh, to, how, error);
    if (result != EX_OK || *how || !a || mesh->vertex_count != sculpt->vertex_count)
        return result;
    ex_mesh *posed = ex_mesh_copy(mesh);
    ex_error unused;
    result = posed ? pose_mesh(a, example, posed, &unused) : EX_ERROR_MEMORY;
    if (result == EX_OK && exi_find_order_by_position(posed, sculpt, 1e-5 * ex_mesh_size(posed), to, &failed))
        *how = "posed positions";
    ex_mesh_destroy(posed);
    /* If the project does not build, refusing or building the sculpt reports that. */
    return failed || result == EX_ERROR_MEMORY ? ex_error_memory(error, "matching vertices", 0) : EX_OK;
}

static ex_result check_finite(const char *path, const ex_mesh *mesh, ex_error *error) {
    for (size_t i = 0; i < 3 * (size_t)mesh->vertex_count; i++)
        if (!isfinite((float)mesh->positions[i]))
            return ex_error_set(error, EX_ERROR_DATA, "%s: vertex %zu is too far away for a float", path, i / 3);
    return EX_OK;
}

/* amendment and example: where to pose the mesh to match it there too; or NULL. */
static ex_result take_over(const exi_amendment *a, const ex_project_example *example, const char *path,
                           const char *mesh_name, const ex_mesh *sculpt, ex_mesh *mesh, const char **how,
                           ex_error *error) {
    ex_error difference = {0};
    const size_t count = (size_t)mesh->vertex_count;
    ex_result result = ex_mesh_compare_connectivity(mesh, sculpt, &difference);
    if (result == EX_OK) {
        memcpy(mesh->positions, sculpt->positions, 3 * count * sizeof *mesh->positions);
        return EX_OK;
    }
    if (result != EX_ERROR_DATA)
        return ex_error_set(error, result, "%s: %s", path, difference.text);
    int *to = exi_array_allocate(count, sizeof *to);
    result = to ? match(a, example, sculpt, mesh, to, how, error)
                : ex_error_memory(error, "matching vertices", count * sizeof *to);
    if (result == EX_OK && !*how)
        result = refuse(path, mesh_name, a && a->trial.view.subdivide, mesh, sculpt, difference.text, error);
    for (size_t v = 0; result == EX_OK && v < count; v++)
        memcpy(mesh->positions + 3 * (size_t)to[v], sculpt->positions + 3 * v, 3 * sizeof *mesh->positions);
    free(to);
    return result;
}

ex_result exi_take_form(const char *path, const char *mesh_name, const ex_mesh *form, ex_mesh *mesh, const char **how,
                        ex_error *error) {
    *how = NULL;
    const ex_result result = check_finite(path, form, error);
    return result == EX_OK ? take_over(NULL, NULL, path, mesh_name, form, mesh, how, error) : result;
}

static bool is_gltf(const char *path) {
    return ex_path_ends_with(path, ".glb") || ex_path_ends_with(path, ".gltf");
}

ex_result exi_sculpt_read(const exi_amendment *a, const ex_sculpt *sculpt, const ex_project_example *example,
                          exi_sculpt_form *form, ex_error *error) {
    ex_mesh *read = NULL;
    const ex_form_axes axes = {.unit = a->trial.view.unit, .z_up = a->trial.view.z_up};
    /* glTF is in metres with y up, unless the project's own mesh says otherwise. */
    const bool turned = is_gltf(sculpt->form) && !is_gltf(a->trial.view.mesh) && (axes.unit != 1 || axes.z_up);
    *form = (exi_sculpt_form){.scaled = turned || (sculpt->scale > 0 && sculpt->scale != 1)};
    ex_result result = exi_read_raw_mesh(&a->trial.view, &form->mesh, error);
    if (result == EX_OK)
        result = ex_mesh_read(sculpt->form, &read, error);
    if (result == EX_OK && turned)
        ex_mesh_to_axes(read, axes);
    for (size_t i = 0; result == EX_OK && sculpt->scale > 0 && i < 3 * (size_t)read->vertex_count; i++)
        read->positions[i] *= sculpt->scale;
    if (result == EX_OK)
        result = check_finite(sculpt->form, read, error);
    if (result == EX_OK && !sculpt->any_size)
        result = exi_sculpt_check_size(&a->trial.view, sculpt->form, form->mesh, read, error);
    if (result == EX_OK)
        result = take_over(a, example, sculpt->form, a->trial.view.mesh, read, form->mesh, &form->how, error);
    form->reordered = form->how != NULL;
    ex_mesh_destroy(read);
    if (result == EX_OK)
        return EX_OK;
    ex_mesh_destroy(form->mesh);
    form->mesh = NULL;
    return result;
}

/* ---- files ---- */

/* Appends a name with characters that are valid in files everywhere. */
static void append_clean(char *path, const char *name) {
    const size_t most = (size_t)exi_text_cut(name, 100);
    size_t length = strlen(path);
    for (size_t i = 0; i < most; i++) {
        const unsigned char c = (unsigned char)name[i];
        path[length++] = isalnum(c) || strchr("-_ ", c) || c >= 0x80 || (c == '.' && i > 0) ? (char)c : '_';
    }
    path[length] = 0;
}

char *exi_sculpt_free_file(const ex_project_view *view, const char *layer, const char *name) {
    return exi_layer_free_file(view, layer, name, ".obj");
}

char *exi_layer_free_file(const ex_project_view *view, const char *layer, const char *name, const char *ending) {
    char *relative = exi_array_allocate(256, 1);
    if (!relative)
        return NULL;
    relative[0] = 0;
    append_clean(relative, layer);
    strcat(relative, "/");
    append_clean(relative, name);
    const size_t length = strlen(relative);
    bool taken = true;
    strcpy(relative + length, ending);
    for (int number = 2; taken; number++) {
        struct stat there;
        char *path = ex_path_join(view->path, relative);
        if (!path) {
            free(relative);
            return NULL;
        }
        taken = lstat(path, &there) == 0;
        free(path);
        if (taken)
            snprintf(relative + length, 256 - length, "_%d%s", number, ending);
    }
    return relative;
}

ex_result exi_path_below_project(const ex_project_view *view, const char *path, char **relative, ex_error *error) {
    errno = 0;
    char *here = ex_path_join(view->path, "."), *folder = here ? realpath(here, NULL) : NULL;
    char *file = errno != ENOMEM ? realpath(path, NULL) : NULL;
    const bool resolved = errno != ENOMEM;
    const size_t length = folder ? strlen(folder) : 0;
    const bool below = folder && file && strncmp(folder, file, length) == 0 && file[length] == '/' &&
                       exi_is_text(file + length + 1); /* a project can only refer to text */
    *relative = below ? exi_text_copy(file + length + 1, strlen(file + length + 1)) : NULL;
    const bool failed = !here || !resolved || (below && !*relative);
    free(here);
    free(folder);
    free(file);
    return failed ? ex_error_memory(error, "a path", strlen(path)) : EX_OK;
}

ex_result exi_sculpt_write(exi_amendment *a, const char *relative, const ex_mesh *mesh, ex_error *error) {
    char *path;
    ex_result result = exi_amend_make_room(a, relative, &path, error);
    if (result != EX_OK)
        return result;
    result = ex_obj_write(path, mesh, error);
    if (result == EX_OK)
        return exi_amend_made(a, path, error);
    free(path);
    return result;
}

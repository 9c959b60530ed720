/* cli/pose/forms.c - writes evaluated forms as files. */
#include "forms.h"

#include "cli/base/files.h"
#include "cli/base/report.h"

#include <exemplar/author/base.h>
#include <exemplar/author/files.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* "the cage, levels 1 to 3 and the limit" */
static const char *list_levels(const ex_rig *rig, char text[64]) {
    const int count = ex_rig_level_count(rig);
    const bool limit =
        ex_rig_level_vertex_count(rig, EX_LEVEL_LIMIT) > 0 && !ex_stencils_on_limit(ex_rig_stencils(rig));
    char levels[32] = "";
    if (count == 1)
        snprintf(levels, sizeof levels, "%s level 1", limit ? "," : " and");
    else if (count > 1)
        snprintf(levels, sizeof levels, "%s levels 1 to %d", limit ? "," : " and", count);
    snprintf(text, 64, "the cage%s%s%s", levels, limit ? " and the limit" : "", count > 0 || limit ? "" : " only");
    return text;
}

bool exi_level_read(const ex_call *call, const ex_rig *rig, const char *text, int *level, int *exit_code) {
    *level = ex_rig_level(rig);
    if (!text)
        return true;
    char *end = NULL, levels[64];
    const long number = strtol(text, &end, 10);
    if (strcmp(text, "cage") == 0) {
        *level = 0;
    } else if (strcmp(text, "limit") == 0) {
        *level = EX_LEVEL_LIMIT;
    } else if (end != text && *end == 0 && number >= 0 && number <= EX_SUBDIVIDE_LEVELS) {
        *level = (int)number;
    } else {
        *exit_code = exi_wrong_usage(call->command, "--level needs 'cage', a number up to %d or 'limit', not '%s'",
                                     EX_SUBDIVIDE_LEVELS, text);
        return false;
    }
    if (ex_rig_level_vertex_count(rig, *level) > 0)
        return true;
    *exit_code = exi_failed_text("this rig has no level '%s': it has %s; 'subdivide' in the project makes more", text,
                                 list_levels(rig, levels));
    return false;
}

bool exi_form_is_scene(const char *path) {
    return ex_path_ends_with(path, ".glb") || ex_path_ends_with(path, ".gltf");
}

/* ---- memory ---- */

static size_t texture_size(const ex_rig *rig, int texture) {
    ex_texture t = ex_rig_texture(rig, texture);
    return (size_t)t.width * (size_t)t.height * 4;
}

static bool is_wished(const ex_rig *rig, const exi_form_wish *wish, int texture) {
    return wish->textures || (wish->scene && ex_texture_is_shown(ex_rig_texture(rig, texture).name));
}

size_t exi_form_size(const ex_rig *rig, const exi_form_wish *wish) {
    size_t size = (size_t)ex_rig_level_vertex_count(rig, wish->level) * (wish->normals ? 24 : 12);
    for (int i = 0; i < ex_rig_texture_count(rig); i++)
        size += is_wished(rig, wish, i) ? texture_size(rig, i) : 0;
    return size;
}

bool exi_form_open(exi_form *form, const ex_rig *rig, const exi_form_wish *wish) {
    const size_t bytes = (size_t)ex_rig_level_vertex_count(rig, wish->level) * 3 * sizeof(float);
    const int textures = wish->textures || wish->scene ? ex_rig_texture_count(rig) : 0;
    *form = (exi_form){.positions = malloc(bytes + 1),
                       .normals = wish->normals ? malloc(bytes + 1) : NULL,
                       .textures = textures > 0 ? calloc((size_t)textures, sizeof *form->textures) : NULL};
    bool good = form->positions && (form->normals || !wish->normals) && (form->textures || textures == 0);
    for (int i = 0; good && i < textures; i++)
        if (is_wished(rig, wish, i)) {
            form->textures[i] = malloc(texture_size(rig, i));
            good = form->textures[i] != NULL;
        }
    return good;
}

void exi_form_close(exi_form *form, const ex_rig *rig) {
    for (int i = 0; form->textures && i < ex_rig_texture_count(rig); i++)
        free(form->textures[i]);
    free(form->textures);
    free(form->normals);
    free(form->positions);
    *form = (exi_form){0};
}

ex_output exi_form_output(const exi_form *form) {
    return (ex_output){.positions = form->positions, .normals = form->normals, .textures = form->textures};
}

/* ---- writing ---- */

/* A float as its shortest decimal: 0.3f becomes 0.3, and text shows no digits that the rig does not have. */
static double shortest(float value) {
    char text[32];
    int length = ex_format_float(text, value);
    const char *cursor = text;
    double result = (double)value;
    ex_parse_double(&cursor, text + length, &result);
    return result;
}

/* A number of the file, with the digits that a float can have, and one more for each rounding. */
static double tidy(double value) {
    char text[40];
    snprintf(text, sizeof text, "%.10g", value);
    const char *cursor = text;
    ex_parse_double(&cursor, text + strlen(text), &value);
    return value;
}

/* A pose far outside the examples can exceed the range of a float, which files cannot represent well. */
static ex_result check_positions(const float *positions, int vertex_count, ex_error *error) {
    for (int v = 0; v < vertex_count; v++) {
        const float *p = positions + 3 * (size_t)v;
        if (!isfinite(p[0]) || !isfinite(p[1]) || !isfinite(p[2]))
            return ex_error_set(error, EX_ERROR_DATA, "vertex %d of this pose is too far away for a float", v);
    }
    return EX_OK;
}

/* FORM.base_color.png for FORM.obj and base_color. */
static char *texture_path(const char *path, const char *name) {
    size_t size = strlen(name) + sizeof ".."
                                        ".png";
    char *ending = malloc(size);
    if (!ending)
        return NULL;
    snprintf(ending, size, ".%s.png", name);
    for (char *c = ending; *c; c++) /* a texture of one material: "skin/base_color" */
        if (*c == '/')
            *c = '.';
    char *made = exi_path_with_ending(path, ending);
    free(ending);
    return made;
}

/* True if the texture goes into the form's file. */
static bool is_embedded(const char *path, const char *texture) {
    return exi_form_is_scene(path) && ex_texture_is_shown(texture);
}

static ex_result write_textures(const exi_form *form, const ex_rig *rig, const char *path, ex_error *error) {
    ex_result result = EX_OK;
    for (int i = 0; result == EX_OK && form->textures && i < ex_rig_texture_count(rig); i++) {
        ex_texture t = ex_rig_texture(rig, i);
        if (is_embedded(path, t.name) || !form->textures[i])
            continue;
        char *beside = texture_path(path, t.name);
        ex_image image = {.width = t.width, .height = t.height, .pixels = form->textures[i]};
        result = beside ? ex_image_write(beside, &image, error) : ex_error_memory(error, "a path", strlen(path));
        free(beside);
    }
    return result;
}

/* Visits a path and frees it; false after printing an error if path is NULL for lack of memory. */
static bool visit_owned(char *path, bool (*visit)(const char *path)) {
    if (!path)
        exi_failed_memory();
    const bool go_on = path && visit(path);
    free(path);
    return go_on;
}

bool exi_form_visit_files(const ex_rig *rig, const exi_form_wish *wish, const char *path,
                          bool (*visit)(const char *path)) {
    bool go_on = visit(path);
    if (go_on && ex_path_ends_with(path, ".gltf"))
        go_on = visit_owned(exi_path_with_ending(path, ".bin"), visit);
    for (int i = 0; go_on && wish->textures && i < ex_rig_texture_count(rig); i++)
        if (!is_embedded(path, ex_rig_texture(rig, i).name))
            go_on = visit_owned(texture_path(path, ex_rig_texture(rig, i).name), visit);
    return go_on;
}

ex_result exi_form_write(const exi_form *form, const ex_rig *rig, const exi_form_wish *wish, const char *path,
                         ex_error *error) {
    ex_mesh *mesh = NULL;
    const bool scene = exi_form_is_scene(path);
    const ex_surface surface = {.level = wish->level, .positions = form->positions, .normals = form->normals};
    const bool metres = wish->axes.unit == 0 || wish->axes.unit == 1;
    ex_result result = check_positions(form->positions, ex_rig_level_vertex_count(rig, wish->level), error);
    if (result == EX_OK)
        result = ex_rig_to_mesh(rig, &surface, &mesh, error);
    if (result == EX_OK && !scene)
        ex_mesh_to_axes(mesh, wish->axes);
    if (result == EX_OK && (scene || ex_path_ends_with(path, ".ply"))) {
        result = ex_form_write(path, rig, mesh, form->textures, error);
    } else if (result == EX_OK) { /* a path without an ending, such as standard output, gets OBJ, too */
        for (size_t i = 0; i < 3 * (size_t)mesh->vertex_count; i++)
            mesh->positions[i] = metres ? shortest((float)mesh->positions[i]) : tidy(mesh->positions[i]);
        for (size_t i = 0; form->normals && i < 3 * (size_t)mesh->normal_count; i++)
            mesh->normals[i] = shortest((float)mesh->normals[i]);
        result = ex_obj_write(path, mesh, error);
    }
    ex_mesh_destroy(mesh);
    return result == EX_OK ? write_textures(form, rig, path, error) : result;
}

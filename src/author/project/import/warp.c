/*
 * Makes a project from forms alone, for `exemplar warp`. A file could hold the same project, so that unpacking the rig
 * gives a project that builds the same.
 */
#include "author/base/array.h"
#include "author/project/build/project_trajectories.h"
#include "runtime/base/result.h"
#include "runtime/base/text.h"

#include <exemplar/author/formats.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- names ---- */

enum { NAME_SIZE = 128 };
typedef struct form_name {
    char text[NAME_SIZE];
} form_name;

/* Turns "a/b/NAME.obj" into NAME, with characters that are valid in axis names. */
static form_name stem_of(const char *path) {
    form_name name;
    const char *slash = strrchr(path, '/');
    const char *first = slash ? slash + 1 : path, *dot = strrchr(first, '.');
    size_t length = dot && dot > first ? (size_t)(dot - first) : strlen(first);
    length = length < 80 ? length : 80;
    for (size_t i = 0; i < length; i++)
        name.text[i] = strchr("=,\":", first[i]) ? '_' : first[i];
    name.text[length] = 0;
    name.text[exi_text_cut(name.text, 80)] = 0;
    if (!exi_is_name(name.text))
        snprintf(name.text, sizeof name.text, "form");
    if (strcmp(name.text, "time") == 0)
        snprintf(name.text, sizeof name.text, "time_");
    return name;
}

static bool is_taken(const form_name *names, int count, const char *name) {
    for (int i = 0; i < count; i++)
        if (strcmp(names[i].text, name) == 0)
            return true;
    return false;
}

static void name_forms(const ex_warp_def *def, form_name *names) {
    for (int k = 0; k < def->form_count; k++) {
        const form_name stem = stem_of(def->forms[k]);
        names[k] = stem;
        for (int number = 2; is_taken(names, k, names[k].text); number++)
            snprintf(names[k].text, sizeof names[k].text, "%.100s-%d", stem.text, number);
    }
}

/* ---- the tree ---- */

/* A path may have any bytes. */
static json_t *make_path(const char *path) {
    return json_stringn_nocheck(path, strlen(path));
}

static json_t *make_layer(const ex_warp_def *def, const form_name *names) {
    json_t *space = json_array(), *examples = json_array(), *how = exi_trajectory_options_describe(&def->options);
    bool done = space && examples && how;
    for (int k = 0; done && k < def->form_count; k++) {
        const char *axis = def->form_count == 1 ? "t" : names[k].text;
        done = json_array_append_new(
                   space, json_pack("{s:s, s:i, s:i, s:i}", "name", axis, "min", 0, "max", 1, "rest", 0)) == 0 &&
               json_array_append_new(
                   examples, json_pack("{s:s, s:o}", "name", names[k].text, "mesh", make_path(def->forms[k]))) == 0;
    }
    if (done && def->segments)
        done = json_object_set_new(how, "segments", make_path(def->segments)) == 0;
    if (!done) {
        json_decref(space);
        json_decref(examples);
        json_decref(how);
        return NULL;
    }
    return json_pack("{s:s, s:o, s:{s:s}, s:s, s:o, s:o}", "name", "warp", "space", space, "weigh", "kind", "direct",
                     "shape", "trajectory", "trajectory", how, "examples", examples);
}

static ex_result make_project(const ex_warp_def *def, ex_project **project, ex_error *error) {
    form_name *names = exi_array_allocate((size_t)def->form_count, sizeof *names);
    ex_project *made = calloc(1, sizeof *made);
    if (made)
        made->path = calloc(1, 1);
    if (names && made && made->path) {
        name_forms(def, names);
        json_t *layer = make_layer(def, names);
        made->root =
            layer ? json_pack("{s:i, s:o, s:[o]}", "exemplar", 1, "mesh", make_path(def->reference), "layers", layer)
                  : NULL;
    }
    free(names);
    ex_result result = made && made->root
                           ? exi_project_interpret(made->root, made->path, &made->arena, &made->view, error)
                           : ex_error_memory(error, "the project", (size_t)def->form_count * 200);
    if (result == EX_OK)
        *project = made;
    else
        ex_project_destroy(made);
    return result;
}

/* ---- the forms ---- */

static ex_result check_form(const ex_mesh *mesh, const char *reference, const char *path, ex_error *error) {
    ex_mesh *form = NULL;
    ex_error difference = {0};
    ex_result result = ex_mesh_read(path, &form, error);
    if (result != EX_OK)
        return result;
    result = ex_mesh_compare_connectivity(mesh, form, &difference);
    ex_mesh_destroy(form);
    return result == EX_OK ? EX_OK
                           : ex_error_set(error, result, "'%s' does not have the connectivity of '%s': %s", path,
                                          reference, difference.text);
}

ex_result ex_warp_project(const ex_warp_def *def, ex_project **project, ex_error *error) {
    *project = NULL;
    if (!def->reference || def->form_count < 1 || !def->forms)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "a reference and at least one other form are needed");
    if (def->form_count > EX_AXIS_MAX)
        return ex_error_set(error, EX_ERROR_LIMIT,
                            "there are %d forms besides the reference; a space has at most %d axes", def->form_count,
                            EX_AXIS_MAX);
    ex_mesh *mesh = NULL;
    ex_result result = ex_mesh_read(def->reference, &mesh, error);
    if (result == EX_OK && mesh->face_count == 0)
        result = ex_error_set(error, EX_ERROR_DATA, "'%s' has no faces: trajectories follow a surface", def->reference);
    for (int k = 0; result == EX_OK && k < def->form_count; k++)
        result = check_form(mesh, def->reference, def->forms[k], error);
    ex_mesh_destroy(mesh);
    return result == EX_OK ? make_project(def, project, error) : result;
}

/*
 * Makes a project from forms, one mesh at rest and shapes of it. Without a space every shape is a slider: a direct
 * layer
 *
 *     rest(v) + sum_k w_k (x_k(v) - rest(v))
 *
 * with an axis w_k per shape. With a space every shape, and the mesh, is an example at a point of it. The project is
 * made in memory and built there before anything is written; shapes are then read again and written one at a time.
 */
#include "author/mesh/mesh_normals.h"
#include "author/project/import/init.h"

#include "author/base/array.h"
#include "author/base/json.h"
#include "author/project/build/build.h"
#include "author/project/import/unpack.h"
#include "author/project/sculpt/reorder.h"
#include "author/project/sculpt/sculpt.h"

#include <exemplar/author/files.h>
#include <exemplar/author/formats.h>

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

typedef struct starting {
    const ex_init_forms *given;
    const exi_init *init;            /* for notes */
    char (*names)[EXI_NAME_MAX + 1]; /* [form_count + 1]: of the forms, then of the mesh */
    exi_file_name *files;            /* [form_count] */
    ex_mesh *mesh;
    json_t *root;
} starting;

/* ---- names ---- */

typedef struct known_names {
    char (*names)[EXI_NAME_MAX + 1];
    int count;
} known_names;

static bool is_known(const void *context, const char *name) {
    const known_names *known = context;
    for (int i = 0; i < known->count; i++)
        if (strcmp(known->names[i], name) == 0)
            return true;
    return false;
}

/* NAME.obj, or shape_007_NAME.obj if that is not a file name everywhere or is taken on a disk that ignores case. */
static exi_file_name choose_file(const starting *s, int form) {
    exi_file_name file = {""};
    const char *name = s->names[form];
    bool plain = strlen(name) < 100 && name[0] != '.' && name[0] != ' ';
    for (const char *c = name; plain && *c; c++)
        plain = isalnum((unsigned char)*c) || strchr("-_. ", *c);
    if (plain)
        snprintf(file.text, sizeof file.text, "%s.obj", name);
    plain = plain && strcasecmp(file.text, EXI_UNPACKED_MESH) != 0;
    for (int i = 0; plain && i < form; i++)
        plain = strcasecmp(file.text, s->files[i].text) != 0;
    return plain ? file : exi_file_name_make("shape", form, name, ".obj");
}

static void choose_names(starting *s) {
    const ex_init_forms *given = s->given;
    for (int f = 0; f <= given->form_count; f++) {
        const char *wish = f < given->form_count ? given->forms[f].name : given->rest.name;
        const known_names known = {.names = s->names, .count = f};
        exi_axis_name_clean(wish, s->names[f]);
        exi_name_make_unique(s->names[f], 2, is_known, &known);
        if (f < given->form_count && strcmp(s->names[f], wish) != 0)
            exi_init_note(s->init, "'%s' is called '%s' in the project", wish, s->names[f]);
        if (f < given->form_count)
            s->files[f] = choose_file(s, f);
    }
}

/* ---- places ---- */

static double rest_at(const ex_init_forms *given, int axis) {
    return given->rest.at ? given->rest.at[axis] : 0;
}

static double form_at(const ex_init_forms *given, int form, int axis) {
    return form < given->form_count ? given->forms[form].at[axis] : rest_at(given, axis);
}

static ex_result check_places(const ex_init_forms *given, ex_error *error) {
    for (int a = 0; a < given->axis_count; a++)
        if (!exi_is_name(given->axes[a]))
            return ex_error_set(error, EX_ERROR_DATA, "'%s' cannot be the name of an axis", given->axes[a]);
    for (int i = 0; given->axis_count > 0 && i <= given->form_count; i++)
        for (int j = 0; j < i; j++) {
            bool same = true;
            for (int a = 0; same && a < given->axis_count; a++)
                same = form_at(given, i, a) == form_at(given, j, a);
            if (same)
                return ex_error_set(error, EX_ERROR_DATA, "'%s' and '%s' are at the same place in the space",
                                    given->forms[j].name,
                                    i < given->form_count ? given->forms[i].name : given->rest.name);
        }
    return EX_OK;
}

/* ---- the project file ---- */

static json_t *make_space(const starting *s) {
    const ex_init_forms *given = s->given;
    json_t *space = json_array();
    bool done = space != NULL;
    for (int f = 0; done && given->axis_count == 0 && f < given->form_count; f++)
        done = json_array_append_new(space, exi_init_make_axis(s->names[f], 0, 1, 0)) == 0;
    for (int a = 0; done && a < given->axis_count; a++) {
        const double rest = rest_at(given, a);
        double min = rest, max = rest;
        for (int f = 0; f < given->form_count; f++) {
            min = fmin(min, given->forms[f].at[a]);
            max = fmax(max, given->forms[f].at[a]);
        }
        done = json_array_append_new(space, exi_init_make_axis(given->axes[a], min, max, rest)) == 0;
    }
    if (done)
        return space;
    json_decref(space);
    return NULL;
}

/* The example of a form, or, for form_count, of the mesh. */
static json_t *make_example(const starting *s, int form) {
    const ex_init_forms *given = s->given;
    const bool is_mesh = form == given->form_count;
    json_t *example = json_object(), *at = given->axis_count > 0 ? json_object() : NULL;
    bool done = exi_json_set(example, "name", json_string(s->names[form]));
    if (is_mesh && given->trajectory)
        done = exi_json_set(example, "reference", json_true()) && done;
    else
        done = exi_json_set(example, "mesh", json_string(is_mesh ? EXI_UNPACKED_MESH : s->files[form].text)) && done;
    for (int a = 0; a < given->axis_count; a++)
        done = exi_json_set(at, given->axes[a], exi_json_make_number(form_at(given, form, a))) && done;
    if (at)
        done = exi_json_set(example, "at", at) && done;
    if (done)
        return example;
    json_decref(example);
    return NULL;
}

static json_t *make_layer(const starting *s) {
    const ex_init_forms *given = s->given;
    json_t *layer = json_object(), *examples = json_array();
    bool done = layer && examples;
    if (given->axis_count > 0)
        done = done && json_array_append_new(examples, make_example(s, given->form_count)) == 0;
    for (int f = 0; done && f < given->form_count; f++)
        done = json_array_append_new(examples, make_example(s, f)) == 0;
    done = exi_json_set(layer, "name", json_string("shapes")) && done;
    done = exi_json_set(layer, "space", make_space(s)) && done;
    done = exi_json_set(layer, "weigh", json_pack("{s:s}", "kind", given->axis_count > 0 ? "calm" : "direct")) && done;
    done = exi_json_set(layer, "shape", json_string(given->trajectory ? "trajectory" : "positions")) && done;
    done = exi_json_set(layer, "examples", examples) && done;
    if (done)
        return layer;
    json_decref(layer);
    return NULL;
}

static json_t *make_root(const starting *s) {
    return json_pack("{s:i, s:s, s:[o]}", "exemplar", 1, "mesh", EXI_UNPACKED_MESH, "layers", make_layer(s));
}

/* Makes the tree and parses it, so that a name or a number that no project may have is refused here. */
static ex_result describe(starting *s, const char *project, ex_error *error) {
    s->root = make_root(s);
    exi_text text = {0};
    if (s->root)
        exi_json_print(s->root, false, &text);
    ex_project *parsed = NULL;
    ex_result result = s->root && !text.failed
                           ? ex_project_parse(text.bytes, text.size, project, &parsed, error)
                           : ex_error_memory(error, "the project", (size_t)s->given->form_count * 200);
    ex_project_destroy(parsed);
    free(text.bytes);
    return result;
}

/* ---- the files ---- */

/* Reads a form in the mesh's order; *how as exi_take_form has it. */
static ex_result read_form(const starting *s, int form, ex_mesh **out, const char **how, ex_error *error) {
    const ex_init_form *given = &s->given->forms[form];
    ex_mesh *read = NULL;
    *out = ex_mesh_copy(s->mesh);
    if (!*out)
        return ex_error_memory(error, "a form", (size_t)s->mesh->vertex_count);
    exi_mesh_drop_normals(*out); /* the mesh's, not the form's */
    ex_result result = ex_mesh_read(given->path, &read, error);
    if (result == EX_OK)
        result = exi_take_form(given->path, s->given->rest.path, read, *out, how, error);
    ex_mesh_destroy(read);
    if (result != EX_OK) {
        ex_mesh_destroy(*out);
        *out = NULL;
    }
    return result;
}

static ex_result write_form(const starting *s, int form, exi_new_folder *folder, ex_error *error) {
    const char *how = NULL;
    ex_mesh *mesh = NULL;
    ex_result result = read_form(s, form, &mesh, &how, error);
    if (result == EX_OK && how)
        exi_init_note(s->init, "%s: its vertices are in another order than the mesh's; they were matched by %s",
                      s->given->forms[form].path, how);
    const char *path = result == EX_OK ? exi_new_folder_add(folder, s->files[form].text, error) : NULL;
    if (result == EX_OK)
        result = path ? ex_obj_write(path, mesh, error) : EX_ERROR_MEMORY;
    ex_mesh_destroy(mesh);
    return result;
}

/* With a space, the mesh is the first example. */
static ex_result make_form(const void *user, int example, ex_mesh **mesh, ex_error *error) {
    const starting *s = user;
    const char *how = NULL;
    const int form = example - (s->given->axis_count > 0);
    if (example >= 0 && form >= 0)
        return read_form(s, form, mesh, &how, error);
    *mesh = ex_mesh_copy(s->mesh);
    return *mesh ? EX_OK : ex_error_memory(error, "the mesh", (size_t)s->mesh->vertex_count);
}

/* Builds the project from what is in memory and from the given files, before anything is written: a form that does not
 * fit must not cost an older project. Paths are not searched for, which takes long: straight lines need the same. */
static ex_result try_forms(const starting *s, ex_error *error) {
    ex_init_forms straight = *s->given;
    starting plain = *s;
    straight.trajectory = false;
    plain.given = &straight;
    plain.root = make_root(&plain);
    const exi_unwritten files = {.make_form = make_form, .user = &plain, .word = "shape"};
    ex_result result = plain.root ? exi_project_try(plain.root, &files, error)
                                  : ex_error_memory(error, "the project", (size_t)s->given->form_count * 200);
    json_decref(plain.root);
    return result;
}

static ex_result check_free(const starting *s, const char *project, const exi_new_folder *folder, ex_error *error) {
    ex_result result = exi_new_folder_check_free(folder, project, error);
    if (result == EX_OK)
        result = exi_new_folder_check_free(folder, EXI_UNPACKED_MESH, error);
    for (int f = 0; result == EX_OK && f < s->given->form_count; f++)
        result = exi_new_folder_check_free(folder, s->files[f].text, error);
    return result;
}

static ex_result write_all(const starting *s, const char *project, exi_new_folder *folder, ex_error *error) {
    ex_result result = try_forms(s, error);
    if (result == EX_OK)
        result = exi_new_folder_open(folder, error);
    if (result == EX_OK && !folder->overwrite)
        result = check_free(s, project, folder, error);
    const char *path = result == EX_OK ? exi_new_folder_add(folder, EXI_UNPACKED_MESH, error) : NULL;
    if (result == EX_OK)
        result = path ? ex_obj_write(path, s->mesh, error) : EX_ERROR_MEMORY;
    for (int f = 0; result == EX_OK && f < s->given->form_count; f++)
        result = write_form(s, f, folder, error);
    path = result == EX_OK ? exi_new_folder_add(folder, project, error) : NULL;
    if (result == EX_OK)
        result = path ? exi_json_write(path, s->root, error) : EX_ERROR_MEMORY;
    return result;
}

ex_result ex_project_init_forms(const ex_init_forms *forms, const char *directory, const char *name,
                                const ex_init_options *options, const ex_init_report *report, ex_error *error) {
    ex_error local = {0};
    error = error ? error : &local;
    const exi_init init = {.report = report};
    exi_new_folder folder = {.path = directory, .overwrite = options && options->overwrite};
    const size_t count = (size_t)forms->form_count, size = strlen(name) + sizeof ".json";
    starting s = {.given = forms,
                  .init = &init,
                  .names = exi_array_allocate(count + 1, sizeof *s.names),
                  .files = exi_array_allocate(count, sizeof *s.files)};
    char *project = malloc(size);
    ex_result result = project && s.names && s.files ? EX_OK : ex_error_memory(error, "the names", count * 256);
    if (result == EX_OK)
        result = check_places(forms, error);
    if (result == EX_OK) {
        snprintf(project, size, "%s.json", name);
        choose_names(&s);
        result = describe(&s, project, error);
    }
    if (result == EX_OK)
        result = ex_mesh_read(forms->rest.path, &s.mesh, error);
    if (result == EX_OK) {
        result = write_all(&s, project, &folder, error);
        result = exi_new_folder_close(&folder, project, result, error);
    }
    ex_mesh_destroy(s.mesh);
    json_decref(s.root);
    free(s.names);
    free(s.files);
    free(project);
    return result;
}

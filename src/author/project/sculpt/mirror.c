/*
 * Mirrors examples: a sculpt on the left also holds on the right. The form is mapped by the vertices' counterparts, the
 * place by those of joints and axes. The mirrored example goes to the layer over the mirrored axes.
 */
#include "author/project/sculpt/mirror.h"
#include "author/base/array.h"
#include "author/base/json.h"
#include "author/project/skeleton/skeleton.h"
#include "runtime/base/text.h"

#include <exemplar/author/files.h>
#include <exemplar/author/formats.h>

#include <stdlib.h>
#include <string.h>

/* ---- input ---- */

static ex_result find_source(exi_mirroring *m, ex_project *project, ex_error *error) {
    const ex_example_ref which = {.layer = m->def->layer, .name = m->def->name};
    m->from_place = exi_find_example(&project->view, which, &m->from, error);
    if (m->from_place < 0)
        return EX_ERROR_DATA;
    m->source = &project->view.layers[m->from];
    m->entry = json_array_get(
        json_object_get(json_array_get(json_object_get(project->root, "layers"), (size_t)m->from), "examples"),
        (size_t)m->from_place);
    if (m->source->domain != EX_DOMAIN_OFFSETS || !ex_weigher_kind_info(m->source->weigh.kind)->has_points)
        return ex_error_set(error, EX_ERROR_DATA,
                            "layer '%s' is not a layer of offsets over a space: only sculpts can be mirrored",
                            m->source->name);
    if (json_object_get(m->entry, "skeleton"))
        return ex_error_set(error, EX_ERROR_DATA, "example '%s' has a skeleton of its own, which cannot be mirrored",
                            m->def->name);
    return EX_OK;
}

static ex_result read_skeleton(exi_mirroring *m, ex_error *error) {
    const ex_project_view *view = m->mirror.view;
    ex_scene *scene = NULL;
    if (!view->skeleton)
        return EX_OK;
    ex_result result = exi_skeleton_read_scene(view, view->skeleton, &scene, error);
    if (result == EX_OK && exi_skeleton_main_skin(scene) < 0)
        result = exi_skeleton_no_skin(error);
    if (result == EX_OK)
        result = exi_skeleton_from_scene(scene, exi_skeleton_main_skin(scene), &m->skeleton, error);
    ex_scene_destroy(scene);
    m->mirror.skeleton = m->skeleton;
    return ex_error_within(error, result, "skeleton");
}

/* ---- the space ---- */

static ex_result mirror_axes(exi_mirroring *m, ex_error *error) {
    const json_t *space = json_object_get(
        json_array_get(json_object_get(m->amendment.project->root, "layers"), (size_t)m->from), "space");
    const size_t count = (size_t)m->source->axis_count;
    m->axes = calloc(count + 1, sizeof *m->axes);
    ex_result result = m->axes ? EX_OK : ex_error_memory(error, "the axes", count * sizeof *m->axes);
    for (size_t i = 0; result == EX_OK && i < count; i++)
        result = exi_mirror_axis(&m->mirror, &m->source->axes[i], json_array_get(space, i), m->axes, (int)i,
                                 &m->axes[i], error);
    return result;
}

/* ---- the example ---- */

/* Mirrors the axes that "at" names, in its order, including those of other layers. */
static ex_result mirror_place(const exi_mirroring *m, json_t **out, ex_error *error) {
    const char *name;
    json_t *value;
    ex_result result = EX_OK;
    *out = json_object();
    json_object_foreach(json_object_get(m->entry, "at"), name, value) {
        const exi_mirrored_axis *axis = exi_mirroring_axis(m, name);
        const ex_project_axis *other = axis ? NULL : exi_view_axis(m->mirror.view, name);
        exi_mirrored_axis mirrored = {0};
        json_t *made = NULL;
        if (result == EX_OK && other)
            result = exi_mirror_axis(&m->mirror, other, NULL, NULL, 0, &mirrored, error);
        if (result == EX_OK && other && !mirrored.to)
            result = ex_error_set(error, EX_ERROR_DATA,
                                  "its place names the axis '%s' of another layer, but no axis of the project is the "
                                  "mirror image of that",
                                  name);
        if (result == EX_OK)
            result = exi_mirror_value(&m->mirror, axis ? axis : &mirrored, value, &made, error);
        if (result == EX_OK && json_object_set_new(*out, axis ? axis->name : mirrored.name, made) != 0)
            result = ex_error_memory(error, "a place", 0);
        json_decref(mirrored.made);
    }
    if (result == EX_OK)
        return EX_OK;
    json_decref(*out);
    *out = NULL;
    return result;
}

static ex_result make_entry(const exi_mirroring *m, const char *name, json_t **out, ex_error *error) {
    json_t *at = NULL, *joints = NULL, *value, *made = json_object();
    const char *key;
    ex_result result = made ? mirror_place(m, &at, error) : ex_error_memory(error, "an example", 0);
    if (result == EX_OK)
        result = exi_mirror_joints(&m->mirror, json_object_get(m->entry, "joints"), &joints, error);
    bool done = true;
    json_object_foreach((json_t *)m->entry, key, value) {
        const bool falloff = strcmp(key, "falloff") == 0;
        if (result == EX_OK)
            result = exi_mirroring_check_list(m, key, value, error);
        if (result != EX_OK || strcmp(key, "muted") == 0)
            continue;
        json_t *copy = strcmp(key, "name") == 0     ? json_string(name)
                       : strcmp(key, "at") == 0     ? json_incref(at)
                       : strcmp(key, "joints") == 0 ? json_incref(joints)
                       : falloff                    ? exi_mirroring_falloff(m, value)
                                                    : json_deep_copy(value);
        done = json_object_set_new(made, key, copy) == 0 && done;
    }
    json_decref(at);
    json_decref(joints);
    if (result == EX_OK && !done)
        result = ex_error_memory(error, "an example", 0);
    if (result != EX_OK)
        json_decref(made);
    *out = result == EX_OK ? made : NULL;
    return result;
}

static bool has_name(const json_t *list, const char *name) {
    for (size_t i = 0; i < json_array_size(list); i++)
        if (strcmp(json_string_value(json_object_get(json_array_get(list, i), "name")), name) == 0)
            return true;
    return false;
}

/* If an example is at the mirrored place, replaces its form and removes the new example; or refuses. */
static ex_result make_way(exi_mirroring *m, json_t *list, ex_error *error) {
    const ex_project_layer *layer = &m->amendment.trial.view.layers[m->to];
    const ex_project_example *other = exi_example_in_the_way(layer, m->place);
    if (!other)
        return EX_OK;
    if (m->to == m->from && other->place == m->from_place)
        return ex_error_set(error, EX_ERROR_DATA,
                            "the pose of '%s' is its own mirror image: there is nothing to mirror", m->def->name);
    if (!m->def->replace)
        return ex_error_kind(error,
                             ex_error_set(error, EX_ERROR_DATA,
                                          "example '%s' of layer '%s' is already at the mirrored place", other->name,
                                          layer->name),
                             "mirrored_place_taken");
    m->place = other->place;
    json_array_remove(list, json_array_size(list) - 1);
    return EX_OK;
}

static ex_result put_example(exi_mirroring *m, ex_error *error) {
    json_t *made = NULL, *list = json_object_get(exi_amend_layer(&m->amendment, m->to), "examples");
    char *name = m->def->as ? exi_text_copy(m->def->as, strlen(m->def->as)) : ex_mirror_name(m->def->name);
    ex_result result = name ? EX_OK : ex_error_memory(error, "a name", 0);
    const bool taken = name && has_name(list, name);
    if (result == EX_OK && taken && !m->def->replace)
        result = ex_error_kind(
            error,
            ex_error_set(error, EX_ERROR_DATA, "the layer of the mirrored example already has an example '%s'", name),
            "mirrored_name_taken");
    if (result == EX_OK)
        result = make_entry(m, taken ? "\xE2\x80\xA6" : name, &made, error);
    if (result == EX_OK) {
        m->place = (int)json_array_size(list);
        result = json_array_append_new(list, made) == 0 ? exi_amend_read(&m->amendment, error)
                                                        : ex_error_memory(error, "an example", 0);
    }
    const int added = m->place;
    if (result == EX_OK)
        result = make_way(m, list, error);
    if (result == EX_OK && taken && m->place == added)
        result = ex_error_kind(
            error,
            ex_error_set(error, EX_ERROR_DATA, "'%s' has the name of the mirrored example but is elsewhere", name),
            "mirrored_name_elsewhere");
    free(name);
    return result;
}

/* ---- its form ---- */

static ex_result mirror_form(exi_mirroring *m, ex_error *error) {
    const char *relative = json_string_value(json_object_get(m->entry, "mesh"));
    const int plane = m->def->plane;
    char *path = ex_path_join(m->mirror.view->path, relative);
    ex_mesh *form = NULL;
    int *map = NULL;
    ex_result result = path ? ex_mesh_read(path, &form, error) : ex_error_memory(error, "a path", 0);
    free(path);
    if (result == EX_OK)
        result = exi_read_raw_mesh(m->mirror.view, &m->mesh, error);
    if (result == EX_OK)
        result = ex_error_within(error, ex_mesh_compare_connectivity(m->mesh, form, error), "%s", relative);
    if (result == EX_OK)
        result =
            ex_error_within(error, ex_mesh_mirror_map(m->mesh, plane, m->def->offset, m->def->tolerance, &map, error),
                            "%s", m->mirror.view->mesh);
    for (size_t v = 0; result == EX_OK && v < (size_t)form->vertex_count; v++) {
        double *p = m->mesh->positions + 3 * (size_t)map[v];
        memcpy(p, form->positions + 3 * v, 3 * sizeof *p);
        p[plane] = 2 * m->def->offset - p[plane];
    }
    free(map);
    ex_mesh_destroy(form);
    return result;
}

static ex_result put_form(exi_mirroring *m, ex_error *error) {
    exi_amendment *a = &m->amendment;
    json_t *entry = json_array_get(json_object_get(exi_amend_layer(a, m->to), "examples"), (size_t)m->place);
    char *file = exi_sculpt_free_file(&a->trial.view, a->trial.view.layers[m->to].name,
                                      json_string_value(json_object_get(entry, "name")));
    ex_result result = file ? exi_sculpt_write(a, file, m->mesh, error) : ex_error_memory(error, "a path", 0);
    if (result == EX_OK && json_object_set_new(entry, "mesh", json_string(file)) != 0)
        result = ex_error_memory(error, "an example", 0);
    free(file);
    return result == EX_OK ? exi_amend_read(a, error) : result;
}

/* ---- the whole ---- */

static void close_mirroring(exi_mirroring *m) {
    for (int i = 0; m->axes && i < m->source->axis_count; i++)
        json_decref(m->axes[i].made);
    free(m->axes);
    ex_skeleton_destroy(m->skeleton);
    ex_mesh_destroy(m->mesh);
    exi_amend_close(&m->amendment);
}

ex_result ex_project_mirror_example(ex_project *project, const ex_mirroring *def, const ex_build_options *options,
                                    ex_sculpted *made, ex_error *error) {
    ex_error local = {0};
    ex_sculpted unused;
    error = error ? error : &local;
    made = made ? made : &unused;
    *made = (ex_sculpted){.layer = -1, .example = -1};
    exi_mirroring m = {.def = def, .mirror = {.view = &project->view}};
    if (!def->name || def->plane < 0 || def->plane > 2)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "name an example, and mirror x, y or z");
    if (def->as && !exi_is_name(def->as))
        return ex_error_set(error, EX_ERROR_DATA,
                            "the new name is not valid: 1 to %d bytes of readable text are needed", EXI_NAME_MAX);
    /* Swap y and z if meshes have z up; joints always have y up. */
    m.mirror.plane = def->plane > 0 && project->view.z_up ? 3 - def->plane : def->plane;
    ex_result result = find_source(&m, project, error);
    if (result != EX_OK)
        return result;
    result = exi_amend_open(&m.amendment, project, options, error);
    if (result == EX_OK)
        result = read_skeleton(&m, error);
    if (result == EX_OK)
        result = mirror_form(&m, error);
    if (result == EX_OK)
        result = mirror_axes(&m, error);
    if (result == EX_OK)
        result = exi_mirroring_layer(&m, error);
    if (result == EX_OK)
        result = put_example(&m, error);
    if (result == EX_OK)
        result = put_form(&m, error);
    exi_amend_name(&m.amendment, "example '%s' mirrored", m.def->name);
    if (result == EX_OK)
        result = exi_amend_finish(&m.amendment, m.to, m.place, made, error);
    made->new_layer = m.new_layer;
    close_mirroring(&m);
    return result;
}

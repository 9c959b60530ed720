/*
 * Reads a project file (docs/reference/project.md): strict JSON first, then every key by name. Keys that are unknown,
 * missing or of the wrong kind are refused with their place and, if a name was mistyped, with the nearest one.
 */
#include "author/project/model/project.h"

#include "author/base/json.h"
#include "author/formats/foreign.h"
#include "author/project/domains/project_domain.h"
#include "author/project/model/reader.h"
#include "runtime/base/result.h"
#include "runtime/base/text.h"
#include <exemplar/author/files.h>

#include <exemplar/author/files.h>

#include <stdlib.h>
#include <string.h>

/* ---- layers ---- */

static ex_result read_mask(exi_project_reader *r, const json_t *object, const exi_place *place,
                           ex_project_layer *layer) {
    const json_t *mask = json_object_get(object, "mask");
    exi_place at = exi_place_key(place, "mask");
    if (!mask)
        return EX_OK;
    const exi_project_domain *domain = exi_project_domain_of(layer);
    if (domain->masked == EXI_MASKED_NOTHING)
        return ex_error_set(r->keys.error, EX_ERROR_DATA, "%s: a layer of %s has no vertices to mask", at.text,
                            domain->examples);
    ex_result result = exi_read_mask(r, mask, &at, true, &layer->mask);
    if (result == EX_OK && domain->masked == EXI_MASKED_LEVEL && layer->mask.kind != EX_MASK_FILE)
        result = ex_error_set(r->keys.error, EX_ERROR_DATA,
                              "%s: a layer of %s is masked at the vertices of the last level: "
                              "{\"file\": \"m.txt\"} is needed here",
                              at.text, domain->examples);
    return result;
}

/* First pass: reads name, space and weigher of a layer, so that any place may name any axis of the project. */
static ex_result read_layer_space(exi_project_reader *r, const json_t *object, const exi_place *place,
                                  ex_project_layer *layer) {
    static const char *const common[] = {"name",   "space", "weigh", "shape", "examples",
                                         "pseudo", "mask",  "muted", NULL};
    const char *keys[EXI_KEYS_MAX];
    exi_domain_layer_keys(common, keys);
    ex_result result = exi_check_keys(&r->keys, object, place, keys);
    if (result == EX_OK)
        result = exi_get_text(&r->keys, object, place, "name", true, &layer->name);
    if (result == EX_OK && !exi_is_name(layer->name))
        result = ex_error_set(r->keys.error, EX_ERROR_DATA, "%s.name: 1 to %d bytes of readable text are needed",
                              place->text, EXI_NAME_MAX);
    if (result == EX_OK)
        result = exi_read_weigh(r, object, place, &layer->weigh);
    if (result == EX_OK)
        result = exi_read_domain(r, object, place, layer);
    if (result == EX_OK)
        result = exi_read_space(r, object, place, layer);
    if (result == EX_OK)
        result = exi_read_driven(r, object, place, layer);
    if (result == EX_OK)
        exi_drop_muted_axes(object, layer);
    return result == EX_OK ? exi_get_bool(&r->keys, object, place, "muted", &layer->muted) : result;
}

static ex_result read_layers(exi_project_reader *r, const json_t *list) {
    exi_place root = {""}, at = exi_place_key(&root, "layers");
    if (!json_is_array(list))
        return ex_error_set(r->keys.error, EX_ERROR_DATA, "%s: a list of layers is needed here", at.text);
    size_t count = json_array_size(list);
    ex_project_layer *layers = exi_arena_allocate(r->keys.arena, count, sizeof *layers);
    if (!layers)
        return ex_error_memory(r->keys.error, "the project", count * sizeof *layers);
    r->view->layers = layers;
    ex_result result = EX_OK;
    for (size_t i = 0; result == EX_OK && i < count; i++) {
        exi_place here = exi_place_index(&at, i);
        result = read_layer_space(r, json_array_get(list, i), &here, &layers[i]);
        r->view->layer_count = (int)i + 1;
        for (size_t k = 0; result == EX_OK && k < i; k++)
            if (strcmp(layers[k].name, layers[i].name) == 0)
                result = ex_error_set(r->keys.error, EX_ERROR_DATA, "%s.name: layer %zu is also called '%s'", here.text,
                                      k + 1, layers[i].name);
    }
    if (result == EX_OK)
        result = exi_check_followed(r);
    if (result == EX_OK)
        result = exi_link_spaces(r, list);
    for (size_t i = 0; result == EX_OK && i < count; i++) {
        exi_place here = exi_place_index(&at, i);
        const json_t *layer = json_array_get(list, i);
        result = exi_read_examples(r, layer, &here, &layers[i]);
        if (result == EX_OK)
            result = exi_read_pseudos(r, layer, &here, &layers[i]);
        if (result == EX_OK)
            result = read_mask(r, layer, &here, &layers[i]);
    }
    for (size_t i = 0; result == EX_OK && i < count; i++) {
        exi_place here = exi_place_index(&at, i);
        if (exi_project_domain_of(&layers[i])->finish)
            result = exi_project_domain_of(&layers[i])->finish(r, &here, &layers[i]);
        if (result == EX_OK)
            result = exi_read_falloffs(r, json_array_get(list, i), &here, &layers[i]);
    }
    return result;
}

/* ---- the whole ---- */

bool ex_unit_metres(const char *name, double *metres) {
    static const struct {
        const char *name;
        double metres;
    } units[] = {{"m", 1}, {"dm", 0.1}, {"cm", 0.01}, {"mm", 0.001}, {"km", 1000}, {"in", 0.0254}, {"ft", 0.3048}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (strcmp(units[i].name, name) == 0) {
            *metres = units[i].metres;
            return true;
        }
    return false;
}

static ex_result read_unit(exi_project_reader *r, const json_t *value, double *unit) {
    if (json_is_number(value) && json_number_value(value) >= EX_UNIT_LEAST &&
        json_number_value(value) <= EX_UNIT_MOST) {
        *unit = json_number_value(value);
        return EX_OK;
    }
    if (json_is_string(value) && ex_unit_metres(json_string_value(value), unit))
        return EX_OK;
    return ex_error_set(
        r->keys.error, EX_ERROR_DATA,
        "unit: \"m\", \"dm\", \"cm\", \"mm\", \"km\", \"in\", \"ft\" or a number of metres (1e-15 to 1e15) is "
        "needed here");
}

static ex_result read_skeleton(exi_project_reader *r, const json_t *root) {
    static const char *const methods[] = {
#define NAME(id, text) text,
        EX_SKINNING_LIST(NAME)
#undef NAME
    };
    exi_place top = {""}, at = exi_place_key(&top, "skinning");
    const json_t *skinning = json_object_get(root, "skinning");
    int method = EX_SKINNING_LINEAR;
    ex_result result = exi_get_text(&r->keys, root, &top, "skeleton", false, &r->view->skeleton);
    if (result == EX_OK && skinning && !r->view->skeleton)
        result = ex_error_set(r->keys.error, EX_ERROR_DATA,
                              "%s: skinning needs a skeleton: add \"skeleton\": \"FILE.glb\"", at.text);
    if (result == EX_OK && skinning)
        result = exi_choose(&r->keys, skinning, &at, methods, EX_SKINNING_COUNT, &method);
    r->view->skinning = (ex_skinning)method;
    return result;
}

/* Reads true, false, or "all": every level is on the limit surface. */
static ex_result read_limit(exi_project_reader *r, const json_t *object, const exi_place *at, ex_subdivide_def *def) {
    const json_t *limit = json_object_get(object, "limit");
    if (!limit || json_is_boolean(limit))
        return exi_get_bool(&r->keys, object, at, "limit", &def->limit);
    if (!json_is_string(limit) || strcmp(json_string_value(limit), "all") != 0)
        return ex_error_set(r->keys.error, EX_ERROR_DATA, "%s.limit: true, false or \"all\" is needed here", at->text);
    if (def->levels == 0)
        return ex_error_set(r->keys.error, EX_ERROR_DATA,
                            "%s.levels: \"limit\": \"all\" puts every level on the limit surface: use 1 or more",
                            at->text);
    def->limit = def->all = true;
    return EX_OK;
}

static ex_result read_subdivide(exi_project_reader *r, const json_t *root) {
    static const char *const keys[] = {"scheme", "levels", "limit", "boundary", NULL};
    static const char *const schemes[] = {"catmull_clark", "loop", "bilinear"};
    static const char *const boundaries[] = {"tags", "none", "edges", "edges_and_corners"};
    const json_t *object = json_object_get(root, "subdivide");
    exi_place top = {""}, at = exi_place_key(&top, "subdivide"), scheme_at = exi_place_key(&at, "scheme"),
              boundary_at = exi_place_key(&at, "boundary");
    ex_subdivide_def *def = &r->view->subdivision;
    int scheme = 0, boundary = EX_BOUNDARY_FROM_TAGS;
    if (!object)
        return EX_OK;
    *def = (ex_subdivide_def){.levels = 1};
    ex_result result = exi_check_keys(&r->keys, object, &at, keys);
    if (result == EX_OK)
        result = exi_choose(&r->keys, json_object_get(object, "scheme"), &scheme_at, schemes, EX_SCHEME_COUNT, &scheme);
    if (result == EX_OK)
        result = exi_get_range(&r->keys, object, &at, "levels", 0, EX_SUBDIVIDE_LEVELS, &def->levels);
    if (result == EX_OK)
        result = read_limit(r, object, &at, def);
    if (result == EX_OK && json_object_get(object, "boundary"))
        result = exi_choose(&r->keys, json_object_get(object, "boundary"), &boundary_at, boundaries, EX_BOUNDARY_COUNT,
                            &boundary);
    if (result == EX_OK && def->levels == 0 && !def->limit)
        result = ex_error_set(r->keys.error, EX_ERROR_DATA,
                              "%s.levels: 0 levels refine nothing: use 1 or more, or add \"limit\": true", at.text);
    def->scheme = (ex_scheme)scheme;
    def->boundary = (ex_boundary)boundary;
    r->view->subdivide = true;
    return result;
}

static ex_result read_root(exi_project_reader *r, const json_t *root) {
    static const char *const keys[] = {"exemplar", "mesh",   "up",     "unit",      "skeleton", "skinning", "materials",
                                       "clips",    "driver", "layers", "subdivide", "settle",   NULL};
    static const char *const needed[] = {"exemplar", "mesh", "layers", NULL}, *const ups[] = {"y", "z"};
    exi_place top = {""}, up_place = exi_place_key(&top, "up");
    if (!json_is_object(root))
        return ex_error_set(r->keys.error, EX_ERROR_DATA, "a project is a JSON object: { \"exemplar\": 1, … }");
    const json_t *version = json_object_get(root, "exemplar");
    if (json_is_integer(version) && json_integer_value(version) > 1)
        return ex_error_set(
            r->keys.error, EX_ERROR_VERSION,
            "exemplar: this project has version %lld, but this program (%s) reads version 1: use a newer version",
            (long long)json_integer_value(version), EX_VERSION_TEXT);
    ex_result result = exi_check_keys(&r->keys, root, &top, keys);
    if (result == EX_OK)
        result = exi_require_keys(&r->keys, root, &top, needed);
    if (result == EX_OK && (!json_is_integer(version) || json_integer_value(version) != 1))
        result = ex_error_set(r->keys.error, EX_ERROR_DATA, "exemplar: the version number 1 is needed here");
    if (result == EX_OK)
        result = exi_get_text(&r->keys, root, &top, "mesh", true, &r->view->mesh);
    int up = 0;
    if (result == EX_OK && json_object_get(root, "up"))
        result = exi_choose(&r->keys, json_object_get(root, "up"), &up_place, ups, 2, &up);
    r->view->z_up = up == 1;
    r->view->unit = 1;
    if (result == EX_OK && json_object_get(root, "unit"))
        result = read_unit(r, json_object_get(root, "unit"), &r->view->unit);
    if (result == EX_OK)
        result = read_skeleton(r, root);
    if (result == EX_OK)
        result = exi_get_text(&r->keys, root, &top, "materials", false, &r->view->materials);
    if (result == EX_OK)
        result = exi_get_text(&r->keys, root, &top, "clips", false, &r->view->clips);
    if (result == EX_OK)
        result = exi_read_driver(r, root);
    if (result == EX_OK)
        result = read_subdivide(r, root);
    if (result == EX_OK)
        result = read_layers(r, json_object_get(root, "layers"));
    return result;
}

ex_result exi_project_interpret(json_t *root, const char *path, exi_arena *arena, ex_project_view *view,
                                ex_error *error) {
    *view = (ex_project_view){.path = path};
    exi_project_reader reader = {.keys = {.arena = arena, .error = error}, .view = view};
    return read_root(&reader, root);
}

/* ---- the entry points ---- */

ex_result ex_project_parse(const char *text, size_t size, const char *path, ex_project **project, ex_error *error) {
    *project = NULL;
    ex_error local = {0};
    error = error ? error : &local;
    ex_project *made = calloc(1, sizeof *made);
    char *name = malloc(strlen(path) + 1);
    if (!made || !name) {
        free(made);
        free(name);
        return ex_error_memory(error, "the project", size);
    }
    strcpy(name, path);
    made->path = name;
    if (size >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) {
        text += 3;
        size -= 3;
    }
    json_error_t json_error;
    ex_result result = exi_json_load(text, size, &made->root, &json_error);
    if (result == EX_ERROR_MEMORY)
        result = ex_error_memory(error, "the project", size);
    else if (!made->root && size == 0)
        result = ex_error_set(error, EX_ERROR_FORMAT, "%s is empty", path);
    else if (!made->root)
        result = ex_error_set(error, EX_ERROR_FORMAT, "%s:%d:%d: %s", path, json_error.line, json_error.column,
                              strstr(json_error.text, "near '/'") ? "JSON has no comments: remove this one"
                                                                  : json_error.text);
    else
        result = ex_error_within(error, exi_project_interpret(made->root, name, &made->arena, &made->view, error), "%s",
                                 path);
    if (result == EX_OK)
        *project = made;
    else
        ex_project_destroy(made);
    return exi_foreign_explain(error, result, EXI_CONTENT_PROJECT, path, ".json", text, size);
}

ex_result ex_project_read(const char *path, ex_project **project, ex_error *error) {
    *project = NULL;
    char *text = NULL;
    size_t size = 0;
    ex_result result = ex_file_read(path, &text, &size, error);
    if (result != EX_OK)
        return result;
    if (size >= 4 && memcmp(text, "glTF", 4) == 0)
        result = ex_error_kind(
            error, ex_error_set(error, EX_ERROR_FORMAT, "%s: this is a .glb file, not a project", path), "no_project");
    else
        result = ex_project_parse(text, size, path, project, error);
    if (result == EX_OK)
        (*project)->stored = json_incref((*project)->root);
    free(text);
    return result;
}

void ex_project_destroy(ex_project *project) {
    if (!project)
        return;
    exi_arena_free(&project->arena);
    json_decref(project->root);
    json_decref(project->stored);
    free(project->path);
    free(project);
}

const ex_project_view *ex_project_get(const ex_project *project) {
    return &project->view;
}

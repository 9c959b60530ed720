/*
 * Reading a project file (docs/project-format.md): strict JSON first, then every key by name. What is unknown, missing
 * or of the wrong kind is refused with its place and, where a name was mistyped, with the nearest one.
 */
#include "author/project/project.h"

#include "author/formats/file.h"
#include "author/project/keys.h"
#include "runtime/base/result.h"
#include "runtime/base/text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- places in the space ---- */

/* The axis of that name in the layer, or else in the first layer that has it, or NULL. */
static const ex_project_axis *find_axis(const exi_reader *r, const ex_project_layer *layer, const char *name) {
    for (int i = 0; i < layer->axis_count; i++)
        if (strcmp(layer->axes[i].name, name) == 0)
            return &layer->axes[i];
    for (int l = 0; l < r->view->layer_count; l++)
        for (int i = 0; i < r->view->layers[l].axis_count; i++)
            if (strcmp(r->view->layers[l].axes[i].name, name) == 0)
                return &r->view->layers[l].axes[i];
    return NULL;
}

/* One number or four, as the axis has. */
static ex_result read_value(exi_reader *r, const json_t *value, const exi_place *place, const ex_project_axis *axis,
                            double *numbers) {
    return axis->axis.kind == EX_AXIS_SCALAR ? exi_json_number(value, place, numbers, r->error)
                                             : exi_json_rotation(value, place, numbers, r->error);
}

/* The nearest name is looked for in the layer first, then in the others. */
static ex_result unknown_axis(exi_reader *r, const ex_project_layer *layer, const exi_place *place, const char *name) {
    const char *names[EX_AXIS_MAX];
    int count = 0;
    for (int l = -1; l < r->view->layer_count; l++) {
        const ex_project_layer *from = l < 0 ? layer : &r->view->layers[l];
        for (int i = 0; i < from->axis_count && count < EX_AXIS_MAX; i++)
            names[count++] = from->axes[i].name;
    }
    const char *near = ex_suggest(name, names, count);
    if (near)
        return exi_error(r->error, EX_ERROR_DATA, "%s: there is no axis '%s'; did you mean '%s'?", place->text, name,
                         near);
    return exi_error(r->error, EX_ERROR_DATA, "%s: there is no axis '%s' in this project", place->text, name);
}

/* Every name in the object is an axis of the project, and its value of that axis's kind. */
static ex_result check_axes(exi_reader *r, const json_t *object, const exi_place *place,
                            const ex_project_layer *layer) {
    if (!json_is_object(object))
        return exi_error(r->error, EX_ERROR_DATA, "%s: an object of axis names and values is needed here", place->text);
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)object, key, value) {
        exi_place at = exi_place_key(place, key);
        const ex_project_axis *axis = find_axis(r, layer, key);
        double unused[4];
        ex_result result = axis ? read_value(r, value, &at, axis, unused) : unknown_axis(r, layer, &at, key);
        if (result != EX_OK)
            return result;
    }
    return EX_OK;
}

/* The point of the layer's space that an object of axis names and values means: axes that are not named stay at rest,
 * as do those whose value is of another kind than the layer's axis (which building refuses). NULL without memory. */
static double *point_in(exi_reader *r, const json_t *object, const ex_project_layer *layer) {
    double *values = exi_arena_allocate(r->arena, (size_t)layer->dimension, sizeof *values), *out = values;
    exi_reader quiet = {.arena = r->arena, .view = r->view};
    exi_place nowhere = {""};
    for (int i = 0; values && i < layer->axis_count; i++) {
        const ex_project_axis *axis = &layer->axes[i];
        const json_t *given = json_object_get(object, axis->name);
        const bool scalar = axis->axis.kind == EX_AXIS_SCALAR;
        if (!given || read_value(&quiet, given, &nowhere, axis, out) != EX_OK) {
            if (scalar)
                *out = axis->axis.rest;
            else
                memcpy(out, axis->axis.rest_rotation, 4 * sizeof *out);
        }
        out += scalar ? 1 : 4;
    }
    return values;
}

static ex_result read_point(exi_reader *r, const json_t *object, const exi_place *place, const ex_project_layer *layer,
                            const double **point) {
    ex_result result = check_axes(r, object, place, layer);
    if (result != EX_OK)
        return result;
    *point = point_in(r, object, layer);
    return *point ? EX_OK : exi_error_memory(r->error, "the project", (size_t)layer->dimension * sizeof **point);
}

/* ---- examples and pseudo-examples ---- */

static ex_result read_example(exi_reader *r, const json_t *object, const exi_place *place,
                              const ex_project_layer *layer, ex_project_example *example) {
    static const char *const keys[] = {"name", "mesh", "at", NULL};
    const bool direct = layer->weigh.kind == EX_WEIGHER_DIRECT;
    ex_result result = exi_check_keys(r, object, place, keys);
    if (result == EX_OK)
        result = exi_get_text(r, object, place, "name", true, &example->name);
    if (result == EX_OK && !exi_is_name(example->name))
        result = exi_error(r->error, EX_ERROR_DATA, "%s.name: 1 to %d bytes of readable text are needed", place->text,
                           EXI_NAME_MAX);
    if (result == EX_OK)
        result = exi_get_text(r, object, place, "mesh", true, &example->mesh);
    const json_t *at = json_object_get(object, "at");
    exi_place here = exi_place_key(place, "at");
    if (result == EX_OK && direct && at)
        result = exi_error(r->error, EX_ERROR_DATA,
                           "%s: examples of a direct layer have no place: its axes are its weights", here.text);
    if (result == EX_OK && !direct && !at)
        result = exi_error(r->error, EX_ERROR_DATA, "%s: \"at\" is missing: where in the space is this example?",
                           place->text);
    if (result == EX_OK && !direct)
        result = read_point(r, at, &here, layer, &example->at);
    return result;
}

/* Where the example's whole pose is in every layer's space. */
static ex_result read_whole_pose(exi_reader *r, const json_t *object, const ex_project_layer *layer, int index,
                                 ex_project_example *example) {
    size_t count = (size_t)r->view->layer_count;
    const double **points = exi_arena_allocate(r->arena, count, sizeof *points);
    json_t *own_axis = example->at ? NULL : json_pack("{s:i}", layer->axes[index].name, 1);
    bool done = points && (example->at || own_axis);
    for (size_t l = 0; done && l < count; l++) {
        points[l] = point_in(r, example->at ? json_object_get(object, "at") : own_axis, &r->view->layers[l]);
        done = points[l] != NULL;
    }
    json_decref(own_axis);
    example->points = points;
    return done ? EX_OK : exi_error_memory(r->error, "the project", count * sizeof *points);
}

static ex_result read_examples(exi_reader *r, const json_t *object, const exi_place *place, ex_project_layer *layer) {
    const json_t *list = json_object_get(object, "examples");
    exi_place at = exi_place_key(place, "examples");
    size_t count = json_array_size(list), dimension = (size_t)layer->dimension;
    if (count == 0)
        return exi_error(r->error, EX_ERROR_DATA, "%s: a list of at least one example is needed here", at.text);
    if (count > EX_POINT_MAX)
        return exi_error(r->error, EX_ERROR_LIMIT, "%s: a space holds at most %d examples, and here are %zu", at.text,
                         EX_POINT_MAX, count);
    ex_project_example *examples = exi_arena_allocate(r->arena, count, sizeof *examples);
    const char **names = exi_arena_allocate(r->arena, count, sizeof *names);
    double *points = exi_arena_allocate(r->arena, count * dimension, sizeof *points);
    if (!examples || !names || !points)
        return exi_error_memory(r->error, "the project", count * sizeof *examples);
    for (size_t i = 0; i < count; i++) {
        exi_place here = exi_place_index(&at, i);
        ex_result result = read_example(r, json_array_get(list, i), &here, layer, &examples[i]);
        if (result != EX_OK)
            return result;
        for (size_t k = 0; k < i; k++)
            if (strcmp(examples[k].name, examples[i].name) == 0)
                return exi_error(r->error, EX_ERROR_DATA, "%s.name: example %zu of this layer is called '%s' too",
                                 here.text, k, examples[i].name);
        names[i] = examples[i].name;
        if (examples[i].at)
            memcpy(points + i * dimension, examples[i].at, dimension * sizeof *points);
    }
    if (layer->weigh.kind == EX_WEIGHER_DIRECT && count != (size_t)layer->axis_count)
        return exi_error(r->error, EX_ERROR_DATA, "%s: a direct layer has one example per axis, here %zu for %d axes",
                         at.text, count, layer->axis_count);
    for (size_t i = 0; i < count; i++) {
        ex_result result = read_whole_pose(r, json_array_get(list, i), layer, (int)i, &examples[i]);
        if (result != EX_OK)
            return result;
    }
    layer->examples = examples;
    layer->example_count = layer->weigh.example_count = (int)count;
    layer->weigh.names = names;
    layer->weigh.points = layer->weigh.kind == EX_WEIGHER_DIRECT ? NULL : points;
    return EX_OK;
}

static ex_result read_weights(exi_reader *r, const json_t *object, const exi_place *place,
                              const ex_project_layer *layer, const double **weights) {
    double *values = exi_arena_allocate(r->arena, (size_t)layer->example_count, sizeof *values);
    if (!values)
        return exi_error_memory(r->error, "the project", (size_t)layer->example_count * sizeof *values);
    if (!json_is_object(object))
        return exi_error(r->error, EX_ERROR_DATA, "%s: an object of example names and weights is needed here",
                         place->text);
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)object, key, value) {
        exi_place at = exi_place_key(place, key);
        int k = 0;
        while (k < layer->example_count && strcmp(layer->examples[k].name, key) != 0)
            k++;
        if (k == layer->example_count) {
            const char *near = ex_suggest(key, layer->weigh.names, layer->example_count);
            return near ? exi_error(r->error, EX_ERROR_DATA, "%s: this layer has no example '%s'; did you mean '%s'?",
                                    at.text, key, near)
                        : exi_error(r->error, EX_ERROR_DATA, "%s: this layer has no example '%s'", at.text, key);
        }
        ex_result result = exi_json_number(value, &at, &values[k], r->error);
        if (result == EX_OK && fabs(values[k]) > EX_WEIGHT_MAX)
            result =
                exi_error(r->error, EX_ERROR_DATA, "%s: a weight is at most %g either way", at.text, EX_WEIGHT_MAX);
        if (result != EX_OK)
            return result;
    }
    *weights = values;
    return EX_OK;
}

static ex_result read_pseudo(exi_reader *r, const json_t *object, const exi_place *place, const ex_project_layer *layer,
                             ex_pseudo *pseudo) {
    static const char *const keys[] = {"name", "from", "weights", "at", NULL}, *const needed[] = {"at", NULL};
    const char *name = NULL;
    ex_result result = exi_check_keys(r, object, place, keys);
    if (result == EX_OK)
        result = exi_require_keys(r, object, place, needed);
    if (result == EX_OK)
        result = exi_get_text(r, object, place, "name", false, &name);
    const json_t *from = json_object_get(object, "from"), *weights = json_object_get(object, "weights");
    if (result == EX_OK && !from == !weights)
        result =
            exi_error(r->error, EX_ERROR_DATA, "%s: a pseudo-example has either \"from\" or \"weights\"", place->text);
    exi_place at = exi_place_key(place, "at");
    if (result == EX_OK)
        result = read_point(r, json_object_get(object, "at"), &at, layer, &pseudo->at);
    at = exi_place_key(place, from ? "from" : "weights");
    if (result == EX_OK)
        result = from ? read_point(r, from, &at, layer, &pseudo->from)
                      : read_weights(r, weights, &at, layer, &pseudo->weights);
    return result;
}

static ex_result read_pseudos(exi_reader *r, const json_t *object, const exi_place *place, ex_project_layer *layer) {
    const json_t *list = json_object_get(object, "pseudo");
    exi_place at = exi_place_key(place, "pseudo");
    if (!list)
        return EX_OK;
    if (!json_is_array(list))
        return exi_error(r->error, EX_ERROR_DATA, "%s: a list of pseudo-examples is needed here", at.text);
    size_t count = json_array_size(list);
    if (count > 0 && layer->weigh.kind == EX_WEIGHER_DIRECT)
        return exi_error(r->error, EX_ERROR_DATA, "%s: a direct layer has no space for pseudo-examples", at.text);
    ex_pseudo *pseudos = exi_arena_allocate(r->arena, count, sizeof *pseudos);
    if (!pseudos)
        return exi_error_memory(r->error, "the project", count * sizeof *pseudos);
    for (size_t i = 0; i < count; i++) {
        exi_place here = exi_place_index(&at, i);
        ex_result result = read_pseudo(r, json_array_get(list, i), &here, layer, &pseudos[i]);
        if (result != EX_OK)
            return result;
    }
    layer->weigh.pseudos = pseudos;
    layer->pseudo_count = layer->weigh.pseudo_count = (int)count;
    return EX_OK;
}

/* ---- layers and the whole ---- */

static ex_result read_mask(exi_reader *r, const json_t *object, const exi_place *place, ex_project_layer *layer) {
    static const char *const kinds[] = {"file", "group", "colour"};
    const json_t *mask = json_object_get(object, "mask");
    exi_place at = exi_place_key(place, "mask");
    if (!mask)
        return EX_OK;
    if (json_object_size(mask) == 1)
        for (int i = 0; i < 3; i++)
            if (json_object_get(mask, kinds[i])) {
                layer->mask = (ex_mask_kind)(EX_MASK_FILE + i);
                ex_result result = exi_get_text(r, mask, &at, kinds[i], true, &layer->mask_source);
                if (result == EX_OK && layer->mask == EX_MASK_COLOUR &&
                    (strlen(layer->mask_source) != 1 || !strchr("rgb", layer->mask_source[0])))
                    result =
                        exi_error(r->error, EX_ERROR_DATA, "%s.colour: \"r\", \"g\" or \"b\" is needed here", at.text);
                return result;
            }
    return exi_error(r->error, EX_ERROR_DATA,
                     "%s: one of {\"file\": \"m.txt\"}, {\"group\": \"NAME\"} or {\"colour\": \"r\"} is needed here",
                     at.text);
}

/* First pass: name, space and weigher of a layer, so that any place may name any axis of the project. */
static ex_result read_layer_space(exi_reader *r, const json_t *object, const exi_place *place,
                                  ex_project_layer *layer) {
    static const char *const keys[] = {"name", "space", "weigh", "shape", "examples", "pseudo", "mask", NULL};
    static const char *const shapes[] = {"positions"};
    ex_result result = exi_check_keys(r, object, place, keys);
    if (result == EX_OK)
        result = exi_get_text(r, object, place, "name", true, &layer->name);
    if (result == EX_OK && !exi_is_name(layer->name))
        result = exi_error(r->error, EX_ERROR_DATA, "%s.name: 1 to %d bytes of readable text are needed", place->text,
                           EXI_NAME_MAX);
    exi_place at = exi_place_key(place, "shape");
    int shape = 0;
    if (result == EX_OK && json_object_get(object, "shape"))
        result = exi_choose(r, json_object_get(object, "shape"), &at, shapes, 1, &shape);
    if (result == EX_OK)
        result = exi_read_weigh(r, object, place, &layer->weigh);
    if (result == EX_OK)
        result = exi_read_space(r, object, place, layer);
    return result;
}

static ex_result read_layers(exi_reader *r, const json_t *list) {
    exi_place root = {""}, at = exi_place_key(&root, "layers");
    if (!json_is_array(list))
        return exi_error(r->error, EX_ERROR_DATA, "%s: a list of layers is needed here", at.text);
    size_t count = json_array_size(list);
    ex_project_layer *layers = exi_arena_allocate(r->arena, count, sizeof *layers);
    if (!layers)
        return exi_error_memory(r->error, "the project", count * sizeof *layers);
    r->view->layers = layers;
    ex_result result = EX_OK;
    for (size_t i = 0; result == EX_OK && i < count; i++) {
        exi_place here = exi_place_index(&at, i);
        result = read_layer_space(r, json_array_get(list, i), &here, &layers[i]);
        r->view->layer_count = (int)i + 1;
        for (size_t k = 0; result == EX_OK && k < i; k++)
            if (strcmp(layers[k].name, layers[i].name) == 0)
                result = exi_error(r->error, EX_ERROR_DATA, "%s.name: layer %zu is called '%s' too", here.text, k,
                                   layers[i].name);
    }
    for (size_t i = 0; result == EX_OK && i < count; i++) {
        exi_place here = exi_place_index(&at, i);
        const json_t *layer = json_array_get(list, i);
        result = read_examples(r, layer, &here, &layers[i]);
        if (result == EX_OK)
            result = read_pseudos(r, layer, &here, &layers[i]);
        if (result == EX_OK)
            result = read_mask(r, layer, &here, &layers[i]);
    }
    return result;
}

static ex_result read_unit(exi_reader *r, const json_t *value, double *unit) {
    static const struct {
        const char *name;
        double metres;
    } units[] = {{"m", 1}, {"dm", 0.1}, {"cm", 0.01}, {"mm", 0.001}, {"km", 1000}, {"in", 0.0254}, {"ft", 0.3048}};
    if (json_is_number(value) && json_number_value(value) > 0) {
        *unit = json_number_value(value);
        return EX_OK;
    }
    for (size_t i = 0; json_is_string(value) && i < sizeof units / sizeof *units; i++)
        if (strcmp(units[i].name, json_string_value(value)) == 0) {
            *unit = units[i].metres;
            return EX_OK;
        }
    return exi_error(
        r->error, EX_ERROR_DATA,
        "unit: \"m\", \"dm\", \"cm\", \"mm\", \"km\", \"in\", \"ft\" or a number of metres is needed here");
}

static ex_result read_root(exi_reader *r, const json_t *root) {
    static const char *const keys[] = {"exemplar", "mesh", "up", "unit", "layers", NULL};
    static const char *const needed[] = {"exemplar", "mesh", "layers", NULL}, *const ups[] = {"y", "z"};
    exi_place top = {""}, up_place = exi_place_key(&top, "up");
    if (!json_is_object(root))
        return exi_error(r->error, EX_ERROR_DATA, "a project is a JSON object: { \"exemplar\": 1, … }");
    const json_t *version = json_object_get(root, "exemplar");
    if (json_is_integer(version) && json_integer_value(version) > 1)
        return exi_error(
            r->error, EX_ERROR_VERSION,
            "exemplar: this project has version %lld, and this program (%s) reads version 1: use a newer one",
            (long long)json_integer_value(version), EX_VERSION_TEXT);
    ex_result result = exi_check_keys(r, root, &top, keys);
    if (result == EX_OK)
        result = exi_require_keys(r, root, &top, needed);
    if (result == EX_OK && (!json_is_integer(version) || json_integer_value(version) != 1))
        result = exi_error(r->error, EX_ERROR_DATA, "exemplar: the version number 1 is needed here");
    if (result == EX_OK)
        result = exi_get_text(r, root, &top, "mesh", true, &r->view->mesh);
    int up = 0;
    if (result == EX_OK && json_object_get(root, "up"))
        result = exi_choose(r, json_object_get(root, "up"), &up_place, ups, 2, &up);
    r->view->z_up = up == 1;
    r->view->unit = 1;
    if (result == EX_OK && json_object_get(root, "unit"))
        result = read_unit(r, json_object_get(root, "unit"), &r->view->unit);
    if (result == EX_OK)
        result = read_layers(r, json_object_get(root, "layers"));
    return result;
}

ex_result exi_project_interpret(json_t *root, const char *path, exi_arena *arena, ex_project_view *view,
                                ex_error *error) {
    *view = (ex_project_view){.path = path};
    exi_reader reader = {.arena = arena, .view = view, .error = error};
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
        return exi_error_memory(error, "the project", size);
    }
    strcpy(name, path);
    made->path = name;
    if (size >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0) {
        text += 3;
        size -= 3;
    }
    json_error_t json_error = {0};
    made->root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &json_error);
    ex_result result = EX_OK;
    /* jansson has nothing to say where memory ran out in the middle. */
    if (!made->root && (json_error_code(&json_error) == json_error_out_of_memory || !json_error.text[0]))
        result = exi_error_memory(error, "the project", size);
    else if (!made->root && size == 0)
        result = exi_error(error, EX_ERROR_FORMAT, "%s is empty", path);
    else if (!made->root)
        result = exi_error(error, EX_ERROR_FORMAT, "%s:%d:%d: %s", path, json_error.line, json_error.column,
                           json_error.text);
    else
        result = exi_error_within(error, exi_project_interpret(made->root, name, &made->arena, &made->view, error),
                                  "%s", path);
    if (result == EX_OK)
        *project = made;
    else
        ex_project_destroy(made);
    return result;
}

ex_result ex_project_read(const char *path, ex_project **project, ex_error *error) {
    *project = NULL;
    char *text = NULL;
    size_t size = 0;
    ex_result result = exi_file_read(path, &text, &size, error);
    if (result != EX_OK)
        return result;
    if (size >= 4 && memcmp(text, "glTF", 4) == 0)
        result =
            exi_error(error, EX_ERROR_FORMAT,
                      "%s: this is a .glb file, not a project: 'exemplar unpack' makes a project from a rig", path);
    else
        result = ex_project_parse(text, size, path, project, error);
    free(text);
    return result;
}

void ex_project_destroy(ex_project *project) {
    if (!project)
        return;
    exi_arena_free(&project->arena);
    json_decref(project->root);
    free(project->path);
    free(project);
}

const ex_project_view *ex_project_get(const ex_project *project) {
    return &project->view;
}

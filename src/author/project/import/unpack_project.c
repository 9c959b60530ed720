/*
 * Describes a rig in the words of a project file. Layers of forms become layers of "positions": un-posing and masks
 * were applied to the differences when the rig was built, and are not restored. Nor are posed sculpts, tolerances and
 * zeros of layers of offsets.
 */
#include "author/base/array.h"
#include "author/base/json.h"
#include "author/formats/rig/rig_gltf.h"
#include "author/project/domains/project_domain.h"
#include "author/project/model/refinement.h"
#include "author/project/skeleton/skeleton.h"
#include "runtime/base/result.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- axes ---- */

/* Returns "x", "y", "z", or three numbers. */
static json_t *make_direction(const double about[3]) {
    static const char *const names[] = {"x", "y", "z"};
    for (int i = 0; i < 3; i++)
        if (about[i] == 1 && about[(i + 1) % 3] == 0 && about[(i + 2) % 3] == 0)
            return json_string(names[i]);
    return exi_json_make_numbers(about, 3);
}

/* Describes the source of a joint's axis. Its rest value is the joint's reading at rest, and is not written. */
static bool set_source(json_t *object, const ex_rig *rig, const ex_axis_source *source) {
    static const char *const keys[] = {
        [EX_READING_ANGLE] = "angle", [EX_READING_SLIDE] = "slide", [EX_READING_STRETCH] = "stretch"};
    const ex_reading *reading = &source->reading;
    exi_joint_text text;
    if (source->joint < 0)
        return true;
    bool done = exi_json_set(object, "joint", json_string(exi_joint_name(ex_rig_skeleton(rig), source->joint, &text)));
    if (reading->kind != EX_READING_ROTATION)
        done = done && exi_json_set(object, keys[reading->kind], make_direction(reading->about));
    if (reading->kind == EX_READING_SLIDE && reading->unit != 1 && reading->unit != 0)
        done = done && exi_json_set(object, "metres", exi_json_make_number(reading->unit));
    return done;
}

static bool set_limit(json_t *object, const ex_axis *axis) {
    return axis->limit == EX_LIMIT_KIND || exi_json_set(object, "limit", json_string(ex_limit_name(axis->limit)));
}

static bool set_range(json_t *object, const ex_axis *axis, bool joint) {
    static const char *const kinds[] = {"", "full", "swing", "twist"};
    if (axis->kind == EX_AXIS_SCALAR)
        return exi_json_set(object, "min", exi_json_make_number(axis->min)) &&
               exi_json_set(object, "max", exi_json_make_number(axis->max)) &&
               (joint || exi_json_set(object, "rest", exi_json_make_number(axis->rest))) &&
               (!axis->clamp || exi_json_set(object, "clamp", json_true())) && set_limit(object, axis);
    return exi_json_set(object, "rotation", json_string(kinds[axis->kind])) &&
           (axis->kind == EX_AXIS_ROTATION || exi_json_set(object, "about", exi_json_make_numbers(axis->about, 3))) &&
           (joint || exi_json_set(object, "rest", exi_json_make_numbers(axis->rest_rotation, 4))) &&
           set_limit(object, axis);
}

static json_t *make_axis(const ex_rig *rig, int input, const ex_axis *axis) {
    if (axis->kind == EX_AXIS_DRIVER)
        return json_pack("{s:s, s:b}", "name", ex_rig_input_name(rig, input), "driver", 1);
    const ex_axis_source source = ex_rig_input_source(rig, input);
    const char *unit = ex_rig_input_unit(rig, input);
    json_t *object = json_object();
    bool done = exi_json_set(object, "name", json_string(ex_rig_input_name(rig, input))) &&
                (!unit[0] || exi_json_set(object, "unit", json_string(unit))) && set_source(object, rig, &source) &&
                set_range(object, axis, source.joint >= 0) &&
                (!(axis->scale > 0) || exi_json_set(object, "scale", exi_json_make_number(axis->scale)));
    if (!done) {
        json_decref(object);
        return NULL;
    }
    return object;
}

/* ---- layers ---- */

static json_t *make_value(const ex_parameter *parameter, double value) {
    switch (parameter->type) {
    case EX_PARAMETER_WHOLE:
        return json_integer((json_int_t)value);
    case EX_PARAMETER_SWITCH:
        return json_boolean(value != 0);
    case EX_PARAMETER_CHOICE:
        return json_string(parameter->words[(int)value].name);
    case EX_PARAMETER_NUMBER:
        break;
    }
    return exi_json_make_number(value);
}

static json_t *make_weigh(const ex_weigher_def *def) {
    const ex_weigher_info *info = ex_weigher_kind_info(def->kind);
    json_t *weigh = json_object();
    bool done = exi_json_set(weigh, "kind", json_string(ex_weigher_kind_name(def->kind)));
    for (int i = 0; done && i < info->parameter_count; i++) {
        const ex_parameter *parameter = &info->parameters[i];
        const double value = ex_parameter_get(parameter, def);
        if (!parameter->rare || value != parameter->preset)
            done = exi_json_set(weigh, parameter->name, make_value(parameter, value));
    }
    if (!done) {
        json_decref(weigh);
        return NULL;
    }
    return weigh;
}

/* The rig has the names and widths of a layer's axes. */
static json_t *make_point(const ex_rig *rig, int layer, const double *point) {
    json_t *object = json_object();
    const ex_weigher *weigher = ex_rig_weigher(rig, layer);
    const int count = ex_weigher_axis_count(weigher);
    bool done = object != NULL;
    for (int i = 0; done && i < count; i++) {
        int input = ex_rig_layer_input(rig, layer, i);
        ex_axis axis = ex_rig_input_axis(rig, input);
        int width = ex_axis_width(&axis);
        if (axis.kind == EX_AXIS_DRIVER) { /* a file; the other axis, if there is one, has one number */
            point += i == 0 ? ex_weigher_dimension(weigher) - count + 1 : 0;
            continue;
        }
        done = exi_json_set(object, ex_rig_input_name(rig, input),
                            width == 1 ? exi_json_make_number(point[0]) : exi_json_make_numbers(point, 4));
        point += width;
    }
    if (!done) {
        json_decref(object);
        return NULL;
    }
    return object;
}

static bool all_zero(const double *numbers, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (numbers[i] != 0)
            return false;
    return true;
}

/* Writes the reach of a point of a layer with falloffs, if it is not the default. */
static bool set_reach(json_t *object, const ex_weigher_def *def, int point) {
    const size_t axes = (size_t)def->axis_count;
    size_t n = 0;
    for (size_t a = 0; a < axes; a++)
        n += def->axes[a].kind == EX_AXIS_SCALAR;
    const double *falloff = def->falloffs ? def->falloffs + (size_t)point * axes : NULL;
    const double *metric = def->metrics ? def->metrics + (size_t)point * n * n : NULL;
    if (!ex_weigher_kind_info(def->kind)->has_falloffs)
        return true;
    bool done = !falloff || all_zero(falloff, axes) ||
                exi_json_set(object, "falloff", exi_json_make_numbers(falloff, def->axis_count));
    if (!metric || all_zero(metric, n * n))
        return done;
    json_t *rows = json_array();
    for (size_t i = 0; i < n; i++)
        done = json_array_append_new(rows, exi_json_make_numbers(metric + i * n, (int)n)) == 0 && done;
    return exi_json_set(object, "metric", json_pack("{s:o}", "scaled", rows)) && done;
}

static json_t *make_pseudos(const ex_rig *rig, int layer, const ex_weigher_def *def) {
    json_t *list = json_array();
    bool done = list != NULL;
    for (int i = 0; done && i < def->pseudo_count; i++) {
        const ex_pseudo *p = &def->pseudos[i];
        json_t *pseudo = json_object();
        if (p->from) {
            done = exi_json_set(pseudo, "from", make_point(rig, layer, p->from));
        } else {
            json_t *weights = json_object();
            for (int k = 0; k < def->example_count; k++)
                done = done && (p->weights[k] == 0 || exi_json_set(weights, ex_rig_example_name(rig, layer, k),
                                                                   exi_json_make_number(p->weights[k])));
            done = exi_json_set(pseudo, "weights", weights) && done;
        }
        done = exi_json_set(pseudo, "at", make_point(rig, layer, p->at)) &&
               set_reach(pseudo, def, def->example_count + i) && done;
        done = json_array_append_new(list, pseudo) == 0 && done;
    }
    if (!done) {
        json_decref(list);
        return NULL;
    }
    return list;
}

static json_t *make_example(const ex_rig *rig, int layer, const ex_weigher_def *def, int k) {
    const char *keys[EXI_UNPACKED_KIND_COUNT] = {exi_project_domains[ex_rig_layer_domain(rig, layer)]->file,
                                                 "skeleton"};
    json_t *example = json_pack("{s:s}", "name", ex_rig_example_name(rig, layer, k));
    float *shifts = exi_array_allocate(3 * (size_t)ex_rig_joint_count(rig), sizeof *shifts);
    bool done = example && shifts;
    for (int kind = 0; done && kind < EXI_UNPACKED_KIND_COUNT; kind++)
        if (keys[kind] && exi_unpacked_has(rig, layer, k, (exi_unpacked_kind)kind, shifts))
            done = exi_json_set(example, keys[kind],
                                json_string(exi_unpacked_name(rig, layer, k, (exi_unpacked_kind)kind).text));
    if (done && ex_rig_layer_reference(rig, layer) == k)
        done = exi_json_set(example, "reference", json_true());
    const double *point = ex_weigher_point(ex_rig_weigher(rig, layer), k);
    done = done && (!point || exi_json_set(example, "at", make_point(rig, layer, point))) &&
           set_reach(example, def, k) && exi_unpack_describe_key(rig, layer, k, example);
    free(shifts);
    if (!done) {
        json_decref(example);
        return NULL;
    }
    return example;
}

static json_t *make_layer(const ex_rig *rig, int layer, const ex_weigher_def *def, const json_t *paths,
                          const exi_unpacked_driver *driver) {
    const ex_domain domain = ex_rig_layer_domain(rig, layer);
    json_t *object = json_object(), *space = json_array(), *examples = json_array();
    bool done = object && space && examples;
    for (int i = 0; done && i < def->axis_count; i++)
        done = json_array_append_new(space, make_axis(rig, ex_rig_layer_input(rig, layer, i), &def->axes[i])) == 0;
    for (int k = 0; done && k < def->example_count; k++)
        done = json_array_append_new(examples, make_example(rig, layer, def, k)) == 0;
    done = exi_json_set(object, "name", json_string(ex_rig_layer_name(rig, layer))) && done;
    done = exi_json_set(object, "space", space) && done;
    done = exi_json_set(object, "weigh", make_weigh(def)) && done;
    done = exi_json_set(object, "shape", json_string(ex_domain_name(domain))) && done;
    if (ex_weigher_kind_info(def->kind)->is_driven)
        done = done && exi_unpack_describe_driven(driver, rig, layer, object, json_object_get(object, "weigh"));
    if (ex_rig_layer_muted(rig, layer))
        done = exi_json_set(object, "muted", json_true()) && done;
    if (exi_project_domains[domain]->describe)
        done = done && exi_project_domains[domain]->describe(rig, layer, def, paths, object);
    done = exi_json_set(object, "examples", examples) && done;
    if (def->pseudo_count > 0)
        done = exi_json_set(object, "pseudo", make_pseudos(rig, layer, def)) && done;
    if (!done) {
        json_decref(object);
        return NULL;
    }
    return object;
}

static json_t *describe_layer(const ex_rig *rig, int layer, const json_t *paths, const exi_unpacked_driver *driver) {
    const ex_weigher *weigher = ex_rig_weigher(rig, layer);
    ex_axis *axes = exi_array_allocate((size_t)ex_weigher_axis_count(weigher), sizeof *axes);
    ex_pseudo *pseudos = exi_array_allocate((size_t)ex_weigher_pseudo_count(weigher), sizeof *pseudos);
    json_t *made = NULL;
    if (axes && pseudos) {
        ex_weigher_def def;
        ex_weigher_describe(weigher, &def, axes, pseudos);
        made = make_layer(rig, layer, &def, paths, driver);
    }
    free(axes);
    free(pseudos);
    return made;
}

/* ---- the whole ---- */

/* Describes the refinement rules from their note. */
static ex_result describe_refinement(const ex_rig *rig, json_t **subdivide, ex_error *error) {
    *subdivide = NULL;
    for (int i = 0; i < ex_rig_attachment_count(rig); i++) {
        const ex_attachment note = ex_rig_attachment(rig, i);
        if (strcmp(note.kind, EXI_REFINEMENT_NOTE) != 0)
            continue;
        const ex_result result = exi_json_load(note.data, note.size, subdivide, NULL);
        if (result == EX_OK)
            return EX_OK;
        if (result == EX_ERROR_MEMORY)
            return ex_error_memory(error, "a note", note.size);
        return ex_error_set(error, EX_ERROR_DATA, "the rig's note about how it was subdivided is damaged");
    }
    if (ex_rig_stencils(rig))
        return ex_error_set(
            error, EX_ERROR_DATA,
            "the rig has refined levels, but does not record how they were made, so it cannot be unpacked");
    return EX_OK;
}

ex_result exi_unpack_describe(const ex_rig *rig, const json_t *paths, const exi_unpacked_driver *driver,
                              const char *project, json_t **root, ex_error *error) {
    json_t *subdivide = NULL, *layers = json_array(),
           *made = json_pack("{s:i, s:s}", "exemplar", 1, "mesh", EXI_UNPACKED_MESH);
    ex_result result = describe_refinement(rig, &subdivide, error);
    bool done = made && layers;
    *root = NULL;
    if (result == EX_OK && ex_rig_skeleton(rig))
        done = done && exi_json_set(made, "skeleton", json_string(exi_unpacked_skeleton(project))) &&
               exi_json_set(made, "skinning", json_string(ex_skinning_name(ex_rig_skinning(rig))));
    if (result == EX_OK && exi_rig_find_attachment(rig, EXI_LOOKS_NOTE).data)
        done = done && exi_json_set(made, "materials", json_string(EXI_UNPACKED_MATERIALS));
    if (result == EX_OK && exi_rig_find_attachment(rig, EXI_CLIPS_NOTE).data)
        done = done && exi_json_set(made, "clips", json_string(exi_unpacked_clips(project)));
    if (result == EX_OK)
        done = done && exi_unpack_describe_driver(driver, rig, made);
    for (int l = 0; result == EX_OK && done && l < ex_rig_layer_count(rig); l++)
        done = json_array_append_new(layers, describe_layer(rig, l, paths, driver)) == 0;
    done = exi_json_set(made, "layers", layers) && done;
    if (subdivide)
        done = exi_json_set(made, "subdivide", subdivide) && done;
    done = exi_unpack_describe_settle(driver, made) && done;
    if (result == EX_OK && !done)
        result = ex_error_memory(error, "the project", (size_t)ex_rig_example_count(rig) * 200);
    if (result == EX_OK)
        *root = made;
    else
        json_decref(made);
    return result;
}

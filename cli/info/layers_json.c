/*
 * cli/info/layers_json.c - prints layers as JSON for `exemplar info --json`. A key that a project file has
 * (docs/reference/ project.md) is named and written as there; tests/cli/numbers.py reads the output back as a project.
 */
#include "layers.h"

#include <string.h>

/* Prints the reading of an axis with a joint as a project has it: "angle": [1, 0, 0]. */
static void json_reading(const ex_reading *reading, exi_emitter *json) {
    static const char *const letters[] = {"x", "y", "z"};
    int along = 0;
    while (along < 2 && reading->about[along] == 0)
        along++;
    if (reading->kind == EX_READING_STRETCH)
        exi_emit_text(json, "stretch", letters[along]);
    else if (reading->kind != EX_READING_ROTATION)
        exi_emit_numbers(json, exi_reading_kinds[reading->kind], reading->about, 3);
    if (reading->kind == EX_READING_SLIDE)
        exi_emit_number(json, "metres", reading->unit != 0 ? reading->unit : 1);
}

void exi_axis_print_json(const ex_axis *axis, const char *name, const char *unit, const char *joint,
                         const ex_reading *reading, exi_emitter *json) {
    exi_emit_open(json, NULL, '{');
    exi_emit_text(json, "name", name);
    exi_emit_text(json, "kind", exi_axis_kinds[axis->kind]);
    if (axis->kind == EX_AXIS_SCALAR) {
        exi_emit_number(json, "min", axis->min);
        exi_emit_number(json, "max", axis->max);
        exi_emit_number(json, "rest", axis->rest);
        exi_emit_bool(json, "clamp", axis->clamp);
    } else if (axis->kind == EX_AXIS_DRIVER) {
        exi_emit_bool(json, "driver", true);
    } else {
        exi_emit_text(json, "rotation", axis->kind == EX_AXIS_ROTATION ? "full" : exi_axis_kinds[axis->kind]);
        exi_emit_numbers(json, "rest", axis->rest_rotation, 4);
    }
    if (axis->limit != EX_LIMIT_KIND)
        exi_emit_text(json, "limit", ex_limit_name(axis->limit));
    if (axis->kind == EX_AXIS_SWING || axis->kind == EX_AXIS_TWIST)
        exi_emit_numbers(json, "about", axis->about, 3);
    if (*unit)
        exi_emit_text(json, "unit", unit);
    if (joint) {
        exi_emit_text(json, "joint", joint);
        json_reading(reading, json);
    }
    exi_emit_close(json, '}');
}

/* file: the driver's form, or NULL */
static void json_point(const exi_layer *layer, exi_emitter *json, const char *key, const double *point,
                       const char *file) {
    exi_emit_open(json, key, '{');
    for (int a = 0; a < layer->weigh.axis_count; a++) {
        if (layer->axes[a].kind == EX_AXIS_DRIVER && file)
            exi_emit_text(json, layer->axis_names[a], file);
        else if (layer->axes[a].kind == EX_AXIS_DRIVER || !point) {
            point += point ? ex_axis_width(&layer->axes[a]) : 0;
            continue;
        } else if (layer->axes[a].kind == EX_AXIS_SCALAR)
            exi_emit_number(json, layer->axis_names[a], point[0]);
        else
            exi_emit_numbers(json, layer->axis_names[a], point, 4);
        point += point ? ex_axis_width(&layer->axes[a]) : 0;
    }
    exi_emit_close(json, '}');
}

static void json_falloff(const exi_layer *layer, exi_emitter *json, int point) {
    const int scalars = exi_layer_scalar_count(layer);
    if (exi_layer_falloff(layer, point))
        exi_emit_numbers(json, "falloff", exi_layer_falloff(layer, point), layer->weigh.axis_count);
    const double *metric = exi_layer_metric(layer, point);
    if (!metric)
        return;
    exi_emit_open(json, "metric", '{');
    exi_emit_open(json, "scaled", '[');
    for (int row = 0; row < scalars; row++)
        exi_emit_numbers(json, NULL, metric + (size_t)row * (size_t)scalars, scalars);
    exi_emit_close(json, ']');
    exi_emit_close(json, '}');
}

static void json_weigher(const exi_layer *layer, exi_emitter *json) {
    const ex_weigher_info *info = ex_weigher_kind_info(layer->weigh.kind);
    exi_emit_open(json, "weigh", '{');
    exi_emit_text(json, "kind", ex_weigher_kind_name(layer->weigh.kind));
    for (int i = 0; i < info->parameter_count; i++) {
        const ex_parameter *parameter = &info->parameters[i];
        const double value = ex_parameter_get(parameter, &layer->weigh);
        if (parameter->type == EX_PARAMETER_SWITCH)
            exi_emit_bool(json, parameter->name, value != 0);
        else if (parameter->type == EX_PARAMETER_CHOICE)
            exi_emit_text(json, parameter->name, parameter->words[(int)value].name);
        else
            exi_emit_number(json, parameter->name, value);
    }
    if (layer->auto_falloff)
        exi_emit_text(json, "falloff", "auto");
    if (info->raises_ridge)
        exi_emit_bool(json, "raised", layer->ridge.point >= 0);
    if (info->has_sets)
        exi_emit_number(json, "set_count", layer->weigh.set_count);
    if (layer->region_count > 0)
        exi_emit_number(json, "region_count", layer->region_count);
    exi_layer_emit_predictor(layer, json);
    exi_emit_close(json, '}');
}

static void json_examples(const exi_layer *layer, exi_emitter *json) {
    exi_emit_open(json, "examples", '[');
    for (int k = 0; k < layer->weigh.example_count; k++) {
        exi_emit_open(json, NULL, '{');
        exi_emit_text(json, "name", layer->example_names[k]);
        if (layer->example_files)
            exi_emit_text(json,
                          layer->texture                              ? "image"
                          : strcmp(layer->shape, "displacement") == 0 ? "map"
                                                                      : "mesh",
                          layer->example_files[k]);
        if (layer->skeletons[k] && layer->example_files)
            exi_emit_text(json, "skeleton", layer->skeletons[k]);
        else if (layer->skeletons[k])
            exi_emit_bool(json, "skeleton", true);
        const char *driver = layer->driver_files ? layer->driver_files[k] : NULL;
        if (exi_layer_point(layer, k) || driver)
            json_point(layer, json, "at", exi_layer_point(layer, k), driver);
        json_falloff(layer, json, k);
        if (layer->moved)
            exi_emit_number(json, "moved", layer->moved[k]);
        if (k == layer->reference) {
            exi_emit_bool(json, "reference", true);
        } else if (layer->paths && layer->mixture.node_count == 0) {
            exi_emit_number(json, "correctors", layer->paths[k].corrector_count);
            exi_emit_bool(json, "turns", layer->paths[k].turns);
            exi_emit_number(json, "bytes", exi_layer_path_bytes(&layer->paths[k]));
        }
        exi_emit_close(json, '}');
    }
    exi_emit_close(json, ']');
}

static void json_pseudos(const exi_layer *layer, exi_emitter *json) {
    exi_emit_open(json, "pseudo", '[');
    for (int p = 0; p < layer->weigh.pseudo_count; p++) {
        const ex_pseudo *pseudo = &layer->pseudos[p];
        exi_emit_open(json, NULL, '{');
        json_point(layer, json, "at", pseudo->at, NULL);
        if (pseudo->from) {
            json_point(layer, json, "from", pseudo->from, NULL);
        } else {
            exi_emit_open(json, "weights", '{');
            for (int k = 0; k < layer->weigh.example_count; k++)
                exi_emit_number(json, layer->example_names[k], pseudo->weights[k]);
            exi_emit_close(json, '}');
        }
        json_falloff(layer, json, layer->weigh.example_count + p);
        exi_emit_close(json, '}');
    }
    exi_emit_close(json, ']');
}

void exi_layer_print_json(const exi_layer *layer, exi_emitter *json) {
    exi_emit_open(json, NULL, '{');
    exi_emit_text(json, "name", layer->name);
    exi_emit_text(json, "shape", layer->shape);
    if (layer->texture)
        exi_emit_text(json, "texture", layer->texture);
    if (layer->frame) {
        exi_emit_text(json, "frame", layer->frame);
        exi_emit_text(json, "participation", layer->participation);
    }
    if (layer->mode) {
        exi_emit_open(json, "trajectory", '{');
        exi_emit_text(json, "mode", layer->mode);
        exi_emit_close(json, '}');
    }
    if (layer->segment_count > 0)
        exi_emit_number(json, "segment_count", layer->segment_count);
    if (layer->mixture.node_count > 0) {
        exi_emit_open(json, "mixture", '{');
        exi_emit_number(json, "node_count", layer->mixture.node_count);
        exi_emit_number(json, "edge_count", layer->mixture.edge_count);
        exi_emit_number(json, "corrector_count", layer->mixture.corrector_count);
        exi_emit_number(json, "term_count", layer->mixture.term_count);
        exi_emit_number(json, "bytes", exi_layer_mixture_bytes(layer));
        exi_emit_close(json, '}');
    }
    exi_emit_bool(json, "muted", layer->muted);
    json_weigher(layer, json);
    exi_emit_open(json, "space", '[');
    for (int a = 0; a < layer->weigh.axis_count; a++)
        exi_axis_print_json(&layer->axes[a], layer->axis_names[a], layer->axis_units[a], layer->axis_joints[a],
                            &layer->readings[a], json);
    exi_emit_close(json, ']');
    json_examples(layer, json);
    json_pseudos(layer, json);
    exi_emit_close(json, '}');
}

/*
 * Looking into a rig. Indices out of range are misuse: they give "", -1, NULL or zero.
 */
#include "runtime/base/result.h"
#include "runtime/rig/rig.h"

#include <string.h>

static bool has_layer(const ex_rig *rig, int layer, const char *function) {
    return rig && layer >= 0 && layer < rig->counts.layers ? true : exi_misuse(function, "no such layer");
}

static bool has_input(const ex_rig *rig, int input, const char *function) {
    return rig && input >= 0 && input < rig->counts.inputs ? true : exi_misuse(function, "no such input");
}

static bool has_example(const ex_rig *rig, int layer, int example, const char *function) {
    if (!has_layer(rig, layer, function))
        return false;
    return example >= 0 && example < exi_rig_layers(rig)[layer].example_count ? true
                                                                              : exi_misuse(function, "no such example");
}

int ex_rig_vertex_count(const ex_rig *rig) {
    return rig->counts.vertices;
}

int ex_rig_layer_count(const ex_rig *rig) {
    return rig->counts.layers;
}

int ex_rig_example_count(const ex_rig *rig) {
    return rig->counts.examples;
}

const char *ex_rig_layer_name(const ex_rig *rig, int layer) {
    return has_layer(rig, layer, __func__) ? exi_rig_string(rig, exi_rig_layers(rig)[layer].name) : "";
}

const ex_weigher *ex_rig_weigher(const ex_rig *rig, int layer) {
    return has_layer(rig, layer, __func__) ? exi_rig_at(rig, exi_rig_layers(rig)[layer].weigher) : NULL;
}

int ex_rig_first_example(const ex_rig *rig, int layer) {
    return has_layer(rig, layer, __func__) ? exi_rig_layers(rig)[layer].first_example : -1;
}

const char *ex_rig_example_name(const ex_rig *rig, int layer, int example) {
    if (!has_example(rig, layer, example, __func__))
        return "";
    const uint32_t *names = exi_rig_at(rig, rig->example_names);
    return exi_rig_string(rig, names[exi_rig_layers(rig)[layer].first_example + example]);
}

int ex_rig_input_count(const ex_rig *rig) {
    return rig->counts.inputs;
}

const char *ex_rig_input_name(const ex_rig *rig, int input) {
    return has_input(rig, input, __func__) ? exi_rig_string(rig, exi_rig_inputs(rig)[input].name) : "";
}

const char *ex_rig_input_unit(const ex_rig *rig, int input) {
    return has_input(rig, input, __func__) ? exi_rig_string(rig, exi_rig_inputs(rig)[input].unit) : "";
}

ex_axis ex_rig_input_axis(const ex_rig *rig, int input) {
    return has_input(rig, input, __func__) ? exi_axis_restore(&exi_rig_inputs(rig)[input].axis) : (ex_axis){0};
}

int ex_rig_input_offset(const ex_rig *rig, int input) {
    return has_input(rig, input, __func__) ? exi_rig_inputs(rig)[input].offset : -1;
}

int ex_rig_input_find(const ex_rig *rig, const char *name) {
    for (int i = 0; i < rig->counts.inputs; i++)
        if (strcmp(name, ex_rig_input_name(rig, i)) == 0)
            return i;
    return -1;
}

int ex_rig_layer_input(const ex_rig *rig, int layer, int axis) {
    if (!has_layer(rig, layer, __func__))
        return -1;
    const exi_layer_record *record = &exi_rig_layers(rig)[layer];
    if (axis < 0 || axis >= record->axis_count) {
        exi_misuse(__func__, "no such axis");
        return -1;
    }
    return ((const int32_t *)exi_rig_at(rig, rig->axis_inputs))[record->first_axis + axis];
}

int ex_rig_pose_size(const ex_rig *rig) {
    return rig->pose_size;
}

void ex_rig_rest_pose(const ex_rig *rig, double *inputs) {
    for (int i = 0; i < rig->counts.inputs; i++) {
        const exi_input_record *input = &exi_rig_inputs(rig)[i];
        if (input->axis.kind == EX_AXIS_SCALAR)
            inputs[input->offset] = input->axis.rest;
        else
            memcpy(inputs + input->offset, input->axis.rest_rotation, sizeof input->axis.rest_rotation);
    }
}

ex_rig_mesh ex_rig_get_mesh(const ex_rig *rig) {
    const exi_rig_counts *c = &rig->counts;
    return (ex_rig_mesh){.vertex_count = c->vertices,
                         .split_count = c->splits,
                         .split_source = c->flags & EXI_RIG_SEAMS ? exi_rig_at(rig, rig->sources) : NULL,
                         .texcoords = c->flags & EXI_RIG_TEXCOORDS ? exi_rig_at(rig, rig->texcoords) : NULL,
                         .normals = c->flags & EXI_RIG_NORMALS ? exi_rig_at(rig, rig->normals) : NULL,
                         .face_count = c->faces,
                         .corner_count = c->corners,
                         .face_sizes = exi_rig_at(rig, rig->faces),
                         .corners = exi_rig_at(rig, rig->corners),
                         .triangle_count = c->triangles,
                         .triangles = exi_rig_at(rig, rig->triangles)};
}

void ex_rig_rest_mesh(const ex_rig *rig, float *positions) {
    exi_forms_get_base(exi_rig_forms(rig), positions);
}

void ex_rig_example_delta(const ex_rig *rig, int layer, int example, float *delta) {
    if (has_example(rig, layer, example, __func__))
        exi_forms_get_example(exi_rig_forms(rig), exi_rig_layers(rig)[layer].first_example + example, delta);
}

ex_storage ex_rig_storage(const ex_rig *rig) {
    return (ex_storage)exi_rig_forms(rig)->storage;
}

int ex_rig_note_count(const ex_rig *rig) {
    return rig->counts.notes;
}

ex_note ex_rig_note(const ex_rig *rig, int note) {
    if (note < 0 || note >= rig->counts.notes) {
        exi_misuse(__func__, "no such note");
        return (ex_note){.kind = ""};
    }
    const exi_note_record *record = &exi_rig_notes(rig)[note];
    return (ex_note){.kind = record->kind, .data = exi_rig_at(rig, record->data), .size = (size_t)record->size};
}

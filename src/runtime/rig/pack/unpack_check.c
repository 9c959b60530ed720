/*
 * Checks of a rig's tables from a file, after they are aligned in memory: names end and are readable, inputs and their
 * readings of joints are valid, layers match their weighers. Counts, sizes and the order of layers were checked before
 * (unpack_sections.c).
 */
#include "runtime/base/result.h"
#include "runtime/base/text.h"
#include "runtime/rig/domains/domain.h"

#include <math.h>
#include <string.h>

static bool sound_string(const ex_rig *rig, uint32_t offset, bool may_be_empty) {
    if (offset >= rig->counts.string_size)
        return false;
    return may_be_empty ? exi_is_text(exi_rig_string(rig, offset)) : exi_is_name(exi_rig_string(rig, offset));
}

static ex_result check_names(const ex_rig *rig, ex_error *error) {
    const exi_rig_counts *c = &rig->counts;
    const uint32_t *names = exi_rig_at(rig, rig->example_names);
    bool sound = c->string_size == 0 || exi_rig_string(rig, c->string_size - 1)[0] == 0;
    for (int i = 0; sound && i < c->examples; i++)
        sound = sound_string(rig, names[i], false);
    for (int i = 0; sound && i < c->layers; i++)
        sound = sound_string(rig, exi_rig_layers(rig)[i].name, false);
    for (int i = 0; sound && i < c->textures; i++)
        sound = sound_string(rig, exi_rig_textures(rig)[i].name, false);
    return sound ? EX_OK : exi_unpack_unsound(error, "names");
}

/* True if a dial has no reading and the right offset in a pose, or a joint's input a reading of its kind. */
static bool sound_source(const ex_rig *rig, const exi_input_record *input, const ex_axis *axis, int offset) {
    if (axis->kind == EX_AXIS_DRIVER)
        return rig->counts.drivers == 1 && input->joint == -1 && input->offset == -1 &&
               input->reading == EX_READING_NONE;
    if (input->joint == -1)
        return input->offset == offset && input->reading == EX_READING_NONE;
    if (input->joint < 0 || input->joint >= rig->counts.joints || input->offset != -1)
        return false;
    const ex_reading reading = exi_input_reading(input);
    return exi_reading_suits(&reading, axis);
}

static ex_result check_inputs(const ex_rig *rig, ex_error *error) {
    int64_t offset = 0;
    for (int i = 0; i < rig->counts.inputs; i++) {
        const exi_input_record *input = &exi_rig_inputs(rig)[i];
        if (!sound_string(rig, input->name, false) || !sound_string(rig, input->unit, true) ||
            !(input->axis.kind >= 0 && input->axis.kind < EX_AXIS_KIND_COUNT) ||
            input->axis.kind != floor(input->axis.kind))
            return exi_unpack_unsound(error, "inputs");
        const ex_axis axis = exi_axis_restore(&input->axis);
        if (exi_axis_check(&axis, i, NULL) != EX_OK || !sound_source(rig, input, &axis, (int)offset))
            return exi_unpack_unsound(error, "inputs");
        offset += input->offset >= 0 ? ex_axis_width(&axis) : 0;
    }
    return EX_OK;
}

static bool sound_layer_axes(const ex_rig *rig, const exi_layer_record *layer, const ex_weigher *weigher) {
    const int32_t *inputs = (const int32_t *)exi_rig_at(rig, rig->axis_inputs) + layer->first_axis;
    for (int i = 0; i < layer->axis_count; i++) {
        if (inputs[i] < 0 || inputs[i] >= rig->counts.inputs)
            return false;
        const double kind = exi_rig_inputs(rig)[inputs[i]].axis.kind, own = exi_axes(weigher)[i].kind;
        if ((kind == EX_AXIS_SCALAR) != (own == EX_AXIS_SCALAR) || (kind == EX_AXIS_DRIVER) != (own == EX_AXIS_DRIVER))
            return false;
    }
    return true;
}

static ex_result check_layers(const ex_rig *rig, ex_error *error) {
    for (int i = 0; i < rig->counts.layers; i++) {
        const exi_layer_record *layer = &exi_rig_layers(rig)[i];
        const ex_weigher *weigher = ex_rig_weigher(rig, i);
        ex_result result = exi_weigher_validate(weigher, (size_t)layer->weigher_size, error);
        if (result != EX_OK)
            return result;
        if (weigher->axis_count != layer->axis_count || weigher->example_count != layer->example_count ||
            !sound_layer_axes(rig, layer, weigher) ||
            ((layer->flags & EXI_LAYER_DRIVEN) != 0) != ex_weigher_get_info(weigher)->is_driven ||
            ((layer->flags & EXI_LAYER_PREDICTED) != 0) != ex_weigher_get_info(weigher)->is_predicted)
            return exi_unpack_unsound(error, "layers and their spaces");
    }
    return EX_OK;
}

/* Checks that the weighers have the sets that their layers' domains require. */
static ex_result check_sets(exi_making *m, const ex_rig *rig, ex_error *error) {
    for (int l = 0; l < rig->counts.layers; l++) {
        const exi_domain *domain = exi_domain_of(rig, l);
        ex_weigher_def own, asked = {.set_count = 0};
        ex_weigher_describe(ex_rig_weigher(rig, l), &own, NULL, NULL);
        if (domain->weigher)
            domain->weigher(m, l, &asked);
        const size_t size = (size_t)asked.set_count * exi_set_words(own.example_count) * sizeof(uint32_t);
        if (own.set_count != asked.set_count || (size > 0 && memcmp(own.sets, asked.sets, size) != 0))
            return exi_unpack_unsound(error, "layers and their sets of examples");
    }
    return EX_OK;
}

/* Checks that examples that move joints are complete forms, and their shifts finite. */
static ex_result check_shifts(const ex_rig *rig, ex_error *error) {
    const exi_layer_record *layer = exi_rig_layers(rig);
    for (int i = 0; i < rig->counts.shifts; i++) {
        const exi_shift_record *shift = &exi_rig_shifts(rig)[i];
        while (shift->example >= layer->first_example + layer->example_count)
            layer++;
        if (!exi_domains[layer->domain]->targets)
            return exi_unpack_unsound(error, "layers and joints");
        const float *values = exi_rig_at(rig, shift->data);
        for (size_t k = 0; k < 3 * (size_t)rig->counts.joints; k++)
            if (!isfinite(values[k]))
                return ex_error_set(error, EX_ERROR_DATA,
                                    "example %d of the rig: the position of joint %zu is not finite",
                                    shift->example + 1, k / 3);
    }
    return EX_OK;
}

ex_result exi_unpack_check(exi_making *m, const ex_rig *rig, ex_error *error) {
    ex_result result = check_names(rig, error);
    if (result == EX_OK)
        result = check_inputs(rig, error);
    if (result == EX_OK)
        result = check_layers(rig, error);
    if (result == EX_OK)
        result = check_shifts(rig, error);
    return result == EX_OK ? check_sets(m, rig, error) : result;
}

/*
 * Fills a new rig's block from its definition; domains fill the data of their layers (domains/).
 */
#include "runtime/base/result.h"
#include "runtime/rig/create.h"
#include "runtime/rig/domains/domain.h"

#include <string.h>

static void copy_table(ex_rig *rig, uint64_t offset, const void *source, size_t size) {
    if (size > 0 && source)
        memcpy(exi_rig_at_mut(rig, offset), source, size);
}

/* ---- inputs ---- */

static void set_source(exi_input_record *input, const ex_layer_def *layer, int place) {
    static const ex_axis_source dial = {.joint = -1};
    const ex_axis_source *source = layer->sources ? &layer->sources[place] : &dial;
    input->joint = source->joint;
    if (source->joint < 0)
        return;
    memcpy(input->about, source->reading.about, sizeof input->about);
    input->middle = source->reading.middle;
    input->slide_unit = source->reading.unit;
    input->reading = (int32_t)source->reading.kind;
    input->part = source->reading.part;
}

/* Some layers use different parts of one rotation: setting the input then sets the whole rotation. */
static void join_parts(const exi_rig_plan *p, exi_input_record *inputs) {
    for (int axis = 0; axis < p->axis_total; axis++) {
        int place = 0;
        const ex_layer_def *layer = exi_layer_of_axis(p->m.def, axis, &place);
        exi_input_record *input = &inputs[p->axis_inputs[axis]];
        if (input->joint < 0 || input->reading != EX_READING_ROTATION)
            continue;
        const ex_reading *reading = &layer->sources[place].reading;
        if (reading->part != input->part || memcmp(reading->about, input->about, sizeof input->about) != 0)
            input->part = EX_AXIS_ROTATION;
    }
}

static void fill_inputs(exi_rig_plan *p, ex_rig *rig) {
    exi_input_record *inputs = exi_rig_at_mut(rig, rig->inputs);
    for (int i = 0, offset = 0; i < rig->counts.inputs; i++) {
        int place = 0;
        const ex_layer_def *layer = exi_layer_of_axis(p->m.def, p->input_axes[i], &place);
        inputs[i].name = exi_making_add_string(&p->m, rig, layer->axis_names[place]);
        inputs[i].unit = exi_making_add_string(&p->m, rig, exi_unit_of_axis(layer, place));
        const bool driver = layer->weigh.axes[place].kind == EX_AXIS_DRIVER;
        const ex_axis axis = driver ? ex_axis_driver(1) : layer->weigh.axes[place];
        inputs[i].axis = exi_axis_store(&axis, false);
        set_source(&inputs[i], layer, place);
        const bool dial = inputs[i].joint < 0 && !driver;
        inputs[i].offset = dial ? offset : -1;
        offset += dial ? ex_axis_width(&axis) : 0;
    }
    join_parts(p, inputs);
    int32_t *axis_inputs = exi_rig_at_mut(rig, rig->axis_inputs);
    for (int i = 0; i < p->axis_total; i++)
        axis_inputs[i] = p->axis_inputs[i];
}

/* ---- layers ---- */

static void fill_layers(exi_rig_plan *p, ex_rig *rig) {
    exi_layer_record *layers = exi_rig_at_mut(rig, rig->layers);
    uint32_t *example_names = exi_rig_at_mut(rig, rig->example_names);
    for (int l = 0; l < p->m.def->layer_count; l++) {
        const ex_layer_def *layer = &p->m.def->layers[l];
        layers[l].name = exi_making_add_string(&p->m, rig, layer->name);
        for (int k = 0; k < layer->weigh.example_count; k++)
            *example_names++ = exi_making_add_string(&p->m, rig, layer->example_names[k]);
    }
}

static void fill_joints(exi_rig_plan *p, ex_rig *rig) {
    uint32_t *names = exi_rig_at_mut(rig, rig->joint_names);
    for (int j = 0; j < rig->counts.joints; j++)
        names[j] = exi_making_add_string(&p->m, rig, ex_skeleton_name(p->m.skeleton, j));
    exi_shift_record *shifts = exi_rig_at_mut(rig, rig->shifts);
    for (int l = 0, example = 0; l < p->m.def->layer_count; l++) {
        const ex_layer_def *layer = &p->m.def->layers[l];
        for (int k = 0; k < layer->weigh.example_count; k++, example++) {
            if (!exi_domains[layer->domain]->targets || !layer->form.shifts || !layer->form.shifts[k])
                continue;
            shifts->example = example;
            copy_table(rig, shifts->data, layer->form.shifts[k], (size_t)rig->counts.joints * 3 * sizeof(float));
            shifts++;
        }
    }
}

/* ---- mesh, levels, notes ---- */

static void fill_meshes(const exi_rig_plan *p, ex_rig *rig) {
    for (int i = 0; i <= rig->counts.levels; i++) {
        const ex_rig_mesh *mesh = exi_def_level(p->m.def, i);
        const exi_level_record *level = &exi_rig_levels(rig)[i];
        const size_t splits = (size_t)mesh->split_count;
        copy_table(rig, level->sources, mesh->split_source, splits * sizeof(uint32_t));
        copy_table(rig, level->face_sizes, mesh->face_sizes, (size_t)mesh->face_count * sizeof(uint32_t));
        copy_table(rig, level->corner_splits, mesh->corners, (size_t)mesh->corner_count * sizeof(uint32_t));
        copy_table(rig, level->triangle_splits, mesh->triangles, (size_t)mesh->triangle_count * 3 * sizeof(uint32_t));
        copy_table(rig, level->texcoords, mesh->texcoords, splits * 2 * sizeof(float));
    }
    copy_table(rig, rig->normals, p->m.def->mesh.normals, (size_t)rig->counts.splits * 3 * sizeof(float));
    exi_note_record *notes = exi_rig_at_mut(rig, rig->notes);
    for (int i = 0; i < p->m.def->note_count; i++) {
        memcpy(notes[i].kind, p->m.def->notes[i].kind, strlen(p->m.def->notes[i].kind));
        copy_table(rig, notes[i].data, p->m.def->notes[i].data, p->m.def->notes[i].size);
    }
}

ex_result exi_rig_fill(exi_rig_plan *p, ex_rig *rig, ex_error *error) {
    int bad = 0;
    fill_inputs(p, rig);
    fill_layers(p, rig);
    fill_meshes(p, rig);
    if (!exi_forms_set_base(exi_rig_at_mut(rig, rig->forms), p->m.def->mesh.positions, NULL, &bad))
        return ex_error_set(error, EX_ERROR_DATA, "the mesh: vertex %d is not finite", bad);
    ex_result result = exi_making_fill(&p->m, rig, error);
    fill_joints(p, rig);
    exi_rig_measure_pose(rig);
    return result;
}

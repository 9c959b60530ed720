/*
 * Filling a new rig's block from its definition. Layers are written l, examples k, vertices v: rest form(v) = mesh(v) +
 * sum_l mask_l(v) sum_k w_lk d_lk(v); masks are multiplied into d here, but for trajectories.
 */
#include "runtime/base/result.h"
#include "runtime/rig/create.h"

#include <string.h>

static void copy_table(ex_rig *rig, uint64_t offset, const void *source, size_t size) {
    if (size > 0 && source)
        memcpy(exi_rig_at_mut(rig, offset), source, size);
}

static uint32_t add_string(ex_rig *rig, uint32_t *cursor, const char *text) {
    uint32_t start = *cursor;
    size_t size = strlen(text) + 1;
    copy_table(rig, rig->strings + start, text, size);
    *cursor += (uint32_t)size;
    return start;
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

/* Layers that take different parts of one rotation: setting the input then sets all of it. */
static void join_parts(const exi_rig_plan *p, exi_input_record *inputs) {
    for (int axis = 0; axis < p->axis_total; axis++) {
        int place = 0;
        const ex_layer_def *layer = exi_layer_of_axis(p->def, axis, &place);
        exi_input_record *input = &inputs[p->axis_inputs[axis]];
        if (input->joint < 0 || input->reading != EX_READING_ROTATION)
            continue;
        const ex_reading *reading = &layer->sources[place].reading;
        if (reading->part != input->part || memcmp(reading->about, input->about, sizeof input->about) != 0)
            input->part = EX_AXIS_ROTATION;
    }
}

static void fill_inputs(const exi_rig_plan *p, ex_rig *rig, uint32_t *cursor) {
    exi_input_record *inputs = exi_rig_at_mut(rig, rig->inputs);
    for (int i = 0, offset = 0; i < rig->counts.inputs; i++) {
        int place = 0;
        const ex_layer_def *layer = exi_layer_of_axis(p->def, p->input_axes[i], &place);
        inputs[i].name = add_string(rig, cursor, layer->axis_names[place]);
        inputs[i].unit = add_string(rig, cursor, exi_unit_of_axis(layer, place));
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

static void fill_layers(const exi_rig_plan *p, ex_rig *rig, uint32_t *cursor) {
    exi_layer_record *layers = exi_rig_at_mut(rig, rig->layers);
    uint32_t *example_names = exi_rig_at_mut(rig, rig->example_names);
    int first_axis = 0, first_example = 0, first_form = 0;
    for (int l = 0; l < p->def->layer_count; l++) {
        const ex_layer_def *layer = &p->def->layers[l];
        const int examples = layer->weigh.example_count;
        layers[l].name = add_string(rig, cursor, layer->name);
        layers[l].axis_count = layer->weigh.axis_count;
        layers[l].example_count = examples;
        layers[l].first_axis = first_axis;
        layers[l].first_example = first_example;
        layers[l].domain = (int32_t)layer->domain;
        layers[l].first_form = first_form;
        layers[l].texture = p->layer_textures[l];
        layers[l].flags = layer->muted ? EXI_LAYER_MUTED : 0;
        layers[l].flags |= ex_weigher_kind_info(layer->weigh.kind)->is_driven ? EXI_LAYER_DRIVEN : 0;
        if (layer->domain == EX_DOMAIN_OFFSETS) {
            layers[l].frame = (int32_t)layer->offsets.frame;
            layers[l].flags |= layer->offsets.moved ? EXI_LAYER_MOVED : 0;
        }
        for (int k = 0; k < examples; k++)
            example_names[first_example + k] = add_string(rig, cursor, layer->example_names[k]);
        first_axis += layer->weigh.axis_count;
        first_example += examples;
        first_form += layer->domain == EX_DOMAIN_FORM ? examples : 0;
    }
}

/* A texture of colours is blended in linear light; what else a material has is data. */
static bool is_colour(const char *texture) {
    return strcmp(texture, "base_color") == 0 || strcmp(texture, "emissive") == 0;
}

static void fill_textures(const exi_rig_plan *p, ex_rig *rig, uint32_t *cursor) {
    exi_texture_record *textures = exi_rig_at_mut(rig, rig->textures);
    for (int i = 0; i < rig->counts.textures; i++) {
        const ex_layer_def *layer = &p->def->layers[p->texture_layers[i]];
        textures[i] = (exi_texture_record){.name = add_string(rig, cursor, layer->pixels.texture),
                                           .width = layer->pixels.width,
                                           .height = layer->pixels.height,
                                           .srgb = is_colour(layer->pixels.texture)};
    }
    const uint64_t *images = exi_rig_at(rig, rig->images);
    for (int l = 0, example = 0; l < p->def->layer_count; example += p->def->layers[l++].weigh.example_count)
        for (int k = 0; p->def->layers[l].domain == EX_DOMAIN_PIXELS && k < p->def->layers[l].weigh.example_count; k++)
            copy_table(rig, images[example + k], p->def->layers[l].pixels.images[k], p->image_sizes[example + k]);
}

static void fill_joints(const exi_rig_plan *p, ex_rig *rig, uint32_t *cursor) {
    uint32_t *names = exi_rig_at_mut(rig, rig->joint_names);
    for (int j = 0; j < rig->counts.joints; j++)
        names[j] = add_string(rig, cursor, ex_skeleton_name(p->skeleton, j));
    exi_shift_record *shifts = exi_rig_at_mut(rig, rig->shifts);
    for (int l = 0, example = 0; l < p->def->layer_count; l++) {
        const ex_layer_def *layer = &p->def->layers[l];
        for (int k = 0; k < layer->weigh.example_count; k++, example++) {
            if (!exi_has_targets((int32_t)layer->domain) || !layer->form.shifts || !layer->form.shifts[k])
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
        const ex_rig_mesh *mesh = exi_def_level(p->def, i);
        const exi_level_record *level = &exi_rig_levels(rig)[i];
        const size_t splits = (size_t)mesh->split_count;
        copy_table(rig, level->sources, mesh->split_source, splits * sizeof(uint32_t));
        copy_table(rig, level->face_sizes, mesh->face_sizes, (size_t)mesh->face_count * sizeof(uint32_t));
        copy_table(rig, level->corner_splits, mesh->corners, (size_t)mesh->corner_count * sizeof(uint32_t));
        copy_table(rig, level->triangle_splits, mesh->triangles, (size_t)mesh->triangle_count * 3 * sizeof(uint32_t));
        copy_table(rig, level->texcoords, mesh->texcoords, splits * 2 * sizeof(float));
    }
    copy_table(rig, rig->normals, p->def->mesh.normals, (size_t)rig->counts.splits * 3 * sizeof(float));
    exi_note_record *notes = exi_rig_at_mut(rig, rig->notes);
    for (int i = 0; i < p->def->note_count; i++) {
        memcpy(notes[i].kind, p->def->notes[i].kind, strlen(p->def->notes[i].kind));
        copy_table(rig, notes[i].data, p->def->notes[i].data, p->def->notes[i].size);
    }
}

static ex_result fill_forms(const exi_rig_plan *p, ex_rig *rig, ex_error *error) {
    ex_forms *forms = exi_rig_at_mut(rig, rig->forms);
    int bad = 0, form = 0;
    if (!exi_forms_set_base(forms, p->def->mesh.positions, NULL, &bad))
        return exi_error(error, EX_ERROR_DATA, "the mesh: vertex %d is not finite", bad);
    for (int l = 0; l < p->def->layer_count; l++) {
        const ex_layer_def *layer = &p->def->layers[l];
        for (int k = 0; layer->domain == EX_DOMAIN_FORM && k < layer->weigh.example_count; k++)
            if (!exi_forms_set_example(forms, form++, layer->form.deltas[k], NULL, layer->mask, &bad))
                return exi_error(error, EX_ERROR_DATA,
                                 "layer '%s', example '%s': vertex %d is not finite, or too far away for a float",
                                 layer->name, layer->example_names[k], bad);
    }
    return EX_OK;
}

static ex_result fill_paths(const exi_rig_plan *p, ex_rig *rig, ex_error *error) {
    for (int l = 0; p->paths.layers && l < p->def->layer_count; l++) {
        const ex_layer_def *layer = &p->def->layers[l];
        if (!p->paths.layers[l])
            continue;
        exi_paths *paths = exi_rig_at_mut(rig, ((const uint64_t *)exi_rig_at(rig, rig->paths))[l]);
        for (int k = 0; k < layer->weigh.example_count; k++) {
            const exi_path_numbers numbers = {.turns = layer->trajectory.examples[k].turns,
                                              .correctors = layer->trajectory.examples[k].correctors,
                                              .delta = layer->form.deltas[k]};
            ex_result result =
                exi_paths_fill(paths, exi_rig_at_mut(rig, rig->forms), k, &numbers, p->paths.room, error);
            if (result != EX_OK)
                return exi_error_within(error, result, "layer '%s', example '%s'", layer->name,
                                        layer->example_names[k]);
        }
    }
    return EX_OK;
}

ex_result exi_rig_fill(const exi_rig_plan *p, ex_rig *rig, ex_error *error) {
    uint32_t cursor = 0;
    fill_inputs(p, rig, &cursor);
    fill_layers(p, rig, &cursor);
    fill_textures(p, rig, &cursor);
    fill_joints(p, rig, &cursor);
    fill_meshes(p, rig);
    exi_rig_offsets_fill(&p->offsets, rig);
    exi_rig_measure_pose(rig);
    exi_rig_paths_measure(rig);
    exi_rig_displacements_measure(rig);
    ex_result result = fill_forms(p, rig, error);
    return result == EX_OK ? fill_paths(p, rig, error) : result;
}

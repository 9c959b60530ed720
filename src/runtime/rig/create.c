/*
 * Making a rig from arrays: layers are checked and solved, their axes merged into inputs, everything copied into one
 * block. Layers are written l, examples k, vertices v: rest form(v) = mesh(v) + sum_l mask_l(v) sum_k w_lk d_lk(v);
 * masks are multiplied into d here.
 */
#include "runtime/base/memory.h"
#include "runtime/base/result.h"
#include "runtime/base/text.h"
#include "runtime/rig/rig.h"

#include <string.h>

ex_rig_def ex_rig_def_default(void) {
    return (ex_rig_def){.storage = EX_STORAGE_FLOAT};
}

/* What is gathered before the block's size is known. */
typedef struct plan {
    const ex_rig_def *def;
    const ex_allocator *allocator;
    exi_rig_counts counts;
    int axis_total;
    ex_weigher **weighers; /* [layers] */
    size_t *weigher_sizes; /* [layers] */
    size_t *note_sizes;    /* [notes] */
    int *axis_inputs;      /* [axes]: which input an axis reads */
    int *input_axes;       /* [axes]: the axis that introduced an input, over all layers */
    void *memory;
    size_t size;
} plan;

/* ---- checks ---- */

static ex_result check_names(const char *const *names, int count, const char *what, ex_error *error) {
    for (int i = 0; i < count; i++) {
        if (!names || !names[i] || !exi_is_name(names[i]))
            return exi_error(error, EX_ERROR_ARGUMENT,
                             "%s %d needs a name: readable text of at most %d bytes, without control characters", what,
                             i, EXI_NAME_MAX);
        for (int j = 0; j < i; j++)
            if (strcmp(names[i], names[j]) == 0)
                return exi_error(error, EX_ERROR_ARGUMENT, "%s '%s' is there twice", what, names[i]);
    }
    return EX_OK;
}

static ex_result check_layer(const ex_layer_def *layer, int vertex_count, ex_error *error) {
    if (layer->weigh.axis_count < 1 || layer->weigh.example_count < 1)
        return exi_error(error, EX_ERROR_ARGUMENT, "a space needs at least one axis and at least one example");
    ex_result result = check_names(layer->axis_names, layer->weigh.axis_count, "axis", error);
    if (result == EX_OK)
        result = check_names(layer->example_names, layer->weigh.example_count, "example", error);
    if (result != EX_OK)
        return result;
    for (int i = 0; layer->weigh.axes && i < layer->weigh.axis_count; i++) {
        result = exi_axis_check(&layer->weigh.axes[i], i, error);
        if (result != EX_OK)
            return exi_error_within(error, result, "'%s'", layer->axis_names[i]);
    }
    for (int k = 0; k < layer->weigh.example_count; k++)
        if (!layer->deltas || !layer->deltas[k])
            return exi_error(error, EX_ERROR_ARGUMENT, "example '%s' has no form", layer->example_names[k]);
    for (int v = 0; layer->mask && v < vertex_count; v++)
        if (!(layer->mask[v] >= 0 && layer->mask[v] <= 1))
            return exi_error(error, EX_ERROR_DATA, "the mask at vertex %d is %g, outside [0, 1]", v,
                             (double)layer->mask[v]);
    return EX_OK;
}

static ex_result check_def(const ex_rig_def *def, ex_error *error) {
    if (!def->mesh.positions || def->layer_count < 0 || def->note_count < 0 || (def->layer_count > 0 && !def->layers) ||
        (def->note_count > 0 && !def->notes) || (unsigned)def->storage >= EX_STORAGE_COUNT)
        return exi_error(error, EX_ERROR_ARGUMENT, "the rig has no positions, or a count or storage that cannot be");
    if ((def->mesh.face_count > 0 && (!def->mesh.face_sizes || !def->mesh.corners)) ||
        (def->mesh.triangle_count > 0 && !def->mesh.triangles))
        return exi_error(error, EX_ERROR_ARGUMENT, "the mesh has faces or triangles, but not their corners");
    ex_result result = exi_rig_check_mesh(&def->mesh, error);
    for (int l = 0; result == EX_OK && l < def->layer_count; l++) {
        const ex_layer_def *layer = &def->layers[l];
        if (!layer->name || !exi_is_name(layer->name))
            return exi_error(error, EX_ERROR_ARGUMENT, "layer %d needs a name", l);
        for (int other = 0; other < l; other++)
            if (strcmp(layer->name, def->layers[other].name) == 0)
                return exi_error(error, EX_ERROR_ARGUMENT, "layer '%s' is there twice", layer->name);
        result = exi_error_within(error, check_layer(layer, def->mesh.vertex_count, error), "layer '%s'", layer->name);
    }
    for (int i = 0; result == EX_OK && i < def->note_count; i++)
        if (!def->notes[i].kind || strlen(def->notes[i].kind) >= EX_NOTE_KIND_SIZE ||
            !exi_is_name(def->notes[i].kind) || (def->notes[i].size > 0 && !def->notes[i].data))
            result = exi_error(error, EX_ERROR_ARGUMENT, "note %d needs a kind of at most %d characters, and data", i,
                               EX_NOTE_KIND_SIZE - 1);
    return result;
}

/* ---- the plan ---- */

static ex_result open_plan(plan *p, const ex_rig_def *def, const ex_allocator *allocator, ex_error *error) {
    *p = (plan){.def = def, .allocator = allocator};
    int64_t axes = 0, examples = 0;
    for (int l = 0; l < def->layer_count; l++) {
        axes += def->layers[l].weigh.axis_count;
        examples += def->layers[l].weigh.example_count;
    }
    if (axes > EXI_TABLE_MAX || examples > EXI_TABLE_MAX || def->layer_count > EXI_TABLE_MAX ||
        def->note_count > EXI_TABLE_MAX)
        return exi_error(error, EX_ERROR_LIMIT, "a rig has at most %d examples, axes, layers or notes", EXI_TABLE_MAX);
    size_t layers = (size_t)def->layer_count, notes = (size_t)def->note_count;
    exi_size total = {0};
    size_t weighers = exi_size_add(&total, layers, sizeof(ex_weigher *), 8);
    size_t weigher_sizes = exi_size_add(&total, layers, sizeof(size_t), 8);
    size_t note_sizes = exi_size_add(&total, notes, sizeof(size_t), 8);
    size_t axis_inputs = exi_size_add(&total, (size_t)axes, sizeof(int), 8);
    size_t input_axes = exi_size_add(&total, (size_t)axes, sizeof(int), 8);
    char *memory = total.overflow ? NULL : exi_allocate(allocator, total.bytes);
    if (!memory)
        return exi_error_memory(error, "making a rig", total.bytes);
    memset(memory, 0, total.bytes);
    p->memory = memory;
    p->size = total.bytes;
    p->weighers = (ex_weigher **)(void *)(memory + weighers);
    p->weigher_sizes = (size_t *)(void *)(memory + weigher_sizes);
    p->note_sizes = (size_t *)(void *)(memory + note_sizes);
    p->axis_inputs = (int *)(void *)(memory + axis_inputs);
    p->input_axes = (int *)(void *)(memory + input_axes);
    p->axis_total = (int)axes;
    p->counts.examples = (int32_t)examples;
    return EX_OK;
}

static void close_plan(plan *p) {
    for (int l = 0; p->memory && l < p->def->layer_count; l++)
        ex_weigher_destroy(p->weighers[l]);
    exi_release(p->allocator, p->memory, p->size);
}

static ex_result solve_layers(plan *p, ex_error *error) {
    for (int l = 0; l < p->def->layer_count; l++) {
        const ex_layer_def *layer = &p->def->layers[l];
        ex_weigher_def weigh = layer->weigh;
        weigh.names = layer->example_names;
        ex_result result = ex_weigher_create(&weigh, p->allocator, &p->weighers[l], error);
        if (result != EX_OK)
            return exi_error_within(error, result, "layer '%s'", layer->name);
        p->weigher_sizes[l] = (size_t)p->weighers[l]->size;
    }
    return EX_OK;
}

/* Layer and place within it of the axis with this number over all layers. */
static const ex_layer_def *layer_of_axis(const ex_rig_def *def, int axis, int *place) {
    const ex_layer_def *layer = def->layers;
    while (axis >= layer->weigh.axis_count)
        axis -= layer++->weigh.axis_count;
    *place = axis;
    return layer;
}

/* The same name in two layers is one input. */
static ex_result merge_axes(plan *p, ex_error *error) {
    const ex_rig_def *def = p->def;
    for (int axis = 0; axis < p->axis_total; axis++) {
        int place = 0, input = 0;
        const ex_layer_def *layer = layer_of_axis(def, axis, &place);
        for (; input < p->counts.inputs; input++) {
            int other_place = 0;
            const ex_layer_def *other = layer_of_axis(def, p->input_axes[input], &other_place);
            if (strcmp(layer->axis_names[place], other->axis_names[other_place]) != 0)
                continue;
            if (!exi_axis_is_same_input(&layer->weigh.axes[place], &other->weigh.axes[other_place]))
                return exi_error(error, EX_ERROR_DATA,
                                 "axis '%s' has another kind or rest value in layer '%s' than in layer '%s': one input "
                                 "needs one of each",
                                 layer->axis_names[place], layer->name, other->name);
            break;
        }
        if (input == p->counts.inputs)
            p->input_axes[p->counts.inputs++] = axis;
        p->axis_inputs[axis] = input;
    }
    return EX_OK;
}

static const char *unit_of(const ex_layer_def *layer, int axis) {
    return layer->axis_units && layer->axis_units[axis] ? layer->axis_units[axis] : "";
}

static ex_result count_all(plan *p, ex_error *error) {
    const ex_rig_def *def = p->def;
    const ex_rig_mesh *mesh = &def->mesh;
    p->counts.vertices = mesh->vertex_count;
    p->counts.splits = mesh->split_count;
    p->counts.faces = mesh->face_count;
    p->counts.corners = mesh->corner_count;
    p->counts.triangles = mesh->triangle_count;
    p->counts.layers = def->layer_count;
    p->counts.axes = p->axis_total;
    p->counts.notes = def->note_count;
    p->counts.flags = (mesh->split_source ? EXI_RIG_SEAMS : 0u) | (mesh->texcoords ? EXI_RIG_TEXCOORDS : 0u) |
                      (mesh->normals ? EXI_RIG_NORMALS : 0u);
    uint64_t strings = 0;
    for (int i = 0; i < p->counts.inputs; i++) {
        int place = 0;
        const ex_layer_def *layer = layer_of_axis(def, p->input_axes[i], &place);
        strings += strlen(layer->axis_names[place]) + strlen(unit_of(layer, place)) + 2;
        if (!exi_is_text(unit_of(layer, place)))
            return exi_error(error, EX_ERROR_ARGUMENT, "the unit of axis '%s' is not readable text",
                             layer->axis_names[place]);
    }
    for (int l = 0; l < def->layer_count; l++) {
        strings += strlen(def->layers[l].name) + 1;
        for (int k = 0; k < def->layers[l].weigh.example_count; k++)
            strings += strlen(def->layers[l].example_names[k]) + 1;
    }
    if (strings > INT32_MAX)
        return exi_error(error, EX_ERROR_LIMIT, "the names are longer than 2 GB");
    p->counts.string_size = (uint32_t)strings;
    for (int i = 0; i < def->note_count; i++)
        p->note_sizes[i] = def->notes[i].size;
    return EX_OK;
}

/* ---- filling the block ---- */

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

static void fill_names(const plan *p, ex_rig *rig) {
    uint32_t cursor = 0;
    exi_input_record *inputs = exi_rig_at_mut(rig, rig->inputs);
    for (int i = 0, offset = 0; i < p->counts.inputs; i++) {
        int place = 0;
        const ex_layer_def *layer = layer_of_axis(p->def, p->input_axes[i], &place);
        inputs[i].name = add_string(rig, &cursor, layer->axis_names[place]);
        inputs[i].unit = add_string(rig, &cursor, unit_of(layer, place));
        inputs[i].offset = offset;
        inputs[i].axis = exi_axis_store(&layer->weigh.axes[place], false);
        offset += ex_axis_width(&layer->weigh.axes[place]);
    }
    exi_layer_record *layers = exi_rig_at_mut(rig, rig->layers);
    uint32_t *example_names = exi_rig_at_mut(rig, rig->example_names);
    int first_axis = 0, first_example = 0;
    for (int l = 0; l < p->def->layer_count; l++) {
        const ex_layer_def *layer = &p->def->layers[l];
        layers[l].name = add_string(rig, &cursor, layer->name);
        layers[l].axis_count = layer->weigh.axis_count;
        layers[l].example_count = layer->weigh.example_count;
        layers[l].first_axis = first_axis;
        layers[l].first_example = first_example;
        for (int k = 0; k < layer->weigh.example_count; k++)
            example_names[first_example + k] = add_string(rig, &cursor, layer->example_names[k]);
        copy_table(rig, layers[l].weigher, p->weighers[l], p->weigher_sizes[l]);
        first_axis += layer->weigh.axis_count;
        first_example += layer->weigh.example_count;
    }
    int32_t *axis_inputs = exi_rig_at_mut(rig, rig->axis_inputs);
    for (int i = 0; i < p->axis_total; i++)
        axis_inputs[i] = p->axis_inputs[i];
}

static void fill_mesh(const plan *p, ex_rig *rig) {
    const ex_rig_mesh *mesh = &p->def->mesh;
    const size_t splits = (size_t)mesh->split_count;
    copy_table(rig, rig->sources, mesh->split_source, splits * sizeof(uint32_t));
    copy_table(rig, rig->faces, mesh->face_sizes, (size_t)mesh->face_count * sizeof(uint32_t));
    copy_table(rig, rig->corners, mesh->corners, (size_t)mesh->corner_count * sizeof(uint32_t));
    copy_table(rig, rig->triangles, mesh->triangles, (size_t)mesh->triangle_count * 3 * sizeof(uint32_t));
    copy_table(rig, rig->texcoords, mesh->texcoords, splits * 2 * sizeof(float));
    copy_table(rig, rig->normals, mesh->normals, splits * 3 * sizeof(float));
    exi_note_record *notes = exi_rig_at_mut(rig, rig->notes);
    for (int i = 0; i < p->def->note_count; i++) {
        memcpy(notes[i].kind, p->def->notes[i].kind, strlen(p->def->notes[i].kind));
        copy_table(rig, notes[i].data, p->def->notes[i].data, p->def->notes[i].size);
    }
}

static ex_result fill_forms(const plan *p, ex_rig *rig, ex_error *error) {
    ex_forms *forms = exi_rig_at_mut(rig, rig->forms);
    int bad = 0, example = 0;
    if (!exi_forms_set_base(forms, p->def->mesh.positions, NULL, &bad))
        return exi_error(error, EX_ERROR_DATA, "the mesh: vertex %d is not finite", bad);
    for (int l = 0; l < p->def->layer_count; l++) {
        const ex_layer_def *layer = &p->def->layers[l];
        for (int k = 0; k < layer->weigh.example_count; k++)
            if (!exi_forms_set_example(forms, example++, layer->deltas[k], NULL, layer->mask, &bad))
                return exi_error(error, EX_ERROR_DATA,
                                 "layer '%s', example '%s': vertex %d is not finite, or too far away for a float",
                                 layer->name, layer->example_names[k], bad);
    }
    return EX_OK;
}

ex_result ex_rig_create(const ex_rig_def *def, const ex_allocator *allocator, ex_rig **rig, ex_error *error) {
    if (!def || !rig)
        return exi_misuse_error(error, __func__, "no definition, or nowhere to put the rig");
    *rig = NULL;
    ex_error local = {0};
    error = error ? error : &local;
    ex_result result = check_def(def, error);
    if (result != EX_OK)
        return result;
    plan p;
    result = open_plan(&p, def, allocator, error);
    if (result == EX_OK)
        result = solve_layers(&p, error);
    if (result == EX_OK)
        result = merge_axes(&p, error);
    if (result == EX_OK)
        result = count_all(&p, error);
    ex_rig *made = NULL;
    if (result == EX_OK)
        result = exi_rig_allocate(&p.counts, def->storage, p.weigher_sizes, p.note_sizes, allocator, &made, error);
    if (result == EX_OK) {
        fill_names(&p, made);
        fill_mesh(&p, made);
        exi_rig_measure_pose(made);
        result = fill_forms(&p, made, error);
    }
    close_plan(&p);
    if (result == EX_OK)
        *rig = made;
    else
        ex_rig_destroy(made);
    return result;
}

void ex_rig_destroy(ex_rig *rig) {
    exi_block_destroy(rig);
}

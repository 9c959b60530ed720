/*
 * Making a rig from arrays: layers are checked and solved, their axes merged into inputs and their textures by name,
 * skeleton, skin and levels taken over, everything copied into one block (create_check.c, create_fill.c).
 */
#include "runtime/rig/create.h"

#include "runtime/base/memory.h"
#include "runtime/base/result.h"
#include "runtime/base/text.h"
#include "runtime/rig/drive/drive.h"

#include <math.h>
#include <string.h>

ex_rig_def ex_rig_def_default(void) {
    return (ex_rig_def){.skinning = EX_SKINNING_LINEAR};
}

bool exi_reading_suits(const ex_reading *reading, const ex_axis *axis) {
    double length = 0;
    for (int c = 0; c < 3; c++)
        length += reading->about[c] * reading->about[c];
    const bool directed = isfinite(length) && length > 0;
    const bool turns = reading->part >= EX_AXIS_ROTATION && reading->part <= EX_AXIS_TWIST;
    switch (reading->kind) {
    case EX_READING_ANGLE:
    case EX_READING_STRETCH:
        return axis->kind == EX_AXIS_SCALAR && directed && isfinite(reading->middle);
    case EX_READING_SLIDE:
        return axis->kind == EX_AXIS_SCALAR && directed && reading->unit >= 0 && isfinite(reading->unit);
    case EX_READING_ROTATION:
        return axis->kind != EX_AXIS_SCALAR && turns && (directed || reading->part == EX_AXIS_ROTATION);
    default:
        return false;
    }
}

const ex_layer_def *exi_layer_of_axis(const ex_rig_def *def, int axis, int *place) {
    const ex_layer_def *layer = def->layers;
    while (axis >= layer->weigh.axis_count)
        axis -= layer++->weigh.axis_count;
    *place = axis;
    return layer;
}

const char *exi_unit_of_axis(const ex_layer_def *layer, int axis) {
    return layer->axis_units && layer->axis_units[axis] ? layer->axis_units[axis] : "";
}

const ex_rig_mesh *exi_def_level(const ex_rig_def *def, int level) {
    return level == 0 ? &def->mesh : &def->levels[level - 1];
}

/* ---- the plan ---- */

static ex_result count_tables(exi_rig_plan *p, ex_error *error) {
    const ex_rig_def *def = p->def;
    exi_rig_counts *c = &p->contents.counts;
    int64_t axes = 0, examples = 0, forms = 0, offsets = 0, trajectories = 0, displacements = 0, shifts = 0;
    for (int l = 0; l < def->layer_count; l++) {
        const ex_layer_def *layer = &def->layers[l];
        axes += layer->weigh.axis_count;
        examples += layer->weigh.example_count;
        forms += layer->domain == EX_DOMAIN_FORM ? layer->weigh.example_count : 0;
        offsets += layer->domain == EX_DOMAIN_OFFSETS ? layer->weigh.example_count : 0;
        trajectories += layer->domain == EX_DOMAIN_TRAJECTORY ? layer->weigh.example_count : 0;
        displacements += layer->domain == EX_DOMAIN_DISPLACEMENT ? layer->weigh.example_count : 0;
        for (int k = 0; exi_has_targets((int32_t)layer->domain) && layer->form.shifts && k < layer->weigh.example_count;
             k++)
            shifts += layer->form.shifts[k] != NULL;
    }
    if (axes > EXI_TABLE_MAX || examples > EXI_TABLE_MAX || def->layer_count > EXI_TABLE_MAX ||
        def->note_count > EXI_TABLE_MAX)
        return exi_error(error, EX_ERROR_LIMIT, "a rig has at most %d examples, axes, layers or notes", EXI_TABLE_MAX);
    p->axis_total = (int)axes;
    c->examples = (int32_t)examples;
    c->forms = (int32_t)forms;
    c->offsets = (int32_t)offsets;
    c->trajectories = (int32_t)trajectories;
    c->displacements = (int32_t)displacements;
    c->vertices = def->mesh.vertex_count;
    c->shifts = (int32_t)shifts;
    c->layers = def->layer_count;
    c->axes = (int32_t)axes;
    c->notes = def->note_count;
    const bool refined = def->stencils && !def->options.without_levels;
    p->level_total = refined ? ex_stencils_level_count(def->stencils) : 0;
    c->levels = p->level_total;
    c->level = refined ? def->level : 0;
    c->refinement = def->stencils ? EXI_REFINED : 0; /* also where its levels are left out: then it cannot be packed */
    if (refined && ex_stencils_on_limit(def->stencils))
        c->level = c->level == EX_LEVEL_LIMIT ? c->levels : c->level; /* one and the same */
    else if (refined && ex_stencils_has(def->stencils, EX_LEVEL_LIMIT))
        c->refinement |= EXI_REFINED_LIMIT;
    c->drivers = def->driver != NULL;
    for (int l = 0; l < def->layer_count; l++)
        c->driver_keys +=
            ex_weigher_kind_info(def->layers[l].weigh.kind)->is_driven ? def->layers[l].weigh.example_count : 0;
    c->joints = def->skeleton ? ex_skeleton_joint_count(def->skeleton) : 0;
    c->skinning = (int32_t)def->skinning;
    c->skin_sets = def->skin ? (ex_skin_get_info(def->skin).influence_most + 3) / 4 : 0;
    return EX_OK;
}

static ex_result open_plan(exi_rig_plan *p, const ex_rig_def *def, const ex_allocator *allocator, ex_error *error) {
    *p = (exi_rig_plan){.def = def, .allocator = allocator};
    ex_result result = count_tables(p, error);
    if (result != EX_OK)
        return result;
    const size_t layers = (size_t)def->layer_count, axes = (size_t)p->axis_total, levels = (size_t)p->level_total + 1;
    exi_size total = {0};
    size_t weighers = exi_size_add(&total, layers, sizeof *p->weighers, 8);
    size_t weigher_sizes = exi_size_add(&total, layers, sizeof(size_t), 8);
    size_t note_sizes = exi_size_add(&total, (size_t)def->note_count, sizeof(size_t), 8);
    size_t image_sizes = exi_size_add(&total, (size_t)p->contents.counts.examples, sizeof(size_t), 8);
    size_t level_records = exi_size_add(&total, levels, sizeof(exi_level_record), 8);
    size_t normals = exi_size_add(&total, levels, sizeof *p->normals, 8);
    size_t tangents = exi_size_add(&total, levels, sizeof *p->tangents, 8);
    size_t axis_inputs = exi_size_add(&total, axes, sizeof(int), 8);
    size_t input_axes = exi_size_add(&total, axes, sizeof(int), 8);
    size_t texture_layers = exi_size_add(&total, layers, sizeof(int), 8);
    size_t layer_textures = exi_size_add(&total, layers, sizeof(int), 8);
    char *memory = total.overflow ? NULL : exi_allocate(allocator, total.bytes);
    if (!memory)
        return exi_error_memory(error, "making a rig", total.bytes);
    memset(memory, 0, total.bytes);
    p->memory = memory;
    p->size = total.bytes;
    p->weighers = (ex_weigher **)(void *)(memory + weighers);
    p->weigher_sizes = (size_t *)(void *)(memory + weigher_sizes);
    p->note_sizes = (size_t *)(void *)(memory + note_sizes);
    p->image_sizes = (size_t *)(void *)(memory + image_sizes);
    p->levels = (exi_level_record *)(void *)(memory + level_records);
    p->normals = (ex_normals **)(void *)(memory + normals);
    p->tangents = (ex_tangents **)(void *)(memory + tangents);
    p->axis_inputs = (int *)(void *)(memory + axis_inputs);
    p->input_axes = (int *)(void *)(memory + input_axes);
    p->texture_layers = (int *)(void *)(memory + texture_layers);
    p->layer_textures = (int *)(void *)(memory + layer_textures);
    return EX_OK;
}

static void close_plan(exi_rig_plan *p) {
    for (int l = 0; p->memory && l < p->def->layer_count; l++)
        ex_weigher_destroy(p->weighers[l]);
    for (int i = 0; p->memory && i <= p->level_total; i++) {
        ex_normals_destroy(p->normals[i]);
        ex_tangents_destroy(p->tangents[i]);
    }
    ex_skeleton_destroy(p->skeleton);
    exi_rig_offsets_close(&p->offsets);
    exi_rig_paths_close(&p->paths);
    exi_rig_displacements_close(&p->displacements);
    exi_release(p->allocator, p->memory, p->size);
}

/* Which examples move which vertices: what a weigher with sets is solved for. */
static ex_result find_sets(exi_rig_plan *p, ex_error *error) {
    ex_result result = exi_rig_offsets_open(&p->offsets, p->def->layer_count, p->allocator, error);
    for (int l = 0; result == EX_OK && l < p->def->layer_count; l++) {
        const ex_layer_def *layer = &p->def->layers[l];
        if (layer->domain == EX_DOMAIN_OFFSETS)
            p->offsets.layers[l] = (exi_offset_layer){.examples = layer->offsets.examples,
                                                      .example_count = layer->weigh.example_count,
                                                      .names = layer->example_names,
                                                      .mask = layer->mask,
                                                      .moved = layer->offsets.moved,
                                                      .part = (int)layer->offsets.frame};
    }
    if (result != EX_OK)
        return result;
    result = exi_rig_offsets_find_sets(&p->offsets, p->def->mesh.vertex_count, error);
    return p->def->layer_count == 0 ? result
                                    : exi_error_within(error, result, "layer '%s'", p->def->layers[p->offsets.at].name);
}

static ex_result lay_paths(exi_rig_plan *p, ex_error *error) {
    const ex_rig_def *def = p->def;
    ex_result result = exi_rig_paths_open(&p->paths, &p->contents.counts, p->allocator, error);
    for (int l = 0; result == EX_OK && l < def->layer_count; l++) {
        const ex_layer_def *layer = &def->layers[l];
        if (layer->domain != EX_DOMAIN_TRAJECTORY)
            continue;
        exi_paths_def paths = {.vertex_count = def->mesh.vertex_count,
                               .example_count = layer->weigh.example_count,
                               .storage = def->options.storage,
                               .trajectories = layer->trajectory.examples,
                               .names = layer->example_names,
                               .reference = layer->trajectory.reference,
                               .overlaps = layer->trajectory.overlaps,
                               .mask = layer->mask,
                               .segments = layer->trajectory.segments};
        memcpy(paths.centre, layer->trajectory.centre, sizeof paths.centre);
        result = exi_rig_paths_add(&p->paths, l, &paths, p->contents.counts.forms, error);
        result = exi_error_within(error, result, "layer '%s'", layer->name);
    }
    return result;
}

static ex_result lay_displacements(exi_rig_plan *p, ex_error *error) {
    const ex_rig_def *def = p->def;
    ex_result result = exi_rig_displacements_open(&p->displacements, &p->contents.counts, p->allocator, error);
    for (int l = 0; p->displacements.layers && result == EX_OK && l < def->layer_count; l++) {
        const ex_layer_def *layer = &def->layers[l];
        if (layer->domain != EX_DOMAIN_DISPLACEMENT)
            continue;
        result = exi_rig_displacements_add(&p->displacements, l, layer, def->levels[p->level_total - 1].vertex_count,
                                           def->options.storage, error);
        result = exi_error_within(error, result, "layer '%s'", layer->name);
    }
    return result;
}

/* The weigher of a layer that the driver weighs: its points are products with the keys. */
static ex_result solve_driven(exi_rig_plan *p, int layer, ex_error *error) {
    ex_weigher_def weigh = p->def->layers[layer].weigh;
    ex_axis axes[2];
    const size_t n = (size_t)weigh.example_count, size = n * (n + (size_t)weigh.axis_count - 1) * sizeof(double);
    for (int i = 0; i < weigh.axis_count; i++)
        axes[i] = weigh.axes[i].kind == EX_AXIS_DRIVER ? ex_axis_driver((int)n) : weigh.axes[i];
    double *points = exi_allocate(p->allocator, size);
    if (!points)
        return exi_error_memory(error, "the driver's keys", size);
    ex_result result = exi_drive_points(p->def, layer, p->allocator, points, error);
    weigh.axes = axes;
    weigh.points = points;
    weigh.names = p->def->layers[layer].example_names;
    if (result == EX_OK)
        result = ex_weigher_create(&weigh, p->allocator, &p->weighers[layer], error);
    exi_release(p->allocator, points, size);
    return result;
}

static ex_result solve_layers(exi_rig_plan *p, ex_error *error) {
    for (int l = 0; l < p->def->layer_count; l++) {
        const ex_layer_def *layer = &p->def->layers[l];
        ex_weigher_def weigh = layer->weigh;
        weigh.names = layer->example_names;
        weigh.set_count = layer->domain == EX_DOMAIN_OFFSETS && layer->offsets.moved ? p->offsets.sets[l].set_count : 0;
        weigh.sets = weigh.set_count > 0 ? exi_rig_offsets_bits(&p->offsets, l) : NULL;
        ex_result result = ex_weigher_kind_info(weigh.kind)->is_driven
                               ? solve_driven(p, l, error)
                               : ex_weigher_create(&weigh, p->allocator, &p->weighers[l], error);
        if (result != EX_OK)
            return exi_error_within(error, result, "layer '%s'", layer->name);
        p->weigher_sizes[l] = exi_part_size(p->weighers[l]);
    }
    return EX_OK;
}

/* ---- what layers share ---- */

static bool same_source(const ex_layer_def *a, int axis_a, const ex_layer_def *b, int axis_b) {
    static const ex_axis_source dial = {.joint = -1};
    const ex_axis_source *s = a->sources ? &a->sources[axis_a] : &dial, *t = b->sources ? &b->sources[axis_b] : &dial;
    if (s->joint != t->joint || s->joint < 0)
        return s->joint == t->joint;
    if (s->reading.kind == EX_READING_ROTATION) /* one may take its swing, the other its twist */
        return t->reading.kind == EX_READING_ROTATION;
    return s->reading.kind == t->reading.kind && s->reading.middle == t->reading.middle &&
           s->reading.unit == t->reading.unit &&
           memcmp(s->reading.about, t->reading.about, sizeof s->reading.about) == 0;
}

/* The same name in two layers is one input. */
static ex_result merge_axes(exi_rig_plan *p, ex_error *error) {
    const ex_rig_def *def = p->def;
    int32_t *inputs = &p->contents.counts.inputs;
    for (int axis = 0; axis < p->axis_total; axis++) {
        int place = 0, input = 0;
        const ex_layer_def *layer = exi_layer_of_axis(def, axis, &place);
        for (; input < *inputs; input++) {
            int other_place = 0;
            const ex_layer_def *other = exi_layer_of_axis(def, p->input_axes[input], &other_place);
            if (strcmp(layer->axis_names[place], other->axis_names[other_place]) != 0)
                continue;
            if (!exi_axis_is_same_input(&layer->weigh.axes[place], &other->weigh.axes[other_place]) ||
                !same_source(layer, place, other, other_place))
                return exi_error(
                    error, EX_ERROR_DATA,
                    "axis '%s' has another kind, rest value, joint or reading in layer '%s' than in layer '%s': "
                    "one input needs one of each",
                    layer->axis_names[place], layer->name, other->name);
            break;
        }
        if (input == *inputs)
            p->input_axes[(*inputs)++] = axis;
        p->axis_inputs[axis] = input;
    }
    return EX_OK;
}

static void merge_textures(exi_rig_plan *p) {
    const ex_rig_def *def = p->def;
    int32_t *textures = &p->contents.counts.textures;
    for (int l = 0, example = 0; l < def->layer_count; example += def->layers[l++].weigh.example_count) {
        const ex_layer_def *layer = &def->layers[l];
        p->layer_textures[l] = -1;
        if (layer->domain != EX_DOMAIN_PIXELS)
            continue;
        int texture = 0;
        while (texture < *textures &&
               strcmp(layer->pixels.texture, def->layers[p->texture_layers[texture]].pixels.texture) != 0)
            texture++;
        if (texture == *textures)
            p->texture_layers[(*textures)++] = l;
        p->layer_textures[l] = texture;
        for (int k = 0; k < layer->weigh.example_count; k++)
            p->image_sizes[example + k] = (size_t)layer->pixels.width * (size_t)layer->pixels.height * 4;
    }
}

/* ---- skeleton and levels ---- */

/* A skeleton whose binds were never written down as floats has them in double: remade from what a file would hold, so
 * that a rig and its unpacked copy give the same bits. */
static ex_result remake_skeleton(exi_rig_plan *p, ex_error *error) {
    const ex_skeleton *from = p->def->skeleton;
    if (!from)
        return EX_OK;
    const size_t joints = (size_t)ex_skeleton_joint_count(from);
    exi_size total = {0};
    size_t binds_at = exi_size_add(&total, joints, 12 * sizeof(float), 16);
    size_t rest_at = exi_size_add(&total, joints, sizeof(ex_transform), 16);
    size_t names_at = exi_size_add(&total, joints, sizeof(char *), 16);
    size_t parents_at = exi_size_add(&total, joints, sizeof(int), 16);
    char *memory = exi_allocate(p->allocator, total.bytes);
    if (!memory)
        return exi_error_memory(error, "the skeleton", total.bytes);
    float *binds = (float *)(void *)(memory + binds_at);
    ex_transform *rest = (ex_transform *)(void *)(memory + rest_at);
    const char **names = (const char **)(void *)(memory + names_at);
    int *parents = (int *)(void *)(memory + parents_at);
    for (int j = 0; j < (int)joints; j++) {
        ex_skeleton_inverse_bind(from, j, binds + 12 * (size_t)j);
        rest[j] = ex_skeleton_rest(from, j);
        names[j] = ex_skeleton_name(from, j);
        parents[j] = ex_skeleton_parent(from, j);
    }
    ex_skeleton_def def = {
        .joint_count = (int)joints, .parents = parents, .rest = rest, .inverse_binds = binds, .names = names};
    ex_result result = ex_skeleton_create(&def, p->allocator, &p->skeleton, error);
    exi_release(p->allocator, memory, total.bytes);
    return result;
}

static ex_result make_levels(exi_rig_plan *p, ex_error *error) {
    for (int i = 0; i <= p->level_total; i++) {
        const ex_rig_mesh *mesh = exi_def_level(p->def, i);
        p->levels[i] = (exi_level_record){
            .vertices = mesh->vertex_count,
            .splits = mesh->split_count,
            .faces = mesh->face_count,
            .corners = mesh->corner_count,
            .triangles = mesh->triangle_count,
            .flags = (mesh->split_source ? EXI_RIG_SEAMS : 0u) | (mesh->texcoords ? EXI_RIG_TEXCOORDS : 0u),
        };
        ex_result result =
            exi_rig_make_frames(mesh, &p->def->options, p->allocator, &p->normals[i], &p->tangents[i], error);
        if (result != EX_OK)
            return result;
    }
    return EX_OK;
}

/* ---- sizes ---- */

static ex_result count_strings(exi_rig_plan *p, ex_error *error) {
    const ex_rig_def *def = p->def;
    uint64_t strings = 0;
    for (int i = 0; i < p->contents.counts.inputs; i++) {
        int place = 0;
        const ex_layer_def *layer = exi_layer_of_axis(def, p->input_axes[i], &place);
        strings += strlen(layer->axis_names[place]) + strlen(exi_unit_of_axis(layer, place)) + 2;
        if (!exi_is_text(exi_unit_of_axis(layer, place)))
            return exi_error(error, EX_ERROR_ARGUMENT, "the unit of axis '%s' is not readable text",
                             layer->axis_names[place]);
    }
    for (int l = 0; l < def->layer_count; l++) {
        strings += strlen(def->layers[l].name) + 1;
        for (int k = 0; k < def->layers[l].weigh.example_count; k++)
            strings += strlen(def->layers[l].example_names[k]) + 1;
    }
    for (int i = 0; i < p->contents.counts.textures; i++)
        strings += strlen(def->layers[p->texture_layers[i]].pixels.texture) + 1;
    for (int j = 0; j < p->contents.counts.joints; j++) {
        if (!exi_is_text(ex_skeleton_name(def->skeleton, j)))
            return exi_error(error, EX_ERROR_ARGUMENT, "the name of joint %d is not readable text", j);
        strings += strlen(ex_skeleton_name(def->skeleton, j)) + 1;
    }
    if (strings > INT32_MAX)
        return exi_error(error, EX_ERROR_LIMIT, "the names are longer than 2 GB");
    p->contents.counts.string_size = (uint32_t)strings;
    return EX_OK;
}

static void collect(exi_rig_plan *p) {
    const ex_rig_mesh *mesh = &p->def->mesh;
    exi_rig_contents *c = &p->contents;
    c->counts.splits = mesh->split_count;
    c->counts.faces = mesh->face_count;
    c->counts.corners = mesh->corner_count;
    c->counts.triangles = mesh->triangle_count;
    c->counts.flags = p->levels[0].flags | (mesh->normals ? EXI_RIG_NORMALS : 0u);
    c->storage = p->def->options.storage;
    c->weighers = (const ex_weigher *const *)p->weighers;
    c->weigher_sizes = p->weigher_sizes;
    c->note_sizes = p->note_sizes;
    c->image_sizes = c->counts.textures > 0 ? p->image_sizes : NULL;
    c->levels = p->levels;
    c->normals = (const ex_normals *const *)p->normals;
    c->tangents = (const ex_tangents *const *)p->tangents;
    c->skeleton = p->skeleton;
    c->skin = p->def->skin;
    c->stencils = p->def->options.without_levels ? NULL : p->def->stencils;
    c->weights = p->offsets.weights;
    c->paths = (const exi_paths *const *)p->paths.layers;
    c->path_forms = p->paths.form_count;
    c->displacements = (const exi_displacements *const *)p->displacements.layers;
    for (int i = 0; i < EX_FRAME_COUNT; i++)
        c->patches[i] = p->offsets.patches[i];
    for (int i = 0; i < p->def->note_count; i++)
        p->note_sizes[i] = p->def->notes[i].size;
}

static ex_result gather(exi_rig_plan *p, ex_error *error) {
    ex_result result = find_sets(p, error);
    if (result == EX_OK)
        result = solve_layers(p, error);
    if (result == EX_OK)
        result = exi_rig_offsets_lay(&p->offsets, p->def->mesh.vertex_count, error);
    if (result == EX_OK)
        result = lay_paths(p, error);
    if (result == EX_OK)
        result = lay_displacements(p, error);
    if (result == EX_OK)
        result = merge_axes(p, error);
    if (result == EX_OK) {
        merge_textures(p);
        result = remake_skeleton(p, error);
    }
    if (result == EX_OK)
        result = make_levels(p, error);
    if (result == EX_OK)
        result = count_strings(p, error);
    if (result == EX_OK)
        collect(p);
    return result;
}

static ex_result attach_driver(const ex_rig_def *def, const ex_allocator *allocator, ex_rig **rig, ex_error *error) {
    exi_drive_source source = {0};
    void *memory = NULL;
    size_t size = 0;
    if (!def->driver)
        return EX_OK;
    ex_result result = exi_drive_encode(def, allocator, &source, &memory, &size, error);
    if (result == EX_OK)
        result = exi_drive_attach(&source, allocator, rig, error);
    exi_release(allocator, memory, size);
    return result;
}

ex_result ex_rig_create(const ex_rig_def *def, const ex_allocator *allocator, ex_rig **rig, ex_error *error) {
    if (!def || !rig)
        return exi_misuse_error(error, __func__, "no definition, or nowhere to put the rig");
    *rig = NULL;
    ex_error local = {0};
    error = error ? error : &local;
    ex_result result = exi_rig_check_def(def, error);
    if (result != EX_OK)
        return result;
    exi_rig_plan p;
    result = open_plan(&p, def, allocator, error);
    if (result == EX_OK)
        result = gather(&p, error);
    ex_rig *made = NULL;
    if (result == EX_OK)
        result = exi_rig_allocate(&p.contents, allocator, &made, error);
    if (result == EX_OK)
        result = exi_rig_fill(&p, made, error);
    close_plan(&p);
    if (result == EX_OK)
        result = attach_driver(def, allocator, &made, error);
    if (result == EX_OK)
        *rig = made;
    else
        ex_rig_destroy(made);
    return result;
}

void ex_rig_destroy(ex_rig *rig) {
    exi_block_destroy(rig);
}

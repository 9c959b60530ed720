/*
 * Creation of a rig from arrays: checks and solves the layers, merges their axes into inputs and their textures by
 * name, takes over skeleton, skin and levels, and copies everything into one block (create_check.c, create_fill.c).
 */
#include "runtime/rig/create.h"

#include "runtime/base/result.h"
#include "runtime/base/text.h"
#include "runtime/rig/domains/domain.h"
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

static ex_result count_examples(exi_rig_plan *p, ex_error *error) {
    const ex_rig_def *def = p->m.def;
    int64_t axes = 0, examples = 0;
    for (int l = 0; l < def->layer_count; l++) {
        axes += def->layers[l].weigh.axis_count;
        examples += def->layers[l].weigh.example_count;
    }
    if (axes > EXI_TABLE_MAX || examples > EXI_TABLE_MAX || def->layer_count > EXI_TABLE_MAX ||
        def->note_count > EXI_TABLE_MAX)
        return ex_error_set(error, EX_ERROR_LIMIT, "a rig has at most %d examples, axes, layers or notes",
                            EXI_TABLE_MAX);
    p->axis_total = p->m.counts.axes = (int32_t)axes;
    p->m.counts.examples = (int32_t)examples;
    return EX_OK;
}

static uint32_t driven_flags(const ex_layer_def *layer) {
    const ex_weigher_info *info = ex_weigher_kind_info(layer->weigh.kind);
    return (info->is_driven ? EXI_LAYER_DRIVEN : 0u) | (info->is_predicted ? EXI_LAYER_PREDICTED : 0u);
}

static void count_tables(exi_making *m) {
    const ex_rig_def *def = m->def;
    exi_rig_counts *c = &m->counts;
    for (int l = 0; l < def->layer_count; l++) {
        const ex_layer_def *layer = &def->layers[l];
        const exi_domain *domain = exi_domains[layer->domain];
        const int examples = layer->weigh.example_count;
        if (domain->counted)
            *(int32_t *)(void *)((char *)c + domain->counted) += examples;
        for (int k = 0; domain->targets && layer->form.shifts && k < examples; k++)
            c->shifts += layer->form.shifts[k] != NULL;
        c->driver_keys += exi_layer_has_keys(driven_flags(layer)) ? examples : 0;
    }
    c->vertices = def->mesh.vertex_count;
    c->layers = def->layer_count;
    c->notes = def->note_count;
    const bool refined = def->stencils && !def->options.without_levels;
    c->levels = refined ? ex_stencils_level_count(def->stencils) : 0;
    c->level = refined ? def->level : 0;
    c->refinement = def->stencils ? EXI_REFINED : 0; /* also if its levels are left out: it cannot be packed then */
    if (refined && ex_stencils_on_limit(def->stencils))
        c->level = c->level == EX_LEVEL_LIMIT ? c->levels : c->level; /* they are the same */
    else if (refined && ex_stencils_has(def->stencils, EX_LEVEL_LIMIT))
        c->refinement |= EXI_REFINED_LIMIT;
    c->drivers = def->driver != NULL;
    c->joints = def->skeleton ? ex_skeleton_joint_count(def->skeleton) : 0;
    c->skinning = (int32_t)def->skinning;
    c->skin_sets = def->skin ? (ex_skin_get_info(def->skin).influence_most + 3) / 4 : 0;
    c->splits = def->mesh.split_count;
    c->faces = def->mesh.face_count;
    c->corners = def->mesh.corner_count;
    c->triangles = def->mesh.triangle_count;
}

/* Fields of a layer's record that all domains have. */
static void open_records(exi_making *m) {
    int first_axis = 0, first_example = 0, first_form = 0;
    for (int l = 0; l < m->counts.layers; l++) {
        const ex_layer_def *layer = &m->def->layers[l];
        m->layers[l] = (exi_layer_record){.axis_count = layer->weigh.axis_count,
                                          .example_count = layer->weigh.example_count,
                                          .first_axis = first_axis,
                                          .first_example = first_example,
                                          .domain = (int32_t)layer->domain,
                                          .first_form = first_form,
                                          .texture = -1,
                                          .flags = (layer->muted ? EXI_LAYER_MUTED : 0u) | driven_flags(layer)};
        first_axis += layer->weigh.axis_count;
        first_example += layer->weigh.example_count;
        first_form += exi_domains[layer->domain]->forms ? layer->weigh.example_count : 0;
    }
}

/* Describes the refinement, before options leave it out. */
static ex_rig_refinement refinement_of(const ex_rig_def *def) {
    ex_rig_refinement r = {0};
    if (!def->stencils)
        return r;
    r.level_count = ex_stencils_level_count(def->stencils);
    r.has_limit = ex_stencils_has(def->stencils, EX_LEVEL_LIMIT);
    r.all_on_limit = ex_stencils_on_limit(def->stencils);
    r.level = r.all_on_limit && def->level == EX_LEVEL_LIMIT ? r.level_count : def->level; /* they are the same */
    for (int i = 0; i < r.level_count && i < EX_RIG_LEVEL_MAX; i++)
        r.vertex_counts[i] = ex_stencils_vertex_count(def->stencils, i + 1);
    return r;
}

static ex_result open_plan(exi_rig_plan *p, const ex_rig_def *def, const ex_allocator *allocator, ex_error *error) {
    *p = (exi_rig_plan){.m = {.def = def, .allocator = allocator, .options = def->options, .skin = def->skin}};
    p->m.stencils = def->options.without_levels ? NULL : def->stencils;
    ex_result result = count_examples(p, error);
    if (result != EX_OK)
        return result;
    count_tables(&p->m);
    p->m.refinement = refinement_of(def);
    result = exi_making_open(&p->m, error);
    p->axis_inputs = exi_making_keep(&p->m, (size_t)p->axis_total, sizeof *p->axis_inputs);
    p->input_axes = exi_making_keep(&p->m, (size_t)p->axis_total, sizeof *p->input_axes);
    if (result == EX_OK && (!p->axis_inputs || !p->input_axes))
        result = ex_error_memory(error, "making a rig", (size_t)p->axis_total * sizeof *p->axis_inputs);
    if (result != EX_OK)
        return result;
    open_records(&p->m);
    for (int i = 0; i < def->note_count; i++)
        p->m.note_sizes[i] = def->notes[i].size;
    return EX_OK;
}

/* Solves the weigher of a layer that the driver weighs: its points are products with the keys, if it has points. */
static ex_result solve_driven(exi_making *m, int layer, ex_error *error) {
    ex_weigher_def weigh = m->def->layers[layer].weigh;
    ex_axis axes[2];
    const size_t n = (size_t)weigh.example_count, size = n * (n + (size_t)weigh.axis_count - 1) * sizeof(double);
    for (int i = 0; i < weigh.axis_count; i++)
        axes[i] = weigh.axes[i].kind == EX_AXIS_DRIVER ? ex_axis_driver((int)n) : weigh.axes[i];
    weigh.axes = axes;
    weigh.names = m->def->layers[layer].example_names;
    if (ex_weigher_kind_info(weigh.kind)->is_predicted)
        return ex_weigher_create(&weigh, m->allocator, &m->weighers[layer], error);
    double *points = exi_allocate(m->allocator, size);
    if (!points)
        return ex_error_memory(error, "the driver's keys", size);
    ex_result result = exi_drive_points(m->def, layer, m->allocator, points, error);
    weigh.points = points;
    if (result == EX_OK)
        result = ex_weigher_create(&weigh, m->allocator, &m->weighers[layer], error);
    exi_release(m->allocator, points, size);
    return result;
}

static ex_result solve_layers(exi_making *m, ex_error *error) {
    for (int l = 0; l < m->def->layer_count; l++) {
        const ex_layer_def *layer = &m->def->layers[l];
        ex_weigher_def weigh = layer->weigh;
        weigh.names = layer->example_names;
        weigh.set_count = 0;
        weigh.sets = NULL;
        if (exi_domains[layer->domain]->weigher)
            exi_domains[layer->domain]->weigher(m, l, &weigh);
        ex_result result = ex_weigher_kind_info(weigh.kind)->is_driven
                               ? solve_driven(m, l, error)
                               : ex_weigher_create(&weigh, m->allocator, &m->weighers[l], error);
        if (result != EX_OK)
            return ex_error_within(error, result, "layer '%s'", layer->name);
        m->weigher_sizes[l] = exi_part_size(m->weighers[l]);
    }
    return EX_OK;
}

/* ---- merging of layers ---- */

static bool same_source(const ex_layer_def *a, int axis_a, const ex_layer_def *b, int axis_b) {
    static const ex_axis_source dial = {.joint = -1};
    const ex_axis_source *s = a->sources ? &a->sources[axis_a] : &dial, *t = b->sources ? &b->sources[axis_b] : &dial;
    if (s->joint != t->joint || s->joint < 0)
        return s->joint == t->joint;
    if (s->reading.kind == EX_READING_ROTATION) /* one may use the swing, the other the twist */
        return t->reading.kind == EX_READING_ROTATION;
    return s->reading.kind == t->reading.kind && s->reading.middle == t->reading.middle &&
           s->reading.unit == t->reading.unit &&
           memcmp(s->reading.about, t->reading.about, sizeof s->reading.about) == 0;
}

/* Axes of the same name in several layers are one input. */
static ex_result merge_axes(exi_rig_plan *p, ex_error *error) {
    const ex_rig_def *def = p->m.def;
    int32_t *inputs = &p->m.counts.inputs;
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
                return ex_error_set(error, EX_ERROR_DATA,
                                    "axis '%s' has another kind, rest value, joint or reading in layer '%s' than in "
                                    "layer '%s': axes of the same name must agree",
                                    layer->axis_names[place], layer->name, other->name);
            break;
        }
        if (input == *inputs)
            p->input_axes[(*inputs)++] = axis;
        p->axis_inputs[axis] = input;
    }
    return EX_OK;
}

/* ---- skeleton and levels ---- */

/* Binds of a skeleton that were never stored as floats are in double. The skeleton is made again from what a file would
 * hold, so that a rig and its unpacked copy give the same bits. */
static ex_result remake_skeleton(exi_making *m, ex_error *error) {
    const ex_skeleton *from = m->def->skeleton;
    if (!from)
        return EX_OK;
    const size_t joints = (size_t)ex_skeleton_joint_count(from);
    exi_size total = {0};
    size_t binds_at = exi_size_add(&total, joints, 12 * sizeof(float), 16);
    size_t rest_at = exi_size_add(&total, joints, sizeof(ex_transform), 16);
    size_t names_at = exi_size_add(&total, joints, sizeof(char *), 16);
    size_t parents_at = exi_size_add(&total, joints, sizeof(int), 16);
    char *memory = exi_allocate(m->allocator, total.bytes);
    if (!memory)
        return ex_error_memory(error, "the skeleton", total.bytes);
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
    ex_result result = ex_skeleton_create(&def, m->allocator, &m->skeleton, error);
    exi_release(m->allocator, memory, total.bytes);
    return result;
}

static ex_result make_levels(exi_making *m, ex_error *error) {
    for (int i = 0; i <= m->counts.levels; i++) {
        const ex_rig_mesh *mesh = exi_def_level(m->def, i);
        m->levels[i] = (exi_level_record){
            .vertices = mesh->vertex_count,
            .splits = mesh->split_count,
            .faces = mesh->face_count,
            .corners = mesh->corner_count,
            .triangles = mesh->triangle_count,
            .flags = (mesh->split_source ? EXI_RIG_SEAMS : 0u) | (mesh->texcoords ? EXI_RIG_TEXCOORDS : 0u),
        };
        ex_result result =
            exi_rig_make_frames(mesh, &m->def->options, m->allocator, &m->normals[i], &m->tangents[i], error);
        if (result != EX_OK)
            return result;
    }
    return EX_OK;
}

/* ---- sizes ---- */

static ex_result count_strings(exi_rig_plan *p, ex_error *error) {
    const ex_rig_def *def = p->m.def;
    uint64_t strings = p->m.string_size;
    for (int i = 0; i < p->m.counts.inputs; i++) {
        int place = 0;
        const ex_layer_def *layer = exi_layer_of_axis(def, p->input_axes[i], &place);
        strings += strlen(layer->axis_names[place]) + strlen(exi_unit_of_axis(layer, place)) + 2;
        if (!exi_is_text(exi_unit_of_axis(layer, place)))
            return ex_error_set(error, EX_ERROR_ARGUMENT, "the unit of axis '%s' is not readable text",
                                layer->axis_names[place]);
    }
    for (int l = 0; l < def->layer_count; l++) {
        strings += strlen(def->layers[l].name) + 1;
        for (int k = 0; k < def->layers[l].weigh.example_count; k++)
            strings += strlen(def->layers[l].example_names[k]) + 1;
    }
    for (int j = 0; j < p->m.counts.joints; j++) {
        if (!exi_is_text(ex_skeleton_name(def->skeleton, j)))
            return ex_error_set(error, EX_ERROR_ARGUMENT, "the name of joint %d is not readable text", j);
        strings += strlen(ex_skeleton_name(def->skeleton, j)) + 1;
    }
    if (strings > INT32_MAX)
        return ex_error_set(error, EX_ERROR_LIMIT, "the names are longer than 2 GB");
    p->m.counts.string_size = (uint32_t)strings;
    return EX_OK;
}

static ex_result gather(exi_rig_plan *p, ex_error *error) {
    ex_result result = exi_making_layers(&p->m, error);
    if (result == EX_OK)
        result = solve_layers(&p->m, error);
    if (result == EX_OK)
        result = merge_axes(p, error);
    if (result == EX_OK)
        result = remake_skeleton(&p->m, error);
    if (result == EX_OK)
        result = make_levels(&p->m, error);
    if (result == EX_OK)
        result = count_strings(p, error);
    p->m.counts.flags = p->m.levels[0].flags | (p->m.def->mesh.normals ? EXI_RIG_NORMALS : 0u);
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
        return exi_misuse_error(error, __func__, "no definition, or no pointer for the rig");
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
        result = exi_making_allocate(&p.m, &made, error);
    if (result == EX_OK)
        result = exi_rig_fill(&p, made, error);
    exi_making_close(&p.m);
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

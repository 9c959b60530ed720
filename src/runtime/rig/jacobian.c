/*
 * Derivatives of positions by the inputs of a rig. With p the point of a layer, w its weights, x the form at rest, M
 * the matrices of the joints and s the weights of the skin:
 *
 *   dx(v) = sum over k of dw_k d_k(v),            dw = (dw/dp) dp
 *   dy(v) = sum over j of s_j(v) (dM_j x(v) + M_j dx(v))
 *
 * An input changes points of layers, or a joint; a joint changes its matrix, those below it, and the points of layers
 * that read it. Refined levels are sums of the cage's vertices with constant weights, and so are their derivatives.
 */
#include "runtime/rig/jacobian.h"

#include "runtime/base/memory.h"
#include "runtime/base/result.h"
#include "runtime/pose/reading_along.h"
#include "runtime/weigh/gradient.h"

#include <string.h>

/* ---- columns ---- */

static int width_of(const exi_input_record *input) {
    return input->axis.kind == EX_AXIS_SCALAR ? 1 : input->axis.kind == EX_AXIS_DRIVER ? 0 : 4;
}

int ex_rig_jacobian_width(const ex_rig *rig) {
    int width = 0;
    if (!exi_is_given(rig, __func__, "no rig"))
        return 0;
    for (int i = 0; i < rig->counts.inputs; i++)
        width += width_of(&exi_rig_inputs(rig)[i]);
    return width;
}

static void set_columns(exi_jacobian *j) {
    int column = 0;
    for (int i = 0; i < j->rig->counts.inputs; i++)
        for (int k = 0; k < width_of(&exi_rig_inputs(j->rig)[i]); k++)
            j->column[column++] = (exi_column){i, k};
}

const ex_transform *exi_jacobian_local(const exi_jacobian *j, int joint) {
    const ex_skeleton *skeleton = ex_rig_skeleton(j->rig);
    const ex_transform *rest = exi_skeleton_at(skeleton, skeleton->rest);
    return j->pose && j->pose->joints ? &j->pose->joints[joint] : &rest[joint];
}

void exi_jacobian_local_along(const exi_jacobian *j, int column, int joint, exi_local *along) {
    const exi_input_record *input = &exi_rig_inputs(j->rig)[j->column[column].input];
    *along = (exi_local){.scale = {0}};
    if (input->joint != joint)
        return;
    const ex_reading reading = exi_input_reading(input);
    const ex_transform rest = ex_skeleton_rest(ex_rig_skeleton(j->rig), joint);
    exi_reading_write_along(&reading, &rest, exi_jacobian_local(j, joint), j->column[column].number, along);
}

/* The derivatives of an input's value [1 or 4] by a column. */
static void input_along(const exi_jacobian *j, int column, int input, double *value) {
    const exi_input_record *record = &exi_rig_inputs(j->rig)[input];
    const exi_input_record *moved = &exi_rig_inputs(j->rig)[j->column[column].input];
    memset(value, 0, (size_t)width_of(record) * sizeof *value);
    if (record->joint < 0) {
        if (record == moved)
            value[j->column[column].number] = 1;
        return;
    }
    if (record->joint != moved->joint)
        return;
    exi_local along;
    const ex_reading reading = exi_input_reading(record);
    const ex_transform rest = ex_skeleton_rest(ex_rig_skeleton(j->rig), record->joint);
    exi_jacobian_local_along(j, column, record->joint, &along);
    exi_reading_read_along(&reading, &rest, exi_jacobian_local(j, record->joint), &along, value);
}

/* ---- what has derivatives ---- */

static bool is_muted(const exi_jacobian *j, int layer) {
    return j->evaluation->muted ? j->evaluation->muted[layer]
                                : (exi_rig_layers(j->rig)[layer].flags & EXI_LAYER_MUTED) != 0;
}

/* True if a layer moves vertices of the level. */
static bool moves(const exi_jacobian *j, int layer) {
    const ex_stage stage = exi_domain_of(j->rig, layer)->stage;
    return !is_muted(j, layer) && stage != EX_STAGE_TEXTURE && (stage != EX_STAGE_SURFACE || j->evaluation->level != 0);
}

static ex_result refuse(const exi_jacobian *j, ex_error *error) {
    const ex_rig *rig = j->rig;
    if (ex_rig_level_vertex_count(rig, j->evaluation->level) == 0)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "the rig has no level %d", j->evaluation->level);
    if (j->evaluation->split)
        return ex_error_set(error, EX_ERROR_ARGUMENT,
                            "derivatives are those of vertices in source order, not of split vertices");
    if (exi_rig_drive(rig))
        return ex_error_set(error, EX_ERROR_ARGUMENT,
                            "a rig with a driver has no derivatives by its inputs: its form follows the driver's");
    if (j->skinned && ex_rig_skinning(rig) != EX_SKINNING_LINEAR)
        return ex_error_set(error, EX_ERROR_ARGUMENT,
                            "derivatives need linear skinning: this rig has %s skinning; take those of the form at "
                            "rest (unskinned), or differences",
                            ex_skinning_name(ex_rig_skinning(rig)));
    for (int l = 0; l < rig->counts.layers; l++)
        if (moves(j, l) && !exi_domain_of(rig, l)->differentiate)
            return ex_error_set(error, EX_ERROR_ARGUMENT,
                                "layer '%s' has no derivatives: mute it, or take level 0 if it displaces a surface",
                                ex_rig_layer_name(rig, l));
    return EX_OK;
}

/* ---- memory ---- */

static size_t layer_weights(const exi_layer_record *layer) {
    return (size_t)(layer->flags & EXI_LAYER_MOVED ? layer->weight_count : layer->example_count);
}

/* Sizes that depend on a layer: the largest. */
typedef struct largest {
    size_t weights, rows;
    bool shaped;
} largest;

static const ex_weigher *weigher_of(const exi_jacobian *j, int layer) {
    const ex_weigher *own = ex_rig_weigher(j->rig, layer);
    const ex_weigher *other = j->evaluation->weighers ? j->evaluation->weighers[layer] : NULL;
    const bool fits = other && other->example_count == own->example_count && other->dimension == own->dimension &&
                      ex_weigher_set_weight_count(other) == ex_weigher_set_weight_count(own);
    if (other && !fits)
        exi_misuse("ex_rig_jacobian", "a replaced weigher has another number of examples, axes or sets");
    return fits ? other : own;
}

static largest measure(const exi_jacobian *j) {
    largest most = {0};
    for (int l = 0; l < j->rig->counts.layers; l++) {
        const size_t weights = layer_weights(&exi_rig_layers(j->rig)[l]);
        const ex_weigher *weigher = weigher_of(j, l);
        const size_t rows = moves(j, l) && !exi_weigher_passes(weigher)
                                ? (size_t)weigher->example_count * (size_t)weigher->dimension
                                : 0;
        most.weights = weights > most.weights ? weights : most.weights;
        most.rows = rows > most.rows ? rows : most.rows;
        most.shaped |= moves(j, l) && exi_domain_of(j->rig, l)->curved;
    }
    return most;
}

/* Takes count numbers of a size from the block; only measures without one. */
static void *take(char *block, exi_size *total, size_t count, size_t size) {
    const size_t at = exi_size_add(total, count, size, 64);
    return block ? block + at : NULL;
}

/* Lays all arrays out in a block, or measures it. */
static void lay(exi_jacobian *j, char *block, exi_size *total) {
    const ex_rig *rig = j->rig;
    const size_t columns = (size_t)j->columns, joints = j->skinned ? (size_t)j->joints : 0;
    const bool turns = rig->patches[EX_OFFSET_FRAME_SKINNED] != 0;
    const largest most = measure(j);
    const size_t level = (size_t)ex_rig_level_vertex_count(rig, j->evaluation->level) * 3;
    const size_t refined = j->evaluation->level != 0 ? level : 0;
    j->column = take(block, total, columns, sizeof *j->column);
    j->form = take(block, total, j->size, sizeof *j->form);
    j->along = take(block, total, columns * j->size, sizeof *j->along);
    double *turned = take(block, total, turns ? j->size : 0, sizeof *j->turned);
    double *turned_along = take(block, total, turns ? columns * j->size : 0, sizeof *j->turned_along);
    j->turned = turns ? turned : NULL;
    j->turned_along = turns ? turned_along : NULL;
    j->room = take(block, total, j->size > refined ? j->size : refined, sizeof *j->room);
    j->numbers = take(block, total, (size_t)rig->weights, sizeof *j->numbers);
    j->shifts = take(block, total, 3 * joints, sizeof *j->shifts);
    j->shifts_along = take(block, total, 3 * joints * columns, sizeof *j->shifts_along);
    j->worlds = take(block, total, 12 * joints, sizeof *j->worlds);
    j->worlds_along = take(block, total, 12 * joints * columns, sizeof *j->worlds_along);
    j->matrices = take(block, total, 12 * joints, sizeof *j->matrices);
    j->matrices_along = take(block, total, 12 * joints * columns, sizeof *j->matrices_along);
    double *quaternions = take(block, total, turns ? 4 * joints : 0, sizeof *j->turns);
    double *quaternions_along = take(block, total, turns ? 4 * joints * columns : 0, sizeof *j->turns_along);
    j->turns = turns ? quaternions : NULL;
    j->turns_along = turns ? quaternions_along : NULL;
    j->point = take(block, total, (size_t)rig->largest_dimension, sizeof *j->point);
    j->direction = take(block, total, (size_t)rig->largest_dimension, sizeof *j->direction);
    j->weights = take(block, total, most.weights, sizeof *j->weights);
    j->weights_along = take(block, total, most.weights * columns, sizeof *j->weights_along);
    j->rows = take(block, total, most.rows, sizeof *j->rows);
    j->shapes = take(block, total, most.shaped ? 4 * j->size : 0, sizeof *j->shapes);
    j->layer_weights = take(block, total, most.shaped ? most.weights : 0, sizeof *j->layer_weights);
    j->all_weights = take(block, total, most.shaped ? (size_t)rig->counts.examples : 0, sizeof *j->all_weights);
    j->muted = take(block, total, (size_t)rig->counts.layers, sizeof *j->muted);
    size_t scratch = most.shaped ? ex_rig_scratch_size(rig, NULL, 1) : 0;
    if (j->evaluation->level != 0 && ex_stencils_scratch_size(ex_rig_stencils(rig)) > scratch)
        scratch = ex_stencils_scratch_size(ex_rig_stencils(rig));
    j->control = take(block, total, refined ? j->size : 0, sizeof *j->control);
    j->scratch = take(block, total, scratch, 1);
}

/* ---- weigh and shape ---- */

static void gather_point(const exi_jacobian *j, const exi_layer_record *layer) {
    const int32_t *inputs = (const int32_t *)exi_rig_at(j->rig, j->rig->axis_inputs) + layer->first_axis;
    double *point = j->point;
    for (int i = 0; i < layer->axis_count; i++) {
        ex_rig_get_input(j->rig, inputs[i], j->pose, point);
        point += width_of(&exi_rig_inputs(j->rig)[inputs[i]]);
    }
}

/* Sets how the layer's point moves with a column. Returns false if it does not. */
static bool point_along(const exi_jacobian *j, const exi_layer_record *layer, int column) {
    const int32_t *inputs = (const int32_t *)exi_rig_at(j->rig, j->rig->axis_inputs) + layer->first_axis;
    double *by = j->direction;
    bool any = false;
    for (int i = 0; i < layer->axis_count; i++) {
        const int width = width_of(&exi_rig_inputs(j->rig)[inputs[i]]);
        input_along(j, column, inputs[i], by);
        for (int k = 0; k < width; k++)
            any = any || by[k] != 0;
        by += width;
    }
    return any;
}

static void weigh_layer(const exi_jacobian *j, int l) {
    const exi_layer_record *layer = &exi_rig_layers(j->rig)[l];
    const ex_weigher *weigher = weigher_of(j, l);
    const size_t count = layer_weights(layer), d = (size_t)weigher->dimension;
    const bool sets = (layer->flags & EXI_LAYER_MOVED) != 0, passes = exi_weigher_passes(weigher);
    gather_point(j, layer);
    if (passes)
        ex_weigher_evaluate(weigher, j->point, j->weights);
    else if (sets)
        ex_weigher_evaluate_sets(weigher, j->point, NULL, j->weights);
    else
        ex_weigher_gradient(weigher, j->point, j->weights, j->rows);
    for (int c = 0; c < j->columns; c++) {
        double *along = exi_column_of(j->weights_along, c, count);
        memset(along, 0, count * sizeof *along);
        if (!point_along(j, layer, c))
            continue;
        if (passes)
            exi_weigher_pass_along(weigher, j->point, j->direction, along);
        else if (sets)
            exi_weigher_sets_along(weigher, j->point, j->direction, j->weights, along);
        for (size_t i = 0; !passes && !sets && i < count; i++)
            for (size_t k = 0; k < d; k++)
                along[i] += j->rows[i * d + k] * j->direction[k];
    }
}

/* Joint positions follow the weights of a layer's examples. */
static void add_shifts(exi_jacobian *j, int l) {
    const exi_layer_record *layer = &exi_rig_layers(j->rig)[l];
    const exi_shift_record *records = exi_rig_shifts(j->rig);
    const size_t count = 3 * (size_t)j->joints;
    for (int i = 0; i < j->rig->counts.shifts; i++) {
        const int k = records[i].example - layer->first_example;
        const float *shift = exi_rig_at(j->rig, records[i].data);
        if (k < 0 || k >= layer->example_count)
            continue;
        for (size_t n = 0; n < count; n++)
            j->shifts[n] += j->weights[k] * (double)shift[n];
        for (int c = 0; c < j->columns; c++) {
            const double by = exi_column_of(j->weights_along, c, (size_t)layer->example_count)[k];
            double *along = exi_column_of(j->shifts_along, c, count);
            for (size_t n = 0; n < count; n++)
                along[n] += by * (double)shift[n];
        }
    }
}

void exi_jacobian_shape(exi_jacobian *j, int layer, const double *weights, float *positions) {
    const exi_layer_record *record = &exi_rig_layers(j->rig)[layer];
    memset(j->all_weights, 0, (size_t)j->rig->counts.examples * sizeof *j->all_weights);
    memcpy(j->all_weights + record->first_example, weights, (size_t)record->example_count * sizeof *weights);
    for (int l = 0; l < j->rig->counts.layers; l++)
        j->muted[l] = l != layer;
    exi_rig_shape(j->rig, j->all_weights, j->muted, j->evaluation->tasks, positions, j->scratch);
}

static void shape(exi_jacobian *j) {
    exi_forms_get_base(exi_rig_forms(j->rig), j->room);
    for (size_t i = 0; i < j->size; i++)
        j->form[i] = (double)j->room[i];
    for (int l = 0; l < j->rig->counts.layers; l++) {
        if (!moves(j, l) || !exi_domain_of(j->rig, l)->differentiate)
            continue;
        weigh_layer(j, l);
        exi_domain_of(j->rig, l)->differentiate(j, l, j->weights, j->weights_along);
        if (j->skinned && exi_domain_of(j->rig, l)->targets)
            add_shifts(j, l);
    }
}

/* ---- the level ---- */

/* Writes a column of the level: that of the cage, or refined. */
static void write_column(exi_jacobian *j, int c, double *derivatives) {
    const double *along = exi_column_of(j->along, c, j->size);
    const size_t columns = (size_t)j->columns;
    const int level = j->evaluation->level;
    if (level == 0) {
        for (size_t i = 0; i < j->size; i++)
            derivatives[i * columns + (size_t)c] = along[i];
        return;
    }
    for (size_t i = 0; i < j->size; i++)
        j->control[i] = (float)along[i];
    const ex_refine refine = {.level = level, .control = j->control, .positions = j->room};
    ex_stencils_apply(ex_rig_stencils(j->rig), &refine, j->evaluation->tasks, j->scratch);
    const size_t numbers = 3 * (size_t)ex_rig_level_vertex_count(j->rig, level);
    for (size_t i = 0; i < numbers; i++)
        derivatives[i * columns + (size_t)c] = (double)j->room[i];
}

ex_result ex_rig_jacobian(const ex_rig *rig, const ex_pose *pose, const ex_evaluation *evaluation, double *derivatives,
                          const ex_allocator *allocator, ex_error *error) {
    static const ex_evaluation plain;
    if (!rig || !derivatives)
        return exi_misuse_error(error, __func__, "no rig, or no room for derivatives");
    exi_jacobian j = {.rig = rig,
                      .pose = pose,
                      .evaluation = evaluation ? evaluation : &plain,
                      .columns = ex_rig_jacobian_width(rig),
                      .vertices = rig->counts.vertices,
                      .joints = rig->counts.joints,
                      .size = 3 * (size_t)rig->counts.vertices};
    j.skinned = rig->skin != 0 && !j.evaluation->unskinned;
    ex_result result = refuse(&j, error);
    if (result != EX_OK || j.columns == 0)
        return result;
    exi_size total = {0};
    lay(&j, NULL, &total);
    if (total.overflow)
        return ex_error_set(error, EX_ERROR_LIMIT, "the rig has too many inputs and vertices for their derivatives");
    char *memory = exi_allocate(allocator, total.bytes);
    if (!memory)
        return ex_error_memory(error, "the derivatives", total.bytes);
    memset(memory, 0, total.bytes);
    exi_size again = {0};
    lay(&j, memory, &again);
    set_columns(&j);
    shape(&j);
    exi_jacobian_pose(&j);
    for (int c = 0; c < j.columns; c++)
        write_column(&j, c, derivatives);
    exi_release(allocator, memory, total.bytes);
    return EX_OK;
}

/*
 * Evaluation of a rig: weighs every layer at the pose and places the skeleton, then blends the examples of all layers
 * and skins the result in one pass over the tiles, and settles the posed cage on its driver. Refinement, which comes
 * after settling (docs/guides/drive.md has the figures), is in evaluate_surface.c.
 *
 * Work is cut into chunks of tiles at positions that do not depend on the number of threads. Each chunk makes its own
 * boxes, which are merged in order afterwards. So results do not depend on which thread did which chunk.
 */
#include "runtime/rig/evaluate.h"

#include "runtime/base/memory.h"
#include "runtime/base/result.h"
#include "runtime/base/rows.h"
#include "runtime/rig/domains/domain.h"

#include <float.h>
#include <string.h>

/* Tiles per chunk: long enough for two streams through memory, short enough to stay in a cache for many poses. */
enum { CHUNK = EXI_CHUNK_TILES };

static int count_chunks(const ex_rig *rig) {
    return (exi_rig_forms(rig)->tile_count + CHUNK - 1) / CHUNK;
}

/* ---- scratch ---- */

/* Lays out one pose's scratch from the address *cursor on; from 0, it only measures. */
static void place_pose(const ex_rig *rig, int level, uintptr_t *cursor, bool measuring, exi_pose_scratch *s) {
    const bool jointed = rig->skin || (exi_rig_drive(rig) && exi_rig_drive(rig)->joints);
    const size_t joints = jointed ? (size_t)rig->counts.joints : 0;
    s->point = exi_scratch_take(cursor, (size_t)rig->largest_dimension, sizeof *s->point);
    s->weights = exi_scratch_take(cursor, (size_t)rig->counts.examples, sizeof *s->weights);
    const size_t forms = (size_t)exi_rig_forms(rig)->example_count;
    s->floats = exi_scratch_take(cursor, forms, sizeof *s->floats);
    s->terms = exi_scratch_take(cursor, forms, sizeof *s->terms);
    s->set_weights = exi_scratch_take(cursor, (size_t)rig->most_weights, sizeof *s->set_weights);
    const bool kept = level != 0 || (exi_rig_drive(rig) && exi_rig_drive(rig)->settler);
    s->control = exi_scratch_take(cursor, kept ? (size_t)rig->counts.vertices : 0, 3 * sizeof *s->control);
    s->shifts = exi_scratch_take(cursor, joints, 3 * sizeof *s->shifts);
    s->matrices = exi_scratch_take(cursor, joints, 12 * sizeof *s->matrices);
    s->centres = exi_scratch_take(cursor, joints, 3 * sizeof *s->centres);
    s->turns = exi_scratch_take(cursor, joints, 4 * sizeof *s->turns);
    s->skeleton = exi_scratch_take(cursor, joints ? ex_skeleton_scratch_size(ex_rig_skeleton(rig)) : 0, 1);
    s->palette = exi_scratch_take(cursor, joints ? ex_palette_size(ex_rig_skinning(rig), (int)joints) : 0, 1);
    for (int d = 0; d < EX_DOMAIN_COUNT; d++)
        s->own[d] = exi_rig_has_domain(rig, d) && exi_domains[d]->scratch
                        ? exi_domains[d]->scratch(rig, level, cursor, measuring)
                        : NULL;
    exi_drive_lay(rig, cursor, &s->drive);
}

static size_t pose_size(const ex_rig *rig, int level) {
    uintptr_t cursor = 0;
    exi_pose_scratch unused;
    place_pose(rig, level, &cursor, true, &unused);
    return (size_t)cursor;
}

size_t ex_rig_scratch_size(const ex_rig *rig, const ex_evaluation *evaluation, int pose_count) {
    const size_t poses = (size_t)(pose_count > 0 ? pose_count : 0);
    const int level = evaluation ? evaluation->level : 0;
    const size_t boxes = (size_t)count_chunks(rig) * 6 * sizeof(float);
    return poses * (pose_size(rig, level) + sizeof(exi_pose_scratch) + boxes) + exi_rig_shared_size(rig, level) + 256;
}

static void open_scratch(exi_rig_job *j, void *scratch) {
    uintptr_t cursor = ((uintptr_t)scratch + 63) / 64 * 64;
    j->scratch = exi_scratch_take(&cursor, (size_t)j->pose_count, sizeof *j->scratch);
    j->boxes = exi_scratch_take(&cursor, (size_t)j->pose_count * (size_t)j->chunk_count, 6 * sizeof *j->boxes);
    for (int pose = 0; pose < j->pose_count; pose++)
        place_pose(j->rig, j->level, &cursor, false, &j->scratch[pose]);
    j->shared = (void *)cursor;
}

/* ---- weigh ---- */

static void gather_point(const ex_rig *rig, const exi_layer_record *layer, const ex_pose *pose, double *point) {
    const int32_t *axis_inputs = (const int32_t *)exi_rig_at(rig, rig->axis_inputs) + layer->first_axis;
    for (int i = 0; i < layer->axis_count; i++) {
        if (exi_rig_inputs(rig)[axis_inputs[i]].axis.kind == EX_AXIS_DRIVER)
            continue; /* the driver's values come from its views */
        ex_rig_get_input(rig, axis_inputs[i], pose, point);
        point += exi_rig_inputs(rig)[axis_inputs[i]].axis.kind == EX_AXIS_SCALAR ? 1 : 4;
    }
}

static const ex_weigher *layer_weigher(const exi_rig_job *j, int layer) {
    const ex_weigher *own = ex_rig_weigher(j->rig, layer);
    const ex_weigher *other = j->weighers ? j->weighers[layer] : NULL;
    if (!other)
        return own;
    if (other->example_count == own->example_count && other->dimension == own->dimension &&
        ex_weigher_set_weight_count(other) == ex_weigher_set_weight_count(own))
        return other;
    exi_misuse("ex_rig_evaluate", "a replaced weigher has another number of examples, axes or sets");
    return own;
}

bool exi_rig_is_muted(const exi_rig_job *j, int layer) {
    return j->muted ? j->muted[layer] : (exi_rig_layers(j->rig)[layer].flags & EXI_LAYER_MUTED) != 0;
}

/* Weighs a layer that the driver weighs. Returns NULL if its vertices have individual weights: it then takes no part in
 * the sum. */
static const double *weigh_driven(const exi_rig_job *j, int l, const ex_pose *pose, void *state, exi_pose_scratch *s) {
    const exi_layer_record *layer = &exi_rig_layers(j->rig)[l];
    const ex_weigher *weigher = layer_weigher(j, l);
    double *weights = s->weights + layer->first_example;
    s->point[0] = 0;
    gather_point(j->rig, layer, pose, s->point);
    const bool regional =
        exi_drive_weigh(j->rig, exi_drive_layer_of(j->rig, l), weigher != ex_rig_weigher(j->rig, l) ? weigher : NULL,
                        s->point[0], &s->drive, weights, state);
    s->regional |= regional;
    return regional ? NULL : weights;
}

/* Returns the weights of a layer's examples, or those of its sets if vertices have their own sets of examples. */
static const double *weigh_layer(const exi_rig_job *j, int l, const ex_pose *pose, exi_pose_scratch *s) {
    const exi_layer_record *layer = &exi_rig_layers(j->rig)[l];
    double *weights = s->weights + layer->first_example;
    gather_point(j->rig, layer, pose, s->point);
    if (layer->flags & EXI_LAYER_MOVED) {
        ex_weigher_evaluate_sets(layer_weigher(j, l), s->point, weights, s->set_weights);
        return s->set_weights;
    }
    ex_weigher_evaluate(layer_weigher(j, l), s->point, weights);
    return weights;
}

/* Muted driven layers have zero region weights too. */
static void mute_driven(const ex_rig *rig, int layer, void *state, exi_pose_scratch *s) {
    const exi_drive_layer *driven = exi_drive_layer_of(rig, layer);
    if (!driven)
        return;
    if (driven->predictor) { /* what it missed is no motion: it begins anew */
        const ex_predictor *predictor = exi_drive_at(exi_rig_drive(rig), driven->predictor);
        if (state)
            memset((char *)state + driven->state, 0, ex_predictor_history_size(predictor));
        return;
    }
    const exi_regions regions = exi_drive_regions(rig, driven, &s->drive, false);
    memset((float *)(uintptr_t)regions.weights, 0,
           (size_t)driven->view_count * (size_t)driven->width * sizeof *regions.weights);
    if (exi_drive_is_keyed(exi_rig_drive(rig))) /* settling reads them, and nothing else writes them */
        memset(s->drive.omegas, 0, (size_t)rig->counts.vertices * (size_t)driven->width * sizeof *s->drive.omegas);
}

static void weigh_layers(const exi_rig_job *j, const ex_pose *pose, void *state, exi_pose_scratch *s) {
    const ex_rig *rig = j->rig;
    s->regional = false;
    for (int l = 0; l < rig->counts.layers; l++) {
        const exi_layer_record *layer = &exi_rig_layers(rig)[l];
        const exi_domain *domain = exi_domains[layer->domain];
        const double *weights = NULL;
        if (exi_rig_is_muted(j, l)) {
            memset(s->weights + layer->first_example, 0, (size_t)layer->example_count * sizeof *s->weights);
            mute_driven(rig, l, state, s);
        } else {
            weights = layer->flags & EXI_LAYER_DRIVEN ? weigh_driven(j, l, pose, state, s) : weigh_layer(j, l, pose, s);
        }
        if (domain->weigh)
            domain->weigh(j, l, weights, s);
    }
}

/* Joint positions follow the examples' weights, as forms do: sum over examples of weight times shift. */
static bool sum_shifts(const ex_rig *rig, exi_pose_scratch *s) {
    const int count = 3 * rig->counts.joints;
    const exi_shift_record *records = exi_rig_shifts(rig);
    if (rig->counts.shifts == 0)
        return false;
    memset(s->shifts, 0, (size_t)count * sizeof *s->shifts);
    for (int i = 0; i < rig->counts.shifts; i++) {
        const float weight = (float)s->weights[records[i].example];
        const float *shift = exi_rig_at(rig, records[i].data);
        for (int c = 0; c < count && weight != 0; c++)
            s->shifts[c] += weight * shift[c];
    }
    return true;
}

static const float *place_joints(const ex_rig *rig, const ex_pose *pose, bool turns, exi_pose_scratch *s) {
    ex_skeleton_input input = {.locals = pose ? pose->joints : NULL, .shifts = sum_shifts(rig, s) ? s->shifts : NULL};
    ex_skeleton_output output = {.matrices = s->matrices, .centres = s->centres, .turns = turns ? s->turns : NULL};
    ex_skeleton_evaluate(ex_rig_skeleton(rig), &input, &output, s->skeleton);
    return s->matrices;
}

/* The driver's frames come before the weights, which are measured in them; shifts of joints do not move frames. */
static void place_driver(const exi_rig_job *j, const ex_pose *pose, exi_pose_scratch *s) {
    const ex_rig *rig = j->rig;
    const float *joints = NULL;
    if (exi_rig_drive(rig)->joints) {
        ex_skeleton_input input = {.locals = pose ? pose->joints : NULL};
        ex_skeleton_output output = {.matrices = s->matrices};
        ex_skeleton_evaluate(ex_rig_skeleton(rig), &input, &output, s->skeleton);
        joints = s->matrices;
    }
    exi_drive_place(rig, pose, &s->drive, joints);
}

static void make_palette(const exi_rig_job *j, const ex_pose *pose, exi_pose_scratch *s) {
    const ex_rig *rig = j->rig;
    const bool rotations = rig->patches[EX_OFFSET_FRAME_SKINNED] != 0;
    s->skinned_by = NULL;
    if (!j->skinned)
        return;
    if (!rig->skin) {
        s->skin = exi_drive_at(exi_rig_drive(rig), exi_rig_drive(rig)->skin);
        s->skinned_by = exi_drive_palette(rig, &s->drive, rotations);
        return;
    }
    const bool turns = rotations || ex_rig_skinning(rig) == EX_SKINNING_DUAL_QUATERNION;
    ex_palette_def def = {.method = ex_rig_skinning(rig),
                          .joint_count = rig->counts.joints,
                          .matrices = place_joints(rig, pose, turns, s),
                          .centres = s->centres,
                          .rotations = rotations,
                          .turns = turns ? s->turns : NULL,
                          .scale = ex_skeleton_scale(ex_rig_skeleton(rig))};
    s->skin = ex_rig_skin(rig);
    s->skinned_by = ex_palette_make(&def, s->palette);
}

static void weigh_range(void *context, int begin, int end) {
    const exi_rig_job *j = context;
    for (int i = begin; i < end; i++) {
        exi_pose_scratch *s = &j->scratch[i];
        const ex_output *output = &j->outputs[i];
        const ex_pose *pose = j->poses ? &j->poses[i] : NULL;
        if (exi_rig_drive(j->rig))
            place_driver(j, pose, s);
        s->blend = (exi_blend){.positions = output->positions,
                               .stride = output->position_stride ? output->position_stride : 3 * sizeof(float)};
        if (j->level != 0) /* the cage is kept to be refined; a box alone needs no room for it */
            s->blend = (exi_blend){.positions = output->positions ? s->control : NULL, .stride = 3 * sizeof(float)};
        if (j->settled && output->box && !output->positions) /* except for one that is settled */
            s->blend = (exi_blend){.positions = s->control, .stride = 3 * sizeof(float)};
        weigh_layers(j, pose, j->states ? j->states[i] : NULL, s);
        make_palette(j, pose, s);
        if (output->weights)
            memcpy(output->weights, s->weights, (size_t)j->rig->counts.examples * sizeof *s->weights);
        exi_forms_set_terms(exi_rig_forms(j->rig), s->floats, 0, exi_rig_forms(j->rig)->example_count,
                            exi_rig_drive(j->rig) != NULL, s->terms, &s->blend.sum);
    }
}

/* ---- shape and pose ---- */

static const float empty_box[6] = {FLT_MAX, FLT_MAX, FLT_MAX, -FLT_MAX, -FLT_MAX, -FLT_MAX};

/* Room of a chunk for vertices that are only needed for their box. */
typedef struct chunk_room {
    float positions[EXI_CHUNK][3];
} chunk_room;

static void grow_box(const float *position, size_t stride, int count, float box[6]) {
    for (int v = 0; v < count; v++) {
        float p[3];
        memcpy(p, (const char *)position + stride * (size_t)v, sizeof p);
        for (int c = 0; c < 3; c++) {
            box[c] = p[c] < box[c] ? p[c] : box[c];
            box[3 + c] = p[c] > box[3 + c] ? p[c] : box[3 + c];
        }
    }
}

/* True if a domain adds to positions of a chunk at a stage; the next function lets them add. */
static bool touches(const exi_rig_job *j, ex_stage stage, int chunk) {
    for (int d = 0; d < j->adding_count; d++)
        if (!j->adding[d]->touches || j->adding[d]->touches(j->rig, stage, chunk))
            return true;
    return false;
}

static void add_stage(const exi_rig_job *j, const exi_pose_scratch *s, ex_stage stage, int chunk, float *position,
                      size_t stride) {
    for (int d = 0; d < j->adding_count; d++)
        if (!j->adding[d]->touches || j->adding[d]->touches(j->rig, stage, chunk))
            j->adding[d]->add(j, s, stage, chunk, position, stride);
}

/* Adds the layers whose vertices have individual weights. positions: of vertex 0. */
static void add_regional(const exi_rig_job *j, const exi_pose_scratch *s, int begin, int end, float *positions,
                         size_t stride) {
    const exi_drive *drive = exi_rig_drive(j->rig);
    for (int l = 0; l < drive->layer_count; l++) {
        const exi_drive_layer *layer = &exi_drive_layers(drive)[l];
        if (layer->view_count == 1 || exi_rig_is_muted(j, layer->layer))
            continue;
        const exi_regions regions = exi_drive_regions(j->rig, layer, &s->drive, false);
        exi_regions_add(&regions, exi_rig_forms(j->rig), exi_rig_layers(j->rig)[layer->layer].first_form, begin, end,
                        positions, stride, j->settled && exi_drive_is_keyed(drive) ? s->drive.omegas : NULL);
    }
}

/* Blends, lets domains add at rest, skins, and lets domains add after it; box may be NULL. */
static void shape_chunk(const exi_rig_job *j, const exi_pose_scratch *s, int chunk, float *box) {
    const ex_forms *forms = exi_rig_forms(j->rig);
    const int first = chunk * CHUNK, last = first + CHUNK < forms->tile_count ? first + CHUNK : forms->tile_count;
    const int begin = first * EXI_TILE;
    const int end = last * EXI_TILE < forms->vertex_count ? last * EXI_TILE : forms->vertex_count;
    const bool at_rest = touches(j, EX_STAGE_REST, chunk), posed = touches(j, EX_STAGE_POSED, chunk);
    exi_blend blend = s->blend;
    if (!s->skinned_by && !at_rest && !posed && !s->regional) {
        blend.box = box;
        exi_forms_blend_tiles(forms, &blend, first, last);
        return;
    }
    chunk_room room;
    if (!blend.positions) {
        blend.stride = 3 * sizeof(float);
        /* Address of vertex 0; only those of this chunk are written. */
        blend.positions = (float *)((uintptr_t)room.positions - (uintptr_t)begin * blend.stride);
    }
    exi_forms_blend_tiles(forms, &blend, first, last);
    float *position = (float *)((uintptr_t)blend.positions + (uintptr_t)begin * blend.stride);
    if (s->regional)
        add_regional(j, s, begin, end, blend.positions, blend.stride);
    if (at_rest)
        add_stage(j, s, EX_STAGE_REST, chunk, position, blend.stride);
    if (s->skinned_by) {
        ex_skin_job skin = {.begin = begin,
                            .end = end,
                            .positions = position,
                            .out_positions = position,
                            .position_stride = blend.stride,
                            .out_position_stride = blend.stride,
                            .box = posed ? NULL : box};
        ex_skin_apply(s->skin, s->skinned_by, &skin);
    }
    if (posed)
        add_stage(j, s, EX_STAGE_POSED, chunk, position, blend.stride);
    if (box && (posed || !s->skinned_by))
        grow_box(position, blend.stride, end - begin, box);
}

static void shape_range(void *context, int begin, int end) {
    const exi_rig_job *j = context;
    for (int chunk = begin; chunk < end; chunk++)
        for (int pose = 0; pose < j->pose_count; pose++) {
            const exi_pose_scratch *s = &j->scratch[pose];
            float *box = NULL;
            if (j->outputs[pose].box) {
                box = j->boxes + ((size_t)pose * (size_t)j->chunk_count + (size_t)chunk) * 6;
                memcpy(box, empty_box, sizeof empty_box);
            }
            if (s->blend.positions || box)
                shape_chunk(j, s, chunk, box);
        }
}

static void join_boxes(const exi_rig_job *j, int pose) {
    float *box = j->outputs[pose].box;
    if (!box)
        return;
    memcpy(box, empty_box, sizeof empty_box);
    for (int chunk = 0; chunk < j->chunk_count; chunk++) {
        const float *part = j->boxes + ((size_t)pose * (size_t)j->chunk_count + (size_t)chunk) * 6;
        for (int c = 0; c < 3; c++) {
            box[c] = part[c] < box[c] ? part[c] : box[c];
            box[3 + c] = part[3 + c] > box[3 + c] ? part[3 + c] : box[3 + c];
        }
    }
}

/* ---- settle ---- */

static void settle(const exi_rig_job *j, int pose) {
    const ex_rig *rig = j->rig;
    exi_pose_scratch *s = &j->scratch[pose];
    ex_driven *driven = j->outputs[pose].driven;
    const size_t count = (size_t)rig->counts.vertices;
    if (driven && driven->unsettled && s->blend.positions)
        for (size_t v = 0; v < count; v++)
            memcpy(driven->unsettled + 3 * v, (const char *)s->blend.positions + v * s->blend.stride,
                   3 * sizeof(float));
    if (driven) {
        driven->settled = (ex_settled){0};
        driven->unfamiliar = s->drive.unfamiliar;
        driven->hull_distance = s->drive.hull_layers > 0 ? s->drive.hull / s->drive.hull_layers : 0;
        if (driven->region_weights)
            exi_drive_copy_weights(rig, &s->drive, driven->region_weights);
    }
    if (j->settled && s->blend.positions) {
        exi_drive_settle(rig, &s->drive, s->skinned_by, s->blend.positions, s->blend.stride,
                         j->states ? j->states[pose] : NULL, j->tasks, driven ? &driven->settled : NULL);
        if (j->outputs[pose].box) {
            memcpy(j->outputs[pose].box, empty_box, sizeof empty_box);
            grow_box(s->blend.positions, s->blend.stride, (int)count, j->outputs[pose].box);
        }
    }
    if (driven && driven->blended && j->settled && exi_rig_drive(rig)->forms)
        memcpy(driven->blended, s->drive.blended, (size_t)exi_rig_drive(rig)->vertex_count * 3 * sizeof(float));
}

/* ---- entry points ---- */

/* Returns the number of chunks that are worth handing to a thread: about 64k sums. */
static int chunk_grain(const exi_rig_job *j) {
    int64_t terms = exi_rig_forms(j->rig)->example_count + 1 + (j->skinned ? 8 : 0) + 4 * j->rig->path_layers;
    int64_t sums = (int64_t)CHUNK * EXI_TILE_FLOATS * terms * j->pose_count;
    int64_t grain = sums > 0 ? 65536 / sums : 1;
    return grain > 1 ? (int)grain : 1;
}

static bool rows_fit(const ex_output *outputs, int count) {
    for (int i = 0; i < count; i++) {
        const ex_output *o = &outputs[i];
        if (!exi_rows_fit(o->positions, o->position_stride, 12) || !exi_rows_fit(o->normals, o->normal_stride, 12) ||
            !exi_rows_fit(o->tangents, o->tangent_stride, 16))
            return false;
    }
    return true;
}

void ex_rig_evaluate_many(const ex_rig *rig, int pose_count, const ex_pose *poses, const ex_output *outputs,
                          const ex_evaluation *evaluation, void *scratch) {
    static const ex_evaluation plain;
    const ex_evaluation *e = evaluation ? evaluation : &plain;
    if (!rig || pose_count < 0 || (pose_count > 0 && (!outputs || !scratch))) {
        exi_misuse(__func__, "no rig, outputs or scratch");
        return;
    }
    if (ex_rig_level_vertex_count(rig, e->level) == 0) {
        exi_misuse(__func__, "the rig has no such level");
        return;
    }
    if (!rows_fit(outputs, pose_count)) {
        exi_misuse(__func__, EXI_ROWS_MISUSE);
        return;
    }
    const exi_drive *drive = exi_rig_drive(rig);
    exi_rig_job j = {.rig = rig,
                     .poses = poses,
                     .outputs = outputs,
                     .weighers = e->weighers,
                     .muted = e->muted,
                     .tasks = e->tasks,
                     .pose_count = pose_count,
                     .chunk_count = count_chunks(rig),
                     .level = e->level,
                     .split = e->split,
                     .skinned = (rig->skin != 0 || (drive && drive->skin)) && !e->unskinned,
                     .settled = drive && drive->settler && !e->unsettled && !e->unskinned,
                     .states = e->states};
    for (int d = 0; d < EX_DOMAIN_COUNT; d++)
        if (exi_rig_has_domain(rig, d) && exi_domains[d]->add)
            j.adding[j.adding_count++] = exi_domains[d];
    open_scratch(&j, scratch);
    exi_run(j.tasks, pose_count, 8, weigh_range, &j);
    exi_run(j.tasks, pose_count > 0 ? j.chunk_count : 0, chunk_grain(&j), shape_range, &j);
    for (int pose = 0; pose < pose_count; pose++) {
        join_boxes(&j, pose);
        if (drive)
            settle(&j, pose);
        exi_rig_finish(&j, pose);
        for (int d = 0; outputs[pose].textures && d < EX_DOMAIN_COUNT; d++)
            if (exi_rig_has_domain(rig, d) && exi_domains[d]->paint)
                exi_domains[d]->paint(&j, pose);
    }
}

void ex_rig_evaluate(const ex_rig *rig, const ex_pose *pose, const ex_output *output, const ex_evaluation *evaluation,
                     void *scratch) {
    ex_rig_evaluate_many(rig, 1, pose, output, evaluation, scratch);
}

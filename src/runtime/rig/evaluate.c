/*
 * Evaluation of a rig: weighs every layer at the pose and places the skeleton (evaluate_weigh.c), then blends the
 * examples of all layers and skins the result in one pass over the tiles, and settles the posed cage on its driver.
 * Refinement, which comes after settling (docs/guides/drive.md has the figures), is in evaluate_surface.c.
 *
 * Work is cut into chunks of tiles at positions that do not depend on the number of threads. Each chunk makes its own
 * boxes, which are merged in order afterwards. So results do not depend on which thread did which chunk.
 *
 * Many poses take three calls of the task hook, however many there are: weigh, shape and pose, finish. A pose is
 * finished within one task then, and needs scratch of its own; `lanes` of it limit the memory, and with it the number
 * of tasks. Small poses, whose forms stay in a cache, take one call: a task does all stages of a pose. Few poses of
 * large meshes are finished one after the other, each stage cut into tasks by its own room.
 */
#include "runtime/rig/evaluate.h"

#include "runtime/base/memory.h"
#include "runtime/base/result.h"
#include "runtime/base/rows.h"
#include "runtime/rig/jacobian.h"

#include <float.h>
#include <string.h>

/* Tiles per chunk: long enough for two streams through memory, short enough to stay in a cache for many poses. */
enum { CHUNK = EXI_CHUNK_TILES };

static int count_chunks(const ex_rig *rig) {
    return (exi_rig_forms(rig)->tile_count + CHUNK - 1) / CHUNK;
}

/* Poses that are finished side by side whatever they are, and bounds of the lanes of scratch for that: 2 MB, but not
 * fewer than 16 and not more than 64 lanes. */
enum { MANY_POSES = 16, LANES_LEAST = 16, LANES_MOST = 64, LANES_SIZE = 2 << 20, LANE_SIZE_MOST = 8 << 20 };
/* Threads that find a piece each, if there are many poses. */
enum { THREADS_FED = 16 };
/* A pose with fewer vertices and pixels than this is not worth cutting. */
enum { SMALL_POSE = 8192 };

static bool is_small(const ex_rig *rig, int level) {
    int64_t size = ex_rig_level_vertex_count(rig, level);
    for (int i = 0; i < rig->counts.textures; i++)
        size += (int64_t)exi_rig_textures(rig)[i].width * exi_rig_textures(rig)[i].height;
    return size < SMALL_POSE && !exi_rig_drive(rig);
}

/* Returns the number of poses that are finished at a time: 1 if each is cut into tasks itself. It does not decrease as
 * pose_count grows, and depends on nothing that changes between evaluations at a level. */
static int count_lanes(const ex_rig *rig, int level, int pose_count) {
    if (pose_count < (is_small(rig, level) ? 2 : MANY_POSES))
        return 1;
    const size_t size = exi_rig_shared_size(rig, level), fit = size > 0 ? LANES_SIZE / size : LANES_MOST;
    if (size > LANE_SIZE_MOST)
        return 1;
    const int lanes = fit > LANES_MOST ? LANES_MOST : fit < LANES_LEAST ? LANES_LEAST : (int)fit;
    return pose_count < lanes ? pose_count : lanes;
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
    if (!exi_is_given(rig, __func__, "no rig"))
        return 0;
    const size_t poses = (size_t)(pose_count > 0 ? pose_count : 0);
    const int level = evaluation ? evaluation->level : 0;
    const size_t boxes = (size_t)count_chunks(rig) * 6 * sizeof(float);
    return poses * (pose_size(rig, level) + sizeof(exi_pose_scratch) + boxes) +
           (size_t)count_lanes(rig, level, pose_count) * exi_rig_shared_size(rig, level) + 256;
}

static void open_scratch(exi_rig_job *j, void *scratch) {
    uintptr_t cursor = ((uintptr_t)scratch + 63) / 64 * 64;
    j->scratch = exi_scratch_take(&cursor, (size_t)j->pose_count, sizeof *j->scratch);
    j->boxes = exi_scratch_take(&cursor, (size_t)j->pose_count * (size_t)j->chunk_count, 6 * sizeof *j->boxes);
    for (int pose = 0; pose < j->pose_count; pose++)
        place_pose(j->rig, j->level, &cursor, false, &j->scratch[pose]);
    j->shared = (void *)cursor;
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

/* The first pose of part i of count, which have nearly the same number of poses. */
static int first_pose(const exi_rig_job *j, int i, int count) {
    return (int)((int64_t)j->pose_count * i / count);
}

static void shape_pose(const exi_rig_job *j, int pose, int chunk) {
    const exi_pose_scratch *s = &j->scratch[pose];
    float *box = NULL;
    if (j->outputs[pose].box) {
        box = j->boxes + ((size_t)pose * (size_t)j->chunk_count + (size_t)chunk) * 6;
        memcpy(box, empty_box, sizeof empty_box);
    }
    if (s->blend.positions || box)
        shape_chunk(j, s, chunk, box);
}

/* A piece is a chunk for a part of the poses: a chunk's forms are read once for all of them. */
static void shape_range(void *context, int begin, int end) {
    const exi_rig_job *j = context;
    for (int piece = begin; piece < end; piece++) {
        const int chunk = piece / j->pose_parts, part = piece % j->pose_parts;
        const int last = first_pose(j, part + 1, j->pose_parts);
        for (int pose = first_pose(j, part, j->pose_parts); pose < last; pose++)
            shape_pose(j, pose, chunk);
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

/* ---- finish ---- */

static void finish_pose(const exi_rig_job *j, int pose) {
    join_boxes(j, pose);
    if (exi_rig_drive(j->rig))
        settle(j, pose);
    exi_rig_finish(j, pose);
    for (int d = 0; j->outputs[pose].textures && d < EX_DOMAIN_COUNT; d++)
        if (exi_rig_has_domain(j->rig, d) && exi_domains[d]->paint)
            exi_domains[d]->paint(j, pose);
}

/* Finishes the poses of lanes begin to end one after the other, in the scratch of the first of these lanes, which no
 * other task has. Small poses are also weighed and shaped here. */
static void finish_range(void *context, int begin, int end) {
    exi_rig_job own = *(const exi_rig_job *)context;
    own.tasks = NULL;
    own.shared = (char *)own.shared + (size_t)begin * exi_rig_shared_size(own.rig, own.level);
    const int last = first_pose(&own, end, own.lanes);
    for (int pose = first_pose(&own, begin, own.lanes); pose < last; pose++) {
        if (own.whole)
            exi_rig_weigh(&own, pose, pose + 1);
        for (int chunk = 0; own.whole && chunk < own.chunk_count; chunk++)
            shape_pose(&own, pose, chunk);
        finish_pose(&own, pose);
    }
}

/* ---- entry points ---- */

/* Parts into which the poses are cut while they are shaped: so that there are enough pieces for many threads. */
static int count_parts(const exi_rig_job *j) {
    enum { PIECES = 64 };
    const int parts = j->tasks ? (PIECES + j->chunk_count - 1) / j->chunk_count : 1;
    return parts < j->pose_count ? parts : j->pose_count;
}

/* Returns the number of pieces that are worth handing to a thread: about 64k sums. */
static int piece_grain(const exi_rig_job *j) {
    int64_t terms = exi_rig_forms(j->rig)->example_count + 1 + (j->skinned ? 8 : 0) + 4 * j->rig->path_layers;
    int64_t sums = (int64_t)CHUNK * EXI_TILE_FLOATS * terms * (j->pose_count / j->pose_parts);
    int64_t grain = sums > 0 ? 65536 / sums : 1;
    const int64_t most = j->lanes > 1 ? (int64_t)j->chunk_count * j->pose_parts / THREADS_FED : INT64_MAX;
    grain = grain < most ? grain : most;
    return grain > 1 ? (int)grain : 1;
}

/* Returns the number of poses that are worth handing to a thread to weigh. Drivers take long. */
static int weigh_grain(const exi_rig_job *j) {
    const int grain = j->pose_count / (2 * THREADS_FED);
    return exi_rig_drive(j->rig) ? 1 : j->pose_count <= 8 || grain > 8 ? 8 : grain < 1 ? 1 : grain;
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

/* All stages of a job of one pose or more. */
static void run_stages(exi_rig_job *j, void *scratch) {
    for (int d = 0; d < EX_DOMAIN_COUNT; d++)
        if (exi_rig_has_domain(j->rig, d) && exi_domains[d]->add)
            j->adding[j->adding_count++] = exi_domains[d];
    j->pose_parts = count_parts(j);
    j->whole = j->tasks && j->lanes > 1 && is_small(j->rig, j->level); /* without tasks, reading forms once is faster */
    open_scratch(j, scratch);
    if (!j->whole) {
        exi_run(j->tasks, j->pose_count, weigh_grain(j), exi_rig_weigh, j);
        exi_run(j->tasks, j->chunk_count * j->pose_parts, piece_grain(j), shape_range, j);
    }
    if (j->lanes > 1)
        exi_run(j->tasks, j->lanes, 1, finish_range, j);
    for (int pose = 0; j->lanes <= 1 && pose < j->pose_count; pose++)
        finish_pose(j, pose);
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
                     .lanes = count_lanes(rig, e->level, pose_count),
                     .level = e->level,
                     .split = e->split,
                     .skinned = (rig->skin != 0 || (drive && drive->skin)) && !e->unskinned,
                     .settled = drive && drive->settler && !e->unsettled && !e->unskinned,
                     .states = e->states};
    if (pose_count > 0)
        run_stages(&j, scratch);
}

void exi_rig_shape(const ex_rig *rig, const double *weights, const bool *muted, const ex_tasks *tasks, float *positions,
                   void *scratch) {
    const ex_output output = {.positions = positions};
    exi_rig_job j = {.rig = rig,
                     .outputs = &output,
                     .muted = muted,
                     .given = weights,
                     .tasks = tasks,
                     .pose_count = 1,
                     .chunk_count = count_chunks(rig),
                     .lanes = count_lanes(rig, 0, 1)};
    run_stages(&j, scratch);
}

void ex_rig_evaluate(const ex_rig *rig, const ex_pose *pose, const ex_output *output, const ex_evaluation *evaluation,
                     void *scratch) {
    ex_rig_evaluate_many(rig, 1, pose, output, evaluation, scratch);
}

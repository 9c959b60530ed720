/*
 * Evaluating a rig: weigh every layer at the pose, then blend all layers' examples in one pass over the tiles.
 *
 * Work is cut into chunks of tiles whose place does not depend on the number of threads; each chunk makes its own
 * boxes, which are joined in order afterwards. So results do not depend on who did which chunk.
 */
#include "runtime/base/memory.h"
#include "runtime/base/result.h"
#include "runtime/rig/rig.h"

#include <float.h>
#include <string.h>

/* Tiles in a chunk: long enough for two streams through memory, short enough to stay in a cache for many poses. */
enum { CHUNK = 64 };

/* Scratch of one pose. */
typedef struct pose_scratch {
    double *point;   /* [largest_dimension] */
    double *weights; /* [examples] */
    float *floats;   /* [examples] */
    exi_term *terms; /* [examples] */
} pose_scratch;

typedef struct job {
    const ex_rig *rig;
    const ex_pose *poses;
    const ex_output *outputs;
    const ex_evaluation *evaluation;
    char *pose_memory;
    size_t pose_size;
    exi_blend *blends; /* [pose_count] */
    int pose_count;
    int chunk_count;
    float *boxes; /* [pose_count][chunk_count][6] */
} job;

static int count_chunks(const ex_rig *rig) {
    return (exi_rig_forms(rig)->tile_count + CHUNK - 1) / CHUNK;
}

static size_t pose_scratch_size(const ex_rig *rig) {
    size_t examples = (size_t)rig->counts.examples;
    size_t size = (size_t)rig->largest_dimension * sizeof(double) +
                  examples * (sizeof(double) + sizeof(float) + sizeof(exi_term));
    return (size + 15) / 16 * 16;
}

static pose_scratch pose_scratch_at(const job *j, int pose) {
    size_t examples = (size_t)j->rig->counts.examples;
    pose_scratch s;
    s.point = (double *)(void *)(j->pose_memory + (size_t)pose * j->pose_size);
    s.weights = s.point + j->rig->largest_dimension;
    s.terms = (exi_term *)(void *)(s.weights + examples);
    s.floats = (float *)(void *)(s.terms + examples);
    return s;
}

size_t ex_rig_scratch_size(const ex_rig *rig, int pose_count) {
    size_t boxes = (size_t)count_chunks(rig) * 6 * sizeof(float);
    return (size_t)(pose_count > 0 ? pose_count : 0) * (pose_scratch_size(rig) + sizeof(exi_blend) + boxes) + 64;
}

/* ---- weigh ---- */

static void gather_point(const ex_rig *rig, const exi_layer_record *layer, const double *inputs, double *point) {
    const int32_t *axis_inputs = (const int32_t *)exi_rig_at(rig, rig->axis_inputs) + layer->first_axis;
    for (int i = 0; i < layer->axis_count; i++) {
        const exi_input_record *input = &exi_rig_inputs(rig)[axis_inputs[i]];
        int width = input->axis.kind == EX_AXIS_SCALAR ? 1 : 4;
        memcpy(point, inputs + input->offset, (size_t)width * sizeof *point);
        point += width;
    }
}

static const ex_weigher *layer_weigher(const ex_rig *rig, int layer, const ex_evaluation *evaluation) {
    const ex_weigher *own = ex_rig_weigher(rig, layer);
    const ex_weigher *other = evaluation && evaluation->weighers ? evaluation->weighers[layer] : NULL;
    if (!other)
        return own;
    if (other->example_count == own->example_count && other->dimension == own->dimension)
        return other;
    exi_misuse("ex_rig_evaluate", "a replaced weigher has another number of examples or axes");
    return own;
}

static void weigh_pose(const job *j, int pose) {
    const ex_rig *rig = j->rig;
    pose_scratch s = pose_scratch_at(j, pose);
    const double *inputs = j->poses ? j->poses[pose].inputs : NULL;
    for (int l = 0; l < rig->counts.layers; l++) {
        const exi_layer_record *layer = &exi_rig_layers(rig)[l];
        double *weights = s.weights + layer->first_example;
        if (j->evaluation && j->evaluation->muted && j->evaluation->muted[l]) {
            memset(weights, 0, (size_t)layer->example_count * sizeof *weights);
            continue;
        }
        if (inputs)
            gather_point(rig, layer, inputs, s.point);
        ex_weigher_evaluate(layer_weigher(rig, l, j->evaluation), inputs ? s.point : NULL, weights);
    }
    for (int k = 0; k < rig->counts.examples; k++)
        s.floats[k] = (float)s.weights[k];
    const ex_output *output = &j->outputs[pose];
    if (output->weights)
        memcpy(output->weights, s.weights, (size_t)rig->counts.examples * sizeof *s.weights);
    j->blends[pose] = (exi_blend){.positions = output->positions,
                                  .stride = output->position_stride ? output->position_stride : 3 * sizeof(float)};
    exi_forms_set_terms(exi_rig_forms(rig), s.floats, s.terms, &j->blends[pose]);
}

static void weigh_range(void *context, int begin, int end) {
    for (int pose = begin; pose < end; pose++)
        weigh_pose(context, pose);
}

/* ---- shape ---- */

static const float empty_box[6] = {FLT_MAX, FLT_MAX, FLT_MAX, -FLT_MAX, -FLT_MAX, -FLT_MAX};

static void shape_range(void *context, int begin, int end) {
    const job *j = context;
    const ex_forms *forms = exi_rig_forms(j->rig);
    for (int chunk = begin; chunk < end; chunk++) {
        int first = chunk * CHUNK;
        int last = first + CHUNK < forms->tile_count ? first + CHUNK : forms->tile_count;
        for (int pose = 0; pose < j->pose_count; pose++) {
            exi_blend blend = j->blends[pose];
            if (j->outputs[pose].box) {
                blend.box = j->boxes + ((size_t)pose * (size_t)j->chunk_count + (size_t)chunk) * 6;
                memcpy(blend.box, empty_box, sizeof empty_box);
            }
            if (blend.positions || blend.box)
                exi_forms_blend_tiles(forms, &blend, first, last);
        }
    }
}

static void join_boxes(const job *j, int pose) {
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

/* ---- the entry points ---- */

/* Chunks that together take long enough to be worth handing to a thread: some 64k sums. */
static int chunk_grain(const ex_rig *rig, int pose_count) {
    int64_t sums = (int64_t)CHUNK * EXI_TILE_FLOATS * (rig->counts.examples + 1) * pose_count;
    int64_t grain = sums > 0 ? 65536 / sums : 1;
    return grain > 1 ? (int)grain : 1;
}

void ex_rig_evaluate_many(const ex_rig *rig, int pose_count, const ex_pose *poses, const ex_output *outputs,
                          const ex_evaluation *evaluation, void *scratch) {
    if (!rig || pose_count < 0 || (pose_count > 0 && (!outputs || !scratch))) {
        exi_misuse(__func__, "no rig, outputs or scratch");
        return;
    }
    uintptr_t memory = ((uintptr_t)scratch + 15) / 16 * 16;
    job j = {.rig = rig,
             .poses = poses,
             .outputs = outputs,
             .evaluation = evaluation,
             .pose_memory = (char *)memory,
             .pose_size = pose_scratch_size(rig),
             .pose_count = pose_count,
             .chunk_count = count_chunks(rig)};
    j.blends = (exi_blend *)(void *)(j.pose_memory + (size_t)pose_count * j.pose_size);
    j.boxes = (float *)(void *)(j.blends + pose_count);
    const ex_tasks *tasks = evaluation ? evaluation->tasks : NULL;
    exi_run(tasks, pose_count, 8, weigh_range, &j);
    exi_run(tasks, pose_count > 0 ? j.chunk_count : 0, chunk_grain(rig, pose_count), shape_range, &j);
    for (int pose = 0; pose < pose_count; pose++)
        join_boxes(&j, pose);
}

void ex_rig_evaluate(const ex_rig *rig, const ex_pose *pose, const ex_output *output, const ex_evaluation *evaluation,
                     void *scratch) {
    ex_rig_evaluate_many(rig, 1, pose, output, evaluation, scratch);
}

/*
 * Compares the rig with the file. Frames are processed in batches: the rig is evaluated for a whole batch, then each
 * frame is visited by one thread. The file is evaluated as viewers do it,
 *
 *     x(v) = sum over j of w_j(v) M_j (rest(v) + sum over k of a_k target_k(v)),
 *
 * and errors are distances between its vertices and the rig's, in metres.
 */
#include "author/bake/bake.h"

#include "author/base/array.h"
#include "author/base/progress.h"
#include "runtime/base/memory.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BATCH_MAX   32
#define BATCH_BYTES (96 << 20)

/* ---- the file's own evaluation ---- */

void exi_bake_pose(const exi_bake *bake, const ex_transform *locals, exi_bake_room *room) {
    room->palette = NULL;
    if (!bake->skin)
        return;
    const ex_skeleton_input input = {.locals = locals};
    const ex_skeleton_output output = {.matrices = room->matrices};
    ex_skeleton_evaluate(ex_rig_skeleton(bake->rig), &input, &output, room->skeleton);
    const ex_palette_def def = {
        .method = EX_SKINNING_LINEAR, .joint_count = bake->joint_count, .matrices = room->matrices};
    room->palette = ex_palette_make(&def, room->palette_room);
}

void exi_bake_form(const exi_bake *bake, const float *weights, float *form) {
    memcpy(form, bake->rest, (size_t)bake->vertex_count * 3 * sizeof *form);
    for (int k = 0; k < bake->target_count; k++) {
        const exi_bake_target *target = &bake->targets[k];
        const float weight = weights[k];
        for (size_t i = 0; weight != 0 && i < (size_t)target->count; i++) {
            float *p = form + 3 * (size_t)target->vertices[i];
            for (size_t c = 0; c < 3; c++)
                p[c] += weight * target->deltas[3 * i + c];
        }
    }
}

void exi_bake_skin_form(const ex_skin *skin, const exi_bake_room *room, int vertex_count, float *form) {
    if (!room->palette)
        return;
    const ex_skin_job job = {.begin = 0, .end = vertex_count, .positions = form, .out_positions = form};
    ex_skin_apply(skin, room->palette, &job);
}

/* ---- walking over the frames ---- */

typedef struct batch {
    const exi_bake *bake;
    const exi_bake_walk *walk;
    int size, first; /* frames per batch; index of the first one in the walk */
    float *truths[BATCH_MAX];
    exi_bake_room rooms[BATCH_MAX];
    void *scratch;
} batch;

static int frame_at(const exi_bake_walk *walk, int index) {
    return walk->frames ? walk->frames[index] : index;
}

static bool open_room(const exi_bake *bake, exi_bake_room *room) {
    const size_t vertices = (size_t)bake->vertex_count, joints = bake->skin ? (size_t)bake->joint_count : 0;
    room->form = exi_array_allocate(vertices, 3 * sizeof *room->form);
    room->loose = exi_array_allocate(vertices, 3 * sizeof *room->loose);
    room->matrices = exi_array_allocate(joints, 12 * sizeof *room->matrices);
    room->skeleton = exi_array_allocate(joints ? ex_skeleton_scratch_size(ex_rig_skeleton(bake->rig)) : 0, 1);
    room->palette_room = exi_array_allocate(joints ? ex_palette_size(EX_SKINNING_LINEAR, bake->joint_count) : 0, 1);
    return room->form && room->loose && room->matrices && room->skeleton && room->palette_room;
}

static void close_batch(batch *b) {
    for (int i = 0; i < b->size; i++) {
        free(b->truths[i]);
        free(b->rooms[i].form);
        free(b->rooms[i].loose);
        free(b->rooms[i].matrices);
        free(b->rooms[i].skeleton);
        free(b->rooms[i].palette_room);
    }
    free(b->scratch);
}

static ex_evaluation evaluation_of(const batch *b) {
    return (ex_evaluation){.muted = b->bake->muted,
                           .level = b->bake->level,
                           .unskinned = b->walk->truth == EXI_BAKE_UNPOSED,
                           .tasks = b->bake->options.tasks};
}

static bool open_batch(batch *b) {
    const size_t vertices = (size_t)b->bake->vertex_count, bytes = vertices * 48;
    const size_t fits = BATCH_BYTES / (bytes > 0 ? bytes : 1);
    b->size = fits < 1 ? 1 : fits > BATCH_MAX ? BATCH_MAX : (int)fits;
    b->size = b->size < b->walk->count ? b->size : b->walk->count;
    bool good = true;
    for (int i = 0; i < b->size; i++) {
        const bool room = open_room(b->bake, &b->rooms[i]);
        b->truths[i] = b->walk->truth != EXI_BAKE_NOTHING ? exi_array_allocate(vertices, 3 * sizeof(float)) : NULL;
        good = good && room && (b->truths[i] || b->walk->truth == EXI_BAKE_NOTHING);
    }
    const ex_evaluation how = evaluation_of(b);
    b->scratch = exi_array_allocate(
        b->walk->truth != EXI_BAKE_NOTHING ? ex_rig_scratch_size(b->bake->rig, &how, b->size) : 0, 1);
    return good && b->scratch;
}

static void evaluate_batch(batch *b, int count) {
    ex_pose poses[BATCH_MAX];
    ex_output outputs[BATCH_MAX];
    for (int i = 0; i < count; i++) {
        poses[i] = b->bake->motion->poses[frame_at(b->walk, b->first + i)];
        outputs[i] = (ex_output){.positions = b->truths[i]};
    }
    const ex_evaluation how = evaluation_of(b);
    ex_rig_evaluate_many(b->bake->rig, count, poses, outputs, &how, b->scratch);
}

static void visit_range(void *context, int begin, int end) {
    batch *b = context;
    for (int i = begin; i < end; i++) {
        const int index = b->first + i;
        b->walk->visit(b->walk->context, index, frame_at(b->walk, index), b->truths[i], &b->rooms[i]);
    }
}

ex_result exi_bake_walk_frames(const exi_bake *bake, const exi_bake_walk *walk) {
    batch *b = calloc(1, sizeof *b);
    ex_result result = EX_OK;
    bool room = false;
    if (b) {
        *b = (batch){.bake = bake, .walk = walk};
        room = open_batch(b);
        for (; room && result == EX_OK && b->first < walk->count; b->first += b->size) {
            const int left = walk->count - b->first, count = left < b->size ? left : b->size;
            if (walk->truth != EXI_BAKE_NOTHING)
                evaluate_batch(b, count);
            exi_run(bake->options.tasks, count, 1, visit_range, b);
            const double part = walk->begin + (walk->end - walk->begin) * (b->first + count) / walk->count;
            if (!exi_progress_tell(bake->options.progress, walk->what, part))
                result = exi_progress_stopped(bake->error);
        }
        close_batch(b);
    }
    free(b);
    return room ? result : ex_error_memory(bake->error, "frames", (size_t)bake->vertex_count * 48);
}

/* ---- errors ---- */

exi_bake_miss exi_bake_compare(const float *a, const float *b, int vertex_count) {
    exi_bake_miss miss = {.vertex = 0};
    double largest = 0;
    for (int v = 0; v < vertex_count; v++) {
        double square = 0;
        for (int c = 0; c < 3; c++) {
            const double d = (double)a[3 * (size_t)v + (size_t)c] - (double)b[3 * (size_t)v + (size_t)c];
            square += d * d;
        }
        miss.squares += square;
        if (!(square <= largest)) { /* a number that is not finite counts as the largest */
            largest = square;
            miss.vertex = v;
        }
    }
    miss.largest = sqrt(largest);
    return miss;
}

ex_bake_error exi_bake_gather(const exi_bake_miss *misses, int frame_count, int vertex_count) {
    ex_bake_error error = {.frame = 0, .vertex = misses[0].vertex};
    double squares = 0;
    for (int f = 0; f < frame_count; f++) {
        squares += misses[f].squares;
        if (f == 0 || !(misses[f].largest <= error.largest)) {
            error.largest = misses[f].largest;
            error.frame = f;
            error.vertex = misses[f].vertex;
        }
    }
    error.rms = sqrt(squares / ((double)frame_count * vertex_count));
    return error;
}

typedef struct measure {
    const exi_bake *bake;
    const float *weights;
    const ex_transform *locals;
    exi_bake_miss *misses; /* [frame_count] */
} measure;

static void measure_frame(void *context, int index, int frame, const float *truth, exi_bake_room *room) {
    const measure *m = context;
    const exi_bake *bake = m->bake;
    exi_bake_pose(bake, m->locals + (size_t)frame * (size_t)bake->joint_count, room);
    exi_bake_form(bake, m->weights + (size_t)frame * (size_t)bake->target_count, room->form);
    exi_bake_skin_form(bake->skin, room, bake->vertex_count, room->form);
    m->misses[index] = exi_bake_compare(truth, room->form, bake->vertex_count);
}

/* Compares the rig's form at rest under the full skin with the same form under the file's skin. */
static void measure_skins(void *context, int index, int frame, const float *truth, exi_bake_room *room) {
    const measure *m = context;
    const exi_bake *bake = m->bake;
    const size_t bytes = (size_t)bake->vertex_count * 3 * sizeof(float);
    float *whole = (float *)room->loose;
    exi_bake_pose(bake, bake->locals + (size_t)frame * (size_t)bake->joint_count, room);
    memcpy(whole, truth, bytes);
    memcpy(room->form, truth, bytes);
    exi_bake_skin_form(bake->full, room, bake->vertex_count, whole);
    exi_bake_skin_form(bake->skin, room, bake->vertex_count, room->form);
    m->misses[index] = exi_bake_compare(whole, room->form, bake->vertex_count);
}

static ex_result run_measure(const exi_bake *bake, measure *m, exi_bake_walk *walk, ex_bake_error *error) {
    m->misses = exi_array_allocate((size_t)bake->frame_count, sizeof *m->misses);
    if (!m->misses)
        return ex_error_memory(bake->error, "the frames' errors", (size_t)bake->frame_count * sizeof *m->misses);
    walk->context = m;
    walk->count = bake->frame_count;
    ex_result result = exi_bake_walk_frames(bake, walk);
    if (result == EX_OK)
        *error = exi_bake_gather(m->misses, bake->frame_count, bake->vertex_count);
    free(m->misses);
    return result;
}

ex_result exi_bake_measure(const exi_bake *bake, const float *weights, const ex_transform *locals,
                           ex_bake_error *total) {
    measure m = {.bake = bake, .weights = weights, .locals = locals};
    exi_bake_walk walk = {
        .truth = EXI_BAKE_POSED, .visit = measure_frame, .what = "comparing with the rig", .begin = 0.8, .end = 1};
    return run_measure(bake, &m, &walk, total);
}

ex_result exi_bake_measure_influences(const exi_bake *bake, ex_bake_error *influences) {
    *influences = (ex_bake_error){.largest = 0};
    if (!bake->full)
        return EX_OK;
    measure m = {.bake = bake};
    exi_bake_walk walk = {
        .truth = EXI_BAKE_UNPOSED, .visit = measure_skins, .what = "measuring influences", .begin = 0.1, .end = 0.2};
    return run_measure(bake, &m, &walk, influences);
}

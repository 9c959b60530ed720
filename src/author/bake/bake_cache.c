/*
 * Bakes a motion to a point cache: every vertex of the level at every frame, as evaluated, in source order.
 */
#include "author/bake/bake.h"

#include "author/base/array.h"
#include "author/base/progress.h"

#include <exemplar/author/cache.h>

#include <math.h>
#include <stdlib.h>

#define BATCH_MAX   32
#define BATCH_BYTES (64 << 20)

typedef struct baker {
    const ex_rig *rig;
    const ex_motion *motion;
    ex_evaluation how;
    const ex_progress *progress;
    const ex_bake_evaluator *evaluator; /* NULL: use the runtime */
    int vertex_count, size;             /* size: frames per batch */
    float *positions;                   /* [size][vertex_count][3]; with an evaluator, of one frame */
    void *scratch;
    ex_cache_writer *writer;
    ex_error *error;
} baker;

static ex_result write_frame(const baker *b, int frame, const float *positions) {
    for (size_t i = 0; i < 3 * (size_t)b->vertex_count; i++)
        if (!isfinite(positions[i]))
            return ex_error_set(
                b->error, EX_ERROR_DATA,
                "vertex %zu (counting from 0) of frame %d (counting from 1) is too far away for a float", i / 3,
                frame + 1);
    return ex_cache_write(b->writer, positions, b->error);
}

/* Evaluates frames first to first + count - 1, and points *positions to them. */
static ex_result evaluate(const baker *b, int first, int count, const float **positions) {
    const ex_pose *poses = b->motion->poses + first;
    if (b->evaluator)
        return b->evaluator->evaluate(b->evaluator->user, count, poses, positions, b->error);
    ex_output outputs[BATCH_MAX];
    for (int i = 0; i < count; i++)
        outputs[i] = (ex_output){.positions = b->positions + (size_t)i * 3 * (size_t)b->vertex_count};
    ex_rig_evaluate_many(b->rig, count, poses, outputs, &b->how, b->scratch);
    *positions = b->positions;
    return EX_OK;
}

static ex_result write_frames(baker *b) {
    const size_t numbers = 3 * (size_t)b->vertex_count;
    const int total = b->motion->pose_count;
    ex_result result = EX_OK;
    for (int first = 0; result == EX_OK && first < total; first += b->size) {
        const int count = total - first < b->size ? total - first : b->size;
        const float *positions = NULL;
        result = evaluate(b, first, count, &positions);
        for (int i = 0; result == EX_OK && i < count; i++)
            result = write_frame(b, first + i, positions + (size_t)i * numbers);
        if (result == EX_OK && !exi_progress_tell(b->progress, "writing frames", (double)(first + count) / total))
            result = exi_progress_stopped(b->error);
    }
    return result;
}

static ex_result open_baker(baker *b, int level) {
    const size_t bytes = (size_t)b->vertex_count * 12;
    const size_t fits = BATCH_BYTES / (bytes > 0 ? bytes : 1);
    b->size = b->evaluator ? b->evaluator->frame_most : fits < 1 ? 1 : fits > BATCH_MAX ? BATCH_MAX : (int)fits;
    b->size = b->size < b->motion->pose_count ? b->size : b->motion->pose_count;
    b->how.level = level;
    const int own = b->evaluator ? 1 : b->size;
    b->positions = exi_array_allocate((size_t)own * bytes, 1);
    b->scratch = exi_array_allocate(ex_rig_scratch_size(b->rig, &b->how, own), 1);
    return b->positions && b->scratch ? EX_OK : ex_error_memory(b->error, "frames", (size_t)own * bytes);
}

/* Makes the faces, groups and materials of OBJ and Alembic files; other formats have none. */
static ex_result make_mesh(const baker *b, const char *path, ex_mesh **mesh) {
    if (!ex_cache_needs_mesh(path))
        return EX_OK;
    const ex_surface surface = {.level = b->how.level, .positions = b->positions};
    ex_rig_evaluate_many(b->rig, 1, b->motion->poses, &(ex_output){.positions = b->positions}, &b->how, b->scratch);
    return ex_rig_to_mesh(b->rig, &surface, mesh, b->error);
}

ex_result ex_bake_cache(const ex_rig *rig, const ex_motion *motion, const char *path, const ex_bake_options *options,
                        ex_error *error) {
    static const ex_bake_options plain;
    if (!rig || !motion || !path)
        return exi_misuse_error(error, __func__, "no rig, motion or path");
    const ex_bake_options *o = options ? options : &plain;
    baker b = {.rig = rig,
               .motion = motion,
               .how = {.muted = o->muted, .tasks = o->tasks},
               .progress = o->progress,
               .evaluator = o->evaluator,
               .vertex_count = ex_rig_level_vertex_count(rig, o->level),
               .error = error};
    if (b.evaluator && (!b.evaluator->evaluate || b.evaluator->frame_most < 1))
        return exi_misuse_error(error, __func__, "an evaluator without a function");
    if (ex_cache_kind_of(path) == EX_CACHE_KIND_COUNT)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "cannot write '%s': point caches are .pc2, .mdd, .abc or .obj",
                            path);
    if (motion->pose_count < 1)
        return ex_error_set(error, EX_ERROR_DATA, "the motion has no frames");
    if (b.vertex_count == 0)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "the rig has no level %d", o->level);
    ex_mesh *mesh = NULL;
    ex_result result = open_baker(&b, o->level);
    if (result == EX_OK)
        result = make_mesh(&b, path, &mesh);
    if (result == EX_OK)
        result = ex_cache_create(path, b.vertex_count, motion->pose_count, motion->times, mesh, &b.writer, error);
    if (result == EX_OK) {
        result = write_frames(&b);
        const ex_result finished = ex_cache_finish(b.writer, result == EX_OK, result == EX_OK ? error : NULL);
        result = result == EX_OK ? finished : result;
    }
    ex_mesh_destroy(mesh);
    free(b.positions);
    free(b.scratch);
    return result;
}

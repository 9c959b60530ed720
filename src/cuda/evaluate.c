/*
 * One call of evaluation: checks and sets up the request, then queues the stages in the stream, one kernel each:
 * prepare, nodes of mixtures, shape, refine, normals, boxes, write. Results are written directly to the caller's arrays
 * if possible; split vertices, 16-bit numbers and host memory go through scratch.
 *
 * Crowds with forms and linear skinning take one kernel from weights to normals (crowd.cu). A few instances are
 * prepared within the kernel that shapes them, so that a single character is one launch.
 */
#include "cuda/device.h"
#include "cuda/kernels/kernels.h"
#include "cuda/work.h"
#include "runtime/base/result.h"
#include "runtime/rig/rig.h"

#include <cuda_runtime_api.h>

#include <string.h>

/* Number of instances from which the crowd's kernel is faster. */
enum { CROWD_COUNT = 8 };
/* Scratch alignment in bytes. */
enum { SCRATCH_ALIGN = 256 };

/* A call, set up. Arrays in scratch are NULL if not needed. */
typedef struct call {
    const ex_cuda_rig *rig;
    const ex_cuda_output *output;
    exi_gpu_job job;
    ex_cuda_stream stream;
    bool split;           /* true if entries are split vertices, and these differ from the vertices */
    int entries;          /* of an instance */
    bool wants_normals;   /* true if normals are written, which need positions */
    bool wants_positions; /* true if positions are needed: by the caller, for normals or for boxes */
    bool positions_direct, normals_direct;
    float *positions, *normals;          /* in scratch */
    void *host_positions, *host_normals; /* device copies of host output */
    float *host_boxes;
    size_t size;
} call;

/* ---- checks ---- */

static const exi_gpu_level *find_level(const ex_cuda_rig *rig, int level) {
    const exi_gpu_levels *l = &rig->levels;
    if (level == EX_LEVEL_LIMIT)
        return l->limit > 0 ? &l->levels[l->limit] : NULL;
    return level >= 0 && level < l->numbered ? &l->levels[level] : NULL;
}

static size_t entry_size(ex_cuda_number number) {
    return number == EX_CUDA_FLOAT ? 3 * sizeof(float) : 4 * sizeof(uint16_t);
}

static bool is_close(const ex_cuda_array *a, int entries) {
    const size_t stride = a->stride ? a->stride : entry_size(a->number);
    return stride == entry_size(a->number) && (!a->instance_stride || a->instance_stride == stride * (size_t)entries);
}

/* Returns an array with its strides filled in. */
static ex_cuda_array filled(const ex_cuda_array *a, int entries) {
    ex_cuda_array full = *a;
    full.stride = a->stride ? a->stride : entry_size(a->number);
    full.instance_stride = a->instance_stride ? a->instance_stride : full.stride * (size_t)entries;
    return full;
}

static ex_result check_array(const ex_cuda_array *a, const char *what, int entries, bool to_host, ex_error *error) {
    const size_t unit = a->number == EX_CUDA_FLOAT ? sizeof(float) : 4 * sizeof(uint16_t);
    if (!a->data)
        return EX_OK;
    if ((unsigned)a->number >= EX_CUDA_NUMBER_COUNT)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "%s: there is no kind of number %d", what, (int)a->number);
    if (to_host && !is_close(a, entries))
        return ex_error_set(error, EX_ERROR_ARGUMENT,
                            "%s: entries that go to the host are tightly packed: leave both strides 0", what);
    if (a->stride % unit != 0 || a->instance_stride % unit != 0 || (!to_host && (uintptr_t)a->data % unit != 0))
        return ex_error_set(error, EX_ERROR_ARGUMENT,
                            "%s: strides of %zu and %zu bytes, or the address, are not multiples of %zu", what,
                            a->stride, a->instance_stride, unit);
    if (a->stride > 0 && a->stride < entry_size(a->number))
        return ex_error_set(error, EX_ERROR_ARGUMENT, "%s: entries of %zu bytes do not fit a stride of %zu", what,
                            entry_size(a->number), a->stride);
    return EX_OK;
}

/* Checks device memory for floats. */
static ex_result check_address(const void *data, const char *what, ex_error *error) {
    if ((uintptr_t)data % sizeof(float) != 0)
        return ex_error_set(error, EX_ERROR_ARGUMENT, "%s: the address is not a multiple of %zu", what, sizeof(float));
    return EX_OK;
}

static ex_result check_addresses(const ex_cuda_poses *poses, const ex_cuda_output *o, ex_error *error) {
    ex_result result = poses ? check_address(poses->inputs, "poses: inputs", error) : EX_OK;
    if (result == EX_OK && poses)
        result = check_address(poses->joints, "poses: joints", error);
    if (result == EX_OK && !o->to_host)
        result = check_address(o->boxes, "boxes", error);
    if (result == EX_OK && !o->to_host)
        result = check_address(o->weights, "weights", error);
    return result;
}

static ex_result check(const call *c, ex_error *error) {
    const ex_cuda_output *o = c->output;
    ex_result result = check_array(&o->positions, "positions", c->entries, o->to_host, error);
    if (result == EX_OK)
        result = check_array(&o->normals, "normals", c->entries, o->to_host, error);
    if (result != EX_OK)
        return result;
    if (o->positions.data && o->positions.number == EX_CUDA_SNORM && !(o->frame[3] > 0))
        return ex_error_set(error, EX_ERROR_ARGUMENT,
                            "positions: snorm needs a frame, its centre and a half width above 0");
    if (c->wants_normals && !c->job.level.has_rings && !c->job.limit_normals)
        return ex_error_set(error, EX_ERROR_ARGUMENT,
                            "normals: the rig has none at this level: it has no faces, or was made without normals");
    return EX_OK;
}

/* ---- setup ---- */

static void *take(char *scratch, size_t *used, size_t size) {
    void *at = scratch && size > 0 ? scratch + *used : NULL;
    *used += (size + SCRATCH_ALIGN - 1) / SCRATCH_ALIGN * SCRATCH_ALIGN;
    return at;
}

static void set_muted(call *c, const bool *muted) {
    memcpy(c->job.muted, c->rig->muted, sizeof c->job.muted);
    for (int l = 0; muted && l < c->rig->head.layer_count; l++) {
        const uint32_t bit = 1U << (l % 32);
        c->job.muted[l / 32] = muted[l] ? c->job.muted[l / 32] | bit : c->job.muted[l / 32] & ~bit;
    }
    for (int i = 0; i < EXI_GPU_MUTED_WORDS; i++)
        c->job.displaced |= (c->rig->displaces[i] & ~c->job.muted[i]) != 0;
}

/* Lays out scratch; with NULL, only measures. */
static void set_scratch(call *c, char *scratch) {
    const size_t count = (size_t)c->job.count, vertices = (size_t)c->job.level.vertices;
    const size_t triples = count * vertices * 3 * sizeof(float), entries = count * (size_t)c->entries;
    const ex_cuda_output *o = c->output;
    size_t used = exi_gpu_work_lay(&c->rig->head, c->job.count, scratch, &c->job.work);
    used = (used + SCRATCH_ALIGN - 1) / SCRATCH_ALIGN * SCRATCH_ALIGN;
    const bool refined = c->job.level.tile_starts != NULL;
    c->job.cage = take(scratch, &used, refined ? count * (size_t)c->rig->head.vertices * 3 * sizeof(float) : 0);
    c->positions = take(scratch, &used, c->wants_positions && !c->positions_direct ? triples : 0);
    c->normals = take(scratch, &used, c->wants_normals && !c->normals_direct ? triples : 0);
    c->host_positions =
        take(scratch, &used, o->to_host && o->positions.data ? entries * entry_size(o->positions.number) : 0);
    c->host_normals = take(scratch, &used, o->to_host && o->normals.data ? entries * entry_size(o->normals.number) : 0);
    c->host_boxes = take(scratch, &used, o->to_host && o->boxes ? count * 6 * sizeof(float) : 0);
    c->size = used;
}

/* Sets the destination of the surface in float. */
static void set_targets(call *c) {
    const ex_cuda_array p = filled(&c->output->positions, c->entries), n = filled(&c->output->normals, c->entries);
    const uint64_t close = 3 * (uint64_t)c->job.level.vertices;
    c->job.positions = c->positions_direct ? p.data : c->positions;
    c->job.position_stride = c->positions_direct ? p.stride / sizeof(float) : 3;
    c->job.position_instance = c->positions_direct ? p.instance_stride / sizeof(float) : close;
    c->job.normals = c->normals_direct ? n.data : c->normals;
    c->job.normal_stride = c->normals_direct ? n.stride / sizeof(float) : 3;
    c->job.normal_instance = c->normals_direct ? n.instance_stride / sizeof(float) : close;
}

/* Sets up everything without checking it; false if there is no such level. */
static bool set_out(call *c, const ex_cuda_rig *rig, const ex_cuda_evaluation *evaluation, const ex_cuda_output *output,
                    int count, char *scratch) {
    static const ex_cuda_evaluation plain;
    const ex_cuda_evaluation *e = evaluation ? evaluation : &plain;
    const exi_gpu_level *level = find_level(rig, e->level);
    *c = (call){.rig = rig, .output = output, .stream = e->stream};
    if (!level)
        return false;
    c->job.count = count;
    c->job.skinned = rig->head.skin_joints != NULL && !e->unskinned;
    c->job.level = *level;
    set_muted(c, e->muted);
    c->job.displaced = c->job.displaced && level->tile_starts;
    c->job.limit_normals = level->tile_starts && !c->job.displaced && level->has_tangents;
    c->split = e->split && level->sources;
    c->entries = c->split ? level->splits : level->vertices;
    const bool direct = !output->to_host && !c->split;
    c->wants_normals = output->normals.data != NULL;
    c->wants_positions = output->positions.data || output->boxes || c->wants_normals;
    c->positions_direct = direct && output->positions.data && output->positions.number == EX_CUDA_FLOAT;
    c->normals_direct = direct && c->wants_normals && output->normals.number == EX_CUDA_FLOAT;
    set_scratch(c, scratch);
    if (output->weights && !output->to_host)
        c->job.work.weights = output->weights;
    set_targets(c);
    return true;
}

size_t ex_cuda_scratch_size(const ex_cuda_rig *rig, const ex_cuda_evaluation *evaluation, const ex_cuda_output *output,
                            int count) {
    call c;
    if (!rig || !output || !set_out(&c, rig, evaluation, output, count > 0 ? count : 0, NULL))
        return SCRATCH_ALIGN;
    return c.size + SCRATCH_ALIGN;
}

/* ---- the stages ---- */

/* Computes the cage and, if a crowd's kernel can do both, its normals. */
static int shape(const call *c, bool *normals_done) {
    const exi_gpu *g = &c->rig->head;
    const bool crowd = c->job.count >= CROWD_COUNT && exi_crowd_suits(g, &c->job);
    const bool fused = !crowd && c->wants_positions && exi_gpu_can_fuse(g, &c->job);
    int status = fused ? 0 : exi_gpu_run_prepare(g, &c->job, c->stream);
    if (status == 0 && c->wants_positions && g->mixed_nodes > 0)
        status = exi_gpu_run_nodes(g, &c->job, c->stream);
    if (status != 0 || !c->wants_positions)
        return status;
    if (!crowd)
        return exi_gpu_run_shape(g, &c->job, !fused, c->stream);
    *normals_done = c->wants_normals;
    return exi_crowd_run(g, &c->job, c->wants_normals, c->stream);
}

static int write_entries(const call *c, const ex_cuda_array *to, const float *from, void *host_copy, bool positions) {
    exi_gpu_writing w = {.from = from, .to = *to, .split = c->split, .last = positions ? 1.0F : 0.0F};
    w.in_frame = positions && to->number == EX_CUDA_SNORM;
    memcpy(w.frame, c->output->frame, sizeof w.frame);
    if (!to->data || !from)
        return 0;
    if (host_copy)
        w.to.data = host_copy;
    w.to = filled(&w.to, c->entries);
    return exi_gpu_run_write(&c->job, &w, c->stream);
}

static int to_host(const call *c, void *to, const void *from, size_t size) {
    if (!to || size == 0)
        return 0;
    return (int)cudaMemcpyAsync(to, from, size, cudaMemcpyDeviceToHost, c->stream);
}

static int finish(const call *c) {
    const ex_cuda_output *o = c->output;
    const size_t count = (size_t)c->job.count, entries = count * (size_t)c->entries;
    int status = 0;
    if (o->boxes)
        status = exi_gpu_run_boxes(&c->job, o->to_host ? c->host_boxes : o->boxes, c->stream);
    if (status == 0 && !c->positions_direct)
        status = write_entries(c, &o->positions, c->positions, c->host_positions, true);
    if (status == 0 && !c->normals_direct)
        status = write_entries(c, &o->normals, c->normals, c->host_normals, false);
    if (status != 0 || !o->to_host)
        return status;
    status = to_host(c, o->positions.data, c->host_positions, entries * entry_size(o->positions.number));
    if (status == 0)
        status = to_host(c, o->normals.data, c->host_normals, entries * entry_size(o->normals.number));
    if (status == 0)
        status = to_host(c, o->boxes, c->host_boxes, count * 6 * sizeof(float));
    if (status == 0)
        status = to_host(c, o->weights, c->job.work.weights, count * (size_t)c->rig->head.examples * sizeof(float));
    return status;
}

static int run(const call *c) {
    bool normals_done = false;
    int status = shape(c, &normals_done);
    if (status == 0 && c->job.cage && c->wants_positions)
        status = exi_gpu_run_refine(&c->rig->head, &c->job, c->stream);
    if (status == 0 && c->wants_normals && !normals_done && !c->job.limit_normals)
        status = exi_gpu_run_normals(&c->job, c->stream);
    return status == 0 ? finish(c) : status;
}

ex_result ex_cuda_evaluate(const ex_cuda_rig *rig, int count, const ex_cuda_poses *poses, const ex_cuda_output *output,
                           const ex_cuda_evaluation *evaluation, void *scratch, ex_error *error) {
    if (!rig || !output || count < 0 || (count > 0 && !scratch) || (uintptr_t)scratch % SCRATCH_ALIGN != 0)
        return exi_misuse_error(error, __func__,
                                "no rig, output or scratch, scratch that is not aligned, or a negative count");
    call c;
    if (!set_out(&c, rig, evaluation, output, count, scratch))
        return evaluation->level == EX_LEVEL_LIMIT
                   ? ex_error_set(error, EX_ERROR_ARGUMENT, "the rig has no limit surface")
                   : ex_error_set(error, EX_ERROR_ARGUMENT, "the rig has no level %d: its last is %d",
                                  evaluation->level, rig->levels.numbered - 1);
    ex_result result = check(&c, error);
    if (result == EX_OK)
        result = check_addresses(poses, output, error);
    if (result == EX_OK)
        result = exi_cuda_check_device(rig, error);
    if (result != EX_OK || count == 0)
        return result;
    c.job.inputs = poses ? poses->inputs : NULL;
    c.job.joints = poses ? poses->joints : NULL;
    (void)cudaGetLastError(); /* errors of earlier calls, which launches would report as their own */
    return exi_cuda_result(run(&c), "evaluating a rig", error);
}

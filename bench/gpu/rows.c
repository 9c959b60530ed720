/* bench/gpu/rows.c - the rows in their order; each row's memory is allocated once and released after it. */
#include "bench/gpu/gpu.h"

#include <cuda_runtime_api.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- speed of copying and writing ---- */

enum { COPY_MEGABYTES = 2000 };

typedef struct copying {
    void *from, *to;
    size_t size;
    cudaStream_t stream;
} copying;

static ex_result run_copy(void *context, int turn, ex_error *error) {
    const copying *c = context;
    const bool back = turn % 2; /* so that no part of the source is still in a cache */
    return exi_gpu_bench_said(
        cudaMemcpyAsync(back ? c->from : c->to, back ? c->to : c->from, c->size, cudaMemcpyDeviceToDevice, c->stream),
        "copying", error);
}

static ex_result run_set(void *context, int turn, ex_error *error) {
    const copying *c = context;
    (void)turn;
    return exi_gpu_bench_said(cudaMemsetAsync(c->to, 0, c->size, c->stream), "writing", error);
}

static void report_copy(const exi_gpu_bench *bench, const char *work, double us, double bytes, double copy_speed) {
    if (bench->only && strcmp(bench->only, "copy") != 0)
        return;
    exi_gpu_bench_row row = {
        .name = "copy", .us = us, .bytes = bytes, .copy_speed = copy_speed, .agreement = {-1, -1, false}};
    snprintf(row.work, sizeof row.work, "%s", work);
    bench->report(bench->user, &row);
}

/* Every run measures the copy: all rows are given as fractions of it. */
static ex_result measure_copy(const exi_gpu_bench *bench, cudaStream_t stream, double *speed, ex_error *error) {
    size_t left = 0, all = 0;
    double copy_us = 0, set_us = 0;
    ex_result result = exi_gpu_bench_said(cudaMemGetInfo(&left, &all), "asking for free memory", error);
    copying c = {.size = (size_t)COPY_MEGABYTES * 1000000, .stream = stream};
    c.size = c.size < left / 3 ? c.size : left / 3;
    const exi_gpu_bench_timed copy = {run_copy, &c, stream}, set = {run_set, &c, stream};
    if (result == EX_OK)
        result = ex_cuda_allocate(c.size, &c.from, error);
    if (result == EX_OK)
        result = ex_cuda_allocate(c.size, &c.to, error);
    if (result == EX_OK)
        result = exi_gpu_bench_said(cudaMemsetAsync(c.from, 1, c.size, stream), "writing", error);
    if (result == EX_OK)
        result = exi_gpu_bench_time(&copy, bench->repeat, &copy_us, error);
    if (result == EX_OK)
        result = exi_gpu_bench_time(&set, bench->repeat, &set_us, error);
    if (result == EX_OK) {
        char work[96];
        *speed = 2 * (double)c.size / copy_us;
        snprintf(work, sizeof work, "copy on the device, %.1f GB read and written", 2e-9 * (double)c.size);
        report_copy(bench, work, copy_us, 2 * (double)c.size, *speed);
        snprintf(work, sizeof work, "memset, %.1f GB written", 1e-9 * (double)c.size);
        report_copy(bench, work, set_us, (double)c.size, *speed);
    }
    ex_cuda_release(c.from);
    ex_cuda_release(c.to);
    return result;
}

/* ---- evaluations ---- */

/* Timing of a case. */
typedef struct timing {
    const exi_gpu_bench *bench;
    const exi_gpu_bench_case *c;
    cudaStream_t stream;
    double copy_speed;
} timing;

static ex_result run_evaluation(void *context, int turn, ex_error *error) {
    return exi_gpu_bench_bed_evaluate(context, turn, error);
}

static ex_result run_bed_set(void *context, int turn, ex_error *error) {
    const exi_gpu_bench_bed *bed = context;
    const size_t bytes = (size_t)bed->count * (size_t)bed->vertices * 12;
    (void)turn;
    ex_result result = exi_gpu_bench_said(cudaMemsetAsync(bed->positions, 0, bytes, bed->how.stream), "writing", error);
    if (result == EX_OK && bed->normals)
        result = exi_gpu_bench_said(cudaMemsetAsync(bed->normals, 0, bytes, bed->how.stream), "writing", error);
    return result;
}

static exi_gpu_bench_row row_of(const timing *t, const exi_gpu_bench_subject *subject, const exi_gpu_bench_bed *bed,
                                const char *more) {
    exi_gpu_bench_row row = {.name = t->c->name,
                             .instances = bed->count,
                             .vertices = bed->vertices,
                             .bytes = bed->output_bytes + bed->input_bytes + subject->table_bytes,
                             .copy_speed = t->copy_speed,
                             .goal_part = t->c->goal_part,
                             .goal_us = t->c->goal_us,
                             .goal_times = t->c->goal_times};
    if (bed->count < t->c->instances)
        snprintf(row.work, sizeof row.work, "%s%s: %d fit", t->c->work, more, bed->count);
    else
        snprintf(row.work, sizeof row.work, "%s%s", t->c->work, more);
    return row;
}

/* Number of copies of rig and outputs to use in turn, so that together they are many times the size of a cache. */
static int copies_for(const exi_gpu_bench_case *c, const exi_gpu_bench_subject *subject) {
    const double all = 1e9, most = 8;
    const double vertices = ex_rig_level_vertex_count(subject->rig, c->level);
    const double copies = ceil(all / (subject->table_bytes + (c->normals ? 24 : 12) * vertices * c->instances));
    return (int)(copies < most ? copies : most);
}

/* Many evaluations in a graph, over and over: the time of the GPU, not of the host. */
static ex_result measure_plainly(const timing *t, const exi_gpu_bench_subject *subject, ex_error *error) {
    exi_gpu_bench_bed bed;
    ex_result result = exi_gpu_bench_bed_open(&bed, subject->rig, t->c, copies_for(t->c, subject), t->stream, error);
    if (result == EX_OK) {
        exi_gpu_bench_row row = row_of(t, subject, &bed, "");
        const exi_gpu_bench_timed work = {run_evaluation, &bed, t->stream}, set = {run_bed_set, &bed, t->stream};
        result = exi_gpu_bench_bed_check(&bed, &row.agreement, error);
        if (result == EX_OK)
            result = exi_gpu_bench_time_graph(&work, 0, t->bench->repeat, &row.us, error);
        if (result == EX_OK && t->c->goal_times > 0) {
            row.beside = "memset of as many bytes";
            result = exi_gpu_bench_time(&set, t->bench->repeat, &row.beside_us, error);
        }
        if (result == EX_OK)
            t->bench->report(t->bench->user, &row);
    }
    exi_gpu_bench_bed_close(&bed);
    return result;
}

/* One model: a graph of one evaluation, one of a hundred, and one of two hundred with as many copies of the rig, so
 * that nothing they read and write is still in the cache. */
static ex_result measure_replay(const timing *t, const exi_gpu_bench_subject *subject, int runs, int copies,
                                const char *more, ex_error *error) {
    exi_gpu_bench_bed bed;
    ex_result result = exi_gpu_bench_bed_open(&bed, subject->rig, t->c, copies, t->stream, error);
    if (result == EX_OK) {
        exi_gpu_bench_row row = row_of(t, subject, &bed, more);
        const exi_gpu_bench_timed work = {run_evaluation, &bed, t->stream};
        row.beside = "the paper, GeForce 9800 GT";
        row.beside_us = t->c->paper_us;
        row.goal_us = copies > 1 ? 0 : row.goal_us;
        result = exi_gpu_bench_bed_check(&bed, &row.agreement, error);
        if (result == EX_OK)
            result = exi_gpu_bench_time_graph(&work, runs, t->bench->repeat, &row.us, error);
        if (result == EX_OK)
            t->bench->report(t->bench->user, &row);
    }
    exi_gpu_bench_bed_close(&bed);
    return result;
}

static ex_result measure_case(const timing *t, ex_error *error) {
    enum { RUNS = 100, COPIES = 200 };
    exi_gpu_bench_subject subject = {0};
    ex_result result = t->c->make(t->c, &subject, error);
    if (result == EX_OK && t->c->paper_us > 0) {
        result = measure_replay(t, &subject, 1, 1, ", a graph of 1", error);
        if (result == EX_OK)
            result = measure_replay(t, &subject, RUNS, 1, ", one of 100", error);
        if (result == EX_OK)
            result = measure_replay(t, &subject, COPIES, COPIES, ", one of 200 cold", error);
    } else if (result == EX_OK) {
        result = measure_plainly(t, &subject, error);
    }
    ex_rig_destroy(subject.rig);
    return result;
}

/* ---- the rows ---- */

#define BLEND(work_, examples_, storage_, goal_)                                                                       \
    {                                                                                                                  \
        .name = "blend", .work = work_, .make = exi_gpu_bench_make_blend, .instances = 1, .across = 1000,              \
        .around = 1000, .examples = examples_, .storage = storage_, .goal_part = goal_                                 \
    }
#define PATHS(work_, examples_, correctors_, screw_, goal_)                                                            \
    {                                                                                                                  \
        .name = "trajectory", .work = work_, .make = exi_gpu_bench_make_paths, .instances = 1000, .across = 200,       \
        .around = 100, .examples = examples_, .turns = true, .correctors = correctors_, .screw = screw_,               \
        .goal_part = goal_                                                                                             \
    }
#define MIXTURE(work_, instances_, examples_, correctors_)                                                             \
    {                                                                                                                  \
        .name = "mixture", .work = work_, .make = exi_gpu_bench_make_mixture, .instances = instances_, .across = 200,  \
        .around = 100, .examples = examples_, .correctors = correctors_                                                \
    }
#define CROWD(work_, skinning_, normals_, goal_)                                                                       \
    {                                                                                                                  \
        .name = "crowd", .work = work_, .make = exi_gpu_bench_make_crowd, .instances = 1000, .across = 200,            \
        .around = 50, .examples = 8, .skinning = skinning_, .normals = normals_, .goal_part = goal_                    \
    }
#define TABLE(work_, segments_, goal_, paper_)                                                                         \
    {                                                                                                                  \
        .name = "table", .work = work_, .make = exi_gpu_bench_make_paths, .instances = 1, .across = 200,               \
        .around = 100, .examples = 1, .turns = true, .segments = segments_, .goal_us = goal_, .paper_us = paper_       \
    }
#define MANY(work_, normals_)                                                                                          \
    {                                                                                                                  \
        .name = "many", .work = work_, .make = exi_gpu_bench_make_crowd, .instances = 100000, .across = 100,           \
        .around = 50, .examples = 8, .normals = normals_, .goal_times = 1.5                                            \
    }

static const exi_gpu_bench_case cases[] = {
    BLEND("blend 64 x 1M vertices", 64, EX_STORAGE_FLOAT, 0.8),
    BLEND("blend 16 x 1M vertices", 16, EX_STORAGE_FLOAT, 0),
    BLEND("blend 64 x 1M vertices, 16 bit", 64, EX_STORAGE_16_BIT, 0),
    BLEND("blend 16 x 1M vertices, 16 bit", 16, EX_STORAGE_16_BIT, 0),
    PATHS("trajectory, 1000 x 20k: turns", 1, 0, false, 0.8),
    PATHS("... turns, 3 correctors, screw", 1, 3, true, 0),
    PATHS("... 3 examples with turns", 3, 0, false, 0),
    MIXTURE("mixture, 1000 x 20k: 3 poses, 6 correctors", 1000, 3, 6),
    MIXTURE("... 5 poses, 16 correctors", 1000, 5, 16),
    MIXTURE("... 8 poses, 40 correctors", 1000, 8, 40),
    MIXTURE("mixture, 1 x 20k: 3 poses, 6 correctors", 1, 3, 6),
    MIXTURE("... 5 poses, 16 correctors", 1, 5, 16),
    MIXTURE("... 8 poses, 40 correctors", 1, 8, 40),
    CROWD("crowd, 1000 x 10k: blend 8, skin, normals", EX_SKINNING_LINEAR, true, 0.8),
    CROWD("... positions alone", EX_SKINNING_LINEAR, false, 0),
    CROWD("... dual quaternion, normals", EX_SKINNING_DUAL_QUATERNION, true, 0),
    CROWD("... dual quaternion, positions alone", EX_SKINNING_DUAL_QUATERNION, false, 0),
    TABLE("40k triangles: turns", 0, 5, 34.2),
    TABLE("... and 9 bases", 10, 8, 74.5),
    MANY("100k characters x 5000: blend 8, skin", false),
    MANY("... and normals", true),
};
enum { CASE_COUNT = (int)(sizeof cases / sizeof cases[0]) };

const char *exi_gpu_bench_name(int index) {
    if (index == 0)
        return "copy";
    for (int i = 0, count = 0; i < CASE_COUNT; i++)
        if ((i == 0 || strcmp(cases[i].name, cases[i - 1].name) != 0) && ++count == index)
            return cases[i].name;
    return NULL;
}

ex_result exi_gpu_bench_run(const exi_gpu_bench *bench, ex_error *error) {
    timing t = {.bench = bench};
    ex_result result =
        exi_gpu_bench_said(cudaStreamCreateWithFlags(&t.stream, cudaStreamNonBlocking), "a stream", error);
    if (result != EX_OK)
        return result;
    result = measure_copy(bench, t.stream, &t.copy_speed, error);
    for (int i = 0; i < CASE_COUNT + bench->more_count && result == EX_OK; i++) {
        t.c = i < CASE_COUNT ? &cases[i] : &bench->more[i - CASE_COUNT];
        if (!bench->only || strcmp(bench->only, t.c->name) == 0)
            result = measure_case(&t, error);
    }
    cudaStreamDestroy(t.stream);
    return result;
}

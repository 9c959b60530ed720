/* bench/gpu/bed.c - memory and poses of a row's evaluations, and their comparison with the CPU. */
#include "bench/gpu/gpu.h"
#include "bench/gpu/surety.h"

#include <cuda_runtime_api.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Fraction of the free memory that a row may use. */
static const double memory_part = 0.92;

static size_t align(size_t bytes) {
    return (bytes + 255) / 256 * 256;
}

/* ---- poses ---- */

/* Pseudo-random number in [0, 1), the same in every run: the top bits of a multiplied and folded number. */
static double made_up(uint64_t number) {
    number = (number + 1) * 0x9e3779b97f4a7c15u;
    number = (number ^ (number >> 29)) * 0xbf58476d1ce4e5b9u;
    return (double)((number ^ (number >> 32)) >> 11) * 0x1p-53;
}

/* Dials anywhere in their range from 0 to 1, joints turned by up to a fifth of a radian about each axis. */
static ex_result make_poses(exi_gpu_bench_bed *bed, ex_error *error) {
    const size_t dials = (size_t)ex_rig_pose_size(bed->rig), joints = (size_t)ex_rig_joint_count(bed->rig);
    const size_t count = (size_t)bed->count;
    bed->inputs = malloc(count * dials * sizeof *bed->inputs + 1);
    bed->joints = malloc(count * joints * sizeof *bed->joints + 1);
    ex_transform *rest = malloc(joints * sizeof *rest + 1);
    if (bed->inputs && bed->joints && rest) {
        for (size_t i = 0; i < count * dials; i++)
            bed->inputs[i] = (float)made_up(i);
        if (joints > 0)
            ex_rig_rest_pose(bed->rig, &(ex_pose){.joints = rest});
        for (size_t i = 0; i < count * joints; i++) {
            bed->joints[i] = rest[i % joints];
            for (size_t c = 0; c < 3; c++)
                bed->joints[i].rotation[c] += (float)(0.2 * (made_up(3 * i + c) - 0.5));
        }
    }
    const bool good = bed->inputs && bed->joints && rest;
    free(rest);
    return good ? EX_OK : ex_error_memory(error, "poses", count * (dials * 4 + joints * sizeof(ex_transform)));
}

static ex_result upload_poses(exi_gpu_bench_bed *bed, ex_error *error) {
    const size_t dials = (size_t)bed->count * (size_t)ex_rig_pose_size(bed->rig) * sizeof *bed->inputs;
    const size_t joints = (size_t)bed->count * (size_t)ex_rig_joint_count(bed->rig) * sizeof *bed->joints;
    ex_result result = EX_OK;
    if (dials > 0)
        result = ex_cuda_allocate(dials, &bed->device_inputs, error);
    if (result == EX_OK && joints > 0)
        result = ex_cuda_allocate(joints, &bed->device_joints, error);
    if (result == EX_OK && dials > 0)
        result = ex_cuda_copy(bed->device_inputs, bed->inputs, dials, bed->how.stream, error);
    if (result == EX_OK && joints > 0)
        result = ex_cuda_copy(bed->device_joints, bed->joints, joints, bed->how.stream, error);
    bed->input_bytes = (double)(dials + joints);
    return result == EX_OK ? ex_cuda_wait(bed->how.stream, error) : result;
}

/* ---- memory ---- */

static ex_cuda_output output_of(const exi_gpu_bench_bed *bed, int copy) {
    ex_cuda_output output = {.positions.data = bed->positions + (size_t)copy * bed->form_bytes};
    if (bed->normals)
        output.normals.data = bed->normals + (size_t)copy * bed->form_bytes;
    return output;
}

/* Bytes of device memory for that number of instances, without the rig. */
static double bytes_for(const exi_gpu_bench_bed *bed, const exi_gpu_bench_case *c, int count) {
    char nowhere = 0;
    const ex_cuda_output output = {.positions.data = &nowhere, .normals.data = c->normals ? &nowhere : NULL};
    const double poses =
        4 * (double)ex_rig_pose_size(bed->rig) + (double)sizeof(ex_transform) * (double)ex_rig_joint_count(bed->rig);
    const double forms = (c->normals ? 24 : 12) * (double)bed->vertices;
    return (poses + forms * bed->copies) * count +
           (double)bed->copies * (double)ex_cuda_scratch_size(bed->gpu[0], &bed->how, &output, count);
}

static ex_result choose_count(exi_gpu_bench_bed *bed, const exi_gpu_bench_case *c, ex_error *error) {
    size_t left = 0, all = 0;
    ex_result result = exi_gpu_bench_said(cudaMemGetInfo(&left, &all), "asking for free memory", error);
    bed->count = c->instances;
    while (result == EX_OK && bytes_for(bed, c, bed->count) > memory_part * (double)left) {
        if (bed->count == 1)
            return ex_error_set(error, EX_ERROR_MEMORY, "the GPU has no memory for '%s': %.1f GB are free", c->work,
                                1e-9 * (double)left);
        bed->count /= 2;
    }
    return result;
}

static ex_result allocate(exi_gpu_bench_bed *bed, const exi_gpu_bench_case *c, ex_error *error) {
    const size_t copies = (size_t)bed->copies, form = (size_t)bed->count * (size_t)bed->vertices * 12;
    void *memory = NULL;
    bed->form_bytes = align(form);
    bed->output_bytes = (double)form * (c->normals ? 2 : 1);
    ex_result result = ex_cuda_allocate(copies * bed->form_bytes, &memory, error);
    bed->positions = memory;
    if (result == EX_OK && c->normals) {
        result = ex_cuda_allocate(copies * bed->form_bytes, &memory, error);
        bed->normals = result == EX_OK ? memory : NULL;
    }
    if (result == EX_OK) {
        const ex_cuda_output output = output_of(bed, 0);
        bed->scratch_bytes = align(ex_cuda_scratch_size(bed->gpu[0], &bed->how, &output, bed->count));
        result = ex_cuda_allocate(copies * bed->scratch_bytes + 256, &memory, error);
        bed->scratch = result == EX_OK ? memory : NULL;
    }
    return result;
}

ex_result exi_gpu_bench_bed_open(exi_gpu_bench_bed *bed, const ex_rig *rig, const exi_gpu_bench_case *c, int copies,
                                 ex_cuda_stream stream, ex_error *error) {
    *bed = (exi_gpu_bench_bed){.rig = rig, .copies = copies, .vertices = ex_rig_level_vertex_count(rig, c->level)};
    bed->how = (ex_cuda_evaluation){.level = c->level, .stream = stream};
    bed->gpu = calloc((size_t)copies, sizeof *bed->gpu);
    ex_result result = bed->gpu ? EX_OK : ex_error_memory(error, "a measurement", (size_t)copies * sizeof *bed->gpu);
    for (int i = 0; i < copies && result == EX_OK; i++)
        result = ex_cuda_rig_create(rig, NULL, &bed->gpu[i], error);
    if (result == EX_OK)
        result = choose_count(bed, c, error);
    if (result == EX_OK)
        result = make_poses(bed, error);
    if (result == EX_OK)
        result = upload_poses(bed, error);
    if (result == EX_OK)
        result = allocate(bed, c, error);
    return result;
}

void exi_gpu_bench_bed_close(exi_gpu_bench_bed *bed) {
    ex_cuda_wait(bed->how.stream, NULL);
    for (int i = 0; bed->gpu && i < bed->copies; i++)
        ex_cuda_rig_destroy(bed->gpu[i]);
    free(bed->gpu);
    free(bed->inputs);
    free(bed->joints);
    ex_cuda_release(bed->device_inputs);
    ex_cuda_release(bed->device_joints);
    ex_cuda_release(bed->positions);
    ex_cuda_release(bed->normals);
    ex_cuda_release(bed->scratch);
}

ex_result exi_gpu_bench_bed_evaluate(const exi_gpu_bench_bed *bed, int turn, ex_error *error) {
    const int copy = turn % bed->copies;
    const ex_cuda_output output = output_of(bed, copy);
    const ex_cuda_poses poses = {bed->device_inputs, bed->device_joints};
    return ex_cuda_evaluate(bed->gpu[copy], bed->count, &poses, &output, &bed->how,
                            bed->scratch + (size_t)copy * bed->scratch_bytes, error);
}

/* ---- comparing with the CPU ---- */

/* Memory for one instance on the CPU, and for the GPU's result. */
typedef struct twin {
    float *positions, *normals, *theirs, *off, *angles;
    double *inputs;
    void *scratch;
} twin;

/* Largest difference of a vertex's three numbers; not a number, such as poison, counts as infinitely far. */
static double farthest(const float *a, const float *b) {
    double far = 0;
    for (int c = 0; c < 3; c++) {
        const double d = fabs((double)a[c] - (double)b[c]);
        far = d <= far ? far : d > far ? d : INFINITY;
    }
    return far;
}

static void compare_positions(const twin *t, int vertices, exi_gpu_bench_agreement *a) {
    const double size = exi_surety_form_size(t->positions, vertices);
    for (size_t v = 0; v < (size_t)vertices; v++) {
        const double far = farthest(t->positions + 3 * v, t->theirs + 3 * v) / size;
        a->positions = far <= a->positions ? a->positions : far;
        a->wrong |= !(far <= EXI_SURETY_TOLERANCE + (double)t->off[v] / size);
    }
}

static void compare_normals(const twin *t, int vertices, exi_gpu_bench_agreement *a) {
    for (size_t v = 0; v < (size_t)vertices; v++) {
        const double far = farthest(t->normals + 3 * v, t->theirs + 3 * v), angle = (double)t->angles[v];
        if (far <= 2 && angle > EXI_SURETY_UNSURE)
            continue;
        a->normals = far <= a->normals ? a->normals : far;
        a->wrong |= !(far <= EXI_SURETY_TOLERANCE + angle);
    }
}

static ex_result fetch(const exi_gpu_bench_bed *bed, const char *from, const twin *t, ex_error *error) {
    const size_t bytes = 3 * (size_t)bed->vertices * sizeof(float);
    ex_result result = ex_cuda_copy(t->theirs, from, bytes, bed->how.stream, error);
    return result == EX_OK ? ex_cuda_wait(bed->how.stream, error) : result;
}

static ex_result compare_instance(const exi_gpu_bench_bed *bed, const twin *t, int copy, int instance,
                                  exi_gpu_bench_agreement *agreement, ex_error *error) {
    const size_t dials = (size_t)ex_rig_pose_size(bed->rig), joints = (size_t)ex_rig_joint_count(bed->rig);
    const size_t at = (size_t)instance;
    const size_t place = (size_t)copy * bed->form_bytes + at * 3 * (size_t)bed->vertices * sizeof(float);
    const ex_evaluation how = {.level = bed->how.level};
    for (size_t i = 0; i < dials; i++)
        t->inputs[i] = (double)bed->inputs[at * dials + i];
    const ex_pose pose = {.inputs = t->inputs, .joints = joints > 0 ? bed->joints + at * joints : NULL};
    const ex_output output = {.positions = t->positions, .normals = bed->normals ? t->normals : NULL};
    ex_rig_evaluate(bed->rig, &pose, &output, &how, t->scratch);
    if (!exi_surety_of(bed->rig, &pose, &how, t->positions, t->off, t->angles))
        return ex_error_memory(error, "a comparison", (size_t)bed->vertices * 32);
    ex_result result = fetch(bed, bed->positions + place, t, error);
    if (result != EX_OK)
        return result;
    compare_positions(t, bed->vertices, agreement);
    if (!bed->normals)
        return EX_OK;
    result = fetch(bed, bed->normals + place, t, error);
    if (result == EX_OK)
        compare_normals(t, bed->vertices, agreement);
    return result;
}

static ex_result poison(const exi_gpu_bench_bed *bed, ex_error *error) {
    const size_t bytes = (size_t)bed->copies * bed->form_bytes;
    cudaStream_t stream = bed->how.stream;
    ex_result result = exi_gpu_bench_said(cudaMemsetAsync(bed->positions, 0xff, bytes, stream), "poisoning", error);
    if (result == EX_OK && bed->normals)
        result = exi_gpu_bench_said(cudaMemsetAsync(bed->normals, 0xff, bytes, stream), "poisoning", error);
    return result;
}

ex_result exi_gpu_bench_bed_check(const exi_gpu_bench_bed *bed, exi_gpu_bench_agreement *agreement, ex_error *error) {
    const size_t vertices = (size_t)bed->vertices, bytes = 3 * vertices * sizeof(float);
    const twin t = {.positions = malloc(bytes),
                    .normals = malloc(bytes),
                    .theirs = malloc(bytes),
                    .off = malloc(vertices * sizeof(float)),
                    .angles = malloc(vertices * sizeof(float)),
                    .inputs = malloc((size_t)ex_rig_pose_size(bed->rig) * sizeof(double) + 1),
                    .scratch = malloc(ex_rig_scratch_size(bed->rig, &(ex_evaluation){.level = bed->how.level}, 1) + 1)};
    const int last = bed->count - 1, chosen[4] = {0, last / 3, last - last / 7, last};
    const bool good = t.positions && t.normals && t.theirs && t.off && t.angles && t.inputs && t.scratch;
    ex_result result = good ? poison(bed, error) : ex_error_memory(error, "a comparison", 4 * bytes);
    *agreement = (exi_gpu_bench_agreement){.normals = bed->normals ? 0 : -1};
    for (int i = 0; i < bed->copies && result == EX_OK; i++)
        result = exi_gpu_bench_bed_evaluate(bed, i, error);
    for (int i = 0; i < 4 && result == EX_OK; i++)
        result = compare_instance(bed, &t, i % bed->copies, chosen[i], agreement, error);
    free(t.positions);
    free(t.normals);
    free(t.theirs);
    free(t.off);
    free(t.angles);
    free(t.inputs);
    free(t.scratch);
    return result;
}

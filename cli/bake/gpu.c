/* cli/bake/gpu.c - the tool's use of a GPU, or the messages of a build without CUDA. */
#include "gpu.h"

#include "cli/base/report.h"

#ifndef EX_WITH_CUDA

/* ---- without CUDA ---- */

static const char not_built[] =
    "this exemplar was built without CUDA: build it with CUDA 12.8 or later, or leave out --gpu";

void exi_gpu_print(void) {
    exi_print("cuda      not built in\n");
}

void exi_gpu_print_json(exi_emitter *json) {
    exi_emit_text(json, "cuda", NULL);
    exi_emit_open(json, "gpus", '[');
    exi_emit_close(json, ']');
}

ex_result exi_gpu_ready(ex_error *error) {
    return ex_error_set(error, EX_ERROR_DEVICE, "%s", not_built);
}

ex_result exi_gpu_frames_create(const ex_rig *rig, int level, const bool *muted, int frame_count, exi_gpu_frames **made,
                                ex_error *error) {
    (void)rig, (void)level, (void)muted, (void)frame_count, (void)made;
    return exi_gpu_ready(error);
}

void exi_gpu_frames_destroy(exi_gpu_frames *frames) {
    (void)frames;
}

ex_bake_evaluator exi_gpu_frames_evaluator(exi_gpu_frames *frames) {
    (void)frames;
    return (ex_bake_evaluator){0};
}

int exi_gpu_bench_command(const ex_call *call, const char *name, int repeat) {
    (void)call, (void)name, (void)repeat;
    return exi_failed_text("%s", not_built);
}

#else

#include "bench/bench.h"
#include "bench/gpu/gpu.h"

#include <exemplar/cuda.h>

#include <cuda_runtime_api.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- devices ---- */

void exi_gpu_print(void) {
    const int count = ex_cuda_device_count();
    exi_print("cuda      %d.%d, compute capabilities %s\n", CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10,
              EX_CUDA_ARCHITECTURES);
    if (count == 0)
        exi_print("gpus      none here, or no driver for it\n");
    for (int i = 0; i < count; i++) {
        ex_cuda_device device;
        if (ex_cuda_get_device(i, &device, NULL) == EX_OK)
            exi_print("%-9s %s, %.1f GB, compute capability %d.%d, driver %d.%d\n", i == 0 ? "gpus" : "", device.name,
                      1e-9 * (double)device.memory, device.major, device.minor, device.driver / 1000,
                      device.driver % 1000 / 10);
    }
}

static void emit_version(exi_emitter *json, const char *key, int version) {
    char text[16];
    snprintf(text, sizeof text, "%d.%d", version / 1000 % 1000, version % 1000 / 10);
    exi_emit_text(json, key, text);
}

void exi_gpu_print_json(exi_emitter *json) {
    exi_emit_open(json, "cuda", '{');
    emit_version(json, "version", CUDART_VERSION);
    exi_emit_text(json, "compute_capabilities", EX_CUDA_ARCHITECTURES);
    exi_emit_close(json, '}');
    exi_emit_open(json, "gpus", '[');
    for (int i = 0; i < ex_cuda_device_count(); i++) {
        ex_cuda_device device;
        if (ex_cuda_get_device(i, &device, NULL) != EX_OK)
            continue;
        exi_emit_open(json, NULL, '{');
        exi_emit_text(json, "name", device.name);
        exi_emit_number(json, "memory", (double)device.memory);
        exi_emit_number(json, "memory_free", (double)device.memory_free);
        exi_emit_number(json, "multiprocessors", device.multiprocessors);
        emit_version(json, "compute_capability", 1000 * device.major + 10 * device.minor);
        emit_version(json, "driver", device.driver);
        exi_emit_close(json, '}');
    }
    exi_emit_close(json, ']');
}

ex_result exi_gpu_ready(ex_error *error) {
    return ex_cuda_device_count() > 0
               ? EX_OK
               : ex_error_set(error, EX_ERROR_DEVICE,
                              "this machine has no NVIDIA GPU, or no driver for it: leave out --gpu");
}

/* ---- frames ---- */

#define BATCH_BYTES (64 << 20)
#define BATCH_MAX   1024

struct exi_gpu_frames {
    const ex_rig *rig;
    ex_cuda_rig *gpu;
    int most; /* largest number of frames in a batch */
    size_t dials, joint_count;
    float *inputs; /* [most][dials], page-locked */
    ex_transform *joints;
    void *device_inputs, *device_joints, *scratch;
    ex_cuda_output output;
    ex_cuda_evaluation how;
};

/* A pose without an array is at rest. */
static void take_poses(exi_gpu_frames *f, int count, const ex_pose *poses) {
    for (int i = 0; i < count; i++) {
        float *inputs = f->inputs + (size_t)i * f->dials;
        ex_transform *joints = f->joints + (size_t)i * f->joint_count;
        if (f->joint_count > 0 && poses[i].joints)
            memcpy(joints, poses[i].joints, f->joint_count * sizeof *joints);
        else if (f->joint_count > 0)
            ex_rig_rest_pose(f->rig, &(ex_pose){.joints = joints});
        for (size_t d = 0; d < f->dials; d++)
            inputs[d] = poses[i].inputs ? (float)poses[i].inputs[d] : NAN; /* NAN reads as rest */
    }
}

static ex_result evaluate(void *user, int count, const ex_pose *poses, const float **positions, ex_error *error) {
    exi_gpu_frames *f = user;
    ex_result result = EX_OK;
    take_poses(f, count, poses);
    if (f->dials > 0)
        result = ex_cuda_copy(f->device_inputs, f->inputs, (size_t)count * f->dials * sizeof *f->inputs, NULL, error);
    if (result == EX_OK && f->joint_count > 0)
        result =
            ex_cuda_copy(f->device_joints, f->joints, (size_t)count * f->joint_count * sizeof *f->joints, NULL, error);
    const ex_cuda_poses from = {f->device_inputs, f->device_joints};
    if (result == EX_OK)
        result = ex_cuda_evaluate(f->gpu, count, &from, &f->output, &f->how, f->scratch, error);
    if (result == EX_OK)
        result = ex_cuda_wait(NULL, error);
    *positions = f->output.positions.data;
    return result;
}

static ex_result allocate(exi_gpu_frames *f, size_t form_bytes, ex_error *error) {
    const size_t most = (size_t)f->most, dials = most * f->dials * sizeof *f->inputs;
    const size_t joints = most * f->joint_count * sizeof *f->joints;
    void *memory = NULL;
    ex_result result = ex_cuda_allocate_host(most * form_bytes, &f->output.positions.data, error);
    if (result == EX_OK && dials > 0 && (result = ex_cuda_allocate_host(dials, &memory, error)) == EX_OK)
        f->inputs = memory;
    if (result == EX_OK && joints > 0 && (result = ex_cuda_allocate_host(joints, &memory, error)) == EX_OK)
        f->joints = memory;
    if (result == EX_OK && dials > 0)
        result = ex_cuda_allocate(dials, &f->device_inputs, error);
    if (result == EX_OK && joints > 0)
        result = ex_cuda_allocate(joints, &f->device_joints, error);
    if (result == EX_OK)
        result = ex_cuda_allocate(ex_cuda_scratch_size(f->gpu, &f->how, &f->output, f->most) + 1, &f->scratch, error);
    return result;
}

ex_result exi_gpu_frames_create(const ex_rig *rig, int level, const bool *muted, int frame_count, exi_gpu_frames **made,
                                ex_error *error) {
    const size_t form_bytes = 12 * (size_t)ex_rig_level_vertex_count(rig, level);
    const size_t fits = BATCH_BYTES / (form_bytes > 0 ? form_bytes : 1);
    exi_gpu_frames *f = calloc(1, sizeof *f);
    if (!f)
        return ex_error_memory(error, "frames", sizeof *f);
    *f = (exi_gpu_frames){.rig = rig,
                          .dials = (size_t)ex_rig_pose_size(rig),
                          .joint_count = (size_t)ex_rig_joint_count(rig),
                          .output.to_host = true,
                          .how = {.muted = muted, .level = level}};
    f->most = fits < 1 ? 1 : fits > BATCH_MAX ? BATCH_MAX : (int)fits;
    f->most = f->most < frame_count ? f->most : frame_count > 0 ? frame_count : 1;
    ex_result result = exi_gpu_ready(error);
    if (result == EX_OK)
        result = ex_cuda_rig_create(rig, NULL, &f->gpu, error);
    if (result == EX_OK)
        result = allocate(f, form_bytes, error);
    if (result == EX_OK)
        *made = f;
    else
        exi_gpu_frames_destroy(f);
    return result;
}

void exi_gpu_frames_destroy(exi_gpu_frames *f) {
    if (!f)
        return;
    ex_cuda_rig_destroy(f->gpu);
    ex_cuda_release_host(f->output.positions.data);
    ex_cuda_release_host(f->inputs);
    ex_cuda_release_host(f->joints);
    ex_cuda_release(f->device_inputs);
    ex_cuda_release(f->device_joints);
    ex_cuda_release(f->scratch);
    free(f);
}

ex_bake_evaluator exi_gpu_frames_evaluator(exi_gpu_frames *frames) {
    return (ex_bake_evaluator){.evaluate = evaluate, .user = frames, .frame_most = frames->most};
}

/* ---- measurements ---- */

/* Makes a displaced body. Its last level reads 16 control vertices with weights for the point and two tangents each, up
 * to 16 numbers of maps and a slot for each of five layers, and for normals a ring of four. */
static ex_result make_displaced(const exi_gpu_bench_case *c, exi_gpu_bench_subject *subject, ex_error *error) {
    subject->rig = exi_displace_rig(c->storage);
    if (!subject->rig)
        return ex_error_memory(error, "the displaced body", 0);
    subject->table_bytes = (double)ex_rig_level_vertex_count(subject->rig, c->level) *
                           (16 * (4 + 4 + 8) + 16 * 4 + 5 * 4 + (c->normals ? 5 * 4 : 0));
    return EX_OK;
}

static const exi_gpu_bench_case displaced[] = {
    {.name = "displaced",
     .work = "displaced body, 66k vertices of level 5",
     .make = make_displaced,
     .instances = 1,
     .level = 5},
    {.name = "displaced",
     .work = "... and normals",
     .make = make_displaced,
     .instances = 1,
     .level = 5,
     .normals = true},
    {.name = "displaced",
     .work = "... 100 of them",
     .make = make_displaced,
     .instances = 100,
     .level = 5,
     .normals = true},
};

static void print_row(void *user, const exi_gpu_bench_row *row) {
    (void)user;
    exi_gpu_bench_row_print(stdout, row);
}

static void emit_positive(exi_emitter *json, const char *key, double value) {
    if (value > 0)
        exi_emit_number(json, key, value);
    else
        exi_emit_text(json, key, NULL);
}

/* Emits null for a difference below 0 (not compared) or infinite (not a number). */
static void emit_difference(exi_emitter *json, const char *key, double value) {
    if (value >= 0 && value < INFINITY)
        exi_emit_number(json, key, value);
    else
        exi_emit_text(json, key, NULL);
}

static void emit_row(void *user, const exi_gpu_bench_row *row) {
    exi_emitter *json = user;
    const int verdict = exi_gpu_bench_row_verdict(row);
    exi_emit_open(json, NULL, '{');
    exi_emit_text(json, "name", row->name);
    exi_emit_text(json, "work", row->work);
    exi_emit_number(json, "instances", row->instances);
    exi_emit_number(json, "vertices", row->vertices);
    exi_emit_number(json, "us", row->us);
    exi_emit_number(json, "bytes", row->bytes);
    exi_emit_number(json, "gb_per_second", 1e-3 * exi_gpu_bench_row_speed(row));
    exi_emit_number(json, "copy_gb_per_second", 1e-3 * row->copy_speed);
    exi_emit_number(json, "part_of_copy", exi_gpu_bench_row_part(row));
    emit_difference(json, "difference", row->agreement.positions);
    emit_difference(json, "normal_difference", row->agreement.normals);
    exi_emit_bool(json, "right", !row->agreement.wrong);
    exi_emit_text(json, "beside", row->beside);
    emit_positive(json, "beside_us", row->beside_us);
    emit_positive(json, "goal_part_of_copy", row->goal_part);
    emit_positive(json, "goal_us", row->goal_us);
    emit_positive(json, "goal_times_beside", row->goal_times);
    if (verdict != 0)
        exi_emit_bool(json, "reached", verdict > 0);
    else
        exi_emit_text(json, "reached", NULL);
    exi_emit_close(json, '}');
}

static int unknown_row(const ex_call *call, const char *name) {
    const char *names[16] = {displaced[0].name};
    int count = 1;
    for (; count < 16 && exi_gpu_bench_name(count - 1); count++)
        names[count] = exi_gpu_bench_name(count - 1);
    for (int i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return EX_EXIT_DONE;
    const char *near = ex_suggest(name, names, count);
    return near ? exi_wrong_usage(call->command, "there is no measurement '%s' of the GPU: did you mean '%s'?", name,
                                  near)
                : exi_wrong_usage(call->command, "there is no measurement '%s' of the GPU", name);
}

int exi_gpu_bench_command(const ex_call *call, const char *name, int repeat) {
    ex_error error = {.result = EX_OK};
    ex_cuda_device device;
    if (name && unknown_row(call, name) != EX_EXIT_DONE)
        return EX_EXIT_USAGE;
    if (exi_gpu_ready(&error) != EX_OK || ex_cuda_get_device(0, &device, &error) != EX_OK)
        return exi_failed(&error);
    exi_emitter json = exi_emit_start(stdout);
    exi_gpu_bench bench = {.only = name,
                           .repeat = repeat,
                           .report = call->json ? emit_row : print_row,
                           .user = &json,
                           .more = displaced,
                           .more_count = (int)(sizeof displaced / sizeof displaced[0])};
    if (call->json) {
        exi_emit_open(&json, NULL, '{');
        exi_emit_text(&json, "version", ex_version().text);
        exi_gpu_print_json(&json);
        exi_emit_open(&json, "rows", '[');
    } else {
        exi_gpu_bench_row_header(stdout, &device);
    }
    const ex_result result = exi_gpu_bench_run(&bench, &error);
    if (call->json) {
        exi_emit_close(&json, ']');
        exi_emit_close(&json, '}');
        exi_emit_end(&json);
    }
    return result == EX_OK ? EX_EXIT_DONE : exi_failed(&error);
}

#endif

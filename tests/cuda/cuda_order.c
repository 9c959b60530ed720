/*
 * Graphs, streams, edits and errors; see cuda_order.h. Streams and graphs are CUDA's own, so its header is needed.
 */
#include "cuda/cuda_order.h"

#include "support/paths.h"

#include <cuda_runtime_api.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { VERTICES = 333, INSTANCES = 17, REPLAYS = 5, STREAMS = 4, ROUNDS = 8, PSEUDOS_MORE = 16 };

static const rig_kind whole = {.name = "everything",
                               .parts = RIG_FORMS | RIG_READ | RIG_OFFSETS | RIG_SKIN | RIG_SHIFTS | RIG_DISPLACED |
                                        RIG_MASKS | RIG_SEAMS,
                               .paths = PATHS_ALL,
                               .influences = 6,
                               .skinning = EX_SKINNING_DUAL_QUATERNION};
static const rig_kind crowd = {.name = "forms and a skin", .parts = RIG_FORMS | RIG_SKIN, .influences = 4};

static void must_cuda(cudaError_t result, const char *what) {
    if (result != cudaSuccess)
        fprintf(stderr, "%s\n", cudaGetErrorString(result));
    must(result == cudaSuccess, what, NULL);
}

static ex_cuda_rig *upload_rig(const ex_rig *rig) {
    ex_cuda_rig *made = NULL;
    ex_error error = {0};
    must(ex_cuda_rig_create(rig, NULL, &made, &error) == EX_OK, "uploading a rig", &error);
    return made;
}

/* ---- graphs ---- */

/* Captured once, replayed with other poses. */
static void check_graph(const rig_kind *kind, const setting *way, findings *f) {
    ex_rig *rig = make_rig(kind, VERTICES, 3);
    ex_cuda_rig *gpu = upload_rig(rig);
    pose_set poses;
    expected e;
    asked a;
    cudaStream_t stream;
    cudaGraph_t graph;
    cudaGraphExec_t program;
    ex_error error = {0};
    make_poses(rig, kind->parts, INSTANCES, 5, &poses);
    expect(rig, &poses, way, &e);
    ask(gpu, rig, &poses, way, &e, &requests[0], &a);
    must_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "a stream");
    a.how.stream = stream;
    must_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal), "beginning a capture");
    const ex_result result = ask_evaluate(gpu, &a, INSTANCES, &error);
    const cudaError_t ended = cudaStreamEndCapture(stream, &graph);
    if (result != EX_OK || ended != cudaSuccess) {
        complain(f, "%s cannot be captured: %s", kind->name, result != EX_OK ? error.text : cudaGetErrorString(ended));
    } else {
        must_cuda(cudaGraphInstantiate(&program, graph, 0), "making a graph's program");
        answer(&a, NULL, f); /* capturing runs nothing */
        for (int i = 0; i < REPLAYS; i++) {
            free_expected(&e);
            free_poses(&poses);
            make_poses(rig, kind->parts, INSTANCES, 11 + (uint64_t)i, &poses);
            expect(rig, &poses, way, &e);
            ask_again(&a, &poses, (size_t)ex_rig_pose_size(rig), (size_t)ex_rig_joint_count(rig));
            must_cuda(cudaGraphLaunch(program, stream), "launching a graph");
            must(ex_cuda_wait(stream, &error) == EX_OK, "waiting for a graph", &error);
            answer(&a, &e, f);
        }
        must_cuda(cudaGraphExecDestroy(program), "giving a graph's program back");
        must_cuda(cudaGraphDestroy(graph), "giving a graph back");
    }
    must_cuda(cudaStreamDestroy(stream), "giving a stream back");
    free_asked(&a);
    free_expected(&e);
    free_poses(&poses);
    ex_cuda_rig_destroy(gpu);
    ex_rig_destroy(rig);
}

void check_graphs(findings *f) {
    snprintf(f->where, sizeof f->where, "a captured graph");
    check_graph(&crowd, &(setting){0}, f);
    check_graph(&whole, &(setting){.level = 2, .split = true}, f);
}

/* ---- streams ---- */

void check_streams(findings *f) {
    ex_rig *rig = make_rig(&whole, VERTICES, 4);
    ex_cuda_rig *gpu = upload_rig(rig);
    pose_set poses[STREAMS];
    expected e[STREAMS];
    asked a[STREAMS];
    cudaStream_t streams[STREAMS];
    ex_error error = {0};
    snprintf(f->where, sizeof f->where, "%d streams at once", STREAMS);
    for (int i = 0; i < STREAMS; i++) {
        const setting way = {.level = i % 3, .split = i % 2 == 1};
        make_poses(rig, whole.parts, INSTANCES + i, 21 + (uint64_t)i, &poses[i]);
        expect(rig, &poses[i], &way, &e[i]);
        ask(gpu, rig, &poses[i], &way, &e[i], &requests[i], &a[i]);
        must_cuda(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking), "a stream");
        a[i].how.stream = streams[i];
    }
    for (int round = 0; round < ROUNDS; round++)
        for (int i = 0; i < STREAMS; i++)
            must(ask_evaluate(gpu, &a[i], e[i].count, &error) == EX_OK, "several streams", &error);
    for (int i = 0; i < STREAMS; i++) {
        must(ex_cuda_wait(streams[i], &error) == EX_OK, "waiting for a stream", &error);
        answer(&a[i], &e[i], f);
        free_asked(&a[i]);
        free_expected(&e[i]);
        free_poses(&poses[i]);
        must_cuda(cudaStreamDestroy(streams[i]), "giving a stream back");
    }
    ex_cuda_rig_destroy(gpu);
    ex_rig_destroy(rig);
}

/* ---- edits ---- */

/* Example 1 moved, and that many more pseudo-examples. */
static ex_weigher *edit_weigher(const ex_weigher *weigher, int more) {
    const size_t dimension = (size_t)ex_weigher_dimension(weigher);
    ex_edit *edits = must_allocate((size_t)more + 1, sizeof *edits);
    double *at = must_allocate((size_t)(more + 1) * dimension * 2, sizeof *at);
    uint64_t random = 8;
    ex_weigher *edited = NULL;
    ex_error error = {0};
    for (size_t i = 0; i < (size_t)(more + 1) * dimension * 2; i++)
        at[i] = draw(&random, -0.5, 1.5);
    for (int i = 0; i <= more; i++) {
        edits[i] = (ex_edit){.kind = i == 0 ? EX_EDIT_MOVE_EXAMPLE : EX_EDIT_ADD_PSEUDO, .index = 1};
        edits[i].at = at + 2 * (size_t)i * dimension;
        edits[i].from = i == 0 ? NULL : edits[i].at + dimension;
    }
    must(ex_weigher_edit(weigher, edits, more + 1, NULL, &edited, &error) == EX_OK, "an edit", &error);
    free(edits);
    free(at);
    return edited;
}

/* A graph cannot keep a weigher. */
static void check_captured_edit(ex_cuda_rig *gpu, const ex_rig *rig, findings *f) {
    cudaStream_t stream;
    cudaGraph_t graph = NULL;
    ex_error error = {0};
    must_cuda(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "a stream");
    must_cuda(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), "beginning a capture");
    if (ex_cuda_set_weigher(gpu, 0, ex_rig_weigher(rig, 0), stream, &error) != EX_ERROR_ARGUMENT || !error.text[0])
        complain(f, "replacing a weigher within a capture was not refused with a sentence");
    must_cuda(cudaStreamEndCapture(stream, &graph), "ending a capture");
    if (graph)
        must_cuda(cudaGraphDestroy(graph), "giving a graph back");
    must_cuda(cudaStreamDestroy(stream), "giving a stream back");
}

void check_edits(findings *f) {
    static const rig_kind kind = {.name = "edited", .parts = RIG_WEIGHERS | RIG_OFFSETS};
    ex_rig *rig = make_rig(&kind, VERTICES, 6);
    ex_cuda_rig *gpu = upload_rig(rig);
    const int layers = ex_rig_layer_count(rig);
    const ex_weigher **weighers = must_allocate((size_t)layers, sizeof *weighers);
    pose_set poses;
    ex_error error = {0};
    make_poses(rig, kind.parts, 3, 9, &poses);
    for (int l = 0; l <= layers; l++) { /* one more each time; finally all restored */
        expected e;
        snprintf(f->where, sizeof f->where, "after an edit of layer %d", l);
        for (int k = 0; l == layers && k < layers; k++) {
            ex_weigher_destroy((ex_weigher *)(uintptr_t)weighers[k]);
            weighers[k] = NULL;
            must(ex_cuda_set_weigher(gpu, k, ex_rig_weigher(rig, k), NULL, &error) == EX_OK, "an old weigher", &error);
        }
        if (l < layers && ex_weigher_get_kind(ex_rig_weigher(rig, l)) != EX_WEIGHER_DIRECT) {
            ex_weigher *edited = edit_weigher(ex_rig_weigher(rig, l), l % (PSEUDOS_MORE + 1));
            weighers[l] = edited;
            if (ex_cuda_set_weigher(gpu, l, edited, NULL, &error) != EX_OK)
                complain(f, "%s", error.text);
        }
        const setting way = {.weighers = weighers};
        expect(rig, &poses, &way, &e);
        compare(gpu, rig, &poses, &way, &e, &requests[0], f);
        free_expected(&e);
    }
    ex_weigher *large = edit_weigher(ex_rig_weigher(rig, 0), PSEUDOS_MORE + 1);
    if (ex_cuda_set_weigher(gpu, 0, large, NULL, &error) != EX_ERROR_ARGUMENT)
        complain(f, "a weigher with %d pseudo-examples more was not refused", PSEUDOS_MORE + 1);
    if (ex_cuda_set_weigher(gpu, layers - 1, ex_rig_weigher(rig, layers - 1), NULL, &error) != EX_OK)
        complain(f, "after a weigher that was refused: %s", error.text);
    check_captured_edit(gpu, rig, f);
    ex_weigher_destroy(large);
    free(weighers);
    free_poses(&poses);
    ex_cuda_rig_destroy(gpu);
    ex_rig_destroy(rig);
}

/* ---- errors ---- */

/* One call that has to fail with a reason and write nothing; then one that works. */
static void check_refused(const char *what, const ex_cuda_rig *gpu, const ex_rig *rig, const pose_set *poses,
                          const expected *e, const asked *spoiled, const asked *good, findings *f) {
    asked a = *spoiled;
    ex_error error = {0};
    snprintf(f->where, sizeof f->where, "after %s", what);
    if (ask_evaluate(gpu, &a, e->count, &error) != EX_ERROR_ARGUMENT || !error.text[0])
        complain(f, "it was not refused with a sentence");
    must(ex_cuda_wait(NULL, &error) == EX_OK, what, &error);
    a = *good;
    answer(&a, NULL, f);
    compare(gpu, rig, poses, &(setting){0}, e, &requests[0], f);
}

static void check_memory(const ex_cuda_rig *gpu, const ex_rig *rig, const pose_set *poses, const expected *e,
                         findings *f) {
    static const size_t huge = (size_t)1 << 50;
    void *memory = NULL;
    ex_error error = {0};
    snprintf(f->where, sizeof f->where, "after an allocation of 2^50 bytes");
    if (ex_cuda_allocate(huge, &memory, &error) != EX_ERROR_MEMORY || !error.text[0])
        complain(f, "it was not refused for lack of memory");
    compare(gpu, rig, poses, &(setting){0}, e, &requests[0], f);
    if (ex_cuda_allocate_host(huge, &memory, &error) == EX_OK)
        complain(f, "the host has 2^50 bytes");
    compare(gpu, rig, poses, &(setting){0}, e, &requests[0], f);
}

/* Destroys the rig. */
static void check_refused_rig(ex_rig *rig, const char *what, ex_result why, findings *f) {
    ex_cuda_rig *gpu = NULL;
    ex_error error = {0};
    snprintf(f->where, sizeof f->where, "%s", what);
    if (ex_cuda_rig_create(rig, NULL, &gpu, &error) != why || gpu || !error.text[0])
        complain(f, "it was not refused with a sentence");
    ex_rig_destroy(rig);
}

/* Device memory with an invalid alignment for floats. */
static void *spoilt(const void *address) {
    return (char *)(uintptr_t)address + 2;
}

void check_errors(findings *f) {
    ex_rig *rig = make_rig(&crowd, VERTICES, 7);
    ex_cuda_rig *gpu = upload_rig(rig);
    pose_set poses;
    expected e;
    asked good, bad;
    make_poses(rig, crowd.parts, 3, 2, &poses);
    expect(rig, &poses, &(setting){0}, &e);
    ask(gpu, rig, &poses, &(setting){0}, &e, &requests[0], &good);
    static const int levels[3] = {1, 99, EX_LEVEL_LIMIT};
    for (int i = 0; i < 3; i++) {
        bad = good;
        bad.how.level = levels[i];
        check_refused("a level that is not there", gpu, rig, &poses, &e, &bad, &good, f);
    }
    for (int i = 0; i < 4; i++) {
        bad = good;
        ex_cuda_array *array = i % 2 ? &bad.output.normals : &bad.output.positions;
        if (i < 2)
            array->stride = 14;
        else
            array->instance_stride = 12 * VERTICES + 2;
        check_refused("a misaligned stride", gpu, rig, &poses, &e, &bad, &good, f);
    }
    bad = good;
    bad.output.positions.number = EX_CUDA_HALF;
    bad.output.positions.stride = 12;
    check_refused("a stride of 16-bit entries that is no multiple of 8", gpu, rig, &poses, &e, &bad, &good, f);
    for (int i = 0; i < 4; i++) {
        bad = good;
        if (i == 0)
            bad.output.boxes = spoilt(good.output.boxes);
        if (i == 1)
            bad.output.weights = spoilt(good.output.weights);
        if (i == 2)
            bad.inputs = spoilt(good.inputs);
        if (i == 3)
            bad.joints = spoilt(good.joints);
        check_refused("an address that is no multiple of 4", gpu, rig, &poses, &e, &bad, &good, f);
    }
    check_memory(gpu, rig, &poses, &e, f);
    check_refused_rig(make_driven_rig(), "a rig with a driver", EX_ERROR_ARGUMENT, f);
    check_refused_rig(make_layered_rig(257), "a rig of 257 layers", EX_ERROR_LIMIT, f);
    free_asked(&good);
    free_expected(&e);
    free_poses(&poses);
    ex_cuda_rig_destroy(gpu);
    ex_rig_destroy(rig);
}

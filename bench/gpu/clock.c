/*
 * bench/gpu/clock.c - times on the GPU: events around runs in a stream, medians of many samples after a warm-up.
 *
 * A run of a few microseconds is timed in a graph. That excludes the host's time to launch it, which does not count in
 * the frames of a program that keeps the GPU busy either.
 */
#include "bench/gpu/gpu.h"

#include <cuda_runtime_api.h>

#include <stdlib.h>

enum { REPEAT_MAX = 1000, RUN_MAX = 200, LAUNCH_MAX = 1000 };
static const double sample_us = 1500;

ex_result exi_gpu_bench_said(unsigned code, const char *what, ex_error *error) {
    if (code == cudaSuccess)
        return EX_OK;
    cudaGetLastError(); /* clears the error */
    return ex_error_set(error, EX_ERROR_DEVICE, "%s: CUDA says '%s'", what, cudaGetErrorString((cudaError_t)code));
}

static int compare(const void *a, const void *b) {
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double median(double *samples, int count) {
    qsort(samples, (size_t)count, sizeof *samples, compare);
    return count % 2 ? samples[count / 2] : 0.5 * (samples[count / 2 - 1] + samples[count / 2]);
}

/* Contents of a sample: runs one by one, or launches of a graph. */
typedef struct watch {
    const exi_gpu_bench_timed *work;
    cudaGraphExec_t graph; /* NULL: runs one by one */
    cudaEvent_t start, end;
} watch;

static ex_result launch(const watch *k, int turn, ex_error *error) {
    if (!k->graph)
        return k->work->run(k->work->context, turn, error);
    return exi_gpu_bench_said(cudaGraphLaunch(k->graph, k->work->stream), "launching a graph", error);
}

/* Time per launch of `launches` launches. */
static ex_result sample(const watch *k, int launches, double *us, ex_error *error) {
    float ms = 0;
    ex_result result = exi_gpu_bench_said(cudaEventRecord(k->start, k->work->stream), "recording an event", error);
    for (int i = 0; i < launches && result == EX_OK; i++)
        result = launch(k, i, error);
    if (result == EX_OK)
        result = exi_gpu_bench_said(cudaEventRecord(k->end, k->work->stream), "recording an event", error);
    if (result == EX_OK)
        result = exi_gpu_bench_said(cudaEventSynchronize(k->end), "waiting for the measured work", error);
    if (result == EX_OK)
        result = exi_gpu_bench_said(cudaEventElapsedTime(&ms, k->start, k->end), "reading the time", error);
    *us = 1e3 * (double)ms / launches;
    return result;
}

static int launches_a_sample(double once, int most) {
    const double launches = sample_us / (once > 1e-3 ? once : 1e-3);
    return launches > most ? most : launches > 1 ? (int)launches : 1;
}

/* Median time of a launch. The first samples warm up caches, clocks and deferred work of the driver. */
static ex_result measure(watch *k, int repeat, double *us, ex_error *error) {
    double samples[REPEAT_MAX];
    const int count = repeat < 1 ? 1 : repeat > REPEAT_MAX ? REPEAT_MAX : repeat;
    ex_result result = exi_gpu_bench_said(cudaEventCreate(&k->start), "creating an event", error);
    if (result != EX_OK)
        return result;
    result = exi_gpu_bench_said(cudaEventCreate(&k->end), "creating an event", error);
    if (result == EX_OK) {
        for (int i = 0; i < 3 && result == EX_OK; i++)
            result = sample(k, 1, us, error);
        const int launches = launches_a_sample(*us, LAUNCH_MAX);
        for (int i = 0; i < 2 && result == EX_OK; i++)
            result = sample(k, launches, us, error);
        for (int i = 0; i < count && result == EX_OK; i++)
            result = sample(k, launches, &samples[i], error);
        cudaEventDestroy(k->end);
    }
    cudaEventDestroy(k->start);
    if (result == EX_OK)
        *us = median(samples, count);
    return result;
}

ex_result exi_gpu_bench_time(const exi_gpu_bench_timed *work, int repeat, double *us, ex_error *error) {
    watch k = {.work = work};
    *us = 0;
    return measure(&k, repeat, us, error);
}

static ex_result capture(const exi_gpu_bench_timed *work, int runs, cudaGraphExec_t *made, ex_error *error) {
    cudaGraph_t graph = NULL;
    ex_result result = exi_gpu_bench_said(cudaStreamBeginCapture(work->stream, cudaStreamCaptureModeThreadLocal),
                                          "beginning a graph", error);
    if (result != EX_OK)
        return result;
    for (int i = 0; i < runs && result == EX_OK; i++)
        result = work->run(work->context, i, error);
    const unsigned ended =
        cudaStreamEndCapture(work->stream, &graph); /* also after an error, otherwise the stream stays captured */
    if (result == EX_OK)
        result = exi_gpu_bench_said(ended, "ending a graph", error);
    if (result == EX_OK)
        result = exi_gpu_bench_said(cudaGraphInstantiateWithFlags(made, graph, 0), "making a graph ready", error);
    if (graph)
        cudaGraphDestroy(graph);
    return result;
}

ex_result exi_gpu_bench_time_graph(const exi_gpu_bench_timed *work, int runs, int repeat, double *us, ex_error *error) {
    watch k = {.work = work};
    double once = 0;
    *us = 0;
    ex_result result = runs > 0 ? EX_OK : measure(&k, 3, &once, error);
    const int all = runs > 0 ? runs : launches_a_sample(once, RUN_MAX);
    if (result == EX_OK)
        result = capture(work, all, &k.graph, error);
    if (result == EX_OK) {
        result = measure(&k, repeat, us, error);
        cudaGraphExecDestroy(k.graph);
    }
    *us /= all;
    return result;
}

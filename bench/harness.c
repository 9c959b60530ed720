/* bench/harness.c - samples and medians. */
#define _POSIX_C_SOURCE 200809L

#include "bench/harness.h"
#include "bench/peer.h"

#include <stdlib.h>
#include <time.h>

static const double sample_ns = 2e6;

static double now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return 1e9 * (double)now.tv_sec + (double)now.tv_nsec;
}

static double time_runs(const exi_work *work, int runs) {
    work->run(work->context); /* leaves the caches as runs leave them, not as the peer did */
    double start = now_ns();
    for (int i = 0; i < runs; i++)
        work->run(work->context);
    return (now_ns() - start) / runs;
}

static int runs_a_sample(const exi_work *work) {
    double once = time_runs(work, 1);
    double runs = sample_ns / (once > 1 ? once : 1);
    return runs > 1e6 ? 1000000 : runs > 1 ? (int)runs : 1;
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double median(double *samples, int count) {
    qsort(samples, (size_t)count, sizeof *samples, compare);
    return count % 2 ? samples[count / 2] : 0.5 * (samples[count / 2 - 1] + samples[count / 2]);
}

double exi_measure_beside(const exi_work *work, exi_peer *peer, const char *question, int repeat, double *peer_ns) {
    double ours[EXI_REPEAT_MAX], theirs[EXI_REPEAT_MAX];
    int count = repeat < EXI_REPEAT_MAX ? repeat : EXI_REPEAT_MAX, runs = runs_a_sample(work);
    bool answers = peer && exi_peer_ask(peer, question, &theirs[0]); /* its warm-up, in which it prepares its data */
    for (int i = 0; i < count; i++) {
        ours[i] = time_runs(work, runs);
        answers = answers && exi_peer_ask(peer, question, &theirs[i]);
    }
    *peer_ns = answers ? median(theirs, count) : 0;
    return median(ours, count);
}

double exi_measure_alone(const exi_work *work, int repeat) {
    double nobody = 0;
    return exi_measure_beside(work, NULL, NULL, repeat, &nobody);
}

double exi_made_up(unsigned *seed) {
    *seed = *seed * 1664525u + 1013904223u;
    return (double)(*seed >> 8) / 16777216.0;
}

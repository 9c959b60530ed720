/*
 * bench/harness.h - takes measurements: medians of many short samples, ours and the peer's in turn, so that
 * disturbances of the machine affect both.
 *
 * One thread. Times are nanoseconds per run of the work.
 */
#ifndef EXEMPLAR_BENCH_HARNESS_H
#define EXEMPLAR_BENCH_HARNESS_H

#include <stdbool.h>

typedef struct exi_peer exi_peer;

/* Work to measure; run does it once. */
typedef struct exi_work {
    void (*run)(void *context);
    void *context;
} exi_work;

/* Largest number of samples for a median. */
enum { EXI_REPEAT_MAX = 1000 };

/* The median of `repeat` samples, each a warm-up and as many runs as take two milliseconds. */
double exi_measure_alone(const exi_work *work, int repeat);

/*
 * Like exi_measure_alone next to a peer (peer.h), with samples in turn; the peer is sent `question`. peer NULL, or one
 * that does not answer: *peer_ns is 0.
 */
double exi_measure_beside(const exi_work *work, exi_peer *peer, const char *question, int repeat, double *peer_ns);

/* Pseudo-random numbers in [0, 1), the same in every run. */
double exi_made_up(unsigned *seed);

#endif

/*
 * bench/harness.h - how measurements are taken: medians of many short samples, ours and the peer's in turn, so that
 * what disturbs the machine disturbs both.
 *
 * One thread. Times are nanoseconds a run of the work.
 */
#ifndef EXEMPLAR_BENCH_HARNESS_H
#define EXEMPLAR_BENCH_HARNESS_H

#include <stdbool.h>

typedef struct exi_peer exi_peer;

/* Something to be measured; run does it once. */
typedef struct exi_work {
    void (*run)(void *context);
    void *context;
} exi_work;

/* The most samples that make a median. */
enum { EXI_REPEAT_MAX = 1000 };

/* The median of `repeat` samples, each a warm-up and as many runs as take two milliseconds. */
double exi_measure_alone(const exi_work *work, int repeat);

/*
 * The same beside a peer (peer.h), sample by sample in turn; the peer is asked `question`. peer NULL, or one that does
 * not answer: *peer_ns is 0.
 */
double exi_measure_beside(const exi_work *work, exi_peer *peer, const char *question, int repeat, double *peer_ns);

/* Numbers in [0, 1) for made-up data, the same in every run. */
double exi_made_up(unsigned *seed);

#endif

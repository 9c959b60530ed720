/*
 * bench/bench.h - what 'exemplar bench' measures: rows of our time, a peer's time, what must be moved and what is to be
 * reached. docs/performance.md explains the rows and keeps results.
 */
#ifndef EXEMPLAR_BENCH_BENCH_H
#define EXEMPLAR_BENCH_BENCH_H

#include "bench/harness.h"

#include <exemplar/rig_inspect.h>

/* One row. A number that does not apply is 0, a text NULL. */
typedef struct exi_row {
    const char *group; /* the name by which 'exemplar bench NAME' finds it */
    char work[64];
    double ns;             /* median of a run */
    int vertex_count;      /* what ns is divided by for people */
    const char *unit;      /* what vertex_count counts, where it is not vertices */
    const char *peer;      /* who did the same */
    const char *peer_note; /* why peer_ns is missing, or where it comes from if it was not measured */
    double peer_ns;
    double bytes;          /* read and written by a run, at least */
    double read_speed;     /* bytes/ns of reading as many bytes, in one stream, measured in the same run */
    double read_speed_two; /* the same in two streams */
    double goal_ratio;     /* peer_ns / ns to reach */
    double goal_read;      /* part of read_speed to reach */
    double goal_rate;      /* runs a second to reach */
    bool frames;           /* a run is a frame of a character: people want frames a second, and the peer's */
} exi_row;

double exi_row_ratio(const exi_row *row); /* peer_ns / ns, or 0 */
double exi_row_read(const exi_row *row);  /* bytes / ns over read_speed, or 0 */
/* 1: all goals reached, -1: one missed, 0: none set, or it cannot be said because the peer is absent. */
int exi_row_verdict(const exi_row *row);

/* How rows leave a measurement, and with how many samples each is made. */
typedef struct exi_bench {
    int repeat;
    void (*report)(void *user, const exi_row *row);
    void *user;
    ex_error *error; /* where a group says why it failed, unless for want of memory */
} exi_bench;

/* A group of rows. False where it failed: for want of memory, where bench->error says nothing else. */
typedef struct exi_bench_group {
    const char *name;
    const char *what;
    bool (*run)(const exi_bench *bench);
} exi_bench_group;

extern const exi_bench_group exi_bench_groups[];
extern const int exi_bench_group_count;

bool exi_bench_copy(const exi_bench *bench);
bool exi_bench_blend(const exi_bench *bench);
bool exi_bench_skin(const exi_bench *bench);
bool exi_bench_solve(const exi_bench *bench);
bool exi_bench_convex(const exi_bench *bench);
bool exi_bench_evaluate(const exi_bench *bench);
bool exi_bench_subdivide(const exi_bench *bench);
bool exi_bench_tree(const exi_bench *bench);
bool exi_bench_settle(const exi_bench *bench);
bool exi_bench_drive(const exi_bench *bench);
bool exi_bench_edit(const exi_bench *bench);
bool exi_bench_normals(const exi_bench *bench);
bool exi_bench_offsets(const exi_bench *bench);
bool exi_bench_sparse(const exi_bench *bench); /* inside/: what measures private parts of the libraries */
bool exi_bench_trajectory(const exi_bench *bench);
bool exi_bench_warp(const exi_bench *bench);
bool exi_bench_paper(const exi_bench *bench);
bool exi_bench_fit(const exi_bench *bench);
bool exi_bench_displace(const exi_bench *bench);

/* copy.c: bytes/ns of reading so many bytes again and again, in 1 or 2 streams; 0 without memory. */
double exi_read_speed(size_t bytes, int streams, int repeat);

/* displace.c: the displaced body as a rig; NULL without memory. */
ex_rig *exi_displace_rig(ex_storage storage);

#endif

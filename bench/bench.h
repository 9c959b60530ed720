/*
 * bench/bench.h - the measurements of 'exemplar bench': rows with our time, a peer's time, the bytes that must be
 * moved, and goals. docs/performance.md explains the rows and keeps results.
 */
#ifndef EXEMPLAR_BENCH_BENCH_H
#define EXEMPLAR_BENCH_BENCH_H

#include "bench/harness.h"

#include <exemplar/rig_inspect.h>

/* One row. A number that does not apply is 0, a text NULL. */
typedef struct exi_row {
    const char *group; /* name for 'exemplar bench NAME' */
    char work[64];
    double ns;             /* median time of a run */
    int vertex_count;      /* number that ns is divided by in the output */
    const char *unit;      /* unit of vertex_count, if not vertices */
    const char *peer;      /* name of the peer */
    const char *peer_note; /* why peer_ns is missing, or its source if it was not measured */
    double peer_ns;
    double bytes;          /* bytes that a run must read and write */
    double multiply_adds;  /* multiply-adds of floats that a run must make, a limit like bytes */
    double read_speed;     /* bytes/ns of reading as many bytes in one stream, measured in the same run */
    double read_speed_two; /* the same in two streams */
    double goal_ratio;     /* goal for peer_ns / ns */
    double goal_read;      /* goal as a fraction of read_speed */
    double goal_rate;      /* goal in runs per second */
    double rate;           /* a limit of the machine, in rate_unit, that ns stands for: printed instead of it */
    const char *rate_unit;
    bool frames; /* true if a run is a frame of a character: printed as frames per second, like the peer's */
} exi_row;

double exi_row_ratio(const exi_row *row); /* peer_ns / ns, or 0 */
double exi_row_read(const exi_row *row);  /* bytes / ns over read_speed, or 0 */
/* 1: all goals reached, -1: one missed, 0: none set, or unknown because the peer is absent. */
int exi_row_verdict(const exi_row *row);

/* Receiver of the rows, and the number of samples for each. */
typedef struct exi_bench {
    int repeat;
    void (*report)(void *user, const exi_row *row);
    void *user;
    ex_error *error; /* error of a failed group, unless memory ran out */
} exi_bench;

/* A group of rows. False if it failed: out of memory, unless bench->error says otherwise. */
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
bool exi_bench_wear(const exi_bench *bench); /* the last rows of settle */
bool exi_bench_drive(const exi_bench *bench);
bool exi_bench_edit(const exi_bench *bench);
bool exi_bench_normals(const exi_bench *bench);
bool exi_bench_offsets(const exi_bench *bench);
bool exi_bench_sparse(const exi_bench *bench); /* inside/: measures private parts of the libraries */
bool exi_bench_person(const exi_bench *bench); /* inside/ */
bool exi_bench_trajectory(const exi_bench *bench);
bool exi_bench_mixture(const exi_bench *bench);
bool exi_bench_warp(const exi_bench *bench);
bool exi_bench_paper(const exi_bench *bench);
bool exi_bench_fit(const exi_bench *bench);
bool exi_bench_displace(const exi_bench *bench);

/* copy.c: bytes/ns of reading `bytes` bytes again and again, in 1 or 2 streams; 0 if out of memory. */
double exi_read_speed(size_t bytes, int streams, int repeat);

/* machine.c: the name of the processor. */
enum { EXI_MACHINE_SIZE = 128 };
void exi_machine_name(char name[EXI_MACHINE_SIZE]);

/* displace.c: the displaced body as a rig; NULL if out of memory. */
ex_rig *exi_displace_rig(ex_storage storage);

#endif

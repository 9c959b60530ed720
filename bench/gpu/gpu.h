/*
 * bench/gpu/gpu.h - measures an NVIDIA GPU, for 'exemplar bench --gpu' and for exemplar_cuda_bench, which needs only
 * the runtime. docs/gpu.md explains the rows and keeps results.
 *
 * A row counts the minimum bytes of an evaluation (outputs, every instance's inputs, tables once) and compares them
 * with a copy from device memory to device memory, counting reads and writes, timed in the same run. Before it is
 * timed, a row is compared with the CPU.
 */
#ifndef EXEMPLAR_BENCH_GPU_GPU_H
#define EXEMPLAR_BENCH_GPU_GPU_H

#include <exemplar/cuda.h>
#include <exemplar/rig_inspect.h>

#include <stdio.h>

/* Largest differences between a row and the CPU: positions as fractions of the form's size, normals absolute, except
 * those that rounding determines; -1: not compared. */
typedef struct exi_gpu_bench_agreement {
    double positions, normals;
    bool wrong; /* true if one exceeds EXI_SURETY_TOLERANCE and the CPU's own uncertainty (surety.h) */
} exi_gpu_bench_agreement;

/* One row. A number that does not apply is 0, a text NULL. */
typedef struct exi_gpu_bench_row {
    const char *name; /* name for --only */
    char work[96];
    int instances, vertices;
    double us; /* median time of an evaluation of all instances */
    double bytes;
    double copy_speed; /* bytes per microsecond */
    exi_gpu_bench_agreement agreement;
    const char *beside;
    double beside_us;
    double goal_part;  /* goal as a fraction of the copy's speed */
    double goal_us;    /* upper limit */
    double goal_times; /* upper limit as a multiple of beside_us */
} exi_gpu_bench_row;

double exi_gpu_bench_row_speed(const exi_gpu_bench_row *row); /* bytes per microsecond, or 0 */
double exi_gpu_bench_row_part(const exi_gpu_bench_row *row);  /* fraction of the copy's speed, or 0 */
/* 1: its goal is reached, -1: missed, or the result is wrong, 0: it has none. */
int exi_gpu_bench_row_verdict(const exi_gpu_bench_row *row);

/* A rig to measure with. */
typedef struct exi_gpu_bench_subject {
    ex_rig *rig;
    double table_bytes; /* bytes that an evaluation must read whatever the number of instances */
} exi_gpu_bench_subject;

/* Definition of a row. */
typedef struct exi_gpu_bench_case {
    const char *name, *work;
    ex_result (*make)(const struct exi_gpu_bench_case *c, exi_gpu_bench_subject *subject, ex_error *error);
    int instances, level;
    bool normals;
    double goal_part, goal_us, goal_times;
    /* parameters of the rig */
    int across, around; /* the mesh is a ring: vertices along it and around it */
    int examples, correctors, segments;
    bool turns, screw;
    ex_storage storage;
    ex_skinning skinning;
    double paper_us; /* the paper's time for the same work */
} exi_gpu_bench_case;

typedef struct exi_gpu_bench {
    const char *only; /* only rows of that name; NULL: all */
    int repeat;       /* samples for each median */
    void (*report)(void *user, const exi_gpu_bench_row *row);
    void *user;
    const exi_gpu_bench_case *more; /* [more_count]: cases that need authoring */
    int more_count;
} exi_gpu_bench;

/* Names of rows, each once, in their order; NULL past the last. */
const char *exi_gpu_bench_name(int index);

/* Runs on the current device of this thread. Results: DEVICE, MEMORY, and those of creating rigs. */
ex_result exi_gpu_bench_run(const exi_gpu_bench *bench, ex_error *error);

/* rigs.c: a sum of forms; trajectories; forms and a skin on a ring of joints. */
enum { EXI_GPU_BENCH_JOINTS = 24 };
ex_result exi_gpu_bench_make_blend(const exi_gpu_bench_case *c, exi_gpu_bench_subject *subject, ex_error *error);
ex_result exi_gpu_bench_make_paths(const exi_gpu_bench_case *c, exi_gpu_bench_subject *subject, ex_error *error);
ex_result exi_gpu_bench_make_crowd(const exi_gpu_bench_case *c, exi_gpu_bench_subject *subject, ex_error *error);
/* mixtures.c: a mixture of up to 8 examples with up to 40 correctors. */
ex_result exi_gpu_bench_make_mixture(const exi_gpu_bench_case *c, exi_gpu_bench_subject *subject, ex_error *error);

/* bed.c: all memory of a row's evaluations, allocated once. */
typedef struct exi_gpu_bench_bed {
    const ex_rig *rig;
    int count, vertices, copies; /* copies: of the rig and of all memory, used in turn, so that none stays in a cache */
    ex_cuda_rig **gpu;           /* [copies] */
    float *inputs;               /* host [count][pose_size] */
    ex_transform *joints;        /* host [count][joint_count] */
    void *device_inputs, *device_joints;
    char *positions, *normals, *scratch; /* device [copies] */
    size_t form_bytes, scratch_bytes;    /* of one copy */
    ex_cuda_evaluation how;
    double input_bytes, output_bytes; /* of one evaluation */
} exi_gpu_bench_bed;

/* Allocates for as many instances as fit into memory, at most `count`. Poses differ from instance to instance. */
ex_result exi_gpu_bench_bed_open(exi_gpu_bench_bed *bed, const ex_rig *rig, const exi_gpu_bench_case *c, int copies,
                                 ex_cuda_stream stream, ex_error *error);
void exi_gpu_bench_bed_close(exi_gpu_bench_bed *bed);
/* Enqueues an evaluation in the stream, with copy number turn modulo copies. */
ex_result exi_gpu_bench_bed_evaluate(const exi_gpu_bench_bed *bed, int turn, ex_error *error);
/* Evaluates over poisoned memory and compares a few instances with the CPU. */
ex_result exi_gpu_bench_bed_check(const exi_gpu_bench_bed *bed, exi_gpu_bench_agreement *agreement, ex_error *error);

/* clock.c: medians by events. */
typedef struct exi_gpu_bench_timed {
    ex_result (*run)(void *context, int turn, ex_error *error); /* enqueues a run in the stream */
    void *context;
    ex_cuda_stream stream;
} exi_gpu_bench_timed;
/* Microseconds of a run, with runs enqueued one by one. */
ex_result exi_gpu_bench_time(const exi_gpu_bench_timed *work, int repeat, double *us, ex_error *error);
/* The same for runs captured into a graph: `runs` of them, or for 0 as many as take a millisecond or two; the graph is
 * launched again and again. */
ex_result exi_gpu_bench_time_graph(const exi_gpu_bench_timed *work, int runs, int repeat, double *us, ex_error *error);
/* The error of a CUDA call as a sentence; EX_OK if there is none. */
ex_result exi_gpu_bench_said(unsigned code, const char *what, ex_error *error);

/* print.c: a table for people, or one JSON object per line. */
void exi_gpu_bench_row_header(FILE *file, const ex_cuda_device *device);
void exi_gpu_bench_row_print(FILE *file, const exi_gpu_bench_row *row);
void exi_gpu_bench_row_json(FILE *file, const exi_gpu_bench_row *row);

#endif

/*
 * bench/gpu/gpu.h - measurements of an NVIDIA GPU, for 'exemplar bench --gpu' and for exemplar_cuda_bench, which needs
 * the runtime alone. docs/gpu.md explains the rows and keeps results.
 *
 * A row counts the bytes that an evaluation cannot do without (outputs, every instance's inputs, tables once) and sets
 * them against a copy from device memory to device memory, read and written counted, that was timed in the same run.
 * Before it is timed, a row is compared with the CPU.
 */
#ifndef EXEMPLAR_BENCH_GPU_GPU_H
#define EXEMPLAR_BENCH_GPU_GPU_H

#include <exemplar/cuda.h>
#include <exemplar/rig_inspect.h>

#include <stdio.h>

/* How far a row is from the CPU: the largest differences, of positions in parts of the form's size, of normals as they
 * are, but for those that rounding decides on; -1: not compared. */
typedef struct exi_gpu_bench_agreement {
    double positions, normals;
    bool wrong; /* one is larger than EXI_SURETY_TOLERANCE and what the CPU's own is sure of (surety.h) */
} exi_gpu_bench_agreement;

/* One row. A number that does not apply is 0, a text NULL. */
typedef struct exi_gpu_bench_row {
    const char *name; /* by which --only finds it */
    char work[96];
    int instances, vertices;
    double us; /* median of an evaluation of all instances */
    double bytes;
    double copy_speed; /* bytes a microsecond */
    exi_gpu_bench_agreement agreement;
    const char *beside;
    double beside_us;
    double goal_part;  /* of the copy's speed, to reach */
    double goal_us;    /* to stay below */
    double goal_times; /* of beside_us, to stay below */
} exi_gpu_bench_row;

double exi_gpu_bench_row_speed(const exi_gpu_bench_row *row); /* bytes a microsecond, or 0 */
double exi_gpu_bench_row_part(const exi_gpu_bench_row *row);  /* of the copy's speed, or 0 */
/* 1: its goal is reached, -1: missed, or the result is wrong, 0: it has none. */
int exi_gpu_bench_row_verdict(const exi_gpu_bench_row *row);

/* A rig to measure with. */
typedef struct exi_gpu_bench_subject {
    ex_rig *rig;
    double table_bytes; /* what an evaluation must read whatever the number of instances */
} exi_gpu_bench_subject;

/* What a row measures. */
typedef struct exi_gpu_bench_case {
    const char *name, *work;
    ex_result (*make)(const struct exi_gpu_bench_case *c, exi_gpu_bench_subject *subject, ex_error *error);
    int instances, level;
    bool normals;
    double goal_part, goal_us, goal_times;
    /* for what makes the rig */
    int across, around; /* the mesh is a ring: vertices along it and around it */
    int examples, correctors, segments;
    bool turns, screw;
    ex_storage storage;
    ex_skinning skinning;
    double paper_us; /* the paper's time for the same */
} exi_gpu_bench_case;

typedef struct exi_gpu_bench {
    const char *only; /* rows of that name; NULL: all */
    int repeat;       /* samples for each median */
    void (*report)(void *user, const exi_gpu_bench_row *row);
    void *user;
    const exi_gpu_bench_case *more; /* [more_count]: what needs authoring to be made */
    int more_count;
} exi_gpu_bench;

/* The names of rows, each once, in their order; NULL past the last. */
const char *exi_gpu_bench_name(int index);

/* Runs on the device that is current in this thread. Results: DEVICE, MEMORY, and what creating rigs gives. */
ex_result exi_gpu_bench_run(const exi_gpu_bench *bench, ex_error *error);

/* rigs.c: a sum of forms; trajectories; forms and a skin on a ring of joints. */
enum { EXI_GPU_BENCH_JOINTS = 24 };
ex_result exi_gpu_bench_make_blend(const exi_gpu_bench_case *c, exi_gpu_bench_subject *subject, ex_error *error);
ex_result exi_gpu_bench_make_paths(const exi_gpu_bench_case *c, exi_gpu_bench_subject *subject, ex_error *error);
ex_result exi_gpu_bench_make_crowd(const exi_gpu_bench_case *c, exi_gpu_bench_subject *subject, ex_error *error);

/* bed.c: everything that evaluations of one row work on, allocated once. */
typedef struct exi_gpu_bench_bed {
    const ex_rig *rig;
    int count, vertices, copies; /* copies: of the rig and of all memory, used in turn, so that none stays in a cache */
    ex_cuda_rig **gpu;           /* [copies] */
    float *inputs;               /* the host's [count][pose_size] */
    ex_transform *joints;        /* the host's [count][joint_count] */
    void *device_inputs, *device_joints;
    char *positions, *normals, *scratch; /* the device's [copies] */
    size_t form_bytes, scratch_bytes;    /* of one copy */
    ex_cuda_evaluation how;
    double input_bytes, output_bytes; /* of one evaluation */
} exi_gpu_bench_bed;

/* As many instances as memory has room for, at most `count`. Poses differ from instance to instance. */
ex_result exi_gpu_bench_bed_open(exi_gpu_bench_bed *bed, const ex_rig *rig, const exi_gpu_bench_case *c, int copies,
                                 ex_cuda_stream stream, ex_error *error);
void exi_gpu_bench_bed_close(exi_gpu_bench_bed *bed);
/* Puts an evaluation into the stream, by copy number turn modulo copies. */
ex_result exi_gpu_bench_bed_evaluate(const exi_gpu_bench_bed *bed, int turn, ex_error *error);
/* Evaluates over poisoned memory and compares a few instances with the CPU. */
ex_result exi_gpu_bench_bed_check(const exi_gpu_bench_bed *bed, exi_gpu_bench_agreement *agreement, ex_error *error);

/* clock.c: medians by events. */
typedef struct exi_gpu_bench_timed {
    ex_result (*run)(void *context, int turn, ex_error *error); /* puts a run into the stream */
    void *context;
    ex_cuda_stream stream;
} exi_gpu_bench_timed;
/* Microseconds of a run, the runs put into the stream one by one. */
ex_result exi_gpu_bench_time(const exi_gpu_bench_timed *work, int repeat, double *us, ex_error *error);
/* The same of runs that were captured into a graph, `runs` of them, 0: as many as take a millisecond or two; the graph
 * is launched again and again. */
ex_result exi_gpu_bench_time_graph(const exi_gpu_bench_timed *work, int runs, int repeat, double *us, ex_error *error);
/* What a call of CUDA said, as a sentence; EX_OK where it is good. */
ex_result exi_gpu_bench_said(unsigned code, const char *what, ex_error *error);

/* print.c: a table for people, or an object of JSON on a line. */
void exi_gpu_bench_row_header(FILE *file, const ex_cuda_device *device);
void exi_gpu_bench_row_print(FILE *file, const exi_gpu_bench_row *row);
void exi_gpu_bench_row_json(FILE *file, const exi_gpu_bench_row *row);

#endif

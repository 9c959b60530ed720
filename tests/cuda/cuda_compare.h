/*
 * cuda_compare.h - what the runtime gives here, and whether the GPU gives the same and writes nothing else.
 */
#ifndef EXEMPLAR_TESTS_CUDA_COMPARE_H
#define EXEMPLAR_TESTS_CUDA_COMPARE_H

#include "bench/gpu/surety.h"
#include "cuda/cuda_rigs.h"

#include <exemplar/cuda.h>

/* How far results may be from the runtime's: positions in parts of the form's size, normals and weights as they are. */
#define TOLERANCE EXI_SURETY_TOLERANCE

/* How to evaluate, on both sides. */
typedef struct setting {
    int level;
    bool split, unskinned;
    const bool *muted;                 /* or NULL */
    const ex_weigher *const *weighers; /* the runtime's; or NULL */
} setting;

/* What the runtime gives for all poses: entries as the way asks for them. */
typedef struct expected {
    int count, entries, examples;
    bool has_normals;
    float *positions, *normals; /* [count][entries][3] */
    float *off, *angles;        /* [count][entries]: how far rounding may bring a position, turn a normal (surety.h) */
    float *boxes;               /* [count][6] */
    double *sizes;              /* [count]: of the form; at least 1 */
    double *weights;            /* [count][examples] */
} expected;
void expect(const ex_rig *rig, const pose_set *poses, const setting *way, expected *made);
void free_expected(expected *e);

/* What to ask the GPU for. */
typedef struct request {
    const char *name;
    ex_cuda_number number;
    bool positions, normals, boxes, weights;
    bool interleaved;         /* normals stand beside positions, in one array */
    bool to_host, locked;     /* in memory that is page-locked */
    size_t stride, far_apart; /* bytes above what entries, and what instances take */
} request;
extern const request requests[];
extern const int request_count;

/* What comparing entries of one sort came to. */
typedef struct tally {
    long within;    /* differ by the tolerance at most, beyond what their own 16 bits round */
    long by_surety; /* by more, but by no more than the runtime's own are sure; `used` is the largest part of that */
    long unsure;    /* of normals: rounding decides where they point, so they are not compared */
    double largest; /* difference, of outputs in float, among those within */
    double used;
} tally;

/* What comparing came to. */
typedef struct findings {
    tally positions, normals;
    double weight; /* the largest difference */
    int failures;
    char where[160]; /* what is compared now */
} findings;
void complain(findings *f, const char *what, ...);

/* Where one call puts its results: arrays full of a pattern, so that what is written too much shows. */
typedef struct sheet {
    size_t size, first, first_normal; /* bytes; where the entries begin */
    unsigned char *host;
    void *device;
} sheet;
typedef struct asked {
    const request *request;
    sheet arrays[2]; /* positions, normals; interleaved: the first is both */
    sheet boxes, weights;
    ex_cuda_output output;
    void *scratch, *inputs, *joints;
    ex_cuda_evaluation how;
} asked;

/* Makes the arrays, fills them, and uploads the poses. */
void ask(const ex_cuda_rig *rig, const ex_rig *source, const pose_set *poses, const setting *way, const expected *e,
         const request *r, asked *made);
/* Puts the work into the way's stream. */
ex_result ask_evaluate(const ex_cuda_rig *rig, asked *a, int count, ex_error *error);
/* Fetches and compares, after the stream was waited for. With e NULL: nothing may have been written. */
void answer(asked *a, const expected *e, findings *f);
/* Other poses, as many, in place of those uploaded; the pattern again in place of the results. */
void ask_again(asked *a, const pose_set *poses, size_t pose_size, size_t joints);
void free_asked(asked *a);

/* All of it once. */
void compare(const ex_cuda_rig *rig, const ex_rig *source, const pose_set *poses, const setting *way, const expected *e,
             const request *r, findings *f);

#endif

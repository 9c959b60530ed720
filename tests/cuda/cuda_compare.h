/* cuda_compare.h - computes the runtime's results, and checks that the GPU gives the same and writes nothing else. */
#ifndef EXEMPLAR_TESTS_CUDA_COMPARE_H
#define EXEMPLAR_TESTS_CUDA_COMPARE_H

#include "bench/gpu/surety.h"
#include "cuda/cuda_rigs.h"

#include <exemplar/cuda.h>

/* Largest difference from the runtime's results: positions as fractions of the form's size, normals and weights
 * absolute. */
#define TOLERANCE EXI_SURETY_TOLERANCE

/* Evaluation settings, for both sides. */
typedef struct setting {
    int level;
    bool split, unskinned;
    const bool *muted;                 /* or NULL */
    const ex_weigher *const *weighers; /* the runtime's; or NULL */
} setting;

/* The runtime's results for all poses: the requested entries. */
typedef struct expected {
    int count, entries, examples;
    bool has_normals;
    float *positions, *normals; /* [count][entries][3] */
    float *off, *angles;        /* [count][entries]: uncertainty from rounding of a position, and angle of a normal
                                 * (surety.h) */
    float *boxes;               /* [count][6] */
    double *sizes;              /* [count]: of the form; at least 1 */
    double *weights;            /* [count][examples] */
} expected;
void expect(const ex_rig *rig, const pose_set *poses, const setting *way, expected *made);
void free_expected(expected *e);

/* Outputs requested from the GPU. */
typedef struct request {
    const char *name;
    ex_cuda_number number;
    bool positions, normals, boxes, weights;
    bool interleaved;         /* true if normals are next to positions, in one array */
    bool to_host, locked;     /* true: results in host memory; true: page-locked */
    size_t stride, far_apart; /* extra bytes between entries, and between instances */
} request;
extern const request requests[];
extern const int request_count;

/* Result of comparing entries of one kind. */
typedef struct tally {
    long within;    /* number that differ by at most the tolerance, beyond the rounding of their 16 bits */
    long by_surety; /* number that differ by more, but within the runtime's own uncertainty; `used` is the largest
                     * fraction of that */
    long unsure;    /* normals that are not compared, because rounding determines their direction */
    double largest; /* difference, of outputs in float, among those within */
    double used;
} tally;

/* Result of a comparison. */
typedef struct findings {
    tally positions, normals;
    double weight; /* the largest difference */
    int failures;
    char where[160]; /* description of the current comparison */
} findings;
void complain(findings *f, const char *what, ...);

/* Output of one call: arrays filled with a pattern, which shows writes outside the output. */
typedef struct sheet {
    size_t size, first, first_normal; /* bytes; start of the entries */
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
/* Enqueues the work in the setting's stream. */
ex_result ask_evaluate(const ex_cuda_rig *rig, asked *a, int count, ex_error *error);
/* Fetches and compares, after waiting for the stream. With e NULL: nothing may have been written. */
void answer(asked *a, const expected *e, findings *f);
/* Replaces the uploaded poses by as many others, and fills the results with the pattern again. */
void ask_again(asked *a, const pose_set *poses, size_t pose_size, size_t joints);
void free_asked(asked *a);

/* Does all of this once. */
void compare(const ex_cuda_rig *rig, const ex_rig *source, const pose_set *poses, const setting *way, const expected *e,
             const request *r, findings *f);

#endif

/*
 * exemplar/shape.h - sum example forms with weights.
 *
 * ex_forms holds a base form and the examples' differences from it, laid out for the sum: tiles of a few vertices, and
 * within a tile one example after the other, so that a blend streams through memory. Immutable; may be used
 * from any number of threads. A rig holds one of these inside it; use it alone where you have weights of your own.
 */
#ifndef EXEMPLAR_SHAPE_H
#define EXEMPLAR_SHAPE_H

#include <exemplar/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum ex_storage {
    EX_STORAGE_FLOAT,  /* 12 bytes a vertex and example */
    EX_STORAGE_16_BIT, /* 6 bytes: signed-normalised with one scale an example, summed as integers. With s the sum of
                          |weight| times an example's largest difference: errors of about 1e-5 s, and with n examples
                          of at most 1.6e-5 (1 + n) s; what no example moves stays where it is */
    EX_STORAGE_COUNT
} ex_storage;

typedef struct ex_forms_def {
    int vertex_count;
    int example_count;
    const float *base;          /* [vertex_count][3] */
    const float *const *deltas; /* [example_count] of [vertex_count][3]: example minus base */
    ex_storage storage;
} ex_forms_def;

typedef struct ex_forms ex_forms;

/* Lays the forms out. One allocation, 12 bytes a vertex plus 12 or 6 a vertex and example. Results: ARGUMENT, DATA
 * (example and vertex named by number), MEMORY, LIMIT. */
EX_API ex_result ex_forms_create(const ex_forms_def *def, const ex_allocator *allocator, ex_forms **forms,
                                 ex_error *error);
EX_API void ex_forms_destroy(ex_forms *forms);

EX_API int ex_forms_vertex_count(const ex_forms *forms);
EX_API int ex_forms_example_count(const ex_forms *forms);

/*
 * positions = base + sum of weights[k] * delta[k], for every vertex. weights [example_count]; positions
 * [vertex_count] triples, `stride` bytes apart (0: 12); scratch of ex_forms_scratch_size bytes, aligned as malloc does.
 * Allocates nothing. Reads each table once: 12 (or 6) bytes a vertex and example whose weight is not 0.
 */
EX_API void ex_forms_blend(const ex_forms *forms, const float *weights, float *positions, size_t stride,
                           const ex_tasks *tasks, void *scratch);
EX_API size_t ex_forms_scratch_size(const ex_forms *forms);

/* ---- sparse examples ---- */

/* The vertices that an example moves, and by how much. */
typedef struct ex_offsets {
    int count;
    const uint32_t *vertices; /* [count], ascending */
    const float *deltas;      /* [count][3] */
} ex_offsets;

#ifdef __cplusplus
}
#endif
#endif

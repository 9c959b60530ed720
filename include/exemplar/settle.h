/*
 * exemplar/settle.h - where one surface is seen from another: closest points and rays on triangles.
 *
 * ex_tree is the order in which a mesh's triangles are looked through: a bounding-volume tree without boxes, made once
 * from any form of the mesh. ex_fit is that tree around one form: boxes and triangles, in memory of the caller, made
 * again whenever the form moves, in microseconds and without allocating. Queries ask a fit, and neither allocate nor
 * fail. Trees are immutable, and trees and fits may be read from any number of threads.
 *
 * Numbers are floats below 1e18 in size; larger ones count as not finite. What a query answers depends on the triangles
 * and their order in the definition alone, to the bit: not on the tree, and so not on the form it was made from.
 */
#ifndef EXEMPLAR_SETTLE_H
#define EXEMPLAR_SETTLE_H

#include <exemplar/base.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ex_tree_def {
    int vertex_count;
    const float *positions;    /* [vertex_count] triples; some may be not finite */
    size_t stride;             /* bytes from one to the next; 0: 12 */
    int triangle_count;        /* may be 0: then nothing is ever found */
    const uint32_t *triangles; /* [triangle_count][3] vertices */
} ex_tree_def;

typedef struct ex_tree ex_tree;

/*
 * Sorts the triangles into a tree (surface-area heuristic) in O(n log n), 0.3 us a triangle: one allocation of about 20
 * bytes a triangle, and 64 a triangle for the while. Triangles without area, or repeated, are triangles like others.
 * Results: ARGUMENT, DATA (triangle named), MEMORY, LIMIT (more than 2^29 triangles).
 */
EX_API ex_result ex_tree_create(const ex_tree_def *def, const ex_allocator *allocator, ex_tree **tree, ex_error *error);
EX_API void ex_tree_destroy(ex_tree *tree);
EX_API int ex_tree_triangle_count(const ex_tree *tree);

typedef struct ex_fit ex_fit;

/* Bytes of a fit, about 60 a triangle; aligned as malloc does. */
EX_API size_t ex_fit_size(const ex_tree *tree);
/*
 * Fits the tree around positions [vertex_count] (stride as above) in memory of that size, and returns it; the fit lives
 * as long as the memory, and needs neither tree nor positions any more. A triangle with a corner that is not finite is
 * not found in this form. Only the time of a query may be longer than with a tree made from these positions, where the
 * form has changed much.
 */
EX_API const ex_fit *ex_fit_make(const ex_tree *tree, const float *positions, size_t stride, void *memory,
                                 const ex_tasks *tasks);

/* A point of a triangle a b c: (1 - u - v) a + u b + v c. */
typedef struct ex_hit {
    int triangle; /* as in the definition; -1: none */
    float u, v;
    float t; /* ray: along the direction, in its lengths */
} ex_hit;

typedef struct ex_ray {
    float origin[3];
    float direction[3]; /* of any length but 0 */
    float t_min, t_max; /* t between these counts, from 0 on; t_max may be INFINITY */
} ex_ray;

/* The nearest hit, from either side; of equal ones the lower triangle. False, and triangle -1, where there is none, or
 * where the ray is not finite. Watertight: a ray through an edge that two triangles share hits one of them. A triangle
 * in whose plane the ray lies is not hit. */
EX_API bool ex_fit_ray(const ex_fit *fit, const ex_ray *ray, ex_hit *hit);
/* Whether anything is hit: cheaper. */
EX_API bool ex_fit_blocked(const ex_fit *fit, const ex_ray *ray);

typedef struct ex_closest {
    int triangle; /* -1: none within reach */
    float u, v;
    float point[3];
    float distance_sq;
} ex_closest;

/* The closest point of all triangles within `reach` (INFINITY: wherever it is); of equally near triangles the lower.
 * Distances below 1e-19 count as 0. False, and triangle -1, where there is none, or where the point is not finite. */
EX_API bool ex_fit_closest(const ex_fit *fit, const float point[3], float reach, ex_closest *closest);

#ifdef __cplusplus
}
#endif
#endif

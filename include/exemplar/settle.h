/*
 * exemplar/settle.h - one surface seen from another, and fitted onto it: closest points, rays, settling.
 *
 * ex_tree is the order in which a mesh's triangles are looked through: a bounding-volume tree without boxes, made once
 * from any form of the mesh. ex_bounds is that tree around one form: boxes and triangles, in memory of the caller, made
 * again whenever the form moves, in microseconds and without allocating. Queries ask a fit, and neither allocate nor
 * fail. Trees are immutable, and trees and fits may be read from any number of threads. ex_settler fits one surface
 * (driven: clothes) onto another (its driver: the body), frame by frame.
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

typedef struct ex_bounds ex_bounds;

/* Bytes of a fit, about 60 a triangle; aligned as malloc does. */
EX_API size_t ex_bounds_size(const ex_tree *tree);
/*
 * Fits the tree around positions [vertex_count] (stride as above) in memory of that size, and returns it; the fit lives
 * as long as the memory, and needs neither tree nor positions any more. A triangle with a corner that is not finite is
 * not found in this form. Only the time of a query may be longer than with a tree made from these positions, where the
 * form has changed much.
 */
EX_API const ex_bounds *ex_bounds_fit(const ex_tree *tree, const float *positions, size_t stride, void *memory,
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
EX_API bool ex_bounds_ray(const ex_bounds *fit, const ex_ray *ray, ex_hit *hit);
/* Whether anything is hit: cheaper. */
EX_API bool ex_bounds_blocked(const ex_bounds *fit, const ex_ray *ray);

typedef struct ex_closest {
    int triangle; /* -1: none within reach */
    float u, v;
    float point[3];
    float distance_sq;
} ex_closest;

/* The closest point of all triangles within `reach` (INFINITY: wherever it is); of equally near triangles the lower.
 * Distances below 1e-19 count as 0. False, and triangle -1, where there is none, or where the point is not finite. */
EX_API bool ex_bounds_closest(const ex_bounds *fit, const float point[3], float reach, ex_closest *closest);

/* ---- settling ---- */

/* How the residual, the motion from the blended driver to the true one, is carried to the driven form, with the names
 * that project files use. */
#define EX_RESIDUAL_LIST(X)                                                                                            \
    X(EX_RESIDUAL_NONE, "none")       /* not at all */                                                                 \
    X(EX_RESIDUAL_KEYS, "keys")       /* by the triangles that were closest in the keys, by the keys' weights: needs   \
                                         no search, and never jumps */                                                 \
    X(EX_RESIDUAL_CLOSEST, "closest") /* by the closest triangle of the blended driver (DrivenShape, 2.4) */

typedef enum ex_residual {
#define EX_RESIDUAL_ENUM(name, text) name,
    EX_RESIDUAL_LIST(EX_RESIDUAL_ENUM)
#undef EX_RESIDUAL_ENUM
        EX_RESIDUAL_COUNT
} ex_residual;

EX_API const char *ex_residual_name(ex_residual residual);

/* The most different sets of triangles that driven vertices may be bound to. */
#define EX_BIND_MAX 256

/* Triangles of the driver that some driven vertices are bound to: they see no others (2.6). */
typedef struct ex_bind {
    int triangle_count;        /* at least 1 */
    const uint32_t *triangles; /* [triangle_count], ascending */
} ex_bind;

typedef struct ex_settler_def {
    int driver_count;              /* vertices of the driver */
    const float *driver_positions; /* [driver_count][3]: any form of it, for the trees */
    int triangle_count;
    const uint32_t *triangles; /* [triangle_count][3] */

    int vertex_count; /* driven vertices */
    int bind_count;   /* 0: every vertex sees all triangles; at most EX_BIND_MAX */
    const ex_bind *binds;
    const uint16_t *vertex_binds; /* [vertex_count], below bind_count; bind_count: all triangles; NULL without binds */

    int key_count;                 /* may be 0; at most 1024 */
    const uint32_t *key_triangles; /* [key_count][vertex_count]: closest in each key (ex_settler_measure) */
    const float *key_places;       /* [key_count][vertex_count][2]: u and v of the closest point */
    const float *key_gaps; /* [key_count][vertex_count]: signed distance to the driver in each key; NULL: large */
} ex_settler_def;

typedef struct ex_settler ex_settler;

/* One allocation; results ARGUMENT, DATA (an index out of range, a number not finite: named), LIMIT, MEMORY. */
EX_API ex_result ex_settler_create(const ex_settler_def *def, const ex_allocator *allocator, ex_settler **settler,
                                   ex_error *error);
EX_API void ex_settler_destroy(ex_settler *settler);

/* What a key's row in the definition is: of a settler without keys, the closest triangle, place and signed distance of
 * every driven vertex [vertex_count] of a form on a driver's. Each output may be NULL. A vertex that is not finite, or
 * sees no triangle that is, has triangle UINT32_MAX and distance INFINITY. scratch: ex_settler_scratch_size. */
EX_API void ex_settler_measure(const ex_settler *settler, const float *driver, const float *driven, size_t stride,
                               uint32_t *triangles, float *places, float *distances, const ex_tasks *tasks,
                               void *scratch);

/* What settling did. */
typedef struct ex_settled {
    int penetrating; /* vertices nearer than their gap, or inside, by more than 1e-6 of the driver's size, before
                        pushing out */
    int pushed;      /* moved */
    int left;        /* still nearer than their gap by more than 1e-5 of the driver's size: the driver leaves no room */
    float deepest;   /* of them before: the least signed distance, 0 where none is inside */
} ex_settled;

typedef struct ex_settle_job {
    const float *blended; /* [driver_count][3]: the driver as its keys blend it; NULL: no residual */
    const float *driver;  /* [driver_count][3]: as it is */
    float *driven;        /* triples, changed in place */
    size_t stride;        /* 0: 12 */
    ex_residual residual;
    const float *weights; /* [vertex_count][key_count]: weights of the keys at each driven vertex; for the residual by
                             keys and for their gaps; NULL: neither */
    bool push;            /* out to the gap: thickness, or what the keys had where they had less (their gaps blended),
                             and never less than 0 */
    float thickness;
    const ex_tasks *tasks;
    ex_settled *settled; /* or NULL */
} ex_settle_job;

EX_API size_t ex_settler_scratch_size(const ex_settler *settler);
/* What a caller may keep from frame to frame so that the next is quicker; zeros are an empty state. It only says where
 * to look first: a state of other frames, of another settler, or any bytes at all cost time, and the results are the
 * same to the bit. Aligned for uint32_t. 0: none. */
EX_API size_t ex_settler_state_size(const ex_settler *settler);

/*
 * Settles one frame: carries the residual, then pushes out along the way to the closest point. The side of a surface is
 * that of the pseudo-normal (angle-weighted at vertices and edges) of its closest point, with all triangles of the
 * driver that meet there, also those outside of a bind set. With keys and weights, a vertex inside that is nearest to
 * the far side of what it was on in its heaviest key leaves by the side of the key. A driver's triangle that is not
 * finite is not seen, and a driven vertex that is not finite stays as it is. Allocates nothing, cannot fail; the bytes
 * do not depend on tasks. state may be NULL.
 */
EX_API void ex_settle(const ex_settler *settler, const ex_settle_job *job, void *state, void *scratch);

#ifdef __cplusplus
}
#endif
#endif

/*
 * exemplar/settle.h - closest points, rays, and settling one surface onto another.
 *
 * ex_tree sorts the triangles of a mesh for search: a bounding-volume tree without boxes, made once from any form of
 * the mesh. ex_bounds is that tree fitted around one form: boxes and triangles, in the caller's memory, made again
 * whenever the form moves, in microseconds and without allocating. Queries use a fit; they allocate nothing and cannot
 * fail. Trees are immutable, and any number of threads may read trees and fits. ex_settler fits one surface (the driven
 * one: clothes) onto another (its driver: the body), frame by frame.
 *
 * Numbers are floats below 1e18 in size; larger ones count as not finite. The result of a query depends only on the
 * triangles and their order in the definition, to the bit: not on the tree, and so not on the form it was made from.
 */
#ifndef EXEMPLAR_SETTLE_H
#define EXEMPLAR_SETTLE_H

#include <exemplar/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Definition of a search tree. */
typedef struct ex_tree_def {
    int vertex_count;
    const float *positions;    /* [vertex_count] triples; some may be not finite */
    size_t stride;             /* bytes from one to the next, a multiple of 4 and at least 12; 0: 12 */
    int triangle_count;        /* may be 0: nothing is found then */
    const uint32_t *triangles; /* [triangle_count][3] vertices */
} ex_tree_def;

/* The triangles of a mesh, sorted for search; immutable. */
typedef struct ex_tree ex_tree;

/*
 * Makes a search tree: sorts the triangles (surface-area heuristic) in O(n log n), 0.3 us per triangle. Keeps one
 * allocation of about 20 bytes per triangle, and uses 64 to 80 bytes per triangle temporarily. Triangles without area,
 * and repeated ones, are allowed. Results: ARGUMENT, DATA (names the triangle), MEMORY, LIMIT (more than 2^29
 * triangles).
 */
EX_API ex_result ex_tree_create(const ex_tree_def *def, const ex_allocator *allocator, ex_tree **tree, ex_error *error);
EX_API void ex_tree_destroy(ex_tree *tree);
EX_API int ex_tree_triangle_count(const ex_tree *tree);

/* A tree fitted around one form, for queries. */
typedef struct ex_bounds ex_bounds;

/* Returns the bytes of a fit, about 60 per triangle; aligned as malloc does. */
EX_API size_t ex_bounds_size(const ex_tree *tree);
/*
 * Fits the tree around positions [vertex_count] (stride as above) in memory of that size, and returns the fit. It lives
 * as long as the memory and no longer needs the tree or the positions. A triangle with a corner that is not finite is
 * not found. Positions at an address or with a stride that is no multiple of 4 are misuse: NULL. If the form has
 * changed much since the tree was made, queries may be slower than with a new tree, but their results are the same.
 */
EX_API const ex_bounds *ex_bounds_fit(const ex_tree *tree, const float *positions, size_t stride, void *memory,
                                      const ex_tasks *tasks);

/* A point of a triangle a b c: (1 - u - v) a + u b + v c. */
typedef struct ex_hit {
    int triangle; /* as in the definition; -1: none */
    float u, v;
    float t; /* ray: distance, in lengths of the direction */
} ex_hit;

/* A ray, with the range in which it may hit. */
typedef struct ex_ray {
    float origin[3];
    float direction[3]; /* any length but 0 */
    float t_min, t_max; /* range of t for hits, at least 0; t_max may be INFINITY */
} ex_ray;

/* Finds the nearest hit, from either side; among equal hits the one with the lower triangle. Returns false, with
 * triangle -1, if there is none or the ray is not finite. Watertight: a ray through an edge shared by two triangles
 * hits one of them. A ray does not hit a triangle in whose plane it lies. */
EX_API bool ex_bounds_ray(const ex_bounds *fit, const ex_ray *ray, ex_hit *hit);
/* Returns true if the ray hits anything; cheaper than ex_bounds_ray. */
EX_API bool ex_bounds_blocked(const ex_bounds *fit, const ex_ray *ray);

/* The closest point of a surface to a given point. */
typedef struct ex_closest {
    int triangle; /* -1: none within reach */
    float u, v;
    float point[3];
    float distance_sq;
} ex_closest;

/* Finds the closest point of all triangles within `reach` (INFINITY: no limit); among equally near triangles the lower
 * one. Distances below 1e-19 count as 0. Returns false, with triangle -1, if there is none or the point is not
 * finite. */
EX_API bool ex_bounds_closest(const ex_bounds *fit, const float point[3], float reach, ex_closest *closest);

/* ---- many queries at once ---- */

/* Rays, row after row. Strides are bytes from one to the next, multiples of 4 and at least 12 (0: 12). */
typedef struct ex_rays {
    int count;
    const float *origins; /* [count] triples */
    size_t origin_stride;
    const float *directions; /* [count] triples of any length but 0 */
    size_t direction_stride;
    const float *t_min; /* [count]: as in ex_ray; NULL: 0 */
    const float *t_max; /* [count]; NULL: INFINITY */
} ex_rays;

/* Find the closest point of each of count points [count] (stride as above), the nearest hit of each ray, and the rays
 * that hit anything. Each answer is that of the single query, to the bit, whatever the tasks. closest, hits and blocked
 * are [count]. Addresses or strides that are no multiple of 4 are misuse, and nothing is written. */
EX_API void ex_bounds_closest_many(const ex_bounds *fit, int count, const float *points, size_t stride, float reach,
                                   ex_closest *closest, const ex_tasks *tasks);
EX_API void ex_bounds_ray_many(const ex_bounds *fit, const ex_rays *rays, ex_hit *hits, const ex_tasks *tasks);
EX_API void ex_bounds_blocked_many(const ex_bounds *fit, const ex_rays *rays, bool *blocked, const ex_tasks *tasks);

/* ---- settling ---- */

/* Ways to carry the residual to the driven form, with the names that project files use. The residual is the motion from
 * the blended driver to the true one. */
#define EX_RESIDUAL_LIST(X)                                                                                            \
    X(EX_RESIDUAL_NONE, "none")       /* no residual */                                                                \
    X(EX_RESIDUAL_KEYS, "keys")       /* by the triangles that were closest in the keys, weighted like the keys:       \
                                         needs no search, and never jumps */                                           \
    X(EX_RESIDUAL_CLOSEST, "closest") /* by the closest triangle of the blended driver (DrivenShape, 2.4) */

typedef enum ex_residual {
#define EX_RESIDUAL_ENUM(name, text) name,
    EX_RESIDUAL_LIST(EX_RESIDUAL_ENUM)
#undef EX_RESIDUAL_ENUM
        EX_RESIDUAL_COUNT
} ex_residual;

/* Returns the name of a way to carry the residual. */
EX_API const char *ex_residual_name(ex_residual residual);

/* Maximum number of different triangle sets that driven vertices may be bound to. */
#define EX_BIND_MAX 256

/* Triangles of the driver that some driven vertices are bound to: these vertices see no others (DrivenShape, 2.6). */
typedef struct ex_bind {
    int triangle_count;        /* at least 1 */
    const uint32_t *triangles; /* [triangle_count], ascending */
} ex_bind;

/* Definition of a settler: the driver, the binds of driven vertices, the keys. */
typedef struct ex_settler_def {
    int driver_count;              /* vertices of the driver */
    const float *driver_positions; /* [driver_count][3]: any form of the driver, to build the trees */
    int triangle_count;
    const uint32_t *triangles; /* [triangle_count][3] */

    int vertex_count; /* driven vertices */
    int bind_count;   /* 0: every vertex sees all triangles; at most EX_BIND_MAX */
    const ex_bind *binds;
    const uint16_t *vertex_binds; /* [vertex_count], the bind of each vertex; bind_count means all triangles; NULL
                                     without binds */

    bool open; /* true if the driver is a sheet, such as a garment below this one: a vertex whose closest point is on
                  its edge is left alone, since it is beyond the sheet */

    int key_count;                 /* may be 0, but then vertices are searched in their own order and cold frames
                                      have no place to look first: 1.7 to 2 times as long. One key is enough, also
                                      for jobs without weights. At most 1024 */
    const uint32_t *key_triangles; /* [key_count][vertex_count]: closest triangle in each key (ex_settler_measure) */
    const float *key_places;       /* [key_count][vertex_count][2]: u and v of the closest point */
    const float *key_gaps; /* [key_count][vertex_count]: signed distance to the driver in each key; NULL: large */
} ex_settler_def;

/* The tables for settling a driven surface onto its driver; immutable. */
typedef struct ex_settler ex_settler;

/* Makes a settler, in one allocation. Results: ARGUMENT, DATA (an index out of range, a number not finite; named),
 * LIMIT, MEMORY. */
EX_API ex_result ex_settler_create(const ex_settler_def *def, const ex_allocator *allocator, ex_settler **settler,
                                   ex_error *error);
EX_API void ex_settler_destroy(ex_settler *settler);

/* Measures a key, to make its rows in the definition: the closest triangle, its place and the signed distance of every
 * driven vertex [vertex_count], for a driven form on a form of the driver. Use a settler without keys. Each output may
 * be NULL. A vertex that is not finite, or sees no finite triangle, gets triangle UINT32_MAX and distance INFINITY.
 * scratch: ex_settler_scratch_size. */
EX_API void ex_settler_measure(const ex_settler *settler, const float *driver, const float *driven, size_t stride,
                               uint32_t *triangles, float *places, float *distances, const ex_tasks *tasks,
                               void *scratch);

/* Report on settling. */
typedef struct ex_settled {
    int inside;      /* vertices inside by more than 1e-6 of the driver's size, before pushing out */
    int penetrating; /* vertices nearer than their gap, or inside, by more than 1e-6 of the driver's size, before
                        pushing out */
    int pushed;      /* vertices moved */
    int left;        /* vertices still nearer than their gap by more than 1e-5 of the driver's size: the driver
                        leaves no room */
    float deepest;   /* lowest signed distance before pushing out; 0 if no vertex was inside */
} ex_settled;

/* The forms and settings of one frame for ex_settle. */
typedef struct ex_settle_job {
    const float *blended; /* [driver_count][3]: the driver as blended from its keys; NULL: no residual */
    const float *driver;  /* [driver_count][3]: the true driver */
    float *driven;        /* triples, changed in place */
    size_t stride;        /* a multiple of 4, at least 12; 0: 12 */
    ex_residual residual;
    const float *weights; /* [vertex_count][key_count]: weights of the keys at each driven vertex, for
                             EX_RESIDUAL_KEYS and for the gaps; NULL: neither */
    bool push;            /* true to push vertices out to their gap: thickness, or the keys' blended gap if that is
                             smaller, and never less than 0 */
    float thickness;
    const float *gaps; /* [vertex_count]: a thickness for every vertex, or NULL: `thickness` for all */
    float reach;       /* a vertex deeper inside than this is left alone; 0: no limit */
    const ex_tasks *tasks;
    ex_settled *settled; /* or NULL */
} ex_settle_job;

/* Returns the bytes of scratch memory. */
EX_API size_t ex_settler_scratch_size(const ex_settler *settler);
/* Returns the bytes of a state that the caller may keep from frame to frame, one for each character, to make the next
 * frame faster; zeros are an empty state. Pass zeros or what ex_settle wrote with the same settler. The state may be
 * from any earlier frame, of any other motion: results are the same to the bit as without it. One exception: where the
 * driver passes through itself, the closest surface may have its back to a vertex that no surface has reached. With a
 * state such a vertex stays outside. Aligned for uint32_t. About 24 bytes per driven vertex and 12 per driver vertex
 * for a closed driver, 8 per driven vertex for others, where a state saves little. 0: no state needed. */
EX_API size_t ex_settler_state_size(const ex_settler *settler);

/*
 * Settles one frame: carries the residual, then pushes out along the direction to the closest point. The side of the
 * surface follows from the pseudo-normal (angle-weighted at vertices and edges) at its closest point, from all
 * triangles of the driver that meet there, including those outside a bind set. With keys and weights, a vertex inside
 * the driver whose nearest surface is on the far side from its keys leaves by the side of the keys, if it is deeper
 * than a twentieth of the way there. Triangles of the driver that are not finite are ignored, and driven vertices that
 * are not finite stay unchanged. Allocates nothing and cannot fail. The bytes do not depend on tasks. state may be
 * NULL.
 */
EX_API void ex_settle(const ex_settler *settler, const ex_settle_job *job, void *state, void *scratch);

/* ---- crossings of a garment with itself ---- */

/* Definition of an untangler: the triangles of a garment. */
typedef struct ex_untangler_def {
    int vertex_count;
    const float *positions; /* [vertex_count][3]: any form, to build the tree */
    int triangle_count;
    const uint32_t *triangles; /* [triangle_count][3] */
} ex_untangler_def;

/* The tables for finding and removing crossings of a garment with itself; immutable. */
typedef struct ex_untangler ex_untangler;

/* Makes an untangler. Results as of ex_tree_create. */
EX_API ex_result ex_untangler_create(const ex_untangler_def *def, const ex_allocator *allocator,
                                     ex_untangler **untangler, ex_error *error);
EX_API void ex_untangler_destroy(ex_untangler *untangler);
/* Returns the bytes of scratch memory; it may start at any address. */
EX_API size_t ex_untangler_scratch_size(const ex_untangler *untangler);

/* Counts the pairs of triangles that go through each other and share no vertex, in a form [vertex_count] (stride as
 * above). Triangles that are not finite, or only touch, do not count. */
EX_API int ex_untangler_count(const ex_untangler *untangler, const float *positions, size_t stride,
                              const ex_tasks *tasks, void *scratch);

/* A form to untangle. */
typedef struct ex_untangle_job {
    float *positions; /* triples, changed in place */
    size_t stride;    /* a multiple of 4, at least 12; 0: 12 */
    int rounds;       /* at most this many rounds of four passes; 0: 16 */
    /* Optional driver to stay out of: a settler of the same vertices, without keys, and its form. */
    const ex_settler *settler;
    const float *driver;
    const float *gaps; /* [vertex_count]: least distances to the driver; NULL: 0 */
    void *settler_scratch;
    const ex_tasks *tasks;
} ex_untangle_job;

/* Report on untangling: crossing pairs of triangles. */
typedef struct ex_untangled {
    int before, after;
} ex_untangled;

/*
 * Removes crossings: moves the vertices of crossing triangles, and a little those around them, until no crossing is
 * left or the rounds are over; and out of the driver after each round. No vertex moves by more than the mean length of
 * its edges, except out of the driver. The form with the fewest crossings remains: never more than before. Without
 * crossings nothing moves. Allocates nothing and cannot fail. The result does not depend on tasks.
 */
EX_API ex_untangled ex_untangle(const ex_untangler *untangler, const ex_untangle_job *job, void *scratch);

#ifdef __cplusplus
}
#endif
#endif

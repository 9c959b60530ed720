/*
 * exemplar/refine.h - refined surfaces and their normals.
 *
 * ex_stencils holds a subdivision surface as sums: every vertex of level 1, 2, … and of the limit surface is a weighted
 * sum of vertices of the cage, and every limit tangent is one too. ex_normals holds what vertex normals of an unrefined
 * mesh gather from. Both are immutable blocks that may be used from any number of threads. Building the sums from a
 * mesh with its creases and boundaries belongs to authoring: ex_mesh_subdivide in exemplar/author/mesh.h.
 */
#ifndef EXEMPLAR_REFINE_H
#define EXEMPLAR_REFINE_H

#include <exemplar/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* In place of a level: the points of the limit surface that belong to the vertices of the last level. Where all levels
 * have tangents, their points are on the limit surface already, and this is the last of them. */
#define EX_LEVEL_LIMIT (-1)

/* The sums of one level, row after row: vertex v is the sum over i in [offsets[v], offsets[v + 1]) of weights[i] times
 * control vertex indices[i]. */
typedef struct ex_stencil_rows {
    int vertex_count;
    const int *offsets;     /* [vertex_count + 1], from 0 */
    const int *indices;     /* rising within a row */
    const double *weights;  /* sum 1 within a row, unless something else than points is summed */
    const double *tangents; /* [..][2] weights of two tangents whose cross product points outwards; or NULL */
} ex_stencil_rows;

typedef struct ex_stencils_def {
    int control_count;             /* vertices of the cage */
    int level_count;               /* levels 1 to level_count */
    const ex_stencil_rows *levels; /* [level_count] */
    const ex_stencil_rows *limit;  /* or NULL */
} ex_stencils_def;

typedef struct ex_stencils ex_stencils;

/*
 * Lays the sums out for evaluation: vertices that gather from the same control vertices stand together and share one
 * list of them. One block, of about 4 to 8 bytes a weight. Weights become float, and a row keeps its sum. Results:
 * ARGUMENT, DATA (level and vertex named), MEMORY, LIMIT.
 */
EX_API ex_result ex_stencils_create(const ex_stencils_def *def, const ex_allocator *allocator, ex_stencils **stencils,
                                    ex_error *error);
EX_API void ex_stencils_destroy(ex_stencils *stencils);

EX_API int ex_stencils_control_count(const ex_stencils *stencils);
EX_API int ex_stencils_level_count(const ex_stencils *stencils);
/* Whether the level (or EX_LEVEL_LIMIT) is there; level 0, the cage itself, always is. */
EX_API bool ex_stencils_has(const ex_stencils *stencils, int level);
/* Vertices of a level (level 0: control_count), 0 where it is not there. */
EX_API int ex_stencils_vertex_count(const ex_stencils *stencils, int level);
/* Whether normals can be had with that level. */
EX_API bool ex_stencils_has_tangents(const ex_stencils *stencils, int level);
/* Whether the points of all levels are on the limit surface: each has tangents, and no limit stands beside them. */
EX_API bool ex_stencils_on_limit(const ex_stencils *stencils);
/* Bytes of the block; it has no pointers in it, so a copy of them at an aligned place is as good. */
EX_API size_t ex_stencils_size(const ex_stencils *stencils);

/* Weights stored for a level that is there and not 0; and the rows themselves, as ex_stencils_create would take them
 * again to make the same block. offsets [vertex_count + 1], indices and weights [weight count], tangents
 * [weight count][2] or NULL. */
EX_API int ex_stencils_weight_count(const ex_stencils *stencils, int level);
EX_API void ex_stencils_read(const ex_stencils *stencils, int level, int *offsets, int *indices, double *weights,
                             double *tangents);

/* Strides are bytes from one triple to the next, 0 for 12. */
typedef struct ex_refine {
    int level;            /* 0 to level_count, or EX_LEVEL_LIMIT */
    const float *control; /* [control_count] triples */
    size_t control_stride;
    float *positions; /* [vertex_count of the level] triples, or NULL */
    size_t position_stride;
    float *normals; /* unit length, 0 0 0 where the surface has no normal; or NULL: asks for a level with tangents */
    size_t normal_stride;
} ex_refine;

/*
 * Positions, and normals where asked for, of a level. What is written may not overlap control. scratch: of
 * ex_stencils_scratch_size bytes, aligned as malloc does. Allocates nothing. Reads about 4 bytes of weights for every
 * control vertex that a refined one depends on (16 where Catmull-Clark is regular, 12 where Loop is), three times that
 * with normals.
 */
EX_API void ex_stencils_apply(const ex_stencils *stencils, const ex_refine *refine, const ex_tasks *tasks,
                              void *scratch);
EX_API size_t ex_stencils_scratch_size(const ex_stencils *stencils);

typedef enum ex_normal_weighting {
    EX_NORMAL_BY_AREA,  /* a face counts by its area: cheap, and what most exporters write */
    EX_NORMAL_BY_ANGLE, /* by the angle it has at the vertex: does not depend on how a polygon was cut */
    EX_NORMAL_WEIGHTING_COUNT
} ex_normal_weighting;

typedef struct ex_normals_def {
    int vertex_count;
    int face_count;
    const int *face_offsets; /* [face_count + 1] into corners, from 0; a face has at least 3 corners */
    const int *corners;      /* vertices */
    ex_normal_weighting weighting;
} ex_normals_def;

typedef struct ex_normals ex_normals;

/* One block of about 12 bytes a corner, 20 by angle. Results: ARGUMENT, DATA (face named), MEMORY, LIMIT. */
EX_API ex_result ex_normals_create(const ex_normals_def *def, const ex_allocator *allocator, ex_normals **normals,
                                   ex_error *error);
EX_API void ex_normals_destroy(ex_normals *normals);
EX_API int ex_normals_vertex_count(const ex_normals *normals);

/*
 * Unit normals of all vertices: the sum of the normals of the faces around, by area or angle; 0 0 0 where that is
 * nothing. positions and out: [vertex_count] triples, strides in bytes (0: 12). scratch: of ex_normals_scratch_size
 * bytes, aligned as malloc does. Two passes, over faces and over vertices; allocates nothing.
 */
EX_API void ex_normals_compute(const ex_normals *normals, const float *positions, size_t stride, float *out,
                               size_t out_stride, const ex_tasks *tasks, void *scratch);
EX_API size_t ex_normals_scratch_size(const ex_normals *normals);

/* ---- tangents, for normal maps ---- */

typedef struct ex_tangents_def {
    int vertex_count;             /* positions and normals have one entry for each */
    int split_count;              /* texture coordinates and tangents have one for each */
    const uint32_t *split_source; /* [split_count] vertices; NULL: split_count == vertex_count */
    const float *texcoords;       /* [split_count][2], origin at the top left as in glTF */
    int triangle_count;
    const uint32_t *triangles; /* [triangle_count][3] split vertices */
} ex_tangents_def;

typedef struct ex_tangents ex_tangents;

/* One block, without pointers, of about 60 bytes a triangle. Texture coordinates that are not finite tell nothing.
 * Results: ARGUMENT, DATA (triangle or split vertex named), MEMORY, LIMIT. */
EX_API ex_result ex_tangents_create(const ex_tangents_def *def, const ex_allocator *allocator, ex_tangents **tangents,
                                    ex_error *error);
EX_API void ex_tangents_destroy(ex_tangents *tangents);
EX_API int ex_tangents_split_count(const ex_tangents *tangents);

/* What to compute; strides are bytes, 0: 12, 12, 16. */
typedef struct ex_tangents_job {
    const float *positions; /* [vertex_count] triples */
    size_t position_stride;
    const float *normals; /* [vertex_count] triples of length 1 */
    size_t normal_stride;
    float *out; /* [split_count] x y z and the sign of the bitangent: bitangent = sign * cross(normal, tangent), which
                   points up in the image, to where v falls: y of a normal map in glTF. -1: the texture is mirrored */
    size_t out_stride;
} ex_tangents_job;

/*
 * The direction in which u of the texture grows, of length 1 and perpendicular to the normal: the sum over the
 * triangles of a split vertex, by angle, as most bakers of normal maps do. Where texture coordinates tell nothing, any
 * direction perpendicular to the normal; where mirrored triangles meet others at one split vertex, those with the
 * larger angles decide. Always finite. scratch: of ex_tangents_scratch_size bytes, aligned as malloc does. Two passes,
 * over triangles and over split vertices; allocates nothing.
 */
EX_API void ex_tangents_compute(const ex_tangents *tangents, const ex_tangents_job *job, const ex_tasks *tasks,
                                void *scratch);
EX_API size_t ex_tangents_scratch_size(const ex_tangents *tangents);

#ifdef __cplusplus
}
#endif
#endif

/*
 * exemplar/refine.h - refined surfaces and their normals.
 *
 * ex_stencils holds a subdivision surface as weighted sums: every vertex of level 1, 2, … and of the limit surface is a
 * weighted sum of cage vertices, and so is every limit tangent. ex_normals holds what is needed for the vertex normals
 * of an unrefined mesh. Both are immutable blocks, and any number of threads may use them. Authoring builds the
 * sums from a mesh with its creases and boundaries: ex_mesh_subdivide in exemplar/author/mesh.h.
 */
#ifndef EXEMPLAR_REFINE_H
#define EXEMPLAR_REFINE_H

#include <exemplar/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Used in place of a level: the points of the limit surface that belong to the vertices of the last level. If all
 * levels have tangents, their points are on the limit surface already, and this is the last level. */
#define EX_LEVEL_LIMIT (-1)

/* The sums of one level, row after row. Vertex v is the sum of weights[i] times control vertex indices[i] over i in
 * [offsets[v], offsets[v + 1]). */
typedef struct ex_stencil_rows {
    int vertex_count;
    const int *offsets;     /* [vertex_count + 1], from 0 */
    const int *indices;     /* ascending within a row */
    const double *weights;  /* sum to 1 within a row, unless the sums are not of points */
    const double *tangents; /* [..][2]: weights of two tangents whose cross product points outwards; or NULL */
} ex_stencil_rows;

/* Definition of a subdivision surface: the sums of its levels. */
typedef struct ex_stencils_def {
    int control_count;             /* vertices of the cage */
    int level_count;               /* number of levels; they are 1 to level_count */
    const ex_stencil_rows *levels; /* [level_count] */
    const ex_stencil_rows *limit;  /* or NULL */
} ex_stencils_def;

/* A subdivision surface as weighted sums of cage vertices; immutable. */
typedef struct ex_stencils ex_stencils;

/*
 * Makes the tables of a subdivision surface, laid out for evaluation: vertices that use the same control vertices are
 * stored together and share one list of them. One block, of about 4 to 8 bytes per weight. Weights become float; each
 * row keeps its sum. Results: ARGUMENT, DATA (names level and vertex), MEMORY, LIMIT.
 */
EX_API ex_result ex_stencils_create(const ex_stencils_def *def, const ex_allocator *allocator, ex_stencils **stencils,
                                    ex_error *error);
EX_API void ex_stencils_destroy(ex_stencils *stencils);

/* Return the number of cage vertices, and of levels. */
EX_API int ex_stencils_control_count(const ex_stencils *stencils);
EX_API int ex_stencils_level_count(const ex_stencils *stencils);
/* Returns true if the level (or EX_LEVEL_LIMIT) exists; level 0, the cage itself, always does. */
EX_API bool ex_stencils_has(const ex_stencils *stencils, int level);
/* Returns the number of vertices of a level (level 0: control_count); 0 if it does not exist. */
EX_API int ex_stencils_vertex_count(const ex_stencils *stencils, int level);
/* Returns true if that level can give normals. */
EX_API bool ex_stencils_has_tangents(const ex_stencils *stencils, int level);
/* Returns true if the points of all levels are on the limit surface: every level has tangents, and there is no separate
 * limit. */
EX_API bool ex_stencils_on_limit(const ex_stencils *stencils);
/* Returns the size of the block in bytes. It holds no pointers: a copy at an aligned address works as well. */
EX_API size_t ex_stencils_size(const ex_stencils *stencils);

/* Read a level back: ex_stencils_weight_count returns the number of weights stored for an existing level other than 0.
 * ex_stencils_read gets the rows, from which ex_stencils_create makes the same block again: offsets [vertex_count + 1],
 * indices and weights [weight count], tangents [weight count][2] or NULL. */
EX_API int ex_stencils_weight_count(const ex_stencils *stencils, int level);
EX_API void ex_stencils_read(const ex_stencils *stencils, int level, int *offsets, int *indices, double *weights,
                             double *tangents);

/* Input and output arrays of a refinement. Strides are bytes from one triple to the next, multiples of 4 and at least
 * 12 (0: 12); addresses are multiples of 4. Otherwise it is misuse, and nothing is written. */
typedef struct ex_refine {
    int level;            /* 0 to level_count, or EX_LEVEL_LIMIT */
    const float *control; /* [control_count] triples */
    size_t control_stride;
    float *positions; /* [vertex_count of the level] triples, or NULL */
    size_t position_stride;
    float *normals; /* unit length, 0 0 0 where the surface has no normal; or NULL; require a level with tangents */
    size_t normal_stride;
} ex_refine;

/*
 * Computes the positions of a level, and its normals if requested. Output may not overlap control. scratch has
 * ex_stencils_scratch_size bytes, aligned as malloc does. Allocates nothing. Reads about 4 bytes of weights for every
 * control vertex that a refined vertex depends on (16 in regular parts of Catmull-Clark, 12 of Loop), and three times
 * that with normals.
 */
EX_API void ex_stencils_apply(const ex_stencils *stencils, const ex_refine *refine, const ex_tasks *tasks,
                              void *scratch);
/* Returns the bytes of scratch for ex_stencils_apply. */
EX_API size_t ex_stencils_scratch_size(const ex_stencils *stencils);

/* Weights of the faces around a vertex in its normal. */
typedef enum ex_normal_weighting {
    EX_NORMAL_BY_AREA,  /* weights a face by its area: cheap, and what most exporters write */
    EX_NORMAL_BY_ANGLE, /* weights it by its angle at the vertex: independent of how a polygon was cut */
    EX_NORMAL_WEIGHTING_COUNT
} ex_normal_weighting;

/* Definition of the faces that vertex normals come from. */
typedef struct ex_normals_def {
    int vertex_count;
    int face_count;
    const int *face_offsets; /* [face_count + 1] into corners, from 0; a face has at least 3 corners */
    const int *corners;      /* vertices */
    ex_normal_weighting weighting;
} ex_normals_def;

/* The tables for vertex normals; immutable. */
typedef struct ex_normals ex_normals;

/* Makes the tables for vertex normals: one block of about 12 bytes per corner of quads, 16 to 22
 * of triangles, 20 by angle; by area 4 bytes per vertex temporarily. Results: ARGUMENT, DATA
 * (names the face), MEMORY, LIMIT. */
EX_API ex_result ex_normals_create(const ex_normals_def *def, const ex_allocator *allocator, ex_normals **normals,
                                   ex_error *error);
EX_API void ex_normals_destroy(ex_normals *normals);
EX_API int ex_normals_vertex_count(const ex_normals *normals);

/*
 * Computes the unit normals of all vertices: the sum of the normals of the faces around, weighted by area or angle; 0 0
 * 0 if that sum is zero. positions and out: [vertex_count] triples, strides in bytes, multiples of 4 and at least 12
 * (0: 12), at addresses that are multiples of 4; otherwise it is misuse, and nothing is written. scratch has
 * ex_normals_scratch_size bytes, aligned as malloc does. Two passes, over faces and over vertices; allocates nothing.
 */
EX_API void ex_normals_compute(const ex_normals *normals, const float *positions, size_t stride, float *out,
                               size_t out_stride, const ex_tasks *tasks, void *scratch);
/* Returns the bytes of scratch for ex_normals_compute. */
EX_API size_t ex_normals_scratch_size(const ex_normals *normals);

/* ---- tangents, for normal maps ---- */

/* Definition of the texture coordinates and triangles that tangents come from. */
typedef struct ex_tangents_def {
    int vertex_count;             /* number of positions and normals */
    int split_count;              /* number of texture coordinates and tangents */
    const uint32_t *split_source; /* [split_count] vertices; NULL: split_count == vertex_count */
    const float *texcoords;       /* [split_count][2], origin at the top left as in glTF */
    int triangle_count;
    const uint32_t *triangles; /* [triangle_count][3] split vertices */
} ex_tangents_def;

/* The tables for tangents; immutable. */
typedef struct ex_tangents ex_tangents;

/* Makes the tables for tangents: one block, without pointers, of about 60 bytes per triangle. Texture coordinates that
 * are not finite are ignored. Results: ARGUMENT, DATA (names the triangle or split vertex), MEMORY, LIMIT. */
EX_API ex_result ex_tangents_create(const ex_tangents_def *def, const ex_allocator *allocator, ex_tangents **tangents,
                                    ex_error *error);
EX_API void ex_tangents_destroy(ex_tangents *tangents);
EX_API int ex_tangents_split_count(const ex_tangents *tangents);

/* Input and output arrays for tangents. Strides are bytes, multiples of 4 and not shorter than an entry (0: 12, 12,
 * 16); addresses are multiples of 4. Otherwise it is misuse, and nothing is written. */
typedef struct ex_tangents_job {
    const float *positions; /* [vertex_count] triples */
    size_t position_stride;
    const float *normals; /* [vertex_count] triples of length 1 */
    size_t normal_stride;
    float *out; /* [split_count] x y z and the sign of the bitangent: bitangent = sign * cross(normal, tangent). It
                   points up in the image, towards smaller v: the y of a normal map in glTF. -1: the texture is
                   mirrored */
    size_t out_stride;
} ex_tangents_job;

/*
 * Computes tangents for normal maps: the direction in which u of the texture grows, of unit length and perpendicular to
 * the normal: the sum over the triangles of a split vertex, weighted by angle, as most normal-map bakers do. Without
 * usable texture coordinates, any direction perpendicular to the normal. Where mirrored triangles meet others at one
 * split vertex, those with the larger angles decide. Always finite. scratch has ex_tangents_scratch_size bytes, aligned
 * as malloc does. Two passes, over triangles and over split vertices; allocates nothing.
 */
EX_API void ex_tangents_compute(const ex_tangents *tangents, const ex_tangents_job *job, const ex_tasks *tasks,
                                void *scratch);
/* Returns the bytes of scratch for ex_tangents_compute. */
EX_API size_t ex_tangents_scratch_size(const ex_tangents *tangents);

#ifdef __cplusplus
}
#endif
#endif

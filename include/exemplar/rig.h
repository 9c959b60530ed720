/*
 * exemplar/rig.h - play a rig: load it, pose it, evaluate it, edit its spaces.
 *
 * A rig holds everything the runtime needs of one character in one immutable block of memory: a mesh, its layers (each
 * a space, a weigher and examples), a skeleton with its skin, refined levels, and the names of its inputs. Load one
 * from the bytes of a rig file (ex_rig_unpack). Any number of threads may evaluate it at once; evaluation allocates
 * nothing and cannot fail. Elsewhere: exemplar/rig_create.h makes a rig from arrays, exemplar/rig_inspect.h looks
 * inside, exemplar/rig_pack.h packs it, exemplar/author.h reads and writes files.
 */
#ifndef EXEMPLAR_RIG_H
#define EXEMPLAR_RIG_H

#include <exemplar/base.h>
#include <exemplar/pose.h>
#include <exemplar/refine.h>
#include <exemplar/settle.h>
#include <exemplar/shape.h>
#include <exemplar/weigh.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct ex_rig ex_rig;

/* ---- loading ---- */

/* How a rig is laid out in memory; NULL or all zero is float storage and everything that the rig has. */
typedef struct ex_rig_options {
    ex_storage storage;
    bool without_normals;  /* no normals but those of a limit that is not displaced, and no tangents; saves 80 bytes a
                              vertex and level */
    bool without_tangents; /* saves as much again where there are texture coordinates */
    bool without_levels;   /* no refinement: the cage only; displacements are left out too */
} ex_rig_options;

/*
 * A rig from the bytes of a .glb rig file, or from a bare pack, aligned to 4. Checks everything; bytes may be hostile,
 * and may be released afterwards.
 * Results: FORMAT (no rig), VERSION, CHECKSUM (damaged, or rearranged by another program), DATA, LIMIT, MEMORY.
 */
EX_API ex_result ex_rig_unpack(const void *bytes, size_t size, const ex_rig_options *options,
                               const ex_allocator *allocator, ex_rig **rig, ex_error *error);

/* Gives the rig's memory back. NULL is fine. */
EX_API void ex_rig_destroy(ex_rig *rig);

/* ---- surfaces ---- */

/*
 * The mesh of a rig. Vertices are the source's, in source order; forms and outputs have one entry for each. A vertex
 * that has several texture coordinates or normals is split for display: split vertices are sorted by their source, each
 * source has at least one, and faces and triangles refer to split vertices.
 */
typedef struct ex_rig_mesh {
    int vertex_count;
    const float *positions; /* [vertex_count][3] */
    int split_count;
    const uint32_t *split_source; /* [split_count], non-decreasing; NULL where split_count == vertex_count */
    const float *texcoords;       /* [split_count][2], origin at the top left as in glTF; or NULL */
    const float *normals;         /* [split_count][3], at rest; or NULL */
    int face_count;
    int corner_count;
    const uint32_t *face_sizes; /* [face_count], each at least 3 */
    const uint32_t *corners;    /* [corner_count] split vertices */
    int triangle_count;
    const uint32_t *triangles; /* [triangle_count][3] split vertices */
} ex_rig_mesh;

/* What the rig's maker wants shown: 0, a level, or EX_LEVEL_LIMIT (where a limit stands beside the levels). */
EX_API int ex_rig_level(const ex_rig *rig);
/* Vertices at a level (0: the mesh's; EX_LEVEL_LIMIT: those of the last): the length of what evaluation writes. 0 where
 * the rig has no such level. */
EX_API int ex_rig_level_vertex_count(const ex_rig *rig, int level);
/* The faces of a level; positions and normals NULL. */
EX_API ex_rig_mesh ex_rig_level_mesh(const ex_rig *rig, int level);

/* ---- poses ---- */

/*
 * The whole input of a rig: the caller's arrays, which evaluation only reads. All zero is the rest pose. What is not
 * finite reads as rest, a zero rotation too.
 */
typedef struct ex_pose {
    double *inputs;       /* [ex_rig_pose_size]: the dials; NULL: rest */
    ex_transform *joints; /* [ex_rig_joint_count] local transforms; NULL: rest */
    const float *driver;  /* [driver vertex_count][3]; NULL: the reference */
} ex_pose;

/* Numbers in ex_pose.inputs. */
EX_API int ex_rig_pose_size(const ex_rig *rig);
/* 0 where there is no skeleton: the length of ex_pose.joints. */
EX_API int ex_rig_joint_count(const ex_rig *rig);

/* Fills the pose's arrays, where it has them, with rest. */
EX_API void ex_rig_rest_pose(const ex_rig *rig, const ex_pose *pose);
/* Writes an input's one or four numbers: a dial's into pose->inputs; of an input with a joint into that joint's
 * transform, of which only what the input reads is changed. */
EX_API void ex_rig_set_input(const ex_rig *rig, int input, const double *value, const ex_pose *pose);
/* The input's one or four numbers as evaluation sees them. */
EX_API void ex_rig_get_input(const ex_rig *rig, int input, const ex_pose *pose, double *value);

/* The input's number, or -1. */
EX_API int ex_rig_input_find(const ex_rig *rig, const char *name);

/* ---- evaluation ---- */

/* What following a driver came to, for reports. */
typedef struct ex_driven {
    double *region_weights; /* [sum over layers of view_count times example_count], layer after layer; or NULL */
    float *blended;         /* [driver vertex_count][3]: the driver as its keys blend it; NULL, or left alone where the
                               rig carries no residual */
    float *unsettled;       /* [vertex_count][3]: before settling; or NULL */
    double hull_distance;   /* written: how far the driver is from what its keys can blend, as the root of a mean square
                               over the vertices looked at, to about a thousandth of the driver's size; over regions
                               and layers the mean */
    ex_settled settled;     /* written */
} ex_driven;

/* Where results go; every pointer may be NULL. Entries are the vertices of the level asked for in source order, or its
 * split vertices (ex_evaluation.split). Strides are bytes from one entry to the next; 0: close together. */
typedef struct ex_output {
    float *positions;       /* triples */
    size_t position_stride; /* 0: 12 */
    float *normals;         /* triples of length 1, 0 0 0 where the surface has none; asks for positions too */
    size_t normal_stride;   /* 0: 12 */
    float *tangents;        /* x y z and the sign of the bitangent, as in glTF, of split vertices (without
                               ex_evaluation.split: of each vertex's first); asks for positions and normals, and for a
                               rig with texture coordinates */
    size_t tangent_stride;  /* 0: 16 */
    float *box;      /* [6]: smallest x y z, largest x y z of the positions; of a refined level without positions,
                        of its cage, grown by what its displacements are at most, which contains it */
    double *weights; /* [ex_rig_example_count] */
    unsigned char *const *textures; /* [ex_rig_texture_count] of [height][width][4], each may be NULL */
    ex_driven *driven;              /* what following the driver came to */
} ex_output;

/* How to evaluate; NULL or all zero is the cage of the rig as it is, serially. */
typedef struct ex_evaluation {
    const ex_weigher *const *weighers; /* [layer_count] replacements, each may be NULL; same number of examples */
    const bool *muted;                 /* [layer_count]: layers to leave out; NULL: those that the rig leaves out */
    int level;                         /* 0: the cage; a level of the rig; EX_LEVEL_LIMIT */
    bool split;                        /* write split vertices, which a renderer needs, not source vertices */
    bool unskinned;                    /* leave the form at rest: no posing by the skeleton or by a driver */
    bool unsettled;                    /* no settling */
    void *const *states;               /* [pose_count] of ex_rig_state_size bytes, each may be NULL: what the caller
                                          keeps from frame to frame so that a driven rig is quicker; zeros at first */
    const ex_tasks *tasks;
} ex_evaluation;

/* Bytes of scratch that evaluating so many poses in one call needs; aligned as malloc does. It is enough for fewer, and
 * for any other evaluation at the same level. */
EX_API size_t ex_rig_scratch_size(const ex_rig *rig, const ex_evaluation *evaluation, int pose_count);

/* Bytes of a state; 0 for a rig without a driver. Results with a state agree with those without within 1e-6,
 * whatever frame it is from: after a cut it need not be cleared. */
EX_API size_t ex_rig_state_size(const ex_rig *rig);

/*
 * Evaluates one pose. The result depends on pose and evaluation alone, bit for bit, whatever the tasks. Costs the
 * weighers' evaluation and one pass over the forms whose weight is not 0.
 */
EX_API void ex_rig_evaluate(const ex_rig *rig, const ex_pose *pose, const ex_output *output,
                            const ex_evaluation *evaluation, void *scratch);

/*
 * The same for many poses, [pose_count] each: same bits, but a tile of the forms is read from memory once and used for
 * all of them. Scratch grows with pose_count; a few dozen at a time are enough to be fast.
 */
EX_API void ex_rig_evaluate_many(const ex_rig *rig, int pose_count, const ex_pose *poses, const ex_output *outputs,
                                 const ex_evaluation *evaluation, void *scratch);

/* ---- spaces ---- */

EX_API int ex_rig_layer_count(const ex_rig *rig);
/* The layer's weigher; belongs to the rig. Its example_count is the layer's. */
EX_API const ex_weigher *ex_rig_weigher(const ex_rig *rig, int layer);
/* To bend a space while it runs: ex_weigher_edit makes a new weigher from the rig's own, ex_evaluation.weighers takes
 * it in its place. */

#ifdef __cplusplus
}
#endif
#endif

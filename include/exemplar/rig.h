/*
 * exemplar/rig.h - play a rig: load it, pose it, evaluate it, edit its spaces.
 *
 * A rig is one character in one immutable block of memory. Any number of threads may evaluate it at once. Evaluation
 * allocates nothing and cannot fail. A rig has a mesh, layers (each a space, a weigher and examples), a skeleton with
 * its skin, refined levels, and named inputs. ex_rig_unpack loads one from the bytes of a rig file. See also:
 * exemplar/rig_create.h makes a rig from arrays, exemplar/rig_inspect.h looks inside, exemplar/rig_pack.h packs it,
 * exemplar/author.h reads and writes files.
 */
#ifndef EXEMPLAR_RIG_H
#define EXEMPLAR_RIG_H

#include <exemplar/base.h>
#include <exemplar/pose.h>
#include <exemplar/predict.h>
#include <exemplar/refine.h>
#include <exemplar/settle.h>
#include <exemplar/shape.h>
#include <exemplar/weigh.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A character, ready to evaluate: immutable, in one block of memory. */
typedef struct ex_rig ex_rig;

/* ---- loading ---- */

/* Loading options: the layout of a rig in memory. NULL or all zero: float storage and everything that the rig has. */
typedef struct ex_rig_options {
    ex_storage storage;
    bool without_normals;  /* true to omit tangents, and all normals but those of a limit surface without
                              displacement; saves 80 bytes per vertex and level */
    bool without_tangents; /* true to omit tangents; saves as much again if there are texture coordinates */
    bool without_levels;   /* true to omit refinement: the cage only, without displacements */
} ex_rig_options;

/*
 * Loads a rig from the bytes of a .glb rig file, or from a bare pack, aligned to 4. Checks all that it reads, so the
 * bytes may be hostile; the JSON of a .glb file is for other programs and is not read. They may be released afterwards.
 * Results: FORMAT (not a rig), VERSION, CHECKSUM (damaged, or rearranged by another program), DATA, LIMIT, MEMORY.
 */
EX_API ex_result ex_rig_unpack(const void *bytes, size_t size, const ex_rig_options *options,
                               const ex_allocator *allocator, ex_rig **rig, ex_error *error);

/* Releases the rig. NULL is fine. */
EX_API void ex_rig_destroy(ex_rig *rig);

/* ---- surfaces ---- */

/*
 * Faces, texture coordinates and normals of a rig at one level. Vertices are those of the source, in source order;
 * forms and outputs have one entry for each. A vertex with several texture coordinates or normals is split for display.
 * Split vertices are sorted by their source vertex, each source vertex has at least one, and faces and triangles refer
 * to split vertices.
 */
typedef struct ex_rig_mesh {
    int vertex_count;
    const float *positions; /* [vertex_count][3] */
    int split_count;
    const uint32_t *split_source; /* [split_count], non-decreasing; NULL if split_count == vertex_count */
    const float *texcoords;       /* [split_count][2], origin at the top left as in glTF; or NULL */
    const float *normals;         /* [split_count][3], at rest; or NULL */
    int face_count;
    int corner_count;
    const uint32_t *face_sizes; /* [face_count], each at least 3 */
    const uint32_t *corners;    /* [corner_count] split vertices */
    int triangle_count;
    const uint32_t *triangles; /* [triangle_count][3] split vertices */
} ex_rig_mesh;

/* Returns the level that the rig's author wants shown: 0, a level, or EX_LEVEL_LIMIT (if there is a separate limit). */
EX_API int ex_rig_level(const ex_rig *rig);
/* Returns the number of vertices at a level (0: the mesh; EX_LEVEL_LIMIT: the last level), which is the length of
 * evaluation's output. 0 if the rig has no such level. */
EX_API int ex_rig_level_vertex_count(const ex_rig *rig, int level);
/* Returns the faces of a level; positions and normals are NULL. */
EX_API ex_rig_mesh ex_rig_level_mesh(const ex_rig *rig, int level);

/* ---- poses ---- */

/*
 * The whole input of a rig: the caller's arrays, which evaluation only reads. NULL for all is the rest pose; the arrays
 * get it from ex_rig_rest_pose, as a scale of zero is a scale. Numbers that are not finite read as rest, and so do zero
 * rotations.
 */
typedef struct ex_pose {
    double *inputs;       /* [ex_rig_pose_size]: dials; NULL: rest */
    ex_transform *joints; /* [ex_rig_joint_count] local transforms; NULL: rest */
    const float *driver;  /* [driver vertex_count][3]; NULL: the reference */
    double elapsed;       /* seconds since the last evaluation with the same state, for a layer that follows motion;
                             0: a cut, the driver is taken to stand still (ex_predictor_observe) */
} ex_pose;

/* Returns the length of ex_pose.inputs. */
EX_API int ex_rig_pose_size(const ex_rig *rig);
/* Returns the length of ex_pose.joints; 0 if there is no skeleton. */
EX_API int ex_rig_joint_count(const ex_rig *rig);

/* Sets a pose to rest: fills those of its arrays that are not NULL. */
EX_API void ex_rig_rest_pose(const ex_rig *rig, const ex_pose *pose);
/* Sets an input of a pose, whether it is a dial or belongs to a joint: value is one number, or four for a rotation. A
 * dial goes into pose->inputs. An input with a joint changes that joint's transform in pose->joints, and only the part
 * of it that the input reads: writing to pose->inputs does not move it. */
EX_API void ex_rig_set_input(const ex_rig *rig, int input, const double *value, const ex_pose *pose);
/* Gets the value of an input as evaluation sees it: one number, or four for a rotation. */
EX_API void ex_rig_get_input(const ex_rig *rig, int input, const ex_pose *pose, double *value);
/* Set and get an input of many poses [pose_count]: values has one number, or four, for each. */
EX_API void ex_rig_set_input_many(const ex_rig *rig, int input, int pose_count, const double *values,
                                  const ex_pose *poses);
EX_API void ex_rig_get_input_many(const ex_rig *rig, int input, int pose_count, const ex_pose *poses, double *values);

/* Finds an input by name and returns its number; -1 if there is none. */
EX_API int ex_rig_input_find(const ex_rig *rig, const char *name);

/* ---- evaluation ---- */

/* Report on how a driven rig followed its driver. */
typedef struct ex_driven {
    double *region_weights; /* [sum over layers of view_count times example_count], one layer after the other; or
                               NULL */
    float *blended;         /* [driver vertex_count][3]: the driver as blended from its keys; or NULL; unchanged if
                               the rig carries no residual */
    float *unsettled;       /* [vertex_count][3]: before settling; or NULL */
    double hull_distance;   /* output: distance of the driver from the nearest blend of its keys, as the root mean
                               square over the vertices in use, to about a thousandth of the driver's size; mean over
                               regions and layers */
    double unfamiliar;      /* output: how far the driver's motion is from what was learned (ex_predictor_evaluate);
                               0 if no layer follows motion */
    ex_settled settled;     /* output */
} ex_driven;

/* Output arrays of an evaluation; every pointer may be NULL. Entries are the vertices of the requested level in source
 * order, or its split vertices (ex_evaluation.split). Strides are bytes from one entry to the next, and 0 means packed.
 * Addresses and strides are multiples of 4, and entries do not overlap: otherwise it is misuse, and nothing is written.
 */
typedef struct ex_output {
    float *positions;       /* triples */
    size_t position_stride; /* 0: 12 */
    float *normals;         /* triples of unit length, 0 0 0 where the surface has no normal; require positions too */
    size_t normal_stride;   /* 0: 12 */
    float *tangents;        /* x y z and the sign of the bitangent, as in glTF, of split vertices (without
                               ex_evaluation.split: of each vertex's first); require positions, normals, and a rig
                               with texture coordinates */
    size_t tangent_stride;  /* 0: 16 */
    float *box;      /* [6]: minimum x y z, maximum x y z of the positions; for a refined level without positions,
                        the box of its cage grown by the largest possible displacement, which contains it */
    double *weights; /* [ex_rig_example_count] */
    unsigned char *const *textures; /* [ex_rig_texture_count] of [height][width][4], each may be NULL */
    ex_driven *driven;              /* report on following the driver */
} ex_output;

/* Evaluation options. NULL or all zero: the cage of the rig, unchanged, serially. */
typedef struct ex_evaluation {
    const ex_weigher *const *weighers; /* [layer_count] replacement weighers, each may be NULL; same number of
                                          examples */
    const bool *muted;                 /* [layer_count]: true to leave a layer out; NULL: the rig's own setting */
    int level;                         /* 0: the cage; 1 and up: a level of the rig; EX_LEVEL_LIMIT: the limit
                                          surface */
    bool split;                        /* true to write split vertices, which renderers need, instead of source
                                          vertices */
    bool unskinned;                    /* true to leave the form at rest: no posing by the skeleton or by a driver */
    bool unsettled;                    /* true to skip settling */
    void *const *states;               /* [pose_count] of ex_rig_state_size bytes, each may be NULL: kept by the
                                          caller from frame to frame, to make a driven rig faster, and to remember
                                          motion; zeros at first */
    const ex_tasks *tasks;
} ex_evaluation;

/* Returns the bytes of scratch needed to evaluate pose_count poses in one call; aligned as malloc does. Enough for
 * fewer poses, and for any other evaluation at the same level. Poses that are finished at the same time (normals,
 * tangents, refinement, textures) have room of their own: 16 of them, and up to 64 as long as that takes at most
 * 2 MB. */
EX_API size_t ex_rig_scratch_size(const ex_rig *rig, const ex_evaluation *evaluation, int pose_count);

/* Returns the bytes of a state (ex_evaluation.states); 0 for a rig without a driver. Unless a layer follows motion,
 * results with and without a state agree within 1e-6, whatever frame the state is from. A layer that follows motion
 * finds the past in its state: for a cut, pass ex_pose.elapsed 0. */
EX_API size_t ex_rig_state_size(const ex_rig *rig);

/*
 * Evaluates one pose into the output arrays. The result depends on pose and evaluation alone, bit for bit, whatever the
 * tasks. Cost: the evaluation of the weighers, and one pass over the forms with non-zero weights.
 */
EX_API void ex_rig_evaluate(const ex_rig *rig, const ex_pose *pose, const ex_output *output,
                            const ex_evaluation *evaluation, void *scratch);

/*
 * Evaluates many poses in one call, with [pose_count] entries in each array. The bits are those of ex_rig_evaluate, but
 * a tile of the forms is read from memory once and used for several poses, or for all of them without tasks. Scratch
 * grows with pose_count; a few dozen poses at a time are enough for full speed.
 *
 * With tasks, small poses, two or more, take one call of the hook, in which a pose or a few are a piece: those of a rig
 * without a driver that has less than 8192 vertices at the level and pixels of textures. Larger poses, 16 or more, take
 * three calls however many they are: weights; forms and skinning; the rest. Each has pieces for 16 threads or more. Few
 * large poses, and those with more than 8 MB of work for normals and the like, take one or two calls for each pose and
 * stage.
 */
EX_API void ex_rig_evaluate_many(const ex_rig *rig, int pose_count, const ex_pose *poses, const ex_output *outputs,
                                 const ex_evaluation *evaluation, void *scratch);

/* ---- derivatives ---- */

/* Returns the number of columns of ex_rig_jacobian: for every input in order one if it is a number, four if it is a
 * rotation, none if it is a driver. */
EX_API int ex_rig_jacobian_width(const ex_rig *rig);
/*
 * Computes the derivatives of positions by the inputs at a pose, in double: derivatives [vertex_count of the
 * level][3][ex_rig_jacobian_width], in metres per unit of the input (degree, metre, …). A column says how vertices move
 * if ex_rig_set_input changes one number of one input. For an input with a joint, that is the joint's turn, slide or
 * stretch, and everything that other inputs read from the joint. The four columns of a rotation are those of its
 * quaternion's numbers, which counts after scaling to unit length (ex_weigher_gradient).
 *
 * From formulas throughout: weights with their limits, sums of forms and offsets, joints that examples bring, linear
 * skinning, refined levels. Trajectories take differences of the sum in the weights instead, with an error of about
 * 1e-5 of the mesh's size per unit of weight. evaluation may be NULL; weighers, muted, level, unskinned and tasks
 * count. Cost: for each column about one evaluation in double. Needs memory of about 50 bytes per column and vertex,
 * which is released again. Results: ARGUMENT (a driver, dual quaternion skinning, a displaced level, or split vertices,
 * for which there are no formulas here), LIMIT, MEMORY.
 */
EX_API ex_result ex_rig_jacobian(const ex_rig *rig, const ex_pose *pose, const ex_evaluation *evaluation,
                                 double *derivatives, const ex_allocator *allocator, ex_error *error);

/* ---- spaces ---- */

/* Returns the number of layers. */
EX_API int ex_rig_layer_count(const ex_rig *rig);
/* Returns the layer's weigher, which belongs to the rig. Its example_count is the layer's. */
EX_API const ex_weigher *ex_rig_weigher(const ex_rig *rig, int layer);
/* To edit a space at run time, make a new weigher from the rig's with ex_weigher_edit and pass it in
 * ex_evaluation.weighers. */

#ifdef __cplusplus
}
#endif
#endif

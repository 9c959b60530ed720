/*
 * exemplar/pose.h - move a form with a skeleton: skeletons, skinning, and its inverse, un-posing.
 *
 * A skeleton turns a local transform per joint into a matrix per joint; a palette is those matrices made ready for one
 * of two methods; a skin holds which joints move which vertex, and moves positions, normals and tangents by a palette.
 * Skeletons and skins are immutable and may be used from any number of threads; a palette may be read by any number
 * once it is made. Only creation can fail. Where weights of examples come from and how forms are summed lies elsewhere
 * (exemplar/weigh.h, exemplar/shape.h).
 *
 * Matrices are [12] numbers: three rows of four, the fourth column being the translation. Quaternions are x y z w.
 */
#ifndef EXEMPLAR_POSE_H
#define EXEMPLAR_POSE_H

#include <exemplar/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The most joints of a skeleton or a skin. */
#define EX_JOINT_MAX 65535
/* The most influences of a vertex. */
#define EX_INFLUENCE_MAX 1024

/* ---- transforms ---- */

/* Scale, then rotate, then translate, as in glTF. A scale may be negative or 0. */
typedef struct ex_transform {
    float translation[3];
    float rotation[4]; /* of any length but 0 */
    float scale[3];
} ex_transform;

EX_API ex_transform ex_transform_identity(void);
EX_API void ex_transform_matrix(const ex_transform *transform, float matrix[12]);

/*
 * The transform nearest to a matrix: exact where its columns are perpendicular. Returns what is lost otherwise (shear):
 * the largest difference of an entry over the largest entry. A matrix that mirrors gets a negative x scale.
 */
EX_API double ex_transform_from_matrix(const float matrix[12], ex_transform *transform);

/* From a (t = 0) to b (t = 1): translation and scale along a line, rotation along the shorter arc at constant speed. t
 * outside [0, 1], to +-10000, goes on along both. */
EX_API ex_transform ex_transform_interpolate(const ex_transform *a, const ex_transform *b, double t);

/* ---- skeletons ---- */

typedef struct ex_skeleton_def {
    int joint_count;            /* 1 to EX_JOINT_MAX */
    const int *parents;         /* [joint_count], -1 for a root; several roots and any order are fine */
    const ex_transform *rest;   /* [joint_count] relative to the parent; a zero rotation is none */
    const float *inverse_binds; /* [joint_count][12]: from the mesh's space to the joint's, where the mesh was bound;
                                   NULL: the mesh was bound at rest */
    const char *const *names;   /* [joint_count] or NULL, each may be NULL: found by ex_skeleton_find, used in errors */
} ex_skeleton_def;

typedef struct ex_skeleton ex_skeleton;

/*
 * Copies everything, in one allocation of about 270 bytes a joint. Results: ARGUMENT, DATA (a joint that is its own
 * ancestor, a parent out of range, a number that is not finite, a bind matrix that has no inverse: the joint is named),
 * MEMORY, LIMIT.
 */
EX_API ex_result ex_skeleton_create(const ex_skeleton_def *def, const ex_allocator *allocator, ex_skeleton **skeleton,
                                    ex_error *error);
EX_API void ex_skeleton_destroy(ex_skeleton *skeleton);

EX_API int ex_skeleton_joint_count(const ex_skeleton *skeleton);
/* -1 for a root. */
EX_API int ex_skeleton_parent(const ex_skeleton *skeleton, int joint);
/* "" where none was given. */
EX_API const char *ex_skeleton_name(const ex_skeleton *skeleton, int joint);
/* The first joint of that name, or -1. */
EX_API int ex_skeleton_find(const ex_skeleton *skeleton, const char *name);
/* The rest transform, its rotation of length 1. */
EX_API ex_transform ex_skeleton_rest(const ex_skeleton *skeleton, int joint);
EX_API void ex_skeleton_inverse_bind(const ex_skeleton *skeleton, int joint, float matrix[12]);

/* What moves a skeleton; all zero is rest. */
typedef struct ex_skeleton_input {
    /*
     * [joint_count] in place of the rest transforms, or NULL. In each, a translation, rotation or scale that is not
     * finite reads as that of rest, and so does a zero rotation.
     */
    const ex_transform *locals;
    /*
     * [joint_count][3], or NULL: by how much each joint's position in the bound mesh differs from the skeleton's own,
     * in the mesh's space. This is how an example brings its own skeleton: the sum over examples of weight times
     * (joint position of that example - joint position of the skeleton). Bones get the length and direction that
     * follow, inverse binds move along, rotations and scales of binds stay. Not finite reads as 0.
     */
    const float *shifts;
} ex_skeleton_input;

/* Where results go; every pointer may be NULL. */
typedef struct ex_skeleton_output {
    float *matrices; /* [joint_count][12]: world matrix times inverse bind, what a palette is made of */
    float *worlds;   /* [joint_count][12] */
    float *centres;  /* [joint_count][3]: where the joints are in the bound mesh, shifts included */
} ex_skeleton_output;

/* Bytes of scratch for ex_skeleton_evaluate; aligned as malloc does. */
EX_API size_t ex_skeleton_scratch_size(const ex_skeleton *skeleton);

/*
 * Evaluates all joints, in double, stored as float. input NULL: rest. Cannot fail: a joint that would leave +-1e30
 * reads as rest. About 150 multiplications a joint.
 */
EX_API void ex_skeleton_evaluate(const ex_skeleton *skeleton, const ex_skeleton_input *input,
                                 const ex_skeleton_output *output, void *scratch);

/* ---- readings: numbers from the motion of a joint ---- */

/* What is read from a joint's local transform, always relative to its rest. */
typedef enum ex_reading_kind {
    EX_READING_NONE,     /* nothing: the axis is a dial */
    EX_READING_ANGLE,    /* degrees: the signed turn about `about`, on the turn nearest to `middle` */
    EX_READING_ROTATION, /* the rotation, x y z w */
    EX_READING_SLIDE,    /* how far along `about` it was moved, in units of `unit` metres */
    EX_READING_STRETCH,  /* the scale along `about`, which is one of the joint's own axes; 1 at rest */
    EX_READING_KIND_COUNT
} ex_reading_kind;

typedef struct ex_reading {
    ex_reading_kind kind;
    double about[3]; /* a direction of any length but 0 in the joint's own axes at rest */
    double middle;   /* angle */
    double unit;     /* slide; 0: 1 */
    int part;        /* rotation: which ex_axis_kind (EX_AXIS_ROTATION, _SWING, _TWIST about `about`) writing changes;
                        reading gives the whole of it */
} ex_reading;

/* Numbers that a reading gives: 1, or 4 for a rotation. */
EX_API int ex_reading_width(const ex_reading *reading);
/* Reads value [width]: an angle in [middle - 180, middle + 180), a rotation with w >= 0. What is not finite in local
 * reads as rest. A reading of nothing leaves value alone. */
EX_API void ex_reading_read(const ex_reading *reading, const ex_transform *rest, const ex_transform *local,
                            double *value);
/* Changes local so that it reads value, and leaves the rest of it alone: an angle replaces the turn about its axis and
 * keeps the swing, the turn coming first. A value that is not finite, and a zero rotation, write rest. Two cannot be
 * had: the turn of what swings by 180 degrees, and the stretch of what has a scale of 0 at rest. */
EX_API void ex_reading_write(const ex_reading *reading, const ex_transform *rest, const double *value,
                             ex_transform *local);

/* ---- palettes ---- */

/* How the joints of a vertex are blended, with the names that project files use. */
#define EX_SKINNING_LIST(X)                                                                                            \
    X(EX_SKINNING_LINEAR, "linear")                   /* matrices are summed: shrinks at bends and twists */           \
    X(EX_SKINNING_DUAL_QUATERNION, "dual_quaternion") /* rigid motions are blended: keeps volume, may bulge */

typedef enum ex_skinning {
#define EX_SKINNING_ENUM(name, text) name,
    EX_SKINNING_LIST(EX_SKINNING_ENUM)
#undef EX_SKINNING_ENUM
        EX_SKINNING_COUNT
} ex_skinning;

EX_API const char *ex_skinning_name(ex_skinning method);

typedef struct ex_palette_def {
    ex_skinning method;
    int joint_count;
    const float *matrices; /* [joint_count][12]; one that is not finite, or beyond +-1e12, counts as the identity */
    const float *centres; /* dual_quaternion: [joint_count][3], the points about which joints scale; NULL: the origin */
    bool rotations;       /* linear: keep the joints' rotations too, for ex_skin_turn and ex_skin_vertex_rotation; dual
                             quaternions have them anyway */
} ex_palette_def;

typedef struct ex_palette ex_palette;

/* Bytes that a palette takes: 96 a joint, and a little. */
EX_API size_t ex_palette_size(ex_skinning method, int joint_count);

/*
 * Makes a palette in memory of that size (aligned as malloc does) and returns it; it lives as long as the memory and
 * holds no pointer out of it. Dual quaternions take two microseconds for every joint that does more than move rigidly.
 * NULL after misuse only.
 */
EX_API ex_palette *ex_palette_make(const ex_palette_def *def, void *memory);

/* ---- skins ---- */

typedef struct ex_skin_def {
    int vertex_count;
    int joint_count;        /* 1 to EX_JOINT_MAX */
    const uint32_t *starts; /* [vertex_count + 1]: vertex v has influences starts[v] to starts[v + 1], at most
                               EX_INFLUENCE_MAX */
    const uint32_t *joints; /* [starts[vertex_count]] */
    const float *weights;   /* [starts[vertex_count]], not negative, of each vertex not all 0; scaled to sum to 1 */
} ex_skin_def;

typedef struct ex_skin ex_skin;

typedef struct ex_skin_info {
    int influence_most;       /* of any vertex, after leaving out weights of 0 and joining a joint named twice */
    int long_count;           /* vertices with more than 4 influences: these are slower */
    int unnormalised_count;   /* vertices whose weights were off a sum of 1 by more than 1e-5 */
    int worst_vertex;         /* the farthest off, or -1 */
    double largest_deviation; /* |sum - 1| of that vertex */
} ex_skin_info;

/*
 * Sorts and normalises the influences, in one allocation of 24 bytes a vertex and 6 for each influence above four of a
 * vertex. Weights that already sum to 1 within 2^-24 are kept to the bit, so that what ex_skin_influences gives makes
 * the same skin again. Results: ARGUMENT, DATA (the vertex is named), MEMORY, LIMIT.
 */
EX_API ex_result ex_skin_create(const ex_skin_def *def, const ex_allocator *allocator, ex_skin **skin, ex_error *error);
EX_API void ex_skin_destroy(ex_skin *skin);

EX_API int ex_skin_vertex_count(const ex_skin *skin);
EX_API int ex_skin_joint_count(const ex_skin *skin);
EX_API ex_skin_info ex_skin_get_info(const ex_skin *skin);
/* The influences of a vertex, heaviest first; returns how many. joints and weights have room for influence_most, or are
 * NULL. */
EX_API int ex_skin_influences(const ex_skin *skin, int vertex, uint32_t *joints, float *weights);

/*
 * What to move. Pointers are to the entries of vertex `begin`; each may be NULL in pairs (in and out). Strides are
 * bytes from one entry to the next; 0 means close together. Input and output may be the same array with the same
 * stride, or arrays that do not overlap.
 */
typedef struct ex_skin_job {
    int begin, end; /* vertices; a skin's work may be cut anywhere, the bits stay the same */
    const float *positions;
    const float *normals;
    const float *tangents; /* x y z and a sign, which is copied */
    float *out_positions;
    float *out_normals;  /* of length 1; as they were where the surface has collapsed */
    float *out_tangents; /* likewise */
    size_t position_stride, normal_stride, tangent_stride;             /* 0: 12, 12, 16 */
    size_t out_position_stride, out_normal_stride, out_tangent_stride; /* 0: 12, 12, 16 */
    float *box; /* [6]: smallest x y z, largest x y z, grown by the moved positions; or NULL */
} ex_skin_job;

/*
 * Moves a range of vertices. The palette must have the skin's number of joints. Normals go by the inverse transpose of
 * what moves the vertex, tangents along. Allocates nothing, uses one thread. Must read 24 bytes of influences a vertex
 * and read and write each stream; see docs/performance.md.
 */
EX_API void ex_skin_apply(const ex_skin *skin, const ex_palette *palette, const ex_skin_job *job);

/* The matrix by which a vertex moves, in double: both methods are affine for one vertex and one palette. */
EX_API void ex_skin_vertex_matrix(const ex_skin *skin, const ex_palette *palette, int vertex, double matrix[12]);

/*
 * The rotation by which a vertex turns, whatever the method: its joints' rotations blended as quaternions, on the side
 * of the heaviest. Never undefined, also where the matrices' sum collapses. The palette needs rotations.
 */
EX_API void ex_skin_vertex_rotation(const ex_skin *skin, const ex_palette *palette, int vertex, double rotation[4]);

/* Vectors that are to be turned with the skin and added to it. */
typedef struct ex_turn_job {
    int count;
    const uint32_t *vertices; /* [count] */
    const float *vectors;     /* [count][3] */
    float *positions;         /* of vertex 0: entry v += the vertex's rotation times its vector */
    size_t position_stride;   /* 0: 12 */
} ex_turn_job;

/* positions += rotation * vector, for the vertices listed. The same bits for the same vertex however the list is cut.
 */
EX_API void ex_skin_turn(const ex_skin *skin, const ex_palette *palette, const ex_turn_job *job);

/* ---- un-posing ---- */

/* A direction that skinning shrinks to less than this part of what the joints alone would make of it is not inverted
 * but damped. At 0.1, a sculpt is ten times as large at rest as at its pose, and a degree away from its pose it is off
 * by 9 % of its size. */
#define EX_UNPOSE_LIMIT 0.1

/* A vertex that was damped: it does not come back to its place. */
typedef struct ex_damped {
    int vertex;
    float stretch;  /* the smallest, over what the joints alone would make of it: 0 where the surface collapses */
    float residual; /* how far from its posed position the vertex will be */
} ex_damped;

typedef struct ex_unpose_job {
    const float *posed; /* [vertex_count][3]; not finite: the vertex stays at rest and is reported, residual infinite */
    const float *rest;  /* [vertex_count][3]: what damped directions tend to */
    double *out;        /* [vertex_count][3] */
    double limit;       /* 0: EX_UNPOSE_LIMIT */
    ex_damped *damped;  /* the first damped_capacity damped vertices, ascending; or NULL */
    int damped_capacity;
} ex_unpose_job;

/*
 * Finds the rest positions that skinning with this palette would move to `posed` (Shape by Example, equation 7), in
 * double. Returns how many vertices were damped, which may be more than had room. About 200 ns a vertex.
 */
EX_API int ex_skin_unpose(const ex_skin *skin, const ex_palette *palette, const ex_unpose_job *job);

#ifdef __cplusplus
}
#endif
#endif

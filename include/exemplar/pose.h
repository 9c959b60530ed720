/*
 * exemplar/pose.h - skeletons, skinning, and its inverse, un-posing: move a form with a skeleton.
 *
 * A skeleton turns one local transform per joint into one matrix per joint. A palette holds those matrices, prepared
 * for one of two skinning methods. A skin says which joints move which vertex; it moves positions, normals and tangents
 * with a palette. Skeletons and skins are immutable and may be used from any number of threads; so may a finished
 * palette. Only creation can fail. For the weights of examples see exemplar/weigh.h, for the sum of forms
 * exemplar/shape.h.
 *
 * Matrices are [12] numbers: three rows of four, with the translation in the fourth column. Quaternions are x y z w.
 */
#ifndef EXEMPLAR_POSE_H
#define EXEMPLAR_POSE_H

#include <exemplar/base.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Maximum number of joints of a skeleton or skin. */
#define EX_JOINT_MAX 65535
/* Maximum number of influences of a vertex. */
#define EX_INFLUENCE_MAX 1024

/* ---- transforms ---- */

/* A transform: scales, then rotates, then translates, as in glTF. A scale may be negative or 0. */
typedef struct ex_transform {
    float translation[3];
    float rotation[4]; /* any length but 0 */
    float scale[3];
} ex_transform;

/* Returns the transform that moves nothing. */
EX_API ex_transform ex_transform_identity(void);
/* Converts a transform to a matrix. */
EX_API void ex_transform_matrix(const ex_transform *transform, float matrix[12]);

/*
 * Finds the transform nearest to a matrix; exact if the matrix has perpendicular columns. Returns what is lost
 * otherwise (shear): the largest difference of an entry, divided by the largest entry. A matrix that mirrors gets a
 * negative x scale.
 */
EX_API double ex_transform_from_matrix(const float matrix[12], ex_transform *transform);

/* Interpolates from a (t = 0) to b (t = 1): translation and scale linearly, rotation along the shorter arc at constant
 * speed. Extrapolates for t outside [0, 1], up to +-10000. */
EX_API ex_transform ex_transform_interpolate(const ex_transform *a, const ex_transform *b, double t);

/* ---- skeletons ---- */

/* Definition of a skeleton. */
typedef struct ex_skeleton_def {
    int joint_count;            /* 1 to EX_JOINT_MAX */
    const int *parents;         /* [joint_count], -1 for a root; several roots and any order are allowed */
    const ex_transform *rest;   /* [joint_count] relative to the parent; a zero rotation means none */
    const float *inverse_binds; /* [joint_count][12]: from the space of the mesh to that of the joint, as both were when
                                   the mesh was bound; NULL: the mesh was bound at rest */
    const char *const *names;   /* [joint_count] or NULL, and each may be NULL; for ex_skeleton_find and error
                                   messages */
} ex_skeleton_def;

/* A skeleton, immutable. */
typedef struct ex_skeleton ex_skeleton;

/*
 * Makes a skeleton. Copies everything, in one allocation of about 370 bytes per joint. Results: ARGUMENT, DATA (a joint
 * that is its own ancestor, a parent out of range, a number that is not finite, a bind matrix without an inverse; names
 * the joint), MEMORY, LIMIT.
 */
EX_API ex_result ex_skeleton_create(const ex_skeleton_def *def, const ex_allocator *allocator, ex_skeleton **skeleton,
                                    ex_error *error);
EX_API void ex_skeleton_destroy(ex_skeleton *skeleton);

/* Returns the number of joints. */
EX_API int ex_skeleton_joint_count(const ex_skeleton *skeleton);
/* Returns the parent joint, or -1 for a root. */
EX_API int ex_skeleton_parent(const ex_skeleton *skeleton, int joint);
/* Returns the joint's name, or "" if it has none. */
EX_API const char *ex_skeleton_name(const ex_skeleton *skeleton, int joint);
/* Returns the first joint of that name, or -1. */
EX_API int ex_skeleton_find(const ex_skeleton *skeleton, const char *name);
/* Returns the rest transform, with a unit rotation. */
EX_API ex_transform ex_skeleton_rest(const ex_skeleton *skeleton, int joint);
/* Returns the scale that the skinning matrices of all joints share at rest, negative if they mirror: 0.01 for a mesh
 * bound in centimetres below a node with that scale. 1 if they scale by 0.5 to 2, or differ. Dual quaternions apply it
 * first, so that motions are blended in the posed unit. */
EX_API double ex_skeleton_scale(const ex_skeleton *skeleton);
/* Gets the inverse bind matrix of a joint. */
EX_API void ex_skeleton_inverse_bind(const ex_skeleton *skeleton, int joint, float matrix[12]);

/* Input of a skeleton; all zero is rest. */
typedef struct ex_skeleton_input {
    /*
     * [joint_count] local transforms that replace the rest transforms, or NULL. A translation, rotation or scale that
     * is not finite reads as rest, and so does a zero rotation.
     */
    const ex_transform *locals;
    /*
     * [joint_count][3], or NULL: offset of each joint's position in the bound mesh from the skeleton's own, in the
     * space of the mesh. This is how an example brings its own skeleton: the sum over examples of weight times (joint
     * position of that example - joint position of the skeleton). Bones get the resulting length and direction, inverse
     * binds move along, rotations and scales of binds stay. Not finite reads as 0.
     */
    const float *shifts;
} ex_skeleton_input;

/* Output arrays of a skeleton; every pointer may be NULL. */
typedef struct ex_skeleton_output {
    float *matrices; /* [joint_count][12]: world matrix times inverse bind; input of a palette */
    float *worlds;   /* [joint_count][12] */
    float *centres;  /* [joint_count][3]: joint positions in the bound mesh, shifts included */
    /*
     * [joint_count][4]: rotations of the matrices as quaternions x y z w, for a palette. A matrix does not say whether
     * a joint turned by 200 or by -160 degrees; the sign of these quaternions does. It follows each joint's turn from
     * rest: 0 to 150 degrees whatever the sign of the local quaternion, and from there up to 209 by its sign.
     */
    float *turns;
} ex_skeleton_output;

/* Returns the bytes of scratch for ex_skeleton_evaluate; aligned as malloc does. */
EX_API size_t ex_skeleton_scratch_size(const ex_skeleton *skeleton);

/*
 * Evaluates all joints in double and stores floats. input NULL: rest. Cannot fail: a joint that would leave +-1e30
 * reads as rest. About 150 multiplications per joint, and 50 for its turn.
 */
EX_API void ex_skeleton_evaluate(const ex_skeleton *skeleton, const ex_skeleton_input *input,
                                 const ex_skeleton_output *output, void *scratch);

/* ---- readings: numbers from the motion of a joint ---- */

/* Kinds of value that can be read from a joint's local transform, always relative to its rest. */
typedef enum ex_reading_kind {
    EX_READING_NONE,     /* nothing: the axis is a dial */
    EX_READING_ANGLE,    /* degrees: the signed turn about `about`, within half a turn of `middle` */
    EX_READING_ROTATION, /* the rotation, x y z w */
    EX_READING_SLIDE,    /* translation along `about`, in units of `unit` metres */
    EX_READING_STRETCH,  /* scale along `about`, which is one of the joint's own axes; 1 at rest */
    EX_READING_KIND_COUNT
} ex_reading_kind;

/* The value to read from a joint. */
typedef struct ex_reading {
    ex_reading_kind kind;
    double about[3]; /* a direction of any length but 0, in the joint's own axes at rest */
    double middle;   /* angle: centre of its range, in degrees */
    double unit;     /* slide: metres per unit; 0 means 1 */
    int part;        /* rotation: the part that writing changes, an ex_axis_kind (EX_AXIS_ROTATION, _SWING, or _TWIST
                        about `about`); reading always gives the whole rotation */
} ex_reading;

/* Returns the number of values of a reading: 1, or 4 for a rotation. */
EX_API int ex_reading_width(const ex_reading *reading);
/* Reads value [width]: an angle in [middle - 180, middle + 180), a rotation with w >= 0. Numbers in local that are not
 * finite read as rest. EX_READING_NONE leaves value unchanged. */
EX_API void ex_reading_read(const ex_reading *reading, const ex_transform *rest, const ex_transform *local,
                            double *value);
/* Changes local so that it reads value, and keeps everything else in it. An angle replaces the turn about its axis,
 * which comes first, and keeps the swing. A value that is not finite, or a zero rotation, writes rest. Two values
 * cannot be written: the turn of a joint that swings by 180 degrees, and the stretch of a joint whose rest scale is
 * 0. */
EX_API void ex_reading_write(const ex_reading *reading, const ex_transform *rest, const double *value,
                             ex_transform *local);

/* ---- palettes ---- */

/* Skinning methods: blends of the joints of a vertex, with the names that project files use. */
#define EX_SKINNING_LIST(X)                                                                                            \
    X(EX_SKINNING_LINEAR, "linear")                   /* sums matrices: shrinks at bends and twists */                 \
    X(EX_SKINNING_DUAL_QUATERNION, "dual_quaternion") /* blends rigid motions: keeps volume, may bulge */

typedef enum ex_skinning {
#define EX_SKINNING_ENUM(name, text) name,
    EX_SKINNING_LIST(EX_SKINNING_ENUM)
#undef EX_SKINNING_ENUM
        EX_SKINNING_COUNT
} ex_skinning;

/* Returns the name of a skinning method. */
EX_API const char *ex_skinning_name(ex_skinning method);

/* Definition of a palette. */
typedef struct ex_palette_def {
    ex_skinning method;
    int joint_count;
    const float *matrices; /* [joint_count][12]; one that is not finite, or beyond +-1e12, counts as the identity */
    const float *centres; /* dual_quaternion: [joint_count][3], the points about which joints scale; NULL: the origin */
    bool rotations;       /* linear: true to keep the joints' rotations too, for ex_skin_turn and
                             ex_skin_vertex_rotation; dual quaternions always have them */
    const float *turns;   /* [joint_count][4]: turns of ex_skeleton_evaluate, so that blends are continuous over half a
                             turn; zero or not finite: no turn. NULL: rotations are taken from the matrices, and two
                             joints more than half a turn apart are blended along the shorter arc */
    double scale;         /* dual_quaternion: ex_skeleton_scale; 0: 1 */
} ex_palette_def;

/* The matrices of all joints, prepared for a skinning method. */
typedef struct ex_palette ex_palette;

/* Returns the size of a palette in bytes: slightly more than 96 per joint. */
EX_API size_t ex_palette_size(ex_skinning method, int joint_count);

/*
 * Makes a palette in memory of that size (aligned as malloc does) and returns it. It lives as long as the memory and
 * holds no pointers to other memory. Without turns, dual quaternions take 2 us for every joint whose motion is not
 * rigid. Returns NULL only after misuse.
 */
EX_API ex_palette *ex_palette_make(const ex_palette_def *def, void *memory);

/* ---- skins ---- */

/* Definition of a skin: the joints that move each vertex, and their weights. */
typedef struct ex_skin_def {
    int vertex_count;
    int joint_count;        /* 1 to EX_JOINT_MAX */
    const uint32_t *starts; /* [vertex_count + 1]: vertex v has influences starts[v] to starts[v + 1], at most
                               EX_INFLUENCE_MAX */
    const uint32_t *joints; /* [starts[vertex_count]] */
    const float *weights;   /* [starts[vertex_count]], not negative, and not all 0 at a vertex; scaled to sum to 1 */
} ex_skin_def;

/* A skin, immutable. */
typedef struct ex_skin ex_skin;

/* Facts about a skin, as found when it was made. */
typedef struct ex_skin_info {
    int influence_most;       /* largest number at a vertex, after removing weights of 0 and merging repeated joints */
    int long_count;           /* number of vertices with more than 4 influences, which are slower */
    int unnormalised_count;   /* number of vertices whose weights were off a sum of 1 by more than 1e-5 */
    int worst_vertex;         /* vertex farthest off, or -1 */
    double largest_deviation; /* |sum - 1| of that vertex */
} ex_skin_info;

/*
 * Makes a skin: sorts and normalises the influences, in one allocation of 24 bytes per vertex and 6 for each influence
 * of a vertex above four. Weights that already sum to 1 within 2^-24 are kept to the bit, so the output of
 * ex_skin_influences makes the same skin again. Results: ARGUMENT, DATA (names the vertex), MEMORY, LIMIT.
 */
EX_API ex_result ex_skin_create(const ex_skin_def *def, const ex_allocator *allocator, ex_skin **skin, ex_error *error);
EX_API void ex_skin_destroy(ex_skin *skin);

/* Return the numbers of vertices and of joints. */
EX_API int ex_skin_vertex_count(const ex_skin *skin);
EX_API int ex_skin_joint_count(const ex_skin *skin);
/* Returns facts about the skin. */
EX_API ex_skin_info ex_skin_get_info(const ex_skin *skin);
/* Gets the influences of a vertex, heaviest first, and returns their number. joints and weights have room for
 * influence_most entries, or are NULL. */
EX_API int ex_skin_influences(const ex_skin *skin, int vertex, uint32_t *joints, float *weights);

/*
 * Arrays for ex_skin_apply to move. Pointers are to the entries of vertex `begin`; each pair (in and out) may be NULL.
 * Strides are bytes from one entry to the next; 0 means packed. Addresses and strides are multiples of 4, and a stride
 * is not shorter than an entry: otherwise it is misuse, and nothing is written. Input and output may be the same array
 * with the same stride, or arrays that do not overlap.
 */
typedef struct ex_skin_job {
    int begin, end; /* range of vertices; the bits are the same wherever the work is cut */
    const float *positions;
    const float *normals;
    const float *tangents; /* x y z and a sign, which is copied */
    float *out_positions;
    float *out_normals;                                    /* unit length; unchanged where the surface has collapsed */
    float *out_tangents;                                   /* the same */
    size_t position_stride, normal_stride, tangent_stride; /* 0: 12, 12, 16 */
    size_t out_position_stride, out_normal_stride, out_tangent_stride; /* 0: 12, 12, 16 */
    float *box; /* [6]: minimum x y z, maximum x y z, grown by the moved positions; or NULL */
} ex_skin_job;

/*
 * Moves a range of vertices with their joints: linear or dual quaternion skinning. The palette must have the skin's
 * number of joints. Normals are transformed by the inverse transpose of the vertex's matrix, tangents by the matrix.
 * Allocates nothing, uses one thread. Memory traffic: 24 bytes of influences per vertex, and one read and one write of
 * each stream; see docs/performance.md.
 */
EX_API void ex_skin_apply(const ex_skin *skin, const ex_palette *palette, const ex_skin_job *job);

/* Gets the matrix that moves a vertex, in double. Both methods are affine for a given vertex and palette. */
EX_API void ex_skin_vertex_matrix(const ex_skin *skin, const ex_palette *palette, int vertex, double matrix[12]);

/*
 * Gets the rotation of a vertex, for either method: its joints' rotations blended as quaternions. Always defined, even
 * where the sum of the matrices collapses; if the quaternions cancel, it is that of the heaviest joint. The palette
 * needs rotations.
 */
EX_API void ex_skin_vertex_rotation(const ex_skin *skin, const ex_palette *palette, int vertex, double rotation[4]);

/* Vectors to turn with the skin and add to it. */
typedef struct ex_turn_job {
    int count;
    const uint32_t *vertices; /* [count] */
    const float *vectors;     /* [count][3] */
    float *positions;         /* of vertex 0: entry v += rotation of the vertex times its vector */
    size_t position_stride;   /* a multiple of 4, at least 12; 0: 12 */
} ex_turn_job;

/* Turns vectors with the skin and adds them: positions += rotation * vector, for the listed vertices. The bits for a
 * vertex are the same however the list is cut. */
EX_API void ex_skin_turn(const ex_skin *skin, const ex_palette *palette, const ex_turn_job *job);

/* ---- un-posing ---- */

/* The limit of un-posing, as a fraction. A direction that skinning shrinks to less than this fraction of what the
 * joints alone would give is damped instead of inverted. At 0.1, a sculpt is ten times as large at rest as at its pose,
 * and one degree away from its pose it is off by 9 % of its size. */
#define EX_UNPOSE_LIMIT 0.1

/* A damped vertex: it does not return exactly to its posed position. */
typedef struct ex_damped {
    int vertex;
    float stretch;  /* smallest stretch, divided by what the joints alone would give: 0 where the surface collapses */
    float residual; /* distance from its posed position that remains when it is posed again */
} ex_damped;

/* Arrays for un-posing. */
typedef struct ex_unpose_job {
    const float *posed; /* [vertex_count][3]; not finite: the vertex stays at rest and is reported with an infinite
                           residual */
    const float *rest;  /* [vertex_count][3]: damped directions tend to these */
    double *out;        /* [vertex_count][3] */
    double limit;       /* 0: EX_UNPOSE_LIMIT */
    ex_damped *damped;  /* receives the first damped_capacity damped vertices, ascending; or NULL */
    int damped_capacity;
} ex_unpose_job;

/*
 * Finds the rest positions that skinning with this palette would move to `posed` (Shape by Example, equation 7), in
 * double. Returns the number of damped vertices, which may exceed damped_capacity. About 200 ns per vertex.
 */
EX_API int ex_skin_unpose(const ex_skin *skin, const ex_palette *palette, const ex_unpose_job *job);

#ifdef __cplusplus
}
#endif
#endif

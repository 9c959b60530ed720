/*
 * exemplar/rig.h - the rig: everything the runtime needs of one character, in one immutable block of memory.
 *
 * A rig holds a mesh, its layers (each a space, a weigher and examples), a skeleton with its skin, refined levels, and
 * the names of its inputs. It is made from arrays (ex_rig_create) or from the bytes of a rig file (ex_rig_unpack).
 * Evaluation reads it from any number of threads at once, allocates nothing and cannot fail. Reading and writing files
 * is the caller's, or authoring's (exemplar/author.h).
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

/* Where an axis of a layer gets its value. */
typedef struct ex_axis_source {
    int joint;          /* of the rig's skeleton; -1: a dial, a free input of the pose; a driver axis is neither: it is
                           ex_pose.driver */
    ex_reading reading; /* with a joint: what is read from it; its kind must suit the axis */
} ex_axis_source;

/* What a layer's examples are. */
typedef enum ex_domain {
    EX_DOMAIN_FORM,         /* vertex positions, added to the mesh before it is posed */
    EX_DOMAIN_PIXELS,       /* a texture */
    EX_DOMAIN_OFFSETS,      /* differences of the few vertices that move */
    EX_DOMAIN_TRAJECTORY,   /* paths from the mesh, added to it before it is posed */
    EX_DOMAIN_DISPLACEMENT, /* numbers along the normals of the posed and refined surface */
    EX_DOMAIN_COUNT
} ex_domain;

/* Where offsets are added, with the names that project files use. */
#define EX_FRAME_LIST(X)                                                                                               \
    X(EX_FRAME_REST, "rest")       /* before the form is posed */                                                      \
    X(EX_FRAME_SKINNED, "skinned") /* after it, turned by the vertex's blended rotation: never singular */

typedef enum ex_frame {
#define EX_FRAME_ENUM(name, text) name,
    EX_FRAME_LIST(EX_FRAME_ENUM)
#undef EX_FRAME_ENUM
        EX_FRAME_COUNT
} ex_frame;

EX_API const char *ex_frame_name(ex_frame frame);

/*
 * One layer. Of forms: rest form(v) += mask(v) * sum over k of w_k * delta_k(v). Of pixels: the texture of that name is
 * the first example of its first layer, plus for each of its layers the sum over k of w_k * (image_k - that first
 * image), in linear light. The same axis name in two layers is one input: in both a number or in both a rotation, with
 * one rest value, and from one source.
 */
typedef struct ex_layer_def {
    const char *name;
    ex_domain domain;
    ex_weigher_def weigh;             /* space, points and kind; its names are set from example_names */
    const char *const *axis_names;    /* [weigh.axis_count] */
    const char *const *axis_units;    /* [weigh.axis_count] or NULL, each may be NULL: text for people */
    const ex_axis_source *sources;    /* [weigh.axis_count], or NULL: all are dials */
    const char *const *example_names; /* [weigh.example_count], all different */
    bool muted;                       /* does not count unless ex_evaluation.muted says so */

    /* forms, offsets, trajectories and displacements */
    const float *mask; /* [vertex_count], of displacements [vertices of the last level], in [0, 1], multiplied into the
                          deltas; of trajectories kept; or NULL */

    /* forms and trajectories */
    const float *const *deltas; /* [weigh.example_count] of [vertex_count][3]: example minus mesh */
    const float *const *shifts; /* [weigh.example_count] of [joint_count][3], each may be NULL: by how much the joints'
                                   positions at rest differ in that example (ex_skeleton_input); or NULL */

    /* offsets: rest form(v), or posed form(v), += mask(v) * sum over k of w_k * delta_k(v) */
    const ex_offsets *offsets; /* [weigh.example_count] */
    ex_frame frame;
    bool moved; /* a vertex is weighed among the examples that move it alone, as if the layer had no others; asks for a
                   gaussian weigher, whose sets are set from the offsets */

    /* trajectories: rest form(v) += mask(v) * (path(v) - mesh(v)) */
    const ex_trajectory *trajectories; /* [weigh.example_count] */
    int reference;                     /* the example that is the mesh itself: its delta and trajectory are not looked
                                          at; -1: none, as where the weigher is direct */
    double centre[3];                  /* of the screws */
    const float *overlaps;             /* [weigh.example_count] squared, in [0, 1], 1 on the diagonal: how far example k
                                          moves what l moves too; NULL: 1 on the diagonal, else 0 */
    ex_segments segments;

    /* layers with a convex weigher: forms and trajectories. The weigher's points and the width of its driver axis are
     * set from these; its scalar axis, where it has one, has its points in weigh.points [example_count]. Trajectories
     * have numbers for the driver's vertices behind the mesh's. */
    const float *const *driver_keys;       /* [weigh.example_count] of [driver vertex_count][3]: the driver there */
    const ex_transform *const *key_joints; /* [weigh.example_count] of [joint_count], each may be NULL: rest; or NULL:
                                              the skeleton there, where a moving frame goes with a joint */
    int view_count; /* regions: 1, and every vertex is weighed alike; or more, and a vertex by those of its regions */
    const ex_view *views;
    ex_influences regions; /* of the mesh's vertices, then the driver's; starts NULL: region i is moving frame i */

    /* displacements: surface(v) += mask(v) * sum over k of w_k * displacement_k(v) times the unit normal of the posed
     * limit surface. Ask for levels that are all on the limit surface (ex_subdivide_def.all). Refined vertices keep
     * their numbers, so a level that is not the last takes the first of them; the cage is not displaced. */
    const float *const *displacements; /* [weigh.example_count] of [vertices of the last level], metres */

    /* pixels */
    const char *texture;                /* "base_color", "normal", … as glTF calls them */
    int width, height;                  /* of every image, of every layer of that texture */
    const unsigned char *const *images; /* [weigh.example_count] of [height][width][4]: red green blue alpha */
} ex_layer_def;

/*
 * The mesh that drives a rig, and how the rig follows it. A rig with a driver is posed by the driver's moving frames,
 * by dual quaternions, unless it has a skin of its own. Layers with a convex weigher are weighed by the driver's form.
 */
typedef struct ex_rig_driver {
    const char *name;     /* of the input; as the driver axes of the layers are called */
    ex_driver_def driver; /* the reference and the moving frames */
    const int *joints;    /* [frame_count] or NULL: the joint that a frame without vertices goes with; -1: none */
    ex_influences carry;  /* of the mesh's vertices, then the driver's: which frames move them; starts NULL: frame 0 */
    int triangle_count;
    const uint32_t *triangles; /* [triangle_count][3] vertices of the driver */

    ex_residual residual; /* not with a skin of its own */
    bool push;            /* out of the driver */
    float thickness;
    int bind_count; /* ex_settler_def */
    const ex_bind *binds;
    const uint16_t *vertex_binds; /* [vertex_count]; or NULL */
} ex_rig_driver;

/* Bytes that a rig carries for others and does not look into (groups, materials, …). */
#define EX_NOTE_KIND_SIZE 16
typedef struct ex_note {
    const char *kind; /* at most 15 characters */
    const void *data;
    size_t size;
} ex_note;

/* How a rig is laid out in memory; NULL or all zero is float storage and everything that the rig has. */
typedef struct ex_rig_options {
    ex_storage storage;
    bool without_normals;  /* no normals but those of a limit that is not displaced, and no tangents; saves 80 bytes a
                              vertex and level */
    bool without_tangents; /* saves as much again where there are texture coordinates */
    bool without_levels;   /* no refinement: the cage only; displacements are left out too */
} ex_rig_options;

typedef struct ex_rig_def {
    ex_rig_mesh mesh;
    const ex_layer_def *layers;
    int layer_count;
    const ex_note *notes;
    int note_count;

    const ex_skeleton *skeleton; /* or NULL */
    const ex_skin *skin; /* of the mesh's vertices and the skeleton's joints; NULL: the skeleton moves nothing */
    ex_skinning skinning;

    const ex_rig_driver *driver; /* or NULL */

    const ex_stencils *stencils; /* of the mesh's vertices; or NULL */
    const ex_rig_mesh *levels; /* [ex_stencils_level_count]: the faces of levels 1, 2, …; positions and normals NULL */
    int level;                 /* what to show unless asked otherwise: 0, a level, or EX_LEVEL_LIMIT */

    ex_rig_options options;
} ex_rig_def;

typedef struct ex_rig ex_rig;

EX_API ex_rig_def ex_rig_def_default(void);

/* Solves every layer's space and lays the forms out, in one allocation. Everything is copied. Results: ARGUMENT, DATA,
 * SINGULAR, LIMIT, MEMORY; the error names layer, axis, example, vertex. */
EX_API ex_result ex_rig_create(const ex_rig_def *def, const ex_allocator *allocator, ex_rig **rig, ex_error *error);
EX_API void ex_rig_destroy(ex_rig *rig);

/* ---- what is inside ---- */

EX_API int ex_rig_vertex_count(const ex_rig *rig);
EX_API int ex_rig_layer_count(const ex_rig *rig);
/* Examples of all layers together: the length of ex_output.weights. */
EX_API int ex_rig_example_count(const ex_rig *rig);
EX_API const char *ex_rig_layer_name(const ex_rig *rig, int layer);
/* The layer's weigher; belongs to the rig. Its example_count is the layer's. */
EX_API const ex_weigher *ex_rig_weigher(const ex_rig *rig, int layer);
/* Where the layer's examples start among the examples of all layers. */
EX_API int ex_rig_first_example(const ex_rig *rig, int layer);
EX_API const char *ex_rig_example_name(const ex_rig *rig, int layer, int example);

EX_API ex_domain ex_rig_layer_domain(const ex_rig *rig, int layer);
/* Whether it is left out unless ex_evaluation.muted says otherwise. */
EX_API bool ex_rig_layer_muted(const ex_rig *rig, int layer);
/* Layers of offsets: where they are added, and whether vertices are weighed among the examples that move them. */
EX_API ex_frame ex_rig_layer_frame(const ex_rig *rig, int layer);
EX_API bool ex_rig_layer_moved(const ex_rig *rig, int layer);
/* Vertices that an example of such a layer moves; 0 for others. */
EX_API int ex_rig_example_offset_count(const ex_rig *rig, int layer, int example);
/* They, ascending [count], and by how much [count][3], mask included; each may be NULL. */
EX_API void ex_rig_example_offsets(const ex_rig *rig, int layer, int example, uint32_t *vertices, float *deltas);

/* Layers of trajectories: their reference (-1 for others, too), centre, overlaps (NULL where none were given) and
 * segments, as pointers into the rig. */
EX_API int ex_rig_layer_reference(const ex_rig *rig, int layer);
EX_API ex_segments ex_rig_layer_segments(const ex_rig *rig, int layer);
EX_API const float *ex_rig_layer_overlaps(const ex_rig *rig, int layer);
EX_API void ex_rig_layer_centre(const ex_rig *rig, int layer, double centre[3]);
/* The layer's mask [vertex_count]; false, and ones, where it has none. */
EX_API bool ex_rig_layer_mask(const ex_rig *rig, int layer, float *mask);
/* What an example's trajectory holds; the pointers to vertices' numbers are NULL: ask ex_rig_example_turns, which gives
 * false, and zeros, where the example has none, and ex_rig_example_corrector. All [vertex_count][3]. */
EX_API ex_trajectory ex_rig_example_trajectory(const ex_rig *rig, int layer, int example);
EX_API bool ex_rig_example_turns(const ex_rig *rig, int layer, int example, float *turns);
EX_API void ex_rig_example_corrector(const ex_rig *rig, int layer, int example, int corrector, float *values);

/* Layers of displacements: how many vertices of the last level any example displaces, and which, ascending [count], or
 * NULL; 0 for others, and where the levels were left out. */
EX_API int ex_rig_layer_displaced(const ex_rig *rig, int layer, uint32_t *vertices);
/* An example's displacements of these vertices [count], mask included. */
EX_API void ex_rig_example_displacements(const ex_rig *rig, int layer, int example, float *values);

/* Inputs: the axes of all layers, each once, in order of first appearance. */
EX_API int ex_rig_input_count(const ex_rig *rig);
EX_API const char *ex_rig_input_name(const ex_rig *rig, int input);
/* "" where no unit was given. */
EX_API const char *ex_rig_input_unit(const ex_rig *rig, int input);
/* The axis as the first layer that has it defines it. */
EX_API ex_axis ex_rig_input_axis(const ex_rig *rig, int input);
/* Where it comes from. */
EX_API ex_axis_source ex_rig_input_source(const ex_rig *rig, int input);
/* Where a dial's one or four numbers start in ex_pose.inputs; -1 for an input that is read from a joint or a driver. */
EX_API int ex_rig_input_offset(const ex_rig *rig, int input);
/* The input's number, or -1. */
EX_API int ex_rig_input_find(const ex_rig *rig, const char *name);
/* The input that axis `axis` of the layer reads. */
EX_API int ex_rig_layer_input(const ex_rig *rig, int layer, int axis);
/* Numbers in ex_pose.inputs. */
EX_API int ex_rig_pose_size(const ex_rig *rig);

/* The skeleton and the skin belong to the rig; NULL where there is none. */
EX_API const ex_skeleton *ex_rig_skeleton(const ex_rig *rig);
EX_API const ex_skin *ex_rig_skin(const ex_rig *rig);
EX_API ex_skinning ex_rig_skinning(const ex_rig *rig);
/* 0 where there is no skeleton: the length of ex_pose.joints. */
EX_API int ex_rig_joint_count(const ex_rig *rig);
/* By how much the joints are elsewhere in an example [joint_count][3]; false, and zeros, where it brings no skeleton.
 */
EX_API bool ex_rig_example_shifts(const ex_rig *rig, int layer, int example, float *shifts);

/* The driver, as pointers into the rig; false, and all zero, where there is none. binds [EX_BIND_MAX] is the caller's
 * array, or NULL where they are not wanted. */
EX_API bool ex_rig_get_driver(const ex_rig *rig, ex_rig_driver *driver, ex_bind *binds);
/* A layer's regions: how many, their views, in the caller's array [EX_DRIVER_FRAME_MAX], or NULL, and its vertices'
 * influences, as pointers into the rig; 0 for a layer that no driver weighs. regions may be NULL. */
EX_API int ex_rig_layer_views(const ex_rig *rig, int layer, ex_view *views, ex_influences *regions);
/* The driver [driver vertex_count][3] at an example of such a layer, in the rig; NULL for others. */
EX_API const float *ex_rig_example_driver(const ex_rig *rig, int layer, int example);
/* The skeleton there [joint_count]; false where it is at rest. */
EX_API bool ex_rig_example_joints(const ex_rig *rig, int layer, int example, ex_transform *joints);

/* Refinement: NULL and 0 where there is none. */
EX_API const ex_stencils *ex_rig_stencils(const ex_rig *rig);
EX_API int ex_rig_level_count(const ex_rig *rig);
/* What the rig's maker wants shown: 0, a level, or EX_LEVEL_LIMIT (where a limit stands beside the levels). */
EX_API int ex_rig_level(const ex_rig *rig);
/* Vertices at a level (0: the mesh's; EX_LEVEL_LIMIT: those of the last): the length of what evaluation writes. 0 where
 * the rig has no such level. */
EX_API int ex_rig_level_vertex_count(const ex_rig *rig, int level);
/* The faces of a level; positions and normals NULL. */
EX_API ex_rig_mesh ex_rig_level_mesh(const ex_rig *rig, int level);

/* Textures: one for each name among the layers of pixels, in order of first appearance. */
typedef struct ex_texture {
    const char *name;
    int width, height;
    bool srgb; /* colours, blended in linear light; else data such as normals, blended as they are */
} ex_texture;
EX_API int ex_rig_texture_count(const ex_rig *rig);
EX_API ex_texture ex_rig_texture(const ex_rig *rig, int texture);
/* The texture that a layer of pixels belongs to; -1 for a layer of forms. */
EX_API int ex_rig_layer_texture(const ex_rig *rig, int layer);
/* An example's image [height][width][4]; NULL for a layer of forms. */
EX_API const unsigned char *ex_rig_example_image(const ex_rig *rig, int layer, int example);

/* The mesh; pointers into the rig, and positions NULL: ask ex_rig_rest_mesh for them. */
EX_API ex_rig_mesh ex_rig_get_mesh(const ex_rig *rig);
/* Positions [vertex_count][3] of the mesh itself, before any layer. */
EX_API void ex_rig_rest_mesh(const ex_rig *rig, float *positions);
/* An example's stored difference from the mesh [vertex_count][3], mask included but for trajectories; of offsets too.
 * Exact for float storage. */
EX_API void ex_rig_example_delta(const ex_rig *rig, int layer, int example, float *delta);
EX_API ex_storage ex_rig_storage(const ex_rig *rig);
EX_API int ex_rig_note_count(const ex_rig *rig);
EX_API ex_note ex_rig_note(const ex_rig *rig, int note);

/* ---- evaluation ---- */

/*
 * The whole input of a rig: the caller's arrays, which evaluation only reads. All zero is the rest pose. What is not
 * finite reads as rest, a zero rotation too.
 */
typedef struct ex_pose {
    double *inputs;       /* [ex_rig_pose_size]: the dials; NULL: rest */
    ex_transform *joints; /* [ex_rig_joint_count] local transforms; NULL: rest */
    const float *driver;  /* [driver vertex_count][3]; NULL: the reference */
} ex_pose;

/* Fills the pose's arrays, where it has them, with rest. */
EX_API void ex_rig_rest_pose(const ex_rig *rig, const ex_pose *pose);
/* Writes an input's one or four numbers: a dial's into pose->inputs; of an input with a joint into that joint's
 * transform, of which only what the input reads is changed. */
EX_API void ex_rig_set_input(const ex_rig *rig, int input, const double *value, const ex_pose *pose);
/* The input's one or four numbers as evaluation sees them. */
EX_API void ex_rig_get_input(const ex_rig *rig, int input, const ex_pose *pose, double *value);

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

/* ---- packing ---- */

/* Size of the rig in its packed form. 0 for a rig that cannot be packed: in 16-bit storage, since files are float, or
 * made or loaded without its levels. */
EX_API size_t ex_rig_pack_size(const ex_rig *rig);

/* Writes the packed form: what stands in the BIN chunk of a rig file. bytes are aligned to 8. The same rig gives the
 * same bytes. */
EX_API ex_result ex_rig_pack(const ex_rig *rig, void *bytes, size_t size, ex_error *error);

/*
 * A rig from the bytes of a .glb rig file, or from a bare pack, aligned to 4. Checks everything; bytes may be hostile,
 * and may be released afterwards.
 * Results: FORMAT (no rig), VERSION, CHECKSUM (damaged, or rearranged by another program), DATA, LIMIT, MEMORY.
 */
EX_API ex_result ex_rig_unpack(const void *bytes, size_t size, const ex_rig_options *options,
                               const ex_allocator *allocator, ex_rig **rig, ex_error *error);

/* The pack's directory, for those who wrap it in a file (docs/rig-format.md). */
typedef enum ex_section_kind {
    EX_SECTION_COUNTS = 1,
    EX_SECTION_STRINGS,
    EX_SECTION_INPUTS,
    EX_SECTION_LAYERS,
    EX_SECTION_AXES,     /* which input each axis of each layer reads */
    EX_SECTION_EXAMPLES, /* names of examples */
    EX_SECTION_WEIGHER,  /* index: layer */
    EX_SECTION_JOINTS,   /* names, parents, rest transforms */
    EX_SECTION_SHIFTS,   /* index: example among all; joints */
    EX_SECTION_TEXTURES, /* names and sizes */
    EX_SECTION_IMAGE,    /* index: example among all; rows of red green blue alpha */
    EX_SECTION_LEVELS,   /* counts of every level */
    EX_SECTION_STENCILS, /* index: level, or level_count + 1 for the limit */
    EX_SECTION_SOURCES,  /* split_source; index: level, and so down to CORNERS */
    EX_SECTION_FACES,
    EX_SECTION_CORNERS,
    EX_SECTION_NOTE,      /* index: note */
    EX_SECTION_TRIANGLES, /* index: level */
    EX_SECTION_POSITIONS, /* split vertices */
    EX_SECTION_TEXCOORDS, /* index: level */
    EX_SECTION_NORMALS,
    EX_SECTION_INVERSE_BINDS, /* joints; 16 numbers, column after column, as in glTF */
    EX_SECTION_SKIN_JOINTS,   /* index: set of four influences; split vertices, 4 x uint16_t */
    EX_SECTION_SKIN_WEIGHTS,  /* the same, 4 x float */
    EX_SECTION_TARGET,        /* index: example among all; split vertices */
    EX_SECTION_OFFSET_PLACES, /* index: example among all; split vertices that move, ascending, uint32_t */
    EX_SECTION_OFFSET_VALUES, /* the same, 3 x float */
    EX_SECTION_TRAJECTORIES,  /* index: layer; reference, counts, centre, overlaps, segments, curves, screws, bases */
    EX_SECTION_TURNS,         /* index: example among all; vertices, 3 x float */
    EX_SECTION_CORRECTORS,    /* index: example among all; corrector after corrector; vertices, 3 x float */
    EX_SECTION_MASK,          /* index: layer; vertices, float */
    EX_SECTION_DRIVER,        /* counts, reference, frames, influences, triangles, settling */
    EX_SECTION_REGIONS,       /* index: layer; views, influences */
    EX_SECTION_DRIVER_KEY,    /* index: example among all; the driver's vertices, 3 x float; then joints; then its
                                 trajectory's numbers of them */
    EX_SECTION_DISPLACED,     /* index: layer; refined vertices that are displaced, ascending, uint32_t */
    EX_SECTION_DISPLACEMENTS, /* index: example among all; of each of them one float */
    EX_SECTION_KIND_COUNT
} ex_section_kind;

typedef struct ex_section {
    ex_section_kind kind;
    int index;
    size_t offset; /* from the start of the pack */
    size_t size;
} ex_section;

/* Bytes of header and directory at the start of a pack made by ex_rig_pack. */
EX_API size_t ex_pack_header_size(const void *pack);
EX_API int ex_pack_section_count(const void *pack);
EX_API ex_section ex_pack_section(const void *pack, int section);

#ifdef __cplusplus
}
#endif
#endif

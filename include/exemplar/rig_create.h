/*
 * exemplar/rig_create.h - make a rig from arrays: a mesh, layers, a skeleton, refined levels.
 *
 * For programs that have examples in memory. From files, authoring builds rigs (exemplar/author/project.h).
 */
#ifndef EXEMPLAR_RIG_CREATE_H
#define EXEMPLAR_RIG_CREATE_H

#include <exemplar/rig.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Where an axis of a layer gets its value. */
typedef struct ex_axis_source {
    int joint;          /* of the rig's skeleton; -1: a dial, a free input of the pose; a driver axis is neither: it is
                           ex_pose.driver */
    ex_reading reading; /* with a joint: what is read from it; its kind must suit the axis */
} ex_axis_source;

/* What a layer's examples are: a constant, its entry in tables of domains (docs/adding-a-domain.md), the word that
 * project files use, and a line of help. Files have the numbers: new ones go to the end. */
#define EX_DOMAIN_LIST(X)                                                                                              \
    X(EX_DOMAIN_FORM, form, "positions", "vertex positions, added to the mesh before it is posed")                     \
    X(EX_DOMAIN_PIXELS, pixels, "pixels", "images of a texture")                                                       \
    X(EX_DOMAIN_OFFSETS, offsets, "offsets", "differences of the few vertices that move")                              \
    X(EX_DOMAIN_TRAJECTORY, trajectory, "trajectory", "paths from the mesh, added to it before it is posed")           \
    X(EX_DOMAIN_DISPLACEMENT, displacement, "displacement", "numbers along the normals of the refined surface")

typedef enum ex_domain {
#define EX_DOMAIN_ENUM(name, entry, word, help) name,
    EX_DOMAIN_LIST(EX_DOMAIN_ENUM)
#undef EX_DOMAIN_ENUM
        EX_DOMAIN_COUNT
} ex_domain;

EX_API const char *ex_domain_name(ex_domain domain);
EX_API const char *ex_domain_help(ex_domain domain);

/* Where offsets are added, with the names that project files use. */
#define EX_OFFSET_FRAME_LIST(X)                                                                                        \
    X(EX_OFFSET_FRAME_REST, "rest")       /* before the form is posed */                                               \
    X(EX_OFFSET_FRAME_SKINNED, "skinned") /* after it, turned by the vertex's blended rotation: never singular */

typedef enum ex_offset_frame {
#define EX_OFFSET_FRAME_ENUM(name, text) name,
    EX_OFFSET_FRAME_LIST(EX_OFFSET_FRAME_ENUM)
#undef EX_OFFSET_FRAME_ENUM
        EX_OFFSET_FRAME_COUNT
} ex_offset_frame;

EX_API const char *ex_offset_frame_name(ex_offset_frame frame);

/* What a layer has that others do not, a struct for each domain. */

/* Examples that are whole forms, in layers of forms and of trajectories. Of forms: rest form(v) += mask(v) * sum over k
 * of w_k * delta_k(v). */
typedef struct ex_layer_form {
    const float *const *deltas; /* [example_count] of [vertex_count][3]: example minus mesh */
    const float *const *shifts; /* [example_count] of [joint_count][3], each may be NULL: by how much the joints'
                                   positions at rest differ in that example (ex_skeleton_input); or NULL */
} ex_layer_form;

/* The texture of that name is the first example of its first layer, plus for each of its layers the sum over k of w_k *
 * (image_k - that first image), in linear light. */
typedef struct ex_layer_pixels {
    const char *texture;                /* "base_color", "normal", … as glTF calls them */
    int width, height;                  /* of every image, of every layer of that texture */
    const unsigned char *const *images; /* [example_count] of [height][width][4]: red green blue alpha */
} ex_layer_pixels;

/* Rest form(v), or posed form(v), += mask(v) * sum over k of w_k * delta_k(v). */
typedef struct ex_layer_offsets {
    const ex_offsets *examples; /* [example_count] */
    ex_offset_frame frame;
    bool moved; /* a vertex is weighed among the examples that move it alone, as if the layer had no others; asks for a
                   gaussian weigher, whose sets are set from the offsets */
} ex_layer_offsets;

/* Rest form(v) += mask(v) * (path(v) - mesh(v)). */
typedef struct ex_layer_trajectory {
    const ex_trajectory *examples; /* [example_count]; where they end: ex_layer_form */
    int reference;         /* the example that is the mesh itself: its delta and trajectory are not looked at; -1: none,
                              as where the weigher is direct */
    double centre[3];      /* of the screws */
    const float *overlaps; /* [example_count] squared, in [0, 1], 1 on the diagonal: how far example k moves what l
                              moves too; NULL: 1 on the diagonal, else 0 */
    ex_segments segments;
} ex_layer_trajectory;

/* Surface(v) += mask(v) * sum over k of w_k * map_k(v) times the unit normal of the posed limit surface. Ask for levels
 * that are all on the limit surface (ex_subdivide_def.all). Refined vertices keep their numbers, so a level that is not
 * the last takes the first of them; the cage is not displaced. */
typedef struct ex_layer_displacement {
    const float *const *maps; /* [example_count] of [vertices of the last level], metres */
} ex_layer_displacement;

/* Layers with a convex weigher: forms and trajectories. The weigher's points and the width of its driver axis are set
 * from these; its scalar axis, where it has one, has its points in weigh.points [example_count]. Trajectories have
 * numbers for the driver's vertices behind the mesh's. */
typedef struct ex_layer_driven {
    const float *const *keys;          /* [example_count] of [driver vertex_count][3]: the driver there */
    const ex_transform *const *joints; /* [example_count] of [joint_count], each may be NULL: rest; or NULL: the
                                          skeleton there, where a moving frame goes with a joint */
    int view_count; /* regions: 1, and every vertex is weighed alike; or more, and a vertex by those of its regions */
    const ex_region *views;
    ex_influences regions; /* of the mesh's vertices, then the driver's; starts NULL: region i is moving frame i */
} ex_layer_driven;

/*
 * One layer. The structs of other domains than its own stay zero. The same axis name in two layers is one input: in
 * both a number or in both a rotation, with one rest value, and from one source.
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
    const float *mask; /* [vertex_count], of displacements [vertices of the last level], in [0, 1], multiplied into the
                          examples; of trajectories kept; or NULL; not of pixels */

    ex_layer_form form;
    ex_layer_pixels pixels;
    ex_layer_offsets offsets;
    ex_layer_trajectory trajectory;
    ex_layer_displacement displacement;
    ex_layer_driven driven;
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
#define EX_ATTACHMENT_KIND_SIZE 16
typedef struct ex_attachment {
    const char *kind; /* at most 15 characters */
    const void *data;
    size_t size;
} ex_attachment;

typedef struct ex_rig_def {
    ex_rig_mesh mesh;
    const ex_layer_def *layers;
    int layer_count;
    const ex_attachment *notes;
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

EX_API ex_rig_def ex_rig_def_default(void);

/* Solves every layer's space and lays the forms out, in one allocation. Everything is copied. Results: ARGUMENT, DATA,
 * SINGULAR, LIMIT, MEMORY; the error names layer, axis, example, vertex. */
EX_API ex_result ex_rig_create(const ex_rig_def *def, const ex_allocator *allocator, ex_rig **rig, ex_error *error);

#ifdef __cplusplus
}
#endif
#endif

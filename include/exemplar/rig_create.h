/*
 * exemplar/rig_create.h - make a rig from arrays: a mesh, layers, a skeleton, refined levels.
 *
 * For programs that have examples in memory. To build rigs from files, use authoring (exemplar/author/project.h).
 */
#ifndef EXEMPLAR_RIG_CREATE_H
#define EXEMPLAR_RIG_CREATE_H

#include <exemplar/rig.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The source of an axis's value: a dial or a joint. */
typedef struct ex_axis_source {
    int joint;          /* joint of the rig's skeleton; -1: a dial, which is a free input of the pose; ignored for a
                           driver axis, whose source is ex_pose.driver */
    ex_reading reading; /* with a joint: the value to read from it; its kind must suit the axis */
} ex_axis_source;

/* Domains: the kinds of example. Each line has a constant, its entry in tables of domains
 * (docs/guides/add-a-domain.md), the word that project files use, and a line of help. Rig files store the number: new
 * domains go last. */
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

/* Return the word that project files use for a domain, and its line of help. */
EX_API const char *ex_domain_name(ex_domain domain);
EX_API const char *ex_domain_help(ex_domain domain);

/* Frames in which offsets are added, with the names that project files use. */
#define EX_OFFSET_FRAME_LIST(X)                                                                                        \
    X(EX_OFFSET_FRAME_REST, "rest")       /* before posing */                                                          \
    X(EX_OFFSET_FRAME_SKINNED, "skinned") /* after posing, turned by the vertex's blended rotation: never singular */

typedef enum ex_offset_frame {
#define EX_OFFSET_FRAME_ENUM(name, text) name,
    EX_OFFSET_FRAME_LIST(EX_OFFSET_FRAME_ENUM)
#undef EX_OFFSET_FRAME_ENUM
        EX_OFFSET_FRAME_COUNT
} ex_offset_frame;

/* Returns the name of a frame of offsets. */
EX_API const char *ex_offset_frame_name(ex_offset_frame frame);

/* Fields of the layers of each domain: one struct per domain. */

/* Whole forms as examples, for layers of forms and of trajectories. In layers of forms, rest form(v) += mask(v) * sum
 * over k of w_k * delta_k(v). */
typedef struct ex_layer_form {
    const float *const *deltas; /* [example_count] of [vertex_count][3]: example minus mesh */
    const float *const *shifts; /* [example_count] of [joint_count][3], each may be NULL: offsets of the joints' rest
                                   positions in that example (ex_skeleton_input); or NULL */
} ex_layer_form;

/* Images of a texture as examples. The texture is the first image of its first layer, plus, for each of its layers, the
 * sum over k of w_k * (image_k - that first image), in linear light. */
typedef struct ex_layer_pixels {
    const char *texture;                /* "base_color", "normal", … as in glTF; of one material: "skin/base_color" */
    int width, height;                  /* the same for all images of all layers of a texture */
    const unsigned char *const *images; /* [example_count] of [height][width][4]: red green blue alpha */
} ex_layer_pixels;

/* Sparse offsets, such as sculpted correctives. Rest form(v), or posed form(v), += mask(v) * sum over k of w_k *
 * delta_k(v). */
typedef struct ex_layer_offsets {
    const ex_offsets *examples; /* [example_count] */
    ex_offset_frame frame;
    bool moved; /* true to weigh a vertex only among the examples that move it, as if the layer had no others;
                   requires a gaussian weigher, whose sets are set from the offsets */
} ex_layer_offsets;

/* Paths (trajectories) from the mesh to the examples. Rest form(v) += mask(v) * (path(v) - mesh(v)). */
typedef struct ex_layer_trajectory {
    const ex_trajectory *examples; /* [example_count]; ex_layer_form has their ends */
    int reference;         /* example that is the mesh itself, whose delta and trajectory are ignored; -1: none, as
                              with a direct weigher */
    double centre[3];      /* centre of the screws */
    const float *overlaps; /* [example_count][example_count], in [0, 1], 1 on the diagonal: degree to which example k
                              moves what l moves too; NULL: the identity matrix */
    ex_segments segments;
    ex_mixture mixture; /* zero: none. A layer with one has no turns, correctors and bases of examples */
} ex_layer_trajectory;

/* Displacement maps: examples move the refined surface along its normals. Surface(v) += mask(v) * sum over k of w_k *
 * map_k(v) times the unit normal of the posed limit surface. Requires levels that are all on the limit surface
 * (ex_subdivide_def.all). Refined vertices keep their numbers, so a level before the last uses the first numbers of
 * each map. The cage is not displaced. */
typedef struct ex_layer_displacement {
    const float *const *maps; /* [example_count] of [vertices of the last level], metres */
} ex_layer_displacement;

/* Layers weighed by a driver. With a motion weigher: forms, weighed by the predictor, and no other field. With a convex
 * weigher: forms and trajectories. The weigher's points and the width of its driver axis are set
 * from these fields. If the weigher has a scalar axis, its points are in weigh.points [example_count]. Trajectories
 * have entries for the mesh's vertices, then for the driver's. */
typedef struct ex_layer_driven {
    const float *const *keys;          /* [example_count] of [driver vertex_count][3]: the driver at each example */
    const ex_transform *const *joints; /* [example_count] of [joint_count], each may be NULL (rest); or NULL: the
                                          skeleton at each example, for moving frames that follow a joint */
    int view_count; /* number of regions; with 1, all vertices are weighed alike; with more, each vertex by its
                       regions */
    const ex_region *views;
    ex_influences regions; /* of the mesh's vertices, then of the driver's; starts NULL: region i is moving frame i */
    const ex_predictor *predictor; /* motion: of as many weights as there are examples, and of the driver's moving
                                      frames, the last of which is the whole */
} ex_layer_driven;

/*
 * Definition of one layer. Leave the structs of other domains zero. Axes of the same name in several layers are one
 * input: they must all be numbers or all be rotations, with the same rest value and the same source.
 */
typedef struct ex_layer_def {
    const char *name;
    ex_domain domain;
    ex_weigher_def weigh;             /* space, points and kind; names are set from example_names */
    const char *const *axis_names;    /* [weigh.axis_count] */
    const char *const *axis_units;    /* [weigh.axis_count] or NULL, each may be NULL: text for display */
    const ex_axis_source *sources;    /* [weigh.axis_count]; NULL: all are dials */
    const char *const *example_names; /* [weigh.example_count], all distinct */
    bool muted;                       /* true to leave the layer out unless ex_evaluation.muted says otherwise */
    const float *mask; /* [vertex_count], or for displacements [vertices of the last level], in [0, 1]; multiplied
                          into the examples, but kept apart for trajectories; or NULL; not for pixels */

    ex_layer_form form;
    ex_layer_pixels pixels;
    ex_layer_offsets offsets;
    ex_layer_trajectory trajectory;
    ex_layer_displacement displacement;
    ex_layer_driven driven;
} ex_layer_def;

/*
 * The driver of a rig, and the settings for following it. The driver's moving frames pose the rig, with dual
 * quaternions, unless the rig has its own skin. Layers with a convex weigher are weighed by the driver's form, those
 * with a motion weigher by its motion.
 */
typedef struct ex_rig_driver {
    const char *name;     /* of the input; the name of the layers' driver axes */
    ex_driver_def driver; /* reference and moving frames */
    const int *joints;    /* [frame_count] or NULL: the joint that a frame without vertices follows; -1: none */
    ex_influences carry;  /* frames that move each vertex of the mesh, then of the driver; starts NULL: frame 0 */
    int triangle_count;
    const uint32_t *triangles; /* [triangle_count][3] vertices of the driver */

    ex_residual residual; /* not for a rig with its own skin */
    bool push;            /* true to push the rig out of the driver */
    float thickness;
    int bind_count; /* as in ex_settler_def */
    const ex_bind *binds;
    const uint16_t *vertex_binds; /* [vertex_count]; or NULL */
} ex_rig_driver;

/* Bytes that a rig carries for other programs and does not interpret (groups, materials, …). */
#define EX_ATTACHMENT_KIND_SIZE 16
typedef struct ex_attachment {
    const char *kind; /* at most 15 characters */
    const void *data;
    size_t size;
} ex_attachment;

/* Definition of a rig, for ex_rig_create. */
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
    const ex_rig_mesh *levels;   /* [ex_stencils_level_count]: faces of levels 1, 2, …; positions and normals NULL */
    int level;                   /* level to show by default: 0, a level, or EX_LEVEL_LIMIT */

    ex_rig_options options;
} ex_rig_def;

/* Returns an empty definition with every option at its default. */
EX_API ex_rig_def ex_rig_def_default(void);

/* Makes a rig: solves the space of every layer and lays the forms out, in one allocation. Copies everything. Results:
 * ARGUMENT, DATA, SINGULAR, LIMIT, MEMORY; the error names layer, axis, example and vertex. */
EX_API ex_result ex_rig_create(const ex_rig_def *def, const ex_allocator *allocator, ex_rig **rig, ex_error *error);

#ifdef __cplusplus
}
#endif
#endif

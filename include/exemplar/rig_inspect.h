/*
 * exemplar/rig_inspect.h - look inside a rig: its layers, examples, inputs, skeleton, driver, levels, textures.
 *
 * For tools and editors. Returned pointers point into the rig and live as long as it does. Any thread may call these
 * functions.
 */
#ifndef EXEMPLAR_RIG_INSPECT_H
#define EXEMPLAR_RIG_INSPECT_H

#include <exemplar/rig_create.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Returns the number of vertices of the mesh, before refinement. */
EX_API int ex_rig_vertex_count(const ex_rig *rig);
/* Returns the number of examples of all layers together, the length of ex_output.weights. */
EX_API int ex_rig_example_count(const ex_rig *rig);
/* Returns the name of a layer. */
EX_API const char *ex_rig_layer_name(const ex_rig *rig, int layer);
/* Returns the index of the layer's first example among the examples of all layers. */
EX_API int ex_rig_first_example(const ex_rig *rig, int layer);
/* Returns the name of an example. */
EX_API const char *ex_rig_example_name(const ex_rig *rig, int layer, int example);

/* Returns the domain of a layer: its kind of example. */
EX_API ex_domain ex_rig_layer_domain(const ex_rig *rig, int layer);
/* Stage of evaluation at which a layer acts. */
typedef enum ex_stage {
    EX_STAGE_REST,    /* on the mesh, before posing */
    EX_STAGE_POSED,   /* after posing, turned with the skin */
    EX_STAGE_SURFACE, /* on the refined surface */
    EX_STAGE_TEXTURE, /* on textures; vertices do not move */
    EX_STAGE_COUNT
} ex_stage;
/* Returns the stage at which a layer acts. */
EX_API ex_stage ex_rig_layer_stage(const ex_rig *rig, int layer);
/* Returns true if a layer is the sum over examples of weight times difference; false for trajectories. */
EX_API bool ex_rig_layer_is_sum(const ex_rig *rig, int layer);
/* Returns true if each of the layer's examples is a complete form. */
EX_API bool ex_rig_layer_has_forms(const ex_rig *rig, int layer);
/* Returns true if the layer is left out unless ex_evaluation.muted says otherwise. */
EX_API bool ex_rig_layer_muted(const ex_rig *rig, int layer);
/* Offset layers: return the frame in which offsets are added, and true if each vertex is weighed only among the
 * examples that move it (ex_layer_offsets.moved). */
EX_API ex_offset_frame ex_rig_layer_frame(const ex_rig *rig, int layer);
EX_API bool ex_rig_layer_moved(const ex_rig *rig, int layer);
/* Returns the number of vertices that an example of an offset layer moves; 0 for other layers. */
EX_API int ex_rig_example_offset_count(const ex_rig *rig, int layer, int example);
/* Gets those vertices, ascending [count], and their offsets [count][3], mask included; each may be NULL. */
EX_API void ex_rig_example_offsets(const ex_rig *rig, int layer, int example, uint32_t *vertices, float *deltas);

/* Trajectory layers: get the reference (-1 for other layers too), segments, overlaps (NULL if none were given) and
 * centre. Pointers point into the rig. */
EX_API int ex_rig_layer_reference(const ex_rig *rig, int layer);
EX_API ex_segments ex_rig_layer_segments(const ex_rig *rig, int layer);
EX_API const float *ex_rig_layer_overlaps(const ex_rig *rig, int layer);
EX_API void ex_rig_layer_centre(const ex_rig *rig, int layer, double centre[3]);
/* Gets the layer's mask [vertex_count]. Returns false, and ones, if it has none. */
EX_API bool ex_rig_layer_mask(const ex_rig *rig, int layer, float *mask);
/* Returns an example's trajectory, with NULL in place of per-vertex data. ex_rig_example_turns gets the turns (false,
 * and zeros, if the example has none) and ex_rig_example_corrector a corrector, each [vertex_count][3]. */
EX_API ex_trajectory ex_rig_example_trajectory(const ex_rig *rig, int layer, int example);
EX_API bool ex_rig_example_turns(const ex_rig *rig, int layer, int example, float *turns);
EX_API void ex_rig_example_corrector(const ex_rig *rig, int layer, int example, int corrector, float *values);
/* Returns a layer's mixture, with pointers into the rig and NULL in place of its correctors; all zero for a layer
 * without one. ex_rig_layer_corrector gets one of its correctors [vertex_count][3]. */
EX_API ex_mixture ex_rig_layer_mixture(const ex_rig *rig, int layer);
EX_API void ex_rig_layer_corrector(const ex_rig *rig, int layer, int corrector, float *values);

/* Displacement layers: returns the number of vertices of the last level that any example displaces, and gets them,
 * ascending [count], unless vertices is NULL. 0 for other layers, and if the rig was loaded without levels. */
EX_API int ex_rig_layer_displaced(const ex_rig *rig, int layer, uint32_t *vertices);
/* Gets an example's displacements of these vertices [count], mask included. */
EX_API void ex_rig_example_displacements(const ex_rig *rig, int layer, int example, float *values);

/* Inputs: return how many there are, and the name of one. They are the axes of all layers, without repetition, in order
 * of first appearance. */
EX_API int ex_rig_input_count(const ex_rig *rig);
EX_API const char *ex_rig_input_name(const ex_rig *rig, int input);
/* Returns the unit, or "" if none was given. */
EX_API const char *ex_rig_input_unit(const ex_rig *rig, int input);
/* Returns the axis as defined by the first layer that has it. */
EX_API ex_axis ex_rig_input_axis(const ex_rig *rig, int input);
/* Returns the source of the input's value. */
EX_API ex_axis_source ex_rig_input_source(const ex_rig *rig, int input);
/* Returns the index of a dial's one or four numbers in ex_pose.inputs; -1 for an input that is read from a joint or a
 * driver. */
EX_API int ex_rig_input_offset(const ex_rig *rig, int input);
/* Returns the input that axis `axis` of the layer reads. */
EX_API int ex_rig_layer_input(const ex_rig *rig, int layer, int axis);

/* Return the skeleton, the skin (both belong to the rig; NULL if there is none) and the skinning method. */
EX_API const ex_skeleton *ex_rig_skeleton(const ex_rig *rig);
EX_API const ex_skin *ex_rig_skin(const ex_rig *rig);
EX_API ex_skinning ex_rig_skinning(const ex_rig *rig);
/* Gets the offsets of the joints in an example [joint_count][3]. Returns false, and zeros, if it brings no skeleton. */
EX_API bool ex_rig_example_shifts(const ex_rig *rig, int layer, int example, float *shifts);

/* Gets the driver, with pointers into the rig. Returns false, and all zero, if there is none. binds [EX_BIND_MAX] is
 * the caller's array; NULL if not needed. */
EX_API bool ex_rig_get_driver(const ex_rig *rig, ex_rig_driver *driver, ex_bind *binds);
/* Returns the number of a layer's regions; 0 for a layer that no driver weighs. Gets their views, in the caller's array
 * [EX_DRIVER_FRAME_MAX] or NULL, and the influences of its vertices, with pointers into the rig; regions may be
 * NULL. */
EX_API int ex_rig_layer_regions(const ex_rig *rig, int layer, ex_region *views, ex_influences *regions);
/* Returns the predictor of a layer that follows a driver's motion, inside the rig; NULL for other layers. */
EX_API const ex_predictor *ex_rig_layer_predictor(const ex_rig *rig, int layer);
/* Returns the driver [driver vertex_count][3] at an example of such a layer, inside the rig; NULL for other layers, and
 * for layers that follow motion. */
EX_API const float *ex_rig_example_driver(const ex_rig *rig, int layer, int example);
/* Gets the skeleton at that example [joint_count]. Returns false if it is at rest. */
EX_API bool ex_rig_example_joints(const ex_rig *rig, int layer, int example, ex_transform *joints);

/* Return the refinement tables and the number of levels; NULL and 0 if there is no refinement. */
EX_API const ex_stencils *ex_rig_stencils(const ex_rig *rig);
EX_API int ex_rig_level_count(const ex_rig *rig);

/* The refinement that a rig's definition or file has, also if ex_rig_options.without_levels left it out. */
#define EX_RIG_LEVEL_MAX 32
typedef struct ex_rig_refinement {
    int level_count;
    int level;         /* level to show: 0, a level, or EX_LEVEL_LIMIT */
    bool has_limit;    /* true if there is a limit surface; it has as many vertices as the last level */
    bool all_on_limit; /* true if all levels lie on it */
    int vertex_counts[EX_RIG_LEVEL_MAX]; /* of level 1, 2, … */
} ex_rig_refinement;
/* Gets it: for tools that show what a file has, without the memory that its levels take. */
EX_API ex_rig_refinement ex_rig_get_refinement(const ex_rig *rig);

/* A texture that follows the pose: one for each texture name among the pixel layers, in order of first appearance. */
typedef struct ex_texture {
    const char *name;
    int width, height;
    bool srgb; /* true for colours, blended in linear light; false for data such as normals, blended as they are */
} ex_texture;
/* Return the number of textures, and one of them. */
EX_API int ex_rig_texture_count(const ex_rig *rig);
EX_API ex_texture ex_rig_texture(const ex_rig *rig, int texture);
/* Returns the texture of a pixel layer; -1 for other layers. */
EX_API int ex_rig_layer_texture(const ex_rig *rig, int layer);
/* Returns an example's image [height][width][4]; NULL for layers without pixels. */
EX_API const unsigned char *ex_rig_example_image(const ex_rig *rig, int layer, int example);

/* Returns the mesh, with pointers into the rig. positions is NULL: use ex_rig_rest_mesh. */
EX_API ex_rig_mesh ex_rig_get_mesh(const ex_rig *rig);
/* Gets the positions [vertex_count][3] of the mesh itself, before any layer. */
EX_API void ex_rig_rest_mesh(const ex_rig *rig, float *positions);
/* Gets an example's stored difference from the mesh [vertex_count][3], also for offsets. Includes the mask, except for
 * trajectories. Exact for float storage. */
EX_API void ex_rig_example_delta(const ex_rig *rig, int layer, int example, float *delta);
/* Returns the number format in which the rig holds its forms. */
EX_API ex_storage ex_rig_storage(const ex_rig *rig);
/* Return the number of attachments (ex_rig_def.notes), and one of them. */
EX_API int ex_rig_attachment_count(const ex_rig *rig);
EX_API ex_attachment ex_rig_attachment(const ex_rig *rig, int note);

#ifdef __cplusplus
}
#endif
#endif

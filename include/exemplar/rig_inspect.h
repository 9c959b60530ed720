/*
 * exemplar/rig_inspect.h - look inside a rig: its layers, examples, inputs, skeleton, driver, levels, textures.
 *
 * For tools and editors. Pointers that are returned point into the rig and live as long as it. Any thread.
 */
#ifndef EXEMPLAR_RIG_INSPECT_H
#define EXEMPLAR_RIG_INSPECT_H

#include <exemplar/rig_create.h>

#ifdef __cplusplus
extern "C" {
#endif

EX_API int ex_rig_vertex_count(const ex_rig *rig);
/* Examples of all layers together: the length of ex_output.weights. */
EX_API int ex_rig_example_count(const ex_rig *rig);
EX_API const char *ex_rig_layer_name(const ex_rig *rig, int layer);
/* Where the layer's examples start among the examples of all layers. */
EX_API int ex_rig_first_example(const ex_rig *rig, int layer);
EX_API const char *ex_rig_example_name(const ex_rig *rig, int layer, int example);

EX_API ex_domain ex_rig_layer_domain(const ex_rig *rig, int layer);
/* Where on the way from the mesh to the picture a layer acts. */
typedef enum ex_stage {
    EX_STAGE_REST,    /* on the mesh, before it is posed */
    EX_STAGE_POSED,   /* after it, turned with the skin */
    EX_STAGE_SURFACE, /* on the refined surface */
    EX_STAGE_TEXTURE, /* on textures: vertices stay where they are */
    EX_STAGE_COUNT
} ex_stage;
EX_API ex_stage ex_rig_layer_stage(const ex_rig *rig, int layer);
/* Whether a layer is the sum over examples of weight times difference; not where they run along paths. */
EX_API bool ex_rig_layer_is_sum(const ex_rig *rig, int layer);
/* Whether its examples are whole forms. */
EX_API bool ex_rig_layer_has_forms(const ex_rig *rig, int layer);
/* Whether it is left out unless ex_evaluation.muted says otherwise. */
EX_API bool ex_rig_layer_muted(const ex_rig *rig, int layer);
/* Layers of offsets: where they are added, and whether vertices are weighed among the examples that move them. */
EX_API ex_offset_frame ex_rig_layer_frame(const ex_rig *rig, int layer);
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
/* The input that axis `axis` of the layer reads. */
EX_API int ex_rig_layer_input(const ex_rig *rig, int layer, int axis);

/* The skeleton and the skin belong to the rig; NULL where there is none. */
EX_API const ex_skeleton *ex_rig_skeleton(const ex_rig *rig);
EX_API const ex_skin *ex_rig_skin(const ex_rig *rig);
EX_API ex_skinning ex_rig_skinning(const ex_rig *rig);
/* By how much the joints are elsewhere in an example [joint_count][3]; false, and zeros, where it brings no skeleton.
 */
EX_API bool ex_rig_example_shifts(const ex_rig *rig, int layer, int example, float *shifts);

/* The driver, as pointers into the rig; false, and all zero, where there is none. binds [EX_BIND_MAX] is the caller's
 * array, or NULL where they are not wanted. */
EX_API bool ex_rig_get_driver(const ex_rig *rig, ex_rig_driver *driver, ex_bind *binds);
/* A layer's regions: how many, their views, in the caller's array [EX_DRIVER_FRAME_MAX], or NULL, and its vertices'
 * influences, as pointers into the rig; 0 for a layer that no driver weighs. regions may be NULL. */
EX_API int ex_rig_layer_regions(const ex_rig *rig, int layer, ex_region *views, ex_influences *regions);
/* The driver [driver vertex_count][3] at an example of such a layer, in the rig; NULL for others. */
EX_API const float *ex_rig_example_driver(const ex_rig *rig, int layer, int example);
/* The skeleton there [joint_count]; false where it is at rest. */
EX_API bool ex_rig_example_joints(const ex_rig *rig, int layer, int example, ex_transform *joints);

/* Refinement: NULL and 0 where there is none. */
EX_API const ex_stencils *ex_rig_stencils(const ex_rig *rig);
EX_API int ex_rig_level_count(const ex_rig *rig);

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
EX_API int ex_rig_attachment_count(const ex_rig *rig);
EX_API ex_attachment ex_rig_attachment(const ex_rig *rig, int note);

#ifdef __cplusplus
}
#endif
#endif

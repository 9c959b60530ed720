/*
 * What creating a rig consists of: checks, a plan that gathers and solves, filling the block. Private to the room.
 */
#ifndef EXI_RIG_CREATE_H
#define EXI_RIG_CREATE_H

#include "runtime/rig/rig.h"

/* The most pixels along a side of a texture. */
#define EXI_TEXTURE_MAX 32768

/* create_check.c: refuses a definition that contradicts itself, with the layer, axis, example or vertex. */
ex_result exi_rig_check_def(const ex_rig_def *def, ex_error *error);

/* What is gathered before the block's size is known. */
typedef struct exi_rig_plan {
    const ex_rig_def *def;
    const ex_allocator *allocator;
    exi_rig_contents contents; /* points into what follows */
    int axis_total;
    int level_total;          /* levels that are kept, without the mesh itself */
    ex_weigher **weighers;    /* [layers] */
    size_t *weigher_sizes;    /* [layers] */
    size_t *note_sizes;       /* [notes] */
    size_t *image_sizes;      /* [examples] */
    int *axis_inputs;         /* [axes]: which input an axis reads */
    int *input_axes;          /* [axes]: the axis that introduced an input, over all layers */
    int *texture_layers;      /* [layers]: the layer that introduced a texture */
    int *layer_textures;      /* [layers]: which texture, or -1 */
    exi_level_record *levels; /* [level_total + 1] */
    ex_normals **normals;     /* likewise, each may be NULL */
    ex_tangents **tangents;
    ex_skeleton *skeleton; /* remade with binds as a file has them; or NULL */
    exi_rig_offsets offsets;
    exi_rig_paths paths;
    exi_rig_displacements displacements;
    void *memory;
    size_t size;
} exi_rig_plan;

/* create_fill.c: copies everything that exi_rig_allocate left to do. */
ex_result exi_rig_fill(const exi_rig_plan *plan, ex_rig *rig, ex_error *error);

/* Layer and place within it of the axis with this number over all layers. */
const ex_layer_def *exi_layer_of_axis(const ex_rig_def *def, int axis, int *place);
/* "" where it has none. */
const char *exi_unit_of_axis(const ex_layer_def *layer, int axis);
/* The mesh (0) or a level of a definition. */
const ex_rig_mesh *exi_def_level(const ex_rig_def *def, int level);

#endif

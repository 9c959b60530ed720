/*
 * Steps of creating a rig: check the definition, gather and solve into a plan, fill the block. Private to the room.
 */
#ifndef EXI_RIG_CREATE_H
#define EXI_RIG_CREATE_H

#include "runtime/rig/make.h"

/* create_check.c: refuses an inconsistent definition; the error names the layer, axis, example or vertex. */
ex_result exi_rig_check_def(const ex_rig_def *def, ex_error *error);

/* Data gathered before the block's size is known. */
typedef struct exi_rig_plan {
    exi_making m;
    int axis_total;
    int *axis_inputs; /* [axes]: input that each axis reads */
    int *input_axes;  /* [axes]: axis that introduced each input, numbered over all layers */
} exi_rig_plan;

/* create_fill.c: copies everything that exi_making_allocate does not. */
ex_result exi_rig_fill(exi_rig_plan *plan, ex_rig *rig, ex_error *error);

/* Returns the layer of an axis numbered over all layers, and its place within that layer. */
const ex_layer_def *exi_layer_of_axis(const ex_rig_def *def, int axis, int *place);
/* Returns "" if it has none. */
const char *exi_unit_of_axis(const ex_layer_def *layer, int axis);
/* Returns the mesh (level 0) or a level of a definition. */
const ex_rig_mesh *exi_def_level(const ex_rig_def *def, int level);

#endif

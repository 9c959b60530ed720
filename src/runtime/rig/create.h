/*
 * What creating a rig consists of: checks, a plan that gathers and solves, filling the block. Private to the room.
 */
#ifndef EXI_RIG_CREATE_H
#define EXI_RIG_CREATE_H

#include "runtime/rig/make.h"

/* create_check.c: refuses a definition that contradicts itself, with the layer, axis, example or vertex. */
ex_result exi_rig_check_def(const ex_rig_def *def, ex_error *error);

/* What is gathered before the block's size is known. */
typedef struct exi_rig_plan {
    exi_making m;
    int axis_total;
    int *axis_inputs; /* [axes]: which input an axis reads */
    int *input_axes;  /* [axes]: the axis that introduced an input, over all layers */
} exi_rig_plan;

/* create_fill.c: copies everything that exi_making_allocate left to do. */
ex_result exi_rig_fill(exi_rig_plan *plan, ex_rig *rig, ex_error *error);

/* Layer and place within it of the axis with this number over all layers. */
const ex_layer_def *exi_layer_of_axis(const ex_rig_def *def, int axis, int *place);
/* "" where it has none. */
const char *exi_unit_of_axis(const ex_layer_def *layer, int axis);
/* The mesh (0) or a level of a definition. */
const ex_rig_mesh *exi_def_level(const ex_rig_def *def, int level);

#endif

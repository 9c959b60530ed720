/*
 * mirror.h - an example on its way through the mirror; private to authoring.
 */
#ifndef EXEMPLAR_AUTHOR_PROJECT_SCULPT_MIRROR_H
#define EXEMPLAR_AUTHOR_PROJECT_SCULPT_MIRROR_H

#include "author/project/sculpt/mirror_pose.h"

typedef struct exi_mirroring {
    const ex_mirroring *def;
    exi_amendment amendment;
    exi_mirror mirror;
    ex_skeleton *skeleton;
    ex_mesh *mesh;                  /* as its file has it; then the mirrored form */
    int from;                       /* the layer of the example */
    int from_place;                 /* and where in its list it is */
    const ex_project_layer *source; /* that layer, as the project has it */
    const json_t *entry;            /* the example, in the tree as it was */
    exi_mirrored_axis *axes;        /* [source->axis_count] */
    int to;                         /* the layer that gets the mirrored one */
    bool new_layer;
    int place;
} exi_mirroring;

/* What the axis of that name of the example's layer is in the mirror; NULL for another layer's. */
const exi_mirrored_axis *exi_mirroring_axis(const exi_mirroring *m, const char *name);
/* Whether what a falloff or metric says as a list over the axes, in their order, holds in the layer that gets the
 * example; one that is started has them in the same order. A metric also ties their directions and units together. */
ex_result exi_mirroring_check_list(const exi_mirroring *m, const char *key, const json_t *value, ex_error *error);
/* {"axis": number} by the mirrored names and in their units; other kinds of falloff as they are. NULL without memory.
 */
json_t *exi_mirroring_falloff(const exi_mirroring *m, const json_t *falloff);
/* Finds the layer over the mirrored axes, or appends one to the changed tree. */
ex_result exi_mirroring_layer(exi_mirroring *m, ex_error *error);

#endif

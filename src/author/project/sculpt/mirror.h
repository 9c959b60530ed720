/*
 * mirror.h - state of mirroring an example; private to authoring.
 */
#ifndef EXEMPLAR_AUTHOR_PROJECT_SCULPT_MIRROR_H
#define EXEMPLAR_AUTHOR_PROJECT_SCULPT_MIRROR_H

#include "author/project/sculpt/mirror_pose.h"

typedef struct exi_mirroring {
    const ex_mirroring *def;
    exi_amendment amendment;
    exi_mirror mirror;
    ex_skeleton *skeleton;
    ex_mesh *mesh;                  /* as read from its file; then the mirrored form */
    int from;                       /* index of the example's layer */
    int from_place;                 /* index of the example in its list */
    const ex_project_layer *source; /* that layer, in the project */
    const json_t *entry;            /* the example, in the original tree */
    exi_mirrored_axis *axes;        /* [source->axis_count] */
    int to;                         /* index of the layer that gets the mirrored example */
    bool new_layer;
    int place;
} exi_mirroring;

/* Returns the mirrored axis of the axis of that name of the example's layer; NULL for another layer's. */
const exi_mirrored_axis *exi_mirroring_axis(const exi_mirroring *m, const char *name);
/* Checks that a falloff or metric given as a list over the axes holds in the layer that gets the example: the axes must
 * be in the same order. A new layer has them so. A metric also depends on their directions and units. */
ex_result exi_mirroring_check_list(const exi_mirroring *m, const char *key, const json_t *value, ex_error *error);
/* Returns {"axis": number} with the mirrored names and in their units; other kinds of falloff unchanged. NULL without
 * memory. */
json_t *exi_mirroring_falloff(const exi_mirroring *m, const json_t *falloff);
/* Finds the layer over the mirrored axes, or appends one to the changed tree. */
ex_result exi_mirroring_layer(exi_mirroring *m, ex_error *error);

#endif

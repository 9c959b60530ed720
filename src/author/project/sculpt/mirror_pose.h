/*
 * mirror_pose.h - mirrors a pose; private to authoring.
 *
 * Let S be the reflection, and W_j, W_j' the world rotations of a joint and of its counterpart at rest. A rotation q of
 * the joint relative to its rest is D = W_j q W_j^-1 in the world and S D S in the mirror. The counterpart's rotation
 * is
 *
 *     q' = W_j'^-1 (S W_j q W_j^-1 S) W_j'
 *
 * If all joints are turned like this, the whole skeleton is mirrored, provided that it is symmetric at rest.
 */
#ifndef EXEMPLAR_AUTHOR_PROJECT_SCULPT_MIRROR_POSE_H
#define EXEMPLAR_AUTHOR_PROJECT_SCULPT_MIRROR_POSE_H

#include "author/project/sculpt/sculpt.h"

typedef struct exi_mirror {
    const ex_project_view *view;
    const ex_skeleton *skeleton; /* may be NULL */
    int plane;                   /* in metres with y up */
} exi_mirror;

/* An axis and its mirror image. */
typedef struct exi_mirrored_axis {
    const ex_project_axis *from;
    char name[256];
    const ex_project_axis *to; /* the axis of that name; NULL if the project does not have it yet */
    json_t *made;              /* then the new axis, to be added to a space */
    double factor;             /* numbers: factor on a value */
} exi_mirrored_axis;

/* Returns a copy of the name of a joint's counterpart, found by name, or of its own name if that has no side. NULL
 * after an error. */
char *exi_mirror_joint(const exi_mirror *m, const char *joint, ex_error *error);

/* source: the axis in the tree, which a new one copies; NULL: make none. others [other_count]: axes made before it for
 * the same space, whose names are taken. */
ex_result exi_mirror_axis(const exi_mirror *m, const ex_project_axis *axis, const json_t *source,
                          const exi_mirrored_axis *others, int other_count, exi_mirrored_axis *out, ex_error *error);
/* Mirrors a value of the axis in the tree. */
ex_result exi_mirror_value(const exi_mirror *m, const exi_mirrored_axis *axis, const json_t *value, json_t **out,
                           ex_error *error);
/* Mirrors "joints" of an example. */
ex_result exi_mirror_joints(const exi_mirror *m, const json_t *joints, json_t **out, ex_error *error);

#endif

/*
 * mirror_pose.h - a pose seen in a mirror; private to authoring.
 *
 * With S the reflection and W_j, W_j' the rotations of a joint and of its counterpart in the world at rest, a turn q of
 * the joint relative to its rest is D = W_j q W_j^-1 in the world, S D S in the mirror, and so
 *
 *     q' = W_j'^-1 (S W_j q W_j^-1 S) W_j'
 *
 * of the counterpart. Where all joints are turned so, the whole skeleton is mirrored, if it is so at rest.
 */
#ifndef EXEMPLAR_AUTHOR_PROJECT_SCULPT_MIRROR_POSE_H
#define EXEMPLAR_AUTHOR_PROJECT_SCULPT_MIRROR_POSE_H

#include "author/project/sculpt/sculpt.h"

typedef struct exi_mirror {
    const ex_project_view *view;
    const ex_skeleton *skeleton; /* or NULL */
    int plane;                   /* in metres with y up */
} exi_mirror;

/* What an axis is in the mirror. */
typedef struct exi_mirrored_axis {
    const ex_project_axis *from;
    char name[256];
    const ex_project_axis *to; /* of that name, or NULL: it is not there yet */
    json_t *made;              /* then it, to be put into a space */
    double factor;             /* numbers: what a value is multiplied by */
} exi_mirrored_axis;

/* The counterpart of a joint, a copy of its name: by its own name, or itself where that has no side. NULL after a
 * sentence. */
char *exi_mirror_joint(const exi_mirror *m, const char *joint, ex_error *error);

/* source: the axis in the tree, that a new one is a copy of; NULL: none is made. others [other_count]: those made
 * before it for the same space, whose names are taken. */
ex_result exi_mirror_axis(const exi_mirror *m, const ex_project_axis *axis, const json_t *source,
                          const exi_mirrored_axis *others, int other_count, exi_mirrored_axis *out, ex_error *error);
/* A value of the axis in the tree, mirrored. */
ex_result exi_mirror_value(const exi_mirror *m, const exi_mirrored_axis *axis, const json_t *value, json_t **out,
                           ex_error *error);
/* "joints" of an example, mirrored. */
ex_result exi_mirror_joints(const exi_mirror *m, const json_t *joints, json_t **out, ex_error *error);

#endif

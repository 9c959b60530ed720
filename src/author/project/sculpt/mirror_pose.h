/*
 * mirror_pose.h - mirrors a pose; private to authoring.
 *
 * Let S be the reflection, and W_j, W_j' the world axes of a joint and of its counterpart at rest: orthogonal matrices,
 * which mirror if a joint above has a negative scale. A rotation q of the joint relative to its rest is D = W_j q
 * W_j^-1 in the world and S D S in the mirror. The counterpart's rotation is
 *
 *     q' = W_j'^-1 (S W_j q W_j^-1 S) W_j'
 *
 * If all joints are turned like this, the world rotations of the whole skeleton are mirrored, however the joints' own
 * axes lie. So are its positions, if they are symmetric at rest.
 *
 * Some characters are symmetric as they were bound, but rest in a pose that is not. Let F_j be the linear part of the
 * joint's matrix from the mesh to the world at rest, and T the reflection in the space of the mesh. Then F_j' T F_j^-1
 * takes the place of S: it is S if the rest is symmetric.
 */
#ifndef EXEMPLAR_AUTHOR_PROJECT_SCULPT_MIRROR_POSE_H
#define EXEMPLAR_AUTHOR_PROJECT_SCULPT_MIRROR_POSE_H

#include "author/project/sculpt/mirror_match.h"
#include "author/project/sculpt/sculpt.h"

typedef struct exi_mirror {
    const ex_project_view *view;
    const ex_skeleton *skeleton; /* may be NULL */
    exi_plane plane;             /* in metres with y up */
    double *centres;             /* [joint_count][3]: joints at rest in the world; NULL without a skeleton */
    int *joints;                 /* [joint_count]: the counterpart of each; -1: none */
    double (*frames)[9];         /* [joint_count] what takes the place of S for a joint whose rest is not symmetric; or
                                    NULL */
    int left;                    /* sign of n p - offset on the left, by the names of joints; 0 if they do not say */
} exi_mirror;

/* An axis and its mirror image. */
typedef struct exi_mirrored_axis {
    const ex_project_axis *from;
    char name[256];
    const ex_project_axis *to; /* the axis of that name; NULL if the project does not have it yet */
    json_t *made;              /* then the new axis, to be added to a space */
    double factor;             /* numbers: factor on a value */
} exi_mirrored_axis;

/* ---- joints (mirror_joints.c) ---- */

/* Reads the joints at rest into m->centres; and, once they are paired, m->frames for a mesh that is symmetric about
 * `bound` in its own space. */
ex_result exi_mirror_read_joints(exi_mirror *m, ex_error *error);
ex_result exi_mirror_read_frames(exi_mirror *m, const exi_plane *bound, ex_error *error);
/* Returns the positions [*count][2][3], left first, of joints whose names make a pair. NULL without memory; release
 * with free. */
double (*exi_mirror_named_pairs(const exi_mirror *m, int *count))[2][3];
/* Finds m->joints and m->left from names and positions, once the plane is known. A counterpart by name must not be far
 * from the mirror image if another joint is there: exporters number joints. */
ex_result exi_mirror_pair_joints(exi_mirror *m, ex_error *error);
/* Returns a copy of the name of a joint's counterpart, or of its own name if it is in the middle. NULL after an
 * error. */
char *exi_mirror_joint(const exi_mirror *m, const char *joint, ex_error *error);
/* Returns the side of a joint, by its name or else by its position. */
ex_side exi_mirror_joint_side(const exi_mirror *m, const char *joint);
/* Returns the side that a name tells (mirror_map.c); none if it tells both. */
ex_side exi_side_of_name(const char *name);

/* ---- axes and places ---- */

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

/*
 * motion.h - what the parts of motion share; private to authoring.
 *
 *   clip.c        clips: worlds of their joints, and other times
 *   clip_scene.c  a clip from an animation of a scene
 *   map.c         map files
 *   match.c       which joint of a clip moves which joint of a rig
 *   retarget.c    what a matched skeleton does at a frame
 *   path.c        where its root goes
 *   bones.c       how the bones of the two lie at rest
 *   times.c       the times at which a motion is wanted
 *   motion.c      motions: from clips, tables and files
 */
#ifndef EXEMPLAR_AUTHOR_MOTION_MOTION_H
#define EXEMPLAR_AUTHOR_MOTION_MOTION_H

#include <exemplar/author/motion.h>

/* Where a joint is, and how it is turned: the matrix has the scales above it, the rotation has none of them. */
typedef struct exi_world {
    double matrix[12], rotation[4];
} exi_world;

/* below = above local; above NULL: local is a root's. */
void exi_world_below(const exi_world *above, const ex_transform *local, exi_world *below);

/* ---- clip.c ---- */

/* Worlds [joint_count] at a frame; -1: at rest. */
void exi_clip_worlds(const ex_clip *clip, int frame, exi_world *worlds);

/* The same joints at other times [count], rising: held before the first frame and after the last. */
ex_result exi_clip_resample(const ex_clip *clip, const double *times, int count, ex_clip **made, ex_error *error);

/* ---- clip_scene.c ---- */

/* A clip at these times [count]. */
ex_result exi_scene_to_clip_at(const ex_scene *scene, int animation, const double *times, int count, ex_clip **clip,
                               ex_error *error);

/* All keys of the animation that move nodes of a clip, rising; at least one. Release with free. */
ex_result exi_scene_key_times(const ex_scene *scene, int animation, double **times, int *count, ex_error *error);

/* ---- match.c ---- */

typedef struct exi_match {
    int joint_count, input_count;
    int *joints; /* [joint_count] of the rig: the clip's joint that moves each, or -1 */
    double (*hinges)[3];
    bool *as_they_rest; /* [joint_count] whose bones are not turned onto the clip's */
    int *dials;         /* [input_count] of the rig: the clip's dial, or -1 */
    int matched_count;  /* of joints and dials */
} exi_match;

ex_result exi_match_make(const ex_clip *clip, const ex_rig *rig, const ex_joint_map *map, exi_match *match,
                         ex_error *error);
void exi_match_free(exi_match *match);

/* ---- bones.c ---- */

/* A rig's skeleton at rest, and what of it is matched. */
typedef struct exi_bones {
    const ex_clip *clip;
    const ex_skeleton *skeleton;
    const exi_match *match;
    int joint_count;
    int *order;           /* [joint_count] joints, each after its parent */
    int *above;           /* [joint_count] the nearest matched joint above, or -1 */
    exi_world *rest;      /* [joint_count] of the rig */
    exi_world *clip_rest; /* [joint_count of the clip] */
    double (*align)[4];   /* [joint_count] of matched joints: A, from the rig's bones onto the clip's */
} exi_bones;

ex_result exi_bones_open(exi_bones *bones, const ex_clip *clip, const ex_rig *rig, const exi_match *match,
                         ex_error *error);
void exi_bones_close(exi_bones *bones);

/* Fills `align`. False without memory. */
bool exi_bones_align(exi_bones *bones);

/* ---- retarget.c ---- */

typedef struct exi_retarget {
    exi_bones bones;
    bool own;               /* the clip's joints are the rig's: transforms are taken as they are */
    int *back;              /* [joint_count of the clip] the rig's joint that each moves, or -1 */
    bool *moves;            /* [joint_count] which joints follow the path of their counterpart */
    double floor, scale;    /* of the path: a root at height y above the clip's ground is at floor + scale y */
    exi_world *clip_worlds; /* [joint_count of the clip] at the frame */
    exi_world *worlds;      /* [joint_count] at the frame */
} exi_retarget;

ex_result exi_retarget_open(exi_retarget *retarget, const ex_clip *clip, const ex_rig *rig, const exi_match *match,
                            ex_error *error);
void exi_retarget_close(exi_retarget *retarget);
/* Joints [joint_count], at rest where nothing moves them. Frame -1: the clip at rest, where `own` is false. */
void exi_retarget_frame(exi_retarget *retarget, int frame, ex_transform *joints);

/* ---- path.c ---- */

/* A joint that moves less than this part of its skeleton's size, relative to the one above, stands still. */
#define EXI_STANDS_STILL 1e-4

/* How far the farthest joint is from the first. */
double exi_reach(const exi_world *worlds, int count);

/* Fills `moves`, `floor` and `scale`; all else is there. False without memory. */
bool exi_path_find(exi_retarget *retarget);

/* ---- times.c ---- */

/* The times that the options ask for of a motion that has its own [own_count]; fps 0: those of its own that lie within
 * the range. Release with free. `path` stands for the motion in errors. */
ex_result exi_motion_times(const char *path, const ex_motion_options *options, const double *own, int own_count,
                           double **times, int *count, ex_error *error);

/* The frame at or before a time, at most the last but one, and how far it is to the next, in [0, 1]. */
int exi_find_time(const double *times, int count, double time, double *part);

#endif

/*
 * motion.h - declarations shared by the parts of motion; private to authoring.
 *
 *   clip.c        clips: world transforms of their joints, resampling to other times
 *   clip_scene.c  a clip from an animation of a scene
 *   map.c         map files
 *   match.c       matches joints of a clip with joints of a rig
 *   retarget.c    poses a matched skeleton at a frame
 *   path.c        path of its root
 *   bones.c       bone directions of both skeletons at rest
 *   times.c       times at which a motion is sampled
 *   motion.c      motions: from clips, tables and files
 */
#ifndef EXEMPLAR_AUTHOR_MOTION_MOTION_H
#define EXEMPLAR_AUTHOR_MOTION_MOTION_H

#include <exemplar/author/motion.h>

/* Position and orientation of a joint in the world. The matrix includes the scales of the joints above; the rotation
 * does not. */
typedef struct exi_world {
    double matrix[12], rotation[4];
} exi_world;

/* Computes below = above * local. If above is NULL, local is a root's. */
void exi_world_below(const exi_world *above, const ex_transform *local, exi_world *below);

/* ---- clip.c ---- */

/* Fills worlds [joint_count] at a frame; frame -1: at rest. */
void exi_clip_worlds(const ex_clip *clip, int frame, exi_world *worlds);

/* Resamples the joints at the ascending times [count]. Poses are held before the first frame and after the last. */
ex_result exi_clip_resample(const ex_clip *clip, const double *times, int count, ex_clip **made, ex_error *error);

/* ---- clip_scene.c ---- */

/* Makes a clip sampled at these times [count]. */
ex_result exi_scene_to_clip_at(const ex_scene *scene, int animation, const double *times, int count, ex_clip **clip,
                               ex_error *error);

/* Returns the times of all keys of the animation that move nodes of a clip, ascending, at least one. Release with
 * free. */
ex_result exi_scene_key_times(const ex_scene *scene, int animation, double **times, int *count, ex_error *error);

/* ---- match.c ---- */

typedef struct exi_match {
    int joint_count, input_count;
    int *joints; /* [joint_count] of the rig: index of the clip's joint that moves it, or -1 */
    double (*hinges)[3];
    bool *as_they_rest; /* [joint_count] true if the joint's bones are not turned onto the clip's */
    int *dials;         /* [input_count] of the rig: index of the clip's dial, or -1 */
    int matched_count;  /* number of matched joints and dials */
} exi_match;

ex_result exi_match_make(const ex_clip *clip, const ex_rig *rig, const ex_joint_map *map, exi_match *match,
                         ex_error *error);
void exi_match_free(exi_match *match);

/* ---- bones.c ---- */

/* A rig's skeleton at rest, and its matched joints. */
typedef struct exi_bones {
    const ex_clip *clip;
    const ex_skeleton *skeleton;
    const exi_match *match;
    int joint_count;
    int *order;           /* [joint_count] joints in an order that puts each after its parent */
    int *above;           /* [joint_count] nearest matched joint above, or -1 */
    exi_world *rest;      /* [joint_count] world transforms of the rig */
    exi_world *clip_rest; /* [joint_count of the clip] world transforms of the clip */
    double (*align)[4];   /* [joint_count] A, from the rig's bones onto the clip's; set for matched joints */
} exi_bones;

ex_result exi_bones_open(exi_bones *bones, const ex_clip *clip, const ex_rig *rig, const exi_match *match,
                         ex_error *error);
void exi_bones_close(exi_bones *bones);

/* Fills `align`. False without memory. */
bool exi_bones_align(exi_bones *bones);

/* ---- retarget.c ---- */

typedef struct exi_retarget {
    exi_bones bones;
    bool own;               /* true if the clip's joints are the rig's; transforms are then copied unchanged */
    int *back;              /* [joint_count of the clip] index of the rig's joint that it moves, or -1 */
    bool *moves;            /* [joint_count] true if the joint follows the path of its counterpart */
    double floor, scale;    /* path: a root at height y above the clip's ground is placed at floor + scale * y */
    exi_world *clip_worlds; /* [joint_count of the clip] at the frame */
    exi_world *worlds;      /* [joint_count] at the frame */
} exi_retarget;

ex_result exi_retarget_open(exi_retarget *retarget, const ex_clip *clip, const ex_rig *rig, const exi_match *match,
                            ex_error *error);
void exi_retarget_close(exi_retarget *retarget);
/* Fills joints [joint_count]; unmatched joints stay at rest. Frame -1: the clip at rest, only valid if `own` is
 * false. */
void exi_retarget_frame(exi_retarget *retarget, int frame, ex_transform *joints);

/* ---- path.c ---- */

/* A joint counts as still if it moves less than this fraction of its skeleton's size relative to its parent. */
#define EXI_STANDS_STILL 1e-4

/* Returns the distance from the first joint to the farthest. */
double exi_reach(const exi_world *worlds, int count);

/* Fills `moves`, `floor` and `scale`; all other fields must be set. False without memory. */
bool exi_path_find(exi_retarget *retarget);

/* ---- times.c ---- */

/* Returns the times that the options request of a motion with times `own` [own_count]. fps 0: the motion's times that
 * lie within the range. Release with free. `path` names the motion in errors. */
ex_result exi_motion_times(const char *path, const ex_motion_options *options, const double *own, int own_count,
                           double **times, int *count, ex_error *error);

/* Returns the frame at or before a time, at most the last but one. *part: position between it and the next, in [0,
 * 1]. */
int exi_find_time(const double *times, int count, double time, double *part);

#endif

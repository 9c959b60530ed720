/*
 * exemplar/author/clip.h - clips, motions and BVH files.
 *
 * A clip is what a motion file holds: joints with their rest, and transforms at times. It knows nothing of a rig. A
 * motion is a list of poses of one rig at times; exemplar/author/motion.h makes it from a clip or from a table of
 * poses. Both are plain data that belong to their holder.
 */
#ifndef EXEMPLAR_AUTHOR_CLIP_H
#define EXEMPLAR_AUTHOR_CLIP_H

#include <exemplar/rig_inspect.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- clips ---- */

typedef struct ex_clip_joint {
    char *name;
    int parent;        /* a joint before this one, or -1 */
    ex_transform rest; /* relative to the parent */
    bool end;          /* an end site of a BVH file, NAME_end: only says where the bone above it ends */
} ex_clip_joint;

/* A number over time: the weight of a morph target. */
typedef struct ex_clip_dial {
    char *name;
    float *values; /* [frame_count] */
} ex_clip_dial;

typedef struct ex_clip {
    int joint_count;
    ex_clip_joint *joints;
    int dial_count;
    ex_clip_dial *dials;
    int frame_count;      /* at least 1 */
    double *times;        /* [frame_count] seconds, rising */
    ex_transform *locals; /* [frame_count][joint_count] relative to the parent */
    double ground;        /* the height of the floor; in a BVH file 0, else the lowest joint at rest */
    bool root_moves;      /* whether the first joint's translation means something */
} ex_clip;

EX_API void ex_clip_destroy(ex_clip *clip);

/* A BVH file: Y up, any order of channels, any number of roots' channels, degrees, in the file's own unit of length. A
 * position channel takes the place of the joint's offset along its axis. Errors name the line. A file that ends before
 * its last frame is refused, with how many frames are there. */
EX_API ex_result ex_bvh_read(const char *path, ex_clip **clip, ex_error *error);
EX_API ex_result ex_bvh_parse(const char *text, size_t size, const char *path, ex_clip **clip, ex_error *error);

/* A clip as a BVH file that has every joint where the clip has it, at rest and in motion, in the clip's unit of length;
 * scales and dials are left out. Joints that only turn have three channels. Results: DATA (times that are not even),
 * FILE, MEMORY. */
EX_API ex_result ex_bvh_write(const char *path, const ex_clip *clip, ex_error *error);

/* ---- motions ---- */

typedef struct ex_motion {
    int pose_count;
    ex_pose *poses;    /* [pose_count], whole; they belong to the motion */
    double *times;     /* [pose_count] seconds */
    int matched_count; /* joints (and dials) of the rig that the file moves */
    double scale;      /* by which the root's path was scaled; 1 for motion of the rig's own skeleton */
} ex_motion;

EX_API void ex_motion_destroy(ex_motion *motion);

#ifdef __cplusplus
}
#endif
#endif

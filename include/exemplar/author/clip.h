/*
 * exemplar/author/clip.h - clips, motions and BVH files.
 *
 * A clip holds the contents of a motion file: joints with their rest, and transforms at times. It is independent of any
 * rig. A motion is a list of timed poses of one rig; exemplar/author/motion.h makes it from a clip or from a table of
 * poses. Both are plain data, owned by their holder.
 */
#ifndef EXEMPLAR_AUTHOR_CLIP_H
#define EXEMPLAR_AUTHOR_CLIP_H

#include <exemplar/rig_inspect.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- clips ---- */

/* A joint of a clip. */
typedef struct ex_clip_joint {
    char *name;
    int parent;        /* a joint before this one, or -1 */
    ex_transform rest; /* relative to the parent */
    bool end;          /* true for an end site of a BVH file, NAME_end: it only marks the end of the bone above */
} ex_clip_joint;

/* A number over time, such as the weight of a morph target. */
typedef struct ex_clip_dial {
    char *name;
    float *values; /* [frame_count] */
} ex_clip_dial;

/* The contents of a motion file: joints and their transforms over time. */
typedef struct ex_clip {
    int joint_count;
    ex_clip_joint *joints;
    int dial_count;
    ex_clip_dial *dials;
    int frame_count;      /* at least 1 */
    double *times;        /* [frame_count] seconds, ascending */
    ex_transform *locals; /* [frame_count][joint_count] relative to the parent */
    double ground;        /* height of the floor: 0 in a BVH file, else the lowest joint at rest */
    bool root_moves;      /* true if the first joint's translation is meaningful */
} ex_clip;

/* Releases a clip. NULL is fine. */
EX_API void ex_clip_destroy(ex_clip *clip);

/* Reads a BVH file: Y up, any order of channels, any number of roots' channels, degrees, in the file's own unit of
 * length. A position channel replaces the joint's offset along its axis. Errors name the line. A file that ends before
 * its last frame is refused, and the message says how many frames it has. */
EX_API ex_result ex_bvh_read(const char *path, ex_clip **clip, ex_error *error);
EX_API ex_result ex_bvh_parse(const char *text, size_t size, const char *path, ex_clip **clip, ex_error *error);

/* Writes a clip as a BVH file. Every joint is where the clip has it, at rest and in motion, in the clip's unit of
 * length; scales and dials are left out. Joints that only rotate have three channels. In names, '_' replaces braces,
 * colons, control characters, and blanks at both ends. Every file can be read again. Results: DATA (times that are not
 * evenly spaced; a name, a parent or a number that a file cannot hold), LIMIT, FILE, MEMORY. */
EX_API ex_result ex_bvh_write(const char *path, const ex_clip *clip, ex_error *error);

/* ---- motions ---- */

/* Timed poses of one rig. */
typedef struct ex_motion {
    int pose_count;
    ex_pose *poses;     /* [pose_count], complete; owned by the motion */
    double *times;      /* [pose_count] seconds */
    int matched_count;  /* number of joints (and dials) of the rig that the file moves */
    double scale;       /* scaling of the root's path; 1 for motion of the rig's own skeleton */
    double first, last; /* seconds: the range of the file's own frames or keys, of which a part may have been read */
} ex_motion;

/* Releases a motion. NULL is fine. */
EX_API void ex_motion_destroy(ex_motion *motion);

#ifdef __cplusplus
}
#endif
#endif

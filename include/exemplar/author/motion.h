/*
 * exemplar/author/motion.h - motion: reads skeleton motion from files and transfers it to a rig.
 *
 * A clip holds the contents of a motion file: joints with their rest, and transforms at times. It is independent of any
 * rig. A motion is a list of timed poses of one rig, made from a clip by matching joints, or from a CSV file of poses.
 * Clips and motions are plain data, owned by their holder.
 */
#ifndef EXEMPLAR_AUTHOR_MOTION_H
#define EXEMPLAR_AUTHOR_MOTION_H

#include <exemplar/author/clip.h>
#include <exemplar/author/project.h>
#include <exemplar/author/scene.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- clips from scenes ---- */

/* Makes a clip of an animation of a glTF scene: every node that is a joint of a skin or above one, sampled fps times
 * per second from 0 to its end; fps 0: at all its keys. Weights of morph targets become dials. */
EX_API ex_result ex_scene_to_clip(const ex_scene *scene, int animation, double fps, ex_clip **clip, ex_error *error);

/* ---- transferring a clip to a rig ---- */

/* One joint of a rig and the joint of a clip that moves it. */
typedef struct ex_joint_pair {
    char *joint;      /* of the rig */
    char *from;       /* of the clip */
    double hinge[3];  /* keep only the rotation about this direction, in the joint's own axes at rest; 0 0 0: keep
                         all */
    bool as_it_rests; /* true: only copy the rotation of the clip's joint; the directions of its bones at rest are
                         ignored */
} ex_joint_pair;

/* A map from the joints of a rig to the joints of a clip that move them. */
typedef struct ex_joint_map {
    int pair_count;
    ex_joint_pair *pairs;
} ex_joint_map;

/* Reads a joint map from a JSON file. It is {"joints": {"upperarm01.L": "LeftArm", "lowerarm01.L": {"from":
 * "LeftForeArm", "hinge": "x"}, "clavicle.L": {"from": "LeftShoulder", "align": false}}}. "align": false sets
 * as_it_rests. Strict, as project files are. */
EX_API ex_result ex_joint_map_read(const char *path, ex_joint_map **map, ex_error *error);
EX_API void ex_joint_map_destroy(ex_joint_map *map);

/*
 * Transfers a clip to a rig. map NULL: matches joints of the same name, exactly, else ignoring case, spaces,
 * punctuation and prefixes that end in a colon. If the clip's joints are the rig's own, with the same rest, their
 * transforms are copied. Otherwise each joint gets the world rotation of its counterpart relative to that one's rest,
 * after the directions of the bones at rest have been turned onto each other, from the root outwards. The root moves as
 * its counterpart does, scaled by the length of the legs, at a height that puts the feet on the ground as in the clip.
 * A hinge keeps only its own rotation. Unmatched joints in between stay at rest. Dials of the clip go to the rig's
 * dials of the same name. Results: DATA (no joint matches: both sides' joints are named; a joint of the map does not
 * exist: the nearest name is suggested), MEMORY.
 */
EX_API ex_result ex_motion_from_clip(const ex_clip *clip, const ex_rig *rig, const ex_joint_map *map,
                                     ex_motion **motion, ex_error *error);

/* Tells which joints and dials of a clip would move those of a rig, as ex_motion_from_clip matches them. joints
 * [ex_rig_joint_count], optional: for each of the rig's, the clip's joint, or -1; inputs [ex_rig_input_count],
 * optional: the clip's dial, or -1. Results: as there. */
EX_API ex_result ex_clip_match(const ex_clip *clip, const ex_rig *rig, const ex_joint_map *map, int *joints,
                               int *inputs, ex_error *error);

/* Options of reading a motion. */
typedef struct ex_motion_options {
    const ex_joint_map *map; /* optional */
    const char *clip;        /* name of an animation in a glTF file or a rig, or its number from 1; NULL: the first */
    double fps;              /* samples per second; 0: the file's own frames or keys */
    double start, end;       /* seconds, cut to what the motion has; both 0: all of it; end infinite: to its end */
    const char *rig_name;    /* the rig's file, which errors of ex_rig_motion name; NULL: "the rig" */
} ex_motion_options;

/* Reads a motion file onto a rig, by its extension: .bvh, .glb or .gltf, .csv (a table of poses, with or without times;
 * without them 24 per second). Between frames, rotations turn at constant speed and numbers are interpolated linearly.
 * options may be NULL. Results: those of the readers; ARGUMENT (no part of the motion is between start and end). */
EX_API ex_result ex_motion_read(const char *path, const ex_rig *rig, const ex_motion_options *options,
                                ex_motion **motion, ex_error *error);

/* Makes the motion of one of the rig's own clips (ex_rig_clips). options->map must be NULL. Results: DATA (the rig has
 * no clips, or none of that name: the nearest is suggested, and they are listed), and those of ex_motion_read. */
EX_API ex_result ex_rig_motion(const ex_rig *rig, const ex_motion_options *options, ex_motion **motion,
                               ex_error *error);

#ifdef __cplusplus
}
#endif
#endif

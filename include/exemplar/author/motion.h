/*
 * exemplar/author/motion.h - motion: skeletons that move over time, from files, and brought onto a rig.
 *
 * A clip is what a motion file holds: joints with their rest, and transforms at times. It knows nothing of a rig. A
 * motion is a list of poses of one rig at times: made from a clip by matching joints, or from a CSV file of poses.
 * Clips and motions are plain data that belong to their holder.
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

/* An animation of a glTF scene, every node that is a joint of a skin or above one, sampled fps times a second from 0 to
 * its end; fps 0: at all its keys. Weights of morph targets become dials. */
EX_API ex_result ex_scene_to_clip(const ex_scene *scene, int animation, double fps, ex_clip **clip, ex_error *error);

/* ---- bringing a clip onto a rig ---- */

/* One joint of a rig and the joint of a clip that moves it. */
typedef struct ex_joint_pair {
    char *joint;      /* of the rig */
    char *from;       /* of the clip */
    double hinge[3];  /* keep only the turn about this direction, in the joint's own axes at rest; 0 0 0: keep all */
    bool as_it_rests; /* only turn it as the clip's turns: where its bones point at rest says nothing */
} ex_joint_pair;

typedef struct ex_joint_map {
    int pair_count;
    ex_joint_pair *pairs;
} ex_joint_map;

/* A map from a JSON file: {"joints": {"upperarm01.L": "LeftArm", "lowerarm01.L": {"from": "LeftForeArm", "hinge":
 * "x"}, "clavicle.L": {"from": "LeftShoulder", "align": false}}}. "align": false is as_it_rests. Strict, as project
 * files are. */
EX_API ex_result ex_joint_map_read(const char *path, ex_joint_map **map, ex_error *error);
EX_API void ex_joint_map_destroy(ex_joint_map *map);

/*
 * Brings a clip onto a rig. map NULL: joints of the same name, letter by letter, else without regard to case, spaces,
 * punctuation and prefixes that end in a colon. Where the clip's joints are the rig's own, with the same rest, their
 * transforms are taken as they are. Else each joint gets the world rotation of its counterpart relative to that one's
 * rest, after the directions of the bones at rest were turned onto each other, from the root outwards; the root is
 * moved as its counterpart, scaled by the length of the legs, at a height where the feet stand as the clip's do; a
 * hinge keeps its turn alone; joints in between stay at rest. Dials of the clip go to dials of the rig of the same
 * name. Results: DATA (no joint matches: both sides' joints are named; a joint of the map that is not there, with the
 * nearest that is), MEMORY.
 */
EX_API ex_result ex_motion_from_clip(const ex_clip *clip, const ex_rig *rig, const ex_joint_map *map,
                                     ex_motion **motion, ex_error *error);

typedef struct ex_motion_options {
    const ex_joint_map *map; /* or NULL */
    const char *animation;   /* of a glTF file: its name or number; NULL: the first */
    double fps;              /* sample the motion so often; 0: at the file's own frames or keys */
    double start, end;       /* seconds; both 0: all of it; an infinite end: the motion's own */
} ex_motion_options;

/* By the file's name: .bvh, .glb or .gltf, .csv (a table of poses, with or without times; without them 24 a second).
 * Between frames rotations turn at constant speed and numbers run straight. options may be NULL. */
EX_API ex_result ex_motion_read(const char *path, const ex_rig *rig, const ex_motion_options *options,
                                ex_motion **motion, ex_error *error);

#ifdef __cplusplus
}
#endif
#endif

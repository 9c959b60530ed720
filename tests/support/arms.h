/*
 * arms.h - an arm for tests: a tube along x of two bones, and its skeleton as a glTF scene that a test may change
 * before it is written. The skeleton has joints upper, fore and hand at 0, length and twice length, the forearm turned
 * about its bone, a node above them that turns and scales, and a node between two of them.
 */
#ifndef EXEMPLAR_TESTS_ARMS_H
#define EXEMPLAR_TESTS_ARMS_H

#include <exemplar/author.h>

enum {
    ARM_RINGS = 13,
    ARM_SIDES = 6,
    ARM_VERTICES = ARM_RINGS * ARM_SIDES,
    ARM_PLACE = 0, /* nodes */
    ARM_UPPER,
    ARM_FORE,
    ARM_BETWEEN,
    ARM_HAND,
    ARM_MESH,
    ARM_JOINTS = 3
};

/* The tube at rest [ARM_VERTICES][3], of twice `length`. */
void arm_form(double length, double thickness, double *positions);

/* Quads around it, with texture coordinates that have a seam along it. */
ex_mesh *arm_mesh(const double *positions);

/* The skeleton with that tube, of thickness 0.2, bound to it. */
ex_scene *arm_scene(double length);

/* Writes both into the scratch folder. */
void arm_write_mesh(const char *name, const double *positions);
void arm_write_scene(const char *name, ex_scene *scene); /* destroys the scene */

/* A pose of the rig from words such as "elbow=90"; release with free(pose.inputs). The words end with NULL. */
ex_pose arm_pose(const ex_rig *rig, const char *const *words);

/* Evaluates at a pose in words: positions [vertices of the rig][3]. */
void arm_evaluate(const ex_rig *rig, const char *const *words, float *positions);

/* A sculpt: the rig at a pose in words, with every vertex moved by up to `amount`, the same for the same seed. */
void arm_sculpt(const ex_rig *rig, const char *const *words, double amount, uint32_t seed, double *positions);

#endif

/*
 * bakes.h - motions for the tests of baking, an arm with every kind of layer, and a viewer of baked files, computed in
 * double from the file alone.
 */
#ifndef EXEMPLAR_TESTS_BAKES_H
#define EXEMPLAR_TESTS_BAKES_H

#include "support/characters.h"

#include <exemplar/author.h>

/* Smooth motion of all joints and dials of a rig; release with bake_motion_free, not ex_motion_destroy. */
ex_motion *bake_motion(const ex_rig *rig, int frame_count, uint64_t seed, double reach);
void bake_motion_free(ex_motion *motion);

/* The arm of characters.h with more layers. */
enum {
    BAKE_OFFSETS = 1, /* offsets at rest, weighed per layer */
    BAKE_MOVED = 2,   /* offsets at rest, weighed among those that move a vertex */
    BAKE_SKINNED = 4, /* offsets after posing */
    BAKE_UNUSED = 8,  /* a direct layer whose second dial the motion does not move */
    BAKE_BARE = 16,   /* no skeleton */
    BAKE_LAYERS = CHARACTER_LAYERS + 4
};

typedef struct bake_arm {
    character base;
    ex_rig_def def;
    ex_layer_def layers[BAKE_LAYERS];
    ex_axis axes[4][2];
    ex_axis_source sources[4];
    uint32_t vertices[8];
    float deltas[3][24];
    ex_offsets offsets[3];
    const float *direct[2];
} bake_arm;

/* Makes a rig; the arm may be closed afterwards. */
ex_rig *bake_arm_rig(int rings, int sides, ex_skinning skinning, int parts);

/* Positions [vertices of the level][3] of the rig at a frame, and of the file at a time; vertices of the file are found
 * by their place at rest. */
void bake_truth(const ex_rig *rig, const ex_motion *motion, int frame, int level, const bool *muted, double *positions);
void bake_replay(const ex_scene *scene, const ex_rig *rig, int level, double time, double *positions);

/* Largest and mean square distance of the two over all frames, and the place of the largest. */
ex_bake_error bake_compare(const char *path, const ex_rig *rig, const ex_motion *motion, int level, const bool *muted);

#endif

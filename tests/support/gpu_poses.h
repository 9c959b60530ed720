/*
 * gpu_poses.h - a skeleton in the GPU's layout, on the host, with the worst possible poses: NaN, zero rotations, joints
 * that mirror, stretch, vanish and go too far; and the runtime's results for them.
 */
#ifndef EXEMPLAR_TESTS_GPU_POSES_H
#define EXEMPLAR_TESTS_GPU_POSES_H

#include "cuda/block.h"

enum { GPU_POSE_JOINTS = 53, GPU_POSE_COUNT = 6, GPU_POSE_EXAMPLES = 4, GPU_POSE_SHIFTS = 3 };

/* Points into itself: do not copy it, and end with gpu_pose_close. Rotations are kept next to linear matrices if
 * `turns`. */
typedef struct gpu_pose {
    exi_gpu head;
    exi_gpu_job job;
    ex_skeleton *skeleton;
    uint16_t skin_joints[4]; /* there is a skin: nothing else of it is read */
    uint32_t offset_starts[1];
    int32_t depth_starts[GPU_POSE_JOINTS + 1], depth_joints[GPU_POSE_JOINTS], shift_examples[GPU_POSE_SHIFTS];
    float shifts[GPU_POSE_SHIFTS][GPU_POSE_JOINTS][3];
    ex_transform joints[GPU_POSE_COUNT][GPU_POSE_JOINTS];
    /* work */
    float weights[GPU_POSE_COUNT][GPU_POSE_EXAMPLES];
    double worlds[GPU_POSE_COUNT][GPU_POSE_JOINTS][12];
    double turns[GPU_POSE_COUNT][GPU_POSE_JOINTS][4];
    float summed[GPU_POSE_COUNT][GPU_POSE_JOINTS][3];
    float palette[GPU_POSE_COUNT][GPU_POSE_JOINTS][12];
    float duals[GPU_POSE_COUNT][GPU_POSE_JOINTS][8];
    int32_t stretched[GPU_POSE_COUNT];
} gpu_pose;

typedef struct gpu_pose_options {
    ex_skinning skinning;
    bool turns, shifted, posed; /* otherwise at rest */
    bool rigid;                 /* true if no joint stretches */
} gpu_pose_options;

void gpu_pose_open(gpu_pose *p, uint64_t *random, gpu_pose_options options);
void gpu_pose_close(gpu_pose *p);

/* Asserts that the work after posing equals the results of ex_skeleton_evaluate and ex_palette_make, to the bit. */
void assert_gpu_pose(const gpu_pose *p);

#endif

/*
 * gpu_poses.h - a skeleton as the GPU has it, on the host, with poses that are as bad as poses can be: numbers that are
 * none, rotations of nothing, joints that mirror, stretch, vanish and go too far; and what the runtime makes of them.
 */
#ifndef EXEMPLAR_TESTS_GPU_POSES_H
#define EXEMPLAR_TESTS_GPU_POSES_H

#include "cuda/block.h"

enum { GPU_POSE_JOINTS = 53, GPU_POSE_COUNT = 6, GPU_POSE_EXAMPLES = 4, GPU_POSE_SHIFTS = 3 };

/* Points into itself: stays where it is, ends with gpu_pose_close. Rotations are kept beside linear matrices where
 * `turns`. */
typedef struct gpu_pose {
    exi_gpu head;
    exi_gpu_job job;
    ex_skeleton *skeleton;
    uint16_t skin_joints[4]; /* there is a skin: no more than that is looked at */
    uint32_t offset_starts[1];
    int32_t depth_starts[GPU_POSE_JOINTS + 1], depth_joints[GPU_POSE_JOINTS], shift_examples[GPU_POSE_SHIFTS];
    float shifts[GPU_POSE_SHIFTS][GPU_POSE_JOINTS][3];
    ex_transform joints[GPU_POSE_COUNT][GPU_POSE_JOINTS];
    /* work */
    float weights[GPU_POSE_COUNT][GPU_POSE_EXAMPLES];
    double worlds[GPU_POSE_COUNT][GPU_POSE_JOINTS][12];
    float summed[GPU_POSE_COUNT][GPU_POSE_JOINTS][3];
    float palette[GPU_POSE_COUNT][GPU_POSE_JOINTS][12];
    float duals[GPU_POSE_COUNT][GPU_POSE_JOINTS][8];
    int32_t stretched[GPU_POSE_COUNT];
} gpu_pose;

typedef struct gpu_pose_options {
    ex_skinning skinning;
    bool turns, shifted, posed; /* else at rest */
    bool rigid;                 /* no joint stretches */
} gpu_pose_options;

void gpu_pose_open(gpu_pose *p, uint64_t *random, gpu_pose_options options);
void gpu_pose_close(gpu_pose *p);

/* What stands in the work after posing is what ex_skeleton_evaluate and ex_palette_make give, to the bit. */
void assert_gpu_pose(const gpu_pose *p);

#endif

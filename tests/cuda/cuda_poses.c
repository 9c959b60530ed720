/*
 * Poses for random rigs; see cuda_rigs.h.
 */
#include "cuda/cuda_rigs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void draw_dials(const ex_rig *rig, uint64_t *random, double *inputs) {
    for (int i = 0; i < ex_rig_input_count(rig); i++) {
        const ex_axis axis = ex_rig_input_axis(rig, i);
        const int at = ex_rig_input_offset(rig, i);
        if (at < 0)
            continue;
        for (int c = 0; c < ex_axis_width(&axis); c++)
            inputs[at + c] = axis.kind == EX_AXIS_SCALAR ? axis.min + (axis.max - axis.min) * draw(random, -0.2, 1.2)
                                                         : draw(random, -0.6, 0.6) + (c == 3 ? 0.8 : 0);
    }
}

/* Moved from rest; the fifth joint mirrors if joints stretch. */
static void draw_joints(const ex_rig *rig, int parts, uint64_t *random, ex_transform *joints) {
    for (int j = 0; j < ex_rig_joint_count(rig); j++)
        for (int c = 0; c < 3; c++) {
            joints[j].translation[c] += (float)draw(random, -0.05, 0.05);
            joints[j].rotation[c] += (float)draw(random, -0.4, 0.4);
            if (parts & RIG_STRETCH)
                joints[j].scale[c] *= (float)draw(random, 0.7, 1.3) * (j == 5 && c == 0 ? -1.0F : 1.0F);
            else if (j == 4 && parts & RIG_READ)
                joints[j].scale[c] *= (float)draw(random, 0.7, 1.3);
        }
}

void make_poses(const ex_rig *rig, int parts, int count, uint64_t seed, pose_set *made) {
    const size_t size = (size_t)ex_rig_pose_size(rig), joints = (size_t)ex_rig_joint_count(rig);
    *made = (pose_set){.count = count};
    made->inputs = must_allocate((size_t)count * size, sizeof *made->inputs);
    made->doubles = must_allocate((size_t)count * size, sizeof *made->doubles);
    made->joints = must_allocate((size_t)count * joints, sizeof *made->joints);
    made->poses = must_allocate((size_t)count, sizeof *made->poses);
    for (size_t i = 0; i < (size_t)count; i++) {
        ex_pose *pose = &made->poses[i];
        *pose = (ex_pose){.inputs = made->doubles + i * size, .joints = made->joints + i * joints};
        ex_rig_rest_pose(rig, pose);
        draw_dials(rig, &seed, pose->inputs);
        draw_joints(rig, parts, &seed, pose->joints);
        if (i == 1 && size > 0)
            pose->inputs[size - 1] = (double)NAN;
        if (i == 2 && size > 1)
            pose->inputs[0] = (double)INFINITY;
        if (i == 1 && joints > 3) {
            pose->joints[3].translation[1] = NAN;
            memset(pose->joints[2].rotation, 0, sizeof pose->joints[2].rotation);
        }
        for (size_t d = 0; d < size; d++) {
            made->inputs[i * size + d] = (float)pose->inputs[d];
            pose->inputs[d] = (double)made->inputs[i * size + d];
        }
    }
}

void free_poses(pose_set *poses) {
    free(poses->inputs);
    free(poses->doubles);
    free(poses->joints);
    free(poses->poses);
    *poses = (pose_set){0};
}

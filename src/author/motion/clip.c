/*
 * Clips: world transforms of their joints, W_j = W_parent(j) L_j, and resampling to other times. Between frames,
 * rotations turn at constant speed along the shorter arc, and everything else is interpolated linearly.
 */
#include "author/base/array.h"
#include "author/motion/motion.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"
#include "runtime/pose/local.inl"
#include "runtime/pose/matrix.h"

#include <stdlib.h>
#include <string.h>

void exi_world_below(const exi_world *above, const ex_transform *local, exi_world *below) {
    const ex_transform rest = ex_transform_identity();
    exi_local read;
    exi_local_read(local, &rest, &read);
    exi_matrix_compose(read.translation, read.rotation, read.scale, below->matrix);
    memcpy(below->rotation, read.rotation, sizeof below->rotation);
    if (!above)
        return;
    exi_matrix_multiply(above->matrix, below->matrix, below->matrix);
    exi_quaternion_multiply(above->rotation, below->rotation, below->rotation);
}

void exi_clip_worlds(const ex_clip *clip, int frame, exi_world *worlds) {
    const ex_transform *locals = frame >= 0 ? clip->locals + (size_t)frame * (size_t)clip->joint_count : NULL;
    for (int j = 0; j < clip->joint_count; j++) {
        const ex_clip_joint *joint = &clip->joints[j];
        exi_world_below(joint->parent >= 0 ? &worlds[joint->parent] : NULL, locals ? &locals[j] : &joint->rest,
                        &worlds[j]);
    }
}

int exi_find_time(const double *times, int count, double time, double *part) {
    int low = 0, high = count - 1;
    *part = 0;
    if (count < 2 || !(time > times[0]))
        return 0;
    while (high - low > 1) {
        const int middle = low + (high - low) / 2;
        if (times[middle] <= time)
            low = middle;
        else
            high = middle;
    }
    const double u = (time - times[low]) / (times[low + 1] - times[low]);
    *part = u < 1 ? u : 1;
    return low;
}

static ex_result copy_joints(const ex_clip *clip, ex_clip *made) {
    made->joints = calloc((size_t)clip->joint_count + 1, sizeof *made->joints);
    made->dials = calloc((size_t)clip->dial_count + 1, sizeof *made->dials);
    if (!made->joints || !made->dials)
        return EX_ERROR_MEMORY;
    for (; made->joint_count < clip->joint_count; made->joint_count++) {
        ex_clip_joint *joint = &made->joints[made->joint_count];
        *joint = clip->joints[made->joint_count];
        joint->name = exi_text_copy(joint->name, strlen(joint->name));
        if (!joint->name)
            return EX_ERROR_MEMORY;
    }
    for (; made->dial_count < clip->dial_count; made->dial_count++) {
        const ex_clip_dial *from = &clip->dials[made->dial_count];
        ex_clip_dial *dial = &made->dials[made->dial_count];
        dial->name = exi_text_copy(from->name, strlen(from->name));
        dial->values = dial->name ? exi_array_allocate((size_t)made->frame_count, sizeof *dial->values) : NULL;
        if (!dial->values) {
            free(dial->name);
            return EX_ERROR_MEMORY;
        }
    }
    return EX_OK;
}

static void sample(const ex_clip *clip, ex_clip *made, int frame) {
    const size_t joints = (size_t)clip->joint_count;
    double part;
    const int at = exi_find_time(clip->times, clip->frame_count, made->times[frame], &part);
    const ex_transform *from = clip->locals + (size_t)at * joints, *to = part > 0 ? from + joints : from;
    ex_transform *out = made->locals + (size_t)frame * joints;
    for (size_t j = 0; j < joints; j++) /* bit-exact at a frame, even for rotations that are not of length 1 */
        out[j] = part == 0 ? from[j] : part == 1 ? to[j] : ex_transform_interpolate(&from[j], &to[j], part);
    for (int d = 0; d < clip->dial_count; d++) {
        const float *values = clip->dials[d].values + at;
        made->dials[d].values[frame] =
            part == 0 ? values[0] : (float)((1 - part) * (double)values[0] + part * (double)values[1]);
    }
}

ex_result exi_clip_resample(const ex_clip *clip, const double *times, int count, ex_clip **made, ex_error *error) {
    const size_t joints = (size_t)clip->joint_count;
    ex_clip *out = calloc(1, sizeof *out);
    *made = NULL;
    ex_result result = out ? EX_OK : EX_ERROR_MEMORY;
    if (out) {
        *out = (ex_clip){.frame_count = count, .ground = clip->ground, .root_moves = clip->root_moves};
        out->times = exi_array_copy(times, (size_t)count, sizeof *times);
        out->locals = exi_array_allocate((size_t)count * (joints + 1), sizeof *out->locals);
        result = out->times && out->locals ? copy_joints(clip, out) : EX_ERROR_MEMORY;
    }
    if (result != EX_OK) {
        ex_clip_destroy(out);
        return ex_error_memory(error, "the motion", (size_t)count * joints * sizeof(ex_transform));
    }
    for (int f = 0; f < count; f++)
        sample(clip, out, f);
    *made = out;
    return EX_OK;
}

/*
 * Changes the frames in which a skeleton and its poses are written. With F_j the new frame of joint j, in the frame
 * that it had while no joint was turned, and p the joint above:
 *
 *     t = F_p^T t',   axis = F_p^T axis',   local = F_j^T local',   q = F_p^T q' F_j
 *
 * Places of joints and markers in the world stay. F = Q leads from the reference, where all frames are parallel to the
 * world's, to the neutral pose of a skeleton, with Q the frames of the reference there; F = Q^-1 leads back.
 */
#include "author/base/array.h"
#include "author/scan/kinematics/kinematics.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Metres, and components of an axis. */
#define SAME 1e-6

static void invert(const double q[4], double out[4]) {
    const double back[4] = {-q[0], -q[1], -q[2], q[3]};
    memcpy(out, back, sizeof back);
}

/* out = a^-1 b c */
static void between(const double a[4], const double b[4], const double c[4], double out[4]) {
    double back[4];
    invert(a, back);
    exi_quaternion_multiply(back, b, back);
    exi_quaternion_multiply(back, c, out);
    exi_normalise(out, 4);
}

/* A joint that is no longer the mirror image of its twin loses it. */
static void drop_mirrors(ex_kinematics *k) {
    for (int j = 0; j < k->joint_count; j++) {
        ex_kin_joint *joint = &k->joints[j];
        double t[3], a[3], most = 0;
        if (joint->mirror < 0)
            continue;
        const ex_kin_joint *twin = &k->joints[joint->mirror];
        exi_kin_mirror_translation(twin->translation, t);
        exi_kin_mirror_axis(twin->axis, a);
        for (int c = 0; c < 3; c++) {
            most = joint->lock_translation ? most : fmax(most, fabs(t[c] - joint->translation[c]));
            if (joint->freedom == EX_FREEDOM_HINGE && !joint->lock_axis)
                most = fmax(most, fabs(a[c] - joint->axis[c]));
        }
        if (most > SAME)
            joint->mirror = -1;
    }
}

static void rebase(ex_kinematics *k, double (*frames)[4], ex_kin_pose *poses, int pose_count) {
    static const double none[4] = {0, 0, 0, 1};
    for (int j = 0; j < k->joint_count; j++) {
        ex_kin_joint *joint = &k->joints[j];
        const double *above = joint->parent < 0 ? none : frames[joint->parent];
        double back[4], turned[4];
        invert(above, back);
        if (joint->parent >= 0)
            exi_rotate(back, joint->translation, joint->translation);
        exi_rotate(back, joint->axis, joint->axis);
        if (joint->freedom == EX_FREEDOM_HINGE && joint->least < joint->most) {
            between(above, none, frames[j], turned);
            const double angle = ex_kin_angle(joint, turned);
            joint->least += angle;
            joint->most += angle;
        }
        for (int i = 0; i < pose_count; i++)
            between(above, poses[i].rotations[j], frames[j], poses[i].rotations[j]);
    }
    for (int s = 0; s < k->site_count; s++) {
        double back[4];
        invert(frames[k->sites[s].joint], back);
        exi_rotate(back, k->sites[s].local, k->sites[s].local);
    }
    drop_mirrors(k);
}

ex_result ex_kinematics_rebase(ex_kinematics *kinematics, const double (*turns)[4], bool to_reference,
                               ex_kin_pose *poses, int pose_count, ex_error *error) {
    if (!kinematics || !turns || (pose_count > 0 && !poses))
        return exi_misuse_error(error, __func__, "no skeleton, no rotations, or no poses");
    const size_t joints = (size_t)kinematics->joint_count;
    double(*frames)[4] = exi_array_allocate(joints + 1, sizeof *frames);
    double(*own)[4] = exi_array_copy(turns, joints, sizeof *own);
    if (!frames || !own) {
        free(frames);
        free(own);
        return ex_error_memory(error, "the skeleton", joints * sizeof *frames);
    }
    const ex_kin_pose pose = {.rotations = own};
    ex_kin_frames(kinematics, &pose, frames, NULL);
    for (size_t j = 0; to_reference && j < joints; j++)
        invert(frames[j], frames[j]);
    rebase(kinematics, frames, poses, pose_count);
    free(frames);
    free(own);
    return EX_OK;
}

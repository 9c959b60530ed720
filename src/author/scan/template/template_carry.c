/*
 * Carries a cage from the neutral pose, in which it is planned, to the reference: there a person may sit, or hold the
 * arms in any way, and left and right may differ. A joint j moves by x -> p_j + F_j (x - n_j), with n_j its place in
 * the plan, p_j that in the reference, and F_j the frame of the reference; points move by the blend of their joints, as
 * dual quaternions.
 */
#include "author/scan/template/template.h"

#include "author/base/array.h"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

ex_result exi_cage_carry_open(exi_cage_carry *carry, const ex_kinematics *kinematics, const double (*neutral)[4],
                              const exi_bones *bones, ex_error *error) {
    const size_t joints = (size_t)kinematics->joint_count;
    double(*turns)[4] = neutral ? exi_array_copy(neutral, joints, sizeof *turns) : NULL;
    *carry = (exi_cage_carry){.bones = bones,
                              .places = exi_array_allocate(joints, sizeof *carry->places),
                              .rotations = exi_array_allocate(joints, sizeof *carry->rotations)};
    if (!carry->places || !carry->rotations || (neutral && !turns)) {
        free(turns);
        exi_cage_carry_close(carry);
        return ex_error_memory(error, "the template", joints * sizeof *carry->rotations);
    }
    for (size_t j = 0; j < joints; j++) {
        const ex_kin_joint *joint = &kinematics->joints[j];
        memcpy(carry->rotations[j], (const double[4]){0, 0, 0, 1}, sizeof carry->rotations[j]);
        for (int c = 0; c < 3; c++)
            carry->places[j][c] = joint->translation[c] + (joint->parent >= 0 ? carry->places[joint->parent][c] : 0);
    }
    if (turns)
        ex_kin_frames(kinematics, &(ex_kin_pose){.rotations = turns}, carry->rotations, NULL);
    free(turns);
    return EX_OK;
}

void exi_cage_carry_close(exi_cage_carry *carry) {
    free(carry->places);
    free(carry->rotations);
    *carry = (exi_cage_carry){0};
}

void exi_cage_carry_point(const exi_cage_carry *carry, const exi_share *share, const double point[3], double carried[3],
                          double rotation[4]) {
    double real[4] = {0}, dual[4] = {0};
    for (int i = 0; i < share->count; i++) {
        const int j = share->joints[i];
        const double *q = carry->rotations[j], *first = carry->rotations[share->joints[0]];
        const double dot = q[0] * first[0] + q[1] * first[1] + q[2] * first[2] + q[3] * first[3];
        const double weight = dot < 0 ? -share->weights[i] : share->weights[i];
        double at[3], half[4] = {0}, product[4];
        exi_rotate(q, carry->bones->all[j].place, at);
        for (int c = 0; c < 3; c++)
            half[c] = (carry->places[j][c] - at[c]) / 2;
        exi_quaternion_multiply(half, q, product);
        for (int c = 0; c < 4; c++) {
            real[c] += weight * q[c];
            dual[c] += weight * product[c];
        }
    }
    const double length = sqrt(real[0] * real[0] + real[1] * real[1] + real[2] * real[2] + real[3] * real[3]);
    if (!(length > 1e-9)) { /* half a turn apart: the first joint alone */
        const exi_share one = {.count = 1, .joints = {share->joints[0]}, .weights = {1}};
        exi_cage_carry_point(carry, &one, point, carried, rotation);
        return;
    }
    for (int c = 0; c < 4; c++) {
        real[c] /= length;
        dual[c] /= length;
    }
    /* The translation is twice the vector part of dual times the conjugate of real. */
    const double back[4] = {-real[0], -real[1], -real[2], real[3]};
    double shift[4], turned[3];
    exi_quaternion_multiply(dual, back, shift);
    exi_rotate(real, point, turned);
    for (int c = 0; c < 3; c++)
        carried[c] = turned[c] + 2 * shift[c];
    if (rotation)
        memcpy(rotation, real, sizeof real);
}

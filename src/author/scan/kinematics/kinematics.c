/*
 * Kinematics as plain data, and the frames of their joints. With R and p the rotation and position of a joint in the
 * world, q its rotation and t its translation (Allen, Curless, Popovic 2002, section 3.1):
 *
 *     R_j = R_parent q_j,   p_j = p_parent + R_parent t_j;   of the base: R = q, p = the pose's translation
 *
 * and a marker m is seen at p_j + R_j m.
 *
 * The mirror image in x of a rotation about a by some angle turns about (a_x, -a_y, -a_z) by the same angle: a
 * reflection takes an axis to its image and reverses the sense of rotation, and the axis is reversed instead of the
 * angle.
 */
#include "author/scan/kinematics/kinematics.h"

#include "author/base/array.h"
#include "runtime/base/functions.inl"
#include "runtime/base/result.h"
#include "runtime/base/vector.h"

#include <stdlib.h>
#include <string.h>

const char *ex_freedom_name(ex_freedom freedom) {
    static const char *const names[] = {
#define NAME(id, text) text,
        EX_FREEDOM_LIST(NAME)
#undef NAME
    };
    return freedom >= 0 && freedom < EX_FREEDOM_COUNT ? names[freedom] : "unknown";
}

void ex_kinematics_destroy(ex_kinematics *kinematics) {
    if (!kinematics)
        return;
    for (int j = 0; kinematics->joints && j < kinematics->joint_count; j++)
        free(kinematics->joints[j].name);
    for (int s = 0; kinematics->sites && s < kinematics->site_count; s++)
        free(kinematics->sites[s].name);
    free(kinematics->joints);
    free(kinematics->sites);
    free(kinematics->name);
    free(kinematics);
}

ex_kinematics *exi_kinematics_create(int joint_count, int site_count) {
    ex_kinematics *made = calloc(1, sizeof *made);
    if (!made)
        return NULL;
    made->joints = calloc((size_t)joint_count + 1, sizeof *made->joints);
    made->sites = calloc((size_t)site_count + 1, sizeof *made->sites);
    if (!made->joints || !made->sites) {
        ex_kinematics_destroy(made);
        return NULL;
    }
    made->joint_count = joint_count;
    made->site_count = site_count;
    return made;
}

static char *copy_text(const char *text) {
    return exi_text_copy(text ? text : "", text ? strlen(text) : 0);
}

ex_kinematics *ex_kinematics_copy(const ex_kinematics *kinematics) {
    ex_kinematics *copy = exi_kinematics_create(kinematics->joint_count, kinematics->site_count);
    bool done = copy && (copy->name = copy_text(kinematics->name)) != NULL;
    for (int j = 0; done && j < copy->joint_count; j++) {
        copy->joints[j] = kinematics->joints[j];
        copy->joints[j].name = copy_text(kinematics->joints[j].name);
        done = copy->joints[j].name != NULL;
    }
    for (int s = 0; done && s < copy->site_count; s++) {
        copy->sites[s] = kinematics->sites[s];
        copy->sites[s].name = copy_text(kinematics->sites[s].name);
        done = copy->sites[s].name != NULL;
    }
    if (done)
        return copy;
    ex_kinematics_destroy(copy);
    return NULL;
}

int ex_kinematics_find_joint(const ex_kinematics *kinematics, const char *name) {
    for (int j = 0; j < kinematics->joint_count; j++)
        if (strcmp(kinematics->joints[j].name, name) == 0)
            return j;
    return -1;
}

int ex_kinematics_find_site(const ex_kinematics *kinematics, const char *name) {
    for (int s = 0; s < kinematics->site_count; s++)
        if (strcmp(kinematics->sites[s].name, name) == 0)
            return s;
    return -1;
}

void exi_kin_mirror_translation(const double t[3], double mirrored[3]) {
    mirrored[0] = -t[0];
    mirrored[1] = t[1];
    mirrored[2] = t[2];
}

void exi_kin_mirror_axis(const double axis[3], double mirrored[3]) {
    mirrored[0] = axis[0];
    mirrored[1] = -axis[1];
    mirrored[2] = -axis[2];
}

void exi_kinematics_mirror(ex_kinematics *kinematics) {
    for (int j = 0; j < kinematics->joint_count; j++) {
        ex_kin_joint *joint = &kinematics->joints[j];
        if (joint->mirror < 0 || joint->mirror >= j)
            continue;
        const ex_kin_joint *other = &kinematics->joints[joint->mirror];
        if (!joint->lock_translation)
            exi_kin_mirror_translation(other->translation, joint->translation);
        if (joint->freedom == EX_FREEDOM_HINGE && !joint->lock_axis)
            exi_kin_mirror_axis(other->axis, joint->axis);
    }
}

void ex_kin_frames(const ex_kinematics *kinematics, const ex_kin_pose *pose, double (*rotations)[4],
                   double (*places)[3]) {
    double(*turns)[4] = rotations;
    double own[64][4];
    /* Positions need the rotations of parents; without memory for those the chain is walked again for each joint. */
    if (!turns && kinematics->joint_count <= 64)
        turns = own;
    for (int j = 0; j < kinematics->joint_count; j++) {
        const int parent = kinematics->joints[j].parent;
        double above[4] = {0, 0, 0, 1}, t[3];
        if (turns && parent >= 0)
            memcpy(above, turns[parent], sizeof above);
        for (int k = parent; !turns && k >= 0; k = kinematics->joints[k].parent)
            exi_quaternion_multiply(pose->rotations[k], above, above);
        if (turns) {
            exi_quaternion_multiply(above, pose->rotations[j], turns[j]);
            exi_normalise(turns[j], 4);
        }
        if (!places)
            continue;
        exi_rotate(above, kinematics->joints[j].translation, t);
        for (int i = 0; i < 3; i++)
            places[j][i] = parent < 0 ? pose->translation[i] : places[parent][i] + t[i];
    }
}

double ex_kin_angle(const ex_kin_joint *joint, const double rotation[4]) {
    double along = exi_dot3(joint->axis, rotation), w = rotation[3];
    if (w < 0 || (w == 0 && along < 0)) { /* the same rotation: (-180, 180] */
        along = -along;
        w = -w;
    }
    const double degrees = exi_angle(fabs(along), w) * (360 / 3.14159265358979323846);
    return along < 0 ? -degrees : degrees;
}

/* Degrees: ranges are rough, and so are poses. */
#define BEYOND 25

bool exi_kin_is_beyond(const ex_kin_joint *joint, const double rotation[4]) {
    if (joint->freedom != EX_FREEDOM_HINGE || joint->least >= joint->most)
        return false;
    const double degrees = ex_kin_angle(joint, rotation);
    return degrees < joint->least - BEYOND || degrees > joint->most + BEYOND;
}

int exi_kin_find_beyond(const ex_kinematics *kinematics, const ex_kin_pose *pose) {
    for (int j = 0; j < kinematics->joint_count; j++)
        if (exi_kin_is_beyond(&kinematics->joints[j], pose->rotations[j]))
            return j;
    return -1;
}

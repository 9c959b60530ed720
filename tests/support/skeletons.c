/*
 * Kinematics for tests of scanning.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "support/skeletons.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int skeleton_find(const ex_kinematics *kinematics, const char *name) {
    for (int j = 0; j < kinematics->joint_count; j++)
        if (strcmp(kinematics->joints[j].name, name) == 0)
            return j;
    return -1;
}

static bool is_left(const char *name) {
    const size_t length = strlen(name);
    return length > 2 && strcmp(name + length - 2, ".L") == 0;
}

static char *name_of(const char *name, bool right) {
    char *copy = malloc(strlen(name) + 1);
    assert_non_null(copy);
    strcpy(copy, name);
    if (right)
        copy[strlen(copy) - 1] = 'R';
    return copy;
}

ex_kinematics *skeleton_make(const skeleton_joint *table, int count) {
    ex_kinematics *made = calloc(1, sizeof *made);
    double(*places)[3] = calloc(2 * (size_t)count, sizeof *places);
    assert_non_null(made);
    assert_non_null(places);
    made->name = name_of("test", false);
    made->joints = calloc(2 * (size_t)count, sizeof *made->joints);
    assert_non_null(made->joints);
    for (int i = 0; i < count; i++)
        for (int right = 0; right < (is_left(table[i].name) ? 2 : 1); right++) {
            const int j = made->joint_count;
            ex_kin_joint *joint = &made->joints[j];
            char *parent = table[i].parent ? name_of(table[i].parent, right && is_left(table[i].parent)) : NULL;
            *joint = (ex_kin_joint){.name = name_of(table[i].name, right),
                                    .parent = parent ? skeleton_find(made, parent) : -1,
                                    .freedom = table[i].freedom,
                                    .mirror = right ? j - 1 : -1};
            assert_true((joint->parent >= 0) == (parent != NULL));
            for (int c = 0; c < 3; c++) {
                const double sign = right && c == 0 ? -1 : 1;
                places[j][c] = sign * table[i].place[c];
                joint->translation[c] = places[j][c] - (parent ? places[joint->parent][c] : 0);
                joint->axis[c] = right && c > 0 ? -table[i].axis[c] : table[i].axis[c];
            }
            made->joint_count++;
            free(parent);
        }
    free(places);
    return made;
}

void skeleton_destroy(ex_kinematics *kinematics) {
    for (int j = 0; j < kinematics->joint_count; j++)
        free(kinematics->joints[j].name);
    for (int i = 0; i < kinematics->site_count; i++)
        free(kinematics->sites[i].name);
    free(kinematics->name);
    free(kinematics->joints);
    free(kinematics->sites);
    free(kinematics);
}

ex_kinematics *skeleton_upper(void) {
    static const skeleton_joint table[] = {
        {"base", NULL, EX_FREEDOM_BASE, {0, 0.95, 0}, {0}},
        {"waist", "base", EX_FREEDOM_BALL, {0, 1.04, 0}, {0}},
        {"abdomen", "waist", EX_FREEDOM_BALL, {0, 1.18, 0}, {0}},
        {"clavicle.L", "abdomen", EX_FREEDOM_BALL, {0.035, 1.40, -0.01}, {0}},
        {"shoulder.L", "clavicle.L", EX_FREEDOM_BALL, {0.185, 1.395, -0.015}, {0}},
        {"elbow.L", "shoulder.L", EX_FREEDOM_HINGE, {0.395, 1.215, -0.015}, {0, 0, 1}},
        {"forearm.L", "elbow.L", EX_FREEDOM_HINGE, {0.40, 1.2107, -0.015}, {0.7593, -0.6508, 0}},
        {"wrist.L", "forearm.L", EX_FREEDOM_HINGE, {0.575, 1.06, -0.015}, {0, 0, 1}},
    };
    return skeleton_make(table, sizeof table / sizeof *table);
}

ex_kinematics *skeleton_full(void) {
    static const skeleton_joint table[] = {
        {"base", NULL, EX_FREEDOM_BASE, {0, 0.97, 0}, {0}},
        {"waist", "base", EX_FREEDOM_BALL, {0, 1.06, 0}, {0}},
        {"chest", "waist", EX_FREEDOM_BALL, {0, 1.20, 0}, {0}},
        {"neck", "chest", EX_FREEDOM_BALL, {0, 1.46, -0.01}, {0}},
        {"head", "neck", EX_FREEDOM_BALL, {0, 1.56, 0.005}, {0}},
        {"clavicle.L", "chest", EX_FREEDOM_BALL, {0.035, 1.40, -0.01}, {0}},
        {"shoulder.L", "clavicle.L", EX_FREEDOM_BALL, {0.185, 1.395, -0.015}, {0}},
        {"elbow.L", "shoulder.L", EX_FREEDOM_HINGE, {0.395, 1.215, -0.015}, {0, 0, 1}},
        {"forearm.L", "elbow.L", EX_FREEDOM_HINGE, {0.395, 1.215, -0.015}, {0.7593, -0.6508, 0}},
        {"wrist.L", "forearm.L", EX_FREEDOM_BALL, {0.575, 1.06, -0.015}, {0}},
        {"hip.L", "base", EX_FREEDOM_BALL, {0.095, 0.90, 0}, {0}},
        {"knee.L", "hip.L", EX_FREEDOM_HINGE, {0.105, 0.48, 0.005}, {1, 0, 0}},
        {"ankle.L", "knee.L", EX_FREEDOM_BALL, {0.11, 0.08, -0.02}, {0}},
        {"toes.L", "ankle.L", EX_FREEDOM_HINGE, {0.12, 0.02, 0.11}, {1, 0, 0}},
    };
    return skeleton_make(table, sizeof table / sizeof *table);
}

void skeleton_rest(const ex_kinematics *kinematics, ex_kin_pose *pose, double (*rotations)[4]) {
    pose->rotations = rotations;
    memcpy(pose->translation, kinematics->joints[0].translation, sizeof pose->translation);
    for (int j = 0; j < kinematics->joint_count; j++)
        for (int c = 0; c < 4; c++)
            rotations[j][c] = c == 3;
}

void skeleton_turn(const ex_kinematics *kinematics, ex_kin_pose *pose, const char *joint, const double axis[3],
                   double degrees) {
    const int j = skeleton_find(kinematics, joint);
    const double half = degrees * 0.008726646259971648, length = hypot(hypot(axis[0], axis[1]), axis[2]);
    assert_true(j >= 0);
    for (int c = 0; c < 3; c++)
        pose->rotations[j][c] = sin(half) * axis[c] / length;
    pose->rotations[j][3] = cos(half);
}

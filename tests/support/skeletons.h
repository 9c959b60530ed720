/* skeletons.h - kinematics for tests of scanning: figures with joints at the places of a body's. */
#ifndef EXEMPLAR_TESTS_SKELETONS_H
#define EXEMPLAR_TESTS_SKELETONS_H

#include <exemplar/author/kinematics.h>

/* A joint in a table; pairs are listed once, for the left, as NAME.L. */
typedef struct skeleton_joint {
    const char *name, *parent;
    ex_freedom freedom;
    double place[3]; /* in the world, at the reference pose */
    double axis[3];
} skeleton_joint;

/* Makes a kinematics from a table; names ending in .L are mirrored into .R, right after them. Fails the test if out of
 * memory. */
ex_kinematics *skeleton_make(const skeleton_joint *table, int count);
void skeleton_destroy(ex_kinematics *kinematics);
int skeleton_find(const ex_kinematics *kinematics, const char *name);

/* The upper body of table 2 (base, waist, abdomen, clavicles, shoulders, elbows, forearms, wrists), arms half raised;
 * and a complete body. */
ex_kinematics *skeleton_upper(void);
ex_kinematics *skeleton_full(void);

/* Rotations [joint_count], none turned; and adding one about an axis. */
void skeleton_rest(const ex_kinematics *kinematics, ex_kin_pose *pose, double (*rotations)[4]);
void skeleton_turn(const ex_kinematics *kinematics, ex_kin_pose *pose, const char *joint, const double axis[3],
                   double degrees);

#endif

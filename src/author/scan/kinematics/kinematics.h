/*
 * kinematics.h - what reading, writing and fitting kinematics share; private to authoring.
 */
#ifndef EXEMPLAR_AUTHOR_SCAN_KINEMATICS_KINEMATICS_H
#define EXEMPLAR_AUTHOR_SCAN_KINEMATICS_KINEMATICS_H

#include "author/base/keys.h"

#include <exemplar/author/kinematics.h>
#include <jansson.h>

/* All zero, with room for so many; NULL without memory. */
ex_kinematics *exi_kinematics_create(int joint_count, int site_count);

/* What a mirrored joint has in place of its other's: x goes to -x, and axes are turned back so that equal angles are
 * mirrored poses. */
void exi_kin_mirror_translation(const double t[3], double mirrored[3]);
void exi_kin_mirror_axis(const double axis[3], double mirrored[3]);
/* Gives all mirrored joints what is theirs, where it is not locked. */
void exi_kinematics_mirror(ex_kinematics *kinematics);

/* As a skeleton file holds it, for files that hold more: its object, NULL without memory; and from its object,
 * *kinematics being NULL on failure. `called`: its name where the object has none. */
json_t *exi_kinematics_json(const ex_kinematics *kinematics);
ex_result exi_kinematics_interpret(exi_reader *r, const json_t *object, const char *called, ex_kinematics **kinematics);

/* A hinge that is turned farther beyond its range than any error of a fit explains, or -1. */
int exi_kin_find_beyond(const ex_kinematics *kinematics, const ex_kin_pose *pose);

/* The text of a skeleton that comes with the program, or NULL. */
const char *exi_shipped_skeleton(const char *name);

#endif

/*
 * kinematics.h - shared by reading, writing and fitting kinematics; private to authoring.
 */
#ifndef EXEMPLAR_AUTHOR_SCAN_KINEMATICS_KINEMATICS_H
#define EXEMPLAR_AUTHOR_SCAN_KINEMATICS_KINEMATICS_H

#include "author/base/keys.h"

#include <exemplar/author/kinematics.h>
#include <jansson.h>

/* Makes a kinematics with these counts, all zero; NULL without memory. */
ex_kinematics *exi_kinematics_create(int joint_count, int site_count);

/* Mirror a joint's values: x becomes -x, and axes are reversed so that equal angles are mirrored poses. */
void exi_kin_mirror_translation(const double t[3], double mirrored[3]);
void exi_kin_mirror_axis(const double axis[3], double mirrored[3]);
/* Updates all mirrored joints, where not locked. */
void exi_kinematics_mirror(ex_kinematics *kinematics);

/* Convert to and from a skeleton file's JSON object, for files that hold more; the result is NULL on failure. `path`:
 * the file that is written, for errors. `called`: the skeleton's name if the object has none. */
ex_result exi_kinematics_make_json(const ex_kinematics *kinematics, const char *path, json_t **json, ex_error *error);
ex_result exi_kinematics_interpret(exi_reader *r, const json_t *object, const char *called, ex_kinematics **kinematics);

/* True for a hinge that is turned farther beyond its range than any error of a fit explains. */
bool exi_kin_is_beyond(const ex_kin_joint *joint, const double rotation[4]);
/* Returns the first such hinge of a pose, or -1. */
int exi_kin_find_beyond(const ex_kinematics *kinematics, const ex_kin_pose *pose);

/* Returns the text of a built-in skeleton, or NULL. */
const char *exi_shipped_skeleton(const char *name);

#endif

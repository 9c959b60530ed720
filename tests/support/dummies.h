/*
 * dummies.h - a figure to scan: an egg with two arms that are hardly there, as a rig. Joints hips (the root), arm.L and
 * arm.R (mirrored), and tip, below arm.L, which moves nothing; one axis, bend, reads arm.L as an angle about its y.
 */
#ifndef EXEMPLAR_TESTS_DUMMIES_H
#define EXEMPLAR_TESTS_DUMMIES_H

#include <exemplar/author/scan_simulate.h>

enum { DUMMY_JOINTS = 4, DUMMY_HIPS = 0, DUMMY_LEFT = 1, DUMMY_RIGHT = 2, DUMMY_TIP = 3 };

/* Radius of its sphere in metres. */
#define DUMMY_RADIUS 0.12
extern const double dummy_centre[3];

/* `rings` rings between the poles, of `sides` vertices each. */
ex_rig *dummy_rig(int rings, int sides);
/* A pose at rest; release with free(pose.inputs). */
ex_pose dummy_pose(const ex_rig *rig);
/* A scanner in front of the rig, with one pose, and a pitch of 8 mm. */
ex_scan_simulation dummy_scanner(const ex_rig *rig, const ex_pose *pose);

#endif

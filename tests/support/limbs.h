/*
 * limbs.h - templates for tests of displacement maps: a flat sheet and a limb of two bones, as rigs whose limit surface
 * can be evaluated, and bodies with bumps around them, as seen by a scanner.
 */
#ifndef EXEMPLAR_TESTS_LIMBS_H
#define EXEMPLAR_TESTS_LIMBS_H

#include <exemplar/author/scan_body.h>

enum { LIMB_RINGS = 9, LIMB_SIDES = 8, LIMB_JOINTS = 2 };

/* A rig of the mesh, moved by skin and skeleton if they are given; with `levels` levels, and the limit of the last. */
ex_rig *limb_rig_of(ex_mesh *cage, const ex_skeleton *skeleton, const ex_skin *skin, int levels);

/* A sheet of `squares` squares each way, `size` across, in the plane z = 0, facing z. */
ex_mesh *limb_sheet(int squares, double size);
/* The sheet as a rig: its limit surface is flat, and evenly spaced except at the edge. */
ex_rig *limb_sheet_rig(int squares, double size, int levels);

/* A tube along x from 0 to 0.6, 0.05 thick, open at both ends; groups upper (to 0.3) and fore. */
ex_mesh *limb_cage(void);
ex_rig *limb_rig(const ex_mesh *cage, int levels);
/* Bends the elbow by that many degrees about z: joints [LIMB_JOINTS]. */
void limb_bend(double degrees, ex_transform *joints);

/* The limit surface of the last level at a pose, [vertices][3] each; release with free. joints NULL: rest. */
void limb_surface(const ex_rig *rig, const ex_transform *joints, float **positions, float **normals);

/* Distance of a smooth body from the template at a place of its rest surface: bumps of up to `height`, a few cm
 * wide. */
double limb_bumps(const float place[3], double height);

/* The rig's limit surface at a pose, with bumps. */
ex_mesh *limb_body(const ex_rig *rig, const ex_transform *joints, double height);

/* The mesh without the faces for whose middle keep returns false. */
ex_mesh *limb_cut(const ex_mesh *mesh, bool (*keep)(const double middle[3], void *user), void *user);

/* A map of the rig's limit level, with states HIT and the displacements of limb_bumps. */
ex_displacement_map *limb_map(const ex_rig *rig, double height);

#endif

/*
 * shoulder.h - shared by the parts of the demo `shoulder`: half a torso with an upper arm as a solid and as a mesh
 * (shoulder_mesh.c), and its sculpts with the arm raised, lowered or swung (shoulder.c). Private to demos.
 *
 * Metres, y up, the chest towards +z. The left arm is stretched out along +x; its joint is at the origin.
 */
#ifndef EXEMPLAR_DEMOS_SHOULDER_H
#define EXEMPLAR_DEMOS_SHOULDER_H

#include <exemplar/author.h>

/* A tube of rings, from the end of the arm to the waist, whose axis turns downwards inside the torso; a vertex closes
 * either end. Column 0 is above the arm, and a quarter of the columns further is in front of it. */
enum {
    SHOULDER_COLUMNS = 28,
    SHOULDER_RINGS = 46,
    SHOULDER_VERTICES = SHOULDER_RINGS * SHOULDER_COLUMNS + 2,
    SHOULDER_FACES = (SHOULDER_RINGS + 1) * SHOULDER_COLUMNS
};

/* The solid: negative inside, positive outside; and its gradient direction, of length 1. */
double exi_shoulder_field(const double p[3]);
void exi_shoulder_normal(const double p[3], double normal[3]);

/* Makes the mesh at rest. NULL if out of memory. */
ex_mesh *exi_shoulder_mesh(void);

#endif

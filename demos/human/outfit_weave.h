/*
 * outfit_weave.h - the look of the cloth of the demo `outfit`: axes, texture coordinates and materials. Private to
 * demos.
 */
#ifndef EXEMPLAR_DEMOS_OUTFIT_WEAVE_H
#define EXEMPLAR_DEMOS_OUTFIT_WEAVE_H

#include "demos/human/outfit.h"

/* Limbs, and the line along each at rest: a place, and a direction of length 1. */
typedef enum exi_outfit_limb {
    OUTFIT_TRUNK,
    OUTFIT_ARM_L,
    OUTFIT_ARM_R,
    OUTFIT_LEG_L,
    OUTFIT_LEG_R,
    OUTFIT_LIMBS
} exi_outfit_limb;
typedef struct exi_outfit_axis {
    double from[3], along[3];
} exi_outfit_axis;
exi_outfit_axis exi_outfit_find_axis(const exi_outfit_body *body, exi_outfit_limb limb);

/* Returns how far along an axis a point is, and sets the vector from the axis to it. */
double exi_outfit_along(const exi_outfit_axis *axis, const double p[3], double across[3]);

/* Returns the degree to which a point of the shirt belongs to a sleeve, 0 to 1. */
double exi_outfit_sleeve(const exi_outfit_axis *arm, const double p[3]);

/* Gives clothes, of which the first faces are the shirt, materials and texture coordinates. False if out of memory. */
bool exi_outfit_weave(const exi_outfit_body *body, int shirt_faces, ex_mesh *clothes);

/* Makes the materials: those of what the person wears. */
ex_result exi_outfit_looks(const ex_rig *person, ex_scene **looks, ex_error *error);

#endif

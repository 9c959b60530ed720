/*
 * shirt.h - what the files of the demo `shirt` share: a figure to wear one, and the shirt. Private to demos.
 *
 *   shirt_body.c    its flesh, bones and skin; its poses
 *   shirt_cloth.c   the shirt: flesh a little larger, cut open at neck, cuffs and hem
 *   shirt.c         motions
 *
 * Metres, y up, the figure looks along +z and stands with its arms half raised; its own left is +x.
 */
#ifndef EXEMPLAR_DEMOS_SHIRT_H
#define EXEMPLAR_DEMOS_SHIRT_H

#include "demos/creature/creature.h"

typedef enum exi_shirt_bone {
    SHIRT_HIPS,
    SHIRT_SPINE,
    SHIRT_CHEST,
    SHIRT_NECK,
    SHIRT_HEAD,
    /* left before right */
    SHIRT_CLAVICLE,
    SHIRT_ARM = SHIRT_CLAVICLE + 2,
    SHIRT_FOREARM = SHIRT_ARM + 2,
    SHIRT_THIGH = SHIRT_FOREARM + 2,
    SHIRT_BONES = SHIRT_THIGH + 2
} exi_shirt_bone;

/* Where a bone's joint is at rest. */
void exi_shirt_joint(int bone, double place[3]);

/* The flesh of the figure; or, `wider` by so many metres, of what its shirt is cut from: without head and legs. */
void exi_shirt_flesh(exi_creature_flesh *flesh, bool shirt, double wider);

/* A closed mesh of about 10000 triangles. NULL without memory. */
ex_mesh *exi_shirt_body(void);
/* The shirt, of about 5000 vertices. NULL without memory. */
ex_mesh *exi_shirt_cloth(void);
/* Whether a vertex of it, at rest, is at the collar or a cuff: these hold to the figure. */
bool exi_shirt_is_sewn(const double place[3]);

/* A figure that can be posed; NULL without memory. Used by one thread at a time. */
typedef struct exi_shirt_figure exi_shirt_figure;
exi_shirt_figure *exi_shirt_figure_create(const ex_mesh *body);
void exi_shirt_figure_destroy(exi_shirt_figure *figure);
/* Every bone turned by degrees about x, y and z, in this order about axes that have been turned, the whole moved; into
 * positions [vertices of body][3]. */
void exi_shirt_figure_pose(exi_shirt_figure *figure, double (*degrees)[3], const double moved[3], double *positions);

#endif

/*
 * shirt.h - shared by the files of the demo `shirt`: a figure, and the shirt it wears. Private to demos.
 *
 *   shirt_body.c    the figure: flesh, bones, skin and poses
 *   shirt_cloth.c   the shirt: slightly larger flesh, cut open at neck, cuffs and hem
 *   shirt.c         motions
 *
 * Metres, y up; the figure looks along +z, with its arms half raised; its own left is +x.
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

/* Position of a bone's joint at rest. */
void exi_shirt_joint(int bone, double place[3]);

/* The flesh of the figure; or that of the shirt, without head and legs. `wider` adds metres. */
void exi_shirt_flesh(exi_creature_flesh *flesh, bool shirt, double wider);

/* Makes a closed mesh of about 10000 triangles. NULL if out of memory. */
ex_mesh *exi_shirt_body(void);
/* Makes the shirt, of about 5000 vertices. NULL if out of memory. */
ex_mesh *exi_shirt_cloth(void);
/* True if a vertex of the shirt at rest is at the collar or a cuff, which are fixed to the figure. */
bool exi_shirt_is_sewn(const double place[3]);

/* A figure that can be posed; NULL if out of memory. For one thread at a time. */
typedef struct exi_shirt_figure exi_shirt_figure;
exi_shirt_figure *exi_shirt_figure_create(const ex_mesh *body);
void exi_shirt_figure_destroy(exi_shirt_figure *figure);
/* Turns every bone by degrees about x, y and z, in this order about axes that have been turned, and moves the figure;
 * into positions [vertices of body][3]. */
void exi_shirt_figure_pose(exi_shirt_figure *figure, double (*degrees)[3], const double moved[3], double *positions);

#endif

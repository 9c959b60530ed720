/*
 * body.h - shared by the files of the demo `body`: a subject to scan. Private to demos.
 *
 *   body_flesh.c  bones, flesh and skin of an upper body
 *   body_shape.c  effects of muscles, bones and folds on the skin in a pose
 *   body_poses.c  the poses to scan (Articulated Body Deformation from Range Scan Data, table 1)
 *   body.c        the project of the subject
 *   body_scan.c   its scans, and the body built from them
 *
 * Metres, y up; the figure looks along +z, with its arms half raised; its own left is +x. Joints have the names and the
 * freedom of the skeleton "upper"; at rest their axes are those of the world.
 */
#ifndef EXEMPLAR_DEMOS_BODY_H
#define EXEMPLAR_DEMOS_BODY_H

#include "demos/creature/creature.h"

typedef enum exi_body_bone {
    BODY_HIPS,
    BODY_WAIST,
    BODY_ABDOMEN,
    /* left before right */
    BODY_CLAVICLE,
    BODY_SHOULDER = BODY_CLAVICLE + 2,
    BODY_ELBOW = BODY_SHOULDER + 2,
    BODY_FOREARM = BODY_ELBOW + 2,
    BODY_WRIST = BODY_FOREARM + 2,
    BODY_BONES = BODY_WRIST + 2
} exi_body_bone;

extern const char *const exi_body_names[BODY_BONES];
extern const exi_creature_bones exi_body_bones;

/* Hinges of the left arm: elbow, forearm, wrist. */
typedef enum exi_body_hinge { BODY_BEND, BODY_TWIST, BODY_FLEX, BODY_HINGES } exi_body_hinge;
extern const double exi_body_axes[BODY_HINGES][3];
/* Direction of the left upper arm, of length 1. */
extern const double exi_body_arm[3];

void exi_body_flesh(exi_creature_flesh *flesh);
/* The part of the flesh that determines the skin's weights. */
void exi_body_weights(exi_creature_flesh *flesh);
/* Makes a closed mesh of triangles of about `spacing` metres. NULL if out of memory. */
ex_mesh *exi_body_mesh(double spacing);
#define BODY_SPACING 0.0108 /* about 30 000 triangles */

/* ---- shape ---- */

/* Effects of a pose on the skin, each from 0 to 1. */
typedef enum exi_body_way {
    BODY_BENT,     /* elbow */
    BODY_TURNED,   /* forearm */
    BODY_FLEXED,   /* wrist, towards the palm */
    BODY_EXTENDED, /* wrist, towards the back of the hand */
    BODY_UP,       /* the arm, from its rest */
    BODY_DOWN,
    BODY_FORWARD,
    BODY_BACK,
    BODY_IN, /* the arm, turned about its axis */
    BODY_OUT,
    BODY_SHRUG, /* the collar bone */
    BODY_SINK,
    BODY_PROTRACT,
    BODY_RETRACT,
    BODY_LEFT, /* the torso leans */
    BODY_RIGHT,
    BODY_LEAN,
    BODY_ARCH,
    BODY_TWIST_LEFT,
    BODY_TWIST_RIGHT,
    BODY_WAYS
} exi_body_way;

/* Sculpts the skin at rest for these amounts of the effects, into positions [vertex_count][3]. */
void exi_body_sculpt(const ex_mesh *rest, const double ways[BODY_WAYS], double *positions);

/* ---- poses ---- */

/* Rotation of one joint: degrees about z, then about the resulting y, then about `about`. */
void exi_body_turn(double about_z, double about_y, const double about[3], double turn, double q[4]);

/* Writes poses.csv of the scans: name, part, and the values of the axes. */
ex_result exi_body_write_poses(const char *directory, ex_error *error);

/* Writes subject.json, its forms and skeleton in subject/, and poses.csv, into an existing folder. */
ex_result exi_body_write_subject(const char *directory, double spacing, ex_error *error);

#endif

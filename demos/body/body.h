/*
 * body.h - what the files of the demo `body` share: somebody to be scanned. Private to demos.
 *
 *   body_flesh.c  bones, flesh and skin of an upper body
 *   body_shape.c  what muscles, bones and folds do to the skin in a pose
 *   body_poses.c  the poses that it is scanned in (Articulated Body Deformation from Range Scan Data, table 1)
 *   body.c        the project of the subject
 *   body_scan.c   its scans, and the body that is made of them
 *
 * Metres, y up, the figure looks along +z and stands with its arms half raised; its own left is +x. Joints are called,
 * and may turn, as in the skeleton "upper"; at rest they stand in the axes of the world.
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

/* Of the left arm's hinges: elbow, forearm, wrist. */
typedef enum exi_body_hinge { BODY_BEND, BODY_TWIST, BODY_FLEX, BODY_HINGES } exi_body_hinge;
extern const double exi_body_axes[BODY_HINGES][3];
/* Along the left upper arm, of length 1. */
extern const double exi_body_arm[3];

void exi_body_flesh(exi_creature_flesh *flesh);
/* The same as far as the skin's weights go. */
void exi_body_weights(exi_creature_flesh *flesh);
/* A closed mesh of triangles about `spacing` metres long. NULL without memory. */
ex_mesh *exi_body_mesh(double spacing);
#define BODY_SPACING 0.0108 /* about 30 000 triangles */

/* ---- shape ---- */

/* Ways in which a pose shows in the skin, each from 0 to 1. */
typedef enum exi_body_way {
    BODY_BENT,     /* elbow */
    BODY_TURNED,   /* forearm */
    BODY_FLEXED,   /* wrist, to the palm, */
    BODY_EXTENDED, /* to the back of the hand */
    BODY_UP,       /* the arm, from where it rests */
    BODY_DOWN,
    BODY_FORWARD,
    BODY_BACK,
    BODY_IN, /* turned about itself */
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

/* The skin at rest, as it is where the ways have these amounts, into positions [vertex_count][3]. */
void exi_body_sculpt(const ex_mesh *rest, const double ways[BODY_WAYS], double *positions);

/* ---- poses ---- */

/* Turns of one joint: degrees about z, then the y that this leaves, then about `about`. */
void exi_body_turn(double about_z, double about_y, const double about[3], double turn, double q[4]);

/* poses.csv of the scans: name, part, and the values of the axes. */
ex_result exi_body_write_poses(const char *directory, ex_error *error);

/* subject.json, its forms and skeleton in subject/, and poses.csv, into a folder that exists. */
ex_result exi_body_write_subject(const char *directory, double spacing, ex_error *error);

#endif

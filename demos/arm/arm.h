/*
 * arm.h - shared by the parts of the demo `arm`: its connectivity (arm_mesh.c), the form of an arm by gender and pose
 * (arm_shape.c), its skeleton and skin (arm_skin.c).
 *
 * A left arm, stretched out along +x with its palm up: +y is the side of the biceps and of the palm, -y that of the
 * triceps and of the point of the elbow, -z that of the thumb. All joints turn about z; positive angles raise the arm,
 * flex the elbow, and close the hand towards the forearm.
 */
#ifndef EXEMPLAR_DEMOS_ARM_H
#define EXEMPLAR_DEMOS_ARM_H

#include <exemplar/author.h>

/*
 * The tube of the arm and the palm has RINGS rings of COLUMNS vertices; column 0 is at +y, column 5 at +z. A square
 * patch closes it at the shoulder. Beyond the last ring, the knuckles, there are four fingers, each on two columns of
 * the palm's side and two of the back's; the thumb is on the two by two faces about ring ARM_THUMB, column 15, whose
 * middle vertex is its tip.
 */
enum {
    ARM_COLUMNS = 20,
    ARM_RINGS = 58,
    ARM_CAP = 4, /* the patch at the shoulder has 4 x 4 inner vertices */
    ARM_WEBS = 3,
    ARM_LOOP = 8, /* vertices around a finger */
    ARM_FINGERS = 4,
    ARM_FINGER_RINGS = 4,
    ARM_THUMB = 50,
    ARM_THUMB_COLUMN = 15,
    ARM_THUMB_RINGS = 3,
    ARM_FIRST_CAP = ARM_COLUMNS * ARM_RINGS,
    ARM_FIRST_WEB = ARM_FIRST_CAP + ARM_CAP * ARM_CAP,
    ARM_FIRST_FINGER = ARM_FIRST_WEB + ARM_WEBS,
    ARM_FINGER_SIZE = ARM_LOOP * ARM_FINGER_RINGS + 1, /* the last is the tip */
    ARM_FIRST_THUMB = ARM_FIRST_FINGER + ARM_FINGERS * ARM_FINGER_SIZE,
    ARM_VERTICES = ARM_FIRST_THUMB + ARM_LOOP * ARM_THUMB_RINGS,
    ARM_FACES = ARM_VERTICES - 2, /* a closed surface of quads without handles */
    ARM_JOINTS = 3
};

/* Positions of the joints on the x axis, in metres. */
#define ARM_ELBOW 0.30
#define ARM_WRIST 0.56

/* Vertex of a ring; any column, also negative. */
int exi_arm_vertex(int ring, int column);
/* The eight vertices at the base of a finger or the thumb, in the direction in which columns count. */
void exi_arm_finger_base(int finger, int loop[ARM_LOOP]);
void exi_arm_thumb_base(int loop[ARM_LOOP]);

/* Faces and texture coordinates; positions are 0. NULL if out of memory. */
ex_mesh *exi_arm_mesh(void);

/* Gender from 0, female, to 1, male; angles in degrees. Only the examples are evaluated: the rig computes everything
 * between and beyond them. */
typedef struct exi_arm_look {
    double gender, shoulder, elbow;
    double load; /* from 0, nothing, to 1, something heavy in the hand: tenses the flexors of a bent elbow */
} exi_arm_look;

/* Computes the form that a sculptor would give this arm: positions [ARM_VERTICES][3] at its pose. */
void exi_arm_shape(exi_arm_look look, double *positions);

/* Like exi_arm_shape before any joint turns: the muscles of the pose on a straight arm. */
void exi_arm_shape_straight(exi_arm_look look, double *positions);

/* Rounds to tenths of a micrometre: files are short, and the same whatever rounding a compiler chose. */
void exi_arm_round(double *positions);

/* Adds fingers and thumb, stretched out along x, to the knuckles and the palm, which are there already. */
void exi_arm_shape_hand(double gender, double *positions);

/* Makes a scene of the arm at rest: skeleton and skin. rest: the mesh, with its positions. */
ex_result exi_arm_scene(const ex_mesh *rest, ex_scene **scene, ex_error *error);

#endif

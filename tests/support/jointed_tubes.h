/*
 * jointed_tubes.h - registered meshes whose truth is known: a tube with three joints, skinned by formula, without any
 * code of the library.
 */
#ifndef EXEMPLAR_TESTS_JOINTED_TUBES_H
#define EXEMPLAR_TESTS_JOINTED_TUBES_H

#include <exemplar/author/articulate.h>

enum { RINGS = 25, AROUND = 8, TUBE = RINGS * AROUND, EYE = 6, VERTICES = TUBE + EYE, JOINTS = 3, FORMS = 5 };

/* A tube along x on three joints, and a small octahedron beside its end, which follows the last bone. */
typedef struct jointed_tube {
    ex_mesh *mesh;
    double rest[VERTICES][3], weights[VERTICES][JOINTS];
    double turns[FORMS][JOINTS][4], bases[FORMS][3];
    double forms[FORMS][VERTICES][3];
    const double *form_list[FORMS];
    ex_kinematics skeleton;
    ex_kin_joint joints[JOINTS];
    uint16_t start_joints[VERTICES][JOINTS];
    float start_weights[VERTICES][JOINTS];
    ex_articulate_def def;
} jointed_tube;

/* Places of the joints along x, and the tube's radius: it is 1.3 times as deep. */
extern const double jointed_at[JOINTS], jointed_radius;

/* Sets a rotation about an axis. */
void jointed_turn(double q[4], double x, double y, double z, double degrees);
/* Skins the rest form by the turns of a form, plus what `bulge` adds where the second joint bends. */
void jointed_pose(jointed_tube *t, int form, double bulge, double (*out)[3]);
/* Makes the tube and its forms, and a definition without a skeleton. */
void jointed_open(jointed_tube *t, double bulge);
/* Adds the true skeleton and weights to the definition. */
void jointed_add_skeleton(jointed_tube *t);
void jointed_close(jointed_tube *t);

/* Makes a body; fails the test on an error. */
ex_articulated *jointed_articulate(const ex_articulate_def *def);
/* Distance of a body's posed form from a form of the tube. */
double jointed_distance(const jointed_tube *t, const ex_articulated *body, int form);

#endif

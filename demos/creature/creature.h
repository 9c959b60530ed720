/*
 * creature.h - what the files of the demo `creature` share: its skeleton, its flesh as a solid, the mesh of its skin,
 * and poses. Private to demos.
 *
 * Metres, y up, the head towards +x, standing on y = 0; +z is the animal's own right. At rest all joints stand in the
 * axes of the world, so that a turn about z takes a foot forwards and lifts a nose.
 */
#ifndef EXEMPLAR_DEMOS_CREATURE_H
#define EXEMPLAR_DEMOS_CREATURE_H

#include "demos/demos.h"

/* ---- the skeleton ---- */

enum { CREATURE_TAIL = 8 }; /* links of the tail */

typedef enum exi_creature_bone {
    CREATURE_BODY,
    CREATURE_HIPS,
    CREATURE_CHEST,
    CREATURE_NECK,
    CREATURE_HEAD,
    /* left before right */
    CREATURE_ARM,
    CREATURE_FOREARM = CREATURE_ARM + 2,
    CREATURE_HAND = CREATURE_FOREARM + 2,
    CREATURE_THIGH = CREATURE_HAND + 2,
    CREATURE_SHANK = CREATURE_THIGH + 2,
    CREATURE_FOOT = CREATURE_SHANK + 2,
    CREATURE_TOES = CREATURE_FOOT + 2,
    CREATURE_TAIL_FIRST = CREATURE_TOES + 2,
    CREATURE_BONES = CREATURE_TAIL_FIRST + CREATURE_TAIL
} exi_creature_bone;

/* The bone before it in the chain, or -1; and where its joint is at rest. */
int exi_creature_parent(int bone);
void exi_creature_joint(int bone, double place[3]);

/* ---- its flesh (creature_field.c) ---- */

/* A bar with round ends, thick at one and thinner at the other. */
typedef struct exi_creature_bar {
    int bone;
    double from[3], from_radius, to_radius;
    double along[3], length; /* from there; a direction and metres */
    double soft;             /* within how many metres of what came before it is joined softly */
    double middle[3], reach; /* a ball around it */
} exi_creature_bar;

enum { CREATURE_BARS = 64 };

typedef struct exi_creature_flesh {
    int count;
    exi_creature_bar bars[CREATURE_BARS];
} exi_creature_flesh;

void exi_creature_flesh_make(exi_creature_flesh *flesh);
/* One more bar, for flesh of another figure; up to CREATURE_BARS of them, bones below CREATURE_BONES. */
void exi_creature_flesh_add(exi_creature_flesh *flesh, int bone, const double from[3], double from_radius,
                            const double to[3], double to_radius, double soft);
/* Negative inside, positive outside; never steeper than a distance. gradient [3] may be NULL. */
double exi_creature_field(const exi_creature_flesh *flesh, const double p[3], double gradient[3]);
/* The distance from each bar by itself, where it counts: the least of every bone's. */
void exi_creature_bone_fields(const exi_creature_flesh *flesh, const double p[3], double distances[CREATURE_BONES]);
/* The nearest place on the skin, for a point near it. */
void exi_creature_project(const exi_creature_flesh *flesh, double p[3]);

/* ---- its skin (creature_mesh.c, creature_relax.c) ---- */

/* Spacing of the lattice that the skin is found on: triangles are about 5.9 / spacing^2. The demo has
 * 10 000 of them, which once they are subdivided are 40 000. */
#define CREATURE_SPACING 0.0243

/* One closed surface of triangles about `spacing` metres long. NULL without memory. */
ex_mesh *exi_creature_mesh(double spacing);
/* The same of any flesh. */
ex_mesh *exi_creature_flesh_mesh(const exi_creature_flesh *flesh, double spacing);
/* Evens out the vertices of a closed mesh of triangles on the creature's skin, and flips edges until the triangles are
 * as full as they can be. False without memory. */
bool exi_creature_relax(const exi_creature_flesh *flesh, ex_mesh *mesh);

/* ---- what moves it (creature_skin.c) ---- */

/* Bones of this or another figure; a parent's number is lower. */
typedef struct exi_creature_bones {
    int count;
    int (*parent)(int bone);
    void (*joint)(int bone, double place[3]);
    double (*softness)(
        int bone); /* metres: how much farther than the nearest a bone's flesh may be and still have a say */
    double width;  /* metres over which weights are evened out */
} exi_creature_bones;

/* Which bones move a vertex. NULL without memory; release with ex_skin_destroy. */
ex_skin *exi_creature_bones_skin(const exi_creature_bones *bones, const exi_creature_flesh *flesh, const ex_mesh *mesh);
/* What moves what is at rest, [count][12], rows of a rotation and a translation: each bone turned about its joint by
 * its own matrix [3][3], after those before it. */
void exi_creature_bones_move(const exi_creature_bones *bones, double (*turns)[3][3], float (*matrices)[12]);
/* About x, then y, then z (of the turned axes), degrees; rows first. */
void exi_creature_turn(const double degrees[3], double matrix[3][3]);

/* ---- its poses (creature_pose.c) ---- */

typedef enum exi_creature_pose {
    CREATURE_LEAP,
    CREATURE_SIT,
    CREATURE_KICK,
    CREATURE_CURL, /* of the tail alone */
    CREATURE_POSES
} exi_creature_pose;

extern const char *const exi_creature_pose_names[CREATURE_POSES];

/* Which bones move a vertex. NULL without memory; release with ex_skin_destroy. */
ex_skin *exi_creature_skin(const ex_mesh *mesh);
/* The mesh in a pose, into positions [vertex_count][3]. */
ex_result exi_creature_posed(const ex_mesh *mesh, const ex_skin *skin, exi_creature_pose pose, double *positions,
                             ex_error *error);

/* ---- the demo ---- */

/* creature.json, creature_linear.json and the forms, of triangles as large as the spacing says. */
ex_result exi_creature_write(const char *directory, double spacing, ex_error *error);

#endif

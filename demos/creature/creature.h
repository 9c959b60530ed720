/*
 * creature.h - shared by the files of the demo `creature`: its skeleton, its flesh as a solid, the mesh of its skin,
 * and poses. Private to demos.
 *
 * Metres, y up, the head towards +x, the feet on y = 0; +z is the animal's own right. At rest all joints have the axes
 * of the world, so that a turn about z moves a foot forwards and lifts a nose.
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

/* The parent bone, or -1; and the position of its joint at rest. */
int exi_creature_parent(int bone);
void exi_creature_joint(int bone, double place[3]);

/* ---- the flesh (creature_field.c) ---- */

/* A bar with round ends, tapered from one end to the other. */
typedef struct exi_creature_bar {
    int bone;
    double from[3], from_radius, to_radius;
    double along[3], length; /* from there; direction and length in metres */
    double soft;             /* distance in metres over which it is blended with earlier bars */
    double middle[3], reach; /* bounding ball */
} exi_creature_bar;

enum { CREATURE_BARS = 64 };

typedef struct exi_creature_flesh {
    int count;
    exi_creature_bar bars[CREATURE_BARS];
} exi_creature_flesh;

void exi_creature_flesh_make(exi_creature_flesh *flesh);
/* Adds a bar, for the flesh of another figure; up to CREATURE_BARS of them, bones below CREATURE_BONES. */
void exi_creature_flesh_add(exi_creature_flesh *flesh, int bone, const double from[3], double from_radius,
                            const double to[3], double to_radius, double soft);
/* Negative inside, positive outside; the slope is never above 1. gradient [3] may be NULL. */
double exi_creature_field(const exi_creature_flesh *flesh, const double p[3], double gradient[3]);
/* Distance from each bone: the least of its bars', without blending. */
void exi_creature_bone_fields(const exi_creature_flesh *flesh, const double p[3], double distances[CREATURE_BONES]);
/* Moves a point near the skin to the nearest place on it. */
void exi_creature_project(const exi_creature_flesh *flesh, double p[3]);

/* ---- the skin (creature_mesh.c, creature_relax.c) ---- */

/* Spacing of the lattice for the skin: the number of triangles is about 5.9 / spacing^2. The demo has 10 000 of them,
 * 40 000 after subdivision. */
#define CREATURE_SPACING 0.0243

/* Makes one closed surface of triangles of about `spacing` metres. NULL if out of memory. */
ex_mesh *exi_creature_mesh(double spacing);
/* Like exi_creature_mesh, for any flesh. */
ex_mesh *exi_creature_flesh_mesh(const exi_creature_flesh *flesh, double spacing);
/* Evens out the vertices of a closed mesh of triangles on the creature's skin, and flips edges until the triangles are
 * as round as possible. False if out of memory. */
bool exi_creature_relax(const exi_creature_flesh *flesh, ex_mesh *mesh);

/* ---- skinning (creature_skin.c) ---- */

/* Bones of this or another figure; a parent has a lower index. */
typedef struct exi_creature_bones {
    int count;
    int (*parent)(int bone);
    void (*joint)(int bone, double place[3]);
    double (*softness)(int bone); /* metres: largest extra distance, compared with the nearest bone's flesh, at which a
                                   * bone still has weight */
    double width;                 /* metres over which weights are smoothed */
} exi_creature_bones;

/* Computes the skin's weights. NULL if out of memory; release with ex_skin_destroy. */
ex_skin *exi_creature_bones_skin(const exi_creature_bones *bones, const exi_creature_flesh *flesh, const ex_mesh *mesh);
/* Transforms from rest [count][12], rows of a rotation and a translation: each bone is turned about its joint by its
 * matrix [3][3], after its ancestors. */
void exi_creature_bones_move(const exi_creature_bones *bones, double (*turns)[3][3], float (*matrices)[12]);
/* Rotation about x, then y, then z (of the turned axes), in degrees; row-major. */
void exi_creature_turn(const double degrees[3], double matrix[3][3]);

/* ---- poses (creature_pose.c) ---- */

typedef enum exi_creature_pose {
    CREATURE_LEAP,
    CREATURE_SIT,
    CREATURE_KICK,
    CREATURE_CURL, /* only the tail */
    CREATURE_POSES
} exi_creature_pose;

extern const char *const exi_creature_pose_names[CREATURE_POSES];

/* Computes the skin's weights. NULL if out of memory; release with ex_skin_destroy. */
ex_skin *exi_creature_skin(const ex_mesh *mesh);
/* Poses the mesh, into positions [vertex_count][3]. */
ex_result exi_creature_posed(const ex_mesh *mesh, const ex_skin *skin, exi_creature_pose pose, double *positions,
                             ex_error *error);

/* ---- the demo ---- */

/* Writes creature.json, creature_linear.json and the forms, with triangles of that spacing. */
ex_result exi_creature_write(const char *directory, double spacing, ex_error *error);

#endif

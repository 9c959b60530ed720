/*
 * init_unify.h - shared by the parts that make one skin of all that moves a character; private to authoring.
 *
 * The rig has one skin: joints with a node and an inverse bind matrix B each, and vertices in one bind space. A vertex
 * x of a skin s, whose joints are bound by B_s, is at
 *
 *     sum_j w_j W_j B_s,j x,
 *
 * with the world matrices W of the nodes. If one matrix M carries all its binds over, B_s,j = B_j M, the vertex M x of
 * the common bind space is at the same place in every pose. A joint for which that does not hold gets a second joint at
 * the same node. A part without a skin at node n hangs on the nearest joint j above it; with the product P of the
 * transforms from there to n, its vertex is (B_j)^-1 P x. Nodes that an animation moves are joints too, and so are
 * those whose transforms shear what is below them, since no rest transform of a joint could stand for both.
 *
 *   init_unify.c  the whole, and the meshes
 *   init_bind.c   joints and binds
 */
#ifndef EXEMPLAR_AUTHOR_PROJECT_IMPORT_INIT_UNIFY_H
#define EXEMPLAR_AUTHOR_PROJECT_IMPORT_INIT_UNIFY_H

#include "author/project/import/init.h"

/* A joint of the common skin. */
typedef struct exi_bound_joint {
    int node;                /* in the new scene */
    double inverse_bind[16]; /* B */
} exi_bound_joint;

/* A skin of the file in the common one. */
typedef struct exi_bound_skin {
    bool used;        /* a mesh that is wanted has it */
    double carry[16]; /* M */
    bool still;       /* M is the identity */
    int *joints;      /* [joint_count of the skin]: index in the common skin */
} exi_bound_skin;

typedef struct exi_unify {
    const exi_init *init; /* for notes, and what is wanted */
    const ex_scene *from; /* the file */
    ex_scene *to;         /* the new scene: the file's nodes, then second joints */
    const double *worlds; /* [node_count][16] of the file at rest */
    int *joint_of;        /* [node_count]: index of the node's joint, or -1 */
    exi_bound_joint *joints;
    int joint_count;
    size_t joint_capacity;
    exi_bound_skin *skins; /* [skin_count] */
    double ground[16];     /* from the bind space to the world at rest */
    double size;           /* of the character in the world */
    int main;              /* the skin with the most vertices, or -1 */
} exi_unify;

/* Finds all joints, their binds, and how skins carry over. */
ex_result exi_unify_bind(exi_unify *u, ex_error *error);

/* Returns the nearest joint at or above a node, or -1; `product` receives the transforms below it down to the node. */
int exi_unify_joint_above(const exi_unify *u, int node, double product[16]);

/* True if a primitive of a node is moved by the node's skin. */
static inline bool exi_unify_is_skinned(const ex_scene *scene, int node, const ex_scene_primitive *primitive) {
    return scene->nodes[node].skin >= 0 && primitive->influence_count > 0;
}

/* True if a wanted mesh of a node, or a part of it, has no skin. */
bool exi_unify_is_rigid(const exi_unify *u, int node);

#endif

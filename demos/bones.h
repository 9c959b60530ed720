/*
 * bones.h - skeletons of demos: joints whose axes are those of the world, and a formula for the weights of a vertex.
 * Private to demos.
 */
#ifndef EXEMPLAR_DEMOS_BONES_H
#define EXEMPLAR_DEMOS_BONES_H

#include "demos.h"

enum { BONES_MAX = 4 }; /* one set of glTF's influences */

typedef struct exi_bone {
    const char *name;
    int parent; /* an earlier bone, or -1 */
    double place[3];
} exi_bone;

typedef struct exi_bones {
    const char *name; /* name of the skin and its mesh */
    const exi_bone *bones;
    int count; /* up to BONES_MAX */
    /* Weights of a vertex at rest for each of BONES_MAX bones; their sum is 1. */
    void (*weigh)(const double place[3], float weights[BONES_MAX]);
} exi_bones;

/* Makes a scene of the mesh at rest: skeleton and skin. */
ex_result exi_bones_scene(const exi_bones *bones, const ex_mesh *rest, ex_scene **scene, ex_error *error);
/* Writes that scene as directory/skeleton.glb. */
ex_result exi_bones_write(const exi_bones *bones, const ex_mesh *rest, const char *directory, ex_error *error);

#endif

/*
 * displaced.h - a rig for tests whose refined surface is displaced: a grid of quads, bent or flat, with one layer that
 * moves the cage and two that displace its levels, all on the limit surface; one of the two has a mask. Two joints pose
 * it.
 */
#ifndef EXEMPLAR_TESTS_DISPLACED_H
#define EXEMPLAR_TESTS_DISPLACED_H

#include <exemplar/author/mesh.h>
#include <exemplar/rig_inspect.h>

enum { DISPLACED_LAYERS = 3, DISPLACED_EXAMPLES = 3, DISPLACED_MAPS = 2 * DISPLACED_EXAMPLES };

/* Points into itself: do not copy it, and end with displaced_close. */
typedef struct displaced {
    ex_rig_def def; /* definition of the rig */
    ex_layer_def layers[DISPLACED_LAYERS];
    ex_axis axes[2];
    ex_mesh *cage;
    ex_subdivision *subdivision;
    ex_rig_mesh meshes[6], levels[5]; /* with separate faces */
    ex_skeleton *skeleton;
    ex_skin *skin;
    float *positions, *deltas[DISPLACED_EXAMPLES], *maps[DISPLACED_MAPS], *mask;
    int count; /* vertices of the last level */
} displaced;

/* width times depth quads with y up, refined `levels` times; bent: not a plane. Vertices of the cage are a metre
 * apart. */
void displaced_open(displaced *d, int width, int depth, int levels, bool bent);
void displaced_close(displaced *d);

/* Expected result of the rig at a level, computed in a simple way in double from the rows of its stencils: positions
 * [vertices][3] and the limit normals, or NULL. control: of the posed cage. weights: of all examples, 0 for layers that
 * are left out. */
void displaced_plainly(const displaced *d, const ex_stencils *stencils, int level, const float *control,
                       const double *weights, double *positions, double *normals);

#endif

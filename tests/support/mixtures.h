/*
 * mixtures.h - a layer of trajectories with a mixture for tests, and its expected results, computed in a simple way in
 * double: rotations by Rodrigues' formula, places of nodes by elimination, the d of a vertex by solving three
 * equations.
 */
#ifndef EXEMPLAR_TESTS_MIXTURES_H
#define EXEMPLAR_TESTS_MIXTURES_H

#include <exemplar/rig_inspect.h>

enum {
    MIXED_SCREWS = 1,
    MIXED_OVERLAPS = 2,
    MIXED_MASK = 4,
    MIXED_REFERENCE = 8,
    MIXED_CORRECTORS = 16,
    MIXED_ALL = 31
};
enum { MIXED_EXAMPLES = 4, MIXED_NODES = 5, MIXED_EDGES = 7, MIXED_COUNT = 3, MIXED_TERMS = 7 };

/* Four examples with a dial each (the weights), of which the second may be the reference. Examples are the mesh turned
 * and moved, and random offsets. Points into itself: do not copy it, and end with mixed_layer_close. */
typedef struct mixed_layer {
    ex_layer_def def;
    int vertex_count;  /* of the mesh */
    const float *mesh; /* [vertex_count + more][3] */
    ex_axis axes[MIXED_EXAMPLES];
    ex_trajectory trajectories[MIXED_EXAMPLES];
    float places[1 + MIXED_EXAMPLES][MIXED_NODES][3], turns[MIXED_EXAMPLES][MIXED_NODES][3];
    uint16_t edges[MIXED_EDGES][2];
    float edge_weights[MIXED_EDGES];
    ex_mixture_term terms[MIXED_TERMS];
    float curves[MIXED_COUNT][MIXED_TERMS];
    float overlaps[MIXED_EXAMPLES][MIXED_EXAMPLES];
    float *memory, *mask, *shares;
    uint16_t *nodes;
    const float *delta_list[MIXED_EXAMPLES], *corrector_list[MIXED_COUNT];
} mixed_layer;

/* more: vertices of a driver, which have entries in the mixture only. */
void mixed_layer_open(mixed_layer *m, const float *mesh, int vertex_count, int more, int parts, uint64_t seed);
void mixed_layer_close(mixed_layer *m);

/* The weights brought back [example_count], the shares and the bounded shares [1 + example_count]; returns the fade. */
double plain_mixture_weights(const ex_layer_def *layer, const double *weights, double *back, double *shares,
                             double *bounded);
/* Rotations and places of the nodes at weights that are brought back. */
void plain_mixture_nodes(const ex_layer_def *layer, const double *back, const double *shares, double (*turns)[9],
                         double (*places)[3]);
/* mask (path - mesh) of a vertex at weights [example_count]. */
void plain_mixture(const ex_layer_def *layer, const float *mesh, const double *weights, int vertex, double out[3]);

#endif

/*
 * rig_difference.h - declarations shared by the parts of comparing two rigs; private to authoring.
 *
 *   rig_difference.c       the list, the mesh, and the loop over everything
 *   difference_layers.c    axes, weighers
 *   difference_examples.c  examples and pseudo-examples
 *   difference_trajectories.c     trajectories
 *   difference_driver.c    drivers, their forms at examples, and predictors of their motion
 *   difference_body.c      skeletons, skins, refined levels, textures
 */
#ifndef EXEMPLAR_AUTHOR_PROJECT_COMPARE_RIG_DIFFERENCE_H
#define EXEMPLAR_AUTHOR_PROJECT_COMPARE_RIG_DIFFERENCE_H

#include "runtime/base/result.h"

#include <exemplar/author/project.h>

typedef struct exi_comparison {
    const ex_rig *a, *b;
    double tolerance;
    ex_differences *list;
    bool failed; /* true if memory ran out */
} exi_comparison;

/* Adds a difference; kind is a literal, where may be "". */
void exi_difference_add(exi_comparison *c, const char *kind, const char *where, double largest, double rms,
                        const char *format, ...) EX_PRINTF(6, 7);

/* True if two numbers differ by more than the tolerance. */
bool exi_apart(const exi_comparison *c, double a, double b);

/* The largest and the root mean square distance of two rows of vertices. */
typedef struct exi_spread {
    double largest, rms;
    int vertex;
} exi_spread;
exi_spread exi_spread_of(const float *a, const float *b, size_t count);

/* Named things of two rigs. */
typedef struct exi_named {
    const char *what; /* "layer" */
    const char *where;
    const char *(*name)(const ex_rig *rig, int layer, int index);
    int layers[2];
    int counts[2];
} exi_named;

/*
 * Matches things of a with things of b: returns for each of a's the index of b's, or -1: [counts[0]], release with
 * free; NULL without memory. Matches by name. If both have the same number, two unmatched things at the same index are
 * one that was renamed. Adds a difference for each that is only in one rig or was renamed.
 */
int *exi_difference_match(exi_comparison *c, const exi_named *named);

/* A layer of each rig, the definition of its weigher, and the matching axes and examples. */
typedef struct exi_layer_side {
    const ex_rig *rig;
    int layer;
    ex_weigher_def def; /* its axes and pseudos are the fields below */
    ex_axis *axes;
    ex_pseudo *pseudos;
} exi_layer_side;

typedef struct exi_layer_pair {
    exi_comparison *c;
    exi_layer_side a, b;
    int *axes, *examples; /* [count of a] index in b, or -1; NULL without memory */
    char where[256];
} exi_layer_pair;

/* Fills in pair->examples. */
void exi_difference_examples(exi_layer_pair *pair);
/* Compares layers of trajectories; call after exi_difference_examples. */
void exi_difference_trajectories(exi_layer_pair *pair);

/* Compares the driver's forms at examples a and b of layers that a driver weighs. */
void exi_difference_driver_form(exi_layer_pair *pair, int a, int b);
void exi_difference_predictor(const exi_layer_pair *pair);
void exi_difference_driver(exi_comparison *c);
void exi_difference_layers(exi_comparison *c);
void exi_difference_body(exi_comparison *c);

#endif

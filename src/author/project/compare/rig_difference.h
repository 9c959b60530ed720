/*
 * rig_difference.h - what the parts of comparing two rigs share; private to authoring.
 *
 *   rig_difference.c       the list, the mesh, and the way through all of it
 *   difference_layers.c    axes, weighers
 *   difference_examples.c  examples and pseudo-examples
 *   difference_trajectories.c     trajectories
 *   difference_driver.c    drivers, and their forms at examples
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
    bool failed; /* memory ran out */
} exi_comparison;

/* Adds a difference; kind is a literal, where may be "". */
void exi_difference_add(exi_comparison *c, const char *kind, const char *where, double largest, double rms,
                        const char *format, ...) EX_PRINTF(6, 7);

/* Whether two numbers are farther apart than the tolerance. */
bool exi_apart(const exi_comparison *c, double a, double b);

/* The largest distance of two rows of vertices, and of all of them. */
typedef struct exi_spread {
    double largest, rms;
    int vertex;
} exi_spread;
exi_spread exi_spread_of(const float *a, const float *b, size_t count);

/* Things of two rigs that have names. */
typedef struct exi_named {
    const char *what; /* "layer" */
    const char *where;
    const char *(*name)(const ex_rig *rig, int layer, int index);
    int layers[2];
    int counts[2];
} exi_named;

/*
 * Which of b's each of a's is, or -1: [counts[0]], release with free; NULL without memory. Matched by name; where both
 * have as many, two of those left over in the same place are one that was renamed. What is only in one, and what was
 * renamed, is added.
 */
int *exi_difference_match(exi_comparison *c, const exi_named *named);

/* A layer of each rig, what its weigher was made from, and which axes and examples belong together. */
typedef struct exi_layer_side {
    const ex_rig *rig;
    int layer;
    ex_weigher_def def; /* its axes and pseudos are those below */
    ex_axis *axes;
    ex_pseudo *pseudos;
} exi_layer_side;

typedef struct exi_layer_pair {
    exi_comparison *c;
    exi_layer_side a, b;
    int *axes, *examples; /* of a: which one of b; NULL without memory */
    char where[256];
} exi_layer_pair;

/* Fills in pair->examples. */
void exi_difference_examples(exi_layer_pair *pair);
/* Of layers of trajectories, after that. */
void exi_difference_trajectories(exi_layer_pair *pair);

/* Examples of layers that a driver weighs: a's and b's forms of the driver. */
void exi_difference_driver_form(exi_layer_pair *pair, int a, int b);
void exi_difference_driver(exi_comparison *c);
void exi_difference_layers(exi_comparison *c);
void exi_difference_body(exi_comparison *c);

#endif

/*
 * swing.h - weights of a layer all over its range: how far they leave 0 to 1, and where; private to authoring.
 */
#ifndef EXEMPLAR_AUTHOR_PROJECT_BUILD_SWING_H
#define EXEMPLAR_AUTHOR_PROJECT_BUILD_SWING_H

#include <exemplar/author/project.h>

/* Writes sample `sample` of points that fill the range of axes evenly, and all rotations: [dimension]. */
void exi_axes_sample(const ex_axis *axes, int axis_count, int sample, double *point);
/* The same for the axes of a layer. */
void exi_space_sample(const ex_project_layer *layer, int sample, double *point);
/* Writes a point in words: "elbow=53.4 load=0.2". */
void exi_space_words(const ex_project_layer *layer, const double *point, char *text, size_t size);

/* A weight, and where it was found. */
typedef struct exi_swing {
    int example; /* index as built */
    double weight;
    char place[256]; /* in words */
} exi_swing;

/* The lowest and the highest weight at some samples, at least 0 and 1. */
typedef struct exi_extent {
    exi_swing low, high;
} exi_extent;

/* Finds them for a layer with points. Others, and driven ones, get 0 and 1. False without memory. */
bool exi_measure_extent(const ex_project_layer *layer, const ex_weigher *weigher, int samples, exi_extent *extent);
/* The same if the layer were calm. def is its definition. *possible is false if it cannot be: it weighs vertices among
 * the examples that move them, it is direct or driven, or the space cannot be solved. False without memory. */
bool exi_measure_calm(const ex_project_layer *layer, const ex_weigher_def *def, int samples, exi_extent *extent,
                      bool *possible);
/* The one of the two that is farther outside of [0, 1]. */
const exi_swing *exi_extent_worst(const exi_extent *extent);

#endif

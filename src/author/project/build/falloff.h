/*
 * falloff.h - how far points of a gaussian layer reach, where that is left to the forms; private to authoring.
 */
#ifndef EXEMPLAR_AUTHOR_PROJECT_BUILD_FALLOFF_H
#define EXEMPLAR_AUTHOR_PROJECT_BUILD_FALLOFF_H

#include "author/project/model/project.h"

/* Inner products of examples [count][count], release with free; NULL without memory. */
double *exi_gram_of_offsets(const ex_offsets *offsets, int count);
double *exi_gram_of_rows(const float *const *rows, int count, size_t numbers);

typedef struct exi_falloff_choice {
    double *falloffs; /* [points][axis_count], release with free; NULL: those of the definition hold */
    double factor;    /* on the usual one; 1 where there was nothing to choose by */
    double usual;     /* the mean distance of a point to its nearest other one */
    double error;     /* of guessing each point from the others, over all that there is to guess */
    double error_usual;
} exi_falloff_choice;

/* Points that a falloff is chosen for at most: each try inverts a matrix of so many. */
#define EXI_FALLOFF_POINTS 256

/* Chooses one factor on the default falloff by leave-one-out; where there are fewer than 3 points or nothing to guess,
 * or more than EXI_FALLOFF_POINTS points, the default stays. Results: MEMORY; a space that cannot be solved is left for
 * its solve to refuse. */
ex_result exi_falloff_choose(const ex_weigher_def *weigh, const double *gram, exi_falloff_choice *choice,
                             ex_error *error);

/* How far the weights of a gaussian weigher are from those that its points ask for, at these points: what a ridge
 * costs. *example: the one that is missed most. False without memory. */
bool exi_ridge_cost(const ex_weigher *weigher, double *cost, int *example);

/* "example 'bent'", "pseudo-example 2", "the zero at rest". */
typedef struct exi_point_words {
    char text[320];
} exi_point_words;
const char *exi_point_name(const ex_project_view *view, int layer, int point, exi_point_words *text);

#endif

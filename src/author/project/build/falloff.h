/*
 * falloff.h - chooses the falloffs of a gaussian layer so that weights stay calm between examples, and examples are
 * predicted well from each other; private to authoring.
 */
#ifndef EXEMPLAR_AUTHOR_PROJECT_BUILD_FALLOFF_H
#define EXEMPLAR_AUTHOR_PROJECT_BUILD_FALLOFF_H

#include "author/project/model/project.h"

/* Returns the inner products of examples [count][count], to be released with free; NULL without memory. */
double *exi_gram_of_offsets(const ex_offsets *offsets, int count);
double *exi_gram_of_rows(const float *const *rows, int count, size_t numbers);

/* The worth of falloffs; falloff.c has the formulas. */
typedef struct exi_falloff_worth {
    double error;     /* leave-one-out error of all points, relative to the values to predict */
    double dip;       /* part of the weights that is missing halfway between neighbours, RMS */
    double low, high; /* lowest and highest weight at places of the range, at least 0 and 1 */
    double cost;      /* the sum to minimise; infinite if a ridge is needed */
} exi_falloff_worth;

typedef struct exi_falloff_choice {
    double *falloffs; /* [points][axis_count], release with free; NULL: use those of the definition */
    bool own;         /* false: the factor is on the default falloff; true: on each point's distance to its nearest */
    double factor;    /* 1 if there was nothing to choose by */
    double usual;     /* default falloff: the mean distance of a point to its nearest neighbour */
    exi_falloff_worth worth, worth_usual; /* of the choice, and of the default */
} exi_falloff_choice;

/* Maximum number of points for choosing a falloff: each try inverts a matrix of that size. */
#define EXI_FALLOFF_POINTS 256
/* Weights of the best falloffs that are farther outside of [0, 1] than this call for another weigher. */
#define EXI_FALLOFF_SWING 0.5

/* Chooses the falloffs of points that have none of their own in the definition. The default is kept if there are fewer
 * than 3 points or nothing to predict, or more than EXI_FALLOFF_POINTS points. About 60 solves. Result MEMORY; a space
 * that cannot be solved is left for its solve to refuse. */
ex_result exi_falloff_choose(const ex_weigher_def *weigh, const double *gram, exi_falloff_choice *choice,
                             ex_error *error);

/* Computes the cost of a ridge: the largest error of the weights of a gaussian weigher at its points. *example: the
 * example with the largest error. False without memory. */
bool exi_ridge_cost(const ex_weigher *weigher, double *cost, int *example);

/* "example 'bent'", "pseudo-example 2", "the zero at rest". */
typedef struct exi_point_words {
    char text[320];
} exi_point_words;
const char *exi_point_name(const ex_project_view *view, int layer, int point, exi_point_words *text);

#endif

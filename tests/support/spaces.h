/* spaces.h - spaces for tests: definitions with the arrays they point to, and weighers made from them. */
#ifndef EXEMPLAR_TESTS_SPACES_H
#define EXEMPLAR_TESTS_SPACES_H

#include <exemplar/weigh.h>

enum { SPACE_POINTS = 40, SPACE_NUMBERS = 16, SPACE_PSEUDOS = 4 };

/* Points into itself: do not copy it. */
typedef struct sample_space {
    ex_weigher_def def;
    ex_axis axes[SPACE_NUMBERS];
    int dimension;
    double points[SPACE_POINTS * SPACE_NUMBERS]; /* [example][dimension] */
    ex_pseudo pseudos[SPACE_PSEUDOS];
    double at[SPACE_PSEUDOS * SPACE_NUMBERS], from[SPACE_PSEUDOS * SPACE_NUMBERS];
} sample_space;

/* Scalar axes with different ranges, and examples scattered over them with a minimum distance. */
void sample_space_scalars(sample_space *s, int axis_count, int example_count, uint64_t seed);

/* A scalar, a whole rotation, a swing and a twist. */
void sample_space_mixed(sample_space *s, int example_count, uint64_t seed);

/* Adds a pseudo-example at `at` that borrows its weights from `from`. */
void sample_space_add_pseudo(sample_space *s, const double *at, const double *from);

/* A point of the space: scalars within `ranges` ranges around the middle of theirs, any rotation. */
void sample_space_point(const sample_space *s, double ranges, uint64_t *random, double *point);

/* Creates a weigher; if that fails, the test fails with the sentence. */
ex_weigher *weigher_of(const ex_weigher_def *def);

/* A unit quaternion: a turn by that many degrees about a direction. */
void turn_about(double x, double y, double z, double degrees, double q[4]);

double sum_of(const double *values, int count);

#endif

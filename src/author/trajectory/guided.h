/*
 * guided.h - shared by the files of guided mode; private to the room.
 */
#ifndef EXEMPLAR_AUTHOR_TRAJECTORY_GUIDED_H
#define EXEMPLAR_AUTHOR_TRAJECTORY_GUIDED_H

#include "author/trajectory/trajectory.h"

/* Number of in-betweens, at the inner Chebyshev points of [0, 1]. A curve has one coefficient for each. */
#define EXI_SAMPLES EX_CURVE_SIZE
double exi_sample_time(int sample);

/* Fits angular velocities w [vertex_count][3] to paths [EXI_SAMPLES][vertex_count][3] from start to aligned end. */
ex_result exi_guided_turns(const ex_between *between, const double *paths, double *turns, ex_error *error);

#endif

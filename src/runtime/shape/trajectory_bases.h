/*
 * Contributions of segments to the paths of those below them. Private to the room.
 */
#ifndef EXI_TRAJECTORY_BASES_H
#define EXI_TRAJECTORY_BASES_H

#include "runtime/shape/trajectory.h"

/*
 * Computes the sum over each segment and those above it, without roots, of R~(w_a) u_a [segment_count], with w_a and
 * u_a blended by the weights, or those of the example `only` unless it is -1.
 */
void exi_trajectories_append(const exi_trajectories *paths, const double *weights, int only, double (*shifts)[3]);

#endif

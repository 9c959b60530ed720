/*
 * fit_blocks.h - the fit of a skeleton in blocks of scans; private to src/author/scan.
 *
 * Shared unknowns are one array of doubles: translations [joint][3], axes [joint][3], places of sites [site][3]. For
 * given ones, every scan has its best pose, so the cost is a function of them alone. A block sums that cost over some
 * scans, and the normal equations with poses eliminated (fit_normal.c); the sum of all blocks gives a step.
 */
#ifndef EXEMPLAR_AUTHOR_SCAN_FIT_FIT_BLOCKS_H
#define EXEMPLAR_AUTHOR_SCAN_FIT_FIT_BLOCKS_H

#include <exemplar/author/kinematics.h>

/* Normal equations: the upper triangle of matrix [n][n], right [n], diagonal [n]; numbers holds all three. */
typedef struct exi_fit_system {
    int n;
    double cost;
    double *numbers; /* [n * n + 2 * n] */
} exi_fit_system;

/* Number of shared unknowns in that array, and those of a skeleton. */
int exi_fit_shared_count(const ex_kinematics *kinematics);
void exi_fit_shared_read(const ex_kinematics *kinematics, double *shared);
void exi_fit_shared_write(ex_kinematics *kinematics, const double *shared);

/* Finds the poses of scans with these shared unknowns, and sums them. def: with a reference, which is scan 0, and the
 * skeleton that the fit began with. own: false if the reference belongs to another block. system: *numbers is to be
 * freed. poses [scan_count]: rotations from the caller; rms [scan_count]. Results: DATA, MEMORY. */
ex_result exi_fit_block(const ex_kin_fit_def *def, double noise, const double *shared, bool own, exi_fit_system *system,
                        ex_kin_pose *poses, double *rms, ex_error *error);
/* Computes the next shared unknowns from the sum of all blocks; def: the reference alone. *cost: the sum's, and that of
 * the priors. next NULL: the cost alone. neutral [joint_count], optional: as in ex_kin_fit. Results: MEMORY. */
ex_result exi_fit_step(const ex_kin_fit_def *def, double noise, const double *shared, const exi_fit_system *sum,
                       double lambda, double *cost, double *next, double (*neutral)[4], ex_error *error);

#endif

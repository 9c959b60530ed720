/*
 * fit_stand.h - the rough pose of a skeleton in one scan; private to src/author/scan.
 */
#ifndef EXEMPLAR_AUTHOR_SCAN_FIT_FIT_STAND_H
#define EXEMPLAR_AUTHOR_SCAN_FIT_FIT_STAND_H

#include <exemplar/author/kinematics.h>

/* A rough pose of a skeleton in a scan. */
typedef struct exi_stance {
    double scale;     /* size, in units of the skeleton */
    ex_kin_pose pose; /* rotations [joint_count], of the caller */
    double off;       /* metres, root mean square: distance of markers' means from the middles of their bones; INFINITY:
                         fewer than three bones have markers */
    double cost;      /* of the pose, in squared standard deviations: turns and hinges beyond their range count too */
} exi_stance;

/* Finds it from the bones that the scan's markers belong to. given: rotations [joint_count] that are roughly known, or
 * NULL. */
ex_result exi_fit_stand(const ex_kinematics *usual, const ex_sighting *sightings, size_t sighting_count, int scan,
                        const double (*given)[4], exi_stance *stance, ex_error *error);

#endif

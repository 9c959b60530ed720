/*
 * capture.h - what the parts of motion capture share; private to src/author/scan.
 *
 *   capture_match.c  which marker is which site
 *   capture_start.c  poses to begin from
 *   capture_solve.c  some frames as scans of a fit
 *   capture.c        bones from some frames, poses of all
 *   capture_clip.c   the result as a clip, and as a fit's file
 */
#ifndef EXEMPLAR_AUTHOR_SCAN_CAPTURE_CAPTURE_H
#define EXEMPLAR_AUTHOR_SCAN_CAPTURE_CAPTURE_H

#include <exemplar/author/capture.h>

/* Where a marker is seen, or NULL. */
const float *exi_capture_seen(const ex_markers *markers, int frame, int marker);

/* A pose that brings sites to where they are seen [site_count] (NaN: not seen), near a likely one; locked joints are as
 * in that. pose->rotations, turns and places [joint_count] are the caller's. */
void exi_capture_start(const ex_kinematics *kinematics, const bool *locked, const double (*seen)[3],
                       const ex_kin_pose *likely, ex_kin_pose *pose, double (*turns)[4], double (*places)[3]);

/* Frames that are solved together. */
typedef struct exi_capture_batch {
    const ex_markers *markers;
    const int *sites;                /* [marker_count] */
    const ex_kinematics *kinematics; /* where it begins */
    const bool *locked;              /* [joint_count] */
    int count;
    const int *frames;                /* [count] */
    const ex_kin_pose *const *likely; /* [count]: poses near which they are, but for the base */
    bool poses_only;
    double loss;
    const ex_progress *progress;
    const ex_tasks *tasks;
} exi_capture_batch;

/* The fit: its errors are of the frames' sightings in the order of frames, then of markers. */
ex_result exi_capture_solve(const exi_capture_batch *batch, ex_kin_fit **fit, ex_error *error);

#endif

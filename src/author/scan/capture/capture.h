/*
 * capture.h - shared by the files of motion capture; private to src/author/scan.
 *
 *   capture_match.c  matches markers and sites
 *   capture_start.c  starting poses
 *   capture_solve.c  some frames as scans of a fit
 *   capture.c        bones from some frames, poses of all
 *   capture_clip.c   the result as a clip, and as a fit's file
 */
#ifndef EXEMPLAR_AUTHOR_SCAN_CAPTURE_CAPTURE_H
#define EXEMPLAR_AUTHOR_SCAN_CAPTURE_CAPTURE_H

#include <exemplar/author/capture.h>

/* Returns the position of a marker in a frame, or NULL if not seen. */
const float *exi_capture_seen(const ex_markers *markers, int frame, int marker);

/* Finds a starting pose that brings sites to their seen positions [site_count] (NaN: not seen), near a likely pose;
 * locked joints are as in that. The caller provides pose->rotations, turns and places [joint_count]. */
void exi_capture_start(const ex_kinematics *kinematics, const bool *locked, const double (*seen)[3],
                       const ex_kin_pose *likely, ex_kin_pose *pose, double (*turns)[4], double (*places)[3]);

/* Frames solved together. */
typedef struct exi_capture_batch {
    const ex_markers *markers;
    const int *sites;                /* [marker_count] */
    const ex_kinematics *kinematics; /* starting values */
    const bool *locked;              /* [joint_count] */
    int count;
    const int *frames;                /* [count] */
    const ex_kin_pose *const *likely; /* [count]: likely poses, except for the base */
    bool poses_only;
    double loss;
    const ex_progress *progress;
    const ex_tasks *tasks;
} exi_capture_batch;

/* Fits; the errors are in the order of frames, then of markers. */
ex_result exi_capture_solve(const exi_capture_batch *batch, ex_kin_fit **fit, ex_error *error);

#endif

/*
 * exemplar/author/capture.h - from the markers of motion capture to a skeleton that moves.
 *
 * The same fit that finds bones from scans (ex_kinematics_fit) finds them from a trial of motion capture: a frame is a
 * scan, and none is a reference. Labels of markers are matched with the sites of a skeleton, the skeleton is scaled,
 * bones are found from frames spread over the trial, and then the poses of all frames. Plain data that belongs to its
 * holder.
 */
#ifndef EXEMPLAR_AUTHOR_CAPTURE_H
#define EXEMPLAR_AUTHOR_CAPTURE_H

#include <exemplar/author/kinematics.h>
#include <exemplar/author/markers.h>
#include <exemplar/author/motion.h>
#include <exemplar/author/scan.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The site that each marker is, or -1: sites [marker_count]. By name, without regard to case and punctuation; else by
 * the names that marker sets have for the same place (LASI, L.ASIS, LeftASIS and LFWT); no site twice. Returns how many
 * there are.
 */
EX_API int ex_capture_match(const ex_kinematics *kinematics, const ex_markers *markers, int *sites);

typedef struct ex_capture_options {
    const ex_kinematics *kinematics; /* where to begin; its sites must be placed. NULL: "full" */
    const bool *left_out;            /* [marker_count]: markers that are not used; NULL: none */
    int frames;                      /* from which bones are found, spread over the trial; 0: 40 */
    double loss;                     /* ex_kin_fit_def */
    const ex_progress *progress;
    const ex_tasks *tasks;
} ex_capture_options;

typedef struct ex_capture {
    ex_kinematics *kinematics; /* as found; its sites are those that markers were matched with */
    int marker_count;
    int *sites; /* [marker_count]: the site of kinematics that a marker was used as; -1: not used */
    int frame_count;
    int first_frame;    /* as in the markers */
    double rate;        /* too */
    ex_kin_pose *poses; /* [frame_count] */
    double *rms;  /* [frame_count] of the sightings used, metres; NaN where there were too few for a pose, which is
                     then that of the nearest frame that has one */
    double scale; /* by which the skeleton was scaled at first */
    double error; /* RMS over all sightings of all frames, metres */
    int sighting_count;
    int open_count;
    ex_kin_open *opens; /* what the markers do not determine; scans are frames, counted from 0 */
    double seconds;
} ex_capture;

/* Results: DATA (markers and skeleton have too few names in common: some of both are named; no frame with enough of
 * them), MEMORY. options may be NULL. */
EX_API ex_result ex_capture_fit(const ex_markers *markers, const ex_capture_options *options, ex_capture **capture,
                                ex_error *error);
EX_API void ex_capture_destroy(ex_capture *capture);

/* The motion as a clip of the skeleton's joints; the last joint of a limb gets an end where its markers are. */
EX_API ex_result ex_capture_to_clip(const ex_capture *capture, ex_clip **clip, ex_error *error);
/* As fit.json holds it: frames are scans called frame_50, … by the file's numbers. */
EX_API ex_result ex_capture_to_fitted(const ex_capture *capture, ex_scan_fitted **fitted, ex_error *error);

#ifdef __cplusplus
}
#endif
#endif

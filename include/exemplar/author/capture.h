/*
 * exemplar/author/capture.h - fits a moving skeleton to the markers of motion capture.
 *
 * Uses the same fit that finds bones from scans (ex_kinematics_fit): each frame of a trial counts as a scan, and none
 * is a reference. It matches marker labels with the sites of a skeleton, scales the skeleton, finds bones from frames
 * spread over the trial, and then the poses of all frames. Plain data, owned by its holder.
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
 * Finds the site of each marker, or -1: sites [marker_count]. Matches by name, ignoring case and punctuation; else by
 * the names that marker sets use for the same place (LASI, L.ASIS, LeftASIS and LFWT). No site is used twice. Returns
 * the number of matches.
 */
EX_API int ex_capture_match(const ex_kinematics *kinematics, const ex_markers *markers, int *sites);

/* Options of fitting a skeleton to motion capture. */
typedef struct ex_capture_options {
    const ex_kinematics *kinematics; /* starting skeleton; its sites must be placed. NULL: the default, "full" */
    const bool *left_out;            /* [marker_count]: true for markers that are not used; NULL: all are used */
    int frames;                      /* number of frames, spread over the trial, from which bones are found; 0: the
                                        default, 40 */
    double loss;                     /* see ex_kin_fit_def */
    const ex_progress *progress;
    const ex_tasks *tasks;
} ex_capture_options;

/* A skeleton fitted to motion capture, with its pose in every frame. */
typedef struct ex_capture {
    ex_kinematics *kinematics; /* as found; its sites are those matched with markers */
    int marker_count;
    int *sites; /* [marker_count]: the site of kinematics that the marker was used for; -1: not used */
    int frame_count;
    int first_frame;    /* as in the markers */
    double rate;        /* as in the markers */
    ex_kin_pose *poses; /* [frame_count] */
    double *rms;  /* [frame_count] error of the sightings used, metres; NaN if there were too few for a pose, which is
                     then that of the nearest frame with one */
    double scale; /* initial scaling of the skeleton */
    double error; /* RMS over all sightings of all frames, metres */
    int sighting_count;
    int open_count;
    ex_kin_open *opens; /* parameters that the markers do not determine; scans are frames, counted from 0 */
    double seconds;
} ex_capture;

/* Fits a skeleton to the markers of a trial. Results: DATA (markers and skeleton have too few names in common: some of
 * both are named; no frame has enough of them), MEMORY. options may be NULL. */
EX_API ex_result ex_capture_fit(const ex_markers *markers, const ex_capture_options *options, ex_capture **capture,
                                ex_error *error);
EX_API void ex_capture_destroy(ex_capture *capture);

/* Makes a clip of the skeleton's joints; the last joint of a limb gets an end at its markers. */
EX_API ex_result ex_capture_to_clip(const ex_capture *capture, ex_clip **clip, ex_error *error);
/* Converts the capture to the contents of fit.json: frames are scans called frame_50, … after the file's numbers. */
EX_API ex_result ex_capture_to_fitted(const ex_capture *capture, ex_scan_fitted **fitted, ex_error *error);

#ifdef __cplusplus
}
#endif
#endif

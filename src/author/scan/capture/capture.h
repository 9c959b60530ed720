/*
 * capture.h - shared by the files of motion capture; private to src/author/scan.
 *
 *   capture_label.c    labels for a motion without them, from the static trial
 *   capture_trial.c    the static trial and the motion as one
 *   capture_match.c    matches markers and sites, by the tables of the usual marker sets
 *   capture_clusters.c a start for sets that only tell the bones of their markers
 *   capture_size.c     the size of the skeleton and of its bones, before the fit
 *   capture_start.c    starting poses
 *   capture_solve.c    some frames as scans of a fit
 *   capture_rigid.c    puts other markers on bones by their distances
 *   capture_mend.c     swaps, false sightings, markers without labels
 *   capture.c          bones from some frames, poses of all
 *   capture_clip.c     the result as a clip, and as a fit's file
 *   capture_angles.c   the result as joint angles
 */
#ifndef EXEMPLAR_AUTHOR_SCAN_CAPTURE_CAPTURE_H
#define EXEMPLAR_AUTHOR_SCAN_CAPTURE_CAPTURE_H

#include "author/formats/motion/marker_sets.h"
#include "runtime/base/result.h"

#include <exemplar/author/capture.h>

/* Everything that a fit to motion capture works on. */
typedef struct exi_capture_work {
    const ex_markers *motion; /* as given */
    const ex_capture_options *options;
    ex_markers *markers; /* frames of the static trial, then all of the motion; positions are mended */
    int still_count;     /* frames of the static trial */
    ex_capture *out;
    exi_marker_meaning *meanings; /* [marker_count] */
    ex_kinematics *kinematics;    /* starting values of the fit */
    bool scaled;                  /* kinematics has its size already */
    bool bent, bends_low;         /* the trunk's joint was chosen; it is the first of two */
    bool *locked;                 /* [joint_count] */
    int *counts;                  /* [frame_count]: number of sightings */
    int *chosen;                  /* frames from which bones are found */
    int chosen_count;
    ex_kin_fit *bones;
    ex_kin_pose *poses; /* [frame_count]; rotations NULL where not yet found */
    double *rms;        /* [frame_count] */
    ex_error *error;
} exi_capture_work;

enum { EXI_CAPTURE_SIGHTINGS = 4, EXI_CAPTURE_MATCHES = 6 }; /* least number of markers for a pose, and for a fit */

ex_result exi_capture_no_memory(const exi_capture_work *w);
/* Adds a sentence to the notes of the result. False without memory. */
bool exi_capture_note(exi_capture_work *w, const char *format, ...) EX_PRINTF(2, 3);
/* Returns the position of a marker in a frame, or NULL if not seen. */
const float *exi_capture_seen(const ex_markers *markers, int frame, int marker);
/* Predicts a site in a frame whose pose is known; rotations and places are its world frames. */
void exi_capture_predict(const ex_site *site, const double (*rotations)[4], const double (*places)[3], double at[3]);
/* Adds a site for a marker to the starting skeleton. False without memory. */
bool exi_capture_add_site(exi_capture_work *w, int marker, int joint, const double local[3]);

/* Labels a motion without labels by a labelled static trial: *named is a copy with names, to be released with
 * exi_capture_unlabel, or NULL if there is nothing to do or it cannot be done; *frame: where they were matched. */
ex_result exi_capture_label(const ex_markers *motion, const ex_capture_options *options, ex_markers **named, int *frame,
                            ex_error *error);
void exi_capture_unlabel(ex_markers *named);

/* Joins the static trial, of which a few frames are taken, and the motion. */
ex_result exi_capture_join(exi_capture_work *w);

/* Matches markers with sites, adds sites of the usual marker sets, and says why others are not used. */
ex_result exi_capture_match_all(exi_capture_work *w);

/* If too few markers have a known place: takes those whose bone is known, at the places of one frame. */
ex_result exi_capture_start_clusters(exi_capture_work *w);

/* Scales the starting skeleton by the distances between markers on the same joint. */
void exi_capture_scale(exi_capture_work *w);
/* Then, with the skeleton "full", single bones by distances that hardly depend on the pose. */
void exi_capture_size_bones(exi_capture_work *w);

/* Puts markers without a site on a bone by their distances, with the poses known. *changed: true if there is one. */
ex_result exi_capture_place_others(exi_capture_work *w, bool *changed);

/* Puts pairs of markers right that change places between two frames. */
ex_result exi_capture_unswap(exi_capture_work *w);
/* With the poses known: swaps, false sightings, and markers without a label near a marker that is not seen. */
ex_result exi_capture_mend(exi_capture_work *w, bool *changed);

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

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
 * the names that marker sets use for the same place (LASI, L.ASIS, LeftASIS and LFWT). The sets are Plug-in Gait, CMU,
 * Helen Hayes, CODA and those of OpenSim's models. No site is used twice. Returns the number of matches.
 */
EX_API int ex_capture_match(const ex_kinematics *kinematics, const ex_markers *markers, int *sites);

/* Options of fitting a skeleton to motion capture. */
typedef struct ex_capture_options {
    const ex_kinematics *kinematics; /* starting skeleton; its sites must be placed. NULL: the default, "full" */
    const bool *left_out;            /* [marker_count]: true for markers that are not used; NULL: all are used */
    const ex_markers *still;         /* static trial of the same person: bones and places of markers are found from it
                                        and the motion together; markers of it that the motion does not have count too.
                                        NULL: none */
    int frames;                      /* number of frames, spread over the trial, from which bones are found; 0: the
                                        default, 40 */
    double loss;                     /* see ex_kin_fit_def */
    const ex_progress *progress;
    const ex_tasks *tasks;
} ex_capture_options;

/* The use of a marker. */
typedef struct ex_capture_marker {
    char *name;
    char text[160];    /* how it was put on its bone, if not by its name; or the reason that it is not used; or "" */
    int swapped_count; /* frames in which it had changed places with another, which was put right */
    int dropped_count; /* frames in which it was left out: too far from where the others predict it */
    int filled_count;  /* frames in which a marker without a label was taken for it; of one without a label: frames in
                          which it was taken for another */
} ex_capture_marker;

/* A skeleton fitted to motion capture, with its pose in every frame. */
typedef struct ex_capture {
    ex_kinematics *kinematics;  /* as found; its sites are those matched with markers */
    int marker_count;           /* those of the motion, then those of the static trial alone */
    int *sites;                 /* [marker_count]: the site of kinematics that the marker was used for; -1: not used */
    ex_capture_marker *markers; /* [marker_count] */
    int note_count;
    char **notes;   /* [note_count]: sentences about what was mended or assumed */
    int zero_frame; /* frame from which most angles count, if the names of the markers tell only their bones; -1: none
                     */
    int still_count;
    ex_kin_pose *still_poses; /* [still_count] of frames of the static trial; NULL: none */
    double (*still_seen)[3];  /* [still_count][site_count]: markers in these frames; NaN if not seen */
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

/*
 * Fits a skeleton to the markers of a trial. With the skeleton "full", markers of the usual sets that it does not have
 * are added to it. Markers that are known only by their bone, and unknown ones, are put on the bone to which they keep
 * their distance. Two markers that changed places are put right, sightings far from where the others predict them are
 * left out, and markers without a label fill gaps. Results: DATA (markers and skeleton have too few names in common:
 * some of both are named; no frame has enough of them), MEMORY. options may be NULL. */
EX_API ex_result ex_capture_fit(const ex_markers *markers, const ex_capture_options *options, ex_capture **capture,
                                ex_error *error);
EX_API void ex_capture_destroy(ex_capture *capture);

/*
 * Angles of joints over time, in degrees. A skeleton with the joints of "full" gets the names and signs of OpenSim's
 * models: pelvis_tilt (backwards is positive), hip_flexion_r, knee_angle_r (bent is positive), ankle_angle_r (up is
 * positive), lumbar_extension, arm_flex_r, elbow_flex_r, pro_sup_r and so on; each joint turns about z, x and y, in
 * this order, of axes x forwards, y up, z to the right. A bone's own axes: along the line between its joints, and along
 * the axis of the knee or the elbow (between its inner and outer marker, if both are there). In the static trial,
 * pelvis, trunk and head are upright and the feet are flat. Without one, the pelvis is level between its front and back
 * markers and a foot between heel and toe; trunk and head stand as the skeleton does. Another skeleton gets a column
 * for each hinge, and three for each ball: NAME_z, NAME_x, NAME_y. Joints without markers have no column.
 */
typedef struct ex_capture_angles {
    int count;
    char (*names)[40]; /* [count] */
    int frame_count;
    double rate;    /* frames per second; 0: unknown */
    double *values; /* [frame_count][count]: degrees; metres for pelvis_tx, pelvis_ty and pelvis_tz */
} ex_capture_angles;

/* Computes the angles of all frames. Results: MEMORY. */
EX_API ex_result ex_capture_to_angles(const ex_capture *capture, ex_capture_angles **angles, ex_error *error);
/* Releases angles. NULL is fine. */
EX_API void ex_capture_angles_destroy(ex_capture_angles *angles);
/* Writes the angles as OpenSim's .mot, or as .csv, by the extension of path. */
EX_API ex_result ex_capture_angles_write(const char *path, const ex_capture_angles *angles, ex_error *error);

/* An angle compared with the one that another program wrote into the file. */
typedef struct ex_capture_compared {
    char name[40];   /* of the column */
    char other[40];  /* in the file: LKneeAngles x */
    int frame_count; /* frames that both have */
    double rms;      /* degrees */
    double mean;     /* mean difference, which is removed for spread */
    double spread;   /* RMS without the mean difference */
} ex_capture_compared;

/* Compares with the angles in the file: points named as Plug-in Gait names them. compared [count] belongs to the caller
 * (free); NULL if there are none. Results: MEMORY. */
EX_API ex_result ex_capture_compare(const ex_capture_angles *angles, const ex_markers *markers,
                                    ex_capture_compared **compared, int *count, ex_error *error);

/* Makes a clip of the skeleton's joints; the last joint of a limb gets an end at its markers. */
EX_API ex_result ex_capture_to_clip(const ex_capture *capture, ex_clip **clip, ex_error *error);
/* Converts the capture to the contents of fit.json: frames are scans called frame_50, … after the file's numbers. */
EX_API ex_result ex_capture_to_fitted(const ex_capture *capture, ex_scan_fitted **fitted, ex_error *error);

#ifdef __cplusplus
}
#endif
#endif

/*
 * subjects.h - a subject with painted markers, and the markers that a scanner would find in the poses of the paper's
 * table 1: cylinders for limbs, skin that slides near joints, markers that no view sees, missing markers, and false
 * ones.
 */
#ifndef EXEMPLAR_TESTS_SUBJECTS_H
#define EXEMPLAR_TESTS_SUBJECTS_H

#include <exemplar/author/scan.h>

enum { SUBJECT_JOINTS = 8, SUBJECT_ARMS = 36, SUBJECT_SHOULDERS = 33, SUBJECT_TORSOS = 27 };
enum { SUBJECT_SCANS = 1 + SUBJECT_ARMS + SUBJECT_SHOULDERS + SUBJECT_TORSOS };

typedef struct subject_def {
    int per_joint;        /* number of markers */
    double noise;         /* metres */
    double slide;         /* metres at most, near joints */
    double missing;       /* fraction of the visible ones */
    double stray;         /* false ones, as a fraction of the others */
    double paint;         /* error of colours, of 255 */
    double off;           /* error of the joints of `begin` in metres */
    double tilt;          /* error of its axes in degrees */
    bool whole_reference; /* true if all markers are seen in the reference */
    uint64_t seed;
} subject_def;

typedef struct subject_scan {
    char name[32];
    ex_found_marker *found;
    int *truth; /* [found_count] sites, or -1: false ones */
    int found_count;
    ex_kin_pose pose;
    bool solved[SUBJECT_JOINTS];
} subject_scan;

typedef struct subject {
    ex_kinematics *truth;              /* with all sites placed at their true positions */
    ex_kinematics *begin;              /* with approximate joints and axes; sites not placed */
    subject_scan scans[SUBJECT_SCANS]; /* the first is the reference */
} subject;

subject_def subject_usual(void);
/* Fails the test if out of memory. */
subject *subject_create(const subject_def *def);
void subject_destroy(subject *s);

/* Names for all markers that the reference shows, as if by hand; release with ex_labels_free. */
ex_labelled *subject_reference(const subject *s, int *count);
/* A copy of `begin` with its sites placed as the reference shows them, relative to its joints. */
ex_kinematics *subject_placed(const subject *s);

#endif

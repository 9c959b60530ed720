/*
 * subjects.h - somebody with painted markers, and what a scanner would find of them in the poses of the paper's table
 * 1: cylinders for limbs, skin that slides near joints, markers that no view sees, that were rubbed off, and false
 * ones.
 */
#ifndef EXEMPLAR_TESTS_SUBJECTS_H
#define EXEMPLAR_TESTS_SUBJECTS_H

#include <exemplar/author/scan.h>

enum { SUBJECT_JOINTS = 8, SUBJECT_ARMS = 36, SUBJECT_SHOULDERS = 33, SUBJECT_TORSOS = 27 };
enum { SUBJECT_SCANS = 1 + SUBJECT_ARMS + SUBJECT_SHOULDERS + SUBJECT_TORSOS };

typedef struct subject_def {
    int per_joint;        /* markers */
    double noise;         /* metres */
    double slide;         /* metres at most, near joints */
    double missing;       /* part of the visible ones */
    double stray;         /* false ones, as a part of the others */
    double paint;         /* how far colours are off, of 255 */
    double off;           /* metres that the joints of `begin` are off */
    double tilt;          /* degrees that its axes are off */
    bool whole_reference; /* all markers are seen in the reference */
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
    ex_kinematics *truth;              /* sites are where they are, all placed */
    ex_kinematics *begin;              /* joints and axes as far as they are known; sites not placed */
    subject_scan scans[SUBJECT_SCANS]; /* the first is the reference */
} subject;

subject_def subject_usual(void);
/* Fails the test without memory. */
subject *subject_create(const subject_def *def);
void subject_destroy(subject *s);

/* Names for all that the reference shows, as by hand; to be released with ex_labels_free. */
ex_labelled *subject_reference(const subject *s, int *count);
/* Sites of `begin` placed as the reference shows them, joints being where `begin` has them: a copy. */
ex_kinematics *subject_placed(const subject *s);

#endif

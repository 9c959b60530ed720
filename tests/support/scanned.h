/*
 * scanned.h - a scan session small enough for a test to build: a tube along x with a hinge on either side, elbow.L and
 * elbow.R, whose skin swells as they bend, by a formula. Files go to the scratch folder; the fit is the truth.
 */
#ifndef EXEMPLAR_TESTS_SCANNED_H
#define EXEMPLAR_TESTS_SCANNED_H

#include <exemplar/author/scan.h>
#include <exemplar/author/scan_body.h>

enum { SCANNED_JOINTS = 5, SCANNED_HIPS = 0, SCANNED_LEFT = 1, SCANNED_RIGHT = 3, SCANNED_LEVEL = 2 };

/* A scan: its name, its part or a list of them in JSON, and the bend of both elbows in degrees. */
typedef struct scanned_scan {
    const char *name, *part;
    double left, right;
} scanned_scan;

typedef struct scanned_def {
    const char *options;   /* keys of scan.json with a comma after each: "\"add\": false, " */
    const char *parts;     /* value of "parts" */
    scanned_scan scans[6]; /* ended by a name NULL; the first is the reference */
    bool apart;            /* true if the elbows are not a pair */
} scanned_def;

/* Values for the parts of a session: the left arm with half of the trunk; both arms with all of it. */
extern const char scanned_left[], scanned_both[];

typedef struct scanned {
    ex_scan_session *session;
    ex_scan_fitted *fitted;
    ex_template *template;
    ex_rig *rig; /* of the template */
    int count;   /* vertices of its last level */
} scanned;

/* Writes scan.json, its skeleton, fit.json, template/ and the scans, and reads them; fails the test on an error. */
void scanned_open(scanned *s, const scanned_def *def);
void scanned_close(scanned *s);

/* Sessions: the left arm in two scans; both arms in three scans, each an example of both. */
extern const scanned_def scanned_one, scanned_shared;

/* Options that keep the cage. */
extern const ex_scan_build_options scanned_as_is;
/* Builds the body; fails the test on an error. */
ex_scan_built *scanned_build(const scanned *s, const ex_scan_build_options *options);
/* Expects that it is refused, with a sentence that has this word. */
void scanned_refuse(const scanned *s, const ex_scan_build_options *options, ex_result result, const char *word);

/* Distance of the true skin from the template at a place of its rest surface. */
double scanned_skin(const float place[3], double left, double right);
/* The template's joints [SCANNED_JOINTS], bent by those angles. */
void scanned_bend(const scanned *s, double left, double right, ex_transform *joints);
/* Its surface [count][3], its normals, and its positions at rest; release each with free. */
void scanned_plain(const scanned *s, double left, double right, float **positions, float **normals, float **rest);
/* The true surface; release with free. */
float *scanned_truth(const scanned *s, double left, double right);
/* Writes the true surface as a mesh in a file of the scratch folder. */
void scanned_write(const scanned *s, const char *name, double left, double right);

/* body.json as a rig. */
ex_rig *scanned_body(void);
/* Its surface with one dial (a name, or NULL) set; release with free. */
float *scanned_evaluate(const scanned *s, const ex_rig *body, double left, double right, const char *dial,
                        double value);
/* The largest distance between vertices of two surfaces. */
double scanned_distance(const scanned *s, const float *a, const float *b);

#endif

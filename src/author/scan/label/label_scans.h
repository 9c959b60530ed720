/*
 * label_scans.h - labels all scans of a session together; private to src/author/scan.
 *
 *   label_scans.c      the rounds
 *   label_reference.c  places sites, and joints if necessary, by the reference scan
 *   label_unseen.c     places sites that the reference does not show
 *   label_file.c       labels as files
 *   label_session.c    found/ to labels/
 *   label_take.c       tables that someone made (label_refused.c: spots that are no markers)
 *   label_page.c       a web page for naming markers (label_page_text.c: its text)
 *   landmark_page.c    a web page for clicking landmarks (landmark_page_text.c: its text)
 *   page_data.c        data inside pages
 */
#ifndef EXEMPLAR_AUTHOR_SCAN_LABEL_LABEL_SCANS_H
#define EXEMPLAR_AUTHOR_SCAN_LABEL_LABEL_SCANS_H

#include "author/scan/label/label.h"

#include "author/base/json.h"

#include <exemplar/author/files.h>
#include <exemplar/author/scan.h>

#define EXI_SAME_PLACE 0.008 /* metres between a name and its spot */

typedef struct exi_label_run {
    const ex_label_scans_def *def;
    exi_arena *arena;
    ex_kinematics *kinematics; /* as far as known by now */
    ex_label *const *labels;   /* [scan][found] */
    int **known;               /* [scan][found]: given sites, or -1 */
    int **given;               /* [scan][given]: sites */
    double *evidence;          /* [scan] */
    ex_kin_pose still;         /* no joint turned */
    ex_kin_pose *poses, *next; /* [scan] by now, and while scans are being labelled */
    bool *turned;              /* [scan] true if its pose is known */
    bool *good;                /* [scan] true if most of its markers are sure */
    bool *wanted;              /* [scan] true if to be labelled in this pass */
    int pass;                  /* of this round */
    ex_result *results;        /* [scan] */
    ex_error *errors;
    bool fitted;          /* true if sigmas are known and joints are fitted */
    double *sigmas;       /* [site] */
    bool coloured;        /* true if colours are known */
    double (*colours)[3]; /* [site] as the scanner sees them */
    bool *doubtful;       /* [site] true if it cannot be told from another of its colour */
    int sighting_count;   /* for the fit */
    ex_sighting *sightings;
    ex_kin_scan *fit_scans;
    bool **locked;
    int *numbers;        /* of its scans */
    const double **seen; /* [site]: position of its label in the reference, or NULL */
    double (*joints)[3]; /* [joint]: position there */
} exi_label_run;

/* Places sites where the reference scan shows them. Moves joints that the skeleton file has far from the markers around
 * them to between these. */
void exi_label_place_reference(exi_label_run *run);

/* Places the remaining sites where unrecognised markers of their colour coincide in the frame of their joint in several
 * scans; notes those that cannot be told apart. */
ex_result exi_label_unseen(exi_label_run *run, ex_error *error);

/* Labels one scan with a skeleton that was fitted, and with poses of other scans [other_count] to start from. labels
 * [found_count of the scan]. */
ex_result exi_label_known(const ex_kinematics *kinematics, const ex_label_scan *scan, const ex_kin_pose *others,
                          int other_count, ex_label *labels, ex_error *error);

/* Writes a field of a table, quoted if necessary. */
void exi_label_write_name(ex_file_writer *writer, const char *text);

/* Read and write labels/NAME.csv (kind "labels") or landmarks/NAME.csv of a scan; no rows if there is no file. */
ex_result exi_label_read(const ex_scan_session *session, const char *kind, int scan, ex_labelled **labelled, int *count,
                         ex_error *error);
ex_result exi_label_write(const ex_scan_session *session, const char *kind, int scan, const ex_labelled *labelled,
                          int count, ex_error *error);
/* Refuses names that are no markers of the session. */
ex_result exi_label_check_names(const ex_scan_session *session, const char *path, const ex_labelled *rows, int count,
                                ex_error *error);

/* A spot that someone said is no marker. */
typedef struct exi_refused {
    int scan;
    double position[3];
} exi_refused;
/* Read and write no_markers.csv; none if there is no file. Spots of scans that the session does not have are left
 * out. */
ex_result exi_refused_read(const ex_scan_session *session, exi_refused **refused, int *count, ex_error *error);
ex_result exi_refused_write(const ex_scan_session *session, const exi_refused *refused, int count, ex_error *error);
/* True if the place of a scan was refused. */
bool exi_is_refused(const exi_refused *refused, int count, int scan, const double position[3]);

/* Write a page's data: base64, and JSON that cannot end a script; value is released. */
void exi_page_base64(ex_file_writer *writer, const void *bytes, size_t size);
ex_result exi_page_json(ex_file_writer *writer, json_t *value, ex_error *error);

/* The pages before their JSON data, and after them. */
extern const char exi_label_page_before[], exi_label_page_after[];
extern const char exi_landmark_page_before[], exi_landmark_page_after[];

#endif

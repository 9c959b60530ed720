/*
 * label_scans.h - labels all scans of a session together; private to src/author/scan.
 *
 *   label_scans.c      the rounds
 *   label_reference.c  places sites, and joints if necessary, by the reference scan
 *   label_unseen.c     places sites that the reference does not show
 *   label_file.c       labels as files
 *   label_session.c    found/ to labels/
 *   label_page.c       a web page for naming markers (label_page_text.c: its text)
 */
#ifndef EXEMPLAR_AUTHOR_SCAN_LABEL_LABEL_SCANS_H
#define EXEMPLAR_AUTHOR_SCAN_LABEL_LABEL_SCANS_H

#include "author/scan/label/label.h"

#include <exemplar/author/files.h>

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

/* Writes a field of a table, quoted if necessary. */
void exi_label_write_name(ex_file_writer *writer, const char *text);

/* The page before its JSON data, and after it. */
extern const char exi_label_page_before[], exi_label_page_after[];

#endif

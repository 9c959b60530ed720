/*
 * label_scans.h - all scans of a session labelled together; private to src/author/scan.
 *
 *   label_scans.c      the rounds
 *   label_reference.c  sites, and where need be joints, placed by the reference scan
 *   label_unseen.c     sites that it does not show
 *   label_file.c       labels as files
 *   label_session.c    found/ to labels/
 *   label_page.c       a page to name markers on (label_page_text.c: its text)
 */
#ifndef EXEMPLAR_AUTHOR_SCAN_LABEL_LABEL_SCANS_H
#define EXEMPLAR_AUTHOR_SCAN_LABEL_LABEL_SCANS_H

#include "author/scan/label/label.h"

#include <exemplar/author/files.h>

typedef struct exi_label_run {
    const ex_label_scans_def *def;
    exi_arena *arena;
    ex_kinematics *kinematics; /* as far as it is known by now */
    ex_label *const *labels;   /* [scan][found] */
    int **known;               /* [scan][found]: sites that were given, or -1 */
    int **given;               /* [scan][given]: sites */
    double *evidence;          /* [scan] */
    ex_kin_pose still;         /* no joint turned */
    ex_kin_pose *poses, *next; /* [scan] by now, and while scans are being labelled */
    bool *turned;              /* [scan] its pose says something */
    bool *good;                /* [scan] most of its markers are sure */
    bool *wanted;              /* [scan] to be labelled in this pass */
    int pass;                  /* of this round */
    ex_result *results;        /* [scan] */
    ex_error *errors;
    bool fitted;          /* sigmas say something, and joints are where they are */
    double *sigmas;       /* [site] */
    bool coloured;        /* colours say something */
    double (*colours)[3]; /* [site] as the scanner sees them */
    bool *doubtful;       /* [site] it cannot be told from another of its colour */
    int sighting_count;   /* for the fit */
    ex_sighting *sightings;
    ex_kin_scan *fit_scans;
    bool **locked;
    int *numbers;        /* of its scans */
    const double **seen; /* [site]: of its label in the reference, or NULL */
    double (*joints)[3]; /* [joint]: where it is there */
} exi_label_run;

/* Sites placed where the reference scan shows them. Joints that the skeleton file has nowhere near the markers around
 * them are moved between these. */
void exi_label_place_reference(exi_label_run *run);

/* Places sites that nothing has placed yet, where found markers of their colour that were not recognised lie together
 * in the frame of their joint in several scans; notes which of them cannot be told apart. */
ex_result exi_label_unseen(exi_label_run *run, ex_error *error);

/* A field of a table, quoted where it has to be. */
void exi_label_write_name(ex_file_writer *writer, const char *text);

/* The page before its data, which is JSON, and after it. */
extern const char exi_label_page_before[], exi_label_page_after[];

#endif

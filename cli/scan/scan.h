/*
 * cli/scan.h - the parts of `exemplar scan`.
 *
 *   cmd_scan.c       the command of commands, and what they share
 *   scan_simulate.c  a rig seen by a scanner
 *   scan_markers.c   markers found on scans
 *   scan_picture.c   scans with what was found on them
 *   scan_label.c     markers named
 *   scan_fit.c       bones, axes and poses from named markers, of scans or of motion capture
 *   scan_capture.c   the part of it for motion capture
 *   scan_template.c  the cage
 *   scan_build.c     displacement maps and the rig
 *   scan_report.c    what it is worth
 *   scan_run.c       all of it, from where it stopped
 */
#ifndef EXEMPLAR_CLI_SCAN_H
#define EXEMPLAR_CLI_SCAN_H

#include "cli/base/command.h"
#include "cli/base/report.h"

#include <exemplar/author.h>

extern const ex_command cmd_scan_simulate;
extern const ex_command cmd_scan_markers;
extern const ex_command cmd_scan_label;
extern const ex_command cmd_scan_fit;
extern const ex_command cmd_scan_template;
extern const ex_command cmd_scan_build;
extern const ex_command cmd_scan_report;
extern const ex_command cmd_scan_run;

/* The session in a folder, or NULL after a sentence. */
ex_scan_session *exi_scan_open(const char *folder);

/* fit.json of a session, or NULL after a sentence. */
ex_scan_fitted *exi_scan_open_fit(const ex_scan_session *session);

/* Lengths of bones and directions of axes, a line a joint. */
void exi_scan_print_bones(const ex_kinematics *kinematics);

/* What is wanted of motion capture; NULL and 0: not said. */
typedef struct exi_scan_capture {
    const char *output, *bvh, *skeleton, *up;
    int frames;
    double loss;
} exi_scan_capture;

/* The fit of the .c3d or .trc file that is the call's argument. */
int exi_scan_fit_capture(const ex_call *call, const exi_scan_capture *wish);

/* Whether a file is there and no older than another, which has to be there too. */
bool exi_scan_is_newer(const char *made, const char *from);

/* FOLDER/SCAN.png: a scan from four sides, with rings around the markers. */
ex_result exi_scan_draw_found(const ex_scan_session *session, int scan, const ex_found_marker *markers, int count,
                              const char *folder, const ex_tasks *tasks, ex_error *error);

#endif

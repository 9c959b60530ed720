/*
 * cli/scan/scan.h - the parts of `exemplar scan`.
 *
 *   cmd_scan.c       the command with subcommands, and shared functions
 *   scan_simulate.c  a rig seen by a simulated scanner
 *   scan_markers.c   finds markers on scans
 *   scan_picture.c   pictures of scans with the markers found
 *   scan_label.c     names markers
 *   scan_fit.c       bones, axes and poses from named markers, of scans or of motion capture
 *   scan_capture.c   the part of scan_fit.c for motion capture
 *   scan_blocks.c    the part of scan_fit.c for processes that share the work
 *   scan_template.c  the cage
 *   scan_build.c     displacement maps and the rig
 *   scan_report.c    measures the result
 *   scan_register.c  moves a template onto a scan
 *   scan_run.c       runs all steps, from where it stopped
 *   scan_carry.c     carries a template person to the scans
 *   scan_person.c    the body of such a session
 *   scan_errors.c    pictures of it, coloured by distances from scans
 *   scan_articulate.c  a rig from registered meshes
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
extern const ex_command cmd_scan_register;
extern const ex_command cmd_scan_run;
extern const ex_command cmd_scan_articulate;
extern const ex_command cmd_scan_carry;

/* Opens the session in the folder that the call names; NULL after printing an error. Says once which unit and up axis
 * its files have, if they are not metres and y. */
ex_scan_session *exi_scan_open(const ex_call *call);

/* The same for a command that reads, changes and writes its files. Locks the folder
 * (lock.h) until the process ends. */
ex_scan_session *exi_scan_open_to_change(const ex_call *call);

/* Returns the scan of that name; -1 after printing an error, with a name that is near. */
int exi_scan_find(const ex_scan_session *session, const char *name);
/* Returns [scan_count]: true for the scans of these names. Release with free; NULL after printing an error. */
bool *exi_scan_choose(const ex_scan_session *session, const ex_word_list *names);

/* True if a file of the session can be written, or one of unknown name ("") in that folder, which need not exist yet.
 * Otherwise prints the reason. Call it before any work. */
bool exi_scan_can_write(const ex_scan_session *session, const char *kind, const char *name);

/* Reads fit.json of a session; NULL after printing an error. */
ex_scan_fitted *exi_scan_open_fit(const ex_scan_session *session);

/* Prints lengths of bones and directions of axes, one line per joint. */
void exi_scan_print_bones(const ex_kinematics *kinematics);

/* Options for motion capture; NULL and 0: not given. */
typedef struct exi_scan_capture {
    const char *output, *bvh, *angles, *still, *skeleton, *up;
    int frames;
    double loss;
} exi_scan_capture;

/* Fits the .c3d or .trc file that is the call's argument. */
int exi_scan_fit_capture(const ex_call *call, const exi_scan_capture *wish);

/* Makes a block of the session that is the call's argument, counting from 1, or sums all blocks. */
int exi_scan_fit_blocks(const ex_call *call, int block, bool sum);

/* True if a folder has meshes and no scan.json: registered meshes. exi_scan_run_registered makes their rig in it. */
bool exi_scan_is_registered(const char *folder);
int exi_scan_run_registered(const ex_call *call);

/* Makes the body of a session with a template person, and writes it; or only reports on it. picture: a folder for
 * pictures of errors, or NULL. */
int exi_scan_make_person(const ex_call *call, const ex_scan_session *session, bool report, const char *picture);

/* True if `made` exists and is no older than `from`, which must exist too. */
bool exi_scan_is_newer(const char *made, const char *from);

/* Draws FOLDER/SCAN.png: a scan from four sides, with rings around the markers. */
ex_result exi_scan_draw_found(const ex_scan_session *session, int scan, const ex_found_marker *markers, int count,
                              const char *folder, const ex_tasks *tasks, ex_error *error);

/* Draws a form [vertex_count][3] of a body from the front and the back, coloured by distances [vertex_count] in metres
 * on a scale from 0 to most. */
ex_result exi_scan_draw_errors(const ex_mesh *mesh, const float *positions, const float *distances, double most,
                               const char *label, const char *path, const ex_tasks *tasks, ex_error *error);
/* Draws FOLDER/SCAN.png for every scan: as predicted, or else the rig in its own pose. All have the same scale. */
ex_result exi_scan_draw_report(const ex_scan_session *session, const ex_scan_body *body, const char *folder,
                               const ex_tasks *tasks, ex_error *error);

#endif

/*
 * simulate_files.h - the files of a simulated session; private to src/author/scan.
 *
 *   simulate_session.c   order of writing
 *   simulate_files.c     files of every scan
 *   simulate_shared.c    files that all scans share
 */
#ifndef EXEMPLAR_AUTHOR_SCAN_SIMULATE_SIMULATE_FILES_H
#define EXEMPLAR_AUTHOR_SCAN_SIMULATE_SIMULATE_FILES_H

#include "author/scan/simulate/simulate.h"

typedef struct exi_simulated {
    const ex_scan_simulate_def *def;
    int reference, average; /* poses */
    exi_scanner scanner;
    ex_scan_truth *truth;
    int part_count;
    const ex_scan_part *parts;
    ex_scan_part whole;      /* of all joints, if no parts are given */
    ex_kinematics *measured; /* as measured with a tape */
} exi_simulated;

/* Returns FOLDER/kind/NAME with an ending; NULL without memory. */
char *exi_simulated_path(const exi_simulated *s, const char *kind, const char *name, const char *ending);

/* The same for a file to be written; also NULL if it exists and is not to be overwritten: *result tells them apart. */
char *exi_simulated_target(const exi_simulated *s, const char *kind, const char *name, const char *ending,
                           ex_result *result, ex_error *error);

/* Each writes its file unless it exists and is not to be overwritten. */
ex_result exi_write_scanner(const exi_simulated *s, ex_error *error); /* refuses a folder with other contents */
ex_result exi_write_poses(const exi_simulated *s, ex_error *error);
ex_result exi_write_skeletons(const exi_simulated *s, ex_error *error);
ex_result exi_write_frames(const exi_simulated *s, ex_error *error);
ex_result exi_write_markers(const exi_simulated *s, ex_error *error);
ex_result exi_write_session(const exi_simulated *s, ex_error *error);

/* True if all files of a scan, or of a held-back pose, exist. */
bool exi_has_scan(const exi_simulated *s, int pose);
/* Writes the scan's meshes, its labels if it is the reference, then the truth; *seen: number of visible markers. */
ex_result exi_write_scan(const exi_simulated *s, int pose, int *seen, ex_error *error);
ex_result exi_write_surface(const exi_simulated *s, int pose, ex_error *error);

#endif

/*
 * cli/drive.h - the parts of `exemplar drive`.
 *
 *   cmd_drive.c     the command of commands, and what they share
 *   drive_learn.c   caches to a rig
 *   drive_apply.c   a rig on a new animation of its driver
 *   drive_keys.c    keys listed, added, removed
 *   drive_report.c  what it is worth, in figures and as a picture
 */
#ifndef EXEMPLAR_CLI_DRIVE_H
#define EXEMPLAR_CLI_DRIVE_H

#include "cli/base/command.h"
#include "cli/base/report.h"

#include <exemplar/author.h>

extern const ex_command cmd_drive_learn;
extern const ex_command cmd_drive_apply;
extern const ex_command cmd_drive_keys;
extern const ex_command cmd_drive_add;
extern const ex_command cmd_drive_remove;
extern const ex_command cmd_drive_report;

#define EXI_CACHE_ENDINGS ".pc2, .mdd or .obj"

/* A length in metres, or with "mm" behind it, of 0 or more; false after a sentence. NULL leaves it alone. */
bool exi_drive_length_read(const ex_call *call, const char *option, const char *text, double *metres);

/* "stiffness=5": the name's length and the number; false after a sentence. */
bool exi_drive_database_read(const ex_call *call, const char *text, size_t *name, double *value);
/* What was given with --database, of a rig; NAN where nothing was. The exit code, after a sentence where it is not 0.
 */
int exi_drive_database_find(const ex_call *call, const ex_rig *rig, const ex_word_list *words, double *value);

/* A rig that follows a driver, or NULL after a sentence. */
ex_rig *exi_drive_load(const char *path);

/* At most so many frames, by their error or by their distance from what the keys can blend (where some are far: of
 * those alone), the worst first. Of frames whose keys are blended alike, neighbours mostly, only the worst is among
 * them: a key there serves the others too. How many there are. */
int exi_drive_worst(const ex_drive_report *report, bool by_error, int most, int *frames);

/* Frames that are far from what the keys can blend, the worst named, as a sentence without a full stop; false where
 * there are none. The second prints it to stderr. */
#define EXI_DRIVE_FAR_SIZE 320
bool exi_drive_far_text(const ex_drive_report *report, char text[EXI_DRIVE_FAR_SIZE]);
void exi_drive_warn(const ex_drive_report *report);

#endif

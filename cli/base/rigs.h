/* cli/base/rigs.h - what the commands that work on a rig have in common: reading it, poses in words, its line of figures. */
#ifndef EXEMPLAR_CLI_RIGS_H
#define EXEMPLAR_CLI_RIGS_H

#include "cli/project/damped.h"
#include "command.h"

#include <exemplar/author.h>

#include <stdio.h>

/* Reads a rig file, or says why not and returns NULL. */
ex_rig *exi_rig_load(const char *path, const ex_rig_options *options);

/* The layer whose name is these size bytes; -1 where there is none. exi_rig_no_layer says so then, with the nearest
 * name. */
int exi_rig_find_layer(const ex_rig *rig, const char *name, size_t size);
void exi_rig_no_layer(const ex_rig *rig, const char *name, size_t size);

/* Whether every argument from the second on is axis=value, each axis once; if not, a sentence and false. */
bool exi_assignments_check(const ex_call *call);

/* The pose that those arguments describe, to be released with free(pose->inputs); false after a sentence. */
bool exi_assignments_read(const ex_call *call, const ex_rig *rig, ex_pose *pose);

/* "PATH: 642 vertices, 1 layer, 5 examples, 131 kB, 12 ms", or the same as JSON with the damped vertices, unless they
 * are NULL. */
void exi_rig_print_line(FILE *file, bool json, const char *path, const ex_rig *rig, double seconds,
                        const exi_damped_list *damped);

#endif

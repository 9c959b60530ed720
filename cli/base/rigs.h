/* cli/base/rigs.h - shared by the commands that work on a rig: reads it, parses poses, prints its one-line summary. */
#ifndef EXEMPLAR_CLI_RIGS_H
#define EXEMPLAR_CLI_RIGS_H

#include "cli/project/damped.h"
#include "command.h"

#include <exemplar/author.h>

#include <stdio.h>

/* Reads a rig file; NULL after printing an error. */
ex_rig *exi_rig_load(const char *path, const ex_rig_options *options);

/* Index of the layer whose name is these `size` bytes, or -1; exi_rig_no_layer then prints an error with the nearest
 * name. */
int exi_rig_find_layer(const ex_rig *rig, const char *name, size_t size);
void exi_rig_no_layer(const ex_rig *rig, const char *name, size_t size);

/* Layers to leave out [layer_count]: those that the rig mutes, and those that `names` lists with commas between, as
 * --mute does; names may be NULL. NULL after printing an error. Caller frees. */
bool *exi_muted_read(const ex_rig *rig, const char *names);

/* True if every argument from the second on is axis=value, each axis once; otherwise prints an error. */
bool exi_assignments_check(const ex_call *call);

/* Reads the pose in those arguments, to be released with free(pose->inputs); false after printing an error. Says on
 * stderr which axes are outside their range, unless --quiet was given. */
bool exi_assignments_read(const ex_call *call, const ex_rig *rig, ex_pose *pose);

/* Prints "PATH: 642 vertices, 1 layer, 5 examples, 131 kB, 12 ms", or the same as JSON with the damped vertices, unless
 * they are NULL. */
void exi_rig_print_line(FILE *file, bool json, const char *path, const ex_rig *rig, double seconds,
                        const exi_damped_list *damped);

#endif

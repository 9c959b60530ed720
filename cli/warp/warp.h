/*
 * cli/warp/warp.h - the parts of `exemplar warp`.
 *
 *   cmd_warp.c      the command
 *   warp_options.c  parses the options of trajectories
 *   warp_report.c   measures trajectories: a table, JSON and pictures
 */
#ifndef EXEMPLAR_CLI_WARP_H
#define EXEMPLAR_CLI_WARP_H

#include "cli/base/command.h"

#include <exemplar/author/project.h>

/* Words given for the options of trajectories; NULL, 0 or false if not given. */
typedef struct exi_warp_words {
    const char *mode, *correctors, *turns, *terms, *weights, *segment_angle, *root, *segments;
    int iterations;
    bool bases;
} exi_warp_words;

/* False after printing an error. */
bool exi_warp_options_read(const ex_call *call, const exi_warp_words *words, ex_trajectory_options *options);

/* Reads weights [example_count] of the paths' examples from "0.5" if there is one example, or from "NAME=0.5" words;
 * false after printing an error. */
bool exi_warp_weights_read(const ex_call *call, const ex_rig_trajectories *paths, const ex_word_list *words,
                           double *weights);

/* Measures and prints the path to every example; rig: the file that was written, or NULL; picture likewise. Returns an
 * exit code. */
int exi_warp_report(const ex_call *call, ex_rig_trajectories *paths, const char *rig, const char *picture);

#endif

/*
 * cli/warp.h - the parts of `exemplar warp`.
 *
 *   cmd_warp.c      the command
 *   warp_options.c  how trajectories are found, from words
 *   warp_report.c   what they make of the way, as a table, as JSON and as pictures
 */
#ifndef EXEMPLAR_CLI_WARP_H
#define EXEMPLAR_CLI_WARP_H

#include "cli/base/command.h"

#include <exemplar/author/project.h>

/* What was given of the options that say how trajectories are found; NULL, 0 or false where it was not. */
typedef struct exi_warp_words {
    const char *mode, *correctors, *turns, *terms, *weights, *segment_angle, *root, *segments;
    int iterations;
    bool bases;
} exi_warp_words;

/* False after a sentence. */
bool exi_warp_options_read(const ex_call *call, const exi_warp_words *words, ex_trajectory_options *options);

/* Weights [example_count] of the paths' examples, from "0.5" where there is one, or "NAME=0.5" words; false after a
 * sentence. */
bool exi_warp_weights_read(const ex_call *call, const ex_rig_trajectories *paths, const ex_word_list *words,
                           double *weights);

/* Measures the way to every example and prints it; rig: the file that was written, or NULL; picture likewise. Returns
 * an exit code. */
int exi_warp_report(const ex_call *call, ex_rig_trajectories *paths, const char *rig, const char *picture);

#endif

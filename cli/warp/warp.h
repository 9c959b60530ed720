/*
 * cli/warp/warp.h - the parts of `exemplar warp`.
 *
 *   cmd_warp.c      the command
 *   warp_options.c  parses the options of trajectories
 *   warp_report.c   measures trajectories: a table, JSON and pictures
 *   warp_mixtures.c measures mixtures of all forms: the same, and what would mend the worst
 */
#ifndef EXEMPLAR_CLI_WARP_H
#define EXEMPLAR_CLI_WARP_H

#include "cli/base/command.h"
#include "cli/base/emit.h"

#include <exemplar/author/project.h>

/* Words given for the options of trajectories; NULL, 0 or false if not given. */
typedef struct exi_warp_words {
    const char *mode, *correctors, *terms, *weights, *segment_angle, *root, *segments;
    int iterations;
    bool bases;
} exi_warp_words;

/* False after printing an error. */
bool exi_warp_options_read(const ex_call *call, const exi_warp_words *words, ex_trajectory_options *options);

/* Reads weights [example_count] of the paths' examples from "0.5" if there is one example, or from "NAME=0.5" words;
 * false after printing an error. */
bool exi_warp_weights_read(const ex_call *call, const ex_rig_trajectories *paths, const ex_word_list *words,
                           double *weights);

/* Files and numbers of a report. */
typedef struct exi_warp_wish {
    const char *rig;       /* the file that was written, or NULL */
    const char *picture;   /* file to draw to, or NULL */
    const char *reference; /* file of the reference */
    const char *rigid;     /* file for the as-rigid-as-possible form of the worst mixture, or NULL */
    const ex_rig *built;   /* the rig */
    int mixtures;          /* random mixtures; 0: no mixtures are measured */
} exi_warp_wish;

/* Measures and prints the path to every example, and mixtures of all. Returns an exit code. */
int exi_warp_report(const ex_call *call, ex_rig_trajectories *paths, const exi_warp_wish *wish);

/* Measures mixtures of all forms and prints them, or adds them to the JSON. */
ex_result exi_warp_mixtures(const ex_call *call, ex_rig_trajectories *paths, const exi_warp_wish *wish,
                            exi_emitter *json, ex_error *error);

#endif

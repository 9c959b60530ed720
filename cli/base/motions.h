/* cli/base/motions.h - the motion that a command plays on a rig: its options, read and checked in one place. */
#ifndef EXEMPLAR_CLI_MOTIONS_H
#define EXEMPLAR_CLI_MOTIONS_H

#include "command.h"

#include <exemplar/author.h>

/* Words of options; each may be NULL. */
typedef struct exi_motion_words {
    const char *path;       /* --motion; NULL: the rig's own clip */
    const char *map, *clip; /* pairs of joints; the name of an animation */
    const char *fps, *frames, *start, *end;
} exi_motion_words;

/* The request in them. */
typedef struct exi_motion_wish {
    const exi_motion_words *words;
    ex_motion_options options;
    int first, last; /* frames from 1, or 0 */
} exi_motion_wish;

/* Checks the words and reads them; false after printing an error, which is one of usage. */
bool exi_motion_words_read(const ex_call *call, const exi_motion_words *words, exi_motion_wish *wish);

/* A motion of a rig. */
typedef struct exi_played {
    ex_motion *whole;
    ex_motion part; /* the frames asked for, in the memory of the whole */
} exi_played;

/* Reads the motion onto a rig. `done`: what happens to its frames, "baked", for a note if it is shorter than asked for.
 * False after printing an error; call exi_played_close either way. */
bool exi_played_open(exi_played *motion, const ex_call *call, const exi_motion_wish *wish, const ex_rig *rig,
                     const char *done);
void exi_played_close(exi_played *motion);

#endif

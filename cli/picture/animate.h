/*
 * cli/picture/animate.h - moving pictures: a turn of the camera, a sweep of axes there and back, or a motion, as one
 * animated PNG file. The camera keeps still for all frames, except that it follows a form that walks away.
 */
#ifndef EXEMPLAR_CLI_ANIMATE_H
#define EXEMPLAR_CLI_ANIMATE_H

#include "cli/base/command.h"
#include "cli/base/motions.h"
#include "clothes.h"
#include "compare.h"
#include "focus.h"
#include "subject.h"

#include <exemplar/author.h>

/* Words of the options. */
typedef struct exi_animate_words {
    bool turn;
    ex_word_list sweep;
    exi_motion_words motion; /* fps and frames are of all kinds: A:B of a motion, else their number */
    const char *colours;
    bool follow, no_follow, grounded;
} exi_animate_words;

/* Pixels along a side if --size is not given. */
#define EXI_ANIMATE_SIZE 480

/* The options, as rows of a command's table. */
#define EXI_ANIMATE_OPTIONS(a)                                                                                         \
    {.name = "turn", .help = "an animated PNG: a full turn of the camera", .flag = &(a).turn},                         \
        {.name = "sweep",                                                                                              \
         .argument = "AXIS=FROM:TO",                                                                                   \
         .help = "an animated PNG: axes of a rig go from one value to another and back; several words, after all "     \
                 "axis=value",                                                                                         \
         .words = &(a).sweep},                                                                                         \
        {.name = "motion",                                                                                             \
         .values = ".bvh|.glb|.gltf|.csv",                                                                             \
         .argument = "FILE",                                                                                           \
         .help = "an animated PNG: a rig moves as in a .bvh, .glb, .gltf or .csv file, as in 'exemplar bake'",         \
         .text = &(a).motion.path},                                                                                    \
        {.name = "map",                                                                                                \
         .argument = "MAP.json",                                                                                       \
         .help = "with --motion: pairs of joints of the rig and of the motion (default: joints of the same name)",     \
         .text = &(a).motion.map},                                                                                     \
        {.name = "clip",                                                                                               \
         .argument = "NAME",                                                                                           \
         .help = "an animated PNG: a clip of the rig, or, with --motion, of that file; its name, or its number from "  \
                 "1",                                                                                                  \
         .text = &(a).motion.clip},                                                                                    \
        {.name = "start",                                                                                              \
         .argument = "S",                                                                                              \
         .help = "with --motion or --clip: start at S seconds (default: its start)",                                   \
         .text = &(a).motion.start},                                                                                   \
        {.name = "end",                                                                                                \
         .argument = "S",                                                                                              \
         .help = "with --motion or --clip: end at S seconds (default: its end)",                                       \
         .text = &(a).motion.end},                                                                                     \
        {.name = "fps",                                                                                                \
         .argument = "N",                                                                                              \
         .help = "frames per second (default: 12 for a turn, 18 for a sweep, 20 for a motion)",                        \
         .text = &(a).motion.fps},                                                                                     \
        {.name = "frames",                                                                                             \
         .argument = "N|A:B",                                                                                          \
         .help = "number of frames of a turn or a sweep (default: 36); of a motion, the first and the last, from 1 "   \
                 "(default: all)",                                                                                     \
         .text = &(a).motion.frames},                                                                                  \
        {.name = "follow",                                                                                             \
         .help = "with --motion or --clip: keep the form in the middle (default for one that moves farther than its "  \
                 "own size)",                                                                                          \
         .flag = &(a).follow},                                                                                         \
        {.name = "no-follow",                                                                                          \
         .help = "with --motion or --clip: keep the camera still, however far the form moves",                         \
         .flag = &(a).no_follow},                                                                                      \
        {.name = "grounded",                                                                                           \
         .help = "with --motion, --clip or --sweep: put the form on the ground in every frame; paths do not know it",  \
         .flag = &(a).grounded},                                                                                       \
    {                                                                                                                  \
        .name = "colours", .values = "256|full", .argument = "256|full",                                               \
        .help = "of an animated PNG: 256 for a small file, or full (default: 256; full if transparent)",               \
        .text = &(a).colours                                                                                           \
    }

/* True if the words ask for an animation. */
bool exi_animate_asked(const exi_animate_words *words);

/* True if the words go together, and with `other`, an option that writes something else, or NULL; otherwise prints an
 * error. */
bool exi_animate_check(const ex_call *call, const exi_animate_words *words, const char *other);

/* Draws the animation of a subject and its clothes, or of a comparison, into a file. item: how its form is painted; its
 * mesh is replaced. focus: the vertices to frame. Returns the exit code. */
int exi_animate(const ex_call *call, const exi_animate_words *words, exi_subject *subject, exi_compare *compare,
                exi_clothes *worn, const exi_focus *focus, const ex_render_item *item, ex_render_def *def,
                const char *path);

#endif
